"""Who may import whom, transitively: the table of docs/architecture.md, read from there and held against the code."""

from __future__ import annotations

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "evalrepo"


def rows() -> list[tuple[list[str], list[str]]]:
    """The table's lines: parts on the left, what they may import on the right."""
    text = (ROOT / "docs" / "architecture.md").read_text()
    block = text.split("```")[1]
    return [_row(line) for line in block.strip().splitlines()]


def _row(line: str) -> tuple[list[str], list[str]]:
    left, right = line.split("→")
    return re.findall(r"[a-z]+", left), re.findall(r"[a-z]+", right)


def allowed() -> dict[str, set[str]]:
    """Part → every part it may import, transitively; `everything below` is all but cli."""
    direct: dict[str, set[str]] = {}
    for left, right in rows():
        for part in left:
            direct[part] = set(right) - {"everything", "below"}
    everything = {p for left, right in rows() for p in (*left, *right)} - {"everything", "below", "cli", "commands"}
    direct["commands"] = everything
    direct["cli"] |= {"errors", "world", "discipline", "store"}  # the boundary, and the freeze check's fast paths
    reach = {part: set(names) for part, names in direct.items()}
    for _ in range(len(reach)):
        reach = {p: names.union(*(reach.get(n, set()) for n in names)) for p, names in reach.items()}
    return reach


def part_of(module: str) -> str:
    """`evalrepo.records.base` → `records`; the package itself is ``."""
    return module.split(".")[1] if "." in module else ""


def imports(path: Path) -> set[str]:
    """Every module of the package that a file imports, function-level imports included, TYPE_CHECKING ones too."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {a.name for a in node.names if a.name.startswith("evalrepo")}
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("evalrepo"):
            found |= {f"{node.module}.{a.name}" if node.module == "evalrepo" else str(node.module) for a in node.names}
    return found


def test_every_part_of_the_package_stands_in_the_table():
    named = {p for left, right in rows() for p in (*left, *right)}
    parts = {p.stem for p in PACKAGE.iterdir() if p.suffix == ".py" or (p / "__init__.py").exists()}
    assert parts - {"__init__", "__main__", "__pycache__"} - named == set()


def test_no_part_imports_what_stands_beside_or_above_it():
    reach = allowed()
    wrong = []
    for path in sorted(PACKAGE.rglob("*.py")):
        part = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
        if part in ("__init__", "__main__"):
            continue
        for module in imports(path):
            other = part_of(module)
            if other not in ("", part, "__version__") and other not in reach.get(part, set()):
                wrong.append(f"{path.relative_to(ROOT)} imports {module}")
    assert wrong == []


def test_no_module_has_a_name_that_says_nothing():
    empty = {"utils", "util", "helpers", "common", "manager", "misc"}
    assert [p for p in PACKAGE.rglob("*.py") if p.stem in empty] == []


def test_modules_and_functions_stay_small():
    large = []
    for path in sorted(PACKAGE.rglob("*.py")):
        text = path.read_text()
        if text.count("\n") > 350 and path.name != "scripted_player.py":
            large.append(f"{path.relative_to(ROOT)}: {text.count(chr(10))} lines")
        functions = [n for n in ast.walk(ast.parse(text)) if isinstance(n, ast.FunctionDef)]
        long = [f for f in functions if (f.end_lineno or 0) - f.lineno > 40]
        large += [f"{path.relative_to(ROOT)}:{f.lineno}: {f.name}" for f in long]
    assert large == []
