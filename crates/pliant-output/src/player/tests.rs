//! Unit tests of the page.

use super::encode::fill;
use super::*;
use crate::recording::{BodyTrack, ContactPhase, Frame, JointMark, LineTrack, PointGroup};
use crate::recording::{Recording, Sample, Shape};

const UP: [f64; 3] = [0.0, 1.0, 0.0];

fn frame(time: f64, points: Vec<[f64; 3]>, poses: Vec<[f64; 7]>) -> Frame {
    let velocities = vec![[0.0; 3]; points.len()];
    Frame {
        time,
        points,
        velocities,
        poses,
        sample: Sample {
            time,
            ..Sample::default()
        },
        ..Frame::default()
    }
}

/// Two points, one sphere, two frames.
fn small() -> Recording {
    let pose = [0.5, -1.0, 0.25, 1.0, 0.0, 0.0, 0.0];
    let mut recording = Recording {
        title: "small".into(),
        groups: vec![PointGroup {
            name: "rope".into(),
            start: 0,
            count: 2,
        }],
        segments: vec![[0, 1]],
        bodies: vec![BodyTrack {
            name: "ball".into(),
            shape: Shape::Sphere { radius: 0.1 },
        }],
        frames: vec![
            frame(0.0, vec![[0.1, 0.2, 0.3], [1.0, -2.0, 3.5]], vec![pose]),
            frame(0.5, vec![[0.0, 0.0, 0.0], [1.0, -2.5, 3.5]], vec![pose]),
        ],
        ..Recording::default()
    };
    recording.frames[1].sample.kinetic = 2.5;
    recording
}

/// The JSON of the page's data element.
fn data(page: &str) -> serde_json::Value {
    let start = page.find("id=\"data\">").unwrap() + 10;
    let end = start + page[start..].find("</script>").unwrap();
    serde_json::from_str(&page[start..end]).unwrap()
}

fn decode(text: &str) -> Vec<u8> {
    let digit = |c: u8| match c {
        b'A'..=b'Z' => c - b'A',
        b'a'..=b'z' => c - b'a' + 26,
        b'0'..=b'9' => c - b'0' + 52,
        b'+' => 62,
        _ => 63,
    };
    let mut bytes = Vec::new();
    for four in text.as_bytes().chunks(4) {
        let word = four.iter().fold(0_u32, |w, &c| {
            w << 6 | u32::from(if c == b'=' { 0 } else { digit(c) })
        });
        let kept = 3 - four.iter().filter(|c| **c == b'=').count();
        bytes.extend_from_slice(&word.to_be_bytes()[1..=kept]);
    }
    bytes
}

fn floats(value: &serde_json::Value) -> Vec<f32> {
    let bytes = decode(value.as_str().unwrap());
    bytes
        .chunks(4)
        .map(|b| f32::from_le_bytes(b.try_into().unwrap()))
        .collect()
}

fn doubles(value: &serde_json::Value) -> Vec<f64> {
    let bytes = decode(value.as_str().unwrap());
    let numbers = bytes.as_chunks().0.iter();
    numbers.map(|b| f64::from_le_bytes(*b)).collect()
}

#[test]
fn a_filled_template_is_not_scanned_again() {
    assert_eq!(
        fill("a{{x}}b{{y}}c{{", &[("x", "{{y}}"), ("y", "1")]),
        "a{{y}}b1c{{"
    );
}

#[test]
fn the_page_carries_the_numbers_in_single_precision() {
    let recording = small();
    let page = player_html(&recording, [0.0, 0.0, 3.0]).unwrap();
    let data = data(&page);
    let expected: Vec<f32> = recording
        .frames
        .iter()
        .flat_map(|f| {
            f.points
                .iter()
                .flatten()
                .chain(f.poses.iter().flatten())
                .map(|&x| x as f32)
                .collect::<Vec<_>>()
        })
        .collect();
    assert_eq!(floats(&data["frames"]), expected);
    let energies = &data["tables"][0];
    assert_eq!(
        energies["columns"],
        serde_json::json!(["kinetic", "potential", "dissipated"])
    );
    assert_eq!(doubles(&energies["times"]), [0.0, 0.5]);
    assert_eq!(doubles(&energies["values"]), [0.0, 0.0, 0.0, 2.5, 0.0, 0.0]);
    assert_eq!(
        decode(data["segments"].as_str().unwrap()),
        [0, 0, 0, 0, 1, 0, 0, 0]
    );
    assert_eq!(
        decode(data["times"].as_str().unwrap())[8..],
        0.5_f64.to_le_bytes()
    );
    assert_eq!(data["up"], serde_json::json!([0.0, 0.0, 1.0]));
    assert_eq!(data["points"], 2);
    assert_eq!(data["count"], 2);
    assert_eq!(data["bodies"][0]["kind"], "sphere");
    assert_eq!(data["groups"][0]["name"], "rope");
}

