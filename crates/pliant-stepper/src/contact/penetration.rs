//! Overlap at the end of a step, limits and ropes that are beyond, and positions corrected because
//! of them.

mod compensation;
mod sides;

use super::cones::{ConeSolver, ContactSystem};
use super::detect::{ContactGuards, Search};
use super::{Base, Contact, ContactKey, ContactList, Overlap, OverlapReport, auto_options, check_work};
use crate::motion::AutomaticMemory;
use crate::observe::violation;
use crate::system::rigid_nodes::Configuration;
use crate::system::{System, one_sided};
use crate::{Error, Motion, WorkPart};
use compensation::{Compensation, Correction};
use pliant_kkt::{Extended, GeometricTerms, Metric, Quantity, Scheme, StepInput, Tail};
use pliant_model::{Problem, RowLaw, State, Treatment};
use pliant_solvers::complementarity::{Cone, ConeProfile, IslandMemory, Outcome, ProblemError};
use pliant_solvers::{Solution, Status};

/// Violation of hard rows (m, rad) that is left to the next step after a correction of overlap. The
/// step takes it back by a velocity: in a hundredth of a second by a billionth of a metre per second.
const OFF_JOINTS: f64 = 1e-11;

/// Rounds of corrections of overlap: turning a body may bring others of its corners down.
const CORRECTIONS: usize = 5;

/// Trials to find how far a correction may go that would make energy.
const SHARES: usize = 20;

/// The correction of overlap, and of limits and ropes beyond, at the end of a step.
#[derive(Debug, Default)]
pub(crate) struct Penetration {
    tail: Tail,
    cones: Vec<Option<Cone>>,
    extended: Extended,
    solver: ConeSolver,
    solution: Solution,
    compensation: Compensation,
    /// The state before the correction, at rest: the forces are those of the potential then.
    resting: State,
    /// The most energy that one correction of the step lifted (J).
    most_lifted: f64,
    /// Limits and ropes that the last fill takes back.
    asking_rows: usize,
    /// Contacts that were so deep at the first correction of the step that they take longer, by
    /// key, ascending.
    recovering: Vec<ContactKey>,
    /// Contacts that closed in the step with more approach than its weights let them stop in time,
    /// by key, ascending: they recover wholly, with what the impact lost.
    arrived: Vec<ContactKey>,
    /// Rows of the model that were so far beyond then, ascending.
    recovering_rows: Vec<usize>,
    /// The energy that corrections of the present step may bring in, beyond the share of motion:
    /// the energy that the step lost (J). Without one, all that they ask for.
    margin: Option<f64>,
}

/// The motion whose overlap is taken back: start and end of a step.
pub(crate) struct Ends<'a> {
    pub(crate) start: &'a Motion,
    pub(crate) end: &'a mut Motion,
}

/// The recovery that a correction asks for: what is beyond by more than `allowed` (m, rad) is taken
/// back; contacts and rows beyond `shallow` recover by `most`, the others wholly.
#[derive(Clone, Copy)]
struct Recovery {
    allowed: f64,
    shallow: f64,
    most: f64,
}

/// The metric of a correction, with its geometric stiffness.
#[derive(Clone, Copy)]
struct CorrectionMetric {
    metric: Metric,
    geometry: GeometricTerms,
}

/// A correction whose problem has no solution, or one that was not found.
struct Unsolved {
    /// The sides of the contact that misses most.
    worst: Option<[u32; 2]>,
}

/// Energy of the compliant contacts that overlap (J).
pub(super) fn stored(list: &ContactList) -> f64 {
    list.contacts().iter().map(Contact::stored).sum()
}

/// Deepest overlap of the hard contacts that take part (m).
pub(super) fn deepest(list: &ContactList, guards: &ContactGuards) -> f64 {
    hard(list, guards).fold(0.0, |a, c| a.max(-c.gap))
}

/// The hard contacts that take part.
fn hard<'a>(list: &'a ContactList, guards: &'a ContactGuards) -> impl Iterator<Item = &'a Contact> + Clone {
    let contacts = list.contacts().iter();
    contacts.filter(|c| c.law.compliance == 0.0 && guards.take(c))
}

