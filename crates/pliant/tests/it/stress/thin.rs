//! Sheets and rods: membrane stress, moments of plates, forces in sections.

use pliant::continuum::{Bending, Rod, RodCurve, Section, Sheet, SheetMesh};
use pliant::prelude::*;

/// A sheet pulled along its warp by a large stretch: the force over the section that there is, by
/// the law of St Venant and Kirchhoff, whatever the direction in space.
#[test]
fn a_stretched_sheet_has_the_stress_of_its_law() {
    let (young, poisson, thickness) = (1e5, 0.3, 1e-3);
    for (mesh, cells) in [
        (SheetMesh::rectangle([1.0, 1.0], [3, 2], true), 12),
        (SheetMesh::quadrangles([1.0, 1.0], [3, 2]), 6),
    ] {
        let (along, across, slant) = (1.3, 0.9, 0.2);
        // Standing upright in the plane of y and z.
        let image = |x: &[f64; 3]| [0.0, along * x[0] + slant * x[1], across * x[1]];
        let places: Vec<_> = mesh.nodes.iter().map(image).collect();
        let mut model = Model::new();
        let nodes = model.add_particles("sheet", &places).unwrap();
        let sheet = Sheet::isotropic(young, poisson, thickness).with_warp([1.0, 0.0, 0.0]);
        let parts = sheet.add_on(&mut model, "sheet", nodes, &mesh).unwrap();
        let simulation = Simulation::new(model).unwrap();
        let fields = simulation.sheet_fields(&parts);
        assert_eq!(fields.stress.len(), cells);
        assert!(fields.moment.is_empty());
        // F = ((a, s), (0, c)); E = (F^T F - 1)/2; S of plane stress; F S F^T/J has the invariants
        // of U S U/J, and its equivalent.
        let (a, s, c) = (along, slant, across);
        let e = [0.5 * (a * a - 1.0), 0.5 * (s * s + c * c - 1.0), 0.5 * a * s];
        let d = young / (1.0 - poisson * poisson);
        let second = [
            d * (e[0] + poisson * e[1]),
            d * (e[1] + poisson * e[0]),
            d * (1.0 - poisson) * e[2],
        ];
        let (sa, sb, sab) = (second[0], second[1], second[2]);
        let j = a * c;
        let xx = (a * (a * sa + s * sab) + s * (a * sab + s * sb)) / j;
        let yy = c * c * sb / j;
        let xy = c * (a * sab + s * sb) / j;
        let equivalent = (xx * xx - xx * yy + yy * yy + 3.0 * xy * xy).sqrt();
        for (stress, (found, strain)) in fields.stress.iter().zip(fields.von_mises().zip(&fields.strain)) {
            assert!(
                (stress[0] + stress[1] - xx - yy).abs() < 1e-9 * xx,
                "{stress:?} {xx} {yy}"
            );
            let determinant = stress[0] * stress[1] - stress[2] * stress[2];
            assert!((determinant - xx * yy + xy * xy).abs() < 1e-9 * xx * xx);
            assert!((found / equivalent - 1.0).abs() < 1e-12, "{found} {equivalent}");
            assert!(
                (0..3).all(|k| (strain[k] - e[k]).abs() < 1e-12),
                "{strain:?} {e:?}"
            );
        }
    }
}

/// A strip of shell under a force across its end: moments `F (L - x)/w` along it, and by Poisson's
/// ratio none across, for it may curl.
#[test]
fn a_deflected_shell_has_the_moment_of_its_force() {
    let (length, width, thickness, load) = (1.0, 0.2, 0.01, 1e-4);
    let mesh = SheetMesh::rectangle([length, width], [40, 8], false);
    let held: Vec<usize> = (0..mesh.nodes.len())
        .filter(|k| mesh.nodes[*k][0] == 0.0)
        .collect();
    let mut model = Model::new();
    let sheet = Sheet::isotropic(1e7, 0.0, thickness)
        .with_bending(Bending::Shell)
        .with_warp([1.0, 0.0, 0.0])
        .with_clamped(&held);
    let parts = sheet.add_to(&mut model, "strip", &mesh).unwrap();
    let ends: Vec<usize> = (0..mesh.nodes.len())
        .filter(|k| mesh.nodes[*k][0] == length)
        .collect();
    let mut simulation = Simulation::new(model).unwrap();
    for k in &ends {
        let is_corner = mesh.nodes[*k][1] == 0.0 || mesh.nodes[*k][1] == width;
        let share = load / 8.0 * if is_corner { 0.5 } else { 1.0 };
        simulation.set_force(parts.nodes, *k, &[0.0, 0.0, share]).unwrap();
    }
    simulation.find_equilibrium(&Equilibrium::default()).unwrap();
    let fields = simulation.sheet_fields(&parts);
    assert_eq!(fields.moment.len(), mesh.triangles.len());
    let (mut sum, mut count) = (0.0, 0.0);
    for (t, moment) in mesh.triangles.iter().zip(&fields.moment) {
        let x = t.iter().map(|k| mesh.nodes[*k][0]).sum::<f64>() / 3.0;
        if (0.2..0.8).contains(&x) {
            let exact = load * (length - x) / width;
            // Up at the end: the strip curves towards its upper side.
            let error = moment[0].abs() / exact - 1.0;
            assert!(error.abs() < 0.1, "{x}: {moment:?} {exact}");
            assert!(moment[1].abs() < 0.1 * exact, "{moment:?} {exact}");
            sum += error;
            count += 1.0;
        }
    }
    // The mean over triangles of both kinds is that of the section.
    assert!(f64::abs(sum / count) < 5e-3, "{}", sum / count);
    let sign = fields.moment[20][0].signum();
    assert!(fields.moment.iter().filter(|m| m[0] * sign > 0.0).count() > fields.moment.len() * 9 / 10);
}

/// A cantilever rod along x under forces and a torque at its end: sections have these, and moments
/// of their arms, by compliances and by stiffnesses.
#[test]
fn a_rod_has_the_forces_of_its_sections() {
    let (length, count) = (1.0, 11);
    let points: Vec<[f64; 3]> = (0..count)
        .map(|k| [length * k as f64 / (count - 1) as f64, 0.0, 0.0])
        .collect();
    let curve = RodCurve::through(&points).with_normal([0.0, 1.0, 0.0]);
    for treatment in [Treatment::Compliance, Treatment::Stiffness] {
        let mut model = Model::new();
        let rod = Rod::new(Section::circle(0.02), 1e9, 0.3).with_treatment(treatment);
        let parts = rod.add_to(&mut model, "rod", &curve).unwrap();
        model.fix(parts.frames, 0, &[true; 6]).unwrap();
        let mut simulation = Simulation::new(model).unwrap();
        // Small, so that it hardly bends. Axes 1 and 2 are y and z.
        let load = [3e-3, 1e-3, -2e-3, 4e-3, 0.0, 0.0];
        simulation.set_force(parts.frames, count - 1, &load).unwrap();
        simulation.find_equilibrium(&Equilibrium::default()).unwrap();
        let found = simulation.rod_forces(&parts);
        assert_eq!(found.len(), count - 1);
        for (k, forces) in found.iter().enumerate() {
            // In the middle of the segment.
            let arm = length - length * (k as f64 + 0.5) / (count - 1) as f64;
            let exact = [load[0], load[1], load[2], load[3], -arm * load[2], arm * load[1]];
            for (found, exact) in forces.numbers().iter().zip(exact) {
                assert!(
                    (found - exact).abs() < 2e-6,
                    "{treatment:?} {k}: {forces:?} {exact:?}"
                );
            }
        }
    }
}