#[test]
fn the_page_is_whole_and_asks_nothing_of_the_network() {
    let page = player_html(&small(), UP).unwrap();
    assert!(page.starts_with("<!DOCTYPE html>") && page.trim_end().ends_with("</html>"));
    assert!(!page.contains("{{"));
    for outside in ["http:", "https:", "src=", "href=", "@import", "url(", "fetch("] {
        assert!(!page.contains(outside), "{outside}");
    }
    assert!(page.contains("default-src 'none'"));
    assert_eq!(page.matches("<script").count(), page.matches("</script>").count());
    assert!(page.len() < 130_000, "{}", page.len());
}

#[test]
fn no_name_injects_markup() {
    let evil = "</script><img src=x onerror=alert(1)>&amp;<!--<script>{{data}}\u{2028}";
    let mut recording = small();
    recording.title = evil.into();
    recording.groups[0].name = evil.into();
    recording.bodies[0].name = evil.into();
    let plain = player_html(&small(), UP).unwrap();
    let page = player_html(&recording, UP).unwrap();
    for tag in ["<img", "</script", "<script", "<!--", "{{", "\u{2028}"] {
        let allowed = if tag == "{{" || tag == "\u{2028}" {
            usize::MAX
        } else {
            plain.matches(tag).count()
        };
        assert!(page.matches(tag).count() <= allowed, "{tag}");
    }
    let data = data(&page);
    assert_eq!(data["title"], evil);
    assert_eq!(data["groups"][0]["name"], evil);
    assert_eq!(data["bodies"][0]["name"], evil);
}

#[test]
fn five_hundred_frames_of_a_hundred_points_stay_below_a_megabyte() {
    let points = vec![[0.123_456, 7.0, -3.3]; 100];
    let recording = Recording {
        groups: vec![PointGroup {
            name: "rope".into(),
            start: 0,
            count: 100,
        }],
        frames: (0..500)
            .map(|k| frame(f64::from(k) * 0.01, points.clone(), vec![]))
            .collect(),
        ..Recording::default()
    };
    assert!(player_html(&recording, UP).unwrap().len() < 1_000_000);
}

#[test]
fn an_empty_scene_is_a_page() {
    let recording = Recording {
        frames: vec![frame(0.0, vec![], vec![])],
        ..Recording::default()
    };
    assert_eq!(data(&player_html(&recording, UP).unwrap())["points"], 0);
}

/// Spoils the small recording and returns the error of its page.
fn spoiled(spoil: impl FnOnce(&mut Recording)) -> PlayerError {
    let mut recording = small();
    spoil(&mut recording);
    player_html(&recording, UP).unwrap_err()
}

