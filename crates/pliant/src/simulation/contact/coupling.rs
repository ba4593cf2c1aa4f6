//! Shifts of contacts that are known before the solve.

use super::Contacts;
use crate::Error;
use crate::contact::FrictionCoupling;
use pliant_solvers::complementarity::Cone;

impl Contacts {
    /// Replaces Coulomb's laws, which stand behind so many row blocks of the model, by those of a coupling.
    pub(crate) fn couple(&mut self, coupling: FrictionCoupling, mut block: usize) -> Result<(), Error> {
        if coupling == FrictionCoupling::Exact {
            return Ok(());
        }
        let u = self.tail.velocity();
        let mut row = 0;
        for (contact, rows) in self.list.contacts().iter().zip(&self.rows) {
            match self.cones[block] {
                Some(Cone::Coulomb { mu }) => {
                    let shift = match coupling {
                        FrictionCoupling::Lagged => mu * u[row + 1].hypot(u[row + 2]),
                        _ => 0.0,
                    };
                    self.cones[block] = Some(Cone::Shifted { mu, shift });
                }
                Some(cone @ (Cone::Pyramid { .. } | Cone::Rolling { .. })) => {
                    let [a, b] = contact.sides.map(|s| self.finder.name(s));
                    let part = match cone {
                        Cone::Pyramid { .. } => "friction pyramid",
                        _ => "resistance to spin or rolling",
                    };
                    let what = format!("the {part} of the contact of {a} and {b}");
                    return Err(Error::FrictionCoupling { coupling, what });
                }
                _ => {}
            }
            row += rows.count;
            block += 1;
        }
        Ok(())
    }
}
