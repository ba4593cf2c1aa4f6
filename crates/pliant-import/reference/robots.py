"""Comparison of robots that packages ship with MuJoCo: dynamics along their joints, falling, and coming to rest.

Both programs read the same file, at coordinates and velocities that are drawn within the limits.

Dynamics: mass of what moves, axes of the joints (screws, with their places), mass matrix, forces that gravity takes to
hold, the same with velocities, and, of a robot that floats, accelerations. Forces and matrices are those with the base
held; of robots that float, mass matrix and accelerations with the base free as well. All are relative to the largest;
entries of the mass matrix to the geometric mean of the two diagonal ones.

Fall: half a second, without limits, dry friction, motors and contacts, with joint dampers and springs. MuJoCo takes
Runge-Kutta steps of 0.05 ms, whose difference from those of 0.1 ms is the error of the reference. Pliant takes its
method of fourth order at 1 ms, or its default method at 0.5 ms where drives have inertia.

Rest: the robot is put just above the ground and comes to rest, with limits and contacts; MuJoCo's are made stiff.
Compared are the centres of mass of all bodies.

Of URDF, shapes play no part in dynamics and fall, and inertias without mass, which MuJoCo refuses, are left out. It
refuses inertias that no body has, too, even of parts whose welded whole is a body: these are put into its model behind
its checks. It passes over mimic joints: mass matrix and motion are restricted to what they leave.

Usage: python robots.py [NAME...]
Needs the packages pliant, mujoco and numpy, and those of the robots in the same environment. Exit code 1 if a bound is
exceeded.
"""

import re
import sys
import warnings
import xml.etree.ElementTree as ET
from dataclasses import dataclass
from pathlib import Path

import mujoco
import numpy as np
import pliant

SITE = Path(mujoco.__file__).parent.parent
DATA = "cmeel.prefix/share/example-robot-data/robots/"
GYM = "gymnasium/envs/mujoco/assets/"
HANDS = "gymnasium_robotics/envs/assets/hand/"

HINGE, SLIDE = int(mujoco.mjtJoint.mjJNT_HINGE), int(mujoco.mjtJoint.mjJNT_SLIDE)
FREE, BALL = int(mujoco.mjtJoint.mjJNT_FREE), int(mujoco.mjtJoint.mjJNT_BALL)
BODY, JOINT = mujoco.mjtObj.mjOBJ_BODY, mujoco.mjtObj.mjOBJ_JOINT

DURATION = 0.5
# Relative errors of dynamics, of a fall (rad, m) and of a pose at rest (m).
DYNAMICS, FALL, REST = 1e-8, 1e-6, 1e-3
# Speeds (m/s, rad/s) of what rests.
STILL = 1e-3
# MuJoCo's contacts and limits: a time constant of 1 ms, and impedances beyond which things do not come to rest.
STIFF, SHARE = [0.001, 1], [0.95, 0.99, 0.001, 0.5, 2]


@dataclass
class Robot:
    """A robot: its file, whether a URDF base floats, and whether it falls without dampers."""

    name: str
    path: str
    floating: bool = False
    # Damping so far beyond the inertia of fingers that explicit steps do not end.
    undamped: bool = False


ROBOTS = [
    Robot("Panda", DATA + "panda_description/urdf/panda.urdf"),
    Robot("UR5", DATA + "ur_description/urdf/ur5_robot.urdf"),
    Robot("Humanoid", GYM + "humanoid.xml"),
    Robot("G1", DATA + "g1_description/urdf/g1_29dof_rev_1_0.urdf", floating=True),
    Robot("ANYmal B", DATA + "anymal_b_simple_description/robots/anymal.urdf", floating=True),
    Robot("ANYmal C", DATA + "anymal_c_simple_description/urdf/anymal.urdf", floating=True),
    Robot("Ant", GYM + "ant.xml"),
    Robot("Allegro hand", DATA + "allegro_hand_description/urdf/allegro_right_hand.urdf", undamped=True),
    Robot("Shadow hand", HANDS + "reach.xml"),
    Robot("Cart-pole", GYM + "inverted_pendulum.xml"),
]


