//! Scenes of things that touch.

mod knots;

use super::{advance, edited, points};
use pliant::StepReport;
use pliant_run::Runner;
use pliant_scene::SceneFile;

/// A scene ready to run, with its contacts to the last digits: its figures are compared with exact
/// ones.
fn runner(scene: &SceneFile, parameters: &[(&str, f64)], step: Option<f64>) -> Runner {
    let mut run = super::runner(scene, parameters, step);
    run.simulation_mut().options.contacts.accuracy = 1e-8;
    run
}

fn scene(name: &str, parameters: &[(&str, f64)], step: Option<f64>) -> Runner {
    runner(&edited(name, &[]), parameters, step)
}

/// Centre and linear velocity of a body.
fn body(run: &Runner, node: &str, element: usize) -> ([f64; 3], [f64; 3]) {
    let simulation = run.simulation();
    let node = simulation.model().node_named(node).unwrap();
    let (linear, _) = simulation.world_velocity(node, element).unwrap();
    (simulation.pose(node, element).unwrap().position, linear)
}

/// One step. Contacts converge, and energy does not rise but by rounding, by what the residual of
/// the contacts lets impulses do (twice their velocities are off by it, at the start of the step
/// and at its end), and by 1e-11 of it where Newton's method solves the equations to that.
fn step(run: &mut Runner) -> StepReport {
    step_to_order(run, 0.0)
}

/// As [`step`], with a share of the kinetic energy that a step may make by the error of its second
/// order.
fn step_to_order(run: &mut Runner, share: f64) -> StepReport {
    let before = energy(run);
    let report = run.step().unwrap_or_else(|e| panic!("{e}"));
    let contacts = report.contacts;
    assert!(contacts.residual <= 1e-8);
    let impulses = run
        .simulation()
        .contacts()
        .iter()
        .map(|c| c.impulse.map(f64::abs).iter().sum::<f64>());
    let solver = 2.0 * contacts.velocity_residual * impulses.sum::<f64>();
    let after = report.energies.total();
    let rounding = match run.simulation().options.integrator {
        pliant::Integrator::Theta => 1e-13,
        _ => 1e-11,
    };
    let allowed = solver + rounding * (1.0 + before.abs());
    let of_order = share * report.energies.kinetic;
    assert!(
        after <= before + allowed + of_order,
        "at {}: {before} {after}, {:e} more than {allowed:e}, {contacts:?}",
        report.time,
        after - before
    );
    // In each of two stages friction takes energy, or none, to what the residual leaves.
    let exact = contacts.solve.friction_coupling == pliant::contact::FrictionCoupling::Exact;
    if report.solve.stages == 2 && exact {
        assert!(
            report.ledger.friction <= allowed,
            "{:?} {allowed:e}",
            report.ledger
        );
    }
    report
}

fn energy(run: &Runner) -> f64 {
    run.simulation()
        .problem()
        .energies(run.simulation().state())
        .total()
}

/// Share of the kinetic energy that a step of things which turn over their edges may make: contacts
/// are held by velocities, as joints are, so that the error of the second order has either sign.
const TURNING: f64 = 2e-5;

/// All steps; returns what motion did not pay of what was lifted, and the steps had lost, as a
/// share of the energy at the start.
fn to_the_end(run: &mut Runner) -> f64 {
    to_the_end_to_order(run, 0.0)
}

/// As [`to_the_end`], by [`step_to_order`].
fn to_the_end_to_order(run: &mut Runner, share: f64) -> f64 {
    let (start, mut unpaid) = (energy(run), 0.0);
    while !run.is_done() {
        let report = step_to_order(run, share);
        unpaid += (report.contacts.corrections.lifted - report.contacts.corrections.paid).max(0.0);
    }
    unpaid / start.abs()
}

