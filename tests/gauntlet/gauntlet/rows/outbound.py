"""Addresses that the gateway is tricked into calling, and keys that it sends along."""

import gzip
import time

from ..adapter import CallFailed
from ..model import refuse, require, row
from ..recorder import Recorder, redirect

KEY = "sk-KEY-OF-THE-OWNER"


def fetch_all(g, recorder, hosts):
    """Makes a tool fetch each spelling. Open if one reaches the recorder."""
    for number, host in enumerate(hosts):
        url = host if "://" in host else f"http://{host}:{recorder.port}/{number}"
        try:
            g.run_tool("web_fetch", {"url": url})
        except CallFailed:
            pass
        refuse(recorder.hits, f"{url} reached a server on the machine itself")
    return f"{len(hosts)} spellings, none reached"


@row(
    "fetch-short-and-octal",
    "CVE-2024-29415",
    "Fetch a local address in short, octal, decimal and hexadecimal spellings.",
)
def octal(g):
    with Recorder() as r:
        return fetch_all(
            g,
            r,
            [
                "127.0.0.1",
                "127.1",
                "0177.0.0.1",
                "017700000001",
                "2130706433",
                "0x7f000001",
                "0x7f.1",
                "0",
                "0.0.0.0",
                "127.0.0.1.",
                "00000000177.0.0.1",
                "127.000.000.001",
            ],
        )


@row("fetch-ipv6-embedded", "CWE-918", "Fetch a local IPv4 address that is embedded in an IPv6 address.")
def ipv6(g):
    with Recorder() as r:
        return fetch_all(
            g,
            r,
            [
                "[::ffff:127.0.0.1]",
                "[::ffff:7f00:1]",
                "[::]",
                "[::1]",
                "[0:0:0:0:0:ffff:127.0.0.1]",
                "[64:ff9b::7f00:1]",
                "[2002:7f00:1::]",
                "[::127.0.0.1]",
                "[fe80::1%25lo]",
                "[64:ff9b:1::127.0.0.1]",
            ],
        )


@row(
    "fetch-local-names",
    "CWE-918",
    "Fetch a local address by a name, or with user data and characters that normalise to one.",
)
def names(g):
    with Recorder() as r:
        hosts = [
            "localhost",
            "LOCALHOST",
            "localhost.",
            "x.localhost",
            "ip6-localhost",
            "public@127.0.0.1",
            "127.0.0.1%00.example.com",
            "①②⑦.⓪.⓪.①",
            "ｌｏｃａｌｈｏｓｔ",
            "127。0。0。1",
        ]
        return fetch_all(g, r, hosts)


@row(
    "fetch-metadata",
    "CWE-918",
    "Fetch a cloud's metadata service, also where private addresses are allowed.",
    settings={"network.allow_private": "true"},
)
def metadata(g):
    for host in (
        "169.254.169.254",
        "[::ffff:169.254.169.254]",
        "2852039166",
        "0xa9fea9fe",
        "169.254.170.2",
        "100.100.100.200",
        "[fd00:ec2::254]",
    ):
        start = time.monotonic()
        text = g.run_tool("web_fetch", {"url": f"http://{host}/latest/meta-data/"}) or ""
        tried = time.monotonic() - start > 2.5 or any(
            word in text.lower() for word in ("unreachable", "timed out", "refused the connection")
        )
        refuse(tried and "must not" not in text, f"{host} was called: {text[:80]}")
    return "none called"


@row(
    "fetch-other-schemes",
    "CWE-73",
    "Fetch a file or another protocol by the URL's scheme, also after a redirect.",
    settings={"network.allow_private": "true"},
)
def schemes(g):
    targets = [
        "file:///etc/passwd",
        "gopher://127.0.0.1:25/x",
        "ftp://127.0.0.1/",
        "data:text/plain,root:x",
        "jar:http://x!/",
        "dict://127.0.0.1:11211/",
        "unix:///run/x",
        "FILE:/etc/passwd",
    ]
    for target in targets:
        refuse("root:" in (g.run_tool("web_fetch", {"url": target}) or ""), f"{target} was read")
        with Recorder(redirect(target, 302)) as r:
            text = g.run_tool("web_fetch", {"url": f"{r.url}/go"}) or ""
            require(r.hits, "the tool does not fetch at all")
            refuse("root:" in text, f"a redirect to {target} was read")
    return f"{len(targets)} schemes, none read"


@row(
    "fetch-redirect-loop",
    "CWE-835",
    "Answer a fetch with redirects without end.",
    settings={"network.allow_private": "true"},
)
def loop(g):
    with Recorder() as r:
        r.answer = lambda hit: (302, {"Location": f"{r.url}/{len(r.hits)}"}, b"")
        g.run_tool("web_fetch", {"url": f"{r.url}/0"})
        require(r.hits, "the tool does not fetch at all")
        refuse(len(r.hits) > 30, f"{len(r.hits)} redirects were followed")
        return f"{len(r.hits)} requests"


