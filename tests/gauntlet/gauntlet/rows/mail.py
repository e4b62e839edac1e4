"""Mail that claims another sender, and mail of people whom the owner did not pair."""

import email
from email.utils import formatdate, make_msgid

from ..model import refuse, require, row
from ..post_office import PASSWORD, USER, PostOffice
from .chats import CODE, approve, asked

SERVER = "mx.example.com"
VICTIM = "victim@b.example"
MIB = 1 << 20


def mail(sender, results, text="hello", fields=(), subject="hello"):
    results = "".join(f"Authentication-Results: {result}\n" for result in results)
    sent = f"To: {USER}\nDate: {formatdate()}\nMessage-ID: {make_msgid(domain='x.example')}\n"
    more = "".join(f"{field}\n" for field in fields)
    return f"{results}From: {sender}\n{sent}Subject: {subject}\n{more}\n{text}\n"


def authentic(sender, text="hello", fields=(), subject="hello"):
    domain = sender.rstrip(">").split("@")[-1]
    return mail(sender, [f"{SERVER}; dmarc=pass header.from={domain}"], text, fields, subject)


def receive(g, office):
    """Creates a channel that reads the mailbox. Returns its ID, and the address of a person who was answered."""
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
        person = f"first{number}@a.example"
        office.deliver(authentic(person))
        if office.wait_for(person, 3):
            return channel["id"], person
    require(False, "an authenticated mail was not answered")


def letters(office, person):
    """Returns the texts of the answers to a person."""
    found = [email.message_from_bytes(text) for recipient, text in office.sent() if recipient == person]
    return [letter.get_payload(decode=True).decode("utf-8", "replace") for letter in found]


def code_of(office, person):
    require(office.wait_for(person), f"{person} was not answered")
    found = CODE.search(letters(office, person)[0])
    require(found, "the first answer has no pairing code")
    return found.group(1)


def paired(g, office):
    """Pairs a person, whose later mails show that all earlier ones were read."""
    _, person = receive(g, office)
    approve(g, code_of(office, person))
    return person


def read_all(office, person, word, seconds=60):
    """Waits until the mails that have been delivered were read."""
    office.deliver(authentic(person, f"SAY {word}"))
    require(office.wait_for_text(person, word, seconds), "a paired person is not answered")


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
        channel, _ = receive(g, office)
        for name, results in forged.items():
            office.deliver(mail(f"{name}@a.example", results))
        office.deliver(authentic("last@a.example"))
        require(office.wait_for("last@a.example"), "a later authenticated mail was not answered")
        g.call(g.owner, "channels.delete", {"id": channel})
        for name in forged:
            refuse(f"{name}@a.example" in office.recipients(), f"a forged mail was answered: {name}")
    return f"{len(forged)} forged mails, none answered"


@row("inbound-email-stranger", "CWE-862", "Talk with an agent by mail without being paired.", instance="fresh")
def stranger(g):
    eve = "eve@a.example"
    with PostOffice() as office:
        person = paired(g, office)
        office.deliver(authentic(eve))
        code = code_of(office, eve)
        for text in ("SAY let-me-in", f"/pair {code} let-me-in", f"{code} let-me-in"):
            office.deliver(authentic(eve, text))
        # A code that the owner gave to someone else, and the name of the paired person.
        office.deliver(authentic(f'"{person}" <{eve}>', "SAY let-me-in"))
        read_all(office, person, "welcome-42")
        refuse(asked(g, "let-me-in"), "a stranger's mail reaches the model")
        refuse(office.recipients().count(eve) > 1, "a stranger gets more than one mail within the hour")
    return "a stranger gets one code and nothing else"


@row(
    "inbound-email-rows",
    "CWE-770",
    "Fill the list of people who wait for approval, with many mails of one stranger and with many strangers.",
    instance="fresh",
    deadline=360.0,
)
def rows_of_strangers(g):
    waiting = lambda: [
        it["person"]
        for it in g.call(g.need_owner(), "pairing.people", {"limit": 500})["people"]
        if it.get("code")
    ]
    with PostOffice() as office:
        person = paired(g, office)
        for number in range(30):
            office.deliver(authentic("eve@a.example", f"mail {number}"))
        read_all(office, person, "welcome-42")
        require("eve@a.example" in waiting(), "a stranger does not wait for approval")
        refuse(waiting().count("eve@a.example") > 1, "a stranger writes more than one row")
        for number in range(150):
            office.deliver(authentic(f"eve{number}@a.example"))
        read_all(office, person, "welcome-43", 180)
        count = len(waiting())
        refuse(count > 120, f"{count} strangers wait for approval")
    return f"{count} wait for approval"


@row(
    "mail-loop",
    "CWE-835",
    "Have two programs answer each other's mails without end.",
    instance="fresh",
)
def loop(g):
    automatic = {
        "auto-replied": ["Auto-Submitted: auto-replied"],
        "auto-generated": ["Auto-Submitted: (vacation) Auto-Generated; owner=x"],
        "bulk": ["Precedence: bulk"],
        "list": ["List-Id: <x.example.com>"],
        "unsubscribe": ["List-Unsubscribe: <mailto:x@a.example>"],
        "bounce": ["Return-Path: <>"],
        "report": ["Content-Type: multipart/report; report-type=delivery-status; boundary=x"],
        "suppress": ["X-Auto-Response-Suppress: All"],
        "autoreply": ["X-Autoreply: yes"],
        "noreply": [],
        "mailer-daemon": [],
        "MAILER-DAEMON": [],
    }
    with PostOffice() as office:
        person = paired(g, office)
        for name, fields in automatic.items():
            office.deliver(authentic(f"{name}@a.example", fields=fields))
        office.deliver(authentic(USER))
        office.deliver(authentic(person, "SAY vacation", ["Auto-Submitted: auto-replied"]))
        read_all(office, person, "welcome-42")
        refuse(asked(g, "vacation"), "an automatic answer of a paired person reaches the model")
        for recipient, text in office.sent():
            name = recipient.split("@")[0]
            refuse(name.lower() in map(str.lower, automatic), f"automatic mail was answered: {name}")
            refuse(recipient == USER, "the gateway answers itself")
            mark = email.message_from_bytes(text)["Auto-Submitted"] or "no"
            refuse(mark == "no", "the answers do not say that they are automatic")
    return f"{len(automatic) + 2} automatic mails, none answered"


