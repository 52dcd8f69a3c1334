"""Check modules may import what lies in the repository, and what they import belongs to the instrument."""

from __future__ import annotations

from .conftest import SCENARIO, Repo

OWN = """\
from __future__ import annotations

from dataclasses import dataclass

from .rules import words
import text


@dataclass
class Found:
    names: list[str]


def polite(transcript, outcome):
    said = " ".join(e.get("text", "") for e in transcript["events"])
    return {"outcome": "pass" if text.has(said, words.LIST) else "fail", "evidence": "by its words"}
"""
FILES = {
    "scenarios/S1-typo.yaml": SCENARIO.replace(
        "conformance:\n",
        '  - {id: polite, axis: C, python: {call: "checks/own.py:polite"}}\nconformance:\n'
        "  - name: rude\n"
        "    expect: {FAIL: C}\n"
        "    script: [{read: README.md}, {edit: {path: README.md, old: hello, new: hallo}}, {say: bye}]\n",
    ),
    "checks/own.py": OWN,
    "checks/text.py": "def has(text, words):\n    return any(word in text for word in words)\n",
    "checks/rules/words.py": "LIST = ['done', 'Done']\n",
}


def test_a_check_module_imports_relatively_and_from_beside_it(repo: Repo):
    repo.commit(FILES)
    assert "all as expected" in repo.run("selftest")


def test_a_module_that_reading_cannot_find_is_not_there_for_the_check_either(repo: Repo):
    own = OWN.replace("import text\n", "text = __import__('te' + 'xt')\n")
    repo.commit(FILES | {"checks/own.py": own})
    said = repo.run("selftest", exit=1)
    assert "No module named 'text'" in " ".join(said.split())


def test_a_change_of_an_imported_module_is_another_instrument_and_chooses_the_scenario(repo: Repo):
    repo.commit(FILES)
    repo.run("run")
    repo.commit({"checks/rules/words.py": "LIST = ['Done']\n"})
    said = repo.run("run", "--since", "HEAD~1", "--dry-run")
    assert "instrument: the check modules: changed" in " ".join(said.split())
    assert [c["state"] for c in repo.json("status")["cells"]] == ["stale"]
    repo.commit({"checks/unused.py": "x = 1\n"})
    assert "S1" not in repo.run("run", "--since", "HEAD~1", "--dry-run")
