//! The fibre: its place, its force, its energy; and the tendon.

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
}
