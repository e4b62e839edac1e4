//! Cases about keys, which are sent only in their header and never appear in errors.

use crate::conformance_stt::bench::Bench;
use crate::stt_cloud::speech;
use crate::vendor::listener::KEY;
use gatehouse_domain::ErrorCode;
use gatehouse_voice::SttId;
use secrecy::SecretString;

pub async fn the_key_is_in_its_header_only(id: SttId) {
    let bench = Bench::new(id).await;
    bench.heard(speech()).await;
    let header = match id {
        SttId::Google => "x-goog-api-key",
        _ => "authorization",
    };
    for seen in bench.listener().server.requests() {
        for (name, value) in &seen.headers {
            let has_it = String::from_utf8_lossy(value.as_bytes()).contains(KEY);
            assert_eq!(has_it, name == header, "{name}");
        }
        let query = format!("{:?}", seen.query);
        let body = String::from_utf8_lossy(&seen.body);
        for place in [seen.path.as_str(), &query, &body] {
            assert!(!place.contains(KEY), "{place}");
        }
    }
}

pub async fn a_wrong_key_is_reported_without_its_value(id: SttId) {
    const WRONG: &str = "sk-wrong-31415";
    let bench = Bench::with(id, |settings| settings.api_key = Some(WRONG.into())).await;
    let error = bench.hear(speech()).await.unwrap_err();
    assert!(!format!("{error} {error:?}").contains(WRONG));
    let problem = crate::harness::problem(error);
    assert_eq!(problem.code, ErrorCode::ProviderFailed);
    // Google reports an unknown key as a bad request.
    let status = if id == SttId::Google { 400 } else { 401 };
    assert_eq!(problem.details["status"], status);
    assert_eq!(problem.details["retryable"], false);
    assert!(!format!("{problem:?}").contains(WRONG));
}

pub async fn without_a_key_nobody_is_called(id: SttId) {
    let bench = Bench::open(id, |settings| {
        settings.stt.provider = Some(id);
        settings.stt.providers.get_mut(&id).unwrap().api_key = None;
    })
    .await;
    let problem = bench.refused(speech()).await;
    assert_eq!(problem.code, ErrorCode::NotConfigured);
    assert_eq!(problem.details["what"], format!("voice.stt.{id}.api_key"));
    assert!(bench.calls() == 0);
}

pub async fn a_key_that_no_header_may_contain_is_reported_without_its_value(id: SttId) {
    const BROKEN: &str = "sk-broken\r\nx-evil: 1";
    let key = SecretString::from(BROKEN);
    let bench = Bench::with(id, |settings| settings.api_key = Some(key)).await;
    let problem = bench.refused(speech()).await;
    assert_eq!(problem.code, ErrorCode::NotConfigured);
    assert!(!format!("{problem:?}").contains("sk-broken"));
    assert!(bench.calls() == 0);
}

pub async fn a_key_of_the_vault_arrives(id: SttId) {
    let mut base_url = None;
    let bench = Bench::with(id, |settings| {
        settings.api_key = None;
        base_url.clone_from(&settings.base_url);
    })
    .await;
    let base_url = base_url.unwrap();
    bench
        .harness
        .store_key(id.as_str(), KEY, base_url.as_str())
        .await;
    bench.heard(speech()).await;
}
