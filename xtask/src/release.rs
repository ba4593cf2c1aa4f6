//! `cargo xtask release`: everything that is given away of a version, in `target/release-VERSION/`,
//! and a look at it from a folder that holds nothing else.
//!
//! The program with its pages of the manual and completions, the wheel for this machine, the book,
//! and checksums. Packages of the crates are made by `cargo xtask package`.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::error::Error;
use crate::metadata::Metadata;
use crate::{book, flags, process, python};

/// Shells, and the names of their files of completions.
const SHELLS: [(&str, &str); 4] = [
    ("bash", "pliant.bash"),
    ("zsh", "_pliant"),
    ("fish", "pliant.fish"),
    ("powershell", "pliant.ps1"),
];

/// Prints the SHA-256 of every file below a folder, as `sha256sum` does.
const CHECKSUMS: &str = "import hashlib, pathlib, sys; root = pathlib.Path(sys.argv[1])\n\
    for p in sorted(p for p in root.rglob('*') if p.is_file() and p.name != 'SHA256SUMS'):\n    \
    print(hashlib.sha256(p.read_bytes()).hexdigest(), '', p.relative_to(root).as_posix())";

/// Runs the scene of the other check by the installed package.
const RUN_SCENE: &str = "import pliant; s = pliant.Simulation(pliant.Model.from_file('pendulum.ron')); s.step(); \
    assert s.time > 0.0, s.time; print('pliant', pliant.__version__, 'steps to', s.time, 's')";

/// The parts of a release.
struct Release {
    version: String,
    target: PathBuf,
    folder: PathBuf,
}

/// A part of a release, with its exit code.
type Step = fn(&Release) -> Result<u8, Error>;

/// Makes the folder, and checks what is in it.
pub(crate) fn run(args: &[String]) -> Result<u8, Error> {
    flags::switches::<0>("release", args, [])?;
    let workspace = Metadata::of_workspace()?;
    let program = workspace.packages.iter().find(|p| p.name == "pliant-cli");
    let version = program.map(|p| p.version.clone()).unwrap_or_default();
    let release = Release {
        folder: workspace.target_folder.join(format!("release-{version}")),
        target: workspace.target_folder,
        version,
    };
    let steps: [Step; 6] = [
        Release::build,
        Release::add_program,
        Release::add_wheel,
        Release::add_book,
        Release::check_program,
        Release::check_wheel,
    ];
    clear(&release.folder)?;
    for step in steps {
        let code = step(&release)?;
        if code != 0 {
            return Ok(code);
        }
    }
    release.add_checksums()?;
    println!("{}", release.folder.display());
    Ok(0)
}

impl Release {
    fn name_of_program(&self) -> String {
        format!("pliant{}", std::env::consts::EXE_SUFFIX)
    }

    fn build(&self) -> Result<u8, Error> {
        let mut command = process::cargo()?;
        command.args(["build", "--profile", "dist", "--locked"]);
        command.args(["--package", "pliant-cli", "--bin", "pliant"]);
        told(command)
    }

    /// The program, its licence, its manual and its completions.
    fn add_program(&self) -> Result<u8, Error> {
        let name = self.name_of_program();
        copy(&self.target.join("dist").join(&name), &self.folder.join(&name))?;
        copy(
            &process::workspace_root()?.join("LICENSE"),
            &self.folder.join("LICENSE"),
        )?;
        let manual = self.folder.join("man");
        make(&manual)?;
        let mut pages = Command::new(self.folder.join(&name));
        pages.arg("man").arg(&manual);
        let code = told(pages)?;
        let completions = self.folder.join("completions");
        make(&completions)?;
        for (shell, file) in SHELLS {
            let mut script = Command::new(self.folder.join(&name));
            script.args(["completions", shell]);
            write(&completions.join(file), &process::capture(script)?)?;
        }
        Ok(code)
    }

    fn add_wheel(&self) -> Result<u8, Error> {
        // Wheels of before, whose names are the same for every version of Python.
        clear(&self.target.join("wheels"))?;
        let code = python::wheel(&["--dist".to_owned()])?;
        if code != 0 {
            return Ok(code);
        }
        let wheel = self.wheel(&self.target.join("wheels"))?;
        let name = wheel.file_name().unwrap_or_default();
        copy(&wheel, &self.folder.join(name))?;
        Ok(0)
    }

