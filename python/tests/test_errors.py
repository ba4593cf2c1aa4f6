"""Wrong input of every kind ends in an exception that says what is wrong, never in a panic."""

import math
import pickle
from pathlib import Path
from typing import Any, Callable

import numpy as np
import pytest
from conftest import SCENES, STONE

import pliant

NAN = math.nan


def test_a_scene_error_is_the_sentence_of_the_program_with_its_place() -> None:
    with pytest.raises(pliant.SceneError) as raised:
        pliant.Model.from_string(STONE.replace("mass:", "masss:"), name="stone.ron")
    error = raised.value
    assert str(error).startswith("error: unknown key `masss`")
    assert " --> stone.ron:4:" in str(error) and "^^^^^" in str(error)
    assert (error.line, error.file, error.key) == (4, "stone.ron", "masss")
    assert error.column == STONE.splitlines()[3].index("mass:") + 1
    assert error.message is not None and error.message.startswith("unknown key")
    assert error.help == "did you mean `mass`?"
    assert isinstance(error, ValueError) and isinstance(error, pliant.Error)


@pytest.mark.parametrize(
    "path, text",
    [
        ("nowhere.ron", "cannot read the scene nowhere.ron"),
        ("scene.txt", "is not a scene by its name"),
        (str(SCENES), "is not a scene by its name"),
    ],
)
def test_files_that_are_no_scenes(path: str, text: str) -> None:
    with pytest.raises(pliant.SceneError, match=text):
        pliant.Model.from_file(path)


def test_parameters_that_do_not_fit() -> None:
    path = SCENES / "pendulum.ron"
    wrong: list[tuple[dict[str, float | str], str]] = [
        ({"lenght": 1.0}, "did you mean `length`"),
        ({"length": NAN}, "must be finite"),
        ({"length": math.inf}, "must be finite"),
        ({"length": "1/0"}, "length"),
        ({"length": "$length"}, "length"),
    ]
    for parameters, text in wrong:
        with pytest.raises(pliant.SceneError, match=text):
            pliant.Model.from_file(path, parameters)
    for step, duration in [(NAN, None), (0.0, None), (-1.0, None), (None, NAN), (None, -1.0), (None, math.inf)]:
        with pytest.raises(pliant.SceneError):
            pliant.Model.from_file(path, step=step, duration=duration)
    with pytest.raises(TypeError):
        pliant.Model.from_file(path, {"length": [1]})  # type: ignore[dict-item]
    with pytest.raises(TypeError):
        pliant.Model.from_file(path, [("length", 1)])  # type: ignore[arg-type]
    assert pliant.Model.from_file(path, {"length": "sqrt(4)"}).parameters == {"length": 2.0}


def test_dictionaries_that_are_no_scenes() -> None:
    with pytest.raises(pliant.SceneError, match="missing"):
        pliant.Model.from_dict({})
    with pytest.raises(pliant.SceneError, match="unknown key `nods`"):
        pliant.Model.from_dict({"run": {"duration": 1}, "nods": []})
    with pytest.raises(TypeError):
        pliant.Model.from_dict({"run": object()})
    with pytest.raises(ValueError):
        pliant.Model.from_dict({"run": {"duration": NAN}, "nodes": []})
    loop: dict[str, Any] = {}
    loop["run"] = loop
    with pytest.raises(ValueError):
        pliant.Model.from_dict(loop)
    for value in (np.array([NAN]), np.float32(math.inf)):
        with pytest.raises(ValueError):
            pliant.Model.from_dict({"run": {"duration": value}, "nodes": []})
    for strange in (np.complex128(1j), np.array([object()]), {1, 2}, b"1"):
        with pytest.raises(TypeError):
            pliant.Model.from_dict({"run": {"duration": strange}, "nodes": []})
    deep: Any = []
    for _ in range(5000):
        deep = [deep]
    with pytest.raises((RecursionError, pliant.SceneError)):
        pliant.Model.from_dict({"run": deep})


@pytest.mark.parametrize("text", ["", "(", "\0", "()", "{}", "[[[[", "(run: (duration: 1e999), nodes: [])", "\ufeff"])
@pytest.mark.parametrize("format", ["ron", "json"])
def test_texts_that_are_no_scenes(text: str, format: Any) -> None:
    with pytest.raises(pliant.SceneError):
        pliant.Model.from_string(text, format)


