//! Steps of the simulation of tumbling boxes (`crates/pliant`, 6 to 15 cuboids dropped on the
//! ground, friction 0.4) on which the solver that chooses once failed. The simulation is not part
//! of this crate, so these are data: what is read is what is written.

use pliant_lab::exchange::Record;

const STEPS: &[&str] = &[
    include_str!("../../../corpus/heap-0-46.json"),
    include_str!("../../../corpus/heap-8-29.json"),
    include_str!("../../../corpus/heap-4-39.json"),
    include_str!("../../../corpus/heap-4-76.json"),
    include_str!("../../../corpus/heap-10-34.json"),
    include_str!("../../../corpus/heap-9-116.json"),
    include_str!("../../../corpus/heap-10-41.json"),
    include_str!("../../../corpus/heap-4-42.json"),
    include_str!("../../../corpus/heap-1-82.json"),
    include_str!("../../../corpus/heap-10-66.json"),
];

pub(super) fn add(out: &mut Vec<Record>) {
    for text in STEPS {
        out.push(Record::read(text, |name| Err(name.to_owned())).unwrap());
    }
}
