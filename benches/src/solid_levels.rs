//! Conjugate gradients with smoothed aggregation on solids of 30,000 to 3 million unknowns, beside
//! the factor.
//!
//! Every row is measured in a process of its own, so that its peak of memory is its own.

use crate::families::solid::Solid;
use crate::orders::{Axis, Curve, Panel, curves_svg};
use crate::solid_sizes::peak;
use pliant::krylov::{
    KktKrylov, KktKrylovOptions, KktMethod, KrylovOptions, KrylovStatus, NearNullSpace, PrimalPreconditioner,
    RigidNode,
};
use pliant::solvers::{DirectSolver, KktSystem, Solution};
use std::error::Error;
use std::process::Command;
use std::time::Instant;

const SIZES: [usize; 5] = [30_000, 100_000, 300_000, 1_000_000, 3_000_000];
/// Sizes beyond which the factor is left out.
const MOST_FACTORED: [usize; 2] = [300_000, 100_000];
/// Shapes, and the lengths of their steps (s).
const SHAPES: [&str; 2] = ["beam", "cube"];
const STEPS: [f64; 2] = [0.01, 10.0];
/// How often each part is timed; the least time counts.
const ROUNDS: usize = 3;

/// One solid: a beam or a cube of about so many unknowns, in steps of a length, its first nodes held.
fn system(shape: usize, step: usize, size: usize) -> Result<(KktSystem, NearNullSpace), Box<dyn Error>> {
    let (Some(dofs), Some(h)) = (SIZES.get(size), STEPS.get(step)) else {
        return Err("no such solid".into());
    };
    let solid = match SHAPES.get(shape) {
        Some(&"beam") => Solid::beam(*dofs),
        _ => Solid::cube(*dofs),
    };
    let solid = solid.with_step(*h);
    let mut system = solid.stiffness()?;
    let lowest = solid.places().iter().map(|x| x[2]).fold(f64::INFINITY, f64::min);
    let size = (solid.volume() / solid.nodes() as f64).cbrt();
    for (node, x) in solid.places().iter().enumerate() {
        if x[2] < lowest + 0.5 * size {
            system.fixed[3 * node..3 * node + 3].fill(true);
        }
    }
    let mut modes = NearNullSpace::rigid(solid.places())?;
    modes.set_reference(solid.places().iter().map(|x| RigidNode::Point(*x)))?;
    Ok((system, modes))
}

/// Least time of some calls, ms.
fn least(mut f: impl FnMut() -> Result<(), Box<dyn Error>>) -> Result<f64, Box<dyn Error>> {
    let mut least = f64::INFINITY;
    for _ in 0..ROUNDS {
        let start = Instant::now();
        f()?;
        least = least.min(1e3 * start.elapsed().as_secs_f64());
    }
    Ok(least)
}

/// Measures one solid and prints what [`table`] shows: the child's side. `factor` is zero for
/// levels and one for the factor.
///
/// # Errors
/// If something is not solved.
pub fn measure_one(shape: usize, step: usize, size: usize, factor: usize) -> Result<(), Box<dyn Error>> {
    let (system, modes) = system(shape, step, size)?;
    let assembled = peak();
    let mut solution = Solution::default();
    if factor > 0 {
        let mut solver = DirectSolver::default();
        let start = Instant::now();
        solver.prepare(&system)?;
        let first = 1e3 * start.elapsed().as_secs_f64();
        let again = least(|| Ok(solver.prepare(&system)?))?;
        let solve = least(|| {
            solver.solve(&system, &mut solution)?;
            Ok(())
        })?;
        println!("{first} {again} {solve} {}", peak() / 1e6);
        return Ok(());
    }
    let mut solver = KktKrylov::new(KktKrylovOptions {
        method: KktMethod::PrimalPcg,
        preconditioner: PrimalPreconditioner::Multilevel,
        krylov: KrylovOptions {
            tolerance: 1e-9,
            ..KrylovOptions::default()
        },
        ..KktKrylovOptions::default()
    });
    solver.set_near_null_space(&modes);
    let start = Instant::now();
    solver.prepare(&system)?;
    let first = 1e3 * start.elapsed().as_secs_f64();
    let again = least(|| Ok(solver.prepare(&system)?))?;
    let (mut iterations, mut worst) = (0, 0.0);
    let solve = least(|| {
        solution.x.fill(0.0);
        let report = solver.solve(&system, &mut solution)?;
        (iterations, worst) = (report.iterations, report.residual.relative);
        match report.status {
            KrylovStatus::Converged => Ok(()),
            status => Err(format!("{status} at {:e}", report.residual.relative).into()),
        }
    })?;
    let levels = solver.levels().ok_or("no levels")?;
    println!(
        "{first} {again} {solve} {} {} {} {} {} {iterations} {worst}",
        peak() / 1e6,
        assembled / 1e6,
        system.n(),
        levels.levels.len(),
        levels.operator_complexity(),
    );
    Ok(())
}

