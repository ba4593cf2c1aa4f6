//! Elements that are taken out of the model while it moves.

use pliant::continuum::{
    Bending, BreakingMeasure, Element, Mesh, Plasticity, PronySeries, PronyTerm, Sheet, SheetMesh, Solid,
    StrainEnergy,
};
use pliant::gradient::{NodeGradient, StepDerivative, Trajectory};
use pliant::prelude::*;
use pliant::{Breaking, BreakingParts, Ledger};

const H: f64 = 1e-3;

/// Linear and angular momentum.
fn momentum(s: &Simulation) -> [f64; 6] {
    let Momentum { linear, angular } = s.problem().momentum(s.state());
    let mut out = [0.0; 6];
    out[..3].copy_from_slice(&linear);
    out[3..].copy_from_slice(&angular);
    out
}

fn simulation(model: Model, options: Options) -> Simulation {
    Simulation::with_options(model, options).unwrap()
}

fn difference(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).fold(0.0, |d, (a, b)| d.max((a - b).abs()))
}

/// Four masses on a line, on springs of which the middle one breaks above a stretch of 1.1.
struct Chain {
    simulation: Simulation,
    node: NodeId,
    breaking: Breaking,
}

const MASSES: [f64; 4] = [1.0, 2.0, 0.5, 1.5];
const STIFFNESSES: [f64; 3] = [400.0, 300.0, 900.0];

fn chain(treatment: Treatment) -> Chain {
    let mut model = Model::new();
    let places = [0, 1, 2, 3].map(|k| [f64::from(k), 0.0, 0.0]);
    let node = model.add_particles("chain", &places).unwrap();
    for (k, v) in [-1.0, -0.8, 0.9, 1.4].into_iter().enumerate() {
        model.set_velocity(node, k, &[true; 3], &[v, 0.0, 0.0]).unwrap();
    }
    model
        .add_mass("mass", node, Mass::PerElement(MASSES.to_vec()))
        .unwrap();
    let pairs = [(0, 1), (1, 2), (2, 3)];
    let mapping = Distance::between(&pairs).with_rest_lengths(&[1.0]);
    let lengths = model.add_mapped("lengths", &[node], mapping).unwrap();
    let law = DiagonalCompliance::from_stiffnesses(&STIFFNESSES);
    model.add_force_field("springs", lengths, law, treatment).unwrap();
    let parts = BreakingParts::Lengths(lengths, vec![1.0; 3]);
    let limits = [9.0, 1.1, 9.0];
    let breaking = Breaking::new(&model, parts, BreakingMeasure::Stretch, &limits).unwrap();
    // The trapezoidal rule.
    let options = Options {
        alpha: 0.5,
        beta: 0.5,
        geometry: GeometricTerms::NONE,
        ..Options::theta()
    };
    Chain {
        simulation: simulation(model, options),
        node,
        breaking,
    }
}

