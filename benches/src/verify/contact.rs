//! D: contact and dry friction of real shapes, from geometry to force.

use super::Checks;
use pliant::collision::{Collider, Material, MaterialId, Placement, Shape, World};
use pliant::prelude::*;
use pliant::solvers::complementarity::{Cone, Lemke, Problem, Solver};

const G: f64 = 9.81;

pub(super) fn run(checks: &mut Checks) -> Result<(), Error> {
    block(checks)?;
    bouncing_ball(checks)?;
    legs(checks)?;
    stack(checks)?;
    capstan(checks)?;
    rolling_ball(checks)?;
    sliding_box(checks)?;
    tipping_box(checks)
}

/// Contacts are solved to this, relative.
fn exactly() -> Options {
    let mut options = Options::theta();
    options.contacts.accuracy = 1e-12;
    options
}

/// A ground `z < 0` and a material for all.
fn grounded(material: Material) -> Result<(World, MaterialId), Error> {
    let mut world = World::new();
    let id = world.add_material(material)?;
    let plane = Shape::half_space([0.0, 0.0, 1.0])?;
    let ground = Collider::new("ground", plane, Placement::Fixed(Pose::default()));
    world.add(ground.with_material(id))?;
    Ok((world, id))
}

fn rough(friction: f64) -> Material {
    Material {
        friction,
        ..Material::default()
    }
}

/// One body with a shape (at a pose in its axes) on the ground.
struct Single {
    mass: RigidMass,
    at: [f64; 3],
    velocity: [f64; 3],
    shape: Shape,
    offset: [f64; 3],
    material: Material,
    gravity: [f64; 3],
}

impl Single {
    fn build(self) -> Result<(Simulation, NodeId), Error> {
        let mut model = Model::new();
        model.set_gravity(self.gravity)?;
        let body = model.add_rigid_bodies("body", &[Pose::at(self.at)])?;
        model.add_mass("mass", body, Mass::Rigid(vec![self.mass]))?;
        model.set_body_velocity(body, 0, self.velocity, [0.0; 3])?;
        let (mut world, id) = grounded(self.material)?;
        let place = Placement::Body {
            node: body,
            element: 0,
            pose: Pose::at(self.offset),
        };
        world.add(Collider::new("body", self.shape, place).with_material(id))?;
        let mut s = Simulation::with_options(model, exactly())?;
        s.set_contacts(world)?;
        Ok((s, body))
    }
}

/// D01: a block that is a point, as a soft point of 5 cm on the plane.
fn point(angle: f64, velocity: f64) -> Result<(Simulation, NodeId), Error> {
    let radius = 0.05;
    let mut model = Model::new();
    // The x axis points up the slope.
    model.set_gravity([-G * angle.sin(), 0.0, -G * angle.cos()])?;
    let node = model.add_particles("block", &[[0.0, 0.0, radius]])?;
    model.add_mass("mass", node, Mass::Uniform(2.0))?;
    let (mut world, id) = grounded(rough(0.5))?;
    let shape = Shape::soft_points(&[0], radius)?;
    world.add(Collider::new("block", shape, Placement::Points(node)).with_material(id))?;
    let mut s = Simulation::with_options(model, exactly())?;
    let mut state = s.state().clone();
    state.velocities[0] = velocity;
    s.set_state(&state)?;
    s.set_contacts(world)?;
    Ok((s, node))
}

/// D01: sticks below the angle of friction, slides above, stops on the flat.
fn block(checks: &mut Checks) -> Result<(), Error> {
    let critical = 0.5f64.atan();
    for (angle, name) in [(critical - 1e-3, "0.462648"), (critical + 1e-3, "0.464648")] {
        let (mut s, node) = point(angle, 0.0)?;
        for _ in 0..100 {
            s.step(0.01)?;
        }
        let key = format!("slide after 100 steps, angle={name}: a h^2 n(n+1)/2");
        checks.against("D01", &key, &s.positions(node)[..1], 1e-12);
    }
    // Of an angle of 0.3 rad, by its numbers.
    let (mut s, node) = point(0.3, 0.0)?;
    s.step(0.01)?;
    let [x, y, z] = s.contact_force(node, 0).0;
    checks.against("D01", "stick forces (n,t1,t2)", &[z, x, y], 1e-11);
    let (mut s, node) = point(0.0, 3.0)?;
    for _ in 0..100 {
        s.step(0.01)?;
    }
    let key = "stopping distance discrete (continuous v0^2/(2 mu g)=0.9174311927)";
    checks.against("D01", key, &s.positions(node)[..1], 1e-12);
    // First order: v falls in whole steps, and the last one is missing: half a step of v0 too
    // short.
    let continuous = checks.references.expected("D01", "stopping distance continuous");
    let what = "stopping distance within a step of v0";
    checks.compare("D01", what, &continuous, &s.positions(node)[..1], 0.03);
    Ok(())
}

