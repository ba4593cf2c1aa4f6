//! Mechanisms of named joints: chains of hinges, and the six-revolute loop of Bricard.

use pliant::prelude::*;

/// `links` boxes of 0.1 x 0.02 x 0.02 m and 0.1 kg on hinges about z, let go at rest from the
/// horizontal.
///
/// # Errors
/// A model that could not be built.
pub fn hinge_chain(links: usize) -> Result<Simulation, Error> {
    let length = 0.1;
    let mut model = Model::new();
    model.set_gravity([0.0, -9.81, 0.0])?;
    let poses: Vec<Pose> = (0..links)
        .map(|k| Pose::at([(k as f64 + 0.5) * length, 0.0, 0.0]))
        .collect();
    let bodies = model.add_rigid_bodies("links", &poses)?;
    let link = RigidMass::cuboid(0.1, [length, 0.02, 0.02]);
    model.add_mass("masses", bodies, Mass::Rigid(vec![link]))?;
    for k in 0..links {
        let above = k.checked_sub(1).map_or(Side::World, |a| Side::Body(bodies, a));
        let hinge = Joint::hinge(above, Side::Body(bodies, k)).at(Pose::at([k as f64 * length, 0.0, 0.0]));
        model.add_joint(&format!("hinge {k}"), &hinge)?;
    }
    Simulation::with_options(model, Options::theta())
}

/// Six bars of 1 m and 1 kg along the edges of a cube, the last of them the ground, with hinges
/// across both bars at each corner. It moves, although it has as many rows as coordinates: one is
/// redundant.
///
/// # Errors
/// A model that could not be built.
pub fn bricard() -> Result<(Simulation, [NodeId; 5]), Error> {
    let corners = [
        [0.0, 0.0, 0.0],
        [1.0, 0.0, 0.0],
        [1.0, -1.0, 0.0],
        [1.0, -1.0, 1.0],
        [0.0, -1.0, 1.0],
        [0.0, 0.0, 1.0],
    ];
    let mut model = Model::new();
    model.set_gravity([0.0, -9.81, 0.0])?;
    let mut bars = Vec::new();
    for (k, ends) in corners.windows(2).enumerate() {
        let (p, q): ([f64; 3], [f64; 3]) = (ends[0], ends[1]);
        let middle = std::array::from_fn(|i| 0.5 * (p[i] + q[i]));
        let bar = model.add_rigid_bodies(&format!("bar {k}"), &[Pose::at(middle)])?;
        let size = std::array::from_fn(|i| if (p[i] - q[i]).abs() > 0.5 { 1.0 } else { 0.1 });
        let mass = Mass::Rigid(vec![RigidMass::cuboid(1.0, size)]);
        model.add_mass(&format!("mass {k}"), bar, mass)?;
        bars.push(bar);
    }
    let quarter = std::f64::consts::FRAC_PI_2;
    let turns = [
        ([-1.0, 0.0, 0.0], quarter),
        ([0.0, 0.0, 1.0], 0.0),
        ([0.0, 1.0, 0.0], quarter),
    ];
    for k in 0..6 {
        let side = |k: usize| bars.get(k).map_or(Side::World, |b| Side::Body(*b, 0));
        let (axis, angle) = turns[k % 3];
        let hinge = Joint::hinge(side((k + 5) % 6), side(k)).at(Pose::turned(corners[k], axis, angle));
        model.add_joint(&format!("hinge {k}"), &hinge)?;
    }
    let bars = [bars[0], bars[1], bars[2], bars[3], bars[4]];
    Ok((Simulation::with_options(model, Options::theta())?, bars))
}
