//! Checks of a scene of known places, colours and numbers in the player.

use std::path::Path;

use serde_json::Value;

use super::{Browser, between, png};
use crate::process;

/// The scene.
const SCENE: &str = include_str!("scene.ron");
/// Tangent of half the vertical angle of view of the player, of 17 degrees.
pub(super) const TANGENT: f64 = 0.305_730_681_458_660_4;
/// How far the camera of the scene is from the plane of its things (m).
pub(super) const DISTANCE: f64 = 10.0;
/// Least cosine between a colour and that of a pixel, which light and shade make darker or paler.
const LEAST_COSINE: f64 = 0.93;

pub(super) const BLOCK: [f64; 3] = [0.84, 0.15, 0.16];
const DISC: [f64; 3] = [0.17, 0.63, 0.17];
const STONE: [f64; 3] = [0.06, 0.25, 0.82];
const TAPE: [f64; 3] = [0.83, 0.63, 0.09];
/// Half-way between no activation and a full one.
const ACTIVE: [f64; 3] = [0.93, 0.55, 0.45];
/// The ends and the middle of the colours of fields.
const HIGHEST: [f64; 3] = [0.98, 0.89, 0.20];
const MIDDLE: [f64; 3] = [0.08, 0.57, 0.58];

/// Runs the scene and looks at its page; the sentences of what holds.
pub(super) fn run(browser: &Browser, folder: &Path) -> Result<Vec<String>, String> {
    let scene = folder.join("check.ron");
    std::fs::write(&scene, SCENE).map_err(|e| e.to_string())?;
    let out = folder.join("check");
    simulate(&scene, &out)?;
    let text = std::fs::read_to_string(out.join("result.json")).map_err(|e| e.to_string())?;
    let result: Value = serde_json::from_str(&text).map_err(|e| e.to_string())?;
    let page = Page {
        browser,
        path: out.join("play.html").display().to_string(),
        folder,
    };
    Ok(vec![
        page.colours()?,
        page.hidden()?,
        page.fields()?,
        page.numbers(&result)?,
        page.forces()?,
        page.follows()?,
    ])
}

/// Runs a scene with the program of this workspace.
pub(super) fn simulate(scene: &Path, out: &Path) -> Result<(), String> {
    let mut command = process::cargo().map_err(|e| e.to_string())?;
    command.args([
        "run",
        "--quiet",
        "--release",
        "--package",
        "pliant-cli",
        "--",
        "run",
        "--quiet",
    ]);
    command.arg(scene).arg("--out").arg(out);
    process::capture(command).map(drop).map_err(|e| e.to_string())
}

struct Page<'a> {
    browser: &'a Browser,
    path: String,
    folder: &'a Path,
}

