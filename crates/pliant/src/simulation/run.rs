//! The face of control and statics: steps that choose their length, rest, sleep, equilibria and
//! paths of them.

use super::Simulation;
use crate::control::{StepStart, adaptive, settle};
use crate::gradient::{
    GradientError, RestState, StepDerivative, TakenContact, TakenStep, check_method, check_rows, step_before,
    step_stages, step_weights, taken_contacts,
};
use crate::statics::path::{self, Next, Walk};
use crate::statics::{Search, Setting, Workspace, buckling, equilibrium, modes, reduction, refuse};
use crate::{
    About, Adaptive, AdaptiveMemory, AdaptiveReport, AdaptiveSummary, Buckling, BucklingOptions,
    Continuation, Control, Drive, Equilibrium, EquilibriumReport, Error, Loads, ModeOptions, Modes, Path,
    PathEnd, PathPoint, ReducedBody, Reduction, Settle, SettleReport, StaticMethod, StepReport,
};
use pliant_model::NodeId;
use pliant_stepper::sleep;

/// Length of the step (s) for which automatic treatments are chosen at rest.
const REST_STEP: f64 = 1.0;

impl Simulation {
    /// Takes one step of a length that follows from the tolerances, at most to the time `end` (s;
    /// infinite for none), which it hits exactly. The end of a step is where an event is due, if
    /// these are asked for. Once warm it allocates nothing, unless a treatment is chosen anew for
    /// steps of very different length. Forces of inputs and from outside are the same over the
    /// step; motions of rows are functions of time.
    ///
    /// # Errors
    /// [`Error::StepTooSmall`] where the smallest step misses the tolerance; if its equations
    /// cannot be solved, why, as [`step`](Self::step) says; [`Error::OutOfRange`],
    /// [`Error::NeedsStabilisation`]. The state is then as before.
    pub fn step_adaptively(&mut self, how: &Adaptive, end: f64) -> Result<AdaptiveReport, Error> {
        self.step_adaptively_with(how, end, &mut |_, _| Ok(()))
    }

    /// Steps adaptively with inputs that depend on the time ([`set_input`](Self::set_input)):
    /// `drive` is called before each part of each trial with the time at which its forces act.
    ///
    /// # Errors
    /// As [`step_adaptively`](Self::step_adaptively), and those of `drive`.
    pub fn step_adaptively_with(
        &mut self,
        how: &Adaptive,
        end: f64,
        drive: Drive<'_>,
    ) -> Result<AdaptiveReport, Error> {
        adaptive::step(self, how, end, drive)
    }

    /// Whether steps that choose their length go with this model and these options.
    ///
    /// # Errors
    /// [`Error::OutOfRange`], [`Error::NeedsStabilisation`].
    pub fn check_adaptive(&self, how: &Adaptive) -> Result<(), Error> {
        adaptive::check(self, how)
    }

    /// Takes such steps to the time `end` (s), or until everything is at rest, if
    /// [`Adaptive::rest`] is set.
    ///
    /// # Errors
    /// As [`step_adaptively`](Self::step_adaptively); the state is then that of the last step that
    /// stands.
    pub fn advance_to(&mut self, how: &Adaptive, end: f64) -> Result<AdaptiveSummary, Error> {
        let mut summary = AdaptiveSummary::default();
        while self.motion.time < end && !summary.at_rest {
            summary.add(&self.step_adaptively(how, end)?);
        }
        Ok(summary)
    }

    /// Returns the memory of steps that choose their length.
    pub fn adaptive_memory(&self) -> AdaptiveMemory {
        self.motion.adaptive
    }

    /// One pseudo-static pass: a step of length `h`, then velocities times `kept`. Returns the
    /// largest change of a free coordinate.
    ///
    /// # Errors
    /// As [`step`](Self::step).
    pub fn settle_once(&mut self, h: f64, kept: f64) -> Result<f64, Error> {
        settle::step(self, h, kept)
    }

    /// Comes to rest near the present state. Time advances by the steps taken; free velocities end
    /// as zero.
    ///
    /// # Errors
    /// [`Error::NotSettled`] after `max_steps`; else as [`step`](Self::step). The state is then as
    /// before the first of them.
    pub fn settle(&mut self, how: Settle) -> Result<SettleReport, Error> {
        settle::settle(self, how)
    }

