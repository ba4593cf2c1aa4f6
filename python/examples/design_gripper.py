"""The stiffness of two fingers, so that they hold a ball with a wanted force at a wanted place, by gradients through contact."""

import numpy as np
from numpy.typing import NDArray

import pliant

REST = 0.6  # angle to which the springs of the fingers pull (rad)
SCENE = f"""(
    parameters: {{"left": 0.4, "right": 0.4}},
    run: (duration: 1.5, step: 0.01, integrator: Nonlinear, overlap: Rows(rate: 50, speed: 1)),
    nodes: [
        Bodies(name: "fingers", bodies: [
            (position: (-0.07, 0, 0.05), shape: Capsule(radius: 0.01, length: 0.1), mass: 0.05),
            (position: (0.07, 0, 0.05), shape: Capsule(radius: 0.01, length: 0.1), mass: 0.05),
        ]),
        Bodies(name: "ball", bodies: [(position: (0, 0, 0.07), shape: Sphere(0.03), mass: 0.1)]),
        Mapped(name: "tips", parents: ["fingers"], mapping: RigidPoints(points: [(0, (0, 0, 0.05)), (1, (0, 0, 0.05))])),
    ],
    joints: [
        (name: "left finger", kind: Hinge, b: Body("fingers", 0), at: (-0.07, 0, 0), axis: (0, 1, 0),
            springs: [(compliance: "1 / $left", rest: {REST})], dampers: [(damping: 0.01)]),
        (name: "right finger", kind: Hinge, b: Body("fingers", 1), at: (0.07, 0, 0), axis: (0, -1, 0),
            springs: [(compliance: "1 / $right", rest: {REST})], dampers: [(damping: 0.01)]),
        (name: "table", kind: Slider, b: Body("ball", 0), at: (0, 0, 0.07), axis: (1, 0, 0), dampers: [(damping: 4)]),
    ],
    materials: [(name: "smooth", friction: 0)],
    colliders: [Bodies(node: "fingers", material: "smooth"), Bodies(node: "ball", material: "smooth")],
)"""
PLACE, FORCE = 0.004, 3.0  # of the ball (m), and of each finger on it (N)

rollout = pliant.Rollout(pliant.Model.from_string(SCENE), ["left", "right"], ["ball", "tips"])
X, LEFT, RIGHT = 0, slice(7, 10), slice(10, 13)


def grasp(values: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Place of the ball and force of the left finger at the end, and how they change with both stiffnesses."""
    end = rollout.run(values)[-1]
    by = np.zeros(rollout.shape)
    by[-1, X] = 1
    place_by = rollout.gradient(values, by)
    # The torque of the spring is that of the force on the ball, which is across the finger: its arm is where they touch.
    tip = end[LEFT] - [-0.07, 0, 0]
    to_ball = end[:3] - [-0.07, 0, 0]
    along = tip / np.linalg.norm(tip)
    angle, arm = np.arctan2(tip[0], tip[2]), along @ to_ball
    force = values[0] * (REST - angle) / arm
    # Of the angle by the tip, and of the arm by tip and ball.
    angle_by = np.array([tip[2], 0, -tip[0]]) / (tip @ tip)
    arm_by = (to_ball - along * arm) / np.linalg.norm(tip)
    by[:] = 0
    by[-1, LEFT] = -values[0] / arm * angle_by - force / arm * arm_by
    by[-1, :3] = -force / arm * along
    force_by = rollout.gradient(values, by) + [(REST - angle) / arm, 0]
    return np.array([end[X], force]), np.array([place_by, force_by])


values = np.array(list(rollout.parameters.values()))
for iteration in range(20):
    found, jacobian = grasp(values)
    off = found - [PLACE, FORCE]
    print(f"left {values[0]:.4f}, right {values[1]:.4f} N m/rad: ball at {1e3 * found[0]:.4f} mm, {found[1]:.4f} N")
    if np.abs(off / [PLACE, FORCE]).max() < 1e-6:
        break
    # Newton's method; no stiffness is more than halved or doubled at once.
    step = -np.linalg.solve(jacobian, off)
    values = np.clip(values + step, 0.5 * values, 2 * values)

found, _ = grasp(values)
assert np.abs(found / [PLACE, FORCE] - 1).max() < 1e-5
# At rest, which the motion has come to, the right finger pushes back as hard along the table.
end = rollout.run(values)[-1]
left, right = end[LEFT] - [-0.07, 0, 0], end[RIGHT] - [0.07, 0, 0]
angle = np.arctan2(-right[0], right[2])
force = values[1] * (REST - angle) / (right / np.linalg.norm(right) @ (end[:3] - [0.07, 0, 0]))
balance = found[1] * left[2] / np.linalg.norm(left) - force * right[2] / np.linalg.norm(right)
print(f"the right finger pushes with {force:.4f} N; {balance:.1e} N are left over")
assert abs(balance) < 1e-4 * FORCE
