from __future__ import annotations

import re
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evalrepo.records import globs


@pytest.mark.parametrize(
    ("pattern", "fits", "does_not"),
    [
        ("a/*", ["a/b", "a/.b", "a/-"], ["a", "a/b/c", "b/a", "A/b"]),
        ("a/**", ["a/b", "a/b/c", "a/.x/y"], ["a", "ab/c"]),
        ("**", ["a", "a/b/c"], []),
        ("**/x.md", ["x.md", "a/x.md", "a/b/x.md"], ["ax.md", "x.md/y"]),
        ("a/**/z", ["a/z", "a/b/z", "a/b/c/z"], ["az", "a/bz", "z"]),
        ("a/**/**/z", ["a/z", "a/b/z"], ["a/z/y"]),
        ("a/**/m/**/z", ["a/m/z", "a/m/m/z", "a/b/m/c/d/z"], ["a/z", "a/m", "a/mz"]),
        ("a/**/m/*", ["a/m/z", "a/m/m/z"], ["a/m", "a/m/z/y"]),
        ("a**b", ["ab", "axxb"], ["a/b", "ax/yb"]),
        ("?.py", ["x.py", "é.py"], [".py", "xy.py", "/.py"]),
        ("x[abc]", ["xa", "xc"], ["xd", "x"]),
        ("x[!abc]", ["xd", "x^"], ["xa", "x/"]),
        ("x[^abc]", ["xd"], ["xa"]),
        ("x[a-c0-9]", ["xb", "x5"], ["xd", "x-"]),
        ("x[.-0]y", ["x.y", "x0y"], ["x/y"]),
        ("x[]]", ["x]"], ["x"]),
        ("x[z-a]", [], ["xz", "xa", "x-"]),
        ("x[a-]", ["xa", "x-"], ["xb"]),
        ("x[[]y", ["x[y"], ["xy"]),
        ("x[y", ["x[y"], ["xy"]),
        ("*.a.*.b", ["1.a.2.b", ".a..b", "x.a.a.b.b"], ["1.a.b", "a.b"]),
        ("a/b", ["a/b", "a/b/c"], ["a/bc", "a"]),
        ("a.b", ["a.b"], ["aXb"]),
        ("new*line", ["new\nline"], []),
        ("{a,b}", ["{a,b}"], ["a", "b"]),
    ],
)
def test_a_pattern_fits_what_it_says(pattern, fits, does_not):
    assert [path for path in fits if not globs.matches(pattern, path)] == []
    assert [path for path in does_not if globs.matches(pattern, path)] == []


@pytest.mark.parametrize(
    ("pattern", "base"),
    [
        ("a/b/*.md", "a/b"),
        ("a/b*c/d", "a"),
        ("*.md", ""),
        ("a/**", "a"),
        ("a/b.md", "a"),
        ("a.md", ""),
        ("a/[b]/c", "a"),
    ],
)
def test_the_base_is_the_folder_before_the_first_wildcard(pattern, base):
    assert globs.base(pattern) == base


def test_a_path_is_relative_to_the_base_and_a_plain_directory_is_its_own_base():
    assert globs.relative("a/b/**", "a/b/c/d") == "c/d"
    assert globs.relative("**", "a/b") == "a/b"
    assert globs.relative("a/b", "a/b/c") == "c"
    assert globs.relative("a/b.md", "a/b.md") == "b.md"


def slow(pattern: list[str], path: list[str]) -> bool:
    """The definition: component by component."""
    if not pattern:
        return not path
    if pattern[0] == "**":
        rest = pattern[1:]
        if not rest:
            return bool(path)
        return any(slow(rest, path[n:]) for n in range(len(path)))
    return bool(path) and slow_name(pattern[0], path[0]) and slow(pattern[1:], path[1:])


def slow_name(pattern: str, name: str) -> bool:
    if not pattern:
        return not name
    if pattern[0] == "*":
        return any(slow_name(pattern[1:], name[n:]) for n in range(len(name) + 1))
    return bool(name) and pattern[0] in ("?", name[0]) and slow_name(pattern[1:], name[1:])


names = st.text("ab", min_size=1, max_size=4)
components = st.one_of(st.just("**"), st.text("ab*?", min_size=1, max_size=5))


@settings(max_examples=400, deadline=None)
@given(st.lists(components, min_size=1, max_size=5), st.lists(names, min_size=1, max_size=6))
def test_patterns_mean_what_the_definition_says(pattern, path):
    text = "/".join(pattern)
    expected = slow(pattern, path)
    if not globs.is_glob(text):
        expected = path[: len(pattern)] == pattern
    elif any("**" in part and part != "**" for part in pattern):
        expected = slow([re.sub(r"\*+", "*", p) if p != "**" else p for p in pattern], path)
    assert globs.matches(text, "/".join(path)) is expected


@pytest.mark.parametrize("pattern", ["*a" * 60 + "b", "**/a/" * 40 + "b", "a/**/" * 30 + "*a*a*a*a*b", "*" * 200 + "b"])
def test_matching_never_takes_long(pattern):
    start = time.monotonic()
    assert not globs.matches(pattern, "/".join(["a" * 200] * 40))
    assert not globs.matches(pattern, "a/" * 2000 + "a")
    assert time.monotonic() - start < 1
