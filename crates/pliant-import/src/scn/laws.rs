//! Laws of the Compliant plugin: compliances, what bounds their forces, dampers; and the mapped
//! nodes that they are on.

use super::graph::{kind, spot};
use super::joints::Joints;
use super::nodes::Nodes;
use super::parts::{brackets, numbers};
use super::states::{Kind, repeated};
use super::{Input, Result};
use crate::numbers::{number, text};
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

/// Writer of laws of the Compliant plugin.
pub(super) struct Laws<'r, 'a>(pub(super) &'r mut Input<'a>);

impl Laws<'_, '_> {
    /// The laws of a node, on its state.
    pub(super) fn laws(&mut self, node: usize) -> Result<()> {
        let all = self.0.components(node, LAWS);
        let values = self.0.components(node, VALUES);
        if all.is_empty() {
            return Ok(());
        }
        let row = self.row(&values)?;
        let state = self.0.state_above(node)?;
        for component in all {
            let name = kind(self.0.tree, component);
            self.0.taken.insert(component);
            let Some(state) = state else {
                let message = format!("`{name}` has no state: it is not taken");
                self.0.tree.remark(spot(self.0.tree, component), message);
                continue;
            };
            if matches!(self.0.states[state].kind, Kind::Missing) {
                continue;
            }
            let label = self.0.tree.value(component, "name").map(str::to_owned);
            let label = label.unwrap_or_else(|| name.clone());
            for law in self.law(component, &name, &row)? {
                self.put(state, &label, &law, spot(self.0.tree, component))?;
            }
        }
        Ok(())
    }

