//! Every component against its checker, at random and at awkward states.

use pliant_model::{
    Affine, AffineEntry, ComponentId, ConstantForce, Damping, Dependency, DiagonalCompliance, Difference,
    Distance, End, ForceField, Identity, Level, Mapping, Model, Pose, PrescribedMotion, Problem,
    RelativeRotation, RigidPoints, Space, Spring, Subset, Treatment, UniformCompliance, check,
};
use proptest::prelude::*;

/// Central differences of step 1e-5: truncation about 1e-10 times third derivatives, roundoff about
/// 1e-11.
const TOLERANCE: f64 = 1e-6;

fn checked<M: Mapping + Clone + 'static>(mapping: &M, parents: &[(Space, usize)], x: &[f64], seed: u64) {
    let found = check::mapping(mapping, parents, x, seed).unwrap();
    assert!(found.worst() < TOLERANCE, "{mapping:?}: {found:?}");
}

fn bodies(numbers: &[f64], count: usize) -> Vec<f64> {
    (0..count)
        .flat_map(|k| {
            let n = |i: usize| numbers[(7 * k + i) % numbers.len()];
            let pose = Pose::turned([n(0), n(1), n(2)], [n(3) + 0.01, n(4), n(5)], 3.0 * n(6));
            let ([x, y, z], [a, b, c, d]) = (pose.position, pose.rotation);
            [x, y, z, a, b, c, d]
        })
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]
    #[test]
    fn mappings_of_points(x in prop::collection::vec(-2.0..2.0f64, 12), seed in 1u64..1000) {
        // Distances below 0.1 make the finite differences, not the mapping, inaccurate.
        let apart = |a: usize, b: usize| (0..3).map(|k| (x[3 * a + k] - x[3 * b + k]).powi(2)).sum::<f64>() > 0.01;
        prop_assume!(apart(0, 1) && apart(2, 3) && apart(1, 3));
        let parents = [(Space::Real(3), 3), (Space::Real(3), 1)];
        let ends = [(End::element(0, 0), End::element(0, 1)), (End::element(0, 2), End::element(1, 0)),
            (End::Point([0.3, 5.0, -1.0]), End::element(0, 1)), (End::element(1, 0), End::Point([4.0, -4.0, 4.0]))];
        checked(&Distance::new(&ends).with_rest_lengths(&[0.5]), &parents, &x, seed);
        checked(&Difference::new(&ends), &parents, &x, seed);
        checked(&Subset::of_parents(Space::Real(3), &[Dependency::new(1, 0), Dependency::new(0, 2)]), &parents, &x, seed);
        checked(&Identity::new(Space::Real(3), 4), &[(Space::Real(3), 4)], &x, seed);
        let entries: Vec<_> = (0..6).map(|k| AffineEntry {
            element: k % 2, coordinate: k % 2, from: Dependency::new(k / 3, k % (3 - 2 * (k / 3))),
            from_coordinate: k % 3, value: x[k],
        }).collect();
        checked(&Affine::new(2, &[1.0, 2.0, 3.0, 4.0], &entries), &parents, &x, seed);
        // The same points read as six points of the plane and twelve scalars.
        let plane = [(End::element(0, 0), End::element(0, 1)), (End::element(0, 4), End::Point([9.0, 9.0, 0.0]))];
        if (x[0] - x[2]).hypot(x[1] - x[3]) > 0.1 {
            checked(&Distance::new(&plane).in_dimension(2), &[(Space::Real(2), 6)], &x, seed);
        }
        checked(&Difference::new(&plane[..1]).in_dimension(1), &[(Space::Real(1), 12)], &x, seed);
    }

    #[test]
    fn mappings_of_bodies(x in prop::collection::vec(-1.0..1.0f64, 21), seed in 1u64..1000) {
        let positions = bodies(&x, 3);
        let parents = [(Space::Rigid3, 2), (Space::Rigid3, 1)];
        let points = [(Dependency::new(0, 1), [0.3, -0.2, 0.7]), (Dependency::new(1, 0), [0.0; 3])];
        checked(&RigidPoints::of_parents(&points), &parents, &positions, seed);
        let rest = Pose::turned([0.0; 3], [x[0], 1.0, x[1]], x[2]).rotation;
        let pairs = [(Dependency::new(0, 0), Dependency::new(0, 1)), (Dependency::new(1, 0), Dependency::new(0, 0))];
        let mapping = RelativeRotation::of_parents(&pairs).with_rest_rotations(&[rest, [1.0, 0.0, 0.0, 0.0]]);
        checked(&mapping, &parents, &positions, seed);
    }

    #[test]
    fn force_fields(x in prop::collection::vec(-2.0..2.0f64, 6), c in prop::collection::vec(0.1..3.0f64, 6), d in 0.0..1.0f64) {
        let laws: [Box<dyn ForceField>; 5] = [
            Box::new(UniformCompliance::new(c[0]).with_relaxation_time(d)),
            Box::new(UniformCompliance::from_stiffness(c[1])),
            Box::new(DiagonalCompliance::new(&c).with_relaxation_time(d)),
            Box::new(Damping::new(c[2])),
            Box::new(ConstantForce::new(&c[..3])),
        ];
        let v: Vec<f64> = x.iter().rev().copied().collect();
        for law in laws {
            let found = check::force_field(&*law, Space::Real(3), &x, &v).unwrap();
            prop_assert!(found.worst() < TOLERANCE, "{law:?} {found:?}");
        }
    }
}

