//! The face of everything around a model: states, forces, motions, bounds and inputs that are set
//! while it moves, contacts, stresses, and the dynamics at the present moment.

use super::Simulation;
use crate::Error;
use pliant_contact::ContactArea;
#[cfg(feature = "continuum")]
use pliant_continuum::{
    RodForces, RodParts, SheetFields, SheetForces, SheetParts, ShellParts, SolidFields, SolidParts,
};
use pliant_model::{ComponentId, Field, ModelError, NodeId, PrescribedMotion, RowGroup, State};
use pliant_solvers::complementarity::{ConeProfile, Problem};
use pliant_stepper::contact::{ContactEvent, ContactFinder, ContactReading, ContactsReport, step};
use pliant_stepper::observe::{self, energy};
use pliant_stepper::sleep;
use pliant_stepper::system::coordinates::{self, CoordinateDynamics};
use std::borrow::Cow;

impl Simulation {
    /// Replaces positions and velocities of the independent coordinates; mapped ones are
    /// recomputed, quaternions normalised, memory of past forces is cleared. Fixed coordinates keep
    /// the velocity that the state gives them. Materials with a past go at once from the one that
    /// the state brings to its positions;
    /// [`Model::begin_memory`](pliant_model::Model::begin_memory) makes a state without one.
    /// [Removed elements](Self::remove_elements) stay at rest, whatever the state says of them.
    ///
    /// # Errors
    /// [`Error::Model`] if the state does not fit the model, is not finite, or a mapping is not
    /// defined there; then nothing changes.
    pub fn set_state(&mut self, state: &State) -> Result<(), Error> {
        if self.removed_elements().is_empty() {
            self.take_state(state)?;
        } else {
            // The state may be one of the whole model.
            let mut still = state.clone();
            self.system.model.normalize(&mut still)?;
            self.system.model.bring_to_rest(&mut still)?;
            self.take_state(&still)?;
        }
        if self.system.model.internal_count() > 0 {
            self.system.advance_memory(&mut self.motion.state, 0.0);
            self.start_ledger();
        }
        Ok(())
    }

    /// Replaces the multipliers [N, N m], one per row, as those of the present positions: of a point
    /// of a path, of an equilibrium that was found before. [`set_state`](Self::set_state) makes
    /// them zero.
    ///
    /// # Errors
    /// [`Error::Model`] if there are not as many as rows, [`Error::NotFinite`]; then nothing changes.
    pub fn set_multipliers(&mut self, multipliers: &[f64]) -> Result<(), Error> {
        let (expected, found) = (self.motion.multipliers.len(), multipliers.len());
        if expected != found {
            let what = "multipliers";
            return Err(Error::Model(ModelError::State {
                what,
                expected,
                found,
            }));
        }
        if let Some(row) = multipliers.iter().position(|l| !l.is_finite()) {
            return Err(Error::NotFinite {
                what: self.system.model.describe_row(row),
                time: self.motion.time,
            });
        }
        self.motion.multipliers.copy_from_slice(multipliers);
        Ok(())
    }

    /// Takes a state, but for the internal variables, which stay.
    pub(super) fn take_state(&mut self, state: &State) -> Result<(), Error> {
        let mut new = state.clone();
        self.system.model.normalize(&mut new)?;
        let found = self.system.evaluation.propagate(&self.system.model, &mut new);
        let found = found.and_then(|()| self.system.evaluation.evaluate(&self.system.model, &new));
        if let Err(e) = found {
            self.system
                .evaluation
                .propagate(&self.system.model, &mut self.motion.state)?;
            return Err(e.into());
        }
        self.motion.state = new;
        self.motion.multipliers.fill(0.0);
        self.motion.lagged.fill(0.0);
        self.motion.supports.fill(0.0);
        self.motion.fresh = true;
        self.motion.integrator.forget();
        self.motion.adaptive = crate::AdaptiveMemory::default();
        self.wake_all();
        step::forget(&mut self.system, &mut self.motion);
        self.motion.hold_present_velocities(&self.system.model);
        self.start_ledger();
        Ok(())
    }

