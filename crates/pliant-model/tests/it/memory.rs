//! A law with a past that a user could have written: a spring and a dashpot in a row on scalars.

use pliant_model::*;

/// Remembers the coordinate and the length of its spring; the dashpot gives way by `spring/time`
/// per second.
#[derive(Debug)]
struct Maxwell {
    stiffness: f64,
    time: f64,
    /// Factor of its tangent: 1 if it is right.
    tangent: f64,
}

impl Maxwell {
    fn spring(&self, x: f64, past: &[f64], elapsed: f64) -> f64 {
        // Implicit Euler: any law may choose its own way there.
        (past[1] + (x - past[0])) / (1.0 + elapsed / self.time)
    }
}

impl ForceField for Maxwell {
    fn add_force(&self, _at: At<'_>, _: &mut [f64]) {}

    fn is_damped(&self) -> bool {
        false
    }

    fn is_linear(&self) -> bool {
        false
    }

    fn memory(&self) -> Option<&dyn Memory> {
        Some(self)
    }
}

impl Memory for Maxwell {
    fn size(&self, count: usize) -> usize {
        2 * count
    }

    fn begin(&self, _: Space, x: &[f64], internal: &mut [f64]) {
        for (x, own) in x.iter().zip(internal.as_chunks_mut::<2>().0) {
            *own = [*x, 0.0];
        }
    }

    fn energy(&self, At { x, .. }: At<'_>, internal: &[f64]) -> f64 {
        let points = x.iter().zip(internal.chunks(2));
        points
            .map(|(x, past)| 0.5 * self.stiffness * self.spring(*x, past, 0.0).powi(2))
            .sum()
    }

    fn add_force(&self, At { x, .. }: At<'_>, past: Past<'_>, f: &mut [f64]) {
        for ((f, x), own) in f.iter_mut().zip(x).zip(past.internal.chunks(2)) {
            *f -= self.stiffness * self.spring(*x, own, past.elapsed);
        }
    }

    fn stiffness(&self, At { x, .. }: At<'_>, past: Past<'_>, out: &mut Blocks) {
        for e in 0..x.len() {
            out.block_mut(e)[0] += self.tangent * self.stiffness / (1.0 + past.elapsed / self.time);
        }
    }

