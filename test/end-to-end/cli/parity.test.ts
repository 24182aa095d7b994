import { expect, test } from "vitest";
import { isJsonObject, type Json } from "../../../src/core/json.ts";
import { verbsOf } from "../../../src/operations/operation.ts";
import { loadOperations } from "../../../src/operations/operations.ts";
import { AT_ONCE, application, QUESTION, REVIEW } from "../support/application.ts";
import { type PawlResult, pawl } from "../support/pawl.ts";
import { startServer } from "../support/server.ts";

const FILES = {
  "workflows/question.yaml": QUESTION,
  "workflows/review.yaml": REVIEW,
  "workflows/signalled.yaml": "name: signalled\nsteps:\n  - {id: hold, type: wait, event: go}\n",
  "workflows/letter.yaml": `${QUESTION.replace("question", "letter")}dead_letter: true\n`,
  "saved.yaml": QUESTION.replace("question", "saved"),
  "note.txt": "A note.",
  ".claude/agents/helper.md": "---\nname: helper\ndescription: Helps.\n---\nYou help.\n",
  "answers.yaml": AT_ONCE,
  "pawl.yaml": 'agent: { provider: "simulated:answers.yaml" }\n',
};

/** One process's command line: here, beside an owner, or for a server. */
class World {
  readonly #cwd: string;
  readonly #options: readonly string[];
  #key: readonly string[] = [];

  constructor(cwd: string, options: readonly string[] = []) {
    this.#cwd = cwd;
    this.#options = options;
  }

