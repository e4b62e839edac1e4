"""Reads CycloneDX lists with programs of other projects: with the library of the CycloneDX project against the schema of
their version, then as a scanner does, with the package URL of each component and the dependencies between them; and with
sbomaudit, which looks for the minimum elements that the NTIA requires: who made the list and when, and the name, the
version, the supplier and the relationships of each component. No network is used."""

import json
import sys
from pathlib import Path

from cyclonedx.model.bom import Bom
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
from lib4sbom.parser import SBOMParser
from sbomaudit.audit import SBOMaudit

# Faults that are shown; the rest have the same cause in most cases.
SHOWN = 10


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
    audit(path)
    print(f"{Path(path).name}: CycloneDX {version.to_version()}, {len(bom.components)} components")


def audit(path):
    parser = SBOMParser()
    parser.parse_file(str(path))
    # With a name of an output, it prints nothing. It writes no file.
    auditor = SBOMaudit({"offline": True, "license_check": False}, output="none")
    if not auditor.audit_sbom(parser):
        faults = "\n".join(faults_in(auditor.get_audit())[:SHOWN])
        sys.exit(f"{path} lacks minimum elements of the NTIA:\n{faults}")


def faults_in(report):
    """The texts of all checks that failed, at any depth of the report."""
    if isinstance(report, list):
        return [text for one in report for text in faults_in(one)]
    if not isinstance(report, dict):
        return []
    own = [report["text"]] if report.get("state") == "Fail" else []
    return own + [text for one in report.values() for text in faults_in(one)]


for name in sys.argv[1:]:
    read(name)
