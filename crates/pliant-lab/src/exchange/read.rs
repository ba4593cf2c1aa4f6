//! From texts to a problem.

use super::header::{Header, Kind, Matrix, check_name, json, length};
use super::market::MarketMatrix;
use super::number::{Real, numbers};
use super::statement::{Mixed, Statement, sparse};
use super::{Answer, ExchangeError, FORMAT, Record, VERSION};
use pliant_solvers::KktSystem;
use pliant_solvers::complementarity::{Cone, DenseDelassus, Problem};
use pliant_sparse::CsrMatrix;

/// Takes the fields of a header apart.
struct Reader<F> {
    kind: &'static str,
    load: F,
}

impl<F: FnMut(&str) -> Result<String, String>> Reader<F> {
    fn need<T>(&self, field: &'static str, value: Option<T>) -> Result<T, ExchangeError> {
        value.ok_or(ExchangeError::Missing {
            kind: self.kind,
            field,
        })
    }

    fn reals(&self, field: &'static str, value: Option<Vec<Real>>) -> Result<Vec<f64>, ExchangeError> {
        self.need(field, value).map(numbers)
    }

    /// The matrix and its name in errors.
    fn matrix(
        &mut self,
        field: &'static str,
        value: Option<Matrix>,
        (rows, columns): (usize, usize),
    ) -> Result<(String, MarketMatrix), ExchangeError> {
        let (name, text) = match self.need(field, value)? {
            Matrix::File(name) => {
                check_name(&name)?;
                let text = (self.load)(&name).map_err(|reason| ExchangeError::Load {
                    name: name.clone(),
                    reason,
                })?;
                (name, text)
            }
            Matrix::Lines(lines) => (format!("`{field}`"), lines.join("\n")),
        };
        let matrix = MarketMatrix::parse(&name, &text)?;
        matrix.expect(&name, rows, columns)?;
        Ok((name, matrix))
    }

    fn symmetric(
        &mut self,
        field: &'static str,
        value: Option<Matrix>,
        size: usize,
    ) -> Result<CsrMatrix, ExchangeError> {
        let (name, matrix) = self.matrix(field, value, (size, size))?;
        matrix.lower(&name)
    }

    fn system(&mut self, h: &mut Header) -> Result<KktSystem, ExchangeError> {
        let c = self.reals("c", h.c.take())?;
        let b = self.reals("b", h.b.take())?;
        let (n, m) = (c.len(), b.len());
        let w = self.symmetric("W", h.w.take(), n)?;
        let (_, j) = self.matrix("J", h.j.take(), (m, n))?;
        let j = j.full()?;
        let r = self.symmetric("R", h.r.take(), m)?;
        let blocks = h.blocks.take().unwrap_or_else(|| (0..=n).collect());
        let row_blocks = h.row_blocks.take().unwrap_or_else(|| (0..=m).collect());
        let patterns = [&w, &j, &r].map(|a| a.pattern().clone());
        let [wp, jp, rp] = patterns;
        let mut system = KktSystem::new(wp, jp, rp, blocks, row_blocks)?;
        system.w.values_mut().copy_from_slice(w.values());
        system.j.values_mut().copy_from_slice(j.values());
        system.r.values_mut().copy_from_slice(r.values());
        (system.c, system.b) = (c, b);
        for index in h.fixed.take().unwrap_or_default() {
            *system.fixed.get_mut(index).ok_or(ExchangeError::Index {
                field: "fixed",
                index,
                size: n,
            })? = true;
        }
        if let Some(rounding) = h.b_rounding.take() {
            length("b_rounding", m, rounding.len())?;
            system.b_rounding = numbers(rounding);
        }
        if let Some(bounds) = h.bounds.take() {
            length("bounds", m, bounds.len())?;
            system.bounds = bounds.into_iter().map(|(l, u)| (l.0, u.0)).collect();
        }
        Ok(system)
    }

