//! Equilibria and paths of equilibria against closed forms.

mod afterwards;
mod contacts;
mod corners;
mod equilibria;
mod partly_loaded;
mod paths;
mod rows;
mod slender;

use pliant::prelude::*;

/// Half the span and the height of a two-bar truss (m), stiffness of a bar (N/m).
const SPAN: f64 = 1.0;
const RISE: f64 = 0.2;
const BAR: f64 = 1000.0;

/// The length of a bar without force.
fn bar_length() -> f64 {
    SPAN.hypot(RISE)
}

/// The load that holds the apex of the truss at height `y`: both bars are linear in their length
/// (von Mises 1923).
fn truss_load(y: f64) -> f64 {
    2.0 * BAR * (bar_length() / SPAN.hypot(y) - 1.0) * y
}

/// The height of the apex at the limit point of the load, and that load: `d/dy = 0` at the bar
/// length `(l_0 b^2)^(1/3)`.
fn truss_limit() -> (f64, f64) {
    let length = (bar_length() * SPAN * SPAN).cbrt();
    let y = (length * length - SPAN * SPAN).sqrt();
    (y, truss_load(y))
}

/// A truss whose apex moves up and down only, and its bars; no mass at all.
fn truss(treatment: Treatment) -> (Model, NodeId) {
    let mut model = Model::new();
    let apex = model.add_particles("apex", &[[0.0, RISE, 0.0]]).unwrap();
    model.fix(apex, 0, &[true, false, true]).unwrap();
    let feet = [(0, [-SPAN, 0.0, 0.0]), (0, [SPAN, 0.0, 0.0])];
    let bars = Distance::to_points(&feet).with_rest_lengths(&[bar_length()]);
    let bars = model.add_mapped("bars", &[apex], bars).unwrap();
    let law = UniformCompliance::from_stiffness(BAR);
    model.add_force_field("springs", bars, law, treatment).unwrap();
    (model, apex)
}

/// A dead load on particles.
fn load(model: &mut Model, node: NodeId, force: &[f64]) -> ComponentId {
    model
        .add_force_field("load", node, ConstantForce::new(force), Treatment::Stiffness)
        .unwrap()
}

fn loads(components: &[ComponentId]) -> Loads {
    Loads {
        components: components.to_vec(),
        ..Loads::default()
    }
}

/// The zero of a function between two places of different signs.
fn zero(f: impl Fn(f64) -> f64, mut low: f64, mut high: f64) -> f64 {
    assert!(f(low) * f(high) < 0.0);
    for _ in 0..200 {
        let middle = 0.5 * (low + high);
        if f(low) * f(middle) <= 0.0 {
            high = middle;
        } else {
            low = middle;
        }
    }
    0.5 * (low + high)
}
