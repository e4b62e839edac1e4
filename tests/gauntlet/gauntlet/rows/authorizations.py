"""Authorization servers of MCP servers, which the owner did not choose, and what their metadata leads to."""

import itertools
import time
from urllib.parse import urlencode

from ..adapter import CallFailed
from ..authority import Authority, state_of
from ..model import refuse, require, row
from ..recorder import Recorder, redirect

MIB = 1 << 20
NUMBERS = itertools.count(1)
FIELDS = ("authorization_endpoint", "token_endpoint", "registration_endpoint")


class Flow:
    """An MCP server, and an owner who authorizes the gateway there."""

    def __init__(self, g, authority, name="files"):
        self.g, self.authority, self.name = g, authority, name
        g.call(g.need_owner(), "config.set", {"key": f"mcp.servers.{name}.url", "value": authority.mcp})

    def of_another_name(self):
        """Returns a flow of the same server under a new name, for which the gateway has no client yet."""
        return Flow(self.g, self.authority, f"files{next(NUMBERS)}")

    def begin(self):
        """Returns the parameters of the callback; None if the gateway does not begin an authorization."""
        try:
            address = self.g.call(self.g.owner, "mcp.authorize", {"name": self.name}, 120)["url"]
        except CallFailed:
            return None
        return {"code": "code-1", "state": state_of(address), "iss": self.authority.url}

    def finish(self, query, caller=None, name=None):
        """Sends the callback. Returns whether the code was exchanged."""
        before = self.authority.tokens()
        caller = caller or self.g.owner
        self.g.http("GET", f"/auth/callback/{name or self.name}?{urlencode(query)}", caller)
        return self.authority.tokens() > before

    def completes(self):
        """Returns whether an authorization can be completed."""
        query = self.begin()
        return query is not None and self.finish(query)


def with_flow(attack):
    def run(g):
        with Authority() as authority:
            return attack(g, Flow(g, authority))

    run.__module__ = __name__
    return run


def fresh(name, reference, attack, **options):
    return row(name, reference, attack, instance="fresh", **options)


@fresh(
    "oauth-metadata-inside-address",
    "CWE-918",
    "Name addresses of the gateway's own network in the metadata of an MCP server, or redirect there.",
)
@with_flow
def inside_address(g, flow):
    require(flow.completes(), "no authorization can be completed")
    authority = flow.authority
    with Recorder() as inside:

        def attempt(what):
            new = flow.of_another_name()
            query = new.begin()
            if query and new.finish(query):
                g.call(g.owner, "mcp.disconnect", {"name": new.name})
            refuse(inside.hits, f"{what} of the metadata was called")
            authority.reset()

        authority.protected["authorization_servers"] = [inside.url]
        attempt("the authorization server")
        authority.challenge = f'Bearer resource_metadata="{inside.url}/metadata"'
        attempt("the address of the challenge")
        for field in ("token_endpoint", "registration_endpoint", "revocation_endpoint"):
            authority.metadata[field] = f"{inside.url}/{field}"
            attempt(field)
        for path in ("/.well-known/oauth-protected-resource/mcp", "/.well-known/oauth-authorization-server", "/token"):
            authority.answers[path] = redirect(f"{inside.url}{path}")
            attempt(f"the redirect of {path}")
        # The browser of the owner would call this one.
        authority.metadata["authorization_endpoint"] = "http://169.254.169.254/latest/meta-data"
        refuse(flow.begin(), "the owner is led to a metadata service")
    return "none was called"


@fresh(
    "oauth-metadata-other-issuer",
    "CWE-346",
    "Return another issuer's name in the metadata, to obtain authorization codes meant for that issuer.",
)
@with_flow
def other_issuer(g, flow):
    require(flow.completes(), "no authorization can be completed")
    authority = flow.authority
    url = authority.url
    tls = url.replace("http", "https")
    for issuer in ("https://accounts.example.com", f"{url}.evil.example", f"{url}/tenant", tls):
        authority.metadata["issuer"] = issuer
        refuse(flow.begin(), f"the issuer {issuer} is accepted")
    authority.reset()
    authority.protected["authorization_servers"] = [f"{url}/tenant"]
    refuse(flow.begin(), "the metadata of one tenant is accepted for another")
    authority.reset()
    # The server always names itself (RFC 9207), so an answer without its name is not from it.
    query = flow.begin()
    del query["iss"]
    refuse(flow.finish(query), "an answer that does not name the server is accepted")
    return "only the issuer that was asked"


@fresh(
    "oauth-metadata-other-resource",
    "CWE-345",
    "Have the gateway get a token for the resource of another MCP server.",
)
@with_flow
def other_resource(g, flow):
    require(flow.completes(), "no authorization can be completed")
    authority = flow.authority
    mcp, url = authority.mcp, authority.url
    others = (
        "https://mail.example.com/mcp",
        f"{mcp}/admin",
        mcp[:-1],
        f"{url}/m",
        f"{url}/other",
        url.replace("http", "https") + "/mcp",
        url.replace("127.0.0.1", "localhost") + "/mcp",
        url.replace("127.0.0.1", "127.0.0.1.evil.example") + "/mcp",
        f"http://127.0.0.1:{authority.port}@mail.example.com/mcp",
        "/mcp",
        "",
    )
    for resource in others:
        authority.protected["resource"] = resource
        query = flow.begin()
        refuse(query and flow.finish(query), f"the resource {resource} is accepted")
        refuse(query, f"an authorization for the resource {resource} starts")
    return f"{len(others)} resources, all refused"


