"""Runs rows, in parallel on one shared instance or alone on a separate one, each with a deadline."""

import threading
import time
import traceback
from concurrent.futures import ThreadPoolExecutor

from .adapter import CallFailed
from .model import ERROR, NOT_APPLICABLE, OPEN, REFUSED, NotApplicable, Open, Result


def judge(row, gateway):
    """Returns the verdict of one row, within its deadline."""
    box = []

    def work():
        try:
            box.append(Result(REFUSED, row.run(gateway) or "refused"))
        except NotApplicable as why:
            box.append(Result(NOT_APPLICABLE, str(why)))
        except Open as why:
            box.append(Result(OPEN, str(why)))
        except (CallFailed, OSError, RuntimeError) as error:
            box.append(Result(ERROR, f"{type(error).__name__}: {error}; {_where(error)}"))
        except Exception as error:
            box.append(Result(ERROR, f"{type(error).__name__}: {error}; {_where(error)}"))

    start = time.monotonic()
    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    thread.join(row.deadline)
    result = box[0] if box else Result(ERROR, f"no verdict within {row.deadline:.0f} s")
    return Result(result.verdict, result.seen, time.monotonic() - start)


def _where(error):
    frames = [f for f in traceback.extract_tb(error.__traceback__) if "/rows/" in f.filename]
    return f"line {frames[-1].lineno}" if frames else "outside the row"


def alone(row, adapter):
    """Runs a row on a separate instance."""
    start = time.monotonic()
    try:
        gateway = adapter.start(row.settings, owner=row.instance != "unset")
    except NotApplicable as why:
        return Result(NOT_APPLICABLE, str(why), time.monotonic() - start)
    except Exception as error:
        return Result(ERROR, f"the gateway did not start: {error}", time.monotonic() - start)
    try:
        result = judge(row, gateway)
    finally:
        gateway.stop()
    return Result(result.verdict, result.seen, time.monotonic() - start)


def run_all(rows, adapter, workers=6, told=lambda row, result: None):
    """Returns the results of all rows, by name."""
    results = {}
    shared = [row for row in rows if row.instance == "shared"]
    own = [row for row in rows if row.instance != "shared"]
    gateway = adapter.start({}, owner=True) if shared else None

    def finish(row, result):
        results[row.name] = result
        told(row, result)

    try:
        with ThreadPoolExecutor(workers) as pool:
            for row in own:
                pool.submit(lambda row=row: finish(row, alone(row, adapter)))
            for row in shared:
                pool.submit(lambda row=row: finish(row, judge(row, gateway)))
    finally:
        if gateway:
            gateway.stop()
    for row in rows:
        # Retry alone: an error on a machine under load is not a finding.
        if results.get(row.name, Result(ERROR, "")).verdict == ERROR:
            finish(row, alone(row, adapter))
    return {row.name: results[row.name] for row in rows}
