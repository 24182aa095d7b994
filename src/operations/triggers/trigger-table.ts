import { relative } from "node:path";
import { ERRORS, type ErrorCode } from "../../core/errors/error-table.ts";
import { awaitedEvents } from "../../core/graph/event-match.ts";
import type { Place, Trigger } from "../../core/graph/graph.ts";
import { type PathPattern, parsePathPattern } from "../../core/graph/path-pattern.ts";
import type { Grant } from "../../core/trust/grant.ts";
import type { ReferredDefinition } from "../definitions/find-definition.ts";
import type { RegisteredDefinition } from "../definitions/registry.ts";
import { RouteTable } from "./route-table.ts";

type TriggerOf<Kind extends Trigger["kind"]> = Trigger & { readonly kind: Kind };

/** The definition that a trigger starts: in a file, or saved by a client. */
export interface TriggerTarget extends ReferredDefinition {
  /** Its place, for people. */
  readonly shownAs: string;
  /** The tenant that saved it. */
  readonly tenantId?: string;
  /** The most that one of its runs may cost: the limit of the key that saved it. */
  readonly maxCostMicro?: number;
  /** What that key may do. Absent: it is a file of the operator. */
  readonly grant?: Grant;
}

/** A definition with what starts it. */
interface Armed<Kind extends Trigger["kind"]> {
  readonly trigger: TriggerOf<Kind>;
  readonly target: TriggerTarget;
}

export type RouteTarget = TriggerTarget & Omit<Armed<"http">, "target">;

/** What steps read as `trigger.name`. */
export function nameOf({ name }: { readonly name?: string | undefined }): { readonly name?: string } {
  return name === undefined ? {} : { name };
}

export interface TriggerProblem {
  readonly code: ErrorCode;
  readonly message: string;
  readonly remedy: string;
  readonly target: TriggerTarget;
}

export interface TriggerTable {
  readonly routes: RouteTable<RouteTarget>;
  readonly queues: ReadonlyMap<string, readonly Armed<"queue">[]>;
  readonly events: ReadonlyMap<string, readonly Armed<"event">[]>;
  /** By event, by which fields runs wait for it. */
  readonly awaited: AwaitedFields;
  readonly problems: readonly TriggerProblem[];
}

type AwaitedFields = ReadonlyMap<string, readonly (readonly string[])[]>;

export interface TableOptions {
  readonly before?: TriggerTable | undefined;
  /** Paths of the service are nobody else's. False: they are below a folder that is not the service's. */
  readonly isAtRoot?: boolean;
}

/** The triggers of the application's files, without those that cannot be used. */
export function targetsIn(
  definitions: readonly RegisteredDefinition[],
  appDir: string,
): readonly (TriggerTarget & { readonly file: string })[] {
  return definitions.flatMap(({ file, report: { definition } }) =>
    definition === undefined ? [] : [{ definition, file, shownAs: relative(appDir, file) }],
  );
}

/**
 * Arms every trigger that can be. Of two routes for the same requests the one of a file goes before one that was saved, then
 * the one that `before` has, then the one that comes first; the other is a problem that names both places.
 */
export function buildTriggerTable(
  targets: readonly TriggerTarget[],
  { before, isAtRoot = true }: TableOptions = {},
): TriggerTable {
  const routes = new RouteTable<RouteTarget>();
  const queues = new Map<string, Armed<"queue">[]>();
  const events = new Map<string, Armed<"event">[]>();
  const problems: TriggerProblem[] = [];
  const places = new Map<string, string>();
  for (const target of inOrder(targets, before)) {
    const { name, triggers = [] } = target.definition.graph;
    const first = places.get(name);
    if (first !== undefined) {
      const both = [first, target.shownAs].join(" and of ");
      problems.push(
        problem(target, "NAME_TAKEN_TWICE", `"${name}" is the name of ${both}; the second is not triggered.`),
      );
      continue;
    }
    places.set(name, target.shownAs);
    for (const trigger of triggers) {
      switch (trigger.kind) {
        case "http": {
          const problem = addRoute(routes, { trigger, target }, isAtRoot);
          if (problem !== undefined) problems.push(problem);
          break;
        }
        case "cron":
          // The scheduler reads it from the definition.
          break;
        case "queue":
          queues.set(trigger.queueName, [...(queues.get(trigger.queueName) ?? []), { trigger, target }]);
          break;
        case "event":
          events.set(trigger.event, [...(events.get(trigger.event) ?? []), { trigger, target }]);
          break;
      }
    }
  }
  const awaited = new Map<string, readonly (readonly string[])[]>();
  for (const { definition } of targets)
    for (const { event, fields } of awaitedEvents(definition.graph.flow))
      awaited.set(event, [...(awaited.get(event) ?? []), fields]);
  return { routes, queues, events, awaited, problems };
}

