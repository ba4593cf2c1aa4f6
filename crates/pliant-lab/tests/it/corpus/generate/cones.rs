//! Small complementarity problems: none, one, several solutions; odd sizes and scales.

use super::{Knowledge, OWN, dense, lcp};
use pliant_lab::exchange::{Expected, Record};
use pliant_solvers::complementarity::Cone;

pub(super) fn add(out: &mut Vec<Record>) {
    out.push(dense("no-rows", "no row at all", OWN, (&[], &[]), &[]).impulse(&[], 0.0));
    out.push(lcp("one-row", "one row that is hit", OWN, (&[2.0], &[-1.0])).impulse(&[0.5], 1e-7));
    out.push(lcp("one-row-left", "one row that is left", OWN, (&[2.0], &[1.0])).impulse(&[0.0], 1e-12));
    out.push(
        lcp(
            "no-inertia-left",
            "a row without response that is left",
            OWN,
            (&[0.0], &[1.0]),
        )
        .impulse(&[0.0], 1e-12),
    );
    out.push(
        lcp(
            "no-inertia-hit",
            "a row without response that is hit",
            OWN,
            (&[0.0], &[-1.0]),
        )
        .expect(Expected::Unsolvable),
    );
    let motor = Cone::Box {
        lower: -1.0,
        upper: 1.0,
    };
    for (name, about, b, r) in [
        ("box-inside", "a bounded row that holds", -1.0, 0.5),
        ("box-above", "a bounded row at its upper bound", -5.0, 1.0),
        ("box-below", "a bounded row at its lower bound", 5.0, -1.0),
    ] {
        out.push(dense(name, about, OWN, (&[2.0], &[b]), &[motor]).impulse(&[r], 1e-7));
    }
    let all = [Cone::Free, Cone::NonNegative, motor];
    let a = [2.0, 1.0, 0.0, 1.0, 3.0, 1.0, 0.0, 1.0, 4.0];
    // r = (0.5, 0, -1): u = (1 + b0, -0.5 + b1, -4 + b2) = (0, 1, 2).
    out.push(
        dense(
            "three-laws",
            "a free, a unilateral and a bounded row",
            OWN,
            (&a, &[-1.0, 1.5, 6.0]),
            &all,
        )
        .impulse(&[0.5, 0.0, -1.0], 1e-7),
    );
    painleve(out);
    scales(out);
    balls(out);
}

/// A ball of 1 kg on the floor, with moments in units of its radius: rows
/// `v_z, v_x - w_y, v_y + w_x, w_z, w_x, w_y` at the point of contact, pressed with 1 N s, friction
/// 0.5, arms of 0.02 and 0.01 radii.
fn balls(out: &mut Vec<Record>) {
    let mut a = [0.0; 36];
    for (i, x) in [1.0, 3.5, 3.5, 2.5, 2.5, 2.5].into_iter().enumerate() {
        a[7 * i] = x;
    }
    (a[11], a[31]) = (-2.5, -2.5);
    (a[16], a[26]) = (2.5, 2.5);
    let law = Cone::Rolling {
        mu: 0.5,
        torsion: 0.02,
        rolling: 0.01,
    };
    for (name, about, [v, w, spin], r) in [
        // It goes on rolling: v' = -r_x, w' = 2.5 (m + r_x) with the moment -0.01, both the same:
        // r_x = 0.01/1.4.
        (
            "ball-rolls",
            "a ball rolls and spins: friction holds, both torques are at their bounds",
            [2.0, 2.0, 3.0],
            [1.0, -0.01 / 1.4, 0.0, -0.02, 0.0, -0.01],
        ),
        // v + r_x = 0, w + 2.5 (m - r_x) = 0.
        (
            "ball-holds",
            "a ball that is too slow to roll on",
            [0.005, 0.005, 0.0],
            [1.0, -0.005, 0.0, 0.0, 0.0, -0.007],
        ),
        (
            "ball-slides",
            "a ball slides, rolls and spins: all is at its bounds",
            [4.0, 1.0, -3.0],
            [1.0, -0.5, 0.0, 0.02, 0.0, -0.01],
        ),
        ("ball-leaves", "a ball that goes up", [1.0, 2.0, 3.0], [0.0; 6]),
    ] {
        let up = if name == "ball-leaves" { 1.0 } else { -1.0 };
        let b = [up, v - w, 0.0, spin, 0.0, w];
        out.push(dense(name, about, OWN, (&a, &b), &[law]).impulse(&r, 1e-7));
    }
}

