//! The equations of a step of the nonlinear method, and of rest, at given unknowns.
//!
//! **Equation.** With the velocities `v+`, the multipliers `lambda` and `x+ = x (+) h v+`,
//!
//! ```math
//! r = M (v+ - v)/h + w+ x I w+ - f(x+, v+) - J(x+)^T lambda = 0
//! s = C lambda + phi(x+) + (d + C D) J v+ = 0
//! ```
//!
//! with `C = 0` for hard rows. At rest there are neither velocities nor inertia.

use crate::GradientError;
use crate::acceleration::first_curved_mass;
use crate::kinematics::{gather, scatter};
use crate::row_law::{RowArguments, RowLaws};
use pliant_model::{ComponentId, Evaluation, Level, Problem, RowLaw, Space, State, Treatment};

/// Share of the largest force that a coordinate is compared with at least.
pub(crate) const BALANCED: f64 = 1e-6;

/// The share of the motion in the equations.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) enum Kinetics {
    /// None: rest.
    #[default]
    Still,
    /// Velocities without accelerations: an end of a step whose inertia is in the equations of the
    /// other one.
    Moving,
    /// Accelerations too.
    Accelerated {
        /// The time that a difference of velocities is divided by (s): the length of the step,
        /// times the weight of its end.
        span: f64,
    },
}

impl Kinetics {
    /// Whether velocities have a part.
    pub(crate) fn moves(self) -> bool {
        self != Self::Still
    }

    /// The time that a difference of velocities is divided by (s).
    pub(crate) fn span(self) -> Option<f64> {
        match self {
            Self::Accelerated { span } => Some(span),
            _ => None,
        }
    }
}

/// The unknowns of the equations, and what they are given.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Moment<'a> {
    pub(crate) kinetics: Kinetics,
    /// Time at the end of the step (s), for rows that are driven.
    pub(crate) time: f64,
    /// Velocities of the independent coordinates at the start of the step (n); read of
    /// accelerations alone.
    pub(crate) start_velocity: &'a [f64],
    /// Positions and velocities at the end of the step.
    pub(crate) end: &'a State,
    /// Multipliers (N, N m), one per row.
    pub(crate) multipliers: &'a [f64],
    /// Forces (N, N m) that the laws of rows have beside their multipliers; empty for none.
    pub(crate) beside: &'a [f64],
    /// Forces from outside the model on all nodes (N, N m); empty for none.
    pub(crate) external: &'a [f64],
    /// Forces of contacts on all nodes, likewise, and the sizes of what they are the sums of.
    pub(crate) contacts: &'a [f64],
    pub(crate) contact_sizes: &'a [f64],
    /// Deformations at which the laws of mapped nodes are taken; none for where mappings lead.
    pub(crate) deformations: Option<Deformations<'a>>,
}

/// Deformations that a step integrates beside its positions.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Deformations<'a> {
    /// The nodes that have them.
    pub(crate) nodes: &'a [usize],
    /// Positions of all nodes, of which theirs are read.
    pub(crate) positions: &'a [f64],
    /// By how much the values that driven rows are held at, integrated from their rates, are beyond
    /// those at the time (m).
    pub(crate) ahead: &'a [f64],
}

/// The arguments of the equations, kept.
#[derive(Debug, Default)]
pub(crate) struct KeptMoment {
    pub(crate) kinetics: Kinetics,
    pub(crate) time: f64,
    pub(crate) start_velocity: Vec<f64>,
    pub(crate) end: State,
    pub(crate) multipliers: Vec<f64>,
    pub(crate) beside: Vec<f64>,
    pub(crate) external: Vec<f64>,
    pub(crate) contacts: Vec<f64>,
    pub(crate) contact_sizes: Vec<f64>,
    /// Which independent coordinates are held.
    pub(crate) fixed: Vec<bool>,
    pub(crate) deformations: KeptDeformations,
}

/// Deformations, kept.
#[derive(Debug, Default)]
pub(crate) struct KeptDeformations {
    /// Whether there are any.
    pub(crate) are_kept: bool,
    pub(crate) nodes: Vec<usize>,
    pub(crate) positions: Vec<f64>,
    pub(crate) ahead: Vec<f64>,
}

