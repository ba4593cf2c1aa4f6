//! Contacts of collision geometry: a [`World`] as a finder.

use super::{Contact, ContactFinder, ContactKey, ContactLaw, ContactList};
use crate::Error;
use pliant_contact::{
    Carrier, ContactArea, ContactError, ContactMemory, ContactSide, Material, Placement, Remembered, Rest,
    StraightWay, World,
};
use pliant_dense::rotation;
use pliant_kkt::Support;
use pliant_model::{Model, NodeId, State};

/// Numbers per contact that is remembered.
const ENTRY: usize = 12;

/// The `k`-th thing that carries one side of a contact, of at most three.
fn support(side: &ContactSide, k: usize, model: &Model, state: &State) -> Option<Support> {
    match side.carrier {
        Carrier::Body { node, element, local } if k == 0 => {
            let x = &model.positions(state, node)[7 * element..][..7];
            Some(Support {
                node,
                element,
                weight: 1.0,
                arm: rotation::rotate([x[3], x[4], x[5], x[6]], local.into()).into(),
            })
        }
        Carrier::Points {
            node,
            count,
            elements,
            weights,
        } if k < count => Some(Support {
            node,
            element: elements[k],
            weight: weights[k],
            arm: [0.0; 3],
        }),
        _ => None,
    }
}

/// Adds contacts of collision geometry to a list, with their supports.
fn push(found: &[pliant_contact::Contact], model: &Model, state: &State, out: &mut ContactList) {
    for c in found {
        let [first, second] =
            [&c.a, &c.b].map(|side| (0..3).filter_map(move |k| support(side, k, model, state)));
        let material = &c.material;
        let sides = [c.a.collider, c.b.collider].map(|id| id.index() as u32);
        out.push(
            Contact {
                key: ContactKey(
                    u64::from(c.key.a.index() as u32) << 32 | u64::from(c.key.b.index() as u32),
                    c.key.serial,
                ),
                point: c.b.point,
                normal: c.normal,
                gap: c.gap,
                law: law(material, c.direction),
                sides,
            },
            first,
            second,
        );
    }
}

/// The law of a contact between materials of this law, with the first direction of its friction.
fn law(material: &Material, direction: Option<[f64; 3]>) -> ContactLaw {
    ContactLaw {
        friction: material.friction,
        friction_model: material.friction_model,
        direction,
        restitution: material.restitution,
        compliance: material.compliance,
        relaxation_time: material.relaxation_time,
        dissipation: material.dissipation,
        viscous_friction: material.viscous_friction,
        torsion: material.torsional_friction,
        rolling: material.rolling_friction,
    }
}

impl ContactFinder for World {
    fn nodes(&self) -> Vec<NodeId> {
        let node = |place: &Placement| match *place {
            Placement::Fixed(_) => None,
            Placement::Body { node, .. } | Placement::Points(node) => Some(node),
        };
        self.colliders()
            .iter()
            .filter_map(|c| node(&c.placement))
            .collect()
    }

    fn begin(&mut self, model: &Model) -> Result<(), Error> {
        self.exclude_joined(model);
        Ok(self.check_columns(model)?)
    }

    fn find(
        &mut self,
        model: &Model,
        state: &State,
        horizon: f64,
        out: &mut ContactList,
    ) -> Result<(), Error> {
        let found = self.update(model, &state.positions, &state.velocities, horizon)?;
        push(found, model, state, out);
        Ok(())
    }

    fn set_gravity(&mut self, gravity: [f64; 3]) {
        self.set_gravity(gravity);
    }

    fn resume(&mut self, model: &Model, state: &State, horizon: f64) -> Result<(), Error> {
        Ok(self.resume(model, &state.positions, &state.velocities, horizon)?)
    }

    fn look(
        &mut self,
        model: &Model,
        state: &State,
        horizon: f64,
        out: &mut ContactList,
    ) -> Result<(), Error> {
        let found = self.look(model, &state.positions, &state.velocities, horizon)?;
        push(found, model, state, out);
        Ok(())
    }

