//! Matrices for multilevel methods from formulas alone: boxes of trilinear hexahedra at small
//! strains, membranes of springs, chains of bodies.

use crate::tools::Random;
use pliant_krylov::RigidNode;
use pliant_solvers::KktSystem;
use pliant_sparse::PatternBuilder;

/// A box of bricks. Isotropic with Young's modulus 1, so that all is in units of that.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Brick {
    /// Numbers of cells.
    pub(crate) cells: [usize; 3],
    /// Sides of a cell.
    pub(crate) sides: [f64; 3],
    /// Poisson's ratio.
    pub(crate) poisson: f64,
    /// Mass per volume over `h^2`: large for short steps, zero for statics.
    pub(crate) mass: f64,
    /// Whether the end at x = 0 is held.
    pub(crate) held: bool,
    /// Whether the resistance to changes of volume is in rows, one for each patch of so many cells
    /// along each axis: the mean divergence, with the compliance of `poisson`. Zero for none. (With
    /// patches of two displacements and pressures are a stable pair; with patches of one there are
    /// pressures that next to no displacement feels.)
    pub(crate) patch: usize,
}

impl Brick {
    pub(crate) fn cube(cells: usize) -> Self {
        Self {
            cells: [cells; 3],
            sides: [1.0 / cells as f64; 3],
            poisson: 0.3,
            mass: 0.0,
            held: true,
            patch: 0,
        }
    }

    fn node(&self, c: [usize; 3]) -> usize {
        let [nx, ny, _] = self.cells.map(|c| c + 1);
        (c[2] * ny + c[1]) * nx + c[0]
    }

    pub(crate) fn nodes(&self) -> usize {
        self.cells.iter().map(|c| c + 1).product()
    }

    /// Places of the nodes.
    pub(crate) fn places(&self) -> Vec<[f64; 3]> {
        let [nx, ny, nz] = self.cells.map(|c| c + 1);
        let mut out = Vec::new();
        for z in 0..nz {
            for y in 0..ny {
                for x in 0..nx {
                    let c = [x, y, z];
                    out.push(std::array::from_fn(|k| c[k] as f64 * self.sides[k]));
                }
            }
        }
        out
    }

    /// Gradients of the eight shape functions at the points of a 2 x 2 x 2 rule, and their mean.
    fn gradients(&self) -> (Vec<[[f64; 3]; 8]>, [[f64; 3]; 8]) {
        let corner = |a: usize| [a & 1, (a >> 1) & 1, (a >> 2) & 1];
        let at = |p: usize, k: usize| {
            let side = if (p >> k) & 1 == 1 { 1.0 } else { -1.0 };
            0.5 + 0.5 * side / 3f64.sqrt()
        };
        let mut all = Vec::new();
        let mut mean = [[0.0; 3]; 8];
        for p in 0..8 {
            let one: [[f64; 3]; 8] = std::array::from_fn(|a| {
                std::array::from_fn(|d| {
                    (0..3).fold(1.0 / self.sides[d], |g, k| {
                        let (up, x) = (corner(a)[k] == 1, at(p, k));
                        g * match (k == d, up) {
                            (true, true) => 1.0,
                            (true, false) => -1.0,
                            (false, true) => x,
                            (false, false) => 1.0 - x,
                        }
                    })
                })
            });
            for a in 0..8 {
                (0..3).for_each(|d| mean[a][d] += one[a][d] / 8.0);
            }
            all.push(one);
        }
        (all, mean)
    }

