//! A method of your own: the explicit midpoint rule, checked by its order.

use pliant::prelude::*;
use pliant::{Method, Motion, System, Trace};

/// `v_m = v + h/2 a(x, v)`, `x+ = x + h v_m`, `v+ = v + h a(x + h/2 v, v_m)`, for points and other
/// vectors.
#[derive(Debug)]
struct Midpoint;

fn sum(v: &[f64], s: f64, a: &[f64]) -> Vec<f64> {
    v.iter().zip(a).map(|(v, a)| v + s * a).collect()
}

impl Method for Midpoint {
    fn step(
        &mut self,
        system: &mut System,
        start: &Motion,
        h: f64,
        end: &mut Motion,
        trace: &mut Trace,
    ) -> Result<(), Error> {
        let (mut v, mut a) = (Vec::new(), Vec::new());
        system.velocities(&start.state, &mut v);
        let zero = vec![0.0; v.len()];
        system.accelerations(start, start, start.time, h, &mut a)?;
        let (middle, way) = (sum(&v, 0.5 * h, &a), sum(&zero, 0.5 * h, &v));
        system.place(&start.state, &middle, &way, None, &mut end.state)?;
        trace.solved = system.accelerations(start, end, start.time + 0.5 * h, h, &mut a)?;
        let (last, way) = (sum(&v, h, &a), sum(&zero, h, &middle));
        let held = Some(&start.controls.held[..]);
        system.place(&start.state, &last, &way, held, &mut end.state)?;
        system.finish_by_laws(start, h, end, trace);
        Ok(())
    }
}

fn main() -> Result<(), Error> {
    let error = |steps: u32| -> Result<f64, Error> {
        let mut model = Model::new();
        let mass = model.add_particles("mass", &[[1.0, 0.0, 0.0]])?;
        model.add_mass("1 kg", mass, Mass::Uniform(1.0))?;
        model.add_force_field("1 N/m", mass, Spring::linear(1.0), Treatment::Stiffness)?;
        let mut simulation = Simulation::new(model)?;
        for _ in 0..steps {
            simulation.step_with(&mut Midpoint, 1.0 / f64::from(steps))?;
        }
        Ok((simulation.positions(mass)[0] - 1f64.cos()).abs())
    };
    let order = (error(50)? / error(100)?).log2();
    println!("order {order:.3}");
    assert!((order - 2.0).abs() < 0.05, "the rule has order 2");
    Ok(())
}
