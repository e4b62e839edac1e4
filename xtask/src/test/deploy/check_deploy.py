"""Checks the Compose files and the Helm chart in a directory, without a network or a cluster: the files against the
schema of the Compose specification, the chart with Helm's linter, and what it renders against Kubernetes' schemas."""

import json
import sys
from importlib.resources import files
from pathlib import Path

import helm_python as helm
import kubernetes_validate
from jsonschema.validators import validator_for
from ruamel.yaml import YAML

COMPOSE_SCHEMA = "builtin_schemas/vendor/compose-spec.json"
# Helm's severities: 1 is information, such as a missing icon.
LINT_WARNING = 2
# The oldest version that Chart.yaml allows.
OLDEST_KUBERNETES = "1.25.0"
# Kubernetes has no schemas of other projects' resources.
FOREIGN = {"ServiceMonitor"}

DEFAULTS = {}
EVERYTHING = {
    "replicas": 3,
    "externalUrl": "https://gatehouse.example.com",
    "database": {"existingSecret": "database"},
    "vault": {"autoUnsealSecret": "recovery", "clusterSecret": "cluster"},
    "proxy": {"trustedCidrs": ["10.0.0.0/8", "fd00::/8"]},
    "env": {"SERVICE_BACKUP__TO": "/backups", "SERVICE_LOG__LEVEL": "debug", "SERVICE_BACKUP__KEEP": 3},
    "envFrom": [{"secretRef": {"name": "settings"}}],
    "imagePullSecrets": [{"name": "registry"}],
    "ingress": {
        "enabled": True,
        "className": "nginx",
        "host": "gatehouse.example.com",
        "tlsSecret": "certificate",
    },
    "persistence": {"size": "10Gi", "storageClass": "fast"},
    "extraVolumes": [{"name": "backups", "persistentVolumeClaim": {"claimName": "backups"}}],
    "extraVolumeMounts": [{"name": "backups", "mountPath": "/backups"}],
    "serviceMonitor": {"enabled": True, "keySecret": "metrics"},
    "podAnnotations": {"example.com/a": "b"},
    "nodeSelector": {"kubernetes.io/os": "linux"},
    "tolerations": [{"key": "a", "operator": "Exists", "effect": "NoSchedule"}],
    "affinity": {"nodeAffinity": {}},
}
TWO = {"replicas": 2, "database": {"existingSecret": "database"}}
INGRESS = {"enabled": True, "host": "gate.example.org", "tlsSecret": "certificate"}
# Values that affect the public URL, and the URL.
URLS = [
    ({"ingress": INGRESS}, "https://gate.example.org"),
    ({"ingress": INGRESS, "externalUrl": "https://other.example.org:8443"}, "https://other.example.org:8443"),
    # It is not known whether something in front of the ingress adds TLS.
    ({"ingress": {**INGRESS, "tlsSecret": ""}}, None),
    ({"ingress": {**INGRESS, "enabled": False}}, None),
    ({"ingress": {**INGRESS, "host": "*.example.org"}}, None),
    ({"ingress": INGRESS, "env": {"SERVICE_SERVER__EXTERNAL_URL": "https://own.example.org"}}, "https://own.example.org"),
]
# Values that must not render, with a part of the reason.
REFUSED = [
    ({"replicas": 2}, "database.existingSecret"),
    ({"replicas": 0}, "replicas"),
    ({"externalUrl": "gatehouse.example.com/path"}, "externalUrl"),
    ({"ingress": {"enabled": True}}, "ingress.host"),
    ({"serviceMonitor": {"enabled": True}}, "serviceMonitor.keySecret"),
    # Names that the chart does not have would be ignored.
    ({"replicaCount": 2}, "replicaCount"),
    ({"vault": {"autounsealSecret": "recovery"}}, "autounsealSecret"),
    ({"drainDelaySeconds": "10"}, "drainDelaySeconds"),
]

faults = []


def read(text):
    """The documents of a YAML text, without the empty ones. Duplicate keys are an error."""
    return [document for document in YAML(typ="safe", pure=True).load_all(text) if document is not None]


