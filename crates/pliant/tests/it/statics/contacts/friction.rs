//! Friction at rest: limits by statics, and the way of the loads.

use super::*;

/// A particle on a rough slope rests where `tan a <= mu`, with the friction `m g sin a`, and does
/// not move; on a steeper one it finds no rest.
#[test]
fn a_slope_holds_up_to_its_friction() {
    let mu = 0.5f64;
    for (angle, rests) in [(0.3, true), (mu.atan() - 1e-4, true), (mu.atan() + 1e-2, false)] {
        let mut model = Model::new();
        model.set_gravity([0.0, 0.0, -10.0]).unwrap();
        let node = model.add_particles("block", &[[0.0; 3]]).unwrap();
        model.add_mass("mass", node, Mass::Uniform(2.0)).unwrap();
        let mut simulation = Simulation::new(model).unwrap();
        let normal = [-f64::sin(angle), 0.0, f64::cos(angle)];
        let slope = Planes::new(vec![(node, 0, 0.0)], &[(normal, 0.0)]).rough(mu);
        simulation.set_contacts(slope).unwrap();
        let how = Equilibrium {
            max_iterations: 100,
            ..Equilibrium::default()
        };
        let found = simulation.find_equilibrium(&how);
        assert_eq!(found.is_ok(), rests, "{angle}: {found:?}");
        if !rests {
            assert!(matches!(found.unwrap_err(), Error::NoEquilibrium { .. }));
            continue;
        }
        let force = simulation.contact_force(node, 0).0;
        assert!(
            (force[2] - 20.0).abs() < 1e-8 && force[0].abs() < 1e-8,
            "{force:?}"
        );
        assert_eq!(simulation.contacts()[0].state, ContactState::Sticking);
        assert!(simulation.positions(node).iter().all(|x| x.abs() < 1e-9));
        assert_eq!(found.unwrap().free_modes, 0);
    }
}

/// A spring with a slider: `k x = p F - f` while it slides ahead, with `|f| <= mu m g`; loaded,
/// unloaded and loaded again it goes round a loop (Jenkins' element).
#[test]
fn a_slider_goes_round_its_loop() {
    let (k, mu, mass, push) = (100.0, 0.4, 1.0, 12.0);
    let most = mu * mass * 10.0;
    let mut model = Model::new();
    model.set_gravity([0.0, 0.0, -10.0]).unwrap();
    let node = model.add_particles("block", &[[0.0; 3]]).unwrap();
    model.add_mass("mass", node, Mass::Uniform(mass)).unwrap();
    let along = Projection::new(&[(0, [1.0, 0.0, 0.0])]);
    let along = model.add_mapped("along", &[node], along).unwrap();
    let spring = UniformCompliance::from_stiffness(k);
    model
        .add_force_field("spring", along, spring, Treatment::Stiffness)
        .unwrap();
    let unit = load(&mut model, node, &[push, 0.0, 0.0]);
    let mut simulation = Simulation::new(model).unwrap();
    let floor = Planes::new(vec![(node, 0, 0.0)], &[([0.0, 0.0, 1.0], 0.0)]).rough(mu);
    simulation.set_contacts(floor).unwrap();
    let mut x = 0.0f64;
    for (start, end) in [(0.0, 1.0), (1.0, 0.0), (0.0, 0.8)] {
        let how = Continuation {
            loads: loads(&[unit]),
            start,
            end,
            control: Control::Load,
            ..Continuation::default()
        };
        let path = simulation.follow(&how, |s, p| {
            // The spring takes the load but for what friction can.
            let load = p.load * push;
            x = x.clamp((load - most) / k, (load + most) / k);
            let found = s.positions(node)[0];
            assert!((found - x).abs() < 1e-9, "{}: {found} {x}", p.load);
            let friction = s.contact_force(node, 0).0[0];
            assert!((friction - (k * x - load)).abs() < 1e-7, "{}: {friction}", p.load);
            true
        });
        assert_eq!(path.unwrap().end, PathEnd::Reached);
        if end == 0.0 {
            // Without a load it stands where friction holds the spring.
            assert!((simulation.positions(node)[0] - most / k).abs() < 1e-9);
        }
    }
}

