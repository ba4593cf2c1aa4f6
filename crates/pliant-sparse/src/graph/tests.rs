//! Orders, costs and merged vertices against brute force and closed forms.

use super::*;
use proptest::prelude::*;

/// A graph with the given edges; unknowns 1, 2, 3, 1, ..
fn graph(n: usize, edges: &[(usize, usize)], weighted: bool) -> Graph {
    let mut out = Graph::new(n);
    edges.iter().for_each(|(a, b)| out.connect(a % n, b % n));
    if weighted {
        (0..n).for_each(|v| out.set_unknowns(v, 1 + v as u32 % 3));
    }
    out
}

fn path(n: usize) -> Graph {
    let edges: Vec<_> = (1..n).map(|v| (v - 1, v)).collect();
    graph(n, &edges, false)
}

/// `side^d` points, each with its neighbours along the axes.
fn grid(side: usize, dimensions: u32) -> Graph {
    let n = side.pow(dimensions);
    let mut out = Graph::new(n);
    for v in 0..n {
        for axis in 0..dimensions {
            let step = side.pow(axis);
            if v / step % side + 1 < side {
                out.connect(v, v + step);
            }
        }
    }
    out
}

#[test]
fn the_graph_of_a_matrix_has_an_edge_for_each_entry_beside_the_diagonal() {
    // One edge by both triangles, one by each.
    let entries = [(0, 0, 1.0), (2, 0, 1.0), (0, 1, 1.0), (1, 0, 1.0), (1, 3, 1.0)];
    let a = crate::CsrMatrix::from_entries(4, 4, &entries).unwrap();
    let (offsets, neighbours) = Graph::from_pattern(a.pattern()).unwrap().adjacency().unwrap();
    assert_eq!(offsets, [0, 2, 4, 5, 6]);
    assert_eq!(neighbours, [1, 2, 0, 3, 0, 1]);
    let wide = crate::CsrMatrix::from_entries(1, 2, &[]).unwrap();
    let error = Graph::from_pattern(wide.pattern()).unwrap_err();
    assert!(
        matches!(
            error,
            SparseError::Size {
                expected: 1,
                found: 2,
                ..
            }
        ),
        "{error}"
    );
}

fn is_permutation(order: &[usize], n: usize) -> bool {
    let mut sorted = order.to_vec();
    sorted.sort_unstable();
    sorted == (0..n).collect::<Vec<_>>()
}

