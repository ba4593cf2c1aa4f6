//! Masses, force fields, constraints and fixed coordinates.

use super::values::{MOST_ELEMENTS, describe, owner};
use super::{Builder, Hold, Result};
use crate::scene::OneOrMany;
use crate::scene::schema::{
    Axis, ConstraintSpec, FixedSpec, ForceFieldSpec, Law, LevelSpec, MassSpec, Scene, TreatmentSpec,
};
use crate::scene::source::Where;
use pliant::model::{
    ConstantForce, Damping, DiagonalCompliance, Level, Mass, NodeId, Treatment, UniformCompliance,
};

impl Builder<'_> {
    pub(super) fn components(&mut self, scene: &Scene) -> Result<()> {
        scene.masses.iter().try_for_each(|spec| self.mass(spec))?;
        scene
            .force_fields
            .iter()
            .try_for_each(|spec| self.force_field(spec))?;
        scene
            .constraints
            .iter()
            .try_for_each(|spec| self.constraint(spec))
    }

    fn mass(&mut self, spec: &MassSpec) -> Result<()> {
        let node = self.node(&spec.on, &spec.name, "on")?;
        let at = Where::Field(&spec.name, "mass");
        let mass = match &spec.mass {
            OneOrMany::One(number) => Mass::Uniform(self.number(number, at)?),
            OneOrMany::Many(list) => Mass::PerElement(self.numbers(list, at)?),
        };
        self.add_mass(&spec.name, node, mass)
    }

    fn force_field(&mut self, spec: &ForceFieldSpec) -> Result<()> {
        let name = spec.name.as_str();
        let node = self.node(&spec.on, name, "on")?;
        let at = Where::Field(name, "law");
        let relaxation = self.number(&spec.relaxation_time, Where::Field(name, "relaxation_time"))?;
        let spring = matches!(
            spec.law,
            Law::Compliance(_) | Law::Stiffness(_) | Law::Diagonal(_)
        );
        if !spring && relaxation != 0.0 {
            let message = format!("`{name}` is no spring, so it has no relaxation time");
            return self.wrong(&[Where::Field(name, "relaxation_time")], message, None);
        }
        let treatment = match spec.treatment {
            Some(TreatmentSpec::Compliance) => Treatment::Compliance,
            Some(TreatmentSpec::Stiffness) => Treatment::Stiffness,
            None if spring => Treatment::Compliance,
            None => Treatment::Stiffness,
        };
        let added = match &spec.law {
            Law::Compliance(compliance) => {
                let law = UniformCompliance::new(self.number(compliance, at)?);
                self.model
                    .add_force_field(name, node, law.with_relaxation_time(relaxation), treatment)
            }
            Law::Stiffness(stiffness) => {
                let stiffness = self.positive(stiffness, at)?;
                let law = UniformCompliance::from_stiffness(stiffness);
                self.model
                    .add_force_field(name, node, law.with_relaxation_time(relaxation), treatment)
            }
            Law::Diagonal(list) => {
                let law = DiagonalCompliance::new(&self.numbers(list, at)?);
                self.model
                    .add_force_field(name, node, law.with_relaxation_time(relaxation), treatment)
            }
            Law::Damping(damping) => {
                let linear = self.number(&damping.linear, Where::Field(name, "linear"))?;
                let angular = self.number(&damping.angular, Where::Field(name, "angular"))?;
                self.model
                    .add_force_field(name, node, Damping::new(linear).with_angular(angular), treatment)
            }
            Law::Force(force) => {
                let law = ConstantForce::new(&self.numbers(force, at)?);
                self.model.add_force_field(name, node, law, treatment)
            }
        };
        let id = added.map_err(|e| self.model_error(e))?;
        if let Some(alpha) = &spec.alpha {
            let alpha = self.weight(alpha, Where::Field(name, "alpha"))?;
            self.options.own_alpha.push((id, alpha));
        }
        Ok(())
    }

    fn constraint(&mut self, spec: &ConstraintSpec) -> Result<()> {
        let name = spec.name.as_str();
        let node = self.node(&spec.on, name, "on")?;
        let at = Where::Field(name, "level");
        let level = match &spec.level {
            LevelSpec::Position => Level::Position,
            LevelSpec::CurvedPosition => Level::CurvedPosition,
            LevelSpec::Velocity(v) => Level::Velocity {
                curvature: self.number(&v.curvature, at)?,
            },
            LevelSpec::Baumgarte(b) => Level::Baumgarte {
                rate: self.number(&b.rate, at)?,
            },
        };
        self.model
            .add_constraint(name, node, level)
            .map_err(|e| self.model_error(e))?;
        Ok(())
    }

    pub(super) fn fixed(&mut self, scene: &Scene) -> Result<()> {
        scene.fixed.iter().try_for_each(|spec| self.hold(spec))
    }

    fn hold(&mut self, spec: &FixedSpec) -> Result<()> {
        // A hold has no name of its own; complaints look for the node's name where it is fixed.
        let name = spec.node.as_str();
        let places = [Where::Literal("", name), Where::Key("fixed")];
        let node = self.node(name, "", "fixed")?;
        let entry = self.model.node(node);
        let (count, size) = (entry.count, entry.space.velocity_size());
        if entry.first_dof().is_none() {
            let message = format!("`{name}` is computed from other nodes, so it cannot be fixed");
            return self.wrong(
                &places,
                message,
                Some("fix a node that it is computed from".into()),
            );
        }
        let at = Where::Key("fixed");
        let elements = match &spec.elements {
            None => (0..count).collect(),
            Some(list) => {
                let whole = |n| self.whole(n, 0, MOST_ELEMENTS, at);
                list.iter().map(whole).collect::<Result<Vec<_>>>()?
            }
        };
        if let Some(element) = elements.iter().find(|e| **e >= count) {
            let message =
                format!("there is no element {element} to fix: `{name}` has {count}, counted from zero");
            return self.wrong(&places, message, None);
        }
        let coordinates = match &spec.axes {
            None => vec![true; size],
            Some(axes) => self.mask(name, axes, size)?,
        };
        let mut velocity = match &spec.velocity {
            None => vec![0.0; size],
            Some(list) => self.numbers(list, at)?,
        };
        if size == 6 && velocity.len() == 3 {
            velocity.resize(6, 0.0);
        }
        if velocity.len() != size {
            let message = format!(
                "the velocity of `{name}` has {} numbers, needed are {size}",
                velocity.len()
            );
            return self.wrong(&places, message, None);
        }
        let time = |n: &Option<_>, default| match n {
            Some(n) => self.number(n, at),
            None => Ok(default),
        };
        let (from, until) = (time(&spec.from, 0.0)?, time(&spec.until, f64::INFINITY)?);
        if from < 0.0 || until <= from {
            let message = format!("`{name}` is fixed from {from} s until {until} s: no such time");
            return self.wrong(&[Where::Field(name, "until"), places[0], at], message, None);
        }
        self.holds.push(Hold {
            node,
            elements,
            coordinates,
            velocity,
            from,
            until,
        });
        Ok(())
    }

    /// Fixes elements for good.
    pub(super) fn fix_always(&mut self, node: NodeId, elements: Vec<usize>) {
        let size = self.model.node(node).space.velocity_size();
        let (coordinates, velocity) = (vec![true; size], vec![0.0; size]);
        self.holds.push(Hold {
            node,
            elements,
            coordinates,
            velocity,
            from: 0.0,
            until: f64::INFINITY,
        });
    }

    fn mask(&self, name: &str, axes: &[Axis], size: usize) -> Result<Vec<bool>> {
        let mut mask = vec![false; size];
        for axis in axes {
            let Some(entry) = mask.get_mut(axis.index()) else {
                let space = self
                    .model
                    .node_named(name)
                    .map(|n| self.model.node(n).space.to_string());
                let message = format!(
                    "`{name}` has no axis `{}`: its elements are {}",
                    axis.name(),
                    space.unwrap_or_default()
                );
                return self.wrong(&[Where::Key("fixed")], message, None);
            };
            *entry = true;
        }
        Ok(mask)
    }

    /// A number that is zero or more.
    pub(super) fn not_negative(&self, number: &crate::scene::Number, at: Where<'_>) -> Result<f64> {
        let value = self.number(number, at)?;
        if value >= 0.0 {
            return Ok(value);
        }
        self.wrong(
            &[at, owner(at)],
            format!("{} is {value}, but must be zero or more", describe(at)),
            None,
        )
    }
}
