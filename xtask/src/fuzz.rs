//! `cargo xtask fuzz`: the readers under libFuzzer, and random scenes.

use std::ops::Range;
use std::path::Path;
use std::process::Command;

use crate::error::Error;
use crate::{flags, process};

/// Folder of the targets, one file each.
const TARGETS: &str = "fuzz/fuzz_targets";
/// Folder of the package that cargo-fuzz compiles.
const PACKAGE: &str = "fuzz";
/// Files that a fuzzer has found worth keeping, per target; the corpus itself stays as it is.
const FOUND: &str = "target/fuzz/found";
/// Folder of the compiled targets.
const BUILT: &str = "target/fuzz";

/// Steps of each random scene.
const STEPS: u32 = 60;

/// Arguments of the task, as given.
#[derive(Debug, PartialEq)]
struct Request {
    /// Names of targets; all if empty.
    targets: Vec<String>,
    /// Time for each target, in minutes.
    minutes: f64,
    /// Seeds of the scenes.
    seeds: Range<u64>,
}

/// The sorts of random scenes that a target stands for.
fn sorts(target: &str) -> Option<&'static str> {
    match target {
        "scenes" => Some("plain wild"),
        "plain-scenes" => Some("plain"),
        "wild-scenes" => Some("wild"),
        _ => None,
    }
}

/// Fuzzes targets, all of them by default, or tries random scenes if the target is `scenes`,
/// `plain-scenes` or `wild-scenes`.
pub(crate) fn run(args: &[String]) -> Result<u8, Error> {
    let root = process::workspace_root()?;
    let known = targets(&root)?;
    let request = read(args, &known)?;
    if let Some(sorts) = request.targets.iter().find_map(|t| sorts(t)) {
        return scenes(&request.seeds, sorts);
    }
    let chosen = if request.targets.is_empty() {
        known
    } else {
        request.targets
    };
    let mut version = Command::new("cargo");
    version.args(["+nightly", "fuzz", "--version"]);
    if process::capture(version).is_err() {
        eprintln!(
            "error: `cargo xtask fuzz` needs a nightly toolchain, cargo-fuzz and a C++ compiler:\n\
             \x20 rustup toolchain install nightly --profile minimal\n\
             \x20 cargo install --locked cargo-fuzz\n\
             without them, `PLIANT_MUTATIONS=1000000 cargo test --release -p pliant-fuzz-targets` tries \
             mutations of the corpus blindly"
        );
        return Ok(1);
    }
    let mut worst = 0;
    for target in chosen {
        println!("\n{target}: {} minutes", request.minutes);
        let code = process::run(fuzz(&root, &target, request.minutes)?)?;
        println!("{target}: {}", if code == 0 { "no crash" } else { "CRASHED" });
        worst = worst.max(code);
    }
    Ok(worst)
}

/// The names of the targets.
fn targets(root: &Path) -> Result<Vec<String>, Error> {
    let folder = root.join(TARGETS);
    let failed = |source| Error::File {
        path: folder.clone(),
        source,
    };
    let mut names = Vec::new();
    for entry in std::fs::read_dir(&folder).map_err(failed)? {
        let name = entry
            .map_err(failed)?
            .file_name()
            .into_string()
            .unwrap_or_default();
        names.extend(name.strip_suffix(".rs").map(str::to_owned));
    }
    names.sort();
    Ok(names)
}

fn read(args: &[String], known: &[String]) -> Result<Request, Error> {
    let mut request = Request {
        targets: Vec::new(),
        minutes: 1.0,
        seeds: 0..100,
    };
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        let value = |args: &mut std::slice::Iter<'_, String>| args.next().cloned().unwrap_or_default();
        let parsed = match arg.as_str() {
            "--minutes" => {
                let minutes = value(&mut args).parse().ok().filter(|m| *m > 0.0);
                minutes.map(|minutes| request.minutes = minutes)
            }
            "--seeds" => {
                let text = value(&mut args);
                let ends = text.split_once("..");
                let seeds = ends.and_then(|(a, b)| Some(a.parse().ok()?..b.parse().ok()?));
                seeds.map(|seeds| request.seeds = seeds)
            }
            name if sorts(name).is_some() || known.iter().any(|k| k == name) => {
                request.targets.push(name.to_owned());
                Some(())
            }
            _ => None,
        };
        if parsed.is_none() {
            let mut words: Vec<&str> = known.iter().map(String::as_str).collect();
            words.extend(["scenes", "plain-scenes", "wild-scenes", "--minutes", "--seeds"]);
            return Err(Error::UnknownFlag {
                task: "fuzz",
                flag: arg.clone(),
                nearest: flags::nearest(arg, &words),
            });
        }
    }
    Ok(request)
}

