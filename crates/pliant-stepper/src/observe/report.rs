//! Report of a step: violation, the work of damping; and whether the step is accepted.

use super::blame::{self, Clash, Residuals};
use super::ledger::DampingLaw;
use super::{Room, Step, Trace, energy};
use crate::Error;
use crate::certificate::{Certificate, Multipliers, Turnover};
use crate::contact::{Contacts, Overlap, step};
use crate::report::{StepReport, StepSolveReport};
use crate::system::System;
use pliant_kkt::RowMotion;
use pliant_model::{At, ComponentId, Level, RowGroup, RowLaw, State, Treatment};
use pliant_solvers::Status;

/// Rounding of a force at its bound.
const AT_BOUND: f64 = 1e-12;

/// The share of the largest coordinate by which a step may move what is at rest, where solvers
/// leave some of what they are to solve.
const PLACE_ROUNDING: f64 = 1e-9;

/// Whether a force is at one of its bounds.
pub(crate) fn is_at_bound(force: f64, (lower, upper): (f64, f64)) -> bool {
    force <= lower + AT_BOUND * lower.abs() || force >= upper - AT_BOUND * upper.abs()
}

/// Whether forces are determined by the motion, of hard rows of which so many are redundant, and of
/// so many contacts with a force.
fn multipliers(system: &System, redundant: usize, active: usize) -> Multipliers {
    let contacts = step::listed(system).filter(|_| active > 0);
    let found = contacts.map_or_else(Default::default, Contacts::determinacy);
    Multipliers {
        redundant,
        shared: found.shared.min(active),
        unexamined: active.saturating_sub(found.shared + found.unique),
    }
}

/// Largest violation of a row that is held by its position (m, rad).
pub(crate) fn violation(system: &System, state: &State) -> f64 {
    worst_row(system, state).map_or(0.0, |worst| worst.1)
}

/// The error of a solve for hard rows that ended at a relative residual, with the row that is
/// violated most.
pub(crate) fn correction_error(system: &System, state: &State, time: f64, residual: f64) -> Error {
    let worst = worst_row(system, state);
    Error::CorrectionNotConverged {
        what: worst.map_or_else(|| "no row".to_owned(), |(row, _)| system.model.describe_row(row)),
        violation: worst.map_or(0.0, |(_, violation)| violation),
        time,
        residual,
        remedy: None,
    }
}

/// The row that is violated most of those that are held by their position, and by how much (m,
/// rad); none if nothing is violated.
fn worst_row(system: &System, state: &State) -> Option<(usize, f64)> {
    let mut worst = None;
    for group in system.model.row_groups() {
        let phi = system.model.positions(state, group.node);
        for (k, phi) in phi.iter().enumerate() {
            let target = system
                .row_motion
                .get(group.first_row + k)
                .map_or(0.0, |m| m.end.0);
            let gap = (phi - target).abs();
            // A NaN must not hide behind `max`.
            let is_worse = gap > worst.map_or(0.0, |w: (usize, f64)| w.1) || gap.is_nan();
            if is_worse && system.evaluation.holds_position(&system.model, group, k) {
                worst = Some((group.first_row + k, gap));
            }
        }
    }
    worst
}

/// A row that holds a position and is not where it holds it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RowGap {
    /// The row.
    pub row: usize,
    /// Its component.
    pub component: ComponentId,
    /// By how much it is off (m, rad).
    pub gap: f64,
    /// Whether it holds one side only: a limit or a rope.
    pub one_sided: bool,
}

