"""The audio paths for clients of OpenAI's API, which take uploads and pay vendors."""

import io
import re
import tempfile
import threading
import wave
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import parse_qsl, urlsplit

from ..model import refuse, require, row
from ..recorder import Recorder

MIB = 1 << 20
MARK = "b0undary"
SPEAKERS = {"tts_cloud_1": "elevenlabs", "tts_cloud_2": "openai"}
LISTENERS = {"stt_cloud_1": "whisper", "stt_cloud_3": "deepgram"}
SPEECH, VOICES = "/v1/audio/speech", "/v1/audio/voices"
UPLOADS = ("/v1/audio/transcriptions", "/v1/audio/translations")
HEARD = "heard-by-the-vendor"


def silence(seconds=1):
    """A recording in the format WAV."""
    buffer = io.BytesIO()
    with wave.open(buffer, "wb") as out:
        out.setnchannels(1)
        out.setsampwidth(2)
        out.setframerate(16000)
        out.writeframes(bytes(32000 * seconds))
    return buffer.getvalue()


class Vendor(Recorder):
    """Speaks and listens as all vendors."""

    def __init__(self, before=lambda: None):
        super().__init__(self.reply)
        self.before = before

    def reply(self, hit):
        self.before()
        kind = {"Content-Type": "application/json"}
        if "listen" in hit.path:
            alternative = f'{{"transcript": "{HEARD}", "confidence": 1, "words": []}}'
            return 200, kind, f'{{"results": {{"channels": [{{"alternatives": [{alternative}]}}]}}}}'.encode()
        if hit.path.endswith(("transcriptions", "translations")):
            return 200, kind, f'{{"text": "{HEARD}"}}'.encode()
        if hit.path.endswith("voices"):
            return 200, kind, b'{"voices": []}'
        return 200, {"Content-Type": "audio/wav"}, silence()

    def uploads(self):
        ends = ("transcriptions", "translations")
        return [hit for hit in list(self.hits) if "listen" in hit.path or hit.path.endswith(ends)]

    def attach(self, g):
        """Has the gateway use this vendor."""
        for kind, providers in (("tts", SPEAKERS), ("stt", LISTENERS)):
            for provider in providers:
                setting = {"key": f"voice.{kind}.{provider}.base_url", "value": f"{self.url}/v1"}
                g.call(g.need_owner(), "config.set", setting)
                g.call(g.owner, "providers.set_key", {"id": provider, "key": "sk-of-the-vendor"})


def form(file=None, fields=(), name="a.wav", kind="audio/wav"):
    """Returns a multipart body with a recording. The names and values are sent as they are."""
    file = silence() if file is None else file
    head = f'--{MARK}\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\nContent-Type: {kind}\r\n\r\n'
    parts = [head.encode() + file]
    for field, value in fields:
        part = f'--{MARK}\r\nContent-Disposition: form-data; name="{field}"\r\n\r\n{value}'
        parts.append(part.encode())
    return b"\r\n".join([*parts, f"--{MARK}--\r\n".encode()])


def upload(g, caller, path, body):
    headers = [("Content-Type", f"multipart/form-data; boundary={MARK}")]
    return g.http("POST", path, caller, body, headers, timeout=90)


def speak(g, caller, **fields):
    body = {"model": "openai", "input": "hello", "voice": "alloy", "response_format": "wav", **fields}
    return g.http("POST", SPEECH, caller, body, timeout=90)


def used(g, caller):
    """Returns the paths that answer the caller."""
    replies = {path: upload(g, caller, path, form(fields=[("model", "whisper")])) for path in UPLOADS}
    replies[SPEECH] = speak(g, caller)
    replies[VOICES] = g.http("GET", VOICES, caller)
    return {path for path, reply in replies.items() if reply.ok}


def with_vendor(attack):
    def run(g):
        with Vendor() as vendor:
            vendor.attach(g)
            return attack(g, vendor)

    run.__module__ = __name__
    return run


def fresh(name, reference, attack):
    return row(name, reference, attack, instance="fresh")


