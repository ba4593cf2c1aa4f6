//! Elastic rods in a model: frames, masses, strains and stiffness, put together.

mod curve;
mod section;

pub use curve::RodCurve;
pub use section::Section;

use crate::checks::check_number;
use crate::{ContinuumError, PronySeries, Relaxing};
use pliant_dense::rotation::{conjugate, multiply};
use pliant_model::{
    BeamSegment, BeamStrain, ComponentId, DiagonalCompliance, Field, ForceField, JointFrame, Mass, Model,
    NodeId, Pose, PrescribedMotion, RigidMass, Treatment,
};

/// An elastic rod: bodies at the points of a curve, and between them the strains of a geometrically
/// exact beam (Simo 1985).
///
/// **Equation.** Energy `sum l/2 (E A e_0^2 + k_1 G A e_1^2 + k_2 G A e_2^2 + G J c_0^2 + E I_1
/// c_1^2 + E I_2 c_2^2)` over the segments of length `l` (m), with the stretch, shears, twist and
/// bends of [`BeamStrain`]. Each body has the mass and rotary inertia of half of the segments at
/// its sides. Second order in `l`.
///
/// **Use.** Beams, cables, wires, catheters, springs: straight, curved or twisted without load, at
/// any rotation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rod {
    section: Section,
    young: f64,
    poisson: f64,
    density: f64,
    treatment: Option<Treatment>,
    inextensible: bool,
    straight_at_rest: bool,
    relaxation_time: f64,
    series: Option<PronySeries>,
}

/// The nodes and components of a rod in a model.
#[derive(Clone, Debug, PartialEq)]
pub struct RodParts {
    /// Rigid bodies, one at each point of the curve: axis 0 along the rod, axes 1 and 2 those of
    /// the section.
    pub frames: NodeId,
    /// Six strains of each segment, see [`BeamStrain`].
    pub strains: NodeId,
    /// The stiffness: its force is minus the length of the segment times the stress resultants (N)
    /// and moments (N m).
    pub elasticity: ComponentId,
    /// The mass.
    pub mass: ComponentId,
    /// Length (m) of each segment at rest.
    pub lengths: Vec<f64>,
}

/// Forces and moments of one part of a rod on the other through the section in the middle of a
/// segment, in the axes of the section there.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RodForces {
    /// Axial force (N), tension positive.
    pub axial: f64,
    /// Shear forces (N) along axes 1 and 2.
    pub shear: [f64; 2],
    /// Torque (N m) about axis 0, positive where it twists the rod to the right.
    pub torque: f64,
    /// Bending moments (N m) about axes 1 and 2, positive where the curvature is.
    pub moment: [f64; 2],
}

impl RodForces {
    /// The six numbers: axial force, shears (N), torque, bending moments (N m).
    pub fn numbers(&self) -> [f64; 6] {
        let [shear, moment] = [self.shear, self.moment];
        [self.axial, shear[0], shear[1], self.torque, moment[0], moment[1]]
    }
}

impl RodParts {
    /// Forces and moments of the section of each segment, from the forces (J) on its six strains:
    /// minus these over the length.
    pub fn forces(&self, forces: &[f64]) -> Vec<RodForces> {
        let segments = forces.as_chunks::<6>().0.iter().zip(&self.lengths);
        segments
            .map(|(force, length)| {
                let [axial, one, two, torque, about_one, about_two] = force.map(|f| -f / length);
                RodForces {
                    axial,
                    shear: [one, two],
                    torque,
                    moment: [about_one, about_two],
                }
            })
            .collect()
    }

    /// The motion that makes every segment longer without load by a share (none) that is a function
    /// of time: growth, heat, an active rod. [`Model::set_motion`] takes it for `elasticity`, which
    /// must be a compliance. Bends and twist, and masses, stay those of the lengths at the start.
    pub fn growth(&self, share: &PrescribedMotion) -> PrescribedMotion {
        let none = PrescribedMotion::constant(&[0.0]);
        let of = |k| if k % 6 == 0 { share } else { &none }.clone();
        PrescribedMotion::each(&(0..6 * self.lengths.len()).map(of).collect::<Vec<_>>())
    }
}

