//! Errors of the model at their places in the scene: the key of the argument that an error is
//! about.

use crate::SceneError;
use crate::source::{Source, Where};
use pliant::collision::ContactError;
use pliant::continuum::ContinuumError;
use pliant::model::{Field, ModelError};

/// The keys that may hold an argument, in the order in which they are looked for.
fn keys(field: Field) -> &'static [&'static str] {
    use Field as F;
    match field {
        F::ActivationShares => &["share"],
        F::ActivationTime | F::DeactivationTime => &["dynamics"],
        F::Activations => &["activation"],
        F::AmbientPressure => &["ambient"],
        F::AcrossShear => &["across"],
        F::AlongShear => &["along"],
        F::AngularDamping => &["angular"],
        F::AngularVelocity => &["angular_velocity"],
        F::Area | F::SecondMoments | F::ShearFactors | F::TorsionConstant => &["section"],
        F::Axes | F::Axis | F::Heading => &["axes"],
        F::BallRadius | F::CylinderRadius => &["radius"],
        F::Bending | F::ShellBending => &["bending"],
        F::BulkModulus => &["bulk"],
        F::BulkShareLeft
        | F::BulkShares
        | F::NumberOfPronyTerms
        | F::PronyTimes
        | F::Series
        | F::ShearShareLeft
        | F::ShearShares => &["viscoelastic"],
        F::Cells => &["cells"],
        F::CellsAround => &["around"],
        F::Clamp => &["clamp_boxes"],
        F::CoefficientOfFirstSquare => &["c20"],
        F::CoefficientOfProduct => &["c11"],
        F::CoefficientOfSecondSquare => &["c02"],
        F::Coefficients => &["entries"],
        F::Compliance | F::ComplianceMatrix => &["compliance"],
        F::Compliances => &["compliance", "compliances"],
        F::ComplianceOfShear | F::ComplianceOfWarp | F::ComplianceOfWeft => &["material"],
        F::ComplianceTreatment | F::StiffnessTreatment => &["treatment"],
        F::CubicStiffness => &["cubic", "curve"],
        F::Curvature => &["curvature"],
        F::CurveExtensions | F::CurveForces => &["curve"],
        F::CylinderLength | F::TubeLength => &["length"],
        F::Damping => &["damping", "linear"],
        F::DampingEntries | F::DampingMatrix => &["damping"],
        F::DampingRatio => &["damping_ratio", "restitution"],
        F::Density => &["density"],
        F::Dimension => &["dimension"],
        F::Directions => &["points", "direction", "side"],
        F::LocalPoints | F::LocalPointsAndWeights => &["points", "direction"],
        F::DirectionLength => &["direction", "side"],
        F::DrumRadius => &["drums"],
        F::Edges => &["size"],
        F::EnhancedStrains => &["enhanced_strains"],
        F::Excitations => &["excitation"],
        F::Exponent => &["exponent"],
        F::Factors => &["factors"],
        F::FibreDamping => &["damping"],
        F::FibreDispersion => &["dispersion"],
        F::FibreExponent => &["k2", "exponent"],
        F::FibreFamilies => &["families"],
        F::FibreStiffness => &["k1", "passive"],
        F::FifthCoefficient => &["c5"],
        F::FirstCoefficient => &["c1"],
        F::ForceAndTorque | F::Forces => &["force"],
        F::FrameLength | F::Frames => &["frames", "pairs", "obstacles"],
        F::FourthCoefficient => &["c4"],
        F::Friction => &["friction"],
        F::Incompressibility => &["incompressibility"],
        F::Inextensible => &["inextensible"],
        F::InnerRadius => &["inner_radius"],
        F::IsotropicHardening => &["isotropic"],
        F::KinematicHardening => &["kinematic"],
        F::LargestForce => &["force", "limit"],
        F::LargestLength => &["largest_length"],
        F::PassiveShare => &["passive"],
        F::SemiAxes => &["semi_axes"],
        F::Skew => &["skew"],
        F::SlackLength => &["slack_length"],
        F::TendonShare => &["tendon"],
        F::Toe => &["toe"],
        F::TransitionStrain => &["transition_strain"],
        F::LargestSpeed => &["speed"],
        F::Mass => &["mass"],
        F::Obstacles | F::WrapRadius | F::WrapSemiAxes => &["obstacles"],
        F::Offsets | F::OffsetsAndRadii | F::OffsetsAndRatios => &["offset"],
        F::OgdenExponents | F::OgdenModuli | F::OgdenTerms | F::SmallStrainModulus => &["terms"],
        F::MaterialAxes => &["axes"],
        F::LimitStretch => &["limit"],
        F::MuscleStress => &["stress"],
        F::OptimalStretch => &["optimal"],
        F::StraightStiffness | F::StraightStretch => &["straight"],
        F::OptimalLength => &["optimal_length"],
        F::Parents => &["parents"],
        F::Pennation => &["pennation"],
        F::Pitch => &["pitch"],
        F::Plasticity => &["plastic"],
        F::PointOfAttack => &["point"],
        F::Points => &["ropes"],
        F::PointWeightSum | F::WeightSum | F::Weights => &["groups", "points"],
        F::Poisson | F::PoissonTogether | F::PoissonXy | F::PoissonYz | F::PoissonZx => &["poisson"],
        F::Positions => &["position", "positions"],
        F::Pressure => &["pressure"],
        F::Rate | F::RateOfSaturation => &["rate"],
        F::RelaxationTime | F::RelaxationTimes => &["relaxation_time"],
        F::RestLength => &["rest", "rest_length"],
        F::RestAngles | F::RestAreas | F::RestPoses | F::RestRotations | F::RestVolumes => &["rest"],
        F::RestLengths => &["rest", "ropes"],
        F::RestStrains | F::SegmentLengths => &["segments"],
        F::Restitution => &["coefficient"],
        F::SecondCoefficient => &["c2"],
        F::Smoothing => &["smoothing"],
        F::Stiffness | F::StiffnessMatrix => &["stiffness", "curve"],
        F::Prestretch | F::Stretch => &["stretch"],
        F::Symmetry | F::SymmetryPlace => &["symmetry"],
        F::Tangent => &["tangent"],
        F::Targets => &["target", "motion"],
        F::TendonLength => &["tendon_length"],
        F::TendonStrain => &["tendon_strain"],
        F::ThirdCoefficient => &["c3"],
        F::Thickness => &["thickness"],
        F::Torque => &["torque"],
        F::Twist => &["twist"],
        F::Velocities => &["velocity", "velocities"],
        F::Volume => &["volume"],
        F::VolumeEnergy => &["volume_energy"],
        F::Wall => &["outer_radius"],
        F::YieldRise => &["rise"],
        F::YieldStress => &["yield_stress"],
        F::Young => &["young"],
        _ => &[],
    }
}