impl Page<'_> {
    fn url(&self, words: &str) -> String {
        format!("file://{}#{words}", self.path).replace(' ', "%20")
    }

    /// The picture alone, without panels.
    fn picture(&self, name: &str, words: &str) -> Result<Vec<Vec<[u8; 3]>>, String> {
        let path = self.folder.join(format!("check-{name}.png"));
        self.browser
            .screenshot(&self.url(&format!("paused&bare&{words}")), &path)?;
        let bytes = std::fs::read(&path).map_err(|e| e.to_string())?;
        png::pixels(&bytes).ok_or_else(|| format!("{} cannot be read", path.display()))
    }

    /// The numbers that the page tells.
    fn state(&self, words: &str) -> Result<Value, String> {
        let page = self.browser.text(&self.url(&format!("paused&state&{words}")))?;
        let text = between(&page, "<output id=\"state\"", "</output>")?;
        let text = text
            .replace("&amp;", "&")
            .replace("&lt;", "<")
            .replace("&gt;", ">");
        serde_json::from_str(&text).map_err(|e| format!("the state of the page: {e}: {text}"))
    }

    /// Things are where the camera of the scene sees them, in the colours that it gives them.
    fn colours(&self) -> Result<String, String> {
        let picture = self.picture("colours", "t=0&joints=off")?;
        let things = [
            ("block", [-1.5, -1.0, 0.3], BLOCK),
            ("disc", [1.5, 1.0, 0.3], DISC),
            ("stone", [0.0, 1.0, 0.0], STONE),
            ("tape", [0.0, 1.25, 0.0], TAPE),
            ("biceps", [-0.7, 0.7, 0.0], ACTIVE),
        ];
        for (name, place, colour) in things {
            expect(&picture, name, place, colour, true)?;
        }
        // Off the things there is no such colour.
        for (name, place, colour) in [
            ("block", [-1.5, 0.0, 0.0], BLOCK),
            ("disc", [1.5, 0.0, 0.0], DISC),
        ] {
            expect(&picture, name, place, colour, false)?;
        }
        Ok(format!(
            "{} things have their colours at their places",
            things.len()
        ))
    }

    fn hidden(&self) -> Result<String, String> {
        let words = "t=0&joints=off&hide=block&hide=tape,stone";
        let picture = self.picture("hidden", words)?;
        for (name, place, colour) in [
            ("block", [-1.5, -1.0, 0.3], BLOCK),
            ("stone", [0.0, 1.0, 0.0], STONE),
            ("tape", [0.0, 1.25, 0.0], TAPE),
        ] {
            expect(&picture, name, place, colour, false)?;
        }
        expect(&picture, "disc", [1.5, 1.0, 0.3], DISC, true)?;
        Ok("hidden things are not there, and others are".to_owned())
    }

    /// The fastest has the colour of the upper end, half as fast the one of the middle.
    fn fields(&self) -> Result<String, String> {
        let picture = self.picture("speed", "t=0.2&joints=off&colour=speed")?;
        let state = self.state("t=0.2&colour=speed&pick=stone")?;
        let high = number(&state, "/colour/high")?;
        near("the highest speed", high, 2.0, 0.05)?;
        let place = number_list(&state, "stone")?;
        expect(&picture, "stone", [0.0, place[1], 0.0], HIGHEST, true)?;
        expect(&picture, "disc", [1.3, 1.0, 0.3], MIDDLE, true)?;
        Ok("speeds have the colours of their scale".to_owned())
    }

    /// Read-outs are the numbers of `result.json`, to the digits that they show, and on their axes.
    fn numbers(&self, result: &Value) -> Result<String, String> {
        let words = "t=0.2&plot=energies&plot=stone.y&plot=far,still&plot=foot.normal";
        let state = self.state(words)?;
        let strips = state["plots"].as_array().ok_or("the page has no plots")?;
        let mut count = 0;
        for strip in strips {
            let [low, high] = [number(strip, "/low")?, number(strip, "/high")?];
            for curve in strip["curves"].as_array().ok_or("a plot has no curves")? {
                let name = curve["name"].as_str().unwrap_or_default();
                let value = number(curve, "/value")?;
                let known = match name {
                    "kinetic" | "potential" | "total" | "dissipated" => &result["energy_end"][name],
                    _ => &result["probes"][name]["last"],
                };
                if let Some(known) = known.as_f64() {
                    near(name, value, known, 1e-12 * known.abs().max(1.0))?;
                    count += 1;
                }
                let shown = value - number(curve, "/shift")?;
                let (read, digit) = read_out(curve["text"].as_str().unwrap_or_default())?;
                near(&format!("the read-out of {name}"), read, shown, 0.51 * digit)?;
                let rounding = 1e-9 * (high - low);
                if !(low - rounding..=high + rounding).contains(&shown) {
                    return Err(format!(
                        "{name} is {shown}, and its axis goes from {low} to {high}"
                    ));
                }
            }
        }
        if count < 7 {
            return Err(format!("only {count} numbers were found in result.json"));
        }
        let still = curve(strips, "still")?;
        if still["constant"] != true || curve(strips, "far")?["constant"] != false {
            return Err("`still` is constant, and `far` is not".to_owned());
        }
        Ok(format!("{count} numbers are those of result.json, on their axes"))
    }

    /// The bar of the arrows has the length of its force, and the rail carries the weight.
    fn forces(&self) -> Result<String, String> {
        let state = self.state("t=0.2&forces&reactions&scale=25&pick=rail")?;
        let height = number(&state, "/stage/1")?;
        let [newtons, pixels] = [
            number(&state, "/arrows/newtons")?,
            number(&state, "/arrows/pixels")?,
        ];
        let expected = newtons / 25.0 * height / (2.0 * TANGENT * DISTANCE);
        // The slider has steps of two hundredths of a power of ten.
        near("the bar of the arrows (px)", pixels, expected, 0.025 * expected)?;
        let rows = state["picked"]["rows"]
            .as_array()
            .ok_or("the rail was not picked")?;
        let force = rows
            .iter()
            .find(|row| row[0] == "force")
            .ok_or("the rail has no force")?;
        let force = force[1].as_str().unwrap_or_default();
        if !force.starts_with("(0.000, 10.000, 0.000) N") {
            return Err(format!("the rail carries {force} and not 10 N"));
        }
        Ok("arrows have their scale, and a joint its force".to_owned())
    }

    /// A thing that is followed stays where it is on the picture.
    fn follows(&self) -> Result<String, String> {
        for time in ["0", "0.2"] {
            let picture = self.picture(
                &format!("follow-{time}"),
                &format!("t={time}&joints=off&view=stone"),
            )?;
            let (row, column) = (picture.len() / 2, picture[0].len() / 2);
            let reach = row / 8;
            let found = (row - reach..row + reach).any(|r| {
                let pixels = &picture[r][column - reach..column + reach];
                pixels.iter().any(|pixel| cosine(*pixel, STONE) > 0.97)
            });
            if !found {
                return Err(format!(
                    "the stone is not in the middle of the picture at t = {time}"
                ));
            }
        }
        Ok("what is followed stays in the middle".to_owned())
    }
}

