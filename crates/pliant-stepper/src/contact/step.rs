//! The contacts of a step, stage by stage: functions of a system and a motion. Systems without
//! contacts pass them all.

use super::held::HeldElements;
use super::observed::StageTime;
use super::rows::RowSystem;
use super::solve::Unknowns;
use super::{
    Base, Bounce, ContactFinder, ContactIterate, ContactMemory, ContactOptions, Contacts, FrictionCoupling,
    Impacts, Meeting, Observation, Restitution, Search, Solved, StageMotion, StoredPair,
};
use crate::motion::{AutomaticMemory, SolverMemory};
use crate::system::System;
use crate::{Error, Motion, StepReport};
use pliant_kkt::Scheme;
use pliant_model::ModelError;
use pliant_solvers::complementarity::IslandMemory;
use pliant_solvers::{KktSystem, Solution, SolveError, SolveReport};
use std::collections::BTreeMap;

pub(crate) use super::missed::Way;
pub(crate) use super::penetration::{Ends, find_at_end, recover_overlap};
pub(crate) use super::stages::record_stage;
pub(crate) use super::turn::{Expected, Turn, turn, turn_back};

/// Gives a system a source of contacts, and a motion the memory of it.
///
/// # Errors
/// The reason why the finder cannot find contacts in this model.
pub fn set_finder(
    system: &mut System,
    motion: &mut Motion,
    mut finder: Box<dyn ContactFinder>,
) -> Result<(), Error> {
    finder.begin(&system.model)?;
    let mut contacts = Contacts::new(finder);
    contacts.detection.source.held = HeldElements::find(system);
    let mut memory = ContactMemory::default();
    contacts.detection.source.save(&mut memory);
    system.contacts = Some(Box::new(contacts));
    motion.contacts = Some(memory);
    Ok(())
}

/// Finds anew what hard rows hold for good, after some of them were released.
pub fn find_held(system: &mut System) {
    if system.contacts.is_none() {
        return;
    }
    let held = HeldElements::find(system);
    if let Some(contacts) = &mut system.contacts {
        contacts.detection.source.held = held;
    }
}

/// Whether the present step has contacts.
pub(crate) fn is_in_contact(system: &System) -> bool {
    listed(system).is_some()
}

/// The contacts of the system, if the present step has any.
pub(crate) fn listed(system: &System) -> Option<&Contacts> {
    let contacts = system.contacts.as_deref();
    contacts.filter(|c| !c.detection.list.is_empty())
}

/// The system of the step, with the rows of contacts if there are any, and its solution, as the
/// formulation has it.
pub(crate) fn whole_system(system: &System) -> (&KktSystem, &Solution) {
    let rows = listed(system).map(|c| &c.rows);
    let extended = rows.and_then(RowSystem::system);
    let solution = rows.map_or(&system.solution, |rows| &rows.solution);
    (extended.unwrap_or_else(|| system.assembler.system()), solution)
}

/// A step begins whose missed contacts are not known yet.
pub fn begin(system: &mut System) {
    system.corrections.behind.begin();
    if let Some(c) = &mut system.contacts {
        c.detection.begin();
        c.rows.solver.begin();
    }
}

/// Takes the contacts that the search missed into those of the step, which is to be taken again;
/// whether it may be.
pub fn take_missed(system: &mut System) -> bool {
    let contacts = system.contacts.as_mut();
    contacts.is_some_and(|c| {
        c.turned.go_back(&mut c.detection);
        c.detection.take_missed()
    })
}

/// The contacts of a system, and the other parts that their stages read and write.
pub(super) struct Parts<'a> {
    pub(super) contacts: &'a mut Contacts,
    pub(super) base: Base<'a>,
    unknowns: Unknowns<'a>,
}

impl<'a> Parts<'a> {
    /// Parts of a system that is filled, or to be filled, at a motion; none if it has no contacts.
    pub(super) fn of(system: &'a mut System, motion: &'a Motion, scheme: &'a Scheme) -> Option<Self> {
        let System {
            model,
            options,
            assembler,
            scratch,
            solution,
            change,
            contacts,
            ..
        } = system;
        Some(Self {
            contacts: contacts.as_deref_mut()?,
            base: Base {
                model,
                assembler,
                motion,
                options,
                scheme,
            },
            unknowns: Unknowns {
                solution,
                change,
                fixed_change: &scratch.fixed_change,
            },
        })
    }
}

