//! `pliant render`: pictures of runs.

use super::{err, out, pliant, write};

/// A ball that falls past the camera.
const FALL: &str = "(gravity: (0, -10, 0), run: (duration: 0.5, step: 0.01), nodes: [
    Bodies(name: \"ball\", bodies: [(shape: Sphere(0.2), mass: 1)])],
    picture: (camera: (from: (0, 0, 10), to: (0, 0, 0)), views: [(name: \"along\", follow: \"ball\")],
        colours: {\"ball\": \"red\"}))";

/// Width and height of a PNG file.
fn size(bytes: &[u8]) -> [u32; 2] {
    assert!(bytes.starts_with(b"\x89PNG\r\n\x1a\n"));
    [16, 20].map(|at| u32::from_be_bytes(bytes[at..at + 4].try_into().unwrap()))
}

#[test]
fn frames_are_as_many_as_the_video_has_and_none_of_an_earlier_one_stay() {
    let dir = tempfile::tempdir().unwrap();
    let fall = write(dir.path(), "fall.ron", FALL);
    let folder = dir.path().join("out/fall-frames");
    let names = || {
        let entries = std::fs::read_dir(&folder).unwrap();
        let mut names: Vec<_> = entries
            .map(|e| e.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    };
    let ran = pliant(
        dir.path(),
        &["render", &fall, "--frames", "--fps", "20", "--size", "64x48"],
    );
    assert_eq!(ran.status.code(), Some(0), "{}", err(&ran));
    assert!(
        out(&ran).contains("11 frames") && out(&ran).contains("ffmpeg -framerate 20"),
        "{}",
        out(&ran)
    );
    assert_eq!(names().len(), 11);
    assert_eq!(names()[10], "frame-00010.png");
    let read = |name: &str| std::fs::read(folder.join(name)).unwrap();
    assert_eq!(size(&read("frame-00000.png")), [64, 48]);
    // The camera stands, and the ball falls.
    assert_ne!(read("frame-00000.png"), read("frame-00005.png"));
    std::fs::write(folder.join("mine.png"), "kept").unwrap();
    let slow = [
        "render", &fall, "--frames", "--fps", "10", "--speed", "2", "--size", "64x48", "-q",
    ];
    let ran = pliant(dir.path(), &slow);
    assert_eq!((ran.status.code(), out(&ran).as_str()), (Some(0), ""));
    assert_eq!(
        names(),
        [
            "frame-00000.png",
            "frame-00001.png",
            "frame-00002.png",
            "mine.png"
        ]
    );
    // A camera that moves along sees the same picture at all times.
    let along = [
        "render", &fall, "--frames", "--view", "along", "--size", "64x48", "--fps", "4",
    ];
    assert_eq!(pliant(dir.path(), &along).status.code(), Some(0));
    assert_eq!(read("frame-00000.png"), read("frame-00002.png"));
}

#[test]
fn one_picture_is_of_a_time() {
    let dir = tempfile::tempdir().unwrap();
    let fall = write(dir.path(), "fall.ron", FALL);
    let ran = pliant(
        dir.path(),
        &["render", &fall, "--time", "0.25", "--size", "64x48"],
    );
    assert_eq!(ran.status.code(), Some(0), "{}", err(&ran));
    assert_eq!(out(&ran), "fall.png: t = 0.25 s\n");
    assert_eq!(
        size(&std::fs::read(dir.path().join("fall.png")).unwrap()),
        [64, 48]
    );
    assert!(!dir.path().join("out").exists());
}

#[test]
fn what_cannot_be_drawn_is_said() {
    let dir = tempfile::tempdir().unwrap();
    let fall = write(dir.path(), "fall.ron", FALL);
    let cases: [(&[&str], &str, i32); 9] = [
        (&["--view", "alon"], "there is no view `alon`", 2),
        (&["--view", "1,2,3,1,2,3"], "two different places", 2),
        (&["--size", "0x48"], "at least 1x1", 2),
        (&["--size", "64"], "expected two whole numbers", 2),
        (&["--frames", "--fps", "0"], "--fps is 0", 2),
        (&["--frames", "--fps", "1e9"], "frames, more than 100000", 2),
        (&["--time", "-1"], "--time is -1", 2),
        (&["--time", "3"], "the run ends at 0.5 s", 2),
        (&["--output", "no/such.png"], "cannot write no/such.png", 5),
    ];
    for (words, text, code) in cases {
        let ran = pliant(dir.path(), &[&["render", fall.as_str()], words].concat());
        assert_eq!(ran.status.code(), Some(code), "{words:?}: {}", err(&ran));
        assert!(err(&ran).contains(text), "{words:?}: {}", err(&ran));
    }
}

/// The views of the player: a ball that falls along y, which is up, shows another side of itself from the
/// front, from the side and from above.
#[test]
fn views_of_the_player_are_drawn() {
    let dir = tempfile::tempdir().unwrap();
    let text = FALL.replace(
        "bodies: [(shape: Sphere(0.2), mass: 1)]",
        "bodies: [(shape: Box(0.6, 0.4, 0.2), mass: 1)]",
    );
    let fall = write(dir.path(), "fall.ron", &text);
    let mut pictures = Vec::new();
    for view in ["front", "side", "top", "all", "moving"] {
        let name = format!("{view}.png");
        let ran = pliant(
            dir.path(),
            &[
                "render", &fall, "--view", view, "--size", "96x64", "-q", "-o", &name,
            ],
        );
        assert_eq!(ran.status.code(), Some(0), "{}", err(&ran));
        pictures.push(std::fs::read(dir.path().join(name)).unwrap());
    }
    for (k, one) in pictures[..3].iter().enumerate() {
        assert!(pictures[..k].iter().all(|other| other != one), "{k}");
    }
    let ran = pliant(dir.path(), &["render", &fall, "--view", "back"]);
    assert_eq!(ran.status.code(), Some(2));
    assert!(
        err(&ran).contains("moving, all, front, side, top"),
        "{}",
        err(&ran)
    );
}
