//! Reduced bodies against the full models, and closed forms.

use pliant::continuum::{MassMatrix, Mesh, Rod, RodCurve, Section, Solid, SolidParts};
use pliant::prelude::*;

mod linkages;

const YOUNG: f64 = 2.0e9;
const DENSITY: f64 = 1200.0;
const LENGTH: f64 = 1.0;
/// Sides of the section.
const SIDES: [f64; 2] = [0.06, 0.04];

/// A beam along x from the origin: of linear strains for what is exact, corotational for what
/// moves.
fn beam(cells: usize, law: Solid) -> (Model, SolidParts, Mesh) {
    let mesh = Mesh::hexahedral_box([LENGTH, SIDES[0], SIDES[1]], [cells, 2, 2]).unwrap();
    let mesh = mesh.into_quadratic();
    let mut model = Model::new();
    let law = law.with_density(DENSITY).with_mass(MassMatrix::Consistent);
    let parts = law.add_to(&mut model, "beam", &mesh).unwrap();
    (model, parts, mesh)
}

fn elastic() -> Solid {
    Solid::corotational(YOUNG, 0.3)
}

/// Nodes of an end.
fn end(mesh: &Mesh, x: f64) -> Vec<usize> {
    let nodes = mesh.nodes.iter().enumerate();
    nodes
        .filter(|(_, p)| (p[0] - x).abs() < 1e-9)
        .map(|(k, _)| k)
        .collect()
}

fn ends(node: NodeId, mesh: &Mesh) -> Vec<Interface> {
    let interface = |x| Interface {
        node,
        elements: end(mesh, x),
    };
    vec![interface(0.0), interface(LENGTH)]
}

fn reduced(model: Model, interfaces: Vec<Interface>, modes: usize) -> ReducedBody {
    let mut simulation = Simulation::new(model).unwrap();
    let before = simulation.state().clone();
    let how = Reduction::new(interfaces, FixedModes::Count(modes));
    let found = simulation.reduce(&how).unwrap();
    assert_eq!(*simulation.state(), before);
    println!("residual {:e}", found.residual());
    found
}

fn beam_of(cells: usize, modes: usize) -> ReducedBody {
    let (model, parts, mesh) = beam(cells, elastic());
    reduced(model, ends(parts.nodes, &mesh), modes)
}

/// The mass and inertia are those of a box; translations and rotations have no part in modes.
#[test]
fn a_reduced_body_has_the_mass_of_the_body() {
    let body = beam_of(6, 4);
    assert_eq!(body.modes().len(), 6 + 4);
    let [a, b] = SIDES;
    let mass = DENSITY * LENGTH * a * b;
    // Rounding of sums over some hundred nodes.
    assert!((body.mass() / mass - 1.0).abs() < 1e-12);
    for (found, exact) in body.centre().iter().zip([LENGTH / 2.0, a / 2.0, b / 2.0]) {
        assert!((found - exact).abs() < 1e-12);
    }
    let inertia = body.inertia();
    let exact = [a * a + b * b, LENGTH * LENGTH + b * b, LENGTH * LENGTH + a * a].map(|s| mass * s / 12.0);
    for i in 0..3 {
        for j in 0..3 {
            let exact = if i == j { exact[i] } else { 0.0 };
            assert!((inertia[i][j] - exact).abs() < 1e-12 * mass, "{inertia:?}");
        }
    }
    for mode in body.modes() {
        println!("{:.2} rad/s, {:.4} kg", mode.angular_frequency, mode.mass);
    }
}

