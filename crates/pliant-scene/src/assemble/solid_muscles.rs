//! Muscles in solids: fibres in some elements, which follow an activation.

use super::deformables::Placement;
use super::laws::{self, Inputs};
use super::material_laws::Reader;
use super::place_numbers::PlaceNumber;
use super::selections::{self, Candidates};
use super::solid_materials::{Cells, Numbers};
use super::{Builder, Result};
use crate::Amount;
use crate::schema::{MuscleLawSpec, Solid as Spec, SolidMuscleSpec};
use crate::source::Where;
use pliant::continuum::{MuscleFibre, MuscleLaw};
use pliant::dense::Vec3;
use pliant::model::ComponentId;
use std::cell::{Cell, RefCell};

/// A muscle of a solid.
pub(super) struct Muscle<'a> {
    pub(super) spec: &'a SolidMuscleSpec,
    /// Elements of one solid; none of all.
    pub(super) elements: Option<Vec<usize>>,
    /// The numbers of its fibres.
    numbers: Numbers<'a>,
    /// The line that its fibres follow, if they do (m).
    line: Option<Vec<Vec3>>,
    /// A place in it, at which it is looked at first.
    place: [f64; 3],
    at: Where<'a>,
}

/// Fibres at that place, and the activation at the start.
pub(super) struct Start {
    pub(super) fibre: MuscleFibre,
    pub(super) activation: f64,
}

/// Reads the muscles of a solid, whose shape has these cells.
pub(super) fn read<'a>(builder: &Builder<'_>, spec: &'a Spec, cells: &Cells) -> Result<Vec<Muscle<'a>>> {
    let name = spec.name.as_str();
    let mut all = Vec::with_capacity(spec.muscles.len());
    for (index, muscle) in spec.muscles.iter().enumerate() {
        let at = Where::Item(name, "muscles", index);
        let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let own = muscle.name.as_str();
        if own.is_empty() || !own.chars().all(is_word) {
            let message = format!(
                "the name \"{own}\" of one of the `muscles` of `{name}` is not of letters, digits and `_`"
            );
            return builder.wrong(&[at, Where::Name(name)], message, None);
        }
        if spec.muscles[..index].iter().any(|other| other.name == own) {
            let message = format!("two of the `muscles` of `{name}` are named `{own}`");
            return builder.wrong(&[at, Where::Name(name)], message, None);
        }
        let chosen = match &muscle.elements {
            None => None,
            Some(elements) => {
                let of = Candidates::cells(name, &cells.centres, &cells.groups, at);
                Some(selections::among(builder, elements, &of)?)
            }
        };
        let line = line(builder, spec, muscle, at)?;
        let chosen = match (&line, &muscle.within) {
            (Some(line), Some(within)) => {
                let within = builder.positive(within, at)?;
                let all = chosen.unwrap_or_else(|| (0..cells.centres.len()).collect());
                let is_near = |cell: &usize| nearest(line, cells.centres[*cell].into()).0 <= within;
                let near: Vec<usize> = all.into_iter().filter(is_near).collect();
                if near.is_empty() {
                    let message = format!(
                        "no element of the muscle `{own}` of `{name}` is within {within} m of its `line`"
                    );
                    return builder.wrong(&[at, Where::Name(name)], message, None);
                }
                Some(near)
            }
            _ => chosen,
        };
        let first = chosen.as_ref().and_then(|chosen| chosen.first().copied());
        let place = cells.centres.get(first.unwrap_or(0)).copied();
        let list = RefCell::new(Vec::new());
        // Fibres of any numbers: only which are asked for counts.
        let ask = |number: &'a Amount, _: &'static str| -> Result<f64> {
            list.borrow_mut().push(PlaceNumber::read(builder, number, at)?);
            Ok(1.0)
        };
        let reader = Reader {
            number: &ask,
            turn: &|direction| direction,
        };
        fibre(&reader, muscle, None)?;
        all.push(Muscle {
            spec: muscle,
            elements: chosen.map(|chosen| cells.elements(&chosen)),
            numbers: Numbers(list.into_inner()),
            line,
            place: place.unwrap_or_default(),
            at,
        });
    }
    Ok(all)
}

