//! Equilibria of what touches, against statics on paper.

use super::slender::beam;
use super::*;
use pliant::collision::{Collider, Material, Placement, Shape, World};
use pliant::contact::*;
use pliant::kkt::Support;

mod friction;
mod shapes;
mod solids;

/// Balls and points over planes with unit normals; those are listed that touch or will on their
/// way.
#[derive(Debug, Clone)]
pub(super) struct Planes {
    /// Node, element, radius.
    pub(super) balls: Vec<(NodeId, usize, f64)>,
    /// Normal and offset.
    pub(super) planes: Vec<([f64; 3], f64)>,
    pub(super) law: ContactLaw,
}

impl Planes {
    pub(super) fn new(balls: Vec<(NodeId, usize, f64)>, planes: &[([f64; 3], f64)]) -> Self {
        Self {
            balls,
            planes: planes.to_vec(),
            law: ContactLaw::default(),
        }
    }

    pub(super) fn rough(mut self, friction: f64) -> Self {
        self.law.friction = friction;
        self
    }
}

impl ContactFinder for Planes {
    fn nodes(&self) -> Vec<NodeId> {
        self.balls.iter().map(|p| p.0).collect()
    }

    fn find(
        &mut self,
        model: &Model,
        state: &State,
        horizon: f64,
        out: &mut ContactList,
    ) -> Result<(), Error> {
        for (k, (node, element, radius)) in self.balls.iter().enumerate() {
            let body = model.node(*node).space == Space::Rigid3;
            let (size, rate) = if body { (7, 6) } else { (3, 3) };
            let x = &model.positions(state, *node)[size * element..][..3];
            let v = &model.velocities(state, *node)[rate * element..][..3];
            for (p, (normal, offset)) in self.planes.iter().enumerate() {
                let along = |x: &[f64]| normal.iter().zip(x).map(|(n, x)| n * x).sum::<f64>();
                let gap = along(x) - offset - radius;
                if gap.min(gap + horizon * along(v)) > 1e-4 {
                    continue;
                }
                let arm = if body {
                    normal.map(|n| -radius * n)
                } else {
                    [0.0; 3]
                };
                let support = Support {
                    node: *node,
                    element: *element,
                    weight: 1.0,
                    arm,
                };
                let contact = Contact {
                    key: ContactKey(p as u64, k as u64),
                    point: [0, 1, 2].map(|i| x[i] - radius * normal[i]),
                    normal: *normal,
                    gap,
                    law: self.law,
                    sides: [p as u32, (self.planes.len() + k) as u32],
                };
                out.push(contact, [], [support]);
            }
        }
        Ok(())
    }

    fn name(&self, side: u32) -> String {
        match (side as usize).checked_sub(self.planes.len()) {
            None => format!("plane {side}"),
            Some(ball) => format!("ball {ball}"),
        }
    }
}

fn ball(mass: f64, radius: f64, at: [f64; 3]) -> (Model, NodeId) {
    let mut model = Model::new();
    model.set_gravity([0.0, 0.0, -10.0]).unwrap();
    let node = model.add_rigid_bodies("ball", &[Pose::at(at)]).unwrap();
    let solid = Mass::Rigid(vec![RigidMass::sphere(mass, radius)]);
    model.add_mass("mass", node, solid).unwrap();
    (model, node)
}

