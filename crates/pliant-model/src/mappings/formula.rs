//! A mapping from a formula.

use super::{check_dependency, points};
use crate::dual::{self, Dual, LIMIT};
use crate::validate::check_positive;
use crate::{Blocks, Degenerate, Dependency, Field, Mapping, ModelError, Parents, Space};
use std::fmt;
use std::sync::Arc;

type Function = dyn Fn(&[Dual], &mut [Dual]) + Send + Sync;

/// A mapping written as a formula: its derivatives follow from hyper-dual numbers, exact to
/// rounding.
///
/// **Equation.** `x_c = g(x_p)` for every element of the child, with `J = dg/dx` and
/// `G = sum f_k d2g_k/dx2`. `g` takes the positions of the parent elements that the child element
/// depends on, one after the other: a body gives seven numbers, and is moved along its velocity
/// coordinates. No more than 48 numbers in, none of them used twice, and 48 out.
///
/// **Parents.** Any.
///
/// **Use.** A kinematic relation that the library does not have, or a reference for one that it
/// does; a hand-written mapping is faster.
///
/// ```
/// use pliant_model::dual::{Dual, DualNum};
/// use pliant_model::{Dependency, Formula, Space, check};
/// // The area of a triangle of the plane.
/// let corners = (0..3).map(|e| Dependency::new(0, e)).collect();
/// let area = Formula::new(1, vec![corners], |x: &[Dual], out: &mut [Dual]| {
///     out[0] = ((x[2] - x[0]) * (x[5] - x[1]) - (x[4] - x[0]) * (x[3] - x[1])) * 0.5;
/// });
/// let found = check::mapping(&area, &[(Space::Real(2), 3)], &[0.0, 0.0, 1.0, 0.2, 0.3, 1.1], 1)?;
/// assert!(found.worst() < 1e-6);
/// # Ok::<(), pliant_model::ModelError>(())
/// ```
#[derive(Clone)]
pub struct Formula {
    dimension: usize,
    dependencies: Vec<Vec<Dependency>>,
    formula: Arc<Function>,
}

impl fmt::Debug for Formula {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Formula")
            .field("dimension", &self.dimension)
            .field("dependencies", &self.dependencies)
            .finish_non_exhaustive()
    }
}

impl Formula {
    /// A child whose elements have `dimension` real coordinates, one element for each list of
    /// parent elements, which must all be of the same spaces. `formula(x, out)` writes all
    /// coordinates of an element.
    pub fn new(
        dimension: usize,
        dependencies: Vec<Vec<Dependency>>,
        formula: impl Fn(&[Dual], &mut [Dual]) + Send + Sync + 'static,
    ) -> Self {
        Self {
            dimension,
            dependencies,
            formula: Arc::new(formula),
        }
    }

    /// The coordinates of element `e`, with velocity coordinates `i` and `j` of its dependencies
    /// moved.
    fn at(&self, parents: &Parents<'_>, e: usize, i: Option<usize>, j: Option<usize>) -> [Dual; LIMIT] {
        let (mut x, mut out) = ([Dual::from(0.0); LIMIT], [Dual::from(0.0); LIMIT]);
        let elements = self.dependencies[e]
            .iter()
            .map(|at| (parents.space(at.parent), parents.position(*at)));
        let n = dual::gather(elements, i, j, &mut x);
        (self.formula)(&x[..n], &mut out[..self.dimension]);
        out
    }
}

impl Mapping for Formula {
    fn child(&self) -> (Space, usize) {
        (Space::Real(self.dimension), self.dependencies.len())
    }

    fn check(&self, name: &str, parents: &[(Space, usize)]) -> Result<(), ModelError> {
        check_positive(name, Field::Dimension, self.dimension as f64)?;
        dual::check_limit(name, Field::Dimension, self.dimension)?;
        let mut first: Vec<Space> = Vec::new();
        for (element, list) in self.dependencies.iter().enumerate() {
            let spaces = list
                .iter()
                .map(|at| check_dependency(name, *at, parents))
                .collect::<Result<Vec<_>, _>>()?;
            let numbers = spaces.iter().map(|s| s.position_size()).sum();
            dual::check_limit(name, Field::ElementNumbers, numbers)?;
            let fault = |reason| Err(points::degenerate(name, element, reason));
            if list.iter().enumerate().any(|(k, at)| list[..k].contains(at)) {
                return fault("it depends on one element twice");
            }
            if element == 0 {
                first = spaces;
            } else if spaces != first {
                return fault("it depends on other spaces than the first element");
            }
        }
        Ok(())
    }

    fn dependencies(&self, element: usize, out: &mut Vec<Dependency>) {
        out.extend_from_slice(&self.dependencies[element]);
    }

    fn apply(&self, parents: Parents<'_>, child: &mut [f64]) -> Result<(), Degenerate> {
        for (e, child) in child.chunks_exact_mut(self.dimension).enumerate() {
            for (c, value) in child.iter_mut().zip(self.at(&parents, e, None, None)) {
                *c = finite(e, value.re)?;
            }
        }
        Ok(())
    }

    fn jacobian(&self, parents: Parents<'_>, out: &mut Blocks) -> Result<(), Degenerate> {
        for e in 0..self.dependencies.len() {
            let n = out.width(e);
            let block = out.block_mut(e);
            // One evaluation carries two first derivatives.
            for k in (0..n).step_by(2) {
                let values = self.at(&parents, e, Some(k), Some(k + 1));
                for (row, value) in block.chunks_exact_mut(n).zip(values) {
                    row[k] = finite(e, value.eps1)?;
                    if k + 1 < n {
                        row[k + 1] = finite(e, value.eps2)?;
                    }
                }
            }
        }
        Ok(())
    }

    fn geometric_stiffness(&self, parents: Parents<'_>, force: &[f64], out: &mut Blocks) {
        for (e, force) in force.chunks_exact(self.dimension).enumerate() {
            let n = out.width(e);
            let block = out.block_mut(e);
            for i in 0..n {
                for j in i..n {
                    let values = self.at(&parents, e, Some(i), Some(j));
                    let sum: f64 = values.iter().zip(force).map(|(d, f)| f * d.eps1eps2).sum();
                    block[i * n + j] = sum;
                    block[j * n + i] = sum;
                }
            }
        }
    }
}

fn finite(element: usize, value: f64) -> Result<f64, Degenerate> {
    if value.is_finite() {
        Ok(value)
    } else {
        Err(Degenerate {
            element,
            reason: "its formula gives no finite number",
        })
    }
}
