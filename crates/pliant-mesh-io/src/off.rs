//! OFF: vertices and faces of a surface.

use super::Mesh;
use super::builder::{Builder, within};
use super::error::MeshError;
use super::text::{Words, cut_off, lines, number, syntax};

/// Reads an OFF file as text: the vertices and faces of a surface.
///
/// The first word is `OFF`, with `ST`, `C` or `N` in front of it where vertices have coordinates of
/// texture, colours or normals, or is left out. Then come the numbers of vertices, faces and edges,
/// a line `x y z` for each vertex, and a line `n v1 .. vn` for each face, with indices from zero;
/// numbers behind these (normals, colours) are passed over. A face of two corners is an edge, one
/// of fewer is passed over. `#` begins a comment. There are no groups.
///
/// # Errors
/// [`MeshError::Syntax`], also for binary files and for vertices of another dimension (`4OFF`,
/// `nOFF`), [`MeshError::BadIndex`], [`MeshError::Empty`] and [`MeshError::TooLarge`].
pub fn parse_off(text: &str) -> Result<Mesh, MeshError> {
    let mut lines = lines(text, "#");
    let expected = "OFF, STOFF, COFF or NOFF";
    let (mut line, first) = lines.next().ok_or_else(|| cut_off(text, expected))?;
    let mut words = Words::new(line, first);
    let mut word = words.word(expected)?;
    // Without the word the file begins with its counts.
    if word.parse::<u64>().is_err() {
        let kind = word.strip_suffix("OFF");
        let known = kind.is_some_and(|kind| ["", "ST", "C", "N", "CN", "STC", "STN", "STCN"].contains(&kind));
        if !known {
            return Err(syntax(line, expected, Some(word)));
        }
        let counts = "the numbers of vertices and faces";
        word = match words.next() {
            Some(word) => word,
            None => {
                let (next, code) = lines.next().ok_or_else(|| cut_off(text, counts))?;
                line = next;
                words = Words::new(line, code);
                words.word(counts)?
            }
        };
        if word == "BINARY" {
            return Err(syntax(line, "OFF as text", Some(word)));
        }
    }
    let vertices: u64 = number(line, "the number of vertices", Some(word))?;
    let faces: u64 = words.number("the number of faces")?;
    let mut builder = Builder::default();
    for index in 0..vertices {
        let expected = || format!("{vertices} vertices, of which {index} are there");
        let (line, code) = lines.next().ok_or_else(|| cut_off(text, &expected()))?;
        builder.vertex(Words::new(line, code).position()?)?;
    }
    let mut corners = Vec::new();
    for index in 0..faces {
        let expected = || format!("{faces} faces, of which {index} are there");
        let (line, code) = lines.next().ok_or_else(|| cut_off(text, &expected()))?;
        let mut words = Words::new(line, code);
        let count: u64 = words.number("the number of corners of a face")?;
        within(usize::try_from(count).unwrap_or(usize::MAX), "corners of a face")?;
        corners.clear();
        for _ in 0..count {
            corners.push(words.vertex("a vertex of a face", 0, builder.vertices())?);
        }
        match corners[..] {
            [a, b] => builder.edge([a, b], &[])?,
            _ => builder.polygon(&corners, &[])?,
        }
    }
    builder.finish()
}
