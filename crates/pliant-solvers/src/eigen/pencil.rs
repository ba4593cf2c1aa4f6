//! A pencil that is definite on the null space of its rows.

use super::lanczos::{Lanczos, Operator, Ritz};
use super::{EigenError, EigenOptions, EigenPair, Eigenvalues, Side, add, dot};
use crate::{KktSystem, Solution, SolveError, StationarySolver, Variable, check_size};
use pliant_sparse::CsrMatrix;

/// Rounding of a vector, as a share of its largest entry.
const ROUNDING: f64 = 1e-13;
/// Vectors of a basis beside two for each eigenvalue.
const BESIDE: usize = 16;
/// Eigenvalues that differ by a smaller share are copies of one.
const APART: f64 = 1e-7;
/// The factor by which this grows where the inertia takes some of them for larger.
const WIDER: f64 = 30.0;
/// The factor beyond the last eigenvalue at which all are counted, if there is so much room.
const FAR: f64 = 1.1;
/// Vectors that the basis grows by between two looks at what has converged.
const LOOK: usize = 8;
/// The share at which it is given up.
const MOST_APART: f64 = 1e-3;
/// Tolerance of rough values.
const ROUGH: f64 = 1.0;
/// Share of the tolerance that Lanczos's own estimate must keep; the rest is for the solves.
const CONVERGED: f64 = 0.01;
/// Share of the largest value of the inverse below which one is not told from zero, that is an
/// eigenvalue of so many times the smallest magnitude from an infinite one. Solves leave errors of some
/// `1e-14` of the largest, so that smaller ones have not the digits that a tolerance of `1e-6` asks for,
/// and the rate at which a tangent changes is known to `1e-9`.
const INFINITE: f64 = 1e-7;

/// `A x - J^T l = mu B x`, `J x + R l = 0` with `A` positive definite on the null space of the hard
/// rows, together with the compliant ones.
///
/// `A`, `J` and `R` are those of a [`KktSystem`] (`W` is `A`), whose right-hand sides play no part
/// and whose rows are all bilateral; fixed variables are zero in every vector. `B` is symmetric, a
/// lower triangle on the pattern of `W`.
///
/// The estimated error of a pair is `|y - x/mu|_A |mu|` with `y = A^-1 B x`: some eigenvalue of the
/// inverse lies within it. Its residual is `r = A x - J^T l - mu B x`, by the matrices as they are,
/// over `t`, the same sum of magnitudes, both in the norm `sqrt(sum r_i^2/d_i)` with
/// `d = diag |A| + |mu| diag |B|`, which knows no units; for the rows the largest
/// `|J x + R l| / (|J| |x| + |R| |l|)`. The larger of the two counts.
///
/// **Cost.** A factorisation ([`StationarySolver`]), one more to count, two solves for each
/// eigenvalue and more, and products of a basis of about `2 count + 16` vectors.
#[derive(Debug)]
pub struct DefinitePencil {
    system: KktSystem,
    b: CsrMatrix,
    solver: StationarySolver,
    /// Which rows are hard.
    hard: Vec<bool>,
    /// Rows that depend on others.
    redundant: usize,
    shifted: KktSystem,
    counter: StationarySolver,
    factorisations: usize,
    solution: Solution,
}

/// The pairs that are wanted.
#[derive(Clone, Copy, Debug)]
enum Goal {
    /// So many next to zero.
    First(usize),
    /// All before a place, given as a magnitude, which are so many.
    Before(f64, usize),
}

/// The factored operator.
struct Inverse<'a> {
    system: &'a KktSystem,
    b: &'a CsrMatrix,
    hard: &'a [bool],
    solver: &'a mut StationarySolver,
    solution: &'a mut Solution,
}

impl Operator for Inverse<'_> {
    fn size(&self) -> usize {
        self.system.n()
    }

    fn image(&mut self, v: &[f64], f: &mut [f64]) {
        product(self.b, v, &self.system.fixed, f);
    }

    fn solve(&mut self, f: &mut [f64], y: &mut Vec<f64>) -> Result<(), EigenError> {
        // The rows have no right-hand side.
        let rows = vec![0.0; self.system.m()];
        self.solver.solve(self.system, f, &rows, self.solution)?;
        let Solution { x, mu } = &mut *self.solution;
        y.clone_from(x);
        for (l, hard) in mu.iter_mut().zip(self.hard) {
            if !hard {
                *l = 0.0;
            }
        }
        self.system.j.add_transpose_product(1.0, mu, f);
        clear(&self.system.fixed, f);
        Ok(())
    }
}

