import { startFakeModelServer } from "../fakes/model-server/fake-model-server.ts";
import { saidIn } from "../fakes/model-server/shown.ts";
import { HOSTILE_PROGRAMS, killUnderLoad, lookForSecrets, runHostilePrograms, watchSyncs } from "./faults.ts";
import { fuzz } from "./fuzz.ts";
import { sendHostile } from "./hostile.ts";
import { attackWithDefinitions, type Result, reachForForeign } from "./parts.ts";
import { attackStarts } from "./starts/starts.ts";
import { crowdOut } from "./tenants.ts";
import { World } from "./world.ts";

interface RoundOptions {
  readonly seed: number;
  /** False: as little as shows something, for every change of the code. */
  readonly isWhole: boolean;
  readonly defect?: string;
  /** How many starts. */
  readonly count?: number | undefined;
  /** What each has come to. */
  tell?(line: string): void;
}

/** What is attacked, each on a server of its own. */
const PARTS = {
  definitions: (world: World, { isWhole }: RoundOptions) => attackWithDefinitions(world, { every: isWhole ? 1 : 5 }),
  foreign: (world: World) => reachForForeign(world),
  hostile: (world: World, { isWhole }: RoundOptions) => sendHostile(world, isWhole ? { times: 5 } : { every: 4 }),
  programs: (world: World) => runHostilePrograms(world),
  secrets: (world: World) => lookForSecrets(world),
  syncs: (world: World, { isWhole }: RoundOptions) => watchSyncs(world, { requests: isWhole ? 200 : 20 }),
  kills: (world: World, { seed, isWhole }: RoundOptions) => killUnderLoad(world, { seed, kills: isWhole ? 50 : 5 }),
  tenants: (world: World, { isWhole }: RoundOptions) => crowdOut(world, { isWhole }),
  requests: (world: World, { seed, isWhole }: RoundOptions) => fuzz(world, { seed, count: isWhole ? 20_000 : 2_000 }),
} as const satisfies Record<string, (world: World, options: RoundOptions) => Promise<Result>>;

/** What starts servers of its own. */
const ALONE = {
  starts: ({ seed, isWhole, count = isWhole ? 60 : 10, tell }: RoundOptions) =>
    attackStarts({ seed, count, width: 4, ...(tell === undefined ? {} : { tell }) }),
} as const satisfies Record<string, (options: RoundOptions) => Promise<Result>>;

export type Part = keyof typeof PARTS | keyof typeof ALONE;

export const PART_NAMES = [...Object.keys(PARTS), ...Object.keys(ALONE)] as readonly Part[];

export async function attackOnce(part: Part, options: RoundOptions): Promise<Result> {
  if (part === "starts") return ALONE[part](options);
  // It says all that it was told, so that what it should not have been told can be seen.
  const model = await startFakeModelServer({
    keepsRequests: false,
    replies: ({ shown }) => ({ do: "say", text: JSON.stringify([shown.system, ...saidIn(shown)]) }),
  });
  const world = await World.open({ files: filesFor(model.url), defect: options.defect });
  try {
    return await PARTS[part](world, options);
  } finally {
    await world.close();
    await model.close();
  }
}

function filesFor(modelUrl: string): Readonly<Record<string, string>> {
  return {
    "pawl.yaml": JSON.stringify({
      agent: { provider: "inline" },
      // Whatever a definition names: nothing is asked outside of this machine.
      models: {
        default: "fake:m",
        providers: {
          fake: { kind: "openai-compatible", base_url: modelUrl },
          anthropic: { kind: "anthropic", base_url: modelUrl },
          openai: { kind: "openai", base_url: modelUrl },
        },
      },
      server: { rate_limit_per_minute: 0 },
    }),
    "workflows/hello.yaml": "name: hello\nsteps: [{id: a, type: llm, prompt: hi}]\n",
    "workflows/keyed.yaml": JSON.stringify({
      name: "keyed",
      steps: [{ id: "a", type: "llm", prompt: "{input.text}" }],
    }),
    "workflows/hostile.yaml": JSON.stringify({
      name: "hostile",
      steps: [
        {
          id: "a",
          type: "code",
          script: "hostile.py#run",
          network: true,
          params: Object.fromEntries(["name", "mark", "file", "port", "pid"].map((name) => [name, `{input.${name}}`])),
          retry: { max_attempts: 1 },
        },
      ],
    }),
    "hostile.py": HOSTILE_PROGRAMS,
    "agents.json": JSON.stringify({
      agents: [
        { name: "Clerk", client_ids: [], model: "fake:m", system_prompt: "You remember.", include_history: true },
      ],
      workflows: [{ name: "Ask", steps: ["Clerk"] }],
    }),
  };
}
