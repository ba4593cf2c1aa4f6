//! The run: it takes steps as the page asks for, on a thread of its own.

mod clock;
mod loaded;

use crate::files::{Files, beside};
use crate::outbox::Outbox;
use crate::protocol::{Head, Parameter, Request, State, frame};
use clock::Clock;
use loaded::Loaded;
use pliant_scene::{BuiltScene, Number, SceneError, SceneFile, Settings};
use std::fmt;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

/// How often files are looked at.
const BETWEEN_LOOKS: Duration = Duration::from_millis(250);
/// How long it waits for a request while nothing is to do.
const REST: Duration = Duration::from_millis(10);
/// Scenes with more parameters, or more degrees of freedom, are not built anew for each parameter to
/// see whether it may change while they run.
const MOST_PARAMETERS: usize = 40;
const MOST_FREEDOMS: usize = 5000;
/// The least and the largest stiffness over the usual one that a page may ask for.
const FACTORS: [f64; 2] = [1e-6, 1e6];

/// A scene, and how it is read.
pub struct SceneSource {
    /// Its file, which is watched.
    pub path: PathBuf,
    /// Reads it.
    pub load: Box<dyn Fn() -> Result<SceneFile, SceneError> + Send>,
    /// Values given beside it.
    pub settings: Settings,
}

impl fmt::Debug for SceneSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut all = f.debug_struct("SceneSource");
        all.field("path", &self.path).field("settings", &self.settings);
        all.finish_non_exhaustive()
    }
}

/// Something that the run is told.
#[derive(Debug)]
pub(crate) enum Event {
    /// A page has come, with the number of its socket, in place of another one if there was one.
    Connected(u64),
    Request(Request),
}

pub(crate) struct Session {
    source: SceneSource,
    files: Files,
    looked: Instant,
    loaded: Option<Loaded>,
    /// Values that the page has set.
    set: Vec<(String, f64)>,
    /// Parameters that the run follows at once, beside those that the scene itself sets.
    varied: Vec<String>,
    playing: bool,
    clock: Clock,
    problem: Option<String>,
    said: Option<String>,
    failed: bool,
    /// Frames so far.
    frames: u64,
    /// Everything that the page does not know yet.
    news: News,
}

#[derive(Debug, Default)]
struct News {
    scene: bool,
    state: bool,
    frame: bool,
}

impl Session {
    pub(crate) fn new(source: SceneSource) -> Self {
        let mut session = Self {
            source,
            files: Files::default(),
            looked: Instant::now(),
            loaded: None,
            set: Vec::new(),
            varied: Vec::new(),
            playing: false,
            clock: Clock::default(),
            problem: None,
            said: None,
            failed: false,
            frames: 0,
            news: News::default(),
        };
        session.load();
        session
    }

    /// Runs until `stop` is set, or nobody is left who could ask for anything.
    pub(crate) fn run(mut self, events: &Receiver<Event>, outbox: &Outbox, stop: &AtomicBool) {
        while !stop.load(Ordering::Relaxed) {
            let due = self.playing.then(|| self.until_step());
            match events.recv_timeout(due.unwrap_or(REST).min(REST)) {
                Ok(Event::Connected(page)) => {
                    outbox.begin(page);
                    self.news = News {
                        scene: true,
                        state: true,
                        frame: true,
                    };
                }
                Ok(Event::Request(request)) => self.follow(request, outbox),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return,
            }
            if self.looked.elapsed() > BETWEEN_LOOKS {
                self.looked = Instant::now();
                if self.files.have_changed() {
                    self.load();
                }
            }
            if self.playing && self.until_step().is_zero() {
                self.step();
            }
            self.tell(outbox);
        }
    }

