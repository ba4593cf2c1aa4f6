//! Split a system into parts that do not touch each other.
//!
//! Disjoint sets: every edge joins two sets, and a set is named by its least member. Three chains
//! of 5, 8 and 3 points, numbered across each other by `v -> 7 v mod 16`, are three sets again.
//!
//! `cargo run --release -p pliant-sparse --example connected_parts`

use pliant_sparse::DisjointSets;
use std::collections::BTreeMap;

fn main() {
    let number = |v: usize| 7 * v % 16;
    // Chains 0..5, 5..13 and 13..16: no edge into 5 and 13.
    let edges: Vec<(usize, usize)> = (1..16)
        .filter(|v| *v != 5 && *v != 13)
        .map(|v| (number(v - 1), number(v)))
        .collect();
    let mut sets = DisjointSets::new(16);
    for (a, b) in &edges {
        sets.join(*a, *b);
    }
    let mut parts: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
    for (v, root) in sets.roots().iter().enumerate() {
        parts.entry(*root).or_default().push(v);
    }
    for (name, members) in &parts {
        println!("part {name}: {members:?}");
    }
    let mut sizes: Vec<usize> = parts.values().map(Vec::len).collect();
    sizes.sort_unstable();
    assert_eq!(sizes, [3, 5, 8]);
    for (first, chain) in [(0, 0..5), (5, 5..13), (13, 13..16)] {
        let least = chain.clone().map(number).min();
        assert_eq!(Some(sets.root(number(first))), least);
        assert!(chain.map(number).all(|v| Some(sets.root(v)) == least));
    }
    // An edge between two of them is felt by all their members; the third part keeps its name.
    sets.join(number(0), number(15));
    let parts = sets
        .roots()
        .iter()
        .enumerate()
        .filter(|(v, root)| *v == **root as usize)
        .count();
    println!("after one more edge: {parts} parts");
    assert_eq!(parts, 2);
}
