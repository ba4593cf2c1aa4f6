//! `cargo xtask package`: the crates as they would be given away, made, looked into and compiled.
//!
//! Every package is unpacked beside the others, where nothing of the repository can be found, and
//! all of them are checked by the compiler at once. With `--verify` cargo builds each of them by
//! itself instead, which takes minutes.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::error::Error;
use crate::metadata::{Metadata, Package};
use crate::{flags, process};

/// Files that every package holds.
const NEEDED: [&str; 4] = ["Cargo.toml", "LICENSE", "README.md", "src/lib.rs"];
/// The length of a block of a tar file: headers are one, contents begin at one.
const BLOCK: usize = 512;

/// Makes the packages, and compiles what is in them.
pub(crate) fn run(args: &[String]) -> Result<u8, Error> {
    let [verify] = flags::switches("package", args, ["--verify"])?;
    let workspace = Metadata::of_workspace()?;
    let mut command = process::cargo()?;
    command.args(["package", "--workspace", "--locked", "--allow-dirty"]);
    for package in workspace.packages.iter().filter(|package| !package.is_published) {
        command.args(["--exclude", &package.name]);
    }
    if !verify {
        command.args(["--no-verify", "--quiet"]);
    }
    println!("$ {}", process::describe(&command));
    // One warning for each package says that its tests are left out, another that it has no
    // address yet.
    let (code, printed) = process::collect(command)?;
    if code != 0 {
        print!("{printed}");
        return Ok(code);
    }
    let folder = workspace.target_folder.join("package");
    let unpacked = folder.join("unpacked");
    let published: Vec<&Package> = workspace.packages.iter().filter(|p| p.is_published).collect();
    let licence = read(&process::workspace_root()?.join("LICENSE"))?;
    // Packages of crates that are no more would be members, too.
    if unpacked.is_dir() {
        std::fs::remove_dir_all(&unpacked).map_err(|source| Error::File {
            path: unpacked.clone(),
            source,
        })?;
    }
    let mut lacking = 0;
    for package in &published {
        let name = format!("{}-{}", package.name, package.version);
        let bytes = read(&folder.join(format!("{name}.crate")))?;
        let files = unpack(&bytes).unwrap_or_default();
        for complaint in complaints(&files, &name, &licence) {
            println!("{name}.crate: {complaint}");
            lacking += 1;
        }
        write_all(&unpacked, &package.name, &name, &files)?;
    }
    println!("{} packages, {lacking} complaints", published.len());
    if lacking > 0 {
        return Ok(1);
    }
    if verify {
        return Ok(0);
    }
    compile(&unpacked, &published, &workspace.target_folder)
}

/// Lets the compiler check all packages as a workspace of their own.
fn compile(folder: &Path, published: &[&Package], target: &Path) -> Result<u8, Error> {
    let root = process::workspace_root()?;
    let mut manifest = "[workspace]\nresolver = \"3\"\nmembers = [\"*\"]\n\n[patch.crates-io]\n".to_owned();
    for package in published {
        manifest += &format!("{0} = {{ path = \"{0}\" }}\n", package.name);
    }
    // With the settings of the repository, third-party crates are those that lie compiled.
    let own = String::from_utf8_lossy(&read(&root.join("Cargo.toml"))?).into_owned();
    let profiles = own.find("\n[profile.").map_or("", |start| &own[start..]);
    write(
        &folder.join("Cargo.toml"),
        format!("{manifest}{profiles}").as_bytes(),
    )?;
    write(&folder.join("Cargo.lock"), &read(&root.join("Cargo.lock"))?)?;
    let mut command = process::cargo()?;
    command.current_dir(folder).args(["check", "--workspace"]);
    command.env("CARGO_TARGET_DIR", target);
    println!("$ {}", process::describe(&command));
    process::run(command)
}

/// Complaints about a package: files that it lacks, and another licence.
fn complaints(files: &BTreeMap<String, Vec<u8>>, name: &str, licence: &[u8]) -> Vec<String> {
    let mut complaints = Vec::new();
    for needed in NEEDED {
        if !files.contains_key(&format!("{name}/{needed}")) {
            complaints.push(format!("no `{needed}`"));
        }
    }
    if let Some(found) = files.get(&format!("{name}/LICENSE"))
        && found != licence
    {
        complaints.push("its LICENSE is not that of the repository".to_owned());
    }
    complaints
}

/// Writes the files of a package into a folder that is named after it alone, so that its path does
/// not change with the version.
fn write_all(
    unpacked: &Path,
    package: &str,
    name: &str,
    files: &BTreeMap<String, Vec<u8>>,
) -> Result<(), Error> {
    let folder = unpacked.join(package);
    for (path, contents) in files {
        if let Some(inner) = path.strip_prefix(name).and_then(|rest| rest.strip_prefix('/')) {
            write(&folder.join(inner), contents)?;
        }
    }
    Ok(())
}

