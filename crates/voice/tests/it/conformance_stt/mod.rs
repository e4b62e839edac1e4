//! The same cases for everybody who listens over HTTP, against vendors that refuse what the vendor's
//! documents would refuse. Each case at each provider is a test of its own, named by both. What a provider
//! lacks is declared, with the reason, in [`LACKS`]; the test of the table holds that to be true. The two
//! programs are tried in `local.rs`, with real programs.

mod cases;

use crate::stt_cloud::ALL;
use gatehouse_voice::SttId;
use std::collections::HashSet;

/// How many cases each provider must hold.
const ENOUGH: usize = 40;

/// Cases that a provider cannot hold.
struct Lack {
    id: SttId,
    why: &'static str,
    cases: &'static [&'static str],
}

/// What is lacking, and why.
const LACKS: &[Lack] = &[
    Lack {
        id: SttId::Mistral,
        why: "its answer has no times of words, and says nothing of how sure it is",
        cases: &["words_have_times_in_order", "how_sure_it_is_is_told"],
    },
    Lack {
        id: SttId::Voxtral,
        why: "vLLM's answer is a text: it has no times, no language, and no likelihoods",
        cases: &[
            "words_have_times_in_order",
            "segments_have_times_in_order",
            "how_sure_it_is_is_told",
            "a_language_that_nobody_said_is_told",
        ],
    },
    Lack {
        id: SttId::Voxtral,
        why: "its instruction has no room for a hint",
        cases: &["a_hint_arrives"],
    },
    Lack {
        id: SttId::Voxtral,
        why: "it has no key; its vendor refuses a request that has one",
        cases: &[
            "the_key_is_in_its_header_only",
            "a_wrong_key_is_told_without_it",
            "without_a_key_nobody_is_called",
            "a_key_that_no_header_may_have_is_told_without_it",
            "a_key_of_the_vault_arrives",
        ],
    },
    Lack {
        id: SttId::Voxtral,
        why: "what nobody recognises does not go to a server of one's own",
        cases: &["unrecognised_bytes_go_out_as_they_are_declared"],
    },
    Lack {
        id: SttId::Google,
        why: "it chooses its model itself when none is wanted",
        cases: &["the_usual_model_arrives"],
    },
];

/// Hands all cases to a macro.
macro_rules! with_cases {
    ($then:ident $($arguments:tt)*) => {
        $then! { [$($arguments)*]
            audio::wav_is_heard,
            audio::mp3_is_heard,
            audio::opus_is_heard,
            audio::vorbis_is_heard,
            audio::flac_is_heard,
            audio::m4a_is_heard,
            audio::aac_is_heard,
            audio::what_a_browser_records_is_heard,
            audio::bare_samples_are_heard,
            audio::two_channels_are_heard,
            audio::what_the_bytes_are_counts_more_than_what_is_declared,
            audio::unrecognised_bytes_go_out_as_they_are_declared,
            audio::unrecognised_bytes_that_nobody_declares_call_nobody,
            audio::no_audio_calls_nobody,
            audio::one_byte_too_many_calls_nobody,
            audio::how_long_it_lasts_is_measured,
            answers::the_text_is_without_space_around_it,
            answers::letters_of_all_alphabets_come_back,
            answers::a_long_text_comes_back_whole,
            answers::silence_is_an_empty_text,
            answers::words_have_times_in_order,
            answers::segments_have_times_in_order,
            answers::how_sure_it_is_is_told,
            answers::a_language_that_nobody_said_is_told,
            answers::who_listened_is_told,
            settings::the_usual_model_arrives,
            settings::the_settings_model_arrives,
            settings::the_requests_model_beats_the_settings,
            settings::an_unknown_model_is_the_vendors_refusal,
            settings::the_settings_language_arrives,
            settings::the_requests_language_beats_the_settings,
            settings::what_is_no_language_calls_nobody,
            settings::a_hint_arrives,
            settings::the_longest_hint_is_no_reason_to_refuse,
            settings::a_longer_hint_calls_nobody,
            settings::an_unknown_format_calls_nobody,
            keys::the_key_is_in_its_header_only,
            keys::a_wrong_key_is_told_without_it,
            keys::without_a_key_nobody_is_called,
            keys::a_key_that_no_header_may_have_is_told_without_it,
            keys::a_key_of_the_vault_arrives,
            trouble::status_400,
            trouble::status_401,
            trouble::status_402,
            trouble::status_403,
            trouble::status_404,
            trouble::status_413,
            trouble::status_415,
            trouble::status_422,
            trouble::status_429_with_seconds,
            trouble::status_429_with_a_date,
            trouble::status_429_with_rubbish,
            trouble::status_500,
            trouble::status_503,
            trouble::no_answer_is_a_timeout,
            trouble::standing_still_in_the_answer_is_a_timeout,
            trouble::breaking_off_in_the_answer,
            trouble::an_empty_answer,
            trouble::a_web_page_is_no_answer,
            trouble::other_json_is_no_answer,
            trouble::half_an_answer_is_no_answer,
            trouble::a_redirect_is_not_followed,
            trouble::nobody_is_there,
            calls::a_caller_who_leaves_ends_the_wait,
            calls::a_caller_who_leaves_ends_the_answer,
            calls::several_at_once_are_all_heard,
            calls::another_listens_where_it_is_listed,
            calls::no_other_listens_where_none_is_listed,
            calls::switched_off_calls_nobody,
            calls::the_status_names_it,
        }
    };
}

/// Makes a module of tests.
macro_rules! tests_of {
    ([$module:ident $id:ident] $($group:ident :: $case:ident),+ $(,)?) => {
        mod $module {
            $(
                #[tokio::test]
                async fn $case() {
                    let id = gatehouse_voice::SttId::$id;
                    if !super::is_lacking(id, stringify!($case)) {
                        super::cases::$group::$case(id).await;
                    }
                }
            )+
        }
    };
}

macro_rules! names_of {
    ([$name:ident] $($group:ident :: $case:ident),+ $(,)?) => {
        const $name: &[&str] = &[$(stringify!($case)),+];
    };
}

with_cases!(names_of CASES);
with_cases!(tests_of openai OpenAi);
with_cases!(tests_of groq Groq);
with_cases!(tests_of deepgram Deepgram);
with_cases!(tests_of google Google);
with_cases!(tests_of mistral Mistral);
with_cases!(tests_of voxtral Voxtral);

fn is_lacking(id: SttId, case: &str) -> bool {
    let is_it = |lack: &Lack| lack.id == id && lack.cases.contains(&case);
    LACKS.iter().any(is_it)
}

#[test]
fn what_is_lacking_is_declared_once_and_leaves_enough() {
    let all: HashSet<&str> = CASES.iter().copied().collect();
    assert_eq!(all.len(), CASES.len(), "a case is there twice");
    for id in ALL {
        let mut lacking = HashSet::new();
        for lack in LACKS.iter().filter(|lack| lack.id == id) {
            assert!(!lack.why.is_empty());
            for case in lack.cases {
                assert!(all.contains(case), "{id} lacks {case}, which is no case");
                assert!(lacking.insert(*case), "{id} lacks {case} twice");
            }
        }
        let held = all.len() - lacking.len();
        assert!(held >= ENOUGH, "{id} holds {held} cases only");
    }
}
