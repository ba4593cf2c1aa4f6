//! Rubber at rest under dead loads: blocks of finite elements against the stresses of Ogden (1972).

use pliant::continuum::{Incompressibility, Mesh, Solid, StrainEnergy};
use pliant::prelude::*;

/// Treloar's rubber (Ogden 1972): `mu_p` (Pa), `alpha_p` (none).
const TRELOAR: [[f64; 2]; 3] = [[6.3e5, 1.3], [1.2e3, 5.0], [-1e4, -2.0]];

/// The state of stress of a block, by the power of the stretch by which its thickness changes:
/// `-1/2`, `-2`, `-1`.
#[derive(Clone, Copy, Debug)]
enum Test {
    Tension,
    Equibiaxial,
    PureShear,
}

impl Test {
    /// `sum_p mu_p (l^(alpha_p - 1) - l^(-1 - m alpha_p))` (Pa) per area at rest.
    fn stress(self, l: f64) -> f64 {
        let m = -self.thickness();
        let of = |[mu, alpha]: [f64; 2]| mu * (l.powf(alpha - 1.0) - l.powf(-1.0 - m * alpha));
        TRELOAR.into_iter().map(of).sum()
    }

    fn thickness(self) -> f64 {
        match self {
            Self::Tension => -0.5,
            Self::Equibiaxial => -2.0,
            Self::PureShear => -1.0,
        }
    }

    /// Stretches along the axes.
    fn stretches(self, l: f64) -> [f64; 3] {
        let thin = l.powf(self.thickness());
        match self {
            Self::Tension => [l, thin, thin],
            Self::Equibiaxial => [l, l, thin],
            Self::PureShear => [l, 1.0, thin],
        }
    }
}

/// The unit cube of 2 x 2 x 2 cells at rest under the stress (Pa) of the test, without change of
/// volume; the largest distance of a node from its place under the stretch `l`.
fn off(test: Test, l: f64) -> f64 {
    let mesh = Mesh::hexahedral_box([1.0; 3], [2; 3]).unwrap();
    let mut model = Model::new();
    // Infinite against change of volume: its rows are hard.
    let energy = StrainEnergy::ogden(&TRELOAR, f64::INFINITY).unwrap();
    let solid = Solid::hyperelastic(energy).with_incompressibility(Incompressibility::PerElement);
    let parts = solid.add_to(&mut model, "block", &mesh).unwrap();
    let mut load = Vec::new();
    for (k, x) in mesh.nodes.iter().enumerate() {
        let held = matches!(test, Test::PureShear);
        let planes = [x[0] == 0.0, x[1] == 0.0 || held, x[2] == 0.0];
        model.fix(parts.nodes, k, &planes).unwrap();
        for axis in 0..3 {
            let pulled = axis == 0 || axis == 1 && matches!(test, Test::Equibiaxial);
            if pulled && x[axis] == 1.0 {
                // Trapezoidal weights over the face.
                let weight = |j: usize| match x[j] {
                    0.5 => 0.5,
                    _ => 0.25,
                };
                load.push(AffineEntry {
                    element: 0,
                    coordinate: 0,
                    from: Dependency::new(0, k),
                    from_coordinate: axis,
                    value: (0..3).filter(|j| *j != axis).map(weight).product(),
                });
            }
        }
    }
    let load = Affine::new(1, &[0.0], &load);
    let along = model.add_mapped("along", &[parts.nodes], load).unwrap();
    let load = ConstantForce::new(&[test.stress(l)]);
    model
        .add_force_field("load", along, load, Treatment::Stiffness)
        .unwrap();
    let mut simulation = Simulation::new(model).unwrap();
    let report = simulation.find_equilibrium(&Equilibrium::default()).unwrap();
    assert_eq!(report.negative_modes, Some(0), "{test:?} {l}");
    println!("{test:?} {l}: {} iterations", report.iterations);
    let s = test.stretches(l);
    let places = simulation.positions(parts.nodes).chunks(3);
    let apart = mesh
        .nodes
        .iter()
        .zip(places)
        .map(|(rest, x)| (0..3).map(|k| (x[k] - s[k] * rest[k]).abs()).fold(0.0, f64::max));
    apart.fold(0.0, f64::max)
}

#[test]
fn blocks_of_rubber_are_stretched_as_ogden_says() {
    for test in [Test::Tension, Test::Equibiaxial, Test::PureShear] {
        for l in [1.2, 2.0, 4.0] {
            let off = off(test, l);
            println!("{test:?} {l}: off by {off:e} m");
            // A homogeneous state is exact in the elements; equilibria are found to 1e-9 of the
            // forces.
            assert!(off < 1e-8, "{test:?} {l}: {off}");
        }
    }
}

/// Damping in proportion to the stiffness acts on changes of shape alone: a free block that spins
/// keeps its angular momentum to the order of the method, whatever its law. The stress of a
/// deformation gradient was a part of the damping, by which `dL/dt = -b w^2 L`: a quarter in half a
/// second.
#[test]
fn damping_in_proportion_to_the_stiffness_exerts_no_torque() {
    use pliant::model::Rayleigh;
    for energy in [
        StrainEnergy::neo_hookean(1e5, 0.3),
        StrainEnergy::hencky(1e5, 0.3),
    ] {
        let mesh = Mesh::hexahedral_box([0.4, 0.3, 0.2], [1; 3]).unwrap();
        let mut model = Model::new();
        let solid = Solid::hyperelastic(energy).with_density(1000.0);
        let parts = solid.add_to(&mut model, "block", &mesh).unwrap();
        let (w, centre) = (8.0, [0.2, 0.15, 0.1]);
        for (k, x) in mesh.nodes.iter().enumerate() {
            let v = [-w * (x[1] - centre[1]), w * (x[0] - centre[0]), 0.0];
            model.set_velocity(parts.nodes, k, &[true; 3], &v).unwrap();
        }
        let damping = Rayleigh {
            mass: 0.0,
            stiffness: 0.01,
        };
        model.set_rayleigh(damping).unwrap();
        let model = std::sync::Arc::new(model);
        let lost = |steps: usize| {
            let mut s = Simulation::new(model.clone()).unwrap();
            let spin = |s: &Simulation| s.model().momentum(s.state()).angular[2];
            let start = spin(&s);
            for _ in 0..steps {
                s.step(0.5 / steps as f64).unwrap();
            }
            (1.0 - spin(&s) / start).abs()
        };
        let (long, short) = (lost(100), lost(200));
        assert!(long < 1e-3 && short < long / 3.0, "{long} {short}");
    }
}
