//! Files of markers: the two formats, and their complaints.

use pliant_run::inverse_kinematics::MarkerFile;

const TRC: &str = "PathFileType\t4\t(X/Y/Z)\twalk.trc\n\
    DataRate\tCameraRate\tNumFrames\tNumMarkers\tUnits\tOrigDataRate\tOrigDataStartFrame\tOrigNumFrames\n\
    60\t60\t2\t2\tmm\t60\t1\t2\n\
    Frame#\tTime\theel\t\t\ttoe\t\t\n\
    \t\tX1\tY1\tZ1\tX2\tY2\tZ2\n\
    \n\
    1\t0\t10\t20\t30\t1\t2\t3\n\
    2\t0.5\t\t\t\t4\t5\t-6.5\n";

#[test]
fn a_trc_file() {
    let file = MarkerFile::from_text(TRC).unwrap();
    assert_eq!(file.names, ["heel", "toe"]);
    assert_eq!(file.frames.len(), 2);
    let near = |a: Option<[f64; 3]>, b: [f64; 3]| {
        let a = a.unwrap();
        (0..3).all(|k| (a[k] - b[k]).abs() < 1e-15)
    };
    assert!(near(file.frames[0].places[0], [0.01, 0.02, 0.03]));
    assert_eq!(file.frames[1].places[0], None);
    assert!(near(file.frames[1].places[1], [0.004, 0.005, -0.0065]));
    assert_eq!(file.frames[1].time, 0.5);
}

#[test]
fn columns_of_other_things_are_passed_over() {
    let text = "time_s,p.x_m,p.y_m,toe.x_m,toe.y_m,toe.z_m,f.x_N,f.y_N,f.z_N\n0,7,8,1,2,3,4,5,6\n";
    let file = MarkerFile::from_text(text).unwrap();
    assert_eq!(file.names, ["toe"]);
    assert_eq!(file.passed_over, ["p", "f"]);
    assert_eq!(file.frames[0].places, [Some([1.0, 2.0, 3.0])]);
}

#[test]
fn trc_files_that_are_cut_are_errors() {
    for (text, line, part) in [
        (
            TRC[..TRC.find("2\t0.5").unwrap()].to_owned(),
            3,
            "1 frames, but `NumFrames` is 2",
        ),
        (
            TRC.replace("\t\tX1\tY1\tZ1\tX2\tY2\tZ2\n", ""),
            6,
            "should begin with `X1`",
        ),
        (TRC.replace("5\t-6.5", "5"), 8, "ends within a marker"),
    ] {
        let error = MarkerFile::from_text(&text).unwrap_err();
        assert_eq!(error.line, line, "{error}\n{text}");
        assert!(error.message.contains(part), "{error}\n{text}");
    }
}

#[test]
fn a_table() {
    let text = "time_s,b[1].x_m,b[1].y_m,b[1].z_m,arm.angle_rad,toe.z_mm,toe.x_mm,toe.y_mm\n\
        0,1,2,3,9,30,10,20\n0.1,,,,9,1,2,NaN\n";
    let error = MarkerFile::from_text(text).unwrap_err();
    assert_eq!(error.line, 3);
    assert!(
        error.message.contains("`toe` has some of its three numbers"),
        "{error}"
    );
    let file = MarkerFile::from_text(&text.replace(",NaN", ",3")).unwrap();
    assert_eq!(file.names, ["b[1]", "toe"]);
    assert_eq!(file.frames[0].places[0], Some([1.0, 2.0, 3.0]));
    assert_eq!(
        file.frames[0].places[1],
        Some([10.0 * 1e-3, 20.0 * 1e-3, 30.0 * 1e-3])
    );
    assert_eq!(file.frames[1].places[0], None);
}

#[test]
fn wrong_texts_are_errors_with_their_line() {
    let table = "time_s,a.x_m,a.y_m,a.z_m\n0,1,2,3\n1,1,2,3\n";
    for (text, line, part) in [
        (String::new(), 1, "a table of markers"),
        ("x,y\n".to_owned(), 1, "no column `time_s`"),
        ("time_s,x\n0,1\n".to_owned(), 1, "no marker"),
        (table.replace("_m", "_ft"), 1, "no marker"),
        (table.replace("a.z_m", "b.z_m"), 1, "no marker"),
        (table.replace("a.z_m", "a.x_m"), 1, "two columns `a.x`"),
        (table.replace("\n1,", "\n0,"), 3, "does not come after"),
        (table.replace("\n1,", "\n,"), 3, "no time"),
        (table.replace("0,1,2,3", "0,1,2"), 2, "3 values for 4 columns"),
        (table.replace("0,1,2,3", "0,1,2,inf"), 2, "`inf` is no number"),
        ("time_s,a.x_m,a.y_m,a.z_m\n".to_owned(), 1, "no places"),
        (TRC.replace("toe", "heel"), 1, "two markers `heel`"),
        (TRC.replace("\tmm\t", "\tfeet\t"), 3, "`feet` is no unit"),
        (TRC.replace("Units", "Unit"), 3, "does not say its `Units`"),
        (TRC.replace("\t2\t2\tmm", "\t2\t3\tmm"), 4, "`NumMarkers` is 3"),
        (
            TRC.replace("Frame#\tTime", "Time\tFrame#"),
            4,
            "should begin with `Frame#`",
        ),
        (TRC.replace("-6.5", "-6.5\t7"), 8, "`7` belongs to no marker"),
        (TRC.replace("0.5\t\t", "0.5\t1\t"), 8, "`heel` has some"),
        (
            TRC[..TRC.find("60\t").unwrap()].to_owned(),
            2,
            "the numbers of the file",
        ),
    ] {
        let error = MarkerFile::from_text(&text).unwrap_err();
        assert_eq!(error.line, line, "{error}\n{text}");
        assert!(error.message.contains(part), "{error}\n{text}");
    }
}
