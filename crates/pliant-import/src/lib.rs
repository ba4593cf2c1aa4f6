//! Robot descriptions and scenes of SOFA to scene files.
//!
//! [`import_file`] reads a URDF, MJCF, OpenSim or SCN file and writes a scene in RON that people
//! can read and edit, with the names of the file. Nothing is passed over untold: what the scene
//! does not have of the file is a list of [`Remark`]s with file and line. Files that are broken are
//! errors with a line and a caret, as of scenes. The crate never prints.
//!
//! ```
//! use pliant_import::{Format, Options, import_text};
//! use pliant_scene::{Format as Notation, SceneFile, Settings};
//!
//! let urdf = r#"<robot name="pendulum">
//!   <link name="base"/>
//!   <link name="rod">
//!     <inertial>
//!       <origin xyz="0 0 -0.5"/> <mass value="2"/>
//!       <inertia ixx="0.17" iyy="0.17" izz="0.001" ixy="0" ixz="0" iyz="0"/>
//!     </inertial>
//!   </link>
//!   <joint name="pivot" type="continuous">
//!     <parent link="base"/> <child link="rod"/> <axis xyz="0 1 0"/>
//!   </joint>
//! </robot>"#;
//! let imported = import_text(Format::Urdf, "pendulum.urdf", urdf, &Options::default())?;
//! assert!(imported.scene.contains(r#"name: "pivot", kind: Hinge"#));
//! assert!(imported.remarks[0].message.contains("held in the world"));
//! let scene = SceneFile::from_text("pendulum.ron".as_ref(), &imported.scene, Notation::Ron)?;
//! assert_eq!(scene.build(&Settings::default())?.model.dof_count(), 6);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod error;
mod geometry;
mod groups;
mod layout;
mod meshes;
mod mjcf;
mod numbers;
mod options;
mod osim;
mod remark;
mod robot;
mod scn;
mod start;
mod urdf;
mod write;
mod xml;

pub use error::ImportError;
pub use options::Options;
pub use remark::Remark;

use meshes::Meshes;
use robot::Robot;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use write::Surroundings;
use xml::{LARGEST_FILE, Tree};

/// The format of a robot description, or of another program's scene.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// URDF, of ROS.
    Urdf,
    /// MJCF, of MuJoCo.
    Mjcf,
    /// SCN, of SOFA.
    Scn,
    /// OpenSim models.
    OpenSim,
}

/// A scene and what was not taken into it.
#[derive(Clone, Debug)]
pub struct Imported {
    /// The scene file, in RON. Its first lines are the remarks, as comments.
    pub scene: String,
    /// Remarks on what was not taken, or taken in another way.
    pub remarks: Vec<Remark>,
    /// Directories of meshes that the scene names and that do not lie below its own: `pliant run`
    /// wants `--allow-outside` for them.
    pub mesh_directories: Vec<PathBuf>,
}

/// Imports a file; its extension and its first element tell the format.
///
/// # Errors
/// [`ImportError`] of every kind.
pub fn import_file(path: &Path, options: &Options) -> Result<Imported, ImportError> {
    let name = path.display().to_string();
    let text = read(path, &name)?;
    let mut tree = Tree::default();
    let root = tree.read(&name, &text)?;
    let format = format_of(&tree, root)?;
    let directory = path.parent().map_or_else(PathBuf::new, Path::to_owned);
    finish(tree, root, format, Some(&directory), options)
}

/// Imports a text; `name` is that of its file, for messages. No other file is read: what is in
/// others, such as meshes, is a remark.
///
/// # Errors
/// [`ImportError`] of every kind but `Read`.
pub fn import_text(
    format: Format,
    name: &str,
    text: &str,
    options: &Options,
) -> Result<Imported, ImportError> {
    let mut tree = Tree::default();
    let root = tree.read(name, text)?;
    if format_of(&tree, root)? != format {
        let message = format!("this is no {}", format.name());
        return Err(ImportError::Format(tree.diagnostic(
            tree.elements[root].spot,
            message,
            None,
        )));
    }
    finish(tree, root, format, None, options)
}

impl Format {
    /// The direction upwards that files of the format take for granted.
    fn up(self) -> [f64; 3] {
        match self {
            Self::Urdf | Self::Mjcf => [0.0, 0.0, 1.0],
            Self::OpenSim | Self::Scn => [0.0, 1.0, 0.0],
        }
    }

    /// The name of the format.
    pub fn name(self) -> &'static str {
        match self {
            Self::Urdf => "URDF",
            Self::Mjcf => "MJCF",
            Self::Scn => "a scene of SOFA",
            Self::OpenSim => "OpenSim",
        }
    }
}

/// A text file.
fn read(path: &Path, name: &str) -> Result<String, ImportError> {
    let bytes = pliant_mesh_io::read_file(path, LARGEST_FILE).map_err(|source| ImportError::Read {
        path: path.to_owned(),
        source,
    })?;
    String::from_utf8(bytes).map_err(|error| {
        let good = error.utf8_error().valid_up_to();
        let text = String::from_utf8_lossy(error.as_bytes()).into_owned();
        let message = "the file is not UTF-8 text from here on".to_owned();
        ImportError::Syntax(Box::new(pliant_scene::Diagnostic {
            message,
            file: name.to_owned(),
            place: Some(pliant_scene::SourceSpan::of(&text, good..good)),
            help: None,
            notes: Vec::new(),
        }))
    })
}

