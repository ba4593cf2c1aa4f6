//! Work and precision: the time that a method takes for the error that it ends with, on the chain
//! of scene A.

use super::{Method, methods};
use crate::chain::{Chain, Pose};
use crate::timing::clock;
use pliant::prelude::*;

/// When the tip is compared (s).
pub const TIME: f64 = 0.5;

/// Errors below which no shorter steps are taken (m).
const PRECISE: f64 = 1e-6;

/// The shortest of runs is taken of so many, where they take less than half a second.
const RUNS: usize = 3;

/// A chain, and where its tip is at [`TIME`].
#[derive(Clone, Copy, Debug)]
pub struct Scene {
    /// Its name in tables.
    pub name: &'static str,
    /// Number of links.
    pub links: usize,
    /// Mass of the last link (kg).
    pub last_mass: f64,
    /// Place of the tip in the plane of x and z: DOP853 in minimal coordinates (m).
    pub tip: [f64; 2],
}

/// The chains.
pub const SCENES: [Scene; 2] = [
    Scene {
        name: "chain of 10 boxes",
        links: 10,
        last_mass: 1.0,
        tip: [-0.264550457, -0.861349287],
    },
    Scene {
        name: "chain of 100 boxes",
        links: 100,
        last_mass: 1.0,
        tip: [9.662743928, -1.22625],
    },
];

/// Time and error of a run.
#[derive(Clone, Copy, Debug)]
pub struct Run {
    /// The step (s), or that which is taken in `parts`.
    pub step: f64,
    /// Parts of a step, one but for programs that take their steps in such.
    pub parts: usize,
    /// Seconds per simulated second.
    pub seconds: f64,
    /// Distance of the tip from where it is to be (m).
    pub error: f64,
}

/// Runs of one method, or program, at steps that halve.
#[derive(Clone, Debug)]
pub struct Work {
    /// Method or program.
    pub name: String,
    /// The runs that did not fail.
    pub runs: Vec<Run>,
}

/// The shortest time of a few runs, and their error, which is the same.
fn shortest<E>(mut run: impl FnMut() -> Result<(f64, f64), E>) -> Result<(f64, f64), E> {
    let mut best = run()?;
    for _ in 1..RUNS {
        if best.0 > TIME {
            break;
        }
        let again = run()?;
        best.0 = best.0.min(again.0);
    }
    Ok((best.0 / TIME, best.1))
}

impl Scene {
    /// Distance of a tip from where it is to be (m).
    fn miss(&self, tip: [f64; 3]) -> f64 {
        (tip[0] - self.tip[0]).hypot(tip[2] - self.tip[1])
    }

    /// One method, from 20 ms in halves.
    ///
    /// # Errors
    /// If the model cannot be built.
    pub fn method(&self, method: &Method) -> Result<Work, Error> {
        let mut runs: Vec<Run> = Vec::new();
        for halvings in 0..11 {
            let step = 0.02 * 0.5f64.powi(halvings);
            let found = shortest(|| {
                let chain = Chain::new(self.links, self.last_mass, Pose::Swing);
                let mut chain = chain.simulation()?;
                chain.simulation.options = method.options.clone();
                let mut seconds = 0.0;
                for _ in 0..(TIME / step).round() as usize {
                    let (time, taken) = clock(|| chain.simulation.step(step).map(|_| ()));
                    taken?;
                    seconds += time;
                }
                Ok::<_, Error>((seconds, self.miss(chain.tip())))
            });
            let Ok((seconds, error)) = found else { continue };
            runs.push(Run {
                step,
                parts: 1,
                seconds,
                error,
            });
            if error < PRECISE {
                break;
            }
        }
        Ok(Work {
            name: method.name.to_owned(),
            runs,
        })
    }

    /// All methods that take hard rows.
    ///
    /// # Errors
    /// If the model cannot be built.
    pub fn methods(&self) -> Result<Vec<Work>, Error> {
        methods()
            .iter()
            .filter(|m| m.rows)
            .map(|m| self.method(m))
            .collect()
    }

    /// Rapier, another program: sequential impulses in steps of 10 ms, each in parts, the more of
    /// which the more exact; the last impulses of joints are where the next begin.
    #[cfg(feature = "peers")]
    pub fn rapier(&self) -> Work {
        use crate::chain::peer::{Peer, Setting};
        use crate::chain::tip;
        let mut runs = Vec::new();
        for doublings in 0..9 {
            let parts = 4 << doublings;
            let found = shortest(|| {
                let setting = Setting {
                    parts,
                    warm: true,
                    multibody: false,
                };
                let mut peer = Peer::new(self.links, self.last_mass, Pose::Swing, 0.01, setting);
                let mut seconds = 0.0;
                for _ in 0..(TIME / 0.01).round() as usize {
                    seconds += clock(|| peer.step()).0;
                }
                Ok::<_, std::convert::Infallible>((seconds, self.miss(tip(&peer.moment()))))
            });
            let Ok((seconds, error)) = found;
            runs.push(Run {
                step: 0.01,
                parts,
                seconds,
                error,
            });
        }
        Work {
            name: "Rapier, steps of 10 ms in parts".to_owned(),
            runs,
        }
    }
}
