//! Models that depend on parameters.

use crate::contact_family::FamilyContacts;
use crate::equations::{Equations, Moment};
use crate::{GradientError, check_index, check_length};
use pliant_model::{Problem, State};

/// Steps of a parameter, in its scale, and their weights in the derivative: central differences of
/// fourth order.
const STENCIL: [(f64, f64); 4] = [
    (-2.0, 1.0 / 12.0),
    (-1.0, -8.0 / 12.0),
    (1.0, 8.0 / 12.0),
    (2.0, -1.0 / 12.0),
];

/// Share of its scale by which a parameter is moved: the differences of the equations, which are
/// smooth in it and evaluated without iterations, are then good to about `1e-12`.
const SHARE: f64 = 1e-3;

/// A function that makes the model of given parameters: masses, stiffnesses, rest lengths, places
/// of joints, materials, whatever models are made of.
pub type MakeModel<'a> = dyn Fn(&[f64]) -> Result<Problem, GradientError> + 'a;

/// Models around one point of a space of parameters, of the same structure, whose equations are
/// compared at the same unknowns.
///
/// A derivative by a parameter is that of the *equations* of a step at its converged end, by
/// central differences of fourth order, never that of iterations; the answer moves by the implicit
/// function theorem. So everything that a model can be made of can be differentiated, whether or
/// not its component knows how.
///
/// Cost: four models for each parameter, made once, and four evaluations of the equations for each
/// derivative.
#[derive(Debug)]
pub struct Family {
    scales: Vec<f64>,
    /// The models at the points of the stencil of each parameter.
    members: Vec<Vec<Equations>>,
    /// How the initial state moves with each parameter: positions and velocities of the independent
    /// coordinates.
    starts: Vec<[Vec<f64>; 2]>,
    /// How the state moves that motions begin with, where that is not the initial one.
    begun: Option<Vec<[Vec<f64>; 2]>>,
    /// Their contacts, if these depend on parameters.
    pub(crate) contacts: Option<Box<dyn FamilyContacts>>,
}

impl Family {
    /// Models for each parameter.
    pub const POINTS: usize = STENCIL.len();

    /// Makes the models around the parameters `at`; each is moved by a thousandth of its scale, in
    /// which the models are smooth.
    ///
    /// # Errors
    /// Errors of `make`; [`GradientError::Structure`] if a model has other coordinates or rows than
    /// the one at `at`; [`GradientError::NotBuilt`] as
    /// [`StepDerivative::new`](crate::StepDerivative::new); [`GradientError::Scale`] for a scale
    /// that is zero or no number.
    pub fn new(make: &MakeModel<'_>, at: &[f64], scales: &[f64]) -> Result<Self, GradientError> {
        check_length("the scales of parameters", at.len(), scales.len())?;
        let base = make(at)?;
        let (mut members, mut starts) = (Vec::new(), Vec::new());
        let mut moved = at.to_vec();
        for (k, scale) in scales.iter().enumerate() {
            if !scale.is_finite() || *scale == 0.0 {
                return Err(GradientError::Scale {
                    parameter: k,
                    scale: *scale,
                });
            }
            let mut of_parameter = Vec::new();
            let mut start = [(); 2].map(|()| vec![0.0; base.dof_count()]);
            let origin = base.initial_state()?;
            for (step, weight) in STENCIL {
                moved[k] = at[k] + step * SHARE * scale;
                let other = make(&moved)?;
                let value = moved[k];
                check_structure(&base, &other, || format!("parameter {k} at {value}"))?;
                add_start(
                    &base,
                    [&origin, &other.initial_state()?],
                    weight / (SHARE * scale),
                    &mut start,
                );
                of_parameter.push(Equations::new(other)?);
            }
            moved[k] = at[k];
            members.push(of_parameter);
            starts.push(start);
        }
        Ok(Self {
            scales: scales.to_vec(),
            members,
            starts,
            begun: None,
            contacts: None,
        })
    }

    /// Takes contacts that depend on the parameters: colliders, their places and materials.
    /// Without them, contacts move with the state alone.
    pub fn with_contacts(mut self, contacts: Box<dyn FamilyContacts>) -> Self {
        self.contacts = Some(contacts);
        self
    }

    /// Number of parameters.
    pub fn len(&self) -> usize {
        self.scales.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.scales.is_empty()
    }

    /// Lets motions begin with the initial states of their models.
    pub fn begin_initially(&mut self) {
        self.begun = None;
    }

