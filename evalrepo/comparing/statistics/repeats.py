"""One success among several tries, and success every time."""

from __future__ import annotations

import math


def pass_at_k(passes: int, valid: int, k: int) -> float | None:
    """P(at least one of k tries passes), unbiased; None below k reps. Chen et al. 2021 (HumanEval)."""
    if k > valid:
        return None
    return 1 - math.comb(valid - passes, k) / math.comb(valid, k)


def pass_hat_k(passes: int, valid: int, k: int) -> float | None:
    """pass^k: P(all of k tries pass), unbiased; never (passes/valid)^k. Yao et al. 2024 (tau-bench)."""
    if k > valid:
        return None
    return math.comb(passes, k) / math.comb(valid, k)
