//! The first iterate where materials have a past.

use super::Simulation;
use crate::Error;

impl Simulation {
    /// Where materials have a past, takes the answer of the equations linearised at the *start* of the step for the first iterate. From the velocities of the start, as for others, held
    /// coordinates that move would strain what is beside them alone, far beyond yield, and what yields would be bent back from there. False where it is not asked for or not found.
    pub(super) fn predict(&mut self) -> bool {
        if self.system.model.internal_count() == 0 || crate::contact::step::is_in_contact(&self.system) {
            return false;
        }
        self.solve_at_start().is_ok()
    }

    fn solve_at_start(&mut self) -> Result<(), Error> {
        let (gain, reach) = (
            self.methods.implicit.relation.acceleration_gain,
            self.methods.implicit.relation.displacement_gain,
        );
        // The velocities that lead nowhere.
        let s = &mut self.methods.implicit;
        s.end.clear();
        s.end.extend(s.relation.displacement.iter().map(|d| -d / reach));
        s.mu.clear();
        s.mu.extend(self.start.multipliers.iter().map(|l| l / gain));
        s.whole = false;
        self.place()?;
        self.find_residual()?;
        self.fill_newton(false);
        self.prepare_newton()?;
        let s = &mut self.methods.implicit;
        s.rate.clear();
        let fixed = &self.system.assembler.system().fixed;
        for (i, end) in s.end.iter().enumerate() {
            let goal = s.start[i] + self.system.scratch.fixed_change[i];
            s.rate.push(if fixed[i] { goal - end } else { 0.0 });
        }
        self.system.scratch.right_hand_side.clear();
        self.system
            .scratch
            .right_hand_side
            .extend_from_slice(&self.system.assembler.system().c);
        self.system
            .assembler
            .shift_right_hand_sides(&s.rate, &self.system.scratch.right_hand_side);
        let solved = self
            .system
            .solver
            .solve(self.system.assembler.system(), &mut self.system.solution);
        solved.map_err(|e| Error::from_solver(e, &self.system.model, self.motion.time))?;
        let s = &mut self.methods.implicit;
        for ((end, change), held) in s.end.iter_mut().zip(&self.system.solution.x).zip(&s.rate) {
            *end += change + held;
        }
        s.mu.copy_from_slice(&self.system.solution.mu);
        self.place()
    }
}
