"""Many instances of one MJCF model at once, here and in ``mujoco.batch``: simulated seconds of all instances per second
of the clock, beside the error that is made at that speed.

    pip install ./python mujoco
    python benches/reference/throughput.py [--instances 64] [--threads 2]

Both read the same text. The error is the largest distance (m) of a centre of mass from its place in a reference, after
half a second: MuJoCo's Runge-Kutta method of order 4 with a step of 1e-4 s. Where there are contacts no motion is the
same in both after an impact: the error is then the deepest overlap with the ground (m) over two seconds.
"""

import argparse
import time
import warnings
from pathlib import Path
from tempfile import TemporaryDirectory

import mujoco
import mujoco.batch
import numpy as np
import pliant

CART_POLE = """<mujoco model="cart_pole"><option gravity="0 0 -9.81"/>
<worldbody><body name="cart"><joint name="slide" type="slide" axis="1 0 0"/>
  <geom type="box" size=".2 .1 .05" mass="1" contype="0" conaffinity="0"/>
  <body name="pole"><joint name="swing" axis="0 1 0" ref="0"/>
    <geom type="capsule" fromto="0 0 0 .3 0 .8" size=".02" mass=".3" contype="0" conaffinity="0"/></body></body></worldbody></mujoco>"""

DOUBLE_PENDULUM = """<mujoco model="double_pendulum"><option gravity="0 0 -9.81"/>
<worldbody><body name="upper"><joint name="shoulder" axis="0 1 0"/>
  <geom type="capsule" fromto="0 0 0 .5 0 0" size=".02" mass="1" contype="0" conaffinity="0"/>
  <body name="lower" pos=".5 0 0"><joint name="elbow" axis="0 1 0"/>
    <geom type="capsule" fromto="0 0 0 .4 0 .2" size=".02" mass=".7" contype="0" conaffinity="0"/></body></body></worldbody></mujoco>"""




def ragdoll(ground: bool) -> str:
    """Twelve bodies with balls and hinges: they fall onto the ground, or swing about a pelvis that is held."""
    touch = 'contype="1" conaffinity="2"' if ground else 'contype="0" conaffinity="0"'

    def limb(name: str, at: str, to: str, size: float, mass: float, joint: str, inner: str = "") -> str:
        return (
            f'<body name="{name}" pos="{at}"><joint name="{name} joint" {joint}/><geom type="capsule" '
            f'fromto="0 0 0 {to}" size="{size}" mass="{mass}" friction=".6" {touch}/>{inner}</body>'
        )

    ball, bend, lift = 'type="ball"', 'axis="0 1 0"', 'axis="1 0 0"'
    arms = legs = ""
    for side, sign in (("left", 1), ("right", -1)):
        forearm = limb(f"{side} forearm", f"0 {0.28 * sign} 0", f".05 {0.25 * sign} 0", 0.035, 1.2, lift)
        arms += limb(f"{side} arm", f"0 {0.18 * sign} .3", f"0 {0.28 * sign} 0", 0.04, 2.0, ball, forearm)
        shin = limb(f"{side} shin", ".4 0 0", ".4 0 -.05", 0.045, 3.0, bend)
        legs += limb(f"{side} thigh", f".05 {0.1 * sign} -.05", ".4 0 0", 0.06, 7.0, ball, shin)
    head = limb("head", ".05 0 .5", "0 0 .12", 0.09, 4.0, ball)
    chest = limb("chest", "0 0 .2", ".05 0 .35", 0.11, 16.0, ball, head + arms)
    waist = limb("waist", "0 0 .08", "0 0 .12", 0.1, 8.0, bend, chest)
    floor = '<geom type="plane" size="5 5 1" contype="2" conaffinity="1" friction=".6"/>' if ground else ""
    root = '<freejoint name="root"/>' if ground else ""
    return (
        f'<mujoco model="ragdoll"><worldbody>{floor}<body name="pelvis" pos="0 0 .6">{root}<geom type="capsule" '
        f'fromto="0 -.08 0 0 .08 0" size=".09" mass="9" friction=".6" {touch}/>{waist}{legs}</body></worldbody></mujoco>'
    )


