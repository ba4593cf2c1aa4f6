//! Linear buckling: the loads at which an equilibrium loses its stability, by its tangent and the
//! rate at which forces under the loads change it.

use super::equilibrium::NO_SOLUTION;
use super::modes::{check_numbers, come_to_rest, in_words, is_turned, spread, tangent};
use super::residual::{LoadRate, SideRule, find_load_rate, find_residual};
use super::workspace::{Setting, Workspace};
use super::{Equilibrium, Loads};
use crate::Error;
use pliant_model::{Evaluation, Model, NodeId, State};
use pliant_solvers::eigen::{DefinitePencil, EigenOptions, Side};
use pliant_solvers::{Solution, StationarySolver};
use pliant_sparse::CsrMatrix;

/// The displacement over which forces are differentiated, in lengths of the model and radians. The
/// central difference errs by its square times what is not linear, and by rounding over it: both
/// about `1e-9`.
const DIFFERENCE: f64 = 3e-5;

const WHAT: &str = "buckling modes";

/// The signs of the critical load factors that are looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum LoadSign {
    /// Loads as they are.
    #[default]
    Positive,
    /// Loads turned round.
    Negative,
    /// Both, the smallest magnitudes first.
    Both,
}

/// How buckling loads are looked for.
///
/// **Equation.** `(K + (p - p0) K_g) u - J^T l = 0`, `J u + C l = 0`: `K`, `J` and `C` are the
/// tangent, the rows and their compliance at the equilibrium of the load factor `p0`. `K_g` is the
/// rate at which the tangent changes by the forces that the loads bring about, with the geometry
/// as it is there: `-G` of the rates of all forces and multipliers along the path of equilibria
/// (the solution of the tangent for the loads), the change of the stiffness of materials by their
/// rates of deformation, and the stiffness of the loads themselves.
///
/// So the answer does not depend on the size of the loads, nor on whether springs are stiffnesses
/// or compliances. It is exact where displacements before buckling are small and do not turn
/// anything; the nearer `p0` is to the critical factor the less that matters. Limit points of
/// shallow arches are none of these: [`Simulation::follow`](crate::Simulation::follow) finds them.
///
/// **Use.** Columns, frames, plates, towers under loads that are known up to a factor.
#[derive(Clone, Debug, PartialEq)]
pub struct BucklingOptions {
    /// The loads that the factor scales.
    pub loads: Loads,
    /// The load factor `p0` of the equilibrium (none).
    pub at: f64,
    /// So many critical factors next to `at`, at least 1; all if there are fewer.
    pub count: usize,
    /// Their signs, seen from `at`.
    pub sign: LoadSign,
    /// Largest estimated error of a factor as a share of its distance from `at`, and largest
    /// residual (none); in `(0, 1)`.
    pub tolerance: f64,
    /// Solves with a factor at most.
    pub max_solves: usize,
    /// How the equilibrium is looked for.
    pub equilibrium: Equilibrium,
}

impl Default for BucklingOptions {
    fn default() -> Self {
        Self {
            loads: Loads {
                gravity: true,
                forces: true,
                components: Vec::new(),
            },
            at: 0.0,
            count: 5,
            sign: LoadSign::default(),
            tolerance: 1e-6,
            max_solves: 20_000,
            equilibrium: Equilibrium::default(),
        }
    }
}

/// A buckling mode.
#[derive(Clone, Debug, PartialEq)]
pub struct BucklingMode {
    /// The critical load factor.
    pub factor: f64,
    /// The shape: displacements of all nodes, mapped ones too (m, rad; bodies: linear in world
    /// axes, angular in body axes); the largest of the independent coordinates is 1.
    pub displacements: Vec<f64>,
    /// Estimated error of the factor, as a share of its distance from that of the equilibrium.
    pub error: f64,
    /// As [`Mode::residual`](crate::Mode::residual).
    pub residual: f64,
}

impl BucklingMode {
    /// The shape of a node, all of its elements.
    pub fn shape(&self, model: &Model, node: NodeId) -> &[f64] {
        &self.displacements[model.node(node).velocity_range()]
    }
}

/// Critical load factors. By the inertia of factors beyond the last ones, none was missed.
#[derive(Clone, Debug, PartialEq)]
pub struct Buckling {
    /// The modes, that next to the load factor of the equilibrium first.
    pub modes: Vec<BucklingMode>,
    /// Whether there are no others of the signs asked for.
    pub complete: bool,
    /// The positions of the equilibrium.
    pub state: State,
    /// Solves with a factor.
    pub solves: usize,
    /// Factorisations, without those of the search for the equilibrium.
    pub factorisations: usize,
}

/// Refuses numbers that describe no search.
pub(crate) fn check(how: &BucklingOptions) -> Result<(), Error> {
    check_numbers("the number of buckling modes", how.count, how.tolerance)?;
    if !how.at.is_finite() {
        return Err(Error::OutOfRange {
            what: "the load factor of the equilibrium",
            value: how.at,
            bound: "finite",
        });
    }
    Ok(())
}

