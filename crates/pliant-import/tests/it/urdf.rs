//! Parts of URDF and the parts of a scene that they become.

use crate::{imported, model, remarked, runner};
use pliant_import::{Format, Imported, Options, import_file, import_text};

/// A link with mass.
fn link(name: &str) -> String {
    format!(
        r#"<link name="{name}"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>"#
    )
}

/// A joint between two links with more elements inside.
fn joint(name: &str, kind: &str, parent: &str, child: &str, inside: &str) -> String {
    format!(
        r#"<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>{inside}</joint>"#
    )
}

/// A robot of these parts, a line each.
fn robot(parts: &[String], options: &Options) -> Imported {
    let text = format!("<robot name=\"r\">\n{}\n</robot>", parts.join("\n"));
    import_text(Format::Urdf, "r.urdf", &text, options).unwrap_or_else(|e| panic!("{e}"))
}

#[test]
fn joints_keep_limits_damping_and_friction() {
    let inside = r#"<limit lower="-0.5" upper="1e-5" effort="30" velocity="2"/><dynamics damping="0.25" friction="0.75"/>"#;
    let made = robot(
        &[link("a"), link("b"), joint("j", "revolute", "a", "b", inside)],
        &Options::default(),
    );
    for expected in [
        r#"name: "j", kind: Hinge, a: Body("a", 0), b: Body("b", 0), axis: (1, 0, 0)"#,
        "limits: [(lower: -0.5, upper: 1e-5)],",
        "dampers: [(damping: 0.25)],",
        "friction: [(force: 0.75)],",
        "// motors: [Position(target: 0, force: 30)], // velocity at most 2",
    ] {
        assert!(made.scene.contains(expected), "{expected}\n{}", made.scene);
    }
    runner(&made.scene);
}

#[test]
fn a_commented_motor_can_be_switched_on() {
    let inside = r#"<axis xyz="0 1 0"/><limit lower="-1" upper="1" effort="30" velocity="2"/>"#;
    let made = robot(
        &[link("a"), link("b"), joint("j", "revolute", "a", "b", inside)],
        &Options::default(),
    );
    runner(&made.scene.replace("// motors:", "motors:"));
}