  async ask(...args: readonly string[]): Promise<{ readonly code: number | null; readonly answer: Json }> {
    const { code, stdout } = await pawl([...args, "--json", ...this.#options, ...this.#key], { cwd: this.#cwd });
    return { code, answer: toJson(stdout) };
  }

  show(...args: readonly string[]): Promise<PawlResult> {
    return pawl([...args, ...this.#options, ...this.#key], { cwd: this.#cwd });
  }

  /** A field of what a command answers. */
  async fieldOf(name: string, ...args: readonly string[]): Promise<string> {
    const { answer } = await this.ask(...args);
    const data = isJsonObject(answer) ? answer["data"] : undefined;
    const field = isJsonObject(data) ? data[name] : undefined;
    if (typeof field !== "string") throw new Error(`pawl ${args.join(" ")}: no ${name} in ${JSON.stringify(answer)}`);
    return field;
  }

  run(workflow: string): Promise<string> {
    return this.fieldOf("run_id", "run", workflow, "-i", "question=why");
  }

  useKey(key: string): void {
    this.#key = ["--api-key", key];
  }
}

/** One envelope, a JSON object on each line, or the bytes of a file. */
function toJson(stdout: string): Json {
  if (!stdout.startsWith("{")) return stdout;
  const lines = stdout.trimEnd().split("\n");
  return lines.length === 1 ? (JSON.parse(stdout) as Json) : lines.map((line) => JSON.parse(line) as Json);
}

type Sample = (world: World) => Promise<readonly string[]> | readonly string[];

const review = async (world: World) => [await world.run("review")];
const schedule = async (world: World) => [
  await world.fieldOf("schedule_id", "schedules", "create", "question", "0 9 * * *", "-i", "question=why"),
];
const budget = async (world: World) => [
  await world.fieldOf("budget_id", "budgets", "set", "--workflow", "question", "--max-cost", "5"),
];
const none = () => [];

/** What stands behind each verb. A verb that is missing here fails the test. */
const SAMPLES: Readonly<Record<string, Sample>> = {
  run: () => ["question", "-i", "question=why"],
  validate: () => ["saved.yaml"],
  plan: () => ["question", "-i", "question=why"],
  "runs ls": none,
  "runs show": async (world) => [await world.run("question")],
  "runs step": async (world) => [await world.run("question"), "answer"],
  "runs events": async (world) => [await world.run("question")],
  "runs logs": async (world) => [await world.run("question")],
  "runs watch": async (world) => [await world.run("review")],
  "runs diff": async (world) => [await world.run("question"), await world.run("question")],
  "runs rm": async (world) => [await world.run("question")],
  "runs cancel": async (world) => [await world.run("signalled"), "--reason", "enough"],
  "runs resume": async (world) => [await world.run("signalled")],
  "runs signal": async (world) => [await world.run("signalled"), "go", "--payload", "7"],
  "runs rerun": async (world) => [await world.run("question")],
  "runs fork": async (world) => [await world.run("question"), "--set", "answer.prompt=Why not?"],
  approve: review,
  reject: review,
  skip: review,
  "runs approve": review,
  "runs reject": review,
  "runs skip": review,
  "approvals ls": none,
  "dead-letter ls": none,
  "dead-letter retry": () => ["0189:answer"],
  "dead-letter resolve": () => ["0189:answer"],
  "budgets set": () => ["--workflow", "review", "--max-cost", "5"],
  "budgets ls": none,
  "budgets show": budget,
  "budgets rm": budget,
  costs: none,
  violations: none,
  "schedules create": () => ["question", "0 9 * * *", "-i", "question=why"],
  "schedules ls": none,
  "schedules next": schedule,
  "schedules change": async (world) => [...(await schedule(world)), "--cron", "5 9 * * *"],
  "schedules pause": schedule,
  "schedules resume": schedule,
  "schedules slots": schedule,
  "schedules run": schedule,
  "schedules rm": schedule,
  "webhooks ls": none,
  "webhooks show": () => ["unknown"],
  "webhooks resend": () => ["unknown"],
  "workflows ls": none,
  "workflows save": () => ["saved.yaml"],
  "workflows versions": () => ["saved"],
  "workflows show": () => ["saved"],
  "workflows rm": () => ["saved"],
  "storage put": () => ["notes/a.txt", "note.txt"],
  "storage ls": none,
  "storage get": () => ["notes/a.txt"],
  "storage rm": () => ["notes/a.txt"],
  "agents ls": none,
  "agents show": () => ["helper"],
  "terminals ls": none,
  doctor: none,
  config: none,
  "keys ls": none,
  "keys create": () => ["other", "--scopes", "read"],
  "keys show": async (world) => [await world.fieldOf("key_id", "keys", "create", "shown", "--scopes", "read")],
  "keys revoke": async (world) => [await world.fieldOf("key_id", "keys", "create", "third", "--scopes", "read")],
  "approvals link": async (world) => [...(await review(world)), "--for", "first"],
};

/** Verbs that work with files of this machine alone, though their operation is to be had over HTTP. */
const HERE_ONLY: ReadonlySet<string> = new Set(["init"]);

/** A value without what differs from one run to the next: the types of its leaves. */
function shapeOf(value: Json): Json {
  if (Array.isArray(value)) return [...new Set(value.map((each) => JSON.stringify(shapeOf(each))))].sort();
  if (isJsonObject(value))
    return Object.fromEntries(
      Object.entries(value)
        // A schedule says where no server fires it; an event that is written later than its work began says when that was.
        .filter(([name]) => name !== "note" && name !== "startedAt")
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([name, each]) => [name, name === "code" ? each : shapeOf(each)]),
    );
  return value === null ? null : typeof value;
}

/** Views are found by name, so that no compiler sees whether one takes what its operation answers: `alsoShown` looks. */
async function playAll(world: World, { alsoShown = false } = {}): Promise<Readonly<Record<string, string>>> {
  const shapes: Record<string, string> = {};
  for (const [verb, sample] of Object.entries(SAMPLES)) {
    // As soon as there is a key, a server wants one.
    if (verb === "keys ls") world.useKey(await world.fieldOf("key", "keys", "create", "first", "--scopes", "admin"));
    const args = [...verb.split(" "), ...(await sample(world))];
    const { code, answer } = await world.ask(...args);
    const shape = JSON.stringify(shapeOf(answer));
    expect(shape, `${verb} is written as it is meant`).not.toContain('"USAGE"');
    shapes[verb] = `exit ${code}: ${shape}`;
    if (alsoShown) expect((await world.show(...args)).stderr, verb).not.toMatch(/defect|USAGE/);
  }
  return shapes;
}

test("every verb that a server knows has a sample", async () => {
  const verbs = (await loadOperations()).flatMap(({ http, cli }) => {
    if ("no" in http || "no" in cli) return [];
    return "byHand" in cli ? cli.byHand : verbsOf({ cli }).map(({ verb }) => verb);
  });
  expect(Object.keys(SAMPLES).sort()).toEqual([...new Set(verbs)].filter((verb) => !HERE_ONLY.has(verb)).sort());
});

// Every verb three times, each a command line of its own.
test("a verb answers alike in its own process, through the owner of the data and from a server, and shows a person its answer", {
  timeout: 240_000,
}, async () => {
  const [owned, served] = [application(FILES), application(FILES)];
  const servers = Promise.all([startServer([], { cwd: owned }), startServer([], { cwd: served })]);
  const here = await playAll(new World(application(FILES)));
  const [, { url }] = await servers;
  expect(await playAll(new World(owned))).toEqual(here);
  expect(await playAll(new World(served, ["--url", url]), { alsoShown: true })).toEqual(here);
});
