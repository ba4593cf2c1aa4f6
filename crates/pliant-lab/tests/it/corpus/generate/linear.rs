//! Bilateral systems: chains, nets, loops, and what may be wrong with a system.

use super::{Knowledge, OWN, kkt};
use crate::tools::{Random, definite, identity};
use pliant_lab::exchange::{Expected, Record};
use pliant_solvers::KktSystem;
use pliant_sparse::{CsrMatrix, PatternBuilder};

pub(super) fn add(out: &mut Vec<Record>) {
    tiny(out);
    chains(out);
    loops(out);
    springs(out);
    indefinite(out);
    scales(out);
    deficient(out);
}

/// A sparse matrix of triplets, sorted by rows.
fn matrix(rows: usize, columns: usize, entries: &[(usize, usize, f64)]) -> CsrMatrix {
    let mut pattern = PatternBuilder::new(rows, columns);
    for (i, k, _) in entries {
        pattern.insert(*i, *k);
    }
    let mut out = pattern.finish().unwrap().into_matrix();
    for (i, k, x) in entries {
        let slot = out.pattern().slot(*i, *k).unwrap();
        out.values_mut()[slot] += x;
    }
    out
}

/// A system with blocks of given sizes, from triplets of `W` (lower) and `J` and the diagonal of
/// `R`.
pub(super) fn system(
    (n, width): (usize, usize),
    (m, height): (usize, usize),
    w: &[(usize, usize, f64)],
    j: &[(usize, usize, f64)],
    r: f64,
) -> KktSystem {
    let diagonal: Vec<_> = (0..m).map(|i| (i, i, r)).collect();
    let (w, j, r) = (matrix(n, n, w), matrix(m, n, j), matrix(m, m, &diagonal));
    let patterns = [&w, &j, &r].map(|a| a.pattern().clone());
    let [wp, jp, rp] = patterns;
    let blocks = (0..=n / width).map(|k| k * width).collect();
    let row_blocks = (0..=m / height).map(|k| k * height).collect();
    let mut s = KktSystem::new(wp, jp, rp, blocks, row_blocks).unwrap();
    s.w.values_mut().copy_from_slice(w.values());
    s.j.values_mut().copy_from_slice(j.values());
    s.r.values_mut().copy_from_slice(r.values());
    s
}

/// Right-hand sides that make `(x, mu)` the answer, up to the rounding of these sums.
pub(super) fn plant(s: &mut KktSystem, x: &[f64], mu: &[f64]) {
    let mut c = vec![0.0; s.n()];
    s.w.symmetric_add_product(1.0, x, &mut c);
    s.j.add_transpose_product(-1.0, mu, &mut c);
    let mut b = vec![0.0; s.m()];
    s.j.add_product(-1.0, x, &mut b);
    s.r.symmetric_add_product(-1.0, mu, &mut b);
    (s.c, s.b) = (c, b);
}

/// A solvable system with a random answer.
fn planted(name: &str, about: &str, mut s: KktSystem, seed: u64, tolerance: f64) -> Record {
    let mut random = Random(seed);
    let mut x = random.numbers(s.n());
    for (x, fixed) in x.iter_mut().zip(&s.fixed) {
        *x = if *fixed { 0.0 } else { *x };
    }
    let mu = random.numbers(s.m());
    plant(&mut s, &x, &mu);
    kkt(name, about, OWN, s).solved_by(&x, &mu, tolerance)
}

