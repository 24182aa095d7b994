import {
  acceptedContent,
  CLIENT_CAPABILITIES_META_KEY,
  type ClientCapabilities,
  inputRequired,
  inputResponse,
  MissingRequiredClientCapabilityError,
} from "@modelcontextprotocol/server";
import { type FixtureCall, type FixtureTool, toText, toTool } from "./fixture-tool.ts";

type Elicited = Parameters<typeof inputRequired.elicit>[0]["requestedSchema"];

const NAME: Elicited = { type: "object", properties: { name: { type: "string" } }, required: ["name"] };
const OK: Elicited = { type: "object", properties: { ok: { type: "boolean" } }, required: ["ok"] };
const COLOR: Elicited = { type: "object", properties: { color: { type: "string" } }, required: ["color"] };
const USER: Elicited = {
  type: "object",
  properties: {
    username: { type: "string", description: "User's response" },
    email: { type: "string", description: "User's email address" },
  },
  required: ["username", "email"],
};

/** Tools that ask the client for something before they answer, in the way of either revision. */
export const ASKING_TOOLS: readonly FixtureTool[] = [
  toTool(
    "test_sampling",
    ({ args, context: { mcpReq } }) => {
      const view = inputResponse(mcpReq.inputResponses, "asked");
      if (view.kind === "sampling") return toText(`LLM response: ${JSON.stringify(view.result.content)}`);
      return inputRequired({ inputRequests: { asked: askModel(String(args["prompt"]), 100) } });
    },
    { properties: { prompt: { type: "string" } }, required: ["prompt"] },
  ),
  toTool("test_elicitation", (call) => elicit(call, String(call.args["message"]), USER), {
    properties: { message: { type: "string" } },
    required: ["message"],
  }),
  toTool("test_elicitation_sep1034_defaults", (call) =>
    elicit(call, "Who are you?", {
      type: "object",
      properties: {
        name: { type: "string", default: "John Doe" },
        age: { type: "integer", default: 30 },
        score: { type: "number", default: 95.5 },
        status: { type: "string", enum: ["active", "inactive", "pending"], default: "active" },
        verified: { type: "boolean", default: true },
      },
    }),
  ),
  toTool("test_elicitation_sep1330_enums", (call) =>
    elicit(call, "Choose", {
      type: "object",
      properties: {
        untitledSingle: { type: "string", enum: ["option1", "option2", "option3"] },
        titledSingle: { type: "string", oneOf: toTitled("Option") },
        legacyEnum: {
          type: "string",
          enum: ["opt1", "opt2", "opt3"],
          enumNames: ["Option One", "Option Two", "Option Three"],
        },
        untitledMulti: { type: "array", items: { type: "string", enum: ["option1", "option2", "option3"] } },
        titledMulti: { type: "array", items: { anyOf: toTitled("Choice") } },
      },
    }),
  ),
  toTool("test_missing_capability", () => {
    throw new MissingRequiredClientCapabilityError({ requiredCapabilities: { sampling: {} } });
  }),
  toTool("test_streaming_elicitation", ({ context: { mcpReq } }) => {
    const answer = acceptedContent(mcpReq.inputResponses, "user_name");
    return answer === undefined ? askName("What is your name?") : toText(`Hello, ${String(answer["name"])}!`);
  }),
  toTool("test_input_required_result_elicitation", ({ context: { mcpReq } }) => {
    const answer = acceptedContent(mcpReq.inputResponses, "user_name");
    if (typeof answer?.["name"] !== "string") return askName("What is your name?");
    return toText(`Hello, ${answer["name"]}!`);
  }),
  toTool("test_input_required_result_sampling", ({ context: { mcpReq } }) => {
    const view = inputResponse(mcpReq.inputResponses, "capital_question");
    if (view.kind === "sampling") return toText(JSON.stringify(view.result.content));
    return inputRequired({ inputRequests: { capital_question: askModel("What is the capital of France?", 100) } });
  }),
  toTool("test_input_required_result_list_roots", ({ context: { mcpReq } }) => {
    const view = inputResponse(mcpReq.inputResponses, "client_roots");
    if (view.kind === "roots") return toText(JSON.stringify(view.roots));
    return inputRequired({ inputRequests: { client_roots: inputRequired.listRoots() } });
  }),
  toTool("test_input_required_result_request_state", confirm),
  toTool("test_input_required_result_tampered_state", confirm),
  toTool("test_input_required_result_multiple_inputs", async ({ context: { mcpReq }, states }) => {
    const { inputResponses: given } = mcpReq;
    const kinds = ["user_name", "greeting", "client_roots"].map((key) => inputResponse(given, key).kind);
    if (!kinds.includes("missing")) return toText("all answered");
    return inputRequired({
      inputRequests: {
        user_name: inputRequired.elicit({ message: "What is your name?", requestedSchema: NAME }),
        greeting: askModel("Generate a greeting", 50),
        client_roots: inputRequired.listRoots(),
      },
      requestState: await states.mint("asked"),
    });
  }),
  toTool("test_input_required_result_multi_round", async ({ context: { mcpReq }, states }) => {
    const given = mcpReq.inputResponses;
    const state = mcpReq.requestState<string>();
    if (state === "round-2" && acceptedContent(given, "step2") !== undefined) return toText("both answered");
    const isSecond = state === "round-1" && acceptedContent(given, "step1") !== undefined;
    const ask = (message: string, requestedSchema: Elicited) => inputRequired.elicit({ message, requestedSchema });
    const inputRequests: Parameters<typeof inputRequired>[0]["inputRequests"] = isSecond
      ? { step2: ask("Step 2: What is your favorite color?", COLOR) }
      : { step1: ask("Step 1: What is your name?", NAME) };
    return inputRequired({ inputRequests, requestState: await states.mint(isSecond ? "round-2" : "round-1") });
  }),
  toTool("test_input_required_result_capabilities", ({ context: { mcpReq } }) => {
    // The type of the envelope names no key.
    const envelope: { readonly [key: string]: unknown } = mcpReq.envelope ?? {};
    const capabilities = envelope[CLIENT_CAPABILITIES_META_KEY] as ClientCapabilities | undefined;
    if (capabilities?.sampling !== undefined)
      return inputRequired({ inputRequests: { question: askModel("Anything?", 10) } });
    return capabilities?.elicitation === undefined ? toText("Nobody can be asked.") : askName("What is your name?");
  }),
];

