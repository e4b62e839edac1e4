//! Tests of the parent module.

use super::*;

#[test]
fn absent_and_null_params_are_the_empty_object() {
    assert!(read_params::<NoParams>(None).is_ok());
    let null = RawValue::from_string("null".to_owned());
    // The envelope removes null before this point. Here, null is an error.
    assert_eq!(
        read_params::<NoParams>(null.ok().as_deref())
            .unwrap_err()
            .code,
        ErrorCode::InvalidParams
    );
}

#[test]
fn half_a_surrogate_pair_is_a_wrong_param() {
    let raw = RawValue::from_string(r#"{"\ud800":1}"#.to_owned()).unwrap();
    let problem = read_params::<NoParams>(Some(&raw)).unwrap_err();
    assert_eq!(problem.code, ErrorCode::InvalidParams);
}
