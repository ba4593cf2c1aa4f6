//! The energy plot.

use pliant_output::plot::{MOST_CURVES, Plot, energy_svg, plots_svg, write_energy_svg};
use pliant_output::recording::{Recording, Sample};

/// A damped oscillation.
fn oscillation(count: usize) -> Recording {
    let sample = |i: usize| {
        let time = i as f64 * 10.0 / count as f64;
        let total = 4.0 * (-0.2 * time).exp();
        let kinetic = total * (3.0 * time).sin().powi(2);
        Sample {
            time,
            kinetic,
            potential: total - kinetic - 1.0,
            dissipated: 4.0 - total,
            ..Sample::default()
        }
    };
    Recording {
        title: "swing".to_owned(),
        samples: (0..count).map(sample).collect(),
        ..Recording::default()
    }
}

/// Fails unless every tag is closed in order, and no coordinate is NaN.
fn assert_well_formed(svg: &str) {
    let mut open = Vec::new();
    for piece in svg.split('<').skip(1) {
        let (tag, text) = piece.split_once('>').expect("every tag ends");
        assert!(!text.contains('>'));
        let name = tag.trim_start_matches('/').split([' ', '/']).next().unwrap();
        if tag.starts_with('/') {
            assert_eq!(open.pop(), Some(name));
        } else if !tag.ends_with('/') {
            open.push(name);
        }
        assert!(!tag.contains("NaN") && !tag.contains("inf"), "{tag}");
    }
    assert!(open.is_empty());
    assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"));
}

fn count_points(svg: &str) -> Vec<usize> {
    let lines = svg.split("<polyline points=\"").skip(1);
    lines
        .map(|line| line.split('"').next().unwrap().split_whitespace().count())
        .collect()
}

#[test]
fn a_plot_has_curves_labels_and_legend() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("energy.svg");
    write_energy_svg(&path, &oscillation(500)).unwrap();
    let svg = std::fs::read_to_string(&path).unwrap();
    assert_well_formed(&svg);
    assert_eq!(count_points(&svg), [500; 4]);
    for text in [
        "Energy: swing",
        "time [s]",
        "energy [J]",
        ">kinetic<",
        ">potential<",
        ">dissipated<",
        "#ffffff",
    ] {
        assert!(svg.contains(text), "{text}");
    }
    assert!(svg.contains(">total (kinetic + potential)<") && !svg.contains("left out"));
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);
}

#[test]
fn long_runs_are_thinned() {
    let mut recording = oscillation(200_000);
    let plain = energy_svg(&recording);
    assert!(
        count_points(&plain).iter().all(|&n| (1400..=1500).contains(&n)),
        "{:?}",
        count_points(&plain)
    );
    assert!(plain.len() < 200_000);
    // One sample in two hundred thousand, high above all others, sets the scale and is drawn.
    recording.samples[123_456].kinetic = 1000.0;
    let peaked = energy_svg(&recording);
    assert!(peaked.contains(">1000<"), "the axis reaches the peak");
    let kinetic = peaked.split("<title>kinetic</title>").nth(1).unwrap();
    let ys = kinetic
        .split('"')
        .nth(1)
        .unwrap()
        .split_whitespace()
        .map(|p| p.split_once(',').unwrap().1);
    let highest = ys
        .map(|y| y.parse::<f64>().unwrap())
        .fold(f64::INFINITY, f64::min);
    assert!(highest < 110.0, "{highest}");
}

#[test]
fn titles_are_escaped_and_short() {
    let recording = Recording {
        title: "<b>&\"'\u{1}\u{0}".to_owned(),
        ..oscillation(3)
    };
    let svg = energy_svg(&recording);
    assert_well_formed(&svg);
    assert!(svg.contains("&lt;b&gt;&amp;&quot;&apos;  <"));
    let recording = Recording {
        title: "é".repeat(500),
        ..oscillation(3)
    };
    let svg = energy_svg(&recording);
    assert_well_formed(&svg);
    assert!(svg.contains('…') && !svg.contains(&"é".repeat(100)));
}

#[test]
fn odd_series_are_drawn() {
    for value in [0.0, -3.5, 1e-300, 1e299, 7e12] {
        for count in [1, 2, 5] {
            let sample = |i| Sample {
                time: f64::from(i),
                kinetic: value,
                ..Sample::default()
            };
            let recording = Recording {
                samples: (0..count).map(sample).collect(),
                ..Recording::default()
            };
            let svg = energy_svg(&recording);
            assert_well_formed(&svg);
            assert_eq!(svg.matches("<circle").count(), if count == 1 { 4 } else { 0 });
            assert!(!svg.contains("left out") && !svg.contains(">-0<"));
        }
    }
    let empty = energy_svg(&Recording::default());
    assert_well_formed(&empty);
    assert!(empty.contains("no samples recorded"));
}

#[test]
fn samples_that_are_not_finite_make_gaps_and_a_note() {
    let mut recording = oscillation(100);
    recording.samples[30].kinetic = f64::NAN;
    recording.samples[60].time = f64::INFINITY;
    recording.samples[61].dissipated = f64::NEG_INFINITY;
    recording.samples[63].potential = 1e308;
    let svg = energy_svg(&recording);
    assert_well_formed(&svg);
    // Four curves; the sample 62 stands alone.
    assert_eq!(count_points(&svg), [30, 29, 36].repeat(4));
    assert_eq!(svg.matches("<circle").count(), 4);
    assert!(svg.contains("4 of 100 samples left out"));
    for sample in &mut recording.samples {
        sample.potential = f64::NAN;
    }
    let svg = energy_svg(&recording);
    assert_well_formed(&svg);
    assert!(svg.contains("no sample has finite numbers") && svg.contains("100 of 100 samples left out"));
}

/// Two plots one below the other: each has its names, and gaps of one curve are not those of another.
#[test]
fn plots_stand_one_below_the_other() {
    let over: Vec<f64> = (0..50).map(f64::from).collect();
    let curve = |k: f64| over.iter().map(|x| k * x).collect::<Vec<f64>>();
    let mut gap = curve(2.0);
    gap[20] = f64::NAN;
    let plot = |names: &[&str], values: Vec<Vec<f64>>| Plot {
        title: "a < b".to_owned(),
        axes: ["time [s]".to_owned(), "force [N]".to_owned()],
        names: names.iter().map(|n| (*n).to_owned()).collect(),
        over: over.clone(),
        values,
    };
    let plots = [
        plot(&["pull", "push"], vec![curve(1.0), gap]),
        plot(&["none"], vec![vec![f64::INFINITY; 50]]),
    ];
    let svg = plots_svg("both", &plots);
    assert_well_formed(&svg);
    assert_eq!(count_points(&svg), [50, 20, 29]);
    assert!(svg.contains("height=\"1080\"") && svg.contains("translate(0 540)"));
    assert!(svg.contains("1 of 100 samples left out") && svg.contains("no sample has finite numbers"));
    assert!(svg.contains(">push<") && svg.contains("force [N]") && svg.contains("a &lt; b"));
    let names: Vec<&str> = vec!["x"; MOST_CURVES + 3];
    let many = plot(&names, vec![curve(1.0); MOST_CURVES + 3]);
    assert_eq!(count_points(&plots_svg("", &[many])).len(), MOST_CURVES);
    assert_well_formed(&plots_svg("", &[]));
}
