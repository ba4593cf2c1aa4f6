//! All colliders, and what they touch.

mod cast;
mod crossed;
mod detect;
mod fields;
mod found;
mod foundation;
mod materials;
mod missed;
mod passed;
mod pieces;
mod sheets;
mod solid_sheet;
mod tied;
mod workspace;

use pliant_dense::{Vec3, rotation};
use pliant_model::{Model, NodeId};
use std::collections::BTreeMap;

use crate::shape::Kind;
use crate::{
    Collider, ColliderId, Contact, ContactArea, ContactError, ContactKey, ContactMemory, ContactSide,
    Direction, FrictionRule, Material, MaterialId, Placement, Remembered, Rest,
};
use found::Found;
use foundation::Foundations;
use materials::Materials;
use pieces::{Piece, Pieces};
use tied::TiedPoints;
use workspace::Workspace;

pub use crossed::{Crossed, StraightWay};

/// Colliders, materials, the identities of contacts, and the room for finding them.
#[derive(Clone, Debug)]
pub struct World {
    colliders: Vec<Collider>,
    materials: Materials,
    /// Pairs of colliders that do not meet, sorted.
    excluded: Vec<(ColliderId, ColliderId)>,
    tied: TiedPoints,
    foundations: Foundations,
    memory: ContactMemory,
    /// The state of rest of each collider; empty if all move.
    rest: Vec<Rest>,
    /// Gravity that predicted velocities have (m/s^2).
    gravity: Vec3,
    pieces: Pieces,
    contacts: Vec<Contact>,
    missed: Vec<Contact>,
    work: Workspace,
}

impl Default for World {
    fn default() -> Self {
        Self::new()
    }
}

impl World {
    /// A world without colliders; material 0 is [`Material::default`].
    pub fn new() -> Self {
        Self {
            colliders: Vec::new(),
            materials: Materials::default(),
            excluded: Vec::new(),
            tied: TiedPoints::default(),
            foundations: Foundations::default(),
            memory: ContactMemory::default(),
            rest: Vec::new(),
            gravity: Vec3::zeros(),
            pieces: Pieces::default(),
            contacts: Vec::new(),
            missed: Vec::new(),
            work: Workspace::default(),
        }
    }

    /// Adds a material.
    ///
    /// # Errors
    /// [`ContactError`] if a number is out of range.
    pub fn add_material(&mut self, material: Material) -> Result<MaterialId, ContactError> {
        self.foundations.forget();
        self.materials.add(material)
    }

    /// How coefficients of friction combine.
    pub fn set_friction_rule(&mut self, rule: FrictionRule) {
        self.materials.rule = rule;
    }

    /// Whether a material, or that of a pair, has a coefficient of restitution above zero.
    pub fn has_restitution(&self) -> bool {
        self.materials.have_restitution()
    }

    /// Whether a material, or that of a pair, gives way under a force: has a compliance or a
    /// foundation.
    pub fn has_compliance(&self) -> bool {
        self.materials.have_compliance()
    }

    /// Sets the material of a pair, instead of that by the rules. Directions of friction in body
    /// axes are in those of the first.
    ///
    /// # Errors
    /// [`ContactError`] if a number is out of range, or there is no such material.
    pub fn set_pair(&mut self, a: MaterialId, b: MaterialId, material: Material) -> Result<(), ContactError> {
        self.foundations.forget();
        self.materials.set_pair(a, b, material)
    }

    /// Adds a collider.
    ///
    /// # Errors
    /// [`ContactError`] if its name is taken, a number is bad, or the shape cannot be at such a
    /// place.
    pub fn add(&mut self, collider: Collider) -> Result<ColliderId, ContactError> {
        if self.collider_named(&collider.name).is_some() {
            return Err(ContactError::DuplicateName { name: collider.name });
        }
        self.materials.check(&collider.name, collider.material)?;
        let collider = collider.checked()?;
        let id = ColliderId(self.colliders.len() as u32);
        self.foundations.forget();
        self.pieces.add(id, &collider);
        self.colliders.push(collider);
        Ok(id)
    }

