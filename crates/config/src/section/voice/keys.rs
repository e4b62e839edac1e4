//! The keys of `[voice]`, and the definitions that its sections share.

use crate::key::{Change, Guard, Initial, KeySpec, Kind, Named, Rule};
use crate::section::models::{API_KEY_DOC, BASE_URL_DOC};

pub(super) const AUTO: &[&str] = &["always", "off", "inbound", "tagged"];
/// The maximum for a limit on stored audio: 1 TiB.
const MOST_BYTES: i64 = 1 << 40;

impl KeySpec {
    pub(super) const fn at(self, key: &'static str) -> Self {
        Self { key, ..self }
    }

    pub(super) const fn guarded(self, guard: Guard) -> Self {
        Self { guard, ..self }
    }

    pub(super) const fn doc(self, doc: &'static str) -> Self {
        Self { doc, ..self }
    }
}

/// Defines a setting without a default, which needs an example.
pub(super) const fn unset(kind: Kind, example: &'static str, doc: &'static str) -> KeySpec {
    KeySpec {
        key: "",
        kind,
        default: Initial::Unset,
        doc,
        example,
        guard: Guard::Write,
        change: Change::Live,
    }
}

pub(super) const fn with_default(kind: Kind, default: Initial, doc: &'static str) -> KeySpec {
    KeySpec {
        default,
        ..unset(kind, "", doc)
    }
}

pub(super) const fn line(example: &'static str, doc: &'static str) -> KeySpec {
    unset(Kind::Text(Rule::Line), example, doc)
}

pub(super) const fn file(example: &'static str, doc: &'static str) -> KeySpec {
    unset(Kind::Text(Rule::File), example, doc).guarded(Guard::StepUp)
}

pub(super) const fn model(example: &'static str) -> KeySpec {
    line(example, "The provider's model.")
}

pub(super) const fn base_url(example: &'static str) -> KeySpec {
    unset(Kind::Text(Rule::BaseUrl), example, BASE_URL_DOC).guarded(Guard::StepUp)
}

/// Defines a number. The bounds are in thousandths.
pub(super) const fn number(
    bounds: (i32, i32),
    example: &'static str,
    doc: &'static str,
) -> KeySpec {
    let kind = Kind::Number {
        min_thousandths: bounds.0,
        max_thousandths: bounds.1,
    };
    unset(kind, example, doc)
}

pub(super) const fn names(of: &'static [Named], doc: &'static str) -> KeySpec {
    with_default(Kind::List(Rule::Provider(of)), Initial::Empty, doc)
}

pub(super) const fn bytes(default: i64, doc: &'static str) -> KeySpec {
    let kind = Kind::Whole {
        min: 0,
        max: MOST_BYTES,
    };
    with_default(kind, Initial::Whole(default), doc)
}

pub(super) const API_KEY: KeySpec = KeySpec {
    guard: Guard::StepUp,
    change: Change::Never("set it with providers.set_key, which stores it in the vault"),
    ..unset(Kind::Text(Rule::Secret), "\"…\"", API_KEY_DOC)
};
pub(super) const BORROWED_KEY: KeySpec = API_KEY.doc(
    "The provider's API key. Prefer providers.set_key, which stores it in the vault. If unset, \
     the key of models.providers.openai or OPENAI_API_KEY is used.",
);
pub(super) const ENABLED: KeySpec = with_default(Kind::Flag, Initial::Flag(true), "");
pub(super) const PROVIDER_DOC: &str =
    "The provider, by its ID or the vendor's name. If unset, the first that is configured.";
pub(super) const LISTED_DOC: &str = "The providers to list; empty lists all.";
pub(super) const FALLBACK_DOC: &str =
    "The providers to try, in this order, if the chosen provider fails.";
pub(super) const SPEED_DOC: &str = "Speed, from 0.25 to 4.";
pub(super) const SPEED: (i32, i32) = (250, 4000);
pub(super) const SHARE: (i32, i32) = (0, 1000);
pub(super) const LANGUAGE: KeySpec = line("\"en\"", "The expected language, as an ISO 639-1 code.");
pub(super) const BINARY: &str =
    "The program. If it is unset or has no path, it is searched for in PATH.";

/// Defines the section of one kind of provider: the keys of the section, and an entry for each provider.
macro_rules! section {
    (
        $section:literal { $($own:literal: $own_spec:expr),+ $(,)? }
        $($id:literal = $alias:literal { $($name:literal: $spec:expr),+ $(,)? })+
    ) => {
        /// The providers. If none is chosen, the first configured one in this order is used.
        pub const PROVIDERS: &[$crate::key::Named] = &[$(($id, $alias)),+];

        pub(crate) const KEYS: &[$crate::key::KeySpec] = &[
            $($own_spec.at(concat!($section, ".", $own)),)+
            $($($spec.at(concat!($section, ".", $id, ".", $name)),)+)+
        ];
    };
}
pub(super) use section;

pub(crate) const KEYS: &[KeySpec] = &[
    with_default(
        Kind::Whole { min: 1, max: 64 },
        Initial::Whole(2),
        "Local speech programs that run at the same time.",
    )
    .at("voice.local_concurrency"),
    with_default(
        Kind::Whole { min: 0, max: 1440 },
        Initial::Whole(10),
        "How long Piper, whisper-server and the library of sherpa-onnx keep running without a request, with their \
         model in memory; 0 starts a program for each request.",
    )
    .at("voice.keep_warm_minutes"),
    bytes(
        268_435_456,
        "Size of the cache for synthesized speech, in bytes; 0 disables it.",
    )
    .at("voice.cache_max_bytes"),
    bytes(
        1_073_741_824,
        "Recorded and synthesized audio of sessions to keep, in bytes; the oldest is deleted \
         first.",
    )
    .at("voice.audio_max_bytes"),
];
