//! `Model`: a scene that was read and built.

use crate::errors;
use crate::outline::Outline;
use crate::own::{self, Check, How, Kind, Part};
use crate::run::{Built, Refusal, Run, built};
use pliant_scene::{Format, Number, Reading, SceneError, SceneFile, Settings};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyMapping, PyMappingMethods, PyString, PyTuple, PyType};
use std::collections::BTreeMap;
use std::ffi::CString;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// Model that a scene describes: what there is, and how steps are taken.
///
/// A model does not change. Any number of simulations move it, on any threads. It is pickled as its
/// text and settings; meshes are read again from their files, and must be the same.
///
/// >>> import pliant
/// >>> text = '''(
/// ...     parameters: {"length": 1.0},
/// ...     gravity: (0, -9.81, 0),
/// ...     run: (duration: 2, step: 0.01),
/// ...     nodes: [
/// ...         Particles(name: "bob", positions: [("$length", 0, 0)], mass: 1),
/// ...         Mapped(name: "rod", parents: ["bob"], mapping: Distance(pairs: [(0, (0, 0, 0))])),
/// ...     ],
/// ...     constraints: [(name: "rod is hard", on: "rod")],
/// ... )'''
/// >>> model = pliant.Model.from_string(text, parameters={"length": 2.0})
/// >>> model.nodes, model.constraints, model.dofs
/// (('bob', 'rod'), ('rod is hard',), 3)
/// >>> model.parameters, model.duration, model.step
/// ({'length': 2.0}, 2.0, 0.01)
/// >>> pliant.Model.from_string(text.replace("mass", "masss"))
/// Traceback (most recent call last):
///     ...
/// pliant.errors.SceneError: error: unknown key `masss` in `Particles`
///  --> <string>:6:64
///   |
/// 6 |         Particles(name: "bob", positions: [("$length", 0, 0)], masss: 1),
///   |                                                                ^^^^^
///   = help: did you mean `mass`?
#[pyclass(frozen, module = "pliant")]
#[derive(Debug)]
pub(crate) struct Model {
    file: Arc<SceneFile>,
    format: Format,
    settings: Settings,
    /// Components of the user's own, which the scene does not have.
    parts: Vec<Arc<Part>>,
    outline: Outline,
    /// The scene as it was built to look at it: the first simulation takes it.
    spare: Mutex<Option<Box<Built>>>,
}

impl Model {
    /// Builds what was read.
    fn build(file: Arc<SceneFile>, format: Format, settings: Settings) -> Result<Self, SceneError> {
        let scene = file.build(&settings)?;
        Ok(Self {
            outline: Outline::of(&scene),
            file,
            format,
            settings,
            parts: Vec::new(),
            spare: Mutex::new(Some(Box::new((scene, Arc::default())))),
        })
    }

    /// Builds the scene with parts that it does not have.
    fn build_with(
        file: Arc<SceneFile>,
        format: Format,
        settings: Settings,
        parts: Vec<Arc<Part>>,
    ) -> Result<Self, Refusal> {
        let built = built(&file, &settings, &parts)?;
        Ok(Self {
            outline: Outline::of(&built.0),
            file,
            format,
            settings,
            parts,
            spare: Mutex::new(Some(Box::new(built))),
        })
    }

    /// The same model with one more part.
    fn with_part(&self, py: Python<'_>, part: Part) -> PyResult<Self> {
        let mut parts = self.parts.clone();
        parts.push(Arc::new(part));
        let (file, settings) = (self.file.clone(), self.settings.clone());
        let model = py.detach(|| Self::build_with(file, self.format, settings, parts));
        model.map_err(|refusal| refusal.raise(py))
    }

    /// A function that builds the scene for values of some of its parameters.
    pub(crate) fn builder(&self, parameters: Vec<String>) -> Box<pliant_run::rollout::Build> {
        let (file, settings) = (self.file.clone(), self.settings.clone());
        Box::new(move |values| {
            let mut settings = settings.clone();
            for (name, value) in parameters.iter().zip(values) {
                settings.parameters.retain(|(old, _)| old != name);
                settings.parameters.push((name.clone(), (*value).into()));
            }
            file.build(&settings)
        })
    }

    pub(crate) fn parts(&self) -> &[Arc<Part>] {
        &self.parts
    }

