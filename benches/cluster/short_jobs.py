"""Short jobs, a second of a cart and pole: processes of `pliant sweep` against one `Batch`, and what a job is made of.

    python benches/cluster/short_jobs.py --program target/release/pliant
"""

import argparse
import runpy
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from time import perf_counter

import numpy as np

import pliant

EXAMPLE = Path(__file__).resolve().parents[2] / "python" / "examples" / "cart_pole.py"
JOBS = 200


def seconds(work: Callable[[], object]) -> float:
    """Time of the clock that something takes (s)."""
    start = perf_counter()
    work()
    return perf_counter() - start


def main() -> None:
    """Print jobs per second, and the parts of a job."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", default="pliant")
    parser.add_argument("-j", type=int, default=2)
    arguments = parser.parse_args()
    program = str(Path(arguments.program).resolve())
    text = runpy.run_path(str(EXAMPLE))["CartPole"]().model.text
    model = pliant.Model.from_string(text, "json" if text.lstrip().startswith("{") else "ron", duration=1.0)
    angles = {"angle": np.linspace(-0.1, 0.1, JOBS)}
    with tempfile.TemporaryDirectory() as folder:
        scene = Path(folder) / ("cart_pole.json" if text.lstrip().startswith("{") else "cart_pole.ron")
        scene.write_text(text, encoding="utf-8")

        def call(*words: str) -> None:
            subprocess.run([program, *words], check=True, cwd=folder, stdout=subprocess.DEVNULL)

        sweep = ["sweep", scene.name, "--set", f"angle=linspace(-0.1,0.1,{JOBS})", "--duration", "1", "--quiet"]
        found = seconds(lambda: call(*sweep, "-j", str(arguments.j)))
        print(f"pliant sweep -j {arguments.j}: {JOBS / found:.0f} jobs/s")
        found = seconds(lambda: pliant.Batch(model, JOBS, parameters=angles, threads=arguments.j).run())
        print(f"one batch on {arguments.j} threads, which writes nothing: {JOBS / found:.0f} jobs/s")
        run = ["run", scene.name, "--duration", "1", "--quiet"]
        parts = {
            "the process alone": ["--version"],
            "a run without files": [*run, "--no-files"],
            "a run with its result": [*run, "--only-result", "--out", "out"],
        }
        for name, words in parts.items():
            found = min(seconds(lambda words=words: call(*words)) for _ in range(30))  # type: ignore[misc]
            print(f"{name}: {1e3 * found:.1f} ms, the least of 30")


if __name__ == "__main__":
    main()
