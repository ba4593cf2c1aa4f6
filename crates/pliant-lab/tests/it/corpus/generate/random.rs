//! Random complementarity problems whose answer was chosen first.

use super::{Knowledge, OWN, dense};
use crate::tools::{Random, definite};
use pliant_lab::exchange::Record;
use pliant_solvers::complementarity::Cone;

/// An impulse and the velocity that the law wants with it.
fn pair(random: &mut Random, cone: &Cone) -> (Vec<f64>, Vec<f64>) {
    let size = random.number().abs() + 0.1;
    let kind = random.below(3);
    match *cone {
        Cone::Free => (vec![random.number()], vec![0.0]),
        Cone::NonNegative if kind == 0 => (vec![0.0], vec![size]),
        Cone::NonNegative => (vec![size], vec![0.0]),
        Cone::Box { lower, upper } => match kind {
            0 => (vec![lower], vec![size]),
            1 => (vec![upper], vec![-size]),
            _ => (vec![0.5 * (lower + upper)], vec![0.0]),
        },
        Cone::PlanarCoulomb { mu } => match kind {
            0 => (vec![0.0; 2], vec![size, 0.5]),
            1 => (vec![size, -mu * size], vec![0.0, 0.3]),
            _ => (vec![size, 0.7 * mu * size], vec![0.0; 2]),
        },
        Cone::Coulomb { mu } => match kind {
            0 => (vec![0.0; 3], vec![size, 0.2, -0.1]),
            // Slips along (0.6, 0.8).
            1 => (
                vec![size, -0.6 * mu * size, -0.8 * mu * size],
                vec![0.0, 0.3, 0.4],
            ),
            _ => (vec![size, 0.36 * mu * size, 0.48 * mu * size], vec![0.0; 3]),
        },
        Cone::Rolling { mu, torsion, rolling } => match kind {
            0 => (vec![0.0; 6], vec![size, 0.2, -0.1, 0.3, 0.1, 0.1]),
            // All three slip, or friction holds and the others do not.
            1 => (
                [1.0, -0.6 * mu, -0.8 * mu, torsion, -0.8 * rolling, 0.6 * rolling]
                    .map(|x| x * size)
                    .to_vec(),
                vec![0.0, 0.3, 0.4, -0.2, 0.08, -0.06],
            ),
            _ => (
                [
                    1.0,
                    0.36 * mu,
                    0.48 * mu,
                    0.5 * torsion,
                    -0.8 * rolling,
                    0.6 * rolling,
                ]
                .map(|x| x * size)
                .to_vec(),
                vec![0.0, 0.0, 0.0, 0.0, 0.08, -0.06],
            ),
        },
        Cone::Pyramid { .. } | Cone::Shifted { .. } => unreachable!("not in the corpus"),
    }
}

struct Family {
    name: &'static str,
    about: &'static str,
    laws: &'static [Cone],
    blocks: usize,
    /// Of the matrix; its size if it is to be definite.
    rank: Option<usize>,
    seed: u64,
}

const FRICTION: &[Cone] = &[Cone::Coulomb { mu: 0.3 }];
const ROLLING: &[Cone] = &[Cone::Rolling {
    mu: 0.3,
    torsion: 0.1,
    rolling: 0.05,
}];
const UNILATERAL: &[Cone] = &[Cone::NonNegative];
const ROWS: &[Cone] = &[
    Cone::Free,
    Cone::NonNegative,
    Cone::Box {
        lower: -0.5,
        upper: 1.0,
    },
];
const ALL: &[Cone] = &[
    Cone::Free,
    Cone::NonNegative,
    Cone::Coulomb { mu: 0.5 },
    Cone::PlanarCoulomb { mu: 0.2 },
    Cone::Box {
        lower: -0.5,
        upper: 1.0,
    },
    Cone::Coulomb { mu: 0.0 },
];

#[rustfmt::skip]
const FAMILIES: &[Family] = &[
    Family { name: "random-lcp-5", about: "definite, unilateral", laws: UNILATERAL, blocks: 5, rank: None, seed: 31 },
    Family { name: "random-lcp-30", about: "definite, unilateral", laws: UNILATERAL, blocks: 30, rank: None, seed: 32 },
    Family { name: "random-lcp-deficient", about: "rank 8 of 20, unilateral", laws: UNILATERAL, blocks: 20, rank: Some(8), seed: 33 },
    Family { name: "random-rows-24", about: "free, unilateral and bounded rows", laws: ROWS, blocks: 24, rank: None, seed: 34 },
    Family { name: "random-rows-deficient", about: "the same, rank 6 of 15", laws: ROWS, blocks: 15, rank: Some(6), seed: 35 },
    Family { name: "random-contacts-3", about: "contacts with friction", laws: FRICTION, blocks: 3, rank: None, seed: 36 },
    Family { name: "random-contacts-12", about: "contacts with friction", laws: FRICTION, blocks: 12, rank: None, seed: 37 },
    Family { name: "random-contacts-deficient", about: "contacts with friction, rank 12 of 24", laws: FRICTION, blocks: 8, rank: Some(12), seed: 38 },
    Family { name: "random-rolling", about: "contacts with friction and resistance to spin and rolling", laws: ROLLING, blocks: 5, rank: None, seed: 40 },
    Family { name: "random-all-laws", about: "every law", laws: ALL, blocks: 14, rank: None, seed: 39 },
];

pub(super) fn add(out: &mut Vec<Record>) {
    for family in FAMILIES {
        let mut random = Random(family.seed);
        let cones: Vec<Cone> = (0..family.blocks)
            .map(|_| family.laws[random.below(family.laws.len())])
            .collect();
        let (mut r, mut u) = (Vec::new(), Vec::new());
        for cone in &cones {
            let (x, y) = pair(&mut random, cone);
            r.extend(x);
            u.extend(y);
        }
        let m = r.len();
        let a = match family.rank {
            None => definite(&mut random, m),
            Some(rank) => {
                let g = random.numbers(m * rank);
                let dot = |i: usize, k: usize| (0..rank).map(|l| g[i * rank + l] * g[k * rank + l]).sum();
                (0..m * m).map(|l| dot(l / m, l % m)).collect()
            }
        };
        let b: Vec<f64> = (0..m)
            .map(|i| u[i] - (0..m).map(|k| a[i * m + k] * r[k]).sum::<f64>())
            .collect();
        let about = format!("random, {}; the answer was chosen first", family.about);
        let record = dense(family.name, &about, OWN, (&a, &b), &cones);
        out.push(match family.rank {
            // Weakly coupled: one answer.
            None => record.impulse(&r, 1e-6),
            // Without friction the velocity is unique, though a small residual does not bound its
            // error by much.
            Some(_) if family.laws.iter().all(|c| c.friction().is_none()) => record.velocity(&u, 1e-3),
            Some(_) => record,
        });
    }
}
