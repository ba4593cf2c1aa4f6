//! Two coordinates in a fixed ratio: gears, screws, winches.

use super::{check_coordinate, check_dependency, points};
use crate::validate::{check_finite, check_space};
use crate::{Blocks, Degenerate, Dependency, Field, Mapping, ModelError, Parents, Space};

/// One coordinate of an element of a parent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Coordinate {
    /// The element.
    pub on: Dependency,
    /// Which of its coordinates; 0 of a scalar.
    pub index: usize,
}

impl Coordinate {
    /// Coordinate `index` of element `element` of parent `parent`.
    pub const fn new(parent: usize, element: usize, index: usize) -> Self {
        Self {
            on: Dependency::new(parent, element),
            index,
        }
    }

    /// Checks that it exists.
    pub(super) fn check(&self, name: &str, parents: &[(Space, usize)]) -> Result<(), ModelError> {
        let found = check_dependency(name, self.on, parents)?;
        let expected = "scalars, points or joint coordinates";
        check_space(name, expected, found, found != Space::Rigid3)?;
        check_coordinate(name, self.index, found.position_size())
    }

    pub(super) fn value(&self, parents: &Parents<'_>) -> f64 {
        parents.position(self.on)[self.index]
    }
}

/// `weights[0] a + weights[1] b - offset`.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Sum {
    terms: [(Coordinate, f64); 2],
    offset: f64,
}

impl Sum {
    fn check(
        &self,
        name: &str,
        element: usize,
        field: Field,
        parents: &[(Space, usize)],
    ) -> Result<(), ModelError> {
        for (coordinate, weight) in &self.terms {
            coordinate.check(name, parents)?;
            for value in [*weight, self.offset] {
                check_finite(name, field, value)?;
            }
        }
        if self.terms[0].0 == self.terms[1].0 {
            return Err(points::degenerate(
                name,
                element,
                "its two coordinates are the same",
            ));
        }
        Ok(())
    }

    fn dependencies(&self, out: &mut Vec<Dependency>) {
        let [(a, _), (b, _)] = &self.terms;
        out.push(a.on);
        if a.on != b.on {
            out.push(b.on);
        }
    }

    fn value(&self, parents: &Parents<'_>) -> f64 {
        let [(a, u), (b, v)] = &self.terms;
        u * a.value(parents) + v * b.value(parents) - self.offset
    }

    fn write_row(&self, parents: &Parents<'_>, row: &mut [f64]) {
        let [(a, u), (b, v)] = &self.terms;
        let second = if a.on == b.on {
            0
        } else {
            parents.velocity(a.on).len()
        };
        row[a.index] = *u;
        row[second + b.index] = *v;
    }
}

/// Two coordinates in a fixed ratio: what a gear, a belt, a rack or a screw holds at zero.
///
/// **Equation.** `x_c = a + ratio b - offset`, `J = (1, ratio)`, `G = 0`. The coordinates are
/// positions that count full turns ([`JointAxis::Twist`](crate::JointAxis::Twist)), so that a
/// constraint leaves no drift.
///
/// **Parents.** Any coordinates of scalars, points and joints.
///
/// **Use.** Gears, belts and differentials between hinge angles; with a length and an angle a screw
/// (ratio in m/rad) or a rack and pinion.
#[derive(Clone, Debug, PartialEq)]
pub struct Gear {
    pairs: Vec<Sum>,
}

impl Gear {
    /// One scalar per `(a, b, ratio)`, offset zero: `ratio` in units of `a` per unit of `b` (none,
    /// or m/rad), positive where the wheels turn against each other.
    pub fn new(pairs: &[(Coordinate, Coordinate, f64)]) -> Self {
        let sum = |(a, b, ratio): &(Coordinate, Coordinate, f64)| Sum {
            terms: [(*a, 1.0), (*b, *ratio)],
            offset: 0.0,
        };
        Self {
            pairs: pairs.iter().map(sum).collect(),
        }
    }

    /// Sets the value of `a + ratio b` at rest, in units of `a` (rad or m), of all pairs.
    #[must_use]
    pub fn with_offset(mut self, offset: f64) -> Self {
        for pair in &mut self.pairs {
            pair.offset = offset;
        }
        self
    }
}

/// A length against the angle of the drum that it is wound on.
///
/// **Equation.** `x_c = radius a - d - offset` (m) with the angle `a` (rad) and the length `d` (m):
/// `J = (radius, -1)`, `G = 0`.
///
/// **Parents.** Any coordinates of scalars, points and joints.
///
/// **Use.** Held at zero, a winch that lets out a given length, or any wheel that rolls a straight
/// way.
#[derive(Clone, Debug, PartialEq)]
pub struct Winch {
    drums: Vec<Sum>,
}

impl Winch {
    /// One scalar per `(angle, length, radius)`: angle in rad, length in m, radius (m) negative for
    /// a drum that winds the other way.
    pub fn new(drums: &[(Coordinate, Coordinate, f64)]) -> Self {
        let sum = |(angle, length, radius): &(Coordinate, Coordinate, f64)| Sum {
            terms: [(*angle, *radius), (*length, -1.0)],
            offset: 0.0,
        };
        Self {
            drums: drums.iter().map(sum).collect(),
        }
    }

    /// Sets `radius a - d` at rest (m) of all drums.
    #[must_use]
    pub fn with_offset(mut self, offset: f64) -> Self {
        for drum in &mut self.drums {
            drum.offset = offset;
        }
        self
    }
}

/// The same mapping for both, but for what the weights are called.
macro_rules! linear_sum {
    ($name:ident, $list:ident, $field:expr) => {
        impl Mapping for $name {
            fn child(&self) -> (Space, usize) {
                (Space::Real(1), self.$list.len())
            }

            fn check(&self, name: &str, parents: &[(Space, usize)]) -> Result<(), ModelError> {
                let mut all = self.$list.iter().enumerate();
                all.try_for_each(|(e, sum)| sum.check(name, e, $field, parents))
            }

            fn dependencies(&self, element: usize, out: &mut Vec<Dependency>) {
                self.$list[element].dependencies(out);
            }

            fn apply(&self, parents: Parents<'_>, child: &mut [f64]) -> Result<(), Degenerate> {
                for (x, sum) in child.iter_mut().zip(&self.$list) {
                    *x = sum.value(&parents);
                }
                Ok(())
            }

            fn jacobian(&self, parents: Parents<'_>, out: &mut Blocks) -> Result<(), Degenerate> {
                for (e, sum) in self.$list.iter().enumerate() {
                    sum.write_row(&parents, out.block_mut(e));
                }
                Ok(())
            }

            fn is_linear(&self) -> bool {
                true
            }
        }
    };
}

linear_sum!(Gear, pairs, Field::OffsetsAndRatios);
linear_sum!(Winch, drums, Field::OffsetsAndRadii);
