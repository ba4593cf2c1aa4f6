//! The assembled system against finite differences of the model, which know nothing of plans and
//! slots.
#![allow(
    clippy::unwrap_used,
    reason = "a test that cannot set up its problem should stop there"
)]

mod graph;
mod joints;
mod tail;

use pliant_kkt::{Assembler, GeometricStiffness, GeometricTerms, Scheme, StepInput};
use pliant_model::{
    Affine, AffineEntry, Damping, Dependency, Difference, Distance, End, Evaluation, Level, Mass, Model,
    NodeId, Pose, Problem, RelativeRotation, RigidMass, RigidPoints, Space, State, Subset, Treatment,
    UniformCompliance,
};

/// Bodies, points on them, particles, and mappings three deep with several parents. Inertias are
/// spherical, so that the geometric stiffness of angular acceleration has no symmetric part.
fn model() -> (Problem, Vec<NodeId>) {
    let (m, nodes) = bare_model();
    (Problem::new(m), nodes)
}

fn bare_model() -> (Model, Vec<NodeId>) {
    let mut m = Model::new();
    m.set_gravity([0.3, -9.81, 0.5]).unwrap();
    let poses = [
        Pose::turned([0.2, 0.1, 0.0], [1.0, 2.0, 3.0], 0.7),
        Pose::turned([1.0, -0.5, 0.3], [0.0, 1.0, -1.0], 1.1),
    ];
    let bodies = m.add_rigid_bodies("bodies", &poses).unwrap();
    m.add_mass(
        "balls",
        bodies,
        Mass::Rigid(vec![RigidMass::sphere(2.0, 0.4), RigidMass::sphere(1.0, 0.3)]),
    )
    .unwrap();
    let particles = m
        .add_particles("particles", &[[2.0, 0.5, 0.1], [1.5, 1.5, -0.4]])
        .unwrap();
    m.add_mass("dust", particles, Mass::PerElement(vec![0.5, 0.8]))
        .unwrap();
    let scalars = m.add_scalars("scalars", &[0.3]).unwrap();
    m.add_mass("generalised", scalars, Mass::Uniform(0.7)).unwrap();
    let points = [(0, [0.3, 0.1, -0.2]), (1, [-0.4, 0.2, 0.1]), (1, [0.1, 0.5, 0.2])];
    let points = m
        .add_mapped("points", &[bodies], RigidPoints::new(&points))
        .unwrap();
    m.add_mass("riders", points, Mass::Uniform(0.4)).unwrap();
    let both = [
        Dependency::new(1, 1),
        Dependency::new(0, 2),
        Dependency::new(0, 0),
    ];
    let some = m
        .add_mapped(
            "some",
            &[points, particles],
            Subset::of_parents(Space::Real(3), &both),
        )
        .unwrap();
    let entry = |element, coordinate, parent, e, c, value| AffineEntry {
        element,
        coordinate,
        from: Dependency::new(parent, e),
        from_coordinate: c,
        value,
    };
    let entries = [
        entry(0, 0, 0, 0, 1, 0.5),
        entry(0, 1, 0, 1, 2, -2.0),
        entry(0, 2, 1, 0, 0, 1.5),
        entry(0, 0, 0, 2, 0, 1.0),
    ];
    let mixed = m
        .add_mapped(
            "mixed",
            &[some, scalars],
            Affine::new(3, &[0.1, 0.2, 0.3], &entries),
        )
        .unwrap();
    let pairs = [
        (End::element(0, 0), End::element(1, 0)),
        (End::element(1, 2), End::element(2, 0)),
        (End::element(2, 1), End::Point([3.0, 3.0, 3.0])),
    ];
    let lengths = Distance::new(&pairs).with_rest_lengths(&[0.4, 0.6, 1.0]);
    let lengths = m
        .add_mapped("lengths", &[mixed, some, particles], lengths)
        .unwrap();
    m.add_force_field(
        "springs",
        lengths,
        UniformCompliance::new(0.01),
        Treatment::Stiffness,
    )
    .unwrap();
    let turn = m
        .add_mapped("turn", &[bodies], RelativeRotation::new(&[(0, 1)]))
        .unwrap();
    m.add_force_field("angular", turn, UniformCompliance::new(0.2), Treatment::Stiffness)
        .unwrap();
    let gaps = [
        (End::element(0, 1), End::element(1, 0)),
        (End::element(0, 0), End::Point([0.0; 3])),
    ];
    let gaps = m
        .add_mapped("gaps", &[points, mixed], Difference::new(&gaps))
        .unwrap();
    m.add_constraint("hard", gaps, Level::Position).unwrap();
    m.add_force_field(
        "soft",
        lengths,
        UniformCompliance::new(0.3),
        Treatment::Compliance,
    )
    .unwrap();
    m.add_force_field("drag", particles, Damping::new(0.3), Treatment::Stiffness)
        .unwrap();
    (m, vec![bodies, particles, scalars])
}

