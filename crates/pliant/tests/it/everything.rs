//! No allocation and no chance, with all that a step may hold at once.

use crate::tools::definite;
use pliant::prelude::*;

pub(crate) fn plant() -> Model {
    let mut m = Model::new();
    m.set_gravity([0.0, -9.81, 0.0]).unwrap();
    let rayleigh = Rayleigh {
        mass: 0.1,
        stiffness: 0.002,
    };
    m.set_rayleigh(rayleigh).unwrap();
    let poses = [Pose::at([0.5, 0.0, 0.0]), Pose::at([1.5, 0.0, 0.0])];
    let arms = m.add_rigid_bodies("arms", &poses).unwrap();
    m.add_mass(
        "m",
        arms,
        Mass::Rigid(vec![RigidMass::cuboid(2.0, [1.0, 0.1, 0.2])]),
    )
    .unwrap();
    m.set_body_velocity(arms, 1, [0.0; 3], [0.0; 3]).unwrap();
    let shoulder = Joint::hinge(Side::World, Side::Body(arms, 0))
        .with_position_motor(0, PrescribedMotion::sine(0.5, 2.0, 0.0), 1e-4, 0.01, 1e4)
        .with_damper(0, 0.2);
    m.add_joint("shoulder", &shoulder).unwrap();
    let elbow = Joint::universal(Side::Body(arms, 0), Side::Body(arms, 1))
        .at(Pose::at([1.0, 0.0, 0.0]))
        .with_friction(0, 500.0)
        .with_velocity_motor(1, PrescribedMotion::ramp(0.0, 9.0), 0.01)
        .with_limits(1, -2.0, 2.0)
        .with_spring(1, 0.01, 0.01, 0.1);
    m.add_joint("elbow", &elbow).unwrap();
    let frame = RigidFrames::new(&[(1, Pose::at([0.4, 0.1, 0.0]))]);
    let hand = m.add_mapped("hand", &[arms], frame).unwrap();
    m.add_mass("hand", hand, Mass::Rigid(vec![RigidMass::sphere(0.3, 0.1)]))
        .unwrap();
    let bushing = Joint::bushing(
        Side::Fixed(Pose::at([2.0, 0.0, 0.0])),
        Side::Frame(hand, 0, Pose::default()),
        [0.01; 6],
        0.02,
    );
    m.add_joint("leash", &bushing).unwrap();
    let places = [[0.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 2.0, 0.0]];
    let cloth = m.add_particles("cloth", &places).unwrap();
    let coupled = CoupledMass {
        elements: vec![0, 1, 2],
        matrix: definite(3, 3, 0.5),
    };
    m.add_mass("cloth", cloth, Mass::Coupled(vec![coupled])).unwrap();
    let law = FullCompliance::from_stiffness(&definite(4, 9, 50.0))
        .with_damping(&definite(5, 9, 0.1))
        .with_relaxation_time(0.01)
        .over_elements(3);
    let net = m
        .add_force_field("net", cloth, law, Treatment::Compliance)
        .unwrap();
    m.set_motion(net, Some(PrescribedMotion::sine(0.2, 3.0, 0.5)))
        .unwrap();
    m.add_force_field("honey", cloth, Damping::new(0.3), Treatment::Compliance)
        .unwrap();
    let area = m
        .add_mapped(
            "area",
            &[cloth],
            Area::between(&[[0, 1, 2]]).with_rest_areas(&[0.5]),
        )
        .unwrap();
    let law = Spring::saturating(30.0, 5.0).with_damping(0.1);
    m.add_force_field("skin", area, law, Treatment::Compliance)
        .unwrap();
    let pair = [(End::element(0, 0), End::element(1, 0))];
    let point = m
        .add_mapped("point", &[arms], RigidPoints::new(&[(0, [0.0, 0.2, 0.0])]))
        .unwrap();
    let line = m
        .add_mapped(
            "line",
            &[cloth, point],
            Distance::new(&pair).with_rest_lengths(&[0.8]),
        )
        .unwrap();
    m.add_force_field("line", line, UniformCompliance::new(1e-3), Treatment::Auto)
        .unwrap();
    let formula = |x: &[dual::Dual]| (x[0] * x[4] - x[1]) * 0.5;
    let law = Potential::new(formula).over_groups(&[vec![0, 1]]);
    m.add_force_field("formula", cloth, law, Treatment::Stiffness)
        .unwrap();
    m
}

fn options() -> Vec<Options> {
    let mut out = Vec::new();
    for gyroscopic in [
        Gyroscopic::BodyPredictor,
        Gyroscopic::Momentum,
        Gyroscopic::LinearlyImplicit,
    ] {
        for stabilise in [None, Some(Stabilisation::default())] {
            out.push(Options {
                gyroscopic,
                post_stabilisation: stabilise,
                ..Options::theta()
            });
        }
    }
    out
}

#[test]
fn a_step_of_everything_allocates_nothing() {
    for options in options() {
        let what = format!("{:?}", options.gyroscopic);
        let mut s = Simulation::with_options(plant(), options).unwrap();
        for _ in 0..2 {
            s.step(0.005).unwrap();
        }
        let mut at_bounds = 0;
        let found = allocation_counter::measure(|| {
            for _ in 0..10 {
                at_bounds += s.step(0.005).unwrap().bounds.rows_at_bounds;
            }
        });
        assert!(at_bounds > 0, "{what}: some rows were to be at their bounds");
        assert_eq!(found.count_total, 0, "{what}");
    }
}

#[test]
fn two_runs_of_everything_are_one_and_so_is_a_restored_one() {
    for options in options() {
        let new = || Simulation::with_options(plant(), options.clone()).unwrap();
        let (mut a, mut b) = (new(), new());
        for k in 0..40 {
            // Every tenth step with a plan of its own.
            let h = if k % 10 == 9 { 0.05e-3 } else { 0.005 };
            let (x, y) = (a.step(h).unwrap(), b.step(h).unwrap());
            assert_eq!((x.energies, x.residual), (y.energies, y.residual));
            if k == 17 {
                let checkpoint = a.checkpoint();
                b = new();
                b.restore(&checkpoint).unwrap();
                assert_eq!(b.checkpoint(), checkpoint);
            }
        }
        assert_eq!(a.checkpoint(), b.checkpoint());
    }
}