    /// Reads the scene; a page that plays goes on playing from its start.
    fn load(&mut self) {
        let read = (self.source.load)();
        let built = read.and_then(|file| {
            let built = file.build(&self.source.settings)?;
            // What the page has set is no part of the start, and may be of parameters that are no more.
            self.set.retain(|(name, _)| built.parameters.contains_key(name));
            self.varied = varied(&file, &self.source.settings, &built);
            Loaded::new(file, &self.settings(), built.parameters)
        });
        let mut paths = vec![self.source.path.clone()];
        match &built {
            Ok(loaded) => paths.extend(loaded.files.iter().cloned()),
            Err(_) => {
                paths.extend(self.files.paths().cloned());
                paths.extend(beside(&self.source.path));
            }
        }
        self.files.watch(paths);
        match built {
            Ok(loaded) => self.begin(loaded),
            Err(error) => {
                self.problem = Some(error.to_string());
                self.playing = false;
            }
        }
        self.news.state = true;
    }

    /// The values given beside the file, and those that the page has set.
    fn settings(&self) -> Settings {
        let mut settings = self.source.settings.clone();
        settings.varied.clone_from(&self.varied);
        for (name, value) in &self.set {
            settings.parameters.retain(|(other, _)| other != name);
            settings.parameters.push((name.clone(), Number::Value(*value)));
        }
        settings
    }

    fn begin(&mut self, loaded: Loaded) {
        let warnings = loaded.warnings();
        self.loaded = Some(loaded);
        self.problem = None;
        (self.said, self.failed) = (warnings, false);
        self.clock.forget();
        self.news = News {
            scene: true,
            state: true,
            frame: true,
        };
    }

    /// Goes back to the start, with the parameters as they are set.
    fn reset(&mut self) {
        let Some(loaded) = &self.loaded else { return };
        let start = loaded.start.clone();
        match Loaded::new(loaded.file.clone(), &self.settings(), start) {
            Ok(loaded) => self.begin(loaded),
            Err(error) => {
                self.problem = Some(error.to_string());
                self.playing = false;
            }
        }
        self.news.state = true;
    }

    /// Does what the page asks for.
    fn follow(&mut self, request: Request, outbox: &Outbox) {
        let done = match request {
            Request::Play {} => {
                self.play();
                Ok(())
            }
            Request::Pause {} => {
                self.playing = false;
                Ok(())
            }
            Request::Step {} => {
                self.playing = false;
                if self.problem.is_none() {
                    self.step();
                }
                Ok(())
            }
            Request::Reset {} => {
                self.reset();
                Ok(())
            }
            Request::Speed { factor } => self.set_speed(factor),
            Request::Set { name, value } => self.set_parameter(name, value),
            Request::Shown { frame } => {
                outbox.shown(frame);
                return;
            }
            Request::Grab { item, point, factor } => self.pull(factor, |l, f| l.grab(item, point, f)),
            Request::Drag { to } => self.pull(1.0, |loaded, _| loaded.drag(to)),
            Request::Stiffness { factor } => self.pull(factor, Loaded::stiffen),
            Request::Drop {} => self.pull(1.0, |loaded, _| loaded.drop_grip()),
        };
        if let Err(sentence) = done {
            outbox.refuse(serde_json::json!({ "refused": sentence }).to_string());
        }
        self.news.state = true;
    }

    fn play(&mut self) {
        self.playing = self.loaded.is_some() && self.problem.is_none();
        (self.said, self.failed) = (None, false);
        self.clock.forget();
    }

    fn set_speed(&mut self, factor: Option<f64>) -> Result<(), String> {
        if let Some(factor) = factor.filter(|f| !(*f > 0.0 && f.is_finite())) {
            return Err(format!("the speed is {factor}, but must be positive and finite"));
        }
        self.clock.set_speed(factor);
        Ok(())
    }

    fn set_parameter(&mut self, name: String, value: f64) -> Result<(), String> {
        let Some(loaded) = &mut self.loaded else {
            return Err("there is no scene yet".to_owned());
        };
        if !loaded.start.contains_key(&name) {
            return Err(format!("this scene has no parameter `{name}`"));
        }
        if !value.is_finite() {
            return Err(format!("`{name}` must be a finite number"));
        }
        loaded.set(&name, value)?;
        self.set.retain(|(other, _)| *other != name);
        self.set.push((name, value));
        self.news.frame = true;
        // Where the scene as it was set before is no good, this value may mend it.
        if self.problem.is_some() {
            self.reset();
        }
        Ok(())
    }

