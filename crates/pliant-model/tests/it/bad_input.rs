//! Wrong input is an error that names the thing.

use pliant_model::{
    Affine, AffineEntry, Blocks, Damping, Degenerate, Dependency, DiagonalCompliance, Distance, End, Level,
    Mapping, Mass, Model, ModelError, Parents, Pose, RelativeRotation, RigidMass, RigidPoints, Space, Subset,
    Treatment, UniformCompliance,
};

fn model() -> (Model, pliant_model::NodeId, pliant_model::NodeId) {
    let mut m = Model::new();
    let p = m.add_particles("points", &[[0.0; 3], [1.0, 0.0, 0.0]]).unwrap();
    let b = m.add_rigid_bodies("bodies", &[Pose::default()]).unwrap();
    (m, p, b)
}

#[test]
fn names_and_numbers() {
    let (mut m, p, b) = model();
    let says = |r: Result<(), ModelError>, words: &str| {
        let text = r.unwrap_err().to_string();
        assert!(text.contains(words), "{text}");
    };
    says(m.add_particles("points", &[]).map(drop), "`points` is used twice");
    says(
        m.add_particles("q", &[[0.0, f64::NAN, 0.0]]).map(drop),
        "a position of `q` is NaN",
    );
    says(m.set_gravity([f64::INFINITY, 0.0, 0.0]), "gravity");
    let zero = Pose {
        rotation: [0.0; 4],
        ..Pose::default()
    };
    says(
        m.add_rigid_bodies("z", &[zero]).map(drop),
        "`z`, element 0, is not a rotation",
    );
    says(
        m.add_mass("m", p, Mass::Uniform(f64::NAN)).map(drop),
        "the mass of `m` is NaN",
    );
    says(
        m.add_mass("m", p, Mass::Uniform(-1.0)).map(drop),
        "must be positive",
    );
    says(
        m.add_mass("m", p, Mass::PerElement(vec![1.0])).map(drop),
        "needs 2 masses, found 1",
    );
    says(
        m.add_mass("m", p, Mass::Rigid(vec![RigidMass::sphere(1.0, 1.0)]))
            .map(drop),
        "needs a node of rigid bodies",
    );
    says(
        m.add_mass("m", b, Mass::Uniform(1.0)).map(drop),
        "needs a node of points or scalars",
    );
    let bad = RigidMass::principal(1.0, [1.0, 1.0, 3.0]);
    says(
        m.add_mass("m", b, Mass::Rigid(vec![bad])).map(drop),
        "larger than the sum",
    );
    let law = UniformCompliance::new(-1.0);
    says(
        m.add_force_field("k", p, law, Treatment::Compliance).map(drop),
        "compliance of `k` is -1",
    );
    let law = UniformCompliance::new(0.0);
    says(
        m.add_force_field("k", p, law, Treatment::Stiffness).map(drop),
        "stiffness is infinite",
    );
    says(
        m.add_force_field("k", p, Damping::new(0.0), Treatment::Compliance)
            .map(drop),
        "has no compliance",
    );
    says(
        m.add_force_field("k", p, DiagonalCompliance::new(&[1.0, 2.0]), Treatment::Stiffness)
            .map(drop),
        "needs 6",
    );
    says(
        m.add_force_field("k", b, law, Treatment::Compliance).map(drop),
        "map the bodies first",
    );
    says(
        m.add_constraint("c", b, Level::Position).map(drop),
        "needs a node of scalars",
    );
    says(
        m.add_constraint("c", p, Level::Baumgarte { rate: 0.0 }).map(drop),
        "the rate of `c`",
    );
    says(m.fix(p, 2, &[true; 3]), "element 2 of a node that has 2");
    says(m.fix(p, 0, &[true; 2]), "needs 3 coordinates, found 2");
    says(
        m.set_velocity(p, 2, &[true; 3], &[0.0; 3]),
        "element 2 of a node that has 2",
    );
    says(
        m.set_velocity(p, 0, &[true; 3], &[0.0; 2]),
        "needs 3 numbers, found 2",
    );
    says(
        m.set_velocity(p, 0, &[true; 3], &[0.0, f64::NAN, 0.0]),
        "velocity of `points` is NaN",
    );
}

