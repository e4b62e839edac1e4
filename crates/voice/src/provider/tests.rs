//! Tests of the parent module.

use super::*;
use crate::{SttId, TtsId};
use gatehouse_config::{KeySpec, STT_PROVIDERS, TTS_PROVIDERS, describe, find_key};
use std::collections::BTreeSet;

/// `config` cannot import this crate, so it contains its own list of the providers and their settings. The lists must
/// be equal.
fn settings_have_the_same_names<Id: ProviderId>(configured: &[(&str, &str)]) {
    let abouts: Vec<&About> = Id::ALL.iter().map(|id| id.about()).collect();
    let names: Vec<_> = abouts.iter().map(|about| (about.id, about.alias)).collect();
    assert_eq!(configured, names);
    for about in abouts {
        let table = format!("voice.{}.{}.", Id::SECTION, about.id);
        let keys = describe().iter().map(|spec: &KeySpec| spec.key);
        let keys = keys.filter_map(|key| key.strip_prefix(&table));
        let keys: BTreeSet<&str> = keys.collect();
        let own = about.settings.iter().map(|setting| setting.name);
        let own: BTreeSet<&str> = own.chain(about.default_url().map(|_| "api_key")).collect();
        assert_eq!(keys, own, "{}", about.id);
        assert!(own.contains(about.needs()), "{}", about.id);
        assert_eq!(own.contains("base_url"), about.is_hosted(), "{}", about.id);
        if let Some(url) = about.default_url() {
            let spec = find_key(&format!("{table}base_url")).unwrap();
            assert_eq!(spec.example, format!("\"{url}\""), "{}", about.id);
        }
    }
}

#[test]
fn settings_and_providers_have_the_same_names() {
    settings_have_the_same_names::<TtsId>(TTS_PROVIDERS);
    settings_have_the_same_names::<SttId>(STT_PROVIDERS);
}

#[test]
fn ids_and_aliases_name_one_provider_each() {
    fn check<Id: ProviderId>() {
        let names = Id::ALL
            .iter()
            .flat_map(|id| [id.about().id, id.about().alias]);
        let names: Vec<&str> = names.collect();
        assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), names.len());
        for id in Id::ALL {
            assert!(Id::find(id.about().alias) == Some(*id));
        }
    }
    check::<TtsId>();
    check::<SttId>();
    assert_eq!(TtsId::find("Piper"), None);
    assert!(TtsId::parse("provider", "stt_cloud_1").is_err());
}
