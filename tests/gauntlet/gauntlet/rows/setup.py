"""The time before an owner exists."""

from concurrent.futures import ThreadPoolExecutor

from ..adapter import PASSWORD, Caller
from ..model import refuse, require, row
from .credentials import trickle

REMOTE = Caller((("X-Forwarded-For", "203.0.113.9"),), "127.0.0.1")
LOCAL = Caller((), "127.0.0.1")


@row("setup-by-stranger", "CVE-2018-19367", "Set the first password from another machine.", instance="unset")
def by_stranger(g):
    for body in (
        {"password": PASSWORD},
        {"password": PASSWORD, "setup_code": ""},
        {"password": PASSWORD, "setup_code": "000000"},
    ):
        reply = g.http("POST", g.paths.setup, REMOTE, body, timeout=30)
        refuse(reply.ok, f"a stranger set the password with {body.get('setup_code', 'no code')!r}")
    reply = g.http("POST", f"{g.paths.passkeys}/register/begin", REMOTE, {})
    refuse(reply.ok, "a stranger began to register a passkey")
    reply = g.http("POST", g.paths.change_password, REMOTE, {"new_password": PASSWORD}, timeout=30)
    refuse(reply.ok, "a stranger set the password by changing it")
    return f"answered {reply.status}"


@row("setup-race", "CVE-2026-45675", "Complete setup several times at once.", instance="unset")
def race(g):
    def attempt(number):
        return g.http("POST", g.paths.setup, LOCAL, {"password": f"{PASSWORD} {number}"}, timeout=50).status

    with ThreadPoolExecutor(8) as pool:
        statuses = list(pool.map(attempt, range(8)))
    won = statuses.count(200)
    refuse(won > 1, f"{won} of 8 racing setups were taken")
    require(won == 1, f"no setup was taken: {statuses}")
    return f"one was taken, the others answered {sorted(set(statuses) - {200})}"


@row("setup-twice", "CWE-837", "Complete setup again once there is an owner.")
def twice(g):
    g.need_owner()
    for caller in (LOCAL, REMOTE, g.owner):
        reply = g.http("POST", g.paths.setup, caller, {"password": "a second password entirely"}, timeout=30)
        refuse(reply.ok, "setup was taken again")
    return f"answered {reply.status}"


@row("setup-code-guesses", "CWE-307", "Guess the setup code with many requests at once.", instance="unset")
def code_guesses(g):
    def attempt(number):
        body = {"password": PASSWORD, "setup_code": f"{number:06}"}
        return g.http("POST", g.paths.setup, REMOTE, body, timeout=50).status

    with ThreadPoolExecutor(20) as pool:
        statuses = list(pool.map(attempt, range(60)))
    looked_at = statuses.count(403)
    refuse(200 in statuses, "a guess was right")
    refuse(looked_at > 20, f"{looked_at} of 60 guesses were checked")
    require(looked_at, f"no guess was checked: {set(statuses)}")
    return f"{looked_at} of 60 were checked"


@row(
    "setup-outlived-by-request",
    "CWE-367",
    "Begin a request before setup, when no credential is needed, and end it afterwards.",
    instance="unset",
)
def outlived(g):
    body = {"id": 1, "method": "env.set", "params": {"key": "BEFORE_SETUP", "value": "1"}}
    reply = trickle(g, LOCAL, g.set_up, body, g.paths.rpc)
    listed = g.call(g.owner, "env.list", {"limit": 500})["env_variables"]
    refuse(any(item["key"] == "BEFORE_SETUP" for item in listed), f"the change was made after setup: {reply.status}")
    return f"answered {reply.status}"


@row(
    "setup-local-key-without-code",
    "CWE-1188",
    "Make an administrator's key before setup as another user of the machine, where the code is asked for.",
    instance="unset",
    settings={"auth.local_setup_code": "true"},
)
def local_key(g):
    reply = g.http("POST", g.paths.keys, LOCAL, {"label": "mine", "scopes": ["operator.admin"]})
    if not reply.ok:
        return f"answered {reply.status}"
    caller = Caller((("Authorization", f"Bearer {reply.json()['key']}"),), "127.0.0.1")
    body = {"password": PASSWORD, "setup_code": g.setup_code()}
    done = g.http("POST", g.paths.setup, LOCAL, body, timeout=40)
    require(done.ok, f"setup with the code was answered {done.status}")
    refuse(g.reaches(caller), "a key made without the code outlives setup")
    return "the key ended with setup"


@row(
    "setup-foreign-page",
    "CWE-352",
    "Complete setup from a foreign page in a browser on the same machine.",
    instance="unset",
)
def foreign_page(g):
    for headers in ((("Origin", "https://evil.example"),), (("Origin", "null"),), (("Sec-Fetch-Site", "cross-site"),)):
        reply = g.http("POST", g.paths.setup, LOCAL.but(*headers), {"password": PASSWORD}, timeout=30)
        refuse(reply.ok, f"a page with {headers[0]} set the password")
    with g.socket(LOCAL, headers=[("Origin", "https://evil.example")]) as socket:
        refuse(socket.status == 101, "a foreign page opened a socket")
    return f"answered {reply.status}"
