//! Tests of the usage metrics of speech.

use super::openai;
use crate::vendor::tone;
use futures_util::StreamExt;
use gatehouse_voice::{SpeechRequest, Voice};
use metrics::{
    Counter, CounterFn, Gauge, Histogram, HistogramFn, Key, KeyName, Metadata, Recorder,
    SharedString, Unit,
};
use std::sync::{Arc, Mutex};

/// The sums of all counters and histograms of this thread.
#[derive(Clone, Default)]
struct Sums(Arc<Mutex<Vec<(String, f64)>>>);

struct Sum {
    name: String,
    sums: Sums,
}

impl Sums {
    fn of(&self, name: &str) -> f64 {
        let sums = self.0.lock().unwrap();
        let of_name = sums.iter().filter(|(key, _)| key == name);
        of_name.map(|(_, value)| value).sum()
    }

    fn sum(&self, key: &Key) -> Arc<Sum> {
        Arc::new(Sum {
            name: key.name().to_owned(),
            sums: self.clone(),
        })
    }
}

impl Sum {
    fn add(&self, value: f64) {
        let mut sums = self.sums.0.lock().unwrap();
        sums.push((self.name.clone(), value));
    }
}

impl CounterFn for Sum {
    fn increment(&self, value: u64) {
        self.add(value as f64);
    }

    fn absolute(&self, _value: u64) {}
}

impl HistogramFn for Sum {
    fn record(&self, value: f64) {
        self.add(value);
    }
}

impl Recorder for Sums {
    fn describe_counter(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}
    fn describe_gauge(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}
    fn describe_histogram(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}

    fn register_counter(&self, key: &Key, _: &Metadata<'_>) -> Counter {
        Counter::from_arc(self.sum(key))
    }

    fn register_gauge(&self, _: &Key, _: &Metadata<'_>) -> Gauge {
        Gauge::noop()
    }

    fn register_histogram(&self, key: &Key, _: &Metadata<'_>) -> Histogram {
        Histogram::from_arc(self.sum(key))
    }
}

/// Returns a text whose audio is longer than the retained part of a stream.
fn long_text() -> String {
    "A quiet morning by the river, and nobody is about. ".repeat(240)
}

fn asked(text: &str, format: &str) -> SpeechRequest {
    SpeechRequest {
        format: Some(format.to_owned()),
        ..SpeechRequest::new(text)
    }
}

/// Returns the requests, characters and seconds that are counted for streaming this text.
async fn counted(voice: &Voice, text: &str, format: &str) -> (usize, usize, f64) {
    let sums = Sums::default();
    let _local = metrics::set_default_local_recorder(&sums);
    let mut streamed = voice.stream(asked(text, format)).await.unwrap();
    while let Some(piece) = streamed.body.next().await {
        piece.unwrap();
    }
    (
        sums.of("voice_requests_total") as usize,
        sums.of("voice_characters_total") as usize,
        sums.of("voice_audio_seconds"),
    )
}

#[tokio::test]
async fn a_stream_of_any_length_counts_like_the_whole_audio() {
    let (harness, vendor, mut settings) = openai().await;
    settings.speaking.max_text_length = 20_000;
    let voice = harness.voice(settings).await;
    let long = long_text();
    for text in ["Hello there, and good morning to you.", &long] {
        for format in ["pcm", "wav", "mp3", "opus", "flac"] {
            let (requests, characters, seconds) = counted(&voice, text, format).await;
            assert_eq!(requests, 1, "{format}");
            assert_eq!(characters, text.chars().count(), "{format}");
            let whole = voice.convert(asked(text, format)).await.unwrap();
            let whole = whole.duration_ms as f64 / 1000.0;
            assert!(
                (seconds - whole).abs() * 50.0 <= whole,
                "{format}: {seconds} of {whole} s"
            );
        }
    }
    assert!(
        tone::duration_ms(&long) > 17_000,
        "longer than what is kept"
    );
    assert_eq!(vendor.complaints(), Vec::<String>::new());
}

#[tokio::test]
async fn a_stream_that_is_also_converted_counts_once_and_is_cached_whatever_its_length() {
    let (harness, vendor, mut settings) = openai().await;
    settings.speaking.max_text_length = 20_000;
    settings.cache_max_bytes = 16 << 20;
    let voice = harness.voice(settings).await;
    let short = "Hello there, and good morning to you.";
    let long = long_text();
    for text in [short, &long] {
        let sums = Sums::default();
        let _local = metrics::set_default_local_recorder(&sums);
        let streamed = voice.stream(asked(text, "pcm")).await.unwrap();
        let whole = voice.convert(asked(text, "pcm")).await.unwrap();
        drop(streamed);
        let calls = vendor.requests().len();
        let again = voice.convert(asked(text, "pcm")).await.unwrap();
        assert!(whole.cached && again.cached);
        assert_eq!(again.audio, whole.audio);
        assert_eq!(vendor.requests().len(), calls);
        assert_eq!(sums.of("voice_requests_total") as usize, 1);
        let characters = sums.of("voice_characters_total") as usize;
        assert_eq!(characters, text.chars().count());
        let (seconds, whole) = (sums.of("voice_audio_seconds"), whole.duration_ms as f64);
        assert!((seconds * 1000.0 - whole).abs() * 50.0 <= whole);
    }
}
