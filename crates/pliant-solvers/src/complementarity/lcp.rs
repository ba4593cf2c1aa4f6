//! The linear complementarity problem that a problem is, or is made into.

use super::{Cone, Problem, ProblemError};
use nalgebra::DMatrix;
use std::ops::Range;

/// `w = M z + q`, `0 <= z`, `w >= 0`, `z . w = 0`, made of a [`Problem`].
///
/// - A unilateral row stays as it is; a bounded one is counted from its bound, `r = lower + z`,
///   with a second variable if it has two.
/// - A bilateral row is split, `r = z - z'`.
/// - A contact becomes a pyramid (Stewart and Trinkle 1996; Anitescu and Potra 1997): impulses
///   `beta_k` along the directions `d_k`, and the slip `sigma`,
///
/// ```math
/// w_n = u_n,   w_k = d_k . u_t + sigma,   w_sigma = mu r_n - sum beta_k
/// ```
///
/// For a [`Cone::Rolling`] there are pushes and a slip for each of its parts. In the plane, with
/// two directions, that is Coulomb's law, and for a [`Cone::Pyramid`] it is its law. For the
/// circular cone in space it is not: the impulse of a pyramid with `k` facets is between
/// `cos(pi/k) mu r_n` and `mu r_n`, and up to `pi/k` off its direction.
///
/// If `A` is semidefinite, `M` is copositive. Without friction it is semidefinite too, and Lemke's
/// method finds a solution if there is one; with friction it does under the conditions of these
/// papers.
#[derive(Clone, Debug, PartialEq)]
pub struct Lcp {
    /// `M`, scaled so that all variables have the unit of the root of an energy.
    pub m: DMatrix<f64>,
    /// `q`, scaled likewise.
    pub q: Vec<f64>,
    /// For each variable that is an impulse: the row of `r`, or two rows, with factors.
    directions: Vec<[(usize, f64); 2]>,
    /// Impulse where `z = 0`.
    base: Vec<f64>,
    slips: Vec<Slip>,
    uppers: Vec<Upper>,
    /// `A`, row by row.
    a: Vec<f64>,
    /// Velocity where `z = 0`.
    u: Vec<f64>,
}

/// The slip of a contact, a variable beside the impulses.
#[derive(Clone, Debug, PartialEq)]
struct Slip {
    /// Variable of the normal impulse.
    normal: usize,
    /// Variables of the impulses that it bounds.
    pushes: Range<usize>,
    mu: f64,
}

/// The velocity at the upper bound of a box, a variable beside the impulses.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Upper {
    /// Variable of the impulse.
    variable: usize,
    /// Distance of the bounds, scaled as the variables are.
    room: f64,
}

impl Default for Lcp {
    /// The problem without rows.
    fn default() -> Self {
        Self {
            m: DMatrix::zeros(0, 0),
            q: Vec::new(),
            directions: Vec::new(),
            base: Vec::new(),
            slips: Vec::new(),
            uppers: Vec::new(),
            a: Vec::new(),
            u: Vec::new(),
        }
    }
}

/// Makes a matrix one of zeros, in its own storage if that is large enough. (Resizing as of
/// nalgebra gives storage back.)
pub(super) fn zero(matrix: &mut DMatrix<f64>, rows: usize, columns: usize) {
    let mut entries: Vec<f64> = std::mem::replace(matrix, DMatrix::zeros(0, 0)).data.into();
    entries.clear();
    entries.resize(rows * columns, 0.0);
    *matrix = DMatrix::from_vec(rows, columns, entries);
}

impl Lcp {
    /// Converts a problem; contacts in space become pyramids with this many facets. Cost: the
    /// square of the number of variables, times four.
    ///
    /// # Errors
    /// [`ProblemError::Option`] for fewer than three facets.
    pub fn new(problem: &Problem, facets: usize) -> Result<Self, ProblemError> {
        let mut out = Self::default();
        out.refill(problem, facets)?;
        Ok(out)
    }

    /// Becomes the problem that [`new`](Self::new) makes; allocates only for a larger one than ever
    /// before. After an error it is of no use.
    ///
    /// # Errors
    /// [`ProblemError::Option`] for fewer than three facets.
    pub fn refill(&mut self, problem: &Problem, facets: usize) -> Result<(), ProblemError> {
        self.list(problem, facets)?;
        self.fill(problem);
        Ok(())
    }

