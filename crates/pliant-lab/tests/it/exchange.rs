//! Problems as texts, there and back.

use crate::tools::{INF, Random, chain, random_kkt};
use pliant_lab::exchange::*;
use pliant_solvers::KktSystem;
use pliant_solvers::complementarity::{Cone, Form, Problem, SaddleDelassus};
use proptest::prelude::*;

fn none(name: &str) -> Result<String, String> {
    Err(format!("no {name}"))
}

/// Written in both layouts and read again.
fn there_and_back(record: &Record) -> [Record; 2] {
    [Layout::Single, Layout::Separate].map(|layout| {
        let texts = record.write(layout).unwrap();
        assert_eq!(texts.matrices.is_empty(), layout == Layout::Single);
        let load = |name: &str| {
            let found = texts.matrices.iter().find(|(n, _)| n == name);
            found
                .map(|(_, text)| text.clone())
                .ok_or_else(|| "missing".to_owned())
        };
        let again = Record::read(&texts.header, load).unwrap();
        // The same text again: nothing was lost.
        assert_eq!(again.write(layout).unwrap(), texts);
        again
    })
}

fn bits(values: &[f64]) -> Vec<u64> {
    values.iter().map(|x| x.to_bits()).collect()
}

fn same(a: &KktSystem, b: &KktSystem) {
    for (a, b) in [(&a.w, &b.w), (&a.j, &b.j), (&a.r, &b.r)] {
        assert_eq!(a.pattern(), b.pattern());
        assert_eq!(bits(a.values()), bits(b.values()));
    }
    assert_eq!(
        (a.primal_blocks(), a.row_blocks()),
        (b.primal_blocks(), b.row_blocks())
    );
    assert_eq!(a.fixed, b.fixed);
    for (a, b) in [(&a.c, &b.c), (&a.b, &b.b), (&a.b_rounding, &b.b_rounding)] {
        assert_eq!(bits(a), bits(b));
    }
    let flat = |s: &KktSystem| bits(&s.bounds.iter().flat_map(|b| [b.0, b.1]).collect::<Vec<_>>());
    assert_eq!(flat(a), flat(b));
}

fn system_of(record: &Record) -> &KktSystem {
    match &record.statement {
        Statement::Kkt(system) => system,
        other => panic!("{}", other.kind()),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn systems_come_back_to_the_bit(seed in any::<u64>(), n in 1usize..9, m in 0usize..7) {
        let mut random = Random(seed);
        let mut system = random_kkt(&mut random, n, m);
        // Any bits at all, infinities and NaN among them.
        for x in system.w.values_mut().iter_mut().chain(&mut system.c).chain(&mut system.b) {
            *x = match random.below(8) {
                0 => f64::NAN,
                1 => f64::NEG_INFINITY,
                2 => -0.0,
                3 => f64::from_bits(random.below(1 << 40) as u64),
                _ => loop {
                    let x = f64::from_bits(random.bits());
                    if !x.is_nan() {
                        break x;
                    }
                },
            };
        }
        for b in &mut system.bounds {
            *b = [(0.0, INF), (-0.0, 0.0), (-INF, INF), (-1e-300, 0.1)][random.below(4)];
        }
        let record = Record::new("random", system);
        for again in there_and_back(&record) {
            same(system_of(&record), system_of(&again));
        }
    }

    #[test]
    fn problems_come_back_to_the_bit(seed in any::<u64>(), blocks in 0usize..7, sparse: bool, symmetric: bool) {
        let mut random = Random(seed);
        let all = [
            Cone::Free,
            Cone::NonNegative,
            Cone::Box { lower: -INF, upper: 0.1 },
            Cone::Coulomb { mu: 0.3 },
            Cone::PlanarCoulomb { mu: 0.0 },
            Cone::Pyramid { mu: 0.3, facets: 5, first: 0.1 },
        ];
        let cones: Vec<Cone> = (0..blocks).map(|_| all[random.below(6)]).collect();
        let m: usize = cones.iter().map(Cone::rows).sum();
        let mut a = random.numbers(m * m);
        for i in 0..m {
            for k in 0..m {
                if sparse && i.abs_diff(k) > 1 {
                    a[i * m + k] = 0.0;
                }
                if symmetric && k < i {
                    a[i * m + k] = a[k * m + i];
                }
            }
        }
        let b: Vec<f64> = (0..m).map(|_| random.number() * 10f64.powi(random.below(600) as i32 - 300)).collect();
        let record = Record::new("random", Statement::Complementarity(Problem::dense(&a, &b, &cones).unwrap()));
        for again in there_and_back(&record) {
            let Statement::Complementarity(problem) = &again.statement else { panic!() };
            let mut found = vec![0.0; m * m];
            problem.delassus().block(0..m, 0..m, &mut found);
            prop_assert_eq!(bits(&found), bits(&a));
            prop_assert_eq!(bits(problem.b()), bits(&b));
            prop_assert_eq!(problem.cones(), &cones[..]);
        }
    }

    #[test]
    fn no_text_panics(seed in any::<u64>()) {
        // A good text with one byte changed, or cut off.
        let mut random = Random(seed);
        let record = Record::new("good", random_kkt(&mut random, 3, 2));
        let mut text = record.write(Layout::Single).unwrap().header.into_bytes();
        let at = random.below(text.len());
        if random.below(4) == 0 {
            text.truncate(at);
        } else {
            text[at] = b"0123456789-.e{}[]\", \nxW"[random.below(23)];
        }
        let _ = Record::read(&String::from_utf8(text).unwrap(), none);
    }
}

#[test]
fn everything_else_comes_back_too() {
    let mut system = KktSystem::dense(&[1.0, 0.0, 0.0, 2.0], &[1.0, 1.0], &[0.0]).unwrap();
    system.fixed[1] = true;
    system.bounds[0] = (f64::NAN, INF);
    let mut record = Record::new("a name", system);
    record.about = "quotes \" and \\ and\nlines".into();
    record.source = "somewhere".into();
    record.expected = Expected::Incompatible;
    record.answers = vec![
        Answer {
            x: vec![1.0, INF],
            mu: vec![0.1],
            tolerance: 1e-9,
            ..Answer::default()
        },
        Answer::default(),
    ];
    for again in there_and_back(&record) {
        assert_eq!(
            (&again.name, &again.about, &again.source),
            (&record.name, &record.about, &record.source)
        );
        assert_eq!(
            (again.expected, &again.answers),
            (record.expected, &record.answers)
        );
        assert!(system_of(&again).bounds[0].0.is_nan());
    }
}

const HEADER: &str = r#"{"format": "pliant-problem", "version": 1, "kind": "kkt", "c": [1, 2], "b": [],
"W": {"lines": [WWW]}, "J": {"lines": ["%%MatrixMarket matrix coordinate real general", "0 2 0"]},
"R": {"lines": ["%%MatrixMarket matrix coordinate real symmetric", "0 0 0"]}}"#;

