//! Example pages to look at: `cargo test -p pliant-scene write_example_pages -- --ignored --nocapture`.

use super::player_html;
use super::tests::{UP, frame};
use crate::recording::{BodyTrack, PointGroup, Recording, Sample, Shape};

/// A chain of rods by semi-implicit Euler steps with sixty rounds of position projection each.
fn cable() -> Recording {
    let (links, length, mass) = (20, 0.1, [0.05, 0.6]);
    let end = links;
    let weight = |i: usize| {
        if i == 0 {
            0.0
        } else {
            1.0 / mass[usize::from(i == end)]
        }
    };
    let mut x: Vec<[f64; 3]> = (0..=links)
        .map(|i| [0.9 * length * i as f64, -0.436 * length * i as f64, 0.0])
        .collect();
    let mut v = vec![[0.0; 3]; links + 1];
    let mut frames = Vec::new();
    let (dt, mut first) = (1.0 / 2400.0, None);
    for step in 0..=2400 * 6 {
        let time = f64::from(step) * dt;
        if step % 48 == 0 {
            let (mut kinetic, mut potential) = (0.0, 0.0);
            for i in 1..=links {
                kinetic += 0.5 / weight(i) * v[i].iter().map(|c| c * c).sum::<f64>();
                potential += 9.81 / weight(i) * x[i][1];
            }
            let total = *first.get_or_insert(kinetic + potential);
            let mut f = frame(time, x.clone(), vec![]);
            let (a, b) = (x[end - 1], x[end]);
            let angle: f64 = f64::atan2(b[0] - a[0], a[1] - b[1]) / 2.0;
            let down = [(b[0] - a[0]) / length, (b[1] - a[1]) / length];
            f.poses.push([
                b[0] + 0.09 * down[0],
                b[1] + 0.09 * down[1],
                b[2],
                angle.cos(),
                0.0,
                0.0,
                angle.sin(),
            ]);
            f.sample = Sample {
                time,
                kinetic,
                potential,
                dissipated: total - kinetic - potential,
                ..Sample::default()
            };
            frames.push(f);
        }
        let before = x.clone();
        for i in 1..=links {
            v[i][1] -= 9.81 * dt;
            v[i][2] += if time < 0.4 { 1.2 * dt } else { 0.0 };
            for k in 0..3 {
                x[i][k] += dt * v[i][k];
            }
        }
        for _ in 0..60 {
            for i in 0..links {
                let d: [f64; 3] = std::array::from_fn(|k| x[i + 1][k] - x[i][k]);
                let l = d.iter().map(|c| c * c).sum::<f64>().sqrt();
                let s = (l - length) / l / (weight(i) + weight(i + 1));
                for k in 0..3 {
                    x[i][k] += weight(i) * s * d[k];
                    x[i + 1][k] -= weight(i + 1) * s * d[k];
                }
            }
        }
        for i in 1..=links {
            v[i] = std::array::from_fn(|k| (x[i][k] - before[i][k]) / dt * (1.0 - 0.1 * dt));
        }
    }
    Recording {
        title: "A cable of 20 links with a weight at its end".into(),
        groups: vec![PointGroup {
            name: "cable".into(),
            start: 0,
            count: links + 1,
        }],
        segments: (0..links as u32).map(|i| [i, i + 1]).collect(),
        bodies: vec![BodyTrack {
            name: "weight".into(),
            shape: Shape::Box {
                half: [0.07, 0.09, 0.07],
            },
        }],
        frames,
        ..Recording::default()
    }
}

