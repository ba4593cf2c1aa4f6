//! Every feature with every method, alone, with a contact, with a thread that becomes taut, in
//! steps that choose their length, and at rest.
//!
//! A cell of this matrix is refused before the first step, or its run is right: near an answer that
//! another method made, without energy that nothing brought in, and with its hard rows held.

mod features;

use features::{Course, FEATURES, Feature, Rest};
use pliant_run::{Outcome, Runner};
use pliant_scene::{Format, SceneFile, Settings};

/// Length of the steps, and simulated time (s).
const STEP: f64 = 0.0025;
const TIME: f64 = 0.16;

/// Steps of the references in one.
const FINER: f64 = 3.0;

/// The speed of what falls (m/s): the errors of all methods are in proportion to it.
const SPEED: f64 = 9.81 * TIME;

/// Settings of a feature.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Setting {
    Alone,
    /// Above a plane on which it falls.
    Contact,
    /// On a thread that stops it.
    Thread,
    /// In steps that choose their length.
    Adaptive,
}

/// A method, with the order that its positions have in smooth motion.
#[derive(Debug)]
struct Method {
    name: &'static str,
    order: usize,
}

const METHODS: &[Method] = &[
    Method {
        name: "Theta",
        order: 1,
    },
    // Of order 2 only where nothing is hard or curved.
    Method {
        name: "Theta, alpha: 0.5, beta: 0.5",
        order: 1,
    },
    Method {
        name: "Theta, alpha: 0.7, beta: 0.6",
        order: 1,
    },
    Method {
        name: "Theta, post_stabilisation: ()",
        order: 1,
    },
    Method {
        name: "Nonlinear",
        order: 1,
    },
    Method {
        name: "Nonlinear, alpha: 0.5, beta: 0.5",
        order: 2,
    },
    Method {
        name: "Sdirk2",
        order: 2,
    },
    Method {
        name: "GeneralisedAlpha(radius: 0.8)",
        order: 2,
    },
    Method {
        name: "Bdf2",
        order: 2,
    },
    Method {
        name: "Bdf3",
        order: 2,
    },
    Method {
        name: "EnergyMomentum",
        order: 2,
    },
    Method {
        name: "Rattle",
        order: 2,
    },
    Method {
        name: "Rattle4",
        order: 4,
    },
    // Its steps end where something closes.
    Method {
        name: "Theta, adaptive_step: (events: ()), post_stabilisation: ()",
        order: 1,
    },
];

/// The two methods of the references, which have nothing in common but the model.
const REFERENCES: [&str; 2] = ["Sdirk2", "Nonlinear, alpha: 0.5, beta: 0.5"];

/// Whether a value is more than the most, or no number.
fn is_beyond(value: f64, most: f64) -> bool {
    value.is_nan() || value > most
}

/// The larger of two values; what is no number stays so.
fn larger(a: f64, b: f64) -> f64 {
    if is_beyond(b, a) { b } else { a }
}

/// A cell that was judged.
#[derive(Clone, Debug, PartialEq)]
enum Verdict {
    Refused,
    Right,
    Wrong(String),
}

/// The end of a run: positions of what moves (m), and what was seen on the way.
#[derive(Debug)]
struct End {
    positions: Vec<f64>,
    /// The most that the energy rose above that of the start, as a share of the largest kinetic
    /// energy.
    growth: f64,
    /// The largest violation of hard rows (m, rad).
    violation: f64,
}

impl End {
    fn of(feature: &Feature, outcome: &Outcome) -> Self {
        let node = |name: &&str| outcome.summary.state[*name].positions.iter();
        let positions = feature.thing.moving.iter().flat_map(node);
        let samples = &outcome.recording.samples;
        let total = |k: usize| samples[k].kinetic + samples[k].potential;
        let kinetic = samples.iter().fold(1e-9, |a, s| s.kinetic.max(a));
        let rise = (1..samples.len()).fold(0.0, |a, k| larger(a, total(k) - total(0)));
        Self {
            positions: positions.flat_map(|x| x[..3].to_vec()).collect(),
            growth: rise / kinetic,
            violation: samples.iter().fold(0.0, |a, s| larger(a, s.violation)),
        }
    }

    /// The largest distance of a coordinate from the other's (m).
    fn distance(&self, other: &Self) -> f64 {
        let pairs = self.positions.iter().zip(&other.positions);
        pairs.fold(0.0, |a, (x, y)| larger(a, (x - y).abs()))
    }
}

