//! Sites: frames on bodies that have names.

use super::Reader;
use super::settings::PLACE;
use crate::error::ImportError;
use crate::geometry::Frame;
use crate::robot::Site;
use crate::xml::Attribute;
use pliant_dense::Vec3;
use std::collections::HashMap;

type Result<T> = std::result::Result<T, ImportError>;

/// Attributes of a site beside those of its place; the last ones are of its picture.
const KNOWN: [&str; 8] = [
    "name", "class", "fromto", "type", "size", "group", "material", "rgba",
];

/// The sites of a model.
#[derive(Default)]
pub(super) struct Sites {
    list: Vec<Site>,
    /// Link, the world if none, and place in it, by name.
    places: HashMap<String, (Option<usize>, Vec3)>,
}

impl Sites {
    /// All of them, in the order of the file; their places stay known by name.
    pub(super) fn take(&mut self) -> Vec<Site> {
        std::mem::take(&mut self.list)
    }
}

/// Reads a site of a link, or of the world.
pub(super) fn read_site(
    reader: &mut Reader<'_>,
    of: usize,
    outer: &Frame,
    link: Option<usize>,
) -> Result<()> {
    reader.tree.expect(of, &[&KNOWN[..], &PLACE].concat(), &[]);
    let spot = reader.spot(of);
    let frame = outer.then(&reader.size_and_frame(of)?.1);
    let Some(name) = reader.tree.attribute(of, "name").filter(|n| !n.value.is_empty()) else {
        reader.tree.remark(spot, "sites without a name are pictures only");
        return Ok(());
    };
    let name = name.clone();
    let known = (link, frame.position);
    if reader.sites.places.insert(name.value.clone(), known).is_some() {
        let message = format!("the site `{}` is there twice", name.value);
        return reader.tree.wrong(name.spot, message, None);
    }
    reader.sites.list.push(Site {
        name: name.value,
        link,
        frame,
        spot,
    });
    Ok(())
}

/// The link, the world if none, of the site that an attribute names, and its place there.
pub(super) fn site(reader: &Reader<'_>, name: &Attribute) -> Result<(Option<usize>, Vec3)> {
    if let Some(place) = reader.sites.places.get(&name.value) {
        return Ok(*place);
    }
    let mut names: Vec<&str> = reader.sites.places.keys().map(String::as_str).collect();
    names.sort_unstable();
    let help = pliant_scene::hint(&name.value, "sites", names);
    reader
        .tree
        .wrong(name.spot, format!("there is no site `{}`", name.value), help)
}
