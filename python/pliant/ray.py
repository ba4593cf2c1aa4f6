"""Sweeps on Ray: the manifest of ``pliant sweep``, one retryable task for each of its jobs.

``python -m pliant.ray manifest.json --address auto`` does what ``pliant sweep --manifest
manifest.json`` does, with the same results, tables and exit codes, but runs the jobs on the nodes
of a cluster. Each node needs this package and nothing else: a task runs the program's own code.

The package ``ray`` is needed: ``pip install ray``, or the extra ``pliant[ray]``.
"""

from __future__ import annotations

import argparse
import importlib
import json
import logging
import math
import os
import shutil
import signal
import sys
import tempfile
import threading
import time
import zlib
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

from ._pliant import __version__, _run_job, _Stop, _Sweep
from .errors import SweepError

__all__ = ["main", "sweep"]

#: Contents of the files of a run, by their paths from its directory.
_Files: TypeAlias = dict[str, bytes]
#: Kind and sentence of why a job has no result, or ``None``.
_Failure: TypeAlias = tuple[str, str] | None
_Job: TypeAlias = dict[str, Any]

#: Files of a checkpoint: the second is named by the first, and may be longer than that says.
_CHECKPOINT = ("checkpoint.pliant", "checkpoint.log")
#: Folder of frames in the directory of a run.
_FRAMES = "frames"
#: Seconds between two looks of the driver at tasks and signals.
_LOOK = 0.2
#: Seconds until a task first asks whether to stop, and then between two times: short jobs never do.
_FIRST_QUESTION, _QUESTIONS = 0.3, 1.0
#: Seconds for which a result that a task wrote into a shared folder may be on its way.
_MOST_DELAY = 20.0
#: Signals within so many seconds are one, as of the program.
_TOGETHER = 1.0
_INTERRUPTED = 130
#: Threads that write results, and the most results that wait for them.
_WRITERS, _MOST_WRITTEN = 8, 64
#: Exit code of a worker whose node has ended, which nobody reads.
_LOST = 1


def sweep(
    manifest: str | os.PathLike[str],
    *,
    address: str | None = None,
    tables: Sequence[str | os.PathLike[str]] = (),
    shared_folder: bool = False,
    in_flight: int | None = None,
    cpus_per_job: float = 1.0,
    retries: int = 3,
    fail_fast: bool = False,
    quiet: bool = False,
) -> int:
    """Run the jobs of a manifest that have no result on a cluster, and write the table.

    ``address`` is that of :func:`ray.init`, unless Ray is initialised already. Return the exit
    code of ``pliant sweep``: 0 if all jobs went through, 2 if a path of ``--result`` is in no
    result, 6 if some jobs failed, 130 if SIGINT or SIGTERM ended the sweep. Raise
    :class:`pliant.SweepError` if the sweep cannot begin, with its exit code.
    """
    open_sweep = _Sweep(manifest, list(tables), quiet)
    if not open_sweep.missing:
        open_sweep.clear()
        return open_sweep.finish(False)
    ray = _load_ray()
    plan = json.loads(open_sweep.manifest)
    home = Path(manifest).absolute().parent.resolve()
    work = home if shared_folder else _Copies.of(plan, home)
    if isinstance(work, _Copies):
        _check(open_sweep, work)
    with _connected(ray, address), _complaints_of_ray(quiet):
        cluster = _Cluster(ray, work, cpus_per_job, retries)
        limit = in_flight or cluster.room
        engine = _Engine(open_sweep, plan["jobs"], home, cluster, limit, fail_fast)
        open_sweep.clear()
        with _signals(engine, quiet):
            engine.run()
        return open_sweep.finish(engine.is_stopped)


def _check(open_sweep: _Sweep, copies: _Copies) -> None:
    """Check that jobs can be run where nothing is but copies of the inputs."""
    try:
        with tempfile.TemporaryDirectory(prefix="pliant-") as folder, _inside(copies.unpack(Path(folder))):
            open_sweep.check_copies()
    except SweepError as error:
        told = "nodes have copies of the manifest's `inputs` and nothing else; with --shared-folder nothing is copied"
        raise SweepError(f"{error}\n = help: {told}") from error


def _load_ray() -> Any:
    try:
        import ray
    except ImportError as error:
        raise SweepError(
            f"error: the package `ray` is needed: {error}\n = help: pip install ray, or the extra pliant[ray]"
        ) from error
    return ray


