//! Orders and plans for new patterns, in the storage of former ones.

use super::plan::{Plan, PlanWorkspace};
use crate::order::{Elimination, OrderWorkspace};
use crate::{KktSystem, SolveError};
use pliant_sparse::{SymbolicWorkspace, Threads};

/// Scratch of orders and plans. Kept, so that only larger systems than ever before allocate. No
/// result depends on what is in it.
#[derive(Debug, Default)]
pub(crate) struct AnalysisWorkspace {
    pub(crate) symbolic: SymbolicWorkspace,
    pub(crate) order: OrderWorkspace,
    plan: PlanWorkspace,
}

/// Makes orders and plans, and keeps the storage of those that are no more for the next ones.
#[derive(Debug, Default)]
pub(super) struct Planner {
    /// Row blocks that are to be deferred by the next order.
    pub(super) deferred: Vec<bool>,
    pub(super) work: AnalysisWorkspace,
    spare: Option<Box<Plan>>,
    spare_order: Elimination,
}

impl Planner {
    /// Keeps the storage of a plan, if there is one, for the next.
    pub(super) fn keep(&mut self, plan: Option<Box<Plan>>) {
        if plan.is_some() {
            self.spare = plan;
        }
    }

    /// The next order is to defer all row blocks, or none.
    pub(super) fn defer(&mut self, system: &KktSystem, all: bool) {
        self.deferred.clear();
        self.deferred.resize(system.row_blocks().len() - 1, all);
    }

    /// An order that defers what is to be deferred.
    pub(super) fn order(&mut self, system: &KktSystem) -> Result<Elimination, SolveError> {
        let mut order = std::mem::take(&mut self.spare_order);
        let AnalysisWorkspace {
            symbolic,
            order: work,
            ..
        } = &mut self.work;
        order.refill(system, &self.deferred, work, symbolic)?;
        Ok(order)
    }

    /// The plan of a system in an order.
    pub(super) fn plan(
        &mut self,
        system: &KktSystem,
        mut order: Elimination,
        threads: &Threads,
    ) -> Result<Box<Plan>, SolveError> {
        let mut plan = self.spare.take().unwrap_or_default();
        let AnalysisWorkspace {
            symbolic, plan: work, ..
        } = &mut self.work;
        let made = plan.refill(system, &mut order, threads, work, symbolic);
        self.spare_order = order;
        match made {
            Ok(()) => Ok(plan),
            Err(error) => {
                self.spare = Some(plan);
                Err(error)
            }
        }
    }
}
