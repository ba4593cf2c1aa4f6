//! The commands of the book: every line of its blocks `sh` ends well, in a folder with the scenes of
//! the project and the files beside the page. The page of all keys is that of the program.

use super::{err, out, pliant};
use std::path::{Path, PathBuf};

/// The sources of the book.
fn book() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/book/src")
}

/// The pages in a folder and below it.
fn pages(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => found.extend(pages(&path)),
            false => found.extend(path.extension().is_some_and(|e| e == "md").then_some(path)),
        }
    }
    found.sort();
    found
}

/// The lines of the blocks of commands of a page.
fn commands(text: &str) -> Vec<String> {
    let blocks = text.split("```sh\n").skip(1);
    let lines = blocks.flat_map(|block| block.split("```").next().unwrap_or_default().lines());
    lines.map(str::to_owned).collect()
}

/// The words of a command, of which some are in quotes.
fn words(line: &str) -> Vec<String> {
    let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
    for c in line.chars() {
        match (c, quote) {
            (c, Some(mark)) if c == mark => quote = None,
            ('\'' | '"', None) => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (' ', None) => words.extend(word.take()),
            // What stands behind it is for readers.
            ('#', None) if word.is_none() => break,
            (c, _) => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let target = to.join(path.file_name().unwrap());
        match path.is_dir() {
            true => copy(&path, &target),
            false => {
                std::fs::copy(&path, target).unwrap();
            }
        }
    }
}

#[test]
fn the_commands_of_the_book_end_well() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut count = 0;
    for page in pages(&book()) {
        let commands = commands(&std::fs::read_to_string(&page).unwrap());
        if commands.is_empty() {
            continue;
        }
        let dir = tempfile::tempdir().unwrap();
        copy(&root.join("scenes"), &dir.path().join("scenes"));
        for entry in std::fs::read_dir(page.parent().unwrap()).unwrap() {
            let beside = entry.unwrap().path();
            if beside.is_file() && beside.extension().is_some_and(|e| e != "md") {
                std::fs::copy(&beside, dir.path().join(beside.file_name().unwrap())).unwrap();
            }
        }
        for line in commands {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let words = words(line);
            assert_eq!(words[0], "pliant", "{}: `{line}`", page.display());
            let arguments: Vec<&str> = words[1..].iter().map(String::as_str).collect();
            let ended = pliant(dir.path(), &arguments);
            assert!(
                ended.status.success(),
                "{}: `{line}`: {}",
                page.display(),
                err(&ended)
            );
            count += 1;
        }
    }
    assert!(count > 40, "{count}");
}

/// `PLIANT_WRITE_KEYS=1` writes it anew.
#[test]
fn the_page_of_all_keys_is_that_of_the_program() {
    let page = book().join("reference/scenes/keys.md");
    let written = out(&pliant(&book(), &["components", "--markdown"]));
    if std::env::var_os("PLIANT_WRITE_KEYS").is_some() {
        std::fs::write(&page, &written).unwrap();
    }
    assert!(
        std::fs::read_to_string(&page).unwrap() == written,
        "the page differs: `PLIANT_WRITE_KEYS=1 cargo test -p pliant-cli --test it -- all_keys` writes it"
    );
}
