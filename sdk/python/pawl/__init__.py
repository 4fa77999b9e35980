"""Enqueue and handle pawl's messages on PostgreSQL, by the routines of docs/sql.md.

enqueue stores a message in the caller's transaction; Worker handles messages until it is stopped.
A message is handled at least once: its lease ends when its process dies, and another worker gets it.
"""

from .message import Fail, Message, Retry, enqueue
from .worker import Worker

__all__ = ["Fail", "Message", "Retry", "Worker", "enqueue"]
