//! Scenes of bodies, joints, ropes, points, solids and cloth, drawn at random.

use super::draw::Draw;
use serde_json::{Map, Value, json};

/// A scene, in the notation of JSON files.
#[derive(Debug)]
pub(super) struct Drawn {
    pub(super) scene: Value,
    /// Whether anything in it may bring in energy.
    pub(super) driven: bool,
}

/// The lists of a scene while it is drawn.
#[derive(Debug)]
struct Sketch {
    draw: Draw,
    /// Plain scenes are of things and numbers that belong together; wild ones are not.
    wild: bool,
    contacts: bool,
    driven: bool,
    /// Places of the bodies.
    places: Vec<[f64; 3]>,
    /// Free coordinates of joints, by name.
    free: Vec<String>,
    lists: Map<String, Value>,
}

/// Draws the scene of a seed.
pub(super) fn generate(seed: u64, wild: bool) -> Drawn {
    let mut draw = Draw::new(2 * seed + u64::from(wild));
    let contacts = draw.chance(0.75);
    let mut sketch = Sketch {
        draw,
        wild,
        contacts,
        driven: false,
        places: Vec::new(),
        free: Vec::new(),
        lists: Map::new(),
    };
    sketch.run();
    sketch.materials();
    sketch.bodies();
    sketch.joints();
    let parts: [(f64, Part); 9] = [
        (0.4, Sketch::cable),
        (0.4, Sketch::points),
        (0.25, Sketch::solid),
        (0.2, Sketch::sheet),
        (0.2, Sketch::elastic_rod),
        (0.15, Sketch::rod_of_bodies),
        (0.2, Sketch::tackle),
        (0.3, Sketch::forces),
        (0.2, Sketch::holds),
    ];
    for (share, part) in parts {
        if sketch.draw.chance(share) {
            part(&mut sketch);
        }
    }
    if contacts {
        sketch.surroundings();
    }
    let mut scene = sketch.lists;
    let title = format!("{} scene {seed}", if wild { "wild" } else { "plain" });
    scene.insert("title".to_owned(), title.into());
    Drawn {
        scene: Value::Object(scene),
        driven: sketch.driven,
    }
}

/// A part of a scene, drawn into it.
type Part = fn(&mut Sketch);

impl Sketch {
    /// Adds to a list of the scene.
    fn add(&mut self, list: &str, value: Value) {
        let list = self.lists.entry(list).or_insert_with(|| json!([]));
        if let Value::Array(values) = list {
            values.push(value);
        }
    }

    /// A number that is within reason in plain scenes, and of any size in wild ones.
    fn size(&mut self, plain: (f64, f64), wild: (f64, f64)) -> f64 {
        let (low, high) = if self.wild { wild } else { plain };
        self.draw.power(low, high)
    }

    fn mass(&mut self) -> f64 {
        self.size((0.0, 0.5), (-3.0, 3.0))
    }

    fn compliance(&mut self) -> f64 {
        let some = self.size((-6.0, 0.0), (-12.0, 3.0));
        self.draw.pick(&[0.0, 0.0, some])
    }

    fn relaxation_time(&mut self) -> f64 {
        self.draw.pick(&[0.0, 0.01])
    }

    fn rotation(&mut self) -> Value {
        json!({"Axis": {"around": self.draw.vector(1.0), "degrees": self.draw.between(0.0, 360.0)}})
    }

