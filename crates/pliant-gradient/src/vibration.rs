//! How the eigenvalues of vibrations about rest move with parameters.

use crate::equations::KeptMoment;
use crate::implicit::{Implicit, SOLVED};
use crate::kinematics::gather;
use crate::linearised::Linearised;
use crate::{Family, GradientError, check_length};
use pliant_model::{Problem, State};

/// A mode of vibration about a state of rest.
#[derive(Clone, Copy, Debug)]
pub struct VibrationMode<'a> {
    /// `omega^2` (rad^2/s^2); of any sign.
    pub eigenvalue: f64,
    /// Its shape, by velocities of all nodes, in the order of [`State::velocities`].
    pub velocities: &'a [f64],
    /// Multipliers of its rows, for positions of this shape.
    pub multipliers: &'a [f64],
}

/// The load whose factor comes to a limit.
#[derive(Clone, Copy, Debug)]
pub enum CriticalLoad<'a> {
    /// A parameter of the family: a factor of gravity, of a pressure, the place of a driven row.
    Parameter(usize),
    /// Forces from outside on all nodes, in the order of [`State::velocities`], for a factor of one.
    Force(&'a [f64]),
}

/// A mode that was found to solve its equations, over the independent coordinates (n) and rows (m).
pub(crate) struct Shape {
    eigenvalue: f64,
    u: Vec<f64>,
    multipliers: Vec<f64>,
    /// `u^T M u`.
    mass: f64,
}

impl Shape {
    /// Takes a mode about the placed state.
    ///
    /// # Errors
    /// [`GradientError::Length`], [`GradientError::NotSolved`].
    pub(crate) fn of(at: &mut Implicit, mode: &VibrationMode<'_>) -> Result<Self, GradientError> {
        Self::checked(at, mode, false)
    }

    /// Takes a mode about the placed state as one without stiffness, which it is but for a millionth
    /// of the stiffness of the model.
    ///
    /// # Errors
    /// Those of [`of`](Self::of).
    pub(crate) fn without_stiffness(
        at: &mut Implicit,
        mode: &VibrationMode<'_>,
    ) -> Result<Self, GradientError> {
        let mode = VibrationMode {
            eigenvalue: 0.0,
            ..*mode
        };
        Self::checked(at, &mode, true)
    }

    /// Takes a mode if it misses at most a millionth of its equations; `by_model` compares with the
    /// stiffness of the model, and the work of the mode with that of laws and rows along it.
    fn checked(at: &mut Implicit, mode: &VibrationMode<'_>, by_model: bool) -> Result<Self, GradientError> {
        let problem = at.problem();
        let (n, m) = (problem.dof_count(), problem.row_count());
        check_length(
            "the shape of a mode",
            problem.velocity_count(),
            mode.velocities.len(),
        )?;
        check_length("multipliers of a mode", m, mode.multipliers.len())?;
        let mut u = vec![0.0; n];
        gather(problem, mode.velocities, &mut u);
        let still = vec![0.0; n];
        let Implicit {
            equations,
            linearised,
            kept,
            ..
        } = at;
        let size = |list: &[f64]| list.iter().fold(0.0f64, |l, x| l.max(x.abs()));
        let [mut inertia, mut dr, mut back, mut unused] = [(); 4].map(|()| vec![0.0; n]);
        let [mut ds, mut on_rows] = [(); 2].map(|()| vec![0.0; m]);
        // The stiffness of the model: the forces of a displacement as large as the shape, whose
        // entries have both signs.
        let mut scale = 0.0f64;
        if by_model {
            let rough: Vec<f64> = (0..n).map(|k| size(&u) * (1.0 + k as f64).sin()).collect();
            linearised.apply(equations, [&rough, &still], &vec![0.0; m], [&mut dr, &mut ds]);
            scale = size(&dr);
        }
        linearised.inertia(equations, &u, &mut inertia);
        linearised.apply(equations, [&u, &still], mode.multipliers, [&mut dr, &mut ds]);
        // The transposed equations, with the weights of the other side.
        let weights: Vec<f64> = mode.multipliers.iter().map(|l| -l).collect();
        linearised.apply_transposed(equations, [&u, &weights], [&mut back, &mut unused, &mut on_rows]);
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let whole = dot(&u, &dr).abs();
        let mass = dot(&u, &inertia);
        let scale = scale.max(size(&dr)).max(mode.eigenvalue.abs() * size(&inertia));
        let mut worst = (0, 0.0);
        for k in (0..n).filter(|k| !kept.fixed[*k]) {
            for product in [dr[k], back[k]] {
                let off = (product - mode.eigenvalue * inertia[k]).abs() / scale;
                if off > worst.1 || (off.is_nan() && worst.1 >= 0.0) {
                    worst = (k, off);
                }
            }
        }
        let free = |k: &usize| !linearised.laws.at_bound[*k];
        let of_rows = (0..m).filter(free).flat_map(|k| [ds[k].abs(), on_rows[k].abs()]);
        let rows_off = of_rows.fold(0.0, f64::max) / size(&u).max(f64::MIN_POSITIVE);
        // A shape of nothing, or of numbers that are none, is no solution either.
        let mut share = match worst.1 >= 0.0 && mass > 0.0 {
            true => worst.1.max(rows_off),
            false => f64::INFINITY,
        };
        if by_model {
            // What laws and rows resist with, geometric stiffness has to take away.
            let by_laws = linearised.work_of_laws(equations, &u);
            linearised.apply(equations, [&u, &still], &vec![0.0; m], [&mut dr, &mut ds]);
            let by_rows = dot(mode.multipliers, &ds);
            share = share.max(whole / (by_laws.abs() + by_rows.abs()));
        }
        if share > SOLVED || !share.is_finite() {
            return Err(GradientError::NotSolved {
                place: format!(
                    "a mode of vibration, at {}",
                    equations.problem.describe_dof(worst.0)
                ),
                share,
                limit: SOLVED,
            });
        }
        Ok(Self {
            eigenvalue: mode.eigenvalue,
            mass,
            multipliers: mode.multipliers.to_vec(),
            u,
        })
    }

