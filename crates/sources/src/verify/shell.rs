//! Shell commands that sign a delivery like a sender, for tests from a terminal. The commands need `openssl`.

use super::scheme::{Algorithm, Encoding, Key, Method, Part, Scheme, Time, TimeFormat};
use crate::auth_mode::AuthMode;

/// Commands that sign a delivery in a POSIX shell. The caller sets `$SECRET`, `$BODY` and `$URL`. For a form, the
/// caller also sets `$FIELDS`: the names and values, sorted by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ShellRecipe {
    /// Commands that set the variables in `headers`.
    pub lines: Vec<String>,
    /// The headers, for use within double quotes. `{header}` is the header that the webhook configures.
    pub headers: Vec<String>,
    /// The member of the body with the time in milliseconds. The member is optional.
    pub body_time: Option<&'static str>,
}

/// Returns the commands for a mode.
pub fn shell(mode: AuthMode) -> ShellRecipe {
    let vendor = mode.alias().and_then(|alias| alias.split('_').next());
    match mode.method() {
        Method::Open => ShellRecipe::default(),
        Method::OwnHeader => header_only("{header}: $SECRET".to_owned()),
        Method::Token(names) => header_only(format!("{}: $SECRET", vendor_header(names, vendor))),
        Method::Bearer => header_only("Authorization: Bearer $SECRET".to_owned()),
        Method::Signature(scheme) => signature(scheme, vendor),
    }
}

fn header_only(header: String) -> ShellRecipe {
    ShellRecipe {
        headers: vec![header],
        ..ShellRecipe::default()
    }
}

fn signature(scheme: &Scheme, vendor: Option<&str>) -> ShellRecipe {
    let mut recipe = ShellRecipe::default();
    if scheme.algorithm == Algorithm::Ed25519 {
        let why = "# Only the sender can sign: without its private key, this delivery is refused.";
        recipe.lines.push(why.to_owned());
        return recipe;
    }
    if !scheme.id_headers.is_empty() {
        recipe
            .lines
            .push("ID=msg_$(openssl rand -hex 8)".to_owned());
        let name = vendor_header(scheme.id_headers, vendor);
        recipe.headers.push(format!("{name}: $ID"));
    }
    if matches!(scheme.time, Time::Item(_) | Time::Headers(_)) {
        let time = match scheme.time_format {
            TimeFormat::Seconds => "TIME=$(date +%s)",
            TimeFormat::Milliseconds => "TIME=$(date +%s)000",
            TimeFormat::Rfc3339 => "TIME=$(date -u +%Y-%m-%dT%H:%M:%SZ)",
        };
        recipe.lines.push(time.to_owned());
    }
    let key = match scheme.key {
        Key::Text => "-hmac \"$SECRET\"",
        Key::Hex => "-mac HMAC -macopt \"hexkey:$SECRET\"",
        Key::Whsec => {
            let key = "KEY=$(printf '%s' \"${SECRET#whsec_}\" | openssl base64 -d -A | od -An -v -tx1 | tr -d ' \\n')";
            recipe.lines.push(key.to_owned());
            "-mac HMAC -macopt \"hexkey:$KEY\""
        }
    };
    let algorithm = match scheme.algorithm {
        Algorithm::Sha256 | Algorithm::Ed25519 => "sha256",
        Algorithm::Sha1 => "sha1",
        Algorithm::Sha512 => "sha512",
    };
    let encode = match scheme.encoding {
        Encoding::Hex => " | sed 's/^.* //'",
        Encoding::Base64 => " -binary | openssl base64 -A",
    };
    let signed = scheme.signed.iter().map(|part| match part {
        Part::Text(text) => *text,
        Part::Id => "$ID",
        Part::Timestamp => "$TIME",
        Part::Body => "$BODY",
        Part::Url => "$URL",
        Part::UrlAndForm => "$URL$FIELDS",
    });
    let signed: String = signed.collect();
    recipe.lines.push(format!(
        "SIGNATURE=$(printf '%s' \"{signed}\" | openssl dgst -{algorithm} {key}{encode})"
    ));
    let mut value = format!("{}$SIGNATURE", scheme.sends);
    match scheme.time {
        Time::Item(prefix) => {
            let separator = scheme.separator.unwrap_or(',');
            value = format!("{prefix}$TIME{separator}{value}");
        }
        Time::Headers(names) => recipe
            .headers
            .push(format!("{}: $TIME", vendor_header(names, vendor))),
        Time::Body(member) => recipe.body_time = Some(member),
        Time::Unsigned => {}
    }
    let name = vendor_header(scheme.headers, vendor);
    recipe.headers.push(format!("{name}: {value}"));
    recipe
}

