"""Stresses and strains as arrays: against a bar in closed form, and against the files for ParaView."""

import base64
import pathlib
import re
import subprocess
from typing import Literal

import numpy as np
import pytest

import pliant

FORCE, SIDE, YOUNG, POISSON = 2.0, 0.1, 1e6, 0.3

BAR = """(
    run: (duration: 1, statics: ()),
    nodes: [
        Solid(
            name: "bar", shape: Box(size: (1, 0.1, 0.1), cells: (4, 1, 1)), density: 1000,
            material: Linear(young: 1e6, poisson: 0.3), symmetry: [(axis: x), (axis: y), (axis: z)],
        ),
        Mapped(name: "end", parents: ["bar"], mapping: Subset(elements: [4, 9, 14, 19])),
    ],
    force_fields: [(name: "pull", on: "end", law: Force([0.5, 0, 0]))],
)"""


def pulled() -> pliant.Simulation:
    simulation = pliant.Simulation(pliant.Model.from_string(BAR))
    simulation.run()
    return simulation


@pytest.mark.parametrize("at", [None, "points", "elements"])
def test_a_pulled_bar_has_its_force_over_its_section(at: Literal["points", "elements"] | None) -> None:
    bar = pulled()
    stress, strain = bar.stress("bar", at), bar.strain("bar", at)
    count = 4 if at == "elements" else len(bar.node("bar").positions)
    assert stress.shape == strain.shape == (count, 6)
    sigma = FORCE / SIDE**2
    assert stress == pytest.approx(np.tile([sigma, 0, 0, 0, 0, 0], (len(stress), 1)), abs=1e-6 * sigma)
    along = sigma / YOUNG
    expected = [along, -POISSON * along, -POISSON * along, 0, 0, 0]
    assert strain == pytest.approx(np.tile(expected, (len(strain), 1)), abs=1e-6 * along)
    with pytest.raises(ValueError, match="read-only"):
        stress[0, 0] = 1.0


def test_names_and_places_that_there_are_not() -> None:
    bar = pulled()
    with pytest.raises(pliant.UnknownName, match="did you mean `bar`"):
        bar.stress("baar")
    with pytest.raises(pliant.StateError, match="\"points\" or \"elements\""):
        bar.strain("bar", "corners")  # type: ignore[arg-type]


def test_a_sheet_has_tensors_of_its_elements_alone() -> None:
    scene = """(run: (duration: 0.1, step: 0.01), gravity: (0, 0, -9.81), nodes: [
        ElasticSheet(name: "cloth", shape: Rectangle(size: (1, 1), cells: (2, 2)), thickness: 0.001, density: 500,
            material: Isotropic(young: 1e5, poisson: 0.3)),
    ])"""
    sheet = pliant.Simulation(pliant.Model.from_string(scene))
    assert sheet.stress("cloth").shape == sheet.strain("cloth", "elements").shape
    assert sheet.stress("cloth").shape[1] == 3
    with pytest.raises(pliant.StateError, match="is a sheet"):
        sheet.stress("cloth", "points")


BENT = """(
    gravity: (0, 0, -9.81),
    run: (duration: 0.05, step: 0.01, record_every: 1),
    nodes: [Solid(
        name: "beam", shape: Box(size: (0.4, 0.1, 0.1), cells: (4, 2, 2)), density: 1000,
        material: Corotational(young: 1e5, poisson: 0.3), fix_boxes: [((-1, -1, -1), (0.001, 1, 1))],
    )],
)"""


def numbers(text: str, part: str, name: str) -> np.ndarray:
    """The numbers of an array of a VTU file, in single precision."""
    section = text[text.index(f"<{part}") : text.index(f"</{part}>")]
    found = re.search(f'Name="{name}" NumberOfComponents="6" format="binary">([^<]*)<', section)
    assert found is not None
    return np.frombuffer(base64.b64decode(found[1])[8:], dtype="<f4").reshape(-1, 6)


def test_the_files_for_paraview_have_the_same_numbers(program: str, tmp_path: pathlib.Path) -> None:
    (tmp_path / "bent.ron").write_text(BENT)
    subprocess.run([program, "run", "bent.ron", "--out", "out", "--quiet"], cwd=tmp_path, check=True)
    last = sorted((tmp_path / "out" / "frames").glob("solids_*.vtu"))[-1].read_text()
    bent = pliant.Simulation(pliant.Model.from_string(BENT))
    bent.run()
    for part, at in [("PointData", "points"), ("CellData", "elements")]:
        for name, read in [("stress", bent.stress), ("strain", bent.strain)]:
            found = read("beam", at)  # type: ignore[arg-type]
            assert np.abs(found).max() > 0
            assert (found.astype(np.float32) == numbers(last, part, name)).all()
