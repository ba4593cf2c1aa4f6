//! Jacobians of every node with respect to the independent degrees of freedom: patterns once,
//! products every step.

use pliant_model::{Evaluation, Model, NodeKind};
use std::ops::Range;

/// A run of independent coordinates that an element depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Column {
    /// First degree of freedom.
    pub(crate) dof: usize,
    /// Number of degrees of freedom.
    pub(crate) size: usize,
    /// First column in the element's dense block.
    pub(crate) at: usize,
}

/// Where the columns of one parent element land in the child's block.
#[derive(Clone, Copy, Debug)]
struct Link {
    /// First column of the local block, and its size.
    local: usize,
    size: usize,
    /// The first of its [`targets`](Elements::targets), one for each column run of the parent.
    first_target: usize,
}

/// Column runs (ascending) and links to parents, which many elements have in common: all points of
/// a finite element, and the strains at them.
#[derive(Clone, Debug)]
struct Shape {
    columns: Range<usize>,
    width: usize,
    links: Range<usize>,
    /// All parents are independent and their columns come in the order of the links.
    stack_is_identity: bool,
}

/// An element of an earlier node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Source {
    node: usize,
    element: usize,
}

/// One element: its shape, the first of its sources, one for each link, and the first of its
/// values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Element {
    shape: usize,
    source: usize,
    start: usize,
}

/// The elements of a node. Elements that follow each other and are alike are one entry.
#[derive(Clone, Debug, Default)]
struct Elements {
    list: Vec<Element>,
    /// The entry of each element; none where every element has its own.
    of_element: Vec<u32>,
    count: usize,
    shapes: Vec<Shape>,
    /// Columns and links of all shapes, and targets of all links.
    columns: Vec<Column>,
    links: Vec<Link>,
    targets: Vec<usize>,
    sources: Vec<Source>,
}

impl Elements {
    fn len(&self) -> usize {
        self.count
    }

    #[inline(always)]
    fn element(&self, e: usize) -> Element {
        self.list[self.of_element.get(e).map_or(e, |entry| *entry as usize)]
    }

    fn shape(&self, e: usize) -> &Shape {
        &self.shapes[self.element(e).shape]
    }

    fn columns(&self, e: usize) -> &[Column] {
        &self.columns[self.shape(e).columns.clone()]
    }

    /// Gives back what was reserved for more.
    fn shrink(&mut self) {
        self.list.shrink_to_fit();
        self.of_element.shrink_to_fit();
        self.shapes.shrink_to_fit();
        self.columns.shrink_to_fit();
        self.links.shrink_to_fit();
        self.targets.shrink_to_fit();
        self.sources.shrink_to_fit();
    }

    /// The links of an element with their targets and sources.
    fn links(&self, e: usize) -> impl Iterator<Item = (Link, &[usize], Source)> {
        let Element { shape, source, .. } = self.element(e);
        let links = &self.links[self.shapes[shape].links.clone()];
        let sources = &self.sources[source..][..links.len()];
        let both = links.iter().zip(sources);
        both.map(|(link, source)| (*link, &self.targets[link.first_target..], *source))
    }

    /// Height of the stack of the sources of an element.
    fn stack_height(&self, e: usize) -> usize {
        self.links[self.shape(e).links.clone()]
            .iter()
            .map(|l| l.size)
            .sum()
    }

    /// Adds an independent element.
    fn push_independent(&mut self, dof: usize, size: usize) {
        self.list.push(Element {
            shape: self.shapes.len(),
            source: 0,
            start: 0,
        });
        self.count += 1;
        let first = self.columns.len();
        self.columns.push(Column { dof, size, at: 0 });
        self.shapes.push(Shape {
            columns: first..first + 1,
            width: size,
            links: 0..0,
            stack_is_identity: false,
        });
    }

