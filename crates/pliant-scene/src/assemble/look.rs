//! Cameras and colours of pictures.

use super::{Builder, Result};
use crate::quantity::Length;
use crate::schema::{CameraSpec, PictureSpec, Triple};
use crate::source::Where;
use pliant_expression::suggest;
use pliant_output::recording::{Look, Viewpoint};
use std::collections::BTreeSet;

/// Colours with names, as numbers of CSS (`#rrggbb`).
const COLOURS: [(&str, u32); 19] = [
    ("black", 0x00_00_00),
    ("white", 0xff_ff_ff),
    ("grey", 0x80_80_80),
    ("silver", 0xc0_c0_c0),
    ("red", 0xd6_27_28),
    ("crimson", 0xa8_10_30),
    ("orange", 0xf0_80_20),
    ("gold", 0xd4_a0_17),
    ("yellow", 0xf2_d0_30),
    ("olive", 0x80_80_00),
    ("green", 0x2c_a0_2c),
    ("teal", 0x1c_8a_8a),
    ("cyan", 0x17_be_cf),
    ("blue", 0x1f_77_b4),
    ("navy", 0x1a_2a_6c),
    ("purple", 0x80_40_a0),
    ("pink", 0xe3_77_c2),
    ("brown", 0x8c_56_4b),
    ("beige", 0xd9_c7_a0),
];

/// The cameras and colours that a scene asks for.
pub(super) fn look(builder: &Builder<'_>, spec: &PictureSpec) -> Result<Look> {
    let names = Names::of(builder);
    let camera = match &spec.camera {
        Some(camera) => Some(viewpoint(builder, &names, camera, None)?),
        None => None,
    };
    let mut views: Vec<(String, Viewpoint)> = Vec::with_capacity(spec.views.len());
    for view in &spec.views {
        let name = view.name.as_str();
        let reserved = ["all", "front", "side", "top", "moving"];
        if reserved.contains(&name) || views.iter().any(|(known, _)| known == name) {
            let message = match reserved.contains(&name) {
                true => format!("every player has a view `{name}` of its own"),
                false => format!("the name `{name}` is used twice in `views`"),
            };
            return builder.wrong(&[Where::Listed("views", views.len(), name)], message, None);
        }
        let camera = CameraSpec {
            from: view.from.clone(),
            to: view.to.clone(),
            follow: view.follow.clone(),
        };
        let viewpoint = viewpoint(builder, &names, &camera, Some((views.len(), name)))?;
        views.push((view.name.clone(), viewpoint));
    }
    let mut colours = Vec::with_capacity(spec.colours.len());
    for (name, text) in &spec.colours {
        names.check(builder, "colours", name)?;
        colours.push((name.clone(), colour(builder, name, text)?));
    }
    for name in &spec.hidden {
        names.check(builder, "hidden", name)?;
    }
    Ok(Look {
        camera,
        views,
        colours,
        hidden: spec.hidden.clone(),
    })
}

/// Names of what is drawn.
struct Names(BTreeSet<String>);

impl Names {
    fn of(builder: &Builder<'_>) -> Self {
        let picture = &builder.picture;
        let nodes = picture.nodes.iter().copied();
        let bodies = picture.bodies.iter().map(|(node, ..)| *node);
        let lines = picture.lines.iter().map(|line| line.node);
        let names = nodes.chain(bodies).chain(lines);
        let names = names.map(|node| builder.model.node(node).name.clone());
        let colliders = picture.colliders.iter().map(|collider| collider.name.clone());
        let joints = builder.joints.iter().map(|(_, name, ..)| name.clone());
        Self(names.chain(colliders).chain(joints).collect())
    }

