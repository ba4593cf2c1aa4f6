//! Families (c) and (d): a block of linear tetrahedra, by stiffness, by compliance, and nearly
//! incompressible.

use super::{Entries, STEP, noise, system};
use pliant::solvers::{KktSystem, SolveError};
use pliant::sparse::PatternBuilder;

/// Young's modulus, Pa.
const YOUNG: f64 = 1e6;
/// Poisson's ratio.
const POISSON: f64 = 0.3;
/// Density, kg/m^3.
const DENSITY: f64 = 1000.0;
const GRAVITY: f64 = 9.81;
/// One tetrahedron in so many is held to its volume in family (d).
const HELD_VOLUMES: usize = 20;

type Vec3 = [f64; 3];

/// A box of cells of six tetrahedra each (paths along the edges from corner to corner, as Kuhn cuts
/// a cube), whose nodes are moved by up to a twentieth of a cell so that no coefficient is zero by
/// symmetry.
///
/// Linear elasticity: E = 1 MPa, nu = 0.3, 1000 kg/m^3, h = 0.01 s, mass lumped at the nodes, no
/// node held.
#[derive(Clone, Debug)]
pub struct Solid {
    nodes: Vec<Vec3>,
    elements: Vec<Element>,
    /// Length of the implicit step, s.
    step: f64,
}

/// A tetrahedron.
#[derive(Clone, Debug)]
struct Element {
    nodes: [usize; 4],
    /// Gradients of the shape functions, 1/m.
    gradients: [Vec3; 4],
    /// m^3.
    volume: f64,
}

/// Counts of cells of a cube of about so many degrees of freedom, and the side of a cell of a cube
/// of 1 m.
fn cube_cells(dofs: usize) -> ([usize; 3], f64) {
    let side = (dofs as f64 / 3.0).cbrt().round() as usize;
    let cells = side.saturating_sub(1).max(1);
    ([cells; 3], 1.0 / cells as f64)
}

impl Solid {
    /// A cube of 1 m with about `dofs` degrees of freedom (3,000 gives 10 x 10 x 10 nodes).
    pub fn cube(dofs: usize) -> Self {
        let (cells, size) = cube_cells(dofs);
        Self::new(cells, size)
    }

    /// A beam of 9 x 9 cells of 0.05 m in section, as long as `dofs` ask (30,000 gives 10 x 10 x
    /// 100 nodes).
    pub fn beam(dofs: usize) -> Self {
        let length = (dofs / 300).max(2);
        Self::new([9, 9, length - 1], 0.05)
    }

