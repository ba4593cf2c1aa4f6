//! Probes of a scene: columns of the table that is recorded.

use super::super::{Builder, Result, entries, frames, selections};
use super::things::{self, Quantity, Thing};
use super::variables::check_use;
use super::{Named, Room};
use crate::RunPlan;
use crate::controller::Controller;
use crate::deformable::{Deformable, DeformableParts};
use crate::event::Events;
use crate::observable::{DistanceEnd, EnergyKind, Observable, Observables, ProbeColumn};
use crate::schema::{ContactProbeSpec, EnergySpec, GaugeSpec, OfSpec, PlaceSpec, ProbeSpec};
use crate::signal::{Actuator, Sensor};
use crate::source::Where;
use pliant::model::{JointKind, NodeId, Space};
use pliant_expression::{Program, suggest};

/// Columns of the table.
const MOST_COLUMNS: usize = 1000;
/// Numbers of the table: a gigabyte.
const MOST_NUMBERS: usize = (1 << 30) / 8;

/// The sensors or the actuators of a scene.
struct Known<'a> {
    /// The word for one of them.
    what: &'a str,
    /// Their names.
    names: Vec<&'a str>,
}

/// All that measures and acts while a scene runs.
pub(in crate::assemble) struct Controls {
    pub(in crate::assemble) sensors: Vec<Sensor>,
    pub(in crate::assemble) controllers: Vec<Controller>,
    pub(in crate::assemble) actuators: Vec<Actuator>,
}

impl Controls {
    /// All expressions in it.
    fn programs(&self) -> Vec<&Program> {
        let sensors = self.sensors.iter().map(|sensor| &sensor.of);
        let laws = self.controllers.iter().flat_map(|one| one.law.programs());
        let commands = self.actuators.iter().map(|actuator| &actuator.command);
        sensors.chain(laws).chain(commands).collect()
    }
}

/// All that a scene records.
pub(in crate::assemble) fn record(
    builder: &Builder<'_>,
    plan: &RunPlan,
) -> Result<(Observables, Events, Controls)> {
    let scene = builder.scene;
    let mut room = Room::new(builder);
    if let Some(number) = &scene.run.probe_every {
        let at = Where::Key("probe_every");
        if scene.record.is_empty() {
            let message = "`probe_every` is of probes, and `record` has none".to_owned();
            return builder.wrong(&[at], message, None);
        }
        room.found.every = builder.whole(number, 1, usize::MAX, at)?;
    } else {
        room.found.every = 1;
    }
    for (index, probe) in scene.record.iter().enumerate() {
        room.name(index, probe)?;
    }
    for (index, probe) in scene.record.iter().enumerate() {
        room.add(index, probe)?;
        let columns = room.found.columns.len();
        if columns > MOST_COLUMNS {
            let message =
                format!("with this probe, `record` has {columns} columns, more than {MOST_COLUMNS}");
            let help = "say of which elements: `Position(\"chain\", 3)`".to_owned();
            return builder.wrong(&places(index, ""), message, Some(help));
        }
    }
    let lines = plan.steps.checked_div(room.found.every).unwrap_or(plan.steps);
    let numbers = lines.saturating_mul(room.found.columns.len().saturating_add(1));
    if !scene.record.is_empty() && numbers > MOST_NUMBERS {
        let message = format!("{lines} lines of probes are {numbers} numbers, more than {MOST_NUMBERS}");
        let help = "a larger `probe_every` makes fewer".to_owned();
        return builder.wrong(
            &[Where::Key("probe_every"), Where::Key("record")],
            message,
            Some(help),
        );
    }
    let events = room.events()?;
    let controls = Controls {
        sensors: room.sensors()?,
        controllers: room.controllers()?,
        actuators: room.actuators()?,
    };
    check_use(builder, &room.found, &events, &controls.programs())?;
    let mut found = room.found;
    for k in 0..found.columns.len() {
        found.columns[k].of_step = found.is_of_step(found.columns[k].place);
    }
    Ok((found, events, controls))
}

/// Places of a complaint about an entry, and a text in it.
fn places(index: usize, text: &str) -> [Where<'_>; 2] {
    [Where::Listed("record", index, text), Where::Key("record")]
}

