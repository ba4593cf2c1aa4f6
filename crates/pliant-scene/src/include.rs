//! Files that a scene includes: their entries become entries of the scene, under names with the
//! prefix of the instance.

use super::inputs::{InputFile, outside};
use super::notation::{Complaint, Format, Repeats, Scope, Tree};
use super::source::{MOST_TOKENS, Part, SourceText};
use pliant_expression::{ExpressionError, Symbol};
use pliant_mesh_io::read_file;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Files that include files.
const DEEPEST: usize = 16;
/// Instances of files.
const MOST: usize = 1000;

/// Bounds of the files that are read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds<'a> {
    /// Bytes of all files of the scene together; files that are included twice count twice.
    pub(crate) bytes: u64,
    /// Directories in which included files may be, beside that of the scene.
    pub(crate) directories: &'a [PathBuf],
}

/// A scene with all that it includes.
pub(crate) struct Whole {
    pub(crate) tree: Tree,
    pub(crate) scopes: Vec<Scope>,
    /// The prefix of each instance with a place of its own, and the entry that says it.
    pub(crate) places: Vec<(String, Tree)>,
    /// The files, each once.
    pub(crate) files: Vec<InputFile>,
}

/// Reads the files of a scene one by one.
struct Reader<'a> {
    bounds: Bounds<'a>,
    /// Directory of the scene.
    folder: PathBuf,
    source: &'a mut SourceText,
    scopes: Vec<Scope>,
    places: Vec<(String, Tree)>,
    files: Vec<InputFile>,
    /// The files that are being read, each included by the one before.
    open: Vec<PathBuf>,
    tokens: usize,
    instances: usize,
}

/// The directory of a file.
pub(crate) fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

/// The value of an expression over indices alone: files are read before parameters have values.
fn without_parameters(text: &str, indices: &[(String, f64)], _: &str) -> Result<f64, ExpressionError> {
    let index = |name: &str| indices.iter().rev().find(|(own, _)| own == name);
    let lookup = |name: &str| index(name).map(|(_, value)| Symbol::from(*value));
    let help = "files are included before parameters have values: counts and braces take numbers and indices";
    pliant_expression::evaluate(text, &lookup, &[]).map_err(|error| ExpressionError {
        help: Some(help.to_owned()),
        ..error
    })
}

/// Reads all that the scene of a tree includes.
pub(crate) fn read(
    tree: Tree,
    path: &Path,
    source: &mut SourceText,
    bounds: Bounds<'_>,
) -> Result<Whole, Complaint> {
    let mut reader = Reader {
        bounds,
        folder: folder_of(path).to_owned(),
        tokens: source.tokens().len(),
        source,
        scopes: vec![Scope::default()],
        places: Vec::new(),
        files: Vec::new(),
        open: vec![path.canonicalize().unwrap_or_else(|_| path.to_owned())],
        instances: 0,
    };
    let tree = reader.included(tree, 0)?;
    Ok(Whole {
        tree,
        scopes: reader.scopes,
        places: reader.places,
        files: reader.files,
    })
}

