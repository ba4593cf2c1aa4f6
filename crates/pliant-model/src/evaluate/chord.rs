//! Mean forces along a displacement, whose work is what the energy loses.
//!
//! With the positions `x` and `x+` of all nodes at both ends, a chord is what a node is displaced
//! by: `x+ - x` of real coordinates, and of bodies the translation with Cayley's vector
//! `c = 2 tan(|r|/2) r/|r|` of the rotation vector `r`, in body axes at either end alike. A force
//! at each end, `f` and `f+`, stands for the mean one `(f + f+)/2`, whose torque is the mean in
//! space:
//!
//! ```math
//! t = (tau + tau+)/2 + c x (tau+ - tau)/4    in the axes A^T R^T,   A = 1 + [c]/2,   R+ = R A A^-T
//! ```
//!
//! Its work is `c . (tau + tau+)/2`.

use crate::{At, ForceField, Problem, Space, State, Treatment};
use pliant_dense::rotation;

/// Places and weights of the formula of Gauss with four points on `[0, 1]`.
const GAUSS: [(f64, f64); 4] = [
    (0.069_431_844_202_973_71, 0.173_927_422_568_726_93),
    (0.330_009_478_207_571_87, 0.326_072_577_431_273_07),
    (0.669_990_521_792_428_1, 0.326_072_577_431_273_07),
    (0.930_568_155_797_026_3, 0.173_927_422_568_726_93),
];

/// Roundings of an energy that the work of a force may miss it by.
const ROUNDINGS: f64 = 64.0;

/// The share of the work of a mean force by which those of two points, the ends or inner ones, may
/// differ from it where that of four needs no correction: of smooth laws it misses less than the
/// square of this, and what the quotient of a correction makes of the rounding of energies is below
/// the tolerance of steps.
const STRAIGHT: f64 = 1e-10;

/// Numbers of scratch for each velocity coordinate of the largest node.
const ROOM: usize = 12;

/// Energy that a step brings in by forces that have no potential.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ChordWork {
    /// Energy brought in by damping: never positive where no damper pushes (J).
    pub damping: f64,
    /// Energy brought in by other forces without a potential (J).
    pub forces: f64,
}

