//! Treatments that the stepper chooses.

use crate::tools::worst;
use pliant::prelude::*;

fn pendulum(stiffness: f64, treatment: Treatment) -> Model {
    let mut model = Model::new();
    model.set_gravity([0.0, -9.81, 0.0]).unwrap();
    let bob = model.add_particles("bob", &[[1.0, 0.0, 0.0]]).unwrap();
    model.add_mass("m", bob, Mass::Uniform(1.0)).unwrap();
    let length = Distance::to_points(&[(0, [0.0; 3])]).with_rest_lengths(&[1.0]);
    let rod = model.add_mapped("rod", &[bob], length).unwrap();
    let law = UniformCompliance::from_stiffness(stiffness);
    model.add_force_field("spring", rod, law, treatment).unwrap();
    model
}

/// Five masses in line on springs, pulled from one end.
fn chain(stiffness: f64, treatment: Treatment) -> Model {
    let mut model = Model::new();
    let x = model.add_scalars("x", &[0.0, 0.0, 0.0, 0.0, 0.1]).unwrap();
    model
        .add_mass("m", x, Mass::PerElement(vec![1.0, 2.0, 0.5, 1.0, 1.5]))
        .unwrap();
    let end = |i: usize| {
        if i == 0 {
            End::Point([0.0; 3])
        } else {
            End::element(0, i - 1)
        }
    };
    let pairs: Vec<_> = (0..5).map(|i| (end(i + 1), end(i))).collect();
    let gaps = Difference::new(&pairs).in_dimension(1);
    let gaps = model.add_mapped("gaps", &[x], gaps).unwrap();
    let law = UniformCompliance::from_stiffness(stiffness);
    model.add_force_field("springs", gaps, law, treatment).unwrap();
    let last = Subset::of_elements(Space::Real(1), &[4]);
    let last = model.add_mapped("last", &[x], last).unwrap();
    model
        .add_force_field("pull", last, ConstantForce::new(&[3.0]), Treatment::Stiffness)
        .unwrap();
    model
}

fn end(model: Model, h: f64, time: f64) -> (Vec<f64>, Option<Treatment>) {
    let mut s = crate::tools::theta(model).unwrap();
    for _ in 0..(time / h).round() as usize {
        s.step(h).unwrap();
    }
    let chosen = s.treatments().first().map(|c| c.treatment);
    let node = s.model().nodes()[0].position_range();
    (s.state().positions[node].to_vec(), chosen)
}

#[test]
fn automatic_is_as_good_as_the_better_choice() {
    let (h, time) = (0.01, 0.5);
    for build in [pendulum, chain] {
        for exponent in 0..=14 {
            let k = 10f64.powi(exponent);
            // What is stiff at this step is where its limit is; its waves are damped out in either
            // treatment.
            let reference = if exponent <= 5 {
                let mut s = Simulation::with_options(build(k, Treatment::Compliance), Options::trapezoidal())
                    .unwrap();
                for _ in 0..10_000 {
                    s.step(time / 10_000.0).unwrap();
                }
                let node = s.model().nodes()[0].position_range();
                s.state().positions[node].to_vec()
            } else {
                end(build(k, Treatment::Compliance), 1e-4, time).0
            };
            let error = |treatment| worst(&reference, &end(build(k, treatment), h, time).0);
            let (stiff, compliant) = (error(Treatment::Stiffness), error(Treatment::Compliance));
            let (found, chosen) = end(build(k, Treatment::Auto), h, time);
            let found = worst(&reference, &found);
            assert!(
                found <= 1.05 * stiff.min(compliant) + 1e-10,
                "k = 1e{exponent}: {found:e} by {chosen:?}, stiffness {stiff:e}, compliance {compliant:e}"
            );
        }
    }
}

#[test]
fn soft_springs_are_stiffnesses_and_stiff_ones_compliances() {
    let choice = |model: Model| {
        let mut s = crate::tools::theta(model).unwrap();
        assert!(s.treatments().is_empty());
        s.step(0.01).unwrap();
        let found = s.treatments();
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].component, ComponentId::ForceField(0));
        found[0]
    };
    for (k, expected) in [
        (1.0, Treatment::Stiffness),
        (1e3, Treatment::Stiffness),
        (1e6, Treatment::Compliance),
        (1e14, Treatment::Compliance),
    ] {
        let found = choice(pendulum(k, Treatment::Auto));
        assert_eq!(found.treatment, expected, "k = {k:e}");
        // h^2 k/m of one spring on one mass.
        assert!((found.ratio / (1e-4 * k) - 1.0).abs() < 1e-12);
    }
    // The lightest pair of neighbours decides: 1/0.5 + 1/1 per kg.
    let found = choice(chain(1e10, Treatment::Auto));
    assert_eq!(found.treatment, Treatment::Compliance);
    let lightest = 1.0 / 0.5 + 1.0;
    assert!((found.ratio / (1e-4 * 1e10 * lightest) - 1.0).abs() < 1e-12);
    assert_eq!(
        choice(chain(1e3, Treatment::Auto)).treatment,
        Treatment::Stiffness
    );
}

