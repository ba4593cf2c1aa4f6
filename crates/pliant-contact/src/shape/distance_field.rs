//! Distance fields: shapes given by their signed distance on a grid.

mod foot;
mod from_mesh;
mod interpolant;
mod net;

pub(crate) use foot::{Foot, Goal};

use pliant_dense::Vec3;

use super::mesh::Lists;
use crate::ContactError;
use crate::bvh::{Aabb, Bvh};
use crate::error::{finite, positive};
use interpolant::Interpolant;

/// Values that a grid may have: 256 MiB of them.
const MOST_VALUES: usize = 1 << 25;

/// Points along each axis that the interpolant needs.
const LEAST_POINTS: usize = 4;

const SHAPE: &str = "a distance field";

/// Signed distances (m) on a grid, negative inside of matter, for
/// [`Shape::distance_field`](crate::Shape::distance_field).
///
/// Between the points of the grid the field is tricubic (Catmull and Rom 1974; Keys 1981): it and
/// its gradient are continuous, its surface is that of the interpolant. Where the distance is
/// smooth, the surface is off by `O(s^3)` and normals are by `O(s^2)`, with the spacing `s`; beside
/// edges, corners and the middle of thin parts by `O(s)`: these are rounded. Matter thinner than
/// two spacings may be lost. Only where the field is zero and which sign it has matters much: a
/// field that is not quite a distance (`z - 0.1 sin(x)`) has the contacts of its surface, too.
///
/// Cost of a search: with `n` samples of the surface, one in each cell that it passes, `O(log n)`
/// and a few dozen evaluations (a quarter of a microsecond each) for a ball or a corner, two
/// evaluations for each cell along an edge near the surface, one or more for each sample near a
/// face or another field.
///
/// Beyond the grid there is nothing: matter that reaches its sides ends there, without a surface.
/// Leave two spacings around a thing.
#[derive(Clone, Debug)]
pub struct DistanceField {
    pub(crate) grid: Interpolant,
    /// A point of the surface in each cell that it passes (m).
    pub(crate) samples: Vec<Vec3>,
    /// Triangles over the samples, counter-clockwise seen from outside.
    pub(crate) triangles: Vec<[u32; 3]>,
    /// The samples beside each sample.
    pub(crate) neighbours: Lists,
    /// Boxes about the samples, and their tree.
    pub(crate) boxes: Vec<Aabb>,
    pub(crate) tree: Bvh,
    /// A box about all matter.
    pub(crate) bounds: Aabb,
    /// Bound of the slope of the interpolant.
    pub(crate) steepest: f64,
}

impl DistanceField {
    /// A field of these values (m), x first, then y, then z, on a grid with so many points along
    /// each axis, these spacings (m), and the first point at the origin (m).
    ///
    /// # Errors
    /// [`ContactError`] if there are fewer than four points along an axis, more than 2^25 in all or
    /// another number of values, a number is bad, or no surface passes through the grid: no value
    /// is negative, or all are.
    pub fn new(
        counts: [usize; 3],
        spacing: [f64; 3],
        origin: [f64; 3],
        values: Vec<f64>,
    ) -> Result<Self, ContactError> {
        let count = check_grid(counts, spacing, origin)?;
        if values.len() != count {
            return Err(ContactError::Size {
                shape: SHAPE,
                what: "values",
                expected: count,
                found: values.len(),
            });
        }
        for value in &values {
            finite("a value of a distance field", *value)?;
            if value.abs() > 1e100 {
                return Err(ContactError::OutOfRange {
                    what: "a value of a distance field",
                    value: *value,
                    bound: "between -1e100 and 1e100",
                });
            }
        }
        let inside = values.iter().filter(|v| **v < 0.0).count();
        if inside == 0 || inside == count {
            let reason = if inside == 0 {
                "has no negative value: there is no matter in its grid"
            } else {
                "has negative values only: there is no surface in its grid"
            };
            return Err(ContactError::Field { reason });
        }
        let grid = Interpolant {
            counts,
            spacing: spacing.into(),
            origin: origin.into(),
            values,
        };
        let (samples, triangles) = net::surface(&grid);
        let sides = triangles
            .iter()
            .flat_map(|t| [0, 1, 2].map(|k| (t[k], t[(k + 1) % 3])));
        let mut beside: Vec<(u32, u32)> = sides.flat_map(|(a, b)| [(a, b), (b, a)]).collect();
        beside.sort_unstable();
        beside.dedup();
        let neighbours = Lists::new(samples.len(), beside);
        let boxes: Vec<Aabb> = samples.iter().map(|p| Aabb { low: *p, high: *p }).collect();
        let mut tree = Bvh::default();
        tree.build(&boxes);
        let bounds = bounds(&grid, &samples);
        let steepest = 1.5 * grid.steepest();
        Ok(Self {
            grid,
            samples,
            triangles,
            neighbours,
            boxes,
            tree,
            bounds,
            steepest,
        })
    }

