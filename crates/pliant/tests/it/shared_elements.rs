//! Models whose elements several processes share out, against the same model on one: here the
//! processes are threads, each with a simulation of its own.

use pliant::continuum::{
    Enhancement, MassMatrix, Mesh, Sheet, SheetMesh, Solid, SolidParts, StrainEnergy, Tangent,
};
use pliant::model::{
    DiagonalCompliance, Distance, Evaluation, Level, Mass, Model, ModelError, Rayleigh, Spring, Treatment,
    check,
};
use pliant::{Equilibrium, Error, Integrator, Options, Simulation, StepReport};

/// Lets so many processes do the same, each with a model whose elements are shared out, and
/// returns what each comes to.
fn together<T: Send>(
    count: usize,
    model: impl Fn() -> Model + Sync,
    run: impl Fn(Model) -> T + Sync,
) -> Vec<T> {
    std::thread::scope(|scope| {
        let (model, run) = (&model, &run);
        let start = |own| scope.spawn(move || run(model().share_out(own, &[])));
        let threads: Vec<_> = check::processes(count).into_iter().map(start).collect();
        threads.into_iter().map(|t| t.join().unwrap()).collect()
    })
}

/// A beam along x, held at its first face.
fn beam(solid: &Solid, tetrahedra: bool) -> (Model, SolidParts) {
    let mut mesh = Mesh::hexahedral_box([1.0, 0.2, 0.2], [10, 2, 2]).unwrap();
    if tetrahedra {
        mesh = mesh.into_tetrahedra();
    }
    let mut model = Model::new();
    model.set_gravity([0.0, 0.0, -9.81]).unwrap();
    let parts = solid.add_to(&mut model, "beam", &mesh).unwrap();
    for (i, x) in mesh.nodes.iter().enumerate() {
        if x[0] == 0.0 {
            model.fix(parts.nodes, i, &[true; 3]).unwrap();
        }
    }
    (model, parts)
}

fn soft() -> Solid {
    Solid::corotational(2e5, 0.3).with_relaxation_time(0.01)
}

fn rubber() -> Solid {
    Solid::hyperelastic(StrainEnergy::neo_hookean(2e5, 0.3)).with_mass(MassMatrix::Consistent)
}

/// A sheet that hangs at one edge, with a rod, a hard row, at its lower corner.
fn cloth() -> Model {
    let mesh = SheetMesh::rectangle([0.5, 0.5], [8, 8], false);
    let mut model = Model::new();
    model.set_gravity([0.0, -9.81, 1.0]).unwrap();
    let sheet = Sheet::isotropic(1e5, 0.3, 1e-3).with_relaxation_time(0.005);
    let parts = sheet.add_to(&mut model, "cloth", &mesh).unwrap();
    for (i, x) in mesh.nodes.iter().enumerate() {
        if x[1] == 0.5 {
            model.fix(parts.nodes, i, &[true; 3]).unwrap();
        }
    }
    let corner = mesh
        .nodes
        .iter()
        .position(|x| x[0] == 0.0 && x[1] == 0.0)
        .unwrap();
    let rod = Distance::to_points(&[(corner, [0.0, 0.0, -0.3])]).with_rest_lengths(&[0.3]);
    let rod = model.add_mapped("rod", &[parts.nodes], rod).unwrap();
    model
        .add_constraint("rod is stiff", rod, Level::Position)
        .unwrap();
    model
}

/// A net of springs with dashpots that hangs between two sides.
fn net() -> Model {
    net_with_last_knot([0.5, 0.5, 0.0])
}

/// The net with damping in proportion to masses and stiffnesses.
fn damped_net() -> Model {
    let mut model = net();
    let rates = Rayleigh {
        mass: 0.1,
        stiffness: 0.002,
    };
    model.set_rayleigh(rates).unwrap();
    model
}

/// Knots on one side of the net.
const SIDE: usize = 6;

fn net_with_last_knot(at: [f64; 3]) -> Model {
    let mut model = Model::new();
    model.set_gravity([0.0, 0.0, -9.81]).unwrap();
    let place = |i: usize| [0.1 * (i % SIDE) as f64, 0.1 * (i / SIDE) as f64, 0.0];
    let mut places: Vec<_> = (0..SIDE * SIDE).map(place).collect();
    places[SIDE * SIDE - 1] = at;
    let knots = model.add_particles("knots", &places).unwrap();
    model.add_mass("mass", knots, Mass::Uniform(0.05)).unwrap();
    for i in (0..SIDE * SIDE).filter(|i| i % SIDE == 0 || i % SIDE == SIDE - 1) {
        model.fix(knots, i, &[true; 3]).unwrap();
    }
    let along = (0..SIDE * SIDE)
        .filter(|i| i % SIDE + 1 < SIDE)
        .map(|i| (i, i + 1));
    let across = (0..SIDE * (SIDE - 1)).map(|i| (i, i + SIDE));
    let pairs: Vec<_> = along.chain(across).collect();
    let strings = Distance::between(&pairs).with_rest_lengths(&[0.09]);
    let strings = model.add_mapped("strings", &[knots], strings).unwrap();
    let spring = Spring::stiffening(200.0, 1e5).with_damping(0.2);
    model
        .add_force_field("spring", strings, spring, Treatment::Stiffness)
        .unwrap();
    // Each string has another compliance.
    let compliances: Vec<f64> = (0..pairs.len()).map(|i| 0.01 + 1e-4 * i as f64).collect();
    let soft = DiagonalCompliance::new(&compliances).with_relaxation_time(0.003);
    model
        .add_force_field("soft", strings, soft, Treatment::Stiffness)
        .unwrap();
    model
}

