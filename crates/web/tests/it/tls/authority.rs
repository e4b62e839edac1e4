//! A certificate authority that speaks ACME (RFC 8555) and refuses what the RFC lets it refuse.

use super::authority_routes::routes;
use super::jws::{AccountKey, Signed, Signer};
use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::Response;
use gatehouse_domain::Clock;
use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair, PKCS_ECDSA_P256_SHA256,
    PublicKeyData, SignatureAlgorithm,
};
use serde_json::{Value, json};
use std::collections::HashSet;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use tokio::net::TcpListener;
use tokio::sync::watch;
use x509_parser::certification_request::X509CertificationRequest;
use x509_parser::extensions::{GeneralName, ParsedExtension};
use x509_parser::prelude::FromDer;

#[derive(Clone, Debug)]
pub(super) struct Account {
    pub(super) key: AccountKey,
    pub(super) contact: Value,
}

#[derive(Clone, Debug)]
pub(super) struct Authorization {
    pub(super) name: String,
    pub(super) token: String,
    pub(super) status: &'static str,
    pub(super) error: Option<String>,
}

#[derive(Clone, Debug)]
pub(super) struct Order {
    pub(super) account: usize,
    /// Indexes of authorizations.
    pub(super) authorizations: Vec<usize>,
    pub(super) chain: Option<String>,
}

/// What happened, and what to refuse.
#[derive(Debug, Default)]
pub(super) struct Inner {
    nonces: HashSet<String>,
    issued_nonces: u64,
    pub(super) accounts: Vec<Account>,
    pub(super) authorizations: Vec<Authorization>,
    pub(super) orders: Vec<Order>,
    /// Requests that failed because of what they contained.
    pub(super) malformed: Vec<String>,
    /// Refuse this many signed requests with badNonce.
    pub(super) bad_nonces: u32,
    /// Refuse new orders for this many seconds.
    pub(super) rate_limit: Option<u64>,
    /// Refuse new orders for this name.
    pub(super) rejected_name: Option<String>,
    /// Reports every account as unknown.
    pub(super) forget_accounts: bool,
}

pub(super) struct Authority {
    pub(super) base: String,
    pub(super) state: Mutex<Inner>,
    clock: Arc<dyn Clock>,
    issuer: CertifiedIssuer<'static, KeyPair>,
    pub(super) target: watch::Sender<Option<SocketAddr>>,
}

pub(super) type Shared = State<Arc<Authority>>;

/// A problem document.
pub(super) struct Refusal {
    status: u16,
    kind: &'static str,
    detail: String,
    pub(super) retry_after: Option<u64>,
}

pub(super) fn refuse(status: u16, kind: &'static str, detail: impl Into<String>) -> Refusal {
    Refusal {
        status,
        kind,
        detail: detail.into(),
        retry_after: None,
    }
}

/// The public key of a request, for the certificate.
struct RequestedKey(Vec<u8>);

impl PublicKeyData for RequestedKey {
    fn der_bytes(&self) -> &[u8] {
        &self.0
    }

    fn algorithm(&self) -> &'static SignatureAlgorithm {
        &PKCS_ECDSA_P256_SHA256
    }
}