fn curve<'a>(strips: &'a [Value], name: &str) -> Result<&'a Value, String> {
    let curves = strips
        .iter()
        .filter_map(|strip| strip["curves"].as_array())
        .flatten();
    let mut named = curves.filter(|curve| curve["name"] == name);
    named.next().ok_or_else(|| format!("no curve is called {name}"))
}

pub(super) fn number(value: &Value, pointer: &str) -> Result<f64, String> {
    let found = value.pointer(pointer).and_then(Value::as_f64);
    found.ok_or_else(|| format!("the page has no number {pointer}"))
}

/// The position in the card of what was picked.
fn number_list(state: &Value, title: &str) -> Result<Vec<f64>, String> {
    let picked = &state["picked"];
    let rows = picked["rows"].as_array().filter(|_| picked["title"] == title);
    let text = rows.and_then(|rows| rows.iter().find(|row| row[0] == "position"));
    let text = text.and_then(|row| row[1].as_str()).ok_or("nothing was picked")?;
    let (inside, unit) = text
        .trim_start_matches('(')
        .split_once(") ")
        .ok_or("no position")?;
    let factor = if unit == "mm" { 1e-3 } else { 1.0 };
    let numbers = inside.replace('\u{2212}', "-");
    let numbers = numbers.split(", ").map(|x| x.parse::<f64>().map(|x| x * factor));
    numbers
        .collect::<Result<_, _>>()
        .map_err(|e| format!("{text}: {e}"))
}

/// The number of a read-out, and one of its last digit.
fn read_out(text: &str) -> Result<(f64, f64), String> {
    let plain = text.replace('\u{2212}', "-").replace(" (constant)", "");
    let (number, unit) = plain.split_once(' ').unwrap_or((plain.as_str(), ""));
    let value: f64 = number.parse().map_err(|e| format!("{text}: {e}"))?;
    let factor = match unit.chars().next() {
        Some('n') => 1e-9,
        Some('\u{b5}') => 1e-6,
        Some('m') if unit.len() > 1 && unit != "m/s" => 1e-3,
        Some('k') => 1e3,
        _ => 1.0,
    };
    let behind = number.split_once('.').map_or(0, |(_, digits)| digits.len());
    Ok((value * factor, factor * 10f64.powi(-(behind as i32))))
}

pub(super) fn near(what: &str, found: f64, expected: f64, tolerance: f64) -> Result<(), String> {
    match (found - expected).abs() <= tolerance {
        true => Ok(()),
        false => Err(format!("{what} is {found}, and {expected} is expected")),
    }
}

/// Cosine between two colours.
pub(super) fn cosine(pixel: [u8; 3], colour: [f64; 3]) -> f64 {
    let pixel = pixel.map(f64::from);
    let dot = |a: [f64; 3], b: [f64; 3]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    dot(pixel, colour) / (dot(pixel, pixel) * dot(colour, colour)).sqrt().max(1e-300)
}

/// Whether a thing of a colour is seen at a place of the world, by the camera of the scene.
fn expect(
    picture: &[Vec<[u8; 3]>],
    name: &str,
    [x, y, z]: [f64; 3],
    colour: [f64; 3],
    is_there: bool,
) -> Result<(), String> {
    let (height, width) = (picture.len() as f64, picture[0].len() as f64);
    let scale = 0.5 * height / (TANGENT * (DISTANCE - z));
    let (column, row) = (0.5 * width + scale * x, 0.5 * height - scale * y);
    let pixel = picture.get(row as usize).and_then(|row| row.get(column as usize));
    let pixel = *pixel.ok_or_else(|| format!("{name} is not in the picture"))?;
    match (cosine(pixel, colour) > LEAST_COSINE) == is_there {
        true => Ok(()),
        false => Err(format!(
            "{name}: the pixel ({column:.0}, {row:.0}) is {pixel:?}, {}of the colour {colour:?}",
            if is_there { "not " } else { "" }
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn read_outs_are_read() {
        assert_eq!(read_out("\u{2212}1.25 kJ"), Ok((-1250.0, 10.0)));
        assert_eq!(read_out("3 (constant)"), Ok((3.0, 1.0)));
        assert_eq!(read_out("0.50 m"), Ok((0.5, 0.01)));
        assert_eq!(read_out("20.0 mm"), Ok((0.02, 1e-4)));
        assert!(read_out("none").is_err());
    }

    #[test]
    fn pixels_are_found_by_place_and_colour() {
        let mut picture = vec![vec![[200, 200, 200]; 30]; 20];
        // One metre is 0.5 * 20 / (0.3057 * 10) = 3.27 px.
        picture[6][15] = [100, 18, 19];
        assert!(expect(&picture, "block", [0.0, 1.0, 0.0], BLOCK, true).is_ok());
        assert!(expect(&picture, "block", [0.0, -1.0, 0.0], BLOCK, true).is_err());
        assert!(expect(&picture, "block", [0.0, 1.0, 0.0], BLOCK, false).is_err());
        assert!(expect(&picture, "block", [0.0, 9.0, 0.0], BLOCK, true).is_err());
    }
}
