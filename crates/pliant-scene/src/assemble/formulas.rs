//! Formulas: expressions over coordinates of nodes, with exact derivatives.

use super::ends::ParentList;
use super::{Builder, Result, mapped, observables};
use crate::schema::{FormulaMappingSpec, PotentialSpec, Scene};
use crate::source::Where;
use crate::{Amount, Number};
use pliant::model::{Coordinate, Expression, ExpressionElement, Expressions, NodeId, Space};
use pliant_expression::{ExpressionError, Program, Reference, suggest};

/// Adds the potentials of the scene.
pub(super) fn add_potentials(builder: &mut Builder<'_>, scene: &Scene) -> Result<()> {
    scene
        .potentials
        .iter()
        .try_for_each(|spec| add_potential(builder, spec))
}

fn add_potential(builder: &mut Builder<'_>, spec: &PotentialSpec) -> Result<()> {
    let name = spec.name.as_str();
    let at = Where::Field(name, "energy");
    let mut found = Names::new(builder, None);
    let (text, program) = found.read(&spec.energy, at)?;
    let Names {
        names,
        coordinates: list,
        ..
    } = found;
    if list.is_empty() {
        let message = format!("the energy of `{name}` depends on no coordinate, so there is no force");
        return builder.wrong(&[at, Where::Name(name)], message, None);
    }
    let mut nodes: Vec<NodeId> = Vec::new();
    let mut coordinates = Vec::with_capacity(list.len());
    for Found { node, element, index } in list {
        let parent = place_of(&mut nodes, node);
        coordinates.push(Coordinate::new(parent, element, index));
    }
    refuse_axes(builder, name, &nodes, at)?;
    builder.grow(name, coordinates.len())?;
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let energy = Expression::from_program(&text, &names, program);
    let added = builder.model.add_potential(name, &nodes, &energy, &coordinates);
    added.map_err(|e| builder.model_error(e))?;
    // An energy without a value at the start is found here, where it stands.
    let started = builder.model.initial_state().map_err(|e| builder.model_error(e));
    builder.initial = Some(started?);
    Ok(())
}

/// Makes a mapped node of expressions.
pub(super) fn add_mapping(
    builder: &mut Builder<'_>,
    parents: &ParentList<'_>,
    spec: &FormulaMappingSpec,
) -> Result<()> {
    let name = parents.user;
    let (key, elements): (_, Vec<Vec<&Amount>>) = match (&spec.values, &spec.points) {
        (Some(values), None) => ("values", values.iter().map(|value| vec![&**value]).collect()),
        (None, Some(points)) => {
            let mut list = Vec::with_capacity(points.len());
            for point in points {
                list.push(point.iter().map(|number| &**number).collect());
            }
            ("points", list)
        }
        _ => {
            let message = format!("`{name}` needs exactly one of `values` and `points`");
            return builder.wrong(&[Where::Name(name)], message, None);
        }
    };
    let at = Where::Field(name, key);
    if elements.is_empty() {
        let message = format!("`{key}` of `{name}` has no expressions");
        return builder.wrong(&[at, Where::Name(name)], message, None);
    }
    if key == "points" {
        builder.refuse_axes(&format!("`{name}`"), at)?;
    }
    let (is_points, count) = (key == "points", elements.len());
    let mut made = Vec::with_capacity(count);
    for numbers in elements {
        made.push(element(builder, parents, &numbers, at)?);
    }
    refuse_axes(builder, name, &parents.nodes, at)?;
    let node = mapped::add_mapped(builder, parents, count, Expressions::new(made))?;
    if is_points {
        builder.picture.show(node);
    }
    Ok(())
}

/// The coordinates of one element.
fn element(
    builder: &Builder<'_>,
    parents: &ParentList<'_>,
    numbers: &[&Amount],
    at: Where<'_>,
) -> Result<ExpressionElement> {
    let mut found = Names::new(builder, Some(parents));
    let read = numbers.iter().map(|number| found.read(number, at));
    let read = read.collect::<Result<Vec<_>>>()?;
    if found.coordinates.is_empty() {
        let message = format!(
            "a formula of `{}` depends on no coordinate of its parents",
            parents.user
        );
        return builder.wrong(&[at, Where::Name(parents.user)], message, None);
    }
    let names: Vec<&str> = found.names.iter().map(String::as_str).collect();
    let expressions = read
        .into_iter()
        .map(|(text, program)| Expression::from_program(&text, &names, program));
    let coordinate = |found: &Found| {
        let mut nodes = parents.nodes.clone();
        let parent = place_of(&mut nodes, found.node);
        Coordinate::new(parent, found.element, found.index)
    };
    Ok(ExpressionElement {
        expressions: expressions.collect(),
        coordinates: found.coordinates.iter().map(coordinate).collect(),
    })
}

/// The place of a node in a list, at its end if it is new.
fn place_of(nodes: &mut Vec<NodeId>, node: NodeId) -> usize {
    let known = nodes.iter().position(|other| *other == node);
    known.unwrap_or_else(|| {
        nodes.push(node);
        nodes.len().saturating_sub(1)
    })
}

/// Refuses formulas over places in the world in a file with a place of its own.
fn refuse_axes(builder: &Builder<'_>, name: &str, nodes: &[NodeId], at: Where<'_>) -> Result<()> {
    match nodes.iter().any(|node| builder.is_absolute(*node)) {
        true => builder.refuse_axes(&format!("`{name}`"), at),
        false => Ok(()),
    }
}

