//! The contacts of a step that was taken, and how they move with its start.

use crate::Simulation;
use crate::contact::{
    Contact, ContactList, ContactReading, ContactState, FrictionCoupling, FrictionModel, Overlap, Restitution,
};
use pliant_gradient::{
    ContactBranch, ContactIdentity, ContactMove, ContactNumbers, ContactPlace, GradientError, TakenContact,
};
use pliant_kkt::Support;
use pliant_model::{NodeKind, State};
use pliant_stepper::contact::look_ahead;
use pliant_stepper::motion::Motion;
use std::collections::{BTreeMap, BTreeSet};

/// How far coordinates are moved to see how contacts follow (m, rad), the first that shows a smooth
/// way: geometry is so on the scale of its radii, where central differences of fourth order over
/// the first are good to about 1e-11; faces that lie on each other are faces within 1e-5 of their
/// size alone.
const MOVED: [f64; 4] = [1e-4, 1e-5, 1e-6, 1e-7];

/// Difference of the derivatives of second and of fourth order of a smooth way, as a share of one and
/// of the derivative: below it are the third power of a curvature of `1/MOVED/100` and rounding.
const SMOOTH: f64 = 1e-4;

/// Steps of the differences, and their weights in those of fourth and of second order.
const STENCIL: [(f64, f64, f64); 4] = [
    (-2.0, 1.0 / 12.0, 0.0),
    (-1.0, -8.0 / 12.0, -0.5),
    (1.0, 8.0 / 12.0, 0.5),
    (2.0, -1.0 / 12.0, 0.0),
];

/// The way of a contact, as a multiple of that of a coordinate and of the arm of its elements, beyond
/// which it is another one.
const MOST_MOVED: f64 = 100.0;

/// The time in which contacts are near that close in it, in lengths of the step.
pub(super) const FAR: f64 = 10.0;

/// Difference of normals and gaps, the latter as a share of the largest coordinate, up to which a
/// contact that is found again is that of the step.
const SAME: f64 = 1e-9;

/// Share of the largest velocity below which a point does not slip: its force is on the cone, where
/// contacts share forces in several ways, and its slip is rounding.
const STOPPED: f64 = 1e-9;

/// Share of the largest coordinate that gaps are rounded to.
const ROUNDING: f64 = 1e-14;

/// Share of the limit of friction that is its edge.
const EDGE: f64 = 1e-6;

/// Share of the largest coordinate that is moved in a step at the least velocity that slip is
/// compared with.
const SLOW: f64 = 1e-6;

/// Velocity across the normal at the end of the step (m/s).
fn slip_of(reading: &ContactReading) -> f64 {
    let along: f64 = (0..3)
        .map(|k| reading.velocity[k] * reading.contact.normal[k])
        .sum();
    let across = (0..3).map(|k| reading.velocity[k] - along * reading.contact.normal[k]);
    across.map(|v| v * v).sum::<f64>().sqrt()
}

const COMES_AND_GOES: &str = "it comes and goes, or changes its elements, close to the start of the step: there is no derivative there";

/// Whether another branch of a contact begins: it carries next to nothing of the largest impulse,
/// its gap at the start is none but for what steps leave (m), or it does not slip with its friction at
/// the limit.
fn is_at_change(reading: &ContactReading, [most, left]: [f64; 2], branch: ContactBranch) -> bool {
    let (normal, impulse) = (reading.contact.normal, reading.impulse);
    let along: f64 = impulse.iter().zip(normal).map(|(r, n)| r * n).sum();
    let across = impulse.iter().zip(normal).map(|(r, n)| r - along * n);
    let friction = across.map(|r| r * r).sum::<f64>().sqrt();
    let mu = reading.contact.law.friction;
    let at_limit = branch == ContactBranch::Sticking && friction >= (1.0 - EDGE) * mu * along;
    let law = &reading.contact.law;
    let at_gap = law.compliance == 0.0 && reading.contact.gap.abs() <= left;
    along <= STOPPED * most || at_gap || at_limit
}

/// The numbers of the law of a contact.
///
/// # Errors
/// [`GradientError::NotBuilt`] for laws whose derivative is not built.
pub(super) fn numbers_of(
    simulation: &Simulation,
    contact: &Contact,
) -> Result<ContactNumbers, GradientError> {
    check(simulation, contact)?;
    let law = &contact.law;
    Ok(ContactNumbers {
        friction: law.friction,
        compliance: law.compliance,
        relaxation: law.relaxation_time,
        restitution: law.restitution,
        recovery: recovery(simulation, contact)?,
    })
}