@fresh(
    "oauth-metadata-without-tls",
    "CWE-319",
    "Name an address without TLS, or another scheme, in the metadata of an MCP server.",
)
@with_flow
def without_tls(g, flow):
    require(flow.completes(), "no authorization can be completed")
    authority = flow.authority
    addresses = ("http://accounts.example.com/x", "ftp://accounts.example.com/x", "javascript:alert(1)//x", "file:///x")
    for field in FIELDS:
        for address in addresses:
            authority.metadata[field] = address
            refuse(flow.of_another_name().begin(), f"{address} is accepted as {field}")
            authority.reset()
    for address in addresses:
        authority.protected["authorization_servers"] = [address]
        refuse(flow.begin(), f"{address} is accepted as the authorization server")
    return f"{len(addresses) * (len(FIELDS) + 1)} addresses, all refused"


@fresh(
    "oauth-metadata-without-pkce",
    "CWE-757",
    "Advertise no support of PKCE in the metadata, so that an intercepted code can be exchanged for a token.",
)
@with_flow
def without_pkce(g, flow):
    require(flow.completes(), "no authorization can be completed")
    for methods in (["plain"], [], None):
        flow.authority.metadata["code_challenge_methods_supported"] = methods
        refuse(flow.begin(), f"an authorization begins with the methods {methods}")
    flow.authority.metadata.pop("code_challenge_methods_supported")
    refuse(flow.begin(), "an authorization begins without methods")
    return "S256 is required"


@fresh(
    "oauth-metadata-flood",
    "CWE-400",
    "Answer a request for metadata or a token with an endless document, or never finish the answer.",
    deadline=240.0,
)
@with_flow
def flood(g, flow):
    require(flow.completes(), "no authorization can be completed")
    authority = flow.authority
    before = g.memory_bytes()
    resource, server = "/.well-known/oauth-protected-resource/mcp", "/.well-known/oauth-authorization-server"
    for path in (resource, server, "/token"):
        for endless in (large, slow):
            taken = []
            authority.answers[path] = endless(taken)
            query = flow.begin()
            if query:
                flow.finish(query)
            require(taken, f"{path} was not asked")
            # The system's buffers take some of it.
            refuse(sum(taken) > 48 * MIB, f"{sum(taken) >> 20} MiB of {path} were read")
            authority.reset()
    grown = g.peak_memory_bytes() - before
    refuse(grown > 64 * MIB, f"the documents took {grown >> 20} MiB")
    require(flow.completes(), "no authorization can be completed afterwards")
    return "they are cut"


def large(taken):
    """A document of 128 MiB. The bytes that the gateway took are added to `taken`, which is empty until it asks."""

    def pieces():
        piece = b'{"a":"' + b"x" * MIB
        taken.append(0)
        for _ in range(128):
            yield piece
            taken.append(len(piece))

    return lambda hit: (200, {"Content-Type": "application/json"}, pieces())


def slow(taken):
    """A byte per half second, for two minutes."""

    def pieces():
        for _ in range(240):
            taken.append(0)
            yield b" "
            time.sleep(0.5)

    return lambda hit: (200, {"Content-Type": "application/json"}, pieces())


@fresh(
    "oauth-callback-of-an-ended-flow",
    "CWE-672",
    "Finish an authorization that the owner has restarted or ended, or one for a server whose URL has changed since.",
)
@with_flow
def ended_flow(g, flow):
    require(flow.completes(), "no authorization can be completed")
    first = flow.begin()
    second = flow.begin()
    refuse(flow.finish(first), "an authorization that was restarted is finished")
    require(flow.finish(second), "the later one cannot be finished")
    session, _ = g.session()
    query = state_begun_by(flow, session)
    g.http("POST", g.paths.logout, session, {})
    refuse(flow.finish(query, session), "a session that has ended finishes it")
    refuse(flow.finish(query), "another session finishes it")
    with Authority() as other:
        query = flow.begin()
        g.call(g.owner, "config.set", {"key": "mcp.servers.files.url", "value": other.mcp})
        refuse(flow.finish(query) or other.tokens(), "an authorization is finished for a server that has moved")
    return "it ends with what it was for"


def state_begun_by(flow, session):
    address = flow.g.call(session, "mcp.authorize", {"name": flow.name})["url"]
    return {"code": "code-1", "state": state_of(address), "iss": flow.authority.url}


@fresh(
    "oauth-callback-other-server",
    "CWE-441",
    "Send the code of one MCP server's authorization to another server's callback, so that it goes there.",
)
@with_flow
def other_server(g, flow):
    require(flow.completes(), "no authorization can be completed")
    with Authority() as evil:
        other = Flow(g, evil, "evil")
        require(other.completes(), "no second server can be authorized")
        before = evil.tokens()
        query = flow.begin()
        other.begin()
        for iss in (query["iss"], evil.url):
            flow.finish(query | {"iss": iss}, name="evil")
            refuse(evil.tokens() > before, "the code goes to the other server")
        require(flow.finish(query), "the code is not accepted at its own callback either")
    return "a state belongs to one server"
