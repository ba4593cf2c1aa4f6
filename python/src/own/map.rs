//! A mapping in Python.

use super::How;
use super::call::Caller;
use super::differences::{FOUR, Place, SECOND, slope};
use pliant::model::{Blocks, Degenerate, Dependency, Mapping, ModelError, Parents, Space};

/// Mapping to points or scalars whose methods are callables of Python.
#[derive(Clone, Debug)]
pub(super) struct Map {
    caller: Caller,
    how: How,
    parents: Vec<(Space, usize)>,
    /// Elements of the child and the coordinates of each.
    shape: [usize; 2],
}

/// How much longer the steps of mixed second differences are, whose error goes with their square.
const MIXED: f64 = 3.0;

impl Map {
    /// The mapping of parents at a place, where it is asked for the shape of the child; nothing if
    /// that fails.
    pub(super) fn try_at(caller: Caller, how: &How, parents: Vec<(Space, usize)>, x: &[f64]) -> Option<Self> {
        let mut map = Self {
            caller,
            how: how.clone(),
            parents,
            shape: [0, 0],
        };
        let shapes = map.shapes();
        let (shape, _) = map.caller.table("positions", &map.arguments(x, &shapes))?;
        map.shape = shape;
        Some(map)
    }

    /// Shapes of the positions of the parents.
    fn shapes(&self) -> Vec<[usize; 2]> {
        let of = |(space, count): &(Space, usize)| [*count, space.position_size()];
        self.parents.iter().map(of).collect()
    }