    /// Keeps two colliders from meeting (bodies that a joint holds together, say).
    ///
    /// # Errors
    /// [`ContactError`] if there is no such collider.
    pub fn exclude(&mut self, a: ColliderId, b: ColliderId) -> Result<(), ContactError> {
        self.check_colliders([a, b])?;
        self.foundations.forget();
        let pair = (a.min(b), a.max(b));
        if let Err(k) = self.excluded.binary_search(&pair) {
            self.excluded.insert(k, pair);
        }
        Ok(())
    }

    /// Keeps the colliders of what the joints of a model hold together from meeting
    /// ([`Model::joined`]). A simulation that is given the world does so.
    pub fn exclude_joined(&mut self, model: &Model) {
        let mut on: BTreeMap<(NodeId, usize), Vec<ColliderId>> = BTreeMap::new();
        for (id, collider) in (0..).map(ColliderId).zip(&self.colliders) {
            if let Placement::Body { node, element, .. } = collider.placement {
                on.entry((node, element)).or_default().push(id);
            }
        }
        for [a, b] in model.joined() {
            let (Some(a), Some(b)) = (on.get(a), on.get(b)) else {
                continue;
            };
            let pairs = a.iter().flat_map(|a| b.iter().map(|b| (*a.min(b), *a.max(b))));
            self.excluded.extend(pairs);
        }
        self.foundations.forget();
        self.excluded.sort_unstable();
        self.excluded.dedup();
    }

    /// Keeps the elements (points, segments, triangles) of a soft collider that contain one of
    /// these points of its node from meeting another collider, to which the points are tied; the
    /// rest of the soft collider still meets it.
    ///
    /// # Errors
    /// [`ContactError`] if there is no such collider, or the first is not soft.
    pub fn exclude_points(
        &mut self,
        soft: ColliderId,
        points: &[usize],
        other: ColliderId,
    ) -> Result<(), ContactError> {
        self.check_colliders([soft, other])?;
        let collider = &self.colliders[soft.index()];
        if !matches!(collider.placement, Placement::Points(_)) {
            return Err(ContactError::Placement {
                name: collider.name.clone(),
                reason: "only points of soft shapes can be kept from meeting something",
            });
        }
        points.iter().for_each(|p| self.tied.add(soft, *p, other));
        Ok(())
    }

    fn check_colliders(&self, ids: [ColliderId; 2]) -> Result<(), ContactError> {
        let count = self.colliders.len();
        match ids.into_iter().find(|id| id.index() >= count) {
            None => Ok(()),
            Some(id) => Err(ContactError::Missing {
                name: "an exclusion".into(),
                what: "collider",
                index: id.index(),
                count,
            }),
        }
    }

    /// The colliders, in the order of their ids.
    pub fn colliders(&self) -> &[Collider] {
        &self.colliders
    }

    /// The materials, in the order of their ids.
    pub fn materials(&self) -> &[Material] {
        self.materials.list()
    }

    /// The collider with this index in [`colliders`](Self::colliders).
    pub fn collider(&self, index: u32) -> Option<ColliderId> {
        ((index as usize) < self.colliders.len()).then_some(ColliderId(index))
    }

    /// The collider of this name.
    pub fn collider_named(&self, name: &str) -> Option<ColliderId> {
        self.colliders
            .iter()
            .position(|c| c.name == name)
            .map(|k| ColliderId(k as u32))
    }

    /// Whether all colliders that may meet can press by the elastic foundations of their materials,
    /// which [`update`](Self::update) finds out, too. Cost: a pass over all pairs of colliders
    /// where a material has a foundation.
    ///
    /// # Errors
    /// [`ContactError::Foundation`].
    pub fn check_foundations(&self) -> Result<(), ContactError> {
        foundation::pressing(self).map(|_| ())
    }

