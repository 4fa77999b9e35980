/** Runs ../vectors.json on DATABASE_URL, a database with pawl's tables: ../../README.md says how it is read. */
import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import pg from "pg";

interface Step {
  call?: string;
  sql?: string;
  with?: Record<string, unknown>;
  isolation?: string;
  want?: unknown;
  error?: [string, string];
  save?: string;
}

function text(v: unknown): string {
  return typeof v === "string" ? v : JSON.stringify(v ?? null);
}

/** One vector: what {name} stands for in it. */
class Run {
  readonly #known: Record<string, any>;

  constructor(readonly client: pg.Client, n: number) {
    this.#known = { q: `typescript-${n}`, a: randomUUID(), b: randomUUID(), c: randomUUID() };
  }

  #fill(s: string): string {
    return s.replace(/\{([a-z]\w*)(?:\.(\w+))?\}/g, (_, name: string, field?: string) => {
      const v = this.#known[name];
      return text(v !== null && typeof v === "object" ? v[field!] : v);
    });
  }

  #matches(want: any, got: any): boolean {
    if (Array.isArray(want)) return Array.isArray(got) && got.length === want.length && want.every((w, i) => this.#matches(w, got[i]));
    if (want !== null && typeof want === "object") return got !== null && typeof got === "object" && Object.keys(want).every(k => this.#matches(want[k], got[k]));
    return want === "*" || this.#fill(text(want)) === text(got);
  }

  async #rows(step: Step): Promise<unknown[]> {
    let query = `SELECT coalesce(jsonb_agg(v), '[]')::text AS rows FROM (${this.#fill(step.sql ?? "")}) x(v)`;
    let args: unknown[] = [];
    if (step.call !== undefined) {
      const names = Object.keys(step.with ?? {});
      args = names.map(k => step.with![k] === null ? null : this.#fill(text(step.with![k])));
      query = `SELECT coalesce(jsonb_agg(to_jsonb(r)), '[]')::text AS rows FROM pawl.${step.call}(${names.map((k, i) => `${k} => $${i + 1}`).join(", ")}) r`;
    } else if (step.want === undefined && step.save === undefined) {
      await this.client.query(this.#fill(step.sql!));
      return [];
    }
    return JSON.parse((await this.client.query(query, args)).rows[0].rows);
  }

  /** Returns what is wrong, or undefined. */
  async step(step: Step): Promise<string | undefined> {
    let got: unknown[];
    try {
      if (step.isolation) await this.client.query("BEGIN ISOLATION LEVEL " + step.isolation);
      try {
        got = await this.#rows(step);
      } finally {
        if (step.isolation) await this.client.query("ROLLBACK");
      }
    } catch (e) {
      if (!(e instanceof pg.DatabaseError)) throw e;
      const expected = step.error && e.code === step.error[0] && e.message === this.#fill(step.error[1]);
      return expected ? undefined : `${e.code} ${e.message}`;
    }
    if (step.error || step.want !== undefined && !this.#matches(step.want, got)) return `got ${JSON.stringify(got)}`;
    if (step.save && got.length > 0) this.#known[step.save] = got[0];
    return undefined;
  }
}

const { vectors } = JSON.parse(readFileSync("../vectors.json", "utf8")) as { vectors: { name: string; steps: Step[] }[] };
const client = new pg.Client(process.env["DATABASE_URL"]);
await client.connect();
let calls = 0, wrong = 0;
for (const [n, vector] of vectors.entries()) {
  const run = new Run(client, n);
  for (const step of vector.steps) {
    const fault = await run.step(step);
    if (step.call && (step.want !== undefined || step.error)) calls++;
    if (fault === undefined) continue;
    wrong++;
    console.log(`${vector.name}: ${JSON.stringify(step).slice(0, 300)}: ${fault}`);
  }
}
await client.end();
console.log(`${calls} calls, ${wrong} wrong`);
process.exit(wrong || calls < 200 ? 1 : 0);
