//! Ropes around obstacles anywhere.

use super::*;

/// Obstacles where chance puts them: every rope has a length not below the straight one with finite
/// derivatives, or an error that says why.
fn lengths_around_anything(apart: bool) -> (usize, Vec<String>) {
    let (mut lengths, mut errors) = (0, Vec::new());
    for seed in 1..1000 {
        let n = numbers(seed, 40);
        let p = [-2.5, 0.3 * n[0], n[1]];
        let q = [2.5, n[2], 0.4 * n[3]];
        let mut path = WrappedPath::through(&[End::Point(p), End::element(0, 0)], 0.0);
        for (k, n) in n[4..].chunks_exact(9).enumerate().take(3) {
            let x = 1.3 * (k as f64 - 1.0);
            // Apart, cylinders lie across the rope.
            let (shift, radius, axis) = match apart {
                true => (0.1, 0.3 + 0.15 * n[3], [1.0, 0.0, 0.0]),
                false => (0.3, 0.35 + 0.3 * n[3], [n[6], n[7] + 0.1, n[8]]),
            };
            let over = [n[4], n[5] + 0.1, n[6]];
            let surface = match (seed as usize + k) % 4 {
                0 => cylinder(radius, WrapSide::Shortest),
                1 => cylinder(radius, WrapSide::Over(over)),
                2 => cylinder(radius, WrapSide::LeftHanded(over)),
                _ => sphere(radius),
            };
            let at = [x + shift * n[0], 0.5 * n[1], 0.5 * n[2]];
            path = path.around(0, fixed(surface, Pose::turned(at, axis, 3.0 * n[5])));
        }
        let straight = (Vec3::from(q) - Vec3::from(p)).norm();
        match evaluated(&WrappedRope::new(&[path]), &[(POINTS, 1)], &q) {
            Ok((length, row)) => {
                assert!(
                    length.is_finite() && length >= straight * (1.0 - 1e-14),
                    "{seed} {length}"
                );
                // The pull at the end is that of one tension.
                close(row.iter().map(|u| u * u).sum::<f64>(), 1.0, 1e-14);
                lengths += 1;
            }
            Err(error) => errors.push(format!("{seed} {error}")),
        }
    }
    (lengths, errors)
}

#[test]
fn ropes_around_anything_have_a_length_or_an_error() {
    // Surfaces that cut each other have no tangent where the rope would lie in the crease.
    let (lengths, errors) = lengths_around_anything(false);
    assert!(lengths > 700, "{lengths}");
    assert!(
        errors
            .iter()
            .all(|text| text.contains("between its points 0 and 1")),
        "{errors:?}"
    );
    // Where they are apart the way is found, but for where it ends at the half plane behind a
    // cylinder, or where a rope would have to balance on a sphere: 8 of 999.
    let (lengths, errors) = lengths_around_anything(true);
    assert!(lengths > 970, "{lengths}");
    let lost = errors.iter().filter(|text| text.contains("not found")).count();
    assert!(lost <= 8, "{errors:?}");
}