    /// Fixes chosen velocity coordinates of one element and gives them a velocity (bodies: angular
    /// in body axes), reached at the end of the next step.
    ///
    /// # Errors
    /// [`Error::Model`] if there is no such element or a velocity is not finite.
    pub fn hold(
        &mut self,
        node: NodeId,
        element: usize,
        coordinates: &[bool],
        velocity: &[f64],
    ) -> Result<(), Error> {
        let first = self.system.model.dofs_of(node, element, coordinates.len())?;
        let entry = self.system.model.node(node);
        let name = || entry.name.clone();
        if velocity.len() != coordinates.len() {
            let (expected, found) = (coordinates.len(), velocity.len());
            return Err(ModelError::Size {
                name: name(),
                field: Field::Velocities,
                what: "velocities",
                expected,
                found,
            }
            .into());
        }
        if let Some(value) = velocity.iter().find(|v| !v.is_finite()) {
            return Err(ModelError::NotFinite {
                name: name(),
                field: Field::Velocities,
                index: None,
                value: *value,
            }
            .into());
        }
        sleep::wake_elements(&mut self.system, &mut self.motion, node, element..element + 1);
        sleep::wake_coupled(
            &mut self.system,
            &mut self.motion,
            first..first + coordinates.len(),
        );
        for k in (0..coordinates.len()).filter(|k| coordinates[*k]) {
            self.system.assembler.fixed_mut()[first + k] = true;
            self.motion.controls.held[first + k] = velocity[k];
        }
        Ok(())
    }

    /// Sets the force from outside on one element of any node, mapped ones too, until it is set
    /// again (N; bodies: force in world axes, then torque in *body* axes, N m). It has no
    /// potential: its work is not part of the energies.
    ///
    /// # Errors
    /// [`Error::Model`] if there is no such element, a number is missing or not finite.
    pub fn set_force(&mut self, node: NodeId, element: usize, force: &[f64]) -> Result<(), Error> {
        let entry = self.system.model.node(node);
        let name = || entry.name.clone();
        let size = entry.space.velocity_size();
        if element >= entry.count {
            return Err(ModelError::Element {
                name: name(),
                element,
                count: entry.count,
            }
            .into());
        }
        if force.len() != size {
            let (what, found) = ("force coordinates", force.len());
            return Err(ModelError::Size {
                name: name(),
                field: Field::Forces,
                what,
                expected: size,
                found,
            }
            .into());
        }
        if let Some(value) = force.iter().find(|f| !f.is_finite()) {
            return Err(ModelError::NotFinite {
                name: name(),
                field: Field::Forces,
                index: None,
                value: *value,
            }
            .into());
        }
        let all = self.system.model.velocity_count();
        let external = &mut self.motion.controls.external;
        if external.is_empty() && force.iter().all(|f| *f == 0.0) {
            return Ok(());
        }
        external.resize(all, 0.0);
        let place = &mut external[entry.first_velocity + element * size..][..size];
        if place != force {
            place.copy_from_slice(force);
            sleep::wake_elements(&mut self.system, &mut self.motion, node, element..element + 1);
        }
        Ok(())
    }

