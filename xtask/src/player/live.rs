//! The live page: a browser plays a run, pulls at a body and sets a parameter; and how many frames
//! it draws in a second.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use super::checks::{BLOCK, DISTANCE, TANGENT, cosine, near, number};
use super::remote::Remote;
use super::{SIZE, png};
use crate::process;

const SCENE: &str = include_str!("live.ron");
/// The place of the block at first, and the stiffness of its spring.
const START: [f64; 2] = [-1.0, 0.5];
const STIFFNESS: f64 = 100.0;
/// Half the edge of the block.
const HALF: f64 = 0.3;
/// No run is at its end while its frames are counted.
const LONG: &[&str] = &["--duration", "100"];
/// How long frames are counted.
const COUNTED: Duration = Duration::from_secs(10);

/// A `pliant view` that ends with this.
struct Viewed {
    program: Child,
    url: String,
}

impl Drop for Viewed {
    fn drop(&mut self) {
        let _ = self.program.kill();
        let _ = self.program.wait();
    }
}

impl Viewed {
    /// Views a scene with the program of this workspace, and with further arguments.
    fn of(scene: &Path, more: &[&str]) -> Result<Self, String> {
        let mut build = process::cargo().map_err(|e| e.to_string())?;
        build.args(["build", "--quiet", "--release", "--package", "pliant-cli"]);
        process::capture(build).map_err(|e| e.to_string())?;
        let root = process::workspace_root().map_err(|e| e.to_string())?;
        let mut command = Command::new(root.join("target/release/pliant"));
        command.args(["view", "--no-open"]).args(more).arg(scene);
        command.stdout(Stdio::piped());
        let mut program = command.spawn().map_err(|e| format!("pliant view: {e}"))?;
        let out = program.stdout.take().ok_or("pliant view prints nothing")?;
        let mut line = String::new();
        let read = BufReader::new(out).read_line(&mut line);
        let viewed = Self {
            program,
            url: line.trim().to_owned(),
        };
        read.map_err(|e| e.to_string())?;
        match viewed.url.starts_with("http://127.0.0.1:") {
            true => Ok(viewed),
            false => Err(format!("pliant view prints {line:?} and no address")),
        }
    }
}

/// Plays, pulls and sets; the sentences of what holds.
pub(super) fn check(scratch: &Path, folder: &Path) -> Result<Vec<String>, String> {
    let scene = folder.join("live.ron");
    std::fs::write(&scene, SCENE).map_err(|e| e.to_string())?;
    let viewed = Viewed::of(&scene, &[])?;
    let url = format!("{}#state", viewed.url);
    let mut page = Remote::open(&scratch.join("live"), SIZE, &url)?;
    let state = page.until("a frame", |state| state["live"]["frames"].as_u64() > Some(0))?;
    let mut told = vec![plays(&mut page)?];
    told.push(pulls(&mut page, &state, folder)?);
    told.push(sets(&mut page)?);
    told.push(reads_again(&mut page, &scene)?);
    match page.complaints.first() {
        None => Ok(told),
        Some(said) => Err(format!("the live page says on the console: {said}")),
    }
}

fn plays(page: &mut Remote) -> Result<String, String> {
    page.click("play")?;
    let playing = |state: &Value| state["live"]["playing"] == true && state["time"].as_f64() > Some(0.3);
    page.until("time to pass", playing)?;
    page.click("play")?;
    let paused = page.until("a pause", |state| state["live"]["playing"] == false)?;
    page.click("step")?;
    let before = number(&paused, "/live/head/time")?;
    let stepped = |state: &Value| state["live"]["head"]["time"].as_f64() > Some(before + 1e-3);
    let state = page.until("a step", stepped)?;
    near(
        "a step (s)",
        number(&state, "/live/head/time")? - before,
        0.01,
        0.0101,
    )?;
    Ok("the live page plays, pauses and steps".to_owned())
}

