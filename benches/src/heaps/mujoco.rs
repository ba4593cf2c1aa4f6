//! Heaps in MuJoCo, another program: `benches/reference/heaps.py` steps them, this module reads
//! what it prints.

use super::{Form, GRAVITY, Heap, Moment, Piece};
use serde_json::{Value, json};
use std::error::Error;
use std::io::Write;
use std::process::{Command, Stdio};

/// How MuJoCo is to step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Setting {
    /// Name in the table.
    pub name: &'static str,
    /// Steps per 1/60 s.
    pub steps: usize,
    /// Whether contacts are as stiff as MuJoCo takes them for the step, with round friction cones.
    pub stiff: bool,
}

fn piece(piece: &Piece) -> Value {
    let mut out = json!({"mass": piece.mass, "at": piece.at, "turn": piece.turn});
    match piece.form {
        Form::Cuboid(half) => out["half"] = json!(half),
        Form::Ball(radius) => out["radius"] = json!(radius),
    }
    out
}

/// The states of a heap after each of `count` times 1/60 s, each with the seconds on the processor
/// that it took, by a Python that has the package `mujoco`.
///
/// # Errors
/// If it cannot be started, or says something else.
pub fn run(
    python: &str,
    heap: &Heap,
    setting: Setting,
    count: usize,
) -> Result<Vec<(f64, Moment)>, Box<dyn Error>> {
    let text = json!({
        "bodies": heap.bodies.iter().map(piece).collect::<Vec<_>>(),
        "fixed": heap.fixed.iter().map(piece).collect::<Vec<_>>(),
        "friction": heap.friction,
        "gravity": GRAVITY,
        "steps": setting.steps,
        "stiff": setting.stiff,
        "count": count,
    });
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/reference/heaps.py");
    let mut child = Command::new(python)
        .arg(script)
        .current_dir(std::env::temp_dir())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|e| format!("{python}: {e}"))?;
    if let Some(mut input) = child.stdin.take() {
        input.write_all(text.to_string().as_bytes())?;
    }
    let output = child.wait_with_output()?;
    if !output.status.success() {
        return Err(format!("{python} {script}: {}", output.status).into());
    }
    String::from_utf8(output.stdout)?.lines().map(moment).collect()
}

/// One line of the script.
fn moment(line: &str) -> Result<(f64, Moment), Box<dyn Error>> {
    let numbers: Vec<f64> = line.split(' ').map(str::parse).collect::<Result<_, _>>()?;
    let (time, state) = numbers.split_first().ok_or("an empty line")?;
    let bodies = state.as_chunks::<13>().0.iter();
    let one = |n: &[f64; 13]| {
        (
            [n[0], n[1], n[2]],
            [n[3], n[4], n[5], n[6]],
            [n[7], n[8], n[9]],
            [n[10], n[11], n[12]],
        )
    };
    Ok((*time, bodies.map(one).collect()))
}