/// A chain of springs flies apart where its weakest one breaks. From then on the centres of both
/// halves move with constant velocity, and each half, two masses on a spring, oscillates with
/// `w^2 = k (1/m_1 + 1/m_2)`: by the trapezoidal rule on a linear spring exactly by the angle
/// `2 atan(w h/2)` in each step.
#[test]
fn a_chain_flies_apart_as_two_free_halves() {
    for treatment in [Treatment::Stiffness, Treatment::Compliance] {
        let Chain {
            mut simulation,
            node,
            mut breaking,
        } = chain(treatment);
        let s = &mut simulation;
        let (mut broken, mut steps) = (Vec::new(), 0);
        while broken.is_empty() {
            s.step(H).unwrap();
            breaking.find(s, &mut broken);
            steps += 1;
            assert!(steps < 1000);
        }
        assert_eq!(broken, [1]);
        let (before, x, v) = (
            momentum(s),
            s.positions(node).to_vec(),
            s.velocities(node).to_vec(),
        );
        let energy = s.problem().energies(s.state()).total();
        s.remove_elements(&breaking.indices(&broken)).unwrap();
        assert_eq!(momentum(s), before, "momentum is that of the masses alone");
        assert_eq!((s.positions(node), s.velocities(node)), (&x[..], &v[..]));
        let stretch = x[6] - x[3] - 1.0;
        let stored = 0.5 * STIFFNESSES[1] * stretch * stretch;
        let mut sum = Ledger::default();
        for step in 1..=2000 {
            let report = s.step(H).unwrap();
            sum += report.ledger;
            if step % 100 != 0 && step > 2 {
                continue;
            }
            let (now, speed) = (s.positions(node), s.velocities(node));
            for (a, b, k) in [(0, 1, STIFFNESSES[0]), (2, 3, STIFFNESSES[2])] {
                let (m, n) = (MASSES[a], MASSES[b]);
                let centre = |x: &[f64]| (m * x[3 * a] + n * x[3 * b]) / (m + n);
                let t = H * f64::from(step);
                let moved = centre(&x) + t * centre(&v);
                assert!(
                    (centre(now) - moved).abs() < 1e-11,
                    "{step} {}",
                    centre(now) - moved
                );
                let w = (k * (1.0 / m + 1.0 / n)).sqrt();
                let phase = 2.0 * (0.5 * w * H).atan() * f64::from(step);
                let (e, rate) = (x[3 * b] - x[3 * a] - 1.0, v[3 * b] - v[3 * a]);
                let expected = e * phase.cos() + rate / w * phase.sin();
                let found = now[3 * b] - now[3 * a] - 1.0;
                // Rounding of 2000 steps.
                assert!((found - expected).abs() < 1e-11, "{step} {}", found - expected);
                let expected = rate * phase.cos() - e * w * phase.sin();
                assert!((speed[3 * b] - speed[3 * a] - expected).abs() < 1e-9, "{step}");
            }
            assert!(difference(&momentum(s), &before) < 1e-11);
        }
        assert!((sum.removed + stored).abs() < 1e-12, "{} {stored}", sum.removed);
        assert!(sum.numerical.abs() < 1e-9, "{sum:?}");
        assert!((s.problem().energies(s.state()).total() - (energy - stored)).abs() < 1e-9);
    }
}

/// The energy that a step takes out is that of the elements by hand, where rows measure it by their
/// multipliers too; and nothing breaks without allocations.
#[test]
fn a_criterion_costs_no_allocation() {
    let Chain {
        mut simulation,
        mut breaking,
        ..
    } = chain(Treatment::Stiffness);
    let mut broken = Vec::new();
    for _ in 0..3 {
        simulation.step(H).unwrap();
        breaking.find(&simulation, &mut broken);
    }
    let found = allocation_counter::measure(|| {
        for _ in 0..5 {
            simulation.step(H).unwrap();
            breaking.find(&simulation, &mut broken);
        }
    });
    assert_eq!((found.count_total, broken.len()), (0, 0));
}

/// The ways to make a block.
fn materials() -> Vec<(&'static str, Solid)> {
    let term = |shear, bulk, time| PronyTerm { shear, bulk, time };
    let series = PronySeries::new(&[term(0.3, 0.2, 0.02), term(0.2, 0.1, 0.2)]).unwrap();
    let plasticity = Plasticity::perfect(2e3);
    vec![
        ("small", Solid::linear(1e5, 0.3)),
        (
            "corotational",
            Solid::corotational(1e5, 0.3).with_relaxation_time(1e-3),
        ),
        ("St Venant", Solid::st_venant_kirchhoff(1e5, 0.3)),
        (
            "Neo-Hookean",
            Solid::hyperelastic(StrainEnergy::neo_hookean(1e5, 0.3)),
        ),
        (
            "viscoelastic",
            Solid::corotational(1e5, 0.3).with_viscoelasticity(series),
        ),
        ("plastic", Solid::linear(1e5, 0.3).with_plasticity(plasticity)),
    ]
}

/// A block of 3 x 3 x 2 hexahedra with masses at its nodes, without some of them.
fn block(solid: &Solid, without: &[usize]) -> (Model, NodeId, pliant::continuum::SolidParts) {
    let whole = Mesh::hexahedral_box([0.3, 0.3, 0.2], [3, 3, 2]).unwrap();
    let mut model = Model::new();
    model.set_gravity([0.0, 0.0, -9.81]).unwrap();
    let node = model.add_particles("block", &whole.nodes).unwrap();
    let mass = whole.lumped_mass(1000.0).unwrap();
    model.add_mass("mass", node, mass).unwrap();
    let elements: Vec<Element> = whole
        .elements
        .iter()
        .enumerate()
        .filter(|(e, _)| !without.contains(e))
        .map(|(_, e)| e.clone())
        .collect();
    let mesh = Mesh {
        nodes: whole.nodes,
        elements,
    };
    let parts = solid
        .without_mass()
        .add_on(&mut model, "block", node, &mesh)
        .unwrap();
    (model, node, parts)
}