impl KeptDeformations {
    pub(crate) fn get(&self) -> Option<Deformations<'_>> {
        self.are_kept.then_some(Deformations {
            nodes: &self.nodes,
            positions: &self.positions,
            ahead: &self.ahead,
        })
    }
}

impl KeptMoment {
    /// Takes the end of a step, or a state of rest, with no forces beside the multipliers.
    pub(crate) fn take(&mut self, end: &State, multipliers: &[f64], external: &[f64], fixed: &[bool]) {
        self.end.clone_from(end);
        self.multipliers.clear();
        self.multipliers.extend_from_slice(multipliers);
        self.beside.clear();
        self.external.clear();
        self.external.extend_from_slice(external);
        self.fixed.clear();
        self.fixed.extend_from_slice(fixed);
    }

    pub(crate) fn get(&self) -> Moment<'_> {
        Moment {
            kinetics: self.kinetics,
            time: self.time,
            start_velocity: &self.start_velocity,
            end: &self.end,
            multipliers: &self.multipliers,
            beside: &self.beside,
            external: &self.external,
            contacts: &self.contacts,
            contact_sizes: &self.contact_sizes,
            deformations: self.deformations.get(),
        }
    }
}

/// Sizes of the terms of the equations.
#[derive(Debug, Default)]
pub(crate) struct TermSizes {
    /// Sizes of the terms of the independent coordinates (N, N m; n).
    pub(crate) primal: Vec<f64>,
    /// Sizes of the terms of the rows (m, rad or those over s; m).
    pub(crate) rows: Vec<f64>,
    /// Sizes of the forces that act on all nodes (N, N m).
    acting: Vec<f64>,
    /// Sizes of the inertia of one mass (N, N m).
    inertia: Vec<f64>,
}

/// The end of a step where mappings lead, beside the one that laws are evaluated at.
#[derive(Debug, Default)]
pub(crate) struct MappedEnd {
    state: State,
    /// Whether there are deformations, so that the two differ.
    pub(crate) counts: bool,
    /// Coordinates of the rows of one group.
    coordinates: Vec<f64>,
}

impl MappedEnd {
    /// The end where mappings lead; `other` without deformations.
    pub(crate) fn or<'a>(&'a self, other: &'a State) -> &'a State {
        if self.counts { &self.state } else { other }
    }
}

/// The equations of a problem, with room to evaluate them.
#[derive(Debug)]
pub(crate) struct Equations {
    pub(crate) problem: Problem,
    pub(crate) evaluation: Evaluation,
    /// The end of the step as last evaluated, with deformations in the place of the positions of
    /// nodes that have them.
    pub(crate) state: State,
    pub(crate) mapped: MappedEnd,
    /// Residuals of the independent coordinates (N, N m; n) and of the rows (m, rad or those over
    /// s; m), as last evaluated, and the sizes of their terms.
    pub(crate) primal: Vec<f64>,
    pub(crate) rows: Vec<f64>,
    pub(crate) sizes: TermSizes,
    /// Total forces on all nodes, those of rows and inertia included, carried up.
    pub(crate) total: Vec<f64>,
    /// Forces on all nodes where they act, those of rows and inertia included, as last evaluated.
    pub(crate) acting: Vec<f64>,
    acceleration: Vec<f64>,
    rate: Vec<f64>,
    velocity: Vec<f64>,
    pub(crate) law: RowLaws,
    /// The forces in the laws of the rows, as last evaluated (N, N m; m).
    pub(crate) law_forces: Vec<f64>,
    /// The first mass on a node that is mapped nonlinearly, by its name.
    pub(crate) curved_mass: Option<String>,
}

