//! `pliant import`.

use crate::{err, out, pliant, write};

const ROBOT: &str = r#"<robot name="r">
  <link name="base"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial></link>
  <link name="arm"><visual/><inertial><origin xyz="0.5 0 0"/><mass value="2"/><inertia ixx="1" iyy="1" izz="1"/></inertial></link>
  <joint name="pivot" type="continuous"><parent link="base"/><child link="arm"/><axis xyz="0 1 0"/></joint>
</robot>
"#;

#[test]
fn a_robot_becomes_a_scene_that_runs() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), "robot.urdf", ROBOT);
    let made = pliant(
        dir.path(),
        &["import", "robot.urdf", "-o", "arm.ron", "--start", "pivot=-0.25"],
    );
    assert_eq!(made.status.code(), Some(0), "{}", err(&made));
    let shown = out(&made);
    for expected in [
        "remark: `visual` is a picture only (robot.urdf:3)",
        "written: arm.ron",
        "run it:  pliant run arm.ron",
        "12 dofs",
    ] {
        assert!(shown.contains(expected), "{expected}\n{shown}");
    }
    let run = pliant(dir.path(), &["run", "arm.ron", "--duration", "0.1"]);
    assert_eq!(run.status.code(), Some(0), "{}", err(&run));
    let left: Vec<_> = std::fs::read_dir(dir.path())
        .unwrap()
        .map(|e| e.unwrap().file_name())
        .collect();
    assert_eq!(left.len(), 3, "the robot, the scene and the results: {left:?}");
}

#[test]
fn a_scene_that_is_there_is_kept() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), "robot.urdf", ROBOT);
    write(dir.path(), "robot.ron", "mine");
    let kept = pliant(dir.path(), &["import", "robot.urdf"]);
    assert_eq!(kept.status.code(), Some(5));
    assert!(err(&kept).contains("robot.ron is there already") && err(&kept).contains("--force"));
    assert_eq!(
        std::fs::read_to_string(dir.path().join("robot.ron")).unwrap(),
        "mine"
    );
    let forced = pliant(dir.path(), &["import", "robot.urdf", "--force", "--quiet"]);
    assert_eq!((forced.status.code(), out(&forced).as_str()), (Some(0), ""));
    let nowhere = pliant(dir.path(), &["import", "robot.urdf", "-o", "none/robot.ron"]);
    assert_eq!(nowhere.status.code(), Some(5));
}

#[test]
fn mistakes_of_imports_have_code_2() {
    let dir = tempfile::tempdir().unwrap();
    write(
        dir.path(),
        "robot.urdf",
        &ROBOT.replace("link=\"arm\"", "link=\"amr\""),
    );
    let wrong = pliant(dir.path(), &["import", "robot.urdf"]);
    assert_eq!(wrong.status.code(), Some(2));
    assert!(
        err(&wrong).contains("did you mean `arm`?") && err(&wrong).contains("robot.urdf:4:"),
        "{}",
        err(&wrong)
    );
    assert!(!dir.path().join("robot.ron").exists());
    for arguments in [["import", "none.urdf"], ["import", "--start=x"]] {
        assert_eq!(pliant(dir.path(), &arguments).status.code(), Some(2));
    }
    let name = pliant(dir.path(), &["import", "robot.urdf", "-o", "robot.json"]);
    assert!(name.status.code() == Some(2) && err(&name).contains("`.ron`"));
}
