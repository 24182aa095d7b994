// Writes docs/api.md: what the package exports as `pawl`, with the types of ours that it names. `--check` only says whether it is up to date.
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import ts from "typescript";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const PATH = `${ROOT}docs/api.md`;
const ENTRY = `${ROOT}src/embed/pawl.ts`;
/** Where the contract is declared. What the engine reads of it (a graph) is no part. */
const PLACES = /\/src\/(embed\/|dialects\/typescript\/|ports\/step-functions\.ts|core\/json\.ts)/;

const HEAD = `# The interface of the package

<!-- Made by scripts/generate-api.ts from src/embed/pawl.ts. Do not edit. -->

What \`import ... from "pawl"\` gives, and the types that it names: this is the contract. Before version 1 it may change with each minor
version, and \`CHANGELOG.md\` says then what becomes of programs that use it. A \`Graph\` is data for the engine, and no part of it.

\`\`\`d.ts
`;

const { config } = ts.readConfigFile(`${ROOT}tsconfig.base.json`, ts.sys.readFile) as { readonly config: object };
const { options } = ts.parseJsonConfigFileContent(config, ts.sys, ROOT);
const program = ts.createProgram([ENTRY], { ...options, declaration: true, emitDeclarationOnly: true, noEmit: false });
const declared = new Map<string, ts.Statement[]>();
for (const file of program.getSourceFiles()) if (PLACES.test(file.fileName)) collect(file);

/** The declarations of a file, as a consumer sees them. */
function collect(file: ts.SourceFile): void {
  const take: ts.WriteFileCallback = (_, text) => {
    const emitted = ts.createSourceFile("emitted.d.ts", text, ts.ScriptTarget.Latest, true);
    for (const statement of emitted.statements)
      for (const name of namesOf(statement)) declared.set(name, [...(declared.get(name) ?? []), statement]);
  };
  program.emit(file, take, undefined, true);
}

function namesOf(statement: ts.Statement): readonly string[] {
  if (ts.isVariableStatement(statement))
    return statement.declarationList.declarations.map(({ name }) => name.getText());
  return "name" in statement ? [(statement.name as ts.Identifier).text] : [];
}

const shown = new Map<string, string>();

function show(name: string): void {
  const statements = declared.get(name);
  if (statements === undefined || shown.has(name)) return;
  shown.set(name, statements.map((statement) => statement.getText()).join("\n"));
  const visit = (node: ts.Node): void => {
    if (ts.isTypeReferenceNode(node) || ts.isExpressionWithTypeArguments(node) || ts.isTypeQueryNode(node))
      show((node.getText().match(/^(?:typeof )?(\w+)/) ?? [])[1] ?? "");
    node.forEachChild(visit);
  };
  for (const statement of statements) visit(statement);
}

const entry = program.getSourceFile(ENTRY);
const checker = program.getTypeChecker();
const symbol = entry && checker.getSymbolAtLocation(entry);
for (const { name } of symbol === undefined ? [] : checker.getExportsOfModule(symbol)) show(name);
const texts = [...shown].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, text]) => text);
const page = `${HEAD}${texts.join("\n\n")}\n\`\`\`\n`;
if (!process.argv.includes("--check")) writeFileSync(PATH, page);
else if (readFileSync(PATH, "utf8") !== page) {
  console.error("docs/api.md is not up to date: run `npm run docs:api`.");
  process.exitCode = 1;
}
