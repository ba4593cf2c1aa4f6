//! A random graph with everything attached to it.

use pliant_model::dual::{Dual, DualNum};
use pliant_model::{
    Affine, AffineEntry, Area, Barycentric, BeamSegment, BeamStrain, ComponentId, Coordinate, CoupledMass,
    Damping, Dependency, DiagonalCompliance, Difference, DihedralAngle, Distance, Drag, End, FullCompliance,
    Influence, JointAxis, JointCoordinates, JointFrame, Level, Mass, Model, NodeId, Pose, Potential, Problem,
    Quadratic, Rayleigh, RelativeRotation, RigidFrames, RigidMass, RigidPoints, Rope, RopePath, Skinning,
    Space, Spring, Treatment, UniformCompliance,
};

/// The law of a row block, as numbers.
pub(super) enum Rows {
    Viscous(f64),
    Diagonal(Vec<f64>, f64),
    Full(Vec<f64>, Vec<f64>, f64),
    Saturating(f64, f64, f64),
}

pub(super) struct Build {
    pub(super) model: Problem,
    pub(super) rows: Vec<(ComponentId, Rows)>,
    /// A component that is given a weight of its own.
    pub(super) own_alpha: ComponentId,
}

/// Deterministic numbers between -1 and 1.
pub(super) fn numbers(seed: u64, count: usize) -> Vec<f64> {
    let mut random = Random(seed.wrapping_mul(0x2545_F491_4F6C_DD1D) | 1);
    (0..16).for_each(|_| drop(random.vector(1)));
    random.vector(count)
}

pub(super) struct Random(u64);

impl Random {
    pub(super) fn new(seed: u64) -> Self {
        let mut random = Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
        random.vector(16);
        random
    }

    fn number(&mut self) -> f64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }

    pub(super) fn vector(&mut self, count: usize) -> Vec<f64> {
        (0..count).map(|_| self.number()).collect()
    }

    fn point(&mut self, scale: f64) -> [f64; 3] {
        [0; 3].map(|_| scale * self.number())
    }

    fn below(&mut self, count: usize) -> usize {
        ((self.number() + 1.0) * 0.5 * count as f64) as usize % count
    }

    fn pose(&mut self, scale: f64) -> Pose {
        let axis = [self.number(), self.number(), 1.5 + self.number()];
        Pose::turned(self.point(scale), axis, 0.6 * self.number())
    }

    pub(super) fn definite(&mut self, n: usize, diagonal: f64) -> Vec<f64> {
        let a = self.vector(n * n);
        (0..n * n)
            .map(|k| {
                let (i, j) = (k / n, k % n);
                let sum: f64 = (0..n).map(|l| a[i * n + l] * a[j * n + l]).sum();
                sum + if i == j { diagonal } else { 0.0 }
            })
            .collect()
    }

    fn rigid(&mut self) -> RigidMass {
        let [x, y, z] = self.point(0.1);
        let mut mass = RigidMass::principal(1.5 + self.number(), [0.3, 0.4, 0.5]);
        let off = [[0.0, x, y], [x, 0.0, z], [y, z, 0.0]];
        for i in 0..3 {
            for j in 0..3 {
                mass.inertia[i][j] += 0.5 * off[i][j];
            }
        }
        mass
    }

    fn coupled(&mut self, elements: &[usize]) -> CoupledMass {
        CoupledMass {
            elements: elements.to_vec(),
            matrix: self.definite(elements.len(), 0.2),
        }
    }
}

struct Nodes {
    points: NodeId,
    scalars: NodeId,
    bodies: NodeId,
    carried: NodeId,
    frames: NodeId,
    skin: NodeId,
    inside: NodeId,
    rope: NodeId,
}

pub(super) fn build(seed: u64) -> Build {
    build_with(seed, true)
}

/// Builds the graph, if wanted with nets that do not say what they are.
pub(super) fn build_with(seed: u64, says_so: bool) -> Build {
    let mut random = Random::new(seed);
    let mut m = Model::new();
    m.set_gravity([0.3, -9.81, 0.5]).unwrap();
    let rayleigh = Rayleigh {
        mass: 0.3,
        stiffness: 0.004,
    };
    m.set_rayleigh(rayleigh).unwrap();
    let nodes = add_nodes(&mut m, &mut random);
    add_masses(&mut m, &mut random, &nodes);
    let own_alpha = add_forces(&mut m, &mut random, &nodes);
    let rows = add_rows(&mut m, &mut random, &nodes);
    super::nets::add(&mut m, nodes.points, seed, says_so);
    Build {
        model: Problem::new(m),
        rows,
        own_alpha,
    }
}

