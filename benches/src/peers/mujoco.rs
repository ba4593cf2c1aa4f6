//! The scenes in MuJoCo: a Python process steps them (`benches/reference/in_mujoco.py`).

use super::environment::start_script;
use super::pliant::BEAM_DAMPING;
use super::{Advance, Case, Contender, Engine, Environment, Frame, Program, Subject};
use crate::beams::{DENSITY, POISSON, YOUNG, corner_masses, mesh};
use crate::chain::{self, Pose};
use crate::heaps::{self, Form, Heap, Motion, Piece};
use crate::nets::{self, Net};
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout};
use std::thread::JoinHandle;

/// How MuJoCo is to step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Setting {
    /// Attributes of its `<option>`.
    pub options: &'static [(&'static str, &'static str)],
    /// The stiffest constraints that it takes: `refsafe` off, `solref` 0.1 ms, `solimp` 0.9999.
    pub hard: bool,
    /// Contacts as stiff as `refsafe` lets them be.
    pub stiff: bool,
    /// A chain as a tree of ball joints instead of free bodies and equality constraints.
    pub tree: bool,
    /// A net as a membrane (`flexcomp`) instead of tendons.
    pub membrane: bool,
}

/// A model as `in_mujoco.py` reads it, and the numbers of its state.
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    text: Value,
    bodies: usize,
    points: usize,
}

fn model(kind: &str, gravity: f64, step: f64, setting: &Setting) -> Value {
    let options: serde_json::Map<_, _> = (setting.options.iter())
        .map(|(key, value)| ((*key).to_owned(), json!(value)))
        .collect();
    json!({
        "kind": kind,
        "gravity": gravity,
        "step": step,
        "option": options,
        "hard": setting.hard,
        "stiff": setting.stiff,
        "tree": setting.tree,
        "membrane": setting.membrane,
    })
}

/// A heap with steps (s).
pub fn heap(heap: &Heap, step: f64, setting: &Setting) -> Model {
    let piece = |piece: &Piece| {
        let mut out = json!({"mass": piece.mass, "at": piece.at, "turn": piece.turn});
        match piece.form {
            Form::Cuboid(half) => out["half"] = json!(half),
            Form::Ball(radius) => out["radius"] = json!(radius),
        }
        out
    };
    let mut text = model("heap", heaps::GRAVITY, step, setting);
    text["bodies"] = heap.bodies.iter().map(piece).collect();
    text["fixed"] = heap.fixed.iter().map(piece).collect();
    text["friction"] = json!(heap.friction);
    Model {
        text,
        bodies: heap.bodies.len(),
        points: 0,
    }
}

/// The model of a case.
fn of_case(case: &Case, setting: &Setting) -> Result<Model, String> {
    let step = case.step;
    Ok(match case.subject {
        Subject::Boxes(boxes) => heap(&boxes.heap(), step, setting),
        Subject::Chain {
            links,
            last_mass,
            pose,
        } => {
            let mut text = model("chain", chain::GRAVITY, step, setting);
            text["links"] = json!(links);
            text["last_mass"] = json!(last_mass);
            let turn = if pose == Pose::Hang {
                std::f64::consts::FRAC_PI_2
            } else {
                0.0
            };
            text["turn"] = json!(turn);
            Model {
                text,
                bodies: links,
                points: 0,
            }
        }
        Subject::Net(side) => {
            let net = Net::new(side);
            let mut text = model("net", nets::GRAVITY, step, setting);
            text["side"] = json!(side);
            text["springs"] = json!(net.springs);
            Model {
                text,
                bodies: 0,
                points: net.knots.len(),
            }
        }
        Subject::Beam(cells) => {
            let mesh = mesh(cells).map_err(|e| e.to_string())?;
            let mut text = model("beam", 9.81, step, setting);
            let tetrahedra = mesh.elements.iter().map(|e| json!(e.nodes));
            text["tetrahedra"] = tetrahedra.collect();
            text["nodes"] = json!(mesh.nodes);
            text["masses"] = json!(corner_masses(&mesh, DENSITY));
            text["young"] = json!(YOUNG);
            text["poisson"] = json!(POISSON);
            text["damping"] = json!(BEAM_DAMPING);
            Model {
                text,
                bodies: 0,
                points: mesh.nodes.len(),
            }
        }
    })
}

/// A model in motion, in a process of its own.
#[derive(Debug)]
pub struct MuJoCo {
    child: Child,
    requests: ChildStdin,
    answers: ChildStdout,
    bodies: usize,
    points: usize,
    frame: Frame,
    /// Reads what the process complains of, so that it never waits for a reader.
    complaints: Option<JoinHandle<String>>,
}

impl MuJoCo {
    /// Starts a model by a Python that has the package `mujoco`.
    ///
    /// # Errors
    /// If that cannot be started.
    pub fn start(python: &Path, model: &Model) -> Result<Self, String> {
        let mut child = start_script(python, "in_mujoco.py").map_err(|e| e.to_string())?;
        let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (Some(requests), Some(answers), Some(mut errors)) = pipes else {
            return Err("no pipe to Python".to_owned());
        };
        let complaints = std::thread::spawn(move || {
            let mut bytes = Vec::new();
            // What cannot be read is not said.
            let _ = errors.read_to_end(&mut bytes);
            String::from_utf8_lossy(&bytes).into_owned()
        });
        let mut out = Self {
            child,
            requests,
            answers,
            bodies: model.bodies,
            points: model.points,
            frame: Frame::default(),
            complaints: Some(complaints),
        };
        out.write(&format!("{}\n", model.text))?;
        // No step: what is wrong with the model is said here.
        out.advance(0, 0.0)?;
        Ok(out)
    }

