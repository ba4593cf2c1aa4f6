//! The list of what is timed.

use pliant::solvers::{KktSystem, SolveError};
use pliant_benches::families::links::{Pose, chain, closed_loop};
use pliant_benches::families::net;
use pliant_benches::families::solid::Solid;

/// How long a case takes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Size {
    /// Milliseconds.
    Small,
    /// Seconds.
    Medium,
    /// Minutes and gigabytes.
    Large,
}

impl Size {
    pub(crate) fn is_in(self, quick: bool, large: bool) -> bool {
        match self {
            Self::Small => true,
            Self::Medium => !quick,
            Self::Large => large,
        }
    }
}

/// One system.
pub(crate) struct Case {
    pub(crate) name: String,
    pub(crate) size: Size,
    /// Links, or degrees of freedom.
    pub(crate) units: usize,
    pub(crate) make: Box<dyn Fn() -> Result<KktSystem, SolveError>>,
}

type Shape = fn(usize) -> Solid;
type Form = fn(&Solid) -> Result<KktSystem, SolveError>;

fn case(
    name: String,
    size: Size,
    units: usize,
    make: impl Fn() -> Result<KktSystem, SolveError> + 'static,
) -> Case {
    Case {
        name,
        size,
        units,
        make: Box::new(make),
    }
}

/// Every case, family by family.
pub(crate) fn all() -> Vec<Case> {
    use Size::{Large, Medium, Small};
    let mut out = Vec::new();
    for (links, size) in [
        (10, Small),
        (100, Small),
        (1000, Small),
        (10_000, Small),
        (100_000, Medium),
    ] {
        for compliance in [1e-8, 0.0] {
            out.push(case(
                format!("chain {links}, C = {compliance:e}"),
                size,
                links,
                move || chain(links, compliance, Pose::Turned),
            ));
        }
    }
    for compliance in [1e-8, 0.0] {
        let name = format!("straight chain 10000, C = {compliance:e}");
        out.push(case(name, Small, 10_000, move || {
            chain(10_000, compliance, Pose::Straight)
        }));
    }
    for compliance in [1e-8, 0.0] {
        let name = format!("loop 1000, C = {compliance:e}");
        out.push(case(name, Small, 1000, move || closed_loop(1000, compliance)));
    }
    for (side, size) in [(32, Small), (64, Small), (128, Medium), (256, Medium)] {
        let units = 3 * side * side - 12;
        out.push(case(format!("net {side}, stiffness"), size, units, move || {
            net::stiffness(side)
        }));
        out.push(case(format!("net {side}, compliance"), size, units, move || {
            net::compliance(side)
        }));
    }
    let solids: [(&str, usize, Shape, [Size; 3]); 7] = [
        ("cube 3k", 3000, Solid::cube, [Small, Small, Small]),
        ("cube 30k", 30_000, Solid::cube, [Medium, Large, Medium]),
        ("cube 100k", 100_000, Solid::cube, [Medium, Large, Large]),
        ("cube 300k", 300_000, Solid::cube, [Large, Large, Large]),
        ("beam 3k", 3000, Solid::beam, [Small, Small, Small]),
        ("beam 30k", 30_000, Solid::beam, [Medium, Medium, Medium]),
        ("beam 100k", 100_000, Solid::beam, [Medium, Large, Large]),
    ];
    for (name, dofs, shape, sizes) in solids {
        let forms: [(&str, Form); 3] = [
            ("stiffness", Solid::stiffness),
            ("compliance", Solid::compliance),
            ("incompressible", Solid::incompressible),
        ];
        for ((form, make), size) in forms.into_iter().zip(sizes) {
            out.push(case(format!("{name}, {form}"), size, dofs, move || {
                make(&shape(dofs))
            }));
        }
    }
    out
}
