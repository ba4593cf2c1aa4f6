//! Modes of vibration and buckling loads against closed forms.

mod beams;
mod buckling;
mod hard_rows;
mod memory;

use super::tools::Floor;
use pliant::contact::*;
use pliant::prelude::*;
use std::f64::consts::PI;
use std::sync::Arc;

/// So many modes.
fn modes(model: impl Into<Arc<Model>>, count: usize) -> Modes {
    let mut simulation = Simulation::new(model).unwrap();
    let before = simulation.state().clone();
    let how = ModeOptions {
        count,
        ..ModeOptions::default()
    };
    let found = simulation.modes(&how).unwrap();
    // Looking at modes moves nothing.
    assert_eq!(*simulation.state(), before);
    for mode in &found.modes {
        assert!(mode.residual < 1e-9 && mode.error < 1e-6, "{mode:?}");
    }
    found
}

fn frequencies(found: &Modes) -> Vec<f64> {
    found.modes.iter().map(Mode::angular_frequency).collect()
}

/// Compares with closed forms, in order.
fn check(found: &[f64], exact: &[f64], tolerance: f64) {
    assert_eq!(found.len(), exact.len());
    for (k, (found, exact)) in found.iter().zip(exact).enumerate() {
        let error = (found / exact - 1.0).abs();
        assert!(error <= tolerance, "{k}: {found} for {exact}, off by {error:e}");
    }
}

fn sorted(mut list: Vec<f64>) -> Vec<f64> {
    list.sort_by(f64::total_cmp);
    list
}

/// Particles of mass `m` in a line between two walls, a distance `a` apart, on springs of stiffness
/// `k` that pull with the force `t`.
fn string(n: usize, [m, a, k, t]: [f64; 4], treatment: Treatment) -> (Model, NodeId) {
    let mut model = Model::new();
    let places: Vec<[f64; 3]> = (1..=n).map(|i| [i as f64 * a, 0.0, 0.0]).collect();
    let beads = model.add_particles("beads", &places).unwrap();
    model.add_mass("mass", beads, Mass::Uniform(m)).unwrap();
    let inner: Vec<(usize, usize)> = (1..n).map(|i| (i - 1, i)).collect();
    let walls = [(0, [0.0; 3]), (n - 1, [(n + 1) as f64 * a, 0.0, 0.0])];
    let rest = a - t / k;
    let law = || UniformCompliance::new(k.recip());
    let lengths = Distance::between(&inner).with_rest_lengths(&vec![rest; n - 1]);
    let links = model.add_mapped("links", &[beads], lengths).unwrap();
    model.add_force_field("springs", links, law(), treatment).unwrap();
    let lengths = Distance::to_points(&walls).with_rest_lengths(&[rest; 2]);
    let ends = model.add_mapped("ends", &[beads], lengths).unwrap();
    model
        .add_force_field("end springs", ends, law(), treatment)
        .unwrap();
    (model, beads)
}

