"""Says which openadapt-flow this interpreter has: its version, and one digest over its Python files."""

import hashlib
import importlib.metadata
import importlib.util
import json
from pathlib import Path

package = Path(importlib.util.find_spec("openadapt_flow").origin).parent
digest = hashlib.sha256()
for file in sorted(package.rglob("*.py"), key=lambda file: file.relative_to(package).as_posix()):
    digest.update(file.relative_to(package).as_posix().encode() + b"\0")
    digest.update(hashlib.sha256(file.read_bytes()).digest())
print(json.dumps({"version": importlib.metadata.version("openadapt-flow"), "sha256": digest.hexdigest()}))