fn tiny(out: &mut Vec<Record>) {
    let empty = KktSystem::dense(&[], &[], &[]).unwrap();
    out.push(kkt("empty", "no unknown, no row", OWN, empty).solved_by(&[], &[], 0.0));
    let mut one = KktSystem::dense(&[4.0], &[], &[]).unwrap();
    one.c[0] = 2.0;
    out.push(kkt("one-unknown", "one unknown, no row", OWN, one).solved_by(&[0.5], &[], 1e-15));
    let mut held = KktSystem::dense(&[4.0, 0.0, 0.0, 1.0], &[1.0, 0.0], &[0.0]).unwrap();
    held.fixed.fill(true);
    held.c.fill(1.0);
    out.push(
        kkt(
            "all-fixed",
            "every variable is fixed, the row is satisfied",
            OWN,
            held.clone(),
        )
        .solved_by(&[0.0, 0.0], &[], 0.0),
    );
    held.b[0] = 1.0;
    out.push(
        kkt(
            "row-on-fixed",
            "a row acts on a fixed variable only and is violated",
            OWN,
            held,
        )
        .expect(Expected::Incompatible),
    );
    let idle = KktSystem::dense(&[2.0], &[0.0], &[0.0]).unwrap();
    out.push(kkt("idle-row", "a row without entries", OWN, idle.clone()).solved_by(&[0.0], &[], 0.0));
    let mut wanting = idle;
    wanting.b[0] = -1.0;
    out.push(
        kkt(
            "wanting-row",
            "a row without entries wants a velocity",
            OWN,
            wanting,
        )
        .expect(Expected::Incompatible),
    );
}

/// Point masses on a line, row i keeps masses i - 1 and i apart (the first to the wall): case F05.
fn line(masses: &[f64], r: f64) -> KktSystem {
    let n = masses.len();
    let w: Vec<_> = (0..n).map(|i| (i, i, masses[i])).collect();
    let j: Vec<_> = (0..n)
        .flat_map(|i| {
            [
                (i, i, 1.0),
                (i, i.saturating_sub(1), if i > 0 { -1.0 } else { 0.0 }),
            ]
        })
        .collect();
    system((n, 1), (n, 1), &w, &j, r)
}

fn chains(out: &mut Vec<Record>) {
    let equal = line(&[1.0; 20], 0.0);
    out.push(planted("chain-20", "twenty masses on rods, hard", equal, 1, 1e-9));
    let soft = line(&[1.0; 20], 1e-8);
    out.push(planted(
        "chain-20-soft",
        "the same, compliance 1e-8",
        soft,
        2,
        1e-8,
    ));
    let masses: Vec<f64> = (0..12).map(|k| 10f64.powf(k as f64 / 3.0)).collect();
    let ratio = line(&masses, 0.0);
    out.push(planted(
        "chain-ratio",
        "masses from 1 to 4600, light ones first",
        ratio,
        3,
        1e-9,
    ));
    // Bodies of six coordinates, joints of five and three rows in turn, as in a chain of hinges and
    // balls.
    let (bodies, mut random) = (8, Random(4));
    let inertia = [1.0, 1.0, 1.0, 0.1, 0.2, 0.3];
    let w: Vec<_> = (0..6 * bodies).map(|i| (i, i, inertia[i % 6])).collect();
    let mut j = Vec::new();
    for body in 0..bodies {
        for row in 0..3 {
            for k in 0..6 {
                j.push((3 * body + row, 6 * body + k, random.number()));
                if body > 0 {
                    j.push((3 * body + row, 6 * (body - 1) + k, random.number()));
                }
            }
        }
    }
    let balls = system((6 * bodies, 6), (3 * bodies, 3), &w, &j, 0.0);
    out.push(planted(
        "chain-of-bodies",
        "eight bodies on ball joints, 6 x 6 and 3 x 3 blocks",
        balls,
        5,
        1e-9,
    ));
}

fn loops(out: &mut Vec<Record>) {
    // A closed ring: every row is a difference, their sum is zero.
    for (name, about, n, seed) in [
        ("ring-6", "a ring of six: one row too many, C = 0", 6, 6),
        ("ring-40", "a ring of forty: one row too many, C = 0", 40, 7),
    ] {
        let w: Vec<_> = (0..n).map(|i| (i, i, 1.0 + (i % 3) as f64)).collect();
        let j: Vec<_> = (0..n)
            .flat_map(|i| [(i, i, 1.0), (i, (i + 1) % n, -1.0)])
            .collect();
        let mut ring = system((n, 1), (n, 1), &w, &j, 0.0);
        let mut random = Random(seed);
        let x = random.numbers(n);
        let mut mu = random.numbers(n);
        // Least norm: without a part along the null space (1, ..., 1).
        let mean = mu.iter().sum::<f64>() / n as f64;
        mu.iter_mut().for_each(|mu| *mu -= mean);
        plant(&mut ring, &x, &mu);
        out.push(kkt(name, about, OWN, ring.clone()).solved_by(&x, &mu, 1e-9));
        ring.b[0] += 0.5;
        if n == 6 {
            out.push(
                kkt(
                    "ring-broken",
                    "a ring that does not close: the gap is shared",
                    OWN,
                    ring,
                )
                .expect(Expected::Incompatible),
            );
        }
    }
}

