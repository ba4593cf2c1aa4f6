//! The names and the packed numbers of a page, as its script reads them.

use super::{MAX_FRAME_BYTES, pack};
use crate::recording::{
    BodyTrack, FieldSpec, JointMark, Look, NumberTable, Recording, Shape, Surface, Viewpoint,
};
use serde::Serialize;

/// The most lines of a table in a page; of more, every second or third or so on is taken.
const MOST_LINES: usize = 20_000;
/// The most numbers of a table in a page.
const MOST_NUMBERS: usize = 4_000_000;
/// Stands for no value of a field.
const NONE: u16 = u16::MAX;
/// Units of columns that a name may end in, behind a `_`.
const UNITS: [&str; 15] = [
    "m", "m/s", "rad", "rad/s", "N", "Nm", "J", "W", "Pa", "s", "kg", "m^2", "m^3", "N/m", "Nm/m",
];

/// All that a page holds.
#[derive(Serialize)]
pub(super) struct Data<'a> {
    pub(super) format: u32,
    pub(super) title: &'a str,
    pub(super) up: [f64; 3],
    #[serde(flatten)]
    pub(super) things: Things<'a>,
    #[serde(flatten)]
    pub(super) motion: Motion,
    #[serde(flatten)]
    pub(super) forces: Forces,
    pub(super) fields: Vec<Field<'a>>,
    /// Names of fields that found no room.
    pub(super) left_out: Vec<&'a str>,
    pub(super) tables: Vec<Table<'a>>,
    pub(super) look: LookData<'a>,
}

/// Things to draw.
#[derive(Serialize)]
pub(super) struct Things<'a> {
    points: usize,
    groups: Vec<GroupData<'a>>,
    bodies: Vec<BodyData<'a>>,
    lines: Vec<LineData<'a>>,
    marks: Vec<MarkData<'a>>,
    segments: String,
    triangles: String,
    /// When each triangle is there: the numbers of the first frame, and of the first one behind;
    /// empty where all are always.
    spans: String,
}

#[derive(Serialize)]
struct GroupData<'a> {
    name: &'a str,
    start: usize,
    count: usize,
}

#[derive(Serialize)]
struct BodyData<'a> {
    name: &'a str,
    kind: &'static str,
    size: [f64; 3],
    /// Corners and normals of the triangles of a mesh.
    #[serde(skip_serializing_if = "String::is_empty")]
    mesh: String,
}

#[derive(Serialize)]
struct LineData<'a> {
    name: &'a str,
    first: usize,
    count: usize,
    muscle: bool,
    /// The time from which it is no more (s).
    until: Option<f64>,
}

#[derive(Serialize)]
struct MarkData<'a> {
    name: &'a str,
    kind: &'static str,
    body: Option<usize>,
    position: [f64; 3],
    rotation: [f64; 4],
    force: usize,
}

/// Where everything is over time.
#[derive(Serialize)]
pub(super) struct Motion {
    count: usize,
    times: String,
    frames: String,
    activations: String,
}

/// Forces of contacts.
#[derive(Serialize)]
pub(super) struct Forces {
    arrow_starts: String,
    arrows: String,
}

/// A number at all points, or at all points and then all bodies, in 65,535 steps from the lowest to
/// the highest; 65,535 is no number.
#[derive(Serialize)]
pub(super) struct Field<'a> {
    pub(super) name: &'a str,
    pub(super) unit: &'a str,
    pub(super) low: f64,
    pub(super) high: f64,
    pub(super) bodies: bool,
    pub(super) values: String,
}

/// Numbers over time.
#[derive(Serialize)]
pub(super) struct Table<'a> {
    name: &'static str,
    columns: Vec<&'a str>,
    units: Vec<&'a str>,
    /// One in so many lines is there.
    every: usize,
    times: String,
    /// Line by line.
    values: String,
}

#[derive(Serialize)]
pub(super) struct LookData<'a> {
    camera: Option<ViewData<'a>>,
    views: Vec<ViewData<'a>>,
    colours: Vec<(&'a str, [f64; 3])>,
    hidden: &'a [String],
}

#[derive(Serialize)]
struct ViewData<'a> {
    name: &'a str,
    eye: Option<[f64; 3]>,
    target: Option<[f64; 3]>,
    follow: Option<&'a str>,
}

