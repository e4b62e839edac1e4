"""Stored secrets in outgoing requests of the stub, where `{{secret:NAME}}` stands for one. Also MCP over HTTP."""

import base64
import json
import re
from urllib.parse import quote, urljoin, urlsplit

from . import outbound

NAME = re.compile(r"(?:\{\{|%7B%7B)secret:(\w+)(?:\}\}|%7D%7D)")
ENTITIES = {"&": "amp", "<": "lt", ">": "gt", '"': "quot"}


def spellings(character, with_numbers):
    """Returns a pattern for a character, as it is and as URLs, JSON, HTML and Markdown escape it."""
    number = ord(character)
    forms = [rf"\\*{re.escape(character)}", f"%{number:02x}", rf"\\u{number:04x}"]
    if with_numbers:
        forms += [f"&#0*{number};", f"&#x0*{number:x};"]
    if character in ENTITIES:
        forms.append(f"&{ENTITIES[character]};")
    return f"(?:{'|'.join(forms)})"


def base64_parts(value):
    """Returns the parts that do not depend on what surrounds the value, for each of its positions in groups of 3."""
    for encode in (base64.b64encode, base64.urlsafe_b64encode):
        for before in range(3):
            data = b"\0" * before + value.encode()
            yield encode(data).decode()[-(-before * 8 // 6) : len(data) * 8 // 6]


class RequestSecrets:
    def fill(self, url, headers, weakness):
        """Returns the URL and the headers with the values of the secrets that they name, and whether there are any;
        None if a secret may not be sent there."""
        names = set(NAME.findall(url + json.dumps(headers)))
        allowed, host = self.settings.get("tools.secrets") or [], urlsplit(url).netloc
        if not self.weak(weakness) and not all(f"{name}:{host}" in allowed for name in names):
            return None
        url = NAME.sub(lambda found: quote(self.env[found[1]], safe=""), url)
        values = {name: NAME.sub(lambda found: self.env[found[1]], text) for name, text in headers.items()}
        return url, values, bool(names)

    def redact(self, text):
        for name, value in self.env.items():
            if len(value) >= 8:
                pattern = "".join(spellings(c, not self.weak("secret-in-html-escapes")) for c in value)
                text = re.sub(pattern, lambda found, name=name: f"{{{{secret:{name}}}}}", text, flags=re.I)
                for part in [] if self.weak("secret-in-base64") else base64_parts(value):
                    text = text.replace(part, f"{{{{secret:{name}}}}}")
        return text

    def fetch(self, arguments, from_stranger):
        """Fetches a page for the model."""
        filled = self.fill(arguments["url"], arguments.get("headers") or {}, "secret-to-another-host")
        if filled is None:
            return "The secret may not be sent to this host."
        url, headers, has_secrets = filled
        if has_secrets and from_stranger and not self.weak("secret-for-a-stranger"):
            return "Secrets cannot be used in a conversation that contains untrusted text."
        if self.weak("secret-in-answer") or (self.weak("secret-in-later-answer") and not has_secrets):
            return self.part(outbound.web_fetch(self, url, headers), arguments)
        stays = has_secrets and not self.weak("secret-follows-redirect")
        before_cut = str if self.weak("secret-cut-in-answer") else self.redact
        return self.part(self.redact(outbound.web_fetch(self, url, headers, stays, before_cut)), arguments)

    def part(self, text, arguments):
        """Returns a part of a page, with the length of the page."""
        start = arguments.get("offset", 0)
        end = None if self.weak("fetch-zip-bomb") else start + arguments.get("max_chars", 20_000)
        return f"total_chars: {len(text)}\n\n{text[start:end]}"


class HttpServer:
    """An MCP server over HTTP."""

    def __init__(self, stub, name):
        self.stub, self.prefix = stub, f"mcp.servers.{name}."
        self.ask("initialize", {})

    def ask(self, method, params):
        stub = self.stub
        headers = stub.settings.get(self.prefix + "headers") or {}
        filled = stub.fill(stub.settings[self.prefix + "url"], headers, "secret-mcp-another-host")
        if filled is None:
            raise OSError("the secret may not be sent to this host")
        url, headers, _ = filled
        if stub.weak("secret-mcp-another-host"):
            params = json.loads(NAME.sub(lambda found: stub.env[found[1]].replace('"', '\\"'), json.dumps(params)))
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode()
        status, answered, data = outbound.send(url, "POST", headers, body)
        if "Location" in answered and stub.weak("secret-mcp-redirect"):
            status, answered, data = outbound.send(urljoin(url, answered["Location"]), "POST", headers, body)
        if status != 200:
            raise OSError(f"the server responded with status {status}")
        text = data.decode().removeprefix("data: ")
        message = json.loads(text)
        if "error" in message:
            message = {"result": {"content": [{"type": "text", "text": message["error"]["message"]}]}}
        if "result" not in message:
            raise OSError("the server did not answer the call")
        return message["result"] if stub.weak("secret-mcp-answer") else self.cleaned(message["result"])

    def cleaned(self, value):
        if isinstance(value, dict):
            return {self.stub.redact(name): self.cleaned(member) for name, member in value.items()}
        if isinstance(value, list):
            return list(map(self.cleaned, value))
        return self.stub.redact(value) if isinstance(value, str) else value

    def stop(self):
        pass
