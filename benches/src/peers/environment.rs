//! A Python with the package `mujoco`.

use std::fmt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// The packages, whose versions the tables name.
const PACKAGES: [&str; 2] = ["mujoco==4.0.0", "numpy==2.4.6"];

/// A Python that has the packages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Environment {
    python: PathBuf,
}

/// Why there is no Python with the packages.
#[derive(Debug)]
pub enum EnvironmentError {
    /// A program cannot be started.
    Start(String, std::io::Error),
    /// A program failed, by the last line that it wrote.
    Failed(String, String),
    /// The record of what is installed cannot be written.
    Record(PathBuf, std::io::Error),
}

impl fmt::Display for EnvironmentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Start(program, error) => write!(f, "{program}: cannot be started: {error}"),
            Self::Failed(program, line) => write!(f, "{program}: {line}"),
            Self::Record(path, error) => write!(f, "cannot write {}: {error}", path.display()),
        }
    }
}

impl std::error::Error for EnvironmentError {}

impl Environment {
    /// A Python that is said to have the packages.
    pub fn given(python: PathBuf) -> Self {
        Self { python }
    }

    /// That in a folder with MuJoCo, as [`with_packages`](Self::with_packages) makes it.
    ///
    /// # Errors
    /// [`EnvironmentError`] if Python cannot be started, or pip fails, as it does without a network.
    pub fn in_folder(folder: &Path) -> Result<Self, EnvironmentError> {
        Self::with_packages(folder, &PACKAGES)
    }

    /// That in a folder with packages, made there by `python3 -m venv` and pip if it is not there
    /// with the same versions.
    ///
    /// # Errors
    /// If Python cannot be started, or pip fails, as it does without a network.
    pub fn with_packages(folder: &Path, packages: &[&str]) -> Result<Self, EnvironmentError> {
        let inside = if cfg!(windows) {
            "Scripts/python.exe"
        } else {
            "bin/python"
        };
        let python = folder.join(inside);
        let record = folder.join("packages.txt");
        let wanted = packages.join("\n");
        if std::fs::read_to_string(&record).is_ok_and(|found| found == wanted) {
            return Ok(Self { python });
        }
        let system = if cfg!(windows) { "python" } else { "python3" };
        succeed(
            system,
            Command::new(system).args(["-m", "venv", "--clear"]).arg(folder),
        )?;
        let pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"];
        succeed("pip", Command::new(&python).args(pip).args(packages))?;
        std::fs::write(&record, wanted).map_err(|e| EnvironmentError::Record(record, e))?;
        Ok(Self { python })
    }

    /// The program.
    pub fn python(&self) -> &Path {
        &self.python
    }
}

/// Starts a script of `benches/reference` by a Python, with pipes to all that it reads and writes.
///
/// # Errors
/// If that cannot be started.
pub fn start_script(python: &Path, script: &str) -> Result<Child, EnvironmentError> {
    Command::new(python)
        .arg(
            Path::new(env!("CARGO_MANIFEST_DIR"))
                .join("reference")
                .join(script),
        )
        // MuJoCo writes a file of warnings to where it runs.
        .current_dir(std::env::temp_dir())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|e| EnvironmentError::Start(python.display().to_string(), e))
}

fn succeed(name: &str, command: &mut Command) -> Result<(), EnvironmentError> {
    let output = command
        .output()
        .map_err(|e| EnvironmentError::Start(name.to_owned(), e))?;
    if output.status.success() {
        return Ok(());
    }
    let text = String::from_utf8_lossy(&output.stderr);
    let last = text.lines().rev().find(|line| !line.trim().is_empty());
    let last = last.map_or_else(|| output.status.to_string(), |line| line.trim().to_owned());
    Err(EnvironmentError::Failed(name.to_owned(), last))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_that_cannot_be_made_is_an_error_and_one_that_is_ready_is_taken() {
        let folder = std::env::temp_dir().join(format!("pliant-peers-{}", std::process::id()));
        // A file where the folder is to be.
        std::fs::write(&folder, "").unwrap();
        let error = Environment::in_folder(&folder).unwrap_err();
        assert!(!error.to_string().is_empty());
        std::fs::remove_file(&folder).unwrap();
        std::fs::create_dir(&folder).unwrap();
        std::fs::write(folder.join("packages.txt"), PACKAGES.join("\n")).unwrap();
        assert!(
            Environment::in_folder(&folder)
                .unwrap()
                .python()
                .starts_with(&folder)
        );
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
