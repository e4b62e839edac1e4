//! The kind of a setting, and what may change it.

use super::Named;

/// Who may change a setting at run time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Guard {
    /// A caller with `operator.write`.
    Write,
    /// A caller with `operator.admin`.
    Admin,
    /// A caller with `operator.admin` and a recent confirmation. For settings that control login, which programs
    /// run, which files are read, or where connections and keys are sent.
    StepUp,
}

/// The type of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Flag,
    /// An integer; both bounds are inclusive.
    Whole {
        min: i64,
        max: i64,
    },
    /// A number; both bounds are inclusive.
    Number {
        min_thousandths: i32,
        max_thousandths: i32,
    },
    Text(Rule),
    /// A list of texts. In the environment, a comma-separated list or a JSON array.
    List(Rule),
    /// Environment variables by name. A value is a secret text, or `{ vault = "KEY" }` for the value of a variable
    /// in the vault. In the environment, `A=1,B=2` or a JSON object.
    Variables,
    /// HTTP headers by name, sent with every request. In the environment, `a=1,b=2` or a JSON object.
    Headers,
    /// Facts about models, by model name: a table of [`gatehouse_domain::ModelFacts`]. In the environment, a JSON
    /// object.
    Models,
}

/// The required format of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// An IP address and a port.
    Address,
    /// An http or https URL.
    WebUrl,
    /// The base URL of an API. `/v1` is appended if the URL has no path.
    BaseUrl,
    /// Like `WebUrl`, or `tcp://host:port` of a Wyoming program.
    WebOrTcpUrl,
    /// Like `BaseUrl`, or `tcp://host:port` of a Wyoming program.
    BaseOrTcpUrl,
    /// `scheme://host[:port]` or `host:port`.
    Origin,
    /// An IP address or a CIDR network.
    Network,
    HeaderName,
    OneOf(&'static [&'static str]),
    /// A provider, by ID or by the vendor's name. The stored value is the ID.
    Provider(&'static [Named]),
    /// A path; a relative one is resolved against the data directory.
    File,
    /// `provider/model`.
    ModelPath,
    /// A time zone, by its IANA name.
    Zone,
    /// A cron pattern of five fields, or six with seconds first.
    Cron,
    /// One line of text.
    Line,
    /// A public DNS name. The stored value is in lower case.
    DomainName,
    /// An email address.
    Email,
    /// A program name or path; not validated.
    Argument,
    /// A program's argument: any text. Never shown, because arguments often contain tokens.
    SecretArgument,
    /// Never shown.
    Secret,
    /// The path of a socket, or `udp://host:port`, `tcp://host:port` or `tls://host:port`.
    Syslog,
    /// A level, or `target=level` directives separated by commas.
    LogFilter,
    /// `sqlite://…` or `postgres://…`.
    DatabaseUrl,
}

/// The value of a setting without an explicit value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Initial {
    /// No value, or one derived from other settings.
    Unset,
    Flag(bool),
    Whole(i64),
    Text(&'static str),
    /// The empty list.
    Empty,
}

/// Whether and when a run-time change takes effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// Immediately.
    Live,
    /// At the next start.
    Restart,
    /// Stored like any run-time change, but applied by another operation, which the text names.
    Elsewhere(&'static str),
    /// Cannot be changed at run time, for the given reason. A stored value is ignored.
    Never(&'static str),
}
