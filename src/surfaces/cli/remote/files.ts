import { dataOf } from "../../../client/pawl-client.ts";
import type { CommonOptions } from "../cli-context.ts";
import { readContent, showStoredFiles } from "../commands/storage.ts";
import { tell } from "../print.ts";
import { io } from "../process-io.ts";
import { readPages } from "./read-pages.ts";
import type { RemoteParts } from "./remote-parts.ts";

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
