//! The common part of derivatives of steps and of rest: the equations at their solution, their
//! derivative, its factor, and the last adjoint.

use crate::equations::{Equations, KeptMoment};
use crate::family::check_structure;
use crate::kinematics::{gather, is_linear};
use crate::linearised::{InputShare, Linearised};
use crate::solve::Saddle;
use crate::{Family, GradientError, StateVector, check_index, check_length};
use pliant_model::{Mass, NodeId, Problem, State};

/// Largest share of its terms that an equation of what is differentiated may miss.
pub(crate) const SOLVED: f64 = 1e-6;

/// Share of the largest derivative by an element that all together may miss of that by the parameter:
/// both are differences of the equations, good to about `1e-12` of their terms.
const TOGETHER: f64 = 1e-8;

/// How far a derivative has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
enum Progress {
    /// Nothing is placed.
    #[default]
    Empty,
    /// A solution of the equations is placed.
    Placed,
    /// The adjoint equations there are solved.
    Adjoint,
}

/// A derivative by a parameter that is to be shared out among the elements of a node.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OfElements<'a> {
    pub(crate) parameter: usize,
    pub(crate) node: NodeId,
    /// The derivative.
    pub(crate) whole: f64,
    /// Changes with the parameter of the forces on all nodes, where they act.
    pub(crate) forces: &'a [f64],
    /// Changes of the residuals of the rows.
    pub(crate) rows: &'a [f64],
    /// The part of the derivative that changes of forces at another moment have, by the velocity
    /// coordinates of all nodes; empty for none.
    pub(crate) elsewhere: &'a [f64],
}

/// The equations at a solution, with all that derivatives are made of.
#[derive(Debug)]
pub(crate) struct Implicit {
    pub(crate) equations: Equations,
    pub(crate) linearised: Linearised,
    pub(crate) saddle: Saddle,
    pub(crate) kept: KeptMoment,
    pub(crate) touching: Vec<NodeId>,
    progress: Progress,
    /// The last adjoint solution: weights of the equations of the independent coordinates, and of
    /// the rows.
    pub(crate) adjoint: [Vec<f64>; 2],
    /// Changes with a parameter: of the equations of the coordinates and of the rows, and of the forces
    /// on all nodes.
    pub(crate) changes: [Vec<f64>; 3],
    on_nodes: Vec<f64>,
    /// Weights of the rows that are not at a bound.
    rows: Vec<f64>,
}

impl Implicit {
    /// Plans the derivatives of a problem, with contacts on some nodes.
    ///
    /// # Errors
    /// [`GradientError::NotBuilt`] for parts of the model that have no derivative here,
    /// [`GradientError::Model`] where a mapping is not defined, [`GradientError::Plan`].
    pub(crate) fn new(problem: &Problem, touching: &[NodeId]) -> Result<Self, GradientError> {
        let equations = Equations::new(problem.clone())?;
        let (n, m) = (problem.dof_count(), problem.row_count());
        Ok(Self {
            linearised: Linearised::new(&equations),
            saddle: Saddle::new(&equations, touching)?,
            equations,
            kept: KeptMoment {
                start_velocity: vec![0.0; n],
                ..KeptMoment::default()
            },
            touching: touching.to_vec(),
            progress: Progress::Empty,
            adjoint: [vec![0.0; n], vec![0.0; m]],
            changes: Default::default(),
            on_nodes: Vec::new(),
            rows: Vec::new(),
        })
    }

    /// The problem with the parameters of what is placed.
    pub(crate) fn problem(&self) -> &Problem {
        &self.equations.problem
    }

    /// Takes the parameters of a problem of the same model; plans anew where other components are
    /// rows, or act. Whatever was placed is forgotten.
    ///
    /// # Errors
    /// [`GradientError::Structure`] for another model; else the errors of [`new`](Self::new).
    pub(crate) fn begin(&mut self, problem: &Problem) -> Result<(), GradientError> {
        self.progress = Progress::Empty;
        check_structure(&self.equations.problem, problem, || "the problem".to_owned())?;
        if !self.equations.take_parameters(problem) {
            *self = Self::new(problem, &self.touching)?;
        }
        Ok(())
    }

