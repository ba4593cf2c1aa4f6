//! Muscles of OpenSim.

use super::*;

/// Muscles of the kinds that scenes have pull by their own numbers and the defaults of OpenSim; shapes
/// of curves that scenes do not have are told. Others have their length alone.
#[test]
fn muscles_have_their_curves() {
    let path = "<GeometryPath><PathPointSet><objects>\
        <PathPoint name=\"a\"><location>0.1 0 0</location><socket_parent_frame>/ground</socket_parent_frame></PathPoint>\
        <PathPoint name=\"b\"><location>0 0.05 0</location><socket_parent_frame>/bodyset/b</socket_parent_frame></PathPoint>\
        </objects></PathPointSet></GeometryPath>";
    let of = |kind: &str, more: &str| {
        let text = format!(
            "<OpenSimDocument Version=\"40000\"><Model name=\"m\">
             <BodySet><objects><Body name=\"b\"><mass>1</mass><inertia>1 1 1 0 0 0</inertia></Body></objects></BodySet>
             <ForceSet><objects><{kind} name=\"pull\">{path}{more}</{kind}></objects></ForceSet>
             </Model></OpenSimDocument>"
        );
        import(&text, &Options::default()).unwrap()
    };
    let plain = of("Thelen2003Muscle", "<KshapePassive>5</KshapePassive>");
    let law = "MuscleTendon(curves: Thelen2003, force: 1000, optimal_length: 0.1, tendon_length: 0.2, pennation: 0, speed: 10, tendon_strain: 0.04, dynamics: (activation: 0.015, deactivation: 0.05), excitation: \"$pull\")";
    assert!(plain.scene.contains(law), "{}", plain.scene);
    assert!(!remarked(&plain, "`KshapePassive`"));
    let shaped = of("Thelen2003Muscle", "<KshapePassive>4</KshapePassive>");
    assert!(
        remarked(&shaped, "`KshapePassive` is 5 in scenes"),
        "{:#?}",
        shaped.remarks
    );
    let millard = of(
        "Millard2012EquilibriumMuscle",
        "<max_isometric_force>700</max_isometric_force><fiber_damping>0.05</fiber_damping>\
         <ignore_activation_dynamics>true</ignore_activation_dynamics>\
         <TendonForceLengthCurve><strain_at_one_norm_force>0.06</strain_at_one_norm_force></TendonForceLengthCurve>",
    );
    let law = "MuscleTendon(curves: Millard2013, force: 700, optimal_length: 0.1, tendon_length: 0.2, pennation: 0, speed: 10, damping: 0.05, tendon_strain: 0.06, excitation: \"$pull\")";
    assert!(millard.scene.contains(law), "{}", millard.scene);
    assert!(remarked(&millard, "`TendonForceLengthCurve`"));
    let rigid = of(
        "Thelen2003Muscle",
        "<ignore_tendon_compliance>true</ignore_tendon_compliance>",
    );
    assert!(
        rigid.scene.contains("speed: 10, rigid_tendon: true, excitation"),
        "{}",
        rigid.scene
    );
    assert!(remarked(&rigid, "its dynamics are not taken"));
    let ligament = of(
        "Blankevoort1991Ligament",
        "<linear_stiffness>1500</linear_stiffness><slack_length>0.09</slack_length><transition_strain>0.05</transition_strain>",
    );
    let law = "Ligament(stiffness: 1500, slack_length: 0.09, transition_strain: 0.05, damping: 2e-6)";
    assert!(ligament.scene.contains(law), "{}", ligament.scene);
    runner(&ligament.scene).step().unwrap();
    let slack = of("Blankevoort1991Ligament", "");
    assert!(
        remarked(&slack, "without a stiffness or a slack length"),
        "{:#?}",
        slack.remarks
    );
    // Settings that scenes do not have are told, unless they are those that OpenSim has by itself.
    let usual = "<default_activation>0</default_activation><default_fiber_length>0.1</default_fiber_length>\
        <minimum_activation>0.01</minimum_activation><maximum_pennation_angle>1.47063</maximum_pennation_angle>";
    for (kind, more) in [
        (
            "Thelen2003Muscle",
            "<fv_linear_extrap_threshold>0.95</fv_linear_extrap_threshold>",
        ),
        ("Millard2012EquilibriumMuscle", ""),
    ] {
        let made = of(kind, &format!("{usual}{more}"));
        assert!(!remarked(&made, "is not taken"), "{:#?}", made.remarks);
    }
    for (name, value, expected) in [
        (
            "default_activation",
            "0.05",
            "the activation begins as the excitation is",
        ),
        (
            "default_fiber_length",
            "0.09",
            "in scenes the fibre begins in equilibrium",
        ),
        (
            "minimum_activation",
            "0.05",
            "in scenes the activation has no least value",
        ),
        (
            "maximum_pennation_angle",
            "1.4",
            "in scenes the pennation has no bound",
        ),
        (
            "fv_linear_extrap_threshold",
            "0.9",
            "in scenes the curve of force over speed is that of scenes",
        ),
    ] {
        let made = of("Thelen2003Muscle", &format!("<{name}>{value}</{name}>"));
        let expected = format!("`{name}` is not taken: {expected}");
        assert!(remarked(&made, &expected), "{expected}: {:#?}", made.remarks);
    }
    let other = of("Schutte1993Muscle_Deprecated", "");
    assert!(remarked(&other, "does not pull") && !other.scene.contains("law: MuscleTendon"));
    // They pull: the body comes nearer to the ground at the other end, by its own parameter.
    for made in [&plain, &millard, &rigid] {
        let scene = made.scene.replace("\"pull\": 0", "\"pull\": 0.5");
        let mut runner = runner(&scene);
        let length = |runner: &pliant_run::Runner| {
            let node = runner.simulation().model().node_named("pull").unwrap();
            runner.simulation().positions(node)[0]
        };
        let start = length(&runner);
        while runner.simulation().time() < 0.1 {
            runner.step().unwrap();
        }
        assert!(length(&runner) < start, "{start}");
    }
}
