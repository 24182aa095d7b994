import {
  acceptedContent,
  type GetPromptResult,
  inputRequired,
  ProtocolError,
  ProtocolErrorCode,
  type Server,
} from "@modelcontextprotocol/server";
import { PIXEL } from "./media.ts";

const PROMPTS = [
  { name: "test_simple_prompt", description: "A text." },
  {
    name: "test_prompt_with_arguments",
    description: "A text with two arguments.",
    arguments: [
      { name: "arg1", description: "The first.", required: true },
      { name: "arg2", description: "The second.", required: true },
    ],
  },
  {
    name: "test_prompt_with_embedded_resource",
    description: "A resource.",
    arguments: [{ name: "resourceUri", description: "Of the resource.", required: true }],
  },
  { name: "test_prompt_with_image", description: "An image." },
  { name: "test_input_required_result_prompt", description: "Asks before it answers." },
];

export function addFixturePrompts(server: Server): void {
  server.setRequestHandler("prompts/list", () => ({ prompts: PROMPTS }));
  server.setRequestHandler("prompts/get", ({ params: { name, arguments: args = {} } }, { mcpReq }) => {
    switch (name) {
      case "test_simple_prompt":
        return toPrompt(toText("This is a simple prompt for testing."));
      case "test_prompt_with_arguments":
        return toPrompt(toText(`Prompt with arguments: arg1='${args["arg1"]}', arg2='${args["arg2"]}'`));
      case "test_prompt_with_embedded_resource": {
        const text = "Embedded resource content for testing.";
        const resource = { uri: args["resourceUri"] ?? "", mimeType: "text/plain", text };
        return toPrompt({ type: "resource", resource }, toText("Please process the embedded resource above."));
      }
      case "test_prompt_with_image": {
        const image = { type: "image", data: PIXEL, mimeType: "image/png" } as const;
        return toPrompt(image, toText("Please analyze the image above."));
      }
      case "test_input_required_result_prompt": {
        const answer = acceptedContent(mcpReq.inputResponses, "user_context");
        return answer === undefined ? askForContext() : toPrompt(toText(`Use the context ${answer["context"]}.`));
      }
      default:
        throw new ProtocolError(ProtocolErrorCode.InvalidParams, `There is no prompt "${name}".`);
    }
  });
}

type PromptContent = GetPromptResult["messages"][number]["content"];

function toText(text: string): PromptContent {
  return { type: "text", text };
}

function toPrompt(...contents: readonly PromptContent[]): GetPromptResult {
  return { messages: contents.map((content) => ({ role: "user" as const, content })) };
}

function askForContext() {
  const requestedSchema = {
    type: "object" as const,
    properties: { context: { type: "string" as const } },
    required: ["context"],
  };
  const message = "What context should the prompt use?";
  return inputRequired({ inputRequests: { user_context: inputRequired.elicit({ message, requestedSchema }) } });
}
