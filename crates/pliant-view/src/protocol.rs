//! Messages between the page and the run.

use serde::{Deserialize, Serialize};

/// A request of a page, as JSON: `{"do": "play"}`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(tag = "do", rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum Request {
    /// Take steps.
    Play {},
    /// Take none.
    Pause {},
    /// Take one step.
    Step {},
    /// Go back to the start, with the parameters that were set.
    Reset {},
    /// Take as many steps as make `factor` simulated seconds in one of the clock; without it as many
    /// as there is time for.
    Speed {
        /// Simulated time over time.
        factor: Option<f64>,
    },
    /// Give a parameter a value.
    Set {
        /// Its name.
        name: String,
        /// Its value in SI units.
        value: f64,
    },
    /// Fasten a spring.
    Grab {
        /// The point, or behind all points the body, that it holds.
        item: usize,
        /// Where, in the axes of the body (m).
        point: [f64; 3],
        /// Its stiffness over the usual one.
        factor: f64,
    },
    /// Pull to a place.
    Drag {
        /// The place (m).
        to: [f64; 3],
    },
    /// Give the spring, and those to come, another stiffness.
    Stiffness {
        /// Its stiffness over the usual one.
        factor: f64,
    },
    /// Let go.
    Drop {},
    /// A frame was drawn: another one may come.
    Shown {
        /// The number of the frame.
        frame: u64,
    },
}

/// A parameter of the scene.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Parameter {
    pub(crate) name: String,
    /// The value that it is set to.
    pub(crate) value: f64,
    /// Its value in the file.
    pub(crate) start: f64,
    /// Whether the run follows it at once, not from its next start on.
    pub(crate) at_once: bool,
    /// Whether it was set since the start of the run, which does not follow it.
    pub(crate) waits: bool,
}

/// The state of a run.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct State {
    pub(crate) playing: bool,
    /// Simulated time over time of the clock that is asked for; none is as fast as it goes.
    pub(crate) speed: Option<f64>,
    /// Why there is no scene, as the terminal shows it.
    pub(crate) problem: Option<String>,
    /// A sentence about the run.
    pub(crate) said: Option<String>,
    /// Whether the sentence is why a step was not taken.
    pub(crate) failed: bool,
    pub(crate) parameters: Vec<Parameter>,
}

/// The spring that pulls.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct PullState {
    /// The point that it holds (m).
    pub(crate) held: [f64; 3],
    /// Where it pulls to (m).
    pub(crate) place: [f64; 3],
    /// Its force (N).
    pub(crate) force: [f64; 3],
    /// Its stiffness (N/m).
    pub(crate) stiffness: f64,
}

/// The head of a frame, ahead of its numbers.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Head<'a> {
    pub(crate) frame: u64,
    /// The scene that it is of.
    pub(crate) sum: &'a str,
    pub(crate) time: f64,
    /// Simulated time over time of the clock, of late; none before it is measured.
    pub(crate) rate: Option<f64>,
    pub(crate) pull: Option<PullState>,
    /// The last line of each table.
    pub(crate) lines: Vec<Vec<Option<f64>>>,
}

/// A binary message: the length of the head (u32, little-endian), the head as JSON, zeros up to a
/// multiple of four bytes, the numbers.
pub(crate) fn frame(head: &Head<'_>, numbers: &[u8]) -> Result<Vec<u8>, serde_json::Error> {
    let json = serde_json::to_vec(head)?;
    let length = u32::try_from(json.len()).unwrap_or(u32::MAX);
    let mut out = Vec::with_capacity(8 + json.len() + numbers.len());
    out.extend(length.to_le_bytes());
    out.extend(&json);
    out.resize(out.len().next_multiple_of(4), 0);
    out.extend(numbers);
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_read_and_others_refused() {
        let read = |text| serde_json::from_str::<Request>(text);
        assert_eq!(read(r#"{"do": "play"}"#).unwrap(), Request::Play {});
        let speed = Request::Speed { factor: None };
        assert_eq!(read(r#"{"do": "speed", "factor": null}"#).unwrap(), speed);
        for wrong in [
            "",
            "7",
            "{}",
            r#"{"do": "fly"}"#,
            r#"{"do": "play", "now": 1}"#,
            r#"{"do": "drag", "to": [1, 2]}"#,
            r#"{"do": "drag", "to": [1, 2, 1e999]}"#,
            r#"{"do": "grab", "item": -1, "point": [0, 0, 0], "factor": 1}"#,
        ] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn numbers_of_a_frame_begin_at_a_multiple_of_four_bytes() {
        let mut head = Head {
            frame: 1,
            sum: "x",
            time: 0.5,
            rate: None,
            pull: None,
            lines: vec![vec![Some(1.0), None]],
        };
        for sum in ["x", "xy", "xyz", "wxyz"] {
            head.sum = sum;
            let bytes = frame(&head, &[1, 2, 3, 4]).unwrap();
            let (length, rest) = bytes.split_first_chunk::<4>().unwrap();
            let length = u32::from_le_bytes(*length) as usize;
            let read: serde_json::Value = serde_json::from_slice(&rest[..length]).unwrap();
            assert_eq!(read["sum"], sum);
            assert_eq!(read["lines"][0][1], serde_json::Value::Null);
            assert_eq!(bytes.len() % 4, 0);
            assert_eq!(&bytes[bytes.len() - 4..], [1, 2, 3, 4]);
            assert!(bytes.len() - 4 - (4 + length) < 4);
        }
    }
}