    /// A run of the scene in its initial state, which keeps pictures or not.
    pub(crate) fn runner(&self, py: Python<'_>, record: bool) -> PyResult<Run> {
        py.detach(|| self.start(record))
            .map_err(|refusal| refusal.raise(py))
    }

    /// A run as [`runner`](Self::runner) has it, by a thread that does not hold Python.
    pub(crate) fn start(&self, record: bool) -> Result<Run, Refusal> {
        let spare = self.spare.lock().unwrap_or_else(PoisonError::into_inner).take();
        let (scene, failures) = match spare {
            Some(built) => *built,
            None => built(&self.file, &self.settings, &self.parts)?,
        };
        if scene.file_checksum() != self.outline.meshes {
            return Err(Refusal::Meshes);
        }
        Run::begin(scene, failures, record)
    }

    /// The same scene with other values of some parameters.
    pub(crate) fn with(&self, parameters: Vec<(String, Number)>) -> Result<Self, Refusal> {
        let mut settings = self.settings.clone();
        for (name, value) in parameters {
            settings.parameters.retain(|(old, _)| *old != name);
            settings.parameters.push((name, value));
        }
        Self::build_with(self.file.clone(), self.format, settings, self.parts.clone())
    }

    pub(crate) fn outline(&self) -> &Outline {
        &self.outline
    }
}

/// Values of parameters, numbers or expressions.
fn values(py: Python<'_>, parameters: &Bound<'_, PyMapping>) -> PyResult<Vec<(String, Number)>> {
    let one = |item: Bound<'_, PyAny>| {
        let (name, value): (String, Bound<'_, PyAny>) = item.extract()?;
        let value = parameter(py, &name, &value)?;
        Ok((name, value))
    };
    parameters.items()?.iter().map(one).collect()
}

/// The value of one parameter.
pub(crate) fn parameter(py: Python<'_>, name: &str, value: &Bound<'_, PyAny>) -> PyResult<Number> {
    if let Ok(text) = value.cast::<PyString>() {
        return Ok(Number::Expression(text.extract()?));
    }
    let number: f64 = value.extract()?;
    if !number.is_finite() {
        let text = format!("parameter `{name}` is {number}, but must be finite");
        return Err(errors::scene_text(py, &text));
    }
    Ok(Number::Value(number))
}

/// Settings of a scene from the arguments of a constructor.
fn settings(
    py: Python<'_>,
    parameters: Option<&Bound<'_, PyMapping>>,
    step: Option<f64>,
    duration: Option<f64>,
    mesh_directories: Vec<PathBuf>,
) -> PyResult<Settings> {
    Ok(Settings {
        parameters: parameters.map_or_else(|| Ok(Vec::new()), |p| values(py, p))?,
        step,
        duration,
        mesh_directories,
        ..Settings::default()
    })
}

fn notation(py: Python<'_>, name: &str) -> PyResult<Format> {
    match name {
        "ron" => Ok(Format::Ron),
        "json" => Ok(Format::Json),
        other => Err(errors::name(
            py,
            ["notation", "notations"],
            other,
            ["ron", "json"],
        )),
    }
}

fn notation_name(format: Format) -> &'static str {
    match format {
        Format::Ron => "ron",
        Format::Json => "json",
    }
}

#[pymethods]
impl Model {
    /// Read a scene file, ``.ron`` or ``.json``.
    ///
    /// ``parameters`` replace those of the scene, as numbers or as expressions such as ``"pi/4"``;
    /// ``step`` and ``duration`` (s) those of its ``run``. Meshes are read in the directory of the
    /// scene and below, and in ``mesh_directories``. Raises :class:`SceneError`.
    #[classmethod]
    #[pyo3(signature = (path, parameters=None, *, step=None, duration=None, mesh_directories=Vec::new()))]
    fn from_file(
        _class: &Bound<'_, PyType>,
        py: Python<'_>,
        path: PathBuf,
        parameters: Option<&Bound<'_, PyMapping>>,
        step: Option<f64>,
        duration: Option<f64>,
        mesh_directories: Vec<PathBuf>,
    ) -> PyResult<Self> {
        let settings = settings(py, parameters, step, duration, mesh_directories)?;
        let json = path.extension().is_some_and(|e| e.eq_ignore_ascii_case("json"));
        let format = if json { Format::Json } else { Format::Ron };
        let reading = reading(&settings);
        py.detach(|| Self::build(SceneFile::load_with(&path, &reading)?.into(), format, settings))
            .map_err(|error| errors::scene(py, &error))
    }

