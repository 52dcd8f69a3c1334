"""The new name is there, the old one is gone, and every file that uses it works."""

import bill
import quote
import summary
import totals

assert totals.compute_total([(3, 100)]) == 300
assert not hasattr(totals, "compute"), "compute is still there"
assert totals.compute_vat(1000, 19) == 190
assert bill.bill([(2, 500)]) == 1190
assert quote.quote([(2, 500)], 100) == 900
assert summary.summary({"a": [(1, 5)], "b": []}) == {"a": 5, "b": 0}
