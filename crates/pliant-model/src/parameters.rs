//! The values that may change while a model is simulated, and the list of rows that follows from
//! them.

use crate::model::ForceFieldEntry;
use crate::validate::{check_all_finite, check_finite, check_least};
use crate::{ComponentId, Field, Model, ModelError, NodeId, PrescribedMotion, RowGroup, Treatment};
use std::ops::Range;

/// The values that may change while a model is simulated: gravity, inputs and treatments of force
/// fields, motions and bounds of rows; and the list of rows, which follows from the treatments.
///
/// **Equation.** The arguments of the equations of [`Model`] that are neither unknowns nor
/// structure: `g`, the inputs of the laws, the targets `g(t)` of driven rows,
/// `lower <= lambda <= upper`, and which laws are rows.
///
/// **Use.** Part of a [`Problem`](crate::Problem), which sets them. A copy into another one
/// (`clone_from`) allocates nothing once it is as large.
#[derive(Debug, Default, PartialEq)]
pub struct Parameters {
    gravity: [f64; 3],
    /// Of all force fields, one after the other ([`crate::ForceFieldEntry::inputs`]).
    inputs: Vec<f64>,
    /// How each force field enters the system: never [`Treatment::Auto`].
    treatments: Vec<Treatment>,
    /// Of each force field, if it is a compliance.
    force_fields: Vec<RowParameters>,
    constraints: Vec<RowParameters>,
    groups: Vec<RowGroup>,
    rows: usize,
}

/// Values of the rows of one component.
#[derive(Clone, Debug, Default, PartialEq)]
struct RowParameters {
    /// Where the rows are held instead of at zero.
    motion: Option<PrescribedMotion>,
    /// Smallest and largest force of each row.
    bounds: Option<(f64, f64)>,
    /// Whether the component acts no more.
    released: bool,
}

impl Clone for Parameters {
    fn clone(&self) -> Self {
        let mut out = Self::default();
        out.clone_from(self);
        out
    }

    fn clone_from(&mut self, from: &Self) {
        let Self {
            gravity,
            inputs,
            treatments,
            force_fields,
            constraints,
            groups,
            rows,
        } = from;
        self.gravity = *gravity;
        self.inputs.clone_from(inputs);
        self.treatments.clone_from(treatments);
        self.force_fields.clone_from(force_fields);
        self.constraints.clone_from(constraints);
        self.groups.clone_from(groups);
        self.rows = *rows;
    }
}

impl Parameters {
    /// Gravity (m/s^2).
    pub fn gravity(&self) -> [f64; 3] {
        self.gravity
    }

    /// Inputs of all force fields, one after the other.
    pub fn inputs(&self) -> &[f64] {
        &self.inputs
    }

    /// How a force field enters the system: never [`Treatment::Auto`]. One that is
    /// [released](Self::is_released) is a compliance without rows.
    ///
    /// # Panics
    /// If there is no such force field.
    pub fn treatment(&self, force_field: usize) -> Treatment {
        match self.force_fields[force_field].released {
            true => Treatment::Compliance,
            false => self.treatments[force_field],
        }
    }

    /// Says whether a component acts no more: it has neither rows, nor forces, nor energy.
    pub fn is_released(&self, component: ComponentId) -> bool {
        self.of(component).is_some_and(|of| of.released)
    }

    /// The motion that drives a group's rows.
    pub fn motion(&self, group: &RowGroup) -> Option<&PrescribedMotion> {
        self.of(group.component)?.motion.as_ref()
    }

    /// Whether a motion drives the rows of a component.
    pub(crate) fn is_driven(&self, component: ComponentId) -> bool {
        self.of(component).is_some_and(|of| of.motion.is_some())
    }

    /// The bounds of the force of a group's rows (N, N m).
    pub fn bounds(&self, group: &RowGroup) -> Option<(f64, f64)> {
        self.of(group.component)?.bounds
    }

    /// The constraint rows, in order.
    pub fn row_groups(&self) -> &[RowGroup] {
        &self.groups
    }

    /// Number of constraint rows.
    pub fn row_count(&self) -> usize {
        self.rows
    }

    fn of(&self, component: ComponentId) -> Option<&RowParameters> {
        match component {
            ComponentId::ForceField(i) => Some(&self.force_fields[i]),
            ComponentId::Constraint(i) => Some(&self.constraints[i]),
            ComponentId::Mass(_) => None,
        }
    }

    fn of_mut(&mut self, component: ComponentId) -> Option<&mut RowParameters> {
        match component {
            ComponentId::ForceField(i) => Some(&mut self.force_fields[i]),
            ComponentId::Constraint(i) => Some(&mut self.constraints[i]),
            ComponentId::Mass(_) => None,
        }
    }

