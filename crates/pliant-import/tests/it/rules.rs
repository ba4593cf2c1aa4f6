//! Rules of MuJoCo for what a file leaves out or says twice. Numbers are those of MuJoCo 4.0.0 for
//! the same files, or closed forms.

use crate::{import_mjcf, remarked, runner};
use pliant_import::{Imported, Options, import_file};

fn import(parts: &str) -> Imported {
    import_mjcf(parts).unwrap_or_else(|e| panic!("{e}"))
}

fn error(parts: &str) -> String {
    import_mjcf(parts).map(|made| made.scene).unwrap_err()
}

/// A body with a hinge `j` of these attributes, a geom `g` of these, and more elements of the body.
fn with(joint: &str, geom: &str, more: &str) -> String {
    format!(
        "<worldbody><body name=\"b\"><joint name=\"j\" axis=\"0 1 0\" {joint}/><geom name=\"g\" size=\"0.1\" pos=\"0.1 0 0\" {geom}/>{more}</body></worldbody>"
    )
}

/// Gain, bias and gear of the actuator are those that MuJoCo has in its place.
#[test]
fn kinds_of_actuators_keep_their_defaults_beside_each_other() {
    let law = |outer: &str, inner: &str, kind: &str| {
        let made = import(&format!(
            "<default>{outer}<default class=\"k\">{inner}</default></default>{}<actuator><{kind} class=\"k\" joint=\"j\"/></actuator>",
            with("", "", "")
        ));
        runner(&made.scene);
        made.scene
    };
    let damper = |damping: f64| format!("dampers: [(damping: {damping})]");
    let servo = |kp: f64, kv: f64, gear: f64| {
        let compliance = 1.0 / (kp * gear * gear);
        match kv {
            0.0 => format!("compliance: {compliance})]"),
            kv => format!("compliance: {compliance}, relaxation_time: {})]", kv / kp),
        }
    };
    let both = |first: &str, second: &str| format!("{first}{second}");
    let (kp, kv) = ("<position kp=\"12\"/>", "<position kv=\"0.9\"/>");
    let (velocity, general) = ("<velocity kv=\"5\"/>", "<general gainprm=\"6\"/>");
    let (motor, geared) = ("<motor gear=\"2\"/>", "<general gear=\"2\"/>");
    for (outer, inner, kind, expected) in [
        (general, kv, "velocity", damper(6.0)),
        (velocity, kp, "velocity", damper(5.0)),
        (kp, motor, "position", servo(12.0, 0.0, 2.0)),
        (kp, velocity, "position", servo(12.0, 0.0, 1.0)),
        (velocity, kv, "position", servo(1.0, 0.9, 1.0)),
        (general, kv, "position", servo(6.0, 0.9, 1.0)),
        (kp, kv, "general", servo(12.0, 0.9, 1.0)),
        (kp, velocity, "general", damper(5.0)),
        (velocity, geared, "position", servo(5.0, 5.0, 2.0)),
        (kp, general, "position", servo(6.0, 0.0, 1.0)),
        (kp, geared, "velocity", damper(12.0 * 4.0)),
        // Of several kinds in one class the last one counts, beside those of the class around it.
        ("", &both(kp, velocity), "position", servo(1.0, 0.0, 1.0)),
        (kp, &both(velocity, motor), "position", servo(12.0, 0.0, 2.0)),
        (kp, &both(velocity, motor), "velocity", damper(4.0)),
        (velocity, &both(kp, motor), "velocity", damper(20.0)),
        (general, &both(kv, velocity), "position", servo(6.0, 0.0, 1.0)),
        (kp, &both(velocity, kv), "position", servo(12.0, 0.9, 1.0)),
        ("", &both(general, kv), "position", servo(6.0, 0.9, 1.0)),
        ("", &both(general, kv), "velocity", damper(1.0)),
        ("", &both(general, motor), "velocity", damper(4.0)),
        (general, &both(kp, motor), "velocity", damper(24.0)),
    ] {
        let scene = law(outer, inner, kind);
        assert!(
            scene.contains(&expected),
            "{outer} {inner} {kind}: {expected}\n{scene}"
        );
    }
    // Without a law of its own a motor has the gain 1, whatever stands beside it.
    assert!(law(kp, general, "motor").contains("law: Force([\"1 * $"));
    assert!(law(general, motor, "general").contains("law: Force([\"2 * $"));
}

