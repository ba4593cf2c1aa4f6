//! The patch test: a mesh of any shape has a uniform strain exactly.
//!
//! Displaced by `u = A X`, every point of a solid has the strain `sym(A)` and the stress of the law,
//! and nodes inside have no force. Here of distorted hexahedra and of tetrahedra.
//!
//! `cargo run --release -p pliant-continuum --example patch_test`

use pliant_continuum::{LinearElastic, Mesh, Solid};
use pliant_model::{Evaluation, Model, Problem};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (young, poisson) = (1e6, 0.3);
    let a = [[1e-3, 4e-4, 0.0], [-2e-4, -5e-4, 3e-4], [1e-4, 0.0, 8e-4]];
    let shear = |i: usize, j: usize| a[i][j] + a[j][i];
    let strain = [a[0][0], a[1][1], a[2][2], shear(0, 1), shear(1, 2), shear(2, 0)];
    let expected = LinearElastic::isotropic(young, poisson, &[1.0]).stresses(&strain);

    let mut mesh = Mesh::hexahedral_box([1.0; 3], [3; 3])?;
    let is_inside = |x: &[f64; 3]| x.iter().all(|x| *x > 0.01 && *x < 0.99);
    for (k, x) in mesh.nodes.iter_mut().enumerate().filter(|(_, x)| is_inside(x)) {
        // Nodes inside go astray by up to a sixth of a cell.
        for (i, x) in x.iter_mut().enumerate() {
            *x += 0.05 * (3.7 * k as f64 + i as f64).sin();
        }
    }
    for mesh in [mesh.clone(), mesh.into_tetrahedra()] {
        let mut model = Model::new();
        let parts = Solid::linear(young, poisson).add_to(&mut model, "block", &mesh)?;
        let problem = Problem::new(model);
        let mut state = problem.initial_state()?;
        for (e, x) in mesh.nodes.iter().enumerate() {
            for i in 0..3 {
                state.positions[3 * e + i] += (0..3).map(|j| a[i][j] * x[j]).sum::<f64>();
            }
        }
        let mut evaluation = Evaluation::new(&problem);
        evaluation.propagate(&problem, &mut state)?;
        evaluation.evaluate(&problem, &state)?;
        let mut force = evaluation.force().to_vec();
        evaluation.pull_back(&problem, &mut force);
        let inside = mesh.nodes.iter().enumerate().filter(|(_, x)| is_inside(x));
        let inside = inside.flat_map(|(e, _)| &force[3 * e..3 * e + 3]);
        let largest = inside.fold(0.0f64, |m, f| m.max(f.abs()));

        // Forces on the gradients themselves, brought up to them from the strains.
        let forces = &force[problem.node(parts.gradients).velocity_range()];
        let fields = parts.fields(problem.positions(&state, parts.gradients), forces, &[]);
        let numbers = fields.stress.iter().flat_map(|s| s.iter().zip(&expected));
        let miss = numbers.fold(0.0f64, |m, (s, e)| m.max((s - e).abs()));
        println!("stress off by {miss:.1e} Pa, force inside {largest:.1e} N");
        assert!(miss < 1e-10 * young && largest < 1e-10 * young);
    }
    Ok(())
}
