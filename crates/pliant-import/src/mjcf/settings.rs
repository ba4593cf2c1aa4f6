//! Settings of `compiler` and `option`, and orientations that depend on them.

use crate::error::ImportError;
use crate::geometry::{Frame, from_axes, from_z, turn};
use crate::xml::{TURNS, Tree};
use pliant_dense::Vec3;
use pliant_dense::rotation::{multiply, normalize};
use pliant_scene::hint;

type Result<T> = std::result::Result<T, ImportError>;

/// Settings of a model, by default those of MuJoCo.
pub(super) struct Settings {
    /// Radians per unit of angles in the file.
    pub(super) angle: f64,
    /// Axes of Euler angles; those in capitals stay where they are.
    sequence: Vec<char>,
    /// Whether masses come from geoms: always, never, or where there is no `inertial`.
    pub(super) from_geoms: Option<bool>,
    /// The first and the last group of the geoms that weigh.
    pub(super) heavy_groups: [f64; 2],
    pub(super) auto_limits: bool,
    pub(super) mesh_directory: String,
    pub(super) strip_path: bool,
    pub(super) least_mass: f64,
    pub(super) least_inertia: f64,
    pub(super) total_mass: Option<f64>,
    gravity: [f64; 3],
    /// Whether there is gravity.
    weight: bool,
    pub(super) step: f64,
    pub(super) contacts: bool,
    /// Whether controls stay within their ranges.
    pub(super) clamps_controls: bool,
}

/// Attributes that place a frame.
pub(super) const PLACE: [&str; 6] = {
    let [quat, axisangle, xyaxes, zaxis, euler] = TURNS;
    ["pos", quat, axisangle, xyaxes, zaxis, euler]
};

/// A word that is true or false, if it is there.
pub(super) fn truth(tree: &Tree, of: usize, name: &str) -> Result<Option<bool>> {
    word(tree, of, name, &["false", "true"]).map(|index| index.map(|i| i == 1))
}

/// A word that is true, false, or `auto`, which is none, as if it were not there.
pub(super) fn truth_or_auto(tree: &Tree, of: usize, name: &str) -> Result<Option<bool>> {
    let index = word(tree, of, name, &["false", "true", "auto"])?;
    Ok(index.filter(|i| *i < 2).map(|i| i == 1))
}

/// The number of a word among those that are allowed, if there is one.
pub(super) fn word(tree: &Tree, of: usize, name: &str, allowed: &[&str]) -> Result<Option<usize>> {
    let Some(attribute) = tree.attribute(of, name) else {
        return Ok(None);
    };
    let index = allowed.iter().position(|word| *word == attribute.value);
    if index.is_none() {
        let message = format!("`{name}` cannot be `{}`", attribute.value);
        let help = hint(&attribute.value, "words", allowed.iter().copied());
        return tree.wrong(attribute.spot, message, help);
    }
    Ok(index)
}

/// Both numbers of a range that bounds something, by the attribute that says whether it does;
/// `auto` is the answer where this does not. Remarks where one of both is missing.
pub(super) fn bounds(
    tree: &mut Tree,
    of: usize,
    range: &str,
    limited: &str,
    auto: bool,
) -> Result<Option<[f64; 2]>> {
    let numbers = tree.infinite_numbers::<2>(of, range)?;
    let said = truth_or_auto(tree, of, limited)?;
    let spot = tree.elements[of].spot;
    match (said, numbers.is_some()) {
        (Some(true), false) => tree.remark(spot, format!("`{limited}` without `{range}` limits nothing")),
        (None, true) if !auto => {
            let message = format!("`{range}` without `{limited}` limits nothing, as `autolimits` is off");
            tree.remark(spot, message);
        }
        _ => {}
    }
    // Unless the file says that it does, a range without anything between limits nothing.
    let empty = said.is_none() && numbers.is_some_and(|[lower, upper]| lower >= upper);
    Ok(numbers.filter(|_| said.unwrap_or(auto) && !empty))
}

impl Settings {
    pub(super) fn read(tree: &mut Tree, root: usize) -> Result<Self> {
        let mut settings = Self {
            angle: 1.0f64.to_radians(),
            sequence: vec!['x', 'y', 'z'],
            from_geoms: None,
            heavy_groups: [0.0, 5.0],
            auto_limits: true,
            mesh_directory: String::new(),
            strip_path: false,
            least_mass: 0.0,
            least_inertia: 0.0,
            total_mass: None,
            gravity: [0.0, 0.0, -9.81],
            weight: true,
            step: 0.002,
            contacts: true,
            clamps_controls: true,
        };
        for element in tree.all(root, "compiler") {
            settings.read_compiler(tree, element)?;
        }
        for element in tree.all(root, "option") {
            settings.read_option(tree, element)?;
        }
        Ok(settings)
    }

