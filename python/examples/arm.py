"""A driven joint: a controller in Python holds an arm level against its weight."""

import pliant

arm = {"position": [0.5, 0, 0], "shape": {"Box": [1, 0.1, 0.1]}, "mass": 2}
scene = {
    "gravity": [0, -10, 0],
    "run": {"duration": 5, "step": 0.005},
    "nodes": [{"Bodies": {"name": "arm", "bodies": [arm]}}],
    "joints": [{"name": "shoulder", "kind": "Hinge", "b": {"Body": ["arm", 0]}}],
}
simulation = pliant.Simulation(pliant.Model.from_dict(scene))
shoulder = simulation.joint("shoulder")
error_sum = 0.0
while not simulation.is_done:
    error = 0.3 - shoulder.position
    error_sum += error * simulation.model.step
    shoulder.set_force([60 * error - 15 * shoulder.velocity + 60 * error_sum])
    simulation.step()
print(f"angle {shoulder.position:.6f} rad, carried {shoulder.force[1]:.6f} N")
assert abs(shoulder.position - 0.3) < 1e-3 and abs(shoulder.force[1] - 20) < 1e-2
