"""A mailbox with IMAP, and a server that takes mail. Both do what one client needs."""

import re
import socketserver
import threading

USER, PASSWORD = "gate@example.com", "secret"


class _Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = daemon_threads = True


class PostOffice:
    """`deliver` puts a mail into the mailbox; `taken` holds the recipients and texts of the mails that were sent."""

    def __init__(self):
        self.mails, self.taken, self.changed = [], [], threading.Condition()
        outer = self

        class Imap(_Imap):
            office = outer

        class Smtp(_Smtp):
            office = outer

        self.servers = [_Server(("127.0.0.1", 0), handler) for handler in (Imap, Smtp)]
        self.imap_port, self.smtp_port = (server.server_address[1] for server in self.servers)
        for server in self.servers:
            threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for server in self.servers:
            server.shutdown()
            server.server_close()

    def deliver(self, mail):
        with self.changed:
            self.mails.append(mail.replace("\n", "\r\n").encode())
            self.changed.notify_all()

    def sent(self):
        """Returns the recipients and texts of the mails that were sent."""
        with self.changed:
            return list(self.taken)

    def recipients(self):
        return [recipient for recipient, _ in self.sent()]

    def wait_for(self, recipient, seconds=60.0):
        """Returns whether a mail to this address was sent in time."""
        with self.changed:
            return self.changed.wait_for(lambda: recipient in [to for to, _ in self.taken], seconds)

    def wait_for_text(self, recipient, word, seconds=60.0):
        """Returns whether a mail with this word was sent to this address in time."""
        is_sent = lambda: any(to == recipient and word.encode() in text for to, text in self.taken)
        with self.changed:
            return self.changed.wait_for(is_sent, seconds)


class _Lines(socketserver.StreamRequestHandler):
    def say(self, *lines):
        self.wfile.write("".join(f"{line}\r\n" for line in lines).encode())

    def handle(self):
        try:
            self.talk()
        except OSError:
            pass


class _Imap(_Lines):
    """RFC 3501, with IDLE (RFC 2177)."""

    def talk(self):
        self.say("* OK ready")
        while line := self.rfile.readline().decode("latin-1").rstrip("\r\n"):
            tag, _, command = line.partition(" ")
            verb = command.split(" ")[0].upper()
            if verb == "LOGOUT":
                self.say("* BYE", f"{tag} OK done")
                return
            if verb == "LOGIN" and f'"{PASSWORD}"' not in command:
                self.say(f"{tag} NO [AUTHENTICATIONFAILED] no")
                continue
            answer = getattr(self, f"do_{verb.lower()}", None)
            if answer:
                answer(command)
            self.say(f"{tag} OK done" if answer or verb in ("LOGIN", "NOOP") else f"{tag} BAD what")

    def do_capability(self, _):
        self.say("* CAPABILITY IMAP4rev1 IDLE")

    def do_examine(self, _):
        count = self.reported = len(self.office.mails)
        self.say(f"* {count} EXISTS", "* OK [UIDVALIDITY 1] valid", f"* OK [UIDNEXT {count + 1}] next")

    def do_uid(self, command):
        with self.office.changed:
            mails = dict(enumerate(self.office.mails, 1))
        if found := re.fullmatch(r"UID SEARCH UID (\d+):\*", command):
            uids = [uid for uid in mails if uid >= int(found[1])] or list(mails)[-1:]
            self.say("* SEARCH" + "".join(f" {uid}" for uid in uids))
            return
        found = re.fullmatch(r"UID FETCH ([\d,]+) \(UID RFC822\.SIZE BODY\.PEEK\[(HEADER|)\]<0\.(\d+)>\)", command)
        for uid in map(int, found[1].split(",")) if found else []:
            mail = mails[uid]
            part = mail[: mail.index(b"\r\n\r\n") + 4] if found[2] else mail
            part = part[: int(found[3])]
            head = f"* {uid} FETCH (UID {uid} RFC822.SIZE {len(mail)} BODY[{found[2]}]<0> {{{len(part)}}}\r\n"
            self.wfile.write(head.encode() + part + b")\r\n")

    def do_idle(self, _):
        self.say("+ idling")
        ended = threading.Event()

        def report():
            while not ended.is_set():
                with self.office.changed:
                    self.office.changed.wait_for(lambda: len(self.office.mails) != self.reported, 0.1)
                    count = len(self.office.mails)
                if count != self.reported:
                    self.reported = count
                    self.say(f"* {count} EXISTS")

        reporter = threading.Thread(target=report, daemon=True)
        reporter.start()
        self.rfile.readline()
        ended.set()
        reporter.join()


class _Smtp(_Lines):
    """RFC 5321."""

    def talk(self):
        self.say("220 mail.test ESMTP")
        recipients = []
        while line := self.rfile.readline().decode("latin-1").rstrip("\r\n"):
            verb = line[:4].upper()
            if verb == "RCPT":
                recipients.append(line[line.index("<") + 1 : line.index(">")])
            if verb == "DATA":
                self.say("354 go ahead")
                text = b""
                while (more := self.rfile.readline()) not in (b".\r\n", b""):
                    text += more
                with self.office.changed:
                    self.office.taken += [(recipient, text) for recipient in recipients]
                    self.office.changed.notify_all()
                recipients = []
            self.say("221 bye" if verb == "QUIT" else "250 ok")
            if verb == "QUIT":
                return
