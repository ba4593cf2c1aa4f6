//! Runs that a page plays, steps, restarts and pulls at.

use crate::STONE;
use crate::page::{Page, Viewed};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// A body on a vertical rail, hanging on a spring and held back by a dashpot.
const HANGING: &str = r#"(
    parameters: {"stiffness": 300.0},
    gravity: (0, -10, 0),
    run: (duration: 100, step: 0.01),
    nodes: [
        Bodies(name: "weight", bodies: [(shape: Box(0.4, 0.4, 0.4), mass: 3)]),
        Mapped(name: "eye", parents: ["weight"], mapping: RigidPoints(points: [(0, (0, 0.2, 0))])),
        Mapped(name: "wire", parents: ["eye"], mapping: Distance(pairs: [(0, (0, 1.2, 0))], rest: 1.0)),
    ],
    joints: [(name: "rail", kind: Slider, b: Body("weight", 0), at: (0, 0, 0), axis: (0, 1, 0))],
    force_fields: [
        (name: "spring", on: "wire", law: Compliance("1 / $stiffness")),
        (name: "dashpot", on: "weight", law: Damping(linear: 60)),
    ],
)"#;

/// Plays as fast as it goes until nothing moves any more.
fn settle(page: &mut Page, item: usize) {
    page.send(json!({"do": "speed", "factor": Value::Null}));
    page.send(json!({"do": "play"}));
    let (mut before, mut since) = ([f64::NAN; 3], page.time());
    loop {
        let from = page.time();
        page.until("time to pass", |page| page.time() > from + 0.2);
        let now = page.place(item);
        if now == before && page.time() > since + 1.0 {
            break;
        }
        if now != before {
            (before, since) = (now, page.time());
        }
        assert!(page.time() < 90.0, "it does not come to rest: {now:?}");
    }
    page.send(json!({"do": "pause"}));
    page.until("a pause", |page| page.state["playing"] == false);
}

#[test]
fn a_run_plays_pauses_steps_and_begins_anew() {
    let viewed = Viewed::of(STONE);
    let mut page = viewed.page().ready();
    assert_eq!(page.scene["title"], "Stone");
    assert_eq!(page.state["playing"], false);
    assert_eq!(page.time(), 0.0);
    assert_eq!(page.place(0), [0.0, 1.0, 0.0]);
    for k in 1..=3 {
        page.send(json!({"do": "step"}));
        page.until("a step", |page| page.time() > 0.01 * f64::from(k) - 1e-9);
        assert!((page.time() - 0.01 * f64::from(k)).abs() < 1e-12);
    }
    // Free fall, and its energies: kinetic, potential, dissipated.
    let t = page.time();
    assert!((page.place(0)[1] - (1.0 - 5.0 * t * t)).abs() < 1e-6);
    let kinetic = page.head["lines"][0][0].as_f64().unwrap();
    assert!((kinetic - 0.5 * 2.0 * (10.0 * t).powi(2)).abs() < 1e-9);
    page.send(json!({"do": "reset"}));
    page.until("the start", |page| page.time() == 0.0);
    assert_eq!(page.place(0), [0.0, 1.0, 0.0]);
    // At the end it says so, stands still, and goes on beyond it if it is asked to.
    page.send(json!({"do": "speed", "factor": Value::Null}));
    page.send(json!({"do": "play"}));
    page.until("the end", |page| page.state["said"].is_string());
    assert_eq!(page.state["playing"], false);
    assert!(
        page.state["said"]
            .as_str()
            .unwrap()
            .contains("at its end, at t = 0.5 s")
    );
    page.send(json!({"do": "play"}));
    page.until("beyond the end", |page| page.time() > 0.7);
    page.send(json!({"do": "pause"}));
    page.until("a pause", |page| page.state["playing"] == false);
}

