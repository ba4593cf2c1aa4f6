//! Mesh files of robots and scenes: where they are, and whether they have a hull.

use crate::options::Options;
use crate::robot::Shape;
use crate::xml::{Spot, Tree};
use pliant_dense::Vec3;
use pliant_mesh_io::{LARGEST_FILE, MESH_EXTENSIONS, Mesh, read_mesh};
use std::collections::{BTreeSet, HashMap};
use std::path::{Component, Path, PathBuf};
use std::rc::Rc;

/// The mesh files that an import has read.
pub(crate) struct Meshes {
    /// Directory of the robot's file; without one no file is read.
    directory: Option<PathBuf>,
    scene_directory: Option<PathBuf>,
    packages: Vec<(String, PathBuf)>,
    known: HashMap<PathBuf, Result<Rc<Mesh>, String>>,
    /// Directories of meshes that do not lie below that of the scene.
    pub(crate) outside: BTreeSet<PathBuf>,
}

impl Meshes {
    pub(crate) fn new(directory: Option<&Path>, options: &Options) -> Self {
        let directory = directory.map(absolute);
        let scene = options.scene_directory.as_deref().map(absolute);
        Self {
            scene_directory: scene.or_else(|| directory.clone()),
            directory,
            packages: options.packages.clone(),
            known: HashMap::new(),
            outside: BTreeSet::new(),
        }
    }

    /// The convex hull of a mesh file; a remark if there is none.
    pub(crate) fn hull(&mut self, tree: &mut Tree, spot: Spot, name: &str, scale: [f64; 3]) -> Option<Shape> {
        let [x, y, z] = scale;
        if x != y || y != z || x <= 0.0 {
            tree.remark(spot, "a mesh with different or negative scales does not collide");
            return None;
        }
        let (path, mesh) = self.read(tree, spot, name)?;
        if !has_volume(&mesh) {
            tree.remark(
                spot,
                "a mesh whose points lie in a plane has no hull: it does not collide",
            );
            return None;
        }
        tree.remark(spot, "a mesh collides as its convex hull");
        Some(Shape::Hull {
            file: self.path_from_scene(&path),
            scale: x,
        })
    }

    /// A mesh file; a remark if it cannot be read.
    pub(crate) fn read(&mut self, tree: &mut Tree, spot: Spot, name: &str) -> Option<(PathBuf, Rc<Mesh>)> {
        let path = match self.find(name) {
            Ok(path) => path,
            Err(message) => {
                tree.remark(spot, message);
                return None;
            }
        };
        let read = self.known.entry(path.clone()).or_insert_with(|| {
            let size = std::fs::metadata(&path).map_or(0, |m| m.len());
            if size > LARGEST_FILE {
                return Err("it is too large".to_owned());
            }
            read_mesh(&path).map(Rc::new).map_err(|e| e.to_string())
        });
        match read {
            Ok(mesh) => Some((path, Rc::clone(mesh))),
            Err(message) => {
                let message = format!("the mesh is not taken: {message}");
                tree.remark(spot, message);
                None
            }
        }
    }

    /// A mesh file of a SOFA scene, which may be in a directory `share` above it; a remark if it
    /// cannot be read.
    pub(crate) fn read_shared(
        &mut self,
        tree: &mut Tree,
        spot: Spot,
        name: &str,
    ) -> Option<(PathBuf, Rc<Mesh>)> {
        let beside = self.directory.as_ref().is_some_and(|d| d.join(name).is_file());
        match beside || self.directory.is_none() {
            true => self.read(tree, spot, name),
            false => self.read(tree, spot, &format!("package://share/{name}")),
        }
    }

