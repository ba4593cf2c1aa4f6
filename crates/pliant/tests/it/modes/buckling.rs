//! Buckling loads against closed forms.

use super::{modes, string};
use pliant::continuum::{ElementKind, Mesh, Rod, RodCurve, RodParts, Section, Solid};
use pliant::prelude::*;
use std::f64::consts::PI;

fn buckling(model: Model, loads: &[ComponentId], count: usize, sign: LoadSign) -> Buckling {
    let mut simulation = Simulation::new(model).unwrap();
    let before = simulation.state().clone();
    let how = options(loads, count, sign);
    let found = simulation.buckling(&how).unwrap();
    assert_eq!(*simulation.state(), before);
    for mode in &found.modes {
        assert!(mode.residual < 1e-9 && mode.error < 1e-6, "{mode:?}");
    }
    found
}

fn options(loads: &[ComponentId], count: usize, sign: LoadSign) -> BucklingOptions {
    BucklingOptions {
        loads: Loads {
            components: loads.to_vec(),
            ..Loads::default()
        },
        count,
        sign,
        ..BucklingOptions::default()
    }
}

fn factors(found: &Buckling) -> Vec<f64> {
    found.modes.iter().map(|m| m.factor).collect()
}

/// `E I = 1` in the plane of x and y and 4 across it, 1 m along x.
fn rod(treatment: Treatment) -> Rod {
    let section = Section {
        area: 0.1,
        second_moments: [1e-6, 4e-6],
        torsion_constant: 2e-6,
        shear_factors: [1.0; 2],
    };
    let rod = Rod::new(section, 1e6, 0.0);
    match treatment {
        Treatment::Compliance => rod.inextensible(),
        other => rod.with_treatment(other),
    }
}

/// A column of `n` segments with the held coordinates of its ends, under a force of `size` along
/// it.
fn column(treatment: Treatment, n: usize, [first, last]: [[bool; 6]; 2], size: f64) -> (Model, ComponentId) {
    let mut model = Model::new();
    let curve = RodCurve::straight([0.0; 3], [1.0, 0.0, 0.0], n).with_normal([0.0, 0.0, 1.0]);
    let RodParts { frames, .. } = rod(treatment).add_to(&mut model, "rod", &curve).unwrap();
    model.fix(frames, 0, &first).unwrap();
    model.fix(frames, n, &last).unwrap();
    let tip = RigidPoints::new(&[(n, [0.0; 3])]);
    let tip = model.add_mapped("tip", &[frames], tip).unwrap();
    let push = ConstantForce::new(&[-size, 0.0, 0.0]);
    let load = model
        .add_force_field("load", tip, push, Treatment::Stiffness)
        .unwrap();
    (model, load)
}

const CLAMPED: [bool; 6] = [true; 6];
const SUPPORTED: [bool; 6] = [true, true, true, true, false, false];
const FREE: [bool; 6] = [false; 6];
const GUIDED: [bool; 6] = [false, true, true, true, false, false];
const GUIDED_CLAMPED: [bool; 6] = [false, true, true, true, true, true];

/// Euler's four columns, in both planes: `pi^2/4`, `pi^2`, `4.4934^2` and `4 pi^2` of `E I/L^2`.
/// The order is two in the segments, the answer does not depend on the size of the load, and the
/// two treatments differ by what a column that is not quite stiff along its axis is shorter.
#[test]
fn columns_buckle_at_eulers_loads() {
    let tangent: f64 = 4.493_409_457_909_064;
    for (ends, exact) in [
        ([CLAMPED, FREE], 0.25 * PI * PI),
        ([SUPPORTED, GUIDED], PI * PI),
        ([CLAMPED, GUIDED], tangent * tangent),
        ([CLAMPED, GUIDED_CLAMPED], 4.0 * PI * PI),
    ] {
        for treatment in [Treatment::Compliance, Treatment::Stiffness] {
            let errors = [10, 20].map(|n| {
                let (model, load) = column(treatment, n, ends, 0.01);
                let found = buckling(model, &[load], 1, LoadSign::Positive);
                0.01 * factors(&found)[0] / exact - 1.0
            });
            let order = (errors[0] / errors[1]).log2();
            println!("{exact} {treatment:?}: errors {errors:?}, order {order:.2}");
            assert!((order - 2.0).abs() < 0.2 && errors[1].abs() < 2e-2, "{errors:?}");
        }
        // Four times the load in the stiffer plane, and however large it is.
        let (model, load) = column(Treatment::Compliance, 20, ends, 1000.0);
        let all = factors(&buckling(model, &[load], 8, LoadSign::Positive));
        let (model, load) = column(Treatment::Compliance, 20, ends, 1e-3);
        let other = factors(&buckling(model, &[load], 8, LoadSign::Positive));
        for (a, b) in all.iter().zip(&other) {
            assert!((1e6 * a / b - 1.0).abs() < 1e-6, "{a} {b}");
        }
        assert!(all.iter().any(|f| (f / all[0] - 4.0).abs() < 1e-6), "{all:?}");
    }
}

