//! Rows of a pattern as runs of columns that follow each other: of six, as bodies have, of three,
//! of two, and single ones. Sums over a run have a length that the compiler knows.

/// Taker of the entries of a row, run by run in the order of the columns.
pub trait TakeRun {
    /// Takes the entries of a row from `at` on, in the columns `column..column + N`.
    fn take<const N: usize>(&mut self, at: usize, column: usize);
}

/// Hands the ascending columns of a row over, as the longest runs first. Cost: one comparison for
/// each run, and for each that is not there.
#[inline(always)]
pub fn for_each_run(columns: &[u32], taker: &mut impl TakeRun) {
    let mut at = 0;
    // Columns ascend without repetition: they follow each other if the last is as far as they are
    // many.
    while let Some([first, rest @ ..]) = columns.get(at..)
        && let first = *first as usize
    {
        let reaches = |k: usize| {
            rest.get(k - 2)
                .is_some_and(|last| *last as usize == first + k - 1)
        };
        if reaches(6) {
            taker.take::<6>(at, first);
            at += 6;
        } else if reaches(3) {
            taker.take::<3>(at, first);
            at += 3;
        } else if reaches(2) {
            taker.take::<2>(at, first);
            at += 2;
        } else {
            taker.take::<1>(at, first);
            at += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Seen(Vec<(usize, usize, usize)>);

    impl TakeRun for Seen {
        fn take<const N: usize>(&mut self, at: usize, column: usize) {
            self.0.push((N, at, column));
        }
    }

    #[test]
    fn runs_cover_every_entry_once_and_in_order() {
        let runs = |columns: &[u32]| {
            let mut seen = Seen(Vec::new());
            for_each_run(columns, &mut seen);
            seen.0
        };
        assert_eq!(runs(&[]), []);
        assert_eq!(runs(&[7]), [(1, 0, 7)]);
        assert_eq!(runs(&[0, 1, 2, 3, 4, 5]), [(6, 0, 0)]);
        assert_eq!(runs(&[2, 3, 4, 5, 6]), [(3, 0, 2), (2, 3, 5)]);
        assert_eq!(runs(&[0, 2, 3, 5, 6, 7]), [(1, 0, 0), (2, 1, 2), (3, 3, 5)]);
        // Whatever the columns.
        for bits in 0u32..1 << 14 {
            let columns: Vec<u32> = (0..14).filter(|k| bits >> k & 1 == 1).collect();
            let found = runs(&columns);
            let again = found
                .iter()
                .flat_map(|(n, _, first)| *first as u32..(first + n) as u32);
            assert_eq!(again.collect::<Vec<u32>>(), columns);
            let ends = found.iter().scan(0, |end, (n, at, _)| {
                let fits = *at == *end;
                *end += n;
                Some(fits)
            });
            assert!(ends.into_iter().all(|fits| fits));
        }
    }
}
