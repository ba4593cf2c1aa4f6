//! Broken files with the message that a user reads, in `tests/broken/`.
//!
//! `PLIANT_WRITE_MESSAGES=1 cargo test -p pliant-scene` writes the messages anew; look at them
//! before they are committed.

use pliant_scene::{SceneFile, Settings};
use std::fmt::Write;
use std::path::Path;

/// The message of each file, by the names of the files.
fn messages() -> Vec<(String, String)> {
    let mut names: Vec<String> = std::fs::read_dir("tests/broken")
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| !name.ends_with(".txt") && name.contains('.'))
        .collect();
    names.sort_unstable();
    let message = |name: String| {
        let path = Path::new("tests/broken").join(&name);
        let built = SceneFile::load(&path).and_then(|scene| scene.build(&Settings::default()));
        let message = match built {
            Ok(_) => "no error".to_owned(),
            Err(error) => error.to_string(),
        };
        let here = std::env::current_dir().unwrap();
        let message = message.replace(&here.display().to_string(), "HERE");
        (name, message)
    };
    names.into_iter().map(message).collect()
}

#[test]
fn every_mistake_is_drawn_as_it_is_written_down() {
    let messages = messages();
    assert!(messages.len() >= 100, "{} broken files", messages.len());
    let mut all = String::new();
    for (name, message) in &messages {
        write!(all, "==> {name}\n{message}\n\n").unwrap();
    }
    let path = Path::new("tests/broken/messages.txt");
    if std::env::var_os("PLIANT_WRITE_MESSAGES").is_some() {
        std::fs::write(path, &all).unwrap();
    }
    let known = std::fs::read_to_string(path).unwrap().replace("\r\n", "\n");
    for (found, known) in all.split("==> ").zip(known.split("==> ")) {
        assert_eq!(found, known);
    }
    assert_eq!(all.len(), known.len());
}

#[test]
fn every_broken_file_is_refused_with_a_place() {
    for (name, message) in messages() {
        assert!(message.starts_with("error: "), "{name}: {message}");
        assert!(message.contains("--> tests/broken/"), "{name}: {message}");
        assert!(message.contains('^'), "{name}: {message}");
    }
}
