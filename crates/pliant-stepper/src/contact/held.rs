//! Elements that hard rows of their own hold in the world: a base bolted at three points, a frame on
//! two hinges that do not line up. Nothing moves them, so that contacts with what does not move
//! either ask for nothing, and have no answer but rounding.

use super::ContactList;
use crate::system::System;
use pliant_kkt::{Assembler, Scheme};
use pliant_model::{ComponentId, Level, Problem};

/// The least share of a row that no other row of its element has, of a row that counts.
const INDEPENDENT: f64 = 1e-6;

/// The elements that are held.
#[derive(Debug, Default)]
pub(super) struct HeldElements {
    /// In the order of their coordinates.
    list: Vec<HeldElement>,
}

/// An element that is held.
#[derive(Debug)]
struct HeldElement {
    /// Its first coordinate.
    dof: usize,
    /// The row groups that hold it.
    groups: Vec<usize>,
}

/// Rows that act on one element alone.
struct OwnRows {
    dof: usize,
    size: usize,
    groups: Vec<usize>,
    rows: Vec<f64>,
}

impl HeldElements {
    /// Finds the elements of a model whose own hard rows, at its initial state, have the rank of
    /// their coordinates: rows that hold an element to first order anywhere hold it for good. Rows
    /// that are driven or of bounded force hold nothing. Cost: an evaluation, a pass over the rows,
    /// and for each element the square of its rows.
    pub(super) fn find(system: &mut System) -> Self {
        let model = &system.model;
        let groups: Vec<usize> = (0..model.row_groups().len())
            .filter(|i| holds(model, *i))
            .collect();
        if groups.is_empty() {
            return Self::default();
        }
        // Its own, for that of the system is where the motion is.
        let mut evaluation = system.new_evaluation();
        let evaluated = model.initial_state().and_then(|mut state| {
            evaluation.propagate(model, &mut state)?;
            evaluation.evaluate(model, &state)?;
            Ok(state)
        });
        let Ok(state) = evaluated else {
            return Self::default();
        };
        let System { model, assembler, .. } = system;
        let scheme = Scheme::implicit_euler(1.0);
        assembler.fill_kinematics(model, &mut evaluation, &scheme, &state);
        let mut elements = elements(model);
        for group in groups {
            let rows = &model.row_groups()[group];
            for row in rows.first_row..rows.first_row + rows.size * rows.count {
                add_row(&mut elements, assembler, row, group);
            }
        }
        let held = elements.into_iter().filter(|e| rank(&e.rows, e.size) == e.size);
        let list = held.map(|e| HeldElement {
            dof: e.dof,
            groups: e.groups,
        });
        Self { list: list.collect() }
    }

    /// Removes contacts of which both sides are held or of the world.
    pub(super) fn leave_out(&self, model: &Problem, assembler: &Assembler, list: &mut ContactList) {
        if self.list.is_empty() {
            return;
        }
        let is_held = |dof: usize| {
            let found = self.list.binary_search_by_key(&dof, |e| e.dof);
            found.is_ok_and(|at| self.list[at].groups.iter().all(|group| holds(model, *group)))
        };
        list.retain(|supports| {
            let mut dofs = supports
                .iter()
                .flat_map(|s| assembler.support_dofs(s.node, s.element));
            !dofs.all(is_held)
        });
    }
}

/// Whether a row group holds positions for good.
fn holds(model: &Problem, group: usize) -> bool {
    let Some(group) = model.row_groups().get(group) else {
        return false;
    };
    let ComponentId::Constraint(i) = group.component else {
        return false;
    };
    let level = model.constraints()[i].component.level;
    matches!(level, Level::Position | Level::CurvedPosition)
        && model.bounds(group).is_none()
        && model.motion(group).is_none()
}

/// The elements of all independent nodes, without rows.
fn elements(model: &Problem) -> Vec<OwnRows> {
    let mut out = Vec::new();
    for node in model.nodes() {
        let Some(first) = node.first_dof() else { continue };
        let size = node.space.velocity_size();
        out.extend((0..node.count).map(|element| OwnRows {
            dof: first + element * size,
            size,
            groups: Vec::new(),
            rows: Vec::new(),
        }));
    }
    out
}

/// Adds a row of the filled system to its element, if it acts on one alone.
fn add_row(elements: &mut [OwnRows], assembler: &Assembler, row: usize, group: usize) {
    let entries = || assembler.system().j.row_entries(row).filter(|e| e.1 != 0.0);
    let Some((column, _)) = entries().next() else {
        return;
    };
    let Some(at) = elements.partition_point(|e| e.dof <= column).checked_sub(1) else {
        return;
    };
    let OwnRows {
        dof,
        size,
        groups,
        rows,
    } = &mut elements[at];
    let own = *dof..*dof + *size;
    if !entries().all(|(column, _)| own.contains(&column)) {
        return;
    }
    let start = rows.len();
    rows.resize(start + *size, 0.0);
    for (column, value) in entries() {
        rows[start + column - *dof] = value;
    }
    if groups.last() != Some(&group) {
        groups.push(group);
    }
}

/// The rank of rows of a size, each to a share of its length: the largest that is left is taken
/// from the others, until none is left.
fn rank(rows: &[f64], size: usize) -> usize {
    let mut left: Vec<f64> = Vec::with_capacity(rows.len());
    for row in rows.chunks_exact(size) {
        let norm = norm(row);
        left.extend(row.iter().map(|x| x / norm));
    }
    for rank in 0..size {
        let rows = left.chunks_exact(size);
        let Some(pivot) = rows.max_by(|a, b| norm(a).total_cmp(&norm(b))) else {
            return rank;
        };
        let length = norm(pivot);
        if length < INDEPENDENT {
            return rank;
        }
        let pivot: Vec<f64> = pivot.iter().map(|x| x / length).collect();
        for row in left.chunks_exact_mut(size) {
            let along: f64 = row.iter().zip(&pivot).map(|(a, b)| a * b).sum();
            row.iter_mut().zip(&pivot).for_each(|(x, p)| *x -= along * p);
        }
    }
    size
}

fn norm(row: &[f64]) -> f64 {
    row.iter().map(|x| x * x).sum::<f64>().sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows of a hinge along z at a place: three of its point, two of its axis.
    fn hinge([x, y]: [f64; 2]) -> Vec<f64> {
        let mut rows = vec![1.0, 0.0, 0.0, 0.0, 0.0, -y];
        rows.extend([0.0, 1.0, 0.0, 0.0, 0.0, x]);
        rows.extend([0.0, 0.0, 1.0, y, -x, 0.0]);
        rows.extend([0.0, 0.0, 0.0, 1.0, 0.0, 0.0]);
        rows.extend([0.0, 0.0, 0.0, 0.0, 1.0, 0.0]);
        rows
    }

    #[test]
    fn two_hinges_of_one_axis_let_it_turn() {
        let two = |b| [hinge([0.0, 0.0]), hinge(b)].concat();
        assert_eq!(rank(&hinge([1.0, 2.0]), 6), 5);
        assert_eq!(rank(&two([0.0, 0.0]), 6), 5);
        assert_eq!(rank(&two([1e-3, 0.0]), 6), 6);
        assert_eq!(rank(&[], 3), 0);
    }
}
