//! Contacts in the step: found, made rows, solved, judged, read.

use super::Simulation;
use crate::contact::{
    Contact, ContactEvent, ContactFinder, ContactKey, ContactList, ContactReading, ContactState,
    ContactsReport, Overlap,
};
use crate::{Checkpoint, Error};
use pliant_dense::{Vec3, rotation};
use pliant_kkt::{Extended, Formulation, Quantity, Support, Tail};
use pliant_model::{NodeId, Space};
use pliant_solvers::complementarity::{AutoOptions, Cone, IslandSolver, Limits, Outcome, ProblemError};
use pliant_solvers::{Solution, SolveReport, Status};

/// Share of the velocity of a contact below which it does not slip (rounding of its solve).
const AT_REST: f64 = 1e-6;

/// Share of the largest friction by which that of a contact that slips may be off (rounding of its solve).
const ON_CONE: f64 = 1e-3;

/// Everything about contacts that a simulation holds.
#[derive(Debug)]
pub(super) struct Contacts {
    pub(super) finder: Box<dyn ContactFinder>,
    pub(super) nodes: Vec<NodeId>,
    /// Contacts at the start of the step, and for which horizon they were found; none if they are to be found.
    list: ContactList,
    horizon: Option<f64>,
    /// Contacts at its end.
    next: ContactList,
    next_horizon: f64,
    /// Length of the last step (s).
    step: f64,
    /// Axes and rows of the listed contacts.
    axes: Vec<[[f64; 3]; 3]>,
    spins: Vec<SpinRow>,
    tail: Tail,
    cones: Vec<Option<Cone>>,
    extended: Extended,
    solver: IslandSolver,
    solution: Solution,
    /// Velocities of the rows at the end of the step.
    after: Vec<f64>,
    /// Average force and torque over the last step in the world (N, N m), by key, ascending.
    forces: Vec<(ContactKey, [f64; 6])>,
    forces_now: Vec<(ContactKey, [f64; 6])>,
    readings: Vec<ContactReading>,
    events: Vec<ContactEvent>,
    pub(super) report: ContactsReport,
    outcome: Outcome,
    worst: usize,
    /// Of the correction of overlap.
    correction_tail: Tail,
    correction_cones: Vec<Option<Cone>>,
    correction_system: Extended,
    correction_solver: IslandSolver,
    correction: Solution,
    /// Memory of the finder before the step's last search.
    memory: Vec<u64>,
}

/// What contacts remember, as plain values.
#[derive(Clone, Debug, PartialEq)]
pub struct ContactMemory {
    pub(super) list: Option<(ContactList, f64)>,
    pub(super) forces: Vec<(ContactKey, [f64; 6])>,
    pub(super) finder: Vec<u64>,
}

/// Two tangents that make an orthonormal frame with a unit normal, without a jump where the normal turns slowly but near one pole.
fn frame(normal: [f64; 3]) -> [[f64; 3]; 3] {
    let [x, y, z] = normal;
    // Duff et al., Building an orthonormal basis, revisited, 2017.
    let sign = 1f64.copysign(z);
    let a = -1.0 / (sign + z);
    let b = x * y * a;
    [
        normal,
        [1.0 + sign * x * x * a, sign * b, -sign * x],
        [b, sign + y * y * a, -y],
    ]
}

/// Rows of the point, then those of the spin.
fn rows_of(contact: &Contact) -> (usize, usize) {
    let law = &contact.law;
    let spin = usize::from(law.torsion > 0.0) + 2 * usize::from(law.rolling > 0.0);
    (if law.friction > 0.0 { 3 } else { 1 }, spin)
}

/// A row whose impulse is bounded by that of a contact's normal.
#[derive(Clone, Copy, Debug)]
struct SpinRow {
    /// Its row block, and its row and that of the normal among the contact rows.
    block: usize,
    row: usize,
    normal: usize,
    /// Torque per force (m).
    arm: f64,
    axis: [f64; 3],
    contact: usize,
}

/// Rounds of corrections of overlap: turning a body may bring others of its corners down.
const CORRECTIONS: usize = 5;

/// Rounds in which bounds of spin rows follow the normal impulses, and the share of the largest by which they may be off.
const SPIN_ROUNDS: usize = 50;
const SPIN_TOLERANCE: f64 = 1e-10;

