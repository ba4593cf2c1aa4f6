"""Checkpoints, copies and pickles go on to the same bits."""

import copy
import pickle
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any, Callable

import numpy as np
import pytest
from conftest import SCENES
from test_scenes import comparable

import pliant


def go_on(simulation: pliant.Simulation, steps: int) -> list[bytes]:
    """The state after each of some steps."""
    nodes = [simulation.node(name) for name in simulation.model.nodes]
    states = []
    for _ in range(steps):
        simulation.step()
        states.append(b"".join(n.positions.tobytes() + n.velocities.tobytes() for n in nodes))
    return states


# Contacts, timed holds, motors, muscles with inputs, materials with memory, steps that choose their length.
@pytest.mark.parametrize(
    "name", ["stack", "bow", "servo_arm", "muscle_arm", "paper_clip", "newton_cradle", "billiards", "crane"]
)
def test_copies_go_on_to_the_bit(name: str) -> None:
    simulation = pliant.Simulation(pliant.Model.from_file(SCENES / f"{name}.ron"))
    go_on(simulation, 5)
    others = {
        "restored": pliant.Simulation(simulation.model),
        "copy": copy.copy(simulation),
        "deepcopy": copy.deepcopy(simulation),
        "pickle": pickle.loads(pickle.dumps(simulation)),
    }
    others["restored"].restore(simulation.checkpoint())
    expected = go_on(simulation, 5)
    for kind, other in others.items():
        assert go_on(other, 5) == expected, kind
        found, wanted = comparable(other.summary()), comparable(simulation.summary())
        for key in wanted.keys() - {"work"}:
            assert found[key] == wanted[key], (kind, key)


def test_what_is_held_and_pushed_is_in_a_checkpoint() -> None:
    simulation = pliant.Simulation(pliant.Model.from_file(SCENES / "servo_arm.ron"))
    simulation.joint("elbow").set_force([3.0])
    simulation.body("links").hold([True] * 6)
    simulation.drive("elbow.motor 0", velocity=-0.1)
    simulation.step()
    other = copy.copy(simulation)
    assert go_on(other, 5) == go_on(simulation, 5)
    free = pliant.Simulation(simulation.model)
    free.step()
    assert go_on(free, 5) != go_on(copy.copy(simulation), 5)


def test_a_restored_simulation_goes_back() -> None:
    simulation = pliant.Simulation(pliant.Model.from_file(SCENES / "stack.ron"))
    start = simulation.checkpoint()
    first = go_on(simulation, 8)
    simulation.restore(start)
    assert simulation.time == 0.0 and go_on(simulation, 8) == first
    simulation.reset()
    assert simulation.time == 0.0 and go_on(simulation, 8) == first


@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview, lambda b: np.frombuffer(b, np.uint8)])
def test_checkpoints_are_whatever_holds_bytes(kind: Callable[[bytes], Any]) -> None:
    simulation = pliant.Simulation(pliant.Model.from_file(SCENES / "stack.ron"))
    start = simulation.checkpoint()
    simulation.step()
    simulation.restore(kind(start))
    assert simulation.time == 0.0
    for wrong in ("text", 1, None, [1, 2]):
        with pytest.raises(TypeError):
            simulation.restore(wrong)  # type: ignore[arg-type]


def attributes(report: object) -> dict[str, Any]:
    """All that a report has, those of its parts by name."""
    found: dict[str, Any] = {}
    for name in (name for name in dir(report) if not name.startswith("_")):
        value = getattr(report, name)
        if callable(value):
            continue
        is_part = type(value).__module__.startswith("pliant")
        found[name] = attributes(value) if is_part else value
    return found


