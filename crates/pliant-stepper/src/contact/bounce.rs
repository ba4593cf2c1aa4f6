//! The share of restitution that contacts take together.

/// Halvings of the interval of shares.
const HALVINGS: usize = 6;

/// How contacts with a share of their restitution come out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Bounce {
    /// A solution that makes no energy, or no restitution.
    Good,
    /// Different coefficients at once make energy.
    MakesEnergy,
    /// No solution.
    Jams,
}

/// Takes the largest common share of restitution that is good, to 1/64, where all of it came out as
/// `whole`; none of it if that is not good either. `take` solves with a share; its last call has
/// the share that stays. Contacts that jam without restitution end as they are.
///
/// # Errors
/// Errors of `take`.
pub(crate) fn take_largest_share<E>(
    whole: Bounce,
    mut take: impl FnMut(f64) -> Result<Bounce, E>,
) -> Result<(), E> {
    if whole == Bounce::Good || whole == Bounce::Jams && take(0.0)? == Bounce::Jams {
        return Ok(());
    }
    let (mut least, mut most, mut last) = (0.0, 1.0, 1.0);
    for _ in 0..HALVINGS {
        last = 0.5 * (least + most);
        match take(last)? {
            Bounce::Good => least = last,
            _ => most = last,
        }
    }
    if last != least {
        take(least)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The shares that are tried, where more than `most` are not good.
    fn shares(whole: Bounce, most: f64) -> Vec<f64> {
        let mut tried = Vec::new();
        let take = |share| {
            tried.push(share);
            let too_much = if share == 0.0 {
                Bounce::Jams
            } else {
                Bounce::MakesEnergy
            };
            Ok::<_, ()>(if share <= most { Bounce::Good } else { too_much })
        };
        take_largest_share(whole, take).unwrap();
        tried
    }

    #[test]
    fn the_last_share_is_the_largest_good_one() {
        assert!(shares(Bounce::Good, 0.3).is_empty());
        assert_eq!(*shares(Bounce::MakesEnergy, 0.3).last().unwrap(), 19.0 / 64.0);
        assert_eq!(*shares(Bounce::MakesEnergy, 0.0).last().unwrap(), 0.0);
        assert_eq!(shares(Bounce::Jams, -1.0), [0.0]);
        let of_a_jam = shares(Bounce::Jams, 0.75);
        assert_eq!((of_a_jam[0], *of_a_jam.last().unwrap()), (0.0, 0.75));
    }
}