/// The error message for a header with these lines as `W`.
fn complaint(lines: &[&str]) -> String {
    let quoted: Vec<String> = lines.iter().map(|l| format!("{l:?}")).collect();
    match Record::read(&HEADER.replace("WWW", &quoted.join(",")), none) {
        Ok(_) => "good".into(),
        Err(error) => error.to_string(),
    }
}

#[test]
fn bad_matrices_are_named_with_their_line() {
    const SYMMETRIC: &str = "%%MatrixMarket matrix coordinate real symmetric";
    const GENERAL: &str = "%%MatrixMarket matrix coordinate real general";
    const ARRAY: &str = "%%MatrixMarket matrix array real general";
    for (lines, words) in [
        (
            &[SYMMETRIC, "% a comment", "", "2 2 2", "1 1 1.5", "2 2 2"][..],
            "good",
        ),
        (
            &[
                "%%matrixmarket MATRIX Coordinate Integer Symmetric",
                "2 2 1",
                "1 1 3",
            ],
            "good",
        ),
        (&[GENERAL, "2 2 3", "1 1 1", "1 2 5", "2 1 5"], "good"),
        (&[ARRAY, "2 2", "1", "2", "2", "1e0"], "good"),
        (
            &["%%MatrixMarket matrix array real symmetric", "2 2", "1", "2", "3"],
            "good",
        ),
        (&[], "line 1 of `W`: `` is no Matrix Market banner"),
        (&["hello"], "line 1 of `W`: `hello` is no Matrix Market banner"),
        (
            &["%%MatrixMarket matrix coordinate complex general"],
            "`complex` matrices are not read",
        ),
        (
            &["%%MatrixMarket matrix coordinate real hermitian"],
            "`hermitian` matrices are not read",
        ),
        (
            &["%%MatrixMarket matrix pile real general"],
            "`pile` matrices are not read",
        ),
        (&[SYMMETRIC], "line 1 of `W`: the line of sizes is missing"),
        (
            &[SYMMETRIC, "2 2"],
            "line 2 of `W`: expected 3 numbers, found 2 words",
        ),
        (&[SYMMETRIC, "-2 2 1"], "line 2 of `W`: `-2` is no size"),
        (
            &[SYMMETRIC, "2 2 99999999999999999999"],
            "`99999999999999999999` is no size",
        ),
        (&[SYMMETRIC, "2147483647 2147483647 1"], "`2147483647` is no size"),
        (&[SYMMETRIC, "2 3 1"], "a symmetric matrix cannot be 2 x 3"),
        (
            &[SYMMETRIC, "2 2 2", "1 1 1"],
            "line 3 of `W`: the text ends after 1 of 2 entries",
        ),
        (
            &[SYMMETRIC, "2 2 1", "1 1 1", "2 2 1"],
            "line 4 of `W`: more than the 1 entries",
        ),
        (
            &[SYMMETRIC, "2 2 1", "3 1 1"],
            "line 3 of `W`: `3` is no index between 1 and 2",
        ),
        (&[SYMMETRIC, "2 2 1", "0 1 1"], "`0` is no index"),
        (&[SYMMETRIC, "2 2 1", "-1 1 1"], "`-1` is no index"),
        (&[SYMMETRIC, "2 2 1", "1 1 one"], "`one` is no number"),
        (&[SYMMETRIC, "2 2 1", "1 1"], "expected 3 numbers, found 2 words"),
        (
            &[SYMMETRIC, "2 2 1", "1 2 1"],
            "line 3 of `W`: entry (1, 2) is above the diagonal",
        ),
        (
            &[SYMMETRIC, "2 2 3", "2 1 1", "1 1 1", "2 1 1"],
            "line 5 of `W`: entry (2, 1) was given in line 3 already",
        ),
        (
            &[GENERAL, "2 2 2", "1 1 1", "1 2 5"],
            "`W` is to be symmetric, but entries (1, 2) and (2, 1) differ",
        ),
        (&[SYMMETRIC, "3 3 1", "1 1 1"], "`W` is 3 x 3, expected 2 x 2"),
        (
            &[ARRAY, "2 2", "1", "2", "2"],
            "the text ends after 3 of 4 entries",
        ),
        (
            &[ARRAY, "2 2", "1", "2", "2", "4", "5"],
            "line 7 of `W`: more than the 4 entries",
        ),
        // Sizes that would take 16 GB, or 4 billion GB, are refused before they are taken.
        (&[GENERAL, "2147483646 2147483646 1", "1 1 1"], "expected 2 x 2"),
        (
            &[ARRAY, "2147483646 2147483646", "1"],
            "the text ends after 1 of 4611686009837453316 entries",
        ),
    ] {
        let said = complaint(lines);
        assert!(said.contains(words), "{lines:?}: {said}");
    }
    // NaN is a number: a failing solve may hold it.
    assert_eq!(complaint(&[SYMMETRIC, "2 2 1", "1 1 nan"]), "good");
}

