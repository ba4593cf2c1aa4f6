//! Runs with drives in steps of one stage.

use crate::probes::measured;
use std::f64::consts::PI;

/// A table of 6 kg that is lifted and lowered by a hard motor while a stone comes back from beyond its
/// stop by a velocity, so that each step has one stage: the force is `M (a + g)` of the step.
#[test]
fn a_shaken_table_in_steps_of_one_stage() {
    let text = r#"(
        run: (duration: 0.3, step: 0.005, overlap: Rows(rate: 1, speed: 0.1)),
        gravity: (0, 0, -9.81),
        nodes: [
            Bodies(name: "table", bodies: [(shape: Box(1, 1, 0.1), mass: 6)]),
            Bodies(name: "stone", bodies: [(position: (5, 0, 0), shape: Box(0.2, 0.2, 0.2), mass: 1)]),
        ],
        joints: [
            (name: "slide", kind: Slider, b: Body("table", 0), axis: (0, 0, 1),
                motors: [Position(target: "0.05 * (1 - cos(2 * pi * 3 * $t))")]),
            (name: "stop", kind: Slider, b: Body("stone", 0), axis: (1, 0, 0), limits: [(lower: 1)]),
        ],
        record: [Force("slide.motor 0")],
    )"#;
    let (_, table) = measured(text);
    let (times, forces) = (&table["time_s"], &table["slide.motor 0.force_N"]);
    assert!(times.len() > 50);
    let rate = |t: f64| 0.05 * 6.0 * PI * (6.0 * PI * t).sin();
    for (ends, force) in times.windows(2).zip(&forces[1..]) {
        let acceleration = (rate(ends[1]) - rate(ends[0])) / (ends[1] - ends[0]);
        let expected = 6.0 * (acceleration + 9.81);
        assert!(
            (force - expected).abs() < 1e-6 * 165.0,
            "{ends:?}: {force} {expected}"
        );
    }
}