impl Equations {
    /// Plans the equations of a problem.
    ///
    /// # Errors
    /// [`GradientError::Model`] where a mapping is not defined; [`GradientError::NotBuilt`] for
    /// parts of a model that have no derivative here.
    pub(crate) fn new(problem: Problem) -> Result<Self, GradientError> {
        check(&problem)?;
        let mut evaluation = Evaluation::new(&problem);
        let mut state = problem.initial_state()?;
        evaluation.propagate(&problem, &mut state)?;
        evaluation.evaluate(&problem, &state)?;
        let (n, m, all) = (problem.dof_count(), problem.row_count(), problem.velocity_count());
        Ok(Self {
            evaluation,
            state,
            mapped: MappedEnd::default(),
            primal: vec![0.0; n],
            rows: vec![0.0; m],
            sizes: TermSizes {
                primal: vec![0.0; n],
                rows: vec![0.0; m],
                ..TermSizes::default()
            },
            total: vec![0.0; all],
            acting: vec![0.0; all],
            acceleration: vec![0.0; all],
            rate: vec![0.0; n],
            velocity: vec![0.0; n],
            law: RowLaws::default(),
            law_forces: vec![0.0; m],
            curved_mass: first_curved_mass(&problem).map(str::to_owned),
            problem,
        })
    }

    /// Takes the parameters of a problem of the same model. Returns whether the same components are
    /// rows there, and act: else the equations have to be planned anew.
    pub(crate) fn take_parameters(&mut self, problem: &Problem) -> bool {
        let own = &mut self.problem;
        let same_elements = own.removed_elements() == problem.removed_elements();
        if same_elements && own.parameters() == problem.parameters() {
            return true;
        }
        let same = |i: usize| {
            let id = ComponentId::ForceField(i);
            own.treatment(i) == problem.treatment(i) && own.is_released(id) == problem.is_released(id)
        };
        let is_same = same_elements
            && own.row_groups() == problem.row_groups()
            && (0..own.force_fields().len()).all(same);
        if is_same {
            own.set_parameters(problem.parameters());
        }
        is_same
    }

    /// Writes the weights of the forces on all nodes that weights of the equations of the
    /// independent coordinates (n) give, at the present state.
    pub(crate) fn weigh_forces(&self, weights: &[f64], out: &mut Vec<f64>) {
        out.clear();
        out.resize(self.problem.velocity_count(), 0.0);
        scatter(&self.problem, weights, out);
        self.evaluation.push_forward(&self.problem, out);
    }

    /// Evaluates the residuals at a moment.
    ///
    /// # Errors
    /// [`GradientError::Model`] where a mapping is not defined there.
    pub(crate) fn evaluate(&mut self, at: &Moment<'_>) -> Result<(), GradientError> {
        let Self {
            problem,
            evaluation,
            state,
            mapped,
            ..
        } = self;
        state.clone_from(at.end);
        if !at.kinetics.moves() {
            state.velocities.fill(0.0);
        }
        evaluation.propagate(problem, state)?;
        mapped.counts = at.deformations.is_some();
        if let Some(Deformations { nodes, positions, .. }) = &at.deformations {
            mapped.state.clone_from(state);
            for node in nodes.iter().map(|index| &problem.nodes()[*index]) {
                let range = node.position_range();
                state.positions[range.clone()].copy_from_slice(&positions[range]);
            }
        }
        evaluation.evaluate_after(problem, state, at.kinetics.span().unwrap_or(0.0))?;
        let sizes = &mut self.sizes.acting;
        sizes.clear();
        sizes.extend(evaluation.force().iter().map(|f| f.abs()));
        for list in [at.external, at.contact_sizes] {
            sizes.iter_mut().zip(list).for_each(|(s, f)| *s += f.abs());
        }
        evaluation.add_force(at.external);
        evaluation.add_force(at.contacts);
        gather(problem, &state.velocities, &mut self.velocity);
        self.find_rows(at);
        self.find_forces(at);
        Ok(())
    }

