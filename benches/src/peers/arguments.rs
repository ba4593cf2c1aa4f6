//! The arguments of `cargo xtask bench peers`.

use super::{Program, Scene};
use std::fmt;
use std::path::PathBuf;

/// Scenes, programs and outputs that are asked for.
#[derive(Clone, Debug, PartialEq)]
pub struct Arguments {
    /// Scenes.
    pub scenes: Vec<Scene>,
    /// Programs.
    pub programs: Vec<Program>,
    /// Small cases alone.
    pub quick: bool,
    /// Whether tables and pictures go into the documents.
    pub write: bool,
    /// Seconds on a processor that a run may take.
    pub cap: f64,
    /// A Python that has the package `mujoco`, instead of one that is made.
    pub python: Option<PathBuf>,
    /// The file for the figures as JSON.
    pub json: Option<PathBuf>,
}

/// An argument that is not understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ArgumentError {
    /// There is no such flag.
    Unknown(String),
    /// A flag without its value.
    Missing(&'static str),
    /// A value that the flag does not take.
    Value {
        /// The flag.
        flag: &'static str,
        /// The value.
        value: String,
        /// Values that it takes.
        expected: &'static str,
    },
}

impl fmt::Display for ArgumentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown(argument) => write!(
                f,
                "unknown argument `{argument}`; there are --scene A,B,C,D, --only pliant,rapier,mujoco, --cap SECONDS, \
                 --python PATH, --json FILE, --quick, --write"
            ),
            Self::Missing(flag) => write!(f, "{flag} needs a value"),
            Self::Value {
                flag,
                value,
                expected,
            } => write!(f, "{flag}: `{value}` is not {expected}"),
        }
    }
}

impl std::error::Error for ArgumentError {}

impl Arguments {
    /// Reads the words behind the name of the command.
    ///
    /// # Errors
    /// The first word that is not understood.
    pub fn parse(words: &[String]) -> Result<Self, ArgumentError> {
        let mut out = Self {
            scenes: Scene::ALL.to_vec(),
            programs: Program::ALL.to_vec(),
            quick: false,
            write: false,
            cap: 10.0,
            python: None,
            json: None,
        };
        let mut words = words.iter();
        while let Some(word) = words.next() {
            let mut value = |flag| words.next().ok_or(ArgumentError::Missing(flag));
            match word.as_str() {
                "--quick" => out.quick = true,
                "--write" => out.write = true,
                "--python" => out.python = Some(PathBuf::from(value("--python")?)),
                "--json" => out.json = Some(PathBuf::from(value("--json")?)),
                "--scene" => {
                    let find = |w: &str| Scene::ALL.into_iter().find(|s| w == s.letter().to_string());
                    out.scenes = list("--scene", value("--scene")?, "one of A, B, C, D", find)?;
                }
                "--only" => {
                    let find = |w: &str| Program::ALL.into_iter().find(|p| w == p.key());
                    let expected = "one of pliant, rapier, mujoco";
                    out.programs = list("--only", value("--only")?, expected, find)?;
                }
                "--cap" => {
                    let text = value("--cap")?;
                    let seconds = text.parse::<f64>().ok().filter(|s| s.is_finite() && *s > 0.0);
                    out.cap = seconds.ok_or_else(|| ArgumentError::Value {
                        flag: "--cap",
                        value: text.clone(),
                        expected: "a positive number of seconds",
                    })?;
                }
                other => return Err(ArgumentError::Unknown(other.to_owned())),
            }
        }
        Ok(out)
    }
}

/// Words between commas.
fn list<T>(
    flag: &'static str,
    text: &str,
    expected: &'static str,
    find: impl Fn(&str) -> Option<T>,
) -> Result<Vec<T>, ArgumentError> {
    let one = |word: &str| {
        find(word.trim()).ok_or_else(|| ArgumentError::Value {
            flag,
            value: word.to_owned(),
            expected,
        })
    };
    text.split(',').map(one).collect()
}