@dataclass
class Pose:
    """A robot near a pose in which it rests; with `stands`, its motors hold the joints where they start."""

    robot: Robot
    start: dict[str, float]
    stands: bool = False


def legs(hips, thighs, knees):
    """Coordinates of the legs of ANYmal, bent alike in front and behind."""
    out = {}
    for leg, side, end in (("LF", 1, 1), ("RF", -1, 1), ("LH", 1, -1), ("RH", -1, -1)):
        out |= {f"{leg}_HAA": side * hips, f"{leg}_HFE": end * thighs, f"{leg}_KFE": end * knees}
    return out


LYING = {"shoulder1": -0.54, "shoulder2": -0.45, "elbow": -1.43}
POSES = {
    "Humanoid": Pose(
        Robot("lying", GYM + "humanoidstandup.xml"),
        {"right_knee": -0.05, "left_knee": -0.05}
        | {f"right_{n}": x for n, x in LYING.items()}
        | {f"left_{n}": x if n == "elbow" else -x for n, x in LYING.items()},
    ),
    "ANYmal B": Pose(ROBOTS[4], legs(-0.1, 0.7, -1.3), stands=True),
    "Ant": Pose(ROBOTS[6], {"ankle_1": 0.6, "ankle_2": -0.6, "ankle_3": -0.6, "ankle_4": 0.6}),
}


# Files as MuJoCo reads them.


def tensor_of(inertial):
    element = inertial.find("inertia")
    xx, yy, zz, xy, xz, yz = (float(element.get(k, 0)) for k in ("ixx", "iyy", "izz", "ixy", "ixz", "iyz"))
    return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])


def rotation_of(inertial):
    """The rotation of `rpy`."""
    origin = inertial.find("origin")
    angles = [0.0] * 3 if origin is None else [float(x) for x in origin.get("rpy", "0 0 0").split()]
    (cr, cp, cy), (sr, sp, sy) = np.cos(angles), np.sin(angles)
    about_x = np.array([[1, 0, 0], [0, cr, -sr], [0, sr, cr]])
    about_y = np.array([[cp, 0, sp], [0, 1, 0], [-sp, 0, cp]])
    about_z = np.array([[cy, -sy, 0], [sy, cy, 0], [0, 0, 1]])
    return about_z @ about_y @ about_x


def take_odd_tensor(inertial):
    """An inertia that MuJoCo refuses, in the axes of the link, with a ball in its place; nothing if it is a body's."""
    tensor = tensor_of(inertial)
    small, middle, large = np.linalg.eigvalsh(tensor)
    if small > 1e-10 and small + middle >= large:
        return None
    for key in ("ixx", "iyy", "izz", "ixy", "ixz", "iyz"):
        inertial.find("inertia").set(key, "1" if key[1] == key[2] else "0")
    turned = rotation_of(inertial)
    return turned @ tensor @ turned.T


def urdf(robot, shapes):
    """The specification of a URDF file, tensors to be set once it is compiled, and rows of mimic joints."""
    root = ET.parse(SITE / robot.path).getroot()
    odd, rows = {}, {}
    for link in root.iter("link"):
        for element in link.findall("visual") + ([] if shapes else link.findall("collision")):
            link.remove(element)
        for inertial in link.findall("inertial"):
            if float(inertial.find("mass").get("value")) == 0:
                link.remove(inertial)
            elif (tensor := take_odd_tensor(inertial)) is not None:
                odd[link.get("name")] = tensor
    for joint in root.iter("joint"):
        for mimic in joint.findall("mimic"):
            factor, offset = float(mimic.get("multiplier", 1)), float(mimic.get("offset", 0))
            rows[joint.get("name")] = (mimic.get("joint"), factor, offset)
    for element in root.findall("mujoco"):
        root.remove(element)
    extension = ET.SubElement(root, "mujoco")
    ET.SubElement(extension, "compiler", fusestatic="false", inertiafromgeom="false", discardvisual="false")
    spec = mujoco.MjSpec.from_string(ET.tostring(root, encoding="unicode"))
    if robot.floating:
        children = {j.find("child").get("link") for j in root.iter("joint") if j.find("child") is not None}
        base = next(link.get("name") for link in root.iter("link") if link.get("name") not in children)
        spec.body(base).add_freejoint()
    return spec, odd, rows


