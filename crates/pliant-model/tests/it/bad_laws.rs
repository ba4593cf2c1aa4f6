//! Wrong parameters of force fields are errors that name the component.

use pliant_model::dual::Dual;
use pliant_model::{
    ActivationDynamics, AxialMuscle, BodyForce, ConstantForce, Damping, DiagonalCompliance, Drag, ForceField,
    ForceLengthMuscle, FullCompliance, Gas, Ligament, Model, MuscleTendon, Potential, Space, Spring, Torque,
    Treatment, UniformCompliance,
};

#[test]
fn inputs_are_checked_when_set() {
    let mut m = Model::new();
    let l = m.add_scalars("lengths", &[0.1]).unwrap();
    let id = m
        .add_force_field("biceps", l, AxialMuscle::new(1e3, 0.1, 10.0), Treatment::Auto)
        .unwrap();
    m.set_input(id, 0, 0.5).unwrap();
    let error = m.set_input(id, 0, 1.5).unwrap_err().to_string();
    assert!(error.contains("an activation of `biceps` is 1.5"), "{error}");
    let error = m.set_input(id, 1, 0.5).unwrap_err().to_string();
    assert!(error.contains("needs 2 inputs at least, found 1"), "{error}");
    // The old value stays.
    assert_eq!(m.initial_parameters().inputs(), &[0.5]);
}