fn check(contact: &Contact) -> Result<(), Error> {
    let law = &contact.law;
    let at_least = |what, value: f64, fine: bool, bound| {
        if fine {
            Ok(())
        } else {
            Err(Error::OutOfRange { what, value, bound })
        }
    };
    let length = Vec3::from(contact.normal).norm();
    at_least(
        "the length of a contact normal",
        length,
        (length - 1.0).abs() < 1e-9,
        "one",
    )?;
    at_least(
        "the gap of a contact",
        contact.gap,
        contact.gap.is_finite(),
        "finite",
    )?;
    let bound = "finite and not negative";
    for (what, value) in [
        ("the friction of a contact", law.friction),
        ("the compliance of a contact", law.compliance),
        ("the relaxation time of a contact", law.relaxation_time),
        ("the torsion of a contact", law.torsion),
        ("the rolling resistance of a contact", law.rolling),
    ] {
        at_least(what, value, value.is_finite() && value >= 0.0, bound)?;
    }
    let e = law.restitution;
    at_least(
        "the restitution of a contact",
        e,
        (0.0..=1.0).contains(&e),
        "between 0 and 1",
    )
}

impl Contacts {
    pub(super) fn new(finder: Box<dyn ContactFinder>) -> Self {
        Self {
            nodes: finder.nodes(),
            finder,
            list: ContactList::default(),
            horizon: None,
            next: ContactList::default(),
            next_horizon: 0.0,
            step: 1.0,
            axes: Vec::new(),
            spins: Vec::new(),
            tail: Tail::default(),
            cones: Vec::new(),
            extended: Extended::default(),
            solver: IslandSolver::default(),
            solution: Solution::default(),
            after: Vec::new(),
            forces: Vec::new(),
            forces_now: Vec::new(),
            readings: Vec::new(),
            events: Vec::new(),
            report: ContactsReport::default(),
            outcome: Outcome::Converged,
            worst: 0,
            correction_tail: Tail::default(),
            correction_cones: Vec::new(),
            correction_system: Extended::default(),
            correction_solver: IslandSolver::default(),
            correction: Solution::default(),
            memory: Vec::new(),
        }
    }

    /// The contacts belong to another state now, and their forces are forgotten.
    pub(super) fn forget(&mut self) {
        self.horizon = None;
        self.forces.clear();
        self.readings.clear();
        self.events.clear();
    }

    /// Right-hand sides and compliances of the rows in the velocity-change form (docs/notation.md), with a share of restitution.
    fn fill_laws(&mut self, h: f64, beta: f64, overlap: Overlap, share: f64) {
        let mut row = 0;
        for contact in self.list.contacts() {
            let u = self.tail.velocity()[row];
            let (gap, law) = (contact.gap, &contact.law);
            let e = share * law.restitution;
            let (b, r) = if law.compliance > 0.0 {
                let l = h * beta + law.relaxation_time;
                (
                    (gap + (law.relaxation_time + h) * u) / l,
                    law.compliance / (h * l),
                )
            } else if gap > 0.0 {
                // An impact within the step is taken at its start where there is a law of impact; else the gap may just close.
                let impact = e > 0.0 && gap + h * u < 0.0;
                (
                    if impact {
                        (1.0 + e) * u
                    } else {
                        (gap / h + u) / beta
                    },
                    0.0,
                )
            } else {
                let recovery = match overlap {
                    Overlap::Rows { rate, speed } => (-rate * gap).min(speed),
                    _ => 0.0,
                };
                ((1.0 + e) * u - recovery, 0.0)
            };
            self.tail.b[row] = b;
            self.tail.r[row] = r;
            let (rows, spin) = rows_of(contact);
            for k in 1..rows + spin {
                self.tail.b[row + k] = self.tail.velocity()[row + k];
                self.tail.r[row + k] = 0.0;
            }
            row += rows + spin;
        }
    }

    /// Bounds the spin rows by the normal impulses of the solution; returns by how much of the largest bound one changed.
    fn bound_spins(&mut self, base_rows: usize) -> f64 {
        let impulses = &self.solution.mu[base_rows..];
        let (mut change, mut size) = (0.0f64, 0.0f64);
        for s in &self.spins {
            let bound = s.arm * impulses[s.normal].max(0.0);
            if let Some(Cone::Box { upper, .. }) = self.cones[s.block] {
                change = change.max((bound - upper).abs());
                size = size.max(bound).max(upper);
            }
            self.cones[s.block] = Some(Cone::Box {
                lower: -bound,
                upper: bound,
            });
        }
        if size > 0.0 { change / size } else { 0.0 }
    }

