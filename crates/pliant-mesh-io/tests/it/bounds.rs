//! Files that ask for more than a mesh may take, or that are none.

use super::vtk::base64;
use super::{MeshError, parse_abaqus, parse_obj, parse_ply, parse_vtk, parse_vtk_xml, read_mesh};
use pliant_mesh_io::{MOST_ENTRIES, MOST_NUMBERS, mesh_files, read_mesh_within};
use std::path::Path;

const TRIANGLE: &str = "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n";

/// The message about a mesh that is too large.
fn too_large(result: Result<pliant_mesh_io::Mesh, MeshError>) -> String {
    let error = result.expect_err("the file asks for too much");
    assert!(matches!(error, MeshError::TooLarge { .. }), "{error}");
    error.to_string()
}

#[test]
fn files_beyond_the_limit_are_refused_unread() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.obj");
    std::fs::write(&path, TRIANGLE).unwrap();
    let size = TRIANGLE.len() as u64;
    assert_eq!(read_mesh_within(&path, size).unwrap().triangles.len(), 1);
    let error = read_mesh_within(&path, size - 1).unwrap_err().to_string();
    let wanted = format!("it has {size} bytes, more than the limit of {}", size - 1);
    assert!(error.contains("a.obj") && error.ends_with(&wanted), "{error}");
    // A file of the largest size takes no place on the disk, and none in memory.
    let file = std::fs::File::create(dir.path().join("large.msh")).unwrap();
    file.set_len(1 << 40).unwrap();
    let error = read_mesh(&dir.path().join("large.msh")).unwrap_err().to_string();
    assert!(
        error.contains("1099511627776 bytes, more than the limit of 268435456"),
        "{error}"
    );
}

#[test]
fn a_directory_is_no_mesh() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.stl");
    std::fs::create_dir(&path).unwrap();
    let error = read_mesh(&path).unwrap_err().to_string();
    assert!(error.ends_with("a.stl: it is a directory, not a file"), "{error}");
}

/// Without a writer, a pipe would be waited for; a device never ends.
#[cfg(unix)]
#[test]
fn pipes_and_devices_are_no_meshes() {
    let dir = tempfile::tempdir().unwrap();
    let pipe = dir.path().join("pipe.obj");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    assert!(made.unwrap().success());
    let device = dir.path().join("device.ply");
    std::os::unix::fs::symlink("/dev/zero", &device).unwrap();
    for path in [pipe, device] {
        let error = read_mesh(&path).unwrap_err().to_string();
        let wanted = "it is a pipe, a device or a socket, not a regular file";
        assert!(error.ends_with(wanted), "{error}");
    }
}

/// A file of the system says that it has no bytes, and has some.
#[cfg(target_os = "linux")]
#[test]
fn the_size_that_a_file_says_is_not_trusted() {
    let read = |most| pliant_mesh_io::read_file(Path::new("/proc/self/status"), most);
    assert!(read(1 << 20).unwrap().len() > 100);
    let error = read(99).unwrap_err().to_string();
    assert_eq!(error, "it has at least 100 bytes, more than the limit of 99");
}

#[test]
fn a_mesh_says_which_files_it_has() {
    let names = |path: &str| {
        let files = mesh_files(Path::new(path));
        let names = files.iter().map(|file| file.display().to_string());
        names.collect::<Vec<_>>()
    };
    assert_eq!(names("a/b.obj"), ["a/b.obj"]);
    assert_eq!(names("a/b.ele"), ["a/b.node", "a/b.ele", "a/b.face"]);
}

/// A few bytes each that stand for many entries of a mesh.
#[test]
fn small_files_of_large_meshes_are_refused() {
    // A corner of two bytes is a triangle in 64 groups.
    let names: Vec<String> = (0..64).map(|k| format!("g{k}")).collect();
    let corners = " 1".repeat(MOST_ENTRIES / 64);
    let shared = format!("v 0 0 0\ng {}\nf{corners}\n", names.join(" "));
    let error = too_large(parse_obj(&shared));
    let wanted = "the mesh has more than 5000000 vertices, cells and places of these in groups";
    assert_eq!(error, wanted);
    // Groups of nothing.
    let groups: String = (0..MOST_ENTRIES / 16 + 1).map(|k| format!("g {k:x}\n")).collect();
    too_large(parse_obj(&groups));
    // Sets of the same numbers.
    let range = format!("*NSET, NSET=a, GENERATE\n{}", "1, 100000\n".repeat(51));
    let nodes: String = (1..=100_000).map(|k| format!("{k},0,0,0\n")).collect();
    let error = parse_abaqus(&format!("*NODE\n{nodes}{range}"))
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("sets that name at most 5000000 nodes and elements together"),
        "{error}"
    );
    // A face of a list that is only said to be long.
    let ply = "ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\nproperty float y\nproperty float z\n\
               element face 1\nproperty list uint int vertex_indices\nend_header\n0 0 0\n4000000000 0\n";
    let error = too_large(parse_ply(ply.as_bytes()));
    assert_eq!(error, "the mesh has more than 5000000 vertices in a face");
}

