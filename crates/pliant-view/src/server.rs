//! The page and its socket, on the loopback interface.

use crate::http::{self, Refusal};
use crate::outbox::{Outbox, Outgoing};
use crate::protocol::Request;
use crate::session::{Event, SceneSource, Session};
use pliant_output::player::live::live_html;
use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::time::Duration;
use tungstenite::handshake::derive_accept_key;
use tungstenite::protocol::frame::coding::CloseCode;
use tungstenite::protocol::{CloseFrame, Role, WebSocketConfig};
use tungstenite::{Message, WebSocket};

/// The most bytes of a message of a page.
const MOST_BYTES: usize = 16 << 10;
/// The most connections at a time.
const MOST_CONNECTIONS: usize = 16;
/// How long a socket waits for a message before it looks whether it has one to send.
const TURN: Duration = Duration::from_millis(3);
/// The longest time in which a page must take what it is sent.
const PATIENCE: Duration = Duration::from_secs(20);
/// Requests that the run has not looked at; more wait in the socket.
const MOST_WAITING: usize = 64;

/// Why a scene cannot be viewed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ViewError {
    /// There is no such port for this program.
    #[error("port {port} of this machine cannot be taken: {source}")]
    Port {
        /// The port asked for; 0 is any.
        port: u16,
        /// The system's error.
        source: io::Error,
    },
    /// The system gives no random numbers, or no thread.
    #[error("the system does not grant {what}: {reason}")]
    System {
        /// Words for it.
        what: &'static str,
        /// Its error.
        reason: String,
    },
}

/// A scene that is being viewed, until this is dropped.
#[derive(Debug)]
pub struct View {
    url: String,
    stop: Arc<AtomicBool>,
    address: SocketAddr,
}

/// State that all connections share.
struct Shared {
    token: String,
    port: u16,
    events: SyncSender<Event>,
    outbox: Outbox,
    stop: Arc<AtomicBool>,
    /// Sockets so far: the last one alone is served.
    sockets: AtomicU64,
    connections: AtomicUsize,
}

impl View {
    /// Begins to run a scene and to serve its page at a port of the loopback interface; 0 takes any
    /// that is free. A scene that is wrong is no error: the page shows what is wrong, and the view
    /// waits for its files to change.
    ///
    /// # Errors
    /// [`ViewError`].
    pub fn start(source: SceneSource, port: u16) -> Result<Self, ViewError> {
        let refused = |source| ViewError::Port { port, source };
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).map_err(refused)?;
        let address = listener.local_addr().map_err(refused)?;
        let (events, waiting) = sync_channel(MOST_WAITING);
        let stop = Arc::new(AtomicBool::new(false));
        let shared = Arc::new(Shared {
            token: token()?,
            port: address.port(),
            events,
            outbox: Outbox::default(),
            stop: Arc::clone(&stop),
            sockets: AtomicU64::new(0),
            connections: AtomicUsize::new(0),
        });
        let url = format!("http://{address}/{}/", shared.token);
        let of_run = Arc::clone(&shared);
        spawn("view-run", move || {
            Session::new(source).run(&waiting, &of_run.outbox, &of_run.stop);
        })?;
        spawn("view-port", move || listen(&listener, &shared))?;
        Ok(Self { url, stop, address })
    }

    /// The address of the page, with its token.
    pub fn url(&self) -> &str {
        &self.url
    }
}

impl Drop for View {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        // It waits for a connection, and looks at the flag with each.
        let _ = TcpStream::connect_timeout(&self.address, Duration::from_millis(200));
    }
}

fn spawn(name: &str, work: impl FnOnce() + Send + 'static) -> Result<(), ViewError> {
    let thread = std::thread::Builder::new().name(name.to_owned());
    let refused = |error: io::Error| ViewError::System {
        what: "a thread",
        reason: error.to_string(),
    };
    thread.spawn(work).map(drop).map_err(refused)
}

/// 128 random bits in hexadecimal digits.
fn token() -> Result<String, ViewError> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(|error| ViewError::System {
        what: "random numbers",
        reason: error.to_string(),
    })?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

fn listen(listener: &TcpListener, shared: &Arc<Shared>) {
    for stream in listener.incoming() {
        if shared.stop.load(Ordering::Relaxed) {
            return;
        }
        let Ok(stream) = stream else {
            // Too many open files, as a rule; it passes.
            std::thread::sleep(Duration::from_millis(50));
            continue;
        };
        let shared = Arc::clone(shared);
        if shared.connections.fetch_add(1, Ordering::Relaxed) >= MOST_CONNECTIONS {
            shared.connections.fetch_sub(1, Ordering::Relaxed);
            continue;
        }
        // Without a thread the connection is dropped.
        let _ = spawn("view-page", move || {
            serve(stream, &shared);
            shared.connections.fetch_sub(1, Ordering::Relaxed);
        });
    }
}

fn serve(mut stream: TcpStream, shared: &Shared) {
    let _ = (stream.set_nodelay(true), stream.set_write_timeout(Some(PATIENCE)));
    match receive(&mut stream, shared) {
        Ok(None) => {}
        Ok(Some((key, rest))) => talk(stream, &key, rest, shared),
        Err(refusal) => http::refuse(&mut stream, refusal),
    }
}