/// Finds the contacts at the start of a step of length `h` (s), unless they are known.
pub(crate) fn find(system: &mut System, motion: &Motion, h: f64) -> Result<(), Error> {
    let coupling = system.options.contacts.friction_coupling;
    let found = Search::of(system, &motion.state);
    let (Some((c, search)), Some(memory)) = (found, &motion.contacts) else {
        return Ok(());
    };
    c.observed.begin(coupling, c.detection.missed.count);
    c.turned.go_back(&mut c.detection);
    c.detection.find(search, memory, h)?;
    c.rows.list_rows(search.model, &c.detection.list);
    Ok(())
}

/// Finds the contacts of a motion within `h` (s), unless they are known: it remembers them.
pub fn find_present(system: &mut System, motion: &mut Motion, h: f64) -> Result<(), Error> {
    find(system, motion, h)?;
    let (Some(c), Some(memory)) = (&mut system.contacts, &mut motion.contacts) else {
        return Ok(());
    };
    memory.list.clone_from(&c.detection.list);
    memory.horizon = c.detection.horizon;
    c.detection.stand(memory);
    Ok(())
}

/// Makes the rows of the contacts behind the filled system of the step, factors it, and takes the
/// impacts that go before the step.
pub(crate) fn prepare(system: &mut System, motion: &Motion, scheme: &Scheme) -> Result<(), Error> {
    match (Parts::of(system, motion, scheme), &motion.contacts) {
        (Some(parts), Some(memory)) => {
            let fixed_change = parts.unknowns.fixed_change;
            parts.contacts.prepare(&parts.base, memory, fixed_change)
        }
        _ => Ok(()),
    }
}

/// Solves the prepared system with its contacts, from the solution of the last solve of the step.
/// Leaves the change of velocity and the impulses of all rows in the change of the system, those of
/// the model's rows, without the change of fixed coordinates, in its solution. Where contacts have
/// no solution with their restitution, they are to have one with less, unless the step is taken in
/// halves then.
pub(crate) fn solve(
    system: &mut System,
    motion: &Motion,
    scheme: &Scheme,
    or_halves: bool,
) -> Result<SolveReport, Error> {
    let Some(mut parts) = Parts::of(system, motion, scheme) else {
        return Err(Error::Solve(SolveError::NotPrepared));
    };
    parts.contacts.solve(&parts.base, &mut parts.unknowns, or_halves)
}

/// Reads the contacts after the solves of a step.
pub(crate) fn read(system: &mut System, scheme: &Scheme) {
    let Some(c) = &mut system.contacts else {
        return;
    };
    let (rows, list) = (&mut c.rows, &c.detection.list);
    if list.is_empty() {
        rows.tail.clear();
        rows.drags.list.clear();
        rows.after.clear();
    } else {
        let m = system.assembler.system().m();
        for (r, last) in rows.given.iter_mut().zip(&system.change.mu[m..]) {
            *r += last;
        }
    }
    c.observed.read(&Solved {
        list,
        rows: &rows.rows,
        drags: &rows.drags.list,
        before: rows.tail.velocity(),
        after: &rows.after,
        impulses: &rows.given,
        h: scheme.h,
        beta: scheme.beta,
    });
}

/// Adds the impulses of contacts that were last read to those on the independent coordinates (N s,
/// N m s).
pub(crate) fn add_read_impulses(system: &System, impulses: &mut [f64]) {
    if let Some(c) = listed(system) {
        c.add_impulses(&c.rows.given, 1.0, impulses);
    }
}

/// Looks for contacts that the search missed and that bodies went through in the step that has just
/// been made.
///
/// # Errors
/// [`Error::ContactsMissed`] if there are any.
pub(crate) fn look_for_missed(
    system: &mut System,
    start: &Motion,
    end: &Motion,
    h: f64,
) -> Result<(), Error> {
    let accept_failed = system.options.accept_failed_steps;
    match Search::of(system, &end.state) {
        Some((c, search)) => c.detection.look_for_missed(search, start, h, accept_failed),
        None => Ok(()),
    }
}

/// Looks for contacts that the search missed and that bodies go through on the way to an iterate of
/// the step, whose state is that of `at`.
///
/// # Errors
/// [`Error::ContactsMissed`] if there are any.
pub(crate) fn look_for_missed_early(
    system: &mut System,
    start: &Motion,
    at: &Motion,
    way: Way,
) -> Result<(), Error> {
    match Search::of(system, &at.state) {
        Some((c, search)) => c.detection.look_for_missed_early(search, start, way),
        None => Ok(()),
    }
}

