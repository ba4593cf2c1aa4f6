//! Muscles with a tendon, against formulas and integrations of their own.

mod curves;
mod motion;
mod reference;
mod rest;

use pliant_model::{At, Blocks, ForceField, Memory, MuscleTendon, Past, Space};

pub(crate) const LENGTH: Space = Space::Real(1);

/// The tension of one element a time after its internal variables.
pub(crate) fn tension(law: &MuscleTendon, l: f64, u: f64, internal: &[f64], elapsed: f64) -> f64 {
    let mut f = [0.0];
    let (x, inputs) = ([l], [u]);
    let at = At::new(LENGTH, &x).with_inputs(&inputs);
    memory(law).add_force(at, Past { internal, elapsed }, &mut f);
    -f[0]
}

/// The stiffness of that tension.
pub(crate) fn stiffness(law: &MuscleTendon, l: f64, u: f64, internal: &[f64], elapsed: f64) -> f64 {
    let mut k = Blocks::new([(1, 1)]);
    let (x, inputs) = ([l], [u]);
    let at = At::new(LENGTH, &x).with_inputs(&inputs);
    memory(law).stiffness(at, Past { internal, elapsed }, &mut k);
    k.block(0)[0]
}

/// The internal variables of one element a time later, and the energy that was dissipated.
pub(crate) fn advanced(
    law: &MuscleTendon,
    l: f64,
    u: f64,
    internal: &[f64],
    elapsed: f64,
) -> (Vec<f64>, f64) {
    let (x, inputs) = ([l], [u]);
    let at = At::new(LENGTH, &x).with_inputs(&inputs);
    let mut new = vec![0.0; internal.len()];
    let dissipated = memory(law).advance(at, Past { internal, elapsed }, &mut new);
    (new, dissipated)
}

/// The stored energy of one element.
pub(crate) fn stored(law: &MuscleTendon, l: f64, u: f64, internal: &[f64]) -> f64 {
    let (x, inputs) = ([l], [u]);
    memory(law).energy(At::new(LENGTH, &x).with_inputs(&inputs), internal)
}

pub(crate) fn memory(law: &MuscleTendon) -> &dyn Memory {
    law.memory().unwrap()
}

/// The tension of a muscle with a rigid tendon.
pub(crate) fn rigid(law: &MuscleTendon, l: f64, v: f64) -> f64 {
    let mut f = [0.0];
    let (x, v) = ([l], [v]);
    let at = At::new(LENGTH, &x).moving(&v).with_inputs(law.inputs());
    ForceField::add_force(law, at, &mut f);
    -f[0]
}

#[track_caller]
pub(crate) fn near(found: f64, wanted: f64, tolerance: f64) {
    let difference = (found - wanted).abs();
    assert!(
        difference <= tolerance * (1.0 + wanted.abs()),
        "{found} is not {wanted}"
    );
}
