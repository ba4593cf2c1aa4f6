//! Muscles with a tendon: Hill's fibre under an angle, and an elastic or a rigid tendon behind it.

mod activation;
mod bezier;
mod curves;
mod elastic;
mod fibre;
mod laws;
mod millard;
mod thelen;

pub use activation::ActivationDynamics;

use curves::Curves;

/// A muscle with its tendon along its path, on the full length `l` (m): a
/// [`Distance`](crate::Distance) or a [`Rope`](crate::Rope) without rest length.
///
/// **Equation.** The tension is `f_max f_T((l_t/l_s - 1)/e)` of the tendon, and
/// `f_max (a f_L f_V + f_P + b u) cos(alpha)` of the fibre of length `l_f`, with the path
/// `l = l_t + l_f cos(alpha)`, the constant thickness `l_f sin(alpha)` and `u` the rate of `l_f`
/// over `v_max` optimal lengths per second, positive when it lengthens. Active force-length `f_L`,
/// force-velocity `f_V`, passive `f_P` and tendon `f_T` are the curves of Thelen (2003), whose
/// largest speed is `v_max (1/4 + 3 a/4)`, or the quintic Bezier curves of Millard, Uchida, Seth
/// and Delp (2013). An elastic tendon makes the fibre length an internal variable: over a step of
/// the time `t` the fibre goes at the speed that makes both tensions the same at its end (implicit
/// Euler); `t = 0` leaves the tendon alone, rest for ever has `u = 0`. With a rigid tendon
/// `l_t = l_s`, the tension is that of the fibre and never below zero. Energy of tendon, of `f_P`
/// and of `a f_L` from its start; what `f_V` and `b` take is dissipated, and what a change of
/// `a` brings counts as inputs do. The inputs are the activations `a`, or the excitations that `a`
/// follows by [`ActivationDynamics`].
///
/// **Use.** Skeletal muscle as in OpenSim and ArtiSynth. No activation is too small: the force of
/// the fibre is never inverted for its speed. A fibre stops where it is as short as .01 (Thelen) or
/// .4441 (Millard) optimal lengths, or where its angle has the cosine .1. With an elastic tendon as
/// a stiffness with a past: not in explicit methods, RATTLE and gradients.
#[derive(Clone, Debug, PartialEq)]
pub struct MuscleTendon {
    curves: Curves,
    force: f64,
    optimal: f64,
    slack: f64,
    pennation: f64,
    speed: f64,
    damping: f64,
    strain: f64,
    rigid: bool,
    dynamics: Option<ActivationDynamics>,
    inputs: Vec<f64>,
}

impl MuscleTendon {
    /// With the curves of Thelen (2003): largest isometric force `f_max` (N), optimal length of the
    /// fibre (m), slack length `l_s` of the tendon (m). No pennation, 10 optimal lengths per
    /// second, no damping of the fibre, an elastic tendon with a strain of .033 at `f_max`.
    pub fn thelen(force: f64, optimal_length: f64, tendon_length: f64) -> Self {
        Self {
            curves: Curves::Thelen,
            force,
            optimal: optimal_length,
            slack: tendon_length,
            pennation: 0.0,
            speed: 10.0,
            damping: 0.0,
            strain: 0.033,
            rigid: false,
            dynamics: None,
            inputs: vec![0.0],
        }
    }

    /// With the curves of Millard et al. (2013), with numbers as [`thelen`](Self::thelen) (N, m);
    /// the damping of the fibre is .1, and the strain of the tendon .049 at `f_max`.
    pub fn millard(force: f64, optimal_length: f64, tendon_length: f64) -> Self {
        Self {
            curves: Curves::Millard,
            damping: 0.1,
            strain: 0.049,
            ..Self::thelen(force, optimal_length, tendon_length)
        }
    }

    /// Sets the angle (rad) between fibre and tendon where the fibre has its optimal length.
    #[must_use]
    pub fn with_pennation(mut self, angle: f64) -> Self {
        self.pennation = angle;
        self
    }

    /// Sets the largest speed of shortening `v_max` (optimal lengths per second), positive.
    #[must_use]
    pub fn with_speed(mut self, speed: f64) -> Self {
        self.speed = speed;
        self
    }

    /// Sets the damping `b` of the fibre (none), zero or more: a force as a share of `f_max` at the
    /// largest speed of shortening.
    #[must_use]
    pub fn with_fibre_damping(mut self, b: f64) -> Self {
        self.damping = b;
        self
    }

    /// Sets the strain `e` of the tendon (none) at `f_max`, positive.
    #[must_use]
    pub fn with_tendon_strain(mut self, strain: f64) -> Self {
        self.strain = strain;
        self
    }

    /// Makes the tendon rigid. The muscle is then without a past, and takes activations as they
    /// are.
    #[must_use]
    pub fn with_rigid_tendon(mut self) -> Self {
        self.rigid = true;
        self
    }

    /// Makes the inputs excitations, which the activations follow. The muscle begins with
    /// activations like the excitations that are set here.
    #[must_use]
    pub fn with_dynamics(mut self, dynamics: ActivationDynamics) -> Self {
        self.dynamics = Some(dynamics);
        self
    }

    /// Sets the activations, with activation dynamics the excitations (none), between 0 and 1: one
    /// for each element of the node, or one for all. Set outside that range while the model is
    /// simulated, the model refuses it.
    #[must_use]
    pub fn with_excitations(mut self, excitations: &[f64]) -> Self {
        self.inputs = excitations.to_vec();
        self
    }

    /// The length of the fibre of each element (m), from the internal variables of the muscle; none
    /// with a rigid tendon.
    pub fn fibre_lengths<'a>(&self, internal: &'a [f64]) -> impl Iterator<Item = f64> + use<'a> {
        internal.chunks_exact(self.variables()).map(|own| own[0])
    }

    /// The activation of each element (none), from the internal variables of the muscle; none
    /// without activation dynamics.
    pub fn activations<'a>(&self, internal: &'a [f64]) -> impl Iterator<Item = f64> + use<'a> {
        internal
            .chunks_exact(self.variables())
            .filter_map(|own| own.get(1).copied())
    }

    /// Internal variables of an element with an elastic tendon: the length of the fibre, and its
    /// activation if that is no input.
    fn variables(&self) -> usize {
        1 + usize::from(self.dynamics.is_some())
    }
}
