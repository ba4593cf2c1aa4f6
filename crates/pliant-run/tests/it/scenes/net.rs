//! The net.

use super::{edited, points, pull, runner};
use pliant_mesh_io::read_mesh;

/// The two corners carry the weight of all knots but the held ones; no energy comes from nowhere;
/// threads keep their length.
#[test]
fn net_hangs_by_its_corners() {
    let mesh = read_mesh(&super::path("x").with_file_name("meshes").join("net.obj")).unwrap();
    let pairs: Vec<_> = mesh
        .unique_edges()
        .iter()
        .map(|[a, b]| (*a as usize, *b as usize))
        .collect();
    // Thick air: it shall be at rest soon.
    let mut run = runner(&edited("net", &[]), &[("damping", 0.03)], None);
    let mut energy = 0.0f64;
    for _ in 0..500 {
        let report = run.step().unwrap();
        let now = report.energies.total();
        assert!(now <= energy + 1e-12, "t = {}: {energy} -> {now}", report.time);
        energy = now;
        let x = points(&run, "net");
        for (a, b) in &pairs {
            let length = (0..3).map(|k| (x[*a][k] - x[*b][k]).powi(2)).sum::<f64>().sqrt();
            assert!((length - 0.1).abs() <= report.violation + 1e-14);
        }
        assert!(report.violation < 2e-10);
    }
    let [first, last] = [0, 120].map(|corner| pull(&run, "net", &pairs, corner));
    let weight = 119.0 * 0.01 * 9.81;
    assert!(
        (first[1] + last[1] + weight).abs() < 1e-3 * weight,
        "{first:?} {last:?} {weight}"
    );
    assert!((first[0] + last[0]).abs() < 1e-3 * weight);
}
