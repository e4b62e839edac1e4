//! Tests of the parent module.

use super::*;
use crate::cli::client::Refusal;

#[test]
fn the_refusal_of_a_channel_in_use_names_the_flag_and_no_other_does() {
    let refused = |details: Value| {
        let refusal = Refusal {
            message: "It is in use.".to_owned(),
            code: "CONFLICT".to_owned(),
            details: details.as_object().unwrap().clone(),
        };
        with_force(ClientError::Refused(refusal)).to_string()
    };
    let in_use = refused(json!({ "deliveries": 1, "webhooks": 0 }));
    assert_eq!(
        in_use,
        "It is in use. Use --force to delete it anyway. (CONFLICT)"
    );
    assert_eq!(refused(json!({})), "It is in use. (CONFLICT)");
}

#[test]
fn fields_are_pairs_and_an_empty_value_takes_one_back() {
    let pairs = ["a=b=c".to_owned(), "d=".to_owned()];
    let fields = Value::Object(fields_of(&pairs).unwrap());
    assert_eq!(fields, json!({ "a": "b=c", "d": null }));
    assert!(fields_of(&["a".to_owned()]).is_err());
}
