//! E: slender beams, as cubic Hermite elements made of affine mappings: curvature at Gauss points
//! is a mapping of the nodes' deflections and slopes, and so are the deflections of the mass
//! points.

use super::{Checks, distance};
use pliant::dense::eigen::symmetric_eigen;
use pliant::prelude::*;

pub(super) fn run(checks: &mut Checks) -> Result<(), Error> {
    cantilever(checks)?;
    frequencies(checks)
}

/// Gauss points and weights on (0, 1).
fn gauss(points: usize) -> Vec<(f64, f64)> {
    let half = |x: f64, w: f64| [(0.5 - 0.5 * x, 0.5 * w), (0.5 + 0.5 * x, 0.5 * w)];
    if points == 2 {
        return half((1.0f64 / 3.0).sqrt(), 1.0).to_vec();
    }
    let (a, b) = (3.0 / 7.0, 2.0 / 7.0 * (6.0f64 / 5.0).sqrt());
    let (near, far) = ((18.0 + 30f64.sqrt()) / 36.0, (18.0 - 30f64.sqrt()) / 36.0);
    let mut out = half((a - b).sqrt(), near).to_vec();
    out.extend(half((a + b).sqrt(), far));
    out
}

/// A cantilever of `n` elements: scalars (deflection, slope) of every node, the first clamped; adds
/// a row of `shape` for each of the `points` Gauss points of every element.
fn rows(n: usize, length: f64, points: usize, shape: fn(f64, f64) -> [f64; 4]) -> Affine {
    let le = length / n as f64;
    let mut entries = Vec::new();
    for e in 0..n {
        for (g, (xi, _)) in gauss(points).into_iter().enumerate() {
            for (k, value) in shape(xi, le).into_iter().enumerate() {
                entries.push(AffineEntry {
                    element: e * points + g,
                    coordinate: 0,
                    from: Dependency::new(0, 2 * e + k),
                    from_coordinate: 0,
                    value,
                });
            }
        }
    }
    Affine::new(1, &vec![0.0; n * points], &entries)
}

fn curvature(xi: f64, le: f64) -> [f64; 4] {
    [
        (12.0 * xi - 6.0) / (le * le),
        (6.0 * xi - 4.0) / le,
        (6.0 - 12.0 * xi) / (le * le),
        (6.0 * xi - 2.0) / le,
    ]
}

fn deflection(xi: f64, le: f64) -> [f64; 4] {
    let (x2, x3) = (xi * xi, xi * xi * xi);
    [
        1.0 - 3.0 * x2 + 2.0 * x3,
        le * (xi - 2.0 * x2 + x3),
        3.0 * x2 - 2.0 * x3,
        le * (x3 - x2),
    ]
}

/// The nodes of a beam and its bending, as a stiffness or a compliance.
fn beam(n: usize, length: f64, ei: f64, treatment: Treatment) -> Result<(Model, NodeId, ComponentId), Error> {
    let mut model = Model::new();
    let nodes = model.add_scalars("nodes", &vec![0.0; 2 * n + 2])?;
    for k in 0..2 {
        model.fix(nodes, k, &[true])?;
    }
    let bending = model.add_mapped("bending", &[nodes], rows(n, length, 2, curvature))?;
    // Half of the element's length belongs to each of the two points.
    let law = UniformCompliance::new(2.0 * n as f64 / (ei * length));
    let moments = model.add_force_field("moments", bending, law, treatment)?;
    Ok((model, nodes, moments))
}

/// E01: tip deflection and moments under a tip load, at any refinement.
fn cantilever(checks: &mut Checks) -> Result<(), Error> {
    let (length, ei, load) = (2.0, 350.0, 12.0);
    for n in [1, 4, 16] {
        for treatment in [Treatment::Stiffness, Treatment::Compliance] {
            let (mut model, nodes, moments) = beam(n, length, ei, treatment)?;
            model.add_mass("m", nodes, Mass::Uniform(1.0))?;
            let mut s = Simulation::with_options(model, Options::theta())?;
            s.set_force(nodes, 2 * n, &[load])?;
            s.settle(Settle {
                h: 1.0,
                tolerance: 1e-14,
                ..Settle::default()
            })?;
            let x = s.positions(nodes);
            let key = format!("n={n} K");
            checks.against("E01", &key, &[x[2 * n], x[2 * n + 1]], 1e-11);
            let le = length / n as f64;
            let exact: Vec<f64> = (0..n)
                .flat_map(|e| {
                    gauss(2)
                        .into_iter()
                        .map(move |(xi, _)| load * (length - (e as f64 + xi) * le))
                })
                .collect();
            // A force on a curvature is a moment times the length that it stands for.
            let ours: Vec<f64> = s.force(moments).iter().map(|f| -f / (0.5 * le)).collect();
            checks.compare(
                "E01",
                format!("moments P (L - x), n = {n}, {treatment:?}"),
                &exact,
                &ours,
                1e-8,
            );
        }
    }
    Ok(())
}

