//! Axes: the values that parameters take in turn.

use crate::SweepError;
use pliant_scene::{constant, hint};
use std::ops::Range;

/// The most values of one range: more would not be run, and must not fill the memory.
pub const MOST_VALUES: usize = 1_000_000;

/// One or several parameters that vary together, and their values point by point.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    /// Names of the parameters.
    pub names: Vec<String>,
    /// Values of all of them at each point; at least one point.
    pub points: Vec<Vec<f64>>,
}

/// The two ranges, with the names that they have in NumPy. Their values are the decimals where
/// there are any: 0.3, and not the sum of three tenths.
#[derive(Clone, Copy)]
enum Spacing {
    Linear,
    Geometric,
}

const RANGES: [(&str, Spacing); 2] = [("linspace", Spacing::Linear), ("geomspace", Spacing::Geometric)];

const VALUES: &str =
    "values are separated by commas, as in `k=1,2,5`; ranges are `linspace(FROM, TO, COUNT)`";

/// A text with its name, for messages.
struct Source<'a> {
    file: &'a str,
    text: &'a str,
}

impl Source<'_> {
    fn wrong<T>(
        &self,
        range: Range<usize>,
        message: impl Into<String>,
        help: Option<String>,
    ) -> Result<T, SweepError> {
        Err(SweepError::at(self.file, self.text, range, message, help))
    }

    /// The value that a part of the text between commas is.
    fn value(&self, range: Range<usize>) -> Result<f64, SweepError> {
        let separated = self.text[range.clone()].contains([';', ':']);
        let mut result = self.number(range);
        if separated && let Err(SweepError::Place(diagnostic)) = &mut result {
            diagnostic.help = Some(VALUES.to_owned());
        }
        result
    }

    /// The number that a part of the text is.
    fn number(&self, range: Range<usize>) -> Result<f64, SweepError> {
        number(self.file, self.text, range)
    }
}

impl Axis {
    /// Reads `NAME=VALUES`: numbers and expressions without parameters, `linspace(FROM, TO, COUNT)`
    /// and `geomspace(FROM, TO, COUNT)`, separated by commas. `file` is the name of the text in
    /// messages.
    ///
    /// # Errors
    /// [`SweepError::Place`] with a caret at what does not fit.
    pub fn parse(file: &str, text: &str) -> Result<Self, SweepError> {
        let source = Source { file, text };
        let Some(equals) = text.find('=') else {
            return source.wrong(0..text.len(), "expected NAME=VALUES", None);
        };
        let name = text[..equals].trim().trim_start_matches('$');
        if name.is_empty() {
            return source.wrong(0..equals, "expected the name of a parameter", None);
        }
        let mut points = Vec::new();
        for part in parts(text, equals + 1..text.len()) {
            match range_of(text, part.clone()) {
                Some((spacing, inner)) => points.extend(range(&source, spacing, part, inner)?),
                None => points.push(source.value(part)?),
            }
        }
        Ok(Self {
            names: vec![name.to_owned()],
            points: points.into_iter().map(|value| vec![value]).collect(),
        })
    }
}

/// The number that a part of a text is.
pub(crate) fn number(file: &str, text: &str, range: Range<usize>) -> Result<f64, SweepError> {
    let part = trimmed(text, range);
    constant(&text[part.clone()]).map_err(|error| {
        let inner = part.start + error.range.start..part.start + error.range.end;
        SweepError::at(file, text, inner, error.message, error.help)
    })
}

/// A range of a text without the blanks at its ends.
pub(crate) fn trimmed(text: &str, range: Range<usize>) -> Range<usize> {
    let part = &text[range.clone()];
    let start = range.start + part.len() - part.trim_start().len();
    start..start + part.trim().len()
}

/// The parts of a range of a text between the commas that are outside of parentheses.
fn parts(text: &str, range: Range<usize>) -> Vec<Range<usize>> {
    let (mut depth, mut start) = (0usize, range.start);
    let mut all = Vec::new();
    for (offset, c) in text[range.clone()].char_indices() {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                all.push(start..range.start + offset);
                start = range.start + offset + 1;
            }
            _ => {}
        }
    }
    all.push(start..range.end);
    all
}

/// The kind of a range and what is in its parentheses, if a part of a text is one.
fn range_of(text: &str, part: Range<usize>) -> Option<(Spacing, Range<usize>)> {
    let part = trimmed(text, part);
    let open = text[part.clone()].find('(')?;
    let (_, spacing) = RANGES
        .iter()
        .find(|(name, _)| *name == text[part.start..part.start + open].trim_end())?;
    let inner = part.start + open + 1..part.end.saturating_sub(1);
    text[part].ends_with(')').then_some((*spacing, inner))
}