#: Name, text, whether there is a ground.
CASES = [
    ("cart and pole", CART_POLE, False),
    ("double pendulum", DOUBLE_PENDULUM, False),
    ("ragdoll of 12", ragdoll(ground=False), False),
    ("ragdoll of 12, ground", ragdoll(ground=True), True),
]
#: Integrators of MuJoCo, and steps (s) of both.
METHODS = {"Euler": mujoco.mjtIntegrator.mjINT_EULER, "RK4": mujoco.mjtIntegrator.mjINT_RK4}
STEPS = (0.01, 0.005, 0.0025)


def mujoco_model(text: str, method: str, h: float) -> mujoco.MjModel:
    model = mujoco.MjModel.from_xml_string(text)
    model.opt.timestep, model.opt.integrator = h, METHODS[method]
    return model


def reference(text: str) -> np.ndarray:
    """Centres of mass after half a second."""
    model = mujoco_model(text, "RK4", 1e-4)
    data = mujoco.MjData(model)
    for _ in range(5000):
        mujoco.mj_step(model, data)
    mujoco.mj_forward(model, data)
    return data.xipos[1:].copy()


def error_of_mujoco(text: str, method: str, h: float, ground: bool, truth: np.ndarray | None) -> float:
    model = mujoco_model(text, method, h)
    data = mujoco.MjData(model)
    if not ground:
        for _ in range(round(0.5 / h)):
            mujoco.mj_step(model, data)
        mujoco.mj_forward(model, data)
        return float(np.linalg.norm(data.xipos[1:] - truth, axis=1).max())
    deepest = 0.0
    for _ in range(round(2.0 / h)):
        mujoco.mj_step(model, data)
        deepest = max(deepest, *(-contact.dist for contact in data.contact), 0.0)
    return deepest


def error_of_pliant(model: pliant.Model, ground: bool, truth: np.ndarray | None) -> float:
    simulation = pliant.Simulation(model)
    if not ground:
        simulation.run(0.5)
        places = [simulation.body(name).position for name in model.bodies]
        # A body that is held to the world is none of the model.
        own = truth[-len(places) :] if truth is not None else None
        return float(np.linalg.norm(np.array(places) - own, axis=1).max())
    deepest = 0.0
    while simulation.time < 2.0 - 1e-9:
        deepest = max(deepest, simulation.step().contacts.overlap)
    return deepest


def rate_of_mujoco(text: str, method: str, h: float, instances: int, threads: int, seconds: float) -> float:
    batch = mujoco.batch.Batch(mujoco_model(text, method, h), nsim=instances, nthread=threads)
    steps = round(seconds / h)
    batch.step()
    start = time.perf_counter()
    for _ in range(steps):
        batch.step()
    return instances * steps * h / (time.perf_counter() - start)


def rate_of_pliant(model: pliant.Model, instances: int, threads: int, seconds: float) -> float:
    batch = pliant.Batch(model, instances, threads=threads)
    steps = round(seconds / model.step)
    batch.step()
    start = time.perf_counter()
    for _ in range(steps):
        batch.step()
    return instances * steps * model.step / (time.perf_counter() - start)


def main() -> None:
    parser = argparse.ArgumentParser(description="Simulated seconds per second, and the error at that speed.")
    parser.add_argument("--instances", type=int, default=64)
    parser.add_argument("--threads", type=int, default=2)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", pliant.RobotWarning)
    print(f"{'model':22} {'method':16} {'step (s)':>9} {'sim. s / s':>11} {'error (m)':>10}")
    with TemporaryDirectory() as folder:
        for number, (name, text, ground) in enumerate(CASES):
            path = Path(folder) / f"{number}.xml"
            path.write_text(text)
            truth = None if ground else reference(text)
            seconds = 2.0 if ground else 0.5
            for h in STEPS:
                for method in METHODS:
                    rate = rate_of_mujoco(text, method, h, arguments.instances, arguments.threads, seconds)
                    error = error_of_mujoco(text, method, h, ground, truth)
                    print(f"{name:22} {'MuJoCo ' + method:16} {h:9} {rate:11.1f} {error:10.1e}", flush=True)
                model = pliant.Model.from_robot(path, step=h, duration=10.0)
                rate = rate_of_pliant(model, arguments.instances, arguments.threads, seconds)
                error = error_of_pliant(model, ground, truth)
                print(f"{name:22} {'Pliant':16} {h:9} {rate:11.1f} {error:10.1e}", flush=True)


if __name__ == "__main__":
    main()
