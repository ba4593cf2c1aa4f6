//! Products with the equations of one part of the projection, and what both parts share.

use crate::deformed::{RowOfStep, RowPart};
use crate::equations::Equations;
use crate::geometry::{add_geometry, add_geometry_transposed};
use crate::kinematics::{gather, scatter};
use crate::laws::Laws;
use crate::linearised::Linearised;
use crate::row_law::RowLaws;
use crate::staged::stiffness::{add_stiffness, add_stiffness_transposed};
use pliant_model::Problem;

/// The equations of one part of the projection, for products.
#[derive(Clone, Copy)]
pub(super) struct PartOf<'a> {
    /// 0 of positions, 1 of velocities.
    pub(super) part: usize,
    pub(super) reach: f64,
    pub(super) rows: &'a [RowOfStep],
    pub(super) compliance: &'a RowLaws,
}

impl PartOf<'_> {
    /// The factor of inertia in the equations.
    pub(super) fn inertia(&self) -> f64 {
        match self.part {
            0 => (self.reach * self.reach).recip(),
            _ => 1.0,
        }
    }

    /// Writes the changes of the equations for the displacement `way` (first part) or change of
    /// velocity `x` of the independent coordinates, and multipliers.
    pub(super) fn apply(
        &self,
        equations: &Equations,
        linearised: &mut Linearised,
        [way, x]: [&[f64]; 2],
        multipliers: &[f64],
        [dr, ds]: [&mut [f64]; 2],
    ) {
        let (problem, evaluation) = (&equations.problem, &equations.evaluation);
        linearised.inertia(equations, x, dr);
        let share = self.inertia();
        let squared = self.reach * self.reach;
        if self.part == 0 {
            linearised.push_displacement(equations, way);
        } else {
            let [_, us, ..] = &mut linearised.nodes;
            scatter(problem, x, us);
            evaluation.push_forward(problem, us);
        }
        let Linearised {
            laws,
            geometry,
            nodes: [ys, us, forces, inertia],
            ..
        } = &mut *linearised;
        forces.fill(0.0);
        match self.part {
            0 => {
                laws.add_forces([ys, us], forces);
                add_geometry(problem, evaluation, geometry, ys, forces);
            }
            _ => add_stiffness(problem, evaluation, laws, -squared, us, forces),
        }
        for group in problem.row_groups() {
            let first = problem.node(group.node).first_velocity;
            for k in 0..group.size * group.count {
                forces[first + k] += multipliers[group.first_row + k];
            }
        }
        evaluation.pull_back(problem, forces);
        gather(problem, forces, &mut inertia[..dr.len()]);
        for (r, f) in dr.iter_mut().zip(&inertia[..]) {
            *r = share * *r - f;
        }
        ds.fill(0.0);
        self.add_strains(equations, laws, multipliers, ds);
        let moved = if self.part == 0 { ys } else { us };
        each_row(problem, self.rows, |row, v, part| match holds(self.part, part) {
            true => ds[row] += moved[v],
            false => ds[row] = multipliers[row],
        });
    }

    /// Writes the transposed products: with `p` and `q` of the equations against displacements and
    /// velocities of the independent coordinates, and against multipliers; without inertia. With room for
    /// forces on all nodes, and for weights of rows.
    pub(super) fn apply_transposed(
        &self,
        equations: &Equations,
        linearised: &mut Linearised,
        [p, q]: [&[f64]; 2],
        [forces, room]: [&mut [f64]; 2],
        [y, u, multipliers]: [&mut [f64]; 3],
    ) {
        let (problem, evaluation) = (&equations.problem, &equations.evaluation);
        let squared = self.reach * self.reach;
        weigh(equations, p, forces);
        let Linearised {
            laws,
            geometry,
            nodes: [ys, us, ..],
            ..
        } = &mut *linearised;
        ys.fill(0.0);
        us.fill(0.0);
        match self.part {
            0 => {
                laws.add_forces_transposed(forces, [&mut *ys, &mut *us]);
                add_geometry_transposed(problem, evaluation, geometry, forces, ys);
            }
            _ => add_stiffness_transposed(problem, evaluation, laws, -squared, forces, us),
        }
        let moved = if self.part == 0 { ys } else { us };
        // Rows that hold nothing have no part in the strains of the others.
        let held = &mut room[..q.len()];
        each_row(problem, self.rows, |row, v, part| {
            let counts = holds(self.part, part);
            held[row] = if counts { q[row] } else { 0.0 };
            moved[v] += held[row];
        });
        multipliers.fill(0.0);
        self.add_strains(equations, laws, held, multipliers);
        each_row(problem, self.rows, |row, v, part| {
            if !holds(self.part, part) {
                multipliers[row] += q[row];
            }
            multipliers[row] += forces[v];
        });
        match self.part {
            0 => linearised.pull_back_nodes(equations, [y, u]),
            _ => {
                let [_, us, ..] = &mut linearised.nodes;
                evaluation.pull_back(problem, us);
                gather(problem, us, u);
            }
        }
    }

    /// Adds the strains of soft rows under multipliers (m); what they are of other rows does not count.
    fn add_strains(&self, equations: &Equations, laws: &Laws, multipliers: &[f64], out: &mut [f64]) {
        let problem = &equations.problem;
        let share = match self.part {
            0 => 1.0,
            _ => (self.reach * self.reach).recip(),
        };
        for (index, group) in problem.row_groups().iter().enumerate() {
            let range = group.first_row..group.first_row + group.size * group.count;
            if self.rows[range.clone()]
                .iter()
                .any(|row| row.part == RowPart::Elastic)
            {
                let (own, out) = (&multipliers[range.clone()], &mut out[range]);
                laws.add_strain(self.compliance, problem, index, own, out);
                out.iter_mut().for_each(|s| *s *= share);
            }
        }
    }
}

/// Whether a row holds something in a part.
pub(super) fn holds(part: usize, row: RowPart) -> bool {
    match row {
        RowPart::Free => false,
        RowPart::Rate => part == 1,
        _ => true,
    }
}

/// Writes weights of the forces on all nodes that weights of the equations of the coordinates (n)
/// give: these are residuals, of which forces are taken away.
pub(super) fn weigh(equations: &Equations, p: &[f64], out: &mut [f64]) {
    scatter(&equations.problem, p, out);
    equations.evaluation.push_forward(&equations.problem, out);
    out.iter_mut().for_each(|f| *f = -*f);
}

/// Carries forces on all nodes to the residuals of the coordinates (n).
pub(super) fn pull(equations: &Equations, forces: &mut [f64], out: &mut [f64]) {
    equations.evaluation.pull_back(&equations.problem, forces);
    gather(&equations.problem, forces, out);
    out.iter_mut().for_each(|r| *r = -*r);
}

/// Visits all rows: each with its velocity coordinate among those of all nodes, and its part.
pub(super) fn each_row(problem: &Problem, rows: &[RowOfStep], mut f: impl FnMut(usize, usize, RowPart)) {
    for group in problem.row_groups() {
        let first = problem.node(group.node).first_velocity;
        for k in 0..group.size * group.count {
            f(group.first_row + k, first + k, rows[group.first_row + k].part);
        }
    }
}
