//! Warnings: of a start that is hardly meant, and of a run that is hardly right.

use super::inverted::Inverted;
use super::moved::Moved;
use super::summary::Summary;
use pliant::collision::{ContactError, ContactSide, World};
use pliant::contact::Overlap;
use pliant::model::{ComponentId, JointAxis, Model};
use pliant::{EnergyBudget, Gyroscopic, Integrator, RowGap, Simulation, StepReport};
use pliant_scene::{BuiltScene, SceneError, Warning, extent};
use serde::{Deserialize, Serialize};

/// Gaps of rows, as a share of the size of the scene (of one radian), that are warned of: at the
/// start, and in a run.
const START_GAP: f64 = 1e-3;
const GAP: f64 = 1e-2;

/// Overlap at the start that is warned of: as a share of half the width of the thinner shape, and
/// in times of the overlap that contacts may leave.
const START_OVERLAP: f64 = 1e-2;
const LEFT_OVERLAP: f64 = 10.0;

/// Energy that nothing brought in, as a share of what turned over, that is warned of: if it is
/// still there at the end, and if it is gone by then.
const GROWTH: f64 = 0.1;
const PASSING_GROWTH: f64 = 10.0;

/// Energy that the method lost, or made in impacts, over a run, as a share of what turned over,
/// that is warned of.
const LOSS: f64 = 0.1;

/// Energy that nothing brought in, in times of the kinetic energy at the start, that is warned of;
/// and the least share of the energy that turned over which this kinetic energy must be for that.
const BURST: f64 = 5.0;
const LEAST_START: f64 = 0.01;

/// Share of the kinetic energy at the start that hard rows may take from it before it is warned of.
const PROJECTED: f64 = 1e-3;

/// Share of the largest energy that tolerances of solvers may bring in over a run at rest.
const NOISE: f64 = 1e-7;

/// Overlap in a run that is warned of: as a share of half the width of the thinnest shape, and of
/// the size of the scene.
const THICK_OVERLAP: f64 = 10.0;
const OVERLAP: f64 = 1e-2;

/// At most so many warnings of a kind; of others their number is said.
pub(super) const MOST: usize = 5;

/// The size that gaps of rows compare with.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Size {
    /// Extent of the scene (m).
    length: f64,
}

impl Size {
    pub(super) fn of(simulation: &Simulation) -> Self {
        let (model, state) = (simulation.model(), simulation.state());
        let extent = extent(model, state);
        // What is alone has no size to compare with.
        let length = if extent > 0.0 { extent } else { 1.0 };
        Self { length }
    }

    /// Whether a gap in this unit is more than a share of the size.
    pub(super) fn is_large(self, gap: f64, unit: &str, share: f64) -> bool {
        let size = if unit == "rad" { 1.0 } else { self.length };
        gap > share * size
    }
}

/// A number with four digits.
pub(super) fn short(value: f64) -> String {
    let rounded: f64 = format!("{value:.3e}").parse().unwrap_or(value);
    match rounded.abs() {
        0.0 | 1e-3..1e6 => rounded.to_string(),
        _ => format!("{rounded:e}"),
    }
}

/// Warnings of the start of a scene: what it can hardly mean.
///
/// # Errors
/// [`SceneError::Simulation`] where the shapes are not defined.
pub(super) fn of_start(
    scene: &BuiltScene,
    simulation: &Simulation,
    world: Option<&mut World>,
) -> Result<Vec<Warning>, SceneError> {
    let mut list = scene.suspicions.clone();
    if scene.statics.is_none() {
        off_rows(scene, simulation, &mut list);
    }
    if let Some(world) = world {
        match deep_overlaps(scene, simulation, world, &mut list) {
            Err(error @ ContactError::TooManyTests { .. }) => {
                let help = "the first step takes as many: `contact_tests` allows more".to_owned();
                let message = format!("{error}: overlap at the start is not known");
                list.push(scene.places.warning(message, &["contact_tests"], Some(help)));
            }
            found => found.map_err(|e| scene.places.error(pliant::Error::Collision(e)))?,
        }
    }
    Ok(list)
}

