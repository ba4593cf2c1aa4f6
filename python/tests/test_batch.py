"""Many simulations side by side: the bits of each alone, whatever the number of threads."""

import copy
import os
import pickle
import signal
import threading
from typing import Any

import numpy as np
import pytest
from conftest import SCENES, STONE
from test_scenes import comparable

import pliant

#: A pendulum on two rods, which contradict each other unless `miss` is zero.
ROD = """(
    parameters: {"miss": 0, "gravity": 10},
    gravity: (0, "-$gravity", 0),
    run: (duration: 1, step: 0.01),
    nodes: [
        Particles(name: "bead", positions: [(0, 0, 0)], mass: 1),
        Mapped(name: "a", parents: ["bead"], mapping: Distance(pairs: [(0, (-1, 0, 0))], rest: 1)),
        Mapped(name: "b", parents: ["bead"], mapping: Distance(pairs: [(0, (-1, 0, 0))], rest: "1 + $miss")),
    ],
    constraints: [(name: "left rod", on: "a"), (name: "right rod", on: "b")],
)"""


@pytest.fixture
def stones() -> pliant.Batch:
    """Three particles in free fall."""
    return pliant.Batch(pliant.Model.from_string(STONE), 3, threads=2)


def state(simulation: pliant.Simulation) -> dict[str, Any]:
    """Positions and velocities of all nodes."""
    nodes = map(simulation.node, simulation.model.nodes)
    return {node.name: (node.positions.tolist(), node.velocities.tolist()) for node in nodes}


def states(batch: pliant.Batch) -> list[dict[str, Any]]:
    return [state(simulation) for simulation in batch]


def moment(simulation: pliant.Simulation) -> dict[str, Any]:
    """All numbers of a simulation but those of the clock, counts of work among them."""
    return {"state": state(simulation), "sums": comparable(simulation.summary())}


def moments(batch: pliant.Batch) -> list[dict[str, Any]]:
    return [moment(simulation) for simulation in batch]


@pytest.mark.parametrize(
    ("scene", "name", "values"),
    [
        ("servo_arm", "shoulder", np.linspace(0.5, 1.5, 5)),
        ("stack", "friction", np.linspace(0.1, 0.6, 5)),
        ("double_pendulum", None, np.zeros(5)),
        ("gripper_soft", "friction", np.linspace(0.02, 0.5, 5)),
    ],
)
def test_instances_have_the_bits_of_simulations_alone(scene: str, name: str | None, values: Any) -> None:
    model = pliant.Model.from_file(SCENES / f"{scene}.ron")
    alone = []
    for value in values:
        one = model if name is None else model.with_parameters({name: value})
        simulation = pliant.Simulation(one)
        for _ in range(12):
            simulation.step()
        alone.append(moment(simulation))
    assert name is None or all(one != alone[0] for one in alone[1:])
    for threads in (1, 2, 3):
        parameters = None if name is None else {name: values}
        batch = pliant.Batch(model, 5, parameters=parameters, threads=threads)
        batch.step(steps=5)
        batch.step()
        batch.run(6 * model.step)
        assert moments(batch) == alone


def test_arrays_have_the_instances_first(stones: pliant.Batch) -> None:
    stones.set_force("stone", [[1, 0, 0], [2, 0, 0], [3, 0, 0]])
    stones.run(0.5)
    assert stones.time == pytest.approx([0.5] * 3)
    # x = F t^2 / 2 m exactly, since forces are constant; sums of 50 steps are rounded.
    assert stones.positions("stone")[:, 0, 0] == pytest.approx([0.0625, 0.125, 0.1875], rel=1e-12)
    assert stones.velocities("stone").shape == (3, 1, 3)
    assert stones.dof_velocities[:, 1] == pytest.approx([-5.0] * 3, rel=1e-12)
    assert not stones.is_done.any()
    assert (stones.run() == [50, 50, 50]).all() and stones.is_done.all()
    assert len(stones) == 3 and len(list(stones)) == 3
    assert stones[-1].node("stone").positions[0, 0] == stones.positions("stone")[2, 0, 0]
    arrays: list[Any] = [stones.time, stones.is_done, stones.q, stones.dof_velocities, stones.positions("stone")]
    for array in arrays:
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0


