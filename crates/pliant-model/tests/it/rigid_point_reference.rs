//! Reference case C08: a point on a rotated body, its mass pull-back and its geometric stiffness,
//! in closed form.

use pliant_dense::rotation::matrix;
use pliant_dense::{Mat3, Vec3, skew};
use pliant_model::{Distance, Evaluation, Model, RigidPoints, Space};

const Q: [f64; 4] = [
    0.6100061839757498,
    -0.7638575467969289,
    0.12496471778007319,
    -0.16969950802187994,
];
const LOCAL: [f64; 3] = [0.4, 0.5, -0.6];

#[test]
fn velocity_of_the_point() {
    let mut model = Model::new();
    let x = [0.1, -0.2, 0.3, Q[0], Q[1], Q[2], Q[3]];
    let body = model
        .add_independent("body", Space::Rigid3, &x, &[0.0; 6])
        .unwrap();
    model
        .set_body_velocity(body, 0, [1.0, 2.0, 3.0], [-0.5, 0.7, 0.2])
        .unwrap();
    let point = model
        .add_mapped("point", &[body], RigidPoints::new(&[(0, LOCAL)]))
        .unwrap();
    let state = model.initial_state().unwrap();
    let expected = [0.9331579959925043, 1.8623343046169702, 3.3147249238218652];
    for (a, b) in model.velocities(&state, point).iter().zip(expected) {
        assert!((a - b).abs() < 2e-15, "{a} {b}");
    }
}

/// `J^T m J` and `K = J^T k J - G` of a spring to a fixed point, against the closed forms in world
/// axes.
#[test]
fn mass_and_stiffness_pull_back() {
    let mut model = Model::new();
    let x = [0.1, -0.2, 0.3, Q[0], Q[1], Q[2], Q[3]];
    let body = model
        .add_independent("body", Space::Rigid3, &x, &[0.0; 6])
        .unwrap();
    let point = model
        .add_mapped("point", &[body], RigidPoints::new(&[(0, LOCAL)]))
        .unwrap();
    let spring = model
        .add_mapped(
            "spring",
            &[point],
            Distance::to_points(&[(0, [1.0; 3])]).with_rest_lengths(&[0.9]),
        )
        .unwrap();
    let mut state = model.initial_state().unwrap();
    let mut evaluation = Evaluation::new(&model);
    evaluation.propagate(&model, &mut state).unwrap();
    let jacobian = evaluation.jacobian(point.index()).unwrap().block(0).to_vec();
    let turn = matrix(Q);
    // World axes: J_world = J_body diag(I, R^T).
    let angular = Mat3::from_fn(|i, j| jacobian[i * 6 + 3 + j]) * turn.transpose();
    let r = turn * Vec3::from(LOCAL);
    assert!((angular + skew(r)).norm() < 1e-15);
    // J^T m J of the case (m = 2.5): entries (linear x, angular y) and (angular x, angular x).
    let m = 2.5;
    assert!((m * angular[(0, 1)] + 0.8138330998784624).abs() < 1e-14);
    assert!((m * (angular.transpose() * angular)[(0, 0)] - 1.8856214740370922).abs() < 1e-14);
    assert!((m * (angular.transpose() * angular)[(1, 2)] + 0.655262863623358).abs() < 1e-14);

    // G of the case: spring force -k (l - rest) on the distance, k = 50; the rot-rot block in
    // exponential coordinates.
    let force = -50.0 * model.positions(&state, spring)[0];
    let mut total = vec![0.0; model.velocity_count()];
    total[model.node(spring).velocity_range()][0] = force;
    evaluation.pull_back(&model, &mut total);
    let on_line = evaluation
        .geometric_stiffness(&model, &state, spring.index(), &total)
        .unwrap()
        .block(0)
        .to_vec();
    let on_body = evaluation
        .geometric_stiffness(&model, &state, point.index(), &total)
        .unwrap()
        .block(0)
        .to_vec();
    // The case's Hessian is sym(J^T k u u^T J - G) with G = G_point + J^T G_line J, in world axes.
    let x = Vec3::from_fn(|i, _| model.positions(&state, point)[i]) - Vec3::new(1.0, 1.0, 1.0);
    let u = x.normalize();
    let line = Mat3::from_fn(|i, j| 50.0 * u[i] * u[j] - on_line[i * 3 + j]);
    let rotation_block = turn * Mat3::from_fn(|i, j| on_body[(3 + i) * 6 + 3 + j]) * turn.transpose();
    let hessian = angular.transpose() * line * angular - rotation_block;
    let expected = Mat3::new(
        -37.0421562435156,
        9.147240641547041,
        2.6859865643953804,
        9.147240641547041,
        -3.091494199058583,
        13.730862454040095,
        2.6859865643953804,
        13.730862454040095,
        -23.988435868928896,
    );
    // The case's Hessian is a finite difference: its own tolerance is 1e-6.
    assert!((hessian - expected).norm() < 2e-6, "{hessian} {expected}");
    let linear = Mat3::new(
        33.103582818219806,
        5.1730983923001705,
        2.645770956846018,
        5.1730983923001705,
        44.498534067580906,
        6.849859291789672,
        2.645770956846018,
        6.849859291789672,
        34.60881090100604,
    );
    assert!((line - linear).norm() < 2e-6, "{line}");
}