    /// Whether an element of a node is asleep: nothing that it depends on moves, and something of
    /// that sleeps ([`ContactOptions::sleeping`](crate::contact::ContactOptions::sleeping)).
    pub fn is_asleep(&self, node: NodeId, element: usize) -> bool {
        sleep::is_asleep(&self.system, &self.motion.sleep, node, element)
    }

    /// Wakes what an element of a node depends on, with its islands.
    ///
    /// # Errors
    /// [`Error::Model`] if there is no such element.
    pub fn wake(&mut self, node: NodeId, element: usize) -> Result<(), Error> {
        sleep::wake(&mut self.system, &mut self.motion, node, element)
    }

    /// Wakes everything.
    pub fn wake_all(&mut self) {
        sleep::wake_all(&mut self.system, &mut self.motion);
    }

    /// Puts islands to sleep after a step that stands, and says in the report what that took.
    pub(crate) fn fall_asleep(&mut self, h: f64, report: &mut StepReport) -> Result<(), Error> {
        sleep::note_disturbance(&self.system, &mut self.motion);
        let Some(limits) = self.options.contacts.sleeping else {
            return Ok(());
        };
        let fallen = sleep::fall_asleep(&mut self.system, &mut self.motion, limits, h)?;
        if let Some(stilled) = fallen {
            report.contacts.sleep.stilled = stilled;
            let awake = report.energies;
            report.energies = self.energies(true);
            let [kinetic, potential] = [
                report.energies.kinetic - awake.kinetic,
                report.energies.potential - awake.potential,
            ];
            report.ledger.kinetic += kinetic;
            report.ledger.potential += potential;
            report.ledger.corrections += kinetic + potential;
            report.momentum = self.system.model.momentum(&self.motion.state);
        }
        report.contacts.sleep.asleep = sleep::count(&self.system);
        Ok(())
    }

    /// Finds an equilibrium under the present loads, starting from the present positions; driven
    /// rows are held where their motions are now. Velocities end as zero, time stands still. The
    /// state stays as it was if there is an error.
    ///
    /// Contacts carry what the equations of rest ask for: `0 <= r_n`, `0 <= phi + C r_n`, one of
    /// them zero, found anew as things move. With friction, `|r_t| <= mu r_n`, it depends on how
    /// the loads came about: here from the present state in one increment, against the whole way
    /// slipped since. What is read of contacts is then of this increment: forces as impulses over 1
    /// s, the way slipped as a velocity.
    ///
    /// Materials with a past remember the equilibrium: viscous stresses have relaxed in it, plastic
    /// strains are those of one straight path of the strain from what they remembered.
    ///
    /// Rows of bounded force (limits, ropes, motors at rest, springs of one sign) follow their law.
    /// Force fields of automatic treatment are taken as in a step of a second: a stiff spring as a
    /// stiffness asks of a swing for more iterations than there are.
    ///
    /// # Errors
    /// [`Error::NoEquilibrium`] with the best iterate's report; [`Error::NotStatic`] for what has
    /// no meaning at rest: resistance of contacts to spin or rolling, rows that hold a velocity and
    /// no position, fixed coordinates that move; [`Error::Model`], [`Error::Solve`].
    pub fn find_equilibrium(&mut self, how: &Equilibrium) -> Result<EquilibriumReport, Error> {
        let search = Search {
            loads: &Loads::default(),
            tolerance: check_tolerance(how.tolerance)?,
            frictionless: false,
        };
        self.search_rest(&search, Then::GoOn, |simulation, work| {
            equilibrium::find(&mut simulation.setting(), work, how)
        })
    }

