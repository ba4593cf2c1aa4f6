//! The command line.

mod values;

use clap::builder::PossibleValuesParser;
use clap::{Args, Parser, Subcommand};
use pliant_run::Every;
use pliant_scene::{
    BuiltScene, INTEGRATORS, LARGEST_SCENE, Limits, Number, Reading, SceneError, SceneFile, Settings,
    ThreadChoice,
};
use pliant_sweep::plan::MOST_JOBS;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use values::{
    assignment, at_least_one, coordinate, every, every_as_text, finite, package, position, positive, size,
    workers,
};

/// Compliant mechanics from scene files: one number per constraint, from soft spring to exactly
/// hard.
#[derive(Debug, Parser)]
#[command(name = "pliant", version, arg_required_else_help = true)]
pub(crate) struct Arguments {
    /// The command.
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run a scene and write its results.
    Run(Run),
    /// Find what a run of a scene would refuse or warn of, and print its sizes.
    Check(Check),
    /// Print what is in a file: a scene, results of a run, a table, a mesh, a robot description.
    Info(Info),
    /// Run a scene and draw pictures of it as PNG files: one, or all frames of a video.
    Render(Render),
    /// Run a scene in a page of the browser that plays it live: drag things, change parameters; it
    /// is read again when its file changes.
    View(View),
    /// Find the lowest modes of vibration of a scene about its rest, or its buckling loads.
    Modes(Modes),
    /// Find the positions of a scene from the places of markers on it over time: inverse kinematics.
    Ik(Ik),
    /// Print where nodes of a scene are at its end, and how that changes with its parameters: exact
    /// derivatives.
    Gradient(Gradient),
    /// Solve a problem from a file, such as a dumped solve, with any solver.
    Solve(Solve),
    /// Run a scene many times over values of its parameters, with the results in one table.
    Sweep(Sweep),
    /// Turn a robot description (URDF, MJCF), an OpenSim model or a scene of SOFA (SCN) into a
    /// scene.
    Import(Import),
    /// Write a scene to begin with; without a name, list those that there are.
    New(New),
    /// Draw columns of a table of results over time, as an SVG picture.
    Plot(Plot),
    /// List what may stand in a scene; with a name, its keys with their units.
    Components(Components),
    /// Print the completions of a shell, to be read when it starts.
    Completions(Completions),
    /// Write the pages of the manual: `pliant.1`, and one for each command.
    #[command(hide = true)]
    Man(Man),
    /// Print the JSON Schema of scenes, by which editors complete and check those in JSON.
    Schema,
}

