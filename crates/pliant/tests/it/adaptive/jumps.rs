//! Impacts and contacts that flicker, without events: steps go through, no shorter than the
//! tolerance of positions asks.

use super::*;
use pliant::contact::*;
use pliant::continuum::{Mesh, Solid};
use pliant::kkt::Support;

/// Particles over the plane `z = 0`.
#[derive(Debug)]
struct Floor {
    node: NodeId,
    count: usize,
    law: ContactLaw,
    /// Friction of what does not slip, if it is another.
    rest: Option<f64>,
}

impl ContactFinder for Floor {
    fn nodes(&self) -> Vec<NodeId> {
        vec![self.node]
    }

    fn find(
        &mut self,
        model: &Model,
        state: &State,
        horizon: f64,
        out: &mut ContactList,
    ) -> Result<(), Error> {
        let (x, v) = (
            model.positions(state, self.node),
            model.velocities(state, self.node),
        );
        for k in 0..self.count {
            let [x, v] = [x, v].map(|all| [all[3 * k], all[3 * k + 1], all[3 * k + 2]]);
            if x[2] > 0.05 + 20.0 * horizon {
                continue;
            }
            let mut law = self.law;
            if let Some(rest) = self.rest.filter(|_| v[0].hypot(v[1]) < 1e-9) {
                law.friction = rest;
            }
            let contact = Contact {
                key: ContactKey(0, k as u64),
                point: x,
                normal: [0.0, 0.0, 1.0],
                gap: x[2],
                law,
                sides: [0, k as u32],
            };
            let support = Support {
                node: self.node,
                element: k,
                weight: 1.0,
                arm: [0.0; 3],
            };
            out.push(contact, [], [support]);
        }
        Ok(())
    }
}

impl Floor {
    fn new(node: NodeId, count: usize, friction: f64) -> Self {
        let law = ContactLaw {
            friction,
            ..ContactLaw::default()
        };
        let rest = None;
        Self {
            node,
            count,
            law,
            rest,
        }
    }
}

/// Tolerances in proportion to one of them (m/s), of positions and velocities alike.
fn within(position: f64) -> Adaptive {
    Adaptive {
        position,
        velocity: 10.0 * position,
        relative: position,
        velocity_kink: 0.0,
        position_kink: 0.0,
        ..Adaptive::default()
    }
}

/// The methods that take contacts, each with two tolerances in the ratio of ten (m/s).
fn methods() -> Vec<(Options, [f64; 2])> {
    let nonlinear = Options {
        integrator: Integrator::Nonlinear,
        ..Options::theta()
    };
    vec![
        (Options::default(), [1e-3, 1e-4]),
        (Options::trapezoidal(), [1e-3, 1e-4]),
        (Options::theta(), [1e-2, 1e-3]),
        (nonlinear, [1e-2, 1e-3]),
    ]
}

fn is_of_order_two(options: &Options) -> bool {
    options.order() == 2 || options.beta < 1.0
}

fn name(options: &Options) -> String {
    format!("{} ({})", options.integrator.name(), options.beta)
}

/// Steps to a time, at the end of each of which the simulation is shown.
fn run(s: &mut Simulation, how: &Adaptive, end: f64, mut each: impl FnMut(&Simulation)) -> AdaptiveSummary {
    let mut summary = AdaptiveSummary::default();
    while s.time() < end {
        let report = s.step_adaptively(how, end);
        let report = report.unwrap_or_else(|e| panic!("at {}: {e}; {summary:?}", s.time()));
        assert!(report.error <= 1.0);
        let allowed = how.position * (report.step.h + how.jump_kink);
        assert!(
            report.jump.is_none_or(|jump| jump.position < 10.0 * allowed),
            "{report:?}"
        );
        summary.add(&report);
        each(s);
    }
    summary
}

/// A step with an impact of a speed displaces by half of it at most, which is to be within what
/// a jump may displace; a trial shrinks to a fifth of itself at most.
fn check_smallest(name: &str, summary: &AdaptiveSummary, how: &Adaptive, speed: f64) {
    let asked = 2.0 * how.position * how.jump_kink / speed;
    let least = how.first.min(how.shrink * asked);
    assert!(summary.smallest >= least, "{name}: {least:e}, {summary:?}");
}

