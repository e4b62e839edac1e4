//! A push service with one browser. It refuses what RFC 8030, 8188, 8291 and 8292 let it refuse. Its cryptography is not
//! that of the gateway.

use aws_lc_rs::aead::{AES_128_GCM, Aad, LessSafeKey, Nonce, UnboundKey};
use aws_lc_rs::agreement::{self, ECDH_P256, PrivateKey, UnparsedPublicKey};
use aws_lc_rs::error::Unspecified;
use aws_lc_rs::hkdf::{HKDF_SHA256, KeyType, Salt};
use aws_lc_rs::signature::{self, ECDSA_P256_SHA256_FIXED};
use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use data_encoding::BASE64URL_NOPAD;
use gatehouse_domain::{
    AuthSessionId, Clock, DeviceId, PushSubscriptionId, Random, SystemRandom, Timestamp,
};
use gatehouse_store::{PushSubscriptionRow, StoreError};
use gatehouse_testkit::{Actor, TestServer};
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use tokio::net::TcpListener;
use tokio::sync::mpsc;

/// A status that means that the service does not answer.
pub(super) const NEVER: u16 = 0;

/// A message that the service accepted.
#[derive(Debug)]
pub(super) struct Pushed {
    pub(super) ttl: u64,
    pub(super) urgency: String,
    pub(super) topic: String,
    /// The decrypted text.
    pub(super) text: Value,
}

pub(super) struct PushService {
    origin: String,
    key: PrivateKey,
    secret: [u8; 16],
    /// The key that the browser subscribed with, and the clock of the gateway.
    gateway: Mutex<Option<(String, Arc<dyn Clock>)>>,
    /// Answers to the next requests: a status and `Retry-After`.
    pub(super) answers: Mutex<VecDeque<(u16, Option<&'static str>)>>,
    /// The statuses that were answered.
    pub(super) answered: Mutex<Vec<u16>>,
    accepted: mpsc::Sender<Pushed>,
}

struct Length(usize);

impl KeyType for Length {
    fn len(&self) -> usize {
        self.0
    }
}

fn derive(salt: &[u8], ikm: &[u8], info: &[u8], length: usize) -> Vec<u8> {
    let mut out = vec![0; length];
    let prk = Salt::new(HKDF_SHA256, salt).extract(ikm);
    let info = [info];
    let okm = prk.expand(&info, Length(length)).unwrap();
    okm.fill(&mut out).unwrap();
    out
}

fn decoded(text: &str) -> Option<Vec<u8>> {
    BASE64URL_NOPAD.decode(text.as_bytes()).ok()
}

type Refusal = (u16, String);

fn refused(status: u16, why: &str) -> Refusal {
    (status, why.to_owned())
}

impl PushService {
    pub(super) async fn start() -> (Arc<Self>, mpsc::Receiver<Pushed>) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let random: &dyn Random = &SystemRandom;
        let (accepted, pushed) = mpsc::channel(64);
        let service = Arc::new(Self {
            origin: format!("http://{}", listener.local_addr().unwrap()),
            key: PrivateKey::generate(&ECDH_P256).unwrap(),
            secret: random.bytes(),
            gateway: Mutex::default(),
            answers: Mutex::default(),
            answered: Mutex::default(),
            accepted,
        });
        let router = Router::new()
            .route("/push/{id}", post(receive))
            .with_state(Arc::clone(&service));
        #[expect(clippy::disallowed_methods, reason = "ends with the test's runtime")]
        tokio::spawn(async move { axum::serve(listener, router).await });
        (service, pushed)
    }

    /// Returns the keys for `push.subscribe`.
    pub(super) fn keys(&self) -> Value {
        let public = self.key.compute_public_key().unwrap();
        json!({
            "p256dh": BASE64URL_NOPAD.encode(public.as_ref()),
            "auth": BASE64URL_NOPAD.encode(&self.secret),
        })
    }

    /// Stores a subscription of this browser for a credential as `push.list` names it. `push.subscribe` refuses the
    /// address of a test.
    pub(super) async fn subscribe(&self, server: &TestServer, owner: &Actor, credential: &str) {
        let listed = owner.rpc("push.list", json!({})).await.unwrap();
        let services = server.app().services();
        let public = listed["public_key"].as_str().unwrap().to_owned();
        *self.gateway.lock().unwrap() = Some((public, Arc::clone(&services.clock)));
        let keys = self.keys();
        let text = |name: &str| keys[name].as_str().unwrap().to_owned();
        let (kind, id) = credential.split_once(' ').unwrap();
        let row = PushSubscriptionRow {
            id: PushSubscriptionId::generate(&*services.clock, &*services.random),
            endpoint: format!("{}/push/1", self.origin),
            p256dh: text("p256dh"),
            auth_secret: text("auth"),
            session_id: (kind == "session").then(|| AuthSessionId::from_text(id)),
            device_id: (kind == "device").then(|| DeviceId::from_text(id)),
            created_at: services.clock.now(),
        };
        let stored: Result<(), StoreError> = services
            .store
            .write(move |conn| Box::pin(async move { conn.update_push_subscription(&row).await }))
            .await;
        stored.unwrap();
    }

