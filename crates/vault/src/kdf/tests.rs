//! Tests of the parent module.

use super::*;
use argon2::{AssociatedData, ParamsBuilder};
use data_encoding::HEXLOWER;

/// Checks the vector of RFC 9106, section 5.3: password, salt, secret and associated data each repeat one byte.
#[test]
fn published_vector_of_argon2id() {
    let params = ParamsBuilder::new()
        .m_cost(32)
        .t_cost(3)
        .p_cost(4)
        .data(AssociatedData::new(&[4; 12]).unwrap())
        .build()
        .unwrap();
    let mut tag = [0; 32];
    Argon2::new_with_secret(&[3; 8], Algorithm::Argon2id, Version::V0x13, params)
        .unwrap()
        .hash_password_into(&[1; 32], &[2; 16], &mut tag)
        .unwrap();
    assert_eq!(
        HEXLOWER.encode(&tag),
        "0d640df58d78766c08c037a34a8b53c9d01ef0452d75b65eb52520e96b01e659"
    );
}

/// Compares [`derive`] with the test suite of the reference implementation (phc-winner-argon2,
/// src/test.c: version 0x13, Argon2id, t=2, m=2^8 KiB, p=1).
#[test]
fn derive_agrees_with_the_reference_implementation() {
    let params = KdfParams {
        m_cost: 256,
        t_cost: 2,
        p_cost: 1,
    };
    let key = derive(b"password", b"somesalt", params).unwrap();
    assert_eq!(
        HEXLOWER.encode(key.as_slice()),
        "9dfeb910e80bad0311fee20f9c0e2b12c17987b4cac90c2ef54d5b3021c68bfe"
    );
}

#[test]
fn parameters_are_refused_one_past_each_limit() {
    let ok = KdfParams::SPECIFIED;
    for accepted in [
        ok,
        KdfParams {
            m_cost: 262_144,
            ..ok
        },
        KdfParams { t_cost: 10, ..ok },
        KdfParams {
            p_cost: 65_536 / 8,
            ..ok
        },
    ] {
        assert_eq!(accepted.check(), Ok(()));
    }
    for (params, message) in [
        (
            KdfParams {
                m_cost: 65_535,
                ..ok
            },
            "m_cost is 65535, below the minimum of 65536",
        ),
        (
            KdfParams {
                m_cost: 262_145,
                ..ok
            },
            "m_cost is 262145, above the limit of 262144",
        ),
        (
            KdfParams { t_cost: 2, ..ok },
            "t_cost is 2, below the minimum of 3",
        ),
        (
            KdfParams { t_cost: 11, ..ok },
            "t_cost is 11, above the limit of 10",
        ),
        (
            KdfParams { p_cost: 0, ..ok },
            "p_cost is 0, below the minimum of 1",
        ),
        (
            KdfParams { p_cost: 8193, ..ok },
            "p_cost is 8193, above the limit of 8192",
        ),
        (
            KdfParams::RECOVERY,
            "m_cost is 16384, below the minimum of 65536",
        ),
    ] {
        assert_eq!(params.check().unwrap_err().to_string(), message);
    }
}

#[test]
fn json_is_to_the_byte_and_strict() {
    let text = r#"{"m_cost":65536,"t_cost":3,"p_cost":1}"#;
    assert_eq!(KdfParams::SPECIFIED.to_json(), text);
    assert_eq!(serde_json::to_string(&KdfParams::SPECIFIED).unwrap(), text);
    assert_eq!(
        serde_json::from_str::<KdfParams>(text).unwrap(),
        KdfParams::SPECIFIED
    );
    for bad in [
        "",
        "{}",
        r#"{"m_cost":65536,"t_cost":3}"#,
        r#"{"m_cost":-1,"t_cost":3,"p_cost":1}"#,
    ] {
        assert!(serde_json::from_str::<KdfParams>(bad).is_err());
    }
}
