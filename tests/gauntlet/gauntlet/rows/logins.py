"""Logins: guesses, sessions and their cookies."""

import time
from concurrent.futures import ThreadPoolExecutor

from .. import http
from ..adapter import PASSWORD, Caller
from ..model import refuse, require, row, within_a_minute


@row("login-guesses-in-parallel", "CWE-307", "Send many guesses at once, before the first is counted.")
def login_parallel(g):
    source = g.stranger().source
    data = g.raw_request(
        "POST", g.paths.login, Caller((("Connection", "close"),), source), b'{"password":"wrong password wrong"}'
    )
    peers = [g.connect(source, timeout=90) for _ in range(40)]
    start = time.monotonic()
    for peer in peers:
        peer.sendall(data[:-1])
    time.sleep(0.3)
    for peer in peers:
        peer.sendall(data[-1:])
    statuses = [http.parse(http.read_some(peer))[0].status for peer in peers]
    for peer in peers:
        peer.close()
    looked_at = sum(status == 401 for status in statuses)
    within_a_minute(start)
    refuse(looked_at > 5, f"{looked_at} of 40 guesses were looked at; the limit is 5")
    require(looked_at, f"no guess was looked at: {set(statuses)}")
    return f"{looked_at} of 40 were looked at"


@row(
    "confirm-guesses-in-parallel",
    "CWE-362",
    "Guess the password with a stolen session, all guesses at once.",
    instance="fresh",
)
def confirm_parallel(g):
    session, _ = g.session()

    def guess(_):
        caller = session.but(source=g.stranger().source)
        return g.http("POST", g.paths.confirm, caller, {"password": "wrong password wrong"}, timeout=120).status

    looked_at = 0
    for _ in range(3):
        with ThreadPoolExecutor(25) as pool:
            looked_at += sum(status == 401 for status in pool.map(guess, range(25)))
    refuse(looked_at > 30, f"{looked_at} of 75 guesses were looked at; the limit is 30")
    require(looked_at, "no guess was looked at")
    return f"{looked_at} of 75 were looked at"


@row("session-fixation", "CVE-2020-5205", "Plant a session before a login, and use it afterwards.")
def fixation(g):
    planted = "f" * 43
    caller = g.stranger().but(("Cookie", f"{g.cookie}={planted}"))
    made = g.login(PASSWORD, caller).cookie(g.cookie)
    refuse(made == planted, "the login took the planted session over")
    refuse(g.reaches(caller), "the planted session is let in")
    return "a login makes a session of its own"


@row("cookie-attributes", "CWE-1275", "Use a session's cookie from scripts, other sites or other hosts.")
def cookie_attributes(g):
    reply = g.login(PASSWORD, g.stranger())
    value = next((v for v in reply.all("set-cookie") if v.startswith(g.cookie)), "")
    require(value, "a login sets no cookie")
    low = value.lower().replace(" ", "")
    refuse("httponly" not in low, "without HttpOnly")
    refuse("samesite=strict" not in low and "samesite=lax" not in low, "without SameSite")
    refuse("domain=" in low and "domain=localhost" not in low, f"for other hosts too: {value}")
    return value.partition(";")[2].strip()


@row("cookie-planting", "CWE-565", "Plant cookies of the same name, so that the owner's own is not read.")
def planting(g):
    _, token = g.session()
    for count in (4, 12):
        planted = "; ".join(f"{g.cookie}=planted{n}" for n in range(count))
        caller = g.stranger().but(("Cookie", f"{planted}; {g.cookie}={token}"))
        refuse(not g.reaches(caller), f"{count} planted cookies log the owner out")
    return "the owner's own cookie is found"


@row("password-truncation", "CVE-2025-22228", "Log in with the first 72 bytes of a long password.", instance="unset")
def truncation(g):
    password = "0123456789abcdef" * 6
    g.set_up(password)
    for wrong in (password[:72], password[:72] + "x" * 24, password[:-1], password + "x", password[:64]):
        refuse(g.login(wrong).ok, f"{len(wrong)} of {len(password)} characters log in")
    return "only the whole password logs in"


@row(
    "password-change-leaves-sessions",
    "CWE-613",
    "Keep a stolen session and its socket after the owner changed the password.",
    instance="fresh",
)
def change_leaves(g):
    stolen, _ = g.session()
    with g.socket(stolen) as socket:
        require(socket.call("system.status"), "the socket does not work")
        body = {"current_password": PASSWORD, "new_password": "another horse battery staple"}
        reply = g.http("POST", g.paths.change_password, g.owner, body, timeout=40)
        require(reply.ok, f"the password cannot be changed: {reply.status}")
        refuse(g.reaches(stolen), "the stolen session is let in")
        end = time.monotonic() + 20
        while socket.call("sessions.list", timeout=60):
            refuse(time.monotonic() > end, "the stolen session's socket still answers after 20 seconds")
            time.sleep(0.2)
    refuse(g.login(PASSWORD).ok, "the old password logs in")
    return "all other sessions ended"