/// In the middle of a load path the same critical factor is seen as from its beginning.
#[test]
fn a_column_that_is_loaded_buckles_at_the_same_load() {
    let (model, load) = column(Treatment::Compliance, 16, [SUPPORTED, GUIDED], 1.0);
    let mut simulation = Simulation::new(model).unwrap();
    let mut how = options(&[load], 2, LoadSign::Positive);
    let unloaded = factors(&simulation.buckling(&how).unwrap());
    how.at = 0.9 * unloaded[0];
    let loaded = factors(&simulation.buckling(&how).unwrap());
    for (a, b) in unloaded.iter().zip(&loaded) {
        // The column does not shorten before it buckles: its stretch is hard.
        assert!((a / b - 1.0).abs() < 1e-8, "{a} {b}");
    }
    // Beyond it, it is not stable any more.
    how.at = 1.1 * unloaded[0];
    let error = simulation.buckling(&how).unwrap_err();
    assert!(error.to_string().contains("not stable"), "{error}");
}

/// Frequencies fall to zero at the buckling load: `omega^2 = omega_0^2 (1 - P/P_c)` between two
/// supports, where the shape stays the same.
#[test]
fn a_loaded_beam_goes_soft() {
    let of = |load: f64| {
        let (model, _) = column(Treatment::Compliance, 16, [SUPPORTED, GUIDED], load);
        modes(model, 1).modes[0].eigenvalue
    };
    let (model, load) = column(Treatment::Compliance, 16, [SUPPORTED, GUIDED], 1.0);
    let critical = factors(&buckling(model, &[load], 1, LoadSign::Positive))[0];
    let free = of(0.0);
    for share in [-1.0, 0.5, 0.9, 0.999, 1.1] {
        let found = of(share * critical) / free;
        println!("P/P_c = {share}: {found}");
        // Shear is hard: the shape of segments is a sine wave exactly.
        assert!((found - (1.0 - share)).abs() < 1e-6, "{share}: {found}");
    }
}

/// Two bars of 1 m in a line, pressed together over a middle that a spring of stiffness `k` holds
/// across: `P = k l/2`, whether bars are hard, compliances or stiff. Pulled, they do not buckle.
#[test]
fn two_bars_on_a_spring_buckle_across() {
    #[derive(Clone, Copy, Debug)]
    enum Bars {
        Hard,
        Springs(Treatment),
    }
    let k: f64 = 40.0;
    for bars in [
        Bars::Hard,
        Bars::Springs(Treatment::Compliance),
        Bars::Springs(Treatment::Stiffness),
    ] {
        let mut model = Model::new();
        let places = [[0.0; 3], [1.0, 0.0, 0.0], [2.0, 0.0, 0.0]];
        let points = model.add_particles("points", &places).unwrap();
        model.add_mass("mass", points, Mass::Uniform(1.0)).unwrap();
        model.fix(points, 0, &[true; 3]).unwrap();
        model.fix(points, 1, &[false, false, true]).unwrap();
        model.fix(points, 2, &[false, true, true]).unwrap();
        let bar = Distance::between(&[(0, 1), (1, 2)]).with_rest_lengths(&[1.0; 2]);
        let bar = model.add_mapped("bar", &[points], bar).unwrap();
        match bars {
            Bars::Hard => model.add_constraint("hard", bar, Level::Position).unwrap(),
            Bars::Springs(treatment) => model
                .add_force_field("law", bar, UniformCompliance::new(1e-9), treatment)
                .unwrap(),
        };
        let across = AffineEntry {
            element: 0,
            coordinate: 0,
            from: Dependency::new(0, 1),
            from_coordinate: 1,
            value: 1.0,
        };
        let across = model
            .add_mapped("across", &[points], Affine::new(1, &[0.0], &[across]))
            .unwrap();
        let spring = UniformCompliance::new(1.0 / k);
        model
            .add_force_field("spring", across, spring, Treatment::Stiffness)
            .unwrap();
        let mut simulation = Simulation::new(model).unwrap();
        simulation.set_force(points, 2, &[-1.0, 0.0, 0.0]).unwrap();
        let mut how = options(&[], 4, LoadSign::Both);
        how.loads.forces = true;
        let found = simulation.buckling(&how).unwrap();
        assert!(found.complete, "{bars:?}");
        let found = factors(&found);
        println!("{bars:?}: {found:?}");
        assert_eq!(found.len(), 1, "{bars:?}: {found:?}");
        // Rounding of the stiffness of the bars beside the spring: 1e9/40 times 1e-16.
        assert!((found[0] / (0.5 * k) - 1.0).abs() < 1e-7, "{bars:?}: {found:?}");
        how.sign = LoadSign::Negative;
        let pulled = simulation.buckling(&how).unwrap();
        assert!(pulled.modes.is_empty() && pulled.complete);
    }
}

