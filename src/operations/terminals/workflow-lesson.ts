/** The rules of terminal workflows, for models: part of the tool's description and of the prompt. */
export const WORKFLOW_LESSON = `A definition is a state machine:
{"name": "greet", "initial_state": "open", "states": {
  "open": {"action": {"tool": "open_terminal", "params": {"shell": "bash"}},
           "transitions": [{"condition": {"success": true}, "next_state": "say"}]},
  "say": {"action": {"tool": "send_input", "params": {"session_id": "{session_id}", "input_text": "echo hello {who}\\n"}},
          "transitions": [{"condition": {"success": true}, "next_state": "wait"}]},
  "wait": {"action": {"tool": "await_output", "params": {"session_id": "{session_id}", "pattern": "hello (\\\\w+)", "timeout": 20}},
           "transitions": [{"condition": {"pattern_match": "hello"}, "next_state": "close"},
                           {"condition": {"field_equals": {"match_text": null}}, "next_state": "close"}]},
  "close": {"action": {"tool": "exit_terminal", "params": {"session_id": "{session_id}"}}}}}

States
- name (letters, digits, _ and -), initial_state and states are required; description is optional. Other keys are errors.
- action: {tool, params}: the tools here, with params as for the tools themselves.
- transitions: tried in order, the first whose condition holds is taken. A state without transitions (or with []) ends the
  workflow in success. Transitions of which none holds fail it, so handle failures too.
- timeout: seconds from 0.1 to 300 (default 30, or the tool's own timeout and 5 more). on_timeout: the state to go to then.

Conditions (all keys of one condition must hold)
- success: true|false. After await_output true also without a match: use pattern_match. After run_command: the exit code is 0.
  Its result has exit_code, output, still_running.
- pattern_match, pattern_not_match: RE2, searched in match_text and screen_content (in output for run_command). The screen still shows what was typed, so
  match something that only the output has.
- field_equals: {"exit_code": 0}; types count, "0" is not 0; a missing field equals null. field_contains: {"message": "text"}.
- timeout_occurred: true: the state itself has timed out.

Variables: {name} in params and conditions is replaced once; what has no value stays as it is written ({print} in awk is safe).
- from the latest result that has it: session_id, match_text, screen_content, success, error ...
- {STATE_FIELD}, for example {open_session_id}: the field of that state's latest result; it goes before the ones above
- initial_variables, which come last. {env.NAME} where the configuration allows the name.

run_workflow as an action takes workflow_name or workflow_definition, and initial_variables, which is all that the called
workflow knows. Calls may be 5 levels deep. What it gives: success, final_state, states_executed, session_id, error.

Limits: 100 states, 20 transitions a state; in a run max_states (100) and execution_timeout (1800 s).`;
