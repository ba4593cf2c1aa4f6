//! Derivatives of single steps.

use super::{check_step, options};
use crate::four_bars::row_of_loops;
use pliant::continuum::{
    Enhancement, Incompressibility, Mesh, Rod, RodCurve, Section, Sheet, SheetMesh, Solid, StrainEnergy,
};
use pliant::prelude::*;

/// A net of particles on springs, in one treatment, a corner held.
pub(super) fn net(treatment: Treatment, damping: f64) -> Model {
    let mut model = Model::new();
    model.set_gravity([0.0, 0.0, -9.81]).unwrap();
    let n = 4;
    let at = |i: usize, j: usize| [0.1 * i as f64, 0.1 * j as f64, 0.02 * ((i * j) as f64).sin()];
    let places: Vec<[f64; 3]> = (0..n * n).map(|k| at(k / n, k % n)).collect();
    let points = model.add_particles("points", &places).unwrap();
    model.add_mass("mass", points, Mass::Uniform(0.01)).unwrap();
    let mut pairs = Vec::new();
    for (i, j) in (0..n).flat_map(|i| (0..n).map(move |j| (i, j))) {
        for (k, l) in [(i + 1, j), (i, j + 1), (i + 1, j + 1)] {
            if k < n && l < n {
                pairs.push((End::element(0, n * i + j), End::element(0, n * k + l)));
            }
        }
    }
    let threads = model
        .add_mapped("threads", &[points], Distance::new(&pairs))
        .unwrap();
    let spring = Spring::linear(200.0).with_rest(0.09).with_damping(damping);
    model
        .add_force_field("springs", threads, spring, treatment)
        .unwrap();
    model.fix(points, 0, &[true; 3]).unwrap();
    model
}

/// A chain of bodies that hangs and spins, by ball joints and hinges, with springs across them.
pub(crate) fn chain(links: usize) -> Model {
    let mut model = Model::new();
    model.set_gravity([0.0, 0.0, -9.81]).unwrap();
    let poses: Vec<Pose> = (0..links)
        .map(|k| Pose::at([0.2 * k as f64 + 0.1, 0.0, 0.0]))
        .collect();
    let bodies = model.add_rigid_bodies("links", &poses).unwrap();
    let mass = RigidMass::principal(0.5, [2e-4, 1.5e-3, 1.7e-3]);
    model.add_mass("mass", bodies, Mass::Rigid(vec![mass])).unwrap();
    for k in 0..links {
        let spin = [3.0, 0.4 * k as f64, -1.0];
        model.set_body_velocity(bodies, k, [0.0, 0.3, 0.0], spin).unwrap();
        let side = match k {
            0 => Side::World,
            _ => Side::Body(bodies, k - 1),
        };
        let at = Pose::at([0.2 * k as f64, 0.0, 0.0]);
        let joint = match k % 2 {
            0 => Joint::ball(side, Side::Body(bodies, k)),
            _ => Joint::hinge(side, Side::Body(bodies, k)),
        };
        model.add_joint(&format!("joint {k}"), &joint.at(at)).unwrap();
    }
    let ends = [(0, [0.0, 0.05, 0.0]), (links - 1, [0.0, -0.05, 0.02])];
    let points = model
        .add_mapped("eyes", &[bodies], RigidPoints::new(&ends))
        .unwrap();
    let pair = Distance::new(&[(End::element(0, 0), End::element(0, 1))]);
    let rope = model.add_mapped("rope", &[points], pair).unwrap();
    let spring = Spring::stiffening(30.0, 100.0).with_rest(0.3).with_damping(0.2);
    model
        .add_force_field("spring", rope, spring, Treatment::Stiffness)
        .unwrap();
    model
}

/// A step from a motion that is some steps old.
pub(super) fn check(what: &str, model: Model, options: Options, h: f64, share: f64) {
    let mut simulation = Simulation::with_options(model, options).unwrap();
    for _ in 0..4 {
        simulation.step(h).unwrap();
    }
    check_step(what, &mut simulation, h, share);
}

#[test]
fn nets_of_springs() {
    for treatment in [Treatment::Stiffness, Treatment::Compliance] {
        for damping in [0.0, 0.3] {
            let what = format!("net, {treatment:?}, {damping}");
            check(&what, net(treatment, damping), options(), 0.01, 1e-8);
        }
    }
}

#[test]
fn chains_of_bodies() {
    check("chain", chain(5), options(), 0.01, 1e-8);
}