#[test]
fn awkward_states() {
    // Bodies that agree exactly, and a distance of huge coordinates.
    let same = bodies(&[0.5, -0.2, 0.1, 0.3, 0.2, 0.9, 0.0], 2);
    checked(&RelativeRotation::new(&[(0, 1)]), &[(Space::Rigid3, 2)], &same, 3);
    let far = [1000.0, 1000.0, 1000.0, 1000.5, 1000.0, 999.0];
    let found = check::mapping(&Distance::between(&[(0, 1)]), &[(Space::Real(3), 2)], &far, 5).unwrap();
    // Roundoff of coordinates 1e3 divided by the step 1e-5: 1e-13 * 1e3 / 1e-5 is the floor of the
    // difference quotient.
    assert!(found.worst() < 1e-5, "{found:?}");
}

#[test]
fn the_checker_sees_a_wrong_geometric_stiffness() {
    /// A distance that claims to be linear.
    #[derive(Clone, Debug)]
    struct Wrong(Distance);
    impl Mapping for Wrong {
        fn child(&self) -> (Space, usize) {
            self.0.child()
        }
        fn check(&self, name: &str, parents: &[(Space, usize)]) -> Result<(), pliant_model::ModelError> {
            self.0.check(name, parents)
        }
        fn dependencies(&self, element: usize, out: &mut Vec<Dependency>) {
            self.0.dependencies(element, out);
        }
        fn apply(
            &self,
            p: pliant_model::Parents<'_>,
            child: &mut [f64],
        ) -> Result<(), pliant_model::Degenerate> {
            self.0.apply(p, child)
        }
        fn jacobian(
            &self,
            p: pliant_model::Parents<'_>,
            out: &mut pliant_model::Blocks,
        ) -> Result<(), pliant_model::Degenerate> {
            self.0.jacobian(p, out)
        }
        fn is_linear(&self) -> bool {
            true
        }
    }
    let x = [0.0, 0.0, 0.0, 1.0, 0.5, 0.0];
    let found = check::mapping(
        &Wrong(Distance::between(&[(0, 1)])),
        &[(Space::Real(3), 2)],
        &x,
        1,
    )
    .unwrap();
    assert!(
        found.jacobian < TOLERANCE && found.geometric > 0.01 && found.bias > 0.01,
        "{found:?}"
    );
}

/// Values that a problem had are there again, and the model never had them.
#[test]
fn a_problem_goes_back_to_values_that_it_had() {
    let mut model = Model::new();
    model.set_gravity([0.0, 0.0, -1.0]).unwrap();
    let x = model.add_scalars("x", &[1.0]).unwrap();
    let held = model.add_constraint("held", x, Level::Position).unwrap();
    let law = Spring::linear(2.0).with_rest(0.5);
    let winch = model.add_force_field("winch", x, law, Treatment::Auto).unwrap();
    let mut problem = Problem::new(model);
    let before = problem.parameters().clone();
    assert_eq!(&before, problem.initial_parameters());
    let group = problem.row_groups()[0];
    let ComponentId::ForceField(i) = winch else {
        panic!("{winch:?}")
    };
    problem.set_gravity([0.0; 3]).unwrap();
    problem.set_input(winch, 0, 0.7).unwrap();
    problem.set_bounds(held, -1.0, 2.0).unwrap();
    problem
        .set_motion(held, Some(PrescribedMotion::sine(1.0, 1.0, 0.0)))
        .unwrap();
    assert!(problem.choose_treatment(i, Treatment::Compliance));
    assert_eq!((problem.gravity(), problem.inputs(i)), ([0.0; 3], &[0.7][..]));
    assert_eq!(problem.bounds(&group), Some((-1.0, 2.0)));
    assert!(problem.motion(&group).is_some());
    assert_eq!(
        (problem.row_count(), problem.treatment(i)),
        (2, Treatment::Compliance)
    );
    let after = problem.parameters().clone();
    assert_ne!(after, before);
    problem.set_parameters(&before);
    assert_eq!(problem.parameters(), problem.initial_parameters());
    problem.set_parameters(&after);
    assert_eq!(problem.parameters(), &after);
}
