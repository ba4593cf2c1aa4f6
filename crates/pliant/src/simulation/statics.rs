//! Rest without time: Newton's method on the static equations, the pseudo-static flow, dynamic relaxation, paths over a load factor.
//!
//! Unknown are the positions `x` and the multipliers `lambda`. A load factor `p` scales the loads that are named, and the equations are
//!
//! ```math
//! F_1 = f(x, p) + J^T lambda = 0,    F_2 = phi + C lambda - p g = 0
//! ```
//!
//! with the force `f` of materials with a past after an infinite time,
//! and `F_2` replaced by `lambda = lo` or `hi` where a row of bounded force is at its bound. All velocities are zero, so nothing is damped and nothing
//! is inertial.

mod flow;
mod newton;
mod path;
mod refuse;
mod relaxation;
mod residual;

use super::Simulation;
use super::contact::rest::{KeptContacts, RestContacts};
use crate::Error;
use crate::contact::{Observation, step};
use crate::statics::{Equilibrium, EquilibriumReport, Loads, StaticMethod};
use pliant_kkt::Assembler;
use pliant_model::{ComponentId, Space, State};
use pliant_solvers::{Kind, KktSystem, Solution, StationarySolver, Variable};

/// Scratch of one call.
#[derive(Debug, Default)]
pub(crate) struct Work {
    loads: Loads,
    /// The load factor, and gravity at factor 1.
    factor: f64,
    gravity: [f64; 3],
    /// Force fields whose force is scaled, and for each row whether its motion is.
    fields: Vec<usize>,
    driven: Vec<bool>,
    lambda: Vec<f64>,
    /// Where each row of bounded force is: -1 and 1 at its bounds, 0 if it acts; dashpots are always away.
    sides: Vec<i8>,
    /// Rows keep their sides.
    frozen: bool,
    /// Multipliers are the forces of the laws at the positions, not unknowns.
    explicit: bool,
    /// What is missing: `F_1` on the independent coordinates, `F_2` of the rows, and the size of the terms of `F_1`.
    force: Vec<f64>,
    deficit: Vec<f64>,
    terms: Vec<f64>,
    node_force: Vec<f64>,
    node_terms: Vec<f64>,
    /// One over the length that a displacement is measured in: that of the model for positions, 1 for angles and other coordinates.
    inverse_length: Vec<f64>,
    length: f64,
    /// Contacts; whether their rows are left out of the tangent, because the flow solves them with their law; whether friction has no meaning, along an arc length.
    touching: RestContacts,
    flowing: bool,
    by_arc_length: bool,
    solver: StationarySolver,
    kind: Kind,
    step: Solution,
    other: Solution,
    displacement: Vec<f64>,
    report: EquilibriumReport,
    best: f64,
    worst: Option<Worst>,
    tolerance: f64,
    most: usize,
}

/// Positions and multipliers to go back to.
#[derive(Clone, Debug, Default)]
struct Kept {
    state: State,
    lambda: Vec<f64>,
    sides: Vec<i8>,
    touching: KeptContacts,
    factor: f64,
}

/// What misses most.
#[derive(Clone, Copy, Debug)]
enum Worst {
    Variable(Variable),
    /// By its sides.
    Contact([u32; 2]),
}

/// The tangent as last filled, with the contacts that bear unless the flow has them.
fn tangent<'a>(assembler: &'a Assembler, touching: &'a RestContacts, flowing: bool) -> &'a KktSystem {
    let whole = touching.tangent().filter(|_| !flowing);
    whole.unwrap_or_else(|| assembler.system())
}

impl Work {
    fn keep(&self, state: &State) -> Kept {
        Kept {
            state: state.clone(),
            lambda: self.lambda.clone(),
            sides: self.sides.clone(),
            touching: self.touching.kept().clone(),
            factor: self.factor,
        }
    }

    /// Whether rows and contacts are at the sides that they have there.
    fn has_sides_of(&self, kept: &Kept) -> bool {
        self.sides == kept.sides && self.touching.kept().acting().eq(kept.touching.acting())
    }

    /// The largest force that is known, 1 N without any.
    fn largest_force(&self) -> f64 {
        let largest = self.lambda.iter().fold(0.0f64, |a, l| a.max(l.abs()));
        let largest = self.terms.iter().fold(largest, |a, f| a.max(*f));
        if largest > 0.0 { largest } else { 1.0 }
    }

