//! Random graphs of everything: the assembled system against dense products of local blocks, finite
//! differences of positions and of forces, and the formulas of theory/step.md of the book.

mod build;
mod dense;
mod nets;
mod products;
mod rows;
mod work;

use build::{Build, build, build_with};
use dense::{Dense, close, product, solve, symmetric};
use pliant_kkt::{Assembler, GeometricStiffness as G, GeometricTerms, RowMotion, Scheme, StepInput};
use pliant_model::{At, ComponentId, Evaluation, Problem, Space, State, Treatment};
use pliant_solvers::{DirectSolver, KktSystem, Solution};

const SEEDS: [u64; 5] = [1, 2, 3, 4, 5];

const MODES: [G; 6] = [
    G::None,
    G::Full,
    G::WhereNeeded,
    G::JustEnough,
    G::PositivePart,
    G::AbsoluteValue,
];

/// A graph in some state, evaluated.
struct Case {
    built: Build,
    state: State,
    evaluation: Evaluation,
    motion: Vec<RowMotion>,
    lambda: Vec<f64>,
}

impl Case {
    fn new(seed: u64, moving: bool) -> Self {
        Self::of(build(seed), seed, moving)
    }

    fn of(built: Build, seed: u64, moving: bool) -> Self {
        let m = &built.model;
        let mut state = m.initial_state().unwrap();
        if !moving {
            state.velocities.fill(0.0);
        }
        let mut evaluation = Evaluation::new(m);
        evaluation.propagate(m, &mut state).unwrap();
        evaluation.evaluate(m, &state).unwrap();
        let numbers = build::numbers(seed + 77, 5 * m.row_count());
        let lambda = numbers[..m.row_count()].iter().map(|x| 3.0 * x).collect();
        let motion = numbers[m.row_count()..].as_chunks::<4>().0.iter();
        let motion = motion.map(|x| RowMotion {
            start: (0.1 * x[0], x[1]),
            end: (0.1 * x[2], x[3]),
        });
        Self {
            motion: motion.collect(),
            lambda,
            state,
            evaluation,
            built,
        }
    }

    fn model(&self) -> &Problem {
        &self.built.model
    }

    fn assemble(&mut self, scheme: &Scheme) -> KktSystem {
        self.assemble_on(scheme, 1)
    }

    fn assemble_on(&mut self, scheme: &Scheme, threads: usize) -> KktSystem {
        self.fill_on(scheme, threads).system().clone()
    }

    fn fill_on(&mut self, scheme: &Scheme, threads: usize) -> Assembler {
        let m = &self.built.model;
        let mut assembler = Assembler::new(m, &self.evaluation).unwrap();
        assembler.share(threads).unwrap();
        let impulse: Vec<f64> = (0..m.dof_count()).map(|k| 0.01 * k as f64).collect();
        let input = StepInput {
            state: &self.state,
            multipliers: &self.lambda,
            impulse: &impulse,
            fixed_change: &vec![0.0; m.dof_count()],
            motion: &self.motion,
        };
        // Twice: nothing of the first time may be left.
        assembler.fill(m, &mut self.evaluation, scheme, input);
        assembler.fill(m, &mut self.evaluation, scheme, input);
        assembler
    }

    fn scheme(&self, h: f64, alpha: f64, beta: f64, geometry: GeometricTerms) -> Scheme {
        Scheme {
            alpha,
            beta,
            geometry,
            own_alpha: [(self.built.own_alpha, 0.9)].into(),
            ..Scheme::implicit_euler(h)
        }
    }
}

/// The whole of `W` from a lower triangle.
fn full_w(system: &KktSystem) -> Vec<f64> {
    let n = system.n();
    (0..n * n)
        .map(|k| system.w.get((k / n).max(k % n), (k / n).min(k % n)))
        .collect()
}

fn full_r(system: &KktSystem) -> Vec<f64> {
    let m = system.m();
    (0..m * m)
        .map(|k| system.r.get((k / m).max(k % m), (k / m).min(k % m)))
        .collect()
}

/// The state moved along velocity coordinates of the independent nodes.
fn moved(m: &Problem, state: &State, step: &[f64]) -> State {
    let mut s = state.clone();
    for node in m.nodes() {
        if let Some(first) = node.first_dof() {
            let size = node.velocity_range().len();
            node.space.retract(
                &mut s.positions[node.position_range()],
                &step[first..first + size],
            );
        }
    }
    Evaluation::new(m).propagate(m, &mut s).unwrap();
    s
}

