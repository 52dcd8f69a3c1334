"""Every worked number of the facts on statistics that the functions cover, by the section that states it."""

from __future__ import annotations

import math
import random

import pytest

from evalrepo.comparing import statistics as s
from evalrepo.comparing.statistics.special import normal_quantile

near = pytest.approx
A = 1e-4


@pytest.mark.parametrize(
    ("passes", "valid", "low", "high"),
    [(0, 3, 0, 0.5615), (1, 3, 0.0615, 0.7923), (2, 3, 0.2077, 0.9385), (3, 3, 0.4385, 1), (5, 5, 0.5655, 1),
     (4, 5, 0.3755, 0.9638)],
)  # fmt: skip
def test_wilson(passes, valid, low, high):
    assert s.wilson(passes, valid) == near((low, high), abs=A)


def test_clopper_pearson_jeffreys_and_the_rule_of_three():
    assert s.clopper_pearson(3, 3) == near((0.2924, 1), abs=A)
    assert s.clopper_pearson(5, 5) == near((0.4782, 1), abs=A)
    assert s.jeffreys(3, 3) == near((0.4644, 1), abs=A)
    assert s.at_most(0, 18) == near(1 - 0.05 ** (1 / 18), abs=1e-9) == near(0.1533, abs=A)
    assert s.at_most(0, 180) == near(0.0165, abs=A)
    floors = {(54, 60): 0.8121, (57, 60): 0.8758, (60, 60): 0.9513, (18, 18): 0.8467}
    assert {counts: s.at_least(*counts) for counts in floors} == near(floors, abs=A)


def correlation(a, b):
    x, y = s.mean(a), s.mean(b)
    products = sum((i - x) * (j - y) for i, j in zip(a, b, strict=True))
    return products / math.sqrt(sum((i - x) ** 2 for i in a) * sum((j - y) ** 2 for j in b))


def test_standard_errors_of_suite_means():
    x, clusters = [1, 1, 1, 0, 0, 0, 1, 0], [0, 0, 0, 1, 1, 1, 2, 2]
    assert s.standard_error(x) == near(0.188982, abs=1e-6)
    assert s.standard_error(x, clusters) == near(0.273453, abs=1e-6)
    a, b = [1, 1, 1, 2 / 3, 1, 1], [1, 2 / 3, 1, 1 / 3, 1, 2 / 3]
    d = [y - x for x, y in zip(a, b, strict=True)]
    assert s.mean(d) == near(-0.166667, abs=1e-6)
    error = s.standard_error(d)
    assert error == near(0.074536, abs=1e-6)
    assert math.hypot(s.standard_error(a), s.standard_error(b)) == near(0.124226, abs=1e-6)
    assert correlation(a, b) == near(0.8)
    assert s.t_interval(s.mean(d), error, 5) == near((-0.35827, 0.02493), abs=1e-5)


def test_planning_by_variance_between_and_within():
    assert s.planned_error(20, 1 / 12, 1 / 6, 3) == near(0.083333, abs=1e-6)
    assert s.planned_error(20, 1 / 12, 1 / 6, 1) == near(0.111803, abs=1e-6)
    assert s.planned_scenarios(0.03, 1 / 9) == 969
    assert s.planned_drop(20, 1 / 9, (1 / 6, 1 / 6), 3) == near(0.2953, abs=A)


SMALLEST = {3: (0.05, 0.015625, 2, 6), 4: (0.014286, 0.003906, 7, 25), 5: (0.003968, 0.000977, 25, 102),
            6: (0.001082, 0.000244, 92, 409), 8: (0.0000777, 0.0000153, 1287, 6553)}  # fmt: skip


@pytest.mark.parametrize("n", SMALLEST)
def test_the_smallest_p_of_one_cell(n):
    fisher, boschloo = s.fisher((n, n), (0, n)), s.boschloo((n, n), (0, n))
    assert (fisher, boschloo) == near(SMALLEST[n][:2], abs=1e-6)
    assert fisher == near(1 / math.comb(2 * n, n))
    assert boschloo == near(4.0**-n)
    assert (int(0.1 / fisher + 1e-9), int(0.1 / boschloo + 1e-9)) == SMALLEST[n][2:]
    assert s.fisher_two_sided((n, n), (0, n)) == near(2 * fisher)


