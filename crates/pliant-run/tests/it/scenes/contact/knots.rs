//! Ropes and rings that are knotted and linked.

use super::super::{edited, points, runner};
use super::{body, energy, scene, step};
use pliant_run::Runner;

/// An overhand knot does not come undone: pulled tight, it takes about ten diameters of its rope
/// (an ideal open trefoil 10.1).
#[test]
fn a_knot_is_pulled_tight() {
    let mut run = scene("knot", &[], None);
    while !run.is_done() {
        let report = step(&mut run);
        assert!(report.contacts.overlap < 1e-4, "{:?}", report.contacts);
    }
    let x = points(&run, "rope");
    let distance = |a: &[f64; 3], b: &[f64; 3]| (0..3).map(|k| (a[k] - b[k]).powi(2)).sum::<f64>().sqrt();
    let length: f64 = x.windows(2).map(|w| distance(&w[0], &w[1])).sum();
    let taken = (length - distance(&x[0], &x[60])) / 0.02;
    assert!(taken > 10.1 && taken < 14.0, "{taken}");
}

/// In steps of an eighth of the scene's the rope gains no energy with linear steps either. In the
/// scene's own it would at first, as its comment says, and that is the error of linearising the
/// stretch of links that turn, of second order: half the step, and a quarter is left.
#[test]
fn a_knot_gains_no_energy_in_short_linear_steps() {
    let linear = [("integrator: Nonlinear", "integrator: Theta")];
    let knot = |h| runner(&edited("knot", &linear), &[], Some(h));
    let mut run = knot(0.00025);
    for _ in 0..600 {
        step(&mut run);
    }
    let gained = |h: f64| {
        let mut run = knot(h);
        let (mut before, mut sum) = (energy(&run), 0.0f64);
        while run.simulation().time() < 0.004 - 1e-9 {
            let after = run.step().unwrap().energies.total();
            sum += (after - before).max(0.0);
            before = after;
        }
        sum
    };
    let gains = [0.002, 0.001, 0.0005].map(gained);
    assert!(
        gains[0] > 3.0 * gains[1] && gains[1] > 3.0 * gains[2],
        "{gains:?}"
    );
}

/// Ends of the eight pieces of wire of a ring (mid line).
fn wire(run: &Runner, element: usize) -> Vec<[f64; 3]> {
    use pliant::dense::rotation::rotate;
    let simulation = run.simulation();
    let node = simulation.model().node_named("rings").unwrap();
    let pose = simulation.pose(node, element).unwrap();
    let end = |k: usize| {
        let (sine, cosine) = (k as f64 * std::f64::consts::FRAC_PI_4).sin_cos();
        let local = pliant::dense::Vec3::new(0.01 * cosine, 0.0, 0.01 * sine);
        let turned = rotate(pose.rotation, local);
        std::array::from_fn(|i| pose.position[i] + turned[i])
    };
    (0..8).map(end).collect()
}

/// Whether the first of two rings goes through the flat octagon of the second: one of its crossings
/// of the plane is inside.
fn goes_through(a: &[[f64; 3]], b: &[[f64; 3]]) -> bool {
    let vec = |p: &[f64; 3]| pliant::dense::Vec3::from(*p);
    let centre = (vec(&b[0]) + vec(&b[4])) / 2.0;
    let (x, z) = ((vec(&b[0]) - centre) / 0.01, (vec(&b[2]) - centre) / 0.01);
    let normal = x.cross(&z);
    let mut inside = 0;
    for k in 0..8 {
        let (p, q) = (vec(&a[k]) - centre, vec(&a[(k + 1) % 8]) - centre);
        let (s, t) = (normal.dot(&p), normal.dot(&q));
        if s * t < 0.0 {
            let at = p + (q - p) * (s / (s - t));
            inside += usize::from(at.dot(&x).hypot(at.dot(&z)) < 0.01);
        }
    }
    inside == 1
}

/// Least distance of two mid lines, by sampling both.
fn apart(a: &[[f64; 3]], b: &[[f64; 3]]) -> f64 {
    let points = |ring: &[[f64; 3]]| -> Vec<[f64; 3]> {
        let piece = |k: usize| {
            let (p, q) = (ring[k], ring[(k + 1) % 8]);
            (0..64).map(move |s| std::array::from_fn(|i| p[i] + (q[i] - p[i]) * s as f64 / 64.0))
        };
        (0..8).flat_map(piece).collect()
    };
    let distance = |p: &[f64; 3], q: &[f64; 3]| (0..3).map(|k| (p[k] - q[k]).powi(2)).sum::<f64>();
    let (a, b) = (points(a), points(b));
    let all = a.iter().flat_map(|p| b.iter().map(move |q| distance(p, q)));
    all.fold(f64::INFINITY, f64::min).sqrt()
}

/// Every ring of a row goes through the same two above it at the start and at the end, no wire is
/// in another, all are at rest, and the upper row carries the weight of all.
#[test]
fn chain_mail_holds() {
    let mut run = scene("chain_mail", &[], None);
    let links = |run: &Runner| {
        let rings: Vec<_> = (0..12).map(|k| wire(run, k)).collect();
        let pairs = (0..12).flat_map(|i| (0..i).map(move |k| (k, i)));
        let linked = pairs.filter(|(k, i)| goes_through(&rings[*i], &rings[*k]));
        linked.collect::<Vec<_>>()
    };
    let at_start = links(&run);
    assert_eq!(at_start.len(), 15, "{at_start:?}");
    while !run.is_done() {
        let report = run.step().unwrap_or_else(|e| panic!("{e}"));
        assert!(report.contacts.residual <= 1e-8);
    }
    assert_eq!(links(&run), at_start);
    let rings: Vec<_> = (0..12).map(|k| wire(&run, k)).collect();
    for (k, i) in (0..12).flat_map(|i| (0..i).map(move |k| (k, i))) {
        // Samples are at least as far apart as the lines; overlap of 1e-6 m may stay.
        let distance = apart(&rings[i], &rings[k]);
        assert!(distance > 0.0024 - 2e-6, "{k} {i}: {distance}");
    }
    let fastest = (0..12)
        .flat_map(|k| body(&run, "rings", k).1)
        .fold(0.0f64, |a, v| a.max(v.abs()));
    let simulation = run.simulation();
    let node = simulation.model().node_named("rings").unwrap();
    let carried: f64 = (0..3).map(|k| simulation.support_force(node, k)[2]).sum();
    assert!(fastest < 1e-4, "{fastest}");
    // The fixed rings weigh, too; what still moves in oil at 1e-4 m/s changes that by the share of
    // 0.02 N s/m of this.
    assert!((carried / (12.0 * 0.0022 * 9.81) - 1.0).abs() < 1e-5, "{carried}");
}