@contextmanager
def _connected(ray: Any, address: str | None) -> Iterator[None]:
    """Connection to a cluster: the one that there is, or one that ends with this."""
    if ray.is_initialized():
        yield
        return
    try:
        ray.init(address=address, log_to_driver=False, logging_level=logging.WARNING)
    except (ConnectionError, RuntimeError, ValueError) as error:
        where = f"at {address}" if address else "here"
        raise SweepError(f"error: there is no cluster of Ray {where}: {error}") from error
    try:
        yield
    finally:
        ray.shutdown()


@contextmanager
def _complaints_of_ray(quiet: bool) -> Iterator[None]:
    """What Ray prints about nodes and workers goes to standard error, or nowhere; the report is not printed by Python."""
    with open(os.devnull, "w") as nowhere, redirect_stdout(nowhere if quiet else sys.stderr):
        yield


@contextmanager
def _inside(folder: Path) -> Iterator[None]:
    """Another current directory, for a while."""
    before = os.getcwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


@contextmanager
def _signals(engine: _Engine, quiet: bool) -> Iterator[None]:
    """SIGINT and SIGTERM end the jobs after their present steps; a second one ends all at once."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    first: list[float] = []

    def answer(number: int, frame: object) -> None:
        now = time.monotonic()
        if first and now - first[0] > _TOGETHER:
            os._exit(_INTERRUPTED)
        if not first and not quiet:
            print(
                "ending after the present steps of the jobs that run; another signal ends the sweep at once, without a table",
                file=sys.stderr,
            )
        first.append(now)
        engine.is_stopped = True

    numbers = (signal.SIGINT, signal.SIGTERM)
    before = [signal.signal(number, answer) for number in numbers]
    try:
        yield
    finally:
        for number, handler in zip(numbers, before, strict=True):
            signal.signal(number, handler)


@dataclass(frozen=True)
class _Copies:
    """Copies of the inputs of a sweep, which have the same ways between them as the inputs."""

    #: Directory of the manifest, from the root of the copies.
    home: str
    #: Files, by path from the root.
    files: Mapping[str, bytes]
    #: Directories that are there though they may have no files.
    folders: Sequence[str]

    @classmethod
    def of(cls, plan: dict[str, Any], home: Path) -> _Copies:
        """Copies of the inputs of a manifest that is in ``home``."""
        inputs: list[dict[str, Any]] = plan["inputs"]
        folders = sorted({folder for job in plan["jobs"] for folder in _outside(job["arguments"])})
        paths = [one["path"] for one in inputs] + folders
        if absolute := next((path for path in paths if os.path.isabs(path)), None):
            raise SweepError(
                f"error: the path {absolute} is absolute, and other nodes have no copy there\n"
                " = help: with --shared-folder nothing is copied"
            )
        ups = max((_ups(path) for path in paths), default=0)
        below = "/".join(home.parts[1:][-ups:]) if ups else ""
        if ups > len(home.parts) - 1:
            raise SweepError(f"error: an input of the manifest is above the root of {home}")
        files = {}
        for one in inputs:
            content = _read_input(home, one)
            files[_join(below, one["path"])] = content
        return cls(below, files, [_join(below, folder) for folder in folders])

    def unpack(self, root: Path) -> Path:
        """Write all into a folder; return what the directory of the manifest is there."""
        home = root / self.home
        home.mkdir(parents=True, exist_ok=True)
        for folder in self.folders:
            (root / folder).mkdir(parents=True, exist_ok=True)
        for name, content in self.files.items():
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        return home


def _outside(arguments: Sequence[str]) -> Iterator[str]:
    """Directories that a job may read though they are not below its scene's."""
    flag = "--allow-outside"
    for word, following in zip(arguments, [*arguments[1:], ""], strict=True):
        if word == flag:
            yield following
        elif word.startswith(flag + "="):
            yield word.removeprefix(flag + "=")


def _ups(path: str) -> int:
    """How many directories a path goes up before it goes down."""
    parts = os.path.normpath(path).replace(os.sep, "/").split("/")
    return sum(part == ".." for part in parts)


def _join(home: str, path: str) -> str:
    return os.path.normpath(os.path.join(home, path)).replace(os.sep, "/")


