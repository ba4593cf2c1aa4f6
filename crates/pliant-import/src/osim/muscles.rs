//! Muscles.

use super::ModelReader;
use super::forces::{COMMON, own_name};
use super::properties::truth;
use crate::error::ImportError;
use crate::robot::{Along, Muscle};

type Result<T> = std::result::Result<T, ImportError>;

/// A kind of muscle whose curves scenes have.
struct Kind {
    /// The name that OpenSim has for it.
    tag: &'static str,
    curves: &'static str,
    /// Time constants of activation and deactivation where the file has none (s).
    times: [f64; 2],
    /// Strain of the tendon at the largest force, likewise.
    tendon_strain: f64,
    /// Shapes of the curves: the name of the property, and the value that scenes have.
    shapes: &'static [(&'static str, f64)],
    /// Curves that are objects of their own.
    objects: &'static [&'static str],
    /// Settings that scenes do not have: the property, the value where the file has none, and what
    /// is true of scenes.
    settings: &'static [(&'static str, f64, &'static str)],
}

const FIBRE: (&str, f64, &str) = (
    "default_fiber_length",
    0.1,
    "the fibre begins in equilibrium with its tendon, or with the path if that is rigid",
);
const LEAST: (&str, f64, &str) = (
    "minimum_activation",
    0.01,
    "the activation has no least value, which an excitation such as `max(0.01, ..)` gives it",
);
const STEEPEST: (&str, f64, &str) = (
    "maximum_pennation_angle",
    // The angle whose cosine is a tenth.
    1.470_628_905_633_336_8,
    "the pennation has no bound",
);
const EXTRAPOLATION: (&str, f64, &str) = (
    "fv_linear_extrap_threshold",
    0.95,
    "the curve of force over speed is that of scenes",
);

const THELEN: Kind = Kind {
    tag: "Thelen2003Muscle",
    curves: "Thelen2003",
    times: [0.015, 0.05],
    tendon_strain: 0.04,
    shapes: &[
        ("FmaxMuscleStrain", 0.6),
        ("KshapeActive", 0.45),
        ("KshapePassive", 5.0),
        ("Af", 0.25),
        ("Flen", 1.4),
    ],
    objects: &[],
    settings: &[FIBRE, LEAST, STEEPEST, EXTRAPOLATION],
};

const MILLARD: Kind = Kind {
    tag: "Millard2012EquilibriumMuscle",
    curves: "Millard2013",
    times: [0.01, 0.04],
    tendon_strain: 0.049,
    shapes: &[],
    objects: &[
        "ActiveForceLengthCurve",
        "ForceVelocityCurve",
        "FiberForceLengthCurve",
        "TendonForceLengthCurve",
    ],
    settings: &[FIBRE, LEAST, STEEPEST],
};

/// Numbers and choices of both kinds.
const KNOWN: [&str; 17] = [
    "optimal_force",
    "max_isometric_force",
    "optimal_fiber_length",
    "tendon_slack_length",
    "pennation_angle_at_optimal",
    "max_contraction_velocity",
    "ignore_tendon_compliance",
    "ignore_activation_dynamics",
    "activation_time_constant",
    "deactivation_time_constant",
    "fiber_damping",
    "FmaxTendonStrain",
    "default_activation",
    "default_fiber_length",
    "minimum_activation",
    "maximum_pennation_angle",
    "fv_linear_extrap_threshold",
];

/// Reads a muscle: one of Thelen or Millard et al. pulls; of others there is the length of the
/// path.
pub(super) fn read_muscle(reader: &mut ModelReader<'_>, of: usize, kind: &str) -> Result<()> {
    let spot = reader.spot(of);
    let course = match super::paths::read_path(reader, of)? {
        Ok(course) => course,
        Err(reason) => {
            let message = format!("a `{kind}` whose path {reason} is not taken: it does not pull");
            reader.tree.remark(spot, message);
            return Ok(());
        }
    };
    let name = own_name(reader, of);
    let pulls = [THELEN.tag, MILLARD.tag].contains(&kind);
    if pulls && reader.tree.not_negative(of, "max_isometric_force")? == Some(0.0) {
        super::forces::no_force(reader, of, "a `max_isometric_force`");
        return Ok(());
    }
    let effect = match kind {
        _ if kind == THELEN.tag => Along::Muscle(read_kind(reader, of, &THELEN)?),
        _ if kind == MILLARD.tag => Along::Muscle(read_kind(reader, of, &MILLARD)?),
        _ => {
            let message = format!(
                "a `{kind}` does not pull: of it there is the length of its path, to which a `MuscleTendon` can be given"
            );
            reader.tree.remark(spot, message);
            Along::Nothing
        }
    };
    super::paths::add_line(reader, of, name, course, effect);
    Ok(())
}

