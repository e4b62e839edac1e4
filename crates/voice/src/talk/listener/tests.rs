use super::*;
use gatehouse_audio::{Kind, Sound, decode, encode, pcm_of_samples};

/// A recording of a sentence.
const SPEECH: &[u8] = include_bytes!("../../../../testkit/fixtures/speech.wav");
const SILENCE_MS: u64 = 600;

fn speech() -> Vec<i16> {
    decode(SPEECH, Kind::Wav, 60).unwrap().samples
}

fn silence(ms: usize) -> Vec<i16> {
    vec![0; ms * 16]
}

/// Returns the events detected in these samples, with their times in milliseconds.
fn noticed(samples: &[i16]) -> Vec<(usize, Noticed)> {
    let mut listener = Listener::new(RATE, SILENCE_MS, 120).unwrap();
    let mut all = Vec::new();
    for (place, piece) in samples.chunks(160).enumerate() {
        for noticed in listener.take(&pcm_of_samples(piece)).unwrap() {
            all.push((place * 10 + 10, noticed));
        }
    }
    all
}

#[test]
fn a_sentence_begins_soon_and_ends_after_the_silence() {
    let sentence = speech();
    let spoken_ms = sentence.len() / 16;
    let samples = [silence(1000), sentence.clone(), silence(1500)].concat();
    let all = noticed(&samples);
    let [(begins, Noticed::Began), (ends, Noticed::Ended(heard))] = all.as_slice() else {
        panic!("{all:?}");
    };
    // The time from the first sound until an answer would be interrupted.
    assert!((1000..1150).contains(begins), "{begins}");
    let end = 1000 + spoken_ms + usize::try_from(SILENCE_MS).unwrap();
    assert!((end - 300..end + 200).contains(ends), "{ends} {end}");
    // The stretch contains the whole sentence and a short time before it.
    let position = heard
        .windows(1000)
        .position(|window| window == &sentence[..1000]);
    assert!(position.is_some_and(|at| at >= 1600), "{position:?}");
    assert!(heard.len() > sentence.len());
}

#[test]
fn silence_noise_and_a_click_are_no_speech() {
    assert_eq!(noticed(&silence(5000)), []);
    let mut state = 1_u32;
    let mut noise = || {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        i16::try_from(state % 4000).unwrap() - 2000
    };
    let hiss: Vec<i16> = (0..80_000).map(|_| noise()).collect();
    assert_eq!(noticed(&hiss), []);
    let click = [silence(500), vec![20_000; 160], silence(1000)].concat();
    assert_eq!(noticed(&click), []);
}

#[test]
fn two_sentences_are_two_utterances_and_a_short_pause_is_none() {
    let apart = [
        silence(500),
        speech(),
        silence(1500),
        speech(),
        silence(1500),
    ]
    .concat();
    assert_eq!(noticed(&apart).len(), 4);
    let together = [
        silence(500),
        speech(),
        silence(300),
        speech(),
        silence(1500),
    ]
    .concat();
    assert_eq!(noticed(&together).len(), 2);
}

#[test]
fn other_rates_and_odd_pieces_are_understood_too() {
    for rate in [8_000, 24_000, 44_100, 48_000] {
        let samples = [silence(1000), speech(), silence(1500)].concat();
        let wav = encode(
            &Sound {
                rate: RATE,
                samples,
            },
            gatehouse_audio::Format::Wav,
        )
        .unwrap();
        let whole = decode(&wav, Kind::Wav, 60).unwrap();
        let mut resampler = Resampler::new(RATE, rate).unwrap();
        let mut samples = resampler.push(&whole.samples).unwrap();
        samples.extend(resampler.finish().unwrap());
        let mut listener = Listener::new(rate, SILENCE_MS, 120).unwrap();
        let bytes = pcm_of_samples(&samples);
        let pieces = bytes.chunks(333);
        let all: Vec<Noticed> = pieces
            .flat_map(|piece| listener.take(piece).unwrap())
            .collect();
        assert!(
            matches!(all.as_slice(), [Noticed::Began, Noticed::Ended(_)]),
            "{rate}: {}",
            all.len()
        );
    }
}

#[test]
fn an_utterance_ends_at_its_longest_and_by_request() {
    let mut listener = Listener::new(RATE, SILENCE_MS, 1).unwrap();
    let all: Vec<Noticed> = speech()
        .chunks(FRAME)
        .flat_map(|piece| listener.take(&pcm_of_samples(piece)).unwrap())
        .collect();
    let Some(Noticed::Ended(heard)) = all.get(1) else {
        panic!("{all:?}");
    };
    assert_eq!(heard.len().div_ceil(FRAME), 16_000_usize.div_ceil(FRAME));
    assert!(listener.is_speaking() || listener.end().is_none());

    let mut listener = Listener::new(RATE, SILENCE_MS, 120).unwrap();
    assert_eq!(listener.end(), None);
    listener.take(&pcm_of_samples(&speech()[..8000])).unwrap();
    assert!(listener.is_speaking());
    assert!(matches!(listener.end(), Some(Noticed::Ended(_))));
    assert!(!listener.is_speaking());
}
