//! Orders of chains and solids with hard rows.

use super::*;

/// A chain of `n` unit masses, row i between masses i-1 and i, row 0 to the wall; all rows hard.
fn chain(n: usize) -> KktSystem {
    let mut w = vec![0.0; n * n];
    let mut j = vec![0.0; n * n];
    for i in 0..n {
        w[i * n + i] = 1.0;
        j[i * n + i] = 1.0;
        if i > 0 {
            j[i * n + i - 1] = -1.0;
        }
    }
    let dense = KktSystem::dense(&w, &j, &vec![0.0; n]).unwrap();
    // The dense pattern couples everything; keep only the non-zeros.
    let mut wp = pliant_sparse::PatternBuilder::new(n, n);
    let mut jp = pliant_sparse::PatternBuilder::new(n, n);
    for i in 0..n {
        wp.insert(i, i);
        jp.insert(i, i);
        if i > 0 {
            jp.insert(i, i - 1);
        }
    }
    let r = dense.r.pattern().clone();
    let all: Vec<usize> = (0..=n).collect();
    let mut s = KktSystem::new(wp.finish().unwrap(), jp.finish().unwrap(), r, all.clone(), all).unwrap();
    s.w.values_mut().fill(1.0);
    for i in 0..n {
        for k in 0..=1usize.min(i) {
            let slot = s.j.pattern().slot(i, i - k).unwrap();
            s.j.values_mut()[slot] = if k == 0 { 1.0 } else { -1.0 };
        }
    }
    s
}

#[test]
fn each_hard_row_of_a_chain_follows_its_partner() {
    let s = chain(200);
    let order = Elimination::new(&s, &[false; 200]).unwrap();
    assert!(order.deferred.iter().all(|d| !d));
    assert_eq!(order.sequence.len(), 400);
    let rank = |v: usize| order.sequence.iter().position(|x| *x == v).unwrap();
    for i in 0..200 {
        assert!(rank(200 + i) > rank(i) || (i > 0 && rank(200 + i) > rank(i - 1)));
    }
}

#[test]
fn a_row_too_many_is_deferred() {
    // Two hard rows on one variable cannot both follow it.
    let s = KktSystem::dense(&[1.0], &[1.0, 1.0], &[0.0, 0.0]).unwrap();
    let order = Elimination::new(&s, &[false; 2]).unwrap();
    assert_eq!(
        (order.deferred, order.sequence),
        (vec![false, true], vec![0, 1, 2])
    );
}

#[test]
fn one_block_owns_as_many_rows_as_are_independent() {
    // One particle, rows along x, along x again, and along x + y.
    let (w, j) = ([1.0, 0.0, 0.0, 1.0], [1.0, 0.0, 1.0, 0.0, 1.0, 1.0]);
    let dense = KktSystem::dense(&w, &j, &[0.0; 3]).unwrap();
    let patterns = [&dense.w, &dense.j, &dense.r].map(|a| a.pattern().clone());
    let [wp, jp, rp] = patterns;
    let mut s = KktSystem::new(wp, jp, rp, vec![0, 2], vec![0, 1, 2, 3]).unwrap();
    s.w.values_mut().copy_from_slice(dense.w.values());
    s.j.values_mut().copy_from_slice(dense.j.values());
    let order = Elimination::new(&s, &[false; 3]).unwrap();
    assert_eq!(order.deferred, [false, true, false]);
}

/// A box of `side^3` particles, each coupled with its neighbours along the axes, and a hard row
/// between every tenth and the next; blocks of three or of one.
fn solid(side: usize, blocks: bool) -> KktSystem {
    let nodes = side * side * side;
    let hard: Vec<usize> = (0..nodes - 1).step_by(10).collect();
    let (n, m) = (3 * nodes, hard.len());
    let [mut w, mut j, mut r] =
        [(n, n), (m, n), (m, m)].map(|(a, b)| pliant_sparse::PatternBuilder::new(a, b));
    for v in 0..nodes {
        w.insert_block((3 * v, 3 * v), (3, 3), true);
        for step in [1, side, side * side] {
            if v / step % side > 0 {
                w.insert_block((3 * v, 3 * (v - step)), (3, 3), false);
            }
        }
    }
    for (k, v) in hard.iter().enumerate() {
        j.insert_block((k, 3 * v), (1, 6), false);
        r.insert(k, k);
    }
    let [w, j, r] = [w, j, r].map(|b| b.finish().unwrap());
    let bounds = (0..=n).step_by(if blocks { 3 } else { 1 }).collect();
    let mut s = KktSystem::new(w, j, r, bounds, (0..=m).collect()).unwrap();
    s.w.values_mut().fill(1.0);
    s.j.values_mut().fill(1.0);
    s
}

#[test]
fn hard_rows_follow_their_owners_in_a_dissected_solid() {
    let s = solid(18, true);
    let order = Elimination::new(&s, &vec![false; s.m()]).unwrap();
    assert!(order.fits(&s, &mut Vec::new()));
    assert_eq!(order.report.method, pliant_sparse::OrderMethod::NestedDissection);
    assert!(order.deferred.iter().all(|d| !d));
    let mut rank = vec![0; s.n() + s.m()];
    order.sequence.iter().enumerate().for_each(|(k, v)| rank[*v] = k);
    for row in 0..s.m() {
        let owner = order.sequence[rank[s.n() + row] - 1];
        assert!(s.j.pattern().row(row).contains(&(owner as u32)), "row {row}");
    }
}

#[test]
fn scalar_blocks_of_one_particle_become_one_block() {
    let mut s = solid(6, false);
    // Soft rows are vertices of their own.
    s.r.values_mut().fill(1.0);
    s.fixed[0] = true;
    let order = Elimination::new(&s, &vec![false; s.m()]).unwrap();
    assert!(order.fits(&s, &mut Vec::new()));
    for w in order.bounds.windows(2) {
        let block = &order.sequence[w[0]..w[1]];
        if block[0] < s.n() {
            let particle = block[0] / 3;
            let own: Vec<usize> = (3 * particle..3 * particle + 3).filter(|i| *i > 0).collect();
            assert_eq!(block, own);
        } else {
            assert_eq!(block.len(), 1);
        }
    }
}
