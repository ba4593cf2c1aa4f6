//! Messages where an event is wrong.

use super::EVENTS;
use crate::drawn::assert_drawn;
use pliant_scene::{Format, SceneError, SceneFile, Settings};

fn build(text: &str) -> Result<(), SceneError> {
    let scene = SceneFile::from_text("events.ron".as_ref(), text, Format::Ron)?;
    scene.build(&Settings::default()).map(drop)
}

/// Change, message, what the carets are under, help.
const MISTAKES: [(&str, &str, &str, &str, &str); 19] = [
    (
        "turn < -0.5",
        "trun < -0.5",
        "there is nothing called `trun`",
        "trun",
        "did you mean `turn`?",
    ),
    (
        "turn < -0.5",
        "hinge.angel < -0.5",
        "`hinge` has no quantity `angel`",
        "angel",
        "did you mean `angle`?",
    ),
    (
        "turn < -0.5",
        "turn",
        "this is a number, and a condition is needed",
        "turn",
        "",
    ),
    (
        "turn < -0.5",
        "turn = -0.5",
        "unexpected `=`",
        "=",
        "conditions compare by `<`, `<=`, `>` and `>=`: when two quantities are equal is no stretch of time",
    ),
    (
        "turn < -0.5",
        "turn < $shar",
        "unknown parameter `$shar`",
        "$shar",
        "did you mean `share`?",
    ),
    (
        "turn < -0.5",
        "turn < -0.5 and (bob.x > 1",
        "this parenthesis is not closed",
        "(",
        "",
    ),
    (
        "bob.y < -0.1\"",
        "bob.y < 1 / 0 * NaN\"",
        "there is nothing called `NaN`",
        "NaN",
        "",
    ),
    (
        "Release(\"rope\")",
        "Release(\"rop\")",
        "`rop` is no constraint, force field or joint",
        "\"rop\"",
        "did you mean `rope`?",
    ),
    (
        "Release(\"rope\")",
        "Release(\"bob.mass\")",
        "`bob.mass` is a mass, which cannot be released",
        "\"bob.mass\"",
        "",
    ),
    (
        "Release(\"rope\")",
        "Release(\"arm\")",
        "`arm` is no constraint, force field or joint",
        "\"arm\"",
        "",
    ),
    (
        "Release(\"rope\")",
        "Release(3)",
        "expected a text in quotes",
        "3",
        "",
    ),
    (
        "Release(\"rope\")",
        "Relaese(\"rope\")",
        "unknown kind `Relaese` in `do`",
        "Relaese",
        "did you mean `Release`?",
    ),
    (
        "do: [Say(\"low\"), Stop]",
        "do: []",
        "the event `end` does nothing",
        "[]",
        "",
    ),
    (
        "do: [Say(\"low\"), Stop]",
        "do: [Stop(1)]",
        "`Stop` has no value in brackets",
        "Stop(1)",
        "",
    ),
    (
        "name: \"off\"",
        "name: \"cut\"",
        "the name `cut` is used twice in `events`",
        "\"cut\"",
        "",
    ),
    (
        "again: true",
        "agian: true",
        "unknown key `agian`",
        "agian",
        "did you mean `again`?",
    ),
    (
        "when: \"bob.y < -0.1\", do",
        "do",
        "missing key `when` in `events`",
        ")",
        "",
    ),
    (
        "event_tolerance: 1e-7",
        "event_tolerance: 0",
        "`event_tolerance` is 0, but must be positive",
        "0",
        "",
    ),
    (
        "value: \"2 * hinge.angle\"",
        "value: \"2 * turn\"",
        "`turn` is made of itself",
        "turn",
        "",
    ),
];

#[test]
fn mistakes_are_drawn_with_a_suggestion() {
    for (from, to, message, under, help) in MISTAKES {
        assert!(EVENTS.contains(from), "{from}");
        let error = build(&EVENTS.replacen(from, to, 1)).err();
        let error = error.unwrap_or_else(|| panic!("{to} is taken"));
        let found = assert_drawn(&error, message, under);
        if !help.is_empty() {
            assert_eq!(found.help.as_deref().unwrap_or_default(), help, "{to}: {error}");
        }
    }
}

#[test]
fn events_are_of_motion() {
    let text = EVENTS.replace("event_tolerance: 1e-7", "statics: ()");
    let error = build(&text).unwrap_err().to_string();
    assert!(error.contains("`events` are of motion"), "{error}");
    let none = "(run: (duration: 1, event_tolerance: 1e-3), nodes: [])";
    let error = build(none).unwrap_err().to_string();
    assert!(error.contains("there are none"), "{error}");
}
