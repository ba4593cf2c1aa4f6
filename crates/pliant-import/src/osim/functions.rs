//! Functions of one coordinate: constants, lines, splines and polynomials.

use crate::error::ImportError;
use crate::robot::Shape1;
use crate::xml::Tree;

type Result<T> = std::result::Result<T, ImportError>;

/// A function of one coordinate.
#[derive(Clone, Debug)]
pub(super) enum Function {
    Constant(f64),
    /// Slope and value at zero.
    Line(f64, f64),
    Curve(Shape1),
}

impl Function {
    pub(super) fn value(&self, x: f64) -> f64 {
        match self {
            Self::Constant(y) => *y,
            Self::Line(slope, y) => slope * x + y,
            Self::Curve(shape) => shape.at(x).0,
        }
    }

    /// Multiplies the values of the function by a factor.
    fn times(self, factor: f64) -> Self {
        match self {
            Self::Constant(y) => Self::Constant(y * factor),
            Self::Line(slope, y) => Self::Line(slope * factor, y * factor),
            Self::Curve(shape) => Self::Curve(shape.scaled(1.0, factor)),
        }
    }
}

/// The most functions inside of each other.
const DEEPEST: usize = 16;

/// The function inside of an element, in a property `function` or beside other properties; none if
/// there is none. `Err` of the inner result is the kind of a function that is not taken.
pub(super) fn inside(
    tree: &Tree,
    of: usize,
    property: &str,
) -> Result<Option<std::result::Result<Function, String>>> {
    let mut at = of;
    let mut factor = 1.0;
    for _ in 0..DEEPEST {
        let Some(element) = element_of(tree, at, property) else {
            return Ok((at != of).then_some(Err("MultiplierFunction".to_owned())));
        };
        if tree.elements[element].tag != "MultiplierFunction" {
            let function = read(tree, element)?;
            return Ok(Some(function.map(|f| f.times(factor))));
        }
        factor *= tree.number(element, "scale")?.unwrap_or(1.0);
        at = element;
    }
    Ok(Some(Err("MultiplierFunction".to_owned())))
}

/// The element of a function: the child of a property, or one that has its name.
fn element_of(tree: &Tree, of: usize, property: &str) -> Option<usize> {
    for name in [property, "function"] {
        if let Some(child) = tree.child(of, name) {
            return tree.elements[child].children.first().copied();
        }
        let mut children = tree.elements[of].children.iter().copied();
        if let Some(child) = children.find(|c| tree.value(*c, "name") == Some(name)) {
            return Some(child);
        }
    }
    None
}

fn read(tree: &Tree, of: usize) -> Result<std::result::Result<Function, String>> {
    let tag = tree.elements[of].tag.as_str();
    Ok(match tag {
        "Constant" => Ok(Function::Constant(tree.number(of, "value")?.unwrap_or_default())),
        "LinearFunction" => match tree.list(of, "coefficients")?.as_deref() {
            None => Ok(Function::Line(1.0, 0.0)),
            Some([slope, at_zero]) => Ok(Function::Line(*slope, *at_zero)),
            Some(_) => Err("LinearFunction of several coordinates".to_owned()),
        },
        "PolynomialFunction" => {
            // The highest power comes first.
            let mut list = tree.list(of, "coefficients")?.unwrap_or_default();
            list.reverse();
            while list.len() > 1 && list.last() == Some(&0.0) {
                list.pop();
            }
            Ok(match list[..] {
                [] => Function::Constant(0.0),
                [y] => Function::Constant(y),
                [y, slope] => Function::Line(slope, y),
                _ => Function::Curve(Shape1::Polynomial(list)),
            })
        }
        "SimmSpline" | "NaturalCubicSpline" | "natCubicSpline" => spline(tree, of)?,
        "PiecewiseLinearFunction" | "PiecewiseConstantFunction" | "GCVSpline" => {
            let (x, y) = points(tree, of)?;
            match (x.len(), tag) {
                (2, "PiecewiseLinearFunction") => Ok(line(&x, &y)),
                _ if y.windows(2).all(|pair| pair[0] == pair[1]) && !y.is_empty() => {
                    Ok(Function::Constant(y[0]))
                }
                _ => Err(tag.to_owned()),
            }
        }
        other => Err(other.to_owned()),
    })
}

