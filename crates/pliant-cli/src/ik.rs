//! `pliant ik`.

use crate::arguments::{Ik as Arguments, Threads};
use crate::page::Page;
use crate::run::code_of;
use crate::table::{columns, number};
use crate::{BAD_SCENE, NOT_WRITTEN, complain};
use pliant_output::ExportError;
use pliant_output::csv::write_numbers_csv;
use pliant_output::player::write_player;
use pliant_run::inverse_kinematics::{MarkerFile, MarkerRun};
use pliant_scene::SceneError;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;

/// The largest file of markers (bytes).
const LARGEST_FILE: u64 = 1 << 30;

pub(crate) fn ik(arguments: &Arguments) -> u8 {
    let (mut run, file) = match prepare(arguments) {
        Ok(prepared) => prepared,
        Err(error) => {
            complain(&error.to_string());
            return BAD_SCENE;
        }
    };
    if !run.unknown().is_empty() && !arguments.json {
        complain(&format!(
            "warning: markers that are no nodes of the scene are left out: {}",
            run.unknown().join(", ")
        ));
    }
    let mut fits = Fits::new(&run);
    for frame in &file.frames {
        match run.place(frame) {
            Ok(fit) => fits.add(frame.time, fit.as_ref()),
            Err(error) => {
                complain(&error.to_string());
                // The frames before it have results.
                if let Some(Err(error)) = arguments.out.as_ref().map(|dir| write(dir, &run)) {
                    complain(&format!("error: {error}"));
                }
                return match &error {
                    SceneError::Simulation { source, .. } => code_of(source),
                    _ => BAD_SCENE,
                };
            }
        }
    }
    page(&run, &file, &fits).print(arguments.json);
    if !arguments.json {
        crate::print(&fits.table());
    }
    let Some(dir) = &arguments.out else { return 0 };
    match write(dir, &run) {
        Ok(()) if !arguments.json => {
            let files = "coordinates.csv, markers.csv and play.html";
            crate::print(&format!("wrote {files} into {}\n", dir.display()));
            0
        }
        Ok(()) => 0,
        Err(error) => {
            complain(&format!("error: {error}"));
            NOT_WRITTEN
        }
    }
}

fn prepare(arguments: &Arguments) -> Result<(MarkerRun, MarkerFile), SceneError> {
    let scene = arguments.scene.load()?;
    let built = scene.build(&arguments.scene.settings(None, Threads::default()))?;
    let refuse = |message: String| SceneError::Setting { message, help: None };
    let path = arguments.markers.display();
    let text = read(&arguments.markers).map_err(|error| refuse(format!("cannot read {path}: {error}")))?;
    let file = MarkerFile::from_text(&text).map_err(|error| refuse(format!("{path}, {error}")))?;
    let mut weights = BTreeMap::new();
    for (name, weight) in &arguments.weight {
        if weights.insert(name.clone(), *weight).is_some() {
            return Err(refuse(format!("--weight {name} is given twice")));
        }
    }
    Ok((MarkerRun::new(built, &file, &weights)?, file))
}

fn read(path: &Path) -> std::io::Result<String> {
    let size = std::fs::metadata(path)?.len();
    if size > LARGEST_FILE {
        return Err(std::io::Error::other("it has more than a gibibyte"));
    }
    std::fs::read_to_string(path)
}

/// How well each marker is met over all frames.
struct Fits {
    markers: Vec<OfMarker>,
    /// The largest root mean square of a frame (m), and its time (s).
    worst: (f64, f64),
}

#[derive(Default)]
struct OfMarker {
    name: String,
    frames: usize,
    squares: f64,
    /// The largest distance (m), and its time (s).
    largest: (f64, f64),
}

impl OfMarker {
    fn root_mean_square(&self) -> Option<f64> {
        (self.frames > 0).then(|| (self.squares / self.frames as f64).sqrt())
    }
}

impl Fits {
    fn new(run: &MarkerRun) -> Self {
        let markers = run.kinematics().markers().iter().map(|marker| OfMarker {
            name: marker.name.clone(),
            ..OfMarker::default()
        });
        Self {
            markers: markers.collect(),
            worst: (0.0, 0.0),
        }
    }

    fn add(&mut self, time: f64, fit: Option<&pliant::MarkerFit>) {
        let Some(fit) = fit else { return };
        if fit.root_mean_square >= self.worst.0 {
            self.worst = (fit.root_mean_square, time);
        }
        for (own, distance) in self.markers.iter_mut().zip(&fit.distances) {
            let Some(distance) = *distance else { continue };
            own.frames += 1;
            own.squares += distance * distance;
            if distance >= own.largest.0 {
                own.largest = (distance, time);
            }
        }
    }

    fn root_mean_square(&self) -> f64 {
        let seen: usize = self.markers.iter().map(|own| own.frames).sum();
        let squares: f64 = self.markers.iter().map(|own| own.squares).sum();
        (squares / seen.max(1) as f64).sqrt()
    }

    fn table(&self) -> String {
        let mut rows = vec![["marker", "frames", "rms (m)", "largest (m)", "at (s)"].map(str::to_owned)];
        for own in &self.markers {
            let of = |value: f64| match own.frames {
                0 => "-".to_owned(),
                _ => number(value),
            };
            rows.push([
                own.name.clone(),
                own.frames.to_string(),
                of(own.root_mean_square().unwrap_or(0.0)),
                of(own.largest.0),
                of(own.largest.1),
            ]);
        }
        columns(&rows)
    }

    fn as_json(&self) -> Value {
        let one = |own: &OfMarker| {
            json!({
                "name": own.name,
                "frames": own.frames,
                "root_mean_square": own.root_mean_square(),
                "largest": (own.frames > 0).then_some(own.largest.0),
                "time_of_largest": (own.frames > 0).then_some(own.largest.1),
            })
        };
        self.markers.iter().map(one).collect()
    }
}

fn page(run: &MarkerRun, file: &MarkerFile, fits: &Fits) -> Page {
    let found = run.results();
    let mut page = Page::default();
    let (frames, markers) = (file.frames.len(), fits.markers.len());
    page.add(
        "markers",
        format!("{markers}, over {frames} frames"),
        fits.as_json(),
    );
    page.tell("frames", frames);
    page.tell("unknown", run.unknown().to_vec());
    page.add(
        "root mean square",
        format!("{} m of all distances", number(fits.root_mean_square())),
        fits.root_mean_square(),
    );
    page.add(
        "worst frame",
        format!("{} m at {} s", number(fits.worst.0), number(fits.worst.1)),
        json!({"root_mean_square": fits.worst.0, "time": fits.worst.1}),
    );
    match found.unseen {
        0 => page.tell("unseen", 0),
        n => page.add(
            "unseen",
            format!("{n} frames without a marker of the scene, in which positions stay"),
            n,
        ),
    }
    match found.undetermined {
        0 => page.tell("undetermined", 0),
        n => page.add(
            "undetermined",
            format!("up to {n} directions, which no marker determines and which do not move"),
            n,
        ),
    }
    page.add(
        "work",
        format!("{} iterations", found.iterations),
        json!({"iterations": found.iterations}),
    );
    page
}

fn write(dir: &Path, run: &MarkerRun) -> Result<(), ExportError> {
    let found = run.results();
    std::fs::create_dir_all(dir).map_err(|error| ExportError::io(dir, error))?;
    write_numbers_csv(&dir.join("coordinates.csv"), &found.coordinates)?;
    write_numbers_csv(&dir.join("markers.csv"), &found.distances)?;
    write_player(&dir.join("play.html"), &found.recording, run.up())?;
    Ok(())
}
