//! Components of one's own by the public checkers of the library, in words.

use super::call::{Caller, Failures, Methods};
use super::law::Law;
use super::map::Map;
use super::{How, Kind, Part, Title, shape_of};
use crate::arrays::{self, Numbers};
use crate::errors;
use crate::run::Refusal;
use numpy::PyUntypedArrayMethods;
use pliant::model::{Model, Space, check};
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use std::sync::Arc;

/// Differences beyond this are told: what finite differences leave is some hundred times less.
const ALLOWED: f64 = 1e-5;

/// Report on the derivatives of a component of one's own, as :meth:`Model.check` and :func:`check`
/// make it; ``str`` of it says all in words.
#[pyclass(frozen, module = "pliant")]
#[derive(Debug)]
pub(crate) struct Check {
    title: String,
    worst: f64,
    findings: Vec<String>,
    lines: Vec<String>,
}

#[pymethods]
impl Check {
    /// Whether nothing is wrong.
    #[getter]
    fn is_good(&self) -> bool {
        self.findings.is_empty()
    }

    /// Sentences on what is wrong.
    #[getter]
    fn findings<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, &self.findings)
    }

    /// Largest difference, as a share of 1 and the size of what it is compared with.
    #[getter]
    fn worst(&self) -> f64 {
        self.worst
    }

    fn __str__(&self) -> String {
        let indented = |line: &String| format!("  {line}");
        let mut out = vec![format!("{}:", self.title)];
        out.extend(self.lines.iter().map(indented));
        match self.findings.is_empty() {
            true => out.push("  nothing is wrong".to_owned()),
            false => out.extend(self.findings.iter().map(|line| format!("  wrong: {line}"))),
        }
        out.join("\n")
    }

    fn __repr__(&self) -> String {
        let count = match self.findings.len() {
            0 => "nothing wrong".to_owned(),
            1 => "1 finding".to_owned(),
            n => format!("{n} findings"),
        };
        format!("<pliant.Check of {}: {count}>", self.title)
    }
}

impl Check {
    fn of(title: &Title) -> Self {
        let Title { kind, name, node } = title;
        let named = match name == node {
            true => format!("{kind} `{name}`"),
            false => format!("{kind} `{name}` on `{node}`"),
        };
        Self {
            title: named,
            worst: 0.0,
            findings: Vec::new(),
            lines: Vec::new(),
        }
    }

    /// Compares one derivative: how large the difference is, and what it means if it is too large.
    fn compare(&mut self, what: &str, difference: f64, meaning: &str) {
        self.worst = self.worst.max(difference);
        self.lines
            .push(format!("{what}: largest difference {difference:.1e}"));
        if difference.is_nan() || difference > ALLOWED {
            self.findings
                .push(format!("{meaning} (by {difference:.1e} of 1 + its size)"));
        }
    }
}

/// Checks a force field at positions and velocities of its node.
fn force_field(
    title: Title,
    methods: &Methods,
    how: &How,
    shape: (Space, usize),
    [x, v]: [&[f64]; 2],
) -> Result<Check, Refusal> {
    let failures = Arc::new(Failures::default());
    let mut out = Check::of(&title);
    let caller = Caller::new(title, methods, &failures);
    let source = |name: &str| caller.source(name, how);
    let sources = ["energy", "force", "stiffness", "damping"];
    let shown = sources.iter().filter(|name| match **name {
        "energy" => caller.has("energy"),
        "damping" => caller.moves(),
        _ => true,
    });
    out.lines
        .extend(shown.map(|name| format!("`{name}` is {}", source(name))));
    let law = Law::new(caller.clone(), how, shape);
    // Damping shows where something moves.
    let moving: Vec<f64> = match v.iter().all(|v| *v == 0.0) {
        true => vec![1.0; v.len()],
        false => v.to_vec(),
    };
    let found = check::force_field(&law, shape.0, x, &moving);
    let as_given = check::force_field(&law.raw(), shape.0, x, &moving);
    if let Some(exception) = failures.take() {
        return Err(Refusal::Exception(exception));
    }
    let (found, as_given) = (found?, as_given?);
    if caller.has("energy") {
        out.compare(
            "`force` at rest against differences of `energy`",
            found.force,
            "`force` at rest is not minus the gradient of `energy`",
        );
    }
    let coupled = match how.coupled {
        true => "`stiffness` is not minus the derivative of `force` by position",
        false => {
            "`stiffness` is not minus the derivative of `force` by position, or elements act on each other \
             and `coupled` must be True"
        }
    };
    out.compare(
        "`stiffness` against differences of `force`",
        found.stiffness,
        coupled,
    );
    if caller.moves() {
        out.compare(
            "`damping` against differences of `force` by velocity",
            found.damping,
            "`damping` is not minus the derivative of `force` by velocity",
        );
    }
    if caller.is_given("stiffness") || caller.is_given("damping") {
        let symmetry = as_given.symmetry;
        // Torques of bodies have derivatives that are not symmetric, and so have forces without a
        // potential.
        if caller.has("energy") && shape.0 != Space::Rigid3 {
            out.compare(
                "given matrices against their transposes",
                symmetry,
                "`stiffness` or `damping` is not symmetric: steps take the symmetric part",
            );
        } else if symmetry > ALLOWED {
            out.lines
                .push("given matrices are not symmetric: steps take their symmetric parts".to_owned());
        }
    }
    if found.definite > ALLOWED {
        out.lines
            .push("`damping` has negative eigenvalues: the force drives what moves".to_owned());
    }
    Ok(out)
}