#[test]
fn another_step_is_another_choice() {
    let mut s = crate::tools::theta(pendulum(1e6, Treatment::Auto)).unwrap();
    s.step(1e-4).unwrap();
    assert_eq!(s.treatments()[0].treatment, Treatment::Stiffness);
    assert_eq!((s.counters().plans, s.problem().row_count()), (1, 0));
    // Within a factor of two nothing is looked at again.
    s.step(1.9e-4).unwrap();
    assert_eq!(s.counters().plans, 1);
    s.step(0.01).unwrap();
    assert_eq!(s.treatments()[0].treatment, Treatment::Compliance);
    assert_eq!((s.counters().plans, s.problem().row_count()), (2, 1));
    s.step(0.01).unwrap();
    s.step(1e-4).unwrap();
    assert_eq!(s.treatments()[0].treatment, Treatment::Stiffness);
    assert_eq!((s.counters().plans, s.problem().row_count()), (3, 0));
}

fn take(s: &mut Simulation, steps: &[f64]) {
    for h in steps {
        s.step(*h).unwrap();
    }
}

#[test]
fn a_checkpoint_holds_the_choice() {
    let schedule = [1e-4, 1e-4, 0.01, 0.01, 0.01, 1e-4, 1e-4, 0.02, 0.02];
    for cut in 0..schedule.len() {
        for at in 0..schedule.len() {
            let mut s = crate::tools::theta(pendulum(1e6, Treatment::Auto)).unwrap();
            take(&mut s, &schedule[..cut]);
            let checkpoint = s.checkpoint();
            // Into a simulation that has chosen otherwise, or not at all.
            let mut other = crate::tools::theta(pendulum(1e6, Treatment::Auto)).unwrap();
            take(&mut other, &schedule[..at]);
            other.restore(&checkpoint).unwrap();
            assert_eq!(other.checkpoint(), checkpoint, "cut {cut}, at {at}");
            assert_eq!(other.treatments(), s.treatments(), "cut {cut}, at {at}");
            for h in &schedule[cut..] {
                let (a, b) = (s.step(*h).unwrap(), other.step(*h).unwrap());
                assert_eq!(
                    (a.energies, a.residual),
                    (b.energies, b.residual),
                    "cut {cut}, at {at}"
                );
            }
            assert_eq!(other.checkpoint(), s.checkpoint(), "cut {cut}, at {at}");
        }
    }
}

/// A new plan keeps what is known of the rows that stay.
#[test]
fn a_new_plan_keeps_the_multipliers_of_the_rows_that_stay() {
    let mut model = pendulum(1e6, Treatment::Auto);
    model.set_gravity([0.0, -9.81, 0.0]).unwrap();
    let p = model.add_particles("hanging", &[[3.0, -1.0, 0.0]]).unwrap();
    model.add_mass("n", p, Mass::Uniform(2.0)).unwrap();
    let length = Distance::to_points(&[(0, [3.0, 0.0, 0.0])]).with_rest_lengths(&[1.0]);
    let rope = model.add_mapped("rope", &[p], length).unwrap();
    let rope = model.add_constraint("rope", rope, Level::Position).unwrap();
    // One linear solve per step: the geometric stiffness has the multipliers of the last step or
    // none.
    let options = Options {
        tuning: Tuning {
            geometry_passes: 1,
            ..Tuning::default()
        },
        ..Options::theta()
    };
    let mut s = Simulation::with_options(model, options).unwrap();
    s.step(1e-4).unwrap();
    assert!((s.reaction(rope)[0] + 19.62).abs() < 1e-9);
    s.step(0.01).unwrap();
    assert_eq!(s.counters().plans, 2);
    // W of the hanging mass across the rope: m + h^2 m g/l.
    let w = s.system().w.get(3, 3);
    assert!((w - (2.0 + 1e-4 * 19.62)).abs() < 1e-9, "{w}");
}

