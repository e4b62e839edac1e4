"""Rows and verdicts."""

import time
from dataclasses import dataclass, field
from typing import Callable

REFUSED, OPEN, NOT_APPLICABLE, ERROR = "refused", "open", "not applicable", "error"


class NotApplicable(Exception):
    """The gateway has nothing that this row attacks; the text says what is missing."""


class Open(Exception):
    """The attack worked; the text says what was seen."""


@dataclass(frozen=True)
class Result:
    verdict: str
    seen: str
    seconds: float = 0.0


@dataclass(frozen=True)
class Row:
    """One attack. `run(gateway)` returns what refused it, or raises `Open` or `NotApplicable`."""

    name: str
    theme: str
    reference: str
    attack: str
    run: Callable
    # "shared": any instance with an owner; "fresh": its own, with an owner; "unset": its own, before setup.
    # The settings of an instance of its own may be a function of a folder that the row may write to.
    instance: str = "shared"
    # Settings of its own instance, by their dotted names.
    settings: dict = field(default_factory=dict)
    deadline: float = 180.0


ROWS: dict[str, Row] = {}


def row(name, reference, attack, instance="shared", settings=None, deadline=180.0):
    """Registers a function as a row. Its module's name is the theme."""
    if settings and instance == "shared":
        instance = "fresh"

    def register(run):
        if name in ROWS:
            raise ValueError(f"two rows are named {name}")
        theme = run.__module__.rsplit(".", 1)[-1]
        ROWS[name] = Row(name, theme, reference, attack, run, instance, settings or {}, deadline)
        return run

    return register


def require(condition, why):
    """`NotApplicable` unless the condition holds."""
    if not condition:
        raise NotApplicable(why)


def refuse(worked, seen):
    """`Open` when the attack worked."""
    if worked:
        raise Open(seen)


def within_a_minute(start):
    """An error, no verdict, when more time has passed since `start` than a throttle remembers."""
    took = time.monotonic() - start
    if took > 55:
        raise RuntimeError(f"the guesses took {took:.0f} s; the limit is that of a minute")
