//! One cell of every kind, placed by formulas: what volumes in any format must come out as.

/// Rows of the map from a reference cell to its place.
const MAP: [[f64; 3]; 3] = [[2.0, 0.5, 0.0], [0.25, 1.0, 0.5], [0.0, 0.25, 1.5]];
/// Its determinant: `2 (1.5 - 0.125) - 0.5 (0.375)`.
pub(crate) const DETERMINANT: f64 = 2.5625;

/// A volume cell.
pub(crate) struct Cell {
    /// VTK's number of the type.
    pub(crate) vtk: i64,
    /// Abaqus's name of it, if it has one.
    pub(crate) abaqus: Option<&'static str>,
    /// Nodes in the order of the formats, at their places.
    pub(crate) nodes: Vec<[f64; 3]>,
    /// Volume at its place.
    pub(crate) volume: f64,
}

const TET: [[f64; 3]; 4] = [[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
/// The pairs of corners that the formats have a node between, in their order.
const TET_MIDDLES: [&[usize]; 6] = [&[0, 1], &[1, 2], &[2, 0], &[0, 3], &[1, 3], &[2, 3]];
const HEX_MIDDLES: [&[usize]; 12] = [
    &[0, 1],
    &[1, 2],
    &[2, 3],
    &[3, 0],
    &[4, 5],
    &[5, 6],
    &[6, 7],
    &[7, 4],
    &[0, 4],
    &[1, 5],
    &[2, 6],
    &[3, 7],
];
const WEDGE_MIDDLES: [&[usize]; 9] = [
    &[0, 1],
    &[1, 2],
    &[2, 0],
    &[3, 4],
    &[4, 5],
    &[5, 3],
    &[0, 3],
    &[1, 4],
    &[2, 5],
];
const PYRAMID_MIDDLES: [&[usize]; 8] = [
    &[0, 1],
    &[1, 2],
    &[2, 3],
    &[3, 0],
    &[0, 4],
    &[1, 4],
    &[2, 4],
    &[3, 4],
];
/// Faces at -x, x, -y, y, -z, z, and the whole cell.
const HEX_CENTRES: [&[usize]; 7] = [
    &[0, 3, 4, 7],
    &[1, 2, 5, 6],
    &[0, 1, 4, 5],
    &[2, 3, 6, 7],
    &[0, 1, 2, 3],
    &[4, 5, 6, 7],
    &[0, 1, 2, 3, 4, 5, 6, 7],
];

fn hexahedron() -> Vec<[f64; 3]> {
    let square = [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]];
    [0.0, 1.0]
        .iter()
        .flat_map(|z| square.map(|[x, y]| [x, y, *z]))
        .collect()
}

/// Corners, and the middles of some of them each.
fn with_middles(corners: &[[f64; 3]], middles: &[&[usize]]) -> Vec<[f64; 3]> {
    let mean = |list: &&[usize]| {
        [0, 1, 2].map(|k| list.iter().map(|c| corners[*c][k]).sum::<f64>() / list.len() as f64)
    };
    corners.iter().copied().chain(middles.iter().map(mean)).collect()
}

/// A cell of each kind, far from each other.
pub(crate) fn cells() -> Vec<Cell> {
    let hex = hexahedron();
    let all: [&[usize]; 19] = std::array::from_fn(|k| {
        if k < 12 {
            HEX_MIDDLES[k]
        } else {
            HEX_CENTRES[k - 12]
        }
    });
    let wedge = [
        TET[0],
        TET[1],
        TET[2],
        [0.0, 0.0, 1.0],
        [1.0, 0.0, 1.0],
        [0.0, 1.0, 1.0],
    ];
    let pyramid = [hex[0], hex[1], hex[2], hex[3], [0.5, 0.5, 1.0]];
    let kinds = [
        (10, Some("C3D4"), TET.to_vec(), 1.0 / 6.0),
        (12, Some("C3D8R"), hex.clone(), 1.0),
        (13, Some("C3D6"), wedge.to_vec(), 0.5),
        (14, Some("C3D5"), pyramid.to_vec(), 1.0 / 3.0),
        (24, Some("c3d10mh"), with_middles(&TET, &TET_MIDDLES), 1.0 / 6.0),
        (25, Some("C3D20"), with_middles(&hex, &HEX_MIDDLES), 1.0),
        (29, None, with_middles(&hex, &all), 1.0),
        (26, Some("C3D15"), with_middles(&wedge, &WEDGE_MIDDLES), 0.5),
        (27, None, with_middles(&pyramid, &PYRAMID_MIDDLES), 1.0 / 3.0),
    ];
    let mut out = Vec::new();
    for (index, (vtk, abaqus, nodes, volume)) in kinds.into_iter().enumerate() {
        let place = |r: &[f64; 3]| {
            let at = MAP.map(|row| row[0] * r[0] + row[1] * r[1] + row[2] * r[2]);
            [at[0] + 10.0 * index as f64, at[1], at[2]]
        };
        out.push(Cell {
            vtk,
            abaqus,
            nodes: nodes.iter().map(place).collect(),
            volume: DETERMINANT * volume,
        });
    }
    out
}

/// Volume inside a closed surface of triangles that face outwards.
pub(crate) fn enclosed(mesh: &super::Mesh) -> f64 {
    let six = |t: &[u32; 3]| {
        let [a, b, c] = t.map(|v| mesh.vertices[v as usize]);
        a[0] * (b[1] * c[2] - b[2] * c[1])
            + a[1] * (b[2] * c[0] - b[0] * c[2])
            + a[2] * (b[0] * c[1] - b[1] * c[0])
    };
    mesh.triangles.iter().map(six).sum::<f64>() / 6.0
}

/// The triangles of a box of these edges: two for each side, facing outwards.
pub(crate) fn box_triangles(edges: [f64; 3]) -> Vec<[[f64; 3]; 3]> {
    let corner = |bits: usize| [0, 1, 2].map(|k| if bits >> k & 1 == 1 { edges[k] } else { 0.0 });
    let sides = [
        [0, 2, 3, 1],
        [4, 5, 7, 6],
        [0, 1, 5, 4],
        [2, 6, 7, 3],
        [0, 4, 6, 2],
        [1, 3, 7, 5],
    ];
    sides
        .iter()
        .flat_map(|[a, b, c, d]| [[*a, *b, *c], [*a, *c, *d]])
        .map(|t| t.map(corner))
        .collect()
}
