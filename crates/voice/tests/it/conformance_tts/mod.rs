//! The same cases for all text-to-speech providers, with fake vendors and programs that reject whatever the
//! documentation excludes. Each case is a separate test per provider, named after both. [`crate::lacks`]
//! has what a provider lacks; [`needs`] lists the cases to skip.

mod bench;
mod cases;
mod facts;
mod needs;
mod sent_request;

use crate::lacks::speaker_lacks;
use bench::Bench;
use gatehouse_voice::{ProviderId, TtsId};
use needs::NEEDS;
use std::collections::HashSet;

/// The minimum number of cases per provider.
const ENOUGH: usize = 40;

/// Passes all cases to a macro.
macro_rules! with_cases {
    ($then:ident $($arguments:tt)*) => {
        $then! { [$($arguments)*]
            formats::mp3_is_the_usual_format,
            formats::gives_mp3,
            formats::gives_opus,
            formats::gives_ogg,
            formats::gives_aac,
            formats::gives_pcm,
            formats::gives_wav,
            formats::gives_flac,
            formats::an_unknown_format_is_refused,
            formats::its_own_formats_are_asked_for,
            text::what_is_written_is_what_is_said,
            text::letters_of_all_alphabets_arrive,
            text::marks_of_json_and_urls_arrive,
            text::markdown_is_not_said,
            text::an_empty_text_is_refused,
            text::the_longest_text_is_taken,
            text::one_character_more_is_refused,
            text::a_text_at_the_providers_limit_is_one_request,
            text::a_longer_one_is_two_and_sounds_as_one,
            voice::without_settings_the_usual_voice_speaks,
            voice::the_requests_voice_arrives,
            voice::the_settings_voice_arrives,
            voice::the_requests_voice_beats_the_settings,
            voice::an_unknown_voice_is_the_vendors_refusal,
            voice::a_voice_cannot_change_the_address,
            voice::the_requests_model_arrives,
            voice::the_settings_model_arrives,
            voice::the_requests_speed_arrives,
            voice::the_settings_speed_arrives,
            voice::a_speed_beyond_the_vendors_is_clamped_and_reported,
            voice::a_speed_beyond_all_is_refused,
            voice::stability_and_similarity_arrive,
            voice::the_settings_stability_and_similarity_arrive,
            voice::a_stability_beyond_one_is_refused,
            voice::instructions_arrive,
            voice::the_settings_language_arrives,
            voice::an_unsupported_option_is_reported_and_not_sent,
            voice::the_table_is_the_vendors,
            personas::a_bindings_voice_arrives,
            personas::a_bindings_numbers_arrive,
            personas::a_bindings_pitch_arrives,
            personas::the_request_beats_the_binding,
            personas::the_binding_beats_the_settings,
            personas::a_prompt_arrives_as_instructions,
            personas::without_a_binding_the_prompt_is_kept,
            personas::provider_defaults_leave_the_prompt_out,
            personas::fail_calls_nobody,
            personas::none_is_nobody,
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
            trouble::status_422,
            trouble::status_429_with_seconds,
            trouble::status_429_with_a_date,
            trouble::status_500,
            trouble::status_503,
            trouble::no_answer_is_a_timeout,
            trouble::standing_still_before_the_audio_is_a_timeout,
            trouble::standing_still_in_the_audio_is_a_timeout,
            trouble::breaking_off_before_the_audio,
            trouble::breaking_off_in_the_audio,
            trouble::an_empty_answer,
            trouble::a_web_page_is_no_audio,
            trouble::other_json_is_no_audio,
            trouble::a_redirect_is_not_followed,
            trouble::nobody_is_there,
            calls::a_caller_who_leaves_ends_the_wait,
            calls::a_caller_who_leaves_ends_the_stream,
            calls::the_first_bytes_come_before_the_last,
            calls::a_stream_is_what_the_whole_is,
            calls::a_stream_that_breaks_says_so_at_its_end,
            calls::several_at_once_do_not_mix,
            calls::another_speaks_where_it_is_listed,
            calls::no_other_speaks_where_none_is_listed,
            calls::what_was_said_is_kept,
            calls::switched_off_calls_nobody,
            calls::the_status_names_it,
            program::an_exit_status_of_1_is_reported_without_the_output,
            program::what_it_says_on_standard_error_goes_nowhere,
            program::the_text_is_in_no_argument,
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
                    let id = gatehouse_voice::TtsId::$id;
                    if let Some(bench) = super::bench_for(id, stringify!($case)).await {
                        super::cases::$group::$case(bench).await;
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
with_cases!(tests_of elevenlabs ElevenLabs);
with_cases!(tests_of openai OpenAi);
with_cases!(tests_of google Google);
with_cases!(tests_of piper Piper);
with_cases!(tests_of coqui Coqui);

/// Returns a bench, or `None` if the provider lacks the subject of the case.
async fn bench_for(id: TtsId, case: &str) -> Option<Bench> {
    if is_left_out(id, case) {
        None
    } else {
        Some(Bench::new(id).await)
    }
}

fn is_left_out(id: TtsId, case: &str) -> bool {
    let mut needs = NEEDS.iter().filter(|(_, cases)| cases.contains(&case));
    needs.any(|(lack, _)| speaker_lacks(id, *lack))
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
    for id in TtsId::ALL {
        let held = CASES.iter().filter(|case| !is_left_out(*id, case)).count();
        assert!(held >= ENOUGH, "{id} holds {held} cases only");
    }
}
