//! The energy-momentum method: conservation over thousands of periods, order, dissipation, works,
//! and what it refuses.

use super::models::*;
use crate::tools::{Floor, order};
use pliant::contact::ContactLaw;
use pliant::continuum::{Mesh, Rod, RodCurve, Section, Solid, StrainEnergy};
use pliant::prelude::*;

fn method() -> Options {
    with(Integrator::EnergyMomentum)
}

/// Changes over a run of what is to be conserved.
#[derive(Clone, Copy, Debug, Default)]
struct Kept {
    /// Largest difference of the energy from that of the start (J), over the first half and over
    /// all of the run, and from step to step.
    first_half: f64,
    energy: f64,
    step: f64,
    /// The largest kinetic energy (J).
    kinetic: f64,
    /// Largest difference of linear and angular momentum from those of the start.
    linear: f64,
    angular: f64,
    /// The largest numerical part of a step in the ledger (J).
    numerical: f64,
}

fn run(s: &mut Simulation, h: f64, steps: usize) -> Kept {
    let start = s.problem().energies(s.state());
    let momentum = s.model().momentum(s.state());
    let mut kept = Kept::default();
    let mut last = start.total();
    for k in 0..steps {
        let report = s.step(h).unwrap();
        let energy = report.energies.total();
        kept.step = kept.step.max((energy - last).abs());
        kept.energy = kept.energy.max((energy - start.total()).abs());
        kept.kinetic = kept.kinetic.max(report.energies.kinetic);
        kept.linear = kept
            .linear
            .max(distance(&report.momentum.linear, &momentum.linear));
        kept.angular = kept
            .angular
            .max(distance(&report.momentum.angular, &momentum.angular));
        kept.numerical = kept.numerical.max(report.ledger.numerical.abs());
        last = energy;
        if k < steps / 2 {
            kept.first_half = kept.energy;
        }
    }
    kept
}

fn kept(model: Model, h: f64, steps: usize) -> Kept {
    run(&mut Simulation::with_options(model, method()).unwrap(), h, steps)
}

/// Asserts that the energy is kept to a share of what turned over. Each step is solved to the
/// rounding of its terms, of positions and energies of the whole model: hundreds of roundings of
/// that, which add up as a random walk of many thousand steps.
fn assert_kept(name: &str, kept: Kept, share: f64) {
    println!("{name}: {kept:?}");
    let most = share * kept.kinetic;
    assert!(kept.kinetic > 0.0 && kept.energy < most, "{name}: {kept:?}");
    assert!(kept.numerical < most, "{name}: {kept:?}");
}

/// Ten particles on hard rods of 0.1 m, each rod turned by `angle` from straight down.
fn rods(angle: f64) -> Model {
    let mut model = Model::new();
    model.set_gravity([0.0, -G, 0.0]).unwrap();
    let (sine, cosine) = (0.1 * angle.sin(), 0.1 * angle.cos());
    let places: Vec<[f64; 3]> = (1..=10)
        .map(|i| [sine * f64::from(i), -cosine * f64::from(i), 0.0])
        .collect();
    let particles = model.add_particles("particles", &places).unwrap();
    model.add_mass("m", particles, Mass::Uniform(0.1)).unwrap();
    let pairs: Vec<_> = (0..10)
        .map(|i| match i {
            0 => (End::element(0, 0), End::Point([0.0; 3])),
            _ => (End::element(0, i), End::element(0, i - 1)),
        })
        .collect();
    let lengths = Distance::new(&pairs).with_rest_lengths(&[0.1]);
    let lengths = model.add_mapped("lengths", &[particles], lengths).unwrap();
    model.add_constraint("rods", lengths, Level::Position).unwrap();
    model
}

/// The elastic pendulum of the models with a spring of another law.
fn spring_pendulum(law: impl ForceField + 'static, treatment: Treatment) -> Model {
    let mut model = Model::new();
    model.set_gravity([0.0, -G, 0.0]).unwrap();
    let bob = model
        .add_independent("bob", Space::Real(3), &[1.1, 0.0, 0.0], &[0.3, 0.0, 0.5])
        .unwrap();
    model.add_mass("m", bob, Mass::Uniform(1.0)).unwrap();
    let length = Distance::to_points(&[(0, [0.0; 3])]).with_rest_lengths(&[1.0]);
    let length = model.add_mapped("length", &[bob], length).unwrap();
    model.add_force_field("spring", length, law, treatment).unwrap();
    model
}

