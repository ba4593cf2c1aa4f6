//! Documentation comments as paragraphs: a summary, labelled paragraphs, the rest.

/// Documentation of an item, its paragraphs apart, without examples and what follows the first heading.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Doc {
    paragraphs: Vec<String>,
}

impl Doc {
    /// Paragraphs of the lines, each on one line.
    pub(super) fn of(lines: &[String]) -> Self {
        let mut paragraphs = vec![String::new()];
        let mut in_example = false;
        for line in lines {
            if line.trim_start().starts_with("```") {
                in_example = !in_example;
                continue;
            }
            if in_example {
                continue;
            }
            if line.starts_with("# ") {
                break;
            }
            let text = line.trim();
            let current = paragraphs.len() - 1;
            if text.is_empty() {
                paragraphs.push(String::new());
            } else {
                let last = &mut paragraphs[current];
                if !last.is_empty() {
                    last.push(' ');
                }
                last.push_str(text);
            }
        }
        paragraphs.retain(|paragraph| !paragraph.is_empty());
        Self { paragraphs }
    }

    /// The first paragraph, if it has no label.
    pub(super) fn summary(&self) -> Option<&str> {
        let first = self.paragraphs.first()?;
        label(first).is_none().then_some(first)
    }

    /// The paragraph that starts with `**Label.**`, without that; `None` also if nothing follows.
    pub(super) fn labelled(&self, name: &str) -> Option<&str> {
        self.paragraphs
            .iter()
            .filter_map(|paragraph| label(paragraph))
            .find(|(found, rest)| *found == name && !rest.is_empty())
            .map(|(_, rest)| rest)
    }

    /// The paragraphs behind the summary that have no label.
    pub(super) fn notes(&self) -> impl Iterator<Item = &str> {
        self.paragraphs
            .iter()
            .skip(1)
            .map(String::as_str)
            .filter(|paragraph| label(paragraph).is_none())
    }

    /// Everything, in one paragraph.
    pub(super) fn whole(&self) -> String {
        self.paragraphs.join(" ")
    }
}

/// The label and the rest of `**Label.** The rest`.
fn label(paragraph: &str) -> Option<(&str, &str)> {
    let (name, rest) = paragraph.strip_prefix("**")?.split_once(".**")?;
    Some((name, rest.trim_start()))
}

/// Symbols of units, as the documentation writes them.
const UNITS: &[&str] = &["m", "s", "kg", "N", "J", "Pa", "rad", "none"];

/// Whether a unit stands in parentheses: `(m)`, `(N s/m)`, `(1/s)`, `(elements, or fixed points in m)`, `(none)`.
pub(super) fn states_unit(text: &str) -> bool {
    let prose = text.split('`').step_by(2).collect::<Vec<_>>().join(" ");
    prose.split('(').skip(1).any(|group| {
        let group = group.split(')').next().unwrap_or(group);
        group.contains("no unit")
            || group
                .split(|c: char| !(c.is_alphanumeric() || c == '^'))
                .filter_map(|word| word.split('^').next())
                .any(|word| UNITS.contains(&word))
    })
}

/// Whether a code span holds an equation or an inequality.
pub(super) fn states_equation(text: &str) -> bool {
    let mut spans = text.split('`').skip(1).step_by(2);
    let signs = [" = ", " <= ", " >= ", " < ", " > "];
    spans.any(|span| signs.iter().any(|sign| span.contains(sign)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn doc(text: &str) -> Doc {
        Doc::of(&text.lines().map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn paragraphs_are_told_apart_by_their_labels() {
        let doc = doc(
            "A spring,\nand more.\n\n**Equation.** `f = -k x`\nwith `k` (N/m).\n\nA note.\n\n\
                       **Use.** Ropes.\n\n```\nlet a = 1;\n```\n\n# Errors\nOf all kinds.\n",
        );
        assert_eq!(doc.summary(), Some("A spring, and more."));
        assert_eq!(doc.labelled("Equation"), Some("`f = -k x` with `k` (N/m)."));
        assert_eq!(doc.labelled("Use"), Some("Ropes."));
        assert_eq!(doc.labelled("Parents"), None);
        assert_eq!(doc.notes().collect::<Vec<_>>(), ["A note."]);
    }

    #[test]
    fn an_empty_label_or_a_missing_summary_counts_as_missing() {
        let doc = doc("**Use.**\n");
        assert_eq!((doc.labelled("Use"), doc.summary()), (None, None));
        assert_eq!(Doc::of(&[]).summary(), None);
    }

    #[test]
    fn units_stand_in_parentheses() {
        for good in [
            "Length (m).",
            "Damping (N s/m), zero or more.",
            "A rate (1/s)",
            "A factor (none)",
            "(elements, or fixed points in m)",
            "Weights (no unit)",
            "Area (m^2)",
        ] {
            assert!(states_unit(good), "{good}");
        }
        for bad in [
            "Length in m.",
            "The pair `(m, s)`.",
            "Pairs (a, b).",
            "A length (long)",
        ] {
            assert!(!states_unit(bad), "{bad}");
        }
    }

    #[test]
    fn equations_stand_in_code() {
        assert!(states_equation("The row `J v+ = 0` holds."));
        assert!(states_equation("At most: `|f| <= F`."));
        assert!(!states_equation("f = 0, with `f`"));
    }
}
