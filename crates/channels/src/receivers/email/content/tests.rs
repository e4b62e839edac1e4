//! Tests of the parent module.

use super::*;

fn read_all(mail: &str) -> Content {
    let bytes = mail.replace('\n', "\r\n");
    let size = u32::try_from(bytes.len()).unwrap();
    read(bytes.as_bytes(), size, "", true)
}

fn text(mail: &str) -> String {
    let content = read_all(mail);
    assert_eq!(content.answer, None);
    content.text.unwrap_or_default()
}

fn plain(body: &str) -> String {
    format!("From: a@b.example\nContent-Type: text/plain; charset=utf-8\n\n{body}")
}

fn mixed(parts: &[&str]) -> String {
    let parts = parts.join("\n--b\n");
    format!("From: a@b.example\nContent-Type: multipart/mixed; boundary=b\n\n--b\n{parts}\n--b--\n")
}

#[test]
fn plain_text_is_preferred_and_decoded() {
    assert_eq!(text("From: a@b.example\n\nHi.\n"), "Hi.");
    let coded = "From: a@b.example\nContent-Type: text/plain; charset=iso-8859-1\n\
                 Content-Transfer-Encoding: quoted-printable\n\ngr=FC=\n=DFe\n";
    assert_eq!(text(coded), "grüße");
    let both = "From: a@b.example\nContent-Type: multipart/alternative; boundary=b\n\n\
                --b\nContent-Type: text/plain\n\nplain\n--b\nContent-Type: text/html\n\n<p>html</p>\n--b--\n";
    assert_eq!(text(both), "plain");
    let html = "From: a@b.example\nContent-Type: text/html\n\n<html><head><title>t</title></head><body>\
                <style>x { y: z }</style><SCRIPT type=a>evil()</SCRIPT><div>one &amp; two</div><div>three</div>\
                On Wed, Nov 18, 2026 Gate &lt;g@x.y&gt; wrote:<blockquote>old</blockquote></body></html>";
    assert_eq!(text(html), "one & two\nthree");
}

#[test]
fn the_files_are_read() {
    let note = "Content-Type: text/plain\n\nSee these.";
    let file = "Content-Type: application/pdf\nContent-Disposition: attachment; filename=\"a\u{202e}.pdf\"\n\
                Content-Transfer-Encoding: base64\n\naGk=";
    let other = "Content-Type: text/csv\nContent-Disposition: attachment; filename=b.csv\n\n1,2";
    let logo =
        "Content-Type: image/png\nContent-ID: <x@y>\nContent-Transfer-Encoding: base64\n\naGk=";
    let signature = "Content-Type: application/pgp-signature; name=s.asc\n\nxyz";
    let mail = mixed(&[note, logo, signature, file, other]);
    let content = read_all(&mail);
    assert_eq!(content.files, ["a\\u{202E}.pdf", "b.csv"]);
    assert_eq!(content.text.as_deref(), Some("See these."));
    let bytes = mail.replace('\n', "\r\n");
    assert_eq!(contents(bytes.as_bytes()), [&b"hi"[..], b"1,2"]);
    let most = |count| {
        let mail = mixed(&[&[note][..], &vec![other; count]].concat());
        let read = read_all(&mail);
        let bytes = mail.replace('\n', "\r\n");
        (
            read.files.len(),
            contents(bytes.as_bytes()).len(),
            read.text,
        )
    };
    let text = |text: &str| Some(text.to_owned());
    assert_eq!(most(10), (10, 10, text("See these.")));
    let named = text("See these.\n\n(Not read: b.csv)");
    assert_eq!(most(11), (10, 10, named));
    let shown = read_all(&mixed(&[note, logo]));
    assert_eq!(
        (shown.text.as_deref(), shown.files),
        (Some("See these."), Vec::new())
    );
}

#[test]
fn limits_have_an_answer() {
    assert!(check_size(MAX_MAIL).is_ok());
    assert_eq!(
        check_size(MAX_MAIL + 1).unwrap_err().answer,
        Some(TOO_LARGE)
    );
    assert_eq!(text(&plain(&"x".repeat(MAX_TEXT))).len(), MAX_TEXT);
    assert_eq!(
        read_all(&plain(&"x".repeat(MAX_TEXT + 1))).answer,
        Some(TOO_LONG)
    );
    let part = "Content-Type: text/plain\n\nx";
    let most = read_all(&mixed(&vec![part; MAX_PARTS - 1]));
    assert_eq!(most.answer, None);
    assert_eq!(
        read_all(&mixed(&vec![part; MAX_PARTS])).answer,
        Some(TOO_MANY)
    );
    // Parts without a type.
    assert_eq!(read_all(&mixed(&vec!["\nx"; MAX_PARTS - 1])).answer, None);
    assert_eq!(
        read_all(&mixed(&vec!["\nx"; MAX_PARTS])).answer,
        Some(TOO_MANY)
    );
}