#[derive(Debug, Args)]
pub(crate) struct Ik {
    #[command(flatten)]
    pub(crate) scene: Scene,
    /// Places of the markers: a file of the format TRC, or a table (.csv) with the columns `time_s`
    /// and `NAME.x_m`, `NAME.y_m`, `NAME.z_m` of each, which is the node of its name in the scene
    #[arg(value_name = "MARKERS")]
    pub(crate) markers: PathBuf,
    /// Weight of a marker's squared distance; may be repeated [default: 1 for each]
    #[arg(long, value_name = "NAME=W", value_parser = coordinate)]
    pub(crate) weight: Vec<(String, f64)>,
    /// Write the coordinates of joints, the distances of markers and a page that plays the motion
    /// into this directory, made if missing
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Print one object of JSON instead of a table
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Plot {
    /// Directory of the results of a run, or a table of it (.csv)
    #[arg(value_name = "RESULTS")]
    pub(crate) results: PathBuf,
    /// Columns to draw, with or without their unit, or the beginning of their names and `*`; all by
    /// default
    #[arg(value_name = "COLUMN")]
    pub(crate) columns: Vec<String>,
    /// Column to draw them over [default: the first, as a rule the time; of a path of equilibria its
    /// load]
    #[arg(long, value_name = "COLUMN")]
    pub(crate) over: Option<String>,
    /// List the columns instead
    #[arg(long, conflicts_with_all = ["columns", "over", "output"])]
    pub(crate) list: bool,
    /// Picture to write [default: plot.svg beside the table]
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct Components {
    /// A kind such as `Particles` or `Distance`, or a choice such as `law`
    #[arg(value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// Print all keys and kinds as a page of Markdown
    #[arg(long, conflicts_with = "name")]
    pub(crate) markdown: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Completions {
    /// The shell
    #[arg(value_name = "SHELL")]
    pub(crate) shell: clap_complete::Shell,
}

#[derive(Debug, Args)]
pub(crate) struct Man {
    /// Folder to write them into, which is there
    #[arg(value_name = "FOLDER")]
    pub(crate) folder: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct New {
    /// Scene to begin with, such as `pendulum`
    pub(crate) template: Option<String>,
    /// File to write, `NAME.ron` by default
    #[arg(long, short, value_name = "FILE", requires = "template")]
    pub(crate) output: Option<PathBuf>,
}

#[derive(Clone, Debug, Args)]
pub(crate) struct Run {
    #[command(flatten)]
    pub(crate) scene: Scene,
    /// Directory of the results, made if missing [default: out/<name of the scene>]
    #[arg(long, value_name = "DIR", conflicts_with = "no_files")]
    pub(crate) out: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) timing: Timing,
    #[command(flatten)]
    pub(crate) threads: Threads,
    /// Also write the way of every body: trajectory.csv, a line for each body and picture
    #[arg(long, conflicts_with_all = ["no_files", "only_result"])]
    pub(crate) trajectory: bool,
    /// Also write tables of joints, probes and bodies as Parquet files
    #[arg(long, conflicts_with_all = ["no_files", "only_result"])]
    pub(crate) parquet: bool,
    /// Write no files, and keep no pictures in memory
    #[arg(long)]
    pub(crate) no_files: bool,
    /// Write result.json and the manifest alone, and keep no pictures in memory
    #[arg(long, conflicts_with = "no_files")]
    pub(crate) only_result: bool,
    /// Write the state at the end as a JSON file, from which other scenes start by `start_from`
    #[arg(long, value_name = "FILE", conflicts_with = "distributed")]
    pub(crate) save: Option<PathBuf>,
    /// Write a checkpoint as often as this: a time of the clock such as 30s, 5min or 2h, or a
    /// number of steps such as 100steps
    #[arg(long, value_name = "TIME", value_parser = every, conflicts_with = "no_files")]
    pub(crate) checkpoint_every: Option<Every>,
    /// Go on from the checkpoint among the results, which a run leaves there that was interrupted,
    /// or killed while it wrote checkpoints
    #[arg(long, conflicts_with = "no_files")]
    pub(crate) resume: bool,
    /// Go on from the checkpoint among the results if there is a whole one of this very run, and
    /// begin anew if not
    #[arg(long, conflicts_with_all = ["no_files", "resume"])]
    pub(crate) resume_or_start: bool,
    /// End as at Ctrl-C when standard input ends, as it does when the program that started this
    /// one has ended
    #[arg(long)]
    pub(crate) stop_at_eof: bool,
    /// Share the elements and spread the linear systems over the processes that `mpirun -n N`
    /// starts; only in programs that were built with the feature `petsc`
    #[arg(long)]
    pub(crate) distributed: bool,
    /// If a step fails, write the system that its solver failed on into this directory, for
    /// `pliant solve` or a report
    #[arg(long, value_name = "DIR")]
    pub(crate) dump_failed_solve: Option<PathBuf>,
    /// Print all numbers of the run, and what each is
    #[arg(long, short, conflicts_with_all = ["quiet", "json"])]
    pub(crate) verbose: bool,
    /// Print lines of JSON instead of words: how far the run is, ten times in a second, and at its
    /// end the numbers of `result.json`
    #[arg(long, conflicts_with = "quiet")]
    pub(crate) json: bool,
    /// Print nothing but errors
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Render {
    #[command(flatten)]
    pub(crate) scene: Scene,
    #[command(flatten)]
    pub(crate) timing: Timing,
    #[command(flatten)]
    pub(crate) threads: Threads,
    /// Draw the frames of a video, not one picture alone
    #[arg(long)]
    pub(crate) frames: bool,
    /// Draw the moment at this time in seconds [default: the end]
    #[arg(
        long,
        value_name = "T",
        conflicts_with = "frames",
        allow_negative_numbers = true
    )]
    pub(crate) time: Option<f64>,
    /// File of the picture, or directory of the frames [default: <name of the scene>.png, or
    /// out/<name of the scene>-frames]
    #[arg(long, short, value_name = "PATH")]
    pub(crate) output: Option<PathBuf>,
    /// Width and height of a picture in pixels
    #[arg(long, value_name = "WIDTHxHEIGHT", default_value = "1280x720", value_parser = size)]
    pub(crate) size: [u32; 2],
    /// Frames in each second of the video
    #[arg(long, value_name = "N", default_value_t = 25.0, requires = "frames")]
    pub(crate) fps: f64,
    /// Simulated seconds in each second of the video
    #[arg(long, value_name = "X", default_value_t = 1.0, requires = "frames")]
    pub(crate) speed: f64,
    /// Look from a view that the scene names under `picture`, at `moving` (all that moves) or `all`,
    /// from `front`, `side` or `top` as in the player, or from one place to another one:
    /// X,Y,Z,X,Y,Z in m [default: the camera of the scene, or `moving`]
    #[arg(long, value_name = "VIEW", allow_hyphen_values = true)]
    pub(crate) view: Option<String>,
    /// Print nothing but errors
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

#[derive(Debug, Args)]
pub(crate) struct View {
    #[command(flatten)]
    pub(crate) scene: Scene,
    #[command(flatten)]
    pub(crate) timing: Timing,
    #[command(flatten)]
    pub(crate) threads: Threads,
    /// Serve the page at this port of the loopback interface [default: any that is free]
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    pub(crate) port: u16,
    /// Print the address of the page, and open no browser
    #[arg(long)]
    pub(crate) no_open: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Sweep {
    #[command(flatten)]
    pub(crate) plan: SweepPlan,
    /// Run the jobs of this manifest of a sweep
    #[arg(long, value_name = "FILE", conflicts_with_all = OF_PLANS)]
    pub(crate) manifest: Option<PathBuf>,
    /// Write the table into this file, .csv or .parquet; may be repeated [default: table.csv in the
    /// directory of the sweep]
    #[arg(long, short = 'o', value_name = "FILE")]
    pub(crate) table: Vec<PathBuf>,
    /// Run so many jobs at the same time, 256 at most [default: the number of cores]
    #[arg(long, short = 'j', value_name = "N", value_parser = workers)]
    pub(crate) jobs: Option<usize>,
    /// Print the manifest, and run and write nothing
    #[arg(long, conflicts_with_all = ["collect", "table"])]
    pub(crate) dry_run: bool,
    /// Run nothing, and write the table of the results that are there
    #[arg(long)]
    pub(crate) collect: bool,
    /// Begin no other job once one has failed
    #[arg(long)]
    pub(crate) fail_fast: bool,
    /// Print nothing but errors
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

/// Names of the arguments of [`SweepPlan`] itself, and of the groups of arguments in it.
const OF_PLANS: [&str; 10] = [
    "scene",
    "set",
    "list",
    "result",
    "out",
    "all_files",
    "checkpoint_every",
    "max_jobs",
    "Timing",
    "Bounds",
];

/// The arguments that a manifest is made of.
#[derive(Debug, Args)]
pub(crate) struct SweepPlan {
    /// The scene file, .ron or .json
    #[arg(value_name = "SCENE", required_unless_present = "manifest")]
    pub(crate) scene: Option<PathBuf>,
    /// Values of a parameter, separated by commas: numbers, expressions such as pi/4,
    /// linspace(FROM, TO, COUNT), geomspace(FROM, TO, COUNT); repeated for further parameters, all
    /// combinations are run
    #[arg(long, value_name = "NAME=VALUES", allow_hyphen_values = true)]
    pub(crate) set: Vec<String>,
    /// A table of parameters as comma-separated values, one job a line under a line of names; its
    /// lines are combined with all values of --set
    #[arg(long, value_name = "FILE")]
    pub(crate) list: Vec<PathBuf>,
    /// A quantity of result.json that the table is to have first, such as energy_end.total or
    /// state.bob.positions; may be repeated
    #[arg(long, value_name = "PATH")]
    pub(crate) result: Vec<String>,
    /// Directory of the sweep, made if missing [default: out/<name of the scene>-sweep]
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) timing: Timing,
    /// Write all files of each run, not result.json alone
    #[arg(long)]
    pub(crate) all_files: bool,
    /// Let each job write checkpoints as often as this, as for `pliant run`
    #[arg(long, value_name = "TIME", value_parser = every_as_text)]
    pub(crate) checkpoint_every: Option<String>,
    #[command(flatten)]
    pub(crate) bounds: Bounds,
    /// Let the sweep have so many jobs
    #[arg(long, value_name = "N", default_value_t = MOST_JOBS)]
    pub(crate) max_jobs: usize,
}

#[derive(Debug, Args)]
pub(crate) struct Modes {
    #[command(flatten)]
    pub(crate) scene: Scene,
    /// Find so many, or all if there are fewer
    #[arg(long, short = 'n', value_name = "N", default_value_t = 10, value_parser = at_least_one)]
    pub(crate) count: usize,
    /// Take the state of the scene as it is, instead of the equilibrium near it
    #[arg(long, conflicts_with = "buckling")]
    pub(crate) present: bool,
    /// Find the load factors at which the equilibrium buckles
    #[arg(long)]
    pub(crate) buckling: bool,
    /// A load that the factor scales: `gravity`, or a force field or driven constraint of the
    /// scene; may be repeated [default: those of the `statics` of the scene, else gravity]
    #[arg(long, value_name = "NAME", requires = "buckling")]
    pub(crate) load: Vec<String>,
    /// Begin at the equilibrium with this load factor
    #[arg(
        long,
        value_name = "P",
        default_value_t = 0.0,
        requires = "buckling",
        allow_negative_numbers = true,
        value_parser = finite
    )]
    pub(crate) at: f64,
    /// Look for load factors on both sides, not only for larger ones
    #[arg(long, requires = "buckling")]
    pub(crate) both: bool,
    /// Error of an eigenvalue that is allowed, as a share
    #[arg(long, value_name = "X", default_value_t = 1e-6, value_parser = positive)]
    pub(crate) tolerance: f64,
    /// Write a swing of each mode into this directory, made if missing: a page that plays it, and
    /// files for ParaView
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Print one object of JSON instead of a table
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Gradient {
    #[command(flatten)]
    pub(crate) scene: Scene,
    /// Nodes, with all of their elements, or single elements such as `bobs[1]`, whose places at the end
    /// are differentiated
    #[arg(value_name = "NODE", required = true)]
    pub(crate) of: Vec<String>,
    /// Parameters of the scene to differentiate by, each with the others of them held
    /// [default: all]
    #[arg(long, value_name = "NAME,..", value_delimiter = ',')]
    pub(crate) by: Vec<String>,
    /// Differentiate velocities instead of places
    #[arg(long)]
    pub(crate) velocities: bool,
    /// Smooth contacts in the derivatives by a barrier of this energy in joules, so that those
    /// that are near count before they touch
    #[arg(long, value_name = "J", allow_negative_numbers = true)]
    pub(crate) smoothing: Option<f64>,
    #[command(flatten)]
    pub(crate) timing: Timing,
    #[command(flatten)]
    pub(crate) threads: Threads,
    /// Print one object of JSON instead of a table
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Solve {
    /// The problem, a .json file; its matrices are beside it or within
    #[arg(value_name = "FILE")]
    pub(crate) path: PathBuf,
    /// Name of the solver [default: box for a system, auto for cones]
    #[arg(long, value_name = "NAME", conflicts_with = "all")]
    pub(crate) solver: Option<String>,
    /// Run every solver for this kind of problem
    #[arg(long)]
    pub(crate) all: bool,
    /// Residual that counts as converged
    #[arg(long, value_name = "X", default_value = "1e-9")]
    pub(crate) tolerance: f64,
    /// Iterations at most
    #[arg(long, value_name = "N", default_value_t = 5000)]
    pub(crate) iterations: usize,
    /// Print JSON instead of a table, with the answer
    #[arg(long)]
    pub(crate) json: bool,
    /// Read files of up to so many MiB [default: 256]
    #[arg(long, value_name = "MIB")]
    pub(crate) max_file_size: Option<u32>,
}

#[derive(Debug, Args)]
pub(crate) struct Import {
    /// The robot description, a .urdf, .xml or .osim file, or a scene of SOFA, .scn
    #[arg(value_name = "FILE")]
    pub(crate) path: PathBuf,
    /// The scene to write, a .ron file [default: <name of the file>.ron]
    #[arg(long, short, value_name = "SCENE")]
    pub(crate) output: Option<PathBuf>,
    /// Write over a scene that is there
    #[arg(long)]
    pub(crate) force: bool,
    /// Let package://NAME/ stand for a directory (`share`: of SOFA's meshes); may be repeated
    #[arg(long, value_name = "NAME=DIR", value_parser = package)]
    pub(crate) package: Vec<(String, PathBuf)>,
    /// Let the base of a URDF robot move, which is fixed to the world otherwise
    #[arg(long)]
    pub(crate) floating: bool,
    /// Place the base of a URDF robot there, in m [default: the origin]
    #[arg(long, value_name = "X,Y,Z", value_parser = position, allow_hyphen_values = true)]
    pub(crate) at: Option<[f64; 3]>,
    /// Let the links of a URDF robot collide with each other, but for those that a joint joins
    #[arg(long)]
    pub(crate) self_collision: bool,
    /// Add a plane at z = 0 (y = 0 of OpenSim) that everything collides with
    #[arg(long)]
    pub(crate) ground: bool,
    /// Start a joint, or a coordinate of OpenSim, at this value in m or rad; may be repeated
    #[arg(long, value_name = "JOINT=VALUE", value_parser = coordinate, allow_hyphen_values = true)]
    pub(crate) start: Vec<(String, f64)>,
    /// Print nothing but errors
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Check {
    #[command(flatten)]
    pub(crate) scene: Scene,
    /// Let warnings be errors
    #[arg(long)]
    pub(crate) strict: bool,
    /// Print one object of JSON instead of words
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Info {
    /// A scene (.ron, .json), the directory of a run or its result.json, a table (.csv), a mesh, a
    /// robot description (.urdf, .xml), an OpenSim model (.osim) or a scene of SOFA (.scn)
    #[arg(value_name = "FILE")]
    pub(crate) path: PathBuf,
    /// Print one object of JSON instead of words
    #[arg(long)]
    pub(crate) json: bool,
    /// Take the first step of a scene, and print the condition number of its matrix and the
    /// direction that is weakest
    #[arg(long)]
    pub(crate) spectrum: bool,
    /// Give a parameter of a scene another value, a number or an expression such as pi/4
    #[arg(long, value_name = "NAME=VALUE", value_parser = assignment, allow_hyphen_values = true)]
    pub(crate) set: Vec<(String, Number)>,
    #[command(flatten)]
    pub(crate) bounds: Bounds,
}

#[derive(Clone, Debug, Args)]
pub(crate) struct Scene {
    /// The scene file, .ron or .json
    #[arg(value_name = "SCENE")]
    pub(crate) path: PathBuf,
    /// Give a parameter of the scene another value, a number or an expression such as pi/4
    #[arg(long, value_name = "NAME=VALUE", value_parser = assignment, allow_hyphen_values = true)]
    pub(crate) set: Vec<(String, Number)>,
    #[command(flatten)]
    pub(crate) bounds: Bounds,
}

/// Times of a run.
#[derive(Clone, Debug, Args)]
pub(crate) struct Timing {
    /// Simulated time in seconds, instead of the scene's
    #[arg(long, value_name = "T", allow_negative_numbers = true)]
    pub(crate) duration: Option<f64>,
    /// Length of a step in seconds, instead of the scene's
    #[arg(long, value_name = "H", allow_negative_numbers = true)]
    pub(crate) step: Option<f64>,
    /// Integrator, with the numbers that it has by default, instead of the scene's
    #[arg(long, value_name = "NAME", value_parser = PossibleValuesParser::new(INTEGRATORS.map(|(name, _)| name)))]
    pub(crate) integrator: Option<String>,
}

impl Timing {
    /// Refuses times where the scene is of statics, which takes none: they would change nothing.
    pub(crate) fn check(&self, built: &BuiltScene) -> Result<(), SceneError> {
        let given = [
            (self.duration.is_some(), "--duration"),
            (self.step.is_some(), "--step"),
            (self.integrator.is_some(), "--integrator"),
        ];
        match given.iter().find(|(is_given, _)| *is_given) {
            Some((_, argument)) if built.statics.is_some() => Err(SceneError::Setting {
                message: format!("`{argument}` has no effect: the scene is of statics, which takes no steps"),
                help: Some("leave it out, or take `statics` out of `run`".to_owned()),
            }),
            _ => Ok(()),
        }
    }

    /// The words that say the same to another run.
    pub(crate) fn words(&self) -> Vec<String> {
        let all = [("--duration", self.duration), ("--step", self.step)];
        let word = |(name, value): (&str, Option<f64>)| Some(format!("{name}={:?}", value?));
        let integrator = self.integrator.iter();
        let integrator = integrator.map(|name| format!("--integrator={name}"));
        all.into_iter().filter_map(word).chain(integrator).collect()
    }
}

/// Threads of a run.
#[derive(Clone, Copy, Debug, Default, Args)]
pub(crate) struct Threads {
    /// Share the work of a step by so many threads; no result depends on their number [default:
    /// what the scene says, else as many as there are cores]
    #[arg(long = "threads", value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) count: Option<u16>,
}

/// The number of cores that this process may use; one if the system does not say.
pub(crate) fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, NonZeroUsize::get)
}

impl From<Threads> for ThreadChoice {
    fn from(threads: Threads) -> Self {
        match threads.count {
            Some(count) => Self::Exactly(count.into()),
            None => Self::SceneOr(cores()),
        }
    }
}

/// Bounds of what a scene may read and have.
#[derive(Clone, Debug, Args)]
pub(crate) struct Bounds {
    /// Let the scene read the meshes in this directory, too, which is not below its own; may be
    /// repeated
    #[arg(long, value_name = "DIR")]
    pub(crate) allow_outside: Vec<PathBuf>,
    /// Let the scene have so many elements in all of its nodes [default: 1000000]
    #[arg(long, value_name = "N")]
    pub(crate) max_elements: Option<usize>,
    /// Read scene and mesh files of up to so many MiB [default: 64 and 256]
    #[arg(long, value_name = "MIB")]
    pub(crate) max_file_size: Option<u32>,
}

impl Bounds {
    /// The words that say the same to another run, but for directories, whose paths depend on where
    /// it is run.
    pub(crate) fn words(&self) -> Vec<String> {
        let elements = self.max_elements.map(|most| format!("--max-elements={most}"));
        let size = self.max_file_size.map(|most| format!("--max-file-size={most}"));
        elements.into_iter().chain(size).collect()
    }
}

/// Bytes of so many MiB.
pub(crate) fn mebibytes(count: u32) -> u64 {
    u64::from(count) << 20
}

impl Scene {
    /// Reads the file.
    pub(crate) fn load(&self) -> Result<SceneFile, SceneError> {
        let bounds = &self.bounds;
        if let Some(none) = bounds.allow_outside.iter().find(|path| !path.is_dir()) {
            return Err(SceneError::Setting {
                message: format!("--allow-outside {}: there is no such directory", none.display()),
                help: None,
            });
        }
        let reading = Reading {
            bytes: bounds.max_file_size.map_or(LARGEST_SCENE, mebibytes),
            directories: bounds.allow_outside.clone(),
        };
        SceneFile::load_with(&self.path, &reading)
    }

    /// The values given beside the file.
    pub(crate) fn settings(&self, timing: Option<&Timing>, threads: Threads) -> Settings {
        let default = Limits::default();
        let bounds = &self.bounds;
        Settings {
            parameters: self.set.clone(),
            step: timing.and_then(|timing| timing.step),
            duration: timing.and_then(|timing| timing.duration),
            integrator: timing.and_then(|timing| timing.integrator.clone()),
            limits: Limits {
                elements: bounds.max_elements.unwrap_or(default.elements),
                mesh_bytes: bounds.max_file_size.map_or(default.mesh_bytes, mebibytes),
            },
            mesh_directories: bounds.allow_outside.clone(),
            varied: Vec::new(),
            threads: threads.into(),
        }
    }
}