def check_compose(path):
    schema = json.loads((files("check_jsonschema") / COMPOSE_SCHEMA).read_text(encoding="utf-8"))
    [document] = read(path.read_text(encoding="utf-8"))
    for fault in validator_for(schema)(schema).iter_errors(document):
        faults.append(f"{path.name}: {fault.json_path}: {fault.message}")
    for kind in ("networks", "volumes"):
        known = set(document.get(kind) or {})
        for name, service in document["services"].items():
            for used in names_of(kind, service.get(kind) or []):
                if used not in known:
                    faults.append(f"{path.name}: {name} uses {used}, which {kind} does not contain")
    for name, service in document["services"].items():
        for needed in service.get("depends_on") or {}:
            if "healthcheck" not in document["services"].get(needed, {}):
                faults.append(f"{path.name}: {name} waits for {needed}, which has no health check")


def names_of(kind, used):
    if kind == "networks":
        return list(used)
    sources = [volume.split(":")[0] for volume in used]
    return [source for source in sources if not source.startswith((".", "/"))]


def check_schema(path):
    """The schema has every value of the chart, and no other but `global`, which Helm adds to charts in charts."""
    schema = json.loads((path / "values.schema.json").read_text(encoding="utf-8"))
    [values] = read((path / "values.yaml").read_text(encoding="utf-8"))
    expect("values in the schema", set(schema["properties"]) - {"global"}, set(values))
    for name, value in values.items():
        own = schema["properties"].get(name, {})
        if isinstance(value, dict) and "properties" in own:
            expect(f"values of {name} in the schema", set(own["properties"]), set(value))


def check_chart(path):
    check_schema(path)
    allowed = read((path / "Chart.yaml").read_text(encoding="utf-8"))[0]["kubeVersion"]
    expect("oldest version of Kubernetes", allowed, f">={OLDEST_KUBERNETES}-0")
    for values in (DEFAULTS, EVERYTHING):
        report = helm.lint(path, values)
        faults.extend(f"chart: {error}" for error in report["errors"])
        for message in report["messages"]:
            if message["severity"] >= LINT_WARNING:
                faults.append(f"chart: {message['path']}: {message['error']}")
    with helm.Chart.load(path) as chart:
        check_defaults(render(chart, DEFAULTS))
        check_everything(render(chart, EVERYTHING))
        check_spread(chart)
        for values, url in URLS:
            expect(f"public URL of {values}", url_in(render(chart, values)), url)
        for values, reason in REFUSED:
            check_refused(chart, values, reason)


def render(chart, values):
    """The rendered resources by kind and name."""
    chart.validate_schema(values)
    found = {}
    for name, text in chart.render(values, name="demo", namespace="prod").items():
        if name.endswith(".txt"):
            continue
        for resource in read(text):
            check_resource(name, resource)
            key = (resource["kind"], resource["metadata"]["name"])
            if key in found:
                faults.append(f"chart: two resources are {key}")
            found[key] = resource
    return found


def check_resource(name, resource):
    if resource["kind"] in FOREIGN:
        return
    for version in (OLDEST_KUBERNETES, kubernetes_validate.latest_version()):
        try:
            kubernetes_validate.validate(resource, version, strict=True)
        except kubernetes_validate.ValidationError as fault:
            place = ".".join(str(part) for part in fault.path)
            faults.append(f"chart: {name}: Kubernetes {version}: {resource['kind']}: {place}: {fault.message}")


def check_refused(chart, values, reason):
    try:
        chart.validate_schema(values)
        chart.render(values, name="demo", namespace="prod")
    except helm.HelmError as error:
        if reason not in str(error):
            faults.append(f"chart: {values} is refused without {reason}: {error}")
    else:
        faults.append(f"chart: {values} is not refused")


def expect(what, found, wanted):
    if found != wanted:
        faults.append(f"chart: {what}: {found}, not {wanted}")


def pod(resources):
    return resources["StatefulSet", "demo-gatehouse"]["spec"]["template"]