    /// Forces without those of rows: `f` and `-M a`, on all nodes, into `total`.
    fn find_forces(&mut self, at: &Moment<'_>) {
        let Self {
            problem,
            evaluation,
            state,
            total,
            acting,
            sizes,
            ..
        } = self;
        acting.copy_from_slice(evaluation.force());
        for (f, i) in acting.iter_mut().zip(evaluation.inertial_force()) {
            *f += i;
        }
        if let Some(span) = at.kinetics.span() {
            for (a, (end, start)) in self
                .rate
                .iter_mut()
                .zip(self.velocity.iter().zip(at.start_velocity))
            {
                *a = (end - start) / span;
            }
            scatter(problem, &self.rate, &mut self.acceleration);
            evaluation.push_forward_to_masses(problem, &mut self.acceleration);
        }
        for mass in problem.masses().iter().filter(|_| at.kinetics.moves()) {
            let node = problem.node(mass.node);
            let range = node.velocity_range();
            if node.first_dof().is_some() && node.space == Space::Rigid3 {
                mass.component
                    .add_gyroscopic(&state.velocities[range.clone()], &mut acting[range.clone()]);
            }
            if at.kinetics.span().is_some() {
                mass.component.add_product(
                    node.space,
                    -1.0,
                    &self.acceleration[range.clone()],
                    &mut acting[range],
                );
            }
        }
        for group in problem.row_groups() {
            let first = problem.node(group.node).first_velocity;
            for k in 0..group.size * group.count {
                acting[first + k] += at.multipliers[group.first_row + k];
            }
        }
        total.copy_from_slice(acting);
        evaluation.pull_back(problem, total);
        gather(problem, total, &mut self.primal);
        self.primal.iter_mut().for_each(|r| *r = -*r);
        // The sizes of what was summed: of inertia, of the forces that act, and of rows.
        self.acceleration.copy_from_slice(&sizes.acting);
        if let Some(span) = at.kinetics.span() {
            for mass in problem.masses() {
                let node = problem.node(mass.node);
                let range = node.velocity_range();
                let Some(first) = node.first_dof() else {
                    // The inertia of both ends, and along curves.
                    let inertia = &mut sizes.inertia;
                    inertia.clear();
                    inertia.resize(range.len(), 0.0);
                    let v = &state.velocities[range.clone()];
                    mass.component.add_product(node.space, 2.0 / span, v, inertia);
                    let inertial = &evaluation.inertial_force()[range.clone()];
                    let terms = self.acceleration[range].iter_mut().zip(&*inertia).zip(inertial);
                    terms.for_each(|((size, f), along)| *size += f.abs() + along.abs());
                    continue;
                };
                let inertia = &mut sizes.inertia;
                inertia.clear();
                inertia.resize(range.len(), 0.0);
                let ends = (0..range.len())
                    .map(|k| (self.velocity[first + k].abs() + at.start_velocity[first + k].abs()) / span);
                self.rate[..range.len()]
                    .iter_mut()
                    .zip(ends)
                    .for_each(|(a, e)| *a = e);
                mass.component
                    .add_product(node.space, 1.0, &self.rate[..range.len()], inertia);
                for (size, f) in self.acceleration[range].iter_mut().zip(&*inertia) {
                    *size += f.abs();
                }
            }
        }
        for group in problem.row_groups() {
            let first = problem.node(group.node).first_velocity;
            for k in 0..group.size * group.count {
                self.acceleration[first + k] += at.multipliers[group.first_row + k].abs();
            }
        }
        evaluation.pull_back_sizes(problem, &mut self.acceleration);
        gather(problem, &self.acceleration, &mut sizes.primal);
    }

    /// The residuals of all rows.
    fn find_rows(&mut self, at: &Moment<'_>) {
        let Self {
            problem,
            state,
            mapped: MappedEnd { coordinates, .. },
            law,
            law_forces,
            ..
        } = self;
        law_forces.copy_from_slice(at.multipliers);
        law_forces
            .iter_mut()
            .zip(at.beside)
            .for_each(|(f, beside)| *f += beside);
        let largest = state.positions.iter().fold(0.0f64, |l, x| l.max(x.abs()));
        for group in problem.row_groups() {
            let range = group.first_row..group.first_row + group.size * group.count;
            let node = problem.node(group.node);
            let mut given = RowArguments::of(state, node, &law_forces[range.clone()], at.time);
            if let Some(Deformations { ahead, .. }) = at.deformations {
                coordinates.clear();
                coordinates.extend(given.x.iter().zip(&ahead[range.clone()]).map(|(x, a)| x - a));
                given.x = coordinates;
            }
            law.evaluate(problem, group, given, &mut self.rows[range.clone()]);
            for (k, size) in self.sizes.rows[range].iter_mut().enumerate() {
                *size = largest.max(given.x[k].abs() + given.v[k].abs());
            }
        }
    }

