//! Laws of the Compliant plugin: compliances, what bounds their forces, dampers; and the mapped
//! nodes that they are on.

use super::graph::{kind, spot};
use super::parts::{brackets, each, names, numbers, point};
use super::states::{End, Kind, Placed, Row, repeated};
use super::{Reader, Result};
use crate::numbers::{number, text};
use crate::write::{place, rotation};
use crate::xml::Spot;
use std::fmt::Write as _;

/// Compliances below this are hard as stiffnesses in SOFA, too: it takes them as this.
const LEAST_COMPLIANCE: f64 = f64::EPSILON;

/// Components that are a law on the state of their node.
const LAWS: &[&str] = &[
    "UniformCompliance",
    "DiagonalCompliance",
    "LinearDiagonalCompliance",
    "UniformStiffness",
    "DiagonalStiffness",
    "CompliantPenaltyForceField",
    "DampingCompliance",
    "UniformVelocityDampingForceField",
    "DiagonalVelocityDampingForceField",
];

/// Components that say what kind of row a compliance is.
const VALUES: &[&str] = &[
    "ConstraintValue",
    "Stabilization",
    "HolonomicConstraintValue",
    "VelocityConstraintValue",
    "BaumgarteStabilization",
    "Restitution",
    "OffsettedConstraintValue",
    "UnilateralConstraint",
    "NegativeUnilateralConstraint",
    "ResistanceConstraint",
    "DampingValue",
];

/// How a compliance is held.
#[derive(Clone, Debug, Default)]
pub(super) struct Holding {
    /// Whether its force pushes only, or pulls only.
    pub(super) pushes: bool,
    pub(super) pulls: bool,
    pub(super) level: Option<String>,
    /// Velocities that it holds.
    pub(super) velocities: Option<Vec<f64>>,
    /// The largest force (N, N m).
    pub(super) force: Option<f64>,
}

/// A spring, or what is hard.
#[derive(Clone, Debug)]
pub(super) struct Spring {
    /// By coordinate, or one for all; zero is hard.
    pub(super) compliances: Vec<f64>,
    pub(super) stiffness: bool,
}

/// A law on a state.
#[derive(Clone, Debug)]
pub(super) enum Law {
    Spring(Spring, Holding),
    /// By coordinate, or one for all (N s/m, N m s/rad).
    Damper(Vec<f64>),
    /// A curve of tension over extension.
    Curve(String),
}