/// Positions and velocities far from rest.
fn disturbed(model: &Model, node: NodeId) -> State {
    let mut state = model.initial_state().unwrap();
    let entry = model.node(node);
    let (x, v) = (entry.position_range(), entry.velocity_range());
    for (k, x) in state.positions[x].as_chunks_mut::<3>().0.iter_mut().enumerate() {
        let wave = |a: f64| 0.004 * (a * k as f64).sin();
        *x = [
            1.02 * x[0] + 0.05 * x[1] + wave(1.3),
            x[1] + wave(2.1),
            0.98 * x[2] + wave(0.7),
        ];
    }
    for (k, v) in state.velocities[v].as_chunks_mut::<3>().0.iter_mut().enumerate() {
        *v = [1.3, 2.9, 0.4].map(|a| 0.3 * (a * k as f64).cos());
        v[0] += 1.0;
    }
    model.begin_memory(&mut state);
    state
}

/// A model with elements removed moves as one that was built without them, from the same state:
/// materials with and without a past, rows of volume, several integrators. The elements in the
/// middle share all of their nodes with others.
#[test]
fn what_is_left_moves_as_a_model_that_never_had_the_rest() {
    let gone = [4, 13];
    for (name, solid) in materials() {
        for integrator in [
            Integrator::Theta,
            Integrator::Sdirk2,
            Integrator::Nonlinear,
            Integrator::generalised_alpha(0.8),
        ] {
            if name == "plastic" && integrator == Integrator::Theta {
                // It does not take what yields.
                continue;
            }
            let options = Options {
                integrator: integrator.clone(),
                ..Options::default()
            };
            let (model, node, parts) = block(&solid, &[]);
            let start = disturbed(&model, node);
            let mut s = simulation(model, options.clone());
            let (model, other, _) = block(&solid, &gone);
            let reference = disturbed(&model, other);
            let mut t = simulation(model, options);
            s.set_state(&start).unwrap();
            t.set_state(&reference).unwrap();
            let parts = BreakingParts::Solid(Box::new(parts));
            let breaking = Breaking::new(s.model(), parts, BreakingMeasure::Stretch, &[2.0]).unwrap();
            s.remove_elements(&breaking.indices(&gone)).unwrap();
            for _ in 0..60 {
                s.step(H).unwrap();
                t.step(H).unwrap();
            }
            let off = difference(s.positions(node), t.positions(other));
            // What Newton's method leaves, and rounding.
            assert!(off < 1e-9, "{name} {integrator:?} {off}");
            println!("{name} {integrator:?} {off:e}");
        }
    }
}

/// Of a block that turns and is deformed: momentum is untouched, and a node without elements flies
/// freely from then on.
#[test]
fn nodes_without_elements_are_free_particles() {
    for (name, solid) in materials().into_iter().filter(|(name, _)| *name != "plastic") {
        let (model, node, parts) = block(&solid, &[]);
        let start = disturbed(&model, node);
        let mut s = simulation(model, Options::theta());
        s.set_state(&start).unwrap();
        s.step(H).unwrap();
        let before = momentum(&s);
        let parts = BreakingParts::Solid(Box::new(parts));
        let breaking = Breaking::new(s.model(), parts, BreakingMeasure::Stretch, &[2.0]).unwrap();
        // The corner at the origin has one element.
        s.remove_elements(&breaking.indices(&[0])).unwrap();
        assert_eq!(momentum(&s), before, "{name}");
        let (x, v) = (s.positions(node)[..3].to_vec(), s.velocities(node)[..3].to_vec());
        let mut sum = Ledger::default();
        for _ in 0..100 {
            sum += s.step(H).unwrap().ledger;
        }
        for k in 0..3 {
            let g = if k == 2 { -9.81 } else { 0.0 };
            // Implicit Euler: n (n + 1)/2 steps of g h^2.
            let expected = x[k] + 100.0 * H * v[k] + g * H * H * 5050.0;
            assert!((s.positions(node)[k] - expected).abs() < 1e-12, "{name}");
        }
        assert!(sum.removed < 0.0, "{name}");
    }
}

