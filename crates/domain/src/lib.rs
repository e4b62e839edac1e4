//! Types that every crate shares: IDs, scopes, error codes, client addresses, and injected time and randomness. This
//! crate does no I/O and contains nothing about HTTP, SQL or RPC.

pub mod actor;
pub mod address;
pub mod backoff;
pub mod clock;
pub mod connection_headers;
pub mod delivery_status;
pub mod env_names;
pub mod error_code;
pub mod fence;
pub mod id;
pub mod input;
pub mod key_binding;
pub mod keyed_windows;
pub mod model_facts;
pub mod problem;
pub mod random;
pub mod scope;
pub mod sliding_window;
pub mod sweep_time;
pub mod trace;
pub mod utc_day;
pub mod visible;
pub mod watched;
pub mod zone;

pub use actor::Actor;
pub use address::{Cidr, ClientKey, canonical_ip};
pub use backoff::backoff;
pub use clock::{Clock, ManualClock, SystemClock, Timestamp};
pub use connection_headers::is_connection_header;
pub use delivery_status::DeliveryStatus;
pub use error_code::ErrorCode;
pub use fence::Fence;
pub use id::{
    ApiKeyId, ApprovalId, AudioId, AuthSessionId, ChallengeId, DeliveryId, DeviceId,
    InboxMessageId, MessageId, PairingId, PasskeyId, PushSubscriptionId, RequestId, SessionId,
    TurnId, WebhookId,
};
pub use key_binding::KeyBinding;
pub use keyed_windows::{KeyedWindows, WindowKey};
pub use model_facts::ModelFacts;
pub use problem::Problem;
pub use random::{Random, SeededRandom, SystemRandom};
pub use scope::{Scope, ScopeSet};
pub use sliding_window::SlidingWindow;
pub use sweep_time::SweepTime;
pub use utc_day::UtcDay;
pub use watched::{ReadSpan, Watched};
pub use zone::{UnknownZone, Zone};