fn format_of(tree: &Tree, root: usize) -> Result<Format, ImportError> {
    let element = &tree.elements[root];
    match element.tag.as_str() {
        "robot" => Ok(Format::Urdf),
        "mujoco" => Ok(Format::Mjcf),
        "Node" => Ok(Format::Scn),
        "OpenSimDocument" => Ok(Format::OpenSim),
        other => {
            let message = format!(
                "`{other}` is neither a robot of URDF, nor a model of MJCF or OpenSim, nor a scene of SOFA"
            );
            let help = "URDF begins with `<robot`, MJCF with `<mujoco`, OpenSim with \
                        `<OpenSimDocument`, SOFA's .scn with `<Node`; files of xacro must be expanded \
                        first"
                .to_owned();
            Err(ImportError::Format(tree.diagnostic(
                element.spot,
                message,
                Some(help),
            )))
        }
    }
}

/// From the elements to the scene.
fn finish(
    mut tree: Tree,
    root: usize,
    format: Format,
    directory: Option<&Path>,
    options: &Options,
) -> Result<Imported, ImportError> {
    let mut meshes = Meshes::new(directory, options);
    let scene = match format {
        Format::Scn => scn::scene(&mut tree, root, &mut meshes, options)?,
        Format::Urdf => {
            let robot = urdf::robot(&mut tree, root, options, &mut meshes)?;
            robot_scene(&mut tree, robot, format, options)?
        }
        Format::Mjcf => {
            let robot = mjcf::robot(&mut tree, root, directory, &mut meshes)?;
            tell_of_other_formats(&mut tree, options);
            robot_scene(&mut tree, robot, format, options)?
        }
        Format::OpenSim => {
            let robot = osim::robot(&mut tree, root)?;
            tell_of_other_formats(&mut tree, options);
            robot_scene(&mut tree, robot, format, options)?
        }
    };
    if !all_finite(&scene) {
        let message = "numbers of the file are so large that what comes of them is not finite".to_owned();
        return tree.wrong(tree.elements[root].spot, message, None);
    }
    let name = tree.place(tree.elements[root].spot).0;
    let remarks = tree.take_remarks().into_list();
    Ok(Imported {
        scene: format!("{}{scene}", head(format, &name, &remarks)),
        remarks,
        mesh_directories: meshes.outside.into_iter().collect(),
    })
}

/// The scene of a robot.
fn robot_scene(
    tree: &mut Tree,
    mut robot: Robot,
    format: Format,
    options: &Options,
) -> Result<String, ImportError> {
    start::set(&mut robot, tree, options)?;
    layout::split_chains(&mut robot, tree);
    let layout = layout::arrange(&mut robot, tree);
    let around = Surroundings {
        self_collision: options.self_collision || format != Format::Urdf,
        ground: options.ground.then_some(format.up()),
    };
    if !around.self_collision {
        tree.remark_all("links of the robot do not collide with each other (--self-collision lets them)");
    }
    Ok(write::scene(&robot, &layout, tree, around))
}

/// Remarks on wishes that are for URDF alone.
fn tell_of_other_formats(tree: &mut Tree, options: &Options) {
    let wishes = [
        (options.floating, "--floating", "which bodies float"),
        (options.position != [0.0; 3], "--at", "where its bodies are"),
        (options.self_collision, "--self-collision", "what collides"),
    ];
    for (_, wish, what) in wishes.iter().filter(|(wished, ..)| *wished) {
        tree.remark_all(format!("{wish} is for URDF: this file itself says {what}"));
    }
}

/// Whether no number of a scene, outside of its texts, is infinite or none.
fn all_finite(scene: &str) -> bool {
    let mut inside = false;
    let mut escaped = false;
    let mut plain = String::new();
    for c in scene.chars() {
        match c {
            '"' if !escaped => {
                inside = !inside;
                plain.push(' ');
            }
            c if !inside => plain.push(c),
            _ => {}
        }
        escaped = c == '\\' && !escaped;
    }
    let mut words = plain.split(|c: char| !c.is_ascii_alphanumeric());
    words.all(|word| word != "inf" && word != "NaN")
}

/// The comment at the start of a scene: where it is from, and the remarks.
fn head(format: Format, name: &str, remarks: &[Remark]) -> String {
    let mut out = format!(
        "// Imported from {}, {}.\n//\n",
        one_line(file_name(name)),
        format.name()
    );
    for remark in remarks {
        let _ = writeln!(out, "// - {}", one_line(&remark.told(file_name)));
    }
    out
}

/// The last part of a path.
fn file_name(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}

/// A text without line ends, which would end a comment.
fn one_line(text: &str) -> String {
    text.chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect()
}

/// The README's example, compiled and run with the tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