    /// Finds the lowest modes of vibration about rest, without damping and gyroscopic torques. The
    /// simulation stays as it is.
    ///
    /// Rows of bounded force that act are held both ways, those at a bound are left out; driven
    /// rows stay where their motions are now. Materials with a past have the tangent of an infinite
    /// time, as in [`find_equilibrium`](Self::find_equilibrium). Contacts are not linear: where
    /// something touches, there are no modes.
    ///
    /// # Errors
    /// [`Error::NoModes`] where something touches, something without mass moves freely, or they
    /// were not found to the tolerance; [`Error::OutOfRange`]; those of
    /// [`find_equilibrium`](Self::find_equilibrium).
    pub fn modes(&mut self, how: &ModeOptions) -> Result<Modes, Error> {
        modes::check_numbers("the number of modes", how.count, how.tolerance)?;
        let tolerance = match how.about {
            About::Equilibrium(how) => how.tolerance,
            About::Present => Equilibrium::default().tolerance,
        };
        let search = Search {
            loads: &Loads::default(),
            tolerance: check_tolerance(tolerance)?,
            frictionless: false,
        };
        self.search_rest(&search, Then::GoBack, |simulation, work| {
            modes::find(&mut simulation.setting(), work, how)
        })
    }

    /// Reduces the body that the whole model is to a few modes in a floating frame ([`Reduction`]),
    /// at the present positions, where it is to be without load. Damping and gravity play no part.
    /// The simulation stays as it is.
    ///
    /// # Errors
    /// [`Error::NoModes`], which says why the model is no body that floats freely, or has no such
    /// interfaces or modes; [`Error::OutOfRange`]; those of
    /// [`find_equilibrium`](Self::find_equilibrium).
    pub fn reduce(&mut self, how: &Reduction) -> Result<ReducedBody, Error> {
        modes::check_numbers("the number of modes", 1, how.tolerance)?;
        let search = Search {
            loads: &Loads::default(),
            tolerance: Equilibrium::default().tolerance,
            frictionless: false,
        };
        self.search_rest(&search, Then::GoBack, |simulation, work| {
            reduction::find(&mut simulation.setting(), work, how)
        })
    }

    /// Finds the load factors at which the equilibrium buckles, by its linear equations
    /// ([`BucklingOptions`]). The simulation stays as it is.
    ///
    /// # Errors
    /// [`Error::NoModes`] where something touches, the equilibrium at the first load factor is not
    /// stable or not held, or the modes were not found to the tolerance; [`Error::OutOfRange`];
    /// those of [`follow`](Self::follow).
    pub fn buckling(&mut self, how: &BucklingOptions) -> Result<Buckling, Error> {
        buckling::check(how)?;
        let search = Search {
            loads: &how.loads,
            tolerance: check_tolerance(how.equilibrium.tolerance)?,
            frictionless: false,
        };
        self.search_rest(&search, Then::GoBack, |simulation, work| {
            buckling::find(&mut simulation.setting(), work, how)
        })
    }

    /// Whether everything here has a meaning at rest, the method takes it, and these are loads.
    /// [`find_equilibrium`](Self::find_equilibrium) and [`follow`](Self::follow) say the same
    /// before they begin.
    ///
    /// # Errors
    /// [`Error::NotStatic`], which names what has not.
    pub fn check_static(&self, loads: &Loads, method: StaticMethod) -> Result<(), Error> {
        refuse::check_contacts(&self.system, &self.options.contacts)?;
        refuse::check_loads(&self.system, &self.motion.controls.held, loads)?;
        refuse::check_method(&self.system, method)
    }

    /// Follows a path of equilibria over a load factor, beginning with the equilibrium near the
    /// present positions at the first one. `each` sees every point, with the simulation there, and
    /// says whether to go on. Ends at the last point; the loads of the simulation are whole again.
    ///
    /// Materials with a past remember every point, before `each` sees it.
    ///
    /// Steps go along the tangent of the path, `[W -J^T; -J -C] t = dF/dp`, and come back to it by
    /// Newton's method across it: two solves with one factor. With a source of contacts, steps of
    /// the load are increments: each ends at the equilibrium that
    /// [`find_equilibrium`](Self::find_equilibrium) finds from the point before, if that is near,
    /// against the friction of the way slipped in it; critical points are not looked for. Arc
    /// length takes contacts without friction. Their length follows the iterations that they take,
    /// and is halved where they fail. Stability is that of the inertia of every factor.
    ///
    /// # Errors
    /// [`Error::OutOfRange`], [`Error::NotStatic`], and those of
    /// [`find_equilibrium`](Self::find_equilibrium) for the first point, with the state as it was.
    /// Failures after the first point are told by [`PathEnd`].
    pub fn follow(
        &mut self,
        how: &Continuation,
        mut each: impl FnMut(&Self, &PathPoint) -> bool,
    ) -> Result<Path, Error> {
        path::check(how)?;
        let search = Search {
            loads: &how.loads,
            tolerance: how.tolerance,
            frictionless: how.control == Control::ArcLength,
        };
        self.search_rest(&search, Then::GoOn, |simulation, work| {
            simulation.walk(work, how, &mut each)
        })
    }