    fn run(&mut self) {
        let h = if self.wild {
            self.draw.power(-4.0, -1.0)
        } else {
            self.draw.pick(&[0.01, 1.0 / 60.0, 0.005, 0.002])
        };
        let mut run = json!({"duration": 2000.0 * h, "step": h, "record_every": 1000});
        let d = &mut self.draw;
        let method = if d.chance(0.12) {
            Some(json!("Nonlinear"))
        } else if !self.contacts && d.chance(0.3) {
            Some(d.pick(&[
                json!({"GeneralisedAlpha": {"radius": 0.8}}),
                json!("Bdf2"),
                json!("Bdf3"),
                json!("Rattle"),
                json!({"Newmark": {}}),
            ]))
        } else {
            // The default without a word.
            d.chance(0.35).then(|| json!("Theta"))
        };
        let is = |name: &str| method.as_ref().is_some_and(|m| m == name);
        let (linear, weighted) = (is("Theta"), is("Theta") || is("Nonlinear"));
        if linear && d.chance(0.2) {
            run["post_stabilisation"] = json!({"metric": d.pick(&["Mass", "Response"])});
        }
        if (linear || method.is_none()) && d.chance(0.1) {
            run["adaptive_step"] = json!({"position": 1e-2, "velocity": 1.0});
            if linear {
                run["post_stabilisation"] = json!({});
            }
        } else if self.contacts && d.chance(0.1) {
            run["sleeping"] = json!({"time": 5.0 * h, "speed": 0.05, "spin": 0.2});
        }
        if self.contacts && d.chance(0.3) {
            let (key, value) = d.pick(&[
                ("overlap", json!({"Rows": {"rate": 0.2 / h}})),
                ("overlap", json!("Keep")),
                ("friction_coupling", json!("Lagged")),
                ("friction_coupling", json!("Convex")),
                ("restitution_law", json!("Poisson")),
                ("impacts", json!("InSequence")),
            ]);
            run[key] = value;
        }
        if self.wild && weighted && d.chance(0.4) {
            run["alpha"] = json!(d.between(0.5, 1.0));
            run["beta"] = json!(d.between(0.5, 1.0));
        }
        if linear && d.chance(0.3) {
            let kinds = ["WhereNeeded", "JustEnough", "PositivePart", "AbsoluteValue"];
            run["geometric_stiffness"] = json!(d.pick(&kinds));
        }
        if linear && d.chance(0.2) {
            run["gyroscopic"] = json!(d.pick(&["Momentum", "LinearlyImplicit"]));
        }
        if let Some(method) = method {
            run["integrator"] = method;
        }
        self.lists.insert("run".to_owned(), run);
        let gravity = if self.wild && self.draw.chance(0.2) {
            self.draw.vector(10.0)
        } else {
            [0.0, 0.0, -9.81]
        };
        self.lists.insert("gravity".to_owned(), json!(gravity));
    }

    fn materials(&mut self) {
        if !self.contacts {
            return;
        }
        let most = if self.wild { 2.0 } else { 0.9 };
        let mut material = json!({"name": "m", "friction": self.draw.between(0.0, most)});
        let d = &mut self.draw;
        if d.chance(0.4) {
            material["restitution"] = json!(d.between(0.0, if self.wild { 1.0 } else { 0.9 }));
        }
        if d.chance(0.1) {
            material["compliance"] = json!(d.power(-8.0, -4.0));
            material["relaxation_time"] = json!(d.pick(&[0.0, 1e-3]));
        }
        if d.chance(0.07) {
            material["rolling_friction"] = json!(d.power(-4.0, -2.0));
        }
        if d.chance(0.07) {
            material["torsional_friction"] = json!(d.power(-4.0, -2.0));
        } else if d.chance(0.07) {
            material["friction_model"] =
                json!({"Ellipse": {"across": d.between(0.0, 0.5), "direction": [1, 0, 0]}});
        }
        self.add("materials", material);
    }

    fn shape(&mut self) -> Value {
        let d = &mut self.draw;
        match d.count(0, 6) {
            0 | 1 => {
                let edges = [0; 3].map(|_| d.between(0.3, 0.8));
                json!({"Box": edges})
            }
            2 | 3 => json!({"Sphere": d.between(0.2, 0.37)}),
            4 => json!({"Cylinder": {"radius": d.between(0.15, 0.36), "length": d.between(0.2, 0.6)}}),
            5 => json!({"Cone": {"radius": d.between(0.15, 0.36), "height": d.between(0.2, 0.6)}}),
            _ => json!({"Capsule": {"radius": d.between(0.08, 0.2), "length": d.between(0.15, 0.4)}}),
        }
    }