    /// The solution is placed.
    pub(crate) fn is_placed(&mut self) {
        self.progress = Progress::Placed;
    }

    /// Whatever was placed is forgotten.
    pub(crate) fn unplace(&mut self) {
        self.progress = Progress::Empty;
    }

    /// Refuses to go on without a placed solution.
    ///
    /// # Errors
    /// [`GradientError::NotReady`].
    pub(crate) fn check_placed(&self) -> Result<(), GradientError> {
        self.check(
            Progress::Placed,
            "`place` has to have succeeded, and nothing been carried since",
        )
    }

    /// Refuses to go on without the solution of the adjoint equations.
    ///
    /// # Errors
    /// [`GradientError::NotReady`].
    pub(crate) fn check_adjoint(&self) -> Result<(), GradientError> {
        self.check(
            Progress::Adjoint,
            "`adjoint` has to have succeeded since the last `place`",
        )
    }

    fn check(&self, least: Progress, what: &'static str) -> Result<(), GradientError> {
        match self.progress >= least {
            true => Ok(()),
            false => Err(GradientError::NotReady { what }),
        }
    }

    /// Takes the answer of the adjoint equations that were solved.
    pub(crate) fn take_adjoint(&mut self) {
        for (kept, found) in self.adjoint.iter_mut().zip(&self.saddle.answer) {
            kept.clone_from(found);
        }
        self.has_adjoint();
    }

    /// The adjoint equations are solved.
    pub(crate) fn has_adjoint(&mut self) {
        self.progress = Progress::Adjoint;
    }

    /// Carries the gradient of a function of one state by displacements and velocities of all nodes
    /// to the independent coordinates. Whatever was placed is forgotten.
    ///
    /// # Errors
    /// [`GradientError::NotBuilt`] for a gradient by velocities of a node that is mapped
    /// nonlinearly; [`GradientError::Length`], [`GradientError::Model`].
    pub(crate) fn carry(
        &mut self,
        problem: &Problem,
        state: &State,
        [by_x, by_v]: [&[f64]; 2],
        out: &mut StateVector,
    ) -> Result<(), GradientError> {
        self.progress = Progress::Empty;
        let all = problem.velocity_count();
        check_length("a gradient by displacements of all nodes", all, by_x.len())?;
        check_length("a gradient by velocities of all nodes", all, by_v.len())?;
        for (index, node) in problem.nodes().iter().enumerate() {
            let acts = by_v[node.velocity_range()].iter().any(|f| *f != 0.0);
            if acts && !is_linear(problem, index) {
                return Err(GradientError::NotBuilt {
                    what: format!("a function of the velocities of `{}`", node.name),
                    why: "its mapping is not linear: write the function in those of its parents",
                });
            }
        }
        let Equations {
            evaluation,
            state: own,
            total,
            ..
        } = &mut self.equations;
        own.clone_from(state);
        evaluation.propagate(problem, own)?;
        for (by, list) in [(by_x, &mut out.x), (by_v, &mut out.v)] {
            total.copy_from_slice(by);
            evaluation.pull_back(problem, total);
            list.clear();
            list.resize(problem.dof_count(), 0.0);
            gather(problem, total, list);
        }
        Ok(())
    }

    /// The gradient by forces from outside on all nodes.
    ///
    /// # Errors
    /// [`GradientError::NotReady`].
    pub(crate) fn by_force(&self, out: &mut Vec<f64>) -> Result<(), GradientError> {
        self.check_adjoint()?;
        self.equations.weigh_forces(&self.adjoint[0], out);
        Ok(())
    }

