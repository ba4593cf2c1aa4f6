"""Numbers of MuJoCo for the models of the tests, as tests/it/reference.json.

Usage: python generate.py (needs the packages mujoco and numpy)
"""

import json
import tempfile
import xml.etree.ElementTree as ET
from pathlib import Path

import mujoco

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
    ("shoulder.xml", {"first": 0.5, "second": -0.3, "third": 0.8, "bend": 0.4, "turn": -0.7}, False),
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
    show = lambda bodies: {
        n: {"mass": b[0], "centre": list(b[1]), "inertia": list(b[2].ravel()), "rotation": list(b[3].ravel())}
        for n, b in bodies.items()
    }
    flags = mujoco.mjtDisableBit
    model.opt.disableflags |= flags.mjDSBL_CONTACT | flags.mjDSBL_LIMIT | flags.mjDSBL_FRICTIONLOSS
    first = show(compare.bodies(model, data))
    return {"file": name, "start": start, "floating": free, "bodies": first, "end": show(compare.fall(model, data))}


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


def main():
    cases = [case(*c) for c in CASES]
    out = {"mujoco": mujoco.__version__, "duration": compare.DURATION, "cases": cases, "rest": rest()}
    text = json.dumps(out, indent=1, default=float)
    (HERE.parent / "tests" / "it" / "reference.json").write_text(text + "\n")


if __name__ == "__main__":
    main()
