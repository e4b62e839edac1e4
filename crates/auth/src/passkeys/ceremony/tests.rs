//! Tests of the parent module.

use super::*;

#[test]
fn a_registration_asks_for_a_discoverable_key_with_user_verification() {
    let begun = RelyingParty::new("localhost", &[])
        .unwrap()
        .begin_registration([7; 16], &[])
        .unwrap();
    let selection = &begun.options["publicKey"]["authenticatorSelection"];
    assert_eq!(selection["residentKey"], "required");
    assert_eq!(selection["requireResidentKey"], true);
    assert_eq!(selection["userVerification"], "required");
    assert_eq!(begun.options["publicKey"]["rp"]["id"], "localhost");
}

#[test]
fn a_login_names_no_credential() {
    let begun = RelyingParty::new("gate.example", &[])
        .unwrap()
        .begin_login()
        .unwrap();
    let public_key = &begun.options["publicKey"];
    assert_eq!(public_key["rpId"], "gate.example");
    assert!(
        public_key["allowCredentials"]
            .as_array()
            .is_none_or(Vec::is_empty)
    );
    // Passed to `navigator.credentials.get()` as they are, the options open the browser's dialog.
    let members: Vec<&String> = begun.options.as_object().unwrap().keys().collect();
    assert_eq!(members, ["publicKey"]);
}

#[test]
fn the_page_decides_the_relying_party() {
    let external: Url = "https://gate.example".parse().unwrap();
    let id = |host, origin| rp_id_for(host, origin, Some(&external));
    assert_eq!(id(Some("localhost"), None).as_deref(), Some("localhost"));
    let behind = id(Some("gatehouse.internal"), Some("https://gate.example"));
    assert_eq!(behind.as_deref(), Some("gate.example"));
    assert_eq!(id(None, Some("http://192.0.2.1")), None);
    assert_eq!(
        id(None, Some("https://gate.example")).as_deref(),
        Some("gate.example")
    );
    let foreign = id(Some("localhost"), Some("https://evil.example"));
    assert_eq!(foreign.as_deref(), Some("localhost"));
}
