//! `webhooks check-profile`: checks the file of a profile, and how it verifies and reads a delivery. Needs no server.

use crate::cli::output::{Output, line, plain};
use crate::cli::{prompt, usage};
use anyhow::{Context, Error, Result, ensure};
use gatehouse::profiles::read_file;
use gatehouse_domain::{Clock as _, SystemClock, Timestamp};
use gatehouse_sources::AuthMode;
use gatehouse_sources::event::{is_handshake, read, signed_key, without};
use gatehouse_sources::payload::Payload;
use gatehouse_sources::profile::{Profile, is_taken};
use gatehouse_sources::summary::sentence;
use gatehouse_sources::verify::{
    Proof, TOLERANCE_SECONDS, VerifyError, VerifyInput, check_secret, proof_headers, prove,
};
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use secrecy::{ExposeSecret as _, SecretString};
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// The value of `--secret` that stands for the terminal or standard input.
const TYPED: &str = "-";

/// `webhooks check-profile` flags.
#[derive(Debug, clap::Args)]
pub struct Flags {
    /// The file of the profile
    file: PathBuf,
    /// A file with the body of a delivery, byte for byte
    #[arg(long, value_name = "FILE")]
    sample: Option<PathBuf>,
    /// A header of that delivery. Can be repeated
    #[arg(long = "header", value_name = "NAME: VALUE", requires = "sample")]
    headers: Vec<String>,
    /// The webhook's secret. Without a value or with `-`, it is prompted for or read from standard input; as an
    /// argument, other users of this machine may see it in the process list. Without --secret, the delivery is read
    /// but not verified
    #[arg(
        long,
        value_name = "SECRET",
        num_args = 0..=1,
        default_missing_value = TYPED,
        requires = "sample"
    )]
    secret: Option<SecretString>,
    /// The URL that the sender called, if the sender signs it
    #[arg(long, value_name = "URL", requires = "sample")]
    sent_to: Option<String>,
    /// When the delivery arrived, in RFC 3339; now when omitted
    #[arg(long, value_name = "TIME", requires = "sample")]
    at: Option<String>,
}

#[derive(Serialize)]
struct Report {
    id: &'static str,
    name: &'static str,
    auth_mode: AuthMode,
    #[serde(skip_serializing_if = "Option::is_none")]
    delivery: Option<Delivery>,
}

/// How the server would verify and read the delivery.
#[derive(Serialize)]
#[expect(
    clippy::struct_field_names,
    reason = "`delivery_key` is the name of the field everywhere"
)]
struct Delivery {
    /// Whether the delivery was verified. `None` without a secret.
    verified: Option<bool>,
    /// Why the delivery is not verified, or why its body cannot be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    refused: Option<String>,
    /// Whether the request only verifies the URL. Such a request has no event.
    is_handshake: bool,
    event_type: Option<String>,
    delivery_key: Option<String>,
    entity_key: Option<String>,
    summary: Option<String>,
}

/// Fails if the file has a mistake. With a delivery, the exit code is 1 if it would be refused.
pub async fn run(out: &Output, flags: &Flags) -> Result<ExitCode> {
    let profile = load(&flags.file).await?;
    let delivery = match &flags.sample {
        None => None,
        Some(path) => {
            let body = tokio::fs::read(path).await;
            let body = body.with_context(|| format!("{} cannot be read", path.display()))?;
            Some(examine(profile, flags, secret(flags)?.as_ref(), &body)?)
        }
    };
    let report = Report {
        id: profile.id,
        name: profile.name,
        auth_mode: profile.default_auth_mode,
        delivery,
    };
    let refused = report.delivery.as_ref().and_then(|it| it.refused.as_ref());
    out.record(&report, || show(&report))?;
    Ok(ExitCode::from(u8::from(refused.is_some())))
}

async fn load(path: &Path) -> Result<&'static Profile> {
    let (name, path) = (path.display().to_string(), path.to_path_buf());
    let shown = name.clone();
    let file = tokio::task::spawn_blocking(move || read_file(&path, &name)).await?;
    let file = file.map_err(Error::msg)?;
    let profile = file.profile();
    ensure!(
        !is_taken(file, &[]),
        "{shown}: the profile `{profile}` already exists"
    );
    Ok(profile)
}