#[test]
fn mappings_name_what_does_not_fit() {
    let (mut m, p, b) = model();
    let says = |r: Result<pliant_model::NodeId, ModelError>, words: &str| {
        let text = r.unwrap_err().to_string();
        assert!(text.contains(words), "{text}");
    };
    says(
        m.add_mapped("d", &[p], Distance::between(&[(0, 2)])),
        "element 2 of a node that has 2",
    );
    says(
        m.add_mapped("d", &[p], Distance::between(&[(1, 1)])),
        "its two ends are the same",
    );
    says(
        m.add_mapped("d", &[b], Distance::between(&[(0, 1)])),
        "found rigid bodies",
    );
    says(
        m.add_mapped(
            "d",
            &[p],
            Distance::new(&[(End::element(1, 0), End::element(0, 0))]),
        ),
        "parent 1",
    );
    says(
        m.add_mapped("d", &[p], Distance::between(&[(0, 1)]).with_rest_lengths(&[-1.0])),
        "zero or more",
    );
    says(
        m.add_mapped(
            "d",
            &[p],
            Distance::between(&[(0, 1)]).with_rest_lengths(&[1.0, 2.0]),
        ),
        "rest lengths",
    );
    says(
        m.add_mapped("d", &[p], RigidPoints::new(&[(0, [0.0; 3])])),
        "rigid bodies",
    );
    says(
        m.add_mapped("d", &[b], RelativeRotation::new(&[(0, 0)])),
        "bodies are the same",
    );
    says(
        m.add_mapped("d", &[p], Subset::of_elements(Space::Real(1), &[0])),
        "the same space",
    );
    let entry = AffineEntry {
        element: 0,
        coordinate: 0,
        from: Dependency::new(0, 0),
        from_coordinate: 3,
        value: 1.0,
    };
    says(
        m.add_mapped("d", &[p], Affine::new(1, &[0.0], &[entry])),
        "coordinates",
    );
    let far = {
        let mut other = Model::new();
        for k in 0..5 {
            other.add_scalars(&format!("{k}"), &[0.0]).unwrap();
        }
        other.node_named("4").unwrap()
    };
    says(
        m.add_mapped("d", &[far], Subset::of_elements(Space::Real(1), &[0])),
        "does not have",
    );
    // A direction that does not exist is found when positions are computed.
    let d = m
        .add_mapped("d", &[p], Distance::to_points(&[(0, [0.0; 3])]))
        .unwrap();
    assert!(
        m.initial_state()
            .unwrap_err()
            .to_string()
            .contains("`d`, element 0, is not defined here")
    );
    assert!(
        m.fix(d, 0, &[true])
            .unwrap_err()
            .to_string()
            .contains("computed from other nodes")
    );
    let text = m.set_velocity(d, 0, &[true], &[1.0]).unwrap_err().to_string();
    assert!(text.contains("so it cannot be given a velocity"), "{text}");
}

/// A velocity at the start goes to the chosen coordinates of one element.
#[test]
fn velocities_of_chosen_coordinates() {
    let (mut m, p, _) = model();
    m.set_velocity(p, 1, &[true, false, true], &[1.0, 2.0, 3.0])
        .unwrap();
    let state = m.initial_state().unwrap();
    assert_eq!(m.velocities(&state, p), [0.0, 0.0, 0.0, 1.0, 0.0, 3.0]);
}

/// A mapping that says it repeats the coordinates of its parents, and cannot.
#[derive(Debug)]
struct Repeats(Space);

impl Mapping for Repeats {
    fn child(&self) -> (Space, usize) {
        (self.0, 1)
    }

    fn dependencies(&self, _element: usize, out: &mut Vec<Dependency>) {
        out.push(Dependency::new(0, 0));
    }

    fn apply(&self, _parents: Parents<'_>, _child: &mut [f64]) -> Result<(), Degenerate> {
        Ok(())
    }

    fn jacobian(&self, _parents: Parents<'_>, _out: &mut Blocks) -> Result<(), Degenerate> {
        Ok(())
    }

    fn repeated(&self) -> Option<usize> {
        Some(2)
    }
}

#[test]
fn what_is_repeated_must_be_real_and_as_many() {
    let (mut m, p, b) = model();
    assert!(m.add_mapped("fits", &[p], Repeats(Space::Real(6))).is_ok());
    let error = m.add_mapped("short", &[p], Repeats(Space::Real(5))).unwrap_err();
    assert!(
        error.to_string().contains("`short` needs a node of as many"),
        "{error}"
    );
    let error = m.add_mapped("turns", &[b], Repeats(Space::Real(12))).unwrap_err();
    assert!(
        error.to_string().contains("`turns` needs a node of real"),
        "{error}"
    );
}
