//! Gradients by the numbers that each element of a node has of its own, all at once: against families
//! of one parameter for each element.

use super::options;
use super::stages::two_stages;
use crate::tools::numbers;
use pliant::continuum::{Mesh, Solid, StrainEnergy};
use pliant::gradient::*;
use pliant::prelude::*;

/// Particles on a line of springs of these stiffnesses, between the first and the last, which are
/// held, and with these masses.
fn line(stiffnesses: &[f64], masses: &[f64], treatment: Treatment) -> Model {
    let mut model = Model::new();
    model.set_gravity([0.0, 0.0, -9.81]).unwrap();
    let count = stiffnesses.len() + 1;
    let places: Vec<[f64; 3]> = (0..count).map(|k| [0.1 * k as f64, 0.0, 0.0]).collect();
    let points = model.add_particles("points", &places).unwrap();
    model
        .add_mass("mass", points, Mass::PerElement(masses.to_vec()))
        .unwrap();
    let pairs: Vec<(End, End)> = (1..count)
        .map(|k| (End::element(0, k - 1), End::element(0, k)))
        .collect();
    let distance = Distance::new(&pairs).with_rest_lengths(&vec![0.09; count - 1]);
    let threads = model.add_mapped("threads", &[points], distance).unwrap();
    let springs = DiagonalCompliance::from_stiffnesses(stiffnesses).with_relaxation_time(0.01);
    model
        .add_force_field("springs", threads, springs, treatment)
        .unwrap();
    for end in [0, count - 1] {
        model.fix(points, end, &[true; 3]).unwrap();
    }
    model
}

/// The sum of the heights of all particles over all moments, with weights that differ.
fn heights(_: usize, s: &Simulation, by: &mut NodeGradient) -> f64 {
    let x = s.positions(s.model().node_named("points").unwrap());
    let weights = (0..x.len()).map(|k| 1.0 + 0.1 * k as f64);
    weights
        .zip(x)
        .enumerate()
        .map(|(k, (w, x))| {
            by.x[k] = w;
            w * x
        })
        .sum()
}

fn compare(what: &str, found: &[f64], expected: &[f64]) {
    let size = expected.iter().fold(0.0f64, |l, x| l.max(x.abs()));
    assert_eq!(found.len(), expected.len());
    for (k, (a, b)) in found.iter().zip(expected).enumerate() {
        assert!((a - b).abs() < 1e-9 * size, "{what}, {k}: {a} {b}");
    }
    assert!(size > 0.0, "{what}");
}

/// Stiffnesses of springs, as forces and as rows, and masses of particles, by implicit Euler, with
/// weights of both ends and by SDIRK2: by shares of each, from one parameter, and from one for each.
#[test]
fn springs_and_masses_one_by_one() {
    let stiffnesses: Vec<f64> = numbers(7, 12).iter().map(|x| 100.0 + 50.0 * x).collect();
    let masses: Vec<f64> = numbers(8, 13).iter().map(|x| 0.02 + 0.01 * x).collect();
    let both = [Treatment::Stiffness, Treatment::Compliance];
    let methods = || {
        let weighted = [1.0, 0.6].map(|weight| Options {
            alpha: weight,
            beta: weight,
            ..options()
        });
        weighted.into_iter().chain([two_stages()])
    };
    let ways = both
        .into_iter()
        .flat_map(|treatment| methods().map(move |options| (treatment, options)));
    for (treatment, options) in ways {
        let build = |shares: [f64; 2], each: Option<&[f64]>| {
            let own = |k: usize| each.map_or(1.0, |each| each[k]);
            let scaled = |list: &[f64], share: f64, first: usize| {
                let all = list.iter().enumerate();
                all.map(|(k, x)| x * share * own(first + k)).collect::<Vec<f64>>()
            };
            let (springs, count) = (scaled(&stiffnesses, shares[0], 0), stiffnesses.len());
            line(&springs, &scaled(&masses, shares[1], count), treatment)
        };
        let make = |p: &[f64]| Ok(Problem::new(build([p[0], p[1]], None)));
        let make_each = |p: &[f64]| Ok(Problem::new(build([1.0; 2], Some(p))));
        let mut family = Family::new(&make, &[1.0; 2], &[1.0; 2]).unwrap();
        let mut each = Family::new(&make_each, &[1.0; 25], &[1.0; 25]).unwrap();
        let mut s = Simulation::with_options(build([1.0; 2], None), options).unwrap();
        let [points, threads] = ["points", "threads"].map(|name| s.model().node_named(name).unwrap());
        let start = s.checkpoint();
        let mut trajectory = Trajectory::new(20, 0.01);
        trajectory.each_element = vec![(0, threads), (1, points)];
        trajectory.family = Some(&mut family);
        let found = trajectory.gradient(&mut s, &mut heights).unwrap();
        s.restore(&start).unwrap();
        let mut trajectory = Trajectory::new(20, 0.01);
        trajectory.family = Some(&mut each);
        let expected = trajectory.gradient(&mut s, &mut heights).unwrap().parameters;
        compare("stiffnesses", &found.elements[0], &expected[..12]);
        compare("masses", &found.elements[1], &expected[12..]);
        let sums: Vec<f64> = found.elements.iter().map(|list| list.iter().sum()).collect();
        compare("sums", &sums, &found.parameters);
    }
}

