//! Modes of vibration about an equilibrium.

use super::Equilibrium;
use super::equilibrium::{advance_memory, settle};
use super::measure::measure;
use super::newton::Tangent;
use super::residual::{SideRule, fill_tangent, find_residual};
use super::workspace::{Setting, Workspace};
use crate::Error;
use crate::gradient::VibrationMode;
use pliant_kkt::Scheme;
use pliant_model::{Model, NodeId, State};
use pliant_solvers::eigen::{self, EigenError, EigenOptions};
use pliant_solvers::{KktSystem, SolveError, Variable};
use pliant_stepper::system::System;
use std::f64::consts::TAU;

/// The positions that modes of vibration are about.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum About {
    /// The equilibrium that is found from the present positions under the present loads.
    Equilibrium(Equilibrium),
    /// The present positions with the present multipliers, which are those of the last step, or
    /// zero before there was one. [`Modes::unbalanced`] tells how far they are from rest.
    Present,
}

impl Default for About {
    fn default() -> Self {
        Self::Equilibrium(Equilibrium::default())
    }
}

/// How modes of vibration are looked for.
///
/// **Equation.** `(K - G) u - J^T l = omega^2 M u`, `J u + C l = 0` with the stiffness `K`, the
/// geometric stiffness `G` of all forces and multipliers, and the mass `M`, where things are at
/// rest: small free vibrations `x + u cos(omega t)`, without damping. Hard rows (`C = 0`) hold
/// what they hold, compliant ones are springs. Materials with a memory have the stiffness of no time:
/// what is viscous has its whole modulus, as no branch relaxes within a vibration, and what has yielded
/// is elastic, as vibrations are too small to yield; the fibres of muscles with tendons stay as long as
/// they are. The equilibrium is that of what has relaxed.
///
/// **Use.** Frequencies and shapes of structures and mechanisms, prestressed ones too; whether an
/// equilibrium is stable, and how fast it is left if not.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ModeOptions {
    /// The lowest so many, at least 1; all if there are fewer.
    pub count: usize,
    /// The positions that they are about.
    pub about: About,
    /// Largest estimated error of `omega^2`, as a share of its distance from the shift of the
    /// solver ([`pliant_solvers::eigen::vibration`]), and largest residual (none); in `(0, 1)`.
    pub tolerance: f64,
    /// Solves with a factor at most.
    pub max_solves: usize,
}

impl Default for ModeOptions {
    fn default() -> Self {
        Self {
            count: 10,
            about: About::default(),
            tolerance: 1e-6,
            max_solves: 20_000,
        }
    }
}

/// The kind of a mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModeKind {
    /// Vibrates.
    Vibration,
    /// Nothing resists it: rigid motion, or a mechanism. Its eigenvalue is zero but for rounding.
    Free,
    /// Runs away: the equilibrium is not stable.
    Growth,
}

/// A mode of vibration.
#[derive(Clone, Debug, PartialEq)]
pub struct Mode {
    /// `omega^2` (rad^2/s^2) by Rayleigh's quotient; negative if it grows.
    pub eigenvalue: f64,
    /// Its kind.
    pub kind: ModeKind,
    /// Its shape: velocities of all nodes, mapped ones too (m/s, rad/s; bodies: linear in world
    /// axes, angular in body axes), with the kinetic energy `1/2 u^T M u` of 1/2 J, and the largest
    /// of the independent coordinates positive. Shapes of modes with the same frequency are any
    /// basis of what they span.
    pub velocities: Vec<f64>,
    /// Multipliers of the rows for positions of this shape (N, N m), in m and rad.
    pub multipliers: Vec<f64>,
    /// Linear momentum of the shape (kg m/s), which is its participation in a shaking of the ground
    /// along each axis. Its squares are the effective masses.
    pub participation: [f64; 3],
    /// Estimated error of the eigenvalue, as a share of its distance from the shift.
    pub error: f64,
    /// The residual of its equations by the matrices as they are, as a share of the sizes of their
    /// terms ([`pliant_solvers::eigen::DefinitePencil`]).
    pub residual: f64,
}

impl Mode {
    /// Angular frequency (rad/s): zero if it does not vibrate.
    pub fn angular_frequency(&self) -> f64 {
        match self.kind {
            ModeKind::Vibration => self.eigenvalue.sqrt(),
            ModeKind::Free | ModeKind::Growth => 0.0,
        }
    }

    /// Frequency (Hz).
    pub fn frequency(&self) -> f64 {
        self.angular_frequency() / TAU
    }

    /// The rate (1/s) at which it grows, as `exp(rate t)`: zero if it does not.
    pub fn growth_rate(&self) -> f64 {
        match self.kind {
            ModeKind::Growth => (-self.eigenvalue).sqrt(),
            ModeKind::Vibration | ModeKind::Free => 0.0,
        }
    }

