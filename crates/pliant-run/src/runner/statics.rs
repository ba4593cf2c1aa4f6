//! Scenes of statics: equilibria as pictures.

use super::probes::Moment;
use super::review::short;
use super::{Parts, Runner, contacts, inverted};
use pliant::model::{Energies, Evaluation, Problem, State};
use pliant::{CriticalKind, Error, Path, PathEnd, PathPoint, Simulation};
use pliant_output::csv::PathLine;
use pliant_output::recording::{Recording, Sample};
use pliant_scene::StaticsPlan;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::f64::consts::TAU;

/// Pictures of a swing of a mode, beside the first.
const SWING: usize = 24;
/// The largest way of a point in it, over the size of what moves, and the largest turn of a body
/// (rad).
const LARGEST_WAY: f64 = 0.1;
const LARGEST_TURN: f64 = 0.5;

/// The column of load factors in the table of probes.
const LOAD: &str = "load";

/// The result of a scene of statics.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StaticsSummary {
    /// The end: `equilibrium` of a single one; of a path `reached`, `points` if they ran out,
    /// `stuck`. Of one that was not found, `none`.
    pub end: Cow<'static, str>,
    /// Load factor of each point.
    pub load: Vec<f64>,
    /// Largest force that is missing there, over the size of its terms.
    pub residual: Vec<f64>,
    /// Negative eigenvalues of the tangent on the constraints: 0 where it is stable; `null` after
    /// dynamic relaxation.
    pub negative_modes: Vec<Option<usize>>,
    /// Directions in which nothing resists.
    pub free_modes: Vec<usize>,
    /// Iterations from the point before.
    pub iterations: Vec<usize>,
    /// Critical points.
    pub critical: Vec<CriticalState>,
    /// Tangents factored.
    pub factorisations: usize,
}

/// A point at which stability changes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CriticalState {
    /// `limit` or `bifurcation`.
    pub kind: Cow<'static, str>,
    /// Load factor.
    pub load: f64,
    /// The point before it, counted from 0.
    pub after: usize,
    /// Negative eigenvalues before and behind.
    pub negative_modes: (usize, usize),
}

impl StaticsSummary {
    /// The points as lines of `path.csv`.
    pub(super) fn lines(&self) -> impl Iterator<Item = PathLine> {
        self.load.iter().enumerate().map(|(k, load)| PathLine {
            load: *load,
            residual: self.residual[k],
            negative_modes: self.negative_modes[k],
            free_modes: self.free_modes[k],
            iterations: self.iterations[k],
        })
    }

    /// The summary if no equilibrium was found.
    fn none() -> Self {
        Self {
            end: "none".into(),
            ..Self::default()
        }
    }

    /// The kind of a path's end or of an equilibrium, and the points.
    fn of_path(path: &Path) -> Self {
        let points = || path.points.iter();
        Self {
            end: match path.end {
                PathEnd::Reached => "reached",
                PathEnd::Points | PathEnd::Stopped => "points",
                PathEnd::Stuck(_) => "stuck",
            }
            .into(),
            load: points().map(|p| p.load).collect(),
            residual: points().map(|p| p.residual).collect(),
            negative_modes: points().map(|p| Some(p.negative_modes)).collect(),
            free_modes: points().map(|p| p.free_modes).collect(),
            iterations: points().map(|p| p.iterations).collect(),
            critical: path
                .critical
                .iter()
                .map(|c| CriticalState {
                    kind: match c.kind {
                        CriticalKind::Limit => "limit",
                        CriticalKind::Bifurcation => "bifurcation",
                    }
                    .into(),
                    load: c.load,
                    after: c.after,
                    negative_modes: c.negative_modes,
                })
                .collect(),
            factorisations: path.factorisations,
        }
    }
}

impl Runner {
    /// Whether the equilibria are found, up to the end of a path.
    pub(super) fn is_found(&self) -> bool {
        let found = self.summary.statics.as_ref();
        found.is_some_and(|found| found.end != "none" && found.end != "stuck")
    }

