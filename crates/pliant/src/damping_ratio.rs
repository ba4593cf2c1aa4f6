//! Damping ratios become relaxation times, by the masses that compliances move at the start.

use crate::{Error, Options, Simulation};
use pliant_model::{At, Blocks, ComponentId, Model, ModelError};
use std::sync::Arc;

/// Gives the compliances of a model that have a damping ratio `zeta` (none) their relaxation times
/// `d = 2 zeta sqrt(m c)` (s), with the compliance `c` and the mass `m` that the coordinate moves by
/// itself at the start ([`Simulation::effective_masses`]): a single mass on it then moves by
/// `x'' + 2 zeta w x' + w^2 x = 0`, `w = 1/sqrt(m c)`. [`Simulation::new`] does it for a model that
/// nobody shares. Cost: an evaluation, a factor, and a solve for each of these coordinates.
///
/// # Errors
/// [`Error::Model`] where a mapping is not defined, [`ModelError::Immovable`] for a coordinate that
/// hard rows or fixed coordinates hold, and those of the linear solver.
pub fn resolve_damping_ratios(model: Model) -> Result<Model, Error> {
    let mut model = Arc::new(model);
    resolve(&mut model)?;
    let name = "the model".to_owned();
    Arc::into_inner(model).ok_or(Error::Model(ModelError::SharedRatios { name }))
}

/// Resolves the damping ratios of a model in place, which nobody else may have then.
pub(crate) fn resolve(model: &mut Arc<Model>) -> Result<(), Error> {
    let ratios: Vec<_> = model.damping_ratios().collect();
    let Some((first, _)) = ratios.first() else {
        return Ok(());
    };
    let shared = model.component_name(*first).to_owned();
    let times = times(model, &ratios)?;
    let Some(model) = Arc::get_mut(model) else {
        return Err(Error::Model(ModelError::SharedRatios { name: shared }));
    };
    for ((component, _), times) in ratios.iter().zip(&times) {
        model
            .set_relaxation_times(*component, times)
            .map_err(Error::Model)?;
    }
    Ok(())
}

/// The relaxation times of the coordinates of components with these ratios (s).
fn times(model: &Arc<Model>, ratios: &[(ComponentId, f64)]) -> Result<Vec<Vec<f64>>, Error> {
    let mut simulation = Simulation::as_it_is(model.clone(), Options::default())?;
    let mut out = Vec::with_capacity(ratios.len());
    for (component, ratio) in ratios {
        let ComponentId::ForceField(index) = *component else {
            out.push(Vec::new());
            continue;
        };
        let entry = &model.force_fields()[index];
        let compliances = compliances(model, index);
        let masses = simulation.effective_masses(entry.node)?;
        let mut times = Vec::with_capacity(masses.len());
        for (row, (mass, compliance)) in masses.iter().zip(&compliances).enumerate() {
            // What is hard needs none.
            if *compliance > 0.0 && mass.is_infinite() {
                let (name, count) = (entry.name.clone(), masses.len());
                return Err(Error::Model(ModelError::Immovable { name, row, count }));
            }
            times.push(match *compliance > 0.0 {
                true => 2.0 * ratio * (mass * compliance).sqrt(),
                false => 0.0,
            });
        }
        out.push(times);
    }
    Ok(out)
}

/// The compliance of each coordinate of the node of a force field, at its own place.
fn compliances(model: &Model, index: usize) -> Vec<f64> {
    let entry = &model.force_fields()[index];
    let node = model.node(entry.node);
    let (size, count) = (node.space.velocity_size(), node.count);
    let law = &entry.component.law;
    let mut blocks = Blocks::new(vec![(size, size); count]);
    let x = vec![0.0; node.space.position_size() * count];
    law.compliance(At::new(node.space, &x).with_inputs(law.inputs()), &mut blocks);
    let diagonal = |e: usize| (0..size).map(move |i| (e, i * size + i));
    let entries = (0..count).flat_map(diagonal);
    entries.map(|(e, k)| blocks.block(e)[k]).collect()
}