/// A column of quadratic solids, whose material knows its stresses: Euler's load less what shear
/// takes (Engesser 1889, `P_E/(1 + P_E/(kappa G A))`). The law of small strains has none of it.
#[test]
fn a_column_of_solids_buckles() {
    let (length, side, young) = (1.0, 0.05, 1e7);
    let mut mesh = Mesh::hexahedral_box([length, side, side], [12, 1, 1])
        .unwrap()
        .into_quadratic();
    assert!(mesh.elements.iter().all(|e| e.kind == ElementKind::Hex20));
    mesh.nodes
        .iter_mut()
        .for_each(|x| (x[1], x[2]) = (x[1] - 0.5 * side, x[2] - 0.5 * side));
    let (area, second) = (side * side, side.powi(4) / 12.0);
    let euler = 0.25 * PI * PI * young * second / (length * length);
    let exact = euler / (1.0 + euler / (5.0 / 6.0 * 0.5 * young * area));
    for solid in [
        Solid::st_venant_kirchhoff(young, 0.0),
        Solid::corotational(young, 0.0),
    ] {
        let mut model = Model::new();
        let parts = solid.add_to(&mut model, "column", &mesh).unwrap();
        let mut push = Vec::new();
        for (k, x) in mesh.nodes.iter().enumerate() {
            if x[0] == 0.0 {
                model.fix(parts.nodes, k, &[true; 3]).unwrap();
            }
            // 1 N over the face of one element of eight nodes: -1/12 at corners, 1/3 on edges.
            if x[0] == length {
                let corner = x[1].abs() > 0.4 * side && x[2].abs() > 0.4 * side;
                push.push(AffineEntry {
                    element: 0,
                    coordinate: 0,
                    from: Dependency::new(0, k),
                    from_coordinate: 0,
                    value: if corner { -1.0 / 12.0 } else { 1.0 / 3.0 },
                });
            }
        }
        let total: f64 = push.iter().map(|p| p.value).sum();
        assert!((total - 1.0).abs() < 1e-12);
        let along = model
            .add_mapped("along", &[parts.nodes], Affine::new(1, &[0.0], &push))
            .unwrap();
        let load = model
            .add_force_field("load", along, ConstantForce::new(&[-1.0]), Treatment::Stiffness)
            .unwrap();
        let found = factors(&buckling(model, &[load], 2, LoadSign::Positive));
        println!("{euler} {exact}: {found:?}");
        // Square: the same in both directions. The strain at the critical load is 5e-4.
        assert!((found[0] / found[1] - 1.0).abs() < 1e-6, "{found:?}");
        assert!((found[0] / exact - 1.0).abs() < 3e-3, "{found:?} {exact}");
    }
}

/// Numbers that describe no search, loads that there are not, and what nothing holds.
#[test]
fn mistakes_are_named() {
    let (model, load) = column(Treatment::Compliance, 4, [CLAMPED, FREE], 1.0);
    let mut simulation = Simulation::new(model).unwrap();
    let how = options(&[load], 0, LoadSign::Both);
    let words = |e: Result<Buckling, Error>| e.unwrap_err().to_string();
    assert!(words(simulation.buckling(&how)).contains("at least 1"));
    let mut how = options(&[load], 1, LoadSign::Both);
    how.at = f64::NAN;
    assert!(words(simulation.buckling(&how)).contains("load factor"));
    how.at = 0.0;
    how.tolerance = 2.0;
    assert!(words(simulation.buckling(&how)).contains("tolerance"));
    // Without loads nothing buckles.
    let found = simulation.buckling(&options(&[], 3, LoadSign::Both)).unwrap();
    assert!(found.modes.is_empty() && found.complete);
    // A string that hangs on its own tension alone has no stiffness across without it.
    let (model, beads) = string(3, [0.1, 1.0, 100.0, 0.0], Treatment::Stiffness);
    let mut simulation = Simulation::new(model).unwrap();
    simulation.set_force(beads, 1, &[1.0, 0.0, 0.0]).unwrap();
    let error = words(simulation.buckling(&BucklingOptions::default()));
    assert!(error.contains("nothing holds"), "{error}");
}
