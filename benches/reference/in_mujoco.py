"""Scenes in MuJoCo, stepped on request: how ``cargo xtask bench`` runs them beside Pliant.

The first line of the input is a scene as JSON. Every further line asks for a number of steps and has a budget in seconds; it
is answered, in doubles of this machine's byte order, by the steps that were taken, the seconds of this thread on the
processor that they took, and the state. Steps end early where the budget is spent. A state has, of each body, its place (m),
quaternion, velocity (m/s) and angular velocity in body axes (rad/s); or, of each point, its place and velocity.
"""

import json
import math
import sys
import time

import mujoco
import numpy as np

# The stiffest constraints that MuJoCo takes: a time constant of 0.1 ms, an impedance of 0.9999.
HARD = 'solref="0.0001 1" solimp="0.9999 0.9999 0.001 0.5 2"'
LENGTH, WIDTH = 0.1, 0.02
PITCH, KNOT, STIFFNESS = 0.05, 0.001, 1e4


def numbers(values: list) -> str:
    return " ".join(map(repr, values))


def text(scene: dict, body: str, hard: str = "") -> str:
    """The whole model: options of the scene, then what the world has."""
    option = "".join(f' {key}="{value}"' for key, value in scene["option"].items())
    off = ' refsafe="disable"' if scene["hard"] else ""
    return (
        f'<mujoco><compiler autolimits="true"/><option timestep="{scene["step"]!r}" gravity="0 0 -{scene["gravity"]!r}"{option}>'
        f'<flag autoreset="disable"{off}/></option><size memory="2G"/>{hard}{body}</mujoco>'
    )


# Rigid bodies


def geom(piece: dict, friction: float) -> str:
    size = numbers(piece["half"]) if "half" in piece else repr(piece["radius"])
    kind = "box" if "half" in piece else "sphere"
    return f'<geom type="{kind}" size="{size}" mass="{piece["mass"]!r}" friction="{friction} 0 0"/>'


def place(piece: dict) -> str:
    half = 0.5 * piece["turn"]
    return f'pos="{numbers(piece["at"])}" quat="{math.cos(half)} 0 {math.sin(half)} 0"'


def heap(scene: dict) -> str:
    mu, h = scene["friction"], scene["step"]
    bodies = "".join(f"<body {place(p)}><freejoint/>{geom(p, mu)}</body>" for p in scene["bodies"])
    fixed = "".join(f"<body {place(p)}>{geom(p, mu)}</body>" for p in scene["fixed"])
    if scene["hard"]:
        stiff = f"<default><geom {HARD}/></default>"
    elif scene["stiff"]:
        # The time constant of contacts by default is .02 s; the shortest without `refsafe` off is two steps.
        stiff = f'<default><geom solref="{2 * h} 1"/></default>'
    else:
        stiff = ""
    ground = f'<geom type="plane" size="50 50 1" friction="{mu} 0 0"/>'
    return text(scene, f"<worldbody>{ground}{fixed}{bodies}</worldbody>", stiff)


def chain(scene: dict) -> str:
    n = scene["links"]
    turn = 0.5 * scene["turn"]
    quat = f'quat="{math.cos(turn)!r} 0 {math.sin(turn)!r} 0"'
    along = [math.cos(scene["turn"]), 0.0, -math.sin(scene["turn"])]

    def inertial(i: int, at: float) -> str:
        mass = scene["last_mass"] if i + 1 == n else 1.0
        thin, long = mass / 12 * 2 * WIDTH**2, mass / 12 * (LENGTH**2 + WIDTH**2)
        return f'<inertial pos="{at} 0 0" mass="{mass!r}" diaginertia="{thin!r} {long!r} {long!r}"/>'

    if scene["tree"]:
        body = ""
        for i in reversed(range(n)):
            where = quat if i == 0 else f'pos="{LENGTH} 0 0"'
            body = f'<body {where}><joint type="ball"/>{inertial(i, LENGTH / 2)}{body}</body>'
        return text(scene, f"<worldbody>{body}</worldbody>")
    bodies = ""
    for i in range(n):
        at = [float((i + 0.5) * LENGTH * x) for x in along]
        bodies += f'<body name="b{i}" pos="{numbers(at)}" {quat}><freejoint/>{inertial(i, 0)}</body>'
    joints = "".join(
        f'<connect body1="b{i}" {f"body2=" + chr(34) + f"b{i - 1}" + chr(34) if i else ""} anchor="{-LENGTH / 2} 0 0"/>'
        for i in range(n)
    )
    stiff = f"<default><equality {HARD}/></default>" if scene["hard"] else ""
    return text(scene, f"<worldbody>{bodies}</worldbody><equality>{joints}</equality>", stiff)


class Bodies:
    """Motions of bodies, of a copy of the state: what a step leaves of places and velocities is of its start."""

    def __init__(self, m: mujoco.MjModel) -> None:
        self.m, self.copy = m, mujoco.MjData(m)
        self.ids = [b for b in range(1, m.nbody) if m.body_dofnum[b] > 0]

    def __call__(self, d: mujoco.MjData) -> np.ndarray:
        m, c = self.m, self.copy
        c.qpos[:], c.qvel[:] = d.qpos, d.qvel
        mujoco.mj_kinematics(m, c)
        mujoco.mj_comPos(m, c)
        mujoco.mj_comVel(m, c)
        out, world, local = np.zeros((len(self.ids), 13)), np.zeros(6), np.zeros(6)
        for row, b in zip(out, self.ids, strict=True):
            mujoco.mj_objectVelocity(m, c, mujoco.mjtObj.mjOBJ_BODY, b, world, 0)
            mujoco.mj_objectVelocity(m, c, mujoco.mjtObj.mjOBJ_BODY, b, local, 1)
            row[:3] = c.xipos[b]
            mujoco.mju_mat2Quat(row[3:7], c.ximat[b])
            row[7:10], row[10:] = world[3:], local[:3]
        return out


