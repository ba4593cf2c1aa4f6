"""Every scene of the repository has the same bits from Python and from the program."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from conftest import SCENES

import pliant

#: Steps of each scene. A last step that is shorter comes with the half.
STEPS = 19.5
#: Scenes whose steps take a second.
SLOW = {"cloth_on_ball": 2.5, "brick_wall": 2.5}


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
    duration = steps * pliant.Model.from_file(path).step
    command = [program, "run", "--quiet", str(path), "--duration", repr(duration), "--out", str(tmp_path)]
    run = subprocess.run(command, capture_output=True, text=True)
    expected = json.loads((tmp_path / "result.json").read_text())
    simulation = pliant.Simulation(pliant.Model.from_file(path, duration=duration))
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


def test_a_scene_of_statics_is_found_and_not_stepped() -> None:
    simulation = pliant.Simulation(pliant.Model.from_file(SCENES / "snap_through.ron"))
    with pytest.raises(pliant.StepError, match="asks for equilibria"):
        simulation.step()
    with pytest.raises(pliant.StateError, match="asks for equilibria"):
        simulation.run(1.0)
    assert simulation.run() == 0
    assert simulation.summary()["statics"]["end"] == "reached"