    /// Whether of two meshes that press on each other by elastic foundations one is fine enough for
    /// its points to be in a patch: at most half as far apart as the narrower mesh is wide. Coarser
    /// ones could pass into each other where no point of either is in the other.
    ///
    /// # Errors
    /// [`ContactError::CoarseFoundation`], and as [`check_foundations`](Self::check_foundations);
    /// [`ContactError::State`] where the model has no places to begin with.
    pub fn check_columns(&mut self, model: &Model) -> Result<(), ContactError> {
        foundation::check_spacing(self, model)
    }

    /// The areas of the points of a collider whose shape is one mesh of triangles, rigid or soft;
    /// none of other shapes.
    ///
    /// # Errors
    /// [`ContactError::State`] where the model has no places to begin with, and errors of a
    /// collider that is not of this model.
    pub fn contact_area(
        &self,
        model: &Model,
        collider: ColliderId,
    ) -> Result<Option<ContactArea>, ContactError> {
        self.check_colliders([collider; 2])?;
        foundation::area_of(self, model, collider)
    }

    /// The smallest half width of the parts of each collider (m): the radius of balls, cables and
    /// cloths; infinite for half spaces and for surfaces without thickness.
    pub fn half_widths(&self) -> Vec<f64> {
        let mut widths = vec![f64::INFINITY; self.colliders.len()];
        for (k, piece) in self.pieces.list.iter().enumerate() {
            let width = &mut widths[piece.collider.index()];
            *width = width.min(self.pieces.thin(k));
        }
        widths
    }

    /// The contacts of the last update, in the order of their keys.
    pub fn contacts(&self) -> &[Contact] {
        &self.contacts
    }

    /// The identities of contacts, for a checkpoint.
    pub fn memory(&self) -> &ContactMemory {
        &self.memory
    }

    /// Goes back to the identities of a checkpoint.
    ///
    /// # Errors
    /// [`ContactError::Memory`] if it names colliders that there are not.
    pub fn set_memory(&mut self, memory: ContactMemory) -> Result<(), ContactError> {
        memory.check(self.colliders.len())?;
        // The room for the entries of a heap stays.
        self.memory.next_serial = memory.next_serial;
        self.memory.entries.clone_from(&memory.entries);
        self.contacts.clear();
        self.work.searched_again = true;
        Ok(())
    }

    /// The tests that one search may take from now on: of pairs of parts of colliders whose boxes
    /// meet, of pairs of their elements, of new contacts against remembered ones. Any number by
    /// default.
    pub fn set_most_tests(&mut self, tests: u64) {
        self.work.tests.most = tests;
    }

    /// Tests of the last search.
    pub fn tests(&self) -> u64 {
        self.work.tests.count
    }

    /// The tests of a search ended at a pair of colliders.
    fn too_many_tests(&self, [a, b]: [ColliderId; 2]) -> ContactError {
        ContactError::TooManyTests {
            between: [a, b].map(|id| self.colliders[id.index()].name.clone()),
            count: self.work.tests.count,
            limit: self.work.tests.most,
        }
    }

    /// Says what moves, stands and sleeps among the elements of nodes, until it is said again:
    /// pairs of a sleeper with what sleeps or stands are not looked at, and their contacts keep
    /// their names.
    pub fn set_rest(&mut self, of: &dyn Fn(NodeId, usize) -> Rest) {
        let rest = self
            .colliders
            .iter()
            .map(|c| match (&c.placement, &c.shape.kind) {
                (Placement::Fixed(_), _) => Rest::Stands,
                (Placement::Body { node, element, .. }, _) => of(*node, *element),
                (Placement::Points(node), Kind::Soft(mesh)) => {
                    let mut points = (0..mesh.point_count).map(|k| of(*node, k));
                    let first = points.next().unwrap_or(Rest::Stands);
                    points.fold(first, Rest::and)
                }
                (Placement::Points(_), _) => Rest::Moves,
            });
        self.rest.clear();
        self.rest.extend(rest);
    }