/// A thousand periods of large swings, 2.3678 s each, in steps of 20 ms.
#[test]
fn a_pendulum_keeps_its_energy_for_a_thousand_periods() {
    let kept = kept(pendulum(), 0.02, 118_390);
    assert_kept("pendulum", kept, 1e-11);
}

/// A thousand periods of the slowest mode, 1.87 s for small swings (`2 pi sqrt(L/g) 2/j` with the
/// first zero `j = 2.405` of the Bessel function, less what ten particles make of it); and two
/// hundred of large ones, which whip.
#[test]
fn ten_particles_on_rods_keep_their_energy() {
    assert_kept("rods", kept(rods(0.4), 0.05, 37_400), 1e-10);
    assert_kept("rods from the horizontal", kept(rods(1.57), 0.005, 4000), 1e-10);
}

/// A thousand periods of the spring (0.44 s) under nonlinear laws, as forces and as rows.
#[test]
fn spring_pendulums_keep_their_energy() {
    for treatment in [Treatment::Stiffness, Treatment::Compliance] {
        let laws: [(&str, Spring); 3] = [
            ("linear", Spring::linear(200.0)),
            ("saturating", Spring::saturating(200.0, 30.0)),
            ("stiffening", Spring::stiffening(200.0, 3000.0)),
        ];
        for (name, law) in laws {
            let kept = kept(spring_pendulum(law, treatment), 0.02, 22_000);
            assert_kept(name, kept, 1e-10);
        }
    }
    // Its stiffness jumps where it becomes slack.
    let rope = spring_pendulum(Spring::tension_only(200.0), Treatment::Stiffness);
    assert_kept("one-sided", kept(rope, 0.02, 5000), 1e-10);
}

/// A beam of the material of `cargo xtask bench vibrations`, clamped and let go from a swing of a
/// fifth of its length, for a thousand periods of its first mode at twenty steps.
#[test]
fn a_clamped_solid_keeps_its_energy_for_a_thousand_periods() {
    let mesh = Mesh::hexahedral_box([1.0, 0.1, 0.1], [2, 1, 1]).unwrap();
    let mut model = Model::new();
    let parts = Solid::st_venant_kirchhoff(1e6, 0.3)
        .with_density(1000.0)
        .add_to(&mut model, "beam", &mesh)
        .unwrap();
    for (k, x) in mesh.nodes.iter().enumerate() {
        if x[0] == 0.0 {
            model.fix(parts.nodes, k, &[true; 3]).unwrap();
        }
    }
    let mut s = Simulation::with_options(model, method()).unwrap();
    let mut state = s.state().clone();
    for (k, x) in mesh.nodes.iter().enumerate() {
        state.velocities[3 * k + 2] = x[0] * x[0];
    }
    s.set_state(&state).unwrap();
    // The first mode of bending of this mesh has 1.0 s.
    let kept = run(&mut s, 0.05, 20_000);
    assert_kept("clamped beam", kept, 1e-10);
}

/// Solids that fly, turn and deform by a third: linear and angular momentum too.
#[test]
fn free_solids_keep_energy_and_momentum() {
    for (name, solid) in [
        ("St Venant-Kirchhoff", Solid::st_venant_kirchhoff(1e5, 0.3)),
        (
            "neo-Hookean",
            Solid::hyperelastic(StrainEnergy::neo_hookean(1e5, 0.3)),
        ),
        (
            "stable neo-Hookean",
            Solid::hyperelastic(StrainEnergy::stable_neo_hookean(1e5, 0.4)),
        ),
    ] {
        let mesh = Mesh::hexahedral_box([1.0, 0.2, 0.2], [4, 1, 1]).unwrap();
        let mut model = Model::new();
        solid
            .with_density(1000.0)
            .add_to(&mut model, "beam", &mesh)
            .unwrap();
        let mut s = Simulation::with_options(model, method()).unwrap();
        let mut state = s.state().clone();
        for (v, x) in state
            .velocities
            .as_chunks_mut::<3>()
            .0
            .iter_mut()
            .zip(&mesh.nodes)
        {
            *v = [-4.0 * x[1], 4.0 * x[0] + 0.5 * x[2], 3.0 * x[0] * x[0]];
        }
        s.set_state(&state).unwrap();
        let kept = run(&mut s, 0.01, 1000);
        assert_kept(name, kept, 1e-10);
        // 40 kg at some metres per second and metres.
        assert!(kept.linear < 1e-10 && kept.angular < 1e-9, "{name}: {kept:?}");
    }
}

