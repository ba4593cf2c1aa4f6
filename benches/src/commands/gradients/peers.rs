//! Gradients of trajectories beside MuJoCo's and MJX's: error and time, on scenes that all can run.

use super::Ended;
use pliant::collision::{Collider, Material, Placement, Shape, World};
use pliant::gradient::{NodeGradient, StateVector, Trajectory};
use pliant::prelude::*;
use pliant_benches::peers::{Environment, start_script};
use pliant_benches::timing::clock;
use serde_json::{Value, json};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Versions that are known to go together.
const PACKAGES: [&str; 4] = [
    "mujoco==4.0.0",
    "mujoco-mjx==3.17.0",
    "jax==0.10.2",
    "numpy==2.4.6",
];

/// Runs of which the shortest counts.
const TIMES: usize = 5;

/// Steps of differences, as in `reference/gradients.py`.
const STEPS: [f64; 5] = [1e-2, 3e-3, 1e-3, 3e-4, 1e-4];

/// The first of them do for smooth motion; contacts change their branches within the longer ones.
const SMOOTH: usize = 3;

type Failure = Box<dyn std::error::Error>;

/// A scene with parameters of its start.
#[derive(Clone, Copy)]
enum Scene {
    /// Rods on hinges that fall from rest: the height of the free end by angles and rates.
    Chain(usize),
    /// A ball that slips until it rolls: its place by its speed and spin.
    Ball,
}

/// A gradient, with what it is judged by.
struct Found {
    gradient: Vec<f64>,
    differences: Vec<f64>,
    /// Time of the motion alone, and with the gradient (s).
    seconds: [f64; 2],
    note: String,
}

impl Scene {
    fn name(self) -> String {
        match self {
            Self::Chain(links) => format!("chain of {links} rods, 0.3 s"),
            Self::Ball => "ball that slips and rolls, 0.6 s".to_owned(),
        }
    }

    fn duration(self) -> f64 {
        match self {
            Self::Chain(_) => 0.3,
            Self::Ball => 0.6,
        }
    }

    fn values(self) -> Vec<f64> {
        match self {
            Self::Chain(links) => [vec![0.1; links], vec![0.0; links]].concat(),
            Self::Ball => vec![2.0, 0.0],
        }
    }

    /// The coordinate of the end that is differentiated.
    fn axis(self) -> usize {
        match self {
            Self::Chain(_) => 2,
            Self::Ball => 0,
        }
    }

    fn request(self, h: f64) -> Value {
        let steps = (self.duration() / h).round();
        let mut out = json!({
            "step": h, "steps": steps as usize, "values": self.values(), "axis": self.axis(), "times": TIMES,
            "epsilon": 1e-6, "centred": true, "options": {},
        });
        match self {
            Self::Chain(links) => {
                out["scene"] = json!("chain");
                out["links"] = json!(links);
            }
            Self::Ball => {
                out["scene"] = json!("ball");
                out["options"]["cone"] = json!("elliptic");
            }
        }
        out
    }

    fn simulation(self, values: &[f64], steps: &Steps, exact: bool) -> Result<Simulation, Failure> {
        match self {
            Self::Chain(links) => Ok(adjusted(rods(links, values)?, steps, exact)?),
            Self::Ball => ball(values, steps, exact),
        }
    }

    /// The value, and its gradient by places and velocities of the nodes.
    fn value(self, s: &Simulation, by: &mut NodeGradient) -> f64 {
        match self {
            Self::Chain(_) => {
                let end = s.model().nodes().len() - 1;
                let node = &s.model().nodes()[end];
                by.x[node.first_velocity + 2] = 1.0;
                s.state().positions[node.first_position + 2]
            }
            Self::Ball => {
                by.x[0] = 1.0;
                s.state().positions[0]
            }
        }
    }

    /// The gradient by the parameters, of that by the bodies' places and velocities at the start.
    fn of_parameters(self, values: &[f64], start: &StateVector) -> Vec<f64> {
        let Self::Chain(links) = self else {
            return vec![start.v[0], start.v[4]];
        };
        // A turn of joint j moves all bodies beyond it about its place, and at rest their velocities
        // stay zero.
        let (places, joints) = pose_of_rods(links, values);
        let by = |list: &[f64], j: usize| -> f64 {
            let turned = (j..links).map(|k| {
                let [x, _, z] = std::array::from_fn(|i| places[k].0[i] - joints[j][i]);
                list[6 * k] * z - list[6 * k + 2] * x + list[6 * k + 4]
            });
            turned.sum()
        };
        let angles = (0..links).map(|j| by(&start.x, j));
        let rates = (0..links).map(|j| by(&start.v, j));
        angles.chain(rates).collect()
    }
}