/// Masses on a square grid, one row or spring per edge, moving out of the plane; the corners are
/// fixed.
fn net(side: usize, stiffness: f64, as_rows: bool) -> KktSystem {
    let n = side * side;
    let mut edges = Vec::new();
    for i in 0..n {
        if i % side > 0 {
            edges.push((i, i - 1));
        }
        if i >= side {
            edges.push((i, i - side));
        }
    }
    let mut w: Vec<_> = (0..n).map(|i| (i, i, 1.0)).collect();
    let mut s = if as_rows {
        let rows = edges.iter().enumerate();
        let j: Vec<_> = rows
            .flat_map(|(e, (a, b))| [(e, *a, 1.0), (e, *b, -1.0)])
            .collect();
        system((n, 1), (edges.len(), 1), &w, &j, 1.0 / stiffness)
    } else {
        for (a, b) in &edges {
            w.extend([(*a, *a, stiffness), (*b, *b, stiffness), (*a, *b, -stiffness)]);
        }
        system((n, 1), (0, 1), &w, &[], 0.0)
    };
    for corner in [0, side - 1, n - side, n - 1] {
        s.fixed[corner] = true;
    }
    s
}

fn springs(out: &mut Vec<Record>) {
    let stiff = net(9, 1e4, false);
    out.push(planted(
        "net-stiffness",
        "a net of springs in W, h^2 k/m = 1e4",
        stiff,
        8,
        1e-4,
    ));
    let rows = net(9, 1e4, true);
    out.push(planted(
        "net-compliance",
        "the same net, a compliant row per spring",
        rows,
        9,
        1e-8,
    ));
    let weak = net(6, 1e-4, true);
    out.push(planted(
        "net-weak",
        "a net of weak springs as rows: the saddle point is the bad form",
        weak,
        10,
        1e-7,
    ));
    // Triangles of a strip whose area hardly changes.
    let (pairs, mut random) = (10, Random(11));
    let n = 2 * (2 * pairs + 2);
    let w: Vec<_> = (0..n).map(|i| (i, i, 1.0)).collect();
    let mut j = Vec::new();
    for triangle in 0..2 * pairs {
        for k in 0..6 {
            j.push((triangle, 2 * triangle + k, 0.5 + 0.5 * random.number()));
        }
    }
    let strip = system((n, 2), (2 * pairs, 1), &w, &j, 1e-10);
    out.push(planted(
        "nearly-incompressible",
        "areas of triangles with a compliance of 1e-10",
        strip,
        12,
        1e-8,
    ));
}

fn indefinite(out: &mut Vec<Record>) {
    let mut below = KktSystem::dense(&[-1.0, 0.0, 0.0, 3.0], &[1.0, 1.0], &[0.0]).unwrap();
    below.b[0] = -1.0;
    // On x0 + x1 = 1: -x0 = mu, 3 x1 = mu.
    out.push(
        kkt(
            "indefinite-but-constrained",
            "W has a negative eigenvalue, but not on the null space of J",
            OWN,
            below,
        )
        .solved_by(&[1.5, -0.5], &[-1.5], 1e-9),
    );
    let mut above = KktSystem::dense(&[-3.0, 0.0, 0.0, 1.0], &[1.0, 1.0], &[0.0]).unwrap();
    above.c.copy_from_slice(&[1.0, 2.0]);
    out.push(
        kkt(
            "indefinite-on-null-space",
            "W is negative on the null space of J: a saddle, no minimum",
            OWN,
            above,
        )
        .expect(Expected::Indefinite),
    );
    let mut free = KktSystem::dense(&[1.0, 2.0, 2.0, 1.0], &[], &[]).unwrap();
    free.c.copy_from_slice(&[1.0, -2.0]);
    out.push(kkt("indefinite-free", "an indefinite W without rows", OWN, free).expect(Expected::Indefinite));
    let mut buckled = line(&[1.0; 6], 0.0);
    let slot = buckled.w.pattern().slot(2, 2).unwrap();
    buckled.w.values_mut()[slot] = -0.5;
    out.push(planted(
        "buckled-chain",
        "a chain with a negative inertia that its rods carry",
        buckled,
        13,
        1e-9,
    ));
}

