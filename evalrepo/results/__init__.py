"""Results out of trees and run refs: compact rows for comparisons, whole records for people.

Rows are cached under our folder in the git directory by the tree id of each month's folder and by the ids of the run
refs; a cache that is stale, torn or foreign is read anew and never believed.
"""

from __future__ import annotations

from evalrepo.results.reading import parts, records, rows
from evalrepo.results.rows import FOLDER, RUNS, Rows

__all__ = ["FOLDER", "RUNS", "Rows", "parts", "records", "rows"]
