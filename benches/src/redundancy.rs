//! Mechanisms with redundant rows, and the same with compliance: the cost of finding them.

use crate::timing::clock;
use pliant::prelude::*;

/// How the four-bars stand to each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrangement {
    /// Each on two pins of its own.
    Apart,
    /// Neighbours share an arm: one mechanism of many loops.
    InARow,
}

/// Parallelograms of two arms of 1 m and 1 kg and a coupler of 2 m and 2 kg, on hinges in space
/// about z, let go with their arms at an angle.
#[derive(Clone, Copy, Debug)]
pub struct FourBars {
    /// Loops.
    pub count: usize,
    /// How they stand to each other.
    pub arrangement: Arrangement,
    /// Compliance of every held coordinate of every hinge (m/N, rad/(N m)). With zero, three rows
    /// of every loop are redundant.
    pub compliance: f64,
    /// Angle of the arms from straight down (rad).
    pub angle: f64,
}

impl FourBars {
    /// The mechanisms as a simulation.
    ///
    /// # Errors
    /// A model that could not be built.
    pub fn simulation(&self) -> Result<Simulation, Error> {
        let mut model = Model::new();
        model.set_gravity([0.0, -9.81, 0.0])?;
        let (sine, cosine) = self.angle.sin_cos();
        // Between the feet of one loop, and between those of two loops.
        let (width, gap) = (2.0, 3.0);
        let feet: Vec<f64> = match self.arrangement {
            Arrangement::InARow => (0..=self.count).map(|i| width * i as f64).collect(),
            Arrangement::Apart => (0..self.count)
                .flat_map(|i| [gap * i as f64, gap * i as f64 + width])
                .collect(),
        };
        let first = |k: usize| match self.arrangement {
            Arrangement::InARow => k,
            Arrangement::Apart => 2 * k,
        };
        let arms: Vec<Pose> = feet
            .iter()
            .map(|x| Pose::turned([x + 0.5 * sine, -0.5 * cosine, 0.0], [0.0, 0.0, 1.0], self.angle))
            .collect();
        let couplers: Vec<Pose> = (0..self.count)
            .map(|k| Pose::at([feet[first(k)] + 0.5 * width + sine, -cosine, 0.0]))
            .collect();
        let arms = model.add_rigid_bodies("arms", &arms)?;
        let couplers = model.add_rigid_bodies("couplers", &couplers)?;
        let arm = RigidMass::cuboid(1.0, [0.06, 1.0, 0.06]);
        model.add_mass("masses of arms", arms, Mass::Rigid(vec![arm; feet.len()]))?;
        let coupler = RigidMass::cuboid(2.0, [width, 0.06, 0.06]);
        let masses = Mass::Rigid(vec![coupler; self.count]);
        model.add_mass("masses of couplers", couplers, masses)?;
        let mut add = |name: String, hinge: Joint, at: [f64; 3]| {
            let hinge = hinge.at(Pose::at(at));
            let hinge = if self.compliance > 0.0 {
                hinge.with_compliance(&[self.compliance], 0.0)
            } else {
                hinge
            };
            model.add_joint(&name, &hinge)
        };
        for (i, x) in feet.iter().enumerate() {
            let foot = Joint::hinge(Side::World, Side::Body(arms, i));
            add(format!("foot {i}"), foot, [*x, 0.0, 0.0])?;
        }
        for k in 0..self.count {
            for end in [first(k), first(k) + 1] {
                let pin = Joint::hinge(Side::Body(arms, end), Side::Body(couplers, k));
                add(format!("pin {k} {end}"), pin, [feet[end] + sine, -cosine, 0.0])?;
            }
        }
        Simulation::with_options(model, Options::theta())
    }
}

/// One of two alike, with hard rows and with compliant ones.
#[derive(Clone, Copy, Debug)]
pub struct Cost {
    /// Median time (s).
    pub time: f64,
    /// Iterations of a search; 0 of a linear step.
    pub iterations: usize,
    /// Redundant rows that were found.
    pub redundant: usize,
}

/// Searches for rest from the start, several times each in turn.
///
/// # Errors
/// The error of a model or of a search.
pub fn statics(both: [FourBars; 2], times: usize) -> Result<[Cost; 2], Error> {
    in_turn(both, times, |simulation| {
        let report = simulation.find_equilibrium(&Equilibrium::default())?;
        Ok((report.iterations, report.redundant_rows))
    })
}

/// Steps of 0.01 s, each in turn.
///
/// # Errors
/// The error of a model or of a step.
pub fn dynamics(both: [FourBars; 2], options: &Options, times: usize) -> Result<[Cost; 2], Error> {
    in_turn(both, times, |simulation| {
        simulation.options = options.clone();
        let report = simulation.step(0.01)?;
        Ok((report.solve.iterations, report.solve.redundant_rows))
    })
}

/// Times a task on both from their start, over and over. The first time plans and does not count.
fn in_turn(
    both: [FourBars; 2],
    times: usize,
    task: impl Fn(&mut Simulation) -> Result<(usize, usize), Error>,
) -> Result<[Cost; 2], Error> {
    let mut simulations = [both[0].simulation()?, both[1].simulation()?];
    let starts = [simulations[0].checkpoint(), simulations[1].checkpoint()];
    let mut passed = [Vec::new(), Vec::new()];
    let mut found = [(0, 0); 2];
    for turn in 0..=times {
        for which in 0..2 {
            let simulation = &mut simulations[which];
            simulation.restore(&starts[which])?;
            let (time, done) = clock(|| task(simulation));
            found[which] = done?;
            if turn > 0 {
                passed[which].push(time);
            }
        }
    }
    let [hard, soft] = passed.map(|mut times| {
        times.sort_by(f64::total_cmp);
        times[times.len() / 2]
    });
    let cost = |time, (iterations, redundant)| Cost {
        time,
        iterations,
        redundant,
    };
    Ok([cost(hard, found[0]), cost(soft, found[1])])
}