    /// `W = M + K` with lumped masses, one block of three for each node; gravity along -z and a
    /// little of everything as right-hand side.
    pub(crate) fn system(&self) -> KktSystem {
        let (nodes, n) = (self.nodes(), 3 * self.nodes());
        let volume: f64 = self.sides.iter().product();
        let mu = 0.5 / (1.0 + self.poisson);
        let slack = 1.0 - 2.0 * self.poisson;
        let patches = self.cells.map(|c| c.checked_div(self.patch).unwrap_or(0));
        let (rows, lambda) = if self.patch > 0 {
            (patches.iter().product(), 0.0)
        } else {
            (0, self.poisson / ((1.0 + self.poisson) * slack))
        };
        let (gradients, mean) = self.gradients();
        let mut element = vec![[[0.0; 3]; 3]; 64];
        for g in &gradients {
            for a in 0..8 {
                for b in 0..8 {
                    let dot: f64 = (0..3).map(|k| g[a][k] * g[b][k]).sum();
                    for p in 0..3 {
                        for q in 0..3 {
                            let same = if p == q { mu * dot } else { 0.0 };
                            element[8 * a + b][p][q] +=
                                volume / 8.0 * (lambda * g[a][p] * g[b][q] + mu * g[a][q] * g[b][p] + same);
                        }
                    }
                }
            }
        }
        let [cx, cy, cz] = self.cells;
        let (mut cells, mut row_of) = (Vec::new(), Vec::new());
        for z in 0..cz {
            for y in 0..cy {
                for x in 0..cx {
                    let corner = |a: usize| self.node([x + (a & 1), y + ((a >> 1) & 1), z + ((a >> 2) & 1)]);
                    cells.push(std::array::from_fn::<usize, 8, _>(corner));
                    let [px, py, pz] = [x, y, z].map(|k| k.checked_div(self.patch).unwrap_or(0));
                    row_of.push((pz * patches[1] + py) * patches[0] + px);
                }
            }
        }
        let mut w = PatternBuilder::new(n, n);
        for cell in &cells {
            for a in cell {
                for b in cell.iter().filter(|b| *b <= a) {
                    w.insert_block((3 * a, 3 * b), (3, 3), a == b);
                }
            }
        }
        let (mut j, mut r) = (PatternBuilder::new(rows, n), PatternBuilder::new(rows, rows));
        for row in 0..rows {
            r.insert(row, row);
        }
        for (cell, row) in cells.iter().zip(&row_of).filter(|_| rows > 0) {
            for a in cell {
                (0..3).for_each(|d| j.insert(*row, 3 * a + d));
            }
        }
        let mut out = KktSystem::new(
            w.finish().unwrap(),
            j.finish().unwrap(),
            r.finish().unwrap(),
            (0..=nodes).map(|k| 3 * k).collect(),
            (0..=rows).collect(),
        )
        .unwrap();
        let pattern = out.w.pattern().clone();
        for cell in &cells {
            for (a, i) in cell.iter().enumerate() {
                for (b, k) in cell.iter().enumerate().filter(|(_, k)| *k <= i) {
                    for p in 0..3 {
                        let first = pattern.slot(3 * i + p, 3 * k).unwrap();
                        for q in 0..if i == k { p + 1 } else { 3 } {
                            out.w.values_mut()[first + q] += element[8 * a + b][p][q];
                        }
                        if i == k {
                            out.w.values_mut()[first + p] += self.mass * volume / 8.0;
                        }
                    }
                }
            }
        }
        let pattern = out.j.pattern().clone();
        for (cell, row) in cells.iter().zip(row_of).filter(|_| rows > 0) {
            for (a, i) in cell.iter().enumerate() {
                for d in 0..3 {
                    out.j.values_mut()[pattern.slot(row, 3 * i + d).unwrap()] += volume * mean[a][d];
                }
            }
            // V / lambda, zero for nu = 1/2.
            out.r.values_mut()[row] += volume * slack * (1.0 + self.poisson) / self.poisson;
        }
        if self.held {
            for (i, x) in self.places().iter().enumerate().filter(|(_, x)| x[0] == 0.0) {
                assert!(x[0] == 0.0);
                out.fixed[3 * i..3 * i + 3].fill(true);
            }
        }
        for (i, c) in out.c.iter_mut().enumerate() {
            let fall = if i % 3 == 2 { -1.0 } else { 0.0 };
            *c = volume * (fall + 0.1 * (1.7 * i as f64).sin());
        }
        out
    }
}

/// A square net of springs in tension under their own length, held at its rim: couplings along the
/// springs, a little across them.
pub(crate) fn membrane(side: usize) -> (KktSystem, Vec<[f64; 3]>) {
    let place = |k: usize| {
        let (x, y) = ((k % side) as f64, (k / side) as f64);
        let middle = 0.5 * (side - 1) as f64;
        let r = ((x - middle).powi(2) + (y - middle).powi(2)) / (middle * middle);
        [x, y, 0.1 * middle * r]
    };
    let places: Vec<[f64; 3]> = (0..side * side).map(place).collect();
    let mut springs = Vec::new();
    for k in 0..side * side {
        if k % side + 1 < side {
            springs.push((k + 1, k));
        }
        if k + side < side * side {
            springs.push((k + side, k));
        }
    }
    let n = 3 * places.len();
    let mut w = PatternBuilder::new(n, n);
    for (a, b) in &springs {
        w.insert_block((3 * a, 3 * b), (3, 3), false);
    }
    (0..places.len()).for_each(|a| w.insert_block((3 * a, 3 * a), (3, 3), true));
    let empty = |rows: usize, columns: usize| PatternBuilder::new(rows, columns).finish().unwrap();
    let blocks = (0..=places.len()).map(|a| 3 * a).collect();
    let mut out = KktSystem::new(w.finish().unwrap(), empty(0, n), empty(0, 0), blocks, vec![0]).unwrap();
    let pattern = out.w.pattern().clone();
    for (a, b) in springs {
        let d: [f64; 3] = std::array::from_fn(|k| places[a][k] - places[b][k]);
        let square: f64 = d.iter().map(|x| x * x).sum();
        for (i, k, sign) in [(a, a, 1.0), (b, b, 1.0), (a, b, -1.0)] {
            for p in 0..3 {
                for q in 0..if i == k { p + 1 } else { 3 } {
                    let across = if p == q { 0.05 } else { 0.0 };
                    let slot = pattern.slot(3 * i + p, 3 * k + q).unwrap();
                    out.w.values_mut()[slot] += sign * (d[p] * d[q] / square + across);
                }
            }
        }
    }
    for k in (0..side * side).filter(|k| [0, side - 1].iter().any(|e| k % side == *e || k / side == *e)) {
        out.fixed[3 * k..3 * k + 3].fill(true);
    }
    (0..n).for_each(|i| out.c[i] = if i % 3 == 2 { -1.0 } else { 0.01 * (i as f64).sin() });
    (out, places)
}