fn unit(n: usize, k: usize, t: f64) -> Vec<f64> {
    let mut out = vec![0.0; n];
    out[k] = t;
    out
}

/// The composed local blocks are the derivatives of the mapped positions, and the rows of the
/// system are those blocks.
#[test]
fn jacobians_of_random_graphs() {
    for seed in SEEDS {
        let mut case = Case::new(seed, true);
        let scheme = case.scheme(0.05, 1.0, 1.0, GeometricTerms::default());
        let system = case.assemble(&scheme);
        let m = case.model();
        let n = m.dof_count();
        let dense = Dense::new(m, &case.evaluation);
        for group in m.row_groups() {
            let node = m.node(group.node);
            for k in 0..group.size * group.count {
                for dof in 0..n {
                    let found = system.j.get(group.first_row + k, dof);
                    let expected = dense.j[(node.first_velocity + k) * n + dof];
                    // Products in another order.
                    assert!(
                        (found - expected).abs() < 1e-12 * (1.0 + expected.abs()),
                        "{}",
                        node.name
                    );
                }
            }
        }
        let e = 1e-5;
        for dof in 0..n {
            let (plus, minus) = (
                moved(m, &case.state, &unit(n, dof, e)),
                moved(m, &case.state, &unit(n, dof, -e)),
            );
            for node in m.nodes() {
                let mut difference = vec![0.0; node.velocity_range().len()];
                let range = node.position_range();
                node.space.local(
                    &minus.positions[range.clone()],
                    &plus.positions[range],
                    &mut difference,
                );
                for (k, d) in difference.iter().enumerate() {
                    let expected = d / (2.0 * e);
                    let found = dense.j[(node.first_velocity + k) * n + dof];
                    // Third derivatives of up to a thousand times e^2, rounding over e.
                    assert!(
                        (found - expected).abs() < 1e-7 * (1.0 + expected.abs()),
                        "{seed} {} {k} {dof}: {found} {expected}",
                        node.name
                    );
                }
            }
        }
    }
}

/// `M + h alpha (a M + B + b K) + h^2 alpha beta K` over all nodes, dense, and `K` alone with its
/// weights for the right-hand side.
fn node_matrices(case: &Case, scheme: &Scheme) -> (Vec<f64>, Vec<f64>, Vec<f64>) {
    let m = case.model();
    let (h, all) = (scheme.h, m.velocity_count());
    let rayleigh = m.rayleigh();
    let (mut w, mut k_weighted) = (vec![0.0; all * all], vec![0.0; all * all]);
    let mut mass = vec![0.0; all * all];
    for attachment in m.masses() {
        let node = m.node(attachment.node);
        let size = node.space.velocity_size();
        for (g, list) in attachment.component.groups().lists(node.count).iter().enumerate() {
            let width = list.len() * size;
            let mut block = vec![0.0; width * width];
            attachment.component.add_block(node.space, g, &mut block);
            let at = |c: usize| node.first_velocity + list[c / size] * size + c % size;
            for r in 0..width {
                for c in 0..width {
                    mass[at(r) * all + at(c)] += block[r * width + c];
                }
            }
        }
    }
    for (w, m) in w.iter_mut().zip(&mass) {
        *w += (1.0 + h * scheme.alpha * rayleigh.mass) * m;
    }
    for (i, field) in m.force_fields().iter().enumerate() {
        if m.treatment(i) != Treatment::Stiffness {
            continue;
        }
        let alpha = scheme.alpha_of(ComponentId::ForceField(i));
        let node = m.node(field.node);
        let size = node.space.velocity_size();
        let lists = field.component.law.groups().lists(node.count);
        let shapes = || lists.iter().map(|l| (l.len() * size, l.len() * size));
        let (mut k, mut b) = (
            pliant_model::Blocks::new(shapes()),
            pliant_model::Blocks::new(shapes()),
        );
        let at = m.at(i, &case.state);
        field.component.law.stiffness(at, &mut k).unwrap();
        field.component.law.damping(at, &mut b);
        for (g, list) in lists.iter().enumerate() {
            let width = list.len() * size;
            let at = |c: usize| node.first_velocity + list[c / size] * size + c % size;
            for r in 0..width {
                for c in 0..width {
                    let (k, b) = (k.block(g)[r * width + c], b.block(g)[r * width + c]);
                    let damping = b + rayleigh.stiffness * k;
                    w[at(r) * all + at(c)] += h * alpha * (damping + h * scheme.beta * k);
                    k_weighted[at(r) * all + at(c)] += alpha * k;
                }
            }
        }
    }
    (w, k_weighted, mass)
}

