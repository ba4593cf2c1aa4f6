//! Numbers of a whole run, as they stand in `result.json`.

use super::adaptive::AdaptiveRun;
use super::contacts::ContactSummary;
use super::events::{EventSummary, RemovalSummary, Saying, StopSummary};
use super::inputs::Inputs;
use super::joints::JointState;
use super::probes::ProbeSummary;
use super::rows::Rows;
use super::statics::StaticsSummary;
use pliant::model::{ComponentId, Energies, Momentum, NodeId, NodeKind, Problem, Treatment};
use pliant::solvers::Variable;
use pliant::{Certificate, Simulation, StepReport};
use pliant_output::recording::Sample;
use pliant_scene::{BuiltScene, Deformable};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// Numbers of a whole run. Times in seconds, energies in joules, lengths in metres; a number that
/// is not finite is `null` in JSON.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// Version of this structure: 1.
    pub schema: u32,
    /// Version of Pliant.
    #[serde(skip_deserializing)]
    pub pliant: &'static str,
    /// The scene file as the user named it.
    pub scene: String,
    /// Its title.
    pub title: String,
    /// `ok`, `failed` if it ended early by an error, `interrupted` if it was broken off.
    #[serde(skip_deserializing)]
    pub status: &'static str,
    /// Why it ended early.
    pub error: Option<String>,
    /// The kind of that error: `not_converged` or `numerical`, as the exit codes 3 and 4.
    #[serde(skip_deserializing)]
    pub error_kind: Option<&'static str>,
    /// Sentences about numbers that are hardly meant, and about all in the run that is hardly
    /// right.
    pub warnings: Vec<String>,
    /// Checksums of its files, and values given beside them.
    #[serde(skip_deserializing)]
    pub inputs: Inputs,
    /// All parameters.
    pub parameters: BTreeMap<String, f64>,
    /// Sizes of the model and its system.
    pub sizes: Sizes,
    /// Length of a step.
    pub step: f64,
    /// Steps taken.
    pub steps: usize,
    /// Time at the end.
    pub time: f64,
    /// Time that was asked for.
    pub duration: f64,
    /// Counts of steps that choose their length; `null` if they had the scene's.
    pub adaptive: Option<AdaptiveRun>,
    /// The worst steps, part by part of their certificates; `null` of equilibria.
    pub certificate: Option<CertificateSummary>,
    /// Relative residuals of the linear systems.
    pub residual: Residuals,
    /// Violations of hard constraints.
    pub violation: Residuals,
    /// The linear solver of the last step, or of the last tangent at rest; "none" before the first.
    #[serde(skip_deserializing)]
    pub solver: &'static str,
    /// Processes over which linear systems were spread; in files, where it is more than one.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub processes: usize,
    /// Elements of solids, sheets and nets that these processes share out, each evaluating its own;
    /// in files, where there are any.
    #[serde(default, skip_serializing_if = "is_none")]
    pub shared_elements: usize,
    /// Systems that each of these processes solved alone, all of them the same; in files, where
    /// there are any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub solved_alone: Vec<String>,
    /// Iterations of an iterative linear solver.
    pub iterations: usize,
    /// Steps of iterative refinement, all together.
    pub refinements: usize,
    /// Most redundant rows in a step.
    pub redundant_rows: usize,
    /// Linear solves beyond one per step, for the sake of the geometric stiffness.
    pub extra_geometry_passes: usize,
    /// Linear systems solved by Newton's method, all together.
    pub newton_iterations: usize,
    /// Halvings of steps that had no solution at their length, or whose stages gained or lost
    /// energy.
    pub newton_halvings: usize,
    /// Steps that SDIRK2 took in two stages and in one; neither counts where another method took
    /// them.
    pub two_stage_steps: usize,
    /// See [`two_stage_steps`](Self::two_stage_steps).
    pub one_stage_steps: usize,
    /// The largest estimated error that the iterations of these stages left in the velocities, as a
    /// share of them.
    pub stage_velocity_error: f64,
    /// The linear step that missed most of the nonlinear equations, of those that were measured;
    /// `null` if none was.
    pub linearisation: Option<LinearisationSummary>,
    /// Steps in which the geometric stiffness was replaced by its absolute value.
    pub clamped_steps: usize,
    /// Most elements of a step whose tangent was indefinite and projected, as their material was
    /// asked to.
    pub projected_tangents: usize,
    /// Energies at the start.
    pub energy_start: Energy,
    /// Energies at the end.
    pub energy_end: Energy,
    /// Energy that there was to turn over (J): the kinetic one of the start, that of the deepest
    /// fall from it, and work of forces, motors, prescribed motion and inputs in both directions.
    /// Energy that the method made or lost is much or little beside it.
    #[serde(default)]
    pub turned_over: f64,
    /// Taken out by damping forces.
    pub dissipated: f64,
    /// Energy by source (J): the entries of [`pliant::Ledger`], by name.
    #[serde(skip_deserializing)]
    pub ledger: BTreeMap<&'static str, f64>,
    /// The parts of `numerical` of the ledger (J): the entries of [`pliant::NumericalParts`], by
    /// name.
    #[serde(skip_deserializing)]
    pub numerical: BTreeMap<&'static str, f64>,
    /// Potential energy of each mass and force field at the end (J), by name.
    #[serde(skip_deserializing)]
    pub potential: BTreeMap<String, f64>,
    /// Linear momentum at the end.
    pub momentum: [f64; 3],
    /// Angular momentum about the origin at the end.
    pub angular_momentum: [f64; 3],
    /// Counts of the work done.
    pub work: WorkCounters,
    /// Time spent.
    pub seconds: Seconds,
    /// Positions and velocities of nodes at the end, by name: of all but the deformations that
    /// solids and sheets have at their points of integration, which would be nearly all of it.
    #[serde(skip_deserializing)]
    pub state: BTreeMap<String, NodeState>,
    /// Forces of compliant springs and constraints in the last step, by name; a cable's is positive
    /// when it pushes.
    #[serde(skip_deserializing)]
    pub reactions: BTreeMap<String, Vec<f64>>,
    /// Joints at the end, by name.
    #[serde(skip_deserializing)]
    pub joints: BTreeMap<String, JointState>,
    /// Probes over the run, by name.
    #[serde(skip_deserializing)]
    pub probes: BTreeMap<String, ProbeSummary>,
    /// Events over the run, by name.
    #[serde(skip_deserializing)]
    pub events: BTreeMap<String, EventSummary>,
    /// Elements that broke, by the names of the rules, and that events removed, by theirs.
    #[serde(skip_deserializing)]
    pub removed: BTreeMap<String, RemovalSummary>,
    /// The first thousand sentences of events.
    #[serde(skip_deserializing)]
    pub said: Vec<Saying>,
    /// The event that ended the run; `null` if none did.
    #[serde(skip_deserializing)]
    pub stopped_by: Option<StopSummary>,
    /// Treatment, in the last step, of the force fields of treatment `Auto`, by name.
    #[serde(skip_deserializing)]
    pub treatments: BTreeMap<String, TreatmentState>,
    /// Contacts; `null` if nothing can collide.
    pub contacts: Option<ContactSummary>,
    /// Equilibria; `null` of a motion.
    #[serde(default)]
    pub statics: Option<StaticsSummary>,
    /// Work and seconds before the checkpoint that the run went on from.
    #[serde(skip)]
    earlier: (WorkCounters, f64),
}

