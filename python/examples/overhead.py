"""Time that Python adds to a step, of the smallest scene: steps one by one against those of one run, arrays, live arrays, batches."""

from time import perf_counter

import pliant

STEPS = 20_000
model = pliant.Model.from_string(
    """(
    gravity: (0, -10, 0),
    run: (duration: 1000, step: 0.001, integrator: Theta),
    nodes: [Particles(name: "stone", positions: [(0, 0, 0)], mass: 2)],
)"""
)
simulation = pliant.Simulation(model)
stone = simulation.node("stone")
best = [float("inf")] * 5
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
    # Another simulation: this one goes on without live arrays.
    follower = pliant.Simulation(model)
    live = follower.live
    live.positions("stone"), live.velocities("stone")
    begin = perf_counter()
    for _ in range(STEPS):
        follower.step()
    followed = perf_counter()
    for _ in range(STEPS):
        live.positions("stone")
    asked = perf_counter()
    times = [whole - start, single - whole, read - single, followed - begin, asked - followed]
    best = [min(a, b) for a, b in zip(best, times)]
    simulation.reset()
run, step, read, followed, asked = (1e6 * seconds / STEPS for seconds in best)
print(f"a step of a run {run:.2f} us, a step from Python {step:.2f} us: {step - run:.2f} us more")
print(f"an array of positions {read:.2f} us")
print(f"a step with two live arrays {followed:.2f} us: {followed - step:.2f} us more; to ask for one {asked:.2f} us, to keep it nothing")

# Instances side by side, with and without live arrays, in turns.
INSTANCES, TURNS = 256, 60
batches = [pliant.Batch(model, INSTANCES, threads=2) for _ in range(2)]
live_batch = batches[1].live
live_batch.positions("stone"), live_batch.velocities("stone")
best = [float("inf")] * 5
for _ in range(TURNS):
    for k, batch in enumerate(batches):
        start = perf_counter()
        batch.step()
        whole = perf_counter()
        # One instance steps: what is left is what all instances cost.
        batch.step(which=[0])
        rest = perf_counter()
        best[k], best[k + 2] = min(best[k], whole - start), min(best[k + 2], rest - whole)
    start = perf_counter()
    batches[0].positions("stone"), batches[0].velocities("stone")
    best[4] = min(best[4], perf_counter() - start)
plain, followed, idle, shown, copied = (1e6 * seconds / INSTANCES for seconds in best)
print(f"a step of a batch of {INSTANCES}, for each instance: {plain:.2f} us, with two live arrays {followed:.2f} us")
print(f"two live arrays alone {shown - idle:.3f} us for each instance; two copies {copied:.3f} us")
