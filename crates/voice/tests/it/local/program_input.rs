//! Tests the exact input of programs, and the parsing of their output.

use super::{ProgramDir, exists, silence};
use crate::harness::Harness;
use gatehouse_voice::{SpeechRequest, SttId, TranscribeRequest, TtsId};

/// Records the arguments, one per line.
const NOTE: &str = "printf '%s\\n' \"$@\" >\"$place/arguments\"\n";

#[tokio::test]
async fn piper_gets_its_options_as_arguments_and_the_text_as_input() {
    let place = ProgramDir::new();
    let script = format!("{NOTE}cat >\"$place/text\"; head -c 32000 /dev/zero");
    let mut settings = place.piper(&script);
    let piper = settings.tts.providers.get_mut(&TtsId::Piper).unwrap();
    (piper.speaker_id, piper.length_scale) = (Some(3), Some(1.5));
    let harness = Harness::new().await;
    let voice = harness.voice(settings).await;
    let mut request =
        SpeechRequest::new("-f /etc/passwd $(reboot) \"it's\" ünïcode;\nthe same line\n\n--next");
    (request.format, request.speed) = (Some("wav".to_owned()), Some(2.0));
    let spoken = voice.convert(request).await.unwrap();
    assert_eq!(spoken.duration_ms, 1000);
    let (model, config) = (place.path("voice.onnx"), place.path("voice.onnx.json"));
    let arguments = format!(
        "--model\n{}\n--config\n{}\n--speaker\n3\n--length_scale\n0.7500\n--output_raw\n",
        model.display(),
        config.display()
    );
    assert_eq!(place.read("arguments").unwrap(), arguments);
    let text = place.read("text").unwrap();
    assert!(
        text.starts_with("-f /etc/passwd $(reboot) \"it's\" ünïcode; the same line"),
        "{text}"
    );
    assert!(text.ends_with("--next\n"), "{text}");
}

#[tokio::test]
async fn piper_takes_another_description_and_speaks_as_the_voice_usually_does() {
    let place = ProgramDir::new();
    let script = format!("{NOTE}head -c 16000 /dev/zero");
    let mut settings = place.piper(&script);
    let description =
        br#"{"audio":{"sample_rate":8000,"quality":"low"},"inference":{"length_scale":1.2}}"#;
    let config = place.file("other.json", description);
    let piper = settings.tts.providers.get_mut(&TtsId::Piper).unwrap();
    piper.config_path = Some(config.clone());
    let harness = Harness::new().await;
    let voice = harness.voice(settings).await;
    let mut request = SpeechRequest::new("hello");
    request.format = Some("wav".to_owned());
    assert_eq!(
        voice.convert(request.clone()).await.unwrap().duration_ms,
        1000
    );
    let arguments = place.read("arguments").unwrap();
    assert!(arguments.ends_with(&format!("--config\n{}\n--output_raw\n", config.display())));
    request.speed = Some(0.5);
    voice.convert(request).await.unwrap();
    let arguments = place.read("arguments").unwrap();
    assert!(
        arguments.ends_with("--length_scale\n2.4000\n--output_raw\n"),
        "{arguments}"
    );
}

#[tokio::test]
async fn whisper_gets_a_private_file_that_does_not_stay() {
    let place = ProgramDir::new();
    let script = format!(
        "{NOTE}stat -c '%a %s' \"$4\" >\"$place/file\"; stat -c %a . >>\"$place/file\"
        pwd >\"$place/directory\"
        printf '{{\"result\":{{\"language\":\"en\"}},\"transcription\":[{{\"offsets\":{{\"from\":0,\"to\":900}},\"text\":\" Yes. \"}}]}}' >\"$9.json\""
    );
    let harness = Harness::new().await;
    let voice = harness
        .voice(place.listener(SttId::WhisperCli, &script))
        .await;
    let mut request = TranscribeRequest::new(silence().into());
    let heard = voice.transcribe(request.clone()).await.unwrap();
    assert_eq!(
        (heard.text.as_str(), heard.language.as_str()),
        ("Yes.", "en")
    );
    let directory = place.read("directory").unwrap();
    let (directory, model) = (directory.trim_end(), place.path("model.bin"));
    let arguments = |language: &str, directory: &str| {
        let model = model.display();
        format!(
            "-m\n{model}\n-f\n{directory}/audio.wav\n-l\n{language}\n-ojf\n-of\n{directory}/result\n-np\n-ac\n512\n"
        )
    };
    assert_eq!(
        place.read("arguments").unwrap(),
        arguments("auto", directory)
    );
    assert_eq!(place.read("file").unwrap(), "600 32044\n700\n");
    assert!(!exists(directory));

    request.language = Some("pt-BR".to_owned());
    request.prompt = Some("-np $(x) \"names\"".to_owned());
    voice.transcribe(request).await.unwrap();
    let directory = place.read("directory").unwrap();
    let wanted = arguments("pt", directory.trim_end()) + "--prompt\n-np $(x) \"names\"\n";
    assert_eq!(place.read("arguments").unwrap(), wanted);
}

#[tokio::test]
async fn sherpa_gets_what_the_directory_holds() {
    let place = ProgramDir::new();
    // Releases before 2 print the result on stderr.
    let script = format!(
        "{NOTE}pwd >\"$place/directory\"; printf 'Creating recognizer ...\\n\\n%s\\n{{\"text\": \" Hello.\", \"timestamps\": [], \"tokens\": []}}\\n----\\n' \"$5\" >&2"
    );
    let harness = Harness::new().await;
    let voice = harness
        .voice(place.listener(SttId::SherpaOnnx, &script))
        .await;
    let mut request = TranscribeRequest::new(silence().into());
    request.language = Some("de".to_owned());
    assert_eq!(voice.transcribe(request).await.unwrap().text, "Hello.");
    let directory = place.read("directory").unwrap();
    let directory = directory.trim_end();
    let model = place.path("tiny");
    let model = model.display();
    let wanted = format!(
        "--tokens={model}-tokens.txt\n--whisper-encoder={model}-encoder.onnx\n\
         --whisper-decoder={model}-decoder.int8.onnx\n--whisper-language=de\n{directory}/audio.wav\n"
    );
    assert_eq!(place.read("arguments").unwrap(), wanted);
    assert!(!exists(directory));
}
