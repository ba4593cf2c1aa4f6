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
}

impl Lcp {
    /// Converts a problem; contacts in space become pyramids with this many facets. Cost: the
    /// square of the number of variables, times four.
    ///
    /// # Errors
    /// [`ProblemError::Option`] for fewer than three facets.
    pub fn new(problem: &Problem, facets: usize) -> Result<Self, ProblemError> {
        if facets < 3 {
            return Err(ProblemError::Option {
                what: "the number of facets, at least three,",
                value: facets as f64,
            });
        }
        let mut directions: Vec<[(usize, f64); 2]> = Vec::new();
        let mut base = vec![0.0; problem.size()];
        // Variables beside the impulses, with the impulse variables that they go with: sigma of a
        // contact, upper bounds of boxes.
        let mut slips: Vec<(usize, Range<usize>, f64)> = Vec::new();
        let mut uppers: Vec<(usize, f64, f64)> = Vec::new();
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
                            uppers.push((directions.len() - 1, upper - lower, s));
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
                    slips.push((end - 3, end - 2..end, mu));
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
                    slips.push((end - sides - 1, end - sides..end, mu));
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
                        slips.push((normal, start..end, mu));
                        start = end;
                    }
                }
            }
        }
        let impulses = directions.len();
        let n = impulses + slips.len() + uppers.len();
        let a = problem.to_dense();
        let mut u = vec![0.0; problem.size()];
        problem.velocity_into(&base, &mut u);
        let mut m = DMatrix::zeros(n, n);
        let mut q = vec![0.0; n];
        for (i, d) in directions.iter().enumerate() {
            q[i] = d.iter().map(|(row, x)| x * u[*row]).sum();
            for (j, e) in directions.iter().enumerate() {
                let mut sum = 0.0;
                for (row, x) in d {
                    for (column, y) in e {
                        sum += x * y * a[(*row, *column)];
                    }
                }
                m[(i, j)] = sum;
            }
        }
        for (l, (normal, pushes, mu)) in slips.iter().enumerate() {
            let sigma = impulses + l;
            m[(sigma, *normal)] = *mu;
            for k in pushes.clone() {
                m[(k, sigma)] = 1.0;
                m[(sigma, k)] = -1.0;
            }
        }
        for (l, (variable, room, s)) in uppers.iter().enumerate() {
            let y = impulses + slips.len() + l;
            m[(*variable, y)] = 1.0;
            m[(y, *variable)] = -1.0;
            q[y] = room * s;
        }
        Ok(Self {
            m,
            q,
            directions,
            base,
        })
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