/// The top of the models with its inertia on a mapped node.
fn mass_on_a_repeated_body() -> Kept {
    let mut model = Model::new();
    let body = model.add_rigid_bodies("top", &[Pose::default()]).unwrap();
    model
        .set_body_velocity(body, 0, [0.0; 3], [1.2, 0.0, 1.0])
        .unwrap();
    let node = model
        .add_mapped("the same", &[body], Identity::new(Space::Rigid3, 1))
        .unwrap();
    let inertia = RigidMass::principal(1.0, [1.0, 2.0, 3.0]);
    model.add_mass("m", node, Mass::Rigid(vec![inertia])).unwrap();
    kept(model, 0.05, 1000)
}

/// A body that tumbles for hundreds of turns: energy, and momentum in space. Its motion after a
/// second has order 2, spin against elliptic functions and axes against an integration of its own.
#[test]
fn a_free_body_keeps_energy_and_momentum() {
    let kept = kept(top(), 0.05, 20_000);
    assert_kept("top", kept, 1e-10);
    assert!(kept.angular < 1e-10, "{kept:?}");
    // The same inertia on a node that repeats the body.
    let repeated = mass_on_a_repeated_body();
    assert_kept("repeated", repeated, 1e-10);
    assert!(repeated.angular < 1e-10, "{repeated:?}");

    // Quaternion (w, x, y, z), then the spin in body axes.
    let exact = runge_kutta([1.0, 0.0, 0.0, 0.0, 1.2, 0.0, 1.0], 1.0, |s| {
        let [a, b, c, d, x, y, z] = *s;
        [
            -0.5 * (b * x + c * y + d * z),
            0.5 * (a * x + c * z - d * y),
            0.5 * (a * y + d * x - b * z),
            0.5 * (a * z + b * y - c * x),
            (2.0 - 3.0) / 1.0 * y * z,
            (3.0 - 1.0) / 2.0 * z * x,
            (1.0 - 2.0) / 3.0 * x * y,
        ]
    });
    let errors = |h: f64| {
        let s = taken(top(), method(), h, 1.0);
        let axes = distance(&s.state().positions[3..7], &exact[..4]);
        [axes, distance(&s.state().velocities[3..6], &SPIN_AT_1)]
    };
    let (coarse, fine) = (errors(0.05), errors(0.025));
    for k in 0..2 {
        let found = order([coarse[k], fine[k]]);
        assert!((found - 2.0).abs() < 0.05, "{found}: {coarse:?} {fine:?}");
    }
}

/// Order 2 by regression over four steps on the pendulum, and on a nonlinear spring against an
/// integration of its own.
#[test]
fn errors_are_of_second_order() {
    let steps: [f64; 4] = [0.04, 0.02, 0.01, 0.005];
    let slope = |errors: [f64; 4]| {
        let logs: Vec<(f64, f64)> = steps.iter().zip(errors).map(|(h, e)| (h.ln(), e.ln())).collect();
        let mean = logs
            .iter()
            .fold((0.0, 0.0), |m, l| (m.0 + 0.25 * l.0, m.1 + 0.25 * l.1));
        let products = logs.iter().map(|l| (l.0 - mean.0) * (l.1 - mean.1));
        products.sum::<f64>() / logs.iter().map(|l| (l.0 - mean.0).powi(2)).sum::<f64>()
    };
    let on_a_rod = steps.map(|h| {
        let s = taken(pendulum(), method(), h, 1.0);
        distance(&s.state().positions[..2], &PENDULUM_AT_1)
    });
    let exact = runge_kutta([1.1, 0.0, 0.0, 0.3, 0.0, 0.5], 1.0, |s| {
        let l = (s[0] * s[0] + s[1] * s[1] + s[2] * s[2]).sqrt();
        let x: f64 = 200.0 * (l - 1.0);
        let force = -x / (x / 30.0).hypot(1.0) / l;
        [s[3], s[4], s[5], force * s[0], force * s[1] - G, force * s[2]]
    });
    let on_springs = [Treatment::Stiffness, Treatment::Compliance].map(|treatment| {
        steps.map(|h| {
            let model = spring_pendulum(Spring::saturating(200.0, 30.0), treatment);
            let s = taken(model, method(), h, 1.0);
            distance(&s.state().positions[..3], &exact[..3])
        })
    });
    for errors in [on_a_rod, on_springs[0], on_springs[1]] {
        let found = slope(errors);
        println!("{errors:?} {found}");
        assert!((found - 2.0).abs() < 0.1, "{errors:?} {found}");
    }
}

