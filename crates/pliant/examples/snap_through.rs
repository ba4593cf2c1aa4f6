//! Follow a path of equilibria over a limit load: a flat truss that snaps through.
//!
//! Two bars of stiffness `k` and rest length `l_0` from `(+-b, 0)` to the apex `(0, y)` carry
//! `P = 2 k (l_0 / l - 1) y`, `l = |(b, y)|`; the load is largest at `l = (l_0 b^2)^(1/3)`.
//!
//! `cargo run --release -p pliant --example snap_through`

use pliant::prelude::*;

fn main() -> Result<(), Error> {
    let (b, rise, k) = (1.0f64, 0.4, 100.0);
    let rest = b.hypot(rise);
    let carried = |y: f64| 2.0 * k * (rest / b.hypot(y) - 1.0) * y;
    let length = (rest * b * b).cbrt();
    let limit = carried((length * length - b * b).sqrt());

    let mut model = Model::new();
    let apex = model.add_particles("apex", &[[0.0, rise, 0.0]])?;
    model.fix(apex, 0, &[true, false, true])?;
    let bars = Distance::to_points(&[(0, [-b, 0.0, 0.0]), (0, [b, 0.0, 0.0])]);
    let bars = model.add_mapped("bars", &[apex], bars.with_rest_lengths(&[rest; 2]))?;
    model.add_force_field("springs", bars, Spring::linear(k), Treatment::Stiffness)?;
    let down = ConstantForce::new(&[0.0, -1.0, 0.0]);
    let load = model.add_force_field("load", apex, down, Treatment::Stiffness)?;

    let mut simulation = Simulation::new(model)?;
    let how = Continuation {
        loads: Loads {
            components: vec![load],
            ..Loads::default()
        },
        end: 2.0 * limit,
        step: 0.1 * limit,
        largest_step: 0.2 * limit,
        ..Continuation::default()
    };
    let path = simulation.follow(&how, |_, _| true)?;
    for point in &path.points {
        let y = point.state.positions[1];
        println!(
            "y = {y:8.5} m, load {:8.4} N, {} unstable modes",
            point.load, point.negative_modes
        );
        // To the tolerance of equilibria, 1e-10 of the forces in the bars.
        assert!((point.load - carried(y)).abs() < 1e-8);
    }
    println!(
        "limit loads {:?} N, expected +-{limit} N",
        path.critical.iter().map(|c| c.load).collect::<Vec<_>>()
    );
    assert_eq!((path.end, path.critical.len()), (PathEnd::Reached, 2));
    for (point, sign) in path.critical.iter().zip([1.0, -1.0]) {
        assert_eq!(point.kind, CriticalKind::Limit);
        assert!((point.load - sign * limit).abs() < 1e-8 * limit);
    }
    Ok(())
}