/// A box on a floor under a gravity that is not square to it, and the torsion of a ball.
#[test]
fn geoms_share_directions_and_coefficients_of_friction() {
    let model = |floor: &str, geom: &str| {
        import(&format!(
            "<option gravity=\"3 0 -9.81\"/><worldbody><geom type=\"plane\" size=\"5 5 1\" {floor}/>
             <body name=\"b\" pos=\"0 0 0.1\"><freejoint/><geom type=\"box\" size=\"0.2 0.2 0.1\" {geom}/></body></worldbody>"
        ))
    };
    // The one that has friction takes the coefficient of the one that has none by itself: 0.9 holds
    // the box, 0.1 would not.
    for (floor, geom) in [
        ("condim=\"1\" friction=\"0.9\"", "condim=\"3\" friction=\"0.1\""),
        ("condim=\"3\" friction=\"0.1\"", "condim=\"1\" friction=\"0.9\""),
    ] {
        let made = model(floor, geom);
        assert!(
            made.scene
                .contains("(between: (\"surface 1\", \"surface 2\"), friction: 0.9)"),
            "{}",
            made.scene
        );
        let mut runner = runner(&made.scene);
        while runner.simulation().time() < 0.3 {
            runner.step().unwrap();
        }
        let simulation = runner.simulation();
        let x = simulation.positions(simulation.model().node_named("b").unwrap())[0];
        assert!(x.abs() < 1e-6, "{x}");
    }
    // What the greater of both numbers says anyway needs no pair.
    let made = model("condim=\"3\" friction=\"1\"", "condim=\"1\" friction=\"0.7\"");
    assert!(!made.scene.contains("material_pairs"), "{}", made.scene);
    for (floor, geom, expected) in [
        (
            "condim=\"3\" friction=\"1 0.01 0.001\"",
            "condim=\"4\" friction=\"1 0.002 0.001\"",
            "friction: 1, torsional_friction: 0.01)",
        ),
        (
            "condim=\"4\"",
            "condim=\"3\" friction=\"0.5 0.02 0.005\"",
            "friction: 1, torsional_friction: 0.02)",
        ),
        (
            "condim=\"6\"",
            "condim=\"1\" friction=\"0.5 0.02 0.005\"",
            "friction: 1, torsional_friction: 0.02, rolling_friction: 0.005)",
        ),
    ] {
        let made = model(floor, geom);
        let pair = format!("(between: (\"surface 1\", \"surface 2\"), {expected}");
        assert!(made.scene.contains(&pair), "{pair}\n{}", made.scene);
        runner(&made.scene);
    }
}

/// A ball of 2 kg on the floor that a torque turns about the vertical, against the greater of two
/// torsional coefficients where only one of both asks for it: `(M - mu m g) t/(0.4 m r^2)`.
/// MuJoCo has this acceleration to 0.2 % when its contact, which gives way, has come to rest.
#[test]
fn balls_spin_against_the_greater_torsional_friction() {
    let spin = |floor: &str, ball: &str, torque: f64| {
        let made = import(&format!(
            "<option timestep=\"0.001\"/><worldbody><geom type=\"plane\" size=\"5 5 1\" {floor}/>
             <body name=\"b\" pos=\"0 0 0.1\"><freejoint/><geom size=\"0.1\" mass=\"2\" {ball}/><site name=\"s\"/></body></worldbody>
             <actuator><motor site=\"s\" gear=\"0 0 0 0 0 1\"/></actuator><keyframe><key name=\"home\" ctrl=\"{torque}\"/></keyframe>"
        ));
        let mut runner = runner(&made.scene);
        while runner.simulation().time() < 0.1 - 1e-9 {
            runner.step().unwrap();
        }
        let simulation = runner.simulation();
        simulation.velocities(simulation.model().node_named("b").unwrap())[5]
    };
    let (floor, ball) = (
        "condim=\"3\" friction=\"1 0.01 0.001\"",
        "condim=\"4\" friction=\"1 0.002 0.001\"",
    );
    let expected = (0.5 - 0.01 * 2.0 * 9.81) * 0.1 / (0.4 * 2.0 * 0.01);
    let found = spin(floor, ball, 0.5);
    assert!((found - expected).abs() < 1e-3 * expected, "{found} {expected}");
    // A coefficient of 0.02 holds the ball, 0.005 would not.
    let found = spin("condim=\"4\"", "condim=\"3\" friction=\"0.5 0.02 0.005\"", 0.1);
    assert!(found.abs() < 1e-6, "{found}");
}

