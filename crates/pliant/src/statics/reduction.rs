//! The reduction of a body to a few modes by Craig and Bampton's method.

mod basis;
mod inertia;

use super::modes::{spread, tangent};
use super::residual::{SideRule, find_residual};
use super::workspace::{Setting, Workspace};
use crate::Error;
use crate::reduced::{ReducedBody, ReducedMode, ReducedNode};
use basis::{Basis, Column};
use pliant_dense::{Mat3, Vec3, vec3};
use pliant_kkt::Scheme;
use pliant_model::{FrameShape, ModalFrame, Model, Node, NodeId, Pose, Problem, Space, State};
use pliant_solvers::eigen::{self, EigenError, EigenOptions};
use pliant_solvers::{KktSystem, Solution, SolveError, StationarySolver, Variable};
use pliant_sparse::CsrMatrix;
use pliant_stepper::system::System;
use std::collections::HashSet;

/// An interface of a reduced body: elements of an independent node of points or bodies that move
/// together as if they were rigid, with a frame at the mean of their places.
///
/// **Use.** The nodes of a face, of the inside of a bore or of the end of a rod, where a joint or
/// another body will be attached.
#[derive(Clone, Debug, PartialEq)]
pub struct Interface {
    /// The node.
    pub node: NodeId,
    /// Its elements: a body, or three points or more that are not on a line.
    pub elements: Vec<usize>,
}

/// Which modes of vibration with all interfaces held are kept.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FixedModes {
    /// The lowest so many; zero is Guyan's static condensation.
    Count(usize),
    /// All of lower angular frequency (rad/s).
    Below(f64),
}

/// How a body is reduced.
///
/// **Equation.** The linear displacements of all coordinates of the model are `u = Psi b + Phi a`:
/// the static displacements `Psi` for the six motions of each interface with the others held, and
/// modes of vibration `Phi` with all interfaces held (Craig and Bampton 1968, AIAA Journal 6,
/// 1313). Of their span the six rigid motions are taken out, which a floating frame makes instead;
/// what is left is orthogonal to them by the mass (mean axes of Tisserand and Buckens: the frame is
/// at the centre of mass and has no part in the angular momentum of small deformations), and is
/// made orthogonal by mass and stiffness. So `6 m - 6 + k` modes of `m` interfaces and `k` fixed
/// modes, whose stiffness is exact for any loads at the interfaces.
///
/// **Use.** Bodies that bend little and move far: links of mechanisms, crankshafts, antennas.
#[derive(Clone, Debug, PartialEq)]
pub struct Reduction {
    /// Where it is held, one or more, which have no element in common.
    pub interfaces: Vec<Interface>,
    /// Modes of vibration with the interfaces held.
    pub modes: FixedModes,
    /// Tolerance of these modes (none), as
    /// [`ModeOptions::tolerance`](crate::ModeOptions::tolerance).
    pub tolerance: f64,
    /// Solves with a factor at most.
    pub max_solves: usize,
}

impl Reduction {
    /// A reduction to these interfaces and so many fixed modes.
    pub fn new(interfaces: Vec<Interface>, modes: FixedModes) -> Self {
        Self {
            interfaces,
            modes,
            tolerance: 1e-6,
            max_solves: 20_000,
        }
    }
}

const WHAT: &str = "a reduced body";
/// The largest share of their terms that forces of rigid motion may leave: beyond, something holds
/// the body or it is under load. Rounding leaves 1e-15 or so, and a spring to the world beside a
/// stiff solid not much more.
const RIGID: f64 = 1e-11;
/// The largest residual of static displacements, and the largest coupling of two modes by mass or
/// stiffness as a share of their own.
const ACCURACY: f64 = 1e-7;
/// Modes asked for at first where a frequency bounds them.
const FIRST: usize = 16;
/// The least second moment of an interface's points, as a share of the largest, with which it
/// turns.
const FLAT: f64 = 1e-10;

fn no<T>(why: String) -> Result<T, Error> {
    Err(Error::NoModes { what: WHAT, why })
}

