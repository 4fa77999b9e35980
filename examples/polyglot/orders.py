#!/usr/bin/env python3
"""Takes orders: the row and the message that announces it are written in one transaction.

Needs psycopg2 (Debian: python3-psycopg2), and PAWL_DB, the URL of the database.
"""
import json
import os
import sys

import psycopg2


def place(db, customer, cents):
    """Writes an order and its message, or neither. Returns the order's number."""
    with db, db.cursor() as cur:  # commits at its end, rolls back after an exception
        cur.execute("INSERT INTO orders (customer, cents) VALUES (%s, %s) RETURNING number", (customer, cents))
        number = cur.fetchone()[0]
        cur.execute(
            "SELECT pawl.outbox_enqueue('order.placed', %s::jsonb, queue => 'invoices')",
            (json.dumps({"number": number, "cents": cents}),),
        )
        if cents <= 0:
            raise ValueError(f"{customer} owes {cents}")
        return number


def main():
    db = psycopg2.connect(os.environ["PAWL_DB"])
    with db, db.cursor() as cur:
        cur.execute("CREATE TABLE IF NOT EXISTS orders (number serial PRIMARY KEY, customer text, cents int)")
    for customer, cents in [("ada", 1250), ("grace", -1), ("edsger", 4400)]:
        try:
            print("order", place(db, customer, cents))
        except ValueError as refused:
            print("refused:", refused)
    db.close()


if __name__ == "__main__":
    sys.exit(main())
