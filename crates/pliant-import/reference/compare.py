"""Comparison of imported robots with MuJoCo, file by file.

Each file is read by both programs at random joint coordinates. Compared are the mass, centre of mass, inertia, position
and rotation of every body at the start, and the same after falling for half a second.

Switched off in both are contacts, limits, dry friction, actuators, rows and closures between joints and bodies, and
fluids, and damping and inertia of drives of free and ball joints; of URDF also shapes, inertias without mass, which MuJoCo refuses, and mimic joints, which it passes over.
Velocity actuators are dampers of a scene: models with them are compared at the start only.

Usage: python compare.py PLIANT [FILE...]
PLIANT is the program; needs the packages mujoco and numpy. Without files, those of COLLECTIONS are compared, of
packages in the same environment, and a summary ends the output.
"""

import json
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ET
from pathlib import Path

import mujoco
import numpy as np

DURATION = 0.5
# Seconds that an import or a run may take.
PATIENCE = 60
# The largest error (m) of the reference.
UNSURE = 1e-6

COLLECTIONS = {
    "URDF": [
        "cmeel.prefix/share/example-robot-data/robots/**/*.urdf",
        "robosuite/models/assets/bullet_data/**/*.urdf",
        "mujoco/testdata/*.urdf",
    ],
    "MJCF": [
        "dm_control/suite/*.xml",
        "gymnasium/envs/mujoco/assets/*.xml",
        "gymnasium_robotics/envs/assets/**/*.xml",
        "robosuite/models/assets/robots/*/robot.xml",
        "mujoco/testdata/*.xml",
    ],
}


def load_urdf(path, folder):
    """The URDF without meshes, inertias without mass, which MuJoCo refuses, and mimic joints, which it passes over."""
    tree = ET.parse(path)
    root = tree.getroot()
    for link in root.iter("link"):
        for tag in ("visual", "collision"):
            for element in link.findall(tag):
                link.remove(element)
        for inertial in link.findall("inertial"):
            if inertial.find("mass") is None or float(inertial.find("mass").get("value")) == 0:
                link.remove(inertial)
    for joint in root.iter("joint"):
        for element in joint.findall("mimic"):
            joint.remove(element)
    for element in root.findall("mujoco"):
        root.remove(element)
    plain = folder / "plain.urdf"
    tree.write(plain)
    extension = ET.SubElement(root, "mujoco")
    ET.SubElement(extension, "compiler", fusestatic="false", inertiafromgeom="false")
    return plain, mujoco.MjModel.from_xml_string(ET.tostring(root, encoding="unicode"))


def load(path, folder):
    if path.suffix == ".urdf":
        return load_urdf(path, folder)
    return path, mujoco.MjModel.from_xml_path(str(path))


def joint_names(model):
    """Names as the import gives them: joints without a name are counted."""
    names = []
    for j in range(model.njnt):
        name = mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_JOINT, j)
        names.append(name or f"joint {j + 1}")
    return names


def owner(model, body):
    """The body that this one moves with; 0 for the world."""
    while body and model.body_jntnum[body] == 0:
        body = model.body_parentid[body]
    return body


def bodies(model, data):
    """Mass, centre of mass and inertia about it in world axes, with what is welded on; by name."""
    out = {}
    for body in range(1, model.nbody):
        top = owner(model, body)
        if top == 0 or model.body_mass[body] == 0:
            continue
        turned = data.ximat[body].reshape(3, 3)
        part = (model.body_mass[body], data.xipos[body], turned @ np.diag(model.body_inertia[body]) @ turned.T)
        out.setdefault(top, []).append(part)
    result = {}
    for top, parts in out.items():
        mass = sum(p[0] for p in parts)
        centre = sum(p[0] * p[1] for p in parts) / mass
        tensor = np.zeros((3, 3))
        for m, c, t in parts:
            d = c - centre
            tensor += t + m * (d @ d * np.eye(3) - np.outer(d, d))
        name = mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_BODY, top) or f"body {top}"
        result[name] = (mass, centre, tensor, data.xmat[top].reshape(3, 3).copy())
    return result


