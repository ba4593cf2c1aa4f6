//! The directory of results: one run at a time, nothing mixed, nothing of others touched.

use crate::{names_in, recording};
use pliant_output::ExportError;
use pliant_output::atomic::{Written, write_atomically};
use pliant_output::directory::{MANIFEST, Manifest, ResultDirectory, RunInfo};
use pliant_output::vtk::{collections, write_vtk};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

const RUN: RunInfo<'_> = RunInfo {
    pliant: "0.0.0",
    scene: "a.ron",
    status: "ok",
};

/// A run that leaves a table of some bytes and so many frames.
fn run(path: &Path, table: &'static str, bytes: &[u8], frames: usize) -> Result<(), ExportError> {
    let mut recording = recording();
    recording.frames = vec![recording.frames[0].clone(); frames];
    let mut directory = ResultDirectory::take(path)?;
    let names: Vec<&str> = [table].into_iter().chain(collections(&recording)).collect();
    directory.clear(RUN, &names, &[])?;
    let mut written = vec![write_atomically(&path.join(table), |out| out.write_all(bytes))?];
    written.extend(write_vtk(path, &recording)?);
    directory.close(RUN, &names, &written)
}

#[test]
fn a_second_taker_is_refused_until_the_first_is_gone() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("deep/out");
    let first = ResultDirectory::take(&path).unwrap();
    let error = ResultDirectory::take(&path).unwrap_err();
    assert!(matches!(&error, ExportError::Busy { path: named } if *named == path));
    let text = error.to_string();
    assert!(
        text.contains("another run is writing into") && text.contains("deep/out"),
        "{text}"
    );
    drop(first);
    ResultDirectory::take(&path).unwrap();
    assert_eq!(names_in(&path), [".pliant.lock"], "nothing but the lock");
}

#[test]
fn the_manifest_lists_sizes_and_checksums() {
    let dir = tempfile::tempdir().unwrap();
    run(dir.path(), "energy.csv", b"123456789", 2).unwrap();
    let manifest = Manifest::read(dir.path()).unwrap().unwrap();
    assert_eq!(
        (manifest.scene.as_str(), manifest.status.as_str()),
        ("a.ron", "ok")
    );
    assert!(manifest.unwritten.is_empty());
    let table = &manifest.files[0];
    assert_eq!((table.bytes, table.crc32.as_deref()), (Some(9), Some("cbf43926")));
    let names: Vec<&str> = manifest.files.iter().map(|f| f.name.as_str()).collect();
    let expected = [
        "energy.csv",
        "frames/particles_0000.vtu",
        "frames/particles_0001.vtu",
        "particles.pvd",
        "frames/bodies_0000.vtp",
        "frames/bodies_0001.vtp",
        "bodies.pvd",
    ];
    assert_eq!(names, expected);
    for file in &manifest.files {
        let length = fs::metadata(dir.path().join(&file.name)).unwrap().len();
        assert_eq!(Some(length), file.bytes, "{}", file.name);
    }
}

/// Manifests of equal results are equal, but `result.json` has the seconds of a run in it.
#[test]
fn the_manifest_says_nothing_of_seconds() {
    let dir = tempfile::tempdir().unwrap();
    let mut manifests = Vec::new();
    for seconds in ["0.1", "0.25"] {
        run(dir.path(), "result.json", seconds.as_bytes(), 1).unwrap();
        manifests.push(fs::read(dir.path().join(MANIFEST)).unwrap());
    }
    assert_eq!(manifests[0], manifests[1]);
    let manifest = Manifest::read(dir.path()).unwrap().unwrap();
    assert_eq!((manifest.files[0].bytes, &manifest.files[0].crc32), (None, &None));
    assert!(manifest.files[1].bytes.is_some());
}

#[test]
fn an_earlier_run_is_removed_and_nothing_else() {
    let dir = tempfile::tempdir().unwrap();
    run(dir.path(), "joints.csv", b"a", 5).unwrap();
    // Files of the user: some have names that a run could choose, but the manifest knows them not.
    let users = [
        "notes.txt",
        "path.csv",
        "frames/particles_0777.vtu",
        "frames/mine.vtu",
    ];
    for name in users {
        fs::write(dir.path().join(name), "mine").unwrap();
    }
    fs::write(dir.path().join(".joints.csv.7-0123456789abcdef.partial"), "half").unwrap();
    fs::write(
        dir.path()
            .join("frames/.bodies_0000.vtp.7-0123456789abcdef.partial"),
        "half",
    )
    .unwrap();
    fs::write(dir.path().join(".notes.txt.7-0123456789abcdef.partial"), "mine").unwrap();
    run(dir.path(), "energy.csv", b"b", 1).unwrap();
    let left = [
        ".notes.txt.7-0123456789abcdef.partial",
        ".pliant.lock",
        "bodies.pvd",
        "energy.csv",
        "frames",
        "manifest.json",
        "notes.txt",
        "particles.pvd",
        "path.csv",
    ];
    assert_eq!(names_in(dir.path()), left);
    let frames = [
        "bodies_0000.vtp",
        "mine.vtu",
        "particles_0000.vtu",
        "particles_0777.vtu",
    ];
    assert_eq!(names_in(&dir.path().join("frames")), frames);
    for name in users {
        assert_eq!(fs::read(dir.path().join(name)).unwrap(), b"mine", "{name}");
    }
}

