//! `cargo xtask python`, `cargo xtask robots` and `cargo xtask wheel`: the Python package in
//! `python/`, tested as a user installs it, compared with another program on robots that packages
//! ship, and built to be given away.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::error::Error;
use crate::metadata::Metadata;
use crate::{flags, process};

/// Packages that build and test it.
const TOOLS: &[&str] = &[
    "maturin>=1.9,<2",
    "numpy>=1.23",
    "pytest>=8",
    "pytest-xdist>=3.6",
    "mypy>=1.15",
    "gymnasium>=1.1",
    "ray>=2.40",
    "jax>=0.4.36",
];

/// Packages that build it, and MuJoCo.
const ROBOTS: &[&str] = &["maturin>=1.9,<2", "numpy>=1.23", "mujoco==4.0.0"];

/// Packages of robot descriptions, without the programs that they are for.
const DESCRIPTIONS: &[&str] = &[
    "example-robot-data==6.0.0",
    "gymnasium==1.4.0",
    "gymnasium-robotics==1.4.2",
];

/// The names that an interpreter may have.
const INTERPRETERS: [&str; 2] = ["python3", "python"];

/// Prints a version from 3.10 on, and fails on an older one.
const VERSION: &str = "import sys; assert sys.version_info >= (3, 10); print(sys.version)";

/// The virtual environment of the gate, in the target folder.
struct Environment {
    root: PathBuf,
    folder: PathBuf,
    target: PathBuf,
}

impl Environment {
    /// Makes the environment of this name, or takes the one of the same Python, and installs the
    /// tools that are missing.
    fn prepare(name: &str, tools: &[&str]) -> Result<Self, Error> {
        let (interpreter, version) = interpreter().ok_or(Error::NoPython)?;
        let target = Metadata::of_workspace()?.target_folder;
        let environment = Self {
            root: process::workspace_root()?,
            folder: target.join("python").join(name),
            target,
        };
        if version_of(environment.program("python")).as_deref() != Some(&version) {
            let mut command = Command::new(interpreter);
            command.args(["-m", "venv", "--clear"]).arg(&environment.folder);
            process::capture(command)?;
        }
        let mut install = environment.pip();
        // Most of their modules are never imported.
        install.arg("--no-compile").args(tools);
        process::capture(install)?;
        Ok(environment)
    }

    /// A program of the environment.
    fn program(&self, name: &str) -> PathBuf {
        let programs = if cfg!(windows) { "Scripts" } else { "bin" };
        self.folder.join(programs).join(name)
    }

    /// Its interpreter, in a folder where the sources of the package are not found by chance.
    fn python(&self) -> Command {
        let mut command = Command::new(self.program("python"));
        command.current_dir(&self.folder);
        command
    }

    fn pip(&self) -> Command {
        let mut command = self.python();
        command.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]);
        command
    }

    /// The search path of programs, with those of the environment first.
    fn path(&self) -> OsString {
        let own = self.program("python").with_file_name("");
        let rest = std::env::var_os("PATH").unwrap_or_default();
        let all = std::iter::once(own).chain(std::env::split_paths(&rest));
        std::env::join_paths(all).unwrap_or(rest)
    }

    fn sources(&self) -> PathBuf {
        self.root.join("python")
    }
}

/// The first interpreter that is new enough, and its version.
pub(crate) fn interpreter() -> Option<(&'static str, String)> {
    INTERPRETERS
        .iter()
        .find_map(|name| Some((*name, version_of(Path::new(name))?)))
}

/// The version of an interpreter from 3.10 on; `None` of others, and where there is none.
fn version_of(interpreter: impl AsRef<Path>) -> Option<String> {
    let mut command = Command::new(interpreter.as_ref());
    command.args(["-c", VERSION]);
    let printed = process::capture(command).ok()?;
    Some(String::from_utf8_lossy(&printed).trim().to_owned())
}

/// Installs the package into an environment of its own and runs its tests, the examples and
/// doctests among them, with the program to compare with; checks its types and those of its stubs
/// beside that.
pub(crate) fn run(args: &[String]) -> Result<u8, Error> {
    flags::switches::<0>("python", args, [])?;
    let environment = Environment::prepare("environment", TOOLS)?;
    let lock = lock(&environment);
    let code = run_all(
        &environment,
        vec![build()?, compile_lock(&lock, &environment), Command::new(&lock)],
    )?;
    if code != 0 {
        return Ok(code);
    }
    // The last crate takes one core for a minute.
    let code = run_beside(&environment, install(&environment), types(&environment))?;
    if code != 0 {
        return Ok(code);
    }
    run_beside(&environment, test(&environment), stubs(&environment))
}

