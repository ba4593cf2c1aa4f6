//! Times direct solvers on the families of `pliant_benches::families`, in turns, and prints a
//! Markdown table.

mod cases;
mod dump;
mod figures;

use super::Ended;
use figures::{Figures, measure};
use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

const HELP: &str = "\
Times the direct solver on families of systems (docs/lab/solvers.md), one thread unless said.

  --quick       small sizes and short runs
  --large       with the largest sizes (minutes, gigabytes)
  --threads N   times the factorisation on N threads too
  --only TEXT   only cases whose name contains TEXT
  --json FILE   writes the figures as JSON too
  --dump DIR    writes the matrices in Matrix Market format instead of timing
  --peers       compares with other solvers";

/// The arguments.
struct Arguments {
    quick: bool,
    large: bool,
    peers: bool,
    threads: usize,
    only: Vec<String>,
    json: Option<PathBuf>,
    dump: Option<PathBuf>,
}

fn parse(arguments: &[String]) -> Result<Option<Arguments>, String> {
    let mut out = Arguments {
        quick: false,
        large: false,
        peers: false,
        threads: 1,
        only: Vec::new(),
        json: None,
        dump: None,
    };
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        let mut value = || words.next().ok_or(format!("{word} wants a value"));
        match word.as_str() {
            "--quick" => out.quick = true,
            "--large" => out.large = true,
            "--peers" => out.peers = true,
            "--threads" => {
                out.threads = value()?.parse().map_err(|e| format!("--threads: {e}"))?;
            }
            "--only" => out.only.push(value()?.clone()),
            "--json" => out.json = Some(value()?.into()),
            "--dump" => out.dump = Some(value()?.into()),
            "--help" | "-h" => return Ok(None),
            other => return Err(format!("unknown argument {other}\n{HELP}")),
        }
    }
    Ok(Some(out))
}

/// The direct solvers with all arguments; then, unless the arguments ask for a part, the iterative
/// ones and (with peers) the products.
pub(super) fn run(arguments: &[String]) -> Ended {
    let Some(asked) = parse(arguments)? else {
        let _ = writeln!(std::io::stdout(), "{HELP}");
        return Ok(ExitCode::SUCCESS);
    };
    direct(&asked)?;
    if asked.only.is_empty() && asked.dump.is_none() {
        let sizes: &[String] = if asked.quick { &["3000".to_owned()] } else { &[] };
        println!();
        super::krylov::run(sizes)?;
        #[cfg(feature = "peers")]
        if asked.peers {
            println!();
            super::products::run(sizes)?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn direct(arguments: &Arguments) -> Result<(), String> {
    let wanted = |name: &str| arguments.only.is_empty() || arguments.only.iter().any(|o| name.contains(o));
    let cases = cases::all()
        .into_iter()
        .filter(|c| wanted(&c.name) && c.size.is_in(arguments.quick, arguments.large));
    let mut out = std::io::stdout();
    if arguments.dump.is_none() {
        let _ = writeln!(out, "{}", figures::head(arguments.peers, arguments.threads));
    }
    let mut all = Vec::new();
    for case in cases {
        let system = (case.make)().map_err(|e| format!("{}: {e}", case.name))?;
        if let Some(folder) = &arguments.dump {
            dump::write(folder, &case.name, &system).map_err(|e| format!("{}: {e}", folder.display()))?;
            continue;
        }
        // A solver that gives up on a case is a finding, not the end of the run.
        let row = match measure(&case, system, arguments.quick, arguments.peers, arguments.threads) {
            Ok(figures) => {
                let row = figures.row(arguments.peers);
                all.push(figures);
                row
            }
            Err(error) => format!("| {} | {error} |", case.name),
        };
        let _ = writeln!(out, "{row}");
        let _ = out.flush();
    }
    if let Some(path) = &arguments.json {
        let text = serde_json::Value::Array(all.iter().map(Figures::json).collect()).to_string();
        std::fs::write(path, text).map_err(|e| format!("{}: {e}", path.display()))?;
    }
    Ok(())
}