#[test]
fn frames_without_a_manifest_are_removed() {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir(dir.path().join("frames")).unwrap();
    for k in 0..201 {
        fs::write(dir.path().join(format!("frames/particles_{k:04}.vtu")), "old").unwrap();
    }
    for name in ["energy.csv", "path.csv", "frames/particles_1.vtu"] {
        fs::write(dir.path().join(name), "old").unwrap();
    }
    run(dir.path(), "energy.csv", b"new", 1).unwrap();
    let frames = ["bodies_0000.vtp", "particles_0000.vtu", "particles_1.vtu"];
    assert_eq!(names_in(&dir.path().join("frames")), frames);
    assert_eq!(fs::read(dir.path().join("energy.csv")).unwrap(), b"new");
    assert_eq!(fs::read(dir.path().join("path.csv")).unwrap(), b"old");
}

/// A run that was stopped while it wrote left files that no manifest lists.
#[test]
fn the_files_of_a_stopped_run_are_removed() {
    let dir = tempfile::tempdir().unwrap();
    run(dir.path(), "joints.csv", b"first", 3).unwrap();
    let mut stopped = ResultDirectory::take(dir.path()).unwrap();
    stopped
        .clear(RUN, &["contacts.csv", "particles.pvd"], &[])
        .unwrap();
    assert_eq!(
        names_in(dir.path()),
        [".pliant.lock", "manifest.json"],
        "no set is mixed"
    );
    let manifest = Manifest::read(dir.path()).unwrap().unwrap();
    assert_eq!(manifest.status, "writing");
    assert!(manifest.files.is_empty() && !manifest.unwritten.is_empty());
    write_atomically(&dir.path().join("contacts.csv"), |out| out.write_all(b"second")).unwrap();
    write_vtk(dir.path(), &recording()).unwrap();
    drop(stopped);
    run(dir.path(), "energy.csv", b"third", 1).unwrap();
    let left = [
        ".pliant.lock",
        "bodies.pvd",
        "energy.csv",
        "frames",
        "manifest.json",
        "particles.pvd",
    ];
    assert_eq!(names_in(dir.path()), left);
    assert_eq!(
        names_in(&dir.path().join("frames")),
        ["bodies_0000.vtp", "particles_0000.vtu"]
    );
}

/// Files that could not be written are in the manifest, so that the next run does not trust the
/// set.
#[test]
fn files_that_failed_are_named() {
    let dir = tempfile::tempdir().unwrap();
    let mut directory = ResultDirectory::take(dir.path()).unwrap();
    directory.clear(RUN, &["energy.csv", "play.html"], &[]).unwrap();
    let written: Written = write_atomically(&dir.path().join("energy.csv"), |_| Ok(())).unwrap();
    directory
        .close(RUN, &["energy.csv", "play.html"], &[written])
        .unwrap();
    let manifest = Manifest::read(dir.path()).unwrap().unwrap();
    assert_eq!(
        (manifest.files.len(), manifest.unwritten),
        (1, vec!["play.html".to_owned()])
    );
}

#[test]
fn manifests_of_strangers_are_left_and_named() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join(MANIFEST);
    for text in [
        "",
        "{\"name\": \"a web page\"}",
        "[1, 2",
        "{\"format\": \"pliant-manifest-1\"}",
    ] {
        fs::write(&path, text).unwrap();
        let error = ResultDirectory::take(dir.path()).unwrap_err();
        assert!(error.to_string().contains("manifest.json"), "{error}");
        assert_eq!(fs::read_to_string(&path).unwrap(), text);
    }
    // One of ours cannot send us elsewhere.
    let out = dir.path().join("out");
    run(&out, "energy.csv", b"a", 1).unwrap();
    fs::write(dir.path().join("energy.csv"), "mine").unwrap();
    fs::write(out.join("thesis.tex"), "mine").unwrap();
    let text = fs::read_to_string(out.join(MANIFEST)).unwrap();
    for name in ["../energy.csv", "thesis.tex", "frames/../../energy.csv"] {
        fs::write(
            out.join(MANIFEST),
            text.replace("\"energy.csv\"", &format!("{name:?}")),
        )
        .unwrap();
        run(&out, "energy.csv", b"b", 1).unwrap();
        assert!(dir.path().join("energy.csv").exists() && out.join("thesis.tex").exists());
    }
}