/// Runs a scene; an error of the first kind is a refusal.
fn run(scene: &str) -> Result<Result<Outcome, String>, String> {
    let file = SceneFile::from_text("matrix.ron".as_ref(), scene, Format::Ron);
    let file = file.unwrap_or_else(|error| panic!("{error}\n{scene}"));
    let built = file.build(&Settings::default()).and_then(Runner::new);
    let mut runner = built.map_err(|error| error.to_string())?;
    runner.check().map_err(|error| error.to_string())?;
    let outcome = runner.run(|_| {});
    Ok(match &outcome.error {
        Some(error) => Err(error.to_string()),
        None => Ok(outcome),
    })
}

fn scene_of(feature: &Feature, setting: Setting, method: &str, step: f64) -> String {
    let adaptive = match setting {
        Setting::Adaptive => ", adaptive_step: ()",
        _ => "",
    };
    let run = format!("duration: {TIME}, step: {step}, integrator: {method}{adaptive}");
    feature.scene(&run, setting == Setting::Contact, setting == Setting::Thread)
}

/// The distance (m) that the end of a run with steps of length `h` may have from the truth.
///
/// A vibration of the angular frequency `w` and the speed `v` has in a method of order 1 lost a
/// share `w^2 h T/2` of its amplitude `v/w` after a time `T`, and all motion is late by up to half
/// a step; both are taken twice. In one of order 2 its phase is off by up to `(w h)^2 w T/3`
/// (BDF2), and the first step of BDF2, which has one past too few, by `g h^2/2`. Where velocities
/// jump, all are of order 1, and late by up to one step more.
fn tolerance(feature: &Feature, order: usize, jumps: bool, h: f64) -> f64 {
    let turn = feature.thing.rate * h;
    let first = h * SPEED * (1.0 + feature.thing.rate * TIME);
    let second = SPEED * TIME * turn * turn + 9.81 * h * h;
    match order {
        _ if jumps => first + h * SPEED,
        1 => first,
        2 => second,
        _ => second / 20.0,
    }
}

/// The distance (m) that steps that choose their length may have by their own promise: errors of
/// positions and velocities per time, and shares of the way, which is at most `v T/2`; three times
/// that for the growth of errors.
fn adaptive_tolerance() -> f64 {
    3.0 * (1e-3 * TIME + 1e-2 * TIME * TIME + 1e-3 * 0.5 * SPEED * TIME)
}

/// The answers of both reference methods, and how far they are from each other (m).
struct References {
    ends: [End; 2],
    apart: f64,
}

/// The references of a feature in a setting; none if no method takes it.
fn references(feature: &Feature, setting: Setting) -> Result<Option<References>, String> {
    let plain = match setting {
        Setting::Adaptive => Setting::Alone,
        other => other,
    };
    let [first, second] = REFERENCES.map(|method| run(&scene_of(feature, plain, method, STEP / FINER)));
    let (first, second) = match (first, second) {
        (Ok(first), Ok(second)) => (first?, second?),
        (Err(_), Err(_)) => return Ok(None),
        (Err(error), _) | (_, Err(error)) => return Err(format!("a reference is refused: {error}")),
    };
    let ends = [first, second].map(|outcome| End::of(feature, &outcome));
    let apart = ends[0].distance(&ends[1]);
    let allowed = 2.0 * tolerance(feature, 2, has_jumps(feature, setting), STEP / FINER);
    if apart <= allowed {
        Ok(Some(References { ends, apart }))
    } else {
        Err(format!(
            "references are {apart:.1e} m apart, {allowed:.1e} m allowed"
        ))
    }
}

/// Whether velocities jump, or what resists them.
fn has_jumps(feature: &Feature, setting: Setting) -> bool {
    feature.course == Course::Kinks || matches!(setting, Setting::Contact | Setting::Thread)
}