    /// The positions of the parents one by one.
    fn arguments<'a>(&self, x: &'a [f64], shapes: &'a [[usize; 2]]) -> Vec<(&'a [f64], &'a [usize])> {
        let mut rest = x;
        let mut out = Vec::new();
        for shape in shapes {
            let (own, others) = rest.split_at(shape[0] * shape[1]);
            out.push((own, &shape[..]));
            rest = others;
        }
        out
    }

    /// Positions of all parents, one after the other.
    fn gather(&self, parents: Parents<'_>) -> Vec<f64> {
        self.each_element(|at| parents.position(at).to_vec())
    }

    fn velocities(&self, parents: Parents<'_>) -> Vec<f64> {
        self.each_element(|at| parents.velocity(at).to_vec())
    }

    fn each_element(&self, read: impl Fn(Dependency) -> Vec<f64>) -> Vec<f64> {
        let of = |(parent, (_, count)): (usize, &(Space, usize))| {
            (0..*count).map(move |element| Dependency::new(parent, element))
        };
        let all = self.parents.iter().enumerate().flat_map(of);
        all.flat_map(read).collect()
    }

    /// Places of the parents, one after the other.
    fn places<'a>(&self, x: &'a [f64], difference: f64) -> Vec<Place<'a>> {
        let mut rest = x;
        let mut out = Vec::new();
        for (space, count) in &self.parents {
            let (own, others) = rest.split_at(count * space.position_size());
            out.push(Place {
                space: *space,
                x: own,
                difference,
            });
            rest = others;
        }
        out
    }

    /// Columns of the blocks: velocity coordinates of what one element of the child depends on.
    fn width(&self) -> usize {
        let of = |(space, count): &(Space, usize)| {
            let elements = if self.how.coupled { *count } else { 1 };
            elements * space.velocity_size()
        };
        self.parents.iter().map(of).sum()
    }

    /// For each column of the blocks, the parent and its coordinates that are moved together.
    fn columns(&self, x: &[f64]) -> Vec<(usize, Vec<usize>)> {
        let places = self.places(x, self.how.difference);
        let of = |(parent, place): (usize, &Place<'_>)| {
            let lists = place.together(self.how.coupled);
            lists.into_iter().map(move |list| (parent, list))
        };
        places.iter().enumerate().flat_map(of).collect()
    }

    /// All positions with those of the columns moved by so many steps.
    fn moved(&self, x: &[f64], difference: f64, by: &[(&(usize, Vec<usize>), f64)]) -> Vec<f64> {
        let places = self.places(x, difference);
        let first = |parent: usize| -> usize {
            let before = places[..parent].iter();
            before.map(|place| place.count() * place.size()).sum()
        };
        let mut displacement = vec![0.0; first(places.len())];
        for ((parent, along), steps) in by {
            for k in along {
                displacement[first(*parent) + k] += steps * places[*parent].step(*k);
            }
        }
        self.carried(x, &displacement, 1.0)
    }

    /// All positions moved along a share of a velocity.
    fn carried(&self, x: &[f64], v: &[f64], share: f64) -> Vec<f64> {
        let mut v = v;
        let mut out = Vec::new();
        for place in self.places(x, self.how.difference) {
            let (own, others) = v.split_at(place.count() * place.size());
            let step: Vec<f64> = own.iter().map(|v| share * v).collect();
            out.extend(place.displaced(&step));
            v = others;
        }
        out
    }

    fn child_at(&self, x: &[f64]) -> Option<Vec<f64>> {
        let shapes = self.shapes();
        self.caller
            .numbers("positions", &self.arguments(x, &shapes), &[&self.shape])
    }

    /// Blocks of the Jacobian, one after the other.
    fn jacobian_at(&self, x: &[f64]) -> Option<Vec<f64>> {
        let ([elements, size], width) = (self.shape, self.width());
        if self.caller.has("jacobian") {
            let whole = [elements, size, width];
            let mut all: Vec<&[usize]> = vec![&whole];
            let matrix = [elements * size, width];
            let (space, count) = self.parents[0];
            let by_element = [elements, size, count, space.velocity_size()];
            if self.how.coupled {
                all.push(&matrix);
                if self.parents.len() == 1 {
                    all.push(&by_element);
                }
            }
            let shapes = self.shapes();
            return self.caller.numbers("jacobian", &self.arguments(x, &shapes), &all);
        }
        let mut out = vec![0.0; elements * size * width];
        for (column, along) in self.columns(x).iter().enumerate() {
            let mut values = Vec::with_capacity(4);
            for steps in FOUR {
                values.push(self.child_at(&self.moved(x, self.how.difference, &[(along, steps)]))?);
            }
            for row in 0..elements * size {
                let four = [0, 1, 2, 3].map(|k: usize| values[k][row]);
                let step = self.step(x, along, row / size, self.how.difference);
                out[row * width + column] = slope(four) / step;
            }
        }
        Some(out)
    }

    /// The step that a column is moved by, as an element of the child sees it.
    fn step(&self, x: &[f64], (parent, along): &(usize, Vec<usize>), element: usize, difference: f64) -> f64 {
        let k = if self.how.coupled {
            along[0]
        } else {
            along[element]
        };
        self.places(x, difference)[*parent].step(k)
    }

    /// `J v`, of the Jacobian at one place and a velocity of the parents.
    fn pushed(&self, jacobian: &[f64], v: &[f64]) -> Vec<f64> {
        let ([elements, size], width) = (self.shape, self.width());
        let along = |element: usize| -> Vec<f64> {
            if self.how.coupled {
                return v.to_vec();
            }
            let mut rest = v;
            let mut out = Vec::new();
            for (space, count) in &self.parents {
                let (own, others) = rest.split_at(count * space.velocity_size());
                out.extend(&own[element * space.velocity_size()..][..space.velocity_size()]);
                rest = others;
            }
            out
        };
        let row = |row: usize| {
            let v = along(row / size);
            let terms = jacobian[row * width..][..width].iter().zip(&v);
            terms.map(|(j, v)| j * v).sum()
        };
        (0..elements * size).map(row).collect()
    }

    /// `(dJ/dt) v` along the motion with a constant velocity.
    fn bias_at(&self, x: &[f64], v: &[f64]) -> Option<Vec<f64>> {
        let fastest = v.iter().fold(0.0f64, |a, v| a.max(v.abs()));
        let far = x.iter().fold(1.0f64, |a, x| a.max(x.abs()));
        if fastest == 0.0 {
            return Some(vec![0.0; self.shape[0] * self.shape[1]]);
        }
        if self.caller.has("jacobian") {
            let share = far * self.how.difference / fastest;
            let mut values = Vec::with_capacity(4);
            for steps in FOUR {
                let jacobian = self.jacobian_at(&self.carried(x, v, steps * share))?;
                values.push(self.pushed(&jacobian, v));
            }
            let one = |row: usize| slope([0, 1, 2, 3].map(|k: usize| values[k][row])) / share;
            return Some((0..self.shape[0] * self.shape[1]).map(one).collect());
        }
        let share = far * SECOND * self.how.difference / fastest;
        let here = self.child_at(x)?;
        let mut values = Vec::with_capacity(4);
        for steps in FOUR {
            values.push(self.child_at(&self.carried(x, v, steps * share))?);
        }
        let one = |row: usize| {
            let [a, b, c, d] = [0, 1, 2, 3].map(|k: usize| values[k][row]);
            (16.0 * (b + c) - (a + d) - 30.0 * here[row]) / (12.0 * share * share)
        };
        Some((0..here.len()).map(one).collect())
    }

    /// Blocks of the derivative of `J^T f` for a fixed force of the child. Where elements are
    /// coupled all of them have one block in common, the first.
    fn geometry_at(&self, x: &[f64], force: &[f64]) -> Option<Vec<f64>> {
        let width = self.width();
        let shape = match self.how.coupled {
            true => vec![width, width],
            false => vec![self.shape[0], width, width],
        };
        if self.caller.has("geometric_stiffness") {
            let shapes = self.shapes();
            let mut arguments = self.arguments(x, &shapes);
            arguments.push((force, &self.shape));
            let (space, count) = self.parents[0];
            let by_element = [count, space.velocity_size(), count, space.velocity_size()];
            let mut all: Vec<&[usize]> = vec![&shape];
            if self.how.coupled && self.parents.len() == 1 {
                all.push(&by_element);
            }
            return self.caller.numbers("geometric_stiffness", &arguments, &all);
        }
        match self.caller.has("jacobian") {
            true => self.geometry_by_jacobian(x, force),
            false => self.geometry_by_positions(x, force),
        }
    }

    /// Sums over the elements of the child that share a block: the block, and the rows of it.
    fn blocks(&self) -> Vec<std::ops::Range<usize>> {
        let [elements, size] = self.shape;
        match self.how.coupled {
            true => std::iter::once(0..elements * size).collect(),
            false => (0..elements).map(|e| e * size..(e + 1) * size).collect(),
        }
    }

    fn geometry_by_jacobian(&self, x: &[f64], force: &[f64]) -> Option<Vec<f64>> {
        let (width, size) = (self.width(), self.shape[1]);
        let blocks = self.blocks();
        let mut out = vec![0.0; blocks.len() * width * width];
        for (column, along) in self.columns(x).iter().enumerate() {
            let at = |steps: f64| self.jacobian_at(&self.moved(x, self.how.difference, &[(along, steps)]));
            let (back, on) = (at(-1.0)?, at(1.0)?);
            for (block, rows) in blocks.iter().enumerate() {
                let step = self.step(x, along, rows.start / size, self.how.difference);
                for k in 0..width {
                    let change = |row: usize| force[row] * (on[row * width + k] - back[row * width + k]);
                    let sum: f64 = rows.clone().map(change).sum();
                    out[(block * width + k) * width + column] = sum / (2.0 * step);
                }
            }
        }
        Some(out)
    }

    /// Second differences of `f . g`.
    fn geometry_by_positions(&self, x: &[f64], force: &[f64]) -> Option<Vec<f64>> {
        let (width, size) = (self.width(), self.shape[1]);
        let (columns, blocks) = (self.columns(x), self.blocks());
        let difference = MIXED * self.how.difference;
        let mut out = vec![0.0; blocks.len() * width * width];
        for r in 0..width {
            for c in 0..=r {
                let at = |first: f64, second: f64| {
                    let by = [(&columns[r], first), (&columns[c], second)];
                    self.child_at(&self.moved(x, difference, &by))
                };
                let (a, b, d, e) = (at(1.0, 1.0)?, at(1.0, -1.0)?, at(-1.0, 1.0)?, at(-1.0, -1.0)?);
                for (block, rows) in blocks.iter().enumerate() {
                    let element = rows.start / size;
                    let steps = [r, c].map(|k| self.step(x, &columns[k], element, difference));
                    let change = |k: usize| force[k] * (a[k] - b[k] - d[k] + e[k]);
                    let sum = rows.clone().map(change).sum::<f64>() / (4.0 * steps[0] * steps[1]);
                    out[(block * width + r) * width + c] = sum;
                    out[(block * width + c) * width + r] = sum;
                }
            }
        }
        Some(out)
    }
}

