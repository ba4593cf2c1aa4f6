//! Filling block by block, against the scaled matrix entry by entry.

use crate::{DirectSolver, KktSystem};
use pliant_sparse::PatternBuilder;

/// A chain of bodies of six: joints of these numbers of rows in turns, each on two bodies or the
/// first, on so many of their coordinates; the bodies that a spring ties to the one before.
struct Chain {
    joints: &'static [usize],
    coordinates: &'static [usize],
    ties: &'static [usize],
    /// Whether rows of a joint have compliance together.
    coupled: bool,
    fixed: &'static [usize],
}

const BODIES: usize = 9;

impl Chain {
    fn system(&self) -> KktSystem {
        let sizes: Vec<usize> = (0..BODIES).map(|k| self.joints[k % self.joints.len()]).collect();
        let (n, m) = (6 * BODIES, sizes.iter().sum());
        let [mut w, mut j, mut r] = [(n, n), (m, n), (m, m)].map(|(a, b)| PatternBuilder::new(a, b));
        let mut rows = vec![0];
        for (k, size) in sizes.iter().enumerate() {
            w.insert_block((6 * k, 6 * k), (6, 6), true);
            if self.ties.contains(&k) {
                w.insert_block((6 * k, 6 * k - 6), (6, 6), false);
            }
            let first = rows[k];
            for row in first..first + size {
                for c in self.coordinates {
                    j.insert(row, 6 * k + c);
                    if k > 0 {
                        j.insert(row, 6 * k - 6 + c);
                    }
                }
            }
            for row in first..first + size {
                r.insert_block((row, row), (1, 1), true);
            }
            if self.coupled {
                r.insert_block((first, first), (*size, *size), true);
            }
            rows.push(first + size);
        }
        let (w, j, r) = (w.finish().unwrap(), j.finish().unwrap(), r.finish().unwrap());
        let blocks = (0..=n).step_by(6).collect();
        let mut s = KktSystem::new(w, j, r, blocks, rows).unwrap();
        // Sizes of many decades, so that scales differ.
        for i in 0..n {
            for slot in s.w.pattern().row_slots(i) {
                let k = s.w.pattern().indices()[slot] as usize;
                let size = 10f64.powi((i / 6 % 4) as i32).min(10f64.powi((k / 6 % 4) as i32));
                let value = if i == k { 9.0 } else { ((3 * i + k) as f64).sin() };
                s.w.values_mut()[slot] = size * value;
            }
        }
        for (slot, value) in s.j.values_mut().iter_mut().enumerate() {
            *value = (7.0 * slot as f64).cos();
        }
        for i in 0..m {
            for slot in s.r.pattern().row_slots(i) {
                let k = s.r.pattern().indices()[slot] as usize;
                s.r.values_mut()[slot] = if i == k { 1e-3 } else { 1e-4 * (slot as f64).sin() };
            }
        }
        self.fixed.iter().for_each(|i| s.fixed[*i] = true);
        s
    }

    /// Compares what tiles write with the matrix, and counts the rows that are none and all tiles.
    fn check(&self) -> (usize, usize) {
        let s = self.system();
        let mut solver = DirectSolver::default();
        solver.prepare(&s).unwrap();
        let rules = solver.rows.rules(solver.options.rank_threshold);
        let plan = solver.plan.as_mut().unwrap();
        let expected = plan.assembled(&s, &[]).unwrap();
        let (kernel, sweep, writer) = plan.writer(&s, rules);
        let mut found = vec![0.0; kernel.values_mut().len()];
        for run in 0..sweep.runs.len() {
            sweep.tiles.write(run, writer.places, writer.scales(), &mut found);
        }
        let mut entries = 0;
        for i in 0..expected.pattern().rows() {
            for (k, value) in expected.row_entries(i) {
                let slot = kernel.slot(i, k).unwrap();
                assert_eq!(found[slot].to_bits(), value.to_bits(), "entry ({i}, {k})");
                found[slot] = 0.0;
                entries += usize::from(value != 0.0);
            }
        }
        assert!(entries > 50 * BODIES / 2);
        // Nothing is anywhere else.
        assert!(found.iter().all(|value| *value == 0.0));
        sweep.tiles.scattered()
    }
}

const ALL: &[usize] = &[0, 1, 2, 3, 4, 5];

#[test]
fn chains_are_written_block_by_block() {
    for joints in [&[3][..], &[5], &[3, 5], &[6, 1, 2, 4]] {
        for coupled in [true, false] {
            let chain = Chain {
                joints,
                coordinates: ALL,
                ties: &[],
                coupled,
                fixed: &[],
            };
            // W, R and J of a body, but for the first joint, which has one less.
            assert_eq!(chain.check(), (0, 4 * BODIES - 1), "{joints:?}");
        }
    }
}

#[test]
fn whatever_is_no_block_is_written_entry_by_entry() {
    let halves = Chain {
        joints: &[3],
        coordinates: &[0, 1, 2],
        ties: &[2, 3],
        coupled: true,
        fixed: &[],
    };
    halves.check();
    let gaps = Chain {
        joints: &[5, 2],
        coordinates: &[1, 3, 4],
        ties: &[],
        coupled: false,
        fixed: &[],
    };
    assert_eq!(gaps.check().0, BODIES);
    let held = Chain {
        joints: &[3, 5],
        coordinates: ALL,
        ties: &[4, 8],
        coupled: true,
        fixed: &[0, 13, 14, 30, 31, 32, 33, 34, 35, 53],
    };
    assert!(held.check().0 > 3);
}