/// The random scenes of `pliant-run`'s tests of these sorts, optimised.
fn scenes(seeds: &Range<u64>, sorts: &str) -> Result<u8, Error> {
    let mut command = process::cargo()?;
    command
        .args([
            "test",
            "--release",
            "--package",
            "pliant-run",
            "--test",
            "it",
            "--",
        ])
        .args([
            "--exact",
            "--nocapture",
            "random::random_scenes_keep_every_promise",
        ])
        .env("PLIANT_FIRST_SEED", seeds.start.to_string())
        .env("PLIANT_END_SEED", seeds.end.to_string())
        .env("PLIANT_STEPS", STEPS.to_string())
        .env("PLIANT_SORTS", sorts);
    process::run(command)
}

/// The command that fuzzes one target.
fn fuzz(root: &Path, target: &str, minutes: f64) -> Result<Command, Error> {
    let found = root.join(FOUND).join(target);
    let corpus = root.join(PACKAGE).join("corpus").join(target);
    let failed = |source| Error::File {
        path: found.clone(),
        source,
    };
    std::fs::create_dir_all(&found).map_err(failed)?;
    // The same versions as in the workspace.
    let lock = root.join(PACKAGE).join("Cargo.lock");
    std::fs::copy(root.join("Cargo.lock"), lock).map_err(failed)?;
    // The cargo that runs this program says which toolchain its children take; another one is
    // wanted.
    let mut command = Command::new("cargo");
    command
        .current_dir(root)
        .env_remove("CARGO")
        .env_remove("RUSTUP_TOOLCHAIN")
        .args([
            "+nightly",
            "fuzz",
            "run",
            "--fuzz-dir",
            PACKAGE,
            "--target-dir",
            BUILT,
        ])
        // There is no unsafe code for another sanitizer to look at.
        .args(["--sanitizer", "none", target])
        .args([&found, &corpus])
        .arg("--")
        .args([
            "-timeout=20",
            "-rss_limit_mb=3000",
            "-max_len=20000",
            "-print_final_stats=1",
        ])
        .arg(format!("-max_total_time={:.0}", 60.0 * minutes));
    let dictionary = root.join(PACKAGE).join(format!("dictionaries/{target}.dict"));
    if dictionary.exists() {
        command.arg(format!("-dict={}", dictionary.display()));
    }
    Ok(command)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(words: &[&str]) -> Result<Request, Error> {
        let words: Vec<String> = words.iter().map(|w| (*w).to_owned()).collect();
        read(&words, &["mesh_obj".to_owned(), "problem".to_owned()])
    }

    #[test]
    fn targets_minutes_and_seeds_are_read() {
        let given = request(&["mesh_obj", "--minutes", "0.5"]).unwrap();
        assert_eq!((given.targets, given.minutes), (vec!["mesh_obj".to_owned()], 0.5));
        let given = request(&["scenes", "--seeds", "3..8"]).unwrap();
        assert_eq!((given.targets, given.seeds), (vec!["scenes".to_owned()], 3..8));
        assert_eq!(request(&["plain-scenes"]).unwrap().targets, ["plain-scenes"]);
        assert_eq!(request(&[]).unwrap().targets, [""; 0]);
    }

    #[test]
    fn what_is_not_known_is_refused_with_the_nearest() {
        for (words, text) in [
            (&["mesh_obi"][..], "did you mean `mesh_obj`"),
            (&["--minute", "1"], "did you mean `--minutes`"),
            (&["--minutes", "no"], "`--minutes`"),
            (&["--seeds", "5"], "`--seeds`"),
            (&["plan-scenes"], "did you mean `plain-scenes`"),
        ] {
            let error = request(words).unwrap_err();
            assert!(error.to_string().contains(text), "{error}");
            assert_eq!(error.exit_code(), 2);
        }
    }
}