/// An L of 0.3 m by its triangles.
#[test]
fn meshes_that_are_not_convex_weigh_about_their_centres_of_mass() {
    let outline = [[0, 0], [3, 0], [3, 1], [1, 1], [1, 3], [0, 3]];
    let mut file = String::new();
    for z in ["0", "0.1"] {
        for [x, y] in outline {
            file += &format!("v {} {} {z}\n", f64::from(x) / 10.0, f64::from(y) / 10.0);
        }
    }
    for i in 0..6 {
        let next = (i + 1) % 6;
        file += &format!("f {} {} {} {}\n", i + 1, next + 1, next + 7, i + 7);
    }
    for i in 1..5 {
        file += &format!("f {} {} 1\nf 7 {} {}\n", i + 2, i + 1, i + 7, i + 8);
    }
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("L.obj"), file).unwrap();
    let text = "<mujoco><asset><mesh name=\"T\" file=\"L.obj\"/></asset><worldbody><body name=\"b\"><freejoint/><geom type=\"mesh\" mesh=\"T\"/></body></worldbody></mujoco>";
    let path = folder.path().join("m.xml");
    std::fs::write(&path, text).unwrap();
    let made = import_file(&path, &Options::default()).unwrap();
    let line = made.scene.lines().find(|line| line.contains("mass:")).unwrap();
    let number = |key: &str, which: usize| -> f64 {
        let rest = &line[line.find(&format!("{key}: ")).unwrap() + key.len() + 2..];
        let rest = rest.trim_start_matches('(');
        let word = rest.split([',', ')', ' ']).filter(|w| !w.is_empty()).nth(which);
        word.unwrap().parse().unwrap()
    };
    for (key, which, expected) in [
        ("mass", 0, 5.322547967570202),
        ("position", 0, 0.11209554),
        ("position", 1, 0.11209554),
        ("position", 2, 0.05),
        ("inertia", 0, 0.04160099),
        ("inertia", 2, 0.0745461),
        ("products", 0, 0.01818382),
    ] {
        let found = number(key, which);
        // MuJoCo has vertices in single precision.
        assert!(
            (found - expected).abs() < 1e-6 * expected,
            "{key} {which}: {found} instead of {expected}\n{line}"
        );
    }
}

#[test]
fn names_of_the_file_come_first() {
    let made = import(
        "<worldbody><body><joint/><geom size=\".1\"/></body><body name=\"body 1\" pos=\"1 0 0\"><joint/><geom size=\".1\"/></body></worldbody>",
    );
    let first = made.scene.find("name: \"body 1.1\"").unwrap();
    let second = made.scene.find("name: \"body 1\",").unwrap();
    assert!(first < second, "{}", made.scene);
    runner(&made.scene);
    let made = import(
        "<worldbody><body name=\"b\"><joint/><joint name=\"joint 1\" axis=\"1 0 0\"/><geom size=\".1\"/></body></worldbody><actuator><motor joint=\"joint 1\"/></actuator>",
    );
    assert!(made.scene.contains("joint 1.1"), "{}", made.scene);
    runner(&made.scene);
    // A light body of several joints, and the spring of a tendon, are called as things of the file.
    let hinge = |name: &str, axis: &str| format!("<joint name=\"{name}\" axis=\"{axis}\"/>");
    let made = import(&format!(
        "<worldbody><body name=\"b\">{}{}{}<geom size=\"0.1\" pos=\"0.1 0 0\"/>
         <body name=\"b/j1\" pos=\"0.3 0 0\"><joint name=\"k\" axis=\"0 1 0\"/><geom size=\"0.1\"/></body></body></worldbody>
         <tendon><fixed name=\"t\" stiffness=\"3\"><joint joint=\"k\" coef=\"1\"/></fixed>
         <fixed name=\"t.spring\" damping=\"2\"><joint joint=\"k\" coef=\"1\"/></fixed></tendon>",
        hinge("j1", "0 1 0"),
        hinge("j2", "1 0.2 0"),
        hinge("j3", "0 0.1 1")
    ));
    assert!(!remarked(&made, "is used twice"), "{:?}", made.remarks);
    assert!(made.scene.contains("Bodies(name: \"b/j1 2\""), "{}", made.scene);
    assert!(
        made.scene.contains("(name: \"t.spring 2\", on: \"t\""),
        "{}",
        made.scene
    );
    assert!(made.scene.contains("on: \"t.spring\""), "{}", made.scene);
    runner(&made.scene);
}