/// `W` without geometric stiffness is `J^T (..) J` of everything, to rounding.
#[test]
fn response_matrices_of_random_graphs() {
    for seed in SEEDS {
        for (h, alpha, beta) in [(0.05, 1.0, 1.0), (0.2, 0.5, 0.7)] {
            let mut case = Case::new(seed, true);
            let scheme = case.scheme(h, alpha, beta, GeometricTerms::NONE);
            let system = case.assemble(&scheme);
            let (w, _, _) = node_matrices(&case, &scheme);
            let dense = Dense::new(case.model(), &case.evaluation);
            let expected = dense.congruence(&w);
            let found = full_w(&system);
            close("W", &found, &expected, 1e-13);
            // Nothing is trivially zero: most coordinates are coupled to others.
            let n = system.n();
            let coupled = |i: &usize| (0..n).any(|j| j != *i && expected[i * n + j] != 0.0);
            assert!((0..n).filter(coupled).count() > n / 2);
        }
    }
}

/// `W` with geometric stiffness, from finite differences of the generalised force
/// `J^T (f(x) + lambda)` at rest, where nothing is damped: its symmetric part, and the term of the
/// angular acceleration of bodies.
#[test]
fn stiffness_is_the_derivative_of_the_pulled_back_forces() {
    for seed in SEEDS {
        let (h, alpha, beta) = (0.1, 1.0, 0.8);
        let mut case = Case::new(seed, false);
        let mut scheme = case.scheme(h, alpha, beta, GeometricTerms::default());
        scheme.own_alpha = [].into();
        let system = case.assemble(&scheme);
        let m = case.model();
        let n = m.dof_count();
        // What has no stiffness: masses and damping.
        let tiny = Scheme {
            beta: 1e-300,
            ..scheme.clone()
        };
        let (without, _, _) = node_matrices(&case, &tiny);
        let dense = Dense::new(m, &case.evaluation);
        let mut expected = dense.congruence(&without);
        let mut evaluation = Evaluation::new(m);
        let mut force = |step: &[f64]| {
            let mut s = moved(m, &case.state, step);
            // Branches are those of the state.
            s.velocities.fill(0.0);
            evaluation.propagate(m, &mut s).unwrap();
            evaluation.evaluate(m, &s).unwrap();
            let mut f = evaluation.force().to_vec();
            for group in m.row_groups() {
                let lambda = &case.lambda[group.first_row..];
                for (f, l) in f[m.node(group.node).velocity_range()].iter_mut().zip(lambda) {
                    *f += l;
                }
            }
            evaluation.pull_back(m, &mut f);
            f
        };
        let independent: Vec<usize> = m
            .nodes()
            .iter()
            .filter(|node| node.first_dof().is_some())
            .flat_map(pliant_model::Node::velocity_range)
            .collect();
        let e = 1e-5;
        let mut derivative = vec![0.0; n * n];
        for k in 0..n {
            let (plus, minus) = (force(&unit(n, k, e)), force(&unit(n, k, -e)));
            for (i, at) in independent.iter().enumerate() {
                derivative[i * n + k] = (plus[*at] - minus[*at]) / (2.0 * e);
            }
        }
        let mut stiffness: Vec<f64> = symmetric(n, &derivative).iter().map(|d| -d).collect();
        // sym([w'] S) with w' = I^-1 tau, S = tr(I)/2 - I of every independent body; K_geo = -G =
        // [w'] S.
        let total = force(&vec![0.0; n]);
        for attachment in m.masses() {
            let node = m.node(attachment.node);
            let (Some(first), Space::Rigid3) = (node.first_dof(), node.space) else {
                continue;
            };
            for b in 0..node.count {
                let inertia = attachment.component.rigid(b).unwrap().inertia;
                let i: Vec<f64> = inertia.iter().flatten().copied().collect();
                let at = node.first_velocity + 6 * b + 3;
                let w = solve(3, &i, &total[at..at + 3]);
                let skew = [0.0, -w[2], w[1], w[2], 0.0, -w[0], -w[1], w[0], 0.0];
                let half = 0.5 * (i[0] + i[4] + i[8]);
                let second: Vec<f64> = (0..9)
                    .map(|k| if k % 4 == 0 { half - i[k] } else { -i[k] })
                    .collect();
                let g = symmetric(3, &product(3, &skew, &second));
                for r in 0..3 {
                    for c in 0..3 {
                        stiffness[(first + 6 * b + 3 + r) * n + first + 6 * b + 3 + c] += g[3 * r + c];
                    }
                }
            }
        }
        for (w, k) in expected.iter_mut().zip(&stiffness) {
            *w += h * h * alpha * beta * k;
        }
        // Finite differences of forces of a thousand newtons: 1e-13 * 1e3/e and third derivatives
        // times e^2.
        close("W", &full_w(&system), &expected, 1e-7);
    }
}