/// Refuses a start whose energy is not a number: no step could be compared with it.
pub(super) fn check_energies(scene: &BuiltScene, simulation: &Simulation) -> Result<(), SceneError> {
    let energies = simulation.problem().energies(simulation.state());
    if energies.kinetic.is_finite() && energies.potential.is_finite() {
        return Ok(());
    }
    let fields = simulation.model().force_fields().iter().enumerate();
    let endless = fields
        .map(|(index, field)| (field, simulation.potential(ComponentId::ForceField(index))))
        .find(|(_, energy)| !energy.is_finite());
    let Some((field, energy)) = endless else {
        // Of motion or of gravity: the first step names the number.
        return Ok(());
    };
    let message = format!(
        "the energy of the force field `{}` is {energy} at the start",
        field.name
    );
    let help = "give it a smaller stiffness, or a start nearer to its rest".to_owned();
    Err(scene
        .places
        .refusal(message, &["law", "energy", "material"], Some(help)))
}

/// The unit of a row on a coordinate of a joint, in words of which the first name is that of the row:
/// a hinge whose body also shifts, or moves points, turns all the same.
fn joint_unit(scene: &BuiltScene, model: &Model, row: &str) -> Option<&'static str> {
    let component = model.component_named(row.split('`').nth(1)?)?;
    let node = match component {
        ComponentId::Constraint(index) => model.constraints()[index].node,
        ComponentId::ForceField(index) => model.force_fields()[index].node,
        ComponentId::Mass(_) => return None,
    };
    scene.joints.iter().find_map(|(_, kind, handle)| {
        let place = handle.coordinates.iter().position(|own| *own == node)?;
        let (axis, _) = kind.free_axes().get(place)?;
        Some(match axis {
            JointAxis::Translation(_) => "m",
            _ => "rad",
        })
    })
}

/// Constraints that are violated at the start, limits and ropes that are beyond.
fn off_rows(scene: &BuiltScene, simulation: &Simulation, list: &mut Vec<Warning>) {
    let size = Size::of(simulation);
    let name = |row: usize| simulation.problem().describe_row(row);
    let unit = |row: usize| {
        joint_unit(scene, simulation.model(), &name(row)).unwrap_or_else(|| simulation.row_unit(row))
    };
    // Units are looked for where one counts: a large scene has many rows.
    let may_be_large = |gap: f64| {
        ["m", "rad"]
            .iter()
            .any(|unit| size.is_large(gap, unit, START_GAP))
    };
    let large = |g: &RowGap| may_be_large(g.gap) && size.is_large(g.gap, unit(g.row), START_GAP);
    let mut gaps: Vec<RowGap> = simulation.row_gaps(0.0).filter(large).collect();
    gaps.sort_by(|a, b| b.gap.total_cmp(&a.gap).then(a.row.cmp(&b.row)));
    for gap in gaps.iter().take(MOST) {
        let (name, far, unit) = (name(gap.row), short(gap.gap), unit(gap.row));
        let (message, keys, help) = if gap.one_sided {
            (
                format!("{name} starts {far} {unit} outside its limit"),
                &["limits", "bounds"][..],
                "it is taken back as overlap is, which moves and lifts things: start it inside",
            )
        } else {
            (
                format!("{name} starts {far} {unit} from where it is held"),
                &["rest", "on"][..],
                "a step takes it back, which moves things and may bring in energy: start it inside",
            )
        };
        list.push(scene.places.warning(message, keys, Some(help.to_owned())));
    }
    if let Some(more) = gaps.len().checked_sub(MOST).filter(|n| *n > 0) {
        let message = format!("{more} more rows start off");
        list.push(scene.places.warning(message, &[], None));
    }
}

