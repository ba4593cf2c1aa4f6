"""Comparison of OpenSim models with OpenSim itself: dynamics along their coordinates, and falling.

Each model is read by both programs: as it is, at its own start; and as OpenSim writes it in its newest format, with
coordinates that are drawn within their ranges and velocities. Switched off in OpenSim are forces but gravity; of the scene, limits,
springs, motors, forces, contacts.

Rotations of bodies; the mass matrix over coordinates that are free (those that are locked stand still, those that
are coupled to others follow, a body with six of its own floats), entries relative to the geometric mean of the two
diagonal ones; accelerations relative to the largest. Then half a second of falling: OpenSim with its integrator's
accuracy at 1e-9, Pliant with its method of fourth order at 0.5 ms.

Usage: python osim.py FILE.osim...
Needs the packages pliant, opensim (4.6) and numpy in one environment. Exit code 1 if a bound is exceeded.
"""

import re
import sys
import tempfile
import warnings
from pathlib import Path

import numpy as np
import opensim

opensim.Logger.setLevelString("error")
opensim.Logger.removeFileSink()

try:
    import pliant
except ImportError:  # Numbers of OpenSim alone need no other program.
    pliant = None

DURATION = 0.5
BOUNDS = {
    "rotation": 1e-10,
    "mass matrix": 1e-8,
    "gravity": 1e-8,
    "velocities": 1e-7,
    "fall": 1e-5,
}


