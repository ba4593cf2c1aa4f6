//! Numbers without structure, the same in every run.

/// A number in whose sums over different sets of `x` coincidences are as good as excluded: the
/// finisher of splitmix64.
pub(super) fn mixed(x: u64) -> u64 {
    let z = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// The generator splitmix64 (Steele, Lea and Flood 2014) from a fixed state.
#[derive(Clone, Debug, Default)]
pub(super) struct Noise(u64);

impl Noise {
    fn next(&mut self) -> u64 {
        let out = mixed(self.0);
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        out
    }

    /// A number below `end`, which fits 32 bits and is not zero.
    pub(super) fn below(&mut self, end: usize) -> usize {
        (((self.next() >> 32) * end as u64) >> 32) as usize
    }

    pub(super) fn shuffle(&mut self, list: &mut [u32]) {
        for k in (1..list.len()).rev() {
            list.swap(k, self.below(k + 1));
        }
    }
}