/// Three redundant rows in each loop.
#[test]
fn loops() {
    check("loops", row_of_loops(2), options(), 0.01, 1e-7);
}

/// A rod through four points, clamped at one end.
pub(super) fn hanging(rod: &Rod) -> Model {
    let curve = RodCurve::through(&[
        [0.0, 0.0, 0.0],
        [0.1, 0.0, 0.01],
        [0.2, 0.02, 0.0],
        [0.3, 0.02, 0.03],
    ]);
    let mut model = Model::new();
    model.set_gravity([0.0, 0.0, -9.81]).unwrap();
    let parts = rod.add_to(&mut model, "rod", &curve).unwrap();
    model.fix(parts.frames, 0, &[true; 6]).unwrap();
    model
}

/// A rod that bends and stretches, one that does not stretch, and one that relaxes.
pub(super) fn kinds_of_rods() -> [Rod; 3] {
    let rod = Rod::new(Section::circle(2e-3), 1e8, 0.3).with_density(1200.0);
    [rod, rod.inextensible(), rod.with_relaxation_time(0.02)]
}

#[test]
fn rods() {
    for rod in kinds_of_rods() {
        check("rod", hanging(&rod), options(), 0.01, 1e-7);
    }
}

/// A beam of four hexahedra, clamped at one end.
pub(super) fn beam(solid: &Solid) -> Model {
    let mesh = Mesh::hexahedral_box([0.4, 0.1, 0.1], [4, 1, 1]).unwrap();
    let mut model = Model::new();
    model.set_gravity([0.0, 0.0, -9.81]).unwrap();
    let parts = solid.add_to(&mut model, "beam", &mesh).unwrap();
    for (i, _) in mesh.nodes.iter().enumerate().filter(|(_, x)| x[0] == 0.0) {
        model.fix(parts.nodes, i, &[true; 3]).unwrap();
    }
    model
}