#[test]
fn time_goes_as_fast_as_it_is_asked_to() {
    let viewed = Viewed::of(STONE);
    let mut page = viewed.page().ready();
    page.send(json!({"do": "speed", "factor": 0.25}));
    page.send(json!({"do": "play"}));
    page.until("the first step", |page| page.time() > 0.0);
    let (start, from) = (Instant::now(), page.time());
    page.until("a while", |page| page.time() >= from + 0.2);
    let rate = (page.time() - from) / start.elapsed().as_secs_f64();
    // Late is possible on a busy machine, early is not: a step and the time of a message at both ends.
    assert!(rate < 0.25 * 1.15, "{rate}");
    let told = page.head["rate"].as_f64().unwrap();
    assert!(told > 0.0 && told < 0.25 * 1.15, "{told}");
}

#[test]
fn a_body_that_hangs_and_is_pulled_rests_where_both_springs_balance() {
    let viewed = Viewed::of(HANGING);
    let mut page = viewed.page().ready();
    let points = page.scene["points"].as_u64().unwrap() as usize;
    let body = points;
    assert_eq!(page.scene["reach"][body], true);
    let (mass, gravity, stiffness) = (3.0, 10.0, 300.0);
    settle(&mut page, body);
    let hangs = -mass * gravity / stiffness;
    assert!(
        (page.place(body)[1] - hangs).abs() < 1e-6,
        "{:?}",
        page.place(body)
    );
    // Held at a corner of its front, so that the force has an arm; the rail takes the torque.
    let arm = [0.2, -0.1, 0.2];
    page.send(json!({"do": "grab", "item": body, "point": arm, "factor": 3.0}));
    page.until("a grip", |page| page.head["pull"].is_object());
    let pull = page.head["pull"]["stiffness"].as_f64().unwrap();
    assert!(pull > 0.0);
    let place = [0.7, 0.3, -0.2];
    page.send(json!({"do": "drag", "to": place}));
    page.until("a pull", |page| page.head["pull"]["place"][0] == 0.7);
    settle(&mut page, body);
    let y = (pull * (place[1] - arm[1]) - mass * gravity) / (stiffness + pull);
    assert!(
        (page.place(body)[1] - y).abs() < 1e-6,
        "{:?} and {y}",
        page.place(body)
    );
    // The force that is shown is stiffness times distance, and what the wire does not carry.
    let state = page.head["pull"].clone();
    for (k, at) in [arm[0], y + arm[1], arm[2]].into_iter().enumerate() {
        let force = state["force"][k].as_f64().unwrap();
        assert!(
            (force - pull * (place[k] - at)).abs() < 1e-4 * pull,
            "{k}: {force}"
        );
    }
    let force = state["force"][1].as_f64().unwrap();
    assert!((force - (mass * gravity + stiffness * y)).abs() < 1e-3);
    // Four times as stiff.
    page.send(json!({"do": "stiffness", "factor": 12.0}));
    page.until("a stiffer pull", |page| page.head["pull"]["stiffness"] != pull);
    let stiffer = page.head["pull"]["stiffness"].as_f64().unwrap();
    assert!((stiffer - 4.0 * pull).abs() < 1e-9 * pull);
    settle(&mut page, body);
    let y = (stiffer * (place[1] - arm[1]) - mass * gravity) / (stiffness + stiffer);
    assert!((page.place(body)[1] - y).abs() < 1e-6);
    // Let go, it hangs as before.
    page.send(json!({"do": "drop"}));
    page.until("no grip", |page| page.head["pull"].is_null());
    settle(&mut page, body);
    assert!((page.place(body)[1] - hangs).abs() < 1e-6);
}