fn range(
    source: &Source<'_>,
    spacing: Spacing,
    whole: Range<usize>,
    inner: Range<usize>,
) -> Result<Vec<f64>, SweepError> {
    let whole = trimmed(source.text, whole);
    let arguments = parts(source.text, inner);
    let Ok([from, to, count]) = <[Range<usize>; 3]>::try_from(arguments) else {
        let help = "as in `linspace(0, 1, 11)`: both ends and how many values, the ends among them";
        return source.wrong(whole, "expected three numbers", Some(help.to_owned()));
    };
    let ends = [source.number(from)?, source.number(to)?];
    let values = source.number(count.clone())?;
    if values.fract() != 0.0 || !(2.0..=MOST_VALUES as f64).contains(&values) {
        let message = format!("the count is {values}, but must be whole and from 2 to {MOST_VALUES}");
        return source.wrong(trimmed(source.text, count), message, None);
    }
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "whole and within bounds"
    )]
    let count = values as usize;
    // Not by their product, which may be too small to have a sign.
    let one_sign = ends.iter().all(|end| *end > 0.0) || ends.iter().all(|end| *end < 0.0);
    if matches!(spacing, Spacing::Geometric) && !one_sign {
        let message = "the ends of a geometric range must both be positive or both be negative";
        return source.wrong(whole, message, None);
    }
    if !((ends[1] - ends[0]) * values).is_finite() {
        return source.wrong(whole, "the ends are too far apart", None);
    }
    Ok((0..count).map(|i| spaced(spacing, ends, i, count - 1)).collect())
}

/// The value `i` of those from 0 to `last`; the ends are exact.
fn spaced(spacing: Spacing, [from, to]: [f64; 2], i: usize, last: usize) -> f64 {
    if i == 0 {
        return from;
    }
    if i == last {
        return to;
    }
    let (i, last) = (i as f64, last as f64);
    match spacing {
        // Half a rounding of the larger end each: of the ends, the weights, the products, the sum.
        Spacing::Linear => {
            let value = from * ((last - i) / last) + to * (i / last);
            decimal(value, from.abs().max(to.abs()), 2.0)
        }
        Spacing::Geometric => {
            let (a, b) = (from.abs().log10(), to.abs().log10());
            let exponent = a + (b - a) * i / last;
            let value = 10f64.powf(exponent).copysign(from);
            // An error of the exponent is one of the value, times the logarithm of ten.
            let roundings = 2.0 + 2.0 * std::f64::consts::LN_10 * a.abs().max(b.abs());
            decimal(value, value.abs(), roundings)
        }
    }
}

/// Digits of the decimals that values are taken for.
const DIGITS: f64 = 12.0;

/// The decimal of some digits beside a value, if the value is that but for so many roundings of
/// numbers of a size; the value itself otherwise.
fn decimal(value: f64, size: f64, roundings: f64) -> f64 {
    // Digits behind the first: fewer where the value is small beside what it is the difference of.
    let behind = DIGITS - (size.log10().floor() - value.abs().log10().floor());
    let near = if behind >= 0.0 {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "whole, not negative, and not more than the digits"
        )]
        let behind = behind.min(DIGITS) as usize;
        format!("{value:.behind$e}").parse().unwrap_or(value)
    } else {
        0.0
    };
    if (near - value).abs() <= roundings * f64::EPSILON * size {
        near
    } else {
        value
    }
}

/// The points of all axes together, in the order of nested loops: the last axis changes fastest.
///
/// # Errors
/// [`SweepError::Setting`] if a parameter has two axes, or if there are more than `most` points.
pub fn product(axes: &[Axis], most: usize) -> Result<Axis, SweepError> {
    let mut all = Axis {
        names: Vec::new(),
        points: vec![Vec::new()],
    };
    for axis in axes {
        if let Some(twice) = axis.names.iter().find(|name| all.names.contains(name)) {
            let message = format!("the parameter `{twice}` is given twice");
            let help = "values of one parameter go into one list: `--set k=1,2,5`".to_owned();
            return Err(SweepError::setting(message, Some(help)));
        }
        let count = all.points.len().saturating_mul(axis.points.len());
        if count > most {
            let sizes: Vec<String> = axes.iter().map(|a| a.points.len().to_string()).collect();
            let message = format!("{} jobs are more than the limit of {most}", sizes.join(" x "));
            let help = "`--max-jobs` raises the limit".to_owned();
            return Err(SweepError::setting(message, Some(help)));
        }
        all.names.extend(axis.names.iter().cloned());
        let pairs = all
            .points
            .iter()
            .flat_map(|point| axis.points.iter().map(move |more| [&point[..], more].concat()));
        all.points = pairs.collect();
    }
    Ok(all)
}

