//! Parts of MJCF and the parts of a scene that they become.

use crate::{import_mjcf, imported, remarked, runner};
use pliant_import::{Format, Imported, Options, import_file, import_text};

/// A model of these parts, a line each.
fn import(parts: &str) -> Imported {
    import_mjcf(parts).unwrap_or_else(|e| panic!("{e}"))
}

fn error(parts: &str) -> String {
    import_mjcf(parts).unwrap_err()
}

/// A body with a joint of these attributes.
fn with_joint(joint: &str) -> Imported {
    import(&format!(
        "<worldbody><body name=\"b\"><joint name=\"j\" {joint}/><geom size=\"1\"/></body></worldbody>"
    ))
}

#[test]
fn angles_are_degrees_unless_the_compiler_says_otherwise() {
    let made = with_joint("range=\"-90 180\"");
    let half = std::f64::consts::PI;
    assert!(
        made.scene
            .contains(&format!("limits: [(lower: {}, upper: {half})]", -half / 2.0)),
        "{}",
        made.scene
    );
    let made = import(
        "<compiler angle=\"radian\" autolimits=\"false\"/><worldbody><body name=\"b\"><joint name=\"j\" range=\"-1 2\"/><joint name=\"k\" axis=\"1 0 0\" limited=\"true\" range=\"-1 2\"/><geom size=\"1\"/></body></worldbody>",
    );
    assert!(
        made.scene
            .contains("limits: [(on: \"second_angle\", lower: -1, upper: 2)]"),
        "{}",
        made.scene
    );
}

#[test]
fn coordinates_are_zero_at_the_pose_of_the_file() {
    let made = with_joint("type=\"slide\" ref=\"0.5\" range=\"-1 2\" stiffness=\"4\" springref=\"0.25\"");
    for expected in [
        "limits: [(lower: -1.5, upper: 1.5)]",
        "springs: [(compliance: 0.25, rest: -0.25)]",
    ] {
        assert!(made.scene.contains(expected), "{expected}\n{}", made.scene);
    }
    assert!(remarked(&made, "where those of the file are `ref` (m.xml:2)"));
}

#[test]
fn joints_of_one_body_are_one_joint_where_there_is_one() {
    let body = |joints: &str| {
        import(&format!(
            "<worldbody><body name=\"b\">{joints}<geom size=\"1\"/></body></worldbody>"
        ))
        .scene
    };
    let slide = |name: &str, axis: &str| format!("<joint name=\"{name}\" type=\"slide\" axis=\"{axis}\"/>");
    let hinge =
        |name: &str, axis: &str, pos: &str| format!("<joint name=\"{name}\" axis=\"{axis}\" pos=\"{pos}\"/>");
    let planar = body(
        &[
            slide("x", "1 0 0"),
            slide("z", "0 0 1"),
            hinge("y", "0 1 0", "0 0 0"),
        ]
        .concat(),
    );
    assert!(
        planar.contains("kind: Planar") && planar.matches("Bodies(").count() == 1,
        "{planar}"
    );
    let universal = body(&[hinge("a", "1 0 0", "0 0 0"), hinge("b", "0 1 0", "0 0 0")].concat());
    assert!(universal.contains("kind: Universal") && universal.matches("Bodies(").count() == 1);
    let along = body(&[slide("a", "0 0 1"), hinge("b", "0 0 1", "1 0 0")].concat());
    assert!(along.contains("kind: Cylindrical") && along.matches("Bodies(").count() == 1);
    // Three of them are a gimbal, in either order, if the middle one stops before a quarter turn.
    let limited = |name: &str, axis: &str| {
        format!("<joint name=\"{name}\" axis=\"{axis}\" limited=\"true\" range=\"-60 35\"/>")
    };
    for (second, third, kind) in [("0 1 0", "0 0 1", "GimbalXyz"), ("0 0 1", "0 1 0", "GimbalXzy")] {
        let three = [
            hinge("a", "1 0 0", "0 0 0"),
            limited("b", second),
            hinge("c", third, "0 0 0"),
        ];
        let gimbal = body(&three.concat());
        assert!(
            gimbal.contains(&format!("kind: {kind}")) && gimbal.matches("Bodies(").count() == 1,
            "{gimbal}"
        );
        let free = [
            hinge("a", "1 0 0", "0 0 0"),
            hinge("b", second, "0 0 0"),
            hinge("c", third, "0 0 0"),
        ];
        assert_eq!(body(&free.concat()).matches("Bodies(").count(), 2);
    }
    // Axes that do not meet are no universal joint.
    let skew = body(&[hinge("a", "1 0 0", "0 0 0"), hinge("b", "0 1 0", "0 0 0.1")].concat());
    assert!(
        skew.matches("kind: Hinge").count() == 2 && skew.matches("Bodies(").count() == 2,
        "{skew}"
    );
    assert!(skew.contains("name: \"b/a\"") && skew.contains("light bodies"));
}

