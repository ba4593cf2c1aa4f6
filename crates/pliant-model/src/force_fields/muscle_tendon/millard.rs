//! The curves of Millard, Uchida, Seth and Delp (2013), with the numbers of their muscle in OpenSim
//! for the damped model, which has no singularity.

use super::bezier::Curve;
use std::sync::LazyLock;

/// The shortest fibre with an active force, in optimal lengths: half a myosin filament less half a
/// shoulder.
pub(super) const SHORTEST: f64 = 0.47 - 0.0259;

/// The four curves.
struct Curves {
    active: Curve<5>,
    passive: Curve<2>,
    tendon: Curve<2>,
    velocity: Curve<4>,
}

static CURVES: LazyLock<Curves> = LazyLock::new(|| Curves {
    active: active_curve(),
    passive: passive_curve(),
    tendon: tendon_curve(),
    velocity: velocity_curve(),
});

/// A steep and a shallow ascending limb, a plateau, a descending limb.
fn active_curve() -> Curve<5> {
    const TRANSITION: f64 = 0.73;
    const LONGEST: f64 = 1.8123;
    const SHALLOW: f64 = 0.8616;
    const SHOULDER: f64 = 0.05;
    let plateau = 1.0 - SHOULDER;
    let shallow = 1.0 - SHALLOW * (plateau - TRANSITION);
    let falls = 1.0 + SHOULDER;
    Curve::new(
        &[
            [SHORTEST, 0.0, 0.0],
            [
                0.5 * (SHORTEST + TRANSITION),
                0.5 * shallow,
                1.25 * shallow / (TRANSITION - SHORTEST),
            ],
            [0.5 * (TRANSITION + plateau), 0.5 * (shallow + 1.0), SHALLOW],
            [1.0, 1.0, 0.0],
            [0.5 * (falls + LONGEST), 0.5, -1.0 / (LONGEST - SHOULDER - falls)],
            [LONGEST, 0.0, 0.0],
        ],
        [1.0; 5],
    )
}

/// From optimal length; 1 at a strain of .7.
fn passive_curve() -> Curve<2> {
    const STRAIN: f64 = 0.7;
    const LOW: f64 = 0.2;
    const STIFFNESS: f64 = 2.0 / STRAIN;
    let low = (0.1 / STIFFNESS).min(0.1 * STRAIN);
    Curve::new(
        &[
            [1.0, 0.0, 0.0],
            [1.0 + low, LOW * 0.5 * low, LOW],
            [1.0 + STRAIN, 1.0, STIFFNESS],
        ],
        [0.75; 2],
    )
}

/// Over the strain as a share of that at the largest isometric force: a toe up to a force of 2/3,
/// then a straight line.
fn tendon_curve() -> Curve<2> {
    const STIFFNESS: f64 = 1.375;
    const TOE: f64 = 2.0 / 3.0;
    let line = |force: f64| 1.0 + (force - 1.0) / STIFFNESS;
    // The toe goes along a line that starts a tenth of its length later.
    let foot = 0.1 * line(TOE);
    let reach = line(0.5 * TOE) - foot;
    let slope = 0.5 * TOE / reach;
    Curve::new(
        &[
            [0.0, 0.0, 0.0],
            [foot + 0.5 * reach, 0.5 * slope * reach, slope],
            [line(TOE), TOE, STIFFNESS],
        ],
        [0.5; 2],
    )
}

/// From the largest speed of shortening to the same speed of lengthening; constant beyond.
fn velocity_curve() -> Curve<4> {
    const STRETCHED: f64 = 1.4;
    const SHORTENING: f64 = 0.25;
    const LENGTHENING: f64 = 0.15;
    Curve::new(
        &[
            [-1.0, 0.0, 0.0],
            [-0.9, 0.05 * SHORTENING, SHORTENING],
            [0.0, 1.0, 5.0],
            [0.9, STRETCHED - 0.05 * LENGTHENING, LENGTHENING],
            [1.0, STRETCHED, 0.0],
        ],
        [0.6, 0.6, 0.9, 0.9],
    )
}

/// Active force over the fibre length.
pub(super) fn active(n: f64) -> (f64, f64) {
    CURVES.active.at(n)
}

/// Its integral from the shortest fibre.
pub(super) fn active_energy(n: f64) -> f64 {
    CURVES.active.integral(n)
}

/// Passive force over the fibre length.
pub(super) fn passive(n: f64) -> (f64, f64) {
    CURVES.passive.at(n)
}

/// Its integral from optimal length.
pub(super) fn passive_energy(n: f64) -> f64 {
    CURVES.passive.integral(n)
}

/// Force of the tendon over its strain, as a share of that at the largest isometric force.
pub(super) fn tendon(x: f64) -> (f64, f64) {
    CURVES.tendon.at(x)
}

/// Its integral.
pub(super) fn tendon_energy(x: f64) -> f64 {
    CURVES.tendon.integral(x)
}

/// Force over the velocity, as a share of the largest speed of shortening.
pub(super) fn velocity(u: f64) -> (f64, f64) {
    CURVES.velocity.at(u)
}