/// A string of beads under tension: across `2 sqrt(T/(m a)) sin(j pi/(2n + 2))` in two directions,
/// along `2 sqrt(k/m) sin(j pi/(2n + 2))`, whatever the springs are in the system. All effective
/// masses sum to the mass.
#[test]
fn a_string_under_tension_has_its_frequencies() {
    let n = 12;
    let [m, a, k, t]: [f64; 4] = [0.02, 0.1, 5e4, 30.0];
    let sine = |j: usize| (j as f64 * PI / (2 * n + 2) as f64).sin();
    let mut exact: Vec<f64> = (1..=n).map(|j| 2.0 * (k / m).sqrt() * sine(j)).collect();
    exact.extend((1..=n).flat_map(|j| [2.0 * (t / (m * a)).sqrt() * sine(j); 2]));
    let exact = sorted(exact);
    for treatment in [Treatment::Stiffness, Treatment::Compliance] {
        let (model, beads) = string(n, [m, a, k, t], treatment);
        let model = Arc::new(model);
        let found = modes(Arc::clone(&model), 3 * n + 5);
        assert_eq!((found.all, found.massless), (3 * n, 0));
        // Rounding of the stiffness k beside that of the tension, of the lowest mode, T/a (pi/26)^2
        // / k = 1e-4 times a thousand.
        check(&frequencies(&found), &exact, 1e-9);
        let mass = found.mass;
        assert!((mass - n as f64 * m).abs() < 1e-12);
        for axis in 0..3 {
            let sum: f64 = found.modes.iter().map(|mode| mode.effective_masses()[axis]).sum();
            assert!((sum - mass).abs() < 1e-9 * mass, "{axis}: {sum} of {mass}");
        }
        // The first one is half a wave, across.
        let shape = found.modes[0].shape(&model, beads);
        let across = |i: usize| shape[3 * i + 1].hypot(shape[3 * i + 2]);
        for i in 0..n {
            let wave = ((i + 1) as f64 * PI / (n + 1) as f64).sin();
            let share = across(i) / across(n / 2) * (((n / 2) + 1) as f64 * PI / (n + 1) as f64).sin();
            assert!((share - wave).abs() < 1e-6 && shape[3 * i].abs() < 1e-6, "{i}");
        }
    }
}

/// Bodies on hard hinges about z, each of mass 1 kg, with the centre in the middle of 1 m.
fn pendulum(angle: f64) -> Model {
    let mut model = Model::new();
    model.set_gravity([0.0, -9.81, 0.0]).unwrap();
    let turn = Pose {
        position: [0.5 * angle.sin(), -0.5 * angle.cos(), 0.0],
        rotation: [0.0, 0.0, (0.5 * angle).sin(), (0.5 * angle).cos()],
    };
    let body = model.add_rigid_bodies("bar", &[turn]).unwrap();
    let mass = RigidMass::principal(1.0, [1.0 / 12.0, 1e-3, 1.0 / 12.0]);
    model.add_mass("mass", body, Mass::Rigid(vec![mass])).unwrap();
    let hinge = Joint::hinge(Side::World, Side::Body(body, 0));
    model.add_joint("hinge", &hinge).unwrap();
    model
}

/// `omega^2 = m g d/(I + m d^2)`, and upside down it falls at the same rate.
#[test]
fn a_bar_on_a_hinge_swings_or_falls() {
    let exact = (9.81_f64 * 0.5 / (1.0 / 12.0 + 0.25)).sqrt();
    let found = modes(pendulum(0.0), 10);
    assert_eq!(found.all, 1);
    check(&frequencies(&found), &[exact], 1e-12);
    assert!((found.modes[0].frequency() - exact / (2.0 * PI)).abs() < 1e-12);
    assert_eq!(found.modes[0].kind, ModeKind::Vibration);
    let found = modes(pendulum(PI), 10);
    assert_eq!(found.modes[0].kind, ModeKind::Growth);
    check(&[found.modes[0].growth_rate()], &[exact], 1e-12);
    assert_eq!(found.modes[0].angular_frequency(), 0.0);
}

/// Two points on hard rods of 1 m, one below the other: `g/l (2 -+ sqrt(2))`, out of the plane too.
#[test]
fn a_double_pendulum_has_two_frequencies() {
    let mut model = Model::new();
    model.set_gravity([0.0, -9.81, 0.0]).unwrap();
    let bobs = model
        .add_particles("bobs", &[[0.0, -1.0, 0.0], [0.0, -2.0, 0.0]])
        .unwrap();
    model.add_mass("mass", bobs, Mass::Uniform(1.0)).unwrap();
    for (name, distance) in [
        ("upper", Distance::to_points(&[(0, [0.0; 3])])),
        ("lower", Distance::between(&[(0, 1)])),
    ] {
        let distance = distance.with_rest_lengths(&[1.0]);
        let rod = model.add_mapped(name, &[bobs], distance).unwrap();
        let label = format!("{name} is hard");
        model.add_constraint(&label, rod, Level::Position).unwrap();
    }
    let [slow, fast] = [-1.0, 1.0].map(|s| (9.81 * (2.0 + s * 2.0_f64.sqrt())).sqrt());
    check(&frequencies(&modes(model, 4)), &[slow, slow, fast, fast], 1e-12);
}

