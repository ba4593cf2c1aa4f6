//! Meshes of a SOFA scene: loaders, makers, grids and containers.

use super::graph::{Target, kind, spot};
use super::{DEEPEST_LINKS, Input, Result};
use crate::geometry::{Frame, roll_pitch_yaw};
use crate::xml::Tree;
use pliant_dense::Vec3;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::rc::Rc;

/// The most points of a mesh that a scene makes.
const MOST_POINTS: usize = 200_000;

/// The form that a mesh has, where a scene can say it shortly.
#[derive(Clone, Debug)]
pub(super) enum Source {
    /// Its points one by one.
    Listed,
    /// A file, as written there.
    File(PathBuf),
    /// A box of hexahedra from a corner.
    Grid {
        least: Vec3,
        size: Vec3,
        cells: [usize; 3],
    },
}

/// How points of a source are placed: scaled, turned, moved.
#[derive(Clone, Copy, Debug)]
pub(super) struct Placement {
    pub(super) scale: Vec3,
    pub(super) frame: Frame,
}

/// A mesh.
#[derive(Clone, Debug)]
pub(super) struct Topology {
    pub(super) points: Vec<Vec3>,
    pub(super) edges: Vec<[usize; 2]>,
    pub(super) triangles: Vec<[usize; 3]>,
    pub(super) quads: Vec<[usize; 4]>,
    pub(super) tetrahedra: Vec<[usize; 4]>,
    pub(super) hexahedra: Vec<[usize; 8]>,
    pub(super) source: Source,
    pub(super) placement: Placement,
}

impl Placement {
    pub(super) const NONE: Self = Self {
        scale: Vec3::new(1.0, 1.0, 1.0),
        frame: Frame::IDENTITY,
    };

    pub(super) fn point(&self, p: Vec3) -> Vec3 {
        self.frame.point(p.component_mul(&self.scale))
    }

    /// Whether it changes nothing.
    pub(super) fn is_none(&self) -> bool {
        self.scale == Self::NONE.scale && self.frame.position == Vec3::zeros() && self.frame.is_upright()
    }

    /// Its scale, if that is the same in all directions.
    pub(super) fn uniform(&self) -> Option<f64> {
        let scale = self.scale;
        (scale.x == scale.y && scale.y == scale.z && scale.x > 0.0).then_some(scale.x)
    }

    /// This placement after another one, if both together are one again.
    pub(super) fn after(&self, first: &Self) -> Option<Self> {
        if let Some(scale) = self.uniform() {
            let inner = Frame {
                position: first.frame.position * scale,
                rotation: first.frame.rotation,
            };
            return Some(Self {
                scale: first.scale * scale,
                frame: self.frame.then(&inner),
            });
        }
        // Scales along the axes go through what is not turned.
        first.frame.is_upright().then(|| Self {
            scale: self.scale.component_mul(&first.scale),
            frame: Frame {
                position: self.point(first.frame.position),
                rotation: self.frame.rotation,
            },
        })
    }
}

impl Topology {
    fn listed(points: Vec<Vec3>) -> Self {
        Self {
            points,
            edges: Vec::new(),
            triangles: Vec::new(),
            quads: Vec::new(),
            tetrahedra: Vec::new(),
            hexahedra: Vec::new(),
            source: Source::Listed,
            placement: Placement::NONE,
        }
    }

    /// All edges: those that are given, or those of its cells.
    pub(super) fn all_edges(&self) -> Vec<[usize; 2]> {
        if !self.edges.is_empty() {
            return self.edges.clone();
        }
        let round = |cell: &[usize]| -> Vec<[usize; 2]> {
            let next = cell.iter().cycle().skip(1);
            cell.iter().zip(next).map(|(a, b)| [*a, *b]).collect()
        };
        let mut all: Vec<[usize; 2]> = self.triangles.iter().flat_map(|t| round(t)).collect();
        all.extend(self.quads.iter().flat_map(|q| round(q)));
        for [a, b, c, d] in &self.tetrahedra {
            all.extend([[*a, *b], [*a, *c], [*a, *d], [*b, *c], [*b, *d], [*c, *d]]);
        }
        for h in &self.hexahedra {
            all.extend(round(&h[..4]));
            all.extend(round(&h[4..]));
            all.extend((0..4).map(|i| [h[i], h[i + 4]]));
        }
        let all: BTreeSet<[usize; 2]> = all.iter().map(|[a, b]| [*a.min(b), *a.max(b)]).collect();
        all.into_iter().collect()
    }