/// The inertia of two bodies on a bushing, one of them turned by a quarter: by their own moments
/// and Steiner's terms `mu (d^2 - d d^T)`, with the reduced mass and the way from one to the other.
#[test]
fn bodies_have_inertia_of_their_own() {
    let mut model = Model::new();
    let half = 0.5f64.sqrt();
    let turned = Pose {
        position: [1.0, 0.5, 0.0],
        rotation: [half, 0.0, 0.0, half],
    };
    let bodies = model.add_rigid_bodies("two", &[Pose::default(), turned]).unwrap();
    let masses = vec![
        RigidMass::principal(2.0, [0.3, 0.5, 0.6]),
        RigidMass::principal(3.0, [0.2, 0.7, 0.8]),
    ];
    model.add_mass("two", bodies, Mass::Rigid(masses)).unwrap();
    let between = Joint::bushing(Side::Body(bodies, 0), Side::Body(bodies, 1), [1e-4; 6], 0.0);
    model
        .add_joint("bushing", &between.at(Pose::at([0.4, 0.2, 0.0])))
        .unwrap();
    let first = Interface {
        node: bodies,
        elements: vec![0],
    };
    let inertia = reduced(model, vec![first], 4).inertia();
    let (mu, d) = (2.0 * 3.0 / 5.0, [1.0, 0.5, 0.0]);
    let own = [0.3 + 0.7, 0.5 + 0.2, 0.6 + 0.8];
    for i in 0..3 {
        for j in 0..3 {
            let own = if i == j { own[i] + mu * 1.25 } else { 0.0 };
            let exact = own - mu * d[i] * d[j];
            assert!((inertia[i][j] - exact).abs() < 1e-13, "{i} {j}: {inertia:?}");
        }
    }
}

/// The lowest frequencies of the free beam fall to those of the full model as modes are added, and
/// are never below (Rayleigh and Ritz: a space in a larger one has no lower values).
#[test]
fn frequencies_come_down_to_those_of_the_full_model() {
    let (model, ..) = beam(6, elastic());
    let mut simulation = Simulation::new(model).unwrap();
    let how = ModeOptions {
        count: 6 + 6,
        ..ModeOptions::default()
    };
    let full = simulation.modes(&how).unwrap();
    let full: Vec<f64> = full.modes[6..].iter().map(Mode::angular_frequency).collect();
    let mut last = [f64::INFINITY; 6];
    for count in [0, 4, 12, 24] {
        let body = beam_of(6, count);
        let found: Vec<f64> = body.modes()[..6].iter().map(|m| m.angular_frequency).collect();
        println!(
            "{count}: {:?}",
            found
                .iter()
                .zip(&full)
                .map(|(a, b)| a / b - 1.0)
                .collect::<Vec<_>>()
        );
        for k in 0..6 {
            // Ends of a free beam that are rigid plates make it stiffer by a share of the
            // thickness.
            assert!(found[k] > full[k] * (1.0 - 1e-9), "{k}");
            assert!(found[k] <= last[k] * (1.0 + 1e-9), "{k}");
            last[k] = found[k];
        }
    }
}

/// The full beam with its ends as rigid plates, which is what interfaces are: a body at each end,
/// and the other nodes free. Returns the plates and the points.
fn plated(model: &mut Model, mesh: &Mesh, law: &Solid) -> (NodeId, NodeId) {
    let mut origins = Vec::new();
    let mut plates = Vec::new();
    for (k, x) in [0.0, LENGTH].into_iter().enumerate() {
        let nodes = end(mesh, x);
        let mean =
            [0, 1, 2].map(|i| nodes.iter().map(|n| mesh.nodes[*n][i]).sum::<f64>() / nodes.len() as f64);
        plates.extend(
            nodes
                .iter()
                .map(|n| (*n, k, [0, 1, 2].map(|i| mesh.nodes[*n][i] - mean[i]))),
        );
        origins.push(Pose::at(mean));
    }
    let bodies = model.add_rigid_bodies("plates", &origins).unwrap();
    let arms: Vec<(usize, [f64; 3])> = plates.iter().map(|(_, k, arm)| (*k, *arm)).collect();
    let riders = model
        .add_mapped("riders", &[bodies], RigidPoints::new(&arms))
        .unwrap();
    let free: Vec<usize> = (0..mesh.nodes.len())
        .filter(|n| plates.iter().all(|p| p.0 != *n))
        .collect();
    let places: Vec<[f64; 3]> = free.iter().map(|n| mesh.nodes[*n]).collect();
    let inner = model.add_particles("inner", &places).unwrap();
    let from = (0..mesh.nodes.len()).map(|n| match plates.iter().position(|p| p.0 == n) {
        Some(k) => Dependency::new(1, k),
        None => Dependency::new(0, free.iter().position(|f| *f == n).unwrap()),
    });
    let all = Subset::of_parents(Space::Real(3), &from.collect::<Vec<_>>());
    let nodes = model.add_mapped("points", &[inner, riders], all).unwrap();
    law.add_on(model, "beam", nodes, mesh).unwrap();
    (bodies, nodes)
}

