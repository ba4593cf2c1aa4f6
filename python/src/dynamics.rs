//! Mass matrices and Jacobians, column by column: a unit velocity of each degree of freedom is
//! carried to all nodes.

use crate::errors;
use numpy::{PyArray, PyArray2, PyArray3, PyArrayMethods};
use pliant::dense::{Vec3, rotation};
use pliant::model::{Evaluation, Model, Node, NodeId, Pose, Space};
use pliant::{Error, Simulation};
use pyo3::prelude::*;

/// The most numbers of a matrix: 200 MB.
const MOST: usize = 25_000_000;

/// Numbers of blocks of rows, one row for each velocity coordinate and one column for each degree
/// of freedom.
#[derive(Debug)]
pub(crate) struct Matrix {
    shape: [usize; 3],
    numbers: Vec<f64>,
}

impl Matrix {
    /// An array of two dimensions, not to be written.
    pub(crate) fn into_matrix(self, py: Python<'_>) -> PyResult<Bound<'_, PyArray2<f64>>> {
        let [blocks, rows, columns] = self.shape;
        let array = PyArray::from_vec(py, self.numbers).reshape([blocks * rows, columns])?;
        array.readwrite().make_nonwriteable();
        Ok(array)
    }

    /// An array of three dimensions, not to be written.
    pub(crate) fn into_blocks(self, py: Python<'_>) -> PyResult<Bound<'_, PyArray3<f64>>> {
        let array = PyArray::from_vec(py, self.numbers).reshape(self.shape)?;
        array.readwrite().make_nonwriteable();
        Ok(array)
    }
}

/// Why there is no matrix.
#[derive(Debug)]
pub(crate) enum Refusal {
    /// Too many numbers: its rows and columns.
    Size(usize, usize),
    /// A mapping is not defined.
    Error(Error),
}

impl Refusal {
    pub(crate) fn raise(&self, py: Python<'_>) -> PyErr {
        match self {
            Self::Error(error) => errors::state(py, error),
            Self::Size(rows, columns) => {
                let text = format!("a matrix of {rows} x {columns} is too large: {MOST} numbers at most");
                errors::state_text(py, &text)
            }
        }
    }
}

/// The places of the degrees of freedom among the velocities of all nodes.
fn places(model: &Model) -> Vec<usize> {
    let independent = model.nodes().iter().filter(|node| node.first_dof().is_some());
    independent.flat_map(Node::velocity_range).collect()
}

/// Velocities of all degrees of freedom.
pub(crate) fn velocities(simulation: &Simulation) -> Vec<f64> {
    let all = &simulation.state().velocities;
    places(simulation.model()).into_iter().map(|k| all[k]).collect()
}

/// Copies the velocities of all degrees of freedom.
pub(crate) fn read_velocities(simulation: &Simulation, out: &mut [f64]) {
    let all = &simulation.state().velocities;
    for (number, place) in out.iter_mut().zip(places(simulation.model())) {
        *number = all[place];
    }
}

/// Fills a matrix column by column: `each` gets the velocities of all nodes that a unit velocity of
/// a degree of freedom makes, and writes them by row.
fn columns(
    simulation: &Simulation,
    [blocks, rows]: [usize; 2],
    mut each: impl FnMut(&Evaluation, &[f64], &mut dyn FnMut(usize, f64)),
) -> Result<Matrix, Refusal> {
    let model = simulation.model();
    let places = places(model);
    let n = places.len();
    let total = blocks.saturating_mul(rows);
    if total.saturating_mul(n) > MOST {
        return Err(Refusal::Size(total, n));
    }
    let mut evaluation = Evaluation::new(model);
    let mut state = simulation.state().clone();
    let found = evaluation.propagate(model, &mut state);
    found.map_err(|error| Refusal::Error(error.into()))?;
    let mut numbers = vec![0.0; total * n];
    let mut column = vec![0.0; model.velocity_count()];
    for (dof, place) in places.iter().enumerate() {
        column.fill(0.0);
        column[*place] = 1.0;
        evaluation.push_forward(model, &mut column);
        each(&evaluation, &column, &mut |row, x| numbers[row * n + dof] = x);
    }
    let shape = [blocks, rows, n];
    Ok(Matrix { shape, numbers })
}

/// `M`, symmetric: the momentum that each unit velocity makes, carried back to the degrees of
/// freedom.
pub(crate) fn mass_matrix(simulation: &Simulation) -> Result<Matrix, Refusal> {
    let model = simulation.model();
    let places = places(model);
    let mut momentum = vec![0.0; model.velocity_count()];
    columns(simulation, [1, places.len()], |evaluation, column, write| {
        momentum.fill(0.0);
        for attachment in model.masses() {
            let node = model.node(attachment.node);
            let range = node.velocity_range();
            let out = &mut momentum[range.clone()];
            attachment
                .component
                .add_product(node.space, 1.0, &column[range], out);
        }
        evaluation.pull_back(model, &mut momentum);
        for (row, place) in places.iter().enumerate() {
            write(row, momentum[*place]);
        }
    })
}

/// Jacobian of all elements of a node; rows of angular velocity are in world axes.
pub(crate) fn jacobian(simulation: &Simulation, id: NodeId) -> Result<Matrix, Refusal> {
    let node = simulation.model().node(id);
    let size = node.space.velocity_size();
    columns(simulation, [node.count, size], |_, column, write| {
        for (element, v) in column[node.velocity_range()].chunks_exact(size).enumerate() {
            let pose = simulation.pose(id, element);
            for (k, x) in in_world(node.space, pose, v).iter().enumerate() {
                write(element * size + k, *x);
            }
        }
    })
}

/// Velocities of an element with the angular part, if there is one, in world axes.
fn in_world(space: Space, pose: Option<Pose>, v: &[f64]) -> Vec<f64> {
    let mut out = v.to_vec();
    if let (Space::Rigid3, Some(pose), [_, _, _, x, y, z]) = (space, pose, v) {
        let turned = rotation::rotate(pose.rotation, Vec3::new(*x, *y, *z));
        out[3..].copy_from_slice(turned.as_slice());
    }
    out
}

/// Jacobian of a point that moves with a body: its velocity, then the angular velocity of the body,
/// both in world axes.
pub(crate) fn point_jacobian(
    simulation: &Simulation,
    id: NodeId,
    element: usize,
    point: Option<[f64; 3]>,
) -> Result<Matrix, Refusal> {
    let node = simulation.model().node(id);
    let pose = simulation.pose(id, element).unwrap_or_default();
    let arm = Vec3::from(point.unwrap_or(pose.position)) - Vec3::from(pose.position);
    let first = node.first_velocity + element * 6;
    columns(simulation, [1, 6], |_, column, write| {
        let v = in_world(node.space, Some(pose), &column[first..first + 6]);
        let angular = Vec3::new(v[3], v[4], v[5]);
        let linear = Vec3::new(v[0], v[1], v[2]) + angular.cross(&arm);
        for (k, x) in linear.iter().chain(angular.iter()).enumerate() {
            write(k, *x);
        }
    })
}