def behind(name, masses):
    """Bodies of a scene that are one of the file: itself, and light ones that borrow 1e-7 of its mass.

    Others have 1e-12 in addition.
    """
    own = [n for n in masses if n == name or n.startswith(f"{name}/")]
    return [n for n in own if masses[n] > 1e-10 * masses[name]]


def whole(name, parts):
    """A body of the file, of its parts in a scene; tensors of light ones are nothing beside its own."""
    own = [parts[n] for n in behind(name, {n: p[0] for n, p in parts.items()})]
    mass = sum(p[0] for p in own)
    centre = sum(p[0] * p[1] for p in own) / mass
    tensor = parts[name][2].copy()
    for m, c, *_ in own:
        tensor += m * ((c - centre) @ (c - centre) * np.eye(3) - np.outer(c - centre, c - centre))
    return (mass, centre, tensor, parts[name][3])


NUMBERS = r"\(([^()]*)\)"


def scene_bodies(text):
    """The same of the bodies of a scene that an import wrote."""
    result = {}
    for name, inside in re.findall(r'Bodies\(name: "((?:[^"\\]|\\.)*)", bodies: \[\((.*)\)\]\),', text):
        def numbers(key, default):
            found = re.search(rf"\b{key}: (?:Quaternion)?{NUMBERS}", inside)
            return np.array([float(x) for x in found[1].split(",")]) if found else np.array(default, float)

        turned = matrix(numbers("rotation", [1, 0, 0, 0]))
        xx, yy, zz = numbers("inertia", [0, 0, 0])
        xy, xz, yz = numbers("products", [0, 0, 0])
        tensor = turned @ np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) @ turned.T
        mass = float(re.search(r"\bmass: ([^,)]*)", inside)[1])
        result[name] = (mass, numbers("position", [0, 0, 0]), tensor, turned)
    return result


def matrix(q):
    out = np.zeros(9)
    mujoco.mju_quat2Mat(out, np.array(q, float) / np.linalg.norm(q))
    return out.reshape(3, 3)


def plain_scene(text, step, quick):
    """A scene without limits, friction, gears, rows, contacts, closures and motors, and with forces of zero."""
    text = re.sub(r'\n        ("[A-Za-z0-9_]+"): [^,]*,(?=\n)', r"\n        \1: 0,", text)
    text = re.sub(r"\n +(limits|friction|motors): \[.*\],(?=\n)", "", text)
    text = re.sub(r"\n    (colliders|ignore|gears|constraints): \[\n(?:        .*\n)*    \],\n", "\n", text)
    text = re.sub(r"\n *\(name: .*, kind: (Fixed|Ball), collide: true, .*(?=\n)", "", text)
    # Servos of tendons.
    text = re.sub(r"\n *\(name: .*, law: Compliance\(.*, motion: .*(?=\n)", "", text)
    # The fourth-order method takes no inertias of drives; the default is of second order.
    how = f"step: {step}, integrator: Rattle4" if quick else f"step: {step / 4}"
    run = f"run: (duration: {DURATION}, {how}),"
    return re.sub(r"run: \(.*\),", run, text)


def fall(model, data, step=1e-4):
    model.opt.timestep = step
    model.opt.integrator = mujoco.mjtIntegrator.mjINT_RK4
    for _ in range(round(DURATION / step)):
        mujoco.mj_step(model, data)
    mujoco.mj_kinematics(model, data)
    mujoco.mj_comPos(model, data)
    return bodies(model, data)


def difference(a, b, index, scale):
    return max(np.abs(a[n][index] - b[n][index]).max() / scale(n) for n in b)


