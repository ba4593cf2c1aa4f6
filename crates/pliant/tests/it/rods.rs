//! Rods against closed forms, published figures and an independent integration of their equations.

mod growth;
mod instabilities;
mod rings;
pub(crate) mod shooting;

use pliant::continuum::{Rod, RodCurve, RodParts, Section};
use pliant::dense::{Mat3, Vec3};
use pliant::prelude::*;
use shooting::Cantilever;

/// Rest under a dead force at the tip, by pseudo-static steps of this length; the first body is
/// clamped. Where the tip is.
fn loaded_tip(rod: &Rod, curve: &RodCurve, force: Vec3, h: f64) -> Vec3 {
    let mut model = Model::new();
    let RodParts { frames, .. } = rod.add_to(&mut model, "rod", curve).unwrap();
    model.fix(frames, 0, &[true; 6]).unwrap();
    let last = curve.points().len() - 1;
    let tip = model
        .add_mapped("tip", &[frames], RigidPoints::new(&[(last, [0.0; 3])]))
        .unwrap();
    model
        .add_force_field(
            "load",
            tip,
            ConstantForce::new(force.as_slice()),
            Treatment::Stiffness,
        )
        .unwrap();
    let mut simulation = Simulation::new(model).unwrap();
    let how = Settle {
        h,
        tolerance: 1e-10,
        max_steps: 1000,
        ..Settle::default()
    };
    simulation.settle(how).unwrap();
    Vec3::from_column_slice(simulation.positions(tip))
}

/// A rod of 1 m with bending stiffness 1 N m^2, very stiff otherwise.
fn slender() -> Rod {
    let section = Section {
        area: 1e-2,
        second_moments: [1e-6; 2],
        torsion_constant: 2e-6,
        shear_factors: [1.0; 2],
    };
    Rod::new(section, 1e6, 0.0).inextensible()
}

/// Mattiasson (1981), from elliptic integrals: shortening and deflection over the length at
/// `P L^2/(E I)`.
const ELASTICA: [(f64, f64, f64); 4] = [
    (1.0, 0.05643, 0.30172),
    (2.0, 0.16064, 0.49346),
    (5.0, 0.38763, 0.71379),
    (10.0, 0.55500, 0.81061),
];

#[test]
fn a_cantilever_bends_like_the_elastica() {
    for (load, shorter, down) in ELASTICA {
        // The integration that judges, against the table of five digits.
        let exact = Cantilever {
            length: 1.0,
            stiffness: [1e12, 1e12, 1e12, 1.0, 1.0, 1.0],
            curvature: Vec3::zeros(),
            clamp: Mat3::identity(),
            force: Vec3::new(0.0, 0.0, -load),
        }
        .tip(200);
        let published = Vec3::new(1.0 - shorter, 0.0, -down);
        assert!((exact - published).amax() < 1e-5, "{load}: {exact}");
        let errors = [10, 20].map(|n| {
            let curve = RodCurve::straight([0.0; 3], [1.0, 0.0, 0.0], n);
            (loaded_tip(&slender(), &curve, Vec3::new(0.0, 0.0, -load), 1.0) - exact).norm()
        });
        let order = (errors[0] / errors[1]).log2();
        println!("elastica, P L^2/(E I) = {load}: errors {errors:?}, order {order:.2}");
        // Second order, and a hundredth of a segment.
        assert!((order - 2.0).abs() < 0.1, "{load}: {errors:?}");
        assert!(errors[1] < 5e-4 * (1.0 + load), "{load}: {errors:?}");
    }
}

