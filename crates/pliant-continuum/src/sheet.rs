//! Sheets in a model: membranes, cloth, shells.

mod curvature;
mod hinges;
pub(crate) mod mesh;
mod strain;

pub use mesh::SheetMesh;
pub use strain::MembraneStrain;

use crate::checks::check_number;
use crate::{ContinuumError, PlaneElastic, PronySeries, Relaxing, SheetFields, SymmetryPlane};
use curvature::curvatures;
use hinges::{Hinge, Hinges, hinges};
use pliant_model::{
    ComponentId, DiagonalCompliance, Field, ForceField, Mass, Model, NodeId, Treatment, quadratic_bending,
};

/// How a sheet resists bending.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Bending {
    /// Not at all: a membrane.
    #[default]
    None,
    /// By angles at the edges, of this bending stiffness (N m), zero or more: discrete shells, for
    /// cloth of any shape at rest. An edge of length `l` between triangles of the area `A` in all
    /// has the stiffness `D l^2/A` (N m/rad): the energy of a cylinder, on equilateral triangles
    /// and along the sides of squares. A free strip is softer, at any size of the mesh: 9/8 on
    /// equilateral triangles (their Poisson's ratio is 1/3), 6/5 on squares with alternating
    /// diagonals, 5/4 with diagonals of one direction. At an edge of a quadrangle both of its other
    /// corners make a triangle, each with half of this stiffness, and there is a hinge of the
    /// stiffness `D A/l^2` at each of its diagonals, of the area `A` of the quadrangle: rectangles
    /// are a plate of the stiffness `D` without Poisson's ratio, in bending along their sides and
    /// in twist, and free strips of them are beams.
    Hinges(f64),
    /// By quadratic isometric bending ([`quadratic_bending`]) of this bending stiffness (N m), zero
    /// or more: the same for small angles, linear, flat at rest only.
    Quadratic(f64),
    /// By the curvature of each triangle, with a turn of the normal at every edge as a coordinate
    /// of its own (Morley's triangle, at any rotation): the plate of the material and the
    /// thickness, Poisson's ratio included, on any mesh.
    Shell,
}

/// The material of a sheet; [`add_to`](Self::add_to) puts it into a model.
///
/// **Equation.** Energy `t A e . S^-1 e/2` over the triangles of area `A` (m^2), or the parts of
/// quadrangles, with the strains of [`MembraneStrain`], the law of [`PlaneElastic`] and the
/// thickness `t` (m); with [`Bending::Shell`] also `t^3 A/12 k . S^-1 k/2` with the curvatures `k`
/// (1/m).
///
/// **Use.** Membranes, cloth, shells. Strains and curvatures are small against one and against
/// `1/t`; displacements are of any size.
#[derive(Clone, Debug, PartialEq)]
pub struct Sheet {
    compliances: [f64; 3],
    poisson: f64,
    thickness: f64,
    /// None if the nodes have masses of their own.
    density: Option<f64>,
    bending: Bending,
    warp: Option<[f64; 3]>,
    stretch: f64,
    treatment: Option<Treatment>,
    relaxation_time: f64,
    series: Option<PronySeries>,
    clamped: Vec<usize>,
    symmetry: Vec<SymmetryPlane>,
}

/// The nodes and components of a sheet in a model.
#[derive(Clone, Debug, PartialEq)]
pub struct SheetParts {
    /// The nodes of the mesh: points of space.
    pub nodes: NodeId,
    /// Strains of the triangles, then at four points of each quadrangle: warp, weft, shear.
    pub strains: NodeId,
    /// The law of the strains.
    pub membrane: ComponentId,
    /// The mass of the nodes, unless they have masses of their own.
    pub mass: Option<ComponentId>,
    /// Angles at the edges less those at rest (rad), or the vectors of quadratic bending.
    pub bends: Option<NodeId>,
    /// Turns of the normals at the edges (rad), of a shell.
    pub turns: Option<NodeId>,
    /// Curvatures of the triangles (1/m), of a shell: warp, weft, twice the twist.
    pub curvatures: Option<NodeId>,
    /// The law of bending.
    pub bending: Option<ComponentId>,
    /// Area (m^2) at rest of each triangle, then of what each point of the quadrangles stands for.
    pub areas: Vec<f64>,
    /// Corners of the triangles, then of the quadrangles.
    pub cells: SheetCells,
    /// The elements beside the edge of each angle of [`bends`](Self::bends), by their numbers:
    /// twice the same at an edge of the boundary, and at a diagonal of a quadrangle.
    pub bend_elements: Vec<[usize; 2]>,
    /// Thickness (m) at rest.
    pub thickness: f64,
}

