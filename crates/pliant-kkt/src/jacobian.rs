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
    node: usize,
    element: usize,
    /// First column of the local block, and its size.
    local: usize,
    size: usize,
    /// First column in the child's block, for each column run of the parent.
    targets: Vec<usize>,
}

/// One element: its column runs (ascending) and links to its parents.
#[derive(Clone, Debug, Default)]
struct Element {
    columns: Vec<Column>,
    width: usize,
    start: usize,
    links: Vec<Link>,
    /// All parents are independent and their columns come in the order of the links.
    stack_is_identity: bool,
}

impl Element {
    /// The block over the given elements of earlier nodes, in their order; its values begin at
    /// `start`.
    fn of_sources(
        nodes: &[NodeJacobian],
        sources: impl Iterator<Item = (usize, usize)> + Clone,
        start: usize,
    ) -> Self {
        let columns_of = |(node, element): (usize, usize)| &nodes[node].elements[element].columns;
        let mut runs: Vec<(usize, usize)> = sources
            .clone()
            .flat_map(|s| columns_of(s).iter().map(|c| (c.dof, c.size)))
            .collect();
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
        let mut links = Vec::new();
        for (node, element) in sources {
            let target = |c: &Column| columns.iter().find(|t| t.dof == c.dof).map_or(0, |t| t.at);
            let size = nodes[node].height;
            let targets = columns_of((node, element)).iter().map(target).collect();
            links.push(Link {
                node,
                element,
                local,
                size,
                targets,
            });
            local += size;
        }
        let in_place = |l: &Link| nodes[l.node].independent && l.targets == [l.local];
        let stack_is_identity = links.iter().all(in_place);
        Self {
            columns,
            width,
            start,
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
    elements: Vec<Element>,
    /// Values that a needed node has.
    size: usize,
    values: Vec<f64>,
}

/// `J_c0` of all nodes, as dense blocks over each element's column runs.
#[derive(Clone, Debug)]
pub(crate) struct Jacobians {
    nodes: Vec<NodeJacobian>,
    /// Elements taken together, without values of their own.
    gathers: Vec<Element>,
}

impl Jacobians {
    /// Patterns of all nodes; values only for those that `wanted` nodes need.
    pub(crate) fn plan(model: &Model, evaluation: &Evaluation, wanted: &[bool]) -> Self {
        let mut nodes: Vec<NodeJacobian> = Vec::with_capacity(model.nodes().len());
        for (index, node) in model.nodes().iter().enumerate() {
            let height = node.space.velocity_size();
            let mut elements = Vec::with_capacity(node.count);
            let mut start = 0;
            match &node.kind {
                NodeKind::Independent { first_dof, .. } => {
                    for e in 0..node.count {
                        let columns = vec![Column {
                            dof: first_dof + e * height,
                            size: height,
                            at: 0,
                        }];
                        elements.push(Element {
                            columns,
                            width: height,
                            ..Element::default()
                        });
                    }
                }
                NodeKind::Mapped { parents, .. } => {
                    for e in 0..node.count {
                        let list = evaluation.dependencies(index, e);
                        let sources = list.iter().map(|d| (parents[d.parent].index(), d.element));
                        let element = Element::of_sources(&nodes, sources, start);
                        start += height * element.width;
                        elements.push(element);
                    }
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
                let parents: Vec<usize> = nodes[index]
                    .elements
                    .iter()
                    .flat_map(|e| e.links.iter().map(|l| l.node))
                    .collect();
                for parent in parents {
                    nodes[parent].needed = true;
                }
                nodes[index].values = vec![0.0; nodes[index].size];
            }
        }
        Self {
            nodes,
            gathers: Vec::new(),
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
            for (e, element) in node.elements.iter().enumerate() {
                let (local, local_width) = (blocks.block(e), blocks.width(e));
                let width = element.width;
                let out = &mut node.values[element.start..element.start + height * width];
                out.fill(0.0);
                for (a, link) in element.links.iter().enumerate() {
                    let parent = &before[link.node];
                    let source = &parent.elements[link.element];
                    if let Some(m) = repeated {
                        for (i, j) in (0..link.size).flat_map(|i| (0..m).map(move |j| (i, j))) {
                            let g = local[j * local_width + a];
                            let row = &mut out[(i * m + j) * width..][..width];
                            if parent.independent {
                                row[link.targets[0] + i] += g;
                                continue;
                            }
                            for (column, at) in source.columns.iter().zip(&link.targets) {
                                let from = &parent.values[source.start + i * source.width + column.at..];
                                for (o, b) in row[*at..][..column.size].iter_mut().zip(from) {
                                    *o += g * b;
                                }
                            }
                        }
                        continue;
                    }
                    if parent.independent {
                        let at = link.targets[0];
                        for i in 0..height {
                            let row = &mut out[i * width + at..][..link.size];
                            for (o, a) in row.iter_mut().zip(&local[i * local_width + link.local..]) {
                                *o += a;
                            }
                        }
                        continue;
                    }
                    for (column, at) in source.columns.iter().zip(&link.targets) {
                        for i in 0..height {
                            let row = &mut out[i * width + at..][..column.size];
                            for k in 0..link.size {
                                let a = local[i * local_width + link.local + k];
                                if a != 0.0 {
                                    let from = &parent.values[source.start + k * source.width + column.at..];
                                    for (o, b) in row.iter_mut().zip(from) {
                                        *o += a * b;
                                    }
                                }
                            }
                        }
                    }
                }
            }
        }
    }

    /// Takes several elements of one node together.
    pub(crate) fn gather(&mut self, node: usize, elements: &[usize]) -> ColumnSource {
        let sources = elements.iter().map(|e| (node, *e));
        self.gathers.push(Element::of_sources(&self.nodes, sources, 0));
        ColumnSource::Gather(self.gathers.len() - 1)
    }

    fn element(&self, place: ColumnSource) -> &Element {
        match place {
            ColumnSource::Element(node, element) => &self.nodes[node].elements[element],
            ColumnSource::Gather(i) => &self.gathers[i],
        }
    }

    /// Column runs of a block.
    pub(crate) fn columns_of(&self, place: ColumnSource) -> &[Column] {
        &self.element(place).columns
    }

    /// Width of a block.
    pub(crate) fn width_of(&self, place: ColumnSource) -> usize {
        self.element(place).width
    }

    /// Column runs of one element.
    pub(crate) fn columns(&self, node: usize, element: usize) -> &[Column] {
        &self.nodes[node].elements[element].columns
    }

    /// Column runs of one element; none if there is no such element.
    pub(crate) fn known_columns(&self, node: usize, element: usize) -> &[Column] {
        let element = self.nodes.get(node).and_then(|n| n.elements.get(element));
        element.map_or(&[], |e| &e.columns)
    }

    /// Width of one element's block.
    pub(crate) fn width(&self, node: usize, element: usize) -> usize {
        self.nodes[node].elements[element].width
    }

    /// `J_c0` of one element, row-major; `None` stands for the identity of an independent node.
    pub(crate) fn block(&self, node: usize, element: usize) -> Option<&[f64]> {
        let n = &self.nodes[node];
        let e = &n.elements[element];
        (!n.independent).then(|| &n.values[e.start..e.start + n.height * e.width])
    }

    /// Whether the blocks of a node have values.
    pub(crate) fn is_filled(&self, node: usize) -> bool {
        self.nodes[node].independent || self.nodes[node].needed
    }

    /// Whether the stacked Jacobians of a block's sources are the identity.
    pub(crate) fn stack_is_identity(&self, place: ColumnSource) -> bool {
        self.element(place).stack_is_identity
    }

    /// Height of the stack of a block's sources.
    pub(crate) fn stack_height(&self, place: ColumnSource) -> usize {
        self.element(place).links.iter().map(|l| l.size).sum()
    }

    /// Writes the stacked Jacobians of a block's sources (the parents of an element, the elements
    /// of a gather): (sum of their sizes) x width, row-major.
    pub(crate) fn stack(&self, place: ColumnSource, out: &mut [f64]) {
        let e = self.element(place);
        let width = e.width;
        out.fill(0.0);
        for link in &e.links {
            let parent = &self.nodes[link.node];
            let source = &parent.elements[link.element];
            for (column, at) in source.columns.iter().zip(&link.targets) {
                for k in 0..link.size {
                    let row = &mut out[(link.local + k) * width + at..][..column.size];
                    if parent.independent {
                        row[k] = 1.0;
                    } else {
                        row.copy_from_slice(
                            &parent.values[source.start + k * source.width + column.at..][..column.size],
                        );
                    }
                }
            }
        }
    }
}
