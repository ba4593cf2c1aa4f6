//! Contacts at rest of soft solids, of curved surfaces, of more corners than are needed.

use super::*;
use crate::tools::on_point;

/// An elastic column on a smooth floor under its weight: `u = rho g L^2/(2 E)` at its top, exact at
/// the nodes of linear elements where it does not widen, and a quarter of its weight on each
/// corner. The strain is 1e-5, which linear elasticity neglects.
#[test]
fn a_soft_column_stands_on_the_floor() {
    use pliant::continuum::{Mesh, Solid, StrainEnergy};
    let (young, density) = (1e6, 1.0);
    let mut model = Model::new();
    model.set_gravity([0.0, 0.0, -10.0]).unwrap();
    let mesh = Mesh::hexahedral_box([0.5, 0.5, 1.0], [1, 1, 4]).unwrap();
    let solid = Solid::hyperelastic(StrainEnergy::neo_hookean(young, 0.0)).with_density(density);
    let parts = solid.add_to(&mut model, "column", &mesh).unwrap();
    let heights: Vec<f64> = mesh.nodes.iter().map(|x| x[2]).collect();
    let lowest = heights.iter().copied().fold(f64::INFINITY, f64::min);
    let all = (0..heights.len()).map(|i| (parts.nodes, i, 0.0)).collect();
    // It starts above the floor.
    let floor = Planes::new(all, &[([0.0, 0.0, 1.0], lowest - 0.05)]);
    let mut simulation = Simulation::new(model).unwrap();
    simulation.set_contacts(floor).unwrap();
    let report = simulation.find_equilibrium(&Equilibrium::default()).unwrap();
    println!("{report:?}");
    assert_eq!(report.contacts, 4);
    let x = simulation.positions(parts.nodes);
    for (x, z) in x.chunks(3).zip(&heights) {
        let height = z - lowest;
        let sinks = density * 10.0 * (height - 0.5 * height * height) / young;
        let found = height - (x[2] - lowest + 0.05);
        assert!((found - sinks).abs() < 1e-9, "{height}: {found} {sinks}");
    }
    for c in simulation.contacts().iter().filter(|c| c.contact.gap < 1e-6) {
        assert!((c.impulse[2] - 0.25 * 2.5).abs() < 1e-8, "{c:?}");
    }
}

/// A ball in a smooth bowl comes to rest at its bottom: the normal turns as it moves, which no
/// tangent knows.
#[test]
fn a_ball_lies_at_the_bottom_of_a_bowl() {
    #[derive(Debug)]
    struct Bowl(NodeId, f64);
    impl ContactFinder for Bowl {
        fn nodes(&self) -> Vec<NodeId> {
            vec![self.0]
        }
        fn find(
            &mut self,
            model: &Model,
            state: &State,
            horizon: f64,
            out: &mut ContactList,
        ) -> Result<(), Error> {
            let (x, v) = (model.positions(state, self.0), model.velocities(state, self.0));
            let r = x.iter().map(|x| x * x).sum::<f64>().sqrt();
            let normal = [0, 1, 2].map(|k| -x[k] / r);
            let (gap, speed) = (self.1 - r, (0..3).map(|k| v[k] * v[k]).sum::<f64>().sqrt());
            if gap < 1e-4 + horizon * speed {
                let contact = Contact {
                    key: ContactKey(0, 0),
                    point: [x[0], x[1], x[2]],
                    normal,
                    gap,
                    law: ContactLaw::default(),
                    sides: [0, 1],
                };
                out.push(contact, [], [on_point(self.0)]);
            }
            Ok(())
        }
    }
    let mut model = Model::new();
    model.set_gravity([0.0, 0.0, -10.0]).unwrap();
    let node = model.add_particles("ball", &[[0.3, 0.2, 0.1]]).unwrap();
    model.add_mass("mass", node, Mass::Uniform(2.0)).unwrap();
    let mut simulation = Simulation::new(model).unwrap();
    simulation.set_contacts(Bowl(node, 1.0)).unwrap();
    let report = simulation.find_equilibrium(&Equilibrium::default()).unwrap();
    println!("{report:?}");
    let x = simulation.positions(node);
    assert!(x[0].hypot(x[1]) < 1e-9 && (x[2] + 1.0).abs() < 1e-9, "{x:?}");
    assert!((simulation.contact_force(node, 0).0[2] - 20.0).abs() < 1e-8);
}

