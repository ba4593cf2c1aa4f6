//! Shells on frames in a model: frames, masses, strains and stiffness, put together.

mod directors;
mod elastic;
mod point;
mod strain;

pub use elastic::ShellElastic;
pub use strain::ShellStrain;

use crate::checks::check_number;
use crate::{ContinuumError, SheetCells, SheetFields, SheetMesh, SymmetryPlane};
use pliant_dense::rotation::Quaternion;
use pliant_model::{ComponentId, Field, Mass, Model, NodeId, Pose, RigidMass, Treatment};

/// Share of the shear modulus in drilling, if not set: small enough that warped elements bend
/// freely, large enough that frames do not turn about their normals on their own.
const DRILLING: f64 = 0.001;

/// Angle (rad) between normals of neighbours from which on their edge is a fold, if not set: those
/// of a tube of six sides are.
const FOLD: f64 = std::f64::consts::FRAC_PI_3;

/// An elastic shell: bodies at the nodes of a mesh of quadrangles, and the strains of thin shells
/// with transverse shear (Reissner and Mindlin) between them.
///
/// **Equation.** Energy of [`ShellElastic`] on the strains of [`ShellStrain`]. Each body has the
/// mass `rho t A` of the area `A` (m^2) that its node stands for, and the rotary inertia
/// `rho t^3 A/12` about all of its axes: about those in the surface that of the thickness, about
/// the normal, where a shell has none, the same. Second order in the size of the elements.
///
/// **Use.** Plates, curved and folded shells whose nodes are bodies: they take joints, rods, loads
/// and moments. Strains are small against one, and curvatures against `1/t`; displacements and turns
/// are of any size.
#[derive(Clone, Debug, PartialEq)]
pub struct Shell {
    young: f64,
    poisson: f64,
    thickness: f64,
    /// None if the bodies have masses of their own.
    density: Option<f64>,
    warp: Option<[f64; 3]>,
    fold: f64,
    drill_factor: f64,
    treatment: Treatment,
    relaxation_time: f64,
    clamped: Vec<usize>,
    symmetry: Vec<SymmetryPlane>,
}

/// The nodes and components of a shell in a model.
#[derive(Clone, Debug, PartialEq)]
pub struct ShellParts {
    /// Rigid bodies, one at each node of the mesh; made by [`Shell::add_to`], their axes are those
    /// of the world at rest.
    pub frames: NodeId,
    /// Nine strains at each of the four points of each quadrangle, see [`ShellStrain`].
    pub strains: NodeId,
    /// The stiffness.
    pub elasticity: ComponentId,
    /// The mass of the bodies, unless they have masses of their own.
    pub mass: Option<ComponentId>,
    /// Area (m^2) at rest that each point stands for.
    pub areas: Vec<f64>,
    /// Corners of the quadrangles; there are no triangles.
    pub cells: SheetCells,
    /// Thickness (m) at rest.
    pub thickness: f64,
}

impl ShellParts {
    /// Stresses and bending moments of the quadrangles, the means of their points, from the strains
    /// and the forces (J) on them.
    ///
    /// A moment is positive where it bends a ridge, with tension on the side of the normal: the side
    /// from which the corners of the quadrangle go round to the left.
    pub fn fields(&self, strains: &[f64], forces: &[f64]) -> SheetFields {
        let middle = |all: &[f64]| -> Vec<f64> {
            let points = all.as_chunks::<9>().0.iter();
            points.flat_map(|p| [p[0], p[1], p[2]]).collect()
        };
        let parts = self.cells.quadrangles.iter().map(|_| 4);
        let (e, f) = (middle(strains), middle(forces));
        let mut out = SheetFields::new(&e, &f, &self.areas, self.thickness, parts);
        let moments = forces.as_chunks::<9>().0.chunks(4).zip(self.areas.chunks(4));
        out.moment = moments
            .map(|(forces, areas)| {
                let area: f64 = areas.iter().sum();
                [3, 4, 5].map(|k| -forces.iter().map(|f| f[k]).sum::<f64>() / area)
            })
            .collect();
        out
    }
}

