"""Live arrays of batches: the same objects at every time, with the rows that instances have alone."""

import copy
import gc
import pickle
import threading
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from conftest import STONE
from test_batch import ROD

import pliant

ARM = """(
    parameters: {"gravity": 9.81},
    gravity: (0, "-$gravity", 0),
    run: (duration: 1, step: 0.005),
    nodes: [
        Bodies(name: "arm", bodies: [(position: (0.5, 0, 0), shape: Box(1, 0.1, 0.1), mass: 2)]),
        Bodies(name: "free", bodies: [(position: (3, 0, 0), shape: Box(1, 0.1, 0.1), mass: 2)]),
        Mapped(name: "tip", parents: ["arm"], mapping: RigidPoints(points: [(0, (0.5, 0, 0))])),
    ],
    joints: [(name: "shoulder", kind: Hinge, b: Body("arm", 0))],
    force_fields: [(name: "spring", on: "shoulder.angle", law: Compliance(0.125))],
)"""

#: Gravities of three instances (m/s^2).
GRAVITY = [1.6, 3.7, 9.81]


def arms(threads: int = 2) -> pliant.Batch:
    return pliant.Batch(pliant.Model.from_string(ARM), 3, parameters={"gravity": GRAVITY}, threads=threads)


def all_of(live: pliant.BatchLive | pliant.Live) -> dict[str, np.ndarray]:
    """Every live array of the arms, or of one of them."""
    return {
        "q": live.q,
        "qd": live.qd,
        "tau": live.tau,
        "dofs": live.dof_velocities,
        "x": live.positions("arm"),
        "turn": live.orientations("arm"),
        "v": live.velocities("free"),
        "w": live.angular_velocities("free"),
        "tip": live.positions("tip"),
        "force": live.forces("free"),
        "spring": live.reaction("spring"),
    }


def copies(one: pliant.Simulation) -> dict[str, Any]:
    """What the arrays of one instance are to have; of forces, what its own live array has."""
    arm, free = one.node("arm"), one.node("free")
    return {
        "q": one.q,
        "qd": one.qd,
        "tau": one.tau,
        "dofs": one.velocities,
        "x": arm.positions,
        "turn": arm.orientations,
        "v": free.velocities,
        "w": free.angular_velocities,
        "tip": one.node("tip").positions,
        "spring": one.reaction("spring"),
    }


def check(live: dict[str, np.ndarray], batch: pliant.Batch) -> None:
    """The rows of live arrays have the bits of the copies that each instance gives."""
    for row, one in enumerate(batch):
        for name, expected in copies(one).items():
            assert live[name].shape == (len(batch), *expected.shape), name
            assert live[name][row].tolist() == expected.tolist(), (name, row)


def changes(batch: pliant.Batch) -> list[Callable[[], Any]]:
    """Whatever changes a state, by the batch and by an instance alone."""
    start = batch.checkpoint()

    def settle() -> None:
        batch[1].body("free").hold()
        batch[1].equilibrium()

    turned = [[np.sqrt(0.5), 0, 0, np.sqrt(0.5)]]
    return [
        batch.step,
        lambda: batch.step(0.001, steps=3),
        lambda: batch.step(which=[1]),
        lambda: batch.step(which=[True, False, True], return_exceptions=True),
        lambda: batch.run(0.1),
        lambda: batch.run(0.1, controller=lambda b: -b.live.q),
        lambda: setattr(batch, "tau", [[1.0], [2.0], [3.0]]),
        lambda: batch.set_force("free", [[1, 0, 0, 0, 0, 0]] * 3),
        batch.step,
        lambda: batch.set_positions("free", [[4, 0, 0]]),
        lambda: batch.set_positions("arm", [[0.6, 0, 0]], which=[2]),
        lambda: batch.set_orientations("arm", turned),
        lambda: batch.set_velocities("free", [[0, 1, 0]], which=[0]),
        lambda: batch.set_angular_velocities("free", [[0, 0, 2]]),
        lambda: batch.hold("free", [True] * 6, [1, 0, 0, 0, 0, 0], which=[1]),
        batch.step,
        lambda: batch.release("free", [True] * 6, which=[1]),
        batch.step,
        lambda: batch.restore(start),
        batch.step,
        lambda: batch.restore(start[2:], which=[2]),
        lambda: batch.reset([1]),
        lambda: batch.reset([0, 2], parameters={"gravity": [2, 3]}),
        batch.step,
        lambda: batch[1].step(),
        lambda: batch[0].run(0.05),
        lambda: setattr(batch[2].node("free"), "positions", [[5, 0, 0]]),
        lambda: batch[2].body("free").set_force([0, 1, 0]),
        lambda: setattr(batch[0], "tau", [7.0]),
        settle,
        lambda: batch[1].restore(start[1]),
        lambda: batch[2].reset(),
        batch.reset,
    ]


