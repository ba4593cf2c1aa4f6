//! Errors that all processes have alike.

use super::SharedElements;
use crate::{Degenerate, ModelError};

impl SharedElements {
    /// Ends on all processes alike where one of them has an error: with that of the first of these.
    pub(super) fn agree(&self, own: Result<(), ModelError>) -> Result<(), ModelError> {
        let mut failed = [f64::from(u8::from(own.is_err()))];
        self.processes.sum(&mut failed);
        if failed[0] == 0.0 {
            return own;
        }
        if failed[0].is_nan() {
            return Err(ModelError::OtherProcess {
                message: "nothing, for it cannot be reached".to_owned(),
            });
        }
        let (rank, count) = (self.processes.rank(), self.processes.count());
        let mut by_rank = vec![0.0; count];
        by_rank[rank] = f64::from(u8::from(own.is_err()));
        self.processes.sum(&mut by_rank);
        let first = by_rank.iter().position(|f| *f > 0.0).unwrap_or(0);
        // Kind, element, and the lengths of both texts.
        let mut head = [0.0; 4];
        let mut text = [String::new(), String::new()];
        if let (true, Err(error)) = (rank == first, &own) {
            let (kind, element) = match error {
                ModelError::Degenerate { name, cause, detail } => {
                    text = [name.clone(), format!("{}{detail}", cause.reason)];
                    (1.0, cause.element)
                }
                ModelError::NotInvertible { name, element } => {
                    text[0].clone_from(name);
                    (2.0, *element)
                }
                other => {
                    text[1] = other.to_string();
                    (3.0, 0)
                }
            };
            head = [kind, element as f64, text[0].len() as f64, text[1].len() as f64];
        }
        self.processes.sum(&mut head);
        let [name, reason] = [2, 3].map(|k| {
            let own = text[k - 2].bytes().map(f64::from).collect::<Vec<_>>();
            let mut bytes = vec![0.0; head[k] as usize];
            bytes[..own.len()].copy_from_slice(&own);
            self.processes.sum(&mut bytes);
            let bytes = bytes.iter().map(|b| *b as u8).collect::<Vec<_>>();
            String::from_utf8_lossy(&bytes).into_owned()
        });
        if rank == first {
            return own;
        }
        let element = head[1] as usize;
        Err(match head[0] {
            1.0 => ModelError::Degenerate {
                name,
                cause: Degenerate {
                    element,
                    reason: "another process says that ",
                },
                detail: reason,
            },
            2.0 => ModelError::NotInvertible { name, element },
            _ => ModelError::OtherProcess { message: reason },
        })
    }
}