impl Penetration {
    /// Time of the cones of corrections so far.
    pub(crate) fn profile(&self) -> ConeProfile {
        self.solver.profile()
    }

    /// Counts operations from zero again.
    pub(super) fn begin(&mut self) {
        self.solver.begin();
    }

    /// Writes the memory of the solver.
    pub(super) fn record(&self, islands: &mut IslandMemory, choice: &mut AutomaticMemory) {
        self.solver.record(islands, choice);
    }

    /// Gives the solver a memory in place of its own.
    pub(super) fn impose(&mut self, memory: &IslandMemory) {
        self.solver.impose(memory);
    }

    /// Forgets what its solver saw of the model.
    pub(super) fn forget_choices(&mut self) {
        self.solver.forget_choices();
    }

    /// Goes on with the automatic choices of a memory.
    pub(super) fn impose_choice(&mut self, memory: &AutomaticMemory) {
        self.solver.impose_choice(memory);
    }

    /// Whether a contact is deeper than a step recovers, or was at its first correction, and did
    /// not only arrive there in the step.
    fn has_its_share(&self, contact: &Contact, shallow: f64) -> bool {
        let slow = || contact.gap < -shallow || self.recovering.binary_search(&contact.key).is_ok();
        slow() && self.arrived.binary_search(&contact.key).is_err()
    }

    /// Whether a hard contact overlaps by more than is allowed, and is to be corrected.
    fn asks(&self, list: &ContactList, guards: &ContactGuards, recovery: Recovery) -> bool {
        let Recovery {
            allowed,
            shallow,
            most,
        } = recovery;
        let mut deep = hard(list, guards).filter(|c| c.gap < -allowed);
        deep.any(|c| most > 0.0 || !self.has_its_share(c, shallow))
    }

    /// Makes the rows of the hard contacts.
    fn push_contacts(&mut self, list: &ContactList, guards: &ContactGuards, recovery: Recovery) {
        for (contact, supports) in list.with_supports() {
            if contact.law.compliance == 0.0 && guards.take(contact) {
                let rows = self.tail.push(Quantity::Velocity, &[contact.normal], supports);
                let deep = self.has_its_share(contact, recovery.shallow);
                self.tail.b[rows.start] = if deep { -recovery.most } else { contact.gap };
            }
        }
    }

    /// The sides of the contact that has the largest share `mu_i (J dx)_i` in a correction that
    /// lifted by so much, if none lifted more in the step.
    fn lifter<'a>(
        &mut self,
        contacts: impl Iterator<Item = &'a Contact>,
        base_rows: usize,
        lifted: f64,
    ) -> Option<[u32; 2]> {
        let shares = self.solution.mu[base_rows..].iter().zip(&self.tail.b);
        let largest = shares
            .map(|(mu, b)| -mu * b)
            .zip(contacts)
            .max_by(|a, b| a.0.total_cmp(&b.0));
        let (_, contact) = largest.filter(|_| lifted > self.most_lifted)?;
        self.most_lifted = lifted;
        Some(contact.sides)
    }
}

/// Whether a model has stiffness, or springs that are rows.
fn is_elastic(model: &Problem) -> bool {
    let mut fields = model.force_fields().iter().enumerate();
    fields.any(|(i, f)| {
        model.treatment(i) == Treatment::Stiffness || f.component.law.row_law() == RowLaw::Elastic
    })
}

/// Whether anything is beyond by more than is allowed, and is to be taken back.
fn asks(system: &System, end: &Motion, recovery: Recovery) -> bool {
    let p = &system.corrections.behind;
    let overlaps = match (&system.contacts, &end.contacts) {
        (Some(c), Some(memory)) => p.asks(&memory.list, &c.detection.guards, recovery),
        _ => false,
    };
    overlaps || p.rows_ask(system, end, recovery)
}