def specification(robot, shapes=False):
    if robot.path.endswith(".urdf"):
        return urdf(robot, shapes)
    return mujoco.MjSpec.from_file(str(SITE / robot.path)), {}, {}


def compiled(spec, odd):
    model = spec.compile()
    for name, tensor in odd.items():
        values, vectors = np.linalg.eigh(tensor)
        vectors[:, 2] = np.cross(vectors[:, 0], vectors[:, 1])
        body = model.body(name).id
        model.body_inertia[body] = values
        mujoco.mju_mat2Quat(model.body_iquat[body], vectors.ravel())
    mujoco.mj_setConst(model, mujoco.MjData(model))
    # Of free and ball joints, scenes have no damping and no inertia of drives.
    kinds = model.jnt_type[model.dof_jntid]
    loose = (kinds == FREE) | (kinds == BALL)
    model.dof_damping[loose] = model.dof_armature[loose] = 0
    model.opt.density = model.opt.viscosity = 0
    return model


def name_of(model, kind, index):
    return mujoco.mj_id2name(model, kind, index)


def owner(model, body):
    """The body that this one moves with; 0 for the world."""
    while body and model.body_jntnum[body] == 0:
        body = model.body_parentid[body]
    return int(body)


class Reference:
    """MuJoCo's side of a robot, at random coordinates and velocities."""

    def __init__(self, robot, seed=1):
        spec, odd, self.rows = specification(robot)
        self.model = model = compiled(spec, odd)
        flags = mujoco.mjtDisableBit
        model.opt.disableflags |= flags.mjDSBL_CONTACT | flags.mjDSBL_LIMIT | flags.mjDSBL_FRICTIONLOSS
        model.opt.disableflags |= flags.mjDSBL_ACTUATION | flags.mjDSBL_EQUALITY
        self.data = mujoco.MjData(model)
        self.names = [name_of(model, JOINT, j) or f"joint {j + 1}" for j in range(model.njnt)]
        single = [j for j in range(model.njnt) if int(model.jnt_type[j]) in (HINGE, SLIDE)]
        self.dof = {self.names[j]: int(model.jnt_dofadr[j]) for j in single}
        self.place = {self.names[j]: int(model.jnt_qposadr[j]) for j in single}
        free = [int(model.jnt_bodyid[j]) for j in range(model.njnt) if model.jnt_type[j] == FREE]
        self.base = name_of(model, BODY, free[0]) if free else None
        self.independent = [n for n in self.dof if n not in self.rows]
        self.start = self.draw(np.random.default_rng(seed))
        self.velocities = self.data.qvel.copy()
        mujoco.mj_forward(model, self.data)

    def draw(self, random):
        """Sets coordinates within the limits and velocities; gives the coordinates."""
        start = {}
        for n in self.independent:
            j = self.names.index(n)
            low, high = self.model.jnt_range[j] if self.model.jnt_limited[j] else (-1, 1)
            low, high = max(low, -1.5), min(high, 1.5)
            start[n] = round(random.uniform(0.9 * low + 0.1 * high, 0.1 * low + 0.9 * high), 3)
            self.data.qpos[self.place[n]] = start[n]
            self.data.qvel[self.dof[n]] = round(random.uniform(-1, 1), 3)
        for n, (leader, factor, offset) in self.rows.items():
            self.data.qpos[self.place[n]] = offset + factor * self.data.qpos[self.place[leader]]
            self.data.qvel[self.dof[n]] = factor * self.data.qvel[self.dof[leader]]
        return start

    def set_velocities(self, moving):
        self.data.qvel[:] = self.velocities if moving else 0
        mujoco.mj_forward(self.model, self.data)

    def motions(self, held):
        """Basis of the motions: a column for each independent joint, then those of the base unless it is held."""
        columns = []
        for n in self.independent:
            column = np.zeros(self.model.nv)
            column[self.dof[n]] = 1
            for follower, (leader, factor, _) in self.rows.items():
                column[self.dof[follower]] = factor if leader == n else 0
            columns.append(column)
        if not held:
            rest = [i for i in range(self.model.nv) if i not in self.dof.values()]
            columns += list(np.eye(self.model.nv)[rest])
        return np.array(columns).T

    def mass_and_bias(self, held):
        """Mass matrix and the forces that no acceleration takes, over the basis."""
        full = np.zeros((self.model.nv, self.model.nv))
        mujoco.mj_fullM(self.model, self.data, full)
        basis = self.motions(held)
        return basis.T @ full @ basis, basis.T @ (self.data.qfrc_bias - self.data.qfrc_passive)

    def jacobian(self, body, point, own=None):
        """Of a point that moves with a body, and its rotation; `own` names the joints of the body that take part."""
        jac = np.zeros((6, self.model.nv))
        mujoco.mj_jac(self.model, self.data, jac[:3], jac[3:], point, body)
        first = self.model.body_jntadr[body]
        for j in range(first, first + self.model.body_jntnum[body]):
            if own is not None and self.names[j] not in own:
                jac[:, self.model.jnt_dofadr[j]] = 0
        return jac

    def fall(self, step, damped):
        """Data after the fall."""
        model, data = self.model, mujoco.MjData(self.model)
        data.qpos[:], data.qvel[:] = self.data.qpos, self.velocities
        damping = model.dof_damping.copy()
        model.dof_damping *= damped
        model.opt.timestep = step
        model.opt.integrator = mujoco.mjtIntegrator.mjINT_RK4
        for _ in range(round(DURATION / step)):
            if self.rows:
                self.restricted_step(data, step)
            else:
                mujoco.mj_step(model, data)
        mujoco.mj_kinematics(model, data)
        mujoco.mj_comPos(model, data)
        model.dof_damping[:] = damping
        return data

    def restricted_step(self, data, step):
        """The same method for motions that rows restrict."""
        model, basis = self.model, self.motions(False)
        full = np.zeros((model.nv, model.nv))

        def rate():
            mujoco.mj_fwdPosition(model, data)
            mujoco.mj_fwdVelocity(model, data)
            mujoco.mj_fullM(model, data, full)
            forces = basis.T @ (data.qfrc_passive - data.qfrc_bias)
            return basis @ np.linalg.solve(basis.T @ full @ basis, forces)

        q, v = data.qpos.copy(), data.qvel.copy()
        speeds, rates = [v], [rate()]
        for part in (0.5, 0.5, 1):
            data.qpos[:] = q
            mujoco.mj_integratePos(model, data.qpos, speeds[-1], part * step)
            data.qvel[:] = v + part * step * rates[-1]
            speeds.append(data.qvel.copy())
            rates.append(rate())
        weights = np.array([1, 2, 2, 1]) / 6
        data.qpos[:] = q
        mujoco.mj_integratePos(model, data.qpos, weights @ speeds, step)
        data.qvel[:] = v + step * (weights @ rates)


