//! Contacts whose bilateral part is solved by iterations, or by a factor that knows no contacts, against
//! those by factors of islands.

use crate::worlds::{add_body, ground, rough};
use pliant::Preconditioner::{Blocks, Multilevel};
use pliant::collision::*;
use pliant::contact::{FrictionCoupling, Impacts, Restitution};
use pliant::continuum::{Mesh, Solid};
use pliant::prelude::*;
use pliant::{LinearSolver, Preconditioner};

/// Length of all steps (s).
const STEP: f64 = 0.005;

fn krylov(method: KrylovMethod, preconditioner: Preconditioner) -> LinearSolver {
    LinearSolver::krylov(method, preconditioner)
}

/// A block of rubber of 375 unknowns that comes down on the ground at an angle, and slides.
fn block() -> Simulation {
    let mut m = Model::new();
    m.set_gravity([1.0, 0.0, -9.81]).unwrap();
    let mut mesh = Mesh::hexahedral_box([0.2; 3], [4; 3]).unwrap();
    for x in &mut mesh.nodes {
        let (c, s) = (0.96, 0.28);
        *x = [c * x[0] + s * x[2], x[1], 0.07 - s * x[0] + c * x[2]];
    }
    let parts = Solid::linear(1e5, 0.3)
        .with_density(1000.0)
        .add_to(&mut m, "block", &mesh)
        .unwrap();
    let points: Vec<usize> = (0..mesh.nodes.len()).collect();
    let mut world = World::new();
    let material = world.add_material(rough(0.3)).unwrap();
    ground(&mut world, material);
    let skin = Shape::soft_points(&points, 0.005).unwrap();
    let collider = Collider::new("block", skin, Placement::Points(parts.nodes));
    world.add(collider.with_material(material)).unwrap();
    let mut s = Simulation::new(m).unwrap();
    s.set_contacts(world).unwrap();
    s
}

/// Three boxes, two of which a hinge of limited angle and with dry friction (N m) joins, fall onto the
/// ground and each other.
fn boxes(material: Material, friction: f64) -> Simulation {
    let mut m = Model::new();
    m.set_gravity([0.0, 0.0, -9.81]).unwrap();
    let half = [0.1, 0.08, 0.05];
    let poses = [[0.0, 0.0, 0.09], [0.25, 0.0, 0.09], [0.1, 0.02, 0.22]].map(Pose::at);
    let node = m.add_rigid_bodies("boxes", &poses).unwrap();
    let mass = RigidMass::cuboid(1.0, half.map(|x| 2.0 * x));
    m.add_mass("mass", node, Mass::Rigid(vec![mass; 3])).unwrap();
    m.set_body_velocity(node, 0, [0.5, 0.1, 0.0], [0.0, 1.0, 0.3])
        .unwrap();
    let sides = [Side::Body(node, 0), Side::Body(node, 1)];
    let joint = Joint::hinge(sides[0], sides[1])
        .at(Pose::at([0.125, 0.0, 0.09]))
        .with_limits(0, -0.2, 0.2)
        .with_friction(0, friction);
    m.add_joint("hinge", &joint).unwrap();
    let mut world = World::new();
    let material = world.add_material(material).unwrap();
    ground(&mut world, material);
    for element in 0..3 {
        add_body(&mut world, material, node, element, Shape::cuboid(half).unwrap());
    }
    let mut s = Simulation::new(m).unwrap();
    s.set_contacts(world).unwrap();
    s
}

/// The last report, the state, and the most contacts that there were in so many steps.
fn run(
    mut s: Simulation,
    linear: LinearSolver,
    options: Options,
    steps: usize,
) -> (StepReport, Vec<f64>, usize) {
    s.options = Options { linear, ..options };
    let (mut last, mut most) = (None, 0);
    for _ in 0..steps {
        last = Some(s.step(STEP).unwrap());
        most = most.max(s.contacts().len());
    }
    let state = s.state();
    let values = state.positions.iter().chain(&state.velocities);
    (last.unwrap(), values.copied().collect(), most)
}