/// Closed forms: a box of 1 x 2 x 3 m and a capsule are what the file says by density.
#[test]
fn geoms_weigh_by_density_or_mass() {
    let made = import(
        "<worldbody><body name=\"a\"><freejoint/><geom type=\"box\" size=\"0.5 1 1.5\" density=\"2\"/></body>
         <body name=\"b\"><freejoint/><geom type=\"box\" size=\"0.5 1 1.5\" mass=\"6\"/></body>
         <body name=\"c\"><freejoint/><geom type=\"box\" size=\"1 1 1\"/><inertial pos=\"0 0 0\" mass=\"1\" diaginertia=\"1 1 1\"/></body></worldbody>",
    );
    // 6 m^3; m (b^2 + c^2)/12.
    assert!(
        made.scene.contains("mass: 12, inertia: (13, 10, 5)"),
        "{}",
        made.scene
    );
    assert!(made.scene.contains("mass: 6, inertia: (6.5, 5, 2.5)"));
    assert!(made.scene.contains("mass: 1, inertia: (1, 1, 1)"));
}

#[test]
fn drives_are_servos_forces_and_masses() {
    let made = imported("drives.xml", &Options::default());
    for expected in [
        // kp gear^2 = 45, kv/kp = 0.025; at control 0.3 the target is 0.2, less the reference.
        "motors: [Position(on: \"second_angle\", target: \"$luff_servo\", compliance: 0.022222222222222223, relaxation_time: 0.025)]",
        "\"slew_drive\": 0.5",
        "law: Force([\"2 * $slew_drive\"])",
        "\"reach_servo\": -0.02",
        "(name: \"reach.armature\", on: \"reach.travel\", mass: 0.4)",
        "// Starts at 0.3, -0.6000000000000001.",
    ] {
        assert!(made.scene.contains(expected), "{expected}\n{}", made.scene);
    }
    runner(&made.scene);
}

#[test]
fn groups_keep_apart_what_bits_keep_apart() {
    let geom = |name: &str, bits: &str| {
        format!("<body name=\"{name}\"><freejoint/><geom name=\"{name}\" size=\"0.1\" {bits}/></body>")
    };
    let made = import(&format!(
        "<worldbody>{}{}{}{}</worldbody><contact><exclude body1=\"a\" body2=\"b\"/></contact>",
        geom("a", "contype=\"1\" conaffinity=\"2\""),
        geom("b", "contype=\"2\" conaffinity=\"0\""),
        geom(
            "c",
            "contype=\"4\" conaffinity=\"4\" friction=\"0.3\" condim=\"6\""
        ),
        geom("d", "contype=\"0\" conaffinity=\"0\""),
    ));
    let collider = |name: &str| {
        made.scene
            .lines()
            .find(|l| l.contains(&format!("Body(name: \"{name}\"")))
            .map(str::to_owned)
    };
    assert!(collider("d").is_none() && remarked(&made, "collides with nothing is a picture only"));
    // a has 1 and takes 2, b has 2: they meet, and are excluded; c meets its like alone.
    let (a, b, c) = (
        collider("a").unwrap(),
        collider("b").unwrap(),
        collider("c").unwrap(),
    );
    let groups = |line: &str| line.split("groups: ").nth(1).unwrap().to_owned();
    assert_eq!(groups(&a), "[\"kind 1\"], collides_with: [\"kind 2\"]),");
    assert_eq!(groups(&b), "[\"kind 2\"], collides_with: [\"kind 1\"]),");
    assert_eq!(groups(&c), "[\"kind 3\"], collides_with: [\"kind 3\"]),");
    assert!(made.scene.contains("(\"a\", \"b\"),") && made.scene.contains("friction_rule: Maximum"));
    assert!(
        made.scene
            .contains("friction: 0.3, torsional_friction: 0.005, rolling_friction: 0.0001"),
        "{}",
        made.scene
    );
    runner(&made.scene);
}

