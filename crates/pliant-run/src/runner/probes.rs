//! Quantities of a running scene by name: their values, and the table and the extremes of those
//! that are recorded.

use super::fields::{Fields, Read};
use super::joints::Joints;
use pliant::Simulation;
use pliant::model::{ComponentId, Energies, NodeId, Space};
use pliant_output::recording::NumberTable;
use pliant_scene::{CONTACT, DistanceEnd, EnergyKind, NamedExpression, Observable, Observables};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A probe over a whole run; `null` where there is no such number.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ProbeSummary {
    /// The smallest value at the end of a step, or at the start; of forces, steps alone.
    pub min: Option<f64>,
    /// The largest value, likewise.
    pub max: Option<f64>,
    /// The last value.
    pub last: Option<f64>,
}

/// A running scene at the end of a step.
#[derive(Clone, Copy)]
pub(super) struct Moment<'a> {
    pub(super) simulation: &'a Simulation,
    pub(super) joints: &'a Joints,
    pub(super) fields: &'a Fields,
    pub(super) energies: Energies,
}

/// Everything about probes that changes in a run.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct ProbeState {
    /// The time, the variables, then all quantities.
    values: Vec<f64>,
    /// Smallest, largest and last value of each column.
    summaries: Vec<ProbeSummary>,
    /// Ends of steps at which each expression had no value, and why at the first one.
    missing: Vec<(usize, String)>,
}

/// All quantities of a scene.
#[derive(Debug, Default)]
pub(super) struct Probes {
    observables: Observables,
    state: ProbeState,
    /// The values of the variables.
    variables: Vec<f64>,
    /// Why expressions had no value when they were read last, by their places.
    faults: Vec<(usize, String)>,
}

impl Probes {
    pub(super) fn new(observables: Observables, start: Moment<'_>) -> Self {
        let mut probes = Self {
            variables: observables.variables.iter().map(|(_, value)| *value).collect(),
            observables,
            state: ProbeState::default(),
            faults: Vec::new(),
        };
        probes.begin(start);
        probes
    }

    /// Reads everything at the start of a run.
    pub(super) fn begin(&mut self, start: Moment<'_>) {
        self.forget();
        self.read(start);
        self.count_faults();
        for (column, summary) in self.observables.columns.iter().zip(&mut self.state.summaries) {
            if !column.of_step {
                summary.add(self.state.values[self.observables.free() + column.place]);
            }
        }
    }

    /// Forgets the extremes so far.
    pub(super) fn forget(&mut self) {
        let columns = self.observables.columns.len();
        self.state.summaries = vec![ProbeSummary::default(); columns];
        self.state.missing = vec![(0, String::new()); self.observables.expressions.len()];
    }

    /// Names of the parameters that may change while the scene runs.
    pub(super) fn variable_names(&self) -> impl Iterator<Item = &str> {
        let parameters = &self.observables.variables[..self.observables.parameters];
        parameters.iter().map(|(name, _)| name.as_str())
    }

    /// Whether nothing is recorded.
    pub(super) fn is_empty(&self) -> bool {
        self.observables.columns.is_empty()
    }

    /// All that changes in a run.
    pub(super) fn state(&self) -> ProbeState {
        self.state.clone()
    }

    /// Goes to the state of a checkpoint of the same scene.
    pub(super) fn go_to(&mut self, state: ProbeState) {
        self.state = state;
    }

    /// Names of the numbers of a line after the time, with units.
    pub(super) fn table(&self) -> NumberTable {
        let columns = self.observables.columns.iter();
        let columns = columns.map(|column| match column.unit.as_str() {
            "" => column.name.clone(),
            unit => format!("{}_{unit}", column.name),
        });
        NumberTable {
            columns: columns.collect(),
            lines: Vec::new(),
        }
    }

    /// The time, then the numbers of the probes.
    pub(super) fn line(&self) -> Vec<f64> {
        let columns = self.observables.columns.iter();
        let numbers = columns.map(|column| self.state.values[self.observables.free() + column.place]);
        self.state
            .values
            .first()
            .copied()
            .into_iter()
            .chain(numbers)
            .collect()
    }

    /// Whether a line is due after so many steps.
    pub(super) fn is_due(&self, steps: usize) -> bool {
        !self.is_empty() && steps.is_multiple_of(self.observables.every)
    }

