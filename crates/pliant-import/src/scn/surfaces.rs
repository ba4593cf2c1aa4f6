//! Collision models and contacts.

use super::forms::{as_box, is_closed, is_convex};
use super::graph::{kind, spot};
use super::nodes::Nodes;
use super::parts::{brackets, counts, point};
use super::states::{Kind, Placed, repeated};
use super::topology::{Source, placement};
use super::{Input, Result};
use crate::geometry::{Frame, from_z};
use crate::numbers::{number, text, tuple};
use crate::write::{place, rotation};
use pliant_dense::Vec3;
use std::collections::HashMap;

const SPHERES: &[&str] = &["Sphere", "SphereModel", "TSphereModel", "SphereCollisionModel"];
const BOXES: &[&str] = &["OBB", "OBBModel", "TOBBModel"];
const TRIANGLES: &[&str] = &[
    "Triangle",
    "TriangleModel",
    "TTriangleModel",
    "TriangleMeshModel",
    "TriangleSetModel",
    "TriangleCollisionModel",
];
const LINES: &[&str] = &[
    "Line",
    "LineModel",
    "TLineModel",
    "LineSetModel",
    "LineMeshModel",
    "LineCollisionModel",
];
const POINTS: &[&str] = &[
    "Point",
    "PointModel",
    "TPointModel",
    "PointSetModel",
    "PointCollisionModel",
];

/// A mesh of up to so many points is written out as a hull.
const MOST_LISTED: usize = 64;

/// How contacts of a scene respond.
#[derive(Clone, Debug, Default)]
struct Response {
    /// Friction of all, if it is not that of the surfaces.
    friction: Option<f64>,
    rule: Option<&'static str>,
    /// Restitution of all, if it is not the product of the surfaces'.
    restitution: Option<f64>,
    compliance: f64,
    /// Drag of all, or of pairs of surfaces by their `contactFriction`.
    viscous: Option<f64>,
    /// Distance that SOFA keeps between surfaces (m).
    distance: f64,
}

/// A surface, by friction and restitution.
type Surface = (f64, f64);

/// Writer of what collides.
pub(super) struct Surfaces<'r, 'a>(pub(super) &'r mut Input<'a>);

impl Surfaces<'_, '_> {
    /// Writes what collides, and the surfaces.
    pub(super) fn surfaces(&mut self) -> Result<()> {
        let nodes = 0..self.0.graph.nodes.len();
        let models: Vec<(usize, usize)> = nodes
            .flat_map(|n| {
                let kinds = [SPHERES, BOXES, TRIANGLES, LINES, POINTS].concat();
                self.0
                    .components(n, &kinds)
                    .into_iter()
                    .map(move |c| (n, c))
                    .collect::<Vec<_>>()
            })
            .collect();
        if models.is_empty() {
            return Ok(());
        }
        let Some(response) = self.response()? else {
            for (_, model) in &models {
                self.0.taken.insert(*model);
            }
            let at = spot(self.0.tree, models[0].1);
            self.0.tree.remark(
                at,
                "nothing collides in SOFA without a `DefaultContactManager`: here neither",
            );
            return Ok(());
        };
        let mut known: Vec<Surface> = Vec::new();
        for (node, model) in models {
            self.0.take(
                model,
                &[
                    "radius",
                    "listRadius",
                    "extents",
                    "defaultExtent",
                    "contactFriction",
                    "contactRestitution",
                    "contactStiffness",
                    "simulated",
                    "moving",
                    "selfCollision",
                    "proximity",
                    "bothSide",
                    "group",
                    "active",
                ],
            );
            if self.0.tree.attribute(model, "group").is_some() {
                let message = "`group` of a collision model is not taken: what must not meet is for `ignore`";
                self.0.tree.remark(spot(self.0.tree, model), message);
            }
            if !self.0.truth(model, "active", true) {
                self.0.tree.remark(
                    spot(self.0.tree, model),
                    "a collision model that is not `active` is not taken",
                );
                continue;
            }
            let Some(state) = self.0.state_above(node)? else {
                continue;
            };
            if matches!(self.0.states[state].kind, Kind::Missing) || self.0.count(state) == 0 {
                continue;
            }
            let friction = self.0.tree.not_negative(model, "contactFriction")?.unwrap_or(0.0);
            let restitution = self
                .0
                .tree
                .not_negative(model, "contactRestitution")?
                .unwrap_or(0.0);
            let surface = (friction, restitution.min(1.0));
            let index = known.iter().position(|s| *s == surface).unwrap_or_else(|| {
                known.push(surface);
                known.len() - 1
            });
            let material = format!(", material: {}", text(&surface_name(index)));
            self.model(node, model, state, &material, &response)?;
        }
        self.materials(&known, &response);
        Ok(())
    }