    /// Energy that the impulses add to the motion without them, `r . u+ - r . A r / 2` (J), of a solution in impulses and changes of velocity. With one
    /// coefficient of restitution for all it is not positive. `free` are velocities in the problem's unit times `unit`.
    fn gain(&self, impulses: &[f64], unit: f64) -> f64 {
        let free = self.solver.free_velocities();
        let free = &free[free.len() - impulses.len()..];
        let mut gain = 0.0;
        for (k, r) in impulses.iter().enumerate() {
            let start = self.tail.velocity()[k];
            let w = self.after[k] - start + self.tail.r[k] * r + self.tail.b[k];
            gain += r * (self.after[k] - 0.5 * (w - unit * free[k]));
        }
        gain
    }

    /// Sum of `|r u|` that the gain is compared with.
    fn exchanged(&self, impulses: &[f64]) -> f64 {
        let velocities = self.tail.velocity().iter().zip(&self.after);
        let sums = impulses.iter().zip(velocities);
        sums.map(|(r, (u, v))| r.abs() * (u.abs() + v.abs())).sum()
    }

    /// Reads impulses and velocities of the contacts, in impulses per step `h`.
    fn read(&mut self, impulses: &[f64], h: f64) {
        self.readings.clear();
        self.forces_now.clear();
        let mut row = 0;
        let (mut active, mut slipping, mut work, mut next_spin) = (0, 0, 0.0, 0);
        for (i, contact) in self.list.contacts().iter().enumerate() {
            let (points, spin) = rows_of(contact);
            let rows = row..row + points;
            row += points + spin;
            let (mut impulse, mut velocity, mut torque) = (Vec3::zeros(), Vec3::zeros(), Vec3::zeros());
            while let Some(s) = self.spins.get(next_spin).filter(|s| s.contact == i) {
                torque += impulses[s.row] * Vec3::from(s.axis);
                work += 0.5 * impulses[s.row] * (self.tail.velocity()[s.row] + self.after[s.row]);
                next_spin += 1;
            }
            for (k, axis) in rows.clone().zip(&self.axes[i]) {
                impulse += impulses[k] * Vec3::from(*axis);
                velocity += self.after[k] * Vec3::from(*axis);
                work += 0.5 * impulses[k] * (self.tail.velocity()[k] + self.after[k]);
            }
            let normal = Vec3::from(contact.normal);
            let slip = (velocity - normal * normal.dot(&velocity)).norm();
            let start = &self.tail.velocity()[rows];
            let size = start.iter().fold(0.0f64, |a, u| a.max(u.abs()));
            // Within the cone nothing slips, whatever rounding leaves of the velocity.
            let along = impulse.dot(&normal);
            let across = (impulse - normal * along).norm();
            let on_cone = across >= (1.0 - ON_CONE) * contact.law.friction * along;
            let state = if along <= 0.0 {
                ContactState::Open
            } else if contact.law.friction == 0.0
                || on_cone && slip > AT_REST * size.max(self.report.velocity_residual)
            {
                ContactState::Slipping
            } else {
                ContactState::Sticking
            };
            active += usize::from(state != ContactState::Open);
            slipping += usize::from(state == ContactState::Slipping);
            if state != ContactState::Open {
                let [f, t] = [impulse / h, torque / h];
                self.forces_now
                    .push((contact.key, [f.x, f.y, f.z, t.x, t.y, t.z]));
            }
            self.readings.push(ContactReading {
                contact: *contact,
                impulse: impulse.into(),
                torque_impulse: torque.into(),
                velocity: velocity.into(),
                state,
            });
        }
        self.forces_now.sort_unstable_by_key(|f| f.0);
        self.report.count = self.list.len();
        self.report.active = active;
        self.report.slipping = slipping;
        self.report.work = work;
    }
}

