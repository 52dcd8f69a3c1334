"""Ways to get round the discipline, each past the hooks, each found by `verify --since` in the commit that did it."""

from __future__ import annotations

import shutil
from collections.abc import Callable

import pytest
from frozen_repo import Repo, new
from ways_world import (
    BOX,
    CONFIG,
    LEDGER,
    LOCK,
    R1,
    R2,
    RULES,
    S1,
    TONE,
    branch,
    event,
    freeze,
    merge_by_hand,
    put,
    relock,
    renew,
    save,
    scenario,
    sha,
    since,
    thaw,
    without_line,
)

Way = Callable[[Repo], str]
"""Does it, and returns the commit that did."""
WAYS: dict[str, tuple[Way, str, str]] = {}


def way(code: str, path: str) -> Callable[[Way], Way]:
    def add(act: Way) -> Way:
        WAYS[act.__name__] = (act, code, path)
        return act

    return add


@pytest.fixture
def repo(world: Repo) -> Repo:
    return world


# Files


@way("FRZ001", R1)
def a_reserve_file_is_edited(repo: Repo) -> str:
    return put(repo, {R1: scenario("easier")})


@way("FRZ001", f"{BOX}/README.md")
def a_fixture_of_the_reserve_is_edited(repo: Repo) -> str:
    return put(repo, {f"{BOX}/README.md": "the answer is 4\n"})


@way("FRZ001", TONE)
def a_rubric_is_changed_and_changed_back(repo: Repo) -> str:
    old = (repo.root / TONE).read_text()
    did = put(repo, {TONE: old.replace("kind?", "any?")})
    put(repo, {"AgentsReport/evaluation/note.md": "measured\n"})
    put(repo, {TONE: old})
    return did


@way("FRZ001", "scenarios/files/R1/c.sh")
def a_hidden_file_is_edited(repo: Repo) -> str:
    return put(repo, {"scenarios/files/R1/c.sh": "true # always\n"})


@way("FRZ001", R1)
def a_result_commit_carries_an_edit(repo: Repo) -> str:
    return put(repo, {"AgentsReport/evaluation/2026-11/x.notes.md": "n\n", R1: scenario("easier")}, "Add results")


@way("FRZ002", "scenarios-reserve/R3.yaml")
def a_file_is_added_to_the_reserve(repo: Repo) -> str:
    return put(repo, {"scenarios-reserve/R3.yaml": scenario("three")})


@way("FRZ002", f"{BOX}/hint.txt")
def a_file_is_added_to_a_frozen_fixture(repo: Repo) -> str:
    return put(repo, {f"{BOX}/hint.txt": "look here\n"})


@way("FRZ003", R2)
def a_hard_question_is_deleted(repo: Repo) -> str:
    (repo.root / R2).unlink()
    return save(repo)


@way("FRZ003", R2)
def a_question_is_deleted_and_added_again_in_other_words(repo: Repo) -> str:
    (repo.root / R2).unlink()
    did = save(repo)
    put(repo, {R2: scenario("softer")})
    return did


@way("FRZ004", R1)
def a_file_is_renamed(repo: Repo) -> str:
    repo.git("mv", R1, "scenarios-reserve/R9.yaml")
    return save(repo)


@way("FRZ004", R1)
def a_file_is_renamed_with_rename_detection_off(repo: Repo) -> str:
    for key in ("diff.renames", "merge.renames", "status.renames"):
        repo.git("config", key, "false")
    repo.git("mv", R1, "docs/R1.yaml")
    repo.git("mv", "docs/R1.yaml", "scenarios-reserve/R7.yaml")
    return save(repo)


@way("FRZ004", R1)
def a_file_is_renamed_in_the_case_of_its_letters(repo: Repo) -> str:
    repo.git("mv", R1, "scenarios-reserve/r1.yaml")
    return save(repo)


@way("FRZ004", f"{BOX}/caf\u00e9.txt")
def a_file_is_renamed_to_another_unicode_form(repo: Repo) -> str:
    (repo.root / f"{BOX}/caf\u00e9.txt").rename(repo.root / f"{BOX}/cafe\u0301.txt")
    return save(repo)


@way("FRZ003", R1)
def the_reserve_is_moved_and_the_config_names_its_new_place(repo: Repo) -> str:
    repo.git("mv", "scenarios-reserve", "held")
    return put(repo, {CONFIG: (repo.root / CONFIG).read_text() + "frozen: {also: [held/**]}\n"})


@way("FRZ005", f"{BOX}/README.md")
def a_fixture_is_made_executable(repo: Repo) -> str:
    (repo.root / f"{BOX}/README.md").chmod(0o755)
    return save(repo)


