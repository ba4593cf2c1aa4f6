//! Capabilities of each method: one table, and one function that asks it.

use crate::contact::{Impacts, Restitution};
use crate::system::System;
use crate::system::linear::{self, Demands};
use crate::{Error, Integrator, Options};
use pliant_model::{ComponentId, Level, Model, NodeId, NodeKind, Problem, RowGroup, RowLaw};

/// Which contacts a method takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContactCapability {
    /// None.
    None,
    /// Contacts with impacts at once by Newton's law of restitution.
    Simultaneous,
    /// All laws of impact.
    All,
}

/// Which hard rows a method takes: constraints and compliances of zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HardRowCapability {
    /// None: every row has a force by its law.
    None,
    /// Rows that hold positions.
    Positions,
    /// All.
    All,
}

/// Which components may have a weight `alpha` of their own ([`Options::own_alpha`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OwnWeightCapability {
    /// None.
    None,
    /// Force fields that are rows.
    Rows,
    /// All force fields.
    All,
}

/// Features of a method. The step, the runner of scenes and `pliant check` ask this table and no
/// other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capabilities {
    /// Contacts.
    pub contacts: ContactCapability,
    /// Rows of bounded force: motors, dry friction, limits, ropes.
    pub bounded_rows: bool,
    /// Hard rows: constraints and compliances of zero.
    pub hard_rows: HardRowCapability,
    /// Damping of force fields that are rows.
    pub row_damping: bool,
    /// Compliances that are hard in some direction of several coordinates.
    pub coupled_hard_rows: bool,
    /// Masses on nonlinear mappings.
    pub curved_masses: bool,
    /// Materials whose force depends on their past.
    pub memories: bool,
    /// Materials whose force bends within a step: plasticity.
    pub plasticity: bool,
    /// Sleeping islands ([`Sleeping`](crate::contact::Sleeping)).
    pub sleeping: bool,
    /// Corrections of positions ([`Stabilisation`](crate::Stabilisation)).
    pub stabilisation: bool,
    /// Weights `alpha` and `beta` of the end of the step ([`Options::alpha`]).
    pub weights: bool,
    /// Choices of the linearisation: of the geometric stiffness ([`Options::geometry`]) and of
    /// gyroscopic torques ([`Options::gyroscopic`]), which a nonlinear step has as they are.
    pub linearisation: bool,
    /// Components with a weight of their own.
    pub own_weights: OwnWeightCapability,
    /// Damping in proportion to the stiffness of the model.
    pub stiffness_damping: bool,
    /// Mappings that no mean of the Jacobians at both ends of a displacement follows exactly
    /// ([`Mapping::carries_chords`](pliant_model::Mapping::carries_chords)), under anything that
    /// acts.
    pub curved_mappings: bool,
}

impl Capabilities {
    /// Everything that can be modelled.
    pub const ALL: Self = Self {
        contacts: ContactCapability::All,
        bounded_rows: true,
        hard_rows: HardRowCapability::All,
        row_damping: true,
        coupled_hard_rows: true,
        curved_masses: true,
        memories: true,
        plasticity: true,
        sleeping: true,
        stabilisation: true,
        weights: true,
        linearisation: true,
        own_weights: OwnWeightCapability::All,
        stiffness_damping: true,
        curved_mappings: true,
    };

    /// Of the theta method: its linear equations have the tangent of the start, which is elastic
    /// also where a material is about to flow, and holds fast what should give way.
    pub const THETA: Self = Self {
        plasticity: false,
        ..Self::ALL
    };

    /// Of the nonlinear step by the weights `alpha` and `beta`.
    pub const NONLINEAR: Self = Self {
        contacts: ContactCapability::Simultaneous,
        stabilisation: false,
        linearisation: false,
        own_weights: OwnWeightCapability::Rows,
        ..Self::ALL
    };

    /// Of an [`ImplicitMethod`](crate::integrator::ImplicitMethod).
    pub const IMPLICIT: Self = Self {
        contacts: ContactCapability::None,
        sleeping: false,
        weights: false,
        own_weights: OwnWeightCapability::None,
        ..Self::NONLINEAR
    };

    /// Of SDIRK2.
    pub const SDIRK2: Self = Self {
        contacts: ContactCapability::All,
        weights: false,
        own_weights: OwnWeightCapability::None,
        ..Self::NONLINEAR
    };