    /// The state where mappings lead.
    pub(crate) fn placed(&self) -> &State {
        self.mapped.or(&self.state)
    }

    /// The unknown whose equation misses the largest share of its terms, and that share: a
    /// coordinate, or a row.
    pub(crate) fn worst(
        &self,
        skip_dof: impl Fn(usize) -> bool,
        skip_row: impl Fn(usize) -> bool,
    ) -> (Unknown, f64) {
        let share = |missed: f64, size: f64| match missed.abs() / size.max(f64::MIN_POSITIVE) {
            _ if missed == 0.0 => 0.0,
            share if share.is_nan() => f64::INFINITY,
            share => share,
        };
        let mut worst = (Unknown::Dof(0), 0.0);
        let largest = self.sizes.primal.iter().fold(0.0f64, |l, s| l.max(*s));
        for (k, (r, size)) in self.primal.iter().zip(&self.sizes.primal).enumerate() {
            // Forces that balance each other on one node leave its rounding, and no size.
            let share = share(*r, size.max(BALANCED * largest));
            if share > worst.1 && !skip_dof(k) {
                worst = (Unknown::Dof(k), share);
            }
        }
        for (k, (r, size)) in self.rows.iter().zip(&self.sizes.rows).enumerate() {
            let share = share(*r, *size);
            if share > worst.1 && !skip_row(k) {
                worst = (Unknown::Row(k), share);
            }
        }
        worst
    }
}

/// An unknown of the equations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unknown {
    /// An independent coordinate.
    Dof(usize),
    /// A row.
    Row(usize),
}

impl Unknown {
    /// Its name in the user's words.
    pub(crate) fn describe(self, problem: &Problem) -> String {
        match self {
            Self::Dof(k) => problem.describe_dof(k),
            Self::Row(k) => problem.describe_row(k),
        }
    }
}

/// Refuses what has no derivative here.
fn check(problem: &Problem) -> Result<(), GradientError> {
    let refuse = |what: String, why| Err(GradientError::NotBuilt { what, why });
    if let Some(name) = problem.first_memory() {
        return refuse(
            format!("`{name}`"),
            "its force depends on the past, whose derivative is not built",
        );
    }
    if let Some(at) = problem.removed_elements().first() {
        return refuse(
            format!(
                "elements of `{}`, which were removed",
                problem.nodes()[at.node].name
            ),
            "what is left has other forces, and no derivative across their loss is built",
        );
    }
    for (index, node) in problem.nodes().iter().enumerate() {
        if problem.element_share(index).is_some() {
            return refuse(
                format!("`{}`", node.name),
                "its elements are shared out among processes, over which derivatives are not built",
            );
        }
    }
    for group in problem.row_groups() {
        let name = || format!("`{}`", problem.component_name(group.component));
        if let ComponentId::Constraint(i) = group.component
            && problem.constraints()[i].component.restitution > 0.0
        {
            return refuse(name(), "no derivative across its bounces is built");
        }
        if problem.friction(group.component).is_some() {
            return refuse(
                name(),
                "its bound follows the force of other rows, whose derivative is not built",
            );
        }
        match group.component {
            ComponentId::Constraint(i)
                if matches!(
                    problem.constraints()[i].component.level,
                    Level::Restitution { .. }
                ) =>
            {
                return refuse(name(), "it is an impact, whose derivative is not built");
            }
            ComponentId::ForceField(i)
                if !problem.force_fields()[i].component.law.is_linear()
                    && problem.motion(group).is_some() =>
            {
                return refuse(
                    name(),
                    "it is a nonlinear law that is driven, whose derivative is not built",
                );
            }
            _ => {}
        }
    }
    let rate = problem.rayleigh().stiffness;
    if rate > 0.0 {
        for (i, field) in problem.force_fields().iter().enumerate() {
            if problem.treatment(i) == Treatment::Compliance
                && field.component.law.row_law() == RowLaw::Elastic
            {
                return refuse(
                    format!("`{}`", field.name),
                    "it is a row, and the model damps in proportion to stiffness",
                );
            }
        }
    }
    Ok(())
}
