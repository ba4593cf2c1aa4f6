//! Motion on ropes that wrap around obstacles.

use pliant::Simulation;
use pliant::model::{
    End, JointFrame, Level, Mass, Model, NodeId, Obstacle, Pose, WrapSide, WrapSurface, WrappedPath,
    WrappedRope,
};

const G: f64 = 9.81;

/// Particles of these masses, and a rope of this length between these ends, which are on it, without
/// friction over a cylinder about the z axis of the world.
fn on_a_rope(
    places: &[[f64; 3]],
    masses: &[f64],
    (ends, length): ([End; 2], f64),
    (radius, side): (f64, WrapSide),
) -> (Simulation, NodeId) {
    let mut m = Model::new();
    m.set_gravity([0.0, -G, 0.0]).unwrap();
    let p = m.add_particles("weights", places).unwrap();
    m.add_mass("m", p, Mass::PerElement(masses.to_vec())).unwrap();
    let obstacle = Obstacle {
        frame: JointFrame::world(Pose::default()),
        surface: WrapSurface::Cylinder { radius, side },
    };
    let path = WrappedPath::through(&ends, length).around(0, obstacle);
    let rope = m.add_mapped("rope", &[p], WrappedRope::new(&[path])).unwrap();
    m.add_constraint("rope", rope, Level::Position).unwrap();
    (Simulation::new(m).unwrap(), p)
}

/// Atwood's machine: both weights accelerate by `g (m_1 - m_2)/(m_1 + m_2)`.
#[test]
fn weights_over_a_pulley_accelerate_as_in_atwoods_machine() {
    let places = [[0.5, -3.0, 0.0], [-0.5, -4.0, 0.0]];
    let ends = [End::element(0, 0), End::element(0, 1)];
    let over = WrapSide::Over([0.0, 1.0, 0.0]);
    let length = 7.0 + 0.5 * std::f64::consts::PI;
    let (mut s, p) = on_a_rope(&places, &[3.0, 2.0], (ends, length), (0.5, over));
    let (steps, h) = (50, 0.01);
    for _ in 0..steps {
        s.step(h).unwrap();
    }
    let t = f64::from(steps) * h;
    let (a, x) = (G / 5.0, s.positions(p));
    // Constant accelerations are exact in a method of second order.
    assert!((x[1] + 3.0 + 0.5 * a * t * t).abs() < 1e-9, "{x:?}");
    assert!((x[4] + 4.0 - 0.5 * a * t * t).abs() < 1e-9, "{x:?}");
    assert!(x[0] - 0.5 < 1e-9 && x[3] + 0.5 < 1e-9, "{x:?}");
}

/// A pendulum whose rope winds itself around a peg and unwinds again, out of contact for a part of
/// its swing: without friction it keeps its energy, to the second order of the steps.
#[test]
fn a_pendulum_around_a_peg_keeps_its_energy() {
    let ends = [End::Point([0.0, 1.0, 0.0]), End::element(0, 0)];
    let side = WrapSide::LeftHanded([1.0, 0.0, 0.0]);
    let length = f64::hypot(1.2, 1.3);
    let drift = |h: f64| {
        let (mut s, p) = on_a_rope(&[[1.2, -0.3, 0.0]], &[2.0], (ends, length), (0.15, side));
        let start = s.problem().energies(s.state()).total();
        let (mut worst, mut left, mut free) = (0.0f64, 0.0f64, 0);
        for _ in 0..(2.0 / h) as usize {
            let report = s.step(h).unwrap();
            worst = worst.max((report.energies.total() - start).abs());
            let x = s.positions(p);
            left = left.min(x[0]);
            let straight = (x[0] * x[0] + (x[1] - 1.0).powi(2)).sqrt();
            free += usize::from((straight - length).abs() < 1e-9);
        }
        // It swings to the left of the peg, and comes back to where the rope is straight.
        assert!(left < -0.5 && free > 10, "{left} {free}");
        worst
    };
    let (coarse, fine) = (drift(4e-3), drift(2e-3));
    println!("{coarse} {fine}");
    // Of about 20 J that turn over.
    assert!(fine < 5e-3 && fine < 0.5 * coarse, "{coarse} {fine}");
}