/// Case D02 with three coefficients: heights after bounces are `e^2` times those before. Where the
/// fall is without error (of order two: a parabola), each impact adds at most what it may displace;
/// else the errors of velocities add up over the time.
#[test]
fn balls_bounce_without_events() {
    for (options, tolerances) in methods() {
        for e in [0.0f64, 0.5, 1.0] {
            let name = format!("{}, e = {e}", name(&options));
            let errors = tolerances.map(|tolerance| {
                let how = within(tolerance);
                let mut s = ball_by(e, options.clone());
                let (mut worst, mut apexes, mut before) = (0.0f64, 0, [1.0, 0.0]);
                let mut height = 1.0;
                let summary = run(&mut s, &how, 2.5, |s| {
                    let now = [s.state().positions[2] - 0.1, s.state().velocities[2]];
                    if before[1] > 0.0 && now[1] <= 0.0 && apexes < 3 {
                        let apex = before[0] + before[1] * before[1] / (2.0 * G);
                        (apexes, height) = (apexes + 1, e * e * height);
                        let allowed = match is_of_order_two(&options) {
                            true => f64::from(apexes) * tolerance * how.jump_kink,
                            false => 10.0 * tolerance * s.time(),
                        };
                        let off = (apex - height).abs();
                        assert!(off < allowed, "{name}: apex {apexes}, {off:e} of {allowed:e}");
                        worst = worst.max(off);
                    }
                    before = now;
                });
                println!("{name}, {tolerance:e}: {worst:e}, {summary:?}");
                let bounces = [0, 3, 2][(2.0 * e) as usize];
                assert_eq!(apexes, bounces, "{name}");
                if e == 0.0 {
                    assert!(
                        before[0].abs() < 2e-6 && before[1].abs() < 1e-6,
                        "{name}: {before:?}"
                    );
                }
                check_smallest(&name, &summary, &how, (1.0 + e) * (2.0 * G).sqrt());
                let trials = summary.steps + summary.rejected;
                let most = if is_of_order_two(&options) { 500 } else { 5000 };
                assert!(trials < most && summary.jumps > 0, "{name}: {summary:?}");
                worst
            });
            assert!(
                errors[1] < 0.3 * errors[0] || errors[0] < 1e-12,
                "{name}: {errors:?}"
            );
        }
    }
}

fn ball_by(restitution: f64, options: Options) -> Simulation {
    let mut s = ball(restitution);
    s.options = options;
    s
}

/// Case D01: `v^2/(2 mu g)`. Both ways of the step see the same stop early in a long step, and are
/// wrong alike: the estimate has to know that friction jumped.
#[test]
fn a_block_slides_to_rest() {
    for (options, tolerances) in methods() {
        let errors = tolerances.map(|tolerance| {
            let mut model = Model::new();
            model.set_gravity([0.0, 0.0, -G]).unwrap();
            let p = model
                .add_independent("p", Space::Real(3), &[0.0; 3], &[3.0, 0.0, 0.0])
                .unwrap();
            model.add_mass("m", p, Mass::Uniform(2.0)).unwrap();
            let mut s = Simulation::with_options(model, options.clone()).unwrap();
            s.set_contacts(Floor::new(p, 1, 0.5)).unwrap();
            let how = within(tolerance);
            let summary = run(&mut s, &how, 1.0, |_| {});
            let off = (s.state().positions[0] - 9.0 / G).abs();
            let name = name(&options);
            println!("{name}, {tolerance:e}: {off:e}, {summary:?}");
            assert!(s.state().velocities[0].abs() < 1e-9, "{name}: {:?}", s.state());
            // A second of tolerance, and as much by the relative one on the way of 0.9 m.
            assert!(off < 2.0 * tolerance, "{name}: {off:e}");
            // Velocities jump by nothing, and forces by `mu g`.
            let asked = 2.0 * how.velocity * how.jump_kink / (0.5 * G);
            assert!(
                summary.smallest >= how.first.min(how.shrink * asked),
                "{name}: {summary:?}"
            );
            let most = if is_of_order_two(&options) { 60 } else { 1000 };
            assert!(summary.steps + summary.rejected < most, "{name}: {summary:?}");
            off
        });
        let name = name(&options);
        assert!(
            errors[1] < 0.3 * errors[0] || errors[0] < 1e-6,
            "{name}: {errors:?}"
        );
    }
}

