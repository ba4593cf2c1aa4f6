//! A scene that runs, with what the page sees of it.

use crate::protocol::PullState;
use pliant::StepReport;
use pliant_output::player::live::Live;
use pliant_run::Runner;
use pliant_run::pull::{Grip, Pulls};
use pliant_scene::{SceneError, SceneFile, Settings};
use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::PathBuf;

/// Keys of a scene that are another in each frame.
const OF_FRAMES: [&str; 5] = ["times", "frames", "activations", "arrow_starts", "arrows"];

pub(super) struct Loaded {
    pub(super) file: SceneFile,
    /// All files that it is made of.
    pub(super) files: Vec<PathBuf>,
    /// Its parameters as they were before the page set any.
    pub(super) start: BTreeMap<String, f64>,
    /// Its parameters as the run began.
    pub(super) begun: BTreeMap<String, f64>,
    runner: Runner,
    pulls: Pulls,
    live: Live,
    report: Option<StepReport>,
    grip: Option<(Grip, f64)>,
    /// Stands for the scene without its motion.
    sum: String,
    /// Whether its end was told.
    ended: bool,
}

/// The run at a moment.
pub(super) struct PresentMoment {
    pub(super) sum: String,
    pub(super) time: f64,
    pub(super) numbers: Vec<u8>,
    pub(super) lines: Vec<Vec<Option<f64>>>,
    pub(super) pull: Option<PullState>,
}

impl Loaded {
    /// Builds a scene and puts it into its initial state. `start` has its
    /// parameters as they were before the page set any.
    pub(super) fn new(
        file: SceneFile,
        settings: &Settings,
        start: BTreeMap<String, f64>,
    ) -> Result<Self, SceneError> {
        let mut scene = file.build(settings)?;
        let begun = scene.parameters.clone();
        let included = scene.included.iter().chain(&scene.mesh_files);
        let files = included.map(|file| file.path.clone()).collect();
        let refused = |message: String| SceneError::Setting { message, help: None };
        let pulls = Pulls::add_to(&mut scene).map_err(|e| refused(e.to_string()))?;
        let mut runner = Runner::new(scene)?.without_recording();
        let up = runner.up();
        let live = Live::of(runner.record_present(None), up).map_err(|e| refused(e.to_string()))?;
        let mut loaded = Self {
            file,
            files,
            start,
            begun,
            runner,
            pulls,
            live,
            report: None,
            grip: None,
            sum: String::new(),
            ended: false,
        };
        let whole = loaded.whole().map_err(refused)?;
        loaded.sum = sum(whole);
        Ok(loaded)
    }

    pub(super) fn time(&self) -> f64 {
        self.runner.simulation().time()
    }

    /// The warnings of the scene, if there are any.
    pub(super) fn warnings(&self) -> Option<String> {
        let list = self.runner.warnings().iter();
        let list: Vec<String> = list.map(ToString::to_string).collect();
        (!list.is_empty()).then(|| list.join("\n"))
    }

    /// Takes a step; a sentence where the run comes to its end, which further steps go beyond.
    pub(super) fn step(&mut self) -> Result<Option<String>, String> {
        if self.runner.is_static() {
            let found = self.runner.find_equilibria();
            let sentence = "the equilibrium is found".to_owned();
            return found.map(|()| Some(sentence)).map_err(|e| e.to_string());
        }
        let report = self.runner.step().map_err(|e| e.to_string())?;
        self.report = Some(report);
        if self.ended || !self.runner.is_done() {
            return Ok(None);
        }
        self.ended = true;
        let time = (self.time() * 1e6).round() * 1e-6;
        Ok(Some(format!(
            "the run is at its end, at t = {time} s; playing goes on beyond it"
        )))
    }

    /// The present value of a parameter that the run follows at once.
    pub(super) fn present(&self, name: &str) -> Option<f64> {
        let mut all = self.runner.parameters();
        all.find(|(own, _)| *own == name).map(|(_, value)| value)
    }

    /// Sets a parameter that the run follows at once; does nothing with others.
    pub(super) fn set(&mut self, name: &str, value: f64) -> Result<(), String> {
        let set = self.runner.set_parameter(name, value);
        set.map(drop).map_err(|error| error.to_string())
    }

    /// Fastens a spring of so many times the usual stiffness, in place of the one that there is.
    pub(super) fn grab(&mut self, item: usize, point: [f64; 3], factor: f64) -> Result<(), String> {
        self.drop_grip()?;
        let grip = self.pulls.fasten(&mut self.runner, item, point);
        let mut grip = grip.map_err(|error| error.to_string())?;
        let usual = grip.stiffness();
        let stiff = grip.stiffen(&mut self.runner, factor * usual);
        self.grip = Some((grip, usual));
        stiff.map_err(|error| error.to_string())
    }

    pub(super) fn drag(&mut self, to: [f64; 3]) -> Result<(), String> {
        match &mut self.grip {
            Some((grip, _)) => grip.pull_to(&mut self.runner, to).map_err(|e| e.to_string()),
            None => Err("nothing is grabbed".to_owned()),
        }
    }

    /// Gives the spring so many times its usual stiffness, if there is one.
    pub(super) fn stiffen(&mut self, factor: f64) -> Result<(), String> {
        let Some((grip, usual)) = &mut self.grip else {
            return Ok(());
        };
        let stiff = grip.stiffen(&mut self.runner, factor * *usual);
        stiff.map_err(|error| error.to_string())
    }

    /// Lets go, if anything is grabbed.
    pub(super) fn drop_grip(&mut self) -> Result<(), String> {
        match self.grip.take() {
            Some((grip, _)) => grip.release(&mut self.runner).map_err(|e| e.to_string()),
            None => Ok(()),
        }
    }

    fn whole(&mut self) -> Result<serde_json::Value, String> {
        let recording = self.runner.record_present(self.report.as_ref());
        let scene = self
            .live
            .scene(recording, &self.pulls.moving(), &self.pulls.reach());
        scene.map_err(|error| error.to_string())
    }

    /// The scene as a message to the page.
    pub(super) fn scene(&mut self) -> Result<String, String> {
        let mut scene = self.whole()?;
        scene["sum"] = self.sum.clone().into();
        Ok(serde_json::json!({ "scene": scene }).to_string())
    }

    /// The present moment.
    pub(super) fn moment(&mut self) -> Result<PresentMoment, String> {
        let pull = self.grip.as_ref().map(|(grip, _)| PullState {
            held: grip.held(self.runner.simulation()),
            place: grip.place(),
            force: grip.force(self.runner.simulation()),
            stiffness: grip.stiffness(),
        });
        let recording = self.runner.record_present(self.report.as_ref());
        let mut numbers = Vec::new();
        let drawn = self.live.numbers(recording, &mut numbers);
        drawn.map_err(|error| error.to_string())?;
        Ok(PresentMoment {
            sum: self.sum.clone(),
            lines: self.live.lines(recording),
            time: self.time(),
            numbers,
            pull,
        })
    }
}

/// A number that is the same for scenes of which one page can draw the motion.
fn sum(mut scene: serde_json::Value) -> String {
    if let Some(keys) = scene.as_object_mut() {
        OF_FRAMES.iter().for_each(|key| drop(keys.remove(*key)));
        let tables = keys.get_mut("tables").and_then(|tables| tables.as_array_mut());
        for table in tables.into_iter().flatten() {
            (table["times"], table["values"]) = (serde_json::Value::Null, serde_json::Value::Null);
        }
    }
    let mut hasher = DefaultHasher::new();
    scene.to_string().hash(&mut hasher);
    format!("{:016x}", hasher.finish())
}