@way("FRZ006", R1)
def a_file_becomes_a_symlink(repo: Repo) -> str:
    (repo.root / R1).unlink()
    (repo.root / R1).symlink_to("../docs/page.md")
    return save(repo)


@way("FRZ006", BOX)
def a_folder_becomes_a_symlink(repo: Repo) -> str:
    shutil.move(repo.root / BOX, repo.root / "elsewhere")
    (repo.root / BOX).symlink_to("../elsewhere")
    return save(repo)


@way("FRZ006", R1)
def a_file_becomes_a_gitlink(repo: Repo) -> str:
    repo.git("update-index", "--cacheinfo", f"160000,{sha(repo)},{R1}")
    repo.git("commit", "-q", "--no-verify", "-m", "x")
    return sha(repo)


@way("FRZ006", BOX)
def a_submodule_that_git_is_told_to_ignore_takes_a_folder_s_place(repo: Repo) -> str:
    inner = new(repo.root.parent / "inner", repo.environ)
    inner.commit({"README.md": "box\n"})
    repo.git("rm", "-q", "-r", BOX)
    repo.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(inner.root), BOX)
    repo.git("config", "-f", ".gitmodules", f"submodule.{BOX}.ignore", "all")
    repo.git("config", "diff.ignoreSubmodules", "all")
    repo.git("add", ".gitmodules")
    repo.git("commit", "-q", "--no-verify", "-m", "x")
    return sha(repo)


@way("FRZ006", f"{BOX}/README.md")
def a_file_becomes_a_pointer_of_git_lfs(repo: Repo) -> str:
    text = "version https://git-lfs.github.com/spec/v1\noid sha256:" + "0" * 64 + "\nsize 4\n"
    return put(repo, {f"{BOX}/README.md": text})


@way("FRZ001", f"{BOX}/crlf.txt")
def filters_of_line_ends_are_switched_on(repo: Repo) -> str:
    repo.write({".gitattributes": "* text=auto eol=lf\n"})
    repo.git("add", "--renormalize", ".")
    return save(repo)


@way("FRZ001", f"{BOX}/README.md")
def a_clean_filter_changes_what_is_stored(repo: Repo) -> str:
    repo.git("config", "filter.soft.clean", "sed s/box/softbox/")
    repo.write({".gitattributes": "fixtures/** filter=soft\n"})
    repo.git("add", "--renormalize", ".")
    return save(repo)


@way("FRZ001", R1)
def an_edit_that_git_was_told_not_to_see_is_committed(repo: Repo) -> str:
    repo.git("update-index", "--assume-unchanged", R1)
    repo.write({R1: scenario("easier")})
    repo.git("update-index", "--no-assume-unchanged", R1)
    return save(repo)


# Lock and ledger


@way("FRZ009", R1)
def a_file_is_edited_and_its_line_too_in_one_commit(repo: Repo) -> str:
    repo.write({R1: scenario("easier")})
    repo.git("add", "-A")
    relock(repo, R1)
    return save(repo)


@way("FRZ009", R2)
def a_file_is_deleted_with_its_line(repo: Repo) -> str:
    (repo.root / R2).unlink()
    without_line(repo, R2)
    return save(repo)


@way("FRZ009", R1)
def a_line_is_written_by_hand_after_a_thaw(repo: Repo) -> str:
    line = next(text for text in (repo.root / LOCK).read_text().splitlines(keepends=True) if R1 in text)
    before = (repo.root / LOCK).read_text()
    thaw(repo, R1)
    save(repo)
    repo.write({R1: scenario("easier"), LOCK: before})
    assert line in before
    repo.git("add", "-A")
    relock(repo, R1)
    return save(repo)


@way("FRZ002", R1)
def a_thaw_is_dated_before_the_freeze(repo: Repo) -> str:
    thaw(repo, R1)
    newest = event(repo, -1)
    newest.rename(newest.with_name("00000000000000000000000000.yaml"))
    repo.write({R1: scenario("easier")})
    return save(repo)


@way("FRZ007", LOCK)
def the_lock_is_removed(repo: Repo) -> str:
    (repo.root / LOCK).unlink()
    return save(repo)


@way("FRZ009", R1)
def the_lock_is_removed_and_a_new_one_is_written_over_edited_files(repo: Repo) -> str:
    (repo.root / LOCK).unlink()
    repo.write({R1: scenario("easier")})
    save(repo)
    freeze(repo)
    return save(repo)


