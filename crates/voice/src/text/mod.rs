//! Texts.
pub(crate) fn pieces(text: &str, _: usize, _: usize) -> Vec<String> {
    vec![text.to_owned()]
}
pub(crate) fn speakable(text: &str) -> String {
    text.to_owned()
}