impl DefinitePencil {
    /// Factors a pencil.
    ///
    /// # Errors
    /// [`EigenError::Indefinite`] and [`EigenError::Free`] if `A` is not positive definite where
    /// the rows let things move; [`SolveError::Size`] if `B` has not the pattern of `A`; those of
    /// the factor.
    pub fn new(system: KktSystem, b: CsrMatrix) -> Result<Self, EigenError> {
        Self::with_threads(system, b, 1)
    }

    /// As [`Self::new`], with factors that are shared by so many threads. No bit depends on them.
    ///
    /// # Errors
    /// Those of [`Self::new`].
    pub fn with_threads(system: KktSystem, b: CsrMatrix, threads: usize) -> Result<Self, EigenError> {
        check_pattern("entries of B", &system, &b)?;
        if let Some(dof) = non_finite(&b) {
            return Err(SolveError::NotFinite {
                variable: Variable::Dof(dof),
            }
            .into());
        }
        let mut solver = StationarySolver::with_threads(threads);
        let kind = solver.prepare(&system)?;
        if kind.zero > 0 {
            let variable = solver.unpivoted(&system).unwrap_or(Variable::Dof(0));
            return Err(EigenError::Free { variable });
        }
        if kind.negative > 0 {
            return Err(EigenError::Indefinite {
                negative: kind.negative,
            });
        }
        Ok(Self {
            shifted: system.clone(),
            hard: (0..system.m()).map(|row| is_hard(&system, row)).collect(),
            system,
            b,
            solver,
            redundant: kind.redundant,
            counter: StationarySolver::with_threads(threads),
            factorisations: 1,
            solution: Solution::default(),
        })
    }

    /// Hard rows that depend on others.
    pub fn redundant_rows(&self) -> usize {
        self.redundant
    }

    /// How many eigenvalues lie between zero and `t`, by the inertia of `A - t B`. Cost: a
    /// factorisation.
    ///
    /// # Errors
    /// Those of the factor.
    pub fn count(&mut self, t: f64) -> Result<usize, EigenError> {
        let values = self.system.w.values().iter().zip(self.b.values());
        for (shifted, (a, b)) in self.shifted.w.values_mut().iter_mut().zip(values) {
            *shifted = a - t * b;
        }
        self.factorisations += 1;
        let kind = self.counter.prepare(&self.shifted)?;
        Ok(kind.negative)
    }

    /// Finds so many eigenvalues next to zero on one side, or all if there are fewer, multiple ones
    /// as often as they are. They are counted by inertia. Those of more than `1e7` times the smallest
    /// magnitude on either side are not told from infinite ones, and there are none of these.
    ///
    /// # Errors
    /// [`EigenError::NotConverged`], [`EigenError::Miscounted`], those of the factor.
    pub fn find(
        &mut self,
        side: Side,
        count: usize,
        options: EigenOptions,
    ) -> Result<Eigenvalues, EigenError> {
        let factored = std::mem::take(&mut self.factorisations);
        let mut lanczos = Lanczos::new();
        let mut ritz = self.converge(&mut lanczos, side, Goal::First(count), options)?;
        let mut apart = APART;
        while count > 0 && !ritz.values.is_empty() {
            let last = end_of_cluster(&ritz, count.min(ritz.values.len()) - 1, apart);
            let place = beyond(&ritz, last, apart);
            let (found, counted) = (last + 1, self.count(side.sign() * place)?);
            if counted > found && !lanczos.exhausted {
                // A multiple eigenvalue shows in one vector only the part of the start in it: look
                // beside what is found.
                lanczos.restart(&ritz, ritz.found(CONVERGED * options.tolerance), true);
                let goal = Goal::Before(place, counted);
                ritz = self.converge(&mut lanczos, side, goal, options)?;
                if ritz.before(place) == counted {
                    break;
                }
            }
            if counted == found {
                break;
            }
            if counted > found || apart >= MOST_APART {
                return Err(EigenError::Miscounted { found, counted });
            }
            // The last ones are as near to the place as rounding.
            apart *= WIDER;
        }
        let complete = (lanczos.exhausted || ritz.is_all) && ritz.values.len() <= count;
        let mut pairs = Vec::new();
        for i in 0..count.min(ritz.values.len()) {
            pairs.push(self.refine(&lanczos.vector(&ritz, i))?);
        }
        pairs.sort_by(|p, q| p.value.abs().total_cmp(&q.value.abs()));
        let good = |p: &&EigenPair| p.error <= options.tolerance && p.residual <= options.tolerance;
        let found = pairs.iter().filter(good).count();
        let solves = lanczos.solves + 2 * pairs.len();
        if found < pairs.len() {
            let wanted = pairs.len();
            return Err(EigenError::NotConverged {
                found,
                wanted,
                solves,
            });
        }
        Ok(Eigenvalues {
            pairs,
            complete,
            solves,
            factorisations: factored + self.factorisations,
        })
    }

