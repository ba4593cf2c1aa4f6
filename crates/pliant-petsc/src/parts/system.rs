//! The linear system of all parts.

use super::Places;
use crate::Error;
use crate::entries::{self, Entries, count_received};
use crate::ffi::{Halo, Library, Matrix, Reduction, Solver, Vector};
use crate::kkt::MULTIGRID_FROM;
use crate::session::Share;
use pliant_kkt::Assembler;
use pliant_model::{Problem, Space, State};
use std::sync::Arc;

/// Residual of a linear system, over the size of its terms, beyond which it is not solved.
const SOLVED: f64 = 1e-10;
/// Share that a pass of conjugate gradients leaves.
const PASS: f64 = 1e-6;
const MOST_PASSES: usize = 8;
const MOST_ITERATIONS: usize = 2000;

/// The linear system of all parts. Objects of PETSc are destroyed in this order.
#[derive(Debug)]
pub(super) struct System {
    solver: Solver,
    iterates: bool,
    pub(super) halo: Halo,
    pub(super) right: Vector,
    answer: Vector,
    pub(super) residual: Vector,
    correction: Vector,
    matrix: Matrix,
    entries: Entries,
    /// The right-hand side of the own part, with zeros at fixed coordinates.
    free: Vec<f64>,
    pub(super) share: Share,
}

impl System {
    /// Plans the matrix of all parts and its solver. Collective.
    pub(super) fn new(
        library: &Arc<Library>,
        problem: &Problem,
        state: &State,
        assembler: &Assembler,
        places: &Places,
    ) -> Result<Self, Error> {
        let kkt = assembler.system();
        let unknowns = &places.unknowns;
        let (entries, found) = Entries::of(kkt, |i, k| Some((unknowns[i], unknowns[k])));
        let points = |node: &pliant_model::Node| node.first_dof().is_none() || node.space == Space::Real(3);
        let own_block = match places.rows == 0 && problem.nodes().iter().all(points) {
            true => 3.0,
            false => 1.0,
        };
        let mut block = [0.0];
        library.reduce(Reduction::Least, &[own_block], &mut block)?;
        let share = Share {
            rows: places.own.len(),
            entries: found.rows.len(),
            received: count_received(unknowns, &places.own),
        };
        let entries::Places { rows, columns } = found;
        let mut matrix = Matrix::new(library, places.own.len(), block[0] as usize, rows, columns)?;
        let (right, answer) = (matrix.vector()?, matrix.vector()?);
        let mut halo = Halo::new(&right, &places.unknowns)?;
        let mut correction = matrix.vector()?;
        check_fixed(library, &kkt.fixed, kkt.m(), &mut halo, &mut correction)?;
        let iterates = places.rows == 0 && places.total >= MULTIGRID_FROM;
        let solver = if iterates {
            let motions = rigid_motions(library, problem, state, &matrix, &mut halo)?;
            matrix.set_near_null_space(&motions)?;
            Solver::multigrid(&matrix)?
        } else {
            Solver::factor(&matrix)?
        };
        Ok(Self {
            solver,
            iterates,
            halo,
            residual: matrix.vector()?,
            right,
            answer,
            correction,
            matrix,
            entries,
            free: Vec::new(),
            share,
        })
    }

    /// Adds up the parts and solves. Collective.
    pub(super) fn solve(
        &mut self,
        assembler: &Assembler,
        right: &[f64],
        change: &mut [f64],
    ) -> Result<(usize, f64), Error> {
        let kkt = assembler.system();
        self.matrix.set(self.entries.of_values(kkt))?;
        self.solver.prepare(&self.matrix)?;
        if self.solver.has_failed()? {
            return Err(Error::NotSolved { residual: f64::NAN });
        }
        // Fixed coordinates keep their diagonal and stay.
        self.free.clear();
        self.free.extend_from_slice(right);
        for (c, fixed) in self.free.iter_mut().zip(&kkt.fixed) {
            if *fixed {
                *c = 0.0;
            }
        }
        self.right.clear()?;
        self.halo.add(&self.free, &mut self.right)?;
        let size = self.right.norm()?;
        self.answer.clear()?;
        let (mut iterations, mut residual) = (0, if size == 0.0 { 0.0 } else { 1.0 });
        for _ in 0..MOST_PASSES {
            if residual <= SOLVED {
                break;
            }
            self.find_residual()?;
            let (more, went_on) =
                self.solver
                    .solve(PASS, MOST_ITERATIONS, &self.residual, &mut self.correction)?;
            iterations += more;
            if !went_on {
                return Err(Error::NotSolved { residual });
            }
            let answer = &mut self.answer;
            self.correction
                .with(|d| answer.with(|z| z.iter_mut().zip(&*d).for_each(|(z, d)| *z += d)))??;
            self.find_residual()?;
            residual = self.residual.norm()? / (size + self.diagonal_terms()?);
        }
        // A NaN is no solution.
        if residual > SOLVED || residual.is_nan() {
            return Err(Error::NotSolved { residual });
        }
        self.halo.read(&self.answer, change)?;
        Ok((if self.iterates { iterations } else { 0 }, residual))
    }

    /// The norm of the terms on the diagonal, `A_ii z_i`.
    fn diagonal_terms(&mut self) -> Result<f64, Error> {
        self.matrix.diagonal(&mut self.correction)?;
        let answer = &mut self.answer;
        self.correction
            .with(|d| answer.with(|z| d.iter_mut().zip(&*z).for_each(|(d, z)| *d *= z)))??;
        self.correction.norm()
    }