    /// Adds the block over the given elements of earlier nodes, in their order; its values begin at
    /// `start`. Returns its width.
    fn push(&mut self, nodes: &[NodeJacobian], sources: &[Source], start: usize) -> usize {
        let shape_of = |s: &Source| {
            let node = nodes[s.node].alias.unwrap_or(s.node);
            (s.node, node, nodes[node].elements.element(s.element).shape)
        };
        // Elements that follow each other are often alike.
        let (mut source, mut shape) = (self.sources.len(), self.shapes.len());
        if let Some(last) = self.list.last() {
            let before = &self.sources[last.source..][..self.shapes[last.shape].links.len()];
            if before == sources {
                source = last.source;
            }
            if before.iter().map(shape_of).eq(sources.iter().map(shape_of)) {
                shape = last.shape;
            }
        }
        if source == self.sources.len() {
            self.sources.extend_from_slice(sources);
        }
        if shape == self.shapes.len() {
            self.push_shape(nodes, sources);
        }
        self.push_entry(Element { shape, source, start });
        self.shapes[shape].width
    }

    /// Adds a block without values, of which its columns alone are kept; `before` are the sources of
    /// the element before it.
    fn push_columns(&mut self, nodes: &[NodeJacobian], sources: &[Source], before: &[Source]) {
        if self.count == 0 || before != sources {
            self.push_shape(nodes, sources);
            self.links.clear();
            self.targets.clear();
            if let Some(shape) = self.shapes.last_mut() {
                shape.links = 0..0;
            }
        }
        self.push_entry(Element {
            shape: self.shapes.len() - 1,
            source: 0,
            start: 0,
        });
    }

    /// Adds an element, which may be like the last one.
    fn push_entry(&mut self, element: Element) {
        let is_last = self.list.last() == Some(&element);
        // Entries are no more than elements: where these have numbers of 32 bits, so have those.
        if is_last && u32::try_from(self.count).is_ok() {
            if self.of_element.is_empty() {
                self.of_element.extend(0..self.count as u32);
            }
        } else {
            self.list.push(element);
        }
        if !self.of_element.is_empty() {
            self.of_element.push(self.list.len() as u32 - 1);
        }
        self.count += 1;
    }

    /// Adds a shape over the given elements of earlier nodes.
    fn push_shape(&mut self, nodes: &[NodeJacobian], sources: &[Source]) {
        let columns_of = |s: &Source| {
            nodes[nodes[s.node].alias.unwrap_or(s.node)]
                .elements
                .columns(s.element)
        };
        let all = sources.iter().flat_map(columns_of);
        let mut runs: Vec<(usize, usize)> = all.map(|c| (c.dof, c.size)).collect();
        runs.sort_unstable();
        runs.dedup();
        let (mut width, first_column, first_link) = (0, self.columns.len(), self.links.len());
        for (dof, size) in runs {
            self.columns.push(Column { dof, size, at: width });
            width += size;
        }
        let columns = &self.columns[first_column..];
        let (mut local, mut stack_is_identity) = (0, true);
        for source in sources {
            let target = |c: &Column| columns.iter().find(|t| t.dof == c.dof).map_or(0, |t| t.at);
            let size = nodes[source.node].height;
            let first_target = self.targets.len();
            self.targets.extend(columns_of(source).iter().map(target));
            self.links.push(Link {
                local,
                size,
                first_target,
            });
            stack_is_identity &= nodes[source.node].independent && self.targets[first_target..] == [local];
            local += size;
        }
        self.shapes.push(Shape {
            columns: first_column..self.columns.len(),
            width,
            links: first_link..self.links.len(),
            stack_is_identity,
        });
    }
}

/// Where the columns of a block come from.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ColumnSource {
    /// One element of a node.
    Element(usize, usize),
    /// Several elements of a node together: a number that [`Jacobians::gather`] gave.
    Gather(usize),
}

#[derive(Clone, Debug)]
struct NodeJacobian {
    independent: bool,
    /// The node whose elements have the same columns, where these are all that is asked for.
    alias: Option<usize>,
    /// Some component needs it, here or further down.
    needed: bool,
    height: usize,
    elements: Elements,
    /// Values that a needed node has.
    values: Vec<f64>,
}

impl NodeJacobian {
    /// Numbers of the largest block over the parents of an element.
    fn largest_block(&self) -> usize {
        let entries = 0..self.elements.len();
        self.height * entries.map(|e| self.elements.stack_height(e)).max().unwrap_or(0)
    }
}

