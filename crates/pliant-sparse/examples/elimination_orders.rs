//! Compare orders of elimination before anything is factored.
//!
//! A hub with `n` spokes fills `L` wholly, `(n + 1)(n + 2) / 2` entries, if it goes first, and not
//! at all, `2 n + 1` entries, if it goes last. On a plate of `s x s` points, rows one after another
//! give `L` a full band of `s`: `(s^2 - s)(s + 1) + s (s + 1) / 2` entries at most.
//!
//! `cargo run --release -p pliant-sparse --example elimination_orders`

use pliant_sparse::{Graph, SparseError};

fn main() -> Result<(), SparseError> {
    let n = 100;
    let mut star = Graph::new(n + 1);
    (1..=n).for_each(|v| star.connect(0, v));
    let first: Vec<usize> = (0..=n).collect();
    let last: Vec<usize> = (0..=n).rev().collect();
    let entries = [star.cost(&first)?.entries, star.cost(&last)?.entries];
    println!("hub first: {} entries of L, last: {}", entries[0], entries[1]);
    assert_eq!(entries, [((n + 1) * (n + 2) / 2) as u64, (2 * n + 1) as u64]);
    assert_eq!(
        star.cost(&star.minimum_degree()?)?.entries,
        entries[1],
        "found by itself"
    );

    let s = 60;
    let mut plate = Graph::new(s * s);
    for v in 0..s * s {
        if v % s > 0 {
            plate.connect(v, v - 1);
        }
        if v >= s {
            plate.connect(v, v - s);
        }
    }
    let natural: Vec<usize> = (0..s * s).collect();
    let band = plate.cost(&natural)?;
    let orders = [plate.minimum_degree()?, plate.nested_dissection()?];
    let [degree, dissection] = [plate.cost(&orders[0])?, plate.cost(&orders[1])?];
    let best = plate.best_order()?.report;
    for (name, cost) in [
        ("rows", band),
        ("minimum degree", degree),
        ("dissection", dissection),
    ] {
        println!(
            "{name:>15}: {:7} entries, {:9} operations",
            cost.entries, cost.flops
        );
    }
    println!("chosen: {:?}", best.method);
    // The band is full but for the first row of the plate, which fills as it goes.
    let full = ((s * s - s) * (s + 1) + s * (s + 1) / 2) as u64;
    assert!(band.entries <= full && band.entries > full - (s * s) as u64);
    assert!(degree.entries < band.entries / 2 && dissection.entries < band.entries / 2);
    assert!(best.cost.flops <= degree.flops.min(dissection.flops));
    Ok(())
}