/// Below the angle of friction it stays, above it goes with `g (sin a - mu cos a)`.
#[test]
fn a_block_on_a_slope_stays_or_slides() {
    // atan(0.5) = 26.565 degrees.
    let mut run = scene("incline", &[("angle", 26.5)], None);
    to_the_end(&mut run);
    assert!(body(&run, "block", 0).1.iter().all(|v| v.abs() < 1e-8));
    for angle in [26.7, 30.0, 45.0f64] {
        let mut run = scene("incline", &[("angle", angle)], None);
        to_the_end(&mut run);
        let v = body(&run, "block", 0).1;
        let (sin, cos) = angle.to_radians().sin_cos();
        let expected = 9.81 * (sin - 0.5 * cos);
        // After 1 s; the contacts are solved to 1e-8 of the velocity that a step without them
        // gives.
        let along = v[0] * cos - v[2] * sin;
        assert!((along - expected).abs() < 1e-6, "{angle}: {along} {expected}");
        // Friction takes mu m g cos a over a t^2/2, and the scheme nothing.
        let summary = run.finish(None).summary;
        let (ledger, way) = (&summary.ledger, 0.5 * expected);
        assert!(
            (ledger["friction"] + 0.5 * 2.0 * 9.81 * cos * way).abs() < 1e-6,
            "{ledger:?}"
        );
        assert!(ledger["numerical"].abs() < 1e-6, "{ledger:?}");
        let change = summary.energy_end.total - summary.energy_start.total;
        assert!((ledger["kinetic"] + ledger["potential"] - change).abs() < 1e-12);
        assert!((summary.potential.values().sum::<f64>() - summary.energy_end.potential).abs() < 1e-12);
    }
}

/// The nonlinear step slides as the linear one does.
#[test]
fn a_block_slides_in_the_nonlinear_step() {
    let nonlinear = edited("incline", &[("step: 0.01", "step: 0.01, integrator: Nonlinear")]);
    for (angle, slides) in [(26.5f64, false), (45.0, true)] {
        let mut run = runner(&nonlinear, &[("angle", angle)], None);
        to_the_end(&mut run);
        let v = body(&run, "block", 0).1;
        let (sin, cos) = angle.to_radians().sin_cos();
        let expected = if slides { 9.81 * (sin - 0.5 * cos) } else { 0.0 };
        // As above.
        assert!(
            (v[0] * cos - v[2] * sin - expected).abs() < 1e-6,
            "{angle}: {v:?}"
        );
        assert!(run.finish(None).summary.newton_iterations > 0);
    }
}

/// Other couplings of friction stick as Coulomb's law does, and slide as it does but for an error
/// of first order in the step: the normal impulse is off by the change of `u_n`, at most `mu` times
/// the slip of the end that `Convex` throws up, or its change in a step.
#[test]
fn other_couplings_of_friction_stick_and_slide() {
    for (coupling, allowed) in [("Lagged", 0.01 * 9.81), ("Convex", 0.1 * 9.81)] {
        let step = format!("step: 0.01, friction_coupling: {coupling}");
        let scene = edited("incline", &[("step: 0.01", &step)]);
        let mut run = runner(&scene, &[("angle", 26.5)], None);
        to_the_end(&mut run);
        assert!(body(&run, "block", 0).1.iter().all(|v| v.abs() < 1e-8));
        let mut run = runner(&scene, &[("angle", 45.0)], None);
        to_the_end(&mut run);
        let v = body(&run, "block", 0).1;
        let half = 0.5f64.sqrt();
        let (along, expected) = ((v[0] - v[2]) * half, 0.5 * 9.81 * half);
        assert!(
            (along - expected).abs() < allowed,
            "{coupling}: {along} {expected}"
        );
        let contacts = run.finish(None).summary.contacts.unwrap();
        assert_eq!(format!("{:?}", contacts.friction_coupling), coupling);
        assert!(
            contacts.residual.worst <= 1e-8 && contacts.de_saxce.worst > 1e-4,
            "{contacts:?}"
        );
    }
}

#[test]
fn towers_carry_what_is_above() {
    for top in [1.0, 1000.0] {
        let mut run = scene("stack", &[("top", top)], None);
        for _ in 0..120 {
            step(&mut run);
        }
        let (x, _) = body(&run, "boxes", 9);
        assert!((x[2] - 9.5).abs() < 1e-6 && x[0].abs() < 1e-6, "{x:?}");
        let carried: f64 = run.simulation().contacts()[..4]
            .iter()
            .map(|c| c.impulse[2] * 60.0)
            .sum();
        let weight = 9.81 * (9.0 + top);
        assert!((carried - weight).abs() < 1e-6 * weight, "{carried} {weight}");
    }
}