    /// Goes along a path from point to point, each of which is shown.
    fn walk(
        &mut self,
        work: &mut Workspace,
        how: &Continuation,
        each: &mut dyn FnMut(&Self, &PathPoint) -> bool,
    ) -> Result<Path, Error> {
        let mut path = Path {
            points: Vec::new(),
            critical: Vec::new(),
            end: PathEnd::Points,
            solver: "",
            factorisations: 0,
        };
        let point = path::first_point(&mut self.setting(), work, how)?;
        let mut going = each(self, &point);
        path.points.push(point);
        let mut walk = Walk::begin(&mut self.setting(), work, how)?;
        while going && path.points.len() < how.max_points {
            match walk.next(&mut self.setting(), work, how, &mut path)? {
                Next::Point { iterations, last } => {
                    let point = path::reach(&mut self.setting(), work, iterations)?;
                    going = each(self, &point);
                    path.points.push(point);
                    if last {
                        path.end = PathEnd::Reached;
                        break;
                    }
                }
                Next::Stuck(error) => {
                    path.end = PathEnd::Stuck(Box::new(error));
                    break;
                }
            }
        }
        if !going {
            path.end = PathEnd::Stopped;
        }
        path.solver = work.progress.report.solver;
        path.factorisations = work.progress.report.factorisations;
        Ok(path)
    }

    /// Runs a search for rest on the present motion, which then goes on from what it finds, or from
    /// where it was; if the search fails, always from there.
    fn search_rest<T>(
        &mut self,
        search: &Search<'_>,
        then: Then,
        run: impl FnOnce(&mut Self, &mut Workspace) -> Result<T, Error>,
    ) -> Result<T, Error> {
        refuse::check_contacts(&self.system, &self.options.contacts)?;
        refuse::check_loads(&self.system, &self.motion.controls.held, search.loads)?;
        // Sleepers are held like fixed coordinates, wherever they fell asleep.
        self.wake_all();
        let chooses = self.system.chooses_treatments(&self.motion, REST_STEP);
        let before = chooses.then(|| self.checkpoint());
        self.choose_treatments(REST_STEP)?;
        let mut start = StepStart::default();
        start.take_lean(&self.system, &mut self.motion);
        // What is zero is left alone: of a large model it was never written.
        let velocities = self.motion.state.velocities.iter_mut();
        velocities.filter(|v| **v != 0.0).for_each(|v| *v = 0.0);
        self.system.set_row_motion(self.motion.time, self.motion.time);
        let threads = self.options.tuning.solver.threads;
        let mut work = Workspace::new(&self.system.model, &self.motion, search, threads);
        let begun = equilibrium::begin(&mut self.setting(), &mut work);
        let found = begun.and_then(|()| run(self, &mut work));
        work.loads.restore(&mut self.system.model)?;
        if found.is_err() || then == Then::GoBack {
            start.give_back(&mut self.system, &mut self.motion)?;
            if let Some(before) = before {
                self.restore(&before)?;
            }
            return found;
        }
        equilibrium::keep(&mut self.setting(), &mut work);
        self.start_ledger();
        found
    }