/// A block of 1 kg on a spring of 100 N/m over a floor of friction 0.2, which holds it up to
/// `d = mu m g/k` from the middle: from `5.5 d` it turns at `-3.5 d` and `1.5 d`, and stops at
/// `0.5 d`. Friction turns round at each.
#[test]
fn an_oscillator_swings_to_rest() {
    let d = 0.2 * G / 100.0;
    for (options, tolerances) in methods() {
        let name = name(&options);
        let errors = tolerances.map(|tolerance| {
            let mut model = Model::new();
            model.set_gravity([0.0, 0.0, -G]).unwrap();
            let p = model.add_particles("p", &[[5.5 * d, 0.0, 0.0]]).unwrap();
            model.add_mass("m", p, Mass::Uniform(1.0)).unwrap();
            let along = Projection::new(&[(0, [1.0, 0.0, 0.0])]);
            let along = model.add_mapped("x", &[p], along).unwrap();
            let spring = UniformCompliance::new(1.0 / 100.0);
            model
                .add_force_field("k", along, spring, Treatment::Stiffness)
                .unwrap();
            let mut s = Simulation::with_options(model, options.clone()).unwrap();
            s.set_contacts(Floor::new(p, 1, 0.2)).unwrap();
            let how = within(tolerance);
            let summary = run(&mut s, &how, 1.2, |_| {});
            let off = (s.state().positions[0] - 0.5 * d).abs();
            println!("{name}, {tolerance:e}: {off:e}, {summary:?}");
            assert!(s.state().velocities[0].abs() < 1e-9, "{name}: {:?}", s.state());
            assert!(off < 5.0 * tolerance, "{name}: {off:e}");
            let asked = 2.0 * how.velocity * how.jump_kink / (0.4 * G);
            assert!(
                summary.smallest >= how.first.min(how.shrink * asked),
                "{name}: {summary:?}"
            );
            let most = if is_of_order_two(&options) { 500 } else { 2000 };
            assert!(summary.steps + summary.rejected < most, "{name}: {summary:?}");
            off
        });
        println!("{name}: {errors:?}");
        assert!(errors[1] < 0.4 * errors[0], "{name}: {errors:?}");
    }
}

