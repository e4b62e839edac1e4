//! The cases to skip for each missing capability.

use crate::lacks::Lack;

pub const NEEDS: &[(Lack, &[&str])] = &[
    (
        Lack::Voice,
        &[
            "the_requests_voice_arrives",
            "the_settings_voice_arrives",
            "the_requests_voice_beats_the_settings",
            "an_unknown_voice_is_the_vendors_refusal",
            "a_voice_cannot_change_the_address",
            "a_bindings_voice_arrives",
            "the_request_beats_the_binding",
            "the_binding_beats_the_settings",
        ],
    ),
    (
        Lack::Model,
        &["the_requests_model_arrives", "the_settings_model_arrives"],
    ),
    (
        Lack::Speed,
        &[
            "the_requests_speed_arrives",
            "the_settings_speed_arrives",
            "a_bindings_numbers_arrive",
        ],
    ),
    (
        Lack::SpeedLimit,
        &["a_speed_beyond_the_vendors_is_clamped_and_reported"],
    ),
    (
        Lack::Stability,
        &[
            "stability_and_similarity_arrive",
            "the_settings_stability_and_similarity_arrive",
        ],
    ),
    (Lack::Pitch, &["a_bindings_pitch_arrives"]),
    (
        Lack::Instructions,
        &[
            "instructions_arrive",
            "a_prompt_arrives_as_instructions",
            "without_a_binding_the_prompt_is_kept",
        ],
    ),
    (Lack::SpokenLanguage, &["the_settings_language_arrives"]),
    (
        Lack::Container,
        &["a_web_page_is_no_audio", "other_json_is_no_audio"],
    ),
    (
        Lack::Key,
        &[
            "the_key_is_in_its_header_only",
            "a_wrong_key_is_reported_without_its_value",
            "without_a_key_nobody_is_called",
            "a_key_that_no_header_may_contain_is_reported_without_its_value",
            "a_key_of_the_vault_arrives",
        ],
    ),
    (
        Lack::Http,
        &[
            "status_400",
            "status_401",
            "status_402",
            "status_403",
            "status_404",
            "status_422",
            "status_429_with_seconds",
            "status_429_with_a_date",
            "status_500",
            "status_503",
            "a_redirect_is_not_followed",
            "nobody_is_there",
        ],
    ),
    (
        Lack::Program,
        &[
            "an_exit_status_of_1_is_reported_without_the_output",
            "what_it_says_on_standard_error_goes_nowhere",
            "the_text_is_in_no_argument",
            "it_gets_nothing_of_the_environment",
            "a_program_that_is_not_there_is_named",
            "a_program_that_may_not_be_run_is_named",
            "a_model_that_is_not_there_is_named",
            "without_a_model_nobody_is_called",
        ],
    ),
];
