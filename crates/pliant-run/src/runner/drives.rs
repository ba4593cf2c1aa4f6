//! Motions that are set while a scene runs, in place of those of its file.

use pliant::model::dual::Dual;
use pliant::model::{ComponentId, Field, ModelError, PrescribedMotion, Problem, RowGroup};
use pliant::{Error, Simulation};
use serde::{Deserialize, Serialize};

/// A motion of the rows of a component: from `before` at `since` in a straight line to `target` at
/// `until`, then on at a constant rate. Where a hard row jumped, its velocity would be the jump over a
/// step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Drive {
    component: ComponentId,
    before: Vec<f64>,
    target: Vec<f64>,
    rate: Vec<f64>,
    since: f64,
    until: f64,
}

/// How a component is to move from the present time on.
#[derive(Clone, Copy, Debug)]
pub struct Target<'a> {
    /// Positions to go to (m, rad), one for each row; without, those that the rates lead to.
    pub positions: Option<&'a [f64]>,
    /// Velocities from then on (m/s, rad/s), one for each row.
    pub velocities: &'a [f64],
    /// Time in which it goes there (s).
    pub within: f64,
}

impl Drive {
    /// The rate at which a row goes to its target.
    fn slope(&self, row: usize) -> f64 {
        (self.target[row] - self.before[row]) / (self.until - self.since)
    }

    /// The motion of a component from where it is at the present time.
    pub(super) fn new(
        simulation: &Simulation,
        component: ComponentId,
        to: Target<'_>,
    ) -> Result<Self, Error> {
        let since = simulation.time();
        let before = rows(simulation.problem(), component).map(|(group, motion)| {
            let at = |k| motion.map_or(0.0, |motion| motion.at(k, since).0);
            (0..group.size * group.count).map(at).collect()
        });
        let before: Vec<f64> = before.unwrap_or_else(|| vec![0.0; to.velocities.len()]);
        let led = before.iter().zip(to.velocities);
        let led = || led.map(|(x, v)| x + v * to.within).collect();
        let drive = Drive {
            component,
            target: to.positions.map_or_else(led, <[f64]>::to_vec),
            before,
            rate: to.velocities.to_vec(),
            since,
            until: since + to.within,
        };
        drive.check(simulation)?;
        Ok(drive)
    }

    fn motion(&self) -> PrescribedMotion {
        let (since, until) = (self.since, self.until);
        let one = |k: usize| {
            let (before, target, rate) = (self.before[k], self.target[k], self.rate[k]);
            let slope = self.slope(k);
            PrescribedMotion::function(move |t| match t.re {
                now if now < since => Dual::from(before),
                now if now < until => (t - since) * slope + before,
                _ => (t - until) * rate + target,
            })
        };
        PrescribedMotion::each(&(0..self.target.len()).map(one).collect::<Vec<_>>())
    }

    /// Whether there is such a component, and all numbers are.
    fn check(&self, simulation: &Simulation) -> Result<(), Error> {
        let model = simulation.model();
        let (what, index, count) = match self.component {
            ComponentId::Mass(i) => ("masses", i, model.masses().len()),
            ComponentId::ForceField(i) => ("force fields", i, model.force_fields().len()),
            ComponentId::Constraint(i) => ("constraints", i, model.constraints().len()),
        };
        if index >= count {
            return Err(ModelError::State {
                what,
                expected: count,
                found: index.saturating_add(1),
            }
            .into());
        }
        let name = || model.component_name(self.component).to_owned();
        let expected = self.before.len();
        if let Some(found) = [self.target.len(), self.rate.len()]
            .into_iter()
            .find(|n| *n != expected)
        {
            return Err(ModelError::Size {
                name: name(),
                field: Field::Targets,
                what: "motions",
                expected,
                found,
            }
            .into());
        }
        if self.until.is_nan() || self.until <= self.since {
            return Err(Error::OutOfRange {
                what: "the time in which a drive goes to its target",
                value: self.until - self.since,
                bound: "greater than zero, and more than rounding of the present time",
            });
        }
        let lists = [&self.before, &self.target, &self.rate];
        let numbers = lists.into_iter().flatten().chain([&self.since, &self.until]);
        if let Some(value) = numbers.into_iter().find(|x| !x.is_finite()) {
            return Err(ModelError::NotFinite {
                name: name(),
                field: Field::Targets,
                index: None,
                value: *value,
            }
            .into());
        }
        let slopes = (0..expected).map(|row| self.slope(row));
        match slopes.into_iter().find(|slope| !slope.is_finite()) {
            Some(value) => Err(Error::OutOfRange {
                what: "the rate at which a drive goes to its target",
                value,
                bound: "finite: go there in a longer time",
            }),
            None => Ok(()),
        }
    }
}

/// The rows of a component, and the motion that they have.
fn rows(problem: &Problem, component: ComponentId) -> Option<(&RowGroup, Option<&PrescribedMotion>)> {
    let mut groups = problem.row_groups().iter();
    let group = groups.find(|group| group.component == component)?;
    Some((group, problem.motion(group)))
}

/// All motions that were set, each with that of the scene, whose place it took.
#[derive(Debug, Default)]
pub(super) struct Drives(Vec<(Drive, Option<PrescribedMotion>)>);

impl Drives {
    /// The motions, for a checkpoint.
    pub(super) fn list(&self) -> Vec<Drive> {
        self.0.iter().map(|(drive, _)| drive.clone()).collect()
    }

    /// Sets the motion of a component from the present time on.
    pub(super) fn set(
        &mut self,
        simulation: &mut Simulation,
        component: ComponentId,
        to: Target<'_>,
    ) -> Result<(), Error> {
        let drive = Drive::new(simulation, component, to)?;
        self.take(simulation, drive)
    }

    fn take(&mut self, simulation: &mut Simulation, drive: Drive) -> Result<(), Error> {
        drive.check(simulation)?;
        let place = self
            .0
            .iter()
            .position(|(old, _)| old.component == drive.component);
        let own = rows(simulation.problem(), drive.component).and_then(|(_, motion)| motion.cloned());
        simulation.set_motion(drive.component, Some(drive.motion()))?;
        match place {
            Some(place) => self.0[place].0 = drive,
            None => self.0.push((drive, own)),
        }
        Ok(())
    }

    /// Gives a component the motion of the scene again.
    pub(super) fn end(&mut self, simulation: &mut Simulation, component: ComponentId) -> Result<(), Error> {
        let place = self.0.iter().position(|(drive, _)| drive.component == component);
        match place.map(|place| self.0.remove(place)) {
            Some((_, own)) => simulation.set_motion(component, own),
            None => Ok(()),
        }
    }

    /// Goes to the motions of a checkpoint.
    pub(super) fn go_to(&mut self, simulation: &mut Simulation, list: &[Drive]) -> Result<(), Error> {
        for (drive, own) in std::mem::take(&mut self.0) {
            simulation.set_motion(drive.component, own)?;
        }
        list.iter()
            .try_for_each(|drive| self.take(simulation, drive.clone()))
    }
}