    fn statement(&mut self, h: &mut Header) -> Result<Statement, ExchangeError> {
        match h.kind {
            Kind::Kkt => Ok(self.system(h)?.into()),
            Kind::Complementarity => {
                let b = self.reals("b", h.b.take())?;
                let m = b.len();
                let cones = self.cones(h)?;
                let (_, a) = self.matrix("A", h.a.take(), (m, m))?;
                let full = a.full()?;
                let pattern = full.pattern();
                let problem = if a.dense {
                    // As many numbers as the text has, up to the mirrored ones.
                    Problem::new(DenseDelassus::new(full.values())?, b, cones)?
                } else {
                    let row = |i: usize| pattern.row(i).iter().zip(&full.values()[pattern.row_slots(i)]);
                    let entries = (0..m).flat_map(|i| row(i).map(move |(k, x)| (i, *k as usize, *x)));
                    Problem::new(sparse(m, entries.collect())?, b, cones)?
                };
                Ok(Statement::Complementarity(problem))
            }
            Kind::Mixed => {
                let system = self.system(h)?;
                let velocity = self.reals("b_N", h.b_n.take())?;
                let p = velocity.len();
                let compliance = match h.r_n.take() {
                    Some(given) => numbers(given),
                    None => vec![0.0; p],
                };
                length("R_N", p, compliance.len())?;
                let cones = self.cones(h)?;
                length("cones", p, cones.iter().map(Cone::rows).sum())?;
                let (_, rows) = self.matrix("N", h.n.take(), (p, system.n()))?;
                Ok(Statement::Mixed(Box::new(Mixed {
                    rows: rows.full()?,
                    system,
                    compliance,
                    velocity,
                    cones,
                })))
            }
        }
    }

    fn cones(&self, h: &mut Header) -> Result<Vec<Cone>, ExchangeError> {
        let laws = self.need("cones", h.cones.take())?;
        Ok(laws.into_iter().map(Cone::from).collect())
    }

    /// Refuses fields that were not asked for.
    fn nothing_left(&self, h: &Header) -> Result<(), ExchangeError> {
        let left = [
            ("W", h.w.is_some()),
            ("J", h.j.is_some()),
            ("R", h.r.is_some()),
            ("c", h.c.is_some()),
            ("A", h.a.is_some()),
            ("blocks", h.blocks.is_some()),
            ("row_blocks", h.row_blocks.is_some()),
            ("fixed", h.fixed.is_some()),
            ("b_rounding", h.b_rounding.is_some()),
            ("bounds", h.bounds.is_some()),
            ("N", h.n.is_some()),
            ("R_N", h.r_n.is_some()),
            ("b_N", h.b_n.is_some()),
            ("cones", h.cones.is_some()),
        ];
        match left.into_iter().find(|(_, there)| *there) {
            Some((field, _)) => Err(ExchangeError::Superfluous {
                kind: self.kind,
                field,
            }),
            None => Ok(()),
        }
    }
}

pub(super) fn read(
    text: &str,
    load: impl FnMut(&str) -> Result<String, String>,
) -> Result<Record, ExchangeError> {
    let mut header: Header = serde_json::from_str(text).map_err(json)?;
    if header.format != FORMAT {
        return Err(ExchangeError::Format { found: header.format });
    }
    if header.version > VERSION {
        let found = header.version;
        return Err(ExchangeError::Version { found });
    }
    let kind = match header.kind {
        Kind::Kkt => "kkt",
        Kind::Complementarity => "complementarity",
        Kind::Mixed => "mixed",
    };
    let mut reader = Reader { kind, load };
    let statement = reader.statement(&mut header)?;
    reader.nothing_left(&header)?;
    Ok(Record {
        name: header.name,
        about: header.about,
        source: header.source,
        expected: header.expected.into(),
        answers: header.answers.into_iter().map(Answer::from).collect(),
        statement,
    })
}
