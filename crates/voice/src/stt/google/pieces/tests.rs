//! Tests of the parent module.

use super::*;
use proptest::prelude::*;

fn wav(rate: u32, channels: u16, bits: u16, samples: &[u8]) -> Bytes {
    let mut wav = b"RIFF\0\0\0\0WAVE".to_vec();
    wav.extend(b"LIST\x03\0\0\0abc\0fmt \x10\0\0\0\x01\0");
    wav.extend(channels.to_le_bytes());
    wav.extend(rate.to_le_bytes());
    wav.extend([0; 6]);
    wav.extend(bits.to_le_bytes());
    wav.extend(b"data");
    wav.extend(u32::try_from(samples.len()).unwrap().to_le_bytes());
    wav.extend(samples);
    wav.into()
}

/// Returns a loud recording with 100 ms of silence at each of these seconds.
fn recording(seconds: usize, quiet: &[usize]) -> Vec<u8> {
    let loud = |n: usize| {
        let is_quiet = quiet
            .iter()
            .any(|at| (at * 8000..at * 8000 + 800).contains(&n));
        if is_quiet { 0_i16 } else { 1000 }
    };
    (0..seconds * 8000)
        .flat_map(|n| loud(n).to_le_bytes())
        .collect()
}

#[test]
fn what_is_short_is_one_piece() {
    for (seconds, pieces) in [(0_u8, 0), (1, 1), (55, 1)] {
        let cut = of_wav(&wav(8000, 1, 16, &recording(seconds.into(), &[]))).unwrap();
        assert_eq!(cut.all.len(), pieces, "{seconds} s");
        assert_eq!(cut.rate, 8000);
        assert!((cut.seconds - f64::from(seconds)).abs() < 1e-9);
    }
}

#[test]
fn what_is_long_is_cut_where_it_is_quiet() {
    let whole = recording(120, &[20, 48, 97]);
    let cut = of_wav(&wav(8000, 1, 16, &whole)).unwrap();
    let starts: Vec<f64> = cut.all.iter().map(|piece| piece.start).collect();
    assert_eq!(starts.len(), 3);
    assert!((48.0..48.1).contains(&starts[1]), "{starts:?}");
    assert!((97.0..97.1).contains(&starts[2]), "{starts:?}");
    let together: Vec<u8> = cut.all.iter().flat_map(|p| p.samples.to_vec()).collect();
    assert_eq!(together, whole, "nothing is lost, nothing is twice");
}

#[test]
fn one_sample_over_the_longest_is_two_pieces() {
    let mut samples = recording(55, &[]);
    samples.extend([0, 0]);
    assert_eq!(of_wav(&wav(8000, 1, 16, &samples)).unwrap().all.len(), 2);
}

#[test]
fn other_files_are_none() {
    for bad in [
        wav(8000, 2, 16, &[0; 8]),
        wav(8000, 1, 8, &[0; 8]),
        wav(7999, 1, 16, &[0; 8]),
        wav(48_001, 1, 16, &[0; 8]),
        Bytes::from_static(b"RIFF"),
        Bytes::from_static(b"OggS and so on, long enough"),
        wav(8000, 1, 16, &[]).slice(..30),
    ] {
        assert!(of_wav(&bad).is_none(), "{bad:?}");
    }
}

#[test]
fn a_size_that_was_not_known_is_the_rest() {
    let mut bytes = wav(8000, 1, 16, &[1, 0, 2, 0, 3]).to_vec();
    let at = bytes.len() - 5 - 4;
    bytes[at..at + 4].fill(0xFF);
    let cut = of_wav(&bytes.into()).unwrap();
    assert_eq!(cut.all[0].samples.as_ref(), [1, 0, 2, 0]);
}

proptest! {
    #[test]
    fn any_bytes_are_survived(bytes in proptest::collection::vec(any::<u8>(), 0..200), begins in any::<bool>()) {
        let mut file = if begins { b"RIFF\0\0\0\0WAVE".to_vec() } else { Vec::new() };
        file.extend(bytes);
        drop(of_wav(&file.into()));
    }
}
