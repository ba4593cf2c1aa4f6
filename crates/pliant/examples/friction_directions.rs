//! The errors of friction pyramids: a particle slides on a plane in several directions, and
//! friction takes this share of `mu N` from its slip.
//!
//! `cargo run -p pliant --example friction_directions` prints the table of the book's
//! reference/scenes/contact.md.

use pliant::contact::{Contact, ContactFinder, ContactKey, ContactLaw, ContactList, FrictionModel};
use pliant::kkt::Support;
use pliant::prelude::*;

/// A particle on the plane `z = 0`.
#[derive(Debug)]
struct OnPlane(NodeId, ContactLaw);

impl ContactFinder for OnPlane {
    fn nodes(&self) -> Vec<NodeId> {
        vec![self.0]
    }

    fn find(&mut self, model: &Model, state: &State, _: f64, out: &mut ContactList) -> Result<(), Error> {
        let x = model.positions(state, self.0);
        let contact = Contact {
            key: ContactKey(0, 0),
            point: [x[0], x[1], x[2]],
            normal: [0.0, 0.0, 1.0],
            gap: x[2],
            law: self.1,
            sides: [0, 1],
        };
        let support = Support {
            node: self.0,
            element: 0,
            weight: 1.0,
            arm: [0.0; 3],
        };
        out.push(contact, [], [support]);
        Ok(())
    }
}

/// `-u . r_t/(|u| mu r_n)`, and how far from the opposite of the slip friction is (degrees).
fn friction(model: FrictionModel, degrees: f64) -> Result<(f64, f64), Error> {
    let (sine, cosine) = degrees.to_radians().sin_cos();
    let mut m = Model::new();
    m.set_gravity([0.0, 0.0, -10.0])?;
    let node = m.add_particles("block", &[[0.0; 3]])?;
    m.add_mass("mass", node, Mass::Uniform(1.0))?;
    let mut s = Simulation::new(m)?;
    let mut state = s.state().clone();
    state
        .velocities
        .copy_from_slice(&[100.0 * cosine, 100.0 * sine, 0.0]);
    s.set_state(&state)?;
    let law = ContactLaw {
        friction: 0.5,
        friction_model: model,
        direction: Some([1.0, 0.0, 0.0]),
        ..ContactLaw::default()
    };
    s.set_contacts(OnPlane(node, law))?;
    s.step(1e-6)?;
    let [x, y, n] = s.contacts()[0].impulse;
    let (along, aside) = (-(cosine * x + sine * y), cosine * y - sine * x);
    Ok((along / (0.5 * n), aside.atan2(along).to_degrees().abs()))
}

/// The same in closed form: friction is at the corner next to the opposite of the slip, at `mu N`
/// where corners are within the circle, at `mu N / cos(pi / n)` where the sides touch it.
fn of_corner(model: FrictionModel, degrees: f64) -> (f64, f64) {
    let FrictionModel::Pyramid { directions, outer } = model else {
        return (1.0, 0.0);
    };
    let side = 360.0 / directions as f64;
    let from_corner = (degrees - if outer { 0.5 * side } else { 0.0 }).rem_euclid(side);
    let aside = from_corner.min(side - from_corner);
    // Two corners alike take the same: it is in the middle of their side.
    let points = if aside == 0.5 * side { 0.0 } else { aside };
    let radius = if outer {
        (0.5 * side).to_radians().cos().recip()
    } else {
        1.0
    };
    (radius * aside.to_radians().cos(), points)
}

fn main() -> Result<(), Error> {
    let pyramid = |directions, outer| FrictionModel::Pyramid { directions, outer };
    let models = [
        ("cone", FrictionModel::Cone),
        ("4 directions within", pyramid(4, false)),
        ("4 around", pyramid(4, true)),
        ("8 within", pyramid(8, false)),
        ("8 around", pyramid(8, true)),
    ];
    println!("| slip at | {} |", models.map(|m| m.0).join(" | "));
    println!("|---|{}", "---|".repeat(models.len()));
    for degrees in [0.0, 15.0, 22.49, 30.0, 44.99] {
        let mut line = format!("| {degrees:.0}° |");
        for (_, model) in models {
            let (taken, aside) = friction(model, degrees)?;
            let expected = of_corner(model, degrees);
            // The digits of the table.
            assert!((taken - expected.0).abs() < 5e-4 && (aside - expected.1).abs() < 0.05);
            line += &format!(" {taken:.3}, {aside:.0}° |");
        }
        println!("{line}");
    }
    Ok(())
}
