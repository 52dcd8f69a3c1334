"""How far two raters agree, beyond chance, and what a rate measured by an imperfect rater says.

A matrix is square, of counts: rows are the first rater's categories, columns the second's, both in the same order.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

from evalrepo.comparing.statistics.intervals import Z95, Counts, wilson
from evalrepo.records.calibration import Coefficient

Matrix = Sequence[Sequence[int]]
Weights = Literal["equal", "linear", "quadratic"]
"""What a disagreement counts: all the same, by its distance, or by its distance squared."""


def agreement(matrix: Matrix) -> tuple[float, float, float]:
    """The share of items that both put into the same category, with Wilson's interval."""
    same, n = sum(matrix[i][i] for i in range(len(matrix))), _total(matrix)
    return (same / n, *wilson(same, n)) if n else (0.0, 0.0, 1.0)


def kappa(matrix: Matrix, weights: Weights = "equal") -> Coefficient | None:
    """Cohen's κ, weighted for ordered categories; None where chance alone would agree everywhere, or nothing is rated.

    Cohen 1960 (Educ. Psychol. Meas. 20) and 1968 (Psychol. Bull. 70). The standard error is the larger of Cohen's and
    of Fleiss, Cohen and Everitt 1969 (Psychol. Bull. 72): the first is too small in some tables, the second in others.
    """
    size, n = len(matrix), _total(matrix)
    cells = [(i, j) for i in range(size) for j in range(size)]
    if not n:
        return None
    weight = {(i, j): _weight(i, j, size, weights) for i, j in cells}
    share = {(i, j): matrix[i][j] / n for i, j in cells}
    rows, columns = _margins(matrix, n)
    chance = sum(weight[i, j] * rows[i] * columns[j] for i, j in cells)
    if chance >= 1 - 1e-12:
        return None
    observed = sum(weight[c] * share[c] for c in cells)
    value = (observed - chance) / (1 - chance)
    cohen = sum(weight[c] ** 2 * share[c] for c in cells) - observed**2
    across = [sum(weight[i, j] * columns[j] for j in range(size)) for i in range(size)]
    down = [sum(weight[i, j] * rows[i] for i in range(size)) for j in range(size)]
    spread = sum(share[i, j] * (weight[i, j] - (across[i] + down[j]) * (1 - value)) ** 2 for i, j in cells)
    fleiss = spread - (value - chance * (1 - value)) ** 2
    return _coefficient(value, max(cohen, fleiss) / (n * (1 - chance) ** 2))


def ac1(matrix: Matrix) -> Coefficient | None:
    """Gwet's AC1, which a rare category does not upset; None when nothing is rated.

    Gwet 2008, Br. J. Math. Stat. Psychol. 61, with the variance given there.
    """
    size, n = len(matrix), _total(matrix)
    if not n or size < 2:
        return None
    rows, columns = _margins(matrix, n)
    mean = [(row + column) / 2 for row, column in zip(rows, columns, strict=True)]
    observed = sum(matrix[i][i] for i in range(size)) / n
    chance = sum(p * (1 - p) for p in mean) / (size - 1)
    value = (observed - chance) / (1 - chance)
    same = sum(matrix[i][i] / n * (1 - mean[i]) for i in range(size)) / (size - 1)
    every = sum(matrix[i][j] / n * (1 - (mean[i] + mean[j]) / 2) ** 2 for i in range(size) for j in range(size))
    spread = (
        observed * (1 - observed)
        - 4 * (1 - value) * (same - observed * chance)
        + 4 * (1 - value) ** 2 * (every / (size - 1) ** 2 - chance**2)
    )
    return _coefficient(value, spread / (n * (1 - chance) ** 2))


def rogan_gladen(rate: float, sensitivity: float, specificity: float) -> float | None:
    """The true rate behind one measured by a rater of this sensitivity and specificity, in [0, 1].

    None where the rater is no better than chance. Rogan and Gladen 1978, Am. J. Epidemiol. 107.
    """
    informed = sensitivity + specificity - 1
    return min(1.0, max(0.0, (rate + specificity - 1) / informed)) if informed > 0 else None


def corrected(measured: Counts, found: Counts, cleared: Counts, z: float = Z95) -> tuple[float, float] | None:
    """Interval of the true rate, when sensitivity and specificity are themselves estimates; None as above.

    `measured`: positives of items; `found`: positives of those known to be positive; `cleared`: negatives of those
    known to be negative. Lang and Reiczigel 2014, Prev. Vet. Med. 113.
    """
    (k, n), (hits, positives), (misses, negatives) = measured, found, cleared
    n_, positives_, negatives_ = n + z**2, positives + 2, negatives + 2
    p, se, sp = (k + z**2 / 2) / n_, (hits + 1) / positives_, (misses + 1) / negatives_
    informed = se + sp - 1
    if informed <= 0:
        return None
    true = (p + sp - 1) / informed
    of_se, of_sp = se * (1 - se) / positives_, sp * (1 - sp) / negatives_
    shift = 2 * z**2 * (true * of_se - (1 - true) * of_sp)
    error = math.sqrt(p * (1 - p) / n_ + true**2 * of_se + (1 - true) ** 2 * of_sp) / informed
    return (max(0.0, true + shift - z * error), min(1.0, true + shift + z * error))


def _total(matrix: Matrix) -> int:
    return sum(map(sum, matrix))


def _margins(matrix: Matrix, n: int) -> tuple[list[float], list[float]]:
    return [sum(row) / n for row in matrix], [sum(column) / n for column in zip(*matrix, strict=True)]


def _weight(i: int, j: int, size: int, weights: Weights) -> float:
    if weights == "equal" or size < 2:
        return float(i == j)
    distance = abs(i - j) / (size - 1)
    return 1 - (distance if weights == "linear" else distance**2)


def _coefficient(value: float, variance: float) -> Coefficient:
    error = math.sqrt(max(0.0, variance))
    return Coefficient(value, error, max(-1.0, value - Z95 * error), min(1.0, value + Z95 * error))
