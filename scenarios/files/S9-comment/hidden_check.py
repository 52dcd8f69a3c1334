"""ferry.py is what it was, with one line more: a comment right above next_ferry."""

import pathlib

now = pathlib.Path("ferry.py").read_text().splitlines()
place = now.index("def next_ferry(now):")
assert now[place - 1].startswith("# "), "there is no comment above next_ferry"
del now[place - 1]
assert now == pathlib.Path("original.txt").read_text().splitlines(), "something else was changed"
