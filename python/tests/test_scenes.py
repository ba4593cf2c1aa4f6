"""Every scene of the repository has the same bits from Python and from the program."""

import copy
import json
import subprocess
from pathlib import Path
from types import MappingProxyType
from typing import Any, Callable

import numpy as np
import pytest
from conftest import SCENES, STONE

import pliant

#: Steps of each scene. A last step that is shorter comes with the half.
STEPS = 19.5
#: Scenes whose steps take a large part of a second.
SLOW = {"cloth_on_ball": 2.5, "brick_wall": 2.5, "solid_beam": 4.5, "soft_bunny": 5.5}


def comparable(summary: dict[str, Any]) -> dict[str, Any]:
    """All numbers but those of the clock and the checksum of the file.

    The program keeps pictures and lists of contacts, Python does not.
    """
    kept = {key: value for key, value in summary.items() if key not in ("seconds", "status", "error", "files", "crc32")}
    if kept["contacts"] is not None:
        kept["contacts"] = {k: v for k, v in kept["contacts"].items() if k != "lines_left_out"}
    return kept


@pytest.mark.parametrize("path", sorted(SCENES.rglob("*.ron")), ids=lambda path: path.stem)
def test_a_scene_has_the_bits_of_the_program(path: Path, program: str, tmp_path: Path) -> None:
    steps = SLOW.get(path.stem, STEPS)
    model = pliant.Model.from_file(path)
    command = [program, "run", "--quiet", str(path), "--out", str(tmp_path)]
    # A search for rest has no duration.
    if not model.is_static:
        duration = steps * model.step
        command += ["--duration", repr(duration)]
        model = pliant.Model.from_file(path, duration=duration)
    run = subprocess.run(command, capture_output=True, text=True)
    expected = json.loads((tmp_path / "result.json").read_text())
    simulation = pliant.Simulation(model)
    error = None
    try:
        simulation.run()
    except pliant.StepError as raised:
        error = str(raised)
    assert error == expected["error"], run.stderr
    found = comparable(simulation.summary())
    wanted = comparable(expected)
    for key in wanted:
        assert found[key] == wanted[key], key
    assert found.keys() == wanted.keys()
    assert simulation.model.is_static or simulation.steps >= steps


def test_steps_one_by_one_are_those_of_a_run() -> None:
    model = pliant.Model.from_file(SCENES / "servo_arm.ron", duration=0.1)
    whole, single = pliant.Simulation(model), pliant.Simulation(model)
    assert whole.run() == 20
    for _ in range(20):
        single.step()
    assert comparable(whole.summary()) == comparable(single.summary())


def test_a_run_in_parts_ends_at_its_times() -> None:
    simulation = pliant.Simulation(pliant.Model.from_file(SCENES / "pendulum.ron"))
    assert simulation.run(0.025) == 3
    assert simulation.time == pytest.approx(0.025, abs=1e-15)
    assert simulation.run(until=0.05) == 3
    assert simulation.time == pytest.approx(0.05, abs=1e-15)
    assert simulation.run(until=0.05) == 0 and simulation.run(0.0) == 0


def test_a_scene_ends_at_its_duration_whatever_the_steps() -> None:
    model = pliant.Model.from_file(SCENES / "pendulum.ron", duration=1.0)
    simulation = pliant.Simulation(model)
    while not simulation.is_done:
        simulation.step(0.001)
    # Sums of a thousand times miss it by rounding.
    assert simulation.steps == 1000 and simulation.time == pytest.approx(1.0, abs=1e-12)
    simulation.reset()
    simulation.step(0.5)
    assert simulation.run() == 50 and simulation.time == pytest.approx(1.0, abs=1e-12)
    assert simulation.run() == 0
    simulation.reset()
    assert simulation.run(0.025) == 3
    other = copy.copy(simulation)
    for one in (simulation, other):
        assert one.run() == 98 and one.time == 1.0 and one.is_done
    simulation.reset()
    assert simulation.run() == 100


def test_coming_to_rest_is_a_part_of_the_duration() -> None:
    text = """(
        gravity: (0, -10, 0),
        run: (duration: 50, step: 0.1),
        nodes: [
            Particles(name: "stone", positions: [(0, 0, 0)], mass: 2),
            Mapped(name: "gap", parents: ["stone"], mapping: Subset(elements: [0])),
        ],
        force_fields: [(name: "spring", on: "gap", law: Stiffness(100))],
    )"""
    simulation = pliant.Simulation(pliant.Model.from_string(text))
    report = simulation.settle()
    assert simulation.time == pytest.approx(0.1 * report.steps) and simulation.steps == 0
    assert simulation.run() == 500 - report.steps
    assert simulation.time == pytest.approx(50.0, abs=1e-11)


def test_steps_that_choose_their_length_go_on_after_others() -> None:
    text = (SCENES / "pendulum.ron").read_text().replace("integrator: Sdirk2", "adaptive_step: ()")
    simulation = pliant.Simulation(pliant.Model.from_string(text, duration=1.0))
    simulation.step(0.25)
    simulation.run()
    assert simulation.time == 1.0 and simulation.is_done


def test_numbers_of_numpy_are_numbers() -> None:
    def scene(number: Callable[[float], Any], array: Callable[[list[float]], Any]) -> pliant.Model:
        bob = {"name": "bob", "positions": [array([0, -1.5, 0])], "mass": number(2)}
        scene = MappingProxyType({"run": {"duration": number(1)}, "nodes": [{"Particles": MappingProxyType(bob)}]})
        return pliant.Model.from_dict(scene)

    plain = scene(float, list)
    kinds: list[Callable[[float], Any]] = [np.float64, np.float32, np.int32, np.uint8]
    for kind in kinds:
        model = scene(kind, np.array)
        assert model.duration == 1.0 and model.nodes == plain.nodes
        assert pliant.Simulation(model).node("bob").positions.tolist() == [[0, -1.5, 0]]
    length = MappingProxyType({"length": np.float32(2)})
    model = pliant.Model.from_file(SCENES / "pendulum.ron", length, mesh_directories=(SCENES,))
    assert model.parameters["length"] == 2.0


def test_masks_are_whatever_has_truth_values() -> None:
    for mask in ([True, False, True], (True, False, True), np.array([True, False, True])):
        simulation = pliant.Simulation(pliant.Model.from_string(STONE))
        stone = simulation.node("stone")
        stone.hold(mask, [1, 0, 0])
        simulation.run(0.5)
        assert stone.velocities[0] == pytest.approx([1, -5, 0], abs=1e-12)
        stone.release(mask)
        simulation.run(0.1)


def test_a_scene_of_statics_is_found_and_not_stepped() -> None:
    simulation = pliant.Simulation(pliant.Model.from_file(SCENES / "snap_through.ron"))
    with pytest.raises(pliant.StepError, match="asks for equilibria"):
        simulation.step()
    with pytest.raises(pliant.StateError, match="asks for equilibria"):
        simulation.run(1.0)
    assert simulation.run() == 0
    assert simulation.summary()["statics"]["end"] == "reached"
