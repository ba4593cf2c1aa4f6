//! Times complementarity solvers on towers and walls of boxes, to residuals of 1e-2, 1e-4, 1e-6 and 1e-8 (De Saxcé's, relative). With the
//! feature `peers` Clarabel's interior points solve the same, with the shift of De Saxcé iterated on.
//!
//! `cargo run --profile dist -p pliant-benches --features peers --bin contact_solvers -- [scene ...]`

use pliant::solvers::KktSystem;
use pliant::solvers::complementarity::*;
use pliant::sparse::{CsrMatrix, PatternBuilder};
use std::time::Instant;

/// A scene, or why the solvers do not take it.
type Made = Result<(KktSystem, Problem), ProblemError>;

type Vec3 = [f64; 3];

fn cross(a: Vec3, b: Vec3) -> Vec3 {
    [
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    ]
}

struct Body {
    mass: f64,
    half: Vec3,
    at: Vec3,
    velocity: Vec3,
}

struct Contact {
    below: Option<usize>,
    above: usize,
    at: Vec3,
}

const AXES: [Vec3; 3] = [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]];

fn patch(bodies: &[Body], below: Option<usize>, above: usize, out: &mut Vec<Contact>) {
    let top = &bodies[above];
    let range = |k: usize| {
        let (mut low, mut high) = (top.at[k] - top.half[k], top.at[k] + top.half[k]);
        if let Some(b) = below {
            low = low.max(bodies[b].at[k] - bodies[b].half[k]);
            high = high.min(bodies[b].at[k] + bodies[b].half[k]);
        }
        [low, high]
    };
    let z = top.at[2] - top.half[2];
    for x in range(0) {
        for y in range(1) {
            out.push(Contact {
                below,
                above,
                at: [x, y, z],
            });
        }
    }
}

/// `A_ik += x`, for an entry of the pattern.
fn add(a: &mut CsrMatrix, i: usize, k: usize, x: f64) {
    if let Some(slot) = a.pattern().slot(i, k) {
        a.values_mut()[slot] += x;
    }
}

/// Saddle-point system with `R = compliance`, and the problem on all rows.
fn scene(bodies: &[Body], contacts: &[Contact], mu: f64, compliance: f64) -> Made {
    let (n, m) = (6 * bodies.len(), 3 * contacts.len());
    let [mut w, mut j, mut r] = [(n, n), (m, n), (m, m)].map(|(a, b)| PatternBuilder::new(a, b));
    for k in 0..n {
        w.insert(k, k);
    }
    for (k, c) in contacts.iter().enumerate() {
        j.insert_block((3 * k, 6 * c.above), (3, 6), false);
        if let Some(b) = c.below {
            j.insert_block((3 * k, 6 * b), (3, 6), false);
        }
        r.insert_block((3 * k, 3 * k), (3, 3), true);
    }
    let every = |step: usize, size: usize| (0..=size).step_by(step).collect::<Vec<_>>();
    let mut s = KktSystem::new(w.finish()?, j.finish()?, r.finish()?, every(6, n), every(3, m))?;
    let mut v = vec![0.0; n];
    for (k, b) in bodies.iter().enumerate() {
        let [x, y, z] = b.half.map(|h| h * h);
        let inertia = [y + z, x + z, x + y].map(|s| b.mass * s / 3.0);
        for l in 0..6 {
            let i = 6 * k + l;
            add(&mut s.w, i, i, if l < 3 { b.mass } else { inertia[l - 3] });
            if l < 3 {
                v[6 * k + l] = b.velocity[l];
                s.c[6 * k + l] = b.mass * b.velocity[l];
            }
        }
    }
    for (k, c) in contacts.iter().enumerate() {
        for (a, axis) in AXES.iter().enumerate() {
            for (body, sign) in [(Some(c.above), 1.0), (c.below, -1.0)] {
                let Some(body) = body else { continue };
                let arm = [0, 1, 2].map(|l| c.at[l] - bodies[body].at[l]);
                let turn = cross(arm, *axis);
                for l in 0..6 {
                    let x = if l < 3 { axis[l] } else { turn[l - 3] };
                    add(&mut s.j, 3 * k + a, 6 * body + l, sign * x);
                }
            }
            add(&mut s.r, 3 * k + a, 3 * k + a, compliance);
        }
    }
    let mut b = vec![0.0; m];
    s.j.add_product(1.0, &v, &mut b);
    let rows: Vec<usize> = (0..m).collect();
    let a = SaddleDelassus::new(&s, &rows, &every(3, m))?;
    let problem = Problem::new(a, b, vec![Cone::Coulomb { mu }; contacts.len()])?;
    Ok((s, problem))
}

