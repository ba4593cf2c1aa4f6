//! Problems that a record may hold.

use crate::Condensed;
use pliant_solvers::KktSystem;
use pliant_solvers::complementarity::{
    BlockSparse, Cone, DenseDelassus, Form, Problem, ProblemError, without,
};
use pliant_sparse::{CsrMatrix, PatternBuilder};

/// A problem.
#[derive(Debug)]
pub enum Statement {
    /// Rows that are bilateral or have bounds.
    Kkt(Box<KktSystem>),
    /// A matrix and cones.
    Complementarity(Problem),
    /// Both, not condensed.
    Mixed(Box<Mixed>),
}

impl From<KktSystem> for Statement {
    fn from(system: KktSystem) -> Self {
        Self::Kkt(Box::new(system))
    }
}

impl From<Problem> for Statement {
    fn from(problem: Problem) -> Self {
        Self::Complementarity(problem)
    }
}

impl From<Mixed> for Statement {
    fn from(mixed: Mixed) -> Self {
        Self::Mixed(Box::new(mixed))
    }
}

/// A [`KktSystem`] of bilateral rows and rows `N` with cones: what [`Condensed::new`] takes.
///
/// ```math
/// W x - J^T mu - N^T r = c,   J x + R mu + b = 0,   u = N x + R_N r + b_N
/// ```
#[derive(Clone, Debug)]
pub struct Mixed {
    /// `W`, `J`, `R`, `c`, `b`.
    pub system: KktSystem,
    /// `N`, p x n.
    pub rows: CsrMatrix,
    /// Diagonal of `R_N`, p.
    pub compliance: Vec<f64>,
    /// `b_N`, p.
    pub velocity: Vec<f64>,
    /// The laws of the rows of `N`.
    pub cones: Vec<Cone>,
}

impl Mixed {
    /// The system without the rows of the problem, with these as `N`; none if they are coupled by
    /// compliance.
    fn of(problem: &Problem, system: &KktSystem, rows: &[usize]) -> Result<Option<Self>, ProblemError> {
        let (n, m) = (system.n(), system.m());
        let mut place = vec![None; m];
        rows.iter().enumerate().for_each(|(k, row)| place[*row] = Some(k));
        for i in 0..m {
            let coupled =
                |(k, x): (usize, f64)| x != 0.0 && k != i && (place[i].is_some() || place[k].is_some());
            if system.r.row_entries(i).any(coupled) {
                return Ok(None);
            }
        }
        let (own, _) = without(system, &place.iter().map(Option::is_some).collect::<Vec<_>>())?;
        let mut pattern = PatternBuilder::new(rows.len(), n);
        for (k, row) in rows.iter().enumerate() {
            system.j.row_entries(*row).for_each(|(i, _)| pattern.insert(k, i));
        }
        let mut normals = pattern.finish()?.into_matrix();
        for (k, row) in rows.iter().enumerate() {
            let to = normals.pattern().row_slots(k);
            let from = system.j.pattern().row_slots(*row);
            normals.values_mut()[to].copy_from_slice(&system.j.values()[from]);
        }
        Ok(Some(Self {
            system: own,
            rows: normals,
            compliance: rows.iter().map(|row| system.r.get(*row, *row)).collect(),
            velocity: problem.b().to_vec(),
            cones: problem.cones().to_vec(),
        }))
    }

    /// The complementarity problem of the rows with cones.
    ///
    /// # Errors
    /// As [`Condensed::new`].
    pub fn condense(&self) -> Result<Condensed, ProblemError> {
        Condensed::new(
            &self.system,
            self.rows.clone(),
            &self.compliance,
            &self.velocity,
            self.cones.clone(),
        )
    }
}

impl Statement {
    /// A copy of a complementarity problem: as the saddle-point system and its rows, where the
    /// operator knows one in which the rows with cones have a diagonal compliance of their own, so
    /// that whoever reads it solves what was solved; else with `A` entry by entry, in `m^2` time.
    ///
    /// # Errors
    /// As [`Problem::new`].
    pub fn of(problem: &Problem) -> Result<Self, ProblemError> {
        if let Form::Saddle { system, rows } = problem.delassus().form()
            && let Some(mixed) = Mixed::of(problem, system, rows)?
        {
            return Ok(mixed.into());
        }
        let m = problem.size();
        let entries = Entries::of(problem);
        let (b, cones) = (problem.b().to_vec(), problem.cones().to_vec());
        let copy = if entries.dense {
            let mut a = vec![0.0; m * m];
            for (i, k, x) in &entries.list {
                a[i * m + k] = *x;
            }
            Problem::new(DenseDelassus::new(&a)?, b, cones)?
        } else {
            Problem::new(sparse(m, entries.list)?, b, cones)?
        };
        Ok(Self::Complementarity(copy))
    }

    /// `kkt`, `complementarity` or `mixed`.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Kkt(_) => "kkt",
            Self::Complementarity(_) => "complementarity",
            Self::Mixed(_) => "mixed",
        }
    }
}

/// `A` from its entries.
pub(super) fn sparse(m: usize, entries: Vec<(usize, usize, f64)>) -> Result<BlockSparse, ProblemError> {
    let blocks: Vec<_> = entries.into_iter().map(|(i, k, x)| (i, k, vec![x])).collect();
    BlockSparse::new(&vec![1; m], &blocks)
}

/// The entries of `A` that are not zero, row by row.
pub(super) struct Entries {
    pub(super) list: Vec<(usize, usize, f64)>,
    /// More than a third of all.
    pub(super) dense: bool,
}

impl Entries {
    pub(super) fn of(problem: &Problem) -> Self {
        let m = problem.size();
        let mut row = vec![0.0; m];
        let mut list = Vec::new();
        for i in 0..m {
            problem.delassus().block(i..i + 1, 0..m, &mut row);
            let there = row.iter().enumerate().filter(|(k, x)| **x != 0.0 || *k == i);
            list.extend(there.map(|(k, x)| (i, k, *x)));
        }
        let dense = 3 * list.len() > m * m;
        Self { list, dense }
    }
}
