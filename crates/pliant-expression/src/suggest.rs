//! "Did you mean": the nearest known name to a misspelt one.

/// The candidate within a third of the length in edits, if any; the first of equals.
pub fn nearest<'a>(wanted: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    /// Longer names are no typing errors, and the cost is quadratic.
    const LONGEST: usize = 64;
    let wanted: Vec<char> = wanted.to_lowercase().chars().take(LONGEST).collect();
    // Any letter is one edit from any other.
    let allowed = if wanted.len() < 2 {
        0
    } else {
        (wanted.len() / 3).max(1)
    };
    candidates
        .into_iter()
        .map(|candidate| (distance(&wanted, candidate, LONGEST), candidate))
        .filter(|(edits, _)| *edits <= allowed)
        .min_by_key(|(edits, _)| *edits)
        .map(|(_, candidate)| candidate)
}

/// "did you mean `x`?", or else the list of what there is, after `what` it is; nothing if there is
/// nothing.
pub fn hint<'a>(
    wanted: &str,
    what: &str,
    candidates: impl IntoIterator<Item = &'a str> + Clone,
) -> Option<String> {
    /// A longer list hides what it says.
    const SHOWN: usize = 24;
    if let Some(near) = nearest(wanted, candidates.clone()) {
        return Some(format!("did you mean `{near}`?"));
    }
    let mut listed: Vec<String> = candidates.into_iter().map(|c| format!("`{c}`")).collect();
    if listed.is_empty() {
        return None;
    }
    if listed.len() > SHOWN {
        let more = listed.len() - SHOWN;
        listed.truncate(SHOWN);
        listed.push(format!("and {more} more"));
    }
    Some(format!("{what}: {}", listed.join(", ")))
}

/// Edits (insert, delete, replace, swap neighbours) from `wanted` to `candidate`, ignoring case.
fn distance(wanted: &[char], candidate: &str, longest: usize) -> usize {
    let candidate: Vec<char> = candidate.to_lowercase().chars().take(longest).collect();
    let width = candidate.len() + 1;
    let mut rows: [Vec<usize>; 3] = [vec![0; width], (0..width).collect(), vec![0; width]];
    for (i, a) in wanted.iter().enumerate() {
        let [before, last, row] = &mut rows;
        row[0] = i + 1;
        for (j, b) in candidate.iter().enumerate() {
            let replaced = last[j] + usize::from(a != b);
            row[j + 1] = replaced.min(last[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && *a == candidate[j - 1] && wanted[i - 1] == *b {
                row[j + 1] = row[j + 1].min(before[j - 1] + 1);
            }
        }
        rows.rotate_left(1);
    }
    rows[1][width - 1]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_nearest_name_and_nothing_far_away() {
        let known = ["compliance", "stiffness", "mass"];
        assert_eq!(nearest("complience", known), Some("compliance"));
        assert_eq!(nearest("Compliance", known), Some("compliance"));
        assert_eq!(nearest("masss", known), Some("mass"));
        assert_eq!(nearest("amss", known), Some("mass"));
        assert_eq!(nearest("young", known), None);
        assert_eq!(nearest("", known), None);
        assert_eq!(
            hint("young", "known", known).as_deref(),
            Some("known: `compliance`, `stiffness`, `mass`")
        );
        assert_eq!(hint("x", "known", []), None);
    }
}
