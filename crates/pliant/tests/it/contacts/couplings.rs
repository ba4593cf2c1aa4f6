//! Couplings of friction: Coulomb's law, the lagged shift, the associated law.

use super::{body, box_mass, corners, exactly, friction, particle, thrown};
use crate::worlds::{ground, rough};
use pliant::collision::*;
use pliant::contact::*;
use pliant::prelude::*;

const G: f64 = 9.81;
const ALL: [FrictionCoupling; 3] = [
    FrictionCoupling::Exact,
    FrictionCoupling::Lagged,
    FrictionCoupling::Convex,
];

/// A block of the associated law that starts where this law has it stays there while it brakes: at
/// the gap `h mu u_t`. One that starts on the plane is thrown up, with `u_n = mu u_t` and
/// `u_t (1 + mu^2) = v - mu g h`.
#[test]
fn the_associated_law_hovers() {
    let (h, mu, v) = (0.01, 0.5, 3.0);
    let (mut s, p) = particle(0.0, friction(mu), [0.0, 0.0, h * mu * v], [v, 0.0, 0.0]);
    s.options.contacts.friction_coupling = FrictionCoupling::Convex;
    for _ in 0..50 {
        let report = s.step(h).unwrap().contacts;
        assert_eq!(report.slipping, 1);
        let (z, u) = (s.positions(p)[2], s.velocities(p)[0]);
        assert!((z - h * mu * u).abs() < 1e-12, "{z} {u}");
        assert!(report.residual <= 1e-13);
        // Coulomb's law has no impulse at a gap that does not close: what there is makes the
        // velocity g h, of v.
        assert!(report.de_saxce > 0.5 * G * h / v, "{report:?}");
        assert_eq!(report.solve.friction_coupling, FrictionCoupling::Convex);
    }
    let (mut s, p) = particle(0.0, friction(mu), [0.0; 3], [v, 0.0, 0.0]);
    s.options.contacts.friction_coupling = FrictionCoupling::Convex;
    s.step(h).unwrap();
    let u = (v - mu * G * h) / (1.0 + mu * mu);
    let found = s.velocities(p);
    assert!(
        (found[0] - u).abs() < 1e-12 && (found[2] - mu * u).abs() < 1e-12,
        "{found:?}"
    );
}

/// How far a particle comes in `time`, and how far off the plane it was at most.
fn slide(coupling: FrictionCoupling, angle: f64, v: f64, time: f64, steps: u32) -> [f64; 2] {
    let (mut s, p) = particle(angle, friction(0.5), [0.0; 3], [v, 0.0, 0.0]);
    s.options.contacts.friction_coupling = coupling;
    let mut off = 0.0f64;
    for _ in 0..steps {
        s.step(time / f64::from(steps)).unwrap();
        off = off.max(s.positions(p)[2].abs());
    }
    [s.positions(p)[0], off]
}

/// The exact motion: `v^2/(2 mu g)` to the stop of a block that brakes, and
/// `g (sin - mu cos) t^2/2` down an incline.
#[test]
fn the_lagged_shift_is_of_first_order() {
    let lagged = FrictionCoupling::Lagged;
    let steep = 0.8f64;
    for (angle, v, exact) in [
        (0.0, 3.0, 9.0 / G),
        (steep, 0.0, 0.5 * G * (steep.sin() - 0.5 * steep.cos())),
    ] {
        let runs = [50, 100, 200, 400].map(|steps| slide(lagged, angle, v, 1.0, steps));
        for (coarse, fine) in runs.iter().zip(&runs[1..]) {
            let ratio = (coarse[0] - exact) / (fine[0] - exact);
            // Of first order, and the end of the slide falls anywhere in a step.
            assert!((1.6..2.5).contains(&ratio), "{angle}: {ratio} {runs:?} {exact}");
        }
        // No further off than three times what implicit Euler is with the exact law, and off the
        // plane by h mu times the change of slip in a step, of second order.
        let euler = slide(FrictionCoupling::Exact, angle, v, 1.0, 400)[0] - exact;
        assert!((runs[3][0] - exact).abs() < 3.0 * euler.abs(), "{runs:?} {euler}");
        let h = 1.0 / 400.0;
        assert!(runs[3][1] <= 0.5 * G * h * h, "{runs:?}");
    }
}