def test_a_notation_that_is_none() -> None:
    with pytest.raises(pliant.UnknownName, match="`ron`, `json`"):
        pliant.Model.from_string(STONE, "yaml")  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["a/b.ron", "/b.ron", "../b.ron", "..", ".", "", "b.ron/"])
def test_names_that_are_none_of_files(name: str, tmp_path: Path) -> None:
    scene = {"run": {"duration": 1}, "nodes": []}
    for directory in (None, tmp_path):
        with pytest.raises(pliant.SceneError, match="is no name of a file"):
            pliant.Model.from_string(STONE, directory=directory, name=name)
        with pytest.raises(pliant.SceneError, match="is no name of a file"):
            pliant.Model.from_dict(scene, directory=directory, name=name)


def test_a_lone_surrogate_is_no_text() -> None:
    with pytest.raises(UnicodeEncodeError):
        pliant.Model.from_string("\ud800")


def test_names_that_nothing_has(stone: pliant.Simulation) -> None:
    for ask, text in [
        (stone.node, "no node is called `stome`; did you mean `stone`?"),
        (stone.body, "no node of bodies is called `stome`"),
        (stone.joint, "no joint is called `stome`"),
        (stone.reaction, "no component is called `stome`"),
        (stone.force, "no component is called `stome`"),
        (stone.potential, "no component is called `stome`"),
    ]:
        with pytest.raises(pliant.UnknownName) as raised:
            ask("stome")  # type: ignore[operator]
        assert str(raised.value).startswith(text)
        assert isinstance(raised.value, KeyError)
    with pytest.raises(pliant.UnknownName):
        stone.set_input("stome", 1.0)
    with pytest.raises(pliant.UnknownName):
        stone.equilibrium(method="Newtom")  # type: ignore[arg-type]


@pytest.mark.parametrize("h", [0.0, -1.0, NAN, math.inf, -math.inf])
def test_steps_of_no_length(stone: pliant.Simulation, h: float) -> None:
    with pytest.raises(pliant.StateError, match="time step"):
        stone.step(h)
    assert stone.time == 0.0
    with pytest.raises(pliant.StateError):
        stone.run(-1.0 if h == 0.0 else h)
    if not math.isfinite(h):
        with pytest.raises(pliant.StateError):
            stone.run(until=h)


def test_runs_that_are_not_one(stone: pliant.Simulation) -> None:
    with pytest.raises(pliant.StateError, match="not both"):
        stone.run(1.0, until=1.0)
    with pytest.raises(TypeError):
        stone.run("1")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "value",
    [
        [[NAN, 0, 0]],
        [[math.inf, 0, 0]],
        [[1, 2]],
        [1, 2, 3],
        [[1, 2, 3], [1, 2, 3]],
        [],
        np.zeros((1, 3, 1)),
        1.0,
    ],
)
def test_states_that_do_not_fit(stone: pliant.Simulation, value: Any) -> None:
    node = stone.node("stone")
    for name in ("positions", "velocities"):
        with pytest.raises(pliant.StateError, match="`stone`"):
            setattr(node, name, value)
    assert (node.positions == 0).all() and stone.step().residual < 1e-10


@pytest.mark.parametrize("value", ["abc", None, object(), [["a", "b", "c"]], [[1j, 0, 0]], {"x": 1}])
def test_states_that_are_no_numbers(stone: pliant.Simulation, value: Any) -> None:
    with pytest.raises((TypeError, ValueError)):
        stone.node("stone").positions = value