@way("FRZ010", LEDGER)
def lock_and_ledger_begin_anew(repo: Repo) -> str:
    (repo.root / LOCK).unlink()
    shutil.rmtree(repo.root / LEDGER)
    repo.write({R1: scenario("easier")})
    repo.git("add", "-A")
    freeze(repo)
    return save(repo)


@way("FRZ014", LOCK)
def a_root_is_taken_out_of_the_lock(repo: Repo) -> str:
    text = (repo.root / LOCK).read_text()
    return put(repo, {LOCK: text.replace(f"root {BOX}\n", "")})


@way("LCK001", LOCK)
def the_lock_is_made_unreadable(repo: Repo) -> str:
    return put(repo, {LOCK: "nothing\n"})


@way("FRZ008", CONFIG)
def the_config_is_removed(repo: Repo) -> str:
    (repo.root / CONFIG).unlink()
    return save(repo)


@way("FRZ010", LEDGER)
def an_event_is_removed(repo: Repo) -> str:
    event(repo).unlink()
    return save(repo)


@way("FRZ010", LEDGER)
def an_event_is_edited(repo: Repo) -> str:
    event(repo).write_text(event(repo).read_text().replace("why: frozen", "why: nothing to see"))
    return save(repo)


@way("FRZ010", LEDGER)
def an_event_is_removed_and_put_back_before_the_release(repo: Repo) -> str:
    text, path = event(repo).read_text(), event(repo)
    path.unlink()
    did = save(repo)
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    save(repo)
    return did


@way("FRZ010", LEDGER)
def an_event_is_renamed_to_stand_at_another_time(repo: Repo) -> str:
    event(repo).rename(event(repo).with_name("00000000000000000000000000.yaml"))
    return save(repo)


# History


@way("FRZ001", R1)
def an_edit_is_reverted_and_the_revert_is_reverted(repo: Repo) -> str:
    put(repo, {R1: scenario("easier")})
    repo.git("revert", "--no-edit", "HEAD")
    repo.git("revert", "--no-edit", "HEAD")
    return sha(repo)


@way("FRZ010", LEDGER)
def a_rightful_freeze_is_reverted(repo: Repo) -> str:
    renew(repo, R1, scenario("better"))
    repo.git("revert", "--no-edit", "HEAD")
    return sha(repo)


@way("FRZ001", R1)
def an_edit_comes_in_by_a_clean_merge(repo: Repo) -> str:
    branch(repo, "side")
    did = put(repo, {R1: scenario("easier")})
    repo.git("checkout", "-q", "main")
    put(repo, {"docs/page.md": "main\n"})
    repo.git("merge", "-q", "--no-ff", "-m", "clean", "side")
    return did


@way("FRZ001", R1)
def an_edit_is_picked_from_another_branch(repo: Repo) -> str:
    branch(repo, "side", "base")
    put(repo, {R1: scenario("easier")})
    repo.git("checkout", "-q", "main")
    repo.git("cherry-pick", "side")
    return sha(repo)


@way("FRZ001", R1)
def a_merge_resolves_to_content_that_no_parent_has(repo: Repo) -> str:
    branch(repo, "side", "base")
    put(repo, {"docs/other.md": "side\n"})
    repo.git("checkout", "-q", "main")
    return merge_by_hand(repo, "side", **{R1: scenario("easier")})


@way("FRZ001", R2)
def an_octopus_merge_carries_an_edit(repo: Repo) -> str:
    for name in ("a", "b"):
        branch(repo, name, "base")
        put(repo, {f"docs/{name}.md": name})
    repo.git("checkout", "-q", "main")
    return merge_by_hand(repo, "a", "b", **{R2: scenario("easier")})


@way("FRZ009", R1)
def a_merge_of_two_rightful_edits_resolves_to_a_third(repo: Repo) -> str:
    branch(repo, "side")
    renew(repo, R1, scenario("from the side"))
    repo.git("checkout", "-q", "main")
    renew(repo, R1, scenario("from main"))
    repo.git("checkout", "side", "--", LEDGER)
    repo.write({R1: scenario("easier")})
    repo.git("add", "-A")
    relock(repo, R1)
    return merge_by_hand(repo, "side")


@way("FRZ009", R1)
def a_merge_takes_back_what_the_other_side_froze_and_keeps_its_events(repo: Repo) -> str:
    branch(repo, "side")
    renew(repo, R1, scenario("from the side"))
    repo.git("checkout", "-q", "main")
    put(repo, {"docs/page.md": "main\n"})
    repo.git("checkout", "side", "--", LEDGER)
    return merge_by_hand(repo, "side")


