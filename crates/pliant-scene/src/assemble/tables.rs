//! Functions out of files of comma-separated values.

use super::values::{describe, owner};
use super::{Builder, Result, mesh_files};
use crate::quantity::{Takes, Time, Units};
use crate::schema::{ColumnsSpec, FunctionSpec, SplineShape};
use crate::source::Where;
use pliant_expression::{CurveError, Dimension, PointCurve, Program, Shape, is_own, suggest};

impl FunctionSpec {
    /// The columns, and the curve through them.
    fn parts(&self) -> (&ColumnsSpec, Shape) {
        match self {
            Self::Table(table) => (&table.columns, Shape::Lines),
            Self::Spline(spline) => {
                let shape = match spline.shape {
                    SplineShape::Natural => Shape::Natural,
                    SplineShape::NotAKnot => Shape::NotAKnot,
                    SplineShape::Periodic => Shape::Periodic,
                    SplineShape::Monotone => Shape::Monotone,
                };
                (&spline.columns, shape)
            }
        }
    }
}

/// Reads the functions of the scene.
pub(super) fn functions(builder: &mut Builder<'_>) -> Result<()> {
    let scene = builder.scene;
    for (name, spec) in &scene.functions {
        let at = Where::Key(name);
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        let is_name = name.chars().all(is_word) && name.starts_with(|c: char| c.is_alphabetic() || c == '_');
        if !is_name || is_own(name) {
            let message = match is_name {
                true => format!("`{name}` has a meaning in expressions already"),
                false => format!("\"{name}\" is no name for a function: letters, digits and underscores are"),
            };
            return builder.wrong(&[Where::Name(name), at], message, None);
        }
        let curve = curve(builder, name, spec, None)?;
        builder.functions.insert(name.clone(), curve);
    }
    Ok(())
}

/// The function of time that a key of a thing is, in units that it takes.
pub(super) fn program(
    builder: &Builder<'_>,
    spec: &FunctionSpec,
    takes: &'static Takes,
    at: Where<'_>,
) -> Result<Program> {
    let name = match at {
        Where::Field(name, _) => name,
        _ => "",
    };
    curve(builder, name, spec, Some((takes, at))).map(Program::curve)
}

/// The curve of a file. `name` is that of the thing or of the function that it belongs to.
fn curve(
    builder: &Builder<'_>,
    name: &str,
    spec: &FunctionSpec,
    takes: Option<(&'static Takes, Where<'_>)>,
) -> Result<PointCurve> {
    let (asked, shape) = spec.parts();
    let places = [
        Where::Literal(name, &asked.file),
        Where::Key(name),
        Where::Name(name),
    ];
    let (time, _) = unit(
        builder,
        name,
        asked.time_unit.as_deref(),
        Some((Time::TAKES, places[1])),
    )?;
    let (value, of_value) = unit(builder, name, asked.unit.as_deref(), takes)?;
    let text = mesh_files::text(builder, &places, &asked.file, "table")?;
    let Columns { mut points, lines } = columns(builder, name, &places, asked, &text)?;
    for point in &mut points {
        *point = (point.0 * time, point.1 * value);
    }
    let made = PointCurve::through(&points, shape).map_err(|error| {
        let point = match error {
            CurveError::NotFinite { point } | CurveError::Order { point } | CurveError::Range { point } => {
                Some(point)
            }
            CurveError::Few { .. } | CurveError::Ends { .. } => None,
        };
        let place = match point.and_then(|point| lines.get(point)) {
            Some(line) => format!("{}, line {line}, column `{}`", asked.file, asked.time),
            None => format!("{}, column `{}`", asked.file, asked.column),
        };
        (format!("{place}: {error}"), None)
    });
    match made {
        Ok(curve) => Ok(curve.in_units(Some(Dimension::TIME), of_value)),
        Err((message, help)) => builder.wrong(&places, message, help),
    }
}

