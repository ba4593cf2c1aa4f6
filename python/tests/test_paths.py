"""Paths of equilibria: against von Mises' truss in closed form, and against the program."""

import json
import pickle
import subprocess
from pathlib import Path

import numpy as np
import pytest
from conftest import SCENES, STONE

import pliant

RISE, STIFFNESS = 0.2, 1000.0


def truss_load(height: np.ndarray) -> np.ndarray:
    """Load (N) under which two bars from (-1, 0) and (1, 0) hold their apex at a height, by its one equation."""
    now, rest = np.sqrt(1 + height**2), np.sqrt(1 + RISE**2)
    return np.asarray(2 * STIFFNESS * (rest - now) * height / now)


def truss() -> pliant.Simulation:
    return pliant.Simulation(pliant.Model.from_file(SCENES / "snap_through.ron"))


def test_a_path_is_that_of_the_truss_in_closed_form() -> None:
    path = truss().follow()
    assert path.end == "reached" and len(path) == len(path.load) > 20
    heights = path.positions("apex")[:, 0, 1]
    # The tolerance of a point is 1e-10 of the forces in the bars, of some tens of N.
    assert path.load == pytest.approx(truss_load(heights), abs=1e-8)
    # The load turns where dp/dy = 0: at a length of the bars of the cube root of that without force.
    limit = np.sqrt((1 + RISE**2) ** (1 / 3) - 1)
    upper, lower = path.critical
    assert upper.kind == lower.kind == "limit"
    assert upper.load == pytest.approx(truss_load(limit), rel=1e-9)
    assert lower.load == pytest.approx(truss_load(-limit), rel=1e-9)
    assert (upper.negative_modes, lower.negative_modes) == ((0, 1), (1, 0))
    # It is unstable between the limit points alone.
    assert (path.negative_modes == (np.abs(heights) < limit)).all()
    assert path.load[0] == 0.0 and path.load[-1] == 6.0
    assert path.residual.max() < 1e-10 and path.violation.max() == 0.0
    assert path.factorisations >= path.iterations.sum() > 0


def test_the_simulation_ends_at_the_last_point() -> None:
    simulation = truss()
    path = simulation.follow()
    assert (simulation.node("apex").positions == path.positions("apex")[-1]).all()
    assert simulation.time == 0.0 and not simulation.is_done
    assert not simulation.node("apex").velocities.any()


@pytest.mark.parametrize("name", ["snap_through", "cook", "hot_rail"])
def test_follow_has_the_numbers_of_a_run(name: str) -> None:
    model = pliant.Model.from_file(SCENES / f"{name}.ron")
    run = pliant.Simulation(model)
    run.run()
    found = run.summary()["statics"]
    path = pliant.Simulation(model).follow()
    assert path.end == found["end"]
    assert path.load.tolist() == found["load"] and path.residual.tolist() == found["residual"]
    assert path.negative_modes.tolist() == found["negative_modes"]
    assert path.free_modes.tolist() == found["free_modes"]
    assert path.iterations.tolist() == found["iterations"]
    assert path.factorisations == found["factorisations"]
    critical = [
        {"kind": c.kind, "load": c.load, "after": c.after, "negative_modes": list(c.negative_modes)}
        for c in path.critical
    ]
    assert critical == found["critical"]


def test_follow_has_the_numbers_of_the_program(program: str, tmp_path: Path) -> None:
    scene = SCENES / "snap_through.ron"
    subprocess.run([program, "run", str(scene), "--out", str(tmp_path), "--quiet"], check=True)
    found = json.loads((tmp_path / "result.json").read_text())
    path = truss().follow()
    assert path.load.tolist() == found["statics"]["load"]
    assert path.positions("apex")[-1].tolist() == found["state"]["apex"]["positions"]
    lines = (tmp_path / "path.csv").read_text().splitlines()[1:]
    assert [float(line.split(",")[1]) for line in lines] == path.load.tolist()


