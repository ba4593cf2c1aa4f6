//! Elements whose blocks are summed before they are carried to the independent coordinates.

use super::{NodeSites, Plan, Site};
use crate::jacobian::{Column, ColumnSource, Jacobians};
use pliant_model::{Evaluation, Model, NodeKind};
use std::ops::Range;

/// A linear node that repeats the coordinates of independent ones, and the nodes whose elements
/// each hang on one element of it: strains on deformation gradients. What acts on an element or
/// what hangs on it is pulled to it first, and consecutive elements of the same dependencies (the
/// quadrature points of one finite element) are summed.
#[derive(Clone, Debug)]
pub(crate) struct Bundle {
    pub(crate) node: usize,
    /// Coordinates of a parent, and with how many numbers each is repeated.
    pub(crate) shape: (usize, usize),
    pub(crate) hanging: Vec<Hanging>,
    pub(crate) runs: Vec<Run>,
}

/// A node that hangs on that of a bundle.
#[derive(Clone, Debug)]
pub(crate) struct Hanging {
    pub(crate) node: usize,
    /// Its elements, by the element they hang on, and where those of each begin.
    pub(crate) elements: Vec<usize>,
    starts: Vec<usize>,
    /// Whether that order is their own.
    pub(crate) in_order: bool,
    /// The most that hang on one element.
    pub(crate) most: usize,
}

impl Hanging {
    /// The part of its [`elements`](Self::elements) that hangs on consecutive elements of the
    /// bundle's node.
    #[inline(always)]
    pub(crate) fn on(&self, elements: Range<usize>) -> Range<usize> {
        self.starts[elements.start]..self.starts[elements.end]
    }
}

/// Consecutive elements of the same dependencies.
#[derive(Clone, Debug)]
pub(crate) struct Run {
    pub(crate) elements: Range<usize>,
    pub(crate) site: Site,
    /// Its dependencies in the order of their columns.
    pub(crate) order: Vec<usize>,
}

/// Finds the bundles of a model; `sites` says what is attached to each node.
pub(super) fn plan(model: &Model, evaluation: &Evaluation, sites: &[NodeSites]) -> Vec<Bundle> {
    let roots = (0..sites.len()).filter_map(|root| {
        let node = &model.nodes()[root];
        let NodeKind::Mapped { mapping, parents, .. } = &node.kind else {
            return None;
        };
        let m = mapping.repeated().filter(|m| *m > 0 && mapping.is_linear())?;
        if !parents.iter().all(|p| model.node(*p).first_dof().is_some()) {
            return None;
        }
        let hangs = |child: &usize| !sites[*child].is_empty() && hangs_on(model, evaluation, *child, root);
        let hanging: Vec<Hanging> = (root + 1..sites.len())
            .filter(hangs)
            .map(|child| Hanging::new(evaluation, child, model.nodes()[child].count, node.count))
            .collect();
        if hanging.is_empty() && sites[root].is_empty() {
            return None;
        }
        let list = |e: usize| evaluation.dependencies(root, e);
        let order = |e: usize| {
            let dof = |a: &usize| {
                let (parent, element) = (model.node(parents[list(e)[*a].parent]), list(e)[*a].element);
                parent
                    .first_dof()
                    .map(|first| first + element * parent.space.velocity_size())
            };
            let mut order: Vec<usize> = (0..list(e).len()).collect();
            order.sort_by_key(dof);
            order
        };
        let mut runs: Vec<Run> = Vec::new();
        for e in (0..node.count).filter(|e| !list(*e).is_empty()) {
            match runs.last_mut() {
                Some(run) if run.elements.end == e && list(run.elements.start) == list(e) => {
                    run.elements.end += 1;
                }
                _ => runs.push(Run {
                    elements: e..e + 1,
                    site: Site::new(ColumnSource::Element(root, e)),
                    order: order(e),
                }),
            }
        }
        Some(Bundle {
            node: root,
            shape: (node.space.velocity_size() / m, m),
            hanging,
            runs,
        })
    });
    roots.collect()
}