/// A box on four corners, which three would hold: whatever the shares, their sum is the weight and
/// their torque that of its offset. The same bits on two threads.
#[test]
fn a_box_stands_on_more_corners_than_it_needs() {
    let stand = |threads: usize| {
        let mut model = Model::new();
        model.set_gravity([0.0, 0.0, -10.0]).unwrap();
        let boxes: Vec<Pose> = (0..3)
            .map(|i| Pose::at([0.1 * f64::from(i), 0.0, 0.5 + f64::from(i)]))
            .collect();
        let node = model.add_rigid_bodies("boxes", &boxes).unwrap();
        let solid = RigidMass::cuboid(2.0, [1.0; 3]);
        model.add_mass("mass", node, Mass::Rigid(vec![solid; 3])).unwrap();
        let mut world = World::new();
        let smooth = Material {
            friction: 0.3,
            ..Material::default()
        };
        let smooth = world.add_material(smooth).unwrap();
        let plane = Shape::half_space([0.0, 0.0, 1.0]).unwrap();
        let floor = Collider::new("floor", plane, Placement::Fixed(Pose::default()));
        world.add(floor.with_material(smooth)).unwrap();
        for element in 0..3 {
            let place = Placement::Body {
                node,
                element,
                pose: Pose::default(),
            };
            let shape = Shape::cuboid([0.5; 3]).unwrap();
            let one = Collider::new(&format!("box {element}"), shape, place);
            world.add(one.with_material(smooth)).unwrap();
        }
        let mut simulation = Simulation::new(model).unwrap();
        simulation.options.tuning.solver.threads = threads;
        simulation.set_contacts(world).unwrap();
        let report = simulation.find_equilibrium(&Equilibrium::default()).unwrap();
        println!("{report:?}");
        for (i, exact) in [(0, 60.0), (1, 40.0), (2, 20.0)] {
            // What is below bears what is above; each box alone is in balance.
            let below: f64 = simulation
                .contacts()
                .iter()
                .filter(|c| (c.contact.point[2] - f64::from(i)).abs() < 0.1)
                .map(|c| c.impulse[2].abs())
                .sum();
            assert!((below - exact).abs() < 1e-7, "{i}: {below}");
            let (force, torque) = simulation.contact_force(node, i as usize);
            assert!(
                (force[2] - 20.0).abs() < 1e-8 && torque.iter().all(|t| t.abs() < 1e-8),
                "{force:?} {torque:?}"
            );
        }
        simulation.positions(node).to_vec()
    };
    assert_eq!(stand(1), stand(2));
}

/// A ball comes down on the middle of a triangle whose corners are on springs, from above: each
/// corner takes a third of its weight.
#[test]
fn a_ball_lies_on_a_soft_triangle() {
    let (k, radius, thickness, height) = (500.0, 0.2, 0.01, 1.0);
    for drop in [0.25, 5.0] {
        let (mut model, ball) = ball(6.0, radius, [0.0, 0.0, height + drop]);
        let places: Vec<[f64; 3]> = (0..3)
            .map(|i| {
                let angle = f64::from(i) * std::f64::consts::TAU / 3.0;
                [angle.cos(), angle.sin(), height]
            })
            .collect();
        let corners = model.add_particles("corners", &places).unwrap();
        let pairs: Vec<_> = (0..3)
            .map(|i| (End::element(0, i), End::Point(places[i])))
            .collect();
        let away = model
            .add_mapped("away", &[corners], Difference::new(&pairs))
            .unwrap();
        let law = UniformCompliance::from_stiffness(k);
        model
            .add_force_field("springs", away, law, Treatment::Stiffness)
            .unwrap();
        let mut world = World::new();
        let smooth = Material {
            friction: 0.0,
            ..Material::default()
        };
        let smooth = world.add_material(smooth).unwrap();
        let cloth = Shape::soft_triangles(&[[0, 1, 2]], thickness).unwrap();
        let cloth = Collider::new("cloth", cloth, Placement::Points(corners));
        world.add(cloth.with_material(smooth)).unwrap();
        let place = Placement::Body {
            node: ball,
            element: 0,
            pose: Pose::default(),
        };
        let round = Collider::new("ball", Shape::ball(radius).unwrap(), place);
        world.add(round.with_material(smooth)).unwrap();
        let mut simulation = Simulation::new(model).unwrap();
        simulation.set_contacts(world).unwrap();
        let report = simulation.find_equilibrium(&Equilibrium::default()).unwrap();
        println!("{report:?}");
        let sinks = 20.0 / k;
        for x in simulation.positions(corners).chunks(3) {
            assert!((x[2] - height + sinks).abs() < 1e-9, "{x:?}");
        }
        let z = simulation.positions(ball)[2];
        assert!((z - (height - sinks + radius + thickness)).abs() < 1e-9, "{z}");
    }
}

/// A body below the floor without a force on it is no equilibrium before it is out.
#[test]
fn an_overlap_without_force_is_no_rest() {
    let mut model = Model::new();
    let node = model.add_particles("sunk", &[[0.0, 0.0, -0.05]]).unwrap();
    model.add_mass("mass", node, Mass::Uniform(1.0)).unwrap();
    let mut simulation = Simulation::new(model).unwrap();
    let floor = Planes::new(vec![(node, 0, 0.0)], &[([0.0, 0.0, 1.0], 0.0)]);
    simulation.set_contacts(floor).unwrap();
    simulation.find_equilibrium(&Equilibrium::default()).unwrap();
    assert!(simulation.positions(node)[2].abs() < 1e-9);
}
