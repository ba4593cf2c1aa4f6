//! Constraints: welds, points, distances, and coordinates that follow others.

use super::ModelReader;
use super::chain::Handle;
use super::frames::Place;
use super::frames::last;
use super::functions::{self, Function};
use super::properties::{name, objects, switched_on, truth};
use crate::error::ImportError;
use crate::geometry::Frame;
use crate::robot::{Attachment, Closure, CurveRow, Gear, Joint, Robot};
use crate::xml::{Attribute, Spot};
use std::collections::HashMap;

type Result<T> = std::result::Result<T, ImportError>;

/// A coordinate that a row may hold: its name in the scene, and how many times that of the file it
/// is.
struct Side {
    name: String,
    scale: f64,
}

/// The joint at a place, to be changed.
pub(super) fn joint_at(robot: &mut Robot, (link, number): (usize, usize)) -> Option<&mut Joint> {
    match &mut robot.links.get_mut(link)?.attachment {
        Attachment::Joints(joints) => joints.get_mut(number),
        _ => None,
    }
}

impl ModelReader<'_> {
    /// The coordinate that an attribute names, and its place in the scene.
    pub(super) fn handle(&self, name: &Attribute) -> Result<(String, Handle)> {
        let own = last(&name.value);
        if let Some(handle) = self.handles.get(own) {
            return Ok((own.to_owned(), *handle));
        }
        let mut names: Vec<&str> = self.handles.keys().map(String::as_str).collect();
        names.sort_unstable();
        let help = pliant_scene::hint(own, "coordinates", names);
        self.tree
            .wrong(name.spot, format!("there is no coordinate `{own}`"), help)
    }

    pub(super) fn read_constraints(&mut self, model: usize) -> Result<()> {
        for of in objects(self.tree, model, "ConstraintSet") {
            let spot = self.spot(of);
            if !self.is_enforced(of)? {
                self.tree
                    .remark(spot, "a constraint that is switched off is not taken");
                continue;
            }
            let kind = self.tree.elements[of].tag.clone();
            match kind.as_str() {
                "CoordinateCouplerConstraint" => self.read_coupler(of)?,
                "WeldConstraint" => self.read_weld(of)?,
                "PointConstraint" => self.read_point(of)?,
                _ => self.tree.remark(spot, format!("a `{kind}` is not taken")),
            }
        }
        Ok(())
    }

    fn is_enforced(&self, of: usize) -> Result<bool> {
        Ok(switched_on(self.tree, of, "isEnforced")? && !truth(self.tree, of, "isDisabled")?)
    }

    /// Locks coordinates that follow locked ones, where these hold them.
    pub(super) fn lock_followers(&mut self, model: usize) -> Result<()> {
        let mut behind: HashMap<String, Vec<usize>> = HashMap::new();
        for of in objects(self.tree, model, "ConstraintSet") {
            let coupler = self.tree.elements[of].tag == "CoordinateCouplerConstraint";
            if let Some(leader) = self
                .tree
                .value(of, "independent_coordinate_names")
                .filter(|_| coupler)
            {
                behind.entry(last(leader).to_owned()).or_default().push(of);
            }
        }
        if behind.is_empty() {
            return Ok(());
        }
        let (mut places, mut open) = (HashMap::new(), Vec::new());
        for (number, joint) in self.joints.iter().enumerate() {
            for (index, coordinate) in joint.coordinates.iter().enumerate() {
                places.insert(coordinate.name.clone(), (number, index));
                if coordinate.locked {
                    open.push((coordinate.name.clone(), coordinate.value));
                }
            }
        }
        while let Some((leader, value)) = open.pop() {
            for of in behind.remove(&leader).unwrap_or_default() {
                let place = self.tree.value(of, "dependent_coordinate_name").map(last);
                let Some((number, index)) = place.and_then(|name| places.get(name)) else {
                    continue;
                };
                let function = functions::inside(self.tree, of, "coupled_coordinates_function")?;
                let (Some(Ok(function)), true) = (function, self.is_enforced(of)?) else {
                    continue;
                };
                let factor = self.tree.number(of, "scale_factor")?.unwrap_or(1.0);
                let coordinate = &mut self.joints[*number].coordinates[*index];
                if !coordinate.locked {
                    (coordinate.value, coordinate.locked) = (factor * function.value(value), true);
                    open.push((coordinate.name.clone(), coordinate.value));
                }
            }
        }
        Ok(())
    }

    fn read_coupler(&mut self, of: usize) -> Result<()> {
        let spot = self.spot(of);
        let known = [
            "name",
            "isDisabled",
            "isEnforced",
            "independent_coordinate_names",
            "dependent_coordinate_name",
            "scale_factor",
        ];
        self.tree.expect(of, &known, &["coupled_coordinates_function"]);
        let dependent = self.tree.needed(of, "dependent_coordinate_name")?.clone();
        let independent = self.tree.needed(of, "independent_coordinate_names")?.clone();
        if independent.value.split_whitespace().count() != 1 {
            self.tree.remark(
                spot,
                "a coordinate that follows several others is not taken: it is free",
            );
            return Ok(());
        }
        let function = match functions::inside(self.tree, of, "coupled_coordinates_function")? {
            Some(Ok(function)) => function,
            Some(Err(kind)) => {
                let message =
                    format!("a coordinate that follows another by a `{kind}` is not taken: it is free");
                self.tree.remark(spot, message);
                return Ok(());
            }
            None => Function::Constant(0.0),
        };
        let factor = self.tree.number(of, "scale_factor")?.unwrap_or(1.0);
        let (first, second) = (self.handle(&dependent)?, self.handle(&independent)?);
        if let (Handle::Held, Handle::Held) = (first.1, second.1) {
            return Ok(());
        }
        let (Some(first), Some(second)) = (self.side(first), self.side(second)) else {
            let message = "a row of a coordinate that is locked, or of a ball joint or of a body that moves freely, is not taken";
            self.tree.remark(spot, message);
            return Ok(());
        };
        let name = name(self.tree, of).unwrap_or_else(|| format!("{} row", first.name));
        let values = factor * first.scale;
        match function {
            Function::Constant(value) => self.couple(name, &first, &second, (0.0, value * values), spot),
            Function::Line(slope, at_zero) => {
                self.couple(
                    name,
                    &first,
                    &second,
                    (slope * values / second.scale, at_zero * values),
                    spot,
                );
            }
            Function::Curve(_) if values == 0.0 => self.couple(name, &first, &second, (0.0, 0.0), spot),
            Function::Curve(shape) => {
                self.set_offset(&first, 0.0);
                self.robot.extras.curves.push(CurveRow {
                    name,
                    first: first.name,
                    second: second.name,
                    shape: shape.scaled(second.scale, values),
                    spot,
                });
            }
        }
        Ok(())
    }

    fn side(&self, (name, handle): (String, Handle)) -> Option<Side> {
        match handle {
            Handle::Joint { scale, .. } => Some(Side { name, scale }),
            Handle::Scalar(_) => Some(Side { name, scale: 1.0 }),
            Handle::Held | Handle::Gone => None,
        }
    }

    /// Sets what a coordinate that follows another one has beside that at the start.
    fn set_offset(&mut self, side: &Side, offset: f64) {
        match self.handles.get(&side.name).copied() {
            Some(Handle::Joint { place, .. }) => {
                if let Some(joint) = joint_at(&mut self.robot, place) {
                    joint.start = offset;
                }
            }
            Some(Handle::Scalar(number)) => self.robot.extras.scalars[number].start = offset,
            _ => {}
        }
    }

    /// A row `first = slope second + offset`.
    fn couple(&mut self, name: String, first: &Side, second: &Side, (slope, offset): (f64, f64), spot: Spot) {
        self.set_offset(first, offset);
        self.robot.gears.push(Gear {
            name,
            first: first.name.clone(),
            second: second.name.clone(),
            ratio: -slope,
            spot,
        });
    }

    fn read_weld(&mut self, of: usize) -> Result<()> {
        let known = [
            "name",
            "isDisabled",
            "isEnforced",
            "body_1",
            "body_2",
            "location_body_1",
            "orientation_body_1",
            "location_body_2",
            "orientation_body_2",
            "socket_frame1",
            "socket_frame2",
        ];
        self.tree.expect(of, &known, &["frames", "connectors"]);
        let sides = match self.tree.attribute(of, "body_1").cloned() {
            Some(first) => {
                let a = self.place(of, "location_body_1", "orientation_body_1")?;
                let b = self.place(of, "location_body_2", "orientation_body_2")?;
                let second = self.tree.needed(of, "body_2")?.clone();
                (self.in_body(&first, a)?, self.in_body(&second, b)?)
            }
            None => (self.socket_place(of, "frame1")?, self.socket_place(of, "frame2")?),
        };
        self.join(of, "Fixed", sides);
        Ok(())
    }

    fn read_point(&mut self, of: usize) -> Result<()> {
        let known = [
            "name",
            "isDisabled",
            "isEnforced",
            "body_1",
            "body_2",
            "location_body_1",
            "location_body_2",
            "socket_body_1",
            "socket_body_2",
        ];
        self.tree.expect(of, &known, &["connectors"]);
        let mut sides = Vec::new();
        for number in ["1", "2"] {
            let location = self.tree.numbers::<3>(of, &format!("location_body_{number}"))?;
            let inside = Frame::at(location.unwrap_or_default().into());
            let place = match self.tree.attribute(of, &format!("body_{number}")) {
                Some(body) => self.in_body(body, inside)?,
                None => {
                    let (body, frame) = self.socket_place(of, &format!("body_{number}"))?;
                    (body, frame.then(&inside))
                }
            };
            sides.push(place);
        }
        self.join(of, "Ball", (sides[0], sides[1]));
        Ok(())
    }

    /// The frame that a socket of an object in a set holds.
    pub(super) fn socket_place(&self, of: usize, which: &str) -> Result<Place> {
        let own = self.tree.value(of, "name").unwrap_or_default();
        let set = match self.tree.elements[of].tag.ends_with("Constraint") {
            true => "constraintset",
            false => "forceset",
        };
        match self.socket(of, which) {
            Some(socket) => self.resolve(&format!("/{set}/{own}"), &socket),
            None => {
                let message = format!("`{}` has no `socket_{which}`", self.tree.elements[of].tag);
                self.tree.wrong(self.spot(of), message, None)
            }
        }
    }

    fn join(&mut self, of: usize, kind: &'static str, (a, b): (Place, Place)) {
        let (a, b) = (self.in_link(&a), self.in_link(&b));
        if a.0 == b.0 {
            self.tree.remark(
                self.spot(of),
                "a constraint between a body and itself holds nothing",
            );
            return;
        }
        let name =
            name(self.tree, of).unwrap_or_else(|| format!("constraint {}", self.robot.closures.len() + 1));
        self.robot.closures.push(Closure { name, kind, a, b });
    }
}
