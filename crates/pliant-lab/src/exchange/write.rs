//! From a problem to texts.

use super::header::{Ends, Known, Law, Matrix, check_name, json, length};
use super::market::{array_text, coordinate_text};
use super::number::{Real, reals};
use super::statement::{Entries, Statement};
use super::{ExchangeError, FORMAT, Layout, Record, Texts, VERSION};
use pliant_solvers::KktSystem;
use pliant_solvers::complementarity::{Cone, Problem};
use pliant_sparse::PatternBuilder;
use serde::Serialize;

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
