//! The parts of colliders, and where they are now.

mod speeds;

pub(in crate::world) use speeds::Speeds;

use std::ops::Range;
use std::sync::Arc;

use pliant_dense::{Mat3, Vec3, rotation, vec3};
use pliant_model::{Model, NodeId, Pose};

use crate::bvh::{Aabb, Bvh};
use crate::narrow::plane::HalfSpace;
use crate::narrow::{Cylinder, Part};
use crate::shape::Kind;
use crate::shape::distance_field::DistanceField;
use crate::shape::mesh::{Element, Mesh};
use crate::shape::polytope::{Polytope, triangle_normal};
use crate::surface::Surface;
use crate::{Carrier, Collider, ColliderId, ContactError, Placement};

/// One part of one collider.
#[derive(Clone, Debug)]
pub(super) struct Piece {
    pub(super) collider: ColliderId,
    /// Which part of a compound it is.
    pub(super) part: u32,
    /// In the axes of what moves it.
    offset: Vec3,
    turn: Mat3,
    pub(super) form: Form,
    /// Smallest half width (m): what moves by less cannot pass through it unseen. Infinite for
    /// sheets, which have none.
    thin: f64,
}

#[derive(Clone, Debug)]
pub(super) enum Form {
    HalfSpace(Vec3),
    Convex {
        polytope: Arc<Polytope>,
        radius: f64,
        cylinder: Option<(f64, f64)>,
    },
    Sheet(Arc<Mesh>),
    Field(Arc<DistanceField>),
}

/// The motion of a rigid piece.
#[derive(Clone, Copy, Debug)]
pub(super) struct Motion {
    pub(super) centre: Vec3,
    pub(super) rotation: Mat3,
    pub(super) velocity: Vec3,
    /// World axes.
    pub(super) spin: Vec3,
    /// Whether gravity moves it.
    pub(super) falls: bool,
}

/// Where a piece is.
#[derive(Clone, Debug)]
pub(super) struct Placed {
    pub(super) points: Range<usize>,
    normals: Range<usize>,
    elements: Range<usize>,
    /// All it can reach within the horizon, with its margin.
    pub(super) swept: Aabb,
    pub(super) motion: Motion,
    /// Greatest distance from the centre of mass.
    pub(super) reach: f64,
    /// Greatest half extent.
    pub(super) extent: f64,
    pub(super) margin: f64,
    cylinder: Option<Cylinder>,
    /// Normal and offset of a half space.
    pub(super) plane: HalfSpace,
    tree: usize,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Pieces {
    pub(super) list: Vec<Piece>,
    pub(super) placed: Vec<Placed>,
    pub(super) points: Vec<Vec3>,
    /// Of soft points; zero for others.
    velocities: Vec<Vec3>,
    normals: Vec<Vec3>,
    boxes: Vec<Aabb>,
    trees: Vec<Bvh>,
    /// A point, a segment and a triangle, for the elements of sheets.
    primitives: Vec<Polytope>,
    /// The shape of each element, and what moves each collider.
    pub(super) places: Vec<Placement>,
    /// Change that gravity alone makes to the velocities of bodies over the horizon (m/s), where
    /// these are predictions; zero where they are those of a motion that was found.
    pub(super) fall: Vec3,
    built: bool,
}

/// Whether gravity moves a body: no direction of its place is fixed at the start. One that is held
/// since counts as falling, which calls less apart.
fn falls(model: &Model, node: NodeId, element: usize) -> bool {
    let first = model.node(node).first_dof();
    first.is_none_or(|first| !model.fixed()[first + 6 * element..][..3].contains(&true))
}

/// Whether two places can move against each other.
pub(super) fn apart(a: &Placement, b: &Placement) -> bool {
    match (a, b) {
        (Placement::Fixed(_), Placement::Fixed(_)) => false,
        (
            Placement::Body {
                node: i, element: k, ..
            },
            Placement::Body {
                node: j, element: l, ..
            },
        ) => (i, k) != (j, l),
        _ => true,
    }
}

impl Piece {
    pub(super) fn is_half_space(&self) -> bool {
        matches!(self.form, Form::HalfSpace(_))
    }

