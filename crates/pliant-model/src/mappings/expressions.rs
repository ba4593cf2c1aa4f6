//! Mappings from expressions, formulas as text.

use super::{Coordinate, check_coordinate, check_dependency, points};
use crate::dual::{self, Dual, LIMIT};
use crate::expression::hyper_dual;
use crate::validate::{check_positive, check_size};
use crate::{Blocks, Degenerate, Dependency, Expression, Field, Mapping, ModelError, Parents, Space};
use pliant_expression::HyperDual;

/// The clause on an expression that has no value or no derivative.
const UNDEFINED: &str = "its formula has no value or no derivative";

/// Expressions that are the coordinates of one element of a node.
#[derive(Clone, Debug)]
pub struct ExpressionElement {
    /// One for each coordinate.
    pub expressions: Vec<Expression>,
    /// The coordinates of parents that the names in them stand for, in the order of the names,
    /// which all of them have.
    pub coordinates: Vec<Coordinate>,
}

/// A mapping written as text: one expression for each number, whose derivatives follow from
/// hyper-dual numbers, exact to rounding.
///
/// **Equation.** `x_c = g(x_p)`, with `J = dg/dx` and `G = sum f_k d2g_k/dx2`. Names in `g` are
/// coordinates of elements of the parents: of bodies the position (m) and the quaternion, which is
/// moved along velocity coordinates. An element depends on no more than 48 numbers of its parents.
/// Where `g` has no value or no derivative, that is an error which has the expression, the place
/// and the function in it.
///
/// **Parents.** Any.
///
/// **Use.** A kinematic relation that the library does not have, as text, in scenes and from Rust;
/// [`Formula`](crate::Formula) is the same from a closure.
///
/// ```
/// use pliant_model::{Coordinate, Expression, ExpressionElement, Expressions, Space, check};
/// // The place of a pendulum of length 2 m from its angle.
/// let of = |text| Expression::parse(text, &["angle"]);
/// let element = ExpressionElement {
///     expressions: vec![of("2 * sin(angle)")?, of("-2 * cos(angle)")?, of("0 * angle")?],
///     coordinates: vec![Coordinate::new(0, 0, 0)],
/// };
/// let place = Expressions::new(vec![element]);
/// let found = check::mapping(&place, &[(Space::Real(1), 1)], &[0.3], 1)?;
/// assert!(found.worst() < 1e-6);
/// # Ok::<(), pliant_model::ModelError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Expressions {
    dimension: usize,
    elements: Vec<Element>,
}

#[derive(Clone, Debug)]
struct Element {
    expressions: Vec<Expression>,
    /// Distinct elements of parents.
    dependencies: Vec<Dependency>,
    /// The place of each name among these, and the coordinate.
    variables: Vec<(usize, usize)>,
}

impl Element {
    fn new(spec: ExpressionElement) -> Self {
        let mut dependencies: Vec<Dependency> = Vec::new();
        let place = |coordinate: &Coordinate| {
            let known = dependencies.iter().position(|on| *on == coordinate.on);
            let place = known.unwrap_or(dependencies.len());
            if known.is_none() {
                dependencies.push(coordinate.on);
            }
            (place, coordinate.index)
        };
        let variables = spec.coordinates.iter().map(place).collect();
        Self {
            expressions: spec.expressions,
            dependencies,
            variables,
        }
    }

    /// The values of all names, with velocity coordinates `i` and `j` of the dependencies moved.
    fn values(
        &self,
        parents: &Parents<'_>,
        i: Option<usize>,
        j: Option<usize>,
        out: &mut [HyperDual; LIMIT],
    ) {
        let mut numbers = [Dual::from(0.0); LIMIT];
        let elements = self.dependencies.iter();
        let elements = elements.map(|at| (parents.space(at.parent), parents.position(*at)));
        dual::gather(elements, i, j, &mut numbers);
        let mut starts = [0; LIMIT];
        let mut start = 0;
        for (at, first) in self.dependencies.iter().zip(&mut starts) {
            *first = start;
            start += parents.space(at.parent).position_size();
        }
        for ((place, coordinate), value) in self.variables.iter().zip(out) {
            *value = hyper_dual(&numbers[starts[*place] + coordinate]);
        }
    }

