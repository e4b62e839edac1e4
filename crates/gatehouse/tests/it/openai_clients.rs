//! `OpenAI`'s own clients, and the requests of programs written for them, against the real process.
//! `GATEHOUSE_TEST_OPENAI_CLIENTS` names the directory where `tests/openai-clients` is installed (`cargo
//! xtask test` does that).

mod chat;
mod clients;
mod programs;
mod vendor;

use crate::process::{Installation, PASSWORD, Server};
use gatehouse_audio::{Format, encode};
use reqwest::StatusCode;
use serde_json::json;
use vendor::{Vendor, sound};

/// A gateway with a password, for which every client is remote. It is sealed at first.
struct Gateway {
    installation: Installation,
    server: Server,
    vendor: Vendor,
    /// May speak and transcribe.
    key: String,
    /// May only read.
    reader: String,
}

impl Gateway {
    /// Creates a gateway that uses the vendor for speech and transcription.
    async fn new() -> Self {
        let vendor = Vendor::start().await;
        let mut installation = Installation::new();
        for who in ["TTS__OPENAI", "STT__WHISPER"] {
            installation.env(&format!("SERVICE_VOICE__{who}__BASE_URL"), &vendor.url);
            installation.env(&format!("SERVICE_VOICE__{who}__API_KEY"), vendor::KEY);
        }
        installation.env("SERVICE_MODELS__PROVIDERS__VENDOR__BASE_URL", &vendor.url);
        installation.env("SERVICE_MODELS__PROVIDERS__VENDOR__API_KEY", vendor::KEY);
        installation.env("SERVICE_MODELS__PROVIDERS__VENDOR__MODELS", "m1");
        installation.env("SERVICE_MODELS__DEFAULT", "vendor/m1");
        // The cache is off, so every request reaches the vendor.
        installation.env("SERVICE_VOICE__CACHE_MAX_BYTES", "0");
        Self::with(installation, vendor).await
    }

    async fn with(mut installation: Installation, vendor: Vendor) -> Self {
        let server = installation.start();
        server.set_up().await;
        let write = ["operator.read", "operator.write"];
        let key = installation.make_key(&server, &write).await;
        let reader = installation.make_key(&server, &["operator.read"]).await;
        server.stop();
        installation.env("SERVICE_BEHIND_PROXY", "true");
        let server = installation.start();
        Self {
            installation,
            server,
            vendor,
            key,
            reader,
        }
    }

    async fn unseal(&self) {
        let password = json!({ "password": PASSWORD });
        let login = self.server.post("/api/auth/login", password).await;
        assert_eq!(login.status, StatusCode::OK, "{}", login.body);
    }

    /// Writes a one-second recording and returns its path.
    async fn recording(&self) -> String {
        self.file("recording.wav", &wav()).await
    }

    async fn file(&self, name: &str, bytes: &[u8]) -> String {
        let path = self.installation.data_dir().with_file_name(name);
        tokio::fs::write(&path, bytes).await.unwrap();
        path.to_str().unwrap().to_owned()
    }

    /// The gateway's keys never reached the vendor, and every request carried the vendor's key.
    fn check_keys(&self) {
        for key in [&self.key, &self.reader] {
            assert!(key.starts_with("mk_"), "{key}");
            assert_eq!(self.vendor.requests_with(key), 0);
        }
        let all = self.vendor.requests();
        assert!(all > 0);
        assert_eq!(self.vendor.requests_with(vendor::KEY), all);
    }
}

fn wav() -> Vec<u8> {
    encode(&sound(24_000), Format::Wav).unwrap()
}
