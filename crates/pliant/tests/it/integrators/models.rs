//! Models with answers independent of the library.

use pliant::prelude::*;

pub(crate) const G: f64 = 9.81;

/// A particle of 1 kg on a hard rod of 1 m, at rest at the horizontal (case B01).
pub(crate) fn pendulum() -> Model {
    let mut model = Model::new();
    model.set_gravity([0.0, -G, 0.0]).unwrap();
    let bob = model.add_particles("bob", &[[1.0, 0.0, 0.0]]).unwrap();
    model.add_mass("m", bob, Mass::Uniform(1.0)).unwrap();
    let length = Distance::to_points(&[(0, [0.0; 3])]).with_rest_lengths(&[1.0]);
    let rod = model.add_mapped("length", &[bob], length).unwrap();
    model.add_constraint("rod", rod, Level::Position).unwrap();
    model
}

/// Position of the pendulum's bob at t = 1 (elliptic functions, case B01).
pub(crate) const PENDULUM_AT_1: [f64; 2] = [-0.9862917511319, -0.1650108531255];

/// A particle of 1 kg on a spring of 1 m and 200 N/m with a dashpot of `damping` (N s/m) along it,
/// from the horizontal with a velocity (case F09).
pub(crate) fn elastic_pendulum(treatment: Treatment, damping: f64) -> Model {
    let mut model = Model::new();
    model.set_gravity([0.0, -G, 0.0]).unwrap();
    let bob = model
        .add_independent("bob", Space::Real(3), &[1.1, 0.0, 0.0], &[0.3, 0.0, 0.5])
        .unwrap();
    model.add_mass("m", bob, Mass::Uniform(1.0)).unwrap();
    let length = Distance::to_points(&[(0, [0.0; 3])]).with_rest_lengths(&[1.0]);
    let length = model.add_mapped("length", &[bob], length).unwrap();
    let law = UniformCompliance::new(1.0 / 200.0).with_relaxation_time(damping / 200.0);
    model.add_force_field("spring", length, law, treatment).unwrap();
    model
}

/// State of the elastic pendulum at a time: the classical Runge-Kutta method with steps of 0.1 ms
/// on its differential equation.
pub(crate) fn elastic_pendulum_at(time: f64, damping: f64) -> [f64; 6] {
    let rate = |s: &[f64; 6]| {
        let l = (s[0] * s[0] + s[1] * s[1] + s[2] * s[2]).sqrt();
        let speed = (s[0] * s[3] + s[1] * s[4] + s[2] * s[5]) / l;
        let force = -(200.0 * (l - 1.0) + damping * speed) / l;
        [s[3], s[4], s[5], force * s[0], force * s[1] - G, force * s[2]]
    };
    runge_kutta([1.1, 0.0, 0.0, 0.3, 0.0, 0.5], time, rate)
}

pub(crate) fn runge_kutta<const N: usize>(
    start: [f64; N],
    time: f64,
    rate: impl Fn(&[f64; N]) -> [f64; N],
) -> [f64; N] {
    let count = (time / 1e-4).round();
    let h = time / count;
    let mut s = start;
    for _ in 0..count as usize {
        let add = |k: &[f64; N], share: f64| std::array::from_fn::<f64, N, _>(|i| s[i] + share * h * k[i]);
        let k1 = rate(&s);
        let k2 = rate(&add(&k1, 0.5));
        let k3 = rate(&add(&k2, 0.5));
        let k4 = rate(&add(&k3, 1.0));
        s = std::array::from_fn(|i| s[i] + h / 6.0 * (k1[i] + 2.0 * k2[i] + 2.0 * k3[i] + k4[i]));
    }
    s
}

/// A free body with principal moments 1, 2, 3 kg m^2 (case C01).
pub(crate) fn top() -> Model {
    let mut model = Model::new();
    let body = model.add_rigid_bodies("top", &[Pose::default()]).unwrap();
    model
        .set_body_velocity(body, 0, [0.0; 3], [1.2, 0.0, 1.0])
        .unwrap();
    let inertia = RigidMass::principal(1.0, [1.0, 2.0, 3.0]);
    model.add_mass("m", body, Mass::Rigid(vec![inertia])).unwrap();
    model
}

/// Its angular velocity in body axes at t = 1 (elliptic functions, case C01).
pub(crate) const SPIN_AT_1: [f64; 3] = [0.7125799063492, 0.9655205213082, 0.8302148563138];

/// Boxes of 0.1 x 0.02 x 0.02 m and 1 kg on ball joints, straight along x from the origin, at rest;
/// gravity along -z.
pub(crate) fn chain(links: usize) -> Model {
    let mut model = Model::new();
    model.set_gravity([0.0, 0.0, -G]).unwrap();
    let poses: Vec<Pose> = (0..links)
        .map(|i| Pose::at([0.1 * i as f64 + 0.05, 0.0, 0.0]))
        .collect();
    let bodies = model.add_rigid_bodies("links", &poses).unwrap();
    let boxes = vec![RigidMass::cuboid(1.0, [0.1, 0.02, 0.02]); links];
    model.add_mass("boxes", bodies, Mass::Rigid(boxes)).unwrap();
    let ends: Vec<(usize, [f64; 3])> = (0..links)
        .flat_map(|i| [(i, [-0.05, 0.0, 0.0]), (i, [0.05, 0.0, 0.0])])
        .collect();
    let points = model
        .add_mapped("ends", &[bodies], RigidPoints::new(&ends))
        .unwrap();
    let pairs: Vec<_> = (0..links)
        .map(|i| {
            let before = if i == 0 {
                End::Point([0.0; 3])
            } else {
                End::element(0, 2 * i - 1)
            };
            (End::element(0, 2 * i), before)
        })
        .collect();
    let joints = model
        .add_mapped("joints", &[points], Difference::new(&pairs))
        .unwrap();
    model
        .add_constraint("ball joints", joints, Level::Position)
        .unwrap();
    model
}

/// End of the last link.
pub(crate) fn tip(s: &Simulation) -> [f64; 3] {
    let x = s.positions(s.model().node_named("ends").unwrap());
    x[x.len() - 3..].try_into().unwrap()
}

/// A method, with weights of 1/2 if it has any.
pub(crate) fn with(integrator: Integrator) -> Options {
    crate::tools::of_weight(integrator, 0.5)
}

pub(crate) fn taken(model: Model, options: Options, h: f64, time: f64) -> Simulation {
    let mut s = Simulation::with_options(model, options).unwrap();
    for _ in 0..(time / h).round() as usize {
        s.step(h).unwrap();
    }
    s
}

pub(crate) fn distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt()
}
