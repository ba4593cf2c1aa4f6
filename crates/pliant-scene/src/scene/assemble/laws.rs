//! Force fields.

use super::{Builder, InputCourse, Result};
use crate::scene::expression::Program;
use crate::scene::schema::{
    BodyForceSpec, CurveSpec, ForceFieldSpec, Law, MatrixSpec, MuscleSpec, SpringLawSpec, Triple,
};
use crate::scene::source::Where;
use crate::scene::{Number, OneOrMany};
use pliant::continuum::{PronySeries, Relaxing};
use pliant::model::{
    AxialMuscle, BodyForce, ConstantForce, Damping, DiagonalCompliance, Drag, ForceField, FullCompliance,
    Gas, NodeId, Spring, Torque, Treatment, UniformCompliance,
};

/// Inputs that depend on time, by their numbers.
type Inputs = Vec<(usize, Program)>;

impl Builder<'_> {
    pub(super) fn force_field(&mut self, spec: &ForceFieldSpec) -> Result<()> {
        let name = spec.name.as_str();
        let node = self.node(&spec.on, name, "on")?;
        let relaxation = self.number(&spec.relaxation_time, Where::Field(name, "relaxation_time"))?;
        let spring = matches!(
            spec.law,
            Law::Compliance(_) | Law::Stiffness(_) | Law::Diagonal(_) | Law::Matrix(_)
        );
        if !spring && relaxation != 0.0 {
            let message = format!("`{name}` is no spring with a compliance, so it has no relaxation time");
            return self.wrong(&[Where::Field(name, "relaxation_time")], message, None);
        }
        let series = self.prony(name, &spec.viscoelastic)?;
        let treatment = match spec.treatment {
            Some(given) => given,
            None if spring && series.is_none() => Treatment::Compliance,
            None => Treatment::Stiffness,
        };
        let mut inputs = Inputs::new();
        let law = match series {
            Some(series) => self.relaxing(spec, node, series)?,
            None => self.law(name, &spec.law, node, relaxation, &mut inputs)?,
        };
        let id = self
            .model
            .add_boxed_force_field(name, node, law, treatment)
            .map_err(|e| self.model_error(e))?;
        for (input, program) in inputs {
            // What the law does not allow shall be found before the run.
            for time in self.sample_times(&program).chain([0.0]) {
                let set = self.model.set_input(id, input, program.jet(time).value);
                set.map_err(|e| self.model_error(e))?;
            }
            self.inputs.push(InputCourse {
                component: id,
                input,
                program,
            });
        }
        self.drive(name, id, node, spec.motion.as_ref(), spec.bounds.as_ref())?;
        if let Some(alpha) = &spec.alpha {
            let alpha = self.weight(alpha, Where::Field(name, "alpha"))?;
            self.options.own_alpha.push((id, alpha));
        }
        Ok(())
    }

    /// Springs that relax.
    fn relaxing(
        &self,
        spec: &ForceFieldSpec,
        node: NodeId,
        series: PronySeries,
    ) -> Result<Box<dyn ForceField>> {
        let name = spec.name.as_str();
        let (at, law) = (Where::Field(name, "viscoelastic"), Where::Field(name, "law"));
        if self.number(&spec.relaxation_time, Where::Field(name, "relaxation_time"))? != 0.0 {
            let message = format!("`{name}` relaxes by a series, so it has no relaxation time beside it");
            return self.wrong(&[Where::Field(name, "relaxation_time"), at], message, None);
        }
        let entry = self.model.node(node);
        let (size, count) = (entry.space.velocity_size(), entry.count);
        let made = match &spec.law {
            Law::Compliance(c) => Relaxing::springs(size, &vec![1.0 / self.positive(c, law)?; count], series),
            Law::Stiffness(k) => Relaxing::springs(size, &vec![self.positive(k, law)?; count], series),
            Law::Diagonal(list) if list.len() == size => {
                let soft = list.iter().map(|c| Ok(1.0 / self.positive(c, law)?));
                Relaxing::diagonal(&soft.collect::<Result<Vec<_>>>()?, &vec![1.0; count], series)
            }
            _ => {
                let message = format!(
                    "`{name}` cannot relax: that is for `Compliance`, `Stiffness` and `Diagonal` with a number for each coordinate of one element"
                );
                return self.wrong(&[at, law, Where::Name(name)], message, None);
            }
        };
        match made {
            Ok(made) => Ok(Box::new(made)),
            Err(error) => Err(self.continuum_error(name, "law", error)),
        }
    }

    fn law(
        &self,
        name: &str,
        law: &Law,
        node: NodeId,
        relaxation: f64,
        inputs: &mut Inputs,
    ) -> Result<Box<dyn ForceField>> {
        let at = Where::Field(name, "law");
        let field = |key| Where::Field(name, key);
        Ok(match law {
            Law::Compliance(compliance) => {
                let law = UniformCompliance::new(self.number(compliance, at)?);
                Box::new(law.with_relaxation_time(relaxation))
            }
            Law::Stiffness(stiffness) => {
                let law = UniformCompliance::from_stiffness(self.positive(stiffness, at)?);
                Box::new(law.with_relaxation_time(relaxation))
            }
            Law::Diagonal(list) => {
                let law = DiagonalCompliance::new(&self.numbers(list, at)?);
                Box::new(law.with_relaxation_time(relaxation))
            }
            Law::Matrix(matrix) => Box::new(self.matrix(name, matrix, node, relaxation)?),
            Law::Damping(damping) => {
                let linear = self.number(&damping.linear, field("linear"))?;
                let angular = self.number(&damping.angular, field("angular"))?;
                Box::new(Damping::new(linear).with_angular(angular))
            }
            Law::Drag(drag) => {
                let of = |number, key| self.number(number, field(key));
                let law = Drag::new(of(&drag.linear, "linear")?, of(&drag.quadratic, "quadratic")?);
                let angular = of(&drag.angular, "angular")?;
                Box::new(law.with_angular(angular, of(&drag.angular_quadratic, "angular_quadratic")?))
            }
            Law::Force(force) => Box::new(ConstantForce::new(&self.timed_list(force, at, 0, inputs)?)),
            Law::Torque(torque) => match self.timed_list(torque, at, 0, inputs)?[..] {
                [x, y, z] => Box::new(Torque::new([x, y, z])),
                _ => {
                    let message = format!(
                        "the torque of `{name}` has {} numbers, needed are 3",
                        torque.len()
                    );
                    return self.wrong(&[at, Where::Name(name)], message, None);
                }
            },
            Law::BodyForce(load) => Box::new(self.body_force(name, load, inputs)?),
            Law::Gas(gas) => {
                let law = Gas::new(
                    self.number(&gas.pressure, field("pressure"))?,
                    self.number(&gas.volume, field("volume"))?,
                    self.number(&gas.exponent, field("exponent"))?,
                );
                Box::new(law.with_ambient(self.timed(&gas.ambient, field("ambient"), 0, inputs)?))
            }
            Law::AxialMuscle(muscle) => Box::new(self.muscle(name, muscle, inputs)?),
            Law::Spring(spring) => Box::new(self.spring(name, spring, inputs)?),
        })
    }

    /// The value at the start of a number that may depend on time; if it does, it is one of the
    /// inputs.
    fn timed(&self, number: &Number, at: Where<'_>, input: usize, inputs: &mut Inputs) -> Result<f64> {
        let program = self.program(number, at)?;
        let value = program.jet(0.0).value;
        if program.is_timed() {
            inputs.push((input, program));
        }
        Ok(value)
    }

    fn timed_list(
        &self,
        numbers: &[Number],
        at: Where<'_>,
        first: usize,
        inputs: &mut Inputs,
    ) -> Result<Vec<f64>> {
        let one = |(k, number)| self.timed(number, at, first + k, inputs);
        numbers.iter().enumerate().map(one).collect()
    }

    fn timed_triple(
        &self,
        numbers: Option<&Triple>,
        at: Where<'_>,
        first: usize,
        inputs: &mut Inputs,
    ) -> Result<[f64; 3]> {
        let mut out = [0.0; 3];
        for (k, number) in numbers.iter().flat_map(|n| n.iter()).enumerate() {
            out[k] = self.timed(number, at, first + k, inputs)?;
        }
        Ok(out)
    }

    fn body_force(&self, name: &str, spec: &BodyForceSpec, inputs: &mut Inputs) -> Result<BodyForce> {
        let point = match &spec.point {
            Some(point) => self.triple(point, Where::Field(name, "point"))?,
            None => [0.0; 3],
        };
        let force = self.timed_triple(spec.force.as_ref(), Where::Field(name, "force"), 0, inputs)?;
        let torque = self.timed_triple(spec.torque.as_ref(), Where::Field(name, "torque"), 3, inputs)?;
        Ok(BodyForce::new(point, force).with_torque(torque))
    }

    fn muscle(&self, name: &str, spec: &MuscleSpec, inputs: &mut Inputs) -> Result<AxialMuscle> {
        let of = |number, key| self.number(number, Where::Field(name, key));
        let law = AxialMuscle::new(
            of(&spec.force, "force")?,
            of(&spec.optimal_length, "optimal_length")?,
            of(&spec.speed, "speed")?,
        );
        let at = Where::Field(name, "activation");
        let activations = match &spec.activation {
            OneOrMany::One(number) => vec![self.timed(number, at, 0, inputs)?],
            OneOrMany::Many(list) => self.timed_list(list, at, 0, inputs)?,
        };
        Ok(law
            .with_damping(of(&spec.damping, "damping")?)
            .with_activations(&activations))
    }

    fn matrix(&self, name: &str, spec: &MatrixSpec, node: NodeId, relaxation: f64) -> Result<FullCompliance> {
        let at = |key| Where::Field(name, key);
        let mut law = match (&spec.compliance, &spec.stiffness) {
            (Some(list), None) => FullCompliance::from_compliance(&self.numbers(list, at("compliance"))?),
            (None, Some(list)) => FullCompliance::from_stiffness(&self.numbers(list, at("stiffness"))?),
            _ => {
                let message =
                    format!("the matrix of `{name}` needs exactly one of `compliance` and `stiffness`");
                return self.wrong(&[at("law"), Where::Name(name)], message, None);
            }
        };
        if spec.whole_node {
            law = law.over_elements(self.model.node(node).count);
        }
        if let Some(list) = &spec.damping {
            law = law.with_damping(&self.numbers(list, at("damping"))?);
        }
        Ok(law.with_relaxation_time(relaxation))
    }

    fn spring(&self, name: &str, spec: &SpringLawSpec, inputs: &mut Inputs) -> Result<Spring> {
        let at = Where::Field(name, "curve");
        let of = |number| self.number(number, at);
        let law = match &spec.curve {
            CurveSpec::Linear(k) => Spring::linear(of(k)?),
            CurveSpec::TensionOnly(k) => Spring::tension_only(of(k)?),
            CurveSpec::CompressionOnly(k) => Spring::compression_only(of(k)?),
            CurveSpec::Saturating(curve) => Spring::saturating(of(&curve.stiffness)?, of(&curve.limit)?),
            CurveSpec::Stiffening(curve) => Spring::stiffening(of(&curve.stiffness)?, of(&curve.cubic)?),
            CurveSpec::Table(points) => {
                let mut list = Vec::with_capacity(points.len());
                for (x, tension) in points {
                    list.push((of(x)?, of(tension)?));
                }
                Spring::table(&list)
            }
        };
        let law = law.with_damping(self.number(&spec.damping, Where::Field(name, "damping"))?);
        Ok(match &spec.rest {
            None => law,
            Some(rest) => law.with_rest(self.timed(rest, Where::Field(name, "rest"), 0, inputs)?),
        })
    }
}
