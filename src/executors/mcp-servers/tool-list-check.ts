import { type SpecTypeName, specTypeSchemas } from "@modelcontextprotocol/client";
import { writeExact } from "../../core/exact-json.ts";
import { isJsonObject, type Json, type JsonObject } from "../../core/json.ts";

/** Limits of one listing, over all of its pages. */
const MAX_TOOLS = 1_000;
const MAX_PAGES = 50;
const MAX_BYTES = 8 * 1024 * 1024;
const MAX_TOOL_BYTES = 256 * 1024;
const MAX_WARNINGS = 20;

/** Reads each list of tools before the SDK, which refuses the whole list for one broken tool and sets no bound. Omissions become warnings. */
export class ToolListCheck {
  #listing = createListing();

  get warnings(): readonly string[] {
    return this.#listing.warnings;
  }

  /** A listing is asked for from its first page on. */
  begin(): void {
    this.#listing = createListing();
  }

  /** One page. A list of nothing is null in some languages. */
  check({ tools = [], nextCursor, ...rest }: JsonObject): JsonObject {
    if (!Array.isArray(tools)) return { ...rest, tools };
    const kept = this.#keep(tools);
    const isMore = nextCursor !== undefined && this.#hasRoom();
    return { ...rest, tools: kept, ...(isMore ? { nextCursor } : {}) };
  }

  #hasRoom(): boolean {
    const listing = this.#listing;
    listing.pages += 1;
    if (listing.isFull) return false;
    if (listing.pages < MAX_PAGES) return true;
    this.#warn(`its list of tools has more than ${MAX_PAGES} pages; the others were not asked for`);
    return false;
  }

  #keep(tools: readonly Json[]): Json[] {
    return tools.flatMap((tool) => {
      if (this.#listing.isFull) return [];
      const read = readTool(tool);
      if ("flaw" in read) {
        this.#warn(read.flaw);
        return [];
      }
      return this.#fits(read.tool) ? [read.tool] : [];
    });
  }

  #fits(tool: JsonObject): boolean {
    const listing = this.#listing;
    const bytes = writeExact(tool).length;
    if (bytes > MAX_TOOL_BYTES) {
      this.#warn(`its tool ${nameOf(tool)} was left out: its definition has ${bytes} characters`);
      return false;
    }
    listing.tools += 1;
    listing.bytes += bytes;
    if (listing.tools <= MAX_TOOLS && listing.bytes <= MAX_BYTES) return true;
    listing.isFull = true;
    this.#warn(`only the first ${listing.tools - 1} of its tools are used: there are too many`);
    return false;
  }

  #warn(warning: string): void {
    const { warnings } = this.#listing;
    if (warnings.length < MAX_WARNINGS) warnings.push(warning);
  }
}

interface Listing {
  tools: number;
  bytes: number;
  pages: number;
  isFull: boolean;
  readonly warnings: string[];
}

function createListing(): Listing {
  return { tools: 0, bytes: 0, pages: 0, isFull: false, warnings: [] };
}

/** A schema that does not say what it is of is one of an object: arguments are nothing else. */
function readTool(tool: Json): { readonly tool: JsonObject } | { readonly flaw: string } {
  if (!isJsonObject(tool)) return { flaw: "one of its tools was left out: it is no object" };
  const { name, title, description, inputSchema, outputSchema, annotations } = tool;
  if (typeof name !== "string" || name === "") return { flaw: "one of its tools was left out: it has no name" };
  const leftOut = (why: string) => ({ flaw: `its tool ${nameOf(tool)} was left out: ${why}` });
  if (!isJsonObject(inputSchema)) return leftOut("its `inputSchema` is no object");
  const { type = "object" } = inputSchema;
  if (type !== "object") return leftOut(`its \`inputSchema\` is of ${writeExact(type).slice(0, 50)}`);
  // Other broken parts are dropped, and the tool is kept.
  const read = {
    name,
    ...(typeof title === "string" ? { title } : {}),
    ...(typeof description === "string" ? { description } : {}),
    inputSchema: { ...inputSchema, type },
    ...(isJsonObject(outputSchema) ? { outputSchema } : {}),
    ...(isJsonObject(annotations) ? { annotations: readHints(annotations) } : {}),
  };
  const flaw = findSpecFlaw("Tool", read);
  return flaw === undefined ? { tool: read } : leftOut(flaw);
}

function readHints(annotations: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(annotations).filter(([, value]) => typeof value === "boolean"));
}

function nameOf({ name }: JsonObject): string {
  return writeExact(name ?? null).slice(0, 80);
}

/** Why a value is not of a type of the protocol: its first fault. Undefined: it is. */
export function findSpecFlaw(type: SpecTypeName, value: Json): string | undefined {
  const [issue] = specTypeSchemas[type]["~standard"].validate(value).issues ?? [];
  if (issue === undefined) return undefined;
  const path = (issue.path ?? []).map((part) => String(typeof part === "object" ? part.key : part));
  return `\`${path.join(".")}\` is wrong (${issue.message})`;
}
