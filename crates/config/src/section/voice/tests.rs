//! Keys, names and values of the voice settings.

use super::*;
use crate::tests::{Start, map, shown};
use crate::{
    Change, Kind, Rule, canonical_key, describe, env_name, find_key, key_is_secret,
    key_needs_admin, key_needs_step_up, value,
};
use rstest::rstest;
use secrecy::ExposeSecret;
use serde_json::{Value, json};
use std::path::Path;

fn voice(toml: &str) -> Voice {
    Start::with_toml(toml).resolve(&[]).settings.voice
}

#[test]
fn the_defaults_are_the_contract_s() {
    let voice = voice("");
    assert_eq!(voice.local_concurrency, 2);
    assert_eq!(voice.keep_warm_minutes, 10);
    assert_eq!(voice.cache_max_bytes, 256 << 20);
    assert_eq!(voice.audio_max_bytes, 1 << 30);
    let (tts, stt) = (&voice.tts, &voice.stt);
    assert!(tts.enabled && stt.enabled);
    assert_eq!((tts.provider, stt.provider), (None, None));
    assert_eq!((voice.auto, voice.max_text_length), (AutoSpeak::Off, 4096));
    assert!(tts.shown.is_empty() && tts.fallback.is_empty());
    assert!(voice.wyoming.bind.is_none() && voice.wyoming.allowed_cidrs.is_empty());
    assert!(stt.shown.is_empty() && stt.fallback.is_empty());
}

/// Checks the keys of each section. A test of the crate `voice` compares the keys of each provider with its
/// settings.
#[rstest]
#[case("tts", "enabled provider providers auto max_text_length fallback")]
#[case("stt", "enabled provider providers fallback")]
fn each_section_has_the_specification_s_keys(#[case] table: &str, #[case] names: &str) {
    let head = format!("voice.{table}.");
    let keys = describe()
        .iter()
        .filter_map(|spec| spec.key.strip_prefix(&head));
    let keys: Vec<&str> = keys.filter(|name| !name.contains('.')).collect();
    assert_eq!(keys, names.split(' ').collect::<Vec<_>>());
}

#[rstest]
#[case("voice.local_concurrency", "1", "64", "0", "65")]
#[case("voice.keep_warm_minutes", "0", "1440", "-1", "1441")]
#[case("voice.cache_max_bytes", "0", "1099511627776", "-1", "1099511627777")]
#[case("voice.audio_max_bytes", "0", "1099511627776", "-1", "1099511627777")]
#[case("voice.tts.max_text_length", "1", "1000000", "0", "1000001")]
#[case("voice.tts.tts_cloud_1.stability", "0", "1", "-0.001", "1.001")]
#[case(
    "voice.tts.tts_cloud_1.similarity_boost",
    "0.0",
    "1.0",
    "-0.001",
    "1.001"
)]
#[case("voice.tts.tts_cloud_2.speed", "0.25", "4", "0.249", "4.001")]
#[case("voice.tts.tts_cloud_3.speaking_rate", "0.25", "4.0", "0.249", "4.001")]
#[case(
    "voice.tts.tts_local_1.speaker_id",
    "0",
    "4294967295",
    "-1",
    "4294967296"
)]
#[case("voice.tts.tts_local_1.length_scale", "0.1", "10", "0.099", "10.001")]
fn numbers_have_bounds(
    #[case] key: &str,
    #[case] least: &str,
    #[case] most: &str,
    #[case] below: &str,
    #[case] above: &str,
) {
    let spec = find_key(key).unwrap();
    for (text, fits) in [(least, true), (most, true), (below, false), (above, false)] {
        let from_json = value::from_json(spec.kind, &serde_json::from_str(text).unwrap());
        assert_eq!(from_json.is_ok(), fits, "{text}");
        assert_eq!(value::from_text(spec.kind, text).is_ok(), fits, "{text}");
        let (table, name) = key.rsplit_once('.').unwrap();
        let start = Start::with_toml(&format!("[{table}]\n{name} = {text}\n"));
        assert_eq!(start.load().is_ok(), fits, "{text}");
    }
    for text in ["", "x", "NaN", "inf", "1,5", "0x1"] {
        assert!(value::from_text(spec.kind, text).is_err(), "{text}");
    }
    for json in [json!("1"), json!(null), json!([1]), json!(true)] {
        assert!(value::from_json(spec.kind, &json).is_err(), "{json}");
    }
}

