//! Times the scalar and the block factor on the matrices of chains of bodies and of grids of
//! particles, in turns: least of many.

use super::Ended;
use pliant::sparse::{
    BlockFactor, BlockPattern, BlockSymbolic, CsrMatrix, FactorReport, Graph, PatternBuilder, PivotRule,
    SparseError, Symbolic,
};
use std::io::Write as _;
use std::process::ExitCode;
use std::time::Instant;

pub(super) fn run(_: &[String]) -> Ended {
    let _ = writeln!(
        std::io::stdout(),
        "Factor and triangular solves, us per link of a chain or particle of a grid (docs/lab/solvers.md).\n\
         {:>8} {:>6} | {:>26} | {:>26} | {:>8} | single, per element: columns, entries, updates",
        "what",
        "size",
        "factor: scalar, blocks, single",
        "solve: the same",
        "difference"
    );
    for (name, rows, sparse) in [("ball", 3, false), ("hinge", 5, false), ("sparse", 3, true)] {
        for links in [10, 100, 1000, 10_000] {
            compare(name, links, chain(links, rows, sparse)?)?;
        }
    }
    for side in [10, 20, 30, 40, 50] {
        compare("grid", side * side, grid(side)?)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// A block matrix in the order of elimination: the lower triangle of `a`.
struct Problem {
    bounds: Vec<usize>,
    graph: Graph,
    a: CsrMatrix,
}

/// From the free end: body of six, joint, body, joint, .., the last one to the ground. A sparse one
/// has diagonal blocks within bodies and joints, and two entries per row and body between them.
fn chain(links: usize, rows: usize, sparse: bool) -> Result<Problem, SparseError> {
    let mut bounds = vec![0];
    for k in 0..2 * links {
        bounds.push(bounds[k] + if k % 2 == 0 { 6 } else { rows });
    }
    let n = bounds[2 * links];
    let mut graph = Graph::new(2 * links);
    let mut builder = PatternBuilder::new(n, n);
    let size = |k: usize| bounds[k + 1] - bounds[k];
    for k in 0..2 * links {
        if k > 0 {
            graph.connect(k - 1, k);
        }
        for i in 0..size(k) {
            let diagonal = bounds[k] + i;
            if sparse {
                builder.insert(diagonal, diagonal);
                let before = if k > 0 { size(k - 1) } else { 0 };
                for j in [i, i + 3].into_iter().filter(|j| *j < before) {
                    builder.insert(diagonal, bounds[k - 1] + j);
                }
                continue;
            }
            for j in 0..=i {
                builder.insert(diagonal, bounds[k] + j);
            }
            for j in 0..if k > 0 { size(k - 1) } else { 0 } {
                builder.insert(diagonal, bounds[k - 1] + j);
            }
        }
    }
    let mut a = builder.finish()?.into_matrix();
    for i in 0..n {
        let vertex = bounds.partition_point(|b| *b <= i) - 1;
        let hard = vertex % 2 == 1;
        for slot in a.pattern().row_slots(i) {
            let j = a.pattern().indices()[slot] as usize;
            let inside = j >= bounds[vertex];
            // Inertia 1 with small couplings; rows act on one coordinate of each body, mostly.
            a.values_mut()[slot] = match (hard, inside) {
                (true, true) => 0.0,
                (false, true) => [0.01, 1.0][usize::from(i == j)],
                _ if i - bounds[vertex] == j - bounds[vertex - 1] => 1.0,
                _ => 0.1 * ((i * 7 + j * 13) as f64).sin(),
            };
        }
    }
    Ok(Problem { bounds, graph, a })
}

/// Seconds that something takes.
fn clock<T>(what: impl FnOnce() -> T) -> (f64, T) {
    let start = Instant::now();
    let out = what();
    (start.elapsed().as_secs_f64(), out)
}

/// A square of particles, each coupled to its six neighbours in a triangulation.
fn grid(side: usize) -> Result<Problem, SparseError> {
    let count = side * side;
    let mut graph = Graph::new(count);
    let mut edges = Vec::new();
    for i in 0..side {
        for j in 0..side {
            let k = i * side + j;
            if j + 1 < side {
                edges.push((k, k + 1));
            }
            if i + 1 < side {
                edges.push((k, k + side));
                if j + 1 < side {
                    edges.push((k, k + side + 1));
                }
            }
        }
    }
    for (a, b) in &edges {
        graph.connect(*a, *b);
    }
    let order = graph.minimum_degree()?;
    let mut rank = vec![0; count];
    for (k, v) in order.iter().enumerate() {
        rank[*v] = k;
    }
    let mut permuted = Graph::new(count);
    let mut builder = PatternBuilder::new(3 * count, 3 * count);
    for k in 0..count {
        builder.insert_block((3 * k, 3 * k), (3, 3), true);
    }
    for (a, b) in edges {
        let (a, b) = (rank[a].max(rank[b]), rank[a].min(rank[b]));
        permuted.connect(a, b);
        builder.insert_block((3 * a, 3 * b), (3, 3), false);
    }
    let mut a = builder.finish()?.into_matrix();
    for i in 0..3 * count {
        for slot in a.pattern().row_slots(i) {
            let j = a.pattern().indices()[slot] as usize;
            a.values_mut()[slot] = if i == j {
                30.0
            } else {
                ((i * 7 + j * 13) as f64).sin()
            };
        }
    }
    Ok(Problem {
        bounds: (0..=count).map(|k| 3 * k).collect(),
        graph: permuted,
        a,
    })
}

/// A factor by blocks, and where the entries of a matrix go in it.
struct Blocks {
    symbolic: BlockSymbolic,
    factor: BlockFactor,
    slots: Vec<usize>,
}

impl Blocks {
    fn new(bounds: Vec<usize>, graph: &Graph, a: &CsrMatrix) -> Result<Self, SparseError> {
        let symbolic = BlockSymbolic::new(BlockPattern::new(&bounds, graph)?)?;
        let indices = |i: usize| a.pattern().row(i).iter().map(move |j| (i, *j as usize));
        let slots = (0..a.pattern().rows())
            .flat_map(indices)
            .filter_map(|(i, j)| symbolic.slot(i, j))
            .collect();
        Ok(Self {
            factor: symbolic.allocate(),
            symbolic,
            slots,
        })
    }

    /// Filling counts: the factor takes the place of the matrix.
    fn factor(&mut self, a: &CsrMatrix) -> Result<FactorReport, SparseError> {
        self.factor.clear();
        let values = self.factor.values_mut();
        for (slot, value) in self.slots.iter().zip(a.values()) {
            values[*slot] = *value;
        }
        self.factor.factor(&self.symbolic, PivotRule::Keep)
    }
}

fn compare(name: &str, elements: usize, problem: Problem) -> Result<(), SparseError> {
    let Problem { bounds, graph, a } = problem;
    let n = a.pattern().rows();
    let scalar = Symbolic::new(a.pattern())?;
    let mut scalar_factor = scalar.allocate();
    let mut blocks = Blocks::new(bounds, &graph, &a)?;
    let mut entries = Graph::new(n);
    for i in 0..n {
        let columns = a.pattern().row(i).iter().filter(|j| (**j as usize) < i);
        columns.for_each(|j| entries.connect(i, *j as usize));
    }
    let mut single = Blocks::new((0..=n).collect(), &entries, &a)?;
    let (mut x, mut y, mut z) = (vec![0.0; n], vec![0.0; n], vec![0.0; n]);
    let mut least = [f64::INFINITY; 6];
    let mut difference = 0.0f64;
    for _ in 0..(300_000 / elements).clamp(50, 20_000) {
        for v in [&mut x, &mut y, &mut z] {
            v.fill(1.0);
        }
        let (t0, done) = clock(|| scalar_factor.factor(&scalar, &a, PivotRule::Keep));
        let expected = done?;
        let (t1, done) = clock(|| blocks.factor(&a));
        assert_eq!(done?, expected, "inertia");
        let (t2, done) = clock(|| single.factor(&a));
        assert_eq!(done?, expected, "inertia");
        let (t3, ()) = clock(|| scalar_factor.solve_in_place(&scalar, &mut x));
        let (t4, ()) = clock(|| blocks.factor.solve_in_place(&blocks.symbolic, &mut y));
        let (t5, ()) = clock(|| single.factor.solve_in_place(&single.symbolic, &mut z));
        for (least, t) in least.iter_mut().zip([t0, t1, t2, t3, t4, t5]) {
            *least = least.min(t);
        }
        let scale = x.iter().fold(1.0f64, |s, x| s.max(x.abs()));
        for other in [&y, &z] {
            let pairs = x.iter().zip(other);
            difference = pairs.fold(difference, |d, (x, y)| d.max((x - y).abs() / scale));
        }
    }
    let [t0, t1, t2, t3, t4, t5] = least.map(|t| t * 1e6 / elements as f64);
    let pattern = single.symbolic.pattern();
    let counts = [pattern.len(), pattern.entries(), pattern.updates()].map(|k| k as f64 / elements as f64);
    let _ = writeln!(
        std::io::stdout(),
        "{name:>8} {elements:>6} | {t0:>8.3} {t1:>8.3} {t2:>8.3} | {t3:>8.3} {t4:>8.3} {t5:>8.3} | {difference:>8.1e} | {:.1} {:.1} {:.1}",
        counts[0],
        counts[1],
        counts[2]
    );
    Ok(())
}