/// The block is pulled along its rail by as much as both springs say.
fn pulls(page: &mut Remote, state: &Value, folder: &Path) -> Result<String, String> {
    page.click("play")?;
    let pixel = |k: usize| number(state, &format!("/bodies/block/{k}"));
    let from = [pixel(0)?, pixel(1)?];
    let height = number(state, "/stage/1")?;
    // The front of the block is what is picked, in the line of sight of its middle.
    let depth = DISTANCE - HALF;
    let start = START.map(|x| x * depth / DISTANCE);
    let metres = 2.0 * TANGENT * depth / height;
    page.pointer("mouseMoved", from)?;
    page.pointer("mousePressed", from)?;
    let to = [from[0] + 150.0, from[1] - 40.0];
    for k in 1..=10 {
        let share = f64::from(k) / 10.0;
        let at = [0, 1].map(|i| from[i] + share * (to[i] - from[i]));
        page.pointer("mouseMoved", at)?;
    }
    let begun = number(&page.state()?, "/live/head/time")?;
    // Both springs swing, and the dashpots bring them to rest.
    let rests = |state: &Value| {
        let head = &state["live"]["head"];
        let kinetic = head["lines"][0][0].as_f64();
        head["pull"].is_object() && head["time"].as_f64() > Some(begun + 3.0) && kinetic < Some(1e-10)
    };
    let state = page.until("a pull of some seconds", rests)?;
    let pull = |key: &str, k: usize| number(&state, &format!("/live/head/pull/{key}/{k}"));
    let stiffness = number(&state, "/live/head/pull/stiffness")?;
    // The place that it pulls to is under the pointer.
    near(
        "the pull (m)",
        pull("place", 0)? - START[0],
        150.0 * metres,
        3.0 * metres,
    )?;
    near(
        "the pull up (m)",
        pull("place", 1)? - START[1],
        40.0 * metres,
        3.0 * metres,
    )?;
    for k in 0..3 {
        let force = stiffness * (pull("place", k)? - pull("held", k)?);
        near(
            "the force (N)",
            pull("force", k)?,
            force,
            1e-9 * force.abs().max(1.0),
        )?;
    }
    // At rest the spring of the scene carries it.
    let moved = pull("held", 0)? - start[0];
    near("the way (m)", moved, pull("force", 0)? / STIFFNESS, 1e-4)?;
    let expected = stiffness * (pull("place", 0)? - start[0]) / (STIFFNESS + stiffness);
    near("the way between both springs (m)", moved, expected, 1e-4)?;
    let shot = folder.join("live-pull.png");
    page.screenshot(&shot)?;
    let bytes = std::fs::read(&shot).map_err(|e| e.to_string())?;
    let picture = png::pixels(&bytes).ok_or("the picture of the live page cannot be read")?;
    // Off its middle, where the line of the pull begins.
    let [column, row] = [from[0] + moved / metres - 20.0, from[1] + 20.0];
    let found = picture[row as usize][column as usize];
    if cosine(found, BLOCK) < 0.93 {
        return Err(format!("the block is not seen where it was pulled to: {found:?}"));
    }
    page.pointer("mouseReleased", to)?;
    page.until("no pull", |state| state["live"]["head"]["pull"].is_null())?;
    Ok(format!(
        "a pull of {:.2} N moves the block by {moved:.4} m, its force over the stiffness of its spring",
        pull("force", 0)?
    ))
}

/// One parameter acts at once, the other one on restart.
fn sets(page: &mut Remote) -> Result<String, String> {
    for (name, value) in [("push", 10), ("mass", 5)] {
        page.value(&format!(
            "(() => {{ const n = document.querySelector('input[type=number][aria-label={name}]'); n.value = {value}; \
             n.dispatchEvent(new Event('change')); }})()"
        ))?;
    }
    let pushed = |state: &Value| {
        let x = state["live"]["head"]["lines"][1][0].as_f64();
        x.is_some_and(|x| (x - START[0] - 10.0 / STIFFNESS).abs() < 1e-4)
    };
    page.until("the push", pushed)?;
    let when =
        page.value("[...document.querySelectorAll('.when')].map((one) => one.textContent).join('|')")?;
    if when != "on restart \u{21ba}|at once" {
        return Err(format!("the page says when parameters act: {when}"));
    }
    page.click("restart")?;
    page.until("the restart", |state| {
        state["live"]["parameters"][0]["waits"] == false
    })?;
    Ok("parameters act at once or on restart, as the page says".to_owned())
}

