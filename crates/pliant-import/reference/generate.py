"""Numbers of MuJoCo for the models of the tests, as tests/it/reference.json.

Usage: python generate.py (needs the packages mujoco and numpy)
"""

import json
import tempfile
import xml.etree.ElementTree as ET
from pathlib import Path

import mujoco
import numpy as np

import compare

HERE = Path(__file__).parent
MODELS = HERE.parent / "tests" / "models"

# File, coordinates at the start by joint, whether a URDF base floats.
CASES = [
    ("arm.urdf", {"shoulder": 0.0, "elbow": 0.0, "drawer": 0.0}, False),
    ("arm.urdf", {"shoulder": 0.7, "elbow": -1.3, "drawer": 0.04}, False),
    ("drone.urdf", {"swing left": 0.9, "swing right": -0.4}, True),
    ("hopper.xml", {"forth": 0.0, "up": 1.0, "pitch": 0.0, "hip": 0.0, "knee": 0.17453292519943295}, False),
    ("hopper.xml", {"forth": 0.3, "up": 1.2, "pitch": -0.4, "hip": 0.6, "knee": -0.9}, False),
    ("drives.xml", {}, False),
    ("frames.xml", {}, False),
    ("legs.xml", {"right_x": -0.2, "right_z": 0.3, "right_y": -0.5, "right_knee": -0.1, "left_knee": -0.7}, False),
    ("tendons.xml", {"shoulder": 0.0, "elbow": 0.2}, False),
    ("tendons.xml", {"shoulder": 0.4, "elbow": -0.7}, False),
    ("winch.xml", {}, False),
    ("spokes.xml", {"hub+0-0": 0.2, "tip+1-0": -0.3, "tip+2-1": 0.5, "last": 0.1}, False),
    ("floats.xml", {"turn": 0.3, "lift": -0.2, "roll": 0.4, "grip": 0.01}, False),
    ("shoulder.xml", {"first": 0.5, "second": -0.3, "third": 0.8, "bend": 0.4, "turn": -0.7}, False),
]

OWN = '<inertial pos="0.1 0 0.2" mass="3" diaginertia="0.1 0.2 0.25"/>'
GEOM = '<geom size="0.1" pos="0 0 0.3" mass="2"/>'
# Models of some bodies each, by their `compiler` and what rides on the bodies.
MASSES = [
    *((f'inertiafromgeom="{word}"', inside) for word in ("true", "false", "auto")
      for inside in ([OWN + GEOM, OWN, GEOM],)),
    ('inertiafromgeom="true"', [OWN + '<geom size="0.1" mass="0"/>']),
    ('boundmass="0.5" boundinertia="0.25"', [OWN, GEOM, "", '<geom size="0.1" mass="0"/>']),
    ('boundmass="0.5" boundinertia="0.25" settotalmass="10"', [OWN, GEOM, ""]),
    ('boundinertia="0.25"', [OWN, ""]),
    ('inertiagrouprange="2 3"', [OWN + GEOM, GEOM, *(GEOM + f'<geom group="{g}" size="0.2"/>' for g in (1, 2, 3, 4))]),
    ('inertiafromgeom="true"/><compiler inertiafromgeom="auto"', [OWN + GEOM]),
    ('inertiafromgeom="true"/><compiler autolimits="true"', [OWN + GEOM]),
]
# Models of one actuator each: the defaults, and the actuator.
ACTUATORS = [
    ('<general gainprm="50" biasprm="0 -50 -2"/>', "position"),
    ('<general gainprm="50" biasprm="0 -50 -2"/>', 'position kp="7"'),
    ('<general gainprm="50" biasprm="0 -50 -2"/>', 'position kv="7"'),
    ('<general gainprm="50" biasprm="0 -50 -2"/>', "velocity"),
    ('<general gainprm="50" biasprm="0 -50 -2"/>', "motor"),
    ('<general gainprm="50" biastype="affine" biasprm="0 -50 -2"/>', "motor"),
    ('<general gainprm="50" biastype="affine" biasprm="0 -50 -2"/>', "general"),
    ('<general gainprm="50" biastype="affine" biasprm="0 -50 -2"/>', 'velocity kv="5"'),
    ('<general biasprm="0 -50 -2"/>', "position"),
    ('<motor gear="100"/>', "general"),
    ('<motor gear="100"/>', "position"),
    ('<position gear="100"/>', "motor"),
    ('<general gear="3"/><motor gear="100"/>', "general"),
    ('<motor gear="100"/><general gear="3"/>', "motor"),
    ('<position kp="30" kv="3"/>', "position"),
    ('<position kp="30" kv="3"/>', "general"),
    ('<position kp="30" kv="3"/>', "velocity"),
    ('<position kp="30" kv="3"/>', "motor"),
    ('<position kv="3"/>', "position"),
    ('<velocity kv="30"/>', "position"),
    ('<velocity kv="30"/>', "general"),
    ('<velocity gear="5"/>', "general"),
    ('<position kp="30"/><general gear="5"/>', "position"),
    ('<position kp="30"/><general gear="5"/>', "velocity"),
    ('<position kp="30"/><motor gear="2"/>', "position"),
    ('<general gainprm="5"/><position kp="30"/>', "position"),
    ('<intvelocity kp="4"/>', "position"),
    ('<position kp="30"/><default class="c"><position kv="3"/></default>', 'position class="c"'),
    ('<position kp="30" kv="3"/><default class="c"><position kp="5"/></default>', 'position class="c"'),
    ('<position kp="30" kv="3"/><default class="c"><motor gear="5"/></default>', 'general class="c"'),
    ('<general dyntype="integrator"/>', "motor"),
]