    fn advance(&self, At { x, .. }: At<'_>, past: Past<'_>, new: &mut [f64]) -> f64 {
        let mut dissipated = 0.0;
        for ((new, x), own) in new
            .as_chunks_mut::<2>()
            .0
            .iter_mut()
            .zip(x)
            .zip(past.internal.chunks(2))
        {
            *new = [*x, self.spring(*x, own, past.elapsed)];
            dissipated += self.stiffness * new[1] * new[1] * past.elapsed / self.time;
        }
        dissipated
    }
}

fn model() -> (Model, NodeId) {
    let mut model = Model::new();
    let node = model.add_scalars("x", &[1.0, 2.0]).unwrap();
    let spring = UniformCompliance::from_stiffness(3.0);
    model
        .add_force_field("spring", node, spring, Treatment::Stiffness)
        .unwrap();
    for (name, time) in [("fast", 0.5), ("slow", 4.0)] {
        let law = Maxwell {
            stiffness: 10.0,
            time,
            tangent: 1.0,
        };
        model
            .add_force_field(name, node, law, Treatment::Stiffness)
            .unwrap();
    }
    (model, node)
}

#[test]
fn internal_variables_are_part_of_the_state() {
    let (model, node) = model();
    let model = Problem::new(model);
    assert_eq!((model.internal_count(), model.first_memory()), (8, Some("fast")));
    let mut state = model.initial_state().unwrap();
    assert_eq!(state.internal, [1.0, 0.0, 2.0, 0.0, 1.0, 0.0, 2.0, 0.0]);
    state.positions[0] = 1.5;
    let mut evaluation = Evaluation::new(&model);
    evaluation.propagate(&model, &mut state).unwrap();
    // At once both springs take it all; after a while what their dashpots leave; in the end
    // nothing.
    let wanted = |time: f64| -4.5 - 5.0 / (1.0 + time / 0.5) - 5.0 / (1.0 + time / 4.0);
    for time in [0.0, 0.3, f64::INFINITY] {
        evaluation.evaluate_after(&model, &state, time).unwrap();
        assert!((evaluation.force()[0] - wanted(time)).abs() < 1e-14, "{time}");
        assert_eq!(
            evaluation.stiffness(2).unwrap().block(0)[0],
            10.0 / (1.0 + time / 4.0)
        );
    }
    evaluation.evaluate_after(&model, &state, 0.3).unwrap();
    evaluation.add_present_share(&model, &state, |i| if i == 1 { 0.25 } else { 0.0 });
    let mixed = wanted(0.3) + 0.25 * (-5.0 + 5.0 / 1.6);
    assert!((evaluation.force()[0] - mixed).abs() < 1e-14);
    // The law moves on, and is where it was if no time passes.
    let energy = model.potential(&state, ComponentId::ForceField(1));
    assert!((energy - 5.0 * 0.25).abs() < 1e-15);
    let mut scratch = Vec::new();
    let heat = model.advance_memory(&mut state, 0.3, &mut scratch);
    let spring = 0.5 / 1.6;
    assert_eq!(state.internal[..2], [1.5, spring]);
    let slow = 0.5 / 1.075;
    assert!(
        (heat - 10.0 * (spring * spring * 0.6 + slow * slow * 0.075)).abs() < 1e-14,
        "{heat}"
    );
    let before = state.clone();
    assert_eq!(model.advance_memory(&mut state, 0.0, &mut scratch), 0.0);
    assert_eq!(state, before);
    model.begin_memory(&mut state);
    assert_eq!(state.internal[..4], [1.5, 0.0, 2.0, 0.0]);
    assert_eq!(model.positions(&state, node), [1.5, 2.0]);
}

#[test]
fn the_checker_finds_a_wrong_tangent() {
    let law = Maxwell {
        stiffness: 10.0,
        time: 0.5,
        tangent: 1.0,
    };
    let internal = [1.0, 0.2, 2.0, -0.1];
    let past = Past {
        internal: &internal,
        elapsed: 0.3,
    };
    let found = check::memory(&law, Space::Real(1), &[1.1, 1.8], past).unwrap();
    assert!(
        found.stiffness < 1e-8 && found.idle == 0.0 && found.dissipated > 0.0,
        "{found:?}"
    );
    let wrong = Maxwell { tangent: 1.1, ..law };
    let found = check::memory(&wrong, Space::Real(1), &[1.1, 1.8], past).unwrap();
    assert!(found.stiffness > 0.05, "{found:?}");
    let short = Past {
        internal: &internal[..3],
        elapsed: 0.3,
    };
    assert!(matches!(
        check::memory(&wrong, Space::Real(1), &[1.1, 1.8], short),
        Err(ModelError::Size { .. })
    ));
    assert!(check::memory(&wrong, Space::Rigid3, &[0.0; 7], past).is_err());
}

#[test]
fn states_of_another_model_are_refused() {
    let (model, _) = model();
    let mut state = model.initial_state().unwrap();
    state.internal[5] = f64::INFINITY;
    let error = model.normalize(&mut state).unwrap_err().to_string();
    assert!(error.contains("an internal variable of `slow`"), "{error}");
    state.internal.pop();
    let error = model.normalize(&mut state).unwrap_err().to_string();
    assert!(error.contains("7 internal variables"), "{error}");
    assert!(Evaluation::new(&model).propagate(&model, &mut state).is_err());
    let (mut other, node) = self::model();
    let law = Maxwell {
        stiffness: 1.0,
        time: 1.0,
        tangent: 1.0,
    };
    let found = other.add_force_field("rows", node, law, Treatment::Compliance);
    assert!(matches!(found, Err(ModelError::NoCompliance { .. })));
    assert_eq!(other.internal_count(), 8);
}
