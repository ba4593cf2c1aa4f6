//! The commands of the program, each a module of its own.

use std::error::Error;
use std::path::Path;
use std::process::ExitCode;

mod contact_growth;
mod contact_precision;
mod contact_profile;
mod contact_scenes;
mod contacts;
mod corpus;
mod delassus;
mod factors;
mod fronts;
mod gradients;
mod krylov;
mod methods;
mod motion;
mod multibody;
mod orders;
mod peers;
#[cfg(feature = "peers")]
mod products;
mod redundancy;
mod scenes;
mod solids;
mod solvers;
mod verify;
mod vibrations;

/// How a command ended: its exit code, or the failure to be printed.
pub(crate) type Ended = Result<ExitCode, Box<dyn Error>>;

/// One command: its name, its purpose in one line, and its entry point, which takes the arguments
/// behind the name.
pub(crate) struct Command {
    pub(crate) name: &'static str,
    pub(crate) summary: &'static str,
    pub(crate) run: fn(&[String]) -> Ended,
}

const fn command(name: &'static str, summary: &'static str, run: fn(&[String]) -> Ended) -> Command {
    Command { name, summary, run }
}

/// Every command, in the order in which the help lists them.
pub(crate) const COMMANDS: &[Command] = &[
    command(
        "scenes",
        "chains, stiff springs, linkages, the numerical part of the ledger  [--quick]",
        scenes::run,
    ),
    command(
        "motion",
        "chains and nets in free motion by each method  [methods, chain, net, h=0.01, t=3, most=64]",
        motion::run,
    ),
    command(
        "methods",
        "energy that the scheme takes of the shipped scenes, by the linear step and by SDIRK2  [scenes]",
        methods::run,
    ),
    command(
        "solvers",
        "linear solvers on chains, nets and solids  [--quick, --large, --peers, --help, ...]",
        solvers::run,
    ),
    command(
        "krylov",
        "iterative linear solvers on solids  [sizes]",
        krylov::run,
    ),
    command(
        "factors",
        "factors by blocks and by entries of chains and grids",
        factors::run,
    ),
    command(
        "fronts",
        "factors by fronts of nets and solids  [parts of names]",
        fronts::run,
    ),
    #[cfg(feature = "peers")]
    command(
        "products",
        "products of sparse matrices beside faer's  [sizes]",
        products::run,
    ),
    command(
        "contacts",
        "solvers of contact problems  [--peers, scenes]",
        contacts::run,
    ),
    command(
        "contact-scenes",
        "whole steps of scenes of contacts  [--peers, --quick, --split, --exact, --lagged, --convex, --steps=N, scenes]",
        contact_scenes::run,
    ),
    command(
        "delassus",
        "the Delassus operator on threads  [threads]",
        delassus::run,
    ),
    command(
        "corpus",
        "performance profiles on the corpus  [--write]",
        corpus::run,
    ),
    command(
        "orders",
        "errors of the integrators over steps, over stiffness and over time  [stiffness, work-precision, --quick, --write, --peers]",
        orders::run,
    ),
    command(
        "multibody",
        "multibody benchmark problems  [--quick, --write, --only TEXT]",
        multibody::run,
    ),
    command(
        "redundancy",
        "what redundant rows cost at rest and in steps  [--quick]",
        redundancy::run,
    ),
    command(
        "vibrations",
        "the energy of a beam over 1,000 periods  [--quick, --write]",
        vibrations::run,
    ),
    command(
        "gradients",
        "derivatives of steps beside the steps, or beside MuJoCo's and MJX's  [--quick, --peers]",
        gradients::run,
    ),
    command(
        "solids",
        "steps of elastic solids  [--times, --threads N, --products, --sizes, --most N, --peers]",
        solids::run,
    ),
    command(
        "peers",
        "four scenes in Pliant, Rapier and MuJoCo, error beside time  [--scene A,B,C,D, --only pliant,rapier,mujoco, --cap SECONDS, --quick, --write, ...]",
        peers::run,
    ),
    command("verify", "the reference cases  [--all]", verify::run),
];

/// Writes a picture into `docs/book/src/pictures`.
fn write_picture(name: &str, picture: &str) -> Result<(), String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../docs/book/src/pictures")
        .join(name);
    std::fs::write(&path, picture).map_err(|e| format!("cannot write {}: {e}", path.display()))
}