/// A complementarity error in the model's words.
fn in_words(error: ProblemError, simulation: &Simulation) -> Error {
    match error {
        ProblemError::Bilateral(e) => Error::from_solver(e, &simulation.model, simulation.time),
        other => Error::Contacts(other),
    }
}

impl Simulation {
    /// Gives the simulation a source of contacts, instead of the one it had; plans the system anew.
    ///
    /// # Errors
    /// As [`Simulation::new`].
    pub fn set_contacts(&mut self, finder: impl ContactFinder + 'static) -> Result<(), Error> {
        self.contacts = Some(Box::new(Contacts::new(Box::new(finder))));
        let rows = self.model.row_groups().to_vec();
        self.plan_anew(&rows)
    }

    /// Takes the source of contacts away.
    pub fn remove_contacts(&mut self) {
        self.contacts = None;
    }

    /// The contacts of the last step, in the order of the finder.
    pub fn contacts(&self) -> &[ContactReading] {
        self.contacts.as_ref().map_or(&[], |c| &c.readings)
    }

    /// The complementarity problem of the island whose contacts had the largest residual in the last step that was tried, to be looked at or
    /// written to a file (`pliant_solvers::exchange`).
    pub fn contact_problem(&self) -> Option<&pliant_solvers::complementarity::Problem> {
        self.contacts.as_ref()?.solver.worst_problem()
    }

    /// Which contacts began and which ended to carry an impulse in the last step, by key.
    pub fn contact_events(&self) -> &[ContactEvent] {
        self.contacts.as_ref().map_or(&[], |c| &c.events)
    }

    /// Sum of the contacts of the last step on one element of a node: average force (N) and torque about its position (N m; zero for points), in
    /// world axes.
    pub fn contact_force(&self, node: NodeId, element: usize) -> ([f64; 3], [f64; 3]) {
        let (mut force, mut torque) = (Vec3::zeros(), Vec3::zeros());
        // The contacts of the last step have made room for those of its end.
        let step = self
            .contacts
            .as_ref()
            .filter(|c| c.readings.len() == c.next.len());
        for (c, (i, reading)) in step
            .iter()
            .flat_map(|c| c.readings.iter().enumerate().map(move |r| (c, r)))
        {
            for s in c.next.supports(i) {
                if s.node == node && s.element == element {
                    let f = s.weight / c.step * Vec3::from(reading.impulse);
                    force += f;
                    if self.model.node(node).space == Space::Rigid3 {
                        let own = s.weight / c.step * Vec3::from(reading.torque_impulse);
                        torque += Vec3::from(s.arm).cross(&f) + own;
                    }
                }
            }
        }
        (force.into(), torque.into())
    }

    /// Name of one side of a contact.
    pub fn contact_side(&self, side: u32) -> String {
        self.contacts
            .as_ref()
            .map_or_else(String::new, |c| c.finder.name(side))
    }

    /// The solution of the step with the impulses of contacts, as the formulation has it.
    pub(super) fn contact_solution(&self) -> Option<&Solution> {
        let c = self.contacts.as_ref().filter(|c| !c.list.is_empty());
        c.map(|c| &c.solution)
    }

    /// Whether the present step has contacts.
    pub(super) fn in_contact(&self) -> bool {
        self.contacts.as_ref().is_some_and(|c| !c.list.is_empty())
    }

    /// The system of the step, with the rows of contacts if there are any.
    pub(super) fn whole_system(&self) -> &pliant_solvers::KktSystem {
        let extended = self.contacts.as_ref().filter(|c| !c.list.is_empty());
        let extended = extended.and_then(|c| c.extended.system());
        extended.unwrap_or_else(|| self.assembler.system())
    }

    /// Finds the contacts of the present state, unless they are known.
    pub(super) fn find_contacts(&mut self, h: f64) -> Result<(), Error> {
        let Some(c) = &mut self.contacts else {
            return Ok(());
        };
        c.report = ContactsReport::default();
        c.outcome = Outcome::Converged;
        if c.horizon.is_none_or(|horizon| horizon < h) {
            c.horizon = None;
            c.list.clear();
            c.finder.find(&self.model, &self.state, h, &mut c.list)?;
            c.list.contacts().iter().try_for_each(check)?;
            c.horizon = Some(h);
        }
        c.axes.clear();
        c.axes.extend(c.list.contacts().iter().map(|c| frame(c.normal)));
        Ok(())
    }

