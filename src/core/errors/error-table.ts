/**
 * Every error that a user can meet: what it means, what to do next, and how a command ends with it.
 * `docs/errors.md` is made from this table. Codes are stable; texts may improve. A row that names no exit code has 1.
 */
export const ERRORS = {
  // Definitions
  FILE_NOT_FOUND: row("The file does not exist.", "Check the path; it is relative to the current folder.", 5),
  WORKFLOW_NOT_FOUND: row(
    "No workflow has this name.",
    "List what there is with `pawl workflows ls`, or give a file.",
    5,
  ),
  NAME_TAKEN_TWICE: row("Two definitions of the application have the same name.", "Rename one of the two.", 3),
  DIFF_NOT_APPLIED: row(
    "The diff does not fit the file.",
    "Read the file, and send a unified diff of exactly this text, or write the file as a whole.",
  ),
  FILE_NOT_TEXT: row("The file is not UTF-8 text.", "Save it as UTF-8.", 3),
  FILE_OUTSIDE: row(
    "The file lies outside of the application's folder.",
    "Use a relative path without `..`, and no link that leads out.",
    3,
  ),
  DEFINITION_INVALID: row("The definition has problems.", "See them all with `pawl validate FILE`.", 3),
  FUNCTION_FAILED: row("A function of a step has thrown.", "See the message and the stack; `retry` tries it again."),
  REFERENCE_MISUSED: row(
    "A definition in TypeScript uses a value that only a run will have as if it were there.",
    "Put it into a text with the tag `text`, compare it with `eq` or `gt`, or give it to a `run` as input.",
    3,
  ),
  REFERENCE_IN_STEP: row(
    "A function of a step reads a reference of the definition around it.",
    "Name the reference in the step's input, and read it from there.",
    3,
  ),
  DIALECT_UNKNOWN: row("The text has the shape of none of the four dialects.", "Compare it with the shapes shown.", 3),
  YAML_SYNTAX: row("The text is not valid YAML.", "Correct the place shown.", 3),
  JSON_SYNTAX: row("The text is not valid JSON.", "Correct the place shown.", 3),
  TOO_LARGE: row("The definition is larger than 1 MB.", "Split the workflow; call one from the other.", 3),
  TOO_MANY_ALIASES: row("YAML aliases expand to too much.", "Write the repeated parts out.", 3),
  TOO_MANY_STEPS: row("A definition has at most 500 steps.", "Split the workflow; call one from the other.", 3),
  UNKNOWN_KEY: row("This key means nothing here.", "Remove it, or correct its spelling.", 3),
  KEY_DUPLICATE: row("A key stands twice in the same map.", "Remove one of the two.", 3),
  KEY_MISSING: row("A required key is missing.", "Add it.", 3),
  WRONG_TYPE: row("The value has the wrong type.", "Write a value of the type named.", 3),
  VALUE_INVALID: row("The value is not allowed here.", "Use one of the values named.", 3),
  UNQUOTED_BRACES: row("YAML reads unquoted braces as a map.", "Put the text in quotes.", 3),
  STEP_ID_INVALID: row(
    "A step id has 1 to 100 letters (a to z, A to Z), digits, `_` and `-`, not starting with `-`.",
    "Rename the step: an id has 1 to 100 letters (a to z, A to Z), digits, `_` and `-`, and no `-` at its start.",
    3,
  ),
  STEP_DUPLICATE: row("Two steps have the same id.", "Rename one of them.", 3),
  STEP_UNKNOWN: row("There is no step with this id.", "Correct the id.", 3),
  AGENT_UNKNOWN: row(
    "A workflow names an agent or a workflow that there is not.",
    "Correct the name, or define it.",
    3,
  ),
  PART_NOT_CHOSEN: row("The file holds several things to run, and none is named.", "Name one: `FILE#NAME`.", 2),
  SITE_WITHOUT_TOOL: row(
    "A prompt asks for a site, and its agent has no tool to read it.",
    "List `web_fetch` or `web_search` under `tools`, or give it an MCP server.",
    3,
  ),
  STEP_INSIDE: row(
    "The step runs inside of a control step, or around it, and cannot be reached from here.",
    "Lead to the control step itself.",
    3,
  ),
  TRANSITION_IDLE: row("The transition is never taken.", "Remove it, or put it before the one that always holds.", 3),
  STEP_NOT_ANCESTOR: row("The step is not among those that run before.", "Add it to `depends_on`.", 3),
  STEP_CYCLE: row("Steps depend on each other in a circle.", "Remove one of the dependencies.", 3),
  AMBIGUOUS_ITEMS: row(
    "A field of an item is named, but two fan-outs could give it.",
    "Depend on one fan-out only, or name an index.",
    3,
  ),
  FIELD_OF_LIST: row(
    "A fan-out's output is a list, and a list has no such field.",
    "Name an index, or use the field inside the fan-out.",
    3,
  ),
  FALLBACK_MISSING: row(
    "`on_failure: fallback` needs a `fallback` block.",
    "Add the block, or choose skip, continue or abort.",
    3,
  ),
  STEP_UNREACHABLE: row("Nothing leads to the step.", "Add a transition to it, or remove it.", 3),
  VARIABLE_UNKNOWN: row(
    "No state sets the variable.",
    "Give it in `initial_variables`; otherwise the braces stay in the text as they are.",
    3,
  ),
  SCHEMA_INVALID: row("This is not a valid JSON Schema.", "Correct the schema at the place named.", 3),
  SCHEMA_TOO_COSTLY: row(
    "A value cannot be checked against its JSON Schema in time.",
    "Make the schema simpler: fewer references to itself, fewer alternatives, smaller values.",
  ),
  DEFINITION_TOO_COSTLY: row(
    "A definition that is sent cannot be compiled in time.",
    "Split the workflow, or make it simpler: fewer steps, dependencies and values. A file of the application has no such limit.",
    3,
  ),
  CRON_INVALID: row("This is not a valid cron expression.", "Use five fields, for example `0 6 * * 1-5`.", 3),
  NOT_SUPPORTED: row("This part of the format is not supported.", "See the message for what to write instead.", 3),
  EXPRESSION_INVALID: row("The expression cannot be read.", "Correct it at the place shown.", 3),
  EXPRESSION_TOO_COMPLEX: row(
    "The expression is too long, or nested too deeply.",
    "Take it apart: compute a part of it in a step of its own.",
    3,
  ),
  EXPRESSION_TOO_COSTLY: row(
    "An expression takes too long, or makes a value that is too large.",
    "Take it apart: compute a part of it in a step of its own, or let it read less.",
  ),
  REGEX_INVALID: row("The regular expression cannot be used.", "Correct it; look-around is not supported.", 3),
  CONTROL_TOO_COMPLEX: row(
    "A condition mixes values in a way that cannot be decided.",
    "Compute the value in a step of its own first.",
    3,
  ),
  GRAPH_INVALID: row(
    "The graph is not consistent.",
    "This is a defect of the dialect that made it; please report it.",
    3,
  ),
  GRAPH_FORMAT_UNKNOWN: row("The run was made by a newer Pawl.", "Upgrade Pawl.", 3),

  // Starting
  USAGE: row("The command was not understood.", "See `pawl help`.", 2),
  CONFIG_INVALID: row(
    "The configuration has a wrong value.",
    "See where it comes from with `pawl config --origin`.",
    2,
  ),
  INPUT_INVALID: row("The input does not fit the workflow's `input_schema`.", "Correct the input named.", 2),
  AGENT_NOT_FOUND: row("There is no agent of this name.", "List the agents with `pawl agents ls`.", 5),
  AGENT_NOT_CONFIGURED: row(
    "No one is configured to answer agent steps.",
    "Set SANDSTORM_URL (a Sandstorm server), or the key of a model (ANTHROPIC_API_KEY), or run with `--agent simulated`.",
    2,
  ),
  EXECUTOR_UNKNOWN: row("No executor does this kind of step.", "Use a step type that this version supports.", 3),
  PRICE_UNKNOWN: row(
    "The model has no known price, so a budget cannot hold.",
    "Configure a price, or run without `--max-cost`.",
    2,
  ),
  RUN_NOT_FOUND: row("There is no such run.", "List the runs with `pawl runs ls`.", 5),
  RUN_ID_TAKEN: row("A run with this id exists already.", "Leave the id out, or choose another.", 2),
  PLACES_TAKEN: row(
    "As many runs of its key as may go on, or begin within a time, do so already, and the workflow says that a new one is skipped.",
    "Start it again later, or have it wait: `whenFull: queue` (`when_full: queue`) under `concurrency` or `rate`.",
  ),
  RUN_AMBIGUOUS: row("The short id fits more than one run.", "Give more characters of the id.", 2),
  RUN_FINISHED: row("The run has already ended.", "See it with `pawl runs show ID`.", 2),
  RUN_NOT_ENDED: row(
    "The run has not ended.",
    "Wait for its end with `pawl runs resume ID`, or cancel it with `pawl runs cancel ID`.",
    2,
  ),
  RUN_NEEDED: row(
    "Another run that goes on takes outcomes of this one over.",
    "Wait for its end, or cancel it; then try again.",
    2,
  ),
  CHANGE_INVALID: row(
    "A fork cannot change this.",
    "Change `model`, `prompt`, `max_turns`, `max_cost_usd` or `timeout` of a step, or the run's input and limits.",
    2,
  ),
  DEAD_LETTER_NOT_FOUND: row("There is no such dead letter.", "List them with `pawl dead-letter ls`.", 5),
  DEAD_LETTER_CLOSED: row("The dead letter was dealt with already.", "See how with `pawl dead-letter ls --all`."),
  STEP_NOT_FOUND: row("The run has no such step.", "See its steps with `pawl runs show ID`.", 5),
  APPROVAL_NOT_OPEN: row(
    "No approval is open at this step.",
    "See what the run waits for with `pawl runs show ID`.",
    5,
  ),
  APPROVAL_CONFLICT: row("The approval has already been answered.", "See the answer with `pawl runs show ID`."),
  APPROVAL_EDIT_REFUSED: row(
    "The approval does not take edited data like this.",
    "Approve without edits, or send data that fits the schema.",
    2,
  ),
  APPROVER_REFUSED: row(
    "The approval is not for whoever answers it.",
    "Have one of those answer who are named, with a key of their own (`pawl keys create NAME --group GROUP`).",
    4,
  ),
  APPROVERS_MISSING: row(
    "Too few people can be told apart here for the approval.",
    "Make keys with these names or groups: `pawl keys create NAME --group GROUP`.",
    3,
  ),
  EVENT_NOT_AWAITED: row("The step does not wait for this event any more.", "Send it to a run that waits."),
  EVENTS_FULL: row(
    "As many events are kept for runs as may be.",
    "Start the runs that wait for them, or raise `events.max_kept`.",
  ),
  EVENT_UNMATCHED: row(
    "The event has none of the fields by which runs wait for it.",
    "Send them in its payload, as plain values.",
    2,
  ),
  SIGNALS_FULL: row("The run holds as many unread signals as it may.", "Wait until it has read some."),

  // Running
  INTERRUPTED: row(
    "The attempt was cut off and may not be repeated.",
    "Look at what it did outside, then rerun from this step.",
  ),
  POISON: row(
    "The step was in flight each time that the process, or a program that worked for it, died, in the end alone: it is held.",
    "Look at the step's work, then go on with `pawl runs resume RUN`.",
  ),
  PROGRAM_MISSING: row(
    "No process that drives the run has the function of the step in the version with which the run began.",
    "Start a program that has it so. Or go on with what the program has now: `pawl runs cancel RUN`, then `pawl runs rerun RUN --current`.",
  ),
  TIMEOUT: row("The step took longer than its time-out.", "Raise `timeout`, or make the step smaller."),
  RUN_TIMEOUT: row("The run took longer than its time-out.", "Raise the time-out, or make the workflow smaller.", 124),
  RUN_CANCELLED: row("The run was cancelled.", "Start it again with `pawl runs rerun ID`.", 130),
  BUDGET_EXCEEDED: row(
    "The budget is used up.",
    "Raise the limit (`--max-cost`, `pawl budgets set`) and rerun from the step where it stopped.",
    7,
  ),
  POLICY_BLOCKED: row(
    "A policy does not let the step's output be used.",
    "Look at the policy that it names; change the step, or the policy.",
  ),
  POLICY_REJECTED: row("A person has said that the output may not be used.", "Change the step, and run it again."),
  STEP_BUDGET_EXCEEDED: row("The step has used up its own `max_cost_usd`.", "Raise it, or make the step cheaper.", 7),
  MAX_VISITS: row(
    "The workflow visited more steps than it may.",
    "Look for a loop that does not end, or raise the limit (`maxSteps`, `max_states`).",
  ),
  MAX_DEPTH: row("Workflows call each other too deeply.", "Look for a workflow that calls itself."),
  NO_TRANSITION: row("The step ended and no transition holds.", "Add a transition for this case, or an end."),
  STEP_FAILED: row("A step failed.", "See it with `pawl runs show ID`."),
  LIST_MISSING: row(
    "The list to fan out over does not exist or is no list.",
    "Check the path in `parallel_over` or `list`.",
  ),
  SHAPE_AMBIGUOUS: row(
    "The input makes a field of an item ambiguous between two fan-outs.",
    "Declare the name in `input_schema`, or depend on one fan-out only.",
  ),
  APPROVAL_REJECTED: row("A person rejected it.", "See the comment with `pawl runs show ID`."),
  APPROVAL_TIMED_OUT: row("Nobody answered in time.", "Rerun from the approval, or raise its time-out."),
  WAIT_TIMED_OUT: row("The event did not come in time.", "Raise the time-out, or look at who should send it."),
  WAIT_INVALID: row(
    "What to wait for cannot be read.",
    "Give a duration, an ISO 8601 time, milliseconds, or the name of an event.",
  ),
  OUTPUT_EMPTY: row("The answer was empty.", "Look at the prompt; an empty answer counts as a failure."),
  OUTPUT_INVALID: row("The answer does not fit the output schema.", "Look at the validation errors in the details."),
  SECRET_UNREADABLE: row(
    "A secret input of the run cannot be read again.",
    "Put `secrets.key` of the data directory back (or the setting `secrets.key`), or start the run anew with its secrets.",
  ),
  QUOTA_EXCEEDED: row(
    "A tenant has as much of something as it may have at once.",
    "Ask again when something of it has ended, or raise the quota (`pawl config`, `quotas`).",
  ),
  STORED_TOO_MUCH: row(
    "The runs of a tenant have stored as much as they may.",
    "Delete old runs (`pawl runs rm`, `DELETE /runs/ID`, `data.keep`), or raise `quotas.stored_bytes`.",
  ),
  ANSWER_TOO_LARGE: row(
    "The answer would take too much memory, by itself or with others.",
    "Ask again later, or for a part: `GET /runs/ID/steps` lists steps, `GET /runs/ID/steps/PATH?whole=true` shows one.",
  ),
  RUN_TOO_LARGE: row(
    "The inputs, outputs and records of the run together are larger than the limit.",
    "Let its steps return less, have them write files, or raise `limits.max_run_bytes`.",
  ),
  OUTPUT_TOO_LARGE: row("The output is larger than the limit.", "Return less, or raise `limits.max_output_bytes`."),
  EXECUTOR_FAULT: row("An executor broke down.", "This is a defect; please report it with the run's events."),
  AGENT_UNREACHABLE: row(
    "The agent server cannot be reached.",
    "Check SANDSTORM_URL and that the server runs; `pawl doctor` helps.",
  ),
  AGENT_UNAUTHORIZED: row("The agent server refused the key.", "Check SANDSTORM_API_KEY.", 4),
  AGENT_REFUSED: row("The agent server refused the request.", "See its answer in the details."),
  AGENT_FAILED: row("The agent ended with an error.", "See its log with `pawl runs logs ID STEP`."),
  AGENT_STREAM_CUT: row("The agent's answer broke off.", "It is retried if the step has a retry policy."),
  AGENT_IDLE: row(
    "The agent server gave no sign of life.",
    "Check the server; raise `agent.idle_timeout_ms` if it is just slow.",
  ),
  AGENT_NO_RESPONSE: row(
    "The agent did not return a final response.",
    "Look at its log with `pawl runs logs ID STEP`.",
  ),
  AGENT_NO_TEXT: row("The agent's response has no text block.", "Ask for a text in its system prompt."),
  AGENT_TOOLS_TOO_MANY: row(
    "The agent has more tools than its model's provider takes.",
    "Name the tools or servers that it needs, or leave some out with `exclude`.",
    2,
  ),
  TOOL_GUARD_IDLE: row(
    "A name under `approve`, `exclude` or `deny` matches no tool: what it was to hold back could be called.",
    "Write the name as the server has it now, or take it out.",
    2,
  ),
  AGENT_TURNS_EXHAUSTED: row(
    "The agent has used up its turns without a final answer.",
    "Raise `max_iterations` (`max_turns`), or ask for less.",
  ),
  AGENT_TOKENS_EXHAUSTED: row("The agent has used up its tokens.", "Raise `max_total_tokens`, or ask for less."),
  AGENT_ERROR_RESULT: row("The agent gave up.", "See the agent's own words in the message."),
  SESSION_LOST: row(
    "The terminal session ended with the process that held it.",
    "Let a transition open it again: `success` is false, `error_code` is SESSION_LOST.",
  ),
  TERMINAL_REFUSED: row(
    "A rule about terminals does not allow this.",
    "See the rule in the message; `docs/terminals.md` lists them by security level.",
  ),
  TERMINAL_NOT_FOUND: row("There is no terminal with this id.", "List them with `pawl terminals ls`.", 5),
  TERMINAL_BACKEND_MISSING: row(
    "Terminals are to be held by tmux, and there is none.",
    "Install tmux 3.3 or later, e.g. `apt-get install tmux`, or set `terminal.backend: pty`.",
    2,
  ),
  STEP_NOT_SCRIPTED: row("The test does not say what a step answers.", "Add it below `steps`, or its kind to `real`."),
  SCRIPT_INVALID: row("The script of simulated answers cannot be used.", "Correct it at the place shown.", 2),

  // Tools
  MCP_SERVER_UNKNOWN: row("No MCP server has this name.", "Add it to `.mcp.json` or to `mcp.servers`.", 2),
  MCP_SERVER_INVALID: row("The entry of an MCP server cannot be used.", "Correct it in the file named.", 2),
  MCP_SERVER_FAILED: row(
    "The MCP server did not start, or it ended.",
    "Run its command by hand, to read all that it writes; of a step that has begun `pawl runs step RUN PATH --json` has it as well.",
  ),
  MCP_UNREACHABLE: row("The MCP server cannot be reached.", "Check its URL and that it runs."),
  MCP_UNAUTHORIZED: row("The MCP server refused the key.", "Set its `headers`, for example Authorization.", 4),
  MCP_LOGIN_NEEDED: row(
    "The MCP server wants a login, and there is none that it takes.",
    "Log in with `pawl mcp login SERVER`, or set its `headers`.",
    4,
  ),
  MCP_LOGIN_FAILED: row(
    "The login to an MCP server did not succeed.",
    "See the message; where the issuer registers no clients, set `oauth.client_id` of the server.",
    4,
  ),
  MCP_TOOL_UNKNOWN: row("No tool has this name.", "Use one of the names listed, or `SERVER.TOOL`.", 3),
  MCP_TOOL_AMBIGUOUS: row("Several MCP servers offer a tool of this name.", "Write `SERVER.TOOL`.", 3),
  MCP_TOOL_NOT_ALLOWED: row("The tool is switched off.", "Change `tools.allow` or `tools.deny` of its server.", 2),
  MCP_TOOL_FAILED: row("The tool reported an error.", "See the tool's own words in the message."),
  MCP_ARGUMENTS_INVALID: row("The arguments do not fit the tool.", "Correct the arguments named.", 2),
  MCP_RESULT_INVALID: row("The tool's answer breaks its own rules.", "Report it to whoever makes the tool."),
  ENDPOINT_NOT_ALLOWED: row(
    "Tools may be asked for only at known endpoints.",
    "Set `uhlp.mcp_endpoint`, or add the endpoint to `uhlp.allowed_endpoints`.",
    2,
  ),
  ENDPOINT_FAILED: row("The tool endpoint gave no usable answer.", "See its answer in the message."),
  HTTP_NOT_ALLOWED: row(
    "The request leads to where definitions may not ask.",
    "Use a public address, list the host under `outbound.allow`, or grant it to the key: `--grant addresses:HOST`.",
    2,
  ),
  HTTP_REQUEST_INVALID: row("The request cannot be sent as it is.", "Correct the part named in the message.", 2),
  HTTP_UNREACHABLE: row("The server of an `http` step cannot be reached.", "Check its address and that it runs."),
  HTTP_FAILED: row(
    "The server of an `http` step gave no answer that is expected.",
    "See its answer in the details; `expected_status` lists what else is fine.",
  ),
  COMMANDS_NOT_ALLOWED: row("Commands may not be run.", "Set `mcp.allow_commands: true` to allow them.", 2),
  FILE_PATH_INVALID: row(
    "The path names no definition file of the application.",
    "Use a relative path without `..`, links, and names that begin with a dot.",
    2,
  ),
  REVISION_UNKNOWN: row("Only the present revision of a file is kept.", "Leave `revision` out.", 5),

  // Serving
  REQUEST_INVALID: row("The request cannot be read.", "Correct the places named in the details.", 2),
  UNAUTHORIZED: row(
    "The request bears no key that is known here.",
    "Send a key as `X-API-Key` or as `Authorization: Bearer`.",
    4,
  ),
  SCHEDULE_NOT_FOUND: row("There is no such schedule.", "List the schedules with `pawl schedules ls`.", 5),
  SCHEDULE_DEFINED: row(
    "The schedule belongs to a definition.",
    "Change the schedule in its file, or save another version; or pause it with `pawl schedules pause ID`.",
    2,
  ),
  SCHEDULE_CONFLICT: row("The schedule is being changed by another process.", "Look at it, and try again."),
  TIMEZONE_INVALID: row(
    "There is no such time zone.",
    "Use a name of the IANA database, for example `Europe/Berlin` or `UTC`.",
    2,
  ),
  KEY_NOT_FOUND: row("There is no such key.", "List the keys with `pawl keys ls`.", 5),
  BUDGET_NOT_FOUND: row("There is no such budget.", "List the budgets with `pawl budgets ls`.", 5),
  IDEMPOTENCY_MISMATCH: row(
    "The idempotency key came with another request before.",
    "Use a new key for a new request; keys are kept for 24 hours.",
    2,
  ),
  IDEMPOTENCY_IN_FLIGHT: row(
    "The request with this idempotency key is still being answered.",
    "Ask again in a moment.",
  ),
  RATE_LIMITED: row("More requests than this key may send.", "Wait as long as `Retry-After` says."),
  NOT_GRANTED: row(
    "The definition, or its run, wants what it was not granted.",
    "Use a key that grants it (`pawl keys create --grant`), or put the definition into a file of the application.",
    3,
  ),
  FORBIDDEN: row("The key does not allow this.", "Use a key with the scope named.", 4),
  CONTENT_TYPE_REFUSED: row(
    "A request that changes something must say that it is JSON, which no form of a web page can.",
    "Send the header `Content-Type: application/json`; with curl: `--json` instead of `-d`.",
    2,
  ),
  BODY_TOO_LARGE: row("The body is larger than the server takes.", "Send less, or raise `server.max_body_bytes`.", 2),
  SERVER_BUSY: row(
    "As many requests are under way as the server takes at once.",
    "Try again in a moment, or raise `server.max_in_flight`.",
  ),
  SERVER_STOPPING: row("The server stops.", "Try again; a run that was started goes on with the next server."),
  PATH_NOT_FOUND: row("Nothing is served at this path.", "See what there is at `/app/openapi.json`.", 5),
  METHOD_NOT_ALLOWED: row("The path does not take this method.", "Use one of those in the header `Allow`.", 2),
  ROUTE_INVALID: row(
    "The path of an HTTP trigger cannot be used.",
    "Write segments, and parameters as `{name}`: `/api/tasks/{taskId}`.",
    3,
  ),
  ROUTE_RESERVED: row("The path belongs to the service itself.", "Choose another path for the trigger.", 3),
  ROUTE_AMBIGUOUS: row(
    "Two workflows answer the same requests.",
    "Give one of the two another path or another method.",
    3,
  ),
  VARIABLE_NOT_READ: row(
    "Variables of the environment are read for files of the application only, not for what a client saves or sends.",
    "Write the address out, give `callback_url` with each run, or put the definition into a file in `workflows/`.",
    3,
  ),
  QUEUE_UNKNOWN: row("No workflow is triggered by this queue.", "Correct the name, or add a workflow with it.", 5),
  EVENT_UNKNOWN: row(
    "No workflow is triggered by this event, or waits for it.",
    "Correct the name, or add a workflow with it.",
    5,
  ),
  CONTEXT_UNAVAILABLE: row(
    "The workflow that fills the context of requests has failed.",
    "See its run, and `server.context` in the configuration.",
  ),
  RESPONSE_INVALID: row(
    "The workflow shaped a response that cannot be sent.",
    "Correct the data of its `formatResponse` step.",
  ),
  HOST_REFUSED: row(
    "Requests are taken on this machine only.",
    "Use `127.0.0.1` or `localhost`, or make a key first: `pawl keys create NAME --scopes admin`.",
    2,
  ),
  ADDRESS_UNAVAILABLE: row(
    "The address cannot be listened on.",
    "Choose another port with `--port`, or `--port 0` for a free one.",
  ),

  MODEL_UNKNOWN: row("No provider is known for the model.", "Write `provider:model`, or define an alias.", 2),
  MODEL_NOT_CONFIGURED: row("The model's provider has no key.", "Set the variable named in the message.", 2),
  MODEL_UNAUTHORIZED: row("The model's provider refused the key.", "Check the key of the provider named.", 4),
  MODEL_REFUSED: row("The model or its provider refused the request.", "See its answer in the details."),
  MODEL_CONTEXT_TOO_LONG: row(
    "The conversation is longer than the model can read.",
    "Give the agent fewer turns or smaller tool results, or a model with a larger context.",
  ),
  MODEL_RATE_LIMITED: row(
    "The model's provider asks for fewer requests.",
    "Calls wait for it as long as `capacity.patience_ms` says; see whether the account has credit and a high enough limit.",
  ),
  MODEL_UNAVAILABLE: row(
    "The model's provider failed, or is overloaded.",
    "It is retried if the step has a retry policy.",
  ),
  MODEL_UNREACHABLE: row(
    "The model's provider cannot be reached, or the connection broke off.",
    "Check the network, and `base_url` of a provider of your own.",
  ),
  MODEL_END_UNKNOWN: row(
    "The provider ended the model's answer for a reason that is not known, so it may not be whole.",
    "See in the provider's documentation what the reason in the message means.",
  ),
  OUTPUT_CUT: row("The answer was cut off at the token limit.", "Raise `max_tokens`, or ask for less."),
  PROMPT_NAME_UNFILLED: row(
    "A prompt reads a name that its step does not give it.",
    "Give it in `inputMapping`, or write `| default('...')`.",
    3,
  ),
  PROMPT_INVALID: row(
    "The prompt template cannot be rendered.",
    "Correct the place named; `| default('...')` stands in for a value that may be missing.",
    3,
  ),

  SCRIPT_MISSING: row(
    "A step's script does not exist.",
    "Check the path; it is relative to the application's folder.",
    5,
  ),
  FUNCTION_MISSING: row("The script has no such function.", "Correct the name, or define the function.", 3),
  SCRIPT_OUTSIDE: row(
    "A step's script does not lie inside the application's folder.",
    "Give a relative path without `..`, and no link that leads out.",
    3,
  ),
  INTERPRETER_MISSING: row("Python cannot be found.", "Install python3, or set `code.python`."),
  SANDBOX_MISSING: row(
    "A sandbox is required and there is none.",
    "Install bubblewrap 0.8 (`apt install bubblewrap`) and allow user namespaces; `pawl doctor` says what is missing. To accept the risk instead, set `code.sandbox` to `off`.",
  ),
  CODE_FAILED: row("A script failed.", "See the exception, the exit code and what it wrote in the details."),
  CODE_RESULT_INVALID: row("A script's result is not JSON.", "Return or print JSON; see the message for what is not."),
  CODE_OUT_OF_MEMORY: row("A script needed too much memory.", "Let it need less, or raise `code.memory_bytes`."),
  CODE_TOO_MANY_PROCESSES: row(
    "A script wanted too many processes or threads.",
    "Let it start fewer, or raise `code.max_processes`.",
  ),
  CODE_OUTPUT_TOO_LARGE: row(
    "A script wrote or returned too much.",
    "Let it write less, or raise `code.max_output_bytes`.",
  ),

  // Storage and ownership
  DATA_LOCKED: row("Another process owns the data directory.", "Go through it, or end it."),
  ENGINE_CLOSED: row(
    "The engine of this program was closed before.",
    "Open another one with `openPawl`: it goes on with the same runs.",
  ),
  OWNER_GONE: row("The process that drove the run is gone.", "Run `pawl runs resume ID`."),
  RUN_ELSEWHERE: row("Another process drives the run.", "Nothing needs to be done: it goes on there."),
  OWNER_SILENT: row(
    "The process that drives the runs does not answer.",
    "It may be stopped or very busy. What was asked for may still be done once it goes on: look before you ask again.",
  ),
  START_TIMED_OUT: row(
    "Something that the start waits for does not answer.",
    "Look after the part that is named, or see them all with `pawl doctor`. Where it only takes long, raise `server.start_timeout_ms`.",
  ),
  SERVER_UNREACHABLE: row("The server cannot be reached.", "Look whether `pawl serve` runs there."),
  NOT_A_PAWL_SERVER: row(
    "Something else answers at this address.",
    "Look whether the address is right: `pawl serve` prints its own.",
    2,
  ),
  SERVER_REFUSED: row("The server refused with a code that is not known here.", "Use the same version of Pawl."),
  LOCAL_ONLY: row(
    "The command works on the machine that has the data.",
    "Leave out `--url`, or log in on the server's machine.",
    2,
  ),
  OWNER_UNREACHABLE: row("The owner of the data directory does not answer.", "End the process named, then try again."),
  JOURNAL_FULL: row("The disk is full.", "Make room, then run `pawl runs resume --all`."),
  JOURNAL_IO: row("The journal cannot be written.", "Check the disk, then run `pawl runs resume --all`."),
  BACKUP_EXISTS: row("The folder of the backup is there already.", "Name one that is not: each backup is a folder."),
  BACKUP_INVALID: row("This is no backup, or it is not whole.", "Name a folder that `pawl backup` has made."),
  DATA_EXISTS: row(
    "There is data already where the backup or the copy would go.",
    "Name another folder with `--data DIR`, or move what is there aside with `--replace`.",
  ),
  DATA_LOST: row(
    "The data folder was deleted, replaced or cut short while it was in use. Nothing more is written.",
    "Stop Pawl, put the folder back or restore a backup, and start it again.",
  ),
  JOURNAL_DAMAGED: row("The journal file is damaged.", "Restore it from a copy; nothing was changed."),
  JOURNAL_NEWER: row("The data was written by a newer Pawl.", "Upgrade Pawl."),
  BLOB_MISSING: row("A stored value is missing.", "Restore the `blobs` folder from a copy."),
  BLOB_DAMAGED: row("A stored value does not match its hash.", "Restore the `blobs` folder from a copy."),
  LIBRARY_LOCKED: row(
    "Another process holds the library of terminal workflows.",
    "Try again; a lock whose process is gone is taken over by itself.",
  ),
  FOLDER_UNWRITABLE: row(
    "Files cannot be written to the folder.",
    "Choose a folder that you may write to, and that is no file.",
  ),
  LIBRARY_UNWRITABLE: row(
    "The library of terminal workflows cannot be written.",
    "Check `.terminal_control_workflows` and the disk.",
  ),
  LIBRARY_DAMAGED: row(
    "A file of the library of terminal workflows cannot be read.",
    "Correct or remove it; it was not changed.",
    3,
  ),
  LIBRARY_NAME_REFUSED: row(
    "A saved workflow cannot have this name.",
    "Use up to 64 letters, digits, `_` and `-`, a letter first, and a name that is not taken.",
    2,
  ),
  STORAGE_PATH_INVALID: row("The path leaves the storage.", "Use a relative path without `..`.", 2),
  TEMPLATE_NOT_FOUND: row("There is no such template.", "List them with `pawl init --list`.", 5),
  STORAGE_UNAVAILABLE: row(
    "The object store does not answer, or fails.",
    "Runs wait for it and go on by themselves; try anything else again. `pawl doctor` shows whether the bucket answers.",
  ),
  STORAGE_REFUSED: row(
    "The object store refuses what it is asked for.",
    "Correct the settings of `storage`, or the rights of the keys; then run `pawl doctor`.",
  ),
  STORAGE_CHANGED: row(
    "Another process has changed the file at the same time. Nothing was written.",
    "Try again: what is there is read first.",
  ),
  RUNS_IN_DATABASE: row(
    "Runs are kept in a database, not in the data directory.",
    "Back the database up with `pg_dump`, and the bucket with the tools of its store. `pawl db copy` copies both into an empty place.",
  ),
  STORAGE_SHARED: row(
    "The bucket holds values of other data too, which could be deleted by mistake.",
    "Give each data folder a `storage.prefix` of its own.",
  ),
  PACKAGE_MISSING: row("An optional package is not installed.", "Install it."),
  RESTATE_UNREACHABLE: row(
    "Restate does not answer.",
    "Start it, or correct RESTATE_URL and RESTATE_ADMIN_URL. Runs wait for it.",
  ),
  RESTATE_REFUSED: row(
    "Restate has refused a request.",
    "Read its answer. `pawl restate register` tells it where the endpoint is; `pawl doctor` shows what it knows.",
  ),
  STORAGE_MISSING: row("There is no such stored file.", "List what there is with `pawl storage ls`.", 5),
  CSV_BROKEN: row(
    "Rows cannot be added to a CSV file.",
    "Move the file away, or let the step write new files (`mode: new_file`).",
  ),
  CHROMIUM_MISSING: row(
    "No Chromium was found, so a report stays an HTML page.",
    "Install Chromium, or name it: `reports.chromium`.",
    3,
  ),
  VARIABLE_MISSING: row(
    "A step is given a variable of the environment that is not set.",
    "Set it in the environment or in `.env`, and start the run again.",
  ),
  ENV_NOT_ALLOWED: row("Prompts may read only variables listed under `env.allow`.", "Add the name to `env.allow`.", 3),
  WEBHOOK_NOT_DELIVERED: row(
    "The webhook has not arrived: its receiver refused it, cannot be reached, or may not be asked.",
    "Look at the tries with `pawl webhooks show ID`, mend the receiver, and send it again with `pawl webhooks resend ID`.",
  ),
  EMAIL_NOT_CONFIGURED: row(
    "Nobody sends e-mail for this installation.",
    "Set SMTP_URL, for example `smtp://user:password@host:587`, and SMTP_FROM.",
    2,
  ),
  WEBHOOK_NOT_FOUND: row("There is no such webhook delivery.", "List them with `pawl webhooks ls`.", 5),
  WEBHOOK_SIGNATURE_WRONG: row(
    "The signature does not fit the message.",
    "Check the very bytes that were received, with the secret that the sender has as WEBHOOK_SECRET.",
  ),
} as const satisfies Record<string, ErrorRow>;

export type ErrorCode = keyof typeof ERRORS;

export interface ErrorRow {
  readonly meaning: string;
  readonly remedy: string;
  readonly exitCode: number;
}

/** Codes also come from outside programs; only ours have a row. */
export function isErrorCode(code: string): code is ErrorCode {
  return Object.hasOwn(ERRORS, code);
}

function row(meaning: string, remedy: string, exitCode = 1): ErrorRow {
  return { meaning, remedy, exitCode };
}