    /// Whether these are values of the same components as others.
    pub(crate) fn fit(&self, other: &Self) -> bool {
        self.inputs.len() == other.inputs.len()
            && self.treatments.len() == other.treatments.len()
            && self.constraints.len() == other.constraints.len()
    }

    /// Adds the values of a force field, and returns the range of its inputs.
    pub(crate) fn push_force_field(&mut self, treatment: Treatment, inputs: &[f64]) -> Range<usize> {
        let first = self.inputs.len();
        self.inputs.extend_from_slice(inputs);
        self.treatments.push(treatment);
        self.force_fields.push(RowParameters::default());
        first..self.inputs.len()
    }

    /// Adds the values of a hard constraint.
    pub(crate) fn push_constraint(&mut self) {
        self.constraints.push(RowParameters::default());
    }

    /// Takes away the values of components that the model no longer has.
    pub(crate) fn truncate(&mut self, model: &Model) {
        let fields = model.force_fields();
        self.inputs
            .truncate(fields.last().map_or(0, |f| f.component.inputs.end));
        self.treatments.truncate(fields.len());
        self.force_fields.truncate(fields.len());
        self.constraints.truncate(model.constraints().len());
        self.list_rows(model);
    }

    pub(crate) fn set_gravity(&mut self, gravity: [f64; 3]) -> Result<(), ModelError> {
        check_all_finite("gravity", Field::Gravity, &gravity)?;
        self.gravity = gravity;
        Ok(())
    }

    pub(crate) fn choose_treatment(
        &mut self,
        model: &Model,
        force_field: usize,
        treatment: Treatment,
    ) -> bool {
        let automatic = model.force_fields()[force_field].component.automatic;
        if !automatic || treatment == Treatment::Auto || self.treatments[force_field] == treatment {
            return false;
        }
        self.treatments[force_field] = treatment;
        self.list_rows(model);
        true
    }

    /// Releases exactly the force fields and constraints of a list; says whether that changed
    /// anything.
    pub(crate) fn release(&mut self, model: &Model, list: &[ComponentId]) -> Result<bool, ModelError> {
        for component in list {
            let exists = match *component {
                ComponentId::ForceField(i) => i < self.force_fields.len(),
                ComponentId::Constraint(i) => i < self.constraints.len(),
                ComponentId::Mass(i) if i < model.masses().len() => {
                    let name = model.component_name(*component).to_owned();
                    return Err(ModelError::NotRows {
                        name,
                        action: "released",
                    });
                }
                ComponentId::Mass(_) => false,
            };
            if !exists {
                let what = "components to release";
                let (expected, found) = (0, list.len());
                return Err(ModelError::State {
                    what,
                    expected,
                    found,
                });
            }
        }
        let mut changed = false;
        let fields = (0..self.force_fields.len()).map(ComponentId::ForceField);
        let constraints = (0..self.constraints.len()).map(ComponentId::Constraint);
        for component in fields.chain(constraints) {
            let released = list.contains(&component);
            if let Some(of) = self.of_mut(component) {
                changed |= of.released != released;
                of.released = released;
            }
        }
        if changed {
            self.list_rows(model);
        }
        Ok(changed)
    }

    pub(crate) fn set_motion(
        &mut self,
        model: &Model,
        component: ComponentId,
        motion: Option<PrescribedMotion>,
    ) -> Result<(), ModelError> {
        let node = self.rows_of(model, component, "driven")?;
        if let Some(motion) = &motion {
            let name = model.component_name(component);
            motion.check(name, model.node(node).velocity_range().len())?;
        }
        if let Some(of) = self.of_mut(component) {
            of.motion = motion;
        }
        Ok(())
    }

    pub(crate) fn set_bounds(
        &mut self,
        model: &Model,
        component: ComponentId,
        bounds: (f64, f64),
    ) -> Result<(), ModelError> {
        self.rows_of(model, component, "given bounds")?;
        let (lower, upper) = bounds;
        if lower.is_nan()
            || upper.is_nan()
            || lower > upper
            || lower == f64::INFINITY
            || upper == f64::NEG_INFINITY
        {
            let name = model.component_name(component).to_owned();
            return Err(ModelError::Bounds { name, lower, upper });
        }
        if model.friction(component).is_some() {
            let name = model.component_name(component).to_owned();
            let reason = "and bounds that are given";
            return Err(ModelError::Friction { name, reason });
        }
        if let Some(of) = self.of_mut(component) {
            of.bounds = Some(bounds);
        }
        Ok(())
    }

    pub(crate) fn set_input(
        &mut self,
        model: &Model,
        component: ComponentId,
        input: usize,
        value: f64,
    ) -> Result<(), ModelError> {
        let entry = input_entry(model, component, input, value)?;
        let place = entry.inputs.start + input;
        let before = std::mem::replace(&mut self.inputs[place], value);
        let name = model.component_name(component);
        let allowed = entry.law.check_inputs(name, &self.inputs[entry.inputs.clone()]);
        if allowed.is_err() {
            self.inputs[place] = before;
        }
        allowed
    }

