//! The features of scenes, each with the thing that it is tried on.

/// A thing that falls, with places where it meets a plane and a thread.
#[derive(Debug)]
pub(super) struct Thing {
    nodes: &'static str,
    /// Its independent nodes that are compared.
    pub(super) moving: &'static [&'static str],
    /// The collider, whose list of keys is open, and the height (m) of a plane below it.
    collider: &'static str,
    ground: f64,
    /// The node and element that a thread holds, from a place (m) and of a length (m) that it
    /// reaches as it falls; nodes that this needs.
    thread: Thread,
    /// Angular frequency (rad/s) of the fastest vibration that has a visible share in its motion.
    pub(super) rate: f64,
}

#[derive(Debug)]
pub(super) struct Thread {
    nodes: &'static str,
    holds: &'static str,
    element: usize,
    from: &'static str,
    length: f64,
}

/// A kilogram on a massless rod of a metre, let go from the horizontal.
const BOB: Thing = Thing {
    nodes: "Particles(name: \"bob\", positions: [(1, 0, 0)], mass: 1),
        Mapped(name: \"rod\", parents: [\"bob\"], mapping: Distance(pairs: [(0, (0, 0, 0))])),",
    moving: &["bob"],
    collider: "Points(node: \"bob\", radius: 0.02",
    ground: -0.09,
    thread: Thread {
        nodes: "",
        holds: "bob",
        element: 0,
        from: "(1, 0.5, 0)",
        length: 0.54,
    },
    rate: 6.0,
};

/// A bob on something whose force depends on its length.
const BOB_ON_MUSCLE: Thing = Thing {
    nodes: "Particles(name: \"bob\", positions: [(1, 0, 0)], mass: 1),
        Mapped(name: \"rod\", parents: [\"bob\"], mapping: Distance(pairs: [(0, (0, 0, 0))], rest: 0)),",
    ..BOB
};

/// A bob that is also hooked to another one, which is pulled aside for a time.
const PAIR: Thing = Thing {
    nodes:
        "Particles(name: \"bob\", positions: [(1, 0, 0)], mass: 1),
        Mapped(name: \"rod\", parents: [\"bob\"], mapping: Distance(pairs: [(0, (0, 0, 0))])),
        Particles(name: \"hand\", positions: [(0, 1, 0)], mass: 1),
        Mapped(name: \"link\", parents: [\"bob\", \"hand\"], mapping: Distance(pairs: [(0, (\"hand\", 0))])),",
    moving: &["bob", "hand"],
    thread: Thread {
        nodes: "",
        holds: "hand",
        element: 0,
        from: "(0, 2, 0)",
        length: 1.05,
    },
    ..BOB
};

/// A board that is held at its left end.
const BOARD: Thing = Thing {
    nodes: "Bodies(name: \"board\", bodies: [(position: (0.4, 0, 0), shape: Box(0.8, 0.1, 0.2), mass: 2)]),",
    moving: &["board"],
    collider: "Bodies(node: \"board\"",
    ground: -0.13,
    thread: Thread {
        nodes: "Mapped(name: \"hook\", parents: [\"board\"], mapping: RigidPoints(points: [(0, (0.4, 0, 0))])),",
        holds: "hook",
        element: 0,
        from: "(0.8, 0.5, 0)",
        length: 0.54,
    },
    rate: 8.0,
};

/// A disc that spins on a ball joint below it.
const TOP: Thing = Thing {
    nodes: "Bodies(name: \"board\", bodies: [(position: (0, 0, 0.3), shape: Cylinder(radius: 0.1, length: 0.05), mass: 1,
        angular_velocity: (1, 0, 50))]),",
    ground: -0.13,
    thread: Thread {
        nodes: "Mapped(name: \"hook\", parents: [\"board\"], mapping: RigidPoints(points: [(0, (0, 0, 0.1))])),",
        holds: "hook",
        element: 0,
        from: "(0, 0.5, 0.4)",
        length: 0.53,
    },
    rate: 50.0,
    ..BOARD
};

/// A beam of elastic matter, clamped at its left end; the material and what comes behind it is the
/// feature.
const BLOCK: Thing = Thing {
    nodes: "Solid(name: \"block\", shape: Box(size: (0.4, 0.1, 0.1), cells: (3, 1, 1)), density: 1000,
        fix_boxes: [((-1, -1, -1), (0.001, 1, 1))], ",
    moving: &["block"],
    collider: "Cloth(node: \"block\", radius: 0.002",
    ground: -0.02,
    thread: Thread {
        nodes: "",
        holds: "block",
        element: 3,
        from: "(0.4, 0.5, 0)",
        length: 0.51,
    },
    rate: 60.0,
};

/// A rod that bends, clamped at its left end.
const WIRE: Thing = Thing {
    nodes: "ElasticRod(name: \"wire\", line: (from: (0, 0, 0), to: (1, 0, 0), count: 5), poisson: 0.3, density: 1000, fix: [0], ",
    moving: &["wire"],
    collider: "Cable(node: \"wire.points\", radius: 0.01",
    ground: -0.06,
    thread: Thread {
        nodes: "",
        holds: "wire.points",
        element: 4,
        from: "(1, 0.5, 0)",
        length: 0.54,
    },
    rate: 40.0,
};

/// A sheet that is held along an edge, or by corners of it.
const SHEET: Thing = Thing {
    nodes: "ElasticSheet(name: \"sheet\", shape: Rectangle(size: (0.9, 0.5), cells: (3, 2)), thickness: 0.02, ",
    moving: &["sheet"],
    collider: "Cloth(node: \"sheet\", radius: 0.002",
    ground: -0.07,
    thread: Thread {
        nodes: "",
        holds: "sheet",
        element: 3,
        from: "(0.9, 0.5, 0)",
        length: 0.54,
    },
    rate: 40.0,
};

/// Classes of motion that say what order a method can have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Course {
    /// Smooth.
    Smooth,
    /// Velocities or stiffnesses jump: of first order for every method.
    Kinks,
}

/// Where a feature has an equilibrium, and statics is asked for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rest {
    Found,
    /// Nothing holds it, or nothing is near: it is not asked for.
    None,
}

