"""What a check module imports of its repository, by reading alone."""

from __future__ import annotations

import pytest

from evalrepo.records.imports import files, imported

FILES = {
    "checks/__init__.py": "",
    "checks/rules/__init__.py": "from . import deep\n",
    "checks/rules/deep.py": "from ..shared import words\n",
    "checks/shared.py": "import json, numpy\n",
    "checks/json.py": "",
    "lib/tools/text.py": "import lib.tools.other\n",
    "lib/tools/other.py": "import lib.tools.text\n",
    "other.py": "",
}


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("import shared", {"checks/shared.py"}),
        ("from shared import words as w", {"checks/shared.py"}),
        ("import checks.shared", {"checks/__init__.py", "checks/shared.py"}),
        ("from .shared import words", {"checks/__init__.py", "checks/shared.py"}),
        ("from . import shared", {"checks/__init__.py", "checks/shared.py"}),
        ("import rules", {"checks/rules/__init__.py", "checks/rules/deep.py"}),
        ("from rules.deep import words", {"checks/rules/__init__.py", "checks/rules/deep.py"}),
        ("from checks import rules", {"checks/__init__.py", "checks/rules/__init__.py", "checks/rules/deep.py",
                                      "checks/shared.py"}),
        ("from lib.tools import text", {"lib/tools/text.py", "lib/tools/other.py"}),
        ("def f():\n    if x:\n        import other", {"other.py"}),
        ("import importlib\nimportlib.import_module('other')", {"other.py"}),
        ("__import__('other')", {"other.py"}),
        ("import json, os.path, numpy", set()),
        ("from other import *", {"other.py"}),
        ("from .. import other", set()),
        ("from nowhere.at import all_", set()),
        ("import checks.own", {"checks/__init__.py"}),
        ("def broken(:", set()),
        ("import own", set()),
    ],
)  # fmt: skip
def test_imports_are_found_by_reading(text: str, wanted: set[str]):
    texts = FILES | {"checks/own.py": text}
    assert set(files("checks/own.py", lambda path: texts[path].encode() if path in texts else None)) == wanted


def test_a_folder_without_init_is_a_package_without_a_file():
    texts = FILES | {"own.py": "import lib.tools.text\n"}
    found = imported("own.py", lambda path: texts[path].encode() if path in texts else None)
    assert [(m.name, m.path, m.package) for m in found.values()] == [
        ("lib", "", True),
        ("lib.tools", "", True),
        ("lib.tools.other", "lib/tools/other.py", False),
        ("lib.tools.text", "lib/tools/text.py", False),
    ]