/// Pairs of shapes that are deep in each other at the start.
fn deep_overlaps(
    scene: &BuiltScene,
    simulation: &Simulation,
    world: &mut World,
    list: &mut Vec<Warning>,
) -> Result<(), ContactError> {
    let state = simulation.state();
    world.set_most_tests(simulation.options.tuning.work.contact_tests);
    world.update(simulation.model(), &state.positions, &state.velocities, 0.0)?;
    let (widths, size) = (world.half_widths(), Size::of(simulation));
    let left = match simulation.options.contacts.overlap {
        Overlap::Correct { allowed, .. } => LEFT_OVERLAP * allowed,
        _ => 0.0,
    };
    let mut deepest: Vec<([&ContactSide; 2], f64)> = Vec::new();
    for contact in world.contacts() {
        let sides = [&contact.a, &contact.b];
        let pair = sides.map(|s| s.collider);
        let [a, b] = pair.map(|c| widths[c.index()]);
        if contact.gap >= -(START_OVERLAP * a.min(b).min(size.length)).max(left) {
            continue;
        }
        // Contacts of a pair follow each other.
        match deepest
            .last_mut()
            .filter(|(last, _)| last.map(|s| s.collider) == pair)
        {
            Some((_, depth)) => *depth = depth.max(-contact.gap),
            None => deepest.push((sides, -contact.gap)),
        }
    }
    deepest.sort_by(|a, b| b.1.total_cmp(&a.1));
    for (sides, depth) in deepest.iter().take(MOST) {
        let [a, b] = sides.map(|s| &world.colliders()[s.collider.index()].name);
        let message = format!("`{a}` and `{b}` start {} m deep in each other", short(*depth));
        let help =
            "the overlap is taken back, which lifts things: start them apart, or list the pair in `ignore`";
        // Several bodies of one node are `node 0`, `node 1`, ...
        let places = [b, a].map(|n| n.rsplit_once(' ').map_or(n.as_str(), |(node, _)| node));
        list.push(
            scene
                .places
                .warning_at(&[b, a, places[0], places[1]], message, help),
        );
    }
    if let Some(more) = deepest.len().checked_sub(MOST).filter(|n| *n > 0) {
        list.push(
            scene
                .places
                .warning(format!("{more} more pairs start deep in each other"), &[], None),
        );
    }
    Ok(())
}

/// A row that was off.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct OffRow {
    name: String,
    /// By how much, in this unit.
    gap: f64,
    unit: String,
    /// When (s).
    time: f64,
}

/// A record of all in a run that should not be.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Watch {
    size: Size,
    /// Half the width of the thinnest shape that collides (m).
    thinnest: f64,
    /// The row that was off most.
    worst: Option<OffRow>,
    /// The scene starts off: the advice is to start it elsewhere.
    starts_off: bool,
    /// Energy since the start, by the last report, and the most that ever came from nowhere (J).
    energy: EnergyBudget,
    most_made: f64,
    /// Energy of the whole run.
    #[serde(default)]
    moved: Moved,
    /// Contacts have a restitution: bounces are off by a part of a step that is not parted there.
    #[serde(default)]
    bounces: bool,
    /// Something may touch.
    touches: bool,
    /// Contacts give way.
    #[serde(default)]
    soft_contacts: bool,
    /// Elements of solids that were inside out.
    #[serde(default)]
    pub(super) inverted: Inverted,
    /// Energy that corrections of positions brought in so far (J).
    lifted: f64,
    /// Energy that hard rows took from velocities of the start (J).
    projected: f64,
}

impl Watch {
    pub(super) fn new(simulation: &Simulation, world: Option<&World>, starts_off: bool) -> Self {
        let widths = world.map_or_else(Vec::new, World::half_widths);
        Self {
            size: Size::of(simulation),
            thinnest: widths.into_iter().fold(f64::INFINITY, f64::min),
            worst: None,
            starts_off,
            energy: EnergyBudget::default(),
            most_made: 0.0,
            moved: Moved::default(),
            bounces: world.is_some_and(World::has_restitution),
            touches: world.is_some(),
            soft_contacts: world.is_some_and(World::has_compliance),
            inverted: Inverted::default(),
            lifted: 0.0,
            projected: 0.0,
        }
    }

    /// Takes notice of a step.
    pub(super) fn add(&mut self, simulation: &Simulation, report: &StepReport) {
        self.energy = report.certificate.energy.since_start;
        self.most_made = self.most_made.max(self.energy.made);
        self.moved.add(report, self.soft_contacts);
        self.projected += report.solve.projected;
        self.lifted += report.contacts.corrections.lifted - report.contacts.corrections.paid;
        let known = self.worst.as_ref().map_or(0.0, |worst| worst.gap);
        let gaps = simulation.row_gaps(known);
        if let Some(RowGap { row, gap, .. }) = gaps.max_by(|a, b| a.gap.total_cmp(&b.gap)) {
            // Rows may have other numbers later, where treatments are chosen anew.
            self.worst = Some(OffRow {
                name: simulation.problem().describe_row(row),
                gap,
                unit: simulation.row_unit(row).to_owned(),
                time: report.time,
            });
        }
    }

