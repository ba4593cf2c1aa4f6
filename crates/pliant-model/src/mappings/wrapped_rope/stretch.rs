//! The rope from one of its points to the next, around the obstacles between them one after the
//! other.

use super::link::{Link, Obstacle};
use crate::Parents;
use pliant_dense::{Mat3, Vec3};
use std::ops::{Mul, SubAssign};

/// Most obstacles between two neighbouring points: what is computed of them has a fixed size.
pub(super) const MOST: usize = 6;

/// Points between obstacles.
const BETWEEN: usize = MOST - 1;

/// Steps of Newton's method after which the search for the shortest rope is given up. Ropes around
/// convex obstacles take fewer than ten; obstacles that come into touch or leave it add one each.
const MOST_STEPS: usize = 100;

/// Angle (rad) by which the two halves of the rope may differ at a point between obstacles where no
/// step makes it smaller: the rounding of positions a thousand times as large as the rope.
const ACCURACY: f64 = 1e-10;

/// Angle (rad) at which no more is to be gained: a few roundings.
const ROUNDING: f64 = 4e-16;

const NO_START: &str =
    "no way was found between two obstacles that follow each other: put a point of the rope there";
const NOT_LEAST: &str = "the rope would balance on its obstacles between two points: its way there is not the shortest one beside it";
const NOT_SHORTEST: &str = "the shortest way around the obstacles between two points was not found";

