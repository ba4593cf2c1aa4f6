//! Muscles with a tendon as a force field, with a memory where the tendon is elastic.

use super::super::muscle::activation;
use super::MuscleTendon;
use super::elastic::{End, Stretch};
use crate::validate::{check_bound, check_not_negative, check_one_or_each, check_positive, check_space};
use crate::{At, Blocks, Field, ForceField, Memory, ModelError, NotInvertible, Past, Space};

impl ForceField for MuscleTendon {
    fn check(&self, name: &str, space: Space, count: usize) -> Result<(), ModelError> {
        check_space(name, "scalars (lengths)", space, space == Space::Real(1))?;
        check_positive(name, Field::LargestForce, self.force)?;
        check_positive(name, Field::OptimalLength, self.optimal)?;
        if self.rigid {
            check_not_negative(name, Field::TendonLength, self.slack)?;
        } else {
            check_positive(name, Field::TendonLength, self.slack)?;
        }
        let fits = self.pennation >= 0.0 && self.pennation < Self::steepest();
        let bound = "zero or more and less than 1.4706 rad, whose cosine is .1";
        check_bound(name, Field::Pennation, self.pennation, bound, fits)?;
        check_positive(name, Field::LargestSpeed, self.speed)?;
        check_not_negative(name, Field::FibreDamping, self.damping)?;
        check_positive(name, Field::TendonStrain, self.strain)?;
        if let Some(dynamics) = self.dynamics {
            check_positive(name, Field::ActivationTime, dynamics.activation)?;
            check_positive(name, Field::DeactivationTime, dynamics.deactivation)?;
            let bound = "left out with a rigid tendon, whose force depends on the velocity, not on a past";
            check_bound(
                name,
                Field::ActivationTime,
                dynamics.activation,
                bound,
                !self.rigid,
            )?;
        }
        check_one_or_each(name, Field::Excitations, "excitations", count, self.inputs.len())
    }

    fn energy(&self, At { x, inputs, .. }: At<'_>) -> f64 {
        let of = |(e, path): (usize, &f64)| {
            let a = activation(inputs, e);
            if self.rigid {
                return self.rigid_energy(*path, a);
            }
            let fibre = self.at_rest(*path, a).fibre;
            self.stored(*path, fibre, a)
        };
        x.iter().enumerate().map(of).sum()
    }

    fn add_force(&self, At { x, v, inputs, .. }: At<'_>, f: &mut [f64]) {
        for (e, f) in f.iter_mut().enumerate() {
            let a = activation(inputs, e);
            *f -= if self.rigid {
                self.rigid_tension(x[e], v[e], a).value
            } else {
                self.at_rest(x[e], a).tension
            };
        }
    }

    fn stiffness(&self, At { x, inputs, .. }: At<'_>, out: &mut Blocks) -> Result<(), NotInvertible> {
        out.set_diagonal(|e| {
            let a = activation(inputs, e);
            if self.rigid {
                self.rigid_tension(x[e], 0.0, a).stiffness
            } else {
                self.at_rest(x[e], a).stiffness
            }
        });
        Ok(())
    }

    fn damping(&self, At { x, v, inputs, .. }: At<'_>, out: &mut Blocks) {
        if self.rigid {
            out.set_diagonal(|e| self.rigid_tension(x[e], v[e], activation(inputs, e)).damping);
        }
    }

    fn is_damped(&self) -> bool {
        self.rigid
    }

    fn is_linear(&self) -> bool {
        false
    }

    fn memory(&self) -> Option<&dyn Memory> {
        (!self.rigid).then_some(self)
    }

    fn inputs(&self) -> &[f64] {
        &self.inputs
    }

    fn check_inputs(&self, name: &str, inputs: &[f64]) -> Result<(), ModelError> {
        inputs.iter().enumerate().try_for_each(|(k, u)| {
            let fits = (0.0..=1.0).contains(u);
            check_bound(name, Field::Excitations, *u, "between 0 and 1", fits)
                .map_err(|e| e.at(k, inputs.len()))
        })
    }
}

impl MuscleTendon {
    /// Stored energy (J) for a length of the path (m), a length of the fibre (m) and an activation.
    fn stored(&self, path: f64, fibre: f64, activation: f64) -> f64 {
        let reach = self.reach_of(fibre);
        self.tendon_energy(path - reach) + self.fibre_energy(activation, fibre)
    }

    /// The internal variables of an element.
    fn own<'a>(&self, internal: &'a [f64], e: usize) -> &'a [f64] {
        &internal[e * self.variables()..][..self.variables()]
    }

    /// The activation of an element a time after its internal variables.
    fn activation_after(&self, own: &[f64], input: f64, elapsed: f64) -> f64 {
        match self.dynamics {
            Some(dynamics) => dynamics.after(own[1], input, elapsed),
            None => input,
        }
    }

    /// An element at the end of a time.
    fn moved(&self, at: At<'_>, past: Past<'_>, e: usize) -> End {
        let own = self.own(past.internal, e);
        let stretch = Stretch {
            muscle: self,
            path: at.x[e],
            activation: self.activation_after(own, activation(at.inputs, e), past.elapsed),
            before: own[0],
            elapsed: past.elapsed,
        };
        stretch.end()
    }
}

impl Memory for MuscleTendon {
    fn size(&self, count: usize) -> usize {
        count * self.variables()
    }

    fn begin(&self, _space: Space, x: &[f64], internal: &mut [f64]) {
        for (e, own) in internal.chunks_exact_mut(self.variables()).enumerate() {
            let a = activation(&self.inputs, e);
            own[0] = self.at_rest(x[e], a).fibre;
            if let Some(own) = own.get_mut(1) {
                *own = a;
            }
        }
    }

    fn energy(&self, at: At<'_>, internal: &[f64]) -> f64 {
        let of = |(e, path): (usize, &f64)| {
            let own = self.own(internal, e);
            let a = self.activation_after(own, activation(at.inputs, e), 0.0);
            self.stored(*path, own[0], a)
        };
        at.x.iter().enumerate().map(of).sum()
    }

    fn add_force(&self, at: At<'_>, past: Past<'_>, f: &mut [f64]) {
        for (e, f) in f.iter_mut().enumerate() {
            *f -= self.moved(at, past, e).tension;
        }
    }

    fn stiffness(&self, at: At<'_>, past: Past<'_>, out: &mut Blocks) {
        out.set_diagonal(|e| self.moved(at, past, e).stiffness);
    }

    fn advance(&self, at: At<'_>, past: Past<'_>, new: &mut [f64]) -> f64 {
        let mut dissipated = 0.0;
        for (e, new) in new.chunks_exact_mut(self.variables()).enumerate() {
            let old = self.own(past.internal, e);
            let end = self.moved(at, past, e);
            dissipated += end.drag * (end.fibre - old[0]);
            new[0] = end.fibre;
            if let Some(new) = new.get_mut(1) {
                *new = self.activation_after(old, activation(at.inputs, e), past.elapsed);
            }
        }
        dissipated
    }

    fn brought(&self, _at: At<'_>, past: Past<'_>, new: &[f64]) -> f64 {
        if self.dynamics.is_none() {
            return 0.0;
        }
        let elements = new
            .as_chunks::<2>()
            .0
            .iter()
            .zip(past.internal.as_chunks::<2>().0);
        let of =
            |([fibre, now], [_, before]): (&[f64; 2], &[f64; 2])| (now - before) * self.active_energy(*fibre);
        elements.map(of).sum()
    }
}
