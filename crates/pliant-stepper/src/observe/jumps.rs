//! Jumps of velocities and of forces in a step that is taken twice, at once and in two halves.
//!
//! Impulses of contacts, limits, ropes and other rows of bounded force are smooth functions of the
//! length of a step only while each stays on one branch of its law: open, sticking, slipping, at a
//! bound. Two differences of their generalised impulses `Q = sum J^T r` tell where they do not:
//! that of the two ways of taking the step, and that of the halves,
//!
//! ```math
//! n = Q - Q_1 - Q_2   and   n = Q_1 - Q_2
//! ```
//!
//! Both are of higher order than the step where forces are smooth, in proportion to the step where
//! a force jumps (a *kink* of the velocity: sticking, reversal of slip, a gap that opens), and as
//! large as the impulse itself where a velocity jumps (an *impact*: contacts that close, ropes that
//! go taut). What acts on an element `i` changes its velocity by `M_ii^-1 n_i`. By springs and rows
//! the change spreads in the island of the model that they connect, with no more energy than it
//! has without them, because the matrix of the step is no less than the masses, `W >= M`:
//!
//! ```math
//! |dv_i| <= sqrt(n^T M^-1 n/m_i)
//! ```

use crate::Error;
use crate::motion::Motion;
use crate::system::{System, gather};
use pliant_kkt::Scheme;
use pliant_model::RowGroup;
use pliant_solvers::KktSystem;
use std::ops::Range;

/// Share of the impulses that push or pull to one side from which on their differences are those of
/// an impact. A gap that closes a share `s` of the step after its start without restitution has the
/// impulses `1 - s` at once, `1 - 2 s` and `2 s` in halves (up to `s = 1/2`), whose differences
/// are `s` and `|1 - 4 s|`: together no less than this.
const SHARE: f64 = 0.25;

/// Rounding of differences that are exactly this share.
const ROUNDING: f64 = 1e-9;

/// Generalised impulses over a step, or a part of it, of everything that acts on one side or up to
/// a bound.
#[derive(Debug, Default)]
pub struct BoundedImpulses {
    /// On the independent coordinates (N s, N m s): all, and those that push or pull to one side,
    /// along the normals of contacts and by limits and ropes.
    impulses: Vec<[f64; 2]>,
    /// Buffer for one of them.
    one: Vec<f64>,
    any: bool,
}

impl BoundedImpulses {
    /// Reads the impulses of the last step, of length `h` (s), to the end of which the motion is.
    /// Once warm it allocates nothing.
    pub fn read(&mut self, system: &mut System, motion: &Motion, h: f64) {
        let System {
            model,
            evaluation,
            contacts,
            scratch,
            ..
        } = system;
        let force = &mut scratch.node_force;
        let observed = contacts.as_ref().map(|c| &c.observed);
        let bounded = |group: &&RowGroup| model.bounds(group).is_some();
        let groups = || model.row_groups().iter().filter(bounded);
        let rows = |group: &RowGroup| group.first_row..group.first_row + group.size * group.count;
        let acts = |group: &RowGroup| motion.multipliers[rows(group)].iter().any(|l| *l != 0.0);
        self.any = observed.is_some_and(|o| o.report().active > 0) || groups().any(acts);
        self.impulses.clear();
        if !self.any {
            return;
        }
        self.impulses.resize(model.dof_count(), [0.0; 2]);
        for to_one_side in [false, true] {
            force.clear();
            force.resize(model.velocity_count(), 0.0);
            if let Some(observed) = observed {
                observed.add_impulses(model, &motion.state, to_one_side, force);
            }
            let is_one_sided = |group: &RowGroup| {
                let bounds = model.bounds(group);
                bounds.is_some_and(|(lower, upper)| lower == 0.0 || upper == 0.0)
            };
            for group in groups().filter(|g| !to_one_side || is_one_sided(g)) {
                let first = model.node(group.node).first_velocity;
                for (k, row) in rows(group).enumerate() {
                    force[first + k] += h * motion.multipliers[row];
                }
            }
            evaluation.pull_back(model, force);
            self.one.resize(model.dof_count(), 0.0);
            gather(model, force, &mut self.one);
            for (out, one) in self.impulses.iter_mut().zip(&self.one) {
                out[usize::from(to_one_side)] = *one;
            }
        }
    }

    fn at(&self, i: usize) -> [f64; 2] {
        self.impulses.get(i).copied().unwrap_or_default()
    }
}

/// The jumps of a step and their reach.
#[derive(Debug, Default)]
pub struct Jumps {
    /// Of each coordinate, the least one of its island; empty where nothing acts that may jump.
    island: Vec<u32>,
    /// Mass of each coordinate (kg, kg m^2).
    mass: Vec<f64>,
    /// Changes of the velocity of each coordinate by both differences of its impulses (m/s, rad/s).
    own: Vec<[f64; 2]>,
    /// Of the first coordinate of each island: `n^T M^-1 n` of both differences (kg m^2/s^2), of
    /// all impulses and of those to one side, then of the latter themselves.
    energy: Vec<[f64; 5]>,
}

