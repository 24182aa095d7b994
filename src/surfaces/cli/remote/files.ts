import { dataOf } from "../../../client/pawl-client.ts";
import { type CommonOptions, formatOf, pageOptions } from "../cli-context.ts";
import { readContent, showStoredFiles } from "../commands/storage.ts";
import { readDefinition, type ShowWorkflowOptions, showSaved, showVersions } from "../commands/workflows.ts";
import { print, printEnvelope, tell } from "../print.ts";
import { io } from "../process-io.ts";
import { readPages } from "./read-pages.ts";
import type { RemoteParts } from "./remote-parts.ts";

const byName = (name: string) => ({ params: { path: { name } } });

export async function listWorkflows({ client }: RemoteParts, options: CommonOptions): Promise<number> {
  const list = await readPages(Number.POSITIVE_INFINITY, (query) =>
    dataOf(client.api.GET("/workflows", { params: { query } })),
  );
  if (formatOf(options) !== "text") printEnvelope(list);
  else {
    const { renderWorkflows } = await import("../render/render-workflows.ts");
    print(renderWorkflows(list.items, pageOptions()));
  }
  return 0;
}

export async function showWorkflow(
  { client }: RemoteParts,
  name: string,
  options: ShowWorkflowOptions,
): Promise<number> {
  const query = options.version === undefined ? {} : { version: options.version };
  const shown = await dataOf(client.api.GET("/workflows/{name}", { params: { path: { name }, query } }));
  if (formatOf(options) !== "text") printEnvelope(shown);
  else print(shown.text.replace(/\n$/, ""));
  return 0;
}

export async function saveWorkflow({ client }: RemoteParts, file: string, options: CommonOptions): Promise<number> {
  const body = { text: await readDefinition(file) };
  return showSaved(await dataOf(client.api.POST("/workflows", { body })), options);
}

export async function listVersions({ client }: RemoteParts, name: string, options: CommonOptions): Promise<number> {
  const { items } = await dataOf(client.api.GET("/workflows/{name}/versions", byName(name)));
  return showVersions(items, options);
}

export async function removeWorkflow({ client }: RemoteParts, name: string, options: CommonOptions): Promise<number> {
  await dataOf(client.api.DELETE("/workflows/{name}", byName(name)));
  if (formatOf(options) !== "text") printEnvelope({ name });
  else tell(`Removed ${name}.`);
  return 0;
}

export async function listStorage({ client }: RemoteParts, prefix: string, options: CommonOptions): Promise<number> {
  const files = await readPages(Number.POSITIVE_INFINITY, (page) =>
    dataOf(client.api.GET("/storage", { params: { query: { prefix, ...page } } })),
  );
  return showStoredFiles(files.items, options);
}

export async function getStorage({ client }: RemoteParts, path: string): Promise<number> {
  const response = await client.request(toAddress(path));
  io().stdout.write(new Uint8Array(await response.arrayBuffer()));
  return 0;
}

export async function putStorage(
  { client }: RemoteParts,
  { path, source }: { readonly path: string; readonly source: string },
): Promise<number> {
  const body = new Uint8Array(await readContent(source));
  await client.request(toAddress(path), { method: "PUT", body });
  tell(`Stored ${path}.`);
  return 0;
}

export async function removeStorage({ client }: RemoteParts, path: string): Promise<number> {
  await client.request(toAddress(path), { method: "DELETE" });
  tell(`Removed ${path}.`);
  return 0;
}

function toAddress(path: string): string {
  return `/storage/${path.split("/").map(encodeURIComponent).join("/")}`;
}
