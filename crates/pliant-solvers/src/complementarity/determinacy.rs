//! Whether the impulses of a solution are the only ones with its velocities.
//!
//! A solution may change along `d` with `A d = 0` and still be one, if every block may take its
//! share of `d`: where it sticks, any; where it slips, more or less in the same direction; none
//! where there is no impulse. With the columns of `B` for those shares, `d = B y` and
//! `B^T A B y = 0`, because `A` is positive semidefinite. Blocks at the edge of two of these cases
//! (no impulse and no velocity, friction at its bound without slip) may change in one direction
//! only. A solution is called the only one if none is found with these changes allowed in both
//! directions, and one of many if one is found without them.

use super::{Cone, Problem};

/// Columns of `B` that a rank is found for; a step has one for every island.
const MOST: usize = 32;

/// Share of its diagonal that an entry of the factor is zero below.
const ZERO: f64 = 1e-8;

/// Share of the largest velocity without impulses below which a block does not move, and of the
/// bound of its friction that it is at it by.
const REST: f64 = 1e-6;

/// How many blocks with impulses have them in one way only.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Determinacy {
    /// Blocks of contacts whose impulses are the only ones.
    pub unique: usize,
    /// Blocks that share them with others, in more than one way.
    pub shared: usize,
    /// Blocks of which it is not known: too many of them together, or at the edge of their laws.
    pub unexamined: usize,
}

impl Determinacy {
    /// Sums of two parts that do not know of each other.
    pub(crate) fn with(self, other: Self) -> Self {
        Self {
            unique: self.unique + other.unique,
            shared: self.shared + other.shared,
            unexamined: self.unexamined + other.unexamined,
        }
    }
}

/// A column of `B`: shares of the rows of one block.
#[derive(Clone, Copy, Debug, Default)]
struct Column {
    first: usize,
    rows: usize,
    shares: [f64; Cone::MOST_ROWS],
    /// Whether the block may take it in one direction only.
    at_edge: bool,
}

/// Columns of all blocks; beyond [`MOST`] they are counted.
#[derive(Clone, Copy, Debug)]
struct Columns {
    list: [Column; MOST],
    count: usize,
    /// Columns that blocks may take in both directions.
    inside: usize,
}

impl Columns {
    fn push(&mut self, column: Column) {
        if let Some(place) = self.list.get_mut(self.count) {
            *place = column;
        }
        self.count += 1;
        self.inside += usize::from(!column.at_edge);
    }

    /// One row by itself.
    fn push_row(&mut self, first: usize, k: usize, rows: usize, at_edge: bool) {
        let mut column = Column {
            first,
            rows,
            at_edge,
            ..Column::default()
        };
        column.shares[k] = 1.0;
        self.push(column);
    }

    /// Adds the columns of a block with impulses `r` and velocities `u`, `noise` a velocity that is
    /// none; false if they are not known for its law.
    fn push_block(
        &mut self,
        cone: &Cone,
        first: usize,
        r: &[f64],
        u: &[f64],
        scale: f64,
        noise: f64,
    ) -> bool {
        let rows = r.len();
        let none = scale * r[0].abs() <= noise;
        if let Some((lower, upper)) = cone.bounds() {
            let bound = [lower, upper].into_iter().filter(|b| b.is_finite());
            let is_at = bound.into_iter().any(|b| scale * (r[0] - b).abs() <= noise);
            if !is_at || u[0].abs() <= noise {
                self.push_row(first, 0, rows, is_at);
            }
            return true;
        }
        if none {
            // It may begin to bear where it touches.
            if u[0].abs() <= noise {
                (0..rows).for_each(|k| self.push_row(first, k, rows, true));
            }
            return true;
        }
        if matches!(cone, Cone::Pyramid { .. }) {
            return false;
        }
        let mut along = Column {
            first,
            rows,
            ..Column::default()
        };
        along.shares[0] = 1.0;
        for (mu, part) in cone.discs() {
            let length = |x: &[f64]| x.iter().map(|x| x * x).sum::<f64>().sqrt();
            let (friction, slip) = (length(&r[part.clone()]), length(&u[part.clone()]));
            let is_at = friction >= mu * r[0] * (1.0 - REST);
            if is_at {
                for k in part.clone() {
                    along.shares[k] = r[k] / r[0];
                }
            }
            if mu > 0.0 && (!is_at || slip <= noise) {
                part.for_each(|k| self.push_row(first, k, rows, is_at));
            }
        }
        self.push(along);
        true
    }

