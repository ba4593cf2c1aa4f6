//! The JSON text.

use super::market::{MarketMatrix, array_text, coordinate_text};
use super::number::{Real, numbers, reals};
use super::statement::{Entries, Mixed, Statement, sparse};
use super::{Answer, ExchangeError, Expected, FORMAT, Layout, Record, Texts, VERSION};
use crate::KktSystem;
use crate::complementarity::{Cone, DenseDelassus, Problem};
use pliant_sparse::{CsrMatrix, PatternBuilder};
use serde::{Deserialize, Serialize};

/// The header as it is read: what is missing or too much is found out by kind.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Header {
    format: String,
    version: u32,
    kind: Kind,
    #[serde(default)]
    name: String,
    #[serde(default)]
    about: String,
    #[serde(default)]
    source: String,
    #[serde(default)]
    expected: Ends,
    #[serde(default)]
    answers: Vec<Known>,
    #[serde(rename = "W")]
    w: Option<Matrix>,
    #[serde(rename = "J")]
    j: Option<Matrix>,
    #[serde(rename = "R")]
    r: Option<Matrix>,
    c: Option<Vec<Real>>,
    #[serde(rename = "A")]
    a: Option<Matrix>,
    b: Option<Vec<Real>>,
    blocks: Option<Vec<usize>>,
    row_blocks: Option<Vec<usize>>,
    fixed: Option<Vec<usize>>,
    b_rounding: Option<Vec<Real>>,
    bounds: Option<Vec<(Real, Real)>>,
    #[serde(rename = "N")]
    n: Option<Matrix>,
    #[serde(rename = "R_N")]
    r_n: Option<Vec<Real>>,
    #[serde(rename = "b_N")]
    b_n: Option<Vec<Real>>,
    cones: Option<Vec<Law>>,
}

#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
enum Kind {
    Kkt,
    Complementarity,
    Mixed,
}

#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
enum Ends {
    Solvable,
    Incompatible,
    Indefinite,
    Unsolvable,
    #[default]
    Unknown,
}

#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Known {
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    x: Vec<Real>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    mu: Vec<Real>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    r: Vec<Real>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    u: Vec<Real>,
    tolerance: f64,
}

#[derive(Debug, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
enum Matrix {
    File(String),
    Lines(Vec<String>),
}

#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
enum Law {
    Free,
    Nonnegative,
    Box(Real, Real),
    Coulomb(Real),
    Planar(Real),
}

impl From<Cone> for Law {
    fn from(cone: Cone) -> Self {
        match cone {
            Cone::Free => Self::Free,
            Cone::NonNegative => Self::Nonnegative,
            Cone::Box { lower, upper } => Self::Box(Real(lower), Real(upper)),
            Cone::Coulomb { mu } => Self::Coulomb(Real(mu)),
            Cone::PlanarCoulomb { mu } => Self::Planar(Real(mu)),
        }
    }
}

impl From<Law> for Cone {
    fn from(law: Law) -> Self {
        match law {
            Law::Free => Self::Free,
            Law::Nonnegative => Self::NonNegative,
            Law::Box(lower, upper) => Self::Box {
                lower: lower.0,
                upper: upper.0,
            },
            Law::Coulomb(mu) => Self::Coulomb { mu: mu.0 },
            Law::Planar(mu) => Self::PlanarCoulomb { mu: mu.0 },
        }
    }
}

/// The lines of the header and the texts beside it, in the making.
struct Writer<'a> {
    stem: &'a str,
    layout: Layout,
    fields: Vec<String>,
    matrices: Vec<(String, String)>,
}

