//! Damping by ratios of critical damping, and limits of joints that give way.

use pliant::prelude::*;

/// `x(t)` of `x'' + 2 zeta w x' + w^2 x = 0` from 1 at rest.
fn oscillation(zeta: f64, w: f64, t: f64) -> f64 {
    if zeta == 1.0 {
        return (1.0 + w * t) * (-w * t).exp();
    }
    let wd = w * (1.0 - zeta * zeta).sqrt();
    (-zeta * w * t).exp() * ((wd * t).cos() + zeta * w / wd * (wd * t).sin())
}

/// The largest difference of a coordinate from an oscillation of this start, over one second, and
/// the smallest value that it takes.
fn differences(
    s: &mut Simulation,
    read: impl Fn(&Simulation) -> f64,
    (zeta, w, start): (f64, f64, f64),
    h: f64,
) -> (f64, f64) {
    let (mut most, mut least) = (0.0f64, f64::INFINITY);
    let steps = (1.0 / h).round() as usize;
    for k in 1..=steps {
        s.step(h).unwrap();
        let x = read(s);
        most = most.max((x - start * oscillation(zeta, w, h * k as f64)).abs());
        least = least.min(x);
    }
    (most, least)
}

/// A mass on a spring, as a row and as a stiffness, in all of its coordinates: errors of second order,
/// a quarter with half of the step, and without overshoot where the damping is critical.
#[test]
fn a_mass_on_a_spring_is_damped_by_its_ratio() {
    let (mass, c) = (2.0f64, 0.005f64);
    let w = (mass * c).sqrt().recip();
    for treatment in [Treatment::Compliance, Treatment::Stiffness] {
        for zeta in [0.2, 1.0] {
            let error = |h: f64| {
                let mut m = Model::new();
                let p = m.add_particles("p", &[[1.0, 0.5, -1.0]]).unwrap();
                m.add_mass("mass", p, Mass::Uniform(mass)).unwrap();
                let law = UniformCompliance::new(c).with_damping_ratio(zeta);
                m.add_force_field("spring", p, law, treatment).unwrap();
                let mut s = Simulation::new(m).unwrap();
                let (error, least) = differences(&mut s, |s| s.positions(p)[0], (zeta, w, 1.0), h);
                assert!(zeta < 1.0 || least > 0.0, "{least}");
                let x = s.positions(p);
                assert!((x[1] - 0.5 * x[0]).abs() < 1e-12 && (x[2] + x[0]).abs() < 1e-12);
                error
            };
            let [coarse, fine] = [error(2e-3), error(1e-3)];
            let ratio = coarse / fine;
            assert!(fine < 3e-5, "{treatment:?} {zeta}: {fine}");
            assert!((3.5..4.5).contains(&ratio), "{treatment:?} {zeta}: {ratio}");
        }
    }
}

/// A spring between two masses moves both, one between coordinates of one mass moves it by each of
/// them: reduced masses.
#[test]
fn springs_see_the_masses_that_they_move() {
    let mut m = Model::new();
    let p = m.add_particles("p", &[[0.0; 3], [1.1, 0.0, 0.0]]).unwrap();
    m.add_mass("masses", p, Mass::PerElement(vec![1.0, 3.0])).unwrap();
    let pair = Distance::new(&[(End::element(0, 0), End::element(0, 1))]).with_rest_lengths(&[1.0]);
    let d = m.add_mapped("d", &[p], pair).unwrap();
    let law = DiagonalCompliance::new(&[0.01]).with_damping_ratio(1.0);
    let id = m
        .add_force_field("spring", d, law, Treatment::Compliance)
        .unwrap();
    let m = pliant::resolve_damping_ratios(m).unwrap();
    let ComponentId::ForceField(k) = id else {
        unreachable!()
    };
    // Reduced mass 1 * 3/(1 + 3).
    let time = m.force_fields()[k].component.law.relaxation_time(0);
    assert!((time - 2.0 * (0.75f64 * 0.01).sqrt()).abs() < 1e-14, "{time}");
    assert_eq!(m.damping_ratios().count(), 0);
    let w = (0.75f64 * 0.01).sqrt().recip();
    let mut s = Simulation::new(m).unwrap();
    let (error, least) = differences(&mut s, |s| s.positions(d)[0], (1.0, w, 0.1), 1e-3);
    assert!(error < 3e-6 && least > 0.0, "{error} {least}");
}