/// Reduces the body that the whole model is, at the present positions.
pub(crate) fn find(
    at: &mut Setting<'_>,
    work: &mut Workspace,
    how: &Reduction,
) -> Result<ReducedBody, Error> {
    let model = at.system.model.clone();
    check_body(&model)?;
    let origins = check_interfaces(&model, &at.motion.state, how)?;
    work.set_load_factor(work.unknowns.factor, &mut at.system.model)?;
    find_residual(at, work, SideRule::Take)?;
    let stiffness = tangent(at, work, WHAT)?;
    if let Some(row) = stiffness.first_bounded_row() {
        return no(format!(
            "the force of {} has bounds, which are not linear",
            model.describe_row(row)
        ));
    }
    let (system, state) = (&mut *at.system, &at.motion.state);
    let scheme = Scheme::implicit_euler(1.0);
    system
        .assembler
        .fill_kinematics(&system.model, &mut system.evaluation, &scheme, state);
    let mass = system.assembler.system().w.clone();
    let time = at.motion.time;
    let body = Body {
        model: &model,
        state,
        stiffness: &stiffness,
        mass: &mass,
        origins: &origins,
    };
    let centre = body.centre_of_mass();
    if !centre.iter().all(|c| c.is_finite()) {
        return no("it has no mass".to_owned());
    }
    let rigid = body.rigid_columns(centre);
    check_rigid(&body, &rigid)?;

    let held = body.held(how);
    let mut columns = static_columns(&body, &held, how, system, time)?;
    let fixed = fixed_modes(&body, &held, how, system, time)?;
    let fixed_frequencies = fixed.iter().map(|m| m.0).collect();
    columns.extend(fixed.into_iter().map(|m| m.1));
    let basis = Basis::new(&stiffness, &mass, rigid);
    let (modes, residual) = basis.modes(columns)?;
    if residual.is_nan() || residual > ACCURACY {
        return no(format!(
            "its modes are orthogonal only to {residual:.1e} of their own mass and stiffness"
        ));
    }
    let kept = modes.into_iter().map(|mode| {
        let velocities = spread(system, &mode.column.x);
        (
            ReducedMode::new(&model, mode.mass, mode.stiffness, velocities),
            mode.column.b,
        )
    });
    let (modes, ends): (Vec<ReducedMode>, Vec<Vec<f64>>) = kept.unzip();
    let interfaces = origins.iter().enumerate();
    let interfaces = interfaces.map(|(i, origin)| ModalFrame {
        body: 0,
        pose: Pose::at((origin - centre).into()),
        shapes: (modes.iter().zip(&ends).enumerate())
            .map(|(k, (mode, b))| FrameShape {
                mode: k,
                displacement: (vec3(b, 6 * i) * mode.scale).into(),
                rotation: (vec3(b, 6 * i + 3) * mode.scale).into(),
            })
            .collect(),
    });
    let interfaces = interfaces.collect();
    let inertia = inertia::matrix(&model, state, centre, &modes)?;
    let nodes = model.nodes().iter().map(|node| ReducedNode {
        space: node.space,
        positions: state.positions[node.position_range()].to_vec(),
        velocities: node.velocity_range(),
    });
    Ok(ReducedBody {
        centre: centre.into(),
        modes,
        interfaces,
        inertia,
        nodes: nodes.collect(),
        fixed_frequencies,
        residual,
    })
}

/// The matrices of the body, and the origins of its interfaces.
struct Body<'a> {
    model: &'a Problem,
    state: &'a State,
    stiffness: &'a KktSystem,
    mass: &'a CsrMatrix,
    origins: &'a [Vec3],
}

/// A velocity `linear + angular x (r - about)` of all.
#[derive(Clone, Copy)]
struct Motion {
    linear: Vec3,
    angular: Vec3,
    about: Vec3,
}

impl Motion {
    /// One of six unit motions about a place.
    fn unit(k: usize, about: Vec3) -> Self {
        let unit = |k: Option<usize>| Vec3::from_fn(|i, _| f64::from(u8::from(k == Some(i))));
        Self {
            linear: unit(Some(k)),
            angular: unit(k.checked_sub(3)),
            about,
        }
    }

