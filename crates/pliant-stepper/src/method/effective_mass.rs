//! Masses that coordinates of nodes move.

use super::project::fill;
use crate::Error;
use crate::motion::Motion;
use crate::system::System;
use pliant_model::NodeId;
use pliant_solvers::{DirectSolver, Solution};

/// Share of the response of a coordinate without hard rows below which it is rounding.
const HELD: f64 = 1e-10;

/// The effective mass of each coordinate of a node at the present moment (kg, kg m^2): the force on
/// it over the acceleration that it gets by that force alone, `1/(J A J^T)`, where `A` is the inverse
/// of the mass matrix with hard rows of two sides held and those of springs free: `x = A f` of
/// `M x - H^T mu = f`, `H x = 0`. Infinite where hard rows or fixed coordinates hold it. Cost: an
/// evaluation, a factor, and a solve for each coordinate.
///
/// # Errors
/// [`Error::Model`] where a mapping is not defined, and those of the linear solver.
pub fn effective_masses(system: &mut System, motion: &Motion, node: NodeId) -> Result<Vec<f64>, Error> {
    system.set_row_motion(motion.time, motion.time);
    system.evaluation.evaluate(&system.model, &motion.state)?;
    fill(system, motion, |_, _, _| false);
    let model = &system.model;
    let mut kkt = system.assembler.system().clone();
    kkt.b.fill(0.0);
    let in_words = |e| Error::from_solver(e, model, motion.time);
    let mut solver = DirectSolver::default();
    solver.prepare(&kkt).map_err(in_words)?;
    let mut solution = Solution::default();
    let mut force = vec![0.0; model.velocity_count()];
    let mut out = Vec::new();
    for coordinate in model.node(node).velocity_range() {
        force.fill(0.0);
        force[coordinate] = 1.0;
        system.evaluation.pull_back(model, &mut force);
        crate::system::gather(model, &force, &mut kkt.c);
        // Without hard rows each coordinate would answer by no more than this.
        let mut most = 0.0f64;
        for i in 0..kkt.n() {
            let diagonal = kkt.w.pattern().row_slots(i).end - 1;
            if kkt.fixed[i] {
                kkt.c[i] = 0.0;
            }
            if kkt.c[i] != 0.0 {
                most = most.max(kkt.c[i] * kkt.c[i] / kkt.w.values()[diagonal]);
            }
        }
        solver.solve(&kkt, &mut solution).map_err(in_words)?;
        let moved: f64 = kkt.c.iter().zip(&solution.x).map(|(f, x)| f * x).sum();
        out.push(if moved > HELD * most {
            moved.recip()
        } else {
            f64::INFINITY
        });
    }
    Ok(out)
}