/// A file with a mistake shows the mistake; the file without it the scene.
fn reads_again(page: &mut Remote, scene: &Path) -> Result<String, String> {
    let write = |text: &str| std::fs::write(scene, text).map_err(|e| e.to_string());
    write(&SCENE.replace("Slider", "Slidr"))?;
    let problem =
        "document.getElementById('problem').hidden ? '' : document.getElementById('problem').textContent";
    let begun = Instant::now();
    let text = loop {
        let text = page.value(problem)?;
        let text = text.as_str().unwrap_or_default().to_owned();
        if !text.is_empty() || begun.elapsed() > Duration::from_secs(20) {
            break text;
        }
        std::thread::sleep(Duration::from_millis(50));
    };
    if !text.contains("Slider") || !text.contains('^') {
        return Err(format!("the mistake in the scene is shown as {text:?}"));
    }
    // Two blocks are another scene: the page is loaded anew.
    write(&SCENE.replace(
        "mass: \"$mass\")]",
        "mass: \"$mass\"), (position: (1, -1, 0), shape: Sphere(0.2), mass: 1)]",
    ))?;
    let two = |state: &Value| {
        state["bodies"]
            .as_object()
            .is_some_and(|bodies| bodies.len() == 2)
    };
    page.until("the changed scene", two)?;
    Ok("a changed file is read again, and a mistake shown with its place".to_owned())
}

/// Counts the frames of scenes that play in real time; a sentence of each.
pub(super) fn rates(scenes: &[PathBuf], scratch: &Path) -> Result<Vec<String>, String> {
    let mut told = Vec::new();
    for (k, scene) in scenes.iter().enumerate() {
        let viewed = Viewed::of(scene, LONG)?;
        let url = format!("{}#state", viewed.url);
        let mut page = Remote::open(&scratch.join(format!("rates-{k}")), SIZE, &url)?;
        page.until("a frame", |state| state["live"]["frames"].as_u64() > Some(0))?;
        page.click("play")?;
        page.until("time to pass", |state| state["time"].as_f64() > Some(0.02))?;
        let count = |state: &Value| -> Result<[f64; 2], String> {
            Ok([number(state, "/live/frames")?, number(state, "/live/head/time")?])
        };
        let (begun, first) = (Instant::now(), count(&page.state()?)?);
        let mut last = first;
        while begun.elapsed() < COUNTED {
            std::thread::sleep(Duration::from_millis(500));
            let state = page.state()?;
            last = count(&state)?;
            if state["live"]["playing"] == false {
                break;
            }
        }
        let seconds = begun.elapsed().as_secs_f64();
        told.push(format!(
            "{}: {:.0} frames in a second, {:.2} times real time, over {seconds:.1} s",
            scene.file_stem().unwrap_or_default().to_string_lossy(),
            (last[0] - first[0]) / seconds,
            (last[1] - first[1]) / seconds
        ));
    }
    Ok(told)
}

/// Draws the picture of the live page in the documents: a box of a stack is pulled out.
pub(super) fn draw(root: &Path, scratch: &Path) -> Result<(), String> {
    let viewed = Viewed::of(&root.join("scenes/stack.ron"), LONG)?;
    let url = format!("{}#state&forces", viewed.url);
    let mut page = Remote::open(&scratch.join("live-picture"), [1000, 680], &url)?;
    page.until("a frame", |state| state["live"]["frames"].as_u64() > Some(0))?;
    page.click("play")?;
    let state = page.until("time to pass", |state| state["time"].as_f64() > Some(0.3))?;
    let from = [0, 1].map(|k| state["bodies"]["boxes 8"][k].as_f64().unwrap_or_default());
    page.pointer("mousePressed", from)?;
    for k in 1..=12 {
        let share = f64::from(k) / 12.0;
        page.pointer("mouseMoved", [from[0] + 90.0 * share, from[1] + 6.0 * share])?;
    }
    let until = number(&state, "/time")? + 0.9;
    page.until("a pull", |state| state["time"].as_f64() > Some(until))?;
    page.screenshot(&root.join("docs/book/src/pictures/view-stack.png"))?;
    println!("docs/book/src/pictures/view-stack.png: written");
    Ok(())
}
