"""Looks whose commits were taken away still count, and what renews a budget is new twins, not edited ones."""

from __future__ import annotations

import pytest

from tests.commands.conftest import GUIDE, SCENARIO, Repo
from tests.commands.test_commands_look import HELD, TWIN, WHY, freeze, looks, reworded

pytestmark = pytest.mark.isolation
PROMPT = "A greeting in the README is misspelled, put it right please"
NEW = TWIN.replace(PROMPT, "Somebody wrote a wrong letter on the front page of this project; find and mend it")
COPY = TWIN.replace(PROMPT, PROMPT.replace("greeting", "welcome"))


@pytest.fixture
def held(empty: Repo) -> Repo:
    """A subject with one frozen twin, one rep a cell."""
    empty.commit(HELD, "the world")
    freeze(empty)
    return empty


def plain(said: str) -> str:
    return " ".join(said.split())


def reset_away(repo: Repo) -> str:
    """Take a look, and take its commits away; the commit that its event was in."""
    before = repo.git("rev-parse", "HEAD").strip()
    repo.run("run", "--reserve", *WHY)
    spent = repo.git("log", "--reverse", "--format=%H", f"{before}..HEAD").split()[0]
    repo.git("reset", "-q", "--hard", before)
    assert looks(repo) == 0
    return spent


def test_a_look_whose_commits_were_reset_away_counts_and_comes_back_by_the_command_that_is_named(held: Repo):
    spent = reset_away(held)
    assert "1 of 3 looks spent" in plain(held.run("status"))
    reworded(held, "Rule 2.")
    said = plain(held.run("run", "--reserve", *WHY))
    assert "look 2 of 3, 1 look preceded it; look 1 of " in said
    assert f"counts, and is in no branch here (git cherry-pick {spent[:12]})" in said
    held.git("cherry-pick", spent[:12])
    assert looks(held) == 2
    reworded(held, "Rule 3.")
    said = plain(held.run("run", "--reserve", *WHY))
    assert "look 3 of 3, 2 looks preceded it" in said
    assert "no branch here" not in said


def test_looks_that_were_reset_away_exhaust_a_reserve(held: Repo):
    for number in (1, 2, 3):
        held.commit({"subjects/style/GUIDE.md": f"{GUIDE}Rule {number}.\n"}, "another wording")
        reset_away(held)
    reworded(held, "Rule 4.")
    said = plain(held.run("run", "--reserve", *WHY, exit=2))
    assert "RESERVE EXHAUSTED: all 3 looks" in said
    assert said.count("is in no branch here (git cherry-pick ") == 3


def test_without_a_reflog_the_run_ref_tells_of_the_look(held: Repo):
    reset_away(held)
    held.git("reflog", "expire", "--expire=now", "--all")
    held.git("gc", "-q", "--prune=now")
    run = held.git("for-each-ref", "--format=%(refname:lstrip=3)", "refs/evalrepo/runs").strip()
    reworded(held, "Rule 2.")
    said = plain(held.run("run", "--reserve", *WHY))
    assert "look 2 of 3, 1 look preceded it" in said
    assert f"is in no branch here (run {run} measured it: evalrepo verify --records)" in said
    assert "RUN005" in held.run("verify", "--records", exit=1)


def test_a_look_that_was_reset_away_is_the_same_look_when_it_is_asked_again(held: Repo):
    reset_away(held)
    said = plain(held.run("run", "--reserve", *WHY))
    assert "look 1 of 3, no look preceded it" in said
    assert "nothing was run" in said
    assert looks(held) == 1, "its event is in the ledger again"
    reworded(held, "Rule 2.")
    assert "look 2 of 3, 1 look preceded it" in plain(held.run("run", "--reserve", *WHY))