/// E04: natural frequencies with consistent mass, and the first mode under the trapezoidal rule.
fn frequencies(checks: &mut Checks) -> Result<(), Error> {
    let (length, ei, density) = (1.5, 80.0, 2.4);
    let build = |n: usize| -> Result<(Model, NodeId), Error> {
        let (mut model, nodes, _) = beam(n, length, ei, Treatment::Stiffness)?;
        let points = model.add_mapped("points", &[nodes], rows(n, length, 4, deflection))?;
        // Four points integrate products of cubics exactly: J^T M J is the consistent mass matrix.
        let masses: Vec<f64> = (0..n)
            .flat_map(|_| gauss(4).into_iter().map(|(_, w)| w * density * length / n as f64))
            .collect();
        model.add_mass("mass", points, Mass::PerElement(masses))?;
        Ok((model, nodes))
    };
    let mut errors = Vec::new();
    for n in [4, 8, 16] {
        let (model, _) = build(n)?;
        let (omega, _) = modes(model)?;
        if n < 16 {
            let key = format!("consistent-mass Hermite n={n}");
            checks.against("E04", &key, &omega[..3], 1e-9);
        } else {
            checks.against("E04", "omega_1..3 with n=16", &omega[..3], 0.03166302519992234);
        }
        errors.push(omega[0] - checks.references.expected("E04", "omega_i")[0]);
    }
    checks.order("E04", "omega_1", 4.0, &errors[..2], 0.2);

    let (model, nodes) = build(4)?;
    let (omega, mode) = modes(model)?;
    let (model, _) = build(4)?;
    let mut s = Simulation::with_options(model, Options::trapezoidal())?;
    let mut state = s.state().clone();
    let range = s.model().node(nodes).position_range();
    state.positions[range.start + 2..range.end].copy_from_slice(&mode);
    s.set_state(&state)?;
    for _ in 0..50 {
        s.step(0.02)?;
    }
    let x = &s.positions(nodes)[2..];
    let largest = (0..mode.len())
        .max_by(|a, b| mode[*a].abs().total_cmp(&mode[*b].abs()))
        .unwrap_or(0);
    let amplitude = x[largest] / mode[largest];
    checks.against(
        "E04",
        "mode 1 amplitude after 50 trapezoid steps = cos(50 h w~)",
        &[amplitude],
        1e-9,
    );
    let off: Vec<f64> = mode.iter().map(|m| amplitude * m).collect();
    checks.at_most("E04", "other modes stay still", 1e-9, distance(x, &off));
    let phase = 50.0 * 2.0 * (0.01 * omega[0]).atan();
    checks.compare("E04", "cos(50 h w~)", &[phase.cos()], &[amplitude], 1e-9);
    Ok(())
}

/// Natural frequencies in ascending order and the shape of the first mode on the free coordinates,
/// from `W = M + h^2 K` at two steps.
fn modes(model: Model) -> Result<(Vec<f64>, Vec<f64>), Error> {
    let mut s = Simulation::with_options(model, Options::theta())?;
    let n = s.model().dof_count() - 2;
    let mut response = |h: f64| -> Result<Vec<f64>, Error> {
        s.step(h)?;
        let w = &s.system().w;
        let entry = |i: usize, j: usize| w.get(i.max(j) + 2, i.min(j) + 2);
        Ok((0..n * n).map(|k| entry(k / n, k % n)).collect())
    };
    let (one, two) = (response(0.01)?, response(0.02)?);
    let mut stiffness: Vec<f64> = one.iter().zip(&two).map(|(a, b)| (b - a) / 3e-4).collect();
    let mass: Vec<f64> = one.iter().zip(&stiffness).map(|(w, k)| w - 1e-4 * k).collect();
    // K z = omega^2 L L^T z with M = L L^T: L^-1 K L^-T has the squares for eigenvalues.
    let mut l = vec![0.0; n * n];
    for i in 0..n {
        for j in 0..=i {
            let sum: f64 = mass[i * n + j] - (0..j).map(|k| l[i * n + k] * l[j * n + k]).sum::<f64>();
            l[i * n + j] = if i == j { sum.sqrt() } else { sum / l[j * n + j] };
        }
    }
    for _ in 0..2 {
        // X <- (L^-1 X)^T, twice.
        for c in 0..n {
            for i in 0..n {
                let sum: f64 = (0..i).map(|k| l[i * n + k] * stiffness[k * n + c]).sum();
                stiffness[i * n + c] = (stiffness[i * n + c] - sum) / l[i * n + i];
            }
        }
        for i in 0..n {
            for j in 0..i {
                stiffness.swap(i * n + j, j * n + i);
            }
        }
    }
    let mut vectors = vec![0.0; n * n];
    symmetric_eigen(n, &mut stiffness, &mut vectors);
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|a, b| stiffness[a * n + a].total_cmp(&stiffness[b * n + b]));
    let omega = order.iter().map(|k| stiffness[k * n + k].sqrt()).collect();
    // z = L^-T y.
    let mut z: Vec<f64> = (0..n).map(|i| vectors[i * n + order[0]]).collect();
    for i in (0..n).rev() {
        let sum: f64 = (i + 1..n).map(|k| l[k * n + i] * z[k]).sum();
        z[i] = (z[i] - sum) / l[i * n + i];
    }
    Ok((omega, z))
}