    fn find_missed(
        &mut self,
        model: &Model,
        state: &State,
        horizon: f64,
        out: &mut ContactList,
    ) -> Result<(), Error> {
        let found = self.find_missed(model, &state.positions, &state.velocities, horizon)?;
        push(found, model, state, out);
        Ok(())
    }

    fn find_entered(
        &mut self,
        model: &Model,
        state: &State,
        horizon: f64,
        out: &mut ContactList,
    ) -> Result<(), Error> {
        let found = self.find_entered(model, &state.positions, &state.velocities, horizon)?;
        push(found, model, state, out);
        Ok(())
    }

    fn check_crossings(&self) -> Result<(), Error> {
        Ok(self.check_thickness()?)
    }

    fn check_apart(&mut self, model: &Model, state: &State) -> Result<(), Error> {
        Ok(self.check_apart(model, &state.positions, &state.velocities)?)
    }

    fn find_crossed(
        &mut self,
        model: &Model,
        state: &State,
        end: &State,
        horizon: f64,
        out: &mut ContactList,
    ) -> Result<Option<[u32; 2]>, Error> {
        let way = StraightWay {
            start: &state.positions,
            end: &end.positions,
            velocities: &state.velocities,
            horizon,
        };
        let crossed = self.find_crossed(model, way)?;
        push(crossed.contacts, model, state, out);
        Ok(crossed.listed.map(|pair| pair.map(|id| id.index() as u32)))
    }

    fn set_most_tests(&mut self, tests: u64) {
        Self::set_most_tests(self, tests);
    }

    fn set_rest(&mut self, of: &dyn Fn(NodeId, usize) -> Rest) {
        Self::set_rest(self, of);
    }

    fn laws(&self) -> Vec<(ContactLaw, [u32; 2])> {
        let pairs = self.meeting_materials().into_iter();
        pairs
            .map(|pair| {
                let material = self.pair_material(pair[0], pair[1]);
                (law(&material, None), pair.map(|c| c.index() as u32))
            })
            .collect()
    }

    fn contact_area(&self, model: &Model, side: u32) -> Result<Option<ContactArea>, Error> {
        Ok(match self.collider(side) {
            Some(id) => Self::contact_area(self, model, id)?,
            None => None,
        })
    }

    fn save(&self, out: &mut Vec<u64>) {
        let memory = self.memory();
        out.push(memory.next_serial);
        for e in &memory.entries {
            out.extend(e.colliders.map(u64::from));
            out.extend([e.serial, u64::from(e.age)]);
            out.extend(e.feature);
            out.extend(e.places.as_flattened().iter().map(|x| x.to_bits()));
        }
    }

    fn restore(&mut self, memory: &[u64]) -> Result<(), Error> {
        let wrong = || -> Error {
            pliant_model::ModelError::State {
                what: "numbers of the memory of contacts",
                expected: 1 + ENTRY * (memory.len() / ENTRY),
                found: memory.len(),
            }
            .into()
        };
        let (next_serial, rest) = memory.split_first().ok_or_else(wrong)?;
        let (entries, left) = rest.as_chunks::<ENTRY>();
        if !left.is_empty() {
            return Err(wrong());
        }
        let entry = |e: &[u64; ENTRY]| {
            let place = |k: usize| [e[k], e[k + 1], e[k + 2]].map(f64::from_bits);
            Remembered {
                colliders: [e[0] as u32, e[1] as u32],
                serial: e[2],
                age: e[3] as u32,
                feature: [e[4], e[5]],
                places: [place(6), place(9)],
            }
        };
        let entries = entries.iter().map(entry).collect();
        self.set_memory(ContactMemory {
            next_serial: *next_serial,
            entries,
        })?;
        Ok(())
    }

    fn name(&self, side: u32) -> String {
        let collider = self.colliders().get(side as usize);
        collider.map_or_else(|| format!("collider {side}"), |c| format!("`{}`", c.name))
    }
}

impl From<ContactError> for Error {
    fn from(error: ContactError) -> Self {
        Self::Collision(error)
    }
}
