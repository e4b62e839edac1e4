use super::*;

#[test]
fn data_is_read_back_and_short() {
    let token = "0".repeat(32);
    for choice in Choice::ALL {
        let data = choice.data(&token);
        assert!(data.len() <= 64, "{data}");
        assert_eq!(Choice::read(&data), Some((&*token, choice)));
    }
    for other in ["", "a", "a:", ":allow:", "a:Allow"] {
        assert_eq!(Choice::read(other), None, "{other}");
    }
}
