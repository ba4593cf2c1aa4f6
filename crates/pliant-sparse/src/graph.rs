//! The graph of a block matrix and orders of elimination of small fill.

mod adjacency;
mod coarsen;
mod compress;
mod counts;
mod dissect;
mod noise;
mod reduce;
mod separator;
#[cfg(test)]
mod tests;
mod workspace;

pub use counts::EliminationCost;
pub(crate) use workspace::GraphWorkspace;

use crate::{Pattern, SparseError, SymbolicWorkspace, check_size};
use adjacency::{Adjacency, Sorting};
use workspace::{Ordering, minimum_degree};

/// An undirected graph: one vertex per block of a symmetric block matrix, one edge per non-zero
/// off-diagonal block.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    /// Unknowns of each vertex.
    weights: Vec<u32>,
    edges: Vec<(u32, u32)>,
}

/// How an order of elimination was found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum OrderMethod {
    /// As the caller said.
    #[default]
    Given,
    /// Approximate minimum degree: best on chains, trees, and surfaces of moderate size.
    MinimumDegree,
    /// Multilevel nested dissection: best in three dimensions.
    NestedDissection,
}

/// Cost of an order of elimination, and of the best order that was rejected.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct OrderReport {
    /// How it was found.
    pub method: OrderMethod,
    /// Predicted by counting, for the graph that was ordered.
    pub cost: EliminationCost,
    /// Of the best other order; `None` if no other was tried.
    pub rejected: Option<EliminationCost>,
}

/// An order of elimination and what is known about it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BestOrder {
    /// The k-th entry is the k-th vertex to go.
    pub sequence: Vec<usize>,
    /// Where each run of indistinguishable vertices starts in the sequence, and its length: runs
    /// may be eliminated as one block.
    pub runs: Vec<usize>,
    /// Method and predicted cost.
    pub report: OrderReport,
}

/// Operations per unknown up to which nested dissection is not tried: it takes about as long itself
/// as it could ever save.
const CHEAP: u64 = 2000;
/// Entries of `L` per entry of the matrix up to which minimum degree left nothing to gain.
const LITTLE_FILL: f64 = 1.5;

impl Graph {
    /// A graph without edges; each vertex stands for one unknown.
    pub fn new(vertices: usize) -> Self {
        Self {
            weights: vec![1; vertices],
            edges: Vec::new(),
        }
    }

    /// The graph of a square matrix, by entries: an edge for each one beside the diagonal, in
    /// whichever triangle it is.
    ///
    /// # Errors
    /// [`SparseError::Size`] if the pattern is not square.
    pub fn from_pattern(pattern: &Pattern) -> Result<Self, SparseError> {
        check_size("columns of a square matrix", pattern.rows(), pattern.columns())?;
        let mut out = Self::new(pattern.rows());
        for i in 0..pattern.rows() {
            for j in pattern.row(i) {
                out.connect(i, *j as usize);
            }
        }
        Ok(out)
    }

    /// Makes it a graph without edges again, of so many vertices. Allocates only for more of them
    /// than ever before.
    pub fn reset(&mut self, vertices: usize) {
        self.weights.clear();
        self.weights.resize(vertices, 1);
        self.edges.clear();
    }

    /// Number of vertices.
    pub fn len(&self) -> usize {
        self.weights.len()
    }

    /// Whether there are no vertices.
    pub fn is_empty(&self) -> bool {
        self.weights.is_empty()
    }

    /// Joins two vertices; loops are dropped, repeats merged later.
    ///
    /// # Panics
    /// If a vertex is not in the graph.
    pub fn connect(&mut self, a: usize, b: usize) {
        assert!(
            a < self.len() && b < self.len(),
            "edge ({a}, {b}) in a graph of {}",
            self.len()
        );
        if a != b {
            self.edges.push((a as u32, b as u32));
        }
    }

    /// Says how many unknowns a vertex stands for; at first one.
    ///
    /// # Panics
    /// If the vertex is not in the graph.
    pub fn set_unknowns(&mut self, vertex: usize, unknowns: u32) {
        self.weights[vertex] = unknowns;
    }