    fn setting(&mut self) -> Setting<'_> {
        Setting {
            system: &mut self.system,
            motion: &mut self.motion,
            options: &self.options,
        }
    }

    /// The present motion as a state of rest, as
    /// [`RestDerivative::place`](crate::gradient::RestDerivative::place) takes it: after
    /// [`find_equilibrium`](Self::find_equilibrium).
    pub fn rest_state(&self) -> RestState<'_> {
        RestState {
            time: self.motion.time,
            state: &self.motion.state,
            multipliers: &self.motion.multipliers,
            external: &self.motion.controls.external,
            fixed: &self.system.assembler.system().fixed,
        }
    }

    /// The last step, as [`StepDerivative::place`] takes it, with its contacts, which
    /// [`last_contacts`](Self::last_contacts) finds; `None` before the first. It has to have been
    /// taken by [`Integrator::Nonlinear`](crate::Integrator::Nonlinear), by
    /// [`Integrator::bdf2`](crate::Integrator::bdf2), or by
    /// [`Integrator::Sdirk2`](crate::Integrator::Sdirk2) with
    /// [`exact_stages`](pliant_stepper::integrator::NewtonOptions::exact_stages), at once: `place`
    /// finds out.
    pub fn last_step<'a>(&'a self, contacts: &'a [TakenContact]) -> Option<TakenStep<'a>> {
        let h = self.motion.time - self.start.time;
        (h > 0.0 && !self.start.state.positions.is_empty()).then(|| TakenStep {
            h,
            time: self.start.time,
            start: &self.start.state,
            end: &self.motion.state,
            multipliers: &self.motion.multipliers,
            external: &self.motion.controls.external,
            fixed: &self.system.assembler.system().fixed,
            contacts,
            before: step_before(self),
            weights: step_weights(&self.options),
            stages: step_stages(self),
        })
    }

    /// Fills `out` with the contacts that carried an impulse in the last step, and with how they
    /// move with its start; of a step of SDIRK2 with those of each of its stages, and how these move with
    /// the state that they are expected at. Cost: four searches for contacts for each coordinate of a
    /// contact and its neighbours; those of bodies apart are moved together.
    ///
    /// # Errors
    /// [`GradientError::NotBuilt`] for laws whose derivative is not built (elliptic and polygonal
    /// friction, resistance to rolling, viscous friction, Hunt and Crossley's damping), where
    /// contacts come and go close to the start of the step, and for stages that were not taken with
    /// [`exact_stages`](pliant_stepper::integrator::NewtonOptions::exact_stages).
    pub fn last_contacts(&mut self, out: &mut Vec<TakenContact>) -> Result<(), GradientError> {
        taken_contacts(self, self.motion.time - self.start.time, out, None)
    }

    /// Fills `acting` as [`last_contacts`](Self::last_contacts) does, and `near` with the contacts
    /// that carried nothing in the last step and are near at its start, within the margins of their
    /// colliders or about to close in ten such steps, for [`StepDerivative::place_smoothed`].
    ///
    /// # Errors
    /// All errors of [`last_contacts`](Self::last_contacts).
    pub fn contacts_nearby(
        &mut self,
        acting: &mut Vec<TakenContact>,
        near: &mut Vec<TakenContact>,
    ) -> Result<(), GradientError> {
        taken_contacts(self, self.motion.time - self.start.time, acting, Some(near))
    }

    /// A derivative of the steps of this simulation, not placed yet.
    ///
    /// # Errors
    /// As [`StepDerivative::new`]; [`GradientError::NotBuilt`] if the options have another method
    /// than [`Integrator::Sdirk2`](crate::Integrator::Sdirk2),
    /// [`Integrator::Nonlinear`](crate::Integrator::Nonlinear), with the same weights for all
    /// components, and [`Integrator::bdf2`](crate::Integrator::bdf2).
    pub fn step_derivative(&self) -> Result<StepDerivative, GradientError> {
        check_method(&self.options)?;
        check_rows(&self.options, self.problem())?;
        let touching = self
            .system
            .contacts
            .as_ref()
            .map_or(&[][..], |c| c.detection.nodes());
        let derivative = StepDerivative::with_contacts(&self.system.model, touching)?;
        derivative.check_weights(step_weights(&self.options))?;
        Ok(derivative)
    }
}

/// Where the motion goes on after a search for rest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Then {
    /// From what was found.
    GoOn,
    /// From where it began.
    GoBack,
}

/// The tolerance of an equilibrium, if it is one.
fn check_tolerance(tolerance: f64) -> Result<f64, Error> {
    if tolerance > 0.0 && tolerance < 1.0 {
        return Ok(tolerance);
    }
    Err(Error::OutOfRange {
        what: "the tolerance of an equilibrium",
        value: tolerance,
        bound: "above 0 and below 1, where any state would be one",
    })
}
