//! Solids of several materials, and of materials that vary from place to place.

use super::sums::{self, SolidTerm, Term};
use super::{Law, MassMatrix, Solid, SolidMuscle, SolidParts, parts};
use crate::mesh::{RestPoint, check_density};
use crate::{ContinuumError, Element, ElementKind, Mesh};
use pliant_model::{CoupledMass, Field, Mass, Model, ModelError, NodeId};
use std::fmt;

/// The material of some elements of a mesh.
#[derive(Clone, Copy)]
pub struct SolidRegion<'a> {
    /// Its name, behind that of the solid in names of nodes and components; of the only region it
    /// may be empty.
    pub name: &'a str,
    /// The elements, by number; all if there are none.
    pub elements: Option<&'a [usize]>,
    /// The material, and the choices of the solid.
    pub solid: Solid,
    /// The material at a place of an element: the number of the element in the mesh, and a place
    /// (m) at rest. It has the numbers of its own law and density there, and all else of `solid`.
    pub varies: Option<&'a dyn Fn(usize, [f64; 3]) -> Solid>,
    /// Materials that add up with it in the same elements; most often none.
    pub beside: &'a [SolidTerm<'a>],
}

impl fmt::Debug for SolidRegion<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SolidRegion")
            .field("name", &self.name)
            .field("elements", &self.elements)
            .field("solid", &self.solid)
            .field("beside", &self.beside)
            .finish_non_exhaustive()
    }
}

impl SolidRegion<'_> {
    /// The only region of a solid: all elements, the same everywhere.
    pub(super) fn whole(solid: Solid) -> Self {
        Self {
            name: "",
            elements: None,
            solid,
            varies: None,
            beside: &[],
        }
    }

    /// Its materials, which add up.
    fn solids(&self) -> Vec<Solid> {
        let beside = self.beside.iter().map(|term| Solid {
            law: term.solid.law,
            volume_energy: term.solid.volume_energy,
            ..self.solid
        });
        [self.solid].into_iter().chain(beside).collect()
    }

    /// Whether its materials go together, and with its choices.
    pub(super) fn check(&self) -> Result<(), ContinuumError> {
        sums::check(&self.solids())
    }

    /// An error of this region, which says so if there are others.
    fn blame(&self, error: ContinuumError) -> ContinuumError {
        match self.name {
            "" => error,
            name => ContinuumError::Region {
                name: name.into(),
                error: Box::new(error),
            },
        }
    }
}

/// A region with the part of the mesh that it is made of: all nodes, and its elements.
pub(super) struct Piece<'a> {
    pub(super) region: &'a SolidRegion<'a>,
    pub(super) mesh: Mesh,
    /// Numbers of its elements in the whole mesh.
    pub(super) elements: Vec<usize>,
}

