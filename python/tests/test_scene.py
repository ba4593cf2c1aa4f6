"""Scenes that are built call by call are those of dictionaries and files."""

import inspect
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import pliant


def swing() -> pliant.Scene:
    """Arm on a hinge with a motor, and a stone on a spring over the ground."""
    scene = pliant.Scene(
        {"duration": 1, "step": 0.005}, gravity=(0, "-$g", 0), parameters={"g": 9.81, "torque": 40}, title="swing"
    )
    arm = scene.body("arm", position=np.array([0.5, 0, 0]), shape={"Box": [1, 0.1, 0.1]}, mass=2)
    motor = {"Position": {"target": 0, "compliance": 0.001, "relaxation_time": 0.05, "force": "$torque"}}
    scene.joint("shoulder", "Hinge", b={"Body": [arm, 0]}, motors=[motor])
    stone = scene.particles("stone", positions=[(0, 1, 0)], mass=1)
    spring = scene.mapped("spring", parents=[stone], mapping={"Distance": {"pairs": [(0, (0, 2, 0))]}})
    scene.force_field("elastic", on=spring, law={"Stiffness": 100})
    scene.collider("Fixed", name="ground", shape={"Plane": [0, 1, 0]})
    scene.collider("Bodies", node=arm)
    return scene


def test_it_is_the_model_of_its_dictionary_and_of_its_text() -> None:
    scene = swing()
    built, read = scene.build({"g": 5}), pliant.Model.from_dict(scene.as_dict(), {"g": 5}, name="<scene>")
    assert built.text == read.text and built.parameters == {"g": 5.0, "torque": 40.0}
    again = pliant.Model.from_string(built.text, "json", {"g": 5})
    simulations = [pliant.Simulation(model) for model in (built, read, again)]
    for simulation in simulations:
        simulation.run(0.1)
    assert len({s.node("arm").positions.tobytes() + s.node("stone").positions.tobytes() for s in simulations}) == 1
    assert built.title == "swing" and built.joints == ("shoulder",) and built.colliders == ("ground", "arm")


def test_it_is_the_motion_of_the_scene_file() -> None:
    scene = pliant.Scene({"duration": 1, "step": 0.01}, gravity=[0, -10, 0])
    scene.particles("stone", positions=[(0, 0, 0)], mass=2)
    simulation = pliant.Simulation(scene.build(duration=0.5))
    simulation.run()
    # g t^2/2, exact for the method.
    assert simulation.node("stone").positions[0, 1] == pytest.approx(-1.25, rel=1e-12)


def test_an_error_names_the_call() -> None:
    scene = swing()
    line = inspect.getlineno(inspect.currentframe()) + 1  # type: ignore[arg-type]
    scene.particles("pebble", positions=[(0, 0, 0)], masss=2)  # type: ignore[call-arg]
    scene.particles("sand", positions=[(0, 0, 0)], mass=2)
    with pytest.raises(pliant.SceneError, match="unknown key `masss`.*\n.*\n.*\n.*\n.*\n.*did you mean `mass`") as caught:
        scene.build()
    assert caught.value.call == f"{__file__}:{line}" and caught.value.call in str(caught.value)

    scene = swing()
    line = inspect.getlineno(inspect.currentframe()) + 1  # type: ignore[arg-type]
    scene.constraint("held", on="spring", level="Positon")
    with pytest.raises(pliant.SceneError) as caught:
        scene.build()
    assert caught.value.call == f"{__file__}:{line}"

    scene = pliant.Scene({"duration": 1, "stepp": 0.01})
    with pytest.raises(pliant.SceneError, match="stepp") as caught:
        scene.build()
    assert caught.value.call is None


def test_garbage_is_refused_and_changes_nothing() -> None:
    scene = swing()
    before = scene.as_dict()
    scene.as_dict()["nodes"].clear()
    assert scene.as_dict().keys() == before.keys() and len(scene.as_dict()["nodes"]) == 3
    scene.particles("x", positions=[(0, 0, 0)], mass=object())  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="a scene holds no object"):
        scene.build()
    with pytest.raises(pliant.SceneError, match="spin"):
        pliant.Scene({"duration": 1}, spin=3).build()  # type: ignore[call-arg]


def test_keys_that_are_words_of_python_have_an_underscore() -> None:
    scene = pliant.Scene({"duration": 1})
    scene.cable("rope", from_=(0, 0, 0), to=(1, 0, 0), links=4, link_mass=1)
    keys = {"name": "rope", "from": (0, 0, 0), "to": (1, 0, 0), "links": 4, "link_mass": 1}
    assert scene.as_dict()["nodes"] == [{"Cable": keys}]
    assert "rope" in scene.build().nodes


SNIPPET = """
import numpy as np
import pliant

scene = pliant.Scene({"duration": 1}, gravity=(0, -9.81, 0), parameters={"m": 2})
bob = scene.particles("bob", positions=np.zeros((1, 3)), mass="$m")
scene.body("arm", position=(0, 0, 0), mass=np.float32(2), shape={"Box": [1, 1, 1]})
scene.cable("rope", from_=(0, 0, 0), to=(1, 0, 0), links=4, link_mass=1)
scene.collider("Points", node=bob, radius=0.1)
"""
WRONG = {
    'scene.particles("a", positions=[(0, 0, 0)], masss=1)': 'Unexpected keyword argument "masss"',
    'scene.particles("a", positions=[(0, 0, 0)])': 'Missing named argument "mass"',
    'scene.body("a", mass=[1, 2])': 'Argument "mass" to "body"',
    'scene.joint("a", "Hinge", motor=[])': 'Unexpected keyword argument "motor"',
    'scene.collider("Points", node=bob, shape={"Plane": [0, 1, 0]})': "No overload variant",
    'scene.collider("Pointz", node=bob)': "No overload variant",
    "pliant.Scene({}, gravty=(0, 0, 0))": 'Unexpected keyword argument "gravty"',
    'scene.material(1, friction="$mu")': 'Argument 1 to "material"',
}


def test_checkers_of_types_know_the_keys_of_calls(tmp_path: Path) -> None:
    pytest.importorskip("mypy")
    file = tmp_path / "snippet.py"
    file.write_text(SNIPPET + "\n".join(WRONG) + "\n")
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(tmp_path / "cache"), str(file)]
    found = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=False).stdout
    first = SNIPPET.count("\n") + 1
    for line, complaint in enumerate(WRONG.values(), first):
        assert any(own.startswith(f"snippet.py:{line}: error") and complaint in own for own in found.splitlines()), found
    # What is right has no complaint.
    lines = {int(own.split(":")[1]) for own in found.splitlines() if ": error" in own}
    assert lines == set(range(first, first + len(WRONG)))