/// The name that an error of the model bears, the keys of its argument, and the place in a list.
fn subject(error: &ModelError) -> (&str, &'static [&'static str], Option<usize>) {
    match error {
        ModelError::NotFinite {
            name, field, index, ..
        }
        | ModelError::OutOfRange {
            name, field, index, ..
        } => (name, keys(*field), *index),
        ModelError::Size { name, field, .. } | ModelError::Matrix { name, field, .. } => {
            (name, keys(*field), None)
        }
        ModelError::ZeroQuaternion { name, element } => (name, &["rotation"], Some(*element)),
        ModelError::Inertia { name, element, .. } => (name, &["inertia"], Some(*element)),
        ModelError::Bounds { name, .. } => (name, &["bounds"], None),
        ModelError::DuplicateName { name }
        | ModelError::Element { name, .. }
        | ModelError::Parent { name, .. }
        | ModelError::Space { name, .. }
        | ModelError::UnknownNode { name, .. }
        | ModelError::NotIndependent { name, .. }
        | ModelError::NotInvertible { name, .. }
        | ModelError::NoCompliance { name }
        | ModelError::FreeAxis { name, .. }
        | ModelError::NotRows { name, .. }
        | ModelError::Mesh { name, .. } => (name, &[], None),
        ModelError::Immovable { name, .. } | ModelError::SharedRatios { name } => {
            (name, &["damping_ratio"], None)
        }
        // Of a formula; no other mapping has these keys.
        ModelError::Degenerate { name, .. } => (name, &["energy", "values"], None),
        _ => ("", &[], None),
    }
}