/// The files of a tar file that gzip has packed, by their paths; `None` if it is not one.
fn unpack(bytes: &[u8]) -> Option<BTreeMap<String, Vec<u8>>> {
    let mut start = 10;
    let flags = *bytes.get(3)?;
    // Two of the optional fields of the header end with a zero: the name and a comment.
    for field in [8, 16] {
        if flags & field != 0 {
            start += bytes.get(start..)?.iter().position(|byte| *byte == 0)? + 1;
        }
    }
    let tar = miniz_oxide::inflate::decompress_to_vec(bytes.get(start..)?).ok()?;
    let (mut files, mut at, mut long) = (BTreeMap::new(), 0, None);
    while let Some(header) = tar.get(at..at + BLOCK).filter(|header| header[0] != 0) {
        let size = usize::from_str_radix(&text(&header[124..136]), 8).ok()?;
        let contents = tar.get(at + BLOCK..at + BLOCK + size)?;
        match header[156] {
            // The path of the next entry, where it does not fit into a header.
            b'L' => long = Some(text(contents)),
            _ => {
                let path = long.take().unwrap_or_else(|| path(header));
                files.insert(path, contents.to_vec());
            }
        }
        at += BLOCK + size.div_ceil(BLOCK) * BLOCK;
    }
    Some(files)
}

/// The path in a header, whose beginning may stand in a field of its own.
fn path(header: &[u8]) -> String {
    let (name, prefix) = (text(&header[..100]), text(&header[345..500]));
    match &header[257..262] == b"ustar" && &header[262..264] != b"  " && !prefix.is_empty() {
        true => format!("{prefix}/{name}"),
        false => name,
    }
}

/// The characters of a field up to a zero.
fn text(field: &[u8]) -> String {
    let end = field.iter().position(|byte| *byte == 0).unwrap_or(field.len());
    String::from_utf8_lossy(&field[..end]).trim().to_owned()
}

fn read(path: &Path) -> Result<Vec<u8>, Error> {
    std::fs::read(path).map_err(|source| Error::File {
        path: path.to_owned(),
        source,
    })
}

/// Writes a file, and the folders above it.
fn write(path: &Path, contents: &[u8]) -> Result<(), Error> {
    let folder = path.parent().map_or_else(PathBuf::new, Path::to_owned);
    let written = std::fs::create_dir_all(folder).and_then(|()| std::fs::write(path, contents));
    written.map_err(|source| Error::File {
        path: path.to_owned(),
        source,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A tar file of entries with their kinds, packed as gzip does.
    fn packed(entries: &[(u8, &str, &[u8])]) -> Vec<u8> {
        let mut tar = Vec::new();
        for (kind, path, contents) in entries {
            let mut header = [0; BLOCK];
            header[..path.len()].copy_from_slice(path.as_bytes());
            header[124..135].copy_from_slice(format!("{:011o}", contents.len()).as_bytes());
            header[156] = *kind;
            tar.extend(header);
            tar.extend(*contents);
            tar.resize(tar.len().next_multiple_of(BLOCK), 0);
        }
        tar.extend([0; 2 * BLOCK]);
        let mut bytes = vec![31, 139, 8, 8, 0, 0, 0, 0, 0, 3];
        bytes.extend(b"a.tar\0");
        bytes.extend(miniz_oxide::deflate::compress_to_vec(&tar, 6));
        bytes.extend([0; 8]);
        bytes
    }

    #[test]
    fn files_of_a_package_are_found_under_short_and_long_paths() {
        let long = format!("a-1/{}.rs", "x".repeat(200));
        let bytes = packed(&[
            (b'0', "a-1/LICENSE", b"terms"),
            (b'L', "././@LongLink", format!("{long}\0").as_bytes()),
            (b'0', "a-1/xxx", &[7; 600]),
        ]);
        let files = unpack(&bytes).unwrap();
        assert_eq!(files["a-1/LICENSE"], b"terms");
        assert_eq!(files[&long], [7; 600]);
        assert!(unpack(&bytes[..40]).is_none() && unpack(&[]).is_none());
    }

    #[test]
    fn packages_that_lack_something_are_told() {
        let file = |name: &str, text: &str| (format!("a-1/{name}"), text.as_bytes().to_vec());
        let mut files: BTreeMap<_, _> = NEEDED.iter().map(|name| file(name, "x")).collect();
        assert!(complaints(&files, "a-1", b"x").is_empty());
        assert_eq!(complaints(&files, "a-1", b"y").len(), 1);
        files.remove("a-1/README.md");
        assert_eq!(complaints(&files, "a-1", b"x"), ["no `README.md`"]);
    }
}
