//! The description of a provider of either kind, and the macro that lists the providers of one kind.

use crate::VoiceError;
use crate::programs::Programs;
use crate::settings::{SectionSettings, VoiceSettings};
use schemars::JsonSchema;
use serde::Serialize;

/// The settings of one provider, for all providers in one type.
pub use gatehouse_config::VoiceProvider as ProviderSettings;

/// The description of a provider of either kind.
#[derive(Debug)]
pub struct About {
    /// The ID, which is stored and returned.
    pub id: &'static str,
    /// The vendor's name, accepted in place of the ID.
    pub alias: &'static str,
    /// The display name.
    pub label: &'static str,
    /// A description with the requirements, for the owner.
    pub about: &'static str,
    pub(crate) service: Service,
    /// The provider's settings except the key, in the order of a form. `config` has their types and bounds.
    pub settings: &'static [ProviderSetting],
}

/// The kind of system that runs the provider.
#[derive(Debug)]
pub(crate) enum Service {
    /// A vendor, with a key.
    Hosted {
        base_url: &'static str,
        /// Whether the provider uses the key and the address of the model provider `openai` when it
        /// has no key of its own.
        borrows: bool,
    },
    /// A server of the owner's, without a key. Its address is the setting `endpoint`.
    SelfHosted,
    /// A local program.
    Program {
        /// The setting that names the program's model.
        model: &'static str,
        /// Returns the error for a missing setting or program.
        missing: fn(&ProviderSettings, &Programs) -> Option<VoiceError>,
    },
}

/// The default address of the model provider `openai`.
pub(crate) const OPENAI: Service = Service::Hosted {
    base_url: "https://api.openai.com/v1",
    borrows: true,
};

/// Returns a vendor's service at this address, with a key of its own.
pub(crate) const fn hosted(base_url: &'static str) -> Service {
    Service::Hosted {
        base_url,
        borrows: false,
    }
}

impl About {
    /// Returns the vendor's address, or `None` for a program or a self-hosted server.
    pub fn default_url(&self) -> Option<&'static str> {
        match self.service {
            Service::Hosted { base_url, .. } => Some(base_url),
            Service::SelfHosted | Service::Program { .. } => None,
        }
    }

    /// Returns whether the provider uses the key and the address of the model provider `openai`
    /// when it has no key of its own.
    pub fn borrows(&self) -> bool {
        matches!(self.service, Service::Hosted { borrows: true, .. })
    }

    /// Returns the setting that the provider cannot work without.
    pub fn needs(&self) -> &'static str {
        match self.service {
            Service::Hosted { .. } => "api_key",
            Service::SelfHosted => "endpoint",
            Service::Program { model, .. } => model,
        }
    }

    pub(crate) fn is_hosted(&self) -> bool {
        matches!(self.service, Service::Hosted { .. })
    }
}

/// A setting of a provider, as a form shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ProviderSetting {
    /// The last segment of the key.
    pub name: &'static str,
    /// The label.
    pub label: &'static str,
    /// A sentence below the field.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<&'static str>,
}

/// Returns a setting without a hint.
pub(crate) const fn setting(name: &'static str, label: &'static str) -> ProviderSetting {
    ProviderSetting {
        name,
        label,
        hint: None,
    }
}

impl ProviderSetting {
    pub(crate) const fn hint(self, hint: &'static str) -> Self {
        Self {
            hint: Some(hint),
            ..self
        }
    }
}

pub(crate) const MODEL: ProviderSetting = setting("model", "Model");
pub(crate) const VOICE: ProviderSetting = setting("voice", "Voice");
pub(crate) const LANGUAGE: ProviderSetting = setting("language", "Language")
    .hint("Two letters, such as en. Detected automatically if empty.");
pub(crate) const BASE_URL: ProviderSetting =
    setting("base_url", "Address").hint("Only for a compatible server or your own proxy.");
pub(crate) const ENDPOINT: ProviderSetting =
    setting("endpoint", "Server address").hint("For a Wyoming program: tcp://host:port.");
pub(crate) const BINARY_PATH: ProviderSetting =
    setting("binary_path", "Program").hint("If empty, it is looked up in the gateway’s PATH.");

impl About {
    /// Returns the English texts that the web UI translates. The display name is among them unless it is a product's
    /// name.
    pub fn texts(&self) -> impl Iterator<Item = &'static str> {
        let name = matches!(self.service, Service::SelfHosted).then_some(self.label);
        let settings = self.settings.iter();
        let settings = settings.flat_map(|it| [Some(it.label), it.hint]);
        [name, Some(self.about)]
            .into_iter()
            .chain(settings)
            .flatten()
    }
}

/// The ID of a provider of one kind.
pub trait ProviderId: Copy + Ord + Send + Sync + 'static {
    /// The section of the settings, and the prefix of the methods: `tts` or `stt`.
    const SECTION: &'static str;
    /// All providers, in the order in which the first configured one is chosen.
    const ALL: &'static [Self];

    /// Returns the description of the provider.
    fn about(self) -> &'static About;

    /// Returns the settings of this kind of provider.
    fn section(settings: &VoiceSettings) -> &SectionSettings<Self>;

    /// Returns the provider with this ID or alias.
    fn find(name: &str) -> Option<Self> {
        let is_it = |id: &Self| [id.about().id, id.about().alias].contains(&name);
        Self::ALL.iter().copied().find(is_it)
    }

    /// Like `find`, for the caller's input in `field`.
    fn parse(field: &str, name: &str) -> Result<Self, VoiceError> {
        Self::find(name).ok_or_else(|| {
            let all: Vec<&str> = Self::ALL.iter().map(|id| id.about().id).collect();
            VoiceError::invalid(field, format!("expected one of {}", all.join(", ")))
        })
    }
}

/// Defines the IDs of one kind of provider from a list of names and modules. Each module has a `PROVIDER`.
macro_rules! providers {
    ($(#[doc = $doc:literal])+ $name:ident in $section:ident: $provider:ty { $($variant:ident = $module:ident,)+ }) => {
        $(#[doc = $doc])+
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name { $($variant),+ }

        impl $name {
            /// Returns the provider itself.
            pub fn provider(self) -> &'static $provider {
                match self { $(Self::$variant => &$module::PROVIDER),+ }
            }

            /// Returns the provider's ID.
            pub fn as_str(self) -> &'static str {
                self.provider().about.id
            }
        }

        impl $crate::ProviderId for $name {
            const SECTION: &'static str = stringify!($section);
            const ALL: &'static [Self] = &[$(Self::$variant),+];

            fn about(self) -> &'static $crate::About {
                &self.provider().about
            }

            fn section(settings: &$crate::VoiceSettings) -> &$crate::SectionSettings<Self> {
                &settings.$section
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let id = String::deserialize(deserializer)?;
                let mut all = <Self as $crate::ProviderId>::ALL.iter().copied();
                let found = all.find(|one| one.as_str() == id);
                found.ok_or_else(|| serde::de::Error::custom("unknown provider"))
            }
        }

        impl schemars::JsonSchema for $name {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                $crate::provider::schema::<Self>(concat!($($doc),+).trim())
            }
        }
    };
}
pub(crate) use providers;

pub(crate) fn schema<Id: ProviderId>(description: &str) -> schemars::Schema {
    let ids = Id::ALL.iter().map(|id| {
        let about = id.about();
        serde_json::json!({ "type": "string", "const": about.id, "description": about.about })
    });
    let ids: Vec<_> = ids.collect();
    schemars::json_schema!({ "oneOf": ids, "description": description })
}

#[cfg(test)]
mod tests;