/// A feature on a thing: what it adds to the thing's nodes, and lists of a scene.
#[derive(Debug)]
pub(super) struct Feature {
    pub(super) name: &'static str,
    pub(super) thing: Thing,
    inside: &'static str,
    joints: &'static str,
    fields: &'static str,
    constraints: &'static str,
    other: &'static str,
    pub(super) course: Course,
    pub(super) rest: Rest,
    /// Whether something brings energy in.
    pub(super) driven: bool,
    /// Whether its hard rows hold velocities, so that positions drift by the error of the method.
    pub(super) drifts: bool,
}

impl Feature {
    const fn on(thing: Thing, name: &'static str) -> Self {
        Self {
            name,
            thing,
            inside: "",
            joints: "",
            fields: "",
            constraints: "",
            other: "",
            course: Course::Smooth,
            rest: Rest::Found,
            driven: false,
            drifts: false,
        }
    }

    const fn inside(self, inside: &'static str) -> Self {
        Self { inside, ..self }
    }

    const fn joints(self, joints: &'static str) -> Self {
        Self { joints, ..self }
    }

    const fn fields(self, fields: &'static str) -> Self {
        Self { fields, ..self }
    }

    const fn constraints(self, constraints: &'static str) -> Self {
        Self { constraints, ..self }
    }

    const fn other(self, other: &'static str) -> Self {
        Self { other, ..self }
    }

    const fn kinks(self) -> Self {
        Self {
            course: Course::Kinks,
            ..self
        }
    }

    const fn restless(self) -> Self {
        Self {
            rest: Rest::None,
            ..self
        }
    }

    const fn drifting(self) -> Self {
        Self { drifts: true, ..self }
    }

    const fn driven(self) -> Self {
        Self { driven: true, ..self }
    }

    /// The scene with these keys of `run`, with a plane to fall on or a thread that becomes taut.
    pub(super) fn scene(&self, run: &str, ground: bool, thread: bool) -> String {
        let Self { thing, .. } = self;
        let Thread {
            nodes,
            holds,
            element,
            from,
            length,
        } = &thing.thread;
        let (mut held, mut hook, mut meets) = (String::new(), String::new(), String::new());
        if thread {
            hook = format!(
                "{nodes} Mapped(name: \"thread\", parents: [\"{holds}\"],
                    mapping: Distance(pairs: [({element}, {from})], rest: {length}))"
            );
            held = "(name: \"thread\", on: \"thread\", bounds: (upper: 0)),".to_owned();
        }
        if ground {
            meets = format!(
                "materials: [(name: \"wood\", friction: 0.3)], colliders: [{}, material: \"wood\"),
                    Fixed(name: \"ground\", shape: Plane(0, 1, 0), position: (0, {}, 0), material: \"wood\")],",
                thing.collider, thing.ground
            );
        }
        let end = if self.inside.is_empty() { "" } else { ")," };
        format!(
            "(gravity: (0, -9.81, 0), run: ({run}), nodes: [{} {}{end} {hook}], joints: [{}], force_fields: [{}],
                constraints: [{held} {}], {meets} {})",
            thing.nodes, self.inside, self.joints, self.fields, self.constraints, self.other
        )
    }
}

