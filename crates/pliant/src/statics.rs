//! Rest without time: Newton's method on the static equations, the pseudo-static flow, dynamic
//! relaxation, paths over a load factor.
//!
//! Unknown are the positions `x` and the multipliers `lambda`. A load factor `p` scales the loads
//! that are named, and the equations are
//!
//! ```math
//! F_1 = f(x, p) + J^T lambda = 0,    F_2 = phi + C lambda - p g = 0
//! ```
//!
//! with the force `f` of materials with a past after an infinite time, and `F_2` replaced by
//! `lambda = lo` or `hi` where a row of bounded force is at its bound. All velocities are zero, so
//! nothing is damped and nothing is inertial.
//!
//! Everything works on a [`Setting`], the system and a motion, with a [`Workspace`] for one search;
//! the face of the simulation is here and keeps the motion or goes back to where the search began.

mod contacts;
mod equilibrium;
mod flow;
mod loads;
mod measure;
mod newton;
mod path;
mod refuse;
mod relaxation;
mod residual;
mod types;
mod workspace;

pub use types::{
    Continuation, Control, CriticalKind, CriticalPoint, Equilibrium, EquilibriumReport, Loads, Path, PathEnd,
    PathPoint, StaticMethod,
};

use crate::control::StepStart;
use crate::{Error, Simulation};
use path::{Next, Walk};
use workspace::{Search, Setting, Workspace};

impl Simulation {
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
    /// Force fields of automatic treatment are taken as they are treated at present.
    ///
    /// # Errors
    /// [`Error::NoEquilibrium`] with the best iterate's report; [`Error::NotStatic`] for what has
    /// no meaning at rest: resistance of contacts to spin or rolling, rows that hold a velocity and
    /// no position, fixed coordinates that move; [`Error::Model`], [`Error::Solve`].
    pub fn find_equilibrium(&mut self, how: &Equilibrium) -> Result<EquilibriumReport, Error> {
        if !(how.tolerance > 0.0 && how.tolerance < 1.0) {
            return Err(Error::OutOfRange {
                what: "the tolerance of an equilibrium",
                value: how.tolerance,
                bound: "above 0 and below 1, where any state would be one",
            });
        }
        let search = Search {
            loads: &Loads::default(),
            tolerance: how.tolerance,
            frictionless: false,
        };
        self.search_rest(&search, |simulation, work| {
            equilibrium::find(&mut simulation.setting(), work, how)
        })
    }

    /// Whether everything here has a meaning at rest, the method takes it, and these are loads.
    /// [`find_equilibrium`](Self::find_equilibrium) and [`follow`](Self::follow) say the same
    /// before they begin.
    ///
    /// # Errors
    /// [`Error::NotStatic`], which names what has not.
    pub fn check_static(&self, loads: &Loads, method: StaticMethod) -> Result<(), Error> {
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
    /// What happens behind the first point is told by [`PathEnd`].
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
        self.search_rest(&search, |simulation, work| simulation.walk(work, how, &mut each))
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
        path.factorisations = work.progress.report.factorisations;
        Ok(path)
    }

    /// Runs a search for rest on the present motion; goes back to the start of it if that fails.
    fn search_rest<T>(
        &mut self,
        search: &Search<'_>,
        run: impl FnOnce(&mut Self, &mut Workspace) -> Result<T, Error>,
    ) -> Result<T, Error> {
        refuse::check_loads(&self.system, &self.motion.controls.held, search.loads)?;
        // Sleepers are held like fixed coordinates, wherever they fell asleep.
        self.wake_all();
        let mut start = StepStart::default();
        start.take(&self.system, &self.motion);
        self.motion.state.velocities.fill(0.0);
        self.system.set_row_motion(self.motion.time, self.motion.time);
        let mut work = Workspace::new(&self.system.model, &self.motion, search);
        let begun = equilibrium::begin(&mut self.setting(), &mut work);
        let found = begun.and_then(|()| run(self, &mut work));
        work.loads.restore(&mut self.system.model)?;
        if found.is_err() {
            start.give_back(&mut self.system, &mut self.motion)?;
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
}