/// `c = h J^T (f - M (dJ/dt) v - w x I w) + impulse - h^2 alpha (K - G) v`: forces by the laws one
/// by one, `(dJ/dt) v` by finite differences of the mapped velocities, `G` from `W`.
#[test]
fn right_hand_sides_of_random_graphs() {
    for seed in SEEDS {
        let (h, alpha, beta) = (0.05, 0.7, 0.6);
        let mut case = Case::new(seed, true);
        let scheme = case.scheme(h, alpha, beta, GeometricTerms::NONE);
        let system = case.assemble(&scheme);
        let full = case.assemble(&case.scheme(h, alpha, beta, GeometricTerms::default()));
        let (_, k, mass) = node_matrices(&case, &scheme);
        let m = case.model();
        let (n, all) = (m.dof_count(), m.velocity_count());
        let v = &case.state.velocities;
        let mut independent = vec![0.0; n];
        for node in m.nodes() {
            if let Some(first) = node.first_dof() {
                let range = node.velocity_range();
                independent[first..first + range.len()].copy_from_slice(&v[range]);
            }
        }
        let e = 1e-5;
        let at = |t: f64| {
            let step: Vec<f64> = independent.iter().map(|v| t * v).collect();
            moved(m, &case.state, &step).velocities
        };
        let (plus, minus) = (at(e), at(-e));
        let bias: Vec<f64> = plus
            .iter()
            .zip(&minus)
            .map(|(p, m)| (p - m) / (2.0 * e))
            .collect();
        let mut f = vec![0.0; all];
        let apply = |a: &[f64], x: &[f64], i: usize| -> f64 { (0..all).map(|j| a[i * all + j] * x[j]).sum() };
        let gravity = {
            // The acceleration g of every place in space or in the plane.
            let mut out = vec![0.0; all];
            for node in m.nodes().iter().filter(|n| n.space.is_spatial()) {
                let size = node.space.velocity_size();
                for e in 0..node.count {
                    for k in 0..size.min(3) {
                        out[node.first_velocity + e * size + k] = m.gravity()[k];
                    }
                }
            }
            out
        };
        for node in m.nodes() {
            for i in node.velocity_range() {
                let inertial = if node.first_dof().is_some() { 0.0 } else { bias[i] };
                f[i] += h * (apply(&mass, &gravity, i) - apply(&mass, &bias_of(inertial, i, &bias, m), i));
                f[i] -= h * m.rayleigh().mass * apply(&mass, v, i);
                f[i] -= h * h * apply(&k, v, i);
            }
        }
        for attachment in m.masses() {
            let node = m.node(attachment.node);
            if node.space != Space::Rigid3 || node.first_dof().is_some() {
                continue;
            }
            for e in 0..node.count {
                let at = node.first_velocity + 6 * e + 3;
                let (w, i) = (&v[at..at + 3], attachment.component.rigid(e).unwrap().inertia);
                let l: Vec<f64> = (0..3).map(|r| (0..3).map(|c| i[r][c] * w[c]).sum()).collect();
                for k in 0..3 {
                    let (a, b) = ((k + 1) % 3, (k + 2) % 3);
                    f[at + k] -= h * (w[a] * l[b] - w[b] * l[a]);
                }
            }
        }
        for (i, field) in m.force_fields().iter().enumerate() {
            if m.treatment(i) != Treatment::Stiffness {
                continue;
            }
            let node = m.node(field.node);
            let at = At {
                v: &v[node.velocity_range()],
                ..m.at(i, &case.state)
            };
            let mut force = vec![0.0; at.v.len()];
            field.component.law.add_force(at, &mut force);
            for (f, g) in f[node.velocity_range()].iter_mut().zip(&force) {
                *f += h * g;
            }
        }
        // Damping in proportion to the stiffness; K without weights.
        let plain = Scheme {
            alpha: 1.0,
            own_alpha: [].into(),
            ..scheme.clone()
        };
        let (_, k, _) = node_matrices(&case, &plain);
        for i in 0..all {
            f[i] -= h * m.rayleigh().stiffness * apply(&k, v, i);
        }
        let dense = Dense::new(m, &case.evaluation);
        let mut expected = dense.transposed(&f);
        expected
            .iter_mut()
            .enumerate()
            .for_each(|(k, c)| *c += 0.01 * k as f64);
        // Finite differences of velocities enter through the inertial forces of mapped masses.
        close("c", &system.c, &expected, 1e-8);
        // With geometric stiffness: W_full - W = -h^2 alpha beta G.
        let (with, without) = (full_w(&full), full_w(&system));
        for i in 0..n {
            let g: f64 = (0..n)
                .map(|j| (with[i * n + j] - without[i * n + j]) * independent[j])
                .sum();
            expected[i] -= g / beta;
        }
        close("c with G", &full.c, &expected, 1e-8);
    }
}