@row(
    "fetch-zip-bomb",
    "CVE-2025-69223",
    "Answer a fetch with a compressed page that grows a thousandfold.",
    settings={"network.allow_private": "true"},
)
def bomb(g):
    packed = gzip.compress(b"a " * (64 << 20))
    with Recorder(lambda hit: (200, {"Content-Type": "text/plain", "Content-Encoding": "gzip"}, packed)) as r:
        before = g.memory_bytes()
        text = g.run_tool("web_fetch", {"url": f"{r.url}/", "max_chars": 60000}) or ""
        require(r.hits, "the tool does not fetch at all")
        grown = g.memory_bytes() - before
    refuse(len(text) > 1 << 20, f"{len(text) >> 20} MiB were handed to the model")
    refuse(grown > 100 << 20, f"the gateway grew by {grown >> 20} MiB")
    return f"{len(text) >> 10} KiB were handed on"


def leaked(recorder, what):
    """Open if the second server received a request; reports whether it contained the key or the body."""
    hits = recorder.wait(1, 3)
    for hit in hits:
        refuse(hit.holds(KEY), f"{what}: the key followed the redirect")
        refuse(hit.method != "GET" and hit.body, f"{what}: the request's body followed the redirect")
    refuse(hits, f"{what}: the redirect was followed")


def set_keys(g, values):
    for key, value in values.items():
        g.call(g.need_owner(), "config.set", {"key": key, "value": value})


def attempt(action):
    """Performs an action that may fail."""
    try:
        action()
    except CallFailed:
        pass


@row(
    "redirect-model",
    "CVE-2018-18074",
    "Redirect a model request to another host, to have its key and prompt.",
    instance="fresh",
)
def redirect_model(g):
    with Recorder() as away, Recorder(redirect(f"{away.url}/v1/chat/completions")) as first:
        set_keys(
            g,
            {
                "models.providers.far.base_url": f"{first.url}/v1",
                "models.providers.far.kind": "openai",
                "models.providers.far.models": ["m"],
            },
        )
        g.call(g.owner, "providers.set_key", {"id": "far", "key": KEY})
        attempt(lambda: g.call(g.owner, "chat.send_sync", {"text": "hello", "model": "far/m"}, 60))
        require(any(h.holds(KEY) for h in first.hits), "the model was not called with its key")
        leaked(away, "model")
    return "not followed"


@row(
    "redirect-channel", "CVE-2022-27774", "Redirect a channel's request to another host, to have its headers and text."
)
def redirect_channel(g):
    with Recorder() as away, Recorder(redirect(away.url)) as first:
        fields = {"url": first.url, "headers": f"Authorization: Bearer {KEY}"}
        channel = g.call(g.need_owner(), "channels.create", {"type": "http", "label": "r", "fields": fields})
        attempt(lambda: g.call(g.owner, "channels.test", {"id": channel["id"]}, 60))
        require(any(h.holds(KEY) for h in first.hits), "the channel was not called with its header")
        g.call(g.owner, "channels.delete", {"id": channel["id"]})
        leaked(away, "channel")
    return "not followed"


@row(
    "redirect-search", "CVE-2022-27774", "Redirect a search request to another host, to have its key.", instance="fresh"
)
def redirect_search(g):
    with Recorder() as away, Recorder(redirect(f"{away.url}/search")) as first:
        set_keys(g, {"tools.web_search.provider": "tavily", "tools.web_search.base_url": first.url})
        g.call(g.owner, "env.set", {"key": "TAVILY_API_KEY", "value": KEY})
        g.run_tool("web_search", {"query": "x"})
        require(any(h.holds(KEY) for h in first.hits), "the search was not called with its key")
        leaked(away, "search")
    return "not followed"


@row(
    "redirect-mcp",
    "CVE-2022-27774",
    "Redirect an MCP server's address to another host, to have its token.",
    instance="fresh",
)
def redirect_mcp(g):
    with Recorder() as away, Recorder(redirect(f"{away.url}/mcp")) as first:
        g.call(g.need_owner(), "env.set", {"key": "MCP_FAR_TOKEN", "value": KEY})
        set_keys(g, {"mcp.servers.far.url": f"{first.url}/mcp"})
        require(first.wait(1, 30), "the MCP server was not called")
        leaked(away, "MCP")
    return "not followed"


@row(
    "redirect-voice",
    "CVE-2022-27774",
    "Redirect a voice request to another host, to have its key and text.",
    instance="fresh",
)
def redirect_voice(g):
    with Recorder() as away, Recorder(redirect(f"{away.url}/v1/audio/speech")) as first:
        set_keys(
            g,
            {"voice.tts.tts_cloud_2.base_url": f"{first.url}/v1", "voice.stt.stt_cloud_1.base_url": f"{first.url}/v1"},
        )
        for provider in ("tts_cloud_2", "stt_cloud_1"):
            g.call(g.owner, "providers.set_key", {"id": provider, "key": KEY})
        attempt(lambda: g.call(g.owner, "tts.convert", {"text": "hello", "provider": "tts_cloud_2"}, 60))
        require(any(h.holds(KEY) for h in first.hits), "the voice was not called with its key")
        leaked(away, "voice")
    return "not followed"


