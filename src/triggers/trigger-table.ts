import { relative } from "node:path";
import { ERRORS, type ErrorCode } from "../core/errors/error-table.ts";
import type { Place, Trigger } from "../core/graph/graph.ts";
import type { FoundDefinition } from "../operations/find-definition.ts";
import type { RegisteredDefinition } from "../operations/registry.ts";
import { parsePathPattern } from "./routes/path-pattern.ts";
import { isReserved } from "./routes/reserved-paths.ts";
import { type Route, RouteTable } from "./routes/route-table.ts";

type TriggerOf<Kind extends Trigger["kind"]> = Trigger & { readonly kind: Kind };

/** A definition with what starts it. */
interface Armed<Kind extends Trigger["kind"]> {
  readonly trigger: TriggerOf<Kind>;
  readonly target: FoundDefinition;
}

/** A trigger that is not armed. */
interface TriggerProblem {
  readonly code: ErrorCode;
  readonly message: string;
  readonly remedy: string;
}

/** What starts workflows of an application, as its definitions say. */
export interface TriggerTable {
  readonly routes: RouteTable<FoundDefinition>;
  readonly queues: ReadonlyMap<string, readonly FoundDefinition[]>;
  readonly events: ReadonlyMap<string, readonly Armed<"event">[]>;
  readonly problems: readonly TriggerProblem[];
}

/**
 * Arms every trigger that can be. Of two routes for the same requests the one that `before` has stays, else the one whose
 * file comes first; the other is a problem that names both places.
 */
export function buildTriggerTable(
  definitions: readonly RegisteredDefinition[],
  { appDir, before }: { readonly appDir: string; readonly before?: TriggerTable | undefined },
): TriggerTable {
  const routes = new RouteTable<FoundDefinition>();
  const queues = new Map<string, FoundDefinition[]>();
  const events = new Map<string, Armed<"event">[]>();
  const problems: TriggerProblem[] = [];
  const files = new Map<string, string>();
  for (const { trigger, target } of inOrder(definitions, before)) {
    const { name } = target.definition.graph;
    const first = files.get(name);
    if (first !== undefined) {
      const both = [first, target.file].map((file) => relative(appDir, file)).join(" and of ");
      problems.push(problem("NAME_TAKEN_TWICE", `"${name}" is the name of ${both}; the second is not triggered.`));
      continue;
    }
    files.set(name, target.file);
    switch (trigger.kind) {
      case "http": {
        const problem = addRoute(routes, { trigger, target }, appDir);
        if (problem !== undefined) problems.push(problem);
        break;
      }
      case "cron":
        // The scheduler reads it from the definition.
        break;
      case "queue":
        queues.set(trigger.queueName, [...(queues.get(trigger.queueName) ?? []), target]);
        break;
      case "event":
        events.set(trigger.event, [...(events.get(trigger.event) ?? []), { trigger, target }]);
        break;
    }
  }
  return { routes, queues, events, problems };
}

interface Triggered {
  readonly trigger: Trigger;
  readonly target: FoundDefinition;
}

function inOrder(definitions: readonly RegisteredDefinition[], before: TriggerTable | undefined): readonly Triggered[] {
  const armed = new Set(before?.routes.list().map(({ target }) => target.file));
  const all = definitions.flatMap(({ file, report }): readonly Triggered[] => {
    const { definition } = report;
    const trigger = definition?.graph.trigger;
    return definition === undefined || trigger === undefined ? [] : [{ trigger, target: { definition, file } }];
  });
  return [
    ...all.filter(({ target }) => armed.has(target.file)),
    ...all.filter(({ target }) => !armed.has(target.file)),
  ];
}

function addRoute(
  routes: RouteTable<FoundDefinition>,
  { trigger, target }: Armed<"http">,
  appDir: string,
): TriggerProblem | undefined {
  const here = placeOf(target, trigger.place, appDir);
  const pattern = parsePathPattern(trigger.pathPattern);
  if ("fault" in pattern) return problem("ROUTE_INVALID", `${here}: ${pattern.fault}`);
  if (isReserved(pattern)) {
    return problem("ROUTE_RESERVED", `${here}: "${trigger.pathPattern}" is a path of the service itself.`);
  }
  const known = routes.add({ method: trigger.method, pattern, target });
  if (known === undefined) return undefined;
  const there = placeOf(known.target, placeOfRoute(known), appDir);
  const written = `${trigger.method} ${trigger.pathPattern}`;
  const other = known.pattern.written === trigger.pathPattern ? "" : ` (as ${known.pattern.written})`;
  return problem("ROUTE_AMBIGUOUS", `${here}: ${written} is answered by the workflow at ${there} already${other}.`);
}

function placeOfRoute({ target }: Route<FoundDefinition>): Place | undefined {
  const { trigger } = target.definition.graph;
  return trigger?.kind === "http" ? trigger.place : undefined;
}

function placeOf({ file }: FoundDefinition, place: Place | undefined, appDir: string): string {
  const shown = relative(appDir, file);
  return place === undefined ? shown : `${shown}:${place.line}:${place.column}`;
}

function problem(code: ErrorCode, message: string): TriggerProblem {
  return { code, message, remedy: ERRORS[code].remedy };
}
