//! Events of a running scene: which of them hold, which were, and what they left.

use super::Runner;
use pliant::model::ElementIndex;
use pliant::{Checkpoint, Error, Simulation};
use pliant_scene::{Action, Event, Events};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// Sentences that are kept.
const MOST_SAID: usize = 1000;

/// An event over a whole run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct EventSummary {
    /// How often it was.
    pub count: usize,
    /// When it was first (s).
    pub first: Option<f64>,
    /// When it was last (s).
    pub last: Option<f64>,
}

/// Elements that broke, or that an event removed, over a whole run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RemovalSummary {
    /// How many.
    pub elements: usize,
    /// When the first of them went (s).
    pub first: Option<f64>,
    /// When the last one went (s).
    pub last: Option<f64>,
}

impl RemovalSummary {
    fn add(&mut self, elements: usize, time: f64) {
        if elements > 0 {
            self.elements += elements;
            self.first.get_or_insert(time);
            self.last = Some(time);
        }
    }
}

/// The event that ended a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StopSummary {
    /// Its name.
    pub event: String,
    /// When it was (s).
    pub time: f64,
}

/// A sentence of an event.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Saying {
    /// When it was (s).
    pub time: f64,
    /// The name of the event.
    pub event: String,
    /// The sentence.
    pub text: String,
}

/// Everything about events that changes in a run.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct EventsState {
    /// Whether each event has happened and waits to be armed again, and its times.
    list: Vec<(bool, EventSummary)>,
    said: Vec<Saying>,
    stopped: Option<StopSummary>,
    /// Elements that are gone, by the rules of the scene and then by its events.
    #[serde(default)]
    removed: Vec<RemovalSummary>,
}

/// Elements that go at one moment.
#[derive(Debug, Default)]
pub(super) struct Leaving {
    /// All of them, as elements of the model.
    list: Vec<ElementIndex>,
    /// The place of what removes each element of a thing in [`EventsState::removed`], and the first
    /// element of the model that it is, which no other one of the thing is.
    elements: Vec<(usize, ElementIndex)>,
}

impl Leaving {
    /// Adds an element of a thing, which is these elements of the model.
    fn add(&mut self, place: usize, element: Vec<ElementIndex>) {
        if let Some(first) = element.first() {
            self.elements.push((place, *first));
        }
        self.list.extend(element);
    }
}

/// Does what the events that are due between two steps do.
pub(super) fn pass(runner: &mut Runner) -> Result<(), Error> {
    pass_with(runner, Leaving::default())
}

/// Does what the events that are due between two steps do, and takes out elements that break
/// there. Events that hold while these are there are due, and those that hold without them.
pub(super) fn pass_with(runner: &mut Runner, mut leaving: Leaving) -> Result<(), Error> {
    if runner.events.is_empty() {
        return take_out(runner, &leaving);
    }
    // What one does may let another one be, and that one the first again, at the same time.
    for _ in 0..=runner.events.count() {
        runner.refresh();
        runner.events.rearm(runner.probes.values())?;
        let due = runner.events.due(runner.probes.values())?;
        if due.is_empty() && leaving.list.is_empty() {
            return Ok(());
        }
        for index in due {
            let time = runner.simulation.time();
            let place = runner.events.events.breaking.len() + index;
            for action in runner.events.fire(index, time) {
                match action {
                    Action::Release(components) => runner.simulation.release_components(&components)?,
                    Action::Remove(elements) => {
                        elements
                            .into_iter()
                            .for_each(|element| leaving.add(place, element));
                    }
                    Action::Set(variable, value) => {
                        let value = value.of(runner.probes.values());
                        let value = value.map_err(|e| runner.events.no_value(index, time, e.message))?;
                        runner.set_variable((variable, value), 1)?;
                    }
                    Action::Stop | Action::Say(_) => {}
                }
            }
        }
        // All at once: each removal plans the system anew.
        take_out(runner, &leaving)?;
        leaving = Leaving::default();
    }
    Ok(())
}

/// Takes elements out of the model, and counts them.
fn take_out(runner: &mut Runner, leaving: &Leaving) -> Result<(), Error> {
    if leaving.list.is_empty() {
        return Ok(());
    }
    let before = runner.simulation.removed_elements().to_vec();
    runner.simulation.remove_elements(&leaving.list)?;
    runner
        .events
        .count_removed(leaving, &before, runner.simulation.time());
    Ok(())
}

/// The events of a scene.
#[derive(Debug, Default)]
pub(super) struct Watchers {
    /// Room for the numbers of elements that break.
    found: Vec<usize>,
    events: Events,
    state: EventsState,
    /// The start of the step in which an event is located.
    pub(super) start: Checkpoint,
}

