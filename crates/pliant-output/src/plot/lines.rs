//! Fewer points for a curve, without losing its peaks.

/// Most points of one curve.
const MOST: usize = 1500;

/// Cuts a curve at its missing points into runs, and thins it to about [`MOST`] points.
///
/// A curve of more points is cut into stretches of equally many samples; each stretch is stood for
/// by its lowest and its highest point, in their order. A missing point anywhere in a stretch makes
/// a gap behind the stretch.
pub(super) fn decimate(points: &[Option<(f64, f64)>]) -> Vec<Vec<(f64, f64)>> {
    let length = if points.len() <= MOST {
        1
    } else {
        points.len().div_ceil(MOST / 2 - 1)
    };
    let mut runs = Vec::new();
    let mut run: Vec<(f64, f64)> = Vec::new();
    // The ends stand for themselves, or the curve would not begin at the first sample.
    let ends = [points.first(), points.last()].map(|end| end.copied().flatten());
    if length > 1 {
        run.extend(ends[0]);
    }
    for stretch in points.chunks(length) {
        let present = || stretch.iter().flatten().copied().enumerate();
        let low = present().min_by(|(_, a), (_, b)| a.1.total_cmp(&b.1));
        let high = present().max_by(|(_, a), (_, b)| a.1.total_cmp(&b.1));
        if let (Some((i, low)), Some((j, high))) = (low, high) {
            match i.cmp(&j) {
                std::cmp::Ordering::Less => run.extend([low, high]),
                std::cmp::Ordering::Equal => run.push(low),
                std::cmp::Ordering::Greater => run.extend([high, low]),
            }
        }
        if stretch.contains(&None) && !run.is_empty() {
            runs.push(std::mem::take(&mut run));
        }
    }
    if length > 1 {
        run.extend(ends[1]);
    }
    if !run.is_empty() {
        runs.push(run);
    }
    runs
}

#[cfg(test)]
mod tests {
    use super::{MOST, decimate};

    #[test]
    fn few_points_stay_as_they_are() {
        let points: Vec<_> = (0..MOST).map(|i| Some((i as f64, (i * i % 7) as f64))).collect();
        let kept: Vec<_> = points.iter().copied().flatten().collect();
        assert_eq!(decimate(&points), [kept]);
        assert!(decimate(&[]).is_empty());
        assert_eq!(decimate(&[None, Some((1.0, 2.0)), None]), [[(1.0, 2.0)]]);
    }

    #[test]
    fn peaks_and_ends_survive() {
        let mut points: Vec<_> = (0..123_457)
            .map(|i| Some((f64::from(i), (f64::from(i) * 1e-3).sin())))
            .collect();
        points[77_777] = Some((77_777.0, 50.0));
        points[77_779] = Some((77_779.0, -50.0));
        let runs = decimate(&points);
        assert_eq!(runs.len(), 1);
        let run = &runs[0];
        assert!(run.len() <= MOST, "{}", run.len());
        assert!(run.contains(&(77_777.0, 50.0)) && run.contains(&(77_779.0, -50.0)));
        assert_eq!((run[0].0, run[run.len() - 1].0), (0.0, 123_456.0));
        assert!(run.windows(2).all(|pair| pair[0].0 <= pair[1].0));
    }

    #[test]
    fn gaps_cut_a_thinned_curve() {
        let mut points: Vec<_> = (0..100_000).map(|i| Some((f64::from(i), 1.0))).collect();
        points[50_000] = None;
        let runs = decimate(&points);
        assert_eq!(runs.len(), 2);
        assert!(runs.iter().map(Vec::len).sum::<usize>() <= MOST);
    }
}
