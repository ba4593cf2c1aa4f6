//! Scalars along a curve over others.

use super::super::ends::{self, ParentList};
use super::super::{Builder, Result};
use crate::schema::CurveMappingSpec;
use crate::source::Where;
use pliant::model::{Curve, Dependency};

pub(super) fn add(
    builder: &mut Builder<'_>,
    parents: &ParentList<'_>,
    spec: &CurveMappingSpec,
) -> Result<()> {
    let name = parents.user;
    let elements = match &spec.elements {
        Some(elements) => ends::elements(builder, parents, elements)?,
        None => {
            let count = builder.model.node(parents.nodes[0]).count;
            (0..count).map(|e| Dependency::new(0, e)).collect()
        }
    };
    let field = |key| Where::Field(name, key);
    let curve = match (&spec.points, &spec.polynomial) {
        (Some(list), None) => {
            let mut points = Vec::with_capacity(list.len());
            for (x, y) in list {
                let of = |number| builder.number(number, field("points"));
                points.push((of(x)?, of(y)?));
            }
            match &spec.slopes {
                None => Curve::through(&elements, &points),
                Some(slopes) if slopes.len() == points.len() => {
                    let slopes = builder.numbers(slopes, field("slopes"))?;
                    Curve::with_slopes(&elements, &points, &slopes)
                }
                Some(slopes) => {
                    let (found, expected) = (slopes.len(), points.len());
                    let message = format!("`{name}` has {found} `slopes` for {expected} `points`");
                    return builder.wrong(&[field("slopes"), Where::Name(name)], message, None);
                }
            }
        }
        (None, Some(list)) => {
            if spec.slopes.is_some() {
                let message = format!("`slopes` of `{name}` are for `points`: a polynomial has its own");
                return builder.wrong(&[field("slopes"), Where::Name(name)], message, None);
            }
            Curve::polynomial(&elements, &builder.numbers(list, field("polynomial"))?)
        }
        _ => {
            let message = format!("`{name}` needs exactly one of `points` and `polynomial`");
            return builder.wrong(&[Where::Name(name)], message, None);
        }
    };
    super::add_mapped(builder, parents, elements.len(), curve).map(drop)
}