    /// The path of a mesh file, or why there is none.
    fn find(&self, name: &str) -> Result<PathBuf, String> {
        let Some(directory) = &self.directory else {
            return Err("meshes are not read from a text without a directory".to_owned());
        };
        if name.trim().is_empty() {
            return Err("a mesh has an empty file name: it does not collide".to_owned());
        }
        if directory
            .join(name.strip_prefix("file://").unwrap_or(name))
            .is_dir()
        {
            return Err(format!(
                "`{name}` is a directory and no mesh file: it does not collide"
            ));
        }
        let extension = Path::new(name)
            .extension()
            .map(|e| e.to_string_lossy().to_ascii_lowercase());
        let extension = extension.unwrap_or_default();
        if !MESH_EXTENSIONS.contains(&extension.as_str()) {
            return Err(format!(
                "meshes of the format `{extension}` are not read: they do not collide"
            ));
        }
        let found = if let Some(rest) = name.strip_prefix("package://") {
            self.in_package(directory, rest)?
        } else {
            directory.join(name.strip_prefix("file://").unwrap_or(name))
        };
        if !found.is_file() {
            return Err(format!("there is no mesh file `{name}`: it does not collide"));
        }
        Ok(tidy(&found))
    }

    /// A path in a package: in the directory that was given for it, else in one of its name above
    /// or beside the robot's.
    fn in_package(&self, directory: &Path, rest: &str) -> Result<PathBuf, String> {
        let (package, path) = rest.split_once('/').unwrap_or((rest, ""));
        if let Some((_, given)) = self.packages.iter().find(|(name, _)| name == package) {
            return Ok(absolute(given).join(path));
        }
        for above in directory.ancestors() {
            let beside = above.join(package).join(path);
            let within = above.join(path);
            if beside.is_file() {
                return Ok(beside);
            }
            if above.file_name().is_some_and(|n| n == package) && within.is_file() {
                return Ok(within);
            }
        }
        Err(format!(
            "the package `{package}` was not found (--package {package}=DIR): its meshes do not collide"
        ))
    }

    /// The path of a file as the scene names it.
    pub(crate) fn path_from_scene(&mut self, path: &Path) -> String {
        let Some(scene) = &self.scene_directory else {
            return path.display().to_string();
        };
        let scene = tidy(scene);
        let common = path
            .components()
            .zip(scene.components())
            .take_while(|(a, b)| a == b)
            .count();
        let up = scene.components().count() - common;
        if up > 0
            && let Some(parent) = path.parent()
        {
            self.outside.insert(parent.to_owned());
        }
        let mut out = vec!["..".to_owned(); up];
        out.extend(
            path.components()
                .skip(common)
                .map(|c| c.as_os_str().to_string_lossy().into_owned()),
        );
        out.join("/")
    }
}

/// A directory from the root; the present one if it is empty.
fn absolute(path: &Path) -> PathBuf {
    let path = if path.as_os_str().is_empty() {
        Path::new(".")
    } else {
        path
    };
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

/// A path without `.` and `..`.
fn tidy(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                out.pop();
            }
            Component::CurDir => {}
            part => out.push(part),
        }
    }
    out
}

/// Whether the points of a mesh span a volume.
fn has_volume(mesh: &Mesh) -> bool {
    /// Thinner than this share of their extent, they are flat.
    const FLAT: f64 = 1e-9;
    let points: Vec<Vec3> = mesh.vertices.iter().map(|p| Vec3::from(*p)).collect();
    let Some(first) = points.first() else {
        return false;
    };
    let farthest = |measure: &dyn Fn(&Vec3) -> f64| {
        points
            .iter()
            .map(|p| p - first)
            .fold((0.0, Vec3::zeros()), |best, d| {
                if measure(&d) > best.0 {
                    (measure(&d), d)
                } else {
                    best
                }
            })
    };
    let (length, along) = farthest(&|d| d.norm());
    let (area, across) = farthest(&|d| along.cross(d).norm());
    let normal = along.cross(&across);
    let (volume, _) = farthest(&|d| normal.dot(d).abs());
    length > 0.0 && area > FLAT * length * length && volume > FLAT * length * length * length
}