/// Corners of the triangles and of the quadrangles of a sheet.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SheetCells {
    /// Triangles.
    pub triangles: Vec<[usize; 3]>,
    /// Quadrangles.
    pub quadrangles: Vec<[usize; 4]>,
}

/// Strains or curvatures of the points of a sheet, and the forces on them: three numbers each.
#[derive(Clone, Copy, Debug)]
pub struct SheetForces<'a> {
    /// Warp, weft, shear as an angle, or twice the twist.
    pub strains: &'a [f64],
    /// Forces on these.
    pub forces: &'a [f64],
}

impl SheetParts {
    /// Stresses and bending moments of the triangles, then of the quadrangles, from the strains and
    /// the forces on them, and of a shell the forces on its curvatures.
    pub fn fields(&self, membrane: SheetForces<'_>, bending: Option<SheetForces<'_>>) -> SheetFields {
        let SheetCells {
            triangles,
            quadrangles,
        } = &self.cells;
        let parts = triangles.iter().map(|_| 1).chain(quadrangles.iter().map(|_| 4));
        let SheetForces { strains, forces } = membrane;
        let mut out = SheetFields::new(strains, forces, &self.areas, self.thickness, parts);
        if let Some(SheetForces { forces, .. }) = bending {
            let points = forces.as_chunks::<3>().0.iter().zip(&self.areas);
            out.moment = points.map(|(force, area)| force.map(|f| -f / area)).collect();
        }
        out
    }
}

impl Sheet {
    /// Young's modulus (Pa), Poisson's ratio (none) above -1 and below 1, thickness (m).
    pub fn isotropic(young: f64, poisson: f64, thickness: f64) -> Self {
        let shear = 2.0 * (1.0 + poisson) / young;
        Self::orthotropic([1.0 / young, 1.0 / young, shear], poisson, thickness)
    }

    /// Compliances (1/Pa) of warp, weft and shear, zero (hard) or more, Poisson's ratio (none: how
    /// much the weft shrinks as the warp is stretched), thickness (m).
    pub fn orthotropic(compliances: [f64; 3], poisson: f64, thickness: f64) -> Self {
        Self {
            compliances,
            poisson,
            thickness,
            density: Some(1000.0),
            bending: Bending::None,
            warp: None,
            stretch: 1.0,
            treatment: None,
            relaxation_time: 0.0,
            series: None,
            clamped: Vec::new(),
            symmetry: Vec::new(),
        }
    }

    /// Sets the density (kg/m^3); 1000 if not set.
    #[must_use]
    pub fn with_density(mut self, density: f64) -> Self {
        self.density = Some(density);
        self
    }

    /// Gives the nodes no mass: those of [`add_on`](Self::add_on) have masses of their own. Not
    /// with [`Bending::Shell`], whose turns have inertia.
    #[must_use]
    pub fn without_mass(mut self) -> Self {
        self.density = None;
        self
    }

    /// Sets how it resists bending; not at all if not set.
    #[must_use]
    pub fn with_bending(mut self, bending: Bending) -> Self {
        self.bending = bending;
        self
    }

    /// Sets the direction (none, any length) of the warp, of which the part in each triangle
    /// counts; along the first edge of each triangle if not set, which is for isotropic sheets.
    #[must_use]
    pub fn with_warp(mut self, direction: [f64; 3]) -> Self {
        self.warp = Some(direction);
        self
    }

    /// Makes it stretched by this factor (none) where the mesh is, as a drumhead is.
    #[must_use]
    pub fn with_stretch(mut self, factor: f64) -> Self {
        self.stretch = factor;
        self
    }

    /// Sets the treatment of the strains; if not set, a compliance where one of them is hard, else
    /// a stiffness.
    #[must_use]
    pub fn with_treatment(mut self, treatment: Treatment) -> Self {
        self.treatment = Some(treatment);
        self
    }

    /// Adds damping through the relaxation time (s) of strains and bending.
    #[must_use]
    pub fn with_relaxation_time(mut self, d: f64) -> Self {
        self.relaxation_time = d;
        self
    }

