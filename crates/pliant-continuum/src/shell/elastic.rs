//! The section of an elastic shell.

use crate::checks::check_range;
use pliant_model::validate::{check_not_negative, check_positive, check_size, check_space};
use pliant_model::{At, Blocks, Field, ForceField, ModelError, NotInvertible, RowLaw, Space};
use std::ops::Range;

/// Numbers of a point.
const SIZE: usize = 9;

/// Linear elasticity of a shell of one material: plane stress through its thickness, transverse
/// shear, and drilling.
///
/// **Equation.** Energy per area `t e.D e/2 + t^3/12 k.D k/2 + s G t g.g/2 + c G t w^2/2` of the
/// nine strains of [`ShellStrain`](crate::ShellStrain), with the thickness `t` (m),
/// `D = E/(1 - nu^2) ((1, nu, 0), (nu, 1, 0), (0, 0, (1 - nu)/2))` and `G = E/(2 (1 + nu))` (Pa).
/// `s` is 5/6, the share of the shear that acts in a section (Reissner 1945), `c` the share of the
/// shear modulus that holds the frames to the turn of the surface about its normal, which is no
/// strain of a shell: with it drilling of the nodes has a stiffness. With a relaxation time `d` (s)
/// also the same of the rates, times `d`. `f = -A K (x + d v)` at a point that stands for the area
/// `A` (m^2), `C = K^-1/A`.
///
/// **Use.** On [`ShellStrain`](crate::ShellStrain), as a stiffness or as a compliance.
#[derive(Clone, Debug, PartialEq)]
pub struct ShellElastic {
    young: f64,
    poisson: f64,
    thickness: f64,
    shear_factor: f64,
    drill_factor: f64,
    areas: Vec<f64>,
    relaxation_time: f64,
}

impl ShellElastic {
    /// Young's modulus (Pa), Poisson's ratio (none) above -1 and below 1, thickness (m), and the
    /// area (m^2) of each point.
    pub fn new(young: f64, poisson: f64, thickness: f64, areas: &[f64]) -> Self {
        Self {
            young,
            poisson,
            thickness,
            shear_factor: 5.0 / 6.0,
            drill_factor: super::DRILLING,
            areas: areas.to_vec(),
            relaxation_time: 0.0,
        }
    }

    /// Sets the share of the shear modulus in drilling, positive; a thousandth if not set.
    #[must_use]
    pub fn with_drill_factor(mut self, factor: f64) -> Self {
        self.drill_factor = factor;
        self
    }

    /// Adds damping through the relaxation time `d` (s), zero or more.
    #[must_use]
    pub fn with_relaxation_time(mut self, d: f64) -> Self {
        self.relaxation_time = d;
        self
    }

    /// `t` and `t^3/12`, of stretch and of bending.
    fn weights(&self) -> [f64; 2] {
        [self.thickness, self.thickness.powi(3) / 12.0]
    }

    fn shear_modulus(&self) -> f64 {
        self.young / (2.0 * (1.0 + self.poisson))
    }

    /// Stiffnesses of the shears and of drilling (N/m).
    fn sides(&self) -> [f64; 3] {
        let shear = self.shear_modulus() * self.thickness;
        [
            shear * self.shear_factor,
            shear * self.shear_factor,
            shear * self.drill_factor,
        ]
    }

    /// `K` per area times a strain.
    fn resultants(&self, x: &[f64; SIZE]) -> [f64; SIZE] {
        let share = self.young / (1.0 - self.poisson * self.poisson);
        let shear = self.shear_modulus();
        let mut out = [0.0; SIZE];
        for (k, weight) in self.weights().into_iter().enumerate() {
            let [one, two, angle] = [0, 1, 2].map(|i| x[3 * k + i]);
            out[3 * k] = weight * share * (one + self.poisson * two);
            out[3 * k + 1] = weight * share * (two + self.poisson * one);
            out[3 * k + 2] = weight * shear * angle;
        }
        for (k, stiffness) in self.sides().into_iter().enumerate() {
            out[6 + k] = stiffness * x[6 + k];
        }
        out
    }

