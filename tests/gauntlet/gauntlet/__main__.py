"""`python -m gauntlet`: see README.md."""

import argparse
import importlib
import resource
import sys
import tomllib
from pathlib import Path

from . import references, report
from .model import ERROR, OPEN, ROWS
from .runner import run_all

HERE = Path(__file__).resolve().parent.parent
DOCUMENT = HERE.parent.parent / "docs" / "GAUNTLET.md"


def arguments():
    parser = argparse.ArgumentParser(prog="gauntlet", description=__doc__)
    parser.add_argument("--adapter", default="gatehouse", help="a module of gauntlet.adapters")
    parser.add_argument("--target", default="target/debug/gatehouse", help="the binary, or the URL, of the gateway")
    parser.add_argument("--row", action="append", help="only this row; may be repeated, or end in *")
    parser.add_argument("--self-test", action="store_true", help="show that each row can come out open")
    parser.add_argument(
        "--check", action="store_true", help="fail when docs/GAUNTLET.md differs, or an open row has no reason"
    )
    parser.add_argument("--write", action="store_true", help="write docs/GAUNTLET.md")
    parser.add_argument("--json", metavar="FILE", help="write the results as JSON")
    parser.add_argument("--workers", type=int, default=6)
    parser.add_argument("--list", action="store_true", help="print the rows and end")
    return parser.parse_args()


def chosen(names):
    if not names:
        return list(ROWS.values())

    def fits(row, name):
        return row.name.startswith(name[:-1]) if name.endswith("*") else row.name == name

    found = [row for row in ROWS.values() if any(fits(row, name) for name in names)]
    if not found:
        raise SystemExit(f"no row is named {', '.join(names)}; --list prints them")
    return found


def told(row, result):
    print(f"  {result.verdict:<15} {result.seconds:>5.1f} s  {row.name}: {result.seen[:140]}", flush=True)


def main():
    args = arguments()
    # Some rows open thousands of connections.
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    # Registers the rows.
    importlib.import_module(".rows", __package__)
    for row in ROWS.values():
        references.address(row.reference)
    rows = chosen(args.row)
    if args.list:
        for row in rows:
            print(f"{row.name:<36} {row.reference:<20} {row.attack}")
        return 0
    if args.self_test:
        from .selftest import run

        return run(rows, args.workers)
    adapter = importlib.import_module(f".adapters.{args.adapter}", __package__).Adapter(args.target)
    results = run_all(rows, adapter, args.workers, told)
    print(report.table(rows, results))
    if args.json:
        Path(args.json).write_text(report.as_json(rows, results))
    return finish(args, rows, results)


def finish(args, rows, results):
    """Returns the exit status: 1 for rows without a verdict, unexplained open rows, or a document that differs."""
    known = tomllib.loads((HERE / "known-open.toml").read_text()).get("open", {})
    wrong = [f"{name}: {r.seen}" for name, r in results.items() if r.verdict == ERROR]
    wrong += [
        f"{name} is open, and known-open.toml has no reason: {r.seen}"
        for name, r in results.items()
        if r.verdict == OPEN and name not in known
    ]
    wrong += [
        f"{name} is in known-open.toml, and is not open"
        for name in known
        if name in results and results[name].verdict != OPEN
    ]
    if not args.row:
        text = report.markdown(rows, results, known)
        if args.write:
            DOCUMENT.write_text(text)
        elif args.check and (not DOCUMENT.is_file() or DOCUMENT.read_text() != text):
            wrong.append("docs/GAUNTLET.md differs from this run; cargo xtask gauntlet --write updates it")
    for line in wrong:
        print(f"gauntlet: {line}", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
