"""The paths for clients of OpenAI's API, which run agents and models."""

from ..model import refuse, require, row

MODEL = "fake/m"
CALLS = (
    ("/v1/chat/completions", {"model": MODEL, "messages": [{"role": "user", "content": "SAY hello"}]}),
    ("/v1/responses", {"model": MODEL, "input": "SAY hello"}),
)


def answered(g, key, path, body):
    """Returns whether the model was asked."""
    before = len(g.model().requests())
    reply = g.http("POST", path, key.caller, body)
    return reply.ok or len(g.model().requests()) > before


def speaks(g, key):
    """Returns the paths on which the key reaches the model."""
    return [path for path, body in CALLS if answered(g, key, path, body)]


@row(
    "compat-key-of-another-purpose",
    "CWE-863",
    "Run a model on the paths of OpenAI's API with a key that was made for another purpose.",
    instance="fresh",
)
def another_purpose(g):
    whole = g.make_key(["operator.write"])
    require(len(speaks(g, whole)) == len(CALLS), "a key without limits cannot speak with the model")
    for only in (["/v1/audio/*"], ["/v1/models"], ["chat.*"], ["webhooks.deliveries"]):
        reached = speaks(g, g.make_key(["operator.write"], only=only))
        refuse(reached, f"a key for {only[0]} runs the model on {', '.join(reached)}")
    return "refused on both paths"


@row(
    "compat-scope",
    "CWE-862",
    "Run a model on the paths of OpenAI's API with a key that may only read.",
    instance="fresh",
)
def scope(g):
    require(speaks(g, g.make_key(["operator.write"])), "a key that may write cannot speak with the model")
    for held in (["operator.read"], ["operator.approvals"], ["operator.pairing"]):
        reached = speaks(g, g.make_key(held))
        refuse(reached, f"a key with {held[0]} runs the model on {', '.join(reached)}")
    for path, body in CALLS:
        refuse(g.http("POST", path, None, body).ok, f"a stranger runs the model on {path}")
    return "operator.write is needed"


@row(
    "compat-error-tells-key",
    "CWE-209",
    "Read the vendor's key from the error of a failed model.",
    instance="fresh",
)
def error_tells(g):
    owner = g.need_owner()
    g.call(owner, "providers.set_key", {"id": "fake", "key": "sk-of-the-vendor-1234"})
    caller = g.make_key(["operator.write"]).caller
    for path, body in CALLS:
        require(g.http("POST", path, caller, body).ok, f"{path} does not answer")
    text = '{"error": {"message": "wrong key %s"}}'
    g.model().answer = lambda hit: (
        400,
        {"Content-Type": "application/json"},
        (text % hit.header("authorization")).encode(),
    )
    for path, body in CALLS:
        reply = g.http("POST", path, caller, body)
        refuse("sk-of-the-vendor" in reply.text, f"the error of {path} holds the vendor's key")
        require(not reply.ok, "the failure is not reported")
    return "the error does not hold it"
