//! The scenes that other programs are measured on, in this one, in Rapier and in MuJoCo.
//!
//! `cargo xtask bench peers [--scene A,B,C,D] [--only pliant,rapier,mujoco] [--cap SECONDS]
//! [--python PATH] [--json FILE] [--quick] [--write]`. The Python of MuJoCo is made under `target/`
//! at the first run; without one its rows say why. Rows are printed as they are measured; `--write`
//! puts the tables into `docs/lab/peers.md` and draws `docs/book/src/pictures/peers-*.svg`.

use super::{Ended, write_picture};
use pliant_benches::peers::{
    Arguments, Case, Environment, Program, Row, contenders, json, picture, replace, run as measure, table,
};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

pub(super) fn run(words: &[String]) -> Ended {
    let arguments = Arguments::parse(words)?;
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from);
    let folder = target.join("peers");
    let wanted = arguments.programs.contains(&Program::MuJoCo);
    let python = match arguments.python {
        _ if !wanted => Err(String::new()),
        Some(python) => Ok(Environment::given(python)),
        None => Environment::in_folder(&folder.join("python")).map_err(|e| e.to_string()),
    };
    let mut rows: Vec<Row> = Vec::new();
    for scene in &arguments.scenes {
        println!("{}\n", scene.title());
        let mut first = true;
        for case in Case::all(*scene, arguments.quick) {
            for program in &arguments.programs {
                for contender in contenders(*program, &case, &python) {
                    let row = measure(&case, &contender, arguments.cap);
                    let text = table(*scene, std::slice::from_ref(&row));
                    // The head of the table once.
                    for line in text.lines().skip(if first { 0 } else { 2 }) {
                        println!("{line}");
                    }
                    first = false;
                    rows.push(row);
                }
            }
        }
        println!();
    }
    let file = match arguments.json {
        Some(file) => file,
        None => {
            std::fs::create_dir_all(&folder)?;
            folder.join("results.json")
        }
    };
    std::fs::write(&file, format!("{:#}\n", json(&rows)))
        .map_err(|e| format!("cannot write {}: {e}", file.display()))?;
    if arguments.write {
        let path = root.join("docs/lab/peers.md");
        let mut document = std::fs::read_to_string(&path)?;
        for scene in &arguments.scenes {
            document = replace(&document, *scene, &table(*scene, &rows))?;
            let name = format!("peers-{}.svg", scene.letter().to_ascii_lowercase());
            write_picture(&name, &picture(*scene, &rows))?;
        }
        std::fs::write(&path, document)?;
    }
    Ok(ExitCode::SUCCESS)
}