    /// Rough values of so many eigenvalues next to zero, without counting them, and the solves
    /// taken.
    pub(super) fn estimate(
        &mut self,
        side: Side,
        count: usize,
        options: EigenOptions,
    ) -> Result<(Vec<f64>, usize), EigenError> {
        let options = EigenOptions {
            tolerance: ROUGH,
            ..options
        };
        let mut lanczos = Lanczos::new();
        let ritz = self.converge(&mut lanczos, side, Goal::First(count), options)?;
        let values = ritz.values.iter().take(count).map(|v| v.recip());
        Ok((values.collect(), lanczos.solves))
    }

    /// Extends the basis, with restarts, until enough pairs have converged or nothing is left
    /// outside it.
    fn converge(
        &mut self,
        lanczos: &mut Lanczos,
        side: Side,
        goal: Goal,
        options: EigenOptions,
    ) -> Result<Ritz, EigenError> {
        let (Goal::First(wanted) | Goal::Before(_, wanted)) = goal;
        let most = 2 * wanted + BESIDE;
        let mut counted = None;
        loop {
            let mut operator = Inverse {
                system: &self.system,
                b: &self.b,
                hard: &self.hard,
                solver: &mut self.solver,
                solution: &mut self.solution,
            };
            lanczos.extend((lanczos.len() + LOOK).min(most), &mut operator)?;
            let mut ritz = lanczos.ritz(side);
            let found = ritz.found(CONVERGED * options.tolerance);
            let enough = match goal {
                Goal::First(count) => found >= count,
                Goal::Before(place, count) => found >= count && ritz.before(place) >= count,
            };
            if enough || lanczos.exhausted {
                return Ok(ritz);
            }
            if lanczos.solves > options.max_solves {
                let solves = lanczos.solves;
                return Err(EigenError::NotConverged {
                    found,
                    wanted,
                    solves,
                });
            }
            if lanczos.len() >= most {
                // Where fewer are finite than asked for, the others are rounding, and never converge.
                let finite = ritz.above(INFINITE);
                if finite < wanted && found >= finite {
                    let place = side.sign() / ritz.nothing(INFINITE);
                    let all = match counted {
                        Some(all) => all,
                        None => self.count(place)?,
                    };
                    counted = Some(all);
                    if all == finite {
                        ritz.truncate(finite);
                        ritz.is_all = true;
                        return Ok(ritz);
                    }
                }
                lanczos.restart(&ritz, (wanted + most) / 2, false);
            }
        }
    }

    /// One step of inverse iteration, and a second one to see what is missing.
    fn refine(&mut self, vector: &[f64]) -> Result<EigenPair, EigenError> {
        let n = self.system.n();
        let (mut f, rows) = (vec![0.0; n], vec![0.0; self.system.m()]);
        product(&self.b, vector, &self.system.fixed, &mut f);
        self.solver.solve(&self.system, &f, &rows, &mut self.solution)?;
        let (mut x, mut l) = (self.solution.x.clone(), self.solution.mu.clone());
        // |x|_A^2 = x^T A x + l^T R l, with J x = -R l.
        let mut image = vec![0.0; n];
        product(&self.system.w, &x, &self.system.fixed, &mut image);
        let mut strain = vec![0.0; l.len()];
        self.system.r.symmetric_add_product(1.0, &l, &mut strain);
        let size = (dot(&x, &image) + dot(&l, &strain)).sqrt();
        for list in [&mut x, &mut l, &mut image] {
            list.iter_mut().for_each(|x| *x /= size);
        }
        self.system.j.add_transpose_product(-1.0, &l, &mut image);
        product(&self.b, &x, &self.system.fixed, &mut f);
        let value = dot(&x, &f).recip();
        self.solver.solve(&self.system, &f, &rows, &mut self.solution)?;
        let mut apart = self.solution.x.clone();
        add(-value.recip(), &x, &mut apart);
        let mut force = f.clone();
        add(-value.recip(), &image, &mut force);
        clear(&self.system.fixed, &mut force);
        let error = dot(&apart, &force).abs().sqrt() * value.abs();
        let residual = self.residual(value, &x, &l);
        if !(value.is_finite() && error.is_finite()) {
            let variable = Variable::Dof(0);
            return Err(SolveError::NotFinite { variable }.into());
        }
        Ok(EigenPair {
            value,
            x,
            l,
            error,
            residual,
        })
    }