def test_a_look_on_a_branch_that_was_deleted_counts(held: Repo):
    held.git("checkout", "-qb", "side")
    reworded(held, "Rule 1.")
    held.run("run", "--reserve", *WHY)
    held.git("checkout", "-q", "main")
    held.git("branch", "-qD", "side")
    reworded(held, "Rule 2.")
    assert "look 2 of 3, 1 look preceded it" in plain(held.run("run", "--reserve", *WHY))


def test_an_amended_rebased_or_squashed_look_is_the_look_that_it_was(held: Repo):
    held.git("checkout", "-qb", "side")
    held.run("run", "--reserve", *WHY)
    held.git("commit", "-q", "--amend", "-m", "another message")
    held.git("checkout", "-q", "main")
    reworded(held, "Rule 1.")
    held.git("merge", "-q", "--squash", "side")
    held.git("commit", "-qm", "squashed")
    held.git("branch", "-qD", "side")
    said = plain(held.run("run", "--reserve", *WHY))
    assert "look 2 of 3, 1 look preceded it" in said
    assert "no branch" not in said


def test_an_unsealing_that_was_reset_away_is_said_by_later_looks(held: Repo):
    held.run("run", "--reserve", *WHY)
    before = held.git("rev-parse", "HEAD").strip()
    held.run("show", "S1-reserve", "--unseal", "--why", "nobody understands this result")
    held.git("reset", "-q", "--hard", before)
    reworded(held, "Rule 2.")
    assert "somebody unsealed S1-reserve before" in plain(held.run("run", "--reserve", *WHY))


def test_another_clone_that_has_the_run_ref_counts_a_look_that_no_branch_has(held: Repo, tmp_path):
    held.git("init", "-q", "--bare", "-b", "main", str(tmp_path / "hub.git"))
    held.git("remote", "add", "origin", str(tmp_path / "hub.git"))
    reset_away(held)
    held.run("transcripts", "push")
    held.git("push", "-q", "origin", "main")
    held.git("clone", "-q", str(tmp_path / "hub.git"), str(tmp_path / "other"))
    other = Repo(tmp_path / "other", held.home)
    other.git("config", "user.name", "Other Person")
    other.git("config", "user.email", "other@example.org")
    assert "0 of 3 looks spent" in plain(other.run("status"))
    other.run("transcripts", "fetch")
    assert "1 of 3 looks spent" in plain(other.run("status"))


def test_a_claimed_look_of_which_nothing_came_counts(held: Repo, tmp_path):
    held.git("init", "-q", "--bare", "-b", "main", str(tmp_path / "hub.git"))
    held.git("remote", "add", "origin", str(tmp_path / "hub.git"))
    held.commit({"evalrepo.yaml": HELD["evalrepo.yaml"] + "discipline: {claims: origin}\n"}, "claims")
    held.git("push", "-q", "origin", "main")
    held.git("clone", "-q", str(tmp_path / "hub.git"), str(tmp_path / "other"))
    reset_away(held)  # this clone is thrown away now
    other = Repo(tmp_path / "other", held.home)
    other.git("config", "user.name", "Other Person")
    other.git("config", "user.email", "other@example.org")
    other.git("fetch", "-q", "origin", "refs/evalrepo/claims:refs/evalrepo/claims")
    said = plain(other.run("status"))
    assert "1 of 3 looks spent" in said
    assert "Test Person <person@example.org> claimed it as run " in said


def swap_twin(repo: Repo, old: str, name: str, text: str) -> None:
    path = f"scenarios-reserve/{old}.yaml"
    repo.run("thaw", path, "--why", "the reserve is spent", "--kind", "tighten")
    repo.git("rm", "-q", path)
    repo.write({
        f"scenarios-reserve/{name}.yaml": text,
        "scenarios/S1-typo.yaml": SCENARIO.replace("title:", f"twin: {name}\ntitle:"),
    })  # fmt: skip
    freeze(repo)


def replace_twin(repo: Repo, text: str, name: str = "S1-second") -> None:
    swap_twin(repo, "S1-reserve", name, text)
    reworded(repo, f"Rule of {name}.")