    /// Makes its moduli and its bending stiffness those of fast strains, which relax by a Prony
    /// series ([`Relaxing`]) whose shares of shear and bulk must be equal: under plane stress
    /// others would not relax by exponentials.
    #[must_use]
    pub fn with_viscoelasticity(mut self, series: PronySeries) -> Self {
        self.series = Some(series);
        self
    }

    /// Clamps nodes: they do not move, and along edges of the boundary between two of them the
    /// sheet does not turn (not with [`Bending::Quadratic`], which has no angle there).
    #[must_use]
    pub fn with_clamped(mut self, nodes: &[usize]) -> Self {
        self.clamped = nodes.to_vec();
        self
    }

    /// Makes it end at planes of symmetry, behind which its mirror image goes on: nodes on a plane
    /// stay in it, and along edges of the boundary in it the normal does too (not with
    /// [`Bending::Quadratic`], which has no angle there). Nodes there carry the forces of their own
    /// side, half of those of the whole.
    #[must_use]
    pub fn with_symmetry(mut self, planes: &[SymmetryPlane]) -> Self {
        self.symmetry = planes.to_vec();
        self
    }

    /// Adds the nodes of the mesh under `name`, and all that belongs to them as `name.mass`,
    /// `name.strains`, `name.membrane`, `name.bends`, `name.bending`, and of shells `name.turns`,
    /// `name.turns.mass`, `name.curvatures`.
    ///
    /// # Errors
    /// [`ContinuumError`]: what is wrong with the mesh or a number, or what the model says.
    pub fn add_to(
        &self,
        model: &mut Model,
        name: &str,
        mesh: &SheetMesh,
    ) -> Result<SheetParts, ContinuumError> {
        self.check()?;
        MembraneStrain::new(mesh, self.warp)?;
        let nodes = model.add_particles(name, &mesh.nodes)?;
        self.add_on(model, name, nodes, mesh)
    }

    /// Adds the sheet on a node that is there: points of space, mapped ones too (if it holds none
    /// of them), one for each node of the mesh.
    ///
    /// # Errors
    /// As [`add_to`](Self::add_to).
    pub fn add_on(
        &self,
        model: &mut Model,
        name: &str,
        nodes: NodeId,
        mesh: &SheetMesh,
    ) -> Result<SheetParts, ContinuumError> {
        self.check()?;
        if self.bending == Bending::Shell && !mesh.quadrangles.is_empty() {
            return Err(ContinuumError::Conflict {
                field: Field::ShellBending,
                with: "quadrangles",
                reason: "it is that of triangles; cut them, or take hinges",
            });
        }
        let areas = mesh.areas()?;
        let mut held = vec![false; mesh.nodes.len()];
        for node in &self.clamped {
            *held.get_mut(*node).ok_or(ContinuumError::ClampedNode {
                node: *node,
                count: mesh.nodes.len(),
            })? = true;
        }
        let mut mirrors = Vec::new();
        for plane in &self.symmetry {
            let mut on = vec![false; mesh.nodes.len()];
            for node in plane.nodes(&mesh.nodes)? {
                on[node] = true;
            }
            if mesh.cover().iter().any(|t| t.iter().all(|k| on[*k])) {
                return Err(plane.error("the sheet lies in it"));
            }
            mirrors.push((plane.axis, on));
        }
        let hinges = if self.bending == Bending::None {
            mesh.edges(false)?;
            None
        } else {
            hinges(mesh, &held, &mirrors)?
        };
        let mapping = MembraneStrain::new(mesh, self.warp)?;
        let surface = |density| density * self.thickness / (self.stretch * self.stretch);
        let mass = match self.density {
            Some(density) => Some(mapping.lumped_mass(surface(density))?),
            None => None,
        };
        let mapping = mapping.with_stretch(self.stretch);
        let volumes: Vec<f64> = mapping.areas().iter().map(|a| a * self.thickness).collect();
        let rest_areas = mapping.areas();

        let mass = match mass {
            Some(mass) => Some(model.add_mass(&format!("{name}.mass"), nodes, mass)?),
            None => None,
        };
        let strains = model.add_mapped(&format!("{name}.strains"), &[nodes], mapping)?;
        let (label, law) = (format!("{name}.membrane"), self.plane_law(&volumes)?);
        let membrane = model.add_boxed_force_field(&label, strains, law, self.treatment())?;
        for node in &self.clamped {
            model.fix(nodes, *node, &[true; 3])?;
        }
        for plane in &self.symmetry {
            plane.hold(model, nodes, &mesh.nodes)?;
        }
        let mut parts = SheetParts {
            nodes,
            strains,
            membrane,
            mass,
            bends: None,
            turns: None,
            curvatures: None,
            bending: None,
            areas: rest_areas,
            cells: SheetCells {
                triangles: mesh.triangles.clone(),
                quadrangles: mesh.quadrangles.clone(),
            },
            bend_elements: Vec::new(),
            thickness: self.thickness,
        };
        if let Some(hinges) = hinges {
            self.add_bending(model, name, mesh, &hinges, &areas, &mut parts)?;
        }
        Ok(parts)
    }

