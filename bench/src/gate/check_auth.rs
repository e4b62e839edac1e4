//! Measures `check_auth()` in this process, through the public handle of the auth crate. The database is closed
//! when everything is cached. A call that reads the database would fail, and any failure fails the measurement.

use super::Site;
use crate::figures::{median, micros, percentile};
use crate::prepare::{Credential, location, secret};
use crate::table::{Goal, Report};
use anyhow::{Context, Result, bail};
use gatehouse_auth::client_address::Client;
use gatehouse_auth::cookie::SessionCookies;
use gatehouse_auth::locality::Locality;
use gatehouse_auth::throttle::class_of;
use gatehouse_auth::{Auth, AuthSettings, CheckInput, Decision, RequestFacts};
use gatehouse_domain::{Clock, Random, SystemClock, SystemRandom};
use gatehouse_secrets::{KdfQueue, Secrets, SecretsSettings};
use gatehouse_store::Store;
use http::{HeaderMap, HeaderValue, Method, Uri, header};
use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// Builds the input of a decision from a client and a credential.
type Input = for<'a> fn(&'a Client, &'a Sent) -> CheckInput<'a>;

/// A credential in both forms in which a request can contain it.
struct Sent {
    secret: String,
    headers: HeaderMap,
}

impl Sent {
    fn new(secret: &str) -> Result<Self> {
        let mut headers = HeaderMap::new();
        let cookie = format!("service_session={secret}");
        headers.insert(header::COOKIE, cookie.parse()?);
        Ok(Self {
            secret: secret.to_owned(),
            headers,
        })
    }
}

const SAMPLES: u32 = 200_000;
const LOCALHOST: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

async fn open(site: &Site) -> Result<(Store, Auth)> {
    let (clock, random): (Arc<dyn Clock>, Arc<dyn Random>) =
        (Arc::new(SystemClock::new()), Arc::new(SystemRandom));
    let store = Store::open(&location(&site.data_dir)).await?;
    let kdf = KdfQueue::new(2);
    let settings = SecretsSettings {
        vault_enabled: true,
        vault_enabled_fixed: false,
        plaintext_while_sealed: true,
        keep_plaintext_provider_keys: true,
        data_dir: site.data_dir.clone(),
    };
    let secrets = Secrets::open(
        store.clone(),
        kdf.clone(),
        clock.clone(),
        random.clone(),
        settings,
    )
    .await?;
    let settings = AuthSettings::default();
    let auth = Auth::open(store.clone(), secrets, kdf, clock, random, settings).await?;
    Ok((store, auth))
}

/// Loads every credential into memory and closes the database.
async fn load(site: &Site) -> Result<(Store, Auth)> {
    let (store, auth) = open(site).await?;
    let (shutdown, tasks) = (CancellationToken::new(), TaskTracker::new());
    auth.background(shutdown.clone(), &tasks);
    tokio::time::sleep(Duration::from_secs(1)).await;
    let client = Client::at(LOCALHOST);
    for session in &site.credentials.sessions {
        allowed(
            &auth
                .check_auth(&by_cookie(&client, &Sent::new(&session.secret)?))
                .await?,
        )?;
    }
    for key in &site.credentials.keys {
        let sent = Sent::new(&key.secret)?;
        allowed(&auth.check_auth(&by_key(&client, &sent)).await?)?;
    }
    shutdown.cancel();
    tasks.close();
    tasks.wait().await;
    store.close().await;
    Ok((store, auth))
}

fn allowed(decision: &Decision) -> Result<()> {
    match decision {
        Decision::Allowed(_) => Ok(()),
        Decision::SetupRequired | Decision::Unauthorized => bail!("a credential is not admitted"),
    }
}

fn by_cookie<'a>(client: &'a Client, sent: &'a Sent) -> CheckInput<'a> {
    CheckInput {
        sessions: SessionCookies::of(&sent.headers),
        ..blank(client)
    }
}

fn by_key<'a>(client: &'a Client, sent: &'a Sent) -> CheckInput<'a> {
    CheckInput {
        api_key: Some(&sent.secret),
        ..blank(client)
    }
}