    /// A box of `cells` cells of side `size` in metres.
    pub fn new(cells: [usize; 3], size: f64) -> Self {
        let [nx, ny, nz] = cells.map(|c| c + 1);
        let node = |c: [usize; 3]| (c[2] * ny + c[1]) * nx + c[0];
        let mut nodes = Vec::with_capacity(nx * ny * nz);
        for z in 0..nz {
            for y in 0..ny {
                for x in 0..nx {
                    let k = 3 * nodes.len();
                    let place = [x, y, z].map(|c| c as f64);
                    nodes.push(std::array::from_fn(|a| size * (place[a] + 0.1 * noise(k + a))));
                }
            }
        }
        let mut elements = Vec::with_capacity(6 * cells.iter().product::<usize>());
        for z in 0..cells[2] {
            for y in 0..cells[1] {
                for x in 0..cells[0] {
                    for axes in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
                        let mut corner = [x, y, z];
                        let mut own = [node(corner); 4];
                        for (k, axis) in axes.into_iter().enumerate() {
                            corner[axis] += 1;
                            own[k + 1] = node(corner);
                        }
                        elements.push(Element::new(own, &nodes));
                    }
                }
            }
        }
        Self {
            nodes,
            elements,
            step: STEP,
        }
    }

    /// With steps of another length (s): the longer, the more the stiffness outweighs the mass.
    #[must_use]
    pub fn with_step(self, step: f64) -> Self {
        Self { step, ..self }
    }

    /// Number of nodes; there are three degrees of freedom to each.
    pub fn nodes(&self) -> usize {
        self.nodes.len()
    }

    /// Places of the nodes, m.
    pub fn places(&self) -> &[[f64; 3]] {
        &self.nodes
    }

    /// Number of tetrahedra.
    pub fn elements(&self) -> usize {
        self.elements.len()
    }

    /// Volume, m^3.
    pub fn volume(&self) -> f64 {
        self.elements.iter().map(|e| e.volume).sum()
    }

    /// Nodal masses, kg: a quarter of each tetrahedron.
    fn masses(&self) -> Vec<f64> {
        let mut out = vec![0.0; self.nodes()];
        for e in &self.elements {
            for a in e.nodes {
                out[a] += DENSITY * e.volume / 4.0;
            }
        }
        out
    }

    /// Family (c) by stiffness: `W = M + h^2 K`, `K_ab = V (lambda g_a g_b^T + mu g_b g_a^T + mu
    /// (g_a . g_b) I)` summed over the tetrahedra, with Lamé's constants and the gradients g of the
    /// shape functions. `n = 3 nodes`, no rows, blocks of 3; about 23 entries per row of the lower
    /// triangle.
    ///
    /// # Errors
    /// [`SolveError::Sparse`] if the mesh is too large for 32-bit indices.
    pub fn stiffness(&self) -> Result<KktSystem, SolveError> {
        self.with_rows([Entries::default(), Entries::default()], 0)
    }

    /// Family (d): [`Self::stiffness`] and one row for every twentieth tetrahedron, its divergence
    /// `sum_a g_a . v_a`, with `R = 1e-10`.
    ///
    /// # Errors
    /// [`SolveError::Sparse`] if the mesh is too large for 32-bit indices.
    pub fn incompressible(&self) -> Result<KktSystem, SolveError> {
        let mut rows: [Entries; 2] = Default::default();
        let mut count = 0;
        for e in self.elements.iter().skip(HELD_VOLUMES / 2).step_by(HELD_VOLUMES) {
            for (a, g) in e.nodes.iter().zip(&e.gradients) {
                for (k, g) in g.iter().enumerate() {
                    rows[0].add(count, 3 * a + k, *g);
                }
            }
            rows[1].add(count, count, 1e-10);
            count += 1;
        }
        self.with_rows(rows, count)
    }

    /// Family (c) by compliance: `W = M` (diagonal), six rows for each tetrahedron, its strain
    /// rates xx, yy, zz, yz, zx, xy (shear doubled, Voigt), with `R = D^-1 / (h^2 V)` for the
    /// elasticity `D`. Eliminating the multipliers gives [`Self::stiffness`]. `n = 3 nodes`,
    /// `m = 6 elements`, blocks of 3 and 6.
    ///
    /// # Errors
    /// [`SolveError::Sparse`] if the mesh is too large for 32-bit indices.
    pub fn compliance(&self) -> Result<KktSystem, SolveError> {
        let mut parts: [Entries; 3] = Default::default();
        for (a, mass) in self.masses().into_iter().enumerate() {
            for i in 3 * a..3 * a + 3 {
                parts[0].add(i, i, mass);
            }
        }
        for (k, e) in self.elements.iter().enumerate() {
            for (a, g) in e.nodes.iter().zip(&e.gradients) {
                for axis in 0..3 {
                    parts[1].add(6 * k + axis, 3 * a + axis, g[axis]);
                }
                for (row, (p, q)) in [(1, 2), (2, 0), (0, 1)].into_iter().enumerate() {
                    parts[1].add(6 * k + 3 + row, 3 * a + p, g[q]);
                    parts[1].add(6 * k + 3 + row, 3 * a + q, g[p]);
                }
            }
            let unit = 1.0 / (self.step * self.step * e.volume * YOUNG);
            for i in 0..3 {
                for j in 0..=i {
                    parts[2].add(6 * k + i, 6 * k + j, if i == j { unit } else { -POISSON * unit });
                }
                parts[2].add(6 * k + 3 + i, 6 * k + 3 + i, 2.0 * (1.0 + POISSON) * unit);
            }
        }
        let primal = std::iter::repeat_n(3, self.nodes());
        let out = system(parts, primal, std::iter::repeat_n(6, self.elements()))?;
        Ok(self.weighted(out))
    }

    /// `M + h^2 K` with rows of one each.
    fn with_rows(&self, [mut j, mut r]: [Entries; 2], m: usize) -> Result<KktSystem, SolveError> {
        let (nodes, n) = (self.nodes(), 3 * self.nodes());
        let mut below: Vec<Vec<usize>> = (0..nodes).map(|a| vec![a]).collect();
        for e in &self.elements {
            for a in e.nodes {
                for b in e.nodes {
                    if b < a && !below[a].contains(&b) {
                        below[a].push(b);
                    }
                }
            }
        }
        let mut pattern = PatternBuilder::new(n, n);
        for (a, own) in below.iter_mut().enumerate() {
            own.sort_unstable();
            for i in 3 * a..3 * a + 3 {
                for column in own.iter().flat_map(|b| 3 * b..3 * b + 3) {
                    if column <= i {
                        pattern.insert(i, column);
                    }
                }
            }
        }
        let bounds = super::bounds(std::iter::repeat_n(3, nodes));
        j.sort();
        r.sort();
        let (j_pattern, r_pattern) = (j.pattern(m, n)?, r.pattern(m, m)?);
        let mut out = KktSystem::new(pattern.finish()?, j_pattern, r_pattern, bounds, (0..=m).collect())?;
        j.fill(&mut out.j);
        r.fill(&mut out.r);
        let offsets = out.w.pattern().offsets().to_vec();
        let values = out.w.values_mut();
        for (a, mass) in self.masses().into_iter().enumerate() {
            for i in 3 * a..3 * a + 3 {
                values[offsets[i + 1] as usize - 1] += mass;
            }
        }
        for e in &self.elements {
            for (a, i) in e.nodes.iter().enumerate() {
                for (b, k) in e.nodes.iter().enumerate().filter(|(_, k)| *k <= i) {
                    let stiffness = e.stiffness(a, b);
                    let place = 3 * below[*i].partition_point(|c| c < k);
                    for p in 0..3 {
                        let width = if i == k { p + 1 } else { 3 };
                        let first = offsets[3 * i + p] as usize + place;
                        for q in 0..width {
                            values[first + q] += self.step * self.step * stiffness[p][q];
                        }
                    }
                }
            }
        }
        Ok(self.weighted(out))
    }

    /// Gravity, and momentum that differs from node to node.
    fn weighted(&self, mut system: KktSystem) -> KktSystem {
        let masses = self.masses();
        for (i, c) in system.c.iter_mut().enumerate() {
            let fall = if i % 3 == 2 { -self.step * GRAVITY } else { 0.0 };
            *c = masses[i / 3] * (fall + 0.1 * noise(i));
        }
        system
    }
}

