//! Elements of solids and sheets as parts that break: what of the model each of them is, and how
//! much it is strained.

use crate::stress::{cauchy, largest_eigenvalue};
use crate::{SheetParts, SolidParts, von_mises};
use pliant_dense::Mat3;
use pliant_model::{ElementIndex, NodeId};
use std::ops::Range;

/// A number of the deformation of an element, by which it breaks: of the mean over its points of
/// integration, weighted by what they stand for at rest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename = "measure")
)]
pub enum BreakingMeasure {
    /// The largest stretch (none): the root of the largest eigenvalue of `F^T F` of the mean
    /// deformation gradient, or of `1 + 2 E` of the mean strain of a sheet; where strains are
    /// small, one more than the largest eigenvalue of the strain.
    Stretch,
    /// The largest principal value of Cauchy's stress (Pa), tension positive.
    PrincipalStress,
    /// The equivalent stress of von Mises (Pa).
    VonMises,
    /// Plastic strain that has passed (none); of solids that yield.
    PlasticStrain,
}

impl BreakingMeasure {
    /// Whether it is one of the forces of the material.
    pub fn is_of_stress(self) -> bool {
        matches!(self, Self::PrincipalStress | Self::VonMises)
    }
}

impl SolidParts {
    /// The points of integration of each element, in order.
    pub fn element_points(&self) -> Vec<Range<usize>> {
        let mut first = 0;
        let counts = self.recovery.point_counts();
        counts
            .map(|count| {
                let points = first..first + count;
                first = points.end;
                points
            })
            .collect()
    }

    /// The elements of the model that an element of the mesh, of these points, is.
    pub fn indices(&self, points: Range<usize>) -> impl Iterator<Item = ElementIndex> + use<> {
        let node = self.gradients.index();
        points.map(move |element| ElementIndex { node, element })
    }

    /// A measure of the element of these points, from the deformation gradients (rows first), the
    /// forces on them (J; of measures of stress alone), nine numbers each, and the internal
    /// variables of the material. Not a number where it has none. Allocates nothing.
    pub fn breaking_measure(
        &self,
        measure: BreakingMeasure,
        points: Range<usize>,
        [gradients, forces, internal]: [&[f64]; 3],
    ) -> f64 {
        let volume: f64 = self.volumes[points.clone()].iter().sum();
        let of = |list: &[f64], q: usize| Mat3::from_row_slice(&list[9 * q..9 * q + 9]);
        match measure {
            BreakingMeasure::Stretch => {
                let mut f = Mat3::zeros();
                for q in points {
                    f += of(gradients, q) * (self.volumes[q] / volume);
                }
                if self.small_strains {
                    1.0 + largest_eigenvalue(&((f + f.transpose()) * 0.5 - Mat3::identity()))
                } else {
                    largest_eigenvalue(&(f.transpose() * f)).sqrt()
                }
            }
            BreakingMeasure::PlasticStrain => {
                if !self.yields {
                    return f64::NAN;
                }
                let size = internal.len() / self.volumes.len();
                let passed = |q: usize| internal[size * q + 6] * self.volumes[q] / volume;
                points.map(passed).sum()
            }
            BreakingMeasure::PrincipalStress | BreakingMeasure::VonMises => {
                let mut stress = Mat3::zeros();
                for q in points {
                    let (f, p) = (of(gradients, q), of(forces, q) / -self.volumes[q]);
                    let own = match self.small_strains {
                        true => p,
                        false => p * f.transpose() / f.determinant(),
                    };
                    stress += own * (self.volumes[q] / volume);
                }
                let s = (stress + stress.transpose()) * 0.5;
                match measure {
                    BreakingMeasure::VonMises => {
                        von_mises(&[s[(0, 0)], s[(1, 1)], s[(2, 2)], s[(0, 1)], s[(1, 2)], s[(2, 0)]])
                    }
                    _ => largest_eigenvalue(&s),
                }
            }
        }
    }
}

impl SheetParts {
    /// The points of each element: triangles, then quadrangles.
    pub fn element_points(&self) -> Vec<Range<usize>> {
        let triangles = self.cells.triangles.len();
        let of_triangles = (0..triangles).map(|t| t..t + 1);
        let of_quadrangles = (0..self.cells.quadrangles.len()).map(|q| {
            let first = triangles + 4 * q;
            first..first + 4
        });
        of_triangles.chain(of_quadrangles).collect()
    }

    /// The elements of the model that are an element of the mesh, by its number and points: its
    /// strains, and the angles at its edges, which bend no more.
    pub fn indices(&self, element: usize, points: Range<usize>) -> Vec<ElementIndex> {
        let index = |node: NodeId, element: usize| ElementIndex {
            node: node.index(),
            element,
        };
        let mut out: Vec<_> = points.map(|q| index(self.strains, q)).collect();
        if let Some(bends) = self.bends {
            let of_element = self.bend_elements.iter().enumerate();
            let of_element = of_element.filter(|(_, elements)| elements.contains(&element));
            out.extend(of_element.map(|(bend, _)| index(bends, bend)));
        }
        out
    }

    /// A measure of the element of these points, from the strains and the forces on them (J; of
    /// measures of stress alone), three numbers each. Not a number where it has none. Allocates
    /// nothing.
    pub fn breaking_measure(
        &self,
        measure: BreakingMeasure,
        points: Range<usize>,
        [strains, forces]: [&[f64]; 2],
    ) -> f64 {
        let area: f64 = self.areas[points.clone()].iter().sum();
        let of = |list: &[f64], q: usize| [list[3 * q], list[3 * q + 1], list[3 * q + 2]];
        let mut mean = [0.0; 3];
        for q in points {
            let own = match measure {
                BreakingMeasure::Stretch => of(strains, q),
                BreakingMeasure::PlasticStrain => return f64::NAN,
                BreakingMeasure::PrincipalStress | BreakingMeasure::VonMises => {
                    let second = of(forces, q).map(|f| -f / (self.areas[q] * self.thickness));
                    cauchy(&of(strains, q), second)
                }
            };
            for (mean, own) in mean.iter_mut().zip(own) {
                *mean += own * self.areas[q] / area;
            }
        }
        let [one, two, shear] = mean;
        let largest = |shear: f64| 0.5 * (one + two) + (0.5 * (one - two)).hypot(shear);
        match measure {
            // The shear of a strain is an angle, twice that of the tensor.
            BreakingMeasure::Stretch => (1.0 + 2.0 * largest(0.5 * shear)).sqrt(),
            BreakingMeasure::VonMises => von_mises(&[one, two, 0.0, shear, 0.0, 0.0]),
            // Free faces: the third principal stress is zero.
            _ => largest(shear).max(0.0),
        }
    }
}
