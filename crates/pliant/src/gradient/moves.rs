//! How contacts move with the coordinates and velocities at the start of a step.

use super::contacts::{ContactSearch, between};
use crate::Simulation;
use pliant_gradient::{ContactIdentity, ContactMove, ContactPlace, ContactWay, GradientError, TakenContact};
use pliant_kkt::Support;
use pliant_model::{NodeKind, State};
use std::collections::{BTreeMap, BTreeSet};

/// How far coordinates are moved to see how contacts follow (m, rad; of velocities as a share of
/// the fastest), the first that shows a smooth way: geometry is so on the scale of its radii, where
/// central differences of fourth order over the first are good to about 1e-11; faces that lie on
/// each other are faces within 1e-5 of their size alone.
const MOVED: [f64; 4] = [1e-4, 1e-5, 1e-6, 1e-7];

/// Share by which the way of a predicted place with velocities may have a kink: the search for
/// where fast bodies meet ends half a margin before that, and how far it gets has kinks where
/// bodies begin to spin.
const PREDICTED: f64 = 1e-2;

/// The size of gravity (m/s^2), for a velocity that there is at least to compare with.
const GRAVITY: f64 = 10.0;

/// The way of a contact, as a multiple of that of a coordinate and of the arm of its elements,
/// beyond which it is another one.
const MOST_MOVED: f64 = 100.0;

pub(super) const COMES_AND_GOES: &str = "it comes and goes, or changes its elements, close to the start of the step: there is no derivative there";

/// The contacts that are followed: which they are, where they are, and the coordinates that they
/// hang on.
struct Followed {
    identities: Vec<ContactIdentity>,
    places: Vec<ContactPlace>,
    /// Points at which the search has them; other contacts of the same elements, as corners of a
    /// box, are no place that one has moved to.
    points: Vec<Option<[f64; 3]>>,
    dofs: Vec<BTreeSet<usize>>,
    start: State,
}

/// Coordinates that are moved together, by displacements or by velocities, which are this fast
/// (m/s, rad/s).
struct Together<'a> {
    dofs: &'a [usize],
    fastest: Option<f64>,
}

/// How contacts move with each coordinate that one of them hangs on, and with its velocity where
/// places depend on that: fast bodies have their contacts where they will meet. Contacts that come
/// and go are an error, or left out.
///
/// Coordinates that no contact has two of are moved together, so that the number of searches is
/// that of the coordinates of a contact and its neighbours, not that of the model.
///
/// # Errors
/// [`GradientError::NotBuilt`] where one comes and goes that is `needed`.
pub(super) fn find_moves(
    simulation: &mut Simulation,
    search: &mut ContactSearch,
    needed: bool,
    out: &mut Vec<TakenContact>,
) -> Result<(), GradientError> {
    if out.is_empty() {
        return Ok(());
    }
    let identities: Vec<ContactIdentity> = out.iter().map(|c| c.identity).collect();
    search.find(simulation, &identities)?;
    let places: Vec<ContactPlace> = out.iter().map(|c| c.place.clone()).collect();
    let of = Followed {
        points: (0..out.len()).map(|i| search.point_of(i)).collect(),
        dofs: places.iter().map(|p| dofs_of(simulation, &p.supports)).collect(),
        start: search.motion.state.clone(),
        identities,
        places,
    };
    // What is at rest is predicted to fall.
    let velocities = of.start.velocities.iter();
    let fastest = velocities.fold(GRAVITY * search.horizon, |l, v| l.max(v.abs()));
    let predicted = predicted(simulation, search, &of, fastest)?;
    let mut stays = vec![true; out.len()];
    let groups = apart(&of.dofs);
    for fastest in [None, Some(fastest)] {
        for dofs in &groups {
            // The contacts that the coordinates move.
            let mut moved: Vec<(usize, usize)> = Vec::new();
            for (i, own) in of.dofs.iter().enumerate() {
                let is_moved = fastest.is_none() || predicted[i];
                let own = dofs.iter().find(|dof| is_moved && own.contains(dof));
                moved.extend(own.map(|dof| (i, *dof)));
            }
            let together = Together { dofs, fastest };
            for (i, _) in follow(simulation, search, &of, &together, moved, out)? {
                if needed {
                    return Err(between(simulation, of.identities[i].sides, COMES_AND_GOES));
                }
                stays[i] = false;
            }
        }
    }
    out.iter_mut()
        .for_each(|c| c.moves.sort_by_key(|m| (m.by_velocity, m.dof)));
    let mut stays = stays.into_iter();
    out.retain(|_| stays.next().unwrap_or(false));
    Ok(())
}

/// Whether the place of each contact depends on the velocities at the start.
fn predicted(
    simulation: &mut Simulation,
    search: &mut ContactSearch,
    of: &Followed,
    fastest: f64,
) -> Result<Vec<bool>, GradientError> {
    search.motion.state.clone_from(&of.start);
    let all: BTreeSet<usize> = of.dofs.iter().flatten().copied().collect();
    for dof in all {
        // Every coordinate by another share, so that none of their effects cancel.
        let share = MOVED[0] * (1.0 + (dof as f64).sin());
        change_velocity(simulation, dof, share * fastest, &mut search.motion.state);
    }
    search.find(simulation, &of.identities)?;
    let same = |i: usize| search.place_of(i).is_some_and(|place| place == of.places[i]);
    Ok((0..of.places.len()).map(|i| !same(i)).collect())
}