/// A sticking contact has no shift, so that all couplings agree.
#[test]
fn what_sticks_is_the_same() {
    let run = |coupling| {
        let mass = box_mass(10.0, [0.5, 0.3, 0.2]);
        let (mut s, b) = body(0.4, mass, 0.2, &corners(0.5, 0.3, 0.2), friction(0.5), [0.0; 3]);
        s.options = exactly();
        s.options.contacts.friction_coupling = coupling;
        let mut residual = 0.0f64;
        for _ in 0..50 {
            let report = s.step(0.01).unwrap().contacts;
            assert_eq!((report.active, report.slipping), (4, 0));
            residual = residual.max(report.de_saxce);
        }
        assert!(residual <= 1e-12, "{residual}");
        (s.positions(b).to_vec(), s.contact_force(b, 0))
    };
    let (x, (f, _)) = run(FrictionCoupling::Exact);
    for coupling in [FrictionCoupling::Lagged, FrictionCoupling::Convex] {
        let (y, (g, _)) = run(coupling);
        assert!(
            x.iter().zip(&y).all(|(a, b)| (a - b).abs() < 1e-12),
            "{coupling:?}"
        );
        assert!(
            f.iter().zip(&g).all(|(a, b)| (a - b).abs() < 1e-9),
            "{coupling:?} {f:?} {g:?}"
        );
    }
}

/// Balls that fall into a narrow pit.
fn pit(options: Options, count: usize) -> (Simulation, NodeId) {
    let radius = 0.05;
    let mut model = Model::new();
    model.set_gravity([0.0, 0.0, -G]).unwrap();
    let poses: Vec<Pose> = (0..count)
        .map(|k| {
            let off = |a: f64| 0.02 * (a * k as f64).sin();
            let side = |i: usize| if i == 0 { -0.06 } else { 0.06 };
            let at = [
                side(k % 2) + off(1.3),
                side(k / 2 % 2) + off(2.1),
                0.1 + 0.12 * (k / 4) as f64,
            ];
            Pose::turned(at, [0.0, 0.0, 1.0], 0.0)
        })
        .collect();
    let node = model.add_rigid_bodies("balls", &poses).unwrap();
    let masses = vec![RigidMass::sphere(1.0, radius); count];
    model.add_mass("mass", node, Mass::Rigid(masses)).unwrap();
    let mut world = World::new();
    let material = world.add_material(rough(0.5)).unwrap();
    ground(&mut world, material);
    for (k, normal) in [
        [1.0, 0.0, 0.3],
        [-1.0, 0.0, 0.3],
        [0.0, 1.0, 0.3],
        [0.0, -1.0, 0.3],
    ]
    .into_iter()
    .enumerate()
    {
        let at = normal.map(|n| -0.12 * n);
        let wall = Shape::half_space(normal).unwrap();
        let wall = Collider::new(&format!("wall {k}"), wall, Placement::Fixed(Pose::at(at)));
        world.add(wall.with_material(material)).unwrap();
    }
    for element in 0..count {
        let place = Placement::Body {
            node,
            element,
            pose: Pose::default(),
        };
        let ball = Collider::new(&format!("ball {element}"), Shape::ball(radius).unwrap(), place);
        world.add(ball.with_material(material)).unwrap();
    }
    let mut s = Simulation::with_options(model, options).unwrap();
    s.set_contacts(world).unwrap();
    (s, node)
}

