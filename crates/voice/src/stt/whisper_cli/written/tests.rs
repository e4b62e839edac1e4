use super::*;
use proptest::prelude::*;

/// Output of whisper.cpp 1.8, shortened.
const WRITTEN: &[u8] = b"{
	\"systeminfo\": \"WHISPER : COREML = 0\",
	\"model\": { \"type\": \"base\", \"multilingual\": true },
	\"params\": { \"model\": \"m\xff.bin\", \"language\": \"auto\", \"translate\": false },
	\"result\": { \"language\": \"de\" },
	\"transcription\": [
		{
			\"timestamps\": { \"from\": \"00:00:00,000\", \"to\": \"00:00:02,500\" },
			\"offsets\": { \"from\": 0, \"to\": 2500 },
			\"text\": \" Gr\xc3\xbc\xc3\x9f \\\"Gott\\\"\",
			\"tokens\": [
				{ \"text\": \"[_BEG_]\", \"offsets\": { \"from\": 0, \"to\": 0 }, \"id\": 50364, \"p\": 0.9, \"t_dtw\": -1 },
				{ \"text\": \" Gr\xc3\", \"offsets\": { \"from\": 100, \"to\": 300 }, \"id\": 1, \"p\": 0.9, \"t_dtw\": -1 },
				{ \"text\": \"\xbc\xc3\x9f\", \"offsets\": { \"from\": 300, \"to\": 800 }, \"id\": 2, \"p\": 0.9, \"t_dtw\": -1 },
				{ \"text\": \" \\\"Gott\\\"\", \"offsets\": { \"from\": 900, \"to\": 2400 }, \"id\": 3, \"p\": 0.9, \"t_dtw\": -1 },
				{ \"text\": \"[_TT_125]\", \"offsets\": { \"from\": 2500, \"to\": 2500 }, \"id\": 4, \"p\": 0.9, \"t_dtw\": -1 }
			]
		},
		{
			\"offsets\": { \"from\": 2500, \"to\": 4000 },
			\"text\": \" a
b\"
		}
	]
}";

#[test]
fn segments_and_words_are_read() {
    let recognized = recognized(WRITTEN.to_vec()).unwrap();
    assert_eq!(recognized.text, "Grüß \"Gott\" a b");
    assert_eq!(recognized.language.as_deref(), Some("de"));
    let segments: Vec<_> = recognized
        .segments
        .iter()
        .map(|segment| (segment.text.as_str(), segment.start, segment.end))
        .collect();
    assert_eq!(segments, [("Grüß \"Gott\"", 0.0, 2.5), ("a b", 2.5, 4.0)]);
    let words: Vec<_> = recognized
        .words
        .iter()
        .map(|word| (word.word.as_str(), word.start, word.end))
        .collect();
    assert_eq!(words, [("Grüß", 0.1, 0.8), ("\"Gott\"", 0.9, 2.4)]);
}

#[test]
fn silence_is_an_empty_text_and_rubbish_is_none() {
    let silence = recognized(b"{\"result\":{\"language\":\"en\"},\"transcription\":[]}".to_vec());
    assert_eq!(silence.unwrap().text, "");
    for rubbish in [
        "",
        "{}",
        "[]",
        "{\"transcription\":[{\"text\":1}]}",
        "hello",
    ] {
        assert_eq!(recognized(rubbish.into()), None, "{rubbish}");
    }
}

proptest! {
    #[test]
    fn nothing_makes_it_fall_over(cut in 0..WRITTEN.len(), byte: u8) {
        let mut text = WRITTEN.to_vec();
        text[cut] = byte;
        let _ = recognized(text.clone());
        text.truncate(cut);
        prop_assert_eq!(recognized(text), None);
    }
}