/// Ten boxes on ball joints from the horizontal, by steps of 10 ms, which the whip of the end turns
/// by half a radian: no step changes the energy.
#[test]
fn a_chain_of_boxes_keeps_its_energy_in_every_step() {
    let kept = kept(chain(10), 0.01, 500);
    println!("{kept:?}");
    // A thousandth of the 49 J that turn over would do; steps are solved to rounding.
    assert!(kept.kinetic > 40.0 && kept.step < 1e-9, "{kept:?}");
}

/// Boxes in a row, joined by joints of a kind, that fly and turn.
fn joined(kind: &str) -> Model {
    let count = 4;
    let mut model = Model::new();
    let poses: Vec<Pose> = (0..count)
        .map(|i| Pose::at([0.1 * f64::from(i) - 0.15, 0.0, 0.0]))
        .collect();
    let bodies = model.add_rigid_bodies("boxes", &poses).unwrap();
    let mass = RigidMass::cuboid(1.0, [0.1, 0.03, 0.02]);
    model
        .add_mass("m", bodies, Mass::Rigid(vec![mass; poses.len()]))
        .unwrap();
    for i in 1..poses.len() {
        let sides = (Side::Body(bodies, i - 1), Side::Body(bodies, i));
        let joint = match kind {
            "ball" => Joint::ball(sides.0, sides.1),
            "hinge" => Joint::hinge(sides.0, sides.1).with_spring(0, 0.5, 0.0, 0.0),
            "universal" => Joint::universal(sides.0, sides.1).with_spring(1, 0.5, 0.0, 0.0),
            "slider" => Joint::slider(sides.0, sides.1).with_spring(0, 1e-3, 0.0, 0.0),
            "cylindrical" => Joint::cylindrical(sides.0, sides.1).with_spring(0, 1e-3, 0.0, 0.0),
            "screw" => Joint::screw(sides.0, sides.1, 0.02),
            "fixed" => Joint::fixed(sides.0, sides.1),
            "bushing" => Joint::bushing(sides.0, sides.1, [1e-4, 1e-4, 1e-4, 0.1, 0.1, 0.1], 0.0),
            _ => {
                let side = |k, y| Side::Frame(bodies, k, Pose::at([0.0, y, 0.01]));
                Joint::distance(side(i - 1, 0.02), side(i, -0.03), None).with_compliance(&[1e-3], 0.0)
            }
        };
        let at = Pose::turned([0.1 * i as f64 - 0.2, 0.0, 0.0], [1.0, 0.2 * i as f64, 0.0], 1.5);
        model.add_joint(&format!("joint {i}"), &joint.at(at)).unwrap();
    }
    let spin = [0.0, -2.0, 8.0];
    for (i, pose) in poses.iter().enumerate() {
        let x = pose.position[0];
        let velocity = [0.3, spin[2] * x, -spin[1] * x];
        model.set_body_velocity(bodies, i, velocity, spin).unwrap();
    }
    model
}

#[test]
fn free_mechanisms_keep_energy_and_momentum() {
    for kind in [
        "ball",
        "hinge",
        "universal",
        "slider",
        "cylindrical",
        "screw",
        "fixed",
        "bushing",
        "spring",
    ] {
        let kept = kept(joined(kind), 0.01, 500);
        assert_kept(kind, kept, 1e-10);
        // 4 kg at metres per second.
        assert!(kept.linear < 1e-11 && kept.angular < 1e-11, "{kind}: {kept:?}");
    }
}

/// A rod of geometrically exact segments that flies and bends by some tenths of a radian in each.
#[test]
fn a_free_rod_keeps_energy_and_momentum() {
    for treatment in [Treatment::Compliance, Treatment::Stiffness] {
        let mut model = Model::new();
        let rod = Rod::new(Section::rectangle([0.02, 0.01]), 1e6, 0.3)
            .with_density(1000.0)
            .with_treatment(treatment);
        let curve = RodCurve::through(&[
            [0.0, 0.0, 0.0],
            [0.1, 0.0, 0.01],
            [0.2, 0.02, 0.0],
            [0.3, 0.05, 0.0],
            [0.4, 0.05, 0.05],
        ]);
        let frames = rod.add_to(&mut model, "rod", &curve).unwrap().frames;
        for i in 0..5u8 {
            let x = f64::from(i);
            let velocity = [0.0, 0.5 * x, 0.1 * x * x];
            model
                .set_body_velocity(frames, i.into(), velocity, [1.0, 2.0, -3.0])
                .unwrap();
        }
        let kept = kept(model, 0.002, 1000);
        assert_kept("rod", kept, 1e-10);
        assert!(kept.linear < 1e-12 && kept.angular < 1e-12, "{kept:?}");
    }
}