fn add_nodes(m: &mut Model, random: &mut Random) -> Nodes {
    // Eight particles, three scalars, four bodies.
    let (x, v) = (random.vector(24), random.vector(24));
    let points = m.add_independent("points", Space::Real(3), &x, &v).unwrap();
    let (x, v) = (random.vector(3), random.vector(3));
    let scalars = m.add_independent("scalars", Space::Real(1), &x, &v).unwrap();
    let poses: Vec<Pose> = (0..4).map(|_| random.pose(1.0)).collect();
    let bodies = m.add_rigid_bodies("bodies", &poses).unwrap();
    for e in 0..4 {
        let (linear, angular) = (random.point(1.0), random.point(1.0));
        m.set_body_velocity(bodies, e, linear, angular).unwrap();
    }
    let list: Vec<_> = (0..5).map(|_| (random.below(4), random.point(0.5))).collect();
    let carried = m
        .add_mapped("carried", &[bodies], RigidPoints::new(&list))
        .unwrap();
    let list: Vec<_> = (0..3).map(|e| (e, random.pose(0.4))).collect();
    let frames = m
        .add_mapped("frames", &[bodies], RigidFrames::new(&list))
        .unwrap();
    let influences: Vec<Vec<Influence>> = (0..3)
        .map(|e| {
            let on = [Dependency::new(0, e), Dependency::new(1, random.below(4))];
            on.iter()
                .map(|on| Influence {
                    on: *on,
                    weight: 1.2 + random.number(),
                    local: random.point(0.5),
                })
                .collect()
        })
        .collect();
    let skin = m
        .add_mapped("skin", &[frames, bodies], Skinning::new(&influences))
        .unwrap();
    // Three deep, three parents.
    let weights: Vec<Vec<(Dependency, f64)>> = (0..4)
        .map(|e| {
            let list = [
                Dependency::new(0, e),
                Dependency::new(0, 4 + random.below(4)),
                Dependency::new(1, random.below(5)),
                Dependency::new(2, random.below(3)),
            ];
            let w = random.vector(3);
            let last = 1.0 - w.iter().sum::<f64>();
            list.iter().copied().zip([w[0], w[1], w[2], last]).collect()
        })
        .collect();
    let inside = m
        .add_mapped("inside", &[points, carried, skin], Barycentric::new(&weights))
        .unwrap();
    let path = |random: &mut Random, e: usize| {
        let ends = [
            End::element(0, random.below(8)),
            End::element(1, e),
            End::Point([2.0, -1.0, 0.5]),
            End::element(2, random.below(5)),
        ];
        RopePath::through(&ends, 1.0 + random.number())
            .with_drum(Coordinate::new(3, e, 0), 0.3 + 0.1 * random.number())
    };
    let paths = [path(random, 0), path(random, 1)];
    let rope = m
        .add_mapped("rope", &[points, inside, carried, scalars], Rope::new(&paths))
        .unwrap();
    Nodes {
        points,
        scalars,
        bodies,
        carried,
        frames,
        skin,
        inside,
        rope,
    }
}

fn add_masses(m: &mut Model, random: &mut Random, nodes: &Nodes) {
    m.add_mass("dust", nodes.points, Mass::Uniform(0.5)).unwrap();
    let coupled = vec![random.coupled(&[0, 3, 5]), random.coupled(&[7, 0])];
    m.add_mass("cloth", nodes.points, Mass::Coupled(coupled)).unwrap();
    m.add_mass(
        "generalised",
        nodes.scalars,
        Mass::PerElement(vec![0.4, 0.7, 0.9]),
    )
    .unwrap();
    let rigid: Vec<_> = (0..4).map(|_| random.rigid()).collect();
    m.add_mass("solids", nodes.bodies, Mass::Rigid(rigid)).unwrap();
    let rigid: Vec<_> = (0..3).map(|_| random.rigid()).collect();
    m.add_mass("riders", nodes.frames, Mass::Rigid(rigid)).unwrap();
    let coupled = vec![random.coupled(&[0, 1, 2, 3]), random.coupled(&[2, 1])];
    m.add_mass("filling", nodes.inside, Mass::Coupled(coupled))
        .unwrap();
    m.add_mass("hide", nodes.skin, Mass::PerElement(vec![0.2, 0.3, 0.1]))
        .unwrap();
    m.add_mass("rope mass", nodes.rope, Mass::Uniform(0.3)).unwrap();
}

