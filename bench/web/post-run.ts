/** Starts a run and returns its id. */
export async function postRun(url: string, workflow: string, input: object): Promise<string> {
  const response = await fetch(`${url}/workflows/run`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ workflow, input }),
  });
  const { data, error } = (await response.json()) as {
    readonly data: { run_id: string } | null;
    readonly error: unknown;
  };
  if (data === null) throw new Error(JSON.stringify(error));
  return data.run_id;
}

/** Resolves when the run has ended well. */
export async function runEnd(url: string, id: string): Promise<void> {
  const stream = await fetch(`${url}/runs/${id}/stream`);
  await stream.text();
  const response = await fetch(`${url}/runs/${id}?steps=false`);
  const { data } = (await response.json()) as { readonly data: { status: string } };
  if (data.status !== "completed") throw new Error(`The run has ended as ${data.status}.`);
}
