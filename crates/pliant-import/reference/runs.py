"""Runs of imported robots as they are: limits, contacts and dry friction, without control.

The MJCF models of dm_control and Gymnasium run for two seconds, legged robots of example-robot-data after a drop from
1.2 m. Each is one line: its exit code, the seconds that the run took, and its error; the script fails if one fails or
takes longer than PATIENCE.

Usage: python runs.py PLIANT [NAME...]
PLIANT is the program; NAME a part of the name of a file. Needs the packages dm-control, gymnasium and
example-robot-data in the same environment.
"""

import subprocess
import sys
import sysconfig
import tempfile
import time
from pathlib import Path

# Seconds that a run may take.
PATIENCE = 90

PACKAGES = Path(sysconfig.get_path("purelib"))
ROBOTS = PACKAGES / "cmeel.prefix/share/example-robot-data/robots"
MODELS = ["dm_control/suite/*.xml", "gymnasium/envs/mujoco/assets/*.xml"]
LEGGED = [
    "go1_description/urdf/go1.urdf",
    "anymal_b_simple_description/robots/anymal.urdf",
    "anymal_c_simple_description/urdf/anymal.urdf",
    "solo_description/robots/solo12.urdf",
    "hyq_description/robots/hyq_no_sensors.urdf",
    "a1_description/urdf/a1.urdf",
    "b1_description/urdf/b1.urdf",
    "laikago_description/urdf/laikago.urdf",
    "bolt_description/robots/bolt.urdf",
    "g1_description/urdf/g1_29dof_rev_1_0.urdf",
]


def robots():
    """Each file with the options of its import."""
    for pattern in MODELS:
        for path in sorted(PACKAGES.glob(pattern)):
            yield path, []
    for path in LEGGED:
        yield ROBOTS / path, ["--floating", "--ground", "--at", "0,0,1.2"]


def run(program, path, options, folder):
    """Exit code (None if it takes too long), seconds, and error of a run of two seconds."""
    scene = folder / "robot.ron"
    command = [program, "import", path, "-o", scene, "--force", "--quiet", *options]
    subprocess.run(command, check=True, capture_output=True)
    command = [program, "run", scene, "--duration", "2", "--allow-outside", "/", "--out", folder / "out"]
    start = time.monotonic()
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        return None, PATIENCE, f"takes more than {PATIENCE} s"
    errors = [line for line in done.stderr.splitlines() if line.startswith("error")]
    return done.returncode, time.monotonic() - start, " ".join(errors)


def main():
    program, *names = sys.argv[1:]
    bad = 0
    for path, options in robots():
        if names and not any(name in path.stem for name in names):
            continue
        with tempfile.TemporaryDirectory() as folder:
            code, seconds, error = run(program, path, options, Path(folder))
        print(f"{path.parent.name + '/' + path.stem:50} {code!s:5} {seconds:6.1f} s  {error}", flush=True)
        bad += code != 0
    print(f"{bad} of them failed")
    return bad > 0


if __name__ == "__main__":
    sys.exit(main())