# Points


def net(scene: dict) -> str:
    n = scene["side"]
    if scene["membrane"]:
        at = 0.5 * PITCH * (n - 1)
        return text(
            scene,
            f'<worldbody><flexcomp name="f" type="grid" count="{n} {n} 1" spacing="{PITCH} {PITCH} {PITCH}" pos="{at} {at} 0"'
            f' dim="2" mass="{KNOT * n * n!r}" radius="0.001"><edge equality="false"/>'
            f'<elasticity young="1e7" poisson="0.25" thickness="1e-3" elastic2d="stretch"/>'
            f'<contact contype="0" conaffinity="0" selfcollide="none"/><pin id="0 {n - 1}"/></flexcomp></worldbody>',
        )
    bodies, held = "", (0, (n - 1) * n)
    for k in range(n * n):
        slides = "".join(f'<joint type="slide" axis="{a}"/>' for a in ("1 0 0", "0 1 0", "0 0 1"))
        mass = f'<inertial pos="0 0 0" mass="{KNOT}" diaginertia="1e-9 1e-9 1e-9"/>'
        where = f'pos="{PITCH * (k % n)!r} {PITCH * (k // n)!r} 0"'
        free = "" if k in held else slides + mass
        bodies += f'<body {where}>{free}<site name="s{k}"/></body>'
    tendons = "".join(
        f'<spatial stiffness="{STIFFNESS!r}"><site site="s{a}"/><site site="s{b}"/></spatial>' for a, b in scene["springs"]
    )
    return text(scene, f"<worldbody>{bodies}</worldbody><tendon>{tendons}</tendon>")


def beam(scene: dict) -> str:
    points = numbers([x for node in scene["nodes"] for x in node])
    elements = " ".join(str(k) for corners in scene["tetrahedra"] for k in corners)
    held = " ".join(str(k) for k, node in enumerate(scene["nodes"]) if node[0] == 0)
    return text(
        scene,
        f'<worldbody><flexcomp name="f" type="direct" dim="3" point="{points}" element="{elements}" mass="10" radius="0.001">'
        f'<edge equality="false"/><elasticity young="{scene["young"]!r}" poisson="{scene["poisson"]!r}"'
        f' damping="{scene["damping"]!r}"/><contact contype="0" conaffinity="0" selfcollide="none"/>'
        f'<pin id="{held}"/></flexcomp></worldbody>',
    )


class Points:
    """Places and velocities of the knots of a net or the nodes of a solid."""

    def __init__(self, m: mujoco.MjModel) -> None:
        self.m, self.copy, self.flex = m, mujoco.MjData(m), m.nflex > 0
        self.bodies = m.flex_vertbodyid if self.flex else np.arange(1, m.nbody)
        self.free = m.body_dofnum[self.bodies] == 3
        self.dofs = m.body_dofadr[self.bodies][self.free][:, None] + np.arange(3)

    def __call__(self, d: mujoco.MjData) -> np.ndarray:
        m, c = self.m, self.copy
        c.qpos[:] = d.qpos
        mujoco.mj_kinematics(m, c)
        mujoco.mj_comPos(m, c)
        if self.flex:
            mujoco.mj_flex(m, c)
        out = np.zeros((len(self.bodies), 6))
        out[:, :3] = c.flexvert_xpos if self.flex else c.xpos[self.bodies]
        out[self.free, 3:] = d.qvel[self.dofs]
        return out


def set_masses(m: mujoco.MjModel, masses: list) -> None:
    """Gives the nodes of a flex their masses, which MuJoCo makes all alike."""
    for body, mass in zip(m.flex_vertbodyid, masses, strict=True):
        if m.body_dofnum[body] > 0:
            m.body_inertia[body] *= mass / m.body_mass[body]
            m.body_mass[body] = mass
    mujoco.mj_setConst(m, mujoco.MjData(m))


MAKERS = {"heap": (heap, Bodies), "chain": (chain, Bodies), "net": (net, Points), "beam": (beam, Points)}


def main() -> None:
    scene = json.loads(sys.stdin.readline())
    make, view = MAKERS[scene["kind"]]
    m = mujoco.MjModel.from_xml_string(make(scene))
    if "masses" in scene:
        set_masses(m, scene["masses"])
    d, out = mujoco.MjData(m), sys.stdout.buffer
    state = view(m)
    for line in sys.stdin:
        wanted, budget = int(line.split()[0]), float(line.split()[1])
        done, taken, part = 0, 0.0, 1
        while done < wanted and taken < budget:
            part = min(part, wanted - done)
            before = time.thread_time()
            mujoco.mj_step(m, d, part)
            seconds = time.thread_time() - before
            taken, done = taken + seconds, done + part
            # Parts grow while they are a small share of the budget: one call is many steps.
            part = 2 * part if seconds < 0.05 * budget else 1
        out.write(np.hstack([done, taken, state(d).ravel()]).tobytes())
        out.flush()


if __name__ == "__main__":
    main()