    /// The mode as [`RestDerivative::eigenvalue_by`](crate::gradient::RestDerivative::eigenvalue_by)
    /// takes it.
    pub fn as_vibration_mode(&self) -> VibrationMode<'_> {
        VibrationMode {
            eigenvalue: self.eigenvalue,
            velocities: &self.velocities,
            multipliers: &self.multipliers,
        }
    }

    /// The shape of a node, all of its elements.
    pub fn shape(&self, model: &Model, node: NodeId) -> &[f64] {
        &self.velocities[model.node(node).velocity_range()]
    }

    /// Effective masses along the axes (kg): the share of the mass that takes part in a shaking of
    /// the ground. Over all modes they sum to the mass that moves.
    pub fn effective_masses(&self) -> [f64; 3] {
        self.participation.map(|p| p * p)
    }
}

/// The lowest modes of vibration. By the inertia of a factor beyond the last one, none was missed.
#[derive(Clone, Debug, PartialEq)]
pub struct Modes {
    /// The modes, the lowest eigenvalue first.
    pub modes: Vec<Mode>,
    /// The positions that they are about, with velocities zero.
    pub state: State,
    /// How many there are in all.
    pub all: usize,
    /// Directions without mass, which the hard rows leave free: they follow the others at once, and
    /// have no frequency of their own.
    pub massless: usize,
    /// Hard rows that depend on others.
    pub redundant_rows: usize,
    /// Rows of bounded force (limits, ropes, motors) that act there. They are held both ways; those
    /// at a bound are left out.
    pub acting_bounded_rows: usize,
    /// The largest force that is missing where things should be at rest, as a share of the sizes of
    /// its terms.
    pub unbalanced: f64,
    /// Mass of all points and bodies (kg).
    pub mass: f64,
    /// The shift of the solver (rad^2/s^2).
    pub shift: f64,
    /// Solves with a factor.
    pub solves: usize,
    /// Factorisations, without those of the search for the equilibrium.
    pub factorisations: usize,
}

const WHAT: &str = "modes of vibration";

/// Checks the numbers of a search for eigenvalues.
pub(crate) fn check_numbers(what: &'static str, count: usize, tolerance: f64) -> Result<(), Error> {
    if count == 0 {
        return Err(Error::OutOfRange {
            what,
            value: 0.0,
            bound: "at least 1",
        });
    }
    if !(tolerance > 0.0 && tolerance < 1.0) {
        return Err(Error::OutOfRange {
            what: "the tolerance of modes",
            value: tolerance,
            bound: "above 0 and below 1",
        });
    }
    Ok(())
}

/// Finds the modes of the present setting, which ends at the positions that they are about.
pub(crate) fn find(at: &mut Setting<'_>, work: &mut Workspace, how: &ModeOptions) -> Result<Modes, Error> {
    let rule = match how.about {
        About::Equilibrium(how) => {
            come_to_rest(at, work, &how)?;
            // What has relaxed and yielded on the way to rest has done so before it vibrates.
            advance_memory(at, work);
            SideRule::Keep
        }
        About::Present => {
            work.set_load_factor(work.unknowns.factor, &mut at.system.model)?;
            SideRule::Take
        }
    };
    work.elapsed = 0.0;
    find_residual(at, work, rule)?;
    let stiffness = tangent(at, work, WHAT)?;
    let unbalanced = measure(at, work);
    let system = &mut *at.system;
    let (scheme, state) = (Scheme::implicit_euler(1.0), &at.motion.state);
    system
        .assembler
        .fill_kinematics(&system.model, &mut system.evaluation, &scheme, state);
    let mass = system.assembler.system().w.clone();
    let options = EigenOptions {
        tolerance: how.tolerance,
        max_solves: how.max_solves,
        threads: at.options.tuning.solver.threads,
    };
    let found = eigen::vibration(&stiffness, &mass, how.count, options);
    let found = found.map_err(|e| in_words(e, WHAT, system, at.motion.time))?;
    let modes = found.modes.into_iter().map(|mode| {
        let (mut x, mut multipliers) = (mode.x, mode.l);
        if is_turned(&x) {
            x.iter_mut().chain(&mut multipliers).for_each(|x| *x = -*x);
        }
        let velocities = spread(system, &x);
        Mode {
            eigenvalue: mode.value,
            kind: match mode.value {
                _ if mode.is_free => ModeKind::Free,
                value if value < 0.0 => ModeKind::Growth,
                _ => ModeKind::Vibration,
            },
            participation: momentum(system, state, velocities.clone()),
            velocities,
            multipliers,
            error: mode.error,
            residual: mode.residual,
        }
    });
    let modes = modes.collect();
    let bounded = system.model.row_groups().iter();
    let bounded = bounded.filter(|g| system.model.bounds(g).is_some());
    let bounded = bounded.flat_map(|g| g.first_row..g.first_row + g.size * g.count);
    let acting_bounded_rows = bounded.filter(|row| work.unknowns.sides[*row] == 0).count();
    // All of space moves along one axis.
    let mut along = vec![0.0; system.model.velocity_count()];
    for node in system.model.nodes().iter().filter(|n| n.space.is_spatial()) {
        let size = node.space.velocity_size();
        along[node.velocity_range()]
            .iter_mut()
            .step_by(size)
            .for_each(|v| *v = 1.0);
    }
    Ok(Modes {
        modes,
        state: state.clone(),
        all: found.finite,
        massless: found.massless,
        redundant_rows: found.redundant_rows,
        acting_bounded_rows,
        unbalanced,
        mass: momentum(system, state, along)[0],
        shift: found.shift,
        solves: found.solves,
        factorisations: found.factorisations,
    })
}

