//! Tests of the parent module.

use super::*;
use serde_json::json;

struct Closed;

impl Write for Closed {
    fn write(&mut self, _: &[u8]) -> io::Result<usize> {
        Err(io::ErrorKind::BrokenPipe.into())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn only_a_closed_pipe_ends_the_output_without_an_error() {
    let failed = |kind: io::ErrorKind| until_closed(Err(io::Error::from(kind).into()));
    assert!(failed(io::ErrorKind::BrokenPipe).is_ok());
    assert!(failed(io::ErrorKind::StorageFull).is_err());
    let serialized = serde_json::to_writer(Closed, &1);
    assert!(until_closed(serialized.map_err(Into::into)).is_ok());
    assert!(until_closed(Err(anyhow::anyhow!("the server is away"))).is_err());
}

#[test]
fn only_a_command_that_succeeded_gets_another_code_when_its_output_is_not_written() {
    let full = io::Error::from(io::ErrorKind::StorageFull);
    let (code, error) = unwritten(ExitCode::SUCCESS, &full);
    assert_eq!(code, ExitCode::FAILURE);
    assert!(error.to_string().contains("succeeded"), "{error}");
    for failed in [1_u8, 2, 3].map(ExitCode::from) {
        let (code, error) = unwritten(failed, &full);
        assert_eq!(code, failed);
        assert!(!error.to_string().contains("succeeded"), "{error}");
    }
}

#[test]
fn what_a_server_sends_cannot_steer_the_terminal_and_shows() {
    let record = json!({ "list": [{
        "a": "x\u{1b}[2J\ny", "b": ["p", "\u{202e}q"], "c": 1, "d": null,
    }] });
    let expected = vec![vec!["x\\u{1B}[2J\\u{A}y", "p \\u{202E}q", "1", "", ""]];
    assert_eq!(rows(&record, "list", &["a", "b", "c", "d", "e"]), expected);
    assert!(rows(&json!({}), "list", &["a"]).is_empty());
}
