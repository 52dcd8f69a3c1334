"""The sum in the bootstrap file is that of the manifest as it is now."""

import hashlib
import pathlib

meta = dict(line.split(": ", 1) for line in pathlib.Path(".opencode/.bootstrap-meta").read_text().splitlines() if line)
manifest = pathlib.Path(meta["manifest"].strip())
assert manifest.name == "pack.json", manifest
assert meta["sha256"].strip() == hashlib.sha256(manifest.read_bytes()).hexdigest(), "the sum is stale"
