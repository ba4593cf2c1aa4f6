//! Rows that hold the length of a tendon, or that of one by that of another.

use super::Reader;
use super::settings::truth;
use super::tendons::{length, tendon};
use crate::error::ImportError;
use crate::layout::places;
use crate::robot::{Robot, TendonRow};

type Result<T> = std::result::Result<T, ImportError>;

/// The polynomial of a row that names none.
const EQUAL: [f64; 5] = [0.0, 1.0, 0.0, 0.0, 0.0];

pub(super) fn read_tendon_rows(reader: &mut Reader<'_>, root: usize, robot: &mut Robot) -> Result<()> {
    // Lengths count from those at the coordinates of the file.
    let frames = places(&robot.links, |_| 0.0);
    let tendons = robot.tendons.iter();
    let lengths: Vec<f64> = tendons.map(|tendon| length(&tendon.course, &frames)).collect();
    for section in reader.tree.all(root, "equality") {
        for of in reader.tree.all(section, "tendon") {
            if truth(reader.tree, of, "active")? == Some(false) {
                continue;
            }
            let known = ["name", "class", "active", "tendon1", "tendon2", "polycoef"];
            reader.tree.expect(of, &known, &[]);
            let spot = reader.spot(of);
            let name = reader.tree.needed(of, "tendon1")?.clone();
            let first = tendon(reader, &name)?;
            let second = match reader.tree.attribute(of, "tendon2").cloned() {
                Some(other) if other.value == name.value => {
                    let message = format!("the tendon `{}` cannot follow itself", name.value);
                    return reader.tree.wrong(other.spot, message, None);
                }
                Some(other) => Some((tendon(reader, &other)?, other.value)),
                None => None,
            };
            let polynomial = polynomial(reader, of)?;
            let own = match reader.tree.value(of, "name") {
                Some(own) if !own.is_empty() => own.to_owned(),
                _ => match &second {
                    Some((_, other)) => format!("{}-{other}", name.value),
                    None => format!("{} length", name.value),
                },
            };
            let number = second.as_ref().map(|(number, _)| *number);
            let (Some(first), None | Some(Some(_))) = (first, number) else {
                let message = "a row of a tendon that is not taken is not taken";
                reader.tree.remark(spot, message);
                continue;
            };
            let at_zero = |number: usize| (number, lengths[number]);
            robot.tendon_rows.push(TendonRow {
                name: own,
                first: at_zero(first),
                second: number.flatten().map(at_zero),
                polynomial,
                spot,
            });
        }
    }
    Ok(())
}

/// The coefficients of a row, the constant first; those that are not there are as of equal lengths.
fn polynomial(reader: &Reader<'_>, of: usize) -> Result<[f64; 5]> {
    let list = reader.tree.list(of, "polycoef")?.unwrap_or_default();
    if list.len() > EQUAL.len() {
        let message = format!(
            "`polycoef` has {} numbers where 5 are expected at most",
            list.len()
        );
        let spot = reader.tree.needed(of, "polycoef")?.spot;
        return reader.tree.wrong(spot, message, None);
    }
    let mut out = EQUAL;
    out[..list.len()].copy_from_slice(&list);
    Ok(out)
}
