//! Mean Jacobians along finite displacements: the work of a force on the parents is that on the
//! child.

use pliant_model::dual::DualNum;
use pliant_model::*;

const SPACE: Space = Space::Real(3);
const RIGID: Space = Space::Rigid3;

/// Deterministic numbers between -1 and 1.
fn numbers(seed: u64, count: usize) -> Vec<f64> {
    let mut s = seed.wrapping_mul(0x2545_F491_4F6C_DD1D) | 1;
    let mut next = || {
        s ^= s << 13;
        s ^= s >> 7;
        s ^= s << 17;
        (s >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    };
    (0..16).for_each(|_| {
        next();
    });
    (0..count).map(|_| next()).collect()
}

/// Poses of bodies, one after the other.
fn bodies(seed: u64, count: usize) -> Vec<f64> {
    let x = numbers(seed, 7 * count);
    x.chunks_exact(7)
        .flat_map(|x| {
            let turn = Pose::turned([x[0], x[1], x[2]], [x[3], x[4], x[5]], 2.0 * x[6]);
            let [a, b, c, d] = turn.rotation;
            [x[0], x[1], x[2], a, b, c, d]
        })
        .collect()
}

fn keeps<M: Mapping + Clone + 'static>(mapping: &M, parents: &[(Space, usize)]) {
    assert!(mapping.carries_chords(), "{mapping:?}");
    for seed in 1..20 {
        let x: Vec<f64> = parents
            .iter()
            .flat_map(|(space, count)| match space {
                Space::Rigid3 => bodies(seed, *count),
                Space::Real(n) => numbers(seed, n * count),
            })
            .collect();
        let missed = check::chord(mapping, parents, &x, seed).unwrap();
        // Roundings of coordinates and forces of one.
        assert!(missed < 1e-13, "{mapping:?}: {missed:e} of seed {seed}");
    }
}

#[test]
fn mappings_of_points() {
    let [a, b, c] = [0, 1, 2].map(|k| End::element(0, k));
    let pairs = [(a, b), (c, End::Point([0.3, -2.0, 0.4]))];
    let points = [(SPACE, 3)];
    keeps(&Distance::new(&pairs).with_rest_lengths(&[0.7, 1.1]), &points);
    keeps(
        &SafeDistance::new(&pairs, 0.1).with_rest_lengths(&[0.7, 1.1]),
        &points,
    );
    keeps(
        &SquareDistance::new(&pairs).with_rest_lengths(&[0.7, 1.1]),
        &points,
    );
    keeps(&DotProduct::new(&[(a, b), (b, c)]), &points);
    keeps(&Difference::new(&[(a, b), (b, c)]), &points);
    keeps(&Quadratic::new(3, &[0, 2]).with_factors(&[2.0, -1.0]), &points);
    let pair = |i, j| (Dependency::new(0, i), Dependency::new(0, j));
    keeps(&Pairing::new(3, &[pair(0, 1), pair(1, 2)]), &points);
    let plane = Distance::between(&[(0, 1)]).in_dimension(2);
    keeps(&plane, &[(Space::Real(2), 2)]);
}

#[test]
fn mappings_of_bodies() {
    let points = RigidPoints::new(&[(0, [0.3, -0.2, 0.5]), (1, [1.0, 0.0, 2.0])]);
    keeps(&points, &[(RIGID, 2)]);
    let frame = Pose::turned([0.2, 0.5, -0.3], [1.0, 2.0, 0.5], 1.0);
    keeps(&RigidFrames::new(&[(0, frame), (1, frame)]), &[(RIGID, 2)]);
    let influence = |element, weight| Influence {
        on: Dependency::new(0, element),
        weight,
        local: [0.4, -0.1, 0.2],
    };
    keeps(
        &Skinning::new(&[vec![influence(0, 1.0), influence(1, 2.0)]]),
        &[(RIGID, 2)],
    );
}

#[test]
fn relative_motions_of_bodies() {
    let frames = [
        JointFrame::on(0, 0, Pose::turned([0.2, 0.5, -0.3], [1.0, 2.0, 0.5], 1.0)),
        JointFrame::on(0, 1, Pose::turned([-0.4, 0.1, 0.2], [0.0, 1.0, 0.5], -0.6)),
    ];
    let world = JointFrame::world(Pose::turned([0.1, 0.0, 0.3], [1.0, 0.0, 0.0], 0.4));
    let axes = [
        JointAxis::Translation(0),
        JointAxis::Translation(2),
        JointAxis::Rotation(0),
        JointAxis::Rotation(1),
        JointAxis::Rotation(2),
        JointAxis::Misalignment(0, 2),
        JointAxis::Twist(2),
        JointAxis::HeadingInA { about: 0, of: 1 },
        JointAxis::HeadingInB { about: 1, of: 0 },
        JointAxis::Elevation { of: 2, against: 1 },
    ];
    let [a, b] = frames;
    for pair in [(a, b), (world, b), (a, world)] {
        let mapping = JointCoordinates::of_pairs(&[pair], &axes);
        keeps(&mapping, &[(RIGID, 2)]);
        for axis in axes {
            keeps(&JointCoordinates::of_pairs(&[pair], &[axis]), &[(RIGID, 2)]);
        }
        let segment = BeamSegment::straight(pair.0, pair.1, 0.7);
        keeps(&BeamStrain::new(&[segment]), &[(RIGID, 2)]);
    }
    keeps(&RelativeRotation::new(&[(0, 1)]), &[(RIGID, 2)]);
    let rest = Pose::turned([0.0; 3], [1.0, 0.5, 0.0], 0.8).rotation;
    let rested = RelativeRotation::new(&[(0, 1)]).with_rest_rotations(&[rest]);
    keeps(&rested, &[(RIGID, 2)]);
    keeps(&RelativePose::split(&[(a, b)]), &[(RIGID, 2)]);
    keeps(&RelativePose::twist(&[(a, b)]), &[(RIGID, 2)]);
}

/// An area has no such mean: the checker sees it.
#[test]
fn a_mapping_without_a_mean_is_seen() {
    let area = Area::between(&[[0, 1, 2]]);
    assert!(!area.carries_chords());
    let missed = check::chord(&area, &[(SPACE, 3)], &numbers(3, 9), 1).unwrap();
    assert!(missed > 1e-5, "{missed}");
}

/// The mean force of a nonlinear law does the work of its energy, also across a kink.
#[test]
fn mean_forces_do_the_work_of_the_energy() {
    let laws: [Box<dyn ForceField>; 6] = [
        Box::new(Spring::linear(3.0)),
        Box::new(Spring::saturating(3.0, 0.4)),
        Box::new(Spring::stiffening(3.0, 5.0)),
        Box::new(Spring::tension_only(3.0)),
        Box::new(Spring::table(&[(-1.0, -2.0), (0.0, 0.0), (0.5, 3.0), (1.0, 3.5)])),
        Box::new(Potential::new(|x| x[0].sin() * 2.0)),
    ];
    for law in &laws {
        for seed in 1..20 {
            let (x, to) = (numbers(seed, 4), numbers(seed + 50, 4));
            let (mut room, mut f) = (vec![0.0; 20], vec![0.0; 4]);
            let [start, end] = [&x, &to].map(|x| At::new(Space::Real(1), x));
            law.add_chord_force([start, end], &mut room, &mut f);
            let work: f64 = f
                .iter()
                .zip(x.iter().zip(&to))
                .map(|(f, (x, to))| f * (to - x))
                .sum();
            let lost = law.energy(start) - law.energy(end);
            assert!((work - lost).abs() < 1e-13, "{law:?}: {work} {lost}");
        }
    }
}