    /// A field of the values (m) of a function of x, y and z (m) on a grid of this spacing (m) from
    /// a lowest corner to a highest one, or up to a spacing beyond.
    ///
    /// # Errors
    /// Errors of [`new`](Self::new) and of [`grid_between`](Self::grid_between).
    pub fn sampled(
        low: [f64; 3],
        high: [f64; 3],
        spacing: f64,
        function: impl Fn([f64; 3]) -> f64,
    ) -> Result<Self, ContactError> {
        let (counts, values) = Self::grid_between(low, high, spacing)?;
        let mut list = Vec::with_capacity(values);
        for k in 0..values {
            let at = [
                k % counts[0],
                k / counts[0] % counts[1],
                k / counts[0] / counts[1],
            ];
            list.push(function([0, 1, 2].map(|a| low[a] + spacing * at[a] as f64)));
        }
        Self::new(counts, [spacing; 3], low, list)
    }

    /// A field of the distance from a closed mesh of triangles, counter-clockwise seen from
    /// outside, on a grid of this spacing (m) with four spacings around it. Cost: that of the
    /// nearest triangle for each point of the grid.
    ///
    /// Distances of the points of the grid are right to rounding, their sign by the pseudonormals
    /// of Bærentzen and Aanæs (2005); of a mesh that passes through itself the sign is that of the
    /// nearest triangle.
    ///
    /// # Errors
    /// Errors of [`new`](Self::new) and of a solid [`triangle_mesh`](crate::Shape::triangle_mesh).
    pub fn from_mesh(
        points: &[[f64; 3]],
        triangles: &[[usize; 3]],
        spacing: f64,
    ) -> Result<Self, ContactError> {
        from_mesh::field(points, triangles, spacing)
    }

    /// The numbers of points of a grid of this spacing (m) from a corner to another, along each
    /// axis and in all.
    ///
    /// # Errors
    /// [`ContactError`] if a number is bad, a corner is not above the other, or there are too many.
    pub fn grid_between(
        low: [f64; 3],
        high: [f64; 3],
        spacing: f64,
    ) -> Result<([usize; 3], usize), ContactError> {
        positive("the spacing of a distance field", spacing)?;
        let mut counts = [0; 3];
        for k in 0..3 {
            finite("a corner of a distance field", low[k])?;
            finite("a corner of a distance field", high[k])?;
            let extent = positive("an extent of a distance field", high[k] - low[k])?;
            // A little less than a cell beyond a whole number of them is rounding.
            let cells = (extent / spacing - 1e-6).ceil().max(1.0);
            counts[k] = if cells < MOST_VALUES as f64 {
                cells as usize + 1
            } else {
                MOST_VALUES
            };
        }
        let count = check_grid(counts, [spacing; 3], low)?;
        Ok((counts, count))
    }

    /// The value (m) of the interpolant and its gradient at a point; `None` beyond the grid.
    pub fn at(&self, point: [f64; 3]) -> Option<(f64, [f64; 3])> {
        let jet = self.grid.at(point.into())?;
        Some((jet.value, jet.slope.into()))
    }

    /// The numbers of points of the grid along each axis.
    pub fn counts(&self) -> [usize; 3] {
        self.grid.counts
    }

    /// The spacings (m) of the grid along each axis.
    pub fn spacing(&self) -> [f64; 3] {
        self.grid.spacing.into()
    }
}

/// The number of values of a grid.
fn check_grid(counts: [usize; 3], spacing: [f64; 3], origin: [f64; 3]) -> Result<usize, ContactError> {
    for count in counts {
        if count < LEAST_POINTS {
            return Err(ContactError::TooFew {
                shape: SHAPE,
                what: "points of its grid along each axis",
                needed: LEAST_POINTS,
                found: count,
            });
        }
    }
    let count = counts.iter().try_fold(1_usize, |n, c| n.checked_mul(*c));
    let Some(count) = count.filter(|count| *count <= MOST_VALUES) else {
        return Err(ContactError::TooMany {
            shape: SHAPE,
            what: "values",
            most: MOST_VALUES,
        });
    };
    for k in 0..3 {
        positive("a spacing of a distance field", spacing[k])?;
        finite("a coordinate of the origin of a distance field", origin[k])?;
        // Cells must be told apart by their coordinates.
        let far = origin[k].abs() + spacing[k] * counts[k] as f64;
        if far * 1e-9 > spacing[k] {
            return Err(ContactError::Field {
                reason: "has a grid whose spacing is less than 1e-9 of its coordinates",
            });
        }
    }
    Ok(count)
}

/// A box about the samples and the points of the grid that are inside.
fn bounds(grid: &Interpolant, samples: &[Vec3]) -> Aabb {
    let points = (0..grid.values.len()).filter(|k| grid.values[*k] < 0.0);
    let places = points.map(|k| grid.place(grid.index(k)));
    Aabb::of(samples.iter().copied().chain(places))
}