    /// The gradient by the inputs of all force fields.
    ///
    /// # Errors
    /// [`GradientError::NotReady`].
    pub(crate) fn by_input(&mut self, out: &mut Vec<f64>) -> Result<(), GradientError> {
        let mut on_nodes = std::mem::take(&mut self.on_nodes);
        let pushed = self.by_force(&mut on_nodes);
        out.clear();
        // What a law would give has no part in a row at its bound.
        let rows = &mut self.rows;
        rows.clone_from(&self.adjoint[1]);
        self.linearised.laws.clear_at_bounds(rows);
        if pushed.is_ok() {
            out.resize(self.equations.problem.parameters().inputs().len(), 0.0);
            let by = [&on_nodes[..], &*rows];
            self.linearised
                .add_by_inputs(&mut self.equations, &self.kept, by, InputShare::WHOLE, out);
        }
        self.on_nodes = on_nodes;
        pushed
    }

    /// Shares the derivative `whole` by a parameter out among the elements of a node, whose numbers the
    /// parameter moves: by the changes of the forces on all nodes and of the rows with it.
    ///
    /// # Errors
    /// [`GradientError::NotOfElements`] if the parameter moves more than what acts on them,
    /// [`GradientError::NotBuilt`] where something couples them, [`GradientError::NotReady`].
    pub(crate) fn by_element(&mut self, of: OfElements<'_>, out: &mut Vec<f64>) -> Result<(), GradientError> {
        let OfElements {
            node,
            forces,
            rows,
            elsewhere,
            ..
        } = of;
        let mut on_nodes = std::mem::take(&mut self.on_nodes);
        let pushed = self.by_force(&mut on_nodes);
        let problem = &self.equations.problem;
        let element = problem.node(node);
        out.clear();
        out.resize(element.count, 0.0);
        let size = element.space.velocity_size();
        let elsewhere = elsewhere.get(element.velocity_range()).unwrap_or_default();
        for (k, part) in elsewhere.iter().enumerate() {
            out[k / size] += part;
        }
        let shares = Shares {
            on_nodes: &on_nodes,
            forces,
            weights: &self.adjoint[1],
            rows,
        };
        shares.add(problem, node, out);
        self.on_nodes = on_nodes;
        pushed?;
        check_together(problem, of, out)
    }

    /// The last adjoint solution times changes of the equations.
    pub(crate) fn work(&self, changes: [&[f64]; 2]) -> f64 {
        let pairs = self.adjoint.iter().zip(changes);
        pairs
            .map(|(a, b)| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>())
            .sum()
    }

    /// The change of the residuals with one parameter of a family of models, and if wanted of the
    /// forces on all nodes.
    ///
    /// # Errors
    /// [`GradientError::NotReady`] if nothing is placed, and those of the family.
    pub(crate) fn equations_by(
        &self,
        family: &mut Family,
        parameter: usize,
        out: [&mut Vec<f64>; 2],
        forces: Option<&mut Vec<f64>>,
    ) -> Result<(), GradientError> {
        self.check_placed()?;
        let [dr, ds] = out;
        family.derivative(
            self.problem(),
            parameter,
            &self.kept.get(),
            [&mut *dr, &mut *ds],
            forces,
        )?;
        let at_bound = &self.linearised.laws.at_bound;
        family.bounds_derivative(self.problem(), parameter, at_bound, &self.kept.multipliers, ds)
    }
}

/// The share of each element of a node in a derivative, by one moment's equations.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shares<'a> {
    /// Weights of forces on all nodes, and the changes of these forces where they act.
    pub(crate) on_nodes: &'a [f64],
    pub(crate) forces: &'a [f64],
    /// Weights of the rows, and the changes of their residuals.
    pub(crate) weights: &'a [f64],
    pub(crate) rows: &'a [f64],
}

impl Shares<'_> {
    /// Adds them.
    pub(crate) fn add(&self, problem: &Problem, node: NodeId, out: &mut [f64]) {
        let element = problem.node(node);
        let (range, size) = (element.velocity_range(), element.space.velocity_size());
        let pairs = self.on_nodes[range.clone()].iter().zip(&self.forces[range]);
        for (k, (by, force)) in pairs.enumerate() {
            out[k / size] += by * force;
        }
        for group in problem.row_groups().iter().filter(|group| group.node == node) {
            for k in 0..group.size * group.count {
                let row = group.first_row + k;
                out[k / group.size] -= self.weights[row] * self.rows[row];
            }
        }
    }
}