/// The modulus of a solid that sags, at each quadrature point: the sum over a part of it is the
/// derivative by the modulus of that part, for rest and for motion.
#[test]
fn moduli_of_a_solid_place_by_place() {
    let build = |near: f64, far: f64| {
        let mesh = Mesh::hexahedral_box([0.4, 0.1, 0.1], [4, 1, 1]).unwrap();
        let mut model = Model::new();
        model.set_gravity([0.0, 0.0, -9.81]).unwrap();
        let own = |young: f64| Solid::hyperelastic(StrainEnergy::stable_neo_hookean(young, 0.3));
        let at = |x: [f64; 3]| own(1e5 * (1.0 + x[0]) * if x[0] < 0.2 { near } else { far });
        let parts = own(1e5).add_varying_to(&mut model, "points", &mesh, &at).unwrap();
        for (i, _) in mesh.nodes.iter().enumerate().filter(|(_, x)| x[0] == 0.0) {
            model.fix(parts.nodes, i, &[true; 3]).unwrap();
        }
        (model, parts.gradients)
    };
    let make = |p: &[f64]| Ok(Problem::new(build(p[0] * p[2], p[1] * p[2]).0));
    let at = [1.0; 3];
    let mut family = Family::new(&make, &at, &at).unwrap();
    let (model, gradients) = build(1.0, 1.0);
    let mut s = Simulation::with_options(model, two_stages()).unwrap();
    // Eight quadrature points in each of four cells, the first two of which are near.
    let halves = |list: &[f64]| [list[..16].iter().sum::<f64>(), list[16..].iter().sum()];
    for options in [two_stages(), options()] {
        s.options = options;
        let mut trajectory = Trajectory::new(10, 0.01);
        trajectory.each_element = vec![(2, gradients)];
        trajectory.family = Some(&mut family);
        let found = trajectory.gradient(&mut s, &mut heights).unwrap();
        assert_eq!(found.elements[0].len(), 32);
        compare("motion", &halves(&found.elements[0]), &found.parameters[..2]);
    }
    s.find_equilibrium(&Equilibrium::default()).unwrap();
    let mut rest = RestDerivative::new(s.problem()).unwrap();
    rest.place(s.problem(), &s.rest_state()).unwrap();
    let by: Vec<f64> = numbers(3, s.model().dof_count());
    rest.adjoint([&by, &[]]).unwrap();
    let mut each = Vec::new();
    rest.by_element(&mut family, 2, gradients, &mut each).unwrap();
    let expected = [0, 1].map(|k| rest.by_parameter(&mut family, k).unwrap());
    compare("rest", &halves(&each), &expected);
}

/// Parameters that move more than the elements of one node, and laws that couple them, are refused.
#[test]
fn parameters_of_more_than_elements_are_refused() {
    let (stiffnesses, masses) = ([100.0; 3], [0.02; 4]);
    let both = |p: &[f64]| {
        let (springs, masses) = (stiffnesses.map(|k| k * p[0]), masses.map(|m| m * p[0]));
        Ok(Problem::new(line(&springs, &masses, Treatment::Stiffness)))
    };
    let longer = |p: &[f64]| {
        let mut model = line(&stiffnesses, &masses, Treatment::Stiffness);
        let points = model.node_named("points").unwrap();
        model.set_velocity(points, 1, &[true; 3], &[0.0, p[0], 0.0])?;
        Ok(Problem::new(model))
    };
    for (make, says) in [
        (
            &both as &MakeModel<'_>,
            "`threads`: it moves what acts on `points`",
        ),
        (&longer, "the state at the start depends on it"),
    ] {
        let mut family = Family::new(make, &[1.0], &[1.0]).unwrap();
        let mut s =
            Simulation::with_options(line(&stiffnesses, &masses, Treatment::Stiffness), options()).unwrap();
        let mut trajectory = Trajectory::new(3, 0.01);
        trajectory.each_element = vec![(0, s.model().node_named("threads").unwrap())];
        trajectory.family = Some(&mut family);
        let said = trajectory.gradient(&mut s, &mut heights).unwrap_err().to_string();
        assert!(said.contains(says), "{said}");
    }
    let mesh = Mesh::hexahedral_box([0.4, 0.1, 0.1], [2, 1, 1]).unwrap();
    let make_model = |density: f64| {
        let mut model = Model::new();
        model.set_gravity([0.0, 0.0, -9.81]).unwrap();
        let solid = Solid::corotational(1e5, 0.3).with_density(density);
        let solid = solid.with_mass(pliant::continuum::MassMatrix::Consistent);
        solid.add_to(&mut model, "points", &mesh).unwrap();
        model
    };
    let make = |p: &[f64]| Ok(Problem::new(make_model(p[0])));
    let mut family = Family::new(&make, &[1000.0], &[1000.0]).unwrap();
    let mut s = Simulation::with_options(make_model(1000.0), options()).unwrap();
    let mut trajectory = Trajectory::new(3, 0.01);
    trajectory.each_element = vec![(0, s.model().node_named("points").unwrap())];
    trajectory.family = Some(&mut family);
    let said = trajectory.gradient(&mut s, &mut heights).unwrap_err().to_string();
    assert!(said.contains("it couples elements"), "{said}");
}