    /// Triangles, with quadrangles cut in two.
    pub(super) fn all_triangles(&self) -> Vec<[usize; 3]> {
        let cut = self
            .quads
            .iter()
            .flat_map(|[a, b, c, d]| [[*a, *b, *c], [*a, *c, *d]]);
        self.triangles.iter().copied().chain(cut).collect()
    }

    /// The volume of its cells (m^3).
    pub(super) fn volume(&self) -> f64 {
        /// Five tetrahedra of a hexahedron whose first four corners go round one side.
        const CUT: [[usize; 4]; 5] = [
            [0, 1, 2, 5],
            [0, 2, 3, 7],
            [0, 5, 7, 4],
            [2, 7, 5, 6],
            [0, 2, 7, 5],
        ];
        let at = |i: usize| self.points.get(i).copied().unwrap_or_default();
        let of = |[a, b, c, d]: [usize; 4]| {
            let origin = at(a);
            (at(b) - origin)
                .cross(&(at(c) - origin))
                .dot(&(at(d) - origin))
                .abs()
                / 6.0
        };
        let hexahedra = self.hexahedra.iter().flat_map(|h| CUT.map(|c| c.map(|i| h[i])));
        self.tetrahedra.iter().copied().chain(hexahedra).map(of).sum()
    }

    /// The points and cells under a placement.
    fn placed(mut self, placement: &Placement) -> Self {
        if placement.is_none() {
            return self;
        }
        for p in &mut self.points {
            *p = placement.point(*p);
        }
        match placement.after(&self.placement) {
            Some(placement) => self.placement = placement,
            None => self.source = Source::Listed,
        }
        self
    }
}

/// Whether a component has a mesh.
pub(super) fn is_topology(kind: &str) -> bool {
    matches!(
        kind,
        "Mesh" | "MeshTopology" | "RegularGrid" | "RegularGridTopology" | "Grid"
    ) || kind.ends_with("SetTopologyContainer")
}

/// Whether a component makes or reads a mesh for others.
pub(super) fn is_loader(kind: &str) -> bool {
    matches!(kind, "StringMeshCreator" | "GridMeshCreator")
        || kind.starts_with("Mesh") && kind.ends_with("Loader")
}

/// Three numbers of an attribute, or one for all.
pub(super) fn triple(tree: &Tree, of: usize, name: &str) -> Result<Option<Vec3>> {
    match tree.list(of, name)?.as_deref() {
        None | Some([]) => Ok(None),
        Some([x]) => Ok(Some(Vec3::repeat(*x))),
        Some([x, y, z]) => Ok(Some(Vec3::new(*x, *y, *z))),
        Some(list) => {
            let message = format!("`{name}` has {} numbers where 3 are expected", list.len());
            tree.wrong(spot(tree, of), message, None)
        }
    }
}

/// How a loader or a state places its points.
pub(super) fn placement(tree: &Tree, of: usize) -> Result<Placement> {
    let three = |names: [&str; 3], default: f64| -> Result<Option<Vec3>> {
        let mut out = Vec3::repeat(default);
        let mut any = false;
        for (i, name) in names.iter().enumerate() {
            if let Some(x) = tree.number(of, name)? {
                out[i] = x;
                any = true;
            }
        }
        Ok(any.then_some(out))
    };
    let scale = match triple(tree, of, "scale3d")? {
        Some(scale) => Some(scale),
        None => triple(tree, of, "scale")?,
    };
    let scale = three(["sx", "sy", "sz"], 1.0)?
        .or(scale)
        .unwrap_or(Vec3::repeat(1.0));
    let turn = three(["rx", "ry", "rz"], 0.0)?.or(triple(tree, of, "rotation")?);
    let degrees = turn.unwrap_or_default();
    let rotation = roll_pitch_yaw([degrees.x, degrees.y, degrees.z].map(f64::to_radians));
    // Quarter turns leave no 1e-17 behind.
    let rotation = crate::numbers::tidy(rotation);
    let position = three(["dx", "dy", "dz"], 0.0)?.or(triple(tree, of, "translation")?);
    Ok(Placement {
        scale,
        frame: Frame {
            position: position.unwrap_or_default(),
            rotation,
        },
    })
}

