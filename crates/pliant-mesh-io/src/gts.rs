//! GTS, the format of the GNU Triangulated Surface library.

use super::Mesh;
use super::builder::{Builder, within};
use super::error::MeshError;
use super::text::{Words, cut_off, lines, number, syntax};

/// Reads a GTS file: the vertices, edges and triangles of a surface.
///
/// The first line has the numbers of vertices, edges and triangles; then come a line `x y z` for
/// each vertex, one with the two vertices of each edge, and one with the three edges of each
/// triangle, from one. A triangle runs along its edges in their order. Words behind these are passed
/// over. `#` and `!` begin a comment. An edge of no triangle is a line cell. There are no groups.
///
/// # Errors
/// [`MeshError::Syntax`], also for edges that are not the sides of a triangle,
/// [`MeshError::BadIndex`], [`MeshError::Empty`] and [`MeshError::TooLarge`].
pub fn parse_gts(text: &str) -> Result<Mesh, MeshError> {
    // A comment of either mark is cut twice.
    let mut lines = lines(text, "#").filter_map(|(line, code)| {
        let code = code.split('!').next().unwrap_or_default();
        (!code.trim().is_empty()).then_some((line, code))
    });
    let counts = "the numbers of vertices, edges and triangles";
    let (line, first) = lines.next().ok_or_else(|| cut_off(text, counts))?;
    let mut words = Words::new(line, first);
    let vertices: u64 = words.number("the number of vertices")?;
    let edges: u64 = words.number("the number of edges")?;
    let triangles: u64 = words.number("the number of triangles")?;
    let mut builder = Builder::default();
    let mut next = |what: &str, count: u64, index: u64| {
        lines
            .next()
            .ok_or_else(|| cut_off(text, &format!("{count} {what}, of which {index} are there")))
    };
    for index in 0..vertices {
        let (line, code) = next("vertices", vertices, index)?;
        builder.vertex(Words::new(line, code).position()?)?;
    }
    let mut sides: Vec<([u32; 2], bool)> = Vec::new();
    for index in 0..edges {
        let (line, code) = next("edges", edges, index)?;
        let mut words = Words::new(line, code);
        let mut end = || words.vertex("a vertex of an edge", 1, builder.vertices());
        sides.push(([end()?, end()?], false));
        within(sides.len(), "edges")?;
    }
    for index in 0..triangles {
        let (line, code) = next("triangles", triangles, index)?;
        let mut words = Words::new(line, code);
        let mut ends = [[0; 2]; 3];
        for end in &mut ends {
            let expected = "an edge of a triangle";
            let word = words.word(expected)?;
            let number: usize = number(line, expected, Some(word))?;
            let Some((corners, used)) = number.checked_sub(1).and_then(|k| sides.get_mut(k)) else {
                let expected = format!("{expected}, from 1 to {}", sides.len());
                return Err(syntax(line, &expected, Some(word)));
            };
            (*end, *used) = (*corners, true);
        }
        let corners = corners(ends).ok_or_else(|| {
            let expected = "three edges that are the sides of a triangle";
            syntax(line, expected, Some(code.trim()))
        })?;
        builder.polygon(&corners, &[])?;
    }
    for (ends, used) in sides {
        if !used {
            builder.edge(ends, &[])?;
        }
    }
    builder.finish()
}

/// Corners of a triangle: where the third of its edges meets the first, the first the second, the
/// second the third.
fn corners([a, b, c]: [[u32; 2]; 3]) -> Option<[u32; 3]> {
    let shared = |a: [u32; 2], b: [u32; 2]| a.into_iter().find(|v| b.contains(v));
    let corners = [shared(c, a)?, shared(a, b)?, shared(b, c)?];
    let differ = corners[0] != corners[1] && corners[1] != corners[2] && corners[2] != corners[0];
    differ.then_some(corners)
}