    /// Kind of rows of a compliance, by the components beside it.
    fn row(&mut self, values: &[usize]) -> Result<Holding> {
        let mut row = Holding::default();
        for component in values.iter().copied() {
            self.0.take(
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
            match kind(self.0.tree, component).as_str() {
                "UnilateralConstraint" => row.pushes = true,
                "NegativeUnilateralConstraint" => row.pulls = true,
                "HolonomicConstraintValue" => row.level = Some("Velocity()".to_owned()),
                "BaumgarteStabilization" => {
                    let share = self.0.tree.not_negative(component, "alpha")?.unwrap_or(1.0);
                    if share > 0.0 {
                        row.level = Some(format!("Baumgarte(rate: {})", number(share / self.0.step)));
                    }
                }
                "VelocityConstraintValue" => {
                    row.velocities = Some(self.0.numbers(component, "velocities")?.unwrap_or_default());
                }
                "ResistanceConstraint" => {
                    // The threshold is that of the impulse of a step.
                    let impulse = self.0.tree.not_negative(component, "threshold")?.unwrap_or(0.0);
                    row.force = Some(impulse / self.0.step);
                }
                "Restitution" => {
                    let message = "`Restitution` of a limit is not taken: it stops without bouncing";
                    self.0.tree.remark(spot(self.0.tree, component), message);
                }
                "OffsettedConstraintValue" => {
                    let message = "`OffsettedConstraintValue` is not taken";
                    self.0.tree.remark(spot(self.0.tree, component), message);
                }
                _ => {}
            }
        }
        Ok(row)
    }

    /// Laws of a component: a spring, a damper, or both.
    fn law(&mut self, component: usize, name: &str, row: &Holding) -> Result<Vec<Law>> {
        self.0.known(
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
        let values = self.0.numbers(component, "compliance")?.unwrap_or_default();
        if let Some(negative) = values.iter().find(|c| **c < 0.0) {
            let at = self
                .0
                .tree
                .attribute(component, "compliance")
                .map_or(spot(self.0.tree, component), |a| a.spot);
            return self.0.tree.wrong(
                at,
                format!("`compliance` is {negative}, which is below zero"),
                None,
            );
        }
        let stiffness = !self.0.truth(component, "isCompliance", true);
        let damping = self.0.numbers(component, "damping")?.unwrap_or_default();
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
                let k = self.0.tree.not_negative(component, "stiffness")?.unwrap_or(0.0);
                if k > 0.0 {
                    out.push(Law::Curve(format!("CompressionOnly({})", number(k))));
                }
            }
            _ => {
                let given = self.0.numbers(component, "dampingCoefficient")?;
                let given = given.or(self.0.numbers(component, "dampingCoefficients")?);
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
        let given = self.0.numbers(component, "stiffness")?.unwrap_or_default();
        let compliances = given.iter().map(|k| 1.0 / k);
        let compliances: Vec<f64> = compliances.filter(|c| c.is_finite() && *c > 0.0).collect();
        if compliances.len() != given.len() || given.is_empty() {
            let message = format!("stiffnesses of `{name}` that are not above zero are not taken");
            self.0.tree.remark(spot(self.0.tree, component), message);
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
        let least = self
            .0
            .tree
            .not_negative(component, "complianceMin")?
            .unwrap_or(0.0);
        let error = self.0.tree.not_negative(component, "errorMin")?.unwrap_or(0.0);
        if least == 0.0 || error == 0.0 {
            let message =
                "`LinearDiagonalCompliance` without `complianceMin` and `errorMin` above zero is not taken";
            self.0.tree.remark(spot(self.0.tree, component), message);
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
        match &self.0.states[state].kind {
            Kind::Joint { .. } | Kind::Coordinates { .. } => {
                Joints(self.0).put_on_joint(state, label, law, at);
                return Ok(());
            }
            Kind::Bodies { .. } | Kind::Frames(_) => return self.put_on_bodies(state, label, law, at),
            _ => {}
        }
        if self.0.count(state) == 0 {
            return Ok(());
        }
        let negative = matches!(self.0.states[state].kind, Kind::Lengths { negative: true, .. });
        let on = Nodes(self.0).node(state);
        let name = self.0.unused(&format!("{on}/{label}"));
        let head = format!("(name: {}, on: {}", text(&name), text(&on));
        match law {
            Law::Spring(spring, row) => self.put_spring(state, &head, spring, row, negative, at),
            Law::Damper(list) => {
                if list.iter().any(|d| *d != list[0]) {
                    self.0
                        .tree
                        .remark(at, "damping that differs by coordinate is not taken here");
                    return Ok(());
                }
                self.0
                    .parts
                    .forces
                    .push(format!("{head}, law: Damping(linear: {})),", number(list[0])));
            }
            Law::Curve(_) if negative => self
                .0
                .tree
                .remark(at, "a curve of an inverted length is not taken"),
            Law::Curve(curve) => self
                .0
                .parts
                .forces
                .push(format!("{head}, law: Spring(curve: {curve})),")),
        }
        Ok(())
    }

    /// Damping of bodies; they have no springs of their own.
    fn put_on_bodies(&mut self, state: usize, label: &str, law: &Law, at: Spot) -> Result<()> {
        let Law::Damper(list) = law else {
            self.0.tree.remark(
                at,
                format!("`{label}` on bodies is not taken: there it is on joints and points"),
            );
            return Ok(());
        };
        let on = Nodes(self.0).node(state);
        let name = self.0.unused(&format!("{on}/{label}"));
        let angular = list.get(3).copied().unwrap_or(list[0]);
        let linear = number(list[0]);
        let law = format!("Damping(linear: {linear}, angular: {})", number(angular));
        self.0
            .parts
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
        let dimension =
            if self.0.is_points(state) || matches!(self.0.states[state].kind, Kind::Differences(_)) {
                3
            } else {
                1
            };
        let rows = self.0.count(state) * dimension;
        let all = match &spring.compliances[..] {
            [one] => vec![*one],
            several => repeated(several, rows, 0.0),
        };
        let hard = |c: f64| c == 0.0 || (spring.stiffness && c <= LEAST_COMPLIANCE);
        let bounds = bounds(row, negative);
        if all.iter().all(|c| hard(*c)) {
            if spring.stiffness {
                self.0.tree.remark(
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
        self.0.parts.forces.push(format!("{head}, law: {law}{bounds}),"));
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
        self.0.parts.constraints.push(format!("{entry}),"));
    }
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
