//! Components of a user's own, written in Python: force fields, mappings, and the constraints that
//! hold mapped nodes.
//!
//! A model keeps what was added as [`Part`]s, and every simulation gets components of its own from
//! them, with one place for the first exception of its callables. Once there is one, components
//! give no more numbers, so that the step cannot stand, and the exception is raised in its place.

mod call;
mod check;
mod differences;
mod law;
mod map;

pub(crate) use call::{Failures, Title, is_inside};
pub(crate) use check::{Check, check_component, check_in};

use crate::errors;
use crate::run::Refusal;
use call::{Caller, Methods};
use law::Law;
use map::Map;
use pliant::model::{Level, Model, NodeId, Space, Treatment, UniformCompliance};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use std::sync::Arc;

/// Default length of the steps of finite differences (m, rad).
pub(crate) const DIFFERENCE: f64 = 1e-4;

/// Settings of a component of one's own.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct How {
    /// Where derivatives come from that are not given.
    pub(crate) derivatives: String,
    /// Whether elements act on each other.
    pub(crate) coupled: bool,
    /// Length of the steps of finite differences (m, rad).
    pub(crate) difference: f64,
}

impl How {
    pub(crate) fn new(
        py: Python<'_>,
        derivatives: &str,
        coupled: bool,
        difference: Option<f64>,
    ) -> PyResult<Self> {
        let all = ["differences", "jax", "torch"];
        if !all.contains(&derivatives) {
            let kinds = ["source of derivatives", "sources of derivatives"];
            return Err(errors::name(py, kinds, derivatives, all));
        }
        let difference = difference.unwrap_or(DIFFERENCE);
        if !(difference > 0.0 && difference.is_finite()) {
            let text =
                format!("the steps of finite differences must be positive and finite, not {difference}");
            return Err(errors::state_text(py, &text));
        }
        Ok(Self {
            derivatives: derivatives.to_owned(),
            coupled,
            difference,
        })
    }

    /// Refuses derivatives by quaternions, which are not those by rotations.
    fn check_bodies(&self, title: &Title, spaces: impl IntoIterator<Item = Space>) -> Result<(), Refusal> {
        let by_numbers = self.derivatives == "differences";
        if by_numbers || !spaces.into_iter().any(|space| space == Space::Rigid3) {
            return Ok(());
        }
        let (kind, name, derivatives) = (title.kind, &title.name, &self.derivatives);
        Err(Refusal::Words(format!(
            "{kind} `{name}`: derivatives by `{derivatives}` are for points and scalars, not for bodies, whose \
             rotations move in other coordinates than their quaternions"
        )))
    }
}

/// Kind of a part, and what it is made of.
#[derive(Debug)]
pub(crate) enum Kind {
    ForceField {
        node: String,
        methods: Methods,
        how: How,
    },
    Mapping {
        parents: Vec<String>,
        methods: Methods,
        how: How,
    },
    Constraint {
        node: String,
        compliance: f64,
        relaxation_time: f64,
    },
}

/// Part of a model that its scene does not have.
#[derive(Debug)]
pub(crate) struct Part {
    pub(crate) name: String,
    pub(crate) kind: Kind,
}

impl Part {
    pub(crate) fn force_field(
        name: String,
        node: String,
        object: &Bound<'_, PyAny>,
        how: How,
    ) -> PyResult<Self> {
        let methods = Methods::of(object, "force_field", &how)?;
        let kind = Kind::ForceField { node, methods, how };
        Ok(Self { name, kind })
    }

    pub(crate) fn mapping(
        name: String,
        parents: Vec<String>,
        object: &Bound<'_, PyAny>,
        how: How,
    ) -> PyResult<Self> {
        let methods = Methods::of(object, "mapping", &how)?;
        let kind = Kind::Mapping {
            parents,
            methods,
            how,
        };
        Ok(Self { name, kind })
    }

    /// Returns what checkpoints compare: they go to models with like parts only.
    fn description(&self) -> String {
        let name = &self.name;
        match &self.kind {
            Kind::ForceField { node, methods, how } => {
                format!("force field `{name}` on `{node}` by {} {how:?}", methods.class)
            }
            Kind::Mapping {
                parents,
                methods,
                how,
            } => {
                format!("mapping `{name}` of {parents:?} by {} {how:?}", methods.class)
            }
            Kind::Constraint {
                node,
                compliance,
                relaxation_time,
            } => format!("constraint `{name}` on `{node}` {compliance:?} {relaxation_time:?}"),
        }
    }

