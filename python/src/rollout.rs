//! `Rollout`: a scene as a function of its parameters, with its gradient.

use crate::arrays::{self, Matrix, Numbers, Vector};
use crate::errors;
use crate::model::Model;
use pliant_run::rollout::{Quantity, Rollout as Inner, RolloutError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// The most steps.
const MOST: usize = 10_000_000;

/// A scene as a function of some of its parameters, with exact gradients: the positions of chosen
/// nodes (and velocities, if asked for) at the start and after every step.
///
/// The gradient is that of the converged steps, by one adjoint solve each, through joints, hard
/// constraints and geometric stiffness; memory does not grow with the number of steps. The scene
/// has the default ``integrator: Sdirk2``, without contacts, or ``Nonlinear``, which takes them (of
/// second order with ``alpha: 0.5, beta: 0.5``), or ``Bdf2``, and moves by itself.
///
/// With ``smoothing`` gradients are those of steps whose contacts a barrier of this energy (J)
/// smoothes: contacts that are near, within the ``margin`` of their colliders or about to close in ten
/// steps, have a share in them before they touch. The moments are those of the scene all the same.
///
/// :mod:`pliant.torch` and :mod:`pliant.jax` have it as a function of their arrays.
///
/// >>> import pliant
/// >>> model = pliant.Model.from_string('''(
/// ...     parameters: {"speed": 3, "gravity": 10},
/// ...     gravity: (0, "-$gravity", 0),
/// ...     run: (duration: 1, step: 0.01, integrator: Nonlinear),
/// ...     nodes: [Particles(
/// ...         name: "stone", positions: [(0, 0, 0)], velocities: [("$speed", 0, 0)], mass: 2,
/// ...     )],
/// ... )''')
/// >>> rollout = pliant.Rollout(model, ["speed", "gravity"], ["stone"])
/// >>> way = rollout.run([3, 10])
/// >>> way.shape, way[-1].round(9)
/// ((101, 3), array([ 3.  , -5.05,  0.  ]))
/// >>> by = 0 * way
/// >>> by[-1, 0] = 1
/// >>> rollout.gradient([3, 10], by).round(9)
/// array([1., 0.])
#[pyclass(frozen, module = "pliant")]
#[derive(Debug)]
pub(crate) struct Rollout {
    inner: Inner,
    names: Vec<String>,
    values: Vec<f64>,
}

#[pymethods]
impl Rollout {
    #[new]
    #[pyo3(signature = (model, parameters, nodes, *, velocities=false, steps=None, smoothing=None))]
    fn new(
        py: Python<'_>,
        model: &Bound<'_, Model>,
        parameters: Vec<String>,
        nodes: Vec<String>,
        velocities: bool,
        steps: Option<&Bound<'_, PyAny>>,
        smoothing: Option<f64>,
    ) -> PyResult<Self> {
        let steps = steps
            .map(|n| arrays::count(py, n, "steps of a rollout", (1, MOST)))
            .transpose()?;
        let model = model.get();
        let known = &model.outline().parameters;
        let mut values = Vec::new();
        for name in &parameters {
            let Some((_, value)) = known.iter().find(|(known, _)| known == name) else {
                let all = known.iter().map(|(name, _)| name.as_str());
                return Err(errors::name(py, ["parameter", "parameters"], name, all));
            };
            values.push(*value);
        }
        if !model.parts().is_empty() {
            let text = "a rollout takes no components written in Python: their derivatives are not built";
            return Err(errors::state_text(py, text));
        }
        let outputs: Vec<(&str, Quantity)> = nodes
            .iter()
            .map(|name| (name.as_str(), Quantity::Positions))
            .chain(
                nodes
                    .iter()
                    .filter(|_| velocities)
                    .map(|name| (name.as_str(), Quantity::Velocities)),
            )
            .collect();
        let build = model.builder(parameters.clone());
        let inner = py.detach(|| {
            let inner = Inner::new(build, &values, &outputs, steps)?;
            match smoothing {
                Some(energy) => inner.with_smoothing(energy),
                None => Ok(inner),
            }
        });
        Ok(Self {
            inner: inner.map_err(|e| raise(py, &e))?,
            names: parameters,
            values,
        })
    }

    /// Parameters with the values that the model has: name to number, in the order of the values.
    #[getter]
    fn parameters<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let out = PyDict::new(py);
        for (name, value) in self.names.iter().zip(&self.values) {
            out.set_item(name, value)?;
        }
        Ok(out)
    }

    /// Shape of the array that :meth:`run` returns: moments, and numbers of each.
    #[getter]
    fn shape(&self) -> (usize, usize) {
        (self.inner.steps() + 1, self.inner.columns())
    }

    /// Move the scene with these values of the parameters; return its moments, shape
    /// :attr:`shape`: the positions of all elements of the nodes (of bodies with the quaternion
    /// ``(w, x, y, z)``), one node after the other, then their velocities.
    fn run<'py>(&self, py: Python<'py>, values: Numbers<'py>) -> PyResult<Matrix<'py>> {
        let values = self.read(py, &values)?;
        let found = py.detach(|| self.inner.run(&values)).map_err(|e| raise(py, &e))?;
        let (rows, columns) = self.shape();
        arrays::matrix(py, [rows, columns], |out| {
            out.copy_from_slice(&found);
            Ok(())
        })
    }

    /// Gradient by the parameters, at these values, of a function of the moments whose gradient by
    /// them is ``by`` (shape :attr:`shape`): the product of ``by`` with the Jacobian of
    /// :meth:`run`.
    fn gradient<'py>(
        &self,
        py: Python<'py>,
        values: Numbers<'py>,
        by: Numbers<'py>,
    ) -> PyResult<Vector<'py>> {
        let values = self.read(py, &values)?;
        let (rows, columns) = self.shape();
        let by = arrays::values(py, &by, "gradients by moments", &[rows, columns])?;
        let found = py.detach(|| self.inner.gradient(&values, &by));
        let found = found.map_err(|e| raise(py, &e))?;
        Ok(arrays::vector(py, &found.parameters))
    }

    /// Gradient, as :meth:`gradient` has it, by ``parameter`` of each element of ``node`` by itself:
    /// the stiffness of each spring, the modulus at each quadrature point of a solid, where the
    /// parameter is that of all of them and moves nothing else. The entries add up to that by the
    /// parameter, and cost no more.
    ///
    /// >>> import numpy as np
    /// >>> import pliant
    /// >>> model = pliant.Model.from_string('''(
    /// ...     parameters: {"stiffness": 8},
    /// ...     run: (duration: 1, step: 0.01, integrator: Nonlinear),
    /// ...     nodes: [Scalars(name: "masses", values: [1, 2], mass: 1)],
    /// ...     force_fields: [(name: "springs", on: "masses", law: Stiffness("$stiffness"))],
    /// ... )''')
    /// >>> rollout = pliant.Rollout(model, ["stiffness"], ["masses"])
    /// >>> by = np.ones(rollout.shape)
    /// >>> each = rollout.element_gradient([8], by, "stiffness", "masses")
    /// >>> (each / rollout.gradient([8], by)).round(6)
    /// array([0.333333, 0.666667])
    fn element_gradient<'py>(
        &self,
        py: Python<'py>,
        values: Numbers<'py>,
        by: Numbers<'py>,
        parameter: &str,
        node: &str,
    ) -> PyResult<Vector<'py>> {
        let values = self.read(py, &values)?;
        let (rows, columns) = self.shape();
        let by = arrays::values(py, &by, "gradients by moments", &[rows, columns])?;
        let Some(index) = self.names.iter().position(|name| name == parameter) else {
            let all = self.names.iter().map(String::as_str);
            return Err(errors::name(py, ["parameter", "parameters"], parameter, all));
        };
        let found = py.detach(|| self.inner.element_gradient(&values, &by, index, node));
        let found = found.map_err(|e| raise(py, &e))?;
        Ok(arrays::vector(py, &found))
    }

    /// Product with ``direction`` of the Hessian, by the parameters, of a function of the moments
    /// whose gradient by them ``gradient_of(moments)`` returns (shape :attr:`shape`), for Newton's
    /// method with conjugate gradients.
    ///
    /// It is the change of the exact gradient along the direction, by central differences of fourth
    /// order that move no parameter by more than a thousandth; it takes four rollouts and four
    /// gradients, whatever the number of parameters, and is good to about 1e-7 where the function is
    /// smooth. Returns the product and its spread: the largest difference from a formula of lower
    /// order, as a share of the largest entry, which is large across kinks (contacts that open,
    /// friction that turns to slip).
    ///
    /// >>> import numpy as np
    /// >>> import pliant
    /// >>> model = pliant.Model.from_string('''(
    /// ...     parameters: {"speed": 3},
    /// ...     run: (duration: 1, step: 0.01, integrator: Nonlinear),
    /// ...     nodes: [Particles(
    /// ...         name: "stone", positions: [(0, 0, 0)], velocities: [("$speed", 0, 0)], mass: 2,
    /// ...     )],
    /// ... )''')
    /// >>> rollout = pliant.Rollout(model, ["speed"], ["stone"])
    /// >>> def by_square_of_end(way):
    /// ...     by = np.zeros_like(way)
    /// ...     by[-1] = 2 * way[-1]
    /// ...     return by
    /// >>> product, spread = rollout.hessian_product([3], [1], by_square_of_end)
    /// >>> product.round(6), spread < 1e-6
    /// (array([2.]), True)
    fn hessian_product<'py>(
        &self,
        py: Python<'py>,
        values: Numbers<'py>,
        direction: Numbers<'py>,
        gradient_of: Bound<'py, PyAny>,
    ) -> PyResult<(Vector<'py>, f64)> {
        let values = self.read(py, &values)?;
        let direction = arrays::values(py, &direction, "a direction of the parameters", &[values.len()])?;
        let (rows, columns) = self.shape();
        let gradient_of = gradient_of.unbind();
        let call = |moments: &[f64]| -> Result<Vec<f64>, Failure> {
            let by = Python::attach(|py| {
                let moments = arrays::matrix(py, [rows, columns], |out| {
                    out.copy_from_slice(moments);
                    Ok(())
                })?;
                let by = gradient_of.bind(py).call1((moments,))?;
                let by: Numbers<'_> = by.extract()?;
                arrays::values(py, &by, "gradients by moments", &[rows, columns])
            });
            by.map_err(Failure::Python)
        };
        let found = py.detach(|| self.inner.hessian_product(&values, &direction, call));
        match found {
            Ok(found) => Ok((arrays::vector(py, &found.product), found.spread)),
            Err(Failure::Python(error)) => Err(error),
            Err(Failure::Rollout(error)) => Err(raise(py, &error)),
        }
    }

    fn __repr__(&self) -> String {
        let (rows, columns) = self.shape();
        format!("Rollout(parameters={:?}, shape=({rows}, {columns}))", self.names)
    }
}

/// Why a product has no value: the rollout, or the function in Python.
enum Failure {
    Rollout(RolloutError),
    Python(PyErr),
}

impl From<RolloutError> for Failure {
    fn from(error: RolloutError) -> Self {
        Self::Rollout(error)
    }
}

impl Rollout {
    fn read(&self, py: Python<'_>, values: &Numbers<'_>) -> PyResult<Vec<f64>> {
        arrays::values(py, values, "values of the parameters", &[self.values.len()])
    }
}

fn raise(py: Python<'_>, error: &RolloutError) -> PyErr {
    use pliant::gradient::TrajectoryError;
    match error {
        RolloutError::Scene(error) => errors::scene(py, error),
        RolloutError::Trajectory(TrajectoryError::Step(error)) => errors::step(py, error),
        error => errors::state_text(py, &error.to_string()),
    }
}