    /// The wheel in a folder.
    fn wheel(&self, folder: &Path) -> Result<PathBuf, Error> {
        let failed = |source| Error::File {
            path: folder.to_owned(),
            source,
        };
        for entry in std::fs::read_dir(folder).map_err(failed)? {
            let path = entry.map_err(failed)?.path();
            if path.extension().is_some_and(|extension| extension == "whl") {
                return Ok(path);
            }
        }
        Err(failed(std::io::Error::other("holds no wheel")))
    }

    /// The book, from the folder that its task writes.
    fn add_book(&self) -> Result<u8, Error> {
        let code = book::run(&[])?;
        if code == 0 {
            copy_all(&self.target.join("book/html"), &self.folder.join("book"))?;
        }
        Ok(code)
    }

    /// Runs a scene where there is nothing but the program.
    fn check_program(&self) -> Result<u8, Error> {
        let place = self.target.join("release-check");
        clear(&place)?;
        let name = self.name_of_program();
        copy(&self.folder.join(&name), &place.join(&name))?;
        for words in [&["new", "pendulum"][..], &["run", "pendulum.ron", "--quiet"]] {
            let mut command = Command::new(place.join(&name));
            command.current_dir(&place).args(words);
            let code = told(command)?;
            if code != 0 {
                return Ok(code);
            }
        }
        let result = place.join("out/pendulum/result.json");
        match result.is_file() {
            true => Ok(0),
            false => {
                println!("the program of the release left no {}", result.display());
                Ok(1)
            }
        }
    }

    /// Installs the wheel into an environment of its own and takes a step there.
    fn check_wheel(&self) -> Result<u8, Error> {
        let place = self.target.join("release-check");
        let environment = place.join("environment");
        let (interpreter, _) = python::interpreter().ok_or(Error::NoPython)?;
        let mut make = Command::new(interpreter);
        make.args(["-m", "venv"]).arg(&environment);
        let programs = if cfg!(windows) { "Scripts" } else { "bin" };
        let python = environment.join(programs).join("python");
        let mut install = Command::new(&python);
        install.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]);
        install.arg(self.wheel(&self.folder)?);
        let mut step = Command::new(&python);
        step.current_dir(&place).args(["-c", RUN_SCENE]);
        for command in [make, install, step] {
            let code = told(command)?;
            if code != 0 {
                return Ok(code);
            }
        }
        Ok(0)
    }

    fn add_checksums(&self) -> Result<(), Error> {
        let (interpreter, _) = python::interpreter().ok_or(Error::NoPython)?;
        let mut command = Command::new(interpreter);
        command.args(["-c", CHECKSUMS]).arg(&self.folder);
        println!("checksums of version {}", self.version);
        write(&self.folder.join("SHA256SUMS"), &process::capture(command)?)
    }
}

/// Runs a command and shows it.
fn told(command: Command) -> Result<u8, Error> {
    println!("$ {}", process::describe(&command));
    process::run(command)
}

fn at<T>(path: &Path, result: std::io::Result<T>) -> Result<T, Error> {
    result.map_err(|source| Error::File {
        path: path.to_owned(),
        source,
    })
}

fn make(folder: &Path) -> Result<(), Error> {
    at(folder, std::fs::create_dir_all(folder))
}

/// An empty folder, whatever was in it.
fn clear(folder: &Path) -> Result<(), Error> {
    if folder.is_dir() {
        at(folder, std::fs::remove_dir_all(folder))?;
    }
    make(folder)
}

fn write(path: &Path, contents: &[u8]) -> Result<(), Error> {
    at(path, std::fs::write(path, contents))
}

fn copy(from: &Path, to: &Path) -> Result<(), Error> {
    at(from, std::fs::copy(from, to)).map(|_| ())
}

/// A folder with all that is in it.
fn copy_all(from: &Path, to: &Path) -> Result<(), Error> {
    make(to)?;
    for entry in at(from, std::fs::read_dir(from))? {
        let path = at(from, entry)?.path();
        let name = path.file_name().unwrap_or_default();
        match path.is_dir() {
            true => copy_all(&path, &to.join(name))?,
            false => copy(&path, &to.join(name))?,
        }
    }
    Ok(())
}