    /// Says that the velocities of [`update`](Self::update) and [`look`](Self::look) are those at the
    /// end of the horizon under gravity alone (m/s^2), until it is said again; without it they are
    /// taken as they are. What is supported does not fall: pairs that a face keeps apart without it
    /// slide past each other.
    pub fn set_gravity(&mut self, gravity: [f64; 3]) {
        self.gravity = gravity.into();
    }

    /// The material of the pair of two colliders.
    ///
    /// # Panics
    /// If a collider is of another world.
    pub fn pair_material(&self, a: ColliderId, b: ColliderId) -> Material {
        self.materials
            .law([a, b].map(|c| self.colliders[c.index()].material))
            .0
    }

    /// For each pair of materials that may meet, two colliders that have them. Cost: up to a pass
    /// over the pairs of colliders. It ends after a million of them, so that materials of a few
    /// colliders among very many may be left out.
    pub fn meeting_materials(&self) -> Vec<[ColliderId; 2]> {
        let meet = |pair| may_meet(&self.colliders, &self.excluded, pair);
        materials::meeting(&self.colliders, meet)
    }

    /// Finds the contacts at positions and velocities of all nodes of a model
    /// ([`pliant_model::State`]).
    ///
    /// A pair of points is a contact if its gap (m) is at most the margins of its colliders plus
    /// what the points can close within `horizon` (s, the time step, zero or more). Velocities
    /// should be those that bodies would have without contacts, so with the forces of the step in
    /// them: it does not know of accelerations. Pairs that could pass through each other within the
    /// horizon are followed along their velocities (conservative advancement, rotations included)
    /// to where they meet first, and are no contact if they do not.
    ///
    /// # Errors
    /// [`ContactError`] if the horizon or a position or velocity that matters is not a finite
    /// number, or a collider refers to what the model does not have; [`ContactError::Foundation`]
    /// if two colliders may meet whose materials have a foundation and of which none is a mesh of
    /// triangles, or nothing to press it on; [`ContactError::TooManyTests`]. Then the memory is as
    /// it was.
    pub fn update(
        &mut self,
        model: &Model,
        positions: &[f64],
        velocities: &[f64],
        horizon: f64,
    ) -> Result<&[Contact], ContactError> {
        crate::error::not_negative("the horizon", horizon)?;
        self.contacts.clear();
        self.work.searched_again = false;
        foundation::prepare(self, model)?;
        self.pieces.fall = self.gravity * horizon;
        self.pieces
            .place(&self.colliders, model, positions, velocities, horizon)?;
        self.broad()?;
        self.narrow(horizon)?;
        self.count_names()?;
        self.name();
        Ok(&self.contacts)
    }

    /// Finds the contacts at positions and velocities that the bodies may come to, as
    /// [`update`](Self::update) does. They are named by the memory of the last update, and the
    /// memory stays as it is.
    ///
    /// # Errors
    /// Errors of [`update`](Self::update).
    pub fn look(
        &mut self,
        model: &Model,
        positions: &[f64],
        velocities: &[f64],
        horizon: f64,
    ) -> Result<&[Contact], ContactError> {
        let mut kept = std::mem::take(&mut self.work.kept);
        kept.next_serial = self.memory.next_serial;
        kept.entries.clone_from(&self.memory.entries);
        let found = self.update(model, positions, velocities, horizon).map(|_| ());
        std::mem::swap(&mut self.memory, &mut kept);
        self.work.kept = kept;
        self.work.searched_again = true;
        found.map(|()| &self.contacts[..])
    }