    /// How contacts respond; none if nothing collides.
    fn response(&mut self) -> Result<Option<Response>> {
        let mut manager = None;
        let mut out = Response::default();
        for node in 0..self.0.graph.nodes.len() {
            for component in self.0.graph.nodes[node].components.clone() {
                let name = kind(self.0.tree, component);
                if name.ends_with("ContactManager") || name == "CollisionResponse" {
                    manager = Some(component);
                } else if name.ends_with("Intersection") && name != "DiscreteIntersection" {
                    out.distance = self
                        .0
                        .tree
                        .not_negative(component, "contactDistance")?
                        .unwrap_or(0.5);
                    if out.distance > 0.0 {
                        let message = "surfaces touch here; SOFA keeps them `contactDistance` apart";
                        self.0.tree.remark(spot(self.0.tree, component), message);
                    }
                }
            }
        }
        let Some(manager) = manager else {
            return Ok(None);
        };
        self.0.taken.insert(manager);
        let value = |key: &str| self.0.tree.value(manager, key).map(str::to_owned);
        let response = value("response").unwrap_or_else(|| "default".to_owned());
        let given = value("responseParams").unwrap_or_default();
        let (numbers, method) = params(&given);
        self.respond(manager, &response, method, numbers, &mut out);
        Ok(Some(out))
    }

    /// Sets the surfaces that a response and its parameters mean.
    fn respond(
        &mut self,
        manager: usize,
        response: &str,
        method: Option<&str>,
        mut numbers: HashMap<&str, f64>,
        out: &mut Response,
    ) {
        let at = spot(self.0.tree, manager);
        let mut param = |key: &str| numbers.remove(key).filter(|x| *x >= 0.0);
        out.restitution = param("restitution").filter(|e| *e > 0.0).map(|e| e.min(1.0));
        out.compliance = param("compliance").unwrap_or(0.0);
        match response {
            "FrictionCompliantContact" => {
                out.friction = param("mu");
                out.rule = Some(match method {
                    Some("MIN") => "Minimum",
                    Some("AVERAGE") => "Mean",
                    Some("GEOMETRIC") => "GeometricMean",
                    _ => "Product",
                });
            }
            "FrictionContact" | "FrictionContactConstraint" => {
                out.friction = Some(param("mu").unwrap_or(0.8));
            }
            "PenaltyCompliantContact" => {
                out.friction = Some(0.0);
                let stiffness = param("stiffness").unwrap_or(10.0);
                out.compliance = if stiffness > 0.0 { 1.0 / stiffness } else { 0.0 };
            }
            "CompliantContact" => {
                out.friction = Some(0.0);
                out.viscous = param("viscousFriction").filter(|v| *v > 0.0);
                out.rule = out.viscous.is_none().then_some("viscous");
            }
            other => {
                out.friction = Some(0.0);
                let message = format!("contacts of `{other}` are hard and without friction here");
                self.0.tree.remark(at, message);
            }
        }
        for key in [
            "damping",
            "holonomic",
            "keep",
            "keepAlive",
            "horizontal",
            "horizontalConeProjection",
        ] {
            let value = numbers.remove(key).unwrap_or(0.0);
            if key == "damping" && value != 0.0 {
                self.0.tree.remark(at, "`damping` of contacts is not taken");
            }
        }
        let mut others: Vec<&str> = numbers.into_keys().filter(|k| *k != "mu").collect();
        others.sort_unstable();
        for key in others {
            self.0
                .tree
                .remark(at, format!("`{key}` of contacts is not taken"));
        }
    }