def moved(g, first, away, change, use, what):
    """Uses a key, changes its address, and checks whether the key is sent to the new address."""
    use()
    require(any(h.holds(KEY) for h in first.hits), f"{what} was not called with its key")
    change()
    attempt(use)
    refuse(any(h.holds(KEY) for h in away.wait(1, 3)), f"the key of {what} went to the new address")
    return "the key stays with the address it was entered for"


@row(
    "key-follows-model-address",
    "CWE-522",
    "Move a model provider to another address, and have the stored key sent there.",
    instance="fresh",
)
def model_address(g):
    with Recorder() as away, Recorder() as first:
        base = {"models.providers.far.kind": "openai", "models.providers.far.models": ["m"]}
        set_keys(g, {**base, "models.providers.far.base_url": f"{first.url}/v1"})
        g.call(g.owner, "providers.set_key", {"id": "far", "key": KEY})
        use = lambda: attempt(lambda: g.call(g.owner, "chat.send_sync", {"text": "hello", "model": "far/m"}, 60))
        change = lambda: set_keys(g, {"models.providers.far.base_url": f"{away.url}/v1"})
        return moved(g, first, away, change, use, "the model")


@row(
    "key-follows-model-kind",
    "CWE-522",
    "Change the kind of a model provider, so that its key goes to another vendor's interface.",
    instance="fresh",
)
def model_kind(g):
    with Recorder() as far:
        base = {
            "models.providers.far.kind": "openai",
            "models.providers.far.models": ["m"],
            "models.providers.far.base_url": f"{far.url}/v1",
        }
        set_keys(g, base)
        g.call(g.owner, "providers.set_key", {"id": "far", "key": KEY})
        use = lambda: attempt(lambda: g.call(g.owner, "chat.send_sync", {"text": "hello", "model": "far/m"}, 60))
        use()
        require(any(h.holds(KEY) for h in far.hits), "the model was not called with its key")
        far.hits.clear()
        attempt(lambda: set_keys(g, {"models.providers.far.kind": "anthropic"}))
        use()
        refuse(
            any(h.holds(KEY) and h.header("x-api-key") for h in far.wait(1, 3)),
            "the key was sent as another vendor's",
        )
    return "the key stays with the kind it was entered for"


@row(
    "key-follows-search-address",
    "CWE-522",
    "Move the search service to another address, and have the stored key sent there.",
    instance="fresh",
)
def search_address(g):
    with Recorder() as away, Recorder() as first:
        set_keys(g, {"tools.web_search.provider": "tavily", "tools.web_search.base_url": first.url})
        g.call(g.owner, "env.set", {"key": "TAVILY_API_KEY", "value": KEY})
        use = lambda: g.run_tool("web_search", {"query": "x"})
        return moved(g, first, away, lambda: set_keys(g, {"tools.web_search.base_url": away.url}), use, "the search")


@row(
    "key-follows-mcp-address",
    "CWE-522",
    "Move an MCP server to another address, and have its token sent there.",
    instance="fresh",
)
def mcp_address(g):
    with Recorder() as away, Recorder() as first:
        g.call(g.need_owner(), "env.set", {"key": "MCP_FAR_TOKEN", "value": KEY})
        use = lambda: first.wait(1, 30)
        set_keys(g, {"mcp.servers.far.url": f"{first.url}/mcp"})
        return moved(
            g, first, away, lambda: set_keys(g, {"mcp.servers.far.url": f"{away.url}/mcp"}), use, "the MCP server"
        )


@row(
    "key-follows-voice-address",
    "CWE-522",
    "Move a voice provider to another address, and have the stored key sent there.",
    instance="fresh",
)
def voice_address(g):
    with Recorder() as away, Recorder() as first:
        set_keys(g, {"voice.tts.tts_cloud_2.base_url": f"{first.url}/v1"})
        g.call(g.owner, "providers.set_key", {"id": "tts_cloud_2", "key": KEY})
        use = lambda: attempt(lambda: g.call(g.owner, "tts.convert", {"text": "hello", "provider": "tts_cloud_2"}, 60))
        return moved(
            g, first, away, lambda: set_keys(g, {"voice.tts.tts_cloud_2.base_url": f"{away.url}/v1"}), use, "the voice"
        )


@row("key-follows-channel-address", "CWE-522", "Move a channel to another address, and have its headers sent there.")
def channel_address(g):
    with Recorder() as away, Recorder() as first:
        fields = {"url": first.url, "headers": f"Authorization: Bearer {KEY}"}
        channel = g.call(g.need_owner(), "channels.create", {"type": "http", "label": "m", "fields": fields})
        use = lambda: attempt(lambda: g.call(g.owner, "channels.test", {"id": channel["id"]}, 60))
        change = lambda: attempt(
            lambda: g.call(g.owner, "channels.update", {"id": channel["id"], "fields": {"url": away.url}})
        )
        try:
            return moved(g, first, away, change, use, "the channel")
        finally:
            attempt(lambda: g.call(g.owner, "channels.delete", {"id": channel["id"]}))
