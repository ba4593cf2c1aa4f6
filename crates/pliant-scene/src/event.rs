//! Events of a scene that is ready to run.

use pliant::Breaking;
use pliant::model::{ComponentId, ElementIndex};
use pliant_expression::{Condition, Program};

/// A condition, and what is done where it begins to hold.
#[derive(Clone, Debug)]
pub struct Event {
    /// The user's name.
    pub name: String,
    /// The condition, over the time, the variables and the quantities.
    pub when: Condition,
    /// Whether it may happen again, once the condition held no more.
    pub again: bool,
    /// The actions, in this order.
    pub actions: Vec<Action>,
}

/// An action of an event.
#[derive(Clone, Debug)]
pub enum Action {
    /// Components act no more.
    Release(Vec<ComponentId>),
    /// Elements of a thing are out of the model: for each of them those of the model that it is.
    Remove(Vec<Vec<ElementIndex>>),
    /// A variable, by its place, has the value of an expression over the time, the variables and
    /// the quantities.
    Set(usize, Program),
    /// The run ends.
    Stop,
    /// A sentence in the results.
    Say(String),
}

/// Elements that break above a limit.
#[derive(Clone, Debug)]
pub struct BreakingRule {
    /// The user's name.
    pub name: String,
    /// The thing, or each of its parts.
    pub parts: Vec<Breaking>,
}

/// All events of a scene.
#[derive(Clone, Debug, Default)]
pub struct Events {
    /// The events, in the order of the scene.
    pub list: Vec<Event>,
    /// Elements that break, in the order of the scene.
    pub breaking: Vec<BreakingRule>,
    /// How closely they are located (s).
    pub tolerance: f64,
}