/// A parallelogram that hangs on two bars of 1 m and 1 kg, with a coupler of 1 kg between them, in
/// space: three rows too many. It swings with `omega^2 = 2 g l m/(m l^2 + 2 m l^2/3)`.
#[test]
fn a_closed_loop_with_rows_too_many_swings() {
    let mut model = Model::new();
    model.set_gravity([0.0, -9.81, 0.0]).unwrap();
    let places = [[0.0, -0.5, 0.0], [1.0, -0.5, 0.0], [0.5, -1.0, 0.0]];
    let bars = model.add_rigid_bodies("bars", &places.map(Pose::at)).unwrap();
    let twelfth = 1.0 / 12.0;
    let mass = RigidMass::principal(1.0, [twelfth; 3]);
    model.add_mass("mass", bars, Mass::Rigid(vec![mass; 3])).unwrap();
    for (k, x) in [0.0, 1.0].into_iter().enumerate() {
        let top = Joint::hinge(Side::World, Side::Body(bars, k)).at(Pose::at([x, 0.0, 0.0]));
        model.add_joint(&format!("top {k}"), &top).unwrap();
        let low = Joint::hinge(Side::Body(bars, k), Side::Body(bars, 2)).at(Pose::at([x, -1.0, 0.0]));
        model.add_joint(&format!("low {k}"), &low).unwrap();
    }
    let found = modes(model, 3);
    assert_eq!((found.all, found.redundant_rows), (1, 3));
    check(
        &frequencies(&found),
        &[(9.81_f64 * 2.0 / (1.0 + 2.0 / 3.0)).sqrt()],
        1e-10,
    );
}

/// A bead between two springs, of which the other holds a point without mass that hangs on a third:
/// the point follows, and is counted.
#[test]
fn what_has_no_mass_has_no_frequency_of_its_own() {
    let mut model = Model::new();
    let point = model.add_particles("point", &[[1.0, 0.0, 0.0]]).unwrap();
    let bead = model.add_particles("bead", &[[2.0, 0.0, 0.0]]).unwrap();
    model.add_mass("mass", bead, Mass::Uniform(2.0)).unwrap();
    for node in [point, bead] {
        model.fix(node, 0, &[false, true, true]).unwrap();
    }
    let link = Distance::new(&[(
        End::Element(Dependency::new(0, 0)),
        End::Element(Dependency::new(1, 0)),
    )]);
    for (name, distance, parents) in [
        ("wall", Distance::to_points(&[(0, [0.0; 3])]), vec![point]),
        ("link", link, vec![point, bead]),
    ] {
        let distance = distance.with_rest_lengths(&[1.0]);
        let spring = model.add_mapped(name, &parents, distance).unwrap();
        let label = format!("{name} spring");
        let law = UniformCompliance::new(1e-3);
        model
            .add_force_field(&label, spring, law, Treatment::Compliance)
            .unwrap();
    }
    let found = modes(model, 5);
    assert_eq!((found.all, found.massless), (1, 1));
    // Two springs of 1000 N/m in series and 2 kg.
    check(&frequencies(&found), &[250.0_f64.sqrt()], 1e-12);
}