/// Solids of forces and of rows.
pub(super) fn kinds_of_solids() -> [(&'static str, Solid); 6] {
    let stable = StrainEnergy::stable_neo_hookean(1e5, 0.3);
    [
        ("corotational", Solid::corotational(1e5, 0.3)),
        (
            "relaxing",
            Solid::corotational(1e5, 0.3).with_relaxation_time(0.02),
        ),
        (
            "compliant",
            Solid::corotational(1e5, 0.3).with_treatment(Treatment::Compliance),
        ),
        ("neo-Hookean", Solid::hyperelastic(stable)),
        (
            "enhanced",
            Solid::corotational(1e5, 0.3).with_enhanced_strains(Enhancement::BendingAndVolume),
        ),
        (
            "incompressible",
            Solid::corotational(1e5, 0.5).with_incompressibility(Incompressibility::PerElement),
        ),
    ]
}

#[test]
fn solids() {
    for (what, solid) in kinds_of_solids() {
        check(what, beam(&solid), options(), 0.02, 1e-7);
    }
}

/// Cloth that hangs from a corner, in wind.
pub(super) fn cloth() -> Model {
    let mesh = SheetMesh::rectangle([0.3, 0.3], [3, 3], false);
    let mut model = Model::new();
    model.set_gravity([0.0, -9.81, 3.0]).unwrap();
    let sheet = Sheet::isotropic(1e4, 0.3, 1e-3).with_relaxation_time(0.005);
    let parts = sheet.add_to(&mut model, "cloth", &mesh).unwrap();
    model.fix(parts.nodes, 0, &[true; 3]).unwrap();
    model
}

#[test]
fn sheets() {
    check("sheet", cloth(), options(), 0.01, 1e-7);
}

/// A torso with four limbs of two bodies each, on ball joints and hinges with springs, that tumbles
/// in the air.
#[test]
fn a_ragdoll_in_the_air() {
    let mut model = Model::new();
    model.set_gravity([0.0, 0.0, -9.81]).unwrap();
    let mut poses = vec![Pose::default()];
    let ways = [
        [1.0, 0.0, 0.6],
        [-1.0, 0.0, 0.6],
        [0.5, 0.0, -1.0],
        [-0.5, 0.0, -1.0],
    ];
    for way in ways {
        poses.extend([0.3, 0.6].map(|far| Pose::at(way.map(|x: f64| far * x))));
    }
    let bodies = model.add_rigid_bodies("ragdoll", &poses).unwrap();
    let mut masses = vec![RigidMass::cuboid(30.0, [0.3, 0.2, 0.5])];
    masses.extend((0..8).map(|_| RigidMass::cuboid(4.0, [0.1, 0.08, 0.3])));
    model.add_mass("mass", bodies, Mass::Rigid(masses)).unwrap();
    for k in 0..9 {
        let spin = [2.0 - k as f64, 0.7 * k as f64, 3.0];
        model.set_body_velocity(bodies, k, [1.0, 0.0, 2.0], spin).unwrap();
    }
    for (limb, way) in ways.into_iter().enumerate() {
        let (upper, lower) = (1 + 2 * limb, 2 + 2 * limb);
        let place = |far: f64| Pose::at(way.map(|x| far * x));
        let hip = Joint::ball(Side::Body(bodies, 0), Side::Body(bodies, upper)).at(place(0.15));
        let knee = Joint::hinge(Side::Body(bodies, upper), Side::Body(bodies, lower)).at(place(0.45));
        model.add_joint(&format!("hip {limb}"), &hip).unwrap();
        model.add_joint(&format!("knee {limb}"), &knee).unwrap();
        let angle = model.node_named(&format!("knee {limb}.angle")).unwrap();
        let spring = Spring::linear(20.0).with_damping(1.0);
        let name = format!("tendon {limb}");
        model
            .add_force_field(&name, angle, spring, Treatment::Stiffness)
            .unwrap();
    }
    check("ragdoll", model, options(), 0.01, 1e-7);
}

/// A particle on a row of one kind to a fixed point, with a spring to another.
pub(super) fn on_row(row: impl Fn(&mut Model, NodeId)) -> Model {
    let mut model = Model::new();
    model.set_gravity([0.0, 0.0, -9.81]).unwrap();
    let bead = model.add_particles("bead", &[[0.5, 0.0, 0.0]]).unwrap();
    model.add_mass("mass", bead, Mass::Uniform(0.5)).unwrap();
    model.set_velocity(bead, 0, &[true; 3], &[0.0, 0.8, 0.3]).unwrap();
    let length = Distance::to_points(&[(0, [0.0; 3])]).with_rest_lengths(&[0.5]);
    let length = model.add_mapped("length", &[bead], length).unwrap();
    row(&mut model, length);
    let other = Distance::to_points(&[(0, [0.4, 0.5, 0.2])]).with_rest_lengths(&[0.0]);
    let other = model.add_mapped("other", &[bead], other).unwrap();
    let spring = Spring::linear(20.0).with_rest(0.3);
    model
        .add_force_field("spring", other, spring, Treatment::Stiffness)
        .unwrap();
    model
}

/// A spring that stiffens and a dashpot, as rows.
pub(super) fn soft_rows() -> [(&'static str, Model); 2] {
    let stiffening = on_row(|model, length| {
        let law = Spring::stiffening(200.0, 4000.0).with_damping(0.5);
        model
            .add_force_field("row", length, law, Treatment::Compliance)
            .unwrap();
    });
    let viscous = on_row(|model, length| {
        model
            .add_force_field("row", length, Damping::new(3.0), Treatment::Compliance)
            .unwrap();
    });
    [("stiffening", stiffening), ("viscous", viscous)]
}

/// A row of this level that is driven.
pub(super) fn driven_row(level: Level) -> Model {
    on_row(move |model, length| {
        let row = model.add_constraint("row", length, level).unwrap();
        model
            .set_motion(row, Some(PrescribedMotion::sine(0.05, 8.0, 0.3)))
            .unwrap();
    })
}

#[test]
fn rows_of_every_kind() {
    for level in [
        Level::Position,
        Level::Velocity { curvature: 0.0 },
        Level::Baumgarte { rate: 20.0 },
    ] {
        let model = on_row(|model, length| {
            model.add_constraint("row", length, level).unwrap();
        });
        check(&format!("{level:?}"), model, options(), 0.01, 1e-7);
    }
    check("driven", driven_row(Level::Position), options(), 0.01, 1e-7);
    // A winch that cannot pull as hard as it would have to, and one that can; a nonlinear law.
    for most in [1.0, 100.0] {
        let bounded = on_row(|model, length| {
            let law = UniformCompliance::new(1e-4).with_relaxation_time(0.01);
            let row = model
                .add_force_field("row", length, law, Treatment::Compliance)
                .unwrap();
            model.set_bounds(row, -most, most).unwrap();
        });
        check(&format!("bounded by {most}"), bounded, options(), 0.01, 1e-7);
    }
    for (what, row) in soft_rows() {
        check(what, row, options(), 0.01, 1e-7);
    }
}