@way("FRZ010", LEDGER)
def a_merge_by_ours_loses_the_other_side_s_events(repo: Repo) -> str:
    branch(repo, "side")
    renew(repo, R1, scenario("from the side"))
    repo.git("checkout", "-q", "main")
    put(repo, {"docs/page.md": "main\n"})
    repo.git("merge", "-q", "-s", "ours", "-m", "ours", "side")
    return sha(repo)


@way("FRZ010", LEDGER)
def the_tip_is_amended_over_a_freeze(repo: Repo) -> str:
    did = renew(repo, R1, scenario("better"))
    repo.git("tag", "-f", "base")
    repo.git("reset", "-q", "--hard", "HEAD~1")
    put(repo, {"docs/page.md": "rewritten\n"})
    return did


@way("FRZ010", LEDGER)
def the_branch_begins_anew_without_its_past(repo: Repo) -> str:
    did = sha(repo, "base")
    repo.git("checkout", "-q", "--orphan", "clean")
    (repo.root / LOCK).unlink()
    shutil.rmtree(repo.root / LEDGER)
    repo.write({R1: scenario("easier")})
    repo.git("add", "-A")
    freeze(repo)
    save(repo)
    return did


@way("FRZ001", R1)
def a_commit_is_hidden_by_a_replace_reference(repo: Repo) -> str:
    clean = sha(repo)
    did = put(repo, {R1: scenario("easier")})
    repo.git("replace", did, clean)
    return did


@way("FRZ001", R1)
def a_commit_is_hidden_by_a_graft(repo: Repo) -> str:
    did = put(repo, {R1: scenario("easier")})
    put(repo, {R1: scenario("one")})
    (repo.root / ".git/info/grafts").write_text(f"{sha(repo)} {sha(repo, 'base')}\n")
    return did


# Results

RESULT = "AgentsReport/evaluation/2026-11/2026-11-29_scenario-S1_scripted-default_21a9qafx.md"


@way("RES007", RESULT)
def a_result_is_amended_and_put_back_later(repo: Repo) -> str:
    put(repo, {RESULT: "# S1: 1 of 3\n"})
    did = put(repo, {RESULT: "# S1: 3 of 3\n"})
    put(repo, {RESULT: "# S1: 1 of 3\n"})
    return did


@way("RES008", RESULT)
def a_bad_result_is_deleted(repo: Repo) -> str:
    put(repo, {RESULT: "# S1: 1 of 3\n"})
    (repo.root / RESULT).unlink()
    return save(repo)


@way("RES009", RESULT)
def a_result_is_moved_to_another_run(repo: Repo) -> str:
    put(repo, {RESULT: "# S1: 1 of 3\n"})
    repo.git("mv", RESULT, RESULT.replace("21a9qafx", "21a9qafy"))
    return save(repo)


# The goal


@way("FRZ019", S1)
def subject_and_question_change_in_one_commit(repo: Repo) -> str:
    return put(repo, {RULES: "be kind\n", S1: scenario("softer", reserve=False)})


@way("FRZ019", S1)
def the_question_changes_two_commits_after_the_subject(repo: Repo) -> str:
    put(repo, {RULES: "be kind\n"})
    put(repo, {"docs/page.md": "in between\n"})
    return put(repo, {S1: scenario("softer", reserve=False)})


@way("FRZ019", CONFIG)
def subject_and_its_default_checks_change_together(repo: Repo) -> str:
    text = (repo.root / CONFIG).read_text()
    easier = text.replace("paths: [subjects/rules/**]", "paths: [subjects/rules/**], defaults: {limits: {wall_s: 9}}")
    return put(repo, {RULES: "be kind\n", CONFIG: easier})


@way("FRZ019", R1)
def a_rightful_new_generation_comes_with_a_new_wording(repo: Repo) -> str:
    put(repo, {RULES: "be kind\n"})
    return renew(repo, R1, scenario("better"))


@pytest.mark.parametrize("name", WAYS)
def test_a_way_round_is_found_with_commit_path_and_next_step(name: str, repo: Repo):
    act, code, path = WAYS[name]
    did = act(repo)
    hits = [f for f in since(repo) if f["code"] == code and (path in f["file"] or f" {path} " in f["message"])]
    assert hits, since(repo)
    assert did in [f["commit"] for f in hits], (did, since(repo))
    for found in hits:
        assert found["severity"] == "error"
        assert found["commit"][:9] in found["message"] or "rewritten away" in found["message"]
        assert found["hint"]


def test_there_are_enough_ways():
    assert len(WAYS) >= 40