#[test]
fn numbers_with_a_point_are_read_from_every_source() {
    let key = "voice.tts.tts_cloud_2.speed";
    let start = Start::with_toml("[voice.tts.openai]\nspeed = 1_0e-1\n");
    assert_eq!(shown(&start.resolve(&[]), key), (json!(1.0), "toml"));
    let stored = start.resolve(&[(key, json!(2))]);
    assert_eq!(shown(&stored, key), (json!(2.0), "settings"));
    assert_eq!(
        stored.settings.voice.tts.providers["tts_cloud_2"].speed,
        Some(2.0)
    );
    let start = start.var("SERVICE_VOICE__TTS__OPENAI__SPEED", "0.50");
    assert_eq!(shown(&start.resolve(&[]), key), (json!(0.5), "environment"));
    for bad in ["nan", "inf", "-inf", "1e400", "\"1\"", "true"] {
        let error = Start::with_toml(&format!("[voice.tts.openai]\nspeed = {bad}\n")).error();
        assert!(
            error.to_string().contains("from 0.25 to 4"),
            "{bad}: {error}"
        );
    }
}

#[test]
fn each_provider_is_read_whole() {
    let voice = voice(
        "[voice.tts.elevenlabs]\napi_key = \"k1\"\nbase_url = \"http://h:1\"\nvoice_id = \"v\"\n\
         model = \"m\"\nstability = 0.25\nsimilarity_boost = 1\n\
         [voice.tts.google]\nvoice = \"en\"\nlanguage_code = \"en-US\"\nspeaking_rate = 2\n\
         [voice.tts.piper]\nbinary_path = \"piper\"\nmodel_path = \"a/b.onnx\"\nconfig_path = \"/c\"\n\
         speaker_id = 0\nlength_scale = 0.5\n\
         [voice.tts.coqui]\nendpoint = \"http://h:5002/\"\nmodel = \"x\"\n\
         [voice.stt.voxtral-local]\nendpoint = \"http://h:8000\"\n\
         [voice.stt.deepgram]\nsmart_format = false\nlanguage = \"de\"\n\
         [voice.stt.whisper-cli]\nfit_audio_context = false\n\
         [voice.stt.sherpa-onnx]\nmodel_dir = \"m\"\nbinary_path = \"bin/sherpa\"\n",
    );
    let (tts, stt) = (&voice.tts.providers, &voice.stt.providers);
    let eleven = &tts["tts_cloud_1"];
    assert_eq!(eleven.api_key.as_ref().unwrap().expose_secret(), "k1");
    assert_eq!(eleven.base_url.as_ref().unwrap().as_str(), "http://h:1/v1");
    assert_eq!(
        (eleven.voice.as_deref(), eleven.model.as_deref()),
        (Some("v"), Some("m"))
    );
    assert_eq!(
        (eleven.stability, eleven.similarity_boost),
        (Some(0.25), Some(1.0))
    );
    let google = &tts["tts_cloud_3"];
    assert_eq!(
        (google.voice.as_deref(), google.speed),
        (Some("en"), Some(2.0))
    );
    assert_eq!(google.language.as_deref(), Some("en-US"));
    let piper = &tts["tts_local_1"];
    assert_eq!(piper.binary_path.as_deref(), Some(Path::new("piper")));
    let model = piper.model_path.as_deref().unwrap();
    assert!(model.is_absolute() && model.ends_with("a/b.onnx"));
    assert_eq!(piper.config_path.as_deref(), Some(Path::new("/c")));
    assert_eq!((piper.speaker_id, piper.length_scale), (Some(0), Some(0.5)));
    // The URL of a self-hosted server is kept unchanged. A version segment is appended to a base URL.
    assert_eq!(
        tts["tts_local_2"].base_url.as_ref().unwrap().as_str(),
        "http://h:5002/"
    );
    assert_eq!(
        stt["stt_local_1"].base_url.as_ref().unwrap().as_str(),
        "http://h:8000/v1"
    );
    assert_eq!(stt["stt_cloud_3"].smart_format, Some(false));
    assert_eq!(stt["stt_local_2"].fit_audio_context, Some(false));
    assert_eq!(stt["stt_local_3"].fit_audio_context, None);
    assert_eq!(stt["stt_cloud_3"].language.as_deref(), Some("de"));
    let sherpa = &stt["stt_local_3"];
    assert!(sherpa.model_path.as_deref().unwrap().is_absolute());
    assert!(
        sherpa
            .binary_path
            .as_deref()
            .unwrap()
            .ends_with("bin/sherpa")
    );
    assert!(sherpa.binary_path.as_deref().unwrap().is_absolute());
    assert!(!format!("{voice:?}").contains("k1"));
}