# Scenes as Pliant imports them.


def imported(robot, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return pliant.Model.from_robot(SITE / robot.path, floating=robot.floating, **options).text


def without(text, *keys):
    """A scene without lists of its joints and of its own; `constraints` of robots are limits and friction of tendons."""
    for key in keys:
        text = re.sub(rf"\n +{key}: \[.*\],(?=\n)", "", text)
        text = re.sub(rf"\n    {key}: \[\n(?:        .*\n)*    \],\n", "\n", text)
    return text


def simulation(robot, text, run=None):
    if run:
        text = re.sub(r"run: \(.*\),", f"run: ({run}),", text)
    return pliant.Simulation(pliant.Model.from_string(text, directory=(SITE / robot.path).parent, mesh_directories=[SITE]))


def coordinates(ref, model):
    """The coordinate of the scene for each joint of the file; several joints of a body may be one of the scene."""
    out = {}
    for coordinate in model.coordinates:
        joint, _, part = coordinate.rpartition(".")
        own = [joint] if joint in ref.dof else joint.split("+")
        own = own[{"second_angle": 1, "third_angle": 2}.get(part, 0) :]
        kind = SLIDE if part in ("travel", "x", "y") else HINGE
        fitting = [n for n in own if ref.model.jnt_type[ref.names.index(n)] == kind]
        out[fitting[1 if part == "y" else 0]] = coordinate
    return out


def moving(ref, sim):
    """Bodies of a scene that move by themselves: name, MuJoCo's body, its joints in front of a light one."""
    joints = {}
    for name in sim.model.bodies:
        link, _, behind = name.partition("/")
        if not sim.node(name).is_independent:
            continue
        if behind and mujoco.mj_name2id(ref.model, BODY, name) < 0:
            joints.setdefault(link, []).extend(behind.split("+"))
            yield name, ref.model.body(link).id, list(joints[link])
        elif owner(ref.model, body := body_of(ref.model, name)):
            yield name, body, None


def body_of(model, name):
    counted = re.fullmatch(r"body (\d+)", name)
    return int(counted[1]) if counted else model.body(name).id


def set_velocities(ref, sim):
    for name, body, own in moving(ref, sim):
        ours = sim.body(name)
        motion = ref.jacobian(body, ours.position, own) @ ref.velocities
        ours.velocity, ours.angular_velocity = motion[:3], motion[3:]


# Comparisons.


def relative(ours, theirs):
    return float(np.abs(ours - theirs).max() / np.abs(theirs).max())


def mass(ref, sim):
    together = sum(sim.body(name).jacobian()[0] for name, *_ in moving(ref, sim))
    total = sum(m for b, m in enumerate(ref.model.body_mass) if owner(ref.model, b))
    return abs(together @ sim.mass_matrix() @ together / total - 1)


def axes(ref, sim):
    """Motions of bodies against those in front of them, by the mobility of their differences; 1 is a right angle."""
    rows, theirs, basis = [], [], ref.motions(True)
    for name, body, own in moving(ref, sim):
        front = owner(ref.model, ref.model.body_parentid[body])
        if own is not None or name == ref.base:
            continue
        point = ref.data.xpos[body]
        row, motion = sim.body(name).jacobian(point), ref.jacobian(body, point)
        if front:
            row = row - sim.body(name_of(ref.model, BODY, front)).jacobian(point)
            motion = motion - ref.jacobian(front, point)
        rows.append(row)
        theirs.append(motion @ basis)
    mobility, worst = sim.mobility(np.vstack(rows)), 0.0
    for i, motion in enumerate(theirs):
        rank = np.linalg.matrix_rank(motion)
        wanted = np.linalg.svd(motion)[0][:, :rank]
        found = np.linalg.eigh(mobility[6 * i : 6 * i + 6, 6 * i : 6 * i + 6])[1][:, -rank:]
        worst = max(worst, float(np.abs(found @ found.T - wanted @ wanted.T).max()))
    return worst


def dynamics(ref, robot, text):
    text = without(text, "limits", "friction", "motors", "constraints", "colliders", "ignore")
    out, count = {"joints": len(ref.dof)}, len(ref.independent)
    for held in (True, False) if ref.base else (True,):
        sim = simulation(robot, text)
        order = [coordinates(ref, sim.model)[n] for n in ref.independent]
        if held:
            out["mass"] = mass(ref, sim)
        if held and ref.base:
            sim.body(ref.base).hold()
        ref.set_velocities(False)
        matrix, gravity = ref.mass_and_bias(held)
        theirs = matrix if held else np.linalg.inv(np.linalg.inv(matrix)[:count, :count])
        scale = np.sqrt(np.outer(np.diag(theirs), np.diag(theirs)))
        found = [float((np.abs(sim.joint_mass_matrix(order) - theirs) / scale).max())]
        if held:
            out["axes"] = axes(ref, sim)
            out["gravity"] = relative(sim.inverse_dynamics(np.zeros(count), order), gravity)
        ref.set_velocities(True)
        bias = ref.mass_and_bias(held)[1]
        set_velocities(ref, sim)
        rates = relative(sim.qd, np.array([ref.velocities[ref.dof[n]] for n in joints_of(ref, sim)]))
        if held:
            found_bias = relative(sim.inverse_dynamics(np.zeros(count), order), bias)
            out["velocities"] = max(rates, found_bias)
        else:
            accelerations = np.linalg.solve(matrix, -bias)[:count]
            found.append(relative(sim.joint_accelerations(order), accelerations))
        out["mass matrix" if held else "floating"] = max(found)
    return out


def joints_of(ref, sim):
    """The joints of the file in the order of the coordinates of a simulation."""
    by_coordinate = {c: n for n, c in coordinates(ref, sim.model).items()}
    return [by_coordinate[c] for c in sim.model.coordinates]


def fall(ref, robot, text):
    keys = ["limits", "friction", "motors", "constraints", "colliders", "ignore"] + ["dampers"] * robot.undamped
    # The fourth-order method takes no inertias of drives.
    drives = "\n    masses: [" in text
    method = "step: 0.0005" if drives else "step: 0.001, integrator: Rattle4"
    sim = simulation(robot, without(text, *keys), f"duration: {DURATION}, {method}")
    set_velocities(ref, sim)
    sim.run()
    end, coarse = (ref.fall(step, not robot.undamped) for step in (5e-5, 1e-4))
    places = [ref.place[n] for n in joints_of(ref, sim)]
    errors = [np.abs(sim.q - (end.qpos - ref.model.qpos0)[places]).max()]
    unsure = np.abs(end.qpos - coarse.qpos).max()
    if ref.base:
        base = sim.body(ref.base)
        errors.append(np.abs(base.position - centre(ref.model, end, ref.model.body(ref.base).id)).max())
        turned = np.zeros(9)
        mujoco.mju_quat2Mat(turned, base.orientation)
        errors.append(np.abs(turned - end.xmat[ref.model.body(ref.base).id]).max())
    return {"fall": float(max(errors)), "reference": float(unsure)}


def centre(model, data, body):
    """The centre of mass of a body with what is welded on."""
    parts = [b for b in range(model.nbody) if owner(model, b) == body]
    return model.body_mass[parts] @ data.xipos[parts] / model.body_mass[parts].sum()


def stiff(pose):
    """MuJoCo's model of a robot on the ground, with stiff contacts, limits and motors."""
    spec, odd, _ = specification(pose.robot, shapes=True)
    if pose.robot.path.endswith(".urdf"):
        for geom in spec.geoms:
            geom.contype, geom.conaffinity = 1, 2
        spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_PLANE, size=[9, 9, 1], contype=2, conaffinity=1)
    for joint in spec.joints:
        joint.solref_limit, joint.solimp_limit, joint.margin = STIFF, SHARE, 0
    for geom in spec.geoms:
        geom.solref, geom.solimp, geom.margin = STIFF, SHARE, 0
    while spec.actuators:
        spec.delete(spec.actuators[0])
    for name in pose.start if pose.stands else ():
        spec.add_actuator(name=name, target=name, trntype=mujoco.mjtTrn.mjTRN_JOINT).set_to_position(kp=1e5, kv=1e3)
    model = compiled(spec, odd)
    model.opt.timestep = 2e-4
    model.opt.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    model.opt.cone = mujoco.mjtCone.mjCONE_ELLIPTIC
    model.opt.solver = mujoco.mjtSolver.mjSOL_NEWTON
    model.opt.impratio, model.opt.iterations, model.opt.tolerance = 10, 100, 1e-12
    return model


