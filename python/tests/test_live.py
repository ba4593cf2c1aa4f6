"""Live arrays: the same object at every time, with the numbers of the present state."""

import copy
import gc
import pickle
import threading
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from conftest import SCENES, STONE

import pliant

ARM = """(
    gravity: (0, -9.81, 0),
    run: (duration: 1, step: 0.005),
    nodes: [
        Bodies(name: "arm", bodies: [(position: (0.5, 0, 0), shape: Box(1, 0.1, 0.1), mass: 2)]),
        Mapped(name: "tip", parents: ["arm"], mapping: RigidPoints(points: [(0, (0.5, 0, 0))])),
    ],
    joints: [(name: "shoulder", kind: Hinge, b: Body("arm", 0))],
    force_fields: [(name: "spring", on: "shoulder.angle", law: Compliance(0.125))],
)"""


def arm() -> pliant.Simulation:
    return pliant.Simulation(pliant.Model.from_string(ARM))


def all_of(live: pliant.Live) -> dict[str, np.ndarray]:
    """Every live array of the arm."""
    return {
        "q": live.q,
        "qd": live.qd,
        "tau": live.tau,
        "dofs": live.dof_velocities,
        "x": live.positions("arm"),
        "turn": live.orientations("arm"),
        "v": live.velocities("arm"),
        "w": live.angular_velocities("arm"),
        "tip": live.positions("tip"),
        "force": live.forces("arm"),
        "spring": live.reaction("spring"),
    }


def check(live: dict[str, np.ndarray], simulation: pliant.Simulation) -> None:
    """The live arrays have the bits of the copies."""
    body = simulation.node("arm")
    copies = {
        "q": simulation.q,
        "qd": simulation.qd,
        "tau": simulation.tau,
        "dofs": simulation.velocities,
        "x": body.positions,
        "turn": body.orientations,
        "v": body.velocities,
        "w": body.angular_velocities,
        "tip": simulation.node("tip").positions,
        "spring": simulation.reaction("spring"),
    }
    for name, expected in copies.items():
        assert live[name].shape == expected.shape and live[name].tolist() == expected.tolist(), name


def test_arrays_are_the_same_and_follow_every_change() -> None:
    simulation = arm()
    live = all_of(simulation.live)
    check(live, simulation)
    start = simulation.checkpoint()
    changes: list[Callable[[], Any]] = [
        simulation.step,
        lambda: simulation.step(0.001),
        lambda: simulation.run(0.1),
        lambda: simulation.run(0.1, controller=lambda s: -s.q),
        lambda: setattr(simulation, "tau", [3.0]),
        lambda: setattr(simulation.node("arm"), "velocities", [[0, 1, 0]]),
        lambda: setattr(simulation.body("arm"), "angular_velocity", [0, 0, 2]),
        simulation.equilibrium,
        lambda: simulation.restore(start),
        lambda: simulation.settle(0.1, tolerance=1e-6),
        lambda: simulation.follow(gravity=True, start=0.5),
        simulation.reset,
    ]
    for k, change in enumerate(changes):
        before = [array.copy() for array in live.values()]
        change()
        check(live, simulation)
        assert any((a != b).any() for a, b in zip(before, live.values())), f"change {k} changes nothing"
    again = all_of(simulation.live)
    assert all(again[name] is array for name, array in live.items())


def test_forces_from_outside_are_live() -> None:
    simulation = arm()
    forces = simulation.live.forces("arm")
    assert forces.tolist() == [[0] * 6]
    simulation.body("arm").set_force([1, 2, 3], [4, 5, 6])
    assert forces.tolist() == [[1, 2, 3, 4, 5, 6]]
    # A call that reads a part of the array has it written.
    simulation.body("arm").set_force(forces[0, 3:])
    assert forces.tolist() == [[4, 5, 6, 0, 0, 0]]
    assert simulation.live.forces("tip").shape == (1, 3)


def test_a_step_that_fails_leaves_the_numbers_before_it() -> None:
    class Stop:
        def energy(self, x: np.ndarray) -> float:
            if x[0, 1] < -0.1:
                raise RuntimeError("enough")
            return 0.0

    model = pliant.Model.from_string(STONE).with_force_field("stop", "stone", Stop())
    simulation = pliant.Simulation(model)
    x = simulation.live.positions("stone")
    with pytest.raises(RuntimeError, match="enough"):
        simulation.run()
    assert -0.1 < x[0, 1] < -0.05 and x.tolist() == simulation.node("stone").positions.tolist()