class Reference:
    """OpenSim's side of a model: at its own start, at rest or `moving`; or at random coordinates and velocities.

    `force` is the name of the one that is switched on, with a control of one.
    """

    def __init__(self, path, seed=None, moving=False, force=None):
        self.model = model = opensim.Model(str(path))
        for i in range(model.getForceSet().getSize()):
            model.updForceSet().get(i).set_appliesForce(model.getForceSet().get(i).getName() == force)
        self.state = model.initSystem()
        self.controls = None
        if force and (actuator := opensim.ScalarActuator.safeDownCast(model.getForceSet().get(force))):
            self.controls = opensim.Vector(model.getNumControls(), 0.0)
            actuator.setControls(opensim.Vector(1, 1.0), self.controls)
        coordinates = model.getCoordinateSet()
        self.coordinates = {c.getName(): c for c in (coordinates.get(i) for i in range(coordinates.getSize()))}
        self.locked = {n for n, c in self.coordinates.items() if c.getDefaultLocked()}
        self.couplers = {}
        for i in range(model.getConstraintSet().getSize()):
            coupler = opensim.CoordinateCouplerConstraint.safeDownCast(model.getConstraintSet().get(i))
            if coupler and coupler.get_isEnforced():
                leader = coupler.getIndependentCoordinateNames().get(0)
                self.couplers[coupler.getDependentCoordinateName()] = (leader, coupler)
        self.free = [n for n in self.coordinates if n not in self.locked and n not in self.couplers]
        self.moving = moving or seed is not None
        random = np.random.default_rng(seed)
        self.start = {n: self.coordinates[n].getDefaultValue() for n in self.free}
        self.speeds = {n: self.coordinates[n].getDefaultSpeedValue() if moving else 0.0 for n in self.free}
        for n in self.free if seed is not None else ():
            c = self.coordinates[n]
            low, high = max(c.getRangeMin(), -1.2), min(c.getRangeMax(), 1.2)
            self.start[n] = round(random.uniform(0.8 * low + 0.2 * high, 0.2 * low + 0.8 * high), 4)
            self.speeds[n] = round(random.uniform(-1, 1), 4)
        self.set(self.state)

    def law(self, coupler, x):
        """Value and slope of a coupler."""
        function, at = coupler.getFunction(), opensim.Vector(1, x)
        derivative = opensim.StdVectorInt()
        derivative.push_back(0)
        factor = opensim.PropertyHelper.getValueDouble(coupler.getPropertyByName("scale_factor"))
        return factor * function.calcValue(at), factor * function.calcDerivative(derivative, at)

    def values(self):
        """Values, and rates by a unit rate of each free coordinate."""
        values = {n: self.coordinates[n].getDefaultValue() for n in self.locked} | self.start
        rates = {n: {} for n in self.locked} | {n: {n: 1.0} for n in self.free}
        left = dict(self.couplers)
        while left:
            for n, (leader, coupler) in list(left.items()):
                if leader in values:
                    values[n], slope = self.law(coupler, values[leader])
                    rates[n] = {k: slope * r for k, r in rates[leader].items()}
                    del left[n]
        return values, rates

    def set(self, state):
        values, rates = self.values()
        for n, c in self.coordinates.items():
            if n not in self.locked:
                c.setValue(state, values[n], False)
                speed = sum(r * self.speeds[k] for k, r in rates[n].items())
                c.setSpeedValue(state, speed)
        if self.controls:
            self.model.realizeVelocity(state)
            self.model.setControls(state, self.controls)
        self.model.realizeAcceleration(state)

    def write(self, path):
        """The model in the newest format, with values and speeds as defaults."""
        values, rates = self.values()
        for n, c in self.coordinates.items():
            if n in self.locked:
                continue
            c.setDefaultValue(values[n])
            c.setDefaultSpeedValue(sum(r * self.speeds[k] for k, r in rates[n].items()))
        self.model.printToXML(str(path))

    def places(self):
        """The number of each coordinate among velocities."""
        state = opensim.State(self.state)
        for i, c in enumerate(self.coordinates.values()):
            if c.getName() not in self.locked:
                c.setSpeedValue(state, i + 1.0)
        found = [round(state.getU().get(i)) for i in range(state.getNU())]
        return {n: found.index(i + 1) for i, n in enumerate(self.coordinates) if n not in self.locked}

    def mass_matrix(self, names):
        """Over some free coordinates, the others being free to move."""
        nu = self.state.getNU()
        full = opensim.Matrix(nu, nu)
        self.model.getMatterSubsystem().calcM(self.state, full)
        full = np.array([[full.get(i, j) for j in range(nu)] for i in range(nu)])
        basis = np.zeros((nu, len(self.free)))
        _, rates = self.values()
        for n, place in self.places().items():
            for k, r in rates[n].items():
                basis[place, self.free.index(k)] = r
        own = [self.free.index(n) for n in names]
        return np.linalg.inv(np.linalg.inv(basis.T @ full @ basis)[np.ix_(own, own)])

    def accelerations(self, names):
        self.set(self.state)
        return np.array([self.coordinates[n].getAccelerationValue(self.state) for n in names])

    def fall(self):
        state = opensim.State(self.state)
        self.set(state)
        # States end with their manager.
        self.manager = opensim.Manager(self.model)
        self.manager.setIntegratorAccuracy(1e-9)
        self.manager.initialize(state)
        return opensim.State(self.manager.integrate(DURATION))

    def rotations(self, state):
        self.model.realizePosition(state)
        bodies = self.model.getBodySet()
        out = {}
        for body in (bodies.get(i) for i in range(bodies.getSize())):
            r = body.getTransformInGround(state).R()
            out[body.getName()] = np.array([[r.get(i, j) for j in range(3)] for i in range(3)])
        return out


def plain(text, run):
    """A scene with inertia, joints and rows alone."""
    for key in ("limits", "springs", "dampers", "motors", "friction"):
        text = re.sub(rf"\n +{key}: \[.*\],(?=\n)", "", text)
    for key in ("colliders", "ignore", "force_fields", "materials"):
        text = re.sub(rf"\n    {key}: \[\n(?:        .*\n)*    \],\n", "\n", text)
    return re.sub(r"run: \(.*\),", f"run: ({run}),", text)


def simulation(text, run="duration: 0.5, step: 0.001"):
    return pliant.Simulation(pliant.Model.from_string(plain(text, run)))