#[test]
fn loops_are_closed_and_rows_follow() {
    let made = import(
        "<worldbody><body name=\"a\"><joint name=\"j\" axis=\"0 1 0\"/><geom size=\"0.1\" pos=\"0.2 0 0\"/></body>
         <body name=\"b\" pos=\"1 0 0\"><joint name=\"k\" axis=\"0 1 0\"/><geom size=\"0.1\" pos=\"0.2 0 0\"/></body></worldbody>
         <equality><connect body1=\"a\" body2=\"b\" anchor=\"0.5 0 0.1\"/><joint joint1=\"j\" joint2=\"k\" polycoef=\"0 -2\"/></equality>",
    );
    // In b the anchor is at (-0.5, 0, 0.1), seen from its centre of mass at (0.2, 0, 0).
    assert!(made.scene.contains("a: Frame(body: (\"a\", 0), position: (0.3, 0, 0.1)), b: Frame(body: (\"b\", 0), position: (-0.7, 0, 0.1))"), "{}", made.scene);
    assert!(
        made.scene
            .contains("first: \"j.angle\", second: \"k.angle\", ratio: 2")
    );
    runner(&made.scene);
}

#[test]
fn includes_are_read_once() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    std::fs::write(at("main.xml"), "<mujoco><include file=\"body.xml\"/></mujoco>").unwrap();
    std::fs::write(at("body.xml"), "<mujoco><worldbody>\n<body name=\"b\"><freejoint/>\n<geom size=\"1\" colour=\"red\"/></body></worldbody></mujoco>").unwrap();
    let made = import_file(&at("main.xml"), &Options::default()).unwrap();
    assert!(
        made.scene.contains("Bodies(name: \"b\"") && remarked(&made, "body.xml:3)"),
        "{:?}",
        made.remarks
    );
    std::fs::write(at("body.xml"), "<mujoco><include file=\"body.xml\"/></mujoco>").unwrap();
    let shown = import_file(&at("main.xml"), &Options::default())
        .unwrap_err()
        .to_string();
    assert!(shown.contains("`body.xml` is included twice"), "{shown}");
    std::fs::write(at("body.xml"), "<mujoco>\n<worldbody></mujoco>").unwrap();
    let shown = import_file(&at("main.xml"), &Options::default())
        .unwrap_err()
        .to_string();
    assert!(shown.contains("body.xml:2:"), "{shown}");
}

#[test]
fn broken_models_are_errors_with_a_caret() {
    let body = |inside: &str| format!("<worldbody><body name=\"b\">{inside}</body></worldbody>");
    for (parts, expected) in [
        (body("<geom type=\"bix\" size=\"1 1 1\"/>"), "did you mean `box`?"),
        (
            body("<geom type=\"box\" size=\"1 1\"/>"),
            "a `box` has 3 sizes above zero",
        ),
        (
            body("<geom size=\"1\" quat=\"0 0 0 0\"/>"),
            "`quat` is no rotation",
        ),
        (body("<joint axis=\"0 0 0\"/>"), "the axis has length zero"),
        (
            body("<joint range=\"2 1\" limited=\"true\"/>"),
            "nothing is between them",
        ),
        (
            body("<geom class=\"none\" size=\"1\"/>"),
            "there is no class `none`",
        ),
        (body("<geom type=\"mesh\" mesh=\"m\"/>"), "there is no mesh `m`"),
        (
            body("<freejoint/><body name=\"b\"/>"),
            "the body `b` is there twice",
        ),
        (
            body("<body name=\"c\"><freejoint/><geom size=\"1\"/></body>"),
            "inside of another body",
        ),
        (
            "<worldbody/><actuator><motor joint=\"j\"/></actuator>".to_owned(),
            "there is no joint `j`",
        ),
        (
            "<compiler coordinate=\"global\"/>".to_owned(),
            "global coordinates are not read",
        ),
        ("<compiler eulerseq=\"xy\"/>".to_owned(), "three of x, y, z"),
        (
            "<worldbody/><keyframe><key name=\"home\" qpos=\"1 2\"/></keyframe>".to_owned(),
            "`qpos` has 2 numbers, and the model 0",
        ),
    ] {
        let shown = error(&parts);
        assert!(
            shown.contains(expected) && shown.contains("m.xml:2:") && shown.contains('^'),
            "{expected}:\n{shown}"
        );
    }
}

