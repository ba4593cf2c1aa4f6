//! Tests over MPI. Each starts itself again by `mpirun`; with the variable `PLIANT_OVER_MPI` it is
//! one of those processes.

mod motion;
mod parts;
mod systems;

/// Runs a test of this program on so many processes: the body in each of them, nothing here.
fn over_mpi(test: &str, processes: &[usize], body: impl FnOnce(&pliant_petsc::Session)) {
    const VARIABLE: &str = "PLIANT_OVER_MPI";
    if std::env::var_os(VARIABLE).is_some() {
        let session = pliant_petsc::Session::begin().unwrap();
        body(&session);
        session.barrier().unwrap();
        return;
    }
    for count in processes {
        let ended = std::process::Command::new("mpirun")
            .env(VARIABLE, "1")
            .env("OMPI_ALLOW_RUN_AS_ROOT", "1")
            .env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")
            .env("OMPI_MCA_mpi_yield_when_idle", "1")
            .args(["--oversubscribe", "-n", &count.to_string()])
            .arg(std::env::current_exe().unwrap())
            .args(["--exact", test, "--nocapture", "--test-threads", "1"])
            .output()
            .unwrap();
        let said = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let words = said(&ended.stdout);
        assert!(
            ended.status.success(),
            "{count} processes: {words}{}",
            said(&ended.stderr)
        );
        assert_eq!(words.matches("1 passed").count(), *count, "{words}");
    }
}
