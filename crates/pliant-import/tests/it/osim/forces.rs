//! Forces of OpenSim along lines, against OpenSim 4.6 and closed forms.

use super::*;

/// A body of 1 kg on a slide along x at 0.22 m and 0.5 m/s without gravity, and a force on it along
/// a line from the ground: its element, with the points of its path.
fn slide(kind: &str, points: &[(&str, &str)], properties: &str) -> Imported {
    let points: String = points
        .iter()
        .map(|(frame, place)| {
            format!(
                "<PathPoint name=\"p\"><location>{place}</location><socket_parent_frame>{frame}</socket_parent_frame></PathPoint>"
            )
        })
        .collect();
    let path = match points.is_empty() {
        true => String::new(),
        false => {
            format!("<GeometryPath><PathPointSet><objects>{points}</objects></PathPointSet></GeometryPath>")
        }
    };
    let text = format!(
        "<OpenSimDocument Version=\"40000\"><Model name=\"m\"><gravity>0 0 0</gravity>
         <BodySet><objects><Body name=\"b\"><mass>1</mass><inertia>1 1 1 0 0 0</inertia></Body></objects></BodySet>
         <JointSet><objects><SliderJoint name=\"s\"><socket_parent_frame>/ground</socket_parent_frame>
         <socket_child_frame>/bodyset/b</socket_child_frame><coordinates><Coordinate name=\"x\">
         <default_value>0.22</default_value><default_speed_value>0.5</default_speed_value><clamped>false</clamped>
         </Coordinate></coordinates></SliderJoint></objects></JointSet>
         <ForceSet><objects><{kind} name=\"pull\">{path}{properties}</{kind}></objects></ForceSet>
         </Model></OpenSimDocument>"
    );
    import(&text, &Options::default()).unwrap_or_else(|e| panic!("{e}"))
}

const ENDS: [(&str, &str); 2] = [("/ground", "0 0 0"), ("/bodyset/b", "0 0 0")];

/// `k (e - t/2) + c v/l_0` with strain `e` and transition strain `t`; OpenSim has -21.25 m/s^2, of
/// which damping is 0.25.
#[test]
fn damping_of_ligaments_is_a_force_per_rate_of_strain() {
    let made = slide(
        "Blankevoort1991Ligament",
        &ENDS,
        "<linear_stiffness>300</linear_stiffness><transition_strain>0.06</transition_strain>
         <damping_coefficient>0.1</damping_coefficient><slack_length>0.2</slack_length>",
    );
    let scene = scene(&made.scene).build(&Settings::default()).unwrap();
    let node = scene.joints[0].2.coordinates[0];
    let mut runner = pliant_run::Runner::new(scene).unwrap();
    let found = runner.simulation_mut().coordinate_dynamics(&[node], &[]).unwrap();
    assert!(
        (found.accelerations[0] + 21.25).abs() < 1e-9,
        "{}",
        found.accelerations[0]
    );
}

/// A spring or muscle of zero is left out with a remark, as the scene has no such laws.
#[test]
fn forces_of_zero_are_left_out() {
    let springs = "<socket_body1>/ground</socket_body1><socket_body2>/bodyset/b</socket_body2>";
    for (kind, ends, properties, expected) in [
        (
            "PathSpring",
            &ENDS[..],
            "<stiffness>0</stiffness><resting_length>0.1</resting_length>".to_owned(),
            "a `PathSpring` without a stiffness has no force, and is left out",
        ),
        (
            "PointToPointSpring",
            &[],
            format!("{springs}<stiffness>0</stiffness><rest_length>0.1</rest_length>"),
            "a `PointToPointSpring` without a stiffness has no force, and is left out",
        ),
        (
            "Thelen2003Muscle",
            &ENDS[..],
            "<max_isometric_force>0</max_isometric_force>".to_owned(),
            "a `Thelen2003Muscle` without a `max_isometric_force` has no force, and is left out",
        ),
    ] {
        let made = slide(kind, ends, &properties);
        assert!(remarked(&made, expected), "{kind}: {:#?}", made.remarks);
        assert!(!made.scene.contains("force_fields"), "{}", made.scene);
        runner(&made.scene).step().unwrap();
    }
}

/// Points of two bodies at one place leave a line without a direction; those of one body are one.
#[test]
fn points_at_one_place_are_told_or_one() {
    let properties = "<stiffness>100</stiffness><resting_length>0.1</resting_length>";
    let meeting = [
        ("/ground", "0.1 0 0"),
        ("/ground", "0.22 0 0"),
        ("/bodyset/b", "0 0 0"),
    ];
    let made = slide("PathSpring", &meeting, properties);
    let expected = "`pull` is not taken: two neighbours of its points are at one place at the start";
    assert!(remarked(&made, expected), "{:#?}", made.remarks);
    runner(&made.scene).step().unwrap();
    let twice = [ENDS[0], ENDS[0], ENDS[1], ENDS[1]];
    let made = slide("PathSpring", &twice, properties);
    assert_eq!(
        made.scene.lines().find(|line| line.contains("mapping: Rope")),
        slide("PathSpring", &ENDS, properties)
            .scene
            .lines()
            .find(|line| line.contains("mapping: Rope"))
    );
    assert!(made.scene.contains("TensionOnly(100)"), "{}", made.scene);
    runner(&made.scene).step().unwrap();
}