#[test]
fn what_is_not_taken_is_told() {
    let made = import(
        "<sensor/><option solver=\"CG\"/><worldbody><light/><body name=\"b\" gravcomb=\"1\"><joint name=\"j\"/><geom size=\"1\" solref=\"1 1\"/></body></worldbody>
         <tendon><thread/></tendon><actuator><muscle joint=\"j\"/></actuator><keyframe><key qpos=\"1\"/></keyframe>",
    );
    for expected in [
        "`sensor` in `mujoco`",
        "`solver` of `option`",
        "lights are not taken",
        "`gravcomb` of `body`",
        "`solref` of `geom`",
        "`thread` in `tendon`",
        "actuator `muscle`",
        "keyframes other than `home`",
    ] {
        assert!(remarked(&made, expected), "{expected}: {:?}", made.remarks);
    }
}

/// A box on the ground ends where MuJoCo has it, within 0.12 mm: there contacts are springs, which
/// give way by 0.11 mm.
#[test]
fn what_falls_comes_to_rest_on_the_ground() {
    let made = import(
        "<worldbody><geom name=\"floor\" type=\"plane\" size=\"5 5 1\"/><body name=\"box\" pos=\"0 0 0.3\"><freejoint/><geom type=\"box\" size=\"0.1 0.2 0.05\"/></body></worldbody>",
    );
    let mut runner = runner(&made.scene.replace("step: 0.002", "step: 0.01"));
    while !runner.is_done() {
        runner.step().unwrap();
    }
    let simulation = runner.simulation();
    let at = simulation.positions(simulation.model().node_named("box").unwrap());
    // MuJoCo 4.0.0 after 2 s: see reference/generate.py.
    let expected: serde_json::Value = serde_json::from_str(include_str!("reference.json")).unwrap();
    let rest = expected["rest"].as_array().unwrap();
    for (index, expected) in rest.iter().enumerate() {
        assert!((at[index] - expected.as_f64().unwrap()).abs() < 1.2e-4, "{at:?}");
    }
}

/// The force is that of the file's own body: what is welded on it has its own, what stands in the
/// world none. Accelerations and motion are compared in `reference.rs`.
#[test]
fn weight_is_carried_where_gravcomp_says() {
    let model = |option: &str| {
        import(&format!(
            "{option}<worldbody><body gravcomp=\"1\"><geom size=\"1\" mass=\"3\"/></body><body name=\"a\" gravcomp=\"0.5\"><freejoint/><geom size=\"1\" mass=\"2\"/><body name=\"b\" pos=\"1 0 0\"><geom size=\"1\" mass=\"4\"/></body></body></worldbody>"
        ))
    };
    let made = model("<option gravity=\"0 0 -10\"/>");
    for expected in [
        // The centre of mass of both is at 2/3.
        "Mapped(name: \"a.gravcomp point\", parents: [\"a\"], mapping: RigidPoints(points: [(0, (-0.66666666666667, 0, 0))])),",
        "(name: \"a.gravcomp\", on: \"a.gravcomp point\", law: Force([0, 0, 10])),",
    ] {
        assert!(made.scene.contains(expected), "{expected}\n{}", made.scene);
    }
    assert_eq!(made.scene.matches("law: Force").count(), 1, "{}", made.scene);
    runner(&made.scene);
    let made = model("<option><flag gravity=\"disable\"/></option>");
    assert!(!made.scene.contains("law: Force"), "{}", made.scene);
    let shown = error("<worldbody><body gravcomp=\"x\"/></worldbody>");
    assert!(shown.contains("`gravcomp` has `x` where a number") && shown.contains("m.xml:2:"));
}

