"""Runs ../../vectors.json on DATABASE_URL, a database with pawl's tables: ../../README.md says how it is read."""

import json
import os
import pathlib
import re
import sys
import uuid

import psycopg


def text(value):
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, separators=(",", ":"))


class Run:
    """One vector: what {name} stands for in it."""

    def __init__(self, conn, n):
        self.conn, self.known = conn, {"q": f"python-{n}", **{name: str(uuid.uuid4()) for name in "abc"}}

    def fill(self, s):
        def value(m):
            v = self.known[m[1]]
            return text(v[m[2]] if isinstance(v, dict) else v)

        return re.sub(r"\{([a-z]\w*)(?:\.(\w+))?\}", value, s)

    def matches(self, want, got):
        if isinstance(want, list):
            return isinstance(got, list) and len(got) == len(want) and all(map(self.matches, want, got))
        if isinstance(want, dict):
            return isinstance(got, dict) and all(self.matches(v, got.get(k)) for k, v in want.items())
        return want == "*" or self.fill(text(want)) == text(got)

    def rows(self, step):
        if "call" in step:
            args = {k: v if v is None else self.fill(text(v)) for k, v in step.get("with", {}).items()}
            names = ", ".join(f"{k} => %({k})s" for k in args)
            query, args = f"SELECT coalesce(jsonb_agg(to_jsonb(r)), '[]')::text FROM pawl.{step['call']}({names}) r", args
        elif "want" in step or "save" in step:
            query, args = f"SELECT coalesce(jsonb_agg(v), '[]')::text FROM ({self.fill(step['sql'])}) x(v)", None
        else:
            self.conn.execute(self.fill(step["sql"]))
            return []
        return json.loads(self.conn.execute(query, args).fetchone()[0])

    def step(self, step):
        """Return what is wrong, or None."""
        try:
            if "isolation" in step:
                self.conn.execute("BEGIN ISOLATION LEVEL " + step["isolation"])
            try:
                got = self.rows(step)
            finally:
                if "isolation" in step:
                    self.conn.execute("ROLLBACK")
        except psycopg.Error as e:
            got, code, message = None, e.sqlstate, e.diag.message_primary
            if "error" in step and [code, message] == [step["error"][0], self.fill(step["error"][1])]:
                return None
            return f"{code} {message}"
        if "error" in step or "want" in step and not self.matches(step["want"], got):
            return f"got {got}"
        if "save" in step and got:
            self.known[step["save"]] = got[0]
        return None


def main():
    vectors = json.loads((pathlib.Path(__file__).parent / "../../vectors.json").read_text("utf-8"))["vectors"]
    calls = wrong = 0
    with psycopg.connect(os.environ["DATABASE_URL"], autocommit=True) as conn:
        for n, vector in enumerate(vectors):
            run = Run(conn, n)
            for step in vector["steps"]:
                fault = run.step(step)
                calls += "call" in step and ("want" in step or "error" in step)
                if fault:
                    wrong += 1
                    print(f"{vector['name']}: {json.dumps(step)[:300]}: {fault}")
    print(f"{calls} calls, {wrong} wrong")
    return 1 if wrong or calls < 200 else 0


sys.exit(main())
