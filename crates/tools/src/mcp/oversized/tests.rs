//! Tests of the parent module.

use super::*;
use tokio::io::AsyncReadExt;

async fn read(text: &str, max_bytes: usize) -> String {
    let mut limited = Limited::new(text.as_bytes(), max_bytes);
    let mut out = String::new();
    limited.read_to_string(&mut out).await.unwrap();
    out
}

#[tokio::test]
async fn lines_within_the_limit_pass_unchanged() {
    let text = "{\"id\":1}\n\n{\"id\":2,\"result\":{}}\n";
    assert_eq!(read(text, 24).await, text);
}

#[tokio::test]
async fn a_longer_answer_becomes_an_error_of_its_call() {
    let long = "x".repeat(20_000);
    for (message, id) in [
        (
            format!(r#"{{"id":7,"result":{{"id":9,"t":"{long}"}}}}"#),
            "7",
        ),
        (
            format!(r#"{{"result":["\"id\":3",{{"a":"{long}\\"}}], "id" : "a,b" }}"#),
            "\"a,b\"",
        ),
    ] {
        let out = read(&format!("{message}\n{{\"id\":1}}\n"), 1 << 10).await;
        let lines: Vec<&str> = out.lines().collect();
        assert!(lines[0].contains(&format!("\"id\":{id}")), "{out}");
        assert!(lines[0].contains("\"error\""), "{out}");
        assert_eq!(lines[1], "{\"id\":1}");
    }
}

#[tokio::test]
async fn what_is_no_answer_is_left_out() {
    let long = "x".repeat(5000);
    for message in [
        format!(r#"{{"id":1,"method":"ping","params":"{long}"}}"#),
        format!(r#"{{"method":"notify","params":"{long}"}}"#),
        format!(r#"[{{"id":1,"result":"{long}"}}]"#),
        long.clone(),
    ] {
        assert_eq!(read(&format!("{message}\nend\n"), 100).await, "end\n");
    }
}
