//! The quantities that each kind of thing has, with their names and units.

use super::super::Builder;
use super::variables;
use crate::deformable::{Deformable, DeformableParts, FieldNumber};
use crate::observable::{CONTACT, EnergyKind, Observable};
use crate::schema::{Mapping, Node};
use crate::signal::{COMMAND, OUTPUT, READING};
use pliant::model::{ComponentId, JointAxis, NodeId, Space};

/// A thing that has quantities.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Thing {
    /// A joint, by its place in the scene.
    Joint(usize),
    Node(NodeId),
    Component(ComponentId),
    /// A solid, sheet or rod by its elements, by its place in the scene.
    Deformable(usize),
    /// A solid or sheet as a whole.
    Whole(usize),
    /// A point, element or segment that a probe names.
    Gauge(usize, usize),
    /// A pair of colliders that a probe names.
    Contact(usize),
    /// A sensor, by its place in the scene.
    Sensor(usize),
    /// An actuator, by its place in the scene.
    Actuator(usize),
    /// All that there is.
    Everything,
}

/// A quantity of one element.
pub(super) struct Quantity {
    pub(super) name: String,
    pub(super) unit: String,
    pub(super) observable: Observable,
}

impl Quantity {
    fn new(name: impl Into<String>, unit: impl Into<String>, observable: Observable) -> Self {
        Self {
            name: name.into(),
            unit: unit.into(),
            observable,
        }
    }
}

const AXES: [&str; 3] = ["x", "y", "z"];
const QUATERNION: [&str; 4] = ["qw", "qx", "qy", "qz"];

impl Thing {
    /// How many elements it has.
    pub(super) fn count(self, builder: &Builder<'_>) -> usize {
        match self {
            Self::Node(node) => builder.model.node(node).count,
            Self::Component(component) => {
                node_of(builder, component).map_or(1, |n| builder.model.node(n).count)
            }
            Self::Deformable(index) => builder.deformables[index].count(&builder.model),
            _ => 1,
        }
    }

    /// All quantities of one of its elements.
    pub(super) fn quantities(self, builder: &Builder<'_>, element: usize) -> Vec<Quantity> {
        match self {
            Self::Joint(joint) => of_joint(builder, joint),
            Self::Node(node) => {
                let mut all = positions(builder, node, element);
                all.extend(velocities(builder, node, element));
                all
            }
            Self::Component(component) => {
                let mut all = forces(builder, component, element);
                if !matches!(component, ComponentId::Constraint(_)) {
                    all.push(Quantity::new("potential", "J", Observable::Potential(component)));
                }
                all
            }
            Self::Deformable(index) | Self::Gauge(index, _) => {
                let element = if let Self::Gauge(_, own) = self {
                    own
                } else {
                    element
                };
                let mut all = fields(builder, index, element, Deformable::stresses);
                all.extend(fields(builder, index, element, Deformable::strains));
                all.extend(fields(builder, index, element, Deformable::sections));
                all
            }
            Self::Whole(index) => fields(builder, index, 0, |deformable| match deformable.parts {
                DeformableParts::Rod(..) => Vec::new(),
                _ => vec![("von_mises_max".to_owned(), "Pa", FieldNumber::LargestVonMises)],
            }),
            Self::Contact(pair) => (0..CONTACT.len())
                .map(|index| Quantity::new(CONTACT[index], "N", Observable::Contact { pair, index }))
                .collect(),
            Self::Sensor(index) => {
                let name = &builder.scene.sensors[index].name;
                signal(builder, name, READING, false).into_iter().collect()
            }
            Self::Actuator(index) => {
                let name = &builder.scene.actuators[index].name;
                let signals = [COMMAND, OUTPUT].map(|key| signal(builder, name, key, true));
                signals.into_iter().flatten().collect()
            }
            Self::Everything => [EnergyKind::Kinetic, EnergyKind::Potential, EnergyKind::Total]
                .into_iter()
                .map(|kind| Quantity::new(energy_name(kind), "J", Observable::Energy(kind)))
                .collect(),
        }
    }
}

/// A signal of a sensor or an actuator.
fn signal(builder: &Builder<'_>, name: &str, key: &str, of_step: bool) -> Option<Quantity> {
    let index = variables::signal(builder, name, key)?;
    Some(Quantity::new(key, "", Observable::Variable { index, of_step }))
}

/// Numbers of the stress or strain of an element.
pub(super) fn fields(
    builder: &Builder<'_>,
    index: usize,
    element: usize,
    of: impl Fn(&Deformable) -> Vec<(String, &'static str, FieldNumber)>,
) -> Vec<Quantity> {
    let deformable = &builder.deformables[index];
    let of_step = deformable.has_rows(&builder.model);
    let quantity = |(name, unit, number)| {
        let observable = Observable::Field {
            deformable: index,
            number,
            element,
            of_step,
        };
        Quantity::new(name, unit, observable)
    };
    of(deformable).into_iter().map(quantity).collect()
}

pub(super) fn energy_name(kind: EnergyKind) -> &'static str {
    match kind {
        EnergyKind::Kinetic => "kinetic",
        EnergyKind::Potential => "potential",
        EnergyKind::Total => "total",
    }
}