fn child(numbers: [usize; 4]) -> Result<Vec<f64>, Box<dyn Error>> {
    let mut child = Command::new(std::env::current_exe()?);
    child.args(["solids", "--one-multilevel"]);
    let out = child.args(numbers.map(|a| format!("{a}"))).output()?;
    if !out.status.success() {
        return Err(String::from_utf8_lossy(&out.stderr).into_owned().into());
    }
    let text = String::from_utf8_lossy(&out.stdout).into_owned();
    Ok(text.split_whitespace().map_while(|w| w.parse().ok()).collect())
}

/// Times of one solid.
#[derive(Clone, Copy, Debug)]
pub struct Times {
    shape: usize,
    step: usize,
    unknowns: f64,
    /// Refill and solution by levels (ms).
    levels: f64,
    /// Factor again and solution (ms), where it was measured.
    factor: Option<f64>,
}

/// Time over the number of unknowns, a panel for each length of the step.
pub fn picture(times: &[Times]) -> String {
    let methods = ["levels: refill and solve", "factor again and solve"];
    let time = |t: &Times, method: usize| [Some(t.levels), t.factor][method];
    let mut names = Vec::new();
    let mut panels: Vec<Panel> = STEPS
        .iter()
        .map(|h| Panel {
            title: format!("Steps of {h} s"),
            subtitle: "linear tetrahedra held at one end, one thread".to_owned(),
            across: ("unknowns", Axis::Decades(4, 7)),
            up: ("ms per step", Axis::Decades(1, 5)),
            curves: Vec::new(),
        })
        .collect();
    for (shape, shape_name) in SHAPES.iter().enumerate() {
        for (method, method_name) in methods.iter().enumerate() {
            for (step, panel) in panels.iter_mut().enumerate() {
                let own = times.iter().filter(|t| t.shape == shape && t.step == step);
                panel.curves.push(Curve {
                    name: names.len(),
                    points: own.filter_map(|t| Some((t.unknowns, time(t, method)?))).collect(),
                    joined: true,
                });
            }
            names.push(format!("{shape_name}, {method_name}"));
        }
    }
    curves_svg(
        "Time of a linear step over the size of a solid",
        &panels,
        2,
        &names,
    )
}

/// Prints the table; `most` leaves out larger solids.
///
/// # Errors
/// If something is not solved.
pub fn table(most: usize) -> Result<Vec<Times>, Box<dyn Error>> {
    let mut times = Vec::new();
    println!(
        "| solid | h | unknowns | levels | complexity | set-up ms | refill ms | solve ms | iterations | residual | peak MB, of it assembly | factor: analysis, again, solve ms | peak MB | ratio of solves | of refill and solve |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|");
    for (shape, name) in SHAPES.iter().enumerate() {
        for (step, h) in STEPS.iter().enumerate() {
            for (size, unknowns) in SIZES.iter().enumerate().filter(|(_, n)| **n <= most) {
                let own = child([shape, step, size, 0])?;
                let [
                    first,
                    again,
                    solve,
                    peak,
                    assembled,
                    n,
                    levels,
                    complexity,
                    iterations,
                    residual,
                ] = own[..]
                else {
                    return Err("a child said something else".into());
                };
                let factored = *unknowns <= MOST_FACTORED[shape];
                let beside = if factored {
                    child([shape, step, size, 1])?
                } else {
                    Vec::new()
                };
                let columns = match beside[..] {
                    [analysis, factor, answer, memory] => format!(
                        "{analysis:.0}, {factor:.0}, {answer:.0} | {memory:.0} | {:.1} | {:.1} |",
                        (factor + answer) / solve,
                        (factor + answer) / (again + solve)
                    ),
                    _ => " |  |  |  |".into(),
                };
                times.push(Times {
                    shape,
                    step,
                    unknowns: n,
                    levels: again + solve,
                    factor: beside.get(1).zip(beside.get(2)).map(|(a, b)| a + b),
                });
                println!(
                    "| {name} | {h} | {n} | {levels} | {complexity:.2} | {first:.0} | {again:.0} | {solve:.0} | {iterations} | {residual:.0e} | {peak:.0}, {assembled:.0} | {columns}"
                );
            }
        }
    }
    Ok(times)
}