/// The treatment of a force field of treatment `Auto`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct TreatmentState {
    /// `compliance` or `stiffness`.
    pub treatment: &'static str,
    /// Largest `h^2 k / m` of its coordinates.
    pub ratio: f64,
    /// The ratio above which it is a compliance.
    pub limit: f64,
}

/// Sizes of the model and its system.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sizes {
    /// Nodes of the model.
    pub nodes: usize,
    /// Independent degrees of freedom.
    pub dofs: usize,
    /// The degrees of freedom among them that are fixed at the start.
    pub fixed: usize,
    /// Rows of constraints and compliant springs.
    pub rows: usize,
    /// Stored entries of the response matrix `W`.
    pub w_entries: usize,
    /// Stored entries of the constraint Jacobian `J`.
    pub j_entries: usize,
}

/// The part of the nonlinear equations that a linear step missed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LinearisationSummary {
    /// Size of the velocities that the missing parts ask for, as a share of those of the motion.
    pub share: f64,
    /// Time at the end of the step.
    pub time: f64,
    /// The equation with the largest part of it.
    pub equation: String,
}

/// The worst of each part of the certificates of all steps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CertificateSummary {
    /// Residual of the equations as the method solves them, as a share of their terms.
    pub equations: f64,
    /// Largest violation of a hard constraint (m, rad).
    pub rows: f64,
    /// Largest residual of a contact or of a row of bounded force (m/s, rad/s).
    pub cones: f64,
    /// The step that made most energy, as a share of what it turned over.
    pub gain: EnergyShare,
    /// The step in which dampers, friction and impacts brought in most, likewise.
    pub passive_gain: EnergyShare,
    /// The time at which most energy had come from nowhere since the start, as a share of what
    /// could turn over.
    pub since_start: EnergyShare,
    /// Largest estimate of the error that a step adds to a smooth motion; `null` of methods without
    /// one.
    pub local_error: Option<StepError>,
}

