"""What the tests of judges share: something to be judged, and judges that are commands."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path

from tape import Tape, view

from evalrepo.records.rubric import Question
from evalrepo.scoring.judge.command import CommandJudge
from evalrepo.scoring.judge.prompt import Asking
from evalrepo.scoring.judge.shown import shown

SAID = "The reviewers ran on haiku although sonnet was asked for."
READ = "import sys, json, re, pathlib\ntext = sys.stdin.read()\n"


def asking(seen=None, question: Question | None = None, **more) -> Asking:
    """A question about one sentence, unless another rep is given."""
    data = seen if seen is not None else view(Tape().prompt("Review it.").say(SAID))
    return Asking("Judge only what is said.", question or Question(ask="Is the downgrade told?"), shown(data), **more)


def reply(answer="yes", reason="It says so.", place="p2", quote="ran on haiku", **more) -> str:
    """A reply as it should be; `more` are further keys."""
    return json.dumps({"reason": reason, "evidence": [{"place": place, "quote": quote}], "answer": answer, **more})


def stub(folder: Path, body: str, **more) -> CommandJudge:
    """A judge that is a script; `text` is the prompt."""
    script = folder / "judge.py"
    script.write_text(READ + body)
    env = {"PATH": "/usr/bin:/bin"}
    return CommandJudge([sys.executable, "-I", str(script)], folder, env, **{"timeout_s": 20.0, **more})


def printing(folder: Path, replies: Sequence[str]) -> CommandJudge:
    """A judge that prints one reply after the other, the last one for ever."""
    (folder / "replies.json").write_text(json.dumps(list(replies)))
    body = (
        "count = pathlib.Path('count')\nn = int(count.read_text()) if count.exists() else 0\n"
        "count.write_text(str(n + 1))\nall = json.loads(pathlib.Path('replies.json').read_text())\n"
        "sys.stdout.write(all[min(n, len(all) - 1)])\n"
    )
    return stub(folder, body)