def test_reports_are_pickled_to_the_bit() -> None:
    simulation = pliant.Simulation(pliant.Model.from_file(SCENES / "stack.ron"))
    simulation.run(0.1)
    report = simulation.step()
    rest = pliant.Simulation(pliant.Model.from_file(SCENES / "mooring.ron"))
    reports = [
        report,
        report.certificate,
        report.contacts,
        report.energies,
        report.ledger,
        report.momentum,
        simulation.ledger,
        simulation.settle(tolerance=1.0),
        rest.equilibrium(),
    ]
    for one in reports:
        expected = attributes(one)
        assert len(expected) > 1
        for other in (pickle.loads(pickle.dumps(one)), copy.copy(one), copy.deepcopy(one)):
            assert type(other) is type(one) and repr(other) == repr(one)
            assert attributes(other) == expected
    assert report.contacts.count > 0 and report.solver != "" and report.seconds["fill"] > 0
    reduced: Any = report.__reduce__()
    make, (name, data) = reduced
    for wrong in ((name, data[:-1]), ("Energies", data), ("Node", data)):
        with pytest.raises(ValueError):
            make(*wrong)


def test_a_copy_has_the_equilibria_that_were_found() -> None:
    for name in ("snap_through", "mooring"):
        simulation = pliant.Simulation(pliant.Model.from_file(SCENES / f"{name}.ron"))
        assert not simulation.is_done
        assert simulation.run() == 0 and simulation.is_done
        found = comparable(simulation.summary())
        assert found["statics"]["end"] in ("reached", "equilibrium")
        # There is nothing more to find.
        assert simulation.run() == 0 and comparable(simulation.summary()) == found
        for other in (copy.copy(simulation), pickle.loads(pickle.dumps(simulation))):
            assert other.is_done
            again = comparable(other.summary())
            assert (again["statics"], again["state"]) == (found["statics"], found["state"])
        simulation.reset()
        assert not simulation.is_done


def test_models_are_pickled_with_their_settings() -> None:
    model = pliant.Model.from_file(
        SCENES / "pendulum.ron", {"length": "1 + 1"}, step=0.02, duration=3.0, mesh_directories=[SCENES]
    )
    again = pickle.loads(pickle.dumps(model))
    for name in ("parameters", "step", "duration", "title", "nodes", "text", "path"):
        assert getattr(again, name) == getattr(model, name)
    assert copy.copy(model) is model and copy.deepcopy(model) is model
    table = pliant.Model.from_dict({"run": {"duration": 1}, "nodes": [
        {"Particles": {"name": "a", "positions": [[0, 0, 0]], "mass": 1}}]})
    assert pickle.loads(pickle.dumps(table)).nodes == ("a",)


def test_a_pickle_is_read_by_another_process(tmp_path: Path) -> None:
    simulation = pliant.Simulation(pliant.Model.from_file(SCENES / "bow.ron"))
    go_on(simulation, 3)
    (tmp_path / "bow.pickle").write_bytes(pickle.dumps(simulation))
    text = (
        "import pickle, sys; s = pickle.load(open(sys.argv[1], 'rb')); s.step(); "
        "print(s.node('string').positions.tobytes().hex())"
    )
    run = subprocess.run([sys.executable, "-c", text, str(tmp_path / "bow.pickle")], capture_output=True, text=True)
    simulation.step()
    assert run.stdout.strip() == simulation.node("string").positions.tobytes().hex(), run.stderr


def test_a_mesh_that_has_changed_is_noticed(tmp_path: Path) -> None:
    (tmp_path / "meshes").mkdir()
    shutil.copy(SCENES / "net.ron", tmp_path)
    mesh = tmp_path / "meshes" / "net.obj"
    shutil.copy(SCENES / "meshes" / "net.obj", mesh)
    model = pliant.Model.from_file(tmp_path / "net.ron")
    pickled = pickle.dumps(model)
    pliant.Simulation(model)
    lines = mesh.read_text().splitlines()
    first = next(k for k, line in enumerate(lines) if line.startswith("v "))
    lines[first] = lines[first] + "1"
    mesh.write_text("\n".join(lines))
    with pytest.raises(pliant.SceneError, match="has changed"):
        pliant.Simulation(model)
    with pytest.raises(pliant.SceneError, match="has changed"):
        pickle.loads(pickled)
    mesh.unlink()
    with pytest.raises(pliant.SceneError, match="net.obj"):
        pliant.Simulation(model)


def test_errors_are_pickled_with_their_place() -> None:
    with pytest.raises(pliant.SceneError) as raised:
        pliant.Model.from_string("(")
    again = pickle.loads(pickle.dumps(raised.value))
    assert (str(again), again.line, again.column) == (str(raised.value), raised.value.line, raised.value.column)