/// Sets every key of every provider, with the vendor's name, in every source.
#[test]
fn the_vendor_s_name_is_the_id_everywhere() {
    for (section, id, alias) in crate::alias::tables() {
        let head = format!("{section}.{id}.");
        for spec in describe().iter().filter(|spec| spec.key.starts_with(&head)) {
            let name = spec.key.strip_prefix(&head).unwrap();
            let other = format!("{section}.{alias}.{name}");
            assert_eq!(canonical_key(&other), spec.key);
            assert_eq!(find_key(&other).map(|found| found.key), Some(spec.key));
            assert_eq!(env_name(&other), env_name(spec.key));
            assert_eq!(key_needs_admin(&other), key_needs_admin(spec.key));
            let file =
                Start::with_toml(&format!("[{section}.{alias}]\n{name} = {}\n", spec.example));
            assert_eq!(
                file.resolve(&[]).origin(spec.key).as_str(),
                "toml",
                "{other}"
            );
            let variable = crate::key::variable(&other);
            let text = spec.example.trim_matches('"');
            let start = Start::empty().var(&variable, text);
            let resolved = start.resolve(&[]);
            assert_eq!(
                resolved.origin(spec.key).as_str(),
                "environment",
                "{variable}"
            );
            assert_eq!(resolved.origin(&other).as_str(), "environment");
            let layers = start.load().unwrap();
            assert!(layers.fixed_by(spec.key).is_some() && layers.fixed_by(&other).is_some());
            // The key is shown with the ID, regardless of the requested spelling.
            for asked in [other.as_str(), spec.key] {
                let values = resolved.values(Some(&[asked.to_owned()]));
                assert_eq!(values.len(), 1);
                assert_eq!(values[0].key, spec.key);
            }
            let whole = resolved.values(Some(&[format!("{section}.{alias}")]));
            assert!(whole.iter().all(|value| value.key.starts_with(&head)) && whole.len() > 1);
            if spec.change == Change::Live {
                let json = value::from_text(spec.kind, text).unwrap();
                let free = Start::empty().load().unwrap();
                assert_eq!(
                    free.check_set(&other, &json, &map(&[])),
                    Ok(json.clone()),
                    "{other}"
                );
                assert!(
                    layers.check_set(&other, &json, &map(&[])).is_err(),
                    "{other}"
                );
                assert!(crate::check_key(&other).is_ok());
            }
        }
    }
}

#[test]
fn a_variable_under_the_vendor_s_name_is_named_in_an_error() {
    let start = Start::empty().var("SERVICE_VOICE__TTS__ELEVENLABS__STABILITY", "2");
    let error = start.error().to_string();
    assert_eq!(
        error,
        "SERVICE_VOICE__TTS__ELEVENLABS__STABILITY: expected a number from 0 to 1"
    );
}

