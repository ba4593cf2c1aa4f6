//! Elements that break, or that events remove, out of the schema.

use super::super::selections::{self, Candidates};
use super::super::{Builder, Result};
use crate::deformable::DeformableParts;
use crate::event::{Action, BreakingRule};
use crate::schema::{BreakingSpec, ColliderSpec, Node, RemoveSpec};
use crate::source::Where;
use pliant::continuum::BreakingMeasure;
use pliant::model::{ElementIndex, NodeId, check_removal};
use pliant::{Breaking, BreakingParts, Error};
use pliant_expression::suggest;

/// A solid, a sheet, a net or a cable as parts that break.
struct Breakable {
    points: NodeId,
    parts: Vec<BreakingParts>,
    /// The points of each cell.
    cells: Vec<Vec<usize>>,
    /// The elements that each cell is, by their numbers over the parts, one after the other; each
    /// cell is the element of its number where there are none.
    elements: Vec<Vec<usize>>,
}

/// All elements that break.
pub(super) fn rules(builder: &Builder<'_>) -> Result<Vec<BreakingRule>> {
    let mut rules: Vec<BreakingRule> = Vec::new();
    for spec in &builder.scene.breaking {
        if builder.scene.run.statics.is_some() {
            let message = "`breaking` is of motion, and `statics` has none".to_owned();
            return builder.wrong(&[Where::Name(&spec.name)], message, None);
        }
        if rules.iter().any(|other| other.name == spec.name) {
            let message = format!("the name `{}` is used twice in `breaking`", spec.name);
            return builder.wrong(&[Where::Name(&spec.name)], message, None);
        }
        rules.push(rule(builder, spec)?);
    }
    Ok(rules)
}

fn rule(builder: &Builder<'_>, spec: &BreakingSpec) -> Result<BreakingRule> {
    let name = spec.name.as_str();
    let thing = breakable(builder, name, &spec.of)?;
    let limit = builder.positive(&spec.above, Where::Field(name, "above"))?;
    let refused = |error: Error| -> Result<Breaking> {
        let places = [Where::Field(name, "measure"), Where::Name(name)];
        let message = match spec.measure {
            BreakingMeasure::PlasticStrain => format!("`{}` does not yield", spec.of),
            BreakingMeasure::PrincipalStress | BreakingMeasure::VonMises => {
                format!("`{}` has no stress; it breaks above a `Stretch`", spec.of)
            }
            BreakingMeasure::Stretch => error.to_string(),
        };
        builder.wrong(&places, message, None)
    };
    let model = &builder.model;
    let parts = thing
        .parts
        .into_iter()
        .map(|parts| Breaking::new(model, parts, spec.measure, &[limit]).or_else(refused));
    let parts = parts.collect::<Result<Vec<_>>>()?;
    Ok(BreakingRule {
        name: name.to_owned(),
        parts,
    })
}

/// The elements that an event removes.
pub(super) fn removed(builder: &Builder<'_>, event: &str, spec: &RemoveSpec) -> Result<Action> {
    let thing = breakable(builder, event, &spec.of)?;
    let start = builder
        .model
        .initial_state()
        .map_err(|e| builder.model_error(e))?;
    let points = builder.model.positions(&start, thing.points).as_chunks::<3>().0;
    let centre = |cell: &Vec<usize>| {
        let sum = |k: usize| cell.iter().map(|point| points[*point][k]).sum::<f64>();
        std::array::from_fn(|k| sum(k) / cell.len() as f64)
    };
    let centres: Vec<[f64; 3]> = thing.cells.iter().map(centre).collect();
    let at = Where::Field(event, "do");
    let of = Candidates::points(&spec.of, &centres, at);
    let mut chosen = selections::among(builder, &spec.elements, &of)?;
    chosen.sort_unstable();
    chosen.dedup();
    let elements = chosen.iter().flat_map(|cell| match thing.elements.get(*cell) {
        Some(elements) => elements.clone(),
        None => vec![*cell],
    });
    let elements: Vec<usize> = elements.collect();
    let (mut list, mut first): (Vec<Vec<ElementIndex>>, usize) = (Vec::new(), 0);
    for parts in thing.parts {
        let breaking = elements_of(builder, parts, at)?;
        let end = first.saturating_add(breaking.count());
        let own = elements.iter().filter(|element| (first..end).contains(element));
        list.extend(own.map(|element| breaking.indices(&[element.saturating_sub(first)])));
        first = end;
    }
    Ok(Action::Remove(list))
}