def test_what_a_node_does_not_have(stone: pliant.Simulation) -> None:
    node = stone.node("stone")
    with pytest.raises(pliant.StateError, match="`stone` has no orientations: it holds points of space"):
        node.orientations
    with pytest.raises(pliant.StateError, match="angular velocities"):
        node.angular_velocities = [[0, 0, 0]]
    with pytest.raises(pliant.UnknownName):
        stone.body("stone")
    arm = pliant.Simulation(pliant.Model.from_file(SCENES / "servo_arm.ron"))
    with pytest.raises(pliant.StateError, match="`shoulder.angle` is mapped"):
        arm.node("shoulder.angle").positions = [[1.0]]
    for element in (2, -1, -(2**40)):
        with pytest.raises(pliant.StateError, match=f"`links` has no element {element}: it has 2, counted from 0"):
            arm.body("links", element)
    with pytest.raises(pliant.UnknownName, match="no node of bodies is called `x`; the nodes of bodies are: `links`"):
        arm.body("x")
    with pytest.raises(pliant.StateError):
        arm.body("links").orientation = [0, 0, 0, 0]
    with pytest.raises(pliant.StateError):
        arm.node("links").hold([True] * 7)
    with pytest.raises(pliant.StateError):
        arm.node("links").hold([True] * 6, [0.0] * 5)
    for element in (5, -1):
        with pytest.raises(pliant.StateError, match=f"no element {element}"):
            arm.node("links").hold([True] * 6, element=element)
        with pytest.raises(pliant.StateError, match=f"no element {element}"):
            arm.node("links").release([True], element=element)
        with pytest.raises(pliant.StateError, match=f"no element {element}"):
            arm.node("links").set_force([0] * 6, element)
    with pytest.raises(pliant.StateError):
        arm.joint("elbow").set_force([1, 2])
    with pytest.raises(pliant.StateError):
        arm.body("links").set_force([NAN, 0, 0])
    with pytest.raises(pliant.StateError):
        arm.set_input("elbow.motor 0", 1.0)
    drives: list[tuple[Any, Any]] = [(NAN, None), (0.0, math.inf), ([0.0, 0.0], None), (None, [])]
    for position, velocity in drives:
        with pytest.raises(pliant.StateError, match="`elbow.motor 0`"):
            arm.drive("elbow.motor 0", position, velocity)
    with pytest.raises(pliant.StateError):
        arm.drive(arm.model.masses[0], 1.0)
    for within in (0.0, -1.0, NAN, math.inf):
        with pytest.raises(pliant.StateError):
            arm.drive("elbow.motor 0", 0.1, within=within)
    with pytest.raises(pliant.StateError, match="`within` a time, but there is no position"):
        arm.drive("elbow.motor 0", within=1.0)
    with pytest.raises(pliant.StateError, match="rate at which a drive goes"):
        arm.drive("elbow.motor 0", 1e308, within=1e-300)
    with pytest.raises(pliant.UnknownName, match="did you mean `elbow.motor 0`"):
        arm.drive("elbow.motr 0", 1.0)
    arm.step()


def test_arrays_cannot_be_written(stone: pliant.Simulation) -> None:
    node = stone.node("stone")
    for array in (node.positions, node.velocities, stone.velocities, stone.mass_matrix(), stone.contacts, node.jacobian()):
        assert not array.flags.writeable
    with pytest.raises(ValueError):
        node.positions[0, 0] = 1.0


def test_arrays_to_read_into(stone: pliant.Simulation) -> None:
    node = stone.node("stone")
    stone.step()
    out = np.full((1, 6), NAN)[:, ::2]  # not contiguous
    node.read_velocities(out)
    assert (out == node.velocities).all()
    frozen = np.zeros((1, 3))
    frozen.flags.writeable = False
    for wrong in (np.zeros((3,)), np.zeros((2, 3)), frozen):
        with pytest.raises(pliant.StateError, match="`out`"):
            node.read_positions(wrong)
    for other in (np.zeros((1, 3), dtype=np.float32), np.zeros((1, 3), dtype=">f8"), [[0.0] * 3]):
        with pytest.raises(TypeError):
            node.read_positions(other)  # type: ignore[arg-type]


def test_checkpoints_that_are_none(stone: pliant.Simulation) -> None:
    stone.step()
    good = stone.checkpoint()
    other = pliant.Simulation(pliant.Model.from_string(STONE.replace("mass: 2", "mass: 3"))).checkpoint()
    for bad, text in [
        (b"", "no checkpoint of a run in memory"),
        (b"pliant checkpoint 2\n", "no checkpoint of a run in memory"),
        (good[:-1], "the end is missing"),
        (good + b"x", "something follows"),
        (good[:-9] + bytes([good[-9] ^ 1]) + good[-8:], "damaged"),
        (other, "the scene file or one that it includes has changed"),
    ]:
        with pytest.raises(pliant.CheckpointError, match=text):
            stone.restore(bad)
    with pytest.raises(TypeError):
        stone.restore("text")  # type: ignore[arg-type]
    assert stone.time == 0.01