impl Writer<'_> {
    fn field(&mut self, name: &str, value: &impl Serialize) -> Result<(), ExchangeError> {
        let value = serde_json::to_string(value).map_err(json)?;
        self.fields.push(format!("  \"{name}\": {value}"));
        Ok(())
    }

    fn matrix(&mut self, name: &str, text: String) -> Result<(), ExchangeError> {
        match self.layout {
            Layout::Separate => {
                let file = format!("{}.{name}.mtx", self.stem);
                check_name(&file)?;
                self.matrices.push((file.clone(), text));
                self.field(name, &Matrix::File(file))
            }
            Layout::Single => {
                let lines: Vec<String> = text.lines().map(|l| format!("    \"{l}\"")).collect();
                self.fields.push(format!(
                    "  \"{name}\": {{\"lines\": [\n{}\n  ]}}",
                    lines.join(",\n")
                ));
                Ok(())
            }
        }
    }

    fn system(&mut self, s: &KktSystem) -> Result<(), ExchangeError> {
        let (n, m) = (s.n(), s.m());
        for (field, expected, found) in [
            ("fixed", n, s.fixed.len()),
            ("c", n, s.c.len()),
            ("b", m, s.b.len()),
            ("b_rounding", m, s.b_rounding.len()),
            ("bounds", m, s.bounds.len()),
        ] {
            length(field, expected, found)?;
        }
        self.field("c", &reals(&s.c))?;
        self.field("b", &reals(&s.b))?;
        if s.primal_blocks().len() != n + 1 {
            self.field("blocks", &s.primal_blocks())?;
        }
        if s.row_blocks().len() != m + 1 {
            self.field("row_blocks", &s.row_blocks())?;
        }
        let fixed: Vec<usize> = (0..n).filter(|i| s.fixed[*i]).collect();
        if !fixed.is_empty() {
            self.field("fixed", &fixed)?;
        }
        if s.b_rounding.iter().any(|x| x.to_bits() != 0) {
            self.field("b_rounding", &reals(&s.b_rounding))?;
        }
        if s.bounds.iter().any(|b| *b != (f64::NEG_INFINITY, f64::INFINITY)) {
            let bounds: Vec<_> = s.bounds.iter().map(|(l, u)| (Real(*l), Real(*u))).collect();
            self.field("bounds", &bounds)?;
        }
        self.matrix("W", coordinate_text(&s.w, true))?;
        self.matrix("J", coordinate_text(&s.j, false))?;
        self.matrix("R", coordinate_text(&s.r, true))
    }

    fn cones(&mut self, cones: &[Cone]) -> Result<(), ExchangeError> {
        let laws: Vec<Law> = cones.iter().map(|c| (*c).into()).collect();
        self.field("cones", &laws)
    }
}

pub(super) fn write(record: &Record, layout: Layout) -> Result<Texts, ExchangeError> {
    let mut out = Writer {
        stem: &record.name,
        layout,
        fields: Vec::new(),
        matrices: Vec::new(),
    };
    out.field("format", &FORMAT)?;
    out.field("version", &VERSION)?;
    out.field("kind", &record.statement.kind())?;
    out.field("name", &record.name)?;
    for (name, text) in [("about", &record.about), ("source", &record.source)] {
        if !text.is_empty() {
            out.field(name, text)?;
        }
    }
    out.field("expected", &Ends::from(record.expected))?;
    if !record.answers.is_empty() {
        let known: Vec<Known> = record.answers.iter().map(Known::from).collect();
        out.field("answers", &known)?;
    }
    match &record.statement {
        Statement::Kkt(system) => out.system(system)?,
        Statement::Complementarity(problem) => {
            out.field("b", &reals(problem.b()))?;
            out.cones(problem.cones())?;
            let text = delassus_text(problem)?;
            out.matrix("A", text)?;
        }
        Statement::Mixed(mixed) => {
            let p = mixed.rows.pattern().rows();
            length("R_N", p, mixed.compliance.len())?;
            length("b_N", p, mixed.velocity.len())?;
            out.system(&mixed.system)?;
            out.field("R_N", &reals(&mixed.compliance))?;
            out.field("b_N", &reals(&mixed.velocity))?;
            out.cones(&mixed.cones)?;
            out.matrix("N", coordinate_text(&mixed.rows, false))?;
        }
    }
    Ok(Texts {
        header: format!("{{\n{}\n}}\n", out.fields.join(",\n")),
        matrices: out.matrices,
    })
}

