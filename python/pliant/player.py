"""The player of the program, for pictures of a simulation."""

from __future__ import annotations

import html
import os
from pathlib import Path

__all__ = ["Player"]


class Player:
    """Pictures of a simulation as a page of the program's player, which needs nothing from outside.

    A notebook shows it below the cell. ``height`` is that of its frame there (pixels).
    """

    def __init__(self, page: str, *, height: int = 480) -> None:
        #: The page.
        self.html = page
        #: Height of the frame in a notebook (pixels).
        self.height = height

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the page to a file, whole or not at all, and return its path."""
        path = Path(path)
        unfinished = path.with_name(f".{path.name}.{os.getpid()}.tmp")
        try:
            unfinished.write_text(self.html, encoding="utf-8")
            unfinished.replace(path)
        finally:
            unfinished.unlink(missing_ok=True)
        return path

    def _repr_html_(self) -> str:
        # A frame of its own: the page has scripts and styles for a whole window.
        page = html.escape(self.html, quote=True)
        return f'<iframe srcdoc="{page}" style="width: 100%; height: {self.height}px; border: 0"></iframe>'

    def __repr__(self) -> str:
        size = len(self.html) / 1e6
        return f"<pliant.Player of {size:.1f} MB; a notebook shows it, save(path) writes it>"