/// One number of an element of a node.
#[derive(Clone, Copy, PartialEq)]
struct Found {
    node: NodeId,
    element: usize,
    index: usize,
}

/// The coordinates that expressions name.
struct Names<'b, 'a> {
    builder: &'b Builder<'a>,
    /// The nodes that may be named; all by default, for an energy.
    parents: Option<&'b ParentList<'b>>,
    names: Vec<String>,
    coordinates: Vec<Found>,
}

impl<'b, 'a> Names<'b, 'a> {
    fn new(builder: &'b Builder<'a>, parents: Option<&'b ParentList<'b>>) -> Self {
        Self {
            builder,
            parents,
            names: Vec::new(),
            coordinates: Vec::new(),
        }
    }

    /// An expression as text and as a program over the coordinates.
    fn read(&mut self, number: &Amount, at: Where<'_>) -> Result<(String, Program)> {
        let builder = self.builder;
        let text = match &number.number {
            Number::Value(value) => {
                let value = builder.finite(*value, at)?;
                return Ok((value.to_string(), Program::number(value)));
            }
            Number::Expression(text) => text,
        };
        let lookup = |name: &str| builder.variable(name, builder.index, false);
        let names = builder.variables(builder.index);
        let read = Program::observing(text, &lookup, &names, &[], &mut |reference| {
            self.resolve(reference)
        });
        let program = read.map_err(|error| builder.expression_error(text, at, error))?;
        builder.factor(text, &program, number, at)?;
        Ok((text.clone(), program))
    }

    /// The place of a coordinate that an expression names.
    fn resolve(&mut self, reference: &Reference) -> std::result::Result<usize, ExpressionError> {
        let found = self.coordinate(reference)?;
        let known = self.coordinates.iter().position(|other| *other == found);
        Ok(known.unwrap_or_else(|| {
            self.coordinates.push(found);
            self.names.push(written(reference));
            self.coordinates.len().saturating_sub(1)
        }))
    }

    fn coordinate(&self, reference: &Reference) -> std::result::Result<Found, ExpressionError> {
        let builder = self.builder;
        let complain = |message: String, range, help| ExpressionError { message, range, help };
        // A free coordinate of a joint is a node.
        let whole = builder.model.node_named(&reference.whole());
        let (node, name, quantity) = match whole.filter(|_| reference.element.is_none()) {
            Some(node) => (node, reference.whole(), String::new()),
            None => {
                let name = reference.name();
                let Some(node) = builder.model.node_named(&name) else {
                    let message = format!("there is no node `{name}` whose coordinates a formula could take");
                    let known = builder.model.nodes().iter().map(|node| node.name.as_str());
                    let help = suggest::hint(&name, "nodes so far", known);
                    return Err(complain(message, reference.name_range(), help));
                };
                (node, name, reference.quantity())
            }
        };
        if let Some(parents) = self.parents.filter(|parents| !parents.nodes.contains(&node)) {
            let message = format!("`{name}` is no parent of `{}`", parents.user);
            let help = format!("its `parents` are {}: add it there", parents.names.join(", "));
            return Err(complain(message, reference.name_range(), Some(help)));
        }
        let entry = builder.model.node(node);
        let element = match &reference.element {
            None if entry.count > 1 => {
                let message = format!(
                    "`{name}` has {} elements: say which, counted from zero",
                    entry.count
                );
                let help = format!("`{name}[0]`");
                return Err(complain(message, reference.name_range(), Some(help)));
            }
            Some((_, element, range)) if *element >= entry.count => {
                let message = format!(
                    "there is no element {element}: `{name}` has {}, counted from zero",
                    entry.count
                );
                return Err(complain(message, range.clone(), None));
            }
            Some((_, element, _)) => *element,
            None => 0,
        };
        let names = observables::coordinate_names(builder, node);
        let index = match names.iter().position(|known| *known == quantity) {
            Some(index) => index,
            None if quantity.is_empty() && entry.space == Space::Real(1) => 0,
            None => {
                let message = match quantity.as_str() {
                    "" => format!("`{name}` is no number: say which of its coordinates"),
                    _ => format!("`{name}` has no coordinate `{quantity}`"),
                };
                let what = format!("coordinates of `{name}`");
                let help = suggest::hint(&quantity, &what, names.iter().map(String::as_str));
                return Err(complain(message, reference.quantity_range(), help));
            }
        };
        if self.parents.is_none() && entry.space == Space::Rigid3 && index >= 3 {
            let message =
                format!("an energy cannot take the rotation of the body `{name}`, which has no coordinates");
            let help = "take coordinates of a joint, a point of `RigidPoints`, or a `RelativeRotation`";
            return Err(complain(
                message,
                reference.quantity_range(),
                Some(help.to_owned()),
            ));
        }
        Ok(Found { node, element, index })
    }
}

/// A reference as it is written, but for blanks in brackets.
fn written(reference: &Reference) -> String {
    match &reference.element {
        None => reference.whole(),
        Some((_, element, _)) => match reference.quantity() {
            quantity if quantity.is_empty() => format!("{}[{element}]", reference.name()),
            quantity => format!("{}[{element}].{quantity}", reference.name()),
        },
    }
}
