//! Towers of boxes that stand, with contacts of corners on the face below.

use pliant::contact::*;
use pliant::dense::{Vec3, rotation};
use pliant::kkt::Support;
use pliant::prelude::*;

/// Cubes of 1 m in a tower on the plane z = 0: the corners of each touch the upper face of the one
/// below.
#[derive(Debug)]
struct Tower {
    node: NodeId,
    count: usize,
    law: ContactLaw,
}

impl ContactFinder for Tower {
    fn nodes(&self) -> Vec<NodeId> {
        vec![self.node]
    }

    fn find(&mut self, model: &Model, state: &State, _: f64, out: &mut ContactList) -> Result<(), Error> {
        let x = model.positions(state, self.node);
        let pose = |e: usize| {
            let x = &x[7 * e..][..7];
            (Vec3::new(x[0], x[1], x[2]), [x[3], x[4], x[5], x[6]])
        };
        for e in 0..self.count {
            let (p, q) = pose(e);
            for k in 0..4 {
                let corner = Vec3::new(
                    if k % 2 == 0 { 0.5 } else { -0.5 },
                    if k / 2 == 0 { 0.5 } else { -0.5 },
                    -0.5,
                );
                let arm = rotation::rotate(q, corner);
                let (normal, below, first);
                if e == 0 {
                    (normal, below, first) = (Vec3::z(), Vec3::zeros(), Vec::new());
                } else {
                    let (o, turn) = pose(e - 1);
                    normal = rotation::rotate(turn, Vec3::z());
                    below = o + 0.5 * normal;
                    let support = Support {
                        node: self.node,
                        element: e - 1,
                        weight: 1.0,
                        arm: (p + arm - o).into(),
                    };
                    first = vec![support];
                }
                out.push(
                    Contact {
                        key: ContactKey(e as u64, k as u64),
                        point: (p + arm).into(),
                        normal: normal.into(),
                        gap: normal.dot(&(p + arm - below)),
                        law: self.law,
                        sides: [e as u32, e as u32 + 1],
                    },
                    first,
                    [Support {
                        node: self.node,
                        element: e,
                        weight: 1.0,
                        arm: arm.into(),
                    }],
                );
            }
        }
        Ok(())
    }
}

fn tower(masses: &[f64]) -> (Simulation, NodeId) {
    let mut m = Model::new();
    m.set_gravity([0.0, 0.0, -9.81]).unwrap();
    let pose = |k: usize| Pose {
        position: [0.0, 0.0, 0.5 + k as f64],
        rotation: [1.0, 0.0, 0.0, 0.0],
    };
    let poses: Vec<Pose> = (0..masses.len()).map(pose).collect();
    let boxes = m.add_rigid_bodies("boxes", &poses).unwrap();
    let bodies = masses.iter().map(|m| RigidMass::cuboid(*m, [1.0; 3]));
    m.add_mass("mass", boxes, Mass::Rigid(bodies.collect())).unwrap();
    let mut s = Simulation::new(m).unwrap();
    let law = ContactLaw {
        friction: 0.5,
        ..ContactLaw::default()
    };
    s.set_contacts(Tower {
        node: boxes,
        count: masses.len(),
        law,
    })
    .unwrap();
    (s, boxes)
}

/// A length that is none is refused ahead of everything: nothing is forgotten, in the solvers of
/// contacts neither.
#[test]
fn a_refused_length_changes_nothing() {
    let (mut s, _) = tower(&[1.0; 3]);
    for _ in 0..3 {
        s.step(0.01).unwrap();
    }
    let before = s.checkpoint();
    for h in [-1.0, 0.0, f64::NAN, f64::INFINITY] {
        s.step(h).unwrap_err();
        assert!(s.checkpoint() == before, "{h}");
    }
}

/// Ten boxes, and ten with one of a thousand times the mass on top, do not move in 60 s; every step
/// is converged.
#[test]
fn towers_stand_still() {
    let mut heavy = [1.0; 10];
    heavy[9] = 1000.0;
    for masses in [[1.0; 10], heavy] {
        let (mut s, boxes) = tower(&masses);
        let mut iterations = 0;
        for _ in 0..3600 {
            let report = s.step(1.0 / 60.0).unwrap();
            assert!(report.contacts.residual <= 1e-8);
            iterations += report.contacts.solve.iterations;
        }
        let top = s.pose(boxes, 9).unwrap().position;
        let moved = (Vec3::from(top) - Vec3::new(0.0, 0.0, 9.5)).norm();
        println!("moved {moved:e}, {iterations} iterations");
        assert!(moved < 1e-6, "{moved}");
        // Each interface carries what is above it.
        for e in 0..10 {
            let carried: f64 = s.contacts()[4 * e..4 * e + 4]
                .iter()
                .map(|c| c.impulse[2] * 60.0)
                .sum();
            let weight: f64 = masses[e..].iter().sum::<f64>() * 9.81;
            assert!(
                (carried - weight).abs() < 1e-6 * weight,
                "{e}: {carried} {weight}"
            );
        }
    }
}
