//! Models of which each process has a part.

use crate::over_mpi;
use pliant::continuum::{Mesh, Solid};
use pliant::model::mappings::{Distance, End};
use pliant::model::{Level, Mass, Model, NodeId, Problem};
use pliant::{Equilibrium, Options, Simulation};
use pliant_petsc::{Error, NodesOfPart, Session, SpreadModel, bisect};

const SIZE: [f64; 3] = [1.0, 0.1, 0.1];
const YOUNG: f64 = 1e9;
const DENSITY: f64 = 1000.0;
const G: f64 = 9.81;

/// A clamped beam of these elements under its weight.
fn beam(mesh: &Mesh) -> (Model, NodeId) {
    let mut model = Model::new();
    model.set_gravity([0.0, 0.0, -G]).unwrap();
    let solid = Solid::corotational(YOUNG, 0.0).with_density(DENSITY);
    let parts = solid.add_to(&mut model, "beam", mesh).unwrap();
    for (i, x) in mesh.nodes.iter().enumerate().filter(|(_, x)| x[0] == 0.0) {
        model.fix(parts.nodes, i, &[true; 3]).unwrap();
        let _ = x;
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

fn spread(session: &Session, mesh: &Mesh) -> (NodesOfPart, SpreadModel, NodeId) {
    let (part, own) = part_of_mesh(session, mesh);
    let (model, nodes) = beam(&own);
    let spread = SpreadModel::new(session, Problem::new(model), &part.coordinates(3), 3 * part.own).unwrap();
    (part, spread, nodes)
}

/// The largest distance of the nodes of a part from where they are in one piece.
fn apart(part: &NodesOfPart, found: &[f64], whole: &[f64]) -> f64 {
    let places = part.nodes.iter().flat_map(|a| 3 * a..3 * a + 3);
    places.zip(found).fold(0.0f64, |worst, (i, x)| worst.max((x - whole[i]).abs()))
}

#[test]
fn a_cantilever_in_parts_rests_where_it_does_in_one_piece() {
    over_mpi("parts::a_cantilever_in_parts_rests_where_it_does_in_one_piece", &[1, 2, 4], |session| {
        let mesh = Mesh::hexahedral_box(SIZE, [16, 2, 2]).unwrap().into_quadratic();
        let (part, mut spread, nodes) = spread(session, &mesh);
        let report = spread.find_rest(1e-10, 20).unwrap();
        assert!(report.residual <= 1e-10, "{report:?}");
        let found = spread.problem().positions(spread.state(), nodes);
        let (whole, all) = beam(&mesh);
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
    });
}

#[test]
fn a_cantilever_in_parts_moves_as_in_one_piece() {
    over_mpi("parts::a_cantilever_in_parts_moves_as_in_one_piece", &[1, 2, 4], |session| {
        let mesh = Mesh::hexahedral_box(SIZE, [16, 2, 2]).unwrap();
        let (part, mut spread, nodes) = spread(session, &mesh);
        let (whole, all) = beam(&mesh);
        let mut simulation = Simulation::with_options(whole, Options::theta()).unwrap();
        for _ in 0..5 {
            simulation.step(0.01).unwrap();
            let report = spread.step(0.01).unwrap();
            assert!(report.residual <= 1e-10, "{report:?}");
        }
        let found = spread.problem().positions(spread.state(), nodes);
        let off = apart(&part, found, simulation.positions(all));
        let moved = apart(&part, &part.nodes.iter().flat_map(|a| mesh.nodes[*a]).collect::<Vec<_>>(), simulation.positions(all));
        assert!(off < 1e-8 * SIZE[0], "{off:e}");
        assert!(session.largest(moved).unwrap() > 1e-3);
    });
}

/// Equal masses on hard links, hung up at both ends: links `first..end` of it, with the masses at
/// their right ends.
fn chain(first: usize, end: usize, count: usize) -> (Model, NodeId) {
    let mut model = Model::new();
    model.set_gravity([0.0, -G, 0.0]).unwrap();
    // A zigzag of links of length 1 over a span of 0.8 for each.
    let places: Vec<[f64; 3]> = (first..=end)
        .map(|i| [0.8 * i as f64, if i % 2 == 0 { 0.0 } else { -0.6 }, 0.0])
        .collect();
    let nodes = model.add_particles("masses", &places).unwrap();
    let masses: Vec<f64> = (first..=end).map(|i| if i == first { 0.0 } else { 1.0 }).collect();
    model.add_mass("mass", nodes, Mass::of_each(&masses).unwrap()).unwrap();
    for (place, i) in (first..=end).enumerate() {
        if i == 0 || i == count {
            model.fix(nodes, place, &[true; 3]).unwrap();
        }
    }
    let pairs: Vec<_> = (0..end - first)
        .map(|k| (End::element(0, k), End::element(0, k + 1)))
        .collect();
    let links = Distance::new(&pairs).with_rest_lengths(&vec![1.0; pairs.len()]);
    let links = model.add_mapped("links", &[nodes], links).unwrap();
    model.add_constraint("hard", links, Level::Position).unwrap();
    (model, nodes)
}

#[test]
fn hard_rows_belong_to_parts_and_the_start_that_is_no_rest_is_told() {
    over_mpi("parts::hard_rows_belong_to_parts_and_the_start_that_is_no_rest_is_told", &[1, 2], |session| {
        let count = 4;
        let part_of: Vec<usize> = (0..count).map(|e| e * session.size() / count).collect();
        let ends: Vec<[usize; 2]> = (0..count).map(|e| [e, e + 1]).collect();
        let part = NodesOfPart::new(&part_of, |e| &ends[e], count + 1, session.rank());
        let (first, end) = (part.elements[0], part.elements.last().unwrap() + 1);
        let (model, nodes) = chain(first, end, count);
        let mut spread =
            SpreadModel::new(session, Problem::new(model), &part.coordinates(3), 3 * part.own).unwrap();
        let told = spread.find_rest(1e-10, 0);
        assert!(matches!(told, Err(Error::NoRest { iterations: 0, .. })), "{told:?}");
        let stuck = spread.step(0.01);
        assert!(matches!(stuck, Err(Error::NotInParts { .. })), "{stuck:?}");
        spread.find_rest(1e-10, 60).unwrap();
        let found = spread.problem().positions(spread.state(), nodes);
        // At rest links have equal horizontal tension H, and vertical ones that differ by the weight of
        // a mass: with three masses the slopes are -3/2, -1/2, 1/2, 3/2 of mg/H, up to the turn of
        // the whole about the span.
        let slope = |k: usize| {
            let d: Vec<f64> = (0..3).map(|c| found[3 * k + 3 + c] - found[3 * k + c]).collect();
            assert!((d.iter().map(|d| d * d).sum::<f64>() - 1.0).abs() < 1e-9, "{d:?}");
            d[1] / d[0]
        };
        let slopes: Vec<f64> = (0..end - first).map(slope).collect();
        for pair in slopes.windows(2) {
            // Differences are all alike: mg/H; the sum over the span of cosines fixes H.
            assert!((pair[1] - pair[0] - unit(count)).abs() < 1e-8, "{slopes:?}");
        }
    });
}

/// `mg/H` of the chain: positive where it hangs, with `sum 1/sqrt(1 + s_k^2) = 3.2` over the slopes
/// `s_k`, by bisection.
fn unit(count: usize) -> f64 {
    let span = |u: f64| -> f64 {
        let slope = |k: usize| (k as f64 - 0.5 * (count as f64 - 1.0)) * u;
        (0..count).map(|k| 1.0 / (1.0 + slope(k).powi(2)).sqrt()).sum()
    };
    let (mut low, mut high) = (0.0, 10.0);
    for _ in 0..200 {
        let middle = 0.5 * (low + high);
        if span(middle) > 0.8 * count as f64 {
            low = middle;
        } else {
            high = middle;
        }
    }
    low
}