/// A hinge of the board about z, with these keys behind it.
macro_rules! hinge {
    ($keys:literal) => {
        concat!(
            "(name: \"j\", kind: Hinge, b: Body(\"board\", 0), axis: (0, 0, 1), ",
            $keys,
            "),"
        )
    };
}

/// A force field on the deformation of the rod, of this law with these keys.
macro_rules! rod {
    ($law:literal) => {
        concat!("(name: \"rod\", on: \"rod\", law: ", $law, "),")
    };
}

pub(super) const FEATURES: &[Feature] = &[
    Feature::on(BOB, "compliance 0").fields(rod!("Compliance(0)")),
    Feature::on(BOB, "compliance 0, relaxing").fields(rod!("Compliance(0), relaxation_time: 0.01")),
    Feature::on(BOB, "compliance, relaxing").fields(rod!("Compliance(1e-3), relaxation_time: 0.01")),
    Feature::on(BOB, "stiffness, relaxing")
        .fields(rod!("Compliance(1e-2), relaxation_time: 0.01, treatment: Stiffness")),
    Feature::on(BOB, "automatic treatment").fields(rod!("Compliance(1e-9), treatment: Auto")),
    Feature::on(BOB, "hard").constraints("(name: \"rod\", on: \"rod\")"),
    Feature::on(BOB, "hard, curved").constraints("(name: \"rod\", on: \"rod\", level: CurvedPosition)"),
    Feature::on(BOB, "hard velocity")
        .constraints("(name: \"rod\", on: \"rod\", level: Velocity())")
        .drifting()
        .restless(),
    Feature::on(BOB, "Baumgarte").constraints("(name: \"rod\", on: \"rod\", level: Baumgarte(rate: 5))")
        .drifting(),
    Feature::on(BOB, "rope").constraints("(name: \"rod\", on: \"rod\", bounds: (upper: 0))").kinks(),
    Feature::on(BOB, "driven").constraints("(name: \"rod\", on: \"rod\", motion: \"0.1 * $t * $t\")").driven(),
    Feature::on(BOB, "dashpot as a row").fields(rod!("Damping(linear: 5), treatment: Compliance")).restless(),
    Feature::on(BOB, "drag").fields(
        "(name: \"air\", on: \"bob\", law: Drag(linear: 0.1, quadratic: 0.2)), (name: \"rod\", on: \"rod\", law: Compliance(1e-2)),",
    ),
    Feature::on(BOARD, "hinge").joints(hinge!("")),
    Feature::on(BOARD, "soft hinge").joints(hinge!("compliance: 1e-6, relaxation_time: 1e-3")),
    Feature::on(BOARD, "hinge that is soft in part").joints(hinge!("compliance: [0, 0, 0, 1e-4, 1e-4]")),
    Feature::on(BOARD, "position motor").joints(hinge!("motors: [Position(target: \"0.2 * $t * $t\")]")).driven(),
    Feature::on(BOARD, "soft position motor")
        .joints(hinge!("motors: [Position(target: \"0.2 * $t * $t\", compliance: 1e-3, relaxation_time: 0.05, force: 30)]"))
        .driven(),
    Feature::on(BOARD, "velocity motor")
        .joints(hinge!("motors: [Velocity(speed: \"$t\", force: 3)]"))
        .driven()
        .restless(),
    Feature::on(BOARD, "strong velocity motor")
        .joints(hinge!("motors: [Velocity(speed: \"$t\")]"))
        .driven()
        .restless(),
    Feature::on(BOARD, "limits").joints(hinge!("limits: [(lower: -0.15, upper: 0.5)]")).kinks(),
    Feature::on(BOARD, "dry friction").joints(hinge!("friction: [(force: 0.5)]")).restless(),
    Feature::on(BOARD, "spring and damper").joints(hinge!("springs: [(compliance: 0.1)], dampers: [(damping: 0.1)]")),
    Feature::on(BOARD, "bushing").joints(
        "(name: \"j\", kind: Bushing(compliances: (1e-3, 1e-3, 1e-3, 1e-2, 1e-2, 1e-2)), relaxation_time: 0.01, b: Body(\"board\", 0)),",
    ),
    Feature::on(BOARD, "redundant hinges").joints(concat!(
        hinge!(""),
        "(name: \"k\", kind: Hinge, b: Body(\"board\", 0), at: (0, 0, 0.1), axis: (0, 0, 1)),"
    )),
    Feature::on(BOARD, "screw")
        .joints("(name: \"j\", kind: Screw(pitch: 0.1), b: Body(\"board\", 0), axis: (0, 1, 0)),")
        .restless(),
    Feature::on(BLOCK, "corotational").inside("material: Corotational(young: 1e5, poisson: 0.3)"),
    Feature::on(BLOCK, "corotational by compliances")
        .inside("material: Corotational(young: 1e5, poisson: 0.3), treatment: Compliance"),
    Feature::on(BLOCK, "incompressible")
        .inside("material: Corotational(young: 1e5, poisson: 0.5), incompressibility: PerElement"),
    Feature::on(BLOCK, "incompressible by compliances")
        .inside("material: Corotational(young: 1e5, poisson: 0.5), treatment: Compliance")
        .restless(),
    Feature::on(BLOCK, "rubber").inside("material: MooneyRivlin(c1: 2e4, c2: 5e3, bulk: 1e6)"),
    Feature::on(BLOCK, "incompressible rubber")
        .inside("material: MooneyRivlin(c1: 2e4, c2: 5e3, bulk: 1e6), incompressibility: PerElement"),
    Feature::on(BLOCK, "viscoelastic")
        .inside("material: Corotational(young: 1e5, poisson: 0.3), viscoelastic: [(time: 0.1, share: 0.5)]"),
    // It yields for ever under its weight.
    Feature::on(BLOCK, "plastic")
        .inside("material: Corotational(young: 1e5, poisson: 0.3), plastic: (yield_stress: 500)")
        .kinks()
        .restless(),
    Feature::on(BLOCK, "plastic at finite strains")
        .inside("material: Hencky(young: 1e5, poisson: 0.3), plastic: (yield_stress: 500, isotropic: 2e4)")
        .kinks()
        .restless(),
    Feature::on(WIRE, "rod").inside("section: Circle(0.01), young: 1e6"),
    Feature::on(WIRE, "inextensible rod").inside("section: Circle(0.01), young: 1e6, inextensible: true"),
    Feature::on(WIRE, "rod by stiffnesses").inside("section: Circle(0.02), young: 1e4, treatment: Stiffness"),
    Feature::on(SHEET, "shell")
        .inside("material: Isotropic(young: 1e5, poisson: 0.3), density: 1000, bending: Shell, fix: [0, 1, 4, 5]"),
    Feature::on(SHEET, "cloth").inside(
        "material: Woven(warp: 0, weft: 1e-4, shear: 1e-3), density: 100, bending: Hinges(0.01), fix: [0, 4]",
    ),
    Feature::on(BOB_ON_MUSCLE, "muscle")
        .fields("(name: \"m\", on: \"rod\", law: AxialMuscle(force: 50, optimal_length: 1, activation: \"$t\")),")
        .driven()
        .restless(),
    // Fibre and activation go by the implicit Euler method, whatever the method of the bob.
    Feature::on(BOB_ON_MUSCLE, "muscle with tendon")
        .fields(concat!(
            "(name: \"m\", on: \"rod\", law: MuscleTendon(curves: Millard2013, force: 50, optimal_length: 0.4, ",
            "tendon_length: 0.6, pennation: 0.3, dynamics: (activation: 0.01, deactivation: 0.04), excitation: \"$t\")),"
        ))
        .kinks()
        .driven()
        .restless(),
    Feature::on(BOB_ON_MUSCLE, "muscle with rigid tendon")
        .fields(concat!(
            "(name: \"m\", on: \"rod\", law: MuscleTendon(force: 50, optimal_length: 0.4, tendon_length: 0.6, ",
            "pennation: 0.3, rigid_tendon: true, excitation: \"$t\")),"
        ))
        .driven()
        .restless(),
    Feature::on(BOB, "damping by mass and stiffness")
        .fields(rod!("Compliance(1e-2), treatment: Stiffness"))
        .other("rayleigh: (mass: 0.1, stiffness: 0.001),"),
    Feature::on(PAIR, "held for a time")
        .constraints("(name: \"rod\", on: \"rod\"), (name: \"link\", on: \"link\")")
        .other("fixed: [(node: \"hand\", velocity: [0.5, 0, 0], until: 0.08)],")
        .kinks()
        .driven()
        .restless(),
    Feature::on(BOARD, "mass on a mapping")
        .inside("Mapped(name: \"tip\", parents: [\"board\"], mapping: RigidPoints(points: [(0, (0.4, 0, 0))])")
        .joints(hinge!(""))
        .other("masses: [(name: \"load\", on: \"tip\", mass: 0.5)],"),
    Feature::on(TOP, "spinning top").joints("(name: \"j\", kind: Ball, b: Body(\"board\", 0)),"),
    Feature::on(BOB, "spring").fields(rod!("Stiffness(1e3), treatment: Stiffness")),
];