/// Whether every element of a node depends on one element of another, and on nothing else.
fn hangs_on(model: &Model, evaluation: &Evaluation, child: usize, root: usize) -> bool {
    let node = &model.nodes()[child];
    let NodeKind::Mapped { parents, .. } = &node.kind else {
        return false;
    };
    let alone = |e| match evaluation.dependencies(child, e) {
        [one] => parents[one.parent].index() == root,
        _ => false,
    };
    (0..node.count).all(alone) && evaluation.repeated(child).is_none()
}

impl Hanging {
    fn new(evaluation: &Evaluation, node: usize, count: usize, parents: usize) -> Self {
        let parent = |e: usize| evaluation.dependencies(node, e)[0].element;
        let mut elements: Vec<usize> = (0..count).collect();
        // Stable: those of one parent stay in their order.
        elements.sort_by_key(|e| parent(*e));
        let starts = (0..=parents).map(|p| elements.partition_point(|e| parent(*e) < p));
        let starts: Vec<usize> = starts.collect();
        Self {
            in_order: elements.iter().enumerate().all(|(k, e)| k == *e),
            most: starts.windows(2).map(|w| w[1] - w[0]).max().unwrap_or(0),
            starts,
            node,
            elements,
        }
    }
}

impl Bundle {
    /// Numbers of scratch that a run needs.
    pub(crate) fn sizes(&self, model: &Model, jacobians: &Jacobians) -> Sizes {
        let (d, m) = self.shape;
        let mut out = Sizes {
            point: d * m,
            hanging: self.hanging.iter().map(|h| h.most).sum(),
            ..Sizes::default()
        };
        for run in &self.runs {
            let width = jacobians.width_of(run.site.place);
            let rows = run.elements.len() * m;
            for hanging in &self.hanging {
                out.own = out.own.max(model.nodes()[hanging.node].space.velocity_size());
            }
            out.width = out.width.max(width);
            out.elements = out.elements.max(run.elements.len());
            let (pairs, n) = (d * (d + 1) / 2, width / d);
            out.half = out.half.max(pairs * rows * n);
            out.sums = out.sums.max(pairs * n * n);
            out.rhs = out.rhs.max(rows * d);
        }
        out
    }
}

/// Largest sizes of the runs of bundles.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sizes {
    /// Coordinates of an element, and of one that hangs on it.
    pub(crate) point: usize,
    pub(crate) own: usize,
    /// Independent coordinates of a run.
    pub(crate) width: usize,
    /// Elements of a run, and what hangs on one of them.
    pub(crate) elements: usize,
    pub(crate) hanging: usize,
    /// Numbers of its half-way products.
    pub(crate) half: usize,
    /// Numbers of its sums.
    pub(crate) sums: usize,
    /// Numbers of its right-hand side.
    pub(crate) rhs: usize,
}

impl Sizes {
    /// The larger of both, each.
    pub(crate) fn max(self, other: Self) -> Self {
        Self {
            point: self.point.max(other.point),
            own: self.own.max(other.own),
            width: self.width.max(other.width),
            elements: self.elements.max(other.elements),
            hanging: self.hanging.max(other.hanging),
            half: self.half.max(other.half),
            sums: self.sums.max(other.sums),
            rhs: self.rhs.max(other.rhs),
        }
    }
}

/// A coordinate `i` of dependency `a`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DependencyCoordinate {
    pub(crate) a: usize,
    pub(crate) i: usize,
}

/// The sum of two coordinates among those of all pairs `k <= i` of `n x n` each.
#[inline(always)]
pub(crate) fn sum_of(sums: &[f64], n: usize, row: DependencyCoordinate, column: DependencyCoordinate) -> f64 {
    let (DependencyCoordinate { a, i }, DependencyCoordinate { a: b, i: k }) = (row, column);
    if k <= i {
        sums[((i * (i + 1) / 2 + k) * n + a) * n + b]
    } else {
        sums[((k * (k + 1) / 2 + i) * n + b) * n + a]
    }
}

