"""Every finding code: what it means and why it matters. `evalrepo lint --explain CODE` prints it.

Families: YML text and syntax, CFG config, SCN scenarios, RUB rubrics, FIX fixtures, SUB subjects, LCK the lock,
FRZ frozen files, LED ledger, RES results, SCO score cards, RUN run refs and journals, LEK leaks of the reserve.
"""

from __future__ import annotations

CODES: dict[str, str] = {}

CODES |= {
    "YML001": "The file is not UTF-8. Every file of the project is, so that a text means the same bytes everywhere. "
    "Save it as UTF-8; a byte order mark at its start does no harm.",
    "YML002": "A control character, or one of U+0085, U+2028, U+2029, which some readers take for a line end. It would "
    "be invisible here and act in a terminal. Remove it, or write it as an escape in double quotes.",
    "YML003": "The file has more than a million bytes. Nobody reads such a scenario, and every command would have to. "
    "Split it, or move data into a fixture or hidden file.",
    "YML004": "The file is nested more than 64 levels deep or holds more than 100,000 values; a small file can be made "
    "to cost a reader hours that way. Flatten or split it.",
    "YML005": "The file holds nothing, or only comments. Write its keys, or remove it.",
    "YML006": "The file holds a second document or a %-directive. A file is one YAML 1.2 document, so that nothing in "
    "it can be overlooked. Remove the `---` or the directive.",
    "YML007": "The text is not YAML. The place is where reading stopped; the fault is there or in the line above.",
    "YML008": "A tab where YAML wants spaces. Tabs have no width that two readers agree on. Indent with spaces.",
    "YML009": "The same key twice in one mapping. Other readers silently take the last one. Keep one.",
    "YML010": "A tag (`!…`). Tags can name code; quotes are all that text needs. Remove it.",
    "YML011": "An anchor (`&`) or an alias (`*`). A file says what it says where it says it, and a handful of aliases "
    "can stand for gigabytes. Write the value out, or use `defaults:`.",
    "YML012": "A merge key (`<<`). Which value wins depends on the reader. Write the keys out, or use `defaults:`.",
    "YML013": "A key that is a list, a mapping or nothing. Keys are text. Quote it if it is meant to be text.",
    "YML014": "An escape that is half of a character (a lone surrogate). It cannot be written as UTF-8. Write the "
    "character itself, both halves, or `\\U` and eight digits.",
    "YML015": "An unquoted number of more than 300 digits. Nothing here counts so far; quote it if it is text.",
    "YML016": "Unquoted text ends before ` #`, where YAML begins a comment, and the `#` is glued to what follows: most "
    "likely the rest of a sentence was lost. Quote the text, or put a space after the `#` of a comment.",
    "YML017": "`{{ … }}` without quotes is a mapping inside a mapping for YAML. Quote it.",
    "YML018": "A colon and a space inside unquoted text begin a mapping. Quote the text.",
}

for _family, _what in (
    ("CFG", "evalrepo.yaml"),
    ("SCN", "a scenario"),
    ("RUB", "a rubric (its labels, its votes)"),
    ("LED", "an event"),
):
    CODES |= {
        f"{_family}001": f"A key that {_what} does not have here. It would be ignored, so a slip of the finger would "
        "change what is measured. The hint names the nearest key that exists; `evalrepo schema` describes all.",
        f"{_family}002": f"A key that {_what} must have here is missing.",
        f"{_family}003": "A value of the wrong type: a list where text belongs, text where a number belongs. Durations "
        "are numbers of seconds; true and false are the only two booleans.",
        f"{_family}004": "A value of the right type that is not allowed: not one of the words, out of its range, not a "
        "regular expression, not a path inside the tree.",
        f"{_family}005": "Values that are fine by themselves but do not go together; the message says which.",
    }