    /// Lists the variables.
    fn list(&mut self, problem: &Problem, facets: usize) -> Result<(), ProblemError> {
        if facets < 3 {
            return Err(ProblemError::Option {
                what: "the number of facets, at least three,",
                value: facets as f64,
            });
        }
        let Self {
            directions,
            base,
            slips,
            uppers,
            ..
        } = self;
        directions.clear();
        slips.clear();
        uppers.clear();
        base.clear();
        base.resize(problem.size(), 0.0);
        for (k, cone) in problem.cones().iter().enumerate() {
            let first = problem.rows(k).start;
            let s = problem.scale(k).sqrt();
            let mut push =
                |a: (usize, f64), b: (usize, f64)| directions.push([(a.0, a.1 / s), (b.0, b.1 / s)]);
            let none = (first, 0.0);
            match *cone {
                Cone::Free => {
                    push((first, 1.0), none);
                    push((first, -1.0), none);
                }
                Cone::NonNegative => push((first, 1.0), none),
                Cone::Box { lower, upper } => {
                    if lower.is_finite() {
                        base[first] = lower;
                        push((first, 1.0), none);
                        if upper.is_finite() {
                            uppers.push(Upper {
                                variable: directions.len() - 1,
                                room: (upper - lower) * s,
                            });
                        }
                    } else if upper.is_finite() {
                        base[first] = upper;
                        push((first, -1.0), none);
                    } else {
                        push((first, 1.0), none);
                        push((first, -1.0), none);
                    }
                }
                Cone::Shifted { .. } => {
                    return Err(ProblemError::Unsuitable {
                        block: k,
                        why: "a contact whose shift is known has no pyramid here",
                    });
                }
                Cone::PlanarCoulomb { mu } => {
                    push((first, 1.0), none);
                    push((first + 1, 1.0), none);
                    push((first + 1, -1.0), none);
                    let end = directions.len();
                    slips.push(Slip {
                        normal: end - 3,
                        pushes: end - 2..end,
                        mu,
                    });
                }
                Cone::Coulomb { mu } | Cone::Pyramid { mu, .. } => {
                    let (sides, start) = match *cone {
                        Cone::Pyramid { facets, first, .. } => (facets, first),
                        _ => (facets, 0.0),
                    };
                    push((first, 1.0), none);
                    for l in 0..sides {
                        let angle = start + std::f64::consts::TAU * l as f64 / sides as f64;
                        let (sine, cosine) = angle.sin_cos();
                        push((first + 1, cosine), (first + 2, sine));
                    }
                    let end = directions.len();
                    slips.push(Slip {
                        normal: end - sides - 1,
                        pushes: end - sides..end,
                        mu,
                    });
                }
                Cone::Rolling { .. } => {
                    push((first, 1.0), none);
                    let discs = cone.discs();
                    for (_, rows) in &discs {
                        let at = first + rows.start;
                        if rows.len() == 1 {
                            push((at, 1.0), none);
                            push((at, -1.0), none);
                        } else {
                            for l in 0..facets {
                                let angle = std::f64::consts::TAU * l as f64 / facets as f64;
                                let (sine, cosine) = angle.sin_cos();
                                push((at, cosine), (at + 1, sine));
                            }
                        }
                    }
                    let normal = directions.len() - 2 * facets - 3;
                    let mut start = normal + 1;
                    for (mu, rows) in discs {
                        let end = start + if rows.len() == 1 { 2 } else { facets };
                        let pushes = start..end;
                        slips.push(Slip { normal, pushes, mu });
                        start = end;
                    }
                }
            }
        }
        Ok(())
    }

    /// Writes `M` and `q` of the variables.
    fn fill(&mut self, problem: &Problem) {
        let Self {
            m,
            q,
            directions,
            base,
            slips,
            uppers,
            a,
            u,
        } = self;
        let size = problem.size();
        let impulses = directions.len();
        let n = impulses + slips.len() + uppers.len();
        a.clear();
        a.resize(size * size, 0.0);
        problem.delassus().block(0..size, 0..size, a);
        u.clear();
        u.resize(size, 0.0);
        problem.velocity_into(base, u);
        zero(m, n, n);
        q.clear();
        q.resize(n, 0.0);
        for (i, d) in directions.iter().enumerate() {
            q[i] = d.iter().map(|(row, x)| x * u[*row]).sum();
            for (j, e) in directions.iter().enumerate() {
                let mut sum = 0.0;
                for (row, x) in d {
                    for (column, y) in e {
                        sum += x * y * a[row * size + column];
                    }
                }
                m[(i, j)] = sum;
            }
        }
        for (sigma, slip) in (impulses..).zip(slips.iter()) {
            m[(sigma, slip.normal)] = slip.mu;
            for k in slip.pushes.clone() {
                m[(k, sigma)] = 1.0;
                m[(sigma, k)] = -1.0;
            }
        }
        for (y, upper) in (impulses + slips.len()..).zip(uppers.iter()) {
            m[(upper.variable, y)] = 1.0;
            m[(y, upper.variable)] = -1.0;
            q[y] = upper.room;
        }
    }

    /// The impulse of a solution.
    ///
    /// # Panics
    /// If `z` or `r` are too short.
    pub fn impulse(&self, z: &[f64], r: &mut [f64]) {
        r.copy_from_slice(&self.base);
        for (d, z) in self.directions.iter().zip(z) {
            for (row, x) in d {
                r[*row] += x * z;
            }
        }
    }
}
