//! Families of simulations: models with contacts that depend on parameters.

use super::contacts::{ContactSearch, FAR, numbers_of};
use super::{Family, GradientError, TrajectoryError};
use crate::Simulation;
use crate::contact::Overlap;
use pliant_gradient::{ContactIdentity, ContactSample, FamilyContacts, Member};
use pliant_model::{NodeKind, State};
use std::cell::RefCell;

/// Makes the family of the models of simulations around the parameters `at`, with their contacts:
/// everything that a simulation is made of may depend on parameters, its colliders, their places
/// and materials included, but for its options (of which the rate of `Overlap::Rows` may). Each
/// parameter is moved by a thousandth of its scale.
///
/// Models whose colliders do not depend on parameters may be a [`Family`] by themselves.
///
/// ```
/// use pliant::collision::{Collider, Material, Placement, Shape, World};
/// use pliant::gradient::{NodeGradient, Trajectory, TrajectoryError, family_of_simulations};
/// use pliant::prelude::*;
/// // A puck that slides to rest on rough ground, by the coefficient of friction: its way is
/// // v^2/(2 mu g).
/// let make = |p: &[f64]| -> Result<Simulation, TrajectoryError> {
///     let mut model = Model::new();
///     model.set_gravity([0.0, 0.0, -10.0])?;
///     let puck = model.add_particles("puck", &[[0.0, 0.0, 0.01]])?;
///     model.add_mass("mass", puck, Mass::Uniform(1.0))?;
///     model.set_velocity(puck, 0, &[true; 3], &[2.0, 0.0, 0.0])?;
///     let mut world = World::new();
///     let rough = world.add_material(Material { friction: p[0], ..Material::default() })?;
///     let ground = Shape::half_space([0.0, 0.0, 1.0])?;
///     let ground = Collider::new("ground", ground, Placement::Fixed(Pose::default()));
///     world.add(ground.with_material(rough))?;
///     let bead = Collider::new("puck", Shape::soft_points(&[0], 0.01)?, Placement::Points(puck));
///     world.add(bead.with_material(rough))?;
///     let options = Options { integrator: Integrator::Nonlinear, ..Options::default() };
///     let mut simulation = Simulation::with_options(model, options)?;
///     simulation.set_contacts(world)?;
///     Ok(simulation)
/// };
/// let mut simulation = make(&[0.4])?;
/// let mut family = family_of_simulations(&make, &[0.4], &[0.4])?;
/// let mut end = |step: usize, s: &Simulation, by: &mut NodeGradient| {
///     if step < 100 { return 0.0; }
///     by.x[0] = 1.0;
///     s.state().positions[0]
/// };
/// let mut trajectory = Trajectory::new(100, 0.01);
/// trajectory.family = Some(&mut family);
/// let found = trajectory.gradient(&mut simulation, &mut end)?;
/// let by_friction = -4.0 / (2.0 * 0.4 * 0.4 * 10.0);
/// // To the order of the steps: they slip 50 times.
/// assert!((found.parameters[0] / by_friction - 1.0).abs() < 0.03);
/// # Ok::<(), TrajectoryError>(())
/// ```
///
/// # Errors
/// Errors of `make`, and those of [`Family::new`].
pub fn family_of_simulations(
    make: &dyn Fn(&[f64]) -> Result<Simulation, TrajectoryError>,
    at: &[f64],
    scales: &[f64],
) -> Result<Family, TrajectoryError> {
    let simulations: RefCell<Vec<Simulation>> = RefCell::new(Vec::new());
    let make_problem = |values: &[f64]| {
        let simulation = make(values).map_err(|e| match e {
            TrajectoryError::Gradient(e) => e,
            other => GradientError::NoModel {
                why: other.to_string(),
            },
        })?;
        if let Some(first) = simulations.borrow().first() {
            check_options(first, &simulation)?;
        }
        let problem = simulation.problem().clone();
        simulations.borrow_mut().push(simulation);
        Ok(problem)
    };
    let family = Family::new(&make_problem, at, scales)?;
    // The first is the one at `at` itself, the others come parameter by parameter.
    let members = simulations.into_inner().into_iter().skip(1);
    let members = members.map(|simulation| (simulation, None)).collect();
    Ok(family.with_contacts(Box::new(Members { members })))
}

/// Refuses options that depend on parameters, but for the rate at which rows take overlap back.
///
/// # Errors
/// [`GradientError::NotBuilt`].
fn check_options(one: &Simulation, other: &Simulation) -> Result<(), GradientError> {
    let mut options = other.options.clone();
    let overlap = &mut options.contacts.overlap;
    if let (Overlap::Rows { rate, .. }, Overlap::Rows { rate: own, .. }) =
        (one.options.contacts.overlap, &mut *overlap)
    {
        *own = rate;
    }
    match format!("{options:?}") == format!("{:?}", one.options) {
        true => Ok(()),
        false => Err(GradientError::NotBuilt {
            what: "simulations by a parameter of their options".to_owned(),
            why: "how steps depend on it is not built",
        }),
    }
}

/// The simulations of a family, parameter by parameter, each with its search for contacts once
/// there was one.
#[derive(Debug)]
struct Members {
    members: Vec<(Simulation, Option<ContactSearch>)>,
}

impl FamilyContacts for Members {
    fn at(
        &mut self,
        member: Member,
        start: &State,
        h: f64,
        of: &[ContactIdentity],
        out: &mut Vec<ContactSample>,
    ) -> Result<(), GradientError> {
        let (simulation, search) = &mut self.members[member.parameter * Family::POINTS + member.point];
        let search = search.get_or_insert_with(|| ContactSearch::new(simulation.motion.clone(), h));
        for node in simulation.model().nodes() {
            if let NodeKind::Independent { .. } = node.kind {
                let (p, v) = (node.position_range(), node.velocity_range());
                let state = &mut search.motion.state;
                state.positions[p.clone()].copy_from_slice(&start.positions[p]);
                state.velocities[v.clone()].copy_from_slice(&start.velocities[v]);
            }
        }
        // As the contacts of the step were found.
        search.horizon = h;
        let mut found = search.find_all(simulation, of);
        if found.is_err() {
            search.horizon = FAR * h;
            found = search.find_all(simulation, of);
        }
        let found = found?;
        out.clear();
        for index in found {
            out.push(ContactSample {
                place: search.place(index),
                law: numbers_of(simulation, search.contact(index))?,
            });
        }
        Ok(())
    }
}
