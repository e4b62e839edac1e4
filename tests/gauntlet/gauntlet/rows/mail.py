"""Mail that claims another sender."""

from email.utils import formatdate, make_msgid

from ..model import refuse, require, row
from ..post_office import PASSWORD, USER, PostOffice

SERVER = "mx.example.com"


def mail(sender, results):
    fields = "".join(f"Authentication-Results: {result}\n" for result in results)
    sent = f"To: {USER}\nDate: {formatdate()}\nMessage-ID: {make_msgid(domain='x.example')}\n"
    return f"{fields}From: {sender}\n{sent}Subject: hello\n\nhello\n"


def authentic(sender):
    return mail(sender, [f"{SERVER}; dmarc=pass header.from={sender.split('@')[1]}"])


@row(
    "mail-forged-from",
    "CWE-290",
    "Write a mail in the name of another, to be answered as that person.",
    instance="fresh",
)
def forged_from(g):
    passed, failed = f"{SERVER}; dmarc=pass header.from=a.example", f"{SERVER}; dmarc=fail header.from=a.example"
    forged = {
        "no-results": [],
        "results-of-another-server": ["evil.example; dmarc=pass header.from=a.example"],
        "a-second-field-below": [failed, passed],
        "results-for-another-domain": [f"{SERVER}; dmarc=pass header.from=evil.example"],
        "quoted-words": [f'{SERVER}; spf=pass smtp.mailfrom="x; dmarc=pass"@evil.example'],
        "results-for-no-domain": [f"{SERVER}; dmarc=pass"],
        "a-signature-after-the-envelope": [f"{SERVER}; spf=pass smtp.mailfrom=x; dkim=pass header.d=a.example"],
        "a-comment": [f"{SERVER}; spf=pass (; dmarc=pass header.from=a.example)"],
        "a-signature-below": [f"{SERVER}; dkim=pass header.d=evil.a.example"],
    }
    with PostOffice() as office:
        fields = {
            "host": "localhost",
            "port": office.smtp_port,
            "from": USER,
            "inbound": True,
            "imap_host": "localhost",
            "imap_port": office.imap_port,
            "imap_security": "none",
            "imap_user": USER,
            "imap_password": PASSWORD,
            "authserv_id": SERVER,
        }
        channel = g.call(g.need_owner(), "channels.create", {"type": "email", "label": "m", "fields": fields})
        # What arrived before the first look is not answered, so this may have to be sent more than once.
        for number in range(20):
            office.deliver(authentic(f"first{number}@a.example"))
            if office.wait_for(f"first{number}@a.example", 3):
                break
        require(office.recipients(), "an authenticated mail was not answered")
        for name, results in forged.items():
            office.deliver(mail(f"{name}@a.example", results))
        office.deliver(authentic("last@a.example"))
        require(office.wait_for("last@a.example"), "a later authenticated mail was not answered")
        g.call(g.owner, "channels.delete", {"id": channel["id"]})
        for name in forged:
            refuse(f"{name}@a.example" in office.recipients(), f"a forged mail was answered: {name}")
    return f"{len(forged)} forged mails, none answered"