/// Finds the contacts at the end of a step of length `h` (s) with the weight `beta` of the velocity
/// there, which become those of the motion. If
/// corrections may take no more energy than the step lost, the energy that is stored in contacts
/// (J), which that depends on.
pub(crate) fn find_at_end(
    system: &mut System,
    end: &mut Motion,
    h: f64,
    beta: f64,
) -> Result<Option<f64>, Error> {
    search(system, end, h)?;
    let Overlap::Correct { allowed, speed } = system.options.contacts.overlap else {
        return Ok(None);
    };
    let p = &mut system.corrections.behind;
    p.most_lifted = 0.0;
    p.recovering.clear();
    p.recovering_rows.clear();
    p.arrived.clear();
    if let Some(c) = &system.contacts {
        let late = |gap: f64, u: f64| gap >= -allowed && gap + h * (1.0 - beta) * u < 0.0;
        p.arrived.extend(c.rows.late_contacts(&c.detection.list, late));
        p.arrived.sort_unstable();
    }
    let shallow = h * speed;
    let recovery = Recovery {
        allowed,
        shallow,
        most: shallow,
    };
    let bounded = end.ledger.overlap <= allowed && asks(system, end, recovery);
    let stored = || end.contacts.as_ref().map_or(0.0, |memory| stored(&memory.list));
    Ok(bounded.then(stored))
}

/// Searches the contacts of the end.
fn search(system: &mut System, end: &mut Motion, h: f64) -> Result<(), Error> {
    let found = Search::of(system, &end.state);
    let (Some((c, search)), Some(memory)) = (found, &mut end.contacts) else {
        return Ok(());
    };
    c.detection.source.search(search, h, &mut memory.list)?;
    memory.horizon = Some(h);
    Ok(())
}

/// Takes overlap at the end of the step back, if that is asked for, and what limits and ropes are
/// beyond, with no more energy than the step `lost` (J) and motion has; without it, with all that
/// it asks for.
pub(crate) fn recover_overlap(
    system: &mut System,
    ends: Ends<'_>,
    scheme: &Scheme,
    lost: Option<f64>,
    report: &mut OverlapReport,
) -> Result<(), Error> {
    let Ends { start, end } = ends;
    if let Overlap::Correct { allowed, speed } = system.options.contacts.overlap {
        let shallow = scheme.h * speed;
        let mut recovery = Recovery {
            allowed,
            shallow,
            most: shallow,
        };
        system.corrections.behind.margin = lost;
        let most = violation(system, &end.state).max(OFF_JOINTS);
        let mut has_moved = false;
        for _ in 0..CORRECTIONS {
            // A turn takes bodies off the joints that they turn about, by its square.
            let asked = asks(system, end, recovery) || has_moved && violation(system, &end.state) > most;
            if !asked || !correct(system, start, end, scheme, recovery, report)? {
                break;
            }
            has_moved = true;
            search(system, end, scheme.h)?;
            report.count += 1;
            // Deeper ones have had their share in the first round, and are not to sink.
            recovery.most = 0.0;
        }
        let mut left = one_sided::farthest_outside(system, &end.state);
        if let (Some(c), Some(memory)) = (&system.contacts, &end.contacts) {
            left = left.max(deepest(&memory.list, &c.detection.guards));
        }
        end.ledger.overlap = end.ledger.overlap.min(left);
    }
    if let (Some(c), Some(memory)) = (&mut system.contacts, &end.contacts) {
        let overlaps = memory.list.contacts().iter();
        let of_contacts = c.observed.report_mut();
        of_contacts.overlap = overlaps.fold(0.0f64, |a, c| a.max(-c.gap));
        of_contacts.stored = stored(&memory.list);
        of_contacts.corrections = *report;
    }
    Ok(())
}

