"""Runs jobs with Anthropic's client against a server that speaks its protocol.

Reads {"base_url", "key", "jobs": [{"do", "with"?, "retries"?}]} from standard input and writes a list with one entry
per job: {"ok": the result} or {"error": the class, "status", "message"}.
"""

import collections.abc
import json
import sys
import types
import typing

import anthropic
import typing_extensions
from anthropic.types import message_create_params


def create(client, job):
    return client.messages.create(**job["with"]).to_dict()


def stream(client, job):
    with client.messages.stream(**job["with"]) as events:
        kinds = [event.type for event in events]
        return {"kinds": kinds, "message": events.get_final_message().to_dict()}


def send(client, job):
    """Sends a body as it is and reads the events without collecting a message."""
    return [event.type for event in client.messages.create(**job["with"])]


def models(client, _job):
    return [model.to_dict() for model in client.models.list(limit=1000)]


def check(_client, job):
    """Returns what in a body contradicts the types that the client declares for requests."""
    declared = message_create_params.MessageCreateParamsStreaming
    return list(contradictions("body", job["with"], declared))


def contradictions(path, value, declared):
    origin = typing.get_origin(declared)
    if origin in (typing.Annotated, typing_extensions.Required, typing_extensions.NotRequired):
        yield from contradictions(path, value, typing.get_args(declared)[0])
    elif origin in (typing.Union, types.UnionType):
        found = [list(contradictions(path, value, one)) for one in typing.get_args(declared)]
        if all(found):
            # The variant with the fewest contradictions is the one that was meant.
            yield from min(found, key=lambda one: (any(": expected" in text for text in one), len(one)))
    elif typing_extensions.is_typeddict(declared):
        yield from contradictions_of_object(path, value, declared)
    elif origin is typing.Literal:
        if value not in typing.get_args(declared):
            yield f"{path}: expected one of {typing.get_args(declared)}"
    elif declared in (object, typing.Any):
        return
    elif isinstance(origin, type) and issubclass(origin, collections.abc.Mapping):
        for name, item in value.items() if isinstance(value, dict) else ():
            yield from contradictions(f"{path}.{name}", item, typing.get_args(declared)[1])
        if not isinstance(value, dict):
            yield f"{path}: expected an object"
    elif origin is not None:
        for number, item in enumerate(value if isinstance(value, list) else ()):
            yield from contradictions(f"{path}.{number}", item, typing.get_args(declared)[0])
        if not isinstance(value, list):
            yield f"{path}: expected a list"
    else:
        accepted = (int, float) if declared is float else declared
        if not isinstance(value, accepted) or isinstance(value, bool) != (declared is bool):
            yield f"{path}: expected {declared}"


def contradictions_of_object(path, value, declared):
    if not isinstance(value, dict):
        yield f"{path}: expected an object"
        return
    fields = typing_extensions.get_type_hints(declared, include_extras=True)
    # A type that declares extra items, such as a JSON schema, accepts any name.
    any_name = not fields or getattr(declared, "__extra_items__", None) not in (None, typing_extensions.NoExtraItems)
    required = {name for name, kind in fields.items() if typing.get_origin(kind) is typing_extensions.Required}
    for name in sorted((declared.__required_keys__ | required) - value.keys()):
        yield f"{path}.{name}: missing"
    for name, item in value.items():
        if name in fields:
            yield from contradictions(f"{path}.{name}", item, fields[name])
        elif not any_name:
            yield f"{path}.{name}: unknown"


KINDS = {one.__name__: one for one in (create, stream, send, models, check)}


def run(order, job):
    # By default the client tries twice again.
    client = anthropic.Anthropic(
        base_url=order["base_url"], api_key=order["key"], max_retries=job.get("retries", 0), timeout=60
    )
    try:
        return {"ok": KINDS[job["do"]](client, job)}
    except anthropic.APIStatusError as error:
        return {"error": type(error).__name__, "status": error.status_code, "message": error.message}


def main():
    order = json.load(sys.stdin)
    json.dump([run(order, job) for job in order["jobs"]], sys.stdout, default=str)


if __name__ == "__main__":
    main()