def test_other_cells_by_fisher_boschloo_and_newcombe():
    assert [s.fisher((3, 3), (1, 3)), s.fisher((5, 5), (1, 5)), s.fisher((5, 5), (2, 5)), s.fisher((5, 5), (3, 5))] == (
        near([0.2, 0.0238, 0.0833, 0.2222], abs=A)
    )
    assert [s.boschloo((3, 3), (1, 3)), s.boschloo((5, 5), (1, 5)), s.boschloo((5, 5), (2, 5))] == near(
        [0.1094, 0.0107, 0.0309], abs=A
    )
    # The facts state .0793, .0069 and .0350: scipy was given sides as rows, and it takes columns as samples.
    assert [s.boschloo((3, 4), (0, 2)), s.boschloo((5, 6), (0, 4)), s.boschloo((5, 7), (0, 3))] == near(
        [0.0793, 0.0069, 0.0350], abs=A
    )
    for after, interval in (((0, 3), (0.2059, 1.0)), ((1, 3), (-0.0586, 0.9385))):
        low, high = s.newcombe((3, 3), after)
        assert (-high, -low) == near(interval, abs=A)


THREE = (3, 3)
SIX = [(THREE, THREE), (THREE, (2, 3)), (THREE, THREE), ((2, 3), (1, 3)), (THREE, THREE), (THREE, (2, 3))]


def drop(pairs):
    return s.stratified(pairs).p_drop


def test_the_exact_stratified_test():
    assert drop([(THREE, (0, 3))]) == near(0.05)
    assert drop([(THREE, THREE)] * 29 + [(THREE, (0, 3))]) == near(0.05)
    assert drop([(THREE, (2, 3))] * 5) == near(1 / 32)
    assert drop([(THREE, (2, 3))] * 4) == near(0.0625)
    six = s.stratified(SIX)
    assert (six.p_drop, six.p, six.mid, six.informative) == near((0.15, 0.30, 0.08125, 3))
    many = s.stratified([(THREE, THREE)] * 25 + [(THREE, (1, 3))] * 5)
    assert (many.p_drop, many.p) == near((0.00032, 0.00064), abs=1e-6)
    for fell, rose, one, two in ((6, 0, 0.015625, 0.03125), (6, 1, 0.0625, 0.125), (5, 0, 0.03125, 0.0625)):
        found = s.mcnemar(fell, rose)
        assert (found.p_drop, found.p) == near((one, two))


def test_the_six_cells_have_the_moments_of_cochran_mantel_haenszel():
    expected = sum(nb * (a + b) / (na + nb) for (a, na), (b, nb) in SIX)
    variance = sum(na * nb * (a + b) * (na + nb - a - b) / ((na + nb) ** 2 * (na + nb - 1)) for (a, na), (b, nb) in SIX)
    seen = sum(b for _, (b, _) in SIX)
    assert (expected, variance) == near((15.5, 0.95))
    assert (seen - expected) / math.sqrt(variance) == near(-1.53897, abs=1e-5)


def test_sign_flips_of_scenario_means():
    third = 1 / 3
    assert s.sign_flip([0, -third, 0, -third, 0, -third]).p_drop == near(0.125)
    assert s.sign_flip([-third] * 5 + [third]).p_drop == near(7 / 64)
    assert s.sign_flip([-third] * 5).p_drop == near(0.03125)
    assert s.sign_flip([-third] * 200).p_drop == near(2.0**-200, abs=1e-17)


def test_several_tests_at_once():
    ps = (0.01, 0.04, 0.03, 0.005)
    assert s.holm(ps) == near([0.03, 0.06, 0.06, 0.02])
    assert s.holm((0.04, 0.5), (1, 0.25)) == near([0.05, 0.5])
    assert s.holm((0.9, 0.01), (1, 0.25)) == near([0.9, 0.05])
    assert s.benjamini_hochberg(ps) == near([0.02, 0.04, 0.04, 0.02])
    assert s.benjamini_yekutieli(ps) == near([0.0417, 0.0833, 0.0833, 0.0417], abs=A)
    assert [s.any_false(0.05, k) for k in (3, 5, 10)] == near([0.1426, 0.2262, 0.4013], abs=A)


RATES = {0.99: 0.0003, 0.95: 0.0062, 0.9: 0.0207, 0.8: 0.0563, 0.7: 0.0860, 0.5: 0.1094}


@pytest.mark.parametrize("rate", RATES)
def test_the_chance_of_a_false_suspect_at_three_reps(rate):
    assert s.p_false_suspect(rate, 3, 3) == near(RATES[rate], abs=6e-5)