    /// `r = b - A z`.
    fn find_residual(&mut self) -> Result<(), Error> {
        self.matrix.multiply(&self.answer, &mut self.residual)?;
        let right = &mut self.right;
        self.residual
            .with(|r| right.with(|b| r.iter_mut().zip(&*b).for_each(|(r, b)| *r = b - *r)))?
    }
}

/// Refuses coordinates that are fixed in some of the parts that have them. Collective.
fn check_fixed(
    library: &Library,
    fixed: &[bool],
    rows: usize,
    halo: &mut Halo,
    scratch: &mut Vector,
) -> Result<(), Error> {
    let own = |value: &dyn Fn(bool) -> f64| -> Vec<f64> {
        let of_dofs = fixed.iter().map(|f| value(*f));
        of_dofs.chain(std::iter::repeat_n(0.0, rows)).collect()
    };
    let mut sums = [vec![0.0; fixed.len() + rows], vec![0.0; fixed.len() + rows]];
    for (sum, value) in sums
        .iter_mut()
        .zip([&(|f| f64::from(u8::from(f))) as &dyn Fn(bool) -> f64, &|_| 1.0])
    {
        scratch.clear()?;
        halo.add(&own(value), scratch)?;
        halo.read(scratch, sum)?;
    }
    let [fixed_by, all] = sums;
    let apart = fixed_by
        .iter()
        .zip(&all)
        .filter(|(f, a)| **f != 0.0 && f != a)
        .count();
    let mut worst = [0.0];
    library.reduce(Reduction::Largest, &[apart as f64], &mut worst)?;
    match worst[0] > 0.0 {
        true => Err(Error::Size {
            what: "coordinates that are fixed in some parts and free in others, a list",
            expected: 0,
            found: worst[0] as usize,
        }),
        false => Ok(()),
    }
}

/// The motions of points as a rigid body over the processes, orthonormal; none where something
/// other than points moves. Collective.
fn rigid_motions(
    library: &Library,
    problem: &Problem,
    state: &State,
    matrix: &Matrix,
    halo: &mut Halo,
) -> Result<Vec<Vector>, Error> {
    let independent = || problem.nodes().iter().filter(|node| node.first_dof().is_some());
    let others = independent().filter(|node| node.space != Space::Real(3)).count();
    // Amplitudes are turned and not shifted.
    let mut points: Vec<([f64; 3], bool)> = Vec::new();
    for node in independent() {
        let places = state.positions[node.position_range()].chunks_exact(3);
        points.extend(places.map(|x| ([x[0], x[1], x[2]], node.is_amplitudes)));
    }
    // A point of several parts counts as often as it has parts: any point near the middle will do.
    let mut sums = [0.0, 0.0, 0.0, 0.0, others as f64];
    for (point, _) in points.iter().filter(|(_, is_amplitude)| !is_amplitude) {
        sums[0] += 1.0;
        (0..3).for_each(|k| sums[k + 1] += point[k]);
    }
    let mut all = [0.0; 5];
    library.reduce(Reduction::Sum, &sums, &mut all)?;
    if all[4] > 0.0 || all[0] == 0.0 {
        return Ok(Vec::new());
    }
    let middle = [1, 2, 3].map(|k| all[k] / all[0]);
    let velocity = |motion: usize, (point, is_amplitude): &([f64; 3], bool)| -> [f64; 3] {
        let [x, y, z] = [0, 1, 2].map(|k| point[k] - if *is_amplitude { 0.0 } else { middle[k] });
        match motion {
            0..3 if *is_amplitude => [0.0; 3],
            0 => [1.0, 0.0, 0.0],
            1 => [0.0, 1.0, 0.0],
            2 => [0.0, 0.0, 1.0],
            3 => [0.0, -z, y],
            4 => [z, 0.0, -x],
            _ => [-y, x, 0.0],
        }
    };
    let mut vector = matrix.vector()?;
    let mut spread = |values: &[f64]| -> Result<Vec<f64>, Error> {
        vector.clear()?;
        halo.add(values, &mut vector)?;
        vector.with(|own| own.to_vec())
    };
    let parts_of = spread(&vec![1.0; 3 * points.len()])?;
    let mut columns = Vec::new();
    for motion in 0..6 {
        let values: Vec<f64> = points.iter().flat_map(|x| velocity(motion, x)).collect();
        let mut column = spread(&values)?;
        column
            .iter_mut()
            .zip(&parts_of)
            .for_each(|(v, parts)| *v /= parts);
        columns.push(column);
    }
    let dot = |a: &[f64], b: &[f64]| -> Result<f64, Error> {
        let own: f64 = a.iter().zip(b).map(|(a, b)| a * b).sum();
        let mut out = [0.0];
        library.reduce(Reduction::Sum, &[own], &mut out)?;
        Ok(out[0])
    };
    let mut kept: Vec<Vec<f64>> = Vec::new();
    for mut column in columns {
        let length = dot(&column, &column)?.sqrt();
        // Twice is enough: what rounding left of the first time, the second takes.
        for _ in 0..2 {
            for other in &kept {
                let part = dot(&column, other)?;
                column.iter_mut().zip(other).for_each(|(a, b)| *a -= part * b);
            }
        }
        let left = dot(&column, &column)?.sqrt();
        if left > 1e-8 * length {
            column.iter_mut().for_each(|a| *a /= left);
            kept.push(column);
        }
    }
    let one = |column: &Vec<f64>| {
        let mut vector = matrix.vector()?;
        vector.with(|own| own.copy_from_slice(column))?;
        Ok(vector)
    };
    kept.iter().map(one).collect()
}
