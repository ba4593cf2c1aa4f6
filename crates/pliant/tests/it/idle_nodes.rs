//! Nodes on which nothing acts: placed where steps end, and not in every iterate of them.

use crate::tools::worst;
use pliant::prelude::*;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A point of a body as [`RigidPoints`] places it, which counts how often it is placed.
#[derive(Debug)]
struct Counted {
    points: RigidPoints,
    placed: Arc<AtomicUsize>,
}

impl Mapping for Counted {
    fn child(&self) -> (Space, usize) {
        self.points.child()
    }

    fn dependencies(&self, element: usize, out: &mut Vec<Dependency>) {
        self.points.dependencies(element, out);
    }

    fn apply(&self, parents: Parents<'_>, child: &mut [f64]) -> Result<(), Degenerate> {
        self.placed.fetch_add(1, Ordering::Relaxed);
        self.points.apply(parents, child)
    }

    fn jacobian(&self, parents: Parents<'_>, out: &mut Blocks) -> Result<(), Degenerate> {
        self.points.jacobian(parents, out)
    }

    fn carries_chords(&self) -> bool {
        self.points.carries_chords()
    }

    fn geometric_stiffness(&self, parents: Parents<'_>, force: &[f64], out: &mut Blocks) {
        self.points.geometric_stiffness(parents, force, out);
    }
}

/// Two bodies on ball joints, and nodes that nothing acts on: a point of the lower one, counted,
/// and its distance from the world's origin.
struct Scene {
    simulation: Simulation,
    site: NodeId,
    placed: Arc<AtomicUsize>,
}

fn scene(options: Options, acted_on: bool) -> Scene {
    let mut model = Model::new();
    model.set_gravity([0.0, 0.0, -9.81]).unwrap();
    let poses = [Pose::at([0.5, 0.0, 0.0]), Pose::at([1.5, 0.0, 0.0])];
    let bodies = model.add_rigid_bodies("bodies", &poses).unwrap();
    let masses = vec![RigidMass::cuboid(1.0, [1.0, 0.1, 0.1]); 2];
    model.add_mass("mass", bodies, Mass::Rigid(masses)).unwrap();
    for (name, a, b, x) in [
        ("first", Side::World, Side::Body(bodies, 0), 0.0),
        ("second", Side::Body(bodies, 0), Side::Body(bodies, 1), 1.0),
    ] {
        let joint = Joint::ball(a, b).at(Pose::at([x, 0.0, 0.0]));
        model.add_joint(name, &joint).unwrap();
    }
    let placed = Arc::new(AtomicUsize::new(0));
    let counted = Counted {
        points: RigidPoints::new(&[(1, [0.1, 0.2, -0.3])]),
        placed: Arc::clone(&placed),
    };
    let site = model.add_mapped("site", &[bodies], counted).unwrap();
    let distance = Distance::to_points(&[(0, [0.0; 3])]);
    model.add_mapped("distance", &[site], distance).unwrap();
    if acted_on {
        let nothing = ConstantForce::new(&[0.0; 3]);
        model
            .add_force_field("nothing", site, nothing, Treatment::Stiffness)
            .unwrap();
    }
    Scene {
        simulation: Simulation::with_options(model, options).unwrap(),
        site,
        placed,
    }
}

/// Behind every step all nodes are where the mappings put them, by any method; and the motion is
/// that of the same model where a force of nothing acts on the point.
#[test]
fn steps_end_with_all_nodes_in_place() {
    for integrator in [
        Integrator::Theta,
        Integrator::Sdirk2,
        Integrator::Nonlinear,
        Integrator::EnergyMomentum,
        Integrator::Rattle,
    ] {
        let options = Options {
            integrator,
            ..Options::default()
        };
        let [mut idle, mut acting] =
            [false, true].map(|acted_on| scene(options.clone(), acted_on).simulation);
        for _ in 0..50 {
            idle.step(0.01).unwrap();
            acting.step(0.01).unwrap();
            let mut placed = idle.state().clone();
            idle.model().propagate(&mut placed).unwrap();
            // A projection may end on a change of rounding.
            let off = worst(&placed.positions, &idle.state().positions);
            assert!(off < 1e-14, "{:?}: {off}", idle.options.integrator);
            let off = worst(&placed.velocities, &idle.state().velocities);
            assert!(off < 1e-12, "{:?}: {off}", idle.options.integrator);
        }
        assert_eq!(idle.state().positions, acting.state().positions);
    }
}

/// The point is placed for each of the two stages and behind the projection, however many iterates
/// these take; where something acts on it, in each of them.
#[test]
fn what_nothing_acts_on_is_placed_once_per_stage() {
    let [idle, acting] = [false, true].map(|acted_on| {
        let mut scene = scene(Options::default(), acted_on);
        scene.simulation.step(0.01).unwrap();
        let before = scene.placed.load(Ordering::Relaxed);
        for _ in 0..20 {
            scene.simulation.step(0.01).unwrap();
        }
        scene.placed.load(Ordering::Relaxed) - before
    });
    assert_eq!(idle, 3 * 20);
    assert!(acting > 2 * idle, "{acting}");
}

/// A force from outside on a point that nothing else acts on moves what it is fixed in.
#[test]
fn a_force_from_outside_acts_where_nothing_else_does() {
    let [idle, acting] = [false, true].map(|acted_on| {
        let mut scene = scene(Options::default(), acted_on);
        let without = scene.simulation.state().positions.clone();
        scene
            .simulation
            .set_force(scene.site, 0, &[3.0, -20.0, 5.0])
            .unwrap();
        for _ in 0..50 {
            scene.simulation.step(0.01).unwrap();
        }
        let end = scene.simulation.state().positions.clone();
        assert!(worst(&without, &end) > 0.1);
        end
    });
    assert_eq!(idle, acting);
}