/// Goes to the equilibrium near the present positions.
pub(crate) fn come_to_rest(
    at: &mut Setting<'_>,
    work: &mut Workspace,
    how: &Equilibrium,
) -> Result<(), Error> {
    if let Some(words) = how.method.without_factor() {
        let what = format!("{words} for modes, which are about exact equilibria");
        return Err(Error::NotStatic { what });
    }
    work.progress.most = how.max_iterations;
    settle(at, work, how.method)
}

/// The tangent at the present positions, whose residual must be known, as a system of its own.
pub(crate) fn tangent(
    at: &mut Setting<'_>,
    work: &mut Workspace,
    what: &'static str,
) -> Result<KktSystem, Error> {
    let no = |why: String| Err(Error::NoModes { what, why });
    if work.contacts.bearing() > 0 || work.contacts.kept().acting().next().is_some() {
        return no(
            "something touches there, and contacts are not linear; take it away, or hold it by a joint"
                .to_owned(),
        );
    }
    let projected = at
        .system
        .evaluation
        .projected_elements(&at.system.model, &at.motion.state);
    if projected > 0 {
        return no(format!(
            "the tangents of {projected} elements are projected, which makes them stiffer; take exact ones"
        ));
    }
    fill_tangent(at, work, Tangent::Model)?;
    Ok(at.system.assembler.system().clone())
}

/// Velocities of all nodes by those of the independent coordinates, where things are.
pub(crate) fn spread(system: &System, x: &[f64]) -> Vec<f64> {
    let mut out = vec![0.0; system.model.velocity_count()];
    for node in system.model.nodes() {
        if let Some(first) = node.first_dof() {
            let range = node.velocity_range();
            let own = first..first + range.len();
            out[range].copy_from_slice(&x[own]);
        }
    }
    system.evaluation.push_forward(&system.model, &mut out);
    out
}

/// Whether the largest entry is negative: the first one of those that are as large but for
/// rounding.
pub(crate) fn is_turned(x: &[f64]) -> bool {
    let largest = x.iter().fold(0.0f64, |a, x| a.max(x.abs()));
    let first = x.iter().find(|x| x.abs() >= 0.999_999 * largest);
    first.is_some_and(|x| *x < 0.0)
}

/// Linear momentum of velocities (kg m/s).
fn momentum(system: &System, state: &State, velocities: Vec<f64>) -> [f64; 3] {
    let mut state = state.clone();
    state.velocities = velocities;
    system.model.momentum(&state).linear
}

/// An error of the eigenvalues, in the names of the model.
pub(crate) fn in_words(error: EigenError, what: &'static str, system: &System, time: f64) -> Error {
    let name = |v: Variable| match v {
        Variable::Dof(i) => system.model.describe_dof(i),
        Variable::Row(i) => system.model.describe_row(i),
    };
    let why = match error {
        EigenError::Solve(SolveError::NotFinite { variable }) => {
            let what = name(variable);
            return Error::NotFinite { what, time };
        }
        EigenError::Solve(error) => return Error::from_solver(error, &system.model, time),
        EigenError::Free { variable } => {
            let variable = name(variable);
            if what == WHAT {
                format!("{variable} moves where nothing resists and nothing has a mass")
            } else {
                format!("nothing holds {variable} without the loads")
            }
        }
        EigenError::Indefinite { negative } if what == WHAT => {
            format!("{negative} directions without a mass are not stable")
        }
        EigenError::Indefinite { negative } => {
            format!("{negative} directions are not stable before the loads come on")
        }
        other => other.to_string(),
    };
    Error::NoModes { what, why }
}