    /// Writes the velocity of an element of an independent node.
    fn write(self, state: &State, entry: &Node, element: usize, x: &mut [f64]) {
        let Some(first) = entry.first_dof() else { return };
        let (p, v) = (entry.space.position_size(), entry.space.velocity_size());
        let place = &state.positions[entry.first_position + element * p..][..p];
        let out = &mut x[first + element * v..][..v];
        let linear = self.linear + self.angular.cross(&(vec3(place, 0) - self.about));
        out[..3].copy_from_slice(linear.as_slice());
        if entry.space == Space::Rigid3 {
            let q = [place[3], place[4], place[5], place[6]];
            let own = pliant_dense::rotation::matrix(q).transpose() * self.angular;
            out[3..].copy_from_slice(own.as_slice());
        }
    }
}

impl Body<'_> {
    fn n(&self) -> usize {
        self.stiffness.n()
    }

    /// Velocities of all independent coordinates.
    fn all(&self, motion: Motion) -> Vec<f64> {
        let mut x = vec![0.0; self.n()];
        for node in self.model.nodes() {
            (0..node.count).for_each(|e| motion.write(self.state, node, e, &mut x));
        }
        x
    }

    /// The centre of mass (m) by the mass matrix; not finite without mass.
    fn centre_of_mass(&self) -> Vec3 {
        let unit = |k| self.all(Motion::unit(k, Vec3::zeros()));
        let (x, y) = (unit(0), unit(1));
        let [mx, my] = [&x, &y].map(|x| basis::mass_product(self.mass, x));
        let mass = basis::dot(&x, &mx);
        // A turn about y moves along x by z, one about z along x by -y and along y by x.
        let turn = unit(5);
        Vec3::new(
            basis::dot(&turn, &my),
            -basis::dot(&turn, &mx),
            basis::dot(&unit(4), &mx),
        ) / mass
    }

    /// The six rigid motions about the centre of mass, with what they do to the interfaces.
    fn rigid_columns(&self, centre: Vec3) -> Vec<Column> {
        let column = |k| {
            let motion = Motion::unit(k, centre);
            let ends = self.origins.iter().flat_map(|origin| {
                let linear = motion.linear + motion.angular.cross(&(origin - centre));
                [linear, motion.angular]
            });
            Column {
                x: self.all(motion),
                l: vec![0.0; self.stiffness.m()],
                b: ends.flat_map(|v| [v.x, v.y, v.z]).collect(),
            }
        };
        (0..6).map(column).collect()
    }

    /// The stiffness with all interfaces held.
    fn held(&self, how: &Reduction) -> KktSystem {
        let mut held = self.stiffness.clone();
        for interface in &how.interfaces {
            let node = self.model.node(interface.node);
            let (first, size) = (node.first_dof().unwrap_or(0), node.space.velocity_size());
            for e in &interface.elements {
                held.fixed[first + e * size..][..size].fill(true);
            }
        }
        held
    }
}

/// Checks that the model is one body of points and bodies, and that nothing holds it.
fn check_body(model: &Model) -> Result<(), Error> {
    if let Some(dof) = model.fixed().iter().position(|fixed| *fixed) {
        return no(format!(
            "{} is fixed, and a floating body is free",
            model.describe_dof(dof)
        ));
    }
    for node in model.nodes() {
        if node.first_dof().is_some() && node.is_amplitudes {
            return no(format!(
                "`{}` has amplitudes of elements, not points of space",
                node.name
            ));
        }
        let fits = matches!(node.space, Space::Real(3) | Space::Rigid3);
        if node.first_dof().is_some() && !fits {
            return no(format!(
                "`{}` has {}, not points of space or bodies",
                node.name, node.space
            ));
        }
    }
    if let Some(name) = model.first_memory() {
        return no(format!("`{name}` has a memory, which modes have not"));
    }
    Ok(())
}