/// Plastic impact: both go on with the momentum of the bullet, which is still above the plate.
#[test]
fn a_bullet_stops_at_the_plate() {
    let mut run = scene("bullet", &[], None);
    to_the_end(&mut run);
    let (bullet, plate) = (body(&run, "bullet", 0), body(&run, "plate", 0));
    assert!(bullet.0[2] - plate.0[2] > 0.006 - 1e-6);
    for v in [bullet.1[2], plate.1[2]] {
        assert!((v + 5.0 / 1.01).abs() < 1e-9, "{v}");
    }
}

/// The small marble lies in the trough of the waves, the large one on the ring, where it touches it
/// all around.
#[test]
fn marbles_rest_on_distance_fields() {
    let mut run = scene("marbles", &[], None);
    to_the_end(&mut run);
    let (small, large) = (body(&run, "marbles", 0).0, body(&run, "marbles", 1).0);
    let trough = -std::f64::consts::FRAC_PI_8;
    // Both are fields of smooth surfaces, right to third order in the spacing.
    assert!(
        (small[0] - trough).abs() < 1e-3 && small[1].abs() < 1e-6,
        "{small:?}"
    );
    assert!((small[2] - 0.1).abs() < 1e-4, "{small:?}");
    let height = 0.8 + (0.6_f64.powi(2) - 0.45_f64.powi(2)).sqrt();
    assert!((large[2] - height).abs() < 2e-3, "{large:?} {height}");
    assert!((large[0] - trough).hypot(large[1]) < 2e-3, "{large:?}");
}

/// Heights of return `e^2 h`, and of the second return `e^4 h`.
#[test]
fn balls_bounce_to_their_heights() {
    let mut run = scene("bouncing_balls", &[], None);
    let mut peaks = [(); 5].map(|()| Vec::new());
    let mut speeds = [0.0f64; 5];
    let mut falling = [true; 5];
    while !run.is_done() {
        step(&mut run);
        for k in 0..5 {
            let (x, v) = body(&run, "balls", k);
            if falling[k] && v[2] > 0.0 {
                falling[k] = false;
            } else if !falling[k] && v[2] <= 0.0 {
                falling[k] = true;
                peaks[k].push(x[2] - 0.1);
            }
            speeds[k] = v[2];
        }
    }
    assert!(speeds[0].abs() < 1e-9, "{speeds:?}");
    for (k, e) in [(1, 0.25f64), (2, 0.5), (3, 0.75), (4, 1.0)] {
        for (n, peak) in peaks[k].iter().take(2).enumerate() {
            let expected = e.powi(2 * n as i32 + 2);
            // A bounce is up to a step early: h g t of the speed each, twice that of the height.
            let tolerance = 3.0 * (n + 1) as f64 * 0.001 * (2.0 * 9.81f64).sqrt();
            assert!((peak - expected).abs() < tolerance, "{e}: {peak} {expected}");
        }
        assert!(!peaks[k].is_empty());
    }
}