/// Looks for surfaces that pass through each other in the step that has just been made, and behind
/// it, if they are not to.
///
/// # Errors
/// [`Error::ContactsMissed`] and [`Error::SurfacesCross`] if there are any.
pub fn look_for_crossed(system: &mut System, start: &Motion, end: &Motion, h: f64) -> Result<(), Error> {
    if !system.options.contacts.intersection_free {
        return Ok(());
    }
    match Search::of(system, &end.state) {
        Some((c, search)) => {
            if start.fresh {
                let finder = c.detection.source.finder.as_mut();
                finder.check_crossings()?;
                finder.check_apart(search.model, &start.state)?;
            }
            c.detection.look_for_crossed(search, start, h)
        }
        None => Ok(()),
    }
}

/// Whether the finder of the system can keep surfaces from passing through each other, if these
/// options ask for it.
///
/// # Errors
/// Why it cannot.
pub fn check_crossings(system: &System, options: &ContactOptions) -> Result<(), Error> {
    match &system.contacts {
        Some(c) if options.intersection_free => c.detection.source.finder.check_crossings(),
        _ => Ok(()),
    }
}

/// Whether the step was tried before, with fewer contacts.
pub(crate) fn is_taken_again(system: &System) -> bool {
    let contacts = system.contacts.as_ref();
    contacts.is_some_and(|c| c.detection.is_taken_again())
}

/// Whether the contacts of the step solve their law.
///
/// # Errors
/// [`Error::ContactsNotConverged`].
pub fn check(system: &System, motion: &Motion, report: &StepReport) -> Result<(), Error> {
    let Some(c) = &system.contacts else {
        return Ok(());
    };
    let row_blocks = system.assembler.system().row_blocks().len() - 1;
    let held = super::observed::Held {
        time: motion.time,
        accuracy: system.options.contacts.accuracy,
    };
    c.observed.check(&c.detection, row_blocks, report, held)
}

/// The step, of length `h` (s), stands: its contacts are those of the past.
pub fn stand(system: &mut System, end: &mut Motion, h: f64) {
    if let (Some(c), Some(memory)) = (&mut system.contacts, &mut end.contacts) {
        c.observed.stand(memory, h);
        memory.steady = c.turned.are_steady(&c.detection, memory);
        c.detection.stand(memory);
    }
}

/// The contacts of the motions are to be found anew.
pub fn find_again<const N: usize>(system: &mut System, motions: [&mut Motion; N]) {
    if let Some(c) = &mut system.contacts {
        c.detection.forget();
    }
    for memory in motions.into_iter().filter_map(|m| m.contacts.as_mut()) {
        memory.forget_list();
    }
}

/// The contacts belong to another state now, and their forces are forgotten.
pub fn forget(system: &mut System, motion: &mut Motion) {
    if let (Some(c), Some(memory)) = (&mut system.contacts, &mut motion.contacts) {
        c.detection.forget();
        c.observed.forget();
        memory.forget();
    }
}

/// Goes back to a motion, which has its contacts again, and to what was read of them.
pub fn go_back(system: &mut System, motion: &Motion, observation: &Observation) -> Result<(), Error> {
    match (&mut system.contacts, &motion.contacts) {
        (Some(c), Some(memory)) => {
            c.observed.go_back(observation);
            c.detection.restore(memory)
        }
        _ => Ok(()),
    }
}

/// The pairs of sides whose compliant contacts store energy in a motion.
pub fn stored_pairs(motion: &Motion) -> BTreeMap<[u32; 2], StoredPair> {
    let memory = motion.contacts.as_ref();
    memory.map_or_else(BTreeMap::new, |memory| memory.list.stored_pairs())
}

/// Writes the memory of the solvers of contacts.
pub(crate) fn record_solvers(system: &System, out: &mut SolverMemory) {
    let behind = &system.corrections.behind;
    behind.record(&mut out.correction_islands, &mut out.correction_choice);
    match &system.contacts {
        Some(c) => c.rows.solver.record(&mut out.islands, &mut out.contact_choice),
        None => {
            out.islands = IslandMemory::default();
            out.contact_choice = AutomaticMemory::default();
        }
    }
}

/// Refuses a coupling of friction that does not go with the law of two sides that may meet. Cost:
/// up to a pass over all pairs of sides; a step finds it out where they touch.
///
/// # Errors
/// [`Error::FrictionCoupling`] with the two sides.
pub fn check_coupling(system: &System, options: &ContactOptions) -> Result<(), Error> {
    let [coupling, _] = options.couplings();
    let Some(c) = system
        .contacts
        .as_ref()
        .filter(|_| coupling != FrictionCoupling::Exact)
    else {
        return Ok(());
    };
    for (law, sides) in c.detection.laws() {
        if let Some(part) = law.exact_part() {
            let [a, b] = sides.map(|s| c.detection.name(s));
            let what = format!("the {part} of the contact of {a} and {b}");
            return Err(Error::FrictionCoupling { coupling, what });
        }
    }
    Ok(())
}