/// A force (N) on the origin of a body.
fn push(model: &mut Model, body: NodeId, element: usize, force: [f64; 3]) {
    let origin = RigidPoints::new(&[(element, [0.0; 3])]);
    let origin = model.add_mapped("pushed", &[body], origin).unwrap();
    model
        .add_force_field("push", origin, ConstantForce::new(&force), Treatment::Stiffness)
        .unwrap();
}

/// One end held, the other pushed along each axis: the end moves as that of the full model does,
/// for any number of fixed modes, since static displacements of interfaces are in the basis. The
/// push is so small that what both leave out or have of large displacements is a part in 1e6.
#[test]
fn ends_deflect_as_those_of_the_full_model() {
    let law = elastic().with_density(DENSITY).with_mass(MassMatrix::Consistent);
    let mesh = beam(4, elastic()).2;
    for axis in 0..3 {
        let mut force = [0.0; 3];
        force[axis] = [1.0, 1e-3, 1e-3][axis];
        let mut model = Model::new();
        let (plates, _) = plated(&mut model, &mesh, &law);
        push(&mut model, plates, 1, force);
        model.fix(plates, 0, &[true; 6]).unwrap();
        let mut simulation = Simulation::new(model).unwrap();
        let start = simulation.pose(plates, 1).unwrap().position;
        simulation.find_equilibrium(&Equilibrium::default()).unwrap();
        let full = simulation.pose(plates, 1).unwrap();
        for modes in [0, 5] {
            let body = beam_of(4, modes);
            let mut model = Model::new();
            let parts = body.add_to(&mut model, "beam", Pose::default(), 0.0).unwrap();
            push(&mut model, parts.interfaces, 1, force);
            let held = Joint::fixed(Side::World, Side::Body(parts.interfaces, 0));
            model
                .add_joint("held", &held.at(Pose::at([0.0, SIDES[0] / 2.0, SIDES[1] / 2.0])))
                .unwrap();
            let mut simulation = Simulation::new(model).unwrap();
            simulation.find_equilibrium(&Equilibrium::default()).unwrap();
            let found = simulation.pose(parts.interfaces, 1).unwrap();
            let moved = full.position[axis] - start[axis];
            let error = (found.position[axis] - start[axis]) / moved - 1.0;
            println!("{axis} {modes}: {moved:e} m, off by {error:e}");
            assert!(error.abs() < 1e-6);
            for k in 1..4 {
                // Of some 1e-7: a part in 1e5.
                assert!((found.rotation[k] - full.rotation[k]).abs() < 1e-12);
            }
        }
    }
}

fn floating(body: &ReducedBody, damping: f64, linear: [f64; 3], angular: [f64; 3]) -> (Model, ReducedParts) {
    let mut model = Model::new();
    let pose = Pose::turned([0.3, -0.2, 0.1], [1.0, 2.0, -1.0], 0.7);
    let parts = body.add_to(&mut model, "beam", pose, damping).unwrap();
    model.set_body_velocity(parts.frame, 0, linear, angular).unwrap();
    (model, parts)
}

/// A body that falls while its lowest mode rings: the frame falls by `g t^2/2`, whatever the mode
/// does, and the amplitude is that of an oscillator with a share of the critical damping, to second
/// order.
#[test]
fn a_falling_body_rings_with_its_damping() {
    let body = beam_of(4, 2);
    let (share, velocity, g) = (0.05, 1e-3, 9.81);
    let frequency = body.modes()[0].angular_frequency;
    let time = 3.0 * std::f64::consts::TAU / frequency;
    let damped = frequency * (1.0f64 - share * share).sqrt();
    let size = velocity / damped * (-share * frequency * time).exp();
    let exact = size * (damped * time).sin();
    let error = |steps: usize| {
        let (mut model, parts) = floating(&body, share, [0.0; 3], [0.0; 3]);
        model.set_gravity([0.0, 0.0, -g]).unwrap();
        model.set_velocity(parts.modes, 0, &[true], &[velocity]).unwrap();
        let mut simulation = Simulation::new(model).unwrap();
        let start = simulation.pose(parts.frame, 0).unwrap().position;
        for _ in 0..steps {
            simulation.step(time / steps as f64).unwrap();
        }
        let fallen = start[2] - simulation.pose(parts.frame, 0).unwrap().position[2];
        // Rounding, and what the small rotation of the mode's own momentum is in second order.
        assert!((fallen / (0.5 * g * time * time) - 1.0).abs() < 1e-9);
        simulation.positions(parts.modes)[0] - exact
    };
    let errors = [300, 600].map(error);
    println!("{exact:e} m, off by {errors:?}");
    assert!((errors[0] / errors[1] - 4.0).abs() < 0.3, "{errors:?}");
    // The extrapolated value has an error of third order: (2 pi 3/300)^3 of the size and less.
    assert!(
        (4.0 * errors[1] - errors[0]).abs() / 3.0 < 1e-3 * size,
        "{errors:?}"
    );
}

