//! A law with a past against finite differences of its force.

use super::relative;
use crate::validate::{check_real, check_size};
use crate::{At, Blocks, Field, ForceField, ModelError, Past, Space};

/// Findings on a law with a past.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct MemoryCheck {
    /// `K` against central differences of the force at the end of the time, relative to `1 +` its
    /// size.
    pub stiffness: f64,
    /// `K - K^T`, likewise.
    pub symmetry: f64,
    /// Largest change of an internal variable where no time passes and nothing moves.
    pub idle: f64,
    /// Energy dissipated on the way to the place (J).
    pub dissipated: f64,
}

/// Checks the memory of a force field on a node of real coordinates, each element alone: from
/// internal variables to positions `x`, `past.elapsed` seconds later. Finite differences of step
/// 1e-6 leave errors of about 1e-9 for functions of unit scale.
///
/// # Errors
/// Errors of the force field about the node; [`ModelError::Size`] for another number of internal
/// variables, [`ModelError::Space`] for bodies.
pub fn memory(
    law: &dyn ForceField,
    space: Space,
    x: &[f64],
    past: Past<'_>,
) -> Result<MemoryCheck, ModelError> {
    let name = "checked force field";
    check_real(name, space)?;
    let count = x.len() / space.position_size();
    law.check(name, space, count)?;
    law.check_inputs(name, law.inputs())?;
    let mut out = MemoryCheck::default();
    let Some(memory) = law.memory() else {
        return Ok(out);
    };
    let (expected, found) = (memory.size(count), past.internal.len());
    check_size(
        name,
        Field::InternalVariables,
        "internal variables",
        expected,
        found,
    )?;
    let size = space.velocity_size();
    let mut blocks = Blocks::new((0..count).map(|_| (size, size)));
    let at = At::new(space, x).with_inputs(law.inputs());
    memory.stiffness(at, past, &mut blocks);
    let force = |k: usize, step: f64| {
        let mut x = x.to_vec();
        x[k] += step;
        let mut f = vec![0.0; x.len()];
        memory.add_force(At { x: &x, ..at }, past, &mut f);
        f
    };
    let step = 1e-6;
    for k in 0..x.len() {
        let (plus, minus) = (force(k, step), force(k, -step));
        let (e, c) = (k / size, k % size);
        for (i, (a, b)) in plus.iter().zip(&minus).enumerate() {
            let slope = (b - a) / (2.0 * step);
            let found = if i / size == e {
                let r = i % size;
                let block = blocks.block(e);
                out.symmetry = out
                    .symmetry
                    .max(relative(block[r * size + c], block[c * size + r]));
                block[r * size + c]
            } else {
                0.0
            };
            out.stiffness = out.stiffness.max(relative(found, slope));
        }
    }
    let mut new = past.internal.to_vec();
    out.dissipated = memory.advance(at, past, &mut new);
    let mut again = new.clone();
    out.dissipated += memory.advance(
        at,
        Past {
            internal: &new,
            elapsed: 0.0,
        },
        &mut again,
    );
    let changes = new.iter().zip(&again).map(|(a, b)| (a - b).abs());
    out.idle = changes.fold(0.0, f64::max);
    Ok(out)
}
