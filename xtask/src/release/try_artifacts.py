"""Runs what `cargo xtask dist` made for this machine's architecture, each from nothing: the binary of the tarball, the
binary of the Debian package, and the image. Each is set up, refuses a delivery with a wrong signature, and gets one with
a signature of GitHub, which an agent answers. The image runs without a container engine: as its user, with a read-only
root and its own variables, in a sandbox of bubblewrap. Prints how long each step took, and fails if a program listens
on more than one port or writes outside of its data directory."""

import hashlib
import hmac
import http.server
import json
import os
import platform
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
from pathlib import Path

ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}
# Sum of the times for a start, an answer and a stop.
PATIENCE = 60
PASSWORD = "correct horse battery staple"
PAYLOAD = {"action": "opened", "issue": {"number": 1, "title": "It works"}, "repository": {"full_name": "a/b"}}


class Model(http.server.BaseHTTPRequestHandler):
    """Answers as an OpenAI-compatible server does."""

    protocol_version = "HTTP/1.1"

    def do_POST(self):
        self.rfile.read(int(self.headers["content-length"]))
        chunks = [
            {"delta": {"role": "assistant", "content": "Noted."}, "finish_reason": None},
            {"delta": {}, "finish_reason": "stop"},
        ]
        start = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m"}
        events = [json.dumps({**start, "choices": [{"index": 0, **chunk}]}) for chunk in chunks]
        body = "".join(f"data: {event}\n\n" for event in [*events, "[DONE]"]).encode()
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
        self.server.asked += 1

    def log_message(self, *_):
        pass


def start_model():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Model)
    server.asked = 0
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