    /// Finds what is asked for. The pictures are those of the points, spread over the duration; the
    /// state of the file is not among those of a path.
    pub(super) fn find_statics(&mut self, plan: &StaticsPlan) -> Option<Error> {
        self.probes.forget();
        match plan {
            StaticsPlan::Equilibrium(how) => match self.simulation.find_equilibrium(how) {
                Ok(report) => {
                    self.summary.statics = Some(StaticsSummary {
                        end: "equilibrium".into(),
                        load: vec![1.0],
                        residual: vec![report.residual],
                        negative_modes: vec![report.negative_modes],
                        free_modes: vec![report.free_modes],
                        iterations: vec![report.iterations],
                        critical: Vec::new(),
                        factorisations: report.factorisations,
                    });
                    let sample = sample(&self.simulation, report.residual, report.violation);
                    self.summary.redundant_rows = report.redundant_rows;
                    self.summary.tell_redundant_rows();
                    self.summary.name_solver_of_rest(report.solver);
                    self.show(sample);
                    self.spread(2);
                    None
                }
                Err(error) => {
                    self.summary.statics = Some(StaticsSummary::none());
                    Some(error)
                }
            },
            StaticsPlan::Path(how) => {
                let Parts {
                    picture,
                    joints,
                    fields,
                    ..
                } = &self.scene;
                let (records, probes, watch) = (self.records, &mut self.probes, &mut self.watch);
                let mut shown = Vec::new();
                let mut touching = std::mem::take(&mut self.recording.contacts);
                let mut reports = Vec::new();
                let path = self.simulation.follow(how, |simulation, point: &PathPoint| {
                    let sample = sample(simulation, point.residual, point.violation);
                    let when = || format!("at the load factor {}", short(point.load));
                    watch.inverted.look(simulation, fields.deformables(), when);
                    // Where processes share elements out, all of them bring together what it shows.
                    let is_shown = records || simulation.model().shared_elements().is_some();
                    let frame = is_shown.then(|| {
                        let (problem, state) = (simulation.problem(), simulation.state());
                        let mut frame = picture.frame(problem, state, sample);
                        fields.add_to(picture, simulation, &mut frame);
                        frame
                    });
                    let frame = frame.filter(|_| records);
                    let line = (records && !joints.is_empty()).then(|| joints.line(simulation));
                    probes.add(Moment {
                        simulation,
                        joints,
                        fields,
                        energies: energies(&sample),
                    });
                    let measured = (records && !probes.is_empty()).then(|| probes.line());
                    contacts::record(&mut touching, records, simulation, shown.len() as f64);
                    reports.push(simulation.contacts_report());
                    shown.push((sample, frame, line, measured));
                    true
                });
                self.recording.contacts = touching;
                for report in reports {
                    self.summary.add_rest_contacts(&report);
                }
                let path = match path {
                    Ok(path) => path,
                    Err(error) => {
                        self.summary.statics = Some(StaticsSummary::none());
                        return Some(error);
                    }
                };
                self.recording.samples.clear();
                self.recording.frames.clear();
                self.recording.joints.lines.clear();
                self.recording.probes.lines.clear();
                let points = shown.len();
                for (sample, frame, line, measured) in shown {
                    self.recording.samples.extend(records.then_some(sample));
                    self.recording.frames.extend(frame);
                    self.recording.joints.lines.extend(line);
                    self.recording.probes.lines.extend(measured);
                    self.summary.add_rest(&sample);
                }
                self.spread(points);
                self.add_loads(path.points.iter().map(|point| point.load));
                let redundant = path.points.iter().map(|p| p.redundant_rows).max();
                self.summary.redundant_rows = redundant.unwrap_or(0);
                self.summary.name_solver_of_rest(path.solver);
                self.summary.statics = Some(StaticsSummary::of_path(&path));
                match path.end {
                    PathEnd::Stuck(error) => Some(*error),
                    _ => None,
                }
            }
        }
    }

    /// One swing of a mode of vibration or buckling: pictures of `state`, with velocities of all
    /// nodes as the shape. It takes 1 s, whatever the frequency, and the point that moves most goes
    /// a tenth of the size of what is in the picture either way, if no body turns by more than half
    /// a radian.
    ///
    /// # Errors
    /// [`Error::Model`] where a mapping is not defined so far from the state.
    pub fn swing(&self, title: &str, state: &State, shape: &[f64]) -> Result<Recording, Error> {
        let (problem, picture) = (self.simulation.problem(), &self.scene.picture);
        let mut recording = picture.recording(self.simulation.model(), title);
        let mut evaluation = Evaluation::new(problem);
        let rest = picture.frame(problem, state, Sample::default());
        let scale = amplitude(problem, state, shape);
        for k in 0..=SWING {
            let time = k as f64 / SWING as f64;
            let way = scale * (TAU * time).sin();
            let mut there = state.clone();
            for node in problem.nodes().iter().filter(|n| n.first_dof().is_some()) {
                let velocities = node.velocity_range();
                let step: Vec<f64> = shape[velocities.clone()].iter().map(|v| way * v).collect();
                node.space
                    .retract(&mut there.positions[node.position_range()], &step);
                let speed = scale * TAU * (TAU * time).cos();
                let own = there.velocities[velocities.clone()]
                    .iter_mut()
                    .zip(&shape[velocities]);
                own.for_each(|(v, u)| *v = speed * u);
            }
            evaluation.propagate(problem, &mut there)?;
            let sample = Sample {
                time,
                ..Sample::default()
            };
            let mut frame = picture.frame(problem, &there, sample);
            frame.time = time;
            // Fields at points are those of rest.
            frame.fields.clone_from(&rest.fields);
            recording.frames.push(frame);
            recording.samples.push(sample);
        }
        Ok(recording)
    }