def test_a_twin_with_one_edited_word_renews_no_budget_and_one_in_other_words_does(held: Repo):
    held.run("run", "--reserve", *WHY)
    replace_twin(held, COPY)
    assert "1 of 3 looks spent" in plain(held.run("status"))
    said = plain(held.run("run", "--reserve", *WHY))
    assert "look 2 of 3, 1 look preceded it; S1-second repeats S1-reserve (78% of its prompt)" in said
    swap_twin(held, "S1-second", "S1-third", NEW)
    reworded(held, "Rule 3.")
    said = plain(held.run("run", "--reserve", *WHY))
    assert "look 1 of 3, no look preceded it" in said
    assert "repeats" not in said


def test_an_edited_copy_is_named_when_the_reserve_is_exhausted(held: Repo):
    held.commit({"evalrepo.yaml": HELD["evalrepo.yaml"] + "reserve: {looks: 1}\n"}, "one look")
    held.run("run", "--reserve", *WHY)
    replace_twin(held, COPY)
    said = plain(held.run("run", "--reserve", *WHY, exit=2))
    assert "RESERVE EXHAUSTED: the only look at the reserve of style (1 scenario) is spent" in said
    assert "S1-second repeats S1-reserve (78% of its prompt), so the looks at that count" in said


def test_in_a_shallow_clone_a_new_twin_cannot_be_told_from_a_copy(held: Repo, tmp_path):
    held.run("run", "--reserve", *WHY)
    replace_twin(held, NEW)
    assert "0 of 3 looks spent" in plain(held.run("status"))
    held.git("clone", "-q", "--depth=1", f"file://{held.path}", str(tmp_path / "cut"))
    said = plain(Repo(tmp_path / "cut", held.home).run("status"))
    assert "1 of 3 looks spent" in said
    assert "whether S1-second is new cannot be told without the history (git fetch --unshallow)" in said


def test_what_was_added_to_a_budget_goes_with_the_twins_that_it_was_added_for(held: Repo):
    held.commit({"evalrepo.yaml": HELD["evalrepo.yaml"] + "reserve: {looks: 1}\n"}, "one look")
    held.run("run", "--reserve", *WHY)
    said = held.run("budget", "style", "--add", "2", "--why", "two more candidates are to be told apart")
    assert "style: 3 looks are allowed now, 2 more than before" in said
    held.git("commit", "-qm", "budget")
    assert "1 of 3 looks spent" in plain(held.run("status"))
    replace_twin(held, COPY, "S1-copied")
    assert "1 of 3 looks spent" in plain(held.run("status")), "an edited copy is no new twin"
    swap_twin(held, "S1-copied", "S1-third", NEW)
    assert "0 of 1 look spent" in plain(held.run("status"))
    assert "1 of 1, no look preceded it" in plain(held.run("run", "--reserve", *WHY))


def test_a_subject_without_a_reserve_has_no_budget(repo: Repo):
    said = repo.run("budget", "style", "--add", "1", "--why", "more looks than none", exit=2)
    assert "style has no reserve, so there is nothing to look at" in said


def test_a_gate_counts_looks_at_an_edited_twin(held: Repo):
    policy = "gate: {suites: [release], golden: [], margin: 1, reserve: true}"
    text = HELD["evalrepo.yaml"].replace("gate: {suites: [release], golden: [S1]}", policy)
    held.commit({"evalrepo.yaml": text}, "policy")
    held.run("run")
    held.run("run", "--reserve", *WHY)
    held.git("tag", "v1")
    replace_twin(held, COPY)
    held.run("run")
    held.run("run", "--reserve", *WHY)
    (one,) = held.json("gate", exit=None)["background"]["looks"]
    assert (one["spent"], one["allowed"]) == (2, 3)
    assert "S1-second repeats S1-reserve" in one["remarks"][0]
