//! `cargo xtask book`: the book in `docs/book`, built by mdBook.
//!
//! The pages link to scenes, sources and documents of the repository, which a book of its own does
//! not have. So the pages are first copied into the target folder, with all that they link to: the
//! documents of the developers as pages, other files as files.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::error::Error;
use crate::markdown::{join, links};
use crate::metadata::Metadata;
use crate::sources::Sources;
use crate::{flags, process};

/// The version of mdBook that is installed where none is.
const MDBOOK: &str = "0.5.4";
/// The pages of the book.
const PAGES: &str = "docs/book/src/";
/// Its settings.
const SETTINGS: &str = "docs/book/book.toml";
/// The scenes whose pictures it shows.
const PICTURES: &str = "docs/book/pictures.txt";
/// Width and height of these pictures (px).
const SIZE: &str = "480x300";
/// Folder within the book of the pages that have their place elsewhere in the repository.
const DEVELOPERS: &str = "developers/";
/// Folder within the book of files that pages link to.
const FILES: &str = "files/";

/// Builds the pages and says where they are.
pub(crate) fn run(args: &[String]) -> Result<u8, Error> {
    let [open, pictures] = flags::switches("book", args, ["--open", "--pictures"])?;
    if pictures {
        return draw_pictures();
    }
    let target = Metadata::of_workspace()?.target_folder;
    let folder = target.join("book");
    let root = process::workspace_root()?;
    stage(&Sources::read()?, &root, &folder)?;
    let mut command = Command::new(mdbook(&target)?);
    command.arg("build").arg(&folder);
    if open {
        command.arg("--open");
    }
    let code = process::run(command)?;
    if code == 0 {
        println!("{}", folder.join("html/index.html").display());
    }
    Ok(code)
}

/// Draws the pictures of scenes anew.
fn draw_pictures() -> Result<u8, Error> {
    let root = process::workspace_root()?;
    let list = root.join(PICTURES);
    let list = std::fs::read_to_string(&list).map_err(|source| Error::File { path: list, source })?;
    for line in list.lines().filter(|line| !line.starts_with('#')) {
        let mut words = line.split_whitespace();
        let Some(scene) = words.next() else { continue };
        let name = scene.rsplit('/').next().unwrap_or(scene);
        let mut command = process::cargo()?;
        command.args([
            "run",
            "--release",
            "--quiet",
            "--locked",
            "--package",
            "pliant-cli",
        ]);
        command.args(["--", "render", "--quiet", "--size", SIZE]);
        command.arg(format!("scenes/{scene}.ron"));
        command.args(["-o", &format!("{PAGES}pictures/{name}.png")]);
        for (option, value) in words.filter_map(|word| word.split_once('=')) {
            command.arg(format!("--{option}={value}"));
        }
        let code = process::run(command)?;
        if code != 0 {
            return Ok(code);
        }
    }
    Ok(0)
}

/// The program: the one of the target folder, installed there at the first time.
fn mdbook(target: &Path) -> Result<PathBuf, Error> {
    let folder = target.join("tools");
    let program = folder
        .join("bin")
        .join(format!("mdbook{}", std::env::consts::EXE_SUFFIX));
    let mut version = Command::new(&program);
    version.arg("--version");
    let installed = process::capture(version).unwrap_or_default();
    if String::from_utf8_lossy(&installed).trim() != format!("mdbook v{MDBOOK}") {
        println!("installing mdBook {MDBOOK} into {}", folder.display());
        let mut install = process::cargo()?;
        install.args(["install", "mdbook", "--locked", "--quiet", "--version", MDBOOK]);
        // Without the server.
        install.args(["--no-default-features", "--features", "search", "--root"]);
        install.arg(&folder);
        process::capture(install)?;
    }
    Ok(program)
}

/// Copies the pages, and all that they link to, into the folder that mdBook reads.
fn stage(sources: &Sources, root: &Path, folder: &Path) -> Result<(), Error> {
    let pages = folder.join("src");
    if pages.exists() {
        std::fs::remove_dir_all(&pages).map_err(|source| Error::File {
            path: pages.clone(),
            source,
        })?;
    }
    copy(&root.join(SETTINGS), &folder.join("book.toml"))?;
    let mut linked = BTreeSet::new();
    for path in &sources.paths {
        let Some(place) = place_of_page(path) else {
            continue;
        };
        match sources.get(path) {
            Some(text) if path.ends_with(".md") => {
                let (text, files) = with_links_of_the_book(path, &place, text, sources);
                linked.extend(files);
                write(&pages.join(&place), &text)?;
            }
            _ => copy(&root.join(path), &pages.join(&place))?,
        }
    }
    for path in &linked {
        copy(&root.join(path), &pages.join(place_of_file(path)))?;
    }
    Ok(())
}

/// The path within the book of a file that is a page of it, or a picture or style of its pages.
fn place_of_page(path: &str) -> Option<String> {
    if let Some(page) = path.strip_prefix(PAGES) {
        return Some(page.to_owned());
    }
    let document = match path {
        "CONTRIBUTING.md" | "CHANGELOG.md" => path,
        _ => path
            .strip_prefix("docs/")
            .filter(|document| document.ends_with(".md") && !document.starts_with("book/"))?,
    };
    Some(format!("{DEVELOPERS}{document}"))
}

