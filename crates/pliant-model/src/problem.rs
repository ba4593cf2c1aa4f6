//! A model with the present values of its parameters.

use crate::{
    At, ComponentId, ElementIndex, Model, ModelError, Node, Parameters, PrescribedMotion, RowGroup, State,
    Treatment,
};
use std::ops::Deref;
use std::sync::Arc;

/// A model, shared and unchanging, with the present values of its parameters.
///
/// **Equation.** That of [`Model`], with the values of its [`Parameters`].
///
/// **Use.** Whoever evaluates forces, energies and rows takes one. Its structure is that of the
/// model, to which it dereferences; several problems, on several threads, may share one model.
#[derive(Clone, Debug)]
pub struct Problem {
    pub(crate) model: Arc<Model>,
    /// The model with all of its elements.
    pub(crate) whole: Arc<Model>,
    /// Elements that are taken out, and those of each node that are gone with them.
    pub(crate) removed: Vec<ElementIndex>,
    pub(crate) gone: Vec<Vec<bool>>,
    parameters: Parameters,
    /// See [`mass_in_space`](Self::mass_in_space).
    mass_in_space: f64,
}

impl Deref for Problem {
    type Target = Model;

    fn deref(&self) -> &Model {
        &self.model
    }
}

impl From<Model> for Problem {
    fn from(model: Model) -> Self {
        Self::new(model)
    }
}

impl From<Arc<Model>> for Problem {
    fn from(model: Arc<Model>) -> Self {
        Self::new(model)
    }
}

impl Problem {
    /// A model with the initial values of its parameters.
    pub fn new(model: impl Into<Arc<Model>>) -> Self {
        let model = model.into();
        let parameters = model.initial_parameters().clone();
        let mut mass_in_space = 0.0;
        for attachment in model.masses() {
            let node = model.node(attachment.node);
            if node.space.is_spatial() {
                let add = |mass, _, _| mass_in_space += mass;
                attachment.component.pairs(node.count, add);
            }
        }
        Self {
            whole: Arc::clone(&model),
            removed: Vec::new(),
            gone: Vec::new(),
            model,
            parameters,
            mass_in_space,
        }
    }

    /// The mass of all nodes that gravity acts on (kg).
    pub fn mass_in_space(&self) -> f64 {
        self.mass_in_space
    }

    /// The model, which is its structure: without the elements that are taken out of it.
    pub fn model(&self) -> &Arc<Model> {
        &self.model
    }

    /// The present values.
    pub fn parameters(&self) -> &Parameters {
        &self.parameters
    }

    /// Goes back to values that a problem of the same model had. Allocates nothing once warm.
    ///
    /// # Panics
    /// If they are of a model with other components.
    pub fn set_parameters(&mut self, parameters: &Parameters) {
        assert!(self.parameters.fit(parameters), "parameters of another model");
        self.parameters.clone_from(parameters);
    }

    /// Takes from another problem the values that it has changed since the initial ones of its model
    /// (inputs, gravity, motions, bounds, released components, treatments chosen for
    /// [`Treatment::Auto`]); all others are the initial ones of this model. Allocates nothing.
    ///
    /// # Errors
    /// [`ModelError`] where a law of this model does not allow its inputs.
    ///
    /// # Panics
    /// If the other model has other components.
    pub fn follow(&mut self, other: &Self) -> Result<(), ModelError> {
        assert!(
            self.parameters.fit(&other.parameters),
            "parameters of another model"
        );
        let of_other = [other.initial_parameters(), &other.parameters];
        self.parameters.follow(&self.model, of_other)
    }

    /// Gravity [m/s^2].
    pub fn gravity(&self) -> [f64; 3] {
        self.parameters.gravity()
    }

    /// Inputs of a force field.
    ///
    /// # Panics
    /// If there is no such force field.
    pub fn inputs(&self, force_field: usize) -> &[f64] {
        &self.parameters.inputs()[self.force_fields()[force_field].component.inputs.clone()]
    }

    /// How a force field enters the system: never [`Treatment::Auto`].
    ///
    /// # Panics
    /// If there is no such force field.
    pub fn treatment(&self, force_field: usize) -> Treatment {
        self.parameters.treatment(force_field)
    }

    /// The motion that drives a group's rows.
    pub fn motion(&self, group: &RowGroup) -> Option<&PrescribedMotion> {
        self.parameters.motion(group)
    }

    /// The bounds of the force of a group's rows (N, N m).
    pub fn bounds(&self, group: &RowGroup) -> Option<(f64, f64)> {
        self.parameters.bounds(group)
    }

    /// The constraint rows, in order.
    pub fn row_groups(&self) -> &[RowGroup] {
        self.parameters.row_groups()
    }

    /// Number of constraint rows.
    pub fn row_count(&self) -> usize {
        self.parameters.row_count()
    }

    /// Where force field `i` is evaluated in a state, with its inputs.
    ///
    /// # Panics
    /// If there is no such force field, or the state belongs to another model.
    pub fn at<'a>(&'a self, i: usize, state: &'a State) -> At<'a> {
        let node: &Node = self.node(self.force_fields()[i].node);
        At {
            space: node.space,
            x: &state.positions[node.position_range()],
            v: &state.velocities[node.velocity_range()],
            inputs: self.inputs(i),
        }
    }