fn secret(flags: &Flags) -> Result<Option<SecretString>> {
    match &flags.secret {
        Some(given) if given.expose_secret() == TYPED => prompt::value("Secret").map(Some),
        given => Ok(given.clone()),
    }
}

fn examine(
    profile: &'static Profile,
    flags: &Flags,
    secret: Option<&SecretString>,
    body: &[u8],
) -> Result<Delivery> {
    let mode = profile.default_auth_mode;
    let headers = headers(&flags.headers)?;
    let secret = secret.map(SecretString::expose_secret);
    if let Some(secret) = secret {
        let checked = check_secret(mode, secret);
        checked.map_err(|error| usage::wrong(format!("--secret: {error}")))?;
    }
    let secrets: Vec<&str> = secret.into_iter().collect();
    let proof = prove(&VerifyInput {
        mode,
        header: None,
        secrets: &secrets,
        headers: &headers,
        body,
        url: flags.sent_to.as_deref().unwrap_or_default(),
        now_ms: arrival_ms(flags.at.as_deref())?,
        tracker_tolerance_seconds: TOLERANCE_SECONDS,
    });
    let mut delivery = Delivery {
        verified: secret.map(|_| proof.is_ok()),
        refused: proof
            .as_ref()
            .err()
            .filter(|_| secret.is_some())
            .map(|error| why(*error)),
        is_handshake: false,
        event_type: None,
        delivery_key: None,
        entity_key: None,
        summary: None,
    };
    let payload = match Payload::read(profile.body, body) {
        Ok(payload) => payload,
        Err(error) => {
            delivery.refused.get_or_insert_with(|| error.to_string());
            return Ok(delivery);
        }
    };
    delivery.is_handshake = is_handshake(profile, &headers, &payload);
    if delivery.is_handshake {
        return Ok(delivery);
    }
    let without_proof = without(&headers, &proof_headers(mode, None));
    let event = read(profile, None, &without_proof, &payload, body);
    let signed = proof.as_ref().ok().and_then(Proof::id).and_then(signed_key);
    delivery.summary = sentence(profile, event.event_type.as_deref(), &payload);
    delivery.event_type = event.event_type;
    delivery.delivery_key = signed.or(event.delivery_key);
    delivery.entity_key = event.entity_key;
    Ok(delivery)
}

fn why(error: VerifyError) -> String {
    match error {
        VerifyError::Stale | VerifyError::FromFuture => {
            format!("The signature is valid, but: {error}. --at states when the delivery arrived.")
        }
        error => format!("The delivery is not verified: {error}."),
    }
}

fn arrival_ms(at: Option<&str>) -> Result<i64> {
    let Some(text) = at else {
        return Ok(SystemClock::new().now().as_millis());
    };
    match text.parse::<Timestamp>() {
        Ok(time) => Ok(time.as_millis()),
        Err(_) => Err(usage::wrong(format!(
            "--at {text}: expected a time in RFC 3339"
        ))),
    }
}

fn headers(given: &[String]) -> Result<HeaderMap> {
    let mut headers = HeaderMap::with_capacity(given.len());
    for header in given {
        let parsed = header.split_once(':').and_then(|(name, value)| {
            let name: HeaderName = name.trim().parse().ok()?;
            Some((name, HeaderValue::from_str(value.trim()).ok()?))
        });
        // The error does not contain the value, because it may be a secret.
        let Some((name, value)) = parsed else {
            return Err(usage::wrong("--header: expected NAME: VALUE"));
        };
        headers.append(name, value);
    }
    Ok(headers)
}

fn show(report: &Report) {
    line(format!(
        "The profile {} is valid. Its mode is {}.",
        report.id, report.auth_mode
    ));
    let Some(delivery) = &report.delivery else {
        return;
    };
    line(match (delivery.verified, &delivery.refused) {
        (_, Some(refused)) => refused.as_str(),
        (None, None) => "The delivery is not verified, because there is no --secret.",
        (Some(_), None) => "The delivery is verified.",
    });
    if delivery.is_handshake {
        return line("The request only verifies the URL.");
    }
    for (name, value) in [
        ("event type", &delivery.event_type),
        ("ID", &delivery.delivery_key),
        ("entity", &delivery.entity_key),
        ("summary", &delivery.summary),
    ] {
        line(format!(
            "{name}: {}",
            plain(value.as_deref().unwrap_or("none"))
        ));
    }
}
