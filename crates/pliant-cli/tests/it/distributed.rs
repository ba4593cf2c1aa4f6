//! `pliant run --distributed`: the same results on any number of processes.

#[cfg(not(feature = "petsc"))]
#[test]
fn runs_over_mpi_are_not_tested_without_the_feature_petsc_and_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let file = crate::scene("net.ron");
    let refused = crate::pliant(dir.path(), &["run", file.to_str().unwrap(), "--distributed"]);
    assert_eq!(refused.status.code(), Some(2));
    let message = crate::err(&refused);
    assert!(
        message.contains("built without PETSc") && message.contains("--features petsc"),
        "{message}"
    );
    assert!(!dir.path().join("out").exists());
}

#[cfg(feature = "petsc")]
mod over_mpi {
    use crate::{err, pliant, scene, write};
    use serde_json::Value;
    use std::fs;
    use std::path::Path;
    use std::process::{Command, Output, Stdio};
    use std::time::{Duration, Instant};

    /// Runs differ by what linear solvers leave, 1e-9 of their terms, over a fraction of a second.
    const SAME: f64 = 1e-8;

    fn mpirun(dir: &Path, processes: usize, arguments: &[&str]) -> Command {
        let mut command = Command::new("mpirun");
        command
            .current_dir(dir)
            .env("OMPI_ALLOW_RUN_AS_ROOT", "1")
            .env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")
            // Beyond the number of cores processes must not spin while they wait.
            .env("OMPI_MCA_mpi_yield_when_idle", "1")
            .args(["--oversubscribe", "-n", &processes.to_string()])
            .arg(env!("CARGO_BIN_EXE_pliant"))
            .args(["run", "--distributed", "--threads", "1"])
            .args(arguments);
        command
    }

    fn output(dir: &Path, processes: usize, arguments: &[&str]) -> Output {
        mpirun(dir, processes, arguments).arg("--quiet").output().unwrap()
    }

    fn result(dir: &Path, out: &str) -> Value {
        serde_json::from_slice(&fs::read(dir.join(out).join("result.json")).unwrap()).unwrap()
    }

    fn numbers(value: &Value, out: &mut Vec<f64>) {
        match value {
            Value::Number(n) => out.push(n.as_f64().unwrap()),
            Value::Array(list) => list.iter().for_each(|v| numbers(v, out)),
            Value::Object(map) => map.values().for_each(|v| numbers(v, out)),
            _ => {}
        }
    }

    /// The largest difference of the positions of all nodes, over the largest of them.
    fn difference(a: &Value, b: &Value) -> f64 {
        let positions = |result: &Value| {
            let mut out = Vec::new();
            for node in result["state"].as_object().unwrap().values() {
                numbers(&node["positions"], &mut out);
            }
            out
        };
        let (a, b) = (positions(a), positions(b));
        assert_eq!(a.len(), b.len());
        let largest = |values: &mut dyn Iterator<Item = f64>| values.fold(0.0f64, |a, x| a.max(x.abs()));
        largest(&mut a.iter().zip(&b).map(|(a, b)| a - b)) / largest(&mut a.iter().copied())
    }