def test_arrays_are_the_same_and_follow_every_change() -> None:
    batch = arms()
    live = all_of(batch.live)
    check(live, batch)
    for k, change in enumerate(changes(batch)):
        before = [array.copy() for array in live.values()]
        change()
        check(live, batch)
        # What is held and what is free again shows in the next step.
        if k not in (14, 16):
            assert any((a != b).any() for a, b in zip(before, live.values())), f"change {k} changes nothing"
    again = all_of(batch.live)
    assert all(again[name] is array for name, array in live.items())
    assert repr(batch.live) == "<pliant.BatchLive: 11 arrays>"


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_rows_are_those_of_runs_alone(threads: int) -> None:
    model = pliant.Model.from_string(ARM)
    alone = [pliant.Simulation(model.with_parameters({"gravity": g})) for g in GRAVITY]
    singles = [all_of(one.live) for one in alone]
    batch = arms(threads)
    live = all_of(batch.live)
    for one in alone:
        one.body("free").set_force([1, 2, 3], [4, 5, 6])
    batch.set_force("free", [[1, 2, 3, 4, 5, 6]] * 3)
    for _ in range(20):
        batch.step()
        for row, (one, single) in enumerate(zip(alone, singles)):
            one.step()
            assert {name: array[row].tolist() for name, array in live.items()} == {
                name: array.tolist() for name, array in single.items()
            }
    # The instances differ, so that rows are not mixed up.
    assert len({row.tobytes() for row in live["q"]}) == 3


def test_a_failing_instance_has_its_state_before_the_step() -> None:
    batch = pliant.Batch(pliant.Model.from_string(ROD, name="rod"), 4, parameters={"miss": [0, 0.5, 0, 0.5]}, threads=2)
    live = batch.live.velocities("bead")
    for how in (lambda: batch.step(steps=3), batch.run):
        with pytest.raises(pliant.NotConverged):
            how()
        assert live.tolist() == batch.velocities("bead").tolist()
        assert (live[[1, 3]] == 0).all() and (live[[0, 2], 0, 1] != 0).all()
    batch.step(which=[1], return_exceptions=True)
    assert live.tolist() == batch.velocities("bead").tolist()


def test_what_is_refused_for_one_shows_in_none() -> None:
    batch = arms()
    batch.step()
    live, before = all_of(batch.live), batch.checkpoint()
    batch.step()
    shown = {name: array.tolist() for name, array in live.items()}
    with pytest.raises(pliant.StateError) as refused:
        batch.set_orientations("arm", [[[1, 0, 0, 0]], [[0, 0, 0, 0]], [[1, 0, 0, 0]]])
    assert refused.value.instance == 1
    with pytest.raises(pliant.CheckpointError) as damaged:
        batch.restore([before[0], before[1], b"nothing"])
    assert damaged.value.instance == 2
    assert {name: array.tolist() for name, array in live.items()} == shown
    check(live, batch)