impl Reader<'_> {
    /// The laws of a node, on its state.
    pub(super) fn laws(&mut self, node: usize) -> Result<()> {
        let all = self.components(node, LAWS);
        let values = self.components(node, VALUES);
        if all.is_empty() {
            return Ok(());
        }
        let row = self.row(&values)?;
        let state = self.state_above(node)?;
        for component in all {
            let name = kind(self.tree, component);
            self.taken.insert(component);
            let Some(state) = state else {
                let message = format!("`{name}` has no state: it is not taken");
                self.tree.remark(spot(self.tree, component), message);
                continue;
            };
            if matches!(self.states[state].kind, Kind::Missing) {
                continue;
            }
            let label = self.tree.value(component, "name").map(str::to_owned);
            let label = label.unwrap_or_else(|| name.clone());
            for law in self.law(component, &name, &row)? {
                self.put(state, &label, &law, spot(self.tree, component))?;
            }
        }
        Ok(())
    }

    /// What the components beside a compliance say about its rows.
    fn row(&mut self, values: &[usize]) -> Result<Holding> {
        let mut row = Holding::default();
        for component in values.iter().copied() {
            self.take(
                component,
                &[
                    "velocities",
                    "threshold",
                    "restitution",
                    "alpha",
                    "offset",
                    "onlyStabilization",
                ],
            );
            match kind(self.tree, component).as_str() {
                "UnilateralConstraint" => row.pushes = true,
                "NegativeUnilateralConstraint" => row.pulls = true,
                "HolonomicConstraintValue" => row.level = Some("Velocity()".to_owned()),
                "BaumgarteStabilization" => {
                    let share = self.tree.not_negative(component, "alpha")?.unwrap_or(1.0);
                    if share > 0.0 {
                        row.level = Some(format!("Baumgarte(rate: {})", number(share / self.step)));
                    }
                }
                "VelocityConstraintValue" => {
                    row.velocities = Some(self.numbers(component, "velocities")?.unwrap_or_default());
                }
                "ResistanceConstraint" => {
                    // The threshold is that of the impulse of a step.
                    let impulse = self.tree.not_negative(component, "threshold")?.unwrap_or(0.0);
                    row.force = Some(impulse / self.step);
                }
                "Restitution" => {
                    let message = "`Restitution` of a limit is not taken: it stops without bouncing";
                    self.tree.remark(spot(self.tree, component), message);
                }
                "OffsettedConstraintValue" => {
                    let message = "`OffsettedConstraintValue` is not taken";
                    self.tree.remark(spot(self.tree, component), message);
                }
                _ => {}
            }
        }
        Ok(row)
    }

    /// What a component does: a spring, a damper, or both.
    fn law(&mut self, component: usize, name: &str, row: &Holding) -> Result<Vec<Law>> {
        self.known(
            component,
            &[
                "compliance",
                "damping",
                "isCompliance",
                "stiffness",
                "complianceMin",
                "errorMin",
                "resizable",
                "dampingCoefficient",
                "dampingCoefficients",
                "implicit",
            ],
        );
        let values = self.numbers(component, "compliance")?.unwrap_or_default();
        if let Some(negative) = values.iter().find(|c| **c < 0.0) {
            let at = self
                .tree
                .attribute(component, "compliance")
                .map_or(spot(self.tree, component), |a| a.spot);
            return self.tree.wrong(
                at,
                format!("`compliance` is {negative}, which is below zero"),
                None,
            );
        }
        let stiffness = !self.truth(component, "isCompliance", true);
        let damping = self.numbers(component, "damping")?.unwrap_or_default();
        let mut out = Vec::new();
        match name {
            "UniformCompliance" | "DiagonalCompliance" => {
                let compliances = if values.is_empty() { vec![0.0] } else { values };
                out.push(Law::Spring(
                    Spring {
                        compliances,
                        stiffness,
                    },
                    row.clone(),
                ));
            }
            "UniformStiffness" | "DiagonalStiffness" => {
                out.extend(self.stiffness(component, name)?);
            }
            "LinearDiagonalCompliance" => out.extend(self.saturating(component)?),
            "CompliantPenaltyForceField" => {
                let k = self.tree.not_negative(component, "stiffness")?.unwrap_or(0.0);
                if k > 0.0 {
                    out.push(Law::Curve(format!("CompressionOnly({})", number(k))));
                }
            }
            _ => {
                let given = self.numbers(component, "dampingCoefficient")?;
                let given = given.or(self.numbers(component, "dampingCoefficients")?);
                let default = if name.starts_with("UniformV") {
                    vec![0.1]
                } else {
                    Vec::new()
                };
                out.push(Law::Damper(given.unwrap_or(if damping.is_empty() {
                    default
                } else {
                    damping.clone()
                })));
            }
        }
        if !name.contains("Damping") && damping.iter().any(|d| *d > 0.0) {
            out.push(Law::Damper(damping));
        }
        out.retain(|law| !matches!(law, Law::Damper(list) if list.iter().all(|d| *d <= 0.0)));
        Ok(out)
    }

    /// Stiffnesses as compliances.
    fn stiffness(&mut self, component: usize, name: &str) -> Result<Option<Law>> {
        let given = self.numbers(component, "stiffness")?.unwrap_or_default();
        let compliances = given.iter().map(|k| 1.0 / k);
        let compliances: Vec<f64> = compliances.filter(|c| c.is_finite() && *c > 0.0).collect();
        if compliances.len() != given.len() || given.is_empty() {
            let message = format!("stiffnesses of `{name}` that are not above zero are not taken");
            self.tree.remark(spot(self.tree, component), message);
            return Ok(None);
        }
        let spring = Spring {
            compliances,
            stiffness: true,
        };
        Ok(Some(Law::Spring(spring, Holding::default())))
    }

    /// A compliance that grows with the error beyond a bound: a force that is at most as there.
    fn saturating(&mut self, component: usize) -> Result<Option<Law>> {
        let least = self.tree.not_negative(component, "complianceMin")?.unwrap_or(0.0);
        let error = self.tree.not_negative(component, "errorMin")?.unwrap_or(0.0);
        if least == 0.0 || error == 0.0 {
            let message =
                "`LinearDiagonalCompliance` without `complianceMin` and `errorMin` above zero is not taken";
            self.tree.remark(spot(self.tree, component), message);
            return Ok(None);
        }
        let force = error / least;
        let [far, e, f] = [2.0 * error, error, force].map(number);
        Ok(Some(Law::Curve(format!(
            "Table([(-{far}, -{f}), (-{e}, -{f}), ({e}, {f}), ({far}, {f})])"
        ))))
    }

    /// Writes a law on a state.
    pub(super) fn put(&mut self, state: usize, label: &str, law: &Law, at: Spot) -> Result<()> {
        match &self.states[state].kind {
            Kind::Joint { .. } | Kind::Coordinates { .. } => {
                self.put_on_joint(state, label, law, at);
                return Ok(());
            }
            Kind::Bodies { .. } | Kind::Frames(_) => return self.put_on_bodies(state, label, law, at),
            _ => {}
        }
        if self.count(state) == 0 {
            return Ok(());
        }
        let negative = matches!(self.states[state].kind, Kind::Lengths { negative: true, .. });
        let on = self.node(state);
        let name = self.unused(&format!("{on}/{label}"));
        let head = format!("(name: {}, on: {}", text(&name), text(&on));
        match law {
            Law::Spring(spring, row) => self.put_spring(state, &head, spring, row, negative, at),
            Law::Damper(list) => {
                if list.iter().any(|d| *d != list[0]) {
                    self.tree
                        .remark(at, "damping that differs by coordinate is not taken here");
                    return Ok(());
                }
                self.parts
                    .forces
                    .push(format!("{head}, law: Damping(linear: {})),", number(list[0])));
            }
            Law::Curve(_) if negative => self.tree.remark(at, "a curve of an inverted length is not taken"),
            Law::Curve(curve) => self
                .parts
                .forces
                .push(format!("{head}, law: Spring(curve: {curve})),")),
        }
        Ok(())
    }

    /// Damping of bodies; they have no springs of their own.
    fn put_on_bodies(&mut self, state: usize, label: &str, law: &Law, at: Spot) -> Result<()> {
        let Law::Damper(list) = law else {
            self.tree.remark(
                at,
                format!("`{label}` on bodies is not taken: there it is on joints and points"),
            );
            return Ok(());
        };
        let on = self.node(state);
        let name = self.unused(&format!("{on}/{label}"));
        let angular = list.get(3).copied().unwrap_or(list[0]);
        let linear = number(list[0]);
        let law = format!("Damping(linear: {linear}, angular: {})", number(angular));
        self.parts
            .forces
            .push(format!("(name: {}, on: {}, law: {law}),", text(&name), text(&on)));
        Ok(())
    }

    fn put_spring(
        &mut self,
        state: usize,
        head: &str,
        spring: &Spring,
        row: &Holding,
        negative: bool,
        at: Spot,
    ) {
        let dimension = if self.is_points(state) || matches!(self.states[state].kind, Kind::Differences(_)) {
            3
        } else {
            1
        };
        let rows = self.count(state) * dimension;
        let all = match &spring.compliances[..] {
            [one] => vec![*one],
            several => repeated(several, rows, 0.0),
        };
        let hard = |c: f64| c == 0.0 || (spring.stiffness && c <= LEAST_COMPLIANCE);
        let bounds = bounds(row, negative);
        if all.iter().all(|c| hard(*c)) {
            if spring.stiffness {
                self.tree.remark(
                    at,
                    "a stiffness from a compliance of zero is 4.5e15 N/m in SOFA: it is hard here",
                );
            }
            self.put_hard(rows, head, row, negative, &bounds);
            return;
        }
        let one_sided = !bounds.is_empty();
        let uniform = all.iter().all(|c| *c == all[0]);
        let law = match (uniform, spring.stiffness && !one_sided) {
            (true, true) => format!("Stiffness({}), treatment: Stiffness", number(1.0 / all[0])),
            (true, false) => format!("Compliance({})", number(all[0])),
            (false, stiff) => {
                let treatment = match stiff && all.iter().all(|c| !hard(*c)) {
                    true => ", treatment: Stiffness",
                    false => "",
                };
                format!("Diagonal({}){treatment}", numbers(&all))
            }
        };
        self.parts.forces.push(format!("{head}, law: {law}{bounds}),"));
    }

    fn put_hard(&mut self, rows: usize, head: &str, row: &Holding, negative: bool, bounds: &str) {
        let mut entry = format!("{head}{bounds}");
        if let Some(level) = &row.level {
            let _ = write!(entry, ", level: {level}");
        }
        if let Some(velocities) = &row.velocities {
            let sign = if negative { -1.0 } else { 1.0 };
            let motion = |v: &f64| format!("\"{} * $t\"", number(sign * v));
            let all = repeated(velocities, rows, 0.0);
            let motion = match all.iter().all(|v| *v == 0.0) {
                true => String::new(),
                false => format!(
                    ", motion: {}",
                    brackets(&all.iter().map(motion).collect::<Vec<_>>())
                ),
            };
            let _ = write!(entry, ", level: Velocity(){motion}");
        }
        self.parts.constraints.push(format!("{entry}),"));
    }

    /// The name of a state, whose node is written if it is not yet.
    pub(super) fn node(&mut self, state: usize) -> String {
        if !self.states[state].written {
            self.states[state].written = true;
            if let Some((parents, mapping)) = self.mapping_text(state) {
                let name = text(&self.states[state].name);
                let entry = format!("Mapped(name: {name}, parents: {parents}, mapping: {mapping}),");
                self.parts.nodes.push(entry);
            }
        }
        self.states[state].name.clone()
    }

    /// The parents of a mapped state and its mapping, as text. What it maps is written before.
    fn mapping_text(&mut self, state: usize) -> Option<(String, String)> {
        match self.states[state].kind.clone() {
            Kind::Frames(list) => {
                let parents = self.parents(list.iter().filter_map(|p| p.body).map(|b| b.0));
                let frames: Vec<String> = list.iter().map(|p| self.frame_text(p, &parents)).collect();
                Some((
                    names_of(&parents),
                    format!("RigidFrames(frames: {})", brackets(&frames)),
                ))
            }
            Kind::Carried(list) => {
                let parents = self.parents(list.iter().filter_map(|p| p.body).map(|b| b.0));
                let points = list.iter().filter_map(|p| Some((p.body?, p.frame.position)));
                let points: Vec<String> = points
                    .map(|(body, at)| format!("({}, {})", self.element(body, &parents), point(at)))
                    .collect();
                Some((
                    names_of(&parents),
                    format!("RigidPoints(points: {})", brackets(&points)),
                ))
            }
            Kind::Subset(list) => {
                let parents = self.parents(list.iter().map(|e| e.0));
                let elements: Vec<String> = list.iter().map(|e| self.element(*e, &parents)).collect();
                Some((
                    names_of(&parents),
                    format!("Subset(elements: {})", brackets(&elements)),
                ))
            }
            Kind::InCells {
                state: parent,
                cells,
                points,
            } => {
                let parents = self.parents([parent].into_iter());
                let cells: Vec<String> = cells.iter().map(|c| super::parts::counts(c)).collect();
                let points: Vec<String> = points.iter().map(|p| point(*p)).collect();
                let (cells, points) = (brackets(&cells), brackets(&points));
                let mapping = format!("Barycentric(cells: {cells}, points: {points}, outside: Extrapolate)");
                Some((names_of(&parents), mapping))
            }
            Kind::Differences(pairs) => self.pairs_text("Difference", &pairs, String::new()),
            Kind::Lengths { pairs, rest, .. } => {
                let start: Vec<f64> = pairs
                    .iter()
                    .map(|(a, b)| (self.start_end(*b) - self.start_end(*a)).norm())
                    .collect();
                // Without them, rest lengths are those at the start.
                let rest = match start == rest {
                    true => String::new(),
                    false => format!("rest: {}", each(&rest)),
                };
                self.pairs_text("Distance", &pairs, rest)
            }
            Kind::Projections(rows) => self.rows_text(&rows),
            _ => None,
        }
    }

    fn rows_text(&mut self, rows: &[Row]) -> Option<(String, String)> {
        let parents = self.parents(rows.iter().map(|r| r.state));
        let axis = |r: &Row| (0..3).find(|a| r.direction == super::mappings::unit(*a) && r.offset == 0.0);
        if let Some(axes) = rows.iter().map(axis).collect::<Option<Vec<_>>>()
            && parents.len() == 1
        {
            let list: Vec<String> = rows
                .iter()
                .zip(axes)
                .map(|(r, a)| format!("({}, {a})", r.element))
                .collect();
            return Some((
                names_of(&parents),
                format!("Mask(coordinates: {})", brackets(&list)),
            ));
        }
        let one = |r: &Row| {
            format!(
                "({}, {})",
                self.element((r.state, r.element), &parents),
                point(r.direction)
            )
        };
        let list: Vec<String> = rows.iter().map(one).collect();
        let offsets: Vec<f64> = rows.iter().map(|r| r.offset).collect();
        let offsets = match offsets.iter().all(|o| *o == 0.0) {
            true => String::new(),
            false => format!(", offset: {}", each(&offsets)),
        };
        Some((
            names_of(&parents),
            format!("Projection(points: {}{offsets})", brackets(&list)),
        ))
    }

    fn pairs_text(&mut self, mapping: &str, pairs: &[(End, End)], rest: String) -> Option<(String, String)> {
        let ends = pairs.iter().flat_map(|(a, b)| [*a, *b]);
        let states = ends.filter_map(|e| match e {
            End::Element(state, _) => Some(state),
            End::Fixed(_) => None,
        });
        let parents = self.parents(states);
        let (first, _) = parents.first()?.clone();
        let in_order = |(i, (a, b)): (usize, &(End, End))| matches!((a, b), (End::Element(s, x), End::Element(t, y)) if *s == first && *t == first && *x == i && *y == i + 1);
        let whole = pairs.len() + 1 == self.count(first) && pairs.iter().enumerate().all(in_order);
        let mut keys = Vec::new();
        if !whole {
            let end = |e: &End| match e {
                End::Element(state, element) => self.element((*state, *element), &parents),
                End::Fixed(p) => point(*p),
            };
            let list: Vec<String> = pairs
                .iter()
                .map(|(a, b)| format!("({}, {})", end(a), end(b)))
                .collect();
            keys.push(format!("pairs: {}", brackets(&list)));
        }
        keys.extend(Some(rest).filter(|r| !r.is_empty()));
        Some((names_of(&parents), format!("{mapping}({})", keys.join(", "))))
    }

    /// States, each once, with the names of their nodes, which are written.
    pub(super) fn parents(&mut self, states: impl Iterator<Item = usize>) -> Vec<(usize, String)> {
        let mut out: Vec<(usize, String)> = Vec::new();
        for state in states.collect::<Vec<_>>() {
            if out.iter().all(|(known, _)| *known != state) {
                let name = self.node(state);
                out.push((state, name));
            }
        }
        out
    }

    /// An element of one of the parents.
    fn element(&self, (state, element): (usize, usize), parents: &[(usize, String)]) -> String {
        match parents.iter().position(|(known, _)| *known == state) {
            Some(0) | None => element.to_string(),
            Some(index) => format!("({}, {element})", text(&parents[index].1)),
        }
    }

    fn frame_text(&self, placed: &Placed, parents: &[(usize, String)]) -> String {
        let body = placed.body.map(|b| format!("body: {}", self.element(b, parents)));
        let frame = format!(
            "{}{}",
            place("position", placed.frame.position),
            rotation(placed.frame.rotation)
        );
        format!(
            "({})",
            format!("{}{frame}", body.unwrap_or_default()).trim_start_matches(", ")
        )
    }
}

fn names_of(parents: &[(usize, String)]) -> String {
    names(parents.iter().map(|(_, name)| name.as_str()))
}

/// The key of bounds of a force, with a comma ahead.
fn bounds(row: &Holding, negative: bool) -> String {
    if let Some(force) = row.force {
        return format!(", bounds: (lower: {}, upper: {})", number(-force), number(force));
    }
    match (row.pushes || row.pulls, row.pushes != negative) {
        (false, _) => String::new(),
        (true, true) => ", bounds: (lower: 0)".to_owned(),
        (true, false) => ", bounds: (upper: 0)".to_owned(),
    }
}
