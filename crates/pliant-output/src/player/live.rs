//! The page of a motion that goes on: the same drawing as that of [`player_html`](super::player_html),
//! with a script that takes what it draws from a socket.
//!
//! The page holds no recording. It is sent the scene as the JSON of [`Live::scene`], whose keys are
//! those of a page with one frame, then a frame after the other: the numbers of [`Live::numbers`],
//! and the lines of [`Live::lines`] beside them. Who serves it is `pliant-view`.

use super::data::{Data, Field, Forces, LookData, Motion, Source, Things, sources, tables};
use super::encode::fill;
use super::{PAGE, PlayerError, SCRIPT, STYLE, check};
use crate::recording::Recording;
use serde::Serialize;

/// The script that takes the place of `start.js`.
const SCRIPT_OF_LIVE: [&str; 3] = [
    include_str!("live-motion.js"),
    include_str!("live-panel.js"),
    include_str!("live.js"),
];
const STYLE_OF_LIVE: &str = include_str!("live.css");

/// Returns the page; `sockets` are the addresses that it may connect to, as a list of sources of a
/// content security policy.
pub fn live_html(sockets: &str) -> String {
    let style = [STYLE, STYLE_OF_LIVE].concat();
    let script = [SCRIPT.concat(), SCRIPT_OF_LIVE.concat()].concat();
    fill(
        PAGE,
        &[
            ("title", "pliant view"),
            ("style", &style),
            ("data", "null"),
            ("script", &script),
            ("policy", &format!("; connect-src {sockets}")),
        ],
    )
}

/// How the moments of a run that goes on are told to its page.
#[derive(Clone, Debug)]
pub struct Live {
    up: [f64; 3],
    fields: Vec<LiveField>,
}

/// A field, by its place among those that a recording may have, with the number of its values.
#[derive(Clone, Copy, Debug)]
struct LiveField {
    place: usize,
    source: Source,
    items: usize,
}

/// A scene, as its page reads it.
#[derive(Serialize)]
struct LiveScene<'a> {
    #[serde(flatten)]
    data: Data<'a>,
    /// Whether each item, points and then bodies, can move.
    moving: &'a [bool],
    /// Whether each can be pulled at.
    reach: &'a [bool],
}

impl Live {
    /// For recordings like this one, which has one frame; `up` is the direction against gravity, of
    /// any length.
    ///
    /// # Errors
    /// [`PlayerError`] if it cannot be drawn.
    pub fn of(recording: &Recording, up: [f64; 3]) -> Result<Self, PlayerError> {
        check::recording(recording)?;
        let points = recording.groups.iter().map(|group| group.count).sum::<usize>();
        let known = recording.frames.first();
        let field = |(place, (.., source)): (usize, (&str, &str, Source))| {
            let bodies = match source {
                Source::Pressure if known.is_none_or(|frame| frame.pressures.is_empty()) => return None,
                Source::Speed => recording.bodies.len(),
                _ => 0,
            };
            let items = points + bodies;
            Some(LiveField { place, source, items })
        };
        let all = sources(recording).into_iter().enumerate();
        Ok(Self {
            up: check::unit(up)?,
            fields: all.filter_map(field).collect(),
        })
    }

    /// Returns the scene as JSON, with the frame that the recording has; `moving` and `reach` say of
    /// each item, points and then bodies, whether it can move and whether it can be pulled at.
    ///
    /// # Errors
    /// [`PlayerError`] if it cannot be drawn.
    pub fn scene(
        &self,
        recording: &Recording,
        moving: &[bool],
        reach: &[bool],
    ) -> Result<serde_json::Value, PlayerError> {
        check::recording(recording)?;
        let known = sources(recording);
        let field = |field: &LiveField| {
            let (name, unit, _) = known.get(field.place)?;
            Some(Field {
                name,
                unit,
                low: 0.0,
                high: 0.0,
                bodies: matches!(field.source, Source::Speed),
                values: String::new(),
            })
        };
        let scene = LiveScene {
            data: Data {
                format: 2,
                title: &recording.title,
                up: self.up,
                things: Things::of(recording),
                motion: Motion::of(recording),
                forces: Forces::of(recording),
                fields: self.fields.iter().filter_map(field).collect(),
                left_out: Vec::new(),
                tables: tables(recording),
                look: LookData::of(&recording.look),
            },
            moving,
            reach,
        };
        serde_json::to_value(&scene).map_err(|error| PlayerError::Json {
            reason: error.to_string(),
        })
    }

    /// Appends the numbers of the one frame of a recording, in single precision, little-endian: x,
    /// y, z of every point; position and quaternion of every body; activations of muscles; the
    /// values of each field; point and force of each contact force.
    ///
    /// # Errors
    /// [`PlayerError`] names the first number that cannot be drawn.
    pub fn numbers(&self, recording: &Recording, out: &mut Vec<u8>) -> Result<(), PlayerError> {
        check::recording(recording)?;
        let Some(frame) = recording.frames.first() else {
            return Ok(());
        };
        let mut put = |x: f64| out.extend((x as f32).to_le_bytes());
        frame.points.iter().flatten().for_each(|x| put(*x));
        frame.poses.iter().flatten().for_each(|x| put(*x));
        let muscles = recording.lines.iter().filter(|line| line.is_muscle).count();
        if frame.activations.len() == muscles {
            frame.activations.iter().for_each(|x| put(*x));
        }
        for field in &self.fields {
            field.source.each(recording, 0, field.items, &mut put);
        }
        for line in &recording.contacts.lines {
            let six = [line.point, line.force].concat();
            if line.force != [0.0; 3] && six.iter().all(|x| (*x as f32).is_finite()) {
                six.into_iter().for_each(&mut put);
            }
        }
        Ok(())
    }