/// Identity of a contact among others.
fn identity_of(contact: &Contact) -> ContactIdentity {
    ContactIdentity {
        sides: contact.sides,
        point: contact.point,
    }
}

/// The rate at which the row of a contact takes its overlap back.
fn recovery(simulation: &Simulation, contact: &Contact) -> Result<f64, GradientError> {
    match simulation.options.contacts.overlap {
        Overlap::Rows { rate, speed } if contact.law.compliance == 0.0 => match -rate * contact.gap < speed {
            true => Ok(rate),
            false => Err(not_built(
                simulation,
                contact,
                "its overlap recovers at the largest speed of `Overlap::Rows`",
            )),
        },
        _ => Ok(0.0),
    }
}

/// Whether two contacts act on the same elements.
fn same_elements(a: &[Support], b: &[Support]) -> bool {
    let place = |s: &Support| (s.node, s.element);
    a.iter().map(place).eq(b.iter().map(place))
}

/// Fills `acting` with the contacts that carried an impulse in the last step, of length `h` (s), and, if
/// wanted, `near` with those that carried nothing and are near at its start: within the margins of
/// their colliders, or such as would close in ten steps like this; without those that come and go
/// within [`MOVED`] of there.
///
/// # Errors
/// [`GradientError::NotBuilt`] for laws whose derivative is not built, and where acting contacts come
/// and go within [`MOVED`] of the start of the step.
pub(crate) fn taken_contacts(
    simulation: &mut Simulation,
    h: f64,
    acting: &mut Vec<TakenContact>,
    near: Option<&mut Vec<TakenContact>>,
) -> Result<(), GradientError> {
    acting.clear();
    let carries = |c: &&ContactReading| c.state != ContactState::Open;
    let readings: Vec<ContactReading> = simulation.contacts().iter().filter(carries).copied().collect();
    if readings.is_empty() && (near.is_none() || simulation.system.contacts.is_none()) {
        near.into_iter().for_each(Vec::clear);
        return Ok(());
    }
    // Normals of what closes are those that the step predicted over its length; what is near is seen
    // from farther away.
    let horizons = match near {
        Some(_) => [FAR * h, h],
        None => [h, FAR * h],
    };
    let mut search = ContactSearch::new(simulation.start.clone(), horizons[0]);
    let mut taken = find_acting(simulation, h, &readings, &mut search, acting);
    if taken.is_err() {
        acting.clear();
        search.horizon = horizons[1];
        taken = find_acting(simulation, h, &readings, &mut search, acting);
    }
    let needed = acting.len();
    let found = taken.and_then(|()| {
        if near.is_some() {
            add_near(simulation, &search, acting)?;
        }
        find_moves(simulation, &mut search, needed, acting)
    });
    // The evaluation goes back to the present state.
    let back = simulation.system.propagate(&mut simulation.motion.state);
    back.map_err(|e| GradientError::NoModel { why: e.to_string() })?;
    found?;
    if let Some(near) = near {
        near.clear();
        near.extend(acting.drain(needed..));
    }
    Ok(())
}