impl Authority {
    pub(super) async fn start(clock: Arc<dyn Clock>) -> Arc<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base = format!("http://{}", listener.local_addr().unwrap());
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let issuer = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
        let authority = Arc::new(Self {
            base,
            state: Mutex::default(),
            clock,
            issuer,
            target: watch::Sender::new(None),
        });
        let routes = routes(Arc::clone(&authority));
        #[expect(clippy::disallowed_methods, reason = "ends with the test")]
        tokio::spawn(async move { axum::serve(listener, routes).await.unwrap() });
        authority
    }

    /// Lets validations connect to this address, whatever the name is.
    pub(super) fn validate_at(&self, address: SocketAddr) {
        self.target.send_replace(Some(address));
    }

    pub(super) fn root_pem(&self) -> String {
        self.issuer.pem()
    }

    pub(super) fn orders(&self) -> usize {
        self.state.lock().unwrap().orders.len()
    }

    pub(super) fn fresh_nonce(&self) -> String {
        let mut state = self.state.lock().unwrap();
        state.issued_nonces += 1;
        let nonce = format!("nonce-{}", state.issued_nonces);
        state.nonces.insert(nonce.clone());
        nonce
    }

    /// Checks everything that section 6 requires. Returns the account and the payload.
    pub(super) fn open(
        &self,
        path: &str,
        headers: &HeaderMap,
        body: &[u8],
    ) -> Result<Opened, Refusal> {
        if headers.get("content-type") != Some(&HeaderValue::from_static("application/jose+json")) {
            return Err(refuse(415, "malformed", "wrong content type"));
        }
        if !headers.contains_key("user-agent") {
            return Err(refuse(400, "malformed", "no user agent"));
        }
        let signed = Signed::read(body).map_err(|error| refuse(400, "malformed", error))?;
        if signed.url != format!("{}{path}", self.base) {
            return Err(refuse(401, "unauthorized", "the url is another one"));
        }
        let mut state = self.state.lock().unwrap();
        if !state.nonces.remove(&signed.nonce) {
            return Err(refuse(400, "badNonce", "an unknown nonce"));
        }
        if state.bad_nonces > 0 {
            state.bad_nonces -= 1;
            return Err(refuse(400, "badNonce", "the nonce expired"));
        }
        let (account, key) = match &signed.signer {
            Signer::New(key) if path == "/account" => (None, key.clone()),
            Signer::New(_) => return Err(refuse(400, "malformed", "jwk is for new accounts")),
            Signer::Known(_) if path == "/account" => {
                return Err(refuse(400, "malformed", "kid is for known accounts"));
            }
            Signer::Known(kid) => {
                let id = kid.strip_prefix(&format!("{}/account/", self.base));
                let id: Option<usize> = id.and_then(|id| id.parse().ok());
                let known = id.filter(|_| !state.forget_accounts);
                let known = known.and_then(|id| Some((id, state.accounts.get(id)?)));
                let (id, known) =
                    known.ok_or_else(|| refuse(400, "accountDoesNotExist", "no such account"))?;
                (Some(id), known.key.clone())
            }
        };
        if !signed.is_signed_by(&key) {
            return Err(refuse(401, "unauthorized", "the signature is wrong"));
        }
        Ok(Opened {
            account,
            key,
            payload: signed.payload,
        })
    }

    pub(super) fn answer(&self, outcome: Result<Answer, Refusal>) -> Response {
        let mut response = Response::builder().header("replay-nonce", self.fresh_nonce());
        let (status, kind, body) = match outcome {
            Ok(answer) => {
                if let Some(location) = answer.location {
                    response = response.header("location", location);
                }
                (answer.status, answer.kind, answer.body)
            }
            Err(refusal) => {
                if let Some(seconds) = refusal.retry_after {
                    response = response.header("retry-after", seconds);
                }
                if !matches!(
                    refusal.kind,
                    "badNonce" | "rateLimited" | "rejectedIdentifier" | "accountDoesNotExist"
                ) {
                    let mut state = self.state.lock().unwrap();
                    state.malformed.push(refusal.detail.clone());
                }
                let problem = json!({
                    "type": format!("urn:ietf:params:acme:error:{}", refusal.kind),
                    "detail": refusal.detail,
                    "status": refusal.status,
                });
                (
                    refusal.status,
                    "application/problem+json",
                    problem.to_string(),
                )
            }
        };
        response
            .status(StatusCode::from_u16(status).unwrap())
            .header("content-type", kind)
            .body(Body::from(body))
            .unwrap()
    }

    pub(super) fn order_json(&self, id: usize) -> Value {
        let state = self.state.lock().unwrap();
        let order = &state.orders[id];
        let of_order: Vec<&Authorization> = order
            .authorizations
            .iter()
            .map(|id| &state.authorizations[*id])
            .collect();
        let all = |status| of_order.iter().all(|it| it.status == status);
        let status = if order.chain.is_some() {
            "valid"
        } else if of_order.iter().any(|it| it.status == "invalid") {
            "invalid"
        } else if all("valid") {
            "ready"
        } else {
            "pending"
        };
        let identifiers: Vec<Value> = of_order
            .iter()
            .map(|it| json!({ "type": "dns", "value": it.name }))
            .collect();
        let urls: Vec<String> = order
            .authorizations
            .iter()
            .map(|id| format!("{}/authorization/{id}", self.base))
            .collect();
        let mut body = json!({
            "status": status, "identifiers": identifiers, "authorizations": urls,
            "finalize": format!("{}/finalize/{id}", self.base),
        });
        if status == "valid" {
            body["certificate"] = json!(format!("{}/certificate/{id}", self.base));
        }
        body
    }

    pub(super) fn challenge_json(&self, id: usize, status: &str) -> Value {
        let state = self.state.lock().unwrap();
        let found = &state.authorizations[id];
        let mut body = json!({
            "type": "tls-alpn-01", "status": status, "token": found.token,
            "url": format!("{}/challenge/{id}", self.base),
        });
        if let Some(error) = &found.error {
            body["error"] = json!({
                "type": "urn:ietf:params:acme:error:connection", "detail": error, "status": 400,
            });
        }
        body
    }

    /// Issues a certificate for 90 days.
    pub(super) fn issue(&self, csr: &[u8], names: &[String]) -> Result<String, Refusal> {
        let bad = |detail: &str| refuse(400, "badCSR", detail);
        let (_, csr) = X509CertificationRequest::from_der(csr).map_err(|_| bad("not a request"))?;
        csr.verify_signature()
            .map_err(|_| bad("the signature is wrong"))?;
        let mut requested: Vec<String> = csr
            .requested_extensions()
            .into_iter()
            .flatten()
            .filter_map(|extension| match extension {
                ParsedExtension::SubjectAlternativeName(names) => Some(&names.general_names),
                _ => None,
            })
            .flatten()
            .map(|name| match name {
                GeneralName::DNSName(name) => (*name).to_owned(),
                other => format!("{other:?}"),
            })
            .collect();
        requested.sort();
        if requested != names {
            return Err(bad("the names are not those of the order"));
        }
        let mut params = CertificateParams::new(requested).unwrap();
        let day = |days: i64| {
            let at = jiff::Timestamp::from_millisecond(self.clock.now().as_millis()).unwrap();
            let at = at + jiff::SignedDuration::from_hours(24 * days);
            let at = at.to_zoned(jiff::tz::TimeZone::UTC);
            let number = |number: i8| u8::try_from(number).unwrap();
            rcgen::date_time_ymd(i32::from(at.year()), number(at.month()), number(at.day()))
        };
        (params.not_before, params.not_after) = (day(0), day(90));
        let key = csr
            .certification_request_info
            .subject_pki
            .subject_public_key;
        let key = RequestedKey(key.data.into_owned());
        let made = params.signed_by(&key, &self.issuer).unwrap();
        Ok(format!("{}{}", made.pem(), self.issuer.pem()))
    }
}

/// A verified request.
pub(super) struct Opened {
    pub(super) account: Option<usize>,
    pub(super) key: AccountKey,
    payload: Vec<u8>,
}

impl Opened {
    pub(super) fn json(&self) -> Result<Value, Refusal> {
        serde_json::from_slice(&self.payload)
            .map_err(|error| refuse(400, "malformed", error.to_string()))
    }

    pub(super) fn is_get(&self) -> Result<(), Refusal> {
        if self.payload.is_empty() {
            Ok(())
        } else {
            Err(refuse(400, "malformed", "POST-as-GET has no payload"))
        }
    }
}

pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) location: Option<String>,
    pub(super) kind: &'static str,
    pub(super) body: String,
}

pub(super) fn json_answer(status: u16, body: &Value) -> Answer {
    Answer {
        status,
        location: None,
        kind: "application/json",
        body: body.to_string(),
    }
}
