import { ResourceNotFoundError, type Server } from "@modelcontextprotocol/server";
import { PIXEL } from "./media.ts";

const TEMPLATE = /^test:\/\/template\/([^/]+)\/data$/;

export function addFixtureResources(server: Server): void {
  server.setRequestHandler("resources/list", () => ({
    resources: [
      { uri: "test://static-text", name: "text", description: "A text.", mimeType: "text/plain" },
      { uri: "test://static-binary", name: "binary", description: "An image.", mimeType: "image/png" },
      { uri: "test://watched-resource", name: "watched", description: "Never changes.", mimeType: "text/plain" },
    ],
  }));
  server.setRequestHandler("resources/templates/list", () => ({
    resourceTemplates: [{ uriTemplate: "test://template/{id}/data", name: "template", description: "Data of an id." }],
  }));
  server.setRequestHandler("resources/read", ({ params: { uri } }) => ({ contents: [read(uri)] }));
  server.setRequestHandler("resources/subscribe", () => ({}));
  server.setRequestHandler("resources/unsubscribe", () => ({}));
}

function read(uri: string) {
  const [, id] = TEMPLATE.exec(uri) ?? [];
  if (id !== undefined) {
    const text = JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` });
    return { uri, mimeType: "application/json", text };
  }
  if (uri === "test://static-binary") return { uri, mimeType: "image/png", blob: PIXEL };
  if (uri === "test://static-text" || uri === "test://watched-resource")
    return { uri, mimeType: "text/plain", text: "This is the content of the static text resource." };
  throw new ResourceNotFoundError(uri, `There is no resource ${uri}.`);
}