/// A square net in travelling waves, up along z.
fn net() -> Recording {
    let n = 24_u32;
    let at = |i: u32, j: u32| i * (n + 1) + j;
    let cells = || (0..n).flat_map(move |i| (0..n).map(move |j| (i, j)));
    let frames = (0..120).map(|k| {
        let time = f64::from(k) / 40.0;
        let points = (0..=n).flat_map(|i| (0..=n).map(move |j| (i, j))).map(|(i, j)| {
            let (x, y) = (
                f64::from(i) / f64::from(n) - 0.5,
                f64::from(j) / f64::from(n) - 0.5,
            );
            let r = x.hypot(y);
            [
                x,
                y,
                0.35 - 0.5 * r * r + 0.09 * (16.0 * r - 6.0 * time).cos() * (1.0 - r),
            ]
        });
        let mut f = frame(time, points.collect(), vec![]);
        f.sample.kinetic = 0.004 * (6.0 * time).sin().powi(2);
        f.sample.potential = 0.004 * (6.0 * time).cos().powi(2) - 12.0;
        f
    });
    Recording {
        title: "A net in waves".into(),
        groups: vec![PointGroup {
            name: "net".into(),
            start: 0,
            count: ((n + 1) * (n + 1)) as usize,
        }],
        triangles: cells()
            .flat_map(|(i, j)| {
                [
                    [at(i, j), at(i + 1, j), at(i + 1, j + 1)],
                    [at(i, j), at(i + 1, j + 1), at(i, j + 1)],
                ]
            })
            .collect(),
        frames: frames.collect(),
        ..Recording::default()
    }
}

/// Turning boxes, balls and axes joined by springs, without energies.
fn bodies() -> Recording {
    let shapes = [
        Shape::Box {
            half: [0.3, 0.1, 0.2],
        },
        Shape::Sphere { radius: 0.22 },
        Shape::Axes { size: 0.4 },
        Shape::Box {
            half: [0.12, 0.35, 0.12],
        },
        Shape::Sphere { radius: 0.12 },
        Shape::Box {
            half: [0.2, 0.2, 0.2],
        },
    ];
    let frames = (0..90).map(|k| {
        let time = f64::from(k) / 30.0;
        let poses: Vec<[f64; 7]> = (0..shapes.len())
            .map(|b| {
                let (phase, turn) = (1.05 * b as f64 + 0.7 * time, (0.8 + 0.2 * b as f64) * time);
                let (s, c) = turn.sin_cos();
                [
                    phase.cos(),
                    0.6 + 0.3 * (2.0 * time + b as f64).sin(),
                    phase.sin(),
                    c,
                    0.36 * s,
                    0.8 * s,
                    0.48 * s,
                ]
            })
            .collect();
        frame(time, poses.iter().map(|p| [p[0], p[1], p[2]]).collect(), poses)
    });
    Recording {
        title: "Bodies </script><img src=x onerror=alert(1)>".into(),
        groups: vec![PointGroup {
            name: "<b>anchors</b>".into(),
            start: 0,
            count: 6,
        }],
        segments: (0..6).map(|i| [i, (i + 1) % 6]).collect(),
        bodies: shapes
            .iter()
            .enumerate()
            .map(|(b, &shape)| BodyTrack {
                name: format!("body {b}"),
                shape,
            })
            .collect(),
        frames: frames.collect(),
        ..Recording::default()
    }
}

/// Writes pages for `scripts/check_player.sh` and for the eye into `$PLIANT_PLAYER_DIR`, by default `pliant-player`
/// in the system's folder for temporary files.
#[test]
#[ignore = "writes example pages"]
fn write_example_pages() {
    let folder = std::env::var_os("PLIANT_PLAYER_DIR").map_or_else(
        || std::env::temp_dir().join("pliant-player"),
        std::path::PathBuf::from,
    );
    std::fs::create_dir_all(&folder).unwrap();
    for (name, recording, up) in [
        ("cable", cable(), UP),
        ("net", net(), [0.0, 0.0, 1.0]),
        ("bodies", bodies(), UP),
    ] {
        let page = folder.join(name).with_extension("html");
        std::fs::write(&page, player_html(&recording, up).unwrap()).unwrap();
        println!("{}", page.display());
    }
}