impl Input<'_> {
    /// The mesh of a component; none if it has none, or it is not taken.
    pub(super) fn topology(&mut self, component: usize) -> Result<Option<Rc<Topology>>> {
        if let Some(known) = self.topologies.get(&component) {
            return Ok(known.clone());
        }
        // What leads back to itself finds nothing here.
        self.topologies.insert(component, None);
        if self.depth > DEEPEST_LINKS {
            return Ok(None);
        }
        self.depth += 1;
        let made = self.make_topology(component)?.map(Rc::new);
        self.depth -= 1;
        self.topologies.insert(component, made.clone());
        Ok(made)
    }

    /// The mesh that a state or a mapping in a node sees: the nearest upwards, the last of a node.
    pub(super) fn topology_above(&mut self, node: usize) -> Result<Option<(usize, Rc<Topology>)>> {
        let up: Vec<usize> = self.graph.upwards(node).collect();
        for node in up {
            if let Some(component) = self.topology_component(node)
                && let Some(topology) = self.topology(component)?
            {
                return Ok(Some((component, topology)));
            }
        }
        Ok(None)
    }

    /// The component with the mesh of a node.
    pub(super) fn topology_component(&self, node: usize) -> Option<usize> {
        let all = self.graph.nodes[node].components.iter().rev();
        all.copied().find(|c| is_topology(&kind(self.tree, *c)))
    }

    fn make_topology(&mut self, component: usize) -> Result<Option<Topology>> {
        let name = kind(self.tree, component);
        if let Some(matrix) = self.tree.attribute(component, "transformation") {
            let at = matrix.spot;
            self.tree.remark(at, "`transformation` of a mesh is not taken");
        }
        let made = match name.as_str() {
            "StringMeshCreator" => self.string(component)?,
            "GridMeshCreator" => self.sheet(component)?,
            "RegularGrid" | "RegularGridTopology" => return self.grid(component),
            loader if is_loader(loader) => self.file(component, "filename")?,
            other if is_topology(other) => return self.container(component),
            _ => None,
        };
        let placement = placement(self.tree, component)?;
        Ok(made.map(|m| m.placed(&placement)))
    }

    /// How many points a maker has along each direction.
    fn counts<const N: usize>(&self, component: usize, name: &str, default: usize) -> Result<[usize; N]> {
        let mut out = [default; N];
        let Some(list) = self.tree.list(component, name)? else {
            return Ok(out);
        };
        let fine = |x: &f64| *x >= 1.0 && *x <= MOST_POINTS as f64 && x.fract() == 0.0;
        let few = list.iter().product::<f64>() <= MOST_POINTS as f64;
        if list.len() != N || !list.iter().all(fine) || !few {
            let message =
                format!("`{name}` must be {N} whole numbers from 1 on, {MOST_POINTS} points at most");
            let at = self
                .tree
                .attribute(component, name)
                .map_or(spot(self.tree, component), |a| a.spot);
            return self.tree.wrong(at, message, None);
        }
        for (to, from) in out.iter_mut().zip(&list) {
            *to = *from as usize;
        }
        Ok(out)
    }

    fn string(&mut self, component: usize) -> Result<Option<Topology>> {
        let [n] = self.counts(component, "resolution", 2)?;
        let step = 1.0 / (n.max(2) - 1) as f64;
        let mut out = Topology::listed((0..n).map(|i| Vec3::new(i as f64 * step, 0.0, 0.0)).collect());
        out.edges = (1..n).map(|i| [i - 1, i]).collect();
        Ok(Some(out))
    }

    fn sheet(&mut self, component: usize) -> Result<Option<Topology>> {
        let [nx, ny] = self.counts(component, "resolution", 2)?;
        let share = |i: usize, n: usize| i as f64 / (n.max(2) - 1) as f64;
        let rows = (0..ny).flat_map(|y| (0..nx).map(move |x| (x, y)));
        let mut out = Topology::listed(
            rows.map(|(x, y)| Vec3::new(share(x, nx), share(y, ny), 0.0))
                .collect(),
        );
        let pattern = self.tree.number(component, "trianglePattern")?.unwrap_or(2.0);
        let mut edges = BTreeSet::new();
        for (x, y) in (1..ny).flat_map(|y| (1..nx).map(move |x| (x - 1, y - 1))) {
            let at = |i: usize, j: usize| x + i + nx * (y + j);
            let [a, b, c, d] = [at(0, 0), at(1, 0), at(1, 1), at(0, 1)];
            let up = pattern == 2.0 || (pattern == 1.0 && (x + y) % 2 == 0);
            if pattern == 0.0 {
                out.quads.push([a, b, c, d]);
            } else if up {
                out.triangles.extend([[a, b, c], [a, c, d]]);
                edges.insert([a, c]);
            } else {
                out.triangles.extend([[a, b, d], [b, c, d]]);
                edges.insert([b, d]);
            }
            edges.extend([[a, b], [b, c], [d, c], [a, d]]);
        }
        out.edges = edges.into_iter().collect();
        Ok(Some(out))
    }

    fn grid(&mut self, component: usize) -> Result<Option<Topology>> {
        let n = match self.tree.attribute(component, "n") {
            Some(_) => self.counts(component, "n", 2)?,
            None => {
                let mut n = [2; 3];
                for (to, name) in n.iter_mut().zip(["nx", "ny", "nz"]) {
                    [*to] = self.counts(component, name, 2)?;
                }
                n
            }
        };
        for key in ["cellWidth", "p0"] {
            if let Some(at) = self.tree.attribute(component, key).map(|a| a.spot) {
                self.tree.remark(at, format!("`{key}` of a grid is not taken"));
            }
        }
        if n.iter().product::<usize>() > MOST_POINTS {
            let message = format!("a grid has more than {MOST_POINTS} points");
            return self.tree.wrong(spot(self.tree, component), message, None);
        }
        let least = self.corner(component, "min", ["xmin", "ymin", "zmin"], 0.0)?;
        let size = self.corner(component, "max", ["xmax", "ymax", "zmax"], 1.0)? - least;
        let along = |axis: usize, i: usize| match n[axis] {
            // A single layer is in the middle, along z at the end.
            1 if axis == 2 => least[axis],
            1 => least[axis] + size[axis] / 2.0,
            count => least[axis] + size[axis] * i as f64 / (count - 1) as f64,
        };
        let mut points = Vec::new();
        for z in 0..n[2] {
            for y in 0..n[1] {
                points.extend((0..n[0]).map(|x| Vec3::new(along(0, x), along(1, y), along(2, z))));
            }
        }
        let mut out = Topology::listed(points);
        let at = |x: usize, y: usize, z: usize| x + n[0] * (y + n[1] * z);
        for z in 1..n[2] {
            for y in 1..n[1] {
                out.hexahedra.extend((1..n[0]).map(|x| {
                    let (a, b, c) = (x - 1, y - 1, z - 1);
                    let round = |z| [at(a, b, z), at(x, b, z), at(x, y, z), at(a, y, z)];
                    let [low, high] = [round(c), round(z)];
                    [low[0], low[1], low[2], low[3], high[0], high[1], high[2], high[3]]
                }));
            }
        }
        let cells = n.map(|n| n - 1);
        if cells.iter().all(|c| *c > 0) {
            out.source = Source::Grid { least, size, cells };
        } else {
            self.flat_grid(&mut out, n);
        }
        Ok(Some(out))
    }

    /// Edges and quadrangles of a grid without volume.
    fn flat_grid(&self, out: &mut Topology, n: [usize; 3]) {
        let step = [1, n[0], n[0] * n[1]];
        let count = n.iter().product::<usize>();
        let inner = |i: usize, axis: usize| (i / step[axis]) % n[axis] + 1 < n[axis];
        for i in 0..count {
            for axis in (0..3).filter(|axis| inner(i, *axis)) {
                out.edges.push([i, i + step[axis]]);
                for other in (axis + 1..3).filter(|other| inner(i, *other)) {
                    let [a, b] = [step[axis], step[other]];
                    out.quads.push([i, i + a, i + a + b, i + b]);
                }
            }
        }
    }

    fn corner(&self, of: usize, whole: &str, parts: [&str; 3], default: f64) -> Result<Vec3> {
        if let Some(corner) = triple(self.tree, of, whole)? {
            return Ok(corner);
        }
        let mut out = Vec3::repeat(default);
        for (i, name) in parts.iter().enumerate() {
            out[i] = self.tree.number(of, name)?.unwrap_or(default);
        }
        Ok(out)
    }

    /// A mesh file.
    fn file(&mut self, component: usize, key: &str) -> Result<Option<Topology>> {
        let Some(attribute) = self.tree.attribute(component, key).cloned() else {
            return Ok(None);
        };
        let name = match attribute.value.starts_with('@') {
            true => match self.linked_text(component, &attribute.value, key) {
                Some(name) => name,
                None => return Ok(None),
            },
            false => attribute.value.clone(),
        };
        let Some((path, mesh)) = self.meshes.read_shared(self.tree, attribute.spot, &name) else {
            return Ok(None);
        };
        if mesh.vertices.len() > MOST_POINTS {
            self.tree.remark(
                attribute.spot,
                format!("a mesh with more than {MOST_POINTS} points is not taken"),
            );
            return Ok(None);
        }
        let mut out = Topology::listed(mesh.vertices.iter().map(|p| Vec3::from(*p)).collect());
        let (triangles, quads) = mesh.faces();
        let whole = |list: &[u32]| -> Vec<usize> { list.iter().map(|i| *i as usize).collect() };
        out.triangles = triangles.iter().map(|t| t.map(|i| i as usize)).collect();
        out.quads = quads.iter().map(|t| t.map(|i| i as usize)).collect();
        out.tetrahedra = mesh.tetrahedra.iter().map(|t| t.map(|i| i as usize)).collect();
        let hexahedra = mesh.volumes.iter().map(|v| whole(&v.nodes));
        out.hexahedra = hexahedra.filter_map(|nodes| nodes.try_into().ok()).collect();
        out.edges = mesh.edges.iter().map(|e| e.map(|i| i as usize)).collect();
        out.source = Source::File(path);
        Ok(Some(out))
    }

    /// A container: what it says itself, else what its `src` has.
    fn container(&mut self, component: usize) -> Result<Option<Topology>> {
        let source = match self.tree.value(component, "src").map(str::to_owned) {
            Some(link) => match self.graph.target(self.tree, component, &link) {
                Some(Target::Component(target)) => self.topology(target)?,
                _ => None,
            },
            None => None,
        };
        let mut out = match source {
            Some(source) => (*source).clone(),
            None => {
                let file = ["filename", "fileTopology"]
                    .into_iter()
                    .find(|k| self.tree.value(component, k).is_some());
                match file {
                    Some(key) => match self.file(component, key)? {
                        Some(mesh) => mesh,
                        None => return Ok(None),
                    },
                    None => Topology::listed(Vec::new()),
                }
            }
        };
        let through = self.mapped_from(component)?;
        if let Some(from) = through {
            out = from;
        }
        self.own_points(component, &mut out)?;
        if let Some(edges) = self.cells(component, "edges")? {
            out.edges = edges;
        }
        if let Some(triangles) = self.cells(component, "triangles")? {
            out.triangles = triangles;
        }
        if let Some(quads) = self.cells(component, "quads")? {
            out.quads = quads;
        }
        let tetrahedra = match self.cells(component, "tetrahedra")? {
            Some(list) => Some(list),
            None => self.cells(component, "tetras")?,
        };
        if let Some(tetrahedra) = tetrahedra {
            out.tetrahedra = tetrahedra;
        }
        let hexahedra = match self.cells(component, "hexahedra")? {
            Some(list) => Some(list),
            None => self.cells(component, "hexas")?,
        };
        if let Some(hexahedra) = hexahedra {
            out.hexahedra = hexahedra;
        }
        Ok(Some(out))
    }

    /// Points of a container, and the form that they have if they are those of a loader.
    fn own_points(&mut self, component: usize, out: &mut Topology) -> Result<()> {
        let Some(link) = self.tree.value(component, "position").map(str::to_owned) else {
            return Ok(());
        };
        if let Some(points) = self.points(component, "position")? {
            out.points = points;
            out.source = Source::Listed;
            out.placement = Placement::NONE;
        }
        if link.starts_with('@')
            && let (path, Some("position")) = super::graph::split_data(&link)
            && let Some(Target::Component(target)) = self.graph.target(self.tree, component, path)
            && let Some(from) = self.topology(target)?
        {
            out.source = from.source.clone();
            out.placement = from.placement;
        }
        Ok(())
    }

    /// The mesh that a topological mapping in the node of a container makes for it.
    fn mapped_from(&mut self, component: usize) -> Result<Option<Topology>> {
        let node = self.graph.node_of(component);
        let all = self.graph.nodes[node].components.clone();
        for mapping in all {
            let name = kind(self.tree, mapping);
            if !name.ends_with("TopologicalMapping") {
                continue;
            }
            let end = |key: &str| {
                let link = self.tree.value(mapping, key)?;
                match self.graph.target(self.tree, mapping, link)? {
                    Target::Component(target) => Some(target),
                    Target::Node(node) => self.topology_component(node),
                }
            };
            // Without a link it is from above.
            let above = self.graph.nodes[node].parent;
            let input = end("input").or_else(|| above.and_then(|n| self.nearest_topology(n)));
            let output = end("output").unwrap_or(component);
            let Some(input) = input.filter(|i| output == component && *i != component) else {
                continue;
            };
            let Some(from) = self.topology(input)? else {
                continue;
            };
            let mut out = (*from).clone();
            match name.as_str() {
                "Hexa2TetraTopologicalMapping" => out.tetrahedra = cut(&from.hexahedra),
                "Tetra2TriangleTopologicalMapping" => out.triangles = skin(&from.tetrahedra),
                _ => {}
            }
            return Ok(Some(out));
        }
        Ok(None)
    }

    fn nearest_topology(&self, node: usize) -> Option<usize> {
        self.graph.upwards(node).find_map(|n| self.topology_component(n))
    }

    /// Cells of `N` points.
    pub(super) fn cells<const N: usize>(&mut self, of: usize, name: &str) -> Result<Option<Vec<[usize; N]>>> {
        let Some(list) = self.numbers(of, name)? else {
            return Ok(None);
        };
        let whole = self.whole(of, name, &list)?;
        if whole.len() % N != 0 {
            let message = format!("`{name}` has {} numbers, which are not {N} each", whole.len());
            let at = self
                .tree
                .attribute(of, name)
                .map_or(spot(self.tree, of), |a| a.spot);
            return self.tree.wrong(at, message, None);
        }
        let cells = whole
            .chunks_exact(N)
            .filter_map(|c| <[usize; N]>::try_from(c).ok());
        Ok(Some(cells.collect()))
    }
}

/// Six tetrahedra for each hexahedron, about a diagonal.
fn cut(hexahedra: &[[usize; 8]]) -> Vec<[usize; 4]> {
    const ROUND: [usize; 6] = [1, 2, 3, 7, 4, 5];
    let six = |h: &[usize; 8]| {
        let h = *h;
        (0..6).map(move |i| [h[0], h[ROUND[i]], h[ROUND[(i + 1) % 6]], h[6]])
    };
    hexahedra.iter().flat_map(six).collect()
}

/// Triangles that bound one tetrahedron alone.
fn skin(tetrahedra: &[[usize; 4]]) -> Vec<[usize; 3]> {
    let mut seen: std::collections::BTreeMap<[usize; 3], ([usize; 3], usize)> =
        std::collections::BTreeMap::new();
    for [a, b, c, d] in tetrahedra {
        for side in [[*a, *c, *b], [*a, *b, *d], [*b, *c, *d], [*a, *d, *c]] {
            let mut key = side;
            key.sort_unstable();
            seen.entry(key).or_insert((side, 0)).1 += 1;
        }
    }
    seen.into_values()
        .filter(|(_, n)| *n == 1)
        .map(|(side, _)| side)
        .collect()
}