def test_arrays_cannot_be_written_and_can_be_assigned_from() -> None:
    simulation = arm()
    q, tau = simulation.live.q, simulation.live.tau
    with pytest.raises(ValueError, match="read-only"):
        q[0] = 1.0
    simulation.tau = [2.0]
    assert tau.tolist() == [2.0]
    simulation.tau = tau
    simulation.tau = -3 * tau
    assert tau.tolist() == [-6.0]
    velocities = simulation.live.velocities("arm")
    simulation.node("arm").velocities = velocities
    assert velocities.tolist() == [[0, 0, 0]]
    simulation.node("arm").read_positions(np.zeros((1, 3)))


def test_views_of_an_array_follow_and_copies_do_not() -> None:
    simulation = pliant.Simulation(pliant.Model.from_string(STONE))
    x = simulation.live.positions("stone")
    height, kept = x[0, 1:2], x.copy()
    simulation.run(0.5)
    # SDIRK2 is exact for constant forces, to the rounding of 50 steps.
    assert height[0] == pytest.approx(-1.25, abs=1e-12) and kept[0, 1] == 0


def test_each_simulation_has_its_own() -> None:
    one = arm()
    q = one.live.q
    other, third = copy.copy(one), pickle.loads(pickle.dumps(one))
    other.run(0.2)
    third.run(0.1)
    assert q[0] == 0 and other.live.q is not q
    assert other.live.q.tolist() == other.q.tolist() and third.live.q.tolist() == third.q.tolist()


def test_instances_of_a_batch_have_them() -> None:
    model = pliant.Model.from_file(SCENES / "servo_arm.ron")
    batch = pliant.Batch(model, 3, parameters={"shoulder": [0.2, 0.6, 1.0]}, threads=2)
    arrays = [simulation.live.q for simulation in batch]
    batch.run(0.2)
    assert [a.tolist() for a in arrays] == batch.q.tolist() and batch.q[:, 0].std() > 0
    batch.step(which=[1])
    assert [a.tolist() for a in arrays] == batch.q.tolist()
    batch.tau = np.ones(batch.tau.shape)
    assert batch[2].live.tau.tolist() == batch.tau[2].tolist()


def test_threads_that_step_one_simulation_show_its_last_state() -> None:
    simulation = arm()
    q = simulation.live.q

    def work() -> None:
        for _ in range(40):
            simulation.step()
            assert simulation.live.q is q

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert simulation.steps == 160 and q.tolist() == simulation.q.tolist()


def test_arrays_outlive_their_simulation_and_keep_none() -> None:
    simulation = arm()
    q = simulation.live.q
    simulation.run(0.1)
    last, gone = q.tolist(), weakref.ref(simulation)
    del simulation
    gc.collect()
    assert gone() is None and q.tolist() == last


def test_components_of_ones_own_may_read_what_is_there_and_not_ask() -> None:
    found: list[float] = []
    seen: list[tuple[pliant.Simulation, np.ndarray]] = []

    class Watch:
        def energy(self, x: np.ndarray) -> float:
            for simulation, height in seen:
                found.append(float(height[0, 1]))
                with pytest.raises(pliant.StateError, match="in the middle of a step"):
                    simulation.live.velocities("stone")
            return 0.0

    model = pliant.Model.from_string(STONE).with_force_field("watch", "stone", Watch())
    simulation = pliant.Simulation(model)
    seen.append((simulation, simulation.live.positions("stone")))
    simulation.step()
    # All of the step sees its start.
    assert set(found) == {0.0}


def test_what_there_is_not_is_refused() -> None:
    live = arm().live
    for ask in (live.positions, live.forces):
        with pytest.raises(pliant.UnknownName, match="no node is called `legs`"):
            ask("legs")
    with pytest.raises(pliant.UnknownName, match="no component is called"):
        live.reaction("legs")
    with pytest.raises(pliant.StateError, match="has no orientations"):
        live.orientations("tip")
    assert live.reaction("arm.mass").shape == (0,)