/// `J_c0` of all nodes, as dense blocks over each element's column runs.
#[derive(Clone, Debug)]
pub(crate) struct Jacobians {
    nodes: Vec<NodeJacobian>,
    /// Elements taken together, without values of their own.
    gathers: Elements,
    /// Scratch for a local block that the evaluation does not store.
    made: Vec<f64>,
}

impl Jacobians {
    /// Patterns of all nodes; values only for those that `wanted` nodes need.
    pub(crate) fn plan(model: &Model, evaluation: &Evaluation, wanted: &[bool]) -> Self {
        let mut needed = wanted.to_vec();
        // Parents come first in the arena.
        for (index, node) in model.nodes().iter().enumerate().rev() {
            if let (NodeKind::Mapped { parents, .. }, true) = (&node.kind, needed[index]) {
                parents.iter().for_each(|p| needed[p.index()] = true);
            }
        }
        let mut nodes: Vec<NodeJacobian> = Vec::with_capacity(model.nodes().len());
        for (index, node) in model.nodes().iter().enumerate() {
            let height = node.space.velocity_size();
            let mut elements = Elements::default();
            let (mut start, mut alias) = (0, None);
            match &node.kind {
                NodeKind::Independent { first_dof, .. } => {
                    (0..node.count).for_each(|e| elements.push_independent(first_dof + e * height, height));
                }
                NodeKind::Mapped { parents, .. } => {
                    let of_element = |e: usize, sources: &mut Vec<Source>| {
                        sources.clear();
                        sources.extend(evaluation.dependencies(index, e).iter().map(|d| Source {
                            node: parents[d.parent].index(),
                            element: d.element,
                        }));
                    };
                    let (mut sources, mut before) = (Vec::new(), Vec::new());
                    if let ([parent], false) = (&parents[..], needed[index]) {
                        let is_alone = |e: usize| {
                            let list = evaluation.dependencies(index, e);
                            matches!(list, [one] if one.element == e)
                        };
                        let parent = parent.index();
                        let parent = nodes[parent].alias.unwrap_or(parent);
                        alias = (0..node.count).all(is_alone).then_some(parent);
                    }
                    for e in (0..node.count).filter(|_| alias.is_none()) {
                        of_element(e, &mut sources);
                        if needed[index] {
                            start += height * elements.push(&nodes, &sources, start);
                        } else {
                            elements.push_columns(&nodes, &sources, &before);
                            std::mem::swap(&mut sources, &mut before);
                        }
                    }
                }
            }
            elements.shrink();
            nodes.push(NodeJacobian {
                independent: node.first_dof().is_some(),
                alias,
                needed: needed[index],
                height,
                elements,
                values: if needed[index] {
                    vec![0.0; start]
                } else {
                    Vec::new()
                },
            });
        }
        let is_made = |index: &usize| nodes[*index].needed && evaluation.jacobian(*index).is_none();
        let made = (0..nodes.len())
            .filter(is_made)
            .map(|index| nodes[index].largest_block());
        Self {
            made: vec![0.0; made.max().unwrap_or(0)],
            nodes,
            gathers: Elements::default(),
        }
    }