    /// Puts the load factors of a path beside its times in the table of probes, unless a probe has
    /// that name.
    fn add_loads(&mut self, loads: impl Iterator<Item = f64>) {
        let probes = &mut self.recording.probes;
        if probes.lines.is_empty() || probes.columns.iter().any(|name| name == LOAD) {
            return;
        }
        probes.columns.insert(0, LOAD.to_owned());
        for (line, load) in probes.lines.iter_mut().zip(loads) {
            line.insert(1, load);
        }
    }

    /// Looks whether elements of solids are inside out at present.
    pub(super) fn look_for_inverted(&mut self) {
        let (is_static, time) = (self.is_static(), self.simulation.time());
        let when = || match is_static {
            true => "in the equilibrium".to_owned(),
            false => inverted::at_time(time),
        };
        let (simulation, fields) = (&self.simulation, &self.scene.fields);
        self.watch.inverted.look(simulation, fields.deformables(), when);
    }

    fn show(&mut self, sample: Sample) {
        if self.records {
            self.recording.samples.push(sample);
        }
        self.record_picture(sample);
        self.record_probes(energies(&sample), false);
        self.summary.add_rest(&sample);
        self.summary.add_rest_contacts(&self.simulation.contacts_report());
        // The picture behind that of the start.
        self.record_contacts(1.0);
    }

    /// Spreads so many pictures over the duration; contacts have the number of theirs for a time.
    fn spread(&mut self, pictures: usize) {
        let last = pictures.saturating_sub(1).max(1) as f64;
        let time = |k: usize| self.scene.plan.duration * k as f64 / last;
        for (k, frame) in self.recording.frames.iter_mut().enumerate() {
            frame.time = time(k);
            frame.sample.time = time(k);
        }
        for (k, sample) in self.recording.samples.iter_mut().enumerate() {
            sample.time = time(k);
        }
        for (k, line) in self.recording.joints.lines.iter_mut().enumerate() {
            line[0] = time(k);
        }
        for (k, line) in self.recording.probes.lines.iter_mut().enumerate() {
            line[0] = time(k);
        }
        for line in &mut self.recording.contacts.lines {
            line.time = time(line.time as usize);
        }
        self.summary.time = time(pictures.saturating_sub(1));
    }
}

/// The energies of a line of the energy table.
fn energies(sample: &Sample) -> Energies {
    Energies {
        kinetic: sample.kinetic,
        potential: sample.potential,
    }
}

fn sample(simulation: &Simulation, residual: f64, violation: f64) -> Sample {
    let energies = simulation.present_energies();
    Sample {
        potential: energies.potential,
        residual,
        violation,
        ..Sample::default()
    }
}

/// The factor by which a shape is drawn.
fn amplitude(problem: &Problem, state: &State, shape: &[f64]) -> f64 {
    let (mut low, mut high) = ([f64::INFINITY; 3], [f64::NEG_INFINITY; 3]);
    let (mut way, mut turn) = (0.0f64, 0.0f64);
    for node in problem.nodes().iter().filter(|n| n.space.is_spatial()) {
        let (px, pv) = (node.space.position_size(), node.space.velocity_size());
        let places = state.positions[node.position_range()].chunks_exact(px);
        for (x, v) in places.zip(shape[node.velocity_range()].chunks_exact(pv)) {
            for (k, x) in x.iter().take(pv.min(3)).enumerate() {
                (low[k], high[k]) = (low[k].min(*x), high[k].max(*x));
            }
            let length = |v: &[f64]| v.iter().map(|v| v * v).sum::<f64>().sqrt();
            way = way.max(length(&v[..pv.min(3)]));
            turn = turn.max(length(&v[pv.min(3)..]));
        }
    }
    let extent = low.iter().zip(high).map(|(l, h)| h - l).fold(0.0, f64::max);
    let extent = if extent > 0.0 { extent } else { 1.0 };
    let scale = (LARGEST_WAY * extent / way).min(LARGEST_TURN / turn);
    if scale.is_finite() { scale } else { 0.0 }
}