/// Checks a mapping at positions of its parents.
fn mapping(
    title: Title,
    methods: &Methods,
    how: &How,
    parents: Vec<(Space, usize)>,
    x: &[f64],
) -> Result<Check, Refusal> {
    let failures = Arc::new(Failures::default());
    let mut out = Check::of(&title);
    let caller = Caller::new(title, methods, &failures);
    for name in ["positions", "jacobian", "geometric_stiffness"] {
        out.lines
            .push(format!("`{name}` is {}", caller.source(name, how)));
    }
    let map = Map::try_at(caller, how, parents.clone(), x).ok_or_else(|| failures.refusal())?;
    let found = check::mapping(&map, &parents, x, 1);
    if let Some(exception) = failures.take() {
        return Err(Refusal::Exception(exception));
    }
    let found = found?;
    let coupled = match how.coupled {
        true => "`jacobian` is not the derivative of `positions`",
        false => {
            "`jacobian` is not the derivative of `positions`, or elements depend on others than those in \
             their places and `coupled` must be True"
        }
    };
    out.compare(
        "`jacobian` against differences of `positions`",
        found.jacobian,
        coupled,
    );
    out.compare(
        "power of forces on the node and on its parents",
        found.adjoint,
        "`jacobian` pushes velocities and pulls forces in two ways",
    );
    out.compare(
        "rate of `jacobian` along a motion against differences of velocities",
        found.bias,
        "the rate of `jacobian` along a motion is not that of the velocities",
    );
    out.compare(
        "`geometric_stiffness` against differences of `jacobian.T @ f`",
        found.geometric,
        "`geometric_stiffness` is not the derivative of `jacobian.T @ f`",
    );
    Ok(out)
}

/// Checks a part of a model at its initial state.
pub(crate) fn check_in(part: &Part, model: &Model) -> Result<Check, Refusal> {
    let state = model.initial_state()?;
    let find = |name: &String| model.node_named(name).into_iter();
    match &part.kind {
        Kind::ForceField { node, methods, how } => {
            let id = find(node).next().ok_or_else(|| Refusal::missing(model, node))?;
            let title = part.title("force field", node.clone());
            let at = [model.positions(&state, id), model.velocities(&state, id)];
            force_field(title, methods, how, shape_of(model, id), at)
        }
        Kind::Mapping {
            parents,
            methods,
            how,
        } => {
            let ids: Vec<_> = parents.iter().flat_map(find).collect();
            let x: Vec<f64> = {
                let all = ids.iter().flat_map(|id| model.positions(&state, *id));
                all.copied().collect()
            };
            let shapes = ids.iter().map(|id| shape_of(model, *id)).collect();
            let title = part.title("mapping", part.name.clone());
            mapping(title, methods, how, shapes, &x)
        }
        Kind::Constraint { node, .. } => Ok(Check::of(&part.title("constraint", node.clone()))),
    }
}

/// Compare the derivatives of a force field or a mapping of one's own with finite differences, at
/// positions ``x`` of points or scalars, shape ``(elements, coordinates)``, and velocities ``v``.
///
/// A mapping is one of a single parent. :meth:`Model.check` does the same at the initial state of a
/// model, also on bodies. The other arguments are those of :meth:`Model.with_force_field`.
///
/// >>> import pliant
/// >>> class Wrong:
/// ...     def energy(self, x):
/// ...         return (x**4).sum()
/// ...     def force(self, x):
/// ...         return -3 * x**3
/// >>> report = pliant.check(Wrong(), [[1.0]])
/// >>> report.is_good
/// False
/// >>> report.findings[0]
/// '`force` at rest is not minus the gradient of `energy` (by 2.0e-1 of 1 + its size)'
#[pyfunction(name = "check")]
#[pyo3(
    signature = (component, x, v=None, *, derivatives="differences", coupled=true, difference=None),
    text_signature = "(component, x, v=None, *, derivatives='differences', coupled=True, difference=0.0001)"
)]
pub(crate) fn check_component(
    py: Python<'_>,
    component: &Bound<'_, PyAny>,
    x: Numbers<'_>,
    v: Option<Numbers<'_>>,
    derivatives: &str,
    coupled: bool,
    difference: Option<f64>,
) -> PyResult<Check> {
    let how = How::new(py, derivatives, coupled, difference)?;
    let &[count, size] = x.shape() else {
        let text = format!(
            "the positions must have the shape (elements, coordinates), but have {}",
            arrays::shape(x.shape())
        );
        return Err(errors::state_text(py, &text));
    };
    let Some(space) = Space::real(size).filter(|_| count > 0) else {
        return Err(errors::state_text(py, "there are no positions"));
    };
    let positions = arrays::values(py, &x, "the positions", &[count, size])?;
    let velocities = match v {
        Some(v) => arrays::values(py, &v, "the velocities", &[count, size])?,
        None => vec![0.0; count * size],
    };
    let name = component.get_type().name()?.to_string();
    let title = |kind| Title {
        kind,
        name: name.clone(),
        node: name.clone(),
    };
    let is_mapping = component.hasattr("positions")?;
    let kind = if is_mapping { "mapping" } else { "force_field" };
    let methods = Methods::of(component, kind, &how)?;
    let found = py.detach(|| match is_mapping {
        true => mapping(title("mapping"), &methods, &how, vec![(space, count)], &positions),
        false => {
            let at = [&positions[..], &velocities[..]];
            force_field(title("force field"), &methods, &how, (space, count), at)
        }
    });
    found.map_err(|refusal| refusal.raise(py))
}