    /// Energy that turned over in the whole run (J).
    pub(super) fn turned_over(&self) -> f64 {
        self.moved.turned_over().max(self.energy.turned_over())
    }

    /// Energy that tolerances of solvers may bring in or take (J).
    fn noise(&self) -> f64 {
        NOISE * self.energy.size.max(self.energy.fall)
    }

    /// Whether more energy came from nowhere than a good run has.
    fn is_growth(&self) -> bool {
        let turned_over = self.turned_over();
        let noise = self.noise();
        let stays = self.energy.made > GROWTH * turned_over + noise;
        let passes = self.most_made > PASSING_GROWTH * turned_over + noise;
        // What flies off because of it falls far, and then turns over much.
        let moved = self.energy.kinetic > LEAST_START * turned_over;
        let flies = moved && self.most_made > (BURST * self.energy.kinetic).max(GROWTH * turned_over);
        stays || passes || flies
    }

    /// Adds sentences about all that was large to those of a run that ended with this error, if with
    /// one, and the energy that turned over.
    pub(super) fn judge(
        &self,
        simulation: &Simulation,
        summary: &mut Summary,
        error: Option<&pliant::Error>,
    ) {
        summary.turned_over = self.turned_over();
        let found = self.warnings(simulation, summary, error);
        summary.warnings.extend(found);
    }

    fn warnings(
        &self,
        simulation: &Simulation,
        summary: &Summary,
        error: Option<&pliant::Error>,
    ) -> Vec<String> {
        let mut list = Vec::new();
        // An error of a step that made energy says this of all steps up to it, and what helps.
        let is_said = matches!(error, Some(pliant::Error::NotCertified { .. }));
        if self.is_growth() && !is_said {
            list.push(format!(
                "the energy grew by {} J that nothing brought in, where {} J turned over (see `numerical` of the ledger): {}",
                short(self.most_made),
                short(self.turned_over()),
                self.remedy(simulation),
            ));
        } else {
            list.extend(self.numerical_share(simulation));
        }
        if let Some(OffRow {
            name,
            gap,
            unit,
            time,
        }) = &self.worst
            && self.size.is_large(*gap, unit, GAP)
        {
            let remedy = if self.starts_off {
                "start the scene where its rows hold"
            } else {
                "take a smaller step, or `post_stabilisation`"
            };
            list.push(format!(
                "{name} was off by {} {unit} at t = {} s: {remedy}",
                short(*gap),
                short(*time),
            ));
        }
        list.extend(self.inverted.warnings());
        list.extend(self.contradicting_velocities());
        if self.starts_off && self.lifted > NOISE * self.energy.size {
            list.push(format!(
                "taking back what starts beyond limits or deep in each other brought in {} J: start it inside",
                short(self.lifted),
            ));
        }
        if let Some(contacts) = &summary.contacts {
            let deepest = contacts.overlap.worst;
            if deepest > THICK_OVERLAP * self.thinnest && deepest > OVERLAP * self.size.length {
                list.push(format!(
                    "shapes were up to {} m deep in each other, where the thinnest is {} m thick: take a smaller step",
                    short(deepest),
                    short(2.0 * self.thinnest),
                ));
            }
        }
        list
    }

    /// A sentence about velocities of the start that hard constraints took, if they took much.
    pub(super) fn contradicting_velocities(&self) -> Option<String> {
        (self.projected > PROJECTED * self.energy.kinetic).then(|| {
            format!(
                "velocities of the start contradict hard constraints, which took {} of {} J of them",
                short(self.projected),
                short(self.energy.kinetic),
            )
        })
    }

    /// A sentence about energy that the method lost, or that it made in bounces, if it was much.
    fn numerical_share(&self, simulation: &Simulation) -> Option<String> {
        let (made, turned_over) = (self.moved.numerical, self.turned_over());
        let contacts = &simulation.options.contacts;
        let misplaced = self.bounces && self.moved.impacts != 0.0 && !contacts.locate_impacts;
        let is_much = made.abs() > LOSS * turned_over + self.noise();
        // Springs and joints pass impacts on, which the method makes where impacts take it all the
        // same: only with bounces is it known to be too much.
        let is_known = if made > 0.0 {
            misplaced
        } else {
            !self.moved.is_at_rest()
        };
        if !is_much || !is_known {
            return None;
        }
        let verb = if made > 0.0 { "made" } else { "lost" };
        let remedy = match misplaced {
            true => {
                "bounces are placed at ends of steps: `locate_impacts: true` parts steps there, a smaller step helps too"
            }
            false => damped_less(simulation, self.touches),
        };
        Some(format!(
            "the method {verb} {} J, {} (see `numerical` of the ledger), and the motion is not to be trusted: {remedy}",
            short(made.abs()),
            share(made.abs(), turned_over),
        ))
    }

