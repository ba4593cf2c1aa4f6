"""Memory, threads and signals."""

import os
import resource
import signal
import threading
from contextlib import contextmanager
from typing import Callable, Iterator

import pytest
from conftest import SCENES, STONE
from test_checkpoints import go_on

import pliant


def resident() -> int:
    """Bytes of memory that the process has now."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize()


def growth(work: Callable[[int], None], first: int, then: int) -> int:
    """Bytes that the process takes for rounds of some work, after the first ones."""
    work(first)
    before = resident()
    work(then)
    return resident() - before


def in_threads(count: int, work: Callable[[], object]) -> None:
    """The same work in several threads at a time."""
    threads = [threading.Thread(target=work) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


reads_proc = pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="reads /proc")


@reads_proc
def test_memory_does_not_grow_with_steps() -> None:
    simulation = pliant.Simulation(pliant.Model.from_file(SCENES / "servo_arm.ron"))
    links, elbow = simulation.node("links"), simulation.joint("elbow")

    def steps(count: int) -> None:
        for _ in range(count):
            report = simulation.step()
            _ = (links.positions, links.orientations, elbow.torque, report.ledger, simulation.contacts)
            links.set_force([0.0] * 6)

    # An array of 6 numbers kept at each step would be 1.5 MB.
    assert growth(steps, 1000, 10_000) < 1_000_000


@reads_proc
def test_memory_does_not_grow_with_simulations_and_errors() -> None:
    model = pliant.Model.from_file(SCENES / "servo_arm.ron")

    def rounds(count: int) -> None:
        for _ in range(count):
            simulation = pliant.Simulation(model)
            simulation.restore(simulation.checkpoint())
            with pytest.raises(pliant.Error):
                simulation.node("x")
            with pytest.raises(pliant.SceneError):
                pliant.Model.from_string("(")

    # A simulation that stayed would be some 100 kB.
    assert growth(rounds, 100, 300) < 5_000_000


#: A ball that rolls on the ground, and a pendulum of two hard rods.
ROLLING = """(
    gravity: (0, -9.81, 0),
    run: (duration: 10000, step: 0.01),
    nodes: [
        Bodies(name: "ball", bodies: [(position: (0, 0.1, 0), shape: Sphere(0.1), mass: 1, velocity: (1, 0, 0))]),
        Particles(name: "bobs", positions: [(1, 2, 0), (2, 2, 0)], mass: 1),
        Mapped(name: "rods", parents: ["bobs"], mapping: Distance(pairs: [(0, (0, 2, 0)), (0, 1)])),
    ],
    constraints: [(name: "rods are hard", on: "rods")],
    materials: [(name: "rubber", friction: 0.5)],
    colliders: [
        Fixed(name: "ground", shape: Plane(0, 1, 0), material: "rubber"),
        Bodies(node: "ball", material: "rubber"),
    ],
)"""


@reads_proc
def test_memory_does_not_grow_with_many_steps_in_contact() -> None:
    simulation = pliant.Simulation(pliant.Model.from_string(ROLLING))
    bobs = simulation.node("bobs")

    def steps(count: int) -> None:
        for _ in range(count):
            report = simulation.step()
            _ = (report.certificate, report.contacts, simulation.contacts, bobs.positions)

    # Ten bytes for each step: a report that stayed would be some hundreds.
    assert growth(steps, 20_000, 100_000) < 1_000_000


@reads_proc
def test_memory_does_not_grow_with_steps_of_a_batch() -> None:
    batch = pliant.Batch(pliant.Model.from_string(ROLLING), 4, threads=2)

    def steps(count: int) -> None:
        for _ in range(count):
            batch.step()
            _ = (batch.positions("bobs"), batch.time)

    assert growth(steps, 1000, 10_000) < 1_000_000


def test_four_threads_step_four_simulations_to_the_bits_of_one() -> None:
    model = pliant.Model.from_file(SCENES / "servo_arm.ron")
    expected = go_on(pliant.Simulation(model), 200)
    found: list[list[bytes]] = []
    in_threads(4, lambda: found.append(go_on(pliant.Simulation(model), 200)))
    assert found == [expected] * 4


def test_four_threads_on_one_simulation_wait_for_each_other() -> None:
    simulation = pliant.Simulation(pliant.Model.from_string(STONE))

    def work() -> None:
        for _ in range(100):
            simulation.step(0.001)
            _ = (simulation.time, simulation.node("stone").positions, simulation.checkpoint())

    in_threads(4, work)
    assert simulation.steps == 400 and simulation.time == pytest.approx(0.4, abs=1e-12)


def endless() -> pliant.Simulation:
    """A stone that falls for longer than a test."""
    return pliant.Simulation(pliant.Model.from_string(STONE, duration=9e6, step=1.0))


def test_a_thread_that_looks_waits_for_a_step_and_not_for_a_run() -> None:
    simulation = endless()
    seen: set[int] = set()
    ended = threading.Event()

    def look() -> None:
        while not ended.is_set():
            seen.add(simulation.steps)

    thread = threading.Thread(target=look)
    thread.start()
    simulation.run(20_000.0)
    ended.set()
    thread.join()
    # A slice of a run has thousands of steps; on a busy machine a thread is suspended for hundreds.
    assert len(seen) > 20


def test_two_runs_of_one_simulation_share_its_steps() -> None:
    simulation = pliant.Simulation(pliant.Model.from_string(STONE, duration=1e4))
    counts: list[int] = []
    in_threads(2, lambda: counts.append(simulation.run(until=100.0)))
    assert sum(counts) == simulation.steps == 10_000 and simulation.time == pytest.approx(100.0, abs=1e-9)


@contextmanager
def handled(number: signal.Signals, handler: Callable[..., object]) -> Iterator[None]:
    """Signal of the process while something runs, with its handler."""
    before = signal.signal(number, handler)
    timer = threading.Timer(0.3, lambda: os.kill(os.getpid(), number))
    timer.start()
    try:
        yield
    finally:
        timer.join()
        signal.signal(number, before)


@pytest.mark.usefixtures("interrupts")
def test_an_interrupt_ends_a_run_after_a_step() -> None:
    simulation = endless()
    # Jobs in the background of a shell begin without it.
    with pytest.raises(KeyboardInterrupt), handled(signal.SIGINT, signal.default_int_handler):
        simulation.run()
    steps = simulation.steps
    assert 0 < steps < 9_000_000
    simulation.step()
    assert simulation.steps == steps + 1


def test_a_signal_handler_may_look_at_the_simulation() -> None:
    simulation = endless()
    seen: list[float] = []

    def handler(*_: object) -> None:
        seen.append(simulation.time)
        raise InterruptedError

    with pytest.raises(InterruptedError), handled(signal.SIGUSR1, handler):
        simulation.run()
    assert len(seen) == 1 and seen[0] > 0


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_process_takes_steps_that_threads_shared() -> None:
    """A child has none of the threads of its parent, which share the cells of a cube."""
    text = """(run: (duration: 0.1, integrator: Theta, threads: 2), nodes: [Solid(name: "cube", density: 1000,
        shape: Box(size: (1, 1, 1), cells: (10, 10, 10)), material: Corotational(young: 1e6, poisson: 0.3))])"""
    simulation = pliant.Simulation(pliant.Model.from_string(text, name="cube"))
    simulation.step()
    child = os.fork()
    if child == 0:
        signal.alarm(60)
        simulation.step()
        os._exit(0 if simulation.steps == 2 else 1)
    assert os.waitpid(child, 0)[1] == 0
    simulation.step()
    assert simulation.steps == 2