    /// Finds the contacts at the end of the step and takes overlap back, if that is asked for.
    pub(super) fn find_contacts_after(&mut self, h: f64) -> Result<(), Error> {
        let Some(mut c) = self.contacts.take() else {
            return Ok(());
        };
        c.memory.clear();
        c.finder.save(&mut c.memory);
        let found = self.search_and_correct(&mut c, h);
        self.contacts = Some(c);
        found
    }

    fn search_and_correct(&mut self, c: &mut Contacts, h: f64) -> Result<(), Error> {
        let overlap = |list: &ContactList| list.contacts().iter().fold(0.0f64, |a, c| a.max(-c.gap));
        let search = |c: &mut Contacts, s: &Simulation| {
            c.next.clear();
            c.finder.find(&s.model, &s.state, h, &mut c.next)?;
            c.next.contacts().iter().try_for_each(check)
        };
        search(c, self)?;
        c.next_horizon = h;
        if let Overlap::Correct { allowed, speed } = self.options.contacts.overlap {
            let deep = |c: &Contact| c.law.compliance == 0.0 && c.gap < -allowed;
            let mut most = h * speed;
            while c.report.corrections < CORRECTIONS
                && (c.next.contacts().iter()).any(|c| deep(c) && (most > 0.0 || c.gap >= -h * speed))
            {
                self.correct_overlap(c, h * speed, most)?;
                search(c, self)?;
                c.report.corrections += 1;
                // What is deeper has had its share in the first round, and is not to sink.
                most = 0.0;
            }
        }
        c.report.overlap = overlap(&c.next);
        Ok(())
    }

    /// `min |dx|_M^2/2` subject to `J dx = -phi` on the hard rows and `N dx >= -phi` on the hard contacts; those deeper than `shallow` (m)
    /// recover by `most`.
    fn correct_overlap(&mut self, c: &mut Contacts, shallow: f64, most: f64) -> Result<(), Error> {
        self.evaluation.evaluate(&self.model, &self.state)?;
        self.fill_correction(pliant_kkt::Metric::Mass);
        c.correction_tail.clear();
        for (i, contact) in c.next.contacts().iter().enumerate() {
            if contact.law.compliance == 0.0 {
                let rows = c
                    .correction_tail
                    .push(Quantity::Velocity, &[contact.normal], c.next.supports(i));
                let deep = contact.gap < -shallow;
                c.correction_tail.b[rows.start] = if deep { -most } else { contact.gap };
            }
        }
        self.assembler
            .project(&self.model, &self.state, &mut c.correction_tail)?;
        let base = self.assembler.system();
        c.correction_cones.clear();
        c.correction_cones.resize(base.row_blocks().len() - 1, None);
        c.correction_cones.extend(std::iter::repeat_n(
            Some(Cone::NonNegative),
            c.correction_tail.rows(),
        ));
        c.correction_system.fill(
            base,
            (&self.model, &self.state),
            (Formulation::VelocityChange, self.scheme.h),
            &[],
            &c.correction_tail,
        )?;
        let Some(system) = c.correction_system.system() else {
            return Ok(());
        };
        c.correction_solver.options = self.auto_options();
        c.correction_solver.bounds.direct = self.options.solver;
        let words = |e| in_words(e, self);
        c.correction_solver
            .prepare(system, &c.correction_cones)
            .map_err(words)?;
        c.correction.mu.clear();
        let found = c
            .correction_solver
            .solve(system, &mut c.correction)
            .map_err(words)?;
        if found.outcome != Outcome::Converged && !self.options.accept_failed_steps {
            return Err(Error::CorrectionNotConverged {
                time: self.time,
                residual: found.residual.measure(),
            });
        }
        for node in self.model.nodes() {
            let Some(first) = node.first_dof() else { continue };
            let step = &c.correction.x[first..first + node.velocity_range().len()];
            node.space
                .retract(&mut self.state.positions[node.position_range()], step);
        }
        self.evaluation.propagate(&self.model, &mut self.state)?;
        Ok(())
    }

    fn auto_options(&self) -> AutoOptions {
        let options = &self.options.contacts;
        AutoOptions {
            limits: Limits {
                tolerance: options.tolerance,
                max_iterations: options.max_iterations,
                ..Limits::default()
            },
            ..AutoOptions::default()
        }
    }