fn add_forces(m: &mut Model, random: &mut Random, nodes: &Nodes) -> ComponentId {
    let soft = Treatment::Stiffness;
    m.add_force_field(
        "tendons",
        nodes.rope,
        Spring::stiffening(20.0, 5.0).with_damping(0.3),
        soft,
    )
    .unwrap();
    let law = FullCompliance::from_stiffness(&random.definite(6, 3.0))
        .with_damping(&random.definite(6, 0.1))
        .over_groups(&[vec![3, 1], vec![0, 2]]);
    let own = m.add_force_field("pairs", nodes.inside, law, soft).unwrap();
    let law = FullCompliance::from_stiffness(&random.definite(15, 3.0))
        .with_relaxation_time(0.02)
        .over_elements(5);
    m.add_force_field("all", nodes.carried, law, soft).unwrap();
    m.add_force_field("air", nodes.points, Drag::new(0.4, 0.1), soft)
        .unwrap();
    m.add_force_field("oil", nodes.bodies, Damping::new(0.2).with_angular(0.3), soft)
        .unwrap();
    let law = |x: &[Dual]| (x[0] * x[4] - x[2] * 2.0).powi(2) * 3.0 + (x[1] - x[5]).sin();
    let law = Potential::new(law).over_groups(&[vec![1, 6], vec![6, 2]]);
    m.add_force_field("formula", nodes.points, law, soft).unwrap();
    // Of bodies: seven numbers each, over their velocity coordinates.
    let law = |x: &[Dual]| (x[0] - x[7] + x[4] * x[12]).powi(2) * 4.0 + x[3] * x[11] * 2.0;
    let law = Potential::new(law).over_groups(&[vec![0, 2], vec![3, 1]]);
    m.add_force_field("body formula", nodes.bodies, law, soft)
        .unwrap();
    let law = |x: &[Dual]| (x[1] * x[5] + x[0]).powi(2) * 2.0;
    m.add_force_field("frame formula", nodes.frames, Potential::new(law), soft)
        .unwrap();
    let energy = Quadratic::new(3, &[0, 2]).with_factors(&[2.0, 5.0]);
    let energy = m.add_mapped("energy", &[nodes.inside], energy).unwrap();
    m.add_force_field("of energies", energy, Spring::linear(0.5), soft)
        .unwrap();
    let turn = m
        .add_mapped("turn", &[nodes.frames], RelativeRotation::new(&[(0, 1), (2, 0)]))
        .unwrap();
    m.add_force_field("angular", turn, UniformCompliance::new(0.2), soft)
        .unwrap();
    own
}

