//! Mappings that repeat the coordinates of points, and what hangs on their elements.

use super::build::Random;
use pliant_model::dual::{Dual, DualNum};
use pliant_model::{
    Blocks, Degenerate, Dependency, Formula, FullCompliance, Mapping, Mass, Model, NodeId, Parents, Space,
    Spring, Treatment, UniformCompliance,
};

/// `x_c[m i + j] = sum_a g_aj x_a[i]` of points of space.
#[derive(Clone, Debug)]
pub(super) struct Net {
    m: usize,
    /// Of each element its points, and `m` rows of one number for each.
    elements: Vec<(Vec<usize>, Vec<f64>)>,
    /// Whether it says that it repeats: what it computes is the same.
    says_so: bool,
}

impl Mapping for Net {
    fn child(&self) -> (Space, usize) {
        (Space::Real(3 * self.m), self.elements.len())
    }

    fn dependencies(&self, element: usize, out: &mut Vec<Dependency>) {
        out.extend(self.elements[element].0.iter().map(|p| Dependency::new(0, *p)));
    }

    fn apply(&self, parents: Parents<'_>, child: &mut [f64]) -> Result<(), Degenerate> {
        child.fill(0.0);
        for (x, (points, g)) in child.chunks_exact_mut(3 * self.m).zip(&self.elements) {
            for (a, point) in points.iter().enumerate() {
                let p = parents.position(Dependency::new(0, *point));
                for k in 0..3 * self.m {
                    x[k] += g[k % self.m * points.len() + a] * p[k / self.m];
                }
            }
        }
        Ok(())
    }

    fn jacobian(&self, _parents: Parents<'_>, out: &mut Blocks) -> Result<(), Degenerate> {
        for (e, (points, g)) in self.elements.iter().enumerate() {
            let (width, n) = (out.width(e), points.len());
            let block = out.block_mut(e);
            if self.says_so {
                block.copy_from_slice(g);
                continue;
            }
            for (k, a) in (0..3 * self.m).flat_map(|k| (0..n).map(move |a| (k, a))) {
                block[k * width + 3 * a + k / self.m] = g[k % self.m * n + a];
            }
        }
        Ok(())
    }

    fn repeated(&self) -> Option<usize> {
        self.says_so.then_some(self.m)
    }

    fn is_linear(&self) -> bool {
        true
    }
}

/// Adds two of them on eight points, with masses, stiffnesses and rows on them and on what hangs on
/// their elements.
pub(super) fn add(m: &mut Model, points: NodeId, seed: u64, says_so: bool) {
    let mut random = Random::new(seed + 1000);
    let soft = Treatment::Stiffness;
    let mut net = |m: usize, lists: &[&[usize]]| Net {
        m,
        elements: lists
            .iter()
            .map(|l| (l.to_vec(), random.vector(m * l.len())))
            .collect(),
        says_so,
    };
    // Runs of two, one, two elements; then of points that are out of order.
    let all = [0, 1, 2, 3, 4, 5, 6, 7];
    let four = [1, 3, 5, 7];
    let wide = net(3, &[&all, &all, &four, &[6, 2, 4, 0], &[6, 2, 4, 0]]);
    let narrow = net(2, &[&[0, 4, 2], &[0, 4, 2], &[7, 1]]);
    let wide = m.add_mapped("net", &[points], wide).unwrap();
    let narrow = m.add_mapped("film", &[points], narrow).unwrap();
    let law = FullCompliance::from_stiffness(&random.definite(9, 2.0));
    m.add_force_field("net law", wide, law, soft).unwrap();
    let law = UniformCompliance::new(0.3).with_relaxation_time(0.05);
    m.add_force_field("film law", narrow, law, soft).unwrap();
    m.add_mass("film mass", narrow, Mass::PerElement(vec![0.3, 0.2, 0.5]))
        .unwrap();

    // Not in the order of what they hang on, one element with two of them.
    let on = |list: &[usize]| list.iter().map(|e| vec![Dependency::new(0, *e)]).collect();
    let six = |x: &[Dual], out: &mut [Dual]| {
        for k in 0..6 {
            out[k] = (x[k] * x[8 - k]).sin() + x[(k + 3) % 9] * 0.5;
        }
    };
    let strains = m
        .add_mapped(
            "net strains",
            &[wide],
            Formula::new(6, on(&[3, 0, 4, 1, 2, 0]), six),
        )
        .unwrap();
    let law = FullCompliance::from_stiffness(&random.definite(6, 2.0)).with_damping(&random.definite(6, 0.1));
    m.add_force_field("net material", strains, law, soft).unwrap();
    m.add_mass("strain mass", strains, Mass::Uniform(0.1)).unwrap();
    let two = |x: &[Dual], out: &mut [Dual]| {
        out[0] = x[0] * x[5] - x[1] * x[4];
        out[1] = (x[2] * x[3]).powi(2) * 0.3;
    };
    let areas = m
        .add_mapped("film areas", &[narrow], Formula::new(2, on(&[2, 1, 1]), two))
        .unwrap();
    m.add_force_field("film material", areas, Spring::stiffening(3.0, 1.0), soft)
        .unwrap();
    // Rows: their Jacobians, and the geometric stiffness of their multipliers.
    let one = |x: &[Dual], out: &mut [Dual]| out[0] = x[0] * x[4] * x[8] - x[2];
    let ratios = m
        .add_mapped("net ratios", &[wide], Formula::new(1, on(&[0, 1, 2, 3, 4]), one))
        .unwrap();
    m.add_constraint(
        "net rows",
        ratios,
        pliant_model::Level::Velocity { curvature: 0.0 },
    )
    .unwrap();
}
