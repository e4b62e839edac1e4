//! `[audit]`: retention of the audit log, and copies of it outside the database.

use crate::host_and_port::host_and_port;
use crate::invalid_value::InvalidValue;
use crate::key::{Change, Guard, Initial, KeySpec, Kind, Rule};
use crate::merge::{InvalidSetting, Reader};
use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

pub(crate) const KEYS: &[KeySpec] = &[
    KeySpec {
        key: "audit.retention_days",
        kind: Kind::Whole {
            min: 30,
            max: 36_500,
        },
        default: Initial::Whole(400),
        doc: "Days to keep rows of the audit log.",
        example: "",
        guard: Guard::StepUp,
        change: Change::Live,
    },
    KeySpec {
        key: "audit.file",
        kind: Kind::Text(Rule::File),
        default: Initial::Unset,
        doc: "Also append each record of the audit log to this file, as a line of JSON. A relative path starts at the \
              data directory.",
        example: "\"/var/log/gatehouse/audit.jsonl\"",
        guard: Guard::StepUp,
        change: Change::Live,
    },
    KeySpec {
        key: "audit.syslog",
        kind: Kind::Text(Rule::Syslog),
        default: Initial::Unset,
        doc: "Also send each record of the audit log to syslog: the local one, which reads from this Unix datagram socket, or \
              a server at udp://host:port, tcp://host:port or tls://host:port.",
        example: "\"/dev/log\"",
        guard: Guard::StepUp,
        change: Change::Live,
    },
];

/// The section `[audit]`.
#[derive(Clone, Debug)]
pub struct Audit {
    pub retention_days: u32,
    /// Relative to the data directory.
    pub file: Option<PathBuf>,
    pub syslog: Option<Syslog>,
}

/// The address of the syslog server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Syslog {
    /// A Unix datagram socket; relative to the data directory.
    Socket(PathBuf),
    Remote(RemoteSyslog),
}

/// A syslog server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RemoteSyslog {
    pub transport: SyslogTransport,
    /// A name or an IP address, without brackets.
    pub host: String,
    pub port: u16,
}

/// The transport to a syslog server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SyslogTransport {
    Udp,
    Tcp,
    Tls,
}

impl SyslogTransport {
    const ALL: [Self; 3] = [Self::Udp, Self::Tcp, Self::Tls];

    const fn scheme(self) -> &'static str {
        match self {
            Self::Udp => "udp",
            Self::Tcp => "tcp",
            Self::Tls => "tls",
        }
    }
}

impl FromStr for Syslog {
    type Err = InvalidValue;

    fn from_str(text: &str) -> Result<Self, InvalidValue> {
        let wrong = || {
            InvalidValue::new(
                "expected a path, or a URL such as udp://192.0.2.1:514 or tls://syslog.example.com:6514",
            )
        };
        let Some((scheme, _)) = text.split_once("://") else {
            if text.is_empty() || text.contains('\0') {
                return Err(wrong());
            }
            return Ok(Self::Socket(PathBuf::from(text)));
        };
        let transport = SyslogTransport::ALL
            .into_iter()
            .find(|it| scheme.eq_ignore_ascii_case(it.scheme()))
            .ok_or_else(wrong)?;
        let (host, port) = host_and_port(text).ok_or_else(wrong)?;
        Ok(Self::Remote(RemoteSyslog {
            transport,
            host: host.trim_matches(['[', ']']).to_owned(),
            port,
        }))
    }
}

impl fmt::Display for Syslog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Socket(path) => path.display().fmt(f),
            Self::Remote(to) => {
                let scheme = to.transport.scheme();
                if to.host.contains(':') {
                    write!(f, "{scheme}://[{}]:{}", to.host, to.port)
                } else {
                    write!(f, "{scheme}://{}:{}", to.host, to.port)
                }
            }
        }
    }
}

impl Audit {
    pub(crate) fn read(reader: &Reader<'_>) -> Result<Self, InvalidSetting> {
        Ok(Self {
            retention_days: reader.whole("audit.retention_days")?,
            file: reader.text("audit.file").map(PathBuf::from),
            syslog: reader.optional("audit.syslog")?,
        })
    }
}