    /// Capabilities of the energy-momentum method: its rows and springs do work exactly only where
    /// mappings carry chords, and mapped masses keep their energy only where their Jacobian is
    /// constant.
    pub const ENERGY_MOMENTUM: Self = Self {
        bounded_rows: false,
        hard_rows: HardRowCapability::Positions,
        coupled_hard_rows: false,
        curved_masses: false,
        memories: false,
        stiffness_damping: false,
        curved_mappings: false,
        ..Self::IMPLICIT
    };

    /// Of an [`ImplicitMethod`](crate::integrator::ImplicitMethod) that needs the acceleration of
    /// the start.
    pub const IMPLICIT_WITH_ACCELERATION: Self = Self {
        bounded_rows: false,
        coupled_hard_rows: false,
        ..Self::IMPLICIT
    };

    /// Of methods whose forces are those of known states: force by the law for every row, no
    /// damping that would have to be implicit.
    pub const EXPLICIT: Self = Self {
        bounded_rows: false,
        hard_rows: HardRowCapability::None,
        coupled_hard_rows: false,
        memories: false,
        own_weights: OwnWeightCapability::All,
        ..Self::IMPLICIT
    };

    /// Of RATTLE and its compositions.
    pub const RATTLE: Self = Self {
        hard_rows: HardRowCapability::Positions,
        row_damping: false,
        curved_masses: false,
        ..Self::EXPLICIT
    };
}

impl Integrator {
    /// Returns the features that the method supports.
    pub fn capabilities(&self) -> Capabilities {
        match self {
            Self::Theta => Capabilities::THETA,
            Self::Nonlinear => Capabilities::NONLINEAR,
            Self::Implicit(method) if method.needs_acceleration() => Capabilities::IMPLICIT_WITH_ACCELERATION,
            Self::Implicit(_) => Capabilities::IMPLICIT,
            Self::Sdirk2 => Capabilities::SDIRK2,
            Self::EnergyMomentum => Capabilities::ENERGY_MOMENTUM,
            Self::Rattle | Self::Rattle4 | Self::Rattle6 => Capabilities::RATTLE,
            Self::SymplecticEuler | Self::ForwardEuler | Self::RungeKutta2 | Self::RungeKutta4 => {
                Capabilities::EXPLICIT
            }
        }
    }
}

/// Refuses a model or options that a method of this name has no answer to.
///
/// # Errors
/// [`Error::Unsupported`] or [`Error::Memory`], which names the first feature that does not fit.
pub fn check(system: &System, options: &Options, takes: Capabilities, name: &str) -> Result<(), Error> {
    check_memories(&system.model, options, takes, name)?;
    if !options.linear.takes_everything() {
        linear::check(options, &demands(system))?;
    }
    let choice = unsupported_choice(options, takes).map(|(option, what)| (what.to_owned(), Some(option)));
    let first = choice.or_else(|| first_unsupported(system, options, takes).map(|what| (what, None)));
    first.map_or(Ok(()), |(what, option)| {
        Err(Error::Unsupported {
            integrator: name.to_owned(),
            what,
            option,
            instead: instead(system, options),
        })
    })
}

/// The method that takes the model and the options: the default, or else the theta method.
fn instead(system: &System, options: &Options) -> Option<Integrator> {
    [Integrator::Sdirk2, Integrator::Theta]
        .into_iter()
        .find(|method| {
            let takes = method.capabilities();
            check_memories(&system.model, options, takes, "").is_ok()
                && unsupported_choice(options, takes).is_none()
                && first_unsupported(system, options, takes).is_none()
        })
}

/// The features of a model that not every linear solver takes.
fn demands(system: &System) -> Demands<'_> {
    let model = &system.model;
    let groups = model.row_groups();
    let name_of = |g: &RowGroup| model.component_name(g.component);
    let is_hard = |g: &RowGroup| {
        !matches!(g.component, ComponentId::ForceField(_))
            || (0..g.size * g.count).any(|k| system.evaluation.is_hard(g, k))
    };
    Demands {
        contacts: system.contacts.is_some(),
        bounded: groups.iter().find(|g| model.bounds(g).is_some()).map(name_of),
        hard: groups.iter().find(|g| is_hard(g)).map(name_of),
    }
}

