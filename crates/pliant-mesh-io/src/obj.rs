//! Wavefront OBJ.

use super::Mesh;
use super::builder::{Builder, MAX_GROUPS_PER_CELL};
use super::error::{Location, MeshError, excerpt};

/// Reads the geometry of a Wavefront OBJ file: `v`, `p`, `l`, `f`, `o` and `g`.
///
/// Corners of faces may be `v`, `v/vt`, `v/vt/vn` or `v//vn`, with absolute (from one) or negative
/// indices (-1 is the latest vertex so far); absolute indices may point forward. Only the first
/// three numbers of a `v` count (no weight, no colour). Comments, continued lines (`\`) and CRLF
/// are understood; all other statements (normals, materials, free-form curves and surfaces, ...)
/// are skipped. A cell is in the group of its object's name and of all names of the last `g`.
///
/// # Errors
/// [`MeshError::Syntax`], [`MeshError::BadIndex`], [`MeshError::NonFinite`], each with the line on
/// which the statement begins, [`MeshError::Empty`] and [`MeshError::TooLarge`].
pub fn parse_obj(text: &str) -> Result<Mesh, MeshError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut reader = Reader {
        builder: Builder::default(),
        total: 0,
        line: 0,
        object: None,
        named: Vec::new(),
        groups: Vec::new(),
    };
    // Counted first, because an absolute index may point forward.
    each_statement(text, |_, statement| {
        let is_vertex = statement.split_whitespace().next() == Some("v");
        reader.total = reader.total.saturating_add(usize::from(is_vertex));
        Ok(())
    })?;
    each_statement(text, |line, statement| {
        reader.line = line;
        reader.statement(statement)
    })?;
    reader.builder.finish()
}

/// Calls `visit` with each statement and the number of its first line: comments cut, continued
/// lines joined.
fn each_statement(
    text: &str,
    mut visit: impl FnMut(usize, &str) -> Result<(), MeshError>,
) -> Result<(), MeshError> {
    let mut joined = String::new();
    let mut first = 0;
    for (index, line) in text.lines().enumerate() {
        let code = line.split('#').next().unwrap_or_default().trim_end();
        let (code, continued) = code.strip_suffix('\\').map_or((code, false), |code| (code, true));
        if joined.is_empty() {
            first = index.saturating_add(1);
            if !continued {
                visit(first, code)?;
                continue;
            }
        }
        joined.push_str(code);
        joined.push(' ');
        if !continued {
            visit(first, &joined)?;
            joined.clear();
        }
    }
    visit(first, &joined)
}

struct Reader {
    builder: Builder,
    /// Vertices of the whole file.
    total: usize,
    line: usize,
    object: Option<usize>,
    /// Groups of the last `g`.
    named: Vec<usize>,
    /// Both together: the groups of the next cell.
    groups: Vec<usize>,
}

impl Reader {
    fn statement(&mut self, statement: &str) -> Result<(), MeshError> {
        let mut words = statement.split_whitespace();
        let Some(keyword) = words.next() else {
            return Ok(());
        };
        match keyword {
            "v" => self.vertex(words),
            "p" => {
                for vertex in self.corners(words, 1, "a vertex")? {
                    self.builder.point(vertex, &self.groups)?;
                }
                Ok(())
            }
            "l" => {
                let corners = self.corners(words, 2, "at least two vertices of a line")?;
                corners
                    .windows(2)
                    .try_for_each(|pair| self.builder.edge([pair[0], pair[1]], &self.groups))
            }
            "f" => {
                let corners = self.corners(words, 3, "at least three vertices of a face")?;
                self.builder.polygon(&corners, &self.groups)
            }
            "o" => {
                // A name with blanks is one name.
                let name = words.collect::<Vec<_>>().join(" ");
                self.object = if name.is_empty() {
                    None
                } else {
                    Some(self.builder.group(&name)?)
                };
                self.regroup();
                Ok(())
            }
            "g" => {
                let names: Vec<&str> = words.collect();
                if names.len() > MAX_GROUPS_PER_CELL {
                    let expected = format!("at most {MAX_GROUPS_PER_CELL} group names");
                    return Err(self.syntax(expected, names.len().to_string()));
                }
                let named = names.iter().map(|name| self.builder.group(name));
                self.named = named.collect::<Result<_, _>>()?;
                self.regroup();
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn vertex<'a>(&mut self, mut words: impl Iterator<Item = &'a str>) -> Result<(), MeshError> {
        let mut position = [0.0_f64; 3];
        for (coordinate, name) in position.iter_mut().zip(["x", "y", "z"]) {
            let word = words.next();
            *coordinate = word
                .and_then(|word| word.parse().ok())
                .ok_or_else(|| self.syntax(format!("coordinate {name} of a vertex"), found(word)))?;
        }
        let index = self.builder.vertex(position)?;
        if position.iter().all(|x| x.is_finite()) {
            Ok(())
        } else {
            Err(MeshError::NonFinite {
                place: Location::Line(self.line),
                vertex: i64::from(index).saturating_add(1),
            })
        }
    }

    fn corners<'a>(
        &self,
        words: impl Iterator<Item = &'a str>,
        least: usize,
        expected: &str,
    ) -> Result<Vec<u32>, MeshError> {
        let corners = words
            .map(|word| self.corner(word))
            .collect::<Result<Vec<_>, _>>()?;
        if corners.len() < least {
            return Err(self.syntax(expected.to_owned(), format!("{}", corners.len())));
        }
        Ok(corners)
    }

    /// The vertex of `v`, `v/vt`, `v//vn` or `v/vt/vn`, from zero.
    fn corner(&self, word: &str) -> Result<u32, MeshError> {
        let bad = || {
            self.syntax(
                "a vertex index as v, v/vt, v//vn or v/vt/vn".to_owned(),
                found(Some(word)),
            )
        };
        let mut parts = word.split('/');
        let index: i64 = parts.next().and_then(|part| part.parse().ok()).ok_or_else(bad)?;
        let mut others = 0usize;
        for part in parts {
            others = others.saturating_add(1);
            if !part.is_empty() && part.parse::<i64>().is_err() {
                return Err(bad());
            }
        }
        if others > 2 {
            return Err(bad());
        }
        let so_far = self.builder.vertices();
        let (resolved, vertices) = match index {
            1.. => (index.saturating_sub(1), self.total),
            // Negative stays negative if it reaches back too far; a length fits i64.
            ..0 => (index.saturating_add(so_far as i64), so_far),
            0 => (-1, self.total),
        };
        match u32::try_from(resolved) {
            Ok(vertex) if (vertex as usize) < vertices => Ok(vertex),
            _ => Err(MeshError::BadIndex {
                place: Location::Line(self.line),
                index,
                vertices,
            }),
        }
    }

    fn regroup(&mut self) {
        self.groups = self
            .object
            .into_iter()
            .chain(self.named.iter().copied())
            .collect();
        self.groups.sort_unstable();
        self.groups.dedup();
    }

    fn syntax(&self, expected: String, found: String) -> MeshError {
        MeshError::Syntax {
            place: Location::Line(self.line),
            expected,
            found,
        }
    }
}

fn found(word: Option<&str>) -> String {
    word.map_or_else(
        || "the end of the line".to_owned(),
        |word| excerpt(word.as_bytes()),
    )
}
