//! Pairs that do not collide, rows between bodies and coordinates.

use super::Reader;
use super::flex::{self, is_vertex};
use super::settings::truth;
use crate::error::ImportError;
use crate::geometry::Frame;
use crate::layout::starts;
use crate::robot::{Apart, Attachment, Closure, Gear, Joint, Motion, Robot};
use crate::xml::Attribute;
use pliant_dense::Vec3;

type Result<T> = std::result::Result<T, ImportError>;

const NO_SINGLE_ROW: &str = "a row of a joint that is neither a hinge nor a slide is not taken";

/// The joint of a link by its number, to be changed.
pub(super) fn joint_at(robot: &mut Robot, (link, number): (usize, usize)) -> Option<&mut Joint> {
    match &mut robot.links.get_mut(link)?.attachment {
        Attachment::Joints(joints) => joints.get_mut(number),
        _ => None,
    }
}

impl Reader<'_> {
    /// The link of a body by name; none is the world.
    pub(super) fn body(&self, name: &Attribute) -> Result<Option<usize>> {
        if name.value == "world" {
            return Ok(None);
        }
        match self.bodies.get(&name.value) {
            Some(link) => Ok(Some(*link)),
            None => {
                let mut names: Vec<&str> = self.bodies.keys().map(String::as_str).collect();
                names.sort_unstable();
                let help = pliant_scene::hint(&name.value, "bodies", names);
                self.tree
                    .wrong(name.spot, format!("there is no body `{}`", name.value), help)
            }
        }
    }

    /// The joint that an attribute names, if it has one coordinate.
    pub(super) fn single<'a>(&self, robot: &'a Robot, name: &Attribute) -> Result<Option<&'a Joint>> {
        let (link, number) = self.joint_place(name)?;
        let joint = match robot.links.get(link).map(|l| &l.attachment) {
            Some(Attachment::Joints(joints)) => joints.get(number),
            _ => None,
        };
        Ok(joint.filter(|j| matches!(j.motion, Motion::Hinge | Motion::Slider)))
    }

    /// The place of the joint that an attribute names.
    pub(super) fn joint_place(&self, name: &Attribute) -> Result<(usize, usize)> {
        if let Some(place) = self.joints.get(&name.value) {
            return Ok(*place);
        }
        let mut names: Vec<&str> = self.joints.keys().map(String::as_str).collect();
        names.sort_unstable();
        let help = pliant_scene::hint(&name.value, "joints", names);
        self.tree
            .wrong(name.spot, format!("there is no joint `{}`", name.value), help)
    }

    pub(super) fn read_contact(&mut self, root: usize, robot: &mut Robot) -> Result<()> {
        let world = robot.links.iter().position(|l| l.name == "world");
        for section in self.tree.all(root, "contact") {
            // Pairs are read behind these.
            self.tree.expect(section, &[], &["exclude", "pair"]);
            for of in self.tree.all(section, "exclude") {
                self.tree.expect(of, &["name", "class", "body1", "body2"], &[]);
                let (a, b) = (
                    self.tree.needed(of, "body1")?.clone(),
                    self.tree.needed(of, "body2")?.clone(),
                );
                if is_vertex(self, &a) || is_vertex(self, &b) {
                    let message = "a vertex of a flex that is not to collide is not taken";
                    self.tree.remark(self.spot(of), message);
                    continue;
                }
                let sides = (self.body(&a)?.or(world), self.body(&b)?.or(world));
                if let (Some(a), Some(b)) = sides {
                    robot.apart.push(Apart {
                        links: (a, b),
                        whole_bodies: false,
                    });
                }
            }
        }
        Ok(())
    }

    pub(super) fn read_equality(&mut self, root: usize, robot: &mut Robot) -> Result<()> {
        // Where bodies are at the coordinates of the file: rows let joints start elsewhere.
        let zero = starts(&robot.links);
        for section in self.tree.all(root, "equality") {
            self.tree
                .expect(section, &[], &["connect", "weld", "joint", "tendon", "flex"]);
            for of in self.tree.elements[section].children.clone() {
                let spot = self.spot(of);
                if truth(self.tree, of, "active")? == Some(false) {
                    self.tree
                        .remark(spot, "a constraint that is not active is not taken");
                    continue;
                }
                match self.tree.elements[of].tag.as_str() {
                    "joint" => self.read_gear(of, robot)?,
                    "connect" | "weld" => self.read_closure(of, &zero, robot)?,
                    // Rows of tendons are read behind these.
                    _ => {}
                }
            }
        }
        Ok(())
    }

    fn read_gear(&mut self, of: usize, robot: &mut Robot) -> Result<()> {
        self.tree.expect(
            of,
            &["name", "class", "active", "joint1", "joint2", "polycoef"],
            &[],
        );
        let spot = self.spot(of);
        let first = self.tree.needed(of, "joint1")?.clone();
        let Some(first) = self.single(robot, &first)?.map(|j| j.name.clone()) else {
            self.tree.remark(spot, NO_SINGLE_ROW);
            return Ok(());
        };
        let Some(second) = self.tree.attribute(of, "joint2").cloned() else {
            self.tree
                .remark(spot, "a joint that is held at a coordinate is not taken");
            return Ok(());
        };
        let place = second.spot;
        let Some(second) = self.single(robot, &second)?.map(|j| j.name.clone()) else {
            self.tree.remark(spot, NO_SINGLE_ROW);
            return Ok(());
        };
        if first == second {
            let message = format!("`joint` ties `{first}` to itself");
            return self.tree.wrong(place, message, None);
        }
        let list = self.tree.list(of, "polycoef")?.unwrap_or_default();
        let entry = |i: usize, default: f64| list.get(i).copied().unwrap_or(default);
        if list.iter().skip(2).any(|c| *c != 0.0) {
            self.tree
                .remark(spot, "a row between joints that is not linear is not taken");
            return Ok(());
        }
        if !self.followers.insert(first.clone()) {
            self.tree
                .remark(spot, "a joint that follows two others follows the first of them");
            return Ok(());
        }
        let offset = entry(0, 0.0);
        if let Some(place) = self.joints.get(&first)
            && let Some(joint) = joint_at(robot, *place)
        {
            joint.start = offset;
        }
        let name = self
            .tree
            .value(of, "name")
            .map_or_else(|| format!("{first}.row"), str::to_owned);
        robot.gears.push(Gear {
            name,
            first,
            second,
            ratio: -entry(1, 1.0),
            spot,
        });
        Ok(())
    }

    fn read_closure(&mut self, of: usize, zero: &[Frame], robot: &mut Robot) -> Result<()> {
        let spot = self.spot(of);
        let known = ["name", "class", "active", "body1", "body2", "anchor", "relpose"];
        self.tree.expect(of, &known, &[]);
        let weld = self.tree.elements[of].tag == "weld";
        let Some(first) = self.tree.attribute(of, "body1").cloned() else {
            self.tree.remark(spot, "a constraint between sites is not taken");
            return Ok(());
        };
        // A rotation of zeros stands for the pose of the file, whatever the place beside it.
        let turned = |pose: [f64; 7]| pose[3..] != [0.0; 4];
        if weld && self.tree.numbers::<7>(of, "relpose")?.is_some_and(turned) {
            self.tree.remark(spot, "a weld at a pose of its own is not taken");
            return Ok(());
        }
        let second = self.tree.attribute(of, "body2").cloned();
        let other = second.as_ref().map_or("world", |name| name.value.as_str());
        if first.value == other {
            let message = format!("`{}` ties `{other}` to itself", self.tree.elements[of].tag);
            let place = second.as_ref().unwrap_or(&first).spot;
            return self.tree.wrong(place, message, None);
        }
        if is_vertex(self, &first) || second.as_ref().is_some_and(|name| is_vertex(self, name)) {
            return flex::read_tie(self, of, [Some(&first), second.as_ref()], zero, robot);
        }
        let a = self.body(&first)?;
        let b = match &second {
            Some(name) => self.body(name)?,
            None => None,
        };
        let anchor: Vec3 = self.tree.numbers::<3>(of, "anchor")?.unwrap_or_default().into();
        let frame = |link: Option<usize>| link.map_or(Frame::IDENTITY, |l| zero[l]);
        let (of_a, of_b) = (frame(a), frame(b));
        let inside = Frame::at(anchor);
        let name = match self.tree.value(of, "name") {
            Some(name) => name.to_owned(),
            None => format!(
                "{}-{}",
                first.value,
                second.map_or_else(|| "world".to_owned(), |s| s.value)
            ),
        };
        robot.closures.push(Closure {
            name,
            kind: if weld { "Fixed" } else { "Ball" },
            a: (a, inside),
            b: (b, of_b.inverse().then(&of_a.then(&inside))),
        });
        Ok(())
    }
}