    /// The residual of the equations of a pair, as a share of the sizes of their terms.
    fn residual(&self, value: f64, x: &[f64], l: &[f64]) -> f64 {
        let KktSystem { w, j, r, fixed, .. } = &self.system;
        let (n, m) = (x.len(), l.len());
        let magnitudes = |list: &[f64]| list.iter().map(|x| x.abs()).collect::<Vec<f64>>();
        let (sizes, forces) = (magnitudes(x), magnitudes(l));
        let (mut missing, mut terms, mut d) = (vec![0.0; n], vec![0.0; n], vec![0.0; n]);
        w.symmetric_add_product(1.0, x, &mut missing);
        self.b.symmetric_add_product(-value, x, &mut missing);
        j.add_transpose_product(-1.0, l, &mut missing);
        for (matrix, weight) in [(w, 1.0), (&self.b, value.abs())] {
            for i in 0..n {
                for (k, a) in matrix.row_entries(i) {
                    let a = weight * a.abs();
                    terms[i] += a * sizes[k];
                    if k == i {
                        d[i] += a;
                    } else {
                        terms[k] += a * sizes[i];
                    }
                }
            }
        }
        let mut row_share = 0.0f64;
        let largest = |list: &[f64]| list.iter().fold(0.0f64, |a, x| a.max(*x));
        let level = (ROUNDING * largest(&sizes), ROUNDING * largest(&forces));
        let mut deficit = vec![0.0; m];
        j.add_product(1.0, x, &mut deficit);
        r.symmetric_add_product(1.0, l, &mut deficit);
        let mut row_terms = vec![0.0; m];
        for row in 0..m {
            for (k, a) in j.row_entries(row) {
                terms[k] += a.abs() * forces[row];
                row_terms[row] += a.abs() * (sizes[k] + level.0);
                let own = r.row_entries(row).last().map_or(0.0, |(_, c)| c);
                if own > 0.0 {
                    d[k] += a * a / own;
                }
            }
            for (k, c) in r.row_entries(row) {
                row_terms[row] += c.abs() * (forces[k] + level.1);
                if k != row {
                    row_terms[k] += c.abs() * (forces[row] + level.1);
                }
            }
        }
        for (missing, terms) in deficit.iter().zip(&row_terms) {
            if *missing != 0.0 {
                row_share = row_share.max(missing.abs() / terms);
            }
        }
        let unit = largest(&d);
        let (mut above, mut below) = (0.0, 0.0);
        for i in (0..n).filter(|i| !fixed[*i]) {
            let d = if d[i] > 0.0 { d[i] } else { unit };
            above += missing[i] * missing[i] / d;
            below += terms[i] * terms[i] / d;
        }
        if above == 0.0 {
            return row_share;
        }
        row_share.max((above / below).sqrt())
    }
}

/// The last of the values that are the same as one, up to a share.
fn end_of_cluster(ritz: &Ritz, mut index: usize, apart: f64) -> usize {
    let near = |i: usize| ritz.values[i].abs().recip();
    while index + 1 < ritz.values.len() && near(index + 1) <= near(index) * (1.0 + apart) {
        index += 1;
    }
    index
}

/// A place beyond a value and before the next one, as a magnitude.
fn beyond(ritz: &Ritz, index: usize, apart: f64) -> f64 {
    let near = ritz.values[index].abs().recip();
    let next = ritz
        .values
        .get(index + 1)
        .map_or(f64::INFINITY, |v| v.abs().recip());
    near * (next / near).sqrt().min(FAR).max(1.0 + 0.5 * apart)
}

/// `out = B v` for a symmetric matrix, zero at fixed variables.
fn product(b: &CsrMatrix, v: &[f64], fixed: &[bool], out: &mut [f64]) {
    out.fill(0.0);
    b.symmetric_add_product(1.0, v, out);
    clear(fixed, out);
}

fn clear(fixed: &[bool], out: &mut [f64]) {
    for (out, _) in out.iter_mut().zip(fixed).filter(|(_, fixed)| **fixed) {
        *out = 0.0;
    }
}

/// Whether a row has no compliance, nor a later row of its block one with it.
pub(super) fn is_hard(system: &KktSystem, row: usize) -> bool {
    let later = row + 1..system.m();
    let coupled = later.take_while(|k| system.r.pattern().slot(*k, row).is_some());
    system.r.row_entries(row).all(|(_, c)| c == 0.0)
        && coupled.into_iter().all(|k| system.r.get(k, row) == 0.0)
}

/// Whether a matrix has the pattern of `W`.
pub(super) fn check_pattern(what: &'static str, system: &KktSystem, b: &CsrMatrix) -> Result<(), SolveError> {
    check_size(what, system.w.pattern().len(), b.pattern().len())?;
    let (ours, theirs) = (system.w.pattern(), b.pattern());
    let same = ours.offsets() == theirs.offsets() && ours.indices() == theirs.indices();
    let found = if same { ours.len() } else { 0 };
    check_size(what, ours.len(), found)
}

/// A row of a lower triangle with an entry that is not finite.
fn non_finite(b: &CsrMatrix) -> Option<usize> {
    (0..b.pattern().rows()).find(|i| b.row_entries(*i).any(|(_, b)| !b.is_finite()))
}
