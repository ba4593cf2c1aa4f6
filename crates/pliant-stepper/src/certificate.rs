//! The certificate of a step: what its end misses, part by part, and what it may miss.

use crate::Ledger;
use pliant_model::Energies;

/// The share of an energy that its change is known to where equations are solved to a tolerance.
const ENERGY_ROUNDING: f64 = 1e-9;

/// The share of the largest energy that tolerances of solvers may bring in over a motion at rest.
const REST_ROUNDING: f64 = 1e-7;

/// Misses of the end of a step, whatever method took it. Of a step that was taken in parts, the
/// worst of all parts, and the energy of all together.
///
/// | part | what it is | bounded by |
/// |---|---|---|
/// | [`equations`](Self::equations) | equations of motion as the method solves them | the tolerances of its solver ([`Tuning`](crate::Tuning)) |
/// | [`linearisation`](Self::linearisation) | nonlinear equations that are not solved further | `stage_share` of [`NewtonOptions`](crate::integrator::NewtonOptions); of the linear step nothing |
/// | [`rows`](Self::rows) | hard constraints, at their positions | the projection of methods that have one |
/// | [`cones`](Self::cones) | contacts, friction, limits, bounded forces | the tolerances of contacts and of bounded forces |
/// | [`energy`](Self::energy) | energy that nothing brought in | [`Tolerances`] |
/// | [`multipliers`](Self::multipliers) | whether forces are determined by the motion | nothing |
/// | [`local_error`](Self::local_error) | error of one step where motion is smooth | nothing; steps that choose their length do |
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Certificate {
    /// Residual of the equations of motion as the method solves them, as a share of their terms
    /// (none).
    pub equations: f64,
    /// Error in the velocities because the nonlinear equations are not solved further, as a share
    /// of the velocities (none): of the linear step, what its end misses of them, where it was
    /// measured ([`Tuning::linearisation_samples`](crate::Tuning::linearisation_samples)); of a
    /// stage of SDIRK2, an estimate of what its iteration left. `None` if it was not measured, and
    /// of methods that [`equations`](Self::equations) alone bounds.
    pub linearisation: Option<f64>,
    /// Largest violation of a hard constraint at the end of the step (m, rad).
    pub rows: f64,
    /// Largest residual of a contact or of a row of bounded force, as the natural map of a velocity
    /// (m/s, rad/s).
    pub cones: f64,
    /// Energy that the step made.
    pub energy: EnergyCertificate,
    /// Whether the forces of constraints and contacts are determined by the motion.
    pub multipliers: Multipliers,
    /// Estimate of the error that the step adds to a smooth motion; `None` of methods without one,
    /// and across impacts.
    pub local_error: Option<LocalError>,
}

impl Certificate {
    /// Takes in the certificate of the part of the step before this one, where the ledger is that
    /// of both together.
    pub(crate) fn take_in(&mut self, earlier: &Self, ledger: &Ledger) {
        self.equations = worse(self.equations, earlier.equations);
        self.linearisation = match (self.linearisation, earlier.linearisation) {
            (Some(a), Some(b)) => Some(worse(a, b)),
            (a, b) => a.or(b),
        };
        self.rows = worse(self.rows, earlier.rows);
        self.cones = worse(self.cones, earlier.cones);
        let turnover = self.energy.turnover.with(earlier.energy.turnover);
        self.energy = turnover.judge(ledger, self.energy.since_start);
        self.multipliers = self.multipliers.with(earlier.multipliers);
        // Errors of parts add up.
        self.local_error = self
            .local_error
            .zip(earlier.local_error)
            .map(|(a, b)| LocalError {
                position: a.position + b.position,
                velocity: a.velocity + b.velocity,
            });
    }
}

/// The larger of two, or the one that is no number.
fn worse(a: f64, b: f64) -> f64 {
    if a.is_nan() || b <= a { a } else { b }
}

/// Energy of a step that nothing brought in (J).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct EnergyCertificate {
    /// Energy that the method made, `numerical` of the [`Ledger`]; negative if it lost some.
    pub numerical: f64,
    /// Energy that impacts took, negative; zero if they brought some, but where overlap is taken
    /// back by velocities, which jump all the same. Springs and joints pass an impact on within the
    /// step, at velocities of its start or of its end, and what that makes is in
    /// [`numerical`](Self::numerical): only both together are made of nothing.
    pub impacts: f64,
    /// Energy that dampers and materials, or friction and impacts together, brought in, which can
    /// only take some; zero if neither did. The law of an impact leaves open what part of its work
    /// is friction's. Overlap that is taken back by velocities
    /// ([`Overlap::Rows`](crate::contact::Overlap::Rows)) is work of contacts that is meant.
    pub passive: f64,
    /// Energy that the step turned over.
    pub turnover: Turnover,
    /// Energy since the start of the motion.
    pub since_start: EnergyBudget,
}

