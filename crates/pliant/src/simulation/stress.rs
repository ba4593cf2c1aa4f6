//! Stress and strain of solids, sheets and rods.

use super::Simulation;
use pliant_continuum::{RodForces, RodParts, SheetFields, SheetForces, SheetParts, SolidFields, SolidParts};
use pliant_model::{ComponentId, NodeId};
use pliant_stepper::observe;

impl Simulation {
    /// Stresses and strains of a solid at its quadrature points, at the present state:
    /// `sigma = P F^T/det F` with the first Piola-Kirchhoff stress `P` that acts on the deformation
    /// gradients, by all components on them and on what is mapped from them. So it holds what the
    /// equations of motion hold: the material, its viscosity, its past, and rows of volume.
    /// [`NodalRecovery`](pliant_continuum::NodalRecovery) carries them to nodes, and
    /// [`von_mises`](pliant_continuum::von_mises) and [`pressure`](pliant_continuum::pressure) are
    /// of one stress.
    ///
    /// What is rows ([`Treatment::Compliance`](pliant_model::Treatment::Compliance),
    /// incompressibility) has the mean force of the last step, zero before the first. Damping in
    /// proportion to stiffnesses is left out.
    pub fn solid_fields(&self, solid: &SolidParts) -> SolidFields {
        let internal = match solid.material {
            ComponentId::ForceField(i) => {
                let range = self.model().force_fields()[i].component.internal.clone();
                &self.state().internal[range]
            }
            _ => &[][..],
        };
        let forces = self.force_through(solid.gradients);
        solid.fields(self.positions(solid.gradients), &forces, internal)
    }

    /// Stresses, strains and bending moments of a sheet, of each triangle and quadrangle, at the
    /// present state. Of rows as [`solid_fields`](Self::solid_fields) says.
    pub fn sheet_fields(&self, sheet: &SheetParts) -> SheetFields {
        let forces = self.force_through(sheet.strains);
        let moments = sheet
            .curvatures
            .map(|node| (self.positions(node), self.force_through(node)));
        let membrane = SheetForces {
            strains: self.positions(sheet.strains),
            forces: &forces,
        };
        let bending = moments
            .as_ref()
            .map(|(strains, forces)| SheetForces { strains, forces });
        sheet.fields(membrane, bending)
    }

    /// Forces and moments in the section of each segment of a rod: the mean of the last step where
    /// its strains are compliances, which is the default.
    pub fn rod_forces(&self, rod: &RodParts) -> Vec<RodForces> {
        rod.forces(&self.force_through(rod.strains))
    }

    /// The force on the coordinates of a mapped node of all components that act on it, or on what
    /// is mapped from it, each as [`force`](Self::force) has it. Of components that act through
    /// other nodes as well, the part that acts through this one.
    pub fn force_through(&self, node: NodeId) -> Vec<f64> {
        observe::force_through(&self.system, &self.motion, node)
    }
}