/// Bathe and Bolourchi (1979): an eighth of a circle of radius 100, unit square section, a force of
/// 600 across its plane.
#[test]
fn a_bend_of_45_degrees_is_where_others_have_it() {
    let (radius, young, force) = (100.0, 1e7, Vec3::new(0.0, 0.0, 600.0));
    let at = |angle: f64| [radius * angle.sin(), radius * (1.0 - angle.cos()), 0.0];
    let rod = Rod::new(Section::rectangle([1.0; 2]), young, 0.0);
    let exact = Cantilever {
        length: radius * std::f64::consts::FRAC_PI_4,
        stiffness: rod.stiffness(),
        curvature: Vec3::new(0.0, 0.0, 1.0 / radius),
        clamp: Mat3::identity(),
        force,
    }
    .tip(400);
    // Along the tangent of the clamp, towards the centre, across: Bathe and Bolourchi (47.2, 15.9,
    // 53.4), Simo and Vu-Quoc (47.23, 15.79, 53.37), both with eight elements, which are 0.3 from
    // the limit.
    let published = Vec3::new(47.2, 15.8, 53.4);
    assert!((exact - published).amax() < 0.4, "{exact}");
    let errors = [8, 16].map(|n| {
        let points: Vec<[f64; 3]> = (0..=n)
            .map(|i| at(std::f64::consts::FRAC_PI_4 * i as f64 / n as f64))
            .collect();
        let curve = RodCurve::through(&points).with_normal([0.0, 1.0, 0.0]);
        (loaded_tip(&rod, &curve, force, 10.0) - exact).norm()
    });
    let order = (errors[0] / errors[1]).log2();
    println!("bend: tip {exact:?}, errors {errors:.3?}, order {order:.2}");
    assert!((order - 2.0).abs() < 0.15 && errors[1] < 0.1, "{errors:?}");
}

/// A twisted strip bends about all its axes.
#[test]
fn a_twisted_strip_bends_as_its_equations_say() {
    let rod = Rod::new(Section::rectangle([0.02, 0.06]), 1e7, 0.3);
    let twist = 2.0;
    let force = Vec3::new(0.3, -0.5, 2.0);
    let exact = Cantilever {
        length: 1.0,
        stiffness: rod.stiffness(),
        curvature: Vec3::new(twist, 0.0, 0.0),
        clamp: Mat3::identity(),
        force,
    }
    .tip(400);
    let errors = [10, 20].map(|n| {
        let curve = RodCurve::straight([0.0; 3], [1.0, 0.0, 0.0], n)
            .with_normal([0.0, 1.0, 0.0])
            .with_twist(twist);
        (loaded_tip(&rod, &curve, force, 0.1) - exact).norm()
    });
    let order = (errors[0] / errors[1]).log2();
    println!("twisted strip: tip {exact:?}, errors {errors:?}, order {order:.2}");
    assert!((order - 2.0).abs() < 0.1 && errors[1] < 2e-3, "{errors:?}");
}

#[test]
fn stiffness_and_compliance_agree() {
    let rod = Rod::new(Section::circle(0.02), 1e7, 0.3);
    let curve = RodCurve::straight([0.0; 3], [1.0, 0.0, 0.0], 8);
    let force = Vec3::new(0.0, 0.4, 0.3);
    let [a, b] = [Treatment::Compliance, Treatment::Stiffness]
        .map(|t| loaded_tip(&rod.with_treatment(t), &curve, force, 0.1));
    // At rest to 1e-10 in the last step, with up to 161 of them.
    assert!((a - b).norm() < 2e-8, "{a} {b}");
}

#[test]
fn a_straight_rod_on_a_half_circle_is_curved_evenly() {
    let radius = 0.5;
    let n = 24;
    let at = |i: usize| {
        let a = std::f64::consts::PI * i as f64 / n as f64;
        [radius * a.cos(), radius * a.sin(), 0.0]
    };
    let curve = RodCurve::through(&(0..=n).map(at).collect::<Vec<_>>());
    let mut model = Model::new();
    let parts = slender()
        .straight_at_rest()
        .add_to(&mut model, "rod", &curve)
        .unwrap();
    let turned = std::f64::consts::PI / n as f64;
    let simulation = Simulation::new(model).unwrap();
    let strains = simulation.positions(parts.strains);
    for (s, length) in strains.as_chunks::<6>().0.iter().zip(&parts.lengths) {
        let bend = s[4].hypot(s[5]);
        assert!((bend * length - turned).abs() < 1e-12, "{s:?}");
        assert!(s[..4].iter().all(|e| e.abs() < 1e-12), "{s:?}");
    }
}