    /// Bodies in cells of a metre, from the ground up or anywhere.
    fn bodies(&mut self) {
        let mut cells: Vec<usize> = (0..80).collect();
        let low = if self.draw.chance(0.5) { 32 } else { 80 };
        let mut bodies = Vec::new();
        for _ in 0..self.draw.count(3, 14) {
            let at = self.draw.count(0, low.min(cells.len()) - 1);
            let cell = cells.remove(at);
            let jitter = self.draw.vector(0.04);
            let whole = [cell % 4, cell / 4 % 4, cell / 16].map(|c| c as f64);
            let lift = [0.0, 0.0, 0.55];
            let place = [0, 1, 2].map(|i| whole[i] + lift[i] + jitter[i]);
            let mut body = json!({"position": place, "shape": self.shape(), "mass": self.mass()});
            if self.draw.chance(0.7) {
                body["rotation"] = self.rotation();
            }
            if self.draw.chance(0.4) {
                let speed = self.size((0.0, 0.5), (-1.0, 2.0));
                body["velocity"] = json!(self.draw.vector(speed));
            }
            if self.draw.chance(0.3) {
                let spin = self.size((0.0, 0.6), (-1.0, 2.3));
                body["angular_velocity"] = json!(self.draw.vector(spin));
            }
            bodies.push(body);
            self.places.push(place);
        }
        self.add("nodes", json!({"Bodies": {"name": "b", "bodies": bodies}}));
        if self.contacts {
            self.add("colliders", json!({"Bodies": {"node": "b", "material": "m"}}));
        }
    }

    /// Joints between bodies, or of a body and the world: trees in plain scenes, any graph in wild
    /// ones.
    fn joints(&mut self) {
        let bodies = self.places.len();
        let mut children = vec![false; bodies];
        let most = if self.wild { 14 } else { 7 };
        for k in 0..self.draw.count(1, most) {
            let child = self.draw.count(0, bodies - 1);
            if !self.wild && std::mem::replace(&mut children[child], true) {
                continue;
            }
            let parents = if self.wild { bodies } else { child };
            let parent = self.draw.count(0, parents);
            let parent = (parent < parents && parent != child).then_some(parent);
            self.joint(k, child, parent);
        }
        if self.free.len() > 1 && self.draw.chance(0.3) {
            let gear = json!({"name": "gear", "first": self.free[0], "second": self.free[1],
                "ratio": self.draw.between(-2.0, 2.0)});
            self.add("gears", gear);
        }
    }

    fn joint(&mut self, number: usize, child: usize, parent: Option<usize>) {
        const KINDS: [&str; 13] = [
            "Hinge",
            "Hinge",
            "Slider",
            "Cylindrical",
            "Universal",
            "Ball",
            "Ball",
            "Fixed",
            "Planar",
            "PointOnLine",
            "PointOnPlane",
            "Screw",
            "Distance",
        ];
        let kind = self.draw.pick(&KINDS);
        let (from, to) = (self.places[child], parent.map(|p| self.places[p]));
        let above = [from[0], from[1], from[2] + 0.8];
        let end = to.unwrap_or(above);
        let middle = [0, 1, 2].map(|i| 0.5 * (from[i] + end[i]));
        let name = format!("j{number}");
        let mut joint = json!({"name": name, "kind": kind, "b": {"Body": ["b", child]}});
        if let Some(parent) = parent {
            joint["a"] = json!({"Body": ["b", parent]});
        }
        if kind == "Distance" {
            joint["kind"] = json!({"Distance": {}});
            joint["a"] = match parent {
                Some(parent) => json!({"Frame": {"body": ["b", parent]}}),
                None => json!({"Frame": {"position": above}}),
            };
            joint["b"] = json!({"Frame": {"body": ["b", child]}});
        } else {
            joint["at"] = json!(middle);
            joint["axis"] = json!(self.draw.vector(1.0));
        }
        if kind == "Screw" {
            joint["kind"] = json!({"Screw": {"pitch": self.draw.between(0.01, 0.3)}});
        }
        let free: &[&str] = match kind {
            "Hinge" => &["angle"],
            "Slider" | "PointOnLine" => &["travel"],
            "Cylindrical" => &["travel", "angle"],
            "Planar" => &["x", "y", "angle"],
            "Universal" => &["first_angle", "second_angle"],
            _ => &[],
        };
        if !free.is_empty() && self.draw.chance(0.6) {
            let on = self.draw.pick(free);
            self.act_on_joint(&mut joint, on);
        }
        if matches!(kind, "Hinge" | "Slider") {
            self.free.push(format!("{name}.{}", free[0]));
        }
        if self.draw.chance(0.15) {
            joint["compliance"] = json!(self.size((-8.0, -3.0), (-12.0, 3.0)));
        } else if self.draw.chance(0.1) {
            joint["level"] = json!("CurvedPosition");
        }
        self.add("joints", joint);
    }