/// The gaps beyond `least` (m, rad) of hard rows, limits and ropes on their forbidden side among
/// them.
pub fn row_gaps<'a>(system: &'a System, state: &'a State, least: f64) -> impl Iterator<Item = RowGap> + 'a {
    let of_group = move |group: &'a RowGroup| {
        let side = one_sided(system, group);
        let phi = system.model.positions(state, group.node);
        phi.iter().enumerate().filter_map(move |(k, phi)| {
            let row = group.first_row + k;
            let off = phi - system.row_target(row);
            let gap = side.map_or(off.abs(), |sign| sign * off);
            let holds = || match side {
                Some(_) => system.row_is_hard(group, k),
                None => system.evaluation.holds_position(&system.model, group, k),
            };
            (gap > least && holds()).then_some(RowGap {
                row,
                component: group.component,
                gap,
                one_sided: side.is_some(),
            })
        })
    };
    system.model.row_groups().iter().flat_map(of_group)
}

/// Of rows that hold positions on one side, the sign of what they forbid.
fn one_sided(system: &System, group: &RowGroup) -> Option<f64> {
    let holds = match group.component {
        ComponentId::Constraint(i) => matches!(
            system.model.constraints()[i].component.level,
            Level::Position | Level::CurvedPosition | Level::Baumgarte { .. }
        ),
        _ => system.model.row_law(group) != RowLaw::Viscous,
    };
    match system.model.bounds(group) {
        // A force that only pushes holds what would be negative.
        Some((0.0, upper)) if holds && upper > 0.0 => Some(-1.0),
        Some((lower, 0.0)) if holds && lower < 0.0 => Some(1.0),
        _ => None,
    }
}

