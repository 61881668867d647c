#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks that a file is SARIF 2.1.0 as lockhound writes it: what the standard
requires of each object that is used. Prints "ID LEVEL FILE:LINE FINGERPRINT" for
each result; whatever is wrong is an error."""
import json
import re
import sys


def only(thing, required, optional=()):
    """An object with these keys alone."""
    assert isinstance(thing, dict), thing
    assert set(required) <= set(thing), (required, thing)
    assert set(thing) <= set(required) | set(optional), (sorted(thing), required)


def message(thing):
    only(thing, ["text"])
    assert thing["text"] and isinstance(thing["text"], str)
    assert not re.search(r"[\x00-\x1f]", thing["text"]), thing
    assert "](" not in thing["text"], thing


def artifact(thing, bases):
    only(thing, ["uri"], ["uriBaseId"])
    assert re.fullmatch(r"(file://)?[A-Za-z0-9/._~%-]+", thing["uri"]), thing
    if "uriBaseId" in thing:
        assert thing["uriBaseId"] in bases
        assert not thing["uri"].startswith(("/", "file:"))


def location(thing, bases, with_message):
    only(thing, ["message"] if with_message else [],
         ["physicalLocation", "logicalLocations", "message", "id"])
    if "physicalLocation" in thing:
        place = thing["physicalLocation"]
        only(place, ["artifactLocation"], ["region", "address"])
        artifact(place["artifactLocation"], bases)
        if "region" in place:
            only(place["region"], ["startLine"])
            assert place["region"]["startLine"] >= 1
        if "address" in place:
            only(place["address"], ["relativeAddress"])
            assert place["address"]["relativeAddress"] >= 0
    for logical in thing.get("logicalLocations", []):
        only(logical, ["fullyQualifiedName", "kind"])
        assert logical["fullyQualifiedName"]
    if "message" in thing:
        message(thing["message"])


def step(thing, bases):
    only(thing, ["location", "kinds", "executionOrder", "importance"], ["stack"])
    location(thing["location"], bases, True)
    for frame in thing.get("stack", {"frames": []})["frames"]:
        only(frame, ["location"], ["module"])
        location(frame["location"], bases, False)


def result(thing, rules, bases):
    only(thing, ["ruleId", "level", "message", "locations", "relatedLocations", "codeFlows",
                 "partialFingerprints", "properties"], ["ruleIndex", "suppressions"])
    for suppression in thing.get("suppressions", []):
        assert suppression == {"kind": "external"}
    if "ruleIndex" in thing:
        assert rules[thing["ruleIndex"]]["id"] == thing["ruleId"]
    grade = thing["properties"]["grade"]
    assert thing["level"] == {"happened": "error", "possible": "warning",
                              "conditional": "note"}[grade]
    message(thing["message"])
    assert thing["ruleId"] in thing["message"]["text"]
    assert len(thing["locations"]) == 1
    location(thing["locations"][0], bases, False)
    ids = [place["id"] for place in thing["relatedLocations"]]
    assert ids == list(range(1, len(ids) + 1))
    for place in thing["relatedLocations"]:
        location(place, bases, True)
    for flow in thing["codeFlows"]:
        only(flow, ["threadFlows"])
        names = [thread["id"] for thread in flow["threadFlows"]]
        assert names and len(set(names)) == len(names)
        for thread in flow["threadFlows"]:
            only(thread, ["id", "message", "locations"])
            message(thread["message"])
            assert thread["locations"]
            for where in thread["locations"]:
                step(where, bases)
    (fingerprint,) = thing["partialFingerprints"].values()
    assert re.fullmatch(r"[0-9a-f]{16}:[1-9][0-9]*", fingerprint)
    return fingerprint


def place_of(thing):
    physical = thing["locations"][0].get("physicalLocation", {})
    uri = physical.get("artifactLocation", {}).get("uri", "")
    return f"{uri}:{physical.get('region', {}).get('startLine', '')}"


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        log = json.load(file)
    only(log, ["$schema", "version", "runs"])
    assert log["version"] == "2.1.0"
    (run,) = log["runs"]
    only(run, ["tool", "invocations", "originalUriBaseIds", "results"])
    assert len({"suppressions" in thing for thing in run["results"]}) <= 1
    driver = run["tool"]["driver"]
    only(driver, ["name", "version", "rules"])
    rules = driver["rules"]
    assert len({rule["id"] for rule in rules}) == len(rules)
    for rule in rules:
        only(rule, ["id", "name", "shortDescription", "fullDescription", "help"])
        assert re.fullmatch("LH[0-9]{3}", rule["id"])
        for key in "shortDescription", "fullDescription", "help":
            message(rule[key])
    bases = run["originalUriBaseIds"]
    for base in bases.values():
        assert re.fullmatch(r"file:///([A-Za-z0-9/._~%-]*/)?", base["uri"]), base
    seen = set()
    for thing in run["results"]:
        fingerprint = result(thing, rules, bases)
        assert fingerprint not in seen
        seen.add(fingerprint)
        print(thing["ruleId"], thing["level"], place_of(thing), fingerprint)


main()