    fn add(&self, model: &mut Model, failures: &Arc<Failures>) -> Result<(), Refusal> {
        let find = |model: &Model, name: &str| {
            let found = model.node_named(name);
            found.ok_or_else(|| Refusal::missing(model, name))
        };
        match &self.kind {
            Kind::ForceField { node, methods, how } => {
                let id = find(model, node)?;
                self.add_force_field(model, id, methods, how, failures)
            }
            Kind::Mapping {
                parents,
                methods,
                how,
            } => {
                let ids = parents.iter().map(|parent| find(model, parent));
                let ids = ids.collect::<Result<Vec<_>, _>>()?;
                let title = self.title("mapping", self.name.clone());
                let shapes: Vec<_> = ids.iter().map(|id| shape_of(model, *id)).collect();
                how.check_bodies(&title, shapes.iter().map(|shape| shape.0))?;
                let caller = Caller::new(title, methods, failures);
                let x: Vec<f64> = {
                    let state = model.initial_state()?;
                    let all = ids.iter().flat_map(|id| model.positions(&state, *id));
                    all.copied().collect()
                };
                let map = Map::try_at(caller, how, shapes, &x).ok_or_else(|| failures.refusal())?;
                model.add_mapped(&self.name, &ids, map)?;
                Ok(())
            }
            Kind::Constraint {
                node,
                compliance,
                relaxation_time,
            } => {
                let id = find(model, node)?;
                if *compliance == 0.0 && *relaxation_time == 0.0 {
                    model.add_constraint(&self.name, id, Level::Position)?;
                    return Ok(());
                }
                let law = UniformCompliance::new(*compliance).with_relaxation_time(*relaxation_time);
                model.add_force_field(&self.name, id, law, Treatment::Compliance)?;
                Ok(())
            }
        }
    }

    fn add_force_field(
        &self,
        model: &mut Model,
        id: NodeId,
        methods: &Methods,
        how: &How,
        failures: &Arc<Failures>,
    ) -> Result<(), Refusal> {
        let title = self.title("force field", model.node(id).name.clone());
        how.check_bodies(&title, [shape_of(model, id).0])?;
        let caller = Caller::new(title, methods, failures);
        let law = Law::new(caller, how, shape_of(model, id));
        let state = model.initial_state()?;
        law.try_at(model.positions(&state, id), model.velocities(&state, id))
            .ok_or_else(|| failures.refusal())?;
        // A model looks at the stiffness where it does not know the positions yet.
        failures.set_idle(true);
        let added = model.add_force_field(&self.name, id, law, Treatment::Stiffness);
        failures.set_idle(false);
        added?;
        Ok(())
    }

    fn title(&self, kind: &'static str, node: String) -> Title {
        let name = self.name.clone();
        Title { kind, name, node }
    }