impl EnergyCertificate {
    /// Energy that the method made beyond rounding, and beyond what impacts took, as a share of
    /// what the step turned over; zero if there is none.
    pub fn gain(&self) -> f64 {
        self.share(self.numerical + self.impacts, self.turnover.accounted())
    }

    /// Energy that the method lost beyond rounding, as a share of what the step turned over; zero
    /// if it made some.
    pub fn loss(&self) -> f64 {
        self.share(-self.numerical, self.turnover.total())
    }

    /// [`passive`](Self::passive) beyond rounding, as a share of what the step turned over.
    pub fn passive_gain(&self) -> f64 {
        self.share(self.passive, self.turnover.accounted())
    }

    fn share(&self, energy: f64, of: f64) -> f64 {
        let beyond = energy - ENERGY_ROUNDING * self.turnover.size;
        // A NaN is beyond everything.
        if beyond <= 0.0 { 0.0 } else { beyond / of }
    }
}

/// Energy since a motion was set (J): all that can turn over, and all that came from nowhere. A
/// state, a prescribed motion, bounds or contacts that are set anew begin it anew.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct EnergyBudget {
    /// Kinetic energy at the start.
    pub kinetic: f64,
    /// Potential energy at the start.
    pub potential: f64,
    /// The lowest potential energy so far.
    pub lowest: f64,
    /// Work of external forces, motors, prescribed motion and inputs, and of contacts that take
    /// overlap back by velocities, in both directions.
    pub worked: f64,
    /// Energy that the method made, less what it lost, and what friction, dampers and impacts
    /// brought in.
    pub made: f64,
    /// Kinetic energy of a fall from rest in the time of the longest step, beside which what is at
    /// rest has none.
    pub fall: f64,
    /// The largest size of the energies, to which their differences are rounded.
    pub size: f64,
}

impl EnergyBudget {
    /// That of a motion which starts with these energies.
    pub(crate) fn begin(start: &Energies) -> Self {
        Self {
            kinetic: start.kinetic,
            potential: start.potential,
            lowest: start.potential,
            ..Self::default()
        }
    }

    /// That after a step with this ledger, which ends at this potential energy.
    pub(crate) fn after(mut self, ledger: &Ledger, turnover: &Turnover, potential: f64) -> Self {
        let Ledger {
            forces,
            motion,
            motors,
            inputs,
            removed,
            ..
        } = *ledger;
        self.worked += forces.abs() + motion.abs() + motors.abs() + inputs.abs() + removed.abs();
        if turnover.by_velocity {
            self.worked += ledger.friction.abs() + ledger.impacts.abs();
        }
        let EnergyCertificate {
            numerical, impacts, ..
        } = turnover.judge(ledger, self);
        let gained = passive(ledger, turnover.by_velocity).map(|w| w.max(0.0));
        self.made += numerical.min((numerical + impacts).max(0.0)) + gained.iter().sum::<f64>();
        self.lowest = self.lowest.min(potential);
        self.fall = self.fall.max(turnover.fall);
        self.size = self.size.max(turnover.size);
        self
    }

    /// Energy that there was to turn over: that of the start, of the deepest fall from it, and the
    /// work since.
    pub fn turned_over(&self) -> f64 {
        self.kinetic + self.worked + (self.potential - self.lowest)
    }

    /// Energy that came from nowhere, beyond the tolerances of solvers over a long rest, as a share
    /// of what there was to turn over.
    pub fn share(&self) -> f64 {
        let beyond = self.made - REST_ROUNDING * self.size;
        // A NaN is beyond everything.
        if beyond <= 0.0 {
            0.0
        } else {
            beyond / (self.turned_over() + self.fall)
        }
    }
}

/// Energy that a step turned over, which its errors compare with (J).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Turnover {
    /// Sum of the sizes of all entries of the ledger, but for the change of the kinetic energy and
    /// the numerical part. Friction and impacts are one: the law of an impact leaves open what part
    /// of its work is friction's.
    pub moved: f64,
    /// Energy that the method made or lost: of a step that was taken in parts, the sum of the sizes
    /// of all of them. A part that strains a stiff spring by its error and one that takes the
    /// strain back turn over nothing.
    pub unaccounted: f64,
    /// Kinetic energy at the end at which it is larger.
    pub kinetic: f64,
    /// Kinetic energy of a fall from rest in the time of the step, beside which what is at rest has
    /// none.
    pub fall: f64,
    /// Size of the energies whose difference the ledger is: kinetic energy and size of the
    /// potential one at the end.
    pub size: f64,
    /// Whether overlap is taken back by velocities, so that contacts may bring in energy.
    pub by_velocity: bool,
}