/// A block of 1 kg is drawn by a spring of 100 N/m at 0.2 m/s over a floor with the coefficients
/// 0.4 at rest and 0.2 in motion. It rests until the spring has its force at rest, slips for
/// `2 (pi - atan(d w/v))/w` with `d = (mu_s - mu_k) m g/k`, and rests for `2 d/v`; in that time it
/// goes as far as the end of the spring.
#[test]
fn an_oscillator_sticks_and_slips() {
    let (k, pull) = (100.0f64, 0.2);
    for (options, tolerances) in methods() {
        let name = name(&options);
        let errors = tolerances.map(|tolerance| {
            let mut model = Model::new();
            model.set_gravity([0.0, 0.0, -G]).unwrap();
            let p = model
                .add_independent("p", Space::Real(3), &[0.0; 6], &[0.0, 0.0, 0.0, pull, 0.0, 0.0])
                .unwrap();
            model.add_mass("m", p, Mass::Uniform(1.0)).unwrap();
            let end = |element, value| AffineEntry {
                element: 0,
                coordinate: 0,
                from: Dependency::new(0, element),
                from_coordinate: 0,
                value,
            };
            let stretch = Affine::new(1, &[0.0], &[end(0, -1.0), end(1, 1.0)]);
            let stretch = model.add_mapped("stretch", &[p], stretch).unwrap();
            let spring = UniformCompliance::new(1.0 / k);
            model
                .add_force_field("k", stretch, spring, Treatment::Stiffness)
                .unwrap();
            let mut s = Simulation::with_options(model, options.clone()).unwrap();
            s.hold(p, 1, &[true; 3], &[pull, 0.0, 0.0]).unwrap();
            let mut floor = Floor::new(p, 1, 0.2);
            floor.rest = Some(0.4);
            s.set_contacts(floor).unwrap();
            // The finder has the coefficient of the start of the step, which is late by one step.
            let how = Adaptive {
                largest: 10.0 * tolerance,
                ..within(tolerance)
            };
            let mut places: Vec<f64> = Vec::new();
            let summary = run(&mut s, &how, 5.0, |s| {
                let (x, v) = (s.positions(p)[0], s.velocities(p)[0]);
                if v.abs() < 1e-9 && places.last().is_none_or(|last| x > last + 0.05) {
                    places.push(x);
                }
            });
            let d = 0.2 * G / k;
            let w = k.sqrt();
            let period = 2.0 / w * (std::f64::consts::PI - (d * w / pull).atan()) + 2.0 * d / pull;
            let ways = places.windows(2).map(|x| (x[1] - x[0] - pull * period).abs());
            let off = ways.fold(0.0, f64::max);
            println!("{name}, {tolerance:e}: {off:e}, {places:?}, {summary:?}");
            assert_eq!(places.len(), 8, "{name}");
            // 0.67 s of tolerances, by which the velocity is off in two jumps of the force too.
            assert!(off < 10.0 * tolerance, "{name}: {off:e}");
            let asked = 2.0 * how.velocity * how.jump_kink / (0.2 * G);
            assert!(
                summary.smallest >= how.first.min(how.shrink * asked),
                "{name}: {summary:?}"
            );
            let most = 5.0 / how.largest + if is_of_order_two(&options) { 500.0 } else { 3500.0 };
            let trials = (summary.steps + summary.rejected) as f64;
            assert!(trials < most, "{name}: {summary:?}");
            off
        });
        assert!(errors[1] < 0.4 * errors[0], "{name}: {errors:?}");
    }
}

/// Four corners at once: it lies flat where it fell, and does not turn.
#[test]
fn a_box_falls_flat() {
    use pliant::collision::*;
    for (options, tolerances) in methods() {
        for tolerance in tolerances {
            let mut model = Model::new();
            model.set_gravity([0.0, 0.0, -G]).unwrap();
            let p = model
                .add_rigid_bodies("box", &[Pose::at([0.0, 0.0, 0.6])])
                .unwrap();
            let mass = RigidMass::principal(1.0, [0.02; 3]);
            model.add_mass("m", p, Mass::Rigid(vec![mass])).unwrap();
            let mut world = World::new();
            let plane = Shape::half_space([0.0, 0.0, 1.0]).unwrap();
            world
                .add(Collider::new("ground", plane, Placement::Fixed(Pose::default())))
                .unwrap();
            let cube = Shape::cuboid([0.1; 3]).unwrap();
            world.add(Collider::new("box", cube, body(p))).unwrap();
            let mut s = Simulation::with_options(model, options.clone()).unwrap();
            s.set_contacts(world).unwrap();
            let how = within(tolerance);
            let summary = run(&mut s, &how, 1.0, |_| {});
            let name = name(&options);
            println!("{name}, {tolerance:e}: {:?}, {summary:?}", s.state());
            let (x, v) = (&s.state().positions, &s.state().velocities);
            assert!((x[2] - 0.1).abs() < 2e-6, "{name}: {x:?}");
            assert!(
                x[0].hypot(x[1]) < 1e-8 && x[4].hypot(x[5]).hypot(x[6]) < 1e-7,
                "{name}: {x:?}"
            );
            assert!(v.iter().all(|v| v.abs() < 1e-6), "{name}: {v:?}");
            check_smallest(&name, &summary, &how, G.sqrt());
            let most = if is_of_order_two(&options) { 80 } else { 800 };
            assert!(summary.steps + summary.rejected < most, "{name}: {summary:?}");
        }
    }
}

