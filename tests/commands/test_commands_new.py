"""`evalrepo new`: a scenario to begin with, which is sound before a word of it is changed."""

from __future__ import annotations

import pytest

from evalrepo.commands.new import TEMPLATES

TWO_SUBJECTS = """\
version: 1
subjects:
  style: {paths: [subjects/style/**], agents: [scripted]}
  tone: {paths: [subjects/style/**], agents: [scripted]}
agents:
  scripted: {tiers: {one: {script: first}, two: {script: second}}}
"""


def test_every_template_is_sound_proven_and_runs_as_it_is(repo):
    for name in TEMPLATES:
        repo.run("new", f"N-{name}", "--from", name)
    repo.git("add", "-A")
    repo.git("commit", "-qm", "new scenarios")
    said = repo.run("lint")
    assert "finding" not in said.replace("no findings", "")
    assert "warning" not in said
    assert "all as expected\n" in repo.run("selftest", "N-*")
    measured = repo.json("run", "N-*", "--reps", "1")["cells"]
    assert len(measured) == len(TEMPLATES) + 1
    assert {cell["state"] for cell in measured} == {"ok"}


def test_a_template_explains_its_fields_and_names_the_fixture(repo):
    said = repo.run("new", "N1", "--fixture", "app")
    assert said.startswith("wrote scenarios/N1.yaml\n")
    assert said.splitlines()[-3:] == ["  evalrepo lint", "  evalrepo selftest N1", "  evalrepo run N1"]
    text = (repo.path / "scenarios/N1.yaml").read_text()
    assert "\nfixture: app " in text
    assert "\nsubject: style " in text
    assert "@" not in text
    top = [line for line in text.splitlines() if line and line[0].isalpha()]
    assert [line for line in top if "#" not in line] == ["behaviours:"]


def test_the_prompt_set_has_an_option_of_its_own(repo):
    repo.run("new", "calls", "--prompt-set", "--fixture", "app")
    assert "\n  fixture: app " in (repo.path / "scenarios/calls.yaml").read_text()
    assert {"calls/two-independent-answers", "calls/negative-unrelated-question"} <= set(
        repo.run("list", "--format", "ids").split()
    )
    assert "do not go together" in repo.run("new", "x", "--prompt-set", "--from", "task", exit=2)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("S1-typo", "scenarios/S1-typo.yaml is there already"),
        ("s1-TYPO", "scenarios/S1-typo.yaml is there already"),
        ("S1-broken", "scenarios/S1-broken.yaml is there already"),
        ("held", "scenarios-reserve/held.yaml is there already"),
        ("a/b", 'got "a/b"'),
        (".x", 'got ".x"'),
        ("x.lock", 'got "x.lock"'),
        ("x y", 'got "x y"'),
        ("", 'got ""'),
        ("N1.yaml", "evalrepo new N1"),
    ],
)
def test_taken_ids_and_bad_names_are_refused(repo, name, words):
    broken = "title: [\n"
    repo.write({"scenarios/S1-broken.yaml": broken, "scenarios-reserve/held.yaml": broken})
    assert words in repo.run("new", name, exit=2)
    assert (repo.path / "scenarios/S1-broken.yaml").read_text() == broken
    assert sorted(p.name for p in (repo.path / "scenarios").iterdir()) == ["S1-broken.yaml", "S1-typo.yaml"]


def test_other_broken_files_do_not_stand_in_the_way(repo):
    repo.write({"scenarios/S7.yaml": "title: [\n"})
    repo.run("new", "S8")
    assert (repo.path / "scenarios/S8.yaml").exists()


def test_a_broken_config_is_said_with_its_place(repo):
    repo.write({"evalrepo.yaml": "version: 1\nsubject: {}\n"})
    said = repo.run("new", "S8", exit=2)
    assert "evalrepo.yaml:2:1" in said
    assert not (repo.path / "scenarios/S8.yaml").exists()


def test_names_that_are_not_there_are_refused_with_the_nearest(repo):
    assert "did you mean app?" in repo.run("new", "S8", "--fixture", "ap", exit=2)
    assert "did you mean style?" in repo.run("new", "S8", "--subject", "stile", exit=2)
    assert 'called or matches "nope"' in repo.run("new", "S8", "--reserve-of", "nope", exit=2)


def test_with_several_subjects_one_has_to_be_named(repo):
    repo.write({"evalrepo.yaml": TWO_SUBJECTS})
    assert "which subject? there are style, tone" in repo.run("new", "S8", exit=2)
    repo.run("new", "S8", "--subject", "tone")
    repo.run("new", "S9", "--subject", "style", "--subject", "tone")
    assert "\nsubject: [style, tone] " in (repo.path / "scenarios/S9.yaml").read_text()


def test_every_script_that_a_tier_plays_is_in_the_new_scenario(repo):
    repo.write({"evalrepo.yaml": TWO_SUBJECTS})
    repo.run("new", "S8", "--subject", "tone")
    plan = repo.json("run", "S8", "--dry-run")
    assert [cell["tier"] for cell in plan["cells"]] == ["one", "two"]
    assert plan["skipped"] == []


def test_an_alias_that_is_lost_is_said(repo):
    assert "S1 is no alias of S1-typo any more" in repo.run("new", "S1-other")
    assert "alias" not in repo.run("new", "S1-third")


def test_a_reserve_twin_begins_with_the_text_of_its_twin_and_can_be_frozen(repo):
    said = repo.run("new", "S1-typo-reserve", "--reserve-of", "S1")
    assert "add to scenarios/S1-typo.yaml: twin: S1-typo-reserve" in said
    twin = (repo.path / "scenarios-reserve/S1-typo-reserve.yaml").read_text()
    source = (repo.path / "scenarios/S1-typo.yaml").read_text()
    assert twin.endswith(source)
    assert "\ntwin: S1-typo\ntripwire: " in twin
    repo.write({"scenarios/S1-typo.yaml": "twin: S1-typo-reserve\n" + source})
    repo.git("add", "-A")
    repo.run("freeze")
    repo.git("commit", "-qm", "a reserve")
    assert "error" not in repo.run("lint")
    assert "as frozen" in repo.run("verify")
    assert "all as expected\n" in repo.run("selftest")


def test_two_twins_have_different_tripwires_and_none_of_the_first_ones(repo):
    repo.run("new", "R1", "--reserve-of", "S1-typo")
    repo.write({"scenarios/S2.yaml": (repo.path / "scenarios-reserve/R1.yaml").read_text()})
    repo.run("new", "R2", "--reserve-of", "S2")
    wires = [
        line
        for name in ("R1", "R2")
        for line in (repo.path / f"scenarios-reserve/{name}.yaml").read_text().splitlines()
        if line.startswith("tripwire:")
    ]
    assert len(set(wires)) == len(wires) == 2


def test_a_prompt_set_has_no_twin_written_for_it(repo):
    repo.run("new", "calls", "--prompt-set")
    assert "is a prompt set" in repo.run("new", "calls-reserve", "--reserve-of", "calls", exit=2)


def test_json_says_what_the_text_says(repo):
    made = repo.json("new", "S8")
    assert made == {
        "schema": 1,
        "path": "scenarios/S8.yaml",
        "notes": [],
        "next": ["evalrepo lint", "evalrepo selftest S8", "evalrepo run S8"],
    }


def test_without_a_config_it_says_init(empty):
    assert "evalrepo init writes one" in empty.run("new", "S1", exit=2)
