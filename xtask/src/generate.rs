//! `cargo xtask gen`: the data files that are computed and not drawn, written anew.
//!
//! They are kept in the repository so that nobody needs this program to run a scene; `tidy` checks
//! that they are what the generator writes. Every corpus is checked by its own test.

mod bunny;

use std::fmt::Write;

use crate::error::Error;
use crate::sources::Sources;
use crate::tidy::Finding;
use crate::{flags, player, process};

/// A generated file: its path and how its contents are made.
struct Generated {
    path: &'static str,
    contents: fn() -> String,
}

const FILES: &[Generated] = &[
    Generated {
        path: "scenes/meshes/net.obj",
        contents: net,
    },
    Generated {
        path: "scenes/meshes/vessel.obj",
        contents: vessel,
    },
    Generated {
        path: "scenes/meshes/bunny.ply",
        contents: bunny::surface,
    },
    Generated {
        path: "scenes/meshes/bunny.inp",
        contents: bunny::volume,
    },
    Generated {
        path: "scenes/meshes/cook.inp",
        contents: cook,
    },
];

/// Scenes that `pliant new` writes: a package holds nothing from outside of its folder, so that they
/// are copied into that of the program.
const TEMPLATES: [&str; 14] = [
    "beam",
    "crane",
    "curtain",
    "double_pendulum",
    "gripper",
    "incline",
    "pendulum",
    "quadruped",
    "servo_arm",
    "slider_crank",
    "snap_through",
    "solid_beam",
    "stack",
    "trebuchet",
];

/// Every generated file with its contents; a copy has those of its scene.
fn files(sources: &Sources) -> Vec<(String, String)> {
    let made = FILES.iter().map(|file| (file.path.to_owned(), (file.contents)()));
    let copies = TEMPLATES.iter().map(|name| {
        let scene = sources.get(&format!("scenes/{name}.ron")).unwrap_or_default();
        (
            format!("crates/pliant-cli/templates/{name}.ron"),
            scene.to_owned(),
        )
    });
    made.chain(copies).collect()
}

/// Vertices of the net along each side.
const NET_SIDE: usize = 11;

/// Rewrites the files that are missing or differ; with `--check`, only tells which; with
/// `--pictures`, draws the pictures of the player in the documents, for which it takes Chromium.
pub(crate) fn run(args: &[String]) -> Result<u8, Error> {
    let [only_check, pictures] = flags::switches("gen", args, ["--check", "--pictures"])?;
    if pictures {
        return player::draw_pictures();
    }
    let sources = Sources::read()?;
    if only_check {
        let findings = check(&sources);
        for finding in &findings {
            println!("{finding}");
        }
        println!(
            "{} generated files, {} out of date",
            files(&sources).len(),
            findings.len()
        );
        return Ok(corpus(false)?.max(u8::from(!findings.is_empty())));
    }
    let root = process::workspace_root()?;
    for (name, contents) in files(&sources) {
        let path = root.join(&name);
        if std::fs::read_to_string(&path).is_ok_and(|known| known == contents) {
            println!("{name}: up to date");
            continue;
        }
        let failed = |source| Error::File {
            path: path.clone(),
            source,
        };
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).map_err(failed)?;
        }
        std::fs::write(&path, contents).map_err(failed)?;
        println!("{name}: written");
    }
    corpus(true)
}

/// Tests that know how the files of a corpus are made: of the solvers, and of the mesh readers that
/// are fuzzed.
const CORPORA: [[&str; 2]; 2] = [
    ["pliant-lab", "corpus::files_are_what_the_generator_writes"],
    ["pliant-mesh-io", "garbage::fuzzing_begins_from_these_files"],
];

/// A corpus is made by its test, which compares the files, or writes them.
fn corpus(write: bool) -> Result<u8, Error> {
    let mut worst = 0;
    for [package, test] in CORPORA {
        let mut command = process::cargo()?;
        command.args([
            "test",
            "--quiet",
            "--package",
            package,
            "--test",
            "it",
            "--",
            test,
        ]);
        if write {
            command.env("PLIANT_WRITE_CORPUS", "1");
        }
        worst = worst.max(process::run(command)?);
    }
    Ok(worst)
}

/// The generated files that are missing or differ from what the generator writes.
pub(crate) fn check(sources: &Sources) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, wanted) in files(sources) {
        let Some(known) = sources.get(&path) else {
            findings.push(Finding::problem(&path, 1, "missing; `cargo xtask gen` writes it"));
            continue;
        };
        if known != wanted {
            let same = known
                .lines()
                .zip(wanted.lines())
                .take_while(|(a, b)| a == b)
                .count();
            let message = "differs from what `cargo xtask gen` writes";
            findings.push(Finding::problem(&path, same + 1, message));
        }
    }
    findings
}