CODES |= {
    "RUB006": "A rubric is markdown below a YAML head: the file's first line is `---`, another `---` ends the head.",
    "LED006": "A text that is not Unicode, such as a file name that is not UTF-8, cannot stand in a YAML file. Rename "
    "the file, or name its directory.",
    "LCK001": "The lock does not begin with `evalrepo-lock 1 sha1` (or sha256): it is no lock, or it is torn. Take it "
    "from a commit; `evalrepo freeze` writes it.",
    "LCK002": "The lock was written by a newer evalrepo. Install that version; nothing can be said about it here.",
    "LCK003": "A line of the lock that is neither `root PATH` nor `MODE OID SHA256 PATH`. Locks are written by "
    "`freeze` and `thaw` only; a hand-edited or badly merged lock proves nothing. Take it from a commit.",
    "LCK004": "Lines of the lock are out of order or there twice: it was edited or merged by hand. Order is the order "
    "of bytes, roots first. Take one side of the merge and run `evalrepo freeze` again.",
    "LCK005": "A path that the lock cannot hold: empty, absolute, with `..`, or with a line end or control character. "
    "Rename the file.",
    "RES001": "A result file without its record: the fenced block `evalrepo-record` is missing, torn or not the last "
    "one. Results never change; restore the file from the commit that added it.",
    "RES002": "The record is not JSON, or has a key twice. Results never change; restore the file from git.",
    "RES003": "The record was written by a newer evalrepo than this one. Install that version to read it.",
    "RES004": "The record does not fit its schema. Results are written by the tool only; restore the file from git.",
    "RES005": "The text of the result differs from what its record says. The record is the data, the text is rendered "
    "from it, and neither ever changes. Restore the file from git; notes go into `….notes.md` beside it.",
    "RES006": "The file's name is not the one that its record has: date, scenario, agent, tier and run.",
}