/// A cube of 27 nodes falls 0.1 m, and rebounds: its centre after half a second, against steps of
/// one length. Each node strikes and leaves when it does.
#[test]
fn a_soft_block_falls_on_the_floor() {
    let block = || {
        let mut mesh = Mesh::hexahedral_box([0.2; 3], [2; 3]).unwrap();
        for x in &mut mesh.nodes {
            x[2] += 0.1;
        }
        let mut model = Model::new();
        model.set_gravity([0.0, 0.0, -G]).unwrap();
        let solid = Solid::corotational(1e5, 0.3).with_density(1000.0);
        let parts = solid.add_to(&mut model, "block", &mesh).unwrap();
        let mut s = Simulation::with_options(model, Options::default()).unwrap();
        s.set_contacts(Floor::new(parts.nodes, mesh.nodes.len(), 0.3))
            .unwrap();
        (s, parts.nodes)
    };
    let height = |s: &Simulation, node| s.positions(node).iter().skip(2).step_by(3).sum::<f64>() / 27.0;
    let (mut s, node) = block();
    for _ in 0..2500 {
        s.step(2e-4).unwrap();
    }
    let reference = height(&s, node);
    let errors = [1e-2, 1e-3].map(|tolerance| {
        let (mut s, node) = block();
        let how = within(tolerance);
        let summary = run(&mut s, &how, 0.5, |_| {});
        let off = (height(&s, node) - reference).abs();
        println!("{tolerance:e}: {off:e} of {reference}, {summary:?}");
        assert!(off < tolerance, "{off:e}");
        check_smallest("the block", &summary, &how, 2.0 * (2.0 * G * 0.1).sqrt());
        assert!(summary.steps + summary.rejected < 1200, "{summary:?}");
        off
    });
    assert!(errors[1] < 0.3 * errors[0], "{errors:?}");
}

/// A mass falls beside the axis of its rope: where that is taut, the velocity along it is lost, and
/// the mass swings on, the more accurately the sharper the tolerance. Velocities across hard rows
/// are of order one after an impact; one stage and the projection behind it miss less than the
/// tolerance by so much that their error need not fall with it.
#[test]
fn a_rope_goes_taut() {
    for (options, tolerances) in methods() {
        let linear = options.integrator == Integrator::Theta;
        let options = Options {
            post_stabilisation: linear.then(Stabilisation::default),
            ..options
        };
        let name = name(&options);
        let errors = tolerances.map(|tolerance| {
            let mut model = Model::new();
            model.set_gravity([0.0, 0.0, -G]).unwrap();
            let p = model.add_particles("p", &[[0.3, 0.0, -0.4]]).unwrap();
            model.add_mass("m", p, Mass::Uniform(1.0)).unwrap();
            let rope = Distance::to_points(&[(0, [0.0; 3])]).with_rest_lengths(&[1.0]);
            let length = model.add_mapped("length", &[p], rope).unwrap();
            let row = model.add_constraint("rope", length, Level::Position).unwrap();
            let mut s = Simulation::with_options(model, options.clone()).unwrap();
            s.set_bounds(row, f64::NEG_INFINITY, 0.0).unwrap();
            let how = Adaptive {
                velocity_kink: 1.0,
                ..within(tolerance)
            };
            let summary = run(&mut s, &how, 1.0, |_| {});
            let (x, v) = (&s.state().positions, &s.state().velocities);
            let length = x[0].hypot(x[2]);
            let energy = 0.5 * (v[0] * v[0] + v[2] * v[2]) + G * x[2];
            let taut = -(1.0f64 - 0.09).sqrt();
            let off = (energy - G * ((-0.4 - taut) * 0.09 + taut)).abs();
            println!("{name}, {tolerance:e}: {off:e}, {length}, {summary:?}");
            assert!((length - 1.0).abs() < 1e-5, "{name}: {length}");
            // A step may miss ten times the tolerance of the velocity, at up to 1.2 m/s.
            let two_stages = options.integrator == Integrator::Sdirk2;
            let (allowed, most) = if two_stages { (0.1, 150) } else { (100.0, 3000) };
            assert!(off < allowed * tolerance, "{name}: {off:e}");
            assert!(summary.steps + summary.rejected < most, "{name}: {summary:?}");
            check_smallest(&name, &summary, &how, (2.0 * G * (-0.4 - taut)).sqrt());
            off
        });
        // By two stages both are below a tenth of their tolerances.
        assert!(!linear || errors[1] < 0.4 * errors[0], "{name}: {errors:?}");
    }
}