/// Answers a request for the page. One for the socket gives its key, and the bytes behind it.
fn receive(stream: &mut TcpStream, shared: &Shared) -> Result<Option<(String, Vec<u8>)>, Refusal> {
    let (request, rest) = http::Request::read(stream)?;
    let hosts = ["127.0.0.1", "localhost"].map(|host| format!("{host}:{}", shared.port));
    // A page of another site reaches this address under its own name.
    if !hosts
        .iter()
        .any(|host| request.header("host") == Some(host.as_str()))
    {
        return Err(Refusal::Forbidden);
    }
    let path = request.path.strip_prefix('/').ok_or(Refusal::NotFound)?;
    let (token, rest_of_path) = path.split_once('/').ok_or(Refusal::NotFound)?;
    if !same(token, &shared.token) {
        return Err(Refusal::NotFound);
    }
    match rest_of_path {
        "" => {
            let sockets = hosts.map(|host| format!("ws://{host}")).join(" ");
            let _ = http::answer(stream, &live_html(&sockets));
            Ok(None)
        }
        "socket" => {
            let origins = hosts.map(|host| format!("http://{host}"));
            let origin = request.header("origin");
            if !origins.iter().any(|own| origin == Some(own.as_str())) {
                return Err(Refusal::Forbidden);
            }
            let upgrades = request.has_word("connection", "upgrade")
                && request.has_word("upgrade", "websocket")
                && request.header("sec-websocket-version") == Some("13");
            match request.header("sec-websocket-key") {
                Some(key) if upgrades => Ok(Some((key.to_owned(), rest))),
                _ => Err(Refusal::Bad),
            }
        }
        _ => Err(Refusal::NotFound),
    }
}

/// Whether two texts are the same, in a time that does not tell where they differ.
fn same(a: &str, b: &str) -> bool {
    let differences = a.bytes().zip(b.bytes()).map(|(a, b)| a ^ b);
    a.len() == b.len() && differences.fold(0, |all, one| all | one) == 0
}

/// Serves a socket until one end has gone, or another page has come.
fn talk(mut stream: TcpStream, key: &str, rest: Vec<u8>, shared: &Shared) {
    let head = format!(
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
         Sec-WebSocket-Accept: {}\r\n\r\n",
        derive_accept_key(key.as_bytes())
    );
    let begun = io::Write::write_all(&mut stream, head.as_bytes());
    if begun.and_then(|()| stream.set_read_timeout(Some(TURN))).is_err() {
        return;
    }
    let config = WebSocketConfig::default()
        .max_message_size(Some(MOST_BYTES))
        .max_frame_size(Some(MOST_BYTES));
    let mut socket = WebSocket::from_partially_read(stream, rest, Role::Server, Some(config));
    let own = shared.sockets.fetch_add(1, Ordering::Relaxed) + 1;
    if shared.events.send(Event::Connected(own)).is_err() {
        return;
    }
    loop {
        if shared.stop.load(Ordering::Relaxed) {
            return close(&mut socket, "the program that runs the scene has ended");
        }
        if shared.sockets.load(Ordering::Relaxed) != own {
            return close(&mut socket, "another page shows this scene now");
        }
        if turn(&mut socket, own, shared).is_none() {
            return;
        }
    }
}

/// Takes a message, if one comes, and sends all that there is for this page; none where the socket is
/// at its end.
fn turn(socket: &mut WebSocket<TcpStream>, own: u64, shared: &Shared) -> Option<()> {
    match socket.read() {
        Ok(Message::Text(text)) => match serde_json::from_str::<Request>(&text) {
            // The page waits where the run does not follow.
            Ok(request) => shared.events.send(Event::Request(request)).ok()?,
            Err(error) => shared.outbox.refuse(refusal(&format!("no request: {error}"))),
        },
        Ok(Message::Binary(_)) => shared
            .outbox
            .refuse(refusal("no request: requests are JSON, not binary")),
        Ok(Message::Close(_)) => {
            // The library has the answer, which goes out with the next reading.
            while socket.read().is_ok() {}
            return None;
        }
        Ok(_) => {}
        Err(tungstenite::Error::Io(e))
            if matches!(e.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) => {}
        Err(tungstenite::Error::Capacity(_)) => {
            close(socket, "a message of more than 16 KiB");
            return None;
        }
        Err(_) => return None,
    }
    while let Some(message) = shared.outbox.take(own) {
        let sent = match message {
            Outgoing::Text(text) => socket.send(Message::text(text)),
            Outgoing::Frame(bytes) => socket.send(Message::binary(bytes)),
        };
        sent.ok()?;
    }
    Some(())
}

fn refusal(text: &str) -> String {
    serde_json::json!({ "refused": text }).to_string()
}

fn close(socket: &mut WebSocket<TcpStream>, reason: &str) {
    let frame = CloseFrame {
        code: CloseCode::Policy,
        reason: reason.to_owned().into(),
    };
    // Who has gone needs no reason.
    let _ = socket.close(Some(frame));
    let _ = socket.flush();
}
