//! Mesh files that a scene may read: where they are, and how much there may be of them.

use super::values::{describe, owner};
use super::{Builder, Result, Settings};
use crate::include::folder_of;
use crate::inputs::{InputFile, outside};
use crate::source::Where;
use crate::{SceneError, SceneFile};
use crc32fast::Hasher;
use pliant_mesh_io::{Mesh, mesh_files, read_file, read_mesh_within};
use std::cell::{Cell, RefCell};
use std::path::{Path, PathBuf};

/// Vertices and cells of meshes for each element that a scene may have.
const ENTRIES_PER_ELEMENT: usize = 5;

/// The place of mesh files, and how many vertices and cells of them are in use.
pub(super) struct MeshFiles<'a> {
    /// The scene file.
    scene: &'a Path,
    /// Directories in which meshes may be, beside that of the scene.
    directories: &'a [PathBuf],
    entries: Cell<usize>,
    /// CRC-32 of the files that were read, in their order.
    checksum: RefCell<Hasher>,
    /// The files that were read, each once.
    read: RefCell<Vec<InputFile>>,
}

impl<'a> MeshFiles<'a> {
    pub(super) fn of(file: &'a SceneFile, settings: &'a Settings) -> Self {
        Self {
            scene: &file.path,
            directories: &settings.mesh_directories,
            entries: Cell::new(0),
            checksum: RefCell::default(),
            read: RefCell::default(),
        }
    }

    /// CRC-32 of the files that were read.
    pub(super) fn checksum(&self) -> u32 {
        self.checksum.borrow().clone().finalize()
    }

    /// The files that were read, each once, in the order of first use.
    pub(super) fn read(&self) -> Vec<InputFile> {
        self.read.borrow().clone()
    }

    fn note(&self, path: PathBuf, name: &str, bytes: &[u8]) {
        self.checksum.borrow_mut().update(bytes);
        let mut read = self.read.borrow_mut();
        if read.iter().all(|file| file.path != path) {
            read.push(InputFile::of(path, name, bytes));
        }
    }
}

/// Reads a mesh that a key of a part names, relative to the scene.
pub(super) fn mesh(builder: &Builder<'_>, name: &str, key: &str, file: &str) -> Result<Mesh> {
    let places = [
        Where::Field(name, key),
        Where::Literal(name, file),
        Where::Name(name),
    ];
    for path in mesh_files(&folder_of(builder.files.scene).join(file)) {
        check_place(builder, &places, &path, &format!("the mesh \"{file}\""))?;
    }
    let path = builder.files.scene.with_file_name(file);
    let mesh = read_mesh_within(&path, builder.limits.mesh_bytes).map_err(|source| {
        let message = if source.names_file() {
            source.to_string()
        } else {
            format!("{}: {source}", path.display())
        };
        SceneError::Mesh {
            diagnostic: Box::new(builder.source.about(&places, message, None)),
            source,
        }
    })?;
    for path in mesh_files(&path) {
        // A file that may be missing has no part in the sum.
        if let Ok(bytes) = read_file(&path, builder.limits.mesh_bytes) {
            builder.files.note(path, file, &bytes);
        }
    }
    count_entries(builder, places[0], entries_of(&mesh))?;
    Ok(mesh)
}

/// Refuses a file that the scene may not read.
fn check_place(builder: &Builder<'_>, places: &[Where<'_>], path: &Path, what: &str) -> Result<()> {
    let MeshFiles {
        scene, directories, ..
    } = &builder.files;
    let Some(real) = outside(path, folder_of(scene), directories) else {
        return Ok(());
    };
    let message = format!(
        "{what} is not in the folder of the scene, but at {}",
        real.display()
    );
    let help = "`--allow-outside DIR` lets a scene read the files in DIR, too".to_owned();
    builder.wrong(places, message, Some(help))
}

/// Reads a text that a scene names, relative to it: `kind` is what it is.
pub(super) fn text(builder: &Builder<'_>, places: &[Where<'_>], file: &str, kind: &str) -> Result<String> {
    check_place(
        builder,
        places,
        &folder_of(builder.files.scene).join(file),
        &format!("the {kind} \"{file}\""),
    )?;
    let path = builder.files.scene.with_file_name(file);
    let bytes = match read_file(&path, builder.limits.mesh_bytes) {
        Ok(bytes) => bytes,
        Err(error) => {
            let message = format!("cannot read the {kind} {}: {error}", path.display());
            return builder.wrong(places, message, None);
        }
    };
    builder.files.note(path, file, &bytes);
    match String::from_utf8(bytes) {
        // Windows programs begin files with this mark.
        Ok(text) => Ok(text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text)),
        Err(_) => builder.wrong(places, format!("the {kind} {file} is not UTF-8 text"), None),
    }
}

fn entries_of(mesh: &Mesh) -> usize {
    let lengths = [
        mesh.vertices.len(),
        mesh.edges.len(),
        mesh.triangles.len(),
        mesh.tetrahedra.len(),
        mesh.volumes.len(),
    ];
    lengths.into_iter().fold(0, usize::saturating_add)
}

/// Counts vertices and cells of a mesh, each time that one is read or used.
pub(super) fn count_entries(builder: &Builder<'_>, at: Where<'_>, entries: usize) -> Result<()> {
    let all = builder.files.entries.get().saturating_add(entries);
    let most = builder.limits.elements.saturating_mul(ENTRIES_PER_ELEMENT);
    if all > most {
        let message = format!(
            "with {}, the meshes of the scene have {all} vertices and cells, more than the limit of {most}",
            describe(at)
        );
        let help = "meshes are counted at each use; `--max-elements` raises the limit".to_owned();
        return builder.wrong(&[at, owner(at)], message, Some(help));
    }
    builder.files.entries.set(all);
    Ok(())
}