/// Where something touches there are no modes; contacts that are open are left out.
#[test]
fn contacts_that_touch_are_refused_and_others_left_out() {
    let ball = |height: f64| {
        let mut model = Model::new();
        model.set_gravity([0.0, 0.0, -9.81]).unwrap();
        let ball = model.add_particles("ball", &[[0.0, 0.0, height]]).unwrap();
        model.add_mass("mass", ball, Mass::Uniform(1.0)).unwrap();
        let hook = Distance::to_points(&[(0, [0.0, 0.0, 2.0])]).with_rest_lengths(&[1.0]);
        let spring = model.add_mapped("spring", &[ball], hook).unwrap();
        let law = UniformCompliance::new(0.01);
        model
            .add_force_field("law", spring, law, Treatment::Compliance)
            .unwrap();
        let mut simulation = Simulation::new(model).unwrap();
        let law = ContactLaw::default();
        simulation.set_contacts(Floor(ball, law)).unwrap();
        simulation
    };
    let how = ModeOptions::default();
    // It hangs at 1 - 0.0981 m: 100 N/m along, g over the length of the spring across.
    let found = ball(0.9).modes(&how).unwrap();
    let across = (9.81_f64 / 1.0981).sqrt();
    check(&frequencies(&found), &[across, across, 10.0], 1e-9);
    let mut low = ball(0.0);
    let present = ModeOptions {
        about: About::Present,
        ..how
    };
    let error = low.modes(&present).unwrap_err();
    assert_eq!(error.kind(), "NoModes");
    assert!(error.to_string().contains("touches"), "{error}");
}

/// Numbers that describe no search, and models without rest.
#[test]
fn mistakes_are_named() {
    let words = |result: Result<Modes, Error>| result.unwrap_err().to_string();
    let mut simulation = Simulation::new(pendulum(0.0)).unwrap();
    let none = ModeOptions {
        count: 0,
        ..ModeOptions::default()
    };
    assert_eq!(
        words(simulation.modes(&none)),
        "the number of modes is 0, but must be at least 1"
    );
    for tolerance in [0.0, -1.0, 1.0, f64::NAN] {
        let how = ModeOptions {
            tolerance,
            ..ModeOptions::default()
        };
        assert!(words(simulation.modes(&how)).starts_with("the tolerance of modes is"));
    }
    let few = ModeOptions {
        max_solves: 0,
        count: 4,
        ..ModeOptions::default()
    };
    let (model, _) = string(40, [0.02, 0.1, 5e4, 30.0], Treatment::Stiffness);
    let mut string = Simulation::new(model).unwrap();
    let error = string.modes(&few).unwrap_err();
    assert!(error.to_string().contains("after"), "{error}");
    // In free fall there is no rest.
    let mut model = Model::new();
    model.set_gravity([0.0, 0.0, -9.81]).unwrap();
    let ball = model.add_particles("ball", &[[0.0; 3]]).unwrap();
    model.add_mass("mass", ball, Mass::Uniform(1.0)).unwrap();
    let mut ball = Simulation::new(model).unwrap();
    assert_eq!(
        ball.modes(&ModeOptions::default()).unwrap_err().kind(),
        "NoEquilibrium"
    );
    // But there are modes of the present, and what is missing is told.
    let present = ModeOptions {
        about: About::Present,
        ..ModeOptions::default()
    };
    let found = ball.modes(&present).unwrap();
    assert!(found.unbalanced > 0.5, "{}", found.unbalanced);
    assert!(found.modes.iter().all(|m| m.kind == ModeKind::Free));
    // Nothing holds what has no mass.
    let mut model = Model::new();
    model.add_particles("ghost", &[[0.0; 3]]).unwrap();
    let bead = model.add_particles("bead", &[[0.0; 3]]).unwrap();
    model.add_mass("bead mass", bead, Mass::Uniform(1.0)).unwrap();
    let mut ghost = Simulation::new(model).unwrap();
    let error = words(ghost.modes(&ModeOptions::default()));
    assert!(
        error.contains("ghost") && error.contains("nothing has a mass"),
        "{error}"
    );
}

/// No bit depends on the number of threads, nor on what was asked before.
#[test]
fn the_same_question_has_the_same_answer() {
    let (model, _) = string(30, [0.02, 0.1, 5e4, 30.0], Treatment::Compliance);
    let model = Arc::new(model);
    let of = |threads: usize, steps: usize| {
        let mut simulation = Simulation::new(Arc::clone(&model)).unwrap();
        simulation.options.tuning.solver.threads = threads;
        let how = ModeOptions::default();
        (0..steps).for_each(|_| drop(simulation.modes(&how).unwrap()));
        simulation.modes(&how).unwrap()
    };
    let one = of(1, 0);
    assert_eq!(one, of(2, 0));
    assert_eq!(one, of(1, 2));
}
