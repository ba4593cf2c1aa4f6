//! Shifts of contacts that are known before the solve.

use super::Contacts;
use super::laws::rows_of;
use crate::Error;
use crate::contact::FrictionCoupling;
use pliant_solvers::complementarity::Cone;

impl Contacts {
    /// Replaces Coulomb's laws, which stand behind so many row blocks of the model, by those of a coupling, in velocities of the system times `unit`.
    pub(super) fn couple(
        &mut self,
        coupling: FrictionCoupling,
        mut block: usize,
        unit: f64,
    ) -> Result<(), Error> {
        if coupling == FrictionCoupling::Exact {
            return Ok(());
        }
        let u = self.tail.velocity();
        let mut row = 0;
        for contact in self.list.contacts() {
            let (points, spin) = rows_of(contact);
            match self.cones[block] {
                Some(Cone::Coulomb { mu }) => {
                    let shift = match coupling {
                        FrictionCoupling::Lagged => mu * u[row + 1].hypot(u[row + 2]) / unit,
                        _ => 0.0,
                    };
                    self.cones[block] = Some(Cone::Shifted { mu, shift });
                }
                Some(Cone::Pyramid { .. }) => {
                    let [a, b] = contact.sides.map(|s| self.finder.name(s));
                    let what = format!("the friction pyramid of the contact of {a} and {b}");
                    return Err(Error::FrictionCoupling { coupling, what });
                }
                _ => {}
            }
            row += points + spin;
            block += 1 + spin;
        }
        Ok(())
    }
}