/// Dampers of all kinds take energy in every step, as much as their entry of the ledger says.
#[test]
fn dampers_take_energy() {
    let mut models = vec![
        elastic_pendulum(Treatment::Stiffness, 2.0),
        elastic_pendulum(Treatment::Compliance, 2.0),
        spring_pendulum(
            Spring::saturating(200.0, 30.0).with_damping(1.0),
            Treatment::Compliance,
        ),
        spring_pendulum(
            Spring::saturating(200.0, 30.0).with_damping(1.0),
            Treatment::Stiffness,
        ),
    ];
    for treatment in [Treatment::Compliance, Treatment::Stiffness] {
        let mut model = elastic_pendulum(Treatment::Stiffness, 0.0);
        let length = model.node_named("length").unwrap();
        model
            .add_force_field("dashpot", length, Damping::new(1.0), treatment)
            .unwrap();
        models.push(model);
    }
    let mut in_air = joined("hinge");
    let boxes = in_air.node_named("boxes").unwrap();
    let air = Damping::new(0.1).with_angular(1e-3);
    in_air
        .add_force_field("air", boxes, air, Treatment::Stiffness)
        .unwrap();
    models.push(in_air);
    let mut by_mass = joined("hinge");
    let rates = Rayleigh {
        mass: 0.5,
        stiffness: 0.0,
    };
    by_mass.set_rayleigh(rates).unwrap();
    models.push(by_mass);
    for (k, model) in models.into_iter().enumerate() {
        let mut s = Simulation::with_options(model, method()).unwrap();
        let start = s.problem().energies(s.state()).total();
        let (mut last, mut taken) = (start, 0.0);
        for _ in 0..200 {
            let report = s.step(0.01).unwrap();
            let energy = report.energies.total();
            assert!(energy <= last + 1e-11, "model {k}: {energy} after {last}");
            assert!(report.ledger.damping <= 0.0, "model {k}: {:?}", report.ledger);
            assert!(
                report.ledger.numerical.abs() < 1e-10,
                "model {k}: {:?}",
                report.ledger
            );
            (last, taken) = (energy, taken + report.ledger.damping);
        }
        assert!(last < start - 0.1, "model {k}: {start} to {last}");
        // Sums of 200 steps.
        assert!((last - start - taken).abs() < 1e-9, "model {k}: {taken}");
    }
}

/// The energy that drives and forces without a potential bring in is in the ledger, and nothing
/// else is.
#[test]
fn works_of_drives_and_forces_are_booked() {
    let mut pushed = joined("hinge");
    let boxes = pushed.node_named("boxes").unwrap();
    let thrust = BodyForce::new([0.05, 0.0, 0.01], [1.0, 0.5, 0.0]);
    pushed
        .add_force_field("thrust", boxes, thrust, Treatment::Stiffness)
        .unwrap();
    pushed
        .add_force_field(
            "torque",
            boxes,
            Torque::new([0.1, 0.0, 0.02]),
            Treatment::Stiffness,
        )
        .unwrap();

    let mut hauled = pendulum();
    let rod = hauled.component_named("rod").unwrap();
    let motion = PrescribedMotion::sine(0.1, 5.0, 0.0);
    hauled.set_motion(rod, Some(motion.clone())).unwrap();

    let mut shaken = elastic_pendulum(Treatment::Compliance, 0.5);
    let spring = shaken.component_named("spring").unwrap();
    shaken.set_motion(spring, Some(motion.clone())).unwrap();

    let mut saturated = spring_pendulum(Spring::saturating(200.0, 30.0), Treatment::Compliance);
    let spring = saturated.component_named("spring").unwrap();
    saturated.set_motion(spring, Some(motion)).unwrap();

    for (k, model) in [pushed, hauled, shaken, saturated].into_iter().enumerate() {
        let node = model
            .node_named("bob")
            .or_else(|| model.node_named("boxes"))
            .unwrap();
        let mut s = Simulation::with_options(model, method()).unwrap();
        let size = if k == 0 { 6 } else { 3 };
        s.set_force(node, 0, &[0.3, 0.2, 0.1, 0.01, 0.02, 0.03][..size])
            .unwrap();
        let start = s.problem().energies(s.state()).total();
        let mut works = 0.0;
        for _ in 0..200 {
            let report = s.step(0.01).unwrap();
            let l = report.ledger;
            assert!(l.numerical.abs() < 1e-10, "model {k}: {l:?}");
            works += l.forces.abs() + l.motion.abs();
            // The first step begins at the motion's velocity.
            assert!(l.impacts == 0.0 || s.time() < 0.02, "model {k}: {l:?}");
        }
        let end = s.problem().energies(s.state()).total();
        assert!(
            works > 0.1 && (end - start).abs() > 1e-3,
            "model {k}: {start} {end} {works}"
        );
    }
}