/// The error of a failed call for the model; the exception is raised in its place.
const LOST: Degenerate = Degenerate {
    element: 0,
    reason: "a callable of its mapping failed",
};

impl Mapping for Map {
    fn child(&self) -> (Space, usize) {
        (Space::Real(self.shape[1]), self.shape[0])
    }

    fn check(&self, name: &str, parents: &[(Space, usize)]) -> Result<(), ModelError> {
        let alike = parents.iter().all(|(_, count)| *count == self.shape[0]);
        match self.how.coupled || alike {
            true => Ok(()),
            false => Err(ModelError::Degenerate {
                name: name.to_owned(),
                cause: Degenerate {
                    element: 0,
                    reason: "with `coupled=False` it must have as many elements as each of its parents",
                },
                detail: String::new(),
            }),
        }
    }

    fn dependencies(&self, element: usize, out: &mut Vec<Dependency>) {
        for (parent, (_, count)) in self.parents.iter().enumerate() {
            match self.how.coupled {
                true => out.extend((0..*count).map(|e| Dependency::new(parent, e))),
                false => out.push(Dependency::new(parent, element)),
            }
        }
    }

    fn apply(&self, parents: Parents<'_>, child: &mut [f64]) -> Result<(), Degenerate> {
        let found = self.child_at(&self.gather(parents)).ok_or(LOST)?;
        child.copy_from_slice(&found);
        Ok(())
    }