/// Implicit Euler changes the energy by `-|dv|^2/2 + sum r . u+`, and
/// `r . u+ = -s r_n - gap r_n/h`: with a shift that is not negative it never rises. No position is
/// corrected here.
#[test]
fn no_coupling_makes_energy() {
    for coupling in ALL {
        let mut options = Options::theta();
        options.contacts.friction_coupling = coupling;
        options.contacts.accuracy = 1e-8;
        options.contacts.overlap = Overlap::Keep;
        let (mut s, _) = pit(options, 16);
        let energy = |s: &Simulation| s.problem().energies(s.state()).total();
        let (start, mut before, mut slipping) = (energy(&s), energy(&s), 0);
        for _ in 0..80 {
            let report = s.step(0.01).unwrap().contacts;
            assert!(report.residual <= 1e-8);
            slipping += report.slipping;
            let after = energy(&s);
            // To the residual.
            assert!(after <= before + 1e-7 * start, "{coupling:?}: {before} {after}");
            before = after;
        }
        assert!(
            slipping > 100 && before < 0.6 * start,
            "{coupling:?} {slipping} {before} {start}"
        );
    }
}

/// The lagged shifts are those of the state: nothing is lost in a checkpoint, and threads change no
/// bit.
#[test]
fn couplings_go_on_from_a_checkpoint_bit_for_bit() {
    for coupling in [FrictionCoupling::Lagged, FrictionCoupling::Convex] {
        let mut options = Options::theta();
        options.contacts.friction_coupling = coupling;
        let (mut s, p) = pit(options.clone(), 12);
        for _ in 0..25 {
            s.step(0.01).unwrap();
        }
        options.tuning.solver.threads = 2;
        let (mut t, _) = pit(options, 12);
        t.restore(&s.checkpoint()).unwrap();
        for _ in 0..10 {
            let [a, b] = [&mut s, &mut t].map(|s| s.step(0.01).unwrap().contacts);
            assert_eq!(a, b);
            assert!(a.slipping > 0);
        }
        assert_eq!(s.positions(p), t.positions(p));
        assert_eq!(s.contacts(), t.contacts());
    }
}

/// An ellipse that is a circle has the shift of the circle.
#[test]
fn ellipses_have_the_same_shift() {
    let run = |model| {
        let law = ContactLaw {
            friction_model: model,
            ..friction(0.3)
        };
        let (mut s, p) = particle(0.7, law, [0.0; 3], [1.0, 2.0, 0.0]);
        s.options.contacts.friction_coupling = FrictionCoupling::Lagged;
        for _ in 0..20 {
            s.step(0.01).unwrap();
        }
        s.positions(p).to_vec()
    };
    let expected = run(FrictionModel::Cone);
    let found = run(FrictionModel::Ellipse { across: 0.3 });
    assert!(
        expected.iter().zip(&found).all(|(a, b)| (a - b).abs() < 1e-11),
        "{expected:?} {found:?}"
    );
}

#[test]
fn what_a_coupling_does_not_go_with_is_refused() {
    for coupling in [FrictionCoupling::Lagged, FrictionCoupling::Convex] {
        let refused = |change: &dyn Fn(&mut Options), law| {
            let (mut s, _) = particle(0.1, law, [0.0; 3], [1.0, 0.0, 0.0]);
            s.options.contacts.friction_coupling = coupling;
            change(&mut s.options);
            let error = s.step(0.01).unwrap_err();
            assert!(matches!(error, Error::FrictionCoupling { .. }), "{error}");
            error.to_string()
        };
        let none = |_: &mut Options| ();
        let pyramid = ContactLaw {
            friction_model: FrictionModel::Pyramid {
                directions: 4,
                outer: false,
            },
            ..friction(0.5)
        };
        assert!(refused(&none, pyramid).contains("pyramid of the contact of thing 0 and thing 0"));
        let poisson = |o: &mut Options| o.contacts.restitution = Restitution::Poisson;
        assert!(refused(&poisson, friction(0.5)).contains("Poisson"));
        let sequence = |o: &mut Options| o.contacts.impacts = Impacts::InSequence;
        assert!(refused(&sequence, friction(0.5)).contains("in sequence"));
        // Without friction there is nothing to couple.
        let (mut s, _) = particle(0.1, friction(0.0), [0.0; 3], [1.0, 0.0, 0.0]);
        s.options.contacts.friction_coupling = coupling;
        assert_eq!(s.step(0.01).unwrap().contacts.de_saxce, 0.0);
        // A method that knows no shift is told so, and refuses.
        let (mut s, _) = particle(0.1, friction(0.5), [0.0; 3], [1.0, 0.0, 0.0]);
        s.options.contacts.friction_coupling = coupling;
        s.options.contacts.solver = Some(pliant::solvers::complementarity::Method::Lemke);
        assert!(matches!(s.step(0.01), Err(Error::Contacts(_))));
    }
}