/// The bias of mapped nodes alone: independent masses have none, and groups do not reach over
/// nodes.
fn bias_of(own: f64, i: usize, bias: &[f64], m: &Problem) -> Vec<f64> {
    let mut out = vec![0.0; bias.len()];
    let node = m
        .nodes()
        .iter()
        .find(|n| n.velocity_range().contains(&i))
        .unwrap();
    if node.first_dof().is_none() {
        out[node.velocity_range()].copy_from_slice(&bias[node.velocity_range()]);
        out[i] = own;
    }
    out
}

/// The three forms of the unknown are one equation (theory/step.md of the book). With `c + W v` and `b - J v`
/// instead of `c` and `b` the unknown is the velocity at the end of the step, with `c/h` and `b/h`
/// it is the acceleration, and the multipliers are forces.
#[test]
fn forms_of_the_unknown_are_the_same_equation() {
    let solve = |system: &KktSystem| {
        let (mut solver, mut solution) = (DirectSolver::default(), Solution::default());
        solver.prepare(system).unwrap();
        solver.solve(system, &mut solution).unwrap();
        solution
    };
    for seed in SEEDS {
        let mut case = Case::new(seed, true);
        let h = 0.05;
        let change = case.assemble(&case.scheme(h, 0.7, 0.6, GeometricTerms::default().clamped()));
        let m = case.model();
        let n = m.dof_count();
        let mut v = vec![0.0; n];
        for node in m.nodes() {
            if let Some(first) = node.first_dof() {
                let range = node.velocity_range();
                v[first..first + range.len()].copy_from_slice(&case.state.velocities[range]);
            }
        }
        let w = full_w(&change);
        let (mut velocity, mut acceleration) = (change.clone(), change.clone());
        for i in 0..n {
            velocity.c[i] += (0..n).map(|j| w[i * n + j] * v[j]).sum::<f64>();
            acceleration.c[i] /= h;
        }
        for i in 0..change.m() {
            velocity.b[i] -= (0..n).map(|j| change.j.get(i, j) * v[j]).sum::<f64>();
            acceleration.b[i] /= h;
            acceleration.b_rounding[i] /= h;
        }
        let [change, velocity, acceleration] = [change, velocity, acceleration].map(|s| solve(&s));
        let dv: Vec<f64> = velocity.x.iter().zip(&v).map(|(x, v)| x - v).collect();
        let times_h = |list: &[f64]| list.iter().map(|x| h * x).collect::<Vec<_>>();
        close("dv of velocities", &dv, &change.x, 1e-11);
        close("impulses of velocities", &velocity.mu, &change.mu, 1e-11);
        close("dv of accelerations", &times_h(&acceleration.x), &change.x, 1e-11);
        close(
            "impulses of forces",
            &times_h(&acceleration.mu),
            &change.mu,
            1e-11,
        );
    }
}

/// Elements that repeat the coordinates of their parents are summed before they are scattered. The
/// same model whose mappings do not say so is filled through dense blocks, and differs by the order
/// of sums; threads do not show at all.
#[test]
fn what_is_repeated_is_only_faster() {
    for seed in SEEDS {
        for (k, forces) in MODES.into_iter().enumerate() {
            for multipliers in [forces, MODES[(k + 1) % 6]] {
                let geometry = GeometricTerms { forces, multipliers };
                let mut case = Case::new(seed, true);
                let scheme = case.scheme(0.3, 0.7, 0.6, geometry);
                let found = case.assemble(&scheme);
                let expected = Case::of(build_with(seed, false), seed, true).assemble(&scheme);
                // Eigenvalues that are filtered agree as far as their iteration goes.
                close("W", &full_w(&found), &full_w(&expected), 1e-12);
                close("c", &found.c, &expected.c, 1e-12);
                close("J", found.j.values(), expected.j.values(), 1e-13);
                let shared = case.assemble_on(&scheme, 3);
                assert_eq!(shared.w.values(), found.w.values());
                assert_eq!(shared.c, found.c);
            }
        }
    }
}
