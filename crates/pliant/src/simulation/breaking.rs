//! Measures by which elements of a model break, and elements that are taken out of it.

use super::Simulation;
use crate::Error;
use pliant_continuum::{BreakingMeasure, SheetParts, SolidParts};
use pliant_model::{ComponentId, ElementIndex, Model, NodeId};
use pliant_stepper::observe::ForcesThrough;
use std::ops::Range;

/// Parts of a model that break element by element.
#[derive(Clone, Debug)]
pub enum BreakingParts {
    /// A solid, or its part of one material: finite elements.
    Solid(Box<SolidParts>),
    /// A sheet: triangles, then quadrangles.
    Sheet(Box<SheetParts>),
    /// A node of lengths less rest lengths ([`Distance`](pliant_model::Distance)): the edges of a
    /// net, springs; and their rest lengths (m).
    Lengths(NodeId, Vec<f64>),
}

/// Finds elements whose measure is above a limit. Cost: one pass over the elements, and one over
/// the forces of the model for measures of stress; allocates nothing once warm, unless it finds
/// any.
#[derive(Clone, Debug)]
pub struct Breaking {
    parts: BreakingParts,
    measure: BreakingMeasure,
    /// One for all elements, or one for each.
    limits: Vec<f64>,
    points: Vec<Range<usize>>,
    forces: Option<ForcesThrough>,
}

impl Breaking {
    /// Elements of these parts break where a measure is above a limit: one for all, or one for each
    /// element.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] if a limit is not positive and finite, there are not as many as
    /// elements, or the parts have no such measure.
    pub fn new(
        model: &Model,
        parts: BreakingParts,
        measure: BreakingMeasure,
        limits: &[f64],
    ) -> Result<Self, Error> {
        let (points, node, has_measure) = match &parts {
            BreakingParts::Solid(parts) => {
                let has_measure = measure != BreakingMeasure::PlasticStrain || parts.yields;
                (parts.element_points(), parts.gradients, has_measure)
            }
            BreakingParts::Sheet(parts) => {
                let has_measure = measure != BreakingMeasure::PlasticStrain;
                (parts.element_points(), parts.strains, has_measure)
            }
            BreakingParts::Lengths(node, rests) => {
                let all = (0..rests.len()).map(|k| k..k + 1).collect();
                (all, *node, measure == BreakingMeasure::Stretch)
            }
        };
        let out_of_range = |what, value, bound| Err(Error::OutOfRange { what, value, bound });
        if !has_measure {
            let bound = "lengths have a stretch, and solids that yield a plastic strain";
            return out_of_range("the measure by which elements break", f64::NAN, bound);
        }
        if let Some(value) = limits.iter().find(|limit| !(**limit > 0.0 && limit.is_finite())) {
            return out_of_range(
                "a limit above which elements break",
                *value,
                "positive and finite",
            );
        }
        if limits.len() != 1 && limits.len() != points.len() {
            let bound = "one, or one for each element";
            return out_of_range("the number of limits of elements", limits.len() as f64, bound);
        }
        Ok(Self {
            forces: measure.is_of_stress().then(|| ForcesThrough::new(model, node)),
            parts,
            measure,
            limits: limits.to_vec(),
            points,
        })
    }

    /// Number of elements.
    pub fn count(&self) -> usize {
        self.points.len()
    }

    /// Appends the numbers of the elements that are in the model and above their limit at the
    /// present state.
    pub fn find(&mut self, simulation: &Simulation, out: &mut Vec<usize>) {
        let (model, state) = (simulation.problem(), simulation.state());
        let forces = match &mut self.forces {
            Some(forces) => forces.read(&simulation.system, &simulation.motion),
            None => &[],
        };
        let node = match &self.parts {
            BreakingParts::Solid(parts) => parts.gradients,
            BreakingParts::Sheet(parts) => parts.strains,
            BreakingParts::Lengths(node, _) => *node,
        };
        let x = model.positions(state, node);
        let internal = match &self.parts {
            BreakingParts::Solid(parts) => match parts.material {
                ComponentId::ForceField(i) => {
                    &state.internal[model.force_fields()[i].component.internal.clone()]
                }
                _ => &[],
            },
            _ => &[][..],
        };
        for (element, points) in self.points.iter().enumerate() {
            let at = ElementIndex {
                node: node.index(),
                element: points.start,
            };
            if model.is_gone(at) {
                continue;
            }
            let measure = match &self.parts {
                BreakingParts::Solid(parts) => {
                    parts.breaking_measure(self.measure, points.clone(), [x, forces, internal])
                }
                BreakingParts::Sheet(parts) => {
                    parts.breaking_measure(self.measure, points.clone(), [x, forces])
                }
                BreakingParts::Lengths(_, rests) => 1.0 + x[element] / rests[element],
            };
            let limit = self.limits.get(element).unwrap_or(&self.limits[0]);
            if measure > *limit {
                out.push(element);
            }
        }
    }

    /// Elements of the model that elements of these numbers are, for [`Simulation::remove_elements`].
    ///
    /// # Panics
    /// If there is no such element.
    pub fn indices(&self, elements: &[usize]) -> Vec<ElementIndex> {
        let points = |element: usize| self.points[element].clone();
        match &self.parts {
            BreakingParts::Solid(parts) => {
                let all = elements
                    .iter()
                    .flat_map(|element| parts.indices(points(*element)));
                all.collect()
            }
            BreakingParts::Sheet(parts) => {
                let of = |element: &usize| parts.indices(*element, points(*element));
                elements.iter().flat_map(of).collect()
            }
            BreakingParts::Lengths(node, _) => {
                let node = node.index();
                let index = |element: &usize| ElementIndex {
                    node,
                    element: *element,
                };
                elements.iter().map(index).collect()
            }
        }
    }
}
