//! Contacts: the lines of their table, and the numbers of a whole run.

use super::summary::{Residuals, Summary};
use pliant::collision::{ContactArea, Placement, World};
use pliant::contact::{ContactFinder, ContactState, ContactsReport, FrictionCoupling};
use pliant::model::NodeId;
use pliant::{Error, Simulation};
use pliant_output::recording::{ContactLine, ContactPhase, ContactTable, Frame};
use pliant_scene::Picture;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Lines of the table: 200 MB.
const MOST_LINES: usize = 1_000_000;

/// Counts, forces and energies of the contacts of a whole run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ContactSummary {
    /// Most contacts in a step, those that are only near included.
    pub most: usize,
    /// Most contacts with a force in a step.
    pub most_active: usize,
    /// Most of these that slipped.
    pub most_slipping: usize,
    /// Most islands: groups of nodes that contacts and constraints connect.
    pub most_islands: usize,
    /// The law of friction that was solved, but for the steps by `friction_fallback`.
    pub friction_coupling: FrictionCoupling,
    /// Residual of that law over the steps, relative.
    pub residual: Residuals,
    /// De Saxcé's residual of the steps, relative.
    pub de_saxce: Residuals,
    /// Largest overlap at the end of the steps (m).
    pub overlap: Residuals,
    /// Iterations, all together.
    pub iterations: usize,
    /// Steps that were taken in halves because their contacts did not converge, halves of halves
    /// counted too.
    pub halvings: usize,
    /// Impacts that steps were parted at, all together.
    pub located: usize,
    /// Rests of such steps that were taken with the impacts in them, all together.
    pub passed: usize,
    /// Steps by `friction_fallback`, all together.
    pub fallbacks: usize,
    /// Contacts that were missed, with which steps were taken again, all together.
    pub missed: usize,
    /// Corrections of positions, all together.
    pub corrections: usize,
    /// Most elements that slept at once.
    pub most_asleep: usize,
    /// Elements that sleep at the end.
    pub asleep: usize,
    /// Kinetic energy that falling asleep took, all together (J).
    pub stilled: f64,
    /// Work of all contact forces (J).
    pub work: f64,
    /// Least share of the coefficients of restitution that a step used.
    pub least_restitution: f64,
    /// Potential energy that corrections of overlap brought in, all together (J).
    pub lifted: f64,
    /// The part of it that was taken from motion (J).
    pub paid: f64,
    /// The most that a correction would have brought in beyond what motion could pay and its step
    /// lost (J): it went less far instead.
    pub held_back: f64,
    /// Corrections of overlap without a solution, all together: hard rows do not let the bodies
    /// apart, and the overlap stays.
    pub unsolved: usize,
    /// The contact that missed most in the first of these, by the names of its sides.
    pub unsolved_by: Option<[String; 2]>,
    /// Forces by node that collides, of each element: the sum of its contact forces over the last
    /// step (N), then for bodies their torque about the centre of mass (N m), in world axes.
    pub forces: BTreeMap<String, Vec<Vec<f64>>>,
    /// Contacts that `contacts.csv` leaves out.
    pub lines_left_out: usize,
}

/// Soft surfaces of triangles, whose contact pressure is in pictures.
#[derive(Debug)]
pub(super) struct Pressures(Vec<(u32, NodeId, ContactArea)>);

impl Pressures {
    /// The surfaces of a world that a simulation was given.
    ///
    /// # Errors
    /// Errors of the simulation.
    pub(super) fn new(simulation: &Simulation, world: Option<&World>) -> Result<Self, Error> {
        let mut surfaces = Vec::new();
        for (side, collider) in (0..).zip(world.map_or(&[][..], World::colliders)) {
            if let Placement::Points(node) = collider.placement
                && let Some(area) = simulation.contact_area(side)?
            {
                surfaces.push((side, node, area));
            }
        }
        Ok(Self(surfaces))
    }

    /// Puts the pressures of the last step into a picture; nothing without surfaces.
    pub(super) fn add_to(&self, picture: &Picture, simulation: &Simulation, frame: &mut Frame) {
        let mut own = Vec::new();
        for (side, node, area) in &self.0 {
            frame.pressures.resize(frame.points.len(), 0.0);
            let Some(start) = picture.first_point(simulation.model(), *node) else {
                continue;
            };
            simulation.contact_pressure_on(*side, area, &mut own);
            for (all, one) in frame.pressures[start..].iter_mut().zip(&own) {
                *all += one;
            }
        }
    }
}

