//! Elements of solids that are turned inside out, where the law of their material has a force all
//! the same.

use super::review::short;
use pliant::Simulation;
use pliant::continuum::SolidParts;
use pliant::model::ElementIndex;
use pliant_scene::{Deformable, DeformableParts};
use serde::{Deserialize, Serialize};

/// The solids of which elements were inverted, `det F <= 0` at a point of integration, in the
/// pictures of a run or at the points of statics.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Inverted(Vec<InvertedSolid>);

/// Inverted elements of a solid.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct InvertedSolid {
    name: String,
    /// The most at a time.
    most: usize,
    /// The first of them, counted over all parts of the solid, when it was first seen.
    first: usize,
    /// When, in words.
    when: String,
}

impl Inverted {
    /// Looks at the present state; `when` says in words what moment that is. Where processes share
    /// elements out, all of them call it. Cost: a determinant for each point of integration.
    pub(super) fn look(
        &mut self,
        simulation: &Simulation,
        deformables: &[Deformable],
        when: impl Fn() -> String,
    ) {
        for deformable in deformables {
            let DeformableParts::Solid(parts) = &deformable.parts else {
                continue;
            };
            let (mut before, mut count, mut first) = (0, 0, None);
            for part in parts {
                let elements = part.element_points();
                for element in inverted_elements(simulation, part) {
                    count += 1;
                    first.get_or_insert(before + element);
                }
                before += elements.len();
            }
            let Some(first) = first else { continue };
            match self.0.iter_mut().find(|one| one.name == deformable.name) {
                Some(known) => known.most = known.most.max(count),
                None => self.0.push(InvertedSolid {
                    name: deformable.name.clone(),
                    most: count,
                    first,
                    when: when(),
                }),
            }
        }
    }

    /// A sentence about each solid.
    pub(super) fn warnings(&self) -> impl Iterator<Item = String> {
        self.0.iter().map(|solid| {
            let elements = match solid.most {
                1 => "1 element was".to_owned(),
                n => format!("up to {n} elements at a time were"),
            };
            format!(
                "{elements} inside out in `{}` (det F <= 0), first element {} {}, of the moments that are looked at: \
                 take smaller loads, smaller or more even elements, or a material that resists, such as `NeoHookean`",
                solid.name, solid.first, solid.when
            )
        })
    }
}

/// The elements of a part that are there and inverted, in order.
fn inverted_elements(simulation: &Simulation, part: &SolidParts) -> Vec<usize> {
    if part.small_strains {
        // A law without rotations takes no notice of volumes.
        return Vec::new();
    }
    let (model, problem) = (simulation.model(), simulation.problem());
    let gradients = model.gather_elements(part.gradients, 9, simulation.positions(part.gradients));
    let (gradients, _) = gradients.as_chunks::<9>();
    let elements = part.element_points().into_iter().enumerate();
    let inverted = elements.filter(|(_, points)| {
        let (node, element) = (part.gradients.index(), points.start);
        let folded = gradients.get(points.clone()).unwrap_or_default();
        folded.iter().any(|f| determinant(f) <= 0.0) && !problem.is_gone(ElementIndex { node, element })
    });
    inverted.map(|(element, _)| element).collect()
}

/// The determinant of a matrix by its rows.
fn determinant([a, b, c, d, e, f, g, h, i]: &[f64; 9]) -> f64 {
    a * (e * i - f * h) - b * (d * i - f * g) + c * (d * h - e * g)
}

/// The words of a time (s).
pub(super) fn at_time(time: f64) -> String {
    format!("at t = {} s", short(time))
}
