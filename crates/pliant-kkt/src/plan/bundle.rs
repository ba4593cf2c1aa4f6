//! Elements whose blocks are summed before they are carried to the independent coordinates.

use super::{NodeSites, Plan, Site};
use crate::jacobian::{ColumnSource, Jacobians};
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
    elements: Vec<usize>,
    starts: Vec<usize>,
}

impl Hanging {
    /// Its elements that hang on an element of the bundle's node.
    pub(crate) fn on(&self, element: usize) -> &[usize] {
        &self.elements[self.starts[element]..self.starts[element + 1]]
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
        Self {
            starts: starts.collect(),
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
            ..Sizes::default()
        };
        for run in &self.runs {
            let width = jacobians.width_of(run.site.place);
            let rows = run.elements.len() * m;
            for hanging in &self.hanging {
                out.own = out.own.max(model.nodes()[hanging.node].space.velocity_size());
            }
            out.width = out.width.max(width);
            out.rows = out.rows.max(rows);
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
    /// Rows of its coefficients.
    pub(crate) rows: usize,
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
            rows: self.rows.max(other.rows),
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
        match d {
            3 => self.add_sums(3, run, sums, rows, base, values),
            _ => self.add_sums(d, run, sums, rows, base, values),
        }
    }

    /// Inlined, so that a size that is a constant is known inside.
    #[inline(always)]
    fn add_sums(
        &self,
        d: usize,
        run: &Run,
        sums: &[f64],
        rows: Range<usize>,
        base: usize,
        values: &mut [f64],
    ) {
        let (n, mut first) = (run.order.len(), run.site.first_slot);
        let columns = self.jacobians.columns_of(run.site.place);
        for (rank, (a, column)) in run.order.iter().zip(columns).enumerate() {
            let slots = &self.slots[first..first + d * (rank + 1)];
            first += slots.len();
            if !rows.contains(&column.dof) {
                continue;
            }
            for (i, slots) in slots.chunks_exact(rank + 1).enumerate() {
                for (b, slot) in run.order[..=rank].iter().zip(slots) {
                    let size = if a == b { i + 1 } else { d };
                    let target = &mut values[*slot as usize - base..][..size];
                    for k in 0..size {
                        let (row, column) = (
                            DependencyCoordinate { a: *a, i },
                            DependencyCoordinate { a: *b, i: k },
                        );
                        target[k] += sum_of(sums, n, row, column);
                    }
                }
            }
        }
    }
}
