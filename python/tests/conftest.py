"""What the tests share: the folder of the scenes, the program, small models."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

import pliant

ROOT = Path(__file__).resolve().parents[2]
SCENES = ROOT / "scenes"

STONE = """(
    gravity: (0, -10, 0),
    run: (duration: 1, step: 0.01),
    nodes: [Particles(name: "stone", positions: [(0, 0, 0)], mass: 2)],
)"""


@pytest.fixture
def stone() -> pliant.Simulation:
    """A particle in free fall."""
    return pliant.Simulation(pliant.Model.from_string(STONE))


@pytest.fixture
def interrupts() -> Iterator[None]:
    """SIGINT raises KeyboardInterrupt, also where a shell runs the tests in the background, which ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture(scope="session")
def program() -> str:
    """The program `pliant`, named by PLIANT_PROGRAM or built in release mode."""
    named = os.environ.get("PLIANT_PROGRAM")
    path = Path(named) if named else ROOT / "target" / "release" / "pliant"
    if not path.exists():
        if named:
            pytest.fail(f"PLIANT_PROGRAM names {named}, which is not there")
        pytest.skip("the program is not built: cargo build --release")
    return str(path)