#[test]
fn both_spellings_in_one_source_are_an_error_that_names_both() {
    let toml = "[voice.stt.whisper-cli]\nmodel_path = \"a\"\n\n\
                [voice.stt.stt_local_2]\nlanguage = \"en\"\nmodel_path = \"a\"\n";
    let error = Start::with_toml(toml).error();
    assert_eq!(
        error.to_string(),
        "gatehouse.toml line 6: `voice.stt.stt_local_2.model_path` and \
         `voice.stt.whisper-cli.model_path` are the same setting; keep one of them"
    );
    // Different keys of one provider may be in two tables.
    let apart =
        "[voice.stt.whisper-cli]\nmodel_path = \"a\"\n[voice.stt.stt_local_2]\nlanguage = \"en\"\n";
    assert!(Start::with_toml(apart).load().is_ok());
    let (one, other) = (
        "SERVICE_VOICE__TTS__ELEVENLABS__API_KEY",
        "SERVICE_VOICE__TTS__TTS_CLOUD_1__API_KEY",
    );
    let error = Start::empty()
        .var(one, "hunter2")
        .var(other, "hunter2")
        .error();
    assert_eq!(
        error.to_string(),
        format!("environment: `{one}` and `{other}` are the same setting; keep one of them")
    );
    assert!(Start::empty().var(one, "x").var(other, " ").load().is_ok());
    // Precedence between two sources also applies to different spellings.
    let start = Start::with_toml("[voice.tts.elevenlabs]\nmodel = \"a\"\n")
        .var("SERVICE_VOICE__TTS__TTS_CLOUD_1__MODEL", "b");
    let resolved = start.resolve(&[]);
    assert_eq!(
        shown(&resolved, "voice.tts.elevenlabs.model"),
        (json!("b"), "environment")
    );
    assert_eq!(resolved.shadowed, ["voice.tts.tts_cloud_1.model"]);
}

#[test]
fn providers_are_named_either_way_and_stored_by_id() {
    let voice = voice(
        "[voice.tts]\nprovider = \"elevenlabs\"\nproviders = [\"piper\", \"tts_cloud_2\"]\n\
         fallback = [\"openai\", \"tts_cloud_2\", \"coqui\"]\nauto = \"tagged\"\n\
         [voice.stt]\nprovider = \"stt_local_3\"\nfallback = [\"whisper-cli\"]\n",
    );
    assert_eq!(voice.tts.provider, Some("tts_cloud_1"));
    assert_eq!(voice.tts.shown, ["tts_local_1", "tts_cloud_2"]);
    assert_eq!(voice.tts.fallback, ["tts_cloud_2", "tts_local_2"]);
    assert_eq!(voice.auto, AutoSpeak::Tagged);
    assert_eq!(voice.stt.provider, Some("stt_local_3"));
    assert_eq!(voice.stt.fallback, ["stt_local_2"]);
    let start = Start::empty().var("SERVICE_VOICE__STT__FALLBACK", "groq, sherpa-onnx");
    let stored = start.load().unwrap();
    let stored = stored.check_set("voice.tts.provider", &json!("google"), &map(&[]));
    assert_eq!(stored, Ok(json!("tts_cloud_3")));
    let resolved = start.resolve(&[("voice.tts.provider", json!("google"))]);
    assert_eq!(
        shown(&resolved, "voice.tts.provider"),
        (json!("tts_cloud_3"), "settings")
    );
    let fallback = (json!(["stt_cloud_2", "stt_local_3"]), "environment");
    assert_eq!(shown(&resolved, "voice.stt.fallback"), fallback);
}

