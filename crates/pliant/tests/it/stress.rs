//! Stress and strain against closed forms: affine motions, bars, beams, cylinders, Cook's membrane.

mod solids;
mod thin;

use crate::solids::patch;
use pliant::continuum::{
    ElementKind, Incompressibility, Mesh, Plasticity, Solid, SolidFields, SolidParts, StrainEnergy, pressure,
    von_mises,
};
use pliant::dense::Mat3;
use pliant::prelude::*;

const YOUNG: f64 = 1e4;
const POISSON: f64 = 0.3;
const SHEAR: f64 = YOUNG / (2.0 * (1.0 + POISSON));
const LAME: f64 = YOUNG * POISSON / ((1.0 + POISSON) * (1.0 - 2.0 * POISSON));

/// A rotation by a third of a turn about (1, 1, 1)/sqrt 3, times a stretch: none of them small.
fn motion() -> (Mat3, Mat3) {
    let turn = Mat3::new(0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0);
    let stretch = Mat3::new(1.2, 0.1, -0.05, 0.1, 0.9, 0.07, -0.05, 0.07, 1.1);
    (turn, stretch)
}

fn numbers(m: &Mat3) -> [f64; 6] {
    [m[(0, 0)], m[(1, 1)], m[(2, 2)], m[(0, 1)], m[(1, 2)], m[(2, 0)]]
}

fn off(found: &[f64; 6], exact: &[f64; 6]) -> f64 {
    (0..6).map(|k| (found[k] - exact[k]).abs()).fold(0.0, f64::max)
}

/// The fields of a mesh in the motion `x = F X`, as it begins.
fn moved(solid: &Solid, mesh: &Mesh, f: &Mat3) -> (SolidFields, SolidParts) {
    let image = |x: &[f64; 3]| -> [f64; 3] { (f * pliant::dense::Vec3::from(*x)).into() };
    let places: Vec<_> = mesh.nodes.iter().map(image).collect();
    let mut model = Model::new();
    let nodes = model.add_particles("cube", &places).unwrap();
    let parts = solid.add_on(&mut model, "cube", nodes, mesh).unwrap();
    let simulation = Simulation::new(model).unwrap();
    (simulation.solid_fields(&parts), parts)
}

/// Principal stretches along the axes of a symmetric matrix, by an independent series: the
/// logarithm of `1 + x` summed until it stands.
fn logarithm(stretch: &Mat3) -> Mat3 {
    let x = stretch - Mat3::identity();
    let (mut power, mut sum) = (x, Mat3::zeros());
    for k in 1..200 {
        let sign = if k % 2 == 1 { 1.0 } else { -1.0 };
        sum += power * (sign / f64::from(k));
        power *= x;
    }
    sum
}

/// `tr(m) lame + 2 mu m`.
fn hooke(m: &Mat3) -> Mat3 {
    Mat3::identity() * (LAME * m.trace()) + m * (2.0 * SHEAR)
}

/// Every kind of element and every law, in a motion with large strains and a large rotation: the
/// stress of the law written out, at quadrature points, at nodes and of elements.
#[test]
fn stress_of_an_affine_motion_is_that_of_the_law() {
    let (r, u) = motion();
    let f = r * u;
    let j = f.determinant();
    let green = (f.transpose() * f - Mat3::identity()) * 0.5;
    let left = f * f.transpose();
    let one = Mat3::identity();
    let (c1, c2, bulk) = (2e3, 1e3, 2e4);
    let cauchy = |p: Mat3| p * f.transpose() / j;
    // Biot's stress is on U: P = R S + R [y], of which the isotropic law leaves R S.
    let mooney = |with_volume: bool| {
        let b = left * j.powf(-2.0 / 3.0);
        let first = b.trace();
        let shape = b * (2.0 * (c1 + c2 * first)) - b * b * (2.0 * c2);
        let volume = if with_volume { bulk * (j - 1.0) } else { 0.0 };
        (shape - one * (shape.trace() / 3.0)) / j + one * volume
    };
    let rubber = StrainEnergy::MooneyRivlin { c1, c2, bulk };
    let stable = {
        let (m, l) = (4.0 * SHEAR / 3.0, LAME + 5.0 * SHEAR / 6.0);
        let (first, a) = (left.trace(), 1.0 + 3.0 * m / (4.0 * l));
        left * (m * (1.0 - 1.0 / (first + 1.0)) / j) + one * (l * (j - a))
    };
    let laws = [
        (
            Solid::linear(YOUNG, POISSON),
            hooke(&((f + f.transpose()) * 0.5 - one)),
        ),
        (Solid::corotational(YOUNG, POISSON), cauchy(r * hooke(&(u - one)))),
        (
            Solid::st_venant_kirchhoff(YOUNG, POISSON),
            cauchy(f * hooke(&green)),
        ),
        (
            Solid::hyperelastic(StrainEnergy::neo_hookean(YOUNG, POISSON)),
            ((left - one) * SHEAR + one * (LAME * j.ln())) / j,
        ),
        (
            Solid::hyperelastic(StrainEnergy::stable_neo_hookean(YOUNG, POISSON)),
            stable,
        ),
        (
            Solid::hyperelastic(StrainEnergy::corotational(YOUNG, POISSON)),
            cauchy(r * hooke(&(u - one))),
        ),
        (Solid::hyperelastic(rubber), mooney(true)),
    ];
    for (solid, exact) in laws {
        let is_linear = solid == Solid::linear(YOUNG, POISSON);
        let exact = numbers(&exact);
        let strain = if is_linear {
            (f + f.transpose()) * 0.5 - one
        } else {
            r * logarithm(&u) * r.transpose()
        };
        for kind in ElementKind::ALL {
            let mesh = patch(kind);
            let (fields, parts) = moved(&solid, &mesh, &f);
            let nodes = parts.recovery.nodes(&fields.stress, &parts.volumes);
            let means = parts.recovery.means(&fields.stress, &parts.volumes);
            assert_eq!(
                (nodes.len(), means.len()),
                (mesh.nodes.len(), mesh.elements.len())
            );
            for found in fields.stress.iter().chain(&nodes).chain(&means) {
                assert!(
                    off(found, &exact) < 1e-8,
                    "{kind:?} {solid:?}: {found:?} {exact:?}"
                );
            }
            for found in &fields.strain {
                assert!(off(found, &numbers(&strain)) < 1e-12, "{kind:?} {found:?}");
            }
            assert!(fields.plastic_strain.is_empty());
        }
    }
}

