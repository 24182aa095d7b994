import type { TestProject } from "vitest/node";
import { RestateServer } from "./restate-server.ts";

let server: RestateServer | undefined;

/** One server for all tests of the profile `restate`. Each application has a service of its own there. */
export async function setup(project: TestProject): Promise<void> {
  server = await RestateServer.open();
  project.provide("restate", { url: server.ingressUrl, adminUrl: server.adminUrl });
}

export async function teardown(): Promise<void> {
  await server?.remove();
}