    /// Lets motions begin with other states than the initial ones of their models, of which `state`
    /// makes that of each, around `base` at the parameters: velocities that contradict hard rows do
    /// not stay.
    ///
    /// # Errors
    /// Errors of `state`.
    pub fn begin_with<E>(
        &mut self,
        base: &State,
        mut state: impl FnMut(&Problem) -> Result<State, E>,
    ) -> Result<(), E> {
        let mut begun = self.starts.clone();
        for ((members, start), scale) in self.members.iter().zip(&mut begun).zip(&self.scales) {
            start.iter_mut().for_each(|list| list.fill(0.0));
            for (member, (_, weight)) in members.iter().zip(STENCIL) {
                let problem = &member.problem;
                let moved = state(problem)?;
                add_start(problem, [base, &moved], weight / (SHARE * scale), start);
            }
        }
        self.begun = Some(begun);
        Ok(())
    }

    /// How positions and velocities of the independent coordinates at the start move with a
    /// parameter.
    ///
    /// # Panics
    /// If there is no such parameter.
    pub fn start(&self, parameter: usize) -> [&[f64]; 2] {
        let [x, v] = &self.begun.as_ref().unwrap_or(&self.starts)[parameter];
        [x, v]
    }

    /// The derivative by a parameter of a function of one state, where independent coordinates stay
    /// and mapped nodes move with the parameter: its gradient by displacements and velocities of
    /// all nodes times how these move.
    ///
    /// # Errors
    /// [`GradientError::Model`] where another model has no value there; [`GradientError::Length`].
    pub fn at_state(
        &mut self,
        base: &Problem,
        parameter: usize,
        state: &State,
        [by_x, by_v]: [&[f64]; 2],
    ) -> Result<f64, GradientError> {
        check_index("parameter", parameter, self.len())?;
        let all = base.velocity_count();
        check_length("a gradient by displacements of all nodes", all, by_x.len())?;
        check_length("a gradient by velocities of all nodes", all, by_v.len())?;
        let mapped = |node: &&pliant_model::Node| node.first_dof().is_none();
        let acts = |node: &&pliant_model::Node| {
            let range = node.velocity_range();
            let by = by_x[range.clone()].iter().chain(&by_v[range]);
            by.into_iter().any(|b| *b != 0.0)
        };
        if !base.nodes().iter().filter(mapped).any(|node| acts(&node)) {
            return Ok(0.0);
        }
        let (mut out, mut moved) = (0.0, Vec::new());
        let scale = SHARE * self.scales[parameter];
        for (member, (_, weight)) in self.members[parameter].iter_mut().zip(STENCIL) {
            check_structure(base, &member.problem, || other_parameter(parameter))?;
            member.state.clone_from(state);
            member.evaluation.propagate(&member.problem, &mut member.state)?;
            for node in base.nodes().iter().filter(mapped).filter(acts) {
                let (p, v) = (node.position_range(), node.velocity_range());
                moved.clear();
                moved.resize(v.len(), 0.0);
                node.space.local(
                    &state.positions[p.clone()],
                    &member.state.positions[p],
                    &mut moved,
                );
                let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
                let velocities = &member.state.velocities[v.clone()];
                out += weight / scale * (dot(&by_x[v.clone()], &moved) + dot(&by_v[v], velocities));
            }
        }
        Ok(out)
    }

    /// Writes the derivative of the residuals (n, m) by a parameter at a moment, and if wanted that of
    /// the forces on all nodes where they act.
    pub(crate) fn derivative(
        &mut self,
        base: &Problem,
        parameter: usize,
        at: &Moment<'_>,
        [dr, ds]: [&mut Vec<f64>; 2],
        mut forces: Option<&mut Vec<f64>>,
    ) -> Result<(), GradientError> {
        dr.clear();
        dr.resize(base.dof_count(), 0.0);
        ds.clear();
        ds.resize(base.row_count(), 0.0);
        if let Some(forces) = &mut forces {
            forces.clear();
            forces.resize(base.velocity_count(), 0.0);
        }
        self.each_member(base, parameter, |member, Sample { weight, .. }| {
            member.evaluate(at)?;
            dr.iter_mut()
                .zip(&member.primal)
                .for_each(|(d, r)| *d += weight * r);
            ds.iter_mut()
                .zip(&member.rows)
                .for_each(|(d, r)| *d += weight * r);
            if let Some(forces) = &mut forces {
                let acting = forces.iter_mut().zip(&member.acting);
                acting.for_each(|(d, f)| *d += weight * f);
            }
            Ok(())
        })
    }

