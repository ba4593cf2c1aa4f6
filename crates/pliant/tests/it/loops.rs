//! Closed loops with redundant rows.

use pliant::prelude::*;

/// Six bars of 1 m along the edges of a cube, the sixth of them the ground, with hinges across both bars at each corner: a linkage of
/// Bricard. It moves although rows are as many as coordinates.
pub(crate) fn bricard() -> (Model, Vec<NodeId>, Vec<JointHandle>) {
    let corners = [
        [0.0, 0.0, 0.0],
        [1.0, 0.0, 0.0],
        [1.0, -1.0, 0.0],
        [1.0, -1.0, 1.0],
        [0.0, -1.0, 1.0],
        [0.0, 0.0, 1.0],
    ];
    let mut model = Model::new();
    model.set_gravity([0.0, -9.81, 0.0]).unwrap();
    let mut bars = Vec::new();
    for k in 0..5 {
        let (p, q): ([f64; 3], [f64; 3]) = (corners[k], corners[k + 1]);
        let middle = std::array::from_fn(|i| 0.5 * (p[i] + q[i]));
        let bar = model
            .add_rigid_bodies(&format!("bar {k}"), &[Pose::at(middle)])
            .unwrap();
        // 1 kg, 0.1 m square.
        let size = std::array::from_fn(|i| if (p[i] - q[i]).abs() > 0.5 { 1.0 } else { 0.1 });
        let mass = RigidMass::cuboid(1.0, size);
        model
            .add_mass(&format!("mass {k}"), bar, Mass::Rigid(vec![mass]))
            .unwrap();
        bars.push(bar);
    }
    let axes = [[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]];
    let mut joints = Vec::new();
    for k in 0..6 {
        let side = |k: usize| bars.get(k).map_or(Side::World, |b| Side::Body(*b, 0));
        let (a, b) = (side((k + 5) % 6), side(k));
        // Turn z into the axis.
        let [x, y, z]: [f64; 3] = axes[k % 3];
        let pose = if z == 1.0 {
            Pose::at(corners[k])
        } else {
            Pose::turned(corners[k], [-y, x, 0.0], std::f64::consts::FRAC_PI_2)
        };
        joints.push(
            model
                .add_joint(&format!("hinge {k}"), &Joint::hinge(a, b).at(pose))
                .unwrap(),
        );
    }
    (model, bars, joints)
}

#[test]
fn experiment() {
    for (h, mode) in [(0.01, 0), (0.005, 0), (0.01, 1), (0.005, 1)] {
        let (model, bars, _) = bricard();
        let geometry = if mode == 0 {
            Geometry::NONE
        } else {
            Geometry::default()
        };
        let mut s = Simulation::with_options(
            model,
            Options {
                geometry,
                ..Options::default()
            },
        )
        .unwrap();
        let (mut violation, mut largest, mut redundant) = (0.0f64, 0.0f64, [0usize; 4]);
        let e0 = s.model().energies(s.state()).total();
        for k in 0..(10.0 / h) as usize {
            match s.step(h) {
                Ok(r) => {
                    violation = violation.max(r.violation);
                    redundant[r.redundant_rows.min(3)] += 1;
                    largest = s.multipliers().iter().fold(largest, |a, l| a.max(l.abs()));
                    if k % (1.0 / h) as usize == 0 {
                        println!(
                            "  t {:.2} p {:?} E {:.4} lambda {largest:.1}",
                            r.time,
                            &s.positions(bars[2])[..3],
                            r.energies.total() - e0
                        );
                    }
                }
                Err(e) => {
                    println!("h {h} mode {mode}: {e}");
                    break;
                }
            }
        }
        println!(
            "h {h} mode {mode}: t {} violation {violation:e} lambda {largest:.1} redundant {redundant:?}",
            s.time()
        );
    }
}