impl<'a> Things<'a> {
    pub(super) fn of(recording: &'a Recording) -> Self {
        let groups = recording.groups.iter().map(|g| GroupData {
            name: &g.name,
            start: g.start,
            count: g.count,
        });
        let until = |line: u32| {
            let mut frames = recording.frames.iter();
            frames
                .find(|frame| frame.released.contains(&line))
                .map(|frame| frame.time)
        };
        let any_released = recording
            .frames
            .last()
            .is_some_and(|frame| !frame.released.is_empty());
        let lines = (0..).zip(&recording.lines).map(|(index, line)| LineData {
            until: if any_released { until(index) } else { None },
            name: &line.name,
            first: line.first,
            count: line.count,
            muscle: line.is_muscle,
        });
        let words = |items: &mut dyn Iterator<Item = u32>| pack(items.flat_map(u32::to_le_bytes));
        Self {
            points: recording.frames.first().map_or(0, |frame| frame.points.len()),
            groups: groups.collect(),
            bodies: recording.bodies.iter().map(BodyData::from).collect(),
            lines: lines.collect(),
            marks: recording.marks.iter().map(MarkData::from).collect(),
            segments: words(&mut recording.segments.iter().flatten().copied()),
            triangles: words(&mut recording.triangles.iter().flatten().copied()),
            spans: words(&mut spans(recording).into_iter().flatten()),
        }
    }
}

/// The numbers of the frames since which, and up to which, each triangle is there; none where all
/// are always.
fn spans(recording: &Recording) -> Vec<[u32; 2]> {
    if recording.frames.iter().all(|frame| frame.hidden.is_empty()) {
        return Vec::new();
    }
    let mut out = vec![[u32::MAX; 2]; recording.triangles.len()];
    for (index, frame) in (0..).zip(&recording.frames) {
        for (triangle, span) in (0..).zip(&mut out) {
            match (frame.hidden.binary_search(&triangle).is_ok(), *span) {
                (false, [u32::MAX, _]) => span[0] = index,
                (true, [first, u32::MAX]) if first < u32::MAX => span[1] = index,
                _ => {}
            }
        }
    }
    out
}

impl<'a> From<&'a BodyTrack> for BodyData<'a> {
    fn from(body: &'a BodyTrack) -> Self {
        let (kind, size) = match &body.shape {
            Shape::Box { half } => ("box", *half),
            Shape::Sphere { radius } => ("sphere", [*radius; 3]),
            Shape::Axes { size } => ("axes", [*size; 3]),
            Shape::Mesh(surface) => ("mesh", surface.reach()),
        };
        Self {
            name: &body.name,
            kind,
            size,
            mesh: match &body.shape {
                Shape::Mesh(surface) => faces(surface),
                _ => String::new(),
            },
        }
    }
}

impl<'a> From<&'a JointMark> for MarkData<'a> {
    fn from(mark: &'a JointMark) -> Self {
        Self {
            name: &mark.name,
            kind: mark.kind,
            body: mark.body,
            position: mark.position,
            rotation: mark.rotation,
            force: mark.force,
        }
    }
}

/// Three times position and normal of every triangle; those without an area or a corner are left
/// out. Positions are over four times the largest reach, so that they stay away from the edges of
/// the cube, which are drawn as lines.
fn faces(surface: &Surface) -> String {
    let reach = surface.reach().iter().fold(0.0f64, |m, x| m.max(*x));
    let mut numbers = Vec::with_capacity(18 * surface.triangles.len());
    for triangle in &surface.triangles {
        let corners = triangle.map(|v| surface.vertices.get(v as usize));
        let [Some(a), Some(b), Some(c)] = corners else {
            continue;
        };
        let (u, v) = ([0, 1, 2].map(|k| b[k] - a[k]), [0, 1, 2].map(|k| c[k] - a[k]));
        let n = [0, 1, 2].map(|k| {
            let (i, j) = ((k + 1) % 3, (k + 2) % 3);
            u[i] * v[j] - u[j] * v[i]
        });
        let norm = n.iter().map(|c| c * c).sum::<f64>().sqrt();
        if norm > 0.0 {
            for corner in [a, b, c] {
                numbers.extend(corner.iter().map(|x| (x / (4.0 * reach)) as f32));
                numbers.extend(n.iter().map(|x| (x / norm) as f32));
            }
        }
    }
    pack(numbers.into_iter().flat_map(f32::to_le_bytes))
}

impl Motion {
    pub(super) fn of(recording: &Recording) -> Self {
        let frames = &recording.frames;
        let muscles = recording.lines.iter().filter(|line| line.is_muscle).count();
        let has_activations = muscles > 0 && frames.iter().all(|f| f.activations.len() == muscles);
        let activations = frames.iter().flat_map(|frame| &frame.activations);
        let activations = activations.filter(|_| has_activations);
        Self {
            count: frames.len(),
            times: pack(frames.iter().flat_map(|frame| frame.time.to_le_bytes())),
            frames: pack(frames.iter().flat_map(|frame| {
                let points = frame.points.iter().flatten();
                let numbers = points.chain(frame.poses.iter().flatten());
                numbers.flat_map(|&x| (x as f32).to_le_bytes())
            })),
            activations: pack(activations.flat_map(|&x| (x as f32).to_le_bytes())),
        }
    }
}

