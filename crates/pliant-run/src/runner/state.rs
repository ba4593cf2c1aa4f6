//! A simulation at the state that a scene starts from.

use pliant::{Options, Simulation};
use pliant_scene::{BuiltScene, SceneError};

/// A simulation of the model and the colliders of a scene, which it takes, in the state that the
/// scene starts from; with its options, or these.
///
/// # Errors
/// [`SceneError::Model`] or [`SceneError::Simulation`] if an option or the state is not possible.
pub(crate) fn simulation(scene: &mut BuiltScene, options: Option<Options>) -> Result<Simulation, SceneError> {
    let options = options.unwrap_or_else(|| scene.options.clone());
    let simulation = Simulation::with_options(std::mem::take(&mut scene.model), options);
    let mut simulation = simulation.map_err(|e| scene.places.error(e))?;
    if let Some(world) = scene.world.take() {
        simulation
            .set_contacts(world)
            .map_err(|e| scene.places.error(e))?;
    }
    if let Some(start) = scene.start.take() {
        simulation.set_state(&start).map_err(|e| scene.places.error(e))?;
        let energies = simulation.present_energies();
        if !(energies.kinetic + energies.potential).is_finite() {
            return Err(SceneError::Setting {
                message: "the state that `start_from` names has an energy that is not finite".to_owned(),
                help: Some("its numbers are in SI units; some of them are too large".to_owned()),
            });
        }
    }
    Ok(simulation)
}
