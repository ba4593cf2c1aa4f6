"""Scenes that are built call by call are those of dictionaries and files."""

import inspect

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
    scene.particles("pebble", positions=[(0, 0, 0)], masss=2)
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
    scene.particles("x", positions=[(0, 0, 0)], mass=object())
    with pytest.raises(TypeError, match="a scene holds no object"):
        scene.build()
    with pytest.raises(pliant.SceneError, match="spin"):
        pliant.Scene({"duration": 1}, spin=3).build()