fn node_of(builder: &Builder<'_>, component: ComponentId) -> Option<NodeId> {
    match component {
        ComponentId::ForceField(i) => Some(builder.model.force_fields()[i].node),
        ComponentId::Constraint(i) => Some(builder.model.constraints()[i].node),
        ComponentId::Mass(_) => None,
    }
}

/// Names of coordinates of an element of real numbers.
fn coordinates(size: usize, [one, many]: [&str; 2]) -> Vec<String> {
    match size {
        1 => vec![one.to_owned()],
        2 | 3 => AXES[..size].iter().map(|axis| format!("{many}{axis}")).collect(),
        _ => (0..size).map(|k| format!("{one}_{k}")).collect(),
    }
}

/// The names of the position numbers of each element of a node.
pub(in crate::assemble) fn coordinate_names(builder: &Builder<'_>, node: NodeId) -> Vec<String> {
    match builder.model.node(node).space {
        Space::Real(size) => coordinates(size, ["value", ""]),
        Space::Rigid3 => AXES.iter().chain(&QUATERNION).map(|n| (*n).to_owned()).collect(),
    }
}

/// The numbers of the positions of one element.
pub(super) fn positions(builder: &Builder<'_>, node: NodeId, element: usize) -> Vec<Quantity> {
    let size = builder.model.node(node).space.position_size();
    let unit = unit(builder, node);
    let names = coordinate_names(builder, node);
    let number = |(k, name): (usize, String)| {
        let unit = if QUATERNION.contains(&name.as_str()) {
            ""
        } else {
            unit
        };
        let index = element.saturating_mul(size).saturating_add(k);
        Quantity::new(name, unit, Observable::Position { node, index })
    };
    names.into_iter().enumerate().map(number).collect()
}

/// The numbers of the velocities of one element, and their size.
pub(super) fn velocities(builder: &Builder<'_>, node: NodeId, element: usize) -> Vec<Quantity> {
    let space = builder.model.node(node).space;
    let size = space.velocity_size();
    let rate = match unit(builder, node) {
        "" => String::new(),
        unit => format!("{unit}/s"),
    };
    let linear = match space {
        Space::Real(size) => coordinates(size, ["rate", "v"]),
        Space::Rigid3 => coordinates(3, ["", "v"]),
    };
    let number = |(k, name): (usize, String)| {
        let index = element.saturating_mul(size).saturating_add(k);
        Quantity::new(name, rate.clone(), Observable::Velocity { node, index })
    };
    let mut all: Vec<Quantity> = linear.into_iter().enumerate().map(number).collect();
    if space == Space::Rigid3 {
        all.extend((0..3).map(|axis| {
            let observable = Observable::AngularVelocity { node, element, axis };
            Quantity::new(format!("w{}", AXES[axis]), "rad/s", observable)
        }));
    }
    if matches!(space, Space::Real(2 | 3) | Space::Rigid3) {
        all.push(Quantity::new("speed", rate, Observable::Speed { node, element }));
    }
    all
}

/// The numbers of the force on one element.
pub(super) fn forces(builder: &Builder<'_>, component: ComponentId, element: usize) -> Vec<Quantity> {
    let Some(node) = node_of(builder, component) else {
        return Vec::new();
    };
    let space = builder.model.node(node).space;
    let size = space.velocity_size();
    let names = match space {
        Space::Real(size) => coordinates(size, ["force", "force_"]),
        Space::Rigid3 => wrench().map(|(name, _)| name).into(),
    };
    let unit = match unit(builder, node) {
        "m" => "N",
        "rad" => "Nm",
        "m^2" => "N/m",
        "m^3" => "Pa",
        _ => "",
    };
    let axes = joint_axes(builder, node);
    let number = |(k, name): (usize, String)| {
        let index = element.saturating_mul(size).saturating_add(k);
        let unit = match axes.as_ref().and_then(|axes| axes.get(k)) {
            Some(axis) if axis_unit(axis) == "m" => "N",
            Some(_) => "Nm",
            None if name.starts_with("torque") => "Nm",
            None => unit,
        };
        Quantity::new(name, unit, Observable::Force { component, index })
    };
    names.into_iter().enumerate().map(number).collect()
}

