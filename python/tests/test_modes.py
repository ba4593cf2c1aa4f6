"""Modes of vibration and buckling loads against closed forms."""

import pickle

import numpy as np
import pytest
from conftest import SCENES

import pliant

COUNT, MASS, STIFFNESS = 8, 0.5, 2000.0

CHAIN = f"""(
    run: (duration: 1),
    nodes: [
        Particles(name: "beads", positions: [{", ".join(f"({k + 1}, 0, 0)" for k in range(COUNT))}], mass: {MASS}),
        Mapped(name: "wall", parents: ["beads"], mapping: Distance(pairs: [(0, (0, 0, 0))])),
        Mapped(name: "links", parents: ["beads"], mapping: Distance(pairs: [
            {", ".join(f"({k}, {k + 1})" for k in range(COUNT - 1))}])),
    ],
    force_fields: [
        (name: "first", on: "wall", law: Stiffness({STIFFNESS})),
        (name: "springs", on: "links", law: Stiffness({STIFFNESS})),
        (name: "load", on: "beads", law: Force([1, 0, 0])),
    ],
    fixed: [(node: "beads", axes: [y, z])],
)"""


def chain() -> pliant.Simulation:
    return pliant.Simulation(pliant.Model.from_string(CHAIN))


def test_a_chain_has_its_frequencies() -> None:
    simulation = chain()
    modes = simulation.modes(5)
    k = np.arange(1, 6)
    exact = 2 * np.sqrt(STIFFNESS / MASS) * np.sin((2 * k - 1) * np.pi / (4 * COUNT + 2)) / (2 * np.pi)
    assert modes.frequencies == pytest.approx(exact, rel=1e-11)
    assert modes.eigenvalues == pytest.approx((2 * np.pi * exact) ** 2, rel=1e-11)
    assert len(modes) == 5 and modes.all == COUNT and modes.kinds == ("vibration",) * 5
    assert modes.residuals.max() < 1e-12 and modes.errors.max() < 1e-6
    shape = modes.shape("beads")
    assert shape.shape == (5, COUNT, 3) and not shape.flags.writeable
    # Normal by the masses, and what the momentum says.
    gram = MASS * np.einsum("mek,nek->mn", shape, shape)
    assert gram == pytest.approx(np.eye(5), abs=1e-9)
    assert modes.participation == pytest.approx(MASS * shape.sum(axis=1), abs=1e-12)
    every = simulation.modes(100)
    assert every.effective_masses.sum(axis=0) == pytest.approx([COUNT * MASS, 0, 0], abs=1e-9)
    assert modes.mass == pytest.approx(COUNT * MASS)
    # The load stretches the chain; the modes are about where it then is, and it was not moved.
    start = simulation.node("beads").positions
    assert start[:, 0].tolist() == [float(k + 1) for k in range(COUNT)]
    simulation.equilibrium()
    assert modes.positions("beads") == pytest.approx(simulation.node("beads").positions, abs=1e-12)


def test_modes_go_through_a_pickle() -> None:
    modes = chain().modes(3)
    again = pickle.loads(pickle.dumps(modes))
    assert (again.shape("beads") == modes.shape("beads")).all()
    assert (again.frequencies == modes.frequencies).all() and repr(again) == repr(modes)


def test_mistakes_are_named() -> None:
    simulation = chain()
    with pytest.raises(pliant.StateError, match="modes"):
        simulation.modes(0)
    with pytest.raises(pliant.UnknownName, match="equilibrium"):
        simulation.modes(about="equilibrum")  # type: ignore[arg-type]
    with pytest.raises(pliant.UnknownName, match="beads"):
        simulation.modes(1).shape("bead")
    with pytest.raises(pliant.StateError, match="nothing that it scales"):
        simulation.buckling()
    with pytest.raises(pliant.UnknownName, match="negative"):
        simulation.buckling(["load"], sign="negativ")  # type: ignore[arg-type]


def test_a_truss_buckles_at_its_linear_load() -> None:
    # Two bars of stiffness k from (-1, 0) and (1, 0) to (0, r), which moves along y alone: k_T = 2 k s^2 with s = r/l,
    # and by bars pressed with N = p/(2 s) each, 2 N/l (1/l)^2 less. That is zero at p = 2 k r^3.
    simulation = pliant.Simulation(pliant.Model.from_file(SCENES / "snap_through.ron"))
    found = simulation.buckling(sign="both", count=3)
    # The loads are those of the scene; forces are differences over 3e-5 of the size of the truss.
    assert found.factors == pytest.approx([2 * 1000.0 * 0.2**3], rel=1e-8)
    assert found.complete and len(found) == 1
    assert found.residuals.max() < 1e-12 and found.errors.max() < 1e-6
    assert found.shape("apex").tolist() == [[[0.0, 1.0, 0.0]]]
    again = pickle.loads(pickle.dumps(found))
    assert (again.factors == found.factors).all() and (again.positions("apex") == found.positions("apex")).all()