fn delassus_text(problem: &Problem) -> Result<String, ExchangeError> {
    let m = problem.size();
    let entries = Entries::of(problem);
    if entries.dense {
        let mut values = vec![0.0; m * m];
        problem.delassus().block(0..m, 0..m, &mut values);
        return Ok(array_text(m, &values));
    }
    let mut whole = PatternBuilder::new(m, m);
    entries.list.iter().for_each(|(i, k, _)| whole.insert(*i, *k));
    let mut a = whole.finish()?.into_matrix();
    // Both are sorted by rows.
    for (slot, (_, _, x)) in a.values_mut().iter_mut().zip(&entries.list) {
        *slot = *x;
    }
    let symmetric = entries
        .list
        .iter()
        .all(|(i, k, x)| a.get(*k, *i).to_bits() == x.to_bits());
    if !symmetric {
        return Ok(coordinate_text(&a, false));
    }
    let mut lower = PatternBuilder::new(m, m);
    let below = || entries.list.iter().filter(|(i, k, _)| k <= i);
    below().for_each(|(i, k, _)| lower.insert(*i, *k));
    let mut a = lower.finish()?.into_matrix();
    for (slot, (_, _, x)) in a.values_mut().iter_mut().zip(below()) {
        *slot = *x;
    }
    Ok(coordinate_text(&a, true))
}

impl From<&Answer> for Known {
    fn from(a: &Answer) -> Self {
        Self {
            x: reals(&a.x),
            mu: reals(&a.mu),
            r: reals(&a.r),
            u: reals(&a.u),
            tolerance: a.tolerance,
        }
    }
}

impl From<Known> for Answer {
    fn from(k: Known) -> Self {
        Self {
            x: numbers(k.x),
            mu: numbers(k.mu),
            r: numbers(k.r),
            u: numbers(k.u),
            tolerance: k.tolerance,
        }
    }
}

impl From<Expected> for Ends {
    fn from(e: Expected) -> Self {
        match e {
            Expected::Solvable => Self::Solvable,
            Expected::Incompatible => Self::Incompatible,
            Expected::Indefinite => Self::Indefinite,
            Expected::Unsolvable => Self::Unsolvable,
            Expected::Unknown => Self::Unknown,
        }
    }
}

impl From<Ends> for Expected {
    fn from(e: Ends) -> Self {
        match e {
            Ends::Solvable => Self::Solvable,
            Ends::Incompatible => Self::Incompatible,
            Ends::Indefinite => Self::Indefinite,
            Ends::Unsolvable => Self::Unsolvable,
            Ends::Unknown => Self::Unknown,
        }
    }
}

fn json(error: serde_json::Error) -> ExchangeError {
    let reason = error.to_string();
    // The position is told apart, so that it is not told twice.
    let reason = match reason.rfind(" at line ") {
        Some(end) => reason[..end].to_owned(),
        None => reason,
    };
    ExchangeError::Json {
        line: error.line(),
        column: error.column(),
        reason,
    }
}

fn length(field: &'static str, expected: usize, found: usize) -> Result<(), ExchangeError> {
    if expected == found {
        Ok(())
    } else {
        Err(ExchangeError::Length {
            field,
            expected,
            found,
        })
    }
}

/// Whether a name stays in its directory, on any system.
fn check_name(name: &str) -> Result<(), ExchangeError> {
    let plain = !name.is_empty()
        && !name.starts_with('.')
        && !name.contains(['/', '\\', ':'])
        && !name.chars().any(char::is_control);
    if plain {
        Ok(())
    } else {
        Err(ExchangeError::Name {
            name: name.to_owned(),
        })
    }
}

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
            Kind::Kkt => Ok(Statement::Kkt(self.system(h)?)),
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

    /// What is left was not asked for.
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