#[test]
fn a_soft_node_is_pulled_at_a_point() {
    // Two springs in a row, the far end held: the point between them is pulled.
    let text = r#"(
        gravity: (0, 0, 0),
        run: (duration: 100, step: 0.01),
        nodes: [
            Particles(name: "string", positions: [(0, 0, 0), (1, 0, 0), (2, 0, 0)], mass: 1),
            Mapped(name: "lengths", parents: ["string"], mapping: Difference(pairs: [(0, 1), (1, 2)])),
        ],
        force_fields: [
            (name: "springs", on: "lengths", law: Compliance(0.01)),
            (name: "air", on: "string", law: Damping(linear: 5)),
        ],
        fixed: [(node: "string", elements: [0, 2])],
    )"#;
    let viewed = Viewed::of(text);
    let mut page = viewed.page().ready();
    assert!(page.state["problem"].is_null(), "{}", page.state);
    let before = page.place(1);
    page.send(json!({"do": "grab", "item": 1, "point": [1, 0, 0], "factor": 1.0}));
    page.send(json!({"do": "drag", "to": [1, 0.5, 0]}));
    page.until("a pull", |page| page.head["pull"]["place"][1] == 0.5);
    let pull = page.head["pull"]["stiffness"].as_f64().unwrap();
    settle(&mut page, 1);
    // Springs of 100 N/m on both sides.
    let y = pull * 0.5 / (200.0 + pull);
    let moved = page.place(1)[1] - before[1];
    assert!((moved - y).abs() < 1e-6, "{moved} and {y}");
}

#[test]
fn parameters_act_at_once_or_on_restart() {
    let text = r#"(
        parameters: {"push": 2.0, "mass": 4.0},
        gravity: (0, 0, 0),
        run: (duration: 10, step: 0.01),
        nodes: [Bodies(name: "cart", bodies: [(shape: Sphere(0.1), mass: "$mass")])],
        // Nothing in the scene sets the push.
        force_fields: [(name: "thrust", on: "cart", law: BodyForce(point: (0, 0, 0), force: ("$push", 0, 0)))],
    )"#;
    let viewed = Viewed::of(text);
    let mut page = viewed.page().ready();
    assert!(page.state["problem"].is_null(), "{}", page.state);
    let push = page.parameter("push");
    assert_eq!(push["at_once"], true);
    assert_eq!(
        (push["value"].as_f64(), push["start"].as_f64()),
        (Some(2.0), Some(2.0))
    );
    assert_eq!(page.parameter("mass")["at_once"], false);
    page.send(json!({"do": "set", "name": "push", "value": 8.0}));
    page.send(json!({"do": "set", "name": "mass", "value": 2.0}));
    page.until("the values", |page| page.parameter("mass")["value"] == 2.0);
    assert_eq!(page.parameter("push")["value"], 8.0);
    assert_eq!(page.parameter("push")["waits"], false);
    assert_eq!(page.parameter("mass")["waits"], true);
    // The push is the new one, the mass the old one: x = F t^2/(2 m).
    let fall = |page: &mut Page| {
        for k in 1..=10 {
            page.send(json!({"do": "step"}));
            page.until("a step", |page| page.time() > 0.01 * f64::from(k) - 1e-9);
        }
        page.place(0)[0]
    };
    let x = fall(&mut page);
    assert!((x - 0.5 * 8.0 / 4.0 * 0.01).abs() < 1e-8, "{x}");
    page.send(json!({"do": "reset"}));
    page.until("the start", |page| page.time() == 0.0);
    page.until("no wait", |page| page.parameter("mass")["waits"] == false);
    let x = fall(&mut page);
    assert!((x - 0.5 * 8.0 / 2.0 * 0.01).abs() < 1e-8, "{x}");
    assert_eq!(page.parameter("mass")["start"], 4.0);
    // A value with which there is no scene is told, and another one mends it.
    page.send(json!({"do": "set", "name": "mass", "value": -1.0}));
    page.send(json!({"do": "reset"}));
    page.until("a problem", |page| page.state["problem"].is_string());
    page.send(json!({"do": "set", "name": "mass", "value": 1.0}));
    page.until("none", |page| page.state["problem"].is_null());
}

