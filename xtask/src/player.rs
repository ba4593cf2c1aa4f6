//! `cargo xtask player`: opens pages of the player in headless Chromium and checks that they draw
//! what they hold.
//!
//! Without a page, a scene of things of known places and colours is run: pixels have those colours,
//! read-outs are the numbers of `result.json`, and so on. A page that is given says `ready` with
//! the right number of frames at the time that it is asked for, draws the parts of the scene, and
//! shows another picture at the frame that lies farthest from the first. Nothing may be said on the
//! console. Chromium is Debian's, or the program that `PLIANT_CHROMIUM` names.

mod checks;
mod live;
mod pictures;
mod png;
mod remote;

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::error::Error;
use crate::process;

const FLAGS: &[&str] = &[
    "--headless",
    "--no-sandbox",
    "--disable-gpu-sandbox",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
    "--force-device-scale-factor=1",
    "--enable-logging=stderr",
];
/// Width and height of a page (px).
const SIZE: [usize; 2] = [960, 640];
/// Longest time of one start of Chromium.
const PATIENCE: Duration = Duration::from_secs(90);

/// Checks the page, or the scene of known things; the pictures stay in the folder if one is given.
/// With `--live-rate` counts the frames of live scenes instead.
pub(crate) fn run(args: &[String]) -> Result<u8, Error> {
    if let [first, scenes @ ..] = args
        && first == "--live-rate"
    {
        return live_rates(scenes);
    }
    if args.len() > 2 {
        eprintln!(
            "usage: cargo xtask player [PAGE.html] [FOLDER]\n       cargo xtask player --live-rate SCENE..."
        );
        return Ok(2);
    }
    let scratch = std::env::temp_dir().join(format!("pliant-player-{}", std::process::id()));
    let (page, folder) = match args {
        [page, rest @ ..] if page.ends_with(".html") => (Some(page), rest.first()),
        rest => (None, rest.first()),
    };
    let folder = folder.map_or_else(|| scratch.clone(), PathBuf::from);
    let checked = in_browser(&scratch, &folder, |browser| match page {
        Some(page) => Ok(vec![check(Path::new(page), &folder, browser)?]),
        None => {
            let mut told = checks::run(browser, &folder)?;
            told.extend(live::check(&scratch, &folder)?);
            Ok(told)
        }
    });
    let what = page.map_or("the player", String::as_str);
    match &checked {
        Ok(sentences) => sentences
            .iter()
            .for_each(|sentence| println!("{what}: {sentence}")),
        Err(sentence) => eprintln!("error: {what}: {sentence}"),
    }
    Ok(u8::from(checked.is_err()))
}

/// Counts the frames of live scenes.
fn live_rates(scenes: &[String]) -> Result<u8, Error> {
    let scratch = std::env::temp_dir().join(format!("pliant-rates-{}", std::process::id()));
    let scenes: Vec<PathBuf> = scenes.iter().map(PathBuf::from).collect();
    let told = live::rates(&scenes, &scratch);
    // Left over, it takes room and nothing else.
    let _ = std::fs::remove_dir_all(&scratch);
    match &told {
        Ok(sentences) => sentences.iter().for_each(|sentence| println!("{sentence}")),
        Err(sentence) => eprintln!("error: {sentence}"),
    }
    Ok(u8::from(told.is_err()))
}

/// Draws the pictures of the documents anew.
pub(crate) fn draw_pictures() -> Result<u8, Error> {
    let root = process::workspace_root()?;
    let scratch = std::env::temp_dir().join(format!("pliant-pictures-{}", std::process::id()));
    let drawn = in_browser(&scratch, &scratch, |browser| {
        pictures::draw(browser, &root, &scratch)
    });
    if let Err(sentence) = &drawn {
        eprintln!("error: {sentence}");
    }
    Ok(u8::from(drawn.is_err()))
}

