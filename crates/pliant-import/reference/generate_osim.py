"""Numbers of OpenSim for the models of the tests: `tests/it/osim.json`.

Usage: python generate_osim.py
Needs the packages opensim (4.6) and numpy; `osim.py` beside it, but not Pliant.

Each model is at its own start, with its speeds: places and rotations of the bodies; accelerations of coordinates by
gravity and velocities alone, and with each force of the model switched on by itself (actuators with a control of one);
the inverse of the mass matrix over coordinates that are free; half a second of falling without forces. Of paths that
wrap there are lengths over the range of a coordinate.
"""

import json
from pathlib import Path

import numpy as np
import opensim

import osim

HERE = Path(__file__).resolve().parent
MODELS = HERE.parent / "tests" / "models"
# Forces to switch on, by model.
FORCES = {
    "leg.osim": ["knee_stop", "ankle_drive"],
    "arm.osim": ["elbow_spring", "turn_spring", "band", "push", "turn_drive", "twist", "jet", "cord"],
}
SPLINES = [
    ([-2.1, -1.5, -0.9, -0.3, 0.1, 0.4], [-0.003, 0.003, 0.0035, -0.001, -0.005, -0.0055]),
    ([-1.0, 0.5, 2.0], [0.3, -0.2, 0.9]),
    ([0.0, 0.2, 1.0, 1.1], [1.0, 0.0, 0.5, 2.0]),
]


def numbers(vector):
    return [vector.get(i) for i in range(3)]


def bodies(model, state):
    model.realizePosition(state)
    out = {}
    for body in (model.getBodySet().get(i) for i in range(model.getBodySet().getSize())):
        at = body.getTransformInGround(state)
        centre = body.findStationLocationInGround(state, body.getMassCenter())
        rotation = [at.R().get(i, j) for i in range(3) for j in range(3)]
        out[body.getName()] = {"origin": numbers(at.p()), "centre": numbers(centre), "rotation": rotation}
    return out


def with_force(path, name, moving):
    """Accelerations with one force."""
    ref = osim.Reference(path, moving=moving, force=name)
    return dict(zip(ref.free, ref.accelerations(ref.free)))


def case(file):
    path = MODELS / file
    ref = osim.Reference(path, moving=True)
    out = {"file": file, "bodies": bodies(ref.model, ref.state), "free": ref.free}
    out["accelerations"] = dict(zip(ref.free, ref.accelerations(ref.free)))
    out["mobility"] = list(np.linalg.inv(ref.mass_matrix(ref.free)).ravel())
    out["forces"] = {name: with_force(path, name, True) for name in FORCES[file]}
    end = ref.fall()
    out["end"] = bodies(ref.model, end)
    return out


def spline(x, y):
    function = opensim.SimmSpline()
    for a, b in zip(x, y):
        function.addPoint(a, b)
    places = np.linspace(x[0] - 0.5, x[-1] + 0.5, 9)
    values = [function.calcValue(opensim.Vector(1, p)) for p in places]
    return {"x": x, "y": y, "places": list(places), "values": values}


def wraps():
    """Lengths of the paths of `wraps.osim`."""
    model = opensim.Model(str(MODELS / "wraps.osim"))
    state = model.initSystem()
    elbow = model.getCoordinateSet().get("elbow")
    out = []
    for angle in np.linspace(-0.95, 2.05, 16):
        elbow.setValue(state, angle)
        model.realizePosition(state)
        lengths = {}
        for name in ["over_cylinder", "over_ball", "over_tilted", "triceps"]:
            path = opensim.PathActuator.safeDownCast(model.getForceSet().get(name)).getGeometryPath()
            lengths[name] = path.getLength(state)
        out.append({"elbow": angle, "lengths": lengths})
    return out


def main():
    out = {"opensim": opensim.GetVersion(), "duration": osim.DURATION}
    out["cases"] = [case(file) for file in FORCES]
    out["splines"] = [spline(*s) for s in SPLINES]
    out["wraps"] = wraps()
    text = json.dumps(out, indent=1, default=float)
    (HERE.parent / "tests" / "it" / "osim.json").write_text(text + "\n")


if __name__ == "__main__":
    main()
