//! The arguments of a task: a closed set of switches, and a suggestion for a misspelt one.

use crate::error::Error;

/// Which of the `known` switches are given, in the order of `known`.
pub(crate) fn switches<const N: usize>(
    task: &'static str,
    args: &[String],
    known: [&str; N],
) -> Result<[bool; N], Error> {
    let mut given = [false; N];
    for arg in args {
        let Some(position) = known.iter().position(|flag| flag == arg) else {
            return Err(Error::UnknownFlag {
                task,
                flag: arg.clone(),
                nearest: nearest(arg, &known),
            });
        };
        given[position] = true;
    }
    Ok(given)
}

/// The candidate that needs the fewest edits to become `word`, if at most half of its letters
/// change.
pub(crate) fn nearest(word: &str, candidates: &[&str]) -> Option<String> {
    candidates
        .iter()
        .map(|candidate| (edit_distance(word, candidate), candidate))
        .filter(|(distance, candidate)| 2 * distance <= candidate.chars().count().max(2))
        .min()
        .map(|(_, candidate)| (*candidate).to_owned())
}

/// The number of insertions, deletions, replacements and swaps of neighbours between two words (the
/// restricted Damerau-Levenshtein distance).
fn edit_distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    // d[i][j]: the distance between the first i letters of a and the first j letters of b.
    let mut d = vec![vec![0; b.len() + 1]; a.len() + 1];
    for i in 0..=a.len() {
        for j in 0..=b.len() {
            if i == 0 || j == 0 {
                d[i][j] = i + j;
                continue;
            }
            let replace = usize::from(a[i - 1] != b[j - 1]);
            d[i][j] = (d[i - 1][j] + 1)
                .min(d[i][j - 1] + 1)
                .min(d[i - 1][j - 1] + replace);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                d[i][j] = d[i][j].min(d[i - 2][j - 2] + 1);
            }
        }
    }
    d[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distance_counts_edits() {
        assert_eq!(edit_distance("", "abc"), 3);
        assert_eq!(edit_distance("tidy", "tidy"), 0);
        assert_eq!(edit_distance("tydi", "tidy"), 2);
        assert_eq!(edit_distance("ic", "ci"), 1);
    }

    #[test]
    fn nearest_gives_up_on_a_word_unlike_all() {
        assert_eq!(nearest("metric", &["ci", "metrics"]).as_deref(), Some("metrics"));
        assert_eq!(nearest("ic", &["ci", "metrics"]).as_deref(), Some("ci"));
        assert_eq!(nearest("deploy", &["ci", "metrics"]), None);
    }

    #[test]
    fn switches_are_closed() {
        let args = ["--open".to_owned()];
        assert_eq!(
            switches("docs", &args, ["--check", "--open"]).ok(),
            Some([false, true])
        );
        let error = switches("docs", &args, ["--opened"]).unwrap_err();
        assert!(error.to_string().contains("`--opened`"), "{error}");
    }
}
