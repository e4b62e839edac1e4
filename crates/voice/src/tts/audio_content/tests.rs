use super::*;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use proptest::prelude::*;

fn read(pieces: &[&[u8]]) -> Result<Vec<u8>, Broken> {
    let mut content = AudioContent::default();
    let mut audio = Vec::new();
    for piece in pieces {
        audio.extend(content.push(piece)?);
    }
    content.end()?;
    Ok(audio)
}

#[test]
fn what_vendors_and_their_kin_write_is_read() {
    for answer in [
        r#"{"audioContent":"aGVsbG8="}"#,
        "{\n  \"audioContent\" : \"aGVsbG8=\"\n}\n",
        r#"{"audioContent":"aGVsbG8"}"#,
        r#"{"audioContent":"aGVsbG8\u003d"}"#,
        r#"{"timepoints":[{"markName":"a"}],"audioContent":"aGVsbG8=","audioConfig":{}}"#,
    ] {
        assert_eq!(
            read(&[answer.as_bytes()]),
            Ok(b"hello".to_vec()),
            "{answer}"
        );
    }
    let slashes = [0xff_u8; 6];
    assert_eq!(
        read(&[br#"{"audioContent":"\/\/\/\/////"}"#]),
        Ok(slashes.to_vec())
    );
    assert_eq!(
        read(&[br#"{"audioContent":"________"}"#]),
        Ok(slashes.to_vec())
    );
}

#[test]
fn no_audio_is_no_error_here_and_something_else_is() {
    for answer in ["", " ", "{}", "{ }\n", r#"{"audioContent":""}"#] {
        assert_eq!(read(&[answer.as_bytes()]), Ok(Vec::new()), "{answer}");
    }
    for answer in [
        "<html>",
        "[]",
        "null",
        r#""audioContent":"aGVsbG8=""#,
        r#"{"error":{"code":400}}"#,
        r#"{"audioContent":null}"#,
        r#"{"audioContent":5}"#,
        r#"{"audioContent":"a"}"#,
        r#"{"audioContent":"aGVs*G8="}"#,
        r#"{"audioContent":"aGVs\nG8="}"#,
        r#"{"audioContent":"aGVs\u0zzz"}"#,
        r#"{"audioContent":"aGVs\u1234"}"#,
        "{",
    ] {
        assert_eq!(
            read(&[answer.as_bytes()]),
            Err(Broken::NotAudio),
            "{answer}"
        );
    }
    for answer in [r#"{"audioContent":"#, r#"{"audioContent""#] {
        assert_eq!(
            read(&[answer.as_bytes()]),
            Err(Broken::NotAudio),
            "{answer}"
        );
    }
    for answer in [r#"{"audioContent":""#, r#"{"audioContent":"aGVsbG8="#] {
        assert_eq!(read(&[answer.as_bytes()]), Err(Broken::CutOff), "{answer}");
    }
}

#[test]
fn what_stands_before_the_audio_has_an_end() {
    let before = |bytes: usize| {
        let head = "{\"a\":\"";
        let tail = "\",\"audioContent\":\"aGVsbG8=\"}";
        let filler = "x".repeat(bytes - head.len());
        (format!("{head}{filler}"), tail)
    };
    let (fits, tail) = before(MAX_BEFORE_BYTES);
    let read_fitting = read(&[fits.as_bytes(), tail.as_bytes()]);
    assert_eq!(read_fitting, Ok(b"hello".to_vec()));
    let (over, tail) = before(MAX_BEFORE_BYTES + 1);
    assert_eq!(
        read(&[over.as_bytes(), tail.as_bytes()]),
        Err(Broken::NotAudio)
    );
}

proptest! {
    #[test]
    fn audio_comes_out_whole_however_the_text_is_cut(
        audio in proptest::collection::vec(any::<u8>(), 0..600),
        cuts in proptest::collection::vec(0_usize..1000, 0..20),
        is_web_alphabet in any::<bool>(),
    ) {
        let text = if is_web_alphabet { URL_SAFE_NO_PAD.encode(&audio) } else { STANDARD.encode(&audio) };
        let answer = format!("{{ \"audioContent\": \"{text}\" }}\n");
        let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut % answer.len()).collect();
        cuts.extend([0, answer.len()]);
        cuts.sort_unstable();
        let pieces: Vec<&[u8]> = cuts.windows(2).map(|cut| &answer.as_bytes()[cut[0]..cut[1]]).collect();
        prop_assert_eq!(read(&pieces), Ok(audio));
    }

    #[test]
    fn nothing_makes_it_fall(pieces in proptest::collection::vec(
        proptest::collection::vec(any::<u8>(), 0..60), 0..6)) {
        let mut content = AudioContent::default();
        let _ = content.push(b"{\"audioContent\":\"");
        for piece in &pieces {
            if content.push(piece).is_err() {
                break;
            }
        }
    }
}