    /// Length of a displacement: root of the sum of squares, positions in lengths of the model.
    fn norm(&self, x: &[f64]) -> f64 {
        let terms = x.iter().zip(&self.inverse_length);
        terms.map(|(x, s)| (x * s) * (x * s)).sum::<f64>().sqrt()
    }

    /// Its largest coordinate.
    fn largest(&self, x: &[f64]) -> f64 {
        let terms = x.iter().zip(&self.inverse_length);
        terms.fold(0.0f64, |a, (x, s)| a.max((x * s).abs()))
    }
}

impl Simulation {
    /// Finds an equilibrium under the present loads, starting from the present positions; driven rows are held where their motions are now. Velocities end
    /// as zero, time stands still. The state stays as it was if there is an error.
    ///
    /// Contacts bear what the equations of rest ask for: `0 <= r_n`, `0 <= phi + C r_n`, one of them zero, found anew as things move. With friction, `|r_t| <= mu r_n`, it
    /// depends on how the loads came about: here from the present state in one increment, against the whole way slipped since. What is read of contacts is then of this
    /// increment: forces as impulses over 1 s, the way slipped as a velocity.
    ///
    /// Materials with a past remember the equilibrium: viscous stresses have relaxed in it, plastic strains are those of one straight path of the strain from what they remembered.
    ///
    /// Rows of bounded force (limits, ropes, motors at rest, springs of one sign) follow their law. Force fields of automatic treatment are taken as they are treated at present.
    ///
    /// # Errors
    /// [`Error::NoEquilibrium`] with the best iterate's report; [`Error::NotStatic`] for what has no meaning at rest: resistance of contacts to spin or rolling, rows that hold a velocity and no
    /// position, fixed coordinates that move; [`Error::Model`], [`Error::Solve`].
    pub fn find_equilibrium(&mut self, how: &Equilibrium) -> Result<EquilibriumReport, Error> {
        if !(how.tolerance > 0.0 && how.tolerance < 1.0) {
            return Err(Error::OutOfRange {
                what: "the tolerance of an equilibrium",
                value: how.tolerance,
                bound: "above 0 and below 1, where any state would be one",
            });
        }
        self.at_rest((&Loads::default(), how.tolerance, false), |simulation, work| {
            work.most = how.max_iterations;
            simulation.settle_statically(work, how.method)?;
            work.report.contacts = work.touching.bearing();
            let projected = simulation
                .system
                .evaluation
                .projected_elements(&simulation.system.model, &simulation.motion.state);
            work.report.projected_tangents = projected;
            if work.report.contacts + projected > 0 {
                work.report.negative_modes = None;
            }
            let forgotten = simulation
                .system
                .advance_memory(&mut simulation.motion.state, f64::INFINITY);
            simulation.trace.account.forgotten += forgotten;
            Ok(work.report)
        })
    }

    /// Whether everything here has a meaning at rest, the method takes it, and these are loads. [`find_equilibrium`](Self::find_equilibrium) and [`follow`](Self::follow) say the same before they begin.
    ///
    /// # Errors
    /// [`Error::NotStatic`], which names what has not.
    pub fn check_static(&self, loads: &Loads, method: StaticMethod) -> Result<(), Error> {
        self.refuse_what_is_not_static(loads)?;
        self.refuse_method(method)
    }

    /// What dynamic relaxation does not take; the other methods take all.
    fn refuse_method(&self, method: StaticMethod) -> Result<(), Error> {
        if method != StaticMethod::DynamicRelaxation {
            return Ok(());
        }
        if self.system.contacts.is_some() {
            let what = "contacts in dynamic relaxation".to_owned();
            return Err(Error::NotStatic { what });
        }
        self.refuse_what_has_no_force()
    }