/// Materials with a past, which sleeping and damping in proportion to stiffness have no answer to
/// either.
fn check_memories(model: &Model, options: &Options, takes: Capabilities, name: &str) -> Result<(), Error> {
    let Some(mut material) = model.first_memory() else {
        return Ok(());
    };
    if let (true, false, Some(material)) = (takes.memories, takes.plasticity, model.first_yielding()) {
        return Err(Error::Yielding {
            name: material.to_owned(),
            integrator: name.to_owned(),
        });
    }
    let what = if !takes.memories {
        name
    } else if options.contacts.sleeping.is_some() {
        "sleeping"
    } else if model.rayleigh().stiffness > 0.0 {
        "damping in proportion to the stiffness of the model"
    } else if let Some(yields) = model.first_yielding()
        && (options.contacts.restitution == Restitution::Poisson
            || options.contacts.impacts == Impacts::InSequence)
    {
        // They are those of the linear step, which does not see what yields.
        material = yields;
        "a law of impacts that go before the step (in sequence, or Poisson's)"
    } else {
        return Ok(());
    };
    Err(Error::Memory {
        name: material.to_owned(),
        what: what.to_owned(),
    })
}

/// The first feature that does not fit, in words.
fn first_unsupported(system: &System, options: &Options, takes: Capabilities) -> Option<String> {
    if takes == Capabilities::ALL || takes == Capabilities::THETA {
        return None;
    }
    let (model, contacts) = (&system.model, &options.contacts);
    if system.contacts.is_some() {
        match takes.contacts {
            ContactCapability::None => return Some("contacts".to_owned()),
            ContactCapability::Simultaneous if contacts.restitution == Restitution::Poisson => {
                return Some("Poisson's law of impacts".to_owned());
            }
            ContactCapability::Simultaneous if contacts.impacts == Impacts::InSequence => {
                return Some("impacts in sequence".to_owned());
            }
            _ => {}
        }
    }
    if contacts.sleeping.is_some() && !takes.sleeping {
        return Some("sleeping".to_owned());
    }
    unsupported_weight(model, options, takes.own_weights)
        .or_else(|| unsupported_bounds(model, takes))
        .or_else(|| {
            model
                .row_groups()
                .iter()
                .find_map(|g| unsupported_rows(system, g, takes))
        })
        .or_else(|| unsupported_mass(model, takes))
        .or_else(|| unsupported_damping(model, takes))
        .or_else(|| unsupported_mapping(model, takes))
}

/// The first option that the method would pass over: its field, and what it is in words.
fn unsupported_choice(options: &Options, takes: Capabilities) -> Option<(&'static str, &'static str)> {
    let standard = Options::default();
    let corrections = [
        ("pre_stabilisation", options.pre_stabilisation),
        ("post_stabilisation", options.post_stabilisation),
    ];
    if let Some((field, _)) = corrections.iter().find(|c| c.1.is_some())
        && !takes.stabilisation
    {
        let what = "stabilisation (its rows hold positions at the end of the step)";
        return Some((*field, what));
    }
    let weights = [("alpha", options.alpha), ("beta", options.beta)];
    if let Some((field, _)) = weights.iter().find(|w| w.1 != 1.0)
        && !takes.weights
    {
        return Some((*field, "the weights `alpha` and `beta`"));
    }
    if takes.linearisation {
        return None;
    }
    if options.geometry != standard.geometry {
        return Some((
            "geometry",
            "a choice of the geometric stiffness (it takes all of it)",
        ));
    }
    let what = "a treatment of spinning bodies (it solves for their torques)";
    (options.gyroscopic != standard.gyroscopic).then_some(("gyroscopic", what))
}

fn unsupported_weight(model: &Problem, options: &Options, takes: OwnWeightCapability) -> Option<String> {
    let is_row = |c: &ComponentId| model.row_groups().iter().any(|g| g.component == *c);
    let mut own = options.own_alpha.iter().map(|(component, _)| component);
    let name = |c: &ComponentId| model.component_name(*c).to_owned();
    match takes {
        OwnWeightCapability::All => None,
        OwnWeightCapability::None => own
            .next()
            .map(|c| format!("an alpha of its own of `{}`", name(c))),
        OwnWeightCapability::Rows => own
            .find(|c| !is_row(c))
            .map(|c| format!("an alpha of its own of `{}`, which is a stiffness", name(c))),
    }
}

