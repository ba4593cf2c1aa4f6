//! Jacobians of every node with respect to the independent degrees of freedom: patterns once,
//! products every step.

use pliant_model::{Evaluation, Model, NodeKind};

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
#[derive(Clone, Debug)]
struct Link {
    /// First column of the local block, and its size.
    local: usize,
    size: usize,
    /// First column in the child's block, for each column run of the parent.
    targets: Vec<usize>,
}

/// Column runs (ascending) and links to parents, which many elements have in common: all points of
/// a finite element, and the strains at them.
#[derive(Clone, Debug, Default)]
struct Shape {
    columns: Vec<Column>,
    width: usize,
    links: Vec<Link>,
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
#[derive(Clone, Copy, Debug)]
struct Element {
    shape: usize,
    source: usize,
    start: usize,
}

/// The elements of a node.
#[derive(Clone, Debug, Default)]
struct Elements {
    list: Vec<Element>,
    shapes: Vec<Shape>,
    sources: Vec<Source>,
}

impl Elements {
    fn len(&self) -> usize {
        self.list.len()
    }

    fn shape(&self, e: usize) -> &Shape {
        &self.shapes[self.list[e].shape]
    }

    /// Gives back what was reserved for more.
    fn shrink(&mut self) {
        self.list.shrink_to_fit();
        self.shapes.shrink_to_fit();
        self.sources.shrink_to_fit();
    }

    /// The sources of an element, one for each link of its shape.
    fn sources(&self, e: usize) -> &[Source] {
        let Element { shape, source, .. } = self.list[e];
        &self.sources[source..][..self.shapes[shape].links.len()]
    }

    /// The links of an element with their sources.
    fn links(&self, e: usize) -> impl Iterator<Item = (&Link, Source)> {
        self.shape(e).links.iter().zip(self.sources(e).iter().copied())
    }

    /// Adds an independent element.
    fn push_independent(&mut self, dof: usize, size: usize) {
        self.list.push(Element {
            shape: self.shapes.len(),
            source: self.sources.len(),
            start: 0,
        });
        self.shapes.push(Shape {
            columns: vec![Column { dof, size, at: 0 }],
            width: size,
            ..Shape::default()
        });
    }

    /// Adds the block over the given elements of earlier nodes, in their order; its values begin at
    /// `start`. Returns its width.
    fn push(&mut self, nodes: &[NodeJacobian], sources: &[Source], start: usize) -> usize {
        let shape_of = |s: &Source| (s.node, nodes[s.node].elements.list[s.element].shape);
        // Elements that follow each other are often alike.
        let mut source = self.sources.len();
        let mut shape = self.shapes.len();
        if let Some(last) = self.list.len().checked_sub(1) {
            let before = self.sources(last);
            if before == sources {
                source = self.list[last].source;
            }
            if before.iter().map(shape_of).eq(sources.iter().map(shape_of)) {
                shape = self.list[last].shape;
            }
        }
        if source == self.sources.len() {
            self.sources.extend_from_slice(sources);
        }
        if shape == self.shapes.len() {
            self.shapes.push(Shape::of_sources(nodes, sources));
        }
        self.list.push(Element { shape, source, start });
        self.shapes[shape].width
    }
}

impl Shape {
    fn of_sources(nodes: &[NodeJacobian], sources: &[Source]) -> Self {
        let columns_of = |s: &Source| &nodes[s.node].elements.shape(s.element).columns;
        let all = sources.iter().flat_map(columns_of);
        let mut runs: Vec<(usize, usize)> = all.map(|c| (c.dof, c.size)).collect();
        runs.sort_unstable();
        runs.dedup();
        let mut width = 0;
        let columns: Vec<Column> = runs
            .into_iter()
            .map(|(dof, size)| {
                width += size;
                Column {
                    dof,
                    size,
                    at: width - size,
                }
            })
            .collect();
        let mut local = 0;
        let mut links = Vec::with_capacity(sources.len());
        for source in sources {
            let target = |c: &Column| columns.iter().find(|t| t.dof == c.dof).map_or(0, |t| t.at);
            let size = nodes[source.node].height;
            let targets = columns_of(source).iter().map(target).collect();
            links.push(Link { local, size, targets });
            local += size;
        }
        let mut both = links.iter().zip(sources);
        let stack_is_identity =
            both.all(|(link, source)| nodes[source.node].independent && link.targets == [link.local]);
        Self {
            columns,
            width,
            links,
            stack_is_identity,
        }
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
    /// Some component needs it, here or further down.
    needed: bool,
    height: usize,
    elements: Elements,
    /// Values that a needed node has.
    size: usize,
    values: Vec<f64>,
}

/// `J_c0` of all nodes, as dense blocks over each element's column runs.
#[derive(Clone, Debug)]
pub(crate) struct Jacobians {
    nodes: Vec<NodeJacobian>,
    /// Elements taken together, without values of their own.
    gathers: Elements,
}

impl Jacobians {
    /// Patterns of all nodes; values only for those that `wanted` nodes need.
    pub(crate) fn plan(model: &Model, evaluation: &Evaluation, wanted: &[bool]) -> Self {
        let mut nodes: Vec<NodeJacobian> = Vec::with_capacity(model.nodes().len());
        for (index, node) in model.nodes().iter().enumerate() {
            let height = node.space.velocity_size();
            let mut elements = Elements::default();
            let mut start = 0;
            match &node.kind {
                NodeKind::Independent { first_dof, .. } => {
                    (0..node.count).for_each(|e| elements.push_independent(first_dof + e * height, height));
                }
                NodeKind::Mapped { parents, .. } => {
                    let mut sources = Vec::new();
                    for e in 0..node.count {
                        sources.clear();
                        sources.extend(evaluation.dependencies(index, e).iter().map(|d| Source {
                            node: parents[d.parent].index(),
                            element: d.element,
                        }));
                        start += height * elements.push(&nodes, &sources, start);
                    }
                    elements.shrink();
                }
            }
            let independent = node.first_dof().is_some();
            nodes.push(NodeJacobian {
                independent,
                needed: wanted[index],
                height,
                elements,
                size: start,
                values: Vec::new(),
            });
        }
        for index in (0..nodes.len()).rev() {
            if nodes[index].needed {
                let mut parents: Vec<usize> = nodes[index].elements.sources.iter().map(|s| s.node).collect();
                parents.dedup();
                for parent in parents {
                    nodes[parent].needed = true;
                }
                nodes[index].values = vec![0.0; nodes[index].size];
            }
        }
        Self {
            nodes,
            gathers: Elements::default(),
        }
    }