impl Rod {
    /// A rod of this section, Young's modulus (Pa) and Poisson's ratio, which gives the shear
    /// modulus `G = E/(2 (1 + nu))`.
    pub fn new(section: Section, young: f64, poisson: f64) -> Self {
        Self {
            section,
            young,
            poisson,
            density: 1000.0,
            treatment: None,
            inextensible: false,
            straight_at_rest: false,
            relaxation_time: 0.0,
            series: None,
        }
    }

    /// Sets the density (kg/m^3); 1000 if not set.
    #[must_use]
    pub fn with_density(mut self, density: f64) -> Self {
        self.density = density;
        self
    }

    /// Sets the treatment of the strains; a compliance if not set, for slender rods are far stiffer
    /// along than across.
    #[must_use]
    pub fn with_treatment(mut self, treatment: Treatment) -> Self {
        self.treatment = Some(treatment);
        self
    }

    /// Makes stretch and shear hard: Kirchhoff's rod.
    #[must_use]
    pub fn inextensible(mut self) -> Self {
        self.inextensible = true;
        self
    }

    /// Makes it straight and untwisted without load, of the length of its curve, whatever its
    /// curve: it starts bent.
    #[must_use]
    pub fn straight_at_rest(mut self) -> Self {
        self.straight_at_rest = true;
        self
    }

    /// Adds damping through the relaxation time (s) of all strains.
    #[must_use]
    pub fn with_relaxation_time(mut self, d: f64) -> Self {
        self.relaxation_time = d;
        self
    }

    /// Makes its moduli those of fast strains, which relax by a Prony series ([`Relaxing`]) whose
    /// shares of shear and bulk must be equal. The strains are then a stiffness.
    #[must_use]
    pub fn with_viscoelasticity(mut self, series: PronySeries) -> Self {
        self.series = Some(series);
        self
    }

    /// Stiffness of each strain: `E A`, `k_1 G A`, `k_2 G A` (N), `G J`, `E I_1`, `E I_2` (N m^2).
    pub fn stiffness(&self) -> [f64; 6] {
        let s = &self.section;
        let shear = self.young / (2.0 * (1.0 + self.poisson));
        [
            self.young * s.area,
            shear * s.area * s.shear_factors[0],
            shear * s.area * s.shear_factors[1],
            shear * s.torsion_constant,
            self.young * s.second_moments[0],
            self.young * s.second_moments[1],
        ]
    }

    /// Adds bodies along the curve under `name`, and what belongs to them as `name.mass`,
    /// `name.strains` and `name.elasticity`. Fix a body of the node to clamp it.
    ///
    /// # Errors
    /// [`ContinuumError`]: what is wrong with the curve or a number, or what the model says.
    pub fn add_to(
        &self,
        model: &mut Model,
        name: &str,
        curve: &RodCurve,
    ) -> Result<RodParts, ContinuumError> {
        self.check()?;
        let ends = curve.ends()?;
        let count = curve.points().len();
        let poses = &ends[..count];
        // Behind the last body of a closed rod comes the first, with the section as it arrives
        // there.
        let frame = |i: usize| {
            let mut at = Pose::default();
            if i >= count {
                at.rotation = multiply(conjugate(poses[0].rotation), ends[i].rotation);
            }
            JointFrame::on(0, i % count, at)
        };
        let segments: Vec<BeamSegment> = (1..ends.len())
            .map(|i| {
                let curved = BeamSegment::at_rest(frame(i - 1), frame(i), &poses[i - 1], &poses[i % count]);
                if self.straight_at_rest {
                    BeamSegment::straight(curved.a, curved.b, curved.length)
                } else {
                    curved
                }
            })
            .collect();
        let lengths: Vec<f64> = segments.iter().map(|s| s.length).collect();
        let law = self.law(&lengths)?;
        let frames = model.add_rigid_bodies(name, poses)?;
        let mass = model.add_mass(&format!("{name}.mass"), frames, self.masses(&lengths, count))?;
        let strains = model.add_mapped(&format!("{name}.strains"), &[frames], BeamStrain::new(&segments))?;
        let label = format!("{name}.elasticity");
        let elasticity = model.add_boxed_force_field(&label, strains, law, self.treatment())?;
        Ok(RodParts {
            frames,
            strains,
            elasticity,
            mass,
            lengths,
        })
    }