/// A free body that tumbles and vibrates: its momentum stays to rounding, and its angular momentum
/// to the order of the method, which is two.
#[test]
fn a_free_body_keeps_its_momenta_and_its_energy() {
    let body = beam_of(4, 4);
    let drift = |h: f64| {
        let (model, _) = floating(&body, 0.0, [1.0, -2.0, 0.5], [3.0, 20.0, 12.0]);
        let mut simulation = Simulation::new(model).unwrap();
        let mut first = None;
        let (mut last, mut worst) = (None, 0.0f64);
        let steps = (0.2 / h).round() as usize;
        for _ in 0..steps {
            let report = simulation.step(h).unwrap();
            worst = worst.max(report.residual.relative);
            let now = (
                report.momentum,
                report.energies.kinetic + report.energies.potential,
            );
            first = first.or(Some(now));
            last = Some(now);
        }
        let (first, last) = (first.unwrap(), last.unwrap());
        let mut linear = 0.0f64;
        let mut angular = 0.0f64;
        for k in 0..3 {
            linear = linear.max((last.0.linear[k] - first.0.linear[k]).abs());
            angular = angular.max((last.0.angular[k] - first.0.angular[k]).abs());
        }
        let energy = last.1 / first.1 - 1.0;
        println!(
            "h = {h}: {linear:e}, {angular:e} of {:?}, {energy:e}",
            first.0.angular
        );
        (linear, angular, energy.abs())
    };
    let found = [4e-4, 2e-4].map(drift);
    assert!(found.iter().all(|f| f.0 < 1e-10));
    assert!(found[1].1 < 0.3 * found[0].1 && found[1].1 < 1e-5, "{found:?}");
    // The spin sets in at once, and the method damps the stiffest of the vibrations that it
    // strikes, which no such step resolves: at first, and then no more.
    assert!(found.iter().all(|f| f.2 < 1e-4), "{found:?}");
}

/// A bar that spins about an axis across it, at rest in its frame: `E u'' = -rho w^2 (x + u)` from
/// the middle to the free end has the stretch `tan(k L/2)/k - L/2`, `k = w sqrt(rho/E)`. Without
/// Poisson's effect the bar is one of one dimension. Interfaces are the ends; what the modes lack
/// of the stretch by its own weight falls with their number.
#[test]
fn a_spinning_bar_stretches_as_it_should() {
    let error = |count: usize| {
        let young = 2e7;
        let (model, parts, mesh) = beam(8, Solid::corotational(young, 0.0));
        let body = reduced(model, ends(parts.nodes, &mesh), count);
        let (model, parts) = {
            let mut model = Model::new();
            let parts = body.add_to(&mut model, "bar", Pose::default(), 1.0).unwrap();
            model
                .set_body_velocity(parts.frame, 0, [0.0; 3], [0.0, 0.0, 40.0])
                .unwrap();
            (model, parts)
        };
        let mut simulation = Simulation::new(model).unwrap();
        for _ in 0..300 {
            simulation.step(1e-3).unwrap();
        }
        let [a, b] = [0, 1].map(|k| simulation.pose(parts.interfaces, k).unwrap().position);
        let long = (0..3).map(|k| (a[k] - b[k]).powi(2)).sum::<f64>().sqrt();
        let spin = simulation.velocities(parts.frame)[5];
        let k = spin * (DENSITY / young).sqrt();
        let stretch = 2.0 * ((k * LENGTH / 2.0).tan() / k - LENGTH / 2.0);
        let error = (long - LENGTH) / stretch - 1.0;
        println!("{count}: {spin} rad/s, {:e} m, off by {error:e}", long - LENGTH);
        error.abs()
    };
    let errors = [4, 12, 30].map(error);
    assert!(errors[2] < 0.01 && errors[2] <= errors[0], "{errors:?}");
}