def test_joint_coordinates_of_all_joints() -> None:
    model = pliant.Model.from_file(SCENES / "servo_arm.ron")
    assert model.coordinates == ("shoulder.angle", "elbow.angle")
    batch = pliant.Batch(model, 2)
    batch.tau = [[0.0, 0.0], [1.0, -2.0]]
    assert (batch.tau == [[0.0, 0.0], [1.0, -2.0]]).all()
    alone = pliant.Simulation(model)
    alone.joint("shoulder").set_force([1.0])
    alone.joint("elbow").set_force([-2.0])
    assert (alone.tau == [1.0, -2.0]).all()
    batch.step(steps=30)
    for _ in range(30):
        alone.step()
    assert moment(batch[1]) == moment(alone) and moment(batch[0]) != moment(alone)
    assert (batch.q[1] == [alone.joint(name).position for name in ("shoulder", "elbow")]).all()
    assert (batch.qd[1] == [alone.joint(name).velocity for name in ("shoulder", "elbow")]).all()
    assert (alone.q == batch.q[1]).all() and (alone.qd == batch.qd[1]).all()


def test_drives_and_inputs_are_those_of_each() -> None:
    model = pliant.Model.from_file(SCENES / "servo_arm.ron")
    batch = pliant.Batch(model, 3, threads=1)
    targets = [0.1, 0.2, 0.3]
    batch.drive("shoulder.motor 0", targets, within=0.5)
    batch.drive("elbow.motor 0", 0.0)
    for target in targets:
        alone = pliant.Simulation(model)
        alone.drive("shoulder.motor 0", target, within=0.5)
        alone.drive("elbow.motor 0", 0.0)
        alone.run(0.2)
        batch.run(until=0.2)
        assert moment(batch[targets.index(target)]) == moment(alone)
    batch.drive("shoulder.motor 0", velocity=[[0.1], [0.2], [0.3]])
    alone.drive("shoulder.motor 0", velocity=0.3)
    batch.run(until=0.4)
    alone.run(until=0.4)
    assert moment(batch[2]) == moment(alone) and (np.diff(batch.q[:, 0]) > 0).all()


#: A muscle that pulls at a stone with a force of its activation, which nothing else sets.
MUSCLE = """(
    run: (duration: 1, step: 0.01),
    nodes: [
        Particles(name: "stone", positions: [(1, 0, 0)], mass: 2),
        Mapped(name: "length", parents: ["stone"], mapping: Distance(pairs: [(0, (0, 0, 0))], rest: 0)),
    ],
    force_fields: [(name: "muscle", on: "length", law: AxialMuscle(force: 100, optimal_length: 1, activation: 0.5))],
)"""


def test_inputs_are_those_of_each_and_a_refusal_changes_none() -> None:
    model = pliant.Model.from_string(MUSCLE)
    batch = pliant.Batch(model, 2, threads=1)
    batch.set_input("muscle", [0.2, 0.8])
    alone = pliant.Simulation(model)
    alone.set_input("muscle", 0.8)
    with pytest.raises(pliant.StateError, match="muscle") as raised:
        batch.set_input("muscle", [0.9, 7.0])
    assert raised.value.instance == 1
    batch.step(steps=5)
    for _ in range(5):
        alone.step()
    assert state(batch[1]) == state(alone)
    assert batch.velocities("stone")[0, 0, 0] > batch.velocities("stone")[1, 0, 0]


def test_a_drive_that_is_refused_drives_none() -> None:
    arm = pliant.Batch(pliant.Model.from_file(SCENES / "servo_arm.ron"), 2)
    arm.run(1.0)
    arm.reset([0])
    twin = copy.copy(arm)
    with pytest.raises(pliant.StateError) as raised:
        # More than rounding of the time at the start alone.
        arm.drive("shoulder.motor 0", 0.3, within=1e-16)
    assert raised.value.instance == 1
    arm.step(steps=3)
    twin.step(steps=3)
    assert states(arm) == states(twin)


def test_bodies_of_a_batch() -> None:
    batch = pliant.Batch(pliant.Model.from_file(SCENES / "servo_arm.ron"), 2, parameters={"shoulder": [0.5, 1.0]})
    batch.run(0.5)
    for i, simulation in enumerate(batch):
        links = simulation.node("links")
        assert (batch.orientations("links")[i] == links.orientations).all()
        assert (batch.angular_velocities("links")[i] == links.angular_velocities).all()
        assert (batch.velocities("links")[i] == links.velocities).all()
    assert batch.orientations("links").shape == (2, 2, 4)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_process_has_threads_of_its_own(stones: pliant.Batch) -> None:
    stones.step()
    child = os.fork()
    if child == 0:
        signal.alarm(20)
        stones.step()
        os._exit(0 if stones[2].steps == 2 else 1)
    assert os.waitpid(child, 0)[1] == 0
    stones.step()