/// A square net in the plane y = 0, its first corner at the origin: vertices 0.1 m apart, and one
/// line element for every pair of neighbours in a row (along x) or a column (along z). No
/// diagonals.
fn net() -> String {
    let mut text = String::from(
        "# Square net in the plane y = 0 (x right, y up, z depth), in metres: 11 x 11 vertices, 0.1 apart,\n\
         # and its 220 structural edges, rows first. Written by `cargo xtask gen`: change the generator, not this file.\n",
    );
    // Vertex (row, column) has the number row * NET_SIDE + column + 1; writing to a string cannot
    // fail.
    let vertex = |row: usize, column: usize| row * NET_SIDE + column + 1;
    for row in 0..NET_SIDE {
        for column in 0..NET_SIDE {
            let _ = writeln!(text, "v {} 0.0 {}", tenths(column), tenths(row));
        }
    }
    for row in 0..NET_SIDE {
        for column in 1..NET_SIDE {
            let _ = writeln!(text, "l {} {}", vertex(row, column - 1), vertex(row, column));
        }
    }
    for column in 0..NET_SIDE {
        for row in 1..NET_SIDE {
            let _ = writeln!(text, "l {} {}", vertex(row - 1, column), vertex(row, column));
        }
    }
    text
}

/// Corners around the vessel.
const VESSEL_SIDES: usize = 12;

/// A vessel about a line in the plane z = 0: straight along x from -0.32 m to the origin, a quarter
/// of a circle of radius 0.12 m to the left in ten pieces, and on along y for 0.1 m; its corners
/// are 6 mm from the line. Open at both ends.
fn vessel() -> String {
    let mut text = String::from(
        "# A vessel of radius 6 mm with a bend of radius 0.12 m, in metres. Written by `cargo xtask gen`: change the generator, not this file.\n",
    );
    let (lumen, bend) = (0.006, 0.12);
    let quarter = std::f64::consts::FRAC_PI_2;
    let mut stations = vec![([-0.32, 0.0], 0.0)];
    for i in 0..=10 {
        let a = quarter * f64::from(i) / 10.0;
        stations.push(([bend * a.sin(), bend * (1.0 - a.cos())], a));
    }
    stations.push(([bend, bend + 0.1], quarter));
    // Micrometres, so that the last bit of a sine does not matter; the sum takes the sign off zero.
    let rounded = |x: f64| (x * 1e6).round() / 1e6 + 0.0;
    for ([x, y], a) in &stations {
        for side in 0..VESSEL_SIDES {
            let turn = 4.0 * quarter * side as f64 / VESSEL_SIDES as f64;
            let (left, up) = (lumen * turn.cos(), lumen * turn.sin());
            let (x, y, z) = (
                rounded(x - left * a.sin()),
                rounded(y + left * a.cos()),
                rounded(up),
            );
            let _ = writeln!(text, "v {x:.6} {y:.6} {z:.6}");
        }
    }
    for ring in 1..stations.len() {
        for side in 0..VESSEL_SIDES {
            let at = |ring: usize, side: usize| ring * VESSEL_SIDES + side % VESSEL_SIDES + 1;
            let (a, b) = (at(ring - 1, side), at(ring - 1, side + 1));
            let (c, d) = (at(ring, side + 1), at(ring, side));
            let _ = writeln!(text, "f {a} {d} {c}\nf {a} {c} {b}");
        }
    }
    text
}

/// Cells of Cook's membrane along each side.
const COOK_CELLS: usize = 8;

/// Cook's membrane: quadrangles between the corners (0, 0), (48, 44), (48, 60) and (0, 44), rows
/// first, with the nodes of its clamped side as a set.
fn cook() -> String {
    let mut text = String::from(
        "** Cook's membrane, in metres. Written by cargo xtask gen: change the generator, not this file.\n*NODE\n",
    );
    let at = |row: usize, column: usize| row * (COOK_CELLS + 1) + column + 1;
    for row in 0..=COOK_CELLS {
        for column in 0..=COOK_CELLS {
            // Multiples of 1/16, which are exact.
            let (s, t) = (column as f64 / COOK_CELLS as f64, row as f64 / COOK_CELLS as f64);
            let y = 44.0 * s + t * (44.0 - 28.0 * s);
            let _ = writeln!(text, "{}, {}, {y}, 0", at(row, column), 48.0 * s);
        }
    }
    text.push_str("*ELEMENT, TYPE=CPS4\n");
    for row in 0..COOK_CELLS {
        for column in 0..COOK_CELLS {
            let corners = [(0, 0), (0, 1), (1, 1), (1, 0)].map(|(j, i)| at(row + j, column + i));
            let [a, b, c, d] = corners;
            let _ = writeln!(text, "{}, {a}, {b}, {c}, {d}", row * COOK_CELLS + column + 1);
        }
    }
    let last = at(COOK_CELLS, 0);
    let _ = writeln!(text, "*NSET, NSET=clamp, GENERATE\n1, {last}, {}", COOK_CELLS + 1);
    text
}

