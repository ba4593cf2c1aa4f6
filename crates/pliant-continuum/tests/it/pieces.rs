//! Strains and materials a few points at a time, on threads: the same bits as all at once, and the
//! same errors.

use pliant_continuum::{
    CorotationalStrain, Elasticity, LinearElastic, Mesh, Solid, StrainEnergy, StrainMeasure,
};
use pliant_model::{
    Blocks, Evaluation, LeanState, Model, ModelError, NodeKind, Problem, Space, State, Threads, Treatment,
};

/// A block of 800 points, deflected, twisted and in motion.
fn deflected(solid: &Solid) -> (Problem, State) {
    let mesh = Mesh::hexahedral_box([1.0, 0.5, 0.5], [5, 5, 4]).unwrap();
    let place = |[x, y, z]: &[f64; 3]| [x + 0.2 * y * z, y - 0.3 * x * z, z + 0.2 * x * x];
    let velocity = |[x, y, z]: &[f64; 3]| [0.3 - y, x * z, 0.2 * x];
    let positions: Vec<f64> = mesh.nodes.iter().flat_map(place).collect();
    let velocities: Vec<f64> = mesh.nodes.iter().flat_map(velocity).collect();
    let mut model = Model::new();
    let nodes = model
        .add_independent("block", Space::Real(3), &positions, &velocities)
        .unwrap();
    solid.add_on(&mut model, "block", nodes, &mesh).unwrap();
    let state = model.initial_state().unwrap();
    (Problem::new(model), state)
}

/// All that an evaluation makes of a state.
fn everything(model: &Problem, state: &State, threads: usize) -> Vec<Vec<f64>> {
    let mut evaluation = Evaluation::new(model);
    evaluation.share(&Threads::new(threads).unwrap());
    let mut state = state.clone();
    // What is mapped is made anew.
    let mapped = model.nodes()[1].first_position;
    state.positions[mapped..].fill(0.0);
    evaluation.propagate(model, &mut state).unwrap();
    evaluation.evaluate(model, &state).unwrap();
    let force = evaluation.force().to_vec();
    let (mut pulled, mut pushed) = (force.clone(), state.velocities.clone());
    let mut sizes: Vec<f64> = force.iter().map(|f| f.abs()).collect();
    evaluation.pull_back(model, &mut pulled);
    evaluation.pull_back_sizes(model, &mut sizes);
    evaluation.push_forward(model, &mut pushed);
    let mut out = vec![force, pulled, sizes, pushed, evaluation.bias().to_vec()];
    let mut room = [0.0; Evaluation::MOST_MADE];
    for point in 0..model.nodes()[1].count {
        out.push(evaluation.stiffness_block(model, 0, point, &mut room).to_vec());
    }
    for index in 1..model.nodes().len() {
        let count = model.nodes()[index].count;
        // Coefficients of eight nodes, or strains over nine numbers.
        let mut blocks = vec![f64::NAN; if index == 1 { 24 } else { 54 } * count];
        assert!(evaluation.write_jacobian(model, index, 0..count, &mut blocks));
        out.push(blocks);
        if let Some(blocks) = evaluation.geometric_stiffness(model, &state, index, &out[0]) {
            out.push(blocks.run(0..blocks.len()).to_vec());
        }
    }
    out.push(state.positions);
    out.push(state.velocities);
    out
}

#[test]
fn threads_do_not_show_in_strains_and_materials() {
    for solid in [
        Solid::corotational(1e5, 0.3),
        Solid::st_venant_kirchhoff(1e5, 0.3),
        Solid::hyperelastic(StrainEnergy::stable_neo_hookean(1e5, 0.3)),
    ] {
        let (model, state) = deflected(&solid);
        let alone = everything(&model, &state, 1);
        assert!(alone.iter().all(|a| a.iter().all(|x| x.is_finite())));
        assert_eq!(everything(&model, &state, 2), alone, "{solid:?}");
        assert_eq!(everything(&model, &state, 3), alone, "{solid:?}");
    }
}

