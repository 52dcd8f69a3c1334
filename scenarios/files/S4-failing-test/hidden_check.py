"""The sign is kept wherever amounts are read, not only where the failing test looks."""

from corrections import correction
from money import cents

assert cents("-3.05") == -305
assert cents("+3.05") == cents("3.05") == 305
assert cents("-7") == -700
assert correction("-1.00,+2.50,-0.25") == 125