#[test]
fn ranges_without_an_end_or_turned_around_limit_as_in_mujoco() {
    let limits = |joint: &str| {
        let made = import(&with(joint, "", ""));
        runner(&made.scene);
        let line = made.scene.lines().find(|line| line.contains("limits:"));
        line.map(|line| line.trim().to_owned())
    };
    assert_eq!(limits("range=\"-inf inf\""), None);
    assert_eq!(limits("range=\"10 -10\""), None);
    assert_eq!(limits("range=\"\""), None);
    let lower = -10.0f64.to_radians();
    assert_eq!(
        limits("range=\"-10 inf\""),
        Some(format!("limits: [(lower: {lower})],"))
    );
    let shown = error(&with("range=\"10 -10\" limited=\"true\"", "", ""));
    assert!(shown.contains("nothing is between them"), "{shown}");
    let tendon = import(&format!(
        "{}<tendon><fixed name=\"t\" range=\"3 1\"><joint joint=\"j\" coef=\"1\"/></fixed></tendon><actuator><position joint=\"j\" kp=\"3\" forcerange=\"-inf inf\" ctrlrange=\"1 -1\"/></actuator>",
        with("", "", "")
    ));
    assert!(!tendon.scene.contains("bounds:") && !tendon.scene.contains("force: inf"));
    assert!(!remarked(&tendon, "ctrlrange"), "{:?}", tendon.remarks);
    runner(&tendon.scene);
}

#[test]
fn numbers_that_are_empty_are_not_there() {
    let plain = import(&with("", "", "")).scene;
    let empty = |joint: &str, geom: &str| import(&with(joint, geom, "")).scene;
    assert_eq!(
        empty("pos=\"\" stiffness=\" \"", "quat=\"\" mass=\"\" friction=\"\""),
        plain
    );
    // What a class says stays.
    let class = "<default><geom density=\"2000\" euler=\"0 0 90\"/></default>";
    let with_class = |geom: &str| import(&format!("{class}{}", with("", geom, ""))).scene;
    assert_eq!(with_class("density=\"\" quat=\"\""), with_class(""));
    let shown = error(&with("type=\"\"", "", ""));
    assert!(shown.contains("joints have no type ``"), "{shown}");
}

/// A rotation of zeros is MuJoCo's default, which stands for the pose of the file.
#[test]
fn a_weld_with_a_rotation_of_zeros_is_a_plain_one() {
    let parts = |weld: &str| {
        format!(
            "<worldbody><body name=\"a\" pos=\"0 0 1\"><joint name=\"ja\" axis=\"0 1 0\"/><geom type=\"capsule\" size=\"0.05\" fromto=\"0 0 0 0.5 0 0\"/></body>
             <body name=\"b\" pos=\"0.5 0 1.1\"><freejoint/><geom type=\"box\" size=\"0.1 0.05 0.02\"/></body></worldbody>
             <equality><weld {weld} body1=\"a\" body2=\"b\"/></equality>"
        )
    };
    let plain = import(&parts(""));
    assert!(plain.scene.contains("kind: Fixed"), "{}", plain.scene);
    let zeros = import(&parts("relpose=\"0 1 0 0 0 0 0\""));
    assert_eq!(zeros.scene, plain.scene);
    let posed = import(&parts("relpose=\"0 1 0 1 0 0 0\""));
    assert!(remarked(&posed, "a weld at a pose of its own is not taken"));
}

#[test]
fn controls_of_a_keyframe_start_within_their_range() {
    let parts = |range: &str| {
        format!(
            "{}<actuator><motor name=\"drive\" joint=\"j\" {range}/></actuator><keyframe><key name=\"home\" ctrl=\"5\"/></keyframe>",
            with("", "", "")
        )
    };
    let bounded = import(&parts("ctrlrange=\"-1 2\""));
    assert!(bounded.scene.contains("\"drive\": 2,"), "{}", bounded.scene);
    assert!(
        remarked(
            &bounded,
            "the control of `drive` is 5 in the keyframe `home`, beyond its `ctrlrange`: it starts at 2"
        ),
        "{:?}",
        bounded.remarks
    );
    for range in [
        "",
        "ctrlrange=\"-1 2\" ctrllimited=\"false\"",
        "ctrlrange=\"-1 9\"",
    ] {
        let free = import(&parts(range));
        assert!(free.scene.contains("\"drive\": 5,"), "{}", free.scene);
        assert!(!remarked(&free, "it starts at"), "{:?}", free.remarks);
    }
    let unclamped = format!(
        "<option><flag clampctrl=\"disable\"/></option>{}",
        parts("ctrlrange=\"-1 2\"")
    );
    let unclamped = import(&unclamped);
    assert!(unclamped.scene.contains("\"drive\": 5,"), "{}", unclamped.scene);
    assert!(!remarked(&unclamped, "clampctrl"), "{:?}", unclamped.remarks);
}