/// Finds and takes a displacement, `min |dx|^2/2` subject to `J dx = -phi` on the hard rows and
/// `N dx >= -phi` on the hard contacts and the limits and ropes, in the metric of the step's `W`
/// with springs that are rows where there is anything elastic, for by masses alone the light nodes
/// of stiff bodies would go all the way, else of the masses. Returns whether there is one; else
/// nothing moves, and the report has the contact that missed most.
fn correct(
    system: &mut System,
    start: &Motion,
    end: &mut Motion,
    scheme: &Scheme,
    recovery: Recovery,
    report: &mut OverlapReport,
) -> Result<bool, Error> {
    let System {
        model,
        options,
        evaluation,
        corrections,
        ..
    } = system;
    let p = &mut corrections.behind;
    p.resting.positions.clone_from(&end.state.positions);
    p.resting.velocities.clear();
    p.resting.velocities.resize(end.state.velocities.len(), 0.0);
    p.resting.internal.clone_from(&end.state.internal);
    evaluation.evaluate(model, &p.resting)?;
    p.compensation.force.clear();
    p.compensation.force.extend_from_slice(evaluation.force());
    evaluation.pull_back(model, &mut p.compensation.force);
    // Compressed parts may have no metric with all of their geometric stiffness, and have one with
    // the absolute value of that.
    let plain = options.geometry;
    let elastic = is_elastic(model);
    let mut geometries = [plain, plain.clamped()].into_iter().filter(|_| elastic);
    let mut solve = |metric, geometry| {
        let metric = CorrectionMetric { metric, geometry };
        solve(system, end, scheme, metric, recovery)
    };
    let mut failed = Ok(());
    let solved = geometries.any(|geometry| match solve(Metric::Elastic, geometry) {
        Ok(None) => true,
        Err(error @ Error::TooMuchWork { .. }) => {
            failed = Err(error);
            true
        }
        _ => false,
    });
    failed?;
    if !solved && let Some(Unsolved { worst }) = solve(Metric::Mass, plain)? {
        report.unsolved += 1;
        report.unsolved_by = report.unsolved_by.or(worst);
        return Ok(false);
    }
    if recovery.most > 0.0 {
        if let Some(memory) = &end.contacts {
            let deep = memory.list.contacts().iter();
            let deep = deep.filter(|c| c.gap < -recovery.shallow);
            system.corrections.behind.recovering.extend(deep.map(|c| c.key));
            system.corrections.behind.recovering.sort_unstable();
        }
        sides::note_recovering(system, end, recovery.shallow);
    }
    take(system, start, end, report)?;
    Ok(true)
}

/// Finds the displacement, if there is one.
fn solve(
    system: &mut System,
    end: &Motion,
    scheme: &Scheme,
    CorrectionMetric { metric, geometry }: CorrectionMetric,
    recovery: Recovery,
) -> Result<Option<Unsolved>, Error> {
    let scheme = scheme.with_geometry(geometry);
    let input = StepInput {
        state: &end.state,
        multipliers: &end.lagged,
        impulse: &system.scratch.impulse,
        fixed_change: &system.scratch.fixed_change,
        motion: &system.row_motion,
    };
    let (model, evaluation) = (&system.model, &mut system.evaluation);
    system
        .assembler
        .fill_correction(model, evaluation, &scheme, input, metric);
    sides::hold(system, end, recovery);
    let System {
        model,
        options,
        assembler,
        sleep,
        contacts,
        corrections,
        ..
    } = system;
    let p = &mut corrections.behind;
    sleep.hold_rows(assembler);
    p.tail.clear();
    if let (Some(c), Some(memory)) = (&*contacts, &end.contacts) {
        p.push_contacts(&memory.list, &c.detection.guards, recovery);
    }
    assembler.project(model, &end.state, &mut p.tail)?;
    let base = assembler.system();
    p.cones.clear();
    p.cones.resize(base.row_blocks().len() - 1, None);
    let cones = std::iter::repeat_n(Some(Cone::NonNegative), p.tail.rows());
    p.cones.extend(cones);
    let filled = p.extended.fill(base, &[], &p.tail)?;
    let mut cones = auto_options(&options.contacts);
    cones.limits.work = options.tuning.work.correction_operations;
    p.solver
        .configure(options, options.last_solver(), cones, assembler.threads());
    let words = |error| match error {
        ProblemError::Bilateral(e) => Error::from_solver(e, model, end.time),
        other => Error::Contacts(other),
    };
    let system = ContactSystem {
        base,
        whole: filled,
        cones: &p.cones,
        at: Configuration {
            model,
            state: &end.state,
        },
    };
    p.solver.prepare(system).map_err(words)?;
    p.solution.mu.clear();
    let found = p.solver.solve(filled, &mut p.solution).map_err(words)?;
    let last = metric == Metric::Mass && options.accept_failed_steps;
    // Where rows ask, there may be no contact that has a say.
    let linear = p.asking_rows == 0 || found.linear.status == Status::Converged;
    let solved = found.outcome == Outcome::Converged && linear || last;
    let (Some(c), Some(memory)) = (contacts, &end.contacts) else {
        return Ok((!solved).then_some(Unsolved { worst: None }));
    };
    c.observed.report_mut().solve.operations += found.work;
    if solved {
        return Ok(None);
    }
    let base_blocks = base.row_blocks().len() - 1;
    let mut contacts = hard(&memory.list, &c.detection.guards);
    let base = Base {
        model,
        assembler,
        motion: end,
        options,
        scheme: &scheme,
    };
    check_work(
        WorkPart::Overlap,
        found.outcome,
        &p.solver,
        &base,
        &c.detection,
        contacts.clone(),
    )?;
    let worst = found.worst.checked_sub(base_blocks);
    let worst = worst.and_then(|worst| contacts.nth(worst));
    Ok(Some(Unsolved {
        worst: worst.map(|contact| contact.sides),
    }))
}