fn read_kind(reader: &mut ModelReader<'_>, of: usize, kind: &Kind) -> Result<Muscle> {
    let spot = reader.spot(of);
    let shapes: Vec<&str> = kind.shapes.iter().map(|(name, _)| *name).collect();
    let known = [&COMMON[..], &KNOWN, &shapes].concat();
    let inside = [&["GeometryPath"], kind.objects].concat();
    let tree = &mut *reader.tree;
    tree.expect(of, &known, &inside);
    for (name, ours) in kind.shapes {
        if tree.number(of, name)?.is_some_and(|x| (x - ours).abs() > 1e-9) {
            let message =
                format!("`{name}` is {ours} in scenes, as Thelen has it: that of the file is not taken");
            tree.remark(spot, message);
        }
    }
    for (name, usual, scenes) in kind.settings {
        // OpenSim writes angles with few digits.
        if tree.number(of, name)?.is_some_and(|x| (x - usual).abs() > 1e-5) {
            let message = format!("`{name}` is not taken: in scenes {scenes}");
            tree.remark(spot, message);
        }
    }
    let mut strain = tree
        .not_negative(of, "FmaxTendonStrain")?
        .unwrap_or(kind.tendon_strain);
    for curve in kind.objects {
        let Some(curve) = tree.child(of, curve) else {
            continue;
        };
        if let Some(own) = tree.not_negative(curve, "strain_at_one_norm_force")?
            && tree.elements[curve].tag == "TendonForceLengthCurve"
        {
            strain = own;
        }
        let spot = tree.elements[curve].spot;
        let message = format!(
            "the curve `{}` is that of Millard et al. in scenes: shapes of the file are not taken, but for the strain of the tendon",
            tree.elements[curve].tag
        );
        tree.remark(spot, message);
    }
    let rigid = truth(tree, of, "ignore_tendon_compliance")?;
    let mut dynamics = None;
    if !truth(tree, of, "ignore_activation_dynamics")? {
        let [rise, fall] = kind.times;
        let rise = tree.not_negative(of, "activation_time_constant")?.unwrap_or(rise);
        let fall = tree
            .not_negative(of, "deactivation_time_constant")?
            .unwrap_or(fall);
        if rigid {
            let message = "with a rigid tendon the activation is the excitation: its dynamics are not taken";
            tree.remark(spot, message);
        } else {
            dynamics = Some([rise, fall]);
            if tree.number(of, "default_activation")?.is_some_and(|x| x != 0.0) {
                let message = "`default_activation` is not taken: the activation begins as the excitation is, zero unless its parameter is set";
                tree.remark(spot, message);
            }
        }
    }
    if tree.number(of, "optimal_force")?.is_some_and(|x| x != 1.0) {
        tree.remark(spot, "`optimal_force` of a muscle is not taken");
    }
    let damping = tree.not_negative(of, "fiber_damping")?;
    Ok(Muscle {
        curves: kind.curves,
        force: tree.not_negative(of, "max_isometric_force")?.unwrap_or(1000.0),
        optimal_length: tree.not_negative(of, "optimal_fiber_length")?.unwrap_or(0.1),
        tendon_length: tree.not_negative(of, "tendon_slack_length")?.unwrap_or(0.2),
        pennation: tree
            .not_negative(of, "pennation_angle_at_optimal")?
            .unwrap_or(0.0),
        speed: tree.not_negative(of, "max_contraction_velocity")?.unwrap_or(10.0),
        tendon_strain: (!rigid).then_some(strain),
        damping: damping.filter(|_| kind.curves == MILLARD.curves),
        dynamics,
    })
}