/// The points of a function, as many `x` as `y`, rising.
fn points(tree: &Tree, of: usize) -> Result<(Vec<f64>, Vec<f64>)> {
    let x = tree.list(of, "x")?.unwrap_or_default();
    let y = tree.list(of, "y")?.unwrap_or_default();
    let spot = tree.elements[of].spot;
    if x.len() != y.len() {
        let message = format!(
            "the function has {} numbers in `x` and {} in `y`",
            x.len(),
            y.len()
        );
        return tree.wrong(spot, message, None);
    }
    if x.windows(2).any(|pair| pair[0] >= pair[1]) {
        return tree.wrong(
            spot,
            "numbers in `x` of the function do not rise".to_owned(),
            None,
        );
    }
    Ok((x, y))
}

fn line(x: &[f64], y: &[f64]) -> Function {
    let slope = (y[1] - y[0]) / (x[1] - x[0]);
    if slope == 0.0 {
        return Function::Constant(y[0]);
    }
    Function::Line(slope, y[0] - slope * x[0])
}

fn spline(tree: &Tree, of: usize) -> Result<std::result::Result<Function, String>> {
    let (x, y) = points(tree, of)?;
    Ok(match x.len() {
        0 => Err("SimmSpline without points".to_owned()),
        1 => Ok(Function::Constant(y[0])),
        2 => Ok(line(&x, &y)),
        _ if y.iter().all(|value| *value == y[0]) => Ok(Function::Constant(y[0])),
        _ => {
            let slopes = slopes(&x, &y);
            let knots = x
                .iter()
                .zip(&y)
                .zip(&slopes)
                .map(|((x, y), slope)| [*x, *y, *slope]);
            Ok(Function::Curve(Shape1::Knots(knots.collect())))
        }
    })
}

/// Slopes of the cubic spline whose third derivative at either end is that of the cubic through the
/// four points there; of three points it is zero. This is the spline of SIMM, after Forsythe,
/// Malcolm and Moler, Computer Methods for Mathematical Computations, 1977.
fn slopes(x: &[f64], y: &[f64]) -> Vec<f64> {
    let n = x.len();
    let width: Vec<f64> = x.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let mean: Vec<f64> = (0..n - 1).map(|i| (y[i + 1] - y[i]) / width[i]).collect();
    // Unknowns are sixths of the second derivatives at the points: one equation for each.
    let (mut pivot, mut side) = (vec![0.0; n], vec![0.0; n]);
    for i in 1..n - 1 {
        pivot[i] = 2.0 * (width[i - 1] + width[i]);
        side[i] = mean[i] - mean[i - 1];
    }
    pivot[0] = -width[0];
    pivot[n - 1] = -width[n - 2];
    if n > 3 {
        let third = |i: usize| {
            let second = |j: usize| (mean[j + 1] - mean[j]) / (x[j + 2] - x[j]);
            (second(i + 1) - second(i)) / (x[i + 3] - x[i])
        };
        side[0] = width[0] * width[0] * third(0);
        side[n - 1] = -width[n - 2] * width[n - 2] * third(n - 4);
    }
    for i in 1..n {
        let factor = width[i - 1] / pivot[i - 1];
        pivot[i] -= factor * width[i - 1];
        side[i] -= factor * side[i - 1];
    }
    let mut sixths = vec![0.0; n];
    sixths[n - 1] = side[n - 1] / pivot[n - 1];
    for i in (0..n - 1).rev() {
        sixths[i] = (side[i] - width[i] * sixths[i + 1]) / pivot[i];
    }
    let mut out: Vec<f64> = (0..n - 1)
        .map(|i| mean[i] - width[i] * (sixths[i + 1] + 2.0 * sixths[i]))
        .collect();
    out.push(mean[n - 2] + width[n - 2] * (sixths[n - 2] + 2.0 * sixths[n - 1]));
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Through points of a cubic the spline is that cubic, whatever the points: its third
    /// derivative is the same everywhere.
    #[test]
    fn through_points_of_a_cubic_it_is_the_cubic() {
        let x = [-1.2, -0.7, 0.1, 0.3, 1.9];
        let y = x.map(|x: f64| 0.3 - 0.7 * x + 1.1 * x * x - 0.4 * x * x * x);
        for (x, slope) in x.iter().zip(slopes(&x, &y)) {
            let expected = -0.7 + 2.2 * x - 1.2 * x * x;
            // Rounding of some dozen operations.
            assert!((slope - expected).abs() < 1e-13, "{slope} {expected}");
        }
        // Three points: a parabola, on each side of the middle with a third derivative of zero.
        let parabola = [0.0, 1.0, 3.0].map(|x: f64| x * x);
        let found = slopes(&[0.0, 1.0, 3.0], &parabola);
        for (found, expected) in found.iter().zip([0.0, 2.0, 6.0]) {
            assert!((found - expected).abs() < 1e-13);
        }
    }
}
