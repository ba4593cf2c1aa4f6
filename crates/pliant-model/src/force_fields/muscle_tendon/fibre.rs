//! The fibre: its place, its force, its energy; the tendon; and the fibre behind a rigid one.

use super::MuscleTendon;

/// The cosine of the steepest pennation.
const LEAST_COSINE: f64 = 0.1;

/// The force of a fibre along itself (N), and its slopes over length (N/m) and velocity (N s/m).
#[derive(Clone, Copy, Debug)]
pub(super) struct FibreForce {
    pub(super) value: f64,
    pub(super) by_length: f64,
    pub(super) by_velocity: f64,
}

/// Tension (N) of a muscle with a rigid tendon, and its slopes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tension {
    pub(super) value: f64,
    /// By the length of the path (N/m).
    pub(super) stiffness: f64,
    /// By its velocity (N s/m).
    pub(super) damping: f64,
}

impl MuscleTendon {
    /// The thickness of the muscle (m), which stays as it is.
    pub(super) fn thickness(&self) -> f64 {
        self.optimal * self.pennation.sin()
    }

    /// The largest pennation at optimal length (rad).
    pub(super) fn steepest() -> f64 {
        LEAST_COSINE.acos()
    }

    /// The length of a fibre (m) that reaches so far along the tendon (m), and the cosine of its
    /// angle.
    pub(super) fn fibre_at(&self, reach: f64) -> (f64, f64) {
        let h = self.thickness();
        if h == 0.0 {
            return (reach, 1.0);
        }
        let length = (h * h + reach * reach).sqrt();
        (length, reach / length)
    }

    /// How far a fibre of a length (m) reaches along the tendon (m); its stop for one that is
    /// shorter than that.
    pub(super) fn reach_of(&self, length: f64) -> f64 {
        let h = self.thickness();
        let reach = ((length - h) * (length + h)).max(0.0).sqrt();
        reach.max(self.shortest_reach())
    }

    /// How far along the tendon (m) the fibre reaches at its stop.
    pub(super) fn shortest_reach(&self) -> f64 {
        let h = self.thickness();
        let steepest = h * LEAST_COSINE / (1.0 - LEAST_COSINE * LEAST_COSINE).sqrt();
        let shortest = self.curves.shortest() * self.optimal;
        let reach = ((shortest - h) * (shortest + h)).max(0.0).sqrt();
        reach.max(steepest)
    }

    /// The force of a fibre of a length (m) at a velocity (m/s), positive when it lengthens.
    pub(super) fn fibre_force(&self, activation: f64, length: f64, velocity: f64) -> FibreForce {
        let n = length / self.optimal;
        let fastest = self.optimal * self.speed;
        let (active, rise) = self.curves.active(n);
        let (passive, stretch) = self.curves.passive(n);
        let (moving, slope) = self.curves.velocity(velocity / fastest, activation);
        FibreForce {
            value: self.force * (activation * active * moving + passive + self.damping * velocity / fastest),
            by_length: self.force / self.optimal * (activation * rise * moving + stretch),
            by_velocity: self.force / fastest * (activation * active * slope + self.damping),
        }
    }

    /// The potential energy of a fibre of a length (m): of its passive and, at a constant
    /// activation, of its active force at rest.
    pub(super) fn fibre_energy(&self, activation: f64, length: f64) -> f64 {
        let passive = self.curves.passive_energy(length / self.optimal);
        self.force * self.optimal * passive + activation * self.active_energy(length)
    }

    /// The part of that for an activation of 1 (J).
    pub(super) fn active_energy(&self, length: f64) -> f64 {
        self.force * self.optimal * self.curves.active_energy(length / self.optimal)
    }

    fn tendon_strain(&self, length: f64) -> f64 {
        (length - self.slack) / (self.slack * self.strain)
    }

    /// The tension (N) of a tendon of a length (m), and its slope (N/m).
    pub(super) fn tendon_force(&self, length: f64) -> (f64, f64) {
        let (value, slope) = self.curves.tendon(self.tendon_strain(length));
        (
            self.force * value,
            self.force / (self.slack * self.strain) * slope,
        )
    }

    /// The energy of a tendon of a length (m).
    pub(super) fn tendon_energy(&self, length: f64) -> f64 {
        let energy = self.curves.tendon_energy(self.tendon_strain(length));
        self.force * self.slack * self.strain * energy
    }

    /// The tension for a length (m) and a velocity (m/s) of the path, with a rigid tendon.
    pub(super) fn rigid_tension(&self, path: f64, velocity: f64, activation: f64) -> Tension {
        let (reach, h) = (path - self.slack, self.thickness());
        let mut out = Tension {
            value: 0.0,
            stiffness: 0.0,
            damping: 0.0,
        };
        // Fibres across the tendon do not pull along it, and those without length not at all.
        if reach <= 0.0 {
            return out;
        }
        let (length, cosine) = self.fibre_at(reach);
        let force = self.fibre_force(activation, length, velocity * cosine);
        // A tendon does not push, even where the fibre shortens too fast to pull.
        if force.value <= 0.0 {
            return out;
        }
        let flattens = if h == 0.0 {
            0.0
        } else {
            h * h / (length * length * length)
        };
        out.value = force.value * cosine;
        out.stiffness = force.by_length * cosine * cosine + force.value * flattens;
        out.damping = force.by_velocity * cosine * cosine;
        out
    }

    /// The potential energy (J) for a length of the path (m), with a rigid tendon.
    pub(super) fn rigid_energy(&self, path: f64, activation: f64) -> f64 {
        let reach = path - self.slack;
        let (length, _) = self.fibre_at(reach.max(0.0));
        self.fibre_energy(activation, length)
    }
}