#[test]
fn sections_have_the_published_constants() {
    // Timoshenko and Goodier, table of bars of rectangular section: J = k a b^3.
    for (ratio, k) in [(1.0, 0.1406), (2.0, 0.229), (4.0, 0.281), (10.0, 0.312)] {
        let section = Section::rectangle([2.0 * ratio, 2.0]);
        let found = section.torsion_constant / (16.0 * ratio);
        assert!((found - k).abs() < 6e-4, "{ratio}: {found}");
    }
    let circle = Section::circle(0.1);
    let fourth = std::f64::consts::PI * 1e-4;
    assert!((circle.second_moments[0] - 0.25 * fourth).abs() < 1e-18);
    assert!((circle.torsion_constant - 0.5 * fourth).abs() < 1e-18);
    // A thin tube carries shear in half of its wall.
    assert!((Section::tube(0.0999, 0.1).shear_factors[0] - 0.5).abs() < 1e-3);
}

/// A flat rod with its wide side upright is stiff against weights, lying flat it is soft:
/// `P L^3/(3 E I) + P L/(k G A)`, less the trapezoidal rule's quarter of a squared segment.
#[test]
fn a_flat_rod_is_stiff_on_edge() {
    let (n, length, young, load) = (10, 1.0, 1e9, 1e-3);
    for (normal, inertia) in [
        ([0.0, 1.0, 0.0], 0.01 * 0.03f64.powi(3) / 12.0),
        ([0.0, 0.0, 1.0], 0.03 * 0.01f64.powi(3) / 12.0),
    ] {
        // Axis 1 carries the short side: across, the wide side is upright.
        let rod = Rod::new(Section::rectangle([0.01, 0.03]), young, 0.0);
        let curve = RodCurve::straight([0.0; 3], [length, 0.0, 0.0], n).with_normal(normal);
        let found = loaded_tip(&rod, &curve, Vec3::new(0.0, 0.0, -load), 10.0);
        let bending = load / (3.0 * young * inertia) * (1.0 - 0.25 / (n * n) as f64);
        let shear = load / (5.0 / 6.0 * 0.5 * young * 3e-4);
        // The square of the slope is below 1e-6.
        assert!(
            (-found.z / (bending + shear) - 1.0).abs() < 1e-5,
            "{normal:?}: {found}"
        );
    }
}

#[test]
fn mistakes_in_rods_are_named() {
    let straight = RodCurve::straight([0.0; 3], [1.0, 0.0, 0.0], 4);
    let good = Rod::new(Section::circle(0.01), 1e6, 0.3);
    let bad = |rod: Rod, curve: &RodCurve, words: &str| {
        let error = rod
            .add_to(&mut Model::new(), "rod", curve)
            .unwrap_err()
            .to_string();
        assert!(error.contains(words), "{error}");
    };
    bad(
        Rod::new(Section::circle(0.0), 1e6, 0.3),
        &straight,
        "the area of the section is 0",
    );
    bad(
        Rod::new(Section::circle(0.01), -1.0, 0.3),
        &straight,
        "Young's modulus is -1",
    );
    bad(
        Rod::new(Section::circle(0.01), f64::NAN, 0.3),
        &straight,
        "Young's modulus is NaN",
    );
    bad(
        Rod::new(Section::circle(0.01), 1e6, 0.6),
        &straight,
        "Poisson's ratio is 0.6",
    );
    bad(good.with_density(0.0), &straight, "the density is 0");
    bad(good.with_relaxation_time(-1.0), &straight, "-1");
    let hard = good.inextensible().with_treatment(Treatment::Stiffness);
    bad(
        hard,
        &straight,
        "a stiffness cannot be had with an inextensible rod",
    );
    bad(good, &RodCurve::through(&[[0.0; 3]]), "two points or more");
    bad(
        good,
        &RodCurve::straight([1.0; 3], [1.0; 3], 3),
        "point 1 of the curve: it is where the one before is",
    );
    bad(
        good,
        &RodCurve::through(&[[0.0; 3], [f64::NAN; 3]]),
        "point 1 of the curve: a coordinate is not",
    );
    let back = RodCurve::through(&[[0.0; 3], [1.0, 0.0, 0.0], [0.0; 3]]);
    bad(
        good,
        &back,
        "point 1 of the curve: the rod turns back on itself there",
    );
    bad(
        good,
        &straight.clone().with_normal([2.0, 0.0, 0.0]),
        "a direction across the rod",
    );
    bad(
        good,
        &straight.with_twist(f64::INFINITY),
        "the twist of the rod is inf",
    );
}
