//! Triangles, segments and loose points over a list of points, with who is next to whom.

use pliant_dense::Vec3;

use super::polytope::triangle_normal;
use crate::ContactError;
use crate::error::positive;

/// Where matter is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sides {
    /// Behind each triangle, within a closed surface.
    Solid,
    /// Behind each triangle (ground).
    One,
    /// In the sheet only.
    Two,
}

/// A part of the list of elements: triangles first, then segments, then loose points.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Element {
    Triangle(usize),
    Segment(usize),
    Point(usize),
}

/// A place on a mesh: on a corner, on an edge, in a triangle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Spot {
    Point(u32),
    Edge(u32),
    Face(u32),
}

/// Lists of different length, one after the other.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Lists {
    starts: Vec<u32>,
    entries: Vec<u32>,
}

impl Lists {
    /// Of pairs `(list, entry)`.
    pub(crate) fn new(count: usize, mut pairs: Vec<(u32, u32)>) -> Self {
        pairs.sort_unstable();
        let starts = (0..=count)
            .map(|k| pairs.partition_point(|p| (p.0 as usize) < k) as u32)
            .collect();
        Self {
            starts,
            entries: pairs.into_iter().map(|p| p.1).collect(),
        }
    }

    pub(crate) fn of(&self, k: usize) -> &[u32] {
        match (self.starts.get(k), self.starts.get(k + 1)) {
            (Some(&a), Some(&b)) => &self.entries[a as usize..b as usize],
            _ => &[],
        }
    }
}

/// Topology of a mesh, and the points of a rigid one.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Mesh {
    pub(crate) points: Vec<Vec3>,
    pub(crate) triangles: Vec<[u32; 3]>,
    pub(crate) segments: Vec<[u32; 2]>,
    pub(crate) loose: Vec<u32>,
    /// All edges, those of triangles and the segments, with the lower point first.
    pub(crate) edges: Vec<[u32; 2]>,
    edge_faces: Lists,
    point_edges: Lists,
    /// Corners and edges that each element tests for all: the first element that has one owns it.
    owned_points: Lists,
    owned_edges: Lists,
    pub(crate) sides: Sides,
    pub(crate) radius: f64,
    /// One more than the greatest index.
    pub(crate) point_count: usize,
}

impl Mesh {
    pub(crate) fn rigid(
        shape: &'static str,
        points: Vec<Vec3>,
        triangles: &[[usize; 3]],
        sides: Sides,
    ) -> Result<Self, ContactError> {
        for (entry, t) in triangles.iter().enumerate() {
            for &point in t {
                if point >= points.len() {
                    let count = points.len();
                    return Err(ContactError::Index {
                        shape,
                        what: "triangle",
                        entry,
                        point,
                        count,
                    });
                }
            }
            let corners = t.map(|i| points[i]);
            let longest = (0..3)
                .map(|i| (corners[i] - corners[(i + 1) % 3]).norm())
                .fold(0.0, f64::max);
            let normal = triangle_normal(corners);
            let height = (0..3)
                .map(|i| (corners[i] - corners[(i + 1) % 3]).cross(&normal).norm())
                .fold(f64::INFINITY, f64::min);
            let area = (corners[1] - corners[0]).cross(&(corners[2] - corners[0])).norm();
            if area.is_nan() || area <= 1e-12 * longest * longest || height == 0.0 {
                let reason = "it has no area";
                return Err(ContactError::Degenerate {
                    shape,
                    what: "triangle",
                    entry,
                    reason,
                });
            }
        }
        let mut mesh = Self::soft(shape, triangles, &[], &[], 1.0)?;
        (mesh.radius, mesh.sides, mesh.points) = (0.0, sides, points);
        if sides == Sides::Solid {
            mesh.check_solid(shape)?;
        }
        Ok(mesh)
    }

