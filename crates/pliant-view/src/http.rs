//! Requests of a browser: the little of HTTP that one page and its socket need.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

/// The most bytes of a request.
pub(crate) const MOST_BYTES: usize = 8 << 10;
/// The most lines of a request.
const MOST_LINES: usize = 100;
/// The longest time in which a request must have come.
const PATIENCE: Duration = Duration::from_secs(5);

/// A request for a page.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Request {
    pub(crate) path: String,
    /// Names in small letters, and values.
    headers: Vec<(String, String)>,
}

/// Why a request is not answered, as the status of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    Bad,
    Forbidden,
    NotFound,
    Method,
    TooLarge,
    /// No request has come, or the other end has gone: there is nobody to answer.
    Gone,
}

impl Refusal {
    fn status(self) -> &'static str {
        match self {
            Self::Bad | Self::Gone => "400 Bad Request",
            Self::Forbidden => "403 Forbidden",
            Self::NotFound => "404 Not Found",
            Self::Method => "405 Method Not Allowed",
            Self::TooLarge => "431 Request Header Fields Too Large",
        }
    }
}

impl Request {
    /// The value of a header that stands there once; none if it is missing or stands there twice.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let mut all = self.headers.iter().filter(|(own, _)| own == name);
        let first = all.next()?;
        match all.next() {
            None => Some(&first.1),
            Some(_) => None,
        }
    }

    /// Whether a header is a list that has this word, in whatever letters.
    pub(crate) fn has_word(&self, name: &str, word: &str) -> bool {
        let list = self.header(name).unwrap_or_default().split(',');
        let mut words = list.map(str::trim);
        words.any(|own| own.eq_ignore_ascii_case(word))
    }

    /// Reads the text of a request, without the empty line at its end.
    fn parse(text: &[u8]) -> Result<Self, Refusal> {
        let text = std::str::from_utf8(text).map_err(|_| Refusal::Bad)?;
        let mut lines = text.split("\r\n");
        let mut words = lines.next().unwrap_or_default().split(' ');
        let (method, path, version) = (words.next(), words.next(), words.next());
        let (Some(path), Some("HTTP/1.1"), None) = (path, version, words.next()) else {
            return Err(Refusal::Bad);
        };
        if method != Some("GET") {
            return Err(Refusal::Method);
        }
        let mut headers = Vec::new();
        for line in lines {
            let (name, value) = line.split_once(':').ok_or(Refusal::Bad)?;
            if name.is_empty() || name.bytes().any(|b| !b.is_ascii_graphic()) {
                return Err(Refusal::Bad);
            }
            if headers.len() >= MOST_LINES {
                return Err(Refusal::TooLarge);
            }
            headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
        }
        Ok(Self {
            path: path.to_owned(),
            headers,
        })
    }

    /// Reads a request, and what has come behind it.
    pub(crate) fn read(stream: &mut TcpStream) -> Result<(Self, Vec<u8>), Refusal> {
        let start = Instant::now();
        let mut bytes = Vec::new();
        let mut piece = [0; 1024];
        loop {
            let left = PATIENCE.saturating_sub(start.elapsed());
            if left.is_zero() || stream.set_read_timeout(Some(left)).is_err() {
                return Err(Refusal::Gone);
            }
            let count = match stream.read(&mut piece) {
                Ok(0) => return Err(Refusal::Gone),
                Ok(count) => count,
                Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
                Err(_) => return Err(Refusal::Gone),
            };
            // The end may lie across two pieces.
            let from = bytes.len().saturating_sub(3);
            bytes.extend_from_slice(&piece[..count]);
            if let Some(at) = bytes[from..].windows(4).position(|four| four == b"\r\n\r\n") {
                let rest = bytes.split_off(from + at + 4);
                return Ok((Self::parse(&bytes[..from + at])?, rest));
            }
            if bytes.len() > MOST_BYTES {
                return Err(Refusal::TooLarge);
            }
        }
    }
}

/// Answers with a page.
pub(crate) fn answer(stream: &mut TcpStream, page: &str) -> io::Result<()> {
    let head = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: {}\r\n\
         Cache-Control: no-store\r\nContent-Security-Policy: frame-ancestors 'none'\r\n\
         Cross-Origin-Resource-Policy: same-origin\r\nReferrer-Policy: no-referrer\r\n\
         X-Content-Type-Options: nosniff\r\nConnection: close\r\n\r\n",
        page.len()
    );
    stream.write_all(head.as_bytes())?;
    stream.write_all(page.as_bytes())?;
    stream.flush()
}

/// Answers that there is nothing.
pub(crate) fn refuse(stream: &mut TcpStream, refusal: Refusal) {
    if refusal == Refusal::Gone {
        return;
    }
    let status = refusal.status();
    let text = format!(
        "HTTP/1.1 {status}\r\nContent-Type: text/plain\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{status}\n",
        status.len() + 1
    );
    // Who has gone needs no answer.
    let _ = stream.write_all(text.as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_read_and_others_refused() {
        let text =
            b"GET /a/ HTTP/1.1\r\nHost: x:1\r\nCONNECTION: keep-alive, Upgrade\r\nTwice: 1\r\nTwice: 2";
        let request = Request::parse(text).unwrap();
        assert_eq!(request.path, "/a/");
        assert_eq!(request.header("host"), Some("x:1"));
        assert_eq!(request.header("twice"), None);
        assert!(request.has_word("connection", "upgrade"));
        assert!(!request.has_word("host", "upgrade"));
        for (wrong, why) in [
            (&b""[..], Refusal::Bad),
            (b"GET / HTTP/1.0", Refusal::Bad),
            (b"GET  / HTTP/1.1", Refusal::Bad),
            (b"GET / HTTP/1.1 more", Refusal::Bad),
            (b"POST / HTTP/1.1", Refusal::Method),
            (b"GET / HTTP/1.1\r\nno colon", Refusal::Bad),
            (b"GET / HTTP/1.1\r\n: x", Refusal::Bad),
            (b"GET /\xff HTTP/1.1", Refusal::Bad),
        ] {
            assert_eq!(Request::parse(wrong), Err(why), "{wrong:?}");
        }
        let many = ["GET / HTTP/1.1"; 1].into_iter().chain(["a: b"; 101]);
        let many = many.collect::<Vec<_>>().join("\r\n");
        assert_eq!(Request::parse(many.as_bytes()), Err(Refusal::TooLarge));
    }
}
