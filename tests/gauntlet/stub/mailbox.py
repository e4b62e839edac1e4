"""Received mail of the stub: answers authenticated senders with a code."""

import email
import imaplib
import re
import smtplib
import time

# Comments and quoted strings may contain anything.
HIDDEN = re.compile(r'\([^()]*\)|"[^"]*"')


def is_authentic(mail, server):
    domain = mail["From"].partition("@")[2]
    for value in mail.get_all("Authentication-Results", []):
        name, *results = HIDDEN.sub("", value).split(";")
        if name.strip() == server:
            return any(
                re.search(rf"\bdmarc=pass\b.*\bheader\.from={re.escape(domain)}(\s|$)", result) for result in results
            )
    return False


def watch(fields, believes_all, is_running):
    """Answers new mails until `is_running()` is false."""
    box = imaplib.IMAP4("127.0.0.1", int(fields["imap_port"]), timeout=8)
    box.login(fields["imap_user"], fields["imap_password"])
    box.select("INBOX", readonly=True)
    seen = 0
    while is_running():
        found = box.uid("SEARCH", "UID", f"{seen + 1}:*")[1][0].split()
        for uid in (int(uid) for uid in found if int(uid) > seen):
            seen = uid
            raw = box.uid("FETCH", str(uid), "(UID RFC822.SIZE BODY.PEEK[]<0.65536>)")[1][0][1]
            mail = email.message_from_bytes(raw)
            if believes_all or is_authentic(mail, fields["authserv_id"]):
                with smtplib.SMTP("127.0.0.1", int(fields["port"]), timeout=8) as relay:
                    relay.sendmail(fields["from"], mail["From"], "Subject: Re: hello\r\n\r\nYour code is 1.\r\n")
        time.sleep(0.05)