    pub(super) fn mesh(&self) -> Option<&Mesh> {
        match &self.form {
            Form::Sheet(mesh) => Some(mesh),
            _ => None,
        }
    }
}

impl Pieces {
    pub(super) fn add(&mut self, id: ColliderId, collider: &Collider) {
        let base = match collider.placement {
            Placement::Fixed(pose) | Placement::Body { pose, .. } => pose,
            Placement::Points(_) => Pose::default(),
        };
        let one = [(Pose::default(), collider.shape.kind.clone())];
        let parts = match &collider.shape.kind {
            Kind::Compound(parts) => &parts[..],
            _ => &one[..],
        };
        for (part, (pose, kind)) in parts.iter().enumerate() {
            let (form, thin) = match kind {
                Kind::HalfSpace(normal) => (Form::HalfSpace(*normal), f64::INFINITY),
                Kind::Convex { polytope, radius } => {
                    let form = Form::Convex {
                        polytope: Arc::clone(polytope),
                        radius: *radius,
                        cylinder: None,
                    };
                    (form, radius + half_width(polytope))
                }
                Kind::Cylinder { half, radius } => {
                    let polytope = Arc::new(Polytope::point());
                    (
                        Form::Convex {
                            polytope,
                            radius: 0.0,
                            cylinder: Some((*half, *radius)),
                        },
                        half.min(*radius),
                    )
                }
                Kind::Mesh(mesh) | Kind::Soft(mesh) => {
                    let thin = if mesh.radius > 0.0 {
                        mesh.radius
                    } else {
                        f64::INFINITY
                    };
                    (Form::Sheet(Arc::clone(mesh)), thin)
                }
                // What a grid tells apart is no thinner than its cells.
                Kind::Field(field) => (Form::Field(Arc::clone(field)), field.grid.fine()),
                Kind::Compound(_) => continue, // flattened when it was made
            };
            let turn = rotation::matrix(base.rotation);
            self.list.push(Piece {
                collider: id,
                part: part as u32,
                offset: Vec3::from(base.position) + turn * Vec3::from(pose.position),
                turn: turn * rotation::matrix(pose.rotation),
                form,
                thin,
            });
        }
        self.places.push(collider.placement);
        self.built = false;
    }

    /// Room for all points, normals and elements.
    fn lay_out(&mut self, colliders: &[Collider]) {
        self.primitives = vec![
            Polytope::point(),
            Polytope::segment(0.0),
            Polytope::triangle([Vec3::zeros(), Vec3::x(), Vec3::y()]),
        ];
        let (mut points, mut normals, mut elements) = (0, 0, 0);
        self.placed.clear();
        self.trees.clear();
        let take = |total: &mut usize, count: usize| {
            *total += count;
            *total - count..*total
        };
        for piece in &self.list {
            let (p, n, e) = match &piece.form {
                Form::HalfSpace(_) | Form::Field(_) => (0, 0, 0),
                Form::Convex { polytope, .. } => (polytope.points.len(), polytope.normals.len(), 0),
                Form::Sheet(mesh) => (
                    mesh.point_count.max(mesh.points.len()),
                    mesh.triangles.len(),
                    mesh.element_count(),
                ),
            };
            if e > 0 {
                self.trees.push(Bvh::default());
            }
            self.placed.push(Placed {
                points: take(&mut points, p),
                normals: take(&mut normals, n),
                elements: take(&mut elements, e),
                swept: Aabb::EMPTY,
                motion: Motion {
                    centre: Vec3::zeros(),
                    rotation: Mat3::identity(),
                    velocity: Vec3::zeros(),
                    spin: Vec3::zeros(),
                    falls: false,
                },
                reach: 0.0,
                extent: 0.0,
                margin: colliders[piece.collider.index()].margin,
                cylinder: None,
                plane: HalfSpace {
                    normal: Vec3::z(),
                    offset: 0.0,
                },
                tree: self.trees.len().wrapping_sub(1),
            });
        }
        self.points = vec![Vec3::zeros(); points];
        self.velocities = vec![Vec3::zeros(); points];
        self.normals = vec![Vec3::zeros(); normals];
        self.boxes = vec![Aabb::EMPTY; elements];
    }

