//! The components of the library, as the page lists them.

use super::docs::Doc;
use super::survey;
use crate::rust_text::find_word;
use crate::sources::Sources;
use crate::tidy::Finding;

/// Where a component stands on the page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Section {
    Mappings,
    ForceFields,
    Rows,
    Joints,
    Masses,
    Motions,
    Treatments,
}

/// Sections in their order, with their headings.
pub(super) const SECTIONS: &[(Section, &str)] = &[
    (Section::Mappings, "Mappings"),
    (Section::ForceFields, "Force fields"),
    (Section::Rows, "Constraints and rows"),
    (Section::Joints, "Joints"),
    (Section::Masses, "Masses"),
    (Section::Motions, "Motions"),
    (Section::Treatments, "Treatments"),
];

/// Groups of mappings by the first word of `**Parents.**`, with their headings.
pub(super) const GROUPS: &[(&str, &str)] = &[
    ("Points", "Mappings of points"),
    ("Bodies", "Mappings of bodies"),
    ("Any", "General mappings"),
];

/// A table of the page.
#[derive(Debug)]
pub(super) struct Table {
    pub(super) head: Vec<&'static str>,
    pub(super) rows: Vec<Vec<String>>,
}

/// One component.
#[derive(Debug)]
pub(super) struct Component {
    pub(super) name: String,
    pub(super) section: Section,
    pub(super) path: String,
    pub(super) doc: Doc,
    pub(super) tables: Vec<Table>,
    /// Whether it is a function that makes another component.
    pub(super) is_function: bool,
    /// Methods whose calls are its uses; empty if those of all its functions are.
    pub(super) methods: Vec<String>,
    /// Variants, if it is an enum.
    pub(super) variants: Vec<String>,
}

impl Component {
    /// What stands before its name, or that of a variant, in a scene file.
    pub(super) fn key_in_scenes(&self) -> Option<&'static str> {
        match (self.section, self.name.as_str()) {
            (Section::Mappings, _) => Some("mapping:"),
            (Section::ForceFields, _) => Some("law:"),
            (Section::Rows, "Level") => Some("level:"),
            (Section::Joints, "JointKind") => Some("kind:"),
            (Section::Treatments, "Treatment") => Some("treatment:"),
            (Section::Treatments, "Gyroscopic") => Some("gyroscopic:"),
            _ => None,
        }
    }

    /// The heading of its group, of a mapping.
    pub(super) fn group(&self) -> Option<&'static str> {
        let parents = self.doc.labelled("Parents")?;
        GROUPS
            .iter()
            .find(|(word, _)| find_word(parents, word) == Some(0))
            .map(|(_, heading)| *heading)
    }
}

/// The components in the order of the page, and what their documentation lacks.
pub(super) fn collect(sources: &Sources) -> (Vec<Component>, Vec<Finding>) {
    let (mut components, findings) = survey::survey(sources);
    let rank = |component: &Component| {
        let section = SECTIONS
            .iter()
            .position(|(section, _)| *section == component.section);
        let group = GROUPS
            .iter()
            .position(|(_, heading)| Some(*heading) == component.group());
        (section, group)
    };
    components.sort_by_key(rank);
    (components, findings)
}