CODES |= {
    "CFG101": "There is no evalrepo.yaml in the tree that was asked about, so nothing says what is under test. "
    "`evalrepo init` writes one; `git add` it when the index was asked.",
    "CFG102": "An agent without `kind: command` must be one that is built in. Correct the name, or describe the CLI.",
    "CFG103": "A suite names a scenario that is not there, a glob that matches none, or an alias of several. A suite "
    "that silently chose nothing would pass. Suites are of the run-set.",
    "CFG104": "The gate names a suite that is not there, so a release would be decided without it.",
    "CFG105": "A golden scenario is not there, so the strictest rule of the gate would hold for nothing.",
    "CFG106": "An agent is named that `agents:` does not have. Add it there, or correct the name.",
    "CFG107": "A suite names a tier that no agent has, so it would choose no cell.",
    "CFG108": "`on_change` names a suite that is not there, so a change of the subject would run nothing.",
    "CFG109": "`install` has an entry for an agent that `agents:` does not have: a typing error, or left over.",
    "CFG110": "An install source must stay inside the subject and its target inside the sandbox or, with `~/`, its "
    "HOME. "
    "Anything else would write where other reps or the person can see it.",
    "CFG111": "`uncovered:` says that a scenario is missing, and it is there. Take it out of the list.",
    "CFG112": "An agent sets or passes a variable that the sandbox itself decides (HOME, PATH, GIT_*, LD_*…). It would "
    "break the isolation or let the outside in.",
    "CFG113": "A tier of the scripted agent names the script that it plays: `{script: NAME}`.",
    "CFG114": "A tier of the scripted agent names a script that no scenario has, so each of its reps would be an "
    "error.",
    "CFG119": "The judge cannot be asked: no agent or tier of that name, or a model whose provider is not known.",
    "CFG118": "`frozen.also` names what is not there, so nothing would be frozen by it.",
    "SUB101": "A subject's path matches no file. The subject would be measured without it, and its digest would not "
    "notice when the file comes. `**` crosses directories, `*` does not.",
    "SUB102": "Every scenario of the subject wants the behaviour. An agent that always shows it would look perfect; "
    "add "
    "a control with `polarity: negative`.",
    "SUB103": "A file under test is a submodule or a git-lfs pointer: git does not hold what is measured.",
    "SUB104": "`install` copies something that the subject does not hold. Paths are relative to the folder before the "
    "first wildcard of its `paths`.",
    "SUB105": "A subject that no scenario measures: a change of it goes unseen.",
    "SCN102": "A YAML file in a scenario folder that is not read as a scenario. Scenarios are SET/ID.yaml, directly in "
    "the folder; files that only checks see lie below `files/`.",
    "SCN103": "A scenario that is a symlink or a submodule. Store the file itself, so that its content has one place.",
    "SCN104": "The file name is the scenario's id, and ids stand in file names and git references. Rename the file.",
    "SCN105": "Two files have the same id; one of them would never be run. A reserve twin is called ID-reserve.",
    "SCN106": "Ids that differ only in the case of letters cannot both exist on some file systems. Rename one.",
    "SCN107": "The text before the first `-` is an alias where it is unique. Here it is the whole id of another "
    "scenario, "
    "which wins.",
    "SCN108": "A scenario names a subject that evalrepo.yaml does not have.",
    "SCN109": "A twin is named that is not there. Without it nobody knows whether the wording was tuned to the "
    "run-set.",
    "SCN110": "Twins name each other. One that points elsewhere, or nowhere, would be counted as an independent "
    "question.",
    "SCN111": "Of a pair of twins one is in the run-set and the other in the reserve.",
    "SCN112": "`needs` names a check that is not there, so the check would never be skipped.",
    "SCN113": "Checks wait for each other in a circle, so none would ever be asked.",
    "SCN114": "A rung of a metric's ladder names a check that is not there.",
    "SCN115": "`resolves` names a check that is not there or can never be ambiguous, so the judge would never be "
    "asked.",
    "SCN116": "Check ids are unique in a scenario: results, ladders and `needs` go by them. Defaults count too.",
    "SCN117": "A scenario sets a variable that the sandbox itself decides (HOME, PATH, GIT_*, LD_*…).",
    "SCN118": "A hidden file of a `command` check is not in the tree, or git does not hold its content.",
    "SCN119": "The module of a `python` check is not in the tree, or git does not hold its content.",
    "SCN121": "A scenario without conformance scripts: nobody has seen its checks pass or fail. An unproven instrument "
    "measures nothing.",
    "SCN122": "No conformance script is expected to pass, so the checks may be impossible to satisfy.",
    "SCN123": "For each axis with a gating check (judges left out) there is a script that fails on it and on no other; "
    "otherwise nobody knows that the check can fail.",
    "SCN124": "Each scenario has an empty script that does not pass: a rep in which nothing happened is no success.",
    "SCN125": "A script expects to fail on an axis that no gating check has.",
    "SCN126": "A check or a script speaks of a turn that the scenario does not have.",
    "SCN127": "Without a gating check or a trigger every rep passes.",
    "SCN128": "Scripts are played by name as tiers, so names are unique in a scenario.",
    "SCN129": "A reserve file carries a tripwire, a GUID. Where it turns up, reserve text has leaked.",
    "SCN130": "Two reserve files share a tripwire, so a leak could not be told apart. Give each its own.",
    "SCN132": "A script asks for words of a subject's file that the subject does not hold, so it never plays `then`.",
    "SCN133": "A reserve scenario without a run-set twin cannot show whether the wording was tuned to the run-set.",
    "SCN134": "Twins differ in shape: in the kinds and axes of their checks, metrics, polarity, fixture, turns or the "
    "scripts that are played as tiers. Their scores would not mean the same, and a gap between them would say nothing.",
    "SCN135": "A twin asks in the words of its sibling. What is tuned to the one is tuned to the other, and nothing is "
    "held out. `reserve: {overlap: …}` says how much is too much; `discipline: {twins: error}` makes it an error.",
    "RUB101": "A rubric is named that is not there: rubrics/NAME.md.",
    "RUB102": "A rubric has no such question, so a judge would have nothing to answer.",
    "RUB103": "`pass_when` holds an answer that the question does not allow, so the check could not pass by it.",
    "RUB104": "A metric is judged by a question without a `scale`, so no score from 0 to 3 could come of it.",
    "RUB105": "A question of a rubric says `reference: true`: it can only be answered beside what is known to be right."
    " The check or metric that asks it brings none.",
    "RUB106": "A reference is given to a question that does not take one, so no judge would ever see it.",
    "RUB107": "A value of a scale has no anchor: raters guess what earns it, each in their own way. The ends, 0 and 3, "
    "are demanded, the values between them wanted.",
    "RUB108": "Labels or votes of a rubric that is not there: rubrics/NAME.md. They calibrate nothing; the rubric was "
    "renamed or removed without them, or the file bears a wrong name.",
    "RUB109": "A label or a vote answers a question that its rubric does not ask, or with an answer that the question "
    "does not allow. It counts for nothing, so the judge would look less tried than it is. These files are written by "
    "`score --label` and `calibrate`; a line that was edited or merged wrongly is taken from git, or removed.",
    "RUB110": "The same person labelled the same rep twice, or the same judge voted twice on it by the same rubric: "
    "a merge kept both lines. Which of the two holds is for a person to say. Keep one.",
    "RUB111": "A vote's answer is not what more than half of its votes said: it was changed by hand, and who does that "
    "calibrates a judge that does not exist. Restore the line from git, or remove it and run `evalrepo calibrate`.",
    "RUB112": "Labels answer a question that was worded otherwise: its text, its answers or what earns a score changed "
    "since. They count for nothing. Label these reps again, or take the new words back.",
    "RUB113": "A judge's votes are by another text of the rubric, or by another judge than evalrepo.yaml names. What "
    "was calibrated is not what decides now, so the judge is advisory until `evalrepo calibrate` asks it again.",
    "RUB114": "A YAML file in rubrics/ that nobody reads: labels are rubrics/NAME.labels.yaml, votes "
    "rubrics/NAME.votes.yaml. Rename it, or move it elsewhere.",
    "FIX101": "A fixture is named that holds no file in git. Empty directories are not stored; `git add` its files.",
    "FIX102": "A fixture holds a submodule or a git-lfs pointer: after a clone the files are not there. Store them.",
    "FIX103": "A symlink in a fixture leads out of it, so a rep would read or write what is not the sandbox's.",
    "FIX105": "A directory in a fixture is a git repository of its own. git stores none of its files. Make it in "
    "setup.",
    "FIX106": "Two files of a fixture differ only in the case of letters; some file systems cannot hold both.",
    "FIX107": "A fixture is a directory, fixtures/NAME/; a single file cannot be a work tree.",
    "LCK101": "The reserve, or `frozen.also`, names something that the lock does not hold, so it can change unseen: "
    "a rubric, a fixture, a hidden file, a module that a check imports, a script of its setup. Freeze it.",
    "LED101": "Events are named by ULIDs, which order them. A file of another name was not written by evalrepo.",
    "LED102": "A file in the ledger's folder that is no event.",
    "LED103": "An event whose reason says nothing (`.`, `fix`, one word). Who reviews it cannot judge it. Events "
    "never change: say more in a new one.",
    "RES101": "A pattern in .gitignore hides the results folder, so results would not be seen by `git status` or "
    "added.",
    "FRZ001": "A frozen file has other content than was frozen. Held-out files that change while wording is tuned no "
    "longer measure what they did. Put it back, or thaw it with a reason.",
    "FRZ002": "A file was added below a frozen root: the reserve grows only by a freeze.",
    "FRZ003": "A frozen file was deleted: a hard question that goes away makes scores better. Thaw it first.",
    "FRZ004": "A frozen file was renamed. Results and twins go by its name. Thaw it first.",
    "FRZ005": "A frozen file was made executable, or no longer is: a fixture that behaves differently.",
    "FRZ006": "A frozen file became a symlink, a submodule, or a file again: its content now comes from elsewhere.",
    "FRZ007": "The lock was removed, so nothing would be frozen any more. Put it back; thaw opens single files.",
    "FRZ008": "evalrepo.yaml was removed while it is there at the base: nothing would be checked any more.",
    "FRZ009": "A line of the lock changed, and the ledger did not gain the events that allow it: a thaw to open, a "
    "freeze to lock. The lock is written by these two commands, never by hand.",
    "FRZ010": "An event of the ledger was changed or removed. What was said stays said; say more in a new event.",
    "FRZ011": "A frozen file, the lock or the ledger is unmerged. Resolve the conflict first.",
    "FRZ012": "A locked file has the blob id that was frozen but another SHA-256: a forged object, or a forged lock.",
    "FRZ013": "A frozen file is open for a change. Until the next freeze the reserve is not measured.",
    "FRZ014": "The lock lost one of its roots, below which additions are noticed, and no event says so.",
    "FRZ015": "git was told not to look at a frozen file (`assume-unchanged`, or `skip-worktree` without a sparse "
    "checkout), so an edit of it on disk stays out of sight until somebody commits it. Take the mark away.",
    "FRZ016": "Something that cannot be frozen by content: a submodule, a git-lfs pointer, a line break in a name.",
    "FRZ017": "A replace reference or a graft: git shows other objects or other parents here than are stored. evalrepo "
    "believes neither, but whoever reviews by git does. Remove it.",
    "FRZ018": "The revision that a range begins with is no ancestor of its end. Either the branch was rewritten, then "
    "what it said must be there again, or it has only left another branch.",
    "FRZ019": "The goal moved with the ball: a subject and what measures it changed together, so a better score may "
    "come from the easier question. Change one at a time, or measure the old wording by the new question too. "
    "`discipline: {moved_goal: error}` in evalrepo.yaml makes it an error.",
}