    /// Reads everything at the end of a step, and takes it into the extremes.
    pub(super) fn add(&mut self, moment: Moment<'_>) {
        if self.observables.list.is_empty() {
            return;
        }
        self.read(moment);
        self.count_faults();
        for (column, summary) in self.observables.columns.iter().zip(&mut self.state.summaries) {
            summary.add(self.state.values[self.observables.free() + column.place]);
        }
    }

    /// The probes over the run so far, by name.
    pub(super) fn summaries(&self) -> BTreeMap<String, ProbeSummary> {
        let columns = self.observables.columns.iter().map(|column| column.name.clone());
        columns.zip(self.state.summaries.iter().cloned()).collect()
    }

    /// Sentences about expressions without a value.
    pub(super) fn warnings(&self) -> Vec<String> {
        let expressions = self.observables.expressions.iter().zip(&self.state.missing);
        let missing = expressions.filter(|(_, (count, _))| *count > 0);
        let sentence = |(expression, (count, why)): (&NamedExpression, &(usize, String))| {
            format!(
                "the probe `{}` had no value at {count} moments: {why}",
                expression.name
            )
        };
        missing.map(sentence).collect()
    }

    /// Takes other values of the variables.
    pub(super) fn set_variables(&mut self, values: &[f64]) {
        self.variables.clear();
        self.variables.extend_from_slice(values);
    }

    /// The time, the variables and all quantities, as they were read last.
    pub(super) fn values(&self) -> &[f64] {
        &self.state.values
    }

    fn count_faults(&mut self) {
        for (index, why) in self.faults.drain(..) {
            let (count, first) = &mut self.state.missing[index];
            if *count == 0 {
                *first = why;
            }
            *count += 1;
        }
    }

    /// Reads all quantities at the end of a step.
    pub(super) fn read(&mut self, moment: Moment<'_>) {
        self.read_all(moment, &[]);
    }

    /// Reads all quantities between two steps: those of steps are those of the last one.
    pub(super) fn refresh(&mut self, moment: Moment<'_>) {
        let last = std::mem::take(&mut self.state.values);
        self.read_all(moment, &last);
    }

    /// Takes the variables into all quantities that are made of them; the others are as they were
    /// read last, at this moment.
    pub(super) fn renew(&mut self) {
        let free = self.observables.free();
        let values = &mut self.state.values;
        self.faults.clear();
        values[1..free].copy_from_slice(&self.variables);
        for (k, observable) in self.observables.list.iter().enumerate() {
            values[free + k] = match observable {
                Observable::Variable { index, .. } => self.variables[*index],
                Observable::Expression(index) => {
                    let expression = &self.observables.expressions[*index];
                    number(expression, *index, &values[..free + k], &mut self.faults)
                }
                _ => continue,
            };
        }
    }

    fn read_all(&mut self, moment: Moment<'_>, last: &[f64]) {
        let mut reader = Reader {
            moment,
            contacts: contacts(&self.observables, moment.simulation),
            wrench: None,
            force: None,
            fields: Vec::new(),
        };
        let values = &mut self.state.values;
        self.faults.clear();
        values.clear();
        values.push(moment.simulation.time());
        values.extend_from_slice(&self.variables);
        for observable in &self.observables.list {
            let value = match observable {
                Observable::Expression(index) => {
                    let expression = &self.observables.expressions[*index];
                    number(expression, *index, values, &mut self.faults)
                }
                Observable::Variable { index, .. } => self.variables[*index],
                Observable::Force { .. }
                | Observable::Wrench { .. }
                | Observable::Contact { .. }
                | Observable::Field { of_step: true, .. }
                    if last.len() > values.len() =>
                {
                    last[values.len()]
                }
                other => reader.number(other),
            };
            values.push(value);
        }
    }
}

/// The number that an expression is, or why there is none.
fn number(
    expression: &NamedExpression,
    index: usize,
    values: &[f64],
    faults: &mut Vec<(usize, String)>,
) -> f64 {
    expression.program.of(values).unwrap_or_else(|error| {
        faults.push((index, error.message));
        f64::NAN
    })
}

impl ProbeSummary {
    fn add(&mut self, value: f64) {
        self.last = value.is_finite().then_some(value);
        if value.is_finite() {
            self.min = Some(self.min.map_or(value, |min| min.min(value)));
            self.max = Some(self.max.map_or(value, |max| max.max(value)));
        }
    }
}

/// A reader of one moment, which remembers what it has read of a thing last.
struct Reader<'a> {
    moment: Moment<'a>,
    contacts: Vec<[f64; CONTACT.len()]>,
    wrench: Option<(usize, [f64; 6])>,
    force: Option<(ComponentId, Vec<f64>)>,
    /// Stresses of solids, sheets and rods that were read, by their places.
    fields: Vec<(usize, Read)>,
}