/// The jump that may have reached an element in a step.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Jump {
    /// The most that it may change the velocity by (m/s, rad/s).
    pub speed: f64,
    /// The part of that by what acts on the element itself, as if nothing held it (m/s, rad/s).
    pub own: f64,
    /// Whether velocities jumped, not only forces.
    pub is_impact: bool,
    /// Whether anything acts on its island that may jump.
    pub is_touched: bool,
}

impl Jumps {
    /// Finds the jumps of a step from its impulses at once and in halves; the motion is at its end.
    /// Cost, if there are impulses: an evaluation and the masses. Once warm it allocates nothing.
    ///
    /// # Errors
    /// [`Error::Model`] if a stiffness became infinite.
    pub fn find(
        &mut self,
        system: &mut System,
        motion: &Motion,
        whole: &BoundedImpulses,
        halves: [&BoundedImpulses; 2],
    ) -> Result<(), Error> {
        self.island.clear();
        let [first, second] = halves;
        if !(whole.any || first.any || second.any) {
            return Ok(());
        }
        let System {
            model,
            evaluation,
            assembler,
            ..
        } = system;
        evaluation.evaluate(model, &motion.state)?;
        let scheme = Scheme::implicit_euler(1.0);
        assembler.fill_kinematics(model, evaluation, &scheme, &motion.state);
        let kkt = assembler.system();
        self.find_islands(kkt);
        let n = kkt.n();
        self.mass.clear();
        self.mass.extend((0..n).map(|i| kkt.w.get(i, i).max(0.0)));
        self.own.clear();
        self.own.resize(n, [0.0; 2]);
        self.energy.clear();
        self.energy.resize(n, [0.0; 5]);
        for i in (0..n).filter(|i| !kkt.fixed[*i]) {
            let parts = [whole, first, second].map(|part| part.at(i));
            let mass = self.mass[i];
            // Without a mass the smallest impulse is one without bounds, and none is none.
            let per_mass = |n: f64| if n == 0.0 { 0.0 } else { n / mass };
            let [of_all, to_one_side] = [0, 1].map(|which| {
                let [q, q1, q2] = parts.map(|q| q[which]);
                [q - q1 - q2, q1 - q2, q.abs().max(q1.abs() + q2.abs())]
            });
            let [by_ways, by_halves, all] = to_one_side;
            let sizes = [of_all[0], of_all[1], by_ways, by_halves, all];
            self.own[i] = [per_mass(of_all[0]), per_mass(of_all[1])];
            let energy = &mut self.energy[self.island[i] as usize];
            for (energy, n) in energy.iter_mut().zip(sizes) {
                *energy += n.abs() * per_mass(n.abs());
            }
        }
        Ok(())
    }

    /// The jump that reached an element with these coordinates.
    pub fn at(&self, dofs: Range<usize>) -> Jump {
        let Some(island) = self.island.get(dofs.start) else {
            return Jump::default();
        };
        let [of_ways, of_halves, by_ways, by_halves, all] = self.energy[*island as usize];
        let energy = of_ways.max(of_halves);
        let differences = by_ways.sqrt() + by_halves.sqrt();
        let mass = self.mass[dofs.clone()]
            .iter()
            .fold(f64::INFINITY, |a, m| a.min(*m));
        let own = |way: usize| self.own[dofs.clone()].iter().fold(0.0f64, |a, v| a.hypot(v[way]));
        Jump {
            speed: if energy == 0.0 {
                0.0
            } else {
                (energy / mass).sqrt()
            },
            own: own(0).max(own(1)),
            is_impact: all > 0.0 && differences >= (SHARE - ROUNDING) * all.sqrt(),
            is_touched: energy > 0.0 || all > 0.0,
        }
    }

    /// Finds the least of all coordinates that each one is connected with by springs and rows, not
    /// through fixed ones.
    fn find_islands(&mut self, kkt: &KktSystem) {
        let island = &mut self.island;
        island.clear();
        island.extend(0..kkt.n() as u32);
        let rows = (0..kkt.n()).map(|i| (Some(i as u32), kkt.w.pattern().row(i)));
        let rows = rows.chain((0..kkt.m()).map(|i| (None, kkt.j.pattern().row(i))));
        for (first, row) in rows {
            let mut free = row.iter().copied().filter(|d| !kkt.fixed[*d as usize]);
            let first = match first {
                Some(i) if kkt.fixed[i as usize] => continue,
                first => first.or_else(|| free.next()),
            };
            for d in free {
                if let Some(first) = first {
                    let (a, b) = (root(island, first), root(island, d));
                    island[a.max(b) as usize] = a.min(b);
                }
            }
        }
        // Each points to one before it.
        for i in 0..island.len() {
            island[i] = island[island[i] as usize];
        }
    }
}

/// The least coordinate of the island of one, which the way there is shortened to.
fn root(island: &mut [u32], mut of: u32) -> u32 {
    while island[of as usize] != of {
        let next = island[island[of as usize] as usize];
        island[of as usize] = next;
        of = next;
    }
    of
}