    /// Refills the values from the local blocks. Cost: the flops of the block products.
    pub(crate) fn fill(&mut self, model: &Model, evaluation: &Evaluation) {
        for index in 0..self.nodes.len() {
            let (before, rest) = self.nodes.split_at_mut(index);
            let node = &mut rest[0];
            if node.independent || !node.needed {
                continue;
            }
            let blocks = evaluation.jacobian(index);
            let height = node.height;
            let repeated = evaluation.repeated(index);
            for e in 0..node.elements.len() {
                let element = node.elements.element(e);
                let (local, local_width) = match blocks {
                    Some(blocks) => (blocks.block(e), blocks.width(e)),
                    None => {
                        let width = node.elements.stack_height(e);
                        let made = &mut self.made[..height * width];
                        evaluation.write_jacobian(model, index, e..e + 1, made);
                        (&*made, width)
                    }
                };
                let width = node.elements.shape(e).width;
                let out = &mut node.values[element.start..element.start + height * width];
                out.fill(0.0);
                for (a, (link, targets, from)) in node.elements.links(e).enumerate() {
                    let parent = &before[from.node];
                    let source = parent.elements.shape(from.element);
                    let columns = parent.elements.columns(from.element);
                    let start = parent.elements.element(from.element).start;
                    if let Some(m) = repeated {
                        for (i, j) in (0..link.size).flat_map(|i| (0..m).map(move |j| (i, j))) {
                            let g = local[j * local_width + a];
                            let row = &mut out[(i * m + j) * width..][..width];
                            if parent.independent {
                                row[targets[0] + i] += g;
                                continue;
                            }
                            for (column, at) in columns.iter().zip(targets) {
                                let from = &parent.values[start + i * source.width + column.at..];
                                for (o, b) in row[*at..][..column.size].iter_mut().zip(from) {
                                    *o += g * b;
                                }
                            }
                        }
                        continue;
                    }
                    let a = Local {
                        values: &local[link.local..],
                        width: local_width,
                        rows: height,
                        columns: link.size,
                    };
                    if parent.independent {
                        let out = Rows {
                            values: &mut out[targets[0]..],
                            width,
                        };
                        match link.size {
                            6 => add_local::<6>(a, out),
                            3 => add_local::<3>(a, out),
                            1 => add_local::<1>(a, out),
                            _ => add_any_local(a, out),
                        }
                        continue;
                    }
                    for (column, at) in columns.iter().zip(targets) {
                        let from = Rows {
                            values: &parent.values[start + column.at..],
                            width: source.width,
                        };
                        let out = Rows {
                            values: &mut out[*at..],
                            width,
                        };
                        match column.size {
                            6 => add_product::<6>(a, from, out),
                            3 => add_product::<3>(a, from, out),
                            1 => add_product::<1>(a, from, out),
                            size => add_any_product(a, from, size, out),
                        }
                    }
                }
            }
        }
    }

    /// Takes several elements of one node together.
    pub(crate) fn gather(&mut self, node: usize, elements: &[usize]) -> ColumnSource {
        let source = |element: &usize| Source {
            node,
            element: *element,
        };
        let sources: Vec<Source> = elements.iter().map(source).collect();
        self.gathers.push(&self.nodes, &sources, 0);
        ColumnSource::Gather(self.gathers.len() - 1)
    }

    /// The elements of a node, or those of another one that have the same columns.
    fn elements(&self, node: usize) -> &Elements {
        &self.nodes[self.nodes[node].alias.unwrap_or(node)].elements
    }

    /// The elements that one is among, and its number.
    fn find(&self, place: ColumnSource) -> (&Elements, usize) {
        match place {
            ColumnSource::Element(node, element) => (self.elements(node), element),
            ColumnSource::Gather(i) => (&self.gathers, i),
        }
    }

    fn shape(&self, place: ColumnSource) -> &Shape {
        let (elements, e) = self.find(place);
        elements.shape(e)
    }

    /// Column runs of a block.
    pub(crate) fn columns_of(&self, place: ColumnSource) -> &[Column] {
        let (elements, e) = self.find(place);
        elements.columns(e)
    }

    /// Width of a block.
    pub(crate) fn width_of(&self, place: ColumnSource) -> usize {
        self.shape(place).width
    }

    /// Column runs of one element.
    pub(crate) fn columns(&self, node: usize, element: usize) -> &[Column] {
        self.elements(node).columns(element)
    }

    /// Column runs of one element; none if there is no such element.
    pub(crate) fn known_columns(&self, node: usize, element: usize) -> &[Column] {
        if node >= self.nodes.len() || element >= self.elements(node).len() {
            return &[];
        }
        self.columns(node, element)
    }

    /// Width of one element's block.
    pub(crate) fn width(&self, node: usize, element: usize) -> usize {
        self.elements(node).shape(element).width
    }