/// All impacts at once: the four that touch are one block. One after the other: the last one leaves
/// alone.
#[test]
fn the_cradle_keeps_momentum_and_energy() {
    for apart in [0.0, 1e-3] {
        let expected = [0.0, 0.0, 0.0, 0.0, 1.0];
        let mut run = scene("newton_cradle", &[("apart", apart)], None);
        to_the_end(&mut run);
        let v: Vec<f64> = (0..5).map(|k| body(&run, "balls", k).1[0]).collect();
        for (found, expected) in v.iter().zip(expected) {
            assert!((found - expected).abs() < 1e-12, "{v:?}");
        }
        assert!((v.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        assert!((v.iter().map(|v| v * v).sum::<f64>() - 1.0).abs() < 1e-12);
    }
}

/// Half the boxes' weight per foot, and nothing moves.
#[test]
fn pyramids_stand() {
    let mut run = scene("pyramid", &[], None);
    to_the_end(&mut run);
    let top = body(&run, "boxes", 0).0;
    assert!(top[0].abs() < 1e-7 && (top[2] - 4.5).abs() < 1e-6, "{top:?}");
    let contacts = run.simulation().contacts();
    let on_ground = contacts.iter().filter(|c| c.contact.sides[0] == 0);
    let carried: f64 = on_ground.map(|c| c.impulse[2] * 60.0).sum();
    assert!((carried - 15.0 * 9.81).abs() < 1e-6 * carried);
}

/// A pyramid that may sleep does, all of it at once after the time, and stands as it did.
#[test]
fn a_pyramid_sleeps() {
    let scene = edited(
        "pyramid",
        &[("step: \"1 / 60\"", "step: \"1 / 60\", sleeping: (time: 0.25)")],
    );
    let mut run = runner(&scene, &[], None);
    advance(&mut run, 14);
    assert!(run.simulation().contacts().len() > 30);
    while !run.is_done() {
        run.step().unwrap_or_else(|e| panic!("{e}"));
    }
    assert!(run.simulation().contacts().is_empty());
    let top = body(&run, "boxes", 0).0;
    assert!(top[0].abs() < 1e-7 && (top[2] - 4.5).abs() < 1e-6, "{top:?}");
    let contacts = run.finish(None).summary.contacts.unwrap();
    assert_eq!((contacts.most_asleep, contacts.asleep), (15, 15));
    assert!(contacts.stilled >= 0.0 && contacts.stilled < 1e-9);
}

/// A rope that holds sleeps with its loads, and its forces stay known: those of the tails carry the
/// loads.
#[test]
fn a_rope_on_a_drum_sleeps() {
    let scene = edited(
        "capstan",
        &[("step: 0.005", "step: 0.005, sleeping: (time: 0.1)")],
    );
    let mut run = runner(&scene, &[], None);
    to_the_end(&mut run);
    let tails = super::reaction(&run, "tails");
    for (force, mass) in tails.iter().zip([0.32, 1.0]) {
        assert!((force.abs() - mass * 9.81).abs() < 1e-3 * mass, "{tails:?}");
    }
    let contacts = run.finish(None).summary.contacts.unwrap();
    assert_eq!(contacts.asleep, 33);
}

/// The verdicts do not change with the step. Cards of length `L` and thickness `t` that lean at the
/// angle `a` from the vertical push each other with `m g (tan(a) - t/L)/2` along the horizontal
/// normal where their corners meet (moments about the foot), and their feet carry `m g`.
#[test]
fn card_houses_stand_by_friction() {
    for step in [1.0 / 60.0, 1.0 / 240.0] {
        let limit = (20f64.to_radians().tan() - 0.01) / 2.0;
        for (friction, stands) in [
            (0.6, true),
            (limit + 1e-3, true),
            (limit - 1e-3, false),
            (0.0, false),
        ] {
            let mut run = scene("card_house", &[("friction", friction)], Some(step));
            let unpaid = to_the_end_to_order(&mut run, TURNING);
            assert!(unpaid < 1e-4, "{unpaid:e}");
            let height = body(&run, "cards", 0).0[2];
            let start = 0.05 * 20f64.to_radians().cos() + 0.0005 * 20f64.to_radians().sin();
            assert_eq!(
                (height - start).abs() < 1e-6,
                stands,
                "{friction}: {height} {start}"
            );
        }
    }
}

/// Stands at a thickness of 0.12 of its radius, falls at 0.09: the classical limit is 0.107.
#[test]
fn arches_stand_by_thickness() {
    for step in [1.0 / 60.0, 1.0 / 240.0] {
        for (thickness, stands) in [(0.12, true), (0.09, false)] {
            let mut run = scene("masonry_arch", &[("thickness", thickness)], Some(step));
            let height = body(&run, "blocks", 8).0[2];
            let unpaid = to_the_end_to_order(&mut run, TURNING);
            assert!(unpaid < 1e-4, "{unpaid:e}");
            let sunk = height - body(&run, "blocks", 8).0[2];
            let bound = if stands { 1e-7 } else { 1e-3 };
            assert_eq!(sunk.abs() < bound, stands, "{thickness}: {sunk:e}");
        }
    }
}

/// Stones that stand have no impacts, and every step two stages: their approaches are no more than
/// what solves leave.
#[test]
fn an_arch_that_stands_has_no_impacts() {
    let mut run = scene("masonry_arch", &[], None);
    while !run.is_done() {
        assert_eq!(step(&mut run).solve.stages, 2);
    }
}

/// The last stone lies, none before its neighbour.
#[test]
fn dominoes_fall_in_order() {
    let mut run = scene("domino", &[], None);
    let mut fell = [f64::INFINITY; 10];
    let (mut lifted, mut paid) = (0.0, 0.0);
    while !run.is_done() {
        let report = step(&mut run);
        // One stone stays on its edge until 1.02 s, and lies at 1.045 s; approaches that solves
        // leave from then on are no impacts.
        assert!(run.simulation().time() < 1.05 || report.solve.stages == 2);
        let contacts = report.contacts;
        (lifted, paid) = (
            lifted + contacts.corrections.lifted,
            paid + contacts.corrections.paid,
        );
        for (k, time) in fell.iter_mut().enumerate() {
            if body(&run, "stones", k).0[2] < 0.036 {
                *time = time.min(run.simulation().time());
            }
        }
    }
    assert!(fell.windows(2).all(|f| f[0] < f[1]) && fell[9] < 2.0, "{fell:?}");
    // Stones that turn over their edges overlap by the curvature of a step; nearly all of that is
    // paid.
    let summary = run.finish(None).summary.contacts.unwrap();
    assert_eq!((summary.lifted, summary.paid), (lifted, paid));
    assert!(
        paid > 1e-6 && (lifted - paid).abs() < 0.05 * paid,
        "{lifted} {paid}"
    );
}

/// A ball that arrives rolling hands over its velocity and keeps its spin: 2/7 and 5/7 of the speed
/// are left once both roll again.
#[test]
fn billiard_balls_share_their_speed() {
    let mut run = scene("billiards", &[], None);
    to_the_end(&mut run);
    for (k, share) in [(0, 2.0 / 7.0), (1, 5.0 / 7.0)] {
        let v = body(&run, "balls", k).1;
        // Of the step in which the impact is, friction of the cloth takes up to mu g h = 0.004 m/s
        // from the one and gives it to none.
        assert!(
            (v[0] - 2.0 * share).abs() < 0.005 && v[1].abs() < 1e-9,
            "{k}: {v:?}"
        );
    }
}

/// Euler and Eytelwein: it holds at `hold / weight > e^(-mu pi)` = 0.2846.
#[test]
fn a_rope_on_a_drum_holds_by_friction() {
    for (hold, holds) in [(0.29, true), (0.28, false)] {
        let mut run = scene("capstan", &[("hold", hold)], None);
        to_the_end(&mut run);
        let node = run.simulation().model().node_named("loads").unwrap();
        let moved = run.simulation().positions(node)[5] + 0.2;
        assert_eq!(moved.abs() < 1e-6, holds, "{hold}: {moved:e}");
    }
}

/// Lifted by 0.3 m if the jaws carry it: `2 mu F` against `m (g + a)`, where the jerk at the start
/// of the lift is one step of 0.3 m/s.
#[test]
fn a_gripper_lifts_by_friction() {
    for (friction, lifted) in [(0.5, true), (0.2, false)] {
        let mut run = scene("gripper", &[("friction", friction)], None);
        while !run.is_done() {
            let report = run.step().unwrap_or_else(|e| panic!("{e}"));
            assert!(report.contacts.residual <= 1e-8);
        }
        let height = body(&run, "box", 0).0[2] - 0.06;
        assert_eq!(height > 0.29, lifted, "{height}");
        if lifted {
            assert!((height - 0.3).abs() < 0.01, "{height}");
            let (force, _) = run
                .simulation()
                .contact_force(run.simulation().model().node_named("box").unwrap(), 0);
            assert!((force[2] - 9.81).abs() < 1e-6, "{force:?}");
        }
    }
}

/// Where a trotting quadruped has walked to after four seconds, and how high its trunk is after the
/// first, against MuJoCo 4.0 with the same servos, at steps of 10 us and contacts of 50 us
/// (`benches/reference/quadruped.py`): 2.28 m, of 2.23 and 2.13 m with steps and contacts of five
/// and twenty times as long. A half and a quarter of the step here lead to 2.33 m.
#[test]
fn a_quadruped_trots_as_far_as_in_mujoco() {
    const FAR: f64 = 2.2814;
    const HEIGHTS: [f64; 2] = [0.3277, 0.3715];
    let mut run = super::runner(&edited("quadruped", &[]), &[], None);
    while !run.is_done() {
        run.step().unwrap_or_else(|e| panic!("{e}"));
        let [_, _, height] = body(&run, "trunk", 0).0;
        let [low, high] = HEIGHTS;
        // What the last change of MuJoCo's step changed in them, twice.
        let near = low - 0.013..high + 0.013;
        assert!(
            run.simulation().time() < 1.0 || near.contains(&height),
            "{height}"
        );
    }
    let [far, aside, _] = body(&run, "trunk", 0).0;
    // MuJoCo's place still changes by 2.4 % where its step and contacts are five times as short.
    assert!((far / FAR - 1.0).abs() < 0.05, "{far}");
    assert!(aside.abs() < 0.1, "{aside}");
}

/// Mass of a soft ball of the bowl, 200 kg/m^3 in 32 hexahedra: a cone over a bilinear face whose
/// corners lie on the sphere has the mean of the volumes over the two ways to cut that into
/// triangles, `(1/sqrt 6 + 1/sqrt 6)/6` and `(1/2 + 1/(2 sqrt 3))/6` of the cube of the radius, and
/// there are 24 of them.
fn soft_ball() -> f64 {
    200.0 * 0.047f64.powi(3) * (1.0 + 1.0 / 3f64.sqrt() + 4.0 / 6f64.sqrt())
}

/// All balls come to rest in the bowl, none in its wall, and it carries their weight.
#[test]
fn balls_fall_into_a_bowl_and_come_to_rest() {
    let (hard, soft) = (12, 2);
    let parameters = [("balls", (hard + soft) as f64), ("soft", soft as f64)];
    let mut run = scene("bowl", &parameters, None);
    to_the_end(&mut run);
    let surface = |x: [f64; 3]| {
        let wall = x[0].abs().max(x[1].abs());
        // The wall leans by 45 degrees from 0.1 m on.
        x[2].min((x[2] - (wall - 0.1)) / 2f64.sqrt())
    };
    for k in 0..hard {
        let (x, v) = body(&run, "balls", k);
        assert!(v.iter().all(|v| v.abs() < 1e-6), "{v:?}");
        assert!(surface(x) > 0.05 - 1e-6 && x[2] < 0.4, "{x:?}");
    }
    for x in points(&run, "soft") {
        assert!(surface(x) > 0.003 - 1e-6 && x[2] < 0.4, "{x:?}");
    }
    let simulation = run.simulation();
    let bowl = simulation.contacts().iter().filter(|c| c.contact.sides[0] == 0);
    assert!(bowl.clone().any(|c| c.contact.law.rolling == 0.001));
    let carried: f64 = bowl.map(|c| c.impulse[2] / 0.005).sum();
    let weight = 9.81 * (0.1 * hard as f64 + soft as f64 * soft_ball());
    assert!((carried - weight).abs() < 1e-5, "{carried} {weight}");
}

/// The whole heap of 72, nine of them soft, as it begins to land: what the bowl gave in impulses is
/// what the momentum lacks of that of free fall. Overlap is kept, for what lifting costs is taken
/// out of velocities.
#[test]
fn the_whole_heap_lands_in_the_bowl() {
    let mut run = scene("bowl", &[], None);
    run.simulation_mut().options.contacts.overlap = pliant::contact::Overlap::Keep;
    let (mut given, mut momentum) = (0.0, 0.0);
    for _ in 0..50 {
        momentum = step(&mut run).momentum.linear[2];
        let bowl = run
            .simulation()
            .contacts()
            .iter()
            .filter(|c| c.contact.sides[0] == 0);
        given += bowl.map(|c| c.impulse[2]).sum::<f64>();
    }
    let mass = 0.1 * 63.0 + 9.0 * soft_ball();
    let free = -9.81 * mass * 0.25;
    assert!(
        (momentum - free - given).abs() < 1e-9,
        "{momentum} {free} {given}"
    );
    assert!(given > 0.1, "{given}");
}