@row(
    "mail-answer-elsewhere",
    "CWE-441",
    "Have the gateway send an answer to an address that did not write to it.",
    instance="fresh",
)
def answer_elsewhere(g):
    broken = "=?utf-8?q?hello=0D=0ABcc:_victim@b.example=0D=0A=0D=0Ahello?="
    folded = "=?utf-8?b?aGVsbG8NClRvOiB2aWN0aW1AYi5leGFtcGxl?="
    named = [
        ["Reply-To: victim@b.example"],
        ["Reply-To: carol@a.example, victim@b.example"],
        ["Cc: victim@b.example"],
        ["Return-Path: <victim@b.example>"],
        ["Sender: victim@b.example"],
        ["Resent-From: victim@b.example", "Resent-To: victim@b.example"],
        ["Disposition-Notification-To: victim@b.example", "Return-Receipt-To: victim@b.example"],
        ["Mail-Followup-To: victim@b.example", "Errors-To: victim@b.example"],
        ["From: victim@b.example"],
        [f"References: <a@x.example>\tvictim@b.example <{VICTIM}> <b\\@x>"],
    ]
    senders = [
        "d1@a.example, victim@b.example",
        "friends: d2@a.example, victim@b.example;",
        "victim@b.example <d3@a.example>",
        '"victim@b.example," <d4@a.example>',
        "<@b.example:d5@a.example>",
        '"victim@b.example> RCPT TO:<"@a.example',
        "d6@a.example (comment) <victim@b.example>",
    ]
    with PostOffice() as office:
        person = paired(g, office)
        for number, fields in enumerate(named):
            office.deliver(authentic(f"c{number}@a.example", fields=fields))
        passed = [f"{SERVER}; dmarc=pass header.from=a.example"]
        for sender in senders:
            office.deliver(mail(sender, passed))
        for number, subject in enumerate((broken, folded)):
            office.deliver(authentic(f"s{number}@a.example", subject=subject))
        # The answer to a paired person repeats the subject.
        for number, subject in enumerate((broken, folded)):
            office.deliver(authentic(person, f"SAY answer-{number}", subject=subject))
        for number in range(2):
            require(office.wait_for_text(person, f"answer-{number}"), "a paired person is not answered")
        refuse(VICTIM in office.recipients(), "another address gets the answer")
        require(office.wait_for("c0@a.example"), "a stranger is not answered")
        for recipient, text in office.sent():
            letter = email.message_from_bytes(text)
            sent_to = " ".join(letter.get_all("To", []) + letter.get_all("Cc", []) + letter.get_all("Bcc", []))
            refuse(VICTIM in sent_to, "another address is among the recipients of the answer")
            refuse(letter.defects, f"the answer to {recipient} has a broken head")
    return f"{len(named) + len(senders) + 4} mails, each answered to its sender or not at all"


@row(
    "mail-too-large",
    "CWE-400",
    "Send mails that take much memory, as an unauthenticated sender: large ones, and ones with many or nested parts.",
    instance="fresh",
)
def too_large(g):
    nested = "".join(
        f"Content-Type: multipart/mixed; boundary=b{n}\n\n--b{n}\n" for n in range(2_000)
    )
    part = "--m\nContent-Type: text/plain; name=a.txt\nContent-Disposition: attachment\n\nx\n"
    mixed = ["MIME-Version: 1.0", "Content-Type: multipart/mixed; boundary=m"]
    line = "x" * 70 + "\n"
    large = line * (24 * MIB // len(line))
    with PostOffice() as office:
        person = paired(g, office)
        before = g.memory_bytes()
        for number in range(3):
            office.deliver(authentic(f"large{number}@a.example", large))
        office.deliver(authentic("larger@a.example", large * 2))
        office.deliver(authentic("head@a.example", fields=[f"X-{n}: {line[:60]}" for n in range(100_000)]))
        office.deliver(authentic("parts@a.example", part * 100_000 + "--m--", mixed))
        office.deliver(authentic("nested@a.example", f"--m\n{nested}", mixed))
        office.deliver(authentic("line@a.example", "x" * (8 * MIB)))
        office.deliver(authentic(person, "SAY welcome-42"))
        if not office.wait_for_text(person, "welcome-42", 120):
            raise RuntimeError("a paired person is not answered after these mails")
        require(office.wait_for("large0@a.example"), "a large mail of a stranger is not read")
        grown = g.peak_memory_bytes() - before
        refuse(grown > g.max_memory_bytes, f"the mails took {grown >> 20} MiB")
        for recipient, text in office.sent():
            is_code = CODE.search(email.message_from_bytes(text).get_payload(decode=True).decode("utf-8", "replace"))
            refuse(recipient != person and not is_code, "a stranger gets more than a code")
    return f"they took {grown >> 20} MiB"