#[test]
fn bad_headers_say_what_is_wrong() {
    let good = HEADER.replace(
        "WWW",
        r#""%%MatrixMarket matrix coordinate real symmetric", "2 2 0""#,
    );
    for (from, to, words) in [
        ("", "", "good"),
        (
            "\"pliant-problem\"",
            "\"other\"",
            "the header has the format `other`",
        ),
        (
            "\"version\": 1",
            "\"version\": 2",
            "the header has version 2; this program reads up to 1",
        ),
        ("\"kkt\"", "\"kk\"", "line 1, column"),
        ("\"c\":", "\"C\":", "unknown field `C`"),
        ("\"c\": [1, 2], ", "", "needs the field `c`"),
        (
            "\"b\": []",
            "\"b\": [\"two\"]",
            "expected a number, \"inf\", \"-inf\" or \"nan\"",
        ),
        (
            "\"b\": []",
            "\"b\": [], \"cones\": []",
            "a problem of kind `kkt` has no field `cones`",
        ),
        ("\"b\": []", "\"b\": [], \"b\": []", "duplicate field `b`"),
        (
            "\"b\": []",
            "\"b\": [], \"fixed\": [2]",
            "`fixed` names the index 2, but there are 2",
        ),
        (
            "\"b\": []",
            "\"b\": [], \"bounds\": [[0, 1]]",
            "`bounds` has 1 entries, expected 0",
        ),
        (
            "\"b\": []",
            "\"b\": [], \"b_rounding\": [0]",
            "`b_rounding` has 1 entries, expected 0",
        ),
        (
            "\"b\": []",
            "\"b\": [], \"blocks\": [0, 3]",
            "expected primal blocks of length 2, found 3",
        ),
        ("\"b\": []", "\"b\": [], \"blocks\": [0, 2, 1]", "primal blocks"),
        ("\"b\": []", "\"b\": [], \"blocks\": []", "primal blocks"),
        (
            "\"c\": [1, 2]",
            "\"c\": [1, 2, 3]",
            "`W` is 2 x 2, expected 3 x 3",
        ),
        ("0 0 0\"]}}", "0 0 0\"]}", "EOF while parsing"),
    ] {
        let said = match Record::read(&good.replacen(from, to, 1), none) {
            Ok(_) => "good".into(),
            Err(error) => error.to_string(),
        };
        assert!(said.contains(words), "{to}: {said}");
    }
    for name in ["../secret", "/etc/passwd", "a\\b", "", ".hidden", "c:x"] {
        let header = good.replacen(
            r#""W": {"lines": ["#,
            &format!(r#""W": {{"file": {name:?}}}, "x": {{"lines": ["#),
            1,
        );
        let header = header.replacen(
            r#", "x": {"lines": ["%%MatrixMarket matrix coordinate real symmetric", "2 2 0"]}"#,
            "",
            1,
        );
        let error = Record::read(&header, none).unwrap_err();
        assert!(matches!(error, ExchangeError::Name { .. }), "{name}: {error}");
    }
    let missing = good.replacen(
        r#"{"lines": ["%%MatrixMarket matrix coordinate real symmetric", "2 2 0"]}"#,
        r#"{"file": "w.mtx"}"#,
        1,
    );
    assert_eq!(
        Record::read(&missing, none).unwrap_err().to_string(),
        "the matrix w.mtx: no w.mtx"
    );
}

#[test]
fn a_system_whose_vectors_do_not_fit_is_not_written() {
    let mut system = KktSystem::dense(&[1.0], &[], &[]).unwrap();
    system.c.push(1.0);
    let error = Record::new("x", system).write(Layout::Single).unwrap_err();
    assert_eq!(error.to_string(), "`c` has 2 entries, expected 1");
    let system = KktSystem::dense(&[1.0], &[], &[]).unwrap();
    let error = Record::new("a/b", system).write(Layout::Separate).unwrap_err();
    assert!(matches!(error, ExchangeError::Name { .. }));
}

/// A problem that failed is written as the system and its rows, and read again it is factored as it
/// was; where rows share compliance it is written by its entries. Either way the operator is the
/// dense one, fixed variables among it.
#[test]
fn what_is_written_of_an_operator_is_the_operator() {
    let mut random = Random(11);
    let (mut s, rows) = chain(&mut random, 7, 11);
    (6..12).for_each(|i| s.fixed[i] = true);
    let blocks: Vec<usize> = (0..=33).step_by(3).collect();
    let b = random.numbers(33);
    for kind in ["complementarity", "mixed"] {
        if kind == "mixed" {
            // Every row has a compliance of its own.
            for i in 0..s.m() {
                for slot in s.r.pattern().row_slots(i) {
                    let own = s.r.pattern().indices()[slot] as usize == i;
                    s.r.values_mut()[slot] *= if own { 1.0 + i as f64 } else { 0.0 };
                }
            }
        }
        let operator = SaddleDelassus::new(&s, &rows, &blocks).unwrap();
        let problem = Problem::new(operator, b.clone(), vec![Cone::Coulomb { mu: 0.4 }; 11]).unwrap();
        let record = Record::new("failed", Statement::of(&problem).unwrap());
        assert_eq!(record.statement.kind(), kind);
        let texts = record.write(Layout::Single).unwrap();
        let again = Record::read(&texts.header, |name| Err(name.to_owned())).unwrap();
        let condensed;
        let found = match &again.statement {
            Statement::Complementarity(problem) => problem,
            Statement::Mixed(mixed) => {
                condensed = mixed.condense().unwrap();
                &condensed.problem
            }
            Statement::Kkt(_) => panic!("{kind}"),
        };
        let saddle = matches!(found.delassus().form(), Form::Saddle { .. });
        assert_eq!(saddle, kind == "mixed");
        // Exactly: there is nothing that moves without impulses.
        assert_eq!((found.b(), found.cones()), (&b[..], problem.cones()));
        let exact = problem.to_dense();
        let mut a = vec![0.0; 33 * 33];
        found.delassus().block(0..33, 0..33, &mut a);
        // Diagonally dominant: conditions of tens.
        let far = nalgebra::DMatrix::from_row_slice(33, 33, &a) - &exact;
        assert!(far.amax() < 1e-13 * exact.amax(), "{kind}: {:e}", far.amax());
    }
}