impl Plan {
    /// Adds the lower triangle of the block of a run to the values of `W`, as far as it lies in
    /// these rows; the given values begin at `base`.
    pub(crate) fn add_sums_to_response(
        &self,
        d: usize,
        run: &Run,
        sums: &[f64],
        rows: Range<usize>,
        base: usize,
        values: &mut [f64],
    ) {
        let columns = self.jacobians.columns_of(run.site.place);
        let beyond = |c: &Column| c.dof >= rows.end;
        if columns.first().is_some_and(beyond) || columns.last().is_some_and(|c| c.dof < rows.start) {
            return;
        }
        match (d, run.order.len()) {
            (3, 4) => self.add_sums_of_points::<4, 16>(run, sums, rows, base, values),
            (3, 8) => self.add_sums_of_points::<8, 64>(run, sums, rows, base, values),
            (_, n) => self.add_sums(d, n, run, sums, rows, base, values),
        }
    }

    /// Adds what [`add_sums`](Self::add_sums) does for points of three coordinates that depend on `N`
    /// nodes, which make `NN` pairs: all sizes are known to the compiler.
    fn add_sums_of_points<const N: usize, const NN: usize>(
        &self,
        run: &Run,
        sums: &[f64],
        rows: Range<usize>,
        base: usize,
        values: &mut [f64],
    ) {
        let (order, sums) = (&run.order[..N], &sums.as_chunks::<NN>().0[..6]);
        let columns = &self.jacobians.columns_of(run.site.place)[..N];
        let slots = &self.slots[run.site.first_slot..][..3 * N * (N + 1) / 2];
        let mut first = 0;
        for (rank, (a, column)) in order.iter().zip(columns).enumerate() {
            let width = rank + 1;
            let own = &slots[first..first + 3 * width];
            first += own.len();
            if !rows.contains(&column.dof) {
                continue;
            }
            for (at, b) in order[..rank].iter().enumerate() {
                let (below, above) = (a * N + b, b * N + a);
                let of = |pair: usize| (sums[pair][below], sums[pair][above]);
                let ((xx, _), (yx, xy), (yy, _)) = (of(0), of(1), of(2));
                let ((zx, xz), (zy, yz), (zz, _)) = (of(3), of(4), of(5));
                let block = [[xx, xy, xz], [yx, yy, yz], [zx, zy, zz]];
                for (i, row) in block.iter().enumerate() {
                    let slot = own[i * width + at] as usize - base;
                    for (value, sum) in values[slot..slot + 3].iter_mut().zip(row) {
                        *value += sum;
                    }
                }
            }
            let (diagonal, mut pair) = (a * N + a, 0);
            for i in 0..3 {
                let slot = own[i * width + rank] as usize - base;
                for value in &mut values[slot..=slot + i] {
                    *value += sums[pair][diagonal];
                    pair += 1;
                }
            }
        }
    }

    fn add_sums(
        &self,
        d: usize,
        n: usize,
        run: &Run,
        sums: &[f64],
        rows: Range<usize>,
        base: usize,
        values: &mut [f64],
    ) {
        let (order, sums) = (&run.order[..n], &sums[..d * (d + 1) / 2 * n * n]);
        let columns = &self.jacobians.columns_of(run.site.place)[..n];
        let slots = &self.slots[run.site.first_slot..][..d * n * (n + 1) / 2];
        let mut first = 0;
        for (rank, (a, column)) in order.iter().zip(columns).enumerate() {
            let own = &slots[first..first + d * (rank + 1)];
            first += own.len();
            if !rows.contains(&column.dof) {
                continue;
            }
            for i in 0..d {
                let own = &own[i * (rank + 1)..][..rank + 1];
                for (b, slot) in order[..=rank].iter().zip(own) {
                    let size = if a == b { i + 1 } else { d };
                    let target = &mut values[*slot as usize - base..][..size];
                    for (k, target) in target.iter_mut().enumerate() {
                        let row = DependencyCoordinate { a: *a, i };
                        let column = DependencyCoordinate { a: *b, i: k };
                        *target += sum_of(sums, n, row, column);
                    }
                }
            }
        }
    }
}
