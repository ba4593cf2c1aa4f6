//! A force field from its energy alone.

use crate::dual::{self, Dual, LIMIT};
use crate::{At, Blocks, Field, ForceField, Groups, ModelError, NotInvertible, Space};
use std::fmt;
use std::sync::Arc;

type Energy = dyn Fn(&[Dual]) -> Dual + Send + Sync;

/// A conservative law written as its energy: force and stiffness follow from hyper-dual numbers,
/// exact to rounding.
///
/// **Equation.** `f = -dV/dx`, `K = d2V/dx2`, energy the sum of `V` (J) over all elements or
/// groups. `V` takes the positions of the group, one element after the other: a body gives seven
/// numbers, and is moved along its velocity coordinates. No more than 48 numbers.
///
/// **Use.** A law that the library does not have, or a reference for one that it does; a
/// hand-written law is faster.
///
/// ```
/// use pliant_model::dual::{Dual, DualNum};
/// use pliant_model::{Potential, Space, check};
/// // A pendulum angle: V = 2 (1 - cos x).
/// let law = Potential::new(|x: &[Dual]| (-x[0].cos() + 1.0) * 2.0);
/// let found = check::force_field(&law, Space::Real(1), &[0.7], &[0.0])?;
/// assert!(found.worst() < 1e-6);
/// # Ok::<(), pliant_model::ModelError>(())
/// ```
#[derive(Clone)]
pub struct Potential {
    groups: Groups,
    energy: Arc<Energy>,
}

impl fmt::Debug for Potential {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Potential")
            .field("groups", &self.groups)
            .finish_non_exhaustive()
    }
}

impl Potential {
    /// The energy `V` (J) of each element by itself.
    pub fn new(energy: impl Fn(&[Dual]) -> Dual + Send + Sync + 'static) -> Self {
        Self {
            groups: Groups::Each,
            energy: Arc::new(energy),
        }
    }

    /// Takes the energy over each of these lists of elements instead, in their order.
    #[must_use]
    pub fn over_groups(mut self, groups: &[Vec<usize>]) -> Self {
        self.groups = Groups::Of(groups.to_vec());
        self
    }

    fn at(&self, space: Space, x: &[f64], group: &[usize], i: Option<usize>, j: Option<usize>) -> Dual {
        let mut buffer = [Dual::from(0.0); LIMIT];
        let size = space.position_size();
        let elements = group.iter().map(|e| (space, &x[e * size..][..size]));
        let n = dual::gather(elements, i, j, &mut buffer);
        (self.energy)(&buffer[..n])
    }

    fn each_group(&self, space: Space, x: &[f64], mut visit: impl FnMut(usize, &[usize])) {
        match &self.groups {
            Groups::Each => (0..x.len() / space.position_size()).for_each(|e| visit(e, &[e])),
            Groups::Of(lists) => lists.iter().enumerate().for_each(|(g, l)| visit(g, l)),
        }
    }
}

impl ForceField for Potential {
    fn check(&self, name: &str, space: Space, count: usize) -> Result<(), ModelError> {
        self.groups.check(name, count)?;
        let longest = match &self.groups {
            Groups::Each => 1,
            Groups::Of(lists) => lists.iter().map(Vec::len).max().unwrap_or(0),
        };
        dual::check_limit(name, Field::GroupNumbers, longest * space.position_size())
    }

    fn groups(&self) -> Groups {
        self.groups.clone()
    }

    fn energy(&self, At { space, x, .. }: At<'_>) -> f64 {
        let mut sum = 0.0;
        self.each_group(space, x, |_, group| {
            sum += self.at(space, x, group, None, None).re;
        });
        sum
    }

    fn add_force(&self, At { space, x, .. }: At<'_>, f: &mut [f64]) {
        let size = space.velocity_size();
        self.each_group(space, x, |_, group| {
            let n = group.len() * size;
            let place = |k: usize| group[k / size] * size + k % size;
            // One evaluation carries two first derivatives.
            for k in (0..n).step_by(2) {
                let energy = self.at(space, x, group, Some(k), Some(k + 1));
                f[place(k)] -= energy.eps1;
                if k + 1 < n {
                    f[place(k + 1)] -= energy.eps2;
                }
            }
        });
    }

    fn stiffness(&self, At { space, x, .. }: At<'_>, out: &mut Blocks) -> Result<(), NotInvertible> {
        self.each_group(space, x, |g, group| {
            let n = group.len() * space.velocity_size();
            let block = out.block_mut(g);
            for i in 0..n {
                for j in i..n {
                    let second = self.at(space, x, group, Some(i), Some(j)).eps1eps2;
                    block[i * n + j] = second;
                    block[j * n + i] = second;
                }
            }
        });
        Ok(())
    }

    fn is_linear(&self) -> bool {
        false
    }
}
