//! A chain of equal links that hangs at rest between two points.
//!
//! With equal weights `w` at the joints of its links, link `k` pulls with `(H, V + k w)`: the
//! horizontal part is the same in all, the vertical one grows by a weight from link to link. The
//! ends are where `sum l (H, V + k)/|(H, V + k)| = (x, y)` in units of `w`, the condition of the
//! least of a convex function, which damped Newton steps find.

/// Steps of Newton's method at most.
const ITERATIONS: usize = 200;

/// Share of the length by which an end may be missed.
const EXACT: f64 = 1e-13;

/// The points of `links` equal links, `length` (m) together, from one point to another, which hang
/// along `down`, a unit vector. `None` if the length is no longer than the way between the ends, or
/// these are above each other or so close that the chain hangs straight down from both, with a link
/// between that bears nothing.
pub(super) fn hanging_chain(
    ends: [[f64; 3]; 2],
    length: f64,
    links: usize,
    down: [f64; 3],
) -> Option<Vec<[f64; 3]>> {
    let way: [f64; 3] = std::array::from_fn(|i| ends[1][i] - ends[0][i]);
    let y = -dot(way, down);
    let across: [f64; 3] = std::array::from_fn(|i| way[i] + y * down[i]);
    let x = dot(across, across).sqrt();
    let link = length / links as f64;
    if !(x > EXACT * length && x.hypot(y) < length) {
        return None;
    }
    let (horizontal, vertical) = pull(x / link, y / link, links)?;
    let mut points = Vec::with_capacity(links.saturating_add(1));
    let mut at = ends[0];
    points.push(at);
    for k in 1..links {
        let v = vertical + (k as f64 - 1.0);
        let size = horizontal.hypot(v);
        for i in 0..3 {
            at[i] += link * (horizontal / size * across[i] / x - v / size * down[i]);
        }
        points.push(at);
    }
    points.push(ends[1]);
    Some(points)
}

fn dot(a: [f64; 3], b: [f64; 3]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// The pull of the first of so many links of length 1, whose sum is `(x, y)`.
fn pull(x: f64, y: f64, links: usize) -> Option<(f64, f64)> {
    let n = links as f64;
    let all = |v: f64| (0..links).map(move |k| v + k as f64);
    let potential = |h: f64, v: f64| all(v).map(|v| h.hypot(v)).sum::<f64>() - h * x - v * y;
    let (mut h, mut v) = (n, y / n - 0.5 * (n - 1.0));
    for _ in 0..ITERATIONS {
        let (mut gradient, mut hessian) = ([-x, -y], [0.0; 3]);
        for v in all(v) {
            let size = h.hypot(v);
            let cube = size.powi(3);
            gradient[0] += h / size;
            gradient[1] += v / size;
            hessian[0] += v * v / cube;
            hessian[1] -= h * v / cube;
            hessian[2] += h * h / cube;
        }
        if gradient[0].abs().max(gradient[1].abs()) <= EXACT * n {
            return Some((h, v));
        }
        let determinant = hessian[0] * hessian[2] - hessian[1] * hessian[1];
        let step = [
            (hessian[1] * gradient[1] - hessian[2] * gradient[0]) / determinant,
            (hessian[1] * gradient[0] - hessian[0] * gradient[1]) / determinant,
        ];
        let slope = step[0] * gradient[0] + step[1] * gradient[1];
        let before = potential(h, v);
        // Rounding of the potential, below which its decrease is not seen.
        let rounding = 1e-14 * (before.abs() + h * x + v.abs() * y.abs());
        let mut share = 1.0;
        while h + share * step[0] <= 0.0
            || potential(h + share * step[0], v + share * step[1]) > before + 1e-4 * share * slope + rounding
        {
            share *= 0.5;
            if share < 1e-12 {
                return None;
            }
        }
        h += share * step[0];
        v += share * step[1];
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lengths of links, ends, and the balance of forces at every joint: links pull with one
    /// horizontal part, and vertical ones that differ by a weight.
    #[test]
    fn links_are_equal_and_in_balance() {
        let down = [0.6, 0.0, -0.8];
        for links in [2, 3, 10, 100] {
            for stretch in [1.000_001, 1.01, 1.5, 2.5] {
                let ends = [[0.3, -1.0, 2.0], [1.0, 0.5, 2.7]];
                let way = (0.7f64 * 0.7 + 1.5 * 1.5 + 0.7 * 0.7).sqrt();
                let length = stretch * way;
                let points = hanging_chain(ends, length, links, down).expect("hangs");
                assert_eq!((points[0], points[links]), (ends[0], ends[1]));
                let directions: Vec<[f64; 3]> = points
                    .windows(2)
                    .map(|p| std::array::from_fn(|i| (p[1][i] - p[0][i]) * links as f64 / length))
                    .collect();
                for d in &directions {
                    assert!((dot(*d, *d) - 1.0).abs() < 1e-9, "{links} {stretch}: {d:?}");
                }
                // Tensions of a horizontal part of 1: vertical parts at equal distances.
                let slopes: Vec<f64> = directions
                    .iter()
                    .map(|d| {
                        let up = -dot(*d, down);
                        up / (1.0 - up * up).sqrt()
                    })
                    .collect();
                let rises: Vec<f64> = slopes.windows(2).map(|s| s[1] - s[0]).collect();
                for rise in &rises {
                    // Directions are known to the rounding of positions over links, and taut chains
                    // have slopes of a thousandth.
                    assert!(
                        (rise - rises[0]).abs() < 1e-6 * rises[0].abs().max(1e-3),
                        "{links} {stretch}"
                    );
                }
            }
        }
    }

    /// Many links: the catenary `y = a cosh(x/a)` of the same length between ends of one height.
    #[test]
    fn many_links_are_a_catenary() {
        let (a, half) = (0.8f64, 1.0f64);
        let length = 2.0 * a * (half / a).sinh();
        let ends = [[-half, 0.0, 0.0], [half, 0.0, 0.0]];
        let sag = a * ((half / a).cosh() - 1.0);
        let errors = [20, 40].map(|links| {
            let points = hanging_chain(ends, length, links, [0.0, 0.0, -1.0]).expect("hangs");
            (points[links / 2][2] + sag).abs()
        });
        // Chords of a curve: order 2 in the length of a link.
        assert!(errors[0] < 2e-3 && errors[1] < 0.27 * errors[0], "{errors:?}");
    }

    #[test]
    fn what_cannot_hang_is_none() {
        let down = [0.0, 0.0, -1.0];
        let chain = |to: [f64; 3], length, links| hanging_chain([[0.0; 3], to], length, links, down);
        assert!(chain([1.0, 0.0, 0.0], 1.0, 4).is_none());
        assert!(chain([1.0, 0.0, 0.0], 0.5, 4).is_none());
        assert!(chain([0.0, 0.0, 1.0], 2.0, 4).is_none());
        assert!(chain([1.0, 0.0, 0.0], 2.0, 1).is_none());
        assert!(chain([0.1, 0.0, 0.0], 3.0, 3).is_none());
        assert!(chain([1.0, 0.0, 0.0], f64::NAN, 4).is_none());
    }
}