    /// Rows of the contacts behind the filled system, factored.
    pub(super) fn prepare_contacts(&mut self) -> Result<(), Error> {
        let Some(mut c) = self.contacts.take() else {
            return Ok(());
        };
        let prepared = self.fill_contacts(&mut c);
        self.contacts = Some(c);
        prepared
    }

    fn fill_contacts(&mut self, c: &mut Contacts) -> Result<(), Error> {
        let (h, beta) = (self.scheme.h, self.scheme.beta);
        c.tail.clear();
        let base = self.assembler.system();
        c.cones.clear();
        c.cones.resize(base.row_blocks().len() - 1, None);
        c.spins.clear();
        for (i, contact) in c.list.contacts().iter().enumerate() {
            let ((rows, spin), supports) = (rows_of(contact), c.list.supports(i));
            let normal = c
                .tail
                .push(Quantity::Velocity, &c.axes[i][..rows], supports)
                .start;
            let mu = contact.law.friction;
            c.cones.push(Some(if rows == 3 {
                Cone::Coulomb { mu }
            } else {
                Cone::NonNegative
            }));
            if spin == 0 {
                continue;
            }
            let about = self.rolling_axes(contact, supports);
            let law = &contact.law;
            let wanted = [
                (law.torsion, contact.normal),
                (law.rolling, about[0]),
                (law.rolling, about[1]),
            ];
            for (arm, axis) in wanted.into_iter().filter(|(arm, _)| *arm > 0.0) {
                let row = c.tail.push(Quantity::Spin, &[axis], supports).start;
                c.spins.push(SpinRow {
                    block: c.cones.len(),
                    row,
                    normal,
                    arm,
                    axis,
                    contact: i,
                });
                let (lower, upper) = (0.0, 0.0);
                c.cones.push(Some(Cone::Box { lower, upper }));
            }
        }
        self.assembler.project(&self.model, &self.state, &mut c.tail)?;
        c.report.restitution = 1.0;
        c.fill_laws(h, beta, self.options.contacts.overlap, 1.0);
        self.fill_extended(c)?;
        // The start: forces of the last step.
        let per_force = self.per_force(h);
        c.solution.mu.clear();
        c.solution
            .mu
            .extend(self.multipliers.iter().map(|l| l * per_force));
        let mut next_spin = 0;
        for (i, contact) in c.list.contacts().iter().enumerate() {
            let at = c.forces.binary_search_by_key(&contact.key, |f| f.0);
            let [x, y, z, tx, ty, tz] = at.map_or([0.0; 6], |at| c.forces[at].1);
            let (force, torque) = (Vec3::new(x, y, z), Vec3::new(tx, ty, tz));
            let rows = &c.axes[i][..rows_of(contact).0];
            c.solution
                .mu
                .extend(rows.iter().map(|a| per_force * force.dot(&Vec3::from(*a))));
            while let Some(s) = c.spins.get(next_spin).filter(|s| s.contact == i) {
                c.solution.mu.push(per_force * torque.dot(&Vec3::from(s.axis)));
                next_spin += 1;
            }
        }
        c.bound_spins(self.assembler.system().m());
        c.solver.options = self.auto_options();
        c.solver.bounds = self.options.bounds;
        c.solver.bounds.direct = self.options.solver;
        let Some(system) = c.extended.system() else {
            return Ok(());
        };
        c.solver
            .prepare(system, &c.cones)
            .map_err(|e| in_words(e, self))?;
        Ok(())
    }

    /// Two unit vectors along the surfaces: that of the rolling, if they roll, and the one across.
    fn rolling_axes(&self, contact: &Contact, supports: &[Support]) -> [[f64; 3]; 2] {
        let mut spin = Vec3::zeros();
        for s in supports {
            let node = self.model.node(s.node);
            if node.space == Space::Rigid3 {
                let x = &self.state.positions[node.first_position + 7 * s.element..][..7];
                let w = &self.state.velocities[node.first_velocity + 6 * s.element + 3..][..3];
                let turn = [x[3], x[4], x[5], x[6]];
                spin += s.weight * rotation::rotate(turn, Vec3::new(w[0], w[1], w[2]));
            }
        }
        let normal = Vec3::from(contact.normal);
        let size = spin.norm();
        spin -= normal * normal.dot(&spin);
        // Below, it is rounding of the spin about the normal.
        if spin.norm() <= 1e-9 * size {
            let [_, a, b] = frame(contact.normal);
            return [a, b];
        }
        let first = spin.normalize();
        [first.into(), normal.cross(&first).into()]
    }

