//! The profile of schedules. This server creates their deliveries itself, so no request is verified.

use super::Vendor;
use crate::auth_mode::AuthMode;
use crate::payload::BodyKind;
use crate::profile::{
    BodyEvent, EventSource, EventType, KeySource, Profile, Replay, ReplayGuard, event,
};
use crate::summary::{Field, Section, Summary};

pub(super) const VENDOR: Vendor = Vendor {
    profile: Some(&PROFILE),
    modes: &[],
};

pub(crate) const ID: &str = "schedule";

static PROFILE: Profile = Profile {
    id: ID,
    alias: None,
    name: "Schedule",
    about: "Runs at fixed times, at intervals, or once",
    default_auth_mode: AuthMode::NONE,
    body: BodyKind::Json,
    event: EventSource {
        notices: &[],
        own_header: false,
        headers: &[],
        body: &[BodyEvent {
            prefix: "",
            path: "type",
        }],
        names: None,
        detail_header: None,
        detail: &[],
    },
    // The due time identifies a run. A test has a random ID, so it never conflicts with a run.
    delivery_key: &[KeySource::Body("id")],
    replay: Replay {
        id_is_signed: true,
        guard: ReplayGuard::Key,
        note: "A schedule has no sender: nobody can repeat a delivery.",
    },
    entities: &[],
    events: EVENTS,
    more_events: &[],
    headers: &[],
    guide: include_str!("guide.txt").trim_ascii_end(),
    handshake: None,
    test_events: &[],
    replies: &[],
    summary: Summary {
        sentences: &[&[(
            "schedule.run",
            "Scheduled run of {local_time|scheduled_for}.",
        )]],
        titles: &[],
        sections: &[Section {
            of: &[],
            fields: FIELDS,
        }],
    },
    sample: include_str!("sample.json"),
};

const EVENTS: &[EventType] = &[event("schedule.run", "A run is due")];

const FIELDS: &[Field] = &[
    Field::line("Time zone", &["timezone"]),
    Field::line("Missed runs", &["missed"]),
    Field::line("Next run", &["next_run"]),
];