/// A joint in a frame stands before one behind the frame.
#[test]
fn frames_keep_the_order_of_the_file() {
    let made = import(
        "<worldbody><body name=\"b\"><frame><joint name=\"j1\" axis=\"1 0 0\"/></frame><joint name=\"j2\" axis=\"0 1 0\" pos=\"0 0 1\"/><geom size=\"1\"/></body></worldbody>",
    );
    let at = |name: &str| made.scene.find(&format!("name: \"{name}\", kind: Hinge"));
    assert!(at("j1").unwrap() < at("j2").unwrap(), "{}", made.scene);
    let body = |name: &str, joint: &str| {
        format!("<body name=\"{name}\"><joint name=\"{joint}\"/><geom size=\"1\"/></body>")
    };
    let made = import(&format!(
        "<worldbody><frame>{}</frame>{}<frame>{}</frame></worldbody>
         <keyframe><key name=\"home\" qpos=\"0.1 0.2 0.3\"/></keyframe>",
        body("a", "ja"),
        body("b", "jb"),
        body("c", "jc")
    ));
    for (start, name) in [("0.1", "ja"), ("0.2", "jb"), ("0.3", "jc")] {
        let expected = format!("// Starts at {start}.\n            name: \"{name}\"");
        assert!(made.scene.contains(&expected), "{expected}\n{}", made.scene);
    }
}

#[test]
fn inertias_that_are_not_taken_are_told() {
    let one = "<inertial pos=\"0 0 0\" mass=\"1\" diaginertia=\"1 1 1\"/>";
    let made = import(&format!(
        "<worldbody>{one}\n<body name=\"b\"><freejoint/>\n{one}\n{one}</body></worldbody>"
    ));
    assert!(remarked(&made, "the world has no inertia (m.xml:2)"));
    assert!(remarked(&made, "a second `inertial` is not taken (m.xml:5)"));
}

/// Settings of a later `compiler` or `option` hold, also those that are the default.
#[test]
fn later_settings_hold() {
    let body = "<worldbody><body name=\"b\"><joint range=\"-1 90\"/><geom size=\"1\"/></body></worldbody>";
    let made = import(&format!(
        "<compiler angle=\"radian\"/><compiler angle=\"degree\"/>{body}"
    ));
    let quarter = std::f64::consts::FRAC_PI_2;
    assert!(
        made.scene.contains(&format!("upper: {quarter})")),
        "{}",
        made.scene
    );
    let off = "<option><flag gravity=\"disable\" contact=\"disable\"/></option>";
    let made = import(&format!("{off}<option gravity=\"0 0 -5\"/>{body}"));
    assert!(made.scene.contains("gravity: (0, 0, 0)"), "{}", made.scene);
    assert!(!made.scene.contains("Body(name: \"b\""));
    let made = import(&format!(
        "{off}<option gravity=\"0 0 -5\"><flag gravity=\"enable\" contact=\"enable\"/></option>{body}"
    ));
    assert!(made.scene.contains("gravity: (0, 0, -5)"), "{}", made.scene);
    assert!(made.scene.contains("Body(name: \"b\""));
    assert!(error("<option><flag gravity=\"off\"/></option>").contains("`enable` or `disable`"));
}

/// Defaults of `joint` are not those of a row between joints, which are `equality`; a free joint
/// has none.
#[test]
fn defaults_are_those_of_their_section() {
    let model = |defaults: &str, parts: &str| {
        import(&format!(
            "<default>{defaults}</default>
             <worldbody><body name=\"b\"><joint name=\"j\"/><joint name=\"k\" axis=\"1 0 0\"/><geom size=\"1\"/></body>
             <body name=\"c\"><freejoint/><geom size=\"1\"/></body></worldbody>
             <tendon><fixed name=\"t\"><joint joint=\"j\" coef=\"2\"/></fixed></tendon>
             <equality>\n{parts}</equality>"
        ))
    };
    let row = "<joint joint1=\"j\" joint2=\"k\"/>";
    let made = model("<joint damping=\"3\" armature=\"1\"/>", row);
    assert!(made.scene.contains("ratio: -1") && made.scene.contains("damping: 3"));
    for remark in ["`damping` of `joint`", "of a free joint"] {
        assert!(!remarked(&made, remark), "{remark}: {:?}", made.remarks);
    }
    let made = model("<equality active=\"false\"/>", row);
    assert!(!made.scene.contains("ratio:"), "{}", made.scene);
    assert!(
        remarked(&made, "not active is not taken (m.xml:7)"),
        "{:?}",
        made.remarks
    );
}