/// A ball of 10 cm whose lowest point is at a height.
fn ball(height: f64, speed: f64, gravity: f64, material: Material) -> Result<(Simulation, NodeId), Error> {
    Single {
        mass: RigidMass::sphere(1.0, 0.1),
        at: [0.0, 0.0, 0.1 + height],
        velocity: [0.0, 0.0, -speed],
        shape: Shape::ball(0.1)?,
        offset: [0.0; 3],
        material,
        gravity: [0.0, 0.0, -gravity],
    }
    .build()
}

/// D02: heights after bounces, and that they end at the time of the geometric series.
fn bouncing_ball(checks: &mut Checks) -> Result<(), Error> {
    let material = Material {
        restitution: 0.8,
        ..Material::default()
    };
    let heights = checks.references.expected("D02", "apex n: e^(2n) H");
    let impact = checks.references.expected("D02", "first impact time, velocity");
    let h = 2.5e-4;
    let per_bounce = 3.0 * h * (2.0 * G).sqrt();
    let (mut s, node) = ball(1.0, 0.0, G, material)?;
    let (mut apexes, mut before, mut hit, mut rest) = (Vec::new(), (1.0, 0.0), None, f64::NAN);
    for _ in 0..20_000 {
        let report = s.step(h)?;
        let (z, v) = (s.positions(node)[2] - 0.1, s.velocities(node)[2]);
        if before.1 < 0.0 && v > 0.0 && hit.is_none() {
            hit = Some([report.time, before.1]);
        }
        if before.1 > 0.0 && v <= 0.0 {
            apexes.push(before.0);
        }
        if v.abs() > 1e-9 {
            rest = report.time;
        }
        before = (z, v);
    }
    let hit = hit.unwrap_or([f64::NAN; 2]);
    checks.compare(
        "D02",
        "time of the first impact, h = 1/4000 s",
        &impact[..1],
        &hit[..1],
        2.0 * h,
    );
    checks.compare("D02", "velocity before it", &impact[1..], &hit[1..], 2.0 * h * G);
    let key = "apex 1 within 3 h sqrt(2gH) at h=2.5e-4";
    checks.against("D02", key, &apexes[..1], per_bounce);
    for (k, apex) in heights.iter().enumerate() {
        let what = format!("apex {}, an error of the allowed one per bounce", k + 1);
        let found = apexes.get(k).copied().unwrap_or(f64::NAN);
        checks.compare("D02", what, &[*apex], &[found], (k + 1) as f64 * per_bounce);
    }
    // Each of the 34 bounces until one is shorter than a step errs by up to a step in time and by
    // up to g h in speed, which the later ones carry on: 2/(1 - e) steps.
    checks.against("D02", "Zeno time", &[rest], 34.0 * 11.0 * h);
    let (mut s, node) = ball(0.001, 2.0, 0.0, material)?;
    s.step(0.01)?;
    let key = "impact without gravity: v+ = e*2";
    checks.against("D02", key, &s.velocities(node)[2..3], 1e-14);
    Ok(())
}

/// Corners of the box of D04 seen from its centre of mass.
const LEGS: [[f64; 2]; 4] = [[0.4, 0.35], [0.4, -0.25], [-0.6, 0.35], [-0.6, -0.25]];