    /// The law of the strains of segments of these lengths.
    fn law(&self, lengths: &[f64]) -> Result<Box<dyn ForceField>, ContinuumError> {
        let stiffness = self.stiffness();
        if let Some(series) = self.series {
            return Ok(Box::new(Relaxing::diagonal(&stiffness, lengths, series)?));
        }
        let of = |l: &f64| {
            [0, 1, 2, 3, 4, 5].map(|k| {
                if self.inextensible && k < 3 {
                    0.0
                } else {
                    1.0 / (stiffness[k] * l)
                }
            })
        };
        let compliances: Vec<f64> = lengths.iter().flat_map(of).collect();
        Ok(Box::new(
            DiagonalCompliance::new(&compliances).with_relaxation_time(self.relaxation_time),
        ))
    }

    fn treatment(&self) -> Treatment {
        let usual = if self.series.is_some() {
            Treatment::Stiffness
        } else {
            Treatment::Compliance
        };
        self.treatment.unwrap_or(usual)
    }

    fn masses(&self, lengths: &[f64], count: usize) -> Mass {
        let [one, two] = self.section.second_moments;
        let closed = lengths.len() == count;
        let of = |i: usize| {
            let before = match i {
                0 if closed => lengths[count - 1],
                0 => 0.0,
                _ => lengths[i - 1],
            };
            let half = 0.5 * (before + lengths.get(i).unwrap_or(&0.0)) * self.density;
            RigidMass::principal(
                half * self.section.area,
                [half * (one + two), half * one, half * two],
            )
        };
        Mass::Rigid((0..count).map(of).collect())
    }

    fn check(&self) -> Result<(), ContinuumError> {
        let s = &self.section;
        let positive = [
            (Field::Young, self.young),
            (Field::Density, self.density),
            (Field::Area, s.area),
            (Field::SecondMoments, s.second_moments[0]),
            (Field::SecondMoments, s.second_moments[1]),
            (Field::TorsionConstant, s.torsion_constant),
            (Field::ShearFactors, s.shear_factors[0]),
            (Field::ShearFactors, s.shear_factors[1]),
        ];
        for (field, value) in positive {
            check_number(field, value, value > 0.0, "positive")?;
        }
        let (value, bound) = (self.poisson, "above -1 and at most 1/2");
        check_number(Field::Poisson, value, value > -1.0 && value <= 0.5, bound)?;
        if self.series.is_some() {
            let with = "a material with a past";
            let conflict = |field, reason| Err(ContinuumError::Conflict { field, with, reason });
            if self.inextensible {
                return conflict(Field::Inextensible, "hard stretch and shear have no stiffness");
            }
            if self.treatment() == Treatment::Compliance {
                let reason = "its force is not a function of the strain alone";
                return conflict(Field::ComplianceTreatment, reason);
            }
            if self.relaxation_time != 0.0 {
                return conflict(Field::RelaxationTimes, "give the series a term for it");
            }
        }
        if self.inextensible && self.treatment() != Treatment::Compliance {
            return Err(ContinuumError::Conflict {
                field: Field::StiffnessTreatment,
                with: "an inextensible rod",
                reason: "hard stretch and shear have no stiffness; make it a compliance",
            });
        }
        Ok(())
    }
}