/// A remark on a class is told once, whatever has it from there.
#[test]
fn defaults_that_are_not_taken_are_told_where_they_stand() {
    let made = import(
        "<default>\n<geom colour=\"red\"/><motor dampratio=\"1\"/>\n<guom/></default>
         <worldbody><body name=\"b\"><joint name=\"j\"/><geom size=\"1\"/><geom size=\"1\"/></body></worldbody>
         <actuator><general joint=\"j\"/></actuator>",
    );
    for expected in [
        "`colour` of `geom` is not taken (m.xml:3)",
        "`dampratio` of `general` is not taken (m.xml:3)",
        "`guom` in `default` is not taken; did you mean `geom`? (m.xml:4)",
    ] {
        assert!(remarked(&made, expected), "{expected}: {:?}", made.remarks);
    }
}

/// Closures hold bodies where the file has them, though rows let joints start elsewhere.
#[test]
fn closures_are_those_of_zero_coordinates() {
    let body = |name: &str, x: f64, joint: &str| {
        format!(
            "<body name=\"{name}\" pos=\"{x} 0 0\"><joint name=\"{joint}\" axis=\"0 1 0\"/><geom size=\"0.1\" pos=\"0.2 0 0\"/></body>"
        )
    };
    let model = |offset: f64| {
        import(&format!(
            "<worldbody>{}{}</worldbody>
             <equality><joint joint1=\"j\" joint2=\"k\" polycoef=\"{offset} 1\"/><weld body1=\"a\" body2=\"b\"/></equality>",
            body("a", 0.0, "j"),
            body("b", 1.0, "k")
        ))
    };
    let weld = |made: &Imported| {
        let line = made.scene.lines().find(|l| l.contains("kind: Fixed"));
        line.map(str::to_owned).unwrap()
    };
    assert!(weld(&model(0.5)).contains("b: Frame(body: (\"b\", 0), position: (-1.2, 0, 0))"));
    assert_eq!(weld(&model(0.5)), weld(&model(0.0)));
}

/// Free joints and ball joints are there, but have no single coordinate.
#[test]
fn parts_on_joints_without_a_single_coordinate_are_told() {
    let made = import(
        "<worldbody><body name=\"a\"><freejoint name=\"free\"/><geom size=\"1\"/></body>
         <body name=\"b\"><joint name=\"ball\" type=\"ball\"/><geom size=\"1\"/></body>
         <body name=\"c\"><joint name=\"j\"/><geom size=\"1\"/></body></worldbody>
         <tendon>\n<fixed name=\"t\"><joint joint=\"free\" coef=\"1\"/></fixed>
         <fixed name=\"u\"><joint joint=\"j\" coef=\"1\" color=\"red\"/></fixed></tendon>
         <equality>\n<joint joint1=\"free\"/>\n<joint joint1=\"j\" joint2=\"ball\"/></equality>
         <actuator>\n<motor joint=\"free\"/>\n<motor tendon=\"t\"/>\n<motor joint=\"ball\"/></actuator>",
    );
    for expected in [
        "a tendon over a joint that is neither a hinge nor a slide is not taken (m.xml:6)",
        "`color` of `joint` is not taken (m.xml:7)",
        "a row of a joint that is neither a hinge nor a slide is not taken, 2 times (m.xml:9, 10)",
        "an actuator of a free joint is not taken (m.xml:12)",
        "an actuator of this tendon is not taken (m.xml:13)",
        "actuators of a joint that is neither a hinge nor a slide are not taken (m.xml:3)",
    ] {
        assert!(remarked(&made, expected), "{expected}: {:?}", made.remarks);
    }
    runner(&made.scene);
    let shown = error(
        "<worldbody><body><joint name=\"hip\"/><geom size=\"1\"/></body></worldbody><actuator><motor joint=\"hup\"/></actuator>",
    );
    assert!(
        shown.contains("no joint `hup`") && shown.contains("did you mean `hip`?"),
        "{shown}"
    );
}