/// Energy of a step that dampers, and that contacts brought in (J).
fn passive(ledger: &Ledger, by_velocity: bool) -> [f64; 2] {
    let of_contacts = if by_velocity {
        0.0
    } else {
        ledger.friction + ledger.impacts
    };
    [ledger.damping, of_contacts]
}

impl Turnover {
    /// That of a step with this ledger and energies at its end, in which a fall from rest comes to
    /// the kinetic energy `fall` (J), and overlap is taken back by velocities or not.
    pub(crate) fn of(ledger: &Ledger, end: &Energies, fall: f64, by_velocity: bool) -> Self {
        let moved = [
            ledger.potential,
            ledger.forces,
            ledger.motion,
            ledger.motors,
            ledger.inputs,
            ledger.damping,
            ledger.friction + ledger.impacts,
            ledger.corrections,
            ledger.removed,
        ];
        Self {
            moved: moved.iter().map(|w| w.abs()).sum(),
            unaccounted: ledger.numerical.abs(),
            kinetic: end.kinetic.max(end.kinetic - ledger.kinetic),
            fall,
            size: end.kinetic + end.potential.abs(),
            by_velocity,
        }
    }

    /// All of it, with what the method made or lost, which its losses compare with.
    pub fn total(&self) -> f64 {
        self.moved + self.kinetic + self.fall
    }

    /// All of it, less what the method made or lost, which its gains compare with.
    pub fn accounted(&self) -> f64 {
        (self.moved + self.kinetic - self.unaccounted).max(0.0) + self.fall
    }

    /// That of two steps, one after the other.
    fn with(self, earlier: Self) -> Self {
        Self {
            moved: self.moved + earlier.moved,
            unaccounted: self.unaccounted + earlier.unaccounted,
            kinetic: self.kinetic.max(earlier.kinetic),
            // The square of a time.
            fall: (self.fall.sqrt() + earlier.fall.sqrt()).powi(2),
            size: self.size.max(earlier.size),
            by_velocity: self.by_velocity,
        }
    }

    /// The certificate of a step that turned over so much.
    pub(crate) fn judge(self, ledger: &Ledger, since_start: EnergyBudget) -> EnergyCertificate {
        EnergyCertificate {
            numerical: ledger.numerical,
            impacts: if self.by_velocity {
                -ledger.impacts.abs()
            } else {
                ledger.impacts.min(0.0)
            },
            passive: passive(ledger, self.by_velocity).into_iter().fold(0.0, worse),
            turnover: self,
            since_start,
        }
    }
}

/// Whether the forces of constraints and contacts are determined by the motion.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Multipliers {
    /// Hard rows that depend on others: of all forces with the same motion, those of least norm are
    /// taken.
    pub redundant: usize,
    /// Contacts with a force in islands of which there are several sets of forces with the same
    /// motion: the solver comes to one near that of the last step.
    pub shared: usize,
    /// Contacts with a force, of which it is not known whether they share it in one way only: of
    /// large islands with less forces than ways to move, and of those at the edge of slipping or
    /// bearing.
    pub unexamined: usize,
}

impl Multipliers {
    /// Whether there is one set of forces only; `None` if that is not known.
    pub fn are_unique(&self) -> Option<bool> {
        match (self.redundant + self.shared, self.unexamined) {
            (0, 0) => Some(true),
            (0, _) => None,
            _ => Some(false),
        }
    }

    fn with(self, earlier: Self) -> Self {
        Self {
            redundant: self.redundant.max(earlier.redundant),
            shared: self.shared.max(earlier.shared),
            unexamined: self.unexamined.max(earlier.unexamined),
        }
    }
}

/// Estimate of the error that one step adds to a smooth motion: its term of lowest order. What
/// jumps, such as the force of a contact that closes, is not in it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LocalError {
    /// Largest error of a coordinate (m, rad).
    pub position: f64,
    /// Largest error of a velocity (m/s, rad/s).
    pub velocity: f64,
}

/// Whether a step stands that was solved but whose energy is off.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename = "accuracy")
)]
pub enum Accuracy {
    /// Taken in halves where the method may, else an error:
    /// [`Error::NotCertified`](crate::Error::NotCertified).
    Certified(Tolerances),
    /// The step stands, and the report says how much it is off.
    Measured,
}