    /// Runs a scene without and with MPI and compares; returns the results of two processes.
    fn compare(text: &str) -> Value {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("meshes")).unwrap();
        for mesh in ["net.obj", "cook.inp", "bowl.obj"] {
            let mesh = Path::new("meshes").join(mesh);
            fs::copy(scene("").join(&mesh), dir.path().join(&mesh)).unwrap();
        }
        let file = write(dir.path(), "scene.ron", text);
        let serial = pliant(dir.path(), &["run", &file, "--quiet", "--out", "serial"]);
        assert!(serial.status.success(), "{}", err(&serial));
        let serial = result(dir.path(), "serial");
        for processes in [4, 2] {
            let out = processes.to_string();
            let spread = output(dir.path(), processes, &[&file, "--out", &out]);
            assert!(spread.status.success(), "{}", err(&spread));
            let found = result(dir.path(), &out);
            assert_eq!(found["processes"], processes);
            let files = |out: &str| {
                let names = fs::read_dir(dir.path().join(out)).unwrap();
                let mut names: Vec<_> = names.map(|f| f.unwrap().file_name()).collect();
                names.sort();
                names
            };
            assert_eq!(files("serial"), files(&out));
            let apart = difference(&serial, &found);
            assert!(apart <= SAME, "{processes} processes: {apart:e}");
            assert_eq!(found["statics"]["iterations"], serial["statics"]["iterations"]);
            assert!(
                found["residual"]["worst"].as_f64().unwrap()
                    <= 1.01 * serial["residual"]["worst"].as_f64().unwrap().max(1e-9)
            );
        }
        result(dir.path(), "2")
    }

    fn beam(run: &str, young: f64) -> String {
        format!(
            "(gravity: (0, 0, -9.81), run: ({run}), nodes: [Solid(name: \"beam\",
                shape: Box(size: (1, 0.1, 0.1), cells: (20, 2, 2)), elements: Quadratic,
                material: Corotational(young: {young:e}, poisson: 0), density: 1000,
                fix_boxes: [((-0.01, -1, -1), (1e-6, 1, 1))])])"
        )
    }

    #[test]
    fn a_solid_cantilever_moves_the_same() {
        let found = compare(&beam("duration: 0.06, step: 0.02", 1e7));
        assert_eq!(found["solver"], "L D L^T of MUMPS over MPI");
        // 27 points in each of 80 hexahedra, gradients and strains.
        assert_eq!(found["shared_elements"], 2 * 27 * 80);
    }

    #[test]
    fn soft_solids_in_contact_share_their_elements() {
        let text = fs::read_to_string(scene("soft_balls.ron")).unwrap();
        let from = text.find("duration: ").unwrap();
        let to = from + text[from..].find([',', ')']).unwrap();
        let found = compare(&format!("{}duration: 0.02{}", &text[..from], &text[to..]));
        assert_eq!(found["shared_elements"], 768);
        assert_eq!(found["solved_alone"], serde_json::json!(["steps with contacts"]));
    }

    #[test]
    fn a_solid_cantilever_rests_where_beam_theory_says() {
        let found = compare(&beam("duration: 1, statics: ()", 1e9));
        let mut z = Vec::new();
        for place in found["state"]["beam"]["positions"].as_array().unwrap() {
            z.push(place[2].as_f64().unwrap());
        }
        let lowest = z.iter().fold(0.0f64, |a, z| a.min(*z));
        // Timoshenko: w = q L^4 / 8 E I + q L^2 / 2 k G A with q = rho g A, k = 5/6, G = E/2.
        let (q, e, i, area) = (1000.0 * 9.81 * 0.01, 1e9, 1e-4 / 12.0, 0.01);
        let sag = q / (8.0 * e * i) + q / (2.0 * 5.0 / 6.0 * 0.5 * e * area);
        let (found, solver) = (-lowest, &found["solver"]);
        assert_eq!(solver, "L D L^T of MUMPS over MPI");
        // The clamp holds all of the section, which theory does not: less than 1 % here.
        assert!((found / sag - 1.0).abs() < 0.01, "{found:e} {sag:e}");
    }

    #[test]
    fn the_membrane_of_cook_rests_the_same() {
        let text = fs::read_to_string(scene("cook.ron")).unwrap();
        let from = text.find("statics: (").unwrap();
        let to = from + text[from..].find(')').unwrap() + 1;
        let found = compare(&format!("{}statics: (){}", &text[..from], &text[to..]));
        // It is held in its plane, across which compression would bend it.
        assert_eq!(found["statics"]["negative_modes"], serde_json::json!([0]));
    }

    #[test]
    fn nets_rods_and_redundant_loops_move_the_same() {
        for (name, duration) in [
            ("net", 0.1),
            ("heavy_cable", 0.1),
            ("beam", 0.1),
            ("four_bar", 0.2),
            ("bricard", 0.2),
        ] {
            let text = fs::read_to_string(scene(&format!("{name}.ron"))).unwrap();
            let from = text.find("duration: ").unwrap();
            let to = from + text[from..].find([',', ')']).unwrap();
            let found = compare(&format!("{}duration: {duration}{}", &text[..from], &text[to..]));
            let redundant = match name {
                "four_bar" => 3,
                "bricard" => 1,
                _ => 0,
            };
            assert_eq!(found["redundant_rows"], redundant);
            let alone = &found["solved_alone"][0];
            assert_eq!(*alone == "systems with redundant rows", redundant > 0, "{alone}");
        }
    }

    const CHAIN: &str = "(gravity: (0, -9.81, 0), run: (duration: 0.1, step: 0.01), nodes: [
        Bodies(name: \"links\", bodies: [(repeat: 60, position: (\"0.1 * $i + 0.05\", 0, 0),
            shape: Box(0.1, 0.02, 0.02), mass: 1)])],
        joints: [(name: \"top\", kind: Ball, b: Body(\"links\", 0), at: (0, 0, 0)),
            (name: \"pin $i\", repeat: 59, kind: Ball, a: Body(\"links\", \"$i\"), b: Body(\"links\", \"$i + 1\"),
             at: (\"0.1 * $i + 0.1\", 0, 0))])";

    #[test]
    fn a_chain_of_hard_joints_moves_the_same() {
        compare(CHAIN);
    }

    #[test]
    fn a_checkpoint_goes_on_with_another_number_of_processes() {
        go_on_over_another_number(&CHAIN.replace("duration: 0.1", "duration: 0.4"));
    }

    #[test]
    fn a_checkpoint_of_shared_elements_goes_on_with_another_number_of_processes() {
        go_on_over_another_number(&beam("duration: 0.4, step: 0.01", 1e7));
    }

    /// Kills a run of 40 steps over two processes, and goes on over three.
    fn go_on_over_another_number(text: &str) {
        let dir = tempfile::tempdir().unwrap();
        let file = write(dir.path(), "scene.ron", text);
        let serial = pliant(dir.path(), &["run", &file, "--quiet", "--out", "serial"]);
        assert!(serial.status.success(), "{}", err(&serial));
        // A run that is killed as a whole after its first checkpoints.
        let every = ["--out", "spread", "--checkpoint-every", "2steps"];
        let mut child = mpirun(dir.path(), 2, &[&[&file[..]], &every[..]].concat())
            .arg("--quiet")
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let checkpoint = dir.path().join("spread/checkpoint.pliant");
        wait_for(&checkpoint);
        kill_one_process(&mut child);
        let ended = child.wait_with_output().unwrap();
        assert!(!ended.status.success());
        let said = String::from_utf8_lossy(&ended.stderr).into_owned();
        assert!(said.contains("mpirun"), "{said}");
        assert!(!dir.path().join("spread/result.json").exists());
        let resumed = output(dir.path(), 3, &[&file, "--out", "spread", "--resume"]);
        assert!(resumed.status.success(), "{}", err(&resumed));
        let [serial, spread] = ["serial", "spread"].map(|out| result(dir.path(), out));
        assert_eq!(spread["steps"], 40);
        let apart = difference(&serial, &spread);
        assert!(apart <= SAME, "{apart:e}");
        // A run alone goes on from it as well, and says what it has to go on from.
        let again = pliant(
            dir.path(),
            &["run", &file, "--quiet", "--out", "spread", "--resume"],
        );
        assert_eq!(again.status.code(), Some(2), "{}", err(&again));
    }

    fn wait_for(path: &Path) {
        let start = Instant::now();
        while !path.exists() {
            assert!(start.elapsed() < Duration::from_secs(60), "no {}", path.display());
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    /// Kills one of the processes that `mpirun` has started, at once and without a word to it.
    fn kill_one_process(mpirun: &mut std::process::Child) {
        let listed = format!("/proc/{0}/task/{0}/children", mpirun.id());
        let children = fs::read_to_string(listed).unwrap();
        let last = children.split_whitespace().last().unwrap();
        let killed = Command::new("kill").args(["-9", last]).status().unwrap();
        assert!(killed.success());
    }

    #[test]
    fn what_is_not_spread_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let body =
            "nodes: [Bodies(name: \"a\", bodies: [(position: (0, 0, 0), shape: Box(1, 1, 1), mass: 1)])]";
        for (run, what) in [
            (
                "duration: 0.1, statics: (method: DynamicRelaxation)",
                "`--distributed` does not take dynamic relaxation",
            ),
            (
                "duration: 0.1, integrator: RungeKutta4",
                "`--distributed` does not take an explicit method",
            ),
        ] {
            let file = write(dir.path(), "scene.ron", &format!("(run: ({run}), {body})"));
            let refused = output(dir.path(), 2, &[&file]);
            assert_eq!(refused.status.code(), Some(2), "{}", err(&refused));
            assert!(err(&refused).contains(what), "{}", err(&refused));
            assert_eq!(err(&refused).matches(what).count(), 1, "one process speaks");
        }
    }

    #[test]
    fn contacts_and_forces_with_bounds_are_solved_by_each_process_and_said_to_be() {
        let cut = |name: &str, duration: f64| {
            let text = fs::read_to_string(scene(&format!("{name}.ron"))).unwrap();
            let from = text.find("duration: ").unwrap();
            let to = from + text[from..].find([',', ')']).unwrap();
            format!("{}duration: {duration}{}", &text[..from], &text[to..])
        };
        let found = compare(&cut("stack", 0.2));
        assert_eq!(found["solved_alone"], serde_json::json!(["steps with contacts"]));
        assert_eq!(found["solver"], "sparse L D L^T, active set");
        assert!(found["contacts"]["most_active"].as_f64().unwrap() > 0.0);
        let found = compare(&cut("servo_arm", 0.2));
        assert_eq!(
            found["solved_alone"],
            serde_json::json!(["steps with rows of bounded force"])
        );
    }

    #[test]
    fn a_path_of_equilibria_is_that_of_a_run_alone() {
        let found = compare(&fs::read_to_string(scene("cook.ron")).unwrap());
        assert_eq!(found["solved_alone"], serde_json::json!(["paths of equilibria"]));
    }

    #[test]
    fn the_summary_names_the_processes_and_the_solver() {
        let dir = tempfile::tempdir().unwrap();
        let file = write(dir.path(), "scene.ron", &beam("duration: 1, statics: ()", 1e9));
        for verbose in [false, true] {
            let more = verbose.then_some("--verbose");
            let run = mpirun(dir.path(), 2, &[&file, "--out", "out"])
                .args(more)
                .output()
                .unwrap();
            assert!(run.status.success(), "{}", err(&run));
            let said = String::from_utf8_lossy(&run.stdout).into_owned();
            assert!(
                said.contains("2; last solved by L D L^T of MUMPS over MPI"),
                "{said}"
            );
        }
    }
}
