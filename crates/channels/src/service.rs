//! Decides where an account's secrets may be sent. Each secret is bound to the type and address that the
//! account had when the secret was entered.

use crate::fields::FieldKind;
use crate::senders::Sender;
use gatehouse_domain::KeyBinding;
use gatehouse_store::ChannelSecretRow;
use serde_json::{Map, Value};
use url::Url;

/// Returns the service that receives a secret of an account with these fields. It is the vendor's own service, unless a
/// field names an address. A secret such as `imap_password` goes to the server of `imap_host`, any other secret to the
/// server of `host`.
pub(crate) fn service_of(
    sender: &dyn Sender,
    fields: &Map<String, Value>,
    secret: &str,
) -> KeyBinding {
    let about = sender.about();
    let hosts = about.fields.iter().filter(|it| it.kind == FieldKind::Host);
    let group = hosts
        .filter_map(|host| host.name.strip_suffix("host"))
        .filter(|group| secret.starts_with(group))
        .max_by_key(|group| group.len())
        .unwrap_or_default();
    let of_kind = |kind: FieldKind| {
        let mut specs = about.fields.iter();
        let is_of = |name: &str| kind == FieldKind::Url || name.starts_with(group);
        let spec = specs.find(|it| it.kind == kind && !it.secret && is_of(it.name))?;
        fields.get(spec.name)
    };
    let url = of_kind(FieldKind::Url).and_then(Value::as_str);
    if let Some(url) = url.and_then(|url| Url::parse(url).ok()) {
        return KeyBinding::of_url(about.kind, &url);
    }
    let host = of_kind(FieldKind::Host).and_then(Value::as_str);
    let port = of_kind(FieldKind::Port).and_then(Value::as_u64);
    let port = port.and_then(|port| u16::try_from(port).ok());
    KeyBinding::of_host(
        about.kind,
        "server",
        host.unwrap_or_default(),
        port.unwrap_or_default(),
    )
}

/// Returns whether a secret may be sent to this service. A secret that is itself a URL determines its own
/// address.
pub(crate) fn may_go(sender: &dyn Sender, secret: &ChannelSecretRow, service: &KeyBinding) -> bool {
    let Some(belongs_to) = &secret.belongs_to else {
        // The account's address has not changed since the secret was entered.
        return true;
    };
    let mut specs = sender.about().fields.iter();
    let is_address = |kind| kind == FieldKind::Url;
    specs.any(|spec| spec.name == secret.field && is_address(spec.kind))
        || belongs_to
            .parse::<KeyBinding>()
            .is_ok_and(|own| own.admits(service))
}
