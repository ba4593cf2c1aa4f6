//! Solids of 3,000 to 300,000 unknowns: where the time of a step goes on one thread and on two,
//! what it keeps in memory, and how near assembly is to what the machine can do.
//!
//! Every row is measured in a process of its own, so that its peak of memory is its own.

use crate::roofline::Machine;
use pliant::continuum::{DeformationGradient, Mesh, Solid, StrainEnergy};
use pliant::prelude::*;
use std::error::Error;
use std::process::Command;

/// Cells of the beams: as thick as each other, so that factors stay affordable, but for the
/// smallest.
const CELLS: [[usize; 3]; 4] = [[30, 5, 4], [99, 9, 9], [333, 9, 9], [999, 9, 9]];
const SOLIDS: [&str; 3] = [
    "hexahedra, corotational",
    "hexahedra, neo-Hookean",
    "tetrahedra, corotational",
];

/// A beam clamped at its end at x = 0, which begins to fall.
pub fn clamped(solid: &Solid, mesh: &Mesh) -> Result<(Simulation, NodeId), Box<dyn Error>> {
    let mut model = Model::new();
    model.set_gravity([0.0, 0.0, -9.81])?;
    let parts = solid.add_to(&mut model, "beam", mesh)?;
    for (k, x) in mesh.nodes.iter().enumerate() {
        if x[0] == 0.0 {
            model.fix(parts.nodes, k, &[true; 3])?;
        }
    }
    Ok((Simulation::with_options(model, Options::theta())?, parts.nodes))
}

/// Least times of a step (s): strains and ledger, filling, factor, solve.
pub fn least_times(simulation: &mut Simulation, steps: usize) -> Result<[f64; 4], Box<dyn Error>> {
    let mut least = [f64::INFINITY; 4];
    for step in 0..2 + steps {
        let t = simulation.step(0.01)?.timings;
        // At rest there is nothing to turn and nothing to pull on.
        if step < 2 {
            continue;
        }
        let other = t.total() - t.fill - t.factor - t.solve;
        for (least, time) in least.iter_mut().zip([other, t.fill, t.factor, t.solve]) {
            *least = least.min(time.as_secs_f64());
        }
    }
    Ok(least)
}

/// The measurements of one solid by a process.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Measured {
    times: [f64; 4],
    unknowns: usize,
    entries: usize,
    factor: usize,
    /// Bytes that assembly has to move, and products and sums that it has to take.
    bytes: f64,
    operations: f64,
    /// Largest resident memory of the process (bytes); zero where the system does not say.
    peak: f64,
}

/// Measures one solid and prints what [`tables`] reads: the child's side.
pub fn measure_one(solid: usize, size: usize, threads: usize) -> Result<(), Box<dyn Error>> {
    let (Some(name), Some(cells)) = (SOLIDS.get(solid), CELLS.get(size)) else {
        return Err("no such solid".into());
    };
    let thick = 0.1;
    let length = if size == 0 { 1.0 } else { cells[0] as f64 / 99.0 };
    let mesh = Mesh::hexahedral_box([length, thick, thick], *cells)?;
    let tetrahedra = name.starts_with("tetrahedra");
    let mesh = if tetrahedra { mesh.into_tetrahedra() } else { mesh };
    let law = if name.ends_with("neo-Hookean") {
        Solid::hyperelastic(StrainEnergy::stable_neo_hookean(1e6, 0.3))
    } else {
        Solid::corotational(1e6, 0.3)
    };
    let (bytes, operations) = least_work(&mesh, name.ends_with("corotational"))?;
    let (mut simulation, _) = clamped(&law, &mesh)?;
    simulation.options.tuning.solver.threads = threads;
    let times = least_times(&mut simulation, if size < 2 { 8 } else { 4 })?;
    let entries = simulation.system().w.pattern().len();
    // Each entry of the system is written once.
    let bytes = bytes + 8.0 * entries as f64;
    let [other, fill, factor, solve] = times;
    println!(
        "{other} {fill} {factor} {solve} {} {entries} {} {bytes} {operations} {}",
        3 * mesh.nodes.len(),
        simulation.counters().solver.factor_entries,
        peak()
    );
    Ok(())
}

/// Bytes that assembly reads and writes at the least, without those of the system matrix, and
/// products and sums of the products that carry the points to the nodes: what no order of
/// evaluation spares.
///
/// Each point has three coefficients for each node of its finite element, its volume, and places
/// and velocities of its gradient and its strains, which are part of the state. Each node has
/// places and velocities to be read and a right-hand side to be written. Each finite element has a
/// slot (4 bytes) for each row of its nodes and each node up to its own.
///
/// With `J_a = I (x) g_a` a point takes `A_ik g_b` for six pairs of coordinates (`6 x 9 n` products
/// and sums), and with them `sum_q g_a (A_ik g_b)`: `3 n^2` for each of three pairs of different
/// coordinates, `3 n (n+1)/2` for each of three that are symmetric.
fn least_work(mesh: &Mesh, strains: bool) -> Result<(f64, f64), Box<dyn Error>> {
    let gradients = DeformationGradient::new(mesh)?;
    let (mut bytes, mut operations) = (0.0, 0.0);
    let state = if strains { 2.0 * 15.0 } else { 2.0 * 9.0 };
    for q in 0..gradients.point_count() {
        let n = gradients.nodes_of(q).len() as f64;
        bytes += 8.0 * (3.0 * n + 1.0 + state);
        operations += 2.0 * (54.0 * n + 9.0 * n * n + 4.5 * n * (n + 1.0));
    }
    for element in &mesh.elements {
        let n = element.nodes.len() as f64;
        bytes += 4.0 * 1.5 * n * (n + 1.0);
    }
    bytes += 8.0 * 9.0 * mesh.nodes.len() as f64;
    Ok((bytes, operations))
}