impl Watchers {
    pub(super) fn new(events: Events) -> Self {
        let list = vec![Default::default(); events.list.len()];
        let removed = vec![RemovalSummary::default(); events.breaking.len() + events.list.len()];
        Self {
            found: Vec::new(),
            events,
            state: EventsState {
                list,
                removed,
                ..EventsState::default()
            },
            start: Checkpoint::default(),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.events.list.is_empty()
    }

    pub(super) fn count(&self) -> usize {
        self.events.list.len()
    }

    /// How closely events are located from a time on (s).
    pub(super) fn tolerance(&self, time: f64) -> f64 {
        // Times differ by roundings.
        self.events.tolerance.max(16.0 * f64::EPSILON * time.abs())
    }

    /// All that changes in a run.
    pub(super) fn state(&self) -> EventsState {
        self.state.clone()
    }

    /// Goes to the state of a checkpoint of the same scene.
    pub(super) fn go_to(&mut self, state: EventsState) {
        self.state = state;
    }

    /// Whether an event has ended the run.
    pub(super) fn is_stopped(&self) -> bool {
        self.state.stopped.is_some()
    }

    /// The events that are to be and whose condition holds, with the values of all quantities.
    pub(super) fn due(&self, values: &[f64]) -> Result<Vec<usize>, Error> {
        let mut due = Vec::new();
        for (k, event) in self.armed() {
            if event
                .when
                .holds(values)
                .map_err(|e| no_value(event, values, e.message))?
            {
                due.push(k);
            }
        }
        Ok(due)
    }

    /// By how much the condition of one of the events that are to be holds, of all the most.
    pub(super) fn margin(&self, values: &[f64]) -> Result<f64, Error> {
        let mut most = f64::NEG_INFINITY;
        for (_, event) in self.armed() {
            let margin = event.when.margin(values);
            most = most.max(margin.map_err(|e| no_value(event, values, e.message))?);
        }
        Ok(most)
    }

    fn armed(&self) -> impl Iterator<Item = (usize, &Event)> {
        let all = self.events.list.iter().zip(&self.state.list).enumerate();
        let armed = all.filter(|(_, (_, (spent, _)))| !spent);
        armed.map(|(k, (event, _))| (k, event))
    }

    /// Lets events be again whose condition holds no more.
    pub(super) fn rearm(&mut self, values: &[f64]) -> Result<(), Error> {
        for (event, (spent, _)) in self.events.list.iter().zip(&mut self.state.list) {
            if *spent && event.again {
                let holds = event.when.holds(values);
                *spent = holds.map_err(|e| no_value(event, values, e.message))?;
            }
        }
        Ok(())
    }

    /// Lists the elements that break at present; none in a step in which nothing does, and nothing
    /// is allocated then.
    pub(super) fn broken(&mut self, simulation: &Simulation) -> Leaving {
        let mut leaving = Leaving::default();
        for (place, rule) in self.events.breaking.iter_mut().enumerate() {
            for part in &mut rule.parts {
                self.found.clear();
                part.find(simulation, &mut self.found);
                for element in &self.found {
                    leaving.add(place, part.indices(&[*element]));
                }
            }
        }
        leaving
    }

    /// Counts elements that went at a time (s), those once that several rules and events name, and
    /// none that was gone `before`, a list in order.
    fn count_removed(&mut self, leaving: &Leaving, before: &[ElementIndex], time: f64) {
        let mut counted = BTreeSet::new();
        for (place, first) in &leaving.elements {
            if before.binary_search(first).is_err()
                && counted.insert(*first)
                && let Some(removed) = self.state.removed.get_mut(*place)
            {
                removed.add(1, time);
            }
        }
    }

    /// Elements that broke, by the names of the rules, and those that events removed, by theirs.
    pub(super) fn removals(&self) -> BTreeMap<String, RemovalSummary> {
        let rules = self.events.breaking.iter().map(|rule| (&rule.name, true));
        let removes = |event: &Event| event.actions.iter().any(|a| matches!(a, Action::Remove(..)));
        let events = self.events.list.iter().map(|event| (&event.name, removes(event)));
        let named = rules.chain(events).zip(&self.state.removed);
        let named = named.filter(|((_, is_listed), _)| *is_listed);
        named
            .map(|((name, _), removed)| (name.clone(), removed.clone()))
            .collect()
    }

    /// Notes an event at a time (s), and returns what is to be done.
    pub(super) fn fire(&mut self, index: usize, time: f64) -> Vec<Action> {
        let event = &self.events.list[index];
        let (spent, summary) = &mut self.state.list[index];
        *spent = true;
        summary.count += 1;
        summary.first.get_or_insert(time);
        summary.last = Some(time);
        for action in &event.actions {
            match action {
                Action::Stop => {
                    self.state.stopped.get_or_insert_with(|| StopSummary {
                        event: event.name.clone(),
                        time,
                    });
                }
                Action::Say(text) if self.state.said.len() < MOST_SAID => self.state.said.push(Saying {
                    time,
                    event: event.name.clone(),
                    text: text.clone(),
                }),
                _ => {}
            }
        }
        event.actions.clone()
    }

    /// The error of an action without a value at a time (s).
    pub(super) fn no_value(&self, index: usize, time: f64, why: String) -> Error {
        Error::NoValue {
            what: format!("an action of the event `{}`", self.events.list[index].name),
            time,
            why,
        }
    }

    /// The events over the run so far, by name.
    pub(super) fn summaries(&self) -> BTreeMap<String, EventSummary> {
        let names = self.events.list.iter().map(|event| event.name.clone());
        names
            .zip(self.state.list.iter().map(|(_, summary)| summary.clone()))
            .collect()
    }

    /// The sentences of events so far.
    pub(super) fn said(&self) -> Vec<Saying> {
        self.state.said.clone()
    }

    /// The event that has ended the run.
    pub(super) fn stopped(&self) -> Option<StopSummary> {
        self.state.stopped.clone()
    }
}

fn no_value(event: &Event, values: &[f64], why: String) -> Error {
    Error::NoValue {
        what: format!("the condition of the event `{}`", event.name),
        time: values.first().copied().unwrap_or(f64::NAN),
        why,
    }
}
