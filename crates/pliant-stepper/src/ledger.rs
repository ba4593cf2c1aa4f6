//! Where the energy of a step came from and where it went.

use std::ops::AddAssign;

/// Energy that a step moved (J). What changed is the sum of what was brought in:
///
/// ```math
/// kinetic + potential = forces + motion + motors + inputs + damping + friction + impacts + corrections + removed + numerical
/// ```
///
/// An impulse `r` on a velocity that goes from `u` to `u+` brings in `r (u+ + u)/2`, which is what
/// it changes in the kinetic energy. Negative numbers take energy out.
/// [`numerical`](Self::numerical) is by definition what is left, so that the sum always closes:
/// what the scheme damps by itself, what linearising leaves, and the residual of the solve. Of a
/// particle in free fall by implicit Euler it is `-m |v+ - v|^2 / 2`, of the trapezoidal rule on
/// linear models zero to rounding. Cost: a pass over rows, forces and contacts.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Ledger {
    /// Change of the kinetic energy.
    pub kinetic: f64,
    /// Change of the potential energy.
    pub potential: f64,
    /// By forces from outside (`Simulation::set_force`) and forces
    /// without a potential, such as thrust ([`BodyForce`](pliant_model::BodyForce)).
    pub forces: f64,
    /// By prescribed motion: fixed coordinates that move, driven rows without bounds, driven ends
    /// of springs and dampers.
    pub motion: f64,
    /// By driven rows of bounded force.
    pub motors: f64,
    /// By inputs and motions of compliances that were set since the last step: what they changed in
    /// the potential energy. And by what works inside of laws with a memory: a muscle that is activated.
    pub inputs: f64,
    /// By damping forces, those of compliant contacts included, and what materials with a past
    /// dissipate (viscous and plastic): never positive for `alpha = beta`, but for quasi-linear
    /// viscoelasticity where its energy is not convex in the strain.
    pub damping: f64,
    /// By friction (viscous friction included), spin and rolling in contacts, and by rows with
    /// bounds on both sides that are not driven (dry friction of joints).
    pub friction: f64,
    /// By normal impulses of hard contacts, by rows with a bound on one side (limits, ropes), by
    /// rows with restitution, and by hard rows that do not let velocities of the start be.
    pub impacts: f64,
    /// By corrections of positions, what was paid for them included, and by falling asleep.
    pub corrections: f64,
    /// By elements that were taken out of the model since the last step: what they stored, which is
    /// gone with them, and so negative.
    #[cfg_attr(feature = "serde", serde(default))]
    pub removed: f64,
    /// Numerical part: the remainder of the balance.
    pub numerical: f64,
    /// Parts of `numerical`, by cause.
    pub parts: NumericalParts,
}

/// Parts of [`Ledger::numerical`] (J), which is their sum. They are exact for the equations that
/// the theta method solves, with what the ledger enters elsewhere taken out; see "Energy" in
/// theory/energy.md of the book for the terms. Negative numbers take energy out.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct NumericalParts {
    /// By the difference between the velocity by which positions move and the mean one:
    /// `-|dv|_M^2 / 2` of implicit Euler where all forces have a potential, nothing if
    /// `beta = 1/2`; with what gyroscopic torques and mapped masses leave.
    pub inertia: f64,
    /// By stiffness and soft compliances, compliant contacts included: `(1/2 - alpha) |dx|_K^2`.
    pub stiffness: f64,
    /// By the geometric stiffness in the system ([`Options::geometry`](crate::Options::geometry)):
    /// `-alpha |dx|_G^2` with what was taken of `-G`; zero without. Half of it is what the
    /// curvature of the motion brings in: into `rows` where the force is that of hard or stiff
    /// rows, into `rest` where it is that of others.
    pub geometry: f64,
    /// By hard rows and stiff compliances: the work of their forces on drift, less what they store.
    /// A rod that swings has half of `|dx|_G^2` by it.
    pub rows: f64,
    /// Of steps that are not taken apart, all of it: where
    /// [`Options::numerical_parts`](crate::Options::numerical_parts) does not ask for it, and of
    /// [other methods](crate::Integrator) than the theta method.
    pub undivided: f64,
    /// Remainder: forces and rows that are not linear along the way of the step, and the residual
    /// of the solve.
    pub rest: f64,
}

impl NumericalParts {
    /// All parts with their names.
    pub fn entries(&self) -> [(&'static str, f64); 6] {
        [
            ("inertia", self.inertia),
            ("stiffness", self.stiffness),
            ("geometry", self.geometry),
            ("rows", self.rows),
            ("undivided", self.undivided),
            ("rest", self.rest),
        ]
    }
}

impl AddAssign for NumericalParts {
    fn add_assign(&mut self, other: Self) {
        let sums = [
            &mut self.inertia,
            &mut self.stiffness,
            &mut self.geometry,
            &mut self.rows,
            &mut self.undivided,
            &mut self.rest,
        ];
        for (sum, (_, one)) in sums.into_iter().zip(other.entries()) {
            *sum += one;
        }
    }
}

impl Ledger {
    /// All that was brought in, but for the numerical part.
    pub fn brought_in(&self) -> f64 {
        self.entries()[2..11].iter().map(|e| e.1).sum()
    }

    /// All entries with their names, in the order of the sum.
    pub fn entries(&self) -> [(&'static str, f64); 12] {
        [
            ("kinetic", self.kinetic),
            ("potential", self.potential),
            ("forces", self.forces),
            ("motion", self.motion),
            ("motors", self.motors),
            ("inputs", self.inputs),
            ("damping", self.damping),
            ("friction", self.friction),
            ("impacts", self.impacts),
            ("corrections", self.corrections),
            ("removed", self.removed),
            ("numerical", self.numerical),
        ]
    }

    /// Enters the changes of energy, what is left of them, and its parts as far as they are known.
    pub(crate) fn close(&mut self, kinetic: f64, potential: f64, known: Option<NumericalParts>) {
        (self.kinetic, self.potential) = (kinetic, potential);
        self.numerical = kinetic + potential - self.brought_in();
        self.parts = known.unwrap_or_default();
        let left = match known {
            Some(_) => &mut self.parts.rest,
            None => &mut self.parts.undivided,
        };
        let p = &known.unwrap_or_default();
        *left = self.numerical - (p.inertia + p.stiffness + p.geometry + p.rows);
    }
}

impl AddAssign for Ledger {
    fn add_assign(&mut self, other: Self) {
        let sums = [
            &mut self.kinetic,
            &mut self.potential,
            &mut self.forces,
            &mut self.motion,
            &mut self.motors,
            &mut self.inputs,
            &mut self.damping,
            &mut self.friction,
            &mut self.impacts,
            &mut self.corrections,
            &mut self.removed,
            &mut self.numerical,
        ];
        for (sum, (_, one)) in sums.into_iter().zip(other.entries()) {
            *sum += one;
        }
        self.parts += other.parts;
    }
}
