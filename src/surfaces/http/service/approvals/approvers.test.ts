import { describe, expect, test } from "vitest";
import { codeOf, dataOf } from "../../../../../test/fakes/http-answers.ts";
import { HttpWorld } from "../../../../../test/fakes/http-world.ts";
import type { JsonObject } from "../../../../core/json.ts";

const ADMIN = { "x-api-key": "configured" };

const gate = (rules: string) => `
name: gate
steps:
  - id: pay
    type: approval
    approval_config: { message: "Pay?", ${rules} }
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
