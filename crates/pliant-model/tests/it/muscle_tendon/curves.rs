//! The curves at the numbers that were published, and at their joints.

use super::reference::{Curves, Millard, Thelen};
use super::{near, rigid, stiffness, tension};
use pliant_model::MuscleTendon;

/// Fibres of one newton, of one metre, of one metre per second behind a tendon without length.
fn fibre(law: fn(f64, f64, f64) -> MuscleTendon, a: f64) -> MuscleTendon {
    let law = law(1.0, 1.0, 0.0).with_speed(1.0).with_fibre_damping(0.0);
    law.with_rigid_tendon().with_excitations(&[a])
}

/// The tendon of one metre behind a fibre that is held.
fn tendon(law: fn(f64, f64, f64) -> MuscleTendon, strain: f64) -> (f64, f64) {
    let law = law(1.0, 1.0, 1.0);
    let of = |f: fn(&MuscleTendon, f64, f64, &[f64], f64) -> f64| f(&law, 2.0 + strain, 0.0, &[1.0], 0.0);
    (of(tension), of(stiffness))
}

#[test]
fn thelen_has_the_numbers_of_the_paper() {
    let active = fibre(MuscleTendon::thelen, 1.0);
    let relaxed = fibre(MuscleTendon::thelen, 0.0);
    // The passive force is 1 at a strain of .6, the active one falls by e at one width.
    near(rigid(&relaxed, 1.6, 0.0), 1.0, 1e-14);
    near(rigid(&relaxed, 0.99, 0.0), 0.0, 0.0);
    near(rigid(&active, 1.0 - 0.45f64.sqrt(), 0.0), (-1.0f64).exp(), 1e-14);
    // A fibre without length does not pull.
    near(rigid(&active, 0.0, 0.0), 0.0, 0.0);
    near(rigid(&active, -0.3, 0.0), 0.0, 0.0);
    // The tendon: 1 at a strain of .033, .33 at the end of the toe, which Thelen rounds to .609 of
    // that; beyond, the slope is 1.712 over the strain, rounded too.
    near(tendon(MuscleTendon::thelen, 0.033).0, 1.0, 1e-14);
    near(tendon(MuscleTendon::thelen, 0.609 * 0.033).0, 0.33, 1e-3);
    near(tendon(MuscleTendon::thelen, 0.05).1, 1.712 / 0.033, 1e-3);
    near(tendon(MuscleTendon::thelen, -0.01).0, 0.0, 0.0);
    // The largest speed of shortening is v_max at an activation of 1, and 5/8 of it at 1/2.
    for (a, speed) in [(1.0, 1.0), (0.5, 0.625), (0.0, 0.25)] {
        let law = fibre(MuscleTendon::thelen, a);
        assert!(a == 0.0 || rigid(&law, 1.0, -0.999 * speed) > 0.0);
        assert!(rigid(&law, 1.0, -speed) == 0.0);
    }
    // By the form of the paper, where the speed is a function of the force.
    for a in [0.05, 0.3, 1.0] {
        for n in [0.6, 1.0, 1.3] {
            let law = fibre(MuscleTendon::thelen, a);
            for share in [0.01, 0.2, 0.7, 1.0, 1.1, 1.3] {
                let force = Thelen.passive(n) + share * a * Thelen.active(n);
                near(rigid(&law, n, Thelen.velocity(a, n, force)), force, 1e-13);
            }
        }
    }
    // Beyond .95 of the largest force, straight with the slope there: (F - 1)^2 c/(F - 1 + c u)^2.
    let (at, slope) = (0.188_571_428_571_428_57, 0.306_25);
    near(rigid(&active, 1.0, at), 1.33, 1e-14);
    near(rigid(&active, 1.0, 1.0), 1.33 + slope * (1.0 - at), 1e-14);
}

