//! Findings of `pliant check`: all that a run would refuse before its first step ends, and what it
//! would take although it is hardly meant.

use super::review::{MOST, Size, short};
use super::{Parts, Runner};
use pliant::{DependentRows, Examination, Massless, Simulation};
use pliant_scene::{Note, RunPlan, SceneError, Warning};
use std::collections::BTreeSet;

/// Names that a sentence lists.
const NAMES: usize = 30;

/// Distance of rows that depend on each other, as a share of the size of the scene (of one
/// radian), from which on they contradict each other.
const APART: f64 = 1e-7;

/// The findings about a scene beside the [warnings](Runner::warnings).
#[derive(Debug, Default)]
pub struct Inspection {
    /// Facts that may well be meant: hard constraints that follow from others.
    pub notes: Vec<Note>,
    /// Why a run would end before its first step does.
    pub refusal: Option<SceneError>,
}

/// [`Runner::check`].
pub(super) fn check(runner: &mut Runner) -> Result<(), SceneError> {
    let Parts {
        plan,
        statics,
        places,
        ..
    } = &runner.scene;
    if statics.is_some() {
        return Ok(());
    }
    let first = first_step(plan);
    let asked = runner.simulation.check_step(first);
    if let Some(complaint) = asked.map_err(|e| places.error(e))? {
        runner
            .warnings
            .push(places.warning(complaint.to_string(), &[], None));
    }
    Ok(())
}

/// [`Runner::inspect`].
pub(super) fn inspect(runner: &mut Runner) -> Inspection {
    let mut found = Inspection::default();
    if runner.is_static() {
        found.refusal = check(runner).err();
        return found;
    }
    let examined = runner.simulation.examine(first_step(&runner.scene.plan));
    if let Ok(examination) = &examined {
        let all = Dependence::all(&runner.simulation, &runner.scene, examination);
        found.notes = all
            .iter()
            .filter_map(|d| d.note(&runner.scene, examination))
            .collect();
        warn_of_massless(runner, &examination.massless);
    }
    // What the step is refused for is said best without contacts and the end of the step.
    let taken = runner.step();
    let mut refusal = match taken.map_err(|e| runner.scene.places.error(e)) {
        Ok(_) => None,
        Err(error) => Some(check(runner).err().unwrap_or(error)),
    };
    if let Ok(examination) = &examined {
        let all = Dependence::all(&runner.simulation, &runner.scene, examination);
        for apart in all.iter().filter(|d| d.is_apart) {
            match &mut refusal {
                Some(SceneError::Simulation { diagnostic, source })
                    if matches!(**source, pliant::Error::Incompatible { .. }) =>
                {
                    diagnostic.notes.push(apart.contradiction());
                }
                _ => {
                    let help = "no motion takes that back: the least that is left is shared among them";
                    let warning = runner
                        .scene
                        .places
                        .warning(apart.contradiction(), &[], Some(help.into()));
                    runner.warnings.push(warning);
                }
            }
        }
    }
    if refusal.is_none() {
        let said = runner.watch.contradicting_velocities();
        let warning = |said| runner.scene.places.warning(said, &[], None);
        let list: Vec<Warning> = said.into_iter().map(warning).collect();
        runner.warnings.extend(list);
    }
    found.refusal = refusal;
    found
}

/// Warns of directions without mass.
fn warn_of_massless(runner: &mut Runner, list: &[Massless]) {
    let model = runner.simulation.model();
    // Directions of one element follow each other.
    let mut sentences: Vec<(String, Vec<String>)> = Vec::new();
    for massless in list {
        let node = model.node(massless.node);
        let mut subject = format!("`{}`, element {}", node.name, massless.element);
        match massless.others {
            0 => {}
            1 => subject.push_str(" together with 1 more"),
            n => subject.push_str(&format!(" together with {n} more")),
        }
        let along = direction(&massless.direction);
        match sentences.last_mut().filter(|(last, _)| *last == subject) {
            Some((_, directions)) => directions.push(along),
            None => sentences.push((subject, vec![along])),
        }
    }
    let help = "only springs and dampers decide how it moves, without inertia: give it a mass, or hold it";
    for (subject, directions) in sentences.iter().take(MOST) {
        let message = match listed(directions, NAMES) {
            along if along.is_empty() => format!("{subject} has no mass"),
            along => format!("{subject} has no mass {along}"),
        };
        let warning = runner
            .scene
            .places
            .warning(message, &["mass"], Some(help.to_owned()));
        runner.warnings.push(warning);
    }
    if let Some(more) = sentences.len().checked_sub(MOST).filter(|n| *n > 0) {
        let message = format!("{more} more elements have no mass in some direction");
        runner
            .warnings
            .push(runner.scene.places.warning(message, &[], None));
    }
}

/// The length of the first step (s).
fn first_step(plan: &RunPlan) -> f64 {
    let adaptive = plan.adaptive.as_ref();
    let first = adaptive.map_or(plan.step, |how| how.first.clamp(how.smallest, how.largest));
    first.min(plan.duration)
}