/// Gives the solvers of contacts a memory in place of their own.
pub(crate) fn restore_solvers(system: &mut System, memory: &SolverMemory) {
    system.corrections.behind.impose(&memory.correction_islands);
    if let Some(c) = &mut system.contacts {
        c.rows.solver.impose(&memory.islands);
    }
}

/// Lets the solvers of contacts forget what they saw of the model, of which another plan was made.
pub(crate) fn forget_choices(system: &mut System) {
    system.corrections.behind.forget_choices();
    if let Some(c) = &mut system.contacts {
        c.rows.solver.forget_choices();
    }
}

/// Gives the solvers of contacts the automatic choices of a memory.
pub(crate) fn impose_choices(system: &mut System, memory: &SolverMemory) {
    let behind = &mut system.corrections.behind;
    behind.impose_choice(&memory.correction_choice);
    if let Some(c) = &mut system.contacts {
        c.rows.solver.impose_choice(&memory.contact_choice);
    }
}

/// Goes on from the memory of a checkpoint, which the motion has.
///
/// # Errors
/// [`Error::Model`] if either it or the system has no contacts; those of the finder.
pub fn restore(system: &mut System, motion: &mut Motion) -> Result<(), Error> {
    match (&mut system.contacts, &mut motion.contacts) {
        (Some(c), Some(memory)) => {
            memory.check(&system.model)?;
            c.observed.forget();
            c.detection.restore(memory)
        }
        (None, None) => Ok(()),
        (ours, _) => Err(ModelError::State {
            what: "sources of contacts",
            expected: usize::from(ours.is_some()),
            found: usize::from(ours.is_none()),
        }
        .into()),
    }
}

/// Makes the rows of the contacts of the start of a step of Newton's method, whose state must be
/// evaluated; the impulses of the last step go into `impulses`.
pub(crate) fn start_newton(
    system: &mut System,
    motion: &Motion,
    scheme: &Scheme,
    h: f64,
    impulses: &mut Vec<f64>,
) -> Result<(), Error> {
    impulses.clear();
    if !is_in_contact(system) {
        return Ok(());
    }
    system
        .assembler
        .fill_kinematics(&system.model, &mut system.evaluation, scheme, &motion.state);
    match (Parts::of(system, motion, scheme), &motion.contacts) {
        (Some(parts), Some(memory)) => parts.contacts.start_newton(&parts.base, memory, h, impulses),
        _ => Ok(()),
    }
}

/// Takes the laws of contacts for a stage of length `h` (s), whose predictor is `ahead` (s) from
/// that of the last one along the velocities `end`.
pub(crate) fn take_stage(
    system: &mut System,
    motion: &Motion,
    scheme: &Scheme,
    h: f64,
    end: &[f64],
    ahead: f64,
) {
    if is_in_contact(system)
        && let Some(Parts { contacts, base, .. }) = Parts::of(system, motion, scheme)
    {
        contacts.take_stage(&base, h, end, ahead);
    }
}

/// Whether impacts among the contacts of the step go before it: one after the other, or by
/// Poisson's law. Without restitution these are those of Newton's law at once.
pub(crate) fn takes_impacts_before_steps(system: &System) -> bool {
    let options = &system.options.contacts;
    let is_before = options.restitution == Restitution::Poisson || options.impacts == Impacts::InSequence;
    is_before && listed(system).is_some_and(Contacts::bounces)
}

/// Whether the step began with the impacts of its contacts.
pub(crate) fn has_taken_impacts(system: &System) -> bool {
    listed(system).is_some_and(|c| c.rows.bounced)
}

/// The contacts among which one of these impulses at the end of a stage is that of an impact; these
/// by their places, in `struck`.
pub(crate) fn find_impact(
    system: &mut System,
    impulses: &[f64],
    motion: StageMotion<'_>,
    struck: &mut Vec<usize>,
) -> Option<Meeting> {
    struck.clear();
    let base_rows = system.model.row_count();
    let contacts = system.contacts.as_mut()?;
    contacts.find_impact(impulses, base_rows, motion, struck)
}

/// Finds the contacts that bear by the impulses of the first stage and leave at the velocities `end`
/// of the second though they came in, by their places, into `struck`.
pub(crate) fn find_rebounds(system: &mut System, first: &[f64], end: &[f64], struck: &mut Vec<usize>) {
    struck.clear();
    let base_rows = system.model.row_count();
    if let Some(contacts) = &mut system.contacts {
        contacts.find_rebounds(first, base_rows, end, struck);
    }
}

