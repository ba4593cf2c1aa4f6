//! Contact pressure against Hertz: a rigid ball that is pressed into an elastic block.

use pliant::collision::{Collider, Material, Placement, Shape, World};
use pliant::continuum::{Mesh, Solid};
use pliant::prelude::*;

const YOUNG: f64 = 1e6;
const POISSON: f64 = 0.3;
const RADIUS: f64 = 4.0;
/// How deep the ball is pressed (m): a contact of about 0.2 m.
const DEPTH: f64 = 0.01;

/// Places from 0: so many even cells over `fine`, then wider ones up to `far`.
fn graded(cells: usize, fine: f64, far: f64) -> Vec<f64> {
    let mut out: Vec<f64> = (0..=cells).map(|k| fine * k as f64 / cells as f64).collect();
    let mut width = fine / cells as f64;
    while out[out.len() - 1] < far {
        width *= 1.8;
        out.push(out[out.len() - 1] + width);
    }
    out
}

/// A quarter of a block around the axis of the ball, its top at z = 0: the contact pressures of the
/// points of its top, with their distances from the axis, and the force of the whole ball.
fn pressed(cells: usize) -> (Vec<(f64, f64)>, f64) {
    let across = graded(cells, 0.3, 2.0);
    let down = graded(cells / 2, 0.3, 2.0);
    let counts = [across.len() - 1, across.len() - 1, down.len() - 1];
    let mut mesh = Mesh::hexahedral_box([1.0; 3], counts).unwrap();
    for x in &mut mesh.nodes {
        let index = |k: usize| (x[k] * counts[k] as f64).round() as usize;
        *x = [across[index(0)], across[index(1)], -down[counts[2] - index(2)]];
    }
    assert_eq!(mesh.defects(), []);
    let mut model = Model::new();
    let solid = Solid::linear(YOUNG, POISSON).with_density(1e-3);
    let nodes = solid.add_to(&mut model, "block", &mesh).unwrap().nodes;
    for (k, x) in mesh.nodes.iter().enumerate() {
        let bottom = x[2] < -1.999;
        model
            .fix(nodes, k, &[x[0] == 0.0 || bottom, x[1] == 0.0 || bottom, bottom])
            .unwrap();
    }
    let triangles: Vec<[usize; 3]> = mesh
        .surface()
        .into_iter()
        .filter(|t| {
            t.iter()
                .all(|k| mesh.nodes[*k][2] == 0.0 && mesh.nodes[*k][0].hypot(mesh.nodes[*k][1]) < 0.45)
        })
        .collect();
    let skin = 1e-3;
    let mut world = World::new();
    let slick = world
        .add_material(Material {
            friction: 0.0,
            ..Material::default()
        })
        .unwrap();
    let ball = Placement::Fixed(Pose::at([0.0, 0.0, RADIUS + skin - DEPTH]));
    world
        .add(Collider::new("ball", Shape::ball(RADIUS).unwrap(), ball).with_material(slick))
        .unwrap();
    let top = Shape::soft_triangles(&triangles, skin).unwrap();
    let side = world
        .add(Collider::new("block", top, Placement::Points(nodes)).with_material(slick))
        .unwrap();
    let mut simulation = Simulation::new(model).unwrap();
    simulation.set_contacts(world).unwrap();
    simulation.find_equilibrium(&Equilibrium::default()).unwrap();
    let pressures = simulation.contact_pressure(side.index() as u32).unwrap();
    let of = |(x, p): (&[f64; 3], &f64)| (x[0].hypot(x[1]), *p);
    // At a corner of the grid the triangles that a point has are not the share of the hexahedra
    // that forces on it are of: left out.
    let inner = mesh
        .nodes
        .iter()
        .zip(&pressures)
        .filter(|(x, _)| x[2] == 0.0 && x[0] > 0.0 && x[1] > 0.0);
    let list = inner.map(of).collect();
    let force: f64 = simulation.contact_forces(nodes).iter().map(|f| -4.0 * f[2]).sum();
    (list, force)
}

/// Hertz (1881): under the force `F` the pressure is `p_0 sqrt(1 - r^2/a^2)` with
/// `a^3 = 3 F R/(4 E*)`, `p_0 = 3 F/(2 pi a^2)`, `E* = E/(1 - nu^2)`. The force is the one that is
/// found, so that the block need not be a half-space for its depth.
#[test]
fn a_ball_presses_as_hertz_has_it() {
    let worst = |cells: usize| {
        let (points, force) = pressed(cells);
        let modulus = YOUNG / (1.0 - POISSON * POISSON);
        let a = (0.75 * force * RADIUS / modulus).cbrt();
        let p0 = 1.5 * force / (std::f64::consts::PI * a * a);
        let exact = |r: f64| p0 * (1.0 - (r / a).powi(2)).max(0.0).sqrt();
        let inside = points.iter().filter(|(r, _)| *r < 0.8 * a);
        let worst = inside
            .map(|(r, p)| (p - exact(*r)).abs() / p0)
            .fold(0.0, f64::max);
        let largest = points.iter().map(|(_, p)| *p).fold(0.0, f64::max) / p0;
        println!("{cells}: a {a} F {force} worst {worst} largest {largest}");
        assert!(points.iter().all(|(r, p)| *p == 0.0 || *r < 1.25 * a));
        (worst, largest)
    };
    let (coarse, fine) = (worst(8), worst(16));
    assert!(fine.0 < 0.06 && fine.0 < coarse.0, "{coarse:?} {fine:?}");
    assert!((fine.1 - 1.0).abs() < 0.05, "{fine:?}");
}