def test_some_instances_begin_anew() -> None:
    model = pliant.Model.from_string(ROD, name="rod")
    batch = pliant.Batch(model, 4, parameters={"gravity": [1, 2, 3, 4]})
    start = moments(batch)
    batch.step(steps=3)
    later = moments(batch)
    batch.reset([True, False, False, True])
    assert moments(batch) == [start[0], later[1], later[2], start[3]]
    batch.reset([1, -2], parameters={"gravity": [5, 6]})
    assert (batch.parameters["gravity"] == [1, 5, 6, 4]).all()
    assert (batch.time == 0).all()
    batch.reset(np.array([], dtype=int))
    batch.reset(parameters={"gravity": 9})
    assert (batch.parameters["gravity"] == 9).all() and (batch.parameters["miss"] == 0).all()
    assert all(one == moment(batch[0]) for one in moments(batch))
    batch.reset([2], parameters={"gravity": ["3 * 4"]})
    assert (batch.parameters["gravity"] == [9, 9, 12, 9]).all()


def test_steps_of_some_instances(stones: pliant.Batch) -> None:
    reports = stones.step(which=[2], steps=4)
    assert reports[0] is None and reports[1] is None and isinstance(reports[2], pliant.StepReport)
    assert (stones.time == [0, 0, stones[2].time]).all() and stones[2].steps == 4
    stones.step(0.5, which=np.array([True, True, False]))
    assert (stones.time[:2] == 0.5).all()


def test_a_failing_instance_is_named_and_the_others_go_on() -> None:
    model = pliant.Model.from_string(ROD, name="rod")
    batch = pliant.Batch(model, 4, parameters={"miss": [0, 0.5, 0, 0.5]}, threads=2)
    before = states(batch)
    with pytest.raises(pliant.NotConverged, match="^instance 1: ") as raised:
        batch.step(steps=3)
    assert raised.value.instance == 1 and raised.value.time == 0.0
    assert [s.steps for s in batch] == [3, 0, 3, 0]
    assert [before[1], before[3]] == [states(batch)[1], states(batch)[3]]
    outcome = batch.step(return_exceptions=True)
    assert [isinstance(one, pliant.StepError) for one in outcome] == [False, True, False, True]
    some = batch.step(which=[0, 3], return_exceptions=True)
    assert some[1] is None and some[2] is None and isinstance(some[3], pliant.NotConverged)
    last = outcome[3]
    assert isinstance(last, pliant.NotConverged) and last.instance == 3
    assert isinstance(pickle.loads(pickle.dumps(last)), pliant.NotConverged)
    with pytest.raises(pliant.NotConverged):
        batch.run()
    assert batch.is_done.tolist() == [True, False, True, False]


def test_statics_of_many_parameters() -> None:
    model = pliant.Model.from_file(SCENES / "snap_through.ron")
    batch = pliant.Batch(model, 2)
    with pytest.raises(pliant.StepError, match="asks for equilibria"):
        batch.step()
    with pytest.raises(pliant.StateError, match="asks for equilibria"):
        batch.run(1.0)
    assert (batch.run() == [0, 0]).all()
    assert [s.summary()["statics"]["end"] for s in batch] == ["reached", "reached"]


def test_copies_and_pickles_go_on_to_the_same_bits() -> None:
    model = pliant.Model.from_file(SCENES / "servo_arm.ron")
    batch = pliant.Batch(model, 3, parameters={"shoulder": [0.5, 1.0, 1.5]}, threads=2)
    batch.step(steps=5)
    twins = [copy.copy(batch), copy.deepcopy(batch), pickle.loads(pickle.dumps(batch))]
    batch.step(steps=5)
    for twin in twins:
        assert twin.threads == 2 and (twin.parameters["shoulder"] == [0.5, 1.0, 1.5]).all()
        twin.step(steps=5)
        # Work is not the same: a copy makes its plan anew.
        assert states(twin) == states(batch)


