//! Force fields.

use super::observables::things;
use super::{Builder, InputCourse, Result, components, courses, joint_limits, muscles, run, solids};
use crate::quantity::{Acting, Any, ON_ANGLES, ON_LENGTHS, Takes};
use crate::schema::{BodyForceSpec, CurveSpec, ForceFieldSpec, Law, MatrixSpec, SpringLawSpec, Triple};
use crate::source::Where;
use crate::{Amount, Quantity, Units};
use pliant::continuum::{PronySeries, Relaxing};
use pliant::model::{
    BodyForce, ComponentId, ConstantForce, Damping, DiagonalCompliance, Drag, ForceField, FullCompliance,
    Gas, NodeId, Space, Spring, Torque, Treatment, UniformCompliance,
};

/// Inputs that depend on time, by their numbers.
pub(super) type Inputs = Vec<(usize, courses::Timed)>;

pub(super) fn force_field(builder: &mut Builder<'_>, spec: &ForceFieldSpec) -> Result<()> {
    let name = spec.name.as_str();
    let node = builder.node(&spec.on, name, "on")?;
    let relaxation = builder.number(&spec.relaxation_time, Where::Field(name, "relaxation_time"))?;
    let spring = matches!(
        spec.law,
        Law::Compliance(_) | Law::Stiffness(_) | Law::Diagonal(_) | Law::Matrix(_)
    );
    let ratio = damping_ratio(builder, spec, relaxation)?;
    if !spring && relaxation != 0.0 {
        let message = format!("`{name}` is no spring with a compliance, so it has no relaxation time");
        return builder.wrong(&[Where::Field(name, "relaxation_time")], message, None);
    }
    let series = solids::prony(builder, name, &spec.viscoelastic)?;
    let treatment = match spec.treatment {
        Some(given) => given,
        None if spring && series.is_none() => Treatment::Compliance,
        None => Treatment::Stiffness,
    };
    let mut inputs = Inputs::new();
    let law = match series {
        Some(series) => relaxing(builder, spec, node, series)?,
        None => law(builder, name, &spec.law, node, [relaxation, ratio], &mut inputs)?,
    };
    let id = builder
        .model
        .add_boxed_force_field(name, node, law, treatment)
        .map_err(|e| builder.model_error(e))?;
    if matches!(
        spec.law,
        Law::AxialMuscle(_) | Law::MuscleTendon(_) | Law::ForceLengthMuscle(_)
    ) {
        builder.picture.muscles.push((node, id));
    }
    follow(builder, id, inputs)?;
    components::drive(
        builder,
        name,
        id,
        node,
        spec.motion.as_ref(),
        spec.bounds.as_ref(),
    )?;
    if let Some(alpha) = &spec.alpha {
        let alpha = run::weight(builder, alpha, Where::Field(name, "alpha"))?;
        builder.options.own_alpha.push((id, alpha));
    }
    Ok(())
}

/// The damping ratio of a spring, zero for none.
fn damping_ratio(builder: &Builder<'_>, spec: &ForceFieldSpec, relaxation: f64) -> Result<f64> {
    let name = spec.name.as_str();
    let at = Where::Field(name, "damping_ratio");
    let Some(ratio) = &spec.damping_ratio else {
        return Ok(0.0);
    };
    let has_one = matches!(
        spec.law,
        Law::Compliance(_) | Law::Stiffness(_) | Law::Diagonal(_)
    );
    if !has_one || !spec.viscoelastic.is_empty() {
        let message = format!("`{name}` takes no damping ratio");
        let help = "`Compliance`, `Stiffness` and `Diagonal` do that do not relax".to_owned();
        return builder.wrong(&[at, Where::Name(name)], message, Some(help));
    }
    if relaxation != 0.0 {
        return joint_limits::damped_twice(builder, name);
    }
    components::not_negative(builder, ratio, at)
}

