"""Three boxes on each other: each contact carries the weight above it."""

import pliant

boxes = [
    {"position": [0, 0.5 + k, 0], "shape": {"Box": [1, 1, 1]}, "mass": 2}
    for k in range(3)
]
scene = {
    "gravity": [0, -10, 0],
    "run": {"duration": 1, "step": 0.01},
    "nodes": [{"Bodies": {"name": "boxes", "bodies": boxes}}],
    "colliders": [
        {"Fixed": {"name": "ground", "shape": {"Plane": [0, 1, 0]}}},
        {"Bodies": {"node": "boxes"}},
    ],
}
simulation = pliant.Simulation(pliant.Model.from_dict(scene))
simulation.run()
contacts = simulation.contacts
names = simulation.colliders
weights: dict[tuple[str, ...], float] = {}
for contact in contacts:
    pair = tuple(names[side] for side in contact["sides"])
    weights[pair] = weights.get(pair, 0.0) + abs(contact["force"][1])
for pair, weight in weights.items():
    print(f"{' on '.join(reversed(pair))}: {weight:.6f} N")
assert sorted(round(w, 6) for w in weights.values()) == [20, 40, 60]
