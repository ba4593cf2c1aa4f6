//! Nodes of mapped states, which are written when something is on them.

use super::Input;
use super::parts::{brackets, each, names, point};
use super::states::{End, Kind, Placed, Row};
use crate::numbers::text;
use crate::write::{place, rotation};

/// Writer of nodes of mapped states.
pub(super) struct Nodes<'r, 'a>(pub(super) &'r mut Input<'a>);

impl Nodes<'_, '_> {
    /// The name of a state, whose node is written if it is not yet.
    pub(super) fn node(&mut self, state: usize) -> String {
        if !self.0.states[state].written {
            self.0.states[state].written = true;
            if let Some((parents, mapping)) = self.mapping_text(state) {
                let name = text(&self.0.states[state].name);
                let entry = format!("Mapped(name: {name}, parents: {parents}, mapping: {mapping}),");
                self.0.parts.nodes.push(entry);
            }
        }
        self.0.states[state].name.clone()
    }

    /// The parents of a mapped state and its mapping, as text. What it maps is written before.
    fn mapping_text(&mut self, state: usize) -> Option<(String, String)> {
        match self.0.states[state].kind.clone() {
            Kind::Frames(list) => {
                let parents = self.parents(list.iter().filter_map(|p| p.body).map(|b| b.0));
                let frames: Vec<String> = list.iter().map(|p| self.frame_text(p, &parents)).collect();
                Some((
                    names_of(&parents),
                    format!("RigidFrames(frames: {})", brackets(&frames)),
                ))
            }
            Kind::Carried(list) => {
                let parents = self.parents(list.iter().filter_map(|p| p.body).map(|b| b.0));
                let points = list.iter().filter_map(|p| Some((p.body?, p.frame.position)));
                let points: Vec<String> = points
                    .map(|(body, at)| format!("({}, {})", self.element(body, &parents), point(at)))
                    .collect();
                Some((
                    names_of(&parents),
                    format!("RigidPoints(points: {})", brackets(&points)),
                ))
            }
            Kind::Subset(list) => {
                let parents = self.parents(list.iter().map(|e| e.0));
                let elements: Vec<String> = list.iter().map(|e| self.element(*e, &parents)).collect();
                Some((
                    names_of(&parents),
                    format!("Subset(elements: {})", brackets(&elements)),
                ))
            }
            Kind::InCells {
                state: parent,
                cells,
                points,
            } => {
                let parents = self.parents([parent].into_iter());
                let cells: Vec<String> = cells.iter().map(|c| super::parts::counts(c)).collect();
                let points: Vec<String> = points.iter().map(|p| point(*p)).collect();
                let (cells, points) = (brackets(&cells), brackets(&points));
                let mapping = format!("Barycentric(cells: {cells}, points: {points}, outside: Extrapolate)");
                Some((names_of(&parents), mapping))
            }
            Kind::Differences(pairs) => self.pairs_text("Difference", &pairs, String::new()),
            Kind::Lengths { pairs, rest, .. } => {
                let start: Vec<f64> = pairs
                    .iter()
                    .map(|(a, b)| (self.0.start_end(*b) - self.0.start_end(*a)).norm())
                    .collect();
                // Without them, rest lengths are those at the start.
                let rest = match start == rest {
                    true => String::new(),
                    false => format!("rest: {}", each(&rest)),
                };
                self.pairs_text("Distance", &pairs, rest)
            }
            Kind::Projections(rows) => self.rows_text(&rows),
            _ => None,
        }
    }

    fn rows_text(&mut self, rows: &[Row]) -> Option<(String, String)> {
        let parents = self.parents(rows.iter().map(|r| r.state));
        let axis = |r: &Row| (0..3).find(|a| r.direction == super::mappings::unit(*a) && r.offset == 0.0);
        if let Some(axes) = rows.iter().map(axis).collect::<Option<Vec<_>>>()
            && parents.len() == 1
        {
            let list: Vec<String> = rows
                .iter()
                .zip(axes)
                .map(|(r, a)| format!("({}, {a})", r.element))
                .collect();
            return Some((
                names_of(&parents),
                format!("Mask(coordinates: {})", brackets(&list)),
            ));
        }
        let one = |r: &Row| {
            format!(
                "({}, {})",
                self.element((r.state, r.element), &parents),
                point(r.direction)
            )
        };
        let list: Vec<String> = rows.iter().map(one).collect();
        let offsets: Vec<f64> = rows.iter().map(|r| r.offset).collect();
        let offsets = match offsets.iter().all(|o| *o == 0.0) {
            true => String::new(),
            false => format!(", offset: {}", each(&offsets)),
        };
        Some((
            names_of(&parents),
            format!("Projection(points: {}{offsets})", brackets(&list)),
        ))
    }

    fn pairs_text(&mut self, mapping: &str, pairs: &[(End, End)], rest: String) -> Option<(String, String)> {
        let ends = pairs.iter().flat_map(|(a, b)| [*a, *b]);
        let states = ends.filter_map(|e| match e {
            End::Element(state, _) => Some(state),
            End::Fixed(_) => None,
        });
        let parents = self.parents(states);
        let (first, _) = parents.first()?.clone();
        let in_order = |(i, (a, b)): (usize, &(End, End))| matches!((a, b), (End::Element(s, x), End::Element(t, y)) if *s == first && *t == first && *x == i && *y == i + 1);
        let whole = pairs.len() + 1 == self.0.count(first) && pairs.iter().enumerate().all(in_order);
        let mut keys = Vec::new();
        if !whole {
            let end = |e: &End| match e {
                End::Element(state, element) => self.element((*state, *element), &parents),
                End::Fixed(p) => point(*p),
            };
            let list: Vec<String> = pairs
                .iter()
                .map(|(a, b)| format!("({}, {})", end(a), end(b)))
                .collect();
            keys.push(format!("pairs: {}", brackets(&list)));
        }
        keys.extend(Some(rest).filter(|r| !r.is_empty()));
        Some((names_of(&parents), format!("{mapping}({})", keys.join(", "))))
    }

    /// States, each once, with the names of their nodes, which are written.
    pub(super) fn parents(&mut self, states: impl Iterator<Item = usize>) -> Vec<(usize, String)> {
        let mut out: Vec<(usize, String)> = Vec::new();
        for state in states.collect::<Vec<_>>() {
            if out.iter().all(|(known, _)| *known != state) {
                let name = self.node(state);
                out.push((state, name));
            }
        }
        out
    }

    /// An element of one of the parents.
    fn element(&self, (state, element): (usize, usize), parents: &[(usize, String)]) -> String {
        match parents.iter().position(|(known, _)| *known == state) {
            Some(0) | None => element.to_string(),
            Some(index) => format!("({}, {element})", text(&parents[index].1)),
        }
    }

    fn frame_text(&self, placed: &Placed, parents: &[(usize, String)]) -> String {
        let body = placed.body.map(|b| format!("body: {}", self.element(b, parents)));
        let frame = format!(
            "{}{}",
            place("position", placed.frame.position),
            rotation(placed.frame.rotation)
        );
        format!(
            "({})",
            format!("{}{frame}", body.unwrap_or_default()).trim_start_matches(", ")
        )
    }
}

fn names_of(parents: &[(usize, String)]) -> String {
    names(parents.iter().map(|(_, name)| name.as_str()))
}