/// Energy that came from nowhere.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct EnergyShare {
    /// The energy as a share of what turned over.
    pub share: f64,
    /// The energy in joules.
    pub energy: f64,
    /// Time at the end of the step.
    pub time: f64,
}

/// Estimate of the error that a step adds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StepError {
    /// Largest error of a coordinate (m, rad).
    pub position: f64,
    /// Largest error of a velocity (m/s, rad/s).
    pub velocity: f64,
}

impl CertificateSummary {
    fn add(&mut self, certificate: &Certificate, time: f64) {
        for (most, one) in [
            (&mut self.equations, certificate.equations),
            (&mut self.rows, certificate.rows),
            (&mut self.cones, certificate.cones),
        ] {
            *most = worse(*most, one);
        }
        let energy = &certificate.energy;
        for (most, share, energy) in [
            (&mut self.gain, energy.gain(), energy.numerical),
            (&mut self.passive_gain, energy.passive_gain(), energy.passive),
            (
                &mut self.since_start,
                energy.since_start.share(),
                energy.since_start.made,
            ),
        ] {
            if share.is_nan() || share > most.share {
                *most = EnergyShare { share, energy, time };
            }
        }
        if let Some(error) = certificate.local_error {
            let most = self.local_error.get_or_insert_default();
            most.position = worse(most.position, error.position);
            most.velocity = worse(most.velocity, error.velocity);
        }
    }
}

/// The larger of two; a NaN is the worst, and must not hide behind `max`.
fn worse(a: f64, b: f64) -> f64 {
    if a.is_nan() || b <= a { a } else { b }
}

/// The last and the worst of something over all steps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Residuals {
    /// The value in the last step.
    pub last: f64,
    /// The value in the worst step.
    pub worst: f64,
}

/// Energies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Energy {
    /// Kinetic energy.
    pub kinetic: f64,
    /// Potential energy of gravity and springs.
    pub potential: f64,
    /// Both.
    pub total: f64,
}

/// Counts of the work done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkCounters {
    /// Plans of the assembly.
    pub plans: usize,
    /// Orderings and symbolic factorisations.
    pub symbolic_analyses: usize,
    /// Numeric factorisations.
    pub factorisations: usize,
    /// Triangular solves.
    pub solves: usize,
    /// Stored entries of the factor.
    pub factor_entries: usize,
    /// Stored entries of the matrix that is factored.
    pub matrix_entries: usize,
}

/// Time spent, in seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Seconds {
    /// Everything, from the initial state to the end.
    pub total: f64,
    /// Forces, Jacobians, assembly.
    pub fill: f64,
    /// Ordering and factorisation.
    pub factor: f64,
    /// Solve and refinement.
    pub solve: f64,
    /// Stabilisation of positions.
    pub stabilise: f64,
    /// Finding contacts, taking overlap back.
    pub contacts: f64,
    /// Update and mappings.
    pub update: f64,
    /// Attempts at steps that do not stand, and whatever lies between the phases.
    #[serde(default)]
    pub rejected: f64,
}

/// A node at the end.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct NodeState {
    /// `scalars`, `points of space` or `rigid bodies`.
    pub space: String,
    /// `independent` or `mapped`.
    pub kind: &'static str,
    /// One row per element; bodies: position, then quaternion (w, x, y, z).
    pub positions: Rows,
    /// One row per element; bodies: linear in world axes, then angular in body axes.
    pub velocities: Rows,
}

impl Residuals {
    pub(super) fn add(&mut self, value: f64) {
        self.last = value;
        self.worst = worse(self.worst, value);
    }
}

impl From<Energies> for Energy {
    fn from(e: Energies) -> Self {
        Self {
            kinetic: e.kinetic,
            potential: e.potential,
            total: e.total(),
        }
    }
}

impl Sizes {
    /// The summary of a simulation that was just set up.
    pub fn of(simulation: &Simulation) -> Self {
        let (model, system) = (simulation.model(), simulation.system());
        Self {
            nodes: model.nodes().len(),
            dofs: model.dof_count(),
            fixed: system.fixed.iter().filter(|f| **f).count(),
            rows: simulation.problem().row_count(),
            w_entries: system.w.values().len(),
            j_entries: system.j.values().len(),
        }
    }
}

