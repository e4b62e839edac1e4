//! The same cases for all speech-to-text providers, with fake vendors and programs that reject whatever the
//! documentation excludes. Each case is a separate test per provider, named after both. [`crate::lacks`]
//! has what a provider lacks; [`needs`] lists the cases to skip.

pub mod bench;
mod cases;
mod needs;

use crate::lacks::listener_lacks;
use gatehouse_voice::{ProviderId, SttId};
use needs::NEEDS;
use std::collections::HashSet;

/// The minimum number of cases per provider.
const ENOUGH: usize = 40;

/// Passes all cases to a macro.
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
            audio::what_is_taken_goes_out_as_it_is,
            answers::the_text_is_without_space_around_it,
            answers::letters_of_all_alphabets_come_back,
            answers::a_long_text_comes_back_whole,
            answers::silence_is_an_empty_text,
            answers::words_have_times_in_order,
            answers::segments_have_times_in_order,
            answers::the_confidence_is_reported,
            answers::a_detected_language_is_reported,
            answers::the_provider_is_reported,
            answers::what_is_lacking_does_not_come,
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
            keys::a_wrong_key_is_reported_without_its_value,
            keys::without_a_key_nobody_is_called,
            keys::a_key_that_no_header_may_contain_is_reported_without_its_value,
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
            program::an_exit_status_of_1_is_reported_without_the_output,
            program::what_it_says_on_standard_error_goes_nowhere,
            program::its_directory_does_not_stay,
            program::it_gets_nothing_of_the_environment,
            program::a_program_that_is_not_there_is_named,
            program::a_program_that_may_not_be_run_is_named,
            program::a_model_that_is_not_there_is_named,
            program::without_a_model_nobody_is_called,
        }
    };
}

/// Defines a module of tests.
macro_rules! tests_of {
    ([$module:ident $id:ident] $($group:ident :: $case:ident),+ $(,)?) => {
        mod $module {
            $(
                #[tokio::test]
                async fn $case() {
                    let id = gatehouse_voice::SttId::$id;
                    if !super::is_left_out(id, stringify!($case)) {
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
with_cases!(tests_of whisper_cli WhisperCli);
with_cases!(tests_of sherpa_onnx SherpaOnnx);

/// Returns whether the provider lacks the subject of the case.
fn is_left_out(id: SttId, case: &str) -> bool {
    let mut needs = NEEDS.iter().filter(|(_, cases)| cases.contains(&case));
    needs.any(|(lack, _)| listener_lacks(id, *lack))
}

#[test]
fn what_is_lacking_leaves_enough_and_is_about_cases() {
    let all: HashSet<&str> = CASES.iter().copied().collect();
    assert_eq!(all.len(), CASES.len(), "a case is there twice");
    for (lack, cases) in NEEDS {
        assert!(
            cases.iter().all(|case| all.contains(case)),
            "{lack:?} needs what is no case"
        );
    }
    for id in SttId::ALL {
        let held = CASES.iter().filter(|case| !is_left_out(*id, case)).count();
        assert!(held >= ENOUGH, "{id} holds {held} cases only");
    }
}
