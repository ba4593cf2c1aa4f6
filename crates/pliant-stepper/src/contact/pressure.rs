//! Pressure of contacts over a surface of triangles.

use super::Observed;
use pliant_contact::{ContactArea, Placement};
use pliant_dense::{Vec3, rotation};
use pliant_kkt::Support;
use pliant_model::{Model, NodeId, State};

impl Observed {
    /// The contact pressure (Pa) at the points of one side into `out`, by the numbers of its areas:
    /// the normal forces of the last step there, averaged over it, by the weights of each contact
    /// among the corners where it is, over the area of the point. Their sum times the areas is the
    /// sum of the normal forces. Points without an area have none.
    ///
    /// Contacts of points of a node have these weights. One with a rigid mesh has those of the
    /// place on it that is nearest; as the body stands in `state`, the end of the step. Cost: a
    /// pass over the contacts, with a pass over the triangles of a rigid mesh for each of its own.
    pub fn pressure(&self, model: &Model, state: &State, side: u32, of: &ContactArea, out: &mut Vec<f64>) {
        let observation = self.observation();
        let areas = of.areas();
        out.clear();
        out.resize(areas.len(), 0.0);
        let mut add = |point: usize, force: f64| {
            if let (Some(p), Some(area)) = (out.get_mut(point), areas.get(point))
                && *area > 0.0
            {
                *p += force / area;
            }
        };
        for (reading, (contact, supports)) in observation.with_supports() {
            let force = Vec3::from(reading.impulse).dot(&Vec3::from(contact.normal)) / self.step();
            // Weights of the first side are negative.
            for (sign, _) in [-1.0, 1.0].iter().zip(contact.sides).filter(|(_, s)| *s == side) {
                let own = |node: NodeId| {
                    let mine = move |s: &&Support| s.node == node && sign * s.weight > 0.0;
                    supports.iter().filter(mine)
                };
                match of.placement() {
                    Placement::Points(node) => {
                        own(*node).for_each(|s| add(s.element, s.weight.abs() * force));
                    }
                    Placement::Body { node, .. } => {
                        let x = model.positions(state, *node);
                        for s in own(*node) {
                            let x = &x[7 * s.element..][..7];
                            let back = rotation::conjugate([x[3], x[4], x[5], x[6]]);
                            let local = rotation::rotate(back, Vec3::from(s.arm));
                            let corners = of.nearest(local.into());
                            corners.iter().flatten().for_each(|(p, w)| add(*p, w * force));
                        }
                    }
                    Placement::Fixed(_) => {
                        let to_first = if *sign < 0.0 { contact.gap } else { 0.0 };
                        let place = Vec3::from(contact.point) - Vec3::from(contact.normal) * to_first;
                        let corners = of.nearest(place.into());
                        corners.iter().flatten().for_each(|(p, w)| add(*p, w * force));
                    }
                }
            }
        }
    }
}