fn steps(simulation: &mut Simulation, count: usize) -> Vec<StepReport> {
    (0..count).map(|_| simulation.step(0.01).unwrap()).collect()
}

fn independent(simulation: &Simulation) -> Vec<f64> {
    let model = simulation.model();
    let nodes = model.nodes().iter().filter(|node| node.first_dof().is_some());
    let all = nodes.flat_map(|node| &simulation.state().positions[node.position_range()]);
    all.copied().collect()
}

fn distance(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len());
    a.iter()
        .zip(b)
        .fold(0.0, |worst, (a, b)| f64::max(worst, (a - b).abs()))
}

/// Compares a motion over several processes with that of one: places, energies, the ledger and
/// counts. Of the elements `shared` are shared out; `size` is that of the energies (J).
fn compare(of_model: impl Fn() -> Model + Sync, integrator: Integrator, shared: usize, size: f64) {
    let options = Options {
        // Linear steps alone can be taken apart.
        numerical_parts: matches!(integrator, Integrator::Theta),
        integrator,
        ..Options::default()
    };
    let mut whole = Simulation::with_options(of_model(), options.clone()).unwrap();
    let expected = steps(&mut whole, 10);
    let places = independent(&whole);
    for processes in [2, 3] {
        let ends = together(processes, &of_model, |model| {
            let [own, all] = model.shared_elements().unwrap();
            assert!(0 < own && own < all, "{own} of {all}");
            let mut simulation = Simulation::with_options(model, options.clone()).unwrap();
            let reports = steps(&mut simulation, 10);
            (own, all, reports, independent(&simulation))
        });
        assert_eq!(ends.iter().map(|end| end.0).sum::<usize>(), shared);
        for (_, all, reports, end) in &ends {
            assert_eq!(*all, shared);
            // Sums in another order round otherwise, through ten steps.
            assert!(distance(end, &places) < 1e-10, "{}", distance(end, &places));
            // All processes have the same bits.
            assert_eq!(end, &ends[0].3);
            for (own, alone) in reports.iter().zip(&expected) {
                let same = |a: f64, b: f64| {
                    assert!((a - b).abs() < 1e-9 * size, "{a} {b}: {own:?} {alone:?}");
                };
                same(own.energies.kinetic, alone.energies.kinetic);
                same(own.energies.potential, alone.energies.potential);
                same(own.ledger.damping, alone.ledger.damping);
                same(own.ledger.numerical, alone.ledger.numerical);
                same(own.ledger.forces, alone.ledger.forces);
                assert_eq!(own.solve.newton.iterations, alone.solve.newton.iterations);
                assert_eq!(own.solve.projected_tangents, alone.solve.projected_tangents);
                let [own, alone] = [own.ledger.parts, alone.ledger.parts];
                same(own.geometry, alone.geometry);
                same(own.stiffness, alone.stiffness);
                same(own.inertia, alone.inertia);
            }
        }
    }
}

#[test]
fn corotational_solids_move_as_on_one_process() {
    // Deformation gradients and strains, at eight points of each hexahedron.
    let shared = 2 * 8 * 40;
    compare(|| beam(&soft(), false).0, Integrator::Sdirk2, shared, 4.0);
    compare(|| beam(&soft(), false).0, Integrator::Theta, shared, 4.0);
}

/// The modes of an element are on all processes, as its nodes are.
#[test]
fn enhanced_solids_move_as_on_one_process() {
    let bending = soft().with_enhanced_strains(Enhancement::Bending);
    compare(|| beam(&bending, false).0, Integrator::Sdirk2, 2 * 8 * 40, 4.0);
    let both = soft().with_enhanced_strains(Enhancement::BendingAndVolume);
    compare(|| beam(&both, false).0, Integrator::Nonlinear, 2 * 8 * 40, 4.0);
}

#[test]
fn rubber_with_a_consistent_mass_moves_as_on_one_process() {
    compare(|| beam(&rubber(), true).0, Integrator::Sdirk2, 240, 4.0);
    compare(|| beam(&rubber(), true).0, Integrator::Nonlinear, 240, 4.0);
    compare(|| beam(&rubber(), true).0, Integrator::EnergyMomentum, 240, 4.0);
}

#[test]
fn cloth_beside_a_hard_row_moves_as_on_one_process() {
    // Membrane strains; the angles between triangles, which know their last value, stay whole.
    compare(cloth, Integrator::Sdirk2, 128, 1.0);
    compare(cloth, Integrator::Theta, 128, 1.0);
}