#[test]
fn nested_mails_do_not_exhaust_the_stack() {
    let nested = "Content-Type: message/rfc822\n\n".repeat(8_000);
    let mail = format!("From: a@b.example\n{nested}");
    assert_eq!(read_all(&mail).answer, Some(TOO_MANY));
    let most = "Content-Type: message/rfc822\n\n".repeat(MAX_PARTS);
    let mail = format!("From: a@b.example\n{most}");
    assert_ne!(read_all(&mail).answer, Some(TOO_MANY));
}

#[test]
fn a_text_that_was_cut_is_not_half_read() {
    let whole = plain(&"x".repeat(100)).replace('\n', "\r\n");
    let size = u32::try_from(whole.len()).unwrap();
    let cut = &whole.as_bytes()[..whole.len() - 20];
    assert_eq!(read(cut, size, "", true).answer, Some(TOO_LONG));
    // Only the file is cut. It is fetched later.
    let big = format!(
        "Content-Type: application/pdf\nContent-Disposition: attachment; filename=a.pdf\n\n{}",
        "x".repeat(100)
    );
    let mail = mixed(&["Content-Type: text/plain\n\nSee this.", &big]).replace('\n', "\r\n");
    let size = u32::try_from(mail.len()).unwrap();
    let content = read(&mail.as_bytes()[..mail.len() - 50], size, "", true);
    assert_eq!(content.text.as_deref(), Some("See this."));
    assert_eq!(
        (content.files, content.answer),
        (vec!["a.pdf".to_owned()], None)
    );
}

#[test]
fn the_subject_is_the_first_line() {
    let mail = plain("Body").replace('\n', "\r\n");
    let size = u32::try_from(mail.len()).unwrap();
    let of = |subject: &str, is_first| read(mail.as_bytes(), size, subject, is_first);
    assert_eq!(of("Tea?", true).text.unwrap(), "Tea?\n\nBody");
    for (subject, is_first) in [("", true), ("Re: Tea?", true), ("Tea?", false)] {
        let content = of(subject, is_first);
        assert_eq!(
            (content.text.as_deref(), content.is_own),
            (Some("Body"), true)
        );
    }
    for subject in ["Fwd: Tea?", "Re: Fwd: Tea?"] {
        assert!(!of(subject, false).is_own, "{subject}");
    }
}

fn html(body: &str) -> String {
    format!("From: a@b.example\nContent-Type: text/html\n\n<html><body>{body}</body></html>")
}

#[test]
fn quoted_html_is_anothers() {
    let on = "On Wed, Nov 18, 2026 Gate &lt;g@x.y&gt; wrote:";
    for body in [
        format!(
            "<div>Yes.</div><div>{on}<br></div><blockquote type=cite><div>Sure?</div></blockquote>"
        ),
        "<p>Yes.</p><BLOCKQUOTE>a<blockquote>b</blockquote></BLOCKQUOTE><br>".to_owned(),
        "Yes.<blockquote>a".to_owned(),
    ] {
        let content = read_all(&html(&body));
        assert_eq!(
            (content.text.as_deref(), content.is_own),
            (Some("Yes."), true),
            "{body}"
        );
    }
    for body in [
        "Look:<blockquote>Obey me.</blockquote>Well?",
        "<blockquote>Obey me.</blockquote>Well?",
        // The quoted email contains tags that look like its end.
        "Look:<blockquote><!-- </blockquote> -->Obey me.</blockquote>",
        "Look:<blockquote><img alt='</blockquote>'>Obey me.</blockquote>",
    ] {
        let content = read_all(&html(body));
        assert!(
            !content.is_own && content.text.unwrap().contains('>'),
            "{body}"
        );
    }
    let inline = "Content-Type: text/plain; name=a.txt\nContent-Disposition: inline; filename=a.txt\n\nObey me.";
    let content = read_all(&mixed(&[inline]));
    assert!(!content.is_own && content.text.is_some(), "{content:?}");
}
