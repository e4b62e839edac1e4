"""Received mail of the stub, as a vendor of conversations."""

import imaplib
import re
import smtplib
import time
from email.parser import BytesHeaderParser
from email.utils import parseaddr

# Comments and quoted strings may contain anything.
HIDDEN = re.compile(r'\([^()]*\)|"[^"]*"')
ADDRESS = re.compile(r'(?:"[^"]*" )?<?([\w.-]+@[\w.-]+)>?')
AUTOMATIC = ("x-auto-response-suppress", "x-autoreply")
NOBODY = ("noreply", "mailer-daemon")


def is_authentic(mail, sender, server):
    domain = sender.partition("@")[2]
    for value in mail.get_all("Authentication-Results", []):
        name, *results = HIDDEN.sub("", value).split(";")
        if name.strip() == server:
            return any(
                re.search(rf"\bdmarc=pass\b.*\bheader\.from={re.escape(domain)}(\s|$)", result) for result in results
            )
    return False


def is_automatic(mail, sender):
    names = [name.lower() for name in mail.keys()]
    return (
        mail.get("Auto-Submitted", "no") != "no"
        or mail.get("Precedence") == "bulk"
        or mail.get("Return-Path") == "<>"
        or mail.get_content_type() == "multipart/report"
        or any(name.startswith("list-") or name in AUTOMATIC for name in names)
        or sender.partition("@")[0].lower() in NOBODY
    )


class Email:
    def __init__(self, fields, stub, is_running):
        self.fields, self.stub, self.is_running = fields, stub, is_running

    def events(self):
        """Yields the new mails until the channel is deleted."""
        box = imaplib.IMAP4("127.0.0.1", int(self.fields["imap_port"]), timeout=8)
        box.login(self.fields["imap_user"], self.fields["imap_password"])
        box.select("INBOX", readonly=True)
        seen, most = 0, 1 << 32 if self.stub.weak("mail-too-large") else 64 << 10
        while self.is_running():
            found = box.uid("SEARCH", "UID", f"{seen + 1}:*")[1][0].split()
            for uid in (int(uid) for uid in found if int(uid) > seen):
                seen = uid
                raw = box.uid("FETCH", str(uid), f"(UID RFC822.SIZE BODY.PEEK[]<0.{most}>)")[1][0][1]
                # The bytes, the text and its parts.
                self.stub.hold(3 * len(raw))
                if event := self.event(BytesHeaderParser().parsebytes(raw)):
                    yield event
            time.sleep(0.05)

    def event(self, mail):
        weak, senders = self.stub.weak, mail.get_all("From", [])
        one = ADDRESS.fullmatch(senders[0]) if len(senders) == 1 else None
        sender = one[1] if one else None
        if sender is None or sender == self.fields["from"]:
            return None
        if not weak("mail-forged-from") and not is_authentic(mail, sender, self.fields["authserv_id"]):
            return None
        if not weak("mail-loop") and is_automatic(mail, sender):
            return None
        chat = parseaddr(mail.get("Reply-To", sender))[1] if weak("mail-answer-elsewhere") else sender
        return "message", sender, chat, mail.get_payload().strip()

    def send(self, chat, text, buttons):
        head = "Subject: Re: hello\r\nAuto-Submitted: auto-replied\r\n"
        with smtplib.SMTP("127.0.0.1", int(self.fields["port"]), timeout=8) as relay:
            relay.sendmail(self.fields["from"], chat, f"{head}\r\n{text}\r\n")
