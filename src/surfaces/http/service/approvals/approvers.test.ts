import { describe, expect, test } from "vitest";
import { codeOf, dataOf } from "../../../../../test/fakes/http-answers.ts";
import { HttpWorld } from "../../../../../test/fakes/http-world.ts";
import type { JsonObject } from "../../../../core/json.ts";
import { describeForFeed } from "../../../../operations/events/describe-for-feed.ts";
import { LOG_BEGIN } from "../../../../ports/journal.ts";

const ADMIN = { "x-api-key": "configured" };

const gate = (rules: string) => `
name: gate
steps:
  - id: pay
    type: approval
    approval_config: { message: "Pay <b>&'?", ${rules} }
`;

class People {
  readonly world = new HttpWorld([], { agent: { provider: "simulated" }, server: { api_key: "configured" } });
  readonly #keys = new Map<string, string>();

  async add(name: string, more: JsonObject = {}) {
    const { key, key_id } = await dataOf(this.world.post("/keys", { name, ...more }, ADMIN));
    this.#keys.set(name, String(key));
    return String(key_id);
  }

  headers(name: string) {
    return { "x-api-key": this.#keys.get(name) ?? "configured" };
  }

  async start(rules: string, by = "operator"): Promise<string> {
    const body = { workflow: gate(rules) };
    const { run_id: id } = await dataOf(this.world.post("/workflows/run/sync", body, this.headers(by)));
    return String(id);
  }

  answer(run: string, by: string, answer = "approve") {
    return this.world.post(`/approvals/${run}:pay/${answer}`, {}, this.headers(by));
  }

  async open(run: string): Promise<JsonObject> {
    return dataOf(this.world.request(`/approvals/${run}:pay`, { headers: ADMIN }));
  }

  async typesOf(run: string): Promise<readonly string[]> {
    return (await this.world.world.eventsOf(run)).map(({ type }) => type).filter((type) => type.startsWith("approval"));
  }

  async statusOf(run: string) {
    return (await dataOf(this.world.request(`/runs/${run}`, { headers: ADMIN })))["status"];
  }
}

describe("approvers", () => {
  test("are known by the name of their key or by its group; another is refused with who may, and leaves no trace", async () => {
    const people = new People();
    for (const [name, groups] of [
      ["alice", []],
      ["frank", ["finance"]],
      ["mallory", ["sales"]],
    ] as const)
      await people.add(name, { groups: [...groups] });
    const run = await people.start("approvers: [alice, finance]");
    for (const other of ["mallory", "operator"]) {
      const refused = await people.answer(run, other);
      expect(refused.status).toBe(403);
      expect(await refused.json()).toMatchObject({
        error: { code: "APPROVER_REFUSED", message: expect.stringContaining("for alice, finance") },
      });
    }
    expect(await people.typesOf(run)).toEqual(["approvalAsked"]);
    expect((await people.answer(run, "frank")).status).toBe(200);
    expect(await people.statusOf(run)).toBe("completed");
  });

  test("may be the operator, where they are named; no key may call itself so", async () => {
    const people = new People();
    expect((await people.world.post("/keys", { name: "operator" }, ADMIN)).status).toBe(400);
    const run = await people.start("approvers: [operator]");
    expect((await people.answer(run, "operator")).status).toBe(200);
  });

  test.each([
    ["approvers: [alice, finanse]", /No key or group here is named finanse/],
    ["approvers: [alice], quorum: 2", /2 must approve, and 1 could/],
    ["escalation: { after: 1d, to: bos }", /No key or group here is named bos/],
    ["approvers: [operator], quorum: 2, escalation: { after: 1d, to: alice, replaces: true }", /2 must approve, and 1/],
    ["approvers: [operator], not_requester: true", /1 must approve, and 0 could, besides operator/],
  ])("who could never answer keep the run from beginning: %s", async (rules, why) => {
    const people = new People();
    await people.add("alice");
    const refused = await people.world.post("/workflows/run", { workflow: gate(rules) }, ADMIN);
    expect(refused.status).toBe(400);
    expect(await refused.json()).toMatchObject({
      error: { code: "APPROVERS_MISSING", message: expect.stringMatching(why) },
    });
  });

  test("no longer may once their key is revoked", async () => {
    const people = new People();
    const id = await people.add("alice");
    await people.add("bob");
    const run = await people.start("approvers: [alice, bob]");
    await people.world.request(`/keys/${id}`, { method: "DELETE", headers: ADMIN });
    expect((await people.answer(run, "alice")).status).toBe(401);
    expect((await people.answer(run, "bob")).status).toBe(200);
  });
});

describe("an escalation", () => {
  const HOUR = 3_600_000;

  async function asked(rules: string) {
    const people = new People();
    for (const name of ["alice", "bob", "boss"]) await people.add(name);
    const run = await people.start(rules);
    return { people, run, advance: (ms: number) => people.world.world.clock.advance(ms) };
  }

  test("lets others answer too, and what was approved before counts", async () => {
    const { people, run, advance } = await asked(
      "approvers: [alice, bob], quorum: 2, reminder: { after: 1h, every: 30m, times: 2 }, escalation: { after: 2h, to: [boss] }",
    );
    expect((await people.answer(run, "boss")).status).toBe(403);
    await people.answer(run, "alice");
    expect(await people.open(run)).toMatchObject({ reminded: 0, escalated_to: null });
    await advance(HOUR);
    expect(await people.open(run)).toMatchObject({
      reminded: 1,
      terms: expect.stringMatching(/alice; reminded once$/),
    });
    await advance(10 * HOUR);
    expect(await people.open(run)).toMatchObject({
      approvers: ["alice", "bob", "boss"],
      reminded: 2,
      escalated_to: ["boss"],
      terms: "for alice, bob, boss; 1 of 2 have approved, alice; reminded 2 times; escalated to boss",
    });
    expect((await people.answer(run, "boss")).status).toBe(200);
    expect(await people.statusOf(run)).toBe("completed");
    const { world } = people.world;
    const told = { run: await world.recordOf(run), seq: 1, position: LOG_BEGIN };
    const feed = (await world.eventsOf(run)).flatMap((event) => describeForFeed({ ...told, event }) ?? []);
    expect(feed.map(({ event, data }) => [event, data["path"]])).toEqual([
      ["run.started", undefined],
      ["approval.requested", "pay"],
      ["approval.counted", "pay"],
      ["approval.reminded", "pay"],
      ["approval.reminded", "pay"],
      ["approval.escalated", "pay"],
      ["approval.answered", "pay"],
      ["run.finished", undefined],
    ]);
  });

  test("may leave the answer to others alone, who are named to whom it was before", async () => {
    const { people, run, advance } = await asked(
      "approvers: [alice, bob], quorum: 2, escalation: { after: 2h, to: [boss, bob], replaces: true }",
    );
    await people.answer(run, "alice");
    await advance(2 * HOUR);
    const refused = await people.answer(run, "alice");
    expect(refused.status).toBe(403);
    expect(await refused.json()).toMatchObject({
      error: { message: expect.stringMatching(/is for boss, bob; .*; escalated to boss, bob, and this is alice/) },
    });
    expect((await people.answer(run, "boss")).status).toBe(200);
    expect(await people.statusOf(run)).toBe("completed");
  });

  test("comes not for a question that was answered", async () => {
    const { people, run, advance } = await asked(
      "reminder: { after: 1h, times: 5 }, escalation: { after: 2h, to: boss, replaces: true }",
    );
    expect((await people.answer(run, "alice")).status).toBe(200);
    await advance(10 * HOUR);
    const types = (await people.world.world.eventsOf(run)).map(({ type }) => type);
    expect(types).not.toContain("timerFired");
  });
});

describe("a quorum", () => {
  test("is so many different people, and shows who has approved", async () => {
    const people = new People();
    for (const name of ["alice", "bob", "carol"]) await people.add(name);
    const run = await people.start("approvers: [alice, bob, carol], quorum: 3");
    expect(await dataOf(people.answer(run, "alice"))).toMatchObject({ missing: 2 });
    expect(await dataOf(people.answer(run, "alice"))).toMatchObject({ missing: 2 });
    expect(await people.open(run)).toMatchObject({
      quorum: 3,
      approved_by: ["alice"],
      terms: "for alice, bob, carol; 1 of 3 have approved, alice",
    });
    const both = await Promise.all([people.answer(run, "bob"), people.answer(run, "carol")]);
    expect(both.map(({ status }) => status)).toEqual([200, 200]);
    expect(await people.statusOf(run)).toBe("completed");
    expect(await people.typesOf(run)).toEqual([
      "approvalAsked",
      "approvalCounted",
      "approvalCounted",
      "approvalAnswered",
    ]);
  });

  test("is none where one says no, and nobody can skip it", async () => {
    const people = new People();
    for (const name of ["alice", "bob"]) await people.add(name);
    const run = await people.start("quorum: 2");
    expect((await people.answer(run, "alice")).status).toBe(200);
    expect(await codeOf(people.answer(run, "bob", "skip"))).toBe("APPROVER_REFUSED");
    expect((await people.answer(run, "bob", "reject")).status).toBe(200);
    expect(await people.statusOf(run)).toBe("failed");
  });

  test("of two keys with one name counts one", async () => {
    const people = new People();
    await people.add("bob");
    await people.add("alice");
    const run = await people.start("approvers: [alice, bob], quorum: 2");
    await dataOf(people.answer(run, "alice"));
    await people.add("alice");
    expect(await dataOf(people.answer(run, "alice"))).toMatchObject({ missing: 1 });
  });
});

describe("who has asked for a run", () => {
  test("cannot approve it, nor can who repeats it, and what was approved before is asked again", async () => {
    const people = new People();
    for (const name of ["alice", "bob", "carol"]) await people.add(name);
    const run = await people.start("not_requester: true", "alice");
    expect(await people.open(run)).toMatchObject({ not_by: ["alice"] });
    expect(await codeOf(people.answer(run, "alice"))).toBe("APPROVER_REFUSED");
    await dataOf(people.answer(run, "bob"));
    const asked = { from_step: "pay" };
    const repeated = await dataOf(people.world.post(`/runs/${run}/rerun`, asked, people.headers("bob")));
    const again = String(repeated["run_id"]);
    await expect.poll(() => people.statusOf(again)).toBe("awaiting_approval");
    expect(await people.open(again)).toMatchObject({ not_by: ["alice", "bob"] });
    for (const name of ["alice", "bob"]) expect(await codeOf(people.answer(again, name))).toBe("APPROVER_REFUSED");
    expect((await people.answer(again, "carol")).status).toBe(200);
  });
});

describe("an address that is sent to a person", () => {
  const post = (people: People, path: string, fields: Record<string, string>) =>
    people.world.request(path, { method: "POST", body: new URLSearchParams(fields) });

  async function link(people: People, run: string, more: JsonObject = {}, headers: Record<string, string> = ADMIN) {
    const response = await people.world.post(`/approvals/${run}:pay/link`, { for: "alice", ...more }, headers);
    const { data } = (await response.json()) as { readonly data: { readonly path: string } | null };
    return { status: response.status, path: data?.path ?? "" };
  }

  async function asked(rules = "approvers: [alice, bob], quorum: 2") {
    const people = new People();
    const keyId = await people.add("alice");
    await people.add("bob");
    return { people, keyId, run: await people.start(rules) };
  }

  test("shows the question to whoever has it, changes nothing until the form is sent, and answers as the holder of the key", async () => {
    const { people, run } = await asked();
    const { path } = await link(people, run);
    for (const method of ["GET", "HEAD", "GET"]) {
      const page = await people.world.request(path, { method });
      expect([page.status, page.headers.get("content-type")]).toEqual([200, "text/html; charset=utf-8"]);
      expect(page.headers.get("content-security-policy")).toContain("default-src 'none'");
      if (method === "GET")
        expect(await page.text()).toMatch(
          /<h1>Pay &#60;b&#62;&#38;&#39;\?<\/h1>[\s\S]*asks alice\.[\s\S]*0 of 2 have approved/,
        );
    }
    expect(await people.typesOf(run)).toEqual(["approvalAsked"]);
    const answered = await post(people, path, { answer: "approve", comment: "Fine <b>" });
    expect(await answered.text()).toContain("you have approved. 1 more must approve.");
    await post(people, path, { answer: "approve" });
    expect(await people.open(run)).toMatchObject({ approved_by: ["alice"] });
    expect((await people.answer(run, "bob")).status).toBe(200);
    expect(await people.statusOf(run)).toBe("completed");
    const late = await people.world.request(path);
    expect([late.status, await late.text()]).toEqual([expect.any(Number), expect.stringContaining("<p>")]);
    expect(late.status).toBeGreaterThanOrEqual(400);
    expect((await post(people, path, { answer: "reject" })).status).toBeGreaterThanOrEqual(400);
  });

  test("takes data where the question allows it, and refuses what is none", async () => {
    const { people, run } = await asked("allow_edit: true");
    const { path } = await link(people, run);
    expect((await post(people, path, { answer: "approve", edited: "{no" })).status).toBe(400);
    expect((await post(people, path, { answer: "perhaps" })).status).toBe(400);
    expect(await people.typesOf(run)).toEqual(["approvalAsked"]);
    expect((await post(people, path, { answer: "approve", edited: '{"sum": 5}' })).status).toBe(200);
    expect(await dataOf(people.world.request(`/runs/${run}`, { headers: ADMIN }))).toMatchObject({
      outputs: { pay: { sum: 5 } },
    });
  });

  test("ends with its time, with its key, where it is changed, and is made by those alone who make keys", async () => {
    const { people, run, keyId } = await asked();
    const { path } = await link(people, run, { hours: 1 });
    const other = await link(people, run, { hours: 100 });
    const changed = path.slice(0, 60) + (path[60] === "A" ? "B" : "A") + path.slice(61);
    for (const wrong of [changed, path.slice(0, -3), "/approvals/by-link/x"])
      expect((await people.world.request(wrong)).status).toBe(403);
    people.world.world.clock.jump(3_600_000);
    expect((await post(people, path, { answer: "approve" })).status).toBe(403);
    expect((await people.world.request(other.path)).status).toBe(200);
    await people.world.request(`/keys/${keyId}`, { method: "DELETE", headers: ADMIN });
    expect((await post(people, other.path, { answer: "approve" })).status).toBe(403);
    expect(await people.typesOf(run)).toEqual(["approvalAsked"]);
    expect((await link(people, run, {}, people.headers("bob"))).status).toBe(403);
    expect((await link(people, run, { for: "nobody" })).status).toBe(404);
  });
});
