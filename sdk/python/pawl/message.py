"""Messages: enqueue them, and what a handler gets."""

import json
from dataclasses import dataclass, field


class Fail(Exception):
    """Raised by a handler for what no retry helps: the message has failed at once."""


class Retry(Exception):
    """Raised by a handler to be called again after so many seconds, in place of the backoff."""

    def __init__(self, error, delay):
        super().__init__(error)
        self.delay = max(0.0, float(delay))


@dataclass
class Message:
    """A claimed message. payload is a text, which json() parses. lost says that the lease was lost:
    another worker may have the message, and what this handler returns is dropped."""

    id: int
    message_id: str
    topic: str
    payload: str = field(repr=False)
    correlation_id: str
    headers_json: str = field(repr=False)
    created_at: str
    retry_count: int  # how many attempts have failed
    token: str  # of its claim, for routines that take one
    lost: bool = False

    def json(self):
        """Return the payload, parsed."""
        return json.loads(self.payload)

    @property
    def headers(self):
        """The headers, a dict of texts."""
        return json.loads(self.headers_json) if self.headers_json else {}


_ENQUEUE = (
    "SELECT {}.outbox_enqueue(%s::text, %s::text, correlation_id => %s, due_time_utc => %s,"
    " message_id => %s, headers => %s::jsonb, queue => %s, priority => %s)"
)


def enqueue(conn, topic, payload, *, queue="default", due=None, priority=0, headers=None,
            ordering_key=None, message_id=None, correlation_id=None, schema="pawl"):
    """Store a message in the transaction of conn, and return its id.

    payload: a str as it is, anything else as JSON. due: an aware datetime. message_id: a uuid.UUID;
    one that is stored already adds nothing. What is refused raises psycopg.errors.InvalidParameterValue.
    """
    if not isinstance(payload, str):
        payload = json.dumps(payload, separators=(",", ":"), ensure_ascii=False)
    if ordering_key is not None:
        headers = {**(headers or {}), "pawl-ordering-key": ordering_key}
    args = (topic, payload, correlation_id, due, message_id, json.dumps(headers) if headers else None, queue, priority)
    row = conn.execute(_ENQUEUE.format(quoted(schema)), args).fetchone()
    return next(iter(row.values())) if isinstance(row, dict) else row[0]


def quoted(name):
    """Return a name as SQL has it, in a statement with parameters."""
    return '"' + name.replace('"', '""').replace("%", "%%") + '"'