CODES |= {
    "SCO001": "A word on a score card that is no score, status or number. Scores are 0 to 3, 3 is good; `–` leaves one "
    "unset, which is not 0.",
    "SCO002": "A score without evidence, which nobody could check later. Name a line of the transcript, a file or a "
    "command.",
    "SCO003": "A line on a score card that means nothing there, so what it says would be lost. Notes stand at its end.",
    "SCO005": "A score card that fits no rep, or scores what is not a person's to score. Cards name run, scenario and "
    "rep; `evalrepo score RUN --export FILE` writes them.",
    "SCO006": "Evidence on a score card that names nothing, or a place that is not there. Name a line of the log, a "
    "file of the rep, or quote what was done, printed or said.",
    "SCO007": "A hand-written result that counts nowhere: its name holds no day, or no scenario is called as it says. "
    "It may be about what is gone; otherwise mend it.",
    "SCO004": "The same thing twice on one score card. Which of the two counts is for a person to say.",
}

CODES |= {
    "RUN001": "A clone numbers its records without a gap, and one before this record is not at hand: in no branch, in "
    "no run ref. A result was left out, or it stands where it was not fetched from. Fetch or merge what holds it.",
    "RUN002": "Two records of one clone have the same number. A clone never gives a number twice, crashes included; "
    "one of them was made up or changed, or the whole git directory was copied and both copies ran.",
    "RUN003": "A record names the SHA-256 of the record before it, and that one is another now. Results never change "
    "once they are written: restore the file from git, and write notes beside it.",
}

