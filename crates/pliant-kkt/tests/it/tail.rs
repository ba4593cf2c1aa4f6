//! Transient rows against finite differences of the positions they act on, and the extended system
//! against its parts.

use crate::{model, moved};
use pliant_dense::{Vec3, rotation};
use pliant_kkt::{Assembler, Extended, KktError, Quantity, Scheme, StepInput, Support, Tail};
use pliant_model::{Evaluation, NodeId, Problem, Space, State};

/// Where a support's point is, for an arm fixed in the body as it was in state `at`.
fn point(m: &Problem, s: &State, at: &State, support: &Support) -> Vec3 {
    let (x, was) = (m.positions(s, support.node), m.positions(at, support.node));
    let node = m.node(support.node);
    let p = |x: &[f64], k: usize| Vec3::new(x[k], x[k + 1], x[k + 2]);
    if node.space != Space::Rigid3 {
        return p(x, 3 * support.element);
    }
    let k = 7 * support.element;
    let q = |x: &[f64]| [x[k + 3], x[k + 4], x[k + 5], x[k + 6]];
    let local = rotation::rotate(rotation::conjugate(q(was)), Vec3::from(support.arm));
    p(x, k) + rotation::rotate(q(x), local)
}

/// Rotation of a body since state `at`, as a vector in the world.
fn turn(m: &Problem, s: &State, at: &State, support: &Support) -> Vec3 {
    if m.node(support.node).space != Space::Rigid3 {
        return Vec3::zeros();
    }
    let k = 7 * support.element;
    let q = |s: &State| {
        let x = m.positions(s, support.node);
        [x[k + 3], x[k + 4], x[k + 5], x[k + 6]]
    };
    rotation::log(rotation::multiply(q(s), rotation::conjugate(q(at))))
}

struct Case {
    model: Problem,
    independent: Vec<NodeId>,
    state: State,
    supports: Vec<Support>,
    axes: [[f64; 3]; 3],
}

fn case() -> Case {
    let (m, independent) = model();
    let mut state = m.initial_state().unwrap();
    for (k, v) in state.velocities.iter_mut().enumerate() {
        *v = (1.3 * k as f64).cos();
    }
    m.propagate(&mut state).unwrap();
    let named = |n: &str| m.node_named(n).unwrap();
    let support = |node, element, weight, arm| Support {
        node: named(node),
        element,
        weight,
        arm,
    };
    // A body, a particle, a point on a body, a point mapped from both; the last three share
    // coordinates with the first two.
    let supports = vec![
        support("bodies", 1, -1.0, [0.3, -0.2, 0.5]),
        support("particles", 0, 0.25, [0.0; 3]),
        support("points", 2, 0.75, [0.0; 3]),
        support("some", 1, 0.5, [0.0; 3]),
    ];
    Case {
        independent,
        state,
        supports,
        axes: [[0.6, 0.8, 0.0], [-0.8, 0.6, 0.0], [0.0, 0.0, 1.0]],
        model: m,
    }
}

fn filled(c: &Case, scheme: &Scheme, change: &[f64], nodes: &[NodeId]) -> (Assembler, Vec<f64>) {
    let m = &c.model;
    let mut evaluation = Evaluation::new(m);
    let mut state = c.state.clone();
    evaluation.propagate(m, &mut state).unwrap();
    evaluation.evaluate(m, &state).unwrap();
    let mut assembler = Assembler::with_transient(m, &evaluation, nodes).unwrap();
    let none = vec![0.0; m.dof_count().max(m.row_count())];
    let input = StepInput {
        state: &state,
        multipliers: &none[..m.row_count()],
        impulse: &none[..m.dof_count()],
        fixed_change: change,
        motion: &[],
    };
    assembler.fill(m, &mut evaluation, scheme, input);
    (assembler, none)
}

fn nodes(c: &Case) -> Vec<NodeId> {
    c.supports.iter().map(|s| s.node).collect()
}

#[test]
fn transient_rows_are_derivatives_of_points_and_turns() {
    let c = case();
    let m = &c.model;
    let (assembler, _) = filled(
        &c,
        &Scheme::implicit_euler(0.1),
        &vec![0.0; m.dof_count()],
        &nodes(&c),
    );
    let mut tail = Tail::default();
    assert_eq!(tail.push(Quantity::Velocity, &c.axes, &c.supports), 0..3);
    assert_eq!(tail.push(Quantity::Spin, &c.axes[1..2], &c.supports), 3..4);
    assembler.project(m, &c.state, &mut tail).unwrap();
    let mut extended = Extended::default();
    let none = vec![0.0; m.dof_count()];
    let system = extended.fill(assembler.system(), &none, &tail).unwrap();
    let e = 1e-6;
    for dof in 0..m.dof_count() {
        let at = |t: f64| moved(m, &c.state, &c.independent, &[(dof, t)]);
        let (plus, minus) = (at(e), at(-e));
        for row in 0..4 {
            let axis = Vec3::from(c.axes[if row < 3 { row } else { 1 }]);
            let value = |s: &State| -> f64 {
                let place = |k: &Support| {
                    if row < 3 {
                        point(m, s, &c.state, k)
                    } else {
                        turn(m, s, &c.state, k)
                    }
                };
                c.supports.iter().map(|k| k.weight * axis.dot(&place(k))).sum()
            };
            let expected = (value(&plus) - value(&minus)) / (2.0 * e);
            let found = system.j.get(m.row_count() + row, dof);
            // Central differences: rounding 1e-16/e and e^2.
            assert!(
                (found - expected).abs() < 1e-8,
                "row {row}, dof {dof}: {found} {expected}"
            );
        }
    }
    // Velocities are J v with the independent velocities.
    for row in 0..4 {
        let v = |dof: usize| {
            let owner = c.independent.iter().find(|id| {
                let node = m.node(**id);
                (node.first_dof().unwrap()..node.first_dof().unwrap() + node.velocity_range().len())
                    .contains(&dof)
            });
            let node = m.node(*owner.unwrap());
            c.state.velocities[node.first_velocity + dof - node.first_dof().unwrap()]
        };
        let jv: f64 = (0..m.dof_count())
            .map(|d| system.j.get(m.row_count() + row, d) * v(d))
            .sum();
        assert!((jv - tail.velocity()[row]).abs() < 1e-13 * (1.0 + jv.abs()));
    }
    // What impulses add to each degree of freedom, and its size.
    let r = [0.5, -2.0, 0.25, -1.0];
    let (mut sum, mut size) = (none.clone(), none);
    tail.add_transpose_product(&r, 1.0, &mut sum);
    tail.add_sizes(&r, &mut size);
    for dof in 0..m.dof_count() {
        let terms = (0..4).map(|row| system.j.get(m.row_count() + row, dof) * r[row]);
        let (total, largest) = terms.fold((0.0, 0.0), |(a, b), t| (a + t, b + t.abs()));
        assert!((sum[dof] - total).abs() < 1e-14 && (size[dof] - largest).abs() < 1e-14);
    }
}

