"""JSON parsed like a careful parser, or like careless ones."""

import json
import re
import sys


class Wrong(Exception):
    """Text that is refused."""


def once(weak):
    def pairs(items):
        names = [name for name, _ in items]
        if len(names) != len(set(names)) and not weak("json-duplicate-keys"):
            raise Wrong("a member is there twice")
        return dict(items)

    return pairs


def number(weak):
    def whole(text):
        if len(text) > 19 and not weak("json-huge-number"):
            raise Wrong("a number is too large")
        sys.set_int_max_str_digits(0)
        return int(text)

    return whole


def depth(data):
    """Returns the nesting depth of brackets, found by a scan that ignores strings."""
    deepest = level = 0
    for mark in re.findall(rb"[\[{\]}]", re.sub(rb'"(\\.|[^"\\])*"', b"", data)):
        level += 1 if mark in b"[{" else -1
        deepest = max(deepest, level)
    return deepest


def read(data, weak):
    if not weak("json-nesting") and len(data) < 1 << 20 and depth(data) > 100:
        raise Wrong("nested too deep")
    try:
        return json.loads(data, object_pairs_hook=once(weak), parse_int=number(weak))
    except (ValueError, RecursionError) as error:
        raise Wrong("not JSON") from error
