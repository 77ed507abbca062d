"""`import actswm` makes the games known to Gymnasium without importing it: a command that plays nothing starts fast."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from types import ModuleType

GAMES = "actswm.games"
"""The import of this package registers the ids."""


def register_when_imported() -> None:
    """Register the games now if Gymnasium is there, else as soon as somebody imports it."""
    if "gymnasium" in sys.modules:
        import_module(GAMES)
    elif not any(isinstance(finder, _OnImport) for finder in sys.meta_path):
        sys.meta_path.insert(0, _OnImport())


class _OnImport(MetaPathFinder):
    """Steps aside at the import of Gymnasium, and follows it with ours."""

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name != "gymnasium":
            return None
        sys.meta_path.remove(self)
        spec = find_spec(name)
        if spec is not None and spec.loader is not None:
            spec.loader = _Followed(spec.loader)
        return spec


class _Followed(Loader):
    def __init__(self, loader: Loader) -> None:
        self._loader = loader

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        assert module.__spec__ is not None
        module.__spec__.loader = module.__loader__ = self._loader  # as if we had never been here
        self._loader.exec_module(module)
        import_module(GAMES)