/// Size in SI and dimension of a unit that is written alone.
fn unit(
    builder: &Builder<'_>,
    name: &str,
    written: Option<&str>,
    takes: Option<(&'static Takes, Where<'_>)>,
) -> Result<(f64, Option<Dimension>)> {
    let Some(text) = written else {
        return Ok((1.0, None));
    };
    let places = [Where::Literal(name, text), Where::Name(name), Where::Key(name)];
    let read = Program::parse(&format!("1 {text}"), &|_| None, &[], &[]);
    let read = read.and_then(|program| Ok((program.value(0.0)?, program.dimension())));
    let Ok((size, Some(dimension))) = read else {
        let help = read
            .err()
            .and_then(|error| error.help)
            .unwrap_or_else(|| "a unit is written as in `deg`, `ms` or `N m`".to_owned());
        return builder.wrong(&places, format!("\"{text}\" is no unit"), Some(help));
    };
    if let Some((takes, at)) = takes
        && !takes.dimensions.is_empty()
        && takes.dimensions.iter().all(|right| !right.agrees(dimension))
    {
        let right: Vec<String> = takes.dimensions.iter().map(ToString::to_string).collect();
        let message = match at {
            Where::Field(..) => format!(
                "{} is {dimension}, and needed is {}",
                describe(at),
                right.join(" or ")
            ),
            _ => format!(
                "\"{text}\" is the unit of {dimension}, and needed is {}",
                right.join(" or ")
            ),
        };
        return builder.wrong(&[places[0], at, owner(at)], message, None);
    }
    Ok((size, Some(dimension)))
}

/// The points of two columns.
struct Columns {
    points: Vec<(f64, f64)>,
    /// The lines of the file in which they are.
    lines: Vec<usize>,
}

/// Reads two columns.
fn columns(
    builder: &Builder<'_>,
    name: &str,
    places: &[Where<'_>],
    asked: &ColumnsSpec,
    text: &str,
) -> Result<Columns> {
    let lines = text
        .lines()
        .enumerate()
        .map(|(index, line)| (index.saturating_add(1), line));
    let mut lines = lines.filter(|(_, line)| !line.trim().is_empty() && !line.starts_with('#'));
    let Some((_, head)) = lines.next() else {
        return builder.wrong(
            places,
            format!("{} has no headings and no numbers", asked.file),
            None,
        );
    };
    let mark = ['\t', ';']
        .into_iter()
        .find(|mark| head.contains(*mark))
        .unwrap_or(',');
    let headings = fields(head, mark);
    let find = |wanted: &str| match headings.iter().position(|heading| heading == wanted) {
        Some(column) => Ok(column),
        None => {
            let known = headings.iter().map(String::as_str);
            let message = format!("{} has no column `{wanted}`", asked.file);
            let wanted_at = [Where::Literal(name, wanted), places[0]];
            builder.wrong(&wanted_at, message, suggest::hint(wanted, "its columns", known))
        }
    };
    let picked = [
        (asked.time.as_str(), find(&asked.time)?),
        (asked.column.as_str(), find(&asked.column)?),
    ];
    let (mut points, mut numbers) = (Vec::new(), Vec::new());
    for (number, line) in lines {
        if points.len() >= builder.limits.elements {
            let message = format!("{} has more than {} lines", asked.file, builder.limits.elements);
            let help = "`--max-elements` raises the limit".to_owned();
            return builder.wrong(places, message, Some(help));
        }
        let cells = fields(line, mark);
        let mut pair = [0.0; 2];
        for (value, (heading, column)) in pair.iter_mut().zip(picked) {
            let cell = cells.get(column).map_or("", |cell| cell.trim());
            let read: Option<f64> = cell.parse().ok().filter(|value: &f64| value.is_finite());
            let Some(read) = read else {
                let found = match cell {
                    "" => "there is no number".to_owned(),
                    _ => format!("{cell:?} is no number"),
                };
                let message = format!("{}, line {number}, column `{heading}`: {found}", asked.file);
                return builder.wrong(places, message, None);
            };
            *value = read;
        }
        points.push((pair[0], pair[1]));
        numbers.push(number);
    }
    mesh_files::count_entries(builder, places[0], points.len())?;
    Ok(Columns {
        points,
        lines: numbers,
    })
}

/// The fields of a line; in quotes they may hold the mark between them, and quotes twice.
fn fields(line: &str, mark: char) -> Vec<String> {
    let mut all = vec![String::new()];
    let mut is_quoted = false;
    let mut characters = line.trim_end_matches('\r').chars().peekable();
    while let Some(c) = characters.next() {
        if c == '"' && is_quoted && characters.peek() == Some(&'"') {
            characters.next();
        } else if c == '"' {
            is_quoted = !is_quoted;
            continue;
        } else if c == mark && !is_quoted {
            all.push(String::new());
            continue;
        }
        if let Some(last) = all.last_mut() {
            last.push(c);
        }
    }
    for field in &mut all {
        *field = field.trim().to_owned();
    }
    all
}

#[cfg(test)]
mod tests {
    use super::fields;

    #[test]
    fn fields_may_be_quoted() {
        assert_eq!(fields("a, \"b, \"\"c\"\"\",\r", ','), ["a", "b, \"c\"", ""]);
        assert_eq!(fields("1;2,5;\"", ';'), ["1", "2,5", ""]);
    }
}