    fn write_stiffness(&self, scale: f64, out: &mut Blocks) {
        for column in 0..SIZE {
            let mut unit = [0.0; SIZE];
            unit[column] = 1.0;
            let values = self.resultants(&unit);
            for (e, area) in self.areas.iter().enumerate() {
                let block = out.block_mut(e);
                for (row, value) in values.iter().enumerate() {
                    block[row * SIZE + column] += scale * area * value;
                }
            }
        }
    }
}

impl ForceField for ShellElastic {
    fn check(&self, name: &str, space: Space, count: usize) -> Result<(), ModelError> {
        let wanted = "strains of a shell on frames (elements of nine coordinates)";
        check_space(name, wanted, space, space == Space::Real(SIZE))?;
        let what = "areas, one for each quadrature point";
        check_size(name, Field::Areas, what, count, self.areas.len())?;
        for (field, value) in [
            (Field::Young, self.young),
            (Field::Thickness, self.thickness),
            (Field::DrillFactor, self.drill_factor),
        ] {
            check_positive(name, field, value)?;
        }
        let holds = self.poisson > -1.0 && self.poisson < 1.0;
        check_range(name, Field::Poisson, self.poisson, holds, "above -1 and below 1")?;
        check_not_negative(name, Field::RelaxationTime, self.relaxation_time)?;
        self.areas
            .iter()
            .try_for_each(|a| check_positive(name, Field::Areas, *a))
    }

    fn energy(&self, At { x, .. }: At<'_>) -> f64 {
        let of = |(x, area): (&[f64; SIZE], &f64)| {
            let forces = self.resultants(x);
            0.5 * area * x.iter().zip(forces).map(|(x, f)| x * f).sum::<f64>()
        };
        x.as_chunks::<SIZE>().0.iter().zip(&self.areas).map(of).sum()
    }

    fn add_force(&self, At { x, v, .. }: At<'_>, f: &mut [f64]) {
        let points = x.as_chunks::<SIZE>().0.iter().zip(v.as_chunks::<SIZE>().0);
        let points = points.zip(&self.areas);
        for (f, ((x, rate), area)) in f.as_chunks_mut::<SIZE>().0.iter_mut().zip(points) {
            let strain = std::array::from_fn(|k| x[k] + self.relaxation_time * rate[k]);
            for (f, force) in f.iter_mut().zip(self.resultants(&strain)) {
                *f -= area * force;
            }
        }
    }

    fn stiffness(&self, _at: At<'_>, out: &mut Blocks) -> Result<(), NotInvertible> {
        self.write_stiffness(1.0, out);
        Ok(())
    }

    fn damping(&self, _at: At<'_>, out: &mut Blocks) {
        if self.relaxation_time > 0.0 {
            self.write_stiffness(self.relaxation_time, out);
        }
    }

    fn row_law(&self) -> RowLaw {
        RowLaw::Elastic
    }

    fn compliance(&self, _at: At<'_>, out: &mut Blocks) {
        let sides = self.sides();
        let shear = self.shear_modulus();
        for (e, area) in self.areas.iter().enumerate() {
            let block = out.block_mut(e);
            let mut write = |i: usize, j: usize, value: f64| block[i * SIZE + j] += value / area;
            for (k, weight) in self.weights().into_iter().enumerate() {
                let (first, soft) = (3 * k, 1.0 / (weight * self.young));
                write(first, first, soft);
                write(first + 1, first + 1, soft);
                write(first, first + 1, -self.poisson * soft);
                write(first + 1, first, -self.poisson * soft);
                write(first + 2, first + 2, 1.0 / (weight * shear));
            }
            for (k, stiffness) in sides.into_iter().enumerate() {
                write(6 + k, 6 + k, 1.0 / stiffness);
            }
        }
    }

    fn relaxation_time(&self, _coordinate: usize) -> f64 {
        self.relaxation_time
    }

    fn restrict(&self, _space: Space, elements: Range<usize>) -> Option<Box<dyn ForceField>> {
        Some(Box::new(Self {
            areas: self.areas[elements].to_vec(),
            ..self.clone()
        }))
    }

    fn is_linear(&self) -> bool {
        true
    }
}