impl Reader<'_> {
    /// The tree of a file with all that it includes.
    fn included(&mut self, mut tree: Tree, scope: usize) -> Result<Tree, Complaint> {
        tree.take_units()?;
        let Some(instances) = tree.take_includes()? else {
            return Ok(tree);
        };
        let instances = Repeats::all(&without_parameters).write_list(&instances)?;
        let mut parts = Vec::with_capacity(instances.len());
        for entry in instances {
            let instance = entry.instance()?;
            if parts
                .iter()
                .any(|(other, _, _): &(String, _, _)| !other.is_empty() && *other == instance.name)
            {
                let message = format!("the name `{}` is used twice in `include`", instance.name);
                return Err(Complaint::other(message).at(&entry.place_of("name")));
            }
            let prefix = match instance.name.as_str() {
                "" => self.scopes[scope].prefix.clone(),
                name => format!("{}{name}.", self.scopes[scope].prefix),
            };
            if instance.has_place {
                self.places.push((prefix.clone(), entry.clone()));
            }
            let part = self.file(&entry, &instance.file, &instance.name, (scope, prefix))?;
            parts.push((instance.name, entry, part));
        }
        for (name, entry, part) in &mut parts {
            tree.take_in(name, entry, part)?;
        }
        tree.put_first(parts.into_iter().map(|(.., part)| part))?;
        Ok(tree)
    }

    /// The tree of the file of an instance.
    fn file(
        &mut self,
        entry: &Tree,
        file: &str,
        name: &str,
        (outer, prefix): (usize, String),
    ) -> Result<Tree, Complaint> {
        let place = entry.place_of("file");
        let wrong = |message: String| Complaint::other(message).at(&place);
        self.instances = self.instances.saturating_add(1);
        if self.instances > MOST {
            return Err(wrong(format!("the scene includes more than {MOST} files")));
        }
        if self.open.len() > DEEPEST {
            return Err(wrong(format!(
                "more than {DEEPEST} files include each other here"
            )));
        }
        let relative = format!("{}{file}", self.scopes[outer].folder);
        // Not `./relative`, for messages.
        let path = match self.folder.as_os_str() == "." {
            true => PathBuf::from(&relative),
            false => self.folder.join(&relative),
        };
        let format = Format::of(&path).ok_or_else(|| {
            wrong(format!("\"{file}\" is not a scene by its name"))
                .with_help("scene files end in `.ron` or `.json`")
        })?;
        if let Some(real) = outside(&path, &self.folder, self.bounds.directories) {
            let message = format!(
                "the file \"{file}\" is not in the folder of the scene, but at {}",
                real.display()
            );
            return Err(
                wrong(message).with_help("`--allow-outside DIR` lets a scene read what is in DIR, too")
            );
        }
        let bytes = read_file(&path, self.bounds.bytes)
            .map_err(|error| wrong(format!("cannot read \"{file}\": {error}")))?;
        let real = path.canonicalize().unwrap_or_else(|_| path.clone());
        if self.open.contains(&real) {
            let ring = self.open.iter().skip_while(|other| **other != real);
            let names = ring.chain([&real]).map(|path| {
                let name = path.file_name().unwrap_or_default();
                format!("`{}`", name.to_string_lossy())
            });
            let names: Vec<String> = names.collect();
            return Err(wrong(format!(
                "files include each other in a ring: {}",
                names.join(" includes ")
            )));
        }
        let all = (self.source.text.len() as u64).saturating_add(bytes.len() as u64);
        if all > self.bounds.bytes {
            let message = format!(
                "with \"{file}\", the files of the scene have {all} bytes, more than {}",
                self.bounds.bytes
            );
            return Err(wrong(message)
                .with_help("a file counts as often as it is included; `--max-file-size` raises the limit"));
        }
        if self.files.iter().all(|known| known.path != path) {
            self.files.push(InputFile::of(path.clone(), &relative, &bytes));
        }
        let Ok(text) = String::from_utf8(bytes) else {
            return Err(wrong(format!("\"{file}\" is not UTF-8 text")));
        };
        let part = Part {
            start: 0,
            file: path.display().to_string(),
            by: entry.place(),
            name: name.to_owned(),
        };
        let tokens = self
            .source
            .append(text.strip_prefix('\u{feff}').unwrap_or(&text), part);
        self.tokens = self.tokens.saturating_add(tokens.len());
        if self.tokens > MOST_TOKENS {
            return Err(wrong(format!(
                "with \"{file}\", the scene has more than {MOST_TOKENS} words, numbers and marks"
            )));
        }
        let mut tree = Tree::read(&self.source.text, &tokens, format)?;
        tree.leave_out_schema(format)?;
        let scope = self.scopes.len();
        self.scopes.push(Scope {
            outer: Some(outer),
            prefix,
            folder: match relative.rfind('/') {
                Some(end) => relative[..=end].to_owned(),
                None => String::new(),
            },
        });
        tree.enter(scope, &Arc::from(self.scopes[scope].prefix.as_str()));
        self.open.push(real);
        let tree = self.included(tree, scope);
        self.open.pop();
        tree
    }
}