/// Checks that a scene has all parameters of an axis.
///
/// # Errors
/// [`SweepError::Setting`] with the first that it has not, and the nearest that it has.
pub fn check_names(axis: &Axis, known: &[&str]) -> Result<(), SweepError> {
    match axis.names.iter().find_map(|name| stranger(name, known)) {
        None => Ok(()),
        Some((message, help)) => Err(SweepError::setting(message, help)),
    }
}

/// The sentence about a name that no parameter has, and the nearest that one has; none if one has
/// it.
pub(crate) fn stranger(name: &str, known: &[&str]) -> Option<(String, Option<String>)> {
    if known.contains(&name) {
        return None;
    }
    let help = hint(name, "parameters", known.iter().copied());
    let help = help.or_else(|| Some("this scene has no parameters".to_owned()));
    Some((format!("unknown parameter `{name}`"), help))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn values(text: &str) -> Vec<f64> {
        let axis = Axis::parse("--set", text).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(axis.names, ["k"]);
        axis.points.into_iter().map(|point| point[0]).collect()
    }

    /// Ranges as NumPy names them, with the decimals where there are any.
    #[test]
    fn values_lists_and_ranges() {
        assert_eq!(values("k=3"), [3.0]);
        assert_eq!(values(" $k = 1 ,2, 5e-1"), [1.0, 2.0, 0.5]);
        assert_eq!(
            values("k=pi/2,max(1,2),-2^2"),
            [std::f64::consts::FRAC_PI_2, 2.0, -4.0]
        );
        assert_eq!(values("k=linspace(0, 1, 11)")[3], 0.3);
        assert_eq!(values("k=linspace(0,1,5),7"), [0.0, 0.25, 0.5, 0.75, 1.0, 7.0]);
        assert_eq!(values("k=linspace(2, -2, 3)"), [2.0, 0.0, -2.0]);
        assert_eq!(values("k=linspace(0.1, 0.7, 2)"), [0.1, 0.7]);
        let decades = [1.0, 10.0, 100.0, 1e3, 1e4, 1e5, 1e6];
        assert_eq!(values("k=geomspace(1, 1e6, 7)"), decades);
        assert_eq!(values("k=geomspace(-1e2, -1, 3)"), [-100.0, -10.0, -1.0]);
        assert_eq!(values("k=geomspace(1, 4, 3)")[1], 2.0);
        // Their product is below the smallest number.
        assert_eq!(values("k=geomspace(1e-200, 1e-180, 3)"), [1e-200, 1e-190, 1e-180]);
        assert_eq!(values("k=geomspace(-1e-200, -1e-180, 3)")[0], -1e-200);
        assert_eq!(values("k=linspace(0, pi, 1 + 1)")[1], std::f64::consts::PI);
    }

    /// The values of ranges are those that one would write down, to the bit.
    #[test]
    fn ranges_have_decimals() {
        assert_eq!(values("k=linspace(0.1,0.5,5)"), [0.1, 0.2, 0.3, 0.4, 0.5]);
        assert_eq!(values("k=linspace(-1,1,2001)")[999], -0.001);
        assert_eq!(values("k=linspace(-1e-3,1e-3,3)")[1].to_bits(), 0);
        assert_eq!(values("k=linspace(0,1e25,5)")[3], 7.5e24);
        assert_eq!(values("k=linspace(0,1e-300,11)")[3], 3e-301);
        let powers: Vec<f64> = (0..11).map(|k| f64::from(1 << k)).collect();
        assert_eq!(values("k=geomspace(1,1024,11)"), powers);
        let tenths: Vec<f64> = (-300..=300).map(|k| format!("1e{k}").parse().unwrap()).collect();
        assert_eq!(values("k=geomspace(1e-300,1e300,601)"), tenths);
        // What is none stays as it is, but for some roundings.
        for (k, value) in values("k=linspace(0,pi,1000)").iter().enumerate() {
            let exact = std::f64::consts::PI * k as f64 / 999.0;
            assert!((value - exact).abs() <= 2.0 * f64::EPSILON * std::f64::consts::PI);
        }
    }

    #[test]
    fn errors_have_a_caret_at_the_place() {
        for (text, message, caret) in [
            ("k", "expected NAME=VALUES", "^"),
            ("=1", "expected the name", "^"),
            ("k=", "ends too early", "  ^"),
            ("k=1,,2", "ends too early", "    ^"),
            ("k=1,2,", "ends too early", "      ^"),
            ("k=1,x2,3", "unknown name `x2`", "    ^^"),
            ("k=1,1/0", "division by zero", "      ^"),
            ("k=2,$m", "unknown parameter `$m`", "    ^^"),
            ("k=linspace(0,1)", "expected three numbers", "  ^^^^^^^^^^^^^"),
            ("k=linspace(0,1,2.5)", "the count is 2.5", "               ^^^"),
            ("k=linspace(0,1,1)", "whole and from 2", "               ^"),
            ("k=linspace(0,1,1e9)", "from 2 to 1000000", "               ^^^"),
            ("k=linspace(0,y,3)", "unknown name `y`", "             ^"),
            ("k=geomspace(0,1,3)", "both be positive", "  ^^^^^^^^^^^^^^^^"),
            ("k=geomspace(1,0,3)", "both be positive", "  ^^^^^^^^^^^^^^^^"),
            ("k=geomspace(-1,1,3)", "both be positive", "  ^^^^^^^^^^^^^^^^^"),
            ("k=linspace(-1e308,1e308,3)", "too far apart", "  ^^^^^^"),
            ("k=logspace(0,1,3)", "unknown name `logspace`", "  ^^^^^^^^"),
            ("k=linspace(0,1,3", "", "  ^"),
        ] {
            let shown = Axis::parse("--set", text).unwrap_err().to_string();
            assert!(shown.contains(message), "{text}: {shown}");
            assert!(shown.contains(&format!("  | {caret}")), "{text}: {shown}");
        }
    }

    #[test]
    fn other_separators_are_told() {
        for text in ["k=1;2", "k=0:1:0.1", "k=1,2;3"] {
            let shown = Axis::parse("--set", text).unwrap_err().to_string();
            assert!(shown.contains("values are separated by commas"), "{shown}");
        }
    }

    fn axis(name: &str, values: Vec<f64>) -> Axis {
        Axis {
            names: vec![name.to_owned()],
            points: values.into_iter().map(|v| vec![v]).collect(),
        }
    }

    /// Ends of different signs, whose difference is rounded more than they are.
    #[test]
    fn ranges_across_zero_have_decimals() {
        let all = values("k=linspace(-1.4e-5,2.1e-5,36)");
        let expected: Vec<f64> = (-14..=21).map(|k| format!("{k}e-6").parse().unwrap()).collect();
        assert_eq!(all, expected);
    }

    proptest! {
        /// Whole numbers of tenths, hundredths and so on are these.
        #[test]
        fn steps_of_decimals_are_decimals(from in -999i32..999, count in 2usize..50, places in 0u32..9) {
            let unit = 10f64.powi(places as i32);
            let last = from + count as i32 - 1;
            let all = values(&format!("k=linspace({:?},{:?},{count})", f64::from(from) / unit, f64::from(last) / unit));
            let expected: Vec<f64> = (from..=last).map(|k| f64::from(k) / unit).collect();
            prop_assert_eq!(all, expected);
        }

        /// The product has as many points as the sizes say, each once, in the order of an odometer.
        #[test]
        fn products_count_and_order(sizes in prop::collection::vec(1usize..6, 0..5)) {
            let axes: Vec<Axis> = sizes
                .iter()
                .enumerate()
                .map(|(k, size)| axis(&format!("p{k}"), (0..*size).map(|v| v as f64).collect()))
                .collect();
            let all = product(&axes, 10_000).unwrap();
            let count: usize = sizes.iter().product();
            prop_assert_eq!(all.points.len(), count);
            prop_assert_eq!(all.names.len(), sizes.len());
            for (index, point) in all.points.iter().enumerate() {
                let mut rest = index;
                for (k, size) in sizes.iter().enumerate().rev() {
                    prop_assert_eq!(point[k], (rest % size) as f64);
                    rest /= size;
                }
            }
            prop_assert!(count == 1 || product(&axes, count - 1).is_err());
        }

        /// Any text is an axis or an error that can be shown, and never a panic.
        #[test]
        fn any_text_is_read(text in "[k=,() 0-9lingeomspac.$*^/ä\\-]{0,40}") {
            if let Err(error) = Axis::parse("--set", &text) {
                prop_assert!(error.to_string().contains('^'));
            }
        }
    }

    #[test]
    fn a_parameter_has_one_axis_and_the_count_has_a_limit() {
        let twice = product(&[axis("k", vec![1.0]), axis("k", vec![2.0])], 10).unwrap_err();
        assert!(twice.to_string().contains("`k` is given twice"), "{twice}");
        let many = axis("k", vec![0.0; 1000]);
        let also = axis("l", vec![0.0; 1001]);
        let error = product(&[many, also], 100_000).unwrap_err().to_string();
        assert!(
            error.contains("1000 x 1001 jobs are more than the limit of 100000"),
            "{error}"
        );
    }
}