    fn accept(&self, headers: &HeaderMap, body: &[u8]) -> Result<Pushed, Refusal> {
        let header = |name: &str| {
            let value = headers.get(name).ok_or_else(|| refused(400, name))?;
            value.to_str().map_err(|_| refused(400, name))
        };
        let ttl = header("ttl")?.parse().map_err(|_| refused(400, "ttl"))?;
        let urgency = header("urgency")?;
        if !["very-low", "low", "normal", "high"].contains(&urgency) {
            return Err(refused(400, "urgency"));
        }
        let topic = header("topic")?;
        let is_base64url = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
        if topic.len() > 32 || !topic.chars().all(is_base64url) {
            return Err(refused(400, "topic"));
        }
        if header("content-encoding")? != "aes128gcm" {
            return Err(refused(415, "content-encoding"));
        }
        if body.len() > 4096 {
            return Err(refused(413, "body"));
        }
        self.check_token(header("authorization")?)?;
        let text = self.decrypt(body).ok_or_else(|| refused(400, "body"))?;
        Ok(Pushed {
            ttl,
            urgency: urgency.to_owned(),
            topic: topic.to_owned(),
            text: serde_json::from_slice(&text).map_err(|_| refused(400, "text"))?,
        })
    }

    /// RFC 8292, sections 2 and 3.
    fn check_token(&self, authorization: &str) -> Result<(), Refusal> {
        let wrong = |why: &str| refused(403, why);
        let gateway = self.gateway.lock().unwrap();
        let (key, clock) = gateway.as_ref().ok_or_else(|| wrong("no subscription"))?;
        let params = authorization
            .strip_prefix("vapid ")
            .ok_or_else(|| refused(401, "scheme"))?;
        let param = |name: &str| {
            let mut all = params
                .split(',')
                .filter_map(|param| param.trim().split_once('='));
            all.find(|(known, _)| *known == name)
                .map(|(_, value)| value)
        };
        let token = param("t").ok_or_else(|| refused(401, "t"))?;
        if param("k") != Some(key) {
            return Err(wrong("k is not the key of the subscription"));
        }
        let (signed, signature) = token.rsplit_once('.').ok_or_else(|| wrong("token"))?;
        let (head, claims) = signed.split_once('.').ok_or_else(|| wrong("token"))?;
        let public =
            signature::UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, decoded(key).unwrap());
        let signature = decoded(signature).ok_or_else(|| wrong("signature"))?;
        let verified = public.verify(signed.as_bytes(), &signature);
        verified.map_err(|_| wrong("signature"))?;
        let json = |part: &str| -> Option<Value> { serde_json::from_slice(&decoded(part)?).ok() };
        let head = json(head).ok_or_else(|| wrong("header"))?;
        let claims = json(claims).ok_or_else(|| wrong("claims"))?;
        let now = clock.now().as_millis().div_euclid(1000);
        let expires = claims["exp"].as_i64().unwrap_or_default();
        let subject = claims["sub"].as_str().unwrap_or_default();
        for (is_right, why) in [
            (head["alg"] == "ES256", "alg"),
            (claims["aud"] == self.origin.as_str(), "aud"),
            (now < expires && expires <= now + 24 * 3600, "exp"),
            (
                subject.starts_with("mailto:") || subject.starts_with("https:"),
                "sub",
            ),
        ] {
            if !is_right {
                return Err(wrong(why));
            }
        }
        Ok(())
    }

    /// RFC 8188, section 2, and RFC 8291, section 3.
    fn decrypt(&self, body: &[u8]) -> Option<Vec<u8>> {
        let (salt, rest) = body.split_at_checked(16)?;
        let (size, rest) = rest.split_at_checked(4)?;
        let size = u32::from_be_bytes(size.try_into().unwrap());
        let (length, rest) = rest.split_first()?;
        let (sender, record) = rest.split_at_checked(usize::from(*length))?;
        if *length != 65 || size < 18 || record.len() > usize::try_from(size).unwrap() {
            return None;
        }
        let own = self.key.compute_public_key().unwrap();
        let info = [b"WebPush: info\0", own.as_ref(), sender].concat();
        let sender = UnparsedPublicKey::new(&ECDH_P256, sender);
        let ikm = agreement::agree(&self.key, sender, Unspecified, |shared| {
            Ok(derive(&self.secret, shared, &info, 32))
        });
        let ikm = ikm.ok()?;
        let key = derive(salt, &ikm, b"Content-Encoding: aes128gcm\0", 16);
        let nonce = derive(salt, &ikm, b"Content-Encoding: nonce\0", 12);
        let key = LessSafeKey::new(UnboundKey::new(&AES_128_GCM, &key).unwrap());
        let nonce = Nonce::try_assume_unique_for_key(&nonce).unwrap();
        let mut record = record.to_vec();
        let text = key.open_in_place(nonce, Aad::empty(), &mut record).ok()?;
        let end = text.iter().rposition(|byte| *byte != 0)?;
        let (text, padding) = text.split_at(end);
        (padding.first() == Some(&2)).then(|| text.to_vec())
    }
}

async fn receive(
    State(service): State<Arc<PushService>>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let planned = service.answers.lock().unwrap().pop_front();
    let accepted = service.accept(&headers, &body);
    let (status, why) = match (planned, &accepted) {
        (_, Err((status, why))) => (*status, why.clone()),
        (Some((status, _)), Ok(_)) => (status, String::new()),
        (None, Ok(_)) => (201, String::new()),
    };
    service.answered.lock().unwrap().push(status);
    if status == NEVER {
        std::future::pending::<()>().await;
    }
    let mut response = (StatusCode::from_u16(status).unwrap(), why).into_response();
    if let Some((_, Some(wait))) = planned {
        let headers = response.headers_mut();
        headers.insert("retry-after", wait.parse().unwrap());
    }
    if status == 201 {
        drop(service.accepted.try_send(accepted.unwrap()));
    }
    response
}

/// Returns the seconds from `from` to a time in an answer.
pub(super) fn seconds_until(from: Timestamp, time: &Value) -> u64 {
    let time: Timestamp = time.as_str().unwrap().parse().unwrap();
    from.until(time).as_secs()
}
