//! QDLDL as Clarabel has it, and faer's factorisations with its own ordering and with nested
//! dissection.

use super::{Analysed, Candidate, REFINED, Task};
use crate::timing::clock;
use clarabel::algebra::CscMatrix;
use clarabel::qdldl::{QDLDLFactorisation, QDLDLSettings};
use faer::dyn_stack::{MemBuffer, MemStack, StackReq};
use faer::linalg::cholesky::ldlt::factor::LdltRegularization;
use faer::linalg::cholesky::llt::factor::LltRegularization;
use faer::perm::PermRef;
use faer::sparse::linalg::SupernodalThreshold;
use faer::sparse::linalg::cholesky::{
    CholeskySymbolicParams, LdltRef, LltRef, SymbolicCholesky, SymmetricOrdering, factorize_symbolic_cholesky,
};
use faer::sparse::{SparseColMatRef, SymbolicSparseColMatRef};
use faer::{Conj, MatMut, Par, Side};
use feral_metis::{CscPattern, metis_order};
use pliant::sparse::CsrMatrix;

/// Signed dynamic regularisation of quasi-definite systems, as both libraries have it by default or
/// suggest it: pivots below the first are replaced by the second.
const REGULARISATION: [f64; 2] = [1e-12, 1e-7];

pub(super) fn all(task: &Task, flops: f64) -> Result<Vec<Analysed>, String> {
    let mut out: Vec<Analysed> = Vec::new();
    let (time, qdldl) = clock(|| Qdldl::new(task));
    let qdldl = qdldl?;
    if qdldl.flops() <= flops {
        out.push((Box::new(qdldl), time));
    }
    for dissected in [false, true] {
        let (time, faer) = clock(|| Faer::new(task, dissected));
        out.push((Box::new(faer?), time));
    }
    Ok(out)
}

/// Solves, and refines the answer as the project's solver does: the residual is part of the answer,
/// so its time counts.
fn refined(task: &Task, [z, r]: [&mut Vec<f64>; 2], mut solve: impl FnMut(&mut [f64])) {
    z.clone_from(&task.rhs);
    solve(z);
    for _ in 0..REFINED.1 {
        if task.residual(z, r) <= REFINED.0 {
            return;
        }
        solve(r);
        for (z, r) in z.iter_mut().zip(&*r) {
            *z += r;
        }
    }
}

/// Expected sign of each pivot.
fn signs(task: &Task) -> Vec<i8> {
    let n = task.system.n();
    (0..task.rhs.len()).map(|i| if i < n { 1 } else { -1 }).collect()
}

struct Qdldl {
    factor: QDLDLFactorisation<f64>,
    indices: Vec<usize>,
    residual: Vec<f64>,
}

impl Qdldl {
    fn new(task: &Task) -> Result<Self, String> {
        let pattern = task.matrix.pattern();
        let wide = |x: &[u32]| x.iter().map(|i| *i as usize).collect::<Vec<_>>();
        let size = pattern.rows();
        // The rows of the lower triangle are the columns of the upper one.
        let upper = CscMatrix::new(
            size,
            size,
            wide(pattern.offsets()),
            wide(pattern.indices()),
            task.matrix.values().to_vec(),
        );
        let settings = QDLDLSettings {
            logical: true,
            Dsigns: Some(signs(task)),
            regularize_eps: REGULARISATION[0],
            regularize_delta: REGULARISATION[1],
            ..QDLDLSettings::default()
        };
        let factor = QDLDLFactorisation::new(&upper, Some(settings)).map_err(|e| e.to_string())?;
        Ok(Self {
            factor,
            indices: (0..pattern.len()).collect(),
            residual: Vec::new(),
        })
    }

    /// Sum of squares of the column counts.
    fn flops(&self) -> f64 {
        let columns = self.factor.L.colptr.windows(2);
        columns.map(|c| ((c[1] - c[0]) as f64).powi(2)).sum()
    }
}

impl Candidate for Qdldl {
    fn name(&self) -> &'static str {
        "QDLDL"
    }

    fn factor(&mut self, task: &Task) -> Result<(), String> {
        self.factor.update_values(&self.indices, task.matrix.values());
        self.factor.refactor().map_err(|e| e.to_string())
    }

    fn solve(&mut self, task: &Task, z: &mut Vec<f64>) -> Result<(), String> {
        refined(task, [z, &mut self.residual], |x| self.factor.solve(x));
        Ok(())
    }

    fn entries(&self) -> usize {
        self.factor.nnzL() + self.factor.D.len()
    }
}

/// `L L^T` of a system without rows, else `L D L^T`; simplicial or supernodal as faer chooses.
struct Faer {
    name: &'static str,
    symbolic: SymbolicCholesky<u32>,
    values: Vec<f64>,
    memory: MemBuffer,
    residual: Vec<f64>,
    /// Of a system with rows.
    signs: Option<Vec<i8>>,
}