/// Installs the package beside MuJoCo and compares both on robots that packages ship, all of them
/// or those that are named.
pub(crate) fn robots(args: &[String]) -> Result<u8, Error> {
    let environment = Environment::prepare("robots", ROBOTS)?;
    let mut descriptions = environment.pip();
    descriptions.arg("--no-deps").args(DESCRIPTIONS);
    let mut compare = environment.python();
    let reference = environment.root.join("crates/pliant-import/reference");
    compare.arg(reference.join("robots.py")).args(args);
    let install = install(&environment);
    run_all(&environment, vec![build()?, install, descriptions, compare])
}

/// Runs commands up to the first that fails.
fn run_all(environment: &Environment, commands: Vec<Command>) -> Result<u8, Error> {
    for mut command in commands {
        announce(environment, &mut command);
        let code = process::run(command)?;
        if code != 0 {
            return Ok(code);
        }
    }
    Ok(0)
}

/// Runs two commands at the same time; what the second one prints is shown when both have ended.
/// Returns the exit code of one that fails.
fn run_beside(environment: &Environment, mut first: Command, mut second: Command) -> Result<u8, Error> {
    let name = process::describe(&second);
    announce(environment, &mut second);
    announce(environment, &mut first);
    let (code, other) = std::thread::scope(|scope| {
        let other = scope.spawn(|| process::collect(second));
        (process::run(first), other.join())
    });
    let (other, printed) = other.unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
    print!("`{name}` printed:\n{printed}");
    Ok(match code? {
        0 => other,
        code => code,
    })
}

/// Shows a command, and lets builds without isolation find maturin.
fn announce(environment: &Environment, command: &mut Command) {
    println!("$ {}", process::describe(command));
    command.env("PATH", environment.path());
}

/// Builds the program, with the crates compiled as the package takes them; the package itself is
/// left to maturin, which compiles it with settings of its own.
fn build() -> Result<Command, Error> {
    let mut build = process::cargo()?;
    build.args(["build", "--release", "--locked", "--bin", "pliant"]);
    build.args(["--package", "pliant-cli", "--package", "pliant-python"]);
    Ok(build)
}

/// Installs the package as a user does.
fn install(environment: &Environment) -> Command {
    let mut install = environment.pip();
    install.args(["--no-build-isolation", "--no-deps", "--force-reinstall"]);
    install.arg(environment.sources());
    install
}

/// The place of the program that tests the lock of simulations.
fn lock(environment: &Environment) -> PathBuf {
    let name = format!("lock{}", std::env::consts::EXE_SUFFIX);
    environment.folder.with_file_name(name)
}

/// Compiles it alone: it takes nothing of the package, whose dependencies cargo would compile
/// again with other settings than those of maturin.
fn compile_lock(program: &Path, environment: &Environment) -> Command {
    let mut compile = Command::new("rustc");
    compile.args(["--test", "--edition", "2024", "-O", "-o"]);
    compile.arg(program);
    compile.arg(environment.sources().join("tests").join("lock.rs"));
    compile
}

/// Tests of the package on two workers, which take files one by one: those of a file share what it
/// starts, such as a cluster of Ray, whose tests wait for a large part of their time.
fn test(environment: &Environment) -> Command {
    let mut test = environment.python();
    test.args(["-m", "pytest", "-n", "2", "--dist", "loadfile"]);
    test.arg(environment.sources().join("tests"));
    test.env("PLIANT_PROGRAM", program(&environment.target));
    test
}

/// A check of types, which takes the sources and not what is installed.
fn types(environment: &Environment) -> Command {
    let mut types = environment.python();
    types.current_dir(environment.sources());
    types.args(["-m", "mypy", "--strict", "pliant", "examples", "tests"]);
    types
}

/// A check that the stubs are those of what is installed.
fn stubs(environment: &Environment) -> Command {
    let mut stubs = environment.python();
    stubs.args(["-m", "mypy.stubtest", "pliant"]);
    stubs
}

/// The program `pliant` as a release build leaves it.
fn program(target: &Path) -> PathBuf {
    target
        .join("release")
        .join(format!("pliant{}", std::env::consts::EXE_SUFFIX))
}

/// Builds a wheel into `target/wheels`; with `--dist` by the profile of published binaries.
pub(crate) fn wheel(args: &[String]) -> Result<u8, Error> {
    let [dist] = flags::switches("wheel", args, ["--dist"])?;
    let environment = Environment::prepare("environment", TOOLS)?;
    let mut command = Command::new(environment.program("maturin"));
    command.current_dir(environment.sources());
    command.args([
        "build",
        "--locked",
        "--profile",
        if dist { "dist" } else { "release" },
    ]);
    command.arg("--out").arg(environment.target.join("wheels"));
    process::run(command)
}
