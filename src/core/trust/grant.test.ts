import { describe, expect, test } from "vitest";
import type { Graph, TaskStep } from "../graph/graph.ts";
import type { Json, JsonObject } from "../json.ts";
import { checkGrant, findTaskLack, readableVariables } from "./check-grant.ts";
import {
  allows,
  covers,
  describeGrant,
  EVERYTHING,
  fromStored,
  type Grant,
  grantOf,
  meet,
  NOTHING,
  SENT,
  toStored,
  withGrant,
} from "./grant.ts";
import { parseGrant, readGrant, writeGrant } from "./parse-grant.ts";

function granted(given: Json): Grant {
  const parsed = readGrant(given);
  if ("problem" in parsed) throw new Error(parsed.problem);
  return parsed.grant;
}

describe("a grant in words", () => {
  test("leaves what it does not name as for texts that are sent", () => {
    const grant = granted(
      "terminals,variables:API_*,servers:github,addresses:10.0.0.0/8,addresses:[::1]:8080,code:network",
    );
    expect(grant).toEqual({
      ...SENT,
      terminals: ["*"],
      variables: ["API_*"],
      servers: ["github"],
      addresses: ["10.0.0.0/8", "[::1]:8080"],
      code: ["sandbox", "network"],
    });
  });

  test.each([
    ["nothing,executors:llm", { ...NOTHING, executors: ["llm"] }],
    ["storage:none", { ...SENT, storage: [] }],
    ["storage:reports/,folders:prompts", { ...SENT, storage: ["reports"], folders: ["prompts"] }],
    ["everything", EVERYTHING],
    ["everything,terminals:none", { ...EVERYTHING, terminals: [] }],
    [["terminals", "commands"], { ...SENT, terminals: ["*"], commands: ["*"] }],
    [
      { terminals: true, storage: false, variables: ["A", "B"] },
      { ...SENT, terminals: ["*"], storage: [], variables: ["A", "B"] },
    ],
  ])("%j", (given, grant) => expect(granted(given as Json)).toEqual(grant));

  test.each([
    "",
    "terminal",
    "terminals,",
    "terminals:many",
    "code:root",
    "terminals,everything",
    "sent:x",
    "variables:a b",
    "storage:..",
    "storage:/etc",
    "storage:a/../b",
    "storage:a\\b",
    "folders:./a",
    3,
    "__proto__",
  ])("%j is refused", (given) => expect(readGrant(given)).toHaveProperty("problem"));

  test.each(["sent", "everything", "nothing", "terminals", "storage:none,variables:API_*", "nothing,executors:llm"])(
    "%s is written as it is read",
    (text) => expect(granted(writeGrant(granted(text)))).toEqual(granted(text)),
  );

  test("names the word that is not known", () => {
    expect(parseGrant("terminals,varables:X")).toMatchObject({ unknown: "varables" });
  });

  test("says what it allows and what not", () => {
    const { may, mayNot } = describeGrant(granted("variables:API_*"));
    expect(may).toContain("read the variables API_* of the environment");
    expect(mayNot).toContain("open terminals");
    expect(describeGrant(EVERYTHING).mayNot).toEqual([]);
  });
});

describe("a pattern", () => {
  const has = (pattern: string, name: string) => allows({ ...NOTHING, variables: [pattern] }, "variables", name);

  test.each([
    ["*", "ANY"],
    ["API_*", "API_KEY"],
    ["*_KEY", "API_KEY"],
    ["A*I*Y", "API_KEY"],
    ["API_*", "API_K*"],
  ])("%s fits %s", (pattern, name) => expect(has(pattern, name)).toBe(true));

  test.each([
    ["API", "API_KEY"],
    ["API_*", "XAPI_KEY"],
    ["A*A", "A"],
    ["API_K*", "API_*"],
    ["a*b*c", "acb"],
    ["", "API"],
  ])("%s does not fit %s", (pattern, name) => expect(has(pattern, name)).toBe(false));

  test("of many stars and a long name is answered at once", () => {
    const began = performance.now();
    expect(has(`${"a*".repeat(90)}b`, "a".repeat(100_000))).toBe(false);
    expect(performance.now() - began).toBeLessThan(1_000);
  });
});

