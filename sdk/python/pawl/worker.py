"""The worker's loop: claim, handle, extend leases, settle, wait."""

import json
import logging
import os
import queue as queues
import random
import select
import socket
import threading
import time
import uuid

import psycopg
from psycopg.rows import tuple_row

from .message import Fail, Message, Retry, quoted

_CLAIM = (
    "SELECT coalesce(json_agg(json_build_array(c.id, c.message_id, c.topic, c.payload, c.correlation_id, c.headers, c.created_at, c.retry_count)), '[]')::text"
    " FROM {}.outbox_claim(%s::uuid, %s, %s, queue => %s, suspects => %s) c"
)
_UNENDED = "lease expired; gave up after %d attempts, the last of which did not end"
_NO_HANDLER_DELAY = "30 seconds"


class Worker:
    """Handles the messages of one queue; run does so until stop is called.

    connect: a connection string of psycopg, or a function that returns a connection. It needs a
    session of its own, not one that a pooler shares among transactions.
    handlers: a function of a message for each topic. With batches it is a function of a list of
    messages, which succeeds or fails as a whole. A message without a handler is given back.
    batch: how many messages are held at most, up to 1000. concurrency: how many handlers run at once.
    lease: seconds after which the messages of a dead process are claimed again; a living one extends it.
    poll: seconds between claims while the queue is empty; a notification comes sooner.
    max_attempts: after how many attempts a message has failed; 0: never.
    """

    def __init__(self, connect, handlers, *, queue="default", batch=50, batches=False, concurrency=10, lease=30, poll=1.0, max_attempts=10,
                 name=None, schema="pawl", logger=None):
        self._connect = connect if callable(connect) else lambda: psycopg.connect(connect)
        self._handlers, self._queue, self._batch, self._batches = dict(handlers), queue, min(batch, 1000), batches
        self._concurrency, self._lease, self._poll, self._max = concurrency, lease, poll, max_attempts
        self._name = name or f"{socket.gethostname()}/{os.getpid()}"
        self._schema, self._log = quoted(schema), logger or logging.getLogger("pawl")
        self._todo, self._done = queues.SimpleQueue(), queues.SimpleQueue()  # to the threads, and back
        self._held = {}  # token of a claim: [when its lease ends, {id: message}]
        self._ended = []  # messages whose handler ended, with its error: to be settled
        self._conn, self._armed, self._notified = None, False, False  # armed: the session has the queue's lock
        self._refused = 0  # how often in a row it did not get that for an open transaction
        self._beat_at = self._drain_at = 0.0
        self._stopping, self._deadline = False, 0.0
        self._waiting, (self._wake_r, self._wake_w) = False, socket.socketpair()
        for s in (self._wake_r, self._wake_w):
            s.setblocking(False)

    def stop(self, grace=30.0):
        """Have run return: it claims no more, gives back what no handler began, and waits so many
        seconds for handlers that run. It may be called from a signal handler or another thread."""
        self._deadline = time.monotonic() + grace
        self._stopping = True
        self._wake()

    def run(self):
        """Work until stop is called. After an error of the database it connects again."""
        threads = [threading.Thread(target=self._work, daemon=True) for _ in range(self._concurrency)]
        for t in threads:
            t.start()
        delay = 0.25
        while not (self._stopping and (self._count() == 0 or time.monotonic() > self._deadline)):
            try:
                self._step()
                delay = 0.25
            except psycopg.Error as e:
                self._log.warning("database: %s; connecting again", brief(e))
                self._close()
                self._expire()
                self._wait(random.uniform(0.5, 1) * delay)
                delay = min(2 * delay, 30.0)
        for t in threads:
            self._todo.put(None)
        self._close()

    def _step(self):
        if self._conn is None:
            self._conn = self._connect()
            self._conn.autocommit, self._conn.row_factory = True, tuple_row
            self._conn.add_notify_handler(self._notify)
        if self._stopping:
            self._release()
        self._collect()
        self._settle()
        self._expire()
        if time.monotonic() >= self._beat_at:
            self._extend()
        room = 0 if self._stopping else self._room()
        if room == 0:
            self._wait(0.1 if self._stopping else self._poll)
        elif not self._claim(room):
            seconds = self._poll * random.uniform(0.8, 1.2)
            if not self._armed:
                listening = self._call("outbox_listen(%s)", self._queue)
                self._armed = listening is True
                if self._armed and self._claim(room):  # what was enqueued before
                    return
                self._refused = self._refused + 1 if listening is None else 0
                if self._refused:  # transactions that enqueue are open, and will notify nobody
                    seconds = min(seconds, 0.001 * 2 ** min(self._refused, 10))
            self._wait(seconds)

    def _room(self):
        """Return how many messages may be claimed now. Half a batch at least, so that claims stay
        few. What came back from dead processes is claimed by who holds nothing: once a lease's length."""
        held = self._count()
        if held and time.monotonic() > self._drain_at:
            return 0
        return self._batch - held if 2 * held <= self._batch else 0

    def _claim(self, room):
        token, alone = str(uuid.uuid4()), not self._held
        if alone:
            self._drain_at = time.monotonic() + self._lease
        until = time.monotonic() + self._lease
        text = self._execute(_CLAIM.format(self._schema), token, self._lease, room, self._queue, alone)
        messages = [Message(*row, token) for row in json.loads(text)]
        if not messages:
            return False
        self._held[token] = [until, {m.id: m for m in messages}]
        self._beat_at = min(self._beat_at or until, until - self._lease * 2 / 3)
        if self._armed:
            self._disarm()
        topics = {}
        for m in messages:
            if m.topic not in self._handlers:
                self._ended.append((m, None, "release"))
            elif 0 < self._max <= m.retry_count:
                self._ended.append((m, Fail(_UNENDED % m.retry_count), None))
            elif self._batches:
                topics.setdefault(m.topic, []).append(m)
            else:
                self._todo.put([m])
        for batch in topics.values():
            self._todo.put(batch)
        return True

    def _work(self):
        while (messages := self._todo.get()) is not None:
            messages = [m for m in messages if not m.lost]
            if not messages:
                continue
            error = None
            try:
                self._handlers[messages[0].topic](messages if self._batches else messages[0])
            except BaseException as e:  # a thread must not end: also SystemExit
                error = e
            self._done.put((messages, error))
            if self._waiting:
                self._wake()

    def _collect(self):
        while not self._done.empty():
            messages, error = self._done.get()
            self._ended.extend((m, error, None) for m in messages if not m.lost)

    def _settle(self):
        """Settle what ended. What fails stays in the list, to be tried on the next connection: never
        is a handler called again because its message could not be settled."""
        groups = {}
        for m, error, act in self._ended:
            groups.setdefault((m.token, act, None if error is None else m.id), []).append((m, error))
        for (token, act, _), items in groups.items():
            ids, (m, error) = [m.id for m, _ in items], items[0]
            if act == "release":
                self._log.warning("no handler for topic %s", m.topic)
                n = self._call("outbox_release(%s::uuid, %s::bigint[], %s::interval)", token, ids, _NO_HANDLER_DELAY)
            elif error is None:
                n = self._call("outbox_ack(%s::uuid, %s::bigint[], %s)", token, ids, self._name)
            else:
                n = self._fail(m, error)
            if n < len(ids):
                self._log.warning("%d of %d messages were settled: their leases were lost", n, len(ids))
            self._forget(token, ids)

    def _fail(self, m, error):
        text, attempts = f"{type(error).__name__}: {error}".replace("\0", ""), m.retry_count + 1
        if isinstance(error, Fail) or 0 < self._max <= attempts:
            self._log.error("message %s of topic %s has failed after %d attempts", m.message_id, m.topic, attempts)
            return self._call("outbox_fail(%s::uuid, %s::bigint[], %s)", m.token, [m.id], text)
        delay = error.delay if isinstance(error, Retry) else min(60, 2 ** min(m.retry_count, 6)) * random.uniform(0.9, 1.1)
        return self._call("outbox_abandon(%s::uuid, %s::bigint[], %s, make_interval(secs => %s))", m.token, [m.id], text, delay)

    def _extend(self):
        self._beat_at = time.monotonic() + self._lease / 3
        for token, claim in list(self._held.items()):
            until, ids = time.monotonic() + self._lease, list(claim[1])
            extend = lambda ids: self._call("outbox_extend(%s::uuid, %s::bigint[], %s)", token, ids, self._lease)
            if extend(ids) < len(ids):
                self._lose(token, [i for i in ids if extend([i]) == 0])
            claim[0] = until

    def _expire(self):
        for token, (until, messages) in list(self._held.items()):
            if time.monotonic() > until:
                self._lose(token, list(messages))

    def _lose(self, token, ids):
        """Another worker may have these messages: their handlers are told, their results dropped."""
        self._log.warning("the leases of %d messages were lost", len(ids))
        for i in ids:
            self._held[token][1][i].lost = True
        self._forget(token, ids)

    def _forget(self, token, ids):
        gone = set(ids)
        self._ended = [e for e in self._ended if e[0].token != token or e[0].id not in gone]
        claim = self._held.get(token)
        for i in ids if claim else ():
            claim[1].pop(i, None)
        if claim and not claim[1]:
            del self._held[token]

    def _release(self):
        while not self._todo.empty():
            try:
                messages = self._todo.get_nowait()
            except queues.Empty:  # a thread took it
                break
            for m in messages:
                self._call("outbox_release(%s::uuid, %s::bigint[])", m.token, [m.id])
                self._forget(m.token, [m.id])

    def _count(self):
        return sum(len(messages) for _, messages in self._held.values())

    def _wait(self, seconds):
        """Wait for a handler that ends, stop, a notification, or the next heartbeat."""
        self._waiting = True
        conn = self._conn
        if self._done.empty() and not (conn and self._notified):
            if self._held:
                seconds = max(0.0, min(seconds, self._beat_at - time.monotonic()))
            ready, _, _ = select.select([self._wake_r] + ([conn.fileno()] if conn else []), [], [], seconds)
            if conn and conn.fileno() in ready:
                conn.pgconn.consume_input()
                while conn.pgconn.notifies():
                    pass
        self._waiting, self._notified = False, False
        try:
            self._wake_r.recv(4096)
        except BlockingIOError:
            pass

    def _notify(self, notification):
        self._notified = True

    def _wake(self):
        try:
            self._wake_w.send(b"x")
        except BlockingIOError:
            pass  # it is awake

    def _disarm(self):
        self._armed = False
        self._call("outbox_unlisten(%s)", self._queue)

    def _call(self, call, *args):
        return self._execute(f"SELECT {self._schema}.{call}", *args)

    def _execute(self, sql, *args):
        return self._conn.execute(sql, args).fetchone()[0]

    def _close(self):
        conn, self._conn, self._armed = self._conn, None, False
        if conn is not None:
            conn.close()


def brief(error):
    """Return an error's class and code without its text, which may have what was sent."""
    return f"{type(error).__name__} {getattr(error, 'sqlstate', None) or ''}".strip()
