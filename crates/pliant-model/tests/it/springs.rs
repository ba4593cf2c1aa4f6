//! Springs, linear and not: their derivatives at many states, numbers in closed form.

use crate::force_fields::{TOLERANCE, close, energy, force, passes, random};
use pliant_model::{
    DiagonalCompliance, ForceField, FullCompliance, Model, Pose, Problem, RelativeRotation, RowLaw, Space,
    Spring, Treatment, UniformCompliance, check,
};

/// A symmetric positive-definite matrix whose coordinates have the units of `scales`.
fn definite(seed: u64, scales: &[f64]) -> Vec<f64> {
    let n = scales.len();
    let a = random(seed, n * n);
    let entry = |i: usize, j: usize| {
        let product: f64 = (0..n).map(|k| a[i * n + k] * a[j * n + k]).sum();
        (product + f64::from(u8::from(i == j))) * scales[i] * scales[j]
    };
    (0..n * n)
        .map(|k| entry((k / n).min(k % n), (k / n).max(k % n)))
        .collect()
}

fn springs() -> Vec<Spring> {
    let rising = [(-2.0, -5.0), (-1.0, -4.5), (0.5, 0.0), (0.75, 3.0), (2.0, 3.5)];
    let falling = [(-1.0, 2.0), (0.0, 0.0), (1.0, 3.0), (2.0, 1.0)];
    vec![
        Spring::linear(3.0),
        Spring::tension_only(3.0),
        Spring::compression_only(3.0),
        Spring::saturating(3.0, 2.0),
        Spring::stiffening(3.0, 2.0),
        Spring::table(&rising),
        Spring::table(&falling),
    ]
}

#[test]
fn springs_and_their_derivatives() {
    for law in springs() {
        for law in [law.clone(), law.with_damping(0.7)] {
            for seed in 0..20 {
                let (x, v) = (random(seed, 6), random(seed + 50, 6));
                let x: Vec<f64> = x.iter().map(|x| 3.0 * x).collect();
                for n in [1, 2, 3, 6] {
                    passes(&law, Space::Real(n), &x, &v);
                }
            }
            for x in [1e-3, -1e-3, 1e-2, -1e-2, 40.0, -40.0, 1e3, -1e3] {
                passes(&law, Space::Real(1), &[x], &[1e3]);
            }
        }
    }
    for law in [
        Spring::linear(3.0),
        Spring::saturating(3.0, 2.0),
        Spring::stiffening(3.0, 2.0),
    ] {
        passes(&law, Space::Real(1), &[0.0], &[0.0]);
    }
}

#[test]
fn springs_in_numbers() {
    let s = Space::Real(1);
    close(&force(&Spring::linear(10.0), s, &[7.0], &[0.0]), &[-70.0]);
    close(
        &force(&UniformCompliance::from_stiffness(10.0), s, &[7.0], &[0.0]),
        &[-70.0],
    );
    let diagonal = DiagonalCompliance::from_stiffnesses(&[10.0, 100.0, 7.0]);
    let f = force(&diagonal, Space::Real(3), &[0.0, -1.0, 7.0], &[0.0; 3]);
    close(&f, &[0.0, 100.0, -49.0]);
    let rope = Spring::tension_only(10.0).with_damping(2.0);
    close(
        &force(&rope, Space::Real(3), &[2.0, -2.0, 0.0], &[1.0; 3]),
        &[-22.0, 0.0, 0.0],
    );
    let stop = Spring::compression_only(10.0).with_damping(2.0);
    close(
        &force(&stop, Space::Real(3), &[2.0, -2.0, 0.0], &[1.0; 3]),
        &[0.0, 18.0, 0.0],
    );
    // u = k x/F = 1: T = F/sqrt 2, V = F^2/k (sqrt 2 - 1).
    let soft = Spring::saturating(10.0, 5.0);
    close(&force(&soft, s, &[0.5], &[0.0]), &[-5.0 / 2f64.sqrt()]);
    close(&[energy(&soft, s, &[0.5])], &[2.5 * (2f64.sqrt() - 1.0)]);
    close(&force(&soft, s, &[1e200], &[0.0]), &[-5.0]);
    close(
        &force(&Spring::stiffening(10.0, 2.0), s, &[3.0], &[0.0]),
        &[-84.0],
    );
    close(&[energy(&Spring::stiffening(10.0, 2.0), s, &[3.0])], &[85.5]);
    // Points on a line give the line, between and beyond; a table goes through its points and stays
    // level between equal ones.
    let line = Spring::table(&[(-1.0, -3.0), (0.0, -1.0), (4.0, 7.0)]);
    for x in [-9.0, -1.0, -0.5, 0.0, 0.3, 3.9, 4.0, 11.0] {
        close(&force(&line, s, &[x], &[0.0]), &[1.0 - 2.0 * x]);
        close(&[energy(&line, s, &[x])], &[x * x - x]);
    }
    let table = Spring::table(&[(0.0, 0.0), (1.0, 2.0), (2.0, 2.0), (3.0, 5.0)]);
    for (x, t) in [
        (0.0, 0.0),
        (1.0, 2.0),
        (1.5, 2.0),
        (2.0, 2.0),
        (3.0, 5.0),
        (5.0, 11.0),
    ] {
        close(&force(&table, s, &[x], &[0.0]), &[-t]);
    }
    assert_eq!(table.row_law(), RowLaw::None);
    assert_eq!(line.row_law(), RowLaw::Elastic);
    assert_eq!(rope.row_law(), RowLaw::None);
}

