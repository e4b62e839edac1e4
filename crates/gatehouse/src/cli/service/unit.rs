//! The text of the units from `deploy/`, with the program's path and arguments.

use anyhow::{Context, Result, ensure};
use std::path::Path;

/// The first line of a unit that `service install` wrote.
pub const MARK: &str = "# Written by `gatehouse service install`.";
/// The only directory that the system's service can write.
pub const SYSTEM_DATA_DIR: &str = "/var/lib/gatehouse";
/// Creates the user of the system's service (sysusers.d(5)).
pub const SYSUSERS: &str = include_str!("../../../../../deploy/gatehouse.sysusers.conf");

const OF_SYSTEM: &str = include_str!("../../../../../deploy/gatehouse.service");
const OF_USER: &str = include_str!("../../../../../deploy/gatehouse.user.service");
/// The program of the packages, in the units and their comments.
const PACKAGED_PROGRAM: &str = "/usr/bin/gatehouse";
/// Names a file that only the packages contain.
const DOCUMENTATION: &str = "Documentation=";

/// Returns the unit of the system's service.
pub fn of_system(program: &Path, bind: Option<&str>) -> Result<String> {
    let command = command_line(program, Path::new(SYSTEM_DATA_DIR), bind)?;
    with_command(OF_SYSTEM, program, &command)
}

/// Returns the unit of a user's service.
pub fn of_user(program: &Path, data_dir: &Path, bind: Option<&str>) -> Result<String> {
    let command = command_line(program, data_dir, bind)?;
    with_command(OF_USER, program, &command)
}

/// Replaces the beginning of the comment, which describes a manual installation. Also replaces the command line, and
/// the program in the other comments.
fn with_command(unit: &str, program: &Path, command: &str) -> Result<String> {
    let kept = unit
        .find("# Settings:")
        .and_then(|start| unit.get(start..))
        .context("the unit has no comment on settings")?;
    let head = format!("{MARK}\n");
    let program = program.display().to_string();
    let used = kept.lines().filter(|line| !line.starts_with(DOCUMENTATION));
    let lines = used.map(|line| {
        if line.starts_with("ExecStart=") {
            format!("ExecStart={command}\n")
        } else {
            format!("{}\n", line.replace(PACKAGED_PROGRAM, &program))
        }
    });
    Ok(std::iter::once(head).chain(lines).collect())
}

fn command_line(program: &Path, data_dir: &Path, bind: Option<&str>) -> Result<String> {
    let text = |path: &Path| path.to_str().map(str::to_owned);
    let program = text(program).context("the program's path is not UTF-8")?;
    let data_dir = text(data_dir).context("the data directory's path is not UTF-8")?;
    let mut words = vec![program, "serve".into(), "--data-dir".into(), data_dir];
    words.extend(
        bind.into_iter()
            .flat_map(|bind| ["--bind".into(), bind.to_owned()]),
    );
    let quoted: Result<Vec<_>> = words.iter().map(|word| quoted(word)).collect();
    Ok(quoted?.join(" "))
}

/// Quotes a word of a command line (systemd.service(5), "Command lines"; systemd.unit(5), "Specifiers").
fn quoted(word: &str) -> Result<String> {
    ensure!(
        !word.contains(char::is_control),
        "a path or argument contains a control character"
    );
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/._-:[]".contains(&byte);
    if !word.is_empty() && word.bytes().all(is_plain) {
        return Ok(word.to_owned());
    }
    let mut text = String::from('"');
    for character in word.chars() {
        match character {
            '\\' | '"' => text.extend(['\\', character]),
            // `%` introduces a specifier, and `$` a variable.
            '%' | '$' => text.extend([character, character]),
            _ => text.push(character),
        }
    }
    text.push('"');
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_head_and_the_command_differ_from_the_unit_in_deploy() {
        for (unit, original) in [
            (of_system(Path::new("/opt/g"), None).unwrap(), OF_SYSTEM),
            (
                of_user(Path::new("/opt/g"), Path::new(SYSTEM_DATA_DIR), None).unwrap(),
                OF_USER,
            ),
        ] {
            assert!(unit.starts_with(MARK));
            let expected = "ExecStart=/opt/g serve --data-dir /var/lib/gatehouse";
            assert_eq!(unit.lines().filter(|line| *line == expected).count(), 1);
            assert_eq!(unit.lines().filter(|line| *line == "[Unit]").count(), 1);
            let edit = "drop-in: systemctl ";
            assert!(unit.contains(edit), "where changes belong");
            let rest = |text: &str| -> Vec<String> {
                let lines = text.lines();
                let lines = lines.skip_while(|line| !line.starts_with("# Settings:"));
                lines
                    .filter(|line| !line.starts_with("ExecStart="))
                    .filter(|line| !line.starts_with(DOCUMENTATION))
                    .map(|line| line.replace(PACKAGED_PROGRAM, "/opt/g"))
                    .collect()
            };
            assert_eq!(rest(&unit), rest(original));
            assert!(!unit.contains(PACKAGED_PROGRAM) && !unit.contains(DOCUMENTATION));
            assert!(rest(&unit).len() > 20);
        }
    }

    #[test]
    fn words_are_quoted_for_systemd() {
        for (word, expected) in [
            ("/usr/bin/gatehouse", "/usr/bin/gatehouse"),
            ("[::1]:8420", "[::1]:8420"),
            ("/home/a b", r#""/home/a b""#),
            (r#"/a"b\c"#, r#""/a\"b\\c""#),
            ("/100%/$HOME", r#""/100%%/$$HOME""#),
            ("", r#""""#),
            ("/ä;x", r#""/ä;x""#),
        ] {
            assert_eq!(quoted(word).unwrap(), expected);
        }
        assert!(quoted("/a\nExecStartPre=/bin/x").is_err());
    }
}