    /// Puts everything where it is in a state.
    pub(super) fn place(
        &mut self,
        colliders: &[Collider],
        model: &Model,
        positions: &[f64],
        velocities: &[f64],
        horizon: f64,
    ) -> Result<(), ContactError> {
        for collider in colliders {
            collider.check_in(model)?;
        }
        let fresh = !self.built;
        if fresh {
            self.lay_out(colliders);
            self.built = true;
        }
        for k in 0..self.list.len() {
            let collider = &colliders[self.list[k].collider.index()];
            let bad = |what| ContactError::State {
                name: collider.name.clone(),
                what,
            };
            let range = |node: NodeId| {
                let node = model.node(node);
                let x = positions
                    .get(node.position_range())
                    .ok_or_else(|| bad("positions"))?;
                let v = velocities
                    .get(node.velocity_range())
                    .ok_or_else(|| bad("velocities"))?;
                Ok::<_, ContactError>((x, v))
            };
            let finite = |x: &[f64], what| {
                if x.iter().all(|x| x.is_finite()) {
                    Ok(())
                } else {
                    Err(bad(what))
                }
            };
            match collider.placement {
                // Half spaces are cheap, and all else that is fixed stays where it was put.
                Placement::Fixed(_) if !fresh => continue,
                Placement::Fixed(_) => {}
                Placement::Body { node, element, .. } => {
                    let (x, v) = range(node)?;
                    let (x, v) = (&x[7 * element..7 * element + 7], &v[6 * element..6 * element + 6]);
                    finite(x, "positions")?;
                    finite(v, "velocities")?;
                    let q =
                        rotation::normalize([x[3], x[4], x[5], x[6]]).ok_or_else(|| bad("orientations"))?;
                    let rotation = rotation::matrix(q);
                    self.placed[k].motion = Motion {
                        centre: vec3(x, 0),
                        rotation,
                        velocity: vec3(v, 0),
                        spin: rotation * vec3(v, 3),
                        falls: falls(model, node, element),
                    };
                }
                Placement::Points(node) => {
                    let (x, v) = range(node)?;
                    let at = self.placed[k].points.clone();
                    let mesh = self.list[k].mesh();
                    for element in 0..mesh.map_or(0, Mesh::element_count) {
                        for &p in mesh.map_or(&[][..], |mesh| mesh.corners(element)) {
                            let i = p as usize;
                            finite(&x[3 * i..3 * i + 3], "positions")?;
                            finite(&v[3 * i..3 * i + 3], "velocities")?;
                            self.points[at.start + i] = vec3(x, 3 * i);
                            self.velocities[at.start + i] = vec3(v, 3 * i);
                        }
                    }
                }
            }
            self.place_piece(k, horizon, fresh);
        }
        Ok(())
    }