pub(super) fn run() -> Ended {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from);
    let folder = target.join("peers");
    std::fs::create_dir_all(&folder)?;
    let python = Environment::with_packages(&folder.join("gradients"), &PACKAGES)?;
    println!(
        "Gradients of trajectories by parameters of their start. Errors are the largest, as shares of the largest entry of \
         the gradient of the motion itself: against that, and against differences of the same program's motion. Times are \
         the shortest of {TIMES}, on one thread but for MJX.\n\n\
         | scene | h, ms | program | error, motion | error, own differences | motion, ms | with the gradient, ms | |\n\
         |---|---|---|---|---|---|---|---|"
    );
    for scene in [Scene::Chain(5), Scene::Chain(20), Scene::Ball] {
        for h in [0.01, 0.001] {
            let mut motion = scene.request(h);
            motion["program"] = json!("motion");
            let exact = ask(python.python(), &motion)?.gradient;
            let show = |name: &str, found: Result<Found, Failure>| match found {
                Ok(found) => println!(
                    "| {} | {} | {name} | {:.1e} | {:.1e} | {:.3} | {:.3} | {} |",
                    scene.name(),
                    1e3 * h,
                    off(&found.gradient, &exact, &exact),
                    off(&found.gradient, &found.differences, &exact),
                    1e3 * found.seconds[0],
                    1e3 * found.seconds[1],
                    found.note
                ),
                Err(e) => println!("| {} | {} | {name} | | | | | {e} |", scene.name(), 1e3 * h),
            };
            show(
                "Pliant, implicit Euler",
                in_pliant(scene, h, (Integrator::Nonlinear, 1.0)),
            );
            show(
                "Pliant, trapezoidal rule",
                in_pliant(scene, h, (Integrator::Nonlinear, 0.5)),
            );
            if let Scene::Chain(_) = scene {
                show("Pliant, BDF2", in_pliant(scene, h, (Integrator::bdf2(), 1.0)));
                show("Pliant, SDIRK2", in_pliant(scene, h, (Integrator::Sdirk2, 1.0)));
            }
            for (name, change) in settings(scene) {
                let mut request = scene.request(h);
                for (key, value) in change.as_object().into_iter().flatten() {
                    match value.as_object() {
                        Some(inner) => {
                            for (option, value) in inner {
                                request[key][option] = value.clone();
                            }
                        }
                        None => request[key] = value.clone(),
                    }
                }
                show(name, ask(python.python(), &request));
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// The other programs with what differs from the request of a scene.
fn settings(scene: Scene) -> Vec<(&'static str, Value)> {
    let mut out = vec![(
        "MuJoCo, `mjd_transitionFD`, centred",
        json!({"program": "mujoco"}),
    )];
    match scene {
        // Without constraints its solver has nothing to do, and its one iteration is not a loop of
        // which JAX has no reverse mode. Its compilation grows fast with the
        // chain.
        Scene::Chain(5) => out.push((
            "MJX, reverse mode",
            json!({"program": "mjx", "mode": "reverse", "options": {"iterations": "1"}}),
        )),
        Scene::Chain(_) => {}
        Scene::Ball => {
            out.push((
                "MuJoCo, the same, differences of 1e-4",
                json!({"program": "mujoco", "epsilon": 1e-4}),
            ));
            out.push((
                "MuJoCo, contacts of two steps",
                json!({"program": "mujoco", "stiff": true}),
            ));
            out.push(("MJX, forward mode", json!({"program": "mjx", "mode": "forward"})));
        }
    }
    out
}

/// The largest difference of two lists as a share of the largest entry of a third.
fn off(a: &[f64], b: &[f64], scale: &[f64]) -> f64 {
    let largest = |list: &mut dyn Iterator<Item = f64>| list.fold(0.0f64, |l, x| l.max(x.abs()));
    largest(&mut a.iter().zip(b).map(|(a, b)| a - b)) / largest(&mut scale.iter().copied())
}

fn ask(python: &Path, request: &Value) -> Result<Found, Failure> {
    let mut child = start_script(python, "gradients.py")?;
    writeln!(child.stdin.take().ok_or("no pipe to Python")?, "{request}")?;
    let output = child.wait_with_output()?;
    let said = String::from_utf8_lossy(&output.stdout);
    let answer = said.lines().last().filter(|_| output.status.success());
    let Some(answer) = answer else {
        let errors = String::from_utf8_lossy(&output.stderr);
        let line = errors.lines().rev().find(|line| line.contains("Error"));
        return Err(line.unwrap_or("Python ended").to_owned().into());
    };
    let answer: Value = serde_json::from_str(answer)?;
    let list = |key: &str| -> Vec<f64> {
        let numbers = answer[key].as_array().into_iter().flatten();
        numbers.map(|x| x.as_f64().unwrap_or(f64::NAN)).collect()
    };
    let number = |key: &str| answer[key].as_f64().unwrap_or(f64::NAN);
    Ok(Found {
        gradient: list("gradient"),
        differences: list("differences"),
        seconds: [number("forward"), number("seconds")],
        note: match answer["compile_seconds"].as_f64() {
            Some(seconds) => format!("after {seconds:.0} s of compilation"),
            None => String::new(),
        },
    })
}

/// A method of steps, and the weight of their ends.
type Steps = (Integrator, f64);

fn in_pliant(scene: Scene, h: f64, method: Steps) -> Result<Found, Failure> {
    let steps = (scene.duration() / h).round() as usize;
    let values = scene.values();
    let moved = |simulation: &mut Simulation| -> Result<f64, Failure> {
        for _ in 0..steps {
            simulation.step(h)?;
        }
        let mut by = NodeGradient {
            x: vec![0.0; simulation.model().velocity_count()],
            v: Vec::new(),
        };
        Ok(scene.value(simulation, &mut by))
    };
    let mut simulation = scene.simulation(&values, &method, false)?;
    let start = simulation.checkpoint();
    let mut seconds = [f64::INFINITY; 2];
    let mut gradient = Vec::new();
    for _ in 0..TIMES {
        simulation.restore(&start)?;
        let (forwards, value) = clock(|| moved(&mut simulation));
        value?;
        simulation.restore(&start)?;
        let mut objective = |step: usize, s: &Simulation, by: &mut NodeGradient| match step == steps {
            true => scene.value(s, by),
            false => 0.0,
        };
        let (both, found) = clock(|| Trajectory::new(steps, h).gradient(&mut simulation, &mut objective));
        gradient = scene.of_parameters(&values, &found?.start);
        seconds = [seconds[0].min(forwards), seconds[1].min(both)];
    }
    let mut differences = Vec::new();
    for k in 0..values.len() {
        let along = |t: f64| -> Result<f64, Failure> {
            let mut at = values.clone();
            at[k] += t;
            moved(&mut scene.simulation(&at, &method, true)?)
        };
        let mut found = Vec::new();
        let steps = match scene {
            Scene::Chain(_) => &STEPS[..SMOOTH],
            Scene::Ball => &STEPS,
        };
        for t in steps.iter().copied() {
            let [inner, outer] = [t, 2.0 * t].map(|t| Ok::<f64, Failure>(along(t)? - along(-t)?));
            found.push((8.0 * inner? - outer?) / (12.0 * t));
        }
        let pairs = found.windows(2).map(|w| ((w[1] - w[0]).abs(), w[1]));
        let best = pairs.min_by(|a, b| a.0.total_cmp(&b.0));
        differences.push(best.map_or(f64::NAN, |(_, value)| value));
    }
    Ok(Found {
        gradient,
        differences,
        seconds,
        note: String::new(),
    })
}

/// A simulation on one thread by a method whose steps have derivatives; solved to rounding for
/// differences.
fn adjusted(model: Model, (integrator, weight): &Steps, exact: bool) -> Result<Simulation, Error> {
    let mut options = Options {
        integrator: integrator.clone(),
        alpha: *weight,
        beta: *weight,
        ..Options::default()
    };
    options.tuning.solver.threads = 1;
    if exact {
        options.tuning.newton.tolerance = 1e-13;
        options.tuning.newton.exact_stages = true;
        options.contacts.accuracy = 1e-13;
    }
    Simulation::with_options(model, options)
}

const LENGTH: f64 = 0.2;

/// The centre of a rod, and its angle about y.
type Place = ([f64; 3], f64);

/// Places of rods with these angles between them, and those of their joints.
fn pose_of_rods(links: usize, angles: &[f64]) -> (Vec<Place>, Vec<[f64; 3]>) {
    let (mut at, mut turn) = ([0.0; 3], 0.0);
    let (mut places, mut joints) = (Vec::new(), Vec::new());
    for angle in &angles[..links] {
        turn += angle;
        let along = [turn.cos(), 0.0, -turn.sin()];
        joints.push(at);
        places.push((std::array::from_fn(|i| at[i] + 0.5 * LENGTH * along[i]), turn));
        at = std::array::from_fn(|i| at[i] + LENGTH * along[i]);
    }
    (places, joints)
}

/// The rods of the chain on hard ball joints, whose motion stays in a plane; the point at the free
/// end is the last node.
fn rods(links: usize, values: &[f64]) -> Result<Model, Error> {
    let (places, joints) = pose_of_rods(links, values);
    let mut model = Model::new();
    model.set_gravity([0.0, 0.0, -9.81])?;
    let turned = |turn: f64| [(0.5 * turn).cos(), 0.0, (0.5 * turn).sin(), 0.0];
    let poses: Vec<Pose> = (places.iter())
        .map(|(at, turn)| Pose {
            position: *at,
            rotation: turned(*turn),
        })
        .collect();
    let bodies = model.add_rigid_bodies("rods", &poses)?;
    let mass = RigidMass::cuboid(0.5, [LENGTH, 0.05, 0.03]);
    model.add_mass("mass", bodies, Mass::Rigid(vec![mass]))?;
    let rates = &values[links..];
    for k in 0..links {
        let (mut v, mut w) = ([0.0; 3], 0.0);
        for (joint, rate) in joints[..=k].iter().zip(rates) {
            let [x, _, z] = std::array::from_fn(|i| places[k].0[i] - joint[i]);
            (v[0], v[2], w) = (v[0] + rate * z, v[2] - rate * x, w + rate);
        }
        model.set_body_velocity(bodies, k, v, [0.0, w, 0.0])?;
        let side = match k {
            0 => Side::World,
            _ => Side::Body(bodies, k - 1),
        };
        let joint = Joint::ball(side, Side::Body(bodies, k)).at(Pose::at(joints[k]));
        model.add_joint(&format!("joint {k}"), &joint)?;
    }
    let end = [(links - 1, [0.5 * LENGTH, 0.0, 0.0])];
    model.add_mapped("end", &[bodies], RigidPoints::new(&end))?;
    Ok(model)
}

fn ball(values: &[f64], steps: &Steps, exact: bool) -> Result<Simulation, Failure> {
    let (radius, mass) = (0.1, 1.0);
    let mut model = Model::new();
    model.set_gravity([0.0, 0.0, -9.81])?;
    let node = model.add_rigid_bodies("ball", &[Pose::at([0.0, 0.0, radius])])?;
    let inertia = RigidMass::principal(mass, [0.4 * mass * radius * radius; 3]);
    model.add_mass("mass", node, Mass::Rigid(vec![inertia]))?;
    model.set_body_velocity(node, 0, [values[0], 0.0, 0.0], [0.0, values[1], 0.0])?;
    let mut world = World::new();
    let material = world.add_material(Material {
        friction: 0.2,
        ..Material::default()
    })?;
    let plane = Shape::half_space([0.0, 0.0, 1.0])?;
    let ground = Collider::new("ground", plane, Placement::Fixed(Pose::default()));
    world.add(ground.with_material(material))?;
    let place = Placement::Body {
        node,
        element: 0,
        pose: Pose::default(),
    };
    let own = Collider::new("ball", Shape::ball(radius)?, place);
    world.add(own.with_material(material))?;
    let mut simulation = adjusted(model, steps, exact)?;
    simulation.set_contacts(world)?;
    Ok(simulation)
}