#[test]
fn bad_parameters() {
    let (one, three, bodies) = (Space::Real(1), Space::Real(3), Space::Rigid3);
    let full = |m: &[f64]| Box::new(FullCompliance::from_stiffness(m));
    let muscle = |f, l, v| AxialMuscle::new(f, l, v);
    let flat = |x: &[Dual]| x[0];
    let cases: Vec<(Box<dyn ForceField>, Space, &str)> = vec![
        (Box::new(Damping::new(-1.0)), one, "the damping of `law` is -1"),
        (
            Box::new(Damping::new(1.0).with_angular(1.0)),
            three,
            "needs a node of rigid bodies",
        ),
        (
            Box::new(UniformCompliance::new(f64::NAN)),
            one,
            "the compliance of `law` is NaN",
        ),
        (
            Box::new(UniformCompliance::from_stiffness(0.0)),
            one,
            "not a finite number",
        ),
        (
            Box::new(DiagonalCompliance::from_stiffnesses(&[1.0, -2.0, 1.0])),
            three,
            "-0.5",
        ),
        (full(&[1.0, 2.0]), one, "it is not square"),
        (full(&[]), one, "it is not square"),
        (full(&[1.0]), three, "needs 9 entries of a matrix, found 1"),
        (full(&[1.0]), bodies, "map the bodies first"),
        (full(&[1.0, 2.0, 2.0, 1.0]), Space::Real(2), "negative eigenvalue"),
        (full(&[-1.0]), one, "the stiffness matrix of `law`"),
        (full(&[1.0, 0.1, 0.2, 1.0]), Space::Real(2), "it is not symmetric"),
        (full(&[f64::NAN]), one, "an entry is not finite"),
        (
            Box::new(full(&[1.0]).with_damping(&[-1.0])),
            one,
            "the damping matrix of `law`",
        ),
        (
            Box::new(full(&[1.0]).with_damping(&[1.0, 0.0, 0.0, 1.0])),
            one,
            "damping matrix, found 4",
        ),
        (
            Box::new(full(&[1.0]).with_relaxation_time(-1.0)),
            one,
            "the relaxation time",
        ),
        (
            Box::new(full(&[1.0]).over_elements(3)),
            one,
            "element 2 of a node that has 2",
        ),
        (
            Box::new(full(&[1.0]).over_groups(&[vec![0, 0]])),
            one,
            "occurs twice",
        ),
        (Box::new(Spring::linear(0.0)), one, "must be positive"),
        (
            Box::new(Spring::tension_only(-1.0)),
            one,
            "the stiffness of `law` is -1",
        ),
        (Box::new(Spring::saturating(1.0, 0.0)), one, "the largest force"),
        (
            Box::new(Spring::stiffening(1.0, -1.0)),
            one,
            "the cubic stiffness",
        ),
        (
            Box::new(Spring::linear(1.0).with_damping(f64::NAN)),
            one,
            "the damping of `law` is NaN",
        ),
        (
            Box::new(Spring::linear(1.0).with_rest(f64::NAN)),
            one,
            "the rest length",
        ),
        (Box::new(Spring::linear(1.0)), bodies, "map the bodies first"),
        (
            Box::new(Spring::table(&[(0.0, 0.0)])),
            one,
            "needs 2 points of a curve",
        ),
        (
            Box::new(Spring::table(&[(0.0, 0.0), (0.0, 1.0)])),
            one,
            "larger than the one before",
        ),
        (
            Box::new(Spring::table(&[(0.0, 0.0), (1.0, f64::NAN)])),
            one,
            "a force of the curve",
        ),
        (Box::new(Drag::new(-1.0, 0.0)), three, "a drag coefficient"),
        (
            Box::new(Drag::new(0.0, f64::INFINITY)),
            three,
            "not a finite number",
        ),
        (
            Box::new(Drag::new(1.0, 1.0).with_angular(1.0, 0.0)),
            three,
            "needs a node of rigid bodies",
        ),
        (
            Box::new(BodyForce::new([0.0; 3], [0.0; 3])),
            three,
            "needs a node of rigid bodies",
        ),
        (
            Box::new(BodyForce::new([f64::NAN; 3], [0.0; 3])),
            bodies,
            "the point of attack",
        ),
        (
            Box::new(Torque::new([0.0, f64::NAN, 0.0])),
            bodies,
            "the torque of `law` is NaN",
        ),
        (
            Box::new(Torque::new([0.0; 3])),
            three,
            "needs a node of rigid bodies",
        ),
        (
            Box::new(ConstantForce::new(&[1.0])),
            three,
            "needs 3 force coordinates",
        ),
        (Box::new(Gas::new(0.0, 1.0, 1.4)), one, "the pressure"),
        (Box::new(Gas::new(1.0, -1.0, 1.4)), one, "the volume"),
        (Box::new(Gas::new(1.0, 1.0, f64::NAN)), one, "the exponent"),
        (
            Box::new(Gas::new(1.0, 1.0, 1.4).with_ambient(f64::NAN)),
            one,
            "the ambient pressure",
        ),
        (
            Box::new(Gas::new(1.0, 1.0, 1.4)),
            three,
            "needs a node of scalars",
        ),
        (Box::new(muscle(0.0, 1.0, 1.0)), one, "the largest force"),
        (Box::new(muscle(1.0, 0.0, 1.0)), one, "the optimal length"),
        (Box::new(muscle(1.0, 1.0, -1.0)), one, "the largest speed"),
        (Box::new(muscle(1.0, 1.0, 1.0)), three, "needs a node of scalars"),
        (
            Box::new(Ligament::new(1.0, 1.0)),
            three,
            "needs a node of scalars",
        ),
        (
            Box::new(Ligament::new(0.0, 1.0)),
            one,
            "the stiffness of `law` is 0",
        ),
        (
            Box::new(Ligament::new(1.0, 0.0)),
            one,
            "the slack length of `law` is 0",
        ),
        (Box::new(Ligament::new(1e300, 1e-300)), one, "the stiffness"),
        (
            Box::new(Ligament::new(1.0, 1.0).with_transition_strain(-0.1)),
            one,
            "the transition strain of `law` is -0.1",
        ),
        (
            Box::new(Ligament::new(1.0, 1.0).with_damping(-1.0)),
            one,
            "the damping",
        ),
        (
            Box::new(ForceLengthMuscle::constant(0.0, 0.0)),
            one,
            "the largest force",
        ),
        (
            Box::new(ForceLengthMuscle::constant(1.0, -0.5)),
            one,
            "the passive share of `law` is -0.5",
        ),
        (
            Box::new(ForceLengthMuscle::linear(1.0, 1.0, 1.0, 0.0)),
            one,
            "must be more than the optimal length",
        ),
        (
            Box::new(ForceLengthMuscle::peck(1.0, 1.0, 2.0, 1.0, 0.0)),
            one,
            "the share of the tendon of `law` is 1, but must be 0 or more and below 1",
        ),
        (
            Box::new(ForceLengthMuscle::pai(1.0, 0.0, 2.0, 0.0, 0.0)),
            one,
            "the optimal length",
        ),
        (
            Box::new(ForceLengthMuscle::simple(1.0, 1.0, 1.0).with_toe(-1.0, false)),
            one,
            "the toe of `law` is -1",
        ),
        (
            Box::new(ForceLengthMuscle::blemker(1.0, 1.0, 2.0).with_exponential(0.1, 0.0)),
            one,
            "the exponent of `law` is 0",
        ),
        (
            Box::new(ForceLengthMuscle::constant(1.0, 0.0).with_activations(&[1.5])),
            one,
            "between 0 and 1",
        ),
        (
            Box::new(muscle(1.0, 1.0, 1.0).with_activations(&[1.1])),
            one,
            "between 0 and 1",
        ),
        (
            Box::new(muscle(1.0, 1.0, 1.0).with_activations(&[f64::NAN])),
            one,
            "between 0 and 1",
        ),
        (
            Box::new(muscle(1.0, 1.0, 1.0).with_activations(&[0.1; 3])),
            one,
            "needs 2 activations, found 3",
        ),
        (Box::new(Potential::new(flat)), Space::Real(49), "48 or fewer"),
        (
            Box::new(Potential::new(flat).over_groups(&[vec![0, 5]])),
            one,
            "element 5",
        ),
    ];
    for (law, space, words) in cases {
        let checked = law.check("law", space, 2);
        let checked = checked.and_then(|()| law.check_inputs("law", law.inputs()));
        let error = checked.unwrap_err().to_string();
        assert!(
            error.contains(words) && error.contains("`law`"),
            "{law:?}: {error}"
        );
    }
}