/// Checks the interfaces and returns the means of their places.
fn check_interfaces(model: &Model, state: &State, how: &Reduction) -> Result<Vec<Vec3>, Error> {
    if how.interfaces.is_empty() {
        return no("it has no interface, and so nothing could be attached to it".to_owned());
    }
    if let FixedModes::Below(limit) = how.modes
        && !(limit > 0.0 && limit.is_finite())
    {
        return Err(Error::OutOfRange {
            what: "the angular frequency that modes of a reduced body are below",
            value: limit,
            bound: "positive and finite",
        });
    }
    let mut taken: HashSet<(NodeId, usize)> = HashSet::new();
    let mut origins = Vec::new();
    for (i, interface) in how.interfaces.iter().enumerate() {
        let Some(node) = model.nodes().get(interface.node.index()) else {
            return no(format!("interface {i} is on a node that there is not"));
        };
        let name = &node.name;
        if node.first_dof().is_none() {
            return no(format!(
                "interface {i} is on `{name}`, which follows from other nodes"
            ));
        }
        if let Some(e) = interface.elements.iter().find(|e| **e >= node.count) {
            return no(format!(
                "interface {i} has element {e} of `{name}`, which has {}",
                node.count
            ));
        }
        for e in &interface.elements {
            if !taken.insert((interface.node, *e)) {
                return no(format!(
                    "element {e} of `{name}` is in interface {i} and in one before it, or twice"
                ));
            }
        }
        let size = node.space.position_size();
        let place = |e: &usize| vec3(&state.positions, node.first_position + e * size);
        let count = interface.elements.len() as f64;
        let mean = interface.elements.iter().map(place).sum::<Vec3>() / count;
        let moments: Mat3 = interface
            .elements
            .iter()
            .map(|e| place(e) - mean)
            .map(|r| r * r.transpose())
            .sum();
        let mut sizes = moments.symmetric_eigenvalues();
        sizes.as_mut_slice().sort_by(f64::total_cmp);
        // NaN, of none, fails the comparison.
        let turns = sizes[1] > FLAT * sizes[2] || node.space == Space::Rigid3 && count > 0.0;
        if !turns {
            return no(format!(
                "the {} points of interface {i} of `{name}` are on a line or in one place, so that no \
                 joint could turn them",
                interface.elements.len()
            ));
        }
        origins.push(mean);
    }
    Ok(origins)
}

/// Checks that rigid motions cost nothing.
fn check_rigid(body: &Body<'_>, rigid: &[Column]) -> Result<(), Error> {
    for (k, column) in rigid.iter().enumerate() {
        let (mut force, mut terms) = (vec![0.0; body.n()], vec![0.0; body.n()]);
        let w = &body.stiffness.w;
        w.symmetric_add_product(1.0, &column.x, &mut force);
        for i in 0..body.n() {
            for (j, a) in w.row_entries(i) {
                terms[i] += (a * column.x[j]).abs();
                if i != j {
                    terms[j] += (a * column.x[i]).abs();
                }
            }
        }
        let (at, worst, size) = largest(&force, &terms);
        let motion = if k < 3 { "a translation" } else { "a rotation" };
        if worst.is_nan() || worst > RIGID * size {
            return no(format!(
                "{motion} of all of it has a force on {}: something holds it, or it is under load",
                body.model.describe_dof(at)
            ));
        }
        let j = &body.stiffness.j;
        for row in 0..body.stiffness.m() {
            let parts = j.row_entries(row).map(|(k, j)| j * column.x[k]);
            let (sum, size) = parts.fold((0.0, 0.0), |(s, t): (f64, f64), p| (s + p, t + p.abs()));
            if sum.is_nan() || sum.abs() > RIGID * size {
                return no(format!(
                    "{motion} of all of it moves {}, which holds it",
                    body.model.describe_row(row)
                ));
            }
        }
    }
    Ok(())
}

/// The largest entry, and the largest of its terms.
fn largest(values: &[f64], terms: &[f64]) -> (usize, f64, f64) {
    let mut out = (0, 0.0, terms.iter().fold(0.0f64, |a, t| a.max(*t)));
    for (i, v) in values.iter().enumerate() {
        if v.abs() > out.1 || v.is_nan() {
            (out.0, out.1) = (i, v.abs());
        }
    }
    out
}