/// A grid of so many points, in compressed blocks of these lengths: number, each, last, packed.
fn compressed(points: u64, lengths: [u32; 4], packed: &[u8]) -> Vec<u8> {
    let lengths: Vec<u8> = lengths.iter().flat_map(|n| n.to_le_bytes()).collect();
    let data = [base64(&lengths), base64(packed)].concat();
    format!(
        "<VTKFile type=\"UnstructuredGrid\" byte_order=\"LittleEndian\" compressor=\"vtkZLibDataCompressor\">\n\
         <UnstructuredGrid><Piece NumberOfPoints=\"{points}\" NumberOfCells=\"0\"><Points>\n\
         <DataArray type=\"Float64\" NumberOfComponents=\"3\" format=\"binary\">{}</DataArray>\n\
         </Points></Piece></UnstructuredGrid></VTKFile>",
        String::from_utf8(data).unwrap()
    )
    .into_bytes()
}

#[test]
fn compressed_data_unpack_to_what_was_said_and_no_more() {
    // Three numbers a point of eight bytes each.
    let zeros = miniz_oxide::deflate::compress_to_vec_zlib(&[0; 2400], 6);
    let packed = zeros.len() as u32;
    let mesh = parse_vtk_xml(&compressed(100, [1, 2400, 0, packed], &zeros)).unwrap();
    assert_eq!(mesh.vertices.len(), 100);
    // The array is said to be large: a gigabyte of zeros packs into a megabyte.
    let points = MOST_NUMBERS as u64 / 3 + 1;
    let error = too_large(parse_vtk_xml(&compressed(
        points,
        [1, 1 << 30, 0, packed],
        &zeros,
    )));
    assert_eq!(error, "the mesh has more than 33554432 numbers in its arrays");
    // The block is said to be large, or is so.
    for (lengths, wanted) in [
        (
            [1, 1 << 30, 0, packed],
            "1073741824 bytes in block 0, where 24 are left",
        ),
        ([1, 24, 0, packed], "block 0 that does not unpack (HasMoreOutput)"),
    ] {
        let error = parse_vtk_xml(&compressed(1, lengths, &zeros))
            .unwrap_err()
            .to_string();
        assert!(error.ends_with(wanted), "{error}");
    }
}

#[test]
fn arrays_share_one_limit() {
    let fields = "a 1 16777216 char\n".to_owned() + &" 1".repeat(1 << 24);
    let text = format!(
        "# vtk DataFile Version 3.0\nt\nASCII\nDATASET POLYDATA\nPOINTS 1 float\n0 0 0\nFIELD f 2\n{fields}\n{fields}\n"
    );
    assert!(too_large(parse_vtk(text.as_bytes())).ends_with("numbers in its arrays"));
}

/// Documents that a reader of XML takes long for.
#[test]
fn odd_documents_are_refused_at_once() {
    let attributes: String = (0..500).map(|k| format!(" a{k}=\"\"")).collect();
    let error = parse_vtk_xml(format!("<VTKFile{attributes}/>").as_bytes()).unwrap_err();
    assert!(
        error.to_string().contains("tags of at most 2048 bytes"),
        "{error}"
    );
    let error = parse_vtk_xml(format!("<VTKFile>{}</VTKFile>", "<a/>".repeat(100_001)).as_bytes());
    assert!(error.unwrap_err().to_string().contains("limit"));
    // Comments may be long.
    let comment = format!("<!-- {} --><VTKFile/>", "x".repeat(5000));
    let error = parse_vtk_xml(comment.as_bytes()).unwrap_err().to_string();
    assert!(error.contains("<VTKFile type="), "{error}");
}