    /// Runs something on the static equations; undoes it all if that fails.
    fn at_rest<T>(
        &mut self,
        (loads, tolerance, by_arc_length): (&Loads, f64, bool),
        run: impl FnOnce(&mut Self, &mut Work) -> Result<T, Error>,
    ) -> Result<T, Error> {
        self.refuse_what_is_not_static(loads)?;
        // Sleepers are held like fixed coordinates, wherever they fell asleep.
        self.wake_all();
        let (state, gravity) = (self.motion.state.clone(), self.system.model.gravity());
        let (multipliers, support) = (self.motion.multipliers.clone(), self.motion.supports.clone());
        let (contacts, mut observation) = (self.motion.contacts.clone(), Observation::default());
        if let Some(c) = &self.system.contacts {
            observation.clone_from(c.observed.observation());
        }
        self.trace.account.forgotten = 0.0;
        self.motion.state.velocities.fill(0.0);
        self.system.set_row_motion(self.motion.time, self.motion.time);
        let mut work = self.start_statics(loads, tolerance);
        work.by_arc_length = by_arc_length;
        let found = self
            .system
            .evaluation
            .propagate(&self.system.model, &mut self.motion.state);
        let found = found.map_err(Error::from);
        let found = found.and_then(|()| {
            if self.system.contacts.is_some() {
                self.system
                    .evaluation
                    .evaluate(&self.system.model, &self.motion.state)?;
                self.start_rest_contacts(&mut work.touching, by_arc_length)?;
            }
            run(self, &mut work)
        });
        self.system.model.set_gravity(gravity)?;
        if found.is_err() {
            (self.motion.state, self.motion.multipliers, self.motion.supports) =
                (state, multipliers, support);
            self.system
                .evaluation
                .propagate(&self.system.model, &mut self.motion.state)?;
            self.motion.contacts = contacts;
            step::go_back(&mut self.system, &self.motion, &observation)?;
            return found;
        }
        self.motion.dissipated += self.trace.account.forgotten;
        self.show_forces(&mut work);
        self.motion.lagged.copy_from_slice(&work.lambda);
        self.motion.fresh = false;
        self.motion.integrator.forget();
        self.start_ledger();
        found
    }

    /// Takes over the multipliers, and what holds the fixed coordinates.
    fn show_forces(&mut self, work: &mut Work) {
        self.motion.multipliers.copy_from_slice(&work.lambda);
        let fixed = &self.system.assembler.system().fixed;
        for ((support, force), fixed) in self.motion.supports.iter_mut().zip(&work.force).zip(fixed) {
            *support = if *fixed { -force } else { 0.0 };
        }
        self.show_rest_contacts(&mut work.touching, work.length);
    }

    fn start_statics(&mut self, loads: &Loads, tolerance: f64) -> Work {
        let (n, m, all) = (
            self.system.model.dof_count(),
            self.system.model.row_count(),
            self.system.model.velocity_count(),
        );
        let mut fields = Vec::new();
        let mut driven = vec![false; m];
        for component in &loads.components {
            let group = self
                .system
                .model
                .row_groups()
                .iter()
                .find(|g| g.component == *component);
            match (group, component) {
                (Some(g), _) => driven[g.first_row..g.first_row + g.size * g.count].fill(true),
                // Named twice it is one load all the same.
                (None, ComponentId::ForceField(i)) if !fields.contains(i) => fields.push(*i),
                _ => {}
            }
        }
        let length = self.length_of_model();
        let mut inverse_length = vec![1.0; n];
        for node in self.system.model.nodes() {
            let Some(first) = node.first_dof() else { continue };
            let size = node.space.velocity_size();
            let places = if node.space.is_spatial() { size.min(3) } else { 0 };
            for e in 0..node.count {
                inverse_length[first + e * size..][..places].fill(length.recip());
            }
        }
        let lambda = self.motion.multipliers.clone();
        Work {
            loads: loads.clone(),
            factor: 1.0,
            gravity: self.system.model.gravity(),
            fields,
            driven,
            lambda,
            sides: vec![0; m],
            force: vec![0.0; n],
            deficit: vec![0.0; m],
            terms: vec![0.0; n],
            node_force: vec![0.0; all],
            node_terms: vec![0.0; all],
            inverse_length,
            length,
            best: f64::INFINITY,
            tolerance,
            most: usize::MAX,
            ..Work::default()
        }
    }

    /// Largest extent of all places of the independent nodes (m), 1 if there is only one.
    fn length_of_model(&self) -> f64 {
        let (mut low, mut high) = ([f64::INFINITY; 3], [f64::NEG_INFINITY; 3]);
        // What is mapped may be a difference or a strain, which has no place.
        for node in self
            .system
            .model
            .nodes()
            .iter()
            .filter(|n| n.first_dof().is_some())
        {
            let size = match node.space {
                Space::Real(n @ (2 | 3)) => n,
                Space::Rigid3 => 7,
                Space::Real(_) => continue,
            };
            for x in self.motion.state.positions[node.position_range()].chunks_exact(size) {
                for (k, x) in x.iter().take(3).enumerate() {
                    low[k] = low[k].min(*x);
                    high[k] = high[k].max(*x);
                }
            }
        }
        let extents = low.iter().zip(high).map(|(l, h)| h - l);
        let largest = extents.fold(0.0f64, f64::max);
        if largest > 0.0 { largest } else { 1.0 }
    }