#[test]
fn frames_come_as_fast_as_they_are_drawn() {
    let viewed = Viewed::of(STONE);
    let mut page = viewed.page();
    page.draws = false;
    let mut page = page.ready();
    page.send(json!({"do": "speed", "factor": Value::Null}));
    page.send(json!({"do": "play"}));
    page.until("the end", |page| page.state["said"].is_string());
    assert_eq!(page.frames, 1);
    page.draws = true;
    page.send(json!({"do": "shown", "frame": page.head["frame"]}));
    page.until("the present moment", |page| page.frames == 2);
    assert!((page.time() - 0.5).abs() < 1e-9);
}

#[test]
fn a_scene_is_read_again_when_a_file_of_it_changes() {
    let whole = r#"(include: [(file: "part.ron", name: "part")], run: (duration: 1))"#;
    let part = r#"(nodes: [Particles(name: "stone", positions: [(0, 1, 0)], mass: 1)])"#;
    let viewed =
        Viewed::of("(run: (duration: 1), nodes: [Particles(name: \"a\", positions: [(0, 0, 0)], masss: 1)])");
    let mut page = viewed.page();
    page.until("a problem", |page| page.state["problem"].is_string());
    let problem = page.state["problem"].as_str().unwrap().to_owned();
    assert!(
        problem.contains("did you mean `mass`?") && problem.contains('^'),
        "{problem}"
    );
    page.send(json!({"do": "play"}));
    page.send(json!({"do": "step"}));
    std::fs::write(viewed.folder().join("part.ron"), part).unwrap();
    std::fs::write(viewed.path(), whole).unwrap();
    page.until("a scene", |page| {
        !page.scene.is_null() && page.state["problem"].is_null()
    });
    assert_eq!(page.scene["groups"][0]["name"], "part.stone");
    let sum = page.scene["sum"].clone();
    // The same things elsewhere: the page need not be made anew.
    std::fs::write(
        viewed.folder().join("part.ron"),
        part.replace("(0, 1, 0)", "(0, 22, 0)"),
    )
    .unwrap();
    page.until("the other place", |page| {
        !page.numbers.is_empty() && page.place(0) == [0.0, 22.0, 0.0]
    });
    assert_eq!(page.scene["sum"], sum);
    // Another thing.
    std::fs::write(
        viewed.folder().join("part.ron"),
        part.replace("(0, 1, 0)", "(0, 1, 0), (1, 1, 1)"),
    )
    .unwrap();
    page.until("two", |page| page.scene["points"] == 2);
    assert_ne!(page.scene["sum"], sum);
    // A mistake in it leaves the picture, and says where.
    std::fs::write(viewed.folder().join("part.ron"), part.replace("mass:", "masss:")).unwrap();
    page.until("a problem", |page| page.state["problem"].is_string());
    assert_eq!(page.scene["points"], 2);
    std::fs::write(viewed.folder().join("part.ron"), part).unwrap();
    page.until("one", |page| {
        page.scene["points"] == 1 && page.state["problem"].is_null()
    });
}

#[test]
fn a_step_that_fails_stops_the_run_and_says_why() {
    // Two hard lengths of one rod.
    let text = r#"(
        run: (duration: 1, step: 0.01, integrator: Theta),
        nodes: [
            Particles(name: "bob", positions: [(1, 0, 0)], mass: 1),
            Mapped(name: "one", parents: ["bob"], mapping: Distance(pairs: [(0, (0, 0, 0))], rest: 1)),
            Mapped(name: "two", parents: ["bob"], mapping: Distance(pairs: [(0, (0, 0, 0))], rest: 2)),
        ],
        constraints: [(name: "short", on: "one", level: Position), (name: "long", on: "two", level: Position)],
    )"#;
    let viewed = Viewed::of(text);
    let mut page = viewed.page().ready();
    page.send(json!({"do": "play"}));
    page.until("a failure", |page| page.state["failed"] == true);
    assert_eq!(page.state["playing"], false);
    let said = page.state["said"].as_str().unwrap();
    assert!(said.contains("short") || said.contains("long"), "{said}");
    // It stands still where it was.
    std::thread::sleep(Duration::from_millis(50));
    assert_eq!(page.time(), 0.0);
}