def _read_input(home: Path, one: dict[str, Any]) -> bytes:
    """An input, with the checksum that the manifest has."""
    try:
        content: bytes = (home / one["path"]).read_bytes()
    except OSError as error:
        raise SweepError(f"error: cannot read {one['path']}: {error}") from error
    if f"{zlib.crc32(content):08x}" != one["crc32"]:
        raise SweepError(f"error: {one['path']} has changed since the manifest was written")
    return content


class _Desk:
    """Actor that tells tasks whether to stop, and keeps the checkpoints of those whose node may end."""

    def __init__(self) -> None:
        self.stopped = False
        self.checkpoints: dict[str, _Files] = {}

    def stop(self) -> None:
        self.stopped = True

    def is_stopped(self) -> bool:
        return self.stopped

    def keep(self, job: str, files: _Files) -> None:
        self.checkpoints[job] = files

    def kept(self, job: str) -> _Files:
        return self.checkpoints.get(job, {})

    def forget(self, job: str) -> None:
        self.checkpoints.pop(job, None)


@dataclass(frozen=True)
class _Scratch:
    """Folder of a task, and the directory of the run in it."""

    folder: Path
    directory: Path


def _run(version: str, job: _Job, work: _Copies | Path, before: _Files, desk: Any) -> tuple[_Failure, _Files]:
    """Run a job: the work of a task. Return why it has no result, and its files if they are copies."""
    if version != __version__:
        raise SweepError(f"this node has Pliant {__version__}, but the driver has {version}")
    stop = _Stop()
    if isinstance(work, Path):
        if not work.is_dir():
            raise SweepError(f"this node has no folder {work}, which --shared-folder takes all nodes to have")
        with _asking(desk, stop, job), _inside(work):
            return _run_job(json.dumps(job), stop), {}
    with tempfile.TemporaryDirectory(prefix="pliant-", ignore_cleanup_errors=True) as folder:
        home = work.unpack(Path(folder))
        directory = home / job["directory"]
        directory.mkdir(parents=True, exist_ok=True)
        if _writes_checkpoints(job):
            # A try whose node ended has left them there.
            before = _load_ray().get(desk.kept.remote(job["id"])) or before
        for name, content in before.items():
            (directory / name).write_bytes(content)
        with _asking(desk, stop, job, _Scratch(Path(folder), directory)), _inside(home):
            failure = _run_job(json.dumps(job), stop)
        return failure, _files_in(directory)


def _writes_checkpoints(job: _Job) -> bool:
    return any(word.startswith("--checkpoint-every") for word in job["arguments"])


def _files_in(directory: Path) -> _Files:
    """All files of a run but its lock."""
    files: _Files = {}
    for path in (*directory.glob("*"), *(directory / _FRAMES).glob("*")):
        if path.is_file() and not path.name.startswith("."):
            files[path.relative_to(directory).as_posix()] = path.read_bytes()
    return files


def _checkpoint_in(directory: Path) -> _Files:
    """Checkpoint in the directory of a run, or nothing."""
    try:
        return {name: (directory / name).read_bytes() for name in _CHECKPOINT}
    except FileNotFoundError:
        return {}