/// Energy of elements by hand: a block in uniform strain `diag(e, 0, 0)` stores
/// `V E (1 - nu)/((1 + nu)(1 - 2 nu)) e^2/2`.
#[test]
fn what_goes_is_what_the_elements_stored() {
    let (model, node, parts) = block(&Solid::linear(1e5, 0.3), &[]);
    let mut state = model.initial_state().unwrap();
    let e = 0.01;
    let x = model.node(node).position_range();
    for x in state.positions[x].as_chunks_mut::<3>().0 {
        x[0] *= 1.0 + e;
    }
    let mut s = simulation(model, Options::theta());
    s.set_state(&state).unwrap();
    let parts = BreakingParts::Solid(Box::new(parts));
    let model = s.model();
    let measure = |measure, limit: f64| {
        let mut found = Vec::new();
        let breaking = Breaking::new(model, parts.clone(), measure, &[limit]);
        breaking.unwrap().find(&s, &mut found);
        found.len()
    };
    // Of uniform strain: stretch 1 + e, stress of the constrained modulus, and its equivalent.
    let (modulus, shear) = (1e5 * 0.7 / (1.3 * 0.4), 1e5 / 2.6);
    for (how, value) in [
        (BreakingMeasure::Stretch, 1.0 + e),
        (BreakingMeasure::PrincipalStress, modulus * e),
        (BreakingMeasure::VonMises, 2.0 * shear * e),
    ] {
        assert_eq!(measure(how, value * (1.0 - 1e-12)), 18, "{how:?}");
        assert_eq!(measure(how, value * (1.0 + 1e-12)), 0, "{how:?}");
    }
    let gone = [2, 5, 11];
    let breaking = Breaking::new(model, parts, BreakingMeasure::Stretch, &[2.0]).unwrap();
    s.remove_elements(&breaking.indices(&gone)).unwrap();
    let report = s.step(H).unwrap();
    let expected = -3.0 * 1e-3 * modulus * e * e / 2.0;
    let error = (report.ledger.removed / expected - 1.0).abs();
    assert!(error < 1e-12, "{error}");
    let excess = report.certificate.energy.excess(&Tolerances::default());
    assert!(excess.is_none(), "{excess:?}");
}

/// Checkpoints hold what is removed: of before, between and after, in memory and as bytes, into the
/// same and another simulation, they go on bit for bit.
#[test]
fn checkpoints_go_across_a_removal() {
    let (_, solid) = materials().swap_remove(4);
    let fresh = || {
        let (model, node, parts) = block(&solid, &[]);
        let start = disturbed(&model, node);
        let mut s = simulation(model, Options::default());
        s.set_state(&start).unwrap();
        let parts = BreakingParts::Solid(Box::new(parts));
        let breaking = Breaking::new(s.model(), parts, BreakingMeasure::Stretch, &[2.0]).unwrap();
        (s, breaking)
    };
    let (mut s, breaking) = fresh();
    let go_on = |s: &mut Simulation| {
        for step in 0..30 {
            match step {
                5 => s.remove_elements(&breaking.indices(&[4])).unwrap(),
                15 => s.remove_elements(&breaking.indices(&[0, 7, 8])).unwrap(),
                _ => {}
            }
            s.step(H).unwrap();
        }
        s.checkpoint()
    };
    let start = s.checkpoint();
    let end = go_on(&mut s);
    assert_eq!(end.controls.removed.len(), 4 * 8);
    s.restore(&start).unwrap();
    assert!(s.removed_elements().is_empty());
    assert_eq!(go_on(&mut s), end, "back from what is removed");
    let (mut other, _) = fresh();
    other.restore(&end).unwrap();
    assert_eq!(other.checkpoint(), end);
    for _ in 0..10 {
        s.step(H).unwrap();
        other.step(H).unwrap();
    }
    assert_eq!(s.checkpoint(), other.checkpoint());
}