/// A model that is no body, or has no such interfaces or modes, is refused by name.
#[test]
fn what_cannot_be_reduced_is_refused() {
    let (model, parts, mesh) = beam(2, elastic());
    let node = parts.nodes;
    let refused = |model: Model, how: &Reduction, words: &str| {
        let error = Simulation::new(model)
            .unwrap()
            .reduce(how)
            .unwrap_err()
            .to_string();
        assert!(error.contains(words), "{error}");
    };
    let of = |interfaces: Vec<Interface>, count: usize| Reduction::new(interfaces, FixedModes::Count(count));
    let both = || ends(node, &mesh);
    drop(model);
    let whole = || beam(2, elastic()).0;
    refused(whole(), &of(vec![], 3), "no interface");
    let on = |elements: Vec<usize>| vec![Interface { node, elements }];
    refused(whole(), &of(on(vec![]), 3), "on a line or in one place");
    refused(whole(), &of(on(vec![0, 1]), 3), "on a line or in one place");
    refused(whole(), &of(on(vec![100_000]), 3), "element 100000 of `beam`");
    refused(whole(), &of([both(), both()].concat(), 3), "in one before it");
    let gradients = Interface {
        node: parts.gradients,
        elements: vec![0],
    };
    refused(whole(), &of(vec![gradients], 3), "follows from other nodes");
    refused(
        whole(),
        &of(both(), 1_000_000),
        "1000000 modes with the interfaces held are asked for",
    );
    let mut held = whole();
    held.fix(node, 0, &[true; 3]).unwrap();
    refused(held, &of(both(), 3), "`beam`, element 0, x is fixed");
    let mut tied = whole();
    let spring = tied
        .add_mapped("spring", &[node], Subset::of_elements(Space::Real(3), &[0]))
        .unwrap();
    let law = UniformCompliance::from_stiffness(10.0);
    tied.add_force_field("tie", spring, law, Treatment::Stiffness)
        .unwrap();
    refused(tied, &of(both(), 3), "has a force on");
    let below = |limit| Reduction::new(both(), FixedModes::Below(limit));
    refused(whole(), &below(f64::NAN), "must be positive and finite");
    let mut two = whole();
    two.add_scalars("numbers", &[1.0]).unwrap();
    refused(two, &of(both(), 3), "`numbers` has scalars");
    let found = Simulation::new(whole()).unwrap().reduce(&below(3000.0)).unwrap();
    assert!(!found.fixed_frequencies().is_empty());
    assert!(found.fixed_frequencies().iter().all(|f| *f < 3000.0));
}

/// The kinetic energy, momentum and weight of the inertia points are those of the consistent mass
/// on all nodes, for any rotation, amplitudes as large as the body, and any velocities.
#[test]
fn the_inertia_without_nodes_is_that_of_all_nodes() {
    let (full, parts, mesh) = beam(3, elastic());
    let whole = full.masses()[0].component.clone();
    let body = reduced(full, ends(parts.nodes, &mesh), 3);
    let mut model = Model::new();
    model.set_gravity([1.0, -2.0, 3.0]).unwrap();
    let pose = Pose::turned([0.3, -0.2, 0.1], [1.0, 2.0, -1.0], 0.7);
    let own = body.add_to(&mut model, "beam", pose, 0.0).unwrap();
    let nodes = body.add_node(&mut model, "nodes", &own, parts.nodes).unwrap();
    model
        .set_body_velocity(own.frame, 0, [0.4, -0.3, 0.2], [1.0, -2.0, 1.5])
        .unwrap();
    let model = Problem::new(model);
    let mut state = model.initial_state().unwrap();
    let at = |k: usize| ((k * k + 3 * k) % 7) as f64 / 7.0 - 0.4;
    let range = model.node(own.modes).position_range();
    state.positions[range]
        .iter_mut()
        .enumerate()
        .for_each(|(k, q)| *q = at(k));
    let range = model.node(own.modes).velocity_range();
    state.velocities[range]
        .iter_mut()
        .enumerate()
        .for_each(|(k, v)| *v = 3.0 * at(k + 2));
    let mut evaluation = Evaluation::new(&model);
    evaluation.propagate(&model, &mut state).unwrap();
    let v = &state.velocities[model.node(nodes).velocity_range()];
    let mut product = vec![0.0; v.len()];
    whole.add_product(Space::Real(3), 1.0, v, &mut product);
    let kinetic: f64 = v.iter().zip(&product).map(|(v, p)| 0.5 * v * p).sum();
    let found = model.energies(&state);
    // Rounding.
    assert!(
        (found.kinetic / kinetic - 1.0).abs() < 1e-12,
        "{} {kinetic}",
        found.kinetic
    );
    let momentum = model.momentum(&state);
    let x = &state.positions[model.node(nodes).position_range()];
    let mut places = vec![0.0; x.len()];
    whole.add_product(Space::Real(3), 1.0, x, &mut places);
    let gravity = [1.0, -2.0, 3.0];
    let weight: f64 = places.iter().enumerate().map(|(i, m)| -m * gravity[i % 3]).sum();
    let elastic: f64 = body
        .modes()
        .iter()
        .enumerate()
        .map(|(k, m)| 0.5 * m.stiffness * at(k) * at(k))
        .sum();
    assert!((found.potential - weight - elastic).abs() < 1e-10 * elastic.max(1.0));
    for k in 0..3 {
        let linear: f64 = product.iter().skip(k).step_by(3).sum();
        let (i, j) = ((k + 1) % 3, (k + 2) % 3);
        let arms = x.as_chunks::<3>().0.iter().zip(product.as_chunks::<3>().0);
        let angular: f64 = arms.map(|(x, p)| x[i] * p[j] - x[j] * p[i]).sum();
        assert!((momentum.linear[k] - linear).abs() < 1e-11);
        assert!((momentum.angular[k] - angular).abs() < 1e-11);
    }
}

