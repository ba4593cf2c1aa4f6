//! The limits of the machine: memory read and written in a second, products and sums taken in a
//! second.
//!
//! A computation that moves `B` bytes and takes `P` products and sums cannot be faster than
//! `max(B/bandwidth, P/rate)`, the roofline of Williams, Waterman and Patterson (2009).

use std::time::Instant;

/// The limits of so many threads together.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Machine {
    /// Bytes in a second, of a triad over arrays that no cache holds.
    pub bandwidth: f64,
    /// Products and sums in a second, each rounded on its own, of numbers in registers.
    pub rate: f64,
}

/// Numbers of each of the three arrays of the triad: all together are larger than any cache of
/// today.
const LENGTH: usize = 40_000_000;
const ROUNDS: usize = 5;

impl Machine {
    /// Measures, least time of five.
    pub fn measure(threads: usize) -> Self {
        Self {
            bandwidth: bandwidth(threads, LENGTH),
            rate: rate(threads),
        }
    }

    /// The least time (s) of a computation.
    pub fn least_time(&self, bytes: f64, operations: f64) -> f64 {
        (bytes / self.bandwidth).max(operations / self.rate)
    }
}

/// `a = b + s c`, 24 bytes for each number.
fn triad(a: &mut [f64], b: &[f64], c: &[f64], s: f64) {
    for ((a, b), c) in a.iter_mut().zip(b).zip(c) {
        *a = b + s * c;
    }
}

fn bandwidth(threads: usize, length: usize) -> f64 {
    let (b, c) = (vec![1.0; length], vec![2.0; length]);
    let mut a = vec![0.5; length];
    let piece = length.div_ceil(threads.max(1));
    let least = least_time(|round| {
        std::thread::scope(|scope| {
            let pieces = a.chunks_mut(piece).zip(b.chunks(piece)).zip(c.chunks(piece));
            for ((a, b), c) in pieces {
                scope.spawn(move || triad(a, b, c, round as f64));
            }
        });
    });
    std::hint::black_box(&a);
    24.0 * length as f64 / least
}

/// Products and sums of one call of [`chains`].
const CHAIN: usize = 1 << 20;
/// Numbers that go side by side: enough for the registers to be busy while a sum is waited for.
const WIDTH: usize = 32;

/// `x = s x + t`, side by side.
#[inline(always)]
fn chains(x: &mut [f64; WIDTH], s: f64, t: f64) {
    for _ in 0..CHAIN / WIDTH {
        for x in x.iter_mut() {
            *x = s * *x + t;
        }
    }
}

fn rate(threads: usize) -> f64 {
    let arch = pulp::Arch::new();
    let calls = 40;
    let least = least_time(|round| {
        std::thread::scope(|scope| {
            for _ in 0..threads.max(1) {
                scope.spawn(move || {
                    let mut x = [round as f64; WIDTH];
                    for _ in 0..calls {
                        arch.dispatch(|| chains(&mut x, std::hint::black_box(0.5), 1.0));
                    }
                    std::hint::black_box(x)
                });
            }
        });
    });
    2.0 * (threads.max(1) * calls * CHAIN) as f64 / least
}

fn least_time(mut what: impl FnMut(usize)) -> f64 {
    (0..ROUNDS).fold(f64::INFINITY, |least, round| {
        let start = Instant::now();
        what(round);
        least.min(start.elapsed().as_secs_f64())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_triad_writes_every_number() {
        let mut a = [0.0; 5];
        triad(&mut a, &[1.0, 2.0, 3.0, 4.0, 5.0], &[1.0; 5], 2.0);
        assert_eq!(a, [3.0, 4.0, 5.0, 6.0, 7.0]);
    }

    /// `x = x/2 + 1` has the fixed point 2, which halving reaches to rounding.
    #[test]
    fn chains_come_to_their_fixed_point() {
        let mut x = [7.0; WIDTH];
        chains(&mut x, 0.5, 1.0);
        assert_eq!(x, [2.0; WIDTH]);
    }

    #[test]
    fn the_slower_of_both_bounds() {
        let machine = Machine {
            bandwidth: 10.0,
            rate: 100.0,
        };
        assert_eq!(machine.least_time(20.0, 50.0), 2.0);
        assert_eq!(machine.least_time(20.0, 500.0), 5.0);
    }
}