    /// Sets gravity [m/s^2].
    ///
    /// # Errors
    /// As [`Model::set_gravity`].
    pub fn set_gravity(&mut self, gravity: [f64; 3]) -> Result<(), ModelError> {
        self.parameters.set_gravity(gravity)
    }

    /// Sets an input of a force field, such as an activation.
    ///
    /// # Errors
    /// As [`Model::set_input`].
    pub fn set_input(&mut self, component: ComponentId, input: usize, value: f64) -> Result<(), ModelError> {
        self.parameters.set_input(&self.model, component, input, value)
    }

    /// Asks whether an input may have a value, and changes nothing.
    ///
    /// # Errors
    /// [`ModelError`] where [`set_input`](Self::set_input) has one: the component is no force
    /// field, it has no such input, or its law does not allow the value.
    pub fn check_input(&self, component: ComponentId, input: usize, value: f64) -> Result<(), ModelError> {
        self.parameters.check_input(&self.model, component, input, value)
    }

    /// Says whether a component acts no more, since [`release`](Self::release).
    pub fn is_released(&self, component: ComponentId) -> bool {
        self.parameters.is_released(component)
    }

    /// Releases exactly the force fields and constraints of a list: they have neither rows, nor
    /// forces, nor energy, until they are left out of another list. Says whether that changed
    /// anything.
    ///
    /// # Errors
    /// [`ModelError`] if the list has a mass, or what the model does not have; then nothing
    /// changes.
    pub fn release(&mut self, list: &[ComponentId]) -> Result<bool, ModelError> {
        self.parameters.release(&self.model, list)
    }

    /// Drives a hard constraint or a compliance.
    ///
    /// # Errors
    /// As [`Model::set_motion`].
    pub fn set_motion(
        &mut self,
        component: ComponentId,
        motion: Option<PrescribedMotion>,
    ) -> Result<(), ModelError> {
        self.parameters.set_motion(&self.model, component, motion)
    }

    /// Bounds the force of each row of a hard constraint or a compliance (N, N m).
    ///
    /// # Errors
    /// As [`Model::set_bounds`].
    pub fn set_bounds(&mut self, component: ComponentId, lower: f64, upper: f64) -> Result<(), ModelError> {
        self.parameters.set_bounds(&self.model, component, (lower, upper))
    }

    /// Chooses the treatment of a force field added as [`Treatment::Auto`]; says whether that
    /// changed it.
    ///
    /// # Panics
    /// If there is no such force field.
    pub fn choose_treatment(&mut self, force_field: usize, treatment: Treatment) -> bool {
        self.parameters
            .choose_treatment(&self.model, force_field, treatment)
    }

    /// A constraint row in words.
    pub fn describe_row(&self, row: usize) -> String {
        let Some(group) = self
            .row_groups()
            .iter()
            .rev()
            .find(|g| g.first_row <= row && g.count > 0)
        else {
            return format!("row {row}");
        };
        let name = self.component_name(group.component);
        let coordinate = (row - group.first_row) % group.size;
        let element = (row - group.first_row) / group.size;
        match group.size {
            1 => format!("`{name}`, element {element}"),
            2 | 3 => format!("`{name}`, element {element}, {}", ["x", "y", "z"][coordinate]),
            _ => format!("`{name}`, element {element}, coordinate {coordinate}"),
        }
    }

    /// Moves the internal variables of force fields with a memory on to the positions of the
    /// propagated state, `elapsed` seconds (s) after those that are there. Returns what these force
    /// fields dissipated (J). `old` is scratch. Allocates nothing once warm.
    ///
    /// # Panics
    /// If the state belongs to another model.
    pub fn advance_memory(&self, state: &mut State, elapsed: f64, old: &mut Vec<f64>) -> f64 {
        let mut dissipated = 0.0;
        if self.internal_count() == 0 {
            return dissipated;
        }
        old.clone_from(&state.internal);
        for (i, field) in self.force_fields().iter().enumerate() {
            let node = self.node(field.node);
            if self.is_released(ComponentId::ForceField(i)) {
                continue;
            }
            if let Some(memory) = field.component.law.memory() {
                let range = field.component.internal.clone();
                let at = At {
                    space: node.space,
                    x: &state.positions[node.position_range()],
                    v: &state.velocities[node.velocity_range()],
                    inputs: self.inputs(i),
                };
                let internal = &old[range.clone()];
                let past = crate::Past { internal, elapsed };
                dissipated += memory.advance(at, past, &mut state.internal[range]);
            }
        }
        dissipated
    }

    /// The energy (J) that force fields brought in ([`Memory::brought`](crate::Memory::brought)) on
    /// the way from these internal variables to those of the state. Allocates nothing.
    ///
    /// # Panics
    /// If the state or the variables belong to another model.
    pub fn brought_by_memory(&self, state: &State, elapsed: f64, old: &[f64]) -> f64 {
        let mut brought = 0.0;
        if self.internal_count() == 0 {
            return brought;
        }
        for (i, field) in self.force_fields().iter().enumerate() {
            if self.is_released(ComponentId::ForceField(i)) {
                continue;
            }
            if let Some(memory) = field.component.law.memory() {
                let range = field.component.internal.clone();
                let past = crate::Past {
                    internal: &old[range.clone()],
                    elapsed,
                };
                brought += memory.brought(self.at(i, state), past, &state.internal[range]);
            }
        }
        brought
    }
}