/// Largest parts of a [`Certificate`] that no solver bounds.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename = "accuracy", default, deny_unknown_fields)
)]
pub struct Tolerances {
    /// The largest energy that the method may make in a step, as a share of what the step or the
    /// motion turned over, whichever is more (none).
    pub gain: f64,
    /// The largest energy that dampers, friction and impacts may bring in, as the same share
    /// (none).
    pub passive_gain: f64,
    /// The largest energy from nowhere since the start, as a share of all that could turn over
    /// ([`EnergyBudget::share`], none).
    pub since_start: f64,
}

impl Default for Tolerances {
    /// A thousandth of the energy that is turned over for a step, and all of it for a motion.
    fn default() -> Self {
        Self {
            gain: 1e-3,
            passive_gain: 1e-3,
            since_start: 1.0,
        }
    }
}

impl Tolerances {
    /// Tolerances for methods whose energy swings from step to step, or that are not taken in
    /// halves: they bound only what a motion as a whole makes.
    pub const SINCE_START: Self = Self {
        gain: f64::INFINITY,
        passive_gain: f64::INFINITY,
        since_start: 1.0,
    };
}

/// A part of the certificate of the energy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EnergyPart {
    /// Energy that the method made in a step.
    Gain,
    /// Energy that dampers, or friction and impacts, brought in.
    PassiveGain,
    /// Energy that came from nowhere since the start of the motion.
    SinceStart,
}

/// A part of a certificate that is beyond its tolerance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Excess {
    /// The part.
    pub part: EnergyPart,
    /// The energy (J).
    pub energy: f64,
    /// The energy as a share of what the step or the motion turned over, whichever is more.
    pub share: f64,
    /// The share allowed.
    pub allowed: f64,
}