CODES |= {
    "LEK001": "A tripwire of the reserve, which must appear nowhere else. Whoever wrote this had the reserve's file "
    "before them. Take it out; what an agent was shown of the reserve no longer measures it.",
    "LEK002": "Words of the reserve stand where an agent, or whoever tunes the wording, can read them: 70 % of the "
    "eight-word runs of one of its texts, or thirteen words in a row. Take them out, or acknowledge an exception.",
    "LEK003": "A run-set scenario asks in the words of its reserve twin, so tuning on it is tuning on the reserve. "
    "Write one of the two anew; `reserve: {overlap: …}` in evalrepo.yaml says how much they may share.",
    "LEK004": "A file is too large to be looked at for words of the reserve, so nothing is known of it.",
}

CODES |= {
    "RES007": "A commit edited a result file after it had been added. Results never change: put the file back; a "
    "correction is a new record that names the old one (`evalrepo rescore`, `evalrepo correct`).",
    "RES008": "A commit removed a result file. A rep that can be left out can be tried until it passes. Put it back.",
    "RES009": "A commit moved a result file. Its name and folder are those of its record. Move it back.",
    "RUN004": "A result file is not what its run wrote: the run's ref is here and holds another file, or none such. It "
    "was edited before it was committed, or made by hand.",
    "RUN005": "A run's ref holds a record that was to be committed, and no branch here has it: its commit was dropped "
    "by a reset or a rebase, or its branch is gone. It counts here, and for nobody else. Commit it again.",
    "RUN006": "A result without the ref of its run. What this clone measured it keeps until `evalrepo transcripts "
    "prune` leaves a tombstone; refs of others are fetched on request. Without it nobody can judge the reps again.",
    "RUN007": "A run's ref or its journal has a rep that no record has. Every rep counts, so every rep is recorded.",
    "RUN009": "A run was claimed (`discipline.claims`), and no record of it is here. Its clone was thrown away, or "
    "its branch and ref were not pushed. Push them; a run that is lost is acknowledged with a reason.",
    "RUN010": "A claim that is known here is gone from the remote, or changed. Somebody moved the claims back.",
    "RUN011": "A result of a run that nobody claimed, in a repository whose runs are claimed before they begin.",
}
