//! Distance fields, from meshes and by formulas.

use super::{Builder, Result, mesh_files, shapes};
use crate::schema::DistanceFieldSpec;
use crate::source::Where;
use crate::{Amount, Number};
use pliant::collision::{ContactError, DistanceField, Shape};
use pliant_expression::{PLACE, Program};
use std::cell::RefCell;

/// Spacings around a mesh.
const ROOM: f64 = 4.0;

/// The shape where a distance is negative.
pub(super) fn shape(builder: &Builder<'_>, name: &str, spec: &DistanceFieldSpec) -> Result<Shape> {
    let spacing = shapes::size(builder, name, &spec.spacing, "the spacing")?;
    let field = match (&spec.file, &spec.formula, &spec.from, &spec.to) {
        (Some(file), None, None, None) => {
            let surface = shapes::read_surface(builder, name, file, &spec.scale)?;
            let corner = |join: fn(f64, f64) -> f64, start: f64, room: f64| {
                let of_axis = |k: usize| surface.vertices.iter().fold(start, |x, v| join(x, v[k]));
                [0, 1, 2].map(|k| of_axis(k) + room)
            };
            let low = corner(f64::min, f64::INFINITY, -ROOM * spacing);
            let high = corner(f64::max, f64::NEG_INFINITY, ROOM * spacing);
            if !surface.vertices.is_empty() {
                count(builder, name, [low, high], spacing)?;
            }
            let triangles: Vec<[usize; 3]> =
                surface.triangles.iter().map(|t| t.map(|v| v as usize)).collect();
            DistanceField::from_mesh(&surface.vertices, &triangles, spacing)
        }
        (None, Some(formula), Some(from), Some(to)) => {
            let corner = |triple, key| builder.triple(triple, Where::Field(name, key));
            let corners = [corner(from, "from")?, corner(to, "to")?];
            count(builder, name, corners, spacing)?;
            by_formula(builder, name, formula, corners, spacing)?
        }
        _ => {
            let message = format!(
                "the distance field of `{name}` needs either `file`, or `formula` with `from` and `to`"
            );
            return builder.wrong(&[Where::Field(name, "shape"), Where::Name(name)], message, None);
        }
    };
    let field = field.map_err(|error| builder.contact_error(name, "shape", &error))?;
    Ok(Shape::distance_field(field))
}

/// Counts the values of a grid before there are any: as many as the scene may have elements, and
/// with the entries of meshes.
fn count(builder: &Builder<'_>, name: &str, [low, high]: [[f64; 3]; 2], spacing: f64) -> Result<()> {
    let grid = DistanceField::grid_between(low, high, spacing);
    let (_, values) = grid.map_err(|error| builder.contact_error(name, "shape", &error))?;
    let (at, most) = (Where::Field(name, "spacing"), builder.limits.elements);
    if values > most {
        let message = format!("the grid of `{name}` has {values} values, more than the limit of {most}");
        let help = "take a larger spacing; `--max-elements` raises the limit".to_owned();
        return builder.wrong(&[at, Where::Name(name)], message, Some(help));
    }
    mesh_files::count_entries(builder, at, values)
}

/// A field of the values of a formula.
fn by_formula(
    builder: &Builder<'_>,
    name: &str,
    formula: &Amount,
    [from, to]: [[f64; 3]; 2],
    spacing: f64,
) -> Result<std::result::Result<DistanceField, ContactError>> {
    let at = Where::Field(name, "formula");
    let text = match &formula.number {
        Number::Value(_) => {
            let message = format!("the formula of `{name}` is a number, so it has no surface");
            let help = "write an expression of `$x`, `$y` and `$z`, as in \"$z - 0.1 * sin($x)\"".to_owned();
            return builder.wrong(&[at, Where::Name(name)], message, Some(help));
        }
        Number::Expression(text) => text,
    };
    let lookup = |name: &str| builder.variable(name, None, false);
    let mut names: Vec<&str> = builder.parameters.names().collect();
    names.extend(PLACE);
    let program = Program::parse(text, &lookup, &names, PLACE);
    let program = program.map_err(|error| builder.expression_error(text, at, error))?;
    let factor = builder.factor(text, &program, formula, at)?;
    let program = builder.in_units(program, formula, factor, |bases| [bases.length; 3]);
    let first = RefCell::new(None);
    let value = |place: [f64; 3]| {
        program.at(place).unwrap_or_else(|mut error| {
            let [x, y, z] = place;
            error.message.push_str(&format!(", at ({x}, {y}, {z})"));
            first.borrow_mut().get_or_insert(error);
            f64::NAN
        })
    };
    let field = DistanceField::sampled(from, to, spacing, value);
    match first.into_inner() {
        Some(error) => Err(builder.expression_error(text, at, error)),
        None => Ok(field),
    }
}