/// How much states differ as a share of the largest number, or of the velocity that gravity makes in
/// a step.
fn differ(a: &[f64], b: &[f64]) -> f64 {
    let size = a.iter().fold(9.81 * STEP, |s, x| s.max(x.abs()));
    a.iter().zip(b).fold(0.0f64, |d, (x, y)| d.max((x - y).abs())) / size
}

#[test]
fn a_solid_on_the_ground() {
    for make in [Options::theta, Options::default] {
        let (_, expected, most) = run(block(), LinearSolver::Direct, make(), 40);
        assert!(most > 4, "{most}");
        for (method, preconditioner, name) in [
            (KrylovMethod::Cg, Multilevel, "conjugate gradients"),
            (KrylovMethod::Cg, Blocks, "conjugate gradients"),
            (KrylovMethod::Minres, Multilevel, "MINRES"),
        ] {
            let (report, found, _) = run(block(), krylov(method, preconditioner), make(), 40);
            assert_eq!(report.solve.solver, name);
            assert!(report.solve.iterations > 0);
            assert_eq!(report.status, Status::Converged);
            // Contacts are solved to 1e-8 of their velocities, stages to the error of a step.
            let d = differ(&expected, &found);
            assert!(d < 1e-4, "{name}, {preconditioner:?}: {d:e}");
        }
    }
}

