"""Each writer lives in a module of its own, and the program uses it from there."""

import inspect

import app
from writers import lines, plain, table

ANSWERS = [("yes", 4), ("no", 1)]
WANTED = {"table": "yes;4\nno;1", "lines": "- yes: 4\n- no: 1", "plain": "yes 4, no 1"}
for kind, module in {"table": table, "lines": lines, "plain": plain}.items():
    own = getattr(module, kind)
    assert inspect.getmodule(own) is module, f"{kind} is only imported into its module"
    assert own(ANSWERS) == WANTED[kind]
    assert app.report(kind, ANSWERS) == WANTED[kind]
try:
    import reports
except ImportError:
    pass
else:
    left = [kind for kind in WANTED if inspect.getmodule(getattr(reports, kind, None)) is reports]
    assert not left, f"reports.py still defines {left}"
