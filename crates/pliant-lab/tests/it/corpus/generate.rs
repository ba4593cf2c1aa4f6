//! The problems of `tests/corpus/`, made anew.

mod cones;
mod contacts;
mod heaps;
mod known;
mod linear;
mod random;
mod rows;

use pliant_lab::exchange::{Answer, Expected, Record, Statement};
use pliant_solvers::KktSystem;
use pliant_solvers::complementarity::{Cone, Problem};

pub(super) const OWN: &str = "made for this corpus";

/// Every problem, in the order in which they are listed. Names are unique.
pub(super) fn all() -> Vec<Record> {
    let mut out = Vec::new();
    known::add(&mut out);
    linear::add(&mut out);
    rows::add(&mut out);
    cones::add(&mut out);
    random::add(&mut out);
    contacts::add(&mut out);
    heaps::add(&mut out);
    out
}

/// A solvable system.
fn kkt(name: &str, about: &str, source: &str, system: KktSystem) -> Record {
    record(name, about, source, system.into())
}

/// A solvable problem with a dense row-major matrix.
fn dense(name: &str, about: &str, source: &str, (a, b): (&[f64], &[f64]), cones: &[Cone]) -> Record {
    let problem = Problem::dense(a, b, cones).unwrap();
    record(name, about, source, Statement::Complementarity(problem))
}

/// A solvable linear complementarity problem.
fn lcp(name: &str, about: &str, source: &str, (a, b): (&[f64], &[f64])) -> Record {
    dense(name, about, source, (a, b), &vec![Cone::NonNegative; b.len()])
}

fn record(name: &str, about: &str, source: &str, statement: Statement) -> Record {
    let mut record = Record::new(name, statement);
    record.about = about.into();
    record.source = source.into();
    record.expected = Expected::Solvable;
    record
}

/// Adds known facts to the record of a problem.
trait Knowledge {
    fn expect(self, expected: Expected) -> Self;
    fn solved_by(self, x: &[f64], mu: &[f64], tolerance: f64) -> Self;
    fn impulse(self, r: &[f64], tolerance: f64) -> Self;
    fn velocity(self, u: &[f64], tolerance: f64) -> Self;
}

impl Knowledge for Record {
    fn expect(mut self, expected: Expected) -> Self {
        self.expected = expected;
        self
    }

    fn solved_by(mut self, x: &[f64], mu: &[f64], tolerance: f64) -> Self {
        self.answers.push(Answer {
            x: x.to_vec(),
            mu: mu.to_vec(),
            tolerance,
            ..Answer::default()
        });
        self
    }

    fn impulse(mut self, r: &[f64], tolerance: f64) -> Self {
        self.answers.push(Answer {
            r: r.to_vec(),
            tolerance,
            ..Answer::default()
        });
        self
    }

    fn velocity(mut self, u: &[f64], tolerance: f64) -> Self {
        self.answers.push(Answer {
            u: u.to_vec(),
            tolerance,
            ..Answer::default()
        });
        self
    }
}
