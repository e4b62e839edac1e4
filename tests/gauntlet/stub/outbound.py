"""Outgoing requests of the stub, and programs that it starts."""

import http.client
import ipaddress
import json
import os
import socket
import ssl
import subprocess
import zlib
from urllib.parse import urljoin, urlsplit
from urllib.request import urlopen

assert ssl


def send(url, method="POST", headers=None, body=b"", raw_header=None):
    """Sends one request without following redirects. Returns (status, headers, body)."""
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(parts.hostname, parts.port or 80, timeout=8)
    try:
        connection.putrequest(method, (parts.path or "/") + (f"?{parts.query}" if parts.query else ""))
        for name, value in (headers or {}).items():
            connection.putheader(name, value)
        for name, value in (raw_header or {}).items():
            # As a client without checks writes it.
            connection._buffer.append(f"{name}: {value}".encode())
        connection.putheader("Content-Length", str(len(body)))
        connection.endheaders(body)
        reply = connection.getresponse()
        return reply.status, dict(reply.getheaders()), reply.read()
    finally:
        connection.close()


def call_vendor(url, key, body, follow, header="Authorization", method="POST"):
    """Sends a request with a key. With `follow`, redirects include the key and body."""
    headers = {"Content-Type": "application/json", header: f"Bearer {key}" if header == "Authorization" else key}
    for _ in range(5):
        status, answer, data = send(url, method, headers, body)
        if status not in (301, 302, 307, 308) or not follow:
            return status, data
        url = urljoin(url, answer["Location"])
    return status, data


def is_internal(host):
    """Returns whether a name resolves to an address outside the public internet."""
    try:
        found = {info[4][0] for info in socket.getaddrinfo(host, 80, type=socket.SOCK_STREAM)}
    except (OSError, UnicodeError):
        return True
    for text in found:
        address = ipaddress.ip_address(text.split("%")[0])
        mapped = getattr(address, "ipv4_mapped", None) or address
        if not mapped.is_global or text.startswith("64:ff9b"):
            return True
    return False


NAIVE = {
    "fetch-short-and-octal": lambda host: host in ("127.0.0.1", "0.0.0.0", "localhost", "::1"),
    "fetch-ipv6-embedded": lambda host: host.startswith(("127.", "0", "localhost")) or host == "::1",
    "fetch-local-names": lambda host: host.startswith(("127.0.0.1", "0")),
    "fetch-metadata": lambda host: False,
}


def web_fetch(stub, url, headers=None, stays=False, clean=str):
    """Returns a page as text, or the reason for a failure. With `stays`, it follows no redirect to another host."""
    weak = stub.weak
    private = stub.settings.get("network.allow_private") == "true"
    for _ in range(200 if weak("fetch-redirect-loop") else 5):
        parts = urlsplit(url)
        if parts.scheme.lower() not in ("http", "https"):
            if not weak("fetch-other-schemes"):
                return "This cannot be fetched: another scheme."
            try:
                return urlopen(url, timeout=3).read().decode("utf-8", "replace")
            except OSError as error:
                return f"This cannot be fetched: {error}"
        host = parts.hostname or ""
        naive = next((check for name, check in NAIVE.items() if weak(name)), None)
        metadata = host in ("169.254.169.254", "100.100.100.200")
        refused = naive(host) if naive else metadata or host != "127.0.0.1" if private else is_internal(host)
        if refused:
            return "This cannot be fetched: this address must not be called."
        try:
            status, answered, body = send(url, "GET", headers)
        except (OSError, http.client.HTTPException) as error:
            return f"This cannot be fetched: {error}: unreachable"
        if status not in (301, 302, 307, 308):
            break
        before, url = url, urljoin(url, answered.get("Location", ""))
        if stays and urlsplit(url).netloc != urlsplit(before).netloc:
            return "The page redirects to another server."
    if answered.get("Content-Encoding") == "gzip":
        most = 0 if weak("fetch-zip-bomb") else 1 << 20
        body = zlib.decompressobj(31).decompress(body, most)
        stub.hold(len(body))
    charset = "utf-16le" if "utf-16" in answered.get("Content-Type", "") else "utf-8"
    return clean(body.decode(charset, "replace"))[: None if weak("fetch-zip-bomb") else 100_000]


class Program:
    """An MCP program over standard input and output."""

    def __init__(self, command, arguments, environment):
        self.process = subprocess.Popen(
            [command, *arguments],
            env={"PATH": os.environ["PATH"], **environment},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.number = 0
        self.ask("initialize", {})

    def ask(self, method, params):
        self.number += 1
        self.process.stdin.write(json.dumps({"id": self.number, "method": method, "params": params}) + "\n")
        self.process.stdin.flush()
        for line in self.process.stdout:
            message = json.loads(line)
            if message.get("id") == self.number:
                return message["result"]
        return {}

    def stop(self):
        self.process.kill()
        self.process.wait()