/// Eliminates unknown by unknown on a dense matrix of zeros and ones: entries, operations, heaviest
/// path in terms of vertices.
fn brute_force(graph: &Graph, order: &[usize]) -> EliminationCost {
    let n = graph.len();
    let mut linked = vec![vec![false; n]; n];
    for (a, b) in &graph.edges {
        linked[*a as usize][*b as usize] = true;
        linked[*b as usize][*a as usize] = true;
    }
    let mut out = EliminationCost::default();
    // Operations up to each vertex along the worst branch below it.
    let mut path = vec![0u64; n];
    for (k, v) in order.iter().copied().enumerate() {
        let later: Vec<usize> = order[k + 1..].iter().copied().filter(|u| linked[v][*u]).collect();
        let below: u64 = later.iter().map(|u| u64::from(graph.weights[*u])).sum();
        for column in 0..u64::from(graph.weights[v]) {
            let r = below + column;
            out.entries += r + 1;
            out.flops += r * (r + 2);
            path[v] += r * (r + 2);
        }
        out.critical_flops = out.critical_flops.max(path[v]);
        if let Some(parent) = later.first() {
            path[*parent] = path[*parent].max(path[v]);
        }
        for a in &later {
            for b in &later {
                linked[*a][*b] = true;
            }
        }
    }
    out
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_graph_is_ordered_and_counted(
        n in 1usize..40, edges in prop::collection::vec((0usize..1000, 0usize..1000), 0..120), weighted: bool
    ) {
        let g = graph(n, &edges, weighted);
        let found = g.best_order().unwrap();
        for order in [g.minimum_degree().unwrap(), g.nested_dissection().unwrap(), found.sequence.clone(), (0..n).collect()] {
            prop_assert!(is_permutation(&order, n));
            prop_assert_eq!(g.cost(&order).unwrap(), brute_force(&g, &order));
        }
        // Runs are eliminated without another vertex between them, so that merging them changes no
        // count but the path's.
        let counted = brute_force(&g, &found.sequence);
        prop_assert_eq!((found.report.cost.entries, found.report.cost.flops), (counted.entries, counted.flops));
        prop_assert_eq!(found.runs.last(), Some(&n));
    }

    #[test]
    fn the_parts_of_a_large_graph_are_ordered_too(
        n in 200usize..600, edges in prop::collection::vec((0usize..100_000, 0usize..100_000), 0..900), weighted: bool
    ) {
        let g = graph(n, &edges, weighted);
        let order = g.nested_dissection().unwrap();
        prop_assert!(is_permutation(&order, n));
        prop_assert_eq!(g.cost(&order).unwrap(), brute_force(&g, &order));
    }

    #[test]
    fn neighbours_are_those_of_the_edges(
        n in 1usize..20, edges in prop::collection::vec((0usize..1000, 0usize..1000), 0..60)
    ) {
        let g = graph(n, &edges, false);
        let (offsets, neighbours) = g.adjacency().unwrap();
        for v in 0..n {
            let expected: Vec<u32> = (0..n)
                .filter(|u| *u != v && edges.iter().any(|(a, b)| [(v, *u), (*u, v)].contains(&(a % n, b % n))))
                .map(|u| u as u32)
                .collect();
            prop_assert_eq!(&neighbours[offsets[v] as usize..offsets[v + 1] as usize], &expected);
        }
    }

    #[test]
    fn a_scalar_graph_is_ordered_like_its_blocks(
        n in 1usize..30, edges in prop::collection::vec((0usize..1000, 0usize..1000), 0..60)
    ) {
        // Three unknowns per vertex, one vertex each or as one vertex of weight three.
        let mut blocks = graph(n, &edges, false);
        let mut scalars = Graph::new(3 * n);
        for v in 0..n {
            blocks.set_unknowns(v, 3);
            for (a, b) in [(0, 1), (1, 2), (0, 2)] {
                scalars.connect(3 * v + a, 3 * v + b);
            }
        }
        for (a, b) in blocks.edges.clone() {
            for k in 0..9 {
                scalars.connect(3 * a as usize + k / 3, 3 * b as usize + k % 3);
            }
        }
        let (whole, fine) = (blocks.best_order().unwrap(), scalars.best_order().unwrap());
        prop_assert_eq!(whole.report.cost, fine.report.cost);
        prop_assert_eq!(fine.runs, whole.runs.iter().map(|k| 3 * k).collect::<Vec<_>>());
        for (k, v) in fine.sequence.chunks(3).zip(&whole.sequence) {
            prop_assert_eq!(k, [3 * v, 3 * v + 1, 3 * v + 2]);
        }
    }
}

#[test]
fn paths_and_stars_have_no_fill() {
    for n in [1, 2, 50, 1000] {
        let entries = (2 * n - 1) as u64;
        let star: Vec<_> = (1..n).map(|v| (0, v)).collect();
        for g in [path(n), graph(n, &star, false)] {
            let order = g.minimum_degree().unwrap();
            assert_eq!(g.cost(&order).unwrap().entries, entries);
            let best = g.best_order().unwrap();
            assert_eq!(best.report.method, OrderMethod::MinimumDegree);
            assert_eq!((best.report.cost.entries, best.report.rejected), (entries, None));
        }
    }
}

#[test]
fn cliques_are_one_block() {
    for n in [1usize, 2, 40, 300] {
        let mut g = Graph::new(n);
        (0..n).for_each(|a| (0..a).for_each(|b| g.connect(a, b)));
        let best = g.best_order().unwrap();
        assert_eq!(best.runs, [0, n]);
        assert_eq!(best.sequence, (0..n).collect::<Vec<_>>());
        assert_eq!(best.report.cost.entries, (n * (n + 1) / 2) as u64);
        assert!(is_permutation(&g.nested_dissection().unwrap(), n));
    }
}

#[test]
fn awkward_graphs_end() {
    let nothing = Graph::new(0);
    assert_eq!(nothing.best_order().unwrap().sequence, Vec::<usize>::new());
    assert_eq!(nothing.nested_dissection().unwrap(), Vec::<usize>::new());
    assert_eq!(nothing.cost(&[]).unwrap(), EliminationCost::default());
    // No edges; a long path (no recursion); a star; two hubs; many small parts.
    let n = 200_000;
    let loose = Graph::new(n);
    let long = path(n);
    let star: Vec<_> = (1..n).map(|v| (0, v)).collect();
    let hubs: Vec<_> = (2..n).flat_map(|v| [(0, v), (1, v)]).collect();
    let pairs: Vec<_> = (0..n / 2).map(|v| (2 * v, 2 * v + 1)).collect();
    // Neighbours that all add up to the same number.
    let mirrored: Vec<_> = (0..n / 2).map(|v| (v, n - 1 - v)).collect();
    for g in [
        loose,
        long,
        graph(n, &star, false),
        graph(n, &hubs, false),
        graph(n, &pairs, false),
        graph(n, &mirrored, false),
    ] {
        assert!(is_permutation(&g.nested_dissection().unwrap(), n));
        assert!(is_permutation(&g.best_order().unwrap().sequence, n));
    }
}

