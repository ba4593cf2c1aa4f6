//! Inverse kinematics: the positions of a mechanism at which markers on it are nearest to where
//! they were seen.

use crate::{Equilibrium, EquilibriumReport, Error, Options, Simulation};
use pliant_model::{ComponentId, Field, Level, Model, ModelError, NodeId, Pull, RowLaw, State, Treatment};

/// A point of a body, or of another node of points, whose place is measured.
#[derive(Clone, Debug, PartialEq)]
pub struct Marker {
    /// The user's name.
    pub name: String,
    /// The node of bodies or points.
    pub node: NodeId,
    /// The element of the node.
    pub element: usize,
    /// The point in body axes (m); without meaning on points.
    pub point: [f64; 3],
    /// Weight of its squared distance against those of others (N/m), positive.
    pub weight: f64,
}

/// Finds positions of a mechanism from the places of markers.
///
/// **Equation.** The positions `q` with
///
/// ```math
/// sum_i w_i |y_i(q) - m_i|^2/2 = min,   phi(q) = 0
/// ```
///
/// over the markers `y_i` that were seen at `m_i`, with the hard constraints `phi` of the model:
/// the equilibrium of springs of the stiffness `w_i` on the mechanism, by the solver of
/// [`Simulation::find_equilibrium`], with the whole second derivative. Joints are exact, loops and
/// redundant rows are taken, limits and ropes bear as they do at rest.
///
/// Mappings, hard constraints of positions, force fields whose rows are all of compliance zero
/// (inextensible ropes, hard limits, exact position motors) and fixed coordinates of the model play a
/// part; other force fields, compliant joints among them, hard rows of velocities and gravity do not.
/// Driven rows are where their motions start, unless they are [left out](Self::leave_out).
///
/// Each search begins where the last one ended, so that places in the order of time follow one
/// branch where a mechanism has several. Directions that the markers do not determine do not
/// move, and are counted ([`MarkerFit::undetermined`]).
#[derive(Debug)]
pub struct InverseKinematics {
    simulation: Simulation,
    markers: Vec<Marker>,
    springs: Vec<ComponentId>,
    how: Equilibrium,
}

/// How well the markers are met.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MarkerFit {
    /// Distance of each marker from where it was seen (m); `None` for those that were not.
    pub distances: Vec<Option<f64>>,
    /// Root of the mean squared distance of those that were seen, without weights (m).
    pub root_mean_square: f64,
    /// The largest distance (m), and the number of its marker.
    pub largest: (f64, usize),
    /// Directions that the markers do not determine.
    pub undetermined: usize,
    /// The search.
    pub report: EquilibriumReport,
}

impl InverseKinematics {
    /// For a mechanism, from its initial positions on.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] for a weight that is not positive, [`Error::Model`] for a marker on
    /// what has no place, or on an element that there is not; [`Error::NotStatic`] for a force field
    /// of which some rows are hard and others are not; and as [`Simulation::new`].
    pub fn new(mut model: Model, markers: Vec<Marker>) -> Result<Self, Error> {
        for marker in &markers {
            let positive = marker.weight > 0.0 && marker.weight.is_finite();
            if !positive {
                return Err(Error::OutOfRange {
                    what: "the weight of a marker",
                    value: marker.weight,
                    bound: "positive and finite",
                });
            }
        }
        model.set_gravity([0.0; 3])?;
        let fields = model.force_fields().len();
        let springs = markers
            .iter()
            .map(|marker| add_spring(&mut model, marker))
            .collect::<Result<Vec<_>, ModelError>>()?;
        let mut simulation = Simulation::with_options(model, Options::default())?;
        let idle = idle_components(&mut simulation, fields)?;
        simulation.release_components(&idle)?;
        Ok(Self {
            simulation,
            markers,
            springs,
            how: Equilibrium::default(),
        })
    }

    /// Leaves components out, such as the motors of joints.
    ///
    /// # Errors
    /// As [`Simulation::release_components`].
    pub fn leave_out(&mut self, components: &[ComponentId]) -> Result<(), Error> {
        self.simulation.release_components(components)
    }

    /// Holds coordinates of an element of an independent node where they are.
    ///
    /// # Errors
    /// As [`Simulation::hold`].
    pub fn hold(&mut self, node: NodeId, element: usize, coordinates: &[bool]) -> Result<(), Error> {
        let still = vec![0.0; coordinates.len()];
        self.simulation.hold(node, element, coordinates, &still)
    }

    /// The markers.
    pub fn markers(&self) -> &[Marker] {
        &self.markers
    }

    /// The mechanism, at the positions of the last search.
    pub fn simulation(&self) -> &Simulation {
        &self.simulation
    }

    /// Goes on from another state.
    ///
    /// # Errors
    /// As [`Simulation::set_state`].
    pub fn set_state(&mut self, state: &State) -> Result<(), Error> {
        self.simulation.set_state(state)
    }

