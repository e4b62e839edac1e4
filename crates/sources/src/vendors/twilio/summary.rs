//! Summaries of Twilio events.

use crate::summary::{Field, Section, Summary};

pub(super) const SUMMARY: Summary = Summary {
    sentences: &[SENTENCES],
    titles: &[],
    sections: &[Section {
        of: &[],
        fields: FIELDS,
    }],
};

const SENTENCES: &[(&str, &str)] = &[
    ("message.received", "A message from {From} was received."),
    (
        "message",
        "The message to {To} is {MessageStatus|SmsStatus}.",
    ),
    ("message.undelivered", "The message to {To} did not arrive."),
    ("message.failed", "The message to {To} could not be sent."),
    ("message.delivered", "The message to {To} arrived."),
    ("call", "The call from {From} to {To} is {CallStatus}."),
    ("call.completed", "The call from {From} to {To} ended."),
    ("recording", "A recording is {RecordingStatus}."),
];

const FIELDS: &[Field] = &[
    Field::line("From", &["From", "Caller"]),
    Field::line("To", &["To", "Called"]),
    Field::line(
        "Status",
        &[
            "RecordingStatus",
            "MessageStatus",
            "SmsStatus",
            "CallStatus",
        ],
    ),
    Field::line("Direction", &["Direction"]),
    Field::line("Name", &["ProfileName", "CallerName"]),
    Field::line("City", &["FromCity"]),
    Field::line("Country", &["FromCountry"]),
    Field::line("Seconds", &["RecordingDuration", "CallDuration"]),
    Field::line("Digits", &["Digits"]),
    Field::line("Media", &["NumMedia"]),
    Field::line("First media", &["MediaUrl0"]),
    Field::line("Recording", &["RecordingUrl"]),
    Field::line("Error", &["ErrorCode"]),
    Field::line("Error text", &["ErrorMessage"]),
    Field::line("Message id", &["MessageSid", "SmsSid"]),
    Field::line("Call id", &["CallSid"]),
    Field::block("Text", &["Body", "SpeechResult", "TranscriptionText"]),
];
