//! Whoever is no page of a view is refused, and the view goes on.

use crate::STONE;
use crate::page::Viewed;
use serde_json::json;
use tungstenite::Message;

/// A key of a handshake.
const KEY: (&str, &str) = ("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ==");

#[test]
fn the_page_is_served_to_its_address_alone() {
    let viewed = Viewed::of(STONE);
    let (host, token) = (viewed.host(), viewed.token());
    let port = host.split(':').nth(1).unwrap();
    let page = viewed.answer(&format!("GET /{token}/ HTTP/1.1\r\nHost: {host}\r\n\r\n"));
    assert!(page.starts_with("HTTP/1.1 200 OK\r\n"), "{page:.100}");
    assert!(page.contains("frame-ancestors 'none'"));
    assert!(page.contains(&format!(
        "connect-src ws://127.0.0.1:{port} ws://localhost:{port}"
    )));
    // All of it is in the page: no address of anything else, but the name space of its pictures.
    let addresses = page.matches("http://").count();
    assert_eq!(addresses, page.matches("http://www.w3.org/2000/svg").count());
    assert!(!page.contains("https://") && !page.contains("Stone"));
    // Its length is what it says.
    let (head, body) = page.split_once("\r\n\r\n").unwrap();
    assert!(head.contains(&format!("Content-Length: {}", body.len())));

    let path = format!("/{token}/");
    let local = format!("localhost:{port}");
    assert_eq!(viewed.status(&path, &[("Host", &local)]), "200");
    let other = token.replace(|c: char| c.is_ascii_digit(), "a");
    for (path, hosts, status) in [
        (&*path, &[][..], "403"),
        (&path, &[("Host", "evil.example")], "403"),
        (&path, &[("Host", "127.0.0.1")], "403"),
        (&path, &[("Host", &*host), ("Host", &*host)], "403"),
        ("/", &[("Host", &host)], "404"),
        ("/favicon.ico", &[("Host", &host)], "404"),
        (&format!("/{token}"), &[("Host", &host)], "404"),
        (&format!("/{token}/scene.ron"), &[("Host", &host)], "404"),
        (&format!("/{token}/../{token}/"), &[("Host", &host)], "404"),
        (&format!("/{}/", &token[1..]), &[("Host", &host)], "404"),
        (&format!("/{other}x/"), &[("Host", &host)], "404"),
    ] {
        assert_eq!(viewed.status(path, hosts), status, "{path} {hosts:?}");
    }
    let refused = |text: &str| viewed.answer(text).split(' ').nth(1).unwrap_or("none").to_owned();
    assert_eq!(
        refused(&format!("POST {path} HTTP/1.1\r\nHost: {host}\r\n\r\n")),
        "405"
    );
    assert_eq!(refused("\0\0\0\r\n\r\n"), "400");
    assert_eq!(refused(&format!("GET /{} HTTP/1.1", "x".repeat(20_000))), "431");
}

#[test]
fn the_socket_wants_its_token_and_its_origin() {
    let viewed = Viewed::of(STONE);
    let (host, path) = (viewed.host(), format!("/{}/socket", viewed.token()));
    let origin = format!("http://{host}");
    let upgrade = [
        ("Host", &*host),
        ("Connection", "Upgrade"),
        ("Upgrade", "websocket"),
        ("Sec-WebSocket-Version", "13"),
    ];
    let with = |more: &[(&'static str, &str)]| {
        let all: Vec<(&str, &str)> = upgrade.iter().chain(more).copied().collect();
        viewed.status(&path, &all)
    };
    assert_eq!(with(&[KEY]), "403");
    assert_eq!(with(&[KEY, ("Origin", "null")]), "403");
    assert_eq!(with(&[KEY, ("Origin", "http://evil.example")]), "403");
    assert_eq!(with(&[KEY, ("Origin", &format!("{origin}.evil.example"))]), "403");
    assert_eq!(with(&[KEY, ("Origin", &format!("https://{host}"))]), "403");
    assert_eq!(with(&[("Origin", &origin)]), "400");
    let wrong = format!("/{}/socket", "0".repeat(32));
    let all: Vec<(&str, &str)> = upgrade.into_iter().chain([KEY, ("Origin", &*origin)]).collect();
    assert_eq!(viewed.status(&wrong, &all), "404");
    assert_eq!(viewed.status(&path, &all[..1]), "403");
    // With all of it there is a scene.
    assert_eq!(viewed.page().ready().scene["title"], "Stone");
}

#[test]
fn garbage_is_refused_in_a_sentence_and_too_much_of_it_ends_the_socket() {
    let viewed = Viewed::of(STONE);
    let mut page = viewed.page().ready();
    for garbage in [
        "",
        "{",
        "[1, 2]",
        r#"{"do": "erase"}"#,
        r#"{"do": "set", "name": "mass"}"#,
        r#"{"do": "set", "name": "mas", "value": 1}"#,
        r#"{"do": "grab", "item": 7, "point": [0, 0, 0], "factor": 1}"#,
        r#"{"do": "grab", "item": 0, "point": [0, 0, 0], "factor": 0}"#,
        r#"{"do": "drag", "to": [0, 0, 0]}"#,
        r#"{"do": "speed", "factor": -1}"#,
        r#"{"do": "shown", "frame": -1}"#,
    ] {
        page.refused = None;
        page.say(garbage);
        page.until(garbage, |page| page.refused.is_some());
    }
    page.refused = None;
    page.socket.send(Message::binary(vec![0; 100])).unwrap();
    page.until("binary", |page| page.refused.is_some());
    // It goes on as if nothing had been.
    page.send(json!({"do": "step"}));
    page.until("a step", |page| page.time() > 0.0);
    assert!((page.time() - 0.01).abs() < 1e-12);
    let large = format!("{{\"do\": \"set\", \"name\": \"{}\"}}", "x".repeat(50_000));
    page.say(&large);
    while page.take() {}
    // Another page finds the run as it was.
    let page = viewed.page().ready();
    assert!((page.time() - 0.01).abs() < 1e-12);
}

#[test]
fn the_last_page_is_served() {
    let viewed = Viewed::of(STONE);
    let mut last = viewed.page().ready();
    // Every page gets all that it is sent at first, though the one before it is still there.
    for _ in 0..30 {
        let next = viewed.page().ready();
        while last.take() {}
        last = next;
    }
    last.send(json!({"do": "step"}));
    last.until("a step", |page| page.time() > 0.0);
}