/// A state of the whole model that is set after a removal leaves elements that are gone at rest, with
/// their past: as if it had been set before.
#[test]
fn states_that_are_set_leave_removed_elements_at_rest() {
    let (_, solid) = materials().swap_remove(4);
    let run = |is_set_first: bool| {
        let (model, node, parts) = block(&solid, &[]);
        let start = disturbed(&model, node);
        let mut s = simulation(model, Options::default());
        let parts = BreakingParts::Solid(Box::new(parts));
        let breaking = Breaking::new(s.model(), parts, BreakingMeasure::Stretch, &[2.0]).unwrap();
        let gone = breaking.indices(&[4, 13]);
        if is_set_first {
            s.set_state(&start).unwrap();
            s.remove_elements(&gone).unwrap();
        } else {
            s.remove_elements(&gone).unwrap();
            s.set_state(&start).unwrap();
        }
        s.step(H).unwrap();
        let State {
            positions, internal, ..
        } = s.state().clone();
        (start.internal, internal, positions)
    };
    let ((start, before, x), (_, after, y)) = (run(true), run(false));
    assert!(difference(&start, &before) > 1e-4, "the state has a past there");
    // Rounding, and what Newton's method leaves.
    assert!(difference(&before, &after) < 1e-9 && difference(&x, &y) < 1e-9);
}

/// A strip of quadrangles with a notch in its middle row, whose points start with velocities along y
/// that open it at the notch.
fn strip(bending: Bending) -> (Simulation, NodeId, Breaking) {
    let mesh = SheetMesh::quadrangles([0.24, 0.09], [24, 9]);
    let mut model = Model::new();
    let sheet = Sheet::isotropic(1e6, 0.3, 1e-3).with_bending(bending);
    let parts = sheet.add_to(&mut model, "strip", &mesh).unwrap();
    let node = parts.nodes;
    for (k, x) in mesh.nodes.iter().enumerate() {
        let v = 120.0 * (x[1] - 0.045) * (1.0 - x[0] / 0.24);
        model.set_velocity(node, k, &[true; 3], &[0.0, v, 0.0]).unwrap();
    }
    let s = simulation(model, Options::default());
    let parts = BreakingParts::Sheet(Box::new(parts));
    let breaking = Breaking::new(s.model(), parts, BreakingMeasure::Stretch, &[1.1]).unwrap();
    (s, node, breaking)
}

/// A strip with a notch tears along its line of symmetry, element after element from the notch, at
/// the moments at which an explicit program tears it (`benches/reference/torn_sheet.py`), and
/// conserves its momentum. Hinges between what stays and what goes are gone with it.
#[test]
fn a_notched_strip_tears_along_its_line_of_symmetry() {
    // Elements and times of the reference.
    let expected = [(102, 0.00086), (103, 0.0011), (104, 0.0013), (105, 0.00158)];
    for bending in [Bending::None, Bending::Hinges(1e-6)] {
        let (mut s, node, mut breaking) = strip(bending);
        // The middle row is the fifth of nine.
        let notch: Vec<usize> = (96..102).collect();
        s.remove_elements(&breaking.indices(&notch)).unwrap();
        let before = momentum(&s);
        let (mut torn, mut found) = (Vec::new(), Vec::new());
        for _ in 0..150 {
            s.step(2e-5).unwrap();
            found.clear();
            breaking.find(&s, &mut found);
            if !found.is_empty() {
                s.remove_elements(&breaking.indices(&found)).unwrap();
                torn.extend(found.iter().map(|element| (*element, s.time())));
            }
        }
        println!("{torn:?}");
        assert_eq!(torn.len(), expected.len());
        for ((element, time), (at, when)) in torn.iter().zip(expected) {
            // Steps of 20 us damp what is faster: two of them.
            assert!(*element == at && (time - when).abs() < 4.1e-5, "{element} {time}");
        }
        // Masses of 0.02 kg at up to 5 m/s.
        assert!(difference(&momentum(&s), &before) < 1e-14, "{:?}", momentum(&s));
        // Both halves are mirror images.
        let x = s.positions(node).as_chunks::<3>().0;
        for j in 0..5 {
            for i in 0..25 {
                let (a, b) = (x[25 * j + i], x[25 * (9 - j) + i]);
                let off = (a[0] - b[0]).abs().max((a[1] + b[1] - 0.09).abs());
                assert!(off < 1e-12, "{i} {j} {off}");
            }
        }
    }
}