/// A ball that starts over a groove of two smooth planes, inclined by `a` and `b`:
/// `N_a = m g sin b/sin(a + b)`, `N_b = m g sin a/sin(a + b)`, at the radius from both. Collision
/// geometry of the library.
#[test]
fn a_ball_lies_in_a_groove() {
    let (mass, radius) = (2.0, 0.1);
    let (a, b) = (0.5f64, 0.9f64);
    for method in [StaticMethod::Newton, StaticMethod::PseudoStatic] {
        let (model, node) = ball(mass, radius, [0.05, 0.0, 0.4]);
        let normals = [[-a.sin(), 0.0, a.cos()], [b.sin(), 0.0, b.cos()]];
        let mut world = World::new();
        let smooth = Material {
            friction: 0.0,
            ..Material::default()
        };
        let smooth = world.add_material(smooth).unwrap();
        for (name, normal) in ["right", "left"].into_iter().zip(normals) {
            let plane = Shape::half_space(normal).unwrap();
            let plane = Collider::new(name, plane, Placement::Fixed(Pose::default()));
            world.add(plane.with_material(smooth)).unwrap();
        }
        let place = Placement::Body {
            node,
            element: 0,
            pose: Pose::default(),
        };
        let round = Collider::new("ball", Shape::ball(radius).unwrap(), place);
        world.add(round.with_material(smooth)).unwrap();
        let mut simulation = Simulation::new(model).unwrap();
        simulation.set_contacts(world).unwrap();
        let how = Equilibrium {
            method,
            ..Equilibrium::default()
        };
        let report = simulation.find_equilibrium(&how).unwrap();
        println!("{method:?}: {report:?}");
        assert_eq!((report.contacts, report.negative_modes), (2, None));
        let x = simulation.positions(node);
        let weight = 10.0 * mass;
        let exact = [b.sin(), a.sin()].map(|s| weight * s / (a + b).sin());
        // Forces and gaps to the tolerance, 1e-10.
        for (normal, force) in normals.iter().zip(exact) {
            assert!((normal[0] * x[0] + normal[2] * x[2] - radius).abs() < 1e-10);
            let found = simulation.contacts().iter().find(|c| {
                let same: f64 = c.contact.normal.iter().zip(normal).map(|(a, b)| a * b).sum();
                same.abs() > 1.0 - 1e-9
            });
            let found = found.unwrap();
            let size = found.impulse.iter().map(|f| f * f).sum::<f64>().sqrt();
            assert!((size - force).abs() < 1e-8, "{size} {force}");
            assert_eq!(found.state, ContactState::Sticking);
        }
        let (force, torque) = simulation.contact_force(node, 0);
        assert!((force[2] - weight).abs() < 1e-8 && force[0].abs() < 1e-8 && torque[1].abs() < 1e-9);
        assert_eq!(simulation.contact_step(), 1.0);
        assert_eq!(simulation.contact_events().len(), 2);
        // A step from rest knows the forces: nothing moves.
        simulation.step(0.01).unwrap();
        assert!(simulation.velocities(node).iter().all(|v| v.abs() < 1e-8));
    }
}

/// On one smooth slope there is no rest, and the state stays as it was.
#[test]
fn a_ball_finds_no_rest_on_a_smooth_slope() {
    let (model, node) = ball(1.0, 0.1, [0.0, 0.0, 0.2]);
    let mut simulation = Simulation::new(model).unwrap();
    let slope = Planes::new(vec![(node, 0, 0.1)], &[([0.6, 0.0, 0.8], 0.0)]);
    simulation.set_contacts(slope).unwrap();
    let before = simulation.state().clone();
    let how = Equilibrium {
        max_iterations: 100,
        ..Equilibrium::default()
    };
    let error = simulation.find_equilibrium(&how).unwrap_err();
    println!("{error}");
    assert!(
        matches!(&error, Error::NoEquilibrium { what, .. } if what.contains("ball")),
        "{error}"
    );
    assert_eq!(simulation.state(), &before);
    assert!(simulation.contacts().is_empty());
}

/// A ball that falls from far above comes to rest on the floor, not below it.
#[test]
fn a_ball_comes_down_to_the_floor() {
    let (model, node) = ball(1.0, 0.1, [0.0, 0.0, 30.0]);
    let mut simulation = Simulation::new(model).unwrap();
    let floor = Planes::new(vec![(node, 0, 0.1)], &[([0.0, 0.0, 1.0], 0.0)]);
    simulation.set_contacts(floor).unwrap();
    let report = simulation.find_equilibrium(&Equilibrium::default()).unwrap();
    assert!((simulation.positions(node)[2] - 0.1).abs() < 1e-9, "{report:?}");
    assert!((simulation.contact_force(node, 0).0[2] - 10.0).abs() < 1e-8);
    // It can roll along the floor and turn on it.
    assert_eq!((report.contacts, report.free_modes), (1, 5));
}

