"""The trotting quadruped of ``scenes/quadruped.ron`` in MuJoCo: how far it walks, and how high its trunk is.

    pip install mujoco
    python benches/reference/quadruped.py

The servos are actuators of the same stiffness, damping and largest force; ``gaits`` are the targets of the scene. What
differs are the contacts: MuJoCo's give way, and slip while they stick.
"""

import math
import time

import mujoco
import numpy as np

STRIDE, LIFT, FREQUENCY = 0.25, 0.6, 2.0
STIFFNESS, DAMPING, TORQUE = 150.0, 0.02, 40.0
LEAN = 0.6


def legs() -> tuple[str, str]:
    bodies, actuators = "", ""
    for leg in range(4):
        x, y = 0.2 * (1 - 2 * (leg // 2)), 0.13 * (1 - 2 * (leg % 2))
        dx, dz = 0.2 * math.sin(LEAN), 0.2 * math.cos(LEAN)
        thigh = f'<geom type="capsule" size=".025" fromto="0 0 0 {-dx} 0 {-dz}" mass=".8" contype="0" conaffinity="0"/>'
        shin = f'<geom type="capsule" size=".02" fromto="0 0 0 {dx} 0 {-dz}" mass=".3" friction=".8"/>'
        bodies += (
            f'<body pos="{x} {y} 0"><joint name="hip{leg}" axis="0 1 0"/>{thigh}'
            f'<body pos="{-dx} 0 {-dz}"><joint name="knee{leg}" axis="0 1 0"/>{shin}</body></body>'
        )
        for joint in ("hip", "knee"):
            actuators += (
                f'<position joint="{joint}{leg}" kp="{STIFFNESS}" kv="{STIFFNESS * DAMPING}" '
                f'forcerange="-{TORQUE} {TORQUE}"/>'
            )
    return bodies, actuators


def gaits(t: float) -> list[float]:
    targets = []
    for leg in range(4):
        angle = 2 * math.pi * FREQUENCY * t + math.pi * ((leg // 2 + leg) % 2)
        grown = min(1.0, t)
        targets += [STRIDE * grown * math.sin(angle), -LIFT * grown * max(0.0, -math.cos(angle))]
    return targets


def walk(h: float, timeconst: float) -> None:
    bodies, actuators = legs()
    trunk = '<geom type="box" size=".25 .1 .05" mass="10" friction=".8"/>'
    model = mujoco.MjModel.from_xml_string(
        f'<mujoco><option timestep="{h}" gravity="0 0 -9.81" cone="elliptic" impratio="100" integrator="implicitfast"/>'
        f'<default><geom solref="{timeconst} 1" solimp=".99 .999 .0001" condim="3"/></default><worldbody>'
        f'<geom type="plane" size="0 0 1" friction=".8"/><body pos="0 0 .35"><freejoint/>{trunk}{bodies}</body>'
        f"</worldbody><actuator>{actuators}</actuator></mujoco>"
    )
    data = mujoco.MjData(model)
    times, lowest, highest = [], math.inf, -math.inf
    for k in range(round(4 / h)):
        # Dampers of the servos act against the rate of the target.
        targets, before = (np.array(gaits((k + n) * h)) for n in (1, 0))
        data.ctrl[:] = targets + DAMPING * (targets - before) / h
        before = time.process_time()
        mujoco.mj_step(model, data)
        times.append(time.process_time() - before)
        if data.time > 1:
            lowest, highest = min(lowest, data.qpos[2]), max(highest, data.qpos[2])
    median, high, worst = np.median(times), np.quantile(times, 0.99), max(times)
    print(
        f"steps of {h} s, contacts of {timeconst} s: at {data.qpos[0]:.4f} {data.qpos[1]:.4f} m, "
        f"trunk between {lowest:.4f} and {highest:.4f} m; median {1e6 * median:.0f} us, p99 {1e6 * high:.0f}, worst {1e6 * worst:.0f}"
    )


if __name__ == "__main__":
    for h, timeconst in [(0.005, 0.02), (0.001, 0.005), (0.0002, 0.001), (0.00005, 0.00025), (0.00001, 0.00005)]:
        walk(h, timeconst)
