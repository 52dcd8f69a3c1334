"""Checks: pure questions about one rep, one module a family.

`registry.evaluate` answers one, `asking.evaluate_all` a scenario's; `view.View` is all that a check can see.
"""
