//! Which moments of a trajectory are kept, so that it can be walked backwards.

/// The number of steps after which the next moment is kept, where `steps` are ahead and `slots`
/// moments can be kept: the split of binomial checkpointing (Griewank and Walther 2000, revolve),
/// for which no step is taken more often than the least `r` with `C(slots + r, r) >= steps`.
///
/// `steps` is at least 2 and `slots` at least 1.
pub(super) fn split(steps: usize, slots: usize) -> usize {
    let slots = slots.min(steps - 1).max(1);
    // The least number of repetitions that is enough, with `reach = C(slots + r, slots)`.
    let reach = |slots: usize, repeats: usize| {
        (1..=repeats).fold(1usize, |reach, r| {
            (reach.saturating_mul(slots + r) / r).min(usize::MAX / (2 * (slots + r + 1)))
        })
    };
    let mut repeats = 1;
    while reach(slots, repeats) < steps {
        repeats += 1;
    }
    // The range behind the kept moment has one slot less and as many repetitions, the one before it
    // one repetition less: with fewer steps than one less of these reaches it would have slots idle.
    let behind = reach(slots - 1, repeats);
    let least = if repeats < 2 { 1 } else { reach(slots, repeats - 2) };
    steps.saturating_sub(behind).max(least).clamp(1, steps - 1)
}

#[cfg(test)]
mod tests {
    use super::split;

    /// Steps that are taken to walk back over `steps`, the last of each range recorded, and the
    /// most moments kept at once.
    fn walk(steps: usize, slots: usize) -> (usize, usize) {
        if steps <= 1 || slots == 0 {
            // Without a slot every moment is reached from the start of the range.
            return (steps * (steps + 1) / 2, 0);
        }
        let ahead = split(steps, slots);
        let (behind, kept) = walk(steps - ahead, slots - 1);
        let (before, also) = walk(ahead, slots);
        (ahead + behind + before, (kept + 1).max(also))
    }

    /// The least number of steps for so many slots, by Griewank and Walther (2000): with the least
    /// `r` that reaches far enough, `C(slots + r, r) >= steps`, each step is taken `r` times to come
    /// to the moments, but for `C(slots + r, r - 1)` of them, and once to be recorded.
    fn least(steps: usize, slots: usize) -> usize {
        let choose = |n: usize, k: usize| (1..=k).fold(1, |c, i| c * (n + 1 - i) / i);
        let mut repeats = 1;
        while choose(slots + repeats, repeats) < steps {
            repeats += 1;
        }
        (repeats + 1) * steps - choose(slots + repeats, repeats - 1)
    }

    #[test]
    fn no_step_is_taken_more_often_than_it_has_to_be() {
        for (steps, slots) in [
            (2, 1),
            (7, 1),
            (10, 10),
            (57, 3),
            (100, 99),
            (1000, 10),
            (10_000, 10),
            (10_000, 20),
        ] {
            let (taken, kept) = walk(steps, slots);
            assert_eq!(taken, least(steps, slots), "{steps} {slots}");
            assert!(kept <= slots, "{steps} {slots}: {kept}");
        }
    }
}