def imported(path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return pliant.Model.from_robot(path).text


PARTS = {"travel": 0, "first_angle": 0, "second_angle": 1, "third_angle": 2, "x": 0, "y": 1}


def coordinates(ref, sim):
    """The coordinate of the scene for each free one of the file that has one."""
    out = {}
    for coordinate in sim.model.coordinates:
        joint, _, part = coordinate.rpartition(".")
        names = joint.split("+")
        # Alone in a planar joint is the angle; what slides follows it.
        place = PARTS.get(part, -1)
        if len(names) > place and (part not in ("x", "y") or len(names) == 3) and names[place] in ref.start:
            out[names[place]] = coordinate
    return out


def rotation_of(sim, name):
    w, x, y, z = sim.node(name).orientations[0]
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
            [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
            [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
        ]
    )


def worst_rotation(ref, sim, state):
    worst, nodes = 0.0, set(sim.model.nodes)
    for name, wanted in ref.rotations(state).items():
        if name in nodes:
            worst = max(worst, float(np.abs(rotation_of(sim, name) - wanted).max()))
    return worst


def relative(ours, theirs):
    # What floats at rest has no accelerations against itself: those count by 1 m/s^2 or rad/s^2.
    return float(np.abs(ours - theirs).max() / max(1.0, np.abs(theirs).max()))


def scales(text, names):
    """How many times those of the file coordinates of the scene are."""
    told = dict(re.findall(r"the coordinate `(.*?)` of the scene is (\S+) times", text))
    return np.array([float(told.get(n, 1)) for n in names])


def dynamics(ref, text):
    sim = simulation(text)
    found = coordinates(ref, sim)
    names = list(found)
    times = scales(text, names)
    order = [found[n] for n in names]
    theirs = ref.accelerations(names)
    out = {"velocities" if ref.moving else "gravity": relative(sim.joint_accelerations(order) / times, theirs)}
    out["rotation"] = worst_rotation(ref, sim, ref.state)
    matrix = ref.mass_matrix(names)
    scale = np.sqrt(np.outer(np.diag(matrix), np.diag(matrix)))
    out["mass matrix"] = float((np.abs(sim.joint_mass_matrix(order) * np.outer(times, times) - matrix) / scale).max())
    out["coordinates"] = len(names)
    return out


def fall(ref, text):
    sim = simulation(text, f"duration: {DURATION}, step: 0.0005, integrator: Rattle4")
    found = coordinates(ref, sim)
    sim.run()
    end = ref.fall()
    ours = dict(zip(sim.model.coordinates, sim.q))
    times = dict(zip(found, scales(text, found)))
    errors = [abs(ours[c] / times[n] - ref.coordinates[n].getValue(end)) for n, c in found.items()]
    return max(*errors, worst_rotation(ref, sim, end))


def compare(path):
    ref = Reference(path)
    text = imported(path)
    out = {**dynamics(ref, text), "fall": fall(ref, text)}
    ref = Reference(path, seed=1)
    with tempfile.TemporaryDirectory() as folder:
        written = Path(folder) / "written.osim"
        ref.write(written)
        text = imported(written)
    for key, value in {**dynamics(ref, text), "fall": fall(ref, text)}.items():
        out[key] = max(value, out.get(key, value))
    return out


def main():
    columns = ["coordinates", *BOUNDS]
    print("| model | " + " | ".join(columns) + " |\n" + "|---" * (1 + len(columns)) + "|")
    exceeded = []
    for path in map(Path, sys.argv[1:]):
        out = compare(path)
        show = [f"{x:.0e}" if isinstance(x := out.get(c, ""), float) else str(x) for c in columns]
        print(f"| {path.name} | " + " | ".join(show) + " |", flush=True)
        exceeded += [f"{path.name}: {c} {out[c]:.1e} above {b}" for c, b in BOUNDS.items() if not out.get(c, 0) <= b]
    print(*exceeded, sep="\n", end="\n" if exceeded else "")
    return 1 if exceeded else 0


if __name__ == "__main__":
    sys.exit(main())
