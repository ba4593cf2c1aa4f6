//! The interface between a simulation and its source of contacts.

use super::{ContactLaw, ContactList};
use crate::Error;
use pliant_contact::{ContactArea, Rest};
use pliant_model::{Model, NodeId, State};

/// Finds contacts. Given to a simulation by
/// `Simulation::set_contacts`.
///
/// The contacts found may depend on the state and on the finder's own memory only (identities of
/// contacts), and [`save`](Self::save) and [`restore`](Self::restore) hold all of that memory: then
/// checkpoints go on bit for bit.
pub trait ContactFinder: std::fmt::Debug + Send + Sync {
    /// The nodes on which contacts may act.
    fn nodes(&self) -> Vec<NodeId>;

    /// Says in which model it is to find contacts, when it is given to a simulation.
    ///
    /// # Errors
    /// The reason why it cannot find them there.
    fn begin(&mut self, _model: &Model) -> Result<(), Error> {
        Ok(())
    }

    /// Lists, into an empty list, the contacts that are closed or may close within `horizon` (s) at
    /// the velocities of the state, which are those that gravity alone would make until then.
    ///
    /// # Errors
    /// Whatever keeps it from knowing.
    fn find(
        &mut self,
        model: &Model,
        state: &State,
        horizon: f64,
        out: &mut ContactList,
    ) -> Result<(), Error>;

    /// Takes the contacts that a search of this state over `horizon` (s) listed, which the memory
    /// has, for those of the last search: what [`find_missed`](Self::find_missed) and
    /// [`find_entered`](Self::find_entered) leave out may depend on it, and not on what was
    /// searched since. A finder whose memory is all that these know of the last search leaves this
    /// out.
    ///
    /// # Errors
    /// Whatever keeps it from knowing.
    fn resume(&mut self, _model: &Model, _state: &State, _horizon: f64) -> Result<(), Error> {
        Ok(())
    }

    /// Says which gravity (m/s^2) the velocities of the states have that [`find`](Self::find) and
    /// [`look`](Self::look) are going to search. What is supported does not fall, which a finder may
    /// allow for; by default it does not.
    fn set_gravity(&mut self, _gravity: [f64; 3]) {}

    /// Lists, into an empty list, the contacts of a state that the motion may come to, as
    /// [`find`](Self::find) does. They are named by the memory of the last search, and the memory
    /// stays as it is.
    ///
    /// # Errors
    /// Whatever keeps it from knowing.
    fn look(
        &mut self,
        model: &Model,
        state: &State,
        horizon: f64,
        out: &mut ContactList,
    ) -> Result<(), Error> {
        let mut memory = Vec::new();
        self.save(&mut memory);
        let found = self.find(model, state, horizon, out);
        self.restore(&memory)?;
        found
    }

    /// Lists, into an empty list, the contacts that the last search missed and through which the
    /// sides pass on the way from the positions of the state at its velocities, over the `horizon`
    /// (s): the start of a step, and how it moved. They count as listed then. A finder that leaves
    /// this out lets bodies pass where it did not predict a contact.
    ///
    /// # Errors
    /// Whatever keeps it from knowing.
    fn find_missed(
        &mut self,
        _model: &Model,
        _state: &State,
        _horizon: f64,
        _out: &mut ContactList,
    ) -> Result<(), Error> {
        Ok(())
    }

    /// Lists, into an empty list, the places where sides are in each other at the end of such a way
    /// and were not at its start, and that are not listed: corners that a body which turns brings
    /// in. Their normals are those of the end, points and gaps those of the start. They count as
    /// listed then. A finder that leaves this out lets bodies overlap by what they turn.
    ///
    /// # Errors
    /// Whatever keeps it from knowing.
    fn find_entered(
        &mut self,
        _model: &Model,
        _state: &State,
        _horizon: f64,
        _out: &mut ContactList,
    ) -> Result<(), Error> {
        Ok(())
    }

    /// Whether it can keep surfaces from passing through each other
    /// ([`find_crossed`](Self::find_crossed)). A finder that leaves this out cannot.
    ///
    /// # Errors
    /// [`Error::CrossingsUnknown`]; why it cannot.
    fn check_crossings(&self) -> Result<(), Error> {
        Err(Error::CrossingsUnknown)
    }

    /// Whether no surfaces pass through each other in a state.
    ///
    /// # Errors
    /// With two surfaces that do.
    fn check_apart(&mut self, _model: &Model, _state: &State) -> Result<(), Error> {
        Ok(())
    }

    /// Lists, into an empty list, the places where surfaces pass through each other on a straight
    /// way of their corners, and that are not listed: from the positions of the state at its
    /// velocities to `end`, over the `horizon` (s). They count as listed then. Returns two sides
    /// that do so though the contact is listed, if any.
    ///
    /// # Errors
    /// Whatever keeps it from knowing.
    fn find_crossed(
        &mut self,
        _model: &Model,
        _state: &State,
        _end: &State,
        _horizon: f64,
        _out: &mut ContactList,
    ) -> Result<Option<[u32; 2]>, Error> {
        Ok(None)
    }

    /// The tests that one search may take from now on; a finder that leaves this out takes as many
    /// as it likes.
    fn set_most_tests(&mut self, _tests: u64) {}

    /// Says before a search which elements of nodes move, which stand and which sleep: contacts
    /// between a sleeper and another sleeper or a standing element need not be listed, and keep
    /// their identity.
    fn set_rest(&mut self, _of: &dyn Fn(NodeId, usize) -> Rest) {}

    /// The laws that its contacts may have, each with two sides that may meet, as far as it knows
    /// them ahead: options that do not go with one are then refused before the first step.
    fn laws(&self) -> Vec<(ContactLaw, [u32; 2])> {
        Vec::new()
    }

    /// The areas of the points of one side, if it is a mesh of triangles that it knows.
    ///
    /// # Errors
    /// Whatever keeps it from knowing.
    fn contact_area(&self, _model: &Model, _side: u32) -> Result<Option<ContactArea>, Error> {
        Ok(None)
    }

    /// Appends its memory as plain numbers.
    fn save(&self, _out: &mut Vec<u64>) {}

    /// Takes back the memory that [`save`](Self::save) appended.
    ///
    /// # Errors
    /// If it never saved such a memory.
    fn restore(&mut self, _memory: &[u64]) -> Result<(), Error> {
        Ok(())
    }

    /// Name of one side of its contacts.
    fn name(&self, side: u32) -> String {
        format!("thing {side}")
    }
}