/// A chain of bodies turned at random, each held to the next by springs against translation and
/// rotation in the middle between them, and its nodes.
pub(crate) fn chain(count: usize) -> (KktSystem, Vec<RigidNode>) {
    let mut random = Random(7);
    let bodies: Vec<([f64; 3], [f64; 4])> = (0..count)
        .map(|k| {
            let turn = random.numbers(4);
            let length = turn.iter().map(|x| x * x).sum::<f64>().sqrt();
            let noise = random.numbers(2);
            let centre = [k as f64, 0.1 * noise[0], 0.1 * noise[1]];
            (centre, std::array::from_fn(|c| turn[c] / length))
        })
        .collect();
    // Columns of R, by turning unit vectors with q v q*.
    let rotated = |[w, x, y, z]: [f64; 4], v: [f64; 3]| {
        let u = [x, y, z];
        let cross = |a: [f64; 3], b: [f64; 3]| {
            [
                a[1] * b[2] - a[2] * b[1],
                a[2] * b[0] - a[0] * b[2],
                a[0] * b[1] - a[1] * b[0],
            ]
        };
        let t = cross(u, v).map(|x| 2.0 * x);
        let s = cross(u, t);
        std::array::from_fn::<f64, 3, _>(|k| v[k] + w * t[k] + s[k])
    };
    let n = 6 * count;
    let mut pattern = PatternBuilder::new(n, n);
    for k in 0..count {
        pattern.insert_block((6 * k, 6 * k), (6, 6), true);
        if k > 0 {
            pattern.insert_block((6 * k, 6 * k - 6), (6, 6), false);
        }
    }
    let empty = |rows: usize, columns: usize| PatternBuilder::new(rows, columns).finish().unwrap();
    let blocks = (0..=count).map(|a| 6 * a).collect();
    let mut out = KktSystem::new(
        pattern.finish().unwrap(),
        empty(0, n),
        empty(0, 0),
        blocks,
        vec![0],
    )
    .unwrap();
    let pattern = out.w.pattern().clone();
    for k in 1..count {
        // Velocity of the middle and angular velocity of both bodies in world axes, differences.
        let middle: [f64; 3] = std::array::from_fn(|c| 0.5 * (bodies[k].0[c] + bodies[k - 1].0[c]));
        let mut rows = vec![[0.0; 12]; 6];
        for (side, body, sign) in [(0, k - 1, -1.0), (1, k, 1.0)] {
            let arm: [f64; 3] = std::array::from_fn(|c| middle[c] - bodies[body].0[c]);
            for c in 0..3 {
                rows[c][6 * side + c] = sign;
                let axis = rotated(
                    bodies[body].1,
                    std::array::from_fn(|d| f64::from(u8::from(d == c))),
                );
                let moved = [
                    axis[1] * arm[2] - axis[2] * arm[1],
                    axis[2] * arm[0] - axis[0] * arm[2],
                    axis[0] * arm[1] - axis[1] * arm[0],
                ];
                for r in 0..3 {
                    rows[r][6 * side + 3 + c] = sign * moved[r];
                    rows[3 + r][6 * side + 3 + c] = sign * axis[r];
                }
            }
        }
        for row in rows {
            for (a, va) in row.iter().enumerate() {
                for (b, vb) in row.iter().enumerate().take(a + 1) {
                    let slot = pattern.slot(6 * k - 6 + a, 6 * k - 6 + b).unwrap();
                    out.w.values_mut()[slot] += va * vb;
                }
            }
        }
    }
    let nodes = bodies.iter().map(|(centre, rotation)| RigidNode::Body {
        centre: *centre,
        rotation: *rotation,
    });
    (out, nodes.collect())
}
