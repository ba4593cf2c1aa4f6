//! Elements that hard rows hold in the world: a base bolted at three points, a frame on two hinges
//! that do not line up, and whatever is fixed to these; and elements whose coordinates are all
//! fixed, at rest or at given velocities. No force moves them, so that contacts among them have no
//! answer but rounding.

use super::ContactList;
use super::detect::Search;
use crate::system::System;
use pliant_kkt::{Assembler, Scheme};
use pliant_model::{ComponentId, Level, Problem};
use pliant_solvers::KktSystem;

/// The least share of a row that no other row of its element has, of a row that counts.
const INDEPENDENT: f64 = 1e-6;

/// The elements that are held.
#[derive(Debug, Default)]
pub(super) struct HeldElements {
    /// Behind those that hold them.
    list: Vec<HeldElement>,
    /// First coordinates, ascending, with the number of the element in the list.
    by_dof: Vec<(usize, usize)>,
    /// Whether each element of the list is held at present.
    still: Vec<bool>,
}

/// An element that is held.
#[derive(Debug)]
struct HeldElement {
    /// The row groups that hold it, and the elements of the list that these hold it to.
    groups: Vec<usize>,
    to: Vec<usize>,
}

/// An element of an independent node, with the rows that act on it and on nothing else that may
/// move.
struct Element {
    dof: usize,
    size: usize,
    groups: Vec<usize>,
    /// Held elements, by their numbers in the list, on which these rows act too.
    to: Vec<usize>,
    /// Its part of each of these rows, and whether there are more than when it was last looked at.
    rows: Vec<f64>,
    grown: bool,
    /// Its number in the list of those that are held.
    held: Option<usize>,
}

impl HeldElements {
    /// Finds the elements of a model whose hard rows, to the world and to others that are held,
    /// have the rank of their coordinates at its initial state: rows that hold an element to first
    /// order anywhere hold it for good. Rows that are driven or of bounded force hold nothing.
    /// Cost: an evaluation, a pass over the rows for each element on the way to the last one, and
    /// for each element the square of its rows.
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
        let rows = groups.iter().flat_map(|group| {
            let rows = &model.row_groups()[*group];
            let all = rows.first_row..rows.first_row + rows.size * rows.count;
            all.map(|row| (row, *group))
        });
        let mut left: Vec<(usize, usize)> = rows.collect();
        let mut out = Self::default();
        loop {
            left.retain(|(row, group)| !add_row(&mut elements, assembler, *row, *group));
            let before = out.list.len();
            for element in elements.iter_mut().filter(|e| e.grown) {
                element.grown = false;
                if rank(&element.rows, element.size) == element.size {
                    element.held = Some(out.list.len());
                    out.by_dof.push((element.dof, out.list.len()));
                    out.list.push(HeldElement {
                        groups: std::mem::take(&mut element.groups),
                        to: std::mem::take(&mut element.to),
                    });
                }
            }
            if out.list.len() == before {
                out.by_dof.sort_unstable();
                return out;
            }
        }
    }

    /// Removes contacts of which both sides are held or of the world. A side whose coordinates are
    /// all fixed is held, wherever its fixed velocities take it.
    pub(super) fn leave_out(&mut self, search: Search<'_>, list: &mut ContactList) {
        let Search {
            model,
            assembler,
            sleep,
            ..
        } = search;
        self.still.clear();
        for element in &self.list {
            let still = element.groups.iter().all(|group| holds(model, *group))
                && element.to.iter().all(|k| self.still[*k]);
            self.still.push(still);
        }
        let is_held = |dof: usize| {
            let found = self.by_dof.binary_search_by_key(&dof, |e| e.0);
            found.is_ok_and(|at| self.still[self.by_dof[at].1])
                || is_fixed(assembler.system(), dof) && !sleep.holds(dof)
        };
        list.retain(|supports| {
            let mut dofs = supports
                .iter()
                .flat_map(|s| assembler.support_dofs(s.node, s.element));
            !dofs.all(is_held)
        });
    }
}

/// Whether all coordinates of the element with this first one are fixed.
fn is_fixed(system: &KktSystem, dof: usize) -> bool {
    let blocks = system.primal_blocks();
    let end = blocks[blocks.partition_point(|start| *start <= dof)];
    system.fixed[dof..end].iter().all(|fixed| *fixed)
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
fn elements(model: &Problem) -> Vec<Element> {
    let mut out = Vec::new();
    for node in model.nodes() {
        let Some(first) = node.first_dof() else { continue };
        let size = node.space.velocity_size();
        out.extend((0..node.count).map(|element| Element {
            dof: first + element * size,
            size,
            groups: Vec::new(),
            to: Vec::new(),
            rows: Vec::new(),
            grown: false,
            held: None,
        }));
    }
    out
}

/// Adds a row of the filled system to the only element on which it acts that is not held; whether
/// there is no more than one.
fn add_row(elements: &mut [Element], assembler: &Assembler, row: usize, group: usize) -> bool {
    let at = |column: usize| elements.partition_point(|e| e.dof <= column) - 1;
    let entries = || assembler.system().j.row_entries(row).filter(|e| e.1 != 0.0);
    let mut moving = entries()
        .map(|(column, _)| at(column))
        .filter(|k| elements[*k].held.is_none());
    let Some(first) = moving.next() else {
        return true;
    };
    if moving.any(|k| k != first) {
        return false;
    }
    let others: Vec<usize> = entries()
        .filter_map(|(column, _)| elements[at(column)].held)
        .collect();
    let Element {
        dof,
        size,
        groups,
        to,
        rows,
        grown,
        ..
    } = &mut elements[first];
    *grown = true;
    to.extend(others);
    to.sort_unstable();
    to.dedup();
    let start = rows.len();
    rows.resize(start + *size, 0.0);
    for (column, value) in entries() {
        if let Some(own) = column.checked_sub(*dof).filter(|own| own < size) {
            rows[start + own] = value;
        }
    }
    if groups.last() != Some(&group) {
        groups.push(group);
    }
    true
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