/// The state moved by `t` along independent coordinate `dof`.
fn moved(m: &Problem, state: &State, nodes: &[NodeId], steps: &[(usize, f64)]) -> State {
    let mut s = state.clone();
    for id in nodes {
        let node = m.node(*id);
        let first = node.first_dof().unwrap();
        let range = node.velocity_range();
        let mut step = vec![0.0; range.len()];
        for (dof, t) in steps {
            if (first..first + range.len()).contains(dof) {
                step[dof - first] += t;
            }
        }
        node.space.retract(&mut s.positions[node.position_range()], &step);
    }
    m.propagate(&mut s).unwrap();
    s
}

fn assemble(m: &Problem, state: &mut State, scheme: &Scheme, multipliers: &[f64]) -> Assembler {
    let mut evaluation = Evaluation::new(m);
    evaluation.propagate(m, state).unwrap();
    evaluation.evaluate(m, state).unwrap();
    let mut assembler = Assembler::new(m, &evaluation).unwrap();
    let impulse = vec![0.0; m.dof_count()];
    assembler.fill(
        m,
        &mut evaluation,
        scheme,
        StepInput {
            state,
            multipliers,
            impulse: &impulse,
            fixed_change: &impulse,
            motion: &[],
        },
    );
    assembler
}

#[test]
fn jacobian_rows_are_derivatives_of_the_constraint() {
    let (m, nodes) = model();
    let mut state = m.initial_state().unwrap();
    let a = assemble(
        &m,
        &mut state,
        &Scheme::implicit_euler(0.1),
        &vec![0.0; m.row_count()],
    );
    let h = 1e-6;
    for dof in 0..m.dof_count() {
        let (plus, minus) = (
            moved(&m, &state, &nodes, &[(dof, h)]),
            moved(&m, &state, &nodes, &[(dof, -h)]),
        );
        for group in m.row_groups() {
            let pairs = m
                .positions(&plus, group.node)
                .iter()
                .zip(m.positions(&minus, group.node));
            for (k, (p, q)) in pairs.enumerate() {
                let found = a.system().j.get(group.first_row + k, dof);
                // Central difference: h^2 and rounding 1e-16/h.
                assert!(
                    (found - (p - q) / (2.0 * h)).abs() < 1e-8,
                    "row {}, dof {dof}",
                    group.first_row + k
                );
            }
        }
    }
}