/// The static displacements for unit motions of each interface.
fn static_columns(
    body: &Body<'_>,
    held: &KktSystem,
    how: &Reduction,
    system: &System,
    time: f64,
) -> Result<Vec<Column>, Error> {
    let (n, m) = (body.n(), body.stiffness.m());
    let mut solver = StationarySolver::with_threads(system.assembler.threads().count());
    let words = |error: SolveError| in_words(EigenError::Solve(error), system, time);
    let kind = solver.prepare(held).map_err(words)?;
    if kind.zero > 0 {
        let variable = solver.unpivoted(held).unwrap_or(Variable::Dof(0));
        return Err(in_words(EigenError::Free { variable }, system, time));
    }
    if kind.negative > 0 {
        return no(format!(
            "{} directions are not stable with the interfaces held",
            kind.negative
        ));
    }
    let mut columns = Vec::new();
    let mut solution = Solution::default();
    for (i, interface) in how.interfaces.iter().enumerate() {
        for k in 0..6 {
            let mut x = vec![0.0; n];
            for e in &interface.elements {
                let node = body.model.node(interface.node);
                Motion::unit(k, body.origins[i]).write(body.state, node, *e, &mut x);
            }
            let (mut c, mut rows) = (vec![0.0; n], vec![0.0; m]);
            held.w.symmetric_add_product(-1.0, &x, &mut c);
            held.j.add_product(1.0, &x, &mut rows);
            let residual = solver.solve(held, &c, &rows, &mut solution).map_err(words)?;
            if residual.is_nan() || residual > ACCURACY {
                return no(format!(
                    "the displacements for a motion of interface {i} have a residual of {residual:.1e}: rows may \
                     hold its elements against each other"
                ));
            }
            x.iter_mut().zip(&solution.x).for_each(|(x, d)| *x += d);
            let mut b = vec![0.0; 6 * how.interfaces.len()];
            b[6 * i + k] = 1.0;
            let l = solution.mu.clone();
            columns.push(Column { x, l, b });
        }
    }
    Ok(columns)
}

/// Modes of vibration with the interfaces held: angular frequencies and shapes.
fn fixed_modes(
    body: &Body<'_>,
    held: &KktSystem,
    how: &Reduction,
    system: &System,
    time: f64,
) -> Result<Vec<(f64, Column)>, Error> {
    let options = EigenOptions {
        tolerance: how.tolerance,
        max_solves: how.max_solves,
        threads: system.assembler.threads().count(),
    };
    let mut count = match how.modes {
        FixedModes::Count(count) => count,
        FixedModes::Below(_) => FIRST,
    };
    if count == 0 {
        return Ok(Vec::new());
    }
    let found = loop {
        let found = eigen::vibration(held, body.mass, count, options);
        let mut found = found.map_err(|e| in_words(e, system, time))?;
        match how.modes {
            FixedModes::Count(count) if count > found.finite => {
                return no(format!(
                    "{count} modes with the interfaces held are asked for, and there are {}",
                    found.finite
                ));
            }
            FixedModes::Count(_) => break found,
            FixedModes::Below(limit) => {
                let square = limit * limit;
                if count >= found.finite || found.modes.last().is_some_and(|m| m.value >= square) {
                    found.modes.retain(|m| m.value < square);
                    break found;
                }
                count = count.saturating_mul(2).min(found.finite);
            }
        }
    };
    for mode in &found.modes {
        if mode.residual.is_nan() || mode.residual > how.tolerance {
            return no(format!(
                "a mode with the interfaces held has a residual of {:.1e}",
                mode.residual
            ));
        }
        if mode.is_free || mode.value <= 0.0 {
            return no("something moves freely with all interfaces held".to_owned());
        }
    }
    let b = vec![0.0; 6 * how.interfaces.len()];
    let column = |mode: eigen::Vibration| {
        let (x, l) = (mode.x, mode.l);
        (mode.value.sqrt(), Column { x, l, b: b.clone() })
    };
    Ok(found.modes.into_iter().map(column).collect())
}

fn in_words(error: EigenError, system: &System, time: f64) -> Error {
    if let EigenError::Free { variable } = error {
        let name = match variable {
            Variable::Dof(i) => system.model.describe_dof(i),
            Variable::Row(i) => system.model.describe_row(i),
        };
        let why = format!("nothing holds {name} with the interfaces held");
        return Error::NoModes { what: WHAT, why };
    }
    super::modes::in_words(error, WHAT, system, time)
}
