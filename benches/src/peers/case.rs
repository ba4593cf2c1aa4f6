//! The scenes, their sizes and steps, and the answers that are known.

use super::Material;
use crate::chain::Pose;
use crate::heaps::Heap;
use std::fmt;

/// One of the four scenes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scene {
    /// A: a chain of boxes on ball joints.
    Chain,
    /// B: towers and pyramids of cubes.
    Boxes,
    /// C: a net of springs.
    Net,
    /// D: a beam of tetrahedra.
    Beam,
}

impl Scene {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Chain, Self::Boxes, Self::Net, Self::Beam];

    /// Its letter.
    pub fn letter(self) -> char {
        match self {
            Self::Chain => 'A',
            Self::Boxes => 'B',
            Self::Net => 'C',
            Self::Beam => 'D',
        }
    }

    /// Its title.
    pub fn title(self) -> &'static str {
        match self {
            Self::Chain => "A: chain of boxes on ball joints",
            Self::Boxes => "B: towers and pyramids of cubes at rest",
            Self::Net => "C: net of stiff springs",
            Self::Beam => "D: beam of tetrahedra under its weight",
        }
    }

    /// Names of the measures, in the order of [`Judge::measures`](super::Judge::measures).
    pub fn columns(self) -> &'static [&'static str] {
        match self {
            Self::Chain => &["gap", "gap at end", "reach", "dE, most", "dE at end", "tip error"],
            Self::Boxes => &["pen", "pen at end", "drift", "speed at end", "moved"],
            Self::Net => &[
                "strain",
                "dE, most",
                "dE at end",
                "com, 0.5 s",
                "error",
                "com, 1 s",
                "error",
            ],
            Self::Beam => &["tip", "error", "speed at end"],
        }
    }
}

/// Cubes in an arrangement.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Boxes {
    /// So many on each other, the highest of so many kilograms.
    Tower(usize, f64),
    /// So many in the lowest row, one less in each above.
    Pyramid(usize),
}

impl Boxes {
    /// The cubes.
    pub fn heap(self) -> Heap {
        match self {
            Self::Tower(count, ratio) => Heap::tower(count, ratio),
            Self::Pyramid(base) => Heap::pyramid_with_gaps(base, 0.01),
        }
    }

    /// The pairs of a cube, by its index, and one that it stands on; `None` for the ground.
    pub fn supports(self) -> Vec<(usize, Option<usize>)> {
        match self {
            Self::Tower(count, _) => (0..count).map(|k| (k, k.checked_sub(1))).collect(),
            Self::Pyramid(base) => {
                let mut out = Vec::new();
                let (mut below, mut first) = (0, 0);
                for row in 0..base {
                    for k in 0..base - row {
                        if row == 0 {
                            out.push((k, None));
                        } else {
                            out.push((first + k, Some(below + k)));
                            out.push((first + k, Some(below + k + 1)));
                        }
                    }
                    below = first;
                    first += base - row;
                }
                out
            }
        }
    }
}

/// Scene and size of a case.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Subject {
    /// Scene A.
    Chain {
        /// Links.
        links: usize,
        /// Mass of the last one (kg); the others have 1 kg.
        last_mass: f64,
        /// Start.
        pose: Pose,
    },
    /// Scene B.
    Boxes(Boxes),
    /// Scene C: knots per side.
    Net(usize),
    /// Scene D: cubes of six tetrahedra along the beam and across.
    Beam([usize; 2]),
}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Chain {
                links,
                last_mass,
                pose,
            } => {
                let hangs = if *pose == Pose::Hang { ", hanging" } else { "" };
                write!(f, "{links} links 1:{last_mass}{hangs}")
            }
            Self::Boxes(Boxes::Tower(count, ratio)) if *ratio == 1.0 => write!(f, "tower {count}"),
            Self::Boxes(Boxes::Tower(count, ratio)) => write!(f, "tower {count}, top {ratio} kg"),
            Self::Boxes(Boxes::Pyramid(base)) => write!(f, "pyramid {}", base * (base + 1) / 2),
            Self::Net(side) => write!(f, "{side} x {side}"),
            Self::Beam([cx, cy]) => write!(f, "{} tetrahedra", 6 * cx * cy * cy),
        }
    }
}

/// A scene at one size and step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Case {
    /// Scene and size.
    pub subject: Subject,
    /// Step (s).
    pub step: f64,
    /// Steps.
    pub steps: usize,
    /// Steps between two looks of the judge.
    pub every: usize,
}

impl Case {
    /// Its scene.
    pub fn scene(&self) -> Scene {
        match self.subject {
            Subject::Chain { .. } => Scene::Chain,
            Subject::Boxes(_) => Scene::Boxes,
            Subject::Net(_) => Scene::Net,
            Subject::Beam(_) => Scene::Beam,
        }
    }