/// A particle on springs pressed against a wall, hard or compliant: free up to `k d`, then
/// `F = p F_1 - k x`, `C F = x - d`, on paths of both kinds and with the wall left again.
#[test]
fn a_wall_carries_what_the_spring_does_not() {
    let (k, gap, push) = (50.0, 0.1, 20.0);
    for (control, c) in [
        (Control::Load, 0.0),
        (Control::ArcLength, 0.0),
        (Control::Load, 1e-3),
        (Control::ArcLength, 1e-3),
    ] {
        let mut model = Model::new();
        let node = model.add_particles("block", &[[0.0; 3]]).unwrap();
        let spring = UniformCompliance::from_stiffness(k);
        model
            .add_force_field("spring", node, spring, Treatment::Stiffness)
            .unwrap();
        let unit = load(&mut model, node, &[push, 0.0, 0.0]);
        let mut simulation = Simulation::new(model).unwrap();
        let mut wall = Planes::new(vec![(node, 0, 0.0)], &[([-1.0, 0.0, 0.0], -gap)]);
        wall.law.compliance = c;
        simulation.set_contacts(wall).unwrap();
        for (start, end) in [(0.0, 1.0), (1.0, 0.0)] {
            let how = Continuation {
                loads: loads(&[unit]),
                start,
                end,
                control,
                ..Continuation::default()
            };
            let mut count = 0;
            let path = simulation.follow(&how, |s, p| {
                let free = p.load * push / k;
                let force = if free > gap {
                    (p.load * push - k * gap) / (1.0 + c * k)
                } else {
                    0.0
                };
                let x = if free > gap { gap + c * force } else { free };
                let found = s.contact_force(node, 0).0[0];
                // To 1e-10 of forces of 20 N and of a length of 1 m.
                assert!(
                    (s.positions(node)[0] - x).abs() < 1e-9,
                    "{control:?} {c} {}: {x}",
                    p.load
                );
                assert!(
                    (found + force).abs() < 1e-7,
                    "{control:?} {c} {}: {found} {force}",
                    p.load
                );
                count += usize::from(force > 0.0);
                true
            });
            assert_eq!(path.unwrap().end, PathEnd::Reached);
            assert!(count > 3);
        }
    }
}

/// A cantilever whose tip meets a stop: it bends freely up to `P = 3 E I d/L^3`, and the stop takes
/// what is beyond. Segments lack second order; deflections are 1e-4 of the length.
#[test]
fn a_beam_meets_a_stop() {
    let gap = 1e-4;
    let miss = [8, 16].map(|n| {
        let (mut model, tip) = beam(n);
        let unit = load(&mut model, tip, &[0.0, -9e-4, 0.0]);
        let mut simulation = Simulation::new(model).unwrap();
        let stop = Planes::new(vec![(tip, 0, 0.0)], &[([0.0, 1.0, 0.0], -gap)]);
        simulation.set_contacts(stop).unwrap();
        let how = Continuation {
            loads: loads(&[unit]),
            ..Continuation::default()
        };
        let mut worst = 0.0f64;
        let path = simulation.follow(&how, |s, p| {
            let reaction = (9e-4 * p.load - 3.0 * gap).max(0.0);
            let found = s.contact_force(tip, 0).0[1];
            worst = worst.max((found - reaction).abs() / 9e-4);
            assert!(s.positions(tip)[1] > -gap - 1e-12);
            true
        });
        assert_eq!(path.unwrap().end, PathEnd::Reached);
        worst
    });
    println!("share of the load by which the reaction is off: {miss:?}");
    assert!(miss[0] < 5e-3 && miss[1] < 0.3 * miss[0], "{miss:?}");
}

/// Horizontal places and heights of a chain pulled along a smooth floor by `h` and up at its end to
/// a height: links hang from the last particle that lies, whose weight the floor bears but for a
/// share, and tangents of their slopes are the weights below over `h`. By bisection of that share,
/// for every number of links that may hang.
fn lying_chain(links: usize, link: f64, weight: f64, h: f64, height: f64) -> (f64, f64) {
    let rise = |hanging: usize, share: f64| -> f64 {
        let slope = |i: usize| (share + i as f64) * weight / h;
        (0..hanging).map(|i| link * slope(i) / 1f64.hypot(slope(i))).sum()
    };
    let hanging = (1..=links).find(|k| rise(*k, 1.0) >= height).unwrap();
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..100 {
        let middle = 0.5 * (low + high);
        if rise(hanging, middle) < height {
            low = middle;
        } else {
            high = middle;
        }
    }
    let slopes = (0..hanging).map(|i| (low + i as f64) * weight / h);
    let ahead: f64 = slopes.map(|s| link / 1f64.hypot(s)).sum();
    // What the floor bears: all lying particles but for the share of the last; the first one is
    // held.
    let lying = links - hanging;
    (link * lying as f64 + ahead, weight * (lying as f64 - low))
}