/// Gradients refuse a model that has lost elements, by name.
#[test]
fn gradients_refuse_what_has_lost_elements() {
    let Chain {
        mut simulation,
        breaking,
        ..
    } = chain(Treatment::Stiffness);
    simulation.options = Options {
        integrator: Integrator::Nonlinear,
        ..Options::default()
    };
    simulation.remove_elements(&breaking.indices(&[1])).unwrap();
    let mut objective = |_: usize, _: &Simulation, _: &mut NodeGradient| 0.0;
    let found = Trajectory::new(3, H).gradient(&mut simulation, &mut objective);
    let message = "elements of `lengths`, which were removed";
    let said = found.unwrap_err().to_string();
    assert!(said.contains(message), "{said}");
    let said = StepDerivative::new(simulation.problem()).unwrap_err().to_string();
    assert!(said.contains(message), "{said}");
}

/// Elements that cannot go say so, by name, and leave the model as it was.
#[test]
fn refusals_name_what_holds_an_element() {
    let refused = |model: Model, node: NodeId, reason: &str| {
        let mut s = simulation(model, Options::theta());
        let at = ElementIndex {
            node: node.index(),
            element: 0,
        };
        let error = s.remove_elements(&[at]).unwrap_err().to_string();
        assert!(error.contains(reason), "{error}");
        assert!(s.removed_elements().is_empty());
        s.step(H).unwrap();
    };
    let rope = |law: Option<f64>| {
        let mut model = Model::new();
        let places = [[0.0; 3], [1.0, 0.0, 0.0], [2.0, 0.0, 0.0]];
        let node = model.add_particles("rope", &places).unwrap();
        model.add_mass("mass", node, Mass::Uniform(1.0)).unwrap();
        let mapping = Distance::between(&[(0, 1), (1, 2)]).with_rest_lengths(&[1.0]);
        let lengths = model.add_mapped("lengths", &[node], mapping).unwrap();
        match law {
            Some(c) => {
                let law = UniformCompliance::new(c);
                let id = model.add_force_field("tension", lengths, law, Treatment::Compliance);
                id.unwrap();
            }
            None => {
                model.add_constraint("tension", lengths, Level::Position).unwrap();
            }
        }
        (model, node, lengths)
    };
    let (model, node, _) = rope(Some(1e-3));
    refused(
        model,
        node,
        "`rope` cannot be removed: its elements are degrees of freedom",
    );
    let (model, _, lengths) = rope(None);
    refused(
        model,
        lengths,
        "`tension` cannot be removed: it is a hard constraint",
    );
    let (model, _, lengths) = rope(Some(0.0));
    refused(model, lengths, "`tension` cannot be removed: its rows are hard");
    let (mut model, _, lengths) = rope(Some(1e-3));
    let id = model.component_named("tension").unwrap();
    let motion = PrescribedMotion::constant(&[0.0, 0.0]);
    model.set_motion(id, Some(motion)).unwrap();
    refused(model, lengths, "`tension` cannot be removed: its rows are driven");
    let mut model = Model::new();
    let mesh = SheetMesh::rectangle([1.0, 1.0], [2, 2], true);
    let sheet = Sheet::isotropic(1e6, 0.3, 1e-3).with_bending(Bending::Shell);
    let parts = sheet.add_to(&mut model, "shell", &mesh).unwrap();
    let bends = parts.bends.unwrap();
    refused(model, bends, "hangs on elements that go and on others that stay");
    let mut model = Model::new();
    let mesh = Mesh::hexahedral_box([1.0; 3], [2, 1, 1]).unwrap();
    let solid = Solid::linear(1e5, 0.3).with_incompressibility(pliant::continuum::Incompressibility::PerNode);
    let parts = solid.add_to(&mut model, "solid", &mesh).unwrap();
    let mut s = simulation(model, Options::theta());
    let breaking = BreakingParts::Solid(Box::new(parts));
    let breaking = Breaking::new(s.model(), breaking, BreakingMeasure::Stretch, &[2.0]).unwrap();
    let error = s
        .remove_elements(&breaking.indices(&[0]))
        .unwrap_err()
        .to_string();
    assert!(error.contains("`solid.dilatations` cannot be removed"), "{error}");
}
