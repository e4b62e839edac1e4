//! Tests of the parent module.

use super::ask::new_code;
use super::*;
use gatehouse_domain::{Random, SeededRandom};

#[test]
fn a_code_is_found_however_it_is_typed() {
    let random: &dyn Random = &SeededRandom::new(3);
    let code = new_code(random);
    assert_eq!(code.len(), 9);
    assert_ne!(code, new_code(random));
    assert_eq!(normalize(&code), code);
    assert_eq!(normalize(&code.to_lowercase().replace('-', " ")), code);
    assert_eq!(normalize("ab"), "AB");
    assert_eq!(normalize("ä-\0"), "");
}