function toTitled(title: string) {
  return ["First", "Second", "Third"].map((name, i) => ({ const: `value${i + 1}`, title: `${name} ${title}` }));
}

function elicit({ context: { mcpReq } }: FixtureCall, message: string, requestedSchema: Elicited) {
  const view = inputResponse(mcpReq.inputResponses, "asked");
  if (view.kind === "elicit")
    return toText(`Elicitation completed: action=${view.action}, content=${JSON.stringify(view.content)}`);
  return inputRequired({ inputRequests: { asked: inputRequired.elicit({ message, requestedSchema }) } });
}

function askName(message: string) {
  return inputRequired({ inputRequests: { user_name: inputRequired.elicit({ message, requestedSchema: NAME }) } });
}

function askModel(text: string, maxTokens: number) {
  return inputRequired.createMessage({ messages: [toMessage(text)], maxTokens });
}

function toMessage(text: string) {
  return { role: "user", content: { type: "text", text } } as const;
}

async function confirm({ context: { mcpReq }, states }: FixtureCall) {
  const answer = acceptedContent(mcpReq.inputResponses, "confirm");
  if (answer !== undefined && mcpReq.requestState<string>() === "asked") return toText("state-ok");
  return inputRequired({
    inputRequests: { confirm: inputRequired.elicit({ message: "Please confirm", requestedSchema: OK }) },
    requestState: await states.mint("asked"),
  });
}
