//! `pliant info` on all that it knows, and `pliant check` for programs.

use crate::{err, out, pliant, scene};
use serde_json::Value;

fn json_of(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|e| panic!("{e}: {text}"))
}

#[test]
fn scenes_have_counts_mass_and_a_box() {
    let dir = tempfile::tempdir().unwrap();
    let file = scene("four_bar.ron");
    let found = pliant(dir.path(), &["info", file.to_str().unwrap()]);
    assert_eq!(found.status.code(), Some(0), "{}", err(&found));
    let page = out(&found);
    // Two arms of 1 kg, a coupler of 2 kg.
    for said in [
        "bodies",
        "4: 4 x hinge",
        "4 kg",
        "(0, -9.81, 0) m/s^2",
        "800 steps of 0.005 s",
    ] {
        assert!(page.contains(said), "{said}: {page}");
    }
    let found = pliant(
        dir.path(),
        &["info", file.to_str().unwrap(), "--json", "--set", "angle=0"],
    );
    let page = json_of(&out(&found));
    assert_eq!(
        (&page["bodies"], &page["dofs"], &page["rows"]),
        (&3.into(), &18.into(), &20.into())
    );
    assert_eq!(page["joints"]["hinge"], 4);
    assert_eq!(page["mass"], 4.0);
    // Arms that hang down have their centres at -0.5, the coupler at -1.
    assert_eq!(page["box"]["low"][1], -1.0);
    assert_eq!(page["box"]["high"][1], -0.5);
}

#[test]
fn runs_have_their_span_their_verdict_and_their_files() {
    let dir = tempfile::tempdir().unwrap();
    let file = scene("pendulum.ron");
    let ran = pliant(
        dir.path(),
        &[
            "run",
            file.to_str().unwrap(),
            "-q",
            "--duration",
            "0.5",
            "--out",
            "o",
        ],
    );
    assert_eq!(ran.status.code(), Some(0));
    for name in ["o", "o/result.json"] {
        let page = out(&pliant(dir.path(), &["info", name]));
        for said in [
            "status               ok",
            "0.5 s simulated",
            "50 of 0.01 s",
            "play.html",
        ] {
            assert!(page.contains(said), "{said}: {page}");
        }
    }
    let page = json_of(&out(&pliant(dir.path(), &["info", "o", "--json"])));
    assert_eq!((&page["steps"], &page["status"]), (&50.into(), &"ok".into()));
    assert!(page["files"].as_array().unwrap().contains(&"energy.csv".into()));
    let page = out(&pliant(dir.path(), &["info", "o/manifest.json"]));
    assert!(page.contains("energy.csv"), "{page}");
    let page = json_of(&out(&pliant(dir.path(), &["info", "o/energy.csv", "--json"])));
    assert_eq!((&page["lines"], &page["time"][0]), (&51.into(), &0.0.into()));
}

#[test]
fn meshes_and_robots() {
    let dir = tempfile::tempdir().unwrap();
    let obj = "v 0 0 0\nv 1 0 0\nv 0 2 0\nf 1 2 3\n";
    std::fs::write(dir.path().join("one.obj"), obj).unwrap();
    let page = json_of(&out(&pliant(dir.path(), &["info", "one.obj", "--json"])));
    assert_eq!((&page["vertices"], &page["triangles"]), (&3.into(), &1.into()));
    assert_eq!(page["box"]["high"], serde_json::json!([1.0, 2.0, 0.0]));
    let urdf = "<robot name=\"r\"><link name=\"base\"/><link name=\"arm\"><inertial><mass value=\"2\"/>\
        <inertia ixx=\"1\" iyy=\"1\" izz=\"1\" ixy=\"0\" ixz=\"0\" iyz=\"0\"/></inertial></link>\
        <joint name=\"j\" type=\"continuous\"><parent link=\"base\"/><child link=\"arm\"/><axis xyz=\"0 0 1\"/></joint></robot>";
    std::fs::write(dir.path().join("r.urdf"), urdf).unwrap();
    let found = pliant(dir.path(), &["info", "r.urdf", "--json"]);
    assert_eq!(found.status.code(), Some(0), "{}", err(&found));
    let page = json_of(&out(&found));
    assert_eq!(
        (&page["bodies"], &page["joints"]["hinge"], &page["mass"]),
        (&1.into(), &1.into(), &2.0.into())
    );
}