    /// Returns the last line of each table of a recording without its time: energies, probes,
    /// joints; what is not finite is none.
    pub fn lines(&self, recording: &Recording) -> Vec<Vec<Option<f64>>> {
        let energies = recording.samples.last();
        let energies = energies.map(|s| vec![s.time, s.kinetic, s.potential, s.dissipated]);
        let mut lines = vec![energies.unwrap_or_default()];
        for table in [&recording.probes, &recording.joints] {
            if !table.columns.is_empty() {
                lines.push(table.lines.last().cloned().unwrap_or_default());
            }
        }
        let finite = |x: &f64| x.is_finite().then_some(*x);
        let all = lines.iter();
        all.map(|line| line.iter().skip(1).map(finite).collect())
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::player::player_html;
    use crate::recording::{BodyTrack, ContactLine, ContactPhase, Frame, PointGroup, Sample, Shape};

    fn moment() -> Recording {
        let mut recording = Recording {
            title: "moment".into(),
            groups: vec![PointGroup {
                name: "stone".into(),
                start: 0,
                count: 1,
            }],
            bodies: vec![BodyTrack {
                name: "ball".into(),
                shape: Shape::Sphere { radius: 1.0 },
            }],
            frames: vec![Frame {
                points: vec![[1.0, 2.0, 3.0]],
                velocities: vec![[3.0, 4.0, 0.0]],
                poses: vec![[4.0, 5.0, 6.0, 1.0, 0.0, 0.0, 0.0]],
                body_velocities: vec![[0.0, 0.0, 2.0]],
                ..Frame::default()
            }],
            samples: vec![Sample {
                kinetic: 7.0,
                potential: f64::NAN,
                ..Sample::default()
            }],
            ..Recording::default()
        };
        recording.probes.columns = vec!["stone.x_m".into()];
        recording.probes.lines = vec![vec![0.0, 1.0]];
        let line = ContactLine {
            time: 0.0,
            sides: [0, 1],
            point: [0.5, 0.25, 0.125],
            normal: [0.0, 1.0, 0.0],
            gap: 0.0,
            force: [0.0, 9.0, 0.0],
            torque: [0.0; 3],
            velocity: [0.0; 3],
            state: ContactPhase::Sticking,
        };
        let open = ContactLine {
            force: [0.0; 3],
            ..line
        };
        recording.contacts.lines = vec![open, line];
        recording
    }

    #[test]
    fn a_moment_is_told_in_order() {
        let recording = moment();
        let live = Live::of(&recording, [0.0, 2.0, 0.0]).unwrap();
        let mut bytes = Vec::new();
        live.numbers(&recording, &mut bytes).unwrap();
        let numbers: Vec<f32> = bytes
            .as_chunks()
            .0
            .iter()
            .map(|b| f32::from_le_bytes(*b))
            .collect();
        let expected = [
            1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 1.0, 0.0, 0.0, 0.0, 5.0, 2.0, 0.5, 0.25, 0.125, 0.0, 9.0, 0.0,
        ];
        assert_eq!(numbers, expected);
        assert_eq!(
            live.lines(&recording),
            [vec![Some(7.0), None, Some(0.0)], vec![Some(1.0)]]
        );
        let scene = live.scene(&recording, &[true, true], &[true, false]).unwrap();
        assert_eq!(scene["up"], serde_json::json!([0.0, 1.0, 0.0]));
        assert_eq!(scene["fields"][0]["name"], "speed");
        assert_eq!(scene["fields"][0]["bodies"], true);
        assert_eq!(scene["tables"][1]["columns"][0], "stone.x");
        assert_eq!(scene["reach"], serde_json::json!([true, false]));
    }

    #[test]
    fn what_cannot_be_drawn_is_named() {
        let mut recording = moment();
        let live = Live::of(&recording, [0.0, 1.0, 0.0]).unwrap();
        recording.frames[0].points[0][1] = f64::INFINITY;
        let error = live.numbers(&recording, &mut Vec::new()).unwrap_err();
        assert!(error.to_string().contains("stone"), "{error}");
        assert!(Live::of(&moment(), [0.0; 3]).is_err());
    }

    #[test]
    fn sockets_are_of_live_pages_alone() {
        let page = live_html("ws://127.0.0.1:1");
        assert!(page.contains("; connect-src ws://127.0.0.1:1\">") && page.contains("new WebSocket("));
        assert!(!page.contains("{{"));
        let page = player_html(&moment(), [0.0, 1.0, 0.0]).unwrap();
        assert!(!page.contains("WebSocket") && !page.contains("connect-src"));
        assert!(
            page.contains("default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'\">")
        );
    }
}