/// Finds the critical factors; ends at the equilibrium that they are seen from.
pub(crate) fn find(
    at: &mut Setting<'_>,
    work: &mut Workspace,
    how: &BucklingOptions,
) -> Result<Buckling, Error> {
    work.unknowns.factor = how.at;
    come_to_rest(at, work, &how.equilibrium)?;
    let stiffness = tangent(at, work, WHAT)?;
    let time = at.motion.time;
    let mut rate = LoadRate::default();
    find_load_rate(at, work, &mut rate)?;
    let threads = at.options.tuning.solver.threads;
    let mut solver = StationarySolver::with_threads(threads);
    let kind = solver.prepare(&stiffness);
    kind.map_err(|e| Error::from_solver(e, &at.system.model, time))?;
    let mut path = Solution::default();
    let missed = solver.solve(&stiffness, &rate.force, &rate.deficit, &mut path);
    let missed = missed.map_err(Error::Solve)?;
    if missed > NO_SOLUTION {
        let why = "the loads push where nothing resists".to_owned();
        return Err(Error::NoModes { what: WHAT, why });
    }
    let geometric = rate_of_tangent(at, work, &path)?;
    let system = &*at.system;
    let mut pencil = DefinitePencil::with_threads(stiffness, geometric, threads);
    let options = EigenOptions {
        tolerance: how.tolerance,
        max_solves: how.max_solves,
        threads,
    };
    let sides: &[Side] = match how.sign {
        LoadSign::Positive => &[Side::Positive],
        LoadSign::Negative => &[Side::Negative],
        LoadSign::Both => &[Side::Positive, Side::Negative],
    };
    let mut out = Buckling {
        modes: Vec::new(),
        complete: true,
        state: at.motion.state.clone(),
        solves: 1,
        factorisations: 1,
    };
    for side in sides {
        let found = match &mut pencil {
            Ok(pencil) => pencil.find(*side, how.count, options),
            Err(error) => Err(error.clone()),
        };
        let found = found.map_err(|e| in_words(e, WHAT, system, time))?;
        out.complete &= found.complete;
        out.solves += found.solves;
        out.factorisations += found.factorisations;
        for pair in found.pairs {
            let mut x = pair.x;
            let largest = x.iter().fold(0.0f64, |a, x| a.max(x.abs()));
            let unit = if is_turned(&x) { -largest } else { largest };
            x.iter_mut().for_each(|x| *x /= unit);
            out.modes.push(BucklingMode {
                factor: how.at + pair.value,
                displacements: spread(system, &x),
                error: pair.error,
                residual: pair.residual,
            });
        }
    }
    let distance = |mode: &BucklingMode| (mode.factor - how.at).abs();
    out.modes.sort_by(|a, b| distance(a).total_cmp(&distance(b)));
    out.complete &= out.modes.len() <= how.count;
    out.modes.truncate(how.count);
    Ok(out)
}

/// Minus the rate at which the tangent changes with the load factor at the present equilibrium, by
/// the rates of forces and multipliers along the path; a lower triangle on the pattern of `W`.
fn rate_of_tangent(at: &mut Setting<'_>, work: &mut Workspace, path: &Solution) -> Result<CsrMatrix, Error> {
    let (start, factor) = (at.motion.state.clone(), work.unknowns.factor);
    let largest = work.metric.largest(&path.x);
    // Loads that hard rows take move nothing.
    let step = if largest > 0.0 { DIFFERENCE / largest } else { 1.0 };
    // Another evaluation places the nodes: the Jacobians of ours stay those of the equilibrium.
    let mut other = Evaluation::new(&at.system.model);
    let mut rates = Vec::new();
    let mut rate = at.system.assembler.system().w.clone();
    rate.clear();
    for sign in [1.0, -1.0] {
        let there = displaced(at, &mut other, &start, &path.x, sign * step)?;
        at.motion.state = there;
        work.set_load_factor(factor + sign * step, &mut at.system.model)?;
        find_residual(at, work, SideRule::Keep)?;
        let system = &mut *at.system;
        let share = 0.5 * sign / step;
        rates.resize(system.evaluation.force().len(), 0.0);
        for (rate, force) in rates.iter_mut().zip(system.evaluation.force()) {
            *rate += share * force;
        }
        system
            .assembler
            .fill_material(&system.model, &mut system.evaluation, &at.motion.state);
        let filled = system.assembler.system().w.values();
        for (rate, stiffness) in rate.values_mut().iter_mut().zip(filled) {
            *rate -= share * stiffness;
        }
    }
    at.motion.state = start;
    work.set_load_factor(factor, &mut at.system.model)?;
    find_residual(at, work, SideRule::Keep)?;
    let system = &mut *at.system;
    system.evaluation.force_mut().copy_from_slice(&rates);
    let multipliers = &path.mu[..system.model.row_count()];
    system.assembler.fill_geometry(
        &system.model,
        &mut system.evaluation,
        &at.motion.state,
        multipliers,
    );
    let filled = system.assembler.system().w.values();
    for (rate, geometric) in rate.values_mut().iter_mut().zip(filled) {
        *rate -= geometric;
    }
    Ok(rate)
}

/// A state displaced by a share of a displacement of the independent coordinates.
fn displaced(
    at: &Setting<'_>,
    evaluation: &mut Evaluation,
    from: &State,
    way: &[f64],
    share: f64,
) -> Result<State, Error> {
    let mut state = from.clone();
    let way: Vec<f64> = way.iter().map(|d| share * d).collect();
    for node in at.system.model.nodes() {
        let Some(first) = node.first_dof() else { continue };
        let own = first..first + node.velocity_range().len();
        let positions = &mut state.positions[node.position_range()];
        node.space.retract(positions, &way[own]);
    }
    evaluation.propagate(&at.system.model, &mut state)?;
    Ok(state)
}