/// The thing of this name whose elements may go, if nothing keeps them.
fn breakable(builder: &Builder<'_>, user: &str, name: &str) -> Result<Breakable> {
    let places = [Where::Literal(user, name), Where::Name(user)];
    let found = builder
        .deformables
        .iter()
        .find(|deformable| deformable.name == name);
    let thing = match (found.map(|deformable| &deformable.parts), builder.nets.get(name)) {
        (Some(DeformableParts::Solid(parts)), _) => {
            let own: Vec<_> = parts.iter().flat_map(|part| part.recovery.elements()).collect();
            let elements = found.map_or(&[][..], |deformable| &deformable.cells);
            let points = |cell: &Vec<usize>| {
                let of_elements = cell.iter().flat_map(|element| &own[*element].nodes);
                let mut points: Vec<usize> = of_elements.copied().collect();
                points.sort_unstable();
                points.dedup();
                points
            };
            let of = |parts: &pliant::continuum::SolidParts| BreakingParts::Solid(Box::new(parts.clone()));
            Some(Breakable {
                points: parts[0].nodes,
                cells: elements.iter().map(points).collect(),
                elements: elements.to_vec(),
                parts: parts.iter().map(of).collect(),
            })
        }
        (Some(DeformableParts::Sheet(parts)), _) => {
            let triangles = parts.cells.triangles.iter().map(|t| t.to_vec());
            let quadrangles = parts.cells.quadrangles.iter().map(|q| q.to_vec());
            Some(Breakable {
                points: parts.nodes,
                cells: triangles.chain(quadrangles).collect(),
                elements: Vec::new(),
                parts: vec![BreakingParts::Sheet(parts.clone())],
            })
        }
        (None, Some(edges)) => {
            let points = builder.model.node_named(name);
            points.map(|points| Breakable {
                points,
                cells: edges.ends.iter().map(|pair| pair.to_vec()).collect(),
                elements: Vec::new(),
                parts: vec![BreakingParts::Lengths(edges.lengths, edges.rests.clone())],
            })
        }
        _ => None,
    };
    let Some(thing) = thing else {
        let breaks =
            |parts: &DeformableParts| matches!(parts, DeformableParts::Solid(_) | DeformableParts::Sheet(_));
        let of_solids = builder
            .deformables
            .iter()
            .filter(|deformable| breaks(&deformable.parts));
        let names = of_solids.map(|deformable| deformable.name.as_str());
        let names = names.chain(builder.nets.keys().map(String::as_str));
        let help = suggest::hint(name, "what has elements that break", names);
        let message = match found.map(|deformable| &deformable.parts) {
            Some(DeformableParts::Shell(..)) => {
                format!("`{name}` is a shell on frames, whose elements do not break")
            }
            _ => format!("`{name}` is no solid, sheet, net or cable"),
        };
        return builder.wrong(&places, message, help);
    };
    if is_collider(builder, thing.points) {
        let message = format!("elements of `{name}` cannot go: a collider is made of them");
        let help = "a collider `Points` is of balls about its points, which stay".to_owned();
        return builder.wrong(&places, message, Some(help));
    }
    let mut nodes = builder.scene.nodes.iter();
    let skin = nodes.find_map(|node| match node {
        Node::EmbeddedSurface(skin) if skin.solid == name => Some(&skin.name),
        _ => None,
    });
    if let Some(skin) = skin {
        let message = format!("elements of `{name}` cannot go: the surface `{skin}` rides in them");
        let help = "a surface in a solid does not tear; leave one of both out".to_owned();
        return builder.wrong(&places, message, Some(help));
    }
    try_without(builder, &thing, &places)?;
    Ok(thing)
}

/// Parts as a list of their elements.
fn elements_of(builder: &Builder<'_>, parts: BreakingParts, at: Where<'_>) -> Result<Breaking> {
    let made = Breaking::new(&builder.model, parts, BreakingMeasure::Stretch, &[f64::MAX]);
    made.or_else(|error| builder.wrong(&[at], error.to_string(), None))
}

/// Whether the elements between the points of a node are a collider.
fn is_collider(builder: &Builder<'_>, points: NodeId) -> bool {
    let name = builder.model.node(points).name.as_str();
    builder.scene.colliders.iter().any(|spec| match spec {
        ColliderSpec::Cable(spec) => spec.node == name,
        ColliderSpec::Cloth(spec) => spec.node == name,
        _ => false,
    })
}

/// Finds out whether elements can go: the first one of each part alone, whose neighbours
/// stay, and all of each part together.
fn try_without(builder: &Builder<'_>, thing: &Breakable, places: &[Where<'_>]) -> Result<()> {
    for parts in &thing.parts {
        let breaking = elements_of(builder, parts.clone(), places[0])?;
        let all: Vec<usize> = (0..breaking.count()).collect();
        for elements in [&all[..all.len().min(1)], &all] {
            let list = breaking.indices(elements);
            if let Err(error) = check_removal(&builder.model, &list) {
                return builder.wrong(places, error.to_string(), None);
            }
        }
    }
    Ok(())
}