def test_instances_that_were_replaced_show_no_more() -> None:
    batch = arms()
    q = batch.live.q
    old = batch[1]
    batch.run(0.1)
    batch.reset([1])
    assert q[1] == 0 and q[0] != 0
    old.run(0.1)
    assert q[1] == 0 and old.q != 0
    batch[1].run(0.05)
    assert q[1].tolist() == batch[1].q.tolist() != [0.0]
    # What has an array of its own keeps it.
    own = old.live.q
    old.step()
    assert own.tolist() == old.q.tolist()


def test_arrays_cannot_be_written_and_can_be_assigned_from() -> None:
    batch = arms()
    tau, x = batch.live.tau, batch.live.positions("free")
    for array in (tau, x):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1.0
    batch.tau = [[1.0], [2.0], [3.0]]
    batch.tau = tau
    assert tau.tolist() == [[1.0], [2.0], [3.0]]
    batch.tau = tau[::-1]
    assert tau.tolist() == [[3.0], [2.0], [1.0]]
    x_moved = x + 1
    batch.set_positions("free", x_moved)
    batch.set_positions("free", x)
    batch.set_velocities("free", x[:2], which=[2, 0])
    assert x.tolist() == x_moved.tolist()
    assert batch.live.velocities("free")[[2, 0]].tolist() == x[:2].tolist()
    # A call of an instance that reads a part of the array has its row written.
    batch[1].body("free").set_force(x[1, 0])
    forces = batch.live.forces("free")
    batch.set_force("free", forces[:, 0])
    batch[1].node("free").set_force(forces[1, 0] * 2)
    batch[2].node("free").set_force(forces[1, 0])
    assert forces[2].tolist() == forces[1].tolist() and forces[0].tolist() == [[0] * 6]


def test_instances_have_arrays_of_their_own_beside_them() -> None:
    batch = arms()
    own = [one.live.q for one in batch]
    q = batch.live.q
    qd = [one.live.qd for one in batch]
    batch.run(0.1)
    assert [a.tolist() for a in own] == q.tolist() == batch.q.tolist()
    assert [a.tolist() for a in qd] == batch.live.qd.tolist()
    batch.tau = [[1.0], [2.0], [3.0]]
    assert [one.live.tau.tolist() for one in batch] == batch.live.tau.tolist() == [[1.0], [2.0], [3.0]]
    batch.drive("spring", 0.1)
    batch[0].step()
    assert own[0].tolist() == q[0].tolist() == batch[0].q.tolist()


def test_copies_and_pickles_have_their_own() -> None:
    batch = arms()
    q = batch.live.q
    twins = [copy.copy(batch), copy.deepcopy(batch), pickle.loads(pickle.dumps(batch))]
    for twin in twins:
        twin.run(0.1)
        assert twin.live.q is not q and twin.live.q.tolist() == twin.q.tolist()
    assert (q == 0).all()


def test_arrays_outlive_their_batch_and_follow_instances_that_are_kept() -> None:
    batch = arms()
    q, kept, gone = batch.live.q, batch[1], weakref.ref(batch)
    others = [weakref.ref(batch[0]), weakref.ref(batch[2])]
    batch.run(0.1)
    last = q.copy()
    del batch
    gc.collect()
    assert gone() is None and all(other() is None for other in others)
    kept.step()
    assert q[1].tolist() == kept.q.tolist() != last[1].tolist()
    assert q[[0, 2]].tolist() == last[[0, 2]].tolist()


