//! The contact of an elastic half-space with a sphere, against Hertz (1882): its surface has the
//! curvature, and a plane presses, which is the same to the first order of the slopes. The contacts
//! of a plane are then at the nodes, where the pressure is read.

use pliant::collision::{Collider, Material, Placement, Shape, World};
use pliant::continuum::{Mesh, Solid};
use pliant::prelude::*;
use std::f64::consts::PI;

const YOUNG: f64 = 1e6;
const POISSON: f64 = 0.3;
/// Radius of the sphere, and how deep it is pressed (m): the patch has a radius of 1 m.
const RADIUS: f64 = 20.0;
const DEPTH: f64 = 0.05;
/// Half of the thickness of the surface of the half-space (m).
const SKIN: f64 = 1e-3;

/// Places along one side of a quarter of the half-space: so many to 1.5 times the patch, then each
/// further apart by half than the one before, to some 30 times of it.
fn places(fine: usize) -> Vec<f64> {
    let step = 1.5 / fine as f64;
    let mut places: Vec<f64> = (0..=fine).map(|k| step * k as f64).collect();
    let (mut at, mut width) = (1.5, step);
    while at < 30.0 {
        width *= 1.5;
        at += width;
        places.push(at);
    }
    places
}

/// Force (N) on the whole half-space, and the pressure (Pa) at the points of the surface with their
/// distances (m) from its middle.
fn press(fine: usize) -> (f64, Vec<(f64, f64)>) {
    let places = places(fine);
    let n = places.len() - 1;
    let mut mesh = Mesh::hexahedral_box([n as f64; 3], [n; 3]).unwrap();
    let least = [0, 1, 2].map(|k| mesh.nodes.iter().fold(f64::INFINITY, |m, p| m.min(p[k])));
    for p in &mut mesh.nodes {
        let at = |k: usize| places[(p[k] - least[k]).round() as usize];
        // The surface is z = 0, the fine cells are at it.
        *p = [at(0), at(1), -places[n - (p[2] - least[2]).round() as usize]];
    }
    let end = places[n];
    let top: Vec<bool> = mesh.nodes.iter().map(|p| p[2] == 0.0).collect();
    for p in &mut mesh.nodes {
        let bend = (p[0] * p[0] + p[1] * p[1]).min(9.0) / (2.0 * RADIUS);
        p[2] -= bend * (1.0 + p[2] / end);
    }
    let mut model = Model::new();
    let parts = Solid::linear(YOUNG, POISSON)
        .with_density(1.0)
        .add_to(&mut model, "ground", &mesh)
        .unwrap();
    for (k, p) in mesh.nodes.iter().enumerate() {
        let far = (0..2).any(|k| p[k] == end) || p[2] == -end;
        let held = [far || p[0] == 0.0, far || p[1] == 0.0, far];
        model.fix(parts.nodes, k, &held).unwrap();
    }
    let surface: Vec<[usize; 3]> = mesh
        .surface()
        .into_iter()
        .filter(|t| t.iter().all(|k| top[*k]))
        .collect();
    let mut world = World::new();
    let material = Material {
        friction: 0.0,
        ..Material::default()
    };
    let slick = world.add_material(material).unwrap();
    let plane = Pose::at([0.0, 0.0, SKIN - DEPTH]);
    let shape = Shape::half_space([0.0, 0.0, -1.0]).unwrap();
    let plane = Collider::new("plane", shape, Placement::Fixed(plane));
    world.add(plane.with_material(slick)).unwrap();
    let shape = Shape::soft_triangles(&surface, SKIN).unwrap();
    let ground = Collider::new("ground", shape, Placement::Points(parts.nodes));
    let ground = world.add(ground.with_material(slick)).unwrap();
    let mut simulation = Simulation::new(model).unwrap();
    simulation.set_contacts(world).unwrap();
    let report = simulation.find_equilibrium(&Equilibrium::default()).unwrap();
    assert!(report.contacts > 0, "{report:?}");
    let forces = simulation.contact_forces(parts.nodes);
    let force = -4.0 * forces.iter().map(|f| f[2]).sum::<f64>();
    let pressures = simulation.contact_pressure(ground.index() as u32).unwrap();
    let found = mesh.nodes.iter().zip(pressures).zip(top);
    let found = found.filter(|(_, top)| *top);
    (force, found.map(|((p, q), _)| (p[0].hypot(p[1]), q)).collect())
}

/// The pressure at the nodes of the surface beside that of Hertz with the same force, over the
/// largest: `a^3 = 3 F R/(4 E')`, `p = 3 F/(2 pi a^2) sqrt(1 - r^2/a^2)`, `E' = E/(1 - nu^2)`. The
/// rim of the patch lies within a cell, across which the pressure of Hertz falls with a vertical
/// tangent: cells of a half and of three eighths of the patch leave 9 and 3 hundredths in the mean.
/// The corner of the quarter is left out: its cell is cut in two triangles, of which its node has
/// one or both, while the element gives it a quarter of the force. Beside the depth the force is that
/// of a half-space whose end, 30 patches away, is held: 1 percent.
#[test]
fn a_ball_presses_as_hertz_has_it() {
    let modulus = YOUNG / (1.0 - POISSON * POISSON);
    for (fine, mean, inside) in [(3, 0.1, 0.06), (4, 0.03, 0.055)] {
        let (force, pressures) = press(fine);
        let exact = 4.0 / 3.0 * modulus * RADIUS.sqrt() * DEPTH.powf(1.5);
        assert!((force / exact - 1.0).abs() < 0.015, "{force} {exact}");
        let patch = (0.75 * force * RADIUS / modulus).cbrt();
        let most = 1.5 * force / (PI * patch * patch);
        let hertz = |r: f64| most * (1.0 - (r / patch).powi(2)).max(0.0).sqrt();
        let near = pressures.iter().filter(|p| p.0 > 0.0 && p.0 < 2.0);
        let errors: Vec<(f64, f64)> = near.map(|(r, p)| (*r, (p - hertz(*r)) / most)).collect();
        let squares: f64 = errors.iter().map(|(_, e)| e * e).sum();
        let found = (squares / errors.len() as f64).sqrt();
        assert!(found < mean, "{fine}: {found} {errors:?}");
        let within = errors.iter().filter(|(r, _)| *r < 0.84 * patch);
        let worst = within.fold(0.0f64, |worst, (_, e)| worst.max(e.abs()));
        assert!(worst > 0.0 && worst < inside, "{fine}: {worst} {errors:?}");
    }
}