/// Numbers of another program, which subdivides the polygons of control points.
#[test]
fn millard_has_the_curves_of_the_paper() {
    let of = |a: f64| fibre(MuscleTendon::millard, a);
    for (n, wanted) in [
        (0.3, 0.0),
        (0.4441, 0.0),
        (0.5, 0.098_532_489_618_760_39),
        (0.6, 0.451_101_878_325_581_96),
        (0.7, 0.767_020_368_568_640_5),
        (0.9, 0.956_759_832_542_959),
        (1.0, 1.0),
    ] {
        near(rigid(&of(1.0), n, 0.0), wanted, 1e-14);
        near(rigid(&of(0.3), n, 0.0), 0.3 * wanted, 1e-14);
    }
    for (n, wanted) in [
        (1.02, 0.000_877_438_740_108_050_8),
        (1.1, 0.017_044_835_097_378_367),
        (1.3, 0.126_111_183_482_628_76),
        (1.65, 0.857_425_125_459_542_6),
        (1.7, 1.0),
        (1.8, 1.0 + 0.2 / 0.7),
    ] {
        near(rigid(&of(0.0), n, 0.0), wanted, 1e-14);
    }
    // The descending limb, less the passive part.
    for (n, wanted) in [
        (1.2, 0.823_680_970_871_455_5),
        (1.4, 0.543_730_727_118_195_8),
        (1.6, 0.263_026_883_711_905),
        (1.75, 0.054_292_848_902_760_12),
        (1.9, 0.0),
    ] {
        near(rigid(&of(1.0), n, 0.0) - rigid(&of(0.0), n, 0.0), wanted, 1e-14);
    }
    for (u, wanted) in [
        (-2.0, 0.0),
        (-1.0, 0.0),
        (-0.95, 0.002_851_562_5),
        (-0.7, 0.066_518_727_023_260_75),
        (-0.1, 0.625_214_284_312_972_9),
        (0.0, 1.0),
        (0.05, 1.172_345_715_223_604_3),
        (0.3, 1.294_707_390_624_189_3),
        (0.95, 1.399_132_812_5),
        (1.0, 1.4),
        (5.0, 1.4),
    ] {
        near(rigid(&of(1.0), 1.0, u), wanted, 1e-13);
        near(Millard::moving(u), wanted, 1e-13);
    }
    for (strain, wanted) in [
        (-0.1, 0.0),
        (0.005, 0.037_604_493_631_416_19),
        (0.01, 0.099_678_270_121_973_54),
        (0.02, 0.260_935_982_614_924_3),
        (0.03, 0.479_398_712_348_048_43),
        (0.049, 1.0),
        (0.098, 2.375),
    ] {
        near(tendon(MuscleTendon::millard, strain).0, wanted, 1e-13);
    }
    near(tendon(MuscleTendon::millard, 0.06).1, 1.375 / 0.049, 1e-13);
    for k in 0..200 {
        let n = 0.4 + 0.01 * f64::from(k);
        near(
            rigid(&of(0.7), n, 0.0),
            0.7 * Millard.active(n) + Millard.passive(n),
            1e-13,
        );
    }
}

/// A curve, its joints, a step of differences.
type Joints<'a> = (&'a dyn Fn(f64) -> f64, &'a [f64], f64);

/// Two continuous derivatives: second differences on both sides of a joint differ by the third
/// derivative times the step.
#[test]
fn the_pieces_of_millard_join_smoothly() {
    let (law, relaxed) = (
        fibre(MuscleTendon::millard, 1.0),
        fibre(MuscleTendon::millard, 0.0),
    );
    let second = |f: &dyn Fn(f64) -> f64, x: f64, h: f64| (f(x + h) - 2.0 * f(x) + f(x - h)) / (h * h);
    let passive = |n: f64| rigid(&relaxed, n, 0.0);
    let active = |n: f64| rigid(&law, n, 0.0) - rigid(&relaxed, n, 0.0);
    let speeds = |u: f64| rigid(&law, 1.0, u);
    let strains = |e: f64| tendon(MuscleTendon::millard, e).0;
    let cases: [Joints<'_>; 4] = [
        (&passive, &[1.0, 1.035, 1.7], 1e-3),
        (&active, &[0.4441, 0.58705, 0.84, 1.0, 1.43115, 1.8123], 1e-3),
        (&speeds, &[-1.0, -0.9, 0.0, 0.9, 1.0], 1e-3),
        (&strains, &[0.0, 0.049 * (1.0 - 1.0 / 4.125)], 1e-5),
    ];
    for (f, joints, step) in cases {
        for x in joints {
            // All pieces leave their ends without curvature.
            let [far, nearer] = [step, 0.5 * step].map(|h| second(f, *x, h).abs());
            assert!(nearer < 0.6 * far + 1e-4, "{x}: {far} {nearer}");
        }
    }
}
