//! Energies and momentum of a state.

use crate::{ComponentId, Mass, Model, NodeId, Past, Problem, Space, State};
use pliant_dense::{Vec3, rotation, vec3};

/// Energies of a state (J).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Energies {
    /// Of all masses.
    pub kinetic: f64,
    /// Of gravity and all force fields.
    pub potential: f64,
}

impl Energies {
    /// Kinetic plus potential.
    pub fn total(&self) -> f64 {
        self.kinetic + self.potential
    }
}

/// Momentum of all masses in space.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Momentum {
    /// Linear [kg m/s].
    pub linear: [f64; 3],
    /// Angular about the origin [kg m^2/s].
    pub angular: [f64; 3],
}

impl Momentum {
    /// Momentum of all masses of points of space, of the plane (z = 0) and bodies. The state must
    /// be propagated.
    pub(crate) fn of(model: &Model, state: &State) -> Self {
        let (mut linear, mut angular) = (Vec3::zeros(), Vec3::zeros());
        for attachment in model.masses() {
            let node = model.node(attachment.node);
            if !node.space.is_spatial() {
                continue;
            }
            let (px, pv) = (node.space.position_size(), node.space.velocity_size());
            let (x, v) = (
                &state.positions[node.position_range()],
                &state.velocities[node.velocity_range()],
            );
            let point = |a: &[f64]| Vec3::new(a[0], a[1], if a.len() > 2 { a[2] } else { 0.0 });
            attachment.component.pairs(node.count, |m, i, j| {
                let p = m * point(&v[j * pv..][..pv]);
                linear += p;
                angular += point(&x[i * px..][..px]).cross(&p);
            });
            for (e, (x, v)) in x.chunks_exact(px).zip(v.chunks_exact(pv)).enumerate() {
                if let Some(rigid) = attachment.component.rigid(e) {
                    let r = rotation::matrix([x[3], x[4], x[5], x[6]]);
                    angular += r * (rigid.inertia_matrix() * vec3(v, 3));
                }
            }
        }
        Self {
            linear: linear.into(),
            angular: angular.into(),
        }
    }

    /// The angular momentum about a point (m) of space [kg m^2/s].
    pub fn about(&self, point: [f64; 3]) -> [f64; 3] {
        (Vec3::from(self.angular) - Vec3::from(point).cross(&Vec3::from(self.linear))).into()
    }
}

impl Problem {
    /// Kinetic and potential energy. The state must be propagated.
    pub fn energies(&self, state: &State) -> Energies {
        self.energies_without(state, |_| false)
    }

    /// Energies without the potential of the force fields (by place) that `skip` says.
    pub fn energies_without(&self, state: &State, skip: impl Fn(usize) -> bool) -> Energies {
        let mut out = Energies::default();
        for attachment in self.masses() {
            let node = self.node(attachment.node);
            let pv = node.space.velocity_size();
            let v = &state.velocities[node.velocity_range()];
            let linear = if node.space == Space::Rigid3 { 3 } else { pv };
            let mass = &attachment.component;
            mass.pairs(node.count, |m, i, j| {
                let (a, b) = (&v[i * pv..][..linear], &v[j * pv..][..linear]);
                out.kinetic += 0.5 * m * a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
            });
            out.potential += self.weight_energy(state, attachment.node, mass);
            for (e, v) in v.chunks_exact(pv).enumerate() {
                if let Some(rigid) = mass.rigid(e) {
                    let w = vec3(v, 3);
                    out.kinetic += 0.5 * w.dot(&(rigid.inertia_matrix() * w));
                }
            }
        }
        let is_shared = |i: usize| self.element_share(self.force_fields()[i].node.index()).is_some();
        let mut shared = 0.0;
        for i in (0..self.force_fields().len()).filter(|i| !skip(*i)) {
            let energy = self.field_energy(state, i);
            *if is_shared(i) {
                &mut shared
            } else {
                &mut out.potential
            } += energy;
        }
        if self.processes().is_some() {
            out.potential += self.sum_over_processes(shared);
        }
        out
    }

    fn field_energy(&self, state: &State, i: usize) -> f64 {
        if self.is_released(ComponentId::ForceField(i)) {
            return 0.0;
        }
        let entry = &self.force_fields()[i].component;
        let at = self.at(i, state);
        match entry.law.memory() {
            Some(memory) => memory.energy(at, &state.internal[entry.internal.clone()]),
            None => entry.law.energy(at),
        }
    }

    /// Adds the force of force field `i` on its node, `elapsed` seconds (s) after the internal
    /// variables, if it has any, were those of the state. Allocates nothing.
    ///
    /// # Panics
    /// If there is no such force field, or `force` is shorter than its node.
    pub fn add_field_force(&self, state: &State, i: usize, elapsed: f64, force: &mut [f64]) {
        let entry = &self.force_fields()[i].component;
        let at = self.at(i, state);
        match entry.law.memory() {
            Some(memory) => {
                let internal = &state.internal[entry.internal.clone()];
                memory.add_force(at, Past { internal, elapsed }, force);
            }
            None => entry.law.add_force(at, force),
        }
    }

    /// Potential energy of one component (J): of a mass in gravity, of a force field by its law;
    /// zero for constraints. The state must be propagated.
    pub fn potential(&self, state: &State, component: ComponentId) -> f64 {
        match component {
            ComponentId::Mass(i) => {
                let attachment = &self.masses()[i];
                self.weight_energy(state, attachment.node, &attachment.component)
            }
            ComponentId::ForceField(i) => {
                let own = self.field_energy(state, i);
                match self.element_share(self.force_fields()[i].node.index()) {
                    Some(_) => self.sum_over_processes(own),
                    None => own,
                }
            }
            ComponentId::Constraint(_) => 0.0,
        }
    }

    fn weight_energy(&self, state: &State, node: NodeId, mass: &Mass) -> f64 {
        let node = self.node(node);
        let mut out = 0.0;
        if node.space.is_spatial() {
            let (px, pv) = (node.space.position_size(), node.space.velocity_size());
            let linear = if node.space == Space::Rigid3 { 3 } else { pv };
            let x = &state.positions[node.position_range()];
            mass.pairs(node.count, |m, i, _| {
                let x = &x[i * px..][..linear];
                out -= m * x.iter().zip(self.gravity()).map(|(x, g)| x * g).sum::<f64>();
            });
        }
        out
    }
}