/// A checkpoint that does not fit leaves everything as it was, the plan too.
#[test]
fn a_checkpoint_that_does_not_fit_changes_nothing() {
    let mut s = crate::tools::theta(pendulum(1e6, Treatment::Auto)).unwrap();
    take(&mut s, &[1e-4, 1e-4]);
    let mut bad = s.checkpoint();
    take(&mut s, &[0.01, 0.01]);
    let before = s.checkpoint();
    bad.state.positions[0] = f64::NAN;
    assert!(s.restore(&bad).is_err());
    assert_eq!(s.checkpoint(), before);
    bad.state = before.state.clone();
    bad.lagged.push(0.0);
    assert!(s.restore(&bad).is_err());
    assert_eq!(s.checkpoint(), before);
    assert_eq!(s.problem().row_count(), 1);
    bad.treatments.chosen_for = Some(0.01);
    bad.treatments.choices.clear();
    assert!(s.restore(&bad).is_err());
    assert_eq!(s.checkpoint(), before);
    s.step(0.01).unwrap();
}

fn chosen(model: Model, h: f64) -> (Treatment, f64) {
    let mut s = crate::tools::theta(model).unwrap();
    s.step(h).unwrap();
    (s.treatments()[0].treatment, s.treatments()[0].ratio)
}

/// On linear mappings a spring may be a thousand times stiffer than on curved ones before it is a
/// compliance. A linear mapping of a curved one is curved.
#[test]
fn what_is_linear_stays_a_stiffness_longer() {
    // 1e-4 * 1e7 * (1/0.5 + 1/1).
    let (treatment, ratio) = chosen(chain(1e7, Treatment::Auto), 0.01);
    assert!((ratio - 3000.0).abs() < 1e-9);
    assert_eq!(treatment, Treatment::Stiffness);
    let mut model = Model::new();
    let bob = model.add_particles("bob", &[[1.0, 0.0, 0.0]]).unwrap();
    model.add_mass("m", bob, Mass::Uniform(1.0)).unwrap();
    let length = Distance::to_points(&[(0, [0.0; 3])]).with_rest_lengths(&[1.0]);
    let length = model.add_mapped("length", &[bob], length).unwrap();
    let same = Identity::new(Space::Real(1), 1);
    let same = model.add_mapped("same", &[length], same).unwrap();
    let law = UniformCompliance::from_stiffness(1e7);
    model
        .add_force_field("spring", same, law, Treatment::Auto)
        .unwrap();
    let (treatment, ratio) = chosen(model, 0.01);
    assert!((ratio - 1000.0).abs() < 1e-9);
    assert_eq!(treatment, Treatment::Compliance);
}

/// A mass that is fixed does not move: the ratio of a spring beside it is that of the other mass.
#[test]
fn fixed_masses_do_not_count() {
    for fixed in [false, true] {
        let mut model = Model::new();
        let x = model.add_scalars("x", &[0.0, 1.0]).unwrap();
        model.add_mass("m", x, Mass::PerElement(vec![0.1, 2.0])).unwrap();
        if fixed {
            model.fix(x, 0, &[true]).unwrap();
        }
        let pair = (End::element(0, 1), End::element(0, 0));
        let gap = Difference::new(&[pair]).in_dimension(1);
        let gap = model.add_mapped("gap", &[x], gap).unwrap();
        let law = UniformCompliance::from_stiffness(300.0);
        model
            .add_force_field("spring", gap, law, Treatment::Auto)
            .unwrap();
        let (_, ratio) = chosen(model, 0.01);
        let inverse = if fixed { 0.5 } else { 10.5 };
        assert!((ratio - 1e-4 * 300.0 * inverse).abs() < 1e-14, "{ratio}");
    }
}

/// A node without mass between two springs: nothing but their stiffness holds it, so they are
/// stiffnesses.
#[test]
fn springs_of_what_has_no_mass_are_stiffnesses() {
    let build = |treatment| {
        let mut model = Model::new();
        let x = model.add_scalars("heavy", &[1.0]).unwrap();
        model.add_mass("m", x, Mass::Uniform(1.0)).unwrap();
        let y = model.add_scalars("light", &[0.4]).unwrap();
        for (name, first, second) in [
            ("outer", End::element(0, 0), End::element(1, 0)),
            ("inner", End::element(1, 0), End::Point([0.0; 3])),
        ] {
            let gap = Difference::new(&[(first, second)]).in_dimension(1);
            let parents = if name == "outer" { vec![x, y] } else { vec![y] };
            let gap = if name == "outer" {
                gap
            } else {
                Difference::new(&[(End::element(0, 0), second)]).in_dimension(1)
            };
            let gap = model.add_mapped(name, &parents, gap).unwrap();
            let law = UniformCompliance::from_stiffness(5.0);
            model
                .add_force_field(&format!("{name} spring"), gap, law, treatment)
                .unwrap();
        }
        model
    };
    let (found, treatment) = end(build(Treatment::Auto), 0.01, 0.2);
    assert_eq!(treatment, Some(Treatment::Stiffness));
    assert_eq!(found, end(build(Treatment::Stiffness), 0.01, 0.2).0);
}
