"""Pictures of simulations: the page of the player, read here as its script reads it."""

import base64
import copy
import html
import json
import pickle
import re
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import SCENES, STONE

import pliant


def data_of(page: str) -> dict[str, Any]:
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    assert found is not None
    content = json.loads(found[1])
    assert isinstance(content, dict)
    return content


def times(player: pliant.Player) -> list[float]:
    return [round(float(t), 9) for t in np.frombuffer(base64.b64decode(data_of(player.html)["times"]), "<f8")]


def places(player: pliant.Player) -> Any:
    return np.frombuffer(base64.b64decode(data_of(player.html)["frames"]), "<f4")


def recorded(step: float = 0.1) -> pliant.Simulation:
    text = STONE.replace("step: 0.01", f"step: {step}, record_every: 2")
    return pliant.Simulation(pliant.Model.from_string(text), record=True)


def test_pictures_are_those_of_the_scene_and_one_of_the_present() -> None:
    simulation = recorded()
    simulation.run(0.5)
    player = simulation.show()
    assert times(player) == [0.0, 0.2, 0.4, 0.5]
    # The fall of the default method, -5 t^2, in single precision.
    assert places(player).reshape(4, 3)[:, 1] == pytest.approx(-5 * np.array([0, 0.2, 0.4, 0.5]) ** 2, rel=1e-6)
    # Looking keeps nothing.
    simulation.run()
    assert times(simulation.show()) == [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]
    simulation.reset()
    assert times(simulation.show()) == [0.0]


def test_a_simulation_without_pictures_shows_the_present(stone: pliant.Simulation) -> None:
    stone.run(0.5)
    player = stone.show()
    assert times(player) == [0.5]
    assert places(player)[1] == pytest.approx(-1.25, rel=1e-6)


def test_pictures_of_a_course_that_was_left_are_gone() -> None:
    simulation = recorded()
    simulation.run(0.3)
    start = simulation.checkpoint()
    simulation.run(0.5)
    twin = copy.copy(simulation)
    assert times(twin.show()) == times(simulation.show()) == [0.0, 0.2, 0.4, 0.6, 0.8]
    simulation.restore(start)
    assert times(simulation.show()) == [0.0, 0.2, 0.3]
    simulation.run(0.1)
    assert times(simulation.show()) == [0.0, 0.2, 0.4]
    # A pickle has no pictures but that of the start; what is loaded of it keeps new ones.
    loaded = pickle.loads(pickle.dumps(twin))
    loaded.run()
    assert times(loaded.show()) == [0.0, 1.0]
    # Checkpoints do not tell whether pictures are kept.
    plain = pliant.Simulation(simulation.model)
    plain.restore(start)
    assert plain.time == pytest.approx(0.3)


def test_pictures_are_those_of_the_program(program: str, tmp_path: Path) -> None:
    for name in ["bow", "servo_arm"]:
        scene = SCENES / f"{name}.ron"
        out = tmp_path / name
        subprocess.run([program, "run", str(scene), "--duration", "0.05", "--out", str(out)], check=True, capture_output=True)
        model = pliant.Model.from_file(scene, duration=0.05)
        simulation = pliant.Simulation(model, record=True)
        simulation.run()
        mine, other = data_of(simulation.show().html), data_of((out / "play.html").read_text())
        assert mine == other


def test_a_page_is_saved_whole_and_shown_in_a_frame(stone: pliant.Simulation, tmp_path: Path) -> None:
    player = stone.show()
    path = player.save(tmp_path / "play.html")
    assert path.read_text(encoding="utf-8") == player.html
    assert [p.name for p in tmp_path.iterdir()] == ["play.html"]
    frame = re.search(r'srcdoc="([^"]*)"', player._repr_html_())
    assert frame is not None and html.unescape(frame[1]) == player.html
    assert "MB" in repr(player)
    with pytest.raises(FileNotFoundError):
        player.save(tmp_path / "none" / "play.html")
