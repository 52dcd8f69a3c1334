"""Runs that are claimed on a remote before their first rep: two clones, a bare remote, and who tries to get round it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from .audit_world import BAD, Audited, measured, record
from .conftest import CONFIG

REF = "refs/evalrepo/claims"


@pytest.fixture
def repo(tmp_path_factory: pytest.TempPathFactory, tmp_path: Path) -> Audited:
    """A clone of a bare remote, in which runs are claimed from now on."""
    found = measured(tmp_path_factory, tmp_path)
    found.git("init", "-q", "--bare", "-b", "main", str(tmp_path / "hub.git"))
    found.git("remote", "add", "origin", str(tmp_path / "hub.git"))
    found.commit({"evalrepo.yaml": CONFIG + "discipline: {claims: origin}\n"}, "claims")
    found.git("push", "-q", "origin", "main", "refs/tags/start", "refs/evalrepo/runs/*:refs/evalrepo/runs/*")
    return found


def clone(repo: Audited, top: Path) -> Audited:
    """Another clone of the remote."""
    other = repo.clone_of(top)
    other.git("remote", "set-url", "origin", str(repo.path.parent / "hub.git"))
    other.git("fetch", "-q", "origin", "refs/evalrepo/runs/*:refs/evalrepo/runs/*")
    return other


def hub(repo: Audited) -> dict[str, dict]:
    """The claims at the remote, by file name."""
    where = ("-C", str(repo.path.parent / "hub.git"))
    names = repo.git(*where, "ls-tree", "--name-only", REF, check=False).split()
    return {name: json.loads(repo.git(*where, "show", f"{REF}:{name}")) for name in names}


def test_a_run_claims_itself_before_its_first_rep_with_names_and_digests_only(repo: Audited):
    bad = repo.measure(BAD)
    made = record(repo.path / bad)
    ((name, claim),) = hub(repo).items()
    assert name == f"{made['run']}.json"
    assert claim["clone"] == made["clone"]
    assert claim["by"] == "Test Person <person@example.org>"
    assert claim["at"] <= min(rep["timing"]["start"] for rep in made["reps"])
    (cell,) = claim["cells"]
    digests = [made["digests"][name] for name in ("subject", "stimulus", "instrument", "apparatus")]
    assert (cell["scenario"], cell["reps"], cell["digests"]) == ("S1-typo", 3, digests)
    assert "typo in README" not in json.dumps(claim)
    assert repo.findings() == []


def test_without_the_house_rule_nothing_is_pushed(repo: Audited):
    repo.commit({"evalrepo.yaml": CONFIG}, "no claims")
    repo.measure(BAD)
    assert hub(repo) == {}


def test_two_clones_claim_at_the_same_moment_and_both_claims_stand(repo: Audited, tmp_path: Path):
    other = clone(repo, tmp_path / "other")
    third = clone(repo, tmp_path / "third")
    for number, one in enumerate((repo, other, third)):
        one.commit({"subjects/style/GUIDE.md": f"{BAD}Number {number}.\n"}, "another wording")
    at_once = [one.start("run") for one in (repo, other, third)]
    for process in at_once:
        out, err = process.communicate(timeout=120)
        assert process.returncode in (0, 1), out + err
    runs = {made["run"] for one in (repo, other, third) for made in one.records()}
    first = {made["run"] for made in third.records()} & {made["run"] for made in repo.records()}
    assert {name.removesuffix(".json") for name in hub(repo)} == runs - first
    history = repo.git("-C", str(tmp_path / "hub.git"), "rev-list", "--count", REF)
    assert history.strip() == "3"


def test_what_cannot_be_claimed_is_not_run(repo: Audited):
    repo.git("remote", "set-url", "origin", str(repo.path.parent / "gone.git"))
    before = repo.results()
    repo.commit({"subjects/style/GUIDE.md": BAD}, "another wording")
    said = repo.run("run", exit=2)
    assert "could not be claimed at origin, so nothing was run" in said
    assert "hint: runs here are claimed first" in said
    assert repo.results() == before
    assert list((repo.path / ".git/evalrepo/journal").glob("*.jsonl")) == []
    assert repo.findings()[0]["severity"] == "warning"


def test_a_remote_that_is_not_configured_or_refuses_the_push(repo: Audited, tmp_path: Path):
    hook = tmp_path / "hub.git/hooks/pre-receive"
    hook.write_text("#!/bin/sh\necho no claims today >&2\nexit 1\n")
    hook.chmod(0o755)
    repo.commit({"subjects/style/GUIDE.md": BAD}, "another wording")
    assert "could not be claimed at origin" in repo.run("run", exit=2)
    repo.git("remote", "remove", "origin")
    assert "could not be claimed at origin" in repo.run("run", exit=2)
    assert hub(repo) == {}


def test_a_claim_whose_clone_was_thrown_away_is_seen_by_everybody(repo: Audited, tmp_path: Path):
    lost = clone(repo, tmp_path / "lost")
    lost.measure(BAD)
    (name,) = hub(repo)
    run = name.removesuffix(".json")
    gate = repo.json("gate", "--baseline", "start", exit=None)
    assert any(r["code"] == "claims-open" and r["kind"] == "inconclusive" for r in gate["reasons"])  # it may be at work
    (young,) = repo.findings()
    assert (young["code"], young["file"], young["severity"]) == ("RUN009", f"{REF}/{run}", "warning")
    age(repo, name)
    gate = repo.json("gate", "--baseline", "start", exit=4)
    assert any(r["code"] == "claims" and "claimed this run" in r["text"] for r in gate["reasons"])
    assert repo.wrong() == [("RUN009", f"{REF}/{run}")]
    lost.git("push", "-q", "origin", "refs/evalrepo/runs/*:refs/evalrepo/runs/*")
    repo.git("fetch", "-q", "origin", "refs/evalrepo/runs/*:refs/evalrepo/runs/*")
    assert repo.wrong() == []  # its ref came: every rep of it counts


def age(repo: Audited, name: str) -> None:
    """Make a claim old, at the remote and here, as if the test had waited; the fixture's run was claimed before it."""
    rows = ""
    for made in (name.removesuffix(".json"), record(repo.path / repo.results()[0])["run"]):
        claim = {**hub(repo)[name], "run": made, "at": "2026-01-01T00:00:00Z"}
        (repo.home / "claim.json").write_text(json.dumps(claim))
        oid = repo.git("hash-object", "-w", str(repo.home / "claim.json")).strip()
        rows += f"100644 blob {oid}\\t{made}.json\\n"
    repo.env["STEP"] = f"printf '{rows}' | git mktree"
    tree = repo.git("-c", 'alias.step=!sh -c "$STEP"', "step").strip()
    commit = repo.git("commit-tree", "-m", "two days later", tree).strip()
    repo.git("push", "-qf", "origin", f"{commit}:{REF}")
    repo.git("update-ref", REF, commit)


