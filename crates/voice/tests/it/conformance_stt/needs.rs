//! The cases to skip for each missing capability.

use crate::lacks::Lack;

pub const NEEDS: &[(Lack, &[&str])] = &[
    (Lack::WordTimes, &["words_have_times_in_order"]),
    (Lack::SegmentTimes, &["segments_have_times_in_order"]),
    (Lack::Confidence, &["the_confidence_is_reported"]),
    (Lack::HeardLanguage, &["a_detected_language_is_reported"]),
    (Lack::Hint, &["a_hint_arrives"]),
    (Lack::UsualModel, &["the_usual_model_arrives"]),
    (
        Lack::Model,
        &[
            "the_settings_model_arrives",
            "the_requests_model_beats_the_settings",
            "an_unknown_model_is_the_vendors_refusal",
        ],
    ),
    (
        Lack::UnrecognisedAudio,
        &["unrecognised_bytes_go_out_as_they_are_declared"],
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
            "status_413",
            "status_415",
            "status_422",
            "status_429_with_seconds",
            "status_429_with_a_date",
            "status_429_with_rubbish",
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
            "its_directory_does_not_stay",
            "it_gets_nothing_of_the_environment",
            "a_program_that_is_not_there_is_named",
            "a_program_that_may_not_be_run_is_named",
            "a_model_that_is_not_there_is_named",
            "without_a_model_nobody_is_called",
        ],
    ),
];