def test_false_suspects_to_expect_and_true_falls_that_are_flagged():
    one = s.p_false_suspect(0.9, 3, 3)
    assert [round(m * one, 1) for m in (30, 100, 300)] == [0.6, 2.1, 6.2]
    assert [1 - (1 - one) ** m for m in (30, 100)] == near([0.466, 0.877], abs=2e-3)

    def flagged(old, new):
        falls = [(a, b) for a in range(4) for b in range(4) if s.suspect((a, 3), (b, 3))]
        return sum(s.binomial(a, 3, old) * s.binomial(b, 3, new) for a, b in falls)

    assert (flagged(0.9, 0.5), flagged(0.9, 0.2)) == near((0.39, 0.78), abs=5e-3)


MDE = {(6, 3): (0.42, 0.46), (6, 5): (0.28, 0.32), (6, 10): (0.18, 0.22), (12, 3): (0.26, 0.30), (12, 5): (0.18, 0.22),
       (12, 10): (0.12, 0.16), (30, 3): (0.14, 0.18), (30, 5): (0.10, 0.14), (30, 10): (0.08, 0.10),
       (60, 3): (0.10, 0.12), (60, 5): (0.08, 0.10), (60, 10): (0.06, 0.08), (100, 3): (0.08, 0.10),
       (100, 5): (0.06, 0.08), (100, 10): (0.04, 0.06), (300, 3): (0.04, 0.06), (300, 5): (0.04, 0.04),
       (300, 10): (0.02, 0.04)}  # fmt: skip


@pytest.mark.parametrize(("cells", "reps"), MDE)
def test_the_smallest_drop_is_the_simulated_one_within_its_grid_of_two_points(cells, reps):
    found = [s.smallest_drop([(reps, reps)] * cells, rate) for rate in (0.9, 0.7)]
    assert found == near(MDE[cells, reps], abs=0.03)


CLOSED = {6: (0.249, 0.380), 12: (0.176, 0.269), 30: (0.111, 0.170), 60: (0.079, 0.120), 100: (0.061, 0.093),
          300: (0.035, 0.054)}  # fmt: skip


@pytest.mark.parametrize("cells", CLOSED)
def test_the_closed_form_of_the_smallest_drop_is_optimistic(cells):
    z = normal_quantile(0.95) + normal_quantile(0.8)
    assert z == near(2.4865, abs=A)
    for rate, drop in zip((0.9, 0.7), CLOSED[cells], strict=True):
        assert z * math.sqrt(2 * rate * (1 - rate) / (3 * cells)) == near(drop, abs=6e-4)
        assert drop <= s.smallest_drop([(3, 3)] * cells, rate) + 0.01


SPARSE = {(10, 3): 0.12, (30, 3): 0.46, (60, 3): 0.72, (100, 3): 0.92, (10, 5): 0.24, (30, 5): 0.62, (60, 5): 0.94,
          (100, 5): 1.0}  # fmt: skip


@pytest.mark.parametrize(("cells", "reps"), SPARSE)
def test_the_power_against_a_few_cells_that_lose_most(cells, reps):
    rng = random.Random(f"{cells} {reps}")
    fell = cells // 10

    def passed(rate):
        return sum(rng.random() < rate for _ in range(reps)), reps

    def release():
        return [(passed(0.9), passed(0.1 if n < fell else 0.9)) for n in range(cells)]

    seen = sum(s.stratified(release()).p_drop <= 0.05 for _ in range(200)) / 200
    assert seen == near(SPARSE[cells, reps], abs=0.1)


@pytest.mark.parametrize(("rate", "expected"), [(0.8, 0.896), (0.9, 0.972), (0.95, 0.99275), (0.99, 0.9997)])
def test_the_chance_that_one_cell_passes_two_of_three(rate, expected):
    assert s.p_at_least(2, 3, rate) == near(expected, abs=A)


def test_the_chance_that_every_cell_passes_two_of_three():
    sizes = (6, 12, 30, 60, 100)
    assert [s.p_all_pass_bar(0.9, 2, 3, m) for m in sizes] == near([0.843, 0.711, 0.427, 0.182, 0.058], abs=1e-3)
    assert [s.p_all_pass_bar(0.95, 2, 3, m) for m in sizes] == near([0.957, 0.916, 0.804, 0.646, 0.483], abs=1e-3)


def test_the_count_bar():
    sizes = (6, 12, 30, 60, 100, 300)
    assert [s.allowed([0.028] * m) for m in sizes] == [1, 1, 3, 4, 6, 13]
    assert [s.allowed([0.00725] * m) for m in sizes] == [0, 1, 1, 2, 2, 5]