fn judge(feature: &Feature, setting: Setting, method: &Method, references: Option<&References>) -> Verdict {
    let outcome = match run(&scene_of(feature, setting, method.name, STEP)) {
        Err(_) => return Verdict::Refused,
        Ok(Err(error)) => return Verdict::Wrong(error),
        Ok(Ok(outcome)) => outcome,
    };
    let end = End::of(feature, &outcome);
    let Some(References {
        ends: [first, second],
        apart,
    }) = references
    else {
        return Verdict::Wrong("there is no reference".to_owned());
    };
    let reference = if method.name == REFERENCES[0] {
        second
    } else {
        first
    };
    let allowed = match setting {
        Setting::Adaptive => adaptive_tolerance(),
        _ => tolerance(feature, method.order, has_jumps(feature, setting), STEP),
    };
    let off = end.distance(reference);
    if is_beyond(off, allowed + 2.0 * apart) {
        return Verdict::Wrong(format!("{off:.1e} m off, {allowed:.1e} m allowed"));
    }
    // Energy is as wrong as the motion: by twice the share of the way that it is off, squares of
    // velocities, and as much for potentials.
    let share = 4.0 * allowed / (SPEED * TIME);
    if !feature.driven && is_beyond(end.growth, share) {
        return Verdict::Wrong(format!("energy grows by {:.1e}, {share:.1e} allowed", end.growth));
    }
    // Linear steps, and corrections behind impacts, leave the curvature of the motion over a step,
    // about the shortest arm of 0.03 m; the others solve for their rows. What holds velocities
    // alone has the order of positions.
    let curvature = (SPEED * STEP).powi(2) / 0.03;
    let left = match method.name.starts_with("Theta") || has_jumps(feature, setting) {
        _ if feature.drifts => allowed.max(curvature),
        true => curvature,
        false => 1e-9,
    };
    if is_beyond(end.violation, left) {
        return Verdict::Wrong(format!(
            "rows are missed by {:.1e}, {left:.1e} allowed",
            end.violation
        ));
    }
    Verdict::Right
}

/// Judges all cells of a setting. `right` is the least number of cells that are right: what takes a
/// feature keeps it.
fn check(setting: Setting, right: usize) {
    let mut wrong = Vec::new();
    let mut counts = [0; 3];
    for feature in FEATURES {
        let references = references(feature, setting);
        let chooses = |method: &&Method| method.name.contains("adaptive_step");
        for method in METHODS
            .iter()
            .filter(|m| setting != Setting::Adaptive || !chooses(m))
        {
            let verdict = match &references {
                Ok(references) => judge(feature, setting, method, references.as_ref()),
                Err(error) => Verdict::Wrong(error.clone()),
            };
            let cell = format!("{} by {}", feature.name, method.name);
            match verdict {
                Verdict::Refused => counts[1] += 1,
                Verdict::Right => counts[0] += 1,
                Verdict::Wrong(why) => {
                    wrong.push(format!("{cell}: {why}"));
                    counts[2] += 1;
                }
            }
        }
    }
    let [good, refused, bad] = counts;
    println!("{setting:?}: {good} right, {refused} refused, {bad} wrong");
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(good >= right, "only {good} cells are right");
}

#[test]
fn features_alone_are_right_or_refused() {
    check(Setting::Alone, 503);
}

#[test]
fn features_that_fall_on_a_plane_are_right_or_refused() {
    check(Setting::Contact, 347);
}

#[test]
fn features_on_a_thread_are_right_or_refused() {
    check(Setting::Thread, 391);
}

#[test]
fn features_in_steps_that_choose_their_length_are_right_or_refused() {
    check(Setting::Adaptive, 371);
}

/// Equilibria by Newton's method, against where steps of implicit Euler come to rest whose
/// velocities are taken away. Both miss forces by a share of 1e-10, and what is softest here sags
/// by less than a metre: they may differ by a millionth of that where one is badly conditioned.
#[test]
fn features_at_rest_are_where_motion_ends() {
    let mut wrong = Vec::new();
    for feature in FEATURES.iter().filter(|f| f.rest == Rest::Found) {
        let ends = ["", "method: PseudoStatic"].map(|method| {
            let keys = format!("duration: 1, statics: ({method})");
            let ended = run(&feature.scene(&keys, false, false)).and_then(|ended| ended);
            ended.map(|outcome| End::of(feature, &outcome))
        });
        match ends {
            [Ok(rest), Ok(end)] => {
                let off = rest.distance(&end);
                if is_beyond(off, 1e-6) {
                    wrong.push(format!("{}: {off:.1e} m off", feature.name));
                }
            }
            [Err(error), _] => wrong.push(format!("{}: {error}", feature.name)),
            [_, Err(error)] => wrong.push(format!("{}: by steps: {error}", feature.name)),
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
