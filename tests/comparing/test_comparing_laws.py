"""The statistics against scipy, and laws that hold whatever the numbers: mirrors, size under the null, no free lunch."""

from __future__ import annotations

import itertools
import random
import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evalrepo.comparing import statistics as s

near = pytest.approx
counts = st.integers(1, 8).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))
pairs = st.lists(st.tuples(counts, counts), min_size=1, max_size=6)
scores = st.lists(st.integers(0, 3), min_size=1, max_size=4)
few = settings(max_examples=40, deadline=None)


def table(before, after):
    """As scipy wants it: a sample a column."""
    return [[before[0], after[0]], [before[1] - before[0], after[1] - after[0]]]


@given(counts, counts)
@few
def test_fisher_agrees_with_scipy(before, after):
    stats = pytest.importorskip("scipy.stats")
    found = table(before, after)
    assert s.fisher(before, after) == near(stats.fisher_exact(found, alternative="greater").pvalue, abs=1e-9)
    assert s.fisher_two_sided(before, after) == near(stats.fisher_exact(found).pvalue, abs=1e-9)


@given(counts, counts)
@settings(max_examples=15, deadline=None)
def test_boschloo_agrees_with_scipy(before, after):
    stats = pytest.importorskip("scipy.stats")
    expected = stats.boschloo_exact(table(before, after), alternative="greater", n=64).pvalue
    assert s.boschloo(before, after) == near(expected, abs=1e-3)


@given(pairs)
@few
def test_the_stratified_test_has_the_moments_and_law_that_scipy_gives(found):
    stats = pytest.importorskip("scipy.stats")
    law = {0: 1.0}
    for (a, na), (b, nb) in found:
        one = stats.hypergeom(na + nb, a + b, nb)
        law = _sum(law, {k: float(one.pmf(k)) for k in range(nb + 1)})
    seen = sum(b for _, (b, _) in found)
    got = s.stratified(found)
    assert got.p_drop == near(sum(p for k, p in law.items() if k <= seen), abs=1e-9)
    assert got.p == near(sum(p for p in law.values() if p <= law[seen] * (1 + 1e-7)), abs=1e-7)
    assert got.mid == near(got.p_drop - law[seen] / 2, abs=1e-9)


def _sum(one, other):
    out: dict[int, float] = {}
    for (x, p), (y, q) in itertools.product(one.items(), other.items()):
        out[x + y] = out.get(x + y, 0.0) + p * q
    return out


@given(st.lists(st.tuples(scores, scores), min_size=1, max_size=2))
@few
def test_the_test_of_scores_is_the_count_over_all_assignments(found):
    per_cell = [[sum(c) for c in itertools.combinations(a + b, len(b))] for a, b in found]
    sums = [sum(choice) for choice in itertools.product(*per_cell)]
    seen = sum(sum(b) for _, b in found)
    assert s.stratified_scores(found).p_drop == near(sum(x <= seen for x in sums) / len(sums), abs=1e-12)


@given(pairs)
@few
def test_scores_of_zero_and_one_are_passes(found):
    as_scores = [([1] * a + [0] * (na - a), [1] * b + [0] * (nb - b)) for (a, na), (b, nb) in found]
    one, other = s.stratified(found), s.stratified_scores(as_scores)
    assert (one.p, one.p_drop, one.mid) == near((other.p, other.p_drop, other.mid))


@pytest.mark.parametrize("k", range(1, 12))
def test_sign_flips_of_equal_sizes_are_a_binomial_test(k):
    stats = pytest.importorskip("scipy.stats")
    for rose in range(k + 1):
        p = s.sign_flip([1] * rose + [-1] * (k - rose)).p_drop
        assert p == near(stats.binomtest(rose, k, alternative="less").pvalue)


@given(st.integers(0, 20), st.integers(0, 20), st.floats(0.01, 0.99))
@few
def test_special_functions_agree_with_scipy(k, more, p):
    stats = pytest.importorskip("scipy.stats")
    n = k + more
    a, b = k + 0.5, more + 0.5
    assert s.beta_cdf(p, a, b) == near(stats.beta.cdf(p, a, b), abs=1e-11)
    assert s.beta_quantile(p, a, b) == near(stats.beta.ppf(p, a, b), abs=1e-9)
    assert s.t_quantile(p, n + 1) == near(stats.t.ppf(p, n + 1), rel=1e-8, abs=1e-8)
    assert s.binomial_law(n, p) == near(list(stats.binom.pmf(range(n + 1), n, p)), abs=1e-10)
    if n:
        for mine, name in ((s.wilson(k, n), "wilson"), (s.clopper_pearson(k, n), "exact")):
            interval = stats.binomtest(k, n).proportion_ci(method=name)
            assert mine == near((interval.low, interval.high), abs=1e-6)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