    /// Whether `B^T A B` is singular for the columns inside, or for all.
    fn is_singular(&self, problem: &Problem, all: bool) -> bool {
        let mut a = [[0.0; MOST]; MOST];
        let mut chosen = [0; MOST];
        let mut n = 0;
        for (k, column) in self.list[..self.count].iter().enumerate() {
            if all || !column.at_edge {
                chosen[n] = k;
                n += 1;
            }
        }
        let mut block = [0.0; Cone::MOST_ROWS * Cone::MOST_ROWS];
        for i in 0..n {
            let own = &self.list[chosen[i]];
            for k in 0..=i {
                let other = &self.list[chosen[k]];
                let out = &mut block[..own.rows * other.rows];
                let (rows, columns) = (
                    own.first..own.first + own.rows,
                    other.first..other.first + other.rows,
                );
                problem.delassus().block(rows, columns, out);
                let mut sum = 0.0;
                for (line, x) in out.chunks_exact(other.rows).zip(&own.shares) {
                    sum += x * line.iter().zip(&other.shares).map(|(a, y)| a * y).sum::<f64>();
                }
                (a[i][k], a[k][i]) = (sum, sum);
            }
        }
        rank(&mut a, n) < n
    }
}

/// Rank of a symmetric positive semidefinite matrix of order `n` with a diagonal of any size, by
/// Cholesky's factor with the largest entry of the diagonal next.
fn rank(a: &mut [[f64; MOST]; MOST], n: usize) -> usize {
    let scale: [f64; MOST] = std::array::from_fn(|i| a[i][i].max(f64::MIN_POSITIVE).sqrt().recip());
    for i in 0..n {
        for k in 0..n {
            a[i][k] *= scale[i] * scale[k];
        }
    }
    let mut done = [false; MOST];
    for step in 0..n {
        let left = (0..n).filter(|i| !done[*i]);
        let Some(p) = left.max_by(|i, k| a[*i][*i].total_cmp(&a[*k][*k])) else {
            return step;
        };
        if a[p][p] <= ZERO {
            return step;
        }
        done[p] = true;
        for i in (0..n).filter(|i| !done[*i]) {
            let factor = a[i][p] / a[p][p];
            for k in 0..n {
                a[i][k] -= factor * a[p][k];
            }
        }
    }
    n
}

