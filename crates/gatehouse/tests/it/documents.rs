//! Tests the commands in the documents: the shell accepts each block, and `gatehouse` has each command and flag.

use crate::process::BINARY;
use pulldown_cmark::{Event, Parser, Tag, TagEnd};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The first words by which a block of shell commands is recognized.
const PROGRAMS: [&str; 16] = [
    "cargo",
    "curl",
    "docker",
    "gatehouse",
    "./gatehouse",
    "journalctl",
    "npm",
    "pip",
    "python",
    "python3",
    "runuser",
    "sqlite3",
    "sudo",
    "systemctl",
    "tar",
    "promtool",
];

pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Returns the code blocks and code spans of a document.
pub fn code(text: &str) -> (Vec<String>, Vec<String>) {
    let (mut blocks, mut spans) = (Vec::new(), Vec::new());
    let mut block: Option<String> = None;
    for event in Parser::new(text) {
        match event {
            Event::Start(Tag::CodeBlock(_)) => block = Some(String::new()),
            Event::End(TagEnd::CodeBlock) => blocks.extend(block.take()),
            Event::Text(text) => {
                if let Some(block) = &mut block {
                    block.push_str(&text);
                }
            }
            Event::Code(text) => spans.push(text.replace('\n', " ")),
            _ => {}
        }
    }
    (blocks, spans)
}

/// Returns whether the first command of a line, after assignments, is a known program.
pub fn is_shell(block: &str) -> bool {
    block.lines().any(|line| {
        let mut words = line
            .split_whitespace()
            .skip_while(|word| word.contains('='));
        words.next().is_some_and(|word| PROGRAMS.contains(&word))
    })
}

async fn documents() -> Vec<(String, String)> {
    let mut found = Vec::new();
    for name in [
        "README.md",
        "CONTRIBUTING.md",
        "SECURITY.md",
        "docs/OPERATIONS.md",
        "docs/SECURITY.md",
        "docs/API.md",
        "docs/API-webhooks.md",
        "docs/API-voice.md",
    ] {
        let text = tokio::fs::read_to_string(root().join(name)).await.unwrap();
        found.push((name.to_owned(), text));
    }
    found
}

/// Returns the command lines of `gatehouse` in a block, without pipes and comments after them.
fn command_lines(block: &str) -> Vec<String> {
    let joined = block.replace("\\\n", " ");
    let lines = joined.lines().filter_map(|line| {
        let start = ["gatehouse ", "./gatehouse ", "sudo ./gatehouse "];
        let rest = start
            .iter()
            .find_map(|start| line.trim().strip_prefix(start))?;
        let rest = rest.split(" | ").next()?.split(" > ").next()?;
        Some(rest.trim_end_matches([' ', '&']).to_owned())
    });
    lines.collect()
}

/// Splits a command line as the shell does, up to the arguments of another program.
fn words(line: &str) -> Vec<String> {
    let script = format!("gatehouse() {{ printf '%s\\0' \"$@\"; }}\ngatehouse {line}\n");
    let mut shell = Command::new("bash");
    let output = shell.env_clear().args(["-c", &script]).output().unwrap();
    assert!(output.status.success(), "{line}");
    let text = String::from_utf8(output.stdout).unwrap();
    let words = text.split_terminator('\0').map(str::to_owned);
    words.take_while(|word| word != "--").collect()
}

/// Returns the error of `gatehouse` for a command line, or nothing if the command line is valid.
fn complaint(line: &str) -> Option<String> {
    // `--help` comes last, so that everything before it is parsed but nothing runs.
    let mut command = Command::new(BINARY);
    let output = command
        .env_clear()
        .args(words(line))
        .arg("--help")
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    (!output.status.success()).then_some(text)
}

#[tokio::test]
async fn the_shell_accepts_every_block_of_commands() {
    let mut count = 0;
    for (name, text) in documents().await {
        for block in code(&text).0.iter().filter(|block| is_shell(block)) {
            let mut shell = Command::new("bash");
            let output = shell.args(["-n", "-c", block]).output().unwrap();
            let complaint = String::from_utf8_lossy(&output.stderr).into_owned();
            assert!(output.status.success(), "{name}: {complaint}{block}");
            count += 1;
        }
    }
    assert!(count >= 15, "{count} blocks");
}

#[tokio::test]
async fn gatehouse_knows_every_command_and_flag_in_the_documents() {
    let mut count = 0;
    for (name, text) in documents().await {
        let (blocks, spans) = code(&text);
        let spans = spans
            .iter()
            .filter_map(|span| span.strip_prefix("gatehouse "));
        // An ellipsis or a bar stands for a choice.
        let spans = spans.filter(|span| !span.contains(['…', '|', '<', '{']));
        let lines = blocks.iter().filter(|block| is_shell(block));
        for line in lines
            .flat_map(|block| command_lines(block))
            .chain(spans.map(str::to_owned))
        {
            assert_eq!(complaint(&line), None, "{name}: gatehouse {line}");
            count += 1;
        }
    }
    assert!(count >= 40, "{count} command lines");
}

#[test]
fn a_command_or_flag_that_does_not_exist_is_found() {
    for line in ["frobnicate", "doctor --frobnicate", "webhooks test"] {
        assert_eq!(complaint(line).is_some(), line != "webhooks test", "{line}");
    }
    assert_eq!(
        command_lines("gatehouse a \\\n  --b c &\nls\n  gatehouse d 'e f' | grep g\n"),
        ["a    --b c", "d 'e f'"]
    );
    assert_eq!(words("a 'b c' # d"), ["a", "b c"]);
    assert_eq!(
        words("env exec --only T -- ./deploy.sh --x"),
        ["env", "exec", "--only", "T"]
    );
}