/// Makes the folders, does something with a browser, and removes what it leaves.
fn in_browser<T>(
    scratch: &Path,
    folder: &Path,
    work: impl FnOnce(&Browser) -> Result<T, String>,
) -> Result<T, String> {
    for folder in [folder, scratch] {
        std::fs::create_dir_all(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    }
    let done = Browser::new(scratch).and_then(|browser| work(&browser));
    // Left over, it takes room and nothing else.
    let _ = std::fs::remove_dir_all(scratch);
    done
}

/// Opens the page at the two frames; what it shows in one sentence.
fn check(page: &Path, folder: &Path, browser: &Browser) -> Result<String, String> {
    let text = std::fs::read_to_string(page).map_err(|e| e.to_string())?;
    let path = page.canonicalize().map_err(|e| e.to_string())?;
    let recording = Recording::of(&text)?;
    let (later, moved) = recording.farthest();
    let name = path
        .file_stem()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned();
    let mut pictures = Vec::new();
    for index in [0, later] {
        let time = recording.times[index];
        let url = format!("file://{}#t={time:?}&paused", path.display()).replace(' ', "%20");
        let page = browser.text(&url)?;
        recording.check_status(between(&page, "<output id=\"status\"", "</output>")?, time)?;
        let picture = folder.join(format!("{name}-{index:04}.png"));
        browser.screenshot(&url, &picture)?;
        let bytes = std::fs::read(&picture).map_err(|e| format!("{}: {e}", picture.display()))?;
        let stage =
            stage(&png::pixels(&bytes).ok_or_else(|| format!("{} cannot be read", picture.display()))?);
        let mut colours = stage.clone();
        colours.sort_unstable();
        colours.dedup();
        if colours.len() < 40 {
            return Err(format!(
                "the picture of frame {index} is blank ({} colours)",
                colours.len()
            ));
        }
        pictures.push(stage);
    }
    let differs = |(a, b): (&[u8; 3], &[u8; 3])| a.iter().zip(b).any(|(x, y)| x.abs_diff(*y) > 24);
    let different = pictures[0]
        .iter()
        .zip(&pictures[1])
        .filter(|pair| differs(*pair))
        .count();
    let times = [recording.times[0], recording.times[later]];
    if moved >= 0.01 && different < 50 {
        return Err(format!(
            "the pictures of t = {:.3} and t = {:.3} differ in {different} pixels only",
            times[0], times[1]
        ));
    }
    let compared = if moved < 0.01 {
        "; it hardly moves, the pictures were not compared"
    } else {
        ""
    };
    Ok(format!(
        "{} frames, t = {:.3} and {:.3}{compared}",
        recording.times.len(),
        times[0],
        times[1]
    ))
}

/// The pixels of the picture itself, without title and controls.
fn stage(rows: &[Vec<[u8; 3]>]) -> Vec<[u8; 3]> {
    rows[rows.len() / 8..rows.len() * 7 / 10].concat()
}

/// Chromium with a profile of its own.
struct Browser {
    scratch: PathBuf,
    /// How much taller its window is than its page when it prints one (px).
    frame: usize,
}

impl Browser {
    fn new(scratch: &Path) -> Result<Self, String> {
        let mut browser = Self {
            scratch: scratch.to_owned(),
            frame: 0,
        };
        // A page that says how tall it is: a picture and a text are to be of the same page.
        let probe = scratch.join("height.html");
        let text = "<p id=h></p><script>document.getElementById('h').textContent = innerHeight</script>";
        std::fs::write(&probe, text).map_err(|e| e.to_string())?;
        let page = browser.text(&format!("file://{}", probe.display()))?;
        let height = between(&page, "<p id=\"h\"", "</p>")?;
        let height: usize = height.parse().map_err(|_| format!("a page {height} px tall"))?;
        browser.frame = SIZE[1].saturating_sub(height);
        Ok(browser)
    }

    /// The page after its script has run.
    fn text(&self, url: &str) -> Result<String, String> {
        let [width, height] = SIZE;
        self.run(
            [width, height + self.frame],
            &["--dump-dom".to_owned(), url.to_owned()],
        )
    }

    fn screenshot(&self, url: &str, path: &Path) -> Result<(), String> {
        self.screenshot_of(SIZE, url, path)
    }

    fn screenshot_of(&self, size: [usize; 2], url: &str, path: &Path) -> Result<(), String> {
        let to = format!("--screenshot={}", path.display());
        self.run(size, &[to, url.to_owned()]).map(drop)
    }

    /// Starts it; what it prints. What a page says on the console is an error.
    fn run(&self, [width, height]: [usize; 2], args: &[String]) -> Result<String, String> {
        let program = std::env::var("PLIANT_CHROMIUM").unwrap_or_else(|_| "chromium".to_owned());
        let [out, complaints] = ["out", "complaints"].map(|name| self.scratch.join(name));
        let file = File::create(&out).map_err(|e| e.to_string())?;
        let errors = File::create(&complaints).map_err(|e| e.to_string())?;
        let mut command = Command::new(&program);
        command
            .args(FLAGS)
            .arg(format!("--window-size={width},{height}"))
            .arg(format!(
                "--user-data-dir={}",
                self.scratch.join("profile").display()
            ))
            .args(args);
        command.stdout(file).stderr(errors);
        let missing = |e| format!("cannot start {program}: {e}; on Debian: apt-get install chromium");
        let mut child = command.spawn().map_err(missing)?;
        let start = Instant::now();
        let status = loop {
            if let Some(status) = child.try_wait().map_err(|e| e.to_string())? {
                break status;
            }
            if start.elapsed() > PATIENCE {
                let _ = child.kill();
                return Err(format!("{program} took more than {} s", PATIENCE.as_secs()));
            }
            std::thread::sleep(Duration::from_millis(50));
        };
        if !status.success() {
            return Err(format!("{program} ended with {status}"));
        }
        let said = std::fs::read(&complaints).map_err(|e| e.to_string())?;
        let said = String::from_utf8_lossy(&said);
        if let Some(line) = said.lines().find(|line| line.contains(":CONSOLE")) {
            return Err(format!("the page says on the console: {line}"));
        }
        std::fs::read_to_string(&out).map_err(|e| e.to_string())
    }
}

/// The text of the element whose tag begins so.
fn between<'a>(page: &'a str, tag: &str, end: &str) -> Result<&'a str, String> {
    let element = page.split_once(tag).and_then(|(_, rest)| rest.split_once('>'));
    let text = element.and_then(|(_, rest)| rest.split_once(end));
    text.map(|(text, _)| text.trim())
        .ok_or_else(|| format!("the page has no element {tag}"))
}