/// The points of the line of a muscle (m), two or more that differ; it has this or a direction.
fn line(
    builder: &Builder<'_>,
    spec: &Spec,
    muscle: &SolidMuscleSpec,
    at: Where<'_>,
) -> Result<Option<Vec<Vec3>>> {
    let (name, own) = (spec.name.as_str(), muscle.name.as_str());
    let wrong = |what: &str, help: Option<&str>| {
        let message = format!("the muscle `{own}` of `{name}` {what}");
        builder.wrong(&[at, Where::Name(name)], message, help.map(str::to_owned))
    };
    let both = Some("give `direction: (x, y, z)`, or `line: [(x, y, z), ..]` that the fibres follow");
    let points = match (&muscle.direction, &muscle.line) {
        (Some(_), None) if muscle.within.is_some() => {
            return wrong("has `within` but no `line`", None);
        }
        (Some(_), None) => return Ok(None),
        (Some(_), Some(_)) => return wrong("has a `direction` and a `line`", both),
        (None, None) => return wrong("has no `direction`", both),
        (None, Some(points)) => points,
    };
    let mut line = Vec::with_capacity(points.len());
    for point in points {
        line.push(Vec3::from(builder.triple(point, at)?));
    }
    if line.len() < 2 {
        return wrong("has a `line` of less than two points", None);
    }
    match line.windows(2).position(|ends| ends[0] == ends[1]) {
        Some(first) => wrong(
            &format!(
                "has a `line` whose points {first} and {} are one",
                first.saturating_add(1)
            ),
            None,
        ),
        None => Ok(Some(line)),
    }
}

/// The distance (m) of a place from a line, and the direction of its nearest piece; of several the
/// first.
fn nearest(line: &[Vec3], place: Vec3) -> (f64, Vec3) {
    let mut found = (f64::INFINITY, Vec3::zeros());
    for ends in line.windows(2) {
        let along = ends[1] - ends[0];
        let share = (place - ends[0]).dot(&along) / along.norm_squared();
        let distance = (ends[0] + along * share.clamp(0.0, 1.0) - place).norm();
        if distance < found.0 {
            found = (distance, along.normalize());
        }
    }
    found
}

/// The fibres of a muscle, in a direction of its own or in this one of its line. It asks for the same
/// numbers in the same order whatever they are.
fn fibre<'a>(
    reader: &Reader<'_, 'a>,
    muscle: &'a SolidMuscleSpec,
    along: Option<Vec3>,
) -> Result<MuscleFibre> {
    let law = match &muscle.law {
        MuscleLawSpec::Generic(g) => MuscleLaw::Generic {
            stress: reader.number(&g.stress, "stress")?,
            passive: reader.number(&g.passive, "passive")?,
            exponent: reader.number(&g.exponent, "exponent")?,
            straight: reader.number(&g.straight, "straight")?,
        },
        MuscleLawSpec::Blemker(b) => {
            let optimal = reader.number(&b.optimal, "optimal")?;
            MuscleLaw::Blemker {
                stress: reader.number(&b.stress, "stress")?,
                optimal,
                passive: reader.number(&b.passive, "passive")?,
                exponent: reader.number(&b.exponent, "exponent")?,
                straight: match &b.straight {
                    Some(straight) => reader.number(straight, "straight")?,
                    None => 1.4 * optimal,
                },
                along: reader.number(&b.along, "along")?,
                across: reader.number(&b.across, "across")?,
            }
        }
    };
    let direction = match &muscle.direction {
        Some(direction) => reader.triple(direction, "direction")?,
        None => along.unwrap_or(Vec3::x()).into(),
    };
    let direction = (reader.turn)(direction);
    let share = reader.number(&muscle.share, "share")?;
    Ok(MuscleFibre {
        law,
        direction,
        share,
    })
}

impl Muscle<'_> {
    /// Its fibres at its first place, of a solid that is put somewhere, and its activation at the start.
    pub(super) fn start(&self, builder: &Builder<'_>, put: &Placement) -> Result<Start> {
        Ok(Start {
            fibre: self.at(builder, self.place, put)?,
            activation: self.activation(builder, &mut Inputs::new())?,
        })
    }

    /// The fibres at a place (m) of the shape, which is put somewhere.
    pub(super) fn at(&self, builder: &Builder<'_>, place: [f64; 3], put: &Placement) -> Result<MuscleFibre> {
        let next = Cell::new(0usize);
        let take = |_: &Amount, _: &'static str| {
            let k = next.replace(next.get().saturating_add(1));
            self.numbers.0[k].at(builder, place)
        };
        let reader = Reader {
            number: &take,
            turn: &|direction| put.turned(direction),
        };
        let along = self.line.as_ref().map(|line| nearest(line, place.into()).1);
        fibre(&reader, self.spec, along)
    }

    /// Whether its fibres differ from place to place.
    pub(super) fn varies(&self) -> bool {
        self.numbers.vary() || self.line.is_some()
    }

    /// The activation at the start; one that depends on time is an input.
    fn activation(&self, builder: &Builder<'_>, inputs: &mut Inputs) -> Result<f64> {
        laws::timed(builder, &self.spec.activation, self.at, 0, inputs)
    }

    /// Makes the activation of its fibres in a part of the solid follow the time.
    pub(super) fn follow(&self, builder: &mut Builder<'_>, id: ComponentId) -> Result<()> {
        let mut inputs = Inputs::new();
        self.activation(builder, &mut inputs)?;
        laws::follow(builder, id, inputs)
    }
}
