//! Tests of the parent module.

use super::der::is_affordable;
use pkcs8::pkcs5::pbes2::{Kdf as Pbes2Kdf, Pbkdf2Params, Salt, ScryptParams};

#[test]
fn stretching_at_and_past_each_limit() {
    let salt = [7; 16];
    let pbkdf2 = |iterations| {
        let params = Pbkdf2Params::hmac_sha256(iterations, &salt).unwrap();
        is_affordable(&Pbes2Kdf::Pbkdf2(params)).unwrap()
    };
    assert!(pbkdf2(2_000_000) && !pbkdf2(2_000_001));
    let scrypt = |cost_parameter, block_size, parallelization| {
        let params = ScryptParams {
            salt: Salt::new(salt).unwrap(),
            cost_parameter,
            block_size,
            parallelization,
            key_length: None,
        };
        is_affordable(&Pbes2Kdf::Scrypt(params)).unwrap()
    };
    assert!(scrypt(65_536, 8, 4));
    assert!(!scrypt(65_536, 8, 5) && !scrypt(65_536, 9, 1) && !scrypt(131_072, 8, 1));
    assert!(!scrypt(u64::MAX, u16::MAX, 1));
}
