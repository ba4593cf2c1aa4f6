//! States as text: where nodes are and how fast they move, by their names, so that another scene can
//! start from there.

use pliant::model::{Model, ModelError, Node, NodeKind, Space, State};
use pliant_expression::suggest::hint;
use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use std::collections::BTreeMap;
use std::fmt::{self, Write as _};
use std::marker::PhantomData;

/// The version of the format.
const VERSION: u32 = 1;
/// How far the norm of a quaternion may be from one: more is no rounding of a program that writes
/// single precision.
const NORM: f64 = 1e-6;
/// Differences of mapped nodes above this are full turns, or another place, and not rounding.
const TURN: f64 = 1e-6;

/// The state of a model, as JSON:
///
/// ```json
/// {
/// "pliant_state": 1,
/// "scene": "Stone", "time": 0.5,
/// "nodes": {
/// "stone": {"positions": [[0, -1.2, 0]], "velocities": [[0, -4.9, 0]]}
/// },
/// "memory": {}
/// }
/// ```
///
/// Every element of a node has a list of its coordinates (m; a body its position and then the
/// quaternion `w, x, y, z` of its rotation), and one of its velocities (m/s; a body its linear
/// velocity in the world and then its angular velocity in body axes, rad/s). A mapped node is there
/// where its positions do not follow from those of others alone: the coordinate of a joint that has
/// made full turns. `memory` has the internal variables of force fields with a past. Numbers are those of the
/// state to the bit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StateFile {
    pliant_state: u32,
    /// The title of the scene that it comes from.
    #[serde(default)]
    pub scene: String,
    /// The time there (s).
    #[serde(default)]
    pub time: f64,
    #[serde(deserialize_with = "unique")]
    nodes: BTreeMap<String, NodeState>,
    #[serde(default, deserialize_with = "unique")]
    memory: BTreeMap<String, Vec<f64>>,
}

/// A node, with a list for each of its elements.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct NodeState {
    positions: Vec<Vec<f64>>,
    /// At rest without them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    velocities: Option<Vec<Vec<f64>>>,
}

/// Reads a map in which no name stands twice.
fn unique<'de, D: Deserializer<'de>, V: Deserialize<'de>>(from: D) -> Result<BTreeMap<String, V>, D::Error> {
    struct Entries<V>(PhantomData<V>);
    impl<'de, V: Deserialize<'de>> Visitor<'de> for Entries<V> {
        type Value = BTreeMap<String, V>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("values by their names")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            let mut out = BTreeMap::new();
            while let Some(name) = map.next_key::<String>()? {
                if out.contains_key(&name) {
                    return Err(A::Error::custom(format!("`{name}` stands there twice")));
                }
                out.insert(name, map.next_value()?);
            }
            Ok(out)
        }
    }
    from.deserialize_map(Entries(PhantomData))
}

/// Why a state is not one of a model.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{message}")]
pub struct StateFileError {
    message: String,
    /// A way out, if there is one.
    pub help: Option<String>,
}

impl StateFileError {
    fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            help: None,
        }
    }
}

impl StateFileError {
    /// Elements of a node of this name are out of the model: a state would not say so.
    pub fn removed(node: &str) -> Self {
        Self {
            message: format!("elements of `{node}` were removed, which a saved state does not hold"),
            help: Some("a checkpoint holds what is removed".to_owned()),
        }
    }
}

impl From<ModelError> for StateFileError {
    fn from(error: ModelError) -> Self {
        Self::new(error.to_string())
    }
}

impl StateFile {
    /// The state of a model at a time (s), of the scene of a title.
    ///
    /// # Errors
    /// [`StateFileError`] if a mapping is not defined there.
    ///
    /// # Panics
    /// If the state belongs to another model.
    pub fn of(model: &Model, state: &State, scene: &str, time: f64) -> Result<Self, StateFileError> {
        let without = without_turns(model, state)?;
        let rows = |values: &[f64], size: usize| values.chunks_exact(size).map(<[f64]>::to_vec).collect();
        let of_node = |node: &Node| {
            let positions = &state.positions[node.position_range()];
            let velocities = &state.velocities[node.velocity_range()];
            let own = NodeState {
                positions: rows(positions, node.space.position_size()),
                velocities: is_free(node).then(|| rows(velocities, node.space.velocity_size())),
            };
            (node.name.clone(), own)
        };
        let fields = model.force_fields().iter();
        let memory = fields
            .filter(|field| !field.component.internal.is_empty())
            .map(|field| {
                let own = &state.internal[field.component.internal.clone()];
                (field.name.clone(), own.to_vec())
            });
        let turned = |node: &Node| {
            let range = node.position_range();
            off(&without.positions[range.clone()], &state.positions[range]) > TURN
        };
        let nodes = model.nodes().iter();
        Ok(Self {
            pliant_state: VERSION,
            scene: scene.to_owned(),
            time,
            nodes: nodes.filter(|n| is_free(n) || turned(n)).map(of_node).collect(),
            memory: memory.collect(),
        })
    }