@contextmanager
def _asking(desk: Any, stop: _Stop, job: _Job, copies: _Scratch | None = None) -> Iterator[None]:
    """Ask whether to stop, and hand over new checkpoints of a run in copies, while a job runs."""
    over = threading.Event()
    node = os.getppid()

    def ask() -> None:
        pause, sent = _FIRST_QUESTION, b""
        while not over.wait(pause):
            ray, pause = _load_ray(), _QUESTIONS
            if os.getppid() != node:
                # The node has ended, but Ray would wait for the task: another try need not.
                if copies:
                    shutil.rmtree(copies.folder, ignore_errors=True)
                os._exit(_LOST)
            try:
                if ray.get(desk.is_stopped.remote()):
                    stop.set()
                files = _checkpoint_in(copies.directory) if copies and _writes_checkpoints(job) else {}
                state = files.get(_CHECKPOINT[0], b"")
                if state != sent:
                    ray.get(desk.keep.remote(job["id"], files))
                    sent = state
            except ray.exceptions.RayError:
                # Without the desk the job goes on: whoever ended it ends the task, too.
                continue

    thread = threading.Thread(target=ask, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


class _Cluster:
    """Tasks of a cluster."""

    def __init__(self, ray: Any, work: _Copies | Path, cpus_per_job: float, retries: int) -> None:
        self.ray = ray
        self.cpus_per_job = cpus_per_job
        self.retries = retries
        self.copies = isinstance(work, _Copies)
        self.work = ray.put(work)
        self.task = ray.remote(_run)
        self.desk = self._at_home(ray.remote(_Desk)).remote()
        self._room = (0, -math.inf)

    def _at_home(self, actor: Any) -> Any:
        """An actor on the node of this process, which it needs no longer than this process does."""
        strategies = self.ray.util.scheduling_strategies
        node = self.ray.get_runtime_context().get_node_id()
        here = strategies.NodeAffinitySchedulingStrategy(node, soft=False)
        return actor.options(num_cpus=0, scheduling_strategy=here)

    def room(self) -> int:
        """Twice as many tasks as can run, as the cluster is now: none waits for the driver."""
        room, when = self._room
        if time.monotonic() - when > _QUESTIONS:
            cpus = self.ray.cluster_resources().get("CPU", 0.0)
            room = max(2, 2 * math.ceil(cpus / max(self.cpus_per_job, 1e-3)))
            self._room = (room, time.monotonic())
        return room

    def submit(self, job: _Job, before: _Files) -> Any:
        options = {"name": job["id"], "num_cpus": self.cpus_per_job, "max_retries": self.retries}
        return self.task.options(**options).remote(__version__, job, self.work, before, self.desk)

    def ended(self, tasks: list[Any]) -> list[Any]:
        """Those of some tasks that have ended, after a short time at most."""
        if not self.ray.wait(tasks, num_returns=1, timeout=_LOOK)[0]:
            return []
        ended: list[Any] = self.ray.wait(tasks, num_returns=len(tasks), timeout=0)[0]
        return ended

    def result(self, task: Any, job: _Job) -> tuple[_Failure, _Files]:
        """What a task that has ended returned; raise :class:`SweepError` if it could not begin."""
        errors = self.ray.exceptions
        try:
            result: tuple[_Failure, _Files] = self.ray.get(task)
            return result
        except errors.RayTaskError as error:
            cause = getattr(error, "cause", None)
            lines = [line for line in str(cause or error).splitlines() if line.strip()]
            raise SweepError(lines[0] if cause else lines[-1]) from error
        except errors.RayError as error:
            tries = "one try" if self.retries == 0 else f"each of {self.retries + 1} tries"
            failure = ("killed", f"its worker or node ended in {tries} ({type(error).__name__})")
            return failure, self.kept(job)

    def kept(self, job: _Job) -> _Files:
        """Checkpoint that a job whose node ended has left."""
        try:
            files: _Files = self.ray.get(self.desk.kept.remote(job["id"])) if _writes_checkpoints(job) else {}
        except self.ray.exceptions.RayError:
            return {}
        return files


@dataclass
class _Engine:
    """Driver of a sweep: gives jobs to the cluster, and puts their results into its directory."""

    sweep: _Sweep
    jobs: Sequence[_Job]
    home: Path
    cluster: _Cluster
    limit: int | Callable[[], int]
    fail_fast: bool
    is_stopped: bool = False
    #: Whether no further job is to begin.
    is_full: bool = False
    #: Places of the jobs by their tasks.
    running: dict[Any, int] = field(default_factory=dict)
    #: Places of the jobs whose files are written, which waits for the disk, with their failures.
    writing: dict[Future[None], tuple[int, _Failure]] = field(default_factory=dict)

    def run(self) -> None:
        """Run all jobs, until it is stopped."""
        waiting = deque(self.sweep.missing)
        told = False
        with ThreadPoolExecutor(_WRITERS) as writers:
            while self.running or self.writing or (waiting and self.goes_on()):
                limit = self.limit if isinstance(self.limit, int) else self.limit()
                while waiting and self.goes_on() and len(self.running) < limit and len(self.writing) < _MOST_WRITTEN:
                    self.begin(waiting.popleft())
                if self.is_stopped and not told:
                    self.cluster.desk.stop.remote()
                    told = True
                for task in self.cluster.ended(list(self.running)) if self.running else ():
                    self.receive(task, self.running.pop(task), writers)
                done, _ = wait(self.writing, timeout=0 if self.running else _LOOK)
                for future in done:
                    self.end(future, *self.writing.pop(future))
                self.sweep.see(None)

    def goes_on(self) -> bool:
        return not self.is_stopped and not self.is_full

    def begin(self, place: int) -> None:
        job = self.jobs[place]
        before = _checkpoint_in(self.home / job["directory"]) if self.cluster.copies else {}
        self.running[self.cluster.submit(job, before)] = place
        self.sweep.see(place)

    def receive(self, task: Any, place: int, writers: ThreadPoolExecutor) -> None:
        """Take the result of a task that has ended, and begin to write its files."""
        try:
            failure, files = self.cluster.result(task, self.jobs[place])
        except SweepError as error:
            # What is wrong with one node or with the package there would end all jobs.
            self.is_full = True
            failure, files = ("not_started", str(error)), {}
        self.writing[writers.submit(self.sweep.receive, place, files)] = (place, failure)

    def end(self, written: Future[None], place: int, failure: _Failure) -> None:
        """End a job whose files are written."""
        try:
            written.result()
        except SweepError as error:
            failure = failure or ("unwritten", str(error).removeprefix("error: "))
        if failure is None and not self.cluster.copies:
            self.wait_for_result(place)
        if _writes_checkpoints(job := self.jobs[place]):
            self.cluster.desk.forget.remote(job["id"])
        went_through = self.sweep.end(place, failure)
        self.is_full |= self.fail_fast and not went_through

    def wait_for_result(self, place: int) -> None:
        """Wait until a shared folder shows here what another node has written."""
        until = time.monotonic() + _MOST_DELAY
        while not self.sweep.has_result(place) and time.monotonic() < until:
            time.sleep(_LOOK)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m pliant.ray",
        description="Run the jobs of a manifest of `pliant sweep` on Ray, and write the table.",
    )
    add = parser.add_argument
    add("manifest", metavar="MANIFEST", help="manifest.json in the directory of the sweep")
    add("--address", metavar="ADDRESS", help="the cluster, as of ray.init: auto, HOST:PORT [default: RAY_ADDRESS, one that was started on this machine, or one for this call]")
    add("-o", "--table", metavar="FILE", action="append", default=[], help="as of pliant sweep; may be repeated")
    add("--shared-folder", action="store_true", help="all nodes have the directory of the manifest at its path: jobs run there")
    add("-j", "--in-flight", metavar="N", type=_count, help="tasks at a time, those that wait among them [default: twice what can run]")
    add("--cpus-per-job", metavar="X", type=_cpus, default=1.0, help="cores that Ray keeps for a job [default: 1]")
    add("--retries", metavar="N", type=_retries, default=3, help="tries of a job after the first whose worker or node ended [default: 3]")
    add("--fail-fast", action="store_true", help="give no other job to the cluster once one has failed")
    add("-q", "--quiet", action="store_true", help="print nothing but errors")
    return parser


