//! Four scenes in Pliant, Rapier and MuJoCo, each measured alike: `cargo xtask bench peers`.
//!
//! A [`Case`] is a scene at one size and step; a [`Contender`] starts it in a program with a
//! setting; [`run`] steps it within a budget and shows its states to a [`Judge`], which knows
//! nothing of the program. Timed are steps alone, in seconds of the stepping thread on a processor.

mod arguments;
mod case;
mod engine;
mod environment;
mod judge;
pub mod mujoco;
mod pliant;
#[cfg(feature = "peers")]
mod rapier;
mod report;

pub use arguments::{ArgumentError, Arguments};
pub use case::{Boxes, Case, Scene, Subject};
pub use engine::{Advance, Engine, Frame, Outcome, Row, run};
pub use environment::{Environment, EnvironmentError, start_script};
pub use judge::Judge;
pub use report::{MarkerError, json, picture, replace, table};

use std::fmt;

/// A program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Program {
    /// This one.
    Pliant,
    /// `rapier3d-f64`, a crate.
    Rapier,
    /// The Python package `mujoco`.
    MuJoCo,
}

impl Program {
    /// All of them, in the order of the tables.
    pub const ALL: [Self; 3] = [Self::Pliant, Self::Rapier, Self::MuJoCo];

    /// Its name as an argument.
    pub fn key(self) -> &'static str {
        match self {
            Self::Pliant => "pliant",
            Self::Rapier => "rapier",
            Self::MuJoCo => "mujoco",
        }
    }
}

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Pliant => "Pliant",
            Self::Rapier => "Rapier",
            Self::MuJoCo => "MuJoCo",
        })
    }
}

/// The law of the material of a beam, which says what its tip is compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Material {
    /// Green's strain with Hooke's law, or a scene without material.
    StVenantKirchhoff,
    /// Hooke's law in the axes that turn with the tetrahedron.
    Corotational,
}

/// Starts a scene in a program, or says why not.
pub type Start = Box<dyn Fn() -> Result<Box<dyn Engine>, String>>;

/// A program with a setting, ready to start a case.
pub struct Contender {
    /// The program.
    pub program: Program,
    /// How it is set, in the words of the tables.
    pub setting: &'static str,
    /// Its law of the material.
    pub material: Material,
    /// Starts it.
    pub start: Start,
}

impl Contender {
    fn new(program: Program, setting: &'static str, start: Start) -> Self {
        Self {
            program,
            setting,
            material: Material::StVenantKirchhoff,
            start,
        }
    }

    fn corotational(mut self) -> Self {
        self.material = Material::Corotational;
        self
    }
}

impl fmt::Debug for Contender {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, {}", self.program, self.setting)
    }
}

/// All settings of a program for a case; MuJoCo's with the Python that has it, or why there is
/// none.
pub fn contenders(program: Program, case: &Case, python: &Result<Environment, String>) -> Vec<Contender> {
    match program {
        Program::Pliant => pliant::contenders(case),
        #[cfg(feature = "peers")]
        Program::Rapier => rapier::contenders(case),
        #[cfg(not(feature = "peers"))]
        Program::Rapier => {
            let start = || Err("this program was compiled without the feature `peers`".to_owned());
            vec![Contender::new(program, "", Box::new(start))]
        }
        Program::MuJoCo => match python {
            Ok(environment) => mujoco::contenders(case, environment),
            Err(reason) => {
                let reason = reason.clone();
                let start = move || Err(reason.clone());
                vec![Contender::new(program, "", Box::new(start))]
            }
        },
    }
}
