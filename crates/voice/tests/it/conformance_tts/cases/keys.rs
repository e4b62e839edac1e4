//! Cases about keys, which are sent only in their header and never appear in errors.

use crate::conformance_tts::bench::{Bench, TEXT};
use gatehouse_domain::ErrorCode;
use gatehouse_voice::{SpeechRequest, TtsId};
use secrecy::SecretString;

pub async fn the_key_is_in_its_header_only(bench: Bench) {
    bench.heard(SpeechRequest::new(TEXT)).await;
    let seen = bench.server().requests().pop().unwrap();
    for (name, value) in &seen.headers {
        let has_it = String::from_utf8_lossy(value.as_bytes()).contains(bench.key());
        assert_eq!(has_it, name == bench.key_header(), "{name}");
    }
    let query = format!("{:?}", seen.query);
    let body = String::from_utf8_lossy(&seen.body);
    for place in [seen.path.as_str(), &query, &body] {
        assert!(!place.contains(bench.key()), "{place}");
    }
}

pub async fn a_wrong_key_is_reported_without_its_value(mut bench: Bench) {
    const WRONG: &str = "sk-wrong-31415";
    bench.provider().api_key = Some(SecretString::from(WRONG));
    let error = bench.say(SpeechRequest::new(TEXT)).await.unwrap_err();
    assert!(!format!("{error:?}").contains(WRONG));
    let problem = bench.problem_of(error);
    assert_eq!(problem.code, ErrorCode::ProviderFailed);
    // Google reports an unknown key as a bad request.
    let status = if bench.id == TtsId::Google { 400 } else { 401 };
    assert_eq!(problem.details["status"], status);
    assert_eq!(problem.details["retryable"], false);
    assert!(!problem.message.contains(WRONG));
}

pub async fn without_a_key_nobody_is_called(mut bench: Bench) {
    bench.provider().api_key = None;
    bench.settings.tts.provider = Some(bench.id);
    let problem = bench.problem_of(bench.say(SpeechRequest::new(TEXT)).await.unwrap_err());
    assert_eq!(problem.code, ErrorCode::NotConfigured);
    let what = format!("voice.tts.{}.api_key", bench.id);
    assert_eq!(problem.details["what"], what);
    assert!(bench.is_untouched());
}

pub async fn a_key_that_no_header_may_contain_is_reported_without_its_value(mut bench: Bench) {
    const BROKEN: &str = "sk-broken\r\nx-evil: 1";
    bench.provider().api_key = Some(SecretString::from(BROKEN));
    let error = bench.say(SpeechRequest::new(TEXT)).await.unwrap_err();
    assert!(!format!("{error} {error:?}").contains("sk-broken"));
    let problem = bench.problem_of(error);
    assert_eq!(problem.code, ErrorCode::NotConfigured);
    assert!(!problem.message.contains("sk-broken"));
    assert!(bench.is_untouched());
}

pub async fn a_key_of_the_vault_arrives(mut bench: Bench) {
    bench.provider().api_key = None;
    let base_url = bench.provider().base_url.clone().unwrap();
    bench
        .harness
        .store_key(bench.id.as_str(), bench.key(), base_url.as_str())
        .await;
    bench.heard(SpeechRequest::new(TEXT)).await;
}