#[test]
fn what_cannot_be_described_is_told() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("swing.ron"), "(").unwrap();
    std::fs::write(dir.path().join("a.objj"), "").unwrap();
    std::fs::write(dir.path().join("b.obj"), "f 1 2 3\n").unwrap();
    std::fs::write(dir.path().join("c.csv"), "").unwrap();
    std::fs::create_dir(dir.path().join("empty")).unwrap();
    for (arguments, said) in [
        (
            vec!["info", "swig.ron"],
            "there is no swig.ron\n = help: did you mean `swing.ron`?",
        ),
        (vec!["info", "swing.ron"], "error: "),
        (vec!["info", "a.objj"], "did you mean `obj`?"),
        (vec!["info", "b.obj"], "cannot read the mesh b.obj"),
        (vec!["info", "c.csv"], "the table is empty"),
        (vec!["info", "empty"], "there is no run in empty"),
        (
            vec!["info", "c.csv", "--set", "a=1"],
            "--set gives parameters of scenes",
        ),
    ] {
        let found = pliant(dir.path(), &arguments);
        assert_eq!(found.status.code(), Some(2), "{arguments:?}");
        assert!(err(&found).contains(said), "{arguments:?}: {}", err(&found));
        assert!(out(&found).is_empty());
    }
}

const LIMIT: &str = "(run: (duration: 0.1, step: 0.01),
    nodes: [Bodies(name: \"b\", bodies: [(position: (1, 0, 0), shape: Sphere(0.1), mass: 1)])],
    joints: [(name: \"j\", kind: Slider, b: Body(\"b\", 0), limits: [(lower: 0.5)])])";

#[test]
fn check_for_programs_and_strictly() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("limit.ron"), LIMIT).unwrap();
    let lax = pliant(dir.path(), &["check", "limit.ron", "--json"]);
    assert_eq!(lax.status.code(), Some(0));
    let page = json_of(&out(&lax));
    assert_eq!(
        (&page["good"], &page["error"], &page["dofs"]),
        (&true.into(), &Value::Null, &6.into())
    );
    let warning = &page["warnings"][0];
    assert!(
        warning["message"].as_str().unwrap().contains("outside its limit"),
        "{page}"
    );
    assert_eq!(
        (&warning["line"], &warning["file"]),
        (&3.into(), &"limit.ron".into())
    );
    assert!(err(&lax).is_empty());
    let strict = pliant(dir.path(), &["check", "limit.ron", "--strict"]);
    assert_eq!(strict.status.code(), Some(2));
    assert!(
        err(&strict).ends_with("error: with --strict a warning is an error\n"),
        "{}",
        err(&strict)
    );
    let strict = pliant(dir.path(), &["check", "limit.ron", "--strict", "--json"]);
    assert_eq!(
        (strict.status.code(), &json_of(&out(&strict))["good"]),
        (Some(2), &false.into())
    );
    // A note is no warning.
    let four_bar = scene("four_bar.ron");
    let noted = pliant(dir.path(), &["check", four_bar.to_str().unwrap(), "--strict"]);
    assert_eq!(noted.status.code(), Some(0), "{}", err(&noted));
    assert!(
        err(&noted).starts_with("note: 3 of the 20 rows"),
        "{}",
        err(&noted)
    );
    std::fs::write(dir.path().join("bad.ron"), LIMIT.replace("Slider", "Slidder")).unwrap();
    let bad = pliant(dir.path(), &["check", "bad.ron", "--json"]);
    assert_eq!(bad.status.code(), Some(2));
    let page = json_of(&out(&bad));
    assert!(
        page["error"]["help"].as_str().unwrap().contains("Slider"),
        "{page}"
    );
    assert_eq!(page["error"]["line"], 3);
}

/// Two masses without rows: the eigenvalues are these, and scaled to powers of two.
#[test]
fn the_spectrum_of_the_first_step_is_printed() {
    let dir = tempfile::tempdir().unwrap();
    let text = "(run: (duration: 1, step: 0.1), nodes: [
        Particles(name: \"light\", positions: [(0, 0, 0)], mass: 0.25),
        Particles(name: \"heavy\", positions: [(1, 0, 0)], mass: 1000),
    ])";
    let file = crate::write(dir.path(), "masses.ron", text);
    let found = pliant(dir.path(), &["info", &file, "--spectrum", "--json"]);
    assert_eq!(found.status.code(), Some(0), "{}", err(&found));
    let page = json_of(&out(&found));
    assert_eq!(page["matrix"]["positive"], 6);
    assert_eq!(page["matrix"]["negative"], 0);
    // Of the plain matrix 1000/0.25; powers of two leave 1000/1024 to one.
    assert!((page["condition"]["si"].as_f64().unwrap() / 4000.0 - 1.0).abs() < 1e-12);
    assert!(
        (page["condition"]["scaled"].as_f64().unwrap() / 1.024 - 1.0).abs() < 1e-12,
        "{page}"
    );
    let loop_of_bars = scene("four_bar.ron");
    let found = pliant(
        dir.path(),
        &["info", loop_of_bars.to_str().unwrap(), "--spectrum"],
    );
    assert_eq!(found.status.code(), Some(0), "{}", err(&found));
    // A planar loop of four hinges in space has three rows too many.
    assert!(out(&found).contains("3 zero (redundant rows)"), "{}", out(&found));
    let found = pliant(
        dir.path(),
        &["info", scene("cook.ron").to_str().unwrap(), "--spectrum"],
    );
    assert_eq!(found.status.code(), Some(2));
    assert!(err(&found).contains("`pliant modes`"), "{}", err(&found));
}

/// Arguments that would change nothing are errors, as those that cannot be.
#[test]
fn arguments_without_effect_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let pendulum = scene("pendulum.ron");
    let pendulum = pendulum.to_str().unwrap();
    let truss = scene("snap_through.ron");
    let truss = truss.to_str().unwrap();
    let ran = pliant(
        dir.path(),
        &[
            "run",
            pendulum,
            "--duration",
            "0.1",
            "--out",
            "r",
            "-q",
            "--save",
            "state.json",
        ],
    );
    assert_eq!(ran.status.code(), Some(0), "{}", err(&ran));
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    for (words, said) in [
        (
            &["info", "r", "--spectrum"][..],
            "--spectrum is of scenes, and r is none",
        ),
        (
            &["info", "r", "--set", "length=2"],
            "--set gives parameters of scenes",
        ),
        (
            &["info", "r/result.json", "--spectrum"],
            "--spectrum is of scenes",
        ),
        (
            &["info", "state.json", "--set", "length=2"],
            "--set gives parameters",
        ),
        (&["run", truss, "--step", "0.1"], "`--step` has no effect"),
        (&["run", truss, "--duration", "2"], "`--duration` has no effect"),
        (
            &["run", truss, "--integrator", "Bdf2"],
            "`--integrator` has no effect",
        ),
        (
            &["render", truss, "--duration", "2"],
            "`--duration` has no effect",
        ),
        (&["new", "-o", "z.ron"], "TEMPLATE"),
        (
            &["view", pendulum, "--no-open", "--port", &port],
            "`--port` takes another one",
        ),
    ] {
        let refused = pliant(dir.path(), words);
        assert_eq!(refused.status.code(), Some(2), "{words:?}: {}", err(&refused));
        assert!(err(&refused).contains(said), "{words:?}: {}", err(&refused));
    }
}

/// A run that does not begin says why as `check` does.
#[test]
fn a_bad_scene_is_a_line_for_programs() {
    let dir = tempfile::tempdir().unwrap();
    let text = "(run: (duration: 1), nodes: [Particles(name: \"p\", positions: [(0, 0, 0)], mass: -1)])";
    let file = crate::write(dir.path(), "bad.ron", text);
    let ran = pliant(dir.path(), &["run", &file, "--json"]);
    assert_eq!(ran.status.code(), Some(2));
    let line = json_of(out(&ran).trim());
    let checked = json_of(&out(&pliant(dir.path(), &["check", &file, "--json"])));
    assert_eq!(line["kind"], "error");
    assert_eq!(line["error"], checked["error"]);
    assert_eq!(line["error"]["line"], 1);
}