    /// The velocity coordinates of the dependencies that the names depend on.
    fn columns(&self, parents: &Parents<'_>) -> [bool; LIMIT] {
        let mut used = [false; LIMIT];
        for (place, coordinate) in &self.variables {
            let size = |at: &Dependency| parents.space(at.parent).velocity_size();
            let start: usize = self.dependencies[..*place].iter().map(size).sum();
            let rigid = parents.space(self.dependencies[*place].parent) == Space::Rigid3;
            let columns = match coordinate {
                3.. if rigid => 3..6,
                k => *k..*k + 1,
            };
            used[start + columns.start..start + columns.end].fill(true);
        }
        used
    }
}

impl Expressions {
    /// A child with these elements, which have as many coordinates as the first one.
    pub fn new(elements: Vec<ExpressionElement>) -> Self {
        Self {
            dimension: elements.first().map_or(0, |first| first.expressions.len()),
            elements: elements.into_iter().map(Element::new).collect(),
        }
    }

    fn check_element(
        &self,
        name: &str,
        number: usize,
        element: &Element,
        parents: &[(Space, usize)],
    ) -> Result<(), ModelError> {
        let (expected, found) = (self.dimension, element.expressions.len());
        check_size(
            name,
            Field::Dimension,
            "expressions in an element",
            expected,
            found,
        )?;
        let variables = element.variables.len();
        if variables == 0 {
            return Err(points::degenerate(name, number, "its formula has no coordinates"));
        }
        for expression in &element.expressions {
            let names = expression.names().len();
            check_size(
                name,
                Field::Coordinate,
                "coordinates for the names",
                names,
                variables,
            )?;
        }
        let mut numbers = 0;
        for at in &element.dependencies {
            numbers += check_dependency(name, *at, parents)?.position_size();
        }
        dual::check_limit(name, Field::ElementNumbers, numbers.max(variables))?;
        for (place, coordinate) in &element.variables {
            let space = parents[element.dependencies[*place].parent].0;
            check_coordinate(name, *coordinate, space.position_size())?;
        }
        Ok(())
    }
}

impl Mapping for Expressions {
    fn child(&self) -> (Space, usize) {
        (Space::Real(self.dimension), self.elements.len())
    }

    fn check(&self, name: &str, parents: &[(Space, usize)]) -> Result<(), ModelError> {
        check_positive(name, Field::Dimension, self.dimension as f64)?;
        for (number, element) in self.elements.iter().enumerate() {
            self.check_element(name, number, element, parents)?;
        }
        Ok(())
    }

    fn dependencies(&self, element: usize, out: &mut Vec<Dependency>) {
        out.extend_from_slice(&self.elements[element].dependencies);
    }

    fn apply(&self, parents: Parents<'_>, child: &mut [f64]) -> Result<(), Degenerate> {
        let mut x = [HyperDual::constant(0.0); LIMIT];
        for (e, child) in child.chunks_exact_mut(self.dimension).enumerate() {
            let element = &self.elements[e];
            element.values(&parents, None, None, &mut x);
            for (c, expression) in child.iter_mut().zip(&element.expressions) {
                let value = expression.derivatives(&x[..element.variables.len()]);
                *c = value.map_err(|_| undefined(e))?.value;
            }
        }
        Ok(())
    }

    fn jacobian(&self, parents: Parents<'_>, out: &mut Blocks) -> Result<(), Degenerate> {
        let mut x = [HyperDual::constant(0.0); LIMIT];
        for (e, element) in self.elements.iter().enumerate() {
            let (n, used) = (out.width(e), element.columns(&parents));
            let block = out.block_mut(e);
            // Both directions are the same: where a second derivative is missing is found here.
            for k in (0..n).filter(|k| used[*k]) {
                element.values(&parents, Some(k), Some(k), &mut x);
                for (row, expression) in block.chunks_exact_mut(n).zip(&element.expressions) {
                    let number = expression.derivatives(&x[..element.variables.len()]);
                    row[k] = number.map_err(|_| undefined(e))?.first[0];
                }
            }
        }
        Ok(())
    }

    fn geometric_stiffness(&self, parents: Parents<'_>, force: &[f64], out: &mut Blocks) {
        let mut x = [HyperDual::constant(0.0); LIMIT];
        for ((e, element), force) in self
            .elements
            .iter()
            .enumerate()
            .zip(force.chunks_exact(self.dimension))
        {
            let (n, used) = (out.width(e), element.columns(&parents));
            let block = out.block_mut(e);
            for i in (0..n).filter(|i| used[*i]) {
                for j in (i..n).filter(|j| used[*j]) {
                    element.values(&parents, Some(i), Some(j), &mut x);
                    let sum: f64 = element
                        .expressions
                        .iter()
                        .zip(force)
                        .filter(|(_, f)| **f != 0.0)
                        .map(|(expression, f)| {
                            // It has derivatives here: `jacobian` found them.
                            let number = expression.derivatives(&x[..element.variables.len()]);
                            number.map_or(0.0, |number| f * number.mixed)
                        })
                        .sum();
                    block[i * n + j] = sum;
                    block[j * n + i] = sum;
                }
            }
        }
    }