    fn add_bending(
        &self,
        model: &mut Model,
        name: &str,
        mesh: &SheetMesh,
        hinges: &Hinges,
        areas: &[f64],
        parts: &mut SheetParts,
    ) -> Result<(), ContinuumError> {
        let (bends, bending) = (format!("{name}.bends"), format!("{name}.bending"));
        match self.bending {
            Bending::None => return Ok(()),
            Bending::Hinges(d) if d > 0.0 => {
                let angles = model.add_mapped(&bends, &[parts.nodes], hinges.angles.clone())?;
                let stiffness = |hinge: &Hinge| d * hinge.slenderness * hinge.share;
                let stiffnesses: Vec<f64> = hinges.list.iter().map(stiffness).collect();
                let law = self.springs(1, &stiffnesses)?;
                parts.bending =
                    Some(model.add_boxed_force_field(&bending, angles, law, Treatment::Stiffness)?);
                parts.bends = Some(angles);
                parts.bend_elements = hinges.list.iter().map(|hinge| hinge.elements).collect();
            }
            Bending::Quadratic(d) if d > 0.0 => {
                let with_two = hinges.list.iter().filter(|hinge| hinge.right.is_some());
                parts.bend_elements = with_two.map(|hinge| hinge.elements).collect();
                let inner = hinges.list.iter().filter_map(|hinge| {
                    let [a, b] = hinge.ends;
                    hinge
                        .right
                        .map(|corner| ([a, b, hinge.left, corner], hinge.share))
                });
                let (list, shares): (Vec<[usize; 4]>, Vec<f64>) = inner.unzip();
                let mapping = quadratic_bending(&list, &mesh.nodes).map_err(|cause| {
                    pliant_model::ModelError::Mesh {
                        name: bends.clone(),
                        cause,
                    }
                })?;
                let folds = model.add_mapped(&bends, &[parts.nodes], mapping)?;
                // Its energy is three times that of a cylinder on the meshes of `Hinges`.
                let stiffnesses: Vec<f64> = shares.iter().map(|s| d / 3.0 * s).collect();
                let law = self.springs(3, &stiffnesses)?;
                parts.bending =
                    Some(model.add_boxed_force_field(&bending, folds, law, Treatment::Stiffness)?);
                parts.bends = Some(folds);
            }
            Bending::Hinges(_) | Bending::Quadratic(_) => return Ok(()),
            Bending::Shell => {
                let (mapping, turns) = curvatures(mesh, self.warp, hinges)?;
                let angles = model.add_mapped(&bends, &[parts.nodes], hinges.angles.clone())?;
                let mut sources = vec![angles];
                if turns > 0 {
                    let label = format!("{name}.turns");
                    let node = model.add_scalars(&label, &vec![0.0; turns])?;
                    let mass = self.rotary_inertia(hinges, areas);
                    model.add_mass(&format!("{label}.mass"), node, Mass::PerElement(mass))?;
                    sources.push(node);
                    parts.turns = Some(node);
                }
                let label = format!("{name}.curvatures");
                let curvatures = model.add_mapped(&label, &sources, mapping)?;
                let cube = self.thickness.powi(3) / 12.0;
                let weights: Vec<f64> = areas.iter().map(|a| a * cube).collect();
                let law = self.plane_law(&weights)?;
                parts.bending =
                    Some(model.add_boxed_force_field(&bending, curvatures, law, self.treatment())?);
                parts.bends = Some(angles);
                parts.bend_elements = hinges.list.iter().map(|hinge| hinge.elements).collect();
                parts.curvatures = Some(curvatures);
            }
        }
        Ok(())
    }

    /// The law of the material at points of these weights.
    fn plane_law(&self, weights: &[f64]) -> Result<Box<dyn ForceField>, ContinuumError> {
        let law = PlaneElastic::orthotropic(self.compliances, self.poisson, weights);
        Ok(match self.series {
            Some(series) => Box::new(law.relaxing(series)?),
            None => Box::new(law.with_relaxation_time(self.relaxation_time)),
        })
    }

