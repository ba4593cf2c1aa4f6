"""Probes as arrays, against closed forms and against the table of the program."""

import numpy as np
import pytest

import pliant

FALL = """(
    gravity: (0, -10, 0),
    run: (duration: 1, step: 0.01, probe_every: 4),
    nodes: [Particles(name: "stone", positions: [(0, 3, 0)], velocities: [(1, 2, 0)], mass: 2)],
    record: [Position("stone"), Energy(total)],
)"""

BAR = """(
    run: (duration: 1, statics: ()),
    nodes: [
        Solid(
            name: "bar", shape: Box(size: (1, 0.1, 0.1), cells: (4, 1, 1)), density: 1,
            material: Linear(young: 1e6, poisson: 0.3), symmetry: [(axis: x), (axis: y), (axis: z)],
        ),
        Mapped(name: "end", parents: ["bar"], mapping: Subset(elements: [4, 9, 14, 19])),
    ],
    force_fields: [(name: "pull", on: "end", law: Force([0.5, 0, 0]))],
    record: [Stress("bar")],
)"""


def test_probes_are_arrays_by_the_names_of_their_columns() -> None:
    simulation = pliant.Simulation(pliant.Model.from_string(FALL), record=True)
    assert simulation.probes["time_s"].tolist() == [0.0]
    simulation.run()
    probes = simulation.probes
    assert list(probes) == ["time_s", "stone.x_m", "stone.y_m", "stone.z_m", "energy.total_J"]
    time = probes["time_s"]
    assert time.dtype == np.float64 and time.shape == (26,)
    assert time == pytest.approx(0.04 * np.arange(26))
    assert probes["stone.y_m"] == pytest.approx(3 + 2 * time - 5 * time**2, abs=1e-9)
    assert probes["energy.total_J"] == pytest.approx(np.full(26, 65.0), abs=1e-9)
    # They are copies: what is written into them changes nothing.
    probes["stone.y_m"][:] = 0.0
    assert simulation.probes["stone.y_m"][0] == 3.0


def test_stress_of_a_bar_is_its_force_over_its_section() -> None:
    simulation = pliant.Simulation(pliant.Model.from_string(BAR), record=True)
    simulation.run()
    assert simulation.probes["bar.von_mises_max_Pa"][-1] == pytest.approx(200.0, rel=1e-6)


def test_without_a_recording_there_are_no_probes() -> None:
    simulation = pliant.Simulation(pliant.Model.from_string(FALL), record=False)
    with pytest.raises(pliant.StateError, match="record=True"):
        _ = simulation.probes


def test_a_scene_that_records_nothing_has_an_empty_table() -> None:
    scene = "(run: (duration: 1), nodes: [Particles(name: \"p\", positions: [(0, 0, 0)], mass: 1)])"
    assert pliant.Simulation(pliant.Model.from_string(scene), record=True).probes == {}
