//! Models of which each process has a part.

use super::over_mpi;
use pliant::continuum::{Mesh, Solid};
use pliant::model::{Distance, End, Level, Model, NodeId, Problem, Rayleigh, Treatment, UniformCompliance};
use pliant::{Equilibrium, Options, Simulation};
use pliant_petsc::{Error, NodesOfPart, Session, SpreadModel, bisect};

pub(super) const SIZE: [f64; 3] = [1.0, 0.1, 0.1];
const YOUNG: f64 = 1e9;
const DENSITY: f64 = 1000.0;
const G: f64 = 9.81;

/// A clamped beam of these elements under its weight.
pub(super) fn beam(mesh: &Mesh, young: f64) -> (Model, NodeId) {
    let mut model = Model::new();
    model.set_gravity([0.0, 0.0, -G]).unwrap();
    let solid = Solid::corotational(young, 0.0).with_density(DENSITY);
    let parts = solid.add_to(&mut model, "beam", mesh).unwrap();
    for i in (0..mesh.nodes.len()).filter(|i| mesh.nodes[*i][0] == 0.0) {
        model.fix(parts.nodes, i, &[true; 3]).unwrap();
    }
    (model, parts.nodes)
}

/// The part of a mesh that a process has.
fn part_of_mesh(session: &Session, mesh: &Mesh) -> (NodesOfPart, Mesh) {
    let centre = |nodes: &[usize]| -> [f64; 3] {
        [0, 1, 2].map(|k| nodes.iter().map(|a| mesh.nodes[*a][k]).sum::<f64>() / nodes.len() as f64)
    };
    let centres: Vec<_> = mesh.elements.iter().map(|e| centre(&e.nodes)).collect();
    let part_of = bisect(&centres, session.size());
    let nodes_of = |e: usize| &mesh.elements[e].nodes[..];
    let part = NodesOfPart::new(&part_of, nodes_of, mesh.nodes.len(), session.rank());
    let own = Mesh {
        nodes: part.nodes.iter().map(|a| mesh.nodes[*a]).collect(),
        elements: part
            .elements
            .iter()
            .map(|e| {
                let mut element = mesh.elements[*e].clone();
                for node in &mut element.nodes {
                    *node = part.place(*node).unwrap();
                }
                element
            })
            .collect(),
    };
    (part, own)
}

pub(super) fn spread(session: &Session, mesh: &Mesh, young: f64) -> (NodesOfPart, SpreadModel, NodeId) {
    let (part, own) = part_of_mesh(session, mesh);
    let (model, nodes) = beam(&own, young);
    let spread = SpreadModel::new(session, Problem::new(model), &part.coordinates(3), 3 * part.own).unwrap();
    (part, spread, nodes)
}

/// The largest distance of the nodes of a part from where they are in one piece.
pub(super) fn apart(part: &NodesOfPart, found: &[f64], whole: &[f64]) -> f64 {
    let places = part.nodes.iter().flat_map(|a| 3 * a..3 * a + 3);
    places
        .zip(found)
        .fold(0.0f64, |worst, (i, x)| worst.max((x - whole[i]).abs()))
}

