//! Values of arguments, read of their texts.

use pliant_run::Every;
use pliant_scene::Number;
use pliant_sweep::execute::MOST_WORKERS;
use std::path::PathBuf;
use std::time::Duration;

/// Width and height.
pub(super) fn size(text: &str) -> Result<[u32; 2], String> {
    let sides = text
        .split_once('x')
        .map(|(w, h)| [w, h].map(|side| side.trim().parse().ok()));
    match sides {
        Some([Some(width), Some(height)]) => Ok([width, height]),
        _ => Err("expected two whole numbers, such as 1280x720".to_owned()),
    }
}

/// A directory that is there.
pub(super) fn directory(text: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(text);
    match path.is_dir() {
        true => Ok(path),
        false => Err("there is no such directory".to_owned()),
    }
}

/// The directory of a package.
pub(super) fn package(text: &str) -> Result<(String, PathBuf), String> {
    let (name, path) = text.split_once('=').ok_or("expected NAME=DIR")?;
    Ok((name.trim().to_owned(), directory(path)?))
}

/// Three numbers with commas between them.
pub(super) fn position(text: &str) -> Result<[f64; 3], String> {
    let numbers: Result<Vec<f64>, _> = text.split(',').map(|x| x.trim().parse()).collect();
    let position: Option<[f64; 3]> = numbers.ok().and_then(|list| list.try_into().ok());
    match position {
        Some(position) if position.iter().all(|x| x.is_finite()) => Ok(position),
        _ => Err("expected three numbers, such as 0,0,0.5".to_owned()),
    }
}

/// The coordinate of a joint.
pub(super) fn coordinate(text: &str) -> Result<(String, f64), String> {
    let (name, value) = text.rsplit_once('=').ok_or("expected JOINT=VALUE")?;
    match value.trim().parse::<f64>() {
        Ok(value) if value.is_finite() => Ok((name.trim().to_owned(), value)),
        _ => Err("expected a number behind the =".to_owned()),
    }
}

/// A time or a number of steps.
pub(super) fn every(text: &str) -> Result<Every, String> {
    const EXPECTED: &str = "expected a time such as 30s, 5min or 2h, or a number of steps such as 100steps";
    let text = text.trim();
    let unit = text.find(|c: char| c.is_alphabetic()).ok_or(EXPECTED)?;
    let (number, unit) = (text[..unit].trim(), &text[unit..]);
    let seconds = match unit {
        "step" | "steps" => {
            let steps = number
                .parse()
                .map_err(|_| "expected a whole number of steps, from 1 on")?;
            return Ok(Every::Steps(steps));
        }
        "ms" => 1e-3,
        "s" => 1.0,
        "min" => 60.0,
        "h" => 3600.0,
        _ => return Err(format!("`{unit}` is no unit of time: {EXPECTED}")),
    };
    let time = seconds * number.parse::<f64>().map_err(|_| EXPECTED)?;
    match Duration::try_from_secs_f64(time) {
        Ok(time) if !time.is_zero() => Ok(Every::Time(time)),
        _ => Err("expected a time greater than zero that a clock can count".to_owned()),
    }
}

/// A number of jobs at the same time.
pub(super) fn workers(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(count) if (1..=MOST_WORKERS).contains(&count) => Ok(count),
        _ => Err(format!("expected a whole number from 1 to {MOST_WORKERS}")),
    }
}

/// A count from one on.
pub(super) fn at_least_one(text: &str) -> Result<usize, String> {
    match text.trim().parse() {
        Ok(count) if count > 0 => Ok(count),
        _ => Err("expected a whole number, from 1 on".to_owned()),
    }
}

/// A number that is one.
pub(super) fn finite(text: &str) -> Result<f64, String> {
    match text.trim().parse::<f64>() {
        Ok(value) if value.is_finite() => Ok(value),
        _ => Err("expected a finite number".to_owned()),
    }
}

/// A number above zero.
pub(super) fn positive(text: &str) -> Result<f64, String> {
    finite(text)
        .ok()
        .filter(|value| *value > 0.0)
        .ok_or_else(|| "expected a finite number above zero".to_owned())
}

/// The text of a time or a number of steps.
pub(super) fn every_as_text(text: &str) -> Result<String, String> {
    every(text).map(|_| text.trim().to_owned())
}

/// A name and the number that it has.
pub(super) fn assignment(text: &str) -> Result<(String, Number), String> {
    let (name, value) = text.split_once('=').ok_or("expected NAME=VALUE")?;
    let name = name.trim().trim_start_matches('$');
    if name.is_empty() {
        return Err("expected NAME=VALUE".into());
    }
    Ok((name.to_owned(), Number::Expression(value.trim().to_owned())))
}
