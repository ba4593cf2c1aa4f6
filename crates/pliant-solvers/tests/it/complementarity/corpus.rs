//! Every solver on every scene: what it reaches.

use super::scenes::{Scene, incline, tower, wall};
use super::{limits, solve};
use pliant_solvers::complementarity::*;

fn all(tolerance: f64) -> Vec<(&'static str, Box<dyn Solver>)> {
    let mut names = [
        "sweeps", "over", "jacobi", "cg", "gradient", "admm", "newton", "jean-moreau", "lemke", "murty", "blocks",
        "dantzig", "auto",
    ]
    .into_iter();
    super::solvers(tolerance)
        .into_iter()
        .map(|s| (names.next().unwrap(), s))
        .collect()
}

#[test]
fn table() {
    let scenes: Vec<(&str, Scene)> = vec![
        ("incline", incline(10.0, 0.0981, 0.4, 0.2)),
        ("tower 10 equal", tower(10, 1.0, 0.3, 0.5)),
        ("tower 10 x1000", tower(10, 1000.0, 0.3, 0.5)),
        ("tower 10 /1000", tower(10, 1e-3, 0.3, 0.5)),
        ("wall 3x3", wall(3, 3, 0.3, 0.5)),
        ("wall 4x6", wall(4, 6, 0.3, 0.5)),
    ];
    let mut out = String::new();
    for (name, scene) in &scenes {
        for (solver, mut s) in all(1e-6) {
            if !super::takes_friction(s.method()) { continue; }
            if s.method()==Method::Lemke && scene.problem.size() > 130 { continue; }
            let t = std::time::Instant::now();
            let (_, report) = solve(s.as_mut(), &scene.problem);
            out += &format!("{name:16} {:4} {solver:12} {:?} {} {:.1e} {:.1e} {:?} ms\n", scene.problem.size(), report.outcome, report.iterations, report.residual.relative, report.residual.complementarity_share, t.elapsed().as_millis());
        }
    }
    let _ = limits(0.0,1);
    eprintln!("{out}");
}
