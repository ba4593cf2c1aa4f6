"""Sweeps on Ray: the table of the local sweep, to the byte, whatever becomes of nodes."""

from __future__ import annotations

import json
import logging
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import SCENES

import pliant
from pliant import ray as cluster

#: A mass on a rod, and a second rod that fits for one value of `rest`.
RODS = """(
    parameters: {"rest": 1, "mass": 1, "duration": 0.2},
    gravity: (0, -9.81, 0), run: (duration: "$duration"), nodes: [
    Particles(name: "bob", positions: [(1, 0, 0)], mass: "$mass"),
    Mapped(name: "rods", parents: ["bob"], mapping: Distance(pairs: [(0, (0, 0, 0)), (0, (0, 0, 0))], rest: [1, "$rest"])),
], constraints: [(name: "hard", on: "rods")])"""

#: Jobs that go through, that do not converge and that are refused.
MIXED = ("--set", "rest=1,1.1", "--set", "mass=1,-1,2.5")

Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def run(program: str, tmp_path: Path) -> Run:
    """Call of the program in the folder of the test."""

    def call(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([program, *arguments], cwd=tmp_path, capture_output=True, text=True, timeout=300)

    return call


@pytest.fixture
def planned(run: Run, tmp_path: Path) -> Callable[..., Path]:
    """Manifest of a sweep that was not run."""

    def plan(*arguments: str, name: str = "plan", scene: str = RODS) -> Path:
        (tmp_path / "rods.ron").write_text(scene)
        printed = run("sweep", "rods.ron", *arguments, "--out", name, "--dry-run")
        assert printed.returncode == 0, printed.stderr
        (tmp_path / name).mkdir()
        manifest = tmp_path / name / "manifest.json"
        manifest.write_text(printed.stdout)
        return manifest

    return plan


def changed(manifest: Path, change: Callable[[dict[str, Any]], object]) -> Path:
    """The same manifest with a change."""
    plan = json.loads(manifest.read_text())
    change(plan)
    manifest.write_text(json.dumps(plan))
    return manifest


def test_manifests_that_are_none_are_told_by_key_and_job(planned: Callable[..., Path]) -> None:
    manifest = planned(*MIXED)
    whole = manifest.read_text()
    cases: list[tuple[Callable[[dict[str, Any]], object], str]] = [
        (lambda plan: plan.pop("jobs"), "missing field `jobs`"),
        (lambda plan: plan["jobs"][1].update(programm="x"), "unknown field `programm`"),
        (lambda plan: plan.update(format="pliant-sweep-9"), "the format is `pliant-sweep-9`"),
        (lambda plan: plan["jobs"][1].update(program="sh"), "job `0002` is of the program `sh`"),
        (lambda plan: plan["jobs"][1].update(directory="../0002"), "job `0002` must have a directory of its own"),
        (lambda plan: plan["jobs"][2]["arguments"].append("--wat"), "job `0003` has arguments that do not fit"),
        (lambda plan: plan["jobs"][2].update(arguments=["solve", "a.json"]), "job `0003` must be a `run`"),
        (lambda plan: plan["inputs"][0].update(crc32="00000000"), "rods.ron has changed since"),
    ]
    for change, words in cases:
        manifest.write_text(whole)
        with pytest.raises(pliant.SweepError, match=re.escape(words)) as told:
            cluster.sweep(changed(manifest, change))
        assert told.value.code == 2
    manifest.write_text("{")
    with pytest.raises(pliant.SweepError, match="no manifest of a sweep: EOF"):
        cluster.sweep(manifest)
    with pytest.raises(pliant.SweepError, match=r"cannot read .*none\.json"):
        cluster.sweep(manifest.with_name("none.json"))


def test_without_ray_it_is_told_what_to_install(
    planned: Callable[..., Path], monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    assert cluster.main([str(planned(*MIXED))]) == 2
    assert "the package `ray` is needed" in (told := capfd.readouterr().err) and "pliant[ray]" in told


def test_arguments_that_do_not_fit_are_refused(capfd: pytest.CaptureFixture[str]) -> None:
    for words in (["-j", "0"], ["--cpus-per-job", "nan"], ["--retries", "-1"], ["--retries", "x"], ["--wat"]):
        with pytest.raises(SystemExit) as ended:
            cluster.main(["manifest.json", *words])
        assert ended.value.code == 2
    assert "expected a whole number from 0 on" in capfd.readouterr().err


def test_a_sweep_that_is_done_needs_no_cluster(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "rods.ron").write_text(RODS)
    assert run("sweep", "rods.ron", "--set", "mass=1,2", "--out", "done").returncode == 0
    table = (tmp_path / "done/table.csv").read_bytes()
    (tmp_path / "done/table.csv").unlink()
    monkeypatch.setitem(sys.modules, "ray", None)
    assert cluster.main([str(tmp_path / "done/manifest.json")]) == 0
    assert "0 were run, 2 had results" in capfd.readouterr().out
    assert (tmp_path / "done/table.csv").read_bytes() == table


class Desk:
    """What a task asks, in this process: `get` returns what the calls have returned."""

    exceptions = type("exceptions", (), {"RayError": RuntimeError})

    def __init__(self, stopped: bool = False, kept: dict[str, bytes] | None = None) -> None:
        self.sent: list[dict[str, bytes]] = []
        answers: dict[str, Callable[..., Any]] = {
            "is_stopped": lambda: stopped,
            "kept": lambda job: kept or {},
            "keep": lambda job, files: self.sent.append(files),
        }
        for name, answer in answers.items():
            setattr(self, name, type("method", (), {"remote": staticmethod(answer)}))

    @staticmethod
    def get(value: Any) -> Any:
        return value


def task(job: dict[str, Any], manifest: Path, desk: Desk | None = None) -> tuple[Any, dict[str, bytes]]:
    """The work of a task, in this process."""
    copies = cluster._Copies.of(json.loads(manifest.read_text()), manifest.parent)
    return cluster._run(pliant.__version__, job, copies, {}, desk)


def without_times(result: bytes) -> dict[str, Any]:
    """A result but for what differs from run to run."""
    return {key: value for key, value in json.loads(result).items() if key not in ("seconds", "crc32")}


def test_a_task_has_the_files_of_the_program(planned: Callable[..., Path], program: str) -> None:
    manifest = planned(*MIXED, "--all-files")
    jobs = json.loads(manifest.read_text())["jobs"]
    before = Path.cwd()
    for job in jobs:
        failure, files = task(job, manifest)
        ran = subprocess.run([program, *job["arguments"]], cwd=manifest.parent, capture_output=True, text=True)
        there = cluster._files_in(manifest.parent / job["directory"])
        assert files.keys() == there.keys()
        for name in files.keys() - {"result.json"}:
            assert files[name] == there[name], name
        if ran.returncode == 2:
            assert failure == ("refused", ran.stderr.splitlines()[0].removeprefix("error: "))
        else:
            assert failure is None and len(files) > 2
            assert without_times(files["result.json"]) == without_times(there["result.json"])
    assert Path.cwd() == before


def test_a_task_hands_over_checkpoints_and_goes_on_from_them(
    planned: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    # So many steps that it is asked whether to stop long before the end.
    manifest = planned("--set", "duration=8000", "--checkpoint-every", "1000steps")
    job = json.loads(manifest.read_text())["jobs"][0]
    desk = Desk(stopped=True)
    monkeypatch.setattr(cluster, "_load_ray", lambda: desk)
    failure, files = task(job, manifest, desk)
    assert failure is not None and failure[0] == "interrupted"
    part = json.loads(files["result.json"])
    assert 0 < part["time"] < 8000
    assert desk.sent and desk.sent[0].keys() == {"checkpoint.pliant", "checkpoint.log"}
    # Another node goes on from what the desk has: in so short a time it would not come as far from the start.
    monkeypatch.setattr(cluster, "_FIRST_QUESTION", 0.01)
    again = Desk(stopped=True, kept={name: files[name] for name in desk.sent[0]})
    failure, files = task(job, manifest, again)
    assert failure is not None and json.loads(files["result.json"])["time"] > part["time"]


def test_nodes_of_another_version_and_without_the_folder_are_told() -> None:
    with pytest.raises(pliant.SweepError, match=r"this node has Pliant .*, but the driver has 9\.9"):
        cluster._run("9.9", {}, Path("/"), {}, None)
    with pytest.raises(pliant.SweepError, match="this node has no folder /none/such"):
        cluster._run(pliant.__version__, {}, Path("/none/such"), {}, None)


def test_copies_keep_the_ways_between_files(tmp_path: Path) -> None:
    home = tmp_path / "a/out/sweep"
    home.mkdir(parents=True)
    (tmp_path / "a/scenes").mkdir()
    (tmp_path / "a/scenes/x.ron").write_text("123456789")
    # The check value of CRC-32.
    one: dict[str, Any] = {"path": "../../scenes/x.ron", "bytes": 9, "crc32": "cbf43926"}
    jobs = [{"arguments": ["run", "x", "--allow-outside", "../../../meshes", "--allow-outside=../m"]}]
    copies = cluster._Copies.of({"inputs": [one], "jobs": jobs}, home)
    assert set(copies.files) == {"a/scenes/x.ron"} and set(copies.folders) == {"meshes", "a/out/m"}
    place = copies.unpack(tmp_path / "copy")
    assert place == tmp_path / "copy/a/out/sweep"
    assert (place / one["path"]).read_text() == "123456789" and (place / "../../../meshes").is_dir()
    with pytest.raises(pliant.SweepError, match=r"x\.ron has changed since"):
        cluster._Copies.of({"inputs": [one | {"crc32": "00000000"}], "jobs": []}, home)
    with pytest.raises(pliant.SweepError, match="absolute.*\n.*--shared-folder"):
        cluster._Copies.of({"inputs": [one | {"path": str(tmp_path / "a/scenes/x.ron")}], "jobs": []}, home)


#: A net that is read from a file.
NET = """(
    parameters: {"mass": 1, "rest": 1},
    gravity: (0, -9.81, 0), run: (duration: 0.05, step: 0.01), nodes: [
    Particles(name: "bob", positions: [(0, 0, 0)], mass: "$mass"),
], colliders: [Fixed(name: "bowl", shape: Sheet(file: "meshes/bowl.obj")), Points(node: "bob", radius: 0.01)])"""


def test_meshes_go_along_and_links_to_them_are_refused(planned: Callable[..., Path], tmp_path: Path) -> None:
    pytest.importorskip("ray", reason="the extra pliant[ray] is not installed")
    (tmp_path / "meshes").mkdir()
    mesh = tmp_path / "meshes/bowl.obj"
    mesh.write_bytes((SCENES / "meshes/bowl.obj").read_bytes())
    manifest = planned("--set", "mass=1,2", scene=NET)
    plan = json.loads(manifest.read_text())
    assert [one["path"] for one in plan["inputs"]] == ["../rods.ron", "../meshes/bowl.obj"]
    failure, files = task(plan["jobs"][0], manifest)
    assert failure is None and json.loads(files["result.json"])["status"] == "ok"
    # The copies have the file that a link leads to, but not the link.
    (tmp_path / "elsewhere.obj").write_bytes(mesh.read_bytes())
    mesh.unlink()
    mesh.symlink_to("../elsewhere.obj")
    linked = planned("--set", "mass=1,2", scene=NET, name="linked")
    with pytest.raises(pliant.SweepError, match=r"(?s)bowl\.obj.*--shared-folder"):
        cluster.sweep(linked)


def test_scenes_that_the_manifest_does_not_list_are_refused(planned: Callable[..., Path], tmp_path: Path) -> None:
    pytest.importorskip("ray", reason="the extra pliant[ray] is not installed")
    (tmp_path / "other.ron").write_text(RODS)
    other = changed(
        planned("--set", "mass=1,2"), lambda plan: plan["jobs"][0]["arguments"].__setitem__(1, "../other.ron")
    )
    with pytest.raises(pliant.SweepError, match="job `0001` reads a scene that is none of the `inputs`"):
        cluster.sweep(other)


class Nodes:
    """Nodes of one core each on this machine: one and, once it is asked for, a second one."""

    def __init__(self) -> None:
        from ray.cluster_utils import Cluster

        # Small: results are of some kilobytes.
        options = {"num_cpus": 1, "object_store_memory": 80 << 20}
        self.options = options
        # A node is dead after five questions without an answer, 3 s apart by default.
        system = {"health_check_period_ms": 1000}
        head = {**options, "include_dashboard": False, "_system_config": system}
        self.cluster: Any = Cluster(initialize_head=True, head_node_args=head)
        self.second: Any = None

    @property
    def address(self) -> str:
        return str(self.cluster.address)

    def ensure_second(self) -> None:
        if self.second is None:
            self.second = self.cluster.add_node(**self.options)

    def jobs_of_second(self) -> list[str]:
        """Jobs that run on the second node."""
        return [title for title in self.workers(self.second) if title.isdigit()]

    def has_desk(self) -> bool:
        """Whether a driver has begun on the first node."""
        return "_Desk" in self.workers(self.cluster.head_node)

    @staticmethod
    def raylet(node: Any) -> int:
        """Process of a node."""
        return int(node.all_processes["raylet"][0].process.pid)

    def workers(self, node: Any) -> list[str]:
        """What runs on a node: its processes are named by their tasks."""
        found = []
        for folder in Path("/proc").glob("[0-9]*"):
            try:
                parent = int((folder / "stat").read_text().rsplit(")", 1)[1].split()[1])
                title = (folder / "cmdline").read_text()
            except OSError:
                continue
            if parent == self.raylet(node) and (name := re.match(r"ray::(\w+)", title)):
                found.append(name[1])
        return found

    def kill_second(self) -> None:
        os.kill(self.raylet(self.second), signal.SIGKILL)
        self.second = None


@pytest.fixture(scope="module")
def nodes() -> Iterator[Nodes]:
    """A cluster."""
    pytest.importorskip("ray", reason="the extra pliant[ray] is not installed")
    if not os.path.exists("/proc/self/stat"):
        pytest.skip("looks for workers in /proc")
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    nodes = Nodes()
    yield nodes
    nodes.cluster.shutdown()


def start(nodes: Nodes, manifest: Path, *more: str) -> subprocess.Popen[str]:
    """A driver as users call it, where the sources of the package are not."""
    command = [sys.executable, "-m", "pliant.ray", str(manifest), "--address", nodes.address, *more]
    return subprocess.Popen(command, cwd=manifest.parent, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def count_results(manifest: Path) -> int:
    return len(list(manifest.parent.glob("jobs/*/result.json")))


def wait_for(condition: Callable[[], object], driver: subprocess.Popen[str], seconds: float = 120) -> None:
    until = time.monotonic() + seconds
    while not condition():
        assert driver.poll() is None, driver.communicate()
        assert time.monotonic() < until
        time.sleep(0.01)


def end(driver: subprocess.Popen[str], code: int) -> str:
    """What a driver prints until its end."""
    out, err = driver.communicate(timeout=180)
    assert driver.returncode == code, err
    return out + err


def begin(nodes: Nodes, manifest: Path, *more: str) -> subprocess.Popen[str]:
    """A driver on the first of two nodes."""
    nodes.ensure_second()
    driver = start(nodes, manifest, *more)
    wait_for(nodes.has_desk, driver)
    return driver


def test_a_node_is_killed_and_the_table_is_that_of_the_local_sweep(
    nodes: Nodes, planned: Callable[..., Path], run: Run, tmp_path: Path
) -> None:
    # Some tenths of a second each, and those that fail at once.
    values = (*MIXED, "--set", "duration=linspace(30,40,10)", "--result", "state.bob.positions.0")
    manifest = planned(*values)
    driver = begin(nodes, manifest)
    wait_for(lambda: count_results(manifest) >= 6 and nodes.jobs_of_second(), driver)
    nodes.kill_second()
    assert count_results(manifest) < 40
    told = end(driver, 6)
    assert told.startswith("sweep "), told
    assert "60 were run, 0 had results" in told and "20 ok, 40 failed" in told
    local = run("sweep", "rods.ron", *values, "--out", "local", "-j", "2")
    assert local.returncode == 6
    table = (tmp_path / "local/table.csv").read_bytes()
    assert (manifest.parent / "table.csv").read_bytes() == table
    # To the program all is done, but for those that were refused.
    again = run("sweep", "rods.ron", *values, "--out", "plan")
    assert "20 were run, 40 had results" in again.stdout
    assert (manifest.parent / "table.csv").read_bytes() == table


def test_a_job_whose_node_is_killed_is_a_row_and_leaves_its_checkpoint(
    nodes: Nodes, planned: Callable[..., Path]
) -> None:
    # Minutes each, of which the second waits for the second node.
    manifest = planned("--set", "duration=8000,9000", "--checkpoint-every", "100ms")
    driver = begin(nodes, manifest, "--retries", "0")
    wait_for(lambda: len(nodes.jobs_of_second()) == 1, driver)
    (job,) = nodes.jobs_of_second()
    # Checkpoints are handed over once a second.
    time.sleep(5)
    nodes.kill_second()
    checkpoint = manifest.parent / "jobs" / job / "checkpoint.pliant"
    wait_for(checkpoint.exists, driver)
    driver.send_signal(signal.SIGINT)
    assert f"job {job} failed: its worker or node ended in one try" in end(driver, 130)
    rows = (manifest.parent / "table.csv").read_text().splitlines()[1:]
    assert sorted(row.split(",")[3] for row in rows) == ["interrupted", "killed"]


def test_a_shared_folder_has_the_table_of_the_local_sweep(
    nodes: Nodes, planned: Callable[..., Path], run: Run, tmp_path: Path
) -> None:
    values = (*MIXED, "--all-files")
    manifest = planned(*values)
    end(start(nodes, manifest, "--shared-folder", "-o", str(tmp_path / "table.csv")), 6)
    assert run("sweep", "rods.ron", *values, "--out", "local").returncode == 6
    assert (tmp_path / "table.csv").read_bytes() == (tmp_path / "local/table.csv").read_bytes()
    assert not (manifest.parent / "table.csv").exists()
    assert (manifest.parent / "jobs/0001/energy.csv").exists()


def test_nodes_with_another_version_end_the_sweep(nodes: Nodes, planned: Callable[..., Path]) -> None:
    manifest = planned("--set", "mass=linspace(1,2,20)")
    program = "import sys, pliant.ray as it; it.__version__ = '9.9'; sys.exit(it.main(sys.argv[1:]))"
    words = [str(manifest), "--address", nodes.address, "--in-flight", "2"]
    ran = subprocess.run(
        [sys.executable, "-c", program, *words], cwd=manifest.parent, capture_output=True, text=True, timeout=180
    )
    assert ran.returncode == 6, ran.stderr
    assert f"this node has Pliant {pliant.__version__}, but the driver has 9.9" in ran.stderr
    rows = (manifest.parent / "table.csv").read_text().splitlines()[1:]
    assert ",not_started," in rows[0] and sum(",missing," in row for row in rows) >= 16


def test_an_interrupted_sweep_goes_on_in_a_shared_folder(
    nodes: Nodes, planned: Callable[..., Path], run: Run, tmp_path: Path
) -> None:
    # The fifth and the sixth job take minutes, and end after a step.
    values = ("--set", "duration=1,2,8000,3", "--set", "mass=1,2", "--checkpoint-every", "200ms")
    manifest = planned(*values)
    driver = begin(nodes, manifest, "--shared-folder")
    long = [manifest.parent / "jobs" / name for name in ("0005", "0006")]
    wait_for(lambda: all((job / "checkpoint.pliant").exists() for job in long), driver)
    driver.send_signal(signal.SIGINT)
    told = end(driver, 130)
    assert "ending after the present steps" in told and "the same command goes on" in told

    def times() -> list[float]:
        results = [json.loads((job / "result.json").read_text()) for job in long]
        assert [result["status"] for result in results] == ["interrupted", "interrupted"]
        assert all((job / "checkpoint.pliant").exists() for job in long)
        return [result["time"] for result in results]

    first = times()
    # Copies go on from there, too.
    driver = begin(nodes, manifest)
    wait_for(lambda: {"0005", "0006"} & set(nodes.jobs_of_second()), driver)
    driver.send_signal(signal.SIGINT)
    end(driver, 130)
    assert all(now > before > 0 for now, before in zip(times(), first, strict=True))


def test_a_batch_in_a_task_has_its_bits(nodes: Nodes) -> None:
    import ray

    model = pliant.Model.from_file(SCENES / "servo_arm.ron")
    shoulder = np.linspace(0.2, 1.6, 6)

    def angles(model: pliant.Model, part: Any) -> Any:
        import pliant

        batch = pliant.Batch(model, len(part), parameters={"shoulder": part}, threads=1)
        batch.run(0.5)
        return batch.q

    ray.init(address=nodes.address, log_to_driver=False, logging_level=logging.WARNING)
    try:
        remote = ray.remote(angles)
        parts = ray.get([remote.remote(model, part) for part in np.array_split(shoulder, 2)])
    finally:
        ray.shutdown()
    assert np.concatenate(parts).tobytes() == angles(model, shoulder).tobytes()