    /// Springs on so many coordinates of each element.
    fn springs(&self, size: usize, stiffnesses: &[f64]) -> Result<Box<dyn ForceField>, ContinuumError> {
        if let Some(series) = self.series {
            return Ok(Box::new(Relaxing::springs(size, stiffnesses, series)?));
        }
        let all: Vec<f64> = stiffnesses.iter().flat_map(|k| vec![*k; size]).collect();
        let law = DiagonalCompliance::from_stiffnesses(&all);
        Ok(Box::new(law.with_relaxation_time(self.relaxation_time)))
    }

    /// `rho t^3/12` (kg) times a third of the triangles at each edge that has a turn of its own.
    fn rotary_inertia(&self, hinges: &Hinges, areas: &[f64]) -> Vec<f64> {
        let inertia = self.density.unwrap_or_default() * self.thickness.powi(3) / 36.0;
        let inner = hinges.sides.iter().filter_map(|(edge, clamped)| {
            let right = edge.right.map_or(0.0, |side| areas[side.element]);
            (!clamped).then_some(inertia * (areas[edge.left.element] + right))
        });
        let free = hinges.free.iter().map(|edge| inertia * areas[edge.left.element]);
        inner.chain(free).collect()
    }

    fn treatment(&self) -> Treatment {
        let hard = self.compliances.contains(&0.0);
        self.treatment.unwrap_or(if hard {
            Treatment::Compliance
        } else {
            Treatment::Stiffness
        })
    }

    fn check(&self) -> Result<(), ContinuumError> {
        if self.bending == Bending::Shell && self.density.is_none() {
            return Err(ContinuumError::Conflict {
                field: Field::ShellBending,
                with: "nodes that have masses of their own",
                reason: "the turns of its edges have inertia by the density; take hinges",
            });
        }
        for (field, value) in [
            (Field::Thickness, self.thickness),
            (Field::Density, self.density.unwrap_or(1.0)),
            (Field::Stretch, self.stretch),
        ] {
            check_number(field, value, value > 0.0, "positive")?;
        }
        let names = [
            Field::ComplianceOfWarp,
            Field::ComplianceOfWeft,
            Field::ComplianceOfShear,
        ];
        for (field, value) in names.into_iter().zip(self.compliances) {
            check_number(field, value, value >= 0.0, "zero or more")?;
        }
        let [one, two, _] = self.compliances;
        let lateral = one * self.poisson * self.poisson;
        let bound = "of a square below the compliance of the weft over that of the warp (for one material, between -1 and 1)";
        check_number(
            Field::Poisson,
            self.poisson,
            lateral < two || lateral == 0.0,
            bound,
        )?;
        if let Bending::Hinges(d) | Bending::Quadratic(d) = self.bending {
            check_number(Field::Bending, d, d >= 0.0, "zero or more")?;
        }
        if self.series.is_some() {
            self.check_past()?;
        }
        if self.stretch != 1.0 && self.bending == Bending::Shell {
            return Err(ContinuumError::Conflict {
                field: Field::Prestretch,
                with: "the bending of a shell",
                reason: "its curvatures are those of the mesh; take hinges",
            });
        }
        if matches!(self.bending, Bending::Quadratic(_)) && !self.symmetry.is_empty() {
            return Err(ContinuumError::Conflict {
                field: Field::Symmetry,
                with: "quadratic bending",
                reason: "it has no angle at the boundary; take hinges",
            });
        }
        if matches!(self.bending, Bending::Quadratic(_)) && !self.clamped.is_empty() {
            return Err(ContinuumError::Conflict {
                field: Field::Clamp,
                with: "quadratic bending",
                reason: "it has no angle at the boundary; take hinges, or fix the nodes",
            });
        }
        Ok(())
    }

    /// Refuses options that do not go with a past.
    fn check_past(&self) -> Result<(), ContinuumError> {
        let conflict = |field, reason| {
            let with = "a material with a past";
            Err(ContinuumError::Conflict { field, with, reason })
        };
        if self.treatment == Some(Treatment::Compliance) || self.compliances.contains(&0.0) {
            let reason = "its force is not a function of the strain alone";
            return conflict(Field::ComplianceTreatment, reason);
        }
        if self.relaxation_time != 0.0 {
            return conflict(Field::RelaxationTimes, "give the series a term for it");
        }
        Ok(())
    }
}
