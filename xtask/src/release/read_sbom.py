"""Reads CycloneDX lists with the library of the CycloneDX project: against the schema of their version, then as a
scanner does, with the package URL of each component and the dependencies between them."""

import json
import sys
from pathlib import Path

from cyclonedx.model.bom import Bom
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator


def read(path):
    text = Path(path).read_text(encoding="utf-8")
    document = json.loads(text)
    version = SchemaVersion.from_version(document["specVersion"])
    fault = JsonStrictValidator(version).validate_str(text)
    if fault is not None:
        sys.exit(f"{path} is not valid: {fault}")
    bom = Bom.from_json(document)
    bom.validate()
    without = [str(it.name) for it in bom.components if it.purl is None or it.version is None]
    if without or not bom.components:
        sys.exit(f"{path}: no components, or components without a package URL or version: {without}")
    if not any(it.dependencies for it in bom.dependencies):
        sys.exit(f"{path}: no dependencies")
    print(f"{Path(path).name}: CycloneDX {version.to_version()}, {len(bom.components)} components")


for name in sys.argv[1:]:
    read(name)