#[test]
fn mimic_is_a_gear_that_starts_where_it_says() {
    let leader = joint("lead", "continuous", "a", "b", "");
    let follower = joint(
        "follow",
        "continuous",
        "a",
        "c",
        r#"<mimic joint="lead" multiplier="-2" offset="0.5"/>"#,
    );
    let options = Options {
        start: vec![("lead".into(), 0.1)],
        ..Options::default()
    };
    let made = robot(&[link("a"), link("b"), link("c"), leader, follower], &options);
    assert!(
        made.scene
            .contains(r#"first: "follow.angle", second: "lead.angle", ratio: 2"#),
        "{}",
        made.scene
    );
    let runner = runner(&made.scene);
    let simulation = runner.simulation();
    let angle = |name: &str| simulation.positions(simulation.model().node_named(name).unwrap())[0];
    // 1e-14: angles of rotations with 15 digits.
    assert!((angle("lead.angle") - 0.1).abs() < 1e-14);
    assert!((angle("follow.angle") - 0.3).abs() < 1e-14, "0.5 - 2 * 0.1");
}

#[test]
fn the_base_is_held_or_floats() {
    let parts = [link("a"), link("b"), joint("j", "continuous", "a", "b", "")];
    let held = robot(&parts, &Options::default());
    assert!(held.scene.contains(r#"(node: "a"),"#) && remarked(&held, "`a` is held in the world"));
    let floating = Options {
        floating: true,
        ..Options::default()
    };
    let free = robot(&parts, &floating);
    assert!(!free.scene.contains("fixed:") && remarked(&free, "`a` floats"));
    let high = Options {
        floating: true,
        position: [0.0, -1.0, 0.5],
        ..Options::default()
    };
    assert!(
        robot(&parts, &high)
            .scene
            .contains("name: \"b\", bodies: [(position: (0, -1, 0.5)")
    );
    // What a joint of the file lets go needs no option.
    let parts = [
        "<link name=\"world\"/>".to_owned(),
        link("a"),
        joint("j", "floating", "world", "a", ""),
    ];
    let free = robot(&parts, &Options::default());
    assert!(
        !free.scene.contains("fixed:") && !free.scene.contains("kind:"),
        "{}",
        free.scene
    );
    assert!(remarked(&free, "a base without mass is a part of the world"));
}

#[test]
fn welded_links_stay_addressable_and_massless_ones_do_not_move() {
    let made = imported("arm.urdf", &Options::default());
    assert!(
        made.scene
            .contains(r#"Mapped(name: "elbow cover", parents: ["upper"]"#),
        "{}",
        made.scene
    );
    assert!(made.scene.contains(r#"Mapped(name: "tool", parents: ["slide"]"#));
    let parts = [
        link("a"),
        "<link name=\"sensor\"/>".to_owned(),
        joint("j", "continuous", "a", "sensor", ""),
    ];
    let made = robot(&parts, &Options::default());
    assert!(
        remarked(
            &made,
            "link `sensor` has no mass, at the end of its joint: it does not move, and `j` is left out (r.urdf:3)"
        ),
        "{:?}",
        made.remarks
    );
    assert!(made.scene.contains(r#"Mapped(name: "sensor", parents: ["a"]"#));
}

/// A cross of two massless hinges: its motion is that of one universal joint in both directions.
#[test]
fn a_massless_link_that_carries_others_moves() {
    let parts = [
        link("a"),
        "<link name=\"cross\"/>".to_owned(),
        link("b"),
        joint("first", "continuous", "a", "cross", r#"<axis xyz="1 0 0"/>"#),
        joint(
            "second",
            "continuous",
            "cross",
            "b",
            r#"<origin xyz="0.1 0 0"/><axis xyz="0 1 0"/>"#,
        ),
    ];
    let made = robot(&parts, &Options::default());
    assert!(remarked(&made, "light body"), "{:?}", made.remarks);
    // Of the mass of `b`, so that both have what the file says.
    assert!(made.scene.contains("mass: 1e-7"), "{}", made.scene);
    assert!(made.scene.contains("mass: 0.9999999"), "{}", made.scene);
    let mut runner = runner(&made.scene);
    runner.step().unwrap();
}

#[test]
fn inertias_of_no_body_are_mended_and_told() {
    let of = |moments: [f64; 3]| {
        let [x, y, z] = moments;
        let text = format!(
            r#"<link name="b"><inertial><mass value="2"/><inertia ixx="{x}" iyy="{y}" izz="{z}" ixy="0" ixz="0" iyz="0"/></inertial></link>"#
        );
        robot(
            &[link("a"), text, joint("j", "continuous", "a", "b", "")],
            &Options::default(),
        )
    };
    let thin = of([1.0, 1.0, 3.0]);
    assert!(
        remarked(&thin, "has the inertia of no body") && thin.scene.contains("inertia: (1.5, 1.5, 3)"),
        "{}",
        thin.scene
    );
    let point = of([0.0; 3]);
    assert!(
        remarked(&point, "no moment of inertia") && point.scene.contains("inertia: (8e-7, 8e-7, 8e-7)"),
        "{}",
        point.scene
    );
    let good = of([1.0, 1.0, 2.0]);
    assert!(!remarked(&good, "inertia of no body") && good.scene.contains("inertia: (1, 1, 2)"));
    for made in [thin, point, good] {
        runner(&made.scene);
    }
}

#[test]
fn colliders_have_shapes_places_and_neighbours() {
    let body = |name: &str, shape: &str| {
        link(name).replace(
            "</link>",
            &format!(r#"<collision><origin xyz="0 0 0.1"/><geometry>{shape}</geometry></collision></link>"#),
        )
    };
    let parts = [
        body("a", r#"<box size="1 2 3"/>"#),
        body("b", r#"<cylinder radius="0.1" length="0.5"/>"#),
        body("c", r#"<sphere radius="0.2"/>"#),
        joint("j", "continuous", "a", "b", ""),
        joint("k", "continuous", "b", "c", ""),
    ];
    let alone = robot(&parts, &Options::default());
    assert!(alone.scene.contains(
        r#"Body(name: "b", body: ("b", 0), shape: Cylinder(radius: 0.1, length: 0.5), position: (0, 0, 0.1), groups: ["robot"], collides_with: ["default"])"#
    ), "{}", alone.scene);
    let options = Options {
        self_collision: true,
        ground: true,
        ..Options::default()
    };
    let among = robot(&parts, &options);
    assert!(among.scene.contains(r#"("a", "b"),"#) && among.scene.contains(r#"("b", "c"),"#));
    assert!(!among.scene.contains(r#"("a", "c"),"#) && among.scene.contains("Plane(0, 0, 1)"));
    for made in [alone, among] {
        runner(&made.scene);
    }
}

#[test]
fn nothing_is_passed_over_untold() {
    let parts = [
        link("a").replace("</link>", "<visual><geometry/></visual><battery/></link>"),
        "<gazebo/>".to_owned(),
        "<lnik name=\"b\"/>".to_owned(),
    ];
    let made = robot(&parts, &Options::default());
    for expected in [
        "`visual` is a picture only (r.urdf:2)",
        "`battery` in `link` is not taken (r.urdf:2)",
        "`gazebo` is of another program (r.urdf:3)",
        "`lnik` in `robot` is not taken; did you mean `link`? (r.urdf:4)",
    ] {
        assert!(remarked(&made, expected), "{expected}: {:?}", made.remarks);
        assert!(made.scene.contains(&format!("// - {expected}")));
    }
}

#[test]
fn meshes_are_found_in_packages_and_told_if_not() {
    let folder = tempfile::tempdir().unwrap();
    let package = folder.path().join("robot_description");
    std::fs::create_dir_all(package.join("urdf")).unwrap();
    std::fs::create_dir_all(package.join("meshes")).unwrap();
    std::fs::write(
        package.join("meshes/tip.obj"),
        "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 2 3\nf 1 2 4\nf 1 3 4\nf 2 3 4\n",
    )
    .unwrap();
    std::fs::write(
        package.join("meshes/flat.obj"),
        "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n",
    )
    .unwrap();
    let mesh = |file: &str| {
        format!(
            r#"<collision><geometry><mesh filename="{file}" scale="0.5 0.5 0.5"/></geometry></collision>"#
        )
    };
    let files = [
        "package://robot_description/meshes/tip.obj",
        "../meshes/tip.obj",
        "../meshes/flat.obj",
        "../meshes/none.obj",
        "a.dae",
        "package://other/x.stl",
    ];
    let inside: String = files.iter().map(|f| mesh(f)).collect();
    let text = format!(
        "<robot name=\"r\">{}</robot>",
        link("a").replace("</link>", &format!("{inside}</link>"))
    );
    let urdf = package.join("urdf/r.urdf");
    std::fs::write(&urdf, text).unwrap();
    let options = Options {
        scene_directory: Some(package.clone()),
        ..Options::default()
    };
    let made = import_file(&urdf, &options).unwrap();
    assert_eq!(
        made.scene
            .matches("Hull(file: \"meshes/tip.obj\", scale: 0.5)")
            .count(),
        2,
        "{}",
        made.scene
    );
    for expected in [
        "lie in a plane",
        "no mesh file `../meshes/none.obj`",
        "format `dae`",
        "--package other=DIR",
    ] {
        assert!(remarked(&made, expected), "{expected}: {:?}", made.remarks);
    }
    assert!(made.mesh_directories.is_empty());
    let elsewhere = import_file(&urdf, &Options::default()).unwrap();
    assert_eq!(elsewhere.mesh_directories.len(), 1);
    assert!(elsewhere.scene.contains("Hull(file: \"../meshes/tip.obj\""));
}

#[test]
fn starts_are_within_limits_and_names_are_checked() {
    let inside = r#"<limit lower="0.2" upper="1" effort="0" velocity="0"/>"#;
    let parts = [link("a"), link("b"), joint("j", "prismatic", "a", "b", inside)];
    let made = robot(&parts, &Options::default());
    assert!(remarked(&made, "begins at the nearest of them") && made.scene.contains("// Starts at 0.2."));
    let options = Options {
        start: vec![("jj".into(), 0.1)],
        ..Options::default()
    };
    let error = import_file(&model("arm.urdf"), &options).unwrap_err().to_string();
    assert!(error.contains("there is no joint `jj`"), "{error}");
    // Beyond the limits, by more than half a turn, and no number.
    for (name, value, expected) in [
        (
            "shoulder",
            3.1,
            "`shoulder` cannot start at 3.1: its limits are -3 and 3",
        ),
        (
            "elbow",
            4.0,
            "`elbow` cannot start at 4: an angle at the start is at most half a turn",
        ),
        ("shoulder", f64::NAN, "`shoulder` cannot start at NaN"),
    ] {
        let options = Options {
            start: vec![(name.into(), value)],
            ..Options::default()
        };
        let error = import_file(&model("arm.urdf"), &options).unwrap_err().to_string();
        assert!(
            error.contains(expected) && !error.contains("did you mean"),
            "{error}"
        );
    }
}

#[test]
fn a_moment_of_inertia_is_given() {
    let text = link("a").replace("ixx=\"1\" ", "");
    let text = format!("<robot name=\"r\">\n{text}\n</robot>");
    let error = import_text(Format::Urdf, "r.urdf", &text, &Options::default());
    let error = error.unwrap_err().to_string();
    assert!(error.contains("`inertia` has no `ixx`"), "{error}");
}

#[test]
fn parts_that_are_there_twice_are_told() {
    let twice = |part: &str| format!("{part}\n{part}");
    let inertial =
        r#"<inertial><mass value="1"/><mass value="2"/><inertia ixx="1" iyy="1" izz="1"/></inertial>"#;
    let collision = r#"<collision><geometry><sphere radius="1"/><box size="1 1 1"/></geometry></collision>"#;
    let inside = [
        r#"<limit lower="-1" upper="1"/>"#,
        r#"<axis xyz="1 0 0"/>"#,
        r#"<dynamics damping="1"/>"#,
        r#"<origin xyz="1 0 0"/>"#,
    ];
    let parts = [
        format!("<link name=\"a\">{}\n{collision}</link>", twice(inertial)),
        link("b"),
        joint("j", "revolute", "a", "b", &inside.map(twice).concat()),
    ];
    let made = robot(&parts, &Options::default());
    for expected in [
        "a second `mass` of one `inertial` is not taken (r.urdf:2)",
        "a second `inertial` of one `link` is not taken (r.urdf:3)",
        "a second shape of one `geometry` is not taken (r.urdf:4)",
        "a second `limit` of one `joint` is not taken (r.urdf:7)",
        "a second `axis` of one `joint` is not taken (r.urdf:8)",
        "a second `dynamics` of one `joint` is not taken (r.urdf:9)",
        "a second `origin` of one `joint` is not taken (r.urdf:10)",
    ] {
        assert!(remarked(&made, expected), "{expected}: {:?}", made.remarks);
    }
}

#[test]
fn parts_of_joints_that_do_nothing_are_told() {
    let told = |kind: &str, inside: &str| {
        let parts = [
            link("a"),
            link("b"),
            link("c"),
            joint("lead", "continuous", "a", "c", ""),
            joint("j", kind, "a", "b", inside),
        ];
        let made = robot(&parts, &Options::default());
        let about = made
            .remarks
            .iter()
            .filter(|r| r.places.contains(&("r.urdf".to_owned(), 6)));
        about.map(|r| r.message.clone()).collect::<Vec<_>>()
    };
    let full = r#"<axis xyz="0 1 0"/><dynamics damping="1"/><mimic joint="lead"/><limit lower="-1" upper="1" velocity="2"/>"#;
    assert_eq!(
        told("fixed", full),
        ["limit", "dynamics", "mimic"].map(|tag| format!("`{tag}` of a fixed joint is not taken"))
    );
    assert_eq!(
        told("floating", full),
        ["axis", "limit", "dynamics", "mimic"].map(|tag| format!("`{tag}` of a floating joint is not taken"))
    );
    let zero = r#"<axis xyz="0 0 0"/><dynamics damping="0" friction="0.0"/><limit lower="0" upper="0" velocity="0"/>"#;
    assert_eq!(told("fixed", zero), [""; 0]);
    for (kind, inside, expected) in [
        ("revolute", "", "a revolute joint without `limit` has no limits"),
        (
            "prismatic",
            r#"<limit effort="1"/>"#,
            "a `limit` without `lower` and `upper` holds its joint at zero: the format has zero for both",
        ),
        (
            "continuous",
            r#"<limit lower="-1" upper="1"/>"#,
            "`lower` and `upper` of a continuous joint are not taken",
        ),
        (
            "planar",
            r#"<limit lower="-1" upper="1"/>"#,
            "`lower` and `upper` of a planar joint are not taken",
        ),
        (
            "planar",
            r#"<limit effort="1"/>"#,
            "`effort` of a planar joint is not taken",
        ),
        (
            "continuous",
            r#"<limit velocity="1"/>"#,
            "`velocity` without `effort`, or of a planar joint, is not taken",
        ),
    ] {
        let found = told(kind, inside);
        assert!(found.contains(&expected.to_owned()), "{expected}: {found:?}");
    }
    let whole = told("continuous", r#"<limit effort="1" velocity="1"/>"#);
    assert_eq!(whole.len(), 1, "{whole:?}");
}

/// Files of xacro are no URDF yet, whatever part of one is met first.
#[test]
fn files_of_xacro_are_refused_with_help() {
    let names = "xmlns:xacro=\"http://www.ros.org/wiki/xacro\"";
    let link =
        |mass: &str| format!("<link name=\"base\"><inertial><mass value=\"{mass}\"/></inertial></link>");
    for (text, expected) in [
        (
            format!(
                "<robot name=\"r\" {names}>\n<xacro:include filename=\"x\"/>{}</robot>",
                link("1")
            ),
            "`xacro:include` is no part of URDF",
        ),
        (
            format!(
                "<robot name=\"r\">\n<xacro:include filename=\"x\"/>{}</robot>",
                link("1")
            ),
            "this is no XML",
        ),
        (
            format!("<robot name=\"r\" {names}>\n{}</robot>", link("${m}")),
            "`value` has `${m}` where a number is expected",
        ),
    ] {
        let shown = import_text(Format::Urdf, "r.urdf", &text, &Options::default())
            .unwrap_err()
            .to_string();
        assert!(
            shown.contains(expected)
                && shown.contains("r.urdf:2:")
                && shown.contains("files of xacro must be expanded first"),
            "{expected}:\n{shown}"
        );
    }
}
