//! Nothing that a file can hold makes the reader or the first steps panic.

use super::controllers::CONTROLLERS;
use super::events::EVENTS;
use super::pictures::PICTURE;
use super::probes::PROBES;
use super::scenes::path;
use super::signals::SIGNALS;
use super::words::{ADAPTIVE, CONTACTS, WORDS};
use pliant_run::Runner;
use pliant_scene::{Format, Limits, SceneFile, Settings};
use proptest::prelude::*;

const SCENES: [&str; 19] = [
    "pendulum",
    "snap_through",
    "spring_chain",
    "heavy_cable",
    "net",
    "bow",
    "crane",
    "servo_arm",
    "words",
    "contacts",
    "adaptive",
    "probes",
    "events",
    "controllers",
    "signals",
    "picture",
    "card_house",
    "creeping_shelf",
    "paper_clip",
];

fn text(scene: usize) -> String {
    if SCENES[scene] == "words" {
        return WORDS.to_owned();
    }
    if SCENES[scene] == "contacts" {
        return CONTACTS.to_owned();
    }
    if SCENES[scene] == "adaptive" {
        return ADAPTIVE.to_owned();
    }
    if SCENES[scene] == "controllers" {
        return CONTROLLERS.to_owned();
    }
    if SCENES[scene] == "signals" {
        return SIGNALS.to_owned();
    }
    if SCENES[scene] == "events" {
        return EVENTS.to_owned();
    }
    if SCENES[scene] == "picture" {
        return PICTURE.to_owned();
    }
    if SCENES[scene] == "probes" {
        return PROBES.to_owned();
    }
    std::fs::read_to_string(path(SCENES[scene])).unwrap()
}

/// Operations of the solvers of the contacts of a step that garbage gets: with those of the default
/// a cylinder of 1e19 m in a crowd takes half a minute for each step.
const CONTACT_OPERATIONS: u64 = 100_000_000;

/// Reads, builds and takes two steps, whatever comes of it; what is wrong must have words.
fn try_everything(text: &str, format: Format) {
    let settings = Settings {
        duration: Some(1e-3),
        ..Settings::default()
    };
    let built = SceneFile::from_text(&path("garbage"), text, format).and_then(|scene| scene.build(&settings));
    let built = built.map(|mut scene| {
        scene.options.tuning.work.contact_operations = CONTACT_OPERATIONS;
        scene
    });
    match built.and_then(Runner::new) {
        Ok(mut runner) => {
            for _ in 0..2 {
                let _ = runner.step();
            }
        }
        Err(error) => assert!(error.to_string().starts_with("error: ")),
    }
}

/// Of these, how many are tried at each place in the sweep.
const AWKWARD_PER_PLACE: usize = 2;

/// Numbers and words that are awkward in place of others.
const AWKWARD: [&str; 21] = [
    "\"1 / $t\"",
    "\"sqrt($t - 1)\"",
    "\"words\"",
    "(0, 0, 0)",
    "World",
    "NaN",
    "inf",
    "-inf",
    "1e308",
    "-1e308",
    "1e-320",
    "0",
    "-0.0",
    "18446744073709551616",
    "\"$nothing\"",
    "\"1/0\"",
    "()",
    "[]",
    "None",
    "\"\"",
    "3000",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn changed_bytes(scene in 0..SCENES.len(), at in any::<prop::sample::Index>(), byte in any::<u8>()) {
        let mut bytes = text(scene).into_bytes();
        let at = at.index(bytes.len());
        bytes[at] = byte;
        try_everything(&String::from_utf8_lossy(&bytes), Format::Ron);
    }

    #[test]
    fn deleted_and_doubled_lines(scene in 0..SCENES.len(), at in any::<prop::sample::Index>(), double in any::<bool>()) {
        let text = text(scene);
        let mut lines: Vec<&str> = text.lines().collect();
        let at = at.index(lines.len());
        if double { lines.insert(at, lines[at]) } else { lines.remove(at); }
        try_everything(&lines.join("\n"), Format::Ron);
    }

    #[test]
    fn awkward_values(scene in 0..SCENES.len(), at in any::<prop::sample::Index>(), value in prop::sample::select(&AWKWARD[..])) {
        let text = text(scene);
        // The words after a colon, and all numbers.
        let mut starts: Vec<usize> = text.match_indices(": ").map(|(i, _)| i + 2).collect();
        starts.extend(text.match_indices(|c: char| c.is_ascii_digit()).map(|(i, _)| i));
        let start = starts[at.index(starts.len())];
        let rest = &text[start..];
        let end = rest.find([',', ')', ']', '}', '\n']).unwrap_or(rest.len());
        let changed = format!("{}{value}{}", &text[..start], &rest[end..]);
        try_everything(&changed, Format::Ron);
    }

    #[test]
    fn cut_files(scene in 0..SCENES.len(), at in any::<prop::sample::Index>()) {
        let text = text(scene);
        let mut at = at.index(text.len());
        while !text.is_char_boundary(at) { at -= 1; }
        try_everything(&text[..at], Format::Ron);
        try_everything(&text[..at], Format::Json);
    }

    #[test]
    fn any_text(text in "\\PC{0,60}") {
        try_everything(&text, Format::Ron);
        try_everything(&text, Format::Json);
    }
}