#[test]
fn actuators_at_sites_that_are_not_taken_are_told() {
    let made = import(
        "<worldbody><site name=\"w\"/><body><joint name=\"j\"/><geom size=\"1\"/><site name=\"s\"/></body></worldbody>
         <actuator>\n<motor site=\"s\" refsite=\"w\"/>\n<motor site=\"w\"/>\n<velocity site=\"s\"/>
         <damper site=\"s\" kv=\"1\"/>\n<damper joint=\"j\"/><motor name=\"on\" site=\"s\" forcerange=\"-1 1\"/></actuator>",
    );
    for expected in [
        "an actuator between two sites is not taken (m.xml:4)",
        "an actuator at a site of the world has no effect (m.xml:5)",
        "a damper at a site is not taken, 2 times (m.xml:6, 7)",
        "a damper without `kv` has no effect (m.xml:8)",
        "is not kept (m.xml:8)",
    ] {
        assert!(remarked(&made, expected), "{:?}", made.remarks);
    }
    let law = "law: BodyForce(point: (0, 0, 0), force: (\"1 * $on\", 0, 0))";
    assert!(made.scene.contains(law), "{}", made.scene);
    let wrong = crate::import_mjcf("<worldbody/><actuator><motor site=\"s\"/></actuator>").unwrap_err();
    assert!(wrong.contains("there is no site `s`"), "{wrong}");
}

#[test]
fn actuators_with_a_state_are_not_taken() {
    let made = import(
        "<worldbody><body><joint name=\"j\"/><geom size=\"1\"/></body></worldbody>
         <actuator>\n<position joint=\"j\" timeconst=\"0.1\"/>\n<general joint=\"j\" dyntype=\"integrator\"/>
         <general joint=\"j\" dyntype=\"none\"/></actuator>",
    );
    let expected = "an actuator with a state of its own is not taken, 2 times (m.xml:4, 5)";
    assert!(remarked(&made, expected), "{:?}", made.remarks);
    assert!(
        made.scene.contains("actuator_3") && !made.scene.contains("motors:"),
        "{}",
        made.scene
    );
}

/// A mesh is the shape of a geom only by its type; MuJoCo fits a sphere to it otherwise.
#[test]
fn a_geom_with_a_mesh_and_no_type_is_no_mesh() {
    let folder = tempfile::tempdir().unwrap();
    let mesh = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";
    std::fs::write(folder.path().join("tip.obj"), mesh).unwrap();
    let path = folder.path().join("m.xml");
    let model = |kind: &str| {
        let text = format!(
            "<mujoco><asset><mesh file=\"tip.obj\"/></asset><worldbody><body name=\"b\"><freejoint/>
             <geom size=\"1\"/>\n<geom {kind} mesh=\"tip\"/></body></worldbody></mujoco>"
        );
        std::fs::write(&path, text).unwrap();
        import_file(&path, &Options::default()).unwrap()
    };
    let (mesh, sphere) = (model("type=\"mesh\""), model(""));
    assert!(mesh.scene.contains("Hull(") && !sphere.scene.contains("Hull("));
    assert!(remarked(&sphere, "fitted to a mesh is left out, with its mass") && !remarked(&mesh, "fitted"));
}

#[test]
fn words_that_are_neither_true_nor_false_are_errors() {
    let joint = |word: &str| {
        format!("<worldbody><body><joint limited=\"{word}\"/><geom size=\"1\"/></body></worldbody>")
    };
    for (parts, expected) in [
        (joint("True"), "`limited` cannot be `True`"),
        (joint("ture"), "did you mean `true`?"),
        (
            "<compiler autolimits=\"auto\"/>".to_owned(),
            "`autolimits` cannot be `auto`",
        ),
        (
            "<compiler inertiafromgeom=\"yes\"/>".to_owned(),
            "`inertiafromgeom` cannot be `yes`",
        ),
        (
            "<worldbody/><equality><weld body1=\"world\" active=\"on\"/></equality>".to_owned(),
            "`active` cannot be `on`",
        ),
    ] {
        let shown = error(&parts);
        assert!(
            shown.contains(expected) && shown.contains("m.xml:2:"),
            "{expected}:\n{shown}"
        );
    }
}