    /// Values from which [`Part::unpickled`] makes it again.
    pub(crate) fn pickled<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let out = PyDict::new(py);
        out.set_item("name", &self.name)?;
        let put = |kind: &str, methods: &Methods, how: &How| -> PyResult<()> {
            out.set_item("kind", kind)?;
            out.set_item("object", self.object_bytes(py, methods)?)?;
            out.set_item("derivatives", &how.derivatives)?;
            out.set_item("coupled", how.coupled)?;
            out.set_item("difference", how.difference)
        };
        match &self.kind {
            Kind::ForceField { node, methods, how } => {
                put("force_field", methods, how)?;
                out.set_item("nodes", vec![node])?;
            }
            Kind::Mapping {
                parents,
                methods,
                how,
            } => {
                put("mapping", methods, how)?;
                out.set_item("nodes", parents)?;
            }
            Kind::Constraint {
                node,
                compliance,
                relaxation_time,
            } => {
                out.set_item("kind", "constraint")?;
                out.set_item("nodes", vec![node])?;
                out.set_item("law", (*compliance, *relaxation_time))?;
            }
        }
        Ok(out)
    }

    /// The pickle of what the user gave, made here so that one that fails is told by name.
    fn object_bytes<'py>(&self, py: Python<'py>, methods: &Methods) -> PyResult<Bound<'py, PyAny>> {
        let pickle = py.import("pickle")?;
        let bytes = pickle.call_method1("dumps", (methods.object.bind(py),));
        bytes.map_err(|cause| {
            let text = format!(
                "`{}` cannot be pickled: its {} is not, {cause}; classes at the top of a module are",
                self.name, methods.class
            );
            let error = pyo3::exceptions::PyTypeError::new_err(text);
            error.set_cause(py, Some(cause));
            error
        })
    }

    pub(crate) fn unpickled(values: &Bound<'_, PyDict>) -> PyResult<Self> {
        let py = values.py();
        let get = |key: &str| values.as_any().get_item(key);
        let name: String = get("name")?.extract()?;
        let kind: String = get("kind")?.extract()?;
        let mut nodes: Vec<String> = get("nodes")?.extract()?;
        if kind == "constraint" {
            let (compliance, relaxation_time) = get("law")?.extract()?;
            let kind = Kind::Constraint {
                node: nodes.swap_remove(0),
                compliance,
                relaxation_time,
            };
            return Ok(Self { name, kind });
        }
        let bytes = get("object")?;
        let object = py
            .import("pickle")?
            .call_method1("loads", (bytes.cast::<PyBytes>()?,))?;
        let derivatives: String = get("derivatives")?.extract()?;
        let difference = get("difference")?.extract()?;
        let how = How::new(py, &derivatives, get("coupled")?.extract()?, Some(difference))?;
        match kind.as_str() {
            "force_field" => Self::force_field(name, nodes.swap_remove(0), &object, how),
            _ => Self::mapping(name, nodes, &object, how),
        }
    }
}

/// Space and number of the elements of a node.
fn shape_of(model: &Model, id: NodeId) -> (Space, usize) {
    let node = model.node(id);
    (node.space, node.count)
}

/// Adds all parts to the model of a scene.
pub(crate) fn add(parts: &[Arc<Part>], model: &mut Model) -> Result<Arc<Failures>, Refusal> {
    let failures = Arc::new(Failures::default());
    for part in parts {
        part.add(model, &failures)?;
    }
    Ok(failures)
}

/// The end of checkpoints of models with parts: their descriptions, which are compared.
const MARK: &[u8; 8] = b"PLNTPART";

/// Adds to the bytes of a checkpoint which parts its model has.
pub(crate) fn sign(parts: &[Arc<Part>], mut bytes: Vec<u8>) -> Vec<u8> {
    if !parts.is_empty() {
        let text = descriptions(parts);
        bytes.extend(text.as_bytes());
        bytes.extend((text.len() as u64).to_le_bytes());
        bytes.extend(MARK);
    }
    bytes
}

/// The bytes of a checkpoint without its signature, which must be that of these parts; else what
/// differs, in words.
pub(crate) fn signed<'a>(parts: &[Arc<Part>], bytes: &'a [u8]) -> Result<&'a [u8], String> {
    let (own, there) = match split(bytes) {
        Some((own, there)) => (own, there),
        None => (bytes, ""),
    };
    let here = descriptions(parts);
    match there == here {
        true => Ok(own),
        false => {
            let words = |text: &str| match text {
                "" => "none".to_owned(),
                text => text.replace('\n', ", "),
            };
            let (there, here) = (words(there), words(&here));
            Err(format!(
                "the checkpoint is of another run: the components of one's own are {there} there and {here} here"
            ))
        }
    }
}

/// The bytes of a checkpoint and the descriptions behind them, if there are.
fn split(bytes: &[u8]) -> Option<(&[u8], &str)> {
    let rest = bytes.strip_suffix(MARK)?;
    let (rest, size) = rest.split_last_chunk::<8>()?;
    let size = usize::try_from(u64::from_le_bytes(*size)).ok()?;
    let (own, text) = rest.split_at_checked(rest.len().checked_sub(size)?)?;
    Some((own, std::str::from_utf8(text).ok()?))
}

fn descriptions(parts: &[Arc<Part>]) -> String {
    let all: Vec<String> = parts.iter().map(|part| part.description()).collect();
    all.join("\n")
}

/// Refuses the use of simulations in callables of components, which are called while one is locked.
pub(crate) fn refuse_inside(py: Python<'_>) -> PyResult<()> {
    match is_inside() {
        true => Err(errors::inside(py)),
        false => Ok(()),
    }
}
