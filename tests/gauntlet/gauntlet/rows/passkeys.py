"""Authenticator responses made for another time or place."""

from ..model import refuse, require, row
from ..passkey import Authenticator


class Browser:
    """A page of the gateway on `localhost` with an authenticator."""

    def __init__(self, g):
        self.g, self.host = g, f"localhost:{g.address[1]}"
        self.key = Authenticator("localhost", f"http://{self.host}")
        begun = self.post("register/begin", {}, g.need_owner())
        require(begun.ok, f"no passkey can be registered: {begun.status}")
        options = begun.json()
        body = {
            "challenge_id": options["challenge_id"],
            "name": "gauntlet",
            "credential": self.key.create(options["options"]),
        }
        done = self.post("register/finish", body, g.owner)
        require(done.ok, f"the passkey was not registered: {done.status} {done.text[:80]}")

    def post(self, name, body, caller=None):
        caller = (caller or self.g.stranger()).but(("Origin", f"http://{self.host}"))
        return self.g.http("POST", f"{self.g.paths.passkeys}/{name}", caller, body, host=self.host)

    def begin(self):
        return self.post("auth/begin", {}).json()

    def finish(self, challenge, credential):
        return self.post("auth/finish", {"challenge_id": challenge, "credential": credential})


@row(
    "passkey-replay",
    "CVE-2026-28787",
    "Send a passkey's answer a second time, or to another challenge.",
    instance="fresh",
)
def replay(g):
    browser = Browser(g)
    begun = browser.begin()
    credential = browser.key.get(begun["options"])
    first = browser.finish(begun["challenge_id"], credential)
    require(first.ok, f"the passkey does not log in: {first.status} {first.text[:80]}")
    refuse(browser.finish(begun["challenge_id"], credential).ok, "the answer was taken twice")
    refuse(browser.finish(browser.begin()["challenge_id"], credential).ok, "the answer was taken for another challenge")
    return "an answer counts once"


@row(
    "passkey-other-origin",
    "CWE-346",
    "Send a passkey's answer that another program's page on the same host got from the authenticator.",
    instance="fresh",
)
def other_origin(g):
    port = g.address[1]
    others = (
        f"http://localhost:{port + 1}",
        f"https://localhost:{port + 1}",
        "http://localhost",
        "https://localhost",
        f"http://evil.localhost:{port}",
        "https://evil.example",
    )
    return none_logs_in(g, others)


@row(
    "passkey-other-scheme",
    "CWE-346",
    "Send a passkey's answer that a page of the same host and port, but over TLS, got from the authenticator.",
    instance="fresh",
)
def other_scheme(g):
    return none_logs_in(g, [f"https://localhost:{g.address[1]}"])


def none_logs_in(g, origins):
    browser = Browser(g)
    own = f"http://{browser.host}"
    for origin in origins:
        begun = browser.begin()
        browser.key.origin = origin
        reply = browser.finish(begun["challenge_id"], browser.key.get(begun["options"]))
        refuse(reply.ok, f"an answer made on {origin} logs in on {own}")
    browser.key.origin = own
    begun = browser.begin()
    require(
        browser.finish(begun["challenge_id"], browser.key.get(begun["options"])).ok,
        "the passkey does not log in at all",
    )
    return "only answers made on this origin"
