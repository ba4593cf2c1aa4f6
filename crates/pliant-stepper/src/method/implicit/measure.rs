//! How far an iterate is from solving its equations: the merit of the line search, and the relative
//! residual that decides.

use super::{Iteration, NewtonWorkspace};
use crate::contact::step;
use crate::method::sizes::{Beside, IterateVelocities, row_miss};
use crate::motion::Motion;
use crate::system::System;
use pliant_solvers::KktResidual;

impl Iteration<'_> {
    /// Takes the weights of the merit from the filled system.
    pub(crate) fn weigh(&mut self) {
        let system = self.system.assembler.system();
        let inertia = &mut self.work.inertia;
        inertia.clear();
        inertia.extend((0..system.n()).map(|i| system.w_diagonal(i).abs()));
    }

    /// Sum of the squares of what the equations lack as velocities: impulses over `W_ii`, rows over
    /// the displacement gain; of rows of bounded force by the natural map, contacts too.
    pub(crate) fn merit(&mut self) -> f64 {
        self.find_row_velocities();
        let s = &*self.work;
        let system = self.system.assembler.system();
        let mut sum = 0.0;
        for ((p, w), fixed) in s.residual.primal.iter().zip(&s.inertia).zip(&system.fixed) {
            if !fixed && *w > 0.0 {
                sum += (p / w) * (p / w);
            }
        }
        for row in 0..system.m() {
            let r = row_miss(system, row, s.residual.missed(&s.iterate));
            sum += r * r;
        }
        sum + step::merit(self.system, self.work.contact_iterate())
    }

    /// Finds the residual of each row, as a velocity.
    fn find_row_velocities(&mut self) {
        let s = &mut *self.work;
        self.system.assembler.velocities_of_deficits(
            &self.system.model,
            &self.system.evaluation,
            self.scheme,
            &s.residual.deficit,
            &mut s.residual.row_velocity,
        );
    }

    /// The residual of the iterate in the terms of [`KktResidual`], with the matrices filled there.
    /// Measures the residual of each equation, less the rounding of the positions that it is made
    /// of, as a share of the size of its terms: `|W| u + |J^T| |mu|` and `|J| u + |R mu|` with the
    /// velocities `u = |v+| + |v| + |a|/g` of each coordinate.
    pub(crate) fn measure(&mut self) -> KktResidual {
        self.find_row_velocities();
        // Beside contacts, rows of bounded force are solved with them, to their tolerance of the
        // largest velocity without impulses.
        let contacts = step::listed(self.system);
        let beside = contacts.map(|c| Beside {
            tolerances: (self.origin.tolerance / self.system.options.contacts.tolerance).min(1.0),
            free_velocity: c.largest_free_velocity(),
        });
        find_speeds(self.system, self.end, self.work);
        let s = &mut *self.work;
        let missed = s.residual.missed(&s.iterate);
        let tolerance = self.origin.tolerance;
        s.sizes.measure(
            self.system.assembler.system(),
            missed,
            tolerance,
            beside,
            |terms| {
                if let Some(c) = contacts {
                    c.add_sizes(&s.iterate.contacts, terms);
                }
            },
        )
    }

    /// The energy of the velocities that the residual asks for, equation by equation (J).
    pub(super) fn missed_energy(&mut self) -> f64 {
        self.find_row_velocities();
        find_speeds(self.system, self.end, self.work);
        let s = &mut *self.work;
        let missed = s.residual.missed(&s.iterate);
        s.sizes.missed_energy(self.system.assembler.system(), missed)
    }
}

/// Finds the velocities that the terms of the equations are made of, at an iterate.
fn find_speeds(system: &System, end: &Motion, s: &mut NewtonWorkspace) {
    let velocities = IterateVelocities {
        start: &s.equations.velocity,
        end: &s.iterate.velocity,
        acceleration: &s.relation.acceleration,
        acceleration_gain: s.relation.acceleration_gain,
        displacement_gain: s.relation.displacement_gain,
    };
    s.sizes.find_speeds(&system.model, &end.state, velocities);
}
