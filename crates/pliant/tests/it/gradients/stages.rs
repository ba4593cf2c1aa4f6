//! Derivatives of steps of SDIRK2: of two stages with deformations of their own, and a projection.

use super::steps::{beam, chain, check, hanging, net, on_row};
use crate::four_bars::row_of_loops;
use pliant::continuum::{Incompressibility, Rod, Section, Sheet, SheetMesh, Solid, StrainEnergy};
use pliant::prelude::*;

/// Options of steps of two stages, solved to rounding.
fn options() -> Options {
    let mut options = super::options();
    options.integrator = Integrator::Sdirk2;
    options.tuning.newton.exact_stages = true;
    // Differences are those of one step: none is halved, or refused, for its energy.
    options.accuracy = Some(Accuracy::Measured);
    options.tuning.newton.stage_halvings = 0;
    options
}

#[test]
fn springs() {
    for treatment in [Treatment::Stiffness, Treatment::Compliance] {
        for damping in [0.0, 0.3] {
            let what = format!("net, {treatment:?}, {damping}");
            check(&what, net(treatment, damping), options(), 0.01, 1e-7);
        }
    }
}

#[test]
fn chains() {
    check("chain", chain(5), options(), 0.01, 1e-7);
}

#[test]
fn loops() {
    check("loops", row_of_loops(2), options(), 0.01, 1e-7);
}

#[test]
fn rods() {
    let rod = Rod::new(Section::circle(2e-3), 1e8, 0.3).with_density(1200.0);
    for rod in [rod, rod.inextensible(), rod.with_relaxation_time(0.02)] {
        check("rod", hanging(&rod), options(), 0.01, 1e-7);
    }
}

#[test]
fn solids() {
    let stable = StrainEnergy::stable_neo_hookean(1e5, 0.3);
    for (what, solid) in [
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
            "incompressible",
            Solid::corotational(1e5, 0.5).with_incompressibility(Incompressibility::PerElement),
        ),
    ] {
        check(what, beam(&solid), options(), 0.02, 1e-7);
    }
}

#[test]
fn sheets() {
    let mesh = SheetMesh::rectangle([0.3, 0.3], [3, 3], false);
    let mut model = Model::new();
    model.set_gravity([0.0, -9.81, 3.0]).unwrap();
    let sheet = Sheet::isotropic(1e4, 0.3, 1e-3).with_relaxation_time(0.005);
    let parts = sheet.add_to(&mut model, "cloth", &mesh).unwrap();
    model.fix(parts.nodes, 0, &[true; 3]).unwrap();
    check("sheet", model, options(), 0.01, 1e-7);
}

#[test]
fn rows_of_every_kind() {
    let driven = |level: Level| {
        on_row(move |model, length| {
            let row = model.add_constraint("row", length, level).unwrap();
            model
                .set_motion(row, Some(PrescribedMotion::sine(0.05, 8.0, 0.3)))
                .unwrap();
        })
    };
    for level in [
        Level::Position,
        Level::Velocity { curvature: 0.0 },
        Level::Baumgarte { rate: 20.0 },
    ] {
        let model = on_row(|model, length| {
            model.add_constraint("row", length, level).unwrap();
        });
        check(&format!("{level:?}"), model, options(), 0.01, 1e-7);
        check(&format!("driven {level:?}"), driven(level), options(), 0.01, 1e-7);
    }
    let soft = on_row(|model, length| {
        let law = UniformCompliance::new(1e-4).with_relaxation_time(0.01);
        let row = model
            .add_force_field("row", length, law, Treatment::Compliance)
            .unwrap();
        model
            .set_motion(row, Some(PrescribedMotion::sine(0.01, 8.0, 0.3)))
            .unwrap();
    });
    check("soft", soft, options(), 0.01, 1e-7);
    let stiffening = on_row(|model, length| {
        let law = Spring::stiffening(200.0, 4000.0).with_damping(0.5);
        model
            .add_force_field("row", length, law, Treatment::Compliance)
            .unwrap();
    });
    check("stiffening", stiffening, options(), 0.01, 1e-7);
    let viscous = on_row(|model, length| {
        model
            .add_force_field("row", length, Damping::new(3.0), Treatment::Compliance)
            .unwrap();
    });
    check("viscous", viscous, options(), 0.01, 1e-7);
}