/// The coordinates of a place or of a velocity along the axes of space, without those of rotation.
fn linear(builder: &Builder<'_>, node: NodeId, mut all: Vec<Quantity>) -> Vec<Quantity> {
    all.truncate(match builder.model.node(node).space {
        Space::Rigid3 => 3,
        Space::Real(size) => size,
    });
    all
}

impl<'a> Room<'_, 'a> {
    /// Takes the name of a probe, if it has one, so that expressions may come before it.
    fn name(&mut self, index: usize, probe: &'a ProbeSpec) -> Result<()> {
        let (name, named) = match probe {
            ProbeSpec::Expression(spec) => (spec.name.as_str(), Named::Waiting(spec)),
            ProbeSpec::Distance(spec) => {
                let ends = [
                    self.end(index, &spec.between.0)?,
                    self.end(index, &spec.between.1)?,
                ];
                (
                    spec.name.as_str(),
                    Named::Number(self.place(Observable::Distance(ends))),
                )
            }
            ProbeSpec::Contact(spec) => {
                let pair = self.found.contacts.len();
                if pair > MOST_COLUMNS {
                    let message = format!("`record` has more than {MOST_COLUMNS} columns");
                    return self.builder.wrong(&places(index, &spec.name), message, None);
                }
                let sides = self.sides(index, spec)?;
                self.found.contacts.push(sides);
                (spec.name.as_str(), Named::Contact(pair))
            }
            ProbeSpec::Gauge(spec) => {
                let (deformable, element) = self.gauge(index, spec)?;
                (spec.name.as_str(), Named::Gauge(deformable, element))
            }
            _ => return Ok(()),
        };
        let at = places(index, name);
        if self.named.contains_key(name) {
            return self
                .builder
                .wrong(&at, format!("the name `{name}` is used twice in `record`"), None);
        }
        if !self.things(name).is_empty() {
            let message =
                format!("the name `{name}` is used twice: expressions could not tell which is meant");
            return self.builder.wrong(&at, message, None);
        }
        self.named.insert(name, named);
        Ok(())
    }

    /// Adds the columns of a probe.
    fn add(&mut self, index: usize, probe: &'a ProbeSpec) -> Result<()> {
        let builder = self.builder;
        if let Some(names) = self.meant(index, probe)? {
            return self.add_all(index, probe, &names);
        }
        match probe {
            ProbeSpec::Position(of) => self.positions(index, of),
            ProbeSpec::Orientation(of) => self.orientations(index, of),
            ProbeSpec::Velocity(of) => self.velocities(index, of),
            ProbeSpec::AngularVelocity(of) => self.spins(index, of),
            ProbeSpec::Joint(name) => {
                let Some(joint) = self.joint(name) else {
                    let known = builder.joints.iter().map(|(_, name, ..)| name.as_str());
                    let help = suggest::hint(name, "joints", known);
                    return builder.wrong(&places(index, name), format!("unknown joint `{name}`"), help);
                };
                let all = things::joint_coordinates(builder, joint);
                if all.is_empty() {
                    let message = format!("`{name}` has no free coordinates with a name");
                    let of_ball = match self.builder.joints[joint].2 {
                        JointKind::Ball => ", and `coordinates: true` gives it its rotation vector",
                        _ => "",
                    };
                    let help = format!("its forces are `Force(\"{name}\")`{of_ball}");
                    return builder.wrong(&places(index, name), message, Some(help));
                }
                self.columns(name, all);
                Ok(())
            }
            ProbeSpec::Sensor(name) => {
                let known = builder.scene.sensors.iter().map(|spec| spec.name.as_str());
                self.signals(
                    index,
                    name,
                    Thing::Sensor,
                    Known {
                        what: "sensor",
                        names: known.collect(),
                    },
                )
            }
            ProbeSpec::Actuator(name) => {
                let known = builder.scene.actuators.iter().map(|spec| spec.name.as_str());
                self.signals(
                    index,
                    name,
                    Thing::Actuator,
                    Known {
                        what: "actuator",
                        names: known.collect(),
                    },
                )
            }
            ProbeSpec::Force(of) => self.force(index, of),
            ProbeSpec::Stress(of) => self.stress(index, of),
            ProbeSpec::Strain(of) => self.strain(index, of),
            ProbeSpec::Section(of) => self.section(index, of),
            ProbeSpec::Gauge(spec) => {
                if let Some(Named::Gauge(of, element)) = self.named.get(spec.name.as_str()).copied() {
                    let all = Thing::Gauge(of, element).quantities(builder, element);
                    self.columns(&spec.name, all);
                }
                Ok(())
            }
            ProbeSpec::Distance(spec) => self.number(index, &spec.name, "m"),
            ProbeSpec::Expression(spec) => self.number(index, &spec.name, ""),
            ProbeSpec::Contact(spec) => {
                if let Some(Named::Contact(pair)) = self.named.get(spec.name.as_str()).copied() {
                    let all = Thing::Contact(pair).quantities(builder, 0);
                    self.columns(&spec.name, all);
                }
                Ok(())
            }
            ProbeSpec::Energy(kind) => {
                let kind = match kind {
                    EnergySpec::Kinetic => EnergyKind::Kinetic,
                    EnergySpec::Potential => EnergyKind::Potential,
                    EnergySpec::Total => EnergyKind::Total,
                };
                let all = Thing::Everything.quantities(builder, 0);
                let own = all.into_iter().filter(|q| q.name == things::energy_name(kind));
                self.columns("energy", own.collect());
                Ok(())
            }
        }
    }

    /// Adds the signals of a sensor or an actuator, one of these names.
    fn signals(
        &mut self,
        index: usize,
        name: &str,
        of: impl Fn(usize) -> Thing,
        known: Known<'_>,
    ) -> Result<()> {
        let Known { what, names } = known;
        let Some(place) = names.iter().position(|own| *own == name) else {
            let help = suggest::hint(name, &format!("{what}s"), names);
            let message = format!("unknown {what} `{name}`");
            return self.builder.wrong(&places(index, name), message, help);
        };
        let all = of(place).quantities(self.builder, 0);
        self.columns(name, all);
        Ok(())
    }

    /// The names that a probe of a pattern means, in the order of the model.
    fn meant(&self, index: usize, probe: &ProbeSpec) -> Result<Option<Vec<String>>> {
        let model = &self.builder.model;
        let joints = || self.builder.joints.iter().map(|(_, name, ..)| name.as_str());
        let (pattern, known): (&str, Vec<&str>) = match probe {
            ProbeSpec::Position(of) | ProbeSpec::Velocity(of) => (
                &of.name,
                model.nodes().iter().map(|node| node.name.as_str()).collect(),
            ),
            ProbeSpec::Orientation(of) | ProbeSpec::AngularVelocity(of) => {
                let bodies = model.nodes().iter().filter(|node| node.space == Space::Rigid3);
                (&of.name, bodies.map(|node| node.name.as_str()).collect())
            }
            ProbeSpec::Joint(name) => (name, joints().collect()),
            ProbeSpec::Force(of) => (&of.name, self.forces()),
            _ => return Ok(None),
        };
        if !pattern.contains('*') || known.contains(&pattern) {
            return Ok(None);
        }
        let mut meant: Vec<String> = Vec::new();
        for name in known
            .into_iter()
            .filter(|name| selections::matches(pattern, name))
        {
            // A joint and its force may have one name.
            if !meant.iter().any(|other| other == name) {
                meant.push(name.to_owned());
            }
            if meant.len() > MOST_COLUMNS {
                break;
            }
        }
        if meant.is_empty() {
            let message = format!("there is nothing like `{pattern}`");
            return self.builder.wrong(&places(index, pattern), message, None);
        }
        Ok(Some(meant))
    }

    /// Adds the columns of a probe of each of these names.
    fn add_all(&mut self, index: usize, probe: &ProbeSpec, names: &[String]) -> Result<()> {
        let builder = self.builder;
        for name in names {
            if self.found.columns.len() > MOST_COLUMNS {
                break;
            }
            let of = |of: &OfSpec| OfSpec {
                name: name.clone(),
                element: of.element.clone(),
            };
            match probe {
                ProbeSpec::Position(spec) => self.positions(index, &of(spec)),
                ProbeSpec::Velocity(spec) => self.velocities(index, &of(spec)),
                ProbeSpec::Orientation(spec) => self.orientations(index, &of(spec)),
                ProbeSpec::AngularVelocity(spec) => self.spins(index, &of(spec)),
                ProbeSpec::Joint(_) => {
                    if let Some(joint) = self.joint(name) {
                        self.columns(name, things::joint_coordinates(builder, joint));
                    }
                    Ok(())
                }
                ProbeSpec::Force(spec) => self.force(index, &of(spec)),
                _ => Ok(()),
            }?;
        }
        Ok(())
    }

    fn positions(&mut self, index: usize, of: &OfSpec) -> Result<()> {
        let builder = self.builder;
        self.of_node(index, of, |node, element| {
            linear(builder, node, things::positions(builder, node, element))
        })
    }

    fn orientations(&mut self, index: usize, of: &OfSpec) -> Result<()> {
        let builder = self.builder;
        self.of_body(index, of, |node, element| {
            things::positions(builder, node, element).split_off(3)
        })
    }

    fn velocities(&mut self, index: usize, of: &OfSpec) -> Result<()> {
        let builder = self.builder;
        self.of_node(index, of, |node, element| {
            linear(builder, node, things::velocities(builder, node, element))
        })
    }

    fn spins(&mut self, index: usize, of: &OfSpec) -> Result<()> {
        let builder = self.builder;
        self.of_body(index, of, |node, element| {
            let mut all = things::velocities(builder, node, element).split_off(3);
            all.truncate(3);
            all
        })
    }

    fn joint(&self, name: &str) -> Option<usize> {
        self.builder.joints.iter().position(|(_, own, ..)| own == name)
    }

    /// Adds the column of a probe that is one number with a name.
    fn number(&mut self, index: usize, name: &'a str, unit: &str) -> Result<()> {
        let place = match self.named.get(name).copied() {
            Some(Named::Number(place)) => place,
            Some(Named::Waiting(spec)) => self.expression(spec)?,
            _ => {
                return self
                    .builder
                    .wrong(&places(index, name), format!("`{name}` is no number"), None);
            }
        };
        self.found.columns.push(ProbeColumn {
            name: name.to_owned(),
            unit: unit.to_owned(),
            place,
            of_step: false,
        });
        Ok(())
    }

    /// Adds quantities of a thing as columns.
    fn columns(&mut self, thing: &str, quantities: Vec<Quantity>) {
        for quantity in quantities {
            let place = self.place(quantity.observable);
            self.found.columns.push(ProbeColumn {
                name: format!("{thing}.{}", quantity.name),
                unit: quantity.unit,
                place,
                of_step: false,
            });
        }
    }

    /// Adds quantities of the elements of a thing as columns.
    fn elements(
        &mut self,
        index: usize,
        of: &OfSpec,
        count: usize,
        quantities: impl Fn(usize) -> Vec<Quantity>,
    ) -> Result<()> {
        let elements = match &of.element {
            None => 0..count.min(MOST_COLUMNS.saturating_add(1)),
            Some(number) => {
                let element = self.element(index, of, number, count)?;
                element..element.saturating_add(1)
            }
        };
        for element in elements {
            let label = match count {
                1 => of.name.clone(),
                _ => format!("{}[{element}]", of.name),
            };
            self.columns(&label, quantities(element));
        }
        Ok(())
    }

    fn element(&self, index: usize, of: &OfSpec, number: &crate::Amount, count: usize) -> Result<usize> {
        let element = self
            .builder
            .any_element(number, Where::Listed("record", index, &of.name))?;
        if element < count {
            return Ok(element);
        }
        let message = format!(
            "there is no element {element}: `{}` has {count}, counted from zero",
            of.name
        );
        self.builder.wrong(&places(index, &of.name), message, None)
    }

    fn node(&self, index: usize, name: &str) -> Result<NodeId> {
        if let Some(node) = self.builder.model.node_named(name) {
            return Ok(node);
        }
        let known = self.builder.model.nodes().iter().map(|node| node.name.as_str());
        let help = suggest::hint(name, "nodes", known);
        self.builder
            .wrong(&places(index, name), format!("unknown node `{name}`"), help)
    }

    fn of_node(
        &mut self,
        index: usize,
        of: &OfSpec,
        quantities: impl Fn(NodeId, usize) -> Vec<Quantity>,
    ) -> Result<()> {
        let node = self.node(index, &of.name)?;
        let count = self.builder.model.node(node).count;
        self.elements(index, of, count, |element| quantities(node, element))
    }

    fn of_body(
        &mut self,
        index: usize,
        of: &OfSpec,
        quantities: impl Fn(NodeId, usize) -> Vec<Quantity>,
    ) -> Result<()> {
        let node = self.node(index, &of.name)?;
        let space = self.builder.model.node(node).space;
        if space != Space::Rigid3 {
            let message = format!("`{}` has {space}, and only bodies turn", of.name);
            return self.builder.wrong(&places(index, &of.name), message, None);
        }
        self.of_node(index, of, quantities)
    }

    /// Adds the forces of a joint or of a component.
    fn force(&mut self, index: usize, of: &OfSpec) -> Result<()> {
        let (builder, name) = (self.builder, of.name.as_str());
        if let Some(joint) = self.joint(name) {
            return self.elements(index, of, 1, |_| things::joint_forces(joint));
        }
        let Some(component) = entries::component(builder, name) else {
            let help = suggest::hint(name, "forces", self.forces());
            let message = format!("`{name}` is no constraint, force field or joint");
            return builder.wrong(&places(index, name), message, help);
        };
        let thing = Thing::Component(component);
        if things::forces(builder, component, 0).is_empty() {
            let message = format!("`{name}` is a mass, and has no force of its own");
            return builder.wrong(&places(index, name), message, None);
        }
        self.elements(index, of, thing.count(builder), |element| {
            things::forces(builder, component, element)
        })
    }

    /// A solid, sheet or rod, by its place.
    fn body_of(&self, index: usize, name: &str) -> Result<usize> {
        if let Some(found) = self.deformable(name) {
            return Ok(found);
        }
        let known = self.builder.deformables.iter().map(|d| d.name.as_str());
        let help = suggest::hint(name, "solids, sheets and elastic rods", known);
        let message = format!("`{name}` is no solid, sheet or elastic rod");
        self.builder.wrong(&places(index, name), message, help)
    }

    /// Adds the largest equivalent stress of a thing, or the stress of one of its elements.
    fn stress(&mut self, index: usize, of: &OfSpec) -> Result<()> {
        let (builder, name) = (self.builder, of.name.as_str());
        let found = self.body_of(index, name)?;
        let deformable = &builder.deformables[found];
        if let DeformableParts::Rod(..) = deformable.parts {
            let message = format!("`{name}` is a rod, which has forces and moments in its sections");
            return builder.wrong(
                &places(index, name),
                message,
                Some(format!("`Section(\"{name}\")`")),
            );
        }
        if of.element.is_none() {
            let all = Thing::Whole(found).quantities(builder, 0);
            self.columns(name, all);
            return Ok(());
        }
        let count = deformable.count(&builder.model);
        self.elements(index, of, count, |element| {
            things::fields(builder, found, element, Deformable::stresses)
        })
    }

    /// Adds the strain of one element of a thing.
    fn strain(&mut self, index: usize, of: &OfSpec) -> Result<()> {
        let (builder, name) = (self.builder, of.name.as_str());
        let found = self.body_of(index, name)?;
        let deformable = &builder.deformables[found];
        let count = deformable.count(&builder.model);
        if deformable.strains().is_empty() {
            let message = format!("`{name}` is a rod: its strains are those of the node `{name}.strains`");
            let help = format!("`Position(\"{name}.strains\")`");
            return builder.wrong(&places(index, name), message, Some(help));
        }
        if of.element.is_none() && count > 1 {
            let what = match deformable.parts {
                DeformableParts::Solid(_) => "points",
                _ => "elements",
            };
            let message = format!("`{name}` has {count} {what}: say at which its strain is measured");
            let help = format!(
                "`Strain(\"{name}\", 0)`, or by a place: `Gauge(name: \"..\", on: \"{name}\", at: (0, 0, 0))`"
            );
            return builder.wrong(&places(index, name), message, Some(help));
        }
        self.elements(index, of, count, |element| {
            things::fields(builder, found, element, Deformable::strains)
        })
    }

    /// Adds the forces of the sections of a rod.
    fn section(&mut self, index: usize, of: &OfSpec) -> Result<()> {
        let (builder, name) = (self.builder, of.name.as_str());
        let found = self.body_of(index, name)?;
        let deformable = &builder.deformables[found];
        if deformable.sections().is_empty() {
            let message = format!(
                "`{name}` is a {}, and only elastic rods have sections",
                deformable.what()
            );
            let help = format!("`Stress(\"{name}\")`");
            return builder.wrong(&places(index, name), message, Some(help));
        }
        let count = deformable.count(&builder.model);
        self.elements(index, of, count, |element| {
            things::fields(builder, found, element, Deformable::sections)
        })
    }

    /// The thing of a gauge, and the point, element or segment nearest to its place.
    fn gauge(&self, index: usize, spec: &GaugeSpec) -> Result<(usize, usize)> {
        let builder = self.builder;
        let found = self.body_of(index, &spec.on)?;
        let place = builder.triple(&spec.at.value, Where::Listed("record", index, ""))?;
        let place = match builder.frame(&spec.at.file) {
            Some(frame) => frames::put(&frame, place),
            None => place,
        };
        let deformable = &builder.deformables[found];
        let state = builder
            .model
            .initial_state()
            .map_err(|e| builder.model_error(e))?;
        let points = builder
            .model
            .positions(&state, deformable.points())
            .as_chunks::<3>()
            .0;
        Ok((found, deformable.nearest(place, points)))
    }

    /// An end of a distance.
    fn end(&self, index: usize, spec: &PlaceSpec) -> Result<DistanceEnd> {
        let builder = self.builder;
        let of = match spec {
            PlaceSpec::Point(point) => {
                let place = builder.triple(&point.value, Where::Listed("record", index, ""))?;
                let frame = builder.frame(&point.file);
                return Ok(DistanceEnd::Fixed(
                    frame.map_or(place, |frame| frames::put(&frame, place)),
                ));
            }
            PlaceSpec::Of(of) => of,
        };
        let node = self.node(index, &of.name)?;
        let entry = builder.model.node(node);
        let at = places(index, &of.name);
        if !matches!(entry.space, Space::Rigid3 | Space::Real(3)) {
            let message = format!("`{}` has {}, which have no place in space", of.name, entry.space);
            return builder.wrong(&at, message, None);
        }
        let element = match &of.element {
            Some(number) => self.element(index, of, number, entry.count)?,
            None if entry.count == 1 => 0,
            None => {
                let message = format!("`{}` has {} elements: say which", of.name, entry.count);
                let help = format!("`(\"{}\", 0)`", of.name);
                return builder.wrong(&at, message, Some(help));
            }
        };
        Ok(DistanceEnd::Element(node, element))
    }

    /// The colliders on both sides of a contact.
    fn sides(&self, index: usize, spec: &ContactProbeSpec) -> Result<[Vec<u32>; 2]> {
        let side = |name: &str| {
            let known = &self.builder.colliders;
            if let Some(sides) = known.get(name) {
                return Ok(sides.clone());
            }
            let meant = known
                .iter()
                .filter(|(own, _)| name.contains('*') && selections::matches(name, own));
            let mut meant: Vec<u32> = meant.flat_map(|(_, sides)| sides).copied().collect();
            meant.sort_unstable();
            meant.dedup();
            if !meant.is_empty() {
                return Ok(meant);
            }
            let help = suggest::hint(name, "colliders", known.keys().map(String::as_str));
            self.builder
                .wrong(&places(index, name), format!("unknown collider `{name}`"), help)
        };
        Ok([side(&spec.between.0)?, side(&spec.between.1)?])
    }
}