class Gateway:
    """A process, and the requests to it as its owner."""

    def __init__(self, command, environment, port):
        self.url = f"http://127.0.0.1:{port}"
        self.cookie = None
        self.begun = time.monotonic()
        streams = {"stdin": subprocess.DEVNULL, "stderr": subprocess.PIPE, "text": True}
        # Its own group: the program may be in a sandbox.
        self.process = subprocess.Popen(command, env=environment, start_new_session=True, **streams)
        self.log = []
        threading.Thread(target=lambda: self.log.extend(self.process.stderr), daemon=True).start()

    def elapsed(self):
        return time.monotonic() - self.begun

    def wait(self, what, is_done):
        while not is_done():
            if self.process.poll() is not None or self.elapsed() > PATIENCE:
                raise RuntimeError(f"{what}: not in time\n{''.join(self.log)}")
            time.sleep(0.01)
        return self.elapsed()

    def request(self, path, body=None, headers=None):
        """The status, the JSON and the headers of an answer."""
        data = None if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
        headers = {"content-type": "application/json", **(headers or {})}
        if self.cookie:
            headers["cookie"] = self.cookie
        try:
            with urllib.request.urlopen(urllib.request.Request(self.url + path, data, headers), timeout=10) as answer:
                return answer.status, json.loads(answer.read() or b"{}"), answer.headers
        except urllib.error.HTTPError as error:
            return error.code, {}, error.headers
        except OSError:
            return 0, {}, {}

    def rpc(self, method, params):
        status, answer, _ = self.request("/api/rpc", {"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
        if status != 200 or "error" in answer:
            raise RuntimeError(f"{method}: {status} {answer}")
        return answer["result"]

    def processes(self):
        """The IDs of the process and its descendants."""
        found = [self.process.pid]
        for one in found:
            children = Path(f"/proc/{one}/task/{one}/children")
            found.extend(int(child) for child in children.read_text().split())
        return found

    def listeners(self):
        """The sockets of the processes on which others can connect or send."""
        own = {os.readlink(file) for process in self.processes() for file in Path(f"/proc/{process}/fd").iterdir()}
        found = []
        for kind, waiting in (("tcp", "0A"), ("tcp6", "0A"), ("udp", "07"), ("udp6", "07")):
            for line in Path(f"/proc/net/{kind}").read_text().splitlines()[1:]:
                fields = line.split()
                if fields[3] == waiting and f"socket:[{fields[9]}]" in own:
                    found.append(f"{kind} {int(fields[1].rsplit(':', 1)[1], 16)}")
        return found

    def stop(self):
        """Asks the innermost process to stop, as a service manager or a container engine does."""
        os.kill(self.processes()[-1], signal.SIGTERM)
        self.process.wait(PATIENCE)

    def kill(self):
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()


def use(gateway, model, port):
    """From the start to an answered delivery. Returns the times."""
    times = [gateway.wait("the start", lambda: gateway.request("/health")[0] == 200)]
    status, _, headers = gateway.request("/api/auth/setup", {"password": PASSWORD})
    if status != 200:
        raise RuntimeError(f"setup was answered {status}\n{''.join(gateway.log)}")
    gateway.cookie = headers["set-cookie"].split(";")[0]
    hook = gateway.rpc("webhooks.create", {"name": "issues", "source_profile": "github"})
    body = json.dumps(PAYLOAD).encode()
    path = f"/api/webhooks/ingest/{hook['public_id']}"
    for key, wanted in (("a wrong secret", 401), (hook["secret"], 202)):
        digest = hmac.new(key.encode(), body, hashlib.sha256).hexdigest()
        headers = {"x-github-event": "issues", "x-github-delivery": "1", "x-hub-signature-256": f"sha256={digest}"}
        status, _, _ = gateway.request(path, body, headers)
        if status != wanted:
            raise RuntimeError(f"a delivery was answered {status}, not {wanted}")
    times.append(gateway.elapsed())

    def is_answered():
        found = gateway.rpc("webhooks.deliveries", {"id": hook["id"], "status": "completed"})
        return model.asked > 0 and len(found["deliveries"]) == 1

    times.append(gateway.wait("the answer", is_answered))
    try:
        found = gateway.listeners()
    except PermissionError:
        print("LEFT OUT: only root can see what a process listens on in a sandbox")
    else:
        if found != [f"tcp {port}"]:
            raise RuntimeError(f"it listens on {found}")
    return times


def settings(port, model):
    return {
        "SERVICE_SERVER__BIND": f"127.0.0.1:{port}",
        "SERVICE_MODELS__DEFAULT": "double/m",
        "SERVICE_MODELS__PROVIDERS__DOUBLE__KIND": "openai",
        "SERVICE_MODELS__PROVIDERS__DOUBLE__BASE_URL": f"http://127.0.0.1:{model.server_port}/v1",
    }


def of_package(unpack):
    """The command for the binary of a package, and the directory that it may write."""

    def prepare(artifact, folder, variables):
        root = folder / "root"
        root.mkdir()
        subprocess.run([*unpack(artifact, root)], check=True)
        [binary] = root.glob("**/usr/bin/gatehouse")
        home = folder / "home"
        home.mkdir()
        environment = {**variables, "HOME": str(home), "PATH": "/usr/bin:/bin"}
        return [str(binary), "serve"], environment, [root], home / ".local/share/gatehouse"

    return prepare


def of_image(artifact, folder, variables):
    """The same for the image, in a sandbox."""
    layout, root = folder / "layout", folder / "root"
    for one in (layout, root):
        one.mkdir()
    subprocess.run(["tar", "-xf", artifact, "-C", layout], check=True)

    def blob(descriptor):
        return layout / "blobs" / descriptor["digest"].replace(":", "/")

    [manifest] = json.loads((layout / "index.json").read_text())["manifests"]
    manifest = json.loads(blob(manifest).read_text())
    for layer in manifest["layers"]:
        # The owners stay as they are, if this is root.
        subprocess.run(["tar", "-xzf", blob(layer), "-C", root, "--numeric-owner"], check=True)
    # As container engines do.
    for mounted in ("dev", "proc"):
        (root / mounted).mkdir()
    config = json.loads(blob(manifest["config"]).read_text())["config"]
    user, group = config["User"].split(":")
    variables = {**dict(one.split("=", 1) for one in config["Env"]), **variables}
    data = Path(variables["SERVICE_DATA_DIR"])
    sandbox = ["bwrap", "--unshare-user", "--uid", user, "--gid", group, "--unshare-pid", "--as-pid-1", "--unshare-ipc"]
    sandbox += ["--die-with-parent", "--ro-bind", root, "/", "--bind", root / data.relative_to("/"), data]
    sandbox += ["--tmpfs", "/tmp", "--proc", "/proc", "--dev", "/dev", "--clearenv"]
    for name, value in variables.items():
        sandbox += ["--setenv", name, value]
    if os.geteuid() == 0:
        folder.chmod(0o755)
        sandbox = ["setpriv", "--reuid", user, "--regid", group, "--clear-groups", *sandbox]
    command = [str(word) for word in [*sandbox, "--", *config["Entrypoint"], *config["Cmd"]]]
    check = [str(word) for word in [*sandbox, "--", *config["Healthcheck"]["Test"][1:]]]
    return command, dict(os.environ), [root], root / data.relative_to("/"), check


KINDS = [
    (".tar.gz", "the tarball", of_package(lambda file, root: ["tar", "-xzf", file, "-C", root]), ["tar"]),
    (".deb", "the Debian package", of_package(lambda file, root: ["dpkg-deb", "-x", file, root]), ["dpkg-deb"]),
    (".oci.tar", "the image", of_image, ["bwrap", "setpriv"]),
]


def contents(folders, without):
    """The files in folders, without those in a directory, with their sizes and times."""
    found = {}
    for file in (one for folder in folders for one in folder.rglob("*")):
        if file != without and without not in file.parents:
            state = file.lstat()
            found[file] = (state.st_size, state.st_mtime_ns)
    return found


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def attempt(artifact, prepare):
    model = start_model()
    with tempfile.TemporaryDirectory() as folder:
        port = free_port()
        command, environment, folders, data, *check = prepare(artifact, Path(folder), settings(port, model))
        before = contents(folders, data)
        gateway = Gateway(command, environment, port)
        try:
            times = use(gateway, model, port)
            for health in check:
                subprocess.run(health, env=environment, check=True, stdout=subprocess.DEVNULL)
            gateway.stop()
        finally:
            gateway.kill()
            model.shutdown()
        if not any(data.iterdir()):
            raise RuntimeError(f"nothing was written to {data}")
        if contents(folders, data) != before:
            raise RuntimeError("files outside of the data directory were changed")
    return times


def main(folder):
    architecture = ARCHITECTURES[platform.machine()]
    tried = 0
    for suffix, name, prepare, needed in KINDS:
        missing = [program for program in needed if shutil.which(program) is None]
        if missing:
            print(f"{name}: LEFT OUT, because {', '.join(missing)} is not installed")
            continue
        [artifact] = Path(folder).glob(f"gatehouse-*-{architecture}{suffix}")
        start, accepted, answered = attempt(artifact, prepare)
        print(f"{name}: started after {start:.2f} s, accepted after {accepted:.2f} s, answered after {answered:.2f} s")
        tried += 1
    if tried == 0:
        sys.exit("nothing could be tried")


main(sys.argv[1])
