"""A heap of boxes and balls in MuJoCo: reads it as JSON, writes the state after every 1/60 s.

Started by ``cargo xtask bench contact-scenes --mujoco=PYTHON`` with a Python that has the package ``mujoco``. A line has the
seconds on the processor that the 1/60 s took, then of each body its place (m), quaternion, velocity (m/s) and angular
velocity in body axes (rad/s).
"""

import json
import sys
import time

import mujoco
import numpy as np


def geom(piece: dict, friction: float) -> str:
    size = " ".join(map(str, piece["half"])) if "half" in piece else str(piece["radius"])
    kind = "box" if "half" in piece else "sphere"
    return f'<geom type="{kind}" size="{size}" mass="{piece["mass"]}" friction="{friction} 0 0"/>'


def place(piece: dict) -> str:
    at = " ".join(map(str, piece["at"]))
    half = 0.5 * piece["turn"]
    return f'pos="{at}" quat="{np.cos(half)} 0 {np.sin(half)} 0"'


def model(heap: dict) -> mujoco.MjModel:
    mu, h = heap["friction"], 1 / (60 * heap["steps"])
    bodies = "".join(f"<body {place(p)}><freejoint/>{geom(p, mu)}</body>" for p in heap["bodies"])
    fixed = "".join(f"<body {place(p)}>{geom(p, mu)}</body>" for p in heap["fixed"])
    # The time constant of contacts by default is .02 s; the shortest that MuJoCo takes is two steps.
    stiff = f'<default><geom solref="{2 * h} 1"/></default>' if heap["stiff"] else ""
    cone = "elliptic" if heap["stiff"] else "pyramidal"
    return mujoco.MjModel.from_xml_string(
        f'<mujoco><option timestep="{h}" gravity="0 0 -{heap["gravity"]}" cone="{cone}"/><size memory="2G"/>{stiff}'
        f'<worldbody><geom type="plane" size="50 50 1" friction="{mu} 0 0"/>{fixed}{bodies}</worldbody></mujoco>'
    )


def main() -> None:
    heap = json.load(sys.stdin)
    m = model(heap)
    d = mujoco.MjData(m)
    count = len(heap["bodies"])
    for _ in range(heap["count"]):
        before = time.process_time()
        for _ in range(heap["steps"]):
            mujoco.mj_step(m, d)
        taken = time.process_time() - before
        state = np.hstack([d.qpos.reshape(count, 7), d.qvel.reshape(count, 6)])
        print(taken, *state.ravel().tolist())


if __name__ == "__main__":
    main()
