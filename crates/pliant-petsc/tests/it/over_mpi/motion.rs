//! Nonlinear steps of models of which each process has a part, against runs in one piece.

use super::over_mpi;
use super::parts::{SIZE, apart, beam, spread};
use pliant::continuum::Mesh;
use pliant::model::{
    Distance, End, Joint, Level, Mass, Model, NodeId, Pose, Problem, RigidMass, Side, Treatment,
    UniformCompliance,
};
use pliant::{Integrator, Options, Simulation};
use pliant_petsc::{Error, NodesOfPart, Session, SpreadModel, bisect};

const TOLERANCE: f64 = 1e-11;
const STEP: f64 = 0.01;

/// Implicit Euler in one piece, by another program text than that of parts.
fn in_one_piece(model: Model, steps: usize) -> Simulation {
    let mut options = Options {
        integrator: Integrator::Nonlinear,
        ..Options::default()
    };
    options.tuning.newton.tolerance = TOLERANCE;
    let mut simulation = Simulation::with_options(model, options).unwrap();
    for _ in 0..steps {
        let report = simulation.step(STEP).unwrap();
        assert_eq!(report.solve.newton.step_halvings, 0);
    }
    simulation
}

fn step_in_parts(spread: &mut SpreadModel, steps: usize) {
    for _ in 0..steps {
        let report = spread.step_nonlinear(STEP, TOLERANCE, 30).unwrap();
        assert!(
            report.residual <= TOLERANCE && report.rows <= TOLERANCE,
            "{report:?}"
        );
        assert!(report.newton_iterations > 1, "{report:?}");
    }
}

/// The largest way of something on any process.
fn moved(session: &Session, from: impl Iterator<Item = f64>, to: &[f64]) -> f64 {
    let own = from.zip(to).fold(0.0f64, |a, (x, y)| a.max((x - y).abs()));
    session.largest(own).unwrap()
}

#[test]
fn a_soft_cantilever_in_parts_takes_nonlinear_steps_as_in_one_piece() {
    over_mpi(
        "over_mpi::motion::a_soft_cantilever_in_parts_takes_nonlinear_steps_as_in_one_piece",
        &[1, 2, 4],
        |session| {
            let mesh = Mesh::hexahedral_box(SIZE, [16, 2, 2]).unwrap();
            // It falls by a fifth of its length, faster than linear steps turn its elements.
            let young = 2e5;
            let (part, mut spread, nodes) = spread(session, &mesh, young);
            step_in_parts(&mut spread, 20);
            let (whole, all) = beam(&mesh, young);
            let simulation = in_one_piece(whole, 20);
            let found = spread.problem().positions(spread.state(), nodes);
            let off = apart(&part, found, simulation.positions(all));
            assert!(off < 1e-8 * SIZE[0], "{off:e}");
            let start = part.nodes.iter().flat_map(|a| mesh.nodes[*a]);
            assert!(moved(session, start, found) > 0.1 * SIZE[0]);
        },
    );
}

/// The threads of a net of cells by pairs of its nodes, and its nodes, on a slope.
fn net(cells: usize) -> (Vec<[usize; 2]>, Vec<[f64; 3]>) {
    let side = cells + 1;
    let at = |i: usize, j: usize| i * side + j;
    let mut threads = Vec::new();
    let mut nodes = Vec::new();
    for i in 0..side {
        for j in 0..side {
            let (x, y) = (i as f64 / cells as f64, j as f64 / cells as f64);
            nodes.push([x, 0.8 * y, -0.6 * y]);
            if i < cells {
                threads.push([at(i, j), at(i + 1, j)]);
            }
            if j < cells {
                threads.push([at(i, j), at(i, j + 1)]);
            }
        }
    }
    (threads, nodes)
}