/// D04: four legs and the centre of mass beside the middle, as hard rows, compliant contacts, and
/// by pivoting.
fn legs(checks: &mut Checks) -> Result<(), Error> {
    let mass = || RigidMass::cuboid(10.0, [1.0, 0.6, 0.4]);
    let mut model = Model::new();
    model.set_gravity([0.0, 0.0, -G])?;
    let body = model.add_rigid_bodies("box", &[Pose::at([0.0, 0.0, 0.2])])?;
    model.add_mass("mass", body, Mass::Rigid(vec![mass()]))?;
    let feet: Vec<_> = LEGS.iter().map(|[x, y]| (0, [*x, *y, -0.2])).collect();
    let feet = model.add_mapped("feet", &[body], RigidPoints::new(&feet))?;
    let up: Vec<_> = (0..4).map(|k| (k, [0.0, 0.0, 1.0])).collect();
    let heights = model.add_mapped("heights", &[feet], Projection::new(&up))?;
    let rows = model.add_constraint("ground", heights, Level::Position)?;
    let mut s = Simulation::with_options(model, Options::theta())?;
    s.step(0.01)?;
    let key = "min-norm leg forces (C=0, redundant bilateral)";
    checks.against("D04", key, s.reaction(rows), 1e-10);

    for (compliance, name) in [(1e-6, "1e-06"), (1e-9, "1e-09")] {
        let (mut s, body) = Single {
            mass: mass(),
            at: [0.0, 0.0, 0.05],
            velocity: [0.0; 3],
            shape: Shape::cuboid([0.5, 0.3, 0.05])?,
            offset: [-0.1, 0.05, 0.0],
            material: Material {
                compliance,
                ..rough(0.0)
            },
            gravity: [0.0, 0.0, -G],
        }
        .build()?;
        for _ in 0..400 {
            s.step(0.01)?;
        }
        let mut found = [f64::NAN; 4];
        let middle = s.positions(body)[..2].to_vec();
        for c in s.contacts() {
            let corner = [c.contact.point[0] - middle[0], c.contact.point[1] - middle[1]];
            if let Some(k) = LEGS.iter().position(|l| super::distance(l, &corner) < 1e-3) {
                found[k] = c.impulse[2] / 0.01;
            }
        }
        let key = format!("compliant legs C={name} settle to the same");
        checks.against("D04", &key, &found, 500.0 * compliance + 1e-8);
    }

    // One of many vertices: only the sums are known.
    let (m, [ix, iy, _]) = (10.0, [0, 1, 2].map(|k| mass().inertia[k][k]));
    let entry = |a: &[f64; 2], b: &[f64; 2]| 1.0 / m + a[1] * b[1] / ix + a[0] * b[0] / iy;
    let a: Vec<f64> = LEGS
        .iter()
        .flat_map(|p| LEGS.iter().map(move |q| entry(p, q)))
        .collect();
    let problem = Problem::dense(&a, &[-G; 4], &[Cone::NonNegative; 4]).map_err(Error::Contacts)?;
    let mut r = [0.0; 4];
    Lemke::default()
        .solve(&problem, &mut r)
        .map_err(Error::Contacts)?;
    let moment = |k: usize, centre: f64| r.iter().zip(LEGS).map(|(r, l)| r * (l[k] + centre)).sum::<f64>();
    let sums = [r.iter().sum(), moment(0, 0.1), moment(1, -0.05)];
    checks.against("D04", "LCP vertex solution: sum and moments only", &sums, 1e-9);
    Ok(())
}

/// D04: three boxes on each other: each corner carries a quarter of what is above; where contacts
/// are hard, each face all of it (how its corners share is not determined).
fn stack(checks: &mut Checks) -> Result<(), Error> {
    let key = "stack: per-corner force (n-i) m g/4";
    // Heights of up to 2.5 m are known to their rounding, which over the compliance is a force
    // (6e-9 N).
    let compliance = 1e-7;
    let corners = tower(compliance, 60)?;
    checks.against("D04", key, &corners, 2.5 * f64::EPSILON / compliance);
    let faces = |corners: &[f64]| -> Vec<f64> { corners.chunks(4).map(|c| c.iter().sum()).collect() };
    let expected = faces(&checks.references.expected("D04", key));
    let what = "stack of hard boxes: force of each face";
    checks.compare("D04", what, &expected, &faces(&tower(0.0, 10)?), 1e-9);
    Ok(())
}