    /// Takes the contacts that an [`update`](Self::update) with these positions and velocities
    /// found, which are in the memory, for those of the last update: what
    /// [`find_missed`](Self::find_missed) and [`find_entered`](Self::find_entered) leave out
    /// depends on its velocities, and not on the searches between. Cost: a pass over all colliders,
    /// without a search.
    ///
    /// # Errors
    /// [`ContactError`] as of [`update`](Self::update), for bad numbers and colliders.
    pub fn resume(
        &mut self,
        model: &Model,
        positions: &[f64],
        velocities: &[f64],
        horizon: f64,
    ) -> Result<(), ContactError> {
        crate::error::not_negative("the horizon", horizon)?;
        self.pieces
            .place(&self.colliders, model, positions, velocities, horizon)?;
        self.work.searched_again = false;
        Ok(())
    }

    /// Pairs of pieces that may meet, sorted.
    fn broad(&mut self) -> Result<(), ContactError> {
        self.work.tests.count = 0;
        let (pieces, work) = (&self.pieces, &mut self.work.broad);
        work.boxes.clear();
        work.boxed.clear();
        work.pairs.clear();
        for (k, piece) in pieces.list.iter().enumerate() {
            if !piece.is_half_space() {
                work.boxes.push(pieces.placed[k].swept);
                work.boxed.push(k as u32);
            }
        }
        work.tree.build(&work.boxes);
        let meet = |i: &Piece, j: &Piece| {
            let (a, b) = (i.collider.min(j.collider), i.collider.max(j.collider));
            a != b && may_meet(&self.colliders, &self.excluded, [a, b]) && !resting(&self.rest, [a, b])
        };
        for (n, &i) in work.boxed.iter().enumerate() {
            let (pairs, boxed) = (&mut work.pairs, &work.boxed);
            let tests = &mut self.work.tests;
            work.tree
                .query(&work.boxes, &work.boxes[n], &mut self.work.stack, |m| {
                    let j = boxed[m];
                    // No list grows beyond what may be tested.
                    if tests.add(1) && i < j && meet(&pieces.list[i as usize], &pieces.list[j as usize]) {
                        pairs.push((i, j));
                    }
                });
            let own = pieces.list[i as usize].collider;
            if self.colliders[own.index()].self_contact.is_some() && !resting(&self.rest, [own; 2]) {
                work.pairs.push((i, i));
            }
            if !self.work.tests.add(0) {
                return Err(self.too_many_tests([own; 2]));
            }
        }
        for (k, plane) in pieces.list.iter().enumerate().filter(|(_, p)| p.is_half_space()) {
            if !self.work.tests.add(work.boxed.len()) {
                return Err(self.too_many_tests([plane.collider; 2]));
            }
            for &i in &work.boxed {
                if meet(plane, &pieces.list[i as usize]) && pieces.reaches(k, i as usize) {
                    work.pairs.push((i.min(k as u32), i.max(k as u32)));
                }
            }
        }
        work.pairs.sort_unstable();
        Ok(())
    }

    /// Counts the comparisons of the contacts found with those that are remembered.
    fn count_names(&mut self) -> Result<(), ContactError> {
        let work = &mut self.work;
        // Within a pair of colliders the order of detection stays; a stable sort would allocate.
        work.found.sort_unstable_by_key(|f| (f.colliders, f.order));
        for same in work.found.chunk_by(|a, b| a.colliders == b.colliders) {
            let key = same[0].colliders.map(|c| c.0);
            let old = &self.memory.entries;
            let first = old.partition_point(|e| e.colliders < key);
            let known = old[first..].partition_point(|e| e.colliders == key);
            if !work.tests.add(known.saturating_mul(same.len())) {
                let pair = same[0].colliders;
                return Err(self.too_many_tests(pair));
            }
        }
        Ok(())
    }

