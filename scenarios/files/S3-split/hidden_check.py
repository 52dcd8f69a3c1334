"""`pricing` is a library that does not know the shop, and the shop uses it."""

import sys

import pricing

assert not [name for name in sys.modules if name.partition(".")[0] == "shop"], "pricing imports the shop"
assert pricing.gross(1000, "DE") == 1190

from shop import orders, receipts  # noqa: E402

assert orders.order_total([1000, 2000], "DE") == 3570
assert receipts.receipt(1000, "FR") == "12.00 EUR"
try:
    from shop import pricing as left
except ImportError:
    left = pricing
assert left.gross is pricing.gross, "the shop still has prices of its own"