/// Largest resident memory of this process (bytes); zero where the system does not say.
pub(crate) fn peak() -> f64 {
    let text = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = text.lines().find_map(|l| l.strip_prefix("VmHWM:"));
    let kilobytes = line.and_then(|l| l.split_whitespace().next()?.parse::<f64>().ok());
    1024.0 * kilobytes.unwrap_or(0.0)
}

impl Measured {
    fn in_child(solid: usize, size: usize, threads: usize) -> Result<Self, Box<dyn Error>> {
        let mut child = Command::new(std::env::current_exe()?);
        child
            .args(["solids", "--one"])
            .args([solid, size, threads].map(|a| format!("{a}")));
        let out = child.output()?;
        if !out.status.success() {
            return Err(String::from_utf8_lossy(&out.stderr).into_owned().into());
        }
        Self::parse(&String::from_utf8_lossy(&out.stdout)).ok_or_else(|| "a child said something else".into())
    }

    fn parse(text: &str) -> Option<Self> {
        let numbers: Vec<f64> = text.split_whitespace().map_while(|w| w.parse().ok()).collect();
        let [
            other,
            fill,
            factor,
            solve,
            unknowns,
            entries,
            stored,
            bytes,
            operations,
            peak,
        ] = numbers[..]
        else {
            return None;
        };
        Some(Self {
            times: [other, fill, factor, solve],
            unknowns: unknowns as usize,
            entries: entries as usize,
            factor: stored as usize,
            bytes,
            operations,
            peak,
        })
    }

    fn assembly(&self) -> f64 {
        self.times[0] + self.times[1]
    }
}

/// Prints both tables: times on one thread and on two with their ratios, then memory and roofline.
/// `most` leaves out larger solids.
pub fn tables(most: usize) -> Result<(), Box<dyn Error>> {
    let machines = [Machine::measure(1), Machine::measure(2)];
    let mut rows = Vec::new();
    println!(
        "| solid | unknowns | other ms, 1 and 2 threads | ratio | fill | ratio | factor | ratio | solve | ratio | fill / factor |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|---|");
    for (size, cells) in CELLS.iter().enumerate() {
        let unknowns = 3 * cells.iter().map(|c| c + 1).product::<usize>();
        for (solid, name) in SOLIDS.iter().enumerate().filter(|_| unknowns <= most) {
            let one = Measured::in_child(solid, size, 1)?;
            let two = Measured::in_child(solid, size, 2)?;
            let times = one.times.iter().zip(two.times);
            let columns: Vec<String> = times
                .map(|(a, b)| format!("{:.1}, {:.1} | {:.2}", 1e3 * a, 1e3 * b, a / b))
                .collect();
            println!(
                "| {name} | {} | {} | {:.2} |",
                one.unknowns,
                columns.join(" | "),
                one.times[1] / one.times[2]
            );
            rows.push((*name, one, two));
        }
    }
    let [one, two] = machines;
    println!(
        "\nOne thread moves {:.1} GB/s and takes {:.1} G products and sums per second, two {:.1} and {:.1}.\n",
        one.bandwidth / 1e9,
        one.rate / 1e9,
        two.bandwidth / 1e9,
        two.rate / 1e9
    );
    println!(
        "| solid | unknowns | entries of W | entries of L | peak MB | least MB moved | ms | least products and sums, 1e6 | ms | assembly ms, 1 and 2 threads | times the bound |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|---|");
    for (name, first, second) in rows {
        let bound = |m: &Machine| m.least_time(first.bytes, first.operations);
        println!(
            "| {name} | {} | {} | {} | {:.0} | {:.1} | {:.1} | {:.0} | {:.1} | {:.1}, {:.1} | {:.1}, {:.1} |",
            first.unknowns,
            first.entries,
            first.factor,
            first.peak / 1e6,
            first.bytes / 1e6,
            1e3 * first.bytes / one.bandwidth,
            first.operations / 1e6,
            1e3 * first.operations / one.rate,
            1e3 * first.assembly(),
            1e3 * second.assembly(),
            first.assembly() / bound(&one),
            second.assembly() / bound(&two)
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand: one cube has 8 points of 8 nodes, each with 24 coefficients, a volume and 30
    /// numbers of state; 8 nodes with 9 numbers; 108 slots.
    #[test]
    fn the_least_work_of_one_cube_is_counted_right() {
        let mesh = Mesh::hexahedral_box([1.0; 3], [1; 3]).expect("a box");
        let (bytes, operations) = least_work(&mesh, true).expect("a mesh");
        assert_eq!(bytes, 8.0 * (8.0 * 55.0 + 72.0) + 4.0 * 108.0);
        // For each point 432 of the first product, and 3 x 3 x 64 + 3 x 3 x 36 of the second.
        assert_eq!(operations, 8.0 * 2.0 * (432.0 + 576.0 + 324.0));
    }

    #[test]
    fn what_a_child_prints_is_read_back() {
        let m = Measured::parse("1 2 3 4 5 6 7 8 9 10\n").expect("ten numbers");
        assert_eq!((m.times, m.unknowns, m.peak), ([1.0, 2.0, 3.0, 4.0], 5, 10.0));
        assert_eq!(Measured::parse("1 2 3"), None);
    }
}