fn add_rows(m: &mut Model, random: &mut Random, nodes: &Nodes) -> Vec<(ComponentId, Rows)> {
    let mut rows = Vec::new();
    let row = Treatment::Compliance;
    // Frames of frames against bodies, the world among them.
    let frame = |random: &mut Random, parent, e| JointFrame::on(parent, e, random.pose(0.3));
    let pairs = [
        (frame(random, 0, 0), frame(random, 1, 3)),
        (JointFrame::world(random.pose(0.3)), frame(random, 0, 2)),
    ];
    let all = [
        JointAxis::Translation(0),
        JointAxis::Translation(2),
        JointAxis::Rotation(1),
        JointAxis::Misalignment(0, 2),
        JointAxis::Twist(2),
    ];
    let joints = JointCoordinates::of_pairs(&pairs, &all);
    let joints = m
        .add_mapped("joints", &[nodes.frames, nodes.bodies], joints)
        .unwrap();
    let (c, d) = (random.definite(10, 0.2), random.definite(10, 0.3));
    let law = FullCompliance::from_compliance(&c)
        .with_damping(&d)
        .with_relaxation_time(0.03)
        .over_elements(2);
    let id = m.add_force_field("bushing", joints, law, row).unwrap();
    rows.push((id, Rows::Full(c, d, 0.03)));

    let triangles = [
        [
            End::element(0, random.below(8)),
            End::element(1, 0),
            End::element(2, 1),
        ],
        [
            End::element(2, 0),
            End::element(1, 2),
            End::Point([1.0, 1.0, -1.0]),
        ],
    ];
    let area = m
        .add_mapped(
            "area",
            &[nodes.points, nodes.inside, nodes.skin],
            Area::new(&triangles),
        )
        .unwrap();
    m.add_constraint("areas", area, Level::Baumgarte { rate: 3.0 })
        .unwrap();
    let hinges = [[
        End::element(0, 0),
        End::element(0, 1),
        End::element(1, 2),
        End::element(1, 4),
    ]];
    let hinge = m
        .add_mapped(
            "hinge",
            &[nodes.points, nodes.carried],
            DihedralAngle::new(&hinges),
        )
        .unwrap();
    let law = Spring::saturating(8.0, 2.0).with_damping(0.4);
    let id = m.add_force_field("bending", hinge, law, row).unwrap();
    rows.push((id, Rows::Saturating(8.0, 2.0, 0.4)));

    let segments = [
        BeamSegment::straight(frame(random, 0, 1), frame(random, 1, 3), 0.8),
        BeamSegment::straight(frame(random, 1, 0), frame(random, 1, 2), 1.1),
    ];
    let strain = m
        .add_mapped(
            "strain",
            &[nodes.frames, nodes.bodies],
            BeamStrain::new(&segments),
        )
        .unwrap();
    let c = random.definite(6, 0.1);
    let law = FullCompliance::from_compliance(&c);
    let id = m.add_force_field("beam", strain, law, row).unwrap();
    rows.push((id, Rows::Full(c, vec![0.0; 36], 0.0)));

    let ends = [
        (End::element(0, 3), End::element(1, 1)),
        (End::element(1, 0), End::element(2, 6)),
        (End::element(2, 2), End::element(2, 3)),
    ];
    let gaps = m
        .add_mapped(
            "gaps",
            &[nodes.inside, nodes.skin, nodes.points],
            Difference::new(&ends),
        )
        .unwrap();
    let (c, d) = (random.definite(6, 0.05), random.definite(6, 0.3));
    let list: Vec<f64> = (0..9)
        .map(|k| if k == 4 { 0.0 } else { 0.01 * f64::from(k + 1) })
        .collect();
    let law = DiagonalCompliance::new(&list).with_relaxation_time(0.01);
    let id = m.add_force_field("partly hard", gaps, law, row).unwrap();
    rows.push((id, Rows::Diagonal(list, 0.01)));
    let id = m
        .add_force_field("dashpots", gaps, Damping::new(0.7), row)
        .unwrap();
    rows.push((id, Rows::Viscous(0.7)));
    m.add_constraint("speeds", gaps, Level::Velocity { curvature: 0.5 })
        .unwrap();

    let entry = |element, coordinate, parent, e, c, value| AffineEntry {
        element,
        coordinate,
        from: Dependency::new(parent, e),
        from_coordinate: c,
        value,
    };
    let entries = [
        entry(0, 0, 0, 2, 0, 0.5),
        entry(0, 1, 1, 0, 0, -2.0),
        entry(1, 0, 2, 3, 1, 1.5),
        entry(1, 2, 0, 0, 0, 1.0),
        entry(1, 1, 2, 1, 2, 0.7),
    ];
    let mixed = Affine::new(3, &[0.1, 0.2, 0.3, -0.1, 0.0, 0.4], &entries);
    let mixed = m
        .add_mapped("mixed", &[nodes.scalars, nodes.rope, nodes.inside], mixed)
        .unwrap();
    let law = FullCompliance::from_compliance(&c)
        .with_damping(&d)
        .over_elements(2);
    let id = m.add_force_field("network", mixed, law, row).unwrap();
    rows.push((id, Rows::Full(c, d, 0.0)));
    let pairs = [
        (End::element(0, 0), End::element(1, 2)),
        (End::element(0, 1), End::element(1, 0)),
    ];
    let lengths = Distance::new(&pairs).with_rest_lengths(&[0.5, 0.7]);
    let lengths = m.add_mapped("lengths", &[mixed, nodes.skin], lengths).unwrap();
    m.add_constraint("rods", lengths, Level::Position).unwrap();
    rows
}
