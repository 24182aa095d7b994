import { BoundedMap } from "../../core/bounded-map.ts";
import { writeExact } from "../../core/exact-json.ts";
import type { StoredDefinition } from "../../ports/service/workflow-definitions.ts";
import type { DefinitionPorts } from "../application/ports.ts";
import { grantOfSaved } from "../definitions/grant-of-saved.ts";
import { registryOf } from "../definitions/load-options.ts";
import { listRegistered, type RegisteredDefinition } from "../definitions/registry.ts";
import { reportOnSaved } from "../definitions/saved-definitions.ts";
import { buildTriggerTable, type TriggerTable, type TriggerTarget, targetsIn } from "./trigger-table.ts";

/** A table with what it was made from: as long as these are the same objects, nothing has changed. */
interface Made {
  readonly table: TriggerTable;
  readonly from: readonly unknown[];
  readonly saved: readonly StoredDefinition[];
}

/** Tenants whose definitions are held ready. */
const MAX_TENANTS = 500;

/**
 * The triggers of workflows at this moment: files and what was saved through the service, by whichever process. What a tenant has
 * saved is in a table of its own, so that it takes nothing from anybody: its routes are at a path of the tenant's, its queues
 * and events are those of messages that the tenant sends.
 */
export class TriggerTables {
  readonly #app: DefinitionPorts;
  readonly #ofTenants = new BoundedMap<string, Made>(MAX_TENANTS);
  #ofApplication: Made | undefined;

  constructor(app: DefinitionPorts) {
    this.#app = app;
  }

  /** For messages of a tenant with what the application has, too, save for names that the tenant has taken. */
  async find(tenantId?: string): Promise<TriggerTable> {
    const { table } = await this.#findApplications();
    return tenantId === undefined ? table : this.#findTenants(tenantId, table);
  }

  async #findApplications(): Promise<Made> {
    const files = await listFiles(this.#app);
    const { definitions } = await this.#app.service();
    const saved = await definitions.listTriggered({});
    const known = this.#ofApplication;
    if (known?.from[0] === files && isSame(known.saved, saved)) return known;
    const targets = [...targetsIn(files, this.#app.appDir), ...(await targetsOfSaved(this.#app, saved))];
    this.#ofApplication = { table: buildTriggerTable(targets, { before: known?.table }), from: [files], saved };
    return this.#ofApplication;
  }

  async #findTenants(tenantId: string, applications: TriggerTable): Promise<TriggerTable> {
    const files = await listFiles(this.#app);
    const { definitions } = await this.#app.service();
    const saved = await definitions.listTriggered({ tenantId });
    const known = this.#ofTenants.get(tenantId);
    if (known?.from[0] === applications && known.from[1] === files && isSame(known.saved, saved)) return known.table;
    const own = await targetsOfSaved(this.#app, saved);
    const table = buildTenantsTable(own, { applications, files, appDir: this.#app.appDir, before: known?.table });
    // Anybody may ask for a path of a tenant that there is none of.
    if (saved.length > 0) this.#ofTenants.set(tenantId, { table, from: [applications, files], saved });
    return table;
  }
}

interface Around {
  readonly applications: TriggerTable;
  readonly files: readonly RegisteredDefinition[];
  readonly appDir: string;
  readonly before?: TriggerTable | undefined;
}

function buildTenantsTable(
  own: readonly TriggerTarget[],
  { applications, files, appDir, before }: Around,
): TriggerTable {
  // A file that came after its name had been saved is who goes by it: neither it nor the other may be meant.
  const byFile = new Map(targetsIn(files, appDir).map((target) => [target.definition.graph.name, target]));
  const free = own.filter(({ definition }) => !byFile.has(definition.graph.name));
  const table = buildTriggerTable(free, { before, isAtRoot: false });
  const names = new Set(own.map(({ definition }) => definition.graph.name));
  const isTheirs = ({ target }: { readonly target: TriggerTarget }) => !names.has(target.definition.graph.name);
  return {
    routes: table.routes,
    queues: merge(table.queues, applications.queues, isTheirs),
    events: merge(table.events, applications.events, isTheirs),
    awaited: merge(table.awaited, applications.awaited, () => true),
    problems: table.problems,
  };
}

function merge<Armed>(
  own: ReadonlyMap<string, readonly Armed[]>,
  others: ReadonlyMap<string, readonly Armed[]>,
  isWanted: (armed: Armed) => boolean,
): ReadonlyMap<string, readonly Armed[]> {
  const merged = new Map(own);
  for (const [name, armed] of others) {
    const all = [...(own.get(name) ?? []), ...armed.filter(isWanted)];
    if (all.length > 0) merged.set(name, all);
  }
  return merged;
}

async function listFiles(app: DefinitionPorts): Promise<readonly RegisteredDefinition[]> {
  return listRegistered(registryOf(app));
}

/** A definition that this version cannot compile starts nothing. A request by its name says why. */
export async function targetsOfSaved(
  app: Pick<DefinitionPorts, "config" | "compiledTexts">,
  saved: readonly StoredDefinition[],
): Promise<readonly TriggerTarget[]> {
  const targets = await Promise.all(
    saved.map(async (stored): Promise<readonly TriggerTarget[]> => {
      const { definition } = await reportOnSaved(app, stored);
      return definition === undefined ? [] : [toTarget(stored, { definition })];
    }),
  );
  return targets.flat();
}

export function toTarget(
  { name, version, tenantId, maxCostMicro, grant }: Omit<StoredDefinition, "text" | "at">,
  { definition }: Pick<TriggerTarget, "definition">,
): TriggerTarget {
  return {
    definition,
    shownAs: `${name} (saved, version ${version})`,
    tenantId,
    maxCostMicro,
    grant: grantOfSaved({ grant, tenantId }),
  };
}

function isSame(some: readonly StoredDefinition[], others: readonly StoredDefinition[]): boolean {
  if (some === others) return true;
  const isEqual = (one: StoredDefinition, other: StoredDefinition | undefined) =>
    one.name === other?.name &&
    one.version === other.version &&
    one.text === other.text &&
    one.maxCostMicro === other.maxCostMicro &&
    writeExact(one.grant) === writeExact(other.grant);
  return some.length === others.length && some.every((one, index) => isEqual(one, others[index]));
}
