//! Chains and nets in free motion: what a method makes of them, how fast.

use super::Ended;
use pliant::prelude::*;
use pliant_benches::chain::{Chain, Pose};
use pliant_benches::nets::MovingNet;
use pliant_benches::timing::clock;
use std::process::ExitCode;

/// A course of steps, and its watch.
struct Course {
    step: f64,
    duration: f64,
    energy: f64,
    reference_energy: f64,
    rise: f64,
    iterations: usize,
    clamped: usize,
    halved: usize,
    single: usize,
    steps: usize,
    seconds: f64,
    stop: Option<String>,
}

impl Course {
    fn new(step: f64, duration: f64, reference_energy: f64) -> Self {
        Self {
            step,
            duration,
            energy: f64::NAN,
            reference_energy,
            rise: f64::NEG_INFINITY,
            iterations: 0,
            clamped: 0,
            halved: 0,
            single: 0,
            steps: 0,
            seconds: 0.0,
            stop: None,
        }
    }

    /// Takes all steps, and calls `watch` with the time after each.
    fn take<M>(
        &mut self,
        moving: &mut M,
        simulation: impl Fn(&mut M) -> &mut Simulation,
        mut watch: impl FnMut(&M, f64),
    ) {
        let all = (self.duration / self.step).round() as usize;
        let first = simulation(moving);
        self.energy = first.problem().energies(first.state()).total();
        for k in 1..=all {
            let (seconds, taken) = clock(|| simulation(moving).step(self.step));
            self.seconds += seconds;
            match taken {
                Ok(report) => {
                    let energy = report.energies.total();
                    self.rise = self.rise.max((energy - self.energy) / self.reference_energy);
                    self.energy = energy;
                    self.iterations += report.solve.newton.iterations;
                    self.clamped += usize::from(report.solve.geometry_clamped);
                    self.halved += report.solve.newton.step_halvings;
                    self.single += usize::from(report.solve.stages == 1);
                    self.steps += 1;
                    watch(moving, self.step * k as f64);
                }
                Err(e) => {
                    self.stop = Some(format!("stops at {:.3} s: {e}", self.step * k as f64));
                    return;
                }
            }
        }
    }

    fn print(&self, name: &str, found: &str) {
        let per = |n: usize| n as f64 / self.steps.max(1) as f64;
        println!(
            "{name:<44} h {:<7} {found}  rise {:8.1e}  iterations {:4.1}  clamped {:.2}  \
             halvings {}  by one stage {}  {:8.1} steps/s  {}",
            self.step,
            self.rise,
            per(self.iterations),
            per(self.clamped),
            self.halved,
            self.single,
            self.steps as f64 / self.seconds,
            self.stop.as_deref().unwrap_or("")
        );
    }
}

fn options(name: &str) -> Options {
    let mut o = Options::theta();
    match name {
        "linear" => {}
        "sdirk2" => o.integrator = Integrator::Sdirk2,
        "euler" => o.integrator = Integrator::Nonlinear,
        "bdf2" => o.integrator = Integrator::bdf2(),
        "alpha" => o.integrator = Integrator::generalised_alpha(0.8),
        _ => o.integrator = Integrator::Rattle,
    }
    o
}

fn chain(links: usize, mass: f64, method: &str, step: f64, duration: f64) -> Result<(), Error> {
    let mut chain = Chain::new(links, mass, Pose::Swing).simulation()?;
    chain.simulation.options = options(method);
    let mut course = Course::new(step, duration, chain.reference_energy);
    let (mut gap, mut tip) = (0.0f64, [f64::NAN; 3]);
    course.take(
        &mut chain,
        |c| &mut c.simulation,
        |c, t| {
            gap = gap.max(c.gap());
            if (t - 0.5).abs() < 1e-9 {
                tip = c.tip();
            }
        },
    );
    let reference = match (links, mass as usize) {
        (10, 1) => [-0.264550457, -0.861349287],
        (10, 1000) => [0.335173266, -0.941784239],
        (100, 1000) => [9.856167402, -1.22625],
        _ => [f64::NAN; 2],
    };
    let error = (tip[0] - reference[0]).hypot(tip[2] - reference[1]);
    course.print(
        &format!("chain {links} 1:{mass} {method}"),
        &format!("tip at 0.5 s off {error:.2e}  gap {gap:.0e}"),
    );
    Ok(())
}

fn net(side: usize, treatment: Treatment, method: &str, step: f64, duration: f64) -> Result<(), Error> {
    let mut net = MovingNet::new(side, treatment)?;
    net.simulation.options = options(method);
    let mut course = Course::new(step, duration, net.reference_energy);
    let (mut strain, mut heights) = (0.0f64, [f64::NAN; 2]);
    course.take(
        &mut net,
        |n| &mut n.simulation,
        |n, t| {
            strain = strain.max(n.strain());
            for (k, at) in [0.5, 1.0].into_iter().enumerate() {
                if (t - at).abs() < 1e-9 {
                    heights[k] = n.mean_height();
                }
            }
        },
    );
    course.print(
        &format!("net {side} {treatment:?} {method}"),
        &format!("heights {:.5} {:.5}  strain {strain:.3}", heights[0], heights[1]),
    );
    Ok(())
}

/// Prints the table: names of methods choose rows, `chain` and `net` scenes, `h=0.01` the step.
pub(super) fn run(args: &[String]) -> Ended {
    let known = ["linear", "sdirk2", "euler", "bdf2", "alpha", "rattle"];
    let given = |key: &str| args.iter().find_map(|a| a.strip_prefix(key));
    let step = given("h=").map_or(Ok(0.01), str::parse)?;
    let most: usize = given("most=").map_or(Ok(32), str::parse)?;
    let duration = given("t=").map(str::parse::<f64>).transpose()?;
    let has = |name: &str| args.iter().any(|a| a == name);
    let methods = known.iter().filter(|m| has(m) || !known.iter().any(|k| has(k)));
    let scenes = has("chain") || !has("net");
    for method in methods {
        if scenes {
            for (links, mass) in [(10, 1.0), (10, 1000.0), (100, 1000.0)] {
                chain(links, mass, method, step, duration.unwrap_or(5.0))?;
            }
        }
        if has("net") || !has("chain") {
            for side in [16, 32, 64].into_iter().filter(|s| *s <= most) {
                for treatment in [Treatment::Stiffness, Treatment::Compliance, Treatment::Auto] {
                    net(side, treatment, method, step, duration.unwrap_or(3.0))?;
                }
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}
