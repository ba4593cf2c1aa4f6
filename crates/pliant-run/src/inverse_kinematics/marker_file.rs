//! Files of places of markers over time.

use std::collections::BTreeMap;

/// Places of markers over time, out of a file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MarkerFile {
    /// The names of the markers.
    pub names: Vec<String>,
    /// Names of columns that look like those of a marker, without all three of them or in a unit that
    /// is no length: they are passed over.
    pub passed_over: Vec<String>,
    /// The instants, in the order of time.
    pub frames: Vec<MarkerFrame>,
}

/// An instant of a [`MarkerFile`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MarkerFrame {
    /// Time (s).
    pub time: f64,
    /// Place of each marker (m); `None` where it was not seen.
    pub places: Vec<Option<[f64; 3]>>,
}

/// A text that is no file of markers.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {message}")]
pub struct MarkerFileError {
    /// The line, counted from 1.
    pub line: usize,
    /// The complaint.
    pub message: String,
}

type Result<T> = std::result::Result<T, MarkerFileError>;

/// The lines of a text with their numbers, without those that are empty.
struct Lines<'a>(Vec<(usize, &'a str)>);

impl<'a> Lines<'a> {
    fn new(text: &'a str) -> Self {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let lines = text.lines().enumerate().map(|(k, line)| (k + 1, line));
        Self(lines.filter(|(_, line)| !line.trim().is_empty()).collect())
    }

    fn get(&self, k: usize, what: &str) -> Result<(usize, &'a str)> {
        let end = self.0.last().map_or(1, |(line, _)| *line);
        let missing = || wrong(end, format!("the file ends where {what} should be"));
        self.0.get(k).copied().ok_or_else(missing)
    }
}

fn wrong(line: usize, message: impl Into<String>) -> MarkerFileError {
    MarkerFileError {
        line,
        message: message.into(),
    }
}

impl MarkerFile {
    /// Reads a file of OpenSim's format TRC, which begins with `PathFileType`, or a table of
    /// comma-separated values with the columns `time_s` and `NAME.x_m`, `NAME.y_m`, `NAME.z_m` of
    /// each marker, as probes of positions write it. Units of length are `m`, `cm` and `mm`. A place
    /// without numbers is that of a marker that was not seen.
    ///
    /// # Errors
    /// [`MarkerFileError`] for any other text, times that do not grow, numbers that are not finite.
    pub fn from_text(text: &str) -> Result<Self> {
        let lines = Lines::new(text);
        let (_, first) = lines.get(0, "a table of markers")?;
        let file = if first.starts_with("PathFileType") {
            read_trc(&lines)?
        } else {
            read_table(&lines)?
        };
        let mut names = file.names.clone();
        names.sort_unstable();
        if let Some(pair) = names.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(wrong(
                lines.0[0].0,
                format!("there are two markers `{}`", pair[0]),
            ));
        }
        if file.names.is_empty() {
            return Err(wrong(lines.0[0].0, "there is no marker"));
        }
        if file.frames.is_empty() {
            let (last, _) = lines.0[lines.0.len() - 1];
            return Err(wrong(last, "there are no places of markers"));
        }
        Ok(file)
    }
}

/// Size of a unit of length (m).
fn length_unit(line: usize, unit: &str) -> Result<f64> {
    match unit {
        "m" => Ok(1.0),
        "cm" => Ok(1e-2),
        "mm" => Ok(1e-3),
        _ => Err(wrong(
            line,
            format!("`{unit}` is no unit of markers: m, cm and mm are"),
        )),
    }
}

/// A number of a cell; `None` for an empty one, or one that says it is no number.
fn number(line: usize, cell: &str) -> Result<Option<f64>> {
    let cell = cell.trim();
    if cell.is_empty() || cell.eq_ignore_ascii_case("nan") {
        return Ok(None);
    }
    match cell.parse::<f64>() {
        Ok(value) if value.is_finite() => Ok(Some(value)),
        _ => Err(wrong(line, format!("`{cell}` is no number"))),
    }
}

fn place(line: usize, name: &str, cells: [Option<f64>; 3], unit: f64) -> Result<Option<[f64; 3]>> {
    match cells {
        [None, None, None] => Ok(None),
        [Some(x), Some(y), Some(z)] => Ok(Some([x, y, z].map(|x| x * unit))),
        _ => Err(wrong(
            line,
            format!("the marker `{name}` has some of its three numbers"),
        )),
    }
}

/// Adds a frame, whose time must be later than the one before.
fn push(frames: &mut Vec<MarkerFrame>, line: usize, frame: MarkerFrame) -> Result<()> {
    match frames.last() {
        Some(last) if frame.time <= last.time => {
            let message = format!("the time {} does not come after {}", frame.time, last.time);
            Err(wrong(line, message))
        }
        _ => {
            frames.push(frame);
            Ok(())
        }
    }
}

