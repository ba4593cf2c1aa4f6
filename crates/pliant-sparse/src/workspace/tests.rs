//! Storage of former problems against new one.

use super::SymbolicWorkspace;
use crate::{
    BestOrder, BlockFactor, BlockPattern, BlockSymbolic, Complement, ComplementPattern, ComplementSymbolic,
    FrontFactor, FrontSymbolic, Graph, Threads, UnsymmetricFactor,
};
use proptest::prelude::*;
use std::fmt::Debug;

/// Storage of everything.
#[derive(Default)]
struct Storage {
    work: SymbolicWorkspace,
    graph: Graph,
    best: BestOrder,
    degree: Vec<usize>,
    pattern: BlockPattern,
    symbolic: BlockSymbolic,
    factor: BlockFactor,
    fronts: FrontSymbolic,
    front_factor: FrontFactor,
    unsymmetric: UnsymmetricFactor,
    outer: ComplementPattern,
    complement_symbolic: ComplementSymbolic,
    complement: Complement,
}

/// Sizes of the vertices, edges, and rows below, each on some vertices.
type Case = (Vec<usize>, Vec<(usize, usize)>, Vec<Vec<usize>>);

fn case() -> impl Strategy<Value = Case> {
    (1usize..30).prop_flat_map(|n| {
        (
            prop::collection::vec(1usize..5, n),
            prop::collection::vec((0..n, 0..n), 0..60),
            prop::collection::vec(prop::collection::vec(0..n, 1..4), 1..6),
        )
    })
}

/// Numbers and lists, without capacities.
fn same(found: &impl Debug, expected: &impl Debug) {
    assert_eq!(format!("{found:?}"), format!("{expected:?}"));
}

fn bounds(sizes: &[usize]) -> Vec<usize> {
    let ends = sizes.iter().scan(0, |end, size| {
        *end += size;
        Some(*end)
    });
    std::iter::once(0).chain(ends).collect()
}

fn compare(storage: &mut Storage, (sizes, edges, rows): &Case) {
    let bounds = bounds(sizes);
    let Storage { work, graph, .. } = storage;
    let mut new = Graph::new(sizes.len());
    graph.reset(sizes.len());
    for graph in [&mut new, &mut *graph] {
        edges.iter().for_each(|(a, b)| graph.connect(*a, *b));
        sizes
            .iter()
            .enumerate()
            .for_each(|(v, size)| graph.set_unknowns(v, *size as u32));
    }
    same(graph, &new);
    graph.best_order_into(work, &mut storage.best).unwrap();
    assert_eq!(storage.best, new.best_order().unwrap());
    graph.minimum_degree_into(work, &mut storage.degree).unwrap();
    assert_eq!(storage.degree, new.minimum_degree().unwrap());
    let (offsets, neighbours) = new.adjacency().unwrap();
    assert_eq!(graph.adjacency_in(work).unwrap(), (&offsets[..], &neighbours[..]));

    let inner = BlockPattern::new(&bounds, &new).unwrap();
    storage.pattern.refill(&bounds, graph, work).unwrap();
    assert_eq!(storage.pattern, inner);
    let own: Vec<(u32, u32)> = (1..rows.len() as u32).map(|k| (k - 1, k)).collect();
    let couplings: Vec<(u32, u32)> = rows
        .iter()
        .enumerate()
        .flat_map(|(k, on)| on.iter().map(move |v| (k as u32, *v as u32)))
        .collect();
    let below: Vec<usize> = (0..=rows.len()).map(|k| 3 * k).collect();
    let outer = ComplementPattern::new(&below, &inner, &couplings, &own).unwrap();
    storage
        .outer
        .refill(&below, &inner, &couplings, &own, work)
        .unwrap();
    same(&storage.outer, &outer);
    let complement = ComplementSymbolic::new(&inner, outer).unwrap();
    storage
        .complement_symbolic
        .refill(&inner, &mut storage.outer, work)
        .unwrap();
    same(&storage.complement_symbolic, &complement);
    storage.complement.refill(&complement);
    same(&storage.complement, &complement.allocate());
    let symbolic = BlockSymbolic::new(inner).unwrap();
    storage.symbolic.refill(&mut storage.pattern).unwrap();
    same(&storage.symbolic, &symbolic);
    storage.factor.refill(&symbolic);
    same(&storage.factor, &symbolic.allocate());

    let fronts = FrontSymbolic::new(&bounds, &new).unwrap();
    storage.fronts.refill(&bounds, graph, work).unwrap();
    same(&storage.fronts, &fronts);
    let one = Threads::one();
    storage.front_factor.refill(&fronts, &one).unwrap();
    same(&storage.front_factor, &fronts.allocate(&one).unwrap());
    storage.unsymmetric.refill(&fronts, &Threads::one());
    same(
        &storage.unsymmetric,
        &fronts.allocate_unsymmetric(&Threads::one()),
    );
}

proptest! {
    #[test]
    fn former_problems_show_in_no_result(cases in prop::collection::vec(case(), 2..6)) {
        let mut storage = Storage::default();
        for case in &cases {
            compare(&mut storage, case);
        }
    }
}
