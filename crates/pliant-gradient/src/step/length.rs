//! How the end of a step moves with its length, and how its contacts do with a parameter: what the times
//! of located impacts are made of.

use super::StepDerivative;
use super::forwards::{Way, solve_forwards};
use crate::implicit::Implicit;
use crate::kinematics::gather;
use crate::{GradientError, SolveReport, StateVector};

impl StepDerivative {
    /// The derivative of the end by the length of the step, its start held: of displacements (m/s,
    /// rad/s) and of velocities (m/s^2, rad/s^2).
    ///
    /// # Errors
    /// [`GradientError::NotBuilt`] for steps of BDF2, and where rows are driven over time; those of
    /// [`tangent`](Self::tangent).
    pub fn by_length(&mut self, out: &mut StateVector) -> Result<SolveReport, GradientError> {
        self.implicit.check_placed()?;
        if self.staged.placed().is_some() {
            return Err(GradientError::NotBuilt {
                what: "a step of SDIRK2 by its length".to_owned(),
                why: "take `Integrator::Nonlinear`",
            });
        }
        let relation = self.relation;
        let span = relation.inertia_span();
        let Implicit {
            equations,
            linearised,
            saddle,
            kept,
            ..
        } = &mut self.implicit;
        let problem = &equations.problem;
        let driven = problem.row_groups().iter().find(|g| problem.motion(g).is_some());
        let refused = match driven {
            Some(group) => Some(problem.component_name(group.component).to_owned()),
            None if self.active.smoothed > 0 => Some("smoothed contacts".to_owned()),
            None if linearised.contacts.are_predicted() => {
                Some("a contact where fast bodies meet".to_owned())
            }
            None => (relation.by_displacement != 0.0).then(|| "a step of BDF2".to_owned()),
        };
        if let Some(name) = refused {
            return Err(GradientError::NotBuilt {
                what: format!("`{name}` by the length of a step"),
                why: "where it is at another time is not built",
            });
        }
        let retraction = &self.retraction;
        let [velocity, still, given, scaled] = &mut self.room;
        gather(problem, &kept.end.velocities, velocity);
        for (g, (end, start)) in given.iter_mut().zip(velocity.iter().zip(&kept.start_velocity)) {
            *g = end - start;
        }
        linearised.inertia(equations, given, scaled);
        // Positions move by the mean of both velocities.
        let beta = relation.weights.beta;
        for (v, start) in velocity.iter_mut().zip(&kept.start_velocity) {
            *v = beta * *v + (1.0 - beta) * start;
        }
        given.clone_from(velocity);
        retraction.of_displacement(given);
        still.fill(0.0);
        let [r, s] = &mut saddle.rhs;
        linearised.apply(equations, [given, still], &self.rows[0], [r, s]);
        r.iter_mut()
            .zip(&*scaled)
            .for_each(|(r, m)| *r -= m / (span * relation.span));
        linearised
            .contacts
            .by_length(&self.start.velocities, &mut s[equations.problem.row_count()..]);
        let way = Way {
            retraction,
            reach: relation.reach,
        };
        let report = solve_forwards(&mut self.implicit, &mut self.start_equations, way, given)?;
        let saddle = &self.implicit.saddle;
        let accelerated = &saddle.answer[0];
        out.v.clone_from(accelerated);
        velocity
            .iter_mut()
            .zip(accelerated)
            .for_each(|(v, a)| *v += relation.reach * a);
        retraction.of_displacement(velocity);
        out.x.clone_from(velocity);
        Ok(report)
    }

    /// How the gap of a contact at the start of the step moves with the parameter that
    /// [`by_parameter`](Self::by_parameter) was asked for last, the state held (m for one of it).
    pub fn gap_by_parameter(&self, contact: usize) -> f64 {
        self.changes.gap(contact)
    }
}
