//! Contacts of a stage of SDIRK2: laws of the gap at the start of a step and of its change by the first
//! stage ([`StageContact`]).

use super::kinematics::{ContactKinematics, frame};
use super::law::NormalFactors;
use super::{Contacts, LinearisedContact, StartDirection};
use crate::GradientError;
use crate::taken::{ContactBranch, ContactNumbers, ContactSample, PlacedContact, StageContact};
use pliant_dense::Vec3;
use pliant_model::{Model, State};

/// How the normal velocity of a contact is found: the velocities of all nodes, and how these change.
#[derive(Clone, Copy)]
pub(crate) struct NormalVelocity<'a> {
    pub(crate) velocities: &'a [f64],
    pub(crate) changes: &'a [f64],
}

/// How a contact moves with a parameter, and the coordinates at which it is.
#[derive(Clone, Copy)]
pub(crate) struct MovingContact<'a> {
    pub(crate) moves: &'a ContactSample,
    pub(crate) state: &'a State,
}

impl LinearisedContact {
    /// Takes the law of a stage of the length `w` (s).
    fn take_stage(&mut self, stage: &StageContact, w: f64) {
        let gap = self.gap;
        self.moved_share = match stage.closing {
            Some(_) if gap > 0.0 && stage.moved <= 0.0 => 0.0,
            Some(time) if gap > 0.0 => time / w,
            _ => 1.0,
        };
        self.gap = gap + self.moved_share * stage.moved;
        let closing = stage.closing.filter(|_| gap > 0.0);
        self.normal = NormalFactors::of_stage(&self.law, self.gap, w, closing);
    }
}

impl Contacts {
    /// Takes the laws of the stage that the contacts, which are placed with their gaps at the start of
    /// the step, are of.
    pub(crate) fn take_stages<'a>(&mut self, stages: impl Iterator<Item = &'a StageContact>) {
        let w = self.h;
        let pairs = self.list.iter_mut().zip(stages);
        pairs.for_each(|(c, stage)| c.take_stage(stage, w));
    }

    /// Takes places of contacts at a state, without laws.
    ///
    /// # Errors
    /// [`GradientError::NotBuilt`] for contacts of elements that are mapped nonlinearly.
    pub(crate) fn place_alone<'a>(
        &mut self,
        model: &Model,
        contacts: impl IntoIterator<Item = &'a PlacedContact>,
        state: &State,
    ) -> Result<(), GradientError> {
        self.clear();
        self.h = 1.0;
        for contact in contacts {
            let place = &contact.place;
            let axes = frame(Vec3::from(place.normal));
            let kinematics = ContactKinematics {
                model,
                start: state,
                axes,
                count: 1,
            };
            let [columns, moves] = self.push_rows(&kinematics, place, &contact.moves)?;
            let first_support = self.supports.len();
            self.supports.extend_from_slice(&place.supports);
            self.identities.push(contact.identity);
            let law = ContactNumbers::default();
            self.list.push(LinearisedContact {
                count: 1,
                first: self.rows(),
                axes: axes.map(Into::into),
                columns,
                moves,
                supports: first_support..self.supports.len(),
                branch: ContactBranch::Frictionless,
                law,
                share: 0.0,
                r: [0.0; 3],
                u: [0.0; 3],
                normal: NormalFactors::of_stage(&law, place.gap, 1.0, None),
                gap: place.gap,
                moved_share: 0.0,
                barrier: None,
            });
        }
        Ok(())
    }

    /// The share of the change of a gap between the stages that the gap of its contact has.
    pub(crate) fn moved_share(&self, contact: usize) -> f64 {
        self.list[contact].moved_share
    }

    /// Adds what changes of the gaps make of the equations of the contacts.
    pub(crate) fn add_gaps(&self, gaps: &[f64], out: &mut [f64]) {
        for (c, gap) in self.list.iter().zip(gaps) {
            out[c.first] += c.normal.by_gap * gap;
        }
    }

    /// Writes what weights of the equations of the contacts are against their gaps.
    pub(crate) fn weigh_gaps(&self, rows: &[f64], out: &mut Vec<f64>) {
        out.clear();
        out.extend(self.list.iter().map(|c| c.normal.by_gap * rows[c.first]));
    }

    /// The change of the gap of a contact along a direction of the state that it was found at.
    pub(crate) fn gap_along(&self, contact: usize, direction: StartDirection<'_>) -> f64 {
        let moves = &self.moves[self.list[contact].moves.clone()];
        let along = moves.iter().map(|m| match m.by_velocity {
            true => m.gap * direction.u[m.dof],
            false => m.gap * direction.x[m.dof],
        });
        along.sum()
    }

    /// Adds the transpose of [`gap_along`](Self::gap_along) times a weight: against displacements and
    /// velocities (n).
    pub(crate) fn gap_along_transposed(&self, contact: usize, weight: f64, [x, u]: [&mut [f64]; 2]) {
        for m in &self.moves[self.list[contact].moves.clone()] {
            let out = if m.by_velocity { &mut *u } else { &mut *x };
            out[m.dof] += weight * m.gap;
        }
    }

    /// The change of the normal velocity of a contact along a direction of the state that it was found at,
    /// with the changes of the velocities of all nodes.
    pub(crate) fn normal_velocity_along(
        &self,
        contact: usize,
        direction: StartDirection<'_>,
        of: NormalVelocity<'_>,
    ) -> f64 {
        let c = &self.list[contact];
        let mut sum = self.jacobian(&c.columns).times(of.changes)[0];
        for m in &self.moves[c.moves.clone()] {
            let by = match m.by_velocity {
                true => direction.u[m.dof],
                false => direction.x[m.dof],
            };
            sum += by * self.jacobian(&m.columns).times(of.velocities)[0];
        }
        sum
    }

    /// Adds the transpose of [`normal_velocity_along`](Self::normal_velocity_along) times a weight: against
    /// displacements and velocities of the state (n), and the velocities of all nodes, which are these.
    pub(crate) fn normal_velocity_transposed(
        &self,
        contact: usize,
        weight: f64,
        velocities: &[f64],
        [x, u]: [&mut [f64]; 2],
        on_nodes: &mut [f64],
    ) {
        let c = &self.list[contact];
        self.jacobian(&c.columns)
            .add_transposed([weight, 0.0, 0.0], on_nodes);
        for m in &self.moves[c.moves.clone()] {
            let out = if m.by_velocity { &mut *u } else { &mut *x };
            out[m.dof] += weight * self.jacobian(&m.columns).times(velocities)[0];
        }
    }

    /// The change of the normal velocity of a contact that moves like this with a parameter, with the
    /// changes of the velocities of all nodes.
    pub(crate) fn normal_velocity_by(
        &mut self,
        model: &Model,
        contact: usize,
        by: MovingContact<'_>,
        of: NormalVelocity<'_>,
    ) -> f64 {
        let kept = self.columns.len();
        let c = &self.list[contact];
        let kinematics = ContactKinematics {
            model,
            start: by.state,
            axes: c.axes.map(Vec3::from),
            count: 1,
        };
        let supports = &self.supports[c.supports.clone()];
        let columns = kinematics.derivative(supports, &by.moves.place, None, &mut self.columns);
        let own = self.jacobian(&c.columns).times(of.changes)[0];
        let sum = own + self.jacobian(&columns).times(of.velocities)[0];
        self.columns.truncate(kept);
        sum
    }
}