impl Summary {
    pub(super) fn start(scene: &BuiltScene, simulation: &Simulation, energies: Energies) -> Self {
        Self {
            schema: 1,
            pliant: env!("CARGO_PKG_VERSION"),
            scene: scene.file.clone(),
            title: scene.title.clone(),
            status: "ok",
            error: None,
            error_kind: None,
            warnings: Vec::new(),
            inputs: Inputs::of(scene),
            parameters: scene.parameters.clone(),
            sizes: Sizes::of(simulation),
            step: scene.plan.step,
            steps: 0,
            time: 0.0,
            duration: scene.plan.duration,
            adaptive: scene.plan.adaptive.map(|_| AdaptiveRun::default()),
            certificate: None,
            residual: Residuals::default(),
            violation: Residuals::default(),
            solver: "none",
            processes: 1,
            shared_elements: 0,
            solved_alone: Vec::new(),
            iterations: 0,
            refinements: 0,
            redundant_rows: 0,
            extra_geometry_passes: 0,
            newton_iterations: 0,
            newton_halvings: 0,
            two_stage_steps: 0,
            one_stage_steps: 0,
            stage_velocity_error: 0.0,
            linearisation: None,
            clamped_steps: 0,
            projected_tangents: 0,
            energy_start: energies.into(),
            energy_end: energies.into(),
            turned_over: 0.0,
            dissipated: 0.0,
            ledger: BTreeMap::new(),
            numerical: BTreeMap::new(),
            potential: BTreeMap::new(),
            momentum: [0.0; 3],
            angular_momentum: [0.0; 3],
            work: WorkCounters::default(),
            seconds: Seconds::default(),
            state: BTreeMap::new(),
            reactions: BTreeMap::new(),
            joints: BTreeMap::new(),
            probes: BTreeMap::new(),
            events: BTreeMap::new(),
            removed: BTreeMap::new(),
            said: Vec::new(),
            stopped_by: None,
            treatments: BTreeMap::new(),
            contacts: None,
            statics: None,
            earlier: Default::default(),
        }
    }

    /// Contacts of an equilibrium.
    pub(super) fn add_rest_contacts(&mut self, report: &pliant::contact::ContactsReport) {
        if let Some(contacts) = &mut self.contacts {
            contacts.add(report);
        }
    }

    /// Says that the processes of a run solved systems with redundant rows alone, if they did.
    pub(super) fn tell_redundant_rows(&mut self) {
        const WHAT: &str = "systems with redundant rows";
        if self.processes > 1 && self.redundant_rows > 0 && !self.solved_alone.iter().any(|w| w == WHAT) {
            self.solved_alone.push(WHAT.to_owned());
        }
    }

    /// Takes the linear solver of a search for rest, if it had one.
    pub(super) fn name_solver_of_rest(&mut self, solver: &'static str) {
        if !solver.is_empty() {
            self.solver = solver;
        }
    }

    /// Takes a point at rest as a step.
    pub(super) fn add_rest(&mut self, sample: &Sample) {
        self.steps += 1;
        self.residual.add(sample.residual);
        self.violation.add(sample.violation);
        self.energy_end = Energy {
            kinetic: 0.0,
            potential: sample.potential,
            total: sample.potential,
        };
    }

    pub(super) fn add(&mut self, model: &Problem, report: &StepReport) {
        self.steps += 1;
        self.time = report.time;
        self.certificate
            .get_or_insert_default()
            .add(&report.certificate, report.time);
        self.residual.add(report.residual.relative);
        self.violation.add(report.violation);
        self.solver = report.solve.solver;
        self.iterations += report.solve.iterations;
        self.refinements += report.solve.refinements;
        self.redundant_rows = self.redundant_rows.max(report.solve.redundant_rows);
        self.tell_redundant_rows();
        // Each part of a step in halves has one pass of its own.
        let parts = 1 + report.solve.newton.step_halvings;
        self.extra_geometry_passes += report.solve.geometry_passes.saturating_sub(parts);
        self.newton_iterations += report.solve.newton.iterations;
        self.newton_halvings += report.solve.newton.step_halvings;
        self.two_stage_steps += usize::from(report.solve.stages == 2);
        self.one_stage_steps += usize::from(report.solve.stages == 1);
        self.stage_velocity_error = self.stage_velocity_error.max(report.solve.velocity_error);
        if let Some(found) = report.solve.linearisation
            && self
                .linearisation
                .as_ref()
                .is_none_or(|worst| worst.share < found.share)
        {
            self.linearisation = Some(LinearisationSummary {
                share: found.share,
                time: report.time,
                equation: match found.equation {
                    Some(Variable::Dof(dof)) => model.describe_dof(dof),
                    Some(Variable::Row(row)) => model.describe_row(row),
                    None => String::new(),
                },
            });
        }
        self.clamped_steps += usize::from(report.solve.geometry_clamped);
        self.projected_tangents = self.projected_tangents.max(report.solve.projected_tangents);
        self.energy_end = report.energies.into();
        self.dissipated = report.dissipated;
        if let Some(contacts) = &mut self.contacts {
            contacts.add(&report.contacts);
        }
        let t = report.timings;
        let seconds = &mut self.seconds;
        for (sum, lap) in [
            (&mut seconds.fill, t.fill),
            (&mut seconds.factor, t.factor),
            (&mut seconds.solve, t.solve),
            (&mut seconds.stabilise, t.stabilise),
            (&mut seconds.contacts, t.contacts),
            (&mut seconds.update, t.update),
            (&mut seconds.rejected, t.rejected),
        ] {
            *sum += lap.as_secs_f64();
        }
    }