    /// One collision model.
    fn model(
        &mut self,
        node: usize,
        model: usize,
        state: usize,
        material: &str,
        response: &Response,
    ) -> Result<()> {
        let name = kind(self.0.tree, model);
        let name = name.as_str();
        if SPHERES.contains(&name) {
            return self.spheres(model, state, material);
        }
        if BOXES.contains(&name) {
            return self.boxes_on_bodies(model, state, material);
        }
        let before = |kinds: &[&str]| !self.0.components(node, kinds).is_empty();
        let inside_other = POINTS.contains(&name) && (before(LINES) || before(TRIANGLES))
            || LINES.contains(&name) && before(TRIANGLES);
        if inside_other {
            // Edges and corners of triangles collide with them.
            return Ok(());
        }
        if let Kind::Carried(list) = self.0.states[state].kind.clone() {
            if LINES.contains(&name) {
                return self.lines_on_bodies(node, model, state, &list, material);
            }
            return self.mesh_on_body(node, model, state, &list, material);
        }
        self.surface_of_points(node, model, state, material, response)
    }

    /// Triangles, lines or points of a state of points, which have a thickness here.
    fn surface_of_points(
        &mut self,
        node: usize,
        model: usize,
        state: usize,
        material: &str,
        response: &Response,
    ) -> Result<()> {
        let name = kind(self.0.tree, model);
        let name = name.as_str();
        let radius = match self.0.tree.not_negative(model, "proximity")? {
            Some(proximity) if proximity > 0.0 => proximity,
            _ => response.distance / 2.0,
        };
        let radius = if radius > 0.0 {
            radius
        } else {
            1e-3 * self.extent(state)
        };
        let message = format!("surfaces of points are {} m thick on each side", number(radius));
        self.0.tree.remark(spot(self.0.tree, model), message);
        let on = Nodes(self.0).node(state);
        let label = self.0.unused(&format!("{on}/surface"));
        let mut keys = format!(
            "name: {}, node: {}, radius: {}",
            text(&label),
            text(&on),
            number(radius)
        );
        let (_, mesh) = match self.0.topology_above(node)? {
            Some(found) => found,
            None if POINTS.contains(&name) => {
                self.0.parts.colliders.push(format!("Points({keys}{material}),"));
                return Ok(());
            }
            None => return Ok(()),
        };
        if TRIANGLES.contains(&name) {
            let triangles = mesh.all_triangles();
            if triangles.is_empty() {
                return Ok(());
            }
            self.0
                .below(model, "name", &triangles.concat(), self.0.count(state))?;
            let list: Vec<String> = triangles
                .iter()
                .map(|[a, b, c]| format!("({a}, {b}, {c})"))
                .collect();
            keys += &format!(", triangles: {}", brackets(&list));
            if self.0.truth(model, "selfCollision", false) {
                keys += ", self_contact: 2";
            }
            self.0.parts.colliders.push(format!("Cloth({keys}{material}),"));
        } else if LINES.contains(&name) {
            let edges = mesh.all_edges();
            self.0
                .below(model, "name", &edges.concat(), self.0.count(state))?;
            let list: Vec<String> = edges.iter().map(|[a, b]| format!("({a}, {b})")).collect();
            keys += &format!(", segments: {}", brackets(&list));
            self.0.parts.colliders.push(format!("Cable({keys}{material}),"));
        } else {
            self.0.parts.colliders.push(format!("Points({keys}{material}),"));
        }
        Ok(())
    }

    /// The largest distance between two corners of the box around the points of a state.
    fn extent(&self, state: usize) -> f64 {
        let points = self.0.start_points(state);
        let first = points.first().copied().unwrap_or_default();
        let (least, most) = points
            .iter()
            .fold((first, first), |(a, b), p| (a.inf(p), b.sup(p)));
        (most - least).norm().max(1e-3)
    }