    /// The tolerance and the iterations of a search.
    pub fn search_mut(&mut self) -> &mut Equilibrium {
        &mut self.how
    }

    /// Moves the mechanism to where its markers are nearest to these places (m), `None` for those
    /// that were not seen.
    ///
    /// # Errors
    /// [`Error::Model`] if there are not as many places as markers, or one is no number;
    /// [`Error::OutOfRange`] if no marker was seen; as [`Simulation::find_equilibrium`], and then
    /// the mechanism is where it was.
    pub fn fit(&mut self, places: &[Option<[f64; 3]>]) -> Result<MarkerFit, Error> {
        let (expected, found) = (self.markers.len(), places.len());
        if expected != found {
            return Err(ModelError::Size {
                name: "markers".to_owned(),
                field: Field::Other("the places"),
                what: "places",
                expected,
                found,
            }
            .into());
        }
        if places.iter().all(Option::is_none) {
            return Err(Error::OutOfRange {
                what: "the number of markers that were seen",
                value: 0.0,
                bound: "at least one",
            });
        }
        for ((marker, spring), place) in self.markers.iter().zip(&self.springs).zip(places) {
            let stiffness = place.map_or(0.0, |_| marker.weight);
            let inputs = Pull::acting_on(
                marker.element,
                [stiffness, 0.0],
                place.unwrap_or_default(),
                marker.point,
            );
            for (k, input) in inputs.into_iter().enumerate() {
                self.simulation.set_input(*spring, k, input)?;
            }
        }
        let report = self.simulation.find_equilibrium(&self.how)?;
        Ok(self.measure(places, report))
    }

    /// Where a marker is now (m); `None` if there are not so many.
    pub fn place(&self, marker: usize) -> Option<[f64; 3]> {
        let Marker {
            node, element, point, ..
        } = self.markers.get(marker)?;
        let space = self.simulation.model().node(*node).space;
        let at = self
            .simulation
            .positions(*node)
            .get(element * space.position_size()..)?;
        Some(Pull::point_at(space, at, *point))
    }

    fn measure(&self, places: &[Option<[f64; 3]>], report: EquilibriumReport) -> MarkerFit {
        let mut fit = MarkerFit {
            undetermined: report.free_modes,
            report,
            ..MarkerFit::default()
        };
        let (mut sum, mut seen) = (0.0, 0);
        for (marker, place) in places.iter().enumerate() {
            let distance = place.zip(self.place(marker)).map(|(place, at)| {
                let away = |k: usize| at[k] - place[k];
                away(0).hypot(away(1)).hypot(away(2))
            });
            fit.distances.push(distance);
            let Some(distance) = distance else { continue };
            sum += distance * distance;
            seen += 1;
            if distance >= fit.largest.0 {
                fit.largest = (distance, marker);
            }
        }
        fit.root_mean_square = (sum / f64::from(seen.max(1))).sqrt();
        fit
    }
}

/// The components that play no part: of the first force fields those without hard rows, and hard
/// constraints of velocities.
fn idle_components(simulation: &mut Simulation, fields: usize) -> Result<Vec<ComponentId>, Error> {
    let state = &simulation.motion.state;
    let system = &mut simulation.system;
    system.evaluation.evaluate(&system.model, state)?;
    // How many rows each has, and how many of them are hard.
    let mut rows = vec![[0; 2]; fields];
    let problem = &system.model;
    for group in problem.row_groups() {
        let ComponentId::ForceField(i) = group.component else {
            continue;
        };
        let Some([all, hard]) = rows.get_mut(i) else {
            continue;
        };
        for k in 0..group.size * group.count {
            *all += 1;
            let is_hard = problem.row_law(group) != RowLaw::Viscous && system.evaluation.is_hard(group, k);
            *hard += usize::from(is_hard);
        }
    }
    let mut idle = Vec::new();
    for (i, [all, hard]) in rows.into_iter().enumerate() {
        let component = ComponentId::ForceField(i);
        match hard {
            0 => idle.push(component),
            _ if hard == all => {}
            _ => {
                let name = problem.component_name(component);
                let what = format!("inverse kinematics with `{name}`, some of whose rows are hard,");
                return Err(Error::NotStatic { what });
            }
        }
    }
    for (i, row) in problem.constraints().iter().enumerate() {
        if !matches!(row.component.level, Level::Position | Level::CurvedPosition) {
            idle.push(ComponentId::Constraint(i));
        }
    }
    Ok(idle)
}

/// A spring that pulls a marker to where it was seen; it does not act before.
fn add_spring(model: &mut Model, marker: &Marker) -> Result<ComponentId, ModelError> {
    let count = model.node(marker.node).count;
    let law = Pull::new(count).with_inputs(Pull::acting_on(marker.element, [0.0; 2], [0.0; 3], marker.point));
    let name = format!("marker {}", marker.name);
    model.add_force_field(&name, marker.node, law, Treatment::Stiffness)
}
