//! The geometric stiffness of loaded joints of every kind is in the response matrix.

use pliant_kkt::{Assembler, GeometricStiffness, GeometricTerms, Scheme, StepInput};
use pliant_model::{
    Evaluation, Joint, JointKind, Mass, Model, NodeId, Pose, Problem, RigidMass, Side, State,
};

const KINDS: [JointKind; 16] = [
    JointKind::Fixed,
    JointKind::Hinge,
    JointKind::Slider,
    JointKind::Cylindrical,
    JointKind::Universal,
    JointKind::SkewedUniversal { skew: -0.3 },
    JointKind::Ellipsoid {
        semi_axes: [0.3, 0.2, 0.4],
    },
    JointKind::GimbalXyz,
    JointKind::GimbalXzy,
    JointKind::Ball,
    JointKind::Planar,
    JointKind::Screw { pitch: 0.3 },
    JointKind::Distance { length: None },
    JointKind::Distance { length: Some(0.4) },
    JointKind::PointOnLine,
    JointKind::PointOnPlane,
];

/// A joint of this kind with a spring on everything that it leaves free, between two balls or a
/// ball and the world; both displaced from where the joint was put together.
fn joined(kind: JointKind, world: bool) -> (Problem, State) {
    let mut m = Model::new();
    let poses = [
        Pose::turned([0.2, 0.1, -0.3], [1.0, 2.0, 0.5], 0.7),
        Pose::turned([0.9, -0.4, 0.3], [-1.0, 0.3, 1.0], 0.9),
    ];
    let bodies = m.add_rigid_bodies("bodies", &poses).unwrap();
    // Of balls the geometric stiffness of angular acceleration has no symmetric part.
    let ball = RigidMass::sphere(1.0, 0.5);
    m.add_mass("m", bodies, Mass::Rigid(vec![ball])).unwrap();
    let b = Side::Frame(bodies, 1, Pose::turned([-0.2, 0.1, 0.3], [0.2, 1.0, 0.4], 0.8));
    let a = if world { Side::World } else { Side::Body(bodies, 0) };
    let at = Pose::turned([0.5, -0.1, 0.1], [0.5, -1.0, 0.7], 0.5);
    let mut joint = Joint::new(kind, a, b).at(at);
    for axis in 0..kind.free_axes().len() {
        joint = joint.with_spring(axis, 0.01, 0.0, 0.0);
    }
    m.add_joint("joint", &joint).unwrap();
    let m = Problem::new(m);
    let mut state = m.initial_state().unwrap();
    state.velocities.fill(0.0);
    let step = [0.1, -0.1, 0.2, 0.3, -0.2, 0.1, -0.1, 0.1, 0.05, -0.3, 0.2, 0.2];
    displace(&m, bodies, &mut state, &step);
    (m, state)
}

fn displace(m: &Problem, bodies: NodeId, state: &mut State, step: &[f64]) {
    let node = m.node(bodies);
    node.space
        .retract(&mut state.positions[node.position_range()], step);
    Evaluation::new(m).propagate(m, state).unwrap();
}

#[test]
fn loaded_joints_stiffen_the_response_matrix() {
    let (h, alpha, beta) = (0.1, 0.8, 0.7);
    for kind in KINDS {
        for world in [false, true] {
            let (m, mut state) = joined(kind, world);
            let bodies = m.node_named("bodies").unwrap();
            let lambda: Vec<f64> = (0..m.row_count())
                .map(|i| 5.0 * (1.0 + 1.7 * i as f64).sin())
                .collect();
            let mut evaluation = Evaluation::new(&m);
            evaluation.propagate(&m, &mut state).unwrap();
            evaluation.evaluate(&m, &state).unwrap();
            let mut assembler = Assembler::new(&m, &evaluation).unwrap();
            let zero = [0.0; 12];
            let mut w = |rows| {
                let geometry = GeometricTerms {
                    multipliers: rows,
                    ..GeometricTerms::NONE
                };
                let scheme = Scheme {
                    alpha,
                    beta,
                    geometry,
                    ..Scheme::implicit_euler(h)
                };
                let input = StepInput {
                    state: &state,
                    multipliers: &lambda,
                    impulse: &zero,
                    fixed_change: &zero,
                    motion: &[],
                };
                assembler.fill(&m, &mut evaluation, &scheme, input);
                assembler.system().w.clone()
            };
            let (with, without) = (w(GeometricStiffness::Full), w(GeometricStiffness::None));
            // J^T lambda of the displaced joint.
            let force = |k: usize, t: f64| {
                let mut s = state.clone();
                let mut step = [0.0; 12];
                step[k] = t;
                displace(&m, bodies, &mut s, &step);
                let mut evaluation = Evaluation::new(&m);
                evaluation.propagate(&m, &mut s).unwrap();
                let mut f = vec![0.0; m.velocity_count()];
                for group in m.row_groups() {
                    let lambda = &lambda[group.first_row..];
                    for (f, l) in f[m.node(group.node).velocity_range()].iter_mut().zip(lambda) {
                        *f += l;
                    }
                }
                evaluation.pull_back(&m, &mut f);
                f[m.node(bodies).velocity_range()].to_vec()
            };
            let e = 1e-5;
            let columns: Vec<Vec<f64>> = (0..12)
                .map(|k| {
                    let pairs = force(k, e).into_iter().zip(force(k, -e));
                    pairs.map(|(p, m)| (p - m) / (2.0 * e)).collect()
                })
                .collect();
            let mut largest = 0.0f64;
            for i in 0..12 {
                for j in 0..=i {
                    let g = 0.5 * (columns[j][i] + columns[i][j]);
                    let found = (without.get(i, j) - with.get(i, j)) / (h * h * alpha * beta);
                    // Differences of forces of tens: 1e-15 * 10/e, third derivatives times e^2.
                    assert!(
                        (found - g).abs() < 1e-7,
                        "{kind:?}, world {world}, {i} {j}: {found} {g}"
                    );
                    largest = largest.max(g.abs());
                }
            }
            assert!(largest > 0.1, "{kind:?}: no geometric stiffness");
        }
    }
}