    /// Whether an input may have a value.
    pub(crate) fn check_input(
        &self,
        model: &Model,
        component: ComponentId,
        input: usize,
        value: f64,
    ) -> Result<(), ModelError> {
        let entry = input_entry(model, component, input, value)?;
        let mut inputs = self.inputs[entry.inputs.clone()].to_vec();
        inputs[input] = value;
        entry.law.check_inputs(model.component_name(component), &inputs)
    }

    /// Takes the values that differ between the initial ones of a model and those that it has
    /// `now`; all others become the initial ones of this model, which has the same components.
    pub(crate) fn follow(&mut self, model: &Model, [initial, now]: [&Self; 2]) -> Result<(), ModelError> {
        fn pick<T: Clone + PartialEq>(to: &mut T, [own, initial, now]: [&T; 3]) {
            to.clone_from(if now == initial { own } else { now });
        }
        let own = model.initial_parameters();
        pick(&mut self.gravity, [&own.gravity, &initial.gravity, &now.gravity]);
        for (k, to) in self.inputs.iter_mut().enumerate() {
            pick(to, [&own.inputs[k], &initial.inputs[k], &now.inputs[k]]);
        }
        let mut has_other_rows = false;
        for (i, field) in model.force_fields().iter().enumerate() {
            let component = &field.component;
            component
                .law
                .check_inputs(&field.name, &self.inputs[component.inputs.clone()])?;
            if component.automatic && self.treatments[i] != now.treatments[i] {
                self.treatments[i] = now.treatments[i];
                has_other_rows = true;
            }
        }
        for (to, own, initial, now) in [
            (
                &mut self.force_fields,
                &own.force_fields,
                &initial.force_fields,
                &now.force_fields,
            ),
            (
                &mut self.constraints,
                &own.constraints,
                &initial.constraints,
                &now.constraints,
            ),
        ] {
            for (k, to) in to.iter_mut().enumerate() {
                let (own, initial, now) = (&own[k], &initial[k], &now[k]);
                pick(&mut to.motion, [&own.motion, &initial.motion, &now.motion]);
                pick(&mut to.bounds, [&own.bounds, &initial.bounds, &now.bounds]);
                has_other_rows |= to.released != now.released;
                to.released = now.released;
            }
        }
        if has_other_rows {
            self.list_rows(model);
        }
        Ok(())
    }

    /// The node of a component that has rows.
    fn rows_of(
        &self,
        model: &Model,
        component: ComponentId,
        action: &'static str,
    ) -> Result<NodeId, ModelError> {
        match component {
            ComponentId::Constraint(i) => Ok(model.constraints()[i].node),
            ComponentId::ForceField(i)
                if self.treatments[i] == Treatment::Compliance
                    && !model.force_fields()[i].component.automatic =>
            {
                Ok(model.force_fields()[i].node)
            }
            _ => Err(ModelError::NotRows {
                name: model.component_name(component).into(),
                action,
            }),
        }
    }

    /// Lists the rows of all constraints and compliances anew.
    fn list_rows(&mut self, model: &Model) {
        self.groups.clear();
        self.rows = 0;
        for component in model.row_order() {
            self.list_rows_of(model, *component);
        }
    }

    /// Adds the rows of one component, if it has any, to the list.
    pub(crate) fn list_rows_of(&mut self, model: &Model, component: ComponentId) {
        if self.is_released(component) {
            return;
        }
        let node = match component {
            ComponentId::ForceField(i) if self.treatments[i] == Treatment::Compliance => {
                model.force_fields()[i].node
            }
            ComponentId::Constraint(i) => model.constraints()[i].node,
            _ => return,
        };
        let target = model.node(node);
        let (size, count) = (target.space.velocity_size(), target.count);
        self.groups.push(RowGroup {
            component,
            node,
            first_row: self.rows,
            size,
            count,
        });
        self.rows += size * count;
    }
}

/// The force field that has an input, if the value is a number.
///
/// # Errors
/// [`ModelError`] if the component is no force field, it has no such input, or the value is not
/// finite.
fn input_entry(
    model: &Model,
    component: ComponentId,
    input: usize,
    value: f64,
) -> Result<&ForceFieldEntry, ModelError> {
    let name = model.component_name(component);
    check_finite(name, Field::Inputs, value)?;
    let ComponentId::ForceField(i) = component else {
        return Err(ModelError::NotRows {
            name: name.into(),
            action: "given an input",
        });
    };
    let entry = &model.force_fields()[i].component;
    let count = entry.inputs.len();
    check_least(
        name,
        Field::Inputs,
        "inputs at least",
        input.saturating_add(1),
        count,
    )?;
    Ok(entry)
}
