//! The symmetric KKT matrix of a derivative: its rows of contacts, its factor, and its inverse in
//! the units of the equations.

use pliant_kkt::{Assembler, Extended, Tail};
use pliant_solvers::{DirectSolver, KktSystem, Solution, SolveError, StationarySolver, Variable};

/// The factor of the symmetric matrix.
#[derive(Debug, Default)]
pub(crate) struct Factor {
    /// For minima, with redundant rows.
    direct: DirectSolver,
    /// For every other stationary point.
    stationary: StationarySolver,
    is_minimum: bool,
    right: [Vec<f64>; 2],
    /// The place of an unknown without a pivot, if the system is singular.
    pub(crate) singular: Option<String>,
}

impl Factor {
    /// Factors a system; one that is no minimum with pivots chosen for stability.
    /// Returns an unknown without a pivot, if the system is singular.
    pub(crate) fn prepare(
        &mut self,
        system: &KktSystem,
        may_be_minimum: bool,
    ) -> Result<Option<Variable>, SolveError> {
        self.is_minimum = may_be_minimum && self.direct.prepare(system).is_ok();
        if self.is_minimum {
            return Ok(None);
        }
        let kind = self.stationary.prepare(system)?;
        let unpivoted = self.stationary.unpivoted(system);
        Ok(unpivoted.filter(|_| kind.zero > 0))
    }

    /// Whether the last system was that of a minimum.
    pub(crate) fn is_minimum(&self) -> bool {
        self.is_minimum
    }

    pub(crate) fn solve(&mut self, system: &KktSystem, solution: &mut Solution) -> Result<(), SolveError> {
        if self.is_minimum {
            // The residual of the equations themselves is what refines the answer.
            return self.direct.solve_unmeasured(system, solution).map(drop);
        }
        let [c, b] = &mut self.right;
        c.clone_from(&system.c);
        b.clone_from(&system.b);
        self.stationary.solve(system, c, b, solution).map(drop)
    }
}

/// Rows of contacts behind those of the model, and the system with them.
#[derive(Debug, Default)]
pub(crate) struct ContactRows {
    pub(crate) tail: Tail,
    pub(crate) extended: Extended,
}

impl ContactRows {
    /// The system with the rows of contacts, if there are any.
    pub(crate) fn system<'a>(&'a self, base: &'a KktSystem) -> &'a KktSystem {
        match self.tail.rows() {
            0 => base,
            _ => self.extended.system().unwrap_or(base),
        }
    }
}

/// Factors of the equations in the units of the system: of those of the coordinates, of forces, which
/// are impulses there, and of each row.
#[derive(Debug)]
pub(crate) struct Units {
    pub(crate) dofs: f64,
    pub(crate) forces: f64,
    pub(crate) rows: Vec<f64>,
}

/// The inverse of the symmetric matrix in the units of the equations.
///
/// With `K` the symmetric matrix of the system, whose unknowns are velocities and impulses
/// `h lambda`, the matrix of the equations is nearly `diag(1/(alpha h), -u) K diag(1, h)` with the
/// weight `alpha` of the end and the unit `u` of each row, and the transposed one
/// `diag(1, h) K diag(1/(alpha h), -u)`.
pub(crate) struct Inverse<'a> {
    pub(crate) assembler: &'a mut Assembler,
    pub(crate) behind: &'a mut ContactRows,
    pub(crate) solver: &'a mut Factor,
    pub(crate) solution: &'a mut Solution,
    pub(crate) units: &'a Units,
    pub(crate) transposed: bool,
}

impl Inverse<'_> {
    /// Takes the second part of an answer from the units of the system to its own: multipliers from
    /// impulses, or the multipliers of the transposed equations.
    pub(crate) fn answer_of_system(&self, rows: &mut [f64]) {
        for (x, unit) in rows.iter_mut().zip(&self.units.rows) {
            *x /= if self.transposed { -unit } else { self.units.forces };
        }
    }

    /// Takes the second part of an answer from its own units to those of the system.
    pub(crate) fn answer_in_system(&self, rows: &mut [f64]) {
        for (x, unit) in rows.iter_mut().zip(&self.units.rows) {
            *x *= if self.transposed { -unit } else { self.units.forces };
        }
    }

    /// Replaces right-hand sides by the answer of the symmetric matrix.
    pub(crate) fn apply(&mut self, of_dofs: &mut [f64], of_rows: &mut [f64]) -> Result<(), SolveError> {
        let c = self.assembler.right_hand_side_mut();
        let scale = if self.transposed { 1.0 } else { self.units.dofs };
        c.iter_mut().zip(&*of_dofs).for_each(|(c, r)| *c = scale * r);
        let b = self.assembler.row_right_hand_side_mut();
        let all = b.iter_mut().chain(&mut self.behind.tail.b);
        for ((b, r), unit) in all.zip(&*of_rows).zip(&self.units.rows) {
            *b = match self.transposed {
                true => r / self.units.forces,
                false => -r / unit,
            };
        }
        let base = self.assembler.system();
        let ContactRows { tail, extended } = &mut *self.behind;
        if tail.rows() > 0 {
            extended.fill_right_hand_sides(base, &[], tail);
        }
        let system = self.behind.system(base);
        self.solver.solve(system, self.solution)?;
        let scale = if self.transposed { self.units.dofs } else { 1.0 };
        let x = of_dofs.iter_mut().zip(&self.solution.x);
        x.for_each(|(r, x)| *r = scale * x);
        of_rows.copy_from_slice(&self.solution.mu);
        self.answer_of_system(of_rows);
        Ok(())
    }
}