    /// Neighbours of every vertex, ascending, as offsets and indices. Cost: linear.
    ///
    /// # Errors
    /// [`SparseError::TooLarge`] beyond 32-bit indices.
    pub fn adjacency(&self) -> Result<(Vec<u32>, Vec<u32>), SparseError> {
        let found = Adjacency::new(&self.weights, &self.edges)?;
        Ok((found.offsets, found.neighbours))
    }

    /// As [`adjacency`](Self::adjacency), in a workspace.
    ///
    /// # Errors
    /// As [`adjacency`](Self::adjacency).
    pub fn adjacency_in<'a>(
        &self,
        work: &'a mut SymbolicWorkspace,
    ) -> Result<(&'a [u32], &'a [u32]), SparseError> {
        self.lists_in(&mut work.graph)
    }

    /// As [`adjacency_in`](Self::adjacency_in), of the part of a workspace that is for graphs.
    pub(crate) fn lists_in<'a>(
        &self,
        work: &'a mut GraphWorkspace,
    ) -> Result<(&'a [u32], &'a [u32]), SparseError> {
        let GraphWorkspace { full, sorting, .. } = work;
        full.refill(&self.weights, &self.edges, sorting)?;
        Ok((&full.offsets, &full.neighbours))
    }

    /// Checks the sizes and compresses the lists.
    fn checked(&self) -> Result<Adjacency, SparseError> {
        let mut out = Adjacency::default();
        self.check_into(&mut out, &mut Sorting::default())?;
        Ok(out)
    }

    fn check_into(&self, out: &mut Adjacency, sorting: &mut Sorting) -> Result<(), SparseError> {
        let unknowns: u64 = self.weights.iter().map(|w| u64::from(*w)).sum();
        for (what, found) in [("vertices", self.len() as u64), ("unknowns", unknowns)] {
            if found >= i32::MAX as u64 {
                let found = found as usize;
                return Err(SparseError::TooLarge { what, found });
            }
        }
        out.refill(&self.weights, &self.edges, sorting)
    }

    /// An order of elimination of small fill (approximate minimum degree, all vertices alike): the
    /// k-th entry is the k-th vertex to go. Deterministic.
    ///
    /// # Errors
    /// [`SparseError::Symbolic`] or [`SparseError::TooLarge`] if the graph does not fit 32-bit
    /// indices.
    pub fn minimum_degree(&self) -> Result<Vec<usize>, SparseError> {
        Ok(wide(minimum_degree(&self.checked()?)?))
    }

    /// As [`minimum_degree`](Self::minimum_degree), into an order that is there.
    ///
    /// # Errors
    /// As [`Self::minimum_degree`].
    pub fn minimum_degree_into(
        &self,
        work: &mut SymbolicWorkspace,
        out: &mut Vec<usize>,
    ) -> Result<(), SparseError> {
        let GraphWorkspace {
            full,
            sorting,
            ordering,
            ..
        } = &mut work.graph;
        self.check_into(full, sorting)?;
        ordering.minimum_degree(full)?;
        out.clear();
        out.extend(ordering.order.iter().map(|v| *v as usize));
        Ok(())
    }

    /// An order of elimination of small fill and with a balanced elimination tree (multilevel
    /// nested dissection, unknowns as weights; minimum degree on small parts): the k-th entry is
    /// the k-th vertex to go. Deterministic.
    ///
    /// # Errors
    /// As [`Self::minimum_degree`].
    pub fn nested_dissection(&self) -> Result<Vec<usize>, SparseError> {
        Ok(wide(dissect::nested_dissection(&self.checked()?)?))
    }

    /// Predicted cost of eliminating the vertices in the order given. Cost: nearly linear in the
    /// edges.
    ///
    /// # Errors
    /// [`SparseError::Size`] if `sequence` does not hold each vertex once,
    /// [`SparseError::TooLarge`] beyond 32-bit indices.
    pub fn cost(&self, sequence: &[usize]) -> Result<EliminationCost, SparseError> {
        let mut seen = vec![false; self.len()];
        let once = |v: &&usize| seen.get_mut(**v).is_some_and(|s| !std::mem::replace(s, true));
        let found = sequence.iter().filter(once).count();
        if found != self.len() || sequence.len() != self.len() {
            return Err(SparseError::Size {
                what: "order of all vertices",
                expected: self.len(),
                found,
            });
        }
        let order: Vec<u32> = sequence.iter().map(|v| *v as u32).collect();
        Ok(counts::cost(
            &self.checked()?,
            &order,
            &mut counts::Scratch::default(),
        ))
    }

    /// The order of fewer predicted operations of minimum degree and nested dissection, after
    /// merging indistinguishable vertices. The latter is not tried where it cannot pay: few
    /// operations, or hardly any fill (chains, trees). Deterministic.
    ///
    /// # Errors
    /// As [`Self::minimum_degree`].
    pub fn best_order(&self) -> Result<BestOrder, SparseError> {
        let mut out = BestOrder::default();
        self.best_order_into(&mut SymbolicWorkspace::default(), &mut out)?;
        Ok(out)
    }

    /// As [`best_order`](Self::best_order), into an order that is there. What nested dissection is
    /// tried for allocates; other graphs do only if they are larger than ever before.
    ///
    /// # Errors
    /// As [`Self::minimum_degree`].
    pub fn best_order_into(
        &self,
        work: &mut SymbolicWorkspace,
        out: &mut BestOrder,
    ) -> Result<(), SparseError> {
        let GraphWorkspace {
            full,
            quotient,
            sorting,
            groups,
            ordering,
        } = &mut work.graph;
        self.check_into(full, sorting)?;
        out.sequence.clear();
        out.runs.clear();
        if !groups.find(full) {
            out.report = best(full, ordering)?;
            out.sequence.extend(ordering.order.iter().map(|v| *v as usize));
            out.runs.extend(0..=ordering.order.len());
            return Ok(());
        }
        groups.quotient_into(full, quotient);
        out.report = best(quotient, ordering)?;
        out.runs.push(0);
        for k in &ordering.order {
            let members = groups.members(*k as usize);
            out.sequence.extend(members.iter().map(|v| *v as usize));
            out.runs.push(out.sequence.len());
        }
        Ok(())
    }
}