/// Equivalents of simple stresses.
#[test]
fn equivalents_of_tension_shear_and_pressure() {
    assert!((von_mises(&[3.0, 0.0, 0.0, 0.0, 0.0, 0.0]) - 3.0).abs() < 1e-15);
    assert!((von_mises(&[0.0, 0.0, 0.0, 0.0, 2.0, 0.0]) - 2.0 * 3f64.sqrt()).abs() < 1e-15);
    assert!(von_mises(&[-5.0, -5.0, -5.0, 0.0, 0.0, 0.0]) < 1e-15);
    assert_eq!(pressure(&[-1.0, -2.0, -6.0, 9.0, 9.0, 9.0]), 3.0);
}

/// A unit cube of two cells between planes of symmetry, pulled along x by a force, at rest.
fn pulled(solid: Solid, force: f64) -> (Simulation, SolidParts) {
    let mesh = Mesh::hexahedral_box([1.0; 3], [2, 1, 1]).unwrap();
    let mut model = Model::new();
    let parts = solid.with_density(1e-6).add_to(&mut model, "bar", &mesh).unwrap();
    for (k, x) in mesh.nodes.iter().enumerate() {
        model.fix(parts.nodes, k, &x.map(|x| x == 0.0)).unwrap();
    }
    let mut simulation = Simulation::new(model).unwrap();
    for (k, _) in mesh.nodes.iter().enumerate().filter(|(_, x)| x[0] == 1.0) {
        simulation
            .set_force(parts.nodes, k, &[0.25 * force, 0.0, 0.0])
            .unwrap();
    }
    simulation.find_equilibrium(&Equilibrium::default()).unwrap();
    (simulation, parts)
}

/// The stretches along and across a bar at rest.
fn stretches(simulation: &Simulation, parts: &SolidParts) -> [f64; 2] {
    let f = &simulation.positions(parts.gradients)[..9];
    [f[0], f[4]]
}

/// A bar in tension: the stress is the force over the area that there is, whatever the law and
/// however its volume is kept; strains are those of Hooke, or the logarithms of the stretches.
#[test]
fn a_bar_has_the_stress_of_its_force() {
    let rubber = StrainEnergy::MooneyRivlin {
        c1: 1e3,
        c2: 5e2,
        bulk: 1e5,
    };
    let stiff = StrainEnergy::MooneyRivlin {
        c1: 1e3,
        c2: 5e2,
        bulk: 1e9,
    };
    let rows = Incompressibility::PerElement;
    let neo = StrainEnergy::neo_hookean(YOUNG, POISSON);
    for (solid, force) in [
        (Solid::linear(YOUNG, POISSON), 500.0),
        (
            Solid::linear(YOUNG, POISSON).with_treatment(Treatment::Compliance),
            500.0,
        ),
        (Solid::linear(YOUNG, 0.5).with_incompressibility(rows), 500.0),
        (Solid::corotational(YOUNG, POISSON), 3000.0),
        (
            Solid::corotational(YOUNG, 0.5).with_incompressibility(rows),
            3000.0,
        ),
        (Solid::st_venant_kirchhoff(YOUNG, POISSON), 3000.0),
        (Solid::hyperelastic(neo), 8000.0),
        (Solid::hyperelastic(rubber), 8000.0),
        (Solid::hyperelastic(stiff).with_incompressibility(rows), 5000.0),
    ] {
        let (simulation, parts) = pulled(solid, force);
        let fields = simulation.solid_fields(&parts);
        let [along, across] = stretches(&simulation, &parts);
        let area = if parts.small_strains { 1.0 } else { across * across };
        let exact = force / area;
        for (stress, strain) in fields.stress.iter().zip(&fields.strain) {
            let rest = off(stress, &[exact, 0.0, 0.0, 0.0, 0.0, 0.0]);
            assert!(rest < 1e-7 * exact, "{solid:?}: {stress:?} {exact}");
            assert!((von_mises(stress) / exact - 1.0).abs() < 1e-7);
            assert!((pressure(stress) / exact + 1.0 / 3.0).abs() < 1e-7);
            let expected = if parts.small_strains {
                [along - 1.0, across - 1.0]
            } else {
                [along.ln(), across.ln()]
            };
            assert!((strain[0] - expected[0]).abs() < 1e-12 && (strain[1] - expected[1]).abs() < 1e-12);
            if parts.small_strains {
                assert!((strain[0] - force / YOUNG).abs() < 1e-9, "{strain:?}");
            }
        }
        // Mooney and Rivlin's bar, incompressible: `sigma = 2 (l^2 - 1/l) (c1 + c2/l)`.
        if solid == Solid::hyperelastic(stiff).with_incompressibility(rows) {
            let closed = 2.0 * (along * along - 1.0 / along) * (1e3 + 5e2 / along);
            // The volume gives by `p/k`, 4e-6.
            assert!((exact / closed - 1.0).abs() < 1e-4, "{exact} {closed}");
        }
        if solid == Solid::hyperelastic(neo) {
            let j = along * across * across;
            let closed = (SHEAR * (along * along - 1.0) + LAME * j.ln()) / j;
            assert!(
                (exact / closed - 1.0).abs() < 1e-8 && along > 1.5,
                "{exact} {closed}"
            );
        }
    }
}

