"""The stub's files of conversations."""

import secrets
import struct

READ, WRITE = "operator.read", "operator.write"
MAX_PIXELS = 32_000_000


class Files:
    def files_of(self, request, path, identity):
        """Returns the response to `/api/sessions/{id}/attachments` and to the path of one file."""
        conversation, _, name = path.removeprefix("/api/sessions/").partition("/attachments")
        name = name.removeprefix("/")
        if request.method != "GET" and not identity.may(WRITE):
            return 403, [], {"code": "FORBIDDEN"}
        if not name:
            return self.keep_file(request, conversation)
        owner, data, kind = self.files.get(name, ("", b"", ""))
        if not owner or (owner != conversation and not self.weak("file-of-another-conversation")):
            return 404, [], {"code": "NOT_FOUND"}
        if request.method == "DELETE":
            del self.files[name]
            return 200, [], {"ok": True}
        if self.weak("file-active-content"):
            return 200, [("Content-Type", kind)], data
        headers = [("X-Content-Type-Options", "nosniff"), ("Content-Disposition", "attachment")]
        return 200, [("Content-Type", "application/octet-stream"), *headers], data

    def keep_file(self, request, conversation):
        if request.body.startswith(b"\x89PNG"):
            width, height = struct.unpack(">II", request.body[16:24])
            if width * height > MAX_PIXELS:
                if not self.weak("file-pixel-bomb"):
                    return 413, [], {"code": "PAYLOAD_TOO_LARGE"}
                self.held += 4 * width * height
        name = "att_" + secrets.token_hex(8)
        self.files[name] = (conversation, request.body, request.header("content-type"))
        return 200, [], {"id": name}

    def recording(self, request, path, identity):
        """Returns the response to `/api/sessions/{id}/audio` and to the path of one recording."""
        conversation, _, name = path.removeprefix("/api/sessions/").partition("/audio")
        name, is_post = name.removeprefix("/"), request.method == "POST"
        is_weak = self.weak("audio-of-another-conversation")
        may = identity.may(WRITE if is_post else READ)
        if not (may and self.is_within(identity, "/api/sessions/{id}/audio/{audio_id}")) and not is_weak:
            return 403, [], {"code": "FORBIDDEN"}
        if is_post:
            name = "aud_" + secrets.token_hex(8)
            self.files[name] = (conversation, self.form(request)[2], "audio/wav")
            return 200, [], {"audio_id": name}
        owner, data, kind = self.files.get(name, ("", b"", ""))
        if not owner or owner != conversation and not is_weak:
            return 404, [], {"code": "NOT_FOUND"}
        return 200, [("Content-Type", kind)], data
