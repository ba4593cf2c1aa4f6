//! A force field in Python.

use super::How;
use super::call::Caller;
use super::differences::{FOUR, Place, SECOND, slope};
use pliant::model::{At, Blocks, ForceField, Groups, ModelError, NotInvertible, Space};

/// Force field whose methods are callables of Python.
#[derive(Debug)]
pub(super) struct Law {
    caller: Caller,
    how: How,
    space: Space,
    count: usize,
    /// Whether matrices of the user are given as they are, or their symmetric parts.
    raw: bool,
}

/// The most numbers of a matrix: 200 MB.
const MOST: usize = 25_000_000;

impl Law {
    pub(super) fn new(caller: Caller, how: &How, (space, count): (Space, usize)) -> Self {
        Self {
            caller,
            how: how.clone(),
            space,
            count,
            raw: false,
        }
    }

    /// Gives matrices of the user as they are, for who looks whether they are symmetric.
    pub(super) fn raw(mut self) -> Self {
        self.raw = true;
        self
    }

    /// Calls what every step calls, at a place; nothing if that fails.
    pub(super) fn try_at(&self, x: &[f64], v: &[f64]) -> Option<()> {
        if self.caller.has("energy") {
            self.energy_at(x)?;
        }
        self.force_at(x, v)?;
        Some(())
    }

    fn place<'a>(&self, x: &'a [f64]) -> Place<'a> {
        Place {
            space: self.space,
            x,
            difference: self.how.difference,
        }
    }

    fn shapes(&self) -> ([usize; 2], [usize; 2]) {
        let (x, v) = (self.space.position_size(), self.space.velocity_size());
        ([self.count, x], [self.count, v])
    }

    fn energy_at(&self, x: &[f64]) -> Option<f64> {
        self.caller.number("energy", &[(x, &self.shapes().0)])
    }

    /// The force, by the energy if there is no method for it.
    fn force_at(&self, x: &[f64], v: &[f64]) -> Option<Vec<f64>> {
        let (positions, velocities) = self.shapes();
        if !self.caller.has("force") {
            return self.slopes_of_energy(x);
        }
        let moving = [(x, &positions[..]), (v, &velocities[..])];
        let arguments = if self.caller.moves() {
            &moving[..]
        } else {
            &moving[..1]
        };
        self.caller.numbers("force", arguments, &[&velocities])
    }

    fn slopes_of_energy(&self, x: &[f64]) -> Option<Vec<f64>> {
        let place = self.place(x);
        let one = |k: usize| {
            let mut values = [0.0; 4];
            for (value, steps) in values.iter_mut().zip(FOUR) {
                *value = self.energy_at(&place.moved(std::iter::once(k), steps))?;
            }
            Some(-slope(values) / place.step(k))
        };
        (0..self.count * self.space.velocity_size()).map(one).collect()
    }

    /// A matrix by a method: over all coordinates, or blocks of elements.
    fn matrix(&self, name: &str, arguments: &[(&[f64], &[usize])]) -> Option<Vec<f64>> {
        let (count, size) = (self.count, self.space.velocity_size());
        let n = count * size;
        match self.how.coupled {
            true => {
                let shapes: [&[usize]; 2] = [&[n, n], &[count, size, count, size]];
                self.caller.numbers(name, arguments, &shapes)
            }
            false => self.caller.numbers(name, arguments, &[&[count, size, size]]),
        }
    }

    /// Minus the derivative of a force, by its values with coordinates moved so many steps.
    fn derivative(
        &self,
        place: Place<'_>,
        step: impl Fn(usize) -> f64,
        force: impl Fn(&[usize], f64) -> Option<Vec<f64>>,
    ) -> Option<Vec<f64>> {
        let (n, size) = (self.count * place.size(), place.size());
        let width = if self.how.coupled { n } else { size };
        // The force of an energy has more rounding, and takes longer steps.
        let is_fine = self.caller.has("force");
        let mut out = vec![0.0; n * width];
        for (c, along) in place.together(self.how.coupled).iter().enumerate() {
            let values: Vec<Vec<f64>> = match is_fine {
                true => [-1.0, 1.0]
                    .map(|steps| force(along, steps))
                    .into_iter()
                    .collect::<Option<_>>()?,
                false => FOUR
                    .map(|steps| force(along, steps))
                    .into_iter()
                    .collect::<Option<_>>()?,
            };
            for row in 0..n {
                let k = if self.how.coupled {
                    c
                } else {
                    row / size * size + c
                };
                let change = match &values[..] {
                    [back, on] => 0.5 * (on[row] - back[row]),
                    four => slope([0, 1, 2, 3].map(|i: usize| four[i][row])),
                };
                out[row * width + c] = -change / step(k);
            }
        }
        Some(out)
    }

    fn stiffness_at(&self, x: &[f64]) -> Option<Vec<f64>> {
        let (positions, velocities) = self.shapes();
        if self.caller.has("stiffness") {
            return self.matrix("stiffness", &[(x, &positions)]);
        }
        let still = vec![0.0; velocities.iter().product()];
        let mut place = self.place(x);
        if !self.caller.has("force") {
            place.difference *= SECOND;
        }
        self.derivative(
            place,
            |k| place.step(k),
            |along, steps| self.force_at(&place.moved(along.iter().copied(), steps), &still),
        )
    }

    fn damping_at(&self, x: &[f64], v: &[f64]) -> Option<Vec<f64>> {
        let (positions, velocities) = self.shapes();
        if self.caller.has("damping") {
            return self.matrix("damping", &[(x, &positions), (v, &velocities)]);
        }
        let step = |k: usize| self.how.difference * v[k].abs().max(1.0);
        self.derivative(self.place(x), step, |along, steps| {
            let mut v = v.to_vec();
            along.iter().for_each(|k| v[*k] += steps * step(*k));
            self.force_at(x, &v)
        })
    }

    /// Writes the blocks of a matrix, or no numbers.
    fn write(&self, name: &str, matrix: Option<Vec<f64>>, out: &mut Blocks) {
        let mut next = matrix.as_deref().unwrap_or(&[]).iter().copied();
        for block in 0..out.len() {
            let width = out.width(block);
            let numbers = out.block_mut(block);
            numbers.fill_with(|| next.next().unwrap_or(f64::NAN));
            if self.raw && self.caller.is_given(name) {
                continue;
            }
            for r in 0..width {
                for c in 0..r {
                    let mean = 0.5 * (numbers[r * width + c] + numbers[c * width + r]);
                    (numbers[r * width + c], numbers[c * width + r]) = (mean, mean);
                }
            }
        }
    }
}

