"""What a check module imports of its repository, found by reading and never by running it. Pure.

A name is looked for beside the module that a check names, then from the repository's top, as a script's folder comes
before its path; the standard library's names are the standard library's. `import`, `from … import`, relative ones, and
`importlib.import_module("literal")` count, wherever they stand.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass

Source = Callable[[str], bytes | None]
"""Repository path → the file's bytes, None when there is no such file."""


@dataclass(frozen=True, slots=True)
class Module:
    """A module by its dotted name; `path` is "" for a folder without `__init__.py`."""

    name: str
    path: str

    @property
    def package(self) -> bool:
        """Whether other modules lie in it."""
        return not self.path or self.path.endswith("/__init__.py")


def imported(path: str, source: Source) -> dict[str, Module]:
    """Dotted name → module, of all that the module at `path` imports from its repository, itself left out."""
    folder = path.rpartition("/")[0]
    roots = tuple(dict.fromkeys((f"{folder}/" if folder else "", "")))
    found: dict[str, Module] = {}
    waiting = [Module(own_name(path), path)]
    seen: set[str] = set()
    while waiting:
        module = waiting.pop()
        if module.name in seen:
            continue
        seen.add(module.name)
        for name in _named(module, source):
            for each in _resolved(name, roots, source):
                if each.path != path and each.name not in found:
                    found[each.name] = each
                    waiting.append(each)
    return dict(sorted(found.items()))


def files(path: str, source: Source) -> tuple[str, ...]:
    """Repository paths of what `imported` finds, sorted."""
    return tuple(sorted({module.path for module in imported(path, source).values() if module.path}))


def own_name(path: str) -> str:
    """The dotted name of a module by its path from the top; what relative imports in it start from."""
    return path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def _resolved(name: str, roots: tuple[str, ...], source: Source) -> list[Module]:
    """The module and the packages that it lies in, from the first root that has it; nothing when none has."""
    parts = name.split(".")
    if not all(part.isidentifier() for part in parts) or parts[0] in sys.stdlib_module_names:
        return []
    for root in roots:
        last = _file(root + "/".join(parts), source)
        if last:
            heads = (".".join(parts[:end]) for end in range(1, len(parts)))
            packages = [Module(head, _init(root + head.replace(".", "/"), source)) for head in heads]
            return [*packages, Module(name, last)]
    return []


def _file(base: str, source: Source) -> str:
    return _init(base, source) or (f"{base}.py" if source(f"{base}.py") is not None else "")


def _init(base: str, source: Source) -> str:
    return f"{base}/__init__.py" if source(f"{base}/__init__.py") is not None else ""


def _named(module: Module, source: Source) -> Iterator[str]:
    """Dotted names that the module may import; one that is an attribute of a module is found nowhere."""
    text = source(module.path) if module.path else None
    try:
        nodes = ast.walk(ast.parse(text or b""))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from _from(module, node)
        elif isinstance(node, ast.Call):
            yield from _called(node)


def _from(module: Module, node: ast.ImportFrom) -> Iterator[str]:
    base = node.module or ""
    if node.level:
        package = module.name if module.package else module.name.rpartition(".")[0]
        parts = package.split(".") if package else []
        if node.level > len(parts):
            return
        base = ".".join([*parts[: len(parts) - node.level + 1], *([node.module] if node.module else [])])
    if base:
        yield base
    yield from (f"{base}.{alias.name}" if base else alias.name for alias in node.names if alias.name != "*")


def _called(node: ast.Call) -> Iterator[str]:
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    first = node.args[0] if node.args else None
    if name in ("import_module", "__import__") and isinstance(first, ast.Constant) and isinstance(first.value, str):
        yield first.value