/// A metal beyond its yield stress: the plastic strain of linear hardening.
#[test]
fn a_bar_that_yields_has_the_plastic_strain_of_hardening() {
    let law = Plasticity::perfect(40.0)
        .with_isotropic_hardening(300.0)
        .with_kinematic_hardening(500.0);
    let (simulation, parts) = pulled(Solid::linear(YOUNG, POISSON).with_plasticity(law), 60.0);
    let fields = simulation.solid_fields(&parts);
    assert_eq!(fields.plastic_strain.len(), 16);
    for (stress, plastic) in fields.stress.iter().zip(&fields.plastic_strain) {
        assert!((plastic - 20.0 / 800.0).abs() < 1e-10, "{plastic}");
        assert!((von_mises(stress) - 60.0).abs() < 1e-6, "{stress:?}");
    }
}

/// A block that spins and swings, in any integrator: the stress is that of its strain at the end of
/// each step, not of another moment or direction.
#[test]
fn stress_is_that_of_the_present_state() {
    let mesh = Mesh::hexahedral_box([1.0, 0.2, 0.2], [4, 1, 1]).unwrap();
    for integrator in [
        Integrator::Sdirk2,
        Integrator::Theta,
        Integrator::Nonlinear,
        Integrator::bdf2(),
        Integrator::EnergyMomentum,
        Integrator::RungeKutta4,
    ] {
        let spin = |x: &[f64; 3]| [-8.0 * x[1], 8.0 * x[0], 0.0];
        let velocities: Vec<f64> = mesh.nodes.iter().flat_map(spin).collect();
        let mut model = Model::new();
        let places = mesh.nodes.as_flattened();
        let nodes = model
            .add_independent("bar", Space::Real(3), places, &velocities)
            .unwrap();
        let solid = Solid::st_venant_kirchhoff(1e5, 0.3);
        let parts = solid.add_on(&mut model, "bar", nodes, &mesh).unwrap();
        let options = Options {
            integrator: integrator.clone(),
            ..Options::default()
        };
        let mut simulation = Simulation::with_options(model, options).unwrap();
        for _ in 0..20 {
            simulation.step(1e-3).unwrap();
            let fields = simulation.solid_fields(&parts);
            let gradients = simulation.positions(parts.gradients).as_chunks::<9>().0;
            for (f, found) in gradients.iter().zip(&fields.stress) {
                let f = Mat3::from_row_slice(f);
                let green = (f.transpose() * f - Mat3::identity()) * 0.5;
                let second = hooke(&green) * (1e5 / YOUNG);
                let exact = f * second * f.transpose() / f.determinant();
                let size = exact.norm().max(1.0);
                assert!(
                    off(found, &numbers(&exact)) < 1e-9 * size,
                    "{integrator:?} {found:?} {exact}"
                );
            }
        }
        assert!(von_mises(&simulation.solid_fields(&parts).stress[0]) > 100.0);
    }
}

/// An element that is inside out has a stress where its law has one, and no logarithm.
#[test]
fn an_inverted_element_has_no_logarithmic_strain() {
    let mesh = Mesh::hexahedral_box([1.0; 3], [1; 3]).unwrap();
    let mirror = Mat3::from_diagonal(&pliant::dense::Vec3::new(-0.5, 1.0, 1.0));
    let (fields, _) = moved(&Solid::corotational(YOUNG, POISSON), &mesh, &mirror);
    assert!(fields.strain.iter().flatten().all(|x| x.is_nan()));
    assert!(fields.stress.iter().flatten().all(|x| x.is_finite()));
}
