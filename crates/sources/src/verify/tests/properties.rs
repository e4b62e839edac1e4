//! Every signed delivery verifies, and no modified one does.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use proptest::prelude::*;
use proptest::sample::{Index, select};

use super::*;

fn any_mode() -> impl Strategy<Value = AuthMode> {
    select(checking().collect::<Vec<_>>())
}

/// Returns a secret for any mode: valid in a header and valid Base64.
fn any_secret() -> impl Strategy<Value = String> {
    prop::collection::vec(any::<u8>(), 1..40)
        .prop_map(|bytes| format!("whsec_{}", BASE64.encode(bytes)))
}

fn any_case() -> impl Strategy<Value = Case> {
    let body = prop::collection::vec(any::<u8>(), 0..200);
    (any_mode(), any_secret(), body, 0..4_000_000_000_i64).prop_map(
        |(mode, secret, body, seconds)| {
            let mut case = Case::new(mode, &secret, &body).at(seconds * 1000);
            case.sign();
            case
        },
    )
}

fn flip(bytes: &mut [u8], at: Index, bit: u8) {
    let at = at.index(bytes.len());
    bytes[at] ^= 1 << bit;
}

proptest! {
    #[test]
    fn signed_verifies(case in any_case()) {
        prop_assert_eq!(case.verify(), Ok(()));
    }

    #[test]
    fn a_flipped_bit_of_the_signature_is_noticed(case in any_case(), at in any::<Index>(), bit in 0..8_u8) {
        let mut case = case;
        let Method::Signature(scheme) = case.mode.method() else {
            return Ok(());
        };
        let value = signature_of(&case, scheme);
        // The encodings contain these characters only in the padding at the end.
        let start = value.trim_end_matches('=').rfind([',', '=']).map_or(0, |at| at + 1);
        let encoded = value.as_bytes().get(start..).unwrap_or_default();
        let mut bytes = match scheme.encoding {
            scheme::Encoding::Hex => data_encoding::HEXLOWER.decode(encoded).unwrap(),
            scheme::Encoding::Base64 => BASE64.decode(encoded).unwrap(),
        };
        flip(&mut bytes, at, bit);
        let encoded = match scheme.encoding {
            scheme::Encoding::Hex => data_encoding::HEXLOWER.encode(&bytes),
            scheme::Encoding::Base64 => BASE64.encode(&bytes),
        };
        let changed = format!("{}{encoded}", &value[..start]);
        case.headers.insert(signature_header(scheme), changed.parse().unwrap());
        prop_assert_eq!(case.verify(), Err(VerifyError::Wrong));
    }

    #[test]
    fn a_flipped_bit_of_the_body_is_noticed(case in any_case(), at in any::<Index>(), bit in 0..8_u8) {
        let mut case = case;
        // Tokens do not cover the body, and a form has several encodings.
        let signs_body = matches!(case.mode.method(), Method::Signature(_))
            && case.mode != named("twilio_signature");
        if signs_body && !case.body.is_empty() {
            flip(&mut case.body, at, bit);
            prop_assert_eq!(case.verify(), Err(VerifyError::Wrong));
        }
    }

    #[test]
    fn a_flipped_bit_of_the_secret_is_noticed(case in any_case(), at in any::<Index>(), bit in 0..8_u8) {
        let mut case = case;
        let encoded = case.secrets[0].strip_prefix("whsec_").unwrap();
        let mut bytes = BASE64.decode(encoded).unwrap();
        flip(&mut bytes, at, bit);
        case.secrets[0] = format!("whsec_{}", BASE64.encode(&bytes));
        prop_assert_eq!(case.verify(), Err(VerifyError::Wrong));
    }

    #[test]
    fn a_changed_field_of_a_form_is_noticed(name in "[a-z]{1,4}", value in "[a-z&=+]{0,6}", other in "[a-z&=+]{0,6}") {
        let form = |value: &str| {
            url::form_urlencoded::Serializer::new(String::new())
                .append_pair("From", "+1")
                .append_pair(&name, value)
                .finish()
        };
        let mut case = Case::signed(named("twilio_signature"), "t", form(&value).as_bytes());
        prop_assert_eq!(case.verify(), Ok(()));
        case.body = form(&other).into_bytes();
        prop_assert_eq!(case.verify().is_ok(), value == other);
    }

    #[test]
    fn no_headers_do_harm(mode in any_mode(), values in prop::collection::vec("\\PC{0,60}|[tv]=?[0-9a-f,=]{0,80}", 0..6), body in any::<Vec<u8>>()) {
        let mut case = Case::new(mode, secret(mode), &body);
        let names: Vec<&'static str> = match mode.method() {
            Method::Signature(scheme) => {
                let times = match scheme.time {
                    scheme::Time::Headers(names) => names,
                    _ => &[],
                };
                [scheme.headers, scheme.id_headers, times].concat()
            }
            Method::Token(names) => names.to_vec(),
            _ => vec!["authorization", DEFAULT_STATIC_HEADER],
        };
        for (value, name) in values.iter().zip(names.iter().cycle()) {
            if let Ok(value) = HeaderValue::from_str(value) {
                case.headers.append(*name, value);
            }
        }
        prop_assert!(case.verify().is_err());
    }
}
