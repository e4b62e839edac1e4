"""Gatehouse, started from its binary with a temporary data directory and a loopback port."""

import os
import re
import select
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from ..model_server import ModelServer
from ..wire import Wire


def variable(name):
    """Returns the environment variable of a setting."""
    return "SERVICE_" + name.upper().replace(".", "__").replace("-", "_")


@dataclass
class Gatehouse(Wire):
    process: subprocess.Popen | None = None
    folder: tempfile.TemporaryDirectory | None = None

    def stop(self):
        if self.process:
            self.process.kill()
            self.process.wait()
        if self.fake_model:
            self.fake_model.__exit__()
        if self.folder:
            self.folder.cleanup()

    def log(self):
        return (Path(self.folder.name) / "log").read_text(errors="replace")

    def memory_bytes(self):
        return self.memory_figure("VmRSS")

    def peak_memory_bytes(self):
        return self.memory_figure("VmHWM")

    def memory_figure(self, name):
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(rf"{name}:\s+(\d+)", status).group(1)) * 1024

    def setup_code(self):
        return self.code


class Adapter:
    """Starts instances. `where` is the path of the binary."""

    name = "gatehouse"

    def __init__(self, where):
        self.binary = Path(where).resolve()
        if not self.binary.is_file():
            raise SystemExit(f"{self.binary} is not there; build it, or pass --target")

    def version(self):
        shown = subprocess.run([self.binary, "--version"], capture_output=True, text=True, timeout=30)
        return shown.stdout.strip() or "gatehouse"

    def start(self, settings, owner=True):
        """Starts an instance. `settings` may contain TOML under `toml`, a file limit under `open_files`, and texts by
        path in the data directory under `files`."""
        folder = tempfile.TemporaryDirectory(prefix="gauntlet-")
        model = ModelServer()
        settings = dict(settings)
        scheme = "https" if settings.get("server.tls.self_signed") else "http"
        toml, open_files = settings.pop("toml", ""), settings.pop("open_files", None)
        files = settings.pop("files", {})
        settings = {
            "models.providers.fake.base_url": model.base_url,
            "models.providers.fake.kind": "openai",
            "models.default": "fake/m",
            "models.autodetect": "false",
            "webhooks.global_rate_limit_per_minute": "10000",
            **settings,
        }
        base = Path(folder.name)
        (base / "settings.toml").write_text(toml)
        for name, text in files.items():
            path = base / "data" / name
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            path.write_text(text)
        environment = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
        environment |= {variable(name): str(value) for name, value in settings.items() if "." in name}
        environment |= {name: str(value) for name, value in settings.items() if "." not in name}
        limit = ["sh", "-c", f'ulimit -n {open_files}; exec "$@"', "sh"] if open_files else []
        command = [*limit, self.binary, "serve", "--bind", "127.0.0.1:0", "--data-dir", base / "data"]
        with open(base / "log", "wb") as log:
            process = subprocess.Popen(
                [*command, "--config", base / "settings.toml"],
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=log,
            )
        lines = self.read_start(process, base)
        address = re.search(r"https?://([\d.]+):(\d+)", lines)
        gateway = Gatehouse(
            address=(address.group(1), int(address.group(2))),
            process=process,
            folder=folder,
            too_many_connections=1000,
        )
        gateway.fake_model, gateway.scheme = model, scheme
        code = re.search(r"Setup code: (\d+)", lines)
        gateway.code = code.group(1) if code else None
        if owner:
            gateway.set_up()
        return gateway

    @staticmethod
    def read_start(process, base, seconds=120.0):
        """Returns the line with the address and the line with the setup code."""
        end, text = time.monotonic() + seconds, ""
        while "Setup code" not in text and time.monotonic() < end:
            poll = select.poll()
            poll.register(process.stdout, select.POLLIN | select.POLLHUP)
            if poll.poll(200):
                part = os.read(process.stdout.fileno(), 4096).decode(errors="replace")
                if not part:
                    break
                text += part
        if "Listening on" not in text:
            process.kill()
            raise RuntimeError(f"it did not start: {text} {(base / 'log').read_text()[-600:]}")
        return text
