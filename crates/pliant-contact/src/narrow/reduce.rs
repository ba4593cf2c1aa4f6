//! At most four points of a manifold: the deepest, and those that span the largest area with it;
//! of a compliant one also all others that overlap.

use super::Touch;

/// Distance along the surface within which points are one, in sizes of the smaller part.
const NEAR: f64 = 1e-5;
/// Slope against the surface from which a point is behind another: a body has to turn by 63 degrees
/// before it touches with that point first.
const BEHIND: f64 = 2.0;

/// Distance of two points along the surface.
fn along(a: &Touch, b: &Touch) -> f64 {
    let way = b.a - a.a;
    (way - a.normal * a.normal.dot(&way)).norm()
}

/// Drops points that are behind others. Cost: the square of their number.
fn drop_behind(touches: &mut Vec<Touch>, from: usize, near: f64, store: bool) {
    let mut kept = from;
    for k in from..touches.len() {
        let touch = touches[k];
        let behind = |t: &Touch| touch.gap - t.gap > near + BEHIND * along(t, &touch);
        // A point that has been overwritten was behind another, which hides all that it hid.
        if store && touch.gap < 0.0 || !touches[from..].iter().any(behind) {
            touches[kept] = touch;
            kept += 1;
        }
    }
    touches.truncate(kept);
}

/// Drops points that repeat others or lie behind them, then keeps at most four of those left, in
/// their order, and where they `store` energy all that overlap: which four there are would change
/// that in a jump.
///
/// `size` is that of the smaller part (m): points of one normal nearer than 1e-5 of it along the
/// surface are one, the deepest, for a thin thing that lies flat has its upper corners above the
/// lower ones. With more than four, a point is behind another whose gap is smaller by more than
/// [`BEHIND`] times their distance along the surface. A choice goes to the earlier of candidates
/// that are equal to a millionth, so that rounding does not change it from step to step.
pub(crate) fn reduce(touches: &mut Vec<Touch>, from: usize, size: f64, store: bool) {
    let near = NEAR * size;
    let mut kept = from;
    for k in from..touches.len() {
        let touch = touches[k];
        let same = touches[from..kept].iter().position(|t| {
            along(t, &touch) <= near
                && t.normal.dot(&touch.normal) >= 0.9
                && !(store && (t.gap - touch.gap).abs() > near)
        });
        match same {
            Some(at) if touch.gap < touches[from + at].gap - 1e-9 * size => touches[from + at] = touch,
            Some(_) => {}
            None => {
                touches[kept] = touch;
                kept += 1;
            }
        }
    }
    touches.truncate(kept);
    if kept - from > 4 {
        drop_behind(touches, from, near, store);
    }
    if touches.len() - from <= 4 {
        return;
    }
    let points = &touches[from..];
    let n = points[0].normal;
    let best = |measure: &dyn Fn(usize) -> f64, slack: f64| {
        let mut best = (f64::NEG_INFINITY, 0);
        for k in 0..points.len() {
            let value = measure(k);
            if value > best.0 + slack + 1e-6 * best.0.abs().min(f64::MAX) {
                best = (value, k);
            }
        }
        best.1
    };
    let deepest = best(&|k| -points[k].gap, 1e-9 * size);
    let flat = |k: usize, from: usize| {
        let r = points[k].a - points[from].a;
        r - n * n.dot(&r)
    };
    let second = best(&|k| flat(k, deepest).norm_squared(), 0.0);
    let line = flat(second, deepest);
    let area = |k: usize| n.dot(&line.cross(&flat(k, deepest)));
    let third = best(&|k| area(k).abs(), 0.0);
    let side = area(third).signum();
    // The largest area added outside the triangle, over each of its sides.
    let added = |k: usize| {
        let corners = [deepest, second, third];
        (0..3)
            .map(|i| {
                let (p, q) = (corners[i], corners[(i + 1) % 3]);
                -side * n.dot(&flat(q, p).cross(&flat(k, p)))
            })
            .fold(f64::NEG_INFINITY, f64::max)
    };
    let fourth = best(
        &|k| {
            if [deepest, second, third].contains(&k) {
                -1.0
            } else {
                added(k)
            }
        },
        0.0,
    );
    let keep = [deepest, second, third, fourth];
    let mut next = from;
    for k in from..touches.len() {
        if keep.contains(&(k - from)) || store && touches[k].gap < 0.0 {
            touches[next] = touches[k];
            next += 1;
        }
    }
    touches.truncate(next);
}
