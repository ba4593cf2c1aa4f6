//! Times the Delassus operator by its entries on one thread and on several, in turns in one run,
//! and compares the bits: contacts of free bricks, which couple if they share one, and contacts
//! along a chain of bodies, which all couple.
//!
//! `cargo xtask bench delassus [threads]`

use super::Ended;
use pliant::solvers::KktSystem;
use pliant::solvers::complementarity::{Delassus, DelassusChoice, SaddleDelassus};
use pliant::sparse::PatternBuilder;
use pliant_benches::families::{links, stacks::Stack};
use std::error::Error;
use std::process::ExitCode;
use std::time::Instant;

const COMPLIANCE: f64 = 1e-7;
const ROUNDS: usize = 15;

/// A chain of links, three rows on the velocity of each `every`-th one, and the numbers of these
/// rows.
fn chain(count: usize, every: usize) -> Result<(KktSystem, Vec<usize>), Box<dyn Error>> {
    let chain = links::chain(count, 0.0, links::Pose::Turned)?;
    let (n, m) = (chain.n(), chain.m());
    let contacts: Vec<usize> = (0..count).step_by(every).collect();
    let all = m + 3 * contacts.len();
    let (mut j, mut r) = (PatternBuilder::new(all, n), PatternBuilder::new(all, all));
    for i in 0..m {
        chain
            .j
            .pattern()
            .row(i)
            .iter()
            .for_each(|k| j.insert(i, *k as usize));
        chain
            .r
            .pattern()
            .row(i)
            .iter()
            .for_each(|k| r.insert(i, *k as usize));
    }
    for (k, link) in contacts.iter().enumerate() {
        j.insert_block((m + 3 * k, 6 * link), (3, 6), false);
        (m + 3 * k..m + 3 * k + 3).for_each(|i| r.insert(i, i));
    }
    let mut blocks = chain.row_blocks().to_vec();
    blocks.extend((1..=contacts.len()).map(|k| m + 3 * k));
    let w = chain.w.pattern().clone();
    let mut out = KktSystem::new(
        w,
        j.finish()?,
        r.finish()?,
        chain.primal_blocks().to_vec(),
        blocks,
    )?;
    out.w.values_mut().copy_from_slice(chain.w.values());
    // The rows of the chain come first, on the same patterns.
    out.j.values_mut()[..chain.j.values().len()].copy_from_slice(chain.j.values());
    for i in m..all {
        for slot in out.j.pattern().row_slots(i) {
            let column = out.j.pattern().indices()[slot] as usize;
            out.j.values_mut()[slot] = if column % 6 == i % 3 { 1.0 } else { 0.1 };
        }
        for slot in out.r.pattern().row_slots(i) {
            out.r.values_mut()[slot] = COMPLIANCE;
        }
    }
    Ok((out, (m..all).collect()))
}

fn wall(side: usize) -> Result<(KktSystem, Vec<usize>), Box<dyn Error>> {
    let system = Stack::wall(side).system(COMPLIANCE)?;
    let rows = (0..system.m()).collect();
    Ok((system, rows))
}

pub(super) fn run(arguments: &[String]) -> Ended {
    let threads: usize = match arguments.first() {
        Some(text) => text.parse()?,
        None => 2,
    };
    println!("| case | rows | entries of A | one thread ms | {threads} threads ms | ratio |");
    println!("|---|---|---|---|---|---|");
    for (name, (system, rows)) in [
        ("wall 20", wall(20)?),
        ("wall 40", wall(40)?),
        ("chain 100, contacts on all", chain(100, 1)?),
        ("chain 400, contacts on all", chain(400, 1)?),
        ("chain 1000, contacts on every third", chain(1000, 3)?),
    ] {
        let blocks: Vec<usize> = (0..=rows.len()).step_by(3).collect();
        let make = |threads| SaddleDelassus::with(&system, &rows, &blocks, DelassusChoice::Explicit, threads);
        let mut operators = [make(1)?, make(threads)?];
        let mut least = [f64::INFINITY; 2];
        for _ in 0..ROUNDS {
            for (operator, least) in operators.iter_mut().zip(&mut least) {
                let start = Instant::now();
                operator.update(&system)?;
                *least = least.min(1e3 * start.elapsed().as_secs_f64());
            }
        }
        let ones = vec![1.0; rows.len()];
        let products = operators.each_ref().map(|operator| {
            let mut out = vec![0.0; rows.len()];
            operator.rows_times(0..rows.len(), &ones, &mut out);
            out
        });
        if products[0] != products[1] {
            return Err(format!("{name}: the bits of {threads} threads are not those of one").into());
        }
        let ([one, many], entries) = (least, operators[0].entries());
        println!(
            "| {name} | {} | {entries} | {one:.3} | {many:.3} | {:.2} |",
            rows.len(),
            one / many
        );
    }
    Ok(ExitCode::SUCCESS)
}