    fn fill_extended(&self, c: &mut Contacts) -> Result<(), Error> {
        c.extended.fill(
            self.assembler.system(),
            (&self.model, &self.state),
            (self.scheme.formulation, self.scheme.h),
            &self.fixed_change,
            &c.tail,
        )?;
        Ok(())
    }

    /// Solves the prepared system with its contacts, from what the last solve of the step found.
    pub(super) fn solve_contacts(&mut self) -> Result<SolveReport, Error> {
        let Some(mut c) = self.contacts.take() else {
            return Err(Error::Solve(pliant_solvers::SolveError::NotPrepared));
        };
        let solved = self.solve_with_restitution(&mut c);
        self.contacts = Some(c);
        solved
    }

    fn solve_with_restitution(&mut self, c: &mut Contacts) -> Result<SolveReport, Error> {
        let mut solved = self.solve_once(c)?;
        let bounces = c.list.contacts().iter().any(|c| c.law.restitution > 0.0);
        // Rounding and what the residual leaves.
        let allowed = |c: &Contacts, s: &Simulation| {
            s.options.contacts.tolerance.max(1e-12) * c.exchanged(s.contact_impulses(&s.change))
        };
        let gains = |c: &Contacts, s: &Simulation| {
            let unit = s.scheme.h / s.per_force(s.scheme.h);
            c.gain(s.contact_impulses(&s.change), unit) > allowed(c, s)
        };
        if bounces && gains(c, self) {
            // Different coefficients at once: the largest common share of them that makes no energy, to 1/64.
            let (mut least, mut most) = (0.0, 1.0);
            for _ in 0..6 {
                let share = 0.5 * (least + most);
                solved = self.solve_with_share(c, share)?;
                if gains(c, self) {
                    most = share;
                } else {
                    least = share;
                }
            }
            if c.report.restitution != least {
                solved = self.solve_with_share(c, least)?;
            }
        }
        Ok(solved)
    }

    fn solve_with_share(&mut self, c: &mut Contacts, share: f64) -> Result<SolveReport, Error> {
        let (h, beta) = (self.scheme.h, self.scheme.beta);
        c.fill_laws(h, beta, self.options.contacts.overlap, share);
        c.report.restitution = share;
        self.solve_once(c)
    }