def switch_off(model):
    flags = mujoco.mjtDisableBit
    model.opt.disableflags |= flags.mjDSBL_CONTACT | flags.mjDSBL_LIMIT | flags.mjDSBL_FRICTIONLOSS
    model.opt.disableflags |= flags.mjDSBL_ACTUATION | flags.mjDSBL_EQUALITY
    model.opt.density = model.opt.viscosity = 0
    # Of free and ball joints, scenes have no damping and no inertia of drives.
    kinds = model.jnt_type[model.dof_jntid]
    loose = (kinds == mujoco.mjtJoint.mjJNT_FREE) | (kinds == mujoco.mjtJoint.mjJNT_BALL)
    model.dof_damping[loose] = model.dof_armature[loose] = 0


def velocity_actuators(model):
    affine = model.actuator_biastype == mujoco.mjtBias.mjBIAS_AFFINE
    return np.any(affine & (model.actuator_biasprm[:, 1] == 0) & (model.actuator_biasprm[:, 2] != 0))


def run(command):
    """What went wrong, or nothing."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        return f"more than {PATIENCE} s"
    return done.stderr.splitlines()[0] if done.returncode else None


def compare(pliant, path, seed, step):
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        try:
            file, model = load(path, folder)
        except (ValueError, ET.ParseError) as error:
            return {"refused by MuJoCo": str(error).splitlines()[0]}
        switch_off(model)
        data = mujoco.MjData(model)
        if mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_KEY, "home") >= 0:
            mujoco.mj_resetDataKeyframe(model, data, model.key("home").id)
            data.qvel[:] = 0
        command = [pliant, "import", str(file), "-o", str(folder / "s.ron"), "--quiet"]
        command += random_starts(model, data, np.random.default_rng(seed))
        mujoco.mj_forward(model, data)
        if error := run(command):
            return {"refused by pliant": error}
        text = (folder / "s.ron").read_text()
        ours, theirs = scene_bodies(text), bodies(model, data)
        if not theirs:
            return {"nothing moves": ""}
        if missing := set(theirs) - set(ours):
            return {"other bodies": f"{sorted(missing)[:3]}"}
        out = at_start({n: whole(n, ours) for n in theirs}, theirs)
        if velocity_actuators(model):
            return {**out, "not dropped": "velocity actuators"}
        return {**out, **at_end(pliant, folder, text, model, data, step)}


def followers(model):
    """Joints that follow others, with these and the offset and factor of their row."""
    out = {}
    for e in range(model.neq):
        row = model.eq_data[e]
        linear = model.eq_type[e] == mujoco.mjtEq.mjEQ_JOINT and not row[2:5].any()
        if linear and model.eq_active0[e] and model.eq_obj2id[e] >= 0:
            out.setdefault(int(model.eq_obj1id[e]), (int(model.eq_obj2id[e]), row[0], row[1]))
    return out


def random_starts(model, data, random):
    """Sets random coordinates, and gives them as arguments."""
    out = []
    rows = followers(model)
    for j, name in enumerate(joint_names(model)):
        kind = mujoco.mjtJoint(int(model.jnt_type[j]))
        if j not in rows and kind in (mujoco.mjtJoint.mjJNT_HINGE, mujoco.mjtJoint.mjJNT_SLIDE):
            at = model.jnt_qposadr[j]
            size = 0.8 if kind == mujoco.mjtJoint.mjJNT_HINGE else 0.1
            data.qpos[at] = model.qpos0[at] + round(random.uniform(-size, size), 3)
            out += ["--start", f"{name}={float(data.qpos[at])!r}"]
    for j, (leader, offset, factor) in rows.items():
        at, of = model.jnt_qposadr[j], model.jnt_qposadr[leader]
        data.qpos[at] = model.qpos0[at] + offset + factor * (data.qpos[of] - model.qpos0[of])
    return out


def at_start(ours, theirs):
    total = sum(b[0] for b in theirs.values())
    centre = [sum(b[0] * b[1] for b in s.values()) / total for s in (ours, theirs)]
    return {
        "bodies": len(theirs),
        "mass": abs(sum(b[0] for b in ours.values()) / total - 1),
        "centre": np.abs(centre[0] - centre[1]).max(),
        "body mass": difference(ours, theirs, 0, lambda n: theirs[n][0]),
        "position": difference(ours, theirs, 1, lambda n: 1),
        "inertia": difference(ours, theirs, 2, lambda n: np.abs(theirs[n][2]).max()),
        "rotation": difference(ours, theirs, 3, lambda n: 1),
    }


def at_end(pliant, folder, text, model, data, step):
    start = bodies(model, data)
    again = mujoco.MjData(model)
    again.qpos[:] = data.qpos
    end, coarse = fall(model, data, 5e-5), fall(model, again)
    # What the reference is not sure of: its method is explicit, and stiff damping is beyond it.
    unsure = max(np.abs(end[n][1] - coarse[n][1]).max() for n in end)
    if not unsure < UNSURE:
        return {"not dropped": f"MuJoCo's steps of 0.1 and 0.05 ms differ by {unsure:.1e} m"}
    out = {"reference": unsure}
    for quick in (True, False):
        (folder / "s.ron").write_text(plain_scene(text, step, quick))
        error = run([pliant, "run", str(folder / "s.ron"), "--out", str(folder / "o")])
        if not error:
            break
    else:
        return {**out, "not dropped": error}
    result = json.loads((folder / "o" / "result.json").read_text())
    masses = {n: b[0] for n, b in scene_bodies(text).items()}
    states = {n: result["state"][n]["positions"][0] for n in end}
    centres = {}
    for n in end:
        parts = behind(n, masses)
        moments = sum(masses[p] * np.array(result["state"][p]["positions"][0][:3]) for p in parts)
        centres[n] = moments / sum(masses[p] for p in parts)
    return {
        **out,
        "method": "Rattle4" if quick else "Sdirk2",
        "fallen": max(np.abs(end[n][1] - start[n][1]).max() for n in end),
        "end position": max(np.abs(centres[n] - end[n][1]).max() for n in end),
        "end rotation": max(np.abs(matrix(states[n][3:7]) - end[n][3]).max() for n in end),
    }


def summary(name, results):
    print(f"{name}: {len(results)} files")
    for why in ("refused by MuJoCo", "refused by pliant", "nothing moves", "other bodies", "not dropped"):
        print(f"  {why}: {sum(why in r for r in results)}")
    keys = ("mass", "body mass", "position", "inertia", "rotation")
    starts = sorted(max(r[k] for k in keys) for r in results if "bodies" in r)
    ends = sorted(r["end position"] for r in results if "end position" in r)
    for what, list in (("start", starts), ("end position", ends)):
        below = ", ".join(f"{sum(x < limit for x in list)} below {limit:.0e}" for limit in (1e-13, 1e-9, 1e-6, 1e-4))
        print(f"  {what}: {len(list)}, {below}; worst: {', '.join(f'{x:.1e}' for x in list[-4:])}")


def main():
    pliant = sys.argv[1]
    site = Path(mujoco.__file__).parent.parent
    found = {name: sorted(f for p in patterns for f in site.glob(p)) for name, patterns in COLLECTIONS.items()}
    chosen = {"files": [Path(f) for f in sys.argv[2:]]} if sys.argv[2:] else found
    show = lambda x: f"{x:.1e}" if isinstance(x, float) else x
    done = {}
    for name, paths in chosen.items():
        done[name] = []
        for path in paths:
            out = compare(pliant, path, 1, 1e-3)
            done[name].append(out)
            label = path.relative_to(site) if path.is_relative_to(site) else path
            print(label, {k: show(v) for k, v in out.items()}, flush=True)
    for name, results in done.items():
        summary(name, results)


if __name__ == "__main__":
    main()