    /// The work `w^T (dr, ds)` of a change of the equations with the weights `w = (u, -l)`, and the
    /// most that changes of these sizes can do.
    pub(crate) fn work(&self, [dr, ds]: [&[f64]; 2]) -> [f64; 2] {
        let mut out = [0.0, 0.0];
        for (weights, changes, sign) in [(&self.u, dr, 1.0), (&self.multipliers, ds, -1.0)] {
            let largest = weights.iter().fold(0.0f64, |a, w| a.max(w.abs()));
            for (w, change) in weights.iter().zip(changes) {
                out[0] += sign * w * change;
                out[1] += largest * change.abs();
            }
        }
        out
    }

    /// The derivative of the eigenvalue by a parameter, with which the independent coordinates and
    /// the multipliers of rest move like this.
    pub(crate) fn eigenvalue_by(
        &self,
        at: &Implicit,
        family: &mut Family,
        parameter: usize,
        [x, multipliers]: [&[f64]; 2],
    ) -> Result<f64, GradientError> {
        let problem = at.problem();
        let (n, m) = (problem.dof_count(), problem.row_count());
        let mut moment = KeptMoment {
            time: at.kept.time,
            ..KeptMoment::default()
        };
        moment.take(
            &at.kept.end,
            &at.kept.multipliers,
            &at.kept.external,
            &at.kept.fixed,
        );
        let still = vec![0.0; n];
        let [mut inertia, mut dr] = [(); 2].map(|()| vec![0.0; n]);
        let mut ds = vec![0.0; m];
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        // All members have the topology of the placed model: one plan is enough.
        let mut linearised = Linearised::new(&at.equations);
        let mut out = 0.0;
        family.each_member(problem, parameter, |member, sample| {
            move_by(problem, &at.kept.end, x, sample.change, &mut moment.end);
            let moved = at.kept.multipliers.iter().zip(multipliers);
            moment.multipliers.clear();
            moment
                .multipliers
                .extend(moved.map(|(l, d)| l + sample.change * d));
            member.evaluate(&moment.get())?;
            linearised.place(member, &moment.get())?;
            linearised.apply(member, [&self.u, &still], &self.multipliers, [&mut dr, &mut ds]);
            linearised.inertia(member, &self.u, &mut inertia);
            let [product, _] = self.work([&dr, &ds]);
            out += sample.weight * (product - self.eigenvalue * dot(&self.u, &inertia));
            Ok(())
        })?;
        Ok(out / self.mass)
    }
}

/// Writes the positions of independent nodes moved by `t` along a direction of their coordinates.
fn move_by(problem: &Problem, from: &State, x: &[f64], t: f64, out: &mut State) {
    out.clone_from(from);
    let mut step = Vec::new();
    for node in problem.nodes() {
        let Some(first) = node.first_dof() else { continue };
        step.clear();
        step.extend(
            x[first..first + node.velocity_range().len()]
                .iter()
                .map(|d| t * d),
        );
        node.space
            .retract(&mut out.positions[node.position_range()], &step);
    }
}
