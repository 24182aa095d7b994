/** It waits at once: what is measured is taking it. */
export const WAITING = "name: waiting\nsteps:\n  - {id: go, type: wait, event: go}\n";

/** The application that is measured. */
export const FILES = {
  "workflows/waiting.yaml": WAITING,
  // One step that is answered at once, and one that takes a moment: long enough for somebody to follow it.
  "workflows/step.yaml": 'name: step\nsteps:\n  - {id: answer, prompt: "{input.n}"}\n',
  "workflows/moment.yaml": 'name: moment\nsteps:\n  - {id: think, prompt: "{input.n}"}\n',
  "answers.yaml": `steps:
  answer: {reply: "42", delay_ms: 0, cost_usd: 0.01}
  think: {reply: "42", delay_ms: 1500, cost_usd: 0.01}
`,
  "pawl.yaml": 'agent: {provider: "simulated:answers.yaml"}\nserver: {max_in_flight: 500}\n',
};