    pub(crate) fn soft(
        shape: &'static str,
        triangles: &[[usize; 3]],
        segments: &[[usize; 2]],
        loose: &[usize],
        radius: f64,
    ) -> Result<Self, ContactError> {
        let radius = positive("the radius of a soft shape", radius)?;
        if triangles.is_empty() && segments.is_empty() && loose.is_empty() {
            return Err(ContactError::TooFew {
                shape,
                what: "triangles, segments or points",
                needed: 1,
                found: 0,
            });
        }
        let twice = |what, entry| {
            let reason = "it names a point twice";
            ContactError::Degenerate {
                shape,
                what,
                entry,
                reason,
            }
        };
        if let Some(k) = triangles.iter().position(|[a, b, c]| a == b || b == c || c == a) {
            return Err(twice("triangle", k));
        }
        if let Some(k) = segments.iter().position(|[a, b]| a == b) {
            return Err(twice("segment", k));
        }
        let named = triangles
            .as_flattened()
            .iter()
            .chain(segments.as_flattened())
            .chain(loose);
        let last = named.copied().max().unwrap_or(0);
        if last >= u32::MAX as usize {
            let (what, entry, count) = ("an element", 0, u32::MAX as usize);
            return Err(ContactError::Index {
                shape,
                what,
                entry,
                point: last,
                count,
            });
        }
        let triangles: Vec<[u32; 3]> = triangles.iter().map(|t| t.map(|i| i as u32)).collect();
        let segments: Vec<[u32; 2]> = segments.iter().map(|t| t.map(|i| i as u32)).collect();
        let loose: Vec<u32> = loose.iter().map(|&i| i as u32).collect();
        let sorted = |a: u32, b: u32| [a.min(b), a.max(b)];
        let sides_of = |t: &[u32; 3]| [sorted(t[0], t[1]), sorted(t[1], t[2]), sorted(t[2], t[0])];
        let mut edges: Vec<[u32; 2]> = triangles.iter().flat_map(sides_of).collect();
        edges.extend(segments.iter().map(|s| sorted(s[0], s[1])));
        edges.sort_unstable();
        edges.dedup();
        let edge = |e: [u32; 2]| edges.partition_point(|other| *other < e) as u32;
        let mut faces = Vec::new();
        let (mut points_seen, mut edges_seen) = (vec![false; last + 1], vec![false; edges.len()]);
        let (mut owned_points, mut owned_edges) = (Vec::new(), Vec::new());
        for (k, t) in triangles.iter().enumerate() {
            for e in sides_of(t) {
                faces.push((edge(e), k as u32));
            }
        }
        let elements = triangles.iter().map(|t| (&t[..], sides_of(t).to_vec()));
        let elements = elements.chain(segments.iter().map(|s| (&s[..], vec![sorted(s[0], s[1])])));
        let elements = elements.chain(loose.iter().map(|p| (std::slice::from_ref(p), Vec::new())));
        for (k, (corners, sides)) in elements.enumerate() {
            for &p in corners {
                if !std::mem::replace(&mut points_seen[p as usize], true) {
                    owned_points.push((k as u32, p));
                }
            }
            for e in sides.into_iter().map(edge) {
                if !std::mem::replace(&mut edges_seen[e as usize], true) {
                    owned_edges.push((k as u32, e));
                }
            }
        }
        let count = triangles.len() + segments.len() + loose.len();
        let ends = edges
            .iter()
            .enumerate()
            .flat_map(|(k, e)| e.map(|p| (p, k as u32)))
            .collect();
        Ok(Self {
            points: Vec::new(),
            edge_faces: Lists::new(edges.len(), faces),
            point_edges: Lists::new(last + 1, ends),
            owned_points: Lists::new(count, owned_points),
            owned_edges: Lists::new(count, owned_edges),
            triangles,
            segments,
            loose,
            edges,
            sides: Sides::Two,
            radius,
            point_count: last + 1,
        })
    }

    /// An edge that keeps the triangles from being a closed surface with one outside, and why.
    fn open_edge(&self) -> Option<([u32; 2], &'static str)> {
        self.edges.iter().enumerate().find_map(|(k, &e)| {
            let faces = self.edge_faces.of(k);
            if faces.len() != 2 {
                return Some((e, "of a solid must have two triangles"));
            }
            let forward = |f: u32| {
                let t = self.triangles[f as usize];
                (0..3).any(|i| [t[i], t[(i + 1) % 3]] == e)
            };
            let disagree = forward(faces[0]) == forward(faces[1]);
            disagree.then_some((e, "has two triangles that disagree about the outside"))
        })
    }

    /// Whether the triangles are a closed surface with one outside.
    pub(crate) fn is_closed(&self) -> bool {
        !self.triangles.is_empty() && self.open_edge().is_none()
    }

    /// The volume within a closed surface (m^3), negative if its triangles face inwards, for places
    /// of its points.
    pub(crate) fn volume(&self, place: impl Fn(usize) -> Vec3) -> f64 {
        let Some(first) = self.triangles.first() else {
            return 0.0;
        };
        let middle = place(first[0] as usize);
        let six: f64 = self
            .triangles
            .iter()
            .map(|t| {
                let [a, b, c] = t.map(|i| place(i as usize) - middle);
                a.dot(&b.cross(&c))
            })
            .sum();
        six / 6.0
    }

    /// Closed, oriented, and with its outside outside.
    fn check_solid(&self, shape: &'static str) -> Result<(), ContactError> {
        if let Some((e, reason)) = self.open_edge() {
            return Err(ContactError::Edge {
                shape,
                from: e[0] as usize,
                to: e[1] as usize,
                reason,
            });
        }
        if self.volume(|p| self.points[p]) > 0.0 {
            Ok(())
        } else {
            let (what, reason) = (
                "the solid",
                "it is inside out: its triangles are clockwise seen from outside",
            );
            Err(ContactError::Degenerate {
                shape,
                what,
                entry: 0,
                reason,
            })
        }
    }

    pub(crate) fn element_count(&self) -> usize {
        self.triangles.len() + self.segments.len() + self.loose.len()
    }

    pub(crate) fn element(&self, k: usize) -> Element {
        let (t, s) = (self.triangles.len(), self.segments.len());
        if k < t {
            Element::Triangle(k)
        } else if k < t + s {
            Element::Segment(k - t)
        } else {
            Element::Point(k - t - s)
        }
    }

    /// The points of an element.
    pub(crate) fn corners(&self, k: usize) -> &[u32] {
        match self.element(k) {
            Element::Triangle(t) => &self.triangles[t],
            Element::Segment(s) => &self.segments[s],
            Element::Point(p) => std::slice::from_ref(&self.loose[p]),
        }
    }

    pub(crate) fn owned_points(&self, element: usize) -> &[u32] {
        self.owned_points.of(element)
    }

    pub(crate) fn owned_edges(&self, element: usize) -> &[u32] {
        self.owned_edges.of(element)
    }

    /// The triangles at an edge.
    pub(crate) fn faces_of_edge(&self, edge: u32) -> &[u32] {
        self.edge_faces.of(edge as usize)
    }

    /// The edges that leave a point.
    pub(crate) fn edges_of_point(&self, point: u32) -> &[u32] {
        self.point_edges.of(point as usize)
    }

    /// The edge between two points, if there is one.
    pub(crate) fn edge_between(&self, a: u32, b: u32) -> Option<u32> {
        self.edges
            .binary_search(&[a.min(b), a.max(b)])
            .ok()
            .map(|k| k as u32)
    }
}
