//! The scenes in Rapier.

use super::engine::timed;
use super::{Advance, Case, Contender, Engine, Frame, Program, Subject};
use crate::beams::{DENSITY, POISSON, YOUNG, mesh};
use crate::chain::peer as chains;
use crate::heaps::peer as heaps;
use crate::nets::{self, Net, peer::Springs};
use crate::soft_peer::{Cells, FEM, SoftPeer};

/// A world with the functions that step it and look at it.
struct World<W, S, F> {
    world: W,
    step: S,
    frame: F,
}

impl<W, S: FnMut(&mut W), F: Fn(&W) -> Frame> Engine for World<W, S, F> {
    fn advance(&mut self, steps: usize, budget: f64) -> Result<Advance, String> {
        timed(steps, budget, || {
            (self.step)(&mut self.world);
            Ok(())
        })
    }

    fn frame(&self) -> Frame {
        (self.frame)(&self.world)
    }
}

fn chain(name: &'static str, case: &Case, setting: chains::Setting) -> Option<Contender> {
    let Subject::Chain {
        links,
        last_mass,
        pose,
    } = case.subject
    else {
        return None;
    };
    let h = case.step;
    let start = move || {
        Ok(Box::new(World {
            world: chains::Peer::new(links, last_mass, pose, h, setting),
            step: chains::Peer::step,
            frame: |peer: &chains::Peer| Frame {
                bodies: peer.moment(),
                ..Frame::default()
            },
        }) as Box<dyn Engine>)
    };
    Some(Contender::new(Program::Rapier, name, Box::new(start)))
}

fn boxes(case: &Case, setting: heaps::Setting) -> Option<Contender> {
    let Subject::Boxes(boxes) = case.subject else {
        return None;
    };
    let h = case.step;
    let start = move || {
        Ok(Box::new(World {
            world: heaps::Peer::new(&boxes.heap(), setting, h),
            step: heaps::Peer::advance,
            frame: |peer: &heaps::Peer| Frame {
                bodies: peer.moment(),
                ..Frame::default()
            },
        }) as Box<dyn Engine>)
    };
    Some(Contender::new(Program::Rapier, setting.name, Box::new(start)))
}

fn net(name: &'static str, case: &Case, springs: Springs) -> Option<Contender> {
    let Subject::Net(side) = case.subject else {
        return None;
    };
    let h = case.step;
    let start = move || {
        Ok(Box::new(World {
            world: nets::peer::Peer::new(&Net::new(side), springs, h),
            step: nets::peer::Peer::step,
            frame: |peer: &nets::peer::Peer| Frame {
                points: peer.points(),
                ..Frame::default()
            },
        }) as Box<dyn Engine>)
    };
    Some(Contender::new(Program::Rapier, name, Box::new(start)))
}

fn beam(name: &'static str, case: &Case, cells: Cells, parts: usize) -> Option<Contender> {
    let Subject::Beam(cubes) = case.subject else {
        return None;
    };
    let h = case.step;
    let start = move || {
        let mesh = mesh(cubes).map_err(|e| e.to_string())?;
        Ok(Box::new(World {
            world: SoftPeer::new(&mesh, (YOUNG, POISSON, DENSITY), h, cells).with_parts(parts),
            step: SoftPeer::step,
            frame: |peer: &SoftPeer| Frame {
                points: peer.points(),
                ..Frame::default()
            },
        }) as Box<dyn Engine>)
    };
    Some(Contender::new(Program::Rapier, name, Box::new(start)).corotational())
}

/// Its default, and settings by which it comes nearer to the answer. The numbers are double
/// precision; games mostly take its single precision, which is somewhat faster.
pub(super) fn contenders(case: &Case) -> Vec<Contender> {
    let fine = Cells::Fem {
        iterations: 1000,
        tolerance: 1e-10,
    };
    let fifty = chains::Setting {
        parts: 50,
        warm: true,
        multibody: false,
    };
    let multibody = chains::Setting {
        multibody: true,
        ..chains::Setting::DEFAULT
    };
    let tree = matches!(case.subject, Subject::Chain { links, .. } if links <= 100);
    let pile = |name, steps, iterations, stiffer| {
        let setting = heaps::Setting {
            name,
            steps,
            iterations,
            stiffer,
        };
        boxes(case, setting)
    };
    [
        chain("impulses, 4 parts (default)", case, chains::Setting::DEFAULT),
        chain("impulses, 50 parts, warm", case, fifty),
        tree.then(|| chain("multibody", case, multibody)).flatten(),
        pile("default", 1, 4, None),
        pile("Coulomb, 50 parts, 10 times as stiff", 1, 50, Some(10.0)),
        pile(
            "Coulomb, 10 steps of 20 parts, 50 times as stiff",
            10,
            20,
            Some(50.0),
        ),
        net("spring joints", case, Springs::Joints),
        net("soft body, constraints (default)", case, Springs::Constraints),
        net("soft body, `fem`", case, Springs::Fem),
        beam("constraints (default)", case, Cells::Constraints, 4),
        beam("constraints, 20 parts", case, Cells::Constraints, 20),
        beam("`fem`, 20 iterations (default)", case, FEM, 4),
        beam("`fem`, 1000 iterations, 1e-10", case, fine, 4),
    ]
    .into_iter()
    .flatten()
    .collect()
}
