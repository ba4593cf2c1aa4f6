//! Springs, rods and sheets that relax: held where they are, all of their forces fall off by the
//! series.

use pliant::continuum::{
    Bending, PronySeries, PronyTerm, Relaxing, Rod, RodCurve, Section, Sheet, SheetMesh,
};
use pliant::prelude::*;

const TERMS: [(f64, f64); 2] = [(0.05, 0.3), (0.6, 0.4)];

fn series() -> PronySeries {
    PronySeries::new(&TERMS.map(|(time, share)| PronyTerm::new(time, share))).unwrap()
}

/// Share of a force that is left a time `t` (s) after its cause.
fn left(t: f64) -> f64 {
    1.0 - TERMS
        .iter()
        .map(|(time, share)| share * (1.0 - (-t / time).exp()))
        .sum::<f64>()
}

fn all_nodes(model: &Model) -> Vec<NodeId> {
    let of = |node: &pliant::model::Node| model.node_named(&node.name).unwrap();
    model.nodes().iter().map(of).collect()
}

/// Moves everything by some numbers, and holds it there: forces of the elastic model are those at
/// once, of which the series leaves a share at any time, with steps of any length; the ledger
/// closes.
fn relaxes(name: &str, build: &dyn Fn(Option<PronySeries>) -> Model) {
    let start = |series| {
        let mut model = build(series);
        for node in all_nodes(&model) {
            let entry = model.node(node);
            if entry.first_dof().is_some() {
                let (count, all) = (entry.count, vec![true; entry.space.velocity_size()]);
                (0..count).for_each(|e| model.fix(node, e, &all).unwrap());
            }
        }
        let mut s = crate::tools::theta(model).unwrap();
        let mut state = s.state().clone();
        // Bodies keep their turn: moved by a tenth of a unit, no two alike.
        let mut k = 0;
        for node in s.model().nodes().iter().filter(|n| n.first_dof().is_some()) {
            let size = node.space.position_size();
            for e in 0..node.count {
                for i in 0..size.min(3) {
                    k += 1;
                    state.positions[node.first_position + e * size + i] += 0.05 * f64::from(k).sin();
                }
            }
        }
        s.set_state(&state).unwrap();
        s
    };
    let forces = |s: &Simulation| -> Vec<f64> {
        let of = |node| (0..s.model().node(node).count).flat_map(move |e| s.support_force(node, e).to_vec());
        all_nodes(s.model()).into_iter().flat_map(of).collect()
    };
    let mut elastic = start(None);
    let report = elastic.step(0.01).unwrap();
    let (fast, energy) = (forces(&elastic), report.energies.potential);
    let scale = fast.iter().fold(0.0, |a: f64, f| a.max(f.abs()));
    assert!(scale > 0.0 && energy > 0.0, "{name}");
    let mut s = start(Some(series()));
    let mut t = 0.0;
    let check = |s: &Simulation, wanted: f64, t: f64| {
        for (found, fast) in forces(s).iter().zip(&fast) {
            assert!(
                (found - wanted * fast).abs() < 1e-12 * scale,
                "{name} {t}: {found} {wanted} {fast}"
            );
        }
    };
    for h in [1e-3, 0.1, 0.02, 1.0, 1e-5] {
        let report = s.step(h).unwrap();
        t += h;
        check(&s, left(t), t);
        let (lost, dissipated) = (energy - report.energies.potential, report.dissipated);
        assert!(
            (lost - dissipated).abs() < 1e-12 * energy,
            "{name} {t}: {lost} {dissipated}"
        );
    }
    // At rest for ever.
    s.step(1e6).unwrap();
    check(&s, left(f64::INFINITY), 1e6);
}

#[test]
fn all_forces_of_sheets_relax_by_the_series() {
    for (bending, quadrangles) in [
        (Bending::None, true),
        (Bending::Hinges(3.0), true),
        (Bending::Quadratic(3.0), true),
        (Bending::Shell, false),
    ] {
        relaxes(&format!("{bending:?}"), &|series| {
            let mesh = if quadrangles {
                SheetMesh::quadrangles([1.0, 0.8], [2, 2])
            } else {
                SheetMesh::rectangle([1.0, 0.8], [2, 2], true)
            };
            let mut sheet = Sheet::orthotropic([1e-3, 2e-3, 5e-3], 0.3, 0.1).with_bending(bending);
            if let Some(series) = series {
                sheet = sheet.with_viscoelasticity(series);
            }
            let mut model = Model::new();
            sheet.add_to(&mut model, "sheet", &mesh).unwrap();
            model
        });
    }
}

#[test]
fn all_forces_of_rods_relax_by_the_series() {
    relaxes("rod", &|series| {
        let mut rod = Rod::new(Section::circle(0.1), 1e4, 0.3);
        if let Some(series) = series {
            rod = rod.with_viscoelasticity(series);
        }
        let curve = RodCurve::through(&[[0.0; 3], [1.0, 0.0, 0.0], [2.0, 0.5, 0.0], [2.5, 1.0, 0.3]]);
        let mut model = Model::new();
        rod.add_to(&mut model, "rod", &curve).unwrap();
        model
    });
}