/// Whether the impulses of an iterate that is no solution yet have an impact among them all the
/// same.
pub(crate) fn has_certain_impact(system: &System, impulses: &[f64]) -> bool {
    listed(system).is_some_and(|c| c.has_certain_impact(impulses, system.model.row_count()))
}

/// Makes the system at an iterate with the rows of the contacts, factored.
pub(crate) fn prepare_newton(
    system: &mut System,
    motion: &Motion,
    scheme: &Scheme,
    at: ContactIterate<'_>,
) -> Result<(), Error> {
    let Some(Parts { contacts, base, .. }) = Parts::of(system, motion, scheme) else {
        return Ok(());
    };
    contacts.fill_iterate(&base, at)?;
    contacts.prepare_iterate(&base)
}

/// Lets the contacts of the next iterates miss their laws by so much of the largest velocity
/// without impulses, where only costly methods would bring them closer.
pub(crate) fn set_accuracy(system: &mut System, most: f64) {
    if let Some(c) = &mut system.contacts {
        c.set_accuracy(&system.options, most);
    }
}

/// Whether the contacts of the last iterate hold their laws as well as at the end of a step.
pub(crate) fn is_accurate(system: &System) -> bool {
    listed(system).is_none_or(|c| c.is_accurate(&system.options))
}

/// Finds the scales of the rows of contacts, for the merit.
pub(crate) fn weigh_newton(
    system: &mut System,
    motion: &Motion,
    scheme: &Scheme,
    at: ContactIterate<'_>,
) -> Result<(), Error> {
    if !is_in_contact(system) {
        return Ok(());
    }
    let Some(Parts { contacts, base, .. }) = Parts::of(system, motion, scheme) else {
        return Ok(());
    };
    let filled = contacts.fill_iterate(&base, at);
    contacts.weigh(base.system().m());
    filled
}

/// Sum of the squares of what the contacts miss their laws by, as velocities beyond the residual
/// of their last solve.
pub(crate) fn merit(system: &mut System, at: ContactIterate<'_>) -> f64 {
    match &mut system.contacts {
        Some(c) if !c.detection.list.is_empty() => c.merit(at, &system.options),
        _ => 0.0,
    }
}

/// Solves the prepared system of an iterate; the impulses of the model's rows go into the solution
/// of the system, those of the contacts into `out`.
pub(crate) fn solve_newton(
    system: &mut System,
    motion: &Motion,
    scheme: &Scheme,
    at: ContactIterate<'_>,
    out: &mut Vec<f64>,
) -> Result<SolveReport, Error> {
    if is_in_contact(system)
        && let Some(parts) = Parts::of(system, motion, scheme)
    {
        let solution = parts.unknowns.solution;
        return parts.contacts.solve_iterate(&parts.base, at, solution, out);
    }
    let solved = system
        .solver
        .solve(system.assembler.system(), &mut system.solution);
    solved.map_err(|e| Error::from_solver(e, &system.model, motion.time))
}

/// How contacts came out of the last solve of an iterate with their restitution.
pub(crate) fn bounce(system: &mut System, at: ContactIterate<'_>) -> Bounce {
    match &mut system.contacts {
        Some(c) if !c.detection.list.is_empty() => c.bounce_of_iterate(at, &system.options),
        _ => Bounce::Good,
    }
}

/// Takes the laws of the contacts with a share of their restitution.
pub(crate) fn share_restitution(system: &mut System, motion: &Motion, scheme: &Scheme, share: f64) {
    if let Some(Parts { contacts, base, .. }) = Parts::of(system, motion, scheme) {
        contacts.take_laws(&base, scheme.h, share);
        contacts.observed.report_mut().restitution = share;
    }
}

/// Forgets the work of contacts in the stages of a step that failed before its end.
pub(crate) fn forget_stages(system: &mut System) {
    if let Some(contacts) = &mut system.contacts {
        contacts.forget_stages();
    }
}

/// Enters the work of contacts in a stage, whose impulses are those of the time `reach` (s), for
/// the time `counts` (s).
pub(crate) fn tally_stage(system: &mut System, at: ContactIterate<'_>, counts: f64, reach: f64) {
    if let Some(contacts) = &mut system.contacts {
        contacts.tally_stage(at, StageTime { counts, reach });
    }
}

/// Reads the contacts after the last iteration of a step of length `h` (s).
pub(crate) fn read_newton(
    system: &mut System,
    motion: &Motion,
    scheme: &Scheme,
    at: ContactIterate<'_>,
    h: f64,
) {
    if let Some(Parts { contacts, base, .. }) = Parts::of(system, motion, scheme) {
        contacts.read_iterate(&base, at, h);
    }
}