/// Normal forces of the corners of three boxes after some steps, from below.
fn tower(compliance: f64, steps: usize) -> Result<Vec<f64>, Error> {
    let poses: Vec<Pose> = (0..3).map(|k| Pose::at([0.0, 0.0, 0.5 + f64::from(k)])).collect();
    let mut model = Model::new();
    model.set_gravity([0.0, 0.0, -G])?;
    let node = model.add_rigid_bodies("boxes", &poses)?;
    let mass = RigidMass::cuboid(10.0, [1.0; 3]);
    model.add_mass("mass", node, Mass::Rigid(vec![mass; 3]))?;
    let (mut world, id) = grounded(Material {
        compliance,
        ..rough(0.5)
    })?;
    for element in 0..3 {
        let place = Placement::Body {
            node,
            element,
            pose: Pose::default(),
        };
        let name = format!("box {element}");
        world.add(Collider::new(&name, Shape::cuboid([0.5; 3])?, place).with_material(id))?;
    }
    let mut s = Simulation::with_options(model, exactly())?;
    s.set_contacts(world)?;
    for _ in 0..steps {
        s.step(0.01)?;
    }
    let corners = s.contacts().iter();
    let mut corners: Vec<_> = corners
        .map(|c| (c.contact.point[2].round() as i64, c.impulse[2] / 0.01))
        .collect();
    corners.sort_by_key(|c| c.0);
    Ok(corners.iter().map(|c| c.1).collect())
}

/// A rope of `n` soft points half around a fixed cylinder, pulled with 1 N at its first point and
/// with `pull` at its last; how fast (m/s) it goes after a step of 0.01 s, and how many points
/// slip.
fn rope(n: usize, pull: f64) -> Result<(f64, usize), Error> {
    let (cylinder, radius) = (1.0, 0.01);
    let turn = std::f64::consts::PI / n as f64;
    let angle = |k: f64| turn * (k + 0.5);
    let points: Vec<[f64; 3]> = (0..n)
        .map(|k| angle(k as f64))
        .map(|a| [(cylinder + radius) * a.cos(), (cylinder + radius) * a.sin(), 0.0])
        .collect();
    let mut model = Model::new();
    let node = model.add_particles("rope", &points)?;
    model.add_mass("mass", node, Mass::Uniform(1.0))?;
    let pairs: Vec<_> = (1..n)
        .map(|k| (End::element(0, k), End::element(0, k - 1)))
        .collect();
    let length = 2.0 * (cylinder + radius) * (0.5 * turn).sin();
    let lengths = Distance::new(&pairs).with_rest_lengths(&[length]);
    let lengths = model.add_mapped("lengths", &[node], lengths)?;
    model.add_constraint("inextensible", lengths, Level::Position)?;
    let (mut world, id) = (World::new(), MaterialId::default());
    world.set_pair(id, id, rough(0.3))?;
    let shape = Shape::cylinder(0.5, cylinder)?;
    world.add(Collider::new(
        "cylinder",
        shape,
        Placement::Fixed(Pose::default()),
    ))?;
    let all: Vec<usize> = (0..n).collect();
    let shape = Shape::soft_points(&all, radius)?;
    world.add(Collider::new("rope", shape, Placement::Points(node)))?;
    let mut s = Simulation::with_options(model, exactly())?;
    s.set_contacts(world)?;
    // The ends leave along the next chords.
    let chord = |a: f64| [a.sin(), -a.cos(), 0.0];
    s.set_force(node, 0, &chord(0.0))?;
    let end = chord(std::f64::consts::PI).map(|x| -pull * x);
    s.set_force(node, n - 1, &end)?;
    let report = s.step(0.01)?;
    let (v, a) = (s.velocities(node), angle(0.0));
    Ok((v[1] * a.cos() - v[0] * a.sin(), report.contacts.slipping))
}

/// D05: which pull makes it slip, from two above it (the speed is linear in the pull); on either
/// side of the polygon's value.
fn capstan(checks: &mut Checks) -> Result<(), Error> {
    for n in [4, 16, 64, 256] {
        let key = format!("T2/T1, n={n} nodes");
        let threshold = checks.references.expected("D05", &key)[0];
        let (below, above) = (rope(n, 0.999 * threshold)?, rope(n, 1.001 * threshold)?);
        let key_of = |share: &str| format!("node at {share} of the threshold slips?");
        let slips = |found: usize| f64::from(u8::from(found == n));
        let some = |found: usize| f64::from(u8::from(found > 0));
        checks.against("D05", &key_of("0.999"), &[some(below.1)], 0.0);
        checks.against("D05", &key_of("1.001"), &[slips(above.1)], 0.0);
        let further = rope(n, 1.002 * threshold)?;
        let found = 1.001 - 0.001 * above.0 / (further.0 - above.0);
        checks.against("D05", &key, &[found * threshold], 1e-8);
        if n == 256 {
            // The polygon's excess falls with n^-2: 1.2e-5 of it.
            let key = "continuum e^{mu pi}";
            checks.against("D05", key, &[found * threshold], 5e-5);
        }
    }
    Ok(())
}