def above_ground(model, data):
    """The height (m) of the lowest point of the robot."""
    planes = [g for g in range(model.ngeom) if model.geom_type[g] == mujoco.mjtGeom.mjGEOM_PLANE]
    others = [g for g in range(model.ngeom) if owner(model, model.geom_bodyid[g]) and model.geom_contype[g]]
    return min(mujoco.mj_geomDistance(model, data, planes[0], g, 10, None) for g in others)


def rest(pose, duration=3.0):
    model = stiff(pose)
    data = mujoco.MjData(model)
    for name, value in pose.start.items():
        data.qpos[model.joint(name).qposadr] = value
        if pose.stands:
            data.ctrl[model.actuator(name).id] = value
    mujoco.mj_forward(model, data)
    drop = above_ground(model, data) - 1e-3
    data.qpos[2] -= drop

    text = imported(pose.robot, start=pose.start, ground=pose.robot.path.endswith(".urdf"))
    text = re.sub(r"// (motors: \[Position.*?\],)", r"\1", text) if pose.stands else without(text, "motors")
    sim = simulation(pose.robot, text, f"duration: {duration}, step: 0.002")
    nodes = [n for n in sim.model.bodies if sim.node(n).is_independent]
    for name in nodes:
        body = sim.body(name)
        body.position = body.position - [0, 0, drop]
    sim.run()
    mujoco.mj_step(model, data, round(duration / model.opt.timestep))
    mujoco.mj_forward(model, data)
    named = [n for n in nodes if mujoco.mj_name2id(model, BODY, n) > 0]
    errors = [np.abs(sim.body(n).position - centre(model, data, model.body(n).id)).max() for n in named]
    speeds = [np.abs(sim.body(n).velocity).max() for n in named] + [np.abs(data.qvel).max()]
    return {"rest": float(max(errors)), "speed": float(max(speeds))}