#[test]
fn a_cantilever_in_parts_rests_where_it_does_in_one_piece() {
    over_mpi(
        "over_mpi::parts::a_cantilever_in_parts_rests_where_it_does_in_one_piece",
        &[1, 2, 4],
        |session| {
            let mesh = Mesh::hexahedral_box(SIZE, [16, 2, 2]).unwrap().into_quadratic();
            let (part, mut spread, nodes) = spread(session, &mesh, YOUNG);
            let report = spread.find_rest(1e-10, 20).unwrap();
            assert!(report.residual <= 1e-10, "{report:?}");
            let found = spread.problem().positions(spread.state(), nodes);
            let (whole, all) = beam(&mesh, YOUNG);
            let mut simulation = Simulation::new(whole).unwrap();
            simulation.find_equilibrium(&Equilibrium::default()).unwrap();
            let off = apart(&part, found, simulation.positions(all));
            assert!(off < 1e-8 * SIZE[0], "{off:e}");
            // Timoshenko's beam of rho g A per length; the clamp holds all of the section.
            let (area, inertia) = (SIZE[1] * SIZE[2], SIZE[1] * SIZE[2].powi(3) / 12.0);
            let load = DENSITY * G * area;
            let sag = load / (8.0 * YOUNG * inertia) + load / (2.0 * 5.0 / 6.0 * 0.5 * YOUNG * area);
            let lowest = found.chunks_exact(3).fold(0.0f64, |a, x| a.min(x[2]));
            let lowest = -session.largest(-lowest).unwrap();
            assert!((-lowest / sag - 1.0).abs() < 0.01, "{lowest:e} {sag:e}");
            let share = spread.share().unwrap();
            // All nodes once, and no more received than a cross-section or two have.
            let rows = session.sum(share.rows as f64).unwrap();
            assert_eq!(rows, 3.0 * mesh.nodes.len() as f64);
            assert!(share.received <= 2 * 3 * 21, "{share:?}");
        },
    );
}

#[test]
fn a_cantilever_in_parts_moves_as_in_one_piece() {
    over_mpi(
        "over_mpi::parts::a_cantilever_in_parts_moves_as_in_one_piece",
        &[1, 2, 4],
        |session| {
            let mesh = Mesh::hexahedral_box(SIZE, [16, 2, 2]).unwrap();
            let (part, mut spread, nodes) = spread(session, &mesh, YOUNG);
            let (whole, all) = beam(&mesh, YOUNG);
            let mut simulation = Simulation::with_options(whole, Options::theta()).unwrap();
            for _ in 0..5 {
                simulation.step(0.01).unwrap();
                let report = spread.step(0.01).unwrap();
                assert!(report.residual <= 1e-10, "{report:?}");
            }
            let found = spread.problem().positions(spread.state(), nodes);
            let off = apart(&part, found, simulation.positions(all));
            let moved = apart(
                &part,
                &part.nodes.iter().flat_map(|a| mesh.nodes[*a]).collect::<Vec<_>>(),
                simulation.positions(all),
            );
            assert!(off < 1e-8 * SIZE[0], "{off:e}");
            assert!(session.largest(moved).unwrap() > 1e-3);
        },
    );
}

/// Hangs the upper edge of the end of a beam on hard rods and the lower one on soft ones, upright
/// and 1 m long, where they are there.
fn hang_up(model: &mut Model, nodes: NodeId, mesh: &Mesh) {
    for (name, z) in [("hard", SIZE[2]), ("soft", 0.0)] {
        let at_edge = |x: &[f64; 3]| (x[0] - SIZE[0]).abs() + (x[2] - z).abs() < 1e-9;
        let places = (0..mesh.nodes.len()).filter(|i| at_edge(&mesh.nodes[*i]));
        let ends: Vec<(usize, [f64; 3])> = places
            .map(|i| (i, [mesh.nodes[i][0], mesh.nodes[i][1], mesh.nodes[i][2] + 1.0]))
            .collect();
        if ends.is_empty() {
            continue;
        }
        let rods = Distance::to_points(&ends).with_rest_lengths(&vec![1.0; ends.len()]);
        let rods = model.add_mapped(&format!("{name} rods"), &[nodes], rods).unwrap();
        if name == "hard" {
            model.add_constraint(name, rods, Level::Position).unwrap();
        } else {
            // As soft as the beam.
            let law = UniformCompliance::new(1e-4);
            model
                .add_force_field(name, rods, law, Treatment::Compliance)
                .unwrap();
        }
    }
}