impl EnergyCertificate {
    /// The first part that is beyond its tolerance; a number that is none is beyond all. A step
    /// compares with what the motion has turned over, where that is more than the step did: what
    /// comes to rest turns over nothing any more.
    pub fn excess(&self, tolerances: &Tolerances) -> Option<Excess> {
        let Tolerances {
            gain,
            passive_gain,
            since_start,
        } = *tolerances;
        let budget = &self.since_start;
        let turned_over = self.turnover.accounted().max(budget.turned_over() + budget.fall);
        let parts = [
            (
                EnergyPart::Gain,
                self.numerical,
                self.share(self.numerical + self.impacts, turned_over),
                gain,
            ),
            (
                EnergyPart::PassiveGain,
                self.passive,
                self.share(self.passive, turned_over),
                passive_gain,
            ),
            (EnergyPart::SinceStart, budget.made, budget.share(), since_start),
        ];
        let beyond = |part: &(EnergyPart, f64, f64, f64)| part.2.is_nan() || part.2 > part.3;
        let (part, energy, share, allowed) = parts.into_iter().find(beyond)?;
        Some(Excess {
            part,
            energy,
            share,
            allowed,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_step(numerical: f64, potential: f64, kinetic: f64, fall: f64) -> (Ledger, Turnover) {
        let ledger = Ledger {
            potential,
            numerical,
            ..Ledger::default()
        };
        let end = Energies {
            kinetic,
            potential: 0.0,
        };
        (ledger, Turnover::of(&ledger, &end, fall, false))
    }

    fn certificate(ledger: &Ledger, turnover: Turnover) -> Certificate {
        let budget = EnergyBudget::default().after(ledger, &turnover, 0.0);
        Certificate {
            energy: turnover.judge(ledger, budget),
            local_error: Some(LocalError {
                position: 1.0,
                velocity: 2.0,
            }),
            ..Certificate::default()
        }
    }

    /// Of two halves the energy is that of the sums: a gain of one makes up for a loss of the
    /// other, and a fall goes with the square of the time.
    #[test]
    fn two_parts_are_one_step() {
        let (a, of_a) = of_step(0.5, -2.0, 3.0, 1.0);
        let (b, of_b) = of_step(-0.25, 1.0, 5.0, 4.0);
        let mut both = certificate(&b, of_b);
        let mut ledger = a;
        ledger += b;
        both.take_in(&certificate(&a, of_a), &ledger);
        let energy = both.energy;
        assert_eq!(energy.numerical, 0.25);
        assert_eq!(energy.turnover.total(), 3.0 + 5.0 + 9.0);
        // A quarter was made, and half of it before.
        let expected = (0.25 - ENERGY_ROUNDING * 5.0) / (17.0 - 0.75);
        assert!((energy.gain() - expected).abs() < 1e-15);
        assert_eq!(energy.loss(), 0.0);
        let error = both.local_error.unwrap();
        assert_eq!((error.position, error.velocity), (2.0, 4.0));
    }

    /// A part that strains a spring by its error, and one that takes the strain back, turn over
    /// nothing that a gain of both would be small beside; nor do friction and impacts of one
    /// contact that take each other's work.
    #[test]
    fn errors_of_parts_turn_over_nothing() {
        let (a, of_a) = of_step(1e3, 1e3, 1.0, 0.0);
        let (b, of_b) = of_step(-1e3 + 0.5, -1e3, 1.0, 0.0);
        let mut both = certificate(&b, of_b);
        let mut ledger = a;
        ledger += b;
        both.take_in(&certificate(&a, of_a), &ledger);
        assert_eq!(both.energy.turnover.total(), 2e3 + 1.0);
        assert_eq!(both.energy.turnover.accounted(), 1.0 + 0.5);
        let jam = Ledger {
            friction: 1e6,
            impacts: -1e6 - 2.0,
            ..Ledger::default()
        };
        let end = Energies {
            kinetic: 3.0,
            potential: 0.0,
        };
        assert_eq!(Turnover::of(&jam, &end, 0.0, false).accounted(), 5.0);
    }

    /// The sum since the start has gains that no impact of the same step took, and all losses;
    /// energy of friction that an impact took is none; drives are added up without sign.
    #[test]
    fn the_budget_adds_up_what_came_from_nowhere() {
        let after = |before: EnergyBudget, ledger: Ledger, by_velocity| {
            let end = Energies {
                kinetic: 3.0,
                potential: 0.0,
            };
            let turnover = Turnover::of(&ledger, &end, 0.5, by_velocity);
            before.after(&ledger, &turnover, -1.0)
        };
        let start = EnergyBudget::begin(&Energies {
            kinetic: 2.0,
            potential: 4.0,
        });
        for (numerical, impacts, friction, made) in [
            (0.5, 0.0, 0.0, 0.5),
            (0.5, -2.0, 0.0, 0.0),
            (0.5, -0.125, 0.0, 0.375),
            (-0.5, -2.0, 0.0, -0.5),
            (0.0, 1.0, 0.0, 1.0),
            (0.0, -1.0, 0.5, 0.0),
        ] {
            let ledger = Ledger {
                numerical,
                impacts,
                friction,
                motors: -1.0,
                forces: 2.0,
                ..Ledger::default()
            };
            let budget = after(start, ledger, false);
            assert_eq!(budget.made, made, "{ledger:?}");
            assert_eq!((budget.worked, budget.lowest, budget.fall), (3.0, -1.0, 0.5));
            assert_eq!(budget.turned_over(), 2.0 + 3.0 + 5.0);
            let twice = after(budget, ledger, false);
            assert_eq!((twice.made, twice.worked), (2.0 * made, 6.0));
        }
        // What contacts push out by velocities is work, not energy from nowhere.
        let pushed = Ledger {
            impacts: 1.0,
            numerical: 0.5,
            ..Ledger::default()
        };
        let budget = after(start, pushed, true);
        assert_eq!((budget.made, budget.worked), (0.0, 1.0));
    }

    /// An impact takes more than the method makes of it; alone, that is made of nothing. A motion
    /// that has turned over much is not off by the small energies of its end.
    #[test]
    fn a_gain_is_beyond_what_impacts_take_and_beside_all_that_turned_over() {
        let (mut ledger, turnover) = of_step(0.01, 0.0, 1.0, 0.0);
        let budget = EnergyBudget::default();
        let tolerances = Tolerances::default();
        let excess = turnover.judge(&ledger, budget).excess(&tolerances).unwrap();
        assert_eq!((excess.part, excess.allowed), (EnergyPart::Gain, 1e-3));
        let of_long_motion = EnergyBudget {
            kinetic: 1e3,
            ..budget
        };
        assert_eq!(turnover.judge(&ledger, of_long_motion).excess(&tolerances), None);
        ledger.impacts = -0.02;
        assert_eq!(turnover.judge(&ledger, budget).excess(&tolerances), None);
        ledger.friction = 0.1;
        let excess = turnover.judge(&ledger, budget).excess(&tolerances).unwrap();
        assert_eq!(excess.part, EnergyPart::PassiveGain);
        ledger.numerical = f64::NAN;
        let energy = turnover.judge(&ledger, budget);
        assert_eq!(energy.excess(&tolerances).unwrap().part, EnergyPart::Gain);
    }
}