/// A net that hangs on two corners. Those of its threads that are here carry the mass; threads
/// along y are hard, those across soft and damped.
fn net_model(threads: &[[usize; 2]], nodes: &[[f64; 3]], corners: &[usize]) -> (Model, NodeId) {
    let mut model = Model::new();
    model.set_gravity([0.0, 0.0, -9.81]).unwrap();
    let knots = model.add_particles("knots", nodes).unwrap();
    let mut masses = vec![0.0; nodes.len()];
    threads.iter().flatten().for_each(|a| masses[*a] += 0.05);
    model.add_mass("m", knots, Mass::PerElement(masses)).unwrap();
    for corner in corners {
        model.fix(knots, *corner, &[true; 3]).unwrap();
    }
    let is_hard = |t: &[usize; 2]| nodes[t[0]][0] == nodes[t[1]][0];
    for (name, hard) in [("warp", true), ("weft", false)] {
        let own: Vec<_> = threads.iter().filter(|t| is_hard(t) == hard).collect();
        if own.is_empty() {
            continue;
        }
        let ends: Vec<_> = own
            .iter()
            .map(|t| (End::element(0, t[1]), End::element(0, t[0])))
            .collect();
        let far = |t: &[usize; 2]| {
            let [a, b] = t.map(|k| nodes[k]);
            (0..3).map(|k| (a[k] - b[k]).powi(2)).sum::<f64>().sqrt()
        };
        let lengths: Vec<f64> = own.iter().map(|t| far(t)).collect();
        let lines = Distance::new(&ends).with_rest_lengths(&lengths);
        let lines = model.add_mapped(name, &[knots], lines).unwrap();
        if hard {
            model.add_constraint("hard", lines, Level::Position).unwrap();
        } else {
            let law = UniformCompliance::new(1e-3).with_relaxation_time(0.02);
            model
                .add_force_field("soft", lines, law, Treatment::Compliance)
                .unwrap();
        }
    }
    (model, knots)
}

#[test]
fn a_net_of_hard_and_soft_threads_in_parts_moves_as_in_one_piece() {
    over_mpi(
        "over_mpi::motion::a_net_of_hard_and_soft_threads_in_parts_moves_as_in_one_piece",
        &[1, 2, 4],
        |session| {
            let (threads, nodes) = net(6);
            let corners = [0, 42];
            let middle = |t: &[usize; 2]| [0, 1, 2].map(|k| 0.5 * (nodes[t[0]][k] + nodes[t[1]][k]));
            let centres: Vec<_> = threads.iter().map(middle).collect();
            let part_of = bisect(&centres, session.size());
            let part = NodesOfPart::new(&part_of, |e| &threads[e][..], nodes.len(), session.rank());
            let here = |a: usize| part.place(a);
            let own: Vec<_> = part
                .elements
                .iter()
                .map(|e| threads[*e].map(|a| here(a).unwrap()))
                .collect();
            let places: Vec<_> = part.nodes.iter().map(|a| nodes[*a]).collect();
            let held: Vec<_> = corners.iter().filter_map(|a| here(*a)).collect();
            let (model, knots) = net_model(&own, &places, &held);
            let mut spread =
                SpreadModel::new(session, Problem::new(model), &part.coordinates(3), 3 * part.own).unwrap();
            step_in_parts(&mut spread, 20);
            let (whole, all) = net_model(&threads, &nodes, &corners);
            let simulation = in_one_piece(whole, 20);
            let found = spread.problem().positions(spread.state(), knots);
            let off = apart(&part, found, simulation.positions(all));
            assert!(off < 1e-8, "{off:e}");
            let start = places.iter().flatten().copied();
            assert!(moved(session, start, found) > 0.1);
        },
    );
}

const LINKS: usize = 12;
const LINK: [f64; 3] = [0.2, 0.02, 0.05];