describe("a folder", () => {
  const has = (granted: string, path: string) => allows({ ...NOTHING, storage: [granted] }, "storage", path);

  test.each([
    ["reports", "reports/a.csv"],
    ["reports", "reports/2026/a.csv"],
    ["reports", "reports"],
    ["reports/2026-*", "reports/2026-11/a.csv"],
    ["*", "../anything"],
    ["a%2Fb", "a%2Fb/c"],
  ])("%s holds %s", (granted, path) => expect(has(granted, path)).toBe(true));

  test.each([
    ["reports", "report"],
    ["reports", "reports-2/a.csv"],
    ["reports", "tenants/reports/a.csv"],
    ["reports", "reports/../secret"],
    ["reports", "reports/./../secret"],
    ["reports", "/reports/a"],
    ["reports", "reports//a"],
    ["reports", "./reports/a"],
    ["reports", "reports\\..\\a"],
    ["reports", "reports%2Fa"],
    ["reports", "%72eports/a"],
    ["reports", "Reports/a"],
    ["reports", ""],
  ])("%s does not hold %s", (granted, path) => expect(has(granted, path)).toBe(false));

  test("that is granted may be given away in parts", () => {
    expect(covers(granted("storage:reports"), granted("storage:reports/2026"))).toBe(true);
    expect(covers(granted("storage:reports/2026"), granted("storage:reports"))).toBe(false);
    expect(meet(granted("storage:reports"), granted("storage:reports/2026,folders:a")).storage).toEqual([
      "reports/2026",
    ]);
  });
});

test("what two grants share is in neither more than in the other", () => {
  const one = granted("variables:API_*,terminals");
  const other = granted("variables:API_KEY,variables:X,commands");
  const both = meet(one, other);
  expect(both).toMatchObject({ variables: ["API_KEY"], terminals: [], commands: [] });
  expect(covers(one, both) && covers(other, both)).toBe(true);
  expect(covers(SENT, EVERYTHING)).toBe(false);
  expect(meet(EVERYTHING, SENT)).toEqual(SENT);
});

test("a record that cannot be read grants nothing, and one that is not there everything", () => {
  for (const grant of [EVERYTHING, SENT, granted("variables:A")]) expect(fromStored(toStored(grant))).toEqual(grant);
  expect(fromStored(7)).toEqual(NOTHING);
  expect(fromStored({ terminals: "*", variables: [1, "A"] })).toEqual({ ...NOTHING, variables: ["A"] });
  expect(grantOf({})).toBe(EVERYTHING);
  expect(grantOf(withGrant({ grant: "everything" }, SENT))).toBe(SENT);
  expect(withGrant({ grant: "sent" }, EVERYTHING)).toEqual({});
});

function graphOf(step: Partial<TaskStep> & Pick<TaskStep, "executor">, settings: JsonObject = {}): Graph {
  const input = { op: "object", entries: {} } as const;
  return {
    format: 1,
    dialect: "uhlp",
    name: "g",
    input: { declared: [], defaults: {} },
    flow: { kind: "dag", steps: [{ id: "s", kind: "task", input, ...step }] },
    limits: {},
    ending: { deadLetter: false },
    envAllowed: ["API_KEY", "HOME"],
    settings,
  };
}

describe("a definition", () => {
  const lacks = (graph: Graph, given: Json) =>
    checkGrant(graph, granted(given)).map(({ capability, name }) => [capability, name]);

  test("is told everything that it wants and was not granted, also inside of steps", () => {
    const inner = graphOf({ executor: "terminal" }).flow;
    const graph = { ...graphOf({ executor: "code", catch: inner }), envAllowed: [] };
    expect(lacks(graph, "code:none")).toEqual([
      ["code", "sandbox"],
      ["terminals", undefined],
    ]);
    expect(lacks(graph, "everything")).toEqual([]);
  });

  test("may read only the variables that it was granted", () => {
    expect(lacks(graphOf({ executor: "llm" }), "variables:API_*")).toEqual([["variables", "HOME"]]);
    const settings = withGrant({}, granted("variables:API_*"));
    expect(readableVariables(graphOf({ executor: "llm" }, settings))).toEqual(["API_KEY"]);
  });

  test.each([
    [{ command: "bash" }, "commands"],
    [{ server_path: "x.py", url: "https://x" }, "commands"],
    [{ url: "https://example.org" }, "own-servers"],
    [{}, "commands"],
    ["bash", "commands"],
  ])("brings no server of its own: %j", (server, capability) => {
    const graph = { ...graphOf({ executor: "inline" }, { mcp_servers: { own: server } }), envAllowed: [] };
    expect(lacks(graph, "sent").map(([name]) => name)).toContain(capability);
  });

  test("is looked at again when its values are known", () => {
    const find = (kind: TaskStep["executor"], input: Json, given: Json, caller: Json = "everything") =>
      findTaskLack({ kind, input }, { grant: granted(given), caller: granted(caller) })?.capability;
    expect(find("code", { network: true }, "sent")).toBe("code");
    expect(find("code", { network: false }, "sent")).toBeUndefined();
    expect(find("terminal", {}, "everything", "sent")).toBe("terminals");
    expect(find("csv", {}, "storage:none")).toBe("storage");
    expect(find("http", {}, "executors:llm")).toBe("executors");
  });
});