/// Every curve begins where the input says, in force, energy and derivatives; without one there is
/// no input.
#[test]
fn a_rest_length_shifts_the_curve() {
    let s = Space::Real(3);
    let laws = [
        Spring::linear(10.0),
        Spring::tension_only(10.0),
        Spring::compression_only(10.0),
        Spring::saturating(10.0, 5.0),
        Spring::stiffening(10.0, 2.0),
        Spring::table(&[(-1.0, -3.0), (0.0, 0.0), (4.0, 7.0)]),
    ];
    for law in laws {
        let law = law.with_damping(0.3);
        let shifted = law.clone().with_rest(0.7);
        assert!(law.inputs().is_empty() && shifted.inputs() == [0.7]);
        let (x, v) = ([0.9, 0.1, -0.4], [0.2, -0.3, 0.5]);
        passes(&shifted, s, &x, &v);
        let moved = x.map(|x| x - 0.7);
        assert_eq!(force(&shifted, s, &x, &v), force(&law, s, &moved, &v));
        assert_eq!(energy(&shifted, s, &x), energy(&law, s, &moved));
    }
}

#[test]
fn full_matrices() {
    let scales = [1e3, 2e3, 1e3, 1.0, 0.5, 2.0];
    for seed in 0..10 {
        let (m, d) = (definite(seed, &scales), definite(seed + 100, &scales));
        for law in [
            FullCompliance::from_stiffness(&m),
            FullCompliance::from_compliance(&m),
        ] {
            for law in [
                law.clone(),
                law.clone().with_relaxation_time(0.1),
                law.clone().with_damping(&d),
                law.with_relaxation_time(0.2).with_damping(&d),
            ] {
                passes(&law, Space::Real(6), &random(seed, 12), &random(seed + 7, 12));
                passes(&law, Space::Real(6), &[0.0; 6], &[0.0; 6]);
                passes(&law, Space::Real(6), &[1e6; 6], &[-1e6; 6]);
                let law = law.over_elements(2);
                passes(&law, Space::Real(3), &random(seed, 6), &random(seed + 7, 6));
                let law = law.over_groups(&[vec![3, 0], vec![1, 2]]);
                let found =
                    check::force_field(&law, Space::Real(3), &random(seed, 12), &random(seed + 7, 12));
                assert!(found.unwrap().worst() < TOLERANCE);
            }
        }
    }
    // K = [[2, 1], [1, 2]], C = [[2, -1], [-1, 2]]/3.
    let law = FullCompliance::from_stiffness(&[2.0, 1.0, 1.0, 2.0]);
    close(
        &force(&law, Space::Real(2), &[1.0, 2.0], &[0.0; 2]),
        &[-4.0, -5.0],
    );
    close(&[energy(&law, Space::Real(2), &[1.0, 2.0])], &[7.0]);
    let law = FullCompliance::from_compliance(&[2.0 / 3.0, -1.0 / 3.0, -1.0 / 3.0, 2.0 / 3.0]);
    close(
        &force(&law, Space::Real(2), &[1.0, 2.0], &[0.0; 2]),
        &[-4.0, -5.0],
    );
}

#[test]
fn singular_matrices_have_one_view() {
    let mut m = Model::new();
    let node = m
        .add_independent("node", Space::Real(2), &[0.5, -0.5], &[0.0; 2])
        .unwrap();
    let ones = [1.0, -1.0, -1.0, 1.0];
    let (hard, loose) = (
        FullCompliance::from_compliance(&ones),
        FullCompliance::from_stiffness(&ones),
    );
    let error = m
        .add_force_field("a", node, hard.clone(), Treatment::Stiffness)
        .unwrap_err();
    assert!(error.to_string().contains("stiffness is infinite"), "{error}");
    let error = m
        .add_force_field("a", node, loose.clone(), Treatment::Compliance)
        .unwrap_err();
    assert!(error.to_string().contains("has no compliance"), "{error}");
    m.add_force_field("a", node, hard.clone(), Treatment::Auto)
        .unwrap();
    m.add_force_field("b", node, loose.clone(), Treatment::Auto)
        .unwrap();
    passes(&loose, Space::Real(2), &[0.3, 0.4], &[0.1, 0.2]);
    // Soft along (1, -1) with eigenvalue 2: V = |x|^2/4.
    close(&[energy(&hard, Space::Real(2), &[0.5, -0.5])], &[0.125]);
}

#[test]
fn springs_between_frames() {
    let mut m = Model::new();
    let b = m
        .add_rigid_bodies(
            "bodies",
            &[
                Pose::default(),
                Pose::turned([1.0, 0.0, 0.0], [1.0, 2.0, 0.5], 0.4),
            ],
        )
        .unwrap();
    let r = m
        .add_mapped("rotation", &[b], RelativeRotation::new(&[(0, 1)]))
        .unwrap();
    let k = definite(4, &[3.0, 1.0, 2.0]);
    m.add_force_field("a", r, FullCompliance::from_stiffness(&k), Treatment::Stiffness)
        .unwrap();
    m.add_force_field("b", r, UniformCompliance::new(0.1), Treatment::Compliance)
        .unwrap();
    m.add_force_field(
        "c",
        r,
        DiagonalCompliance::new(&[0.1, 0.0, 0.2]),
        Treatment::Compliance,
    )
    .unwrap();
    let six = m
        .add_independent("bushing", Space::Real(6), &[0.0; 6], &[0.0; 6])
        .unwrap();
    let k = definite(5, &[1e3, 1e3, 1e3, 1.0, 1.0, 1.0]);
    for (name, treatment) in [("d", Treatment::Stiffness), ("e", Treatment::Compliance)] {
        m.add_force_field(name, six, FullCompliance::from_stiffness(&k), treatment)
            .unwrap();
    }
    let m = Problem::new(m);
    let mut state = m.initial_state().unwrap();
    let mut evaluation = pliant_model::Evaluation::new(&m);
    evaluation.propagate(&m, &mut state).unwrap();
    evaluation.evaluate(&m, &state).unwrap();
}
