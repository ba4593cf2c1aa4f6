//! Points side by side in the registers of the machine: no bit of a point shows its neighbours, its
//! place among them, or whether its polar decomposition was kept.

use pliant_continuum::CorotationalStrain;
use pliant_model::{Evaluation, Mapping, Model, Parents, Space, State};

/// A deformation gradient, how fast it changes, and a stress.
#[derive(Clone, Copy)]
struct Point {
    gradient: [f64; 9],
    rate: [f64; 9],
    stress: [f64; 6],
}

/// Points by turns near a rotation, far from one and inside out, so that neighbours take different
/// numbers of iterations or none.
fn points(count: usize) -> Vec<Point> {
    let number = |k: usize| (12.9898 * (k + 1) as f64).sin();
    let point = |p: usize| {
        let size = [1e-9, 0.02, 0.3, 0.6][p % 4];
        let at = |k: usize| size * number(31 * p + k);
        let diagonal = if p % 3 == 2 {
            [1.0, 1.1, -0.4]
        } else {
            [1.0, 1.0, 1.0]
        };
        Point {
            gradient: std::array::from_fn(|k| at(k) + if k % 4 == 0 { diagonal[k / 4] } else { 0.0 }),
            rate: std::array::from_fn(|k| number(31 * p + 9 + k)),
            stress: std::array::from_fn(|k| number(31 * p + 18 + k)),
        }
    };
    (0..count).map(point).collect()
}

fn model(points: &[Point]) -> (Model, State) {
    let places: Vec<f64> = points.iter().flat_map(|p| p.gradient).collect();
    let rates: Vec<f64> = points.iter().flat_map(|p| p.rate).collect();
    let mut model = Model::new();
    let parent = model
        .add_independent("f", Space::Real(9), &places, &rates)
        .unwrap();
    model
        .add_mapped("e", &[parent], CorotationalStrain::new(points.len()))
        .unwrap();
    let state = model.initial_state().unwrap();
    (model, state)
}

/// Value, Jacobian, acceleration and geometric stiffness of each point.
fn evaluated(
    model: &Model,
    evaluation: &mut Evaluation,
    state: &mut State,
    points: &[Point],
) -> Vec<Vec<f64>> {
    evaluation.propagate(model, state).unwrap();
    evaluation.find_bias(model, state);
    let child = &model.nodes()[1];
    let mut force = vec![0.0; model.velocity_count()];
    let stresses = points.iter().flat_map(|p| p.stress);
    force[child.velocity_range()]
        .iter_mut()
        .zip(stresses)
        .for_each(|(f, s)| *f = s);
    let geometry = evaluation
        .geometric_stiffness(model, state, 1, &force)
        .unwrap()
        .clone();
    let values = &state.positions[child.position_range()];
    let accelerations = &evaluation.bias()[child.velocity_range()];
    let mut jacobians = vec![[0.0; 54]; points.len()];
    evaluation.write_jacobian(model, 1, 0..points.len(), jacobians.as_flattened_mut());
    let of_point = |p: usize| {
        let six = 6 * p..6 * p + 6;
        let parts = [
            &values[six.clone()],
            &jacobians[p],
            &accelerations[six],
            geometry.block(p),
        ];
        parts.concat()
    };
    (0..points.len()).map(of_point).collect()
}

fn everything(points: &[Point]) -> Vec<Vec<f64>> {
    let (model, mut state) = model(points);
    evaluated(&model, &mut Evaluation::new(&model), &mut state, points)
}

#[test]
fn the_neighbours_of_a_point_do_not_show() {
    let points = points(27);
    let together = everything(&points);
    assert!(together.iter().flatten().all(|x| x.is_finite()));
    for (p, point) in points.iter().enumerate() {
        assert_eq!(everything(&[*point])[0], together[p], "alone: {p}");
    }
    for shift in 1..9 {
        let mut shifted = points.clone();
        shifted.rotate_left(shift);
        let mut expected = together.clone();
        expected.rotate_left(shift);
        assert_eq!(everything(&shifted), expected, "shifted by {shift}");
    }
}

/// Positions that change make new decompositions.
#[test]
fn what_is_kept_follows_the_positions() {
    let points = points(13);
    let (model, mut state) = model(&points);
    let mut evaluation = Evaluation::new(&model);
    evaluated(&model, &mut evaluation, &mut state, &points);
    let mut moved = points.clone();
    moved.reverse();
    let parent = model.nodes()[0].position_range();
    let places = moved.iter().flat_map(|p| p.gradient);
    state.positions[parent]
        .iter_mut()
        .zip(places)
        .for_each(|(x, f)| *x = f);
    let rates = moved.iter().flat_map(|p| p.rate);
    state.velocities[model.nodes()[0].velocity_range()]
        .iter_mut()
        .zip(rates)
        .for_each(|(v, f)| *v = f);
    assert_eq!(
        evaluated(&model, &mut evaluation, &mut state, &moved),
        everything(&moved)
    );
}

/// A mapping that is called by hand keeps nothing, and gives the same bits.
#[test]
fn nothing_needs_to_be_kept() {
    let points = points(11);
    let expected = everything(&points);
    let places: Vec<f64> = points.iter().flat_map(|p| p.gradient).collect();
    let rates: Vec<f64> = points.iter().flat_map(|p| p.rate).collect();
    let stresses: Vec<f64> = points.iter().flat_map(|p| p.stress).collect();
    let ranges = [(0, 0, Space::Real(9))];
    let parents = Parents::new(&places, &rates, &ranges);
    let mapping = CorotationalStrain::new(points.len());
    let pieces = mapping.pieces().unwrap();
    let mut kept = vec![f64::NAN; pieces.kept_size() * points.len()];
    pieces.prepare(parents, 0..points.len(), &mut kept).unwrap();
    for parents in [parents, parents.with_kept(&kept)] {
        let (mut values, mut bias) = (vec![0.0; 66], vec![0.0; 66]);
        let (mut jacobian, mut geometry) = (vec![0.0; 54 * 11], vec![0.0; 81 * 11]);
        pieces.apply(parents, 0..11, &mut values).unwrap();
        pieces.jacobian(parents, 0..11, &mut jacobian).unwrap();
        // From the middle on: the kept numbers of a point are found by its number.
        pieces.add_bias(parents, 0..5, &mut bias[..30]);
        pieces.add_bias(parents, 5..11, &mut bias[30..]);
        pieces.geometric_stiffness(parents, 0..3, &stresses[..18], &mut geometry[..243]);
        pieces.geometric_stiffness(parents, 3..11, &stresses[18..], &mut geometry[243..]);
        for (p, expected) in expected.iter().enumerate() {
            let parts = [
                &values[6 * p..][..6],
                &jacobian[54 * p..][..54],
                &bias[6 * p..][..6],
                &geometry[81 * p..][..81],
            ];
            assert_eq!(parts.concat(), *expected, "{p}");
        }
    }
}
