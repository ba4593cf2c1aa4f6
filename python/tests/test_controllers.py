"""Controllers against closed forms, and when they are called."""

from math import cos, exp, sin, sqrt
from typing import Any

import numpy as np
import pytest
from conftest import SCENES
from numpy.typing import NDArray

import pliant

ARM = """(
    run: (duration: 1, step: 0.001),
    parameters: {"angle": 0.5},
    nodes: [Bodies(name: "arm", bodies: [(position: (0, 0, 0), shape: Box(1, 0.1, 0.1), mass: 2)])],
    joints: [(
        name: "hinge", kind: Hinge, b: Body("arm", 0),
        motors: [Position(target: 0, compliance: 0.001, relaxation_time: 0.02, force: 100)],
    )],
)"""
FREE = ARM[: ARM.index("        motors:")] + ARM[ARM.index("    )],\n)") :]
#: Moment of inertia about the hinge.
INERTIA = 2 * (1 + 0.01) / 12


def arm(speed: float = 3.0) -> pliant.Simulation:
    """Arm about a hinge without a motor, which turns."""
    simulation = pliant.Simulation(pliant.Model.from_string(FREE))
    simulation.body("arm").angular_velocity = [0, 0, speed]
    return simulation


def test_a_pd_controller_is_a_damped_oscillation() -> None:
    stiffness, damping, speed = 20.0, 0.5, 3.0
    simulation = arm(speed)

    def controller(s: pliant.Simulation) -> NDArray[np.float64]:
        return -stiffness * s.q - damping * s.qd

    assert simulation.run(0.4, controller=controller) == 400
    decay = damping / (2 * INERTIA)
    omega = sqrt(stiffness / INERTIA - decay**2)
    angle = speed / omega * exp(-decay * 0.4) * sin(omega * 0.4)
    # The torque is held over a step: a delay of h/2, of which the force -k q makes a negative damping k h/2.
    assert simulation.q[0] == pytest.approx(angle, abs=0.01)
    late = (damping - stiffness * 0.0005) / (2 * INERTIA)
    omega = sqrt(stiffness / INERTIA - late**2)
    assert simulation.q[0] == pytest.approx(speed / omega * exp(-late * 0.4) * sin(omega * 0.4), abs=1e-3)


def test_it_is_called_once_before_each_step_with_its_moment() -> None:
    simulation = arm()
    times: list[float] = []

    def controller(s: pliant.Simulation) -> None:
        assert s is simulation
        times.append(s.time)
        s.tau = [1.0]

    assert simulation.run(until=0.0105, controller=controller) == 11
    assert times == pytest.approx([0.001 * k for k in range(11)], abs=1e-12)
    assert simulation.time == pytest.approx(0.0105, abs=1e-12)
    # A constant torque for the whole time.
    assert simulation.qd[0] == pytest.approx(3 + 0.0105 / INERTIA, rel=1e-9)
    assert simulation.run(until=0.0105, controller=controller) == 0 and len(times) == 11


def test_a_loop_of_steps_has_the_same_bits() -> None:
    first, second = arm(), arm()

    def controller(s: pliant.Simulation) -> NDArray[np.float64]:
        return np.array([cos(40 * s.time)])

    first.run(0.1, controller=controller)
    for _ in range(100):
        second.tau = controller(second)
        second.step()
    assert first.q.tobytes() == second.q.tobytes() and first.qd.tobytes() == second.qd.tobytes()


def test_a_controller_drives_motors() -> None:
    simulation = pliant.Simulation(pliant.Model.from_string(ARM))
    simulation.run(0.5, controller=lambda s: s.drive("hinge.motor 0", 0.3 * s.time, 0.3))
    # A ramp of 0.3 rad/s, to which each drive goes in a step: a step late.
    assert simulation.q[0] == pytest.approx(0.15 - 0.0003, abs=1e-4)


def test_halves_of_a_step_have_the_inputs_of_the_whole() -> None:
    """A step so long that Newton's method does not converge is halved; the controller is called once."""

    class Stiff:
        def energy(self, x: NDArray[np.float64]) -> float:
            return float(1e4 * (x**4).sum())

    stone = {"name": "p", "positions": [[1, 0, 0]], "mass": 1e-3}
    model = pliant.Model.from_dict({"run": {"duration": 1, "step": 0.05}, "nodes": [{"Particles": stone}]})
    model = model.with_force_field("stiff", "p", Stiff())
    assert pliant.Simulation(model).step().step_halvings > 0
    simulation = pliant.Simulation(model)
    calls: list[float] = []
    simulation.run(0.2, controller=lambda s: calls.append(s.time))
    assert calls == pytest.approx([0, 0.05, 0.1, 0.15], abs=1e-12)


def test_an_exception_ends_the_run_with_the_state_of_the_last_step() -> None:
    class Told(Exception):
        pass

    def controller(s: pliant.Simulation) -> None:
        if s.steps == 5:
            raise Told

    simulation = arm()
    with pytest.raises(Told):
        simulation.run(controller=controller)
    assert simulation.steps == 5
    wrong: Any
    for wrong in ([1.0, 2.0], float("nan"), "x"):
        with pytest.raises((pliant.StateError, TypeError, ValueError)):
            simulation.run(controller=lambda s: wrong)
        assert simulation.steps == 5
    with pytest.raises(TypeError):
        simulation.run(controller=3)  # type: ignore[arg-type]


def test_a_scene_of_statics_takes_none() -> None:
    model = pliant.Model.from_file(SCENES / "snap_through.ron")
    simulation = pliant.Simulation(model)
    with pytest.raises(pliant.StateError, match="no controller"):
        simulation.run(controller=lambda s: None)
    with pytest.raises(pliant.StateError, match="no controller"):
        pliant.Batch(model, 2).run(controller=lambda b: None)


def test_a_batch_has_the_bits_of_its_instances_alone() -> None:
    model = pliant.Model.from_string(FREE)
    batch = pliant.Batch(model, 3, threads=2)
    gains = np.array([[5.0], [10.0], [20.0]])
    for k in range(3):
        batch[k].body("arm").angular_velocity = [0, 0, 1.0 + k]
    batch[1].run(0.01)

    def controller(b: pliant.Batch) -> NDArray[np.float64]:
        return np.asarray(-gains * b.q)

    assert list(batch.run(until=0.1, controller=controller)) == [100, 90, 100]
    for k in (0, 2):
        alone = arm(1.0 + k)
        gain = gains[k, 0]
        alone.run(until=0.1, controller=lambda s: -gain * s.q)
        assert alone.q.tobytes() == batch.q[k].tobytes()
    assert batch.time == pytest.approx([0.1] * 3, abs=1e-12)
    with pytest.raises(ZeroDivisionError):
        batch.run(controller=lambda b: 1 / 0)
