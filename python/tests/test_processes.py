"""Memory, threads and signals."""

import os
import resource
import signal
import threading
import time

import pytest
from conftest import SCENES, STONE
from test_checkpoints import go_on

import pliant


def resident() -> int:
    """Bytes of memory that the process has now."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize()


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="reads /proc")
def test_memory_does_not_grow_with_steps() -> None:
    simulation = pliant.Simulation(pliant.Model.from_file(SCENES / "servo_arm.ron"))
    links, elbow = simulation.node("links"), simulation.joint("elbow")

    def steps(count: int) -> None:
        for _ in range(count):
            report = simulation.step()
            _ = (links.positions, links.orientations, elbow.torque, report.ledger, simulation.contacts)
            links.set_force([0.0] * 6)

    steps(1000)
    before = resident()
    steps(10_000)
    # An array of 6 numbers kept at each step would be 1.5 MB.
    assert resident() - before < 1_000_000


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="reads /proc")
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

    rounds(100)
    before = resident()
    rounds(300)
    # A simulation that stayed would be some 100 kB.
    assert resident() - before < 5_000_000


def test_four_threads_step_four_simulations_to_the_bits_of_one() -> None:
    model = pliant.Model.from_file(SCENES / "servo_arm.ron")
    expected = go_on(pliant.Simulation(model), 200)
    found: list[list[bytes]] = []
    threads = [threading.Thread(target=lambda: found.append(go_on(pliant.Simulation(model), 200))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [expected] * 4


def test_four_threads_on_one_simulation_wait_for_each_other() -> None:
    simulation = pliant.Simulation(pliant.Model.from_string(STONE))

    def work() -> None:
        for _ in range(100):
            simulation.step(0.001)
            _ = (simulation.time, simulation.node("stone").positions, simulation.checkpoint())

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert simulation.steps == 400 and simulation.time == pytest.approx(0.4, abs=1e-12)


def test_other_threads_go_on_during_a_run() -> None:
    simulation = pliant.Simulation(pliant.Model.from_string(STONE, duration=1e4, step=1e-3))
    ended = threading.Event()
    seen: list[float] = []

    def watch() -> None:
        while not ended.is_set() and len(seen) < 5:
            seen.append(simulation.time)
            time.sleep(0.02)

    thread = threading.Thread(target=watch)
    thread.start()
    simulation.run(50.0)
    ended.set()
    thread.join()
    # The run goes on in slices, between which others have their turn.
    assert len(seen) >= 2 and seen == sorted(seen)


@pytest.mark.usefixtures("interrupts")
def test_an_interrupt_ends_a_run_after_a_step() -> None:
    simulation = pliant.Simulation(pliant.Model.from_string(STONE, duration=9e6, step=1.0))
    timer = threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        simulation.run()
    timer.join()
    steps = simulation.steps
    assert 0 < steps < 9_000_000
    simulation.step()
    assert simulation.steps == steps + 1


def test_a_signal_handler_may_look_at_the_simulation() -> None:
    simulation = pliant.Simulation(pliant.Model.from_string(STONE, duration=9e6, step=1.0))
    seen: list[float] = []

    def handler(*_: object) -> None:
        seen.append(simulation.time)
        raise InterruptedError

    before = signal.signal(signal.SIGUSR1, handler)
    try:
        timer = threading.Timer(0.2, lambda: os.kill(os.getpid(), signal.SIGUSR1))
        timer.start()
        with pytest.raises(InterruptedError):
            simulation.run()
        timer.join()
    finally:
        signal.signal(signal.SIGUSR1, before)
    assert len(seen) == 1 and seen[0] > 0