@fresh(
    "audio-key-of-another-purpose",
    "CWE-863",
    "Speak and transcribe on the paths of OpenAI's API with a key that was made for another purpose.",
)
@with_vendor
def another_purpose(g, vendor):
    scopes = ["operator.read", "operator.write"]
    everything = {SPEECH, VOICES, *UPLOADS}
    require(used(g, g.make_key(scopes, only=["/v1/audio/*"]).caller) == everything, "a key for audio cannot use it")
    cases = [(["chat.*"], set()), (["/v1/models"], set()), (["/v1/chat/completions"], set())]
    cases += [(["tts.*", "stt.*"], set()), ([SPEECH], {SPEECH}), ([UPLOADS[0]], {UPLOADS[0]})]
    for only, allowed in cases:
        seen = len(vendor.hits)
        reached = used(g, g.make_key(scopes, only=only).caller)
        refuse(reached - allowed, f"a key for {only[0]} uses {', '.join(reached - allowed)}")
        refuse(not allowed and len(vendor.hits) > seen, f"a key for {only[0]} has the vendor work")
    return "only the paths of the key"


@fresh("audio-scope", "CWE-862", "Speak and transcribe without a key, or with one that lacks the scope.")
@with_vendor
def scope(g, vendor):
    require(used(g, g.make_key(["operator.read", "operator.write"]).caller), "no key can use audio")
    callers = {"a stranger": (g.stranger(), set())}
    callers["a key that reads"] = (g.make_key(["operator.read"]).caller, {VOICES})
    others = g.make_key(["operator.approvals", "operator.pairing"])
    callers["a key for approvals"] = (others.caller, set())
    ended = g.make_key(["operator.read", "operator.write"])
    g.revoke_key(ended)
    callers["a revoked key"] = (ended.caller, set())
    for who, (caller, allowed) in callers.items():
        seen = len(vendor.hits)
        reached = used(g, caller) - allowed
        refuse(reached, f"{who} uses {', '.join(reached)}")
        refuse(not allowed and len(vendor.hits) > seen, f"{who} has the vendor work")
    return "each path needs its scope"


@fresh("audio-outlives-key", "CWE-613", "Get speech and transcripts after the key was revoked.")
@with_vendor
def outlives_key(g, vendor):
    whole = form(fields=[("model", "whisper")])
    calls = {path: lambda caller, path=path: upload(g, caller, path, whole) for path in UPLOADS}
    calls[SPEECH] = lambda caller: speak(g, caller, input="another text")
    for path, use in calls.items():
        key = g.make_key(["operator.write"])
        asked, revoked, late = threading.Event(), threading.Event(), []

        def hold():
            asked.set()
            if not revoked.wait(30):
                late.append(True)

        vendor.before = hold
        with ThreadPoolExecutor(1) as pool:
            done = pool.submit(use, key.caller)
            is_asked = asked.wait(60)
            g.revoke_key(key)
            revoked.set()
            reply = done.result()
        require(is_asked, f"{path} does not ask the vendor")
        if late:
            raise RuntimeError("the key was revoked too late")
        refuse(HEARD in reply.text or len(reply.body) > 1000 and reply.ok, f"{path} answers a revoked key")
    return "no result is sent"