fn tower(count: usize, ratio: f64, push: f64) -> Made {
    let mut bodies = Vec::new();
    let mut contacts = Vec::new();
    for k in 0..count {
        bodies.push(Body {
            mass: ratio.powf(k as f64 / (count - 1) as f64),
            half: [0.5, 0.5, 0.25],
            at: [0.0, 0.0, 0.25 + 0.5 * k as f64],
            velocity: [if k + 1 == count { push } else { 0.0 }, 0.0, -0.0981],
        });
        patch(&bodies, k.checked_sub(1), k, &mut contacts);
    }
    scene(&bodies, &contacts, 0.5, 1e-7)
}

fn wall(width: usize, height: usize, push: f64) -> Made {
    let mut bodies: Vec<Body> = Vec::new();
    let mut contacts = Vec::new();
    for row in 0..height {
        for k in 0..width {
            bodies.push(Body {
                mass: 3.0,
                half: [0.5, 0.25, 0.25],
                at: [k as f64 + 0.5 * (row % 2) as f64, 0.0, 0.25 + 0.5 * row as f64],
                velocity: [if row + 1 == height { push } else { 0.0 }, 0.0, -0.0981],
            });
            let own = row * width + k;
            if row == 0 {
                patch(&bodies, None, own, &mut contacts);
                continue;
            }
            for below in (row - 1) * width..row * width {
                if (bodies[below].at[0] - bodies[own].at[0]).abs() < 0.75 {
                    patch(&bodies, Some(below), own, &mut contacts);
                }
            }
        }
    }
    scene(&bodies, &contacts, 0.5, 1e-7)
}

/// A solver to a tolerance.
type Make = fn(Limits) -> Box<dyn Solver>;

const SOLVERS: [(&str, usize, Make); 7] = [
    ("auto", 5000, |limits| {
        Box::new(Auto::new(AutoOptions {
            limits,
            ..AutoOptions::default()
        }))
    }),
    ("interior-point", 100, |limits| {
        Box::new(InteriorPoint::new(InteriorPointOptions { limits }))
    }),
    ("admm", 3000, |limits| {
        Box::new(Admm::new(AdmmOptions {
            limits,
            ..AdmmOptions::default()
        }))
    }),
    ("barzilai-borwein", 4000, |limits| {
        Box::new(BarzilaiBorwein::new(limits))
    }),
    ("accelerated-gradient", 4000, |limits| {
        Box::new(AcceleratedGradient::new(limits))
    }),
    ("nonlinear-cg", 1000, |limits| Box::new(NonlinearCg::new(limits))),
    ("gauss-seidel", 1000, |limits| {
        Box::new(GaussSeidel::new(GaussSeidelOptions {
            limits,
            ..GaussSeidelOptions::default()
        }))
    }),
];

/// Time in ms, residual, words.
fn ours(make: Make, problem: &Problem, tolerance: f64, max_iterations: usize) -> (f64, f64, String) {
    let mut solver = make(Limits {
        tolerance,
        max_iterations,
        patience: max_iterations,
        history: false,
    });
    let (mut best, mut measure, mut words) = (f64::INFINITY, f64::NAN, String::new());
    for _ in 0..3 {
        let mut r = vec![0.0; problem.size()];
        let start = Instant::now();
        match solver.solve(problem, &mut r) {
            Ok(report) => {
                measure = report.residual.measure();
                words = format!("{:?} after {}", report.outcome, report.iterations);
            }
            Err(error) => words = error.to_string(),
        }
        best = best.min(1e3 * start.elapsed().as_secs_f64());
        if best > 1000.0 {
            break;
        }
    }
    (best, measure, words)
}

