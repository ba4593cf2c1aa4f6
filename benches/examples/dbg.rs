#![allow(missing_docs)]
use pliant_benches::chain::*;
fn main() {
    let a: Vec<String> = std::env::args().collect();
    let mut c = Chain { links: 10, last_mass: a[1].parse().unwrap(), pose: Pose::Swing }.simulation().unwrap();
    let mut e0 = c.simulation.model().energies(c.simulation.state()).total();
    for k in 0..a[2].parse().unwrap() {
        let r = c.simulation.step(0.01).unwrap();
        let l = c.simulation.reaction(c.constraint);
        let n = l.len();
        println!("{k:3} gap {:8.1e} E {:14.7e} dE {:9.2e} inertia {:?} tip {:7.4} {:7.4} last joint {:9.2e} {:9.2e}  j8 {:9.2e} {:9.2e} first {:9.2e} {:9.2e}", c.gap(), r.energies.total()/c.reference_energy, (r.energies.total()-e0)/c.reference_energy, r.inertia, c.tip()[0], c.tip()[2], l[n-3], l[n-1], l[n-6], l[n-4], l[0], l[2]);
        e0 = r.energies.total();
    }
}
