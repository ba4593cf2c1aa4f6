"""Numbers of MuJoCo for the deformables of the tests, as tests/it/flexes.json.

Usage: python flexes.py (needs the packages mujoco and numpy)
"""

import json
from pathlib import Path

import mujoco
import numpy as np

HERE = Path(__file__).parent
MODELS = HERE.parent / "tests" / "models"

# Displacements (m) and velocities (m/s) of the vertices, in MuJoCo's generator of one seed.
AMPLITUDES = (0.004, 0.05)
DURATION = 0.2


def name(model, flex):
    return mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_FLEX, flex)


def vertices(model, flex):
    first = model.flex_vertadr[flex]
    return slice(first, first + model.flex_vertnum[flex])


def particle_dofs(model, flex):
    """By vertex: the addresses of its three slides, none of those that ride on other bodies."""
    bodies = model.flex_vertbodyid[vertices(model, flex)]
    slides = [model.body_dofnum[b] == 3 and model.body_jntnum[b] == 3 for b in bodies]
    return [(b, model.body_dofadr[b]) if s else (b, None) for b, s in zip(bodies, slides)]


def forces(model, data):
    """Forces of springs and dampers on the slides of all bodies."""
    mujoco.mj_forward(model, data)
    return data.qfrc_passive.copy()


def displaced(path):
    """Vertices at rest, masses, and at random places and velocities the forces without gravity."""
    model = mujoco.MjModel.from_xml_path(str(path))
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    rest = data.flexvert_xpos.copy()
    random = np.random.default_rng(1)
    # Joints have one coordinate each; lines have hinges of their twist beside.
    free = model.jnt_type == int(mujoco.mjtJoint.mjJNT_SLIDE)
    data.qpos[:] = AMPLITUDES[0] * random.standard_normal(model.nq) * free
    mujoco.mj_forward(model, data)
    moved = data.flexvert_xpos.copy()
    springs = forces(model, data)
    # Terms of the square of velocities, which go with the step, are the same both ways.
    velocity = AMPLITUDES[1] * random.standard_normal(model.nv) * free
    both = []
    for sign in (1, -1):
        data.qvel[:] = sign * velocity
        both.append(forces(model, data))
    dampers = (both[0] - both[1]) / 2
    out = {}
    for flex in range(model.nflex):
        at = vertices(model, flex)
        entry = {"rest": rest[at].tolist(), "moved": moved[at].tolist()}
        rows = []
        for body, dof in particle_dofs(model, flex):
            if dof is None:
                rows.append(None)
                continue
            # Slides are along the axes of the body.
            turn = data.xmat[body].reshape(3, 3)
            vectors = [turn @ v[dof:dof + 3] for v in (velocity, springs, dampers)]
            rows.append([model.body_mass[body], *np.concatenate(vectors)])
        entry["particles"] = rows
        out[name(model, flex)] = entry
    return out


def motion(path):
    """Vertices and the angle of the arm after falling for a while from rest."""
    ends = []
    for step in (5e-5, 2.5e-5):
        model = mujoco.MjModel.from_xml_path(str(path))
        model.opt.timestep = step
        model.opt.integrator = mujoco.mjtIntegrator.mjINT_RK4
        data = mujoco.MjData(model)
        for _ in range(round(DURATION / step)):
            mujoco.mj_step(model, data)
        mujoco.mj_forward(model, data)
        ends.append((data.flexvert_xpos.copy(), data.qpos[model.joint("swing").qposadr[0]]))
    # Dampers are of first order in the step: both ends make the limit of small steps.
    (coarse, first), (fine, second) = ends
    print(path.name, "steps differ by", np.abs(coarse - fine).max(), abs(first - second))
    limit, angle = 2 * fine - coarse, 2 * second - first
    flexes = {name(model, f): limit[vertices(model, f)].tolist() for f in range(model.nflex)}
    return {"duration": DURATION, "vertices": flexes, "swing": angle}


def rest(path):
    """Vertices after four seconds, in which all have come to rest."""
    model = mujoco.MjModel.from_xml_path(str(path))
    data = mujoco.MjData(model)
    while data.time < 4:
        mujoco.mj_step(model, data)
    mujoco.mj_forward(model, data)
    print(path.name, "speed", np.abs(data.qvel).max())
    flexes = {name(model, f): data.flexvert_xpos[vertices(model, f)].tolist() for f in range(model.nflex)}
    return {"speed": np.abs(data.qvel).max(), "vertices": flexes}


def main():
    path = MODELS / "flexes.xml"
    out = {"mujoco": mujoco.__version__, "flexes": displaced(path), "end": motion(path), "rest": rest(MODELS / "soft.xml")}
    text = json.dumps(out, indent=1, default=float)
    (HERE.parent / "tests" / "it" / "flexes.json").write_text(text + "\n")


if __name__ == "__main__":
    main()