    /// Read a scene from a text in the notation ``"ron"`` or ``"json"``.
    ///
    /// Meshes are read in ``directory`` (the present one by default) and below; ``name`` is that of
    /// a file there, for messages. The other arguments are those of :meth:`from_file`. Raises
    /// :class:`SceneError`.
    #[classmethod]
    #[pyo3(signature = (
        text, format="ron", parameters=None, *, directory=None, name="<string>", step=None, duration=None,
        mesh_directories=Vec::new()
    ))]
    fn from_string(
        _class: &Bound<'_, PyType>,
        py: Python<'_>,
        text: &str,
        format: &str,
        parameters: Option<&Bound<'_, PyMapping>>,
        directory: Option<PathBuf>,
        name: &str,
        step: Option<f64>,
        duration: Option<f64>,
        mesh_directories: Vec<PathBuf>,
    ) -> PyResult<Self> {
        let settings = settings(py, parameters, step, duration, mesh_directories)?;
        let format = notation(py, format)?;
        // Meshes are read beside the file that the path names.
        if Path::new(name).file_name().is_none_or(|file| file != name) {
            let text = format!("`{name}` is no name of a file: its folder is the `directory`");
            return Err(errors::scene_text(py, &text));
        }
        let path = directory.map_or_else(|| PathBuf::from(name), |directory| directory.join(name));
        py.detach(|| {
            Self::build(
                SceneFile::from_text_with(&path, text, format, &reading(&settings))?.into(),
                format,
                settings,
            )
        })
        .map_err(|error| errors::scene(py, &error))
    }

    /// Import a robot from a URDF or MJCF file, an OpenSim model, or a scene of SOFA (``.scn``).
    ///
    /// Parts that are taken in another way or not at all are in one :class:`RobotWarning`, with
    /// file and line, and in the first lines of :attr:`text`. ``floating`` lets the base of a URDF
    /// robot move, ``position`` (m) is where it starts, ``self_collision`` lets its links collide
    /// with each other (the others say these things themselves); ``ground`` adds the plane z = 0,
    /// y = 0 of OpenSim; ``start`` has coordinates of joints (m, rad), ``packages`` the directories
    /// of ``package://`` names. The other arguments are those of :meth:`from_file`. Raises
    /// :class:`SceneError`.
    #[classmethod]
    #[pyo3(signature = (
        path, *, floating=false, position=[0.0; 3], self_collision=false, ground=false, start=None, packages=None,
        step=None, duration=None
    ))]
    fn from_robot(
        _class: &Bound<'_, PyType>,
        py: Python<'_>,
        path: PathBuf,
        floating: bool,
        position: [f64; 3],
        self_collision: bool,
        ground: bool,
        start: Option<BTreeMap<String, f64>>,
        packages: Option<BTreeMap<String, PathBuf>>,
        step: Option<f64>,
        duration: Option<f64>,
    ) -> PyResult<Self> {
        let options = pliant_import::Options {
            packages: packages.unwrap_or_default().into_iter().collect(),
            floating,
            position,
            self_collision,
            ground,
            start: start.unwrap_or_default().into_iter().collect(),
            scene_directory: None,
        };
        let imported = py.detach(|| pliant_import::import_file(&path, &options));
        let imported = imported.map_err(|error| errors::import(py, &error))?;
        let settings = settings(py, None, step, duration, imported.mesh_directories)?;
        let model = py.detach(|| {
            let file = SceneFile::from_text(&path.with_extension("ron"), &imported.scene, Format::Ron)?;
            Self::build(file.into(), Format::Ron, settings)
        });
        let model = model.map_err(|error| errors::scene(py, &error))?;
        if !imported.remarks.is_empty() {
            let remarks = imported.remarks.iter();
            let remarks = remarks.map(|remark| errors::with_arguments(&remark.to_string()));
            let text = remarks.collect::<Vec<_>>().join("\n");
            let class = py.import("pliant.errors")?.getattr("RobotWarning")?;
            PyErr::warn(py, &class, &CString::new(text)?, 1)?;
        }
        Ok(model)
    }

    /// Make a scene of a dictionary with the keys of a ``.json`` scene.
    ///
    /// Numbers and arrays of NumPy are numbers and lists. Errors show their place in the JSON text
    /// of the dictionary, with two blanks for a level. The arguments are those of
    /// :meth:`from_string`. Raises :class:`SceneError`, and ``TypeError`` or ``ValueError`` for
    /// what JSON does not take.
    ///
    /// >>> import pliant
    /// >>> stone = {"name": "stone", "positions": [[0, 0, 0]], "mass": 2}
    /// >>> scene = {"run": {"duration": 1}, "nodes": [{"Particles": stone}]}
    /// >>> pliant.Model.from_dict(scene).dofs
    /// 3
    #[classmethod]
    #[pyo3(signature = (
        scene, parameters=None, *, directory=None, name="<dict>", step=None, duration=None,
        mesh_directories=Vec::new()
    ))]
    fn from_dict(
        class: &Bound<'_, PyType>,
        py: Python<'_>,
        scene: &Bound<'_, PyMapping>,
        parameters: Option<&Bound<'_, PyMapping>>,
        directory: Option<PathBuf>,
        name: &str,
        step: Option<f64>,
        duration: Option<f64>,
        mesh_directories: Vec<PathBuf>,
    ) -> PyResult<Self> {
        let text = py.import("pliant.notation")?.getattr("text")?.call1((scene,))?;
        let text: String = text.extract()?;
        Self::from_string(
            class,
            py,
            &text,
            "json",
            parameters,
            directory,
            name,
            step,
            duration,
            mesh_directories,
        )
    }

    /// Make the same scene with other values of some parameters, as numbers or expressions.
    ///
    /// Raises :class:`SceneError`.
    fn with_parameters(&self, py: Python<'_>, parameters: &Bound<'_, PyMapping>) -> PyResult<Self> {
        let values = values(py, parameters)?;
        let model = py.detach(|| self.with(values));
        model.map_err(|refusal| refusal.raise(py))
    }

    /// Make the same model with a force field of one's own on a node.
    ///
    /// ``field`` has ``energy(x)`` (J), ``force(x)`` or ``force(x, v)``, or both, and may have
    /// ``stiffness(x)`` and ``damping(x, v)``. ``x`` is an array of the positions of the node,
    /// shape ``(elements, coordinates)`` (m; of bodies a position, then a quaternion), ``v`` one of
    /// its velocities, of the shape of the force (of bodies six, the angular ones and torques in
    /// body axes). With an energy, the force at rest is minus its gradient and the energy is in the
    /// ledger; without, its work is that of a force from outside.
    ///
    /// Stiffness is minus the derivative of the force at rest by position, damping that by
    /// velocity, of shape ``(n, n)`` over all coordinates of the force; their symmetric parts are
    /// taken. With ``coupled=False`` elements do not act on each other, and the shape is
    /// ``(elements, size, size)``. What is not given comes from central differences with steps of
    /// ``difference`` (m, rad; 1e-4 by default; in proportion to coordinates larger than 1), or
    /// from automatic differentiation: ``derivatives="jax"`` or ``"torch"``. :meth:`check` compares
    /// them.
    ///
    /// Raises :class:`UnknownName`, :class:`ComponentError`, and whatever the callables raise.
    ///
    /// >>> import pliant
    /// >>> class Spring:
    /// ...     def energy(self, x):
    /// ...         return 50 * (x**2).sum()
    /// >>> stone = {"name": "stone", "positions": [[1, 0, 0]], "mass": 2}
    /// >>> scene = {"run": {"duration": 1, "step": 0.001}, "nodes": [{"Particles": stone}]}
    /// >>> model = pliant.Model.from_dict(scene).with_force_field("spring", "stone", Spring())
    /// >>> simulation = pliant.Simulation(model)
    /// >>> simulation.run(0.4)
    /// 400
    /// >>> simulation.node("stone").positions.round(3)  # cos(sqrt(100/2) 0.4)
    /// array([[-0.951,  0.   ,  0.   ]])
    #[pyo3(
        signature = (name, node, field, *, derivatives="differences", coupled=true, difference=None),
        text_signature = "($self, name, node, field, *, derivatives='differences', coupled=True, difference=0.0001)"
    )]
    fn with_force_field(
        &self,
        py: Python<'_>,
        name: String,
        node: String,
        field: &Bound<'_, PyAny>,
        derivatives: &str,
        coupled: bool,
        difference: Option<f64>,
    ) -> PyResult<Self> {
        let how = How::new(py, derivatives, coupled, difference)?;
        self.with_part(py, Part::force_field(name, node, field, how)?)
    }

    /// Make the same model with a node that a mapping of one's own makes of others, its
    /// ``parents``: a name or several.
    ///
    /// ``mapping`` has ``positions(x)``, which returns those of the node, shape ``(elements,
    /// coordinates)``: points or scalars, not bodies. It may have ``jacobian(x)``, of shape
    /// ``(elements, coordinates, dofs)`` over the velocities of the parents, and
    /// ``geometric_stiffness(x, f)``, the derivative of ``J.T @ f`` for a fixed force of the node,
    /// of shape ``(dofs, dofs)``. With several parents there are as many arrays ``x``. With
    /// ``coupled=False`` an element depends on the element in its place alone, ``dofs`` are those
    /// of one element, and the geometric stiffness has the shape ``(elements, dofs, dofs)``. The
    /// rest is as in :meth:`with_force_field`.
    ///
    /// Force fields of one's own and :meth:`with_constraint` may act on the node.
    #[pyo3(
        signature = (name, parents, mapping, *, derivatives="differences", coupled=true, difference=None),
        text_signature = "($self, name, parents, mapping, *, derivatives='differences', coupled=True, difference=0.0001)"
    )]
    fn with_mapping(
        &self,
        py: Python<'_>,
        name: String,
        parents: &Bound<'_, PyAny>,
        mapping: &Bound<'_, PyAny>,
        derivatives: &str,
        coupled: bool,
        difference: Option<f64>,
    ) -> PyResult<Self> {
        let parents: Vec<String> = match parents.cast::<PyString>() {
            Ok(one) => vec![one.extract()?],
            Err(_) => parents.extract()?,
        };
        if parents.is_empty() {
            let text = format!("the mapping `{name}` has no parents");
            return Err(errors::state_text(py, &text));
        }
        let how = How::new(py, derivatives, coupled, difference)?;
        self.with_part(py, Part::mapping(name, parents, mapping, how)?)
    }

    /// Make the same model with the coordinates of a node held at zero: exactly with the
    /// ``compliance`` 0 (m/N, rad/(N m)), else as by springs of it, with a ``relaxation_time`` (s).
    ///
    /// The node is one of :meth:`with_mapping` or of the scene, of points or scalars. Raises
    /// :class:`UnknownName` or :class:`SceneError`.
    #[pyo3(signature = (name, node, *, compliance=0.0, relaxation_time=0.0))]
    fn with_constraint(
        &self,
        py: Python<'_>,
        name: String,
        node: String,
        compliance: f64,
        relaxation_time: f64,
    ) -> PyResult<Self> {
        let kind = Kind::Constraint {
            node,
            compliance,
            relaxation_time,
        };
        self.with_part(py, Part { name, kind })
    }

    /// Compare the derivatives of a component of one's own with finite differences, at the initial
    /// state; report in words what is wrong. ``str`` of the report says it all.
    ///
    /// Raises :class:`UnknownName` for what is no force field or mapping of one's own, and whatever
    /// the callables raise.
    fn check(&self, py: Python<'_>, name: &str) -> PyResult<Check> {
        let is_checked = |part: &&Arc<Part>| !matches!(part.kind, Kind::Constraint { .. });
        let parts = self.parts.iter().filter(is_checked);
        let Some(part) = parts.clone().find(|part| part.name == name) else {
            let all = parts.map(|part| part.name.as_str());
            let kinds = ["component of one's own", "components of one's own"];
            return Err(errors::name(py, kinds, name, all));
        };
        let found = py.detach(|| {
            let (scene, _) = built(&self.file, &self.settings, &self.parts)?;
            own::check_in(part, &scene.model)
        });
        found.map_err(|refusal| refusal.raise(py))
    }

    /// Title of the scene.
    #[getter]
    fn title(&self) -> &str {
        &self.outline.title
    }

    /// Path of the scene, as it was given.
    #[getter]
    fn path(&self) -> &Path {
        self.file.path()
    }

    /// Text of the scene.
    #[getter]
    fn text(&self) -> &str {
        self.file.text()
    }

    /// All parameters with their values.
    #[getter]
    fn parameters<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let out = PyDict::new(py);
        for (name, value) in &self.outline.parameters {
            out.set_item(name, value)?;
        }
        Ok(out)
    }

    /// Names of all nodes, independent and mapped.
    #[getter]
    fn nodes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, &self.outline.nodes)
    }

    /// Names of the nodes of rigid bodies.
    #[getter]
    fn bodies<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, &self.outline.bodies)
    }

    /// Names of the joints.
    #[getter]
    fn joints<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.outline.joints.iter().map(|(name, ..)| name))
    }

    /// Names of the free coordinates of all joints, in the order of :attr:`Simulation.q`:
    /// ``"shoulder.angle"``.
    #[getter]
    fn coordinates<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.outline.coordinate_names())
    }

    /// Names of the masses.
    #[getter]
    fn masses<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, &self.outline.masses)
    }

    /// Names of the force fields: springs, dampers, motors, materials.
    #[getter]
    fn force_fields<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, &self.outline.forces)
    }

    /// Names of the hard constraints.
    #[getter]
    fn constraints<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, &self.outline.constraints)
    }

    /// Names of the colliders; contacts name their sides by their places here.
    #[getter]
    fn colliders<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, &self.outline.colliders)
    }

    /// Number of degrees of freedom, those that are fixed included.
    #[getter]
    fn dofs(&self) -> usize {
        self.outline.dofs
    }

    /// Simulated time of the scene (s).
    #[getter]
    fn duration(&self) -> f64 {
        self.outline.duration
    }

    /// Length of a step (s).
    #[getter]
    fn step(&self) -> f64 {
        self.outline.step
    }

    /// Whether the scene asks for equilibria instead of motion.
    #[getter]
    fn is_static(&self) -> bool {
        self.outline.is_static
    }

    fn __repr__(&self) -> String {
        format!(
            "<pliant.Model {:?}: {} dofs>",
            self.outline.title, self.outline.dofs
        )
    }

    fn __copy__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    fn __deepcopy__<'py>(slf: Bound<'py, Self>, _memo: &Bound<'py, PyAny>) -> Bound<'py, Self> {
        slf
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
        let py = slf.py();
        let this = slf.get();
        let rebuild = slf.get_type().getattr("_rebuild")?;
        let parameters = PyDict::new(py);
        for (name, value) in &this.settings.parameters {
            match value {
                Number::Value(value) => parameters.set_item(name, value)?,
                Number::Expression(text) => parameters.set_item(name, text)?,
            }
        }
        let arguments = (
            this.file.text(),
            notation_name(this.format),
            this.file.path(),
            parameters,
            this.settings.step,
            this.settings.duration,
            this.settings.mesh_directories.clone(),
            this.outline.meshes,
            this.parts
                .iter()
                .map(|part| part.pickled(py))
                .collect::<PyResult<Vec<_>>>()?,
        );
        Ok((rebuild, arguments.into_pyobject(py)?.into_any()))
    }

    #[classmethod]
    fn _rebuild(
        _class: &Bound<'_, PyType>,
        py: Python<'_>,
        text: &str,
        format: &str,
        path: PathBuf,
        parameters: &Bound<'_, PyMapping>,
        step: Option<f64>,
        duration: Option<f64>,
        mesh_directories: Vec<PathBuf>,
        meshes: u32,
        parts: Vec<Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        let settings = settings(py, Some(parameters), step, duration, mesh_directories)?;
        let format = notation(py, format)?;
        let parts = parts.iter().map(|part| Ok(Arc::new(Part::unpickled(part)?)));
        let parts = parts.collect::<PyResult<Vec<_>>>()?;
        let model = py
            .detach(|| {
                let file = SceneFile::from_text_with(&path, text, format, &reading(&settings))?;
                Self::build_with(file.into(), format, settings, parts)
            })
            .map_err(|refusal| refusal.raise(py))?;
        match model.outline.meshes == meshes {
            true => Ok(model),
            false => Err(errors::scene_text(
                py,
                "a mesh that the scene reads has changed since the model was pickled",
            )),
        }
    }
}

/// Bounds of the files that a scene may include: those of its meshes.
fn reading(settings: &Settings) -> Reading {
    Reading {
        directories: settings.mesh_directories.clone(),
        ..Reading::default()
    }
}