/// A ladder at a smooth wall on a rough floor: `tan t >= 1/(2 mu)` of the angle with the floor,
/// with the friction `m g/(2 tan t)`.
#[test]
fn a_ladder_stands_up_to_its_angle() {
    let (mu, length, mass) = (0.4f64, 2.0, 3.0);
    let limit = (0.5 / mu).atan();
    for (angle, stands) in [(1.1, true), (limit + 1e-3, true), (limit - 1e-2, false)] {
        let mut model = Model::new();
        model.set_gravity([0.0, 0.0, -10.0]).unwrap();
        let half = [0.5 * length * f64::cos(angle), 0.5 * length * f64::sin(angle)];
        let pose = Pose::turned([half[0], 0.0, half[1]], [0.0, 1.0, 0.0], angle);
        let body = model.add_rigid_bodies("ladder", &[pose]).unwrap();
        let inertia = Mass::Rigid(vec![RigidMass::cuboid(mass, [length, 0.1, 0.1])]);
        model.add_mass("mass", body, inertia).unwrap();
        let ends = RigidPoints::new(&[(0, [-0.5 * length, 0.0, 0.0]), (0, [0.5 * length, 0.0, 0.0])]);
        let ends = model.add_mapped("ends", &[body], ends).unwrap();
        // In its plane.
        model
            .fix(body, 0, &[false, true, false, true, false, true])
            .unwrap();
        let mut simulation = Simulation::new(model).unwrap();
        let x = simulation.positions(ends).to_vec();
        // The end that is down stands on the floor, the other leans at the wall.
        let (foot, top) = if x[2] < x[5] { (0, 1) } else { (1, 0) };
        let mut both = Planes::new(vec![(ends, foot, 0.0)], &[([0.0, 0.0, 1.0], 0.0)]).rough(mu);
        let side = if x[3 * top] > x[3 * foot] { -1.0 } else { 1.0 };
        let wall = Planes::new(vec![(ends, top, 0.0)], &[([side, 0.0, 0.0], side * x[3 * top])]);
        both.planes[0].1 = x[3 * foot + 2];
        simulation.set_contacts(Two(both, wall)).unwrap();
        let how = Equilibrium {
            max_iterations: 200,
            ..Equilibrium::default()
        };
        let found = simulation.find_equilibrium(&how);
        println!("{angle}: {found:?}");
        // What falls may come to rest elsewhere.
        let same = x
            .iter()
            .zip(simulation.positions(ends))
            .all(|(a, b)| (a - b).abs() < 1e-7);
        assert_eq!(found.is_ok() && same, stands, "{angle}: {found:?}");
        if stands {
            let force = simulation.contact_force(ends, foot).0;
            let exact = 0.5 * 10.0 * mass / angle.tan();
            assert!(
                (force[2] - 10.0 * mass).abs() < 1e-7 && (force[0].abs() - exact).abs() < 1e-7,
                "{force:?} {exact}"
            );
        }
    }
}

/// Planes of two surfaces.
#[derive(Debug)]
struct Two(Planes, Planes);

impl ContactFinder for Two {
    fn nodes(&self) -> Vec<NodeId> {
        [self.0.nodes(), self.1.nodes()].concat()
    }

    fn find(
        &mut self,
        model: &Model,
        state: &State,
        horizon: f64,
        out: &mut ContactList,
    ) -> Result<(), Error> {
        self.0.find(model, state, horizon, out)?;
        let mut other = ContactList::default();
        self.1.find(model, state, horizon, &mut other)?;
        for (i, contact) in other.contacts().iter().enumerate() {
            let key = ContactKey(7, contact.key.1);
            out.push(Contact { key, ..*contact }, [], other.supports(i).to_vec());
        }
        Ok(())
    }
}

/// Along an arc length loads go no way that friction could follow.
#[test]
fn arc_length_refuses_friction() {
    let mut model = Model::new();
    let node = model.add_particles("block", &[[0.0; 3]]).unwrap();
    let spring = UniformCompliance::from_stiffness(1.0);
    model
        .add_force_field("spring", node, spring, Treatment::Stiffness)
        .unwrap();
    let unit = load(&mut model, node, &[0.0, 0.0, -1.0]);
    let mut simulation = Simulation::new(model).unwrap();
    let floor = Planes::new(vec![(node, 0, 0.0)], &[([0.0, 0.0, 1.0], -0.3)]).rough(0.5);
    simulation.set_contacts(floor).unwrap();
    let how = Continuation {
        loads: loads(&[unit]),
        ..Continuation::default()
    };
    let error = simulation.follow(&how, |_, _| true).unwrap_err().to_string();
    assert!(
        error.contains("the friction of the contact of plane 0 and ball 0"),
        "{error}"
    );
}
