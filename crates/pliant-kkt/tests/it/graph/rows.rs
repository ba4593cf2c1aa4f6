//! Rows by the formulas of theory/step.md of the book.

use super::build::Rows;
use super::dense::{close, product, solve};
use super::{Case, SEEDS, full_r};
use pliant_kkt::{GeometricTerms, Scheme};
use pliant_model::{ComponentId, Groups, Level, RowGroup};

/// `R` and `b` of every kind of row, by the formulas.
#[test]
fn rows_of_random_graphs() {
    for seed in SEEDS {
        for (h, alpha, beta) in [(0.05, 1.0, 1.0), (0.02, 0.6, 0.7)] {
            let mut case = Case::new(seed, true);
            let scheme = case.scheme(h, alpha, beta, GeometricTerms::NONE);
            let system = case.assemble(&scheme);
            let m = case.model();
            let rows = m.row_count();
            let (mut r, mut b) = (vec![0.0; rows * rows], vec![0.0; rows]);
            for group in m.row_groups() {
                fill_rows(&case, &scheme, group, &mut r, &mut b);
            }
            close("R", &full_r(&system), &r, 1e-12);
            close("b", &system.b, &b, 1e-12);
        }
    }
}

fn fill_rows(case: &Case, scheme: &Scheme, group: &RowGroup, r: &mut [f64], b: &mut [f64]) {
    let m = case.model();
    let (h, beta, rows) = (scheme.h, scheme.beta, m.row_count());
    let alpha = scheme.alpha_of(group.component);
    let node = m.node(group.node);
    let x = &case.state.positions[node.position_range()];
    let v = &case.state.velocities[node.velocity_range()];
    let motion = |k: usize| case.motion[group.first_row + k];
    let count = group.size * group.count;
    match group.component {
        ComponentId::Constraint(i) => {
            let level = m.constraints()[i].component.level;
            for k in 0..count {
                let (target, rate) = motion(k).end;
                b[group.first_row + k] = match level {
                    Level::Position => ((x[k] - target) / h + v[k]) / beta,
                    Level::Velocity { curvature } => {
                        v[k] - rate + curvature * h * case.evaluation.bias()[node.first_velocity + k]
                    }
                    Level::Baumgarte { rate: decay } => v[k] - rate + decay * (x[k] - motion(k).start.0),
                    _ => unreachable!(),
                };
            }
        }
        ComponentId::ForceField(i) => {
            let (_, law) = case
                .built
                .rows
                .iter()
                .find(|(id, _)| *id == group.component)
                .unwrap();
            let mean = |k: usize, of: fn((f64, f64)) -> f64| {
                (1.0 - alpha) * of(motion(k).start) + alpha * of(motion(k).end)
            };
            let lists = match m.force_fields()[i].component.law.groups() {
                Groups::Each => (0..group.count).map(|e| vec![e]).collect(),
                Groups::Of(lists) => lists,
            };
            for list in lists {
                let n = list.len() * group.size;
                let at: Vec<usize> = (0..n)
                    .map(|c| list[c / group.size] * group.size + c % group.size)
                    .collect();
                let (mut c, mut damping, mut d) = (vec![0.0; n * n], vec![0.0; n * n], 0.0);
                let mut phi: Vec<f64> = at.iter().map(|k| x[*k]).collect();
                match law {
                    Rows::Viscous(dashpot) => {
                        for k in 0..n {
                            let row = group.first_row + at[k];
                            r[row * rows + row] = 1.0 / (dashpot * h * alpha);
                            b[row] = (v[at[k]] - mean(at[k], |m| m.1)) / alpha;
                        }
                        continue;
                    }
                    Rows::Diagonal(list, relaxation) => {
                        (0..n).for_each(|k| c[k * n + k] = list[at[k] % list.len()]);
                        d = *relaxation;
                    }
                    Rows::Full(matrix, dashpots, relaxation) => {
                        c.clone_from(matrix);
                        damping.clone_from(dashpots);
                        d = *relaxation;
                    }
                    Rows::Saturating(k0, limit, dashpot) => {
                        for k in 0..n {
                            // The tangent of what is left after the motion.
                            let start = motion(at[k]).start.0;
                            let u = k0 * (phi[k] - start) / limit;
                            let root = (1.0 + u * u).sqrt();
                            c[k * n + k] = root * root * root / k0;
                            phi[k] = start + c[k * n + k] * k0 * (phi[k] - start) / root;
                            damping[k * n + k] = *dashpot;
                        }
                    }
                }
                d += m.rayleigh().stiffness;
                let hard: Vec<bool> = (0..n)
                    .map(|k| c[k * n..][..n].iter().all(|c| *c == 0.0))
                    .collect();
                let cd = product(n, &c, &damping);
                let mut y: Vec<f64> = cd.iter().map(|x| h * alpha * x).collect();
                (0..n).for_each(|k| y[k * n + k] += h * alpha * (h * beta + d));
                let yc = solve(n, &y, &c);
                let inner: Vec<f64> = (0..n)
                    .map(|i| {
                        let damped: f64 = (0..n)
                            .map(|j| cd[i * n + j] * (v[at[j]] - mean(at[j], |m| m.1)))
                            .sum();
                        let gap = phi[i] - mean(at[i], |m| m.0) + (d + alpha * h) * v[at[i]];
                        h * (gap - d * mean(at[i], |m| m.1) + damped)
                    })
                    .collect();
                let yb = solve(n, &y, &inner);
                for i in 0..n {
                    let row = group.first_row + at[i];
                    b[row] = yb[i];
                    if hard[i] {
                        let (target, rate) = motion(at[i]).end;
                        b[row] = (phi[i] - target + (d + h) * v[at[i]] - d * rate) / (h * beta + d);
                    }
                    for j in 0..n {
                        r[row * rows + group.first_row + at[j]] = yc[i * n + j];
                    }
                }
            }
        }
        ComponentId::Mass(_) => unreachable!(),
    }
}