/// Adds the regions of a solid and its muscles to a model.
pub(super) fn add(
    model: &mut Model,
    name: &str,
    nodes: NodeId,
    mesh: &Mesh,
    regions: &[SolidRegion<'_>],
    muscles: &[SolidMuscle<'_>],
) -> Result<Vec<SolidParts>, ContinuumError> {
    for region in regions {
        region.check().map_err(|error| region.blame(error))?;
    }
    mesh.check()?;
    let pieces = pieces(mesh, regions)?;
    check_enhanced(&pieces)?;
    let members = muscles.iter().map(|muscle| muscle.members(mesh));
    let members = members.collect::<Result<Vec<_>, _>>()?;
    let mut terms = Vec::with_capacity(pieces.len());
    for piece in &pieces {
        terms.push(piece.terms().map_err(|error| piece.region.blame(error))?);
    }
    let mass = match mass(mesh.nodes.len(), &pieces)? {
        Some(mass) => Some(model.add_mass(&format!("{name}.mass"), nodes, mass)?),
        None => None,
    };
    let mut out = Vec::with_capacity(pieces.len());
    for (piece, terms) in pieces.iter().zip(terms) {
        let label = match piece.region.name {
            "" => name.to_owned(),
            region => format!("{name}.{region}"),
        };
        let parts = parts::add(&terms, model, &label, nodes, &piece.mesh);
        let mut parts = parts.map_err(|error| piece.region.blame(error))?;
        parts.mass = mass;
        for (index, (muscle, members)) in muscles.iter().zip(&members).enumerate() {
            let id = muscle.add(model, &label, members, piece, &parts)?;
            parts.muscles.extend(id.map(|id| (index, id)));
        }
        out.push(parts);
    }
    Ok(out)
}

/// Refuses enhanced strains where no element has them.
fn check_enhanced(pieces: &[Piece<'_>]) -> Result<(), ContinuumError> {
    let mut wanting = pieces
        .iter()
        .filter(|piece| piece.region.solid.enhancement.is_some());
    let mut has_modes = wanting.clone().flat_map(|piece| &piece.mesh.elements);
    if wanting.next().is_none() || has_modes.any(|element| element.kind == ElementKind::Hex8) {
        return Ok(());
    }
    Err(ContinuumError::Conflict {
        field: Field::EnhancedStrains,
        with: "a mesh without hexahedra of eight nodes",
        reason: "no other element has them",
    })
}

/// The regions with their meshes; every element is in one of them.
fn pieces<'a>(mesh: &Mesh, regions: &'a [SolidRegion<'a>]) -> Result<Vec<Piece<'a>>, ContinuumError> {
    let mut owners: Vec<Option<&str>> = vec![None; mesh.elements.len()];
    let mut out = Vec::with_capacity(regions.len());
    for region in regions {
        let mut elements = match region.elements {
            Some(list) => list.to_vec(),
            None => (0..mesh.elements.len()).collect(),
        };
        elements.sort_unstable();
        elements.dedup();
        for element in &elements {
            let wrong = |reason| {
                Err(ContinuumError::Regions {
                    element: *element,
                    reason,
                })
            };
            match owners.get_mut(*element) {
                None => {
                    return wrong(format!(
                        "is in `{}`, but the mesh has no such element",
                        region.name
                    ));
                }
                Some(Some(other)) => {
                    return wrong(format!("has two materials: `{other}` and `{}`", region.name));
                }
                Some(owner) => *owner = Some(region.name),
            }
        }
        let own: Vec<Element> = elements.iter().map(|e| mesh.elements[*e].clone()).collect();
        if own.is_empty() {
            return Err(ContinuumError::Empty);
        }
        let mesh = Mesh {
            nodes: mesh.nodes.clone(),
            elements: own,
        };
        out.push(Piece {
            region,
            mesh,
            elements,
        });
    }
    match owners.iter().position(Option::is_none) {
        Some(element) => Err(ContinuumError::Regions {
            element,
            reason: "has no material".into(),
        }),
        None => Ok(out),
    }
}

impl Piece<'_> {
    /// Its materials with the laws of its quadrature points: one for all, or one for each.
    fn terms(&self) -> Result<Vec<Term>, ContinuumError> {
        let varies = self.region.beside.iter().map(|term| term.varies);
        let varies = [self.region.varies].into_iter().chain(varies);
        let mut terms = Vec::with_capacity(1 + self.region.beside.len());
        for (index, (solid, varies)) in self.region.solids().into_iter().zip(varies).enumerate() {
            let laws = match varies {
                None => vec![solid.law],
                Some(varies) => self.laws(index, &solid, varies)?,
            };
            terms.push(Term { solid, laws });
        }
        Ok(terms)
    }

    /// The laws of a term that varies.
    fn laws(
        &self,
        index: usize,
        solid: &Solid,
        varies: &dyn Fn(usize, [f64; 3]) -> Solid,
    ) -> Result<Vec<Law>, ContinuumError> {
        let of_strains = matches!(solid.law, Law::OfStrains { .. });
        if of_strains && solid.series.is_some() || solid.plasticity.is_some() {
            return Err(ContinuumError::Conflict {
                field: Field::MaterialField,
                with: "a material with a past",
                reason: "its moduli are the same everywhere; take several materials",
            });
        }
        let mut laws = Vec::new();
        self.mesh
            .try_each_point(ElementKind::stiffness_degree, |point: &RestPoint| {
                let place = self.mesh.place_of(point);
                let mut here = varies(self.elements[point.element], place);
                if index > 0 {
                    here = Solid {
                        law: here.law,
                        volume_energy: here.volume_energy,
                        ..*solid
                    };
                }
                self.check_at(solid, &here).map_err(|error| at(place, error))?;
                laws.push(here.law);
                Ok::<(), ContinuumError>(())
            })?;
        Ok(laws)
    }

    /// Checks the material at a place against that of elsewhere.
    fn check_at(&self, solid: &Solid, here: &Solid) -> Result<(), ContinuumError> {
        if self.region.beside.is_empty() {
            here.check()?;
        } else {
            here.check_choices()?;
        }
        if let Law::Hyperelastic(energy) = here.law {
            energy.check(self.region.name).map_err(of_number)?;
        }
        let same = match (solid.law, here.law) {
            (Law::OfStrains { measure: a, .. }, Law::OfStrains { measure: b, .. }) => a == b,
            (Law::Hyperelastic(_), Law::Hyperelastic(_)) => true,
            _ => false,
        };
        let rest = Solid {
            law: solid.law,
            density: solid.density,
            ..*here
        };
        if same && rest == *solid && here.density.is_some() == solid.density.is_some() {
            return Ok(());
        }
        Err(ContinuumError::Conflict {
            field: Field::MaterialField,
            with: "another law or other choices at one of them",
            reason: "moduli and densities may vary",
        })
    }

    /// Density at a point of the mesh (kg/m^3).
    fn density(&self, point: &RestPoint, uniform: f64) -> f64 {
        match self.region.varies {
            None => uniform,
            Some(varies) => {
                let place = self.mesh.place_of(point);
                let here = varies(self.elements[point.element], place);
                here.density.unwrap_or(f64::NAN)
            }
        }
    }
}

/// An error at a place.
pub(super) fn at(place: [f64; 3], error: ContinuumError) -> ContinuumError {
    ContinuumError::Point {
        place,
        error: Box::new(error),
    }
}

/// The error of a number of a material at a place, which says the place and not a name.
fn of_number(error: ModelError) -> ContinuumError {
    match error {
        ModelError::OutOfRange {
            field, value, bound, ..
        } => ContinuumError::OutOfRange { field, value, bound },
        ModelError::NotFinite { field, value, .. } => ContinuumError::NotFinite { field, value },
        other => other.into(),
    }
}

/// The mass of all pieces, unless the nodes have masses of their own.
fn mass(nodes: usize, pieces: &[Piece<'_>]) -> Result<Option<Mass>, ContinuumError> {
    let first = pieces
        .first()
        .map(|p| (p.region.solid.density.is_some(), p.region.solid.mass));
    let mixed = pieces
        .iter()
        .any(|p| Some((p.region.solid.density.is_some(), p.region.solid.mass)) != first);
    if mixed {
        return Err(ContinuumError::Conflict {
            field: Field::Density,
            with: "another way to give mass in another region",
            reason: "a solid has one mass matrix",
        });
    }
    let (mut lumped, mut coupled) = (vec![0.0; nodes], Vec::new());
    let Some((true, kind)) = first else {
        return Ok(None);
    };
    for piece in pieces {
        let Some(uniform) = piece.region.solid.density else {
            return Ok(None);
        };
        check_density(uniform).map_err(|error| piece.region.blame(error))?;
        let density = |point: &RestPoint| piece.density(point, uniform);
        let masses = |nodes: &[usize], matrix: &[f64]| match kind {
            MassMatrix::Lumped => Mesh::lump(nodes, matrix, &mut lumped),
            MassMatrix::Consistent => coupled.push(CoupledMass {
                elements: nodes.to_vec(),
                matrix: matrix.to_vec(),
            }),
        };
        piece
            .mesh
            .each_mass(&density, masses)
            .map_err(|error| piece.region.blame(error))?;
    }
    Ok(Some(match kind {
        MassMatrix::Lumped => Mass::PerElement(lumped),
        MassMatrix::Consistent => Mass::Coupled(coupled),
    }))
}