fn blank(client: &Client) -> CheckInput<'_> {
    CheckInput {
        locality: Locality::Local,
        client,
        class: class_of(&Method::GET, "/api/sessions", false),
        sessions: SessionCookies::none(),
        api_key: None,
        device_token: None,
    }
}

/// A generator that is used only for the order of the credentials.
struct Order(u64);

impl Order {
    fn pick<'a, T>(&mut self, among: &'a [T]) -> Result<&'a T> {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        let place = usize::try_from(self.0 >> 33)?
            .checked_rem(among.len())
            .unwrap_or_default();
        among.get(place).context("nothing to pick from")
    }
}

fn report_times(what: &str, aims: (Goal, Goal), times: &mut [Duration], report: &mut Report) {
    let middle = micros(median(times));
    report.value(format!("{what}: median"), aims.0, middle, (2, "µs"));
    let late = micros(percentile(times, 0.99));
    report.value(format!("{what}: 99th percentile"), aims.1, late, (2, "µs"));
}

/// Measures both kinds of credentials, alone and as part of processing a whole request.
pub async fn measure(site: &Site, report: &mut Report) -> Result<()> {
    let (store, auth) = load(site).await?;
    let client = Client::at(LOCALHOST);
    let aims = (Goal::AtMost(2.0), Goal::AtMost(20.0));
    let mut order = Order(1);
    let kinds: [(&str, &[Credential], Input); 2] = [
        ("session of 10,000", &site.credentials.sessions, by_cookie),
        ("key of 1,000", &site.credentials.keys, by_key),
    ];
    for (name, credentials, input) in kinds {
        let sent: Vec<_> = credentials
            .iter()
            .map(|one| Sent::new(&one.secret))
            .collect::<Result<_>>()?;
        let mut times = Vec::new();
        for _ in 0..SAMPLES {
            let input = input(&client, order.pick(&sent)?);
            let begun = Instant::now();
            let decision = auth.check_auth(&input).await?;
            times.push(begun.elapsed());
            allowed(&decision)?;
        }
        report_times(&format!("check_auth, {name}"), aims, &mut times, report);
    }
    whole_requests(site, &auth, report).await?;
    let mut failed = 0;
    for _ in 0..1000 {
        let unknown = Sent::new(&secret(""))?;
        if !matches!(
            auth.check_auth(&by_cookie(&client, &unknown)).await,
            Ok(Decision::Unauthorized)
        ) {
            failed += 1;
        }
    }
    let is_closed = store.ping().await.is_err();
    let so = is_closed && failed == 0;
    let measured = if so {
        "none, nor for an unknown one"
    } else {
        "an unknown one reads"
    };
    report.fact(
        "check_auth: database reads (the database is closed meanwhile)",
        "none",
        so,
        measured,
    );
    Ok(())
}

/// Measures all steps of the gate for a request: host, client, locality, cookies and decision.
async fn whole_requests(site: &Site, auth: &Auth, report: &mut Report) -> Result<()> {
    let mut requests = Vec::new();
    for session in &site.credentials.sessions {
        let mut headers = HeaderMap::new();
        headers.insert(header::HOST, HeaderValue::from_static("127.0.0.1:8420"));
        let cookie = format!("theme=dark; service_session={}", session.secret);
        headers.insert(header::COOKIE, cookie.parse()?);
        requests.push(headers);
    }
    let uri = Uri::from_static("/api/sessions");
    let (mut order, mut times) = (Order(2), Vec::new());
    for _ in 0..SAMPLES {
        let headers = order.pick(&requests)?;
        let begun = Instant::now();
        let facts = RequestFacts {
            method: &Method::GET,
            uri: &uri,
            headers,
            peer: LOCALHOST,
            over_tls: false,
        };
        let context = auth.recognise(&facts).await.context("not recognised")?;
        times.push(begun.elapsed());
        allowed(&context.decision)?;
    }
    report_times(
        "recognising a request by cookie",
        (Goal::Reported, Goal::Reported),
        &mut times,
        report,
    );
    Ok(())
}