@fresh(
    "audio-too-large",
    "CWE-770",
    "Send uploads and texts over the limits, to exhaust memory or to run up the costs of vendors.",
)
@with_vendor
def too_large(g, vendor):
    caller = g.make_key(["operator.read", "operator.write"]).caller
    require(used(g, caller), "no key can use audio")
    del vendor.hits[:]
    before = g.memory_bytes()
    large = silence() + bytes(30 * MIB)
    for path in UPLOADS:
        for body in (form(large, [("model", "whisper")]), form(fields=[("model", "whisper"), ("prompt", "x" * MIB)])):
            refuse(upload(g, caller, path, body).ok, f"{path} takes {len(body) >> 10} KiB")
        many = form(fields=[("model", "whisper"), *((f"f{n}", "x") for n in range(500))])
        refuse(upload(g, caller, path, many).ok, f"{path} takes 500 fields")
        two = form(fields=[("model", "whisper")]).replace(b"--b0undary--\r\n", form())
        refuse(upload(g, caller, path, two).ok, f"{path} takes two recordings")
    for size in (100_000, 8 * MIB):
        refuse(speak(g, caller, input="long " * (size // 5)).ok, f"{size} characters are spoken")
    refuse(vendor.hits, "the vendor got it")
    grown = g.peak_memory_bytes() - before
    refuse(grown > g.max_memory_bytes, f"the uploads took {grown >> 20} MiB")
    return f"all refused; they took {grown >> 20} MiB"


@fresh(
    "audio-playlist",
    "CWE-918",
    "Upload a list that names a file or an address, as a recording, to have a decoder open it.",
)
@with_vendor
def playlist(g, vendor):
    caller = g.make_key(["operator.read", "operator.write"]).caller
    require(used(g, caller), "no key can use audio")
    secret = "content-of-a-local-file"
    with Recorder() as inside, tempfile.NamedTemporaryFile("w", suffix=".txt") as local:
        local.write(secret)
        local.flush()
        lists = []
        for target in (f"{inside.url}/a.ts", f"file://{local.name}", f"concat:{inside.url}/a|file://{local.name}"):
            lists += [
                f"#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\n{target}\n#EXT-X-ENDLIST\n",
                f"ffconcat version 1.0\nfile '{target}'\n",
                f"[playlist]\nNumberOfEntries=1\nFile1={target}\n",
                f'<!DOCTYPE x [<!ENTITY a SYSTEM "{target}">]><MPD><BaseURL>{target}</BaseURL>&a;</MPD>',
                f"ID3\x03\0\0\0\0\0\0#EXTM3U\n#EXTINF:1,\n{target}\n",
            ]
        lists.append(f"file://{local.name}")
        kinds = (("a.m3u8", "application/vnd.apple.mpegurl"), ("a.mp3", "audio/mpeg"), ("a.aac", "audio/aac"))
        for text in lists:
            for name, kind in kinds:
                for model in LISTENERS.values():
                    upload(g, caller, UPLOADS[0], form(text.encode(), [("model", model)], name, kind))
        refuse(inside.hits, "an address in the list was called")
        refuse(any(hit.holds(secret) for hit in vendor.hits), "a file of the gateway's machine went to the vendor")
    return f"{len(lists)} lists, none opened"


def parts_of(hit):
    """Returns the heads of the parts of a form that the gateway sent."""
    mark = re.search("boundary=(.*)", hit.header("content-type"))
    if mark is None:
        return []
    parts = hit.body.split(b"--" + mark.group(1).strip('"').encode())[1:-1]
    return [part.partition(b"\r\n\r\n")[0].decode("utf-8", "replace") for part in parts]


@fresh(
    "audio-file-name",
    "CWE-73",
    "Name an uploaded recording like a path or like a header, or write a part of a form into a field.",
)
@with_vendor
def file_name(g, vendor):
    caller = g.make_key(["operator.read", "operator.write"]).caller
    require(used(g, caller), "no key can use audio")
    del vendor.hits[:]
    names = (
        "../../../../tmp/planted.wav",
        "/tmp/planted.wav",
        "..\\..\\planted.wav",
        "planted.wav%00.txt",
        "planted.wav%0D%0AX-Planted: 1",
        "planted.wav\\\"; name=\\\"planted",
        "planted;planted.wav",
        "|planted.wav",
        "$(planted).wav",
        "planted.wav?planted=1",
    )
    part = f'x\r\n--{MARK}x\r\nContent-Disposition: form-data; name="planted"\r\n\r\n1\r\n'
    fields = [("prompt", part), ("model", f"whisper/{part}"), ("language", part), ("prompt", 'x"; name="planted')]
    for path in UPLOADS:
        for name in names:
            upload(g, caller, path, form(fields=[("model", "whisper")], name=name))
        for field in fields:
            others = [] if field[0] == "model" else [("model", "whisper")]
            upload(g, caller, path, form(fields=[*others, field]))
    require(vendor.uploads(), "no upload with such a name is transcribed")
    for hit in vendor.hits:
        refuse(any("planted" in head for head in parts_of(hit)), "the name is sent on")
        refuse("planted" in hit.path or hit.header("x-planted"), "the name is in the request's head")
    return f"{len(names)} names, none sent on"


@fresh(
    "audio-voice-in-path",
    "CWE-23",
    "Name a voice, a model or a language like a path or a query, to call another endpoint of a vendor with its key.",
)
@with_vendor
def voice_in_path(g, vendor):
    caller = g.make_key(["operator.read", "operator.write"]).caller
    plain = speak(g, caller, model="elevenlabs", voice="planted")
    require(plain.ok, f"a voice cannot be named: {plain.text[:100]}")
    require("/text-to-speech/planted" in vendor.hits[-1].path, "the voice is not a part of the path")
    del vendor.hits[:]
    texts = (
        "../user",
        "../../v1/user",
        "..%2fuser",
        "%2e%2e/user",
        "..\\user",
        "x/../../user",
        "x?callback=http://127.0.0.1:9/",
        "x&callback=http://127.0.0.1:9/",
        "x#",
        "/../user",
        "//127.0.0.1:9/x",
        "http://127.0.0.1:9/",
        "@127.0.0.1:9/",
        "x\r\nX-Planted: 1",
        "x;callback=http://127.0.0.1:9/",
        ".",
        "..",
    )
    for text in texts:
        for fields in ({"voice": text}, {"voice": {"id": text}}, {"model": f"elevenlabs/{text}"}, {"model": text}):
            speak(g, caller, **{"model": "elevenlabs", **fields})
        for name in ("language", "prompt"):
            upload(g, caller, UPLOADS[0], form(fields=[("model", "deepgram"), (name, text)]))
        for model in (f"deepgram/{text}", text):
            upload(g, caller, UPLOADS[0], form(fields=[("model", model)]))
        g.http("GET", f"{VOICES}?model={text.replace(chr(13), '').replace(chr(10), '').replace(' ', '')}", caller)
    audio = "audio/(speech|transcriptions|translations|voices)"
    paths = re.compile(rf"/v1/(text-to-speech/[\w-]+/stream|voices|listen|{audio})")
    for hit in vendor.hits:
        url = urlsplit(hit.path)
        refuse(not paths.fullmatch(url.path), f"{hit.path} of the vendor was called")
        refuse("callback" in dict(parse_qsl(url.query)), f"a parameter was added: {hit.path}")
        refuse(hit.header("x-planted"), "a header was added")
    require(vendor.uploads(), "nothing of this reached the vendor")
    return f"{len(texts)} texts, each only a value"


@fresh(
    "audio-of-another-conversation",
    "CWE-639",
    "Name a recording of one conversation in another, or without the right to read, and have it.",
)
@with_vendor
def another_conversation(g, vendor):
    mine, other = (g.call(g.need_owner(), "sessions.create")["id"] for _ in range(2))
    path = lambda session, audio="": f"{g.paths.conversations}/{session}/audio{audio}"
    kept = upload(g, g.owner, path(mine), form()).json()
    audio = "/" + str(kept.get("audio_id") or kept.get("id"))
    body = g.http("GET", path(mine, audio), g.owner).body
    require(len(body) > 1000, f"a recording cannot be read in its own conversation: {kept}")
    refuse(g.http("GET", path(other, audio), g.owner).ok, "another conversation has the recording")
    readers = {"a stranger": g.stranger(), "a key that writes": g.make_key(["operator.write"]).caller}
    readers["a key for another purpose"] = g.make_key(["operator.read"], only=["sessions.list"]).caller
    for who, caller in readers.items():
        refuse(g.http("GET", path(mine, audio), caller).ok, f"{who} has the recording")
    for name in ("/../audio" + audio, "/..%2f" + audio[1:], "/%2e%2e%2f%2e%2e%2f" + mine + "%2faudio" + audio):
        found = g.http("GET", path(other, name), g.owner).body
        refuse(found == body, f"{name} of another conversation has the recording")
    reader = g.make_key(["operator.read"]).caller
    refuse(upload(g, reader, path(mine), form()).ok, "a key that reads adds a recording")
    return "a recording belongs to its conversation"