#[test]
fn limits_that_limit_nothing_are_told() {
    let made = import(
        "<compiler autolimits=\"false\"/><worldbody><body>\n<joint name=\"j\" limited=\"true\"/>
         <joint axis=\"1 0 0\" range=\"0 1\"/>\n<joint axis=\"1 0 0\" limited=\"false\" range=\"0 1\"/><geom size=\"1\"/></body></worldbody>
         <actuator><motor joint=\"j\" forcelimited=\"true\"/>\n<motor joint=\"j\" ctrlrange=\"0 1\"/></actuator>",
    );
    for expected in [
        "`limited` without `range` limits nothing (m.xml:3)",
        "`range` without `limited` limits nothing, as `autolimits` is off (m.xml:4)",
        "`forcelimited` without `forcerange` limits nothing (m.xml:6)",
        "`ctrlrange` without `ctrllimited` limits nothing, as `autolimits` is off (m.xml:7)",
    ] {
        assert!(remarked(&made, expected), "{expected}: {:?}", made.remarks);
    }
    assert!(!made.scene.contains("limits:"), "{}", made.scene);
    let made = with_joint("range=\"0 1\"");
    assert!(!remarked(&made, "limits nothing"), "{:?}", made.remarks);
}

#[test]
fn keys_are_checked() {
    let model = |key: &str| {
        format!(
            "<worldbody><body><joint name=\"j\"/><geom size=\"1\"/></body></worldbody><actuator><motor joint=\"j\"/></actuator><keyframe>{key}</keyframe>"
        )
    };
    let made = import(&model(
        "<key name=\"home\" qpos=\"1\" ctrl=\"2\" qvel=\"3\"/><kei/>",
    ));
    assert!(made.scene.contains("\"actuator_1\": 2"), "{}", made.scene);
    for expected in [
        "`qvel` of `key`",
        "`kei` in `keyframe` is not taken; did you mean `key`?",
    ] {
        assert!(remarked(&made, expected), "{expected}: {:?}", made.remarks);
    }
    let shown = error(&model("<key name=\"home\" ctrl=\"2 3\"/>"));
    assert!(
        shown.contains("`ctrl` has 2 numbers, and the model 1 actuators"),
        "{shown}"
    );
}

#[test]
fn wishes_for_urdf_are_told() {
    let text = "<mujoco><worldbody><body><freejoint/><geom size=\"1\"/></body></worldbody></mujoco>";
    let options = Options {
        floating: true,
        position: [0.0, 0.0, 1.0],
        self_collision: true,
        ..Options::default()
    };
    let made = import_text(Format::Mjcf, "m.xml", text, &options).unwrap();
    for wish in ["--floating", "--at", "--self-collision"] {
        assert!(
            remarked(&made, &format!("{wish} is for URDF")),
            "{:?}",
            made.remarks
        );
    }
    assert!(!remarked(&import("<worldbody/>"), "is for URDF"));
}

#[test]
fn gains_that_overflow_are_refused() {
    let body = "<worldbody><body><joint name=\"j\"/><geom size=\"1\"/></body></worldbody>";
    let shown = error(&format!(
        "{body}<actuator><general joint=\"j\" gainprm=\"1e200\" gear=\"1e200\"/></actuator>"
    ));
    assert!(
        shown.contains("gain and gear of the actuator are too large"),
        "{shown}"
    );
}

/// More kinds than groups: the scene says that all collide.
#[test]
fn many_kinds_of_colliders_are_told() {
    let geoms: String = (0..40)
        .map(|i| format!("<body><freejoint/><geom size=\"1\" contype=\"{i}\" conaffinity=\"0\"/></body>"))
        .collect();
    let made = import(&format!("<worldbody>{geoms}</worldbody>"));
    assert!(
        remarked(&made, "more than 31 kinds of contype and conaffinity"),
        "{:?}",
        made.remarks
    );
}
