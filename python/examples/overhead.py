"""Time that Python adds to a step: steps one by one against steps of one run, of the smallest scene."""

from time import perf_counter

import pliant

STEPS = 100_000
model = pliant.Model.from_string(
    """(
    gravity: (0, -10, 0),
    run: (duration: 1000, step: 0.001, integrator: Theta),
    nodes: [Particles(name: "stone", positions: [(0, 0, 0)], mass: 2)],
)"""
)
simulation = pliant.Simulation(model)
stone = simulation.node("stone")
best = [float("inf")] * 3
for _ in range(5):
    start = perf_counter()
    simulation.run(STEPS * model.step)
    whole = perf_counter()
    for _ in range(STEPS):
        simulation.step()
    single = perf_counter()
    for _ in range(STEPS):
        stone.positions
    read = perf_counter()
    best = [min(a, b) for a, b in zip(best, [whole - start, single - whole, read - single])]
    simulation.reset()
run, step, read = (1e6 * seconds / STEPS for seconds in best)
print(f"a step of a run {run:.2f} us, a step from Python {step:.2f} us: {step - run:.2f} us more")
print(f"an array of positions {read:.2f} us")