/// A heavy chain on a smooth floor, one end held there, the other at a height and pulled along with
/// `h`: against its own statics, and the catenary, of which `sqrt(y^2 + 2 a y)` hangs with
/// `a = h/w`, to the order of the links.
#[test]
fn a_chain_lies_on_the_floor_in_part() {
    let (n, length, height, h) = (40, 2.0, 0.3, 2.0);
    let (link, weight) = (length / n as f64, 10.0 * length / n as f64);
    let mut model = Model::new();
    model.set_gravity([0.0, 0.0, -10.0]).unwrap();
    let places: Vec<[f64; 3]> = (0..=n)
        .map(|i| [i as f64 * link, 0.0, if i == n { height } else { 0.0 }])
        .collect();
    let node = model.add_particles("chain", &places).unwrap();
    model.fix(node, 0, &[true; 3]).unwrap();
    model.fix(node, n, &[false, true, true]).unwrap();
    model.add_mass("mass", node, Mass::Uniform(0.1 * weight)).unwrap();
    let pairs: Vec<_> = (0..n)
        .map(|i| (End::element(0, i), End::element(0, i + 1)))
        .collect();
    let links = Distance::new(&pairs).with_rest_lengths(&vec![link; n]);
    let links = model.add_mapped("links", &[node], links).unwrap();
    model.add_constraint("hard", links, Level::Position).unwrap();
    let mut simulation = Simulation::new(model).unwrap();
    simulation.set_force(node, n, &[h, 0.0, 0.0]).unwrap();
    let balls = (1..n).map(|i| (node, i, 0.0)).collect();
    let floor = Planes::new(balls, &[([0.0, 0.0, 1.0], 0.0)]);
    simulation.set_contacts(floor).unwrap();
    let report = simulation.find_equilibrium(&Equilibrium::default()).unwrap();
    println!("{report:?}");
    let (end, borne) = lying_chain(n, link, weight, h, height);
    let found = simulation.positions(node)[3 * n];
    let floor: f64 = simulation.contacts().iter().map(|c| c.impulse[2]).sum();
    // Forces of 2 N to 1e-10, on a chain whose slack at the floor is of second order in its
    // heights.
    assert!(
        (found - end).abs() < 1e-7 && (floor - borne).abs() < 1e-6,
        "{found} {end}, {floor} {borne}"
    );
    let a = h / (weight / link);
    let hangs = (height * height + 2.0 * a * height).sqrt();
    assert!(
        (floor - (length - hangs) * weight / link).abs() < weight,
        "{floor} {hangs}"
    );
    assert!(simulation.positions(node).chunks(3).all(|x| x[2] > -1e-10));
}

#[test]
fn what_contacts_are_asked_for_too_much_is_refused() {
    let refused = |change: &dyn Fn(&mut Simulation, &mut Planes), how: &Equilibrium| {
        let (model, node) = ball(1.0, 0.1, [0.0, 0.0, 0.1]);
        let mut simulation = Simulation::new(model).unwrap();
        let mut floor = Planes::new(vec![(node, 0, 0.1)], &[([0.0, 0.0, 1.0], 0.0)]);
        change(&mut simulation, &mut floor);
        simulation.set_contacts(floor).unwrap();
        simulation.find_equilibrium(how).unwrap_err().to_string()
    };
    let plain = Equilibrium::default();
    let found = refused(&|_, f| f.law.rolling = 0.01, &plain);
    assert!(
        found.contains("resistance to spin or rolling, as of the contact of plane 0 and ball 0"),
        "{found}"
    );
    let convex = |s: &mut Simulation, f: &mut Planes| {
        f.law.friction = 0.5;
        s.options.contacts.friction_coupling = FrictionCoupling::Convex;
    };
    let found = refused(&convex, &plain);
    assert!(found.contains("another coupling than `Exact`"), "{found}");
    let found = refused(&|_, _| (), &Equilibrium::relaxation());
    assert!(found.contains("contacts in dynamic relaxation"), "{found}");
}