/// Follows contacts along coordinates, each along one of them, on the longest way that is smooth.
/// Returns those that have none.
///
/// # Errors
/// Those of the search.
fn follow(
    simulation: &mut Simulation,
    search: &mut ContactSearch,
    of: &Followed,
    together: &Together<'_>,
    mut left: Vec<(usize, usize)>,
    out: &mut [TakenContact],
) -> Result<Vec<(usize, usize)>, GradientError> {
    for moved in MOVED {
        if left.is_empty() {
            break;
        }
        let step = moved * together.fastest.unwrap_or(1.0);
        let way = |(i, _): &(usize, usize)| Some(ContactWay::of(&of.places[*i]));
        let mut ways: Vec<Option<ContactWay>> = left.iter().map(way).collect();
        for (point, steps) in ContactWay::POINTS.into_iter().enumerate() {
            search.motion.state.clone_from(&of.start);
            for dof in together.dofs {
                match together.fastest {
                    Some(_) => change_velocity(simulation, *dof, steps * step, &mut search.motion.state),
                    None => move_dof(simulation, *dof, steps * step, &mut search.motion.state),
                }
            }
            search.find(simulation, &of.identities)?;
            for ((i, _), way) in left.iter().zip(&mut ways) {
                let (from, reach) = (&of.places[*i], reach(&of.places[*i].supports, step));
                let is_near = |to: [f64; 3]| {
                    let from = of.points[*i].unwrap_or(to);
                    (0..3).all(|k| (to[k] - from[k]).abs() <= reach)
                };
                let found = search
                    .place_of(*i)
                    .filter(|_| search.point_of(*i).is_some_and(is_near));
                let to = found.filter(|to| same_elements(&from.supports, &to.supports));
                match (to, way.as_mut()) {
                    (Some(to), Some(way)) => way.add(point, [from, &to]),
                    _ => *way = None,
                }
            }
        }
        let mut ways = ways.into_iter();
        let (scale, smooth) = match together.fastest {
            Some(fastest) => (fastest, PREDICTED),
            None => (1.0, ContactWay::SMOOTH),
        };
        left.retain(|(i, dof)| {
            let by = ways
                .next()
                .flatten()
                .and_then(|way| way.derivative([step, scale], smooth));
            let is_left = by.is_none();
            out[*i].moves.extend(by.map(|by| ContactMove {
                dof: *dof,
                by_velocity: together.fastest.is_some(),
                by,
            }));
            is_left
        });
    }
    Ok(left)
}

/// How far a contact may be from its place where a coordinate was moved by so much, to be the same.
fn reach(supports: &[Support], moved: f64) -> f64 {
    let arms = supports.iter().flat_map(|s| s.arm);
    MOST_MOVED * moved * arms.fold(1.0f64, |most, arm| most.max(arm.abs()))
}

/// Whether two contacts act on the same elements.
fn same_elements(a: &[Support], b: &[Support]) -> bool {
    let place = |s: &Support| (s.node, s.element);
    a.iter().map(place).eq(b.iter().map(place))
}

/// Parts the coordinates of contacts into groups of which no contact has two.
fn apart(dofs: &[BTreeSet<usize>]) -> Vec<Vec<usize>> {
    let mut contacts_of: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (contact, own) in dofs.iter().enumerate() {
        own.iter()
            .for_each(|dof| contacts_of.entry(*dof).or_default().push(contact));
    }
    let mut taken: Vec<BTreeSet<usize>> = vec![BTreeSet::new(); dofs.len()];
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for (dof, contacts) in contacts_of {
        let is_free = |group: &usize| contacts.iter().all(|c| !taken[*c].contains(group));
        let group = (0..groups.len()).find(is_free).unwrap_or(groups.len());
        if group == groups.len() {
            groups.push(Vec::new());
        }
        groups[group].push(dof);
        contacts.iter().for_each(|c| {
            taken[*c].insert(group);
        });
    }
    groups
}

/// The independent coordinates that elements hang on.
fn dofs_of(simulation: &Simulation, supports: &[Support]) -> BTreeSet<usize> {
    let model = simulation.model();
    let mut left: Vec<(usize, usize)> = supports.iter().map(|s| (s.node.index(), s.element)).collect();
    let mut out = BTreeSet::new();
    while let Some((index, element)) = left.pop() {
        let node = &model.nodes()[index];
        match &node.kind {
            NodeKind::Independent { first_dof, .. } => {
                let size = node.space.velocity_size();
                let first = first_dof + size * element;
                out.extend(first..first + size);
            }
            NodeKind::Mapped { parents, .. } => {
                let list = simulation.system.evaluation.dependencies(index, element);
                left.extend(list.iter().map(|d| (parents[d.parent].index(), d.element)));
            }
        }
    }
    out
}

/// Moves one independent coordinate of a state.
fn move_dof(simulation: &Simulation, dof: usize, by: f64, state: &mut State) {
    for node in simulation.model().nodes() {
        let Some(first) = node.first_dof() else { continue };
        let count = node.velocity_range().len();
        if (first..first + count).contains(&dof) {
            let mut step = vec![0.0; count];
            step[dof - first] = by;
            node.space
                .retract(&mut state.positions[node.position_range()], &step);
        }
    }
}

/// Changes the velocity of one independent coordinate of a state.
fn change_velocity(simulation: &Simulation, dof: usize, by: f64, state: &mut State) {
    for node in simulation.model().nodes() {
        let Some(first) = node.first_dof() else { continue };
        let range = node.velocity_range();
        if (first..first + range.len()).contains(&dof) {
            state.velocities[range.start + dof - first] += by;
        }
    }
}