/// Writes the positions in the middle of two, of bodies with the rotation half way.
fn write_middle(space: Space, start: &[f64], end: &[f64], out: &mut [f64]) {
    out.iter_mut()
        .zip(start.iter().zip(end))
        .for_each(|(m, (x, to))| *m = 0.5 * (x + to));
    if space != Space::Rigid3 {
        return;
    }
    for (k, m) in out.as_chunks_mut::<7>().0.iter_mut().enumerate() {
        let (q, to) = (&start[7 * k + 3..][..4], &end[7 * k + 3..][..4]);
        let same: f64 = q.iter().zip(to).map(|(a, b)| a * b).sum();
        let sum: [f64; 4] = std::array::from_fn(|i| q[i] + same.signum() * to[i]);
        if let Some(turn) = rotation::normalize(sum) {
            m[3..].copy_from_slice(&turn);
        }
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Adds to `force` along the chord what it misses of the energies `[V, V+]` beyond rounding:
/// `(V - V+ - f . d) d/(d . d)`.
fn correct(energies: [f64; 2], chord: &[f64], work: f64, force: &mut [f64]) {
    let [start, end] = energies;
    let missed = start - end - work;
    let square = dot(chord, chord);
    if missed.abs() > ROUNDINGS * f64::EPSILON * (start.abs() + end.abs()) && square > 0.0 {
        let share = missed / square;
        force.iter_mut().zip(chord).for_each(|(f, d)| *f += share * d);
    }
}

/// [`ForceField::add_chord_force`] of any law.
pub(crate) fn add_average_force<L: ForceField + ?Sized>(
    law: &L,
    ends: [At<'_>; 2],
    room: &mut [f64],
    f: &mut [f64],
) {
    let (n, [start, end]) = (f.len(), ends);
    let (chord, room) = room.split_at_mut(n);
    let (still, room) = room.split_at_mut(n);
    let (mean, room) = room.split_at_mut(n);
    let (force, between) = room.split_at_mut(n);
    let between = &mut between[..n];
    still.fill(0.0);
    mean.fill(0.0);
    start.space.chord(start.x, end.x, chord);
    let mut add = |x: &[f64], weight: f64| {
        force.fill(0.0);
        law.add_force(At { x, v: still, ..start }, force);
        mean.iter_mut().zip(&*force).for_each(|(m, f)| *m += weight * f);
        dot(force, chord)
    };
    if law.is_linear() {
        add(start.x, 0.5);
        add(end.x, 0.5);
    } else {
        let mut works = [0.0; 4];
        for ((place, weight), work) in GAUSS.into_iter().zip(&mut works) {
            for (x, (from, to)) in between.iter_mut().zip(start.x.iter().zip(end.x)) {
                *x = from + place * (to - from);
            }
            *work = add(between, weight);
        }
        // With no weight: a kink may lie beyond the outer points.
        let ends = 0.5 * (add(start.x, 0.0) + add(end.x, 0.0));
        let work = dot(mean, chord);
        let size: f64 = mean.iter().zip(&*chord).map(|(f, d)| (f * d).abs()).sum();
        let bends = |by_two: f64| (by_two - work).abs() > STRAIGHT * size;
        if bends(ends) || bends(0.5 * (works[1] + works[2])) {
            correct([law.energy(start), law.energy(end)], chord, work, mean);
        }
    }
    f.iter_mut().zip(mean).for_each(|(f, m)| *f += *m);
}

impl Problem {
    /// Numbers of scratch that [`add_chord_forces`](Self::add_chord_forces) needs.
    pub fn chord_room(&self) -> usize {
        let nodes = self.nodes().iter().map(|n| n.velocity_range().len());
        ROOM * nodes.max().unwrap_or(0)
    }

    /// Adds the forces on all nodes for a displacement of the length `h` (s) from one state to the
    /// other, each where it acts, to those of the start and to those of the end, which stand for
    /// their mean: gravity, damping in proportion to the mass, and all force fields that are
    /// stiffnesses, by their mean forces along the chord
    /// ([`ForceField::add_chord_force`]) and with their damping at its middle and its rate. Both
    /// states must be propagated. Cost: of each nonlinear law six forces and two energies.
    /// Allocates nothing.
    ///
    /// # Panics
    /// If a slice is too short.
    pub fn add_chord_forces(
        &self,
        states: [&State; 2],
        h: f64,
        room: &mut [f64],
        forces: [&mut [f64]; 2],
    ) -> ChordWork {
        let mut work = ChordWork::default();
        let [at_start, at_end] = forces;
        let gravity = self.gravity();
        for attachment in self.masses() {
            let node = self.node(attachment.node);
            let (range, size) = (node.velocity_range(), node.space.velocity_size());
            let (mean, chord) = room.split_at_mut(range.len());
            let mean = &mut mean[..range.len()];
            mean.fill(0.0);
            if node.space.is_spatial() && gravity != [0.0; 3] {
                attachment.component.pairs(node.count, |m, i, _| {
                    for (f, g) in mean[i * size..][..size].iter_mut().zip(gravity) {
                        *f += m * g;
                    }
                });
            }
            let rate = self.rayleigh().mass;
            if rate > 0.0 {
                let chord = &mut chord[..range.len()];
                let [start, end] = states.map(|s| &s.positions[node.position_range()]);
                node.space.chord(start, end, chord);
                let before = dot(mean, chord);
                attachment
                    .component
                    .add_product(node.space, -rate / h, chord, mean);
                work.damping += dot(mean, chord) - before;
            }
            for list in [&mut *at_start, &mut *at_end] {
                list[range.clone()]
                    .iter_mut()
                    .zip(&*mean)
                    .for_each(|(f, m)| *f += m);
            }
        }
        let mut shared = ChordWork::default();
        for (i, field) in self.force_fields().iter().enumerate() {
            if self.treatment(i) != Treatment::Compliance {
                let range = self.node(field.node).velocity_range();
                let own = [&mut at_start[range.clone()], &mut at_end[range]];
                let work = match self.element_share(field.node.index()) {
                    Some(_) => &mut shared,
                    None => &mut work,
                };
                self.add_field_chord(states, i, h, room, own, work);
            }
        }
        if self.processes().is_some() {
            work.damping += self.sum_over_processes(shared.damping);
            work.forces += self.sum_over_processes(shared.forces);
        }
        work
    }

    /// Adds the forces of one force field for a displacement.
    fn add_field_chord(
        &self,
        states: [&State; 2],
        i: usize,
        h: f64,
        room: &mut [f64],
        forces: [&mut [f64]; 2],
        work: &mut ChordWork,
    ) {
        let law = &self.force_fields()[i].component.law;
        let [start, end] = states.map(|s| self.at(i, s));
        let [at_start, at_end] = forces;
        let (n, space) = (at_start.len(), start.space);
        let (chord, room) = room.split_at_mut(n);
        let (still, room) = room.split_at_mut(n);
        let (first, room) = room.split_at_mut(n);
        let (last, room) = room.split_at_mut(n);
        space.chord(start.x, end.x, chord);
        still.fill(0.0);
        first.fill(0.0);
        last.fill(0.0);
        let potential = law.has_potential();
        if potential && space != Space::Rigid3 {
            let ends = [start.moving(still), end.moving(still)];
            law.add_chord_force(ends, room, first);
            last.copy_from_slice(first);
        } else {
            law.add_force(start.moving(still), first);
            law.add_force(end.moving(still), last);
            let done = 0.5 * (dot(first, chord) + dot(last, chord));
            if !potential {
                work.forces += done;
            } else if !law.is_linear() {
                let energies = [law.energy(start), law.energy(end)];
                for list in [&mut *first, &mut *last] {
                    correct(energies, chord, done, list);
                }
            }
        }
        let add = |list: &mut [f64], own: &[f64]| list.iter_mut().zip(own).for_each(|(f, g)| *f += g);
        add(at_start, first);
        add(at_end, last);
        if law.is_damped() {
            let (middle, _) = room.split_at_mut(start.x.len());
            write_middle(space, start.x, end.x, middle);
            // The force in motion, less that at rest.
            first.fill(0.0);
            last.fill(0.0);
            let x = &*middle;
            law.add_force(At { x, v: still, ..start }, last);
            still.iter_mut().zip(&*chord).for_each(|(v, d)| *v = d / h);
            law.add_force(At { x, v: still, ..start }, first);
            first.iter_mut().zip(&*last).for_each(|(f, g)| *f -= g);
            work.damping += dot(first, chord);
            add(at_start, first);
            add(at_end, first);
        }
    }
}