    /// Impulses of the contacts in a solution of all rows.
    fn contact_impulses<'a>(&self, solution: &'a Solution) -> &'a [f64] {
        &solution.mu[self.assembler.system().m()..]
    }

    /// One solve; leaves the change of velocity and the impulses of all rows in `self.change`, those of the model's rows, as the formulation
    /// has them, in `self.solution`.
    fn solve_once(&mut self, c: &mut Contacts) -> Result<SolveReport, Error> {
        self.fill_extended(c)?;
        let m = self.assembler.system().m();
        let mut iterations = 0;
        let mut found;
        let mut rounds = 0;
        loop {
            let Some(system) = c.extended.system() else {
                return Err(Error::Solve(pliant_solvers::SolveError::NotPrepared));
            };
            found = c
                .solver
                .solve(system, &mut c.solution)
                .map_err(|e| in_words(e, self))?;
            iterations += found.iterations;
            if c.spins.is_empty() || c.bound_spins(m) <= SPIN_TOLERANCE {
                break;
            }
            rounds += 1;
            if rounds > SPIN_ROUNDS {
                found.outcome = Outcome::Stagnated;
                break;
            }
            c.solver.set_cones(&c.cones).map_err(|e| in_words(e, self))?;
        }
        self.solution.x.clone_from(&c.solution.x);
        self.solution.mu.clear();
        self.solution.mu.extend_from_slice(&c.solution.mu[..m]);
        self.change.clone_from(&c.solution);
        self.assembler
            .interpret(&self.model, &self.scheme, &self.state, &mut self.change);
        for (x, d) in self.change.x.iter_mut().zip(&self.fixed_change) {
            *x += d;
        }
        c.tail.product_into(&self.change.x, &mut c.after);
        for (after, u) in c.after.iter_mut().zip(c.tail.velocity()) {
            *after += u;
        }
        let unit = self.scheme.h / self.per_force(self.scheme.h);
        c.outcome = found.outcome;
        c.report.residual = found.residual.measure();
        c.report.velocity_residual = found.residual.natural * unit;
        c.report.iterations += iterations;
        c.report.method = found.method;
        c.report.islands = found.islands;
        c.report.settled = found.settled;
        c.worst = found.worst;
        Ok(found.linear)
    }

    /// After the solves of a step: what the contacts did.
    pub(super) fn read_contacts(&mut self, h: f64) {
        let Some(mut c) = self.contacts.take() else {
            return;
        };
        if c.list.is_empty() {
            c.tail.clear();
            c.after.clear();
        }
        let impulses = if c.list.is_empty() {
            &[]
        } else {
            self.contact_impulses(&self.change)
        };
        c.read(impulses, h);
        self.contacts = Some(c);
    }

    /// Whether the contacts of the step solve their law.
    pub(super) fn check_contacts(&self, report: &crate::StepReport) -> Result<(), Error> {
        let Some(c) = self.contacts.as_ref().filter(|c| !c.list.is_empty()) else {
            return Ok(());
        };
        if c.outcome == Outcome::Converged || report.status != Status::Converged {
            return Ok(());
        }
        let others = self.assembler.system().row_blocks().len() - 1;
        let worst = c.worst.checked_sub(others).and_then(|i| c.list.contacts().get(i));
        let contact = worst.map_or_else(
            || "a row of bounded force".to_owned(),
            |w| {
                let [a, b] = w.sides.map(|s| c.finder.name(s));
                format!("the contact of {a} and {b}")
            },
        );
        Err(Error::ContactsNotConverged {
            contact,
            time: self.time,
            tolerance: self.options.contacts.tolerance,
            report: Box::new(*report),
        })
    }

    /// The step stands: its contacts are those of the past.
    pub(super) fn keep_contacts(&mut self) {
        let Some(c) = &mut self.contacts else { return };
        c.events.clear();
        for reading in c.readings.iter().filter(|r| r.state != ContactState::Open) {
            if c.forces
                .binary_search_by_key(&reading.contact.key, |f| f.0)
                .is_err()
            {
                c.events.push(ContactEvent::Begun(reading.contact.key));
            }
        }
        for (key, _) in &c.forces {
            if c.forces_now.binary_search_by_key(key, |f| f.0).is_err() {
                c.events.push(ContactEvent::Ended(*key));
            }
        }
        c.step = self.scheme.h;
        std::mem::swap(&mut c.forces, &mut c.forces_now);
        std::mem::swap(&mut c.list, &mut c.next);
        c.horizon = Some(c.next_horizon);
    }

    /// The step does not stand: the finder remembers what it did before.
    pub(super) fn undo_contacts(&mut self) -> Result<(), Error> {
        match &mut self.contacts {
            Some(c) if !c.memory.is_empty() => c.finder.restore(&c.memory),
            _ => Ok(()),
        }
    }

    pub(super) fn contact_memory(&self) -> Option<ContactMemory> {
        self.contacts.as_ref().map(|c| {
            let mut finder = Vec::new();
            c.finder.save(&mut finder);
            ContactMemory {
                list: c.horizon.map(|h| (c.list.clone(), h)),
                forces: c.forces.clone(),
                finder,
            }
        })
    }

    pub(super) fn restore_contacts(&mut self, checkpoint: &Checkpoint) -> Result<(), Error> {
        match (&mut self.contacts, &checkpoint.contacts) {
            (Some(c), Some(memory)) => {
                c.forget();
                c.finder.restore(&memory.finder)?;
                c.forces.clone_from(&memory.forces);
                if let Some((list, horizon)) = &memory.list {
                    c.list.clone_from(list);
                    c.horizon = Some(*horizon);
                }
                Ok(())
            }
            (None, None) => Ok(()),
            (ours, _) => Err(pliant_model::ModelError::State {
                what: "sources of contacts",
                expected: usize::from(ours.is_some()),
                found: usize::from(ours.is_none()),
            }
            .into()),
        }
    }
}
