//! Times the complementarity solvers on stacks of boxes.

use pliant_solvers::KktSystem;
use pliant_solvers::complementarity::*;
use pliant_sparse::PatternBuilder;
use std::time::Instant;

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

/// Saddle-point system with `R = compliance`, and the problem on all rows.
fn scene(bodies: &[Body], contacts: &[Contact], mu: f64, compliance: f64) -> (KktSystem, Problem) {
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
    let mut s = KktSystem::new(
        w.finish().unwrap(),
        j.finish().unwrap(),
        r.finish().unwrap(),
        every(6, n),
        every(3, m),
    )
    .unwrap();
    let mut v = vec![0.0; n];
    for (k, b) in bodies.iter().enumerate() {
        let [x, y, z] = b.half.map(|h| h * h);
        let inertia = [y + z, x + z, x + y].map(|s| b.mass * s / 3.0);
        for l in 0..6 {
            let slot = s.w.pattern().slot(6 * k + l, 6 * k + l).unwrap();
            s.w.values_mut()[slot] = if l < 3 { b.mass } else { inertia[l - 3] };
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
                    let slot = s.j.pattern().slot(3 * k + a, 6 * body + l).unwrap();
                    s.j.values_mut()[slot] += sign * if l < 3 { axis[l] } else { turn[l - 3] };
                }
            }
            let slot = s.r.pattern().slot(3 * k + a, 3 * k + a).unwrap();
            s.r.values_mut()[slot] = compliance;
        }
    }
    let mut b = vec![0.0; m];
    s.j.add_product(1.0, &v, &mut b);
    let rows: Vec<usize> = (0..m).collect();
    let a = SaddleDelassus::new(&s, &rows, &every(3, m)).unwrap();
    let problem = Problem::new(a, b, vec![Cone::Coulomb { mu }; contacts.len()]).unwrap();
    (s, problem)
}

fn tower(count: usize, ratio: f64, push: f64) -> (KktSystem, Problem) {
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

fn wall(width: usize, height: usize, push: f64) -> (KktSystem, Problem) {
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

fn main() {
    let wanted: Vec<String> = std::env::args().skip(1).collect();
    let scenes: Vec<(&str, Box<dyn Fn() -> (KktSystem, Problem)>)> = vec![
        ("tower10", Box::new(|| tower(10, 1.0, 0.3))),
        ("tower50", Box::new(|| tower(50, 1.0, 0.3))),
        ("massratio", Box::new(|| tower(10, 1000.0, 0.3))),
        ("rest", Box::new(|| tower(10, 1000.0, 0.0))),
        ("wall8", Box::new(|| wall(8, 8, 0.3))),
        ("wall14", Box::new(|| wall(14, 14, 0.3))),
        ("wall20", Box::new(|| wall(20, 20, 0.3))),
    ];
    let solvers = |t: f64| -> Vec<Box<dyn Solver>> {
        let limits = Limits {
            tolerance: t,
            max_iterations: 20000,
            patience: 20000,
            history: false,
        };
        vec![
            Box::new(InteriorPoint::new(InteriorPointOptions {
                limits: Limits {
                    max_iterations: 100,
                    patience: 100,
                    ..limits
                },
            })),
            Box::new(Admm::new(AdmmOptions {
                limits: Limits {
                    max_iterations: 3000,
                    ..limits
                },
                ..AdmmOptions::default()
            })),
            Box::new(AcceleratedGradient::new(Limits {
                max_iterations: 4000,
                ..limits
            })),
            Box::new(NonlinearCg::new(Limits {
                max_iterations: 1000,
                ..limits
            })),
        ]
    };
    for (name, make) in scenes {
        if !wanted.is_empty() && !wanted.iter().any(|w| w == name) {
            continue;
        }
        let start = Instant::now();
        let (_, problem) = make();
        println!(
            "{name}: {} rows, made in {:.1} ms",
            problem.size(),
            1e3 * start.elapsed().as_secs_f64()
        );
        for t in [1e-2, 1e-4, 1e-6, 1e-8] {
            for mut solver in solvers(t) {
                if std::env::var("ONLY").is_ok_and(|w| format!("{:?}", solver.method()) != w) {
                    continue;
                }
                let mut best = f64::INFINITY;
                let mut line = String::new();
                for _ in 0..2 {
                    let mut r = vec![0.0; problem.size()];
                    let start = Instant::now();
                    let report = solver.solve(&problem, &mut r).unwrap();
                    best = best.min(1e3 * start.elapsed().as_secs_f64());
                    line = format!(
                        "{:?} {} {:.1e}",
                        report.outcome,
                        report.iterations,
                        report.residual.measure()
                    );
                    if best > 2000.0 {
                        break;
                    }
                }
                println!(
                    "  {t:.0e} {:20} {best:9.2} ms {line}",
                    format!("{:?}", solver.method())
                );
            }
        }
    }
}