impl Faer {
    fn new(task: &Task, dissected: bool) -> Result<Self, String> {
        let permutation = if dissected {
            Some(block_dissection(task)?)
        } else {
            None
        };
        let ordering = match &permutation {
            Some([forward, inverse]) => {
                SymmetricOrdering::Custom(PermRef::new_checked(forward, inverse, forward.len()))
            }
            None => SymmetricOrdering::Amd,
        };
        let parameters = CholeskySymbolicParams {
            supernodal_flop_ratio_threshold: SupernodalThreshold::AUTO,
            ..CholeskySymbolicParams::default()
        };
        let symbolic =
            factorize_symbolic_cholesky(view(&task.matrix).symbolic(), Side::Upper, ordering, parameters)
                .map_err(|e| format!("{e:?}"))?;
        let signs = (task.system.m() > 0).then(|| signs(task));
        let factor = match &signs {
            None => symbolic.factorize_numeric_llt_scratch::<f64>(Par::Seq, faer::Spec::default()),
            Some(_) => symbolic.factorize_numeric_ldlt_scratch::<f64>(Par::Seq, faer::Spec::default()),
        };
        let solve = symbolic.solve_in_place_scratch::<f64>(1, Par::Seq);
        Ok(Self {
            name: if dissected { "faer ND" } else { "faer AMD" },
            values: vec![0.0; symbolic.len_val()],
            memory: MemBuffer::new(StackReq::or(factor, solve)),
            residual: Vec::new(),
            symbolic,
            signs,
        })
    }
}

/// The upper triangle by columns.
fn view(matrix: &CsrMatrix) -> SparseColMatRef<'_, u32, f64> {
    let pattern = matrix.pattern();
    let size = pattern.rows();
    let symbolic =
        SymbolicSparseColMatRef::new_checked(size, size, pattern.offsets(), None, pattern.indices());
    SparseColMatRef::new(symbolic, matrix.values())
}

impl Candidate for Faer {
    fn name(&self) -> &'static str {
        self.name
    }

    fn factor(&mut self, task: &Task) -> Result<(), String> {
        let (matrix, stack) = (view(&task.matrix), MemStack::new(&mut self.memory));
        match &self.signs {
            None => self
                .symbolic
                .factorize_numeric_llt(
                    &mut self.values,
                    matrix,
                    Side::Upper,
                    LltRegularization::default(),
                    Par::Seq,
                    stack,
                    faer::Spec::default(),
                )
                .map(|_| ())
                .map_err(|e| format!("{e:?}")),
            Some(signs) => self
                .symbolic
                .factorize_numeric_ldlt(
                    &mut self.values,
                    matrix,
                    Side::Upper,
                    LdltRegularization {
                        dynamic_regularization_signs: Some(signs),
                        dynamic_regularization_epsilon: REGULARISATION[0],
                        dynamic_regularization_delta: REGULARISATION[1],
                    },
                    Par::Seq,
                    stack,
                    faer::Spec::default(),
                )
                .map(|_| ())
                .map_err(|e| format!("{e:?}")),
        }
    }

    fn solve(&mut self, task: &Task, z: &mut Vec<f64>) -> Result<(), String> {
        let (symbolic, values, memory) = (&self.symbolic, &self.values, &mut self.memory);
        let definite = self.signs.is_none();
        refined(task, [z, &mut self.residual], |x| {
            let size = x.len();
            let rhs = MatMut::from_column_major_slice_mut(x, size, 1);
            let stack = MemStack::new(memory);
            if definite {
                LltRef::new(symbolic, values).solve_in_place_with_conj(Conj::No, rhs, Par::Seq, stack);
            } else {
                LdltRef::new(symbolic, values).solve_in_place_with_conj(Conj::No, rhs, Par::Seq, stack);
            }
        });
        Ok(())
    }

    fn entries(&self) -> usize {
        self.symbolic.len_val()
    }
}

/// Nested dissection of the graph of the system's blocks, as an order of single unknowns: new to
/// old, and old to new.
fn block_dissection(task: &Task) -> Result<[Vec<u32>; 2], String> {
    let n = task.system.n();
    let mut bounds = task.system.primal_blocks().to_vec();
    bounds.extend(task.system.row_blocks().iter().skip(1).map(|b| n + b));
    let order = dissection(&task.matrix, Some(&bounds))?;
    let forward: Vec<u32> = order
        .iter()
        .flat_map(|k| bounds[*k as usize] as u32..bounds[*k as usize + 1] as u32)
        .collect();
    let mut inverse = vec![0; forward.len()];
    for (new, old) in forward.iter().enumerate() {
        inverse[*old as usize] = new as u32;
    }
    Ok([forward, inverse])
}

/// Nested dissection of the graph whose vertices are single unknowns, or blocks with the given
/// boundaries.
pub(super) fn dissection(matrix: &CsrMatrix, bounds: Option<&[usize]>) -> Result<Vec<i32>, String> {
    let pattern = matrix.pattern();
    let size = pattern.rows();
    let vertex_of: Vec<u32> = match bounds {
        None => (0..size as u32).collect(),
        Some(bounds) => (0u32..)
            .zip(bounds.windows(2))
            .flat_map(|(k, w)| std::iter::repeat_n(k, w[1] - w[0]))
            .collect(),
    };
    let count = bounds.map_or(size, |b| b.len() - 1);
    let mut neighbours: Vec<Vec<i32>> = vec![Vec::new(); count];
    for i in 0..size {
        for j in pattern.row(i) {
            let (a, b) = (vertex_of[i], vertex_of[*j as usize]);
            neighbours[a as usize].push(b as i32);
            neighbours[b as usize].push(a as i32);
        }
    }
    let (mut offsets, mut indices) = (vec![0], Vec::new());
    for own in &mut neighbours {
        own.sort_unstable();
        own.dedup();
        indices.extend_from_slice(own);
        offsets.push(indices.len() as i32);
    }
    let graph = CscPattern::new(count, &offsets, &indices).ok_or("the graph is malformed")?;
    metis_order(&graph).map_err(|e| format!("{e:?}"))
}