/// Returns the header with the vendor's own name if there is one, otherwise the first one, in the usual capitals.
pub(crate) fn vendor_header(names: &[&str], vendor: Option<&str>) -> String {
    let own = names
        .iter()
        .find(|name| vendor.is_some_and(|vendor| name.contains(vendor)));
    let name = own.or(names.first()).copied().unwrap_or_default();
    let mut after_dash = true;
    let capitals = name.chars().map(|letter| {
        let starts_word = std::mem::replace(&mut after_dash, letter == '-');
        if starts_word {
            letter.to_ascii_uppercase()
        } else {
            letter
        }
    });
    capitals.collect()
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use gatehouse_domain::{Clock as _, SystemClock};
    use http::{HeaderMap, HeaderName, HeaderValue};

    use super::*;
    use crate::verify::{VerifyInput, prove};

    const URL: &str = "https://gatehouse.example/api/webhooks/ingest/wh_1?a=b";
    const SECRET: &str = "whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=";

    /// Returns the headers that a shell expands from the recipe.
    fn run(recipe: &ShellRecipe, body: &str, fields: &str) -> HeaderMap {
        let print = |header| format!("printf '%s\\n' \"{header}\"");
        let lines = recipe.lines.iter().cloned();
        let lines: Vec<String> = lines.chain(recipe.headers.iter().map(print)).collect();
        let script = lines.join("\n");
        let output = Command::new("sh")
            .args(["-c", &script])
            .envs([
                ("SECRET", SECRET),
                ("URL", URL),
                ("BODY", body),
                ("FIELDS", fields),
            ])
            .output()
            .unwrap();
        assert!(output.status.success(), "{output:?}");
        let text = String::from_utf8(output.stdout).unwrap();
        text.lines()
            .map(|line| {
                let (name, value) = line.split_once(": ").unwrap();
                let name: HeaderName = name.parse().unwrap();
                (name, HeaderValue::from_str(value).unwrap())
            })
            .collect()
    }

    #[test]
    fn what_a_shell_signs_verifies_in_every_mode() {
        let now_ms = SystemClock::new().now().as_millis();
        for mode in AuthMode::all() {
            let mut recipe = shell(*mode);
            for header in &mut recipe.headers {
                *header = header.replace("{header}", "X-Mine");
            }
            let signs_form = recipe.lines.iter().any(|line| line.contains("$FIELDS"));
            let (body, fields) = if signs_form {
                ("Body=a+b&From=%2B1415", "Bodya bFrom+1415")
            } else {
                (r#"{"text": "it's a \"test\" of $HOME and é"}"#, "")
            };
            let headers = run(&recipe, body, fields);
            if !mode.can_sign() {
                assert!(headers.is_empty(), "{mode}");
                continue;
            }
            assert_eq!(headers.is_empty(), !mode.needs_secret(), "{mode}");
            let verified = prove(&VerifyInput {
                mode: *mode,
                header: Some("x-mine"),
                secrets: &[SECRET],
                headers: &headers,
                body: body.as_bytes(),
                url: URL,
                now_ms,
                tracker_tolerance_seconds: 300,
            });
            assert_eq!(verified.map(drop), Ok(()), "{mode}: {recipe:?}");
        }
    }

    #[test]
    fn headers_have_the_vendors_own_names() {
        let headers = |mode: &str| shell(mode.parse().unwrap()).headers;
        assert_eq!(
            headers("stripe_webhook_signature"),
            ["Stripe-Signature: t=$TIME,v1=$SIGNATURE"]
        );
        assert_eq!(headers("gitlab_token"), ["X-Gitlab-Token: $SECRET"]);
        assert_eq!(
            headers("standard_webhooks"),
            [
                "Webhook-Id: $ID",
                "Webhook-Timestamp: $TIME",
                "Webhook-Signature: v1,$SIGNATURE"
            ]
        );
    }
}
