//! Where sheets bend: the edges between elements, and the diagonals of quadrangles.

use super::SheetMesh;
use super::mesh::{Edge, Side};
use crate::ContinuumError;
use crate::symmetry::extent;
use pliant_dense::Vec3;
use pliant_model::{DihedralAngle, End};

/// The hinges by which a sheet bends.
pub(super) struct Hinges {
    /// One angle for each of the hinges.
    pub(super) angles: DihedralAngle,
    /// Hinges at edges, in the order of `sides`, two at edges of quadrangles; then hinges at the
    /// diagonals of quadrangles.
    pub(super) list: Vec<Hinge>,
    /// Edges of the angles: elements at both sides; at a clamped or mirrored edge only one.
    pub(super) sides: Vec<(Edge, bool)>,
    /// Edges of the boundary that are free to turn.
    pub(super) free: Vec<Edge>,
}

/// Two triangles of nodes at an edge.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Hinge {
    pub(super) ends: [usize; 2],
    pub(super) left: usize,
    /// None where the sheet ends.
    pub(super) right: Option<usize>,
    /// The square of the length over the area of both triangles (none).
    pub(super) slenderness: f64,
    /// How much of a hinge between two triangles of a mesh it is.
    pub(super) share: f64,
    /// The elements at both sides; twice the only one where there is no other.
    pub(super) elements: [usize; 2],
}

/// The hinges as they are found.
#[derive(Default)]
struct Found {
    ends: Vec<[End; 4]>,
    rests: Vec<f64>,
    list: Vec<Hinge>,
}

impl Found {
    /// Adds a hinge with a node or a point of space at the right; the angle at rest, if it is not
    /// that of the mesh.
    fn add(&mut self, mesh: &SheetMesh, hinge: Hinge, point: Option<Vec3>, rest: Option<f64>) {
        let x = |n: usize| Vec3::from(mesh.nodes[n]);
        let [a, b] = hinge.ends;
        let area = |p: Vec3| 0.5 * (x(b) - x(a)).cross(&(p - x(a))).norm();
        let beyond = hinge.right.map_or(0.0, |d| area(x(d)));
        let other = point.or(hinge.right.map(x)).unwrap_or(x(a));
        let last = match (point, hinge.right) {
            (None, Some(d)) => End::element(0, d),
            _ => End::Point(other.into()),
        };
        let end = |n: usize| End::element(0, n);
        self.ends.push([end(a), end(b), end(hinge.left), last]);
        let found = || angle(x(a), x(b), x(hinge.left), other);
        self.rests.push(rest.unwrap_or_else(found));
        self.list.push(Hinge {
            slenderness: (x(b) - x(a)).norm_squared() / (area(x(hinge.left)) + beyond),
            ..hinge
        });
    }
}

/// The hinges at an edge: one between two triangles; of a quadrangle both of its other corners
/// count, each half.
fn pairs(edge: &Edge) -> impl Iterator<Item = Hinge> {
    let ([left, other], right) = (edge.left.corners, edge.right.map(|side: Side| side.corners));
    let single = left == other && right.is_none_or(|[one, two]| one == two);
    let (ends, left) = (edge.ends, edge.left.corners);
    let beside = edge.right.map_or(edge.left.element, |side: Side| side.element);
    let elements = [edge.left.element, beside];
    (0..if single { 1 } else { 2 }).map(move |k| Hinge {
        ends,
        left: left[k],
        right: right.map(|corners| corners[k]),
        slenderness: 0.0,
        share: if single { 1.0 } else { 0.5 },
        elements,
    })
}

/// The angles of a sheet, zero at rest; the boundary is clamped along edges between two of these
/// nodes, and mirrored along those between two in one of the planes across an axis.
pub(super) fn hinges(
    mesh: &SheetMesh,
    clamped: &[bool],
    mirrors: &[(usize, Vec<bool>)],
) -> Result<Option<Hinges>, ContinuumError> {
    let far = 10.0 * extent(&mesh.nodes);
    let (mut found, mut sides, mut free) = (Found::default(), Vec::new(), Vec::new());
    let x = |n: usize| Vec3::from(mesh.nodes[n]);
    for edge in mesh.edges(true)? {
        let [a, b] = edge.ends;
        if edge.right.is_some() {
            pairs(&edge).for_each(|hinge| found.add(mesh, hinge, None, None));
            sides.push((edge, false));
        } else if clamped[a] && clamped[b] {
            // The clamp goes on in the plane of the triangle at rest.
            for hinge in pairs(&edge) {
                let beyond = x(a) + x(b) - x(hinge.left);
                found.add(mesh, hinge, Some(beyond), Some(0.0));
            }
            sides.push((edge, true));
        } else if let Some((axis, _)) = mirrors.iter().find(|(_, on)| on[a] && on[b]) {
            // The plane is spanned by the edge and a point of it that is far enough away to stay
            // beside the edge. The angle to it is half of that to the mirror image.
            let along = (x(b) - x(a)).normalize();
            let aside = x(a) + far * Vec3::ith(*axis, 1.0).cross(&along);
            pairs(&edge).for_each(|hinge| found.add(mesh, hinge, Some(aside), None));
            sides.push((edge, true));
        } else {
            free.push(edge);
        }
    }
    for (q, [a, b, c, d]) in mesh.quadrangles.iter().enumerate() {
        for [from, to, left, right] in [[*a, *c, *d, *b], [*b, *d, *a, *c]] {
            let hinge = Hinge {
                ends: [from, to],
                left,
                right: Some(right),
                slenderness: 0.0,
                share: 1.0,
                elements: [mesh.triangles.len() + q; 2],
            };
            found.add(mesh, hinge, None, None);
            if let Some(hinge) = found.list.last_mut() {
                // The two diagonals together are the twist of a plate, `D A/l^2` each.
                hinge.share = hinge.slenderness.powi(-2);
            }
        }
    }
    if found.ends.is_empty() {
        return Ok(None);
    }
    let angles = DihedralAngle::new(&found.ends).with_rest_angles(&found.rests);
    let list = found.list;
    Ok(Some(Hinges {
        angles,
        list,
        sides,
        free,
    }))
}

/// The angle of [`DihedralAngle`].
fn angle(a: Vec3, b: Vec3, c: Vec3, d: Vec3) -> f64 {
    let edge = (b - a).normalize();
    let (left, right) = (edge.cross(&(c - a)), (d - a).cross(&edge));
    left.cross(&right).dot(&edge).atan2(left.dot(&right))
}
