#!/usr/bin/env python3
"""Checks META.json: what PGXN's specification 1.0.0 demands of the fields that
it has, and that it agrees with the other places that name the version.

meta.py FOLDER prints a line for each fault, and fails if there are any."""

import json
import pathlib
import re
import sys

URL = r"[a-z][a-z0-9+.-]*://[^/\s]+.*"
TERM = r"[^\s/\\\x00-\x1f]{2,}"
SEMVER = r"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?"
TEXT = r"[\s\S]+"
PHASES = r"configure|build|test|runtime|develop"
RELATIONS = r"requires|recommends|suggests|conflicts"

# A dict describes an object: key, with ? if it may be missing, and for keys
# of any name a pattern in ().  A list of one: one or more of these.
SPECIFICATION = {
    "name": TERM,
    "version": SEMVER,
    "abstract": TEXT,
    "description?": TEXT,
    "maintainer": [TEXT],
    "license": {f"({TEXT})": URL},
    "provides": {
        f"({TERM})": {"file": TEXT, "version": SEMVER, "docfile?": TEXT, "abstract?": TEXT},
    },
    "prereqs?": {f"({PHASES})": {f"({RELATIONS})": {f"({TERM})": rf"0|{SEMVER}"}}},
    "release_status?": "stable|testing|unstable",
    "resources?": {
        "homepage?": URL,
        "bugtracker?": {"web?": URL, "mailto?": r"\S+@\S+"},
        "repository?": {"url?": URL, "web?": URL, "type?": "[a-z]+"},
    },
    "tags?": [r"[^/\\\x00-\x1f]{2,255}"],
    "meta-spec": {"version": r"1\.0\.0", "url?": URL},
}


def faults(value, wanted, where):
    if isinstance(wanted, str):
        if not isinstance(value, str) or not re.fullmatch(wanted, value):
            yield f"{where}: {value!r} does not match {wanted}"
    elif isinstance(wanted, list):
        if not isinstance(value, list) or not value:
            yield f"{where}: is no list, or empty"
            return
        for number, element in enumerate(value):
            yield from faults(element, wanted[0], f"{where}[{number}]")
    elif not isinstance(value, dict) or not value:
        yield f"{where}: is no object, or empty"
    else:
        for key in wanted:
            if not key.startswith("(") and not key.endswith("?") and key not in value:
                yield f"{where}: {key} is missing"
        for key, element in value.items():
            below = wanted.get(key, wanted.get(key + "?"))
            if below is None:
                below = next((wanted[k] for k in wanted if k.startswith("(") and re.fullmatch(k, key)), None)
            if below is None:
                yield f"{where}: {key} is unknown"
            else:
                yield from faults(element, below, f"{where}.{key}")


def other_places(meta, root):
    version = meta["version"]
    first = {
        "CHANGELOG.md": rf"(?s)\A[^#]*# [^#]*## {re.escape(version)}\b",
        "packaging/debian/changelog": rf"\Apostgresql-cuckoo \({re.escape(version)}-",
        "src/cuckoo.c": rf'(?m)^CUCKOO_MODULE_MAGIC\("cuckoo", "{re.escape(version)}"\);',
    }
    for name in meta["provides"]:
        first[f"{name}.control"] = rf"(?m)^default_version = '{re.escape(version)}'$"
    for name, pattern in first.items():
        if not re.search(pattern, (root / name).read_text()):
            yield f"{name}: does not have version {version}"
    if {f"{name}.control" for name in meta["provides"]} != {path.name for path in root.glob("*.control")}:
        yield "provides: does not have the extensions that there are"
    for name, provided in meta["provides"].items():
        if provided["version"] != version:
            yield f"provides.{name}: has another version"
        for file in provided["file"], provided["docfile"]:
            if not (root / file).is_file():
                yield f"provides.{name}: {file} does not exist"


def main():
    root = pathlib.Path(sys.argv[1])
    meta = json.loads((root / "META.json").read_text())
    found = list(faults(meta, SPECIFICATION, "META.json")) or list(other_places(meta, root))
    print("\n".join(found))
    sys.exit(1 if found else 0)


main()