/// Finds the contacts of readings, without how they move.
fn find_acting(
    simulation: &mut Simulation,
    h: f64,
    readings: &[ContactReading],
    search: &mut ContactSearch,
    out: &mut Vec<TakenContact>,
) -> Result<(), GradientError> {
    let share = simulation.contacts_report().restitution;
    let identities: Vec<ContactIdentity> = readings.iter().map(|r| identity_of(&r.contact)).collect();
    let found = search.find_all(simulation, &identities)?;
    let places: Vec<ContactPlace> = found.iter().map(|index| search.place(*index)).collect();
    let largest = search
        .motion
        .state
        .positions
        .iter()
        .fold(0.0f64, |l, x| l.max(x.abs()));
    let ends = [&simulation.start, &simulation.motion];
    let velocities = ends.iter().flat_map(|m| &m.state.velocities);
    let fastest = velocities.fold(SLOW * largest / h, |l, v| l.max(v.abs()));
    // Contacts are solved to a share of the velocities, and places are rounded.
    let left = ROUNDING * largest + h * fastest * simulation.options.contacts.accuracy;
    let impulses = readings.iter().flat_map(|reading| reading.impulse);
    let most = impulses.fold(0.0f64, |l, r| l.max(r.abs()));
    for ((place, index), reading) in places.iter().zip(&found).zip(readings) {
        let (own, point) = (&reading.contact, search.contact(*index).point);
        let turned = (0..3).map(|k| (place.normal[k] - own.normal[k]).abs());
        let apart = (0..3).map(|k| (point[k] - own.point[k]).abs());
        let way = apart.fold((place.gap - own.gap).abs(), f64::max);
        let off = turned.fold(way / largest.max(1e-300), f64::max);
        if off > SAME {
            return Err(not_built(
                simulation,
                &reading.contact,
                "it turned in the step, or was found behind its start",
            ));
        }
        let law = &reading.contact.law;
        let branch = match reading.state {
            _ if law.friction == 0.0 => ContactBranch::Frictionless,
            ContactState::Slipping if slip_of(reading) > STOPPED * fastest => ContactBranch::Slipping,
            _ => ContactBranch::Sticking,
        };
        out.push(TakenContact {
            place: place.clone(),
            moves: Vec::new(),
            identity: identity_of(&reading.contact),
            branch,
            law: numbers_of(simulation, &reading.contact)?,
            share,
            impulse: reading.impulse,
            at_change: is_at_change(reading, [most, left], branch),
        });
    }
    Ok(())
}

/// Adds the contacts of a search that are not among those that it was to find.
fn add_near(
    simulation: &Simulation,
    search: &ContactSearch,
    out: &mut Vec<TakenContact>,
) -> Result<(), GradientError> {
    let share = simulation.contacts_report().restitution;
    for (index, contact) in search.list.contacts().iter().enumerate() {
        if search.found.contains(&Some(index)) {
            continue;
        }
        out.push(TakenContact {
            place: search.place(index),
            moves: Vec::new(),
            identity: identity_of(contact),
            branch: ContactBranch::Frictionless,
            law: numbers_of(simulation, contact)?,
            share,
            impulse: [0.0; 3],
            at_change: false,
        });
    }
    Ok(())
}

/// How contacts move with each coordinate that one of them hangs on. Of those behind the first
/// `needed` ones, such as come and go are left out.
///
/// Coordinates that no contact has two of are moved together, so that the number of searches is that
/// of the coordinates of a contact and its neighbours, not that of the model.
///
/// # Errors
/// [`GradientError::NotBuilt`] where one that is needed comes and goes.
fn find_moves(
    simulation: &mut Simulation,
    search: &mut ContactSearch,
    needed: usize,
    out: &mut Vec<TakenContact>,
) -> Result<(), GradientError> {
    let identities: Vec<ContactIdentity> = out.iter().map(|c| c.identity).collect();
    let places: Vec<ContactPlace> = out.iter().map(|c| c.place.clone()).collect();
    let dofs: Vec<BTreeSet<usize>> = places.iter().map(|p| dofs_of(simulation, &p.supports)).collect();
    let start = search.motion.state.clone();
    let mut stays = vec![true; out.len()];
    // Other contacts of the same elements, as corners of a box, are no place that one has moved to.
    search.find(simulation, &identities)?;
    let points: Vec<Option<[f64; 3]>> = search
        .found
        .iter()
        .map(|index| index.map(|index| search.contact(index).point))
        .collect();
    for together in apart(&dofs) {
        // The contacts that the coordinates move, whose way is not known yet.
        let mut left: Vec<(usize, usize)> = Vec::new();
        for (i, own) in dofs.iter().enumerate() {
            left.extend(together.iter().find(|dof| own.contains(dof)).map(|dof| (i, *dof)));
        }
        for moved in MOVED {
            let mut ways: Vec<Option<Way>> = left.iter().map(|(i, _)| Some(Way::of(&places[*i]))).collect();
            for step in STENCIL {
                search.motion.state.clone_from(&start);
                for dof in &together {
                    move_dof(simulation, *dof, step.0 * moved, &mut search.motion.state);
                }
                search.find(simulation, &identities)?;
                for ((i, _), way) in left.iter().zip(&mut ways) {
                    let reach = reach(&places[*i].supports, moved);
                    let is_near = |to: [f64; 3]| {
                        let from = points[*i].unwrap_or(to);
                        (0..3).all(|k| (to[k] - from[k]).abs() <= reach)
                    };
                    let found = search.found[*i].filter(|index| is_near(search.contact(*index).point));
                    let found = found.map(|index| search.place(index));
                    let to = found.filter(|to| same_elements(&places[*i].supports, &to.supports));
                    match (to, way.as_mut()) {
                        (Some(to), Some(way)) => way.add(step, moved, [&places[*i], &to]),
                        _ => *way = None,
                    }
                }
            }
            let mut ways = ways.into_iter();
            left.retain(|(i, dof)| {
                let way = ways.next().flatten().filter(Way::is_smooth);
                let is_left = way.is_none();
                out[*i].moves.extend(way.map(|way| ContactMove {
                    dof: *dof,
                    by: way.fourth,
                }));
                is_left
            });
            if left.is_empty() {
                break;
            }
        }
        for (i, _) in left {
            if i < needed {
                return Err(between(simulation, identities[i].sides, COMES_AND_GOES));
            }
            stays[i] = false;
        }
    }
    out.iter_mut().for_each(|c| c.moves.sort_by_key(|m| m.dof));
    let mut stays = stays.into_iter();
    out.retain(|_| stays.next().unwrap_or(false));
    Ok(())
}