    /// `J_c0` of one element, row-major; `None` stands for the identity of an independent node.
    pub(crate) fn block(&self, node: usize, element: usize) -> Option<&[f64]> {
        let n = &self.nodes[node];
        let (start, width) = (n.elements.element(element).start, n.elements.shape(element).width);
        (!n.independent).then(|| &n.values[start..start + n.height * width])
    }

    /// Whether the blocks of a node have values.
    pub(crate) fn is_filled(&self, node: usize) -> bool {
        self.nodes[node].independent || self.nodes[node].needed
    }

    /// Whether the stacked Jacobians of a block's sources are the identity.
    pub(crate) fn stack_is_identity(&self, place: ColumnSource) -> bool {
        self.shape(place).stack_is_identity
    }

    /// Height of the stack of a block's sources.
    pub(crate) fn stack_height(&self, place: ColumnSource) -> usize {
        let (elements, e) = self.find(place);
        elements.stack_height(e)
    }

    /// Writes the stacked Jacobians of a block's sources (the parents of an element, the elements
    /// of a gather): (sum of their sizes) x width, row-major.
    pub(crate) fn stack(&self, place: ColumnSource, out: &mut [f64]) {
        let (elements, e) = self.find(place);
        let width = elements.shape(e).width;
        out.fill(0.0);
        for (link, targets, from) in elements.links(e) {
            let parent = &self.nodes[from.node];
            let source = parent.elements.shape(from.element);
            let columns = parent.elements.columns(from.element);
            let start = parent.elements.element(from.element).start;
            for (column, at) in columns.iter().zip(targets) {
                for k in 0..link.size {
                    let row = &mut out[(link.local + k) * width + at..][..column.size];
                    if parent.independent {
                        row[k] = 1.0;
                    } else {
                        row.copy_from_slice(
                            &parent.values[start + k * source.width + column.at..][..column.size],
                        );
                    }
                }
            }
        }
    }
}

/// The local block of an element over one of its parents.
#[derive(Clone, Copy)]
struct Local<'a> {
    values: &'a [f64],
    /// From row to row.
    width: usize,
    rows: usize,
    columns: usize,
}

/// Rows of a block, from the first column that matters on, and the width from one to the next.
struct Rows<V> {
    values: V,
    width: usize,
}

/// Adds a block of `C` columns.
#[inline(always)]
fn add_local<const C: usize>(a: Local<'_>, out: Rows<&mut [f64]>) {
    for i in 0..a.rows {
        let row = &mut out.values[i * out.width..][..C];
        let a = &a.values[i * a.width..][..C];
        for c in 0..C {
            row[c] += a[c];
        }
    }
}

fn add_any_local(a: Local<'_>, out: Rows<&mut [f64]>) {
    for i in 0..a.rows {
        let row = &mut out.values[i * out.width..][..a.columns];
        let a = &a.values[i * a.width..];
        row.iter_mut().zip(a).for_each(|(o, a)| *o += a);
    }
}

/// Adds the product of a block with `C` columns of its parent's, of which each row stays in
/// registers.
#[inline(always)]
fn add_product<const C: usize>(a: Local<'_>, from: Rows<&[f64]>, out: Rows<&mut [f64]>) {
    for i in 0..a.rows {
        let row = &mut out.values[i * out.width..][..C];
        let mut sum = [0.0; C];
        sum.copy_from_slice(row);
        for (k, a) in a.values[i * a.width..][..a.columns].iter().enumerate() {
            if *a != 0.0 {
                let from = &from.values[k * from.width..][..C];
                for c in 0..C {
                    sum[c] += a * from[c];
                }
            }
        }
        row.copy_from_slice(&sum);
    }
}

fn add_any_product(a: Local<'_>, from: Rows<&[f64]>, size: usize, out: Rows<&mut [f64]>) {
    for i in 0..a.rows {
        let row = &mut out.values[i * out.width..][..size];
        for (k, a) in a.values[i * a.width..][..a.columns].iter().enumerate() {
            if *a != 0.0 {
                let from = &from.values[k * from.width..];
                row.iter_mut().zip(from).for_each(|(o, b)| *o += a * b);
            }
        }
    }
}
