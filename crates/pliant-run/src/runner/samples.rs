//! Lines of the energy table.

use pliant::solvers::KktResidual;
use pliant::{Ledger, StepReport};
use pliant_output::recording::{LEDGER, Sample};

/// The line of the energy table of a step, with the sum of the ledgers up to its end.
pub(super) fn sample(report: &StepReport, ledger: &Ledger) -> Sample {
    let KktResidual { relative, .. } = report.residual;
    Sample {
        time: report.time,
        kinetic: report.energies.kinetic,
        potential: report.energies.potential,
        dissipated: report.dissipated,
        residual: relative,
        violation: report.violation,
        ledger: sources(ledger),
    }
}

/// The entries that bring in energy, in the order of [`LEDGER`]: the first two of a ledger are
/// changes of stored energy.
fn sources(ledger: &Ledger) -> [f64; LEDGER.len()] {
    let (entries, parts) = (ledger.entries(), ledger.parts.entries());
    let mut values = entries[2..].iter().chain(&parts).map(|(_, energy)| *energy);
    std::array::from_fn(|_| values.next().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_recorded_sources_are_those_of_a_ledger() {
        let ledger = Ledger::default();
        let entries = ledger.entries().map(|(name, _)| name.to_owned());
        let parts = ledger
            .parts
            .entries()
            .map(|(name, _)| format!("numerical_{name}"));
        let names: Vec<String> = entries[2..].iter().cloned().chain(parts).collect();
        assert_eq!(names, LEDGER);
    }
}