    fn write(&mut self, text: &str) -> Result<(), String> {
        let written = self.requests.write_all(text.as_bytes());
        match written.and_then(|()| self.requests.flush()) {
            Ok(()) => Ok(()),
            Err(_) => Err(self.last_words()),
        }
    }

    /// The last complaint of the process before it ended.
    fn last_words(&mut self) -> String {
        // After an answer that is missing there is none.
        let _ = self.child.kill();
        let said = self.complaints.take().map(JoinHandle::join);
        let text = said.and_then(Result::ok).unwrap_or_default();
        let mut lines = text.lines().rev().filter(|line| !line.trim().is_empty());
        lines
            .find(|line| line.contains("Error"))
            .map_or_else(|| "MuJoCo ended".to_owned(), |line| line.trim().to_owned())
    }
}

impl Engine for MuJoCo {
    fn advance(&mut self, steps: usize, budget: f64) -> Result<Advance, String> {
        // Any budget beyond this is none.
        self.write(&format!("{steps} {}\n", budget.min(1e9)))?;
        let count = 2 + 13 * self.bodies + 6 * self.points;
        let mut bytes = vec![0; 8 * count];
        if self.answers.read_exact(&mut bytes).is_err() {
            return Err(self.last_words());
        }
        let numbers: Vec<f64> = (bytes.as_chunks::<8>().0.iter())
            .map(|b| f64::from_ne_bytes(*b))
            .collect();
        let body = |n: &[f64; 13]| -> Motion {
            (
                [n[0], n[1], n[2]],
                [n[3], n[4], n[5], n[6]],
                [n[7], n[8], n[9]],
                [n[10], n[11], n[12]],
            )
        };
        let (bodies, points) = numbers[2..].split_at(13 * self.bodies);
        self.frame = Frame {
            bodies: bodies.as_chunks::<13>().0.iter().map(body).collect(),
            points: (points.as_chunks::<6>().0.iter())
                .map(|n| ([n[0], n[1], n[2]], [n[3], n[4], n[5]]))
                .collect(),
        };
        Ok(Advance {
            steps: numbers[0] as usize,
            seconds: numbers[1],
        })
    }

    fn frame(&self) -> Frame {
        self.frame.clone()
    }
}

impl Drop for MuJoCo {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Newton's method to rounding.
const CONVERGED: [(&str, &str); 3] = [
    ("solver", "Newton"),
    ("iterations", "1000"),
    ("tolerance", "1e-12"),
];

/// Its defaults, and settings by which it comes nearer to the answer.
pub(super) fn contenders(case: &Case, environment: &Environment) -> Vec<Contender> {
    const TREE: Setting = Setting {
        options: &[],
        hard: false,
        stiff: false,
        tree: true,
        membrane: false,
    };
    const HARD: Setting = Setting {
        options: &[
            ("integrator", "discrete"),
            ("cone", "elliptic"),
            CONVERGED[0],
            CONVERGED[1],
            CONVERGED[2],
        ],
        hard: true,
        stiff: false,
        tree: false,
        membrane: false,
    };
    const DISCRETE: Setting = Setting {
        options: &[("integrator", "discrete")],
        hard: false,
        ..HARD
    };
    let mut list: Vec<(&'static str, Setting)> = Vec::new();
    match case.subject {
        Subject::Chain { links, .. } => {
            // A tree of 1,000 takes half a minute to read and seconds per step.
            if links <= 100 {
                let runge_kutta = Setting {
                    options: &[("integrator", "RK4")],
                    ..TREE
                };
                list.push(("tree (default)", TREE));
                list.push(("tree, RK4", runge_kutta));
            }
            list.push(("connect (default)", Setting::default()));
            list.push(("connect, discrete, hard, converged", HARD));
        }
        Subject::Boxes(_) => {
            let elliptic = Setting {
                options: &[("cone", "elliptic"), ("impratio", "10")],
                ..Setting::default()
            };
            list.push(("default", Setting::default()));
            list.push(("elliptic, impratio 10", elliptic));
            let loose = Setting {
                options: &[("integrator", "discrete"), ("cone", "elliptic")],
                ..HARD
            };
            list.push(("discrete, elliptic, hard", loose));
            list.push(("discrete, elliptic, hard, converged", HARD));
        }
        Subject::Net(_) => {
            let tendons = Setting {
                options: &[("integrator", "discrete"), ("solver", "CG")],
                ..Setting::default()
            };
            let membrane = Setting {
                membrane: true,
                ..DISCRETE
            };
            list.push(("tendons (default)", Setting::default()));
            list.push(("tendons, discrete, CG", tendons));
            list.push(("membrane, discrete", membrane));
        }
        Subject::Beam(_) => {
            let converged = Setting {
                options: &[
                    ("integrator", "discrete"),
                    CONVERGED[0],
                    CONVERGED[1],
                    CONVERGED[2],
                ],
                ..DISCRETE
            };
            list.push(("flex, discrete", DISCRETE));
            list.push(("flex, discrete, converged", converged));
        }
    }
    list.into_iter()
        .map(|(name, setting)| {
            let (case, python) = (*case, environment.python().to_owned());
            let start = move || {
                let model = of_case(&case, &setting)?;
                Ok(Box::new(MuJoCo::start(&python, &model)?) as Box<dyn Engine>)
            };
            Contender::new(Program::MuJoCo, name, Box::new(start))
        })
        .collect()
}
