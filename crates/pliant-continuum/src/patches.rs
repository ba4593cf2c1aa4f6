//! Patches of quadrature points whose mean change of volume is one coordinate.

use crate::{DeformationGradient, Mesh};
use pliant_model::{Affine, AffineEntry, Dependency};

/// Groups of quadrature points with weights, each with its volume at rest.
#[derive(Clone, Debug, PartialEq)]
pub struct Patches {
    /// Points of each patch with the part of their volume (m^3) that belongs to it.
    groups: Vec<Vec<(usize, f64)>>,
    volumes: Vec<f64>,
}

impl Patches {
    /// One patch per finite element: the mean dilatation of Nagtegaal, Parks and Rice (1974).
    /// Without locking for hexahedra and quadratic elements; linear tetrahedra have too few
    /// freedoms for it.
    pub fn per_element(gradients: &DeformationGradient) -> Self {
        let count = gradients.elements().iter().max().map_or(0, |e| e + 1);
        let mut groups = vec![Vec::new(); count];
        for (q, e) in gradients.elements().iter().enumerate() {
            groups[*e].push((q, gradients.volumes()[q]));
        }
        Self::of(groups)
    }

    /// One patch per corner of the mesh, to which every element around it gives an even share of
    /// its volume (Bonet and Burton 1998): for linear tetrahedra.
    pub fn per_node(mesh: &Mesh, gradients: &DeformationGradient) -> Self {
        let mut groups = vec![Vec::new(); mesh.nodes.len()];
        for (q, e) in gradients.elements().iter().enumerate() {
            let element = &mesh.elements[*e];
            let corners = &element.nodes[..element.kind.corner_count()];
            for node in corners {
                groups[*node].push((q, gradients.volumes()[q] / corners.len() as f64));
            }
        }
        // Nodes in the middles of edges are corners of no element.
        groups.retain(|g| !g.is_empty());
        Self::of(groups)
    }

    fn of(groups: Vec<Vec<(usize, f64)>>) -> Self {
        let volumes = groups.iter().map(|g| g.iter().map(|(_, v)| v).sum()).collect();
        Self { groups, volumes }
    }

    /// Means over the patches of values of the points.
    pub(crate) fn means(&self, values: &[f64]) -> Vec<f64> {
        let groups = self.groups.iter().zip(&self.volumes);
        groups
            .map(|(group, volume)| group.iter().map(|(q, v)| v * values[*q]).sum::<f64>() / volume)
            .collect()
    }

    /// Volume at rest (m^3) of each patch.
    pub fn volumes(&self) -> &[f64] {
        &self.volumes
    }
}

/// The mean change of volume of each patch.
///
/// **Equation.** `x_c = sum_q V_q x_q/V` (none) over the points of the patch, of scalars (a
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
