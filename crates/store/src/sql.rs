//! Statements with their values, and result rows. The types are the same for both engines.

mod parameters;

use crate::StoreError;
use gatehouse_domain::id::{
    ApprovalId, AttachmentId, AudioId, AuthSessionId, ChallengeId, DeliveryId, DeviceId,
    InboxMessageId, MessageId, PasskeyId, PushSubscriptionId, SessionId, TurnId, WebhookId,
};
use gatehouse_domain::{DeliveryStatus, Timestamp};
use std::borrow::Cow;
use std::fmt;
use tokio_postgres::types::Type;

/// Begins a statement. Its parameters are `$1`, `$2`, …
pub(crate) fn query<'q>(text: impl Into<Cow<'q, str>>) -> Query<'q> {
    Query {
        text: text.into(),
        values: Vec::new(),
    }
}

/// A statement with its values.
#[derive(Debug)]
pub(crate) struct Query<'q> {
    pub(crate) text: Cow<'q, str>,
    pub(crate) values: Vec<Value<'q>>,
}

impl<'q> Query<'q> {
    /// Adds the value of the next parameter.
    #[must_use]
    pub(crate) fn bind(mut self, value: impl Into<Value<'q>>) -> Self {
        self.values.push(value.into());
        self
    }
}

/// The value of a parameter. The schema uses no other types.
#[derive(Debug)]
pub(crate) enum Value<'q> {
    Integer(Option<i64>),
    Text(Option<Cow<'q, str>>),
    Blob(Option<Cow<'q, [u8]>>),
}

impl Value<'_> {
    /// Copies the value.
    pub(crate) fn to_static(&self) -> Value<'static> {
        match self {
            Self::Integer(value) => Value::Integer(*value),
            Self::Text(value) => Value::Text(value.as_deref().map(|text| text.to_owned().into())),
            Self::Blob(value) => Value::Blob(value.as_deref().map(|bytes| bytes.to_owned().into())),
        }
    }

    /// Returns the type of the parameter in PostgreSQL's prepared statement.
    pub(crate) const fn postgres_type(&self) -> Type {
        match self {
            Self::Integer(_) => Type::INT8,
            Self::Text(_) => Type::TEXT,
            Self::Blob(_) => Type::BYTEA,
        }
    }
}

macro_rules! values {
    ($($from:ty => |$value:ident| $into:expr;)*) => {
        $(impl<'q> From<$from> for Value<'q> {
            fn from($value: $from) -> Self {
                $into
            }
        })*
    };
}

values! {
    i64 => |value| Self::Integer(Some(value));
    Option<i64> => |value| Self::Integer(value);
    String => |value| Self::Text(Some(value.into()));
    Option<String> => |value| Self::Text(value.map(Cow::Owned));
    &'q str => |value| Self::Text(Some(value.into()));
    &'q String => |value| Self::Text(Some(value.as_str().into()));
    Option<&'q str> => |value| Self::Text(value.map(Cow::Borrowed));
    Option<&'q String> => |value| Self::Text(value.map(|text| text.as_str().into()));
    &'q Option<String> => |value| Self::Text(value.as_deref().map(Cow::Borrowed));
    &'q [u8] => |value| Self::Blob(Some(value.into()));
    Vec<u8> => |value| Self::Blob(Some(value.into()));
    Option<Vec<u8>> => |value| Self::Blob(value.map(Cow::Owned));
}

/// A row of a result.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Row<'r> {
    Sqlite(&'r rusqlite::Row<'r>),
    Postgres(&'r tokio_postgres::Row),
}

impl Row<'_> {
    /// Returns the value of a column, given by name or by index from 0.
    pub(crate) fn try_get<T, C>(&self, column: C) -> Result<T, StoreError>
    where
        T: rusqlite::types::FromSql + for<'r> tokio_postgres::types::FromSql<'r>,
        C: rusqlite::RowIndex + tokio_postgres::row::RowIndex + fmt::Display,
    {
        match self {
            Self::Sqlite(row) => Ok(row.get(column)?),
            Self::Postgres(row) => Ok(row.try_get(column)?),
        }
    }
}

/// A type that can be read from a result row.
pub(crate) trait FromRow: Sized + Send {
    fn from_row(row: &Row<'_>) -> Result<Self, StoreError>;
}

/// A value that can be read from a column by its name.
pub(crate) trait Column: Sized {
    fn read(row: &Row<'_>, name: &str) -> Result<Self, StoreError>;
}

macro_rules! readable {
    ($($type:ty => |$row:ident, $name:ident| $read:expr;)*) => {
        $(impl Column for $type {
            fn read($row: &Row<'_>, $name: &str) -> Result<Self, StoreError> {
                $read
            }
        })*
    };
}

readable! {
    i64 => |row, name| row.try_get(name);
    Option<i64> => |row, name| row.try_get(name);
    f64 => |row, name| row.try_get(name);
    Option<f64> => |row, name| row.try_get(name);
    String => |row, name| row.try_get(name);
    Option<String> => |row, name| row.try_get(name);
    Vec<u8> => |row, name| row.try_get(name);
    Option<Vec<u8>> => |row, name| row.try_get(name);
    bool => |row, name| Ok(row.try_get::<i64, _>(name)? != 0);
    Option<bool> => |row, name| Ok(Option::<i64>::read(row, name)?.map(|flag| flag != 0));
    Timestamp => |row, name| row.try_get(name).map(Self::from_millis);
    Option<Timestamp> => |row, name| Ok(Option::<i64>::read(row, name)?.map(Timestamp::from_millis));
    DeliveryStatus => |row, name| String::read(row, name)?
        .parse()
        .map_err(|_| StoreError::Damaged { what: "delivery status" });
}

macro_rules! readable_ids {
    ($($id:ty)*) => {
        $(impl Column for $id {
            fn read(row: &Row<'_>, name: &str) -> Result<Self, StoreError> {
                String::read(row, name).map(Self::from_text)
            }
        }

        impl Column for Option<$id> {
            fn read(row: &Row<'_>, name: &str) -> Result<Self, StoreError> {
                Ok(Option::<String>::read(row, name)?.map(<$id>::from_text))
            }
        })*
    };
}

readable_ids! {
    ApprovalId AttachmentId AudioId AuthSessionId ChallengeId DeliveryId DeviceId InboxMessageId
    MessageId PasskeyId PushSubscriptionId SessionId TurnId WebhookId
}

/// Implements [`FromRow`] for a struct with one column per field. `field("column")` sets a column name that differs
/// from the field name.
macro_rules! columns {
    ($row:ident: $($field:ident $(($column:literal))?),+ $(,)?) => {
        impl $crate::sql::FromRow for $row {
            fn from_row(row: &$crate::sql::Row<'_>) -> Result<Self, $crate::StoreError> {
                Ok(Self {
                    $($field: $crate::sql::Column::read(row, columns!(@name $field $($column)?))?,)+
                })
            }
        }
    };
    (@name $field:ident) => { stringify!($field) };
    (@name $field:ident $column:literal) => { $column };
}

pub(crate) use columns;

impl FromRow for String {
    fn from_row(row: &Row<'_>) -> Result<Self, StoreError> {
        row.try_get(0)
    }
}

impl FromRow for i64 {
    fn from_row(row: &Row<'_>) -> Result<Self, StoreError> {
        row.try_get(0)
    }
}
