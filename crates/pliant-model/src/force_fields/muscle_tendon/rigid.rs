//! The fibre behind a rigid tendon.

use super::MuscleTendon;

/// Tension (N) of the muscle and its slopes.
pub(super) struct Tension {
    pub(super) value: f64,
    /// By the length of the path (N/m).
    pub(super) stiffness: f64,
    /// By its velocity (N s/m).
    pub(super) damping: f64,
}

impl MuscleTendon {
    /// The tension for a length (m) and a velocity (m/s) of the path.
    pub(super) fn rigid_tension(&self, path: f64, velocity: f64, activation: f64) -> Tension {
        let (reach, h) = (path - self.slack, self.thickness());
        let mut out = Tension {
            value: 0.0,
            stiffness: 0.0,
            damping: 0.0,
        };
        // Fibres across the tendon do not pull along it.
        if h > 0.0 && reach <= 0.0 {
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

    /// The potential energy (J) for a length of the path (m).
    pub(super) fn rigid_energy(&self, path: f64, activation: f64) -> f64 {
        let reach = path - self.slack;
        let pennate = self.thickness() > 0.0;
        let (length, _) = self.fibre_at(if pennate { reach.max(0.0) } else { reach });
        self.fibre_energy(activation, length)
    }
}
