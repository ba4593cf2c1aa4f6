//! Rest by the equations of rest, without time: equilibria, and paths of them over a load factor.

use crate::{Control, Error};
use pliant_model::{ComponentId, State};

/// How an equilibrium is looked for.
///
/// **Equation.** `0 = f(x) + J^T lambda`, `C lambda = -phi` or `phi = 0` with the hard rows, and
/// rows of bounded force by their law; contacts push, `0 <= r_n`, `0 <= phi + C r_n`, one of them
/// zero, with friction against the way slipped; velocities are zero, and masses only weigh.
///
/// **Use.** `Newton` for all models; the others to compare with, and where Newton's tangents are
/// too dear.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename = "method")
)]
pub enum StaticMethod {
    /// Newton's method, damped by the natural monotonicity test (Deuflhard 2004, NLEQ-ERR). Where
    /// the method fails or ends at a saddle, the pseudo-static flow goes first, unless the saddle
    /// is where the symmetry of the start leads: of a column that is pressed exactly along its
    /// axis.
    #[default]
    Newton,
    /// The pseudo-static flow `s D dx = f + J^T lambda`, one linearly implicit step for each of the
    /// falling resistances `s` (N/m), down to a minimum; Newton's method only ends it.
    PseudoStatic,
    /// Dynamic relaxation: explicit steps of 1 s with fictitious masses from the rows of the
    /// stiffness matrix (Gershgorin), whose velocities are set to zero at peaks of kinetic energy
    /// (kinetic damping: Cundall 1976, Barnes 1988). No hard rows, no rigid bodies, no contacts.
    DynamicRelaxation,
    /// Nonlinear conjugate gradients (Polak and Ribière), preconditioned by the same masses as
    /// stiffnesses, with a search along each direction: no factor, some tenfold fewer iterations than
    /// relaxation where it converges slowly. No hard rows, no contacts.
    ConjugateGradients,
}

impl StaticMethod {
    /// The method without a factor that it is, in words; none of the others.
    pub(crate) fn without_factor(self) -> Option<&'static str> {
        match self {
            Self::Newton | Self::PseudoStatic => None,
            Self::DynamicRelaxation => Some("dynamic relaxation"),
            Self::ConjugateGradients => Some("conjugate gradients"),
        }
    }
}

/// How to look for an equilibrium.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Equilibrium {
    /// The method.
    pub method: StaticMethod,
    /// Largest force that may be missing, as a share of the size of the terms of its equation,
    /// beyond the rounding of positions and of the largest force of all that is connected; in
    /// `(0, 1)`.
    pub tolerance: f64,
    /// Iterations of all kinds at most; of dynamic relaxation, steps.
    pub max_iterations: usize,
}

impl Default for Equilibrium {
    fn default() -> Self {
        Self {
            method: StaticMethod::Newton,
            tolerance: 1e-10,
            max_iterations: 1000,
        }
    }
}

impl Equilibrium {
    /// Conjugate gradients, which take many iterations without a factor.
    pub fn conjugate_gradients() -> Self {
        Self {
            method: StaticMethod::ConjugateGradients,
            max_iterations: 100_000,
            ..Self::default()
        }
    }

    /// Dynamic relaxation, which takes many cheap steps.
    pub fn relaxation() -> Self {
        Self {
            method: StaticMethod::DynamicRelaxation,
            max_iterations: 1_000_000,
            ..Self::default()
        }
    }
}

/// The loads that a load factor scales; all others stay whole.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Loads {
    /// Gravity.
    pub gravity: bool,
    /// The forces that were set from outside
    /// ([`Simulation::set_force`](crate::Simulation::set_force)).
    pub forces: bool,
    /// Force fields treated as stiffnesses, whose force is scaled; driven constraints and
    /// compliances, whose motion is.
    pub components: Vec<ComponentId>,
}