    fn place_piece(&mut self, k: usize, horizon: f64, fresh: bool) {
        let piece = &self.list[k];
        let placed = &mut self.placed[k];
        let Motion {
            centre,
            rotation,
            velocity,
            spin,
            ..
        } = placed.motion;
        let rigid = !matches!(self.places[piece.collider.index()], Placement::Points(_));
        let (offset, turn) = (centre + rotation * piece.offset, rotation * piece.turn);
        let points = &mut self.points[placed.points.clone()];
        let normals = &mut self.normals[placed.normals.clone()];
        let mut radius = 0.0;
        match &piece.form {
            Form::HalfSpace(normal) => {
                let n = turn * normal;
                placed.plane = HalfSpace {
                    normal: n,
                    offset: n.dot(&offset),
                };
                return;
            }
            Form::Convex {
                polytope,
                radius: round,
                cylinder,
            } => {
                radius = *round;
                points
                    .iter_mut()
                    .zip(&polytope.points)
                    .for_each(|(p, local)| *p = offset + turn * local);
                normals
                    .iter_mut()
                    .zip(&polytope.normals)
                    .for_each(|(n, local)| *n = turn * local);
                placed.cylinder = cylinder.map(|(half, radius)| Cylinder {
                    axis: turn.column(2).into(),
                    side: turn.column(0).into(),
                    other: turn.column(1).into(),
                    half,
                    radius,
                });
            }
            Form::Field(field) => {
                let whole = field.bounds.placed(offset, turn);
                let farthest = whole.farthest(centre);
                placed.reach = farthest;
                let turning = (spin.norm() * horizon).min(2.0) * farthest;
                placed.swept = whole.swept(velocity * horizon).grown(placed.margin + turning);
                placed.extent = (field.bounds.high - field.bounds.low).amax() / 2.0;
                return;
            }
            Form::Sheet(mesh) => {
                if rigid {
                    points
                        .iter_mut()
                        .zip(&mesh.points)
                        .for_each(|(p, local)| *p = offset + turn * local);
                }
                for (n, t) in normals.iter_mut().zip(&mesh.triangles) {
                    *n = triangle_normal(t.map(|i| points[i as usize]));
                }
            }
        }
        let extra = placed
            .cylinder
            .map_or(0.0, |cylinder| cylinder.half.hypot(cylinder.radius));
        let reach = |p: &Vec3| (p - centre).norm() + radius + extra;
        placed.reach = if rigid {
            points.iter().map(reach).fold(0.0, f64::max)
        } else {
            0.0
        };
        // What turning can add to the translation: at most the arc, at most across.
        let turning = (spin.norm() * horizon).min(2.0) * placed.reach;
        let mut whole = Aabb::EMPTY;
        if let Form::Sheet(mesh) = &piece.form {
            let boxes = &mut self.boxes[placed.elements.clone()];
            let soft = &self.velocities[placed.points.clone()];
            for (element, bounds) in boxes.iter_mut().enumerate() {
                let corners = mesh.corners(element).iter();
                let here = Aabb::of(corners.clone().map(|&p| points[p as usize]));
                whole = whole.join(here);
                let grown = mesh.radius + placed.margin + turning;
                *bounds = if rigid {
                    here.swept(velocity * horizon).grown(grown)
                } else {
                    let there = Aabb::of(corners.map(|&p| points[p as usize] + soft[p as usize] * horizon));
                    here.join(there).grown(grown)
                };
            }
            placed.swept = boxes.iter().fold(Aabb::EMPTY, |a, b| a.join(*b));
            let tree = &mut self.trees[placed.tree];
            if fresh {
                tree.build(boxes);
            } else {
                tree.refit(boxes);
            }
        } else {
            whole = match &placed.cylinder {
                None => Aabb::of(points.iter().copied()).grown(radius),
                Some(cylinder) => {
                    let half = Vec3::from_fn(|k, _| {
                        cylinder.half * cylinder.axis[k].abs()
                            + cylinder.radius * (1.0 - cylinder.axis[k].powi(2)).max(0.0).sqrt()
                    });
                    Aabb {
                        low: points[0] - half,
                        high: points[0] + half,
                    }
                }
            };
            placed.swept = whole.swept(velocity * horizon).grown(placed.margin + turning);
        }
        placed.extent = (whole.high - whole.low).amax() / 2.0;
    }

    /// Whether a piece can come near a half space.
    pub(super) fn reaches(&self, plane: usize, piece: usize) -> bool {
        let (half_space, placed) = (&self.placed[plane], &self.placed[piece]);
        let HalfSpace { normal: n, offset } = half_space.plane;
        let Aabb { low, high } = placed.swept;
        let lowest: f64 = (0..3).map(|k| (n[k] * low[k]).min(n[k] * high[k])).sum();
        // A half space that moves is taken to reach everything.
        let still = half_space.motion.velocity == Vec3::zeros() && half_space.motion.spin == Vec3::zeros();
        !still || lowest <= offset + half_space.margin
    }

    /// A convex piece.
    pub(super) fn part(&self, k: usize) -> Option<Part<'_>> {
        let Form::Convex { polytope, radius, .. } = &self.list[k].form else {
            return None;
        };
        let placed = &self.placed[k];
        Some(Part {
            shape: polytope,
            points: &self.points[placed.points.clone()],
            normals: &self.normals[placed.normals.clone()],
            radius: *radius,
            cylinder: placed.cylinder,
            of: None,
        })
    }

    /// A piece that is a distance field.
    pub(super) fn field(&self, k: usize) -> Option<&DistanceField> {
        match &self.list[k].form {
            Form::Field(field) => Some(field),
            _ => None,
        }
    }

