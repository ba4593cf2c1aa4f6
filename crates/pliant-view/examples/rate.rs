//! How many frames of a scene a page that draws at once is sent in a second: `cargo run --release
//! -p pliant-view --example rate -- scenes/stack.ron`.

use pliant_scene::{SceneFile, Settings};
use pliant_view::{SceneSource, View};
use std::error::Error;
use std::net::TcpStream;
use std::path::PathBuf;
use std::time::{Duration, Instant};
use tungstenite::Message;
use tungstenite::client::IntoClientRequest;

/// How long frames are counted.
const COUNTED: Duration = Duration::from_secs(10);

fn main() -> Result<(), Box<dyn Error>> {
    for path in std::env::args_os().skip(1).map(PathBuf::from) {
        let (frames, simulated, seconds) = count(path.clone())?;
        println!(
            "{}: {:.0} frames in a second, {:.2} times real time, over {seconds:.1} s",
            path.display(),
            frames / seconds,
            simulated / seconds
        );
    }
    Ok(())
}

/// Frames, simulated time (s) and time (s) while a scene plays in real time.
fn count(path: PathBuf) -> Result<(f64, f64, f64), Box<dyn Error>> {
    let file = path.clone();
    let source = SceneSource {
        path,
        load: Box::new(move || SceneFile::load(&file)),
        // It is not at its end while frames are counted.
        settings: Settings {
            duration: Some(100.0),
            ..Settings::default()
        },
    };
    let view = View::start(source, 0)?;
    let place = view.url().trim_start_matches("http://").to_owned();
    let host = place.split('/').next().unwrap_or_default().to_owned();
    let mut request = format!("ws://{place}socket").into_client_request()?;
    let origin = format!("http://{host}").parse()?;
    request.headers_mut().insert("Origin", origin);
    let (mut socket, _) = tungstenite::client(request, TcpStream::connect(&host)?)?;
    socket.send(Message::text(r#"{"do": "play"}"#))?;
    let (mut start, mut frames, mut from, mut now) = (Instant::now(), 0.0, 0.0, 0.0);
    while frames == 0.0 || start.elapsed() < COUNTED {
        match socket.read()? {
            Message::Binary(bytes) => {
                let (length, rest) = bytes.split_first_chunk::<4>().ok_or("a short frame")?;
                let head = &rest[..u32::from_le_bytes(*length) as usize];
                let head: serde_json::Value = serde_json::from_slice(head)?;
                now = head["time"].as_f64().unwrap_or_default();
                // The clock runs from the first step on.
                if now > 0.0 && frames == 0.0 {
                    (start, from) = (Instant::now(), now);
                }
                frames += f64::from(u8::from(now > 0.0));
                let shown = serde_json::json!({"do": "shown", "frame": head["frame"]});
                socket.send(Message::text(shown.to_string()))?;
            }
            // It stands still, and no more frames come.
            Message::Text(text) if frames > 0.0 && text.contains("\"playing\":false") => break,
            _ => {}
        }
    }
    Ok((frames, now - from, start.elapsed().as_secs_f64()))
}