#[test]
fn bad_muscles_with_tendons() {
    let of = MuscleTendon::thelen;
    let good = || of(1.0, 1.0, 1.0);
    let times = |activation, deactivation| ActivationDynamics {
        activation,
        deactivation,
    };
    let cases = [
        (of(0.0, 1.0, 1.0), "the largest force"),
        (of(1.0, f64::NAN, 1.0), "the optimal length"),
        (of(1.0, 1.0, 0.0), "the slack length of the tendon of `law` is 0"),
        (
            of(1.0, 1.0, -1.0).with_rigid_tendon(),
            "the slack length of the tendon",
        ),
        (good().with_pennation(-0.1), "the pennation angle"),
        (good().with_pennation(1.5), "less than 1.4706 rad"),
        (good().with_pennation(f64::NAN), "the pennation angle"),
        (good().with_speed(0.0), "the largest speed"),
        (good().with_fibre_damping(-1.0), "the damping of the fibre"),
        (good().with_tendon_strain(0.0), "the strain of the tendon"),
        (
            good().with_dynamics(times(0.0, 1.0)),
            "the time constant of activation",
        ),
        (
            good().with_dynamics(times(1.0, f64::NAN)),
            "the time constant of deactivation",
        ),
        (
            good().with_dynamics(times(1.0, 1.0)).with_rigid_tendon(),
            "left out with a rigid tendon",
        ),
        (good().with_excitations(&[0.1; 3]), "needs 2 excitations, found 3"),
        (
            good().with_excitations(&[0.1, -0.1]),
            "an excitation of `law` is -0.1",
        ),
        (good().with_excitations(&[f64::NAN]), "between 0 and 1"),
    ];
    for (law, words) in cases {
        let checked = law.check("law", Space::Real(1), 2);
        let checked = checked.and_then(|()| law.check_inputs("law", law.inputs()));
        let error = checked.unwrap_err().to_string();
        assert!(
            error.contains(words) && error.contains("`law`"),
            "{law:?}: {error}"
        );
    }
    let error = good().check("law", Space::Real(3), 2).unwrap_err().to_string();
    assert!(error.contains("needs a node of scalars"), "{error}");
    assert!(
        of(1.0, 1.0, 0.0)
            .with_rigid_tendon()
            .check("law", Space::Real(1), 2)
            .is_ok()
    );
    // As rows it would need another past.
    let mut model = Model::new();
    let node = model.add_scalars("lengths", &[2.0]).unwrap();
    let error = model.add_force_field("law", node, good(), Treatment::Compliance);
    assert!(error.is_err());
}
