//! Times the factor by fronts on one and on two threads beside faer's factor and the factor by
//! blocks, on nets and solids.
//!
//! `cargo xtask bench fronts [part of a name ...]`. All factor the same matrix in the same order
//! (minimum degree of the block graph), in turns; least of all rounds. Filling counts for blocks
//! and fronts: the factor takes the place of the matrix.

use super::Ended;
use pliant::solvers::{KktSystem, SolveError};
use pliant::sparse::{
    BlockPattern, BlockSymbolic, CsrMatrix, FrontFactor, FrontSymbolic, Graph, PatternBuilder, PivotRule,
    SparseError, Symbolic, Threads,
};
use pliant_benches::families::solid::Solid;
use pliant_benches::families::{assembled, net};
use std::process::ExitCode;
use std::time::Instant;

/// Operations from which the factor by blocks is left out: it would take the whole run.
const BLOCKS: usize = 1_000_000_000;
/// Longest time of one case, s.
const BUDGET: f64 = 6.0;

/// A name and how to make the system.
type Case = (&'static str, fn() -> Result<KktSystem, SolveError>);

pub(super) fn run(arguments: &[String]) -> Ended {
    let cases: [Case; 10] = [
        ("net 32", || net::stiffness(32)),
        ("net 32, compliance", || net::compliance(32)),
        ("net 64", || net::stiffness(64)),
        ("net 128", || net::stiffness(128)),
        ("net 128, compliance", || net::compliance(128)),
        ("net 256", || net::stiffness(256)),
        ("beam 3k", || Solid::beam(3000).stiffness()),
        ("beam 30k", || Solid::beam(30_000).stiffness()),
        ("beam 30k, compliance", || Solid::beam(30_000).compliance()),
        ("cube 10k", || Solid::cube(10_000).stiffness()),
    ];
    println!(
        "| case | unknowns | Gflop | faer ms | blocks ms | fronts ms | L L^T ms | two threads ms | speed-up | solve: faer ms | fronts ms | \
         two threads ms | analysis: faer ms | fronts ms |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|---|---|---|---|");
    for (name, make) in cases {
        if arguments.is_empty() || arguments.iter().any(|w| name.contains(w.as_str())) {
            compare(name, &make()?)?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Milliseconds that something takes.
fn clock<T>(what: impl FnOnce() -> T) -> (f64, T) {
    let start = Instant::now();
    let out = what();
    (start.elapsed().as_secs_f64() * 1e3, out)
}

/// Blocks, graph and matrix in the order of elimination.
fn ordered(system: &KktSystem) -> Result<(Vec<usize>, Graph, CsrMatrix), SparseError> {
    let a = assembled(system)?;
    let bounds: Vec<usize> = system
        .primal_blocks()
        .iter()
        .copied()
        .chain(system.row_blocks()[1..].iter().map(|b| system.n() + b))
        .collect();
    let vertex: Vec<usize> = bounds
        .windows(2)
        .enumerate()
        .flat_map(|(k, w)| std::iter::repeat_n(k, w[1] - w[0]))
        .collect();
    let count = bounds.len() - 1;
    let mut graph = Graph::new(count);
    for i in 0..vertex.len() {
        for j in a.pattern().row(i) {
            graph.connect(vertex[i], vertex[*j as usize]);
        }
    }
    let order = graph.minimum_degree()?;
    let (mut rank, mut first) = (vec![0; count], vec![0; count]);
    let mut ends = vec![0];
    for (k, v) in order.iter().enumerate() {
        rank[*v] = k;
        first[*v] = ends[k];
        ends.push(ends[k] + bounds[v + 1] - bounds[*v]);
    }
    let place = |i: usize| first[vertex[i]] + i - bounds[vertex[i]];
    let mut permuted = Graph::new(count);
    let mut builder = PatternBuilder::new(vertex.len(), vertex.len());
    for i in 0..vertex.len() {
        for j in a.pattern().row(i).iter().map(|j| *j as usize) {
            permuted.connect(rank[vertex[i]], rank[vertex[j]]);
            let (p, q) = (place(i), place(j));
            builder.insert(p.max(q), p.min(q));
        }
    }
    let mut out = builder.finish()?.into_matrix();
    for i in 0..vertex.len() {
        for slot in a.pattern().row_slots(i) {
            let (p, q) = (place(i), place(a.pattern().indices()[slot] as usize));
            if let Some(target) = out.pattern().slot(p.max(q), p.min(q)) {
                out.values_mut()[target] = a.values()[slot];
            }
        }
    }
    Ok((ends, permuted, out))
}

fn fill(factor: &mut FrontFactor, slots: &[usize], a: &CsrMatrix) {
    factor.clear();
    for (slot, value) in slots.iter().zip(a.values()) {
        factor.values_mut()[*slot] = *value;
    }
}

fn compare(name: &str, system: &KktSystem) -> Result<(), SparseError> {
    let (bounds, graph, a) = ordered(system)?;
    let n = a.pattern().rows();
    let keep = PivotRule::Keep;
    let (analysis0, faer) = clock(|| Symbolic::new(a.pattern()));
    let (analysis1, fronts) = clock(|| FrontSymbolic::new(&bounds, &graph));
    let (faer, fronts) = (faer?, fronts?);
    let blocks = if fronts.flops() <= BLOCKS {
        Some(BlockSymbolic::new(BlockPattern::new(&bounds, &graph)?)?)
    } else {
        None
    };
    let entries = |i: usize| a.pattern().row(i).iter().map(move |j| (i, *j as usize));
    let slots: Vec<usize> = (0..n)
        .flat_map(entries)
        .filter_map(|(i, j)| fronts.slot(i, j))
        .collect();
    let (mut f0, mut fb) = (faer.allocate(), blocks.as_ref().map(BlockSymbolic::allocate));
    let block_slots: Vec<usize> = blocks.as_ref().map_or(Vec::new(), |blocks| {
        (0..n)
            .flat_map(entries)
            .filter_map(|(i, j)| blocks.slot(i, j))
            .collect()
    });
    let mut one = fronts.allocate(&Threads::one())?;
    let mut two = fronts.allocate(&Threads::new(2)?)?;
    let mut least = [f64::INFINITY; 8];
    let start = Instant::now();
    let mut rounds = 0;
    while rounds < 3 || (rounds < 500 && start.elapsed().as_secs_f64() < BUDGET) {
        rounds += 1;
        let [mut x0, mut x1, mut x2] = [0, 1, 2].map(|_| vec![1.0; n]);
        let mut times = [f64::INFINITY; 8];
        let done;
        (times[0], done) = clock(|| f0.factor(&faer, &a, keep));
        let expected = done?;
        if let (Some(blocks), Some(factor)) = (&blocks, &mut fb) {
            let done;
            (times[1], done) = clock(|| {
                factor.clear();
                for (slot, value) in block_slots.iter().zip(a.values()) {
                    factor.values_mut()[*slot] = *value;
                }
                factor.factor(blocks, keep)
            });
            assert_eq!(done?, expected, "inertia");
        }
        if system.m() == 0 {
            let done;
            (times[3], done) = clock(|| {
                fill(&mut one, &slots, &a);
                one.factor_positive(&fronts)
            });
            assert_eq!(done?, expected, "inertia");
        }
        for (k, factor) in [(2, &mut one), (4, &mut two)] {
            let done;
            (times[k], done) = clock(|| {
                fill(factor, &slots, &a);
                factor.factor(&fronts, keep)
            });
            assert_eq!(done?, expected, "inertia");
        }
        (times[5], ()) = clock(|| f0.solve_in_place(&faer, &mut x0));
        (times[6], ()) = clock(|| one.solve_in_place(&fronts, &mut x1));
        (times[7], ()) = clock(|| two.solve_in_place(&fronts, &mut x2));
        assert!(x1 == x2, "{name}: bits depend on the threads");
        for (least, time) in least.iter_mut().zip(times) {
            *least = least.min(time);
        }
    }
    let figure = |k: usize| {
        if least[k].is_finite() {
            format!("{:.2}", least[k])
        } else {
            String::new()
        }
    };
    println!(
        "| {name} | {n} | {:.2} | {} | {} | {} | {} | {} | {:.2} | {} | {} | {} | {analysis0:.1} | {analysis1:.1} |",
        fronts.flops() as f64 * 1e-9,
        figure(0),
        figure(1),
        figure(2),
        figure(3),
        figure(4),
        least[2] / least[4],
        figure(5),
        figure(6),
        figure(7)
    );
    Ok(())
}