/// Makes inputs of a force field follow the time.
pub(super) fn follow(builder: &mut Builder<'_>, id: ComponentId, inputs: Inputs) -> Result<()> {
    for (input, timed) in inputs {
        let program = timed.now;
        // What the law does not allow shall be found before the run.
        for time in courses::sample_times(builder, &program).chain([0.0]) {
            let set = builder.model.set_input(id, input, program.jet(time).value);
            set.map_err(|e| builder.model_error(e))?;
        }
        builder.inputs.push(InputCourse {
            component: id,
            input,
            program,
            varying: timed.varying,
        });
    }
    Ok(())
}

impl Acting {
    /// The units of what acts on a node, if its coordinates are lengths or angles.
    pub(super) fn on(builder: &Builder<'_>, node: NodeId) -> Option<&'static Self> {
        // Velocities of bodies are of two kinds.
        if builder.model.node(node).space == Space::Rigid3 {
            return None;
        }
        match things::unit(builder, node) {
            "m" => Some(&ON_LENGTHS),
            "rad" => Some(&ON_ANGLES),
            _ => None,
        }
    }
}

/// Numbers of what takes these units.
fn fitting<D: Units>(numbers: &[Quantity<D>], takes: Option<&'static Takes>) -> Vec<Quantity<D>> {
    numbers.iter().map(|number| number.fitting(takes)).collect()
}

/// Springs that relax.
fn relaxing(
    builder: &Builder<'_>,
    spec: &ForceFieldSpec,
    node: NodeId,
    series: PronySeries,
) -> Result<Box<dyn ForceField>> {
    let name = spec.name.as_str();
    let (at, law) = (Where::Field(name, "viscoelastic"), Where::Field(name, "law"));
    if builder.number(&spec.relaxation_time, Where::Field(name, "relaxation_time"))? != 0.0 {
        let message = format!("`{name}` relaxes by a series, so it has no relaxation time beside it");
        return builder.wrong(&[Where::Field(name, "relaxation_time"), at], message, None);
    }
    let entry = builder.model.node(node);
    let (size, count) = (entry.space.velocity_size(), entry.count);
    let on = Acting::on(builder, node);
    let of = |number: &Quantity<Any>, takes| builder.positive(&number.fitting(takes), law);
    let (soft, stiff) = (on.map(|on| on.compliance), on.map(|on| on.stiffness));
    let made = match &spec.law {
        Law::Compliance(c) => Relaxing::springs(size, &vec![1.0 / of(c, soft)?; count], series),
        Law::Stiffness(k) => Relaxing::springs(size, &vec![of(k, stiff)?; count], series),
        Law::Diagonal(list) if list.len() == size => {
            let list = fitting(list, soft);
            let soft = list.iter().map(|c| Ok(1.0 / builder.positive(c, law)?));
            Relaxing::diagonal(&soft.collect::<Result<Vec<_>>>()?, &vec![1.0; count], series)
        }
        _ => {
            let message = format!(
                "`{name}` cannot relax: that is for `Compliance`, `Stiffness` and `Diagonal` with a number for each coordinate of one element"
            );
            return builder.wrong(&[at, law, Where::Name(name)], message, None);
        }
    };
    match made {
        Ok(made) => Ok(Box::new(made)),
        Err(error) => Err(builder.continuum_error(name, "law", error)),
    }
}

fn law(
    builder: &Builder<'_>,
    name: &str,
    law: &Law,
    node: NodeId,
    [relaxation, ratio]: [f64; 2],
    inputs: &mut Inputs,
) -> Result<Box<dyn ForceField>> {
    let at = Where::Field(name, "law");
    let field = |key| Where::Field(name, key);
    let has_axes = match law {
        Law::Compliance(_) | Law::Stiffness(_) | Law::Spring(_) => builder.is_absolute(node),
        Law::Diagonal(_) | Law::Matrix(_) => {
            matches!(builder.model.node(node).space, Space::Real(2 | 3))
                && !builder.is_relative_to_bodies(node)
        }
        _ => false,
    };
    if has_axes {
        builder.refuse_axes(&format!("`{name}`"), at)?;
    }
    let on = Acting::on(builder, node);
    Ok(match law {
        Law::Compliance(compliance) => {
            let law =
                UniformCompliance::new(builder.number(&compliance.fitting(on.map(|on| on.compliance)), at)?);
            Box::new(law.with_relaxation_time(relaxation).with_damping_ratio(ratio))
        }
        Law::Stiffness(stiffness) => {
            let law = UniformCompliance::from_stiffness(
                builder.positive(&stiffness.fitting(on.map(|on| on.stiffness)), at)?,
            );
            Box::new(law.with_relaxation_time(relaxation).with_damping_ratio(ratio))
        }
        Law::Diagonal(list) => {
            let list = fitting(list, on.map(|on| on.compliance));
            let law = DiagonalCompliance::new(&builder.numbers(&list, at)?);
            Box::new(law.with_relaxation_time(relaxation).with_damping_ratio(ratio))
        }
        Law::Matrix(matrix) => Box::new(matrix_law(builder, name, matrix, node, relaxation)?),
        Law::Damping(damping) => {
            let linear = damping.linear.fitting(on.map(|on| on.damping));
            let linear = builder.number(&linear, field("linear"))?;
            let angular = builder.number(&damping.angular, field("angular"))?;
            Box::new(Damping::new(linear).with_angular(angular))
        }
        Law::Drag(drag) => {
            let of = |number: &Amount, key| builder.number(number, field(key));
            let linear = drag.linear.fitting(on.map(|on| on.damping));
            let quadratic = drag.quadratic.fitting(on.map(|on| on.drag));
            let law = Drag::new(of(&linear, "linear")?, of(&quadratic, "quadratic")?);
            let angular = of(&drag.angular, "angular")?;
            Box::new(law.with_angular(angular, of(&drag.angular_quadratic, "angular_quadratic")?))
        }
        Law::Force(force) => {
            let force = fitting(force, on.map(|on| on.force));
            let turned = builder.turned(&force, at);
            let force = timed_list(builder, turned.as_deref().unwrap_or(&force), at, 0, inputs)?;
            Box::new(ConstantForce::new(&force))
        }
        Law::Torque(torque) => match timed_list(
            builder,
            builder.turned(torque, at).as_deref().unwrap_or(torque),
            at,
            0,
            inputs,
        )?[..]
        {
            [x, y, z] => Box::new(Torque::new([x, y, z])),
            _ => {
                let message = format!(
                    "the torque of `{name}` has {} numbers, needed are 3",
                    torque.len()
                );
                return builder.wrong(&[at, Where::Name(name)], message, None);
            }
        },
        Law::BodyForce(load) => Box::new(body_force_law(builder, name, load, inputs)?),
        Law::Gas(gas) => {
            let law = Gas::new(
                builder.number(&gas.pressure, field("pressure"))?,
                builder.number(&gas.volume, field("volume"))?,
                builder.number(&gas.exponent, field("exponent"))?,
            );
            Box::new(law.with_ambient(timed(builder, &gas.ambient, field("ambient"), 0, inputs)?))
        }
        Law::AxialMuscle(muscle) => Box::new(muscles::axial(builder, name, muscle, inputs)?),
        Law::MuscleTendon(muscle) => Box::new(muscles::with_tendon(builder, name, muscle, inputs)?),
        Law::ForceLengthMuscle(muscle) => Box::new(muscles::force_length(builder, name, muscle, inputs)?),
        Law::Ligament(ligament) => Box::new(muscles::ligament(builder, name, ligament)?),
        Law::Spring(spring) => Box::new(spring_law(builder, name, spring, on, inputs)?),
    })
}

/// The value at the start of a number that may depend on time; if it does, it is one of the
/// inputs.
pub(super) fn timed(
    builder: &Builder<'_>,
    number: &Amount,
    at: Where<'_>,
    input: usize,
    inputs: &mut Inputs,
) -> Result<f64> {
    let timed = courses::program(builder, number, at)?;
    let value = timed.now.jet(0.0).value;
    if timed.now.is_timed() || timed.varying.is_some() {
        inputs.push((input, timed));
    }
    Ok(value)
}

pub(super) fn timed_list(
    builder: &Builder<'_>,
    numbers: &[Quantity<impl Units>],
    at: Where<'_>,
    first: usize,
    inputs: &mut Inputs,
) -> Result<Vec<f64>> {
    let one =
        |(k, number): (usize, &Quantity<_>)| timed(builder, number, at, first.saturating_add(k), inputs);
    numbers.iter().enumerate().map(one).collect()
}

fn timed_triple(
    builder: &Builder<'_>,
    numbers: Option<&Triple<impl Units>>,
    at: Where<'_>,
    first: usize,
    inputs: &mut Inputs,
) -> Result<[f64; 3]> {
    let mut out = [0.0; 3];
    for (k, number) in numbers.iter().flat_map(|n| n.iter()).enumerate() {
        out[k] = timed(builder, number, at, first.saturating_add(k), inputs)?;
    }
    Ok(out)
}

fn body_force_law(
    builder: &Builder<'_>,
    name: &str,
    spec: &BodyForceSpec,
    inputs: &mut Inputs,
) -> Result<BodyForce> {
    let point = match &spec.point {
        Some(point) => builder.triple(point, Where::Field(name, "point"))?,
        None => [0.0; 3],
    };
    let force = timed_triple(
        builder,
        spec.force.as_ref(),
        Where::Field(name, "force"),
        0,
        inputs,
    )?;
    let torque = timed_triple(
        builder,
        spec.torque.as_ref(),
        Where::Field(name, "torque"),
        3,
        inputs,
    )?;
    Ok(BodyForce::new(point, force).with_torque(torque))
}

fn matrix_law(
    builder: &Builder<'_>,
    name: &str,
    spec: &MatrixSpec,
    node: NodeId,
    relaxation: f64,
) -> Result<FullCompliance> {
    let at = |key| Where::Field(name, key);
    let mut law = match (&spec.compliance, &spec.stiffness) {
        (Some(list), None) => FullCompliance::from_compliance(&builder.numbers(list, at("compliance"))?),
        (None, Some(list)) => FullCompliance::from_stiffness(&builder.numbers(list, at("stiffness"))?),
        _ => {
            let message = format!("the matrix of `{name}` needs exactly one of `compliance` and `stiffness`");
            return builder.wrong(&[at("law"), Where::Name(name)], message, None);
        }
    };
    if spec.whole_node {
        law = law.over_elements(builder.model.node(node).count);
    }
    if let Some(list) = &spec.damping {
        law = law.with_damping(&builder.numbers(list, at("damping"))?);
    }
    Ok(law.with_relaxation_time(relaxation))
}

fn spring_law(
    builder: &Builder<'_>,
    name: &str,
    spec: &SpringLawSpec,
    on: Option<&Acting>,
    inputs: &mut Inputs,
) -> Result<Spring> {
    let at = Where::Field(name, "curve");
    let of = |number: &Quantity<Any>, takes| builder.number(&number.fitting(takes), at);
    let stiffness = |number| of(number, on.map(|on| on.stiffness));
    let (coordinate, force) = (on.map(|on| on.coordinate), on.map(|on| on.force));
    let law = match &spec.curve {
        CurveSpec::Linear(k) => Spring::linear(stiffness(k)?),
        CurveSpec::TensionOnly(k) => Spring::tension_only(stiffness(k)?),
        CurveSpec::CompressionOnly(k) => Spring::compression_only(stiffness(k)?),
        CurveSpec::Saturating(curve) => {
            Spring::saturating(stiffness(&curve.stiffness)?, of(&curve.limit, force)?)
        }
        CurveSpec::Stiffening(curve) => {
            let cubic = of(&curve.cubic, on.map(|on| on.cubic))?;
            Spring::stiffening(stiffness(&curve.stiffness)?, cubic)
        }
        CurveSpec::Table(points) => {
            let mut list = Vec::with_capacity(points.len());
            for (x, tension) in points {
                list.push((of(x, coordinate)?, of(tension, force)?));
            }
            Spring::table(&list)
        }
    };
    let damping = spec.damping.fitting(on.map(|on| on.damping));
    let law = law.with_damping(builder.number(&damping, Where::Field(name, "damping"))?);
    Ok(match &spec.rest {
        None => law,
        Some(rest) => {
            let rest = rest.fitting(coordinate);
            law.with_rest(timed(builder, &rest, Where::Field(name, "rest"), 0, inputs)?)
        }
    })
}
