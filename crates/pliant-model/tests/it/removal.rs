//! Elements that are taken out of a model: forces, stiffness and supports are those of a model that
//! never had them.

use pliant_model::{
    Affine, AffineEntry, Dependency, DihedralAngle, Distance, ElementIndex, Evaluation, Mapping, Model,
    ModelError, NodeId, Problem, Space, State, Subset, Treatment, UniformCompliance,
};

const POINTS: [[f64; 3]; 5] = [
    [0.0, 0.0, 0.0],
    [1.0, 0.1, 0.0],
    [0.2, 1.0, 0.3],
    [0.3, -0.9, 0.4],
    [1.1, 0.8, -0.5],
];

/// Springs on a mapping of five points.
fn springs(mapping: Box<dyn Mapping>) -> (Model, NodeId) {
    let mut model = Model::new();
    let points = model.add_particles("points", &POINTS).unwrap();
    let node = model.add_boxed_mapped("mapped", &[points], mapping).unwrap();
    let law = UniformCompliance::from_stiffness(7.0).with_relaxation_time(0.1);
    model
        .add_force_field("springs", node, law, Treatment::Stiffness)
        .unwrap();
    (model, node)
}

fn state(problem: &Problem) -> State {
    let mut state = problem.initial_state().unwrap();
    let points = problem.node_named("points").unwrap();
    for (k, v) in state.velocities[problem.node(points).velocity_range()]
        .iter_mut()
        .enumerate()
    {
        *v = (1.0 + k as f64).sin();
    }
    problem.bring_to_rest(&mut state).unwrap();
    Evaluation::new(problem).propagate(problem, &mut state).unwrap();
    state
}

/// Forces on the points, and the accelerations of the mapped coordinates at constant velocity.
fn forces(problem: &Problem) -> (Vec<f64>, f64) {
    let state = state(problem);
    let mut evaluation = Evaluation::new(problem);
    evaluation.evaluate(problem, &state).unwrap();
    let mut force = evaluation.force().to_vec();
    evaluation.pull_back(problem, &mut force);
    let points = problem.node_named("points").unwrap();
    let own = force[problem.node(points).velocity_range()].to_vec();
    (own, problem.energies(&state).potential)
}

fn entry(element: usize, coordinate: usize, from: usize, value: f64) -> AffineEntry {
    AffineEntry {
        element,
        coordinate,
        from: Dependency::new(0, from),
        from_coordinate: coordinate,
        value,
    }
}

#[test]
fn what_is_left_is_a_model_without_the_rest() {
    let hinges = [[0, 1, 2, 3], [0, 1, 4, 3], [1, 0, 3, 2]];
    let pairs = [(0, 1), (1, 2), (2, 4), (3, 4)];
    let entries = [
        entry(0, 0, 1, 2.0),
        entry(1, 2, 3, -1.0),
        entry(0, 1, 4, 0.5),
        entry(2, 0, 2, 1.5),
    ];
    let kept = |gone: usize| -> [Box<dyn Mapping>; 3] {
        let stays = |(k, _): &(usize, &[usize; 4])| *k != gone;
        let hinges: Vec<_> = hinges.iter().enumerate().filter(stays).map(|(_, h)| *h).collect();
        let pairs = pairs.iter().enumerate().filter(|(k, _)| *k != gone);
        let pairs: Vec<_> = pairs.map(|(_, p)| *p).collect();
        let entries: Vec<_> = entries.iter().filter(|e| e.element != gone).copied().collect();
        let mut offset = vec![0.3; 9];
        if gone < 3 {
            offset[3 * gone..3 * gone + 3].fill(0.0);
        }
        [
            Box::new(DihedralAngle::between(&hinges).with_rest_angles(&[0.2])),
            Box::new(Distance::between(&pairs).with_rest_lengths(&[0.8])),
            Box::new(Affine::new(3, &offset, &entries)),
        ]
    };
    for gone in 0..3 {
        for (whole, without) in kept(9).into_iter().zip(kept(gone)) {
            let (model, node) = springs(whole);
            let mut problem = Problem::new(model);
            let before = forces(&problem);
            let at = ElementIndex {
                node: node.index(),
                element: gone,
            };
            assert!(problem.remove_elements(&[at, at]).unwrap());
            assert!(!problem.remove_elements(&[at]).unwrap(), "twice is once");
            assert_eq!(problem.removed_elements(), [at]);
            assert!(problem.is_gone(at));
            let reference = Problem::new(springs(without).0);
            assert_eq!(forces(&problem), forces(&reference));
            assert_ne!(forces(&problem), before);
            let of_gone = problem.model().node(node).space.position_size();
            let state = state(&problem);
            assert_eq!(
                problem.positions(&state, node)[gone * of_gone..][..of_gone],
                vec![0.0; of_gone]
            );
            assert!(problem.remove_elements(&[]).unwrap());
            assert_eq!(forces(&problem), before, "back again");
        }
    }
}

/// A hinge that has turned by more than half a turn is at rest, not a full turn away from it.
#[test]
fn a_hinge_that_has_turned_ends_at_rest() {
    let (model, node) = springs(Box::new(DihedralAngle::between(&[[0, 1, 2, 3]])));
    let mut problem = Problem::new(model);
    let mut state = problem.initial_state().unwrap();
    let first = problem.node(node).first_position;
    state.positions[first] = 6.0;
    let at = ElementIndex {
        node: node.index(),
        element: 0,
    };
    problem.remove_elements(&[at]).unwrap();
    problem.bring_to_rest(&mut state).unwrap();
    assert_eq!(state.positions[first], 0.0);
}

#[test]
fn what_cannot_go_is_named() {
    let (model, node) = springs(Box::new(Subset::of_elements(Space::Real(3), &[0, 1])));
    let points = model.node_named("points").unwrap();
    let mut problem = Problem::new(model);
    for (node, element, message) in [
        (
            node.index(),
            0,
            "elements of `mapped` cannot be removed: its mapping has no value at rest",
        ),
        (
            points.index(),
            0,
            "elements of `points` cannot be removed: its elements are degrees of freedom",
        ),
        (
            node.index(),
            2,
            "`mapped` refers to element 2 of a node that has 2",
        ),
        (9, 0, "refers to node 9"),
    ] {
        let error: ModelError = problem
            .remove_elements(&[ElementIndex { node, element }])
            .unwrap_err();
        assert!(error.to_string().contains(message), "{error}");
    }
    assert!(problem.removed_elements().is_empty());
}