impl ForceField for Law {
    fn check(&self, name: &str, _space: Space, count: usize) -> Result<(), ModelError> {
        let n = count * self.space.velocity_size();
        match self.how.coupled && n.saturating_mul(n) > MOST {
            true => Err(ModelError::Degenerate {
                name: name.to_owned(),
                cause: pliant::model::Degenerate {
                    element: 0,
                    reason: "its stiffness over all elements is too large a matrix; `coupled=False` has one for each element",
                },
                detail: String::new(),
            }),
            false => Ok(()),
        }
    }

    fn groups(&self) -> Groups {
        match self.how.coupled {
            true => Groups::Of(vec![(0..self.count).collect()]),
            false => Groups::Each,
        }
    }

    fn energy(&self, at: At<'_>) -> f64 {
        // The energy of a step is asked for last: one in which a call failed has none.
        let found = match self.caller.has("energy") {
            true => self.energy_at(at.x),
            false => (!self.caller.failures().has_failed()).then_some(0.0),
        };
        found.unwrap_or(f64::NAN)
    }

    fn has_potential(&self) -> bool {
        self.caller.has("energy")
    }

    fn add_force(&self, at: At<'_>, f: &mut [f64]) {
        match self.force_at(at.x, at.v) {
            Some(force) => f.iter_mut().zip(force).for_each(|(f, own)| *f += own),
            None => f.fill(f64::NAN),
        }
    }

    fn stiffness(&self, at: At<'_>, out: &mut Blocks) -> Result<(), NotInvertible> {
        if !self.caller.failures().is_idle() {
            self.write("stiffness", self.stiffness_at(at.x), out);
        }
        Ok(())
    }

    fn damping(&self, at: At<'_>, out: &mut Blocks) {
        if self.is_damped() {
            self.write("damping", self.damping_at(at.x, at.v), out);
        }
    }

    fn is_damped(&self) -> bool {
        self.caller.moves()
    }

    fn is_linear(&self) -> bool {
        false
    }
}
