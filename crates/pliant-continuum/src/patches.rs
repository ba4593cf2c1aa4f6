//! Patches of quadrature points whose mean change of volume is one coordinate.

use crate::{DeformationGradient, ElementKind, Mesh};
use pliant_model::{Affine, AffineEntry, Dependency};
use std::convert::Infallible;
use std::iter;
use std::ops::Range;

/// Groups of quadrature points with weights, each with its volume at rest.
#[derive(Clone, Debug, PartialEq)]
pub struct Patches {
    /// Points of each patch with the part of their volume (m^3) that belongs to it, or their volume
    /// times a weight.
    groups: Vec<Vec<(usize, f64)>>,
    volumes: Vec<f64>,
    /// The patch over which values of the points are averaged for each: the one of its element
    /// without weights, or itself.
    of_mean: Vec<usize>,
}

/// The points of each element, which come one after the other.
fn points_of_elements(gradients: &DeformationGradient) -> impl Iterator<Item = Range<usize>> + '_ {
    let mut start = 0;
    gradients.elements().chunk_by(|a, b| a == b).map(move |points| {
        start += points.len();
        start - points.len()..start
    })
}

/// Places at rest (m) of the points of all elements.
fn places(mesh: &Mesh) -> Vec<[f64; 3]> {
    let mut out = Vec::new();
    let Ok(()) = mesh.try_each_point(ElementKind::stiffness_degree, |point| {
        out.push(mesh.place_of(point));
        Ok::<(), Infallible>(())
    });
    out
}

/// Three linear functions of the place at the points of an element, by Gram and Schmidt's method
/// orthogonal to each other and to one in the mean over the volume; the mean of their squares is one.
fn linear_weights(places: &[[f64; 3]], volumes: &[f64]) -> [Vec<f64>; 3] {
    let total: f64 = volumes.iter().sum();
    let mean = |a: &[f64], b: &[f64]| {
        let product = a.iter().zip(b).zip(volumes).map(|((a, b), v)| a * b * v);
        product.sum::<f64>() / total
    };
    let mut done = vec![vec![1.0; volumes.len()]];
    for k in 0..3 {
        let mut next: Vec<f64> = places.iter().map(|x| x[k]).collect();
        // Twice, for the first pass leaves rounding of the size of the places.
        for _ in 0..2 {
            for before in &done {
                let along = mean(&next, before);
                next.iter_mut().zip(before).for_each(|(x, b)| *x -= along * b);
            }
        }
        let size = mean(&next, &next).sqrt();
        next.iter_mut().for_each(|x| *x /= size);
        done.push(next);
    }
    [1, 2, 3].map(|k| std::mem::take(&mut done[k]))
}

impl Patches {
    /// Patches of each finite element. One of its mean dilatation (Nagtegaal, Parks and Rice 1974);
    /// hexahedra of 20 and 27 nodes have three more, whose weights are linear functions of the place
    /// at rest, orthogonal to each other and to the mean: with these the pressure of an element is
    /// linear (Sussman and Bathe 1987). Linear tetrahedra have too few freedoms for a patch each;
    /// quadratic tetrahedra, pyramids and prisms too few for four.
    pub fn per_element(mesh: &Mesh, gradients: &DeformationGradient) -> Self {
        let places = places(mesh);
        let mut out = Self::of(Vec::new());
        for (e, points) in points_of_elements(gradients).enumerate() {
            let volumes = &gradients.volumes()[points.clone()];
            let places = &places[points.clone()];
            let first = out.groups.len();
            out.groups
                .push(points.clone().zip(volumes.iter().copied()).collect());
            if mesh.elements[e].kind.has_linear_pressure() {
                for weights in linear_weights(places, volumes) {
                    let shares = weights.iter().zip(volumes).map(|(w, v)| w * v);
                    out.groups.push(points.clone().zip(shares).collect());
                }
            }
            let added = out.groups.len() - first;
            out.volumes
                .extend(iter::repeat_n(volumes.iter().sum::<f64>(), added));
            out.of_mean.extend(iter::repeat_n(first, added));
        }
        out
    }

    /// One patch per corner of the mesh, to which the elements around it give the part of their
    /// volume by which their linear shape functions weigh it; of linear tetrahedra an even share
    /// (Bonet and Burton 1998).
    pub fn per_node(mesh: &Mesh, gradients: &DeformationGradient) -> Self {
        let mut groups = vec![Vec::new(); mesh.nodes.len()];
        let tables = ElementKind::ALL.map(|kind| {
            let (shapes, rule) = (
                kind.corners().shape_functions(),
                kind.quadrature(kind.stiffness_degree()),
            );
            (
                kind,
                rule.points
                    .iter()
                    .map(|xi| shapes.at(*xi).values)
                    .collect::<Vec<_>>(),
            )
        });
        for (element, points) in mesh.elements.iter().zip(points_of_elements(gradients)) {
            let table = tables.iter().find(|(kind, _)| *kind == element.kind);
            let values = table.map_or(&[][..], |(_, values)| values);
            for (q, values) in points.zip(values) {
                for (node, value) in element.nodes.iter().zip(values) {
                    groups[*node].push((q, gradients.volumes()[q] * value));
                }
            }
        }
        // Nodes in the middles of edges are corners of no element.
        groups.retain(|g| !g.is_empty());
        Self::of(groups)
    }

    fn of(groups: Vec<Vec<(usize, f64)>>) -> Self {
        let volumes = groups.iter().map(|g| g.iter().map(|(_, v)| v).sum()).collect();
        Self {
            of_mean: (0..groups.len()).collect(),
            groups,
            volumes,
        }
    }

    /// Means over the patches of values of the points; of a patch with weights that of its element.
    pub(crate) fn means(&self, values: &[f64]) -> Vec<f64> {
        let of = |patch: &usize| {
            let group = self.groups[*patch].iter();
            group.map(|(q, v)| v * values[*q]).sum::<f64>() / self.volumes[*patch]
        };
        self.of_mean.iter().map(of).collect()
    }

    /// Volume at rest (m^3) of each patch.
    pub fn volumes(&self) -> &[f64] {
        &self.volumes
    }
}

/// The mean change of volume of each patch.
///
/// **Equation.** `x_c = sum_q w_q V_q x_q/V` (none) over the points of the patch, of scalars (a
/// [`VolumeRatio`](crate::VolumeRatio)) or of the first three of six strains, `x_q = tr(e_q)`.
/// Linear, so `G = 0`. The force of a coordinate is the pressure times the volume `V` (m^3) of the
/// patch: a bulk modulus `k` (Pa) is the compliance `1/(k V)`.
///
/// **Parents.** Any scalars or strains: one element per quadrature point.
///
/// **Use.** Volumetric rows without locking, from soft to incompressible: `components` is 1 (no
/// unit) for volume ratios, 3 for strains.
pub fn dilatation(patches: &Patches, components: usize) -> Affine {
    let mut entries = Vec::new();
    for (element, (group, volume)) in patches.groups.iter().zip(&patches.volumes).enumerate() {
        for (q, share) in group {
            for from_coordinate in 0..components {
                entries.push(AffineEntry {
                    element,
                    coordinate: 0,
                    from: Dependency::new(0, *q),
                    from_coordinate,
                    value: share / volume,
                });
            }
        }
    }
    Affine::new(1, &vec![0.0; patches.groups.len()], &entries)
}
