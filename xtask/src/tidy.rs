//! `cargo xtask tidy`: rules about the project's files that the compiler does not check.

mod allowed;
mod book;
mod columns;
mod documents;
mod layering;
mod licences;
mod links;
mod manifests;
mod paths;
mod rules;
mod shape;
mod sizes;
mod traces;
mod words;

use std::fmt;

use crate::error::Error;
use crate::metadata::Metadata;
use crate::shapes::{Shapes, shapes};
use crate::sources::Sources;
use crate::{api, catalogue, flags, generate, keys};
use allowed::ALLOWED_FOR_NOW;

/// The input of the checks, read once.
struct Project {
    sources: Sources,
    shapes: Shapes,
    workspace: Metadata,
    everything: Metadata,
}

/// Something a check found, at a line of a file (line 1 for what concerns the whole file).
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Finding {
    path: String,
    line: usize,
    message: String,
    /// A note is printed and counted, but does not fail the gate.
    is_note: bool,
}

impl Finding {
    pub(crate) fn problem(path: &str, line: usize, message: impl Into<String>) -> Finding {
        Finding {
            path: path.to_owned(),
            line,
            message: message.into(),
            is_note: false,
        }
    }

    pub(crate) fn note(path: &str, line: usize, message: impl Into<String>) -> Finding {
        Finding {
            is_note: true,
            ..Finding::problem(path, line, message)
        }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = if self.is_note { "note: " } else { "" };
        write!(f, "{}:{}: {kind}{}", self.path, self.line, self.message)
    }
}

type Check = fn(&Project) -> Vec<Finding>;

/// Every check with the name under which its findings are printed.
const CHECKS: &[(&str, Check)] = &[
    ("layering", |project| {
        layering::check(&project.workspace, &project.sources)
    }),
    ("sizes", |project| sizes::check(&project.sources)),
    ("rules", |project| rules::check(&project.sources)),
    ("documents", |project| {
        documents::check(&project.workspace, &project.sources)
    }),
    ("links", |project| links::check(&project.sources)),
    ("book", |project| book::check(&project.sources)),
    ("paths", |project| paths::check(&project.sources)),
    ("manifests", |project| {
        manifests::check(&project.workspace, &project.sources)
    }),
    ("traces", |project| traces::check(&project.sources)),
    ("licences", |project| licences::check(&project.everything)),
    ("generated", |project| generate::check(&project.sources)),
    ("words", |project| words::check(&project.sources, &project.shapes)),
    ("openings", |project| words::openings(&project.sources)),
    ("columns", |project| columns::check(&project.sources)),
    ("fields", |project| shape::fields(&project.shapes)),
    ("spread", |project| shape::spread(&project.shapes)),
    ("catalogue", |project| catalogue::check(&project.sources)),
    ("keys", |project| keys::check(&project.sources)),
    ("api", |project| api::check(&project.sources)),
];

/// Runs every check; the exit code is 1 if one of them found a problem.
pub(crate) fn run(args: &[String]) -> Result<u8, Error> {
    flags::switches("tidy", args, [])?;
    let sources = Sources::read()?;
    let project = Project {
        shapes: shapes(&sources),
        sources,
        workspace: Metadata::of_workspace()?,
        everything: Metadata::of_everything()?,
    };
    let (mut problems, mut notes) = (0, 0);
    let mut allowed = vec![0; ALLOWED_FOR_NOW.len()];
    for (name, check) in CHECKS {
        for finding in check(&project) {
            if let Some(entry) = exemption(name, &finding) {
                allowed[entry] += 1;
                continue;
            }
            println!("{finding} [{name}]");
            if finding.is_note {
                notes += 1;
            } else {
                problems += 1;
            }
        }
    }
    for ((check, path, reason), count) in ALLOWED_FOR_NOW.iter().zip(&allowed) {
        match count {
            0 => {
                println!(
                    "xtask/src/tidy/allowed.rs:1: nothing of [{check}] is left in {path}: delete the entry"
                );
                problems += 1;
            }
            _ => println!("allowed for now: {count} of [{check}] in {path}: {reason}"),
        }
    }
    let exempt: usize = allowed.iter().sum();
    println!(
        "{} checks, {problems} problems, {notes} notes, {exempt} exempt",
        CHECKS.len()
    );
    Ok(u8::from(problems > 0))
}

/// The entry of the table of exemptions that lets this problem pass.
fn exemption(check: &str, finding: &Finding) -> Option<usize> {
    let lets_off = |(of, path, _): &(&str, &str, &str)| *of == check && finding.path.starts_with(path);
    let entry = ALLOWED_FOR_NOW.iter().position(lets_off);
    entry.filter(|_| !finding.is_note)
}

/// The number of the first line, from 1, for which the predicate holds; 1 if there is none.
fn line_where(text: &str, predicate: impl Fn(&str) -> bool) -> usize {
    text.lines().position(predicate).map_or(1, |index| index + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn findings_print_as_path_line_message() {
        assert_eq!(Finding::problem("a.rs", 3, "bad").to_string(), "a.rs:3: bad");
        assert_eq!(Finding::note("a.rs", 1, "long").to_string(), "a.rs:1: note: long");
    }
}