/// A feature that the method has no exact mean of is refused before the first step, by its name.
#[test]
fn refusals() {
    fn refusal(model: Model, change: impl FnOnce(&mut Options)) -> String {
        let mut options = method();
        change(&mut options);
        let mut s = Simulation::with_options(model, options).unwrap();
        let before = s.checkpoint();
        let error = s.step(0.01).unwrap_err();
        assert_eq!(s.checkpoint(), before);
        error.to_string()
    }
    let as_it_is = |_: &mut Options| {};

    let mut model = pendulum();
    let rod = model.component_named("rod").unwrap();
    model.set_bounds(rod, -100.0, 100.0).unwrap();
    assert!(refusal(model, as_it_is).contains("the bounded forces of `rod`"));

    let mut model = pendulum();
    let rod = model.node_named("length").unwrap();
    model
        .add_constraint("slows", rod, Level::Velocity { curvature: 0.0 })
        .unwrap();
    assert!(refusal(model, as_it_is).contains("`slows`"));

    let mut model = chain(1);
    let ends = model.node_named("ends").unwrap();
    model.add_mass("knob", ends, Mass::Uniform(0.1)).unwrap();
    assert!(refusal(model, as_it_is).contains("the mass `knob`"));

    let mut model = rods(0.4);
    let rates = Rayleigh {
        mass: 0.0,
        stiffness: 1e-3,
    };
    model.set_rayleigh(rates).unwrap();
    assert!(refusal(model, as_it_is).contains("in proportion to the stiffness"));

    let with_an_angle = || {
        let mut model = rods(0.4);
        let particles = model.node_named("particles").unwrap();
        let chain = [End::element(0, 0), End::element(0, 1), End::Point([1.0; 3])];
        let angle = SegmentAngle::new(&[chain]);
        let angle = model.add_mapped("bend", &[particles], angle).unwrap();
        (model, angle)
    };
    // A mapped node on which nothing acts is no obstacle.
    let mut idle = Simulation::with_options(with_an_angle().0, method()).unwrap();
    assert!(idle.step(0.01).is_ok());
    let (mut model, angle) = with_an_angle();
    let law = UniformCompliance::new(1.0);
    model
        .add_force_field("stiff", angle, law, Treatment::Stiffness)
        .unwrap();
    assert!(refusal(model, as_it_is).contains("the mapping of `bend`"));

    let mut model = Model::new();
    let x = model.add_scalars("x", &[0.1, 0.0]).unwrap();
    model.add_mass("m", x, Mass::Uniform(1.0)).unwrap();
    let law = FullCompliance::from_compliance(&[1.0, 1.0, 1.0, 1.0]).over_elements(2);
    model.add_force_field("k", x, law, Treatment::Compliance).unwrap();
    assert!(refusal(model, as_it_is).contains("`k`"));

    let weighted = |options: &mut Options| options.alpha = 0.5;
    assert!(refusal(pendulum(), weighted).contains("`alpha`"));

    let mut model = Model::new();
    let ball = model.add_particles("ball", &[[0.0, 0.0, 1.0]]).unwrap();
    model.add_mass("m", ball, Mass::Uniform(1.0)).unwrap();
    let mut s = Simulation::with_options(model, method()).unwrap();
    s.set_contacts(Floor(ball, ContactLaw::default())).unwrap();
    let error = s.step(0.01).unwrap_err().to_string();
    assert!(error.contains("does not take contacts"), "{error}");
}
