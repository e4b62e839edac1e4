//! Cases about formats: the audio has the requested format and the expected duration.

use crate::conformance_tts::bench::{Bench, TEXT};
use crate::vendor::tone;
use gatehouse_audio::Format;
use gatehouse_domain::ErrorCode;
use gatehouse_voice::SpeechRequest;

async fn gives(bench: &Bench, format: Option<&str>, begins: &[&[u8]]) {
    let request = SpeechRequest {
        format: format.map(str::to_owned),
        ..SpeechRequest::new(TEXT)
    };
    let (converted, sent) = bench.heard(request).await;
    assert_eq!(sent.text, TEXT);
    let format = format.unwrap_or("mp3");
    assert_eq!(converted.format.as_str(), format);
    assert_eq!(converted.warning, None);
    assert!(!converted.cached && converted.attempts.len() == 1);
    let is_kind = begins
        .iter()
        .any(|begin| converted.audio.starts_with(begin));
    assert!(is_kind, "{:?}", converted.audio.get(..8));
    let expected = tone::duration_ms(TEXT);
    let measured = usize::try_from(converted.duration_ms).unwrap();
    // The AAC of a fake vendor lasts whole seconds.
    let off = if format == "aac" { 1000 } else { 80 };
    assert!(
        measured.abs_diff(expected) <= off,
        "{measured} ms instead of {expected}"
    );
}

pub async fn mp3_is_the_usual_format(bench: Bench) {
    gives(&bench, None, MP3).await;
}

const MP3: &[&[u8]] = &[
    &[0xff, 0xfb],
    &[0xff, 0xf3],
    &[0xff, 0xf2],
    &[0xff, 0xfa],
    b"ID3",
];

pub async fn gives_mp3(bench: Bench) {
    gives(&bench, Some("mp3"), MP3).await;
}

pub async fn gives_opus(bench: Bench) {
    gives(&bench, Some("opus"), &[b"OggS"]).await;
}

pub async fn gives_ogg(bench: Bench) {
    gives(&bench, Some("ogg"), &[b"OggS"]).await;
}

/// If the vendor has no AAC, an installed ffmpeg encodes it. Without ffmpeg the caller gets an error.
pub async fn gives_aac(bench: Bench) {
    let request = SpeechRequest {
        format: Some("aac".to_owned()),
        ..SpeechRequest::new(TEXT)
    };
    match bench.say(request).await {
        Ok(converted) => {
            assert!(converted.audio.starts_with(&[0xff]));
            assert!(converted.duration_ms > 0);
        }
        Err(error) => assert_eq!(bench.problem_of(error).code, ErrorCode::NotConfigured),
    }
}

pub async fn gives_pcm(bench: Bench) {
    let request = SpeechRequest {
        format: Some("pcm".to_owned()),
        ..SpeechRequest::new(TEXT)
    };
    let (converted, _) = bench.heard(request).await;
    let samples = tone::duration_ms(TEXT) * 24;
    let given = converted.audio.len() / 2;
    assert!(
        given.abs_diff(samples) <= 24 * 20,
        "{given} instead of {samples}"
    );
    assert_eq!(converted.audio.len() % 2, 0);
}

pub async fn gives_wav(bench: Bench) {
    gives(&bench, Some("wav"), &[b"RIFF"]).await;
}

pub async fn gives_flac(bench: Bench) {
    gives(&bench, Some("flac"), &[b"fLaC"]).await;
}

pub async fn an_unknown_format_is_refused(bench: Bench) {
    let request = SpeechRequest {
        format: Some("ape".to_owned()),
        ..SpeechRequest::new(TEXT)
    };
    let problem = bench.problem_of(bench.say(request).await.unwrap_err());
    assert_eq!(problem.code, ErrorCode::InvalidParams);
    assert_eq!(problem.details["field"], "format");
    assert!(bench.is_untouched());
}

/// Native formats are requested by name. Other formats are encoded here from samples.
pub async fn its_own_formats_are_asked_for(bench: Bench) {
    let voice = bench.voice().await;
    for format in Format::ALL {
        let before = bench.calls();
        let request = SpeechRequest {
            format: Some(format.as_str().to_owned()),
            ..SpeechRequest::new(TEXT)
        };
        let result = voice.convert(request).await;
        assert_eq!(bench.complaints(), Vec::<String>::new(), "{format:?}");
        let is_native = bench.id.provider().native.contains(&format);
        if bench.calls() == before {
            // Without ffmpeg, AAC cannot be encoded.
            assert!(
                format == Format::Aac && !is_native && result.is_err(),
                "{format:?}"
            );
            continue;
        }
        let asked = bench.all_sent().pop().unwrap().format;
        // Both formats are Ogg Opus.
        let name = if format == Format::Ogg {
            "opus"
        } else {
            format.as_str()
        };
        assert_eq!(
            asked.as_deref() == Some(name),
            is_native,
            "{format:?}: {asked:?}"
        );
        let is_samples = matches!(asked.as_deref(), None | Some("pcm" | "wav"));
        assert!(is_native || is_samples, "{format:?}: {asked:?}");
    }
}