/// The path within the book of a file that pages link to. Markdown that is no page is a text in it:
/// mdBook takes no other.
fn place_of_file(path: &str) -> String {
    match path.ends_with(".md") {
        true => format!("{FILES}{path}.txt"),
        false => format!("{FILES}{path}"),
    }
}

/// The text of a page with its links as they are within the book, and the files that it links to
/// beside its pages.
fn with_links_of_the_book(path: &str, place: &str, text: &str, sources: &Sources) -> (String, Vec<String>) {
    let mut files = Vec::new();
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    for (number, link) in links(text) {
        let (target, anchor) = link.split_once('#').unwrap_or((&link, ""));
        let Some(target) = (!target.is_empty() && !link.contains(':'))
            .then(|| join(path, target))
            .flatten()
        else {
            continue;
        };
        // Of a folder, the page in it that names its files.
        let target = target.trim_end_matches('/');
        let is_folder = sources.get(target).is_none() && !sources.paths.iter().any(|known| known == target);
        let moved = match place_of_page(target) {
            Some(moved) => moved,
            None if is_folder => {
                let inside = format!("{target}/");
                let within = sources.paths.iter().filter(|known| known.starts_with(&inside));
                let Some(first) = within.clone().next() else {
                    continue;
                };
                files.extend(within.cloned());
                place_of_page(first).unwrap_or_else(|| place_of_file(first))
            }
            None => {
                files.push(target.to_owned());
                place_of_file(target)
            }
        };
        let mut new = relative(place, &moved);
        if !anchor.is_empty() {
            new = format!("{new}#{anchor}");
        }
        // The whole target: another link of the line may begin with it.
        let mut line = format!("{} ", lines[number - 1]);
        for (opening, closing) in [("](", ")"), ("](", " "), ("](<", ">"), ("]: ", " ")] {
            let [old, new] = [&link, &new].map(|target| format!("{opening}{target}{closing}"));
            line = line.replace(&old, &new);
        }
        line.pop();
        lines[number - 1] = line;
    }
    (lines.join("\n") + "\n", files)
}

/// The path of `target` as a link from the page `from`, both within the book.
fn relative(from: &str, target: &str) -> String {
    let mut from: Vec<&str> = from.split('/').collect();
    from.pop();
    let target: Vec<&str> = target.split('/').collect();
    let common = from.iter().zip(&target).take_while(|(a, b)| a == b).count();
    let common = common.min(target.len() - 1);
    let up = "../".repeat(from.len() - common);
    up + &target[common..].join("/")
}

fn copy(from: &Path, to: &Path) -> Result<(), Error> {
    let bytes = std::fs::read(from).map_err(|source| Error::File {
        path: from.to_owned(),
        source,
    })?;
    write(to, bytes)
}

fn write(path: &Path, contents: impl AsRef<[u8]>) -> Result<(), Error> {
    let failed = |source| Error::File {
        path: path.to_owned(),
        source,
    };
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).map_err(failed)?;
    }
    std::fs::write(path, contents).map_err(failed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_lead_to_pages_or_to_copied_files() {
        let page = "[a](reference/run.md#h) ![b](pictures/bow.png) [c](../../../scenes/bow.ron)\n\
                    [d](../../architecture.md) [e](https://example.org) [f](#here) [g](../../../scenes) [k](../../../scenes/bow.ron)\n\
                    `[h](../../../scenes/bow.ron)`\n[j](../../../README.md)\n[i]: ../../../LICENSE\n";
        let sources = Sources::of(&[
            ("LICENSE", "x"),
            ("README.md", "x"),
            ("docs/architecture.md", "x"),
            ("docs/book/src/pictures/bow.png", "x"),
            ("docs/book/src/reference/run.md", "x"),
            ("docs/book/src/start.md", page),
            ("scenes/bow.ron", "x"),
        ]);
        let (text, files) = with_links_of_the_book("docs/book/src/start.md", "start.md", page, &sources);
        assert_eq!(
            text,
            "[a](reference/run.md#h) ![b](pictures/bow.png) [c](files/scenes/bow.ron)\n\
             [d](developers/architecture.md) [e](https://example.org) [f](#here) [g](files/scenes/bow.ron) [k](files/scenes/bow.ron)\n\
             `[h](../../../scenes/bow.ron)`\n[j](files/README.md.txt)\n[i]: files/LICENSE\n"
        );
        assert_eq!(
            files,
            [
                "scenes/bow.ron",
                "scenes/bow.ron",
                "scenes/bow.ron",
                "README.md",
                "LICENSE"
            ]
        );
    }

    #[test]
    fn links_of_documents_elsewhere_lead_into_the_book() {
        let text = "[a](book/src/glossary.md) [b](lab/solids.md) [c](decisions/0001.md)\n";
        let sources = Sources::of(&[("docs/architecture.md", text)]);
        let place = place_of_page("docs/architecture.md").unwrap();
        assert_eq!(place, "developers/architecture.md");
        let (text, files) = with_links_of_the_book("docs/architecture.md", &place, text, &sources);
        assert_eq!(
            text,
            "[a](../glossary.md) [b](lab/solids.md) [c](decisions/0001.md)\n"
        );
        assert!(files.is_empty());
        assert_eq!(place_of_page("python/README.md"), None);
    }
}