#[test]
fn nets_with_all_kinds_of_damping_move_as_on_one_process() {
    compare(damped_net, Integrator::Sdirk2, 60, 1.0);
    compare(damped_net, Integrator::Theta, 60, 1.0);
    compare(net, Integrator::EnergyMomentum, 60, 1.0);
}

#[test]
fn equilibria_and_stresses_are_those_of_one_process() {
    for solid in [soft(), rubber()] {
        let of_model = || beam(&solid, false).0;
        let (_, parts) = beam(&solid, false);
        let find = |model: Model| {
            let mut simulation = Simulation::new(model).unwrap();
            let report = simulation.find_equilibrium(&Equilibrium::default()).unwrap();
            let fields = simulation.solid_fields(&parts);
            (report.iterations, independent(&simulation), fields)
        };
        let (iterations, places, fields) = find(of_model());
        for (own, end, stresses) in together(2, of_model, find) {
            assert_eq!(own, iterations);
            assert!(distance(&end, &places) < 1e-11, "{}", distance(&end, &places));
            let largest = fields
                .stress
                .as_flattened()
                .iter()
                .fold(0.0f64, |a, s| a.max(s.abs()));
            let off = distance(stresses.stress.as_flattened(), fields.stress.as_flattened());
            assert!(off < 1e-9 * largest, "{off} of {largest}");
            assert!(distance(stresses.strain.as_flattened(), fields.strain.as_flattened()) < 1e-9);
        }
    }
}

/// Energies of one component, and counts of elements, are sums over all processes.
#[test]
fn what_is_added_up_over_elements_is_that_of_all() {
    let solid = Solid::hyperelastic(StrainEnergy::stable_neo_hookean(2e5, 0.3))
        .with_tangent(Tangent::PositiveSemidefinite);
    let of_model = || beam(&solid, false).0;
    let (_, parts) = beam(&solid, false);
    let read = |model: Model| {
        let simulation = Simulation::new(model).unwrap();
        let mut state = simulation.state().clone();
        let model = simulation.problem();
        // Pressed to a third along the beam: the material has an indefinite tangent there.
        let places = state.positions[model.node(parts.nodes).position_range()]
            .as_chunks_mut::<3>()
            .0;
        for x in places {
            x[0] *= if x[0] > 0.5 { 0.3 } else { 1.0 };
        }
        let mut evaluation = Evaluation::new(model);
        evaluation.propagate(model, &mut state).unwrap();
        evaluation.evaluate(model, &state).unwrap();
        let count = evaluation.projected_elements(model, &state);
        (
            count,
            model.potential(&state, parts.material),
            model.energies(&state).potential,
        )
    };
    let (count, energy, all) = read(of_model());
    assert!(count > 0 && energy > 0.0, "{count} {energy}");
    for (own, one, both) in together(3, of_model, read) {
        assert_eq!(own, count);
        assert!((one / energy - 1.0).abs() < 1e-13, "{one} {energy}");
        assert!((both / all - 1.0).abs() < 1e-13, "{both} {all}");
    }
}

/// A wide checkpoint goes from three processes to two, and to one.
#[test]
fn a_run_goes_on_over_another_number_of_processes() {
    let of_model = || beam(&soft(), false).0;
    let half = |model: Model| {
        let mut simulation = Simulation::new(model).unwrap();
        steps(&mut simulation, 3);
        (simulation.wide_checkpoint(), simulation.checkpoint())
    };
    let saved = together(3, of_model, half);
    let go_on = |model: Model| {
        let mut simulation = Simulation::new(model).unwrap();
        simulation.restore(&saved[1].0).unwrap();
        steps(&mut simulation, 3);
        independent(&simulation)
    };
    let alone = go_on(of_model());
    for end in together(2, of_model, go_on) {
        assert!(distance(&end, &alone) < 1e-11, "{}", distance(&end, &alone));
    }
    let mut straight = Simulation::new(of_model()).unwrap();
    steps(&mut straight, 6);
    assert!(distance(&independent(&straight), &alone) < 1e-11);
    // One that is not wide is of one process of three, and is refused by others.
    let mut other = Simulation::new(of_model()).unwrap();
    let refused = other.restore(&saved[1].1).unwrap_err();
    assert!(
        matches!(refused, Error::Model(ModelError::State { .. })),
        "{refused}"
    );
}

/// An element that is not defined on one process is an error on all, with its name.
#[test]
fn an_error_of_one_process_ends_all() {
    // The string between the last knots is the last one, of the last process.
    let of_model = || net_with_last_knot([0.5, 0.4, 0.0]);
    let find = |error: Error| match error {
        Error::Model(ModelError::Degenerate { name, cause, .. }) => (name, cause.element),
        other => panic!("{other}"),
    };
    let alone = find(Simulation::new(of_model()).unwrap_err());
    assert_eq!(alone, ("strings".to_owned(), 59));
    for error in together(3, of_model, |model| Simulation::new(model).unwrap_err()) {
        // Its number is that among the elements of all.
        assert_eq!(find(error), alone);
    }
}
