"""Shows that each row can be open: runs it against a gateway with the row's weakness."""

from concurrent.futures import ThreadPoolExecutor

from .adapters.stub import Adapter
from .model import OPEN, REFUSED
from .runner import alone


def both(row):
    """Returns the results with the row's weakness and without any weakness."""
    return row, alone(row, Adapter(row.name)), alone(row, Adapter())


def run(rows, workers):
    wrong, done = [], 0
    with ThreadPoolExecutor(workers) as pool:
        for row, weak, strong in pool.map(both, rows):
            done += 1
            if weak.verdict != OPEN:
                wrong.append(f"{row.name} cannot turn red: with its weakness it is {weak.verdict}: {weak.seen}")
            elif strong.verdict != REFUSED:
                wrong.append(
                    f"{row.name} is not red by its weakness alone: without it it is {strong.verdict}: {strong.seen}"
                )
            print(f"  {weak.verdict:<15} {strong.verdict:<15} {row.name}: {weak.seen[:100]}", flush=True)
    for line in wrong:
        print(f"gauntlet: {line}")
    print(f"self-test: {done} rows, {done - len(wrong)} of them turn red by their weakness alone")
    return 1 if wrong else 0