/// Work of the damping forces over the step: `h v_beta^T B v_alpha`, the mean force at
/// `v_alpha = alpha v+ + (1 - alpha) v` on the displacement `h v_beta`; of driven rows, velocities
/// against the motion; of a dashpot at the bound of its force, this force. Of a law that is not
/// linear in the velocity the theta method has the force `f_v(v)` at the start and its tangent for
/// the change, the other methods the mean of both ends (with stiffness-proportional damping the
/// tangent counts for all of it).
pub(super) fn damping_work(step: Step<'_>, h: f64, how: DampingLaw, room: &mut Room) -> f64 {
    // Of elements that all processes have, and of those that they share out.
    let (mut whole, mut shared) = (0.0, 0.0);
    let beta = step.scheme.beta;
    let tangent = how == DampingLaw::Tangent;
    let plain = step.system.model.rayleigh().stiffness == 0.0;
    let mean = |weight: f64, k: usize| {
        weight * step.end.state.velocities[k] + (1.0 - weight) * step.start.state.velocities[k]
    };
    for (i, field) in step.system.model.force_fields().iter().enumerate() {
        if !step.system.evaluation.is_damped(i) {
            continue;
        }
        let work = match step.system.model.element_share(field.node.index()) {
            Some(_) => &mut shared,
            None => &mut whole,
        };
        let alpha = step.scheme.alpha_of(ComponentId::ForceField(i));
        let node = step.system.model.node(field.node);
        let size = node.space.velocity_size();
        let first = node.first_velocity;
        let blocks = step.system.evaluation.damping(i);
        let law = &field.component.law;
        let curved = plain && step.system.model.treatment(i) == Treatment::Stiffness && !law.is_linear();
        let bounded = step.system.rows.group_of_field[i].and_then(|g| {
            let group = &step.system.model.row_groups()[g];
            let viscous = step.system.model.row_law(group) == RowLaw::Viscous;
            let bounds = step.system.model.bounds(group);
            bounds.map(|(lower, upper)| (group.first_row, viscous, lower, upper))
        });
        let mut damped = false;
        for g in 0..blocks.len() {
            let (block, width) = (blocks.block(g), blocks.width(g));
            let hard = step.system.model.treatment(i) == Treatment::Compliance
                && step
                    .system
                    .evaluation
                    .compliance(i)
                    .block(g)
                    .iter()
                    .all(|c| *c == 0.0);
            if hard || block.iter().all(|b| *b == 0.0) {
                continue;
            }
            damped = true;
            if curved && !tangent {
                break;
            }
            let alone = [g];
            let list = step
                .system
                .evaluation
                .groups(i)
                .get(g)
                .map_or(&alone[..], Vec::as_slice);
            let motion = step.system.rows.group_of_field[i].and_then(|g| {
                step.system
                    .row_motion
                    .get(step.system.model.row_groups()[g].first_row..)
            });
            let relative = |weight: f64, c: usize| {
                let k = list[c / size] * size + c % size;
                let rate = |m: &RowMotion| weight * m.end.1 + (1.0 - weight) * m.start.1;
                mean(weight, first + k) - motion.and_then(|m| m.get(k)).map_or(0.0, rate)
            };
            let change = |c: usize| relative(alpha, c) - if curved { relative(0.0, c) } else { 0.0 };
            for (r, row) in block.chunks_exact(width).enumerate() {
                if let Some((first_row, viscous, lower, upper)) = bounded {
                    let lambda = step.end.multipliers[first_row + list[r / size] * size + r % size];
                    // Beyond the bound the force does not change: a dashpot slips, a spring stores
                    // the work.
                    if is_at_bound(lambda, (lower, upper)) {
                        *work -= if viscous {
                            h * lambda * relative(beta, r)
                        } else {
                            0.0
                        };
                        continue;
                    }
                }
                let force: f64 = row.iter().enumerate().map(|(c, b)| b * change(c)).sum();
                *work += h * relative(beta, r) * force;
            }
        }
        if !(curved && damped) {
            continue;
        }
        let shares = if tangent { [1.0, 0.0] } else { [1.0 - alpha, alpha] };
        let range = node.velocity_range();
        for (state, share) in [&step.start.state, &step.end.state].into_iter().zip(shares) {
            let at = step.system.model.at(i, state);
            let v = at.v;
            let (moving, rest) = super::room(&mut room.first, 2 * v.len()).split_at_mut(v.len());
            let still = super::room(&mut room.second, v.len());
            moving.fill(0.0);
            rest.fill(0.0);
            still.fill(0.0);
            law.add_force(at, moving);
            law.add_force(At { v: still, ..at }, rest);
            let forces = moving.iter().zip(&*rest).map(|(m, r)| m - r);
            let power = forces.zip(range.clone()).map(|(f, k)| f * mean(beta, k));
            *work -= share * h * power.sum::<f64>();
        }
    }
    let rate = step.system.model.rayleigh().mass;
    if rate > 0.0 {
        let alpha = step.scheme.alpha;
        for attachment in step.system.model.masses() {
            let node = step.system.model.node(attachment.node);
            let range = node.velocity_range();
            let (v, p) = super::room(&mut room.first, 2 * range.len()).split_at_mut(range.len());
            for (v, k) in v.iter_mut().zip(range.clone()) {
                *v = mean(alpha, k);
            }
            p.fill(0.0);
            attachment.component.add_product(node.space, rate, v, p);
            whole += h * p.iter().zip(range).map(|(p, k)| p * mean(beta, k)).sum::<f64>();
        }
    }
    match step.system.model.processes() {
        Some(_) => whole + step.system.model.sum_over_processes(shared),
        None => whole,
    }
}

/// A velocity (m/s) beside which what is at rest in a step of length `h` (s) has none: that of a
/// fall from rest in this time; without gravity, that of a share of its places which is rounding to
/// the solvers.
fn speed_of_rest(step: Step<'_>, h: f64) -> f64 {
    let [x, y, z] = step.system.model.gravity().map(|g| g * h);
    let falls = x.hypot(y).hypot(z);
    if falls > 0.0 {
        return falls;
    }
    let nodes = step.system.model.nodes().iter();
    let places = nodes
        .filter(|node| node.first_dof().is_some())
        .flat_map(|node| &step.end.state.positions[node.position_range()]);
    PLACE_ROUNDING * places.fold(0.0f64, |a, x| a.max(x.abs())) / h
}