    /// Reads the text of a file.
    ///
    /// # Errors
    /// [`StateFileError`] with the line and the column of what is no state.
    pub fn from_text(text: &str) -> Result<Self, StateFileError> {
        let read: Self = serde_json::from_str(text).map_err(|e| StateFileError::new(e.to_string()))?;
        if read.pliant_state != VERSION {
            return Err(StateFileError::new(format!(
                "`pliant_state` is {}, and this program reads version {VERSION}",
                read.pliant_state
            )));
        }
        Ok(read)
    }

    /// The nodes by their names, and of each how many elements it has.
    pub fn nodes(&self) -> impl Iterator<Item = (&str, usize)> {
        let nodes = self.nodes.iter();
        nodes.map(|(name, node)| (name.as_str(), node.positions.len()))
    }

    /// Whether a text is one that [`to_text`](Self::to_text) makes, by its first words.
    pub fn is_begun(text: &[u8]) -> bool {
        let first = &text[..text.len().min(64)];
        let first = String::from_utf8_lossy(first);
        first
            .trim_start_matches(['{', ' ', '\n', '\r', '\t'])
            .starts_with("\"pliant_state\"")
    }

    /// Returns the text of a file, a line for each element.
    pub fn to_text(&self) -> String {
        let quoted = |text: &str| serde_json::Value::from(text).to_string();
        let mut out = format!(
            "{{\n\"pliant_state\": {VERSION},\n\"scene\": {}, \"time\": {},\n\"nodes\": {{",
            quoted(&self.scene),
            self.time
        );
        let mut separator = "\n";
        for (name, node) in &self.nodes {
            let _ = write!(out, "{separator}{}: {{\"positions\": ", quoted(name));
            write_rows(&mut out, &node.positions);
            if let Some(velocities) = &node.velocities {
                out.push_str(",\n\"velocities\": ");
                write_rows(&mut out, velocities);
            }
            out.push('}');
            separator = ",\n";
        }
        out.push_str("\n},\n\"memory\": {");
        separator = "\n";
        for (name, values) in &self.memory {
            let _ = write!(out, "{separator}{}: ", quoted(name));
            write_row(&mut out, values);
            separator = ",\n";
        }
        out.push_str("\n}\n}\n");
        out
    }

    /// The state of a model that starts from here: nodes that the file does not have are where the
    /// model starts them, force fields that it does not have begin without a past.
    ///
    /// # Errors
    /// [`StateFileError`] names a node or a force field of the file that the model does not have, or
    /// that has other elements there; numbers that are not finite, and quaternions whose norm is not
    /// one.
    pub fn start(&self, model: &Model) -> Result<State, StateFileError> {
        let mut state = model.initial_state()?;
        for (name, own) in &self.nodes {
            let Some(id) = model.node_named(name) else {
                let known = model.nodes().iter().map(|node| node.name.as_str());
                return Err(missing("node", name, "its nodes", known));
            };
            own.put(model.node(id), &mut state)?;
        }
        model.normalize(&mut state)?;
        model.propagate(&mut state)?;
        self.check_mapped(model, &state)?;
        model.begin_memory(&mut state);
        for (name, own) in &self.memory {
            let mut fields = model
                .force_fields()
                .iter()
                .filter(|f| !f.component.internal.is_empty());
            let Some(field) = fields.clone().find(|field| field.name == *name) else {
                let known = fields.by_ref().map(|field| field.name.as_str());
                return Err(missing(
                    "force field with a past",
                    name,
                    "those that it has",
                    known,
                ));
            };
            let range = field.component.internal.clone();
            if own.len() != range.len() {
                return Err(StateFileError::new(format!(
                    "`{name}` has {} internal variables in the file and {} in the scene",
                    own.len(),
                    range.len()
                )));
            }
            state.internal[range].copy_from_slice(own);
        }
        Ok(state)
    }

