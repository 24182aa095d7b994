const { readFileSync } = require("node:fs");
const { join } = require("node:path");

/**
 * What each folder of src/ may import beside itself: the table of docs/architecture.md. A new arrow is a design decision: say
 * why in the commit.
 */
const layers = Object.fromEntries(
  [...readFileSync(join(__dirname, "docs/architecture.md"), "utf8").matchAll(/^\| `src\/(\w+)` \|.*\| ([^|]+) \|$/gm)]
    .filter(([, , allowed]) => allowed !== "everything")
    .map(([, layer, allowed]) => [layer, allowed === "nothing" ? [] : allowed.match(/\w+(?=,|$| \()/g)]),
);

/** Folders whose subfolders do not know each other, with the subfolders that are there to be shared. */
const siblings = {
  dialects: ["source", "shape", "work"],
  executors: ["capacity", "output", "models", "sandbox", "mcp-servers", "outbound"],
  hosts: ["session"],
  storage: ["sql"],
  surfaces: [],
  telemetry: [],
  triggers: [],
};

/** The rooms of src/operations: each may import those before it. `operation.ts` and `operations.ts` frame them all. */
const rooms = [
  ...[
    "limits",
    "definitions",
    "application",
    "events",
    "storage",
    "keys",
    "runs",
    "agents",
    "approvals",
    "costs",
    "start",
  ],
  ...["repeat", "plan", "tests", "requests", "dead-letters", "data", "database", "restate", "templates", "service"],
  ...["terminals", "schedules", "webhooks", "triggers", "workflows"],
];

const tests = "[.]test[.]ts$";
const names = Object.keys(layers).join("|");

const layerRules = Object.entries(layers).map(([layer, allowed]) => ({
  name: `layer-${layer}`,
  comment: `src/${layer} may import ${["itself", ...allowed].join(", ")}. The table is in docs/architecture.md.`,
  severity: "error",
  from: { path: `^src/${layer}/`, pathNot: tests },
  to: { path: "^src/", pathNot: `^src/(${[layer, ...allowed].join("|")})/` },
}));

const siblingRules = Object.entries(siblings).map(([layer, shared]) => ({
  name: `siblings-${layer}`,
  comment: `The folders of src/${layer} do not import each other.`,
  severity: "error",
  from: { path: `^src/${layer}/([^/]+)/`, pathNot: tests },
  to: {
    path: `^src/${layer}/[^/]+/`,
    pathNot: [`^src/${layer}/$1/`, ...shared.map((name) => `^src/${layer}/${name}/`)],
  },
}));

const roomRules = rooms.map((room, at) => ({
  name: `room-${room}`,
  comment: `src/operations/${room} may import ${rooms.slice(0, at).join(", ") || "no other room"}.`,
  severity: "error",
  from: { path: `^src/operations/${room}/`, pathNot: tests },
  to: { path: "^src/operations/[^/]+/", pathNot: `^src/operations/(${rooms.slice(0, at + 1).join("|")})/` },
}));

module.exports = {
  forbidden: [
    ...layerRules,
    ...siblingRules,
    ...roomRules,
    {
      name: "room-unknown",
      comment: "Every folder of src/operations has its place in the order of rooms.",
      severity: "error",
      from: { path: "^src/operations/[^/]+/", pathNot: `^src/operations/(${rooms.join("|")})/` },
      to: {},
    },
    {
      name: "rooms-stand-on-the-ground",
      comment: "What all rooms use imports none of them.",
      severity: "error",
      from: { path: "^src/operations/[^/]+[.]ts$", pathNot: `${tests}|/operations?[.]ts$` },
      to: { path: "^src/operations/[^/]+/" },
    },
    {
      name: "layer-main",
      comment: "main.ts starts a surface or the app and decides nothing.",
      severity: "error",
      from: { path: "^src/main[.]ts$" },
      to: { path: "^src/", pathNot: "^src/(surfaces|app|config|core)/" },
    },
    {
      name: "layer-unknown",
      comment: "Every file of src/ belongs to a layer of the table in docs/architecture.md.",
      severity: "error",
      from: { path: "^src/", pathNot: `^src/(${names}|app)/|^src/main[.]ts$|${tests}` },
      to: {},
    },
    {
      name: "web-knows-the-client",
      comment: "The pages know the server by `pawl/client` alone, and only what reads and sends does.",
      severity: "error",
      from: { path: "^web/" },
      to: { path: "^src/", pathNot: "^src/client/pawl-client[.]ts$" },
    },
    {
      name: "web-views-stand-alone",
      comment: "A view is made of parts and data. What two views need is a part.",
      severity: "error",
      from: { path: "^web/views/([^/]+)/" },
      to: { path: "^web/(views/[^/]+/|app[.]tsx|main[.]tsx)", pathNot: "^web/views/$1/" },
    },
    {
      name: "web-data-draws-nothing",
      severity: "error",
      from: { path: "^web/data/" },
      to: { path: "^web/(parts|views)/" },
    },
    {
      name: "web-parts-know-no-view",
      severity: "error",
      from: { path: "^web/parts/" },
      to: { path: "^web/(views/|app[.]tsx)" },
    },
    {
      name: "core-imports-nothing",
      comment: "The core decides and never acts: no package, no Node.",
      severity: "error",
      from: { path: "^src/core/", pathNot: tests },
      to: { pathNot: "^src/" },
    },
    {
      name: "dialects-do-no-io",
      comment: "A dialect turns text into a graph. It may use parsers, and load one where it is wanted, never Node.",
      severity: "error",
      from: { path: "^src/dialects/", pathNot: tests },
      to: { dependencyTypes: ["core"], pathNot: "^module$" },
    },
    {
      name: "packages-stand-alone",
      comment: "A package is of use without Pawl.",
      severity: "error",
      from: { path: "^packages/([^/]+)/", pathNot: tests },
      to: { pathNot: "^packages/$1/" },
    },
    { name: "no-cycles", severity: "error", from: {}, to: { circular: true } },
    {
      name: "no-orphans",
      comment: "Nothing imports this file and it imports nothing: delete it.",
      severity: "error",
      from: {
        orphan: true,
        pathNot: `${tests}|[.]d[.]ts$|^src/main[.]ts$|^web/(main[.]tsx|vite[.]config[.]ts|terminals/)`,
      },
      to: {},
    },
  ],
  options: {
    doNotFollow: { path: "node_modules" },
    exclude: { path: "^(dist|test|bench)/|^packages/[^/]+/(dist|fixtures)/|^src/.*[.]js$" },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: "src/tsconfig.json" },
    enhancedResolveOptions: { exportsFields: ["exports"], conditionNames: ["import", "node", "default", "types"] },
  },
};