/// A spring of a hinge moves the rod about the pivot, not about its centre of mass; compliances of
/// what is held move each by itself.
#[test]
fn springs_of_joints_are_damped_by_their_ratio() {
    let mut m = Model::new();
    let rod = m.add_rigid_bodies("rod", &[Pose::at([1.0, 0.0, 0.0])]).unwrap();
    let mass = RigidMass::principal(3.0, [0.01, 1.0, 1.0]);
    m.add_mass("mass", rod, Mass::Rigid(vec![mass])).unwrap();
    let damping = JointDamping::Ratio(1.0);
    let joint = Joint::hinge(Side::World, Side::Body(rod, 0)).with_damped_spring(0, 0.01, damping, -0.1);
    let hinge = m.add_joint("hinge", &joint).unwrap();
    let w = (4.0f64 * 0.01).sqrt().recip();
    let mut s = Simulation::new(m).unwrap();
    let angle = hinge.coordinates[0];
    let (error, least) = differences(&mut s, |s| s.positions(angle)[0] + 0.1, (1.0, w, 0.1), 1e-3);
    assert!(error < 3e-6 && least > 0.0, "{error} {least}");

    let mut m = Model::new();
    let body = m.add_rigid_bodies("body", &[Pose::default()]).unwrap();
    let mass = RigidMass::principal(2.0, [0.1, 0.2, 0.3]);
    m.add_mass("mass", body, Mass::Rigid(vec![mass])).unwrap();
    let joint = Joint::fixed(Side::World, Side::Body(body, 0))
        .with_compliance(&[1e-3, 0.0, 1e-3, 1e-2, 1e-2, 1e-2], 0.0)
        .with_damping_ratio(0.5);
    let weld = m.add_joint("weld", &joint).unwrap();
    let m = pliant::resolve_damping_ratios(m).unwrap();
    let Some(ComponentId::ForceField(k)) = weld.rows else {
        unreachable!()
    };
    let law = &m.force_fields()[k].component.law;
    let moved = [2.0f64, 0.0, 2.0, 0.1, 0.2, 0.3];
    for (i, (mass, c)) in moved.iter().zip([1e-3, 0.0, 1e-3, 1e-2, 1e-2, 1e-2]).enumerate() {
        let expected = (mass * c).sqrt();
        assert!((law.relaxation_time(i) - expected).abs() < 1e-14, "{i}");
    }
}

#[test]
fn what_cannot_move_has_no_ratio() {
    let law = || UniformCompliance::new(0.01).with_damping_ratio(1.0);
    let mut m = Model::new();
    let p = m.add_scalars("p", &[0.1]).unwrap();
    m.add_mass("mass", p, Mass::Uniform(1.0)).unwrap();
    m.add_force_field("spring", p, law(), Treatment::Compliance)
        .unwrap();
    m.add_constraint("stop", p, Level::Position).unwrap();
    let error = Simulation::new(m).unwrap_err().to_string();
    assert!(error.contains("coordinate 0 of 1 of `spring` is held"), "{error}");

    let mut m = Model::new();
    let p = m.add_scalars("p", &[0.1]).unwrap();
    m.add_mass("mass", p, Mass::Uniform(1.0)).unwrap();
    m.add_force_field("spring", p, law(), Treatment::Compliance)
        .unwrap();
    let shared = std::sync::Arc::new(m);
    let error = Simulation::new(shared.clone()).unwrap_err().to_string();
    assert!(
        error.contains("`spring` has a damping ratio in a model that is shared"),
        "{error}"
    );
    let mut m = std::sync::Arc::into_inner(shared).unwrap();
    let p = m.node_named("p").unwrap();
    m.fix(p, 0, &[true]).unwrap();
    let error = Simulation::new(m).unwrap_err().to_string();
    assert!(
        error.contains("is held by hard rows or fixed coordinates"),
        "{error}"
    );
}

/// A cart that runs against the elastic stop of a slider comes back with all of its speed, which the
/// default method keeps to `1.5 (w h)^2` with `w h` = 0.07 and 0.035, and the theta method damps.
#[test]
fn limits_that_give_way_give_the_speed_back() {
    let speed_after = |options: Options, h: f64| {
        let mut m = Model::new();
        let cart = m.add_rigid_bodies("cart", &[Pose::default()]).unwrap();
        m.add_mass("m", cart, Mass::Rigid(vec![RigidMass::sphere(2.0, 0.3)]))
            .unwrap();
        m.set_body_velocity(cart, 0, [0.0, 0.0, 1.0], [0.0; 3]).unwrap();
        let joint = Joint::slider(Side::World, Side::Body(cart, 0));
        let joint = joint.with_soft_limits(0, -0.5, 0.0505, 1e-4);
        let slider = m.add_joint("slider", &joint).unwrap();
        let mut s = Simulation::with_options(m, options).unwrap();
        let upper = slider.attached[1];
        for _ in 0..(0.2 / h).round() as usize {
            s.step(h).unwrap();
            // It only pushes.
            assert!(s.reaction(upper)[0] <= 1e-9);
        }
        assert!(s.positions(slider.coordinates[0])[0] < 0.05);
        -s.velocities(slider.coordinates[0])[0]
    };
    for (h, tolerance) in [(1e-3, 0.0075), (5e-4, 0.0019)] {
        let found = speed_after(Options::default(), h);
        assert!((found - 1.0).abs() < tolerance, "{h}: {found}");
    }
    let damped = speed_after(Options::theta(), 1e-4);
    assert!((0.97..1.0).contains(&damped), "{damped}");
}