def test_a_step_that_has_no_solution_says_so_and_changes_nothing() -> None:
    text = """(
        run: (duration: 1, step: 0.1),
        nodes: [
            Particles(name: "bead", positions: [(0, 0, 0)], mass: 1),
            Mapped(name: "a", parents: ["bead"], mapping: Distance(pairs: [(0, (-1, 0, 0))], rest: 1)),
            Mapped(name: "b", parents: ["bead"], mapping: Distance(pairs: [(0, (1, 0, 0))], rest: 1.5)),
        ],
        constraints: [(name: "left rod", on: "a"), (name: "right rod", on: "b")],
    )"""
    simulation = pliant.Simulation(pliant.Model.from_string(text))
    before = simulation.node("bead").positions
    with pytest.raises(pliant.NotConverged) as raised:
        simulation.step()
    assert "rod" in str(raised.value) and raised.value.time == 0.0
    assert isinstance(raised.value, pliant.StepError)
    assert simulation.time == 0.0 and (simulation.node("bead").positions == before).all()


def test_a_report_comes_with_the_step_that_was_not_taken() -> None:
    # Steps of a second for a rod that swings some ten times a second: halves are too long as well.
    simulation = pliant.Simulation(pliant.Model.from_file(SCENES / "bow_string.ron", step=1.0, duration=6.0))
    with pytest.raises(pliant.NotConverged) as raised:
        simulation.run()
    error = raised.value
    assert error.report is not None and error.report.h > 0
    assert error.time is not None and error.report.time > error.time >= 0
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is type(error) and str(again) == str(error) and again.time == error.time
    assert again.report is not None and repr(again.report) == repr(error.report)


def test_arguments_of_other_types(stone: pliant.Simulation) -> None:
    calls: list[Callable[[], Any]] = [
        lambda: pliant.Simulation("model"),  # type: ignore[arg-type]
        lambda: pliant.Simulation(),  # type: ignore[call-arg]
        lambda: pliant.Model(),
        lambda: pliant.Node(),
        lambda: stone.step("0.1"),  # type: ignore[arg-type]
        lambda: stone.node(1),  # type: ignore[arg-type]
        lambda: pliant.Model.from_file(1),  # type: ignore[arg-type]
        lambda: pliant.Model.from_string(b"()"),  # type: ignore[arg-type]
        lambda: stone.settle(max_steps="many"),  # type: ignore[arg-type]
    ]
    for call in calls:
        with pytest.raises(TypeError):
            call()
    with pytest.raises(pliant.StateError, match="0 or more, not -1"):
        stone.settle(max_steps=-1)
    with pytest.raises(AttributeError):
        stone.time = 1.0  # type: ignore[misc]


def test_options_of_rest_that_are_none(stone: pliant.Simulation) -> None:
    with pytest.raises(pliant.StateError):
        stone.settle(NAN)
    with pytest.raises(pliant.StateError):
        stone.settle(kept_velocity=2.0)
    for steps in (0, 2):
        with pytest.raises(pliant.NotConverged, match=f"not at rest after {steps} steps"):
            stone.settle(max_steps=steps)
        assert (stone.node("stone").positions == 0).all() and stone.time == 0
    with pytest.raises(pliant.StateError):
        stone.equilibrium(tolerance=NAN)
    with pytest.raises(pliant.NotConverged, match="no equilibrium after"):
        stone.equilibrium()


def test_a_mesh_that_is_missing(tmp_path: Path) -> None:
    text = (SCENES / "net.ron").read_text()
    with pytest.raises(pliant.SceneError) as raised:
        pliant.Model.from_string(text, directory=tmp_path)
    assert "net.obj" in str(raised.value) and raised.value.line is not None
    assert pliant.Model.from_string(text, directory=SCENES).dofs > 0