def floating(path):
    """The robot with a joint that floats between the world and its base."""
    root = ET.parse(path).getroot()
    children = {joint.find("child").get("link") for joint in root.iter("joint")}
    base = next(link.get("name") for link in root.iter("link") if link.get("name") not in children)
    ET.SubElement(root, "link", name="world")
    joint = ET.SubElement(root, "joint", name="free", type="floating")
    ET.SubElement(joint, "parent", link="world")
    ET.SubElement(joint, "child", link=base)
    return root


def model_of(path, free, folder):
    if path.suffix == ".urdf" and free:
        root = floating(path)
        extension = ET.SubElement(root, "mujoco")
        ET.SubElement(extension, "compiler", fusestatic="false", inertiafromgeom="false")
        return mujoco.MjModel.from_xml_string(ET.tostring(root, encoding="unicode"))
    return compare.load(path, folder)[1]


def case(name, start, free):
    with tempfile.TemporaryDirectory() as folder:
        model = model_of(MODELS / name, free, Path(folder))
    data = mujoco.MjData(model)
    if model.nkey:
        mujoco.mj_resetDataKeyframe(model, data, model.key("home").id)
    for joint, value in start.items():
        at = model.jnt_qposadr[mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_JOINT, joint)]
        data.qpos[at] = value
    mujoco.mj_forward(model, data)
    flags = mujoco.mjtDisableBit
    model.opt.disableflags |= flags.mjDSBL_CONTACT | flags.mjDSBL_LIMIT | flags.mjDSBL_FRICTIONLOSS
    found = {"bodies": show(compare.bodies(model, data)), "dynamics": dynamics(model, data), **named(model, data)}
    return {"file": name, "start": start, "floating": free, **found, "end": show(compare.fall(model, data))}


def named(model, data):
    """Places and axes of sites on bodies that move, and lengths of tendons."""
    sites = [i for i in range(model.nsite) if compare.owner(model, model.site_bodyid[i])]
    place = {model.site(i).name: [*data.site_xpos[i], *data.site_xmat[i]] for i in sites}
    lengths = {model.tendon(i).name: data.ten_length[i] for i in range(model.ntendon)}
    return {"sites": place, "tendons": lengths}


def dynamics(model, data):
    """Accelerations of hinges and slides by unit forces, and by all forces but those of actuators."""
    flags = model.opt.disableflags
    model.opt.disableflags = flags | mujoco.mjtDisableBit.mjDSBL_ACTUATION
    mujoco.mj_forward(model, data)
    kinds = (int(mujoco.mjtJoint.mjJNT_HINGE), int(mujoco.mjtJoint.mjJNT_SLIDE))
    joints = [j for j in range(model.njnt) if model.jnt_type[j] in kinds and model.joint(j).name]
    dofs = [model.jnt_dofadr[j] for j in joints]
    full = np.zeros((model.nv, model.nv))
    mujoco.mj_fullM(model, data, full)
    mobility = np.linalg.inv(full)[np.ix_(dofs, dofs)]
    names = [model.joint(j).name for j in joints]
    out = {"joints": names, "mobility": list(mobility.ravel()), "accelerations": list(data.qacc[dofs])}
    model.opt.disableflags = flags
    mujoco.mj_forward(model, data)
    return out


