"""The test gateway in `stub/`, with at most one weakness."""

from stub.gateway import Stub

from ..model_server import ModelServer
from ..wire import Wire


class StubGateway(Wire):
    def stop(self):
        self.stub.close()
        self.fake_model.__exit__()

    def log(self):
        return "\n".join(self.stub.lines)

    def memory_bytes(self):
        # Memory that the stub holds for its callers. The process is shared with the rows.
        return self.stub.held

    def peak_memory_bytes(self):
        # It gives nothing back.
        return self.memory_bytes()

    def setup_code(self):
        return self.stub.code


class Adapter:
    """`where` is the name of a weakness, or empty."""

    name = "stub"

    def __init__(self, where=""):
        self.weaknesses = [where] if where else []

    def start(self, settings, owner=True):
        model = ModelServer()
        settings = {name: value for name, value in settings.items() if name != "toml"}
        fake = {"models.providers.fake.base_url": model.base_url, "models.default": "fake/m"}
        stub = Stub(self.weaknesses, fake | settings)
        gateway = StubGateway(address=stub.address, too_many_connections=600)
        gateway.stub, gateway.fake_model = stub, model
        if owner:
            gateway.set_up()
        return gateway