fn unsupported_bounds(model: &Problem, takes: Capabilities) -> Option<String> {
    if takes.bounded_rows {
        return None;
    }
    let group = model.row_groups().iter().find(|g| model.bounds(g).is_some())?;
    let name = model.component_name(group.component);
    Some(format!("the bounded forces of `{name}`"))
}

fn unsupported_rows(system: &System, group: &RowGroup, takes: Capabilities) -> Option<String> {
    let (model, evaluation) = (&system.model, &system.evaluation);
    let name = model.component_name(group.component);
    match group.component {
        ComponentId::Constraint(i) => {
            let level = model.constraints()[i].component.level;
            match takes.hard_rows {
                HardRowCapability::All => None,
                HardRowCapability::None => Some(format!("the hard rows of `{name}`")),
                HardRowCapability::Positions if matches!(level, Level::Position | Level::CurvedPosition) => {
                    None
                }
                HardRowCapability::Positions => {
                    Some(format!("`{name}`, which is not held at the level of positions"))
                }
            }
        }
        ComponentId::ForceField(i) => {
            let law = &model.force_fields()[i].component.law;
            let damped = law.row_law() == RowLaw::Viscous || evaluation.row_damping(i).is_some();
            (0..group.size * group.count).find_map(|k| {
                let hard = evaluation.is_hard(group, k);
                if hard && takes.hard_rows == HardRowCapability::None {
                    Some(format!("the hard rows of `{name}`"))
                } else if !takes.row_damping && (damped || model.relaxation_time(i, k) > 0.0) {
                    Some(format!(
                        "the damping of `{name}`, unless it is treated as a stiffness"
                    ))
                } else if !takes.coupled_hard_rows && !hard && system.rows.undetermined[group.first_row + k] {
                    Some(format!("`{name}`, whose coupled rows are hard in part"))
                } else {
                    None
                }
            })
        }
        ComponentId::Mass(_) => None,
    }
}

fn unsupported_mass(model: &Model, takes: Capabilities) -> Option<String> {
    if takes.curved_masses {
        return None;
    }
    let mass = model.masses().iter().find(|m| is_curved(model, m.node))?;
    Some(format!("the mass `{}` on a nonlinear mapping", mass.name))
}

fn unsupported_damping(model: &Problem, takes: Capabilities) -> Option<String> {
    let refused = !takes.stiffness_damping && model.rayleigh().stiffness > 0.0;
    refused.then(|| "damping in proportion to the stiffness (an indefinite one would gain energy)".to_owned())
}

/// The first mapped node that something acts on and that does not carry chords, or hangs on one.
fn unsupported_mapping(model: &Problem, takes: Capabilities) -> Option<String> {
    if takes.curved_mappings {
        return None;
    }
    let masses = model.masses().iter().map(|a| a.node);
    let fields = model.force_fields().iter().map(|a| a.node);
    let constraints = model.constraints().iter().map(|a| a.node);
    let acted = masses.chain(fields).chain(constraints);
    let curved = acted.filter_map(|node| curved_mapping(model, node)).next()?;
    Some(format!(
        "the mapping of `{curved}` (it has no mean Jacobian by which forces do exactly the work of its \
         displacement; distances, dot products, points on bodies and strains of Green and Lagrange have)"
    ))
}

/// The name of a mapped node, this one or above it, that does not carry chords.
fn curved_mapping(model: &Model, node: NodeId) -> Option<&str> {
    let node = model.node(node);
    match &node.kind {
        NodeKind::Mapped { mapping, parents, .. } => {
            if !mapping.carries_chords() {
                return Some(&node.name);
            }
            parents.iter().find_map(|p| curved_mapping(model, *p))
        }
        NodeKind::Independent { .. } => None,
    }
}

/// Whether a mapping above a node is nonlinear.
fn is_curved(model: &Model, node: NodeId) -> bool {
    match &model.node(node).kind {
        NodeKind::Mapped { mapping, parents, .. } => {
            !mapping.is_linear() || parents.iter().any(|p| is_curved(model, *p))
        }
        NodeKind::Independent { .. } => false,
    }
}