    /// The frames of a state on bodies, or none.
    fn on_bodies(&self, state: usize) -> Option<Vec<Placed>> {
        match &self.0.states[state].kind {
            Kind::Carried(list) => Some(list.clone()),
            _ => self.0.placed(state),
        }
    }

    fn spheres(&mut self, model: usize, state: usize, material: &str) -> Result<()> {
        let count = self.0.count(state);
        let default = self.0.tree.not_negative(model, "radius")?.unwrap_or(1.0);
        let listed = self.0.numbers(model, "listRadius")?.unwrap_or_default();
        let radii: Vec<f64> = match listed.len() == count {
            true => listed,
            false => vec![default; count],
        };
        if radii.iter().any(|r| *r <= 0.0) {
            let message = "balls without a radius do not collide";
            self.0.tree.remark(spot(self.0.tree, model), message);
            return Ok(());
        }
        if let Some(frames) = self.on_bodies(state) {
            for (frame, radius) in frames.iter().zip(radii) {
                self.body_collider(
                    state,
                    frame,
                    &Frame::IDENTITY,
                    &format!("Sphere({})", number(radius)),
                    material,
                );
            }
            return Ok(());
        }
        if !self.0.is_points(state) {
            return Ok(());
        }
        let own = if self.0.truth(model, "selfCollision", false) {
            ", self_contact: true"
        } else {
            ""
        };
        let mut done: Vec<f64> = Vec::new();
        for radius in &radii {
            if done.contains(radius) {
                continue;
            }
            done.push(*radius);
            let elements: Vec<usize> = (0..count).filter(|i| radii[*i] == *radius).collect();
            let which = match elements.len() == count {
                true => String::new(),
                false => format!(", elements: {}", counts(&elements)),
            };
            let on = Nodes(self.0).node(state);
            let label = self.0.unused(&format!("{on}/surface"));
            let keys = format!(
                "name: {}, node: {}, radius: {}{which}",
                text(&label),
                text(&on),
                number(*radius)
            );
            self.0
                .parts
                .colliders
                .push(format!("Points({keys}{own}{material}),"));
        }
        Ok(())
    }

    fn boxes_on_bodies(&mut self, model: usize, state: usize, material: &str) -> Result<()> {
        let Some(frames) = self.on_bodies(state) else {
            let message = "boxes collide on bodies alone";
            self.0.tree.remark(spot(self.0.tree, model), message);
            return Ok(());
        };
        let default = self.0.tree.not_negative(model, "defaultExtent")?.unwrap_or(1.0);
        let extents = self.0.points(model, "extents")?.unwrap_or_default();
        let extents = match extents.len() == frames.len() || extents.len() == 1 {
            true => repeated(&extents, frames.len(), Vec3::repeat(default)),
            false => vec![Vec3::repeat(default); frames.len()],
        };
        for (frame, half) in frames.iter().zip(extents) {
            if half.min() > 0.0 {
                let shape = format!("Box{}", tuple((half * 2.0).as_slice()));
                self.body_collider(state, frame, &Frame::IDENTITY, &shape, material);
            }
        }
        Ok(())
    }

    fn body_collider(&mut self, state: usize, placed: &Placed, inner: &Frame, shape: &str, material: &str) {
        let Some((owner, element)) = placed.body else {
            return;
        };
        let frame = placed.frame.then(inner);
        let label = self.0.unused(&format!("{}/surface", self.0.states[state].name));
        let body = format!("({}, {element})", text(&self.0.states[owner].name));
        let pose = format!(
            "{}{}",
            place("position", frame.position),
            rotation(frame.rotation)
        );
        let entry = format!(
            "Body(name: {}, body: {body}, shape: {shape}{pose}{material}),",
            text(&label)
        );
        self.0.parts.colliders.push(entry);
    }