/// Takes the displacement that was found, as far as energy for it is at hand; the motion gives its
/// share.
fn take(
    system: &mut System,
    start: &Motion,
    end: &mut Motion,
    report: &mut OverlapReport,
) -> Result<(), Error> {
    let System {
        model,
        evaluation,
        assembler,
        sleep,
        contacts,
        corrections,
        ..
    } = system;
    let p = &mut corrections.behind;
    let Motion {
        state,
        contacts: memory,
        sleep: sleepers,
        ..
    } = end;
    let Some(solved) = p.extended.system() else {
        return Ok(());
    };
    let base_rows = assembler.system().m();
    let before = model.energies(state).potential;
    let mut trials = 0;
    let (lifted, paid) = loop {
        for node in model.nodes() {
            let Some(first) = node.first_dof() else { continue };
            let step = &p.solution.x[first..first + node.velocity_range().len()];
            node.space
                .retract(&mut state.positions[node.position_range()], step);
        }
        sleep.hold_positions(model, sleepers, &start.state, state);
        evaluation.propagate(model, state)?;
        let lifted = model.energies(state).potential - before;
        let correction = Correction {
            system: solved,
            base_rows,
            mu: &p.solution.mu,
            displacement: &p.solution.x,
            lifted,
        };
        let paid = p.compensation.apportion(correction, model, evaluation, state);
        let Some(margin) = p.margin else {
            break (lifted, paid);
        };
        let new = lifted - paid;
        let left = margin.max(0.0);
        let rounding = 1e-9 * lifted.abs() + 4.0 * f64::EPSILON * before.abs();
        // After the last trial nothing was moved at all.
        if new <= left + rounding || trials > SHARES {
            p.margin = Some(margin - new);
            break (lifted, paid);
        }
        if trials == 0 {
            report.held_back = report.held_back.max(new - left);
        }
        if trials < SHARES {
            p.compensation.shorten(&mut p.solution.x, left, new);
        } else {
            p.solution.x.fill(0.0);
        }
        trials += 1;
        state.positions.clone_from(&p.resting.positions);
    };
    report.lifted += lifted;
    report.paid += paid;
    p.compensation.apply(solved, model, evaluation, state)?;
    if let (Some(c), Some(memory)) = (contacts, memory) {
        let contacts = hard(&memory.list, &c.detection.guards);
        if let Some(sides) = p.lifter(contacts, base_rows, lifted) {
            report.lifted_by = Some(sides);
        }
    }
    Ok(())
}