/// Every place of the scene that holds every word, with a few awkward values in turn.
#[test]
fn every_value_may_be_awkward() {
    sweep(WORDS, 1000);
    sweep(CONTACTS, 400);
}

fn sweep(text: &str, least: usize) {
    let places: Vec<usize> = text
        .match_indices(|c: char| c.is_ascii_alphanumeric() || c == '"')
        .map(|(i, _)| i)
        .filter(|i| *i > 0 && text[..*i].ends_with([' ', '(', '[', '"', '$', '-']))
        .collect();
    for (k, start) in places.iter().enumerate() {
        let rest = &text[*start..];
        let end = rest.find([',', ')', ']', '}', '\n', ':']).unwrap_or(rest.len());
        for shift in 0..AWKWARD_PER_PLACE {
            let value = AWKWARD[(5 * k + shift) % AWKWARD.len()];
            let changed = format!("{}{value}{}", &text[..*start], &rest[end..]);
            try_everything(&changed, Format::Ron);
        }
    }
    assert!(places.len() > least, "{}", places.len());
}

#[test]
fn deep_nesting_is_an_error() {
    for (open, format) in [
        ("(", Format::Ron),
        ("[", Format::Ron),
        ("Some(", Format::Ron),
        ("[", Format::Json),
        ("{\"a\":", Format::Json),
    ] {
        for start in [
            "",
            "(run: (duration: ",
            "(nodes: [Particles(name: \"a\", positions: ",
        ] {
            try_everything(&format!("{start}{}", open.repeat(100_000)), format);
        }
    }
    try_everything(&"/*".repeat(100_000), Format::Ron);
}

#[test]
fn huge_counts_are_refused_before_anything_is_reserved() {
    for count in ["1e6 + 1", "1e18", "1e300", "-1", "0.5"] {
        let text = format!(
            "(run: (duration: 1), nodes: [Particles(name: \"a\", line: (from: (0,0,0), to: (1,0,0), count: \"{count}\"), mass: 1)])"
        );
        let scene = SceneFile::from_text("a.ron".as_ref(), &text, Format::Ron).unwrap();
        let error = scene.build(&Settings::default()).unwrap_err().to_string();
        assert!(error.contains("`count` of `a`") && error.contains('^'), "{error}");
    }
}

/// Numbers that no scene means, most of them far beyond what it may ask for.
const WILD: [&str; 16] = [
    "0",
    "-1",
    "1",
    "1e6",
    "1e18",
    "9007199254740993",
    "18446744073709551615",
    "NaN",
    "-inf",
    "\"nan\"",
    "0.5",
    "1e308",
    "-1e308",
    "1e-320",
    "\"1/0\"",
    "2147483648",
];

/// The numbers of a text, as byte ranges; not those of comments and names.
fn numbers(text: &str) -> Vec<std::ops::Range<usize>> {
    let bytes = text.as_bytes();
    let is_part = |b: u8| b.is_ascii_alphanumeric() || b == b'_' || b == b'.';
    let (mut out, mut at) = (Vec::new(), 0);
    while at < bytes.len() {
        if text[at..].starts_with("//") {
            at += text[at..].find('\n').unwrap_or(text.len() - at);
            continue;
        }
        let start = at;
        while at < bytes.len()
            && (is_part(bytes[at]) || (at > start && bytes[at] == b'-' && bytes[at - 1] == b'e'))
        {
            at += 1;
        }
        if bytes[start].is_ascii_digit() {
            out.push(start..at);
        }
        at = at.max(start + 1);
    }
    out
}

/// Scenes are tried so often that about so many coordinates are made in all for each.
const COORDINATES_PER_SCENE: usize = 20_000;

/// Each number of each scene of the repository in turn, with wild ones in its place. What comes out
/// is a scene that could be run, or an error with words.
#[test]
fn every_number_of_every_scene_may_be_wild() {
    let limits = Limits {
        // As many as the largest of the scenes has, about.
        elements: 60_000,
        ..Limits::default()
    };
    let settings = Settings {
        limits,
        ..Settings::default()
    };
    let (mut tried, mut refused) = (0, 0);
    let mut files: Vec<_> = std::fs::read_dir(path("x").parent().unwrap())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|file| file.extension().is_some_and(|e| e == "ron"))
        .collect();
    files.sort();
    for file in &files {
        let text = std::fs::read_to_string(file).unwrap();
        let build =
            |text: &str| SceneFile::from_text(file, text, Format::Ron).and_then(|s| s.build(&settings));
        let size = build(&text).unwrap_or_else(|e| panic!("{e}")).model.dof_count();
        let places = numbers(&text);
        let cases = (COORDINATES_PER_SCENE / (size + 20)).clamp(8, places.len() * WILD.len());
        for case in 0..cases {
            // Evenly over all places and values.
            let case = case * places.len() * WILD.len() / cases;
            let place = places[case / WILD.len()].clone();
            let value = WILD[(case + case / WILD.len()) % WILD.len()];
            let changed = format!("{}{value}{}", &text[..place.start], &text[place.end..]);
            let built = build(&changed).and_then(Runner::new);
            tried += 1;
            if let Err(error) = built {
                refused += 1;
                assert!(error.to_string().starts_with("error: "), "{error}");
            }
        }
    }
    assert!(tried > 5_000 && refused > tried / 3, "{refused} of {tried}");
}