#[test]
fn a_bad_recording_is_named() {
    let error = spoiled(|r| r.frames.clear());
    assert_eq!(
        error,
        PlayerError::NoFrames {
            title: "small".into()
        }
    );

    let error = spoiled(|r| r.frames[1].points[1][2] = f64::NAN);
    let PlayerError::Point {
        frame: 1,
        time: 0.5,
        group,
        point: 1,
        value,
    } = error
    else {
        panic!("{error}")
    };
    assert!(group == "rope" && value.is_nan());

    // Finite, but not in single precision.
    let error = spoiled(|r| r.frames[0].points[0][0] = 1e39);
    assert_eq!(
        error.to_string(),
        format!(
            "frame 0 (t = 0 s): point 0 of \"rope\" has the coordinate {}",
            1e39
        )
    );

    let error = spoiled(|r| r.frames[1].poses[0][1] = f64::INFINITY);
    assert!(matches!(&error, PlayerError::Pose { frame: 1, body, part: "position", .. } if body == "ball"));
    let error = spoiled(|r| r.frames[1].poses[0][3] = 0.0);
    assert!(matches!(error, PlayerError::Pose { part: "rotation", .. }));

    let error = spoiled(|r| r.frames[1].sample.potential = f64::NAN);
    assert!(matches!(
        error,
        PlayerError::Energy {
            frame: 1,
            energy: "potential",
            ..
        }
    ));

    let error = spoiled(|r| r.frames[1].points.push([0.0; 3]));
    assert_eq!(
        error,
        PlayerError::PointCount {
            frame: 1,
            expected: 2,
            found: 3
        }
    );
    let error = spoiled(|r| r.frames[0].poses.clear());
    assert_eq!(
        error,
        PlayerError::PoseCount {
            frame: 0,
            expected: 1,
            found: 0
        }
    );
    let error = spoiled(|r| r.groups[0].start = 1);
    assert_eq!(
        error,
        PlayerError::GroupStart {
            group: "rope".into(),
            expected: 0,
            found: 1
        }
    );

    let error = spoiled(|r| r.segments.push([0, 2]));
    assert_eq!(
        error,
        PlayerError::Index {
            kind: "segment",
            index: 1,
            point: 2,
            points: 2
        }
    );
    let error = spoiled(|r| r.triangles.push([7, 0, 1]));
    assert_eq!(
        error,
        PlayerError::Index {
            kind: "triangle",
            index: 0,
            point: 7,
            points: 2
        }
    );

    let line = |first, count| LineTrack {
        name: "spring".into(),
        first,
        count,
        is_muscle: false,
    };
    assert_eq!(
        spoiled(|r| r.lines.push(line(0, 2))),
        PlayerError::Line {
            line: "spring".into(),
            end: 2,
            segments: 1
        }
    );
    assert!(matches!(
        spoiled(|r| r.lines.push(line(usize::MAX, 2))),
        PlayerError::Line { end: usize::MAX, .. }
    ));
    let mark = JointMark {
        name: "elbow".into(),
        kind: "hinge",
        body: Some(1),
        position: [0.0; 3],
        rotation: [1.0, 0.0, 0.0, 0.0],
        force: 0,
    };
    assert_eq!(
        spoiled(|r| r.marks.push(mark)),
        PlayerError::Joint {
            joint: "elbow".into(),
            body: 1,
            bodies: 1
        }
    );

    let error = spoiled(|r| r.frames[1].time = -0.1);
    assert_eq!(
        error,
        PlayerError::Time {
            frame: 1,
            time: -0.1,
            previous: 0.0
        }
    );
    assert!(matches!(
        spoiled(|r| r.frames[0].time = f64::NAN),
        PlayerError::Time { frame: 0, .. }
    ));

    let error = spoiled(|r| {
        r.bodies[0].shape = Shape::Box {
            half: [1.0, -1.0, 1.0],
        }
    });
    assert_eq!(
        error,
        PlayerError::Shape {
            body: "ball".into(),
            size: -1.0
        }
    );

    // A count that a hostile file might claim: an error before anything is allocated.
    let error = spoiled(|r| r.groups[0].count = usize::MAX);
    assert!(matches!(error, PlayerError::TooLarge { frames: 2, .. }));
}