    /// Refuses a name of nothing that is drawn, in a list that is the value of a key of `picture`.
    fn check(&self, builder: &Builder<'_>, key: &str, name: &str) -> Result<()> {
        if self.0.contains(name) {
            return Ok(());
        }
        let help = suggest::hint(name, "drawn", self.0.iter().map(String::as_str));
        let message = match builder.model.node_named(name) {
            Some(_) => format!("`{name}` is not drawn"),
            None => format!("nothing that is drawn is called `{name}`"),
        };
        let places = [Where::Within(key, name), Where::Key(key), Where::Key("picture")];
        builder.wrong(&places, message, help)
    }
}

/// A camera, of the scene or of a view of that name.
fn viewpoint(
    builder: &Builder<'_>,
    names: &Names,
    spec: &CameraSpec,
    view: Option<(usize, &str)>,
) -> Result<Viewpoint> {
    let at = |key| match view {
        Some((index, name)) => Where::Listed("views", index, name),
        None => Where::Within("camera", key),
    };
    let whole = view.map_or(Where::Key("camera"), |_| at("name"));
    let what = view.map_or_else(|| "`camera`".to_owned(), |(_, name)| format!("the view `{name}`"));
    if let Some(name) = &spec.follow {
        names.check(builder, if view.is_some() { "views" } else { "camera" }, name)?;
    }
    let place = |numbers: &Triple<Length>, key| builder.triple(numbers, at(key));
    let eye_and_target = match (&spec.from, &spec.to) {
        (Some(from), Some(to)) => Some([place(from, "from")?, place(to, "to")?]),
        (None, None) => None,
        (from, _) => {
            let (is, missing) = if from.is_some() {
                ("from", "to")
            } else {
                ("to", "from")
            };
            let message = format!("{what} has `{is}` and no `{missing}`");
            let help = "`from` is the place of the eye, `to` the one that it looks at".to_owned();
            return builder.wrong(&[at(is), whole], message, Some(help));
        }
    };
    if let Some([from, to]) = eye_and_target {
        let way = (0..3).fold(0.0, |norm: f64, k| norm.hypot(from[k] - to[k]));
        if !way.is_normal() {
            let message = format!("{what} looks from where it looks to, so that it has no direction");
            return builder.wrong(&[at("from"), whole], message, None);
        }
    }
    if eye_and_target.is_none() && spec.follow.is_none() {
        let message = format!("{what} says nothing");
        let help = "give it `from` and `to`, or `follow`".to_owned();
        return builder.wrong(&[whole, Where::Key("picture")], message, Some(help));
    }
    Ok(Viewpoint {
        eye_and_target,
        follow: spec.follow.clone(),
    })
}

/// Red, green and blue from 0 to 1.
fn colour(builder: &Builder<'_>, name: &str, text: &str) -> Result<[f64; 3]> {
    let byte = |code: u32, shift: u32| f64::from(code >> shift & 0xff) / 255.0;
    let of = |code: u32| [byte(code, 16), byte(code, 8), byte(code, 0)];
    let digits = text
        .strip_prefix('#')
        .filter(|t| t.bytes().all(|b| b.is_ascii_hexdigit()));
    let code = digits.and_then(|digits| u32::from_str_radix(digits, 16).ok());
    match (code, digits.map_or(0, str::len)) {
        (Some(code), 6) => return Ok(of(code)),
        // One digit stands for two of it.
        (Some(code), 3) => return Ok([8, 4, 0].map(|shift| f64::from(code >> shift & 0xf) / 15.0)),
        _ => {}
    }
    if let Some((_, code)) = COLOURS.iter().find(|(known, _)| *known == text) {
        return Ok(of(*code));
    }
    let message = format!("the colour of `{name}` is \"{text}\", which is none");
    let known = COLOURS.iter().map(|(known, _)| *known);
    let near = suggest::nearest(text, known.clone()).map(|near| format!("did you mean `{near}`?"));
    let list: Vec<&str> = known.collect();
    let help = near.unwrap_or_else(|| format!("`#rrggbb`, `#rgb`, or one of {}", list.join(", ")));
    let places = [Where::Within("colours", text), Where::Key("colours")];
    builder.wrong(&places, message, Some(help))
}