/// How a path of equilibria is followed.
///
/// **Equation.** `0 = F_0(x, lambda) + p F_1(x, lambda)` over the load factor `p`, the loads named
/// being `F_1`.
///
/// **Use.** Buckling, snap-through and snap-back; load steps of what does not converge at once.
/// Bifurcations are found and passed, not switched: a small load that breaks the symmetry leads
/// onto the other branch.
#[derive(Clone, Debug, PartialEq)]
pub struct Continuation {
    /// Loads that the factor scales.
    pub loads: Loads,
    /// Load factor of the first point (none).
    pub start: f64,
    /// The path ends where the factor (none) passes this. With arc length it may turn back before.
    pub end: f64,
    /// Change of the load factor in the first step (none); its sign is that of `end - start`.
    pub step: f64,
    /// Change of the load factor in a step at most (none).
    pub largest_step: f64,
    /// Parameter that the path is followed by.
    pub control: Control,
    /// Points at most.
    pub max_points: usize,
    /// Iterations that a step should take; it gets longer where they are fewer.
    pub wanted_iterations: usize,
    /// Tolerance of every point (none), as in [`Equilibrium`].
    pub tolerance: f64,
    /// Whether critical points are located by bisection, to a millionth of a millionth of a step.
    pub locate: bool,
}

impl Default for Continuation {
    fn default() -> Self {
        Self {
            loads: Loads::default(),
            start: 0.0,
            end: 1.0,
            step: 0.05,
            largest_step: 0.1,
            control: Control::ArcLength,
            max_points: 1000,
            wanted_iterations: 4,
            tolerance: 1e-10,
            locate: true,
        }
    }
}

/// A point of a path.
#[derive(Clone, Debug, PartialEq)]
pub struct PathPoint {
    /// Load factor.
    pub load: f64,
    /// Positions of all nodes; velocities are zero.
    pub state: State,
    /// Multipliers of all rows [N, N m].
    pub multipliers: Vec<f64>,
    /// Negative eigenvalues of the tangent on the constraints. Contacts that are active are rows of
    /// it; how curved surfaces roll on each other is not in it.
    pub negative_modes: usize,
    /// Directions in which nothing resists.
    pub free_modes: usize,
    /// Hard rows that depend on others.
    pub redundant_rows: usize,
    /// As in [`EquilibriumReport`](crate::EquilibriumReport).
    pub residual: f64,
    /// As in [`EquilibriumReport`](crate::EquilibriumReport).
    pub violation: f64,
    /// Iterations from the point before.
    pub iterations: usize,
}

/// Kind of a critical point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CriticalKind {
    /// The load factor turns round: a limit point.
    Limit,
    /// A path that goes on while stability changes: another branch crosses here, or a row comes to
    /// or leaves its bound.
    Bifurcation,
}

/// A point at which the number of negative modes changes.
#[derive(Clone, Debug, PartialEq)]
pub struct CriticalPoint {
    /// Its kind.
    pub kind: CriticalKind,
    /// Load factor there: as located, or in the middle of the two points.
    pub load: f64,
    /// The point of the path before it; the next one is behind it.
    pub after: usize,
    /// Negative modes before and behind.
    pub negative_modes: (usize, usize),
    /// The share of the step from the point before to the next one within which it lies: 1e-12 as
    /// located to rounding, more where the tangent is singular before that, 1 if it was not located.
    pub bracket: f64,
    /// Positions of all nodes within the bracket; velocities are zero.
    pub state: State,
    /// Multipliers of all rows there [N, N m].
    pub multipliers: Vec<f64>,
}

/// How a path ended.
#[derive(Clone, Debug, PartialEq)]
pub enum PathEnd {
    /// The load factor came to its end: the last point has it.
    Reached,
    /// All points allowed were taken.
    Points,
    /// The observer had enough.
    Stopped,
    /// No step is short enough to go on: with [`Control::Load`] most often at a limit point.
    Stuck(Box<Error>),
}

/// A path of equilibria.
#[derive(Clone, Debug, PartialEq)]
pub struct Path {
    /// Its points, in order.
    pub points: Vec<PathPoint>,
    /// Critical points between them, in order.
    pub critical: Vec<CriticalPoint>,
    /// How it ended.
    pub end: PathEnd,
    /// The linear solver of the last tangent.
    pub solver: &'static str,
    /// Tangents factored.
    pub factorisations: usize,
}