impl ContactSummary {
    pub(super) fn new(friction_coupling: FrictionCoupling) -> Self {
        Self {
            friction_coupling,
            least_restitution: 1.0,
            ..Self::default()
        }
    }

    pub(super) fn add(&mut self, report: &ContactsReport) {
        self.most = self.most.max(report.count);
        self.most_active = self.most_active.max(report.active);
        self.most_slipping = self.most_slipping.max(report.slipping);
        self.most_islands = self.most_islands.max(report.solve.islands);
        self.residual.add(report.residual);
        self.de_saxce.add(report.de_saxce);
        self.overlap.add(report.overlap);
        self.iterations += report.solve.iterations;
        self.halvings += report.solve.halvings;
        self.located += report.solve.located;
        self.passed += report.solve.passed;
        self.fallbacks += report.solve.fallbacks;
        self.missed += report.missed;
        self.corrections += report.corrections.count;
        self.most_asleep = self.most_asleep.max(report.sleep.asleep);
        self.asleep = report.sleep.asleep;
        self.stilled += report.sleep.stilled;
        self.work += report.work;
        self.least_restitution = self.least_restitution.min(report.restitution);
        self.lifted += report.corrections.lifted;
        self.paid += report.corrections.paid;
        self.held_back = self.held_back.max(report.corrections.held_back);
        self.unsolved += report.corrections.unsolved;
    }
}

impl Summary {
    /// Keeps the names of the sides whose overlap a correction could not take back first.
    pub(super) fn name_unsolved(&mut self, simulation: &Simulation, report: &ContactsReport) {
        if let (Some(contacts), Some(sides)) = (&mut self.contacts, report.corrections.unsolved_by) {
            let names = || sides.map(|side| simulation.contact_side(side));
            contacts.unsolved_by.get_or_insert_with(names);
        }
    }

    pub(super) fn finish_contacts(
        &mut self,
        simulation: &Simulation,
        nodes: &[NodeId],
        table: &ContactTable,
    ) {
        let Some(contacts) = &mut self.contacts else {
            return;
        };
        // As many as a full table leaves out, also where it was not filled.
        contacts.lines_left_out = (table.lines.len() + table.left_out).saturating_sub(MOST_LINES);
        let model = simulation.model();
        for node in nodes {
            let entry = model.node(*node);
            let sums = (0..entry.count).map(|element| {
                let (force, torque) = simulation.contact_force(*node, element);
                let torque = if entry.space.velocity_size() == 6 {
                    &torque[..]
                } else {
                    &[]
                };
                force.iter().chain(torque).copied().collect()
            });
            contacts.forces.insert(entry.name.clone(), sums.collect());
        }
    }
}

/// Names of all colliders.
pub(super) fn names(world: Option<&World>) -> Vec<String> {
    let colliders = world.map_or(&[][..], World::colliders);
    colliders.iter().map(|c| c.name.clone()).collect()
}

/// Nodes that collide, once each.
pub(super) fn nodes(world: Option<&World>) -> Vec<NodeId> {
    let mut nodes = world.map_or_else(Vec::new, ContactFinder::nodes);
    nodes.sort_unstable();
    nodes.dedup();
    nodes
}

/// Keeps the contacts of the last step or equilibrium, with a time, or only counts them.
pub(super) fn record(table: &mut ContactTable, keeps: bool, simulation: &Simulation, time: f64) {
    let h = simulation.contact_step();
    for reading in simulation.contacts() {
        if !keeps || table.lines.len() >= MOST_LINES {
            table.left_out += 1;
            continue;
        }
        let contact = &reading.contact;
        table.lines.push(ContactLine {
            time,
            sides: contact.sides,
            point: contact.point,
            normal: contact.normal,
            gap: contact.gap,
            force: reading.impulse.map(|x| x / h),
            torque: reading.torque_impulse.map(|x| x / h),
            velocity: reading.velocity,
            state: match reading.state {
                ContactState::Open => ContactPhase::Open,
                ContactState::Sticking => ContactPhase::Sticking,
                ContactState::Slipping => ContactPhase::Slipping,
            },
        });
    }
}