    /// Lines with a thickness, as capsules on the bodies that carry them.
    fn lines_on_bodies(
        &mut self,
        node: usize,
        model: usize,
        state: usize,
        list: &[Placed],
        material: &str,
    ) -> Result<()> {
        let edges = self
            .0
            .topology_above(node)?
            .map(|(_, mesh)| mesh.all_edges())
            .unwrap_or_default();
        let radius = self.0.tree.not_negative(model, "proximity")?.unwrap_or(0.0);
        if radius == 0.0 {
            let message = "lines without `proximity` do not collide on bodies";
            self.0.tree.remark(spot(self.0.tree, model), message);
            return Ok(());
        }
        self.0.below(model, "name", &edges.concat(), list.len())?;
        for [a, b] in edges {
            let along = list[b].frame.position - list[a].frame.position;
            let length = along.norm();
            if list[a].body != list[b].body || length == 0.0 {
                continue;
            }
            let placed = Placed {
                frame: Frame::IDENTITY,
                ..list[a]
            };
            let middle = Frame {
                position: list[a].frame.position + along / 2.0,
                rotation: from_z(along / length),
            };
            let shape = format!("Capsule(radius: {}, length: {})", number(radius), number(length));
            self.body_collider(state, &placed, &middle, &shape, material);
        }
        Ok(())
    }

    /// The mesh of a node as a shape on the body that carries it.
    fn mesh_on_body(
        &mut self,
        node: usize,
        model: usize,
        state: usize,
        list: &[Placed],
        material: &str,
    ) -> Result<()> {
        let mesh = self.0.topology_above(node)?.map(|(_, m)| m);
        let same = list.iter().all(|p| p.body == list[0].body);
        let Some(mesh) = mesh.filter(|m| same && m.points.len() == list.len()) else {
            let message = "a mesh on several bodies, or without a file, does not collide";
            self.0.tree.remark(spot(self.0.tree, model), message);
            return Ok(());
        };
        let points: Vec<Vec3> = list.iter().map(|p| p.frame.position).collect();
        let whole = Placed {
            frame: Frame::IDENTITY,
            ..list[0]
        };
        if let Some((size, centre)) = as_box(&points) {
            let shape = format!("Box{}", tuple(&crate::numbers::tidy([size.x, size.y, size.z])));
            self.body_collider(state, &whole, &Frame::at(centre), &shape, material);
            return Ok(());
        }
        let triangles = mesh.all_triangles();
        if triangles.is_empty() {
            let message = "a mesh without triangles does not collide";
            self.0.tree.remark(spot(self.0.tree, model), message);
            return Ok(());
        }
        let convex = is_convex(&points, &triangles);
        if convex && points.len() <= MOST_LISTED {
            let listed: Vec<String> = points.iter().map(|p| point(*p)).collect();
            let shape = format!("Hull(points: {})", brackets(&listed));
            self.body_collider(state, &whole, &Frame::IDENTITY, &shape, material);
            return Ok(());
        }
        let element = self.0.state_element(self.0.states[state].node);
        let own = match element {
            Some(element) => placement(self.0.tree, element)?,
            None => super::topology::Placement::NONE,
        };
        let outer = self.frame_of_parent(state)?;
        let (Source::File(path), Some(all)) = (&mesh.source, own.after(&mesh.placement)) else {
            let message = "a mesh that is not convex collides if it is that of a file alone";
            self.0.tree.remark(spot(self.0.tree, model), message);
            return Ok(());
        };
        let Some(scale) = all.uniform() else {
            let message = "a mesh with different scales that is not convex does not collide";
            self.0.tree.remark(spot(self.0.tree, model), message);
            return Ok(());
        };
        let file = text(&self.0.meshes.path_from_scene(path));
        let kind = match (convex, is_closed(&mesh, &triangles)) {
            (true, _) => "Hull",
            (false, true) => "Surface",
            (false, false) => "Sheet",
        };
        let scale = if scale == 1.0 {
            String::new()
        } else {
            format!(", scale: {}", number(scale))
        };
        let shape = format!("{kind}(file: {file}{scale})");
        let placed = Placed {
            frame: outer,
            ..whole
        };
        self.body_collider(state, &placed, &all.frame, &shape, material);
        Ok(())
    }

