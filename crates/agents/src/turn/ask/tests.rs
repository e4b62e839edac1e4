//! Tests of the parent module.

use super::*;

#[test]
fn calls_of_one_answer_have_ids_of_their_own() {
    let call = |id: &str| {
        storable_call(ToolCall {
            id: id.to_owned(),
            name: "calc\n".to_owned(),
            arguments: "{}".to_owned(),
        })
    };
    let mut calls = vec![call("a"), call(""), call("a"), call("")];
    name_apart(&mut calls);
    let ids: HashSet<_> = calls.iter().map(|call| &call.id).collect();
    assert_eq!(ids.len(), 4, "{calls:?}");
    assert_eq!(
        (calls[0].id.as_str(), calls[0].name.as_str()),
        ("a", "calc")
    );
}