fn wide(order: Vec<u32>) -> Vec<usize> {
    order.into_iter().map(|v| v as usize).collect()
}

/// Leaves the best order in `ordering`, and returns what was compared.
fn best(graph: &Adjacency, ordering: &mut Ordering) -> Result<OrderReport, SparseError> {
    ordering.minimum_degree(graph)?;
    let mut best = Candidates {
        graph,
        report: OrderReport {
            method: OrderMethod::MinimumDegree,
            cost: counts::cost(graph, &ordering.order, &mut ordering.counts),
            rejected: None,
        },
        ordering,
    };
    if best.is_settled() {
        return Ok(best.report);
    }
    let Some(reduced) = reduce::reduce(graph)? else {
        best.offer(OrderMethod::NestedDissection, dissect::nested_dissection(graph)?);
        return Ok(best.report);
    };
    best.offer(
        OrderMethod::MinimumDegree,
        reduced.whole(&minimum_degree(&reduced.rest)?),
    );
    if !best.is_settled() {
        let order = dissect::nested_dissection(&reduced.rest)?;
        best.offer(OrderMethod::NestedDissection, reduced.whole(&order));
    }
    Ok(best.report)
}

/// The best order so far.
struct Candidates<'a> {
    graph: &'a Adjacency,
    ordering: &'a mut Ordering,
    report: OrderReport,
}

impl Candidates<'_> {
    /// Whether another method cannot save what it takes.
    fn is_settled(&self) -> bool {
        let cost = self.report.cost;
        cost.flops <= CHEAP.saturating_mul(self.graph.unknowns())
            || cost.entries as f64 <= LITTLE_FILL * self.graph.entries() as f64
    }

    /// Takes the order if it needs fewer operations.
    fn offer(&mut self, method: OrderMethod, order: Vec<u32>) {
        let cost = counts::cost(self.graph, &order, &mut self.ordering.counts);
        let rejected = if cost.flops < self.report.cost.flops {
            self.ordering.order = order;
            self.report.method = method;
            std::mem::replace(&mut self.report.cost, cost)
        } else {
            cost
        };
        let runner_up = self.report.rejected.filter(|r| r.flops <= rejected.flops);
        self.report.rejected = runner_up.or(Some(rejected));
    }
}