    /// The cases of a scene; small ones alone for a look whether everything works.
    pub fn all(scene: Scene, quick: bool) -> Vec<Self> {
        let case = |subject, step, steps, every| Self {
            subject,
            step,
            steps,
            every,
        };
        let both = |subject| [case(subject, 0.01, 500, 10), case(subject, 0.001, 5000, 100)];
        let chain = |links, last_mass, pose| Subject::Chain {
            links,
            last_mass,
            pose,
        };
        match (scene, quick) {
            (Scene::Chain, true) => vec![case(chain(10, 1.0, Pose::Swing), 0.01, 50, 10)],
            (Scene::Chain, false) => {
                let swings = [(10, 1.0), (10, 1000.0), (100, 1000.0), (1000, 1000.0)];
                let swings = swings
                    .into_iter()
                    .flat_map(|(n, m)| both(chain(n, m, Pose::Swing)));
                let hangs = [10, 100].map(|n| case(chain(n, 1000.0, Pose::Hang), 0.01, 500, 10));
                swings.chain(hangs).collect()
            }
            (Scene::Boxes, _) => {
                let all = [
                    Boxes::Tower(10, 1.0),
                    Boxes::Pyramid(4),
                    Boxes::Tower(10, 1000.0),
                    Boxes::Tower(30, 1.0),
                    Boxes::Pyramid(10),
                    Boxes::Pyramid(20),
                    Boxes::Pyramid(45),
                ];
                let (count, steps) = if quick { (2, 50) } else { (all.len(), 300) };
                let chosen = all.into_iter().take(count);
                chosen.map(|b| case(Subject::Boxes(b), 0.01, steps, 10)).collect()
            }
            (Scene::Net, true) => vec![case(Subject::Net(8), 0.01, 100, 1)],
            (Scene::Net, false) => [32, 64]
                .into_iter()
                .map(Subject::Net)
                .flat_map(|net| [case(net, 0.01, 300, 1), case(net, 0.001, 1000, 10)])
                .collect(),
            (Scene::Beam, true) => vec![case(Subject::Beam([10, 2]), 0.01, 50, 50)],
            (Scene::Beam, false) => [[10, 2], [20, 4], [40, 8]]
                .map(|cells| case(Subject::Beam(cells), 0.01, 500, 50))
                .into(),
        }
    }

    /// The index of the column of [`Scene::columns`] that figures show as the error.
    pub fn error_column(&self) -> usize {
        match self.subject {
            Subject::Chain {
                links,
                pose: Pose::Swing,
                ..
            } if links <= 100 => 5,
            Subject::Chain { .. } => 0,
            Subject::Boxes(_) | Subject::Net(_) => 4,
            Subject::Beam(_) => 1,
        }
    }

    /// Whether that error is one at 0.5 s, and not of the whole run or its end.
    pub fn error_is_at_a_time(&self) -> bool {
        match self.scene() {
            Scene::Chain => self.error_column() == 5,
            Scene::Net => true,
            Scene::Boxes | Scene::Beam => false,
        }
    }
}

/// Where the tip of a swinging chain is in the plane of x and z at 0.5 s (m): DOP853 in minimal
/// coordinates at a relative tolerance of 1e-12, to nine digits.
pub(super) fn chain_tip(links: usize, last_mass: f64) -> Option<[f64; 2]> {
    Some(match (links, last_mass as usize) {
        (10, 1) => [-0.264550457, -0.861349287],
        (10, 1000) => [0.335173266, -0.941784239],
        (100, 1) => [9.662743928, -1.226250000],
        (100, 1000) => [9.856167402, -1.226250000],
        _ => return None,
    })
}

/// Mean heights of the knots of a net at 0.5 s and at 1 s (m): symplectic Euler with steps of 10
/// microseconds, to five, four and five digits.
pub(super) fn net_heights(side: usize) -> Option<[f64; 2]> {
    match side {
        32 => Some([-0.71139, -0.1473]),
        64 => Some([-0.91974, -1.4079]),
        _ => None,
    }
}

/// How far the end of a beam sinks at rest (m), exact for its mesh and material: Newton's method on
/// the energy of the same tetrahedra by `benches/reference/own_weight.py`, to nine digits.
pub(super) fn beam_tip(cells: [usize; 2], material: Material) -> Option<f64> {
    let [green, corotational] = match cells {
        [10, 2] => [-0.052159009, -0.052274315],
        [20, 4] => [-0.098521352, -0.098627573],
        [40, 8] => [-0.129066805, -0.129104987],
        _ => return None,
    };
    Some(match material {
        Material::StVenantKirchhoff => green,
        Material::Corotational => corotational,
    })
}