impl Element {
    fn new(mut nodes: [usize; 4], places: &[Vec3]) -> Self {
        let edge = |nodes: [usize; 4], k: usize| -> Vec3 {
            std::array::from_fn(|a| places[nodes[k]][a] - places[nodes[0]][a])
        };
        let volume = |nodes| {
            let [a, b, c] = [1, 2, 3].map(|k| edge(nodes, k));
            dot(a, cross(b, c)) / 6.0
        };
        if volume(nodes) < 0.0 {
            nodes.swap(2, 3);
        }
        let volume = volume(nodes);
        let [a, b, c] = [1, 2, 3].map(|k| edge(nodes, k));
        let inner = [cross(b, c), cross(c, a), cross(a, b)].map(|g| g.map(|x| x / (6.0 * volume)));
        let first = std::array::from_fn(|k| -(inner[0][k] + inner[1][k] + inner[2][k]));
        Self {
            nodes,
            gradients: [first, inner[0], inner[1], inner[2]],
            volume,
        }
    }

    /// Block `K_ab`, N/m.
    fn stiffness(&self, a: usize, b: usize) -> [Vec3; 3] {
        let lambda = YOUNG * POISSON / ((1.0 + POISSON) * (1.0 - 2.0 * POISSON));
        let mu = YOUNG / (2.0 * (1.0 + POISSON));
        let (g, h) = (self.gradients[a], self.gradients[b]);
        let product = dot(g, h);
        std::array::from_fn(|p| {
            std::array::from_fn(|q| {
                let isotropic = if p == q { mu * product } else { 0.0 };
                self.volume * (lambda * g[p] * h[q] + mu * h[p] * g[q] + isotropic)
            })
        })
    }
}

fn cross(a: Vec3, b: Vec3) -> Vec3 {
    [
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    ]
}

fn dot(a: Vec3, b: Vec3) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}
