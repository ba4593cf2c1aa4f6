//! Solids of finite elements.

use super::{Builder, Result, Skin};
use crate::import::Mesh as FileMesh;
use crate::scene::picture::PointRef;
use crate::scene::schema::{
    IncompressibilitySpec, MassMatrix as MatrixSpec, Solid as Spec, SolidElements, SolidMaterial, SolidShape,
    TreatmentSpec, Triple, YoungSpec,
};
use crate::scene::source::Where;
use crate::scene::{Number, SceneError};
use pliant::continuum::{ContinuumError, Incompressibility, MassMatrix, Mesh, Solid, StrainEnergy};
use pliant::dense::{Vec3, rotation};
use pliant::model::Treatment;

/// Which nodes of a mesh do not move, in the user's words; `key` is that of the boxes.
pub(super) struct Held<'a> {
    pub(super) name: &'a str,
    pub(super) key: &'static str,
    pub(super) fix: &'a [Number],
    pub(super) boxes: &'a [(Triple, Triple)],
    pub(super) groups: &'a [String],
}

/// What a word for a treatment means.
pub(super) fn treatment(spec: TreatmentSpec) -> Treatment {
    match spec {
        TreatmentSpec::Stiffness => Treatment::Stiffness,
        TreatmentSpec::Compliance => Treatment::Compliance,
        TreatmentSpec::Auto => Treatment::Auto,
    }
}