#[test]
fn wrong_orders_are_errors() {
    let g = path(3);
    for order in [vec![0, 1], vec![0, 1, 1], vec![0, 1, 3], vec![0, 1, 2, 2]] {
        assert!(matches!(g.cost(&order), Err(SparseError::Size { .. })));
    }
    let mut heavy = Graph::new(2);
    heavy.set_unknowns(0, u32::MAX);
    assert!(matches!(heavy.best_order(), Err(SparseError::TooLarge { .. })));
}

#[test]
fn dissection_of_a_path_is_shallow() {
    // Each split takes one vertex: the tree is as deep as the splits and the parts that minimum
    // degree orders.
    let n = 4096;
    let order = path(n).nested_dissection().unwrap();
    let mut rank = vec![0; n];
    order.iter().enumerate().for_each(|(k, v)| rank[*v] = k as u32);
    let narrow: Vec<u32> = order.iter().map(|v| *v as u32).collect();
    let (mut ancestor, mut parent) = (Vec::new(), Vec::new());
    let graph = path(n).checked().unwrap();
    counts::parents(&graph, &narrow, &rank, &mut ancestor, &mut parent);
    let mut depth = vec![0u32; n];
    for k in (0..n).rev().filter(|k| parent[*k] != u32::MAX) {
        depth[k] = depth[parent[k] as usize] + 1;
    }
    // 4096 / 0.6^-k <= 120 after at most 7 splits, then at most 120 more.
    assert!(depth.iter().all(|d| *d < 128), "{:?}", depth.iter().max());
}

#[test]
fn grids_fill_like_nested_dissection() {
    // George (1973): 31/4 n^2 log2 n + O(n^2) entries for an n x n grid with nine-point coupling;
    // five-point ones have less. The lower bound of Hoffman, Martin and Rose (1973) grows alike.
    // Between sides of 32 and 128, n^2 log n grows by 22.4 and n^3, what the natural order of rows
    // gives, by 64.
    let fill = |side: usize| {
        let g = grid(side, 2);
        g.cost(&g.nested_dissection().unwrap()).unwrap()
    };
    let (small, large) = (fill(32), fill(128));
    let natural = grid(32, 2).cost(&(0..1024).collect::<Vec<_>>()).unwrap();
    assert!(small.entries < natural.entries);
    let growth = large.entries as f64 / small.entries as f64;
    assert!((18.0..26.0).contains(&growth), "{growth}");
    assert!(
        large.entries as f64 <= 7.75 * 128.0 * 128.0 * 7.0,
        "{}",
        large.entries
    );
    // Two halves of equal work: the path to the root has the top separators and little else.
    assert!(large.critical_flops < large.flops / 2);
}

#[test]
fn cubes_are_dissected() {
    let mut g = grid(18, 3);
    (0..g.len()).for_each(|v| g.set_unknowns(v, 3));
    let best = g.best_order().unwrap();
    assert_eq!(best.report.method, OrderMethod::NestedDissection);
    let rejected = best.report.rejected.unwrap();
    assert_eq!(rejected, g.cost(&g.minimum_degree().unwrap()).unwrap());
    assert!(best.report.cost.flops < rejected.flops);
    assert_eq!(best, g.best_order().unwrap());
}

/// A side of more than three fifths of all is out of balance, whichever it is; after that the
/// smaller cut is better.
#[test]
fn separators_are_judged_by_balance_then_by_cut() {
    let judged = |weights| {
        let side = Vec::new();
        separator::Separator { side, weights }.quality()
    };
    assert_eq!(judged([90, 5, 5]), (30, 5, 85));
    assert_eq!(judged([90, 5, 5]), judged([5, 90, 5]));
    assert_eq!(judged([60, 35, 5]), (0, 5, 25));
    assert!(judged([61, 38, 1]) > judged([40, 30, 30]));
    assert!(judged([60, 38, 2]) < judged([48, 49, 3]));
    assert!(judged([49, 48, 3]) < judged([50, 47, 3]));
}
