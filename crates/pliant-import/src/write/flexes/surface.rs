//! Triangles of deformables: which way round they go, and which of them are outside.

use std::collections::{BTreeMap, HashMap};

/// Triangles that all go the same way round as their neighbours; none where three meet at an edge,
/// or the sheet has only one side.
pub(super) fn same_way_round(cells: &[Vec<usize>]) -> Option<Vec<Vec<usize>>> {
    let sides = |cell: &[usize]| [[cell[0], cell[1]], [cell[1], cell[2]], [cell[2], cell[0]]];
    let mut beside: HashMap<[usize; 2], Vec<usize>> = HashMap::new();
    for (index, cell) in cells.iter().enumerate() {
        for [a, b] in sides(cell) {
            beside.entry([a.min(b), a.max(b)]).or_default().push(index);
        }
    }
    if beside.values().any(|list| list.len() > 2) {
        return None;
    }
    let mut out = cells.to_vec();
    let mut done = vec![false; cells.len()];
    for first in 0..cells.len() {
        if std::mem::replace(&mut done[first], true) {
            continue;
        }
        let mut open = vec![first];
        while let Some(at) = open.pop() {
            for [a, b] in sides(&out[at]) {
                for other in &beside[&[a.min(b), a.max(b)]] {
                    if *other == at {
                        continue;
                    }
                    let same = sides(&out[*other]).contains(&[a, b]);
                    if same && done[*other] {
                        return None;
                    }
                    if same {
                        out[*other].swap(1, 2);
                    }
                    if !std::mem::replace(&mut done[*other], true) {
                        open.push(*other);
                    }
                }
            }
        }
    }
    Some(out)
}

/// Triangles of tetrahedra that no two of them have.
pub(super) fn outside(cells: &[Vec<usize>]) -> Vec<Vec<usize>> {
    let mut seen: BTreeMap<Vec<usize>, usize> = BTreeMap::new();
    for cell in cells {
        for without in 0..cell.len() {
            let mut side: Vec<usize> = cell.clone();
            side.remove(without);
            side.sort_unstable();
            *seen.entry(side).or_default() += 1;
        }
    }
    seen.into_iter()
        .filter(|(_, count)| *count == 1)
        .map(|(side, _)| side)
        .collect()
}