/// Bodies with a joint, its limits and dry friction, with every law of impact: each step of a motion
/// by factors taken by iterations too.
#[test]
fn bodies_with_a_joint_on_the_ground() {
    type Law = (&'static str, fn(&mut Options));
    let laws: [Law; 3] = [
        ("Newton", |_| ()),
        ("one by one", |o| o.contacts.impacts = Impacts::InSequence),
        ("Poisson", |o| o.contacts.restitution = Restitution::Poisson),
    ];
    let bouncing = Material {
        restitution: 0.2,
        friction: 0.0,
        ..Material::default()
    };
    let all = [KrylovMethod::Cg, KrylovMethod::Minres, KrylovMethod::Gmres];
    for (integrator, laws, methods) in [
        (Integrator::Theta, &laws[..], &all[..1]),
        (Integrator::Sdirk2, &laws[..1], &all[..]),
        (Integrator::Nonlinear, &laws[..1], &all[1..2]),
    ] {
        for (law, set) in laws {
            let mut options = Options {
                integrator: integrator.clone(),
                linear: LinearSolver::Direct,
                ..Options::default()
            };
            set(&mut options);
            let make = || match *law {
                "Newton" => boxes(rough(0.5), 0.3),
                // With friction, or with one share of restitution for all, the answer is not the only
                // one, or jumps with the last digits.
                "one by one" => boxes(bouncing, 0.3),
                _ => boxes(bouncing, 0.0),
            };
            // With the shift of friction that is known, velocities are the only ones.
            if *law == "Newton" {
                options.contacts.friction_coupling = FrictionCoupling::Lagged;
                options.contacts.accuracy = 1e-9;
            }
            let mut s = make();
            s.options = options;
            let mut others: Vec<Simulation> = methods.iter().map(|_| make()).collect();
            let mut most = 0;
            for step in 0..50 {
                let kept = s.checkpoint();
                s.step(STEP).unwrap();
                most = most.max(s.contacts().len());
                for (other, method) in others.iter_mut().zip(methods) {
                    let what = format!("{integrator:?}, {law}, {method:?}, step {step}");
                    other.options = Options {
                        linear: krylov(*method, Blocks),
                        ..s.options.clone()
                    };
                    other.restore(&kept).unwrap();
                    let report = other.step(STEP).unwrap();
                    assert_eq!(report.status, Status::Converged, "{what}");
                    assert!(!report.solve.solver.contains("L D L^T"), "{what}");
                    let d = differ(&s.state().velocities, &other.state().velocities);
                    // Contacts are solved to 1e-9 and 1e-6 of velocities without impulses.
                    assert!(d < 1e-5, "{what}: {d:e}");
                }
            }
            assert!(most > 8, "{most}");
        }
    }
}

/// Contacts by iterations hand nothing to the next step that is not in a checkpoint.
#[test]
fn contacts_by_iterations_go_on_from_a_checkpoint_to_the_bit() {
    type Make = fn() -> Simulation;
    for make in [(|| boxes(rough(0.5), 0.3)) as Make, block] {
        let mut s = make();
        s.options.linear = krylov(KrylovMethod::Minres, Blocks);
        for _ in 0..20 {
            s.step(STEP).unwrap();
        }
        let kept = s.checkpoint();
        let mut other = make();
        other.options = s.options.clone();
        other.restore(&kept).unwrap();
        for s in [&mut s, &mut other] {
            for _ in 0..10 {
                s.step(STEP).unwrap();
            }
        }
        assert!(!s.contacts().is_empty());
        assert_eq!(s.state(), other.state());
    }
}

/// A cube of rubber with so many cells along each edge that comes down on a ball; with a bead on a hard
/// link far away its contacts are not condensed.
fn cube(cells: usize, bead: bool) -> Simulation {
    let mut m = Model::new();
    m.set_gravity([0.0, 0.0, -9.81]).unwrap();
    let mut mesh = Mesh::hexahedral_box([0.5; 3], [cells; 3]).unwrap();
    for x in &mut mesh.nodes {
        *x = [x[0] - 0.26, x[1] - 0.24, x[2] + 0.052];
    }
    let parts = Solid::corotational(1e6, 0.3)
        .with_density(1000.0)
        .add_to(&mut m, "cube", &mesh)
        .unwrap();
    if bead {
        let node = m.add_particles("bead", &[[5.0, 0.0, 0.0]]).unwrap();
        m.add_mass("m", node, Mass::Uniform(1.0)).unwrap();
        let pairs = [(End::Point([5.0, 0.0, 1.0]), End::element(0, 0))];
        let length = m
            .add_mapped("length", &[node], Distance::new(&pairs).with_rest_lengths(&[1.0]))
            .unwrap();
        m.add_force_field("link", length, UniformCompliance::new(0.0), Treatment::Compliance)
            .unwrap();
    }
    let points: Vec<usize> = (0..mesh.nodes.len()).collect();
    let mut world = World::new();
    let material = world.add_material(rough(0.3)).unwrap();
    let ball = Collider::new(
        "ball",
        Shape::ball(0.05).unwrap(),
        Placement::Fixed(Pose::default()),
    );
    world.add(ball.with_material(material)).unwrap();
    let skin = Shape::soft_points(&points, 1e-3).unwrap();
    let collider = Collider::new("cube", skin, Placement::Points(parts.nodes));
    world.add(collider.with_material(material)).unwrap();
    let mut s = Simulation::with_options(m, Options::theta()).unwrap();
    s.set_contacts(world).unwrap();
    s
}

/// Few contacts of a solid of 2,187 unknowns are condensed by the factor of the solid, whose order of
/// elimination is found once, whatever comes and goes.
#[test]
fn few_contacts_of_a_solid_cost_substitutions() {
    let (mut condensed, mut by_islands) = (cube(8, false), cube(8, true));
    let (mut touched, mut changes, mut last) = (0, 0, 0);
    for _ in 0..12 {
        condensed.step(0.01).unwrap();
        by_islands.step(0.01).unwrap();
        let count = condensed.contacts().len();
        touched += usize::from(count > 0);
        changes += usize::from(count != last);
        last = count;
    }
    assert!(touched > 6 && changes > 1, "{touched} {changes}");
    let n = condensed.state().velocities.len();
    let d = differ(&condensed.state().velocities, &by_islands.state().velocities[..n]);
    // Contacts are solved to 1e-6 of velocities without impulses, twelve times.
    assert!(d < 1e-4, "{d:e}");
    let [own, of_islands] = [&condensed, &by_islands].map(|s| s.counters().solver);
    // The system of the step without contacts, that of steps with them, that of corrections.
    assert!(own.symbolic <= 3, "{own:?}");
    assert!(of_islands.symbolic > 3, "{of_islands:?}");
    // From a checkpoint the bits are the same.
    let kept = condensed.checkpoint();
    let mut other = cube(8, false);
    other.restore(&kept).unwrap();
    for s in [&mut condensed, &mut other] {
        for _ in 0..4 {
            s.step(0.01).unwrap();
        }
    }
    assert_eq!(condensed.state(), other.state());
}

/// A block of rubber that hangs on hard rows at one edge, one of which is redundant.
fn hanging() -> Model {
    let mut m = Model::new();
    m.set_gravity([0.0, 0.0, -9.81]).unwrap();
    let mesh = Mesh::hexahedral_box([0.3, 0.2, 0.1], [6, 4, 2]).unwrap();
    let parts = Solid::corotational(1e5, 0.3)
        .with_density(1000.0)
        .add_to(&mut m, "block", &mesh)
        .unwrap();
    let mut pairs = Vec::new();
    for (i, x) in mesh.nodes.iter().enumerate() {
        if x[0] < 1e-9 && x[2] > 0.1 - 1e-9 {
            let above = [x[0], x[1], x[2] + 0.1];
            pairs.push((End::Point(above), End::element(0, i)));
            pairs.push((End::Point([x[0] - 0.1, x[1], x[2]]), End::element(0, i)));
        }
    }
    pairs.push(pairs[0]);
    let count = pairs.len();
    let lengths = Distance::new(&pairs).with_rest_lengths(&vec![0.1; count]);
    let links = m.add_mapped("links", &[parts.nodes], lengths).unwrap();
    m.add_constraint("links", links, Level::Position).unwrap();
    m
}

/// Positions are brought onto hard rows, one of which is redundant: by masses alone no factor is made of
/// anything.
#[test]
fn corrections_onto_hard_rows_by_iterations() {
    let stabilised = |metric| Options {
        post_stabilisation: Some(Stabilisation {
            metric,
            ..Stabilisation::default()
        }),
        ..Options::theta()
    };
    for (options, by_masses) in [
        (stabilised(Metric::Mass), true),
        (stabilised(Metric::Elastic), false),
        (Options::default(), false),
    ] {
        let run = |linear| {
            let options = Options {
                linear,
                ..options.clone()
            };
            let mut s = Simulation::with_options(hanging(), options).unwrap();
            let mut off = 0.0f64;
            for _ in 0..20 {
                off = off.max(s.step(0.01).unwrap().violation);
            }
            (s.state().clone(), off, s.checkpoint())
        };
        let (expected, _, _) = run(LinearSolver::Direct);
        for method in [KrylovMethod::Minres, KrylovMethod::Gmres, KrylovMethod::Cg] {
            let (found, off, kept) = run(krylov(method, Blocks));
            let d = differ(&expected.velocities, &found.velocities);
            assert!(d < 1e-5, "{method:?}: {d:e}");
            assert!(off < 1e-8, "{method:?}: {off:e}");
            let factored = kept.solver.correction_elimination.is_some();
            assert_eq!(factored, !by_masses, "{method:?}");
        }
    }
}

/// Where iterations cost less than a factor, contacts are condensed by these without being asked, with
/// the same answer, and from a checkpoint to the bit.
#[test]
fn the_automatic_choice_condenses_contacts_by_iterations() {
    let run = |linear| {
        let mut s = cube(14, false);
        s.options.linear = linear;
        let reports: Vec<StepReport> = (0..3).map(|_| s.step(0.01).unwrap()).collect();
        assert!(!s.contacts().is_empty());
        (s, reports[2])
    };
    let (by_factor, report) = run(LinearSolver::Direct);
    assert!(report.solve.solver.contains("L D L^T"), "{}", report.solve.solver);
    let (mut chosen, report) = run(LinearSolver::Auto);
    let name = report.solve.solver;
    assert!(name.contains("conjugate gradients"), "{name}");
    let d = differ(&by_factor.state().velocities, &chosen.state().velocities);
    assert!(d < 1e-5, "{d:e}");
    let kept = chosen.checkpoint();
    assert_ne!(kept.solver.contact_choice, pliant::AutomaticMemory::default());
    let mut other = cube(14, false);
    other.restore(&kept).unwrap();
    for s in [&mut chosen, &mut other] {
        s.step(0.01).unwrap();
    }
    assert_eq!(chosen.state(), other.state());
    assert_eq!(chosen.checkpoint().solver, other.checkpoint().solver);
}
