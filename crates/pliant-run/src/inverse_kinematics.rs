//! Positions of a scene from the places of markers on it.

mod marker_file;

pub use marker_file::{MarkerFile, MarkerFileError, MarkerFrame};

use pliant::model::{ComponentId, JointAxis, JointHandle, JointKind, Model, NodeId, Space};
use pliant::{Error, InverseKinematics, Marker, MarkerFit};
use pliant_output::recording::{NumberTable, Recording, Sample};
use pliant_scene::{BuiltScene, Picture, Places, SceneError, hint};
use std::collections::BTreeMap;

/// Finds the positions of a scene over the frames of a file of markers.
///
/// A marker of the file is the node of points or bodies of its name, of which it is the only
/// element; the marker `NAME[3]` is the element 3 of several. The mechanism is that of
/// [`InverseKinematics`]: joints and other hard constraints hold, and what is `fixed` at the start;
/// forces and motors play no part.
#[derive(Debug)]
pub struct MarkerRun {
    kinematics: InverseKinematics,
    joints: Vec<(String, JointKind, JointHandle)>,
    picture: Picture,
    places: Places,
    up: [f64; 3],
    /// The column of the file of each marker.
    columns: Vec<usize>,
    unknown: Vec<String>,
    found: MarkerResults,
}

/// The results of a [`MarkerRun`].
#[derive(Clone, Debug, Default)]
pub struct MarkerResults {
    /// Free coordinates of the joints (m, rad) over time.
    pub coordinates: NumberTable,
    /// The root mean square and the distance of each marker from where it was seen (m) over time;
    /// no number where it was not seen.
    pub distances: NumberTable,
    /// The pictures.
    pub recording: Recording,
    /// The most directions that no marker determined.
    pub undetermined: usize,
    /// Frames in which no marker of the scene was seen; positions stay in them.
    pub unseen: usize,
    /// Iterations of all searches.
    pub iterations: usize,
}

impl MarkerRun {
    /// Prepares a scene for the markers of a file that are in it; `weights` has those that do not
    /// weigh 1.
    ///
    /// # Errors
    /// [`SceneError::Setting`] if no marker is in the scene, a weight is of none or not positive,
    /// or a name means several points; [`SceneError`] of the scene.
    pub fn new(
        scene: BuiltScene,
        file: &MarkerFile,
        weights: &BTreeMap<String, f64>,
    ) -> Result<Self, SceneError> {
        let mut markers = Vec::new();
        let (mut columns, mut unknown) = (Vec::new(), Vec::new());
        for (column, name) in file.names.iter().enumerate() {
            let Some((node, element)) = element_named(&scene.model, name)? else {
                unknown.push(name.clone());
                continue;
            };
            columns.push(column);
            markers.push(Marker {
                name: name.clone(),
                node,
                element,
                point: [0.0; 3],
                weight: weights.get(name).copied().unwrap_or(1.0),
            });
        }
        unknown.extend(file.passed_over.iter().cloned());
        if markers.is_empty() {
            let nodes = scene.model.nodes().iter().map(|node| node.name.as_str());
            return Err(SceneError::Setting {
                message: "no marker of the file is a node of points or bodies of the scene".to_owned(),
                help: file.names.first().and_then(|name| hint(name, "nodes", nodes)),
            });
        }
        for (name, weight) in weights {
            if !markers.iter().any(|marker| marker.name == *name) {
                let known = markers.iter().map(|marker| marker.name.as_str());
                return Err(SceneError::Setting {
                    message: format!("`{name}` has a weight, but is no marker of the file and the scene"),
                    help: hint(name, "markers", known),
                });
            }
            let positive = *weight > 0.0 && weight.is_finite();
            if !positive {
                return Err(SceneError::Setting {
                    message: format!("the weight of `{name}` is {weight}, but must be positive"),
                    help: None,
                });
            }
        }
        let up = scene.up();
        let BuiltScene {
            model,
            start,
            joints,
            picture,
            places,
            title,
            holds,
            ..
        } = scene;
        let mut kinematics = InverseKinematics::new(model, markers).map_err(|e| places.error(e))?;
        let motors: Vec<ComponentId> = joints
            .iter()
            .flat_map(|(_, _, handle)| handle.motors.iter().copied())
            .collect();
        kinematics.leave_out(&motors).map_err(|e| places.error(e))?;
        for hold in holds.iter().filter(|hold| hold.from == 0.0) {
            for element in &hold.elements {
                let held = kinematics.hold(hold.node, *element, &hold.coordinates);
                held.map_err(|e| places.error(e))?;
            }
        }
        if let Some(state) = &start {
            kinematics.set_state(state).map_err(|e| places.error(e))?;
        }
        let names = kinematics.markers().iter().map(|marker| &marker.name);
        let root_mean_square = "root_mean_square_m".to_owned();
        let mut found = MarkerResults {
            recording: picture.recording(kinematics.simulation().model(), &title),
            ..MarkerResults::default()
        };
        found.distances.columns = std::iter::once(root_mean_square)
            .chain(names.map(|name| format!("{name}.distance_m")))
            .collect();
        found.coordinates.columns = joints
            .iter()
            .flat_map(|(name, kind, handle)| {
                let parts = kind.free_axes().iter().take(handle.coordinates.len());
                parts.map(move |(axis, part)| match axis {
                    JointAxis::Translation(_) => format!("{name}.{part}_m"),
                    _ => format!("{name}.{part}_rad"),
                })
            })
            .collect();
        Ok(Self {
            kinematics,
            joints,
            picture,
            places,
            up,
            columns,
            unknown,
            found,
        })
    }