def _count(text: str) -> int:
    if not text.isascii() or not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError("expected a whole number from 1 on")
    return int(text)


def _retries(text: str) -> int:
    if not text.isascii() or not text.isdigit():
        raise argparse.ArgumentTypeError("expected a whole number from 0 on")
    return int(text)


def _cpus(text: str) -> float:
    try:
        cpus = float(text)
    except ValueError:
        cpus = math.nan
    if not (cpus > 0 and math.isfinite(cpus)):
        raise argparse.ArgumentTypeError("expected a number greater than zero")
    return cpus


def main(arguments: Sequence[str] | None = None) -> int:
    """Run ``python -m pliant.ray``; return the exit code."""
    given = _parser().parse_args(arguments)
    try:
        return sweep(
            given.manifest,
            address=given.address,
            tables=given.table,
            shared_folder=given.shared_folder,
            in_flight=given.in_flight,
            cpus_per_job=given.cpus_per_job,
            retries=given.retries,
            fail_fast=given.fail_fast,
            quiet=given.quiet,
        )
    except SweepError as error:
        print(error, file=sys.stderr)
        return error.code
    except KeyboardInterrupt:
        print("interrupted before the first job", file=sys.stderr)
        return _INTERRUPTED


if __name__ == "__main__":
    # Tasks are functions of the module of that name, which nodes import.
    sys.exit(importlib.import_module("pliant.ray").main())
