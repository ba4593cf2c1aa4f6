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
    // What is behind the kept moment has one slot less and as many repetitions; what is before it
    // one repetition less.
    let behind = reach(slots - 1, repeats);
    steps.saturating_sub(behind).clamp(1, steps - 1)
}

#[cfg(test)]
mod tests {
    use super::split;

    /// Steps that are taken to walk back over `steps`, the last of each range recorded, and the
    /// most moments kept at once.
    fn walk(steps: usize, slots: usize) -> (usize, usize) {
        if steps <= 1 || slots == 0 {
            // Without a slot every moment is reached from the start.
            return (steps * (steps + 1) / 2, 0);
        }
        let ahead = split(steps, slots);
        let (behind, kept) = walk(steps - ahead, slots - 1);
        let (before, also) = walk(ahead, slots);
        (ahead + behind + before, (kept + 1).max(also))
    }

    /// The numbers of Griewank and Walther's table: with as many slots as steps each step is taken
    /// twice at most, and ten thousand steps with ten slots less than six times each.
    #[test]
    fn few_steps_are_taken_again() {
        for (steps, slots, most) in [
            (10, 10, 19),
            (100, 100, 199),
            (1000, 10, 4 * 1000),
            (10_000, 10, 6 * 10_000),
            (10_000, 20, 4 * 10_000),
        ] {
            let (taken, kept) = walk(steps, slots);
            assert!(taken <= most && kept <= slots, "{steps} {slots}: {taken} {kept}");
        }
        // A few slots are no good for many steps, but enough.
        assert_eq!(walk(7, 1).1, 1);
    }
}