#[test]
fn the_page_is_written_whole_or_not_at_all() {
    let path = std::env::temp_dir().join(format!("pliant-player-{}.html", std::process::id()));
    write_player(&path, &small(), UP).unwrap();
    let mut bad = small();
    bad.frames[1].points[0][0] = f64::NAN;
    let error = write_player(&path, &bad, UP).unwrap_err();
    let kept = std::fs::read_to_string(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    assert_eq!(kept, player_html(&small(), UP).unwrap());
    assert!(
        error
            .to_string()
            .contains("frame 1 (t = 0.5 s): point 0 of \"rope\""),
        "{error}"
    );
}

#[test]
fn up_needs_a_direction() {
    for up in [[0.0; 3], [f64::NAN, 0.0, 1.0], [f64::INFINITY, 0.0, 0.0]] {
        assert!(matches!(player_html(&small(), up), Err(PlayerError::Up { .. })));
    }
    for up in [[0.0, 1e-300, 0.0], [0.0, 1e300, 0.0]] {
        assert_eq!(
            data(&player_html(&small(), up).unwrap())["up"],
            serde_json::json!([0.0, 1.0, 0.0])
        );
    }
}

/// Each frame knows the contact forces of its own time.
#[test]
fn contact_forces_belong_to_their_frames() {
    use crate::recording::ContactLine;
    let mut recording = small();
    let line = |time, force| ContactLine {
        time,
        sides: [0, 1],
        point: [1.0, 2.0, 3.0],
        normal: [0.0, 0.0, 1.0],
        gap: 0.0,
        force: [0.0, 0.0, force],
        torque: [0.0; 3],
        velocity: [0.0; 3],
        state: ContactPhase::Sticking,
    };
    // Before the second frame there is one that it does not show, and at it one without a force.
    recording.contacts.lines = vec![line(0.25, 5.0), line(0.5, 7.0), line(0.5, 0.0), line(0.5, 1e300)];
    let page = player_html(&recording, UP).unwrap();
    let numbers = |key: &str| decode(data(&page)[key].as_str().unwrap());
    let starts: Vec<u32> = numbers("arrow_starts")
        .as_chunks()
        .0
        .iter()
        .map(|b| u32::from_le_bytes(*b))
        .collect();
    assert_eq!(starts, [0, 0, 1]);
    let arrows: Vec<f32> = numbers("arrows")
        .as_chunks()
        .0
        .iter()
        .map(|b| f32::from_le_bytes(*b))
        .collect();
    assert_eq!(arrows, [1.0, 2.0, 3.0, 0.0, 0.0, 7.0]);
}

/// The speed of a point and of a body, the contact pressure, and a field of the recording: each
/// within half a step of its range, and nothing where there is none.
#[test]
fn fields_are_packed_within_half_a_step() {
    use crate::recording::FieldInfo;
    let mut recording = small();
    recording.fields = vec![FieldInfo {
        name: "stress".into(),
        unit: "Pa".into(),
    }];
    recording.frames[0].velocities = vec![[3.0, 0.0, 4.0], [0.0; 3]];
    recording.frames[0].body_velocities = vec![[0.0, -2.0, 0.0]];
    recording.frames[1].body_velocities = vec![[0.0, 1.0, 0.0]];
    recording.frames[1].pressures = vec![100.0, 250.0];
    recording.frames[0].fields = vec![vec![-7.0, f64::NAN]];
    recording.frames[1].fields = vec![vec![1.5, 9.0]];
    let data = data(&player_html(&recording, UP).unwrap());
    let none = f64::NAN;
    let cases = [
        ("speed", "m/s", true, vec![5.0, 0.0, 2.0, 0.0, 0.0, 1.0]),
        ("contact pressure", "Pa", false, vec![none, none, 100.0, 250.0]),
        ("stress", "Pa", false, vec![-7.0, none, 1.5, 9.0]),
    ];
    assert_eq!(data["fields"].as_array().unwrap().len(), cases.len());
    for ((name, unit, bodies, expected), field) in cases.iter().zip(data["fields"].as_array().unwrap()) {
        assert_eq!(
            (field["name"].as_str(), field["unit"].as_str()),
            (Some(*name), Some(*unit))
        );
        assert_eq!(field["bodies"], *bodies);
        let [low, high] = ["low", "high"].map(|key| field[key].as_f64().unwrap());
        let bytes = decode(field["values"].as_str().unwrap());
        let codes: Vec<u16> = bytes
            .as_chunks()
            .0
            .iter()
            .map(|b| u16::from_le_bytes(*b))
            .collect();
        assert_eq!(codes.len(), expected.len(), "{name}");
        for (code, value) in codes.iter().zip(expected) {
            let found = low + f64::from(*code) / 65534.0 * (high - low);
            // Half a step, and rounding.
            let near = (found - value).abs() <= 0.5001 / 65534.0 * (high - low);
            assert!(
                if *code == 65535 { value.is_nan() } else { near },
                "{name}: {found} {value}"
            );
        }
    }
    // A field that is zero everywhere is no field.
    assert_eq!(
        self::data(&player_html(&small(), UP).unwrap())["fields"],
        serde_json::json!([])
    );
}

/// Von Mises stress and pressure stand at the points of the regions that have them and are drawn,
/// in one field each; tensors and points without a region have none.
#[test]
fn fields_of_regions_stand_at_their_points() {
    use crate::recording::{FieldSpec, Region, RegionFrame, RegionKind};
    let spec = |name, components| FieldSpec {
        name,
        unit: "Pa",
        components,
    };
    let region = |first_point, point_count, point_fields| Region {
        name: "beam".into(),
        kind: RegionKind::Solid,
        first_point,
        point_count,
        cells: Vec::new(),
        point_fields,
        cell_fields: Vec::new(),
    };
    let values = |point_values| RegionFrame {
        point_values,
        ..RegionFrame::default()
    };
    let mut recording = small();
    recording.groups[0].count = 5;
    for frame in &mut recording.frames {
        frame.points = vec![[0.0; 3]; 5];
        frame.velocities = vec![[0.0; 3]; 5];
    }
    // Two points from number 3, one that is not drawn, one of number 1.
    let [tensor, equivalent, pressure] = [spec("stress", 6), spec("von_mises", 1), spec("pressure", 1)];
    recording.regions = vec![
        region(Some(3), 2, vec![tensor, equivalent, pressure]),
        region(None, 1, vec![equivalent]),
        region(Some(1), 1, vec![equivalent]),
    ];
    recording.frames[0].regions = vec![
        values(vec![vec![9e9; 12], vec![2.0, 4.0], vec![-1.0, 3.0]]),
        values(vec![vec![1e6]]),
        values(vec![vec![8.0]]),
    ];
    let data = data(&player_html(&recording, UP).unwrap());
    let fields = data["fields"].as_array().unwrap();
    let names: Vec<_> = fields
        .iter()
        .map(|field| field["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["von Mises stress", "pressure"]);
    let codes = |field: &serde_json::Value| -> Vec<u16> {
        let bytes = decode(field["values"].as_str().unwrap());
        bytes
            .as_chunks()
            .0
            .iter()
            .map(|b| u16::from_le_bytes(*b))
            .collect()
    };
    let none = u16::MAX;
    // From 2 to 8 Pa, and from -1 to 3 Pa, in 65,534 steps; the second frame has none.
    let of = [
        (2.0, 8.0, [none, 65534, none, 0, 21845]),
        (-1.0, 3.0, [none, none, none, 0, 65534]),
    ];
    for (field, (low, high, first)) in fields.iter().zip(of) {
        assert_eq!(
            (field["low"].as_f64(), field["high"].as_f64()),
            (Some(low), Some(high))
        );
        assert_eq!(field["unit"], "Pa");
        assert_eq!(field["bodies"], false);
        assert_eq!(codes(field), [first, [none; 5]].concat());
    }
}

/// Columns without their units, every second line and the last of a long table, and nothing of a
/// line that is not whole.
#[test]
fn tables_are_thinned_and_say_so() {
    use crate::recording::NumberTable;
    let mut recording = small();
    let line = |k: u32| {
        let x = f64::from(k);
        vec![x * 0.1, x, -x, 0.5]
    };
    recording.probes = NumberTable {
        columns: vec![
            "box.x_m".into(),
            "left_foot".into(),
            "shell[3].moment_warp_Nm/m".into(),
        ],
        lines: (0..30_000).map(line).chain([vec![1.0]]).collect(),
    };
    let data = data(&player_html(&recording, UP).unwrap());
    let table = &data["tables"][1];
    assert_eq!(table["name"], "probes");
    assert_eq!(
        table["columns"],
        serde_json::json!(["box.x", "left_foot", "shell[3].moment_warp"])
    );
    assert_eq!(table["units"], serde_json::json!(["m", "", "Nm/m"]));
    assert_eq!(table["every"], 2);
    let values = doubles(&table["values"]);
    assert_eq!(values.len(), 3 * 15_000);
    assert_eq!(values[..6], [0.0, 0.0, 0.5, 2.0, -2.0, 0.5]);
}

/// Lines, joints, cameras and colours as the script reads them; a line that is released has the
/// time of the first frame without it.
#[test]
fn lines_joints_and_the_look_are_told() {
    use crate::recording::{Look, Viewpoint};
    let mut recording = small();
    recording.lines = vec![LineTrack {
        name: "biceps".into(),
        first: 0,
        count: 1,
        is_muscle: true,
    }];
    recording.frames[0].activations = vec![0.25];
    recording.frames[1].activations = vec![0.5];
    recording.frames[1].released = vec![0];
    recording.marks = vec![JointMark {
        name: "elbow".into(),
        kind: "hinge",
        body: Some(0),
        position: [0.0, 0.1, 0.0],
        rotation: [1.0, 0.0, 0.0, 0.0],
        force: 2,
    }];
    recording.look = Look {
        camera: Some(Viewpoint {
            eye_and_target: Some([[1.0, 2.0, 3.0], [0.0; 3]]),
            follow: Some("ball".into()),
        }),
        views: vec![("near".into(), Viewpoint::default())],
        colours: vec![("ball".into(), [1.0, 0.5, 0.0])],
        hidden: vec!["rope".into()],
    };
    let data = data(&player_html(&recording, UP).unwrap());
    let line = &data["lines"][0];
    assert_eq!(
        (line["name"].as_str(), line["until"].as_f64()),
        (Some("biceps"), Some(0.5))
    );
    assert_eq!(floats(&data["activations"]), [0.25, 0.5]);
    assert_eq!(data["marks"][0]["kind"], "hinge");
    assert_eq!(data["look"]["camera"]["eye"], serde_json::json!([1.0, 2.0, 3.0]));
    assert_eq!(data["look"]["camera"]["follow"], "ball");
    assert_eq!(data["look"]["views"][0]["name"], "near");
    assert_eq!(
        data["look"]["colours"],
        serde_json::json!([["ball", [1.0, 0.5, 0.0]]])
    );
    assert_eq!(data["look"]["hidden"], serde_json::json!(["rope"]));
}