/// How far a contact may be from its place where a coordinate was moved by so much, to be the same.
fn reach(supports: &[Support], moved: f64) -> f64 {
    let arms = supports.iter().flat_map(|s| s.arm);
    MOST_MOVED * moved * arms.fold(1.0f64, |most, arm| most.max(arm.abs()))
}

/// The way of a contact along a coordinate, by differences of fourth and of second order.
struct Way {
    fourth: ContactPlace,
    second: ContactPlace,
}

impl Way {
    /// A way of none from a place.
    fn of(place: &ContactPlace) -> Self {
        Self {
            fourth: zero_of(place),
            second: zero_of(place),
        }
    }

    /// Adds the difference of two places that are a step of the stencil apart.
    fn add(&mut self, (_, fourth, second): (f64, f64, f64), moved: f64, ends: [&ContactPlace; 2]) {
        add(&mut self.fourth, fourth / moved, ends);
        add(&mut self.second, second / moved, ends);
    }

    /// Whether both agree: a normal that jumps on the way has no derivative.
    fn is_smooth(&self) -> bool {
        let numbers = |place: &ContactPlace| {
            let own = place
                .supports
                .iter()
                .flat_map(|s| s.arm.into_iter().chain([s.weight]));
            let all = place.normal.into_iter().chain([place.gap]).chain(own);
            all.collect::<Vec<f64>>()
        };
        let (fourth, second) = (numbers(&self.fourth), numbers(&self.second));
        let size = fourth.iter().fold(1.0f64, |size, by| size.max(by.abs()));
        let mut pairs = fourth.iter().zip(second);
        pairs.all(|(a, b)| (a - b).abs() <= SMOOTH * size)
    }
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

/// A search for the contacts of the start of a step.
#[derive(Debug)]
pub(super) struct ContactSearch {
    /// The motion at whose state contacts are searched.
    pub(super) motion: Motion,
    list: ContactList,
    /// Indices in the list of the contacts that are wanted, one for each; none of one that is not there.
    found: Vec<Option<usize>>,
    /// The time in which contacts may close that are searched (s).
    pub(super) horizon: f64,
}

impl ContactSearch {
    /// A search at a motion, of what may close within a time (s).
    pub(super) fn new(motion: Motion, horizon: f64) -> Self {
        Self {
            motion,
            list: ContactList::default(),
            found: Vec::new(),
            horizon,
        }
    }