/// A file without content in its 300 MB is not read.
#[test]
fn a_manifest_of_a_size_that_none_has_is_of_somebody_else() {
    let dir = tempfile::tempdir().unwrap();
    let file = fs::File::create(dir.path().join(MANIFEST)).unwrap();
    file.set_len(300 << 20).unwrap();
    let used = allocation_counter::measure(|| {
        let error = ResultDirectory::take(dir.path()).unwrap_err();
        assert!(matches!(error, ExportError::NoManifest { .. }), "{error}");
    });
    assert!(used.bytes_max < 1 << 20, "{used:?}");
}

#[test]
fn a_directory_that_went_away_is_taken_again() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("out");
    let mut first = ResultDirectory::take(&path).unwrap();
    fs::remove_dir_all(&path).unwrap();
    #[cfg(unix)]
    {
        let second = ResultDirectory::take(&path).unwrap();
        assert!(matches!(
            first.clear(RUN, &[], &[]),
            Err(ExportError::Busy { .. })
        ));
        drop(second);
        fs::remove_dir_all(&path).unwrap();
    }
    first.clear(RUN, &[], &[]).unwrap();
    assert!(ResultDirectory::take(&path).is_err(), "it has a lock again");
}

#[cfg(unix)]
mod links {
    use super::*;
    use std::os::unix::fs::symlink;

    /// The names of a file that somebody else owns, and a path to a directory of results beside it.
    fn stranger(dir: &Path) -> (std::path::PathBuf, std::path::PathBuf) {
        let victim = dir.join("victim");
        fs::write(&victim, "mine").unwrap();
        (victim, dir.join("out"))
    }

    #[test]
    fn a_link_under_the_final_name_is_replaced_and_its_target_stays() {
        let dir = tempfile::tempdir().unwrap();
        let (victim, out) = stranger(dir.path());
        fs::create_dir(&out).unwrap();
        for name in ["energy.csv", ".energy.csv.partial", "particles.pvd"] {
            symlink(&victim, out.join(name)).unwrap();
        }
        symlink(dir.path().join("nowhere"), out.join("bodies.pvd")).unwrap();
        run(&out, "energy.csv", b"new", 1).unwrap();
        assert_eq!(fs::read(&victim).unwrap(), b"mine");
        assert!(!dir.path().join("nowhere").exists());
        for name in ["energy.csv", "particles.pvd", "bodies.pvd"] {
            assert!(fs::symlink_metadata(out.join(name)).unwrap().is_file(), "{name}");
        }
        // Without clearing, too.
        let alone = dir.path().join("alone.csv");
        symlink(&victim, &alone).unwrap();
        write_atomically(&alone, |file| file.write_all(b"new")).unwrap();
        assert_eq!(fs::read(&victim).unwrap(), b"mine");
        assert_eq!(fs::read(&alone).unwrap(), b"new");
    }

    #[test]
    fn links_in_place_of_directories_and_locks_are_refused() {
        let dir = tempfile::tempdir().unwrap();
        let (victim, out) = stranger(dir.path());
        let elsewhere = dir.path().join("elsewhere");
        fs::create_dir(&elsewhere).unwrap();
        let refused = |result: Result<(), ExportError>, words: &str| {
            let error = result.unwrap_err();
            assert!(matches!(error, ExportError::Link { .. }), "{error}");
            assert!(error.to_string().contains(words), "{error}");
        };
        symlink(&elsewhere, &out).unwrap();
        refused(run(&out, "energy.csv", b"new", 1), "out: it is a link to");
        fs::remove_file(&out).unwrap();
        fs::create_dir(&out).unwrap();
        symlink(&elsewhere, out.join("frames")).unwrap();
        refused(run(&out, "energy.csv", b"new", 1), "frames: it is a link to");
        refused(write_vtk(&out, &recording()).map(drop), "frames: it is a link to");
        fs::remove_file(out.join("frames")).unwrap();
        for target in [&victim, &dir.path().join("nowhere")] {
            let _ = fs::remove_file(out.join(".pliant.lock"));
            symlink(target, out.join(".pliant.lock")).unwrap();
            refused(
                run(&out, "energy.csv", b"new", 1),
                ".pliant.lock: it is a link to",
            );
        }
        fs::remove_file(out.join(".pliant.lock")).unwrap();
        symlink(&victim, out.join(MANIFEST)).unwrap();
        let error = run(&out, "energy.csv", b"new", 1).unwrap_err();
        assert!(matches!(error, ExportError::NoManifest { .. }), "{error}");
        assert_eq!(fs::read(&victim).unwrap(), b"mine");
        assert!(!dir.path().join("nowhere").exists() && names_in(&elsewhere).is_empty());
    }

