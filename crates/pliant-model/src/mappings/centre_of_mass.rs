//! Centres of mass.

use super::weighted::Weighted;
use super::{check_dependency, points};
use crate::validate::{check_bound, check_space};
use crate::{Blocks, Degenerate, Dependency, Field, Mapping, ModelError, Parents, Space};

/// Weighted means of points and positions of bodies, one point per group.
///
/// **Equation.** `x_c = sum_i (w_i/W) x_i` (m) with `W = sum_i w_i`, `x_i` a point of space or the
/// position of a body's centre of mass. `J` holds `(w_i/W) I` on each; linear, so `G = 0`.
///
/// **Parents.** Any mixture of points of space and bodies.
///
/// **Use.** Hanging or steering a whole object by its centre of mass, balance of figures, mean
/// positions of regions.
#[derive(Clone, Debug, PartialEq)]
pub struct CentreOfMass {
    /// With weights that add up to one.
    mean: Weighted,
    /// As given (kg).
    weights: Vec<Vec<f64>>,
}

impl CentreOfMass {
    /// One centre for each group of elements of the parents and their weights (masses in kg; zero
    /// or more, not all zero).
    pub fn new(groups: &[Vec<(Dependency, f64)>]) -> Self {
        let mean = |group: &Vec<(Dependency, f64)>| {
            let total: f64 = group.iter().map(|(_, w)| w).sum();
            group.iter().map(|(at, w)| (*at, w / total)).collect()
        };
        let weights = |group: &Vec<(Dependency, f64)>| group.iter().map(|(_, w)| *w).collect();
        Self {
            mean: Weighted {
                dimension: 3,
                groups: groups.iter().map(mean).collect(),
            },
            weights: groups.iter().map(weights).collect(),
        }
    }

    /// The centre of elements of the only parent: (element, weight in kg).
    pub fn of_elements(elements: &[(usize, f64)]) -> Self {
        Self::new(&[elements
            .iter()
            .map(|(e, w)| (Dependency::new(0, *e), *w))
            .collect()])
    }
}

impl Mapping for CentreOfMass {
    fn child(&self) -> (Space, usize) {
        (Space::Real(3), self.weights.len())
    }

    fn check(&self, name: &str, parents: &[(Space, usize)]) -> Result<(), ModelError> {
        if let Some((element, reason)) = self.mean.defect() {
            return Err(points::degenerate(name, element, reason));
        }
        for (at, _) in self.mean.groups.iter().flatten() {
            let found = check_dependency(name, *at, parents)?;
            check_space(
                name,
                "points of space or rigid bodies",
                found,
                matches!(found, Space::Real(3) | Space::Rigid3),
            )?;
        }
        for (group, weights) in self.weights.iter().enumerate() {
            let at = |error: ModelError| error.at(group, self.weights.len());
            points::check_finite(name, Field::Weights, weights).map_err(at)?;
            points::check_not_negative(name, Field::Weights, weights).map_err(at)?;
            let total: f64 = weights.iter().sum();
            points::check_finite(name, Field::WeightSum, &[total]).map_err(at)?;
            let fits = total >= f64::MIN_POSITIVE;
            check_bound(name, Field::WeightSum, total, "positive", fits).map_err(at)?;
        }
        Ok(())
    }

    fn dependencies(&self, element: usize, out: &mut Vec<Dependency>) {
        self.mean.dependencies(element, out);
    }

    fn apply(&self, parents: Parents<'_>, child: &mut [f64]) -> Result<(), Degenerate> {
        self.mean.apply(&parents, child);
        Ok(())
    }

    fn jacobian(&self, parents: Parents<'_>, out: &mut Blocks) -> Result<(), Degenerate> {
        self.mean.jacobian(&parents, out);
        Ok(())
    }

    fn is_linear(&self) -> bool {
        true
    }
}