/// Prescribed changes of velocity move to the right-hand side of transient rows.
#[test]
fn right_hand_sides_of_transient_rows_follow_prescribed_changes() {
    let c = case();
    let m = &c.model;
    let h = 0.02;
    let change: Vec<f64> = (0..m.dof_count()).map(|k| (k as f64).sin()).collect();
    let mut tail = Tail::default();
    tail.push(Quantity::Velocity, &c.axes, &c.supports);
    tail.b.copy_from_slice(&[0.3, -0.4, 0.5]);
    tail.r.copy_from_slice(&[1e-3, 0.0, 2e-3]);
    let run = |change: &[f64]| {
        let scheme = Scheme::implicit_euler(h);
        let mut tail = tail.clone();
        let (assembler, _) = filled(&c, &scheme, change, &nodes(&c));
        assembler.project(m, &c.state, &mut tail).unwrap();
        let mut extended = Extended::default();
        extended.fill(assembler.system(), change, &tail).unwrap();
        (extended.system().unwrap().clone(), tail)
    };
    let none = vec![0.0; m.dof_count()];
    let (system, tail_of) = run(&none);
    let (moved, _) = run(&change);
    let first = m.row_count();
    for row in first..first + 3 {
        let given = tail_of.b[row - first];
        assert_eq!(system.b[row], given);
        assert_eq!(system.r_diagonal(row), tail_of.r[row - first]);
        let jd: f64 = (0..m.dof_count()).map(|d| system.j.get(row, d) * change[d]).sum();
        assert!((moved.b[row] - given - jd).abs() < 1e-13);
    }
}

/// Patterns are made when the rows act on other coordinates, and not when only numbers change.
#[test]
fn the_pattern_of_transient_rows_is_kept_while_it_fits() {
    let c = case();
    let m = &c.model;
    let scheme = Scheme::implicit_euler(0.1);
    let none = vec![0.0; m.dof_count()];
    let (assembler, _) = filled(&c, &scheme, &none, &nodes(&c));
    let mut extended = Extended::default();
    let mut fill = |supports: &[Support], axes: &[[f64; 3]]| {
        let mut tail = Tail::default();
        tail.push(Quantity::Velocity, axes, supports);
        assembler.project(m, &c.state, &mut tail).unwrap();
        extended.fill(assembler.system(), &none, &tail).unwrap();
        (extended.plans(), extended.system().unwrap().m() - m.row_count())
    };
    assert_eq!(fill(&c.supports, &c.axes), (1, 3));
    let turned = [c.axes[1], c.axes[2], c.axes[0]];
    assert_eq!(fill(&c.supports, &turned), (1, 3));
    assert_eq!(fill(&c.supports[..1], &turned), (2, 3));
    assert_eq!(fill(&c.supports[1..2], &turned), (3, 3));
    assert_eq!(fill(&c.supports[1..2], &turned[..1]), (4, 1));
    assert_eq!(fill(&[], &turned[..1]), (5, 1));
}

#[test]
fn transient_rows_on_what_has_none_are_refused() {
    let c = case();
    let m = &c.model;
    let scheme = Scheme::implicit_euler(0.1);
    let (assembler, _) = filled(&c, &scheme, &vec![0.0; m.dof_count()], &nodes(&c)[..1]);
    let mut tail = Tail::default();
    let support = |name: &str, element| Support {
        node: m.node_named(name).unwrap(),
        element,
        weight: 1.0,
        arm: [0.0; 3],
    };
    let mut refused = |s: Support| {
        tail.clear();
        tail.push(Quantity::Velocity, &c.axes[..1], &[s]);
        assembler.project(m, &c.state, &mut tail).unwrap_err()
    };
    assert!(matches!(refused(support("scalars", 0)), KktError::Space { node, .. } if node == "scalars"));
    assert!(
        matches!(refused(support("bodies", 2)), KktError::NotPlanned { node, element: 2 } if node == "bodies")
    );
}