    fn explain(&self, parents: Parents<'_>, cause: Degenerate) -> String {
        let Some(element) = self.elements.get(cause.element) else {
            return String::new();
        };
        let mut x = [HyperDual::constant(0.0); LIMIT];
        element.values(&parents, None, None, &mut x);
        let x: Vec<f64> = x[..element.variables.len()].iter().map(|x| x.value).collect();
        let expressions = element.expressions.iter();
        let mut why = expressions.map(|expression| expression.explain(&x));
        why.find(|why| !why.is_empty()).unwrap_or_default()
    }
}

fn undefined(element: usize) -> Degenerate {
    Degenerate {
        element,
        reason: UNDEFINED,
    }
}

/// The coordinates that an expression takes, each a scalar of its own, where the expression has a
/// value and derivatives.
///
/// **Equation.** `x_c = x_p[i]` (the unit of the coordinate); `J` is a row of the identity; linear,
/// so `G = 0`. Of bodies only the three coordinates of the position (m) can be taken. No more than
/// 48. Where the expression has no value or no derivative, that is an error which has the
/// expression and the place.
///
/// **Parents.** Any points, scalars or bodies.
///
/// **Use.** The node of a potential that is written as an expression, which
/// [`Model::add_potential`](crate::Model::add_potential) makes.
#[derive(Clone, Debug)]
pub struct ExpressionCoordinates {
    expression: Expression,
    coordinates: Vec<Coordinate>,
}

impl ExpressionCoordinates {
    /// The coordinates that the names in an expression stand for, in the order of the names.
    pub fn new(expression: Expression, coordinates: &[Coordinate]) -> Self {
        Self {
            expression,
            coordinates: coordinates.to_vec(),
        }
    }
}

impl Mapping for ExpressionCoordinates {
    fn child(&self) -> (Space, usize) {
        (Space::Real(1), self.coordinates.len())
    }

    fn check(&self, name: &str, parents: &[(Space, usize)]) -> Result<(), ModelError> {
        let (expected, found) = (self.expression.names().len(), self.coordinates.len());
        check_size(
            name,
            Field::Coordinate,
            "coordinates for the names",
            expected,
            found,
        )?;
        if found == 0 {
            return Err(points::degenerate(name, 0, "its formula has no coordinates"));
        }
        dual::check_limit(name, Field::ElementNumbers, found)?;
        for Coordinate { on, index } in &self.coordinates {
            let size = match check_dependency(name, *on, parents)? {
                Space::Real(n) => n,
                Space::Rigid3 => 3,
            };
            check_coordinate(name, *index, size)?;
        }
        Ok(())
    }

    fn dependencies(&self, element: usize, out: &mut Vec<Dependency>) {
        out.push(self.coordinates[element].on);
    }

    fn apply(&self, parents: Parents<'_>, child: &mut [f64]) -> Result<(), Degenerate> {
        let mut x = [HyperDual::constant(0.0); LIMIT];
        for ((child, x), Coordinate { on, index }) in child.iter_mut().zip(&mut x).zip(&self.coordinates) {
            *child = parents.position(*on)[*index];
            x.value = *child;
        }
        for k in 0..self.coordinates.len() {
            x[k].first = [1.0; 2];
            let number = self.expression.derivatives(&x[..self.coordinates.len()]);
            number.map_err(|_| undefined(k))?;
            x[k].first = [0.0; 2];
        }
        Ok(())
    }

    fn jacobian(&self, _parents: Parents<'_>, out: &mut Blocks) -> Result<(), Degenerate> {
        for (e, coordinate) in self.coordinates.iter().enumerate() {
            out.block_mut(e)[coordinate.index] = 1.0;
        }
        Ok(())
    }

    fn is_linear(&self) -> bool {
        true
    }

    fn explain(&self, parents: Parents<'_>, _cause: Degenerate) -> String {
        let value = |coordinate: &Coordinate| parents.position(coordinate.on)[coordinate.index];
        let x: Vec<f64> = self.coordinates.iter().map(value).collect();
        self.expression.explain(&x)
    }
}