/// D08: a ball that slides comes to roll.
fn rolling_ball(checks: &mut Checks) -> Result<(), Error> {
    let h = 0.001;
    let (mut s, node) = Single {
        mass: RigidMass::sphere(1.0, 0.1),
        at: [0.0, 0.0, 0.1],
        velocity: [2.0, 0.0, 0.0],
        shape: Shape::ball(0.1)?,
        offset: [0.0; 3],
        material: rough(0.2),
        gravity: [0.0, 0.0, -G],
    }
    .build()?;
    let (mut rolls, mut way) = (f64::NAN, f64::NAN);
    for k in 0..400 {
        let report = s.step(h)?;
        if k == 99 {
            let (v, w) = s
                .world_velocity(node, 0)
                .unwrap_or(([f64::NAN; 3], [f64::NAN; 3]));
            checks.against(
                "D08",
                "slipping: v, omega_y after 100 steps",
                &[v[0], w[1]],
                1e-11,
            );
        }
        if rolls.is_nan() && report.contacts.slipping == 0 {
            (rolls, way) = (report.time, s.positions(node)[0]);
        }
    }
    let (v, w) = s
        .world_velocity(node, 0)
        .unwrap_or(([f64::NAN; 3], [f64::NAN; 3]));
    let key = "rolling: v=5/7 v0, omega=v/R";
    checks.against("D08", key, &[v[0], w[1]], 1e-11);
    let key = "roll time 2 v0/(7 mu g), final v, distance 12 v0^2/(49 mu g)";
    let expected = checks.references.expected("D08", key);
    checks.compare(
        "D08",
        "time until it rolls, to a step",
        &expected[..1],
        &[rolls],
        h,
    );
    checks.compare("D08", "final speed", &expected[1..2], &v[..1], 1e-11);
    checks.compare(
        "D08",
        "distance until it rolls, to a step of v0",
        &expected[2..],
        &[way],
        2.0 * h,
    );
    Ok(())
}

/// A box on a slope that falls along x.
fn on_slope(half: [f64; 3], friction: f64, angle: f64) -> Result<(Simulation, NodeId), Error> {
    Single {
        mass: RigidMass::cuboid(10.0, half.map(|x| 2.0 * x)),
        at: [0.0, 0.0, half[2]],
        velocity: [0.0; 3],
        shape: Shape::cuboid(half)?,
        offset: [0.0; 3],
        material: rough(friction),
        gravity: [G * angle.sin(), 0.0, -G * angle.cos()],
    }
    .build()
}

/// D11: slides down with more load in front.
fn sliding_box(checks: &mut Checks) -> Result<(), Error> {
    let (mut s, node) = on_slope([0.5, 0.3, 0.2], 0.3, 25f64.to_radians())?;
    for _ in 0..5 {
        s.step(0.01)?;
    }
    let speed = &s.velocities(node)[..1];
    checks.against(
        "D11",
        "COM speed after 5 steps: n h g (sin - mu cos)",
        speed,
        1e-10,
    );
    let x = s.positions(node)[0];
    let of = |front: bool, axis: usize| -> f64 {
        let contacts = s.contacts().iter();
        let side = contacts.filter(|c| (c.contact.point[0] > x) == front);
        side.map(|c| c.impulse[axis] / 0.01).sum()
    };
    let key = "front / back pair normal force N/2 (1 +- mu hc/a)";
    checks.against("D11", key, &[of(true, 2), of(false, 2)], 1e-7);
    let friction = of(true, 0) + of(false, 0);
    checks.against("D11", "total friction = -mu N", &[friction], 1e-7);
    Ok(())
}

/// D11: tips over the front edge at `tan(angle) = a/h_c`.
fn tipping_box(checks: &mut Checks) -> Result<(), Error> {
    let critical = 0.4f64.atan();
    for (angle, name) in [(critical - 0.02, "20.655494"), (critical + 0.02, "22.947325")] {
        let (mut s, node) = on_slope([0.2, 0.3, 0.5], 0.8, angle)?;
        s.step(0.01)?;
        let key = format!("angular speed about y after one step, angle {name} deg");
        checks.against("D11", &key, &s.velocities(node)[4..5], 1e-10);
    }
    Ok(())
}
