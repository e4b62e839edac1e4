"""The stub's audio paths for clients of OpenAI's API."""

import json
import re
from urllib.parse import quote, urlencode

from . import outbound

READ, WRITE = "operator.read", "operator.write"
MAX_BYTES, MAX_FIELD, MAX_FIELDS, MAX_TEXT = 25 << 20, 64 << 10, 64, 4096
SPEAKERS = {"elevenlabs": "tts_cloud_1", "openai": "tts_cloud_2"}
LISTENERS = {"deepgram": "stt_cloud_3", "whisper": "stt_cloud_1"}
NAME = re.compile(rb'[; ]name="([^"]*)"(?:; filename="((?:[^"\\]|\\.)*)")?')
WRONG = 400, [], {"code": "INVALID_PARAMS"}
NOT_FOUND = 404, [], {"code": "NOT_FOUND"}


class Audio:
    """Part of the stub."""

    def audio(self, request, path, identity):
        """Returns the response to a path below `/v1/audio/`."""
        scope = READ if path.endswith("voices") else WRITE
        if not self.is_within(identity, path) and not self.weak("audio-key-of-another-purpose"):
            return 403, [], {"code": "FORBIDDEN", "required": "only"}
        if not identity.may(scope) and not self.weak("audio-scope"):
            return 403, [], {"code": "FORBIDDEN"}
        if path.endswith("voices"):
            return 200, [], {"voices": []}
        if path.endswith("speech"):
            answer = self.speech(self.json_body(request))
        elif path.endswith(("transcriptions", "translations")):
            answer = self.heard(request, path)
        else:
            return NOT_FOUND
        if self.identify(request) is None and not self.weak("audio-outlives-key"):
            return 401, [], {"code": "AUTH_NOT_AUTHENTICATED"}
        return answer

    def vendor_of(self, providers, model, default):
        """Returns the address and the model of a provider that `model` names; None if there is none."""
        name, _, model = model.partition("/")
        provider = providers.get(name, default)
        kind = provider.partition("_")[0]
        base = self.settings.get(f"voice.{kind}.{provider}.base_url")
        return base and (provider, base, model or "m")

    def speech(self, body):
        vendor = self.vendor_of(SPEAKERS, body.get("model", ""), "tts_cloud_2")
        voice = body.get("voice", "x")
        voice = voice["id"] if isinstance(voice, dict) else voice
        if vendor is None or len(body["input"]) > MAX_TEXT and not self.weak("audio-too-large"):
            return WRONG
        provider, base, model = vendor
        path = "/audio/speech"
        if provider == "tts_cloud_1":
            if not re.fullmatch(r"[\w-]+", voice) and not self.weak("audio-voice-in-path"):
                return WRONG
            path = f"/text-to-speech/{''.join(voice.split())}/stream"
        text = json.dumps({"input": body["input"], "model": model, "voice": voice}).encode()
        status, data = outbound.call_vendor(base + path, "", text, False)
        return (200, [("Content-Type", "audio/wav")], data) if status == 200 else (502, [], b"")

    def form(self, request):
        """Returns the fields of a form, and its recording; None if it is too large or cannot be read."""
        mark = re.search("boundary=(.*)", request.header("content-type"))
        parts = request.body.split(b"--" + mark.group(1).encode())[1:-1] if mark else []
        fields, files = {}, []
        for part in parts:
            head, _, value = part.partition(b"\r\n\r\n")
            found = NAME.search(head)
            if found is None:
                return None
            if found[2] is not None:
                files.append((found[2].decode(), value[:-2]))
            else:
                fields[found[1].decode()] = value[:-2].decode("utf-8", "replace")
        sizes = [len(data) for _, data in files] + [0]
        values = [len(value) for value in fields.values()] + [0]
        is_large = max(sizes) > MAX_BYTES or max(values) > MAX_FIELD or len(fields) > MAX_FIELDS or len(files) != 1
        if not files or is_large and not self.weak("audio-too-large"):
            return None
        return fields, *files[0]

    def heard(self, request, path):
        if request.body.count(b"Content-Disposition") > 10_000 and self.weak("multipart-parts"):
            return 200, [], {"text": ""}
        form = self.form(request)
        vendor = form and self.vendor_of(LISTENERS, form[0].get("model", ""), "stt_cloud_1")
        if not vendor:
            return WRONG
        fields, name, data = form
        provider, base, model = vendor
        if not data.startswith(b"RIFF"):
            if not self.weak("audio-playlist"):
                return WRONG
            # As a decoder that opens what a list names.
            for url in re.findall(rb"http://[\w.:/]+", data):
                outbound.call_vendor(url.decode(), "", b"", False)
        if provider == "stt_cloud_3":
            query = urlencode({"model": model, "language": fields.get("language", "en")})
            if self.weak("audio-voice-in-path"):
                query = f"model={quote(model, safe='?&=:/')}"
            status, _ = outbound.call_vendor(f"{base}/listen?{query}", "", data, False)
        else:
            file = name if self.weak("audio-file-name") else "audio.wav"
            head = f'--m\r\nContent-Disposition: form-data; name="file"; filename="{file}"\r\n\r\n'
            headers = {"Content-Type": "multipart/form-data; boundary=m"}
            body = head.encode() + data + b"\r\n--m--\r\n"
            status, _, _ = outbound.send(f"{base}/audio/{path.rsplit('/', 1)[1]}", "POST", headers, body)
        return (200, [], {"text": "heard-by-the-vendor"}) if status == 200 else (502, [], b"")
