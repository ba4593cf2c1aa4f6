//! A clamped beam under its weight, of which each process evaluates, assembles and solves a part:
//! `mpirun -n 2 target/release/examples/spread_cantilever 100 10 10`
//!
//! Prints its sag against beam theory, and time, memory and communication of the processes.

#[cfg(feature = "petsc")]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    spread::run()
}

/// Without PETSc there is nothing to show, and why is said.
#[cfg(not(feature = "petsc"))]
fn main() {
    if let Err(error) = pliant_petsc::Session::begin() {
        println!("{error}");
    }
}

#[cfg(feature = "petsc")]
mod spread {
    use pliant_continuum::{Mesh, Solid};
    use pliant_model::{Model, Problem};
    use pliant_petsc::{NodesOfPart, Session, SpreadModel, bisect};
    use std::error::Error;
    use std::time::Instant;

    const SIZE: [f64; 3] = [1.0, 0.1, 0.1];
    const YOUNG: f64 = 1e9;
    const DENSITY: f64 = 1000.0;
    const G: f64 = 9.81;

    pub(super) fn run() -> Result<(), Box<dyn Error>> {
        let mut cells = [40, 4, 4];
        for (cell, word) in cells.iter_mut().zip(std::env::args().skip(1)) {
            *cell = word.parse()?;
        }
        let session = Session::begin()?;
        let start = Instant::now();
        let whole = Mesh::hexahedral_box(SIZE, cells)?;
        let count = whole.nodes.len();
        let (part, mesh) = part_of(&session, &whole);
        drop(whole);

        let mut model = Model::new();
        model.set_gravity([0.0, 0.0, -G])?;
        let solid = Solid::corotational(YOUNG, 0.0).with_density(DENSITY);
        let nodes = solid.add_to(&mut model, "beam", &mesh)?.nodes;
        for (i, place) in mesh.nodes.iter().enumerate() {
            if place[0] == 0.0 {
                model.fix(nodes, i, &[true; 3])?;
            }
        }
        let mut beam = SpreadModel::new(&session, Problem::new(model), &part.coordinates(3), 3 * part.own)?;
        let planned = session.largest(start.elapsed().as_secs_f64())?;
        let start = Instant::now();
        let report = beam.find_rest(1e-10, 20)?;
        let at_rest = session.largest(start.elapsed().as_secs_f64())?;

        let places = beam.problem().positions(beam.state(), nodes);
        let lowest = places.iter().skip(2).step_by(3).fold(0.0f64, |a, z| a.min(*z));
        let sag = session.largest(-lowest)?;
        let (area, inertia) = (SIZE[1] * SIZE[2], SIZE[1] * SIZE[2].powi(3) / 12.0);
        let load = DENSITY * G * area;
        let theory = load / (8.0 * YOUNG * inertia) + load / (2.0 * 5.0 / 6.0 * 0.5 * YOUNG * area);

        // The clamp holds all of the section, linear elements are a little stiff.
        assert!((sag / theory - 1.0).abs() < 0.1, "{sag} {theory}");

        let memory = session.memory()? / 1e9;
        let share = beam.share().unwrap_or_default();
        let largest = [memory, share.entries as f64, share.received as f64].map(|own| session.largest(own));
        let [memory, entries, received] = largest;
        if session.rank() == 0 {
            println!("processes            {}", session.size());
            println!("unknowns             {}", 3 * count);
            println!("sag                  {sag:.12e} m, beam theory {theory:.4e} m");
            println!("Newton               {} iterations", report.newton_iterations);
            println!("conjugate gradients  {} iterations", report.iterations);
            println!("residual             {:.1e}", report.residual);
            println!("made, at rest        {planned:.2} s, {at_rest:.2} s");
            println!("memory of a process  {:.3} GB", memory?);
            println!("entries of a process {}", entries?);
            println!("received in a product {} numbers", received?);
        }
        Ok(())
    }

    /// The part of a mesh that this process has.
    fn part_of(session: &Session, whole: &Mesh) -> (NodesOfPart, Mesh) {
        let centre = |nodes: &[usize]| {
            [0, 1, 2].map(|k| nodes.iter().map(|a| whole.nodes[*a][k]).sum::<f64>() / nodes.len() as f64)
        };
        let centres: Vec<_> = whole.elements.iter().map(|e| centre(&e.nodes)).collect();
        let part_of = bisect(&centres, session.size());
        let nodes_of = |e: usize| &whole.elements[e].nodes[..];
        let part = NodesOfPart::new(&part_of, nodes_of, whole.nodes.len(), session.rank());
        let mut mesh = Mesh {
            nodes: part.nodes.iter().map(|a| whole.nodes[*a]).collect(),
            elements: part.elements.iter().map(|e| whole.elements[*e].clone()).collect(),
        };
        for node in mesh.elements.iter_mut().flat_map(|e| &mut e.nodes) {
            // All nodes of its elements are the part's.
            *node = part.place(*node).unwrap_or(*node);
        }
        (part, mesh)
    }
}