/// A rod, of bodies on compliant rows: at its end it deflects by `P L^3/(3 E I) + P L/(kappa G A)`,
/// to the second order of its segments, turns by `P L^2/(2 E I)`, and has the inertia of a rod
/// about itself, which points would not have.
#[test]
fn a_reduced_rod_deflects_and_turns() {
    let (area, second) = (1e-4, 1e-9);
    let section = Section {
        area,
        second_moments: [second; 2],
        torsion_constant: 2.0 * second,
        shear_factors: [0.85; 2],
    };
    let (young, density, length) = (2.1e11, 7800.0, 1.0);
    for treatment in [Treatment::Compliance, Treatment::Stiffness] {
        let rod = Rod::new(section, young, 0.3)
            .with_density(density)
            .with_treatment(treatment);
        let segments = 20;
        let mut model = Model::new();
        let curve = RodCurve::straight([0.0; 3], [length, 0.0, 0.0], segments);
        let frames = rod.add_to(&mut model, "rod", &curve).unwrap().frames;
        let end = |element| Interface {
            node: frames,
            elements: vec![element],
        };
        let body = reduced(model, vec![end(0), end(segments)], 6);
        let inertia = body.inertia();
        assert!(
            (inertia[0][0] / (density * length * 2.0 * second) - 1.0).abs() < 1e-9,
            "{inertia:?}"
        );
        let mut model = Model::new();
        let parts = body.add_to(&mut model, "rod", Pose::default(), 0.0).unwrap();
        let bodies = body.add_node(&mut model, "bodies", &parts, frames).unwrap();
        let force = 1e-3;
        push(&mut model, parts.interfaces, 1, [0.0, 0.0, force]);
        let held = Joint::fixed(Side::World, Side::Body(parts.interfaces, 0));
        model.add_joint("held", &held).unwrap();
        let mut simulation = Simulation::new(model).unwrap();
        simulation.find_equilibrium(&Equilibrium::default()).unwrap();
        let tip = simulation.pose(parts.interfaces, 1).unwrap();
        let bend = force * length * length * length / (3.0 * young * second);
        let exact = bend + force * length / (0.85 * young / 2.6 * area);
        let slope = -force * length * length / (2.0 * young * second);
        println!("{} {exact}, {} {slope}", tip.position[2], 2.0 * tip.rotation[2]);
        assert!((tip.position[2] / exact - 1.0).abs() < 2e-3);
        assert!((2.0 * tip.rotation[2] / slope - 1.0).abs() < 2e-3);
        // The last body of the rod is where the interface is.
        let last = simulation.pose(bodies, segments).unwrap();
        for k in 0..3 {
            assert!((last.position[k] - tip.position[k]).abs() < 1e-12);
            assert!((last.rotation[1 + k] - tip.rotation[1 + k]).abs() < 1e-12);
        }
    }
}