BOUNDS = {
    **dict.fromkeys(("mass", "axes", "mass matrix", "gravity", "velocities", "floating"), DYNAMICS),
    "fall": FALL,
    "reference": FALL / 10,
    "rest": REST,
    "speed": STILL,
}


def compare(robot):
    ref = Reference(robot)
    text = imported(robot, start=ref.start)
    out = {**dynamics(ref, robot, text), **fall(ref, robot, text)}
    if robot.name in POSES:
        out |= rest(POSES[robot.name])
    return out


def main():
    wanted = sys.argv[1:]
    if unknown := set(wanted) - {r.name for r in ROBOTS}:
        sys.exit(f"no robots: {sorted(unknown)}; there are {[r.name for r in ROBOTS]}")
    columns = ["joints", *BOUNDS]
    print("| robot | " + " | ".join(columns) + " |\n" + "|---" * (1 + len(columns)) + "|")
    exceeded = []
    for robot in ROBOTS:
        if wanted and robot.name not in wanted:
            continue
        out = compare(robot)
        show = [f"{x:.0e}" if isinstance(x := out.get(c, ""), float) else str(x) for c in columns]
        print(f"| {robot.name} | " + " | ".join(show) + " |", flush=True)
        exceeded += [f"{robot.name}: {c} {out[c]:.1e} above {b}" for c, b in BOUNDS.items() if not out.get(c, 0) <= b]
    print(*exceeded, sep="\n", end="\n" if exceeded else "")
    return 1 if exceeded else 0


if __name__ == "__main__":
    sys.exit(main())
