//! The points and the obstacles of a rope, and where they are among what it depends on.

use super::super::frames::check_pose;
use super::super::{End, check_dependency, check_end, points};
use super::link::Obstacle;
use super::stretch::MOST;
use crate::validate::{check_bound, check_least, check_not_negative, check_rigid};
use crate::{Dependency, Field, ModelError, Space};

/// One rope: the points it passes in order, the obstacles between them, its length at rest.
#[derive(Clone, Debug, PartialEq)]
pub struct WrappedPath {
    /// The points, at least two; one may be passed more than once.
    pub points: Vec<End>,
    /// Obstacles, each with the number of the point that the rope passes last before it. Those
    /// between the same two points come in the order in which the rope meets them, at most six.
    pub obstacles: Vec<(usize, Obstacle)>,
    /// Length at rest (m).
    pub rest_length: f64,
}

impl WrappedPath {
    /// A rope of `rest_length` (m) through these points, without obstacles.
    pub fn through(points: &[End], rest_length: f64) -> Self {
        Self {
            points: points.to_vec(),
            obstacles: Vec::new(),
            rest_length,
        }
    }

    /// Adds an obstacle between point `after` and the next one, behind those that are there.
    #[must_use]
    pub fn around(mut self, after: usize, obstacle: Obstacle) -> Self {
        self.obstacles.push((after, obstacle));
        self
    }

    /// Checks the points and the obstacles of rope `element` of `count`.
    pub(super) fn check(
        &self,
        name: &str,
        (element, count): (usize, usize),
        parents: &[(Space, usize)],
    ) -> Result<(), ModelError> {
        let at_rope = |error: ModelError| error.at(element, count);
        let fails = |reason| points::degenerate(name, element, reason);
        let found = self.points.len();
        check_least(name, Field::Points, "points of a rope at least", 2, found)?;
        for end in &self.points {
            check_end(name, end, 3, parents).map_err(at_rope)?;
        }
        if self.points.windows(2).any(|pair| pair[0] == pair[1]) {
            return Err(fails("two neighbouring points of the rope are the same"));
        }
        for (after, obstacle) in &self.obstacles {
            if *after >= found - 1 {
                return Err(fails("no point of the rope follows one of its obstacles"));
            }
            if let Some(at) = obstacle.frame.on {
                check_rigid(name, check_dependency(name, at, parents)?)?;
            }
            check_pose(name, Field::Frames, &obstacle.frame.pose).map_err(at_rope)?;
            obstacle.surface.check(name).map_err(at_rope)?;
            let together = self.obstacles.iter().filter(|(k, _)| k == after).count();
            let bound = "6 or fewer between two points of a rope";
            check_bound(name, Field::Obstacles, together as f64, bound, together <= MOST)?;
        }
        check_not_negative(name, Field::RestLengths, self.rest_length).map_err(at_rope)
    }
}

/// The elements that a rope depends on, and where its points and obstacles are there.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Layout {
    /// Points of space, then bodies.
    pub(super) elements: Vec<Dependency>,
    /// First column of each point in a block, and of each obstacle's body.
    points: Vec<Option<usize>>,
    bodies: Vec<Option<usize>>,
    /// Obstacles in the order of the stretches that they are on, and where those of each begin.
    pub(super) obstacles: Vec<Obstacle>,
    starts: Vec<usize>,
}

impl Layout {
    pub(super) fn new(path: &WrappedPath) -> Self {
        let stretches = path.points.len().saturating_sub(1);
        let (mut obstacles, mut starts) = (Vec::new(), vec![0]);
        for k in 0..stretches {
            let on = path.obstacles.iter().filter(|(after, _)| *after == k);
            obstacles.extend(on.map(|(_, obstacle)| *obstacle));
            starts.push(obstacles.len());
        }
        let (mut elements, mut columns) = (Vec::new(), Vec::new());
        let mut column = |at: Option<Dependency>, size: usize, next: &mut usize| {
            let at = at?;
            let known = elements.iter().position(|d| *d == at);
            let place = known.unwrap_or_else(|| {
                elements.push(at);
                columns.push(*next);
                *next += size;
                elements.len() - 1
            });
            Some(columns[place])
        };
        let mut next = 0;
        let points = path
            .points
            .iter()
            .map(|end| column(end.dependency(), 3, &mut next));
        let points = points.collect();
        let bodies = obstacles.iter().map(|o| column(o.frame.on, 6, &mut next));
        let bodies = bodies.collect();
        Self {
            elements,
            points,
            bodies,
            obstacles,
            starts,
        }
    }

    /// Obstacles between point `k` and the next one.
    pub(super) fn of_stretch(&self, k: usize) -> &[Obstacle] {
        &self.obstacles[self.starts[k]..self.starts[k + 1]]
    }

    /// Columns of the places of the derivatives of stretch `k`: its first point, its last one, the
    /// centre and the rotation of the body of each obstacle.
    pub(super) fn columns(&self, k: usize) -> impl Iterator<Item = Option<usize>> + Clone + '_ {
        let ends = [self.points[k], self.points[k + 1]];
        let bodies = &self.bodies[self.starts[k]..self.starts[k + 1]];
        let of_body = |first: &Option<usize>| [*first, first.map(|first| first + 3)];
        ends.into_iter().chain(bodies.iter().flat_map(of_body))
    }
}