def test_a_path_of_joint_coordinates_and_reactions() -> None:
    """An arm on a hinge with a spring of 8 N m/rad, under its weight of 2 kg at 0.5 m: k q = -p m g l cos(q)."""
    simulation = pliant.Simulation(
        pliant.Model.from_string("""(
            gravity: (0, -9.81, 0),
            run: (duration: 1),
            nodes: [Bodies(name: "arm", bodies: [(position: (0.5, 0, 0), shape: Box(1, 0.1, 0.1), mass: 2)])],
            joints: [(name: "shoulder", kind: Hinge, b: Body("arm", 0))],
            force_fields: [(name: "spring", on: "shoulder.angle", law: Compliance(0.125))],
        )""")
    )
    path = simulation.follow(gravity=True, end=2.0)
    angle = path.q[:, 0]
    assert path.q.shape == (len(path), 1) and angle[0] == pytest.approx(0, abs=1e-12)
    # The tolerance is 1e-10 of the forces, of some tens of N m over 8 N m/rad.
    assert 8 * angle == pytest.approx(-path.load * 2 * 9.81 * 0.5 * np.cos(angle), abs=1e-7)
    assert path.reaction("spring") == pytest.approx(-8 * path.q, abs=1e-7)
    centre = path.positions("arm")[:, 0]
    assert centre == pytest.approx(0.5 * np.array([np.cos(angle), np.sin(angle), 0 * angle]).T, abs=1e-10)
    half = path.orientations("arm")[:, 0]
    assert half == pytest.approx(
        np.array([np.cos(angle / 2), 0 * angle, 0 * angle, np.sin(angle / 2)]).T, abs=1e-10
    )
    assert (simulation.reaction("spring") == path.reaction("spring")[-1]).all()


def test_forces_from_outside_are_loads() -> None:
    simulation = truss()
    simulation.node("apex").set_force([0, -1, 0])
    # The load of the scene stays whole: 1 N.
    path = simulation.follow(forces=True, end=1.0)
    heights = path.positions("apex")[:, 0, 1]
    assert path.load + 1 == pytest.approx(truss_load(heights), abs=1e-8)


def test_a_path_that_is_stuck_has_its_points() -> None:
    simulation = truss()
    with pytest.raises(pliant.NotConverged) as caught:
        simulation.follow(control="Load")
    path = caught.value.path
    assert path is not None and path.end == "stuck" and len(path) > 3
    # It comes to the limit load and not beyond it, but for the tolerance of a point (as above).
    limit = truss_load(np.sqrt((1 + RISE**2) ** (1 / 3) - 1))
    assert 0.99 * limit < path.load[-1] < limit + 1e-8
    assert (simulation.node("apex").positions == path.positions("apex")[-1]).all()
    # The sentence is that of a run.
    text = str(caught.value)
    with pytest.raises(pliant.NotConverged) as of_run:
        scene = (SCENES / "snap_through.ron").read_text().replace("end: 6.0,", "end: 6.0, control: Load,")
        pliant.Simulation(pliant.Model.from_string(scene)).run()
    assert str(of_run.value) == text
    again = pickle.loads(pickle.dumps(caught.value))
    assert again.path.load.tolist() == path.load.tolist()


def test_points_run_out_without_an_error() -> None:
    path = truss().follow(max_points=5)
    assert path.end == "points" and len(path) == 5
    assert len(truss().follow(max_points=1)) == 1


def test_paths_are_pickled_to_the_bit() -> None:
    path = truss().follow()
    again = pickle.loads(pickle.dumps(path))
    assert (again.load == path.load).all() and (again.positions("bars") == path.positions("bars")).all()
    assert again.critical[0].load == path.critical[0].load and repr(again) == repr(path)


def test_what_is_no_path_is_refused() -> None:
    simulation = truss()
    for wrong, sentence in [
        ({"step": 0.0}, "the step of a path"),
        ({"tolerance": 1.0}, "the tolerance of a path"),
        ({"start": 1.0, "end": 1.0}, "the last load factor"),
        ({"end": float("nan")}, "the last load factor"),
        ({"largest_step": -1.0}, "the largest step of a path"),
        ({"max_points": 0}, "points of a path: 1 or more, not 0"),
        ({"gravity": True}, "the scene has none"),
        ({"loads": []}, "nothing that it scales"),
    ]:
        with pytest.raises(pliant.StateError, match=sentence):
            simulation.follow(**wrong)  # type: ignore[arg-type]
    with pytest.raises(pliant.UnknownName, match="no component is called `lode`.*`load`"):
        simulation.follow(["lode"])
    with pytest.raises(pliant.UnknownName, match="no control is called"):
        simulation.follow(control="Arc")  # type: ignore[arg-type]
    with pytest.raises(pliant.StepError, match="a mass as a load"):
        simulation.follow(["apex.mass"])
    # Nothing has changed.
    assert simulation.follow().load.tolist() == truss().follow().load.tolist()
    stone = pliant.Simulation(pliant.Model.from_string(STONE))
    with pytest.raises(pliant.StateError, match="nothing that it scales"):
        stone.follow()
    path = truss().follow(max_points=2)
    with pytest.raises(pliant.UnknownName, match="no node is called `apexx`"):
        path.positions("apexx")
    with pytest.raises(pliant.StateError, match="has no orientations"):
        path.orientations("apex")
    with pytest.raises(pliant.UnknownName, match="no component is called"):
        path.reaction("apexx")
    assert path.reaction("load").shape == (2, 0)