    /// To rest by a method; the state and the report are those of the equilibrium.
    fn settle_statically(&mut self, work: &mut Work, method: StaticMethod) -> Result<(), Error> {
        self.refuse_method(method)?;
        self.set_load_factor(work, work.factor)?;
        self.find_rest_residual(work)?;
        let settled = match method {
            StaticMethod::DynamicRelaxation => self.relax(work)?,
            StaticMethod::PseudoStatic => self.flow(work)?,
            StaticMethod::Newton => {
                let start = work.keep(&self.motion.state);
                let found = self.newton(work)?;
                // A start that is at rest is what it is; from elsewhere minima are looked for.
                let whole = found && (work.kind.negative == 0 || work.report.iterations == 0);
                if !whole {
                    self.go_back(work, &start)?;
                }
                whole || self.flow(work)?
            }
        };
        if settled {
            return Ok(());
        }
        Err(self.no_equilibrium(work))
    }

    fn no_equilibrium(&self, work: &Work) -> Error {
        let describe = |v: Variable| match v {
            Variable::Dof(i) => self.system.model.describe_dof(i),
            Variable::Row(i) => self.system.model.describe_row(i),
        };
        let worst = |w: Worst| match w {
            Worst::Variable(v) => describe(v),
            Worst::Contact(sides) => {
                let [a, b] = sides.map(|s| self.contact_side(s));
                format!("the contact of {a} and {b}")
            }
        };
        let system = tangent(&self.system.assembler, &work.touching, work.flowing);
        let free = (work.kind.zero > 0)
            .then(|| work.solver.unpivoted(system))
            .flatten();
        let free = free.filter(|v| matches!(v, Variable::Dof(_)));
        let mut report = work.report;
        report.residual = work.best;
        Error::NoEquilibrium {
            what: work.worst.map_or_else(|| "nothing".to_owned(), worst),
            free: free.map(describe),
            tolerance: work.tolerance,
            report: Box::new(report),
        }
    }

    /// Scales the loads that are named.
    fn set_load_factor(&mut self, work: &mut Work, factor: f64) -> Result<(), Error> {
        work.factor = factor;
        if work.loads.gravity {
            self.system.model.set_gravity(work.gravity.map(|g| g * factor))?;
        }
        Ok(())
    }

    /// Moves from the present positions by `share` of a displacement.
    fn displace(&mut self, displacement: &mut Vec<f64>, step: &[f64], share: f64) -> Result<(), Error> {
        displacement.clear();
        displacement.extend(step.iter().map(|d| share * d));
        for node in self.system.model.nodes() {
            let Some(first) = node.first_dof() else { continue };
            let range = node.velocity_range();
            let positions = &mut self.motion.state.positions[node.position_range()];
            node.space
                .retract(positions, &displacement[first..first + range.len()]);
        }
        self.system
            .evaluation
            .propagate(&self.system.model, &mut self.motion.state)?;
        Ok(())
    }

    fn go_back(&mut self, work: &mut Work, to: &Kept) -> Result<(), Error> {
        self.set_load_factor(work, to.factor)?;
        self.motion.state.clone_from(&to.state);
        work.lambda.copy_from_slice(&to.lambda);
        work.sides.copy_from_slice(&to.sides);
        self.system
            .evaluation
            .propagate(&self.system.model, &mut self.motion.state)?;
        if self.system.contacts.is_some() {
            self.system
                .evaluation
                .evaluate(&self.system.model, &self.motion.state)?;
            self.return_rest_contacts(&mut work.touching, &to.touching)?;
        }
        work.frozen = true;
        let found = self.find_rest_residual(work);
        work.frozen = false;
        found
    }
}

/// An angle (rad) or share of the model's length beyond which a linear system is not trusted.
const FAR: f64 = 0.5;

/// A residual of a linear solve above which a singular system has no solution.
const NO_SOLUTION: f64 = 1e-6;
