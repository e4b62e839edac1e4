"""What operators use: backups, metrics, the documentation in the gateway, schedules, and forwarded deliveries."""

from ..adapter import CallFailed
from ..model import refuse, require, row
from .approvals import until
from .credentials import bearer, denied

TOKEN = "metrics-token-0123456789abcdef"


@row(
    "backup-by-lesser-key",
    "CWE-862",
    "Download or create a backup, which contains everything, without a key or with a key that lacks the permission.",
    instance="fresh",
)
def backup(g):
    path = "/api/backup/stream"
    whole = g.http("POST", path, g.make_key(["operator.admin"]).caller, {})
    require(whole.ok and whole.body, "no backup can be downloaded")
    able = ["operator.admin"]
    callers = {
        "a stranger": g.stranger(),
        "a key that reads": g.make_key(["operator.read"]).caller,
        "a key that does all but administer": g.make_key(
            ["operator.read", "operator.write", "operator.approvals", "operator.pairing"]
        ).caller,
        "a key for metrics": g.make_key(able, only=["/metrics"]).caller,
        "a key for lists of backups": g.make_key(able, only=["backup.list"]).caller,
    }
    ended = g.make_key(able)
    g.revoke_key(ended)
    callers["a revoked key"] = ended.caller
    for who, caller in callers.items():
        for method in ("POST", "GET"):
            refuse(g.http(method, path, caller, {} if method == "POST" else None).ok, f"{who} downloads a backup")
        refuse(not denied(g, caller, "backup.create", {}), f"{who} makes a backup")
        for name in ("gatehouse.backup", "../../etc/passwd"):
            refuse(g.http("GET", f"/api/backup/{name}", caller).ok, f"{who} downloads {name}")
    return f"{len(callers)} callers, all refused"


@row(
    "metrics-token-elsewhere",
    "CWE-863",
    "Use the token of the metrics for anything else, or a part of it for the metrics.",
    settings={"metrics.token": TOKEN},
)
def metrics_token(g):
    def holds(*headers, query=""):
        return "# TYPE" in g.http("GET", g.paths.metrics + query, g.stranger().but(*headers)).text

    require(holds(bearer(TOKEN)), "the token does not open the metrics")
    for header in (
        bearer(TOKEN[:-1]),
        bearer(TOKEN + "x"),
        bearer(TOKEN.upper()),
        bearer(""),
        ("Authorization", TOKEN),
        ("Authorization", f"Basic {TOKEN}"),
        ("Cookie", f"{g.cookie}={TOKEN}"),
        ("X-Api-Key", TOKEN),
    ):
        refuse(holds(header), f"{header} opens the metrics")
    for name in ("token", "access_token", "api_key"):
        refuse(holds(query=f"?{name}={TOKEN}"), f"?{name}= opens the metrics")
    caller = g.stranger().but(bearer(TOKEN))
    refuse(g.reaches(caller), "the token reaches the API")
    others = ("/v1/models", g.paths.keys, g.paths.conversations, f"{g.paths.metrics}/../api/gon")
    for path in (*g.paths.documents, *others):
        refuse(g.http("GET", path, caller).ok, f"the token opens {path}")
    refuse(g.http("POST", g.paths.metrics, caller, {}).ok, "the token posts")
    for name in ("system.status", "config.get", "sessions.list"):
        try:
            refuse(g.call(caller, name, {}), f"the token calls {name}")
        except CallFailed:
            pass
    refuse("result" in g.mcp(caller, "tools/list").json(), "the token lists tools")
    for path in (g.paths.gated_socket, g.paths.talk):
        with g.socket(caller, path) as socket:
            refuse(socket.status == 101, f"the token opens {path}")
    return "the whole token opens the metrics and nothing else"


