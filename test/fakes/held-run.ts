import type { JsonObject } from "../../src/core/json.ts";
import { task, toGraph } from "../faults/graphs.ts";
import { type Play, World } from "../faults/world.ts";

export const hangs: Play = () => new Promise<never>(() => undefined);

/** Time enough for the pauses of a few deaths. */
const A_WHILE_MS = 5_000;

export async function pass(world: World, ms = A_WHILE_MS): Promise<World> {
  await world.clock.advance(ms);
  return world;
}

/** The process dies and another one takes over at the same moment. */
export async function die(world: World, plays: Record<string, Play> = {}): Promise<World> {
  const next = world.next({ plays });
  await next.host.recover();
  return pass(next, 0);
}

/** A run whose step was alone in flight at five deaths of its process. */
export async function hold(more: Parameters<typeof toGraph>[1] = {}, options: JsonObject = {}) {
  const first = new World({ plays: { a: hangs } });
  const { id } = await first.start(toGraph([task("a"), task("b", { after: ["a"] })], more), {}, { options });
  let world = await pass(first, 0);
  for (let death = 0; death < 5; death += 1) world = await pass(await die(world, { a: hangs }));
  return { world, id };
}