    /// Markers of the file that the scene has not.
    pub fn unknown(&self) -> &[String] {
        &self.unknown
    }

    /// The mechanism with its markers.
    pub fn kinematics(&self) -> &InverseKinematics {
        &self.kinematics
    }

    /// The direction that is up in pictures.
    pub fn up(&self) -> [f64; 3] {
        self.up
    }

    /// Finds the positions of a frame, from those of the one before on; `None` if no marker was seen
    /// in it, and then they stay.
    ///
    /// # Errors
    /// [`SceneError::Simulation`] with the time of the frame, if no positions were found.
    pub fn place(&mut self, frame: &MarkerFrame) -> Result<Option<MarkerFit>, SceneError> {
        let seen: Vec<_> = self.columns.iter().map(|k| frame.places[*k]).collect();
        if seen.iter().all(Option::is_none) {
            self.found.unseen += 1;
            self.record(frame.time, f64::NAN, &vec![None; seen.len()]);
            return Ok(None);
        }
        let fit = self
            .kinematics
            .fit(&seen)
            .map_err(|error| self.name(frame, error))?;
        self.found.undetermined = self.found.undetermined.max(fit.undetermined);
        self.found.iterations += fit.report.iterations;
        self.record(frame.time, fit.root_mean_square, &fit.distances);
        Ok(Some(fit))
    }

    /// Adds a line to both tables, and a picture.
    fn record(&mut self, time: f64, root_mean_square: f64, distances: &[Option<f64>]) {
        let simulation = self.kinematics.simulation();
        let nodes = self.joints.iter().flat_map(|(_, _, handle)| &handle.coordinates);
        let coordinates = nodes.map(|node| simulation.positions(*node)[0]);
        let line = std::iter::once(time).chain(coordinates).collect();
        self.found.coordinates.lines.push(line);
        let distances = distances.iter().map(|d| d.unwrap_or(f64::NAN));
        let line = [time, root_mean_square];
        self.found
            .distances
            .lines
            .push(line.into_iter().chain(distances).collect());
        let sample = Sample {
            time,
            ..Sample::default()
        };
        let mut picture = self
            .picture
            .frame(simulation.problem(), simulation.state(), sample);
        picture.time = time;
        self.found.recording.frames.push(picture);
        self.found.recording.samples.push(sample);
    }

    /// The results of all frames so far.
    pub fn results(&self) -> &MarkerResults {
        &self.found
    }

    fn name(&self, frame: &MarkerFrame, error: Error) -> SceneError {
        match self.places.error(error) {
            SceneError::Simulation {
                mut diagnostic,
                source,
            } => {
                diagnostic.message = format!("markers at {} s: {}", frame.time, diagnostic.message);
                SceneError::Simulation { diagnostic, source }
            }
            other => other,
        }
    }
}

/// The element of a node of points or bodies that a name means; `None` if there is none.
fn element_named(model: &Model, name: &str) -> Result<Option<(NodeId, usize)>, SceneError> {
    let (stem, element) = match name.strip_suffix(']').and_then(|rest| rest.rsplit_once('[')) {
        Some((stem, number)) => (stem, number.parse::<usize>().ok()),
        None => (name, None),
    };
    let whole = model.node_named(name).map(|node| (node, None));
    let part = || Some((model.node_named(stem)?, Some(element?)));
    let Some((node, element)) = whole.or_else(part) else {
        return Ok(None);
    };
    let entry = model.node(node);
    if !matches!(entry.space, Space::Rigid3 | Space::Real(3)) {
        return Ok(None);
    }
    match element {
        None if entry.count == 1 => Ok(Some((node, 0))),
        Some(element) if element < entry.count => Ok(Some((node, element))),
        _ => Err(SceneError::Setting {
            message: format!("the marker `{name}` is a node of {} elements", entry.count),
            help: Some(format!("`{stem}[0]` is the first of them")),
        }),
    }
}