    /// Writes the derivatives of the equations of rows that are at a bound of their force, `lambda`
    /// less the bound (N, N m), to those of the rows.
    ///
    /// # Errors
    /// [`GradientError::NotBuilt`] for a row without play between its bounds, which move apart.
    pub(crate) fn bounds_derivative(
        &mut self,
        base: &Problem,
        parameter: usize,
        at_bound: &[bool],
        multipliers: &[f64],
        ds: &mut [f64],
    ) -> Result<(), GradientError> {
        if !at_bound.contains(&true) {
            return Ok(());
        }
        let held = |range: std::ops::Range<usize>| range.filter(|row| at_bound[*row]);
        for group in base.row_groups() {
            let rows = group.first_row..group.first_row + group.size * group.count;
            held(rows).for_each(|row| ds[row] = 0.0);
        }
        self.each_member(base, parameter, |member, Sample { weight, .. }| {
            for group in base.row_groups() {
                let rows = group.first_row..group.first_row + group.size * group.count;
                let refuse = |why| {
                    Err(GradientError::NotBuilt {
                        what: format!(
                            "the force of `{}` by parameter {parameter}",
                            base.component_name(group.component)
                        ),
                        why,
                    })
                };
                let bounds = (base.bounds(group), member.problem.bounds(group));
                for row in held(rows) {
                    let (Some(own), Some(other)) = bounds else {
                        return refuse("it has no bounds for other values");
                    };
                    let [lower, upper] = [own.0, own.1].map(|bound| (multipliers[row] - bound).abs());
                    let moved = [other.0 - own.0, other.1 - own.1];
                    if own.0 == own.1 && moved[0] != moved[1] {
                        return refuse("its bounds are the same, and move apart");
                    }
                    ds[row] -= weight * if lower <= upper { moved[0] } else { moved[1] };
                }
            }
            Ok(())
        })
    }

    /// The scale of a parameter, and the step of its stencil.
    ///
    /// # Errors
    /// [`GradientError::Index`].
    pub(crate) fn scale(&self, parameter: usize) -> Result<[f64; 2], GradientError> {
        check_index("parameter", parameter, self.len())?;
        let scale = self.scales[parameter];
        Ok([scale, SHARE * scale])
    }

    /// Visits the equations at the points of the stencil of a parameter, which follow the controls
    /// of `base`.
    pub(crate) fn each_member(
        &mut self,
        base: &Problem,
        parameter: usize,
        mut f: impl FnMut(&mut Equations, Sample) -> Result<(), GradientError>,
    ) -> Result<(), GradientError> {
        check_index("parameter", parameter, self.len())?;
        let scale = SHARE * self.scales[parameter];
        let members = self.members[parameter].iter_mut().zip(STENCIL);
        for (point, (member, (step, weight))) in members.enumerate() {
            check_structure(base, &member.problem, || other_parameter(parameter))?;
            member.problem.follow(base)?;
            let (expected, found) = (base.row_count(), member.problem.row_count());
            if found != expected {
                return Err(GradientError::Structure {
                    what: other_parameter(parameter),
                    of: "rows",
                    expected,
                    found,
                });
            }
            if member.rows.len() != expected {
                *member = Equations::new(member.problem.clone())?;
            }
            let sample = Sample {
                point,
                change: step * scale,
                weight: weight / scale,
            };
            f(member, sample)?;
        }
        Ok(())
    }
}

/// A point of the stencil of a parameter.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sample {
    /// Which one it is.
    pub(crate) point: usize,
    /// How far the parameter is moved there.
    pub(crate) change: f64,
    /// Its weight in the derivative.
    pub(crate) weight: f64,
}

/// Adds `weight` times the displacement and the difference of velocity from one initial state to
/// another.
fn add_start(base: &Problem, [from, to]: [&State; 2], weight: f64, out: &mut [Vec<f64>; 2]) {
    for node in base.nodes() {
        let Some(first) = node.first_dof() else { continue };
        let (p, v) = (node.position_range(), node.velocity_range());
        let mut moved = vec![0.0; v.len()];
        node.space
            .local(&from.positions[p.clone()], &to.positions[p], &mut moved);
        for (k, d) in moved.iter().enumerate() {
            out[0][first + k] += weight * d;
            let change = to.velocities[v.start + k] - from.velocities[v.start + k];
            out[1][first + k] += weight * change;
        }
    }
}

fn other_parameter(parameter: usize) -> String {
    format!("another parameter {parameter}")
}

/// Refuses a model with other parts than another one, where `what` names it.
pub(crate) fn check_structure(
    base: &Problem,
    other: &Problem,
    what: impl Fn() -> String,
) -> Result<(), GradientError> {
    let counts = |p: &Problem| {
        [
            (p.nodes().len(), "nodes"),
            (p.dof_count(), "independent coordinates"),
            (p.velocity_count(), "coordinates"),
            (p.force_fields().len(), "force fields"),
            (p.parameters().inputs().len(), "inputs"),
            (p.constraints().len(), "constraints"),
            (p.initial_parameters().row_count(), "rows"),
            (p.masses().len(), "masses"),
        ]
    };
    for ((expected, of), (found, _)) in counts(base).into_iter().zip(counts(other)) {
        if expected != found {
            return Err(GradientError::Structure {
                what: what(),
                of,
                expected,
                found,
            });
        }
    }
    Ok(())
}
