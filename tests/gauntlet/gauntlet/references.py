"""The source in which each reference was verified. Rows may use only these references."""

CVELIST = "https://github.com/CVEProject/cvelist/blob/master/{}.json"
CVELIST_V5 = "https://github.com/CVEProject/cvelistV5/blob/main/cves/{}.json"

# Verified in the CVE program's list, in its older format.
OLDER = """
CVE-2021-41773 CVE-2021-42013 CVE-2008-2938 CVE-2013-4547 CVE-2010-0738 CVE-2018-14773 CVE-2021-32779 CVE-2021-43798
CVE-2020-10735 CVE-2019-10744 CVE-2022-41919 CVE-2020-5205 CVE-2018-19367 CVE-2018-18074
CVE-2022-27774 CVE-2021-42574 CVE-2016-6581 CVE-2007-6750 CVE-2018-12121 CVE-2019-9512
CVE-2020-5902 CVE-2021-32714 CVE-2021-32715 CVE-2021-21299 CVE-2019-16785 CVE-2019-16786 CVE-2019-16792 CVE-2019-16276
""".split()

# Verified in the CVE program's list.
NEWER = """
CVE-2024-27198 CVE-2026-25253 CVE-2026-35656 CVE-2026-48710 CVE-2025-66414 CVE-2024-28224 CVE-2026-53832 CVE-2025-22871
CVE-2026-32922 CVE-2026-45675 CVE-2026-34503 CVE-2026-26196 CVE-2025-54136 CVE-2024-29415 CVE-2026-1526 CVE-2026-28787
CVE-2025-22228 CVE-2024-47874 CVE-2025-69223 CVE-2024-37890 CVE-2023-44487
CVE-2026-25593 CVE-2026-44848 CVE-2026-44553 CVE-2026-5807 CVE-2026-28478 CVE-2026-40293
""".split()

# Verified elsewhere: on the page of the advisory or of the vendor.
ELSEWHERE = {
    "CVE-2025-29927": "https://github.com/projectdiscovery/nuclei-templates/blob/main/http/cves/2025/CVE-2025-29927.yaml",
    "CVE-2023-28432": "https://github.com/projectdiscovery/nuclei-templates/blob/main/http/cves/2023/CVE-2023-28432.yaml",
    "CVE-2023-26964": "https://github.com/rustsec/advisory-db/blob/main/crates/h2/RUSTSEC-2023-0034.md",
    "CVE-2025-8671": "https://tempesta-tech.com/blog/made-you-reset-http2-ddos-attack-analysis-and-mitigation/",
    "CVE-2019-9515": "https://launchpad.net/bugs/cve/CVE-2019-9515",
    "CVE-2026-54010": "https://portal.vyprsec.ai/cves/CVE-2026-54010",
    "CVE-2017-12635": "https://blog.couchdb.org/2017/11/14/",
    "GHSA-q6cp-qfwq-4gcv": "https://github.com/rustsec/advisory-db/blob/main/crates/h2/RUSTSEC-2024-0332.md",
}


def _path(identifier):
    _, year, number = identifier.split("-")
    return f"{year}/{number[:-3]}xxx/{identifier}"


def address(identifier):
    """Returns the address where the identifier was verified. Weakness classes were verified in MITRE's list,
    version 4."""
    if identifier in ELSEWHERE:
        return ELSEWHERE[identifier]
    if identifier in OLDER:
        return CVELIST.format(_path(identifier))
    if identifier in NEWER:
        return CVELIST_V5.format(_path(identifier))
    if identifier.startswith("CWE-"):
        return f"https://cwe.mitre.org/data/definitions/{identifier[4:]}.html"
    raise KeyError(f"{identifier} was not confirmed; see references.py")