/// A number of tenths as a decimal, without rounding.
fn tenths(count: usize) -> String {
    format!("{}.{}", count / 10, count % 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The numbers of the lines that start with this keyword.
    fn rows(text: &str, keyword: &str) -> Vec<Vec<f64>> {
        text.lines()
            .filter_map(|line| line.strip_prefix(keyword)?.strip_prefix(' '))
            .map(|rest| rest.split(' ').map(|word| word.parse().unwrap()).collect())
            .collect()
    }

    #[test]
    fn the_net_has_every_structural_edge_once() {
        let text = net();
        let (vertices, edges) = (rows(&text, "v"), rows(&text, "l"));
        assert_eq!((vertices.len(), edges.len()), (121, 2 * 10 * 11));
        assert_eq!(vertices[120], [1.0, 0.0, 1.0]);
        for edge in &edges {
            let [a, b] = [edge[0], edge[1]].map(|number| &vertices[number as usize - 1]);
            let length = ((a[0] - b[0]).powi(2) + (a[1] - b[1]).powi(2) + (a[2] - b[2]).powi(2)).sqrt();
            assert!((length - 0.1).abs() < 1e-15, "edge {edge:?} is {length} long");
        }
        let mut pairs: Vec<(u64, u64)> = edges
            .iter()
            .map(|edge| (edge[0] as u64, edge[1] as u64))
            .collect();
        pairs.sort_unstable();
        pairs.dedup();
        assert_eq!(pairs.len(), 220);
    }

    /// Every edge inside the tube has a triangle on either side, with opposite senses; only the two
    /// rims have one.
    #[test]
    fn the_vessel_is_a_tube_with_two_rims() {
        let text = vessel();
        let (vertices, faces) = (rows(&text, "v"), rows(&text, "f"));
        let mut edges = std::collections::BTreeMap::new();
        for face in &faces {
            for k in 0..3 {
                let edge = [face[k] as usize, face[(k + 1) % 3] as usize];
                assert!(edges.insert(edge, ()).is_none(), "{edge:?} twice");
            }
        }
        let rim = edges.keys().filter(|[a, b]| !edges.contains_key(&[*b, *a]));
        assert_eq!(rim.count(), 2 * VESSEL_SIDES);
        // V - E + F = 0 for a tube.
        let sides = (edges.len() + 2 * VESSEL_SIDES) / 2;
        assert_eq!(vertices.len() + faces.len(), sides);
    }

    /// The area of a trapezium of the sides 44 and 16, 48 wide, and the nodes of the longer one.
    #[test]
    fn cooks_membrane_is_its_trapezium() {
        let text = cook();
        let (nodes, rest) = text.split_once("*ELEMENT, TYPE=CPS4\n").unwrap();
        let (cells, set) = rest.split_once("*NSET, NSET=clamp, GENERATE\n").unwrap();
        let list = |text: &str| -> Vec<Vec<f64>> {
            let lines = text.lines().filter(|l| !l.starts_with('*'));
            lines
                .map(|l| l.split(", ").map(|w| w.parse().unwrap()).collect())
                .collect()
        };
        let (nodes, cells) = (list(nodes), list(cells));
        let area: f64 = cells
            .iter()
            .map(|cell| {
                let x = |k: usize| &nodes[cell[k] as usize - 1];
                let d = |a: usize, b: usize, k: usize| x(b)[k] - x(a)[k];
                0.5 * (d(1, 3, 1) * d(2, 4, 2) - d(1, 3, 2) * d(2, 4, 1))
            })
            .sum();
        assert_eq!(
            (nodes.len(), cells.len(), area),
            (81, 64, 48.0 * 0.5 * (44.0 + 16.0))
        );
        assert!(nodes.iter().step_by(9).all(|n| n[1] == 0.0) && set.trim() == "1, 73, 9");
    }

    #[test]
    fn a_missing_or_edited_file_is_found() {
        assert_eq!(check(&Sources::default()).len(), FILES.len() + TEMPLATES.len());
        let good = net();
        let others: Vec<_> = FILES[1..]
            .iter()
            .map(|file| (file.path, (file.contents)()))
            .collect();
        let scenes: Vec<_> = TEMPLATES
            .iter()
            .flat_map(|name| {
                let copy = format!("crates/pliant-cli/templates/{name}.ron");
                [format!("scenes/{name}.ron"), copy]
            })
            .collect();
        let with = |net: &str| {
            let others = others.iter().map(|(path, text)| (*path, text.as_str()));
            let others = others.chain(scenes.iter().map(|path| (path.as_str(), "(run: ())\n")));
            let all: Vec<_> = std::iter::once((FILES[0].path, net)).chain(others).collect();
            check(&Sources::of(&all)).len()
        };
        assert_eq!(with(&good), 0);
        assert_eq!(with(&good.replacen("v 0.1 0.0 0.0", "v 0.1 0.5 0.0", 1)), 1);
        assert_eq!(with(&good[..good.len() - 8]), 1);
        let edited = [
            ("scenes/beam.ron", "(run: ())\n"),
            ("crates/pliant-cli/templates/beam.ron", "()\n"),
        ];
        let found = check(&Sources::of(&edited)).into_iter().map(|f| f.to_string());
        assert_eq!(
            found.filter(|f| f.contains("beam.ron:1: differs")).count(),
            1,
            "a stale copy"
        );
    }
}