    /// Gives every contact found the key it had, or a new one.
    fn name(&mut self) {
        let (found, naming) = (&self.work.found, &mut self.work.naming);
        naming.remembered.clear();
        let old = &self.memory.entries;
        let kept = |e: &&Remembered| resting(&self.rest, e.colliders.map(ColliderId));
        naming.remembered.extend(old.iter().filter(kept));
        let mut start = 0;
        while start < found.len() {
            let pair = found[start].colliders;
            let end = start + found[start..].iter().take_while(|f| f.colliders == pair).count();
            naming.unnamed.clear();
            let unnamed = found[start..end].iter().map(|f| f.unnamed(&self.pieces));
            naming.unnamed.extend(unnamed);
            let key = pair.map(|c| c.0);
            let first = old.partition_point(|e| e.colliders < key);
            let last = first + old[first..].iter().take_while(|e| e.colliders == key).count();
            let names = naming.matching.run(&old[first..last], &naming.unnamed);
            for ((found, contact), name) in found[start..end].iter().zip(&naming.unnamed).zip(names) {
                let (serial, age) = match name {
                    Some(k) => (old[first + k].serial, old[first + k].age.saturating_add(1)),
                    None => (self.memory.next_serial, 0),
                };
                if name.is_none() {
                    self.memory.next_serial += 1;
                }
                naming.remembered.push(found.remembered(contact, serial, age));
            }
            start = end;
        }
        // What is found comes behind what rests, in the order of what was found.
        let named = naming.remembered.len() - found.len();
        for k in 0..self.work.found.len() {
            let Remembered { serial, age, .. } = self.work.naming.remembered[named + k];
            let contact = self.contact(&self.work.found[k], serial, age);
            self.contacts.push(contact);
        }
        self.contacts.sort_unstable_by_key(|c| c.key);
        let remembered = &mut self.work.naming.remembered;
        remembered.sort_unstable_by_key(|e| (e.colliders, e.serial));
        std::mem::swap(&mut self.memory.entries, remembered);
    }

    /// A contact that has a name.
    fn contact(&self, found: &Found, serial: u64, age: u32) -> Contact {
        let pair = found.colliders;
        let (mut material, owner) = self
            .materials
            .law(pair.map(|c| self.colliders[c.index()].material));
        if found.area > 0.0 {
            material.compliance += material.foundation / found.area;
        }
        let side = |k: usize, point: Vec3| ContactSide {
            collider: pair[k],
            carrier: found.carried_by[k],
            point: point.into(),
        };
        let direction = material.direction.map(|d| match d {
            Direction::World(d) => d,
            Direction::Body(d) => match &self.colliders[pair[owner].index()].placement {
                Placement::Fixed(pose) => rotation::rotate(pose.rotation, d.into()).into(),
                Placement::Body { .. } => {
                    let piece = found.pieces[owner] as usize;
                    (self.pieces.placed[piece].motion.rotation * Vec3::from(d)).into()
                }
                Placement::Points(_) => d,
            },
        });
        Contact {
            key: ContactKey {
                a: pair[0],
                b: pair[1],
                serial,
            },
            a: side(0, found.touch.a),
            b: side(1, found.touch.b),
            normal: found.touch.normal.into(),
            gap: found.touch.gap,
            material,
            direction,
            age,
            swept: found.swept,
        }
    }
}

/// Whether a pair is not looked at.
fn resting(rest: &[Rest], [a, b]: [ColliderId; 2]) -> bool {
    match (rest.get(a.index()), rest.get(b.index())) {
        (Some(a), Some(b)) => a.and(*b) == Rest::Sleeps,
        _ => false,
    }
}

/// Whether contacts between two colliders, the lower number first, are looked for.
fn may_meet(colliders: &[Collider], excluded: &[(ColliderId, ColliderId)], [a, b]: [ColliderId; 2]) -> bool {
    let [x, y] = [a, b].map(|c| &colliders[c.index()]);
    x.groups.meet(y.groups)
        && pieces::apart(&x.placement, &y.placement)
        && excluded.binary_search(&(a, b)).is_err()
}