/// An obstacle that a stretch fails at, counted within the stretch, and why.
pub(super) type Failure = (usize, &'static str);

/// The rope between two of its points: links from obstacle to obstacle, which meet in points of its
/// straight parts.
pub(super) struct Stretch {
    links: [Link; MOST],
    count: usize,
    /// Where each link but the last ends.
    between: [Vec3; BETWEEN],
    /// Second derivatives over these points, factored, once the way is found.
    factors: Factors,
}

/// Places of derivatives of a stretch: its first point, its last one, and the centre and the
/// rotation of the body of each obstacle.
pub(super) const PLACES: usize = 2 + 2 * MOST;

/// First derivatives of the length at each of these.
pub(super) type Slopes = [Vec3; PLACES];

/// Second derivatives between each two of these.
pub(super) type Curvatures = [[Mat3; PLACES]; PLACES];

/// Place of the centre of the body of an obstacle; its rotation comes next.
pub(super) const fn centre(obstacle: usize) -> usize {
    2 + 2 * obstacle
}

impl Stretch {
    /// The shortest way from `p` to `q` around these obstacles, at most [`MOST`].
    ///
    /// Around several obstacles the points where the links meet are unknown. The sum of the lengths
    /// is stationary in them where the rope is straight there, which Newton's method finds from the
    /// second derivatives of the links. A way whose length is not strictly the least, as of a rope
    /// that balances on a sphere, is refused: it has no second derivatives.
    pub(super) fn new(
        obstacles: &[Obstacle],
        parents: &Parents<'_>,
        [p, q]: [Vec3; 2],
    ) -> Result<Self, Failure> {
        match obstacles {
            [] => Ok(Self::of(Link::straight(p, q).map_err(|why| (0, why))?)),
            [one] => Ok(Self::of(
                Link::around(one, parents, p, q).map_err(|why| (0, why))?,
            )),
            _ => Self::around_several(obstacles, parents, [p, q]),
        }
    }

    fn of(link: Link) -> Self {
        Self {
            links: [link; MOST],
            count: 1,
            between: [Vec3::zeros(); BETWEEN],
            factors: Factors::none(),
        }
    }

    fn around_several(
        obstacles: &[Obstacle],
        parents: &Parents<'_>,
        ends: [Vec3; 2],
    ) -> Result<Self, Failure> {
        let mut found = Self::straightened(obstacles, parents, ends)?;
        let factors = found.factor(0.0);
        found.factors = factors.ok_or_else(|| (found.worst(), NOT_LEAST))?;
        Ok(found)
    }

    /// The way that is straight where its links meet.
    fn straightened(obstacles: &[Obstacle], parents: &Parents<'_>, ends: [Vec3; 2]) -> Result<Self, Failure> {
        let mut at = Self::through(obstacles, parents, ends, start(obstacles, parents, ends)?)?;
        let mut error = at.kink();
        let mut damping = 0.0;
        for _ in 0..MOST_STEPS {
            if error <= ROUNDING {
                return Ok(at);
            }
            let Some(step) = at.newton_step(damping) else {
                damping = f64::max(4.0 * damping, 1e-3);
                continue;
            };
            let mut moved = at.between;
            for (m, d) in moved.iter_mut().zip(step) {
                *m += d;
            }
            let next = Self::through(obstacles, parents, ends, moved).ok();
            let next = next.map(|next| (next.kink(), next));
            match next {
                // Shorter, or straighter where the length has no more digits to tell.
                Some((kink, next))
                    if kink < error && (kink < 0.5 * error || next.length() <= at.length()) =>
                {
                    (at, error) = (next, kink);
                    damping = if damping > 1e-3 { 0.1 * damping } else { 0.0 };
                }
                Some((_, next)) if error > ACCURACY && next.length() < at.length() => {
                    error = next.kink();
                    at = next;
                }
                _ if error <= ACCURACY => return Ok(at),
                _ => damping = f64::max(4.0 * damping, 1e-3),
            }
        }
        if error <= ACCURACY {
            return Ok(at);
        }
        Err((at.worst(), NOT_SHORTEST))
    }

    /// The links through these points.
    fn through(
        obstacles: &[Obstacle],
        parents: &Parents<'_>,
        [p, q]: [Vec3; 2],
        between: [Vec3; BETWEEN],
    ) -> Result<Self, Failure> {
        let last = obstacles.len() - 1;
        let link = |k: usize| {
            let from = if k == 0 { p } else { between[k - 1] };
            let to = if k == last { q } else { between[k] };
            Link::around(&obstacles[k], parents, from, to).map_err(|why| (k, why))
        };
        let mut out = Self::of(link(0)?);
        for k in 1..obstacles.len() {
            out.links[k] = link(k)?;
        }
        out.count = obstacles.len();
        out.between = between;
        Ok(out)
    }

    pub(super) fn length(&self) -> f64 {
        self.links[..self.count].iter().map(|link| link.way.length).sum()
    }

    /// The gradient over the point after link `k`: zero where the rope is straight there.
    fn pull(&self, k: usize) -> Vec3 {
        self.links[k].way.slopes[1] + self.links[k + 1].way.slopes[0]
    }

    fn kink(&self) -> f64 {
        (1..self.count).fold(0.0, |worst, k| f64::max(worst, self.pull(k - 1).norm()))
    }

    /// The link before the point where the rope is least straight.
    fn worst(&self) -> usize {
        let kinks = (1..self.count).map(|k| (self.pull(k - 1).norm(), k - 1));
        kinks.fold((0.0, 0), |a, b| if b.0 > a.0 { b } else { a }).1
    }

    /// The step of Newton's method, with `damping` times the curvature of a straight rope added.
    fn newton_step(&self, damping: f64) -> Option<[Vec3; BETWEEN]> {
        let factors = self.factor(damping)?;
        let mut x = [Vec3::zeros(); BETWEEN];
        for k in 1..self.count {
            x[k - 1] = -self.pull(k - 1);
        }
        factors.solve(&mut x);
        Some(x)
    }

    /// Second derivatives over the points between the links, factored. Along the rope they vanish,
    /// for where on a straight part such a point lies does not matter; there the curvature across
    /// is put in, which holds it.
    fn factor(&self, damping: f64) -> Option<Factors> {
        let mut factors = Factors {
            count: self.count - 1,
            ..Factors::none()
        };
        for k in 1..self.count {
            let (before, after) = (&self.links[k - 1].way, &self.links[k].way);
            let along = before.slopes[1] - after.slopes[0];
            let scale = 1.0 / before.length + 1.0 / after.length;
            let mut diagonal = before.second[2] + after.second[0];
            diagonal += along * along.transpose() * (0.25 * scale);
            diagonal += Mat3::identity() * (damping * scale);
            if k > 1 {
                // Links in the middle join neighbouring points.
                let coupling = before.second[1].transpose();
                let lower = coupling * factors.inverse[k - 2];
                diagonal -= lower * coupling.transpose();
                factors.lower[k - 1] = lower;
            }
            // Positive definite at a shortest way, and only there of use elsewhere.
            diagonal.cholesky()?;
            factors.inverse[k - 1] = diagonal.try_inverse()?;
        }
        Some(factors)
    }

    /// The gradient of the length. The points between do not enter, for it is stationary in them.
    pub(super) fn slopes(&self) -> Slopes {
        let mut out = [Vec3::zeros(); PLACES];
        for (k, link) in self.links[..self.count].iter().enumerate() {
            let [p, q, x, w] = link.gradient();
            if k == 0 {
                out[0] = p;
            }
            if k + 1 == self.count {
                out[1] = q;
            }
            out[centre(k)] = x;
            out[centre(k) + 1] = w;
        }
        out
    }

    /// Second derivatives of the length, with the points between at the shortest way: those of the
    /// links less `C^T K^-1 C`, with the second derivatives `K` over the points between and `C`
    /// between these and all others.
    pub(super) fn curvatures(&self) -> Curvatures {
        let mut out = [[Mat3::zeros(); PLACES]; PLACES];
        let mut mixed = [[Mat3::zeros(); BETWEEN]; PLACES];
        for (k, link) in self.links[..self.count].iter().enumerate() {
            let block = link.hessian();
            let places = [
                (k == 0).then_some(0),
                (k + 1 == self.count).then_some(1),
                Some(centre(k)),
                Some(centre(k) + 1),
            ];
            for (i, a) in places.iter().enumerate() {
                let Some(a) = *a else { continue };
                for (j, b) in places.iter().enumerate() {
                    if let Some(b) = *b {
                        out[a][b] += block[i][j];
                    }
                }
                if k > 0 {
                    mixed[a][k - 1] += block[0][i];
                }
                if k + 1 < self.count {
                    mixed[a][k] += block[1][i];
                }
            }
        }
        if self.count > 1 {
            for b in 0..centre(self.count) {
                let mut moved = mixed[b];
                self.factors.solve(&mut moved);
                for a in 0..centre(self.count) {
                    for k in 1..self.count {
                        out[a][b] -= mixed[a][k - 1].transpose() * moved[k - 1];
                    }
                }
            }
        }
        out
    }

    /// The points of contact with an obstacle, `None` if the rope passes it freely; `p` and `q` are
    /// the ends of the stretch.
    pub(super) fn contacts(&self, obstacle: usize, [p, q]: [Vec3; 2]) -> Option<[Vec3; 2]> {
        let link = &self.links[obstacle];
        let from = if obstacle == 0 {
            p
        } else {
            self.between[obstacle - 1]
        };
        let to = if obstacle + 1 == self.count {
            q
        } else {
            self.between[obstacle]
        };
        link.way.wrapped.then(|| link.contacts(from, to))
    }
}

/// Points between obstacles to begin with, outside of both of their neighbours.
fn start(
    obstacles: &[Obstacle],
    parents: &Parents<'_>,
    [p, q]: [Vec3; 2],
) -> Result<[Vec3; BETWEEN], Failure> {
    let mut out = [Vec3::zeros(); BETWEEN];
    for (k, pair) in obstacles.windows(2).enumerate() {
        let [a, b] = [&pair[0], &pair[1]].map(|o| o.waypoint(parents, p, q));
        let mut middle = (a + b) * 0.5;
        // Out of one obstacle and out of the other, which a few times is enough for unless they
        // meet.
        for _ in 0..20 {
            let (first, second) = (
                pair[0].pushed_out(parents, middle),
                pair[1].pushed_out(parents, middle),
            );
            match (first, second) {
                (None, None) => break,
                (Some(out), _) | (None, Some(out)) => middle = out,
            }
        }
        if pair.iter().any(|o| o.pushed_out(parents, middle).is_some()) {
            return Err((k, NO_START));
        }
        out[k] = middle;
    }
    Ok(out)
}

/// A symmetric block tridiagonal matrix, factored into blocks: the inverses of its diagonal, and
/// what is below.
struct Factors {
    count: usize,
    inverse: [Mat3; BETWEEN],
    lower: [Mat3; BETWEEN],
}

impl Factors {
    /// Factors of no points.
    fn none() -> Self {
        Self {
            count: 0,
            inverse: [Mat3::zeros(); BETWEEN],
            lower: [Mat3::zeros(); BETWEEN],
        }
    }

    /// Replaces right-hand sides, of one column or three, by the solution.
    fn solve<T>(&self, x: &mut [T; BETWEEN])
    where
        T: Copy + SubAssign,
        Mat3: Mul<T, Output = T>,
    {
        for k in 1..self.count {
            let carried = self.lower[k] * x[k - 1];
            x[k] -= carried;
        }
        for k in (0..self.count).rev() {
            let mut sum = self.inverse[k] * x[k];
            if k + 1 < self.count {
                sum -= self.lower[k + 1].transpose() * x[k + 1];
            }
            x[k] = sum;
        }
    }
}
