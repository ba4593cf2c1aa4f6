"""Jobs per second of a sweep on Ray, on a local cluster of two nodes, against `pliant sweep -j 2`.

    python benches/cluster/ray_sweep.py --program target/release/pliant

from the root of the repository, by a Python that has the extra `pliant[ray]`. The sweep has 500
jobs. It is run by the program, on two nodes of one core each, and on two such nodes of which one
is killed by its process when half of the results are there. All tables must be the same bytes.
"""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]


def results(place: Path) -> list[float]:
    """Times at which the results of a sweep came, in order."""
    return sorted(path.stat().st_mtime for path in place.glob("jobs/*/result.json"))


def told(name: str, seconds: float, place: Path) -> None:
    """Print the jobs per second of the whole call, and of the middle half of the jobs."""
    came = results(place)
    quarter = len(came) // 4
    middle = (len(came) - 2 * quarter) / (came[-quarter] - came[quarter])
    print(f"{name}: {len(came)} jobs in {seconds:.2f} s, {len(came) / seconds:.1f} jobs/s; the middle half {middle:.1f} jobs/s")


def on_ray(manifest: Path, kills: bool) -> float:
    """Seconds of a sweep on a cluster that has started; one of its two nodes is killed midway."""
    from ray.cluster_utils import Cluster

    options: dict[str, Any] = {"num_cpus": 1, "object_store_memory": 100 << 20}
    cluster: Any = Cluster(initialize_head=True, head_node_args={**options, "include_dashboard": False})
    node = cluster.add_node(**options)
    cluster.wait_for_nodes()
    start = time.perf_counter()
    command = [sys.executable, "-m", "pliant.ray", str(manifest), "--address", cluster.address, "--quiet"]
    driver = subprocess.Popen(command, cwd=manifest.parent)
    if kills:
        while len(results(manifest.parent)) < 250:
            time.sleep(0.01)
        pid = node.all_processes["raylet"][0].process.pid
        os.kill(pid, signal.SIGKILL)
        print(f"the node with the process {pid} was killed at {len(results(manifest.parent))} results")
    code = driver.wait()
    seconds = time.perf_counter() - start
    cluster.shutdown()
    if code != 0:
        sys.exit(f"the sweep ended with {code}")
    return seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--program", required=True, help="the program pliant")
    parser.add_argument("--duration", default="5", help="simulated seconds of a job [default: 5]")
    given = parser.parse_args()
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        shutil.copy(ROOT / "scenes/double_pendulum.ron", place / "scene.ron")
        sweep = [str(Path(given.program).resolve()), "sweep", "scene.ron", "--duration", given.duration]
        sweep += ["--set", "theta1=linspace(0.1,1.5,500)"]
        start = time.perf_counter()
        subprocess.run([*sweep, "-j", "2", "--out", "local", "--quiet"], cwd=place, check=True)
        told("pliant sweep -j 2", time.perf_counter() - start, place / "local")
        table = (place / "local/table.csv").read_bytes()
        for name, kills in (("two nodes", False), ("two nodes, one killed", True)):
            manifest = place / name.replace(" ", "-") / "manifest.json"
            manifest.parent.mkdir()
            with manifest.open("wb") as out:
                subprocess.run([*sweep, "--out", manifest.parent.name, "--dry-run"], cwd=place, check=True, stdout=out)
            told(name, on_ray(manifest, kills), manifest.parent)
            same = (manifest.parent / "table.csv").read_bytes() == table
            print("its table is that of the program, to the byte" if same else "ITS TABLE DIFFERS")
            if not same:
                sys.exit(1)


if __name__ == "__main__":
    main()