def container(resources):
    [one] = pod(resources)["spec"]["containers"]
    return one


def url_in(resources):
    urls = [one["value"] for one in container(resources)["env"] if one["name"] == "SERVICE_SERVER__EXTERNAL_URL"]
    return ", ".join(urls) or None


def check_spread(chart):
    """Several pods are on different machines and are not evicted together. One pod has neither rule."""
    resources = render(chart, TWO)
    budget = resources["PodDisruptionBudget", "demo-gatehouse"]["spec"]
    expect("pods that may be evicted", budget["maxUnavailable"], 1)
    [rule] = pod(resources)["spec"]["topologySpreadConstraints"]
    expect("what the pods are spread over", rule["topologyKey"], "kubernetes.io/hostname")
    expect("spread without enough machines", rule["whenUnsatisfiable"], "ScheduleAnyway")
    labels = pod(resources)["metadata"]["labels"].items()
    for what, selector in (("budget", budget["selector"]), ("spread", rule["labelSelector"])):
        strange = dict(selector["matchLabels"].items() - labels)
        expect(f"labels of the {what} that the pods do not have", strange, {})
    own = [{"maxSkew": 2, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule"}]
    resources = render(chart, {**TWO, "topologySpreadConstraints": own})
    expect("own rules for the spread", pod(resources)["spec"]["topologySpreadConstraints"], own)


def check_defaults(resources):
    kinds = sorted(kind for kind, _ in resources)
    expect("resources by default", kinds, ["Service", "Service", "Service", "StatefulSet"])
    names = {variable["name"] for variable in container(resources)["env"]}
    expect("database by default", "SERVICE_DATABASE_URL" in names, False)
    expect("secret of the nodes by default", "SERVICE_VAULT__CLUSTER_SECRET" in names, False)
    expect("public URL by default", url_in(resources), None)
    expect("spread by default", "topologySpreadConstraints" in pod(resources)["spec"], False)


def check_everything(resources):
    kinds = sorted(kind for kind, _ in resources)
    wanted = ["Ingress", "PodDisruptionBudget", *["Service"] * 3, "ServiceMonitor", "StatefulSet"]
    expect("resources", kinds, wanted)
    expect("replicas", resources["StatefulSet", "demo-gatehouse"]["spec"]["replicas"], 3)
    own = container(resources)
    variables = {variable["name"]: variable for variable in own["env"]}
    secret = variables["SERVICE_DATABASE_URL"]["valueFrom"]["secretKeyRef"]
    expect("database", secret, {"name": "database", "key": "url"})
    secret = variables["SERVICE_VAULT__CLUSTER_SECRET"]["valueFrom"]["secretKeyRef"]
    expect("secret of the nodes", secret, {"name": "cluster", "key": "cluster-secret"})
    expect("trusted networks", variables["SERVICE_PROXY__TRUSTED_CIDRS"]["value"], "10.0.0.0/8,fd00::/8")
    expect("a number", variables["SERVICE_BACKUP__KEEP"]["value"], "3")
    mounted = {mount["name"] for mount in own["volumeMounts"]}
    expect("mounts", mounted, {"data", "tmp", "recovery-key", "backups"})
    # The services that the ingress and the stateful set name exist.
    services = {name for kind, name in resources if kind == "Service"}
    rules = resources["Ingress", "demo-gatehouse"]["spec"]["rules"]
    used = {path["backend"]["service"]["name"] for rule in rules for path in rule["http"]["paths"]}
    used.add(resources["StatefulSet", "demo-gatehouse"]["spec"]["serviceName"])
    expect("services without a resource", used - services, set())


deploy = Path(sys.argv[1])
composes = sorted(deploy.glob("compose*.yaml"))
if not composes:
    faults.append(f"no Compose files in {deploy}")
for file in composes:
    check_compose(file)
check_chart(deploy / "helm/gatehouse")
if faults:
    sys.exit("\n".join(dict.fromkeys(faults)))
print(f"Helm {helm.helm_sdk_version()}, Kubernetes {kubernetes_validate.latest_version()}")
