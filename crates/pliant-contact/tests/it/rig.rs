//! Scenes of bodies with one collider each.

use pliant_contact::{Collider, Contact, MeshKind, Placement, Shape, World};
use pliant_model::{Model, NodeId, Pose, State};

/// The corners of a box.
pub(crate) fn crate_points(half: [f64; 3]) -> Vec<[f64; 3]> {
    let corner = |k: usize| {
        [0, 1, 2].map(|axis| {
            if k >> axis & 1 == 1 {
                half[axis]
            } else {
                -half[axis]
            }
        })
    };
    (0..8).map(corner).collect()
}

/// The triangles of a box.
pub(crate) fn crate_triangles() -> Vec<[usize; 3]> {
    let quads = [
        [0, 4, 6, 2],
        [1, 3, 7, 5],
        [0, 1, 5, 4],
        [2, 6, 7, 3],
        [0, 2, 3, 1],
        [4, 5, 7, 6],
    ];
    quads
        .iter()
        .flat_map(|q| [[q[0], q[1], q[2]], [q[0], q[2], q[3]]])
        .collect()
}

/// A closed box of triangles.
pub(crate) fn crate_mesh(half: [f64; 3], kind: MeshKind) -> Shape {
    Shape::triangle_mesh(&crate_points(half), &crate_triangles(), kind).unwrap()
}

/// A body for each shape, all in one node.
pub(crate) struct Rig {
    pub(crate) model: Model,
    pub(crate) world: World,
    pub(crate) state: State,
    pub(crate) bodies: NodeId,
}

impl Rig {
    pub(crate) fn new(parts: &[(Shape, Pose)]) -> Self {
        let mut model = Model::new();
        let poses: Vec<Pose> = parts.iter().map(|p| p.1).collect();
        let bodies = model.add_rigid_bodies("bodies", &poses).unwrap();
        let mut world = World::new();
        for (element, (shape, _)) in parts.iter().enumerate() {
            let place = Placement::Body {
                node: bodies,
                element,
                pose: Pose::default(),
            };
            world
                .add(Collider::new(&format!("body {element}"), shape.clone(), place))
                .unwrap();
        }
        let state = model.initial_state().unwrap();
        Self {
            model,
            world,
            state,
            bodies,
        }
    }

    /// With a fixed collider, added last.
    pub(crate) fn fixed(mut self, name: &str, shape: Shape) -> Self {
        self.world
            .add(Collider::new(name, shape, Placement::Fixed(Pose::default())))
            .unwrap();
        self
    }

    pub(crate) fn contacts(&mut self, horizon: f64) -> Vec<Contact> {
        self.world
            .update(
                &self.model,
                &self.state.positions,
                &self.state.velocities,
                horizon,
            )
            .unwrap()
            .to_vec()
    }

    /// Moves all bodies along their velocities.
    pub(crate) fn advance(&mut self, h: f64) {
        let node = self.model.node(self.bodies);
        let step: Vec<f64> = self.state.velocities[node.velocity_range()]
            .iter()
            .map(|v| v * h)
            .collect();
        node.space
            .retract(&mut self.state.positions[node.position_range()], &step);
    }
}

/// A soft thing over points of a node, collider 0, and a ball; velocities of the points come first
/// in the state.
pub(crate) fn soft_and_ball(
    soft: Shape,
    points: &[[f64; 3]],
    radius: f64,
    centre: [f64; 3],
) -> (Model, World, State) {
    let mut model = Model::new();
    let node = model.add_particles("points", points).unwrap();
    let ball = model.add_rigid_bodies("ball", &[Pose::at(centre)]).unwrap();
    let mut world = World::new();
    world
        .add(Collider::new("soft", soft, Placement::Points(node)))
        .unwrap();
    let place = Placement::Body {
        node: ball,
        element: 0,
        pose: Pose::default(),
    };
    world
        .add(Collider::new("ball", Shape::ball(radius).unwrap(), place))
        .unwrap();
    let state = model.initial_state().unwrap();
    (model, world, state)
}

/// The contacts of two bodies with a wide margin, near or not.
pub(crate) fn touch(a: (Shape, Pose), b: (Shape, Pose), margin: f64) -> Vec<Contact> {
    let mut model = Model::new();
    let bodies = model.add_rigid_bodies("bodies", &[a.1, b.1]).unwrap();
    let mut world = World::new();
    for (element, shape) in [a.0, b.0].into_iter().enumerate() {
        let place = Placement::Body {
            node: bodies,
            element,
            pose: Pose::default(),
        };
        let collider = Collider::new(&format!("body {element}"), shape, place);
        world.add(collider.with_margin(margin / 2.0)).unwrap();
    }
    let state = model.initial_state().unwrap();
    world
        .update(&model, &state.positions, &state.velocities, 0.0)
        .unwrap()
        .to_vec()
}

pub(crate) fn least_gap(contacts: &[Contact]) -> f64 {
    contacts.iter().map(|c| c.gap).fold(f64::INFINITY, f64::min)
}

pub(crate) fn distance(a: [f64; 3], b: [f64; 3]) -> f64 {
    (0..3).map(|k| (a[k] - b[k]).powi(2)).sum::<f64>().sqrt()
}

/// Numbers in [0, 1) that are the same every time.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> f64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }

    pub(crate) fn vector(&mut self, scale: f64) -> [f64; 3] {
        [(); 3].map(|()| (self.next() - 0.5) * 2.0 * scale)
    }

    pub(crate) fn pose(&mut self, scale: f64) -> Pose {
        Pose::turned(self.vector(scale), self.vector(1.0), self.next() * 3.0)
    }
}

/// Whether the points lie on one line along the normal, so that equal and opposite forces at them
/// have no torque.
pub(crate) fn aligned(c: &Contact) -> bool {
    (0..3).all(|k| (c.b.point[k] - c.a.point[k] - c.gap * c.normal[k]).abs() < 1e-12)
}