/// A direction in words; empty for a number, which has but one.
fn direction(direction: &[f64]) -> String {
    const AXES: [&str; 6] = [
        "along x",
        "along y",
        "along z",
        "about body x",
        "about body y",
        "about body z",
    ];
    let mut parts = direction.iter().enumerate().filter(|(_, x)| **x != 0.0);
    match (direction.len(), parts.next(), parts.next()) {
        (1, ..) => String::new(),
        (_, Some((axis, _)), None) if axis < AXES.len() => AXES[axis].to_owned(),
        _ => {
            let numbers: Vec<String> = direction.iter().map(|x| short(*x)).collect();
            format!("along ({})", numbers.join(", "))
        }
    }
}

/// Words with commas and an `and`, at most so many of them.
fn listed(words: &[String], most: usize) -> String {
    let shown = &words[..words.len().min(most)];
    match (shown, words.len() - shown.len()) {
        ([], _) => String::new(),
        ([one], 0) => one.clone(),
        ([first @ .., last], 0) => format!("{} and {last}", first.join(", ")),
        (shown, more) => format!("{} and {more} more", shown.join(", ")),
    }
}

/// Rows that depend on each other, in the user's words.
struct Dependence {
    /// The joints and constraints that they belong to.
    names: Vec<String>,
    rows: usize,
    redundant: usize,
    /// The largest gap of a row that no motion takes back, and its unit.
    apart: (f64, &'static str),
    is_apart: bool,
}

impl Dependence {
    fn all(simulation: &Simulation, scene: &Parts, examination: &Examination) -> Vec<Self> {
        let size = Size::of(simulation);
        let mut all: Vec<Self> = Vec::new();
        for rows in &examination.dependent {
            let found = Self::new(simulation, scene, size, rows);
            // Of one mechanism, planes and axes may depend apart.
            let same = |other: &&mut Self| !other.is_apart && other.names == found.names;
            match all.iter_mut().find(same).filter(|_| !found.is_apart) {
                Some(other) => {
                    other.rows += found.rows;
                    other.redundant += found.redundant;
                }
                None => all.push(found),
            }
        }
        all
    }

    fn new(simulation: &Simulation, scene: &Parts, size: Size, dependent: &DependentRows) -> Self {
        let problem = simulation.problem();
        let groups = problem.row_groups();
        let component = |row: &usize| {
            let at = groups.partition_point(|g| g.first_row <= *row);
            let before = groups[..at].iter().rev();
            before.into_iter().find(|g| g.count > 0).map(|g| g.component)
        };
        let mut seen = BTreeSet::new();
        let names = dependent
            .rows
            .iter()
            .filter_map(component)
            .filter_map(|component| {
                let name = problem.component_name(component);
                // Of the force of a joint, the joint.
                let joint = name
                    .strip_suffix(".force")
                    .filter(|joint| scene.joints.has(joint));
                let name = format!("`{}`", joint.unwrap_or(name));
                seen.insert(name.clone()).then_some(name)
            });
        let most = dependent
            .apart
            .iter()
            .max_by(|a, b| a.1.abs().total_cmp(&b.1.abs()));
        let (row, gap) = most.map_or((0, 0.0), |(row, gap)| (*row, gap.abs()));
        let unit = match gap > 0.0 {
            true => simulation.row_unit(row),
            false => "m",
        };
        Self {
            names: names.collect(),
            rows: dependent.rows.len(),
            redundant: dependent.redundant,
            apart: (gap, unit),
            is_apart: size.is_large(gap, unit, APART),
        }
    }

    /// The names in a sentence.
    fn names(&self) -> String {
        listed(&self.names, NAMES)
    }

    /// The sentence about rows that follow from others, unless they contradict them.
    fn note(&self, scene: &Parts, examination: &Examination) -> Option<Note> {
        if self.is_apart {
            return None;
        }
        let (message, help) = if self.rows == self.redundant {
            let message = format!("{} holds what nothing can move", self.names());
            (message, "its force is not determined: zero is taken")
        } else {
            let verb = if self.redundant == 1 { "follows" } else { "follow" };
            let message = format!(
                "{} of the {} rows of hard constraints {verb} from others: of {}",
                self.redundant,
                examination.hard_rows,
                self.names()
            );
            let help = "they hold all the same; how they share their forces is not determined, and the smallest are taken";
            (message, help)
        };
        Some(Note(scene.places.warning(message, &[], Some(help.to_owned())).0))
    }

    /// The sentence about rows that contradict each other.
    fn contradiction(&self) -> String {
        let (gap, unit) = self.apart;
        let gap = short(gap);
        match &self.names[..] {
            [one] => format!("{one} contradicts itself, or holds what nothing can move, by {gap} {unit}"),
            _ => format!(
                "{} contradict each other: each may be off by {gap} {unit}",
                self.names()
            ),
        }
    }
}
