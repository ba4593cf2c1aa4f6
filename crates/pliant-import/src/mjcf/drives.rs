//! Defaults of actuators. All kinds share one set: each kind that says something of them leaves its
//! law there, which others read in their own way.

use crate::error::ImportError;
use crate::xml::{Attribute, Spot, Tree};

type Result<T> = std::result::Result<T, ImportError>;

/// The attribute of a list that says which kind of actuator was the last to set its law. No file
/// can have it, for its name.
const LAST: &str = "last kind";
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

/// Defaults as an actuator of a kind has them, without what it sets itself: a law of another kind
/// is none to it, and to `general` it is gain, bias and dynamics.
pub(super) fn seen_by(tree: &Tree, list: &[Attribute], kind: &str) -> Result<Vec<Attribute>> {
    let last = list.iter().find(|a| a.name == LAST);
    let (last, spot) = last.map_or((GENERAL, Spot::default()), |a| (a.value.as_str(), a.spot));
    let mut out: Vec<Attribute> = list.iter().filter(|a| a.name != LAST).cloned().collect();
    if kind != GENERAL {
        let kept = |name: &str| match name {
            "gaintype" | "biastype" | "dyntype" | "dynprm" => false,
            _ => last == GENERAL || last == kind,
        };
        out.retain(|a| !LAW.contains(&a.name.as_str()) || kept(&a.name));
        return Ok(out);
    }
    if last == GENERAL {
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

/// Sets the kind of actuator whose law a list has.
pub(super) fn mark(list: &mut Vec<Attribute>, kind: &str, spot: Spot) {
    list.push(Attribute {
        name: LAST.to_owned(),
        value: kind.to_owned(),
        spot,
    });
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
