//! Which process evaluates which element.

/// Shares elements out among parts by recursive coordinate bisection of their centres (m): each set
/// is cut across the longest edge of its box, at the median, or where as many parts come to either
/// side as it has elements for. Returns the part of each element, from 0.
///
/// Elements at one place along the cut go by their numbers, so that the answer depends on the input
/// alone. Parts differ by one element at most where their number is a power of two. Cost
/// `O(n log n log parts)`.
///
/// ```
/// let row: Vec<[f64; 3]> = (0..6).map(|i| [f64::from(5 - i), 0.0, 0.0]).collect();
/// assert_eq!(pliant_petsc::bisect(&row, 3), [2, 2, 1, 1, 0, 0]);
/// ```
pub fn bisect(centres: &[[f64; 3]], parts: usize) -> Vec<usize> {
    let mut part_of = vec![0; centres.len()];
    let mut sets = vec![((0..centres.len()).collect::<Vec<_>>(), 0..parts.max(1))];
    while let Some((mut set, parts)) = sets.pop() {
        if parts.len() == 1 {
            set.iter().for_each(|e| part_of[*e] = parts.start);
            continue;
        }
        let axis = longest_axis(centres, &set);
        let along = |e: &usize| centres[*e][axis];
        set.sort_unstable_by(|a, b| along(a).total_cmp(&along(b)).then(a.cmp(b)));
        let half = parts.len() / 2;
        let second = set.split_off(set.len() * half / parts.len());
        sets.push((set, parts.start..parts.start + half));
        sets.push((second, parts.start + half..parts.end));
    }
    part_of
}

fn longest_axis(centres: &[[f64; 3]], set: &[usize]) -> usize {
    let extent = |axis: usize| {
        let (mut least, mut largest) = (f64::INFINITY, f64::NEG_INFINITY);
        for e in set {
            least = least.min(centres[*e][axis]);
            largest = largest.max(centres[*e][axis]);
        }
        largest - least
    };
    let mut best = 0;
    for axis in 1..3 {
        if extent(axis) > extent(best) {
            best = axis;
        }
    }
    best
}

/// The elements and nodes of one part of a mesh, a net, or whatever else joins elements at nodes.
///
/// A node belongs to the first part that has an element at it. The nodes of the whole are numbered
/// by the parts that they belong to, then as before; nodes without an element have no number.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NodesOfPart {
    /// The elements of the part, ascending.
    pub elements: Vec<usize>,
    /// The nodes at these elements as they were numbered before, ascending.
    pub nodes: Vec<usize>,
    /// Their new numbers.
    pub numbers: Vec<usize>,
    /// How many nodes belong to the part.
    pub own: usize,
}

impl NodesOfPart {
    /// The share of part `rank` in `node_count` nodes, where `part_of` says of each element its
    /// part, as of [`bisect`], and `nodes_of` its nodes. Cost: a pass over all elements.
    ///
    /// # Panics
    /// If an element has a node beyond their number.
    pub fn new<'a>(
        part_of: &[usize],
        nodes_of: impl Fn(usize) -> &'a [usize],
        node_count: usize,
        rank: usize,
    ) -> Self {
        let mut owner = vec![usize::MAX; node_count];
        for (e, part) in part_of.iter().enumerate() {
            for node in nodes_of(e) {
                owner[*node] = owner[*node].min(*part);
            }
        }
        let parts = part_of.iter().max().map_or(0, |p| p + 1);
        let mut counts = vec![0usize; parts + 1];
        for part in owner.iter().filter(|part| **part != usize::MAX) {
            counts[part + 1] += 1;
        }
        for part in 0..parts {
            counts[part + 1] += counts[part];
        }
        let own = counts.get(rank + 1).map_or(0, |end| end - counts[rank]);
        let mut next = counts;
        let mut number = vec![usize::MAX; node_count];
        for (node, part) in owner.iter().enumerate().filter(|(_, part)| **part != usize::MAX) {
            number[node] = next[*part];
            next[*part] += 1;
        }
        let elements: Vec<usize> = (0..part_of.len()).filter(|e| part_of[*e] == rank).collect();
        let mut is_here = vec![false; node_count];
        for e in &elements {
            nodes_of(*e).iter().for_each(|node| is_here[*node] = true);
        }
        let nodes: Vec<usize> = (0..node_count).filter(|node| is_here[*node]).collect();
        Self {
            elements,
            numbers: nodes.iter().map(|node| number[*node]).collect(),
            nodes,
            own,
        }
    }

    /// The number of a node of the whole, as it was before, among those of the part.
    pub fn place(&self, node: usize) -> Option<usize> {
        self.nodes.binary_search(&node).ok()
    }

    /// The numbers of the coordinates, `size` for each node, in the order of the nodes of the part.
    pub fn coordinates(&self, size: usize) -> Vec<usize> {
        let of_node = |number: &usize| number * size..(number + 1) * size;
        self.numbers.iter().flat_map(of_node).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_even_and_cut_across_the_longest_edge() {
        let centres: Vec<[f64; 3]> = (0..1000)
            .map(|i| {
                [
                    f64::from(i % 10),
                    10.0 * f64::from(i / 10 % 10),
                    f64::from(i / 100),
                ]
            })
            .collect();
        for parts in [1, 2, 4, 8, 3, 7] {
            let found = bisect(&centres, parts);
            let mut counts = vec![0usize; parts];
            found.iter().for_each(|p| counts[*p] += 1);
            let most = counts.iter().max().copied().unwrap_or(0);
            let least = counts.iter().min().copied().unwrap_or(0);
            assert!(most - least <= 1, "{counts:?}");
        }
        let two = bisect(&centres, 2);
        assert!(
            two.iter()
                .zip(&centres)
                .all(|(part, c)| *part == usize::from(c[1] >= 50.0))
        );
    }

    #[test]
    fn nodes_belong_to_the_first_part_and_are_numbered_by_parts() {
        // Three bars in a row, numbered from the right; node 4 is at none.
        let bars = [[2, 3], [1, 2], [0, 1]];
        let of = |rank| NodesOfPart::new(&[1, 1, 0], |e| &bars[e], 5, rank);
        let first = of(0);
        assert_eq!(
            (&first.nodes[..], &first.numbers[..], first.own),
            (&[0, 1][..], &[0, 1][..], 2)
        );
        let second = of(1);
        assert_eq!(second.elements, [0, 1]);
        assert_eq!(
            (&second.nodes[..], &second.numbers[..], second.own),
            (&[1, 2, 3][..], &[1, 2, 3][..], 2)
        );
        assert_eq!(second.coordinates(2), [2, 3, 4, 5, 6, 7]);
        assert_eq!((second.place(2), second.place(0)), (Some(1), None));
        assert_eq!(of(2), NodesOfPart::default());
    }

    #[test]
    fn no_elements_and_more_parts_than_elements_are_no_matter() {
        assert!(bisect(&[], 4).is_empty());
        let found = bisect(&[[0.0; 3], [1.0, 0.0, 0.0]], 5);
        assert!(found[0] < found[1] && found[1] < 5);
    }
}
