"""Rows and verdicts."""

import time
from dataclasses import dataclass, field
from typing import Callable

REFUSED, OPEN, NOT_APPLICABLE, ERROR = "refused", "open", "not applicable", "error"


class NotApplicable(Exception):
    """The gateway lacks what the row attacks; the text names it."""


class Open(Exception):
    """The attack succeeded; the text describes the observation."""


@dataclass(frozen=True)
class Result:
    verdict: str
    seen: str
    seconds: float = 0.0


@dataclass(frozen=True)
class Row:
    """One attack. `run(gateway)` returns how it was prevented, or raises `Open` or `NotApplicable`."""

    name: str
    theme: str
    reference: str
    attack: str
    run: Callable
    # "shared": any instance with an owner; "fresh": a separate instance with an owner; "unset": a
    # separate instance before setup. The settings of a separate instance may be a function of a
    # directory that the row may write to.
    instance: str = "shared"
    # Settings of a separate instance, by dotted name.
    settings: dict = field(default_factory=dict)
    deadline: float = 180.0


ROWS: dict[str, Row] = {}


def row(name, reference, attack, instance="shared", settings=None, deadline=180.0):
    """Registers a function as a row. The module's name is the theme."""
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
    """Raises `NotApplicable` unless the condition is true."""
    if not condition:
        raise NotApplicable(why)


def refuse(worked, seen):
    """Raises `Open` if the attack succeeded."""
    if worked:
        raise Open(seen)


def within_a_minute(start):
    """Raises an error, not a verdict, if the throttle's window has passed since `start`."""
    took = time.monotonic() - start
    if took > 55:
        raise RuntimeError(f"the guesses took {took:.0f} s; the limit is that of a minute")