impl Reader<'_> {
    /// A number that is no expression.
    fn number(&mut self, observable: &Observable) -> f64 {
        let simulation = self.moment.simulation;
        match *observable {
            Observable::Position { node, index } => at(simulation.positions(node), index),
            Observable::Velocity { node, index } => at(simulation.velocities(node), index),
            Observable::Speed { node, element } => {
                let space = simulation.model().node(node).space;
                let size = space.velocity_size();
                let linear = if space == Space::Rigid3 { 3 } else { size };
                let v = &simulation.velocities(node)[element * size..][..linear];
                v.iter().fold(0.0, |norm: f64, v| norm.hypot(*v))
            }
            Observable::AngularVelocity { node, element, axis } => {
                let both = simulation.world_velocity(node, element);
                both.map_or(f64::NAN, |(_, angular)| angular[axis])
            }
            Observable::Force { component, index } => {
                let known = self.force.take().filter(|(of, _)| *of == component);
                let force = known.unwrap_or_else(|| (component, simulation.force(component)));
                // What was released has none.
                let number = force.1.get(index).copied().unwrap_or(0.0);
                self.force = Some(force);
                number
            }
            Observable::Wrench { joint, index } => {
                let known = self.wrench.filter(|(of, _)| *of == joint);
                let wrench = known.unwrap_or_else(|| (joint, self.moment.joints.wrench(simulation, joint)));
                self.wrench = Some(wrench);
                wrench.1[index]
            }
            Observable::Field {
                deformable,
                number,
                element,
                ..
            } => {
                let place = self.fields.iter().position(|(of, _)| *of == deformable);
                let place = place.unwrap_or_else(|| {
                    let read = Read::new(simulation, &self.moment.fields.deformables()[deformable]);
                    self.fields.push((deformable, read));
                    self.fields.len() - 1
                });
                self.fields[place].1.number(number, element)
            }
            Observable::Potential(component) => simulation.potential(component),
            Observable::Distance(ends) => {
                let [a, b] = ends.map(|end| place(simulation, end));
                (0..3).fold(0.0, |norm: f64, k| norm.hypot(a[k] - b[k]))
            }
            Observable::Contact { pair, index } => self.contacts[pair][index],
            Observable::Energy(kind) => match kind {
                EnergyKind::Kinetic => self.moment.energies.kinetic,
                EnergyKind::Potential => self.moment.energies.potential,
                EnergyKind::Total => self.moment.energies.total(),
            },
            Observable::Expression(_) | Observable::Variable { .. } => f64::NAN,
        }
    }
}

fn at(numbers: &[f64], index: usize) -> f64 {
    numbers.get(index).copied().unwrap_or(f64::NAN)
}

fn place(simulation: &Simulation, place: DistanceEnd) -> [f64; 3] {
    let (node, element): (NodeId, usize) = match place {
        DistanceEnd::Fixed(point) => return point,
        DistanceEnd::Element(node, element) => (node, element),
    };
    let size = simulation.model().node(node).space.position_size();
    let x = &simulation.positions(node)[element * size..];
    [x[0], x[1], x[2]]
}

/// The numbers of all pairs of colliders in the last step.
fn contacts(observables: &Observables, simulation: &Simulation) -> Vec<[f64; CONTACT.len()]> {
    let h = simulation.contact_step();
    let pair = |[first, second]: &[Vec<u32>; 2]| {
        let (mut normal, mut friction, mut force) = (0.0, [0.0; 3], [0.0; 3]);
        for reading in simulation.contacts() {
            let [a, b] = reading.contact.sides;
            let is = |a: u32, b: u32| first.binary_search(&a).is_ok() && second.binary_search(&b).is_ok();
            let sign = match (is(a, b), is(b, a)) {
                (true, _) => 1.0,
                (false, true) => -1.0,
                (false, false) => continue,
            };
            let direction = reading.contact.normal;
            let along = (0..3).map(|k| reading.impulse[k] * direction[k]).sum::<f64>() / h;
            normal += along;
            for k in 0..3 {
                force[k] += sign * reading.impulse[k] / h;
                friction[k] += sign * (reading.impulse[k] / h - along * direction[k]);
            }
        }
        let friction = friction.iter().fold(0.0, |norm: f64, f| norm.hypot(*f));
        [normal, friction, force[0], force[1], force[2]]
    };
    observables.contacts.iter().map(pair).collect()
}