function inOrder(targets: readonly TriggerTarget[], before: TriggerTable | undefined): readonly TriggerTarget[] {
  const armed = new Set(before?.routes.list().map(({ target }) => identityOf(target)));
  const rank = (target: TriggerTarget) => (target.file === undefined ? 2 : 0) + (armed.has(identityOf(target)) ? 0 : 1);
  const triggered = targets.filter(({ definition }) => definition.graph.triggers !== undefined);
  return triggered.sort((one, other) => rank(one) - rank(other));
}

/** The same definition, whatever its text says by now. */
function identityOf({ file, definition }: TriggerTarget): string {
  return file === undefined ? `saved ${definition.graph.name}` : `file ${file}`;
}

function addRoute(
  routes: RouteTable<RouteTarget>,
  { trigger, target }: Armed<"http">,
  isAtRoot: boolean,
): TriggerProblem | undefined {
  const here = placeOf(target, trigger.place);
  const pattern = parsePathPattern(trigger.pathPattern);
  if ("fault" in pattern) return problem(target, "ROUTE_INVALID", `${here}: ${pattern.fault}`);
  if (isAtRoot && isReserved(pattern))
    return problem(target, "ROUTE_RESERVED", `${here}: "${trigger.pathPattern}" is a path of the service itself.`);
  const known = routes.add({ method: trigger.method, pattern, target: { ...target, trigger } });
  if (known === undefined) return undefined;
  const there = placeOf(known.target, known.target.trigger.place);
  const written = `${trigger.method} ${trigger.pathPattern}`;
  const other = known.pattern.written === trigger.pathPattern ? "" : ` (as ${known.pattern.written})`;
  const message = `${here}: ${written} is answered by the workflow at ${there} already${other}.`;
  return problem(target, "ROUTE_AMBIGUOUS", message);
}

function placeOf({ shownAs }: TriggerTarget, place: Place | undefined): string {
  return place === undefined ? shownAs : `${shownAs}:${place.line}:${place.column}`;
}

function problem(target: TriggerTarget, code: ErrorCode, message: string): TriggerProblem {
  return { code, message, remedy: ERRORS[code].remedy, target };
}

/** Paths of the service, those included that later parts of it bring. */
const PATHS = new Set([
  "/execute",
  "/health",
  "/healthz",
  "/ready",
  "/status",
  "/doctor",
  "/settings",
  "/mcp-servers",
  "/metrics",
  "/violations",
  "/events",
  "/openapi.json",
  "/app/openapi.json",
  "/workflows/run",
  "/workflows/run/sync",
]);

/** Everything below these belongs to the service. */
const FOLDERS = new Set([
  "queues",
  "triggers",
  "runs",
  "schedules",
  "agents",
  "approvals",
  "artifacts",
  "costs",
  "custom_workflows",
  "dead-letter",
  "execution",
  "keys",
  "policies",
  "recordings",
  "storage",
  "templates",
  "terminals",
  "tenant-routes",
  "ui",
  "webhooks",
]);

/**
 * Whether a path is one of the service's own. Those under `/api` are, too; a pattern that merely covers one of them is not:
 * the service's go first.
 */
export function isReserved({ segments }: PathPattern): boolean {
  const names = segments.map((segment) => ("literal" in segment ? segment.literal : undefined));
  return isOwn(names) || (names[0] === "api" && names.length > 1 && isOwn(names.slice(1)));
}

function isOwn(names: readonly (string | undefined)[]): boolean {
  const [first, , third] = names;
  if (first !== undefined && FOLDERS.has(first)) return true;
  if (first === "workflows" && names.length === 3 && third === "execute") return true;
  return !names.includes(undefined) && PATHS.has(`/${names.join("/")}`);
}