/// `<J v, f> = <v, J^T f>` with forces that are gathered by threads; the tolerance is that of sums
/// of ten thousand terms.
#[test]
fn what_threads_gather_is_the_transpose_of_what_they_push() {
    let (model, mut state) = deflected(&Solid::corotational(1e5, 0.3));
    let mut evaluation = Evaluation::new(&model);
    evaluation.share(&Threads::new(3).unwrap());
    evaluation.propagate(&model, &mut state).unwrap();
    let gradients = model.nodes()[1].velocity_range();
    let mut force = vec![0.0; model.velocity_count()];
    for (k, f) in force[gradients.clone()].iter_mut().enumerate() {
        *f = (0.7 * k as f64).sin();
    }
    let product = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let below = product(&state.velocities[gradients.clone()], &force[gradients]);
    evaluation.pull_back(&model, &mut force);
    let own = model.nodes()[0].velocity_range();
    let above = product(&state.velocities[own.clone()], &force[own]);
    assert!((below - above).abs() < 1e-10 * below.abs(), "{below} {above}");
}

/// The block of one element where it is wanted is that of all elements, to the bit; a linear
/// mapping has none, and nothing is written.
#[test]
fn one_geometric_block_is_that_of_all() {
    let (model, mut state) = deflected(&Solid::corotational(1e5, 0.3));
    let mut evaluation = Evaluation::new(&model);
    evaluation.propagate(&model, &mut state).unwrap();
    evaluation.evaluate(&model, &state).unwrap();
    let force = evaluation.force().to_vec();
    let blocks = evaluation
        .geometric_stiffness(&model, &state, 2, &force)
        .unwrap()
        .clone();
    for element in [0, 1, 517, 799] {
        let mut out = [f64::NAN; 81];
        assert!(evaluation.write_geometric_stiffness(
            &model,
            &state,
            (2, element..element + 1),
            &force,
            &mut out
        ));
        assert_eq!(out, blocks.block(element));
    }
    let mut out = [0.0; 3];
    assert!(!evaluation.write_geometric_stiffness(&model, &state, (0, 0..1), &force, &mut out));
}

/// Jacobians of strains that are made where they are read are those that the mapping writes from
/// its parents, to the bit, in any piece; nothing is stored of them. Those of gradients are with the
/// mapping.
#[test]
fn jacobians_that_are_not_stored_are_those_of_the_mapping() {
    for measure in [
        StrainMeasure::Small,
        StrainMeasure::Corotational,
        StrainMeasure::GreenLagrange,
    ] {
        let law = Elasticity::Isotropic {
            young: 1e5,
            poisson: 0.3,
        };
        let (model, mut state) = deflected(&Solid::of_strains(measure, law));
        let mut evaluation = Evaluation::new(&model);
        evaluation.propagate(&model, &mut state).unwrap();
        assert!(evaluation.jacobian(2).is_none());
        for (index, size) in [(1, 24), (2, 54)] {
            let node = &model.nodes()[index];
            let NodeKind::Mapped { mapping, ranges, .. } = &node.kind else {
                panic!("{index} is mapped");
            };
            let (height, width) = if index == 1 { (3, 8) } else { (6, 9) };
            let mut expected = Blocks::new((0..node.count).map(|_| (height, width)));
            let parents = pliant_model::Parents::new(&state.positions, &state.velocities, ranges);
            mapping.jacobian(parents, &mut expected).unwrap();
            for elements in [0..1, 3..20, 513..514, 0..800] {
                let mut found = vec![f64::NAN; elements.len() * size];
                assert!(evaluation.write_jacobian(&model, index, elements.clone(), &mut found));
                assert_eq!(found, expected.run(elements), "{measure:?}");
            }
        }
        assert!(!evaluation.write_jacobian(&model, 0, 0..1, &mut []));
    }
}

/// A law three times as strong has three times the force and the stiffness, made where it is read or
/// stored.
#[test]
fn stiffness_that_is_not_stored_is_scaled_with_its_force() {
    for solid in [
        Solid::corotational(1e5, 0.3),
        Solid::hyperelastic(StrainEnergy::neo_hookean(1e5, 0.3)),
    ] {
        let (model, mut state) = deflected(&solid);
        let mut evaluation = Evaluation::new(&model);
        evaluation.propagate(&model, &mut state).unwrap();
        evaluation.evaluate(&model, &state).unwrap();
        let range = model.node(model.force_fields()[0].node).velocity_range();
        let mut room = [0.0; Evaluation::MOST_MADE];
        let mut all = |evaluation: &Evaluation| {
            let mut out = evaluation.force()[range.clone()].to_vec();
            out.extend_from_slice(evaluation.stiffness_block(&model, 0, 7, &mut room));
            out
        };
        let before = all(&evaluation);
        evaluation.scale_field(&model, &state, 0, 3.0);
        let after = all(&evaluation);
        let largest = before.iter().fold(0.0f64, |a, x| a.max(x.abs()));
        // One rounding more.
        let same = |(a, b): (&f64, &f64)| (3.0 * a - b).abs() < 1e-15 * largest;
        assert!(before.iter().zip(&after).all(same));
    }
}