    /// Advice against energy that grows.
    fn remedy(&self, simulation: &Simulation) -> &'static str {
        match simulation.options.integrator {
            _ if self.starts_off => "start the scene where its rows hold",
            Integrator::Sdirk2 => "take a smaller step",
            _ => "take a smaller step, or `integrator: Sdirk2`",
        }
    }
}

/// Advice against energy that a method loses.
fn damped_less(simulation: &Simulation, touches: bool) -> &'static str {
    let options = &simulation.options;
    match options.integrator {
        Integrator::Theta | Integrator::Nonlinear if options.alpha + options.beta > 1.0 => {
            "weights of 1 damp all that moves fast beside the step; take a smaller step, or `integrator: Sdirk2`"
        }
        Integrator::Theta if options.gyroscopic == Gyroscopic::BodyPredictor => {
            "take a smaller step, `gyroscopic: Momentum` where bodies spin, or `integrator: Sdirk2`"
        }
        Integrator::Sdirk2 if !touches => {
            "take a smaller step, or `integrator: EnergyMomentum`, which damps nothing of its own and takes fewer parts"
        }
        Integrator::Sdirk2 => "take a smaller step",
        _ => "take a smaller step, or `integrator: Sdirk2`",
    }
}

/// How much of what turned over an energy is (J), in words.
fn share(energy: f64, turned_over: f64) -> String {
    match turned_over {
        0.0 => "where nothing turned over".to_owned(),
        _ => {
            let share = 100.0 * energy / turned_over;
            format!("{share:.0} % of the {} J that turned over", short(turned_over))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A hinge that two limits hold in one place turns nothing over.
    #[test]
    fn losses_where_nothing_turns_over_have_no_share() {
        assert_eq!(share(0.5, 0.0), "where nothing turned over");
        assert_eq!(share(0.5, 2.0), "25 % of the 2 J that turned over");
    }

    /// Numbers of runs, in J: what grew and stayed, what grew at most, what turned over, the
    /// kinetic energy at the start, the largest energy.
    #[test]
    fn energy_from_nowhere_is_told_from_noise() {
        let is_growth = |[made, most_made, turned_over, kinetic, size]: [f64; 5]| {
            let energy = EnergyBudget {
                kinetic,
                worked: turned_over - kinetic,
                made,
                size,
                ..EnergyBudget::default()
            };
            let watch = Watch {
                size: Size { length: 1.0 },
                thinnest: 1.0,
                worst: None,
                starts_off: false,
                energy,
                most_made,
                moved: Moved::default(),
                touches: false,
                bounces: false,
                soft_contacts: false,
                inverted: Inverted::default(),
                lifted: 0.0,
                projected: 0.0,
            };
            watch.is_growth()
        };
        let fine = [
            // A pendulum, a stack at rest, a relaxing board whose first step overshoots.
            [-3.0, 0.13, 9.8, 0.0, 20.0],
            [5e-8, 5.5e-8, 3.8e-8, 0.0, 490.0],
            [-0.016, 0.099, 0.036, 0.0, 0.15],
            // Something slow that begins to fall.
            [0.5, 0.5, 10.0, 1e-6, 10.0],
        ];
        let wrong = [
            // A screw that flies apart and is damped, a spring, contacts that store.
            [-8e4, 5e5, 2.9e6, 7.7e4, 5.7e6],
            [2e5, 1.9e6, 2.9, 0.0, 2.4e5],
            [2.5e5, 2.5e5, 61.0, 60.0, 2.5e5],
            [0.0, 1e3, 61.0, 0.0, 1e3],
        ];
        for case in fine {
            assert!(!is_growth(case), "{case:?}");
        }
        for case in wrong {
            assert!(is_growth(case), "{case:?}");
        }
    }
}
