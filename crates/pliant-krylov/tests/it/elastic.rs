//! Boxes of trilinear hexahedra, small strains: matrices for multilevel methods, from the formulas
//! of the finite element alone.

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