def test_a_claim_that_is_acknowledged_is_closed(repo: Audited, tmp_path: Path):
    clone(repo, tmp_path / "lost").measure(BAD)
    (name,) = hub(repo)
    repo.json("gate", "--baseline", "start", exit=None)
    age(repo, name)
    place = f"{REF}/{name.removesuffix('.json')}"
    (found,) = repo.findings()
    assert f"evalrepo acknowledge {place} --code RUN009 --why REASON" in found["hint"]
    repo.run("acknowledge", place, "--code", "RUN009", "--why", "the laptop that ran it was stolen")
    repo.git("commit", "-qm", "the laptop was stolen")
    assert repo.wrong() == []
    assert "1 finding acknowledged" in repo.run("verify", "--records")


def test_claims_that_somebody_moved_backwards_are_found_and_put_back_by_the_next_run(repo: Audited, tmp_path: Path):
    repo.measure(BAD)
    (first,) = hub(repo)
    repo.measure("Read a little.\n")
    repo.git("-C", str(tmp_path / "hub.git"), "update-ref", REF, f"{REF}~1")
    assert list(hub(repo)) == [first]
    gate = repo.json("gate", "--baseline", "start", exit=4)
    assert any(r["code"] == "claims" and "was taken away at origin" in r["text"] for r in gate["reasons"])
    repo.measure("Read much.\n")
    assert len(hub(repo)) == 3
    gate = repo.json("gate", "--baseline", "start", exit=None)
    assert "claims" not in {r["code"] for r in gate["reasons"]}


def test_claims_that_somebody_deleted_at_the_remote(repo: Audited, tmp_path: Path):
    repo.measure(BAD)
    repo.git("-C", str(tmp_path / "hub.git"), "update-ref", "-d", REF)
    gate = repo.json("gate", "--baseline", "start", exit=4)
    assert any(r["code"] == "claims" and "was taken away" in r["text"] for r in gate["reasons"])


def test_a_gate_that_cannot_read_the_claims_does_not_pass(repo: Audited, tmp_path: Path):
    (tmp_path / "hub.git").rename(tmp_path / "away.git")
    gate = repo.json("gate", "--baseline", "start", exit=None)
    assert gate["answer"] != "pass"
    assert "claims-unreachable" in {r["code"] for r in gate["reasons"]}


def test_a_result_that_nobody_claimed_once_claims_are_made(repo: Audited):
    import time

    repo.measure(BAD)
    time.sleep(1.1)  # times of claims and records are whole seconds
    repo.commit({"evalrepo.yaml": CONFIG}, "no claims")
    made = repo.measure("Read a little.\n")
    repo.commit({"evalrepo.yaml": CONFIG + "discipline: {claims: origin}\n"}, "claims")
    assert repo.wrong() == [("RUN011", made)]


def test_a_fresh_clone_says_how_to_get_the_claims_and_the_gate_gets_them(repo: Audited, tmp_path: Path):
    repo.measure(BAD)
    repo.git("push", "-q", "origin", "main", "refs/evalrepo/runs/*:refs/evalrepo/runs/*")
    other = clone(repo, tmp_path / "other")
    (said,) = other.findings()
    assert (said["code"], said["severity"]) == ("RUN009", "warning")
    assert said["hint"].startswith(f"git fetch origin {REF}:{REF}")
    other.json("gate", "--baseline", "start", exit=None)
    assert other.findings() == []