    /// A stop, a motor, dry friction, a spring or a damper on a free coordinate.
    fn act_on_joint(&mut self, joint: &mut Value, on: &str) {
        let (list, value) = match self.draw.count(0, 6) {
            0 | 1 => {
                let (lower, upper) = (self.draw.between(-0.5, -0.01), self.draw.between(0.01, 0.5));
                ("limits", json!({"on": on, "lower": lower, "upper": upper}))
            }
            2 => {
                self.driven = true;
                let (speed, force) = (self.draw.between(-3.0, 3.0), self.size((0.0, 2.0), (-1.0, 4.0)));
                (
                    "motors",
                    json!({"Velocity": {"on": on, "speed": speed, "force": force}}),
                )
            }
            3 => {
                self.driven = true;
                let mut motor =
                    json!({"on": on, "target": "0.3 * sin(3 * $t)", "compliance": self.compliance()});
                if self.draw.chance(0.5) {
                    motor["force"] = json!(self.draw.power(0.0, 3.0));
                }
                ("motors", json!({"Position": motor}))
            }
            4 => ("friction", json!({"on": on, "force": self.draw.power(-2.0, 1.0)})),
            5 => {
                let (compliance, time) = (self.compliance(), self.relaxation_time());
                (
                    "springs",
                    json!({"on": on, "compliance": compliance, "relaxation_time": time}),
                )
            }
            _ => (
                "dampers",
                json!({"on": on, "damping": self.draw.power(-2.0, 2.0)}),
            ),
        };
        joint[list] = json!([value]);
    }

    /// A cable that hangs from the world, and from a body or from the world again.
    fn cable(&mut self) {
        let links = self.draw.count(3, 12);
        let mut cable = json!({"name": "c", "from": [-1, -1, 4.5], "links": links,
            "link_mass": self.size((-2.0, 0.0), (-4.0, 1.0)), "compliance": self.compliance(),
            "relaxation_time": self.relaxation_time()});
        if self.draw.chance(0.5) {
            cable["to"] = json!([-1.0 + 0.15 * links as f64, -1.2, 4.6]);
            cable["end"] = json!(self.draw.pick(&["Free", "Fixed"]));
        } else {
            let tips = json!({"RigidPoints": {"points": [[0, [0, 0, 0.1]]]}});
            self.add(
                "nodes",
                json!({"Mapped": {"name": "tips", "parents": ["b"], "mapping": tips}}),
            );
            cable["end"] = json!({"Attached": ["tips", 0]});
        }
        if self.draw.chance(0.3) {
            cable["last_mass"] = json!(self.size((0.0, 1.0), (-3.0, 3.0)));
        }
        self.add("nodes", json!({"Cable": cable}));
        if self.contacts && self.draw.chance(0.4) {
            self.add(
                "colliders",
                json!({"Cable": {"node": "c", "radius": 0.02, "material": "m"}}),
            );
        }
    }