impl Problem {
    /// Whether the impulses `r` of a solution with velocities `u` are the only ones with them.
    /// `freedoms` bounds the rank of the operator, whose entries are looked at only where they are
    /// kept as a sparse matrix. Cost: up to the cube of 32 columns; allocates nothing.
    pub(crate) fn determinacy(&self, r: &[f64], u: &[f64], freedoms: usize) -> Determinacy {
        let noise = REST * self.b().iter().fold(0.0f64, |a, b| a.max(b.abs()));
        let mut columns = Columns {
            list: [Column::default(); MOST],
            count: 0,
            inside: 0,
        };
        let (mut contacts, mut known) = (0, true);
        for (k, cone) in self.cones().iter().enumerate() {
            let rows = self.rows(k);
            let (own, velocity) = (&r[rows.clone()], &u[rows.clone()]);
            let is_active = self.scale(k) * own[0] > noise;
            contacts += usize::from(is_active && !matches!(cone, Cone::Box { .. } | Cone::Free));
            known &= columns.push_block(cone, rows.start, own, velocity, self.scale(k), noise);
        }
        if contacts == 0 {
            return Determinacy::default();
        }
        let few = known && columns.count <= MOST && self.delassus().matrix().is_some();
        let mut out = Determinacy::default();
        *(if columns.inside > freedoms || few && columns.is_singular(self, false) {
            &mut out.shared
        } else if few && (columns.count == columns.inside || !columns.is_singular(self, true)) {
            &mut out.unique
        } else {
            &mut out.unexamined
        }) = contacts;
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::complementarity::BlockSparse;

    /// Rows of a rigid plate of mass and moment of inertia one that is carried at places `x`: unit
    /// normals, and friction along `x` if there is any; the normal first.
    fn plate(places: &[f64], cone: Cone, b: f64) -> Problem {
        let rows = cone.rows();
        let jacobian = |x: f64, k: usize| match k {
            0 => [0.0, 1.0, x],
            1 => [1.0, 0.0, 0.0],
            _ => [0.0; 3],
        };
        let blocks: Vec<_> = (0..places.len())
            .flat_map(|i| (0..places.len()).map(move |k| (i, k)))
            .map(|(i, k)| {
                let entry = |a: usize, b: usize| {
                    let (p, q) = (jacobian(places[i], a), jacobian(places[k], b));
                    let unmoved = f64::from(u8::from(i == k && a == b && a == 2));
                    p.iter().zip(q).map(|(p, q)| p * q).sum::<f64>() + unmoved
                };
                let values = (0..rows * rows).map(|n| entry(n / rows, n % rows));
                (i, k, values.collect())
            })
            .collect();
        let a = BlockSparse::new(&vec![rows; places.len()], &blocks).expect("a block for each two places");
        let mut all = vec![0.0; rows * places.len()];
        all.iter_mut().step_by(rows).for_each(|x| *x = b);
        Problem::new(a, all, vec![cone; places.len()]).expect("a cone for each place")
    }

    /// With the three ways in which the plate moves, and one for each foot across it.
    fn found(p: &Problem, r: &[f64], u: &[f64]) -> Determinacy {
        p.determinacy(r, u, 3 + p.size() / 3)
    }

    fn unique(unique: usize) -> Determinacy {
        Determinacy {
            unique,
            ..Determinacy::default()
        }
    }

    fn shared(shared: usize) -> Determinacy {
        Determinacy {
            shared,
            ..Determinacy::default()
        }
    }

    /// Two props carry a plate in one way, three in many; a third one that touches and bears
    /// nothing might begin to, and one that is open may not.
    #[test]
    fn props_of_a_plate() {
        let two = plate(&[-1.0, 1.0], Cone::NonNegative, -1.0);
        assert_eq!(found(&two, &[0.5, 0.5], &[0.0; 2]), unique(2));
        // By the rank: it might move in one way more.
        let three = plate(&[-1.0, 0.0, 1.0], Cone::NonNegative, -1.0);
        let r = [0.3, 0.4, 0.3];
        assert_eq!(found(&three, &r, &[0.0; 3]), shared(3));
        let r = [0.5, 0.0, 0.5];
        let edge = found(&three, &r, &[0.0; 3]);
        assert_eq!((edge.unique, edge.shared, edge.unexamined), (0, 0, 2));
        assert_eq!(found(&three, &r, &[0.0, 0.1, 0.0]), unique(2));
        // Two places that are nearly one are still two.
        let near = plate(&[0.0, 1e-3], Cone::NonNegative, -1.0);
        assert_eq!(found(&near, &[0.5, 0.5], &[0.0; 2]), unique(2));
    }

    /// Two feet that stick can push against each other, unless one slips: then its friction is
    /// known. At the bound without slip it is not known whether it may.
    #[test]
    fn feet_with_friction() {
        let feet = plate(&[-1.0, 1.0], Cone::Coulomb { mu: 0.5 }, -1.0);
        let r = [0.5, 0.1, 0.0, 0.5, -0.1, 0.0];
        assert_eq!(found(&feet, &r, &[0.0; 6]), shared(2));
        let slips = [0.5, 0.25, 0.0, 0.5, -0.1, 0.0];
        let u = [0.0, -0.2, 0.0, 0.0, 0.0, 0.0];
        assert_eq!(found(&feet, &slips, &u), unique(2));
        let edge = found(&feet, &slips, &[0.0; 6]);
        assert_eq!((edge.unique, edge.shared, edge.unexamined), (0, 0, 2));
        // Both slip one way.
        let both = [0.5, 0.25, 0.0, 0.5, 0.25, 0.0];
        let u = [0.0, -0.2, 0.0, 0.0, -0.2, 0.0];
        assert_eq!(found(&feet, &both, &u), unique(2));
    }

    /// More forces than ways to move are told without a factor, also of many contacts; many that
    /// are not more are not examined.
    #[test]
    fn many_contacts() {
        let places: Vec<f64> = (0..40).map(f64::from).collect();
        let props = plate(&places, Cone::NonNegative, -1.0);
        let r = vec![1.0; 40];
        assert_eq!(found(&props, &r, &vec![0.0; 40]), shared(40));
        let unknown = props.determinacy(&r, &vec![0.0; 40], 1000);
        assert_eq!(unknown.unexamined, 40);
        let polygon = Cone::Pyramid {
            mu: 0.5,
            facets: 4,
            first: 0.0,
        };
        let one = plate(&[0.0], polygon, -1.0);
        assert_eq!(found(&one, &[1.0, 0.1, 0.0], &[0.0; 3]).unexamined, 1);
    }

    #[test]
    fn ranks() {
        let mut a = [[0.0; MOST]; MOST];
        // Of the vectors (1, 2), (2, 4), (1e-3, 0), by their products.
        let v = [[1.0, 2.0], [2.0, 4.0], [1e-3, 0.0]];
        for i in 0..3 {
            for k in 0..3 {
                a[i][k] = v[i][0] * v[k][0] + v[i][1] * v[k][1];
            }
        }
        assert_eq!(rank(&mut a.clone(), 3), 2);
        assert_eq!(rank(&mut a, 2), 1);
    }
}
