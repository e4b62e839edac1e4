//! Prompts. Secrets are never echoed and never read from the command line. Without a terminal, they come from a file or
//! standard input.

use super::usage;
use anyhow::{Context, Result, ensure};
use gatehouse_domain::visible;
use secrecy::SecretString;
use std::io::{BufRead, IsTerminal, Read, Write};
use std::path::Path;
use zeroize::Zeroizing;

/// The longest secret, in bytes.
const MAX_BYTES: u64 = 1024 * 1024;

/// Returns whether there is a terminal to prompt on.
pub fn is_interactive() -> bool {
    std::io::stdin().is_terminal() && std::io::stderr().is_terminal()
}

/// Reads a password from the file, if given, or from the terminal, or from one line of standard input.
pub fn password(question: &str, file: Option<&Path>) -> Result<SecretString> {
    match file {
        Some(path) => {
            let file = std::fs::File::open(path)
                .with_context(|| format!("cannot open {}", path.display()))?;
            first_line(std::io::BufReader::new(file))
                .with_context(|| format!("cannot read {}", path.display()))?
                .with_context(|| format!("the first line of {} is empty", path.display()))
        }
        None => typed_secret(
            question,
            "there is no terminal for a prompt, and the first line of standard input is empty: write the password \
             there, or to a file that SERVICE_PASSWORD_FILE names",
        ),
    }
}

/// Reads a one-line secret.
pub fn secret(question: &str) -> Result<SecretString> {
    typed_secret(
        question,
        "there is no terminal for a prompt, and the first line of standard input is empty: write the secret there",
    )
}

/// Reads a secret of one line from the terminal. Without a terminal, the secret is all of standard input except the
/// last line ending.
pub fn value(question: &str) -> Result<SecretString> {
    if std::io::stdin().is_terminal() {
        return secret(question);
    }
    all_lines(std::io::stdin().lock())
        .context("cannot read standard input")?
        .context("there is no terminal for a prompt, and standard input has no text: write the value there")
}

/// Reads all lines. Returns `None` if there is only a line ending.
fn all_lines(input: impl Read) -> Result<Option<SecretString>> {
    let mut text = Zeroizing::new(String::new());
    input.take(MAX_BYTES).read_to_string(&mut text)?;
    Ok(without_line_ending(&text))
}

fn typed_secret(question: &str, without: &'static str) -> Result<SecretString> {
    if std::io::stdin().is_terminal() {
        let typed = rpassword::prompt_password(format!("{question}: "))
            .context("cannot read from the terminal")?;
        ensure!(!typed.is_empty(), "nothing was entered");
        return Ok(SecretString::from(typed));
    }
    first_line(std::io::stdin().lock())
        .context("cannot read standard input")?
        .context(without)
}

/// Reads the first line. Returns `None` if it is empty.
fn first_line(input: impl BufRead) -> Result<Option<SecretString>> {
    let mut line = Zeroizing::new(String::new());
    input.take(MAX_BYTES).read_line(&mut line)?;
    Ok(without_line_ending(&line))
}

/// Removes the line ending. Returns `None` if the rest is empty.
fn without_line_ending(text: &str) -> Option<SecretString> {
    let text = text.strip_suffix('\n').unwrap_or(text);
    let text = text.strip_suffix('\r').unwrap_or(text);
    (!text.is_empty()).then(|| SecretString::from(text))
}

/// Reads a multi-line secret from a file, or from standard input for `-` or without a file.
pub fn secret_text(file: Option<&Path>, question: &str) -> Result<SecretString> {
    let mut text = Zeroizing::new(String::new());
    if let Some(path) = file.filter(|path| *path != Path::new("-")) {
        let file =
            std::fs::File::open(path).with_context(|| format!("cannot open {}", path.display()))?;
        file.take(MAX_BYTES)
            .read_to_string(&mut text)
            .context("the file is not text")?;
    } else {
        if std::io::stdin().is_terminal() {
            eprintln!("{question}; end with Ctrl-D:");
        }
        std::io::stdin()
            .lock()
            .take(MAX_BYTES)
            .read_to_string(&mut text)?;
    }
    ensure!(!text.trim().is_empty(), "nothing was entered");
    Ok(SecretString::from(text.as_str()))
}

/// Asks a yes/no question. The default is no.
pub fn yes(question: &str) -> Result<bool> {
    let reply = typed(&format!("{} [y/N] ", visible::lines(question).text))?;
    Ok(is_yes(&reply))
}

/// Returns whether the reply to a question is yes.
pub fn is_yes(reply: &str) -> bool {
    matches!(reply.trim().to_lowercase().as_str(), "y" | "yes")
}

/// Continues only if `word` is typed.
pub fn confirm(warning: &str, word: &str) -> Result<()> {
    if !is_interactive() {
        return Err(usage::wrong(format!(
            "{warning} There is no terminal to confirm this on: repeat with --yes."
        )));
    }
    eprintln!("{}", visible::lines(warning).text);
    ensure!(
        typed(&format!("Type `{word}` to continue: "))?.trim() == word,
        "not confirmed"
    );
    Ok(())
}

fn typed(question: &str) -> Result<String> {
    eprint!("{question}");
    std::io::stderr().flush()?;
    let mut line = String::new();
    std::io::stdin().lock().read_line(&mut line)?;
    Ok(line)
}

#[cfg(test)]
mod tests {
    use super::*;
    use secrecy::ExposeSecret;

    #[test]
    fn one_line_ending_is_taken_off_and_nothing_else() {
        for (given, expected) in [
            ("a b ", "a b "),
            ("x\n", "x"),
            ("x\r\ny", "x"),
            (" x\n\n", " x"),
        ] {
            let line = first_line(given.as_bytes()).unwrap().unwrap();
            assert_eq!(line.expose_secret(), expected);
        }
        for nothing in ["", "\n", "\r\n"] {
            assert!(first_line(nothing.as_bytes()).unwrap().is_none());
            assert!(all_lines(nothing.as_bytes()).unwrap().is_none());
        }
    }

    #[test]
    fn all_lines_of_a_value_are_read() {
        for (given, expected) in [
            ("a", "a"),
            ("a\n", "a"),
            ("a\nb\r\n", "a\nb"),
            ("\na\n\n", "\na\n"),
        ] {
            let value = all_lines(given.as_bytes()).unwrap().unwrap();
            assert_eq!(value.expose_secret(), expected);
        }
    }
}
