"""The option works where it was asked for, and nothing else is different."""

import subprocess
import sys


def printed(*argv):
    done = subprocess.run([sys.executable, *argv], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


assert printed("label.py", "fragile", "glass") == "[ fragile glass ]\n"
assert printed("label.py", "--copies", "3", "fragile") == "[ fragile ]\n" * 3
assert printed("label.py", "--copies", "1", "this", "side", "up") == "[ this side up ]\n"
assert printed("sticker.py", "fragile", "glass") == "* FRAGILE GLASS *\n"
