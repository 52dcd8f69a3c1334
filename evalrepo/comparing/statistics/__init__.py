"""Exact numbers about few reps: pure functions of counts and scores, by family, without a third-party library.

Each function's source stands in its docstring. These names are stable.
"""

from evalrepo.comparing.statistics.agreement import (
    Matrix,
    Weights,
    ac1,
    agreement,
    corrected,
    kappa,
    rogan_gladen,
)
from evalrepo.comparing.statistics.bars import allowed, p_all_pass_bar, p_at_least, p_below_again, p_so_many
from evalrepo.comparing.statistics.bayes import SUSPECT, p_false_suspect, p_worse, p_worse_by, suspect
from evalrepo.comparing.statistics.confirming import Sprt, confirm, sprt
from evalrepo.comparing.statistics.intervals import (
    Z95,
    Counts,
    at_least,
    at_most,
    clopper_pearson,
    jeffreys,
    newcombe,
    wilson,
)
from evalrepo.comparing.statistics.looks import alpha_per_look, deviation
from evalrepo.comparing.statistics.means import (
    ENOUGH,
    mean,
    middle,
    planned_drop,
    planned_error,
    planned_scenarios,
    standard_error,
    t_bound,
    t_interval,
)
from evalrepo.comparing.statistics.multiplicity import any_false, benjamini_hochberg, benjamini_yekutieli, holm
from evalrepo.comparing.statistics.noninferior import attainable, exact_bound, p_worse_than
from evalrepo.comparing.statistics.permutation import (
    Pair,
    Permuted,
    mcnemar,
    sign_flip,
    stratified,
    stratified_scores,
)
from evalrepo.comparing.statistics.power import power_of_drop, smallest_drop
from evalrepo.comparing.statistics.repeats import pass_at_k, pass_hat_k
from evalrepo.comparing.statistics.special import beta_cdf, beta_quantile, binomial, binomial_law, t_quantile
from evalrepo.comparing.statistics.tables import boschloo, fisher, fisher_power, fisher_two_sided

__all__ = [
    "ENOUGH", "SUSPECT", "Z95", "Counts", "Matrix", "Pair", "Permuted", "Sprt", "Weights",
    "ac1", "agreement", "allowed", "alpha_per_look", "any_false", "at_least", "at_most", "attainable",
    "benjamini_hochberg", "benjamini_yekutieli", "beta_cdf", "beta_quantile", "binomial", "binomial_law", "boschloo",
    "clopper_pearson", "confirm", "corrected", "deviation", "exact_bound", "fisher", "fisher_power", "fisher_two_sided",
    "holm", "jeffreys", "kappa", "mcnemar", "mean", "middle", "newcombe",
    "p_all_pass_bar", "p_at_least", "p_below_again", "p_false_suspect", "p_so_many", "p_worse", "p_worse_by",
    "p_worse_than", "pass_at_k", "pass_hat_k", "planned_drop", "planned_error", "planned_scenarios", "power_of_drop",
    "rogan_gladen", "sign_flip", "smallest_drop", "sprt", "standard_error", "stratified", "stratified_scores",
    "suspect", "t_bound", "t_interval", "t_quantile", "wilson",
]  # fmt: skip
