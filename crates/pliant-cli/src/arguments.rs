//! The command line.

use clap::{Args, Parser, Subcommand};
use pliant_scene::scene::{Number, Settings};
use std::path::PathBuf;

/// Compliant mechanics from scene files: one number per constraint, from soft spring to exactly hard.
#[derive(Debug, Parser)]
#[command(name = "pliant", version, arg_required_else_help = true)]
pub(crate) struct Arguments {
    /// What to do.
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run a scene and write its results.
    Run(Run),
    /// Read and build a scene, and print its sizes.
    Check(Check),
}

#[derive(Debug, Args)]
pub(crate) struct Run {
    #[command(flatten)]
    pub(crate) scene: Scene,
    /// Directory of the results, made if missing [default: out/<name of the scene>]
    #[arg(long, value_name = "DIR", conflicts_with = "no_files")]
    pub(crate) out: Option<PathBuf>,
    /// Simulated time in seconds, instead of the scene's
    #[arg(long, value_name = "T")]
    pub(crate) duration: Option<f64>,
    /// Length of a step in seconds, instead of the scene's
    #[arg(long, value_name = "H")]
    pub(crate) step: Option<f64>,
    /// Write no files
    #[arg(long)]
    pub(crate) no_files: bool,
    /// Print nothing but errors
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Check {
    #[command(flatten)]
    pub(crate) scene: Scene,
}

#[derive(Debug, Args)]
pub(crate) struct Scene {
    /// The scene file, .ron or .json
    #[arg(value_name = "SCENE")]
    pub(crate) path: PathBuf,
    /// Give a parameter of the scene another value, a number or an expression such as pi/4
    #[arg(long, value_name = "NAME=VALUE", value_parser = assignment, allow_hyphen_values = true)]
    pub(crate) set: Vec<(String, Number)>,
}

impl Scene {
    /// The values given beside the file.
    pub(crate) fn settings(&self, step: Option<f64>, duration: Option<f64>) -> Settings {
        Settings {
            parameters: self.set.clone(),
            step,
            duration,
        }
    }
}

fn assignment(text: &str) -> Result<(String, Number), String> {
    let (name, value) = text.split_once('=').ok_or("expected NAME=VALUE")?;
    let name = name.trim().trim_start_matches('$');
    if name.is_empty() {
        return Err("expected NAME=VALUE".into());
    }
    Ok((name.to_owned(), Number::Expression(value.trim().to_owned())))
}
