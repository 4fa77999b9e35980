"""A worker that the tests kill: worker.py JOURNAL MODE. It notes in the journal what it handles.

MODE: "produce" enqueues meanwhile, "work" does not, "poison" dies of every message, "slow" takes half a
second for each, one at a time, "fail" fails each, "long" takes six seconds or until the lease is lost,
"batch" handles lists and fails those with a message "bad", once. "batches" and "singles" measure: they do nothing with
batches of a thousand messages, or with each of them. "sleep" polls only every ten minutes.
"""

import os
import signal
import sys
import threading
import time

import psycopg

import pawl

url, journal, mode = os.environ["DATABASE_URL"], os.open(sys.argv[1], os.O_WRONLY | os.O_APPEND), sys.argv[2]


def note(*words):
    os.write(journal, (" ".join(words) + "\n").encode())


def handle(m):
    note("begin", "python", m.payload)
    if mode == "poison":
        os.kill(os.getpid(), signal.SIGKILL)
    if mode == "fail":
        raise pawl.Retry("again", 0) if m.retry_count == 0 else pawl.Fail("for good")
    if mode == "long":
        until = time.monotonic() + 6
        while not m.lost and time.monotonic() < until:
            time.sleep(0.05)
        return note("lost" if m.lost else "end", "python", m.payload)
    time.sleep(0.5 if mode == "slow" else 0.01)
    note("end", "python", m.payload)


def handle_batch(messages):
    note("batch", "python", str(len(messages)))
    if any(m.payload == "bad" and m.retry_count == 0 for m in messages):
        raise pawl.Retry("one is bad", 0)


def produce():
    with psycopg.connect(url, autocommit=True) as conn:
        for n in range(1_000_000):
            keyed = [f"python-{os.getpid()}-{k} {n}" for k in range(3)]
            plain = [f"- python-{os.getpid()}-{n}-{k}" for k in range(3)]
            try:
                with conn.transaction():
                    for payload in keyed:
                        pawl.enqueue(conn, "work", payload, queue="sdk", ordering_key=payload.split()[0])
                    for payload in plain:
                        pawl.enqueue(conn, "work", payload, queue="sdk")
                    if n % 5 == 4:
                        pawl.enqueue(conn, "work", "- rolled-back", queue="sdk")
                        raise pawl.Fail("rolled back")
            except pawl.Fail:
                continue
            note("put", "python", *(p.replace(" ", "/") for p in keyed + plain))
            time.sleep(0.05)


if mode in ("batches", "singles"):
    worker = pawl.Worker(url, {"work": lambda messages: None}, queue="sdk", batch=1000, batches=mode == "batches", concurrency=2)
elif mode == "batch":
    worker = pawl.Worker(url, {"work": handle_batch}, queue="sdk", batch=20, batches=True)
else:
    worker = pawl.Worker(url, {"work": handle}, queue="sdk", batch=20, concurrency=1 if mode == "slow" else 4, lease=10 if mode in ("produce", "work") else 4, poll=600 if mode == "sleep" else 0.5,
                         max_attempts=2 if mode in ("poison", "fail") else 10, name="python")
signal.signal(signal.SIGTERM, lambda *_: worker.stop())
if mode == "produce":
    threading.Thread(target=produce, daemon=True).start()
note("start", "python", str(os.getpid()))
worker.run()
note("stop", "python", str(os.getpid()))