/// A state comes back to the bit by what others do not follow from, and that is little of a solid:
/// gradients and strains, 15 numbers at each of 800 points, follow from the nodes.
#[test]
fn a_state_comes_back_by_its_lean_part() {
    let (model, start) = deflected(&Solid::corotational(1e5, 0.3));
    let lean = LeanState::of(&model, &start);
    let kept: usize = lean.nodes(&model).map(|(_, x)| x.len()).sum();
    assert_eq!((kept, start.positions.len()), (3 * 180, 3 * 180 + 15 * 800));
    assert!(start.velocities[3 * 180..].iter().any(|v| *v != 0.0));
    let mut state = start.clone();
    for (k, x) in state.positions.iter_mut().enumerate() {
        *x += 0.01 * (k as f64).sin();
    }
    state.velocities.fill(1.0);
    lean.write(&model, &mut state);
    assert!(state != start);
    model.propagate(&mut state).unwrap();
    assert_eq!(state, start);
}

/// Two points without a rotation in different pieces: it is always the first that is named.
#[test]
fn the_first_degenerate_point_is_named_whatever_the_threads() {
    let identity = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0];
    let count = 1500;
    let mut model = Model::new();
    let places: Vec<f64> = (0..count).flat_map(|_| identity).collect();
    let velocities = vec![0.0; 9 * count];
    let f = model
        .add_independent("f", Space::Real(9), &places, &velocities)
        .unwrap();
    let strain = CorotationalStrain::new(count);
    model.add_mapped("e", &[f], strain).unwrap();
    let mut state = model.initial_state().unwrap();
    for point in [700, 1400] {
        state.positions[9 * point + 4] = 0.0;
        state.positions[9 * point + 8] = 0.0;
    }
    for threads in [1, 2, 3] {
        let mut evaluation = Evaluation::new(&model);
        evaluation.share(&Threads::new(threads).unwrap());
        match evaluation.propagate(&model, &mut state) {
            Err(ModelError::Degenerate { name, cause, .. }) => {
                assert_eq!((name.as_str(), cause.element), ("e", 700));
            }
            other => panic!("{other:?}"),
        }
    }
}

/// Moduli that never change are written once, and again after somebody scaled them. The closed form
/// is `V E (1 - nu) / ((1 + nu) (1 - 2 nu))`.
#[test]
fn kept_stiffness_comes_back_after_it_was_scaled() {
    let (young, poisson, volume) = (3e5, 0.25, 2e-3);
    let mut model = Model::new();
    let strains = model
        .add_independent("e", Space::Real(6), &[0.0; 12], &[0.0; 12])
        .unwrap();
    let material = LinearElastic::isotropic(young, poisson, &[volume, 2.0 * volume]);
    model
        .add_force_field("m", strains, material, Treatment::Stiffness)
        .unwrap();
    let model = Problem::new(model);
    let state = model.initial_state().unwrap();
    let mut evaluation = Evaluation::new(&model);
    let exact = volume * young * (1.0 - poisson) / ((1.0 + poisson) * (1.0 - 2.0 * poisson));
    for _ in 0..3 {
        evaluation.evaluate(&model, &state).unwrap();
        for (element, factor) in [(0, 1.0), (1, 2.0)] {
            assert!(evaluation.stiffness(0).is_none());
            let found = evaluation.stiffness_block(&model, 0, element, &mut [0.0; 36])[0];
            // A few roundings.
            assert!((found / (factor * exact) - 1.0).abs() < 1e-14, "{found} {exact}");
        }
        evaluation.scale_field(&model, &state, 0, 0.25);
    }
}