    /// Compares mapped nodes with what follows from the others.
    fn check_mapped(&self, model: &Model, state: &State) -> Result<(), StateFileError> {
        for (name, own) in &self.nodes {
            let Some(node) = model.node_named(name).map(|id| model.node(id)) else {
                continue;
            };
            let found = &state.positions[node.position_range()];
            if !is_free(node) && off(found, &own.positions.concat()) > TURN {
                return Err(StateFileError::new(format!(
                    "`{name}` is mapped, and not where the nodes that it follows have it"
                )));
            }
        }
        Ok(())
    }
}

/// A state with the same independent nodes whose mapped nodes follow from these and the start of the
/// model alone.
fn without_turns(model: &Model, state: &State) -> Result<State, ModelError> {
    let mut out = model.initial_state()?;
    for node in model.nodes().iter().filter(|node| is_free(node)) {
        let (positions, velocities) = (node.position_range(), node.velocity_range());
        out.positions[positions.clone()].copy_from_slice(&state.positions[positions]);
        out.velocities[velocities.clone()].copy_from_slice(&state.velocities[velocities]);
    }
    model.propagate(&mut out)?;
    Ok(out)
}

/// The largest difference of two positions, relative to numbers above one.
fn off(a: &[f64], b: &[f64]) -> f64 {
    let differences = a.iter().zip(b).map(|(a, b)| (a - b).abs() / b.abs().max(1.0));
    differences.fold(0.0, f64::max)
}

impl NodeState {
    /// Puts the node into a state of its model.
    fn put(&self, node: &Node, state: &mut State) -> Result<(), StateFileError> {
        let (name, space) = (&node.name, node.space);
        let positions = &mut state.positions[node.position_range()];
        take(
            &self.positions,
            positions,
            space.position_size(),
            name,
            "positions",
        )?;
        if space == Space::Rigid3 {
            for (element, pose) in self.positions.iter().enumerate() {
                let norm = pose[3..].iter().fold(0.0, |norm: f64, q| norm.hypot(*q));
                if (norm - 1.0).abs() > NORM {
                    return Err(StateFileError::new(format!(
                        "the quaternion of element {element} of `{name}` has the norm {norm}, and one of a rotation has 1"
                    )));
                }
            }
        }
        let velocities = &mut state.velocities[node.velocity_range()];
        match &self.velocities {
            Some(_) if !is_free(node) => Err(StateFileError::new(format!(
                "`{name}` is mapped: its velocities follow from other nodes"
            ))),
            Some(rows) => take(rows, velocities, space.velocity_size(), name, "velocities"),
            None => {
                velocities.fill(0.0);
                Ok(())
            }
        }
    }
}

/// Copies the lists of all elements.
fn take(
    rows: &[Vec<f64>],
    to: &mut [f64],
    size: usize,
    name: &str,
    what: &str,
) -> Result<(), StateFileError> {
    let count = to.len() / size;
    if rows.len() != count {
        return Err(StateFileError::new(format!(
            "`{name}` has {what} of {} elements in the file, and {count} in the scene",
            rows.len()
        )));
    }
    for (element, (row, to)) in rows.iter().zip(to.chunks_exact_mut(size)).enumerate() {
        if row.len() != size {
            return Err(StateFileError::new(format!(
                "element {element} of `{name}` has {} numbers as {what}, and {size} in the scene",
                row.len()
            )));
        }
        to.copy_from_slice(row);
    }
    Ok(())
}

fn missing<'a>(kind: &str, name: &str, all: &str, known: impl Iterator<Item = &'a str>) -> StateFileError {
    StateFileError {
        message: format!("there is no {kind} `{name}` in the scene"),
        help: hint(name, all, known.collect::<Vec<_>>()),
    }
}

/// Whether a node has positions and velocities of its own.
fn is_free(node: &Node) -> bool {
    matches!(node.kind, NodeKind::Independent { .. })
}

fn write_rows(out: &mut String, rows: &[Vec<f64>]) {
    let mut separator = "[";
    if rows.is_empty() {
        out.push('[');
    }
    for row in rows {
        out.push_str(separator);
        write_row(out, row);
        separator = ",\n  ";
    }
    out.push(']');
}

fn write_row(out: &mut String, row: &[f64]) {
    let mut separator = "";
    out.push('[');
    for x in row {
        // The shortest decimal that reads back as the same number; -0 needs its point.
        let _ = write!(out, "{separator}{x:?}");
        separator = ", ";
    }
    out.push(']');
}