    /// Finds contacts at the present state of the motion, as far as they are there.
    ///
    /// # Errors
    /// [`GradientError::NoModel`].
    pub(super) fn find(
        &mut self,
        simulation: &mut Simulation,
        identities: &[ContactIdentity],
    ) -> Result<(), GradientError> {
        let propagated = simulation.system.propagate(&mut self.motion.state);
        let searched = propagated
            .and_then(|()| look_ahead(&mut simulation.system, &self.motion, self.horizon, &mut self.list));
        if let Err(e) = searched {
            return Err(GradientError::NoModel { why: e.to_string() });
        }
        self.found.clear();
        for identity in identities {
            // Names belong to the end of the step, places do not.
            let all = self.list.contacts().iter().enumerate();
            let same = all.filter(|(_, c)| c.sides == identity.sides);
            let distance = |c: &Contact| {
                let way = (0..3).map(|k| c.point[k] - identity.point[k]);
                way.map(|d| d * d).sum::<f64>()
            };
            let nearest = same.min_by(|(_, a), (_, b)| distance(a).total_cmp(&distance(b)));
            self.found.push(nearest.map(|(index, _)| index));
        }
        Ok(())
    }

    /// Finds contacts as [`find`](Self::find) does, all of them. Returns their indices in the list.
    ///
    /// # Errors
    /// [`GradientError::NotBuilt`] if one is not there, [`GradientError::NoModel`].
    pub(super) fn find_all(
        &mut self,
        simulation: &mut Simulation,
        identities: &[ContactIdentity],
    ) -> Result<Vec<usize>, GradientError> {
        self.find(simulation, identities)?;
        let pairs = self.found.iter().zip(identities);
        let each = pairs.map(|(found, identity)| {
            found.ok_or_else(|| between(simulation, identity.sides, COMES_AND_GOES))
        });
        each.collect()
    }

    /// A contact of the list.
    pub(super) fn contact(&self, index: usize) -> &Contact {
        &self.list.contacts()[index]
    }

    /// The place of a contact of the list.
    pub(super) fn place(&self, index: usize) -> ContactPlace {
        let contact = self.contact(index);
        ContactPlace {
            normal: contact.normal,
            gap: contact.gap,
            supports: self.list.supports(index).to_vec(),
        }
    }
}

/// The place of a contact that does not move.
fn zero_of(place: &ContactPlace) -> ContactPlace {
    let still = |s: &Support| Support {
        weight: 0.0,
        arm: [0.0; 3],
        ..*s
    };
    ContactPlace {
        normal: [0.0; 3],
        gap: 0.0,
        supports: place.supports.iter().map(still).collect(),
    }
}

/// Adds `weight` times the difference of two places.
fn add(out: &mut ContactPlace, weight: f64, [from, to]: [&ContactPlace; 2]) {
    out.gap += weight * (to.gap - from.gap);
    for k in 0..3 {
        out.normal[k] += weight * (to.normal[k] - from.normal[k]);
    }
    let pairs = from.supports.iter().zip(&to.supports);
    for (out, (from, to)) in out.supports.iter_mut().zip(pairs) {
        out.weight += weight * (to.weight - from.weight);
        for k in 0..3 {
            out.arm[k] += weight * (to.arm[k] - from.arm[k]);
        }
    }
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

/// Refuses laws whose derivative is not built.
fn check(simulation: &Simulation, contact: &Contact) -> Result<(), GradientError> {
    let law = &contact.law;
    let options = &simulation.options.contacts;
    let why = [
        (
            law.friction_model != FrictionModel::Cone,
            "its friction is no circular cone",
        ),
        (
            law.torsion > 0.0 || law.rolling > 0.0,
            "it resists spin or rolling",
        ),
        (law.viscous_friction > 0.0, "it has viscous friction"),
        (law.dissipation > 0.0, "its damping grows with the overlap"),
        (
            options.friction_coupling != FrictionCoupling::Exact,
            "friction is not coupled exactly",
        ),
        (
            law.restitution > 0.0 && options.restitution == Restitution::Poisson,
            "its restitution is by Poisson's law",
        ),
    ];
    match why.into_iter().find(|(is, _)| *is) {
        Some((_, why)) => Err(not_built(simulation, contact, why)),
        None => Ok(()),
    }
}

fn not_built(simulation: &Simulation, contact: &Contact, why: &'static str) -> GradientError {
    between(simulation, contact.sides, why)
}

/// An error that names the contact of two sides.
fn between(simulation: &Simulation, sides: [u32; 2], why: &'static str) -> GradientError {
    let [one, two] = sides.map(|side| simulation.contact_side(side));
    GradientError::NotBuilt {
        what: format!("the contact of {one} and {two} at t = {} s", simulation.time()),
        why,
    }
}