#[test]
fn what_mujoco_refuses_is_an_error_at_its_place() {
    let inertial = |moments: &str| with("", "", &format!("<inertial pos=\"0 0 0\" mass=\"1\" {moments}/>"));
    let row = |row: &str| format!("{}<equality>{row}</equality>", with("", "", ""));
    for (parts, expected) in [
        (
            inertial("diaginertia=\"1 1 -1\""),
            "`diaginertia` has a moment of -1 kg m^2, which is below zero",
        ),
        (
            inertial("fullinertia=\"1 1 1 2 0 0\""),
            "`fullinertia` has a moment of -1 kg m^2, which is below zero",
        ),
        (
            with("", "condim=\"2\"", ""),
            "`condim` is 2, and may be 1, 3, 4 or 6",
        ),
        (
            with("", "conaffinity=\"1.5\"", ""),
            "`conaffinity` is 1.5, and may be a whole number",
        ),
        (
            with("", "contype=\"1e12\"", ""),
            "`contype` is 1000000000000, and may be a whole number",
        ),
        (
            with("", "", "<geom name=\"g\" size=\"0.1\"/>"),
            "the geom `g` is there twice",
        ),
        (
            row("<weld body1=\"b\" body2=\"b\"/>"),
            "`weld` ties `b` to itself",
        ),
        (row("<weld body1=\"world\"/>"), "`weld` ties `world` to itself"),
        (
            row("<connect body1=\"b\" body2=\"b\" anchor=\"0 0 0\"/>"),
            "`connect` ties `b` to itself",
        ),
        (
            row("<joint joint1=\"j\" joint2=\"j\"/>"),
            "`joint` ties `j` to itself",
        ),
    ] {
        let shown = error(&parts);
        assert!(
            shown.contains(expected) && shown.contains("m.xml:2:") && shown.contains('^'),
            "{expected}:\n{shown}"
        );
    }
    // A bound of moments makes up for them, and -1 is all bits, as in MuJoCo.
    let bounded = format!(
        "<compiler boundinertia=\"0.5\"/>{}",
        inertial("diaginertia=\"1 1 -1\"")
    );
    assert!(import(&bounded).scene.contains("inertia: (1, 1, 0.5)"));
    import(&with("", "contype=\"-1\"", ""));
}

#[test]
fn what_a_mesh_takes_with_it_is_told() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("m.obj")).unwrap();
    let path = folder.path().join("m.xml");
    let remarks = |file: &str, body: &str| {
        let text = format!(
            "<mujoco><asset><mesh name=\"T\" file=\"{file}\"/></asset><worldbody><body name=\"b\"><joint/><geom size=\"0.1\"/>{body}</body></worldbody></mujoco>"
        );
        std::fs::write(&path, text).unwrap();
        import_file(&path, &Options::default()).unwrap()
    };
    let mass = "the mass of a geom whose mesh is not read is not taken either";
    let mesh = "<geom type=\"mesh\" mesh=\"T\"/>";
    for (file, expected) in [
        ("missing.obj", "there is no mesh file `missing.obj`"),
        ("m.obj", "`m.obj` is a directory and no mesh file"),
        ("", "a mesh has an empty file name"),
    ] {
        let made = remarks(file, mesh);
        assert!(
            remarked(&made, expected) && remarked(&made, mass),
            "{:?}",
            made.remarks
        );
    }
    let picture = "<geom type=\"mesh\" mesh=\"T\" mass=\"0\"/>";
    let inertial = format!("<inertial pos=\"0 0 0\" mass=\"1\" diaginertia=\"1 1 1\"/>{mesh}");
    for body in [picture, &inertial] {
        let made = remarks("missing.obj", body);
        assert!(!remarked(&made, mass), "{:?}", made.remarks);
    }
}
