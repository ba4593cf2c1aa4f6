//! Whatever the bytes, a reader returns.

use super::samples::{Flavour, cube, mixed};
use super::{
    Mesh, decks, gts, off, parse_abaqus, parse_gts, parse_msh, parse_obj, parse_off, parse_ply, parse_stl,
    parse_tetgen, parse_vtk, parse_vtk_xml, surfaces, vtk,
};
use pliant_mesh_io::TetgenFiles;
use proptest::collection::vec;
use proptest::prelude::*;
use std::path::Path;

/// Checks the promise of a returned mesh: its indices are valid.
fn check(mesh: &Mesh) {
    let vertices = mesh.vertices.len() as u32;
    assert!(mesh.vertices.iter().flatten().all(|x| x.is_finite()));
    let cells = mesh.edges.iter().flatten().chain(mesh.triangles.iter().flatten());
    assert!(
        cells
            .chain(mesh.tetrahedra.iter().flatten())
            .all(|&i| i < vertices)
    );
    let volumes = mesh.volumes.iter().flat_map(|c| &c.nodes);
    assert!(volumes.into_iter().all(|&i| i < vertices));
    let _ = mesh.unique_edges();
    let _ = mesh.solid(1.0).defects();
    for group in &mesh.groups {
        assert!(mesh.group_vertices(group).iter().all(|&i| i < vertices));
        assert!(
            group
                .triangles
                .iter()
                .all(|&i| (i as usize) < mesh.triangles.len())
        );
    }
}

fn feed(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    // Three files in one, parted by a line.
    let mut parts = text.split(PARTED);
    let [nodes, elements] = [0, 1].map(|_| parts.next().unwrap_or_default());
    let tetgen = TetgenFiles {
        nodes,
        elements,
        faces: parts.next(),
    };
    for result in [
        parse_msh(bytes),
        parse_obj(&text),
        parse_stl(bytes),
        parse_ply(bytes),
        parse_off(&text),
        parse_gts(&text),
        parse_abaqus(&text),
        parse_vtk(bytes),
        parse_vtk_xml(bytes),
        parse_tetgen(tetgen),
    ] {
        match result {
            Ok(mesh) => check(&mesh),
            Err(error) => assert!(error.to_string().len() < 1000, "{error}"),
        }
    }
}

const OBJ: &str =
    "o arm\nv 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\ng a b\nf 1/1/1 2//2 3/3 -1\nl 1 2 \\\n 3\np 4 # end\n";

const PARTED: &str = "====\n";

/// Statements, as a regular expression.
const STATEMENTS: &str = "([vflpgo#$\\\\/ \n0-9.eE+-]|nan|\r\n|v 1 2 3\n|f 1 2 3\n|\\$Nodes\n){0,80}";

/// The valid files that are mutated, each with the target of `fuzz/` that begins from it.
fn corpus() -> Vec<(&'static str, Vec<u8>)> {
    let mut files: Vec<_> = Flavour::all()
        .into_iter()
        .flat_map(|flavour| [("mesh_msh", cube(flavour)), ("mesh_msh", mixed(flavour))])
        .collect();
    files.push(("mesh_obj", OBJ.as_bytes().to_vec()));
    files.push(("mesh_stl", surfaces::stl_text().into_bytes()));
    files.push(("mesh_stl", surfaces::stl_binary()));
    files.extend([None, Some(false), Some(true)].map(|b| ("mesh_ply", surfaces::ply(b))));
    files.push(("mesh_inp", decks::abaqus().into_bytes()));
    let tetgen = |ten| decks::tetgen(ten, 1).join(PARTED).into_bytes();
    files.extend([false, true].map(|ten| ("mesh_tetgen", tetgen(ten))));
    for binary in [false, true] {
        files.extend([false, true].map(|new| ("mesh_vtk", vtk::legacy(binary, new))));
    }
    let flavours = vtk::Flavour::all();
    files.extend([0, 1, 5, 9, 13, 17, 21].map(|k| ("mesh_vtu", vtk::vtu(flavours[k]))));
    files.push(("mesh_off", off::BOX.as_bytes().to_vec()));
    files.push(("mesh_gts", gts::TETRAHEDRON.as_bytes().to_vec()));
    files
}

fn valid_files() -> Vec<Vec<u8>> {
    corpus().into_iter().map(|(_, bytes)| bytes).collect()
}

/// With `PLIANT_WRITE_CORPUS` set it writes the files anew: that is how `cargo xtask gen` does it.
/// Other files of the folders are inputs that fuzzing has found.
#[test]
fn fuzzing_begins_from_these_files() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus");
    let write = std::env::var_os("PLIANT_WRITE_CORPUS").is_some();
    for (number, (target, bytes)) in corpus().into_iter().enumerate() {
        let path = folder.join(target).join(format!("made-{number}"));
        if write {
            std::fs::create_dir_all(folder.join(target)).unwrap();
            std::fs::write(&path, &bytes).unwrap();
        }
        let found = std::fs::read(&path).unwrap_or_default();
        assert!(
            found == bytes,
            "`cargo xtask gen` writes another {}",
            path.display()
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn random_bytes_never_panic(bytes in vec(any::<u8>(), 0..300)) {
        feed(&bytes);
    }

    #[test]
    fn random_statements_never_panic(text in STATEMENTS) {
        feed(text.as_bytes());
    }

    #[test]
    fn random_bodies_behind_a_valid_header_never_panic(
        four in any::<bool>(),
        binary in 0_u8..3,
        section in 0_usize..4,
        body in vec(prop_oneof![3 => 0_u8..20, 1 => any::<u8>(), 2 => b'0'..=b'9', 1 => Just(b' ')], 0..200),
    ) {
        let name = ["Nodes", "Elements", "Entities", "PhysicalNames"][section];
        let binary = [None, Some(false), Some(true)][binary as usize];
        let mut writer = super::samples::Writer::new(Flavour { four, binary, size_bytes: 8 });
        writer.nodes(&[(1, [0.0; 3])]);
        writer.line(&format!("${name}"));
        writer.bytes.extend_from_slice(&body);
        writer.line(&format!("\n$End{name}"));
        feed(&writer.bytes);
    }

    #[test]
    fn mutated_files_never_panic(
        which in any::<prop::sample::Index>(),
        changes in vec((any::<prop::sample::Index>(), any::<u8>()), 0..6),
        cut in prop::option::of(any::<prop::sample::Index>()),
        doubled in prop::option::of((any::<prop::sample::Index>(), any::<prop::sample::Index>())),
    ) {
        let files = valid_files();
        let mut bytes = which.get(&files).clone();
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        if let Some((from, to)) = doubled {
            let (from, to) = (from.index(bytes.len()), to.index(bytes.len()));
            let copy = bytes[from.min(to)..from.max(to)].to_vec();
            bytes.splice(from..from, copy);
        }
        if let Some(cut) = cut {
            bytes.truncate(cut.index(bytes.len()));
        }
        feed(&bytes);
    }
}

/// Every prefix of every valid file.
#[test]
fn cut_files_never_panic() {
    for file in valid_files() {
        for length in 0..=file.len() {
            feed(&file[..length]);
        }
    }
}
