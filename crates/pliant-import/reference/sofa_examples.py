"""Imports and runs the example scenes of SOFA's Compliant plugin.

    git -C sofa checkout v16.12
    python crates/pliant-import/reference/sofa_examples.py target/release/pliant sofa

The second argument is a clone of SOFA's repository, or any directory with `.scn` files below. Each
scene is imported
and run as it is written: for two seconds, or ten steps where a step is longer than 0.2 s. A line
says the exit codes of both, the time that the run took, degrees of freedom and remarks other than
those of every scene; then come the components that were not taken, and in how many scenes. Exit
code 1 if a scene was not imported, or ended in an error.
"""

import collections
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import time

# Remarks that say nothing about the motion.
USUAL = ("what is for display", "plugins, loops", "interaction by mouse", "solvers and their options")
# The longest run (s).
LONGEST = 600


def run(arguments):
    begin = time.time()
    try:
        done = subprocess.run(arguments, capture_output=True, text=True, timeout=LONGEST)
        code, text = done.returncode, done.stdout + done.stderr
    except subprocess.TimeoutExpired:
        code, text = "time", ""
    return code, text, time.time() - begin


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    program, top = sys.argv[1], pathlib.Path(sys.argv[2])
    inner = top / "applications/plugins/Compliant/examples"
    scenes = sorted((inner if inner.is_dir() else top).rglob("*.scn"))
    lost, bad = collections.Counter(), 0
    with tempfile.TemporaryDirectory() as directory:
        for number, scene in enumerate(scenes):
            out = pathlib.Path(directory) / f"{number}.ron"
            code, text, _ = run([program, "import", scene, "-o", out])
            remarks = [line[8:] for line in text.splitlines() if line.startswith("remark: ")]
            remarks = [r for r in remarks if not r.startswith(USUAL)]
            lost.update({re.sub(r"(, \d+ times)? \([^()]*\)$", "", r) for r in remarks})
            outside = re.findall(r"--allow-outside \S+", text)
            outside = [word for pair in outside for word in pair.split(" ", 1)]
            ran, told, seconds, dofs = "-", "", 0.0, "-"
            if code == 0:
                results = pathlib.Path(directory) / str(number)
                ran, told, seconds = run([program, "run", out, "--only-result", "--out", results, *outside])
                result = results / "result.json"
                if result.is_file():
                    dofs = json.loads(result.read_text())["sizes"]["dofs"]
            bad += code != 0 or ran != 0
            name = scene.relative_to(inner if inner.is_dir() else top)
            print(f"{str(name):58} import {code}, run {ran} in {seconds:5.1f} s, {dofs} dofs", flush=True)
            for line in remarks:
                print(f"    {line}")
            for line in [line for line in told.splitlines() if line.startswith("error")][:1]:
                print(f"    {line}")
    print(f"\n{len(scenes)} scenes, {len(scenes) - bad} imported and run. Remarks, and in how many scenes:")
    for remark, count in lost.most_common():
        print(f"{count:4} {remark}")
    sys.exit(bad > 0)


if __name__ == "__main__":
    main()
