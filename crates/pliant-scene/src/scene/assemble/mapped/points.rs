//! Mappings of several points.

use super::{Builder, ParentList, Result, Spec};
use crate::scene::schema::{
    AreaSpec, BarycentricSpec, DihedralSpec, HingesSpec, PairingSpec, PairsSpec, SafeDistanceSpec,
    SegmentAngleSpec, VolumeSpec,
};
use crate::scene::source::Where;
use crate::scene::{EndSpec, Number, OneOrMany};
use pliant::model::{
    Addition, Area, Barycentric, Cell, CentreOfMass, CurvatureBinormal, Dependency, DihedralAngle,
    DotProduct, End, Mapping, MeshError, Normalization, Pairing, SafeDistance, SegmentAngle, SquareDistance,
    Volume, quadratic_bending,
};

/// Pairs of a `Pairing`: its second derivatives are one dense block.
const MOST_PAIRS: usize = 1000;

type Weighted = Vec<Vec<(Dependency, f64)>>;

impl Builder<'_> {
    /// Mappings of points; others are left alone.
    pub(super) fn mapped_points(&mut self, parents: &ParentList<'_>, spec: &Spec) -> Result<()> {
        match spec {
            Spec::Addition(spec) => self.addition(parents, spec),
            Spec::Area(spec) => self.area(parents, spec),
            Spec::Barycentric(spec) => self.barycentric(parents, spec),
            Spec::CentreOfMass(spec) => {
                let groups = self.weighted(parents, &spec.groups)?;
                self.add_shown(parents, groups.len(), CentreOfMass::new(&groups))
            }
            Spec::CurvatureBinormal(spec) => {
                let chains = self.chains(parents, spec.chains.as_deref())?;
                let mapping = CurvatureBinormal::new(&chains);
                self.add_mapped(parents, chains.len(), mapping).map(drop)
            }
            Spec::DihedralAngle(spec) => self.dihedral(parents, spec),
            Spec::DotProduct(spec) => {
                let pairs = self.pairs(parents, spec.pairs.as_ref())?;
                let mapping = DotProduct::new(&pairs).in_dimension(self.dimension(parents));
                self.add_mapped(parents, pairs.len(), mapping).map(drop)
            }
            Spec::Normalization(spec) => {
                let pairs = self.pairs(parents, spec.pairs.as_ref())?;
                let mapping = Normalization::new(&pairs).in_dimension(self.dimension(parents));
                self.add_mapped(parents, pairs.len(), mapping).map(drop)
            }
            Spec::Pairing(spec) => self.pairing(parents, spec),
            Spec::QuadraticBending(spec) => self.quadratic_bending(parents, spec),
            Spec::SafeDistance(spec) => self.safe_distance(parents, spec),
            Spec::SegmentAngle(spec) => self.segment_angle(parents, spec),
            Spec::SquareDistance(spec) => {
                let pairs = self.pairs(parents, spec.pairs.as_ref())?;
                let dimension = self.dimension(parents);
                let rests = match &spec.rest {
                    Some(rest) => self.each(rest, pairs.len(), Where::Field(parents.user, "rest"))?,
                    None => self.initial_lengths(parents, &pairs, dimension)?,
                };
                let mapping = SquareDistance::new(&pairs).in_dimension(dimension);
                self.add_mapped(parents, pairs.len(), mapping.with_rest_lengths(&rests))?;
                self.draw_pairs(parents, &pairs);
                Ok(())
            }
            Spec::Volume(spec) => self.volume(parents, spec),
            _ => Ok(()),
        }
    }

    /// Adds points that are drawn.
    pub(super) fn add_shown(
        &mut self,
        parents: &ParentList<'_>,
        elements: usize,
        mapping: impl Mapping + 'static,
    ) -> Result<()> {
        let node = self.add_mapped(parents, elements, mapping)?;
        if self.model.node(node).space == super::Space::Real(3) {
            self.picture.show(node);
        }
        Ok(())
    }

    fn addition(&mut self, parents: &ParentList<'_>, spec: &PairsSpec) -> Result<()> {
        let pairs = self.pairs(parents, spec.pairs.as_ref())?;
        let mapping = Addition::new(&pairs).in_dimension(self.dimension(parents));
        self.add_shown(parents, pairs.len(), mapping)
    }

    fn ends<const N: usize>(&self, parents: &ParentList<'_>, list: &[[EndSpec; N]]) -> Result<Vec<[End; N]>> {
        let mut out = Vec::with_capacity(list.len());
        for group in list {
            let mut ends = [End::Point([0.0; 3]); N];
            for (end, spec) in ends.iter_mut().zip(group) {
                *end = self.end(parents, spec)?;
            }
            out.push(ends);
        }
        Ok(out)
    }

    fn chains(&self, parents: &ParentList<'_>, list: Option<&[[EndSpec; 3]]>) -> Result<Vec<[End; 3]>> {
        match list {
            Some(list) => self.ends(parents, list),
            None => {
                let count = self.model.node(parents.nodes[0]).count;
                let chain = |i: usize| [i - 2, i - 1, i].map(|k| End::element(0, k));
                Ok((2..count).map(chain).collect())
            }
        }
    }

    pub(super) fn weighted(
        &self,
        parents: &ParentList<'_>,
        groups: &[Vec<(EndSpec, Number)>],
    ) -> Result<Weighted> {
        let at = Where::Field(parents.user, "mapping");
        let one =
            |(end, weight): &(EndSpec, Number)| Ok((self.element(parents, end)?, self.number(weight, at)?));
        groups
            .iter()
            .map(|group| group.iter().map(one).collect())
            .collect()
    }

    /// Given rest values, or those at the start, which the mapping without rest values gives.
    fn rests(
        &mut self,
        parents: &ParentList<'_>,
        rest: Option<&OneOrMany>,
        count: usize,
        mapping: impl Mapping + 'static,
    ) -> Result<Vec<f64>> {
        match rest {
            Some(rest) => self.each(rest, count, Where::Field(parents.user, "rest")),
            None => self.initial_values(parents, count, mapping),
        }
    }

    fn area(&mut self, parents: &ParentList<'_>, spec: &AreaSpec) -> Result<()> {
        let triangles = self.ends(parents, &spec.triangles)?;
        let mut mapping = Area::new(&triangles);
        if self.dimension(parents) == 2 {
            mapping = mapping.in_plane();
        }
        let rests = self.rests(parents, spec.rest.as_ref(), triangles.len(), mapping.clone())?;
        self.add_mapped(parents, triangles.len(), mapping.with_rest_areas(&rests))?;
        for triangle in triangles {
            let [a, b, c] = triangle.map(|end| self.drawn(parents, end));
            if let (Some(a), Some(b), Some(c)) = (a, b, c) {
                self.picture.triangle([a, b, c]);
            }
        }
        Ok(())
    }

    fn barycentric(&mut self, parents: &ParentList<'_>, spec: &BarycentricSpec) -> Result<()> {
        let name = parents.user;
        let at = Where::Field(name, "mapping");
        let mapping = match (&spec.cells, &spec.points, &spec.groups) {
            (None, None, Some(groups)) => Barycentric::new(&self.weighted(parents, groups)?),
            (Some(cells), Some(points), None) => {
                let cells = cells.iter().map(|cell| self.cell(name, cell));
                let cells = cells.collect::<Result<Vec<_>>>()?;
                let mut places = Vec::with_capacity(points.len());
                for point in points {
                    places.push(self.triple(point, Where::Field(name, "points"))?);
                }
                let nodes = self.rest_points(parents)?;
                Barycentric::embed(&nodes, &cells, &places, spec.outside)
                    .or_else(|e| self.bad_mesh(name, e))?
            }
            _ => {
                let message = format!("`{name}` needs either `cells` and `points`, or `groups`");
                return self.wrong(&[at, Where::Name(name)], message, None);
            }
        };
        let mapping = mapping.in_dimension(self.dimension(parents));
        self.add_shown(parents, mapping.weights().len(), mapping)
    }

    fn bad_mesh<T>(&self, name: &str, error: MeshError) -> Result<T> {
        let places = [Where::Field(name, "mapping"), Where::Name(name)];
        self.wrong(
            &places,
            format!("`{name}` cannot be made of its mesh: {error}"),
            None,
        )
    }

    /// Positions of the points of the first parent at the start.
    fn rest_points(&mut self, parents: &ParentList<'_>) -> Result<Vec<[f64; 3]>> {
        let node = self.model.node(parents.nodes[0]);
        if node.space != super::Space::Real(3) {
            let message = format!(
                "`{}` needs points of space, but `{}` has {}",
                parents.user, node.name, node.space
            );
            let places = [Where::Field(parents.user, "parents"), Where::Name(parents.user)];
            return self.wrong(&places, message, None);
        }
        Ok(self
            .initial_positions(parents.nodes[0])?
            .as_chunks::<3>()
            .0
            .to_vec())
    }

    fn cell(&self, name: &str, nodes: &[Number]) -> Result<Cell> {
        let at = Where::Field(name, "cells");
        let list = nodes.iter().map(|n| self.whole(n, 0, super::MOST_ELEMENTS, at));
        match list.collect::<Result<Vec<_>>>()?[..] {
            [a, b] => Ok(Cell::Segment([a, b])),
            [a, b, c] => Ok(Cell::Triangle([a, b, c])),
            [a, b, c, d] => Ok(Cell::Tetrahedron([a, b, c, d])),
            [a, b, c, d, e, f, g, h] => Ok(Cell::Hexahedron([a, b, c, d, e, f, g, h])),
            _ => {
                let message = format!(
                    "a cell of `{name}` has {} elements: 2, 3, 4 or 8 make one",
                    nodes.len()
                );
                self.wrong(&[at, Where::Name(name)], message, None)
            }
        }
    }

    fn dihedral(&mut self, parents: &ParentList<'_>, spec: &DihedralSpec) -> Result<()> {
        let hinges = self.ends(parents, &spec.hinges)?;
        let mapping = DihedralAngle::new(&hinges);
        let rests = self.rests(parents, spec.rest.as_ref(), hinges.len(), mapping.clone())?;
        self.add_mapped(parents, hinges.len(), mapping.with_rest_angles(&rests))
            .map(drop)
    }

    fn segment_angle(&mut self, parents: &ParentList<'_>, spec: &SegmentAngleSpec) -> Result<()> {
        let chains = self.chains(parents, spec.chains.as_deref())?;
        let mut mapping = SegmentAngle::new(&chains);
        if self.dimension(parents) == 2 {
            mapping = mapping.in_plane();
        }
        let rests = self.rests(parents, spec.rest.as_ref(), chains.len(), mapping.clone())?;
        self.add_mapped(parents, chains.len(), mapping.with_rest_angles(&rests))
            .map(drop)
    }

    fn safe_distance(&mut self, parents: &ParentList<'_>, spec: &SafeDistanceSpec) -> Result<()> {
        let pairs = self.pairs(parents, spec.pairs.as_ref())?;
        let smoothing = self.positive(&spec.smoothing, Where::Field(parents.user, "smoothing"))?;
        let mapping = SafeDistance::new(&pairs, smoothing).in_dimension(self.dimension(parents));
        let rests = self.rests(parents, spec.rest.as_ref(), pairs.len(), mapping.clone())?;
        self.add_mapped(parents, pairs.len(), mapping.with_rest_lengths(&rests))?;
        self.draw_pairs(parents, &pairs);
        Ok(())
    }

    fn pairing(&mut self, parents: &ParentList<'_>, spec: &PairingSpec) -> Result<()> {
        let name = parents.user;
        let first = self.model.node(parents.nodes[0]);
        let (dimension, count) = (first.space.velocity_size(), first.count);
        let pairs = match &spec.pairs {
            Some(list) => list
                .iter()
                .map(|(a, b)| Ok((self.element(parents, a)?, self.element(parents, b)?)))
                .collect::<Result<Vec<_>>>()?,
            None => (0..count)
                .map(|e| (Dependency::new(0, e), Dependency::new(1, e)))
                .collect(),
        };
        if pairs.len() > MOST_PAIRS {
            let message = format!("`{name}` has {} pairs, more than {MOST_PAIRS}", pairs.len());
            let help = "keep one of the two in an `Affine` mapping".to_owned();
            return self.wrong(
                &[Where::Field(name, "mapping"), Where::Name(name)],
                message,
                Some(help),
            );
        }
        self.add_mapped(parents, 1, Pairing::new(dimension, &pairs))
            .map(drop)
    }

    fn quadratic_bending(&mut self, parents: &ParentList<'_>, spec: &HingesSpec) -> Result<()> {
        let at = Where::Field(parents.user, "hinges");
        let mut hinges = Vec::with_capacity(spec.hinges.len());
        for hinge in &spec.hinges {
            let mut nodes = [0; 4];
            for (node, number) in nodes.iter_mut().zip(hinge) {
                *node = self.whole(number, 0, super::MOST_ELEMENTS, at)?;
            }
            hinges.push(nodes);
        }
        let rest = self.rest_points(parents)?;
        let mapping = quadratic_bending(&hinges, &rest).or_else(|e| self.bad_mesh(parents.user, e))?;
        self.add_mapped(parents, hinges.len(), mapping).map(drop)
    }

    fn volume(&mut self, parents: &ParentList<'_>, spec: &VolumeSpec) -> Result<()> {
        let name = parents.user;
        let (mapping, count) = match (&spec.tetrahedra, &spec.surface) {
            (Some(list), None) => (Volume::new(&self.ends(parents, list)?), list.len()),
            (None, Some(list)) => {
                let mut triangles = Vec::with_capacity(list.len());
                for triangle in list {
                    let mut corners = [0; 3];
                    for (corner, number) in corners.iter_mut().zip(triangle) {
                        *corner =
                            self.whole(number, 0, super::MOST_ELEMENTS, Where::Field(name, "surface"))?;
                    }
                    triangles.push(corners);
                }
                (Volume::under_surface(&triangles), list.len())
            }
            _ => {
                let message = format!("`{name}` needs exactly one of `tetrahedra` and `surface`");
                return self.wrong(&[Where::Field(name, "mapping"), Where::Name(name)], message, None);
            }
        };
        let rests = match (&spec.rest, &spec.surface) {
            (None, Some(_)) => vec![0.0; count],
            (rest, _) => self.rests(parents, rest.as_ref(), count, mapping.clone())?,
        };
        self.add_mapped(parents, count, mapping.with_rest_volumes(&rests))
            .map(drop)
    }
}