fn scales(out: &mut Vec<Record>) {
    let mut random = Random(14);
    let n = 8;
    let (w, j) = (definite(&mut random, n), random.numbers(3 * n));
    let scaled = |power: &dyn Fn(usize) -> i32, rows: &[i32]| {
        let s = |i: usize| 10f64.powi(power(i));
        let w: Vec<f64> = (0..n * n).map(|l| w[l] * s(l / n) * s(l % n)).collect();
        let j: Vec<f64> = (0..3 * n)
            .map(|l| j[l] * s(l % n) * 10f64.powi(rows[l / n]))
            .collect();
        KktSystem::dense(&w, &j, &[0.0; 3]).unwrap()
    };
    for (name, about, power, rows) in [
        ("scaled-tiny", "masses of 1e-12", -6, [0, 0, 0]),
        ("scaled-huge", "masses of 1e12", 6, [0, 0, 0]),
        ("scaled-rows", "rows in units from 1e-12 to 1e12", 0, [-12, 0, 12]),
    ] {
        let mut s = scaled(&|_| power, &rows);
        let x = random.numbers(n);
        let mu: Vec<f64> = (0..3)
            .map(|k| random.number() * 10f64.powi(2 * power - rows[k] - power))
            .collect();
        plant(&mut s, &x, &mu);
        out.push(kkt(name, about, OWN, s).solved_by(&x, &[], 1e-8));
    }
    let mut s = scaled(&|i| 2 * i as i32 - 7, &[0, 0, 0]);
    let x: Vec<f64> = (0..n).map(|i| 10f64.powi(7 - 2 * i as i32)).collect();
    plant(&mut s, &x, &[1.0, -1.0, 2.0]);
    out.push(kkt("scaled-mixed", "coordinates in units from 1e-7 to 1e7", OWN, s).solved_by(&x, &[], 1e-8));
}

fn deficient(out: &mut Vec<Record>) {
    // Twelve rows of rank five, consistent.
    let mut random = Random(15);
    let (n, m, rank) = (9, 12, 5);
    let w = definite(&mut random, n);
    let (left, right) = (random.numbers(m * rank), random.numbers(rank * n));
    let j: Vec<f64> = (0..m * n)
        .map(|l| {
            (0..rank)
                .map(|k| left[(l / n) * rank + k] * right[k * n + l % n])
                .sum()
        })
        .collect();
    let mut s = KktSystem::dense(&w, &j, &vec![0.0; m]).unwrap();
    let (x, mu) = (random.numbers(n), random.numbers(m));
    plant(&mut s, &x, &mu);
    // The rows agree only up to the rounding of their sums.
    s.b_rounding.fill(1e-14);
    out.push(kkt("rank-five-of-twelve", "twelve rows of rank five", OWN, s.clone()).solved_by(&x, &[], 1e-8));
    s.b[3] += 1.0;
    out.push(
        kkt(
            "rank-five-contradicting",
            "the same, one row wants something else",
            OWN,
            s,
        )
        .expect(Expected::Incompatible),
    );
    let mut twins = KktSystem::dense(&identity(3), &[1.0, 2.0, 3.0].repeat(30), &vec![0.0; 30]).unwrap();
    plant(&mut twins, &[1.0, 0.0, -1.0], &[0.25; 30]);
    out.push(
        kkt("thirty-equal-rows", "the same row thirty times", OWN, twins).solved_by(
            &[1.0, 0.0, -1.0],
            &[0.25; 30],
            1e-9,
        ),
    );
    // More rows than unknowns: everything is held.
    let mut over = KktSystem::dense(&identity(2), &[1.0, 0.0, 0.0, 1.0, 1.0, 1.0], &[0.0; 3]).unwrap();
    over.b.copy_from_slice(&[-1.0, -2.0, -3.0]);
    out.push(
        kkt(
            "overdetermined",
            "three rows on two unknowns that agree",
            OWN,
            over,
        )
        .solved_by(&[1.0, 2.0], &[], 1e-9),
    );
}