/// The report of a step, whose end may be changed no more.
pub fn report(step: Step<'_>, trace: &mut Trace) -> StepReport {
    let (system, solved, account) = (step.system, &trace.solved, &mut trace.account);
    let energies = energy::energies(step, true, &mut account.room.first);
    let ledger = account.close(&energies, trace.projected);
    let fall = 0.5 * system.model.mass_in_space() * speed_of_rest(step, trace.h).powi(2);
    let by_velocity = matches!(system.options.contacts.overlap, Overlap::Rows { .. });
    let turnover = Turnover::of(&ledger, &energies, fall, by_velocity);
    let (budget, begins) = account.budget(step.start);
    let since_start = budget.after(&ledger, &turnover, energies.potential);
    let violation = violation(system, &step.end.state);
    let mut contacts = system
        .contacts
        .as_ref()
        .map_or_else(Default::default, |c| *c.observed.report());
    contacts.corrections = account.recovered;
    let certificate = Certificate {
        equations: solved.residual.relative,
        linearisation: match trace.linearisation {
            Some(found) => Some(found.share),
            None => (trace.stages.taken > 0).then_some(trace.stages.left),
        },
        rows: violation,
        cones: solved.bounds.natural.max(contacts.velocity_residual),
        energy: turnover.judge(&ledger, since_start),
        multipliers: multipliers(system, solved.redundant_rows, contacts.active),
        local_error: trace.stages.error,
    };
    StepReport {
        time: step.end.time,
        h: trace.h,
        status: solved.status,
        residual: solved.residual,
        certificate,
        violation,
        solve: StepSolveReport {
            solver: trace.solver,
            iterations: solved.iterations,
            refinements: solved.refinements,
            redundant_rows: solved.redundant_rows,
            inertia: solved.inertia,
            newton: trace.newton,
            corrections: trace.corrections,
            geometry_passes: trace.geometry_passes,
            stages: trace.stages.taken,
            velocity_error: trace.stages.left,
            geometry_clamped: trace.geometry_clamped,
            projected_tangents: trace.projected_tangents,
            linearisation: trace.linearisation,
            projected: if begins { trace.projected.taken } else { 0.0 },
        },
        bounds: solved.bounds,
        contacts,
        energies,
        dissipated: step.start.dissipated + account.damped + account.forgotten,
        ledger,
        momentum: system.model.momentum(&step.end.state),
        counters: system.counters(),
        timings: trace.timings,
    }
}

/// Whether a step may stand: its equations are solved, and its energy is a number.
///
/// # Errors
/// [`Error::NotFinite`]; [`Error::NotConverged`], [`Error::Incompatible`] or [`Error::Unsettled`],
/// unless failed steps are accepted.
pub fn check(step: Step<'_>, trace: &Trace, report: &StepReport) -> Result<(), Error> {
    let (system, time) = (step.system, step.start.time);
    if !report.energies.total().is_finite() {
        return Err(Error::NotFinite {
            what: "the energy".into(),
            time,
        });
    }
    let options = &system.options;
    if options.accept_failed_steps {
        return Ok(());
    }
    match report.status {
        Status::Converged => Ok(()),
        Status::Incompatible { row, violation } => {
            let (kkt, solution) = step::whole_system(system);
            let clash = Clash {
                kkt,
                solution,
                row,
                violation,
            };
            Err(clash.error(&system.model, time, Residuals::Velocities(step.scheme)))
        }
        Status::Unsettled { row, residual } => Err(Error::Unsettled {
            constraint: system.model.describe_row(row),
            time,
            residual,
        }),
        _ => Err(Error::NotConverged {
            what: blame::in_words(
                &system.model,
                trace.missed.or_else(|| {
                    let (kkt, solution) = step::whole_system(system);
                    blame::worst_equation(kkt, solution)
                }),
            ),
            time,
            tolerance: if report.solve.newton.iterations == 0 {
                options.tuning.solver.tolerance
            } else {
                options.newton_tolerance()
            },
            turning: None,
            remedy: None,
            report: Box::new(*report),
        }),
    }
}