/// The links of a chain that are here, of which joint `k` holds link `k` to the one before it or to
/// the world. Each joint that is here carries its share of the mass of the links that it joins.
fn chain(joints: &[usize], links: &[usize]) -> (Model, NodeId) {
    let mut model = Model::new();
    model.set_gravity([0.0, -9.81, 0.0]).unwrap();
    let place = |link: &usize| Pose::at([(*link as f64 + 0.5) * LINK[0], 0.0, 0.0]);
    let poses: Vec<_> = links.iter().map(place).collect();
    let bodies = model.add_rigid_bodies("links", &poses).unwrap();
    let joins = |link: usize| [link, link + 1].into_iter().filter(|k| *k < LINKS);
    let masses = links.iter().map(|link| {
        let here = joins(*link).filter(|k| joints.contains(k)).count();
        RigidMass::cuboid(here as f64 / joins(*link).count() as f64, LINK)
    });
    model
        .add_mass("masses", bodies, Mass::Rigid(masses.collect()))
        .unwrap();
    let at = |link: usize| links.iter().position(|k| *k == link).unwrap();
    for k in joints {
        let before = match k.checked_sub(1) {
            None => Side::World,
            Some(link) => Side::Body(bodies, at(link)),
        };
        let ball = Joint::ball(before, Side::Body(bodies, at(*k)));
        let ball = ball.at(Pose::at([*k as f64 * LINK[0], 0.0, 0.0]));
        model.add_joint(&format!("joint {k}"), &ball).unwrap();
    }
    // The last link spins about its length, and turns about its joint.
    if let Some(last) = links.iter().position(|link| link + 1 == LINKS) {
        model
            .set_body_velocity(bodies, last, [0.0, 0.8, 0.0], [30.0, 0.0, 8.0])
            .unwrap();
    }
    (model, bodies)
}

#[test]
fn a_chain_of_hard_joints_in_parts_moves_as_in_one_piece() {
    over_mpi(
        "over_mpi::motion::a_chain_of_hard_joints_in_parts_moves_as_in_one_piece",
        &[1, 2, 4],
        |session| {
            let all_joints: Vec<usize> = (0..LINKS).collect();
            let ends: Vec<Vec<usize>> = all_joints
                .iter()
                .map(|k| (k.saturating_sub(1)..=*k).collect())
                .collect();
            let centres: Vec<_> = all_joints.iter().map(|k| [*k as f64, 0.0, 0.0]).collect();
            let part_of = bisect(&centres, session.size());
            let part = NodesOfPart::new(&part_of, |e| &ends[e][..], LINKS, session.rank());
            let (model, bodies) = chain(&part.elements, &part.nodes);
            let mut spread =
                SpreadModel::new(session, Problem::new(model), &part.coordinates(6), 6 * part.own).unwrap();
            step_in_parts(&mut spread, 20);
            let (whole, all) = chain(&all_joints, &all_joints);
            let simulation = in_one_piece(whole, 20);
            let found = spread.problem().positions(spread.state(), bodies);
            let whole = simulation.positions(all);
            let mut off = 0.0f64;
            for (pose, link) in found.chunks_exact(7).zip(&part.nodes) {
                let both = pose.iter().zip(&whole[7 * link..7 * link + 7]);
                off = both.fold(off, |a, (x, y)| a.max((x - y).abs()));
            }
            assert!(off < 1e-8, "{off:e}");
            let height = |pose: &[f64]| pose[1].abs();
            let fallen = found.chunks_exact(7).map(height).fold(0.0, f64::max);
            assert!(session.largest(fallen).unwrap() > 0.1);
        },
    );
}

#[test]
fn a_step_in_parts_that_is_not_solved_changes_nothing_and_says_what_is_missed() {
    over_mpi(
        "over_mpi::motion::a_step_in_parts_that_is_not_solved_changes_nothing_and_says_what_is_missed",
        &[2],
        |session| {
            let mesh = Mesh::hexahedral_box(SIZE, [4, 1, 1]).unwrap();
            let (_, mut spread, _) = spread(session, &mesh, 2e5);
            step_in_parts(&mut spread, 2);
            let before = spread.state().clone();
            let told = spread.step_nonlinear(STEP, TOLERANCE, 1);
            assert!(
                matches!(told, Err(Error::NoStep { iterations: 1, .. })),
                "{told:?}"
            );
            assert_eq!(spread.state().positions, before.positions);
            assert_eq!(spread.state().velocities, before.velocities);
            for h in [0.0, -1.0, f64::NAN, f64::INFINITY] {
                let told = spread.step_nonlinear(h, TOLERANCE, 30);
                assert!(matches!(told, Err(Error::Step { .. })), "{told:?}");
            }
            step_in_parts(&mut spread, 1);
        },
    );
}