fn planar(name: &str, about: &str, a: [f64; 4], b: [f64; 2]) -> Record {
    let cones = [Cone::PlanarCoulomb { mu: 1.0 }];
    dense(name, about, "after Painleve 1895; by hand", (&a, &b), &cones)
}

/// `A_nn - mu A_nt < 0`: sliding pushes the contact together.
fn painleve(out: &mut Vec<Record>) {
    let about = "three solutions: it parts, it slides on, it stops";
    out.push(
        planar("painleve-three", about, [1.0, 2.0, 2.0, 5.0], [1.0, 5.0])
            .impulse(&[0.0, 0.0], 1e-6)
            .impulse(&[1.0, -1.0], 1e-6)
            .impulse(&[5.0, -3.0], 1e-6),
    );
    // The response is that of a rod that turns about a point: (1, 2) (1, 2)^T.
    let rod = [1.0, 2.0, 2.0, 4.0];
    out.push(
        planar(
            "painleve-none",
            "a rod of one freedom: no impulse stops it",
            rod,
            [-1.0, 5.0],
        )
        .expect(Expected::Unsolvable),
    );
    out.push(
        planar(
            "painleve-jam",
            "the same rod pushed the other way jams",
            rod,
            [-1.0, -2.0],
        )
        .velocity(&[0.0, 0.0], 1e-6),
    );
    out.push(
        planar(
            "painleve-slides",
            "sliding away from the paradox",
            [1.0, 2.0, 2.0, 5.0],
            [-1.0, -5.0],
        )
        .impulse(&[1.0 / 3.0; 2], 1e-6),
    );
}

fn scales(out: &mut Vec<Record>) {
    // The problem of one slipping contact (case D07) in other units.
    let a = [2.0, 0.3, -0.4, 0.3, 1.5, 0.2, -0.4, 0.2, 1.1];
    let (b, r) = (
        [-1.0, 1.2, -0.7],
        [0.552810593891443, -0.17903744966628024, 0.12977488220750488],
    );
    for (name, about, mass, speed) in [
        ("contact-light", "a mass of 1e-12", 1e-12, 1.0),
        ("contact-heavy", "a mass of 1e12", 1e12, 1.0),
        ("contact-slow", "a velocity of 1e-12", 1.0, 1e-12),
        ("contact-fast", "a velocity of 1e12", 1.0, 1e12),
    ] {
        let a = a.map(|a| a / mass);
        let (b, r) = (b.map(|b| b * speed), r.map(|r| r * speed * mass));
        let cones = [Cone::Coulomb { mu: 0.4 }];
        out.push(dense(name, about, "case D07, scaled", (&a, &b), &cones).impulse(&r, 1e-7));
    }
    // Two contacts that share nothing, 1e12 apart in mass, and two rows 1e6 apart that do.
    let mut two = [0.0; 36];
    for i in 0..3 {
        for k in 0..3 {
            two[6 * i + k] = a[3 * i + k];
            two[6 * (i + 3) + k + 3] = a[3 * i + k] * 1e12;
        }
    }
    let both: Vec<f64> = b.iter().chain(&b).copied().collect();
    let answer: Vec<f64> = r.iter().copied().chain(r.map(|r| r * 1e-12)).collect();
    out.push(
        dense(
            "contacts-apart",
            "two contacts that share nothing, masses 1 and 1e-12",
            "case D07, twice",
            (&two, &both),
            &[Cone::Coulomb { mu: 0.4 }; 2],
        )
        .impulse(&answer, 1e-7),
    );
    out.push(
        lcp(
            "rows-apart",
            "two rows with diagonals of 1 and 1e12 and a strong coupling",
            OWN,
            (&[1.0, 0.9e6, 0.9e6, 1e12], &[-1.0, -2e6]),
        )
        // det = 0.19e12: r = (1e12 - 1.8e12, ...) is negative, so the first row is left: r2 = 2e-6,
        // u1 = 0.8.
        .impulse(&[0.0, 2e-6], 1e-7),
    );
}
