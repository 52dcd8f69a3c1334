"""Whatever reports at all reports to the new logger, the door too."""

import desk
import door
import journal

assert desk.accept("P1") == {"number": "P1", "state": "accepted"}
assert len(journal.EVENTS) == 1, "the desk does not use the new logger"
assert door.scan("P1") == 1
assert len(journal.EVENTS) == 2, "the door does not use the new logger"
try:
    import trail
except ImportError:
    pass
else:
    assert trail.LINES == [], "something still uses the old logger"