impl Builder<'_> {
    pub(super) fn solid_part(&mut self, spec: &Spec) -> Result<()> {
        let name = spec.name.as_str();
        let field = |key| Where::Field(name, key);
        let (mesh, file) = self.solid_mesh(name, &spec.shape)?;
        let (mut mesh, places) = if spec.repair {
            let (mesh, repair) = mesh.repaired();
            (mesh, Some(repair.node_map))
        } else {
            (mesh, None)
        };
        mesh.check().map_err(|e| self.continuum_error(name, "shape", e))?;
        mesh = match spec.elements {
            SolidElements::AsMade => mesh,
            SolidElements::Tetrahedra => mesh.into_tetrahedra(),
            SolidElements::Quadratic => mesh.into_quadratic(),
            SolidElements::QuadraticTetrahedra => mesh.into_tetrahedra().into_quadratic(),
        };
        let held = Held {
            name,
            key: "fix_boxes",
            fix: &spec.fix,
            boxes: &spec.fix_boxes,
            groups: &spec.fix_groups,
        };
        let fixed = self.held_nodes(&held, &mesh.nodes, file.as_ref(), places.as_deref())?;
        let solid = self.solid_of(spec)?;
        let gradients = pliant::continuum::DeformationGradient::new(&mesh)
            .map_err(|e| self.continuum_error(name, "shape", e))?;
        self.grow(name, mesh.nodes.len() + 2 * gradients.point_count())?;

        let origin = match &spec.position {
            Some(position) => self.triple(position, field("position"))?,
            None => [0.0; 3],
        };
        let turn = self.rotation(name, spec.rotation.as_ref())?;
        let velocity = match &spec.velocity {
            Some(velocity) => self.triple(velocity, field("velocity"))?,
            None => [0.0; 3],
        };
        let place =
            |x: &[f64; 3]| <[f64; 3]>::from(Vec3::from(origin) + rotation::rotate(turn, Vec3::from(*x)));
        mesh.nodes = mesh.nodes.iter().map(place).collect();
        let node = self.add_points(name, &mesh.nodes, &vec![velocity; mesh.nodes.len()])?;
        let parts = solid.add_on(&mut self.model, name, node, &mesh);
        parts.map_err(|e| self.continuum_error(name, "material", e))?;

        let triangles = mesh.surface();
        let mut edges: Vec<[usize; 2]> = triangles
            .iter()
            .flat_map(|[a, b, c]| [[*a, *b], [*b, *c], [*c, *a]])
            .map(|[a, b]| [a.min(b), a.max(b)])
            .collect();
        edges.sort_unstable();
        edges.dedup();
        let at = |v: usize| PointRef::Node(node, v);
        self.picture.triangles.extend(triangles.iter().map(|t| t.map(at)));
        self.skins.insert(node, Skin { edges, triangles });
        if !fixed.is_empty() {
            self.fix_always(node, fixed);
        }
        Ok(())
    }

    /// The mesh in the axes of the shape, and the file that it came from.
    fn solid_mesh(&self, name: &str, shape: &SolidShape) -> Result<(Mesh, Option<FileMesh>)> {
        let field = |key| Where::Field(name, key);
        let cells = |number, key| self.count(number, 1, field(key));
        let length = |number, key| self.positive(number, field(key));
        let made = match shape {
            SolidShape::Box(b) => {
                let [nx, ny, nz] = &b.cells;
                Mesh::hexahedral_box(
                    self.triple(&b.size, field("size"))?,
                    [cells(nx, "cells")?, cells(ny, "cells")?, cells(nz, "cells")?],
                )
            }
            SolidShape::Ball(b) => Mesh::ball(
                length(&b.radius, "radius")?,
                cells(&b.cells, "cells")?,
                cells(&b.layers, "layers")?,
            ),
            SolidShape::Cylinder(c) => Mesh::cylinder(
                length(&c.radius, "radius")?,
                length(&c.length, "length")?,
                cells(&c.cells, "cells")?,
                cells(&c.layers, "layers")?,
                cells(&c.slices, "slices")?,
            ),
            SolidShape::Tube(t) => Mesh::tube(
                [
                    length(&t.inner_radius, "inner_radius")?,
                    length(&t.outer_radius, "outer_radius")?,
                ],
                length(&t.length, "length")?,
                cells(&t.around, "around")?,
                cells(&t.layers, "layers")?,
                cells(&t.slices, "slices")?,
            ),
            SolidShape::File(f) => {
                let file = self.mesh(name, "file", &f.file)?;
                let scale = self.positive(&f.scale, field("scale"))?;
                return Ok((file.solid(scale), Some(file)));
            }
        };
        let mesh = made.map_err(|e| self.continuum_error(name, "shape", e))?;
        Ok((mesh, None))
    }

    fn solid_of(&self, spec: &Spec) -> Result<Solid> {
        let name = spec.name.as_str();
        let number = |value: &Number, key| self.number(value, Where::Field(name, key));
        let moduli = |y: &YoungSpec| Ok((number(&y.young, "young")?, number(&y.poisson, "poisson")?));
        let of = |make: fn(f64, f64) -> Solid, y: &YoungSpec| {
            let (young, poisson) = moduli(y)?;
            Ok(make(young, poisson))
        };
        let solid = match &spec.material {
            SolidMaterial::Linear(y) => of(Solid::linear, y)?,
            SolidMaterial::Corotational(y) => of(Solid::corotational, y)?,
            SolidMaterial::StVenantKirchhoff(y) => of(Solid::st_venant_kirchhoff, y)?,
            SolidMaterial::NeoHookean(y) => {
                of(|e, n| Solid::hyperelastic(StrainEnergy::neo_hookean(e, n)), y)?
            }
            SolidMaterial::StableNeoHookean(y) => of(
                |e, n| Solid::hyperelastic(StrainEnergy::stable_neo_hookean(e, n)),
                y,
            )?,
            SolidMaterial::MooneyRivlin(m) => Solid::hyperelastic(StrainEnergy::MooneyRivlin {
                c1: number(&m.c1, "c1")?,
                c2: number(&m.c2, "c2")?,
                bulk: number(&m.bulk, "bulk")?,
            }),
        };
        let treatment = treatment(spec.treatment.unwrap_or(TreatmentSpec::Stiffness));
        let rows = match spec.incompressibility {
            IncompressibilitySpec::None => Incompressibility::None,
            IncompressibilitySpec::PerElement => Incompressibility::PerElement,
            IncompressibilitySpec::PerNode => Incompressibility::PerNode,
        };
        let matrix = match spec.mass_matrix {
            MatrixSpec::Lumped => MassMatrix::Lumped,
            MatrixSpec::Consistent => MassMatrix::Consistent,
        };
        Ok(solid
            .with_density(self.positive(&spec.density, Where::Field(name, "density"))?)
            .with_mass(matrix)
            .with_treatment(treatment)
            .with_incompressibility(rows)
            .with_relaxation_time(
                self.not_negative(&spec.relaxation_time, Where::Field(name, "relaxation_time"))?,
            ))
    }

    /// Nodes by number, by place and by group.
    pub(super) fn held_nodes(
        &self,
        held: &Held<'_>,
        nodes: &[[f64; 3]],
        file: Option<&FileMesh>,
        places: Option<&[Option<usize>]>,
    ) -> Result<Vec<usize>> {
        let Held { name, key, .. } = *held;
        let mut fixed = Vec::new();
        for node in held.fix {
            fixed.push(self.whole(node, 0, nodes.len() - 1, Where::Field(name, "fix"))?);
        }
        for (least, largest) in held.boxes {
            let at = Where::Field(name, key);
            let (least, largest) = (self.triple(least, at)?, self.triple(largest, at)?);
            let inside = |x: &[f64; 3]| (0..3).all(|k| least[k] <= x[k] && x[k] <= largest[k]);
            let before = fixed.len();
            let found = nodes.iter().enumerate().filter(|(_, x)| inside(x));
            fixed.extend(found.map(|(k, _)| k));
            if fixed.len() == before {
                let message = format!("no node of `{name}` lies in one of its `{key}`");
                let help = "the corners are in the axes of the shape, the least one first".to_owned();
                return self.wrong(&[at, Where::Thing(name)], message, Some(help));
            }
        }
        let empty = FileMesh::default();
        for vertex in self.group_vertices(name, file.unwrap_or(&empty), held.groups)? {
            fixed.extend(places.map_or(Some(vertex), |places| places.get(vertex).copied().flatten()));
        }
        fixed.sort_unstable();
        fixed.dedup();
        Ok(fixed)
    }

    /// A complaint about a solid, a sheet or a rod, at the number that it names.
    pub(super) fn continuum_error(&self, name: &str, key: &str, error: ContinuumError) -> SceneError {
        let what = match &error {
            ContinuumError::Model(error) => return self.model_error(error.clone()),
            ContinuumError::OutOfRange { what, .. } | ContinuumError::NotFinite { what, .. } => *what,
            ContinuumError::Conflict { what, .. } => *what,
            _ => "",
        };
        let field = match what {
            "Young's modulus" => "young",
            "Poisson's ratio" => "poisson",
            "the bulk modulus" => "bulk",
            "a compliance" => "treatment",
            "a relaxation time" => "relaxation_time",
            "volume rows" => "incompressibility",
            "an edge of a box" => "size",
            "the density" => "density",
            "the twist of the rod" => "twist",
            "a stiffness" => "treatment",
            "the thickness" => "thickness",
            "the stretch" | "a stretch" => "stretch",
            "the bending stiffness" => "bending",
            "a clamp" => "clamp_boxes",
            w if w.ends_with("of the section") => "section",
            _ => key,
        };
        let help = matches!(&error, ContinuumError::Mesh { .. }).then(|| {
            "`repair: true` puts elements right that are inside out, and leaves out nodes of no element"
                .to_owned()
        });
        let places = [
            Where::Field(name, field),
            Where::Field(name, key),
            Where::Thing(name),
        ];
        let message = format!("`{name}`: {error}");
        SceneError::Value(Box::new(self.source.about(&places, message, help)))
    }
}