#[test]
fn hard_rows_belong_to_parts_and_what_is_not_taken_is_told() {
    over_mpi(
        "over_mpi::parts::hard_rows_belong_to_parts_and_what_is_not_taken_is_told",
        &[1, 2, 4],
        |session| {
            let mesh = Mesh::hexahedral_box(SIZE, [16, 2, 2]).unwrap();
            let (part, own) = part_of_mesh(session, &mesh);
            let (mut model, nodes) = beam(&own, YOUNG);
            hang_up(&mut model, nodes, &own);
            let problem = Problem::new(model);
            let mut spread = SpreadModel::new(session, problem, &part.coordinates(3), 3 * part.own).unwrap();
            let told = spread.find_rest(1e-10, 0);
            assert!(
                matches!(told, Err(Error::NoRest { iterations: 0, .. })),
                "{told:?}"
            );
            let told = spread.step(0.01);
            assert!(matches!(told, Err(Error::NotInParts { .. })), "{told:?}");
            spread.find_rest(1e-10, 20).unwrap();
            let found = spread.problem().positions(spread.state(), nodes);
            let (mut whole, all) = beam(&mesh, YOUNG);
            hang_up(&mut whole, all, &mesh);
            let mut simulation = Simulation::new(whole).unwrap();
            simulation.find_equilibrium(&Equilibrium::default()).unwrap();
            let off = apart(&part, found, simulation.positions(all));
            assert!(off < 1e-8 * SIZE[0], "{off:e}");
        },
    );
}

#[test]
fn parts_that_do_not_fit_are_told() {
    over_mpi(
        "over_mpi::parts::parts_that_do_not_fit_are_told",
        &[2],
        |session| {
            let mesh = Mesh::hexahedral_box(SIZE, [4, 1, 1]).unwrap();
            let (part, own) = part_of_mesh(session, &mesh);
            let refused = |coordinates: &[usize], fix: bool| {
                let (mut model, nodes) = beam(&own, YOUNG);
                // A node of both parts that one of them fixes.
                if fix && session.rank() == 0 {
                    let both = own.nodes.iter().position(|x| x[0] == 0.5).unwrap();
                    model.fix(nodes, both, &[true; 3]).unwrap();
                }
                let made = SpreadModel::new(session, Problem::new(model), coordinates, 3 * part.own);
                made.and_then(|mut spread| spread.find_rest(1e-10, 20))
                    .unwrap_err()
            };
            let mut coordinates = part.coordinates(3);
            let told = refused(&coordinates, true);
            assert!(told.to_string().contains("fixed in some parts"), "{told}");
            let last = coordinates.pop().unwrap();
            assert!(matches!(refused(&coordinates, false), Error::Size { .. }));
            coordinates.push(last + 1000);
            assert!(
                refused(&coordinates, false)
                    .to_string()
                    .contains("no process owns")
            );
        },
    );
}

/// An error of one process is an error of all: none waits for another.
#[test]
fn an_error_of_one_part_ends_all() {
    over_mpi(
        "over_mpi::parts::an_error_of_one_part_ends_all",
        &[2],
        |session| {
            let mesh = Mesh::hexahedral_box(SIZE, [4, 1, 1]).unwrap();
            let (part, own) = part_of_mesh(session, &mesh);
            let told = |change: fn(&mut Model)| {
                let (mut model, _) = beam(&own, YOUNG);
                if session.rank() == 1 {
                    change(&mut model);
                }
                let made = SpreadModel::new(session, Problem::new(model), &part.coordinates(3), 3 * part.own);
                made.and_then(|mut spread| spread.step_nonlinear(0.01, 1e-10, 20))
                    .unwrap_err()
            };
            let damped = told(|model| {
                model
                    .set_rayleigh(Rayleigh {
                        mass: 0.1,
                        stiffness: 0.0,
                    })
                    .unwrap();
            });
            // Two points at one place have no direction.
            let degenerate = told(|model| {
                let twins = model.add_particles("twins", &[[0.0; 3]; 2]).unwrap();
                let pair = [(End::element(0, 0), End::element(0, 1))];
                model.add_mapped("gap", &[twins], Distance::new(&pair)).unwrap();
            });
            match session.rank() {
                1 => {
                    assert!(matches!(damped, Error::NotInParts { .. }), "{damped}");
                    assert!(matches!(degenerate, Error::Model(_)), "{degenerate}");
                }
                _ => assert_eq!((damped, degenerate), (Error::OtherPart, Error::OtherPart)),
            }
        },
    );
}