@few
def test_families_agree_with_scipy_and_are_never_smaller_than_their_members(ps):
    stats = pytest.importorskip("scipy.stats")
    assert s.benjamini_hochberg(ps) == near(list(stats.false_discovery_control(ps)), abs=1e-12)
    assert s.benjamini_yekutieli(ps) == near(list(stats.false_discovery_control(ps, method="by")), abs=1e-12)
    assert all(a >= p - 1e-12 for a, p in zip(s.holm(ps), ps, strict=True))
    assert all(h >= b - 1e-12 for h, b in zip(s.holm(ps), s.benjamini_hochberg(ps), strict=True))


@given(counts, counts)
@few
def test_the_exact_bound_lies_below_the_difference_and_is_an_exact_level(before, after):
    bound = s.exact_bound(before, after)
    assert bound < after[0] / after[1] - before[0] / before[1] or bound == -1
    if bound > -1:
        assert s.p_worse_than(before, after, -bound) <= 0.05


@given(pairs)
@few
def test_what_is_a_drop_one_way_is_a_rise_the_other_way(found):
    there, back = s.stratified(found), s.stratified([(b, a) for a, b in found])
    assert (there.p, there.p_drop, there.p_rise) == near((back.p, back.p_rise, back.p_drop))


@given(counts, counts)
@few
def test_worse_one_way_is_better_the_other_way(before, after):
    assert s.p_worse(before, after) + s.p_worse(after, before) == near(1, abs=1e-6)


@given(counts)
@few
def test_an_interval_holds_the_rate_and_shrinks_with_more_reps(cell):
    passes, valid = cell
    low, high = s.wilson(passes, valid)
    assert 0 <= low <= passes / valid <= high <= 1
    wider = s.wilson(passes * 4, valid * 4)
    assert wider[1] - wider[0] < high - low


@given(st.lists(st.tuples(st.floats(-1, 1), st.integers(0, 3)), min_size=2, max_size=12))
@few
def test_one_cluster_a_scenario_is_no_clustering_and_a_copied_scenario_tells_nothing_new(found):
    values = [v for v, _ in found]
    alone = s.standard_error(values)
    assert s.standard_error(values, range(len(values))) == near(alone, abs=1e-12)
    twice = s.standard_error(values * 2, [*range(len(values))] * 2)
    m = len(values)
    assert twice >= alone * ((m - 1) / m) ** 0.5 - 1e-9


SIMULATED = 400


@pytest.mark.parametrize(("cells", "reps", "rate"), [(6, 3, 0.85), (12, 3, 0.9), (12, 5, 0.7), (30, 3, 0.85)])
def test_under_no_change_p_is_uniform_or_conservative(cells, reps, rate):
    rng = random.Random(f"{cells} {reps} {rate}")

    def drawn():
        rates = [min(1, max(0, rng.gauss(rate, 0.1))) for _ in range(cells)]
        return [tuple((sum(rng.random() < r for _ in range(reps)), reps) for _ in "ab") for r in rates]

    ps = [s.stratified(drawn()) for _ in range(SIMULATED)]
    for level in (0.05, 0.1, 0.2, 0.5):
        most = level * SIMULATED + 3 * (level * (1 - level) * SIMULATED) ** 0.5
        assert sum(p.p_drop <= level for p in ps) <= most
        assert sum(p.p <= level for p in ps) <= most


def test_the_power_of_a_drop_is_the_simulated_one():
    rng = random.Random(7)

    def drawn(after):
        return [tuple((sum(rng.random() < r for _ in range(3)), 3) for r in (0.9, after)) for _ in range(12)]

    for fall in (0.15, 0.3):
        seen = sum(s.stratified(drawn(0.9 - fall)).p_drop <= 0.05 for _ in range(SIMULATED)) / SIMULATED
        assert s.power_of_drop([(3, 3)] * 12, 0.9, fall) == near(seen, abs=0.07)


def test_a_thousand_cells_are_quick_and_still_exact():
    found = s.stratified([((3, 3), (2, 3))] * 500 + [((2, 3), (3, 3))] * 500)
    assert found.p == near(1, abs=1e-9)
    assert found.p_drop == near(found.p_rise, abs=1e-9)


def test_scipy_is_never_imported_at_run_time():
    code = "import sys, evalrepo.cli, evalrepo.comparing.statistics, evalrepo.comparing.gate, evalrepo.commands.gate\n"
    code += "print([m for m in sys.modules if m.split('.')[0] in ('scipy', 'numpy')])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
