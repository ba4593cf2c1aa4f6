//! A tree of boxes along the axes of the world: who may touch whom.

use pliant_dense::{Mat3, Vec3};

/// A box along the axes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Aabb {
    pub(crate) low: Vec3,
    pub(crate) high: Vec3,
}

impl Aabb {
    pub(crate) const EMPTY: Self = Self {
        low: Vec3::new(f64::INFINITY, f64::INFINITY, f64::INFINITY),
        high: Vec3::new(f64::NEG_INFINITY, f64::NEG_INFINITY, f64::NEG_INFINITY),
    };

    pub(crate) fn of(points: impl IntoIterator<Item = Vec3>) -> Self {
        points.into_iter().fold(Self::EMPTY, |b, p| Self {
            low: b.low.inf(&p),
            high: b.high.sup(&p),
        })
    }

    pub(crate) fn join(self, other: Self) -> Self {
        Self {
            low: self.low.inf(&other.low),
            high: self.high.sup(&other.high),
        }
    }

    pub(crate) fn grown(self, by: f64) -> Self {
        Self {
            low: self.low.add_scalar(-by),
            high: self.high.add_scalar(by),
        }
    }

    /// With all places it passes when it is moved.
    pub(crate) fn swept(self, step: Vec3) -> Self {
        self.join(Self {
            low: self.low + step,
            high: self.high + step,
        })
    }

    /// A box about it where it is turned and then moved.
    pub(crate) fn placed(&self, place: Vec3, turn: Mat3) -> Self {
        let (middle, half) = ((self.low + self.high) / 2.0, (self.high - self.low) / 2.0);
        let (middle, half) = (place + turn * middle, turn.abs() * half);
        Self {
            low: middle - half,
            high: middle + half,
        }
    }

    /// The greatest distance of its points from a point, or more.
    pub(crate) fn farthest(&self, point: Vec3) -> f64 {
        (self.low - point).abs().sup(&(self.high - point).abs()).norm()
    }

    /// The square of the distance of a point from it.
    pub(crate) fn square_from(&self, point: Vec3) -> f64 {
        (self.low - point)
            .sup(&(point - self.high))
            .sup(&Vec3::zeros())
            .norm_squared()
    }

    pub(crate) fn meets(&self, other: &Self) -> bool {
        (0..3).all(|k| self.low[k] <= other.high[k] && other.low[k] <= self.high[k])
    }
}

#[derive(Clone, Copy, Debug)]
struct Node {
    bounds: Aabb,
    /// First child, or first entry of `order`.
    first: u32,
    /// Entries of a leaf; zero for a node with two children.
    count: u32,
}

/// The tree: children come after their parents.
#[derive(Clone, Debug, Default)]
pub(crate) struct Bvh {
    nodes: Vec<Node>,
    order: Vec<u32>,
}

impl Bvh {
    /// A tree over boxes, halved at the median of the longest axis; `O(n log n)`, without
    /// allocation if it was as large before.
    pub(crate) fn build(&mut self, boxes: &[Aabb]) {
        self.nodes.clear();
        self.order.clear();
        self.order.extend(0..boxes.len() as u32);
        if boxes.is_empty() {
            return;
        }
        let leaf = |first: usize, count: usize| Node {
            bounds: Aabb::EMPTY,
            first: first as u32,
            count: count as u32,
        };
        self.nodes.push(leaf(0, boxes.len()));
        let mut k = 0;
        while k < self.nodes.len() {
            let (first, count) = (self.nodes[k].first as usize, self.nodes[k].count as usize);
            if count > 2 {
                let part = &mut self.order[first..first + count];
                let middle = |i: &u32| boxes[*i as usize].low + boxes[*i as usize].high;
                let spread = Aabb::of(part.iter().map(middle));
                let axis = (spread.high - spread.low).imax();
                let half = count / 2;
                part.select_nth_unstable_by(half, |i, j| {
                    middle(i)[axis].total_cmp(&middle(j)[axis]).then(i.cmp(j))
                });
                self.nodes[k].first = self.nodes.len() as u32;
                self.nodes[k].count = 0;
                self.nodes.push(leaf(first, half));
                self.nodes.push(leaf(first + half, count - half));
            }
            k += 1;
        }
        self.refit(boxes);
    }

    /// Updates the tree for boxes that have moved.
    pub(crate) fn refit(&mut self, boxes: &[Aabb]) {
        for k in (0..self.nodes.len()).rev() {
            let node = self.nodes[k];
            let first = node.first as usize;
            self.nodes[k].bounds = if node.count == 0 {
                self.nodes[first].bounds.join(self.nodes[first + 1].bounds)
            } else {
                let entries = &self.order[first..first + node.count as usize];
                entries
                    .iter()
                    .fold(Aabb::EMPTY, |b, i| b.join(boxes[*i as usize]))
            };
        }
    }