/// A block slides at 3 m/s on a floor whose compliance is damped. The convex coupling lets it open
/// by half of that, which is no velocity of the damper: its work would be `d/C u^2 h`, 22 J of the
/// 9 J that there are. The force of the contact does what throws the block open, `m (mu v)^2/2`, at
/// most.
#[test]
fn dampers_do_not_feel_that_contacts_open_by_their_coupling() {
    for integrator in [Integrator::Theta, Integrator::Sdirk2] {
        let law = ContactLaw {
            friction: 0.5,
            compliance: 1e-6,
            relaxation_time: 1e-3,
            ..ContactLaw::default()
        };
        let (mut s, _) = thrown([0.0, 0.0, -9.81], law, [0.0, 0.0, -1.9e-5], [3.0, 0.0, 0.0]);
        s.options.integrator = integrator.clone();
        s.options.contacts.friction_coupling = FrictionCoupling::Convex;
        s.options.accuracy = Some(Accuracy::Measured);
        let report = s.step(0.01).unwrap();
        let damping = report.ledger.damping.abs();
        assert!(damping < 2.25, "{integrator:?}: {:?}", report.ledger);
    }
}

/// A step that would take more operations than it may with Coulomb's law is, to the bit, the step
/// by the law that is to take its place, and says so; without one it is an error.
#[test]
fn what_takes_too_long_takes_the_law_in_its_place() {
    let mut options = Options::theta();
    options.contacts.halvings = 0;
    // So that half of the operations are not enough.
    options.contacts.accuracy = 1e-8;
    let (mut s, _) = pit(options, 16);
    let limited = |s: &mut Simulation, most: u64| s.options.tuning.work.contact_operations = most;
    let mut taken = 0;
    for _ in 0..60 {
        let start = s.checkpoint();
        let exact = s.step(0.01).unwrap().contacts.solve;
        let onward = s.checkpoint();
        s.restore(&start).unwrap();
        s.options.contacts.friction_coupling = FrictionCoupling::Lagged;
        let lagged = s.step(0.01).unwrap().contacts.solve;
        let expected = s.checkpoint();
        s.options.contacts.friction_coupling = FrictionCoupling::Exact;
        if exact.operations > 100_000 {
            let own = s.options.tuning.work.contact_operations;
            s.restore(&start).unwrap();
            // Less than either takes: the law in its place is bounded by the default.
            limited(&mut s, lagged.operations.min(exact.operations) / 20);
            let error = s.step(0.01).unwrap_err();
            assert!(matches!(error, Error::TooMuchWork { .. }), "{error}");
            s.options.contacts.friction_fallback = Some(FrictionCoupling::Lagged);
            let report = s.step(0.01).unwrap().contacts.solve;
            assert_eq!(
                (report.fallbacks, report.friction_coupling),
                (1, FrictionCoupling::Lagged)
            );
            assert_eq!(s.checkpoint().state, expected.state);
            assert_eq!(s.options.contacts.friction_coupling, FrictionCoupling::Exact);
            limited(&mut s, own);
            s.options.contacts.friction_fallback = None;
            taken += 1;
        }
        s.restore(&onward).unwrap();
    }
    assert!(taken > 2, "{taken}");
    // A law that does not go with the impacts is refused.
    s.options.contacts.friction_fallback = Some(FrictionCoupling::Convex);
    s.options.contacts.restitution = Restitution::Poisson;
    let error = s.step(0.01).unwrap_err();
    assert!(matches!(error, Error::FrictionCoupling { .. }), "{error}");
}