/// Names and units of the numbers of a wrench.
fn wrench() -> [(String, &'static str); 6] {
    std::array::from_fn(|k| match k {
        0..3 => (format!("force_{}", AXES[k]), "N"),
        _ => (format!("torque_{}", AXES[k % 3]), "Nm"),
    })
}

/// Force and torque of a joint on its second side.
pub(super) fn joint_forces(joint: usize) -> Vec<Quantity> {
    let numbers = wrench().into_iter().enumerate();
    numbers
        .map(|(index, (name, unit))| Quantity::new(name, unit, Observable::Wrench { joint, index }))
        .collect()
}

/// The free coordinates of a joint, each with its rate.
pub(super) fn joint_coordinates(builder: &Builder<'_>, joint: usize) -> Vec<Quantity> {
    let (_, _, kind, handle) = &builder.joints[joint];
    let axes = kind.free_axes().iter().zip(&handle.coordinates);
    let both = axes.flat_map(|((axis, name), node)| {
        let (node, unit) = (*node, axis_unit(axis));
        [
            Quantity::new(*name, unit, Observable::Position { node, index: 0 }),
            Quantity::new(
                format!("{name}_rate"),
                format!("{unit}/s"),
                Observable::Velocity { node, index: 0 },
            ),
        ]
    });
    both.collect()
}

fn of_joint(builder: &Builder<'_>, joint: usize) -> Vec<Quantity> {
    let mut all = joint_coordinates(builder, joint);
    all.extend(joint_forces(joint));
    all
}

fn axis_unit(axis: &JointAxis) -> &'static str {
    if matches!(axis, JointAxis::Translation(_)) {
        "m"
    } else {
        "rad"
    }
}

/// The unit of the coordinates of a node, as far as it follows from what the scene says: empty if
/// there is none, or it is not known.
pub(in crate::assemble) fn unit(builder: &Builder<'_>, node: NodeId) -> &'static str {
    let mut node = node;
    let mut power = 1;
    loop {
        let entry = builder.model.node(node);
        if let Some(unit) = joint_unit(builder, node) {
            return if power == 1 { unit } else { "" };
        }
        let spec = builder.scene.nodes.iter().find_map(|spec| match spec {
            Node::Mapped(mapped) if mapped.name == entry.name => Some(mapped),
            _ => None,
        });
        if let Some(base) = builder.groups.base(&entry.name) {
            node = base;
            continue;
        }
        let Some(spec) = spec else {
            let in_space = entry.space.is_spatial() || entry.name.ends_with(".lengths");
            return match power {
                _ if !in_space => "",
                1 => "m",
                2 => "m^2",
                _ => "m^3",
            };
        };
        match &spec.mapping {
            Mapping::RelativeRotation(_) | Mapping::SegmentAngle(_) | Mapping::DihedralAngle(_) => {
                return if power == 1 { "rad" } else { "" };
            }
            Mapping::Area(_) | Mapping::SquareDistance(_) => power = 2,
            Mapping::Volume(_) => power = 3,
            Mapping::Formula(formula) => {
                return if formula.points.is_some() && power == 1 {
                    "m"
                } else {
                    ""
                };
            }
            Mapping::Distance(_)
            | Mapping::SafeDistance(_)
            | Mapping::Difference(_)
            | Mapping::Addition(_)
            | Mapping::Identity
            | Mapping::Subset(_)
            | Mapping::Mask(_)
            | Mapping::Projection(_)
            | Mapping::Barycentric(_)
            | Mapping::CentreOfMass(_)
            | Mapping::RigidPoints(_)
            | Mapping::FittedFrames(_)
            | Mapping::RigidFrames(_)
            | Mapping::Skinning(_) => {}
            _ => return "",
        }
        match spec
            .parents
            .first()
            .and_then(|parent| builder.model.node_named(parent))
        {
            Some(parent) => node = parent,
            None => return "",
        }
    }
}

/// The axes of a node that a joint made of several of its coordinates: those that it holds, its
/// rotation, and what slides in it. Each has a unit of its own.
fn joint_axes(builder: &Builder<'_>, node: NodeId) -> Option<Vec<&'static JointAxis>> {
    let name = builder.model.node(node).name.as_str();
    builder.joints.iter().find_map(|(_, joint, kind, handle)| {
        if handle.held == Some(node) {
            return Some(kind.held_axes().iter().collect());
        }
        let part = name.strip_prefix(joint.as_str())?.strip_prefix('.')?;
        match part {
            "rotation" => Some(vec![&JointAxis::Rotation(0); 3]),
            part if part.starts_with("slip ") => Some(kind.sliding()?.0.iter().collect()),
            _ => None,
        }
    })
}

/// The unit of a node that is a free coordinate of a joint.
fn joint_unit(builder: &Builder<'_>, node: NodeId) -> Option<&'static str> {
    builder.joints.iter().find_map(|(_, _, kind, handle)| {
        let place = handle
            .coordinates
            .iter()
            .position(|coordinate| *coordinate == node)?;
        kind.free_axes().get(place).map(|(axis, _)| axis_unit(axis))
    })
}