/// TRC: four lines of heads, the line of axes, then a line for each frame: its number, the time, and
/// three numbers for each marker, with tabs between.
fn read_trc(lines: &Lines<'_>) -> Result<MarkerFile> {
    let (_, keys) = lines.get(1, "the names of the numbers of the file")?;
    let (values_at, values) = lines.get(2, "the numbers of the file")?;
    let header: BTreeMap<&str, &str> = keys.split_whitespace().zip(values.split_whitespace()).collect();
    let Some(unit) = header.get("Units") else {
        return Err(wrong(values_at, "the file does not say its `Units`"));
    };
    let unit = length_unit(values_at, unit)?;
    let (names_at, names) = lines.get(3, "the names of the markers")?;
    let mut cells = names.split('\t').map(str::trim).filter(|name| !name.is_empty());
    let heads = [cells.next(), cells.next()];
    if heads != [Some("Frame#"), Some("Time")] {
        return Err(wrong(
            names_at,
            "the line should begin with `Frame#` and `Time`, with tabs between",
        ));
    }
    let names: Vec<String> = cells.map(str::to_owned).collect();
    if let Some(count) = header.get("NumMarkers")
        && count.parse() != Ok(names.len())
    {
        let message = format!("there are {} names, but `NumMarkers` is {count}", names.len());
        return Err(wrong(names_at, message));
    }
    let (axes_at, axes) = lines.get(4, "the line of axes")?;
    if !axes.trim_start().starts_with("X1") {
        return Err(wrong(axes_at, "the line of axes should begin with `X1`"));
    }
    let mut frames = Vec::new();
    for &(line, text) in &lines.0[5..] {
        let cells: Vec<&str> = text.trim_end_matches(['\r', '\n']).split('\t').collect();
        let beyond = cells.iter().skip(2 + 3 * names.len());
        if let Some(cell) = beyond.map(|cell| cell.trim()).find(|cell| !cell.is_empty()) {
            return Err(wrong(line, format!("`{cell}` belongs to no marker")));
        }
        let short = cells.len() < 2 + 3 * names.len();
        if short && !text.ends_with('\t') && cells.len() > 2 && !(cells.len() - 2).is_multiple_of(3) {
            return Err(wrong(line, "the line ends within a marker"));
        }
        let cell = |k: usize| number(line, cells.get(k).copied().unwrap_or(""));
        let Some(time) = cell(1)? else {
            return Err(wrong(line, "the frame has no time"));
        };
        let mut places = Vec::with_capacity(names.len());
        for (k, name) in names.iter().enumerate() {
            let first = 2 + 3 * k;
            let numbers = [cell(first)?, cell(first + 1)?, cell(first + 2)?];
            places.push(place(line, name, numbers, unit)?);
        }
        push(&mut frames, line, MarkerFrame { time, places })?;
    }
    if let Some(count) = header.get("NumFrames")
        && count.parse() != Ok(frames.len())
    {
        let message = format!("there are {} frames, but `NumFrames` is {count}", frames.len());
        return Err(wrong(values_at, message));
    }
    Ok(MarkerFile {
        names,
        passed_over: Vec::new(),
        frames,
    })
}

/// The columns of a name: place in the table and size of the unit (m), where it is one of lengths, by
/// axis.
#[derive(Default)]
struct Axes {
    columns: [Option<(usize, Option<f64>)>; 3],
}

/// Comma-separated values; columns that are no places are passed over.
fn read_table(lines: &Lines<'_>) -> Result<MarkerFile> {
    let (at, head) = lines.get(0, "the names of the columns")?;
    let heads: Vec<&str> = head
        .split(',')
        .map(|name| name.trim().trim_matches('"'))
        .collect();
    let Some(time_at) = heads.iter().position(|name| *name == "time_s") else {
        return Err(wrong(
            at,
            "there is no column `time_s`, and the file is not of the format TRC",
        ));
    };
    // The columns of each name: their places and units by axis.
    let mut found: BTreeMap<&str, Axes> = BTreeMap::new();
    let mut order: Vec<&str> = Vec::new();
    for (k, head) in heads.iter().enumerate() {
        let Some((name, axis, unit)) = split(head) else {
            continue;
        };
        let own = found.entry(name).or_insert_with(|| {
            order.push(name);
            Axes::default()
        });
        if own.columns[axis]
            .replace((k, length_unit(at, unit).ok()))
            .is_some()
        {
            let letter = ["x", "y", "z"][axis];
            return Err(wrong(at, format!("there are two columns `{name}.{letter}`")));
        }
    }
    let (mut names, mut columns, mut passed_over) = (Vec::new(), Vec::new(), Vec::new());
    for name in order {
        let whole = found.get(name).map(|own| own.columns);
        match whole {
            Some([Some((x, Some(a))), Some((y, Some(b))), Some((z, Some(c)))]) => {
                names.push(name.to_owned());
                columns.push([(x, a), (y, b), (z, c)]);
            }
            _ => passed_over.push(name.to_owned()),
        }
    }
    let mut frames = Vec::new();
    for &(line, text) in &lines.0[1..] {
        let cells: Vec<&str> = text.split(',').collect();
        if cells.len() != heads.len() {
            let message = format!("there are {} values for {} columns", cells.len(), heads.len());
            return Err(wrong(line, message));
        }
        let Some(time) = number(line, cells[time_at])? else {
            return Err(wrong(line, "the line has no time"));
        };
        let places = names.iter().zip(&columns).map(|(name, axes)| {
            let of = |(column, unit): (usize, f64)| number(line, cells[column]).map(|x| x.map(|x| x * unit));
            let [x, y, z] = axes.map(of);
            place(line, name, [x?, y?, z?], 1.0)
        });
        let places = places.collect::<Result<Vec<_>>>()?;
        push(&mut frames, line, MarkerFrame { time, places })?;
    }
    Ok(MarkerFile {
        names,
        passed_over,
        frames,
    })
}

/// The marker, the axis and the unit of a column `NAME.x_m`.
fn split(head: &str) -> Option<(&str, usize, &str)> {
    let (name, rest) = head.rsplit_once('.')?;
    let (axis, unit) = rest.split_once('_')?;
    let axis = ["x", "y", "z"].iter().position(|letter| *letter == axis)?;
    Some((name, axis, unit))
}
