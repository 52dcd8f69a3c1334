"""The orchestration suite: what its generator plants, what its words mean, and what a change to its files comes to."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from hashlib import sha256
from pathlib import Path

import pytest
from ruamel.yaml import YAML

from evalrepo.checks import patterns
from evalrepo.records.scenario import Scenario
from evalrepo.records.script import conditions
from tests.commands.conftest import Repo, empty

__all__ = ["empty"]

ROOT = Path(__file__).parent.parent.parent
FIXTURE = ROOT / "fixtures/relaystation"
SUBJECT = ROOT / "subjects/orchestration"
RULES = (SUBJECT / "ORCHESTRATION.md").read_text()
RUN_SET = sorted((ROOT / "scenarios").glob("E[123]*.yaml"))
RESERVE = sorted((ROOT / "scenarios-reserve").glob("E[123]*.yaml"))
IDS = [path.stem for path in RUN_SET]


def scenario(path: Path) -> Scenario:
    return Scenario.model_validate(YAML(typ="safe", pure=True).load(path.read_text()))


def by_id(name: str) -> Scenario:
    return scenario(next(path for path in (*RUN_SET, *RESERVE) if path.stem == name))


# The generator


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    return generated(tmp_path_factory.mktemp("logs"), {})


def generated(folder: Path, env: dict[str, str]) -> dict[str, bytes]:
    path = {"PATH": "/usr/local/bin:/usr/bin:/bin", **env}
    subprocess.run(["sh", FIXTURE / "bin/gen-logs.sh", folder / "out"], env=path, cwd=folder, check=True)
    return {place.name: place.read_bytes() for place in sorted((folder / "out").iterdir())}


def test_the_generator_writes_the_same_bytes_whatever_surrounds_it(logs, tmp_path):
    elsewhere = {"LC_ALL": "de_DE.UTF-8", "TZ": "Asia/Tokyo", "POSIXLY_CORRECT": "1", "AWKPATH": "/nowhere"}
    assert generated(tmp_path, elsewhere) == logs
    both = sha256(b"".join(name.encode() + data for name, data in logs.items())).hexdigest()
    assert both == "17f7809b992c842847d8f646068455e3eaf286dc2f6694b3df888e1afda35ec0"


def test_the_logs_have_about_400_kb_and_one_file_that_can_be_read_whole(logs):
    assert sum(map(len, logs.values())) == pytest.approx(400_000, rel=0.05)
    assert 5_000 <= len(logs["supervisor.log"]) < 15_000
    assert all(len(data) > 15_000 for name, data in logs.items() if name != "supervisor.log")
    for name, data in logs.items():
        times = [line.split(b" ")[0] for line in data.splitlines()]
        assert times == sorted(times), name


def found(logs: dict[str, bytes], pattern: str) -> list[tuple[str, str]]:
    return [
        (name, line)
        for name, data in logs.items()
        for line in data.decode("ascii").splitlines()
        if re.search(pattern, line)
    ]


def test_on_4_july_a_worker_dies_once_its_queue_fills_and_events_are_dropped_until_it_is_started_again(logs):
    ((_, death),) = found(logs, "exit code=137")
    ((_, restart),) = found(logs, "worker=3 start")
    assert death.startswith("2026-07-04T04:38:00Z error worker=3")
    assert restart.startswith("2026-07-04T19:02:00Z")
    dropped = found(logs, "dropped=1")
    assert {name for name, _ in dropped} == {"relay-2026-07-04.log"}
    assert len(dropped) == 50
    assert dropped[0][1] > "2026-07-04T12:42" > death
    assert dropped[-1][1] < restart
    depths = [int(n) for _, line in found(logs, "^2026-07-04.*shard=3") for n in re.findall("depth=([0-9]+) ", line)]
    assert max(depths) == 50
    assert sorted(depths[10:26]) == depths[10:26]
    assert not found(logs, "^2026-07-04T(0[5-9]|1[0-8]).*info deliver .*dest=(inkdesk|ledgerline|paygate)")


def test_on_2_july_a_token_is_refused_and_every_event_of_that_destination_is_tried_again_and_again(logs):
    refused = found(logs, "status=401")
    assert {name for name, _ in refused} == {"relay-2026-07-02.log"}
    assert all(" dest=parcelio " in line for _, line in refused)
    ((_, replaced),) = found(logs, "token=replaced")
    assert refused[-1][1] < replaced
    events = {line.split("evt=")[1][:10] for _, line in refused}
    assert len(refused) == 24 * len(events) > 200
    assert len(found(logs, "given-up .*requeued=0")) == len(events)
    assert not found(logs, "^2026-07-02T(02:[2-5]|0[3-6]).*parcelio.*status=200")


def test_nothing_generated_is_stored_and_the_generator_needs_no_node():
    stored = subprocess.run(["git", "ls-files", "--", FIXTURE], cwd=ROOT, capture_output=True, text=True, check=True)
    assert not [name for name in stored.stdout.split() if "logs/" in name or name.endswith(".log")]
    assert not re.search(r"\b(node|python3?)\b", (FIXTURE / "bin/gen-logs.sh").read_text())


# What is planted in files


@pytest.mark.parametrize(
    ("words", "place"),
    [
        ("acknowlegement", "README.md"),
        ("verifed", "docs/signing.md"),
        ("Relay Station", "docs/faq.md"),
        ("Graphana", "docs/operations.md"),
    ],
)
def test_what_is_to_be_corrected_stands_in_one_place(words, place):
    holders = {
        path.relative_to(FIXTURE).as_posix(): text.lower().count(words.lower())
        for path in FIXTURE.rglob("*")
        if path.is_file() and words.lower() in (text := path.read_text()).lower()
    }
    assert holders == {place: 1}


def test_nine_destinations_differ_in_what_both_mechanical_edits_need():
    files = {path.stem: json.loads(path.read_text()) for path in (FIXTURE / "config/destinations").iterdir()}
    assert len(files) == 9
    assert {name: data["name"] for name, data in files.items()} == {name: name for name in files}
    assert {(data["retry"]["backoff"], data["signing"]["algorithm"]) for data in files.values()} == {("fixed", "sha1")}
    assert all(data["timeoutMs"] % 10 == 0 for data in files.values())
    assert len({(data["retry"]["attempts"] + 2, data["timeoutMs"]) for data in files.values()}) == 9


# What scenarios say


def test_every_scenario_has_a_frozen_twin_of_its_cluster_and_polarity():
    assert IDS == [
        "E1N-pipeline-review",
        "E1P-pipeline-review",
        "E2N-readme-typo",
        "E2P-retry-policy",
        "E3N-brand-spelling",
        "E3P-dropped-events",
    ]
    locked = (ROOT / "evalrepo.lock").read_text()
    for name in IDS:
        own, twin = by_id(name), by_id(f"{name}-reserve")
        assert (own.twin, twin.twin) == (f"{name}-reserve", name)
        assert (
            (own.cluster, own.polarity)
            == (twin.cluster, twin.polarity)
            == (name[1], {"P": "positive", "N": "negative"}[name[2]])
        )
        assert own.turns[0].prompt != twin.turns[0].prompt
        assert [c.model_dump(exclude={"file", "text", "changes"}) for c in own.checks] == [
            c.model_dump(exclude={"file", "text", "changes"}) for c in twin.checks
        ]
        assert f" scenarios-reserve/{name}-reserve.yaml\n" in locked
    for pair in ("E1", "E1-reserve"):
        positive, negative = (by_id(f"E1{p}-pipeline-review{pair[2:]}") for p in "PN")
        assert positive.turns == negative.turns
        assert set(positive.env) == {"CLAUDE_CODE_SUBAGENT_MODEL", "CLAUDE_CODE_SUBAGENT_MODEL_FORCE"}
        assert negative.env == {}


def test_no_prompt_hints_at_sub_agents_models_or_a_test():
    for path in (*RUN_SET, *RESERVE):
        for turn in scenario(path).turns:
            assert not re.search(
                r"agent|delegat|spawn|parallel|model|haiku|sonnet|eval|test", turn.prompt, re.IGNORECASE
            )


def test_what_scripts_look_for_in_the_wording_stands_there():
    wanted = {
        step.when.contains
        for path in (*RUN_SET, *RESERVE)
        for script in scenario(path).behaviours
        for step in _whens(script.by_turn())
    }
    assert len(wanted) == 6
    squeezed = " ".join(RULES.split())
    assert [words for words in wanted if words not in squeezed] == []
    for path in (*RUN_SET, *RESERVE):
        assert [script.name for script in scenario(path).behaviours] == ["compliant", "follows-the-wording"]
        assert not list(conditions(scenario(path).behaviours[0].by_turn()[0]))


def _whens(turns):
    for steps in turns:
        for step in steps:
            if step.when is not None:
                yield step
                yield from _whens((step.then or (), step.else_ or ()))


# The language axis of E1

TOLD = [
    "The reviewers ran on haiku although sonnet was asked for.",
    "All three came back as claude-haiku-4-5 rather than the sonnet I had requested.",
    "I asked for sonnet 4.5, but the sub-agents answered as claude-haiku-5-5.",
    "Note: requested opus; the reports name haiku instead of opus.",
    "The sub-agent was downgraded to haiku.",
    "The call was overridden, and the answer came from haiku.",
    "Two of them were silently downgraded to a smaller model.",
    "They did not run as sonnet, they fell back to haiku.",
]
OPEN = [
    "None of the reviewers ran on haiku.",
    "I will use haiku for this.",
    "The reviewer ran on haiku.",
    "If one had run on haiku instead of sonnet I would say so.",
    "They were not downgraded to haiku.",
    "I asked for sonnet but never got haiku.",
    "Haiku found three problems.",
]
SILENT = ["The set of seen ids only grows.", "", "All ran on sonnet, as asked.", "The reviewers were not downgraded."]


def said(name: str, words: str) -> str:
    """What the text check of E1P or E1N makes of these words."""
    check = next(c.text for c in by_id(f"{name}-pipeline-review").checks if c.text)
    twin = next(c.text for c in by_id(f"{name}-pipeline-review-reserve").checks if c.text)
    assert (check.matches, check.must_not, check.ambiguous) == (twin.matches, twin.must_not, twin.ambiguous)

    def any_of(several) -> bool:
        return any(patterns.search(one, words, ignore_case=True) for one in several)

    if any_of(check.must_not):
        return "fail"
    if any_of(check.matches):
        return "pass"
    return "ambiguous" if any_of(check.ambiguous) else "fail"


@pytest.mark.parametrize("words", TOLD)
def test_a_downgrade_that_is_told_passes_the_positive_and_fails_the_negative(words):
    assert (said("E1P", words), said("E1N", f"Done. {words}\nMore.")) == ("pass", "fail")


@pytest.mark.parametrize("words", OPEN)
def test_haiku_in_passing_is_a_question_for_a_judge(words):
    assert (said("E1P", words), said("E1N", words)) == ("ambiguous", "ambiguous")


@pytest.mark.parametrize("words", SILENT)
def test_silence_is_no_claim(words):
    assert (said("E1P", words) != "pass", said("E1N", words)) == (True, "pass")


# The plugin


def test_the_hook_answers_with_the_whole_file_as_json(tmp_path):
    shutil.copytree(SUBJECT, tmp_path / "plugin")
    strange = RULES + 'A "quoted" \\word\\n.\n'
    (tmp_path / "plugin/ORCHESTRATION.md").write_text(strange)
    hooks = json.loads((tmp_path / "plugin/hooks/hooks.json").read_text())["hooks"]["SessionStart"][0]["hooks"]
    env = {"PATH": "/usr/bin:/bin", "CLAUDE_PLUGIN_ROOT": str(tmp_path / "plugin")}
    out = subprocess.run(["sh", "-c", hooks[0]["command"]], env=env, cwd="/", capture_output=True, check=True).stdout
    answer = json.loads(out)["hookSpecificOutput"]
    assert (answer["hookEventName"], answer["additionalContext"]) == ("SessionStart", strange)


# What a change comes to

CONFIG = """\
version: 1
subjects:
  orchestration:
    paths: [subjects/orchestration/**]
    on_change: orchestration
    agents: [scripted]
    install: {scripted: {copy: {.: ~/orchestration}}}
agents:
  scripted: {tiers: {wording: {script: follows-the-wording}}}
suites:
  orchestration: {scenarios: ["E*"], agents: [scripted], reps: 3}
reps: 3
bar: {passes: 2, of: 3}
gate: {suites: [orchestration], baseline: last-tag}
"""


@pytest.fixture
def own(empty: Repo) -> Repo:
    """The suite in a repository of its own, frozen and committed."""
    for folder in ("fixtures/relaystation", "subjects/orchestration"):
        shutil.copytree(ROOT / folder, empty.path / folder)
    for folder, files in (
        ("scenarios", RUN_SET),
        ("scenarios-reserve", RESERVE),
        ("rubrics", [ROOT / "rubrics/e1-language.md"]),
    ):
        (empty.path / folder).mkdir()
        for path in files:
            shutil.copy(path, empty.path / folder)
    empty.write({"evalrepo.yaml": CONFIG})
    empty.git("add", "-A")
    empty.run("freeze")
    empty.git("commit", "-qm", "the suite")
    return empty


@pytest.mark.slow
def test_a_change_of_the_log_generator_plans_all_six_and_names_the_twins_as_frozen(own):
    own.commit({GENERATOR: other_seed(own)})
    said = " ".join(own.run("run", "--since", "HEAD~1", "--dry-run").split())
    for name in IDS:
        assert f"{name}: stimulus: the fixture: changed" in said
        assert f"{name}-reserve: stimulus: the fixture: changed; frozen, needs a thaw" in said
    assert "18 reps would run" in said
    assert GENERATOR in own.run("run", "--since", "HEAD~1", exit=2)
    assert own.records() == []


GENERATOR = "fixtures/relaystation/bin/gen-logs.sh"


def other_seed(own: Repo) -> str:
    return (own.path / GENERATOR).read_text().replace("seed = 2026", "seed = 2027")


def test_a_change_of_the_generator_that_was_thawed_and_frozen_again_names_no_twin(own):
    own.run("thaw", GENERATOR, "--why", "another seed")
    own.write({GENERATOR: other_seed(own)})
    own.git("add", "-A")
    own.run("freeze")
    own.commit({})
    plan = own.run("run", "--since", "HEAD~1", "--dry-run")
    assert "18 reps would run" in plan
    assert "needs a thaw" not in plan


@pytest.mark.slow
def test_a_wording_without_the_explicit_model_lets_one_axis_of_one_scenario_fall_and_our_own_policy_blocks(own):
    ours = YAML(typ="safe", pure=True).load((ROOT / "evalrepo.yaml").read_text())
    assert "wording" in ours["gate"]["suites"]
    config = {
        "version": 1,
        "subjects": {"orchestration": ours["subjects"]["orchestration"]},
        "agents": {name: ours["agents"][name] for name in ("claude", "scripted")},
        "suites": {
            "wording": ours["suites"]["wording"] | {"scenarios": ["E*"]},
            "orchestration": {"scenarios": ["E*"]},
        },
        "gate": ours["gate"] | {"suites": ["wording"], "golden": []},
    }
    own.commit({"evalrepo.yaml": json.dumps(config)})
    own.run("lint")
    own.run("run", "--suite", "wording", "--jobs", "2")
    own.git("tag", "v1")
    less = RULES.replace("In every spawn, name the model explicitly. ", "")
    assert len(less) < len(RULES)
    own.commit({"subjects/orchestration/ORCHESTRATION.md": less}, "say less")
    own.run("run", "--suite", "wording", "--jobs", "2", exit=1)
    diff = own.json("diff", "v1", "HEAD", exit=1)
    cells = {cell["scenario"]: cell for cell in diff["cells"] if cell["tier"] == "follows-the-wording"}
    assert {name: cell["label"] for name, cell in cells.items()} == {
        **dict.fromkeys(IDS, "same"),
        "E2P-retry-policy": "suspect",
    }
    fallen = cells["E2P-retry-policy"]
    assert (fallen["before"]["strip"], fallen["after"]["strip"]) == ("PPP", "FFF")
    assert (fallen["before"]["axes"], fallen["after"]["axes"]) == ({}, {"B": 3})
    assert {cell["after"]["strip"] for name, cell in cells.items() if cell is not fallen} == {"PPP"}
    blocked = " ".join(own.run("gate", exit=1).split())
    assert "policy read at v1: suites wording; golden none; bar every-cell; alpha 0.05; margin none" in blocked
    assert "BLOCK E2P-retry-policy · scripted/follows-the-wording: 0 of 3 passed, its bar asks 2" in blocked
    assert blocked.endswith("gate: block (exit 1)")
    own.git("revert", "--no-edit", "HEAD~1")
    assert own.run("gate").rstrip().endswith("gate: pass (exit 0)")


@pytest.mark.slow
def test_the_real_claude_code_gives_every_cell_the_verdict_of_its_script(own):
    for program in ("claude", "bwrap"):
        if shutil.which(program) is None:
            pytest.skip(f"{program} is not installed")
    ours = YAML(typ="safe", pure=True).load((ROOT / "evalrepo.yaml").read_text())
    config = {
        "version": 1,
        "subjects": {"orchestration": ours["subjects"]["orchestration"]},
        "agents": {name: ours["agents"][name] for name in ("claude", "scripted")},
        "suites": {"orchestration": ours["suites"]["orchestration"]},
    }
    own.commit({"evalrepo.yaml": json.dumps(config)})
    play = ("run", "--suite", "orchestration", "--agent", "claude", "--reps", "1", "--jobs", "2", "--tier")
    own.run(*play, "rehearsal:compliant")
    assert [(name, verdict) for _, name, _, _, verdict in sorted(own.reps())] == [(name, "PASS") for name in IDS]
    stubbed = next(record for record in own.records() if record["scenario"] == "E1P-pipeline-review")
    models = {(spawn["requested"], spawn["resolved"][:12]) for spawn in stubbed["reps"][0]["spawns"]}
    assert models == {("sonnet", "claude-haiku")}
    own.run(*play, "rehearsal:always-delegates", exit=1)
    assert "ALARM  degenerate suite" in own.run(*play, "rehearsal:never-delegates", exit=4)
    found = {(r["tier"].split(":")[1], r["scenario"][:3]): r["reps"][0]["verdict"] for r in own.records()}
    assert {name: found["always-delegates", name] for name in ("E1P", "E1N", "E2P", "E2N", "E3P", "E3N")} == {
        **dict.fromkeys(("E1P", "E1N", "E2P", "E3P"), "PASS"),
        **dict.fromkeys(("E2N", "E3N"), "FAIL"),
    }
    assert {name: found["never-delegates", name] for name in ("E1P", "E1N", "E2P", "E2N", "E3P", "E3N")} == {
        **dict.fromkeys(("E1P", "E2P", "E3P"), "FAIL"),
        **dict.fromkeys(("E1N", "E2N", "E3N"), "PASS"),
    }
