//! A browser that is told what to do: the DevTools protocol of Chromium, over its socket.

use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tungstenite::{Message, WebSocket};

use super::{FLAGS, base64};

/// Longest time for anything.
const PATIENCE: Duration = Duration::from_secs(60);

/// A page in a browser of its own, which ends with it.
pub(super) struct Remote {
    browser: Child,
    socket: WebSocket<TcpStream>,
    session: String,
    count: u64,
    /// Everything that the page has said on the console.
    pub(super) complaints: Vec<String>,
}

impl Drop for Remote {
    fn drop(&mut self) {
        let _ = self.browser.kill();
        let _ = self.browser.wait();
    }
}

/// Starts Chromium, and waits for the place of its socket: the port, and the path.
fn start(profile: &Path, [width, height]: [usize; 2]) -> Result<(Child, u16, String), String> {
    let program = std::env::var("PLIANT_CHROMIUM").unwrap_or_else(|_| "chromium".to_owned());
    let mut command = Command::new(&program);
    command
        .args(FLAGS.iter().filter(|flag| !flag.starts_with("--enable-logging")))
        .arg("--remote-debugging-port=0")
        .arg(format!("--window-size={width},{height}"))
        .arg(format!("--user-data-dir={}", profile.display()))
        .arg("about:blank");
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let browser = command
        .spawn()
        .map_err(|e| format!("cannot start {program}: {e}"))?;
    let place = profile.join("DevToolsActivePort");
    let begun = Instant::now();
    loop {
        let text = std::fs::read_to_string(&place).unwrap_or_default();
        if let Some((port, path)) = text.split_once('\n')
            && let Ok(port) = port.parse()
        {
            return Ok((browser, port, path.trim().to_owned()));
        }
        if begun.elapsed() > PATIENCE {
            return Err(format!("{program} does not say where its socket is"));
        }
        std::thread::sleep(Duration::from_millis(50));
    }
}

impl Remote {
    /// Opens an address in a browser with a profile in this folder.
    pub(super) fn open(profile: &Path, size: [usize; 2], url: &str) -> Result<Self, String> {
        std::fs::create_dir_all(profile).map_err(|e| e.to_string())?;
        let (browser, port, path) = start(profile, size)?;
        let stream = TcpStream::connect(("127.0.0.1", port)).map_err(|e| e.to_string())?;
        stream
            .set_read_timeout(Some(PATIENCE))
            .map_err(|e| e.to_string())?;
        let address = format!("ws://127.0.0.1:{port}{path}");
        let (socket, _) = tungstenite::client(address, stream).map_err(|e| e.to_string())?;
        let mut remote = Self {
            browser,
            socket,
            session: String::new(),
            count: 0,
            complaints: Vec::new(),
        };
        let target = remote.call("Target.createTarget", json!({"url": "about:blank"}))?;
        let attach = json!({"targetId": target["targetId"], "flatten": true});
        let attached = remote.call("Target.attachToTarget", attach)?;
        remote.session = attached["sessionId"].as_str().unwrap_or_default().to_owned();
        for domain in ["Page", "Runtime", "Log"] {
            remote.call(&format!("{domain}.enable"), json!({}))?;
        }
        let [width, height] = size;
        let metrics = json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false});
        remote.call("Emulation.setDeviceMetricsOverride", metrics)?;
        remote.call("Page.navigate", json!({"url": url}))?;
        Ok(remote)
    }

    /// Calls a method of the protocol; its result.
    fn call(&mut self, method: &str, parameters: Value) -> Result<Value, String> {
        self.count += 1;
        let mut message = json!({"id": self.count, "method": method, "params": parameters});
        if !self.session.is_empty() {
            message["sessionId"] = self.session.clone().into();
        }
        let sent = self.socket.send(Message::text(message.to_string()));
        sent.map_err(|e| format!("{method}: {e}"))?;
        loop {
            let message = self.socket.read().map_err(|e| format!("{method}: {e}"))?;
            let Message::Text(text) = message else { continue };
            let mut answer: Value = serde_json::from_str(&text).map_err(|e| e.to_string())?;
            self.note(&answer);
            if answer["id"] == self.count {
                return match answer.get("error") {
                    Some(error) => Err(format!("{method}: {error}")),
                    None => Ok(answer["result"].take()),
                };
            }
        }
    }

    /// Keeps what the page says on the console, and what goes wrong in it.
    fn note(&mut self, event: &Value) {
        let said = match event["method"].as_str() {
            Some("Runtime.consoleAPICalled") => &event["params"]["args"],
            Some("Runtime.exceptionThrown") => &event["params"]["exceptionDetails"],
            Some("Log.entryAdded") => &event["params"]["entry"]["text"],
            _ => return,
        };
        self.complaints.push(said.to_string());
    }

    /// The value of an expression in the page.
    pub(super) fn value(&mut self, expression: &str) -> Result<Value, String> {
        let what = json!({"expression": expression, "returnByValue": true, "awaitPromise": true});
        let mut found = self.call("Runtime.evaluate", what)?;
        match found.get("exceptionDetails") {
            Some(details) => Err(format!("{expression}: {details}")),
            None => Ok(found["result"]["value"].take()),
        }
    }

    /// The state that a page with the option `state` shows; null before it shows any.
    pub(super) fn state(&mut self) -> Result<Value, String> {
        let text = self.value("(document.getElementById('state') || {}).textContent || ''")?;
        let text = text.as_str().unwrap_or_default();
        if text.is_empty() {
            return Ok(Value::Null);
        }
        serde_json::from_str(text).map_err(|e| format!("the state of the page: {e}"))
    }

    /// Waits for a state of which something holds.
    pub(super) fn until(&mut self, what: &str, holds: impl Fn(&Value) -> bool) -> Result<Value, String> {
        let begun = Instant::now();
        loop {
            let state = self.state()?;
            if holds(&state) {
                return Ok(state);
            }
            if begun.elapsed() > PATIENCE {
                let status = self.value("document.getElementById('status').textContent")?;
                return Err(format!("{what} does not come; the page says {status}: {state}"));
            }
            std::thread::sleep(Duration::from_millis(30));
        }
    }

    /// Moves the pointer, presses or lets go: `mouseMoved`, `mousePressed`, `mouseReleased`.
    pub(super) fn pointer(&mut self, kind: &str, [x, y]: [f64; 2]) -> Result<(), String> {
        let is_move = kind == "mouseMoved";
        let event = json!({
            "type": kind, "x": x, "y": y, "button": if is_move { "none" } else { "left" },
            "buttons": if kind == "mouseReleased" { 0 } else { 1 }, "clickCount": u8::from(!is_move),
        });
        self.call("Input.dispatchMouseEvent", event).map(drop)
    }

    /// Clicks in the middle of the element of this name.
    pub(super) fn click(&mut self, id: &str) -> Result<(), String> {
        let middle = format!(
            "(() => {{ const b = document.getElementById('{id}').getBoundingClientRect(); return [b.x + b.width / 2, b.y + b.height / 2]; }})()"
        );
        let middle = self.value(&middle)?;
        let at = [0, 1].map(|k| middle[k].as_f64().unwrap_or_default());
        self.pointer("mousePressed", at)?;
        self.pointer("mouseReleased", at)
    }

    /// The picture of the page as a file.
    pub(super) fn screenshot(&mut self, path: &Path) -> Result<(), String> {
        let picture = self.call("Page.captureScreenshot", json!({"format": "png"}))?;
        let bytes = picture["data"].as_str().and_then(base64).ok_or("no picture")?;
        std::fs::write(path, bytes).map_err(|e| format!("{}: {e}", path.display()))
    }
}
