//! Muscles in solids: fibres in some elements, which follow an activation.

use super::deformables::Placement;
use super::laws::{self, Inputs};
use super::place_numbers::PlaceNumber;
use super::selections::{self, Candidates};
use super::solid_materials::{Cells, Numbers, Reader};
use super::{Builder, Result};
use crate::Amount;
use crate::schema::{MuscleLawSpec, Solid as Spec, SolidMuscleSpec};
use crate::source::Where;
use pliant::continuum::{MuscleFibre, MuscleLaw};
use pliant::model::ComponentId;
use std::cell::{Cell, RefCell};

/// A muscle of a solid.
pub(super) struct Muscle<'a> {
    pub(super) spec: &'a SolidMuscleSpec,
    /// Elements of one solid; none of all.
    pub(super) elements: Option<Vec<usize>>,
    /// The numbers of its fibres.
    pub(super) numbers: Numbers<'a>,
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
        fibre(&reader, muscle)?;
        all.push(Muscle {
            spec: muscle,
            elements: chosen.map(|chosen| cells.elements(&chosen)),
            numbers: Numbers(list.into_inner()),
            place: place.unwrap_or_default(),
            at,
        });
    }
    Ok(all)
}

/// The fibres of a muscle. It asks for the same numbers in the same order whatever they are.
fn fibre<'a>(reader: &Reader<'_, 'a>, muscle: &'a SolidMuscleSpec) -> Result<MuscleFibre> {
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
    let direction = (reader.turn)(reader.triple(&muscle.direction, "direction")?);
    Ok(MuscleFibre { law, direction })
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
        fibre(&reader, self.spec)
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