impl Forces {
    /// Start of the contact forces of each frame, with their number at the end; point and force of
    /// each. Those that do not fit into single precision are left out.
    pub(super) fn of(recording: &Recording) -> Self {
        let (mut starts, mut numbers) = (Vec::with_capacity(recording.frames.len() + 1), Vec::new());
        let mut lines = recording.contacts.lines.iter().peekable();
        for frame in &recording.frames {
            starts.push((numbers.len() / 6) as u32);
            while let Some(line) = lines.next_if(|line| line.time <= frame.time) {
                let six = [line.point, line.force].concat();
                let six: Vec<f32> = six.into_iter().map(|x| x as f32).collect();
                let exerts = line.time == frame.time && line.force != [0.0; 3];
                if exerts && six.iter().all(|x| x.is_finite()) {
                    numbers.extend(six);
                }
            }
        }
        starts.push((numbers.len() / 6) as u32);
        Self {
            arrow_starts: pack(starts.into_iter().flat_map(u32::to_le_bytes)),
            arrows: pack(numbers.into_iter().flat_map(f32::to_le_bytes)),
        }
    }
}

/// The fields of a recording, and the names of those for which a page of this many bytes of frames
/// has no room.
pub(super) fn fields(recording: &Recording, mut bytes: usize) -> (Vec<Field<'_>>, Vec<&str>) {
    let (mut fields, mut left_out) = (Vec::new(), Vec::new());
    let points = recording.groups.iter().map(|group| group.count).sum::<usize>();
    for (name, unit, source) in sources(recording) {
        let bodies = matches!(source, Source::Speed);
        let items = points + if bodies { recording.bodies.len() } else { 0 };
        let Some([low, high]) = source.range(recording, items) else {
            continue;
        };
        let size = 2 * items * recording.frames.len();
        if bytes.saturating_add(size) > MAX_FRAME_BYTES {
            left_out.push(name);
            continue;
        }
        bytes += size;
        let code = |value: f64| match (value - low) / (high - low) {
            share if share.is_finite() => (share * f64::from(NONE - 1)).round() as u16,
            _ if value == low => 0,
            _ => NONE,
        };
        let mut packed = Vec::with_capacity(size);
        for frame in 0..recording.frames.len() {
            source.each(recording, frame, items, |value| {
                packed.extend(code(value).to_le_bytes());
            });
        }
        fields.push(Field {
            name,
            unit,
            low,
            high,
            bodies,
            values: crate::base64::encode(&packed),
        });
    }
    (fields, left_out)
}

/// All fields that a recording may have: name, unit and where the values come from.
pub(super) fn sources(recording: &Recording) -> Vec<(&str, &str, Source)> {
    let own = recording.fields.iter().enumerate();
    let own = own.map(|(k, info)| (info.name.as_str(), info.unit.as_str(), Source::Own(k)));
    let all = [
        ("speed", "m/s", Source::Speed),
        ("contact pressure", "Pa", Source::Pressure),
    ];
    let of_regions = region_fields(recording).into_iter();
    let of_regions = of_regions.map(|spec| (title(spec.name), spec.unit, Source::Regions(spec)));
    all.into_iter().chain(of_regions).chain(own).collect()
}

/// The fields of one number at points that are drawn, of all solids and sheets together.
fn region_fields(recording: &Recording) -> Vec<FieldSpec> {
    let mut specs = Vec::new();
    let drawn = recording.regions.iter().filter(|r| r.first_point.is_some());
    for spec in drawn.flat_map(|region| &region.point_fields) {
        if spec.components == 1 && !specs.contains(spec) {
            specs.push(*spec);
        }
    }
    specs
}