/// The element that an error is about, if it is about one.
pub(super) fn element_of(error: &ModelError) -> Option<usize> {
    subject(error).2
}

/// A complaint of the model at the place of its argument, or else of the name that it bears.
pub(super) fn model_error(source: Source<'_>, error: ModelError) -> SceneError {
    let (name, keys, index) = subject(&error);
    // Parts name what they make `part.something`.
    let part = name.split_once('.').map_or(name, |(part, _)| part);
    let longer = name.rsplit_once('.').map_or(name, |(part, _)| part);
    let owners = [name, longer, part];
    let mut places = Vec::new();
    for owner in owners {
        let items = keys.iter().zip(index.into_iter().cycle());
        places.extend(items.map(|(key, index)| Where::Item(owner, key, index)));
        places.extend(keys.iter().map(|key| Where::Field(owner, key)));
        if has_argument(&error) {
            places.push(Where::Field(owner, "law"));
        }
    }
    places.extend(owners.map(Where::Name));
    let diagnostic = Box::new(source.about(&places, error.to_string(), None));
    SceneError::Model {
        diagnostic,
        source: error,
    }
}

/// Whether an error is about an argument, which may be a number of the law itself.
fn has_argument(error: &ModelError) -> bool {
    matches!(
        error,
        ModelError::NotFinite { .. }
            | ModelError::OutOfRange { .. }
            | ModelError::Size { .. }
            | ModelError::Matrix { .. }
    )
}

/// A complaint about a solid, a sheet or a rod, at the key of its argument, or else at `key`.
pub(super) fn continuum_error(
    source: Source<'_>,
    name: &str,
    key: &str,
    error: ContinuumError,
) -> SceneError {
    // The error itself, without its place.
    let cause = match &error {
        ContinuumError::Point { error, .. } => error,
        error => error,
    };
    let found = match cause {
        ContinuumError::Model(error) => return model_error(source, error.clone()),
        ContinuumError::OutOfRange { field, .. }
        | ContinuumError::NotFinite { field, .. }
        | ContinuumError::Conflict { field, .. } => keys(*field),
        ContinuumError::Symmetry { .. } => &["symmetry"],
        ContinuumError::ClampedNode { .. } => &["clamp_boxes"],
        ContinuumError::Axes { .. } => &["axes"],
        _ => &[],
    };
    let help = match cause {
        ContinuumError::Mesh { .. } => {
            Some("`repair: true` puts elements right that are inside out, and leaves out nodes of no element")
        }
        ContinuumError::Conflict {
            field: Field::Plasticity,
            with: "a hyperelastic material",
            ..
        } => Some("`Hencky(young: .., poisson: ..)` yields at finite strains, `Corotational` at small ones"),
        ContinuumError::Conflict {
            field: Field::KinematicHardening,
            ..
        } => Some("leave `kinematic` out, or take `Corotational` if strains are small"),
        _ => None,
    };
    let help = help.map(str::to_owned);
    let keys = found.iter().copied().chain([key]);
    let mut places: Vec<_> = keys.map(|key| Where::Field(name, key)).collect();
    places.push(Where::Name(name));
    let message = format!("`{name}`: {error}");
    SceneError::Value(Box::new(source.about(&places, message, help)))
}

/// A complaint of the collision geometry: at `key` where it is about a number, else at the shape.
pub(super) fn contact_error(source: Source<'_>, name: &str, key: &str, error: &ContactError) -> SceneError {
    use ContactError as E;
    let key = match error {
        E::NotFinite { .. } | E::OutOfRange { .. } => key,
        _ => "shape",
    };
    let places = [
        Where::Used(name, key),
        Where::Field(name, key),
        Where::Field(name, "shape"),
        Where::Name(name),
    ];
    let is_named = match error {
        E::ZeroQuaternion { name: named }
        | E::DuplicateName { name: named }
        | E::Space { name: named, .. }
        | E::Missing { name: named, .. }
        | E::Placement { name: named, .. }
        | E::State { name: named, .. } => named == name,
        _ => false,
    };
    let message = if is_named {
        error.to_string()
    } else {
        format!("`{name}`: {error}")
    };
    SceneError::Value(Box::new(source.about(&places, message, None)))
}