def test_what_a_batch_refuses(stones: pliant.Batch) -> None:
    model = stones.model
    arm = pliant.Batch(pliant.Model.from_file(SCENES / "servo_arm.ron"), 2)
    refused: list[tuple[Any, str]] = [
        (lambda: pliant.Batch(model, 0), "instances of a batch: 1 to 1000000, not 0"),
        (lambda: pliant.Batch(model, -1), "instances of a batch"),
        (lambda: pliant.Batch(model, 10**30), "instances of a batch"),
        (lambda: pliant.Batch(model, 2, threads=0), "threads of a batch: 1 to 1024, not 0"),
        (lambda: pliant.Batch(model, 2, threads=-3), "threads of a batch"),
        (lambda: stones.step(steps=0), "steps of a batch: 1 or more, not 0"),
        (lambda: stones.step(steps=-1), "steps of a batch"),
        (lambda: stones.step(which=[[0], [1, 2]]), "a list of one dimension"),
        (lambda: arm.drive("shoulder.motor 0", within=0.1), "no position or velocity"),
        (lambda: pliant.Batch(arm.model, 2, parameters={"time": ["1", "2", "3"]}), "must be 2, not 3"),
        (lambda: stones.step(which=[0, 0]), "named twice"),
        (lambda: stones.step(which=[3]), "no instance 3"),
        (lambda: stones.reset([True, False]), r"must have the shape \(3,\)"),
        (lambda: stones.reset([0.5]), "whole numbers"),
        (lambda: stones.run(-1.0), "not negative"),
        (lambda: stones.run(1.0, until=2.0), "not both"),
        (lambda: stones.set_force("stone", [0, 0, 0]), r"must have the shape \(3, 3\)"),
        (lambda: stones.set_force("stone", np.full((3, 3), np.nan)), "must be finite"),
        (lambda: stones.set_force("stone", np.zeros((3, 3)), 1), "no element 1"),
        (lambda: stones.orientations("stone"), "has no orientations"),
        (lambda: setattr(arm, "tau", [1, 2]), r"must have the shape \(2, 2\)"),
        (lambda: arm.drive("shoulder.motor 0", [1, 2, 3]), r"must have the shape \(2,\)"),
        (lambda: pliant.Batch(arm.model, 2, parameters={"time": [1.0]}), r"must have the shape \(2,\)"),
    ]
    for call, text in refused:
        with pytest.raises(pliant.StateError, match=text):
            call()
    with pytest.raises(pliant.UnknownName, match="`stones`; did you mean `stone`"):
        stones.positions("stones")
    with pytest.raises(pliant.UnknownName):
        arm.drive("motor", 1.0)
    with pytest.raises(pliant.SceneError, match="`tame`") as unknown:
        pliant.Batch(arm.model, 2, parameters={"tame": [1.0, 2.0]})
    assert unknown.value.instance == 0
    with pytest.raises(pliant.SceneError, match="`motors` of `shoulder` is -1") as refusal:
        pliant.Batch(arm.model, 2, parameters={"torque": [1.0, -1.0]})
    assert refusal.value.instance == 1 and refusal.value.line is not None
    for index in (3, -4, 10**30):
        with pytest.raises(IndexError, match="has no instance"):
            stones[index]
    with pytest.raises(TypeError):
        pliant.Batch(model, 2.5)  # type: ignore[arg-type]
    with pytest.raises(pliant.StateError, match="no instances"):
        pliant.Batch._restored(model, [], 1)  # type: ignore[attr-defined]
    assert (stones.time == 0).all()


def test_parameters_do_not_change_which_parts_there_are() -> None:
    text = """(
        parameters: {"links": 3},
        run: (duration: 1),
        nodes: [Cable(name: "rope", from: (0, 0, 0), to: (1, 0, 0), links: "$links", link_mass: 1)],
    )"""
    model = pliant.Model.from_string(text)
    with pytest.raises(pliant.SceneError, match="instance 1: .* other nodes"):
        pliant.Batch(model, 2, parameters={"links": [3, 4]})


@pytest.mark.usefixtures("interrupts")
def test_an_interrupt_ends_the_beginning_of_a_batch() -> None:
    model = pliant.Model.from_file(SCENES / "stack.ron")
    caller = threading.get_ident()
    other = threading.Timer(0.2, lambda: signal.pthread_kill(caller, signal.SIGINT))
    other.start()
    with pytest.raises(KeyboardInterrupt):
        # Minutes of work.
        pliant.Batch(model, 500_000, parameters={"friction": 0.5})
    other.join()


@pytest.mark.usefixtures("interrupts")
def test_an_interrupt_ends_the_steps_of_a_batch() -> None:
    batch = pliant.Batch(pliant.Model.from_string(STONE, duration=1e5), 4, threads=2)
    caller = threading.get_ident()
    # Half a minute of work and more.
    other = threading.Timer(0.3, lambda: signal.pthread_kill(caller, signal.SIGINT))
    other.start()
    with pytest.raises(KeyboardInterrupt):
        batch.run()
    other.join()
    assert batch.time.max() > 0 and not batch.is_done.all()