/// The name of a field of regions in words.
fn title(name: &'static str) -> &'static str {
    match name {
        "von_mises" => "von Mises stress",
        "plastic_strain" => "plastic strain",
        other => other,
    }
}

/// Where the values of a field come from.
#[derive(Clone, Copy, Debug)]
pub(super) enum Source {
    Speed,
    Pressure,
    /// A field of one number at the points of regions.
    Regions(FieldSpec),
    /// One of the recording's fields.
    Own(usize),
}

impl Source {
    /// Hands over so many values of a frame; NaN where there are none.
    pub(super) fn each(self, recording: &Recording, frame: usize, items: usize, mut take: impl FnMut(f64)) {
        let frame = &recording.frames[frame];
        let size = |v: &[f64; 3]| v.iter().fold(0.0, |norm: f64, x| norm.hypot(*x));
        let mut count = 0;
        let mut counted = |value| {
            count += 1;
            take(value);
        };
        match self {
            Self::Speed => {
                let both = frame.velocities.iter().chain(&frame.body_velocities);
                both.take(items).map(size).for_each(&mut counted);
            }
            Self::Pressure => frame.pressures.iter().take(items).copied().for_each(&mut counted),
            Self::Regions(spec) => {
                let mut values = vec![f64::NAN; items];
                for (region, found) in recording.regions.iter().zip(&frame.regions) {
                    let place = region.point_fields.iter().position(|own| *own == spec);
                    let numbers = place.and_then(|k| found.point_values.get(k));
                    let (Some(first), Some(numbers)) = (region.first_point, numbers) else {
                        continue;
                    };
                    let at_points = values.iter_mut().skip(first).take(region.point_count);
                    for (value, number) in at_points.zip(numbers) {
                        *value = f64::from(*number);
                    }
                }
                values.into_iter().for_each(&mut counted);
            }
            Self::Own(k) => {
                let values = frame.fields.get(k).map_or(&[][..], Vec::as_slice);
                values.iter().take(items).copied().for_each(&mut counted);
            }
        }
        (count..items).for_each(|_| take(f64::NAN));
    }

    /// The lowest and the highest value; `None` if there are none, or all are zero.
    fn range(self, recording: &Recording, items: usize) -> Option<[f64; 2]> {
        let mut range = [f64::INFINITY, f64::NEG_INFINITY];
        for frame in 0..recording.frames.len() {
            self.each(recording, frame, items, |value| {
                if value.is_finite() {
                    range = [range[0].min(value), range[1].max(value)];
                }
            });
        }
        (range[0] <= range[1] && range != [0.0; 2]).then_some(range)
    }
}

/// The tables of a recording: energies, probes, joints.
pub(super) fn tables(recording: &Recording) -> Vec<Table<'_>> {
    const ENERGIES: [&str; 3] = ["kinetic", "potential", "dissipated"];
    let of_frames = recording.frames.iter().map(|frame| frame.sample);
    let samples = match recording.samples.len() < recording.frames.len() {
        true => of_frames.collect(),
        false => recording.samples.clone(),
    };
    let lines: Vec<[f64; 4]> = samples
        .iter()
        .map(|s| [s.time, s.kinetic, s.potential, s.dissipated])
        .collect();
    let lines: Vec<&[f64]> = lines.iter().map(<[f64; 4]>::as_slice).collect();
    let energies = ENERGIES.map(|name| (name, "J")).to_vec();
    let mut tables = vec![Table::new("energies", energies, &lines)];
    for (name, table) in [("probes", &recording.probes), ("joints", &recording.joints)] {
        if !table.columns.is_empty() {
            tables.push(Table::of(name, table));
        }
    }
    tables
}

impl<'a> Table<'a> {
    fn of(name: &'static str, table: &'a NumberTable) -> Self {
        let lines: Vec<&[f64]> = table.lines.iter().map(Vec::as_slice).collect();
        let columns = table.columns.iter().map(|column| named(column)).collect();
        Self::new(name, columns, &lines)
    }

    fn new(name: &'static str, columns: Vec<(&'a str, &'a str)>, lines: &[&[f64]]) -> Self {
        let width = columns.len() + 1;
        let most = MOST_LINES.min(MOST_NUMBERS / width).max(2);
        let every = lines.len().div_ceil(most).max(1);
        let last = lines.len().saturating_sub(1);
        let whole = |line: &&&[f64]| line.len() == width;
        let taken = lines.iter().enumerate();
        let taken = taken.filter(|(k, _)| k % every == 0 || *k == last);
        let taken: Vec<_> = taken.map(|(_, line)| line).filter(whole).collect();
        let (columns, units) = columns.into_iter().unzip();
        Self {
            name,
            columns,
            units,
            every,
            times: pack(taken.iter().flat_map(|line| line[0].to_le_bytes())),
            values: pack(
                taken
                    .iter()
                    .flat_map(|line| &line[1..])
                    .flat_map(|x| x.to_le_bytes()),
            ),
        }
    }
}

/// A column without and with its unit: `box.x` and `m` of `box.x_m`.
fn named(column: &str) -> (&str, &str) {
    match column.rsplit_once('_') {
        Some((name, unit)) if UNITS.contains(&unit) && !name.is_empty() => (name, unit),
        _ => (column, ""),
    }
}

impl<'a> LookData<'a> {
    pub(super) fn of(look: &'a Look) -> Self {
        fn view<'a>(name: &'a str, view: &'a Viewpoint) -> ViewData<'a> {
            ViewData {
                name,
                eye: view.eye_and_target.map(|both| both[0]),
                target: view.eye_and_target.map(|both| both[1]),
                follow: view.follow.as_deref(),
            }
        }
        Self {
            camera: look.camera.as_ref().map(|camera| view("scene", camera)),
            views: look.views.iter().map(|(name, one)| view(name, one)).collect(),
            colours: look.colours.iter().map(|(name, c)| (name.as_str(), *c)).collect(),
            hidden: &look.hidden,
        }
    }
}