/// Clarabel on `min x^T W x/2 + r^T R r/2 + r^T (b + s n)`, `W x = J^T r`, `(mu r_n, r_t)` in the second-order cone; the shift `s = mu |u_t|` is set
/// anew until the residual holds. Only the solves are timed.
#[cfg(feature = "peers")]
fn clarabel(system: &KktSystem, problem: &Problem, tolerance: f64) -> (f64, f64, String) {
    use clarabel::algebra::CscMatrix;
    use clarabel::solver::{DefaultSettingsBuilder, DefaultSolver, IPSolver, SecondOrderConeT, ZeroConeT};
    let (n, m) = (system.n(), system.m());
    let mut p = (Vec::new(), Vec::new(), Vec::new());
    let mut a = (Vec::new(), Vec::new(), Vec::new());
    let push = |to: &mut (Vec<usize>, Vec<usize>, Vec<f64>), i: usize, k: usize, x: f64| {
        to.0.push(i);
        to.1.push(k);
        to.2.push(x);
    };
    for i in 0..n {
        for k in system.w.pattern().row(i) {
            let (k, x) = (*k as usize, system.w.get(i, *k as usize));
            push(&mut p, k, i, x);
            push(&mut a, i, k, x);
            if k != i {
                push(&mut a, k, i, x);
            }
        }
    }
    for i in 0..m {
        push(&mut p, n + i, n + i, system.r.get(i, i));
        for k in system.j.pattern().row(i) {
            push(&mut a, *k as usize, n + i, -system.j.get(i, *k as usize));
        }
        let mu = problem.cones()[i / 3].friction().unwrap_or(0.0);
        push(&mut a, n + i, n + i, if i % 3 == 0 { -mu } else { -1.0 });
    }
    let p = CscMatrix::new_from_triplets(n + m, n + m, p.0, p.1, p.2);
    let a = CscMatrix::new_from_triplets(n + m, n + m, a.0, a.1, a.2);
    let mut cones = vec![ZeroConeT(n)];
    cones.extend((0..problem.blocks()).map(|_| SecondOrderConeT(3)));
    let (mut shift, mut u, mut r) = (vec![0.0; problem.blocks()], vec![0.0; m], vec![0.0; m]);
    let (mut time, mut measure, mut rounds) = (0.0, f64::INFINITY, 0);
    while measure > tolerance && rounds < 40 {
        let mut q = vec![0.0; n];
        q.extend_from_slice(problem.b());
        for (k, s) in shift.iter().enumerate() {
            q[n + 3 * k] += s;
        }
        let accuracy = (0.1 * tolerance).min(1e-8);
        let settings = DefaultSettingsBuilder::default()
            .verbose(false)
            .tol_gap_abs(accuracy)
            .tol_gap_rel(accuracy)
            .tol_feas(accuracy)
            .build();
        let Ok(settings) = settings else { break };
        let start = Instant::now();
        let Ok(mut solver) = DefaultSolver::new(&p, &q, &a, &vec![0.0; n + m], &cones, settings) else {
            break;
        };
        solver.solve();
        time += 1e3 * start.elapsed().as_secs_f64();
        rounds += 1;
        r.copy_from_slice(&solver.solution.x[n..]);
        measure = problem.residual(&r, &mut u).measure();
        for (k, s) in shift.iter_mut().enumerate() {
            let mu = problem.cones()[k].friction().unwrap_or(0.0);
            *s = mu * u[3 * k + 1].hypot(u[3 * k + 2]);
        }
    }
    (time, measure, format!("{rounds} shifts"))
}

type Scene = (&'static str, fn() -> Made);

const SCENES: [Scene; 7] = [
    ("tower10", || tower(10, 1.0, 0.3)),
    ("tower50", || tower(50, 1.0, 0.3)),
    ("massratio", || tower(10, 1000.0, 0.3)),
    ("massratio-rest", || tower(10, 1000.0, 0.0)),
    ("wall8", || wall(8, 8, 0.3)),
    ("wall14", || wall(14, 14, 0.3)),
    ("wall20", || wall(20, 20, 0.3)),
];

fn main() -> Result<(), ProblemError> {
    let wanted: Vec<String> = std::env::args().skip(1).collect();
    for (name, make) in SCENES {
        if !wanted.is_empty() && !wanted.iter().any(|w| w == name) {
            continue;
        }
        let start = Instant::now();
        let (system, problem) = make()?;
        let made = 1e3 * start.elapsed().as_secs_f64();
        println!(
            "{name}: {} rows of {} unknowns, made in {made:.1} ms",
            problem.size(),
            system.n()
        );
        for tolerance in [1e-2, 1e-4, 1e-6, 1e-8] {
            let print = |solver: &str, (time, measure, words): (f64, f64, String)| {
                println!("  {tolerance:.0e} {solver:22} {time:9.2} ms  {measure:.1e}  {words}");
            };
            for (solver, limit, make) in SOLVERS {
                print(solver, ours(make, &problem, tolerance, limit));
            }
            #[cfg(feature = "peers")]
            print("clarabel", clarabel(&system, &problem, tolerance));
        }
    }
    Ok(())
}
