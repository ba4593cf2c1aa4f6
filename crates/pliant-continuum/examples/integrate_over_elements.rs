//! Integrate over finite elements of any kind with their own rules and shape functions.
//!
//! `int f dV = sum w det(dX/dxi) f(X)`. Rules are exact up to their degree: over the unit cube
//! `x^2 y^2` has the integral 1/9, over the tetrahedron of the unit axes `x y` has 1/120.
//!
//! `cargo run --release -p pliant-continuum --example integrate_over_elements`

use pliant_continuum::{ContinuumError, ElementKind, Mesh};

/// The integral of a function over a mesh by rules of a degree.
fn integral(mesh: &Mesh, degree: usize, f: impl Fn([f64; 3]) -> f64) -> f64 {
    let mut sum = 0.0;
    for element in &mesh.elements {
        let functions = element.kind.shape_functions();
        let rule = element.kind.quadrature(degree);
        for (point, weight) in rule.points.iter().zip(&rule.weights) {
            let at = functions.at(*point);
            let (mut place, mut d) = ([0.0; 3], [[0.0; 3]; 3]);
            for ((node, share), slope) in element.nodes.iter().zip(&at.values).zip(&at.gradients) {
                for i in 0..3 {
                    place[i] += share * mesh.nodes[*node][i];
                    (0..3).for_each(|j| d[i][j] += slope[j] * mesh.nodes[*node][i]);
                }
            }
            let minor = |j: usize, k: usize| d[1][j] * d[2][k] - d[1][k] * d[2][j];
            let volume = d[0][0] * minor(1, 2) + d[0][1] * minor(2, 0) + d[0][2] * minor(0, 1);
            sum += weight * volume * f(place);
        }
    }
    sum
}

fn main() -> Result<(), ContinuumError> {
    let cube = Mesh::hexahedral_box([1.0; 3], [2, 2, 2])?;
    for mesh in [
        cube.clone(),
        cube.clone().into_quadratic(),
        cube.into_tetrahedra(),
    ] {
        let kind = mesh.elements[0].kind;
        let found = integral(&mesh, 4, |[x, y, _]| x * x * y * y);
        println!("{}: {} elements, {found:.15}", kind.name(), mesh.elements.len());
        assert!((found - 1.0 / 9.0).abs() < 1e-14);
        assert!((integral(&mesh, 0, |_| 1.0) - 1.0).abs() < 1e-14);
    }
    let mut corners = vec![[0.0; 3]];
    corners.extend([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]);
    let tet = Mesh::of(ElementKind::Tet4, &corners, &[[0, 1, 2, 3]]);
    let exact = integral(&tet, 2, |[x, y, _]| x * y);
    let coarse = integral(&tet, 1, |[x, y, _]| x * y);
    println!("x y over a tetrahedron: {exact:.12} by degree 2, {coarse:.12} by degree 1");
    assert!((exact - 1.0 / 120.0).abs() < 1e-15);
    // The centre alone: 1/6 of (1/4)^2.
    assert!((coarse - 1.0 / 96.0).abs() < 1e-15);
    Ok(())
}