impl Shell {
    /// Young's modulus (Pa), Poisson's ratio (none) above -1 and below 1, thickness (m).
    pub fn isotropic(young: f64, poisson: f64, thickness: f64) -> Self {
        Self {
            young,
            poisson,
            thickness,
            density: Some(1000.0),
            warp: None,
            fold: FOLD,
            drill_factor: DRILLING,
            treatment: Treatment::Stiffness,
            relaxation_time: 0.0,
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

    /// Gives the bodies no mass: those of [`add_on`](Self::add_on) have masses of their own.
    #[must_use]
    pub fn without_mass(mut self) -> Self {
        self.density = None;
        self
    }

    /// Sets the direction (none, any length) of the first axis of strains and stresses, of which
    /// the part in each tangent plane counts; along the quadrangles if not set.
    #[must_use]
    pub fn with_warp(mut self, direction: [f64; 3]) -> Self {
        self.warp = Some(direction);
        self
    }

    /// Sets the angle (rad, up to a quarter turn) between normals of neighbours from which on their
    /// edge is a fold, where each keeps its own normal; pi/3 if not set. Equality is to 1e-6: a tube
    /// of six sides has folds at all its edges, one of seven none.
    #[must_use]
    pub fn with_fold(mut self, angle: f64) -> Self {
        self.fold = angle;
        self
    }

    /// Sets the share (none, positive) of the shear modulus in drilling; a thousandth if not set.
    #[must_use]
    pub fn with_drill_factor(mut self, factor: f64) -> Self {
        self.drill_factor = factor;
        self
    }

    /// Sets the treatment of the strains; a stiffness if not set.
    #[must_use]
    pub fn with_treatment(mut self, treatment: Treatment) -> Self {
        self.treatment = treatment;
        self
    }

    /// Adds damping through the relaxation time (s) of all strains.
    #[must_use]
    pub fn with_relaxation_time(mut self, d: f64) -> Self {
        self.relaxation_time = d;
        self
    }

    /// Clamps nodes: their bodies neither move nor turn.
    #[must_use]
    pub fn with_clamped(mut self, nodes: &[usize]) -> Self {
        self.clamped = nodes.to_vec();
        self
    }

    /// Makes it end at planes of symmetry, behind which its mirror image goes on: bodies on a plane
    /// stay in it and turn about its normal alone, and normals there are those of the whole. They
    /// carry the forces of their own side, half of those of the whole. Not with
    /// [`add_on`](Self::add_on), whose bodies have axes of their own.
    #[must_use]
    pub fn with_symmetry(mut self, planes: &[SymmetryPlane]) -> Self {
        self.symmetry = planes.to_vec();
        self
    }

    /// Adds bodies at the nodes of the mesh under `name`, and what belongs to them as `name.mass`,
    /// `name.strains` and `name.elasticity`.
    ///
    /// # Errors
    /// [`ContinuumError`]: what is wrong with the mesh or a number, or what the model says.
    pub fn add_to(
        &self,
        model: &mut Model,
        name: &str,
        mesh: &SheetMesh,
    ) -> Result<ShellParts, ContinuumError> {
        let axes = vec![pliant_dense::rotation::IDENTITY; mesh.nodes.len()];
        let strain = self.strain(mesh, &axes)?;
        let mass = self.mass(&strain)?;
        let planes = directors::on_planes(mesh, &self.symmetry)?;
        let poses: Vec<Pose> = mesh.nodes.iter().map(|x| Pose::at(*x)).collect();
        let frames = model.add_rigid_bodies(name, &poses)?;
        let parts = self.add_strain(model, name, frames, mesh, (strain, mass))?;
        for (node, on) in planes.iter().enumerate() {
            for axis in (0..3).filter(|axis| on[*axis].is_some()) {
                // The frames have the axes of the world: a turn about the normal is one about an
                // axis of their own, and stays so.
                let held: [bool; 6] = std::array::from_fn(|k| if k < 3 { k == axis } else { k - 3 != axis });
                model.fix(frames, node, &held)?;
            }
        }
        Ok(parts)
    }

    /// Adds the shell on a node that is there: bodies, mapped ones too (if it clamps none of them),
    /// one for each node of the mesh. At rest they are turned as they are at the start, and where
    /// the nodes of the mesh are.
    ///
    /// # Errors
    /// The errors of [`add_to`](Self::add_to), and [`ContinuumError::Conflict`] with planes of symmetry.
    pub fn add_on(
        &self,
        model: &mut Model,
        name: &str,
        frames: NodeId,
        mesh: &SheetMesh,
    ) -> Result<ShellParts, ContinuumError> {
        if !self.symmetry.is_empty() {
            return Err(ContinuumError::Conflict {
                field: Field::Symmetry,
                with: "bodies that are there already",
                reason: "these have axes of their own; hold them by joints",
            });
        }
        let node = model.node(frames);
        pliant_model::validate::check_rigid(&node.name, node.space)?;
        let state = model.initial_state()?;
        let poses = model.positions(&state, frames).as_chunks::<7>().0;
        let axes: Vec<Quaternion> = poses.iter().map(|x| [x[3], x[4], x[5], x[6]]).collect();
        let strain = self.strain(mesh, &axes)?;
        let mass = self.mass(&strain)?;
        self.add_strain(model, name, frames, mesh, (strain, mass))
    }

    fn strain(&self, mesh: &SheetMesh, axes: &[Quaternion]) -> Result<ShellStrain, ContinuumError> {
        self.check()?;
        let count = mesh.nodes.len();
        if let Some(node) = self.clamped.iter().find(|node| **node >= count) {
            return Err(ContinuumError::ClampedNode { node: *node, count });
        }
        ShellStrain::mirrored(mesh, axes, self.warp, self.fold, &self.symmetry)
    }

    fn add_strain(
        &self,
        model: &mut Model,
        name: &str,
        frames: NodeId,
        mesh: &SheetMesh,
        (strain, mass): (ShellStrain, Option<Mass>),
    ) -> Result<ShellParts, ContinuumError> {
        let areas = strain.areas();
        let mass = match mass {
            Some(mass) => Some(model.add_mass(&format!("{name}.mass"), frames, mass)?),
            None => None,
        };
        let strains = model.add_mapped(&format!("{name}.strains"), &[frames], strain)?;
        let law = ShellElastic::new(self.young, self.poisson, self.thickness, &areas)
            .with_drill_factor(self.drill_factor)
            .with_relaxation_time(self.relaxation_time);
        let label = format!("{name}.elasticity");
        let elasticity = model.add_force_field(&label, strains, law, self.treatment)?;
        for node in &self.clamped {
            model.fix(frames, *node, &[true; 6])?;
        }
        Ok(ShellParts {
            frames,
            strains,
            elasticity,
            mass,
            areas,
            cells: SheetCells {
                triangles: Vec::new(),
                quadrangles: mesh.quadrangles.clone(),
            },
            thickness: self.thickness,
        })
    }

    fn mass(&self, strain: &ShellStrain) -> Result<Option<Mass>, ContinuumError> {
        let Some(density) = self.density else {
            return Ok(None);
        };
        let areas = strain.node_areas();
        if let Some(element) = areas.iter().position(|area| *area == 0.0) {
            let reason = "has no mass: it belongs to no element";
            return Err(pliant_model::ModelError::Shape {
                what: "node",
                element,
                reason,
            }
            .into());
        }
        let of = |area: &f64| {
            let inertia = density * self.thickness.powi(3) / 12.0 * area;
            RigidMass::principal(density * self.thickness * area, [inertia; 3])
        };
        Ok(Some(Mass::Rigid(areas.iter().map(of).collect())))
    }

    fn check(&self) -> Result<(), ContinuumError> {
        for (field, value) in [
            (Field::Young, self.young),
            (Field::Thickness, self.thickness),
            (Field::Density, self.density.unwrap_or(1.0)),
            (Field::DrillFactor, self.drill_factor),
        ] {
            check_number(field, value, value > 0.0, "positive")?;
        }
        let (value, bound) = (self.poisson, "above -1 and below 1");
        check_number(Field::Poisson, value, value > -1.0 && value < 1.0, bound)?;
        let d = self.relaxation_time;
        check_number(Field::RelaxationTime, d, d >= 0.0, "zero or more")
    }
}
