//! Checks whether an email was written to this account recently. A recipient of a genuine email could send it
//! unchanged, with its valid signature, to the mailbox. An email must therefore name the account and have a recent
//! date, and is accepted only once.

use super::header::{Header, is_one_of};
use data_encoding::HEXLOWER;
use gatehouse_domain::Timestamp;
use jiff::fmt::rfc2822::DateTimeParser;
use sha2::{Digest, Sha256};

/// The maximum difference between the date of an email and the current time, in seconds. The IDs of messages are kept
/// for longer than twice this time.
const NEAR_SECONDS: u64 = 2 * 24 * 3_600;
static DATES: DateTimeParser = DateTimeParser::new().relaxed_weekday(true);

/// Returns the ID of an email of a sender. The ID is the same each time the email arrives. `own` contains the addresses
/// of the account. The error says why the email may be a replay.
pub(super) fn identify(
    header: &Header,
    sender: &str,
    own: &[String],
    now: Timestamp,
) -> Result<String, &'static str> {
    let recipients = header.recipients();
    if !recipients.iter().any(|address| is_one_of(address, own)) {
        return Err("neither To nor Cc has an address of this channel");
    }
    let date = header
        .one("date")
        .and_then(|date| DATES.parse_timestamp(date).ok());
    let date = date.ok_or("it does not have exactly one valid date")?;
    // The date of an email has no fractions of a second.
    let now = now.as_millis().div_euclid(1000);
    if date.as_second().abs_diff(now) > NEAR_SECONDS {
        return Err("its date is more than two days from now");
    }
    let id = header.one("message-id").unwrap_or_default();
    // White space can change in transit without invalidating a signature.
    let id: String = id.split_ascii_whitespace().collect();
    if id.is_empty() {
        return Err("it does not have exactly one Message-ID");
    }
    let digest = Sha256::digest(format!("{sender}\0{id}"));
    Ok(HEXLOWER.encode(&digest))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 2026-11-18T11:06:40Z
    const NOW_MS: i64 = 1_795_000_000_000;
    const DATE: &str = "Date: Wed, 18 Nov 2026 11:06:40 +0000\r\n";

    fn of(fields: &str) -> Result<String, &'static str> {
        let header = Header::read(format!("To: g@x.com\r\n{fields}\r\n").as_bytes()).unwrap();
        let own = ["g@x.com".to_owned()];
        identify(&header, "a@y.com", &own, Timestamp::from_millis(NOW_MS))
    }

    #[test]
    fn the_date_is_at_most_two_days_away() {
        let near = |date: &str| of(&format!("Date: {date}\r\nMessage-ID: <1@y.com>\r\n")).is_ok();
        for date in [
            "Wed, 18 Nov 2026 11:06:40 +0000",
            "18 Nov 2026 11:06 GMT",
            "Mon, 16 Nov 2026 11:06:40 +0000",
            "Fri, 20 Nov 2026 11:06:40 +0000",
            "Mon, 16 Nov 2026 12:06:40 +0100 (CET)",
            "Sun, 18 Nov 2026 11:06:40 -0000",
        ] {
            assert!(near(date), "{date}");
        }
        for date in [
            "Mon, 16 Nov 2026 11:06:39 +0000",
            "Fri, 20 Nov 2026 11:06:41 +0000",
            "Mon, 16 Nov 2026 11:06:40 +0100",
            "2026-11-18T11:06:40Z",
            "today",
            "",
        ] {
            assert!(!near(date), "{date}");
        }
        assert!(of("Message-ID: <1@y.com>\r\n").is_err());
        assert!(of(&format!("{DATE}{DATE}Message-ID: <1@y.com>\r\n")).is_err());
    }

    #[test]
    fn an_id_is_of_a_sender_and_a_mail() {
        let id = |value: &str| of(&format!("{DATE}Message-ID:{value}\r\n"));
        let one = id(" <1@y.com>").unwrap();
        for same in ["<1@y.com>", "\t<1@y.com> ", "\r\n <1@y.com>", " <1 @y.com>"] {
            assert_eq!(id(same).as_ref(), Ok(&one), "{same:?}");
        }
        assert_ne!(id(" <2@y.com>").unwrap(), one);
        assert!(id(" ").is_err() && of(DATE).is_err());
        assert!(id("<1@y.com>\r\nMessage-ID: <1@y.com>").is_err());
        let header = format!("To: g@x.com\r\n{DATE}Message-ID: <1@y.com>\r\n\r\n");
        let header = Header::read(header.as_bytes()).unwrap();
        let (own, now) = (["g@x.com".to_owned()], Timestamp::from_millis(NOW_MS));
        assert_ne!(identify(&header, "b@y.com", &own, now).unwrap(), one);
        let other = ["h@x.com".to_owned()];
        assert!(identify(&header, "a@y.com", &other, now).is_err());
    }
}