#[rstest]
#[case("voice.tts.provider", json!("elevenlab"), "did you mean `elevenlabs`?")]
#[case("voice.tts.fallback", json!(["piper", "tts_local_3"]), "did you mean `tts_local_1`?")]
#[case("voice.stt.providers", json!(["whisper_cli"]), "did you mean `whisper-cli`?")]
#[case("voice.stt.provider", json!("Deepgram"), "did you mean `deepgram`?")]
#[case("voice.stt.provider", json!("elevenlabs"), "Expected one of stt_cloud_1 (whisper)")]
#[case("voice.tts.auto", json!("sometimes"), "expected always or off or inbound or tagged")]
fn an_unknown_provider_is_reported_with_the_nearest(
    #[case] key: &str,
    #[case] value: Value,
    #[case] expected: &str,
) {
    let layers = Start::empty().load().unwrap();
    let refused = layers.check_set(key, &value, &map(&[])).unwrap_err();
    assert!(refused.to_string().contains(expected), "{refused}");
}

#[rstest]
#[case("[voice.tts.elevenlab]\nmodel = \"x\"\n", "voice.tts.elevenlabs")]
#[case("[voice.tts.tts_cloud_9]\nmodel = \"x\"\n", "voice.tts.tts_cloud_1")]
#[case(
    "[voice.tts.elevenlabs]\nvoiceid = \"x\"\n",
    "voice.tts.elevenlabs.voice_id"
)]
#[case(
    "[voice.stt.stt_local_3]\nmodel_pth = \"x\"\n",
    "voice.stt.stt_local_2.model_path"
)]
#[case("[voice]\nlocal_concurency = 1\n", "voice.local_concurrency")]
#[case("[vocie]\nlocal_concurrency = 1\n", "voice")]
fn a_mistaken_name_is_reported_with_the_nearest(#[case] toml: &str, #[case] nearest: &str) {
    let error = Start::with_toml(toml).error();
    assert_eq!(error.suggestion.as_deref(), Some(nearest), "{error}");
}

#[test]
fn a_mistaken_variable_is_reported_with_the_nearest() {
    let error = Start::empty()
        .var("SERVICE_VOICE__TTS__ELEVENLABS__VOICEID", "x")
        .error();
    let nearest = Some("SERVICE_VOICE__TTS__ELEVENLABS__VOICE_ID");
    assert_eq!(error.suggestion.as_deref(), nearest, "{error}");
}

#[test]
fn who_may_change_what() {
    for spec in describe()
        .iter()
        .filter(|spec| spec.key.starts_with("voice."))
    {
        let name = spec.key.rsplit('.').next().unwrap();
        let outside = ["path", "dir", "url", "endpoint"]
            .iter()
            .any(|end| name.ends_with(end))
            || spec.key.starts_with("voice.wyoming.");
        let secret = name == "api_key";
        let guarded = outside || secret;
        assert_eq!(key_needs_admin(spec.key), guarded, "{}", spec.key);
        assert_eq!(key_needs_step_up(spec.key), guarded, "{}", spec.key);
        assert_eq!(key_is_secret(spec.key), secret, "{}", spec.key);
        assert_eq!(
            matches!(spec.change, Change::Never(_)),
            secret,
            "{}",
            spec.key
        );
        assert_eq!(spec.kind == Kind::Text(Rule::Secret), secret);
    }
}

#[test]
fn the_schema_knows_both_names() {
    let schema = crate::json_schema();
    let table = |section: &str, name: &str| {
        let pointer = format!("/properties/voice/properties/{section}/properties/{name}");
        schema.pointer(&pointer).cloned().unwrap_or_default()
    };
    for (section, id, alias) in crate::alias::tables() {
        let section = section.strip_prefix("voice.").unwrap();
        assert!(table(section, id).is_object(), "{id}");
        assert_eq!(table(section, id), table(section, alias), "{alias}");
    }
    let speed = &table("tts", "openai")["properties"]["speed"];
    assert_eq!(
        (&speed["minimum"], &speed["maximum"]),
        (&json!(0.25), &json!(4.0))
    );
    let names = &table("tts", "provider")["enum"];
    assert!(
        names.as_array().unwrap().contains(&json!("piper")),
        "{names}"
    );
}