    /// Points in a chain of springs or hard links, one of which is tied to the world.
    fn points(&mut self) {
        let count = self.draw.count(3, 10);
        let mut places = Vec::new();
        for k in 0..count {
            let k = k as f64;
            let [x, y, _] = self.draw.vector(1.0);
            places.push([5.0 + 0.5 * x + 0.3 * k, y, 1.0 + 0.2 * k]);
        }
        let masses: Vec<f64> = (0..count).map(|_| self.mass()).collect();
        self.add(
            "nodes",
            json!({"Particles": {"name": "p", "positions": places, "mass": masses}}),
        );
        let mut pairs: Vec<Value> = (1..count).map(|k| json!([k - 1, k])).collect();
        pairs.push(json!([self.draw.count(0, count - 1), [5, 0, 4]]));
        let compliances: Vec<f64> = pairs.iter().map(|_| self.compliance()).collect();
        let mapping = json!({"Distance": {"pairs": pairs}});
        self.add(
            "nodes",
            json!({"Mapped": {"name": "d", "parents": ["p"], "mapping": mapping}}),
        );
        match self.draw.count(0, 3) {
            0 => self.add("constraints", json!({"name": "links", "on": "d"})),
            1 => {
                let law = json!({"Stiffness": self.size((2.0, 5.0), (0.0, 8.0))});
                let treatment = self.draw.pick(&["Stiffness", "Compliance", "Auto"]);
                self.add(
                    "force_fields",
                    json!({"name": "links", "on": "d", "law": law, "treatment": treatment}),
                );
            }
            _ => {
                let time = self.relaxation_time();
                let field = json!({"name": "links", "on": "d", "law": {"Diagonal": compliances},
                    "relaxation_time": time});
                self.add("force_fields", field);
            }
        }
        if self.contacts && self.draw.chance(0.6) {
            self.add(
                "colliders",
                json!({"Points": {"node": "p", "radius": 0.05, "material": "m"}}),
            );
        }
    }

    fn solid(&mut self) {
        let laws = [
            "Corotational",
            "StableNeoHookean",
            "NeoHookean",
            "StVenantKirchhoff",
        ];
        let law = self.draw.pick(&laws);
        let young = self.size((4.0, 7.0), (2.0, 10.0));
        let poisson = self.draw.pick(&[0.2, 0.3, 0.4, 0.45]);
        let (y, z) = (self.draw.between(0.0, 2.0), self.draw.between(0.1, 2.0));
        let mut solid = json!({"name": "f", "shape": {"Box": {"size": [0.6, 0.6, 0.6], "cells": [2, 2, 2]}},
            "position": [-2.5, y, z], "material": {law: {"young": young, "poisson": poisson}},
            "density": self.draw.between(100.0, 2000.0)});
        if matches!(law, "Corotational" | "StVenantKirchhoff") {
            match self.draw.count(0, 4) {
                0 => solid["relaxation_time"] = json!(0.01),
                1 => solid["treatment"] = json!("Compliance"),
                2 => solid["viscoelastic"] = json!([{"time": 0.1, "share": 0.5}]),
                3 => solid["plastic"] = json!({"yield_stress": 0.02 * young}),
                _ => {}
            }
        }
        self.add("nodes", json!({"Solid": solid}));
        self.cloth_collider("f", 0.8);
    }

    fn sheet(&mut self) {
        let young = self.size((4.0, 7.0), (2.0, 9.0));
        let bending = self
            .draw
            .pick(&[json!("None"), json!({"Hinges": 1e-3}), json!("Shell")]);
        let sheet = json!({"name": "sh", "shape": {"Rectangle": {"size": [1, 1], "cells": [4, 4]}},
            "position": [1, 1, 5.5], "material": {"Isotropic": {"young": young, "poisson": 0.3}},
            "thickness": 0.002, "density": 500, "bending": bending,
            "fix": if self.draw.chance(0.5) { json!([0, 4]) } else { json!([]) }});
        self.add("nodes", json!({"ElasticSheet": sheet}));
        self.cloth_collider("sh", 0.7);
    }

    fn cloth_collider(&mut self, node: &str, share: f64) {
        if self.contacts && self.draw.chance(share) {
            self.add(
                "colliders",
                json!({"Cloth": {"node": node, "radius": 0.005, "material": "m"}}),
            );
        }
    }

    fn elastic_rod(&mut self) {
        let radius = self.size((-2.2, -1.7), (-3.0, -1.0));
        let young = self.size((7.0, 10.0), (5.0, 12.0));
        let rod = json!({"name": "er", "line": {"from": [-4, 0, 3], "to": [-4, 1, 3], "count": 7},
            "section": {"Circle": radius}, "young": young, "poisson": 0.3, "density": 2000,
            "inextensible": self.draw.chance(0.3), "fix": [0]});
        self.add("nodes", json!({"ElasticRod": rod}));
        if self.contacts && self.draw.chance(0.4) {
            self.add(
                "colliders",
                json!({"Cable": {"name": "er", "node": "er.points", "radius": 0.02, "material": "m"}}),
            );
        }
    }