/// `W - M` is `h^2` times the Hessian of the potential in exponential coordinates, for geometric
/// stiffness of forces; with multipliers, of the potential plus `-lambda . phi`.
#[test]
fn response_matrix_is_mass_and_hessian() {
    let (m, nodes) = model();
    let mut state = m.initial_state().unwrap();
    let lambda: Vec<f64> = (0..m.row_count())
        .map(|i| (i as f64 * 1.7).sin() * 20.0)
        .collect();
    for with_multipliers in [false, true] {
        for (h, alpha, beta) in [(0.1, 1.0, 1.0), (0.3, 0.5, 0.7)] {
            let mut scheme = Scheme {
                alpha,
                beta,
                ..Scheme::implicit_euler(h)
            };
            scheme.geometry.multipliers = if with_multipliers {
                GeometricStiffness::Full
            } else {
                GeometricStiffness::None
            };
            let full = assemble(&m, &mut state, &scheme, &lambda);
            // M + h alpha B alone: no stiffness as h^2 -> 0 at fixed h alpha.
            let tiny = Scheme {
                geometry: GeometricTerms::NONE,
                ..Scheme::implicit_euler(1e-12)
            };
            let mass = assemble(&m, &mut state, &tiny, &lambda);
            let potential = |steps: &[(usize, f64)]| {
                let s = moved(&m, &state, &nodes, steps);
                // Only what is treated as a stiffness: the soft rows' own energy is not part of W.
                let soft = m.node_named("lengths").unwrap();
                let rows: f64 = m.positions(&s, soft).iter().map(|x| 0.5 * x * x / 0.3).sum();
                let mut v = m.energies(&s).potential - rows;
                if with_multipliers {
                    for group in m.row_groups() {
                        let phi = m.positions(&s, group.node).iter().zip(&lambda[group.first_row..]);
                        v -= phi.map(|(p, l)| p * l).sum::<f64>();
                    }
                }
                v
            };
            let e = 2e-4;
            let n = m.dof_count();
            for i in 0..n {
                for j in 0..=i {
                    // Mixed second difference with both orders of steps averages the exponential
                    // coordinates.
                    let hessian = (potential(&[(i, e), (j, e)])
                        - potential(&[(i, e), (j, -e)])
                        - potential(&[(i, -e), (j, e)])
                        + potential(&[(i, -e), (j, -e)]))
                        / (4.0 * e * e);
                    let damping = if i == j && (12..18).contains(&i) {
                        h * alpha * 0.3
                    } else {
                        0.0
                    };
                    let expected = mass.system().w.get(i, j) + damping + h * h * alpha * beta * hessian;
                    let found = full.system().w.get(i, j);
                    // Second differences of energies of a hundred joules: 1e-14 * 100 / e^2 = 3e-5,
                    // and e^2.
                    assert!(
                        (found - expected).abs() < 2e-4 * h * h * 10.0 + 1e-10,
                        "{i} {j}: {found} {expected}"
                    );
                }
            }
        }
    }
}

/// The right-hand side: `h f - h^2 alpha (K - G) v`, with the matrix taken from `W` itself.
#[test]
fn right_hand_side_is_force_and_predicted_change() {
    let (mut m, _) = bare_model();
    let bodies = m.node_named("bodies").unwrap();
    m.set_body_velocity(bodies, 0, [0.4, -0.3, 0.2], [0.0; 3])
        .unwrap();
    m.set_body_velocity(bodies, 1, [-0.1, 0.6, 0.5], [0.0; 3])
        .unwrap();
    let m = Problem::new(m);
    let mut state = m.initial_state().unwrap();
    let lambda = vec![3.0; m.row_count()];
    let h = 0.05;
    let at = |alpha: f64, state: &mut State| {
        assemble(
            &m,
            state,
            &Scheme {
                alpha,
                ..Scheme::implicit_euler(h)
            },
            &lambda,
        )
    };
    let (one, half) = (at(1.0, &mut state), at(0.5, &mut state));
    let tiny = Scheme {
        geometry: GeometricTerms::NONE,
        ..Scheme::implicit_euler(1e-12)
    };
    let mass = assemble(&m, &mut state, &tiny, &lambda);
    let n = m.dof_count();
    let v: Vec<f64> = {
        let mut v = vec![0.0; n];
        v[..12].copy_from_slice(m.velocities(&state, bodies));
        v
    };
    // (W - M) v, without damping on the bodies, is h^2 alpha (K - G) v at beta = 1.
    let mut kv = vec![0.0; n];
    one.system().w.symmetric_add_product(1.0, &v, &mut kv);
    mass.system().w.symmetric_add_product(-1.0, &v, &mut kv);
    for i in 0..n {
        let change = one.system().c[i] - half.system().c[i];
        assert!(
            (change + 0.5 * kv[i]).abs() < 1e-9 * (1.0 + kv[i].abs()),
            "{i}: {change} {}",
            kv[i]
        );
    }
}