    /// Refills the values from the local blocks. Cost: the flops of the block products.
    pub(crate) fn fill(&mut self, evaluation: &Evaluation) {
        for index in 0..self.nodes.len() {
            let (before, rest) = self.nodes.split_at_mut(index);
            let node = &mut rest[0];
            if node.independent || !node.needed {
                continue;
            }
            let Some(blocks) = evaluation.jacobian(index) else {
                continue;
            };
            let height = node.height;
            let repeated = evaluation.repeated(index);
            for (e, element) in node.elements.list.iter().enumerate() {
                let (local, local_width) = (blocks.block(e), blocks.width(e));
                let width = node.elements.shape(e).width;
                let out = &mut node.values[element.start..element.start + height * width];
                out.fill(0.0);
                for (a, (link, from)) in node.elements.links(e).enumerate() {
                    let parent = &before[from.node];
                    let source = parent.elements.shape(from.element);
                    let start = parent.elements.list[from.element].start;
                    if let Some(m) = repeated {
                        for (i, j) in (0..link.size).flat_map(|i| (0..m).map(move |j| (i, j))) {
                            let g = local[j * local_width + a];
                            let row = &mut out[(i * m + j) * width..][..width];
                            if parent.independent {
                                row[link.targets[0] + i] += g;
                                continue;
                            }
                            for (column, at) in source.columns.iter().zip(&link.targets) {
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
                            values: &mut out[link.targets[0]..],
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
                    for (column, at) in source.columns.iter().zip(&link.targets) {
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

    /// The elements that one is among, and its number.
    fn find(&self, place: ColumnSource) -> (&Elements, usize) {
        match place {
            ColumnSource::Element(node, element) => (&self.nodes[node].elements, element),
            ColumnSource::Gather(i) => (&self.gathers, i),
        }
    }

    fn shape(&self, place: ColumnSource) -> &Shape {
        let (elements, e) = self.find(place);
        elements.shape(e)
    }

    /// Column runs of a block.
    pub(crate) fn columns_of(&self, place: ColumnSource) -> &[Column] {
        &self.shape(place).columns
    }

    /// Width of a block.
    pub(crate) fn width_of(&self, place: ColumnSource) -> usize {
        self.shape(place).width
    }

    /// Column runs of one element.
    pub(crate) fn columns(&self, node: usize, element: usize) -> &[Column] {
        &self.nodes[node].elements.shape(element).columns
    }

    /// Column runs of one element; none if there is no such element.
    pub(crate) fn known_columns(&self, node: usize, element: usize) -> &[Column] {
        let node = self.nodes.get(node).filter(|n| element < n.elements.len());
        node.map_or(&[], |n| &n.elements.shape(element).columns)
    }

    /// Width of one element's block.
    pub(crate) fn width(&self, node: usize, element: usize) -> usize {
        self.nodes[node].elements.shape(element).width
    }

    /// `J_c0` of one element, row-major; `None` stands for the identity of an independent node.
    pub(crate) fn block(&self, node: usize, element: usize) -> Option<&[f64]> {
        let n = &self.nodes[node];
        let (start, width) = (n.elements.list[element].start, n.elements.shape(element).width);
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
        self.shape(place).links.iter().map(|l| l.size).sum()
    }

    /// Writes the stacked Jacobians of a block's sources (the parents of an element, the elements
    /// of a gather): (sum of their sizes) x width, row-major.
    pub(crate) fn stack(&self, place: ColumnSource, out: &mut [f64]) {
        let (elements, e) = self.find(place);
        let width = elements.shape(e).width;
        out.fill(0.0);
        for (link, from) in elements.links(e) {
            let parent = &self.nodes[from.node];
            let source = parent.elements.shape(from.element);
            let start = parent.elements.list[from.element].start;
            for (column, at) in source.columns.iter().zip(&link.targets) {
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