    /// Goes on from the sums of a checkpoint.
    pub(super) fn go_on(&mut self, before: Self) {
        let (pliant, status, solver) = (self.pliant, self.status, self.solver);
        let scene = std::mem::take(&mut self.scene);
        let inputs = std::mem::take(&mut self.inputs);
        *self = Self {
            inputs,
            pliant,
            status,
            solver,
            scene,
            ..before
        };
        self.earlier = (self.work, self.seconds.total);
    }

    /// Counts the work so far, that before the checkpoint which the run went on from included.
    pub(super) fn count_work(&mut self, simulation: &Simulation, elapsed: Duration) {
        let (earlier, seconds) = self.earlier;
        self.seconds.total = seconds + elapsed.as_secs_f64();
        let counters = simulation.counters();
        self.work = WorkCounters {
            plans: earlier.plans + counters.plans,
            symbolic_analyses: earlier.symbolic_analyses + counters.solver.symbolic,
            factorisations: earlier.factorisations + counters.solver.numeric,
            solves: earlier.solves + counters.solver.solves,
            factor_entries: counters.solver.factor_entries,
            matrix_entries: counters.solver.matrix_entries,
        };
    }

    pub(super) fn finish(
        &mut self,
        simulation: &Simulation,
        deformables: &[Deformable],
        error: Option<&pliant::Error>,
        elapsed: Duration,
    ) {
        if let Some(error) = error {
            self.status = "failed";
            self.error = Some(error.to_string());
            self.error_kind = Some(if super::is_unsolved(error) {
                "not_converged"
            } else {
                "numerical"
            });
        }
        self.count_work(simulation, elapsed);
        let (model, state) = (simulation.model(), simulation.state());
        let Momentum { linear, angular } = model.momentum(state);
        (self.momentum, self.angular_momentum) = (linear, angular);
        let hidden: BTreeSet<NodeId> = deformables.iter().flat_map(|d| d.deformations(model)).collect();
        let ids = model.node_ids().zip(model.nodes());
        for (id, node) in ids.filter(|(id, _)| !hidden.contains(id)) {
            // Of elements that processes share out, those of all.
            let rows = |numbers: &[f64], size| Rows::new(size, model.gather_elements(id, size, numbers));
            let entry = NodeState {
                space: node.space.to_string(),
                kind: if matches!(node.kind, NodeKind::Independent { .. }) {
                    "independent"
                } else {
                    "mapped"
                },
                positions: rows(
                    &state.positions[node.position_range()],
                    node.space.position_size(),
                ),
                velocities: rows(
                    &state.velocities[node.velocity_range()],
                    node.space.velocity_size(),
                ),
            };
            self.state.insert(node.name.clone(), entry);
        }
        let masses = (0..model.masses().len()).map(ComponentId::Mass);
        let forces = (0..model.force_fields().len()).map(ComponentId::ForceField);
        for component in masses.chain(forces) {
            let name = model.component_name(component).to_owned();
            self.potential.insert(name, simulation.potential(component));
        }
        for group in simulation.problem().row_groups() {
            let name = model.component_name(group.component).to_owned();
            self.reactions
                .insert(name, simulation.reaction(group.component).to_vec());
        }
        for choice in simulation.treatments() {
            let compliance = choice.treatment == Treatment::Compliance;
            let entry = TreatmentState {
                treatment: if compliance { "compliance" } else { "stiffness" },
                ratio: choice.ratio,
                limit: choice.limit,
            };
            let name = model.component_name(choice.component).to_owned();
            self.treatments.insert(name, entry);
        }
    }
}

fn one() -> usize {
    1
}

fn is_one(count: &usize) -> bool {
    *count == 1
}

fn is_none(count: &usize) -> bool {
    *count == 0
}
