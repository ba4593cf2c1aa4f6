//! Contacts as records, which are a structured array in Python.

use pliant::Simulation;
use pliant::contact::ContactState;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

/// The structured array of records of contacts.
pub(crate) fn array<'py>(py: Python<'py>, records: &[u8]) -> PyResult<Bound<'py, PyAny>> {
    let layout = py.import("pliant.contacts")?.getattr("CONTACT")?;
    let array = py.import("numpy")?.getattr("frombuffer")?;
    array.call1((PyBytes::new(py, records), layout))
}

/// The contacts of the last step in the layout of `CONTACT` in `pliant/contacts.py`.
pub(crate) fn records(simulation: &Simulation) -> Vec<u8> {
    // The numbers behind the two sides and the state.
    const NUMBERS: usize = 20;
    let h = simulation.contact_step();
    let readings = simulation.contacts();
    let mut out = Vec::with_capacity(readings.len() * (16 + 8 * NUMBERS));
    for reading in readings {
        let contact = &reading.contact;
        for side in contact.sides {
            out.extend_from_slice(&side.cast_signed().to_ne_bytes());
        }
        let state: i64 = match reading.state {
            ContactState::Open => 0,
            ContactState::Sticking => 1,
            ContactState::Slipping => 2,
        };
        out.extend_from_slice(&state.to_ne_bytes());
        let force = reading.impulse.map(|p| if h > 0.0 { p / h } else { 0.0 });
        let [law, gap] = [[contact.law.friction], [contact.gap]];
        let numbers = [
            &contact.point[..],
            &contact.normal,
            &gap,
            &force,
            &reading.impulse,
        ];
        let more = [&reading.torque_impulse[..], &reading.velocity, &law];
        for x in numbers.into_iter().chain(more).flatten() {
            out.extend_from_slice(&x.to_ne_bytes());
        }
    }
    out
}
