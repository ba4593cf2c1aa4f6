//! Axes with ticks at round numbers.

/// A linear map from numbers to pixels.
pub(super) struct Axis {
    low: f64,
    high: f64,
    low_pixel: f64,
    high_pixel: f64,
    /// About how many ticks there is room for.
    room: usize,
}

impl Axis {
    /// Just the range of `values`; all must be finite with a finite difference, and there must be
    /// one.
    pub(super) fn fit(
        values: impl Iterator<Item = f64>,
        low_pixel: f64,
        high_pixel: f64,
        room: usize,
    ) -> Self {
        let (low, high) = values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| {
            (low.min(x), high.max(x))
        });
        let size = low.abs().max(high.abs());
        // A constant up to rounding must not be blown up to a noise picture, and tiny spans would
        // underflow below.
        let (low, high) = if high - low > (1e-12 * size).max(1e-290) {
            (low, high)
        } else {
            let pad = if size > 1e-280 { 0.05 * size } else { 1.0 };
            (low - pad, high + pad)
        };
        Self {
            low,
            high,
            low_pixel,
            high_pixel,
            room,
        }
    }

    /// The range of `values` and a twentieth more on either side, so that no curve runs along the
    /// frame.
    pub(super) fn fit_with_margin(
        values: impl Iterator<Item = f64>,
        low_pixel: f64,
        high_pixel: f64,
        room: usize,
    ) -> Self {
        let mut axis = Self::fit(values, low_pixel, high_pixel, room);
        let margin = 0.05 * (axis.high - axis.low);
        axis.low -= margin;
        axis.high += margin;
        axis
    }

    pub(super) fn pixel(&self, x: f64) -> f64 {
        self.low_pixel + (x - self.low) / (self.high - self.low) * (self.high_pixel - self.low_pixel)
    }

    /// The multiples of a step of 1, 2 or 5 times a power of ten that lie in the range.
    pub(super) fn ticks(&self) -> Vec<f64> {
        let raw = (self.high - self.low) / self.room as f64;
        let power = 10_f64.powf(raw.log10().floor());
        let step = [1.0, 2.0, 5.0]
            .map(|factor| factor * power)
            .into_iter()
            .find(|&step| step >= raw);
        let step = step.unwrap_or(10.0 * power);
        let first = (self.low / step - 1e-9).ceil();
        let last = (self.high / step + 1e-9).floor();
        // At most `room + 1` by the choice of the step; the bound guards against surprises of
        // rounding.
        let count = ((last - first).clamp(0.0, 2.0 * self.room as f64)) as usize + 1;
        // Adding zero turns a negative zero, which would be shown as "-0", into zero.
        (0..count).map(|i| (first + i as f64) * step + 0.0).collect()
    }
}

/// The format of the ticks of one axis: all alike, with no more digits than tell them apart.
pub(super) enum Format {
    Decimals(usize),
    /// Scientific, with that many digits behind the point at the largest tick.
    Exponent {
        digits: i32,
        largest: i32,
    },
}

impl Format {
    pub(super) fn of(ticks: &[f64]) -> Self {
        let size = ticks.iter().fold(0.0_f64, |size, x| size.max(x.abs()));
        let step = match ticks {
            [a, b, ..] => (b - a).abs(),
            _ => size,
        };
        if size == 0.0 || step == 0.0 {
            return Self::Decimals(0);
        }
        // A hair up, so that 0.001 computed a bit short still counts as 10^-3.
        let step_power = (step.log10() + 1e-6).floor() as i32;
        let size_power = (size.log10() + 1e-6).floor() as i32;
        if size_power >= 6 || step_power < -5 {
            Self::Exponent {
                digits: size_power - step_power,
                largest: size_power,
            }
        } else {
            Self::Decimals((-step_power).max(0) as usize)
        }
    }

    pub(super) fn text(&self, tick: f64) -> String {
        match *self {
            Self::Decimals(digits) => format!("{tick:.digits$}"),
            Self::Exponent { .. } if tick == 0.0 => "0".to_owned(),
            Self::Exponent { digits, largest } => {
                let power = (tick.abs().log10() + 1e-6).floor() as i32;
                let digits = (digits - (largest - power)).clamp(0, 15) as usize;
                format!("{tick:.digits$e}")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Axis, Format};

    fn labels(values: &[f64]) -> Vec<String> {
        let axis = Axis::fit(values.iter().copied(), 0.0, 100.0, 5);
        let ticks = axis.ticks();
        let format = Format::of(&ticks);
        ticks.iter().map(|&tick| format.text(tick)).collect()
    }

    #[test]
    fn ticks_are_round_numbers() {
        assert_eq!(labels(&[0.0, 10.0]), ["0", "2", "4", "6", "8", "10"]);
        assert_eq!(labels(&[-0.5, 0.5]), ["-0.4", "-0.2", "0.0", "0.2", "0.4"]);
        assert_eq!(labels(&[0.0, 3e-9]), ["0", "1e-9", "2e-9", "3e-9"]);
        assert_eq!(
            labels(&[0.0, 2.5e7]),
            ["0", "5e6", "1.0e7", "1.5e7", "2.0e7", "2.5e7"]
        );
        assert_eq!(
            labels(&[1000.0, 1000.004]),
            ["1000.000", "1000.001", "1000.002", "1000.003", "1000.004"]
        );
    }

    #[test]
    fn extreme_ranges_have_finite_pixels_and_few_ticks() {
        let ranges = [
            [5.0, 5.0],
            [0.0, 0.0],
            [-1e300, 1e300],
            [0.0, f64::MIN_POSITIVE],
            [1e300, 1e300],
            [7.0, 7.0 + 1e-14],
            [0.0, 1e-289],
            [1e9, 1e9 + 0.01],
        ];
        for range in ranges {
            let axis = Axis::fit_with_margin(range.into_iter(), 0.0, 100.0, 7);
            let ticks = axis.ticks();
            assert!((2..=9).contains(&ticks.len()), "{range:?}: {ticks:?}");
            for x in ticks.into_iter().chain(range) {
                assert!((-1.0..=101.0).contains(&axis.pixel(x)), "{range:?}: {x}");
            }
        }
    }
}
