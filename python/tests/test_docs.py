"""Docstrings, examples and documents say what is so."""

import doctest
import inspect
import re
import runpy
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT

import pliant

EXAMPLES = sorted((ROOT / "python" / "examples").glob("*.py"))
BOOK = sorted((ROOT / "docs" / "book" / "src").rglob("*.md"))
PAGES = [ROOT / "README.md", ROOT / "python" / "README.md", *BOOK]
DOCUMENTS = [path for path in PAGES if "```python\n" in path.read_text(encoding="utf-8")]


def test_doctests_of_the_package() -> None:
    finder, runner = doctest.DocTestFinder(), doctest.DocTestRunner()
    things: list[Any] = [pliant, *(getattr(pliant, name) for name in pliant.__all__)]
    count = 0
    for thing in things:
        if inspect.ismodule(thing) or inspect.isclass(thing):
            for test in finder.find(thing, module=False, globs={}):
                count += len(test.examples)
                runner.run(test)
    assert runner.failures == 0
    assert count > 30


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_runs(path: Path) -> None:
    runpy.run_path(str(path), run_name="__main__")


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_the_programs_of_a_document_run(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    programs = re.findall(r"```python\n(.*?)```", path.read_text(encoding="utf-8"), re.DOTALL)
    assert programs
    for program in programs:
        exec(compile(program, str(path), "exec"), {})


def public() -> list[tuple[str, Any]]:
    """Everything public of the package, by name."""
    found: list[tuple[str, Any]] = []
    for name in pliant.__all__:
        thing = getattr(pliant, name)
        found.append((name, thing))
        if inspect.isclass(thing) and not issubclass(thing, (int, BaseException)):
            found += [(f"{name}.{k}", v) for k, v in vars(thing).items() if not k.startswith("_")]
    return found


def test_everything_public_has_a_docstring() -> None:
    without = [name for name, thing in public() if not name.startswith(("__", "CONTACT")) and not inspect.getdoc(thing)]
    assert without == []


def test_the_version_is_that_of_the_workspace() -> None:
    manifest = (ROOT / "Cargo.toml").read_text()
    version = re.search(r'^version = "([^"]+)"', manifest, re.MULTILINE)
    assert version is not None and pliant.__version__ == version.group(1)