def test_threads_that_step_ask_and_reset() -> None:
    batch = arms()
    q = batch.live.q
    failures: list[BaseException] = []

    def work(place: int) -> None:
        try:
            for k in range(40):
                batch.step(which=[place])
                assert batch.live.q is q
                batch.live.velocities("arm")
                batch[(place + 1) % 3].step()
                if k % 10 == place:
                    batch.reset([place])
                    batch.set_force("free", [[k, 0, 0, 0, 0, 0]] * 3)
                    batch.live.forces("free")
        except BaseException as error:
            failures.append(error)
            raise

    threads = [threading.Thread(target=work, args=(place,)) for place in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    check(all_of(batch.live), batch)


def test_components_of_ones_own_may_read_what_is_there_and_not_ask() -> None:
    heights: list[float] = []
    seen: list[tuple[pliant.Batch, np.ndarray]] = []

    class Watch:
        def energy(self, x: np.ndarray) -> float:
            for batch, height in seen:
                heights.append(float(height[0, 0, 1]))
                assert repr(batch.live) == "<pliant.BatchLive: 1 arrays>"
                for ask in (lambda: batch.live.dof_velocities, lambda: batch.live.velocities("stone"), batch.reset):
                    with pytest.raises(pliant.StateError, match="in the middle of a step"):
                        ask()
            return 0.0

    model = pliant.Model.from_string(STONE).with_force_field("watch", "stone", Watch())
    batch = pliant.Batch(model, 2, threads=2)
    seen.append((batch, batch.live.positions("stone")))
    batch.step()
    # All of the step sees its start.
    assert set(heights) == {0.0}


def test_an_exception_of_a_component_leaves_the_numbers_before_the_step() -> None:
    class Stop:
        def energy(self, x: np.ndarray) -> float:
            if x[0, 1] < -0.1:
                raise RuntimeError("enough")
            return 0.0

    batch = pliant.Batch(pliant.Model.from_string(STONE).with_force_field("stop", "stone", Stop()), 2)
    x = batch.live.positions("stone")
    with pytest.raises(RuntimeError, match="enough"):
        batch.run()
    assert (-0.1 < x[:, 0, 1]).all() and (x[:, 0, 1] < -0.05).all()
    assert x.tolist() == batch.positions("stone").tolist()


#: A spring that is a compliance where it is hard against the mass, and else a stiffness.
SPRING = """(
    parameters: {"compliance": 1},
    gravity: (0, -10, 0),
    run: (duration: 1, step: 0.01),
    nodes: [
        Particles(name: "stone", positions: [(1, 0, 0)], mass: 2),
        Mapped(name: "length", parents: ["stone"], mapping: Distance(pairs: [(0, (0, 0, 0))], rest: 1)),
    ],
    force_fields: [(name: "spring", on: "length", law: Compliance("$compliance"), treatment: Auto)],
)"""


def test_multipliers_that_some_have_are_not_a_number_in_the_others() -> None:
    model = pliant.Model.from_string(SPRING)
    alone = pliant.Simulation(model.with_parameters({"compliance": 1e-9}))
    single = alone.live.reaction("spring")
    assert np.isnan(single).tolist() == [True]
    batch = pliant.Batch(model, 3, parameters={"compliance": [1, 1e-9, 2]})
    live = batch.live.reaction("spring")
    assert live.shape == (3, 1) and np.isnan(live).all()
    alone.step()
    batch.step()
    assert alone.reaction("spring").shape == (1,) and batch[0].reaction("spring").shape == (0,)
    assert single.tolist() == alone.reaction("spring").tolist() == live[1].tolist()
    assert np.isnan(live[:, 0]).tolist() == np.isnan(batch.reaction("spring")[:, 0]).tolist() == [True, False, True]
    assert batch.reaction("spring")[1].tolist() == live[1].tolist()
    batch.reset(parameters={"compliance": [1e-9, 1, 2]})
    batch.step()
    assert np.isnan(live[:, 0]).tolist() == [False, True, True] and live[0].tolist() == single.tolist()


def test_what_there_is_not_is_refused() -> None:
    live = arms().live
    for ask in (live.positions, live.forces):
        with pytest.raises(pliant.UnknownName, match="no node is called `legs`"):
            ask("legs")
    with pytest.raises(pliant.UnknownName, match="no component is called"):
        live.reaction("legs")
    with pytest.raises(pliant.StateError, match="has no orientations"):
        live.orientations("tip")
    assert live.reaction("arm.mass").shape == (3, 0) and repr(live) == "<pliant.BatchLive: 1 arrays>"
    stones = pliant.Batch(pliant.Model.from_string(STONE), 2).live
    assert stones.q.shape == (2, 0) and stones.positions("stone").shape == (2, 1, 3)