    fn jacobian(&self, parents: Parents<'_>, out: &mut Blocks) -> Result<(), Degenerate> {
        let found = self.jacobian_at(&self.gather(parents)).ok_or(LOST)?;
        let mut next = found.iter().copied();
        for block in 0..out.len() {
            out.block_mut(block).fill_with(|| next.next().unwrap_or(f64::NAN));
        }
        Ok(())
    }

    fn add_bias(&self, parents: Parents<'_>, child: &mut [f64]) -> bool {
        let found = self.bias_at(&self.gather(parents), &self.velocities(parents));
        match found {
            Some(bias) => child.iter_mut().zip(bias).for_each(|(c, b)| *c += b),
            None => child.fill(f64::NAN),
        }
        true
    }

    fn geometric_stiffness(&self, parents: Parents<'_>, force: &[f64], out: &mut Blocks) {
        if force.iter().all(|f| *f == 0.0) {
            return;
        }
        let width = self.width();
        let found = self.geometry_at(&self.gather(parents), force);
        let blocks = if self.how.coupled { 1 } else { out.len() };
        for block in 0..blocks {
            let numbers = out.block_mut(block);
            let Some(found) = &found else {
                numbers.fill(f64::NAN);
                continue;
            };
            let own = &found[block * width * width..][..width * width];
            for (k, number) in numbers.iter_mut().enumerate() {
                *number = 0.5 * (own[k] + own[k % width * width + k / width]);
            }
        }
    }
}
