/** The rules of terminal workflows, for models: part of the tool's description and of the prompt. */
export const WORKFLOW_LESSON = `A definition is a state machine:
{"name":"greet","initial_state":"say","states":{
"say":{"action":{"tool":"run_command","params":{"command":"echo hi {who}"}},"transitions":[{"condition":{"success":true},"next_state":"end"}]},
"end":{"action":{"tool":"exit_terminal","params":{"session_id":"{session_id}"}}}}}

An action is a tool of this server. The first transition whose condition holds is taken; a state without any ends the workflow in
success; where none holds it fails, so handle failures. timeout: 0.1 to 300 s (default 30), then on_timeout is the next state.
Conditions, all keys must hold: success (run_command: exit code 0; await_output: true without a match, too), pattern_match,
pattern_not_match (RE2 in match_text, screen or output; the screen has what was typed, too), field_equals: {"exit_code": 0} (types count,
missing is null), field_contains, timeout_occurred.
{name} is a field of the latest result that has it (session_id, match_text), {STATE_FIELD} one of a state's ({say_output}), or one of
initial_variables; {env.NAME} where allowed. Without a value it stays.
run_workflow as an action: at most 5 levels. At most 100 states, 20 transitions each.`;