    /// Links that appear between taking and writing.
    #[test]
    fn late_links_are_refused() {
        let dir = tempfile::tempdir().unwrap();
        let (_, out) = stranger(dir.path());
        let elsewhere = dir.path().join("elsewhere");
        fs::create_dir(&elsewhere).unwrap();
        fs::write(elsewhere.join("particles_0000.vtu"), "mine").unwrap();
        let mut directory = ResultDirectory::take(&out).unwrap();
        symlink(&elsewhere, out.join("frames")).unwrap();
        let error = directory.clear(RUN, &["energy.csv"], &[]).unwrap_err();
        assert!(matches!(error, ExportError::Link { .. }), "{error}");
        assert_eq!(names_in(&elsewhere), ["particles_0000.vtu"]);
    }
}

/// All files of a directory but its lock, by their names.
fn files_of(path: &Path) -> BTreeMap<String, Vec<u8>> {
    let read = |name: &String| (name.clone(), fs::read(path.join(name)).unwrap());
    let frames = names_in(&path.join("frames"));
    let frames = frames.into_iter().map(|name| format!("frames/{name}"));
    let top = names_in(path)
        .into_iter()
        .filter(|name| path.join(name).is_file());
    let all: Vec<String> = top.chain(frames).filter(|name| !name.contains("lock")).collect();
    all.iter().map(read).collect()
}

/// Files of a run elsewhere take the place of those of an earlier run, of which nothing is left.
#[test]
fn files_of_another_directory_are_received() {
    let dir = tempfile::tempdir().unwrap();
    let (here, there) = (dir.path().join("here"), dir.path().join("there"));
    run(&here, "joints.csv", b"old", 3).unwrap();
    run(&there, "energy.csv", b"new", 2).unwrap();
    fs::write(here.join("notes.txt"), "mine").unwrap();
    let expected = files_of(&there);
    ResultDirectory::take(&here).unwrap().receive(&expected).unwrap();
    let mut found = files_of(&here);
    assert_eq!(found.remove("notes.txt").as_deref(), Some(&b"mine"[..]));
    assert_eq!(found, expected);
    // A checkpoint alone is beside results.
    let checkpoint = [("checkpoint.pliant", "a"), ("checkpoint.log", "b")];
    let checkpoint = checkpoint.map(|(name, text)| (name.to_owned(), text.as_bytes().to_vec()));
    let checkpoint = BTreeMap::from(checkpoint);
    ResultDirectory::take(&here)
        .unwrap()
        .receive(&checkpoint)
        .unwrap();
    let mut both = files_of(&here);
    assert!(
        checkpoint
            .iter()
            .all(|(name, bytes)| both.remove(name).as_ref() == Some(bytes))
    );
    both.remove("notes.txt");
    assert_eq!(both, expected);
}

/// Names that no file of a run has, and a manifest that is none, change nothing.
#[test]
fn files_of_no_run_are_not_received() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("here");
    run(&path, "energy.csv", b"old", 1).unwrap();
    let before = files_of(&path);
    for name in [
        "../up.csv",
        "/up.csv",
        "notes.txt",
        "frames/../a",
        ".pliant.lock",
        "",
        "frames/",
    ] {
        let files = BTreeMap::from([
            (name.to_owned(), Vec::new()),
            ("energy.csv".to_owned(), Vec::new()),
        ]);
        let error = ResultDirectory::take(&path).unwrap().receive(&files).unwrap_err();
        assert!(error.to_string().contains("no file of a run"), "{name}: {error}");
    }
    let files = BTreeMap::from([
        (MANIFEST.to_owned(), b"{}".to_vec()),
        ("energy.csv".to_owned(), Vec::new()),
    ]);
    let error = ResultDirectory::take(&path).unwrap().receive(&files).unwrap_err();
    assert!(matches!(error, ExportError::NoManifest { .. }), "{error}");
    assert_eq!(files_of(&path), before);
    assert_eq!(names_in(dir.path()), ["here"]);
}
