//! Times the scalar and the block factor on the matrices of chains of bodies, in turns: least of many, us per link.

use pliant::sparse::{
    BlockPattern, BlockSymbolic, CsrMatrix, Graph, PatternBuilder, PivotRule, SparseError, Symbolic,
};
use std::io::Write as _;
use std::process::ExitCode;
use std::time::Instant;

fn main() -> ExitCode {
    let _ = writeln!(
        std::io::stdout(),
        "Factor and triangular solves of a chain, scalar and by blocks, us per link (docs/benchmarks.md).\n\
         {:>5} {:>6} {:>14} {:>14} {:>14} {:>14} {:>8} {:>10}",
        "rows",
        "links",
        "scalar factor",
        "block factor",
        "scalar solve",
        "block solve",
        "ratio",
        "difference"
    );
    for rows in [3, 5] {
        for links in [10, 100, 1000, 10_000] {
            if let Err(e) = compare(links, rows) {
                eprintln!("{links} links: {e}");
                return ExitCode::FAILURE;
            }
        }
    }
    ExitCode::SUCCESS
}

/// From the free end: body of six, joint, body, joint, .., the last one to the ground.
struct Chain {
    bounds: Vec<usize>,
    graph: Graph,
    a: CsrMatrix,
}

fn chain(links: usize, rows: usize) -> Result<Chain, SparseError> {
    let mut bounds = vec![0];
    for k in 0..2 * links {
        bounds.push(bounds[k] + if k % 2 == 0 { 6 } else { rows });
    }
    let n = bounds[2 * links];
    let mut graph = Graph::new(2 * links);
    let mut builder = PatternBuilder::new(n, n);
    let size = |k: usize| bounds[k + 1] - bounds[k];
    for k in 0..2 * links {
        builder.insert_block((bounds[k], bounds[k]), (size(k), size(k)), true);
        if k > 0 {
            graph.connect(k - 1, k);
            builder.insert_block((bounds[k], bounds[k - 1]), (size(k), size(k - 1)), false);
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
    Ok(Chain { bounds, graph, a })
}

/// Seconds that something takes.
fn clock<T>(what: impl FnOnce() -> T) -> (f64, T) {
    let start = Instant::now();
    let out = what();
    (start.elapsed().as_secs_f64(), out)
}

fn compare(links: usize, rows: usize) -> Result<(), SparseError> {
    let Chain { bounds, graph, a } = chain(links, rows)?;
    let n = a.pattern().rows();
    let scalar = Symbolic::new(a.pattern())?;
    let mut scalar_factor = scalar.allocate();
    let blocks = BlockSymbolic::new(BlockPattern::new(bounds, &graph)?)?;
    let mut block_factor = blocks.allocate();
    let indices = |i: usize| a.pattern().row(i).iter().map(move |j| (i, *j as usize));
    let slots: Vec<usize> = (0..n)
        .flat_map(indices)
        .filter_map(|(i, j)| blocks.slot(i, j))
        .collect();
    let (mut x, mut y) = (vec![0.0; n], vec![0.0; n]);
    let mut least = [f64::INFINITY; 4];
    let mut difference = 0.0f64;
    for _ in 0..(1_000_000 / links).clamp(50, 20_000) {
        x.fill(1.0);
        y.fill(1.0);
        let (t0, done) = clock(|| scalar_factor.factor(&scalar, &a, PivotRule::Keep));
        let expected = done?;
        // Filling counts for the blocks: the factor takes the place of the matrix.
        let (t1, done) = clock(|| {
            block_factor.clear();
            for (slot, value) in slots.iter().zip(a.values()) {
                block_factor.values_mut()[*slot] = *value;
            }
            block_factor.factor(&blocks, PivotRule::Keep)
        });
        assert_eq!(done?, expected, "inertia");
        let (t2, ()) = clock(|| scalar_factor.solve_in_place(&scalar, &mut x));
        let (t3, ()) = clock(|| block_factor.solve_in_place(&blocks, &mut y));
        for (least, t) in least.iter_mut().zip([t0, t1, t2, t3]) {
            *least = least.min(t);
        }
        let scale = x.iter().fold(1.0f64, |s, x| s.max(x.abs()));
        difference = x
            .iter()
            .zip(&y)
            .fold(difference, |d, (x, y)| d.max((x - y).abs() / scale));
    }
    let [t0, t1, t2, t3] = least.map(|t| t * 1e6 / links as f64);
    let _ = writeln!(
        std::io::stdout(),
        "{rows:>5} {links:>6} {t0:>14.3} {t1:>14.3} {t2:>14.3} {t3:>14.3} {:>8.2} {difference:>10.1e}",
        (t0 + t2) / (t1 + t3)
    );
    Ok(())
}