@row(
    "manual-traversal",
    "CWE-22",
    "Read another file of the machine through the documentation that the gateway serves, or read that as a stranger.",
)
def manual(g):
    contents = g.http("GET", "/docs", g.need_owner())
    require(contents.ok and "GLOSSARY" in contents.text.upper(), "the gateway serves no documentation")
    refuse("GLOSSARY" in g.http("GET", "/docs").text.upper(), "a stranger reads the documentation")
    climbs = ("..", "%2e%2e", "..%2f..", "%2e%2e%2f%2e%2e", "..\\..", "..%5c..", "%252e%252e", "....//..")
    for climb in climbs:
        for tail in ("etc/passwd", "/etc/passwd"):
            path = "/docs/" + "/".join([climb] * 8) + "/" + tail
            refuse("root:" in g.http("GET", path, g.owner).text, f"{path} is answered with the file")
    for path in ("/docs//etc/passwd", "/docs/%2fetc%2fpasswd", "/docs/file:%2f%2f%2fetc%2fpasswd"):
        refuse("root:" in g.http("GET", path, g.owner).text, f"{path} is answered with the file")
    return f"{2 * len(climbs) + 3} paths, none answered"


@row(
    "schedule-by-stranger",
    "CWE-306",
    "Run a schedule from outside, as if it were a webhook without a signature.",
)
def schedule(g):
    fields = {"deliver_only": True, "deliver_to": "inbox", "prompt_template": "from-a-schedule"}
    made = g.make_webhook(source_profile="schedule", schedule={"every_seconds": 86400}, **fields)
    run = {"type": "schedule.run", "scheduled_for": "2026-11-23T08:00:00.000Z", "missed": 0}
    names = (made.get("public_id", made["id"]), made["id"], made["name"])
    headers = ([], [("Authorization", "Bearer ")], [("X-Webhook-Secret", "")], [("X-Event-Type", "schedule.run")])
    for name in names:
        for more in headers:
            reply = g.deliver({"path": f"{g.paths.ingest}/{name}"}, str(run).replace("'", '"').encode(), more)
            refuse(reply.ok, f"a stranger's request to the schedule is answered {reply.status}")
    rows = g.call(g.need_owner(), "webhooks.deliveries", {"id": made["id"]})["deliveries"]
    refuse(rows, "a stranger writes a row of the schedule")
    unknown = g.deliver({"path": f"{g.paths.ingest}/wh_{'0' * 36}"}, b"{}")
    refuse(reply.status != unknown.status, "a schedule can be distinguished from what does not exist")
    # It exists, and its clock works.
    soon = g.make_webhook(source_profile="schedule", schedule={"every_seconds": 1}, **fields)
    ran = lambda: g.call(g.owner, "webhooks.deliveries", {"id": soon["id"]})["deliveries"]
    require(until(ran, 60), "a schedule does not run")
    g.call(g.owner, "webhooks.delete", {"id": soon["id"]})
    return f"answered {reply.status}"


@row(
    "forward-by-lesser-key",
    "CWE-862",
    "Read the headers of deliveries, with their signatures, as the program that forwards them does.",
)
def forward(g):
    hook = g.make_webhook(source_profile="codehost_a", deliver_only=True, deliver_to="inbox")
    require(g.call(g.need_owner(), "webhooks.forward", {"id": hook["id"]}), "deliveries cannot be forwarded")
    mark = "planted-signature"
    g.deliver(hook, b"{}", [("X-Hub-Signature-256", f"sha256={mark}"), ("X-GitHub-Event", "push")])
    # Refusals are stored after the answer.
    rows = until(lambda: g.call(g.owner, "webhooks.deliveries", {"id": hook["id"]})["deliveries"])
    require(rows, "the delivery was not recorded")
    keys = [["operator.read"], ["operator.write"], ["operator.read", "operator.write", "operator.approvals"]]
    callers = [g.make_key(scopes).caller for scopes in keys]
    callers.append(g.make_key(["operator.admin"], only=["webhooks.deliveries", "webhooks.delivery.get"]).caller)
    for caller in (*callers, g.stranger()):
        refuse(not denied(g, caller, "webhooks.forward", {"id": hook["id"]}), "such a key has deliveries kept")
        request = {"id": rows[0]["id"]}
        refuse(not denied(g, caller, "webhooks.delivery.request", request), "such a key reads the headers")
    for name in ("webhooks.deliveries", "webhooks.delivery.get"):
        shown = g.call(callers[0], name, request if name.endswith("get") else {"id": hook["id"]})
        refuse(mark in str(shown), f"{name} shows the signature")
    return f"{len(callers) + 1} callers, all denied"