/// Checks that the derivatives by all elements of a node together are that by the parameter.
///
/// # Errors
/// [`GradientError::NotOfElements`].
pub(crate) fn check_together(
    problem: &Problem,
    of: OfElements<'_>,
    out: &[f64],
) -> Result<(), GradientError> {
    let OfElements {
        parameter,
        node,
        whole,
        forces,
        rows,
        ..
    } = of;
    let sum: f64 = out.iter().sum();
    let size = out.iter().fold(whole.abs(), |size, by| size.max(by.abs()));
    if (sum - whole).abs() <= TOGETHER * size * (out.len() as f64).sqrt() {
        return Ok(());
    }
    Err(GradientError::NotOfElements {
        parameter,
        node: problem.node(node).name.clone(),
        moved: match other_node(problem, node, [forces, rows]) {
            Some(other) => format!("what acts on `{}`", problem.nodes()[other].name),
            None => "a mapping or a contact".to_owned(),
        },
    })
}

/// The other node on which forces and rows change most with a parameter, if there is one.
fn other_node(problem: &Problem, node: NodeId, [forces, rows]: [&[f64]; 2]) -> Option<usize> {
    let mut found = vec![0.0f64; problem.nodes().len()];
    for (node, most) in problem.nodes().iter().zip(&mut found) {
        let own = forces.get(node.velocity_range()).unwrap_or_default();
        *most = own.iter().fold(*most, |most, f| most.max(f.abs()));
    }
    for group in problem.row_groups() {
        let own = rows.get(group.first_row..group.first_row + group.size * group.count);
        let most = &mut found[group.node.index()];
        *most = own
            .unwrap_or_default()
            .iter()
            .fold(*most, |most, r| most.max(r.abs()));
    }
    let most = found.iter().fold(0.0f64, |most, f| most.max(*f));
    let others = found
        .iter()
        .enumerate()
        .filter(|(i, f)| *i != node.index() && **f > TOGETHER * most);
    others
        .max_by(|(_, a), (_, b)| a.total_cmp(b))
        .map(|(index, _)| index)
}

/// Refuses nodes with masses or laws that couple their elements: these have no numbers of their own.
///
/// # Errors
/// [`GradientError::NotBuilt`], [`GradientError::Index`].
pub(crate) fn check_own_numbers(problem: &Problem, node: NodeId) -> Result<(), GradientError> {
    check_index("node", node.index(), problem.nodes().len())?;
    let count = problem.node(node).count;
    let masses = problem.masses().iter().filter(|mass| mass.node == node);
    let mut coupled = masses.filter(|mass| matches!(mass.component, Mass::Coupled(_)));
    let fields = problem.force_fields().iter().filter(|field| field.node == node);
    let mut joint = fields.filter(|field| {
        let lists = field.component.law.groups().lists(count);
        lists.iter().any(|list| list.len() > 1)
    });
    let found = coupled.next().map(|mass| &mass.name);
    match found.or_else(|| joint.next().map(|field| &field.name)) {
        Some(name) => Err(GradientError::NotBuilt {
            what: format!("`{name}` by the numbers of each element"),
            why: "it couples elements of its node",
        }),
        None => Ok(()),
    }
}

/// An error unless a state has the numbers of a model.
pub(crate) fn check_state(
    problem: &Problem,
    state: &State,
    [positions, velocities]: [&'static str; 2],
) -> Result<(), GradientError> {
    let last = problem.nodes().last();
    let expected = last.map_or(0, |node| node.position_range().end);
    check_length(positions, expected, state.positions.len())?;
    check_length(velocities, problem.velocity_count(), state.velocities.len())
}

/// An error unless there are forces from outside on all nodes, or none.
pub(crate) fn check_external(problem: &Problem, external: &[f64]) -> Result<(), GradientError> {
    match external.is_empty() {
        true => Ok(()),
        false => check_length("forces from outside", problem.velocity_count(), external.len()),
    }
}