/// The data that a page holds.
struct Recording {
    times: Vec<f64>,
    /// Numbers of all frames, one frame after the other.
    numbers: Vec<f32>,
    /// Points and bodies.
    parts: usize,
}

impl Recording {
    fn of(page: &str) -> Result<Self, String> {
        let text = between(page, "<script type=\"application/json\" id=\"data\"", "</script>")?;
        let data: Value = serde_json::from_str(text).map_err(|e| format!("the data of the page: {e}"))?;
        let bytes = |key: &str| {
            data[key]
                .as_str()
                .and_then(base64)
                .ok_or_else(|| format!("the page has no `{key}`"))
        };
        let times: Vec<f64> = bytes("times")?
            .as_chunks()
            .0
            .iter()
            .map(|b| f64::from_le_bytes(*b))
            .collect();
        let numbers = bytes("frames")?
            .as_chunks()
            .0
            .iter()
            .map(|b| f32::from_le_bytes(*b))
            .collect();
        if times.is_empty() || data["count"].as_u64() != Some(times.len() as u64) {
            return Err(format!(
                "the page says {} frames and holds {} times",
                data["count"],
                times.len()
            ));
        }
        let bodies = data["bodies"].as_array().map_or(0, Vec::len);
        let parts = data["points"].as_u64().unwrap_or(0) as usize + bodies;
        Ok(Self {
            times,
            numbers,
            parts,
        })
    }

    /// The frame that lies farthest from the first, and its distance as a share of the largest
    /// number.
    fn farthest(&self) -> (usize, f32) {
        let (count, stride) = (self.times.len(), self.numbers.len() / self.times.len());
        let frame = |index: usize| &self.numbers[index * stride..(index + 1) * stride];
        let (mut best, mut far, mut size) = (0, 0.0_f32, 1e-30_f32);
        for index in (0..count).step_by((count / 60).max(1)) {
            let distance = frame(0)
                .iter()
                .zip(frame(index))
                .fold(0.0, |d: f32, (x, y)| d.max((x - y).abs()));
            size = frame(index).iter().fold(size, |s, x| s.max(x.abs()));
            if distance > far {
                (best, far) = (index, distance);
            }
        }
        (best, far / size)
    }

    /// Compares `ready frames=N time=T drawn=P` with the data.
    fn check_status(&self, status: &str, time: f64) -> Result<(), String> {
        let number =
            |word: Option<&str>, key: &str| word.and_then(|word| word.strip_prefix(key)?.parse::<f64>().ok());
        let mut words = status.split_whitespace();
        let is_ready = words.next() == Some("ready");
        let [frames, shown, drawn] = ["frames=", "time=", "drawn="].map(|key| number(words.next(), key));
        match (frames, shown, drawn) {
            (Some(frames), Some(shown), Some(drawn))
                if is_ready
                    && frames == self.times.len() as f64
                    && (shown - time).abs() <= 0.001
                    && (drawn > 0.0) == (self.parts > 0) =>
            {
                Ok(())
            }
            _ => Err(format!(
                "asked for t = {time:.3} of {} frames with {} parts, the page says: {status}",
                self.times.len(),
                self.parts
            )),
        }
    }
}

/// The bytes of a text in base 64.
fn base64(text: &str) -> Option<Vec<u8>> {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let (mut out, mut bits, mut count) = (Vec::new(), 0_u32, 0);
    for c in text.trim_end_matches('=').bytes() {
        bits = bits << 6 | DIGITS.iter().position(|digit| *digit == c)? as u32;
        count += 6;
        if count >= 8 {
            count -= 8;
            out.push((bits >> count) as u8);
        }
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base_64_is_read() {
        assert_eq!(base64("cGxpYW50"), Some(b"pliant".to_vec()));
        assert_eq!(base64("cGxpYQ=="), Some(b"plia".to_vec()));
        assert_eq!(base64("?"), None);
    }

    #[test]
    fn the_farthest_frame_and_the_status_are_understood() {
        let recording = Recording {
            times: vec![0.0, 0.1, 0.2],
            numbers: vec![0.0, 1.0, 0.0, 3.0, 0.5, 1.0],
            parts: 2,
        };
        assert_eq!(recording.farthest(), (1, 2.0 / 3.0));
        assert!(
            recording
                .check_status("ready frames=3 time=0.100 drawn=2", 0.1)
                .is_ok()
        );
        for wrong in [
            "ready frames=2 time=0.100 drawn=2",
            "ready frames=3 time=0.2 drawn=2",
            "ready frames=3 time=0.100 drawn=0",
            "error: x",
        ] {
            assert!(recording.check_status(wrong, 0.1).is_err(), "{wrong}");
        }
    }
}
