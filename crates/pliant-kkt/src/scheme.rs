//! The time discretisation of one step.

use pliant_model::ComponentId;
use std::sync::Arc;

/// Which part of the geometric stiffness `-G` enters `W`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename = "geometric_stiffness")
)]
pub enum GeometricStiffness {
    /// None of it: transverse motion of taut ropes and sheets is explicit, limited to
    /// `h omega <= 2`.
    None,
    /// All of it: implicit also transversally. `W` may lose definiteness under compression, which
    /// is an error.
    #[default]
    Full,
    /// All of it for elements where `h^2 G` outweighs the mass it acts on, none elsewhere: what is
    /// taut beyond the explicit limit is implicit, what is not keeps its energy (within the first
    /// order of the scheme).
    WhereNeeded,
    /// For the same elements, just enough: the share `1 - 1/S` of it, with the stability number `S`
    /// by which `h^2 G` outweighs the mass. What is left explicit then is at the limit of explicit
    /// steps, with the mass and what was added; from none at `S = 1` up to all of it (the thought
    /// is Andrews, Teichmann and Kry's 2017, who damp by as much).
    JustEnough,
    /// Its positive-semidefinite part, element by element: compression adds nothing.
    PositivePart,
    /// Its absolute value, element by element: compression stiffens like tension. Never an error,
    /// more damping.
    AbsoluteValue,
}

/// Geometric stiffness by the origin of the force.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct GeometricTerms {
    /// Of forces: springs treated as stiffness, gravity on mapped masses.
    pub forces: GeometricStiffness,
    /// Of multipliers: compliant rows and hard constraints, with the multipliers of the last step.
    pub multipliers: GeometricStiffness,
}

/// Geometric stiffness of the forces of one origin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct GeometricOrigin {
    /// The part of it that enters, never [`GeometricStiffness::None`].
    pub(crate) mode: GeometricStiffness,
    /// Whether the forces are those of rows alone. The others are those of all else, and of rows
    /// too where both enter alike.
    pub(crate) from_rows: bool,
}

impl GeometricTerms {
    /// The origins whose geometric stiffness is evaluated apart: one where both enter alike, none
    /// where nothing enters.
    pub(crate) fn origins(self) -> impl Iterator<Item = GeometricOrigin> {
        let rows = Some(self.multipliers).filter(|mode| *mode != self.forces);
        let all = [(Some(self.forces), false), (rows, true)];
        all.into_iter().filter_map(|(mode, from_rows)| {
            let mode = mode.filter(|mode| *mode != GeometricStiffness::None)?;
            Some(GeometricOrigin { mode, from_rows })
        })
    }

    /// No geometric stiffness at all.
    pub const NONE: Self = Self {
        forces: GeometricStiffness::None,
        multipliers: GeometricStiffness::None,
    };

    /// The choice with the absolute value wherever there is geometric stiffness: always positive
    /// semidefinite.
    #[must_use]
    pub fn clamped(self) -> Self {
        let clamp = |mode| match mode {
            GeometricStiffness::None => GeometricStiffness::None,
            _ => GeometricStiffness::AbsoluteValue,
        };
        Self {
            forces: clamp(self.forces),
            multipliers: clamp(self.multipliers),
        }
    }
}

/// One step of the two-parameter family of theory/step.md of the book.
#[derive(Clone, Debug, PartialEq)]
pub struct Scheme {
    /// Time step `h` (s), positive.
    pub h: f64,
    /// Weight of the end of the step in forces, in `(0, 1]`.
    pub alpha: f64,
    /// Weight of the end of the step in velocities, in `(0, 1]`.
    pub beta: f64,
    /// Components with an alpha of their own (a very stiff compliant row wants 1 where the rest has
    /// 1/2).
    pub own_alpha: Arc<[(ComponentId, f64)]>,
    /// Geometric stiffness.
    pub geometry: GeometricTerms,
    /// Hard position rows become velocity rows, because stabilisation corrects positions.
    pub velocity_rows: bool,
}

impl Scheme {
    /// Implicit Euler with step `h`.
    pub fn implicit_euler(h: f64) -> Self {
        Self {
            h,
            alpha: 1.0,
            beta: 1.0,
            own_alpha: Arc::default(),
            geometry: GeometricTerms::default(),
            velocity_rows: false,
        }
    }

    /// A copy with another geometric stiffness.
    #[must_use]
    pub fn with_geometry(&self, geometry: GeometricTerms) -> Self {
        Self {
            geometry,
            ..self.clone()
        }
    }

    /// A copy with other weights.
    #[must_use]
    pub fn with_weights(&self, alpha: f64, beta: f64) -> Self {
        Self {
            alpha,
            beta,
            ..self.clone()
        }
    }

    /// A copy with another length of the step (s).
    #[must_use]
    pub fn with_step(&self, h: f64) -> Self {
        Self { h, ..self.clone() }
    }

    /// Whether forces and rows are those of the end of the step alone: every weight is 1.
    pub fn weighs_the_end_alone(&self) -> bool {
        self.alpha == 1.0 && self.own_alpha.iter().all(|(_, a)| *a == 1.0)
    }

    /// The alpha of a component: its own, or that of all.
    pub fn alpha_of(&self, component: ComponentId) -> f64 {
        self.own_alpha
            .iter()
            .find(|(c, _)| *c == component)
            .map_or(self.alpha, |(_, a)| *a)
    }
}