    /// The origin of the axes of a rigid piece, and these as the columns of a rotation.
    pub(super) fn frame(&self, k: usize) -> (Vec3, Mat3) {
        let (m, piece) = (&self.placed[k].motion, &self.list[k]);
        (m.centre + m.rotation * piece.offset, m.rotation * piece.turn)
    }

    /// A sheet piece.
    pub(super) fn surface(&self, k: usize) -> Option<Surface<'_>> {
        let mesh = self.list[k].mesh()?;
        let placed = &self.placed[k];
        Some(Surface {
            mesh,
            points: &self.points[placed.points.clone()],
            normals: &self.normals[placed.normals.clone()],
            ahead: None,
        })
    }

    /// A soft sheet at a time from now.
    pub(super) fn surface_ahead(&self, k: usize, time: f64) -> Option<Surface<'_>> {
        let velocities = &self.velocities[self.placed[k].points.clone()];
        let ahead = Some((velocities, time));
        self.surface(k).map(|now| Surface { ahead, ..now })
    }

    /// Point, segment or triangle.
    pub(super) fn primitive(&self, element: Element) -> &Polytope {
        &self.primitives[match element {
            Element::Point(_) => 0,
            Element::Segment(_) => 1,
            Element::Triangle(_) => 2,
        }]
    }

    /// The boxes of the elements of a sheet, and their tree.
    pub(super) fn elements(&self, k: usize) -> (&[Aabb], &Bvh) {
        let placed = &self.placed[k];
        (&self.boxes[placed.elements.clone()], &self.trees[placed.tree])
    }

    pub(super) fn is_soft(&self, k: usize) -> bool {
        matches!(self.places[self.list[k].collider.index()], Placement::Points(_))
    }

    /// A bound of the speed of the points of an element of a sheet.
    pub(super) fn fastest(&self, k: usize, element: usize) -> f64 {
        let corners = self.list[k].mesh().map_or(&[][..], |mesh| mesh.corners(element));
        let soft = corners.iter().map(|&p| self.soft_velocity(k, p).norm());
        soft.fold(self.rigid_speed(k), f64::max)
    }

    /// A bound of the speed of the points of a rigid piece (m/s).
    pub(super) fn rigid_speed(&self, k: usize) -> f64 {
        let placed = &self.placed[k];
        placed.motion.velocity.norm() + placed.motion.spin.norm() * placed.reach
    }

    /// The velocity of a point of a soft piece.
    pub(super) fn soft_velocity(&self, k: usize, point: u32) -> Vec3 {
        self.velocities[self.placed[k].points.start + point as usize]
    }

    /// The extent of the smaller of two pieces that have one; of a ball, its radius.
    pub(super) fn smaller(&self, i: usize, j: usize) -> f64 {
        let extents = [i, j].map(|k| {
            if self.list[k].is_half_space() {
                f64::INFINITY
            } else {
                self.placed[k].extent
            }
        });
        extents[0].min(extents[1])
    }

    pub(super) fn thin(&self, k: usize) -> f64 {
        self.list[k].thin
    }

    /// The velocity of what carries a point of a piece.
    pub(super) fn velocity(&self, k: usize, carrier: &Carrier, point: Vec3) -> Vec3 {
        match carrier {
            Carrier::Fixed => Vec3::zeros(),
            Carrier::Body { .. } => {
                let m = &self.placed[k].motion;
                m.velocity + m.spin.cross(&(point - m.centre))
            }
            Carrier::Points {
                count,
                elements,
                weights,
                ..
            } => (0..*count)
                .map(|i| self.soft_velocity(k, elements[i] as u32) * weights[i])
                .sum(),
        }
    }
}

/// Half of the least distance between a face and the corner farthest behind it; zero without faces.
fn half_width(polytope: &Polytope) -> f64 {
    let width = |(face, n): (&Vec<u32>, &Vec3)| {
        let top = polytope.points[face[0] as usize].dot(n);
        polytope.points.iter().map(|p| top - p.dot(n)).fold(0.0, f64::max)
    };
    let least = polytope
        .faces
        .iter()
        .zip(&polytope.normals)
        .map(width)
        .fold(f64::INFINITY, f64::min);
    if least.is_finite() { least / 2.0 } else { 0.0 }
}
