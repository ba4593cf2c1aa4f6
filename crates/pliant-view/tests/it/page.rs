//! A page without a browser: the other end of the socket.

use pliant_scene::{SceneFile, Settings};
use pliant_view::{SceneSource, View};
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use tungstenite::client::IntoClientRequest;
use tungstenite::http::HeaderValue;
use tungstenite::{Message, WebSocket};

/// The longest time for anything.
const PATIENCE: Duration = Duration::from_secs(60);

/// A scene file that is viewed.
pub(crate) struct Viewed {
    pub(crate) view: View,
    folder: tempfile::TempDir,
}

impl Viewed {
    pub(crate) fn of(text: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("scene.ron"), text).unwrap();
        let path = folder.path().join("scene.ron");
        let source = SceneSource {
            load: Box::new(move || SceneFile::load(&path)),
            path: folder.path().join("scene.ron"),
            settings: Settings::default(),
        };
        let view = View::start(source, 0).unwrap();
        Self { view, folder }
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.folder.path().join("scene.ron")
    }

    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// `127.0.0.1` with the port.
    pub(crate) fn host(&self) -> String {
        let rest = self.view.url().strip_prefix("http://").unwrap();
        rest.split('/').next().unwrap().to_owned()
    }

    pub(crate) fn token(&self) -> String {
        self.view.url().split('/').nth(3).unwrap().to_owned()
    }

    pub(crate) fn stream(&self) -> TcpStream {
        let stream = TcpStream::connect(self.host()).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream
    }

    /// The whole answer to some bytes.
    pub(crate) fn answer(&self, request: &str) -> String {
        let mut stream = self.stream();
        // It may be refused, and the connection closed, ahead of its end.
        let _ = stream.write_all(request.as_bytes());
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        String::from_utf8(answer).unwrap()
    }

    /// The status of a request for a path with these headers.
    pub(crate) fn status(&self, path: &str, headers: &[(&str, &str)]) -> String {
        let lines = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n"));
        let text = format!("GET {path} HTTP/1.1\r\n{}\r\n", lines.collect::<String>());
        let answer = self.answer(&text);
        answer.split(' ').nth(1).unwrap_or("none").to_owned()
    }

    pub(crate) fn page(&self) -> Page {
        let url = format!("ws://{}/{}/socket", self.host(), self.token());
        let mut request = url.into_client_request().unwrap();
        let origin = format!("http://{}", self.host());
        let origin = HeaderValue::from_str(&origin).unwrap();
        request.headers_mut().insert("Origin", origin);
        let (socket, _) = tungstenite::client(request, self.stream()).unwrap();
        Page {
            socket,
            scene: Value::Null,
            state: Value::Null,
            head: Value::Null,
            numbers: Vec::new(),
            refused: None,
            frames: 0,
            draws: true,
        }
    }
}

/// A page, and all that it knows.
pub(crate) struct Page {
    pub(crate) socket: WebSocket<TcpStream>,
    pub(crate) scene: Value,
    pub(crate) state: Value,
    pub(crate) head: Value,
    pub(crate) numbers: Vec<f32>,
    pub(crate) refused: Option<String>,
    pub(crate) frames: usize,
    /// Whether it says that it has drawn frames.
    pub(crate) draws: bool,
}

impl Page {
    pub(crate) fn send(&mut self, message: Value) {
        self.say(&message.to_string());
    }

    pub(crate) fn say(&mut self, text: &str) {
        self.socket.send(Message::text(text)).unwrap();
    }

    /// Takes one message; false where the socket is closed.
    pub(crate) fn take(&mut self) -> bool {
        match self.socket.read() {
            Ok(Message::Text(text)) => {
                let mut message: Value = serde_json::from_str(&text).unwrap();
                if let Some(scene) = message.get_mut("scene") {
                    self.scene = scene.take();
                }
                if let Some(state) = message.get_mut("state") {
                    self.state = state.take();
                }
                if let Some(refused) = message.get("refused") {
                    self.refused = refused.as_str().map(str::to_owned);
                }
                true
            }
            Ok(Message::Binary(bytes)) => {
                let (length, rest) = bytes.split_first_chunk::<4>().unwrap();
                let length = u32::from_le_bytes(*length) as usize;
                self.head = serde_json::from_slice(&rest[..length]).unwrap();
                let numbers = &bytes[(4 + length).next_multiple_of(4)..];
                let (numbers, rest) = numbers.as_chunks::<4>();
                assert!(rest.is_empty());
                self.numbers = numbers.iter().map(|b| f32::from_le_bytes(*b)).collect();
                self.frames += 1;
                if self.draws {
                    self.send(json!({"do": "shown", "frame": self.head["frame"]}));
                }
                true
            }
            Ok(Message::Close(_)) | Err(_) => false,
            Ok(_) => true,
        }
    }

    /// Takes messages until something holds.
    pub(crate) fn until(&mut self, what: &str, holds: impl Fn(&Self) -> bool) {
        let start = Instant::now();
        while !holds(self) {
            let known = format!("{} {}", self.state, self.head);
            assert!(start.elapsed() < PATIENCE, "{what}: {known}");
            assert!(self.take(), "{what}: the socket is closed; {known}");
        }
    }

    /// A page that has all that it is sent at first.
    pub(crate) fn ready(mut self) -> Self {
        self.until("a scene", |page| {
            !page.scene.is_null() && !page.state.is_null() && !page.head.is_null()
        });
        self
    }

    pub(crate) fn time(&self) -> f64 {
        self.head["time"].as_f64().unwrap_or(f64::NAN)
    }

    /// The place of a point, or of a body behind all points.
    pub(crate) fn place(&self, item: usize) -> [f64; 3] {
        let points = self.scene["points"].as_u64().unwrap() as usize;
        let first = if item < points {
            3 * item
        } else {
            3 * points + 7 * (item - points)
        };
        [0, 1, 2].map(|k| f64::from(self.numbers[first + k]))
    }

    pub(crate) fn parameter(&self, name: &str) -> Value {
        let list = self.state["parameters"].as_array().unwrap();
        list.iter().find(|one| one["name"] == name).unwrap().clone()
    }
}