    /// Calls with each entry whose box meets another, in the order of the tree.
    pub(crate) fn query(&self, boxes: &[Aabb], with: &Aabb, stack: &mut Vec<u32>, visit: impl FnMut(usize)) {
        self.query_by(boxes, |bounds| bounds.meets(with), stack, visit);
    }

    /// Calls with each entry whose box passes a test that all boxes about it pass, too.
    pub(crate) fn query_by(
        &self,
        boxes: &[Aabb],
        passes: impl Fn(&Aabb) -> bool,
        stack: &mut Vec<u32>,
        mut visit: impl FnMut(usize),
    ) {
        stack.clear();
        if !self.nodes.is_empty() {
            stack.push(0);
        }
        while let Some(k) = stack.pop() {
            let node = &self.nodes[k as usize];
            if !passes(&node.bounds) {
                continue;
            }
            if node.count == 0 {
                stack.extend([node.first + 1, node.first]);
            } else {
                let first = node.first as usize;
                for &i in &self.order[first..first + node.count as usize] {
                    if passes(&boxes[i as usize]) {
                        visit(i as usize);
                    }
                }
            }
        }
    }

    /// The entry at the least distance from a point, by the square of its distance; the first one
    /// found of equals.
    pub(crate) fn nearest(
        &self,
        boxes: &[Aabb],
        point: Vec3,
        stack: &mut Vec<u32>,
        square: impl Fn(usize) -> f64,
    ) -> Option<usize> {
        let mut best: Option<(f64, usize)> = None;
        let visits = |bounds: f64, best: Option<(f64, usize)>| best.is_none_or(|b| bounds < b.0);
        self.approach(boxes, point, stack, &mut best, visits, |k, best| {
            let found = square(k);
            if best.is_none_or(|b| found < b.0) {
                *best = Some((found, k));
            }
        });
        best.map(|b| b.1)
    }

    /// The entry at the least distance from a point, by the square of its distance; the lowest one
    /// of equals, however the boxes stood when the tree was built.
    pub(crate) fn lowest_nearest(
        &self,
        boxes: &[Aabb],
        point: Vec3,
        stack: &mut Vec<u32>,
        square: impl Fn(usize) -> f64,
    ) -> Option<usize> {
        let mut best: Option<(f64, usize)> = None;
        // Boxes may be farther than what is in them by rounding.
        let visits = |bounds: f64, best: Option<(f64, usize)>| {
            best.is_none_or(|(least, _)| {
                let distance = least.sqrt();
                let rounding = 1e-14 * (point.amax() + distance);
                bounds <= least + rounding * (distance + rounding)
            })
        };
        self.approach(boxes, point, stack, &mut best, visits, |k, best| {
            let found = (square(k), k);
            if best.is_none_or(|b| found.0 < b.0 || found.0 == b.0 && k < b.1) {
                *best = Some(found);
            }
        });
        best.map(|b| b.1)
    }

    /// Looks at the entries of boxes that are near enough to a point, nearer ones first, by the
    /// square of their distance and the best of those that were looked at.
    fn approach<T: Copy>(
        &self,
        boxes: &[Aabb],
        point: Vec3,
        stack: &mut Vec<u32>,
        best: &mut T,
        visits: impl Fn(f64, T) -> bool,
        mut look: impl FnMut(usize, &mut T),
    ) {
        stack.clear();
        if !self.nodes.is_empty() {
            stack.push(0);
        }
        while let Some(k) = stack.pop() {
            let node = &self.nodes[k as usize];
            if !visits(node.bounds.square_from(point), *best) {
                continue;
            }
            let first = node.first as usize;
            if node.count == 0 {
                let distance = |k: usize| self.nodes[k].bounds.square_from(point);
                let first_near = distance(first) <= distance(first + 1);
                let pair = [node.first + 1, node.first];
                stack.extend(if first_near { pair } else { [pair[1], pair[0]] });
            } else {
                for &i in &self.order[first..first + node.count as usize] {
                    if visits(boxes[i as usize].square_from(point), *best) {
                        look(i as usize, best);
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tree_finds_what_all_pairs_find() {
        let mut seed = 1_u64;
        let mut random = || {
            seed = seed
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (seed >> 11) as f64 / (1_u64 << 53) as f64
        };
        let boxes: Vec<Aabb> = (0..300)
            .map(|_| {
                let low = Vec3::new(random(), random(), random()) * 10.0;
                Aabb {
                    low,
                    high: low + Vec3::new(random(), random(), random()),
                }
            })
            .collect();
        let mut tree = Bvh::default();
        tree.build(&boxes);
        let mut pairs = 0;
        for a in &boxes {
            let mut found = Vec::new();
            tree.query(&boxes, a, &mut Vec::new(), |k| found.push(k));
            found.sort_unstable();
            let expected: Vec<usize> = (0..boxes.len()).filter(|k| boxes[*k].meets(a)).collect();
            assert_eq!(found, expected);
            pairs += found.len();
        }
        assert!(pairs > 320);
    }
}