def test_one_success_in_k_and_success_in_all_k():
    assert (s.pass_at_k(3, 5, 2), s.pass_hat_k(3, 5, 2), s.pass_hat_k(3, 5, 3)) == near((0.9, 0.3, 0.1))
    assert s.pass_hat_k(7, 10, 3) == near(0.291667, abs=1e-6)
    assert (s.pass_at_k(3, 5, 6), s.pass_hat_k(3, 5, 6)) == (None, None)


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ((3, 3), (3, 3), 0.5), ((3, 3), (2, 3), 0.8458), ((3, 3), (1, 3), 0.9611), ((3, 3), (0, 3), 0.9957),
        ((2, 3), (1, 3), 0.7882), ((2, 3), (0, 3), 0.9611), ((5, 5), (4, 5), 0.8346), ((5, 5), (3, 5), 0.9461),
        ((5, 5), (2, 5), 0.9852),
    ],
)  # fmt: skip
def test_the_probability_of_worse(before, after, expected):
    assert s.p_worse(before, after) == near(expected, abs=A)


def test_the_probability_of_worse_by_a_fifth():
    found = [s.p_worse_by(THREE, (k, 3), 0.2) for k in (1, 0, 2, 3)]
    assert found == near([0.8635, 0.9799, 0.5620, 0.1386], abs=2e-4)


def test_at_three_reps_a_suspect_is_a_fall_of_two_or_more():
    for before in range(4):
        for after in range(4):
            assert s.suspect((before, 3), (after, 3)) == (before - after >= 2)


def test_the_power_of_fresh_reps_to_confirm():
    assert [s.fisher_power(0.9, 0.3, n) for n in (5, 8, 10)] == near([0.367, 0.657, 0.824], abs=1e-3)
    assert [s.fisher_power(0.9, 0.5, n) for n in (5, 8, 10)] == near([0.121, 0.335, 0.471], abs=1e-3)
    assert all(s.fisher_power(0.9, 0.9, n) <= 0.005 for n in (5, 8))


def test_suspects_without_fresh_reps_count_in_the_family():
    assert s.confirm([((8, 8), (1, 8))], 1)[0] == near(s.fisher((8, 8), (1, 8)))
    assert s.confirm([((8, 8), (1, 8))], 4)[0] == near(4 * s.fisher((8, 8), (1, 8)))


def test_the_sequential_test():
    assert s.sprt([False] * 3).path[-1] == near(4.1589, abs=A)
    assert (s.sprt([False] * 9).state, s.sprt([False] * 9).at) == ("drop", 3)
    assert (s.sprt([True] * 9).state, s.sprt([True] * 9).at) == ("same", 8)
    assert s.sprt([True] * 8).path[-1] == near(-3.2437, abs=A)
    walk = s.sprt([True, False, False, True, False])
    assert walk.path == near((-0.4055, 0.9808, 2.3671, 1.9617, 3.3480), abs=A)
    assert (walk.state, walk.at) == ("drop", 5)
    assert s.sprt([True, False]).state == "open"


def test_held_out_looks():
    table = {(18, 1): 0.349, (18, 5): 0.446, (60, 5): 0.244, (60, 20): 0.382, (300, 5): 0.109}
    assert {key: s.deviation(*key) for key in table} == near(table, abs=1e-3)
    assert (s.alpha_per_look(0.05, 3), s.alpha_per_look(0.05, 5)) == near((0.0167, 0.01), abs=A)


def test_non_inferiority_of_twenty_scenarios():
    d = [0.0] * 15 + [-1 / 3] * 3 + [1 / 3] * 2
    error = s.standard_error(d)
    assert (s.mean(d), error) == near((-0.016667, 0.038044), abs=1e-6)
    assert s.t_bound(s.mean(d), error, 19) == near(-0.082450, abs=1e-6)


def test_the_exact_bound_is_never_of_zero_width():
    assert s.exact_bound((18, 18), (18, 18)) == near(-(1 - 0.05 ** (1 / 18)), abs=1e-3)
    assert s.exact_bound((0, 9), (0, 9)) < -0.2
    assert s.exact_bound((0, 0), (3, 3)) == -1
    assert [s.attainable(n, n) for n in (3, 18, 30, 36)] == near([0.632, 0.1534, 0.095, 0.080], abs=1.5e-3)
