//! Numbers as text: the shortest that is read back as the same number.

use pliant_dense::Vec3;

/// A number.
pub(crate) fn number(x: f64) -> String {
    // Also takes the sign from a zero.
    if x == 0.0 {
        return "0".to_owned();
    }
    if (1e-4..1e7).contains(&x.abs()) {
        format!("{x}")
    } else {
        format!("{x:e}")
    }
}

/// Numbers in round brackets.
pub(crate) fn tuple(list: &[f64]) -> String {
    let list: Vec<String> = list.iter().map(|x| number(*x)).collect();
    format!("({})", list.join(", "))
}

/// Computed numbers of one size without what rounding left in them: to 15 digits of the largest.
pub(crate) fn tidy<const N: usize>(list: [f64; N]) -> [f64; N] {
    let largest = list.iter().fold(0.0f64, |m, x| m.max(x.abs()));
    if !largest.is_normal() {
        return list;
    }
    let digits = 14 - largest.log10().floor() as i32;
    list.map(|x| match usize::try_from(digits) {
        Ok(digits) => format!("{x:.digits$}").parse().unwrap_or(x),
        Err(_) => x,
    })
}

/// A computed vector.
pub(crate) fn vector(v: Vec3) -> String {
    tuple(&tidy([v.x, v.y, v.z]))
}

/// A position; lengths below a picometre are what rounding left.
pub(crate) fn position(v: Vec3) -> [f64; 3] {
    let [x, y, z, _] = tidy([v.x, v.y, v.z, 1.0]);
    // Small vectors keep their own digits.
    if v.norm() < 1e-3 && v.norm() > 1e-12 {
        tidy([v.x, v.y, v.z])
    } else {
        [x, y, z]
    }
}

/// A text in quotes.
pub(crate) fn text(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shortest_text_is_the_same_number() {
        for (x, expected) in [
            (0.1, "0.1"),
            (-0.0, "0"),
            (1e-7, "1e-7"),
            (3.0, "3"),
            (0.0005, "0.0005"),
            (1e300, "1e300"),
            (-2.5e-5, "-2.5e-5"),
        ] {
            assert_eq!(number(x), expected);
        }
        for x in [
            0.1 + 0.2,
            f64::MIN_POSITIVE,
            f64::MAX,
            std::f64::consts::PI,
            5e-324,
        ] {
            assert_eq!(number(x).parse::<f64>().unwrap(), x);
        }
    }

    #[test]
    fn rounding_is_taken_out_of_computed_numbers() {
        assert_eq!(tidy([0.1 + 0.2, 6e-17, 1.0]), [0.3, 0.0, 1.0]);
        assert_eq!(tidy([3e-200, 1.234567890123456]), [0.0, 1.23456789012346]);
        assert_eq!(tidy([1e300, 0.0]), [1e300, 0.0]);
    }
}
