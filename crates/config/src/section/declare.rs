//! Declares a section with one entry per setting: the field, its type, its limits and default, its
//! description, and who may change it when. The keys, the reader and the defaults are derived from it.

/// Declares the struct of a section, its `KEYS`, its `read` and its `Default`. A field's doc comment is the
/// description of the setting. The kinds are `flag(default)`, `whole(min, default, max)` and `one_of(texts, text of
/// the default, default)`.
macro_rules! settings {
    (
        $(#[$meta:meta])*
        $section:ident $name:ident {
            $($(#[doc = $doc:literal])+ $field:ident: $type:ty = $kind:ident($($limit:tt)*), $guard:ident, $change:expr;)+
        }
    ) => {
        pub(crate) const KEYS: &[$crate::key::KeySpec] = &[$($crate::key::KeySpec {
            key: concat!(stringify!($section), ".", stringify!($field)),
            kind: settings!(@kind $kind($($limit)*)),
            default: settings!(@initial $kind($($limit)*)),
            doc: concat!($($doc),+).trim_ascii(),
            example: "",
            guard: $crate::key::Guard::$guard,
            change: $change,
        }),+];

        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub struct $name {
            $($(#[doc = $doc])+ pub $field: $type,)+
        }

        impl Default for $name {
            fn default() -> Self {
                Self {
                    $($field: settings!(@default $kind($($limit)*)),)+
                }
            }
        }

        impl $name {
            pub(crate) fn read(reader: &$crate::merge::Reader<'_>) -> Result<Self, $crate::merge::InvalidSetting> {
                Ok(Self {
                    $($field: settings!(
                        @read $kind, reader, concat!(stringify!($section), ".", stringify!($field))
                    ),)+
                })
            }
        }
    };
    (@kind flag($default:expr)) => { $crate::key::Kind::Flag };
    (@kind whole($min:expr, $default:expr, $max:expr)) => {
        $crate::key::Kind::Whole { min: $min, max: $max }
    };
    (@kind one_of($texts:expr, $text:expr, $default:expr)) => {
        $crate::key::Kind::Text($crate::key::Rule::OneOf($texts))
    };
    (@initial flag($default:expr)) => { $crate::key::Initial::Flag($default) };
    (@initial whole($min:expr, $default:expr, $max:expr)) => { $crate::key::Initial::Whole($default) };
    (@initial one_of($texts:expr, $text:expr, $default:expr)) => { $crate::key::Initial::Text($text) };
    (@default flag($default:expr)) => { $default };
    (@default whole($min:expr, $default:expr, $max:expr)) => { $default };
    (@default one_of($texts:expr, $text:expr, $default:expr)) => { $default };
    (@read flag, $reader:ident, $key:expr) => { $reader.flag($key)? };
    (@read whole, $reader:ident, $key:expr) => { $reader.whole($key)? };
    (@read one_of, $reader:ident, $key:expr) => { $reader.required($key)? };
}

pub(crate) use settings;