    /// The forces from outside on all elements of a node, as [`set_force`](Self::set_force) set
    /// them; zeros where none was set.
    pub fn external_forces(&self, node: NodeId) -> Cow<'_, [f64]> {
        let range = self.system.model.node(node).velocity_range();
        match self.motion.controls.external_on(range.clone()) {
            [] => Cow::Owned(vec![0.0; range.len()]),
            forces => Cow::Borrowed(forces),
        }
    }

    /// Frees chosen velocity coordinates of one element; they keep their velocity.
    ///
    /// # Errors
    /// [`Error::Model`] if there is no such element.
    pub fn release(&mut self, node: NodeId, element: usize, coordinates: &[bool]) -> Result<(), Error> {
        let first = self.system.model.dofs_of(node, element, coordinates.len())?;
        sleep::wake_elements(&mut self.system, &mut self.motion, node, element..element + 1);
        sleep::wake_coupled(
            &mut self.system,
            &mut self.motion,
            first..first + coordinates.len(),
        );
        for k in (0..coordinates.len()).filter(|k| coordinates[*k]) {
            self.system.assembler.fixed_mut()[first + k] = false;
        }
        Ok(())
    }

    /// Drives a hard constraint or a compliance from now on: its coordinates are held at the motion
    /// (a function of the time of the simulation) instead of at zero; `None` lets go. A hard row
    /// whose motion jumps jumps with it: a velocity of jump over step. A compliance whose motion
    /// jumps stores another energy at once; the difference is `inputs` of the next ledger.
    ///
    /// # Errors
    /// [`Error::Model`] if the component has no rows or the motion another number of coordinates.
    pub fn set_motion(
        &mut self,
        component: ComponentId,
        motion: Option<PrescribedMotion>,
    ) -> Result<(), Error> {
        let own = |group: &&RowGroup| group.component == component;
        let group = self.system.model.row_groups().iter().find(own).copied();
        let before = group.and_then(|group| self.system.model.motion(&group).cloned());
        self.system.model.set_motion(component, motion)?;
        let after = group.and_then(|group| self.system.model.motion(&group));
        match component {
            ComponentId::ForceField(_) => {
                let (system, now) = (&self.system, &self.motion);
                let change = energy::change_by_targets(system, now, component, before.as_ref(), after);
                self.motion.ledger.inputs += change;
            }
            _ => self.motion.ledger.energies = None,
        }
        sleep::wake_component(&mut self.system, &mut self.motion, component);
        self.system.plan_row_motion(self.motion.time);
        Ok(())
    }

    /// Bounds the force of each row of a hard constraint or a compliance from now on (N, N m).
    ///
    /// # Errors
    /// [`Error::Model`] if the component has no rows, or no force is between the bounds.
    pub fn set_bounds(&mut self, component: ComponentId, lower: f64, upper: f64) -> Result<(), Error> {
        self.system.model.set_bounds(component, lower, upper)?;
        self.motion.ledger.energies = None;
        sleep::wake_component(&mut self.system, &mut self.motion, component);
        Ok(())
    }

    /// Sets an input of a force field, such as the activation of a muscle.
    ///
    /// # Errors
    /// [`Error::Model`] if there is no such input, or the law does not allow the value.
    pub fn set_input(&mut self, component: ComponentId, input: usize, value: f64) -> Result<(), Error> {
        let before = self.input(component, input);
        if before == Some(value) {
            return Ok(());
        }
        let stored = self.potential(component);
        self.system.model.set_input(component, input, value)?;
        self.motion.ledger.inputs += self.potential(component) - stored;
        sleep::wake_component(&mut self.system, &mut self.motion, component);
        Ok(())
    }

    fn input(&self, component: ComponentId, input: usize) -> Option<f64> {
        let ComponentId::ForceField(i) = component else {
            return None;
        };
        self.system.model.force_fields().get(i)?;
        self.system.model.inputs(i).get(input).copied()
    }

    pub(crate) fn restore_inputs(&mut self, inputs: &[f64]) -> Result<(), Error> {
        let (expected, found) = (self.system.model.parameters().inputs().len(), inputs.len());
        if expected != found {
            let what = "inputs";
            return Err(ModelError::State {
                what,
                expected,
                found,
            }
            .into());
        }
        let mut rest = inputs.iter();
        for i in 0..self.system.model.force_fields().len() {
            for k in 0..self.system.model.inputs(i).len() {
                let value = rest.next().copied().unwrap_or(0.0);
                self.system
                    .model
                    .set_input(ComponentId::ForceField(i), k, value)?;
            }
        }
        Ok(())
    }

    /// Releases force fields and hard constraints from now on: they have neither rows, nor forces,
    /// nor energy, as if the model had never had them; the system is planned anew. What they stored
    /// is no part of the potential energy any more, and `inputs` of the next ledger has it as
    /// energy that left. Bodies that a joint joined go on not to meet each other. Checkpoints hold
    /// what is released.
    ///
    /// # Errors
    /// [`Error::Model`] for a mass, and as [`Simulation::new`]; then nothing changes.
    pub fn release_components(&mut self, components: &[ComponentId]) -> Result<(), Error> {
        let mut all = self.motion.controls.released.clone();
        all.extend(components);
        all.sort_unstable();
        all.dedup();
        let fields = self.system.model.force_fields().len();
        let mut acting = components.to_vec();
        acting.sort_unstable();
        acting.dedup();
        acting.retain(|c| matches!(c, ComponentId::ForceField(i) if *i < fields) && !self.is_released(*c));
        let stored: f64 = acting.iter().map(|component| self.potential(*component)).sum();
        if !self.impose_released(&all)? {
            return Ok(());
        }
        self.motion.ledger.inputs -= stored;
        // Forces jump: what methods and the choice of steps remember is of other forces.
        self.motion.integrator.forget();
        (self.motion.adaptive.next, self.motion.adaptive.error) = (None, None);
        Ok(())
    }

    /// Says whether a component acts no more.
    pub fn is_released(&self, component: ComponentId) -> bool {
        self.system.model.is_released(component)
    }

    /// Releases exactly these components; says whether that changed anything.
    pub(crate) fn impose_released(&mut self, list: &[ComponentId]) -> Result<bool, Error> {
        let Some(before) = self.system.release(list)? else {
            return Ok(false);
        };
        self.motion.controls.released.clear();
        self.motion.controls.released.extend_from_slice(list);
        self.plan_anew(&before)?;
        step::find_held(&mut self.system);
        Ok(true)
    }

    /// Gives the simulation a source of contacts, instead of the one it had; plans the system anew.
    ///
    /// # Errors
    /// As [`Simulation::new`], and what keeps the finder from finding contacts in this model.
    pub fn set_contacts(&mut self, finder: impl ContactFinder + 'static) -> Result<(), Error> {
        self.wake_all();
        self.motion.ledger.energies = None;
        step::set_finder(&mut self.system, &mut self.motion, Box::new(finder))?;
        let rows = self.system.model.row_groups().to_vec();
        self.plan_anew(&rows)
    }

    /// Takes the source of contacts away.
    pub fn remove_contacts(&mut self) {
        self.wake_all();
        self.motion.ledger.energies = None;
        self.motion.ledger.overlap = 0.0;
        self.system.contacts = None;
        self.motion.contacts = None;
    }

    /// The contacts of the last step, in the order of the finder.
    pub fn contacts(&self) -> &[ContactReading] {
        let contacts = self.system.contacts.as_ref();
        contacts.map_or(&[], |c| c.observed.readings())
    }

    /// The contacts of the last step or equilibrium in numbers; of an equilibrium without work and
    /// energies.
    pub fn contacts_report(&self) -> ContactsReport {
        let contacts = self.system.contacts.as_ref();
        contacts.map_or_else(ContactsReport::default, |c| *c.observed.report())
    }

    /// Length of the step that these are of (s; of an equilibrium 1): the last one, or the last
    /// part of one that was taken in parts.
    pub fn contact_step(&self) -> f64 {
        let contacts = self.system.contacts.as_ref();
        contacts.map_or(0.0, |c| c.observed.step())
    }

    /// The complementarity problem of the island whose contacts had the largest residual in the
    /// last step that was tried, to be looked at or written to a file (`pliant_solvers::exchange`).
    pub fn contact_problem(&self) -> Option<&Problem> {
        self.system.contacts.as_ref()?.worst_problem()
    }

    /// Time that the cones of contacts took so far, for reading only: in steps, and in corrections
    /// of overlap, limits and ropes. The time of one step is the difference of two profiles.
    pub fn contact_profiles(&self) -> [ConeProfile; 2] {
        self.system.contact_profiles()
    }

    /// The contacts that began and those that ended to carry an impulse in the last step, by key.
    pub fn contact_events(&self) -> &[ContactEvent] {
        let contacts = self.system.contacts.as_ref();
        contacts.map_or(&[], |c| c.observed.events())
    }

    /// Stresses and strains of a solid at its quadrature points, at the present state:
    /// `sigma = P F^T/det F` with the first Piola-Kirchhoff stress `P` that acts on the deformation
    /// gradients, by all components on them and on what is mapped from them. So it holds what the
    /// equations of motion hold: the material, its viscosity, its past, and rows of volume.
    /// [`NodalRecovery`](pliant_continuum::NodalRecovery) carries them to nodes, and
    /// [`von_mises`](pliant_continuum::von_mises) and [`pressure`](pliant_continuum::pressure) are
    /// of one stress.
    ///
    /// Rows ([`Treatment::Compliance`](pliant_model::Treatment::Compliance),
    /// incompressibility) have the mean force of the last step, zero before the first. Damping in
    /// proportion to stiffnesses is left out.
    #[cfg(feature = "continuum")]
    pub fn solid_fields(&self, solid: &SolidParts) -> SolidFields {
        let internal = match solid.material {
            ComponentId::ForceField(i) => {
                let range = self.model().force_fields()[i].component.internal.clone();
                &self.state().internal[range]
            }
            _ => &[][..],
        };
        let (gradients, forces) = self.whole_node(solid.gradients);
        solid.fields(&gradients, &forces, internal)
    }

    /// Stresses, strains and bending moments of a sheet, of each triangle and quadrangle, at the
    /// present state. Of rows as [`solid_fields`](Self::solid_fields) says.
    #[cfg(feature = "continuum")]
    pub fn sheet_fields(&self, sheet: &SheetParts) -> SheetFields {
        let (strains, forces) = self.whole_node(sheet.strains);
        let moments = sheet.curvatures.map(|node| self.whole_node(node));
        let membrane = SheetForces {
            strains: &strains,
            forces: &forces,
        };
        let bending = moments
            .as_ref()
            .map(|(strains, forces)| SheetForces { strains, forces });
        sheet.fields(membrane, bending)
    }

    /// Stresses, strains and bending moments of a shell on frames, of each quadrangle, at the
    /// present state. Of rows as [`solid_fields`](Self::solid_fields) says.
    #[cfg(feature = "continuum")]
    pub fn shell_fields(&self, shell: &ShellParts) -> SheetFields {
        let (strains, forces) = self.whole_node(shell.strains);
        shell.fields(&strains, &forces)
    }

    /// Forces and moments in the section of each segment of a rod: the mean of the last step where
    /// its strains are compliances, which is the default.
    #[cfg(feature = "continuum")]
    pub fn rod_forces(&self, rod: &RodParts) -> Vec<RodForces> {
        let size = self.model().node(rod.strains).space.velocity_size();
        let forces = self.force_through(rod.strains);
        rod.forces(&self.model().gather_elements(rod.strains, size, &forces))
    }

    /// Positions of all elements of a node and the forces through it, also where processes share
    /// its elements out: all of them call it then.
    #[cfg(feature = "continuum")]
    fn whole_node(&self, node: NodeId) -> (Vec<f64>, Vec<f64>) {
        let (model, space) = (self.model(), self.model().node(node).space);
        let forces = self.force_through(node);
        (
            model.gather_elements(node, space.position_size(), self.positions(node)),
            model.gather_elements(node, space.velocity_size(), &forces),
        )
    }

    /// The force on the coordinates of a mapped node of all components that act on it, or on what
    /// is mapped from it, each as [`force`](Self::force) has it. Of components that act through
    /// other nodes as well, the part that acts through this one.
    pub fn force_through(&self, node: NodeId) -> Vec<f64> {
        observe::force_through(&self.system, &self.motion, node)
    }

    /// Sum of the contacts of the last step on one element of a node: average force (N) and torque
    /// about its position (N m; zero for points), in world axes.
    pub fn contact_force(&self, node: NodeId, element: usize) -> ([f64; 3], [f64; 3]) {
        let contacts = self.system.contacts.as_ref();
        contacts.map_or_else(Default::default, |c| {
            c.observed.force_on(&self.system.model, node, element)
        })
    }

    /// Sums of the contacts of the last step on all elements of a node: average forces (N) in world
    /// axes. Zero without contacts.
    pub fn contact_forces(&self, node: NodeId) -> Vec<[f64; 3]> {
        let model = &self.system.model;
        match &self.system.contacts {
            Some(contacts) => contacts.observed.forces_on(model, node),
            None => vec![[0.0; 3]; model.node(node).count],
        }
    }

    /// The areas of the points of one side of contacts, a collider by its index in its world, if it
    /// is a mesh of triangles, rigid or soft; what
    /// [`contact_pressure_on`](Self::contact_pressure_on) reads the pressure with. Cost: a pass
    /// over its triangles, of a soft one with the state in which the model begins.
    ///
    /// # Errors
    /// Errors of the source of contacts.
    pub fn contact_area(&self, side: u32) -> Result<Option<ContactArea>, Error> {
        match &self.system.contacts {
            Some(c) => c.detection.contact_area(&self.system.model, side),
            None => Ok(None),
        }
    }

    /// The contact pressure (Pa) of the last step at every point of one side, a collider by its
    /// index in its world: the normal forces there over the area that the point stands for, a third
    /// of its triangles where the model begins. By the numbers of the points of its mesh or its
    /// node; empty if it is no mesh of triangles.
    ///
    /// # Errors
    /// Errors of [`contact_area`](Self::contact_area).
    pub fn contact_pressure(&self, side: u32) -> Result<Vec<f64>, Error> {
        let mut out = Vec::new();
        if let Some(area) = self.contact_area(side)? {
            self.contact_pressure_on(side, &area, &mut out);
        }
        Ok(out)
    }

    /// Reads [`contact_pressure`](Self::contact_pressure) into a buffer, with areas that are known.
    pub fn contact_pressure_on(&self, side: u32, area: &ContactArea, out: &mut Vec<f64>) {
        out.clear();
        if let Some(c) = &self.system.contacts {
            let (model, state) = (&self.system.model, &self.motion.state);
            c.observed.pressure(model, state, side, area, out);
        }
    }

    /// Name of one side of a contact.
    pub fn contact_side(&self, side: u32) -> String {
        let contacts = self.system.contacts.as_ref();
        contacts.map_or_else(String::new, |c| c.detection.name(side))
    }

    /// Finds the dynamics along coordinates at the present moment: their accelerations by the
    /// forces as they are, and by further forces along them. Coordinates are nodes of one scalar
    /// each, such as the free coordinates of joints (`JointHandle::coordinates`).
    ///
    /// Hard rows hold; limits, dry friction, ropes and other rows with bounds take no part, nor do
    /// contacts and the components `without`, such as the motors of the joints
    /// (`JointHandle::motors`): the forces that [`CoordinateDynamics::forces_for`] gives are those
    /// that these would have to give. What is fixed or sleeps is held.
    ///
    /// Cost: an evaluation, a factor of the masses with the rows, and a solve for each coordinate.
    ///
    /// ```
    /// use pliant::prelude::*;
    ///
    /// // A cart of 2 kg on a vertical rail: it takes 2 (9.81 + 3) N to lift it at 3 m/s^2.
    /// let mut model = Model::new();
    /// model.set_gravity([0.0, 0.0, -9.81])?;
    /// let cart = model.add_rigid_bodies("cart", &[Pose::default()])?;
    /// model.add_mass("mass", cart, Mass::Rigid(vec![RigidMass::sphere(2.0, 0.3)]))?;
    /// let rail = model.add_joint("rail", &Joint::slider(Side::World, Side::Body(cart, 0)))?;
    /// let mut simulation = Simulation::new(model)?;
    /// let dynamics = simulation.coordinate_dynamics(&rail.coordinates, &rail.motors)?;
    /// let force = dynamics.forces_for(&[3.0]).expect("independent coordinates");
    /// assert!((force[0] - 2.0 * (9.81 + 3.0)).abs() < 1e-12);
    /// # Ok::<(), pliant::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::OutOfRange`] if a node is not one scalar, [`Error::Model`] where the forces are not
    /// defined, [`Error::Incompatible`] for contradictory rows, and those of the linear solver.
    pub fn coordinate_dynamics(
        &mut self,
        nodes: &[NodeId],
        without: &[ComponentId],
    ) -> Result<CoordinateDynamics, Error> {
        self.check_coordinates(nodes)?;
        coordinates::dynamics(&mut self.system, &self.motion, nodes, without)
    }

    /// Finds `J M^-1 J^T` of the motions that hard rows allow, rows first, for the Jacobian `J` of
    /// so many `rows` over all degrees of freedom, rows first: accelerations along the rows by unit
    /// forces along them (1/kg, 1/(kg m^2)). Its inverse is the inertia of operational space. What
    /// takes no part is as in [`coordinate_dynamics`](Self::coordinate_dynamics).
    ///
    /// # Errors
    /// As there, and [`Error::OutOfRange`] if the Jacobian has another size or is not finite.
    pub fn mobility(
        &mut self,
        without: &[ComponentId],
        rows: usize,
        jacobian: &[f64],
    ) -> Result<Vec<f64>, Error> {
        let expected = rows.saturating_mul(self.model().dof_count());
        if jacobian.len() != expected {
            return Err(Error::OutOfRange {
                what: "the number of entries of a Jacobian",
                value: jacobian.len() as f64,
                bound: "that of its rows times the degrees of freedom",
            });
        }
        if let Some(value) = jacobian.iter().find(|x| !x.is_finite()) {
            return Err(Error::OutOfRange {
                what: "an entry of a Jacobian",
                value: *value,
                bound: "finite",
            });
        }
        coordinates::mobility(&mut self.system, &self.motion, without, (rows, jacobian))
    }

    fn check_coordinates(&self, nodes: &[NodeId]) -> Result<(), Error> {
        let count = |node: &NodeId| {
            let node = self.model().node(*node);
            node.count * node.space.velocity_size()
        };
        match nodes.iter().map(count).find(|count| *count != 1) {
            Some(count) => Err(Error::OutOfRange {
                what: "the number of scalars of a node that is a coordinate",
                value: count as f64,
                bound: "one",
            }),
            None => Ok(()),
        }
    }
}