    fn rod_of_bodies(&mut self) {
        let rod = json!({"name": "r", "from": [-6, 0, 2], "to": [-5, 0, 2], "segments": 5,
            "mass": self.mass(), "width": 0.05, "bending_compliance": self.size((-4.0, 0.0), (-8.0, 2.0))});
        self.add("nodes", json!({"Rod": rod}));
        if self.draw.chance(0.5) {
            self.add("fixed", json!({"node": "r", "elements": [0]}));
        }
        if self.contacts && self.draw.chance(0.4) {
            self.add("colliders", json!({"Bodies": {"node": "r", "material": "m"}}));
        }
    }

    /// A rope over a fixed point that only pulls, between two weights.
    fn tackle(&mut self) {
        let masses = [self.mass(), self.mass()];
        self.add(
            "nodes",
            json!({"Particles": {"name": "w", "positions": [[-7, 0, 1], [-7, 1, 1.5]], "mass": masses}}),
        );
        let rope = json!({"Rope": {"ropes": [{"points": [0, [-7, 0.2, 4], [-7, 0.8, 4], 1]}]}});
        self.add(
            "nodes",
            json!({"Mapped": {"name": "tackle", "parents": ["w"], "mapping": rope}}),
        );
        let bounds = json!({"upper": 0});
        if self.draw.chance(0.5) {
            self.add(
                "constraints",
                json!({"name": "rope", "on": "tackle", "bounds": bounds}),
            );
        } else {
            let law = json!({"Compliance": self.compliance()});
            self.add(
                "force_fields",
                json!({"name": "rope", "on": "tackle", "law": law, "bounds": bounds}),
            );
        }
    }

    fn forces(&mut self) {
        let (linear, angular) = (self.draw.power(-3.0, 1.0), self.draw.power(-4.0, 0.0));
        let law = match self.draw.count(0, 3) {
            0 => json!({"Drag": {"linear": linear, "quadratic": linear, "angular": angular}}),
            1 => {
                self.driven = true;
                json!({"Force": self.draw.vector(5.0)})
            }
            2 => {
                self.driven = true;
                json!({"BodyForce": {"point": [0.1, 0, 0], "force": self.draw.vector(3.0)}})
            }
            _ => json!({"Damping": {"linear": linear, "angular": angular}}),
        };
        self.add("force_fields", json!({"name": "field", "on": "b", "law": law}));
    }

    /// A body is held, in part, still or with a velocity.
    fn holds(&mut self) {
        let body = self.draw.count(0, self.places.len() - 1);
        let mut hold = json!({"node": "b", "elements": [body]});
        if self.wild && self.draw.chance(0.5) {
            self.driven = true;
            hold["velocity"] = json!(self.draw.vector(1.0));
        } else if self.draw.chance(0.5) {
            hold["axes"] = json!(
                self.draw
                    .pick(&[vec!["z"], vec!["x", "y"], vec!["rx", "ry", "rz"]])
            );
        }
        self.add("fixed", hold);
    }

    /// Ground, flat or hilly, and sometimes walls.
    fn surroundings(&mut self) {
        let plane = |name: &str, normal: [i32; 3], position: [i32; 3]| json!({"Fixed": {"name": name, "shape": {"Plane": normal}, "position": position, "material": "m"}});
        if self.draw.chance(0.85) {
            self.add("colliders", plane("ground", [0, 0, 1], [0, 0, 0]));
        } else {
            let heights: Vec<Vec<f64>> = (0..10)
                .map(|_| (0..10).map(|_| self.draw.between(-0.4, 0.0)).collect())
                .collect();
            let shape = json!({"HeightField": {"heights": heights, "spacing": [2, 2]}});
            let hills = json!({"Fixed": {"name": "ground", "shape": shape, "position": [-8, -8, 0], "material": "m"}});
            self.add("colliders", hills);
        }
        if self.draw.chance(0.3) {
            self.add("colliders", plane("west", [1, 0, 0], [-9, 0, 0]));
            self.add("colliders", plane("east", [-1, 0, 0], [10, 0, 0]));
            self.add("colliders", plane("south", [0, 1, 0], [0, -3, 0]));
            self.add("colliders", plane("north", [0, -1, 0], [0, 6, 0]));
        }
    }
}
