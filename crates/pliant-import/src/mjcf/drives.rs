//! Defaults of actuators. All kinds share one set. The law of `general` is part of it, and that of
//! each other kind stands beside it, which other kinds do not see. A class says one law: that of the
//! last kind in it, beside those of the class around it. `general` takes the law of the last kind,
//! and puts it in the place of all.

use crate::error::ImportError;
use crate::xml::{Attribute, Spot, Tree};

type Result<T> = std::result::Result<T, ImportError>;

/// The attribute of a list that says which kind of actuator was the last to set its law. No file
/// can have it, for its name.
const LAST: &str = "last-kind?";
/// Between a kind and an attribute of its law, in the name of an attribute of a list.
const OWNED: char = ' ';
/// Attributes of the law of `general` that no other kind sees.
const SHAPES: [&str; 4] = ["gaintype", "biastype", "dyntype", "dynprm"];
/// Attributes of a law.
pub(super) const LAW: [&str; 9] = [
    "kp",
    "kv",
    "timeconst",
    "gainprm",
    "biasprm",
    "gaintype",
    "biastype",
    "dyntype",
    "dynprm",
];
/// The kind whose attributes are the law itself.
const GENERAL: &str = "general";

/// Defaults as an actuator of a kind has them, without what it sets itself: what `general` has, and
/// above it the law of its own kind; to `general` the law of the last kind is gain, bias and
/// dynamics.
pub(super) fn seen_by(tree: &Tree, list: &[Attribute], kind: &str) -> Result<Vec<Attribute>> {
    let last = list.iter().find(|a| a.name == LAST);
    let (last, spot) = last.map_or((GENERAL, Spot::default()), |a| (a.value.as_str(), a.spot));
    let wanted = if kind == GENERAL { last } else { kind };
    let own = list.iter().filter_map(|a| match a.name.split_once(OWNED) {
        Some((owner, name)) if owner == wanted => Some(Attribute {
            name: name.to_owned(),
            ..a.clone()
        }),
        _ => None,
    });
    let mut out: Vec<Attribute> = own.collect();
    let law = out.len();
    for attribute in list.iter().filter(|a| a.name != LAST && !a.name.contains(OWNED)) {
        let hidden = wanted != GENERAL && SHAPES.contains(&attribute.name.as_str());
        if !hidden && out[..law].iter().all(|a| a.name != attribute.name) {
            out.push(attribute.clone());
        }
    }
    if kind != GENERAL || last == GENERAL {
        return Ok(out);
    }
    let law = general(tree, &out, last)?;
    out.retain(|a| !LAW.contains(&a.name.as_str()));
    out.extend(law.into_iter().map(|(name, value)| Attribute {
        name: name.to_owned(),
        value,
        spot,
    }));
    Ok(out)
}

/// Makes a list ready for the attributes of a kind in a class; `around` is that of the class around
/// it. `general` sees the law of the last kind, and leaves none beside it; any other one keeps what
/// it sees as its own, and leaves those of the class around it beside it.
pub(super) fn open_for(
    tree: &Tree,
    list: &mut Vec<Attribute>,
    around: &[Attribute],
    kind: &str,
    spot: Spot,
) -> Result<()> {
    let seen = seen_by(tree, list, kind)?;
    let is_law = |a: &Attribute| LAW.contains(&a.name.as_str());
    *list = match kind {
        GENERAL => seen,
        _ => {
            let (law, mut rest): (Vec<Attribute>, Vec<Attribute>) = seen.into_iter().partition(is_law);
            rest.extend(law.into_iter().map(|a| Attribute {
                name: owned(kind, &a.name),
                ..a
            }));
            let other = |a: &&Attribute| match a.name.split_once(OWNED) {
                Some((owner, _)) => owner != kind,
                None => is_law(a),
            };
            rest.extend(around.iter().filter(other).cloned());
            rest
        }
    };
    list.push(Attribute {
        name: LAST.to_owned(),
        value: kind.to_owned(),
        spot,
    });
    Ok(())
}

/// The name under which a list has an attribute of a kind.
pub(super) fn owned(kind: &str, name: &str) -> String {
    match kind != GENERAL && LAW.contains(&name) {
        true => format!("{kind}{OWNED}{name}"),
        false => name.to_owned(),
    }
}

/// The law of a kind as attributes of `general`.
fn general(tree: &Tree, list: &[Attribute], kind: &str) -> Result<Vec<(&'static str, String)>> {
    let entry = |name: &str, index: usize| -> Result<Option<f64>> {
        let attribute = list.iter().find(|a| a.name == name);
        let numbers = attribute.map(|a| tree.parse(a, false)).transpose()?;
        Ok(numbers.and_then(|n| n.get(index).copied()))
    };
    let gain = entry("gainprm", 0)?;
    let affine = |gain: f64, bias: String| {
        vec![
            ("gainprm", gain.to_string()),
            ("biastype", "affine".to_owned()),
            ("biasprm", bias),
        ]
    };
    Ok(match kind {
        "motor" => Vec::new(),
        "position" => {
            let kp = entry("kp", 0)?.or(gain).unwrap_or(1.0);
            let bias = entry("kv", 0)?.map(|kv| -kv).or(entry("biasprm", 2)?);
            let mut law = affine(kp, format!("0 {} {}", -kp, bias.unwrap_or_default()));
            if entry("timeconst", 0)?.is_some_and(|t| t > 0.0) {
                law.push(("dyntype", "filterexact".to_owned()));
            }
            law
        }
        "velocity" => {
            let kv = entry("kv", 0)?.or(gain).unwrap_or(1.0);
            affine(kv, format!("0 0 {}", -kv))
        }
        // No law that is taken.
        other => vec![("gaintype", other.to_owned())],
    })
}