def show(bodies):
    return {
        n: {"mass": b[0], "centre": list(b[1]), "inertia": list(b[2].ravel()), "rotation": list(b[3].ravel())}
        for n, b in bodies.items()
    }


def masses(compiler, insides):
    """Bodies of a model as the file, and as MuJoCo has them."""
    # Bodies without mass may not move: each rides on one that has.
    carrier = '<joint axis="0 1 0"/><inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>'
    text = "".join(
        f'<body name="b{i}" pos="{i} 0 1">{carrier}<body pos="0.1 0 0.2">{inside}</body></body>'
        for i, inside in enumerate(insides)
    )
    text = f"<compiler {compiler}/><worldbody>{text}</worldbody>"
    model = mujoco.MjModel.from_xml_string(f"<mujoco>{text}</mujoco>")
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    return {"text": text, "bodies": show(compare.bodies(model, data))}


def actuator(defaults, tag):
    """An actuator as the file, and its gear, gain, stiffness and damping."""
    body = '<body name="b"><joint name="j" axis="0 1 0"/><geom size="0.1" pos="1 0 0"/></body>'
    text = f"<default>{defaults}</default><worldbody>{body}</worldbody>"
    text += f'<actuator><{tag} name="drive" joint="j"/></actuator>'
    model = mujoco.MjModel.from_xml_string(f"<mujoco>{text}</mujoco>")
    bias = model.actuator_biasprm[0] if model.actuator_biastype[0] else [0.0, 0.0, 0.0]
    law = {"gain": model.actuator_gainprm[0][0], "stiffness": -bias[1], "damping": -bias[2]}
    return {"text": text, "gear": model.actuator_gear[0][0], **law}


def rest():
    """Position and quaternion of a box that fell onto the ground, after two seconds."""
    geom = '<geom type="box" size="0.1 0.2 0.05"/>'
    body = f'<body name="box" pos="0 0 0.3"><freejoint/>{geom}</body>'
    ground = '<geom name="floor" type="plane" size="5 5 1"/>'
    model = mujoco.MjModel.from_xml_string(f"<mujoco><worldbody>{ground}{body}</worldbody></mujoco>")
    data = mujoco.MjData(model)
    while data.time < 2:
        mujoco.mj_step(model, data)
    return list(data.qpos)


def still(name):
    """Where bodies rest: after six seconds, in which all have come to rest."""
    model = mujoco.MjModel.from_xml_path(str(MODELS / name))
    model.opt.timestep = 5e-4
    data = mujoco.MjData(model)
    while data.time < 6:
        mujoco.mj_step(model, data)
    centres = {n: list(b[1]) for n, b in compare.bodies(model, data).items()}
    return {"speed": np.abs(data.qvel).max(), "centres": centres}


def driven(name):
    """Bodies after 0.3 s of motion with the controls of the keyframe `home`."""
    model = mujoco.MjModel.from_xml_path(str(MODELS / name))
    model.opt.integrator = mujoco.mjtIntegrator.mjINT_RK4
    model.opt.timestep = 1e-4
    data = mujoco.MjData(model)
    mujoco.mj_resetDataKeyframe(model, data, model.key("home").id)
    while data.time < 0.3 - 1e-9:
        mujoco.mj_step(model, data)
    mujoco.mj_forward(model, data)
    return show(compare.bodies(model, data))


def main():
    cases = [case(*c) for c in CASES]
    out = {"mujoco": mujoco.__version__, "duration": compare.DURATION, "cases": cases, "rest": rest()}
    out["masses"] = [masses(*m) for m in MASSES]
    out["actuators"] = [actuator(*a) for a in ACTUATORS]
    out["still"] = {name: still(name) for name in ("leashes.xml", "pairs.xml")}
    out["driven"] = {"thrust.xml": driven("thrust.xml")}
    text = json.dumps(out, indent=1, default=float)
    (HERE.parent / "tests" / "it" / "reference.json").write_text(text + "\n")


if __name__ == "__main__":
    main()