#[test]
fn forces_of_springs_relax_by_the_series() {
    relaxes("springs", &|series| {
        let mut model = Model::new();
        let places = [[0.0; 3], [1.0, 0.0, 0.0], [1.0, 2.0, 0.0]];
        let nodes = model.add_particles("p", &places).unwrap();
        model.add_mass("m", nodes, Mass::Uniform(1.0)).unwrap();
        let lengths = Distance::between(&[(0, 1), (1, 2)]).with_rest_lengths(&[1.0, 2.0]);
        let lengths = model.add_mapped("lengths", &[nodes], lengths).unwrap();
        let stiffnesses = [30.0, 50.0];
        match series {
            Some(series) => {
                let law = Relaxing::springs(1, &stiffnesses, series).unwrap();
                model.add_force_field("springs", lengths, law, Treatment::Stiffness)
            }
            None => {
                let law = DiagonalCompliance::from_stiffnesses(&stiffnesses);
                model.add_force_field("springs", lengths, law, Treatment::Stiffness)
            }
        }
        .unwrap();
        model
    });
}

/// A weight on a rope that relaxes hangs where what never relaxes carries it, and the rope creeps
/// there by the standard linear solid.
#[test]
fn a_weight_on_a_rope_creeps_down() {
    let (stiffness, share, time, weight) = (100.0, 0.5, 1.0, 2.0);
    let build = || {
        let mut model = Model::new();
        let bob = model.add_particles("bob", &[[0.0, 0.0, -1.0]]).unwrap();
        model.add_mass("m", bob, Mass::Uniform(1e-16)).unwrap();
        let length = Distance::to_points(&[(0, [0.0; 3])]).with_rest_lengths(&[1.0]);
        let length = model.add_mapped("length", &[bob], length).unwrap();
        let series = PronySeries::new(&[PronyTerm::new(time, share)]).unwrap();
        let law = Relaxing::springs(1, &[stiffness], series).unwrap();
        model
            .add_force_field("rope", length, law, Treatment::Stiffness)
            .unwrap();
        let mut s = crate::tools::theta(model).unwrap();
        s.set_force(bob, 0, &[0.0, 0.0, -weight]).unwrap();
        s
    };
    let sag = |s: &Simulation| -1.0 - s.state().positions[2];
    let error = |n: usize| {
        let mut s = build();
        // At once, as far as the rope knows.
        for _ in 0..20 {
            s.step(1e-8).unwrap();
        }
        let (h, mut worst) = (2.0 / n as f64, 0.0f64);
        for k in 0..=n {
            if k > 0 {
                s.step(h).unwrap();
            }
            let t = h * k as f64;
            let slow = 1.0 / (1.0 - share);
            let ratio = slow - (slow - 1.0) * (-t * (1.0 - share) / time).exp();
            worst = worst.max((sag(&s) * stiffness / weight - ratio).abs());
        }
        s.find_equilibrium(&Equilibrium::default()).unwrap();
        let rest = sag(&s) * stiffness / weight;
        assert!((rest - 1.0 / (1.0 - share)).abs() < 1e-8, "{rest}");
        worst
    };
    let errors = [50, 100].map(error);
    println!("creep of a rope: errors {errors:?} of the sag at once");
    // Elongations that are straight over a step: second order.
    assert!(
        (crate::tools::order(errors) - 2.0).abs() < 0.1 && errors[1] < 1e-4,
        "{errors:?}"
    );
}

#[test]
fn what_cannot_relax_says_so() {
    let words = |result: Result<(), pliant::continuum::ContinuumError>, wanted: &str| {
        let message = result.unwrap_err().to_string();
        assert!(message.contains(wanted), "{message}");
    };
    let mesh = SheetMesh::quadrangles([1.0; 2], [1, 1]);
    let sheet = |sheet: Sheet| sheet.add_to(&mut Model::new(), "s", &mesh).map(|_| ());
    let good = Sheet::isotropic(1e6, 0.3, 0.01).with_viscoelasticity(series());
    sheet(good.clone()).unwrap();
    words(
        sheet(good.clone().with_treatment(Treatment::Compliance)),
        "a compliance cannot be had with a material with a past",
    );
    words(
        sheet(good.with_relaxation_time(0.1)),
        "a relaxation time cannot be had",
    );
    let hard = Sheet::orthotropic([0.0, 1e-6, 1e-6], 0.0, 0.01).with_viscoelasticity(series());
    words(
        sheet(hard),
        "a compliance cannot be had with a material with a past",
    );
    let shear = PronySeries::new(&[PronyTerm::of_shear(1.0, 0.5)]).unwrap();
    words(
        sheet(Sheet::isotropic(1e6, 0.3, 0.01).with_viscoelasticity(shear)),
        "a share of bulk in the Prony series",
    );
    let curve = RodCurve::through(&[[0.0; 3], [1.0, 0.0, 0.0]]);
    let rod = |rod: Rod| rod.add_to(&mut Model::new(), "r", &curve).map(|_| ());
    let good = Rod::new(Section::circle(0.1), 1e4, 0.3).with_viscoelasticity(series());
    rod(good).unwrap();
    words(rod(good.inextensible()), "an inextensible rod cannot be had with");
    words(
        rod(good.with_treatment(Treatment::Compliance)),
        "a compliance cannot be had with",
    );
    words(
        rod(good.with_relaxation_time(0.1)),
        "a relaxation time cannot be had",
    );
}