    /// The frame, on its body, of what carries a state.
    fn frame_of_parent(&mut self, state: usize) -> Result<Frame> {
        let Some(mapping) = self.0.mapping_of(self.0.states[state].node) else {
            return Ok(Frame::IDENTITY);
        };
        let parent = self.0.inputs(mapping, "input")?.first().copied().flatten();
        let index = self.0.tree.number(mapping, "index")?.unwrap_or(0.0) as usize;
        let frames = parent.and_then(|p| self.0.placed(p));
        Ok(frames
            .and_then(|f| f.get(index).map(|p| p.frame))
            .unwrap_or(Frame::IDENTITY))
    }

    /// Materials, and pairs of them where SOFA takes products.
    fn materials(&mut self, known: &[Surface], response: &Response) {
        let drag = response.rule == Some("viscous");
        let compliance = match response.compliance {
            0.0 => String::new(),
            // Two of them add up.
            c => format!(", compliance: {}", number(c / 2.0)),
        };
        for (index, (friction, restitution)) in known.iter().enumerate() {
            let friction = response.friction.unwrap_or(*friction);
            let restitution = response.restitution.unwrap_or(*restitution);
            let mut entry = format!(
                "(name: {}, friction: {}",
                text(&surface_name(index)),
                number(friction)
            );
            if restitution > 0.0 {
                entry += &format!(", restitution: {}", number(restitution));
            }
            if let Some(viscous) = response.viscous {
                entry += &format!(", viscous_friction: {}", number(viscous));
            }
            self.0.parts.materials.push(format!("{entry}{compliance}),"));
        }
        if response.friction.is_none() && !known.is_empty() {
            self.0.parts.friction_rule = response.rule;
        }
        let products = response.restitution.is_none() && known.iter().any(|s| s.1 > 0.0)
            || drag && known.iter().any(|s| s.0 > 0.0);
        if !products {
            return;
        }
        for (i, first) in known.iter().enumerate() {
            for (j, second) in known.iter().enumerate().skip(i) {
                let friction = match (response.friction, response.rule) {
                    (Some(friction), _) => friction,
                    (None, Some("Minimum")) => first.0.min(second.0),
                    (None, Some("Mean")) => 0.5 * (first.0 + second.0),
                    (None, Some("GeometricMean")) => (first.0 * second.0).sqrt(),
                    (None, _) => first.0 * second.0,
                };
                let restitution = response.restitution.unwrap_or(first.1 * second.1);
                let viscous = response
                    .viscous
                    .unwrap_or(if drag { first.0 * second.0 } else { 0.0 });
                let mut entry = format!(
                    "(between: ({}, {}), friction: {}",
                    text(&surface_name(i)),
                    text(&surface_name(j)),
                    number(friction)
                );
                for (key, value) in [
                    ("restitution", restitution),
                    ("viscous_friction", viscous),
                    ("compliance", response.compliance),
                ] {
                    if value > 0.0 {
                        entry += &format!(", {key}: {}", number(value));
                    }
                }
                self.0.parts.pairs.push(format!("{entry}),"));
            }
        }
    }
}

/// Numbers by name of `key=value&key=value`, and the rule by which friction is mixed.
fn params(given: &str) -> (HashMap<&str, f64>, Option<&str>) {
    let (mut numbers, mut method) = (HashMap::new(), None);
    for (key, value) in given.split('&').filter_map(|p| p.split_once('=')) {
        let (key, value) = (key.trim(), value.trim());
        if key == "frictionCoefficientMixingMethod" {
            method = Some(value);
            continue;
        }
        let number = value.parse::<f64>().ok().filter(|x| x.is_finite());
        numbers.insert(
            key,
            number.unwrap_or(f64::from(u8::from(super::graph::is_true(value)))),
        );
    }
    (numbers, method)
}

fn surface_name(index: usize) -> String {
    match index {
        0 => "surface".to_owned(),
        index => format!("surface {}", index + 1),
    }
}