    fn read_compiler(&mut self, tree: &mut Tree, of: usize) -> Result<()> {
        let known = [
            "angle",
            "eulerseq",
            "coordinate",
            "inertiafromgeom",
            "inertiagrouprange",
            "autolimits",
            "meshdir",
            "assetdir",
            "strippath",
            "boundmass",
            "boundinertia",
            "settotalmass",
            "texturedir",
            "discardvisual",
            "fusestatic",
        ];
        tree.expect(of, &known, &[]);
        match tree.value(of, "angle") {
            Some("radian") => self.angle = 1.0,
            Some("degree") => self.angle = 1.0f64.to_radians(),
            None => {}
            Some(_) => return self.bad_word(tree, of, "angle", "`radian` or `degree`"),
        }
        if let Some(sequence) = tree.value(of, "eulerseq") {
            let sequence: Vec<char> = sequence.chars().collect();
            if sequence.len() != 3 || sequence.iter().any(|c| !"xyzXYZ".contains(*c)) {
                return self.bad_word(tree, of, "eulerseq", "three of x, y, z, X, Y, Z");
            }
            self.sequence = sequence;
        }
        if tree.value(of, "coordinate").is_some_and(|c| c != "local") {
            return self.bad_word(tree, of, "coordinate", "`local`: global coordinates are not read");
        }
        if tree.value(of, "inertiafromgeom").is_some() {
            self.from_geoms = truth_or_auto(tree, of, "inertiafromgeom")?;
        }
        self.heavy_groups = tree
            .numbers::<2>(of, "inertiagrouprange")?
            .unwrap_or(self.heavy_groups);
        self.auto_limits = truth(tree, of, "autolimits")?.unwrap_or(self.auto_limits);
        self.strip_path = truth(tree, of, "strippath")?.unwrap_or(self.strip_path);
        for key in ["assetdir", "meshdir"] {
            if let Some(directory) = tree.value(of, key) {
                self.mesh_directory = directory.to_owned();
            }
        }
        self.least_mass = tree.not_negative(of, "boundmass")?.unwrap_or(self.least_mass);
        self.least_inertia = tree
            .not_negative(of, "boundinertia")?
            .unwrap_or(self.least_inertia);
        if let Some(total) = tree.number(of, "settotalmass")? {
            self.total_mass = (total > 0.0).then_some(total);
        }
        Ok(())
    }

    fn read_option(&mut self, tree: &mut Tree, of: usize) -> Result<()> {
        tree.expect(of, &["gravity", "timestep"], &["flag"]);
        self.gravity = tree.numbers::<3>(of, "gravity")?.unwrap_or(self.gravity);
        if let Some(step) = tree.number(of, "timestep")? {
            if step <= 0.0 {
                return self.bad_word(tree, of, "timestep", "a time above zero");
            }
            self.step = step;
        }
        let (mut weight, mut contacts) = (self.weight, self.contacts);
        let mut clamps = self.clamps_controls;
        for flag in tree.all(of, "flag") {
            tree.expect(flag, &["gravity", "contact", "clampctrl"], &[]);
            for (key, on) in [
                ("gravity", &mut weight),
                ("contact", &mut contacts),
                ("clampctrl", &mut clamps),
            ] {
                match tree.value(flag, key) {
                    None => {}
                    Some("enable") => *on = true,
                    Some("disable") => *on = false,
                    Some(_) => return self.bad_word(tree, flag, key, "`enable` or `disable`"),
                }
            }
        }
        (self.weight, self.contacts) = (weight, contacts);
        self.clamps_controls = clamps;
        Ok(())
    }

    /// Gravity, if the flag of it is not off.
    pub(super) fn gravity(&self) -> [f64; 3] {
        if self.weight { self.gravity } else { [0.0; 3] }
    }

    fn bad_word<T>(&self, tree: &Tree, of: usize, key: &str, expected: &str) -> Result<T> {
        let attribute = tree.needed(of, key)?;
        let message = format!("`{key}` is `{}` where it may be {expected}", attribute.value);
        tree.wrong(attribute.spot, message, None)
    }

    /// The frame of an element by its position and one of five ways to turn it.
    pub(super) fn frame(&self, tree: &Tree, of: usize) -> Result<Frame> {
        let position = tree.numbers::<3>(of, "pos")?.unwrap_or_default().into();
        let mut frame = Frame::at(position);
        let bad = |key: &str| {
            let message = format!("`{key}` is no rotation: a vector of it has length zero");
            tree.wrong(tree.needed(of, key)?.spot, message, None)
        };
        let unit = |v: [f64; 3]| -> Option<Vec3> {
            let v = Vec3::from(v);
            let size = v.amax();
            (size > 0.0).then(|| (v / size).normalize())
        };
        if let Some(q) = tree.numbers::<4>(of, "quat")? {
            let size = q.iter().fold(0.0f64, |m, c| m.max(c.abs()));
            match normalize(q.map(|c| c / size)) {
                Some(q) if size > 0.0 => frame.rotation = q,
                _ => return bad("quat"),
            }
        }
        if let Some([x, y, z, angle]) = tree.numbers::<4>(of, "axisangle")? {
            match unit([x, y, z]) {
                Some(axis) => frame.rotation = turn(axis, angle * self.angle),
                None => return bad("axisangle"),
            }
        }
        if let Some(angles) = tree.numbers::<3>(of, "euler")? {
            frame.rotation = self.euler(angles);
        }
        if let Some([a, b, c, d, e, f]) = tree.numbers::<6>(of, "xyaxes")? {
            let x = unit([a, b, c]);
            let y = x.and_then(|x| {
                let given = Vec3::new(d, e, f);
                unit((given - x * x.dot(&given)).into())
            });
            match (x, y) {
                (Some(x), Some(y)) => frame.rotation = from_axes(x, y, x.cross(&y)),
                _ => return bad("xyaxes"),
            }
        }
        if let Some(z) = tree.numbers::<3>(of, "zaxis")? {
            match unit(z) {
                Some(z) => frame.rotation = from_z(z),
                None => return bad("zaxis"),
            }
        }
        Ok(frame)
    }

    /// The rotation of Euler angles.
    pub(super) fn euler(&self, angles: [f64; 3]) -> [f64; 4] {
        let mut rotation = Frame::IDENTITY.rotation;
        for (axis, angle) in self.sequence.iter().zip(angles) {
            let around = match axis.to_ascii_lowercase() {
                'x' => Vec3::x(),
                'y' => Vec3::y(),
                _ => Vec3::z(),
            };
            let next = turn(around, angle * self.angle);
            rotation = if axis.is_ascii_lowercase() {
                multiply(rotation, next)
            } else {
                multiply(next, rotation)
            };
        }
        rotation
    }
}