    fn pull(
        &mut self,
        factor: f64,
        act: impl FnOnce(&mut Loaded, f64) -> Result<(), String>,
    ) -> Result<(), String> {
        let [least, most] = FACTORS;
        if !(least..=most).contains(&factor) {
            return Err(format!(
                "the stiffness is {factor} times the usual one, but must be from {least} to {most} times"
            ));
        }
        self.news.frame = true;
        match &mut self.loaded {
            Some(loaded) => act(loaded, factor),
            None => Err("there is no scene yet".to_owned()),
        }
    }

    /// The time until the next step is due.
    fn until_step(&mut self) -> Duration {
        let time = self.loaded.as_ref().map_or(0.0, Loaded::time);
        self.clock.until_step(time)
    }

    fn step(&mut self) {
        let Some(loaded) = &mut self.loaded else {
            self.playing = false;
            return;
        };
        let taken = loaded.step();
        self.clock.note(loaded.time());
        self.news.frame = true;
        match taken {
            Ok(None) => {}
            Ok(Some(sentence)) => {
                (self.said, self.failed) = (Some(sentence), false);
                self.playing = false;
                self.news.state = true;
            }
            Err(sentence) => {
                (self.said, self.failed) = (Some(sentence), true);
                self.playing = false;
                self.news.state = true;
            }
        }
    }

    fn state(&self) -> State {
        State {
            playing: self.playing,
            speed: self.clock.speed(),
            problem: self.problem.clone(),
            said: self.said.clone(),
            failed: self.failed,
            parameters: self.loaded.as_ref().map_or_else(Vec::new, |l| self.parameters(l)),
        }
    }

    fn parameters(&self, loaded: &Loaded) -> Vec<Parameter> {
        let one = |(name, start): (&String, &f64)| {
            let at_once = loaded.present(name);
            let set = self
                .set
                .iter()
                .find(|(own, _)| own == name)
                .map(|(_, value)| *value);
            let value = at_once.or(set).unwrap_or(*start);
            Parameter {
                name: name.clone(),
                value,
                start: *start,
                at_once: at_once.is_some(),
                waits: at_once.is_none() && loaded.begun.get(name) != Some(&value),
            }
        };
        loaded.start.iter().map(one).collect()
    }

    /// Hands over what the page does not know: frames as fast as it draws them.
    fn tell(&mut self, outbox: &Outbox) {
        if self.news.scene
            && let Some(loaded) = &mut self.loaded
        {
            match loaded.scene() {
                Ok(text) => outbox.put_scene(text),
                Err(sentence) => (self.said, self.failed) = (Some(sentence), true),
            }
        }
        self.news.scene = false;
        if self.news.frame && outbox.wants_frame() {
            self.news.frame = false;
            self.put_frame(outbox);
        }
        if self.news.state {
            self.news.state = false;
            let text = serde_json::json!({ "state": self.state() });
            outbox.put_state(text.to_string());
        }
    }

    fn put_frame(&mut self, outbox: &Outbox) {
        let Some(loaded) = &mut self.loaded else { return };
        let made = loaded.moment().and_then(|moment| {
            self.frames += 1;
            let head = Head {
                frame: self.frames,
                sum: &moment.sum,
                time: moment.time,
                rate: self.clock.rate(),
                pull: moment.pull,
                lines: moment.lines,
            };
            frame(&head, &moment.numbers).map_err(|error| error.to_string())
        });
        match made {
            Ok(bytes) => outbox.put_frame(self.frames, bytes),
            Err(sentence) => {
                (self.said, self.failed) = (Some(sentence), true);
                self.playing = false;
                self.news.state = true;
            }
        }
    }
}

/// The parameters that may change while a scene runs: with each of them the scene can be built. What
/// is read once, such as the number of links of a chain, may not.
fn varied(file: &SceneFile, settings: &Settings, built: &BuiltScene) -> Vec<String> {
    let names = built.parameters.keys();
    let is_large = names.len() > MOST_PARAMETERS || built.model.dof_count() > MOST_FREEDOMS;
    let mut settings = settings.clone();
    for name in names.filter(|_| !is_large && built.statics.is_none()) {
        settings.varied.push(name.clone());
        if file.build(&settings).is_err() {
            settings.varied.pop();
        }
    }
    settings.varied
}
